/* SPDX-License-Identifier: MIT */
#include "../test.h"

#include "record/metrics_priv.h"

#include <stdlib.h>

#include "record/sorter.h"

enum { LAUNCHES = 400, REPORTS = 200, RECORDS = 60000 };

static int by_start(const void *a, const void *b)
{
    const struct zs_metric_launch *x = a, *y = b;
    return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/* Whatever overlaps a report stands in its window, in the order of submission. Against a search of
 * all. */
static void all_that_overlaps_is_found(void **state)
{
    static struct zs_metric_launch launches[LAUNCHES];
    unsigned seed = 7, overlaps = 0;
    struct zs_sorter starts;
    struct metrics_window w = {0};
    zs_sorter_init(&starts, by_start);
    for (uint64_t i = 0; i < LAUNCHES; i++) {
        struct zs_metric_launch *l = &launches[i];
        l->index = i;
        l->process = (uint64_t)rand_r(&seed) % 2;
        l->submit_ns = 1000000 + i * 250;
        l->start_ns = l->submit_ns + (uint64_t)rand_r(&seed) % 3000;
        l->end_ns = l->start_ns + (uint64_t)rand_r(&seed) % (i % 50 ? 500 : 20000);
        assert_int_equal(zs_sorter_add(&starts, l, sizeof(*l), NULL, 0), 0);
    }
    assert_int_equal(zs_sorter_finish(&starts), 0);
    for (uint64_t r = 0; r < REPORTS; r++) {
        const struct zs_metric_report report = {
            .process = r % 2, .start_ns = 1000000 + r * 600, .end_ns = 1000000 + r * 600 + 700};
        size_t at = 0;
        assert_int_equal(metrics_window_move(&w, &starts, &report), 0);
        for (size_t i = 0; i < LAUNCHES; i++) {
            uint64_t both_ns = metrics_overlap(&launches[i], &report);
            if (!both_ns)
                continue;
            overlaps++;
            while (at < w.launches.count && w.launches.items[at].index != i)
                at++;
            assert_true(at < w.launches.count);
        }
    }
    assert_true(overlaps > REPORTS);
    assert_true(w.launches.count < LAUNCHES / 2); /* what is over is left behind */
    metrics_window_fini(&w);
    zs_sorter_fini(&starts);
}

struct record {
    uint32_t key, number;
};

static int by_key(const void *a, const void *b)
{
    const struct record *x = a, *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

/* More than stays in memory, of many sizes; equal ones keep their order. */
static void records_come_sorted(void **state)
{
    static uint8_t tail[600];
    const uint32_t counts[] = {0, 1, 1000, RECORDS};
    unsigned seed = 3;
    for (size_t i = 0; i < ZS_ARRAY_LEN(counts); i++) {
        struct zs_sorter s;
        struct zs_sorter_cursor c;
        const struct record *r;
        struct record last = {0};
        uint32_t seen = 0;
        zs_sorter_init(&s, by_key);
        for (uint32_t n = 0; n < counts[i]; n++) {
            const struct record record = {(uint32_t)rand_r(&seed) % 5000, n};
            tail[0] = (uint8_t)n;
            assert_int_equal(
                zs_sorter_add(&s, &record, sizeof(record), tail, 1 + n * 7919 % sizeof(tail)), 0);
        }
        assert_int_equal(zs_sorter_finish(&s), 0);
        assert_int_equal(s.fd != 0, counts[i] == RECORDS);
        zs_sorter_start(&s, &c);
        for (size_t size_B; (r = zs_sorter_next(&c, &size_B)); last = *r, seen++) {
            assert_true(!seen || last.key < r->key ||
                        (last.key == r->key && last.number < r->number));
            assert_int_equal(size_B, sizeof(*r) + 1 + r->number * 7919 % sizeof(tail));
            assert_int_equal(((const uint8_t *)(r + 1))[0], (uint8_t)r->number);
        }
        assert_int_equal(c.error, 0);
        assert_int_equal(seen, counts[i]);
        zs_sorter_stop(&c);
        zs_sorter_fini(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_that_overlaps_is_found),
                                       cmocka_unit_test(records_come_sorted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
