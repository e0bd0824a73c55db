/* SPDX-License-Identifier: MIT */
#include "layer/codec.h"

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
    if (ZS_LIKELY(value < 0x80 && w->at != w->end))
        *w->at++ = (uint8_t)value;
    else
        put_long_varint(w, value);
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

/* What a number pointed to is; NULL when only the pointer can be shown (bytes of a binary). */
static const struct value_type *value_type_at(enum zs_api_kind kind, int sub)
{
    return kind == ZS_API_KIND_VALUE_PTR && sub >= 0 ? &value_types[sub] : NULL;
}

static void put_value(struct writer *w, struct zs_codec *codec, enum zs_api_kind kind, int sub,
                      const void *value, uint32_t size_B, uint64_t count, bool in_struct);

static void put_struct(struct writer *w, struct zs_codec *codec, int sub, const void *value)
{
    const struct zs_api_struct *s = zs_api_struct_at(sub);
    for (uint32_t i = 0; s && i < s->field_count; i++) {
        const struct zs_api_field *f = &s->fields[i];
        put_value(w, codec, f->kind, f->sub, (const char *)value + f->offset_B, f->size_B, 1, true);
    }
}

static void put_elements(struct writer *w, struct zs_codec *codec, enum zs_api_kind kind, int sub,
                         const char *first, uint64_t count)
{
    const struct value_type *type = value_type_at(kind, sub);
    if (!first || (kind == ZS_API_KIND_VALUE_PTR && !type)) {
        put_varint(w, first ? 1 : 0);
        return;
    }
    uint32_t shown = (uint32_t)ZS_MIN(count, (uint64_t)ZS_CODEC_ELEMENTS_MAX);
    put_varint(w, 1 + (uint64_t)shown);
    for (uint32_t i = 0; i < shown; i++) {
        if (type)
            put_value(w, codec, type->kind, -1, first + (size_t)i * type->size_B, type->size_B, 1,
                      false);
        else
            put_pointer(w, codec, load_bits(first + (size_t)i * 8, 8));
    }
}

static void put_value(struct writer *w, struct zs_codec *codec, enum zs_api_kind kind, int sub,
                      const void *value, uint32_t size_B, uint64_t count, bool in_struct)
{
    uint64_t bits = load_bits(value, size_B);
    if (kind == ZS_API_KIND_HANDLE) { /* most parameters of most calls */
        put_pointer(w, codec, bits);
        return;
    }
    const void *pointer = (const void *)(uintptr_t)bits;
    switch (kind) {
    case ZS_API_KIND_STRING:
        if (size_B == sizeof(char *))
            put_text(w, pointer, ZS_CODEC_TEXT_MAX_B);
        else
            put_text(w, value, size_B);
        return;
    case ZS_API_KIND_STRUCT:
        put_struct(w, codec, sub, value);
        return;
    case ZS_API_KIND_STRUCT_PTR:
        if (in_struct)
            break;
        put_varint(w, pointer ? 1 : 0);
        if (pointer)
            put_struct(w, codec, sub, pointer);
        return;
    case ZS_API_KIND_HANDLE_PTR:
    case ZS_API_KIND_VALUE_PTR:
        if (in_struct)
            break;
        put_elements(w, codec, kind, sub, pointer, count);
        return;
    case ZS_API_KIND_HANDLE:
    case ZS_API_KIND_PTR:
    case ZS_API_KIND_FUNC:
        break;
    case ZS_API_KIND_F32:
    case ZS_API_KIND_F64:
        put_bytes(w, value, size_B);
        return;
    case ZS_API_KIND_I8:
    case ZS_API_KIND_I32:
    case ZS_API_KIND_I64:
    case ZS_API_KIND_ENUM:
        put_varint(w, zigzag(sign_extend(bits, size_B)));
        return;
    case ZS_API_KIND_ARRAY:
    case ZS_API_KIND_OPAQUE:
        return;
    default:
        put_varint(w, bits);
        return;
    }
    put_pointer(w, codec, bits);
}

/* How many elements parameter i points to: its range parameter's value, or 1. */
static uint64_t element_count(const struct zs_api_event *event, const struct zs_api_param *params,
                              uint32_t i)
{
    int range = params[i].range;
    if (range < 0 || (uint32_t)range >= event->param_count)
        return 1;
    const struct zs_api_param *p = &params[range];
    uint64_t bits = load_bits(event->params[range], p->size_B);
    if (p->kind != ZS_API_KIND_VALUE_PTR)
        return bits;
    const struct value_type *type = value_type_at(p->kind, p->sub);
    return bits && type ? load_bits((const void *)(uintptr_t)bits, type->size_B) : 0;
}

static bool is_written(const struct zs_api_param *p, bool is_exit)
{
    return is_exit ? p->flow != ZS_API_FLOW_IN : p->flow != ZS_API_FLOW_OUT;
}

