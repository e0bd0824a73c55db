/* SPDX-License-Identifier: MIT */
/*
 * Steps backwards. The driver executes the launch once more and tells which instructions the thread
 * in focus executed, or where threads came to breakpoints and watched memory; here is found out
 * which of these places is meant, and the launch goes there. So one step costs two executions of
 * the launch up to here, however many instructions it goes over.
 */
#include "debugger/debugger_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- what was executed ---- */

struct hits {
    struct zs_history_hit *items;
    size_t count;
    bool lost; /* there were earlier ones */
};

/* Of those that the search found, from `first` on. */
static int read_hits(struct zs_debugger *d, const struct zs_dbg_thread *t, size_t first,
                     struct hits *ret)
{
    size_t total = d->history->hit_count - first;
    *ret = (struct hits){.items = calloc(total + 1, sizeof(*ret->items)),
                         .lost = d->history->hits_lost != 0};
    if (!ret->items)
        return -ENOMEM;
    while (ret->count < total) {
        struct zs_history_request request = zs_dbg_history_request(ZS_HISTORY_HITS, t);
        request.first = (uint32_t)(first + ret->count);
        request.count = ZS_HISTORY_HITS_MAX;
        int error = zs_dbg_history_ask(d, &request, NULL);
        uint32_t got = d->history->count;
        if (error || !got || got > ZS_HISTORY_HITS_MAX || got > total - ret->count)
            return error ? error : -EIO;
        memcpy(&ret->items[ret->count], d->history->hits, got * sizeof(*ret->items));
        ret->count += got;
    }
    return 0;
}

/* Looking is slow, and what one goes back to is mostly near: the last instructions of the launch
 * first, then more of them. */
enum { NEAR_STEPS = 1 << 20, FARTHER = 64, FARTHER_BACK = 1 /* not an error: look there */ };
#define EVERYTHING UINT64_MAX

static uint64_t farther(uint64_t steps)
{
    return steps > UINT64_MAX / FARTHER ? EVERYTHING : steps * FARTHER;
}

/* In the last `steps` instructions; *ret_whole: that was all there are. */
static int search(struct zs_debugger *d, const struct zs_dbg_thread *t,
                  struct zs_history_request *request, uint64_t steps, bool *ret_whole,
                  struct zs_diag *diag)
{
    request->position = steps;
    int error = zs_dbg_history_ask(d, request, diag);
    if (!error)
        error = zs_dbg_history_wait(d, t, diag);
    if (!error && d->history->lack != ZS_HISTORY_WHOLE)
        error =
            zs_diag_set(diag, -EIO, ZS_DIAG_NO_OFFSET, "%s", zs_dbg_history_lack(d->history->lack));
    *ret_whole = !error && d->history->position <= steps;
    return error;
}

/* ---- steps ---- */

/* An instruction that the lane executed, and how deep it was, from where the thread stands. */
struct point {
    uint64_t position;
    const struct zs_line_row *row;
    const struct zs_dbg_kernel *kernel;
    int level; /* calls */
    uint32_t inlined;
    bool begins; /* a statement begins there */
};

/* From the last to the first: behind a return one is deeper, behind a call less deep. */
static struct point *measure(struct zs_debugger *d, const struct hits *hits, uint32_t lane,
                             size_t *ret_count)
{
    struct point *points = calloc(hits->count + 1, sizeof(*points));
    int level = 0;
    *ret_count = 0;
    for (size_t i = hits->count; points && i-- > 0;) {
        const struct zs_history_hit *hit = &hits->items[i];
        if (!(hit->lanes >> lane & 1))
            continue;
        const struct zs_dbg_kernel *k = zs_dbg_kernel_at(d, hit->ip_va);
        uint32_t index = zs_dbg_inst_at(k, hit->ip_va);
        const struct zs_isa_inst *inst = index == ZS_NO_INDEX ? NULL : zs_isa_inst(k->isa, index);
        if (inst && inst->op == ZS_OP_RET)
            level++;
        else if (inst && (inst->op == ZS_OP_CALL || inst->op == ZS_OP_CALLA))
            level--;
        const struct zs_line_row *row = k ? zs_dbg_row_at(k, hit->ip_va) : NULL;
        points[(*ret_count)++] =
            (struct point){.position = hit->position,
                           .kernel = k,
                           .row = row,
                           .begins = row && hit->ip_va == k->va + row->offset_B,
                           .level = level,
                           .inlined = zs_dbg_inlined_at(k, index)};
    }
    return points;
}

