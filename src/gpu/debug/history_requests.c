/* SPDX-License-Identifier: MIT */
/* What debuggers ask of histories, under the debug lock: the worker of the launch does the work. */
#include "gpu/debug/history_priv.h"

#include "base/vec.h"

#include <errno.h>
#include <stdlib.h>

struct asked {
    struct zs_gpu_debug_session *session;
    struct zs_gpu_debug_card *card;
    const struct zs_history_request *request;
    struct zs_gpu_debug_thread *thread; /* NULL: none that is held */
    struct zs_history_answer *answer;
};

typedef int request_fn(const struct asked *a);

static struct zs_gpu_history *history_of(const struct asked *a)
{
    return a->thread ? a->thread->run->history : NULL;
}

/* ---- without a history -------------------------------------------------------------------------
 */

static int do_status(const struct asked *a)
{
    (void)a; /* all answers have it */
    return 0;
}

static int do_mode(const struct asked *a)
{
    if (a->request->mode > ZS_HISTORY_ON)
        return -EINVAL;
    a->card->mode = (enum zs_history_mode)a->request->mode;
    return 0;
}

static int do_launch(const struct asked *a)
{
    if (a->request->position && a->request->position <= a->card->launches)
        return -ENODATA;
    a->card->stop_launch = a->request->position;
    return 0;
}

static int do_watch(const struct asked *a)
{
    struct zs_history_range ranges[ZS_HISTORY_RANGES_MAX];
    const struct zs_history_request *request = a->request;
    if (!zs_history_take_ranges(request, a->thread, ranges))
        return -EINVAL;
    memcpy(a->card->watches, ranges, request->range_count * sizeof(*ranges));
    a->card->watch_count = request->range_count;
    memcpy(a->answer->ranges, ranges, request->range_count * sizeof(*ranges));
    a->answer->range_count = request->range_count;
    zs_gpu_debug_change_epoch(a->card->debug);
    return 0;
}

static int do_stop(const struct asked *a)
{
    if (!a->thread)
        return -EAGAIN;
    a->answer->hits[0] = a->thread->hit;
    a->answer->count = a->thread->hit.kind != ZS_HISTORY_NONE;
    return 0;
}

static int do_find(const struct asked *a)
{
    const struct zs_gpu_debug_card *card = a->card;
    if (!a->thread)
        return -EAGAIN;
    for (uint32_t i = 0; i < card->count; i++) {
        const struct zs_gpu_debug_thread *t = &card->threads[i];
        struct zs_gpu_hw_thread id = zs_gpu_debug_id(card, i);
        uint32_t group[3];
        if (t->state != ZS_GPU_DEBUG_HELD || t->run != a->thread->run ||
            t->thread != a->request->first ||
            id.slice - a->session->first_slice >= a->session->slice_count)
            continue;
        zs_gpu_group_id(t->run->launch, t->group, group);
        if (group[0] != a->request->codes[0] || group[1] != a->request->codes[1] ||
            group[2] != a->request->codes[2])
            continue;
        a->answer->count = 1;
        a->answer->hits[0].place = (struct zs_history_thread){id.slice - a->session->first_slice,
                                                              id.subslice, id.eu, id.thread};
        return 0;
    }
    return -ENODATA;
}

static int do_items(const struct asked *a)
{
    struct zs_history_items *items = &a->answer->items;
    if (!a->thread)
        return -EAGAIN;
    const struct zs_gpu_run *run = a->thread->run;
    const struct zs_gpu_launch *launch = run->launch;
    uint32_t simd = run->kernel->module->simd, first = a->thread->thread * simd;
    zs_gpu_group_id(launch, a->thread->group, items->group);
    memcpy(items->group_size, launch->group_size, sizeof(items->group_size));
    memcpy(items->global_offset, launch->global_offset, sizeof(items->global_offset));
    items->thread = a->thread->thread;
    for (uint32_t lane = 0; lane < ZS_MIN(simd, (uint32_t)ZS_HISTORY_LANES_MAX); lane++) {
        if (first + lane >= run->group_items)
            break;
        items->lanes |= 1u << lane;
        zs_gpu_local_id(run->kernel, launch->group_size, first + lane, items->local_id[lane]);
    }
    a->answer->count = 1;
    return 0;
}

static int do_fault(const struct asked *a)
{
    if (!a->thread)
        return -EAGAIN;
    a->answer->memory = a->thread->access;
    a->answer->count = a->thread->faulted && a->thread->access.what[0];
    return 0;
}

