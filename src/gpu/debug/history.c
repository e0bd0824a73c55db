/* SPDX-License-Identifier: MIT */
/*
 * The record of a launch, and executing it again.
 *
 * Recording: dispatch.c tells what happens, in order; messages that write are seen before they are
 * sent (history_watch.c), and what they are about to overwrite is kept once. So the record grows by
 * an entry for each turn of a thread, and by what the launch writes, not by what it executes.
 *
 * Executing again starts with the memory as it was and a worker that has taken in nothing, and
 * follows the record. A turn is executed in a program without stops as long as many instructions
 * are left of it, then instruction by instruction in the one for single steps. It must do just what
 * it did: the same number of instructions, ending where it ended. Where it does not, something
 * outside of the launch has changed memory meanwhile, and the record is worth nothing any more.
 *
 * Rejected: the inverse of each instruction (a log as long as the execution); snapshots of whole
 * allocations (launches that write little of much memory are common).
 */
#include "gpu/debug/history_priv.h"

#include "base/hash.h"
#include "base/vec.h"

#include <errno.h>
#include <stdlib.h>

enum {
    ENTRIES_MAX = 16 << 20,
    SAVED_MAX = 4 << 20,   /* blocks: 256 MiB */
    PLACES_MAX = 16 << 20, /* threads of a launch */
    VERSIONS_MAX = 256,    /* of its code */
    SLOW_BLOCKS = 4,       /* fewer instructions than that many blocks: single steps */
    SLICE_STEPS = 1 << 20, /* between looks at whether it is cancelled */
};

/* ---- memory as it was --------------------------------------------------------------------------
 */

static uint64_t hash_block(const void *blocks, size_t i)
{
    return zs_hash_u64(0, ((const struct zs_history_block *)blocks)[i].key);
}

/* Accesses race when kernels and the host do: that is no bug of ours. */
__attribute__((no_sanitize("thread"))) static void copy_block(void *to, const void *from)
{
    memcpy(to, from, ZS_HISTORY_BLOCK_B);
}

int zs_history_save(struct zs_history_saved *s, uint64_t va, uint64_t size_B)
{
    uint64_t last = (va + size_B - 1) / ZS_HISTORY_BLOCK_B;
    for (uint64_t key = va / ZS_HISTORY_BLOCK_B; key <= last; key++) {
        if (!zs_index_reserve(&s->index, s->count, hash_block, s->items))
            return -ENOMEM;
        uint32_t *slot = zs_index_first(&s->index, zs_hash_u64(0, key));
        while (*slot && s->items[*slot - 1].key != key)
            slot = zs_index_next(&s->index, slot);
        if (*slot)
            continue;
        if (s->count >= SAVED_MAX)
            return -E2BIG;
        if (!ZS_VEC_RESERVE(s, 1))
            return -ENOMEM;
        struct zs_history_block *block = &s->items[s->count++];
        block->key = key;
        *slot = (uint32_t)s->count;
        copy_block(block->bytes, (const void *)(uintptr_t)(key * ZS_HISTORY_BLOCK_B));
    }
    return 0;
}

static bool restore(const struct zs_gpu_run *run, const struct zs_gpu_worker *w)
{
    const struct zs_history_saved *s = &run->history->saved;
    bool all = true;
    for (size_t i = 0; i < s->count; i++) {
        uint64_t va = s->items[i].key * ZS_HISTORY_BLOCK_B;
        /* allocations may end within a block, but none shares it with another */
        bool mapped = zs_history_is_mapped(run, &w->port, va, 1) ||
                      zs_history_is_mapped(run, &w->port, va + ZS_HISTORY_BLOCK_B - 1, 1);
        if (mapped)
            copy_block((void *)(uintptr_t)va, s->items[i].bytes);
        all &= mapped;
    }
    return all;
}

/* ---- begin and end -----------------------------------------------------------------------------
 */

static void free_history(struct zs_gpu_history *h)
{
    if (!h)
        return;
    for (size_t i = 0; i < h->writes.count; i++)
        free(h->writes.items[i].bytes);
    free(h->writes.items);
    free(h->codes.items);
    free(h->entries.items);
    zs_index_fini(&h->saved.index);
    free(h->saved.items);
    free(h->places);
    free(h->hits);
    free(h->marked);
    free(h);
}

