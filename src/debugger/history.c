/* SPDX-License-Identifier: MIT */
/* Recorded launches: going to a position. */
#include "debugger/debugger_priv.h"

#include <errno.h>
#include <string.h>

int zs_debug_history(struct zs_debugger *d, uint32_t thread, struct zs_debug_history *ret,
                     struct zs_diag *diag)
{
    struct zs_dbg_thread *t = thread ? zs_dbg_thread_find(d, thread) : NULL;
    struct zs_history_request request = zs_dbg_history_request(ZS_HISTORY_STATUS, t);
    memset(ret, 0, sizeof(*ret));
    int error = zs_dbg_history_ask(d, &request, diag);
    if (error)
        return error;
    *ret = (struct zs_debug_history){.launches = d->history->launches,
                                     .launch = d->history->launch,
                                     .position = d->history->position,
                                     .recorded = t && d->history->lack == ZS_HISTORY_WHOLE};
    ret->lack = ret->recorded ? NULL : zs_dbg_history_lack(d->history->lack);
    return 0;
}

/* ---- going ---- */

/* All is somewhere else now. */
static void look_anew(struct zs_debugger *d)
{
    zs_debug_forget(d);
    zs_dbg_code_refresh(d);
    for (size_t i = 0; i < d->threads.count; i++) {
        struct zs_dbg_thread *t = &d->threads.items[i];
        t->untold = t->fault_known = false;
        t->shown.reason = ZS_DEBUG_REASON_NONE;
    }
    zs_dbg_threads_scan(d);
}

int zs_dbg_go(struct zs_debugger *d, const struct zs_dbg_thread *t, uint64_t position,
              struct zs_diag *diag)
{
    struct zs_history_request go = zs_dbg_history_request(ZS_HISTORY_GO, t);
    go.position = position;
    int error = zs_dbg_history_ask(d, &go, diag);
    if (!error)
        error = zs_dbg_history_wait(d, NULL, diag);
    if (error)
        return error;
    look_anew(d);
    if (!d->threads.count)
        return 0;
    struct zs_history_request status =
        zs_dbg_history_request(ZS_HISTORY_STATUS, &d->threads.items[0]);
    error = zs_dbg_history_ask(d, &status, diag);
    if (!error && d->history->lack != ZS_HISTORY_WHOLE)
        return zs_diag_set(diag, -EIO, ZS_DIAG_NO_OFFSET, "%s; the launch goes on from elsewhere",
                           zs_dbg_history_lack(d->history->lack));
    return error;
}

struct zs_dbg_thread *zs_dbg_history_thread(struct zs_debugger *d, const uint32_t group[3],
                                            uint32_t thread)
{
    if (!d->threads.count)
        return NULL;
    struct zs_history_request find = zs_dbg_history_request(ZS_HISTORY_FIND, &d->threads.items[0]);
    find.first = thread;
    for (uint32_t i = 0; i < 3; i++)
        find.codes[i] = group[i];
    if (zs_dbg_history_ask(d, &find, NULL) || !d->history->count)
        return NULL;
    const struct zs_history_thread *p = &d->history->hits[0].place;
    return zs_dbg_thread_at(d, (ze_device_thread_t){p->slice, p->subslice, p->eu, p->thread});
}

void zs_dbg_history_stopped(struct zs_debugger *d, enum zs_debug_reason reason,
                            struct zs_dbg_thread *t, uint32_t lane, uint32_t breakpoint)
{
    zs_dbg_stop(d, reason, t, lane, breakpoint);
    if (t) {
        t->shown.reason = reason;
        (void)zs_debug_set_focus(d, t->shown.id, lane, 0, NULL);
    }
    zs_dbg_queue(d, &d->stop);
}

int zs_debug_goto_position(struct zs_debugger *d, uint64_t position, struct zs_diag *diag)
{
    struct zs_dbg_thread *t;
    int error = zs_dbg_need_thread_among_stopped(d, d->focus_thread, &t, diag);
    uint32_t id = d->focus_thread, lane = d->focus_lane;
    if (!error)
        error = zs_dbg_go(d, t, position, diag);
    if (error)
        return error;
    t = zs_dbg_thread_find(d, id);
    if (!t && d->threads.count)
        t = &d->threads.items[0];
    if (t && !(t->shown.lanes >> lane & 1))
        lane = zs_dbg_pick_lane(d, t);
    memset(&d->stop, 0, sizeof(d->stop));
    zs_dbg_history_stopped(d, position ? ZS_DEBUG_REASON_STEP : ZS_DEBUG_REASON_BEGINNING, t, lane,
                           0);
    return 0;
}

int zs_debug_goto_launch(struct zs_debugger *d, uint64_t launch, struct zs_diag *diag)
{
    struct zs_dbg_thread *t = zs_dbg_thread_find(d, d->focus_thread);
    struct zs_history_request status = zs_dbg_history_request(ZS_HISTORY_STATUS, t);
    int error = zs_dbg_history_ask(d, &status, diag);
    if (error)
        return error;
    if (launch && launch == d->history->launch)
        return zs_debug_goto_position(d, 0, diag);
    if (launch <= d->history->launches)
        return zs_diag_set(diag, -ENODATA, ZS_DIAG_NO_OFFSET,
                           "launch %llu has been: %llu have begun since the debugger attached, and "
                           "only the one that is stopped can be executed again",
                           (unsigned long long)launch, (unsigned long long)d->history->launches);
    struct zs_history_request request = zs_dbg_history_request(ZS_HISTORY_LAUNCH, NULL);
    request.position = launch;
    error = zs_dbg_history_ask(d, &request, diag);
    d->launch_wanted = !error;
    return error || !zs_debug_stopped(d) ? error : zs_debug_continue(d, diag);
}