static int do_near(const struct asked *a)
{
    struct zs_history_memory *m = &a->answer->memory;
    struct zs_gpu_allocation nearest[2];
    if (!a->thread)
        return -EAGAIN;
    if (!zs_gpu_memory_nearest(a->thread->run->launch->memory, a->request->position, nearest))
        return 0;
    m->is_freed = nearest[0].freed;
    m->allocation_va = nearest[0].gpu_va;
    m->allocation_B = nearest[0].size_B;
    a->answer->count = 1;
    return 0;
}

/* ---- the worker is asked -----------------------------------------------------------------------
 */

/* At least one is, and none of them runs. */
static bool all_held(const struct zs_gpu_debug_card *card, const struct zs_gpu_run *run)
{
    bool any = false;
    for (uint32_t i = 0; i < card->count; i++) {
        const struct zs_gpu_debug_thread *thread = &card->threads[i];
        if (thread->state != ZS_GPU_DEBUG_FREE && thread->run == run &&
            !zs_gpu_debug_is_stopped(thread))
            return false;
        any |= thread->state == ZS_GPU_DEBUG_HELD && thread->run == run;
    }
    return any;
}

static int ask(const struct asked *a, uint64_t to)
{
    struct zs_gpu_history *h = history_of(a);
    if (!a->thread)
        return -EAGAIN;
    if (!h || h->lack != ZS_HISTORY_WHOLE || to > h->position)
        return -ENODATA;
    if (h->busy || !all_held(a->card, a->thread->run))
        return -EBUSY;
    h->request = *a->request;
    if (!zs_history_take_ranges(a->request, a->thread, h->request.ranges))
        return -EINVAL;
    h->to = to;
    h->from_group = a->thread->group;
    h->from_thread = a->thread->thread;
    h->asked = h->busy = true;
    atomic_store(&h->cancel, false);
    pthread_cond_broadcast(&a->card->debug->wake);
    return 0;
}

static int do_go(const struct asked *a)
{
    return ask(a, a->request->position);
}

/* The position in front of the thread's last instruction but count - 1. */
static bool find_back(const struct zs_gpu_history *h, const struct zs_gpu_debug_thread *thread,
                      uint64_t count, uint64_t *ret_position)
{
    uint64_t position = h->position;
    for (size_t i = h->entries.count; i-- > 0;) {
        const struct zs_history_entry *e = &h->entries.items[i];
        if (e->kind != ZS_ENTRY_RAN)
            continue;
        if (e->group == thread->group && e->thread == thread->thread) {
            if (e->value >= count) {
                *ret_position = position - count;
                return true;
            }
            count -= e->value;
        }
        position -= e->value;
    }
    return false;
}

static int do_back(const struct asked *a)
{
    struct zs_gpu_history *h = history_of(a);
    uint64_t to = 0;
    if (!a->thread)
        return -EAGAIN;
    if (h && (h->busy || !all_held(a->card, a->thread->run)))
        return -EBUSY; /* the worker may be adding to it */
    if (!h || h->lack != ZS_HISTORY_WHOLE ||
        !find_back(h, a->thread, ZS_MAX(a->request->count, 1u), &to))
        return -ENODATA;
    a->answer->at = to;
    return ask(a, to);
}

static int do_search(const struct asked *a)
{
    struct zs_gpu_history *h = history_of(a);
    int error = ask(a, h ? h->position : 0);
    uint64_t last = a->request->position;
    if (!error)
        h->look_from = last && last < h->position ? h->position - last : 0;
    return error;
}

static int do_hits(const struct asked *a)
{
    const struct zs_gpu_history *h = history_of(a);
    if (!h || h->busy || !h->hits)
        return h && h->busy ? -EBUSY : -ENODATA;
    uint64_t kept = ZS_MIN(h->hits_total, (uint64_t)ZS_HISTORY_KEPT_MAX);
    uint64_t oldest = h->hits_total - kept;
    uint32_t count = ZS_MIN(a->request->count, (uint32_t)ZS_HISTORY_HITS_MAX);
    for (uint32_t i = 0; i < count && a->request->first + (uint64_t)i < kept; i++)
        a->answer->hits[a->answer->count++] =
            h->hits[(oldest + a->request->first + i) % ZS_HISTORY_KEPT_MAX];
    return 0;
}

static int do_cancel(const struct asked *a)
{
    for (struct zs_gpu_run *run = a->card->runs; run; run = run->next) {
        if (run->history)
            atomic_store(&run->history->cancel, true);
    }
    return 0;
}

