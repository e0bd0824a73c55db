/* SPDX-License-Identifier: MIT */
/*
 * Steps. The thread in focus executes one instruction after the other until its lane is at another
 * line; where only its other lanes run, it goes on. All other threads stand still, but where it
 * waits for them: at a barrier, and over a call that has one, they run to the place behind it, too.
 */
#include "debugger/debugger_priv.h"

#include <errno.h>
#include <string.h>

enum { STEPS_MAX = 4000000, CR_B = 16 };

/* How deep a place is: calls on the stack, and functions inlined into the innermost one. */
static void measure(struct zs_debugger *d, const struct zs_dbg_thread *t, uint32_t *ret_depth,
                    uint32_t *ret_inlined)
{
    struct zs_arena arena;
    struct zs_dbg_call_frame frames[ZS_DBG_CALLS_MAX];
    zs_arena_init(&arena, 0);
    *ret_depth = zs_dbg_unwind(d, t, &arena, frames);
    zs_arena_fini(&arena);
    *ret_inlined = zs_dbg_inlined_at(t->kernel, zs_dbg_inst_at(t->kernel, t->shown.gpu_va));
}

static int finish(struct zs_debugger *d, struct zs_dbg_thread *t, struct zs_diag *diag)
{
    memset(&d->stop, 0, sizeof(d->stop));
    zs_dbg_stop(d, ZS_DEBUG_REASON_STEP, t, zs_dbg_pick_lane(d, t), 0);
    d->returned = d->step.returns;
    d->returned.va = t->shown.gpu_va;
    return zs_dbg_hold_all(d, diag);
}

static int single(struct zs_debugger *d, struct zs_dbg_thread *t, struct zs_diag *diag)
{
    int error = zs_dbg_prepare(d, t, true);
    t->stopped = false;
    return error ? zs_diag_set(diag, error, ZS_DIAG_NO_OFFSET, "thread %u cannot be stepped",
                               t->shown.id)
                 : zs_dbg_resume(d, t, diag);
}

/* Let the thread run to an address; all others, too, when it waits for them on the way. */
static int run_to(struct zs_debugger *d, struct zs_dbg_thread *t, uint64_t va, bool all, bool one,
                  struct zs_diag *diag)
{
    d->step.run_to = zs_dbg_breakpoint_hidden(d, va);
    if (!d->step.run_to)
        return -ENOMEM;
    for (size_t i = 0; i < d->threads.count && all; i++) {
        struct zs_dbg_thread *other = &d->threads.items[i];
        if (other == t || !other->stopped || other->shown.gpu_va == va)
            continue;
        (void)zs_dbg_prepare(d, other, false);
        other->stopped = other->untold = false; /* it is waited for */
        int error = zs_dbg_resume(d, other, diag);
        if (error && error != -EBUSY)
            return error;
    }
    (void)zs_dbg_prepare(d, t, one);
    t->stopped = false;
    return zs_dbg_resume(d, t, diag);
}

/* The address behind the call that the thread is in, or 0. */
static uint64_t return_address(struct zs_debugger *d, const struct zs_dbg_thread *t)
{
    struct zs_arena arena;
    struct zs_dbg_call_frame frames[ZS_DBG_CALLS_MAX];
    zs_arena_init(&arena, 0);
    uint32_t count = zs_dbg_unwind(d, t, &arena, frames);
    uint64_t va = 0;
    if (count > 1) {
        uint32_t index = zs_dbg_inst_at(frames[1].kernel, frames[1].va);
        if (index != ZS_NO_INDEX)
            va = frames[1].kernel->va + zs_isa_inst_offset(frames[1].kernel->isa, index + 1);
    }
    zs_arena_fini(&arena);
    return va;
}

/* One instruction, or over a call when the step does not go into it. */
static int advance(struct zs_debugger *d, struct zs_dbg_thread *t, struct zs_diag *diag)
{
    uint32_t index = zs_dbg_inst_at(t->kernel, t->shown.gpu_va);
    enum zs_debug_step kind = d->step.kind;
    if (index == ZS_NO_INDEX)
        return single(d, t, diag);
    uint64_t next = t->kernel->va + zs_isa_inst_offset(t->kernel->isa, index + 1);
    if (zs_dbg_inst_waits(t->kernel, index))
        return run_to(d, t, next, true, true, diag);
    const struct zs_isa_inst *inst = zs_isa_inst(t->kernel->isa, index);
    bool call = inst->op == ZS_OP_CALL || inst->op == ZS_OP_CALLA;
    if (!call || kind == ZS_DEBUG_STEP_INST)
        return single(d, t, diag);
    uint32_t target = inst->jip_B == ZS_ISA_NO_INDEX
                          ? ZS_NO_INDEX
                          : zs_isa_inst_find(t->kernel->isa, inst->jip_B);
    bool has_line = target != ZS_NO_INDEX && inst->op == ZS_OP_CALL &&
                    zs_dbg_row_at(t->kernel, t->kernel->va + inst->jip_B);
    bool wanted = target != ZS_NO_INDEX && inst->op == ZS_OP_CALL && d->step.target_va &&
                  t->kernel->va + inst->jip_B == d->step.target_va;
    if ((kind == ZS_DEBUG_STEP_IN && has_line) || wanted)
        return single(d, t, diag);
    bool waits =
        target == ZS_NO_INDEX || inst->op == ZS_OP_CALLA || zs_dbg_call_waits(t->kernel, target, 0);
    return run_to(d, t, next, waits, false, diag);
}

