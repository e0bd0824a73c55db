/* SPDX-License-Identifier: MIT */
/*
 * Launches and sets of values, each sorted by submission, become reports of launches in one walk
 * over both; launches of several runs are joined by their shapes.
 */
#include "record/metrics_priv.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- orders ---- */

int metrics_by_submission(const void *a, const void *b)
{
    const struct zs_metric_launch *x = a, *y = b;
    int order = metrics_compare(x->submit_ns, y->submit_ns);
    order = order ? order : metrics_compare(x->process, y->process);
    order = order ? order : metrics_compare(x->append, y->append);
    return order ? order : metrics_compare(x->start_ns, y->start_ns);
}

int metrics_by_entry(const void *a, const void *b)
{
    const struct metrics_entry *x = a, *y = b;
    if (x->is_sample != y->is_sample)
        return x->is_sample ? 1 : -1;
    int order = x->is_sample ? metrics_compare(x->start_ns, y->start_ns)
                             : metrics_compare(x->submit_ns, y->submit_ns);
    order = order ? order : metrics_compare(x->process, y->process);
    order = order ? order : metrics_compare(x->append, y->append);
    return order ? order : metrics_compare(x->group, y->group);
}

int metrics_by_report(const void *a, const void *b)
{
    const struct metrics_stored *x = a, *y = b;
    if (x->is_time_based != y->is_time_based)
        return x->is_time_based ? 1 : -1;
    int order = metrics_compare(x->order, y->order);
    return order ? order : metrics_compare(x->group, y->group);
}

/* ---- joining ---- */

/* The walk over the launches: those of the submission that was looked for last. */
struct walk {
    struct zs_sorter_cursor launches;
    const struct zs_metric_launch *next;
    uint64_t next_index;
    struct metrics_entry last; /* that was looked for */
    bool started;
    uint64_t first, count; /* launches of its submission, process and append */
    uint64_t taken;        /* of them, by its group */
};

static int by_key(const struct zs_metric_launch *launch, const struct metrics_entry *e)
{
    int order = metrics_compare(launch->submit_ns, e->submit_ns);
    order = order ? order : metrics_compare(launch->process, e->process);
    return order ? order : metrics_compare(launch->append, e->append);
}

static void step(struct walk *w)
{
    w->next = zs_sorter_next(&w->launches, NULL);
    w->next_index++;
}

/* A list that was submitted twice by one call has two launches of one name: reports, which are
 * sorted, are dealt out in their order. False: there is no such launch (any more). */
static bool take_launch(struct walk *w, const struct metrics_entry *e, uint64_t *ret_index)
{
    const struct metrics_entry *last = &w->last;
    bool same = w->started && last->submit_ns == e->submit_ns && last->process == e->process &&
                last->append == e->append;
    if (!same) {
        while (w->next && by_key(w->next, e) < 0)
            step(w);
        w->first = w->next_index;
        for (w->count = 0; w->next && by_key(w->next, e) == 0; w->count++)
            step(w);
    }
    uint64_t i = same && last->group == e->group ? w->taken - (e->part != 0) : 0;
    w->last = *e;
    w->started = true;
    w->taken = i + 1;
    *ret_index = w->first + i;
    return i < w->count;
}

/* A report for each set of values; raw bytes are with the first. */
static int add_reports(struct metrics_load *l, const struct metrics_entry *e, uint32_t metric_count,
                       struct metrics_stored report, struct zs_sorter *reports)
{
    const uint8_t *values = (const uint8_t *)(e + 1);
    size_t set_B = (size_t)metric_count * sizeof(union zs_metric_value);
    int error = 0;
    for (size_t at_B = 0; at_B < e->values_B && !error; at_B += set_B) {
        l->scratch.size_B = 0;
        report.raw_B = at_B ? 0 : e->raw_B;
        zs_buf_append(&l->scratch, values + at_B, set_B);
        zs_buf_append(&l->scratch, values + e->values_B, report.raw_B);
        error = l->scratch.error ? l->scratch.error
                                 : zs_sorter_add(reports, &report, sizeof(report), l->scratch.data,
                                                 l->scratch.size_B);
    }
    return error;
}

