/* SPDX-License-Identifier: MIT */
/* Helpers for struct zs_span, a borrowed range of bytes. */
#ifndef ZS_BASE_SPAN_H
#define ZS_BASE_SPAN_H

#include "base/compiler.h"

#include <string.h>

static inline struct zs_span zs_span_make(const void *data, size_t size_B)
{
    return (struct zs_span){.data = data, .size_B = size_B};
}

/* [offset, offset + size) of a span; false, and *ret untouched, when it does not fit. */
static inline bool ZS_MUST_CHECK zs_span_sub(struct zs_span span, uint64_t offset_B,
                                             uint64_t size_B, struct zs_span *ret)
{
    if (offset_B > span.size_B || size_B > span.size_B - offset_B)
        return false;
    *ret = zs_span_make(span.size_B ? span.data + offset_B : NULL, (size_t)size_B);
    return true;
}

static inline bool zs_span_equal(struct zs_span a, struct zs_span b)
{
    return a.size_B == b.size_B && (a.size_B == 0 || memcmp(a.data, b.data, a.size_B) == 0);
}

#endif
