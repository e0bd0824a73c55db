/* SPDX-License-Identifier: MIT */
/*
 * Events. A thread that stops is looked at while others run: a breakpoint whose condition is false
 * lets it go on, and a step may not be over. What else stops while all is being held is kept and
 * told later, when it would go on.
 */
#include "debugger/debugger_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_everyone(ze_device_thread_t t)
{
    return t.slice == UINT32_MAX && t.subslice == UINT32_MAX && t.eu == UINT32_MAX &&
           t.thread == UINT32_MAX;
}

/* ---- stops ---- */

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

/* Before its kernels are forgotten. */
static void drop_breakpoints(struct zs_debugger *d, uint64_t load_va)
{
    for (size_t i = 0; i < d->modules.count; i++) {
        const struct zs_dbg_module *m = d->modules.items[i];
        for (uint32_t k = 0; m->shown.load_va == load_va && k < m->count; k++)
            zs_dbg_breakpoints_drop(d, m->kernels[k].va, m->kernels[k].size_B);
    }
}

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
        drop_breakpoints(d, event->info.module.load);
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
            zs_dbg_held(d);
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
                zs_dbg_held(d);
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

/* ---- control ---- */

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
    int error = zs_dbg_need_stopped(d, diag);
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
