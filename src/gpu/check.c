/* SPDX-License-Identifier: MIT */
/* Checks of a launch that look at messages: which there are, barriers, and what was found. */
#include "gpu/check.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { FOUND_MAX = 64, MEMORY_PART = 4 /* of the host's, for shadows of helpers */ };

/* ---- what was found ----------------------------------------------------------------------------
 */

static bool is_new(struct zs_check_told *c, uint64_t a, uint64_t b, uint64_t kind)
{
    uint64_t key = (a << 32 | b << 4 | (kind & 1)) + 16, count = ZS_ARRAY_LEN(c->reported);
    bool take_back = kind >> 1;
    for (uint64_t i = 0, at = key * UINT64_C(0x9e3779b97f4a7c15) >> 56; i < count; i++) {
        uint64_t *slot = &c->reported[(at + i) % count];
        if (*slot == key) {
            *slot = take_back ? 1 : key; /* 1: free, others are behind it */
            return false;
        }
        if (*slot <= 1 && !take_back) {
            bool last = *slot == 0;
            for (uint64_t k = i + 1; !last && k < count; k++) {
                uint64_t other = c->reported[(at + k) % count];
                if (other == key)
                    return false;
                last = other == 0;
            }
            *slot = key;
            return true;
        }
    }
    return false;
}

bool zs_check_is_new(struct zs_gpu_checks *c, uint64_t a, uint64_t b, uint64_t kind)
{
    pthread_mutex_lock(&c->told->lock);
    bool is = is_new(c->told, a, b, kind);
    pthread_mutex_unlock(&c->told->lock);
    return is;
}

void zs_check_site(const struct zs_gpu_run *run, uint64_t group, uint32_t thread, uint32_t inst,
                   int lane, struct zs_gpu_site *ret)
{
    const struct zs_gpu_launch *launch = run->launch;
    struct zs_eu_inst_info info = {0};
    uint32_t item = thread * run->kernel->module->simd + (lane < 0 ? 0 : (uint32_t)lane);
    zs_eu_program_inst(run->kernel->program, inst, &info);
    *ret = (struct zs_gpu_site){.instruction_offset_B =
                                    (int64_t)info.offset_B - (int64_t)run->kernel->entry_B,
                                .thread = thread,
                                .has_item = lane >= 0};
    zs_gpu_group_id(launch, group, ret->group_id);
    zs_gpu_local_id(run->kernel, launch->group_size, ZS_MIN(item, run->group_items - 1),
                    ret->local_id);
    for (uint32_t i = 0; i < 3; i++)
        ret->global_id[i] = (uint64_t)ret->group_id[i] * launch->group_size[i] + ret->local_id[i] +
                            launch->global_offset[i];
}

void zs_check_print(const struct zs_gpu_run *run, struct zs_gpu_finding *f)
{
    if (!run->launch->found)
        return;
    snprintf(f->kernel, sizeof(f->kernel), "%s", run->kernel->module->name);
    if (f->gpu_va && !f->is_local &&
        zs_gpu_memory_of_host(run->launch->memory, f->gpu_va, &f->allocation)) {
        f->allocation_count = 1;
        f->gpu_va -= f->allocation.bias;
    }
    run->launch->found(run->launch->found_context, f);
}

void zs_check_tell(struct zs_gpu_checks *c, struct zs_gpu_finding *f)
{
    pthread_mutex_lock(&c->told->lock);
    if (c->told->found_count++ < FOUND_MAX)
        zs_check_print(c->run, f);
    pthread_mutex_unlock(&c->told->lock);
    bool may_stop = f->kind == ZS_GPU_FINDING_DIVERGENT || f->kind == ZS_GPU_FINDING_RACE;
    if (may_stop && !f->note && zs_check_stop(c->run, f, c->stop_lane))
        c->stops = true;
}

bool zs_check_stop(struct zs_gpu_run *run, const struct zs_gpu_finding *f, uint32_t lane)
{
    if (!run->debug || !zs_gpu_debug_is_attached(run))
        return false;
    if (!run->found)
        run->found = malloc(sizeof(*run->found));
    if (!run->found)
        return false;
    *run->found = *f;
    run->found_lane = lane;
    return true;
}

