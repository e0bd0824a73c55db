/* SPDX-License-Identifier: MIT */
/*
 * What makes threads go on and holds them. When a person is to see a stop, all is held first
 * (ZS_DBG_HOLDING), then it is told.
 */
#include "debugger/debugger_priv.h"

#include <string.h>

enum { CR_B = 16 };

static const ze_device_thread_t everyone = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};

void zs_dbg_queue(struct zs_debugger *d, const struct zs_debug_event *event)
{
    if (d->queue_at == d->queue.count)
        d->queue_at = d->queue.count = 0;
    (void)ZS_VEC_PUSH(&d->queue, *event);
}

int zs_dbg_prepare(struct zs_debugger *d, struct zs_dbg_thread *t, bool single)
{
    uint32_t cr[CR_B / 4];
    int error = zs_dbg_read_regs(d, t->place, ZESCOPE_DEBUG_REGSET_CR, 0, 1, cr);
    if (error)
        return error;
    if (single || !t->hides_breakpoint) /* what is there has not been told */
        cr[0] |= ZESCOPE_DEBUG_CR0_0_BREAKPOINT_SUPPRESS;
    t->hides_breakpoint = false;
    cr[1] &= ~(uint32_t)ZESCOPE_DEBUG_CR0_1_BREAKPOINT;
    if (single)
        cr[1] |= (uint32_t)ZESCOPE_DEBUG_CR0_1_BREAKPOINT;
    return zs_dbg_write_regs(d, t->place, ZESCOPE_DEBUG_REGSET_CR, 0, 1, cr);
}

int zs_dbg_resume(struct zs_debugger *d, const struct zs_dbg_thread *t, struct zs_diag *diag)
{
    zs_debug_forget(d);
    memset(&d->returned, 0, sizeof(d->returned));
    ze_result_t result = d->ze.zetDebugResume(d->session, t ? t->place : everyone);
    if (result == ZE_RESULT_ERROR_NOT_AVAILABLE && !t)
        result = ZE_RESULT_SUCCESS;              /* nothing is stopped: what comes next runs */
    if (result == ZE_RESULT_ERROR_DEVICE_LOST) { /* it ended before it answered */
        d->process_gone = true;
        result = ZE_RESULT_SUCCESS;
    }
    return zs_dbg_result(result, "resume", diag);
}

void zs_dbg_step_end(struct zs_debugger *d)
{
    if (d->step.run_to)
        (void)zs_debug_break_delete(d, d->step.run_to, NULL);
    memset(&d->step, 0, sizeof(d->step));
}

/* All is held: the stop is told. */
void zs_dbg_held(struct zs_debugger *d)
{
    zs_dbg_threads_scan(d);
    d->state = ZS_DBG_STOPPED;
    zs_dbg_step_end(d);
    struct zs_dbg_thread *t = zs_dbg_thread_find(d, d->stop.thread);
    if (t && !t->stopped)
        t = NULL;
    if (!t && d->stop.reason == ZS_DEBUG_REASON_INTERRUPT) {
        t = zs_dbg_thread_find(d, d->focus_thread);
        for (size_t i = 0; i < d->threads.count && !t; i++)
            t = d->threads.items[i].stopped ? &d->threads.items[i] : NULL;
        if (t)
            d->stop.lane = zs_dbg_pick_lane(d, t);
    }
    d->stop.thread = t ? t->shown.id : 0;
    if (t) {
        t->untold = false;
        t->shown.reason = d->stop.reason;
        (void)zs_debug_set_focus(d, t->shown.id, d->stop.lane, 0, NULL);
    }
    struct zs_dbg_breakpoint *b = zs_dbg_breakpoint_find(d, d->stop.breakpoint);
    if (b && b->shown.temporary)
        (void)zs_debug_break_delete(d, d->stop.breakpoint, NULL);
    zs_dbg_queue(d, &d->stop);
}

int zs_dbg_hold_all(struct zs_debugger *d, struct zs_diag *diag)
{
    ze_result_t result = d->ze.zetDebugInterrupt(d->session, everyone);
    d->state = ZS_DBG_HOLDING;
    if (result == ZE_RESULT_ERROR_NOT_AVAILABLE) {
        zs_dbg_held(d); /* there is nothing that runs */
        return 0;
    }
    if (result == ZE_RESULT_NOT_READY)
        result = ZE_RESULT_SUCCESS;
    if (result == ZE_RESULT_ERROR_DEVICE_LOST) {
        d->process_gone = true;
        result = ZE_RESULT_SUCCESS;
    }
    return zs_dbg_result(result, "interrupt", diag);
}

void zs_dbg_stop(struct zs_debugger *d, enum zs_debug_reason reason, const struct zs_dbg_thread *t,
                 uint32_t lane, uint32_t breakpoint)
{
    d->stop.kind = ZS_DEBUG_EVENT_STOPPED;
    d->stop.reason = reason;
    d->stop.thread = t ? t->shown.id : 0;
    d->stop.lane = lane;
    d->stop.breakpoint = breakpoint;
}
