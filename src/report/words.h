/* SPDX-License-Identifier: MIT */
/*
 * Locations in words, each said once. IGC repeats the same expression for many variables, ranges
 * and kernels (of 52,000 in a module of 800 kernels 1,800 differ), and to describe one takes a run
 * of the evaluator per lane.
 *
 * Threads: one memo may be asked by several at once.
 */
#ifndef ZS_REPORT_WORDS_H
#define ZS_REPORT_WORDS_H

#include "base/buf.h"

#include <zescope/common.h>

struct zs_words_memo;

/* What is the same for all locations of a kernel, and the size of the variable. */
struct zs_words_of {
    uint32_t simd, grf_B;
    uint64_t object_B;
};

struct zs_words_memo *zs_words_memo_open(void); /* NULL: no memory */
void zs_words_memo_close(struct zs_words_memo *memo);
/* Appends the members ,"text":"...","expr":"..." of a location. */
void zs_words_put(struct zs_words_memo *memo, struct zs_span expr, const struct zs_words_of *of,
                  struct zs_buf *out);

#endif