/* ---- barriers ----------------------------------------------------------------------------------
 */

/* Some lanes of the thread are elsewhere. */
static void check_lanes(struct zs_check_where *at, const struct zs_eu_thread *t, uint32_t inst)
{
    uint32_t missing = t->dispatched & ~t->ce;
    if (!missing || !zs_check_is_new(at->c, inst, UINT32_MAX >> 4, 0))
        return;
    struct zs_gpu_finding f = {.kind = ZS_GPU_FINDING_DIVERGENT,
                               .site_count = 2,
                               .advice =
                                   "all work-items of a group have to come to the same barriers"};
    uint32_t lane = (uint32_t)__builtin_ctz(missing);
    uint32_t here = t->ce ? (uint32_t)__builtin_ctz(t->ce) : 0;
    at->c->stop_lane = here;
    zs_check_site(at->c->run, at->group->index, at->number, inst, (int)here, &f.site[0]);
    zs_check_site(at->c->run, at->group->index, at->number, inst, (int)lane, &f.site[1]);
    if (t->waiting >> lane & 1) {
        uint32_t offset_B = zs_eu_thread_lane_offset_B(t, lane);
        if (offset_B != UINT32_MAX)
            f.site[1].instruction_offset_B =
                (int64_t)offset_B - (int64_t)at->c->run->kernel->entry_B;
    }
    zs_check_tell(at->c, &f);
}

/* Threads of the group have signalled from different instructions: the driver compares lines. */
static void check_places(struct zs_gpu_checks *c, const struct zs_gpu_group *group,
                         const struct zs_check_thread *threads)
{
    for (uint32_t i = 1; i < c->run->threads_per_group; i++) {
        if (threads[i].at == threads[0].at || !zs_check_is_new(c, threads[i].at, threads[0].at, 0))
            continue;
        struct zs_gpu_finding f = {
            .kind = ZS_GPU_FINDING_DIFFERENT,
            .site_count = 2,
            .advice = "all work-items of a group have to come to the same barriers"};
        zs_check_site(c->run, group->index, i, threads[i].at, 0, &f.site[0]);
        zs_check_site(c->run, group->index, 0, threads[0].at, 0, &f.site[1]);
        zs_check_tell(c, &f);
    }
}

void zs_gpu_checks_released(struct zs_gpu_run *run, const struct zs_gpu_worker *w,
                            const struct zs_gpu_group *group, bool named)
{
    struct zs_gpu_checks *c = w->checks;
    size_t first = (size_t)(group->threads - w->states);
    if (c->sync && !named)
        check_places(c, group, c->threads + first);
    if (!named) {
        uint32_t number = ++c->groups[first / run->threads_per_group].releases;
        if (!c->groups[first / run->threads_per_group]
                 .is_loose) /* all of it is before what follows */
            zs_check_races_group(c, group);
        if (c->logs)
            zs_check_order_barrier(&c->order, group->index, number);
        return;
    }
    for (uint32_t done = group->named.completed; c->races && done; done &= done - 1) {
        uint32_t barrier = (uint32_t)__builtin_ctz(done);
        zs_check_order_named(&c->order, group->index, barrier, group->named.at[barrier].consumers);
    }
}

/* ---- messages ----------------------------------------------------------------------------------
 */

/* What says which barrier it is, and who signals it (dataport/message.c); 0: the group's. */
static uint32_t named(const struct zs_port_message *m, const uint8_t *payload)
{
    uint32_t word;
    memcpy(&word, payload + 8, sizeof(word));
    return m->op && (word & 0xff) ? word : 0;
}

/* Atomics before it acquire, those behind it release. */
static void on_fence(struct zs_check_where *at, bool of_local, bool of_others)
{
    struct zs_check_thread *thread = at->thread;
    const bool is_of[ZS_CHECK_FENCES] = {of_others, of_local};
    for (uint32_t i = 0; i < ZS_CHECK_FENCES; i++) {
        if (is_of[i])
            thread->fenced_at[i][++thread->fences[i] % ZS_CHECK_FENCES_KEPT] = thread->signals;
    }
    thread->is_unfenced &= !of_local;
    for (size_t i = 0; i < ZS_MIN(thread->pending_count, ZS_ARRAY_LEN(thread->pending)); i++)
        zs_check_order_atomic(&at->c->order, at->group->index, at->number, thread->pending[i].where,
                              thread->pending[i].space);
    thread->pending_count = 0;
    thread->epoch++;
    thread->fenced = true;
}

