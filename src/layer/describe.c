/* SPDX-License-Identifier: MIT */
#include "layer/describe.h"

#include "layer_calls.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Parameters of all calls in one array, in the order of the calls. */
#define ZE_PARAM(function, i, type, name, kind, base, flow)                                        \
    {#name, #type, #base, ZS_API_KIND_##kind, ZS_API_FLOW_##flow, (uint32_t)sizeof(type)},
static const struct zs_api_param params[] = {
#include "api.def"
};

struct call {
    const char *name;
    uint32_t param_count;
};

#define ZE_CALL(index, function, domain, table, member, count) {#function, count},
static const struct call calls[] = {
#include "api.def"
};
_Static_assert(ZS_ARRAY_LEN(calls) == ZS_API_CALL_COUNT, "one row per call");

struct enum_value {
    const char *type, *name;
    int64_t value;
};

#define ZE_ENUM_VALUE(type, value) {#type, #value, (int64_t)value},
static const struct enum_value enum_values[] = {
#include "api.def"
};

#define ZE_FLAG(type, value) {#type, #value, (int64_t)value},
static const struct enum_value flag_values[] = {
#include "api.def"
};

#define ZE_FIELD(structure, type, name, kind, base)                                                \
    {#name,                                                                                        \
     #type,                                                                                        \
     #base,                                                                                        \
     ZS_API_KIND_##kind,                                                                           \
     (uint32_t)offsetof(structure, name),                                                          \
     (uint32_t)sizeof(((structure *)0)->name)},
static const struct zs_api_field fields[] = {
#include "api.def"
};

/* Owner of each field, in the same order, and the structures. */
#define ZE_FIELD(structure, type, name, kind, base) #structure,
static const char *const field_owners[] = {
#include "api.def"
};

#define ZE_STRUCT(name) {#name, (uint32_t)sizeof(name), NULL, 0},
static const struct zs_api_struct structs[] = {
#include "api.def"
};

uint32_t zs_api_call_count(void)
{
    return ZS_API_CALL_COUNT;
}

const char *zs_api_call_name(uint32_t call)
{
    return call < ZS_API_CALL_COUNT ? calls[call].name : NULL;
}

int zs_api_call_find(const char *name)
{
    for (uint32_t i = 0; i < ZS_API_CALL_COUNT; i++)
        if (!strcmp(calls[i].name, name))
            return (int)i;
    return -ENOENT;
}

static const struct zs_api_param *call_params(uint32_t call)
{
    const struct zs_api_param *first = params;
    for (uint32_t i = 0; i < call; i++)
        first += calls[i].param_count;
    return first;
}

bool zs_api_call_param(uint32_t call, uint32_t i, struct zs_api_param *ret_param)
{
    if (call >= ZS_API_CALL_COUNT || i >= calls[call].param_count)
        return false;
    *ret_param = call_params(call)[i];
    return true;
}

const char *zs_api_enum_name(const char *type, int64_t value)
{
    for (size_t i = 0; i < ZS_ARRAY_LEN(enum_values); i++)
        if (enum_values[i].value == value && !strcmp(enum_values[i].type, type))
            return enum_values[i].name;
    return NULL;
}

/* The fields of a structure are neighbours in `fields`. */
static bool struct_find(const char *name, struct zs_api_struct *ret)
{
    for (size_t i = 0; i < ZS_ARRAY_LEN(structs); i++) {
        if (strcmp(structs[i].name, name) != 0)
            continue;
        *ret = structs[i];
        for (size_t f = 0; f < ZS_ARRAY_LEN(fields); f++) {
            if (strcmp(field_owners[f], name) != 0)
                continue;
            ret->fields = ret->fields ? ret->fields : &fields[f];
            ret->field_count++;
        }
        return true;
    }
    return false;
}

void zs_api_format_flags(struct zs_buf *out, const char *type, uint64_t value)
{
    uint64_t left = value;
    bool first = true;
    for (size_t i = 0; i < ZS_ARRAY_LEN(flag_values) && left; i++) {
        uint64_t bit = (uint64_t)flag_values[i].value;
        if (!bit || (left & bit) != bit || strcmp(flag_values[i].type, type) != 0)
            continue;
        zs_buf_printf(out, "%s%s", first ? "" : " | ", flag_values[i].name);
        left &= ~bit;
        first = false;
    }
    if (left || first)
        zs_buf_printf(out, left ? "%s0x%" PRIx64 : "%s%" PRIu64, first ? "" : " | ", left);
}

static uint64_t load_unsigned(const void *value, uint32_t size_B)
{
    uint64_t result = 0;
    memcpy(&result, value, ZS_MIN(size_B, (uint32_t)sizeof(result)));
    return result;
}

static void format_string(struct zs_buf *out, const char *text, size_t limit_B)
{
    size_t length_B = strnlen(text, limit_B);
    zs_buf_putc(out, '"');
    for (size_t i = 0; i < length_B; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\')
            zs_buf_printf(out, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            zs_buf_printf(out, "\\x%02x", c);
        else
            zs_buf_putc(out, (char)c);
    }
    zs_buf_puts(out, length_B == limit_B ? "\"..." : "\"");
}

static void format_struct(struct zs_buf *out, const char *base, const void *value)
{
    struct zs_api_struct s;
    if (!struct_find(base, &s)) {
        zs_buf_puts(out, "{...}");
        return;
    }
    zs_buf_putc(out, '{');
    for (uint32_t i = 0; i < s.field_count; i++) {
        const struct zs_api_field *f = &s.fields[i];
        zs_buf_printf(out, "%s%s = ", i ? ", " : "", f->name);
        /* pointers inside structures are shown, not followed, but for short texts */
        zs_api_format_value(out, f->kind, f->base, (const char *)value + f->offset_B, f->size_B,
                            f->kind == ZS_API_KIND_STRING);
    }
    zs_buf_putc(out, '}');
}

static void format_number(struct zs_buf *out, enum zs_api_kind kind, const void *value,
                          uint32_t size_B)
{
    if (kind == ZS_API_KIND_F32 || kind == ZS_API_KIND_F64) {
        float f;
        double d;
        memcpy(&f, value, sizeof(f));
        if (kind == ZS_API_KIND_F64)
            memcpy(&d, value, sizeof(d));
        zs_buf_printf(out, "%g", kind == ZS_API_KIND_F64 ? d : (double)f);
        return;
    }
    uint64_t u = load_unsigned(value, size_B);
    bool is_signed = kind == ZS_API_KIND_I8 || kind == ZS_API_KIND_I32 || kind == ZS_API_KIND_I64;
    if (is_signed && size_B < 8 && u >> (size_B * 8 - 1))
        u |= UINT64_MAX << (size_B * 8);
    if (is_signed)
        zs_buf_printf(out, "%" PRId64, (int64_t)u);
    else
        zs_buf_printf(out, "%" PRIu64, u);
}

static void format_pointer(struct zs_buf *out, uint64_t pointer)
{
    if (pointer)
        zs_buf_printf(out, "0x%" PRIx64, pointer);
    else
        zs_buf_puts(out, "NULL");
}

/* A pointer parameter, and behind it what it points to. */
static void format_pointee(struct zs_buf *out, enum zs_api_kind kind, const char *base,
                           const void *pointer, bool follow)
{
    static const struct {
        const char *type;
        enum zs_api_kind kind;
        uint32_t size_B;
    } values[] = {
        {"uint32_t", ZS_API_KIND_U32, 4}, {"uint64_t", ZS_API_KIND_U64, 8},
        {"size_t", ZS_API_KIND_SIZE, 8},  {"double", ZS_API_KIND_F64, 8},
        {"ze_bool_t", ZS_API_KIND_U8, 1}, {"int32_t", ZS_API_KIND_I32, 4},
    };
    format_pointer(out, (uintptr_t)pointer);
    if (!pointer || !follow)
        return;
    if (kind == ZS_API_KIND_STRUCT_PTR) {
        zs_buf_puts(out, " -> ");
        format_struct(out, base, pointer);
    }
    for (size_t i = 0; kind == ZS_API_KIND_VALUE_PTR && i < ZS_ARRAY_LEN(values); i++) {
        if (strcmp(values[i].type, base) != 0)
            continue;
        zs_buf_puts(out, " -> ");
        format_number(out, values[i].kind, pointer, values[i].size_B);
    }
    if (kind == ZS_API_KIND_HANDLE_PTR) {
        zs_buf_puts(out, " -> ");
        format_pointer(out, load_unsigned(pointer, 8));
    }
}

static void format_text(struct zs_buf *out, const void *value, uint32_t size_B, bool follow)
{
    if (size_B != sizeof(char *)) { /* a char array inside a structure */
        format_string(out, value, size_B);
        return;
    }
    const char *text;
    memcpy(&text, value, sizeof(text));
    if (text && follow)
        format_string(out, text, 256);
    else
        format_pointer(out, (uintptr_t)text);
}

void zs_api_format_value(struct zs_buf *out, enum zs_api_kind kind, const char *base,
                         const void *value, uint32_t size_B, bool follow)
{
    const void *pointer = NULL;
    const char *name;
    switch (kind) {
    case ZS_API_KIND_ENUM:
        name = zs_api_enum_name(base, (int32_t)load_unsigned(value, 4));
        if (name)
            zs_buf_puts(out, name);
        else
            format_number(out, ZS_API_KIND_I32, value, 4);
        return;
    case ZS_API_KIND_FLAGS:
        zs_api_format_flags(out, base, load_unsigned(value, size_B));
        return;
    case ZS_API_KIND_STRING:
        format_text(out, value, size_B, follow);
        return;
    case ZS_API_KIND_STRUCT:
        format_struct(out, base, value);
        return;
    case ZS_API_KIND_STRUCT_PTR:
    case ZS_API_KIND_HANDLE_PTR:
    case ZS_API_KIND_VALUE_PTR:
        memcpy(&pointer, value, sizeof(pointer));
        format_pointee(out, kind, base, pointer, follow);
        return;
    case ZS_API_KIND_HANDLE:
    case ZS_API_KIND_PTR:
    case ZS_API_KIND_FUNC:
        format_pointer(out, load_unsigned(value, 8));
        return;
    case ZS_API_KIND_ARRAY:
    case ZS_API_KIND_OPAQUE:
        zs_buf_puts(out, "{...}");
        return;
    default:
        format_number(out, kind, value, size_B);
    }
}

void zs_api_format_event(struct zs_buf *out, const struct zs_api_event *event)
{
    const struct zs_api_param *p = call_params(event->call);
    zs_buf_printf(out, "%s(", event->name);
    /* what a failed call was to fill in may be anything */
    bool ok = event->is_exit && *event->result == 0;
    for (uint32_t i = 0; i < event->param_count; i++) {
        zs_buf_printf(out, "%s%s = ", i ? ", " : "", p[i].name);
        zs_api_format_value(out, p[i].kind, p[i].base, event->params[i], p[i].size_B,
                            p[i].flow != ZS_API_FLOW_OUT || ok);
    }
    zs_buf_putc(out, ')');
    if (event->is_exit) {
        zs_buf_puts(out, " = ");
        zs_api_format_value(out, ZS_API_KIND_ENUM, "ze_result_t", event->result, 4, false);
    }
}

size_t zs_api_event_format(const struct zs_api_event *event, char *ret_text, size_t size_B)
{
    struct zs_buf out = {0};
    zs_api_format_event(&out, event);
    size_t length_B = out.size_B;
    if (size_B) {
        size_t keep_B = ZS_MIN(length_B, size_B - 1);
        if (keep_B)
            memcpy(ret_text, out.data, keep_B);
        ret_text[keep_B] = '\0';
    }
    zs_buf_fini(&out);
    return length_B;
}
