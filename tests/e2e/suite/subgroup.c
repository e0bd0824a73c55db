/* SPDX-License-Identifier: MIT */
/* Sub-groups: the items of a group in the order of their linear ids, s->simd at a time. */
#include "suite.h"

/* Where the sub-group of item i begins in a one-dimensional launch, and how many items it has. */
static size_t begin_of(const struct suite *s, size_t i)
{
    size_t l = i % s->local[0];
    return i - l % s->simd;
}

static size_t width_of(const struct suite *s, size_t i)
{
    size_t left = s->local[0] - begin_of(s, i) % s->local[0];
    return left < s->simd ? left : s->simd;
}

static void case_ids(struct suite *s)
{
    uint32_t *o = suite_out(s, S_U32, 6 * s->n, 0);
    uint32_t count = (s->local[0] + s->simd - 1) / s->simd;
    for (size_t i = 0; i < s->n; i++, o += 6) {
        uint32_t l = i % s->local[0];
        uint32_t v[6] = {width_of(s, i), s->simd < s->local[0] ? s->simd : s->local[0],
                         count,          l / s->simd,
                         l % s->simd,    count};
        v[1] = s->simd;
        memcpy(o, v, sizeof(v));
    }
}

/* LESS compares; halves are kept as small integers whose sums are exact. */
#define REDUCE(T, C, type, least, most, TO, FROM)                                                  \
    static void case_reduce_##T(struct suite *s)                                                   \
    {                                                                                              \
        if (type >= S_F16) /* few bits: halves hold every sum */                                   \
            suite_range(s, -40, 40);                                                               \
        void *in = suite_in(s, type, s->n);                                                        \
        C *a = malloc(s->n * sizeof(C));                                                           \
        for (size_t i = 0; i < s->n; i++) {                                                        \
            a[i] = FROM(in, i);                                                                    \
            if (type >= S_F16)                                                                     \
                a[i] = (C)(int)a[i];                                                               \
            TO(in, i, a[i]);                                                                       \
        }                                                                                          \
        suite_upload(s, in);                                                                       \
        void *o = suite_out(s, type, 10 * s->n, 0);                                                \
        for (size_t base = 0; base < s->n; base += width_of(s, base)) {                            \
            C sum = 0, low = most, high = least;                                                   \
            size_t end = base + width_of(s, base);                                                 \
            for (size_t i = base; i < end; i++) {                                                  \
                TO(o, 10 * i + 4, sum);                                                            \
                TO(o, 10 * i + 6, low);                                                            \
                TO(o, 10 * i + 8, high);                                                           \
                sum += a[i];                                                                       \
                low = a[i] < low ? a[i] : low;                                                     \
                high = a[i] > high ? a[i] : high;                                                  \
                TO(o, 10 * i + 3, sum);                                                            \
                TO(o, 10 * i + 5, low);                                                            \
                TO(o, 10 * i + 7, high);                                                           \
                TO(o, 10 * i + 9, a[end - 1]);                                                     \
            }                                                                                      \
            for (size_t i = base; i < end; i++) {                                                  \
                TO(o, 10 * i, sum);                                                                \
                TO(o, 10 * i + 1, low);                                                            \
                TO(o, 10 * i + 2, high);                                                           \
            }                                                                                      \
        }                                                                                          \
        free(a);                                                                                   \
    }
#define PLAIN(T)                                                                                   \
    static T get_##T(const void *at, size_t i)                                                     \
    {                                                                                              \
        return ((const T *)at)[i];                                                                 \
    }                                                                                              \
    static void put_##T(void *at, size_t i, T value)                                               \
    {                                                                                              \
        ((T *)at)[i] = value;                                                                      \
    }
PLAIN(int32_t)
PLAIN(uint32_t)
PLAIN(int64_t)
PLAIN(uint64_t)
PLAIN(float)
PLAIN(double)

static float get_half(const void *at, size_t i)
{
    return suite_half_to_float(((const uint16_t *)at)[i]);
}

static void put_half(void *at, size_t i, float value)
{
    ((uint16_t *)at)[i] = suite_float_to_half(value);
}

