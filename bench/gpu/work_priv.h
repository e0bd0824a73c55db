/* SPDX-License-Identifier: MIT */
/* What files of kernels' data share. */
#ifndef ZS_BENCH_WORK_PRIV_H
#define ZS_BENCH_WORK_PRIV_H

#include "work.h"

#include <stdlib.h>

uint32_t next_random(uint32_t *state); /* 24 bits */
void set_buffer(struct arg *arg, size_t size_B, bool is_output);
void input_words(struct arg *arg, size_t count);
void set_int(struct arg *arg, int32_t value);

extern const struct work
    divergent_works[]; /* up to one without a name; work_at() has none of them */

#endif
