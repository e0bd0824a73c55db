/* SPDX-License-Identifier: MIT */
#include "calls/codec.h"

#include <errno.h>
#include <string.h>

/* Writing: a cursor that never goes beyond its end and remembers that it had to stop. */
struct writer {
    uint8_t *at, *end;
};

static void put_bytes(struct writer *w, const void *data, size_t size_B)
{
    if ((size_t)(w->end - w->at) < size_B) {
        w->end = w->at; /* nothing more: the event is cut here */
        return;
    }
    memcpy(w->at, data, size_B);
    w->at += size_B;
}

static void put_long_varint(struct writer *w, uint64_t value)
{
    uint8_t bytes[10];
    size_t n = 0;
    do {
        bytes[n++] = (uint8_t)(value | 0x80);
        value >>= 7;
    } while (value);
    bytes[n - 1] &= 0x7f;
    put_bytes(w, bytes, n);
}

static inline void put_varint(struct writer *w, uint64_t value)
{
    if (ZS_LIKELY(value < 0x80 && w->at != w->end)) {
        *w->at++ = (uint8_t)value;
    } else if (ZS_LIKELY(value < 0x4000 && w->end - w->at >= 2)) { /* most slots of the cache */
        w->at[0] = (uint8_t)(value | 0x80);
        w->at[1] = (uint8_t)(value >> 7);
        w->at += 2;
    } else {
        put_long_varint(w, value);
    }
}

