/* SPDX-License-Identifier: MIT */
#include "base/text.h"

#include "base/utf8.h"

#include <string.h>

enum { ESC = 0x1b, DEL = 0x7f, COLOUR_MAX_B = 12 };

/* Without a shape of their own: what they do is done to other characters. */
static const struct {
    uint32_t first, last;
} hidden[] = {
    {0x80, 0x9f},                                           /* C1 controls */
    {0x61c, 0x61c},   {0x200e, 0x200f},   {0x202a, 0x202e}, /* marks, overrides of direction */
    {0x2066, 0x2069},                                       /* isolates */
    {0x200b, 0x200d}, {0x2060, 0x2064},   {0xfeff, 0xfeff}, /* of no width */
    {0x2028, 0x2029},                                       /* separators of lines */
    {0xfff9, 0xfffb}, {0xe0000, 0xe0fff},                   /* annotations, tags */
};

static bool is_hidden(uint32_t c)
{
    for (size_t i = 0; i < ZS_ARRAY_LEN(hidden); i++)
        if (c >= hidden[i].first && c <= hidden[i].last)
            return true;
    return false;
}

static bool is_plain(uint8_t c)
{
    return (c >= 0x20 && c < DEL) || c == '\n' || c == '\t';
}

/* How many bytes at p need no look: most, eight at a time. */
static size_t plain_run(const uint8_t *p, size_t size_B)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), high = ones << 7;
    size_t n = 0;
    for (; n < size_B; n++) {
        uint64_t w;
        while (size_B - n >= sizeof(w)) {
            memcpy(&w, p + n, sizeof(w));
            /* a byte below 0x20, DEL, or one with its highest bit (never a false "no") */
            if (((w - ones * 0x20) | (w + ones) | w) & high)
                break;
            n += sizeof(w);
        }
        if (n == size_B || !is_plain(p[n]))
            break;
    }
    return n;
}

/* Bytes of the colour at p, ESC [ numbers m; 0: it is none. */
static size_t colour_length(const uint8_t *p, size_t left_B)
{
    if (left_B < 3 || p[1] != '[')
        return 0;
    for (size_t i = 2; i < ZS_MIN(left_B, (size_t)COLOUR_MAX_B); i++) {
        if (p[i] == 'm')
            return i + 1;
        if ((p[i] < '0' || p[i] > '9') && p[i] != ';')
            return 0;
    }
    return 0;
}

/* colours: ours pass. */
static void clean(struct zs_buf *out, const uint8_t *p, size_t size_B, bool colours)
{
    for (size_t at = 0; at < size_B;) {
        size_t n = plain_run(p + at, size_B - at);
        uint32_t c = 0;
        zs_buf_append(out, p + at, n);
        at += n;
        if (at == size_B)
            break;
        n = p[at] >= 0x80             ? zs_utf8_decode(p + at, size_B - at, &c)
            : colours && p[at] == ESC ? colour_length(p + at, size_B - at)
                                      : 0;
        if (n && (p[at] == ESC || !is_hidden(c)))
            zs_buf_append(out, p + at, n);
        else if (n)
            zs_buf_printf(out, "\\u%04x", c);
        else
            zs_buf_printf(out, "\\x%02x", p[at]);
        at += n ? n : 1;
    }
}

void zs_text_put(struct zs_buf *out, const void *data, size_t size_B)
{
    const uint8_t *p = data;
    for (size_t from = 0, at = 0; at <= size_B && size_B; at++) {
        if (at < size_B && p[at] != '\n' && p[at] != '\t')
            continue;
        clean(out, p + from, at - from, false);
        if (at < size_B)
            zs_buf_printf(out, "\\x%02x", p[at]);
        from = at + 1;
    }
}

void zs_text_puts(struct zs_buf *out, const char *text)
{
    zs_text_put(out, text, strlen(text));
}

struct zs_span zs_text_clean(struct zs_buf *scratch, const void *data, size_t size_B)
{
    if (!size_B || plain_run(data, size_B) == size_B)
        return zs_span_make(data, size_B);
    scratch->size_B = 0;
    clean(scratch, data, size_B, true);
    return zs_buf_span(scratch);
}