/* The longest of the kernel's blocks: how far a turn may overshoot. */
static uint32_t longest_block(const struct zs_eu_program *program)
{
    uint32_t count = zs_eu_program_block_starts(program, NULL, 0), longest = 0;
    uint32_t *starts_B = malloc((count + 1) * sizeof(*starts_B));
    if (!starts_B)
        return UINT32_MAX / 8;
    zs_eu_program_block_starts(program, starts_B, count);
    for (uint32_t i = 1; i < count; i++)
        longest = ZS_MAX(longest, (starts_B[i] - starts_B[i - 1]) / 8 + 1);
    free(starts_B);
    return longest;
}

/* Under the lock. */
static void forget_codes(struct zs_gpu_history *h)
{
    for (size_t i = 0; h && i < h->codes.count; i++)
        zs_gpu_code_put(h->codes.items[i]);
    if (h)
        h->codes.count = 0;
}

static struct zs_gpu_history *make(const struct zs_gpu_run *run)
{
    uint64_t threads = run->group_total * run->threads_per_group;
    if (run->group_total > UINT32_MAX || threads > PLACES_MAX)
        return NULL;
    struct zs_gpu_history *h = calloc(1, sizeof(*h));
    if (!h)
        return NULL;
    h->places = calloc(threads + 1, sizeof(*h->places));
    h->block_max = longest_block(run->kernel->program);
    if (!h->places) {
        free_history(h);
        return NULL;
    }
    return h;
}

static bool is_wanted(const struct zs_gpu_run *run)
{
    const struct zs_gpu_debug_card *card = run->debug;
    if (!card->sessions || card->mode == ZS_HISTORY_OFF)
        return false;
    bool stops = card->stop_launch && run->number >= card->stop_launch;
    if (card->mode == ZS_HISTORY_ON || card->watch_count || stops)
        return true;
    struct zs_gpu_code *code = zs_gpu_code_get((struct zs_gpu_kernel *)(uintptr_t)run->kernel);
    bool breaks = code && code->stop_count;
    if (code)
        zs_gpu_code_put(code);
    return breaks;
}

void zs_gpu_history_begin(struct zs_gpu_run *run)
{
    struct zs_gpu_debug_card *card = run->debug;
    if (atomic_load(&card->session_count) == 0)
        return;
    pthread_mutex_lock(&card->debug->lock);
    run->number = ++card->launches;
    if (is_wanted(run))
        run->history = make(run);
    run->next = card->runs;
    card->runs = run;
    for (struct zs_gpu_run *o = run->next; o; o = o->next) { /* they may share memory */
        zs_gpu_history_lose(o, ZS_HISTORY_SHARED);
        zs_gpu_history_lose(run, ZS_HISTORY_SHARED);
    }
    pthread_mutex_unlock(&card->debug->lock);
}

void zs_gpu_history_end(struct zs_gpu_run *run)
{
    struct zs_gpu_debug_card *card = run->debug;
    if (!run->number)
        return;
    pthread_mutex_lock(&card->debug->lock);
    struct zs_gpu_run **at = &card->runs;
    while (*at != run)
        at = &(*at)->next;
    *at = run->next;
    forget_codes(run->history);
    pthread_mutex_unlock(&card->debug->lock);
    free_history(run->history);
}

void zs_gpu_history_lose(struct zs_gpu_run *run, enum zs_history_lack lack)
{
    if (run->history && run->history->lack == ZS_HISTORY_WHOLE)
        run->history->lack = lack;
}

/* ---- recording ---------------------------------------------------------------------------------
 */

static void add(struct zs_gpu_run *run, struct zs_history_entry entry)
{
    struct zs_gpu_history *h = run->history;
    bool full = h->entries.count >= ENTRIES_MAX;
    if (h->lack != ZS_HISTORY_WHOLE || h->replaying)
        return;
    if (!full && ZS_VEC_PUSH(&h->entries, entry))
        return;
    pthread_mutex_lock(&run->debug->debug->lock);
    zs_gpu_history_lose(run, full ? ZS_HISTORY_TOO_LARGE : ZS_HISTORY_NO_MEMORY);
    pthread_mutex_unlock(&run->debug->debug->lock);
}

