/* SPDX-License-Identifier: MIT */
/* Barriers, atomics, functions of the work-group. */
#include "suite.h"

#include <limits.h>

/* ---- Barriers ---- */

static void case_reverse(struct suite *s)
{
    size_t n = s->local[0];
    const int32_t *a = suite_in(s, S_I32, s->n);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    suite_local(s, 4 * n);
    for (size_t i = 0; i < s->n; i++)
        o[i] = a[i - i % n + n - 1 - i % n];
}

static void case_scan(struct suite *s)
{
    const int32_t *a = suite_in(s, S_I32, s->n);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    suite_local(s, 4 * s->local[0]);
    for (size_t i = 0; i < s->n; i++)
        o[i] = a[i] + (i % s->local[0] ? o[i - 1] : 0);
}

static void case_uniform(struct suite *s)
{
    enum { ROUNDS = 7 };
    size_t n = s->local[0];
    const int32_t *a = suite_in(s, S_I32, s->n);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    suite_local(s, 4 * n);
    suite_int(s, 2);
    suite_int(s, ROUNDS);
    for (size_t base = 0; base < s->n; base += n) {
        int32_t x[256], tmp[256], mode = 2;
        memcpy(x, a + base, 4 * n);
        memcpy(tmp, x, 4 * n);
        for (int r = 0; r < ROUNDS; r++) {
            if (!(mode & 1) && mode == 6)
                break;
            for (size_t i = 0; i < n; i++) {
                if (mode & 1)
                    x[i] += tmp[(i + 1) % n];
                else
                    x[i] ^= tmp[i * 3 % n] >> 1;
                if (!(mode & 1) && (x[i] & 1))
                    x[i] += r;
            }
            memcpy(tmp, x, 4 * n);
            mode = mode * 3 + 1;
        }
        memcpy(o + base, x, 4 * n);
    }
}

static void case_global(struct suite *s)
{
    size_t n = s->local[0];
    int32_t *a = suite_inout(s, S_I32, s->n, 0);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    for (size_t i = 0; i < s->n; i++) {
        size_t from = i - i % n + (i % n + n / 2) % n;
        o[i] = a[from] + (int32_t)(from % n);
    }
    for (size_t i = 0; i < s->n; i++) {
        a[i] = o[i] * 2;
        o[i] *= 3;
    }
}

static void case_ring(struct suite *s)
{
    size_t n = s->local[0];
    const int32_t *a = suite_in(s, S_I32, s->n);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    suite_local(s, 4 * n);
    for (size_t i = 0; i < s->n; i++) {
        int32_t sum = 0;
        for (size_t k = 0; k < n; k++) /* k steps have added 0 + 1 + ... k - 1 */
            sum = sum * 3 + a[i - i % n + (i + k - (i - i % n)) % n] + (int32_t)(k * (k - 1) / 2);
        o[i] = sum;
    }
}

static void case_transpose(struct suite *s)
{
    uint32_t w = s->local[0], h = s->local[1], width = s->items[0];
    const int32_t *a = suite_in(s, S_I32, s->n);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    suite_local(s, 4 * w * h);
    for (uint32_t y = 0; y < s->items[1]; y++) {
        for (uint32_t x = 0; x < width; x++) {
            uint32_t k = x % w * h + y % h;
            o[y * width + x] =
                a[(y - y % h + k / w) * width + x - x % w + k % w] + (int32_t)s->groups[1];
        }
    }
}

static void case_early_end(struct suite *s)
{
    const int32_t *a = suite_in(s, S_I32, s->n);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    suite_int(s, 9);
    for (size_t i = 0; i < s->n; i++) {
        int32_t x = a[i - i % 64 + 63 - i % 64];
        for (int r = 0; !(a[i - i % 64 + 63 - i % 64] & 1) && r < 9; r++)
            x = x * 5 + (int32_t)(i % 64);
        o[i] = x;
    }
}

/* ---- Atomics ---- */

static uint64_t sign_extend(uint64_t x, enum suite_type type)
{
    return type == S_I32 ? (uint64_t)(int64_t)(int32_t)x : type == S_U32 ? (uint32_t)x : x;
}

static bool below(uint64_t x, uint64_t y, enum suite_type type)
{
    return type == S_I32 || type == S_I64 ? (int64_t)x < (int64_t)y : x < y;
}

/* The twelve places of the kernels' ATOMICS after items [from, to). All but [10] and [11] do not
 * depend on the order; those two together do not either: the last one is in [10]. */
