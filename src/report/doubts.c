/* SPDX-License-Identifier: MIT */
#include "report/doubts.h"

#include "base/text.h"
#include "base/vec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NOT_TRUSTED = 20 /* percent */ };

void zs_doubt_put(struct zs_buf *out, double replayed, double error)
{
    zs_buf_printf(out, "%.3g %% replayed, may be %.2g %% off", replayed, error);
    zs_buf_puts(out, error >= NOT_TRUSTED ? ", not to be trusted: ZESCOPE_TIMING=exact replays all"
                                          : "");
}

/* Means over the groups that a kernel was measured with, by their time. */
struct doubt {
    const char *kernel;
    double time_ns, replayed, error;
};

struct doubts {
    struct doubt *items;
    size_t count, capacity;
};

static struct doubt *doubt_of(struct doubts *d, const char *kernel)
{
    for (size_t i = 0; i < d->count; i++)
        if (!strcmp(d->items[i].kernel, kernel))
            return &d->items[i];
    const struct doubt fresh = {.kernel = kernel};
    return ZS_VEC_PUSH(d, fresh) ? &d->items[d->count - 1] : NULL;
}

static int add(struct doubts *d, const struct zs_metric_group *group,
               const struct zs_metric_sum *row)
{
    uint32_t replayed = zs_metric_find(group, "ReplayedShare");
    uint32_t error = zs_metric_find(group, "EstimateError");
    if (replayed == ZS_METRICS_NONE || error == ZS_METRICS_NONE)
        return 0;
    struct doubt *doubt = doubt_of(d, row->kernel);
    double time_ns = row->time_ns > 0 ? row->time_ns : 1;
    if (!doubt)
        return -ENOMEM;
    doubt->time_ns += time_ns;
    doubt->replayed += time_ns * row->values[replayed];
    doubt->error += time_ns * row->values[error];
    return 0;
}

static int by_time(const void *a, const void *b)
{
    const struct doubt *x = a, *y = b;
    return x->time_ns > y->time_ns ? -1 : x->time_ns < y->time_ns;
}

static int tell_all(struct doubts *d, int (*tell)(void *user, const char *sentence), void *user)
{
    struct zs_buf text = {0};
    size_t told = 0;
    int error = 0;
    if (d->count)
        qsort(d->items, d->count, sizeof(d->items[0]), by_time);
    for (size_t i = 0; i < d->count && !error; i++) {
        double replayed = d->items[i].replayed / d->items[i].time_ns;
        double off = d->items[i].error / d->items[i].time_ns;
        if (!(replayed < 100 && off >= 0) || told++ >= ZS_DOUBTS_TOLD_MAX)
            continue;
        text.size_B = 0;
        zs_text_puts(&text, d->items[i].kernel);
        zs_buf_puts(&text, ": times and what follows from them are modelled: ");
        zs_doubt_put(&text, replayed, off);
        error = text.error ? text.error : tell(user, zs_buf_cstr(&text));
    }
    if (told > ZS_DOUBTS_TOLD_MAX && !error) {
        text.size_B = 0;
        zs_buf_printf(&text, "%zu more kernels were replayed in part (zescope metrics show)",
                      told - ZS_DOUBTS_TOLD_MAX);
        error = text.error ? text.error : tell(user, zs_buf_cstr(&text));
    }
    zs_buf_fini(&text);
    return error;
}

int zs_doubts_tell(const struct zs_metrics *metrics, bool (*wanted)(void *user, const char *kernel),
                   int (*tell)(void *user, const char *sentence), void *user)
{
    uint32_t group_count;
    const struct zs_metric_group *groups = zs_metrics_groups(metrics, &group_count);
    struct zs_metric_sums sums;
    struct doubts doubts = {0};
    int error = zs_metrics_sum(metrics, ZS_METRIC_SUM_BY_KERNEL, &sums);
    if (error)
        return error;
    for (uint32_t i = 0; i < sums.count && !error; i++)
        if (sums.rows[i].kernel[0] && wanted(user, sums.rows[i].kernel))
            error = add(&doubts, &groups[sums.rows[i].group], &sums.rows[i]);
    if (!error)
        error = tell_all(&doubts, tell, user);
    free(doubts.items);
    zs_metric_sums_free(&sums);
    return error;
}
