/* SPDX-License-Identifier: MIT */
/* Two sequences aligned: which items of one are those of the other, in the order of both. */
#ifndef ZS_REPORT_ALIGN_H
#define ZS_REPORT_ALIGN_H

#include "base/compiler.h"

#include <stddef.h>
#include <stdint.h>

/* Items of a sequence by keys: level 0 is the strictest; what it leaves between two pairs is
 * aligned by level 1, and so on. keys[level * count + i]. */
struct zs_align_side {
    const uint64_t *keys;
    uint32_t count;
};

/*
 * ret_partner[i] of `a`: the item of `b`, or UINT32_MAX; partners ascend. At the last, where
 * `pairs_rest`, as many items as stand between two pairs on either side are pairs. The shortest
 * difference where the two are near each other; beyond that a short one, so that cost stays below
 * items * 1,000. 0 or -ENOMEM.
 */
int zs_align(const struct zs_align_side *a, const struct zs_align_side *b, uint32_t levels,
             bool pairs_rest, uint32_t *ret_partner) ZS_MUST_CHECK;

#endif
