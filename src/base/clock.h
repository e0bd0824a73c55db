/* SPDX-License-Identifier: MIT */
#ifndef ZS_BASE_CLOCK_H
#define ZS_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds of one of the host's clocks. */
static inline uint64_t zs_clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The clock of recordings and deadlines. */
static inline uint64_t zs_now_ns(void)
{
    return zs_clock_ns(CLOCK_MONOTONIC);
}

#endif
