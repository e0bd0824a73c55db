/* SPDX-License-Identifier: MIT */
/* Numbers that are drawn: the same ones for the same seed, on every host. */
#ifndef ZS_TESTS_UNIT_EU_DRAWN_H
#define ZS_TESTS_UNIT_EU_DRAWN_H

#include <stdint.h>

static uint64_t seed;

static inline uint32_t next(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33);
}

static inline uint32_t below(uint32_t limit)
{
    return next() % limit;
}

#endif
