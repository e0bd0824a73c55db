/* SPDX-License-Identifier: MIT */
/*
 * Words of sixteen and 32 lanes, all on, as dwords: numbers of work-items, which each thread begins
 * with. Built for AVX2; other hosts have the handlers of exec.c, which go from eight to eight.
 */
#include "eu/exec.h"
#include "eu/lower.h"

#define WIDEN(name, convert, lanes)                                                                \
    HANDLER(name##_##lanes)                                                                        \
    {                                                                                              \
        const uint8_t *from = AT(t, op->src[0]);                                                   \
        uint8_t *to = AT(t, op->dst);                                                              \
        __m256i all[(lanes) / 8];                                                                  \
        LANES_UNROLL for (unsigned i = 0; i < (lanes) / 8; i++)                                    \
        {                                                                                          \
            __m128i words;                                                                         \
            memcpy(&words, from + i * sizeof(words), sizeof(words));                               \
            all[i] = convert(words);                                                               \
        }                                                                                          \
        LANES_UNROLL for (unsigned i = 0; i < (lanes) / 8; i++)                                    \
            memcpy(to + i * sizeof(all[i]), &all[i], sizeof(all[i]));                              \
        ZS_EU_NEXT(t, op);                                                                         \
    }
WIDEN(unsigned, _mm256_cvtepu16_epi32, 16)
WIDEN(unsigned, _mm256_cvtepu16_epi32, 32)
WIDEN(signed, _mm256_cvtepi16_epi32, 16)
WIDEN(signed, _mm256_cvtepi16_epi32, 32)

zs_eu_op_fn *zs_eu_widening(enum zs_eu_row row, enum zs_eu_shape shape)
{
    bool is_unsigned = row == ZS_EU_ROW_U16_U32;

    if (!is_unsigned && row != ZS_EU_ROW_S16_S32)
        return NULL;
    if (shape == ZS_EU_SHAPE_FULL16)
        return is_unsigned ? unsigned_16 : signed_16;
    return shape != ZS_EU_SHAPE_FULL32 ? NULL : is_unsigned ? unsigned_32 : signed_32;
}
