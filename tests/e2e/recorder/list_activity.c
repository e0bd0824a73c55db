/* SPDX-License-Identifier: MIT */
/* Prints what the readers make of a recording: pauses, marks, appends, executions; a line each. */
#include "base/buf.h"
#include "record/merge.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { APPENDS_MAX = 4096 };

struct list {
    struct zs_buf executes;
    struct zs_act_mark *marks;
    size_t mark_count;
    struct zs_act_append *appends;
    uint32_t executions[APPENDS_MAX];
    size_t append_count;
};

static int on_append(void *user, const struct zs_act_append *append)
{
    struct list *l = user;
    if (l->append_count < APPENDS_MAX)
        l->appends[l->append_count++] = *append;
    return 0;
}

static int on_execute(void *user, const struct zs_act_execute *e)
{
    struct list *l = user;
    zs_buf_printf(&l->executes, "execute %s %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %s\n",
                  e->append ? zs_act_kind_name(e->append->kind) : "lost",
                  e->append && e->append->kernel ? e->append->kernel->name : "-", e->submit_ns,
                  e->start_ns, e->end_ns,
                  !e->end_ns     ? "unknown"
                  : e->estimated ? "estimated"
                                 : "timed");
    for (size_t i = 0; i < l->append_count; i++)
        l->executions[i] += l->appends[i].process == e->process && l->appends[i].id == e->id;
    return 0;
}

static int on_mark(void *user, const struct zs_act_mark *m)
{
    struct list *l = user;
    if (l->mark_count < APPENDS_MAX)
        l->marks[l->mark_count++] = *m;
    return 0;
}

/* Ranges come when they end: print them by their start. */
static int compare_marks(const void *a, const void *b)
{
    const struct zs_act_mark *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return x->depth < y->depth ? -1 : x->depth > y->depth;
}

int main(int argc, char **argv)
{
    struct zs_activities t;
    struct zs_merge_totals totals;
    struct list l = {.appends = calloc(APPENDS_MAX, sizeof(*l.appends)),
                     .marks = calloc(APPENDS_MAX, sizeof(*l.marks))};
    const struct zs_merge_sink sink = {
        .user = &l, .append = on_append, .execute = on_execute, .mark = on_mark};
    struct zs_diag diag = {0};
    if (argc != 2 || !l.appends || !l.marks || zs_merge(argv[1], &sink, &t, &totals, &diag)) {
        fprintf(stderr, "%s\n", diag.text);
        return 1;
    }
    for (size_t i = 0; i < t.pauses.count; i++) {
        const struct zs_act_pause *p = &t.pauses.items[i];
        printf("pause %s %s %" PRIu64 " %" PRIu64 "\n", zs_act_pause_reason_name(p->reason),
               zs_act_pause_reason_name(p->end_reason), p->start_ns, p->end_ns);
    }
    qsort(l.marks, l.mark_count, sizeof(*l.marks), compare_marks);
    for (size_t i = 0; i < l.mark_count; i++)
        printf("%s %u %s\n", l.marks[i].end_ns ? "range" : "mark", l.marks[i].depth,
               l.marks[i].name);
    for (size_t i = 0; i < l.append_count; i++) {
        const struct zs_act_append *a = &l.appends[i];
        char direction[64];
        zs_act_direction(a, direction, sizeof(direction));
        printf("append %s %s %s %u call %" PRIu64 "\n", zs_act_kind_name(a->kind),
               a->kernel ? a->kernel->name : "-", direction, l.executions[i], a->call);
    }
    fputs(zs_buf_cstr(&l.executes), stdout);
    free(l.marks);
    zs_buf_fini(&l.executes);
    free(l.appends);
    zs_activities_free(&t);
    return 0;
}