static bool same_line(const struct point *a, const struct point *b)
{
    return a->row && b->row && a->kernel == b->kernel && a->row->file == b->row->file &&
           a->row->line == b->row->line && a->level == b->level && a->inlined == b->inlined;
}

static bool is_deeper(const struct point *p, uint32_t inlined)
{
    return p->level > 0 || (p->level == 0 && p->inlined > inlined);
}

/* To the beginning of the line that was executed last. points: the last one first; is_whole: there
 * are none before them, else a line may have begun earlier. What has a line that does not begin
 * there (functions of the compiler's library) is passed over. */
static size_t find_line(const struct point *points, size_t count, bool is_whole, bool into,
                        uint32_t inlined)
{
    const struct point *line = NULL;
    size_t best = count;
    for (size_t i = 0; i < count; i++) {
        if (!points[i].row || (!into && is_deeper(&points[i], inlined)))
            continue;
        if (line && !same_line(&points[i], line)) {
            if (best < count)
                return best;
            line = NULL;
        }
        line = line ? line : &points[i];
        if (points[i].begins)
            best = i;
    }
    return is_whole ? best : count;
}

static size_t find_target(enum zs_debug_step kind, const struct point *points, size_t count,
                          bool is_whole, uint32_t inlined)
{
    size_t i = 0;
    switch (kind) {
    case ZS_DEBUG_STEP_INST:
        return 0;
    case ZS_DEBUG_STEP_INST_NEXT:
        while (i < count && points[i].level > 0)
            i++;
        return i;
    case ZS_DEBUG_STEP_OUT:
        while (i < count && points[i].level >= 0 &&
               !(points[i].level == 0 && points[i].inlined < inlined))
            i++;
        return i;
    case ZS_DEBUG_STEP_IN:
    case ZS_DEBUG_STEP_NEXT:
    case ZS_DEBUG_STEP_UNTIL:
        break;
    }
    return find_line(points, count, is_whole, kind == ZS_DEBUG_STEP_IN, inlined);
}

static int no_such_place(enum zs_debug_step kind, size_t count, bool lost, struct zs_diag *diag)
{
    if (lost)
        return zs_diag_set(diag, -ENODATA, ZS_DIAG_NO_OFFSET,
                           "it is further back than the last %d instructions of the thread",
                           ZS_HISTORY_KEPT_MAX);
    if (kind == ZS_DEBUG_STEP_OUT && count)
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                           "the kernel itself was called by nobody");
    return zs_diag_set(diag, -ENODATA, ZS_DIAG_NO_OFFSET, "the lane is at its beginning");
}

/* FARTHER_BACK: not in the last `steps` instructions, and there are more. */
static int find_step(struct zs_debugger *d, enum zs_debug_step kind, const struct zs_dbg_thread *t,
                     uint64_t steps, uint64_t *ret_position, struct zs_diag *diag)
{
    struct hits hits = {0};
    struct point *points = NULL;
    size_t count = 0, at = 0;
    bool is_whole;
    struct zs_history_request request = zs_dbg_history_request(ZS_HISTORY_SEARCH, t);
    request.flags = ZS_HISTORY_TRACE;
    int error = search(d, t, &request, steps, &is_whole, diag);
    if (!error)
        error = read_hits(d, t, 0, &hits);
    if (!error && !(points = measure(d, &hits, d->focus_lane, &count)))
        error = -ENOMEM;
    is_whole = is_whole || hits.lost; /* more would not be kept */
    if (!error) {
        uint32_t inst = zs_dbg_inst_at(t->kernel, t->shown.gpu_va);
        at = find_target(kind, points, count, is_whole, zs_dbg_inlined_at(t->kernel, inst));
        if (at == count)
            error = is_whole ? no_such_place(kind, count, hits.lost, diag) : FARTHER_BACK;
        else
            *ret_position = points[at].position;
    }
    free(points);
    free(hits.items);
    return error;
}