REDUCE(int, int32_t, S_I32, INT32_MIN, INT32_MAX, put_int32_t, get_int32_t)
REDUCE(uint, uint32_t, S_U32, 0, UINT32_MAX, put_uint32_t, get_uint32_t)
REDUCE(long, int64_t, S_I64, INT64_MIN, INT64_MAX, put_int64_t, get_int64_t)
REDUCE(ulong, uint64_t, S_U64, 0, UINT64_MAX, put_uint64_t, get_uint64_t)
REDUCE(float, float, S_F32, -INFINITY, INFINITY, put_float, get_float)
REDUCE(double, double, S_F64, -(double)INFINITY, (double)INFINITY, put_double, get_double)
REDUCE(half, float, S_F16, -INFINITY, INFINITY, put_half, get_half)

static void case_votes(struct suite *s)
{
    int32_t *a = suite_in(s, S_I32, s->n);
    for (size_t i = 0; i < s->n; i++)
        a[i] = a[i] % 3 ? a[i] & 0xffff : a[i] & 0xfffe;
    a[s->n / 2] = 12345;
    a[s->n / 3] = s->n > 40 ? 7 : a[s->n / 3];
    a[s->n - 1] = -200;
    suite_upload(s, a);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    for (size_t i = 0; i < s->n; i++) {
        size_t from = begin_of(s, i), to = from + width_of(s, i);
        o[i] = 5;
        for (size_t k = from; k < to; k++) {
            if (a[k] <= -100)
                o[i] &= ~1;
            if (a[k] == 7)
                o[i] &= ~4;
            o[i] |= (a[k] == 12345 ? 2 : 0) | (a[k] & 1 ? 8 : 0);
        }
    }
}

/* PLUS adds a small number in the type. */
#define SHUFFLE(T, C, type, PLUS)                                                                  \
    static void case_shuffle_##T(struct suite *s)                                                  \
    {                                                                                              \
        enum { DELTA = 3 };                                                                        \
        const C *a = suite_in(s, type, s->n);                                                      \
        const uint32_t *lanes = suite_in(s, S_U32, s->n);                                          \
        C *o = suite_out(s, type, 6 * s->n, 0);                                                    \
        suite_int(s, DELTA);                                                                       \
        for (size_t i = 0; i < s->n; i++, o += 6) {                                                \
            size_t from = begin_of(s, i), n = width_of(s, i), lane = i - from;                     \
            bool whole = n == s->simd;                                                             \
            o[0] = a[from + lanes[i] % n];                                                         \
            o[1] = a[from];                                                                        \
            o[2] = o[3] = a[i];                                                                    \
            if (whole) {                                                                           \
                o[2] = lane + DELTA < n ? a[i + DELTA] : PLUS(a[i + DELTA - n], 1);                \
                o[3] = lane >= DELTA ? a[i - DELTA] : PLUS(a[i + n - DELTA], 2);                   \
            }                                                                                      \
            o[4] = whole ? a[from + (lane ^ 3)] : a[i];                                            \
            o[5] = a[from + n - 1 - lane];                                                         \
        }                                                                                          \
    }
#define ADD(x, k) ((x) + (k))
#define ADD_HALF(x, k)                                                                             \
    suite_float_to_half(suite_half_to_float(x) + (float)(k)) /* exact, or rounded once */

SHUFFLE(int, int32_t, S_I32, ADD)
SHUFFLE(uint, uint32_t, S_U32, ADD)
SHUFFLE(float, float, S_F32, ADD)
SHUFFLE(short, int16_t, S_I16, ADD)
SHUFFLE(uchar, uint8_t, S_U8, ADD)
SHUFFLE(long, int64_t, S_I64, ADD)
SHUFFLE(double, double, S_F64, ADD)
SHUFFLE(half, uint16_t, S_F16, ADD_HALF)

static void case_shuffle_vector(struct suite *s)
{
    const int32_t *a = suite_in(s, S_I32, 4 * s->n);
    int32_t *o = suite_out(s, S_I32, 4 * s->n, 0);
    for (size_t i = 0; i < s->n; i++) {
        size_t from = begin_of(s, i), n = width_of(s, i), lane = i - from;
        for (size_t k = 0; k < 4; k++)
            o[4 * i + k] = a[4 * (from + (lane * 5 + 1) % n) + k] + a[4 * (from + n - 1) + 3 - k];
    }
}