void zs_gpu_history_admitted(struct zs_gpu_run *run, uint64_t group, uint32_t place)
{
    add(run, (struct zs_history_entry){
                 .kind = ZS_ENTRY_ADMITTED, .group = (uint32_t)group, .value = place});
}

void zs_gpu_history_released(struct zs_gpu_run *run, uint64_t group)
{
    add(run, (struct zs_history_entry){.kind = ZS_ENTRY_RELEASED, .group = (uint32_t)group});
}

void zs_gpu_history_ran(struct zs_gpu_run *run, uint64_t group, uint32_t thread, uint64_t steps,
                        bool ended)
{
    struct zs_gpu_history *h = run->history;
    if (h->replaying || (steps == 0 && !ended))
        return;
    struct zs_history_entry *last =
        h->entries.count ? &h->entries.items[h->entries.count - 1] : NULL;
    h->position += steps;
    if (last && last->kind == ZS_ENTRY_RAN && last->group == group && last->thread == thread &&
        last->value + steps <= UINT32_MAX) {
        last->value += (uint32_t)steps;
        last->ended = ended;
        return;
    }
    add(run, (struct zs_history_entry){.kind = ZS_ENTRY_RAN,
                                       .group = (uint32_t)group,
                                       .thread = (uint16_t)thread,
                                       .value = (uint32_t)steps,
                                       .ended = ended});
}

/* The worker has nothing to add of what went before, and nothing has run since. */
void zs_gpu_history_take_writes(struct zs_gpu_run *run)
{
    struct zs_gpu_history *h = run->history;
    while (h && h->lack == ZS_HISTORY_WHOLE && h->writes_taken < h->writes.count) {
        const struct zs_history_write *write = &h->writes.items[h->writes_taken];
        struct zs_history_entry entry = {.kind = ZS_ENTRY_WRITTEN,
                                         .group = (uint32_t)write->group,
                                         .thread = (uint16_t)write->thread,
                                         .value = (uint32_t)h->writes_taken++};
        if (h->entries.count >= ENTRIES_MAX || !ZS_VEC_PUSH(&h->entries, entry))
            zs_gpu_history_lose(run, ZS_HISTORY_TOO_LARGE);
    }
}

/* Of those with the same instructions, or a new one; UINT32_MAX: too many. */
static uint32_t version_of(struct zs_gpu_history *h, struct zs_gpu_code *code)
{
    for (size_t i = 0; i < h->codes.count; i++) {
        const struct zs_buf *plain = &h->codes.items[i]->plain;
        if (h->codes.items[i] == code ||
            (plain->size_B == code->plain.size_B &&
             memcmp(plain->data, code->plain.data, plain->size_B) == 0))
            return (uint32_t)i;
    }
    if (h->codes.count >= VERSIONS_MAX || !ZS_VEC_PUSH(&h->codes, code))
        return UINT32_MAX;
    code->refs++;
    return (uint32_t)h->codes.count - 1;
}

void zs_gpu_history_take_code(struct zs_gpu_run *run, struct zs_gpu_code *code, bool all)
{
    struct zs_gpu_history *h = run->history;
    if (!h || h->lack != ZS_HISTORY_WHOLE)
        return;
    bool begins = h->codes.count == 0;
    uint32_t version = version_of(h, code);
    struct zs_history_entry entry = {.kind = ZS_ENTRY_CODE, .value = version};
    if (!all)
        zs_gpu_history_lose(run, ZS_HISTORY_NOWHERE);
    else if (version == UINT32_MAX || h->entries.count >= ENTRIES_MAX)
        zs_gpu_history_lose(run, ZS_HISTORY_TOO_LARGE);
    else if (!begins && version != h->version && !ZS_VEC_PUSH(&h->entries, entry))
        zs_gpu_history_lose(run, ZS_HISTORY_NO_MEMORY);
    h->version = version;
}

