/* SPDX-License-Identifier: MIT */
/*
 * Messages seen before they are sent: what they are about to overwrite is kept for the history, and
 * what they reach is compared with what is watched.
 *
 * Programs that listen call on_message() in front of each message. While memory is watched they
 * also have a stop behind each message, where on_step() compares: a thread stops behind the
 * instruction that reached the memory, with the old value and the new one. All of this runs on the
 * worker's host thread.
 */
#include "gpu/debug/history_priv.h"

#include "gpu/check.h"

#include <errno.h>

static struct zs_gpu_worker *worker_of(const struct zs_eu_thread *t)
{
    return (struct zs_gpu_worker *)(void *)((uint8_t *)t->env -
                                            offsetof(struct zs_gpu_worker, port));
}

/* ---- what is seen ------------------------------------------------------------------------------
 */

static bool holds(const struct zs_port_range *range, uint64_t va, uint64_t size_B)
{
    return va >= range->start && va < range->end && size_B <= range->end - va;
}

bool zs_history_is_mapped(const struct zs_gpu_run *run, const struct zs_port *port, uint64_t va,
                          uint64_t size_B)
{
    const struct zs_port_range scratch = {
        .start = (uintptr_t)run->scratch.data,
        .end = (uintptr_t)run->scratch.data +
               (run->scratch.data ? run->scratch_B * (run->slots + 1ull) : 0)};
    for (uint32_t i = 0; i < run->range_count; i++) {
        if (holds(&run->ranges[i], va, size_B))
            return true;
    }
    return holds(&scratch, va, size_B) || zs_port_map_find(&port->map, va, size_B);
}

/* Scratch memory and private arrays: the next thread at that place has the same. */
static bool is_private(const struct zs_gpu_run *run, uint64_t va)
{
    uint64_t at_B = va - (uintptr_t)run->private_memory.data;
    uint64_t scratch_at_B = va - (uintptr_t)run->scratch.data;
    return (run->private_memory.data &&
            at_B < (uint64_t)run->kernel->module->private_per_hw_thread_B * run->slots) ||
           (run->scratch.data && scratch_at_B < run->scratch_B * (run->slots + 1ull));
}

/* Whether memory is the launch's alone, and its addresses mean nothing in others. */
static bool is_launch_memory(const struct zs_gpu_run *run, uint64_t va)
{
    static const struct zs_port none = {0};
    return zs_history_is_mapped(run, &none, va, 1);
}

/* The bytes as they are; local memory by its offset. false: nobody may read there. */
static bool peek(const struct zs_gpu_run *run, const struct zs_port *port, bool is_slm, uint64_t at,
                 uint8_t *ret, uint32_t size_B)
{
    if (is_slm && (at > port->slm_B || size_B > port->slm_B - at))
        return false;
    if (!is_slm && !zs_history_is_mapped(run, port, at, size_B))
        return false;
    memcpy(ret, is_slm ? port->slm + at : (const uint8_t *)(uintptr_t)at, size_B);
    return true;
}

/* ---- messages ----------------------------------------------------------------------------------
 */

static void save(struct zs_gpu_run *run, const struct zs_port *port,
                 const struct zs_port_accesses *reach)
{
    struct zs_gpu_history *h = run->history;
    int error = reach->whole ? 0 : -EINVAL;
    for (uint32_t i = 0; i < reach->count && !error; i++) {
        const struct zs_port_access *p = &reach->pieces[i];
        if (!p->is_slm && zs_history_is_mapped(run, port, p->address, p->size_B))
            error = zs_history_save(&h->saved, p->address, p->size_B);
    }
    if (!error)
        return;
    pthread_mutex_lock(&run->debug->debug->lock);
    zs_gpu_history_lose(run, error == -E2BIG    ? ZS_HISTORY_TOO_LARGE
                             : error == -ENOMEM ? ZS_HISTORY_NO_MEMORY
                                                : ZS_HISTORY_UNKNOWN);
    pthread_mutex_unlock(&run->debug->debug->lock);
}

static bool is_of(const struct zs_history_range *watch, const struct zs_gpu_debug_worker *dw,
                  const struct zs_port_access *p)
{
    return p->is_slm == (watch->space == ZS_HISTORY_LOCAL) &&
           (watch->launch == 0 || watch->launch == dw->run->number) &&
           (!(p->is_slm || watch->thread) || watch->group == dw->group->index) &&
           (!watch->thread || watch->thread == dw->thread + 1) &&
           p->address < watch->gpu_va + watch->size_B && watch->gpu_va < p->address + p->size_B;
}