static void case_divergent(struct suite *s)
{
    const int32_t *a = suite_in(s, S_I32, s->n);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    for (size_t i = 0; i < s->n; i++) {
        size_t from = begin_of(s, i), lane = i - from;
        uint32_t r = 0;
        if (lane & 1)
            r = (uint32_t)a[from + lane - (lane & 2)];
        else if (lane < 6)
            r = -(uint32_t)a[from + (lane & 4)];
        for (size_t k = 0; k < (lane & 3); k++)
            r += (uint32_t)(a[i] >> k);
        o[i] = (int32_t)(r + (uint32_t)a[from]);
    }
}

/* ---- Blocks ---- */

#define BLOCK(T, C, type)                                                                          \
    static void case_block_##T(struct suite *s)                                                    \
    {                                                                                              \
        const C *a = suite_in(s, type, 16 * s->n);                                                 \
        C *o = suite_out(s, type, 16 * s->n, 0);                                                   \
        size_t w = s->simd;                                                                        \
        for (size_t g = 0; g < s->n; g += w, a += 16 * w, o += 16 * w) {                           \
            for (size_t i = 0; i < w; i++) {                                                       \
                for (size_t k = 0; k < 8; k++)                                                     \
                    o[k * w + i] = a[(7 + 7 - k) * w + i];                                         \
                for (size_t k = 0; k < 4; k++)                                                     \
                    o[(8 + k) * w + i] = (C)(a[(3 + k) * w + i] + a[i]);                           \
                o[12 * w + i] = a[2 * w + i];                                                      \
                o[13 * w + i] = a[w + i];                                                          \
                o[14 * w + i] = a[i] ^ a[w + i];                                                   \
            }                                                                                      \
        }                                                                                          \
    }
BLOCK(uchar, uint8_t, S_U8)
BLOCK(ushort, uint16_t, S_U16)
BLOCK(uint, uint32_t, S_U32)
BLOCK(ulong, uint64_t, S_U64)

static void case_block_uchar16(struct suite *s)
{
    const uint8_t *a = suite_in(s, S_U8, 16 * s->n);
    uint8_t *o = suite_out(s, S_U8, 16 * s->n, 0);
    for (size_t i = 0; i < 16 * s->n; i++)
        o[i] = (uint8_t)(a[i] + i % s->simd);
}

static void case_block_unaligned(struct suite *s)
{
    const uint32_t *a = suite_in(s, S_U32, 2 * s->n + 64);
    uint32_t *o = suite_out(s, S_U32, s->n, 0);
    for (size_t i = 0; i < s->n; i++) {
        size_t base = i - i % s->simd, lane = i % s->simd;
        const uint32_t *at = a + 2 * base + lane;
        o[i] = at[1] + at[3] * 3 + at[3 + s->simd] * 5;
    }
}

/* ---- Sizes ---- */

static void of_size(struct suite *s, uint32_t size)
{
    if (s->simd != size)
        fprintf(stderr, "  SIMD%u for %u\n", s->simd, size);
    s->cannot |= s->simd != size;
    const int32_t *a = suite_in(s, S_I32, s->n);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    for (size_t i = 0; i < s->n; i++) {
        size_t from = begin_of(s, i);
        uint32_t sum = 0;
        for (size_t k = from; k <= i; k++)
            sum += (uint32_t)a[k];
        if (i - from >= size / 2)
            sum ^= (uint32_t)a[from + size / 2];
        o[i] = (int32_t)(sum * 64 + size);
    }
}

static void case_of_8(struct suite *s)
{
    of_size(s, 8);
}

static void case_of_16(struct suite *s)
{
    of_size(s, 16);
}

static void case_of_32(struct suite *s)
{
    of_size(s, 32);
}

static void case_transpose(struct suite *s)
{
    const int32_t *a = suite_in(s, S_I32, 8 * s->n);
    int32_t *o = suite_out(s, S_I32, 8 * s->n, 0);
    for (size_t i = 0; i < 8 * s->n; i++)
        o[i] = a[i - i % 64 + i % 8 * 8 + i % 64 / 8];
}