static void on_barrier(struct zs_check_where *at, const struct zs_eu_thread *t,
                       const struct zs_eu_send *send, const struct zs_port_message *m)
{
    enum { CONSUMER = 2 };
    uint32_t of = named(m, t->grf + send->d.src0_B);
    if (at->c->sync && !of)
        check_lanes(at, t, send->d.inst);
    if (at->c->stops) /* it is tried again */
        return;
    on_fence(at, !at->c->run->kernel->has_local_fences && !at->thread->is_bare, false);
    at->thread->is_bare = false;
    at->of_group->is_loose |= at->thread->is_unfenced;
    at->thread->at = send->d.inst;
    at->thread->signals += !of;
    if (at->c->races && of && (of >> 14 & 3) != CONSUMER)
        zs_check_order_signal(&at->c->order, at->group->index, at->number, of & 0xff);
}

void zs_gpu_checks_enter(struct zs_gpu_worker *w, const struct zs_gpu_group *group, uint32_t thread)
{
    struct zs_gpu_checks *c = w->checks;
    c->at.c = c;
    c->at.w = w;
    c->at.group = group;
    c->at.thread = &c->threads[group->threads - w->states];
    c->at.of_group = &c->groups[group->number];
    c->at.number = 0;
    c->at.local = NULL;
    zs_check_turn(&c->at, thread);
}

void zs_check_turn(struct zs_check_where *at, uint32_t thread)
{
    struct zs_gpu_checks *c = at->c;
    struct zs_check_thread *of_thread = at->thread - at->number + thread;
    at->thread = of_thread;
    at->number = thread;
    zs_check_ask_anew(at);
    if (of_thread->born == at->of_group->born)
        return;
    memset(of_thread, 0, offsetof(struct zs_check_thread, pending));
    of_thread->born = at->of_group->born;
    of_thread->stamp = ++c->stamp;
    struct zs_check_reads *reads =
        c->reads ? c->reads + (size_t)(of_thread - c->threads) * ZS_CHECK_READS_KEPT : NULL;
    for (size_t i = 0; reads && i < ZS_CHECK_READS_KEPT; i++)
        reads[i].count = 0;
}

static void on_message(struct zs_eu_thread *t, const struct zs_eu_send *send, uint32_t lane_mask)
{
    const struct zs_port_message_row *row = NULL;
    const struct zs_port_message *m = zs_eu_send_message(send, &row);
    struct zs_check_where *at = zs_check_where(t);
    struct zs_gpu_checks *c = at->c;
    zs_eu_reached(t);
    zs_check_turn_to(at, t->series.at);
    if (!m || !row || !lane_mask)
        return;
    if (row->is_fence) {
        on_fence(at, m->op & ZS_PORT_FENCE_LOCAL, !(m->op & ZS_PORT_FENCE_LOCAL));
    } else if (m->space == ZS_PORT_SPACE_GATEWAY) {
        on_barrier(at, t, send, m);
    } else if (m->bytes_written == 1 && m->space == ZS_PORT_SPACE_GLOBAL &&
               zs_check_is_mark(at, t, send, m, lane_mask)) {
        return;
    } else if (c->races && !send->d.is_ahead &&
               (m->space == ZS_PORT_SPACE_GLOBAL || m->space == ZS_PORT_SPACE_SLM ||
                m->space == ZS_PORT_SPACE_TYPED)) {
        zs_check_access(at, t, send, m, row->is_atomic, lane_mask);
    }
}

void zs_gpu_checks_message(struct zs_eu_thread *t, const struct zs_eu_send *send,
                           uint32_t lane_mask)
{
    struct zs_gpu_worker *w =
        (struct zs_gpu_worker *)(void *)((char *)t->env - offsetof(struct zs_gpu_worker, port));
    struct zs_gpu_checks *c = w->checks;
    zs_eu_reached(t);
    c->stops = false;
    on_message(t, send, lane_mask);
    if (c->stops)
        (void)zs_eu_fault_set(t, ZS_EU_FAULT_FOUND, "a check has found something");
    c->stops = false;
}

