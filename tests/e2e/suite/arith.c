/* SPDX-License-Identifier: MIT */
/* Integers of every width. */
#include "suite.h"

typedef int8_t t_char;
typedef uint8_t t_uchar;
typedef int16_t t_short;
typedef uint16_t t_ushort;
typedef int32_t t_int;
typedef uint32_t t_uint;
typedef int64_t t_long;
typedef uint64_t t_ulong;
typedef __int128 wide;

struct limits {
    enum suite_type type;
    unsigned bits;
    bool has_sign;
};

static const struct limits l_char = {S_I8, 8, true}, l_uchar = {S_U8, 8, false},
                           l_short = {S_I16, 16, true}, l_ushort = {S_U16, 16, false},
                           l_int = {S_I32, 32, true}, l_uint = {S_U32, 32, false},
                           l_long = {S_I64, 64, true}, l_ulong = {S_U64, 64, false};

static wide least(const struct limits *l)
{
    return l->has_sign ? -((wide)1 << (l->bits - 1)) : 0;
}

static wide most(const struct limits *l)
{
    return ((wide)1 << (l->has_sign ? l->bits - 1 : l->bits)) - 1;
}

static wide saturate(const struct limits *l, wide x)
{
    return x < least(l) ? least(l) : x > most(l) ? most(l) : x;
}

static wide absolute(wide x)
{
    return x < 0 ? -x : x;
}

static uint64_t bits_of(const struct limits *l, wide x)
{
    return (uint64_t)x & (l->bits == 64 ? ~(uint64_t)0 : ((uint64_t)1 << l->bits) - 1);
}

/* 64 x 64 overflows a signed 128-bit sum only in mad_sat of ulong: add after cutting. */
static wide mad_saturated(const struct limits *l, wide x, wide y, wide z)
{
    if (l->has_sign && l->bits == 64) /* bitselect stands for it: see arith.cl */
        return (x & ~z) | (y & z);
    if (l->bits < 64)
        return saturate(l, x * y + z);
    unsigned __int128 product = (unsigned __int128)x * (unsigned __int128)y;
    return product > UINT64_MAX - (uint64_t)z ? (wide)UINT64_MAX : (wide)(product + (uint64_t)z);
}

static wide high_half(const struct limits *l, wide x, wide y)
{
    return l->has_sign ? (x * y) >> l->bits
                       : (wide)(((unsigned __int128)x * (unsigned __int128)y) >> l->bits);
}

static void functions(const struct limits *l, wide x, wide y, wide z, wide o[14])
{
    uint64_t u = bits_of(l, x);
    unsigned turn = (unsigned)bits_of(l, y) % l->bits;
    wide low = y < z ? y : z, high = y < z ? z : y;
    o[0] = saturate(l, x + y);
    o[1] = saturate(l, x - y);
    o[2] = (x + y) >> 1;
    o[3] = (x + y + 1) >> 1;
    o[4] = high_half(l, x, y);
    o[5] = o[4] + z;
    o[6] = (wide)(turn ? u << turn | u >> (l->bits - turn) : u);
    o[7] = 0;
    while (o[7] < l->bits && !(u >> (l->bits - 1 - (unsigned)o[7]) & 1))
        o[7]++;
    o[8] = __builtin_popcountll(u);
    o[9] = absolute(x - y);
    o[10] = absolute(x);
    o[11] = x < low ? low : x > high ? high : x;
    o[12] = (x & ~z) | (y & z);
    o[13] = mad_saturated(l, x, y, z);
}