/* Whether the lane is where the step was to lead. */
static bool arrived(struct zs_debugger *d, const struct zs_dbg_thread *t)
{
    struct zs_dbg_step *s = &d->step;
    if (!(t->shown.running >> s->lane & 1))
        return false;
    if (s->kind == ZS_DEBUG_STEP_INST || s->kind == ZS_DEBUG_STEP_INST_NEXT)
        return true;
    uint32_t depth, inlined;
    measure(d, t, &depth, &inlined);
    bool in_target = s->target_va && t->shown.gpu_va == s->target_va;
    if (depth > s->depth && (s->kind == ZS_DEBUG_STEP_IN || in_target || s->into_body)) {
        /* into a function: behind its prologue, where its arguments have their values */
        uint64_t body_va = zs_dbg_body_at(t->kernel, t->shown.gpu_va);
        s->into_body = t->shown.gpu_va < body_va;
        if (s->into_body || t->shown.gpu_va == body_va)
            return !s->into_body;
    }
    if (in_target)
        return true;
    bool deeper = depth > s->depth || (depth == s->depth && inlined > s->inlined);
    bool shallower = depth < s->depth || (depth == s->depth && inlined < s->inlined);
    if (s->kind == ZS_DEBUG_STEP_OUT)
        return shallower;
    if (s->kind != ZS_DEBUG_STEP_IN && deeper)
        return false;
    const struct zs_line_row *row = zs_dbg_row_at(t->kernel, t->shown.gpu_va);
    if (!row)
        return !s->line && t->kernel != s->kernel;
    bool same = t->kernel == s->kernel && !deeper && !shallower && row->line == s->line &&
                row->file == s->file;
    if (same)
        return false;
    if (t->shown.gpu_va != t->kernel->va + row->offset_B && !shallower)
        return false; /* within a statement */
    return s->kind != ZS_DEBUG_STEP_UNTIL || shallower || t->shown.offset_B > s->start_B;
}

int zs_dbg_step_on(struct zs_debugger *d, struct zs_dbg_thread *t, struct zs_diag *diag)
{
    struct zs_dbg_step *s = &d->step;
    if (s->run_to) {
        (void)zs_debug_break_delete(d, s->run_to, NULL);
        s->run_to = 0;
    }
    memset(&d->stop, 0, sizeof(d->stop));
    if (zs_dbg_watch_hit(d, t))
        return zs_dbg_hold_all(d, diag);
    if (arrived(d, t))
        return finish(d, t, diag);
    if (zs_dbg_is_inserted(d, t->shown.gpu_va)) {
        uint32_t lane = 0;
        uint32_t id = zs_dbg_breakpoint_hit(d, t, &lane);
        if (id) {
            zs_dbg_stop(d, ZS_DEBUG_REASON_BREAKPOINT, t, lane, id);
            return zs_dbg_hold_all(d, diag);
        }
    }
    if (++s->steps > STEPS_MAX)
        return finish(d, t, diag);
    if (s->kind == ZS_DEBUG_STEP_OUT) {
        uint64_t va = s->inlined ? 0 : return_address(d, t);
        if (va)
            return run_to(d, t, va, true, false, diag);
    }
    return advance(d, t, diag);
}

static int begin(struct zs_debugger *d, enum zs_debug_step step, uint64_t target_va,
                 struct zs_diag *diag)
{
    struct zs_dbg_thread *t;
    int error = zs_dbg_need_thread_among_stopped(d, d->focus_thread, &t, diag);
    if (error)
        return error;
    zs_dbg_step_end(d);
    struct zs_dbg_step *s = &d->step;
    memset(&d->returned, 0, sizeof(d->returned));
    const struct zs_line_row *row = zs_dbg_row_at(t->kernel, t->shown.gpu_va);
    *s = (struct zs_dbg_step){.active = true,
                              .kind = step,
                              .thread = t->shown.id,
                              .lane = d->focus_lane,
                              .kernel = t->kernel,
                              .start_B = t->shown.offset_B,
                              .line = row ? row->line : 0,
                              .file = row ? row->file : 0,
                              .target_va = target_va};
    measure(d, t, &s->depth, &s->inlined);
    if (step == ZS_DEBUG_STEP_OUT && s->depth <= 1 && !s->inlined) {
        s->active = false;
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                           "the kernel itself has no caller to return to");
    }
    t->untold = false;
    d->state = ZS_DBG_RUNNING;
    if (step == ZS_DEBUG_STEP_OUT && !s->inlined) {
        s->returns = zs_dbg_returns(d, t);
        uint64_t va = return_address(d, t);
        if (va)
            return run_to(d, t, va, true, false, diag);
    }
    return advance(d, t, diag);
}

