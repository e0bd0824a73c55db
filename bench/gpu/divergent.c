/* SPDX-License-Identifier: MIT */
/* Data and plain C versions of the kernels in divergent.cl. */
#include "work_priv.h"

#include <string.h>

enum {
    ROWS = 16384,
    ROW_MOST = 64,
    LEVEL = 3,
    QUEENS = 10,
    QUEENS_ITEMS = 128,
    PIECES = 2048,
    PIECE = 64,
    TEXT_ITEMS = 8192,
    TEXT_PIECE = 32,
    PATTERN = 5,
    COLLATZ_ITEMS = 32768,
    LIST = 32768,
    LIST_LIMIT = 63,
    PAIRS = 32768,
};

/* Rows of a sparse matrix, of which few are long; args: their starts, columns. */
static uint32_t make_rows(struct arg *rows, struct arg *columns)
{
    uint32_t state = 7, count = 0;
    set_buffer(rows, sizeof(uint32_t) * (ROWS + 1), false);
    set_buffer(columns, sizeof(uint32_t) * ROWS * ROW_MOST, false);
    uint32_t *start = rows->host, *column = columns->host;
    for (uint32_t i = 0; i < ROWS; i++) {
        uint32_t length = next_random(&state) % 8;
        length = length == 7 ? next_random(&state) % ROW_MOST : length;
        for (uint32_t j = 0; j < length; j++)
            column[count + j] = next_random(&state) % ROWS;
        start[i] = count;
        count += length;
    }
    start[ROWS] = count;
    return count;
}

static void prepare_spmv(struct arg *args)
{
    uint32_t count = make_rows(&args[0], &args[1]);
    input_words(&args[2], count);
    input_words(&args[3], ROWS);
    set_buffer(&args[4], sizeof(uint32_t) * ROWS, true);
}

static void compute_spmv(struct arg *args, uint32_t launches)
{
    const uint32_t *rows = args[0].host, *columns = args[1].host, *values = args[2].host;
    const uint32_t *x = args[3].host;
    uint32_t *y = args[4].host;
    for (uint32_t row = 0; row < ROWS; row++) {
        for (uint32_t i = rows[row]; i < rows[row + 1]; i++)
            y[row] += values[i] * x[columns[i]];
    }
}

static void search_level(const struct arg *args, int32_t *level, int32_t depth)
{
    const uint32_t *rows = args[0].host, *columns = args[1].host;
    for (uint32_t v = 0; v < ROWS; v++) {
        for (uint32_t i = rows[v]; level[v] == depth && i < rows[v + 1]; i++) {
            if (level[columns[i]] < 0)
                level[columns[i]] = depth + 1;
        }
    }
}

/* The levels before are there. */
static void prepare_bfs(struct arg *args)
{
    make_rows(&args[0], &args[1]);
    set_buffer(&args[2], sizeof(int32_t) * ROWS, true);
    int32_t *level = args[2].host;
    memset(level, 0xff, sizeof(int32_t) * ROWS);
    for (uint32_t i = 0; i < ROWS; i += ROWS / 32)
        level[i] = 0;
    for (int32_t depth = 0; depth < LEVEL; depth++)
        search_level(args, level, depth);
    set_int(&args[3], LEVEL);
}

static void compute_bfs(struct arg *args, uint32_t launches)
{
    search_level(args, args[2].host, LEVEL);
}

static void prepare_queens(struct arg *args)
{
    set_buffer(&args[0], sizeof(uint32_t) * QUEENS_ITEMS, true);
    set_int(&args[1], QUEENS);
}

static uint32_t count_queens(uint32_t columns, uint32_t left, uint32_t right)
{
    uint32_t all = (1u << QUEENS) - 1, open = all & ~(columns | left | right), ways = 0;
    if (columns == all)
        return 1;
    for (; open; open &= open - 1) {
        uint32_t place = open & -open;
        ways += count_queens(columns | place, (left | place) << 1, (right | place) >> 1);
    }
    return ways;
}

static void compute_queens(struct arg *args, uint32_t launches)
{
    uint32_t *out = args[0].host;
    for (uint32_t id = 0; id < QUEENS * QUEENS; id++) {
        uint32_t a = 1u << id % QUEENS, b = 1u << id / QUEENS;
        if (!((a | a << 1 | a >> 1) & b))
            out[id] = count_queens(a | b, (a << 1 | b) << 1, (a >> 1 | b) >> 1);
    }
}

