/* SPDX-License-Identifier: MIT */
/* Whole programs on integers and indices: results are exact. */
#include "suite.h"

static void case_reduce(struct suite *s)
{
    size_t count = s->n * 7 + 5;
    const int32_t *in = suite_in(s, S_I32, count);
    int32_t *out = suite_out(s, S_I32, 4, 0);
    out[0] = out[3] = 0;
    out[1] = INT32_MAX;
    out[2] = INT32_MIN;
    suite_upload(s, out);
    suite_local(s, s->local[0] * 4);
    suite_int(s, (int32_t)count);
    for (uint32_t g = 0; g < s->groups[0]; g++) {
        int32_t sum = 0;
        for (size_t i = 0; i < count; i++)
            sum += i % s->n / s->local[0] == g ? in[i] : 0;
        out[0] += sum;
        out[1] = sum < out[1] ? sum : out[1];
        out[2] = sum > out[2] ? sum : out[2];
        out[3] ^= sum;
    }
}

static void case_scan(struct suite *s)
{
    uint32_t *out = suite_out(s, S_U32, s->n, 0), *totals = suite_out(s, S_U32, s->groups[0], 0);
    uint32_t *in = suite_extra(s, S_U32, s->n);
    struct suite_stage *stage = suite_stage(s, "data_scan_groups", s->groups[0], s->local[0]);
    suite_stage_buffer(s, stage, in);
    suite_stage_buffer(s, stage, out);
    suite_stage_buffer(s, stage, totals);
    suite_stage_local(stage, s->local[0] * 4);
    stage = suite_stage(s, "data_scan_totals", 1, 1);
    suite_stage_buffer(s, stage, totals);
    suite_stage_int(stage, s->groups[0]);
    uint32_t sum = 0;
    for (size_t i = 0; i < s->n; i++) {
        in[i] = (uint32_t)suite_random(s);
        out[i] = sum;
        if (i % s->local[0] == 0)
            totals[i / s->local[0]] = sum;
        sum += in[i];
    }
    suite_upload(s, in);
}

static void case_histogram(struct suite *s)
{
    enum { PER_ITEM = 19 };
    uint8_t *in = suite_in(s, S_U8, s->n * PER_ITEM);
    uint32_t *bins = suite_zeroed(s, S_U32, 256, 0);
    suite_int(s, PER_ITEM);
    for (size_t i = 0; i < s->n * PER_ITEM; i++) {
        if (i % 3 == 0)
            in[i] = 77; /* many at once */
        bins[in[i]]++;
    }
    suite_upload(s, in);
}