static request_fn *const requests[ZS_HISTORY_OP_COUNT] = {
    [ZS_HISTORY_STATUS] = do_status, [ZS_HISTORY_MODE] = do_mode,
    [ZS_HISTORY_LAUNCH] = do_launch, [ZS_HISTORY_GO] = do_go,
    [ZS_HISTORY_BACK] = do_back,     [ZS_HISTORY_SEARCH] = do_search,
    [ZS_HISTORY_HITS] = do_hits,     [ZS_HISTORY_WATCH] = do_watch,
    [ZS_HISTORY_STOP] = do_stop,     [ZS_HISTORY_FIND] = do_find,
    [ZS_HISTORY_CANCEL] = do_cancel, [ZS_HISTORY_ITEMS] = do_items,
    [ZS_HISTORY_FAULT] = do_fault,   [ZS_HISTORY_NEAR] = do_near,
};

/* ---- answers -----------------------------------------------------------------------------------
 */

static void answer_status(const struct asked *a)
{
    struct zs_history_answer *answer = a->answer;
    const struct zs_gpu_history *h = history_of(a);
    answer->launches = a->card->launches;
    for (const struct zs_gpu_run *run = a->card->runs; run; run = run->next) {
        if (run->history && run->history->busy)
            answer->flags |= ZS_HISTORY_BUSY;
    }
    answer->lack = h ? h->lack : ZS_HISTORY_NOT_RECORDED;
    if (!a->thread)
        return;
    answer->launch = a->thread->run->number;
    if (!h)
        return;
    answer->position = h->position;
    if (h->busy)
        return;
    answer->hit_count = (uint32_t)ZS_MIN(h->hits_total, (uint64_t)ZS_HISTORY_KEPT_MAX);
    answer->hits_lost = h->hits_total > ZS_HISTORY_KEPT_MAX;
}

int zs_gpu_history_request(struct zs_gpu_debug_session *session,
                           const struct zs_history_request *request,
                           struct zs_history_answer *ret_answer)
{
    struct asked a = {
        .session = session, .card = session->card, .request = request, .answer = ret_answer};
    const struct zs_gpu_hw_thread id = {request->thread.slice, request->thread.subslice,
                                        request->thread.eu, request->thread.thread};
    memset(ret_answer, 0, sizeof(*ret_answer));
    ret_answer->magic = ZS_HISTORY_MAGIC;
    ret_answer->version = ZS_HISTORY_VERSION;
    if (request->magic != ZS_HISTORY_MAGIC || request->version != ZS_HISTORY_VERSION ||
        request->op >= ZS_HISTORY_OP_COUNT || request->code_count > ZS_HISTORY_CODES_MAX ||
        request->range_count > ZS_HISTORY_RANGES_MAX)
        return -EINVAL;
    pthread_mutex_lock(&a.card->debug->lock);
    if (zs_gpu_debug_held(session, &id, &a.thread) != 0)
        a.thread = NULL;
    int error = requests[request->op](&a);
    answer_status(&a);
    pthread_mutex_unlock(&a.card->debug->lock);
    return error;
}

void zs_gpu_history_writes(struct zs_gpu_debug_session *session, uint64_t gpu_va, const void *bytes,
                           size_t size_B)
{
    struct zs_gpu_debug_card *card = session->card;
    const struct zs_history_write write = {.kind = ZS_WRITTEN_MEMORY,
                                           .at = gpu_va,
                                           .size_B = size_B,
                                           .bytes = (uint8_t *)(uintptr_t)bytes};
    pthread_mutex_lock(&card->debug->lock);
    for (struct zs_gpu_run *run = card->runs; run; run = run->next)
        zs_gpu_history_log(run, &write);
    pthread_mutex_unlock(&card->debug->lock);
}

void zs_gpu_history_log(struct zs_gpu_run *run, const struct zs_history_write *write)
{
    struct zs_gpu_history *h = run->history;
    struct zs_history_write own = *write;
    if (!h || h->lack != ZS_HISTORY_WHOLE || !write->size_B)
        return;
    bool settled =
        !h->busy && !h->asked && (write->kind == ZS_WRITTEN_REGISTERS || all_held(run->debug, run));
    int error = settled ? 0 : -EBUSY;
    if (!error && write->kind == ZS_WRITTEN_MEMORY)
        error = zs_history_save(&h->saved, write->at, write->size_B);
    own.bytes = error ? NULL : malloc(write->size_B);
    if (own.bytes)
        memcpy(own.bytes, write->bytes, write->size_B);
    if (own.bytes && ZS_VEC_PUSH(&h->writes, own))
        return;
    free(own.bytes);
    zs_gpu_history_lose(run, error == -EBUSY   ? ZS_HISTORY_MODIFIED
                             : error == -E2BIG ? ZS_HISTORY_TOO_LARGE
                                               : ZS_HISTORY_NO_MEMORY);
}
