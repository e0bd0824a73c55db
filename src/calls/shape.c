/* SPDX-License-Identifier: MIT */
/* The shapes of calls as bytes, and back: see describe.h. What is read is hostile. */
#include "calls/describe.h"

#include <errno.h>
#include <string.h>

enum { NAME_MAX_B = 200 };

struct out {
    uint8_t *at, *end;
    bool full;
};

static void put(struct out *o, const void *data, size_t size_B)
{
    o->full |= (size_t)(o->end - o->at) < size_B;
    if (o->full)
        return;
    memcpy(o->at, data, size_B);
    o->at += size_B;
}

static void put_number(struct out *o, uint64_t value)
{
    do {
        uint8_t byte = (uint8_t)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
        put(o, &byte, 1);
        value >>= 7;
    } while (value);
}

static void put_name(struct out *o, const char *name)
{
    size_t length_B = strlen(name);
    put_number(o, 1 + length_B);
    put(o, name, length_B);
}

static void put_struct(struct out *o, const struct zs_api_shape *shape, int sub)
{
    const struct zs_api_struct *s = zs_api_shape_struct(shape, sub);
    put_number(o, s ? s->field_count : 0);
    for (uint32_t i = 0; s && i < s->field_count; i++) {
        const struct zs_api_field *f = &s->fields[i];
        put_number(o, f->kind);
        put_number(o, f->flow);
        put_number(o, f->size_B);
        put_name(o, f->name);
        put_name(o, f->base);
        if (f->kind == ZS_API_KIND_STRUCT)
            put_struct(o, shape, f->sub);
    }
}

static bool has_struct(enum zs_api_kind kind)
{
    return kind == ZS_API_KIND_STRUCT || kind == ZS_API_KIND_STRUCT_PTR;
}

size_t zs_api_shape_write(uint32_t call, uint8_t *out, size_t room_B)
{
    const struct zs_api_shape shape = zs_api_call_shape(call);
    struct out o = {.at = out, .end = out + room_B};
    put_number(&o, shape.param_count);
    for (uint32_t i = 0; i < shape.param_count; i++) {
        const struct zs_api_param *p = &shape.params[i];
        put_number(&o, p->kind);
        put_number(&o, p->flow);
        put_number(&o, p->size_B);
        put_name(&o, p->name);
        put_name(&o, p->base);
        if (p->kind == ZS_API_KIND_VALUE_PTR)
            put_number(&o, (uint64_t)p->sub + 1);
        else if (has_struct(p->kind))
            put_struct(&o, &shape, p->sub);
    }
    return o.full ? 0 : (size_t)(o.at - out);
}

struct in {
    struct zs_reader *r;
    struct zs_arena *arena;
    struct zs_api_field *fields;
    struct zs_api_struct *structs;
    uint32_t field_count, struct_count;
    uint32_t room; /* for fields and structures: a row takes five bytes at least */
};

static uint32_t get_number(struct in *in, uint64_t below, const char *what)
{
    uint64_t value = zs_read_uleb128(in->r, what);
    if (!in->r->error && value >= below)
        zs_reader_fail(in->r, -EINVAL, "%s %llu of a call's arguments is not known", what,
                       (unsigned long long)value);
    return in->r->error ? 0 : (uint32_t)value;
}

static const char *get_name(struct in *in)
{
    uint64_t code = get_number(in, NAME_MAX_B, "length of a name");
    struct zs_span name = zs_read_bytes(in->r, code ? code - 1 : 0, "name");
    const char *copy = in->r->error ? NULL : zs_arena_strndup(in->arena, name.data, name.size_B);
    if (!copy && !in->r->error)
        zs_reader_fail(in->r, -ENOMEM, "out of memory");
    return copy ? copy : "";
}

static enum zs_api_kind get_kind(struct in *in)
{
    return (enum zs_api_kind)get_number(in, ZS_API_KIND_OPAQUE + 1, "kind");
}

static void check_size(struct in *in, enum zs_api_kind kind, uint32_t size_B)
{
    if ((kind == ZS_API_KIND_F32 && size_B != 4) || (kind == ZS_API_KIND_F64 && size_B != 8))
        zs_reader_fail(in->r, -EINVAL, "a float of %u bytes", size_B);
}

/* The index of the structure, or -1. */
static int get_struct(struct in *in, uint32_t depth)
{
    uint32_t count = get_number(in, ZS_API_SHAPE_FIELDS_MAX + 1, "number of fields");
    if (in->r->error)
        return -1;
    if (depth > ZS_API_SHAPE_DEPTH_MAX || in->struct_count == in->room ||
        count > in->room - in->field_count) {
        zs_reader_fail(in->r, -EINVAL, "structures are too deep or too large");
        return -1;
    }
    uint32_t index = in->struct_count++;
    struct zs_api_field *fields = in->fields + in->field_count;
    in->field_count += count;
    in->structs[index] = (struct zs_api_struct){.name = "", .fields = fields, .field_count = count};
    for (uint32_t i = 0; i < count && !in->r->error; i++) {
        struct zs_api_field *f = &fields[i];
        f->kind = get_kind(in);
        f->flow = (enum zs_api_field_flow)get_number(in, ZS_API_FIELD_ANY + 1, "flow");
        f->size_B = get_number(in, UINT32_MAX, "size");
        f->name = get_name(in);
        f->base = get_name(in);
        f->sub = f->kind == ZS_API_KIND_STRUCT ? get_struct(in, depth + 1) : -1;
        check_size(in, f->kind, f->size_B);
    }
    return (int)index;
}

static void get_param(struct in *in, struct zs_api_param *p)
{
    p->kind = get_kind(in);
    p->flow = (enum zs_api_flow)get_number(in, ZS_API_FLOW_INOUT + 1, "flow");
    p->size_B = get_number(in, UINT32_MAX, "size");
    p->name = get_name(in);
    p->base = get_name(in);
    p->type = p->base;
    p->range = -1;
    p->sub = -1;
    if (p->kind == ZS_API_KIND_VALUE_PTR)
        p->sub = (int)get_number(in, ZS_API_VALUE_TYPES + 1, "number") - 1;
    else if (has_struct(p->kind))
        p->sub = get_struct(in, 1);
    check_size(in, p->kind, p->size_B);
}

int zs_api_shape_read(struct zs_arena *arena, struct zs_reader *r, struct zs_api_shape *ret_shape)
{
    struct in in = {.r = r, .arena = arena};
    *ret_shape = (struct zs_api_shape){0};
    uint32_t count = get_number(&in, ZS_API_SHAPE_PARAMS_MAX + 1, "number of parameters");
    in.room = (uint32_t)ZS_MIN(zs_reader_left(r) / 5, (size_t)ZS_API_SHAPE_FIELDS_MAX);
    struct zs_api_param *params = ZS_ARENA_ARRAY(arena, count + 1, struct zs_api_param);
    in.fields = ZS_ARENA_ARRAY(arena, in.room, struct zs_api_field);
    in.structs = ZS_ARENA_ARRAY(arena, in.room, struct zs_api_struct);
    if (!params || !in.fields || !in.structs)
        return -ENOMEM;
    for (uint32_t i = 0; i < count && !r->error; i++)
        get_param(&in, &params[i]);
    if (r->error)
        return r->error;
    *ret_shape = (struct zs_api_shape){.params = params,
                                       .param_count = count,
                                       .structs = in.structs,
                                       .struct_count = in.struct_count};
    return 0;
}
