/* SPDX-License-Identifier: MIT */
#include "base/json.h"
#include "base/number.h"
#include "base/utf8.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void json_newline(struct zs_json *j)
{
    if (j->depth > j->indent)
        return;
    zs_buf_putc(j->out, '\n');
    zs_buf_pad(j->out, ' ', (size_t)j->depth);
}

static void json_begin_value(struct zs_json *j, const char *key)
{
    if (j->depth) {
        bool *has_member = &j->has_member[j->depth - 1];
        if (*has_member)
            zs_buf_putc(j->out, ',');
        *has_member = true;
        json_newline(j);
    }
    if (key) {
        zs_json_escape(j->out, key, strlen(key), j->html_safe);
        zs_buf_putc(j->out, ':');
    }
}

static void json_open(struct zs_json *j, const char *key, char opener, char closer)
{
    zs_assert(j->depth < ZS_JSON_DEPTH_MAX);
    json_begin_value(j, key);
    zs_buf_putc(j->out, opener);
    j->has_member[j->depth] = false;
    j->closer[j->depth] = closer;
    j->depth++;
}

void zs_json_object(struct zs_json *j, const char *key)
{
    json_open(j, key, '{', '}');
}

void zs_json_array(struct zs_json *j, const char *key)
{
    json_open(j, key, '[', ']');
}

void zs_json_end(struct zs_json *j)
{
    zs_assert(j->depth > 0);
    j->depth--;
    if (j->has_member[j->depth] && j->depth + 1 <= j->indent) {
        zs_buf_putc(j->out, '\n');
        zs_buf_pad(j->out, ' ', (size_t)j->depth);
    }
    zs_buf_putc(j->out, j->closer[j->depth]);
}

static void json_escape_byte(struct zs_buf *out, uint8_t c)
{
    switch (c) {
    case '"':
        zs_buf_append(out, "\\\"", 2);
        break;
    case '\\':
        zs_buf_append(out, "\\\\", 2);
        break;
    case '\n':
        zs_buf_append(out, "\\n", 2);
        break;
    case '\t':
        zs_buf_append(out, "\\t", 2);
        break;
    default:
        zs_buf_printf(out, "\\u%04x", c);
    }
}

void zs_json_escape(struct zs_buf *out, const char *text, size_t size_B, bool html_safe)
{
    const uint8_t *p = (const uint8_t *)text;
    zs_buf_putc(out, '"');
    for (size_t i = 0, plain = 0;; i++) {
        bool end = i == size_B;
        if (!end && p[i] >= 0x20 && p[i] < 0x7f && p[i] != '"' && p[i] != '\\' &&
            !(html_safe && (p[i] == '<' || p[i] == '>' || p[i] == '&')))
            continue;
        if (i > plain) /* an empty text may have no address */
            zs_buf_append(out, p + plain, i - plain);
        if (end)
            break;
        if (p[i] < 0x80) {
            json_escape_byte(out, p[i]);
        } else {
            size_t n = zs_utf8_length(p + i, size_B - i);
            zs_buf_append(out, n ? (const char *)p + i : "\xef\xbf\xbd", n ? n : 3);
            i += n ? n - 1 : 0;
        }
        plain = i + 1;
    }
    zs_buf_putc(out, '"');
}

void zs_json_string_n(struct zs_json *j, const char *key, const char *text, size_t size_B)
{
    json_begin_value(j, key);
    zs_json_escape(j->out, text, size_B, j->html_safe);
}

void zs_json_string(struct zs_json *j, const char *key, const char *text)
{
    zs_json_string_n(j, key, text, strlen(text));
}

void zs_json_u64(struct zs_json *j, const char *key, uint64_t value)
{
    json_begin_value(j, key);
    zs_buf_put_u64(j->out, value);
}

void zs_json_i64(struct zs_json *j, const char *key, int64_t value)
{
    json_begin_value(j, key);
    if (value < 0)
        zs_buf_putc(j->out, '-');
    zs_buf_put_u64(j->out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void zs_json_double(struct zs_json *j, const char *key, double value)
{
    if (!isfinite(value)) {
        zs_json_null(j, key);
        return;
    }
    json_begin_value(j, key);
    zs_buf_printf(j->out, "%.9g", value);
}

void zs_json_exact(struct zs_json *j, const char *key, double value)
{
    char text[ZS_NUMBER_CHARS];
    if (!isfinite(value)) {
        zs_json_null(j, key);
        return;
    }
    json_begin_value(j, key);
    zs_number_shortest(text, value, sizeof(value));
    zs_buf_puts(j->out, text);
}

void zs_json_bool(struct zs_json *j, const char *key, bool value)
{
    json_begin_value(j, key);
    zs_buf_puts(j->out, value ? "true" : "false");
}

void zs_json_null(struct zs_json *j, const char *key)
{
    json_begin_value(j, key);
    zs_buf_puts(j->out, "null");
}