static int compare_int(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static void case_bitonic(struct suite *s)
{
    uint32_t n = 2 * s->n;
    int32_t *data = suite_inout(s, S_I32, n, 0);
    for (uint32_t block = 2; block <= n; block *= 2)
        for (uint32_t distance = block / 2; distance > 0; distance /= 2) {
            if (block == n && distance == 1) {
                suite_int(s, (int32_t)distance);
                suite_int(s, (int32_t)block);
                break;
            }
            struct suite_stage *stage = suite_stage(s, "data_bitonic", s->groups[0], s->local[0]);
            suite_stage_buffer(s, stage, data);
            suite_stage_int(stage, distance);
            suite_stage_int(stage, block);
        }
    qsort(data, n, sizeof(*data), compare_int);
}

struct pair {
    uint32_t key, place;
};

static int compare_pair(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    return x->key != y->key ? (x->key > y->key) - (x->key < y->key)
                            : (x->place > y->place) - (x->place < y->place);
}

static void case_radix(struct suite *s)
{
    enum { PASSES = 8 };
    uint32_t *keys[2], *values[2];
    /* the last pass reads the second pair of buffers and writes the first */
    keys[1] = suite_out(s, S_U32, s->n, 0);
    values[1] = suite_out(s, S_U32, s->n, 0);
    keys[0] = suite_out(s, S_U32, s->n, 0);
    values[0] = suite_out(s, S_U32, s->n, 0);
    uint32_t *counts = suite_out(s, S_U32, 16 * s->groups[0], 0);
    suite_local(s, s->local[0] * 4);
    suite_int(s, 4 * (PASSES - 1));
    for (size_t i = 0; i < s->n; i++) {
        keys[0][i] = (uint32_t)suite_random(s) & (i & 1 ? 0xf00000ffu : ~0u);
        values[0][i] = (uint32_t)i;
    }
    suite_upload(s, keys[0]);
    suite_upload(s, values[0]);
    for (uint32_t pass = 0; pass < PASSES; pass++) {
        struct suite_stage *stage = suite_stage(s, "data_radix_count", s->groups[0], s->local[0]);
        suite_stage_buffer(s, stage, keys[pass & 1]);
        suite_stage_buffer(s, stage, counts);
        suite_stage_int(stage, 4 * pass);
        stage = suite_stage(s, "data_scan_totals", 1, 1);
        suite_stage_buffer(s, stage, counts);
        suite_stage_int(stage, 16 * s->groups[0]);
        if (pass == PASSES - 1)
            break;
        stage = suite_stage(s, "data_radix_scatter", s->groups[0], s->local[0]);
        suite_stage_buffer(s, stage, keys[pass & 1]);
        suite_stage_buffer(s, stage, values[pass & 1]);
        suite_stage_buffer(s, stage, keys[!(pass & 1)]);
        suite_stage_buffer(s, stage, values[!(pass & 1)]);
        suite_stage_buffer(s, stage, counts);
        suite_stage_local(stage, s->local[0] * 4);
        suite_stage_int(stage, 4 * pass);
    }
    struct pair *pairs = calloc(s->n, sizeof(*pairs));
    for (size_t i = 0; i < s->n; i++)
        pairs[i] = (struct pair){keys[0][i] & 0x0fffffffu, (uint32_t)i};
    const uint32_t *original = keys[0];
    uint32_t *whole = calloc(s->n, sizeof(*whole));
    memcpy(whole, original, s->n * sizeof(*whole));
    qsort(pairs, s->n, sizeof(*pairs), compare_pair); /* before the last pass */
    for (size_t i = 0; i < s->n; i++) {
        keys[1][i] = whole[pairs[i].place];
        values[1][i] = pairs[i].place;
    }
    memset(counts, 0, 16 * s->groups[0] * sizeof(*counts));
    for (uint32_t digit = 0, sum = 0; digit < 16; digit++)
        for (uint32_t g = 0; g < s->groups[0]; g++) {
            counts[digit * s->groups[0] + g] = sum;
            for (uint32_t i = 0; i < s->local[0]; i++)
                sum += keys[1][g * s->local[0] + i] >> 28 == digit;
        }
    for (size_t i = 0; i < s->n; i++)
        pairs[i] = (struct pair){whole[i], (uint32_t)i};
    qsort(pairs, s->n, sizeof(*pairs), compare_pair);
    for (size_t i = 0; i < s->n; i++) {
        keys[0][i] = pairs[i].key;
        values[0][i] = pairs[i].place;
    }
    free(pairs);
    free(whole);
}

static void case_spmv(struct suite *s)
{
    enum { COLUMNS = 500, MOST = 40 };
    uint32_t *rows = suite_in(s, S_U32, s->n + 1);
    uint32_t *columns = suite_in(s, S_U32, (size_t)s->n * MOST);
    const float *values = suite_in(s, S_F32, (size_t)s->n * MOST);
    const float *x = suite_in(s, S_F32, COLUMNS);
    float *y = suite_out(s, S_F32, s->n, 0);
    rows[0] = 0;
    for (size_t i = 0; i < s->n; i++) {
        rows[i + 1] = rows[i] + (i % 5 ? (uint32_t)suite_random(s) % MOST : 0);
        y[i] = 0;
        for (uint32_t j = rows[i]; j < rows[i + 1]; j++) {
            columns[j] %= COLUMNS;
            y[i] = fmaf(values[j], x[columns[j]], y[i]);
        }
    }
    suite_upload(s, rows);
    suite_upload(s, columns);
}

/* ---- SHA-256, as FIPS 180-4 writes it ---------------------------------------------------------
 */

static uint32_t rotr(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

/* The first 32 bits of the fractional part of a root of the i-th prime. */
static uint32_t prime_root(int i, double (*root)(double))
{
    int prime = 1;
    for (int found = -1; found < i;) {
        prime++;
        int d = 2;
        while (prime % d)
            d++;
        found += d == prime;
    }
    double r = root(prime);
    return (uint32_t)((r - floor(r)) * 0x1p32);
}

static void sha256(const uint32_t k[64], const uint8_t *padded, size_t blocks, uint32_t out[8])
{
    for (int i = 0; i < 8; i++)
        out[i] = prime_root(i, sqrt);
    for (; blocks-- > 0; padded += 64) {
        uint32_t w[64], v[8];
        for (int t = 0; t < 64; t++)
            w[t] = t < 16 ? (uint32_t)padded[4 * t] << 24 | (uint32_t)padded[4 * t + 1] << 16 |
                                (uint32_t)padded[4 * t + 2] << 8 | padded[4 * t + 3]
                          : w[t - 16] + w[t - 7] +
                                (rotr(w[t - 15], 7) ^ rotr(w[t - 15], 18) ^ w[t - 15] >> 3) +
                                (rotr(w[t - 2], 17) ^ rotr(w[t - 2], 19) ^ w[t - 2] >> 10);
        memcpy(v, out, sizeof(v));
        for (int t = 0; t < 64; t++) {
            uint32_t a = v[0], e = v[4];
            uint32_t t1 = v[7] + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) +
                          ((e & v[5]) ^ (~e & v[6])) + k[t] + w[t];
            uint32_t t2 = (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) +
                          ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
            memmove(v + 1, v, 7 * sizeof(*v));
            v[4] += t1;
            v[0] = t1 + t2;
        }
        for (int i = 0; i < 8; i++)
            out[i] += v[i];
    }
}

/* FIPS 180-4's examples, and the empty message. */
static const struct {
    const char *message;
    uint32_t digest[8];
} vectors[] = {
    {"abc",
     {0xba7816bf, 0x8f01cfea, 0x414140de, 0x5dae2223, 0xb00361a3, 0x96177a9c, 0xb410ff61,
      0xf20015ad}},
    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
     {0x248d6a61, 0xd20638b8, 0xe5c02693, 0x0c3e6039, 0xa33ce459, 0x64ff2167, 0xf6ecedd4,
      0x19db06c1}},
    {"",
     {0xe3b0c442, 0x98fc1c14, 0x9afbf4c8, 0x996fb924, 0x27ae41e4, 0x649b934c, 0xa495991b,
      0x7852b855}},
};

