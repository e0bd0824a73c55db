/* SPDX-License-Identifier: MIT */
/*
 * Events. A thread that stops is looked at while others run: a breakpoint whose condition is false
 * lets it go on, and a step may not be over. When a person is to see the stop, all is held first
 * (ZS_DBG_HOLDING); what else stops meanwhile is kept and told later, when it would go on.
 */
#include "debugger/debugger_priv.h"

#include "base/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SLICE_MS = 20, CR_B = 16 };

static const ze_device_thread_t everyone = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};

static bool is_everyone(ze_device_thread_t t)
{
    return t.slice == UINT32_MAX && t.subslice == UINT32_MAX && t.eu == UINT32_MAX &&
           t.thread == UINT32_MAX;
}

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

/* ---- stops ---- */

/* All is held: the stop is told. */
static void held(struct zs_debugger *d)
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
        held(d); /* there is nothing that runs */
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

enum { NEAR_B = 1 << 20, CULPRIT_FRAMES = 8 };

static const struct {
    uint32_t bit;
    const char *text;
} faults[] = {
    {ZESCOPE_DEBUG_CR0_1_PAGE_FAULT, "an access of memory that is not there or not allowed"},
    {ZESCOPE_DEBUG_CR0_1_ILLEGAL_OPCODE, "an instruction that cannot be executed"},
    {ZESCOPE_DEBUG_CR0_1_SOFTWARE, "a barrier that not all threads of the group reach"},
};

static const char *fault_of(const struct zs_dbg_thread *t)
{
    for (size_t i = 0; i < ZS_ARRAY_LEN(faults); i++)
        if (t->why & faults[i].bit)
            return faults[i].text;
    return NULL;
}

/* Which variable of a frame points near the address: the pointer that was followed. */
static bool find_culprit(struct zs_debugger *d, struct zs_dbg_thread *t, uint32_t lane,
                         uint32_t frame, struct zs_buf *out)
{
    struct zs_debug_value **values;
    uint32_t count;
    if (zs_debug_variables(d, t->shown.id, lane, frame, &values, &count, NULL))
        return false;
    const char *best = NULL;
    int64_t best_distance = 0;
    uint64_t value;
    for (uint32_t i = 0; i < count; i++) {
        if (!values[i]->available || values[i]->size_B != 8 || !strchr(values[i]->type, '*'))
            continue;
        memcpy(&value, values[i]->bytes, 8);
        int64_t distance = (int64_t)(t->fault_va - value);
        if (distance > -NEAR_B && distance < NEAR_B &&
            (!best || llabs(distance) < llabs(best_distance))) {
            best = values[i]->name;
            best_distance = distance;
        }
    }
    if (best)
        zs_buf_printf(out, ", %s %c %lld bytes", best, best_distance < 0 ? '-' : '+',
                      llabs(best_distance));
    return best != NULL;
}

/* "a write of 4 bytes": as the driver tells it, or by the instruction. */
static void put_access(struct zs_debugger *d, const struct zs_dbg_thread *t,
                       const struct zs_history_memory *m, struct zs_buf *out)
{
    uint32_t index = zs_dbg_inst_at(t->kernel, t->shown.gpu_va), size_B = m ? m->size_B : 0;
    const struct zs_isa_message *message =
        index == ZS_NO_INDEX ? NULL : zs_isa_inst_message(t->kernel->isa, index);
    const char *word = m ? (m->is_write ? "write" : "read") : "access";
    if (message && message->kind == ZS_MSG_ATOMIC)
        word = "atomic access";
    else if (message && !m)
        word = message->kind == ZS_MSG_STORE  ? "write"
               : message->kind == ZS_MSG_LOAD ? "read"
                                              : "access";
    if (message && !m)
        size_B = (uint32_t)message->element_B * message->components;
    if (m)
        zs_buf_printf(out, "%s%s", m->what, message ? ": " : "");
    if (m && !message) /* a value that is not defined */
        return;
    zs_buf_printf(out, "%s %s", word[0] == 'a' ? "an" : "a", word);
    if (size_B)
        zs_buf_printf(out, " of %u bytes", size_B);
    if (!m)
        zs_buf_puts(out, " of memory that is not there or not allowed");
}

static void put_nearest(const struct zs_history_memory *m, struct zs_buf *out)
{
    uint64_t end_va = m->allocation_va + m->allocation_B;
    if (!m->allocation_B)
        return;
    zs_buf_puts(out, "; ");
    if (m->gpu_va < m->allocation_va)
        zs_buf_printf(out, "%llu bytes in front of",
                      (unsigned long long)(m->allocation_va - m->gpu_va));
    else if (m->gpu_va >= end_va)
        zs_buf_printf(out, "%llu bytes behind the end of",
                      (unsigned long long)(m->gpu_va - end_va));
    else
        zs_buf_printf(out, "%llu bytes into", (unsigned long long)(m->gpu_va - m->allocation_va));
    zs_buf_printf(out, " %s allocation of %llu bytes at %#llx", m->is_freed ? "a freed" : "the",
                  (unsigned long long)m->allocation_B, (unsigned long long)m->allocation_va);
}