uint32_t zs_gpu_history_place(const struct zs_gpu_run *run, uint64_t group, uint32_t thread)
{
    return run->history->places[group * run->threads_per_group + thread] - 1;
}

void zs_gpu_history_placed(struct zs_gpu_run *run, uint64_t group, uint32_t thread, uint32_t place)
{
    run->history->places[group * run->threads_per_group + thread] = place + 1;
}

/* ---- executing it again ------------------------------------------------------------------------
 */

struct replay {
    struct zs_gpu_run *run;
    struct zs_gpu_worker *w;
    struct zs_gpu_history *h;
    uint32_t version;                             /* of the code */
    const struct zs_eu_program *stepper, *runner; /* of the version */
    bool search, trace;
    bool slow; /* this thread is looked at instruction by instruction */
    uint64_t position;
};

static void keep(struct zs_gpu_history *h, const struct zs_history_hit *hit)
{
    h->hits[h->hits_total++ % ZS_HISTORY_KEPT_MAX] = *hit;
}

static bool looks(const struct replay *r)
{
    return r->search && r->position >= r->h->look_from;
}

/* In front of an instruction. */
static void visit(struct replay *r, const struct zs_eu_thread *t)
{
    const struct zs_gpu_debug_worker *dw = r->w->debug;
    uint32_t inst = zs_eu_thread_place(t);
    bool traced =
        r->trace && dw->group->index == r->h->from_group && dw->thread == r->h->from_thread;
    bool marked = r->h->marked[inst];
    if (!traced && !marked)
        return;
    struct zs_history_hit hit = {.kind = marked ? ZS_HISTORY_CODE : ZS_HISTORY_STEPS,
                                 .position = r->position,
                                 .lane = UINT32_MAX,
                                 .lanes = t->ce};
    zs_history_describe(r->w, t, inst, &hit);
    keep(r->h, &hit);
}

/* One instruction, in the program for single steps. */
static enum zs_eu_status single(struct replay *r, struct zs_eu_thread *t)
{
    if (!t->stopped) { /* it has not come to its step operation yet */
        enum zs_eu_status status = zs_eu_run_among(t, r->stepper, UINT32_MAX, &r->w->host_csr);
        if (status != ZS_EU_STOP)
            return status;
    }
    uint64_t before = zs_eu_thread_steps(t);
    uint64_t position = r->position;
    struct zs_history_hit hit;
    bool is_seen = looks(r);
    if (is_seen)
        visit(r, t);
    enum zs_eu_status status = zs_eu_run_among(t, r->stepper, UINT32_MAX, &r->w->host_csr);
    while (is_seen && zs_gpu_history_hit(r->w, t, &hit)) {
        hit.position = position;
        keep(r->h, &hit);
    }
    r->w->debug->reached_count = 0;
    r->position += zs_eu_thread_steps(t) - before;
    return status;
}

/* Many at once, not to the end: the block in whose midst it stands is executed besides, and the
 * last one whole. */
static enum zs_eu_status leap(struct replay *r, struct zs_eu_thread *t, uint64_t steps)
{
    uint64_t before = zs_eu_thread_steps(t);
    if (zs_eu_thread_switch(t, r->runner) != 0)
        return ZS_EU_STOP;
    t->stopped = false;
    enum zs_eu_status status = zs_eu_run_among(
        t, r->runner, ZS_MIN(steps - 2 * (uint64_t)r->h->block_max, (uint64_t)SLICE_STEPS),
        &r->w->host_csr);
    r->position += zs_eu_thread_steps(t) - before;
    return status;
}

static struct zs_gpu_group *find_group(const struct zs_gpu_worker *w, uint64_t index)
{
    for (uint32_t i = 0; i < w->group_count; i++) {
        if (w->groups[i].index == index)
            return &w->groups[i];
    }
    return NULL;
}

/* When the thread went on, the other one of its pair had come, and stands where it came to. */
static bool pair_again(const struct replay *r, struct zs_eu_thread *t)
{
    const struct zs_gpu_group *group = r->w->debug->group;
    uint32_t thread = r->w->debug->thread, other = thread ^ 1;
    if (other >= r->run->threads_per_group || group->threads[other].phase == ZS_GPU_THREAD_NEW ||
        group->threads[other].phase == ZS_GPU_THREAD_DONE)
        return false;
    struct zs_eu_thread *o = &r->w->threads[group->threads[other].slot];
    return zs_eu_thread_pair(thread & 1 ? o : t, thread & 1 ? t : o) == 0;
}

