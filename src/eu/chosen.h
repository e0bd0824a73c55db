/* SPDX-License-Identifier: MIT */
/* What the lowering made of a program beyond one operation after the other. */
#ifndef ZS_EU_CHOSEN_H
#define ZS_EU_CHOSEN_H

#include "eu/eu.h"

/* In the version of blocks for any mask. */
struct zs_eu_chosen {
    uint32_t links;     /* operations that take what the one in front of them passes on */
    uint32_t passed;    /* operations that do nothing with their result but pass it on */
    uint32_t addresses; /* sums of an index, which they shift, and a base */
    uint32_t absorbed;  /* instructions without an operation: parts of others, or left out */
    bool can_link;      /* whether this build can link, on hosts with AVX2 */
};
/* false: no memory. */
bool zs_eu_program_chosen(const struct zs_eu_program *program, struct zs_eu_chosen *ret);

#endif