const struct zs_eu_hooks *zs_gpu_checks_thread(struct zs_gpu_run *run, struct zs_gpu_worker *w,
                                               const struct zs_gpu_group *group, uint32_t thread,
                                               struct zs_eu_reaches **ret_reaches)
{
    static const struct zs_eu_hooks hooks = {
        .message = on_message, .reach = zs_check_reach, .reached = zs_check_reached};
    struct zs_gpu_checks *c = w->checks;
    size_t index = (size_t)(group->threads - w->states);
    if (group->live == run->threads_per_group && !thread) {
        struct zs_check_group *of_group = &c->groups[group->number];
        if (of_group->index == UINT64_MAX) /* of another launch */
            memset(c->threads + index, 0, run->threads_per_group * sizeof(*c->threads));
        zs_check_marks_end(c, of_group);
        zs_check_races_group(c, group);
        of_group->born = ++c->born;
        of_group->releases = 0;
        of_group->is_loose = false;
        of_group->index = group->index;
    }
    *ret_reaches = c->races ? &c->reaches : NULL;
    return &hooks;
}

/* ---- launches ----------------------------------------------------------------------------------
 */

/* Of one worker. */
static bool set_up(struct zs_gpu_run *run, struct zs_gpu_checks *c, struct zs_gpu_block own_block,
                   bool is_helper)
{
    uint32_t flags = run->launch->flags;
    const uint32_t *required = run->kernel->module->required_group_size;
    struct zs_gpu_allocation own;
    *c = (struct zs_gpu_checks){.run = run,
                                .told = run->checks,
                                .own_block = own_block,
                                .is_helper = is_helper,
                                .shares = is_helper};
    for (size_t i = 0; i < ZS_ARRAY_LEN(c->recent); i++)
        c->recent[i].number = UINT64_MAX;
    memset(c->reaches.quiet, 0xff, sizeof(c->reaches.quiet));
    c->reaches.at = c->reached;
    c->reaches.end = c->reached + ZS_ARRAY_LEN(c->reached) - ZS_EU_REACHES_MAX;
    c->races = flags & ZS_GPU_LAUNCH_CHECK_RACES && run->group_total <= UINT32_MAX;
    c->sync = flags & ZS_GPU_LAUNCH_CHECK_SYNC;
    c->logs = c->races && run->kernel->orders_threads;
    c->in_step = required[0] && run->threads_per_group == 1;
    const uint8_t *host =
        run->launch->private_va
            ? zs_gpu_memory_host(run->launch->memory, run->launch->private_va, 1, false)
            : NULL;
    if (host && zs_gpu_memory_of_host(run->launch->memory, (uint64_t)(uintptr_t)host, &own)) {
        c->own.start = own.gpu_va + own.bias;
        c->own.end = c->own.start + own.size_B;
    }
    zs_check_order_init(&c->order, run->device, run->group_total, run->threads_per_group);
    size_t threads = (size_t)run->groups_per_worker * run->threads_per_group;
    /* room for all that may be resident: what is not touched costs nothing, and nothing is cleared
     * before a thread begins */
    size_t each_B = ZS_CHECK_READS_KEPT * sizeof(*c->reads);
    c->groups = calloc(run->groups_per_worker, sizeof(*c->groups));
    c->blocks = calloc(c->races ? run->kernel->instruction_count : 1u, sizeof(*c->blocks));
    for (uint32_t i = 0; c->groups && i < run->groups_per_worker; i++)
        c->groups[i].index = UINT64_MAX;
    if (!c->groups || !c->blocks ||
        zs_gpu_block_get(run->device, threads * sizeof(*c->threads), &c->threads_block) ||
        (c->races && run->kernel->has_atomics &&
         zs_gpu_block_get(run->device, threads * each_B, &c->reads_block)))
        return false;
    c->threads = (struct zs_check_thread *)(void *)c->threads_block.data;
    c->reads = (struct zs_check_reads *)(void *)c->reads_block.data;
    return true;
}