static void case_exchange(struct suite *s)
{
    size_t n = s->local[0];
    const int32_t *a = suite_in(s, S_I32, s->n);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    suite_local(s, 4 * n);
    for (size_t i = 0; i < s->n; i++) {
        size_t other = i - i % n + n - 1 - i % n, from = begin_of(s, other);
        o[i] = a[from + width_of(s, other) - 1 - (other - from)] + 1;
    }
}

static void case_2d(struct suite *s)
{
    uint32_t w = s->local[0], h = s->local[1], width = s->items[0];
    const int32_t *a = suite_in(s, S_I32, s->n);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    for (uint32_t g = 0; g < s->groups[0] * s->groups[1]; g++) {
        uint32_t corner = g / s->groups[0] * h * width + g % s->groups[0] * w;
        for (uint32_t i = 0; i < w * h; i++) {
            int32_t sum = (int32_t)(i / s->simd * 1000);
            for (uint32_t k = i - i % s->simd; k < w * h && k / s->simd == i / s->simd; k++)
                sum += a[corner + k / w * width + k % w];
            o[corner + i / w * width + i % w] = sum;
        }
    }
}

/* ---- Ballots and what may diverge ---- */

static void case_ballot(struct suite *s)
{
    const int32_t *a = suite_in(s, S_I32, s->n);
    uint32_t *o = suite_out(s, S_U32, 12 * s->n, 0);
    for (size_t i = 0; i < s->n; i++, o += 12) {
        size_t from = begin_of(s, i), n = width_of(s, i), lane = i - from;
        uint32_t b = 0, m = 0, before = (1u << lane) - 1;
        for (size_t k = 0; k < n; k++) {
            b |= (uint32_t)(a[from + k] & 1) << k;
            m |= (uint32_t)(a[from + k] >> 1 & 1) << k;
        }
        uint32_t v[12] = {b,
                          0,
                          m >> lane & 1,
                          b >> (n - 1) & 1,
                          __builtin_popcount(b),
                          __builtin_popcount(b & (before * 2 + 1)),
                          __builtin_popcount(b & before),
                          b ? __builtin_ctz(b) : 99,
                          b ? 31 - __builtin_clz(b) : 99,
                          before,
                          ~before & ((2u << (n - 1)) - 1),
                          (uint32_t)a[from] * 2};
        memcpy(o, v, sizeof(v));
    }
}

static void case_non_uniform(struct suite *s)
{
    const int32_t *a = suite_in(s, S_I32, s->n);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    for (size_t i = 0; i < s->n; i++) {
        size_t from = begin_of(s, i), to = from + width_of(s, i), first = from;
        bool any = false, all = true, same = true;
        while ((a[first] & 1) != (a[i] & 1))
            first++;
        for (size_t k = from; k < to; k++) {
            if (!(a[k] & 1))
                continue;
            any |= (a[k] & 4) != 0;
            all &= (a[k] & 8) != 0;
            same &= a[k] >> 30 == a[i] >> 30;
        }
        /* all alike or not is one answer for all */
        for (size_t k = from; k < to && a[i] & 1; k++)
            same &= !(a[k] & 1) || a[k] >> 30 == a[i] >> 30;
        o[i] = a[i] & 1 ? any + 2 * all + 4 * (first == i) + 8 * same : first == i ? 16 : 32;
    }
}

static void case_non_uniform_sums(struct suite *s)
{
    const int32_t *a = suite_in(s, S_I32, s->n);
    int32_t *o = suite_out(s, S_I32, 3 * s->n, 0);
    for (size_t i = 0; i < s->n; i++, o += 3) {
        size_t from = begin_of(s, i), to = from + width_of(s, i);
        int way = a[i] & 1 ? 0 : a[i] & 2 ? 1 : 2;
        int32_t most = INT32_MIN, least = INT32_MAX, and = -1, or = 0, xor = 0;
        uint32_t sum = 0, so_far = 0, product = 1;
        bool any = false;
        for (size_t k = from; k < to; k++) {
            if ((a[k] & 1 ? 0 : a[k] & 2 ? 1 : 2) != way)
                continue;
            sum += (uint32_t)a[k];
            xor ^= a[k];
            product *= (uint32_t)(a[k] | 1);
            least = a[k] < least ? a[k] : least;
            any |= (a[k] & 64) != 0;
            if (k < i && a[k] > most)
                most = a[k];
            if (k <= i) {
                so_far += (uint32_t)a[k];
                and &= a[k];
                or |= a[k];
            }
        }
        int32_t v[3][3] = {
            {(int32_t)sum, most, (int32_t)product}, {xor, (int32_t)so_far, any}, {and, least, or }};
        memcpy(o, v[way], sizeof(v[way]));
    }
}