/* What the driver says, or the lane whose registers hold the address, where one does. */
static uint32_t fault_lane(struct zs_debugger *d, const struct zs_dbg_thread *t)
{
    uint32_t told;
    if (!zs_dbg_read_regs(d, t->place, ZESCOPE_DEBUG_REGSET_FAULT_LANE, 0, 1, &told) && told < 32)
        return told;
    uint64_t grf[ZS_DBG_GRF_MAX_B / 8 * 16];
    uint32_t per = d->grf_B / 8, index = zs_dbg_inst_at(t->kernel, t->shown.gpu_va);
    const struct zs_isa_inst *inst =
        index == ZS_NO_INDEX ? NULL : zs_isa_inst(t->kernel->isa, index);
    if (inst && inst->source_count && inst->src[0].kind == ZS_OPERAND_REG &&
        inst->src[0].file == ZS_FILE_GRF && t->fault_known) {
        uint32_t count = ZS_MIN(ZS_MAX(inst->src[0].grf_count, 1u), 8u);
        if (!zs_dbg_read_regs(d, t->place, ZESCOPE_DEBUG_REGSET_GRF, inst->src[0].reg, count, grf))
            for (uint32_t lane = 0; lane < count * per && lane < 32; lane++)
                if (grf[lane] == t->fault_va && t->shown.running >> lane & 1)
                    return lane + inst->channel_offset;
    }
    return zs_dbg_pick_lane(d, t);
}

static void stop_fault(struct zs_debugger *d, struct zs_dbg_thread *t)
{
    struct zs_buf out = {0};
    uint32_t lane = fault_lane(d, t);
    zs_dbg_stop(d, ZS_DEBUG_REASON_FAULT, t, lane, 0);
    d->stop.fault_va_known = t->fault_known;
    d->stop.fault_va = t->fault_va;
    struct zs_history_request request = zs_dbg_history_request(ZS_HISTORY_FAULT, t);
    bool is_access = t->why & ZESCOPE_DEBUG_CR0_1_PAGE_FAULT;
    bool told = is_access && !zs_dbg_history_ask(d, &request, NULL) && d->history->count;
    struct zs_history_memory m = told ? d->history->memory : (struct zs_history_memory){0};
    m.what[sizeof(m.what) - 1] = '\0';
    if (is_access)
        put_access(d, t, told ? &m : NULL, &out);
    else
        zs_buf_puts(&out, fault_of(t));
    if (told && m.is_local)
        zs_buf_printf(&out, ": offset %#llx of local memory", (unsigned long long)m.gpu_va);
    if (t->fault_known) {
        zs_buf_printf(&out, ": address %#llx", (unsigned long long)t->fault_va);
        bool found = false;
        for (uint32_t frame = 0; frame < CULPRIT_FRAMES && !found; frame++)
            found = find_culprit(d, t, lane, frame, &out);
    }
    if (told)
        put_nearest(&m, &out);
    snprintf(d->stop.text, sizeof(d->stop.text), "%s", zs_buf_cstr(&out));
    zs_buf_fini(&out);
}

/* A thread has stopped of itself. Whether a person wants to know: then d->stop is filled in. */
static bool wants_stop(struct zs_debugger *d, struct zs_dbg_thread *t)
{
    uint32_t lane = 0;
    memset(&d->stop, 0, sizeof(d->stop));
    if (fault_of(t)) {
        stop_fault(d, t);
        return true;
    }
    if (zs_dbg_watch_hit(d, t))
        return true;
    uint32_t id = zs_dbg_breakpoint_hit(d, t, &lane);
    if (id)
        zs_dbg_stop(d, ZS_DEBUG_REASON_BREAKPOINT, t, lane, id);
    return id != 0;
}

static int go_on(struct zs_debugger *d, struct zs_dbg_thread *t, struct zs_diag *diag)
{
    (void)zs_dbg_prepare(d, t, false);
    t->stopped = false;
    int error = zs_dbg_resume(d, t, diag);
    return error == -EBUSY ? 0 : error;
}

/* A thread that the stepped one waits for has come to the breakpoint at which the step began: those
 * that had come there before were passed over, too. */
static bool joins_step(const struct zs_debugger *d, const struct zs_dbg_thread *t)
{
    return d->step.active && t->shown.id != d->step.thread &&
           d->stop.reason == ZS_DEBUG_REASON_BREAKPOINT && t->kernel == d->step.kernel &&
           t->shown.offset_B == d->step.start_B;
}

