/* SPDX-License-Identifier: MIT */
/* For files that are built twice, for any host and for those with AVX2: names of what they run, and
 * the widest vectors that the host has. */
#ifndef ZS_DATAPORT_TWICE_H
#define ZS_DATAPORT_TWICE_H

#include <immintrin.h>
#include <stdint.h>

#ifdef __AVX2__
#define RUN(name) zs_port_run_##name##_avx2
typedef uint32_t vector __attribute__((vector_size(32), aligned(1), may_alias));
typedef uint64_t vector64 __attribute__((vector_size(32), aligned(1), may_alias));
#else
#define RUN(name) zs_port_run_##name
typedef uint32_t vector __attribute__((vector_size(16), aligned(1), may_alias));
typedef uint64_t vector64 __attribute__((vector_size(16), aligned(1), may_alias));
#endif
enum { VECTOR_LANES = sizeof(vector) / 4, VECTOR_QWORDS = sizeof(vector) / 8 };

static inline bool all_zero(vector v)
{
#ifdef __AVX2__
    return _mm256_testz_si256((__m256i)v, (__m256i)v);
#else
    return _mm_testz_si128((__m128i)v, (__m128i)v);
#endif
}

static inline vector splat(uint32_t x)
{
    vector zero = {0};
    return zero + x;
}

static inline vector64 splat64(uint64_t x)
{
    vector64 zero = {0};
    return zero + x;
}

#endif