int zs_debug_reverse_step(struct zs_debugger *d, enum zs_debug_step kind, struct zs_diag *diag)
{
    struct zs_dbg_thread *t;
    uint64_t position;
    int error = zs_dbg_need_thread_among_stopped(d, d->focus_thread, &t, diag);
    if (error)
        return error;
    uint32_t id = t->shown.id, lane = d->focus_lane;
    uint64_t steps = NEAR_STEPS;
    while ((error = find_step(d, kind, t, steps, &position, diag)) == FARTHER_BACK)
        steps = farther(steps);
    if (!error)
        error = zs_dbg_go(d, t, position, diag);
    if (error)
        return error;
    memset(&d->stop, 0, sizeof(d->stop));
    zs_dbg_history_stopped(d, ZS_DEBUG_REASON_STEP, zs_dbg_thread_find(d, id), lane, 0);
    return 0;
}

/* ---- back to a breakpoint ---- */

static bool stops_at(struct zs_debugger *d, const struct zs_history_hit *hit)
{
    uint32_t lane = 0, id = 0;
    struct zs_dbg_thread *t = zs_dbg_history_thread(d, hit->group, hit->thread);
    memset(&d->stop, 0, sizeof(d->stop));
    if (!t)
        return false;
    if (hit->kind == ZS_HISTORY_CODE)
        id = zs_dbg_breakpoint_would_stop(d, t, &lane);
    else
        id = zs_dbg_watch_would_stop(d, t, hit, &lane);
    if (!id)
        return false;
    zs_dbg_history_stopped(
        d, hit->kind == ZS_HISTORY_CODE ? ZS_DEBUG_REASON_BREAKPOINT : ZS_DEBUG_REASON_WATCHPOINT,
        t, lane, id);
    return true;
}

/* FARTHER_BACK: at none of them; it stands at the first. */
static int go_to_last(struct zs_debugger *d, const struct hits *hits, struct zs_diag *diag)
{
    struct zs_dbg_thread *t = zs_dbg_thread_find(d, d->focus_thread);
    for (size_t i = hits->count; i-- > 0;) {
        int error = t ? zs_dbg_go(d, t, hits->items[i].position, diag) : -ESRCH;
        if (error)
            return error;
        if (stops_at(d, &hits->items[i]))
            return 0;
        t = d->threads.count ? &d->threads.items[0] : NULL;
    }
    return FARTHER_BACK;
}

static int go_to_begin(struct zs_debugger *d, struct zs_diag *diag)
{
    const struct zs_dbg_thread *t = d->threads.count ? &d->threads.items[0] : NULL;
    if (t && zs_dbg_thread_find(d, d->focus_thread) == NULL)
        (void)zs_debug_set_focus(d, t->shown.id, zs_dbg_pick_lane(d, t), 0, NULL);
    return zs_debug_goto_position(d, 0, diag);
}

/* FARTHER_BACK: no stop in the last `steps` instructions. */
static int continue_back(struct zs_debugger *d, uint64_t steps, struct zs_diag *diag)
{
    struct zs_dbg_thread *t = zs_dbg_thread_find(d, d->focus_thread);
    struct hits hits = {0};
    bool is_whole;
    t = t ? t : d->threads.count ? &d->threads.items[0] : NULL;
    if (!t)
        return -ESRCH;
    struct zs_history_request request = zs_dbg_history_request(ZS_HISTORY_SEARCH, t);
    for (size_t i = 0; i < d->inserted.count; i++)
        request.codes[request.code_count++] = d->inserted.items[i].va;
    zs_dbg_watch_ranges(d, &request);
    int error = search(d, t, &request, steps, &is_whole, diag);
    if (!error)
        error = read_hits(d, t, 0, &hits);
    if (!error)
        error = go_to_last(d, &hits, diag);
    if (error == FARTHER_BACK && hits.lost)
        error = zs_diag_set(diag, -ENODATA, ZS_DIAG_NO_OFFSET,
                            "it is further back than the last %d hits of breakpoints",
                            ZS_HISTORY_KEPT_MAX);
    else if (error == FARTHER_BACK && is_whole)
        error = go_to_begin(d, diag);
    free(hits.items);
    return error;
}

