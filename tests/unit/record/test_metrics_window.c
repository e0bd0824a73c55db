/* SPDX-License-Identifier: MIT */
#include "../test.h"

#include "record/metrics_priv.h"

#include <stdlib.h>

enum { LAUNCHES = 400, REPORTS = 200 };

static int by_submission(const void *a, const void *b)
{
    const struct zs_metric_launch *x = a, *y = b;
    return x->submit_ns < y->submit_ns ? -1 : x->submit_ns > y->submit_ns;
}

/* Whatever overlaps a report stands in its window; some launches have no times, the first and the
 * last among them. Against a search of all. */
static void all_that_overlaps_is_found(void **state)
{
    static struct zs_metric_launch launches[LAUNCHES];
    unsigned seed = 7, overlaps = 0;
    for (uint64_t i = 0; i < LAUNCHES; i++) {
        struct zs_metric_launch *l = &launches[i];
        l->process = (uint64_t)rand_r(&seed) % 2;
        l->submit_ns = 1000000 + (uint64_t)rand_r(&seed) % 100000;
        l->start_ns = l->submit_ns + (uint64_t)rand_r(&seed) % 3000;
        l->end_ns = l->start_ns + (uint64_t)rand_r(&seed) % (i % 50 ? 500 : 20000);
    }
    qsort(launches, LAUNCHES, sizeof(launches[0]), by_submission);
    for (uint64_t i = 0; i < LAUNCHES; i++)
        if (i % 9 == 0 || i == LAUNCHES - 1)
            launches[i].start_ns = launches[i].end_ns = 0;
    struct metrics_window w = metrics_window_make(launches, LAUNCHES);
    for (uint64_t r = 0; r < REPORTS; r++) {
        const struct zs_metric_report report = {
            .process = r % 2, .start_ns = 1000000 + r * 600, .end_ns = 1000000 + r * 600 + 700};
        metrics_window_move(&w, &report);
        for (size_t i = 0; i < LAUNCHES; i++) {
            const struct zs_metric_launch *l = &launches[i];
            bool both = l->process == report.process && l->start_ns < report.end_ns &&
                        report.start_ns < l->end_ns;
            uint64_t both_ns = metrics_overlap(l, &report);
            assert_int_equal(both_ns > 0, both && l->start_ns < l->end_ns);
            overlaps += both_ns > 0;
            if (both_ns)
                assert_true(i >= w.first && i < w.end);
        }
    }
    assert_true(overlaps > REPORTS);
    assert_true(w.first > 0); /* it moves on */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_that_overlaps_is_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