static void atomics(const uint64_t *a, size_t from, size_t to, enum suite_type type, uint64_t v[12])
{
    uint64_t ones = 0x1111111111111111u;
    for (size_t i = from; i < to; i++) {
        uint64_t x = a[i];
        v[0] += x;
        v[1] -= x;
        v[2]++;
        v[3]--;
        v[4] = below(x, v[4], type) ? x : v[4];
        v[5] = below(v[5], x, type) ? x : v[5];
        v[6] &= x | 0xff;
        v[7] |= x & ones;
        v[8] ^= x;
        v[9] *= 5;
        v[11] += v[10];
        v[10] = x;
    }
    for (int k = 0; k < 12; k++)
        v[k] = sign_extend(v[k], type);
}

static void load_all(const void *at, size_t count, enum suite_type type, uint64_t *to)
{
    size_t size_B = suite_type_size(type);
    for (size_t i = 0; i < count; i++) {
        to[i] = 0;
        memcpy(&to[i], (const char *)at + i * size_B, size_B);
        to[i] = sign_extend(to[i], type);
    }
}

static void store_all(void *at, size_t count, enum suite_type type, const uint64_t *from)
{
    size_t size_B = suite_type_size(type);
    for (size_t i = 0; i < count; i++)
        memcpy((char *)at + i * size_B, &from[i], size_B);
}

/* All items leave the same value behind when they exchange, so that the order cannot show. */
static void same_values(struct suite *s, void *a, enum suite_type type)
{
    size_t size_B = suite_type_size(type);
    for (size_t i = 1; i < s->n; i++)
        memcpy((char *)a + i * size_B, a, size_B);
    suite_upload(s, a);
}

static void global_atomics(struct suite *s, enum suite_type type, bool same)
{
    uint64_t *x = calloc(s->n, 8), v[12];
    void *a = suite_in(s, type, s->n);
    if (same)
        same_values(s, a, type);
    void *places = suite_inout(s, type, 12, 0);
    load_all(a, s->n, type, x);
    load_all(places, 12, type, v);
    atomics(x, 0, s->n, type, v);
    if (!same) /* which one came last is open: leave these out, and what the kernel has there */
        v[10] = v[11] = 0;
    store_all(places, 12, type, v);
    if (!same)
        suite_ignore(s, places, 10, 2);
    free(x);
}

static void local_atomics(struct suite *s, enum suite_type type)
{
    uint64_t *x = calloc(s->n, 8), v[12];
    void *a = suite_in(s, type, s->n);
    same_values(s, a, type);
    char *o = suite_out(s, type, 12 * s->groups[0], 0);
    void *initial = suite_in(s, type, 12);
    load_all(a, s->n, type, x);
    for (size_t g = 0; g < s->groups[0]; g++) {
        load_all(initial, 12, type, v);
        atomics(x, g * s->local[0], (g + 1) * s->local[0], type, v);
        store_all(o + g * 12 * suite_type_size(type), 12, type, v);
    }
    free(x);
}

#define ATOMICS(name, call)                                                                        \
    static void case_atomic_##name(struct suite *s)                                                \
    {                                                                                              \
        call;                                                                                      \
    }
ATOMICS(int, global_atomics(s, S_I32, s->n & 1))
ATOMICS(uint, global_atomics(s, S_U32, s->n & 1))
ATOMICS(local_int, local_atomics(s, S_I32))
ATOMICS(local_uint, local_atomics(s, S_U32))
ATOMICS(local_long, local_atomics(s, S_I64))
ATOMICS(local_ulong, local_atomics(s, S_U64))
ATOMICS(long, global_atomics(s, S_I64, s->n & 1))
ATOMICS(ulong, global_atomics(s, S_U64, s->n & 1))

static void case_tickets(struct suite *s)
{
    int32_t *next = suite_zeroed(s, S_I32, 2, 0);
    int32_t *drawn = suite_zeroed(s, S_I32, s->n, 0);
    uint32_t *down = suite_zeroed(s, S_U32, 1, 0);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    down[0] = 2 * s->n;
    suite_upload(s, down);
    down[0] = 0;
    next[0] = (int32_t)s->n;
    for (uint32_t i = 0; i < s->n; i++) {
        drawn[i] = 1;
        o[i] = 7;
        next[1] += i & 1 ? (int32_t)i : 0;
    }
}