int zs_debug_reverse_continue(struct zs_debugger *d, struct zs_diag *diag)
{
    struct zs_dbg_thread *t;
    int error = zs_dbg_need_thread_among_stopped(d, d->focus_thread, &t, diag);
    if (error)
        return error;
    if (d->inserted.count > ZS_HISTORY_CODES_MAX)
        return zs_diag_set(diag, -E2BIG, ZS_DIAG_NO_OFFSET,
                           "going back, at most %d places can have breakpoints",
                           ZS_HISTORY_CODES_MAX);
    uint64_t steps = NEAR_STEPS;
    while ((error = continue_back(d, steps, diag)) == FARTHER_BACK)
        steps = farther(steps);
    return error;
}

/* ---- who wrote ---- */

static int last_write(struct zs_debugger *d, const struct zs_dbg_thread *t,
                      const struct zs_history_range *range, struct zs_history_hit *ret,
                      struct zs_diag *diag)
{
    struct hits hits = {0};
    struct zs_history_request request = zs_dbg_history_request(ZS_HISTORY_SEARCH, t);
    request.range_count = 1;
    request.ranges[0] = *range;
    bool is_whole = false;
    uint32_t count = 0;
    int error = 0;
    for (uint64_t steps = NEAR_STEPS; !error && !count && !is_whole; steps = farther(steps)) {
        error = search(d, t, &request, steps, &is_whole, diag);
        count = error ? 0 : d->history->hit_count;
    }
    if (!error)
        error = count ? read_hits(d, t, count - 1, &hits) : -ENOENT;
    if (!error)
        *ret = hits.items[0];
    free(hits.items);
    return error;
}

int zs_debug_who_wrote(struct zs_debugger *d, uint32_t thread, uint32_t lane, uint32_t frame,
                       const char *expression, struct zs_debug_writer *ret, struct zs_diag *diag)
{
    struct zs_dbg_thread *t;
    struct zs_dbg_value *v;
    struct zs_history_range range;
    struct zs_history_hit hit;
    memset(ret, 0, sizeof(*ret));
    int error = zs_dbg_need_thread_among_stopped(d, thread, &t, diag);
    if (!error)
        error = zs_dbg_watch_find(d, t, lane, frame, expression, &v, &range, diag);
    range.access = ZS_HISTORY_WRITE;
    struct zs_dbg_elements e = error ? (struct zs_dbg_elements){0} : zs_dbg_elements_of(v);
    if (!error)
        error = last_write(d, t, &range, &hit, diag);
    if (error == -ENOENT)
        return zs_diag_set(diag, error, ZS_DIAG_NO_OFFSET,
                           "no work-item of this launch has written %s so far", expression);
    if (error)
        return error;
    const struct zs_dbg_kernel *k = zs_dbg_kernel_at(d, hit.ip_va);
    const struct zs_line_row *row = k ? zs_dbg_row_at(k, hit.ip_va) : NULL;
    *ret = (struct zs_debug_writer){.position = hit.position,
                                    .ip_va = hit.ip_va,
                                    .kernel = k ? k->name : NULL,
                                    .offset_B = k ? (uint32_t)(hit.ip_va - k->va) : 0,
                                    .file = row ? k->info->files[row->file].path : NULL,
                                    .line = row ? row->line : 0,
                                    .lane = hit.lane,
                                    .gpu_va = hit.gpu_va,
                                    .size_B = hit.size_B};
    memcpy(ret->group, hit.group, sizeof(ret->group));
    memcpy(ret->item, hit.item, sizeof(ret->item));
    memcpy(ret->old, hit.old, sizeof(ret->old));
    memcpy(ret->now, hit.now, sizeof(ret->now));
    zs_dbg_put_hit(ret->text, sizeof(ret->text), expression, e, range.gpu_va, &hit);
    return 0;
}