static void case_khr_shuffle(struct suite *s)
{
    const uint8_t *a = suite_in(s, S_I8, s->n);
    const uint64_t *b = suite_in(s, S_U64, s->n);
    uint64_t *o = suite_out(s, S_U64, 2 * s->n, 0);
    for (size_t i = 0; i < s->n; i++) {
        size_t from = begin_of(s, i), n = width_of(s, i), lane = i - from;
        o[2 * i] = a[from + (lane + 1) % n] + b[n == s->simd ? from + (lane ^ 5) : i];
        o[2 * i + 1] = (lane > 0 ? b[i - 1] : 1) + (lane + 2 < n ? b[i + 2] : 2);
    }
}

static void case_clustered(struct suite *s)
{
    const int32_t *a = suite_in(s, S_I32, s->n);
    int32_t *o = suite_out(s, S_I32, 4 * s->n, 0);
    for (size_t i = 0; i < s->n; i++) {
        size_t by4 = i - i % 4, by8 = i - i % 8, by2 = i - i % 2;
        uint32_t sum = 0, product = 1;
        int32_t most = INT32_MIN;
        for (size_t k = 0; k < 4; k++)
            sum += (uint32_t)a[by4 + k];
        for (size_t k = 0; k < 8; k++) {
            most = a[by8 + k] > most ? a[by8 + k] : most;
            product *= (uint32_t)a[by8 + k];
        }
        int32_t v[4] = {(int32_t)sum, most, a[by2] ^ a[by2 + 1], (int32_t)product};
        memcpy(o + 4 * i, v, sizeof(v));
    }
}

#define ROW(name, shapes)                                                                          \
    {                                                                                              \
        "subgroup_" #name, case_##name, shapes, NULL                                               \
    }

static const struct suite_case cases[] = {
    ROW(ids, NULL),
    ROW(reduce_int, NULL),
    ROW(reduce_uint, NULL),
    ROW(reduce_long, NULL),
    ROW(reduce_ulong, NULL),
    ROW(reduce_float, NULL),
    ROW(reduce_double, NULL),
    ROW(reduce_half, NULL),
    ROW(votes, NULL),
    ROW(shuffle_int, NULL),
    ROW(shuffle_uint, NULL),
    ROW(shuffle_float, NULL),
    ROW(shuffle_short, NULL),
    ROW(shuffle_uchar, NULL),
    ROW(shuffle_long, NULL),
    ROW(shuffle_double, NULL),
    ROW(shuffle_half, NULL),
    ROW(shuffle_vector, NULL),
    ROW(divergent, suite_shapes_group64),
    ROW(block_uchar, suite_shapes_group64),
    ROW(block_ushort, suite_shapes_group64),
    ROW(block_uint, suite_shapes_group64),
    ROW(block_ulong, suite_shapes_group64),
    ROW(block_uchar16, suite_shapes_group64),
    ROW(block_unaligned, suite_shapes_group64),
    ROW(of_8, suite_shapes_group64),
    ROW(of_16, suite_shapes_group64),
    ROW(of_32, suite_shapes_group64),
    ROW(transpose, suite_shapes_group64),
    ROW(exchange, NULL),
    ROW(2d, suite_shapes_2d),
    ROW(ballot, NULL),
    ROW(non_uniform, NULL),
    ROW(non_uniform_sums, NULL),
    ROW(khr_shuffle, NULL),
    ROW(clustered, suite_shapes_group64),
};

const struct suite_group suite_subgroup = {"subgroup", cases, SUITE_COUNT(cases),
                                           .doubles =
                                               "subgroup_reduce_double subgroup_shuffle_double",
                                           .simd8 = "subgroup_of_8 subgroup_transpose",
                                           /* IGC compiles all kernels of such a module for 16
                                            * lanes, and says 32 of this one */
                                           .not_in = "pvc:unoptimised:subgroup_of_32"};
