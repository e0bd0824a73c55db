/* SPDX-License-Identifier: MIT */
/* What is stopped: threads by place, their lanes, the focus. */
#include "debugger/debugger_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CR_B = 16, SR_B = 16, SBA_INSTRUCTION = 4, GROUP_X = 1, GROUP_Y = 6, GROUP_Z = 7 };

static bool same_place(ze_device_thread_t a, ze_device_thread_t b)
{
    return a.slice == b.slice && a.subslice == b.subslice && a.eu == b.eu && a.thread == b.thread;
}

struct zs_dbg_thread *zs_dbg_thread_find(const struct zs_debugger *d, uint32_t id)
{
    for (size_t i = 0; i < d->threads.count; i++)
        if (d->threads.items[i].shown.id == id)
            return &d->threads.items[i];
    return NULL;
}

struct zs_dbg_thread *zs_dbg_thread_at(struct zs_debugger *d, ze_device_thread_t place)
{
    for (size_t i = 0; i < d->threads.count; i++)
        if (same_place(d->threads.items[i].place, place))
            return &d->threads.items[i];
    struct zs_dbg_thread t = {.place = place};
    t.shown = (struct zs_debug_thread){.id = d->last_thread + 1,
                                       .slice = place.slice,
                                       .subslice = place.subslice,
                                       .eu = place.eu,
                                       .thread = place.thread};
    if (!ZS_VEC_PUSH(&d->threads, t))
        return NULL;
    d->last_thread++;
    return &d->threads.items[d->threads.count - 1];
}

void zs_dbg_threads_clear(struct zs_debugger *d)
{
    d->threads.count = d->shown_threads.count = 0;
    d->focus_thread = d->focus_lane = d->focus_frame = 0;
}

/* As the driver tells it; else the group's id is in r0, as long as nothing writes it. */
static void read_group(struct zs_debugger *d, struct zs_dbg_thread *t)
{
    uint32_t r0[ZS_DBG_GRF_MAX_B / 4];
    const struct zs_history_items *items = zs_dbg_items(d, t);
    t->shown.group_known = items != NULL;
    if (items) {
        memcpy(t->shown.group, items->group, sizeof(t->shown.group));
        return;
    }
    if (!t->kernel || !t->kernel->keeps_r0 ||
        zs_dbg_read_regs(d, t->place, ZESCOPE_DEBUG_REGSET_GRF, 0, 1, r0))
        return;
    t->shown.group_known = true;
    t->shown.group[0] = r0[GROUP_X];
    t->shown.group[1] = r0[GROUP_Y];
    t->shown.group[2] = r0[GROUP_Z];
}

bool zs_dbg_thread_read(struct zs_debugger *d, struct zs_dbg_thread *t)
{
    uint32_t ce, cr[CR_B / 4], sr[SR_B / 4] = {0};
    t->stopped = !zs_dbg_read_regs(d, t->place, ZESCOPE_DEBUG_REGSET_CE, 0, 1, &ce) &&
                 !zs_dbg_read_regs(d, t->place, ZESCOPE_DEBUG_REGSET_CR, 0, 1, cr);
    t->items_state = ZS_DBG_ITEMS_UNASKED;
    if (!t->stopped)
        return false;
    if (!d->ip_base) {
        uint64_t base;
        if (!zs_dbg_read_regs(d, t->place, ZESCOPE_DEBUG_REGSET_SBA, SBA_INSTRUCTION, 1, &base))
            d->ip_base = base;
    }
    if (zs_dbg_read_regs(d, t->place, ZESCOPE_DEBUG_REGSET_SR, 0, 1, sr))
        sr[2] = UINT32_MAX;
    if (sr[3]) /* kernels with calls write all lanes into sr0.2 on XeLP; sr0.3 stays as it was */
        sr[2] &= sr[3];
    t->why = cr[1];
    t->shown.gpu_va = d->ip_base + cr[2];
    t->kernel = zs_dbg_kernel_at(d, t->shown.gpu_va);
    sr[2] &= t->kernel ? t->kernel->lanes : UINT32_MAX;
    t->shown.lanes = sr[2];
    t->shown.running = ce & sr[2];
    t->shown.kernel = t->kernel ? t->kernel->name : NULL;
    t->shown.offset_B = t->kernel ? (uint32_t)(t->shown.gpu_va - t->kernel->va) : 0;
    return true;
}