static int join_entry(struct metrics_load *l, struct walk *w, const struct metrics_entry *e,
                      uint32_t run, struct zs_sorter *reports)
{
    struct zs_metrics *m = l->m;
    const struct metrics_described *d = zs_id_map_get(&l->described, e->process, e->group);
    if (!d || d->index == ZS_METRICS_NONE || !d->count || !e->values_B ||
        e->values_B % ((uint64_t)d->count * 8) || e->end_ns < e->start_ns ||
        m->groups.items[d->index].is_time_based != e->is_sample) {
        m->info.damaged++;
        return 0;
    }
    struct metrics_stored report = {.order = e->start_ns,
                                    .is_time_based = e->is_sample,
                                    .group = d->index,
                                    .run = run,
                                    .process = e->process,
                                    .start_ns = e->start_ns,
                                    .end_ns = e->end_ns};
    if (!e->is_sample && !take_launch(w, e, &report.order)) {
        m->info.orphans++;
        return 0;
    }
    return add_reports(l, e, d->count, report, reports);
}

int metrics_join(struct metrics_load *l, uint32_t run, struct zs_sorter *reports)
{
    struct walk w = {0};
    struct zs_sorter_cursor entries;
    const struct metrics_entry *e;
    int error = zs_sorter_finish(&l->launches);
    error = error ? error : zs_sorter_finish(&l->entries);
    if (error)
        return error;
    zs_sorter_start(&l->launches, &w.launches);
    zs_sorter_start(&l->entries, &entries);
    w.next = zs_sorter_next(&w.launches, NULL);
    while (!error && (e = zs_sorter_next(&entries, NULL)))
        error = join_entry(l, &w, e, run, reports);
    error = error ? error : entries.error ? entries.error : w.launches.error;
    zs_sorter_stop(&entries);
    zs_sorter_stop(&w.launches);
    zs_sorter_fini(&l->entries);
    return error;
}

/* ---- several runs ---- */

/* A launch by its shape: what runs have to agree on. */
struct shape {
    const char *kernel;
    uint32_t groups[3], size[3];
    uint64_t process_rank; /* the first process that launched something, the second ... */
    uint64_t index;        /* of the launch */
};

static int by_shape(const void *a, const void *b)
{
    const struct shape *x = a, *y = b;
    int order = metrics_compare(x->process_rank, y->process_rank);
    order = order ? order : strcmp(x->kernel, y->kernel);
    order = order ? order : memcmp(x->groups, y->groups, sizeof(x->groups));
    return order ? order : memcmp(x->size, y->size, sizeof(x->size));
}

/* Sorted by shape; those of one shape stay in the order of submission. */
static int shapes_of(const struct zs_sorter *launches, struct zs_sorter *ret)
{
    struct zs_sorter_cursor c;
    struct zs_id_map ranks = {0};
    const struct zs_metric_launch *l;
    uint64_t index = 0;
    int error = 0;
    zs_sorter_init(ret, by_shape);
    zs_sorter_start(launches, &c);
    while (!error && (l = zs_sorter_next(&c, NULL))) {
        uintptr_t rank = (uintptr_t)zs_id_map_get(&ranks, l->process, 0);
        if (!rank) {
            rank = ranks.count + 1;
            error = zs_id_map_put(&ranks, l->process, 0, (void *)rank);
        }
        struct shape shape = {.kernel = l->kernel, .process_rank = rank, .index = index++};
        memcpy(shape.groups, l->groups, sizeof(shape.groups));
        memcpy(shape.size, l->size, sizeof(shape.size));
        error = error ? error : zs_sorter_add(ret, &shape, sizeof(shape), NULL, 0);
    }
    error = error ? error : c.error;
    zs_id_map_fini(&ranks);
    zs_sorter_stop(&c);
    return error ? error : zs_sorter_finish(ret);
}