size_t zs_codec_encode(struct zs_codec *codec, const struct zs_api_event *event, uint8_t *out)
{
    struct writer w = {.at = out, .end = out + ZS_CODEC_EVENT_MAX_B};
    const struct zs_api_param *params = zs_api_call_params(event->call);
    if (event->is_exit) {
        put_varint(&w, zigzag(*event->result));
        if (*event->result != 0)
            return (size_t)(w.at - out);
    }
    size_t plain_B = (size_t)(w.at - out);
    for (uint32_t i = 0; i < event->param_count; i++)
        if (is_written(&params[i], event->is_exit))
            put_value(&w, codec, params[i].kind, params[i].sub, event->params[i], params[i].size_B,
                      element_count(event, params, i), false);
    size_t size_B = (size_t)(w.at - out);
    return event->is_exit && size_B == plain_B ? 0 : size_B;
}

/* Reading. */
struct decoder {
    struct zs_codec *codec;
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
        if (code / 2 < ZS_CODEC_CACHE_SLOTS)
            return d->codec->cache[code / 2];
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

static void get_value(struct decoder *d, const char *name, enum zs_api_kind kind, const char *base,
                      int sub, uint32_t size_B, uint8_t depth, bool in_struct);

static void get_struct(struct decoder *d, int sub, uint8_t depth)
{
    const struct zs_api_struct *s = depth > 8 ? NULL : zs_api_struct_at(sub);
    for (uint32_t i = 0; s && i < s->field_count && !d->r->error; i++) {
        const struct zs_api_field *f = &s->fields[i];
        get_value(d, f->name, f->kind, f->base, f->sub, f->size_B, depth, true);
    }
}

static void get_elements(struct decoder *d, struct zs_api_value *v, const char *base, int sub)
{
    uint64_t code = get_varint(d->r);
    const struct value_type *type = value_type_at(v->kind, sub);
    v->is_null = code == 0;
    if (code > 1 + ZS_CODEC_ELEMENTS_MAX)
        zs_reader_fail(d->r, -EINVAL, "%llu elements", (unsigned long long)code - 1);
    v->elements = v->is_null || d->r->error ? 0 : (uint32_t)code - 1;
    uint8_t depth = (uint8_t)(v->depth + 1);
    uint8_t kind = v->kind;
    uint32_t elements = v->elements;
    for (uint32_t i = 0; i < elements && !d->r->error; i++) {
        if (kind == ZS_API_KIND_VALUE_PTR && type)
            get_value(d, NULL, type->kind, base, -1, type->size_B, depth, false);
        else
            get_value(d, NULL, ZS_API_KIND_HANDLE, base, -1, 8, depth, false);
    }
}

static void get_text(struct decoder *d, struct zs_api_value *v)
{
    uint64_t code = get_varint(d->r);
    v->is_null = code == 0;
    if (code)
        v->text = zs_read_bytes(d->r, code - 1, "text");
}

static void get_float(struct decoder *d, struct zs_api_value *v, uint32_t size_B)
{
    v->bits = size_B == 4 ? zs_read_u32(d->r, "float") : zs_read_u64(d->r, "double");
}

static void get_value(struct decoder *d, const char *name, enum zs_api_kind kind, const char *base,
                      int sub, uint32_t size_B, uint8_t depth, bool in_struct)
{
    struct zs_api_value *v = d->r->error ? NULL : push(d, name, base, kind, depth);
    if (!v)
        return;
    switch (kind) {
    case ZS_API_KIND_STRING:
        get_text(d, v);
        return;
    case ZS_API_KIND_STRUCT:
        get_struct(d, sub, (uint8_t)(depth + 1));
        return;
    case ZS_API_KIND_STRUCT_PTR:
        if (in_struct)
            break;
        v->is_null = get_varint(d->r) == 0;
        if (!v->is_null)
            get_struct(d, sub, (uint8_t)(depth + 1));
        return;
    case ZS_API_KIND_HANDLE_PTR:
    case ZS_API_KIND_VALUE_PTR:
        if (in_struct)
            break;
        get_elements(d, v, base, sub);
        return;
    case ZS_API_KIND_HANDLE:
    case ZS_API_KIND_PTR:
    case ZS_API_KIND_FUNC:
        break;
    case ZS_API_KIND_F32:
    case ZS_API_KIND_F64:
        get_float(d, v, size_B);
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
    default:
        v->bits = get_varint(d->r);
        return;
    }
    v->bits = get_pointer(d);
    v->is_null = v->bits == 0;
}

int zs_codec_decode(struct zs_codec *codec, uint32_t call, bool is_exit, struct zs_reader *r,
                    struct zs_api_values *values, int32_t *ret_result)
{
    struct decoder d = {.codec = codec, .r = r, .values = values, .is_exit = is_exit};
    const struct zs_api_param *params = zs_api_call_params(call);
    uint32_t count = zs_api_call_param_count(call);
    if (is_exit) {
        *ret_result = zs_reader_left(r) ? (int32_t)unzigzag(get_varint(r)) : 0;
        if (*ret_result != 0)
            return r->error;
    }
    for (uint32_t i = 0; i < count && !r->error && zs_reader_left(r); i++)
        if (is_written(&params[i], is_exit))
            get_value(&d, params[i].name, params[i].kind, params[i].base, params[i].sub,
                      params[i].size_B, 0, false);
    return r->error;
}

const struct zs_api_value *zs_api_value_find(const struct zs_api_values *values, const char *name)
{
    /* the last one: what a call gave back replaces what it was given */
    for (uint32_t i = values->count; i-- > 0;)
        if (values->items[i].name && !strcmp(values->items[i].name, name))
            return &values->items[i];
    return NULL;
}
