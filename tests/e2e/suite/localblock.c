/* SPDX-License-Identifier: MIT */
/* Blocks of local memory: each component of a lane's vector is the lane's element of one row. */
#include "suite.h"

enum { COMPONENTS = 16 };

#define CASE(name, T, S)                                                                           \
    static void case_##name(struct suite *s)                                                       \
    {                                                                                              \
        const T *a = suite_in(s, S, s->n * COMPONENTS);                                            \
        T *out = suite_out(s, S, s->n * COMPONENTS, 0);                                            \
        for (uint32_t i = 0; i < s->n; i++, a += COMPONENTS, out += COMPONENTS) {                  \
            for (int c = 0; c < 8; c++)                                                            \
                out[c] = a[7 + 7 - c];                                                             \
            for (int c = 0; c < 4; c++)                                                            \
                out[8 + c] = (T)(a[3 + c] + a[0]);                                                 \
            out[12] = a[2];                                                                        \
            out[13] = a[1];                                                                        \
            out[14] = a[0] ^ a[1];                                                                 \
            out[15] = (T)(i % 16);                                                                 \
        }                                                                                          \
    }
CASE(uchar, uint8_t, S_U8)
CASE(ushort, uint16_t, S_U16)
CASE(uint, uint32_t, S_U32)
CASE(ulong, uint64_t, S_U64)

static const struct suite_shape shapes[] = {{{1}, {16}}, {{5}, {64}}, {{0}, {0}}};
static const struct suite_case cases[] = {{"localblock_uchar", case_uchar, shapes},
                                          {"localblock_ushort", case_ushort, shapes},
                                          {"localblock_uint", case_uint, shapes},
                                          {"localblock_ulong", case_ulong, shapes}};
const struct suite_group suite_localblock = {"localblock", cases, SUITE_COUNT(cases)};
