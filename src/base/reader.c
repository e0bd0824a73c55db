/* SPDX-License-Identifier: MIT */
#include "base/reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

int zs_reader_fail(struct zs_reader *r, int error, const char *format, ...)
{
    if (r->error)
        return r->error;
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    r->error = error;
    return zs_diag_set(r->diag, error, zs_reader_offset(r), "%s", text);
}

/* The next size_B bytes, consumed; NULL and a sticking error when they are not there. */
static const uint8_t *reader_take(struct zs_reader *r, uint64_t size_B, const char *what)
{
    static const uint8_t empty[1];
    if (r->error)
        return NULL;
    if (size_B > r->span.size_B - r->at_B) {
        zs_reader_fail(r, -EINVAL, "%s: %" PRIu64 " bytes expected, %zu remain", what, size_B,
                       r->span.size_B - r->at_B);
        return NULL;
    }
    const uint8_t *p = r->span.data ? r->span.data + r->at_B : empty;
    r->at_B += (size_t)size_B;
    return p;
}

uint8_t zs_read_u8(struct zs_reader *r, const char *what)
{
    const uint8_t *p = reader_take(r, 1, what);
    return p ? p[0] : 0;
}

uint16_t zs_read_u16(struct zs_reader *r, const char *what)
{
    const uint8_t *p = reader_take(r, 2, what);
    return p ? zs_load_u16(p) : 0;
}

uint32_t zs_read_u32(struct zs_reader *r, const char *what)
{
    const uint8_t *p = reader_take(r, 4, what);
    return p ? zs_load_u32(p) : 0;
}

uint64_t zs_read_u64(struct zs_reader *r, const char *what)
{
    const uint8_t *p = reader_take(r, 8, what);
    return p ? zs_load_u64(p) : 0;
}

struct zs_span zs_read_bytes(struct zs_reader *r, uint64_t size_B, const char *what)
{
    const uint8_t *p = reader_take(r, size_B, what);
    return p ? zs_span_make(p, (size_t)size_B) : zs_span_make(NULL, 0);
}

void zs_read_skip(struct zs_reader *r, uint64_t size_B, const char *what)
{
    reader_take(r, size_B, what);
}

void zs_read_seek(struct zs_reader *r, uint64_t at_B, const char *what)
{
    if (r->error)
        return;
    if (at_B > r->span.size_B)
        zs_reader_fail(r, -EINVAL, "%s: offset 0x%" PRIx64 " lies beyond the %zu bytes there are",
                       what, at_B, r->span.size_B);
    else
        r->at_B = (size_t)at_B;
}

struct zs_reader zs_read_sub(struct zs_reader *r, uint64_t size_B, const char *what)
{
    uint64_t base_B = zs_reader_offset(r);
    struct zs_span span = zs_read_bytes(r, size_B, what);
    struct zs_reader sub = zs_reader_make(span, base_B, r->diag);
    sub.error = r->error;
    return sub;
}

uint32_t zs_read_count(struct zs_reader *r, size_t record_B, const char *what)
{
    uint32_t count = zs_read_u32(r, what);
    if (!r->error && record_B && count > zs_reader_left(r) / record_B) {
        zs_reader_fail(r, -EINVAL, "%s: %" PRIu32 " records of %zu bytes cannot fit in %zu bytes",
                       what, count, record_B, zs_reader_left(r));
        return 0;
    }
    return r->error ? 0 : count;
}

/* The bits of a LEB128; *ret_bits says how many were given, at most 70. */
static uint64_t reader_leb128(struct zs_reader *r, const char *what, uint32_t *ret_bits,
                              bool *ret_sign)
{
    uint64_t value = 0;
    uint32_t shift = 0;
    uint8_t byte = 0x80;
    while (byte & 0x80) {
        if (shift == 70) {
            zs_reader_fail(r, -EINVAL, "%s: a LEB128 number longer than 64 bits", what);
            return 0;
        }
        byte = zs_read_u8(r, what);
        if (r->error)
            return 0;
        value |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
        shift += 7;
    }
    *ret_bits = shift;
    *ret_sign = byte & 0x40;
    return value;
}

uint64_t zs_read_uleb128(struct zs_reader *r, const char *what)
{
    /* nearly all are one byte */
    if (ZS_LIKELY(!r->error && r->at_B < r->span.size_B && r->span.data[r->at_B] < 0x80))
        return r->span.data[r->at_B++];
    /* and nearly all others short */
    if (ZS_LIKELY(!r->error && r->span.size_B - r->at_B >= 9)) {
        const uint8_t *p = r->span.data + r->at_B;
        uint64_t value = 0;
        for (uint32_t i = 0; i < 9; i++) {
            value |= (uint64_t)(p[i] & 0x7f) << (7 * i);
            if (p[i] < 0x80) {
                r->at_B += i + 1;
                return value;
            }
        }
    }
    uint32_t bits;
    bool sign;
    return reader_leb128(r, what, &bits, &sign);
}

int64_t zs_read_sleb128(struct zs_reader *r, const char *what)
{
    uint32_t bits = 64;
    bool sign = false;
    uint64_t value = reader_leb128(r, what, &bits, &sign);
    if (!r->error && sign && bits < 64)
        value |= UINT64_MAX << bits;
    return (int64_t)value;
}

const char *zs_read_cstr(struct zs_reader *r, const char *what)
{
    if (r->error)
        return "";
    size_t left_B = r->span.size_B - r->at_B;
    const char *text = left_B ? (const char *)r->span.data + r->at_B : "";
    const char *end = left_B ? memchr(text, 0, left_B) : NULL;
    if (!end) {
        zs_reader_fail(r, -EINVAL, "%s: a string without an end", what);
        return "";
    }
    r->at_B += (size_t)(end - text) + 1;
    return text;
}