int zs_gpu_checks_begin(struct zs_gpu_run *run)
{
    if (!(run->launch->flags & (ZS_GPU_LAUNCH_CHECK_RACES | ZS_GPU_LAUNCH_CHECK_SYNC)) ||
        !run->kernel->is_hooked)
        return 0;
    struct zs_check_told *told = calloc(1, sizeof(*told) + run->workers_max * sizeof(*told->of));
    if (!told)
        return -ENOMEM;
    pthread_mutex_init(&told->lock, NULL);
    pthread_mutex_init(&told->pages_lock, NULL);
    told->workers = run->workers_max;
    run->checks = told;
    return 0;
}

bool zs_gpu_checks_worker(struct zs_gpu_run *run, struct zs_gpu_worker *w, uint32_t index)
{
    w->checks = NULL;
    if (!run->checks)
        return true;
    struct zs_gpu_block block;
    if (zs_gpu_block_get(run->device, sizeof(*w->checks), &block))
        return false;
    w->checks = run->checks->of[index] = (struct zs_gpu_checks *)(void *)block.data;
    return set_up(run, w->checks, block, index > 0);
}

void zs_gpu_checks_worker_ended(const struct zs_gpu_worker *w)
{
    if (w->checks && w->checks->races)
        zs_check_races_worker_end(w->checks);
}

bool zs_gpu_checks_may_share(const struct zs_gpu_worker *w)
{
    struct zs_gpu_checks *c = w->checks;
    if (!c || !c->races)
        return true;
    c->told->helpers_max_B =
        (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / MEMORY_PART;
    return zs_check_races_share(c);
}

bool zs_gpu_checks_are_full(const struct zs_gpu_worker *w)
{
    const struct zs_gpu_checks *c = w->checks;
    return c && c->is_helper && w->claim.next == w->claim.end &&
           atomic_load_explicit(&c->told->helpers_B, memory_order_relaxed) > c->told->helpers_max_B;
}

/* What the launch does is more than was compared. */
static void tell_lost(struct zs_gpu_checks *c, bool is_lost)
{
    bool are_many = c->told->found_count > FOUND_MAX;
    struct zs_gpu_finding f = {.kind = ZS_GPU_FINDING_LOST,
                               .advice = are_many
                                             ? "more than 64 findings in one launch: the rest is "
                                               "not shown"
                                             : "the launch does more than the check of races "
                                               "remembers: some pairs of accesses were not "
                                               "compared"};
    if (!is_lost && !are_many)
        return;
    c->told->found_count = 0;
    zs_check_tell(c, &f);
}

static void end(struct zs_gpu_checks *c)
{
    const struct zs_gpu_run *run = c->run;
    zs_check_marks_free(c);
    zs_check_races_free(c);
    zs_check_order_fini(&c->order);
    zs_gpu_block_put(run->device, &c->threads_block);
    zs_gpu_block_put(run->device, &c->reads_block);
    for (uint32_t i = 0; c->groups && i < run->groups_per_worker; i++)
        free(c->groups[i].later);
    free(c->groups);
    free(c->blocks);
    struct zs_gpu_block own = c->own_block;
    zs_gpu_block_put(run->device, &own);
}

void zs_gpu_checks_end(struct zs_gpu_run *run)
{
    struct zs_check_told *told = run->checks;
    bool is_lost = false;
    for (uint32_t i = 0; told && i < told->workers; i++) {
        struct zs_gpu_checks *c = told->of[i];
        for (uint32_t k = 0; c && c->groups && !run->error && k < run->groups_per_worker; k++)
            zs_check_marks_end(c, &c->groups[k]);
    }
    if (!told)
        return;
    zs_check_races_end(told);
    for (uint32_t i = 0; i < told->workers; i++)
        is_lost |= told->of[i] && (told->of[i]->lost || told->of[i]->order.full);
    if (told->of[0])
        tell_lost(told->of[0], is_lost);
    for (uint32_t i = 0; i < told->workers; i++) {
        if (told->of[i])
            end(told->of[i]);
    }
    zs_id_map_fini(&told->areas);
    pthread_mutex_destroy(&told->lock);
    pthread_mutex_destroy(&told->pages_lock);
    free(told);
    run->checks = NULL;
}
