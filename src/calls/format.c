/* SPDX-License-Identifier: MIT */
/* Calls as C-like lines, from decoded values: live and from recordings alike. */
#include "base/text.h"
#include "calls/codec.h"

#include <inttypes.h>
#include <string.h>

static void format_text(struct zs_buf *out, const struct zs_api_value *v)
{
    const uint8_t *p = v->text.data;
    size_t from = 0;
    zs_buf_putc(out, '"');
    for (size_t i = 0; i < v->text.size_B; i++) {
        if (p[i] != '"' && p[i] != '\\')
            continue;
        zs_text_put(out, p + from, i - from);
        zs_buf_printf(out, "\\%c", p[i]);
        from = i + 1;
    }
    if (from < v->text.size_B)
        zs_text_put(out, p + from, v->text.size_B - from);
    zs_buf_puts(out, v->text.size_B >= ZS_CODEC_TEXT_MAX_B ? "\"..." : "\"");
}

static void format_float(struct zs_buf *out, const struct zs_api_value *v)
{
    float f;
    double d;
    uint32_t low = (uint32_t)v->bits;
    memcpy(&f, &low, sizeof(f));
    memcpy(&d, &v->bits, sizeof(d));
    zs_buf_printf(out, "%g", v->kind == ZS_API_KIND_F32 ? (double)f : d);
}

static void format_pointer(struct zs_buf *out, uint64_t pointer)
{
    if (pointer)
        zs_buf_printf(out, "0x%" PRIx64, pointer);
    else
        zs_buf_puts(out, "NULL");
}

static void format_scalar(struct zs_buf *out, const struct zs_api_value *v)
{
    const char *name;
    switch ((enum zs_api_kind)v->kind) {
    case ZS_API_KIND_ENUM:
        name = zs_api_enum_name(v->base, (int64_t)v->bits);
        if (name)
            zs_buf_puts(out, name);
        else
            zs_buf_printf(out, "%" PRId64, (int64_t)v->bits);
        return;
    case ZS_API_KIND_FLAGS:
        zs_api_format_flags(out, v->base, v->bits);
        return;
    case ZS_API_KIND_STRING:
        if (v->is_null)
            zs_buf_puts(out, "NULL");
        else
            format_text(out, v);
        return;
    case ZS_API_KIND_F32:
    case ZS_API_KIND_F64:
        format_float(out, v);
        return;
    case ZS_API_KIND_I8:
    case ZS_API_KIND_I32:
    case ZS_API_KIND_I64:
        zs_buf_printf(out, "%" PRId64, (int64_t)v->bits);
        return;
    case ZS_API_KIND_HANDLE:
    case ZS_API_KIND_PTR:
    case ZS_API_KIND_FUNC:
    case ZS_API_KIND_STRUCT_PTR:
    case ZS_API_KIND_HANDLE_PTR:
    case ZS_API_KIND_VALUE_PTR:
        format_pointer(out, v->bits);
        return;
    case ZS_API_KIND_ARRAY:
    case ZS_API_KIND_OPAQUE:
    case ZS_API_KIND_STRUCT:
        zs_buf_puts(out, "{...}");
        return;
    default:
        zs_buf_printf(out, "%" PRIu64, v->bits);
    }
}

/* The index behind a value and all that is deeper. */
static uint32_t value_end(const struct zs_api_values *values, uint32_t i)
{
    uint8_t depth = values->items[i].depth;
    do
        i++;
    while (i < values->count && values->items[i].depth > depth);
    return i;
}

static void format_value(struct zs_buf *out, const struct zs_api_values *values, uint32_t i);

/* Names of calls and parameters may come from the recording, too. */
static void put_name(struct zs_buf *out, const char *name)
{
    zs_text_puts(out, name);
    zs_buf_puts(out, " = ");
}

static void format_children(struct zs_buf *out, const struct zs_api_values *values, uint32_t i,
                            char opener, char closer)
{
    uint32_t end = value_end(values, i);
    zs_buf_putc(out, opener);
    for (uint32_t child = i + 1; child < end; child = value_end(values, child)) {
        if (child > i + 1)
            zs_buf_puts(out, ", ");
        if (values->items[child].name)
            put_name(out, values->items[child].name);
        format_value(out, values, child);
    }
    zs_buf_putc(out, closer);
}

static void format_value(struct zs_buf *out, const struct zs_api_values *values, uint32_t i)
{
    const struct zs_api_value *v = &values->items[i];
    bool is_struct = v->kind == ZS_API_KIND_STRUCT || v->kind == ZS_API_KIND_STRUCT_PTR;
    bool is_array = v->kind == ZS_API_KIND_HANDLE_PTR || v->kind == ZS_API_KIND_VALUE_PTR;
    bool has_children = value_end(values, i) > i + 1 ||
                        (v->kind == ZS_API_KIND_STRUCT_PTR && v->depth == 0 && !v->is_null);
    if (v->is_null)
        zs_buf_puts(out, "NULL");
    else if (is_struct && has_children)
        format_children(out, values, i, '{', '}');
    else if (is_array && v->elements == 1 && has_children)
        format_value(out, values, i + 1);
    else if (is_array && v->depth == 0)
        format_children(out, values, i, '[', ']');
    else
        format_scalar(out, v);
}

/* Whether a later top-level value has the same name: what came back replaces what went in. */
static bool is_replaced(const struct zs_api_values *values, uint32_t i)
{
    for (uint32_t k = value_end(values, i); k < values->count; k = value_end(values, k))
        if (values->items[k].name && !strcmp(values->items[k].name, values->items[i].name))
            return true;
    return false;
}

void zs_api_format_call(struct zs_buf *out, const char *name, const struct zs_api_values *values)
{
    bool first = true;
    zs_text_puts(out, name);
    zs_buf_putc(out, '(');
    for (uint32_t i = 0; i < values->count; i = value_end(values, i)) {
        if (is_replaced(values, i))
            continue;
        zs_buf_puts(out, first ? "" : ", ");
        put_name(out, values->items[i].name);
        format_value(out, values, i);
        first = false;
    }
    zs_buf_puts(out, !values->cut ? ")" : first ? "...)" : ", ...)");
}

size_t zs_api_event_format(const struct zs_api_event *event, char *ret_text, size_t size_B)
{
    static const struct zs_codec empty;
    struct zs_codec codec = empty;
    uint8_t bytes[2][ZS_CODEC_EVENT_MAX_B]; /* texts point into them */
    const struct zs_api_shape shape = zs_api_call_shape(event->call);
    struct zs_api_values values;
    struct zs_buf out = {0};
    int32_t result = event->is_exit ? *event->result : 0;
    values.count = 0;
    values.cut = false;
    for (int is_exit = 0; is_exit <= event->is_exit; is_exit++) {
        struct zs_api_event half = *event;
        struct zs_codec reading = codec;
        half.is_exit = is_exit;
        size_t written_B = zs_codec_encode(&codec, &half, bytes[is_exit]);
        struct zs_reader r = zs_reader_make(zs_span_make(bytes[is_exit], written_B), 0, NULL);
        zs_codec_decode(&reading, &shape, is_exit, &r, &values, &result);
        if (is_exit == event->is_exit)
            zs_api_format_call(&out, event->name, &values);
    }
    if (event->is_exit) {
        const char *name = zs_api_result_name(event->name, result);
        if (name)
            zs_buf_printf(&out, " = %s", name);
        else
            zs_buf_printf(&out, " = 0x%x", (unsigned)result);
    }
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
