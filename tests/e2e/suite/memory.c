/* SPDX-License-Identifier: MIT */
/* Address spaces, access widths and alignments. */
#include "suite.h"

static int compare_ints(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static void case_private_sort(struct suite *s)
{
    const int32_t *a = suite_in(s, S_I32, 24 * s->n);
    int32_t *o = suite_out(s, S_I32, 24 * s->n, 0);
    memcpy(o, a, 24 * s->n * sizeof(*o));
    for (size_t i = 0; i < s->n; i++)
        qsort(o + 24 * i, 24, sizeof(*o), compare_ints);
}

static void case_private_types(struct suite *s)
{
    const uint8_t *a = suite_in(s, S_U8, 64);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    for (size_t n = 0; n < s->n; n++) {
        int8_t c[40];
        int16_t t[40];
        int64_t l[20];
        float f[10][4];
        for (int i = 0; i < 40; i++) {
            c[i] = (int8_t)(a[(n + (size_t)i) & 63] + i);
            t[i] = (int16_t)(c[i] * 3);
        }
        for (int i = 0; i < 20; i++)
            l[i] = t[(i * 7 + (int)n) % 40] * (int64_t)1000003;
        for (int i = 0; i < 10; i++) {
            float v[4] = {c[i], t[i], (float)l[i], (float)i};
            memcpy(f[i], v, sizeof(v));
        }
        int k = a[n & 63] % 10;
        float x = f[k][0], z = f[k][2];
        f[9 - k][1] = x;
        c[k * 4] = (int8_t)(c[k] + 1);
        o[n] = c[k * 2] + c[k * 4] + t[39 - k] + (int)(l[k + 3] >> 4) + (int)f[9 - k][1] +
               (int)((uint32_t)(int32_t)z * 3u) + (int)f[(k + 1) % 10][3];
    }
}

static int preorder(const int32_t *tree, int at, int n, int *order)
{
    if (at >= n)
        return 0;
    int sum = tree[at] * (*order)++;
    sum += preorder(tree, 2 * at + 2, n, order);
    return sum + preorder(tree, 2 * at + 1, n, order);
}

static void case_private_stack(struct suite *s)
{
    enum { N = 63 };
    s->int_mask = 0xffff;
    const int32_t *tree = suite_in(s, S_I32, N);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    suite_int(s, N);
    for (size_t i = 0; i < s->n; i++) {
        int order = 1;
        o[i] = preorder(tree, (int)(i % N), N, &order);
    }
}

static void case_spill(struct suite *s)
{
    enum { LIVE = 160, ROUNDS = 3 };
    suite_range(s, -1, 1);
    const float *a = suite_in(s, S_F32, 256);
    float *o = suite_out(s, S_F32, s->n, 4);
    suite_int(s, ROUNDS);
    suite_absolute(s, o, 1e-4);
    for (size_t n = 0; n < s->n; n++) {
        float v[LIVE];
        for (size_t i = 0; i < LIVE; i++)
            v[i] = a[(n * 7 + i) & 255];
        for (int r = 0; r < ROUNDS; r++) {
            for (size_t i = 0; i < LIVE; i++)
                v[i] = fmaf(v[i], 0.5f, v[(i * 7 + 3) % LIVE]);
        }
        float sum = 0;
        for (size_t i = 0; i < LIVE; i++)
            sum = fmaf(sum, 0.75f, v[i]);
        o[n] = sum;
    }
}

static void case_spill_flow(struct suite *s)
{
    enum { LIVE = 96, ROUNDS = 5 };
    const int32_t *a = suite_in(s, S_I32, 128);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    suite_int(s, ROUNDS);
    for (size_t n = 0; n < s->n; n++) {
        int32_t v[LIVE], sum = 0;
        for (size_t i = 0; i < LIVE; i++)
            v[i] = a[(n + i * 3) & 127];
        for (int r = 0; r < ROUNDS; r++) {
            bool odd = (v[r & 7] ^ r) & 1;
            for (size_t i = 0; i < LIVE; i++)
                v[i] = odd ? v[i] + v[(i * 5 + 1) % LIVE] : v[i] ^ v[(i * 11 + 5) % LIVE] >> 3;
        }
        for (size_t i = 0; i < LIVE; i++)
            sum = sum * 31 + v[i];
        o[n] = sum;
    }
}

/* ---- Constants and variables ---- */

static void case_constant(struct suite *s)
{
    static const char text[] = "The quick brown fox jumps over the lazy dog";
    static const int entries[3] = {'a' + 100 + 4, 'b' - 7 + 18, 'c' + (1 << 20) - 8};
    static const int y[2] = {4, 1}, z[2] = {3, 8}, w[2] = {4, 16};
    const int32_t *a = suite_in(s, S_I32, s->n);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    for (size_t i = 0; i < s->n; i++) {
        int32_t x = a[i];
        o[i] = (x & 15) * (x & 15) + text[x >> 4 & 31] * 3 + entries[(uint32_t)x % 3] + y[x & 1] +
               w[x & 1] + z[x >> 1 & 1];
    }
}

static void case_constant_argument(struct suite *s)
{
    s->int_mask = 0xffffff;
    const int32_t *table = suite_in(s, S_I32, 32);
    const int16_t *v = suite_in(s, S_I16, 32);
    const int32_t *a = suite_in(s, S_I32, s->n);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    suite_int(s, 5);
    for (size_t i = 0; i < s->n; i++)
        o[i] = table[a[i] & 31] + table[5] + v[4 * (a[i] & 7)] - v[4 * (a[i] & 7) + 3] + v[21];
}

static void case_variables(struct suite *s)
{
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    for (int i = 0; i < (int)s->n; i++)
        o[i] = 10 * (i % 4 + 1) + 3000 + 6 + (i < 5 ? 7 * i : 0) + 1;
}

/* ---- Local memory ---- */

static void case_local_static(struct suite *s)
{
    const int32_t *a = suite_in(s, S_I32, s->n);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    for (size_t i = 0; i < s->n; i++) {
        size_t l = i % 64;
        const int32_t *group = a + i - l;
        size_t k = 63 - l, m = (5 * l + 1) % 64;
        o[i] = group[k] + (uint8_t)(group[m] >> 3) + (int32_t)(group[k] * (int64_t)77777777 >> 7) +
               (group[m] & 255) * 2 + (int)k + (group[k] >> 24);
    }
}

static void case_local_arguments(struct suite *s)
{
    size_t n = s->local[0];
    suite_local(s, n * 2);
    const int32_t *a = suite_in(s, S_I32, s->n);
    suite_local(s, n * 4);
    suite_local(s, n * 8);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    for (size_t i = 0; i < s->n; i++) {
        size_t l = i % n, k = (l * 3 + 1) % n;
        const int32_t *group = a + i - l;
        o[i] = (int16_t)group[k] + (group[n - 1 - k] ^ 0x55) + group[n - 1 - l] * 16 +
               (n >= 3 ? (int)(k % 3) * 1000 : 0);
    }
}

static void case_local_bytes(struct suite *s)
{
    const uint8_t *a = suite_in(s, S_U8, 1024);
    uint32_t *o = suite_out(s, S_U32, s->n, 0);
    for (size_t i = 0; i < s->n; i++) {
        size_t l = i % 64, base = i - l;
        uint8_t own[9];
        for (size_t j = 0; j < 9; j++)
            own[j] = a[(i * 9 + j) & 1023];
        uint8_t last = own[5]; /* of what item 63 - l wrote into this item's bytes */
        own[2] = own[1];
        uint8_t third = own[4];
        own[3] = third;
        own[4] = last;
        size_t k = base + 63 - l;
        uint32_t two = a[(k * 9 + 5) & 1023] | (uint32_t)a[(k * 9 + 6) & 1023] << 8, h = 0;
        for (int j = 0; j < 9; j++)
            h = h * 257 + own[j];
        o[i] = h + two;
    }
}

/* ---- Generic ---- */

static void case_generic(struct suite *s)
{
    const int32_t *a = suite_in(s, S_I32, s->n);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    for (size_t i = 0; i < s->n; i++) {
        uint32_t sum = 0;
        bool local = !(a[i] & 1) && a[i] & 2;
        for (size_t k = 0; k < 8; k++) {
            int32_t x = a[(i & ~(size_t)7) + k];
            int32_t v = a[i] & 1 ? a[i] >> (2 * k) : local ? x & 0xffff : x;
            sum += (uint32_t)v * (uint32_t)(k + 1);
        }
        o[i] = (int32_t)(sum + (local ? 0x100000 : 0));
    }
}

static void case_generic_write(struct suite *s)
{
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    for (size_t i = 0; i < s->n; i++) {
        int l = (int)(i % 64), k = 63 - l;
        int own[4] = {1, 2, 3, 4};
        if (!(l & 1))
            own[l & 2] += 300;
        o[i] = (k + (k & 1 ? 300 : 0)) * 16 + own[0] + own[2];
    }
}

/* ---- Arguments ---- */

struct inner {
    int8_t c[3];
    int16_t s;
};
struct argument {
    int32_t n;
    struct inner in[4];
    double d;
    float f[5];
    int64_t l;
    uint8_t last;
};

static void case_struct_argument(struct suite *s)
{
    struct argument x = {77,
                         {{{1, -2, 3}, -400}, {{4, 5, 6}, 500}, {{-7, 8, 9}, 600}, {{1}, 7}},
                         -1234.5,
                         {0.25f, 1.5f, -2.0f, 3.75f, 100.0f},
                         (int64_t)1 << 40,
                         200};
    struct inner y = {{9, 8, 7}, 321};
    suite_value(s, sizeof(x), &x);
    const int32_t *a = suite_in(s, S_I32, s->n);
    int64_t *o = suite_out(s, S_I64, s->n, 0);
    int8_t small = -3;
    suite_value(s, 1, &small);
    suite_value(s, sizeof(y), &y);
    for (size_t i = 0; i < s->n; i++) {
        int k = a[i] & 3;
        o[i] = 77 + x.in[k].c[k % 3] * 10 + x.in[3 - k].s - 1234 * 16 - 8 +
               (int64_t)(x.f[k + 1] * 4) + x.l + 200 - 3000 + 321 - 7;
    }
}

static void case_scalar_arguments(struct suite *s)
{
    int8_t c = -5;
    uint8_t uc = 250, uc4[4] = {1, 2, 3, 99};
    int16_t h16 = -3000, s8[8] = {1, 2, 3, 4, 5, -6, 7, 8};
    uint16_t us = 60000, half = 0x4248; /* 3.140625 */
    int32_t i32 = -2000000000;
    uint32_t u32 = 4000000000u;
    int64_t l = -(int64_t)1 << 50, l16[16] = {[10] = 1234567};
    uint64_t ul = (uint64_t)1 << 60;
    float f = 0.5f, f3[4] = {1, 2, 1000.25f, 0};
    double d = 1e10;
    suite_value(s, 1, &c);
    suite_value(s, 1, &uc);
    suite_value(s, 2, &h16);
    suite_value(s, 2, &us);
    suite_value(s, 4, &i32);
    suite_value(s, 4, &u32);
    suite_value(s, 8, &l);
    suite_value(s, 8, &ul);
    suite_value(s, 4, &f);
    suite_value(s, 8, &d);
    suite_value(s, 2, &half);
    suite_value(s, 16, f3);
    suite_value(s, 4, uc4);
    suite_value(s, 16, s8);
    suite_value(s, 128, l16);
    double *o = suite_out(s, S_F64, s->n, 4); /* large terms: the order of the sum shows */
    for (size_t i = 0; i < s->n; i++)
        o[i] = -5.0 + 500.0 - 3000 + 60000 - 2000000000.0 + 4000000000.0 + (double)l +
               (double)(ul >> 3) + 0.5 + 1e10 + 3.140625 + 1000.25 + 99 - 6 + 1234567 + (double)i;
}

static void case_null(struct suite *s)
{
    const int32_t *a = suite_in(s, S_I32, s->n);
    suite_null(s);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    suite_null(s);
    suite_null(s);
    for (size_t i = 0; i < s->n; i++)
        o[i] = a[i] ^ 1;
}

/* ---- Vectors ---- */

static void vectors(struct suite *s, enum suite_type type)
{
    size_t size_B = suite_type_size(type);
    const char *a = suite_in(s, type, 31 * s->n);
    char *o = suite_out(s, type, 33 * s->n, 0);
    for (size_t i = 0; i < s->n; i++, a += 31 * size_B, o += 33 * size_B) {
        for (size_t k = 0; k < 33; k++) {
            size_t from = k < 2    ? k + 1
                          : k < 5  ? k + 1
                          : k < 9  ? k - 2
                          : k < 17 ? 16 - (k - 9)
                                   : k - 2;
            memcpy(o + k * size_B, a + from * size_B, size_B);
        }
    }
}

#define VECTORS(T, type)                                                                           \
    static void case_vectors_##T(struct suite *s)                                                  \
    {                                                                                              \
        vectors(s, type);                                                                          \
    }
VECTORS(char, S_I8)
VECTORS(ushort, S_U16)
VECTORS(int, S_I32)
VECTORS(ulong, S_U64)
VECTORS(float, S_F32)
VECTORS(double, S_F64)
VECTORS(half, S_F16)

#define ALIGNED(T, C, type)                                                                        \
    static void case_aligned_##T(struct suite *s)                                                  \
    {                                                                                              \
        const C *a = suite_in(s, type, 2 * s->n), *b = suite_in(s, type, 4 * s->n),                \
                *c = suite_in(s, type, 8 * s->n);                                                  \
        C *o = suite_out(s, type, 8 * s->n, 0);                                                    \
        for (size_t i = 0; i < s->n; i++, o += 8, a += 2, b += 4, c += 8) {                        \
            C v[8] = {(C)(a[0] + c[0]), (C)(a[1] + c[2]), (C)(b[3] + c[4]), (C)(b[0] + c[6]),      \
                      (C)(c[1] - c[0]), (C)(c[3] - c[1]), (C)(c[5] - c[2]), (C)(c[7] - c[3])};     \
            memcpy(o, v, sizeof(v));                                                               \
        }                                                                                          \
    }
ALIGNED(uchar, uint8_t, S_U8)
ALIGNED(short, int16_t, S_I16)
ALIGNED(uint, uint32_t, S_U32)
ALIGNED(long, int64_t, S_I64)
ALIGNED(float, float, S_F32)

static void case_scatter(struct suite *s)
{
    const uint32_t *a = suite_in(s, S_U32, s->n);
    uint8_t *b = suite_out(s, S_U8, 3 * s->n, 0);
    uint16_t *h = suite_out(s, S_U16, 3 * s->n, 0);
    uint32_t *u = suite_out(s, S_U32, 2 * s->n, 0);
    uint64_t *l = suite_out(s, S_U64, 2 * s->n, 0);
    if (s->n % 5 == 0) { /* 5 has no inverse: several items would write one place */
        suite_skip(s);
        return;
    }
    for (size_t i = 0; i < s->n; i++) {
        size_t k = (i * 5 + 3) % s->n;
        b[3 * k] = (uint8_t)a[i];
        b[3 * k + 1] = (uint8_t)(a[i] >> 9);
        h[3 * k + 2] = (uint16_t)a[i];
        u[2 * k + 1] = a[i] ^ 0xffff;
        l[2 * k] = (uint64_t)a[i] * a[i];
    }
}

static void case_packed(struct suite *s)
{
    struct __attribute__((packed)) packed {
        uint8_t tag;
        int32_t value;
        int16_t middle;
        double real;
        int64_t wide;
    };
    const uint8_t *a = suite_in(s, S_U8, sizeof(struct packed) * s->n);
    uint8_t *o = suite_out(s, S_U8, sizeof(struct packed) * s->n, 0);
    for (size_t i = 0; i < s->n; i++) {
        struct packed p;
        memcpy(&p, a + i * sizeof(p), sizeof(p));
        p.value += p.tag;
        p.wide ^= p.middle;
        p.real = p.value * 0.25;
        p.middle = (int16_t)(p.middle * 3);
        memcpy(o + i * sizeof(p), &p, sizeof(p));
    }
}

static void case_unions(struct suite *s)
{
    const uint32_t *a = suite_in(s, S_U32, s->n);
    uint32_t *o = suite_out(s, S_U32, s->n, 0);
    for (size_t i = 0; i < s->n; i++) {
        uint32_t x = a[i] ^ (a[i] >> 8 & 0xff00);
        x = (x & 0xffff) | (uint32_t)(uint16_t)((x >> 16) + x) << 16;
        uint32_t real = x & 0x3fffffff;
        if (real < 0x800000) /* a denormal: may be flushed */
            suite_skip(s);
        o[i] = x + real + (uint32_t)((uint64_t)x << 7 >> 32) + 0x20001;
    }
}

/* ---- Halves ---- */

static void case_load_half(struct suite *s)
{
    const uint16_t *a = suite_in(s, S_F16, 16 * s->n);
    float *o = suite_out(s, S_F32, 37 * s->n, 0);
    for (size_t i = 0; i < s->n; i++, a += 16, o += 37) {
        static const uint8_t from[37] = {3,  3,  4,  5,  6,  7,  5,  6,  7, 8,  8, 9, 10,
                                         11, 12, 13, 14, 15, 0,  1,  2,  3, 4,  5, 6, 7,
                                         8,  9,  10, 11, 12, 13, 14, 15, 8, 11, 7};
        for (int k = 0; k < 37; k++)
            o[k] = suite_half_to_float(a[from[k]]);
    }
}

/* direction: 0 towards zero, 1 up, -1 down */
static uint16_t directed(double x, int direction)
{
    uint16_t near = suite_double_to_half(x);
    double got = (double)suite_half_to_float(near);
    bool too_high = got > x, too_low = got < x;
    bool down = direction == 0 ? x > 0 : direction < 0;
    if (down ? !too_high : !too_low)
        return near;
    /* one step away from where it went */
    uint16_t magnitude = near & 0x7fff, sign = near & 0x8000;
    bool negative = signbit(x);
    magnitude = (uint16_t)(down == negative ? magnitude + 1 : magnitude - 1);
    return sign | magnitude;
}

static void case_store_half(struct suite *s)
{
    suite_range(s, -30000, 30000);
    const float *a = suite_in(s, S_F32, s->n);
    const double *b = suite_in(s, S_F64, s->n);
    uint16_t *o = suite_out(s, S_F16, 32 * s->n, 0);
    for (size_t i = 0; i < s->n; i++, o += 32) {
        float x = a[i], three = x * 3;
        double v[9] = {(double)x, (double)x, (double)x, (double)x, (double)x,
                       b[i],      b[i],      b[i],      b[i]};
        static const int how[9] = {2, 2, 0, 1, -1, 2, 0, 1, -1};
        for (int k = 0; k < 9; k++)
            o[k] = how[k] == 2 ? suite_double_to_half(v[k]) : directed(v[k], how[k]);
        float w[4] = {x, -x, three, 1};
        for (int k = 0; k < 4; k++)
            o[9 + k] = directed((double)w[k], 0);
        for (int k = 0; k < 3; k++)
            o[13 + k] = directed((double)w[k], 1);
        w[3] = 65504.0f;
        for (int k = 0; k < 4; k++)
            o[16 + k] = directed((double)w[k], -1);
        float e[8] = {x, -x, x + 1, x - 1, 0.1f, -0.1f, x * x, 1e-7f};
        for (int k = 0; k < 8; k++)
            o[20 + k] = suite_float_to_half(e[k]);
    }
}

/* ---- Copies, pointers ---- */

static void case_async(struct suite *s)
{
    const int32_t *a = suite_in(s, S_I32, s->n);
    suite_range(s, -1000, 1000);
    const float *b = suite_in(s, S_F32, 6 * s->n);
    int32_t *o = suite_out(s, S_I32, 3 * s->n, 0);
    for (size_t i = 0; i < s->n; i++) {
        size_t l = i % 64, base = i - l;
        float x = b[6 * i], y = b[6 * (base + (l + 1) % 64) + 1];
        o[base * 3 + l] = a[base + 63 - l] + (int)(x + y);
        if (2 * l < 128)
            o[base * 3 + 64 + 2 * l] = a[i];
    }
}

static void case_indirect(struct suite *s)
{
    enum { NODES = 20 };
    struct node {
        uint64_t next;
        int32_t value, unused;
    };
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    uint64_t *heads = suite_out(s, S_U64, 8, 0);
    struct node *nodes = suite_extra(s, S_U64, 2 * NODES);
    uint64_t device = (uint64_t)(uintptr_t)suite_device(s, nodes);
    int sums[8];
    for (int i = 0; i < NODES; i++)
        nodes[i] = (struct node){.value = i * i - 50,
                                 .next = i + 8 < NODES ? device + (uint64_t)(i + 8) * 16 : 0};
    for (int h = 0; h < 8; h++) {
        heads[h] = h == 5 ? 0 : device + (uint64_t)h * 16;
        sums[h] = 0;
        for (int i = h, place = 1; h != 5 && i < NODES; i += 8)
            sums[h] += nodes[i].value * place++;
    }
    suite_upload(s, nodes);
    suite_upload(s, heads);
    ze_kernel_indirect_access_flags_t all = ZE_KERNEL_INDIRECT_ACCESS_FLAG_SHARED;
    zeKernelSetIndirectAccess(s->kernel, all);
    for (size_t i = 0; i < s->n; i++)
        o[i] = sums[i & 7];
}

static void case_far(struct suite *s)
{
    const uint64_t far = (uint64_t)5 << 28; /* 5 GB of words */
    uint32_t *o = suite_out(s, S_U32, s->n, 0);
    suite_huge(s, 4 * far + 4096);
    suite_value(s, sizeof(far), &far);
    /* zeros at first: far is 1, near is i + 5 */
    for (size_t i = 0; i < s->n; i++)
        o[i] = 2 - (uint32_t)(i + 5);
}

#define ROW(name)                                                                                  \
    {                                                                                              \
        "memory_" #name, case_##name, NULL, NULL                                                   \
    }
#define ROW_OF(name, shapes, not_in)                                                               \
    {                                                                                              \
        "memory_" #name, case_##name, shapes, not_in                                               \
    }

static const struct suite_case cases[] = {
    ROW(private_sort),
    ROW(private_types),
    ROW(private_stack),
    ROW(spill),
    /* the compiler spills a register without a mask where lanes that took the other branch have
     * their values in it */
    ROW_OF(spill_flow, NULL, "acm-g10:simd32"),
    ROW(constant),
    ROW(constant_argument),
    ROW(variables),
    ROW_OF(local_static, suite_shapes_group64, NULL),
    ROW(local_arguments),
    ROW_OF(local_bytes, suite_shapes_group64, NULL),
    ROW_OF(generic, suite_shapes_group64, NULL),
    ROW_OF(generic_write, suite_shapes_group64, NULL),
    ROW(struct_argument),
    ROW(scalar_arguments),
    ROW(null),
    ROW(vectors_char),
    ROW(vectors_ushort),
    ROW(vectors_int),
    ROW(vectors_ulong),
    ROW(vectors_float),
    ROW(vectors_double),
    ROW(vectors_half),
    ROW(aligned_uchar),
    ROW(aligned_short),
    ROW(aligned_uint),
    ROW(aligned_long),
    ROW(aligned_float),
    ROW(scatter),
    ROW(packed),
    ROW(unions),
    ROW(load_half),
    ROW(store_half),
    ROW_OF(async, suite_shapes_group64, NULL),
    ROW(indirect),
    ROW_OF(far, NULL, "default simd8 simd16 simd32 unoptimised zebin spirv debug"),
};

const struct suite_group suite_memory = {
    "memory", cases, SUITE_COUNT(cases),
    .doubles = "memory_struct_argument memory_scalar_arguments memory_vectors_double memory_packed "
               "memory_store_half"};