static struct zs_gpu_reached *reached_for(struct zs_gpu_debug_worker *dw, uint32_t watch)
{
    for (uint32_t i = 0; i < dw->reached_count; i++) {
        if (dw->reached[i].watch == watch)
            return &dw->reached[i];
    }
    dw->reached[dw->reached_count] = (struct zs_gpu_reached){.watch = watch, .lane = UINT32_MAX};
    return &dw->reached[dw->reached_count++];
}

/* The last lane is told: what it wrote is what stays. */
static void note(struct zs_gpu_debug_worker *dw, const struct zs_port *port, uint32_t watch,
                 const struct zs_port_access *p, uint32_t chan_offset, uint32_t access)
{
    const struct zs_history_range *range = &dw->watches[watch];
    uint64_t begin = ZS_MAX(range->gpu_va, p->address);
    uint64_t end = ZS_MIN(range->gpu_va + range->size_B, p->address + p->size_B);
    struct zs_gpu_reached got = {.watch = watch, .access = access, .at = begin};
    got.size_B = (uint32_t)ZS_MIN(end - begin, (uint64_t)ZS_HISTORY_VALUE_B);
    if (!peek(dw->run, port, p->is_slm, begin, got.old, got.size_B))
        return;
    struct zs_gpu_reached *r = reached_for(dw, watch);
    uint32_t lane = p->lane == ZS_PORT_NO_LANE ? UINT32_MAX : chan_offset + p->lane;
    got.lane = lane;
    got.lanes = r->lanes | (lane < 32 ? 1u << lane : 0);
    *r = got;
}

static void on_message(struct zs_eu_thread *t, const struct zs_eu_send *send, uint32_t lane_mask)
{
    struct zs_gpu_worker *w = worker_of(t);
    struct zs_gpu_debug_worker *dw = w->debug;
    const struct zs_port_message_row *row;
    const struct zs_port_message *m = zs_eu_send_message(send, &row);
    struct zs_port_accesses reach;
    uint8_t joined[ZS_EU_PAYLOAD_MAX_B];
    if (!dw || !m || !lane_mask)
        return;
    const struct zs_gpu_history *h = dw->run->history;
    if (dw->run->checks && !(h && h->replaying))
        zs_gpu_checks_message(t, send, lane_mask);
    if (t->fault.kind != ZS_EU_FAULT_NONE || !(m->bytes_read || m->bytes_written))
        return;
    bool saves = h && m->bytes_written && !h->replaying && h->lack == ZS_HISTORY_WHOLE;
    dw->reached_count = 0;
    if (!saves && !dw->watch_count)
        return;
    zs_port_accesses(&w->port, m, zs_eu_send_payload(t, send, m, joined), lane_mask, &reach);
    if (saves)
        save(dw->run, &w->port, &reach);
    dw->reached_by = t;
    dw->reached_inst = send->d.inst;
    uint32_t access =
        (m->bytes_read ? ZS_HISTORY_READ : 0u) | (m->bytes_written ? ZS_HISTORY_WRITE : 0u);
    for (uint32_t i = 0; i < dw->watch_count; i++) {
        for (uint32_t k = 0; k < reach.count; k++) {
            if (is_of(&dw->watches[i], dw, &reach.pieces[k]))
                note(dw, &w->port, i, &reach.pieces[k], send->d.chan_offset, access);
        }
    }
}

/* ---- behind them -------------------------------------------------------------------------------
 */

static bool is_hit(const struct zs_gpu_worker *w, const struct zs_gpu_reached *r,
                   uint8_t ret_now[ZS_HISTORY_VALUE_B])
{
    const struct zs_gpu_debug_worker *dw = w->debug;
    const struct zs_history_range *watch = &dw->watches[r->watch];
    bool known =
        peek(dw->run, &w->port, watch->space == ZS_HISTORY_LOCAL, r->at, ret_now, r->size_B);
    if (watch->access & r->access & (ZS_HISTORY_READ | ZS_HISTORY_WRITE))
        return true;
    return known && (watch->access & ZS_HISTORY_CHANGE) && (r->access & ZS_HISTORY_WRITE) &&
           memcmp(ret_now, r->old, r->size_B) != 0;
}

bool zs_gpu_history_triggers(const struct zs_gpu_worker *w, const struct zs_eu_thread *t)
{
    const struct zs_gpu_debug_worker *dw = w->debug;
    uint8_t now[ZS_HISTORY_VALUE_B];
    for (uint32_t i = 0; dw->reached_by == t && i < dw->reached_count; i++) {
        if (is_hit(w, &dw->reached[i], now))
            return true;
    }
    return false;
}