static void case_float(struct suite *s)
{
    float *a = suite_in(s, S_F32, s->n), sum = 3.0f, most = -1000.0f;
    for (size_t i = 0; i < s->n; i++) {
        a[i] = (float)(suite_random(s) % 201) - 100.0f;
        sum += a[i];
        most = a[i] > most ? a[i] : most;
    }
    a[s->n - 1] = a[0]; /* in some cases all are alike */
    if (s->n <= 21)
        same_values(s, a, S_F32);
    suite_upload(s, a);
    sum = 3.0f;
    most = -1000.0f;
    for (size_t i = 0; i < s->n; i++) {
        sum += a[i];
        most = a[i] > most ? a[i] : most;
    }
    float *v = suite_zeroed(s, S_F32, 3, 0);
    v[0] = 3.0f;
    v[1] = -1000.0f;
    suite_upload(s, v);
    float *x = suite_zeroed(s, S_F32, 1, 0);
    x[0] = 50.0f;
    suite_upload(s, x);
    v[0] = sum;
    v[1] = most;
    v[2] = 50.0f + sum - 3.0f - a[0];
    x[0] = a[0];
    if (s->n > 21) {
        suite_ignore(s, v, 2, 1);
        suite_ignore(s, x, 0, 1);
    }
}

static void c11(struct suite *s, enum suite_type type)
{
    uint64_t *x = calloc(s->n, 8), v[12];
    void *a = suite_in(s, type, s->n);
    bool same = s->n & 1;
    if (same)
        same_values(s, a, type);
    void *places = suite_inout(s, type, 12, 0);
    load_all(a, s->n, type, x);
    load_all(places, 12, type, v);
    for (size_t i = 0; i < s->n; i++) {
        v[0] += x[i];
        v[1] -= x[i];
        v[2] |= x[i] & 0x1111;
        v[3] ^= x[i];
        v[4] &= x[i] | 0xff;
        v[5] = below(x[i], v[5], type) ? x[i] : v[5];
        v[6] = below(v[6], x[i], type) ? x[i] : v[6];
        v[8] += v[7];
        v[7] = x[i];
        v[9] = v[9] * 3 + 1;
        v[10] ^= x[i];
    }
    v[11] = 77;
    store_all(places, 12, type, v);
    if (!same)
        suite_ignore(s, places, 7, 2);
    free(x);
}

ATOMICS(c11_int, c11(s, S_I32))
ATOMICS(c11_uint, c11(s, S_U32))
ATOMICS(c11_long, c11(s, S_I64))
ATOMICS(c11_ulong, c11(s, S_U64))

static void case_c11_local(struct suite *s)
{
    size_t n = s->local[0];
    const int32_t *a = suite_in(s, S_I32, s->n);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    for (size_t base = 0; base < s->n; base += n) {
        int32_t sum = 5, most = INT32_MIN;
        uint32_t bits = 0;
        for (size_t i = base; i < base + n; i++) {
            sum += a[i];
            most = a[i] > most ? a[i] : most;
            bits |= (uint32_t)a[i] & 0xff00ff;
        }
        for (size_t i = base; i < base + n; i++)
            o[i] = sum + (most ^ (int32_t)bits);
    }
}

static void case_lock(struct suite *s)
{
    suite_zeroed(s, S_I32, 1, 0);
    int32_t *data = suite_zeroed(s, S_I32, 2, 0);
    for (uint32_t g = 0; g < s->groups[0]; g++, data[0]++)
        data[1] = data[1] * 3 / 3 + 1;
}

static void case_chain(struct suite *s)
{
    int32_t *turn = suite_zeroed(s, S_I32, 1, 0), *value = suite_zeroed(s, S_I32, 1, 0);
    int32_t *o = suite_out(s, S_I32, s->groups[0], 0);
    for (int32_t g = 0; g < (int32_t)s->groups[0]; g++)
        o[g] = value[0] = value[0] * 5 + g;
    turn[0] = (int32_t)s->groups[0];
}

static void case_last_group(struct suite *s)
{
    const int32_t *a = suite_in(s, S_I32, s->n);
    int32_t *partial = suite_zeroed(s, S_I32, s->groups[0], 0);
    int32_t *done = suite_zeroed(s, S_I32, 1, 0);
    int32_t *o = suite_zeroed(s, S_I32, 1, 0);
    for (size_t i = 0; i < s->n; i++) {
        partial[i / s->local[0]] += a[i];
        o[0] += a[i];
    }
    done[0] = (int32_t)s->groups[0];
}

static void case_histogram(struct suite *s)
{
    enum { PER_ITEM = 5 };
    const uint8_t *a = suite_in(s, S_U8, PER_ITEM * s->n);
    uint32_t *o = suite_zeroed(s, S_U32, 64, 0);
    suite_int(s, PER_ITEM);
    for (size_t i = 0; i < PER_ITEM * s->n; i++)
        o[a[i] & 63]++;
}

/* ---- Functions of the work-group ---- */