static enum zs_eu_status advance(struct replay *r, struct zs_eu_thread *t, uint64_t steps)
{
    uint64_t end = r->position + steps;
    enum zs_eu_status status = ZS_EU_STOP;
    while (r->position < end && status != ZS_EU_EOT && status != ZS_EU_FAULT) {
        bool is_slow = r->slow && looks(r);
        uint64_t left = (r->slow && !is_slow ? ZS_MIN(end, r->h->look_from) : end) - r->position;
        if (atomic_load_explicit(&r->h->cancel, memory_order_relaxed))
            r->search = r->slow = is_slow = false; /* back to where it was without looking */
        if (!is_slow && left > (uint64_t)SLOW_BLOCKS * r->h->block_max) {
            status = leap(r, t, left);
        } else if (zs_eu_thread_switch(t, r->stepper) != 0) {
            return ZS_EU_FAULT;
        } else {
            uint64_t before = r->position;
            status = single(r, t);
            if (status == ZS_EU_BARRIER && r->position == before)
                return ZS_EU_FAULT; /* it waits where it did not */
        }
        if (status == ZS_EU_PAIR && !pair_again(r, t))
            return ZS_EU_FAULT;
    }
    return status;
}

/* A thread goes on in the version of the code that is the present one. */
static bool take_version(const struct replay *r, struct zs_eu_thread *t)
{
    t->counters = r->h->codes.items[r->version]->replaced ? NULL : r->w->counters;
    return zs_eu_thread_switch(t, r->stepper) == 0;
}

/* When it has not been started yet. */
static bool start(const struct replay *r, struct zs_gpu_group *group, uint32_t thread)
{
    struct zs_gpu_thread_state *state = &group->threads[thread];
    if (state->phase != ZS_GPU_THREAD_NEW)
        return true;
    zs_gpu_start_thread(r->run, r->w, group, thread);
    return take_version(r, &r->w->threads[state->slot]);
}

static bool again_ran(struct replay *r, const struct zs_history_entry *e, uint64_t steps)
{
    struct zs_gpu_group *group = find_group(r->w, e->group);
    if (!group || e->thread >= r->run->threads_per_group ||
        group->threads[e->thread].phase == ZS_GPU_THREAD_DONE)
        return false;
    struct zs_gpu_thread_state *state = &group->threads[e->thread];
    if (!start(r, group, e->thread))
        return false;
    state->phase = ZS_GPU_THREAD_READY;
    struct zs_eu_thread *t = &r->w->threads[state->slot];
    zs_gpu_enter_thread(r->run, r->w, group, e->thread);
    r->w->debug->group = group;
    r->w->debug->thread = e->thread;
    const struct zs_history_request *request = &r->h->request;
    bool all = request->code_count || request->range_count;
    r->slow =
        r->search && (all || (e->group == r->h->from_group && e->thread == r->h->from_thread));
    uint64_t end = r->position + steps;
    bool ends = e->ended && steps == e->value;
    enum zs_eu_status status = advance(r, t, steps);
    if (ends && status != ZS_EU_EOT && status != ZS_EU_FAULT)
        status = zs_eu_run_among(t, t->program, 1, &r->w->host_csr);
    group->arrived += r->w->port.barrier_signals;
    r->w->port.barrier_signals = 0;
    if (status == ZS_EU_FAULT || r->position != end || ends != (status == ZS_EU_EOT))
        return false;
    if (ends)
        zs_gpu_end_thread(r->w, group, e->thread);
    if (group->live == 0)
        zs_gpu_drop_group(r->run, r->w, (uint32_t)(group - r->w->groups));
    return true;
}

