/* SPDX-License-Identifier: MIT */
/* For files that are built twice, for any host and for those with AVX2: names of what they run, and
 * the widest vectors that the host has. */
#ifndef ZS_DATAPORT_HOST_VECTOR_H
#define ZS_DATAPORT_HOST_VECTOR_H

#include "dataport/dataport_priv.h"

#include <immintrin.h>

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

/* ---- shapes of address vectors -----------------------------------------------------------------
 */

static const uint32_t steps_of_4[16] = {0,  4,  8,  12, 16, 20, 24, 28,
                                        32, 36, 40, 44, 48, 52, 56, 60};

/* offset[i] == offset[0] + expected[i], the latter 0 or steps_of_4. */
static inline __attribute__((always_inline)) bool shaped(const uint8_t *offsets,
                                                         const uint32_t *expected, uint32_t lanes)
{
    vector first = splat(zs_port_load32(offsets)), bad = {0};
    _Pragma("GCC unroll 4") for (uint32_t i = 0; i < lanes; i += VECTOR_LANES)
    {
        vector v = *(const vector *)(const void *)(offsets + (size_t)i * 4) - first;
        if (expected)
            v ^= *(const vector *)(const void *)(expected + i);
        bad |= v;
    }
    return all_zero(bad);
}

/* address[i] == address[0] + step * i; lanes: a multiple of 4. */
static inline bool rises64(const uint8_t *addresses, uint64_t step, uint32_t lanes)
{
    uint64_t first = zs_port_load64(addresses);
    vector64 expect = splat64(first), next = splat64(VECTOR_QWORDS * step), off = {0}, some;
    for (uint32_t i = 1; i < VECTOR_QWORDS; i++)
        expect[i] = first + i * step;
    for (uint32_t i = 0; i < lanes; i += VECTOR_QWORDS, expect += next) {
        memcpy(&some, addresses + (size_t)i * 8, sizeof(some));
        off |= some ^ expect;
    }
    return all_zero((vector)off);
}

/* ---- rows --------------------------------------------------------------------------------------
 *
 * Rows of registers are stored by the vectors that they will be loaded by: a host forwards such
 * stores, and cannot join narrower ones.
 */

static inline void splat32(uint8_t *dst, uint32_t value, uint32_t lanes)
{
    vector v = splat(value);
    for (uint32_t i = 0; i < lanes; i += VECTOR_LANES)
        memcpy(dst + (size_t)i * 4, &v, sizeof(v));
}

/* All loads first: the two may overlap. */
ZS_PORT_KERNEL_ACCESS static inline __attribute__((always_inline)) void
copy_vectors(uint8_t *to, const uint8_t *from, size_t count)
{
    const vector *in = (const vector *)(const void *)from;
    vector *out = (vector *)(void *)to, row[8];
    _Pragma("GCC unroll 8") for (size_t i = 0; i < count; i++) row[i] = in[i];
    _Pragma("GCC unroll 8") for (size_t i = 0; i < count; i++) out[i] = row[i];
}

#endif
