/* SPDX-License-Identifier: MIT */
/* Prints what the readers make of a recording: pauses, marks, appends, executions; a line each. */
#include "record/activities.h"

#include <inttypes.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    struct zs_activities t;
    struct zs_diag diag = {0};
    if (argc != 2 || zs_activities_load(argv[1], NULL, NULL, &t, &diag)) {
        fprintf(stderr, "%s\n", diag.text);
        return 1;
    }
    for (size_t i = 0; i < t.pauses.count; i++) {
        const struct zs_act_pause *p = &t.pauses.items[i];
        printf("pause %s %s %" PRIu64 " %" PRIu64 "\n", zs_act_pause_reason_name(p->reason),
               zs_act_pause_reason_name(p->end_reason), p->start_ns, p->end_ns);
    }
    for (size_t i = 0; i < t.marks.count; i++) {
        const struct zs_act_mark *m = &t.marks.items[i];
        printf("%s %u %s\n", m->end_ns ? "range" : "mark", m->depth, m->name);
    }
    for (size_t i = 0; i < t.appends.count; i++) {
        const struct zs_act_append *a = &t.appends.items[i];
        char direction[64];
        zs_act_direction(a, direction, sizeof(direction));
        printf("append %s %s %s %u call %" PRIu64 "\n", zs_act_kind_name(a->kind),
               a->kernel ? a->kernel->name : "-", direction, a->executions, a->call);
    }
    for (size_t i = 0; i < t.executes.count; i++) {
        const struct zs_act_execute *e = &t.executes.items[i];
        printf("execute %s %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %s\n",
               e->append ? zs_act_kind_name(e->append->kind) : "lost",
               e->append && e->append->kernel ? e->append->kernel->name : "-", e->submit_ns,
               e->start_ns, e->end_ns,
               !e->end_ns     ? "unknown"
               : e->estimated ? "estimated"
                              : "timed");
    }
    zs_activities_free(&t);
    return 0;
}