static int say_mismatch(struct zs_metrics *m, uint32_t run, const char *format, const char *kernel)
{
    char words[512], sentence[640];
    snprintf(words, sizeof(words), format, kernel);
    snprintf(sentence, sizeof(sentence), "run %u %s: its metrics are left out", run, words);
    if (m->info.runs_mismatch[0])
        return 0; /* the first is told */
    m->info.runs_mismatch = zs_arena_strndup(&m->arena, sentence, sizeof(sentence));
    return m->info.runs_mismatch ? 0 : -ENOMEM;
}

/* Which launch of the first run one of another is. */
struct pair {
    uint64_t theirs, ours;
};

static int by_theirs(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    return metrics_compare(x->theirs, y->theirs);
}

/* The nth launch of a shape in a process is the nth of that shape there in every run. *ret_same:
 * all have one. */
static int pair_launches(struct metrics_load *l, uint32_t run, struct zs_sorter *pairs,
                         bool *ret_same)
{
    struct zs_sorter ours, theirs;
    struct zs_sorter_cursor a, b;
    const struct shape *x = NULL, *y = NULL;
    int error = shapes_of(&l->m->launches, &ours), other = shapes_of(&l->launches, &theirs);
    error = error ? error : other;
    zs_sorter_start(&ours, &a);
    zs_sorter_start(&theirs, &b);
    *ret_same = true;
    while (!error && *ret_same && (x = zs_sorter_next(&a, NULL)) &&
           (y = zs_sorter_next(&b, NULL))) {
        const struct pair pair = {y->index, x->index};
        *ret_same = !by_shape(x, y);
        error = *ret_same
                    ? zs_sorter_add(pairs, &pair, sizeof(pair), NULL, 0)
                    : say_mismatch(l->m, run, "launched %.300s otherwise or not at all", x->kernel);
    }
    error = error ? error : a.error ? a.error : b.error;
    zs_sorter_stop(&a);
    zs_sorter_stop(&b);
    zs_sorter_fini(&ours);
    zs_sorter_fini(&theirs);
    return error ? error : zs_sorter_finish(pairs);
}

/* Both are sorted by their launches. */
static int take_reports(struct zs_metrics *m, const struct zs_sorter *pairs,
                        const struct zs_sorter *theirs)
{
    struct zs_sorter_cursor p, r;
    const struct metrics_stored *s;
    size_t size_B;
    int error = 0;
    zs_sorter_start(pairs, &p);
    zs_sorter_start(theirs, &r);
    const struct pair *pair = zs_sorter_next(&p, NULL);
    while (!error && (s = zs_sorter_next(&r, &size_B))) {
        while (pair && !s->is_time_based && pair->theirs < s->order)
            pair = zs_sorter_next(&p, NULL);
        if (!pair || s->is_time_based) {
            m->info.orphans++;
            continue;
        }
        struct metrics_stored report = *s;
        report.order = pair->ours;
        error = zs_sorter_add(&m->reports, &report, sizeof(report), s + 1, size_B - sizeof(*s));
    }
    error = error ? error : p.error ? p.error : r.error;
    zs_sorter_stop(&p);
    zs_sorter_stop(&r);
    return error;
}

int metrics_join_run(struct metrics_load *l, uint32_t run, struct zs_sorter *reports)
{
    struct zs_sorter pairs;
    bool same;
    if (l->launches.count != l->m->launches.count)
        return say_mismatch(l->m, run, "launched another number of kernels%s", "");
    zs_sorter_init(&pairs, by_theirs);
    int error = pair_launches(l, run, &pairs, &same);
    if (!error && same)
        error = zs_sorter_finish(reports);
    if (!error && same)
        error = take_reports(l->m, &pairs, reports);
    zs_sorter_fini(&pairs);
    return error;
}