static void case_sha256(struct suite *s)
{
    enum { MOST = 192 };
    uint32_t k[64];
    for (int i = 0; i < 64; i++)
        k[i] = prime_root(i, cbrt);
    uint8_t *messages = suite_in(s, S_U8, s->n * MOST);
    uint32_t *blocks = suite_in(s, S_U32, s->n);
    uint32_t *out = suite_out(s, S_U32, 8 * s->n, 0);
    for (size_t i = 0; i < s->n; i++) {
        uint8_t *m = messages + i * MOST;
        size_t length =
            i < SUITE_COUNT(vectors) ? strlen(vectors[i].message) : suite_random(s) % (MOST - 8);
        if (i < SUITE_COUNT(vectors))
            memcpy(m, vectors[i].message, length);
        blocks[i] = (uint32_t)(length + 9 + 63) / 64;
        memset(m + length, 0, MOST - length);
        m[length] = 0x80;
        m[blocks[i] * 64 - 1] = (uint8_t)(length << 3);
        m[blocks[i] * 64 - 2] = (uint8_t)(length >> 5);
        sha256(k, m, blocks[i], out + 8 * i);
        if (i < SUITE_COUNT(vectors))
            memcpy(out + 8 * i, vectors[i].digest, 32);
    }
    suite_upload(s, messages);
    suite_upload(s, blocks);
}

static void case_mersenne(struct suite *s)
{
    uint32_t *seeds = suite_in(s, S_U32, s->n), *out = suite_out(s, S_U32, 20 * s->n, 0);
    seeds[0] = 5489; /* the 10,000th number of C++'s mt19937 is known */
    suite_upload(s, seeds);
    for (size_t item = 0; item < s->n; item++) {
        uint32_t mt[624] = {seeds[item]};
        for (uint32_t i = 1; i < 624; i++)
            mt[i] = 1812433253u * (mt[i - 1] ^ (mt[i - 1] >> 30)) + i;
        for (int n = 0, i = 624; n < 10000; n++, i++) {
            if (i == 624) {
                for (i = 0; i < 624; i++) {
                    uint32_t y = (mt[i] & 0x80000000u) | (mt[(i + 1) % 624] & 0x7fffffffu);
                    mt[i] = mt[(i + 397) % 624] ^ (y >> 1) ^ (y % 2 ? 0x9908b0dfu : 0);
                }
                i = 0;
            }
            uint32_t y = mt[i];
            y ^= y >> 11;
            y ^= (y << 7) & 0x9d2c5680u;
            y ^= (y << 15) & 0xefc60000u;
            y ^= y >> 18;
            if (n % 500 == 499)
                out[20 * item + (size_t)n / 500] = y;
        }
    }
    out[19] = 4123659995u;
}

static const struct suite_shape powers[] = {{{1}, {16}}, {{4}, {64}}, {{0}, {0}}};
static const struct suite_shape digits[] = {{{3}, {17}}, {{5}, {64}}, {{2}, {256}}, {{0}, {0}}};
static const struct suite_shape few[] = {{{2}, {13}}, {{0}, {0}}};

static const struct suite_case cases[] = {
    {"data_reduce", case_reduce, NULL, NULL},         {"data_scan_add", case_scan, NULL, NULL},
    {"data_histogram", case_histogram, NULL, NULL},   {"data_bitonic", case_bitonic, powers, NULL},
    {"data_radix_scatter", case_radix, digits, NULL}, {"data_spmv", case_spmv, NULL, NULL},
    {"data_sha256", case_sha256, NULL, NULL},         {"data_mersenne", case_mersenne, few, NULL},
};

const struct suite_group suite_data = {"data", cases, SUITE_COUNT(cases)};