int zs_debug_step(struct zs_debugger *d, enum zs_debug_step step, struct zs_diag *diag)
{
    return begin(d, step, 0, diag);
}

int zs_debug_step_into(struct zs_debugger *d, uint64_t gpu_va, struct zs_diag *diag)
{
    return begin(d, ZS_DEBUG_STEP_NEXT, gpu_va, diag);
}

/* ---- what a line goes into ---- */

struct targets {
    const struct zs_dbg_kernel *kernel;
    struct zs_debug_target *items;
    uint32_t count, capacity;
};

static void add_target(struct targets *all, uint32_t frame, uint64_t offset_B)
{
    uint64_t va = all->kernel->va + offset_B;
    for (uint32_t i = 0; i < ZS_MIN(all->count, all->capacity); i++)
        if (all->items[i].gpu_va == va)
            return;
    if (all->count < all->capacity)
        all->items[all->count] = (struct zs_debug_target){
            .function = all->kernel->info->frames[frame].function, .gpu_va = va};
    all->count++;
}

/* Inlined there, and not behind the thread already. */
static void add_inlined(struct targets *all, uint32_t parent, const struct zs_line_row *row,
                        uint32_t offset_B)
{
    const struct zs_dwarf_kernel *info = all->kernel->info;
    for (uint32_t f = 0; f < info->frame_count; f++) {
        const struct zs_frame *frame = &info->frames[f];
        if (frame->parent != parent || frame->call_line != row->line ||
            frame->call_file != row->file || frame->scope == ZS_NO_INDEX)
            continue;
        const struct zs_scope *scope = &info->scopes[frame->scope];
        const struct zs_code_range *ranges = &info->ranges[scope->range_first];
        uint32_t next_B = UINT32_MAX;
        for (uint32_t r = 0; r < scope->range_count; r++)
            if (ranges[r].begin_B > offset_B)
                next_B = ZS_MIN(next_B, ranges[r].begin_B);
        if (next_B != UINT32_MAX)
            add_target(all, f, next_B);
    }
}

static void add_called(struct targets *all, uint32_t parent, const struct zs_line_row *row,
                       uint32_t first)
{
    const struct zs_dbg_kernel *k = all->kernel;
    for (uint32_t i = first; i < k->join->count; i++) {
        const struct zs_isa_inst *inst = zs_isa_inst(k->isa, i);
        uint32_t scope = k->join->scope[i], at = k->join->row[i];
        if (inst->op != ZS_OP_CALL || inst->jip_B == ZS_ISA_NO_INDEX || scope == ZS_NO_INDEX ||
            k->info->scopes[scope].frame != parent || at == ZS_NO_INDEX ||
            k->info->rows[at].line != row->line || k->info->rows[at].file != row->file)
            continue;
        uint32_t target = zs_isa_inst_find(k->isa, inst->jip_B);
        if (target != ZS_NO_INDEX && k->join->scope[target] != ZS_NO_INDEX)
            add_target(all, k->info->scopes[k->join->scope[target]].frame, inst->jip_B);
    }
}

int zs_debug_step_targets(struct zs_debugger *d, uint32_t thread,
                          struct zs_debug_target *ret_targets, uint32_t capacity,
                          struct zs_diag *diag)
{
    struct zs_dbg_thread *t;
    int error = zs_dbg_need_thread_among_stopped(d, thread, &t, diag);
    if (error)
        return error;
    struct targets all = {.kernel = t->kernel, .items = ret_targets, .capacity = capacity};
    uint32_t index = zs_dbg_inst_at(t->kernel, t->shown.gpu_va);
    const struct zs_line_row *row = zs_dbg_row_at(t->kernel, t->shown.gpu_va);
    if (index == ZS_NO_INDEX || !row || !t->kernel->join ||
        t->kernel->join->scope[index] == ZS_NO_INDEX)
        return 0;
    uint32_t parent = t->kernel->info->scopes[t->kernel->join->scope[index]].frame;
    add_inlined(&all, parent, row, t->shown.offset_B);
    add_called(&all, parent, row, index);
    return (int)all.count;
}