static int thread_stopped(struct zs_debugger *d, ze_device_thread_t place, struct zs_diag *diag)
{
    struct zs_dbg_thread *t = zs_dbg_thread_at(d, place);
    if (!t)
        return -ENOMEM;
    zs_debug_forget(d);
    if (!zs_dbg_thread_read(d, t))
        return 0;
    if (d->state != ZS_DBG_RUNNING) {
        t->untold = true;
        return 0;
    }
    if (d->step.active && t->shown.id == d->step.thread && !fault_of(t))
        return zs_dbg_step_on(d, t, diag);
    if (wants_stop(d, t) && !joins_step(d, t))
        return zs_dbg_hold_all(d, diag);
    const struct zs_dbg_breakpoint *hidden = zs_dbg_breakpoint_find(d, d->step.run_to);
    if (d->step.active && hidden && zs_dbg_breakpoint_is_at(hidden, t->shown.gpu_va))
        return 0; /* it waits there for the one that steps */
    return go_on(d, t, diag);
}

/* ---- events ---- */

static int module_event(struct zs_debugger *d, const zet_debug_event_t *event, bool load,
                        struct zs_diag *diag)
{
    struct zs_debug_event out = {.kind = load ? ZS_DEBUG_EVENT_MODULE_LOADED
                                              : ZS_DEBUG_EVENT_MODULE_UNLOADED};
    int error = 0;
    if (load) {
        error = zs_dbg_module_add(d, event, &out.module);
        zs_dbg_history_told(d);
        if (!error)
            zs_dbg_breakpoints_resolve(d);
    } else {
        out.module = zs_dbg_module_remove(d, event);
    }
    if (event->flags & ZET_DEBUG_EVENT_FLAG_NEED_ACK)
        (void)d->ze.zetDebugAcknowledgeEvent(d->session, event);
    if (error)
        return zs_diag_set(diag, error, ZS_DIAG_NO_OFFSET, "a module cannot be kept: no memory");
    zs_dbg_queue(d, &out);
    return 0;
}

static int unavailable(struct zs_debugger *d, ze_device_thread_t place, struct zs_diag *diag)
{
    if (is_everyone(place)) {
        if (d->state == ZS_DBG_HOLDING)
            held(d);
        return 0;
    }
    struct zs_dbg_thread *t = zs_dbg_thread_at(d, place);
    if (!t)
        return -ENOMEM;
    t->stopped = false;
    if (!d->step.active || t->shown.id != d->step.thread || d->state != ZS_DBG_RUNNING)
        return 0;
    memset(&d->stop, 0, sizeof(d->stop));
    zs_dbg_stop(d, ZS_DEBUG_REASON_ENDED, NULL, 0, 0);
    return zs_dbg_hold_all(d, diag);
}

static void page_fault(struct zs_debugger *d, const zet_debug_event_t *event)
{
    const zet_debug_event_info_page_fault_t *fault = &event->info.page_fault;
    /* the mask says which bits of the address are known */
    for (size_t i = 0; i < d->threads.count; i++)
        d->threads.items[i].fault_known = false;
    d->stop.fault_va = fault->address;
}

int zs_dbg_take_event(struct zs_debugger *d, uint32_t timeout_ms, struct zs_diag *diag)
{
    zet_debug_event_t event;
    uint64_t fault_va = 0;
    bool faulted = false;
    for (;;) {
        memset(&event, 0, sizeof(event));
        ze_result_t result = d->ze.zetDebugReadEvent(d->session, timeout_ms, &event);
        if (result == ZE_RESULT_NOT_READY)
            return -EAGAIN;
        if (result == ZE_RESULT_ERROR_DEVICE_LOST)
            d->process_gone = true;
        if (result)
            return d->process_gone ? 0 : zs_dbg_result(result, "reading an event", diag);
        if (event.type != ZET_DEBUG_EVENT_TYPE_PAGE_FAULT)
            break;
        page_fault(d, &event);
        fault_va = event.info.page_fault.address;
        faulted = true;
        timeout_ms = UINT32_MAX; /* its thread comes next */
    }
    switch (event.type) {
    case ZET_DEBUG_EVENT_TYPE_MODULE_LOAD:
    case ZET_DEBUG_EVENT_TYPE_MODULE_UNLOAD:
        return module_event(d, &event, event.type == ZET_DEBUG_EVENT_TYPE_MODULE_LOAD, diag);
    case ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED:
        if (is_everyone(event.info.thread.thread)) {
            if (d->state == ZS_DBG_HOLDING)
                held(d);
            return 0;
        }
        if (faulted) {
            struct zs_dbg_thread *t = zs_dbg_thread_at(d, event.info.thread.thread);
            if (t) {
                t->fault_known = true;
                t->fault_va = fault_va;
            }
        }
        return thread_stopped(d, event.info.thread.thread, diag);
    case ZET_DEBUG_EVENT_TYPE_THREAD_UNAVAILABLE:
        return unavailable(d, event.info.thread.thread, diag);
    case ZET_DEBUG_EVENT_TYPE_DETACHED:
        d->process_gone = true;
        return 0;
    default:
        if (event.flags & ZET_DEBUG_EVENT_FLAG_NEED_ACK)
            (void)d->ze.zetDebugAcknowledgeEvent(d->session, &event);
        return 0;
    }
}