static uint64_t va_of(const struct zs_gpu_run *run, const struct zs_eu_thread *t, uint32_t inst)
{
    return run->kernel->debug->base_va + zs_gpu_debug_ip(t, inst);
}

void zs_history_describe(const struct zs_gpu_worker *w, const struct zs_eu_thread *t, uint32_t inst,
                         struct zs_history_hit *ret)
{
    const struct zs_gpu_debug_worker *dw = w->debug;
    const struct zs_gpu_run *run = dw->run;
    uint32_t simd = run->kernel->module->simd;
    ret->ip_va = va_of(run, t, inst);
    ret->thread = dw->thread;
    memcpy(ret->group, dw->group->id, sizeof(ret->group));
    if (ret->lane < simd && dw->thread * simd + ret->lane < run->group_items)
        zs_gpu_local_id(run->kernel, run->launch->group_size, dw->thread * simd + ret->lane,
                        ret->item);
}

bool zs_gpu_history_hit(struct zs_gpu_worker *w, struct zs_eu_thread *t, struct zs_history_hit *ret)
{
    struct zs_gpu_debug_worker *dw = w->debug;
    if (dw->reached_by != t)
        dw->reached_count = 0;
    while (dw->reached_count) {
        struct zs_gpu_reached r = dw->reached[0];
        *ret = (struct zs_history_hit){.kind = ZS_HISTORY_ACCESS,
                                       .gpu_va = r.at,
                                       .id = dw->watches[r.watch].id,
                                       .access = r.access,
                                       .size_B = r.size_B,
                                       .lane = r.lane,
                                       .lanes = r.lanes};
        bool hit = is_hit(w, &r, ret->now);
        memcpy(ret->old, r.old, sizeof(ret->old));
        zs_history_describe(w, t, dw->reached_inst, ret);
        dw->reached_count--;
        memmove(&dw->reached[0], &dw->reached[1], dw->reached_count * sizeof(dw->reached[0]));
        if (hit)
            return true;
    }
    return false;
}

/* Step operations stand at breakpoints, behind messages, and everywhere in the stepper. */
static bool on_step(struct zs_eu_thread *t, uint32_t inst)
{
    struct zs_gpu_worker *w = worker_of(t);
    const struct zs_gpu_debug_worker *dw = w->debug;
    struct zs_eu_inst_info info;
    if (!dw || t->program != dw->code->listening[1])
        return true;
    return zs_gpu_history_triggers(w, t) || (zs_eu_program_inst(t->program, inst, &info) &&
                                             zs_gpu_code_breaks(dw->code, info.offset_B));
}

const struct zs_eu_hooks zs_gpu_history_hooks = {.message = on_message, .step = on_step};

/* ---- the worker looks --------------------------------------------------------------------------
 */

void zs_gpu_history_look(struct zs_gpu_run *run, struct zs_gpu_worker *w)
{
    struct zs_gpu_debug_worker *dw = w->debug;
    const struct zs_gpu_debug_card *card = run->debug;
    dw->watch_count = card->watch_count;
    memcpy(dw->watches, card->watches, sizeof(dw->watches));
}

const struct zs_eu_program *zs_gpu_history_program(struct zs_gpu_run *run, struct zs_gpu_worker *w)
{
    struct zs_gpu_code *code = w->debug->code;
    if (!run->history && !w->debug->watch_count && !run->checks)
        return code->program;
    return zs_gpu_code_listening((struct zs_gpu_kernel *)(uintptr_t)run->kernel, code,
                                 w->debug->watch_count != 0);
}

/* Ranges of local memory and of the launch's own are watched in that launch alone. */
static void fill_in(struct zs_history_range *range, const struct zs_gpu_debug_thread *thread)
{
    if (!thread || range->launch)
        return;
    if (range->space != ZS_HISTORY_LOCAL && !is_launch_memory(thread->run, range->gpu_va))
        return;
    range->launch = thread->run->number;
    range->group = thread->group;
    if (range->space != ZS_HISTORY_LOCAL && is_private(thread->run, range->gpu_va))
        range->thread = thread->thread + 1;
}

bool zs_history_take_ranges(const struct zs_history_request *request,
                            const struct zs_gpu_debug_thread *thread,
                            struct zs_history_range *ret_ranges)
{
    for (uint32_t i = 0; i < request->range_count; i++) {
        struct zs_history_range *range = &ret_ranges[i];
        *range = request->ranges[i];
        fill_in(range, thread);
        if (range->size_B == 0 || range->size_B > UINT64_MAX - range->gpu_va ||
            range->space > ZS_HISTORY_LOCAL || (range->space == ZS_HISTORY_LOCAL && !range->launch))
            return false;
    }
    return true;
}