static uint64_t zigzag(int64_t value)
{
    return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static int64_t unzigzag(uint64_t value)
{
    return (int64_t)(value >> 1 ^ (0 - (value & 1)));
}

/* Handles are addresses of objects: their low bits say little. */
static uint32_t cache_slot(uint64_t pointer)
{
    return (uint32_t)((pointer * UINT64_C(0x9e3779b97f4a7c15)) >> 56);
}
_Static_assert(ZS_CODEC_CACHE_SLOTS == 256, "cache_slot yields 8 bits");

static void put_pointer(struct writer *w, struct zs_codec *codec, uint64_t pointer)
{
    uint32_t slot = cache_slot(pointer);
    if (!pointer) {
        put_varint(w, 0);
    } else if (codec->cache[slot] == pointer) {
        put_varint(w, 2 * (uint64_t)slot + 1);
    } else if (w->end - w->at >= 9) { /* all or nothing, so that both caches stay the same */
        put_varint(w, 2);
        put_bytes(w, &pointer, sizeof(pointer));
        codec->cache[slot] = pointer;
    } else {
        w->end = w->at;
    }
}

static uint64_t load_bits(const void *value, uint32_t size_B)
{
    uint64_t bits = 0;
    uint32_t half;
    if (size_B == sizeof(bits)) { /* nearly all are */
        memcpy(&bits, value, sizeof(bits));
        return bits;
    }
    if (size_B == sizeof(half)) {
        memcpy(&half, value, sizeof(half));
        return half;
    }
    memcpy(&bits, value, ZS_MIN(size_B, (uint32_t)sizeof(bits)));
    return bits;
}

static int64_t sign_extend(uint64_t bits, uint32_t size_B)
{
    uint32_t shift = size_B < 8 ? 64 - size_B * 8 : 0;
    return (int64_t)(bits << shift) >> shift;
}

static void put_text(struct writer *w, const char *text, size_t limit_B)
{
    if (!text) {
        put_varint(w, 0);
        return;
    }
    size_t length_B = strnlen(text, ZS_MIN(limit_B, (size_t)ZS_CODEC_TEXT_MAX_B));
    put_varint(w, length_B + 1);
    put_bytes(w, text, length_B);
}

/* Numbers that are shown where a pointer to them is passed: VALUES of scripts/gen-api, in order. */
static const struct value_type {
    enum zs_api_kind kind;
    uint8_t size_B;
} value_types[] = {
    {ZS_API_KIND_U32, 4}, {ZS_API_KIND_U64, 8}, {ZS_API_KIND_SIZE, 8},
    {ZS_API_KIND_F64, 8}, {ZS_API_KIND_U8, 1},  {ZS_API_KIND_I32, 4},
};
_Static_assert(ZS_ARRAY_LEN(value_types) == ZS_API_VALUE_TYPES, "shapes hold their indices");

/* What a number pointed to is; NULL when only the pointer can be shown (bytes of a binary). */
static const struct value_type *value_type_at(enum zs_api_kind kind, int sub)
{
    return kind == ZS_API_KIND_VALUE_PTR && sub >= 0 ? &value_types[sub] : NULL;
}

/*
 * What is written is what has a value then. On enter, memory that the call is to fill may not be
 * initialised: structures that go in and out are written without the fields that come out.
 */
struct walk {
    struct writer *w;
    struct zs_codec *codec;
    const struct zs_api_shape *shape;
    bool is_exit;
};

static bool field_is_written(const struct zs_api_field *f, bool is_exit, enum zs_api_field_flow in)
{
    enum zs_api_field_flow flow = f->flow == ZS_API_FIELD_ANY ? in : f->flow;
    return is_exit || flow != ZS_API_FIELD_OUT;
}

/* What fields without marks of their own are, in a parameter and in a field. */
static enum zs_api_field_flow param_fields(enum zs_api_flow flow)
{
    return flow == ZS_API_FLOW_IN ? ZS_API_FIELD_IN : ZS_API_FIELD_OUT;
}

static enum zs_api_field_flow nested_fields(const struct zs_api_field *f, enum zs_api_field_flow in)
{
    return f->flow == ZS_API_FIELD_ANY ? in : f->flow;
}

static void put_struct(struct walk *k, int sub, const void *value, enum zs_api_field_flow in);

/* Everything but what is pointed to. */
static void put_plain(struct walk *k, enum zs_api_kind kind, const void *value, uint32_t size_B)
{
    uint64_t bits = load_bits(value, size_B);
    switch (kind) {
    case ZS_API_KIND_F32:
    case ZS_API_KIND_F64:
        put_bytes(k->w, value, size_B);
        return;
    case ZS_API_KIND_I8:
    case ZS_API_KIND_I32:
    case ZS_API_KIND_I64:
    case ZS_API_KIND_ENUM:
        put_varint(k->w, zigzag(sign_extend(bits, size_B)));
        return;
    case ZS_API_KIND_ARRAY:
    case ZS_API_KIND_OPAQUE:
        return;
    case ZS_API_KIND_HANDLE:
    case ZS_API_KIND_PTR:
    case ZS_API_KIND_FUNC:
    case ZS_API_KIND_STRUCT_PTR:
    case ZS_API_KIND_HANDLE_PTR:
    case ZS_API_KIND_VALUE_PTR:
        put_pointer(k->w, k->codec, bits);
        return;
    default:
        put_varint(k->w, bits);
    }
}

static void put_field(struct walk *k, const struct zs_api_field *f, const void *value,
                      enum zs_api_field_flow in)
{
    const char *text;
    if (f->kind == ZS_API_KIND_STRUCT) {
        put_struct(k, f->sub, value, nested_fields(f, in));
    } else if (f->kind != ZS_API_KIND_STRING) {
        put_plain(k, f->kind, value, f->size_B);
    } else if (f->size_B == sizeof(text)) {
        memcpy(&text, value, sizeof(text));
        put_text(k->w, text, ZS_CODEC_TEXT_MAX_B);
    } else {
        put_text(k->w, value, f->size_B);
    }
}

static void put_struct(struct walk *k, int sub, const void *value, enum zs_api_field_flow in)
{
    const struct zs_api_struct *s = zs_api_shape_struct(k->shape, sub);
    for (uint32_t i = 0; s && i < s->field_count; i++) {
        const struct zs_api_field *f = &s->fields[i];
        if (field_is_written(f, k->is_exit, in))
            put_field(k, f, (const char *)value + f->offset_B, in);
    }
}

static void put_elements(struct walk *k, const struct zs_api_param *p, const char *first,
                         uint64_t count)
{
    const struct value_type *type = value_type_at(p->kind, p->sub);
    if (!first || (p->kind == ZS_API_KIND_VALUE_PTR && !type)) {
        put_varint(k->w, first ? 1 : 0);
        return;
    }
    uint32_t shown = (uint32_t)ZS_MIN(count, (uint64_t)ZS_CODEC_ELEMENTS_MAX);
    put_varint(k->w, 1 + (uint64_t)shown);
    for (uint32_t i = 0; i < shown; i++) {
        if (type)
            put_plain(k, type->kind, first + (size_t)i * type->size_B, type->size_B);
        else
            put_pointer(k->w, k->codec, load_bits(first + (size_t)i * 8, 8));
    }
}

/* count: how many elements there are; of a text, how many bytes at most. */
static void put_param(struct walk *k, const struct zs_api_param *p, const void *value,
                      uint64_t count)
{
    const void *pointer = (const void *)(uintptr_t)load_bits(value, p->size_B);
    switch (p->kind) {
    case ZS_API_KIND_STRING:
        put_text(k->w, pointer, (size_t)ZS_MIN(count, (uint64_t)ZS_CODEC_TEXT_MAX_B));
        return;
    case ZS_API_KIND_STRUCT:
        put_struct(k, p->sub, value, param_fields(p->flow));
        return;
    case ZS_API_KIND_STRUCT_PTR:
        put_varint(k->w, !pointer ? 0 : count ? 1 : 2);
        if (pointer && count)
            put_struct(k, p->sub, pointer, param_fields(p->flow));
        return;
    case ZS_API_KIND_HANDLE_PTR:
    case ZS_API_KIND_VALUE_PTR:
        put_elements(k, p, pointer, count);
        return;
    default:
        put_plain(k, p->kind, value, p->size_B);
    }
}

/* A count that has one value on enter and maybe another on exit. */
static bool is_count(const struct zs_api_param *p)
{
    return p->kind == ZS_API_KIND_VALUE_PTR && p->flow == ZS_API_FLOW_INOUT;
}

static uint64_t load_count(const struct zs_api_event *event, const struct zs_api_param *p,
                           uint32_t i)
{
    uint64_t bits = load_bits(event->params[i], p->size_B);
    if (p->kind != ZS_API_KIND_VALUE_PTR)
        return bits;
    const struct value_type *type = value_type_at(p->kind, p->sub);
    return bits && type ? load_bits((const void *)(uintptr_t)bits, type->size_B) : 0;
}

/* Drivers may say how many there are where fewer had room: what there was room for is what was
 * there on enter. */
static uint64_t room_on_enter(const struct zs_api_event *event, const struct zs_api_param *params,
                              uint32_t range)
{
    const uint64_t *counts = event->internal;
    uint32_t slot = 0;
    for (uint32_t i = 0; i < range; i++)
        slot += is_count(&params[i]);
    return counts && slot < ZS_TRACE_COUNTS_MAX ? counts[slot] : UINT64_MAX;
}

/* Names and values in turn, and a zero for a name at the end, as OpenCL has them: with the zero. */
static uint64_t list_count(const void *first)
{
    uint64_t count = 0;
    while (first && count < ZS_CODEC_ELEMENTS_MAX &&
           load_bits((const char *)first + (size_t)count * 8, 8))
        count += 2;
    return count + 1;
}

/* Ranges that OpenCL has: see describe.h. */
static uint64_t other_count(const struct zs_api_event *event, const struct zs_api_param *params,
                            uint32_t i)
{
    int range = params[i].range;
    if (range == ZS_API_RANGE_LIST)
        return list_count((const void *)(uintptr_t)load_bits(event->params[i], 8));
    if (range < 0)
        return (uint64_t)-range;
    uint32_t first = (uint32_t)range & ZS_API_RANGE_INDEX;
    uint32_t second = ((uint32_t)range >> ZS_API_RANGE_LIMIT_SHIFT) - 1;
    uint64_t room = load_count(event, &params[first], first);
    if (!load_bits(event->params[second], params[second].size_B))
        return ZS_MIN(room, UINT64_C(1)); /* how many there are was not asked for: one at least */
    return ZS_MIN(room, load_count(event, &params[second], second));
}

/* How many elements parameter i points to: its range parameter's value, or 1; texts without one end
 * with a NUL. */
static uint64_t element_count(const struct zs_api_event *event, const struct zs_api_param *params,
                              uint32_t i)
{
    int range = params[i].range;
    if (range < -1 || range > ZS_API_RANGE_INDEX)
        return other_count(event, params, i);
    if (range < 0 || (uint32_t)range >= event->param_count)
        return params[i].kind == ZS_API_KIND_STRING ? UINT64_MAX : 1;
    const struct zs_api_param *p = &params[range];
    uint64_t count = load_count(event, p, (uint32_t)range);
    if (!event->is_exit || !is_count(p))
        return count;
    return ZS_MIN(count, room_on_enter(event, params, (uint32_t)range));
}

bool zs_codec_has_counts(uint32_t call)
{
    const struct zs_api_shape shape = zs_api_call_shape(call);
    for (uint32_t i = 0; i < shape.param_count; i++)
        if (is_count(&shape.params[i]))
            return true;
    return false;
}

bool zs_codec_has_results(uint32_t call)
{
    const struct zs_api_step *steps = zs_api_call_steps(call);
    const struct zs_api_shape shape = zs_api_call_shape(call);
    for (uint32_t i = 0; i < shape.param_count; i++)
        if (steps[i].when & ZS_API_STEP_EXIT)
            return true;
    return false;
}

void zs_codec_enter(const struct zs_api_event *event)
{
    const struct zs_api_shape shape = zs_api_call_shape(event->call);
    uint64_t *counts = event->internal;
    uint32_t slot = 0;
    for (uint32_t i = 0; counts && i < event->param_count && slot < ZS_TRACE_COUNTS_MAX; i++)
        if (is_count(&shape.params[i]))
            counts[slot++] = load_count(event, &shape.params[i], i);
}

/* What the description alone can tell; out of the way of the others. */
static __attribute__((noinline)) void put_any(struct writer *w, struct zs_codec *codec,
                                              const struct zs_api_event *event, uint32_t i)
{
    const struct zs_api_shape shape = zs_api_call_shape(event->call);
    struct walk k = {.w = w, .codec = codec, .shape = &shape, .is_exit = event->is_exit};
    put_param(&k, &shape.params[i], event->params[i], element_count(event, shape.params, i));
}

/* put_elements of one. */
static inline void put_one_value(struct writer *w, enum zs_api_step_how how, const void *value)
{
    if (!value) {
        put_varint(w, 0);
        return;
    }
    uint64_t bits = load_bits(value, how == ZS_API_STEP_VALUE_U64 ? 8 : 4);
    put_varint(w, 1 + 1);
    put_varint(w, how == ZS_API_STEP_VALUE_I32 ? zigzag((int32_t)bits) : bits);
}

static inline void put_step(struct writer *w, struct zs_codec *codec, enum zs_api_step_how how,
                            const struct zs_api_event *event, uint32_t i)
{
    switch (how) {
    case ZS_API_STEP_POINTER:
        put_pointer(w, codec, load_bits(event->params[i], 8));
        return;
    case ZS_API_STEP_U32:
        put_varint(w, load_bits(event->params[i], 4));
        return;
    case ZS_API_STEP_U64:
        put_varint(w, load_bits(event->params[i], 8));
        return;
    case ZS_API_STEP_VALUE_U32:
    case ZS_API_STEP_VALUE_U64:
    case ZS_API_STEP_VALUE_I32:
        put_one_value(w, how, (const void *)(uintptr_t)load_bits(event->params[i], 8));
        return;
    case ZS_API_STEP_IS_NULL:
        put_varint(w, load_bits(event->params[i], 8) ? 1 : 0);
        return;
    case ZS_API_STEP_FOLLOWED:
        if (!load_bits(event->params[i], 8)) {
            put_varint(w, 0);
            return;
        }
        break;
    default:
        break;
    }
    put_any(w, codec, event, i);
}

size_t zs_codec_encode(struct zs_codec *codec, const struct zs_api_event *event, uint8_t *out)
{
    const struct zs_api_step *steps = zs_api_call_steps(event->call);
    const uint8_t when = event->is_exit ? ZS_API_STEP_EXIT : ZS_API_STEP_ENTER;
    struct writer w = {.at = out, .end = out + ZS_CODEC_EVENT_MAX_B};
    if (event->is_exit) {
        put_varint(&w, zigzag(*event->result));
        if (*event->result != 0)
            return (size_t)(w.at - out);
    }
    size_t plain_B = (size_t)(w.at - out);
    for (uint32_t i = 0; i < event->param_count; i++)
        if (steps[i].when & when)
            put_step(&w, codec, (enum zs_api_step_how)steps[i].how, event, i);
    size_t size_B = (size_t)(w.at - out);
    return event->is_exit && size_B == plain_B ? 0 : size_B;
}

/* Reading. */
static bool is_written(const struct zs_api_param *p, bool is_exit)
{
    return is_exit ? p->flow != ZS_API_FLOW_IN : p->flow != ZS_API_FLOW_OUT;
}

struct decoder {
    struct zs_codec *codec;
    const struct zs_api_shape *shape;
    struct zs_reader *r;
    struct zs_api_values *values;
    bool is_exit;
};

static uint64_t get_varint(struct zs_reader *r)
{
    uint64_t value = 0;
    for (uint32_t shift = 0; shift < 64; shift += 7) {
        uint8_t byte = zs_read_u8(r, "number");
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
    zs_reader_fail(r, -EINVAL, "a number of more than 64 bits");
    return 0;
}

static uint64_t get_pointer(struct decoder *d)
{
    uint64_t code = get_varint(d->r);
    if (code == 0)
        return 0;
    if (code & 1) {
        if (code / 2 < ZS_CODEC_CACHE_SLOTS && d->codec->cache[code / 2])
            return d->codec->cache[code / 2]; /* empty: its first use was not read */
    } else if (code == 2) {
        uint64_t pointer = zs_read_u64(d->r, "pointer");
        if (!d->r->error)
            d->codec->cache[cache_slot(pointer)] = pointer;
        return pointer;
    }
    zs_reader_fail(d->r, -EINVAL, "%llu is no pointer code", (unsigned long long)code);
    return 0;
}

static struct zs_api_value *push(struct decoder *d, const char *name, const char *base,
                                 enum zs_api_kind kind, uint8_t depth)
{
    static const struct zs_api_value empty;
    if (d->values->count == ZS_CODEC_VALUES_MAX) {
        d->values->cut = true;
        zs_reader_fail(d->r, -E2BIG, "more than %d values", ZS_CODEC_VALUES_MAX);
        return NULL;
    }
    struct zs_api_value *v = &d->values->items[d->values->count++];
    *v = empty;
    v->name = name;
    v->base = base;
    v->kind = (uint8_t)kind;
    v->depth = depth;
    v->is_out = d->is_exit;
    return v;
}

static void get_text(struct decoder *d, struct zs_api_value *v)
{
    uint64_t code = get_varint(d->r);
    v->is_null = code == 0;
    if (code)
        v->text = zs_read_bytes(d->r, code - 1, "text");
}

/* The counterpart of put_plain. */
static void get_plain(struct decoder *d, struct zs_api_value *v, uint32_t size_B)
{
    switch (v->kind) {
    case ZS_API_KIND_F32:
    case ZS_API_KIND_F64:
        v->bits = size_B == 4 ? zs_read_u32(d->r, "float") : zs_read_u64(d->r, "double");
        return;
    case ZS_API_KIND_I8:
    case ZS_API_KIND_I32:
    case ZS_API_KIND_I64:
    case ZS_API_KIND_ENUM:
        v->bits = (uint64_t)unzigzag(get_varint(d->r));
        return;
    case ZS_API_KIND_ARRAY:
    case ZS_API_KIND_OPAQUE:
        return;
    case ZS_API_KIND_HANDLE:
    case ZS_API_KIND_PTR:
    case ZS_API_KIND_FUNC:
    case ZS_API_KIND_STRUCT_PTR:
    case ZS_API_KIND_HANDLE_PTR:
    case ZS_API_KIND_VALUE_PTR:
        v->bits = get_pointer(d);
        v->is_null = v->bits == 0;
        return;
    default:
        v->bits = get_varint(d->r);
    }
}

static void get_struct(struct decoder *d, int sub, uint8_t depth, enum zs_api_field_flow in)
{
    const struct zs_api_struct *s =
        depth > ZS_API_SHAPE_DEPTH_MAX ? NULL : zs_api_shape_struct(d->shape, sub);
    for (uint32_t i = 0; s && i < s->field_count && !d->r->error; i++) {
        const struct zs_api_field *f = &s->fields[i];
        struct zs_api_value *v =
            field_is_written(f, d->is_exit, in) ? push(d, f->name, f->base, f->kind, depth) : NULL;
        if (!v)
            continue;
        if (f->kind == ZS_API_KIND_STRUCT)
            get_struct(d, f->sub, (uint8_t)(depth + 1), nested_fields(f, in));
        else if (f->kind == ZS_API_KIND_STRING)
            get_text(d, v);
        else
            get_plain(d, v, f->size_B);
    }
}

static void get_elements(struct decoder *d, struct zs_api_value *v, const struct zs_api_param *p)
{
    uint64_t code = get_varint(d->r);
    const struct value_type *type = value_type_at(p->kind, p->sub);
    v->is_null = code == 0;
    if (code > 1 + ZS_CODEC_ELEMENTS_MAX)
        zs_reader_fail(d->r, -EINVAL, "%llu elements", (unsigned long long)code - 1);
    uint32_t elements = v->is_null || d->r->error ? 0 : (uint32_t)code - 1;
    v->elements = elements;
    for (uint32_t i = 0; i < elements && !d->r->error; i++) {
        struct zs_api_value *e = push(d, NULL, p->base, type ? type->kind : ZS_API_KIND_HANDLE, 1);
        if (e)
            get_plain(d, e, type ? type->size_B : 8);
    }
}

static void get_param(struct decoder *d, const struct zs_api_param *p)
{
    struct zs_api_value *v = push(d, p->name, p->base, p->kind, 0);
    uint64_t code;
    if (!v)
        return;
    switch (p->kind) {
    case ZS_API_KIND_STRING:
        get_text(d, v);
        return;
    case ZS_API_KIND_STRUCT:
        get_struct(d, p->sub, 1, param_fields(p->flow));
        return;
    case ZS_API_KIND_STRUCT_PTR:
        code = get_varint(d->r);
        v->is_null = code == 0;
        if (code == 1)
            get_struct(d, p->sub, 1, param_fields(p->flow));
        else if (code > 2)
            zs_reader_fail(d->r, -EINVAL, "%llu is no structure", (unsigned long long)code);
        return;
    case ZS_API_KIND_HANDLE_PTR:
    case ZS_API_KIND_VALUE_PTR:
        get_elements(d, v, p);
        return;
    default:
        get_plain(d, v, p->size_B);
    }
}

int zs_codec_decode(struct zs_codec *codec, const struct zs_api_shape *shape, bool is_exit,
                    struct zs_reader *r, struct zs_api_values *values, int32_t *ret_result)
{
    struct decoder d = {
        .codec = codec, .shape = shape, .r = r, .values = values, .is_exit = is_exit};
    if (is_exit) {
        *ret_result = zs_reader_left(r) ? (int32_t)unzigzag(get_varint(r)) : 0;
        if (*ret_result != 0)
            return r->error;
    }
    for (uint32_t i = 0; i < shape->param_count && !r->error && zs_reader_left(r); i++)
        if (is_written(&shape->params[i], is_exit))
            get_param(&d, &shape->params[i]);
    return r->error;
}