void zs_dbg_threads_scan(struct zs_debugger *d)
{
    const ze_device_properties_t *p = &d->properties;
    uint64_t total = (uint64_t)p->numSlices * p->numSubslicesPerSlice * p->numEUsPerSubslice *
                     p->numThreadsPerEU;
    for (uint32_t i = 0; i < total && i < ZS_DBG_PLACES_MAX * 4; i++) {
        uint32_t eu = i / p->numThreadsPerEU, subslice = eu / p->numEUsPerSubslice, ce;
        ze_device_thread_t place = {subslice / p->numSubslicesPerSlice,
                                    subslice % p->numSubslicesPerSlice, eu % p->numEUsPerSubslice,
                                    i % p->numThreadsPerEU};
        if (zs_dbg_read_regs(d, place, ZESCOPE_DEBUG_REGSET_CE, 0, 1, &ce))
            continue;
        struct zs_dbg_thread *t = zs_dbg_thread_at(d, place);
        if (t && zs_dbg_thread_read(d, t))
            read_group(d, t);
    }
    /* those that are not stopped now have ended */
    size_t left = 0;
    for (size_t i = 0; i < d->threads.count; i++) {
        struct zs_dbg_thread *t = &d->threads.items[i];
        uint32_t ce;
        if (!zs_dbg_read_regs(d, t->place, ZESCOPE_DEBUG_REGSET_CE, 0, 1, &ce))
            d->threads.items[left++] = *t;
    }
    d->threads.count = left;
}

uint32_t zs_dbg_pick_lane(const struct zs_debugger *d, const struct zs_dbg_thread *t)
{
    return zs_dbg_pick_lane_of(d, t, t->shown.running);
}

uint32_t zs_dbg_pick_lane_of(const struct zs_debugger *d, const struct zs_dbg_thread *t,
                             uint32_t lanes)
{
    if (t->shown.id == d->focus_thread && lanes >> d->focus_lane & 1)
        return d->focus_lane;
    return lanes ? (uint32_t)__builtin_ctz(lanes) : 0;
}

int zs_dbg_need_thread(struct zs_debugger *d, uint32_t id, struct zs_dbg_thread **ret,
                       struct zs_diag *diag)
{
    *ret = zs_dbg_thread_find(d, id);
    if (!d->session)
        return zs_diag_set(diag, -ESRCH, ZS_DIAG_NO_OFFSET, "nothing is being debugged");
    if (!*ret)
        return zs_diag_set(diag, -ESRCH, ZS_DIAG_NO_OFFSET,
                           id ? "there is no thread %u" : "no thread is in focus", id);
    if (!(*ret)->stopped)
        return zs_diag_set(diag, -EBUSY, ZS_DIAG_NO_OFFSET, "thread %u runs", id);
    return 0;
}

static int by_id(const void *a, const void *b)
{
    const struct zs_debug_thread *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

size_t zs_debug_threads(struct zs_debugger *d, const struct zs_debug_thread **ret_threads)
{
    d->shown_threads.count = 0;
    for (size_t i = 0; i < d->threads.count; i++)
        if (d->threads.items[i].stopped &&
            !ZS_VEC_PUSH(&d->shown_threads, d->threads.items[i].shown))
            break;
    if (d->shown_threads.count)
        qsort(d->shown_threads.items, d->shown_threads.count, sizeof(*d->shown_threads.items),
              by_id);
    *ret_threads = d->shown_threads.items;
    return d->shown_threads.count;
}

const struct zs_debug_thread *zs_debug_thread(struct zs_debugger *d, uint32_t thread)
{
    struct zs_dbg_thread *t = zs_dbg_thread_find(d, thread);
    return t && t->stopped ? &t->shown : NULL;
}

int zs_dbg_need_stopped(const struct zs_debugger *d, struct zs_diag *diag)
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
    return error ? error : zs_dbg_need_stopped(d, diag);
}

int zs_debug_jump(struct zs_debugger *d, uint32_t thread, uint64_t gpu_va, struct zs_diag *diag)
{
    struct zs_dbg_thread *t;
    uint32_t cr[CR_B / 4];
    int error = zs_dbg_need_thread_among_stopped(d, thread, &t, diag);
    if (error)
        return error;
    uint32_t index = zs_dbg_inst_at(t->kernel, gpu_va);
    if (index == ZS_NO_INDEX || t->kernel->va + zs_isa_inst_offset(t->kernel->isa, index) != gpu_va)
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                           "no instruction of the code that thread %u executes is at %#llx", thread,
                           (unsigned long long)gpu_va);
    error = zs_dbg_read_regs(d, t->place, ZESCOPE_DEBUG_REGSET_CR, 0, 1, cr);
    cr[2] = (uint32_t)(gpu_va - d->ip_base);
    cr[1] &= ~(uint32_t)ZESCOPE_DEBUG_CR0_1_BREAKPOINT; /* no step */
    if (!error)
        error = zs_dbg_write_regs(d, t->place, ZESCOPE_DEBUG_REGSET_CR, 0, 1, cr);
    if (error)
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                           "the lanes that run cannot go on at %#llx: others wait there, or before",
                           (unsigned long long)gpu_va);
    zs_dbg_thread_read(d, t);
    t->untold = false;
    t->hides_breakpoint = true; /* what is there has not been told */
    return 0;
}