static bool again_admitted(struct replay *r, const struct zs_history_entry *e)
{
    struct zs_gpu_run *run = r->run;
    if (r->w->group_count >= r->w->group_limit)
        return false;
    if (!(run->launch->flags & ZS_GPU_LAUNCH_COOPERATIVE)) {
        uint32_t i = e->value - run->workers_max;
        if (e->value == r->w->index)
            r->w->place_taken = true;
        else
            run->shared_places[i / 64] |= 1ull << i % 64;
    }
    zs_gpu_admit_group(run, r->w, e->group, e->value);
    atomic_store(&run->next_group, e->group + 1ull);
    return true;
}

static bool again_written(struct replay *r, const struct zs_history_write *write)
{
    if (write->kind == ZS_WRITTEN_MEMORY) {
        memcpy((void *)(uintptr_t)write->at, write->bytes, write->size_B);
        return true;
    }
    struct zs_gpu_group *group = find_group(r->w, write->group);
    if (!group || write->thread >= r->run->threads_per_group)
        return false;
    if (write->kind == ZS_WRITTEN_LOCAL) {
        memcpy(group->slm + write->at, write->bytes, write->size_B);
        return true;
    }
    struct zs_gpu_thread_state *state = &group->threads[write->thread];
    if (state->phase == ZS_GPU_THREAD_DONE || !start(r, group, write->thread))
        return false;
    return zs_gpu_debug_write_again(r->run, &r->w->threads[state->slot], write) == 0;
}

static bool mark_codes(const struct replay *r)
{
    const struct zs_eu_program *program = r->stepper;
    struct zs_gpu_history *h = r->h;
    uint32_t count = zs_eu_program_inst_count(program);
    struct zs_eu_inst_info info;
    free(h->marked);
    h->marked = calloc(count + 1u, 1);
    for (uint32_t i = 0; h->marked && i < count; i++) {
        if (!zs_eu_program_inst(program, i, &info))
            continue;
        uint64_t va = r->run->kernel->debug->base_va + zs_eu_program_ip(program, info.offset_B);
        for (uint32_t k = 0; k < h->request.code_count; k++)
            h->marked[i] |= h->request.codes[k] == va;
    }
    return h->marked != NULL;
}

/* Under the lock. */
static bool use_version(struct replay *r, uint32_t version)
{
    struct zs_gpu_kernel *kernel = (struct zs_gpu_kernel *)(uintptr_t)r->run->kernel;
    if (version >= r->h->codes.count)
        return false;
    struct zs_gpu_code *code = r->h->codes.items[version];
    r->version = version;
    r->stepper = zs_gpu_code_stepper(kernel, code);
    r->runner = zs_gpu_code_runner(kernel, code);
    if (!r->stepper || !r->runner)
        return false;
    r->h->block_max = ZS_MAX(r->h->block_max, longest_block(r->runner));
    return !r->search || mark_codes(r);
}

/* Where the debugger wrote code: those that stand somewhere go on in the new one. */
static bool again_code(struct replay *r, uint32_t version)
{
    pthread_mutex_lock(&r->run->debug->debug->lock);
    bool ok = use_version(r, version);
    pthread_mutex_unlock(&r->run->debug->debug->lock);
    for (uint32_t g = 0; g < r->w->group_count; g++) {
        for (uint32_t i = 0; ok && i < r->run->threads_per_group; i++) {
            const struct zs_gpu_thread_state *state = &r->w->groups[g].threads[i];
            if (state->phase != ZS_GPU_THREAD_NEW && state->phase != ZS_GPU_THREAD_DONE)
                ok = take_version(r, &r->w->threads[state->slot]);
        }
    }
    return ok;
}

static bool again(struct replay *r, const struct zs_history_entry *e)
{
    struct zs_gpu_group *group;
    if (e->kind == ZS_ENTRY_WRITTEN)
        return again_written(r, &r->h->writes.items[e->value]);
    if (e->kind == ZS_ENTRY_CODE)
        return again_code(r, e->value);
    if (e->kind == ZS_ENTRY_ADMITTED)
        return again_admitted(r, e);
    if (e->kind == ZS_ENTRY_RAN)
        return again_ran(r, e, e->value);
    group = find_group(r->w, e->group);
    if (group)
        zs_gpu_release_barrier(r->run, r->w, group);
    return group != NULL;
}