#define CASES(T)                                                                                   \
    static void case_basic_##T(struct suite *s)                                                    \
    {                                                                                              \
        const t_##T *a = suite_in(s, l_##T.type, s->n), *b = suite_in(s, l_##T.type, s->n);        \
        t_##T *o = suite_out(s, l_##T.type, s->n * 12, 0);                                         \
        for (size_t i = 0; i < s->n; i++, o += 12) {                                               \
            wide x = a[i], y = b[i];                                                               \
            unsigned sx = (unsigned)a[i] & (l_##T.bits - 1),                                       \
                     sy = (unsigned)b[i] & (l_##T.bits - 1);                                       \
            o[0] = (t_##T)(x + y);                                                                 \
            o[1] = (t_##T)(x - y);                                                                 \
            o[2] = (t_##T)((unsigned __int128)x * (unsigned __int128)y);                           \
            o[3] = (t_##T)(x & y);                                                                 \
            o[4] = (t_##T)(x | ~y);                                                                \
            o[5] = (t_##T)(x ^ y);                                                                 \
            o[6] = (t_##T)(x << (y & 7));                                                          \
            o[7] = (t_##T)(x >> (y & 7));                                                          \
            o[8] = (t_##T)(-x);                                                                    \
            o[9] = (t_##T)(x < y ? x : y);                                                         \
            o[10] = (t_##T)((x == y) + 2 * (x <= y) + 4 * (x != 5));                               \
            o[11] = (t_##T)((t_##T)((unsigned __int128)x << sy) ^ (t_##T)(y >> sx));               \
        }                                                                                          \
    }                                                                                              \
    static void case_divide_##T(struct suite *s)                                                   \
    {                                                                                              \
        const t_##T *a = suite_in(s, l_##T.type, s->n), *b = suite_in(s, l_##T.type, s->n);        \
        t_##T *o = suite_out(s, l_##T.type, s->n * 6, 0);                                          \
        for (size_t i = 0; i < s->n; i++, o += 6) {                                                \
            wide x = a[i], y = b[i] == 0 || b[i] == (t_##T) - 1 ? 3 : b[i];                        \
            o[0] = (t_##T)(x / y);                                                                 \
            o[1] = (t_##T)(x % y);                                                                 \
            o[2] = (t_##T)(x / 7);                                                                 \
            o[3] = (t_##T)(x % 10);                                                                \
            o[4] = (t_##T)(x / 16);                                                                \
            o[5] = (t_##T)(x % 16);                                                                \
        }                                                                                          \
    }                                                                                              \
    static void case_function_##T(struct suite *s)                                                 \
    {                                                                                              \
        const t_##T *a = suite_in(s, l_##T.type, s->n), *b = suite_in(s, l_##T.type, s->n),        \
                    *c = suite_in(s, l_##T.type, s->n);                                            \
        t_##T *out = suite_out(s, l_##T.type, s->n * 14, 0);                                       \
        for (size_t i = 0; i < s->n; i++) {                                                        \
            wide o[14];                                                                            \
            functions(&l_##T, a[i], b[i], c[i], o);                                                \
            for (size_t j = 0; j < 14; j++)                                                        \
                out[i * 14 + j] = (t_##T)o[j];                                                     \
        }                                                                                          \
    }                                                                                              \
    static void case_convert_##T(struct suite *s)                                                  \
    {                                                                                              \
        const t_##T *a = suite_in(s, l_##T.type, s->n);                                            \
        convert_all(s, a, &l_##T);                                                                 \
    }

/* Widen element i. */
static wide element(const struct limits *l, const void *a, size_t i)
{
    uint64_t value = 0;
    memcpy(&value, (const char *)a + i * l->bits / 8, l->bits / 8);
    unsigned shift = 64 - l->bits;
    return l->has_sign ? (wide)((int64_t)(value << shift) >> shift) : (wide)value;
}

static void convert_all(struct suite *s, const void *a, const struct limits *from)
{
    static const struct limits *const all[] = {&l_char, &l_uchar, &l_short, &l_ushort,
                                               &l_int,  &l_uint,  &l_long,  &l_ulong};
    for (size_t k = 0; k < SUITE_COUNT(all); k++) {
        char *out = suite_out(s, all[k]->type, 2 * s->n, 0);
        size_t size_B = all[k]->bits / 8;
        for (size_t i = 0; i < s->n; i++) {
            wide x = element(from, a, i), cut = saturate(all[k], x);
            memcpy(out + 2 * i * size_B, &x, size_B);
            memcpy(out + (2 * i + 1) * size_B, &cut, size_B);
        }
    }
}

CASES(char)
CASES(uchar)
CASES(short)
CASES(ushort)
CASES(int)
CASES(uint)
CASES(long)
CASES(ulong)

static void case_mul24_mad24(struct suite *s)
{
    const int32_t *a = suite_in(s, S_I32, s->n), *b = suite_in(s, S_I32, s->n);
    int32_t *o = suite_out(s, S_I32, 4 * s->n, 0);
    for (size_t i = 0; i < s->n; i++, o += 4) {
        int32_t x = a[i] >> 8, y = b[i] >> 8;
        uint32_t ux = (uint32_t)a[i] >> 8, uy = (uint32_t)b[i] >> 8;
        o[0] = (int32_t)((int64_t)(x & 0x7ff) * y);
        o[1] = (int32_t)((uint32_t)((x & 0xfff) * (y & 0xfff)) + (uint32_t)a[i]);
        o[2] = (int32_t)((ux & 0xff) * uy);
        o[3] = (int32_t)((ux & 0xfff) * (uy & 0xfff) + (uint32_t)b[i]);
    }
}

static int32_t field(uint32_t word, unsigned at, unsigned width, bool has_sign)
{
    uint32_t up = word << (32 - at - width);
    return has_sign ? (int32_t)up >> (32 - width) : (int32_t)(up >> (32 - width));
}

static void case_bit_fields(struct suite *s)
{
    uint32_t *f = suite_inout(s, S_U32, s->n, 0);
    int32_t *out = suite_out(s, S_I32, s->n, 0);
    for (size_t i = 0; i < s->n; i++) {
        int32_t a = field(f[i], 0, 3, false), b = field(f[i], 3, 7, true),
                c = field(f[i], 10, 12, false), d = field(f[i], 22, 10, true);
        out[i] = a + b * 3 + c * 5 + d * 7;
        b = field((uint32_t)(b - 5), 0, 7, true);
        f[i] = ((uint32_t)(a + 1) & 7) | ((uint32_t)b & 127) << 3 |
               ((uint32_t)(c ^ 0x5a5) & 4095) << 10 | ((uint32_t)(b + d) & 1023) << 22;
    }
}

static void case_vectors(struct suite *s)
{
    const uint8_t *a = suite_in(s, S_U8, 4 * s->n);
    const int16_t *b = suite_in(s, S_I16, 8 * s->n);
    int32_t *out = suite_out(s, S_I32, 8 * s->n, 0);
    for (size_t i = 0; i < s->n; i++) {
        int32_t v[8];
        for (int k = 0; k < 4; k++) {
            v[k] = a[4 * i + k] * b[8 * i + k];
            v[4 + k] = b[8 * i + 7 - 2 * k] - a[4 * i + 3 - k];
        }
        for (int k = 0; k < 8; k++)
            out[8 * i + k] = v[k] + (k & 1 ? 0 : v[k + 1]);
    }
}

static void case_multiply_wide(struct suite *s)
{
    const int32_t *a = suite_in(s, S_I32, s->n), *b = suite_in(s, S_I32, s->n);
    int64_t *o = suite_out(s, S_I64, 3 * s->n, 0);
    for (size_t i = 0; i < s->n; i++, o += 3) {
        o[0] = (int64_t)a[i] * b[i];
        o[1] = (int64_t)((uint64_t)(uint32_t)a[i] * (uint32_t)b[i]);
        o[2] = (int64_t)((uint64_t)((int64_t)a[i] * (uint32_t)b[i]) + (uint64_t)(int64_t)b[i]);
    }
}

static void case_add_128(struct suite *s)
{
    const uint64_t *a = suite_in(s, S_U64, 2 * s->n), *b = suite_in(s, S_U64, 2 * s->n);
    uint64_t *o = suite_out(s, S_U64, 4 * s->n, 0);
    for (size_t i = 0; i < s->n; i++) {
        unsigned __int128 x, y;
        memcpy(&x, a + 2 * i, 16);
        memcpy(&y, b + 2 * i, 16);
        unsigned __int128 sums[2] = {x + y, x - y};
        memcpy(o + 4 * i, sums, 32);
    }
}

static void case_integer_mix(struct suite *s)
{
    const uint32_t *a = suite_in(s, S_U32, s->n);
    uint32_t *out = suite_out(s, S_U32, s->n, 0);
    suite_int(s, 40);
    for (size_t i = 0; i < s->n; i++) {
        uint32_t h = a[i];
        for (uint32_t k = 0; k < 40; k++) {
            h = (h ^ h >> 16) * 0x85ebca6bu;
            h = (h ^ h >> 13) * 0xc2b2ae35u;
            h ^= h >> 16;
            h += (h << 5 | h >> 27) + k;
        }
        out[i] = h;
    }
}

#define ROWS(T)                                                                                    \
    {"basic_" #T, case_basic_##T, NULL, NULL}, {"divide_" #T, case_divide_##T, NULL, NULL},        \
        {"function_" #T, case_function_##T, NULL, NULL},                                           \
    {                                                                                              \
        "convert_" #T, case_convert_##T, NULL, NULL                                                \
    }

static const struct suite_case cases[] = {
    ROWS(char),
    ROWS(uchar),
    ROWS(short),
    ROWS(ushort),
    ROWS(int),
    ROWS(uint),
    ROWS(long),
    ROWS(ulong),
    {"mul24_mad24", case_mul24_mad24, NULL, NULL},
    {"bit_fields", case_bit_fields, NULL, NULL},
    {"vectors", case_vectors, NULL, NULL},
    {"multiply_wide", case_multiply_wide, NULL, NULL},
    {"add_128", case_add_128, NULL, NULL},
    {"integer_mix", case_integer_mix, NULL, NULL},
};

const struct suite_group suite_arith = {"arith", cases, SUITE_COUNT(cases)};
