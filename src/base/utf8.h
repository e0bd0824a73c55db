/* SPDX-License-Identifier: MIT */
/* UTF-8 as RFC 3629 defines it: no surrogates, no overlong forms, nothing above U+10FFFF. */
#ifndef ZS_BASE_UTF8_H
#define ZS_BASE_UTF8_H

#include "base/compiler.h"

/* Bytes of the valid sequence at p, of which left_B > 0 bytes may be read; 0 when it is not valid.
 */
static inline size_t zs_utf8_length(const uint8_t *p, size_t left_B)
{
    size_t n = p[0] < 0x80                   ? 1
               : p[0] >= 0xc2 && p[0] < 0xe0 ? 2
               : (p[0] & 0xf0) == 0xe0       ? 3
               : p[0] >= 0xf0 && p[0] < 0xf5 ? 4
                                             : 0;
    if (n == 0 || n > left_B)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] >= 0xa0) ||
        (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] >= 0x90))
        return 0;
    return n;
}

/* The same, and the character in *ret (untouched when not valid). */
static inline size_t zs_utf8_decode(const uint8_t *p, size_t left_B, uint32_t *ret)
{
    static const uint8_t first_mask[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    size_t n = zs_utf8_length(p, left_B);
    uint32_t c = p[0] & first_mask[n];
    for (size_t i = 1; i < n; i++)
        c = c << 6 | (p[i] & 0x3f);
    if (n)
        *ret = c;
    return n;
}

#endif
