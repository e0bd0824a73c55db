/* SPDX-License-Identifier: MIT */
/* Alignments against the table of all longest common subsequences. */
#include "../test.h"

#include "report/align.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 48 };

static uint32_t longest(const uint64_t *a, uint32_t n, const uint64_t *b, uint32_t m)
{
    uint32_t t[MOST + 1][MOST + 1] = {{0}};
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < m; j++) {
            uint32_t other = t[i][j + 1] > t[i + 1][j] ? t[i][j + 1] : t[i + 1][j];
            t[i + 1][j + 1] = a[i] == b[j] ? t[i][j] + 1 : other;
        }
    return t[n][m];
}

static void shortest(void **state)
{
    for (uint32_t round = 0; round < 4000; round++) {
        uint64_t a[MOST], b[MOST];
        uint32_t partner[MOST], pairs = 0, next = 0;
        uint32_t n = (uint32_t)rand() % MOST, m = (uint32_t)rand() % MOST;
        uint32_t kinds = 1 + round % 9 * 4;
        for (uint32_t i = 0; i < MOST; i++) {
            a[i] = (uint32_t)rand() % kinds;
            b[i] = (uint32_t)rand() % kinds;
        }
        struct zs_align_side x = {a, n}, y = {b, m};
        assert_int_equal(zs_align(&x, &y, 1, false, partner), 0);
        for (uint32_t i = 0; i < n; i++) {
            if (partner[i] == UINT32_MAX)
                continue;
            assert_in_range(partner[i], next, m - 1);
            assert_true(a[i] == b[partner[i]]);
            next = partner[i] + 1;
            pairs++;
        }
        assert_int_equal(pairs, longest(a, n, b, m));
    }
}

/* What the strict level leaves is taken by the next, then by place. */
static void levels(void **state)
{
    static const uint64_t a[] = {1, 2, 3, 4, 5, /* loose */ 1, 7, 7, 4, 5};
    static const uint64_t b[] = {1, 6, 7, 5, /* loose */ 1, 6, 7, 5};
    struct zs_align_side x = {a, 5}, y = {b, 4};
    uint32_t partner[5];
    assert_int_equal(zs_align(&x, &y, 2, false, partner), 0);
    assert_int_equal(partner[0], 0);
    assert_int_equal(partner[1] == 2, partner[2] != 2); /* one of the 7s */
    assert_int_equal(partner[3], UINT32_MAX);
    assert_int_equal(partner[4], 3);
    static const uint64_t c[] = {1, 2, 3, 9}, d[] = {1, 5, 6, 9};
    assert_int_equal(
        zs_align(&(struct zs_align_side){c, 4}, &(struct zs_align_side){d, 4}, 1, true, partner),
        0);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(partner[i], i);
}

/* Nothing in common, and everything nearly: it ends soon, and ascends. */
static void large(void **state)
{
    enum { COUNT = 20000 };
    uint64_t *a = malloc(COUNT * sizeof(*a)), *b = malloc(COUNT * sizeof(*b));
    uint32_t *partner = malloc(COUNT * sizeof(*partner));
    for (uint32_t i = 0; i < COUNT; i++) {
        a[i] = i;
        b[i] = COUNT + i;
    }
    struct zs_align_side x = {a, COUNT}, y = {b, COUNT};
    assert_int_equal(zs_align(&x, &y, 1, false, partner), 0);
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_int_equal(partner[i], UINT32_MAX);
        a[i] = (uint32_t)rand() % 50;
        b[i] = (uint32_t)rand() % 50;
    }
    assert_int_equal(zs_align(&x, &y, 1, false, partner), 0);
    uint32_t pairs = 0, next = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        if (partner[i] == UINT32_MAX)
            continue;
        assert_in_range(partner[i], next, COUNT - 1);
        next = partner[i] + 1;
        pairs++;
    }
    assert_in_range(pairs, COUNT / 10, COUNT);
    free(a);
    free(b);
    free(partner);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(shortest), cmocka_unit_test(levels),
                                       cmocka_unit_test(large)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