#define GROUP(T, C, type, least, most)                                                             \
    static void case_group_##T(struct suite *s)                                                    \
    {                                                                                              \
        size_t n = s->local[0];                                                                    \
        C *a = suite_in(s, type, s->n);                                                            \
        for (size_t i = 0; type == S_F32 && i < s->n; i++)                                         \
            a[i] = (C)(int)a[i]; /* sums are exact in any order */                                 \
        suite_upload(s, a);                                                                        \
        C *o = suite_out(s, type, 10 * s->n, 0);                                                   \
        suite_int(s, 11);                                                                          \
        for (size_t base = 0; base < s->n; base += n) {                                            \
            C sum = 0, low = most, high = least;                                                   \
            for (size_t i = base; i < base + n; i++) {                                             \
                C before[3] = {sum, low, high};                                                    \
                sum += a[i];                                                                       \
                low = a[i] < low ? a[i] : low;                                                     \
                high = a[i] > high ? a[i] : high;                                                  \
                C v[6] = {sum, before[0], low, before[1], high, before[2]};                        \
                memcpy(o + 10 * i + 3, v, sizeof(v));                                              \
                o[10 * i + 9] = a[base + 11 % n];                                                  \
            }                                                                                      \
            for (size_t i = base; i < base + n; i++) {                                             \
                o[10 * i] = sum;                                                                   \
                o[10 * i + 1] = low;                                                               \
                o[10 * i + 2] = high;                                                              \
            }                                                                                      \
        }                                                                                          \
    }
GROUP(int, int32_t, S_I32, INT32_MIN, INT32_MAX)
GROUP(uint, uint32_t, S_U32, 0, UINT32_MAX)
GROUP(long, int64_t, S_I64, INT64_MIN, INT64_MAX)
GROUP(ulong, uint64_t, S_U64, 0, UINT64_MAX)
GROUP(float, float, S_F32, -INFINITY, INFINITY)

static void case_group_votes(struct suite *s)
{
    int32_t *a = suite_in(s, S_I32, s->n);
    a[s->n / 2] = 12345;
    suite_upload(s, a);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    for (size_t base = 0; base < s->n; base += s->local[0]) {
        int32_t votes = 5;
        for (size_t i = base; i < base + s->local[0]; i++) {
            if (a[i] == 0)
                votes &= ~1;
            votes |= (a[i] < 0 ? 2 : 0) | (a[i] == 12345 ? 8 : 0);
        }
        for (size_t i = base; i < base + s->local[0]; i++)
            o[i] = votes;
    }
}

static void case_group_2d(struct suite *s)
{
    uint32_t w = s->local[0], h = s->local[1], width = s->items[0];
    const int32_t *a = suite_in(s, S_I32, s->n);
    int32_t *o = suite_out(s, S_I32, 2 * s->n, 0);
    for (uint32_t g = 0; g < s->groups[0] * s->groups[1]; g++) {
        uint32_t left = g % s->groups[0] * w, top = g / s->groups[0] * h;
        int32_t sum = 0;
        for (uint32_t i = 0; i < w * h; i++) {
            uint32_t at = (top + i / w) * width + left + i % w;
            sum += a[at];
            o[2 * at] = sum;
            o[2 * at + 1] = a[(top + h / 2) * width + left + w - 1];
        }
    }
}

#define ROW(name, shapes)                                                                          \
    {                                                                                              \
        "sync_" #name, case_##name, shapes, NULL                                                   \
    }

static const struct suite_case cases[] = {
    ROW(reverse, NULL),
    ROW(scan, NULL),
    ROW(uniform, NULL),
    ROW(global, NULL),
    ROW(ring, NULL),
    ROW(transpose, suite_shapes_2d),
    ROW(early_end, suite_shapes_group64),
    ROW(atomic_int, NULL),
    ROW(atomic_uint, NULL),
    ROW(atomic_local_int, NULL),
    ROW(atomic_local_uint, NULL),
    ROW(atomic_local_long, NULL),
    ROW(atomic_local_ulong, NULL),
    ROW(atomic_long, NULL),
    ROW(atomic_ulong, NULL),
    ROW(tickets, NULL),
    ROW(float, NULL),
    ROW(atomic_c11_int, NULL),
    ROW(atomic_c11_uint, NULL),
    ROW(atomic_c11_long, NULL),
    ROW(atomic_c11_ulong, NULL),
    ROW(c11_local, NULL),
    ROW(lock, NULL),
    ROW(chain, NULL),
    ROW(last_group, NULL),
    ROW(histogram, NULL),
    ROW(group_int, NULL),
    ROW(group_uint, NULL),
    ROW(group_long, NULL),
    ROW(group_ulong, NULL),
    ROW(group_float, NULL),
    ROW(group_votes, NULL),
    ROW(group_2d, suite_shapes_2d),
};

const struct suite_group suite_sync = {"sync", cases, SUITE_COUNT(cases)};
