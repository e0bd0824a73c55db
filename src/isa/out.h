/* SPDX-License-Identifier: MIT */
/* Text appended to a buffer of fixed size, without printf: listings are made of millions of these.
 * What does not fit is left out. */
#ifndef ZS_ISA_OUT_H
#define ZS_ISA_OUT_H

#include "base/compiler.h"

#include <string.h>

struct zs_out {
    char *at, *end;
};

static inline void zs_out_bytes(struct zs_out *o, const char *bytes, size_t size_B)
{
    size_B = ZS_MIN(size_B, (size_t)(o->end - o->at));
    memcpy(o->at, bytes, size_B);
    o->at += size_B;
}

/* Inline, so that the length of a literal is known. */
static inline __attribute__((always_inline)) void zs_out_text(struct zs_out *o, const char *text)
{
    zs_out_bytes(o, text, strlen(text));
}

static inline void zs_out_char(struct zs_out *o, char c)
{
    if (o->at != o->end)
        *o->at++ = c;
}

static inline void zs_out_decimal(struct zs_out *o, uint64_t value)
{
    char digits[20];
    size_t at = sizeof(digits);
    do
        digits[--at] = (char)('0' + value % 10);
    while (value /= 10);
    zs_out_bytes(o, digits + at, sizeof(digits) - at);
}

/* Without "0x", in capitals. */
static inline void zs_out_hex(struct zs_out *o, uint64_t value)
{
    char digits[16];
    size_t at = sizeof(digits);
    do
        digits[--at] = "0123456789ABCDEF"[value & 15];
    while (value >>= 4);
    zs_out_bytes(o, digits + at, sizeof(digits) - at);
}

#endif