static void prepare_quicksort(struct arg *args)
{
    input_words(&args[0], PIECES * PIECE);
    set_buffer(&args[1], sizeof(uint32_t) * PIECES * PIECE, true);
    set_int(&args[2], PIECE);
}

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void compute_quicksort(struct arg *args, uint32_t launches)
{
    uint32_t *out = args[1].host;
    memcpy(out, args[0].host, args[1].size_B);
    for (uint32_t i = 0; i < PIECES; i++)
        qsort(out + (size_t)i * PIECE, PIECE, sizeof(*out), by_value);
}

static void prepare_search(struct arg *args)
{
    uint32_t state = 3;
    set_buffer(&args[0], TEXT_ITEMS * TEXT_PIECE + PATTERN, false);
    set_buffer(&args[1], 8, false);
    set_buffer(&args[2], sizeof(uint32_t) * TEXT_ITEMS, true);
    for (size_t i = 0; i < args[0].size_B; i++)
        ((char *)args[0].host)[i] = (char)('a' + next_random(&state) % 3);
    memcpy(args[1].host, "abacab", PATTERN);
    set_int(&args[3], PATTERN);
    set_int(&args[4], TEXT_PIECE);
}

static void compute_search(struct arg *args, uint32_t launches)
{
    const char *text = args[0].host;
    uint32_t *out = args[2].host;
    for (uint32_t i = 0; i < TEXT_ITEMS * TEXT_PIECE; i++)
        out[i / TEXT_PIECE] += memcmp(text + i, args[1].host, PATTERN) == 0;
}

static void prepare_collatz(struct arg *args)
{
    set_buffer(&args[0], sizeof(uint32_t) * COLLATZ_ITEMS, true);
}

static void compute_collatz(struct arg *args, uint32_t launches)
{
    uint32_t *out = args[0].host;
    for (uint32_t i = 0; i < COLLATZ_ITEMS; i++) {
        for (uint32_t n = i + 1; n != 1; n = n & 1 ? 3 * n + 1 : n / 2)
            out[i]++;
    }
}

static void prepare_chase(struct arg *args)
{
    uint32_t state = 11;
    input_words(&args[0], LIST);
    input_words(&args[1], LIST);
    for (uint32_t i = 0; i < LIST; i++) {
        ((uint32_t *)args[0].host)[i] = next_random(&state) % LIST;
        ((uint32_t *)args[1].host)[i] = next_random(&state) % 32;
    }
    set_buffer(&args[2], sizeof(uint32_t) * LIST, true);
    set_int(&args[3], LIST_LIMIT);
}

static void compute_chase(struct arg *args, uint32_t launches)
{
    const uint32_t *next = args[0].host, *keys = args[1].host;
    uint32_t *out = args[2].host;
    for (uint32_t i = 0; i < LIST; i++) {
        uint32_t at = i, steps = 0;
        for (; steps < LIST_LIMIT && keys[at] != i * 2654435761u >> 27; steps++)
            at = next[at];
        out[i] = at * 64 + steps;
    }
}

static void prepare_gcd(struct arg *args)
{
    input_words(&args[0], 2 * PAIRS);
    set_buffer(&args[1], sizeof(uint32_t) * PAIRS, true);
}

static void compute_gcd(struct arg *args, uint32_t launches)
{
    const uint32_t *in = args[0].host;
    uint32_t *out = args[1].host;
    for (uint32_t i = 0; i < PAIRS; i++) {
        uint32_t a = in[2 * i] & 0xffff, b = (in[2 * i + 1] & 0xffff) + 1;
        for (uint32_t r; b; a = b, b = r)
            r = a % b;
        out[i] = a;
    }
}

#define ITEMS(count, size)                                                                         \
    {size, 1, 1},                                                                                  \
    {                                                                                              \
        (count) / (size), 1, 1                                                                     \
    }
const struct work divergent_works[] = {
    {"spmv", ITEMS(ROWS, 128), prepare_spmv, compute_spmv, 0, 0},
    {"bfs", ITEMS(ROWS, 128), prepare_bfs, compute_bfs, 0, 0},
    {"queens", ITEMS(QUEENS_ITEMS, 64), prepare_queens, compute_queens, 0, 0},
    {"quicksort", ITEMS(PIECES, 64), prepare_quicksort, compute_quicksort, 0, 0},
    {"search", ITEMS(TEXT_ITEMS, 128), prepare_search, compute_search, 0, 0},
    {"collatz", ITEMS(COLLATZ_ITEMS, 128), prepare_collatz, compute_collatz, 0, 0},
    {"chase", ITEMS(LIST, 128), prepare_chase, compute_chase, 0, 0},
    {"gcd", ITEMS(PAIRS, 128), prepare_gcd, compute_gcd, 0, 0},
    {NULL},
};