/* Up to a position. *ret_followed: entries that were followed, the last of them perhaps in part. */
static bool follow(struct replay *r, uint64_t to, size_t *ret_followed)
{
    struct zs_gpu_history *h = r->h;
    size_t i = 0;
    for (; i < h->entries.count; i++) {
        struct zs_history_entry *e = &h->entries.items[i];
        if (e->kind == ZS_ENTRY_RAN && r->position + e->value > to)
            break;
        if (!again(r, e))
            return false;
    }
    *ret_followed = i;
    if (r->position == to)
        return true;
    if (i == h->entries.count || !again_ran(r, &h->entries.items[i], to - r->position))
        return false;
    (*ret_followed)++;
    return true;
}

/* The history ends here now. Under the lock. */
static void forget_future(struct replay *r, size_t followed)
{
    struct zs_gpu_history *h = r->h;
    uint64_t position = 0, to = h->to;
    size_t writes = 0;
    for (size_t i = 0; i < followed; i++) {
        struct zs_history_entry *e = &h->entries.items[i];
        writes += e->kind == ZS_ENTRY_WRITTEN;
        if (e->kind != ZS_ENTRY_RAN)
            continue;
        if (position + e->value > to) {
            e->value = (uint32_t)(to - position);
            e->ended = false;
        }
        position += e->value;
    }
    while (h->writes.count > writes)
        free(h->writes.items[--h->writes.count].bytes);
    h->writes_taken = writes;
    h->entries.count = followed;
    h->position = to;
    if (h->version != r->version)
        zs_gpu_code_restore((struct zs_gpu_kernel *)(uintptr_t)r->run->kernel,
                            h->codes.items[r->version]);
    h->version = r->version;
}

/* What the search looks for takes the place of what is watched, which comes back with
 * zs_gpu_history_look(). */
static void watch_searched(struct zs_gpu_debug_worker *dw, const struct zs_history_request *search)
{
    dw->reached_count = 0;
    dw->watch_count = search ? search->range_count : 0;
    if (search)
        memcpy(dw->watches, search->ranges, dw->watch_count * sizeof(*dw->watches));
}

bool zs_gpu_history_is_asked(const struct zs_gpu_run *run)
{
    return run->history && run->history->asked;
}

static bool begin_replay(struct replay *r)
{
    struct zs_gpu_run *run = r->run;
    pthread_mutex_t *lock = &run->debug->debug->lock;
    pthread_mutex_lock(lock);
    r->h->asked = false;
    r->search = r->h->request.op == ZS_HISTORY_SEARCH;
    r->trace = r->search && (r->h->request.flags & ZS_HISTORY_TRACE);
    if (r->search && !r->h->hits)
        r->h->hits = calloc(ZS_HISTORY_KEPT_MAX, sizeof(*r->h->hits));
    if (r->search)
        r->h->hits_total = 0;
    bool ok = (!r->search || r->h->hits) && use_version(r, 0);
    if (ok) {
        zs_gpu_debug_take_back(r->w);
        watch_searched(r->w->debug, r->search ? &r->h->request : NULL);
    } else {
        zs_gpu_history_lose(run, ZS_HISTORY_NO_MEMORY);
        r->h->busy = false;
    }
    pthread_mutex_unlock(lock);
    return ok;
}

void zs_gpu_history_serve(struct zs_gpu_run *run, struct zs_gpu_worker *w)
{
    struct zs_gpu_history *h = run->history;
    struct replay r = {.run = run, .w = w, .h = h};
    size_t followed = 0;
    if (!begin_replay(&r))
        return;
    h->replaying = true;
    zs_gpu_worker_rewind(run, w);
    bool ok = restore(run, w) && follow(&r, h->to, &followed);
    h->replaying = false;
    pthread_mutex_lock(&run->debug->debug->lock);
    if (!ok)
        zs_gpu_history_lose(run, ZS_HISTORY_OTHERWISE);
    else if (!r.search)
        forget_future(&r, followed);
    w->debug->reached_count = 0;
    zs_gpu_debug_hold_resident(run, w);
    h->busy = false;
    pthread_mutex_unlock(&run->debug->debug->lock);
}