static int begin_interrupt(struct zs_debugger *d, struct zs_diag *diag)
{
    if (d->state != ZS_DBG_RUNNING)
        return 0;
    memset(&d->stop, 0, sizeof(d->stop));
    zs_dbg_stop(d, ZS_DEBUG_REASON_INTERRUPT, NULL, 0, 0);
    return zs_dbg_hold_all(d, diag);
}

int zs_debug_wait(struct zs_debugger *d, uint32_t timeout_ms, struct zs_debug_event *ret_event,
                  struct zs_diag *diag)
{
    uint64_t end_ns = zs_now_ns() + (uint64_t)timeout_ms * 1000000;
    memset(ret_event, 0, sizeof(*ret_event));
    for (;;) {
        if (d->queue_at < d->queue.count) {
            *ret_event = d->queue.items[d->queue_at++];
            return 0;
        }
        if (!d->session)
            return zs_diag_set(diag, -ECHILD, ZS_DIAG_NO_OFFSET, "nothing is being debugged");
        if (d->process_gone) {
            zs_dbg_process_ended(d, ret_event);
            return 0;
        }
        int error = 0;
        if (atomic_exchange(&d->interrupt_wanted, false))
            error = begin_interrupt(d, diag);
        if (!error && d->queue_at == d->queue.count) {
            uint64_t now_ns = zs_now_ns();
            if (timeout_ms != UINT32_MAX && now_ns >= end_ns)
                timeout_ms = 0;
            error = zs_dbg_take_event(d, timeout_ms ? SLICE_MS : 0, diag);
            if (error == -EAGAIN && timeout_ms)
                error = 0;
        }
        if (error == -EAGAIN && d->queue_at < d->queue.count)
            error = 0;
        if (error)
            return error;
    }
}

/* ---- control ---- */

static int need_stopped(const struct zs_debugger *d, struct zs_diag *diag)
{
    if (!d->session)
        return zs_diag_set(diag, -ECHILD, ZS_DIAG_NO_OFFSET, "nothing is being debugged");
    if (d->state != ZS_DBG_STOPPED)
        return zs_diag_set(diag, -EBUSY, ZS_DIAG_NO_OFFSET, "it runs: interrupt it first");
    return 0;
}

int zs_dbg_need_thread_among_stopped(struct zs_debugger *d, uint32_t id, struct zs_dbg_thread **ret,
                                     struct zs_diag *diag)
{
    int error = zs_dbg_need_thread(d, id, ret, diag);
    return error ? error : need_stopped(d, diag);
}

/* Stops that were not told yet come first. */
static bool tell_untold(struct zs_debugger *d)
{
    for (size_t i = 0; i < d->threads.count; i++) {
        struct zs_dbg_thread *t = &d->threads.items[i];
        if (!t->stopped || !t->untold)
            continue;
        t->untold = false;
        if (!wants_stop(d, t))
            continue;
        t->shown.reason = d->stop.reason;
        (void)zs_debug_set_focus(d, t->shown.id, d->stop.lane, 0, NULL);
        zs_dbg_queue(d, &d->stop);
        return true;
    }
    return false;
}

int zs_debug_continue(struct zs_debugger *d, struct zs_diag *diag)
{
    int error = need_stopped(d, diag);
    if (error || tell_untold(d))
        return error;
    for (size_t i = 0; i < d->threads.count; i++) {
        struct zs_dbg_thread *t = &d->threads.items[i];
        if (t->stopped)
            (void)zs_dbg_prepare(d, t, false);
        t->stopped = false;
        t->shown.reason = ZS_DEBUG_REASON_NONE;
    }
    d->state = ZS_DBG_RUNNING;
    return zs_dbg_resume(d, NULL, diag);
}

void zs_debug_interrupt(struct zs_debugger *d)
{
    atomic_store(&d->interrupt_wanted, true);
}

bool zs_debug_stopped(const struct zs_debugger *d)
{
    return d->state == ZS_DBG_STOPPED;
}
