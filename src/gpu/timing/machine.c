/* SPDX-License-Identifier: MIT */
/* A replay's device, and the streams that its threads read. */
#include "gpu/timing/replay.h"

#include "base/hash.h"
#include "base/index.h"
#include "base/vec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Times of the scoreboard have 30 bits. Replays end long before; one that does not is cut here. */
static const uint64_t CYCLES_MOST = UINT64_C(1) << 29;

/* ---- names of memory ---------------------------------------------------------------------------
 * Where an allocation lies is the host's affair: in the replay they are numbered as the streams
 * name them, in the order of groups and threads.
 */

struct names {
    struct zs_index index;
    uint64_t *items; /* starts */
    size_t count, capacity;
};

static uint64_t hash_start(const void *starts, size_t i)
{
    return zs_hash_u64(0, ((const uint64_t *)starts)[i]);
}

/* 0: no memory. */
static uint32_t name_of(struct names *n, uint64_t start)
{
    if (!zs_index_reserve(&n->index, n->count, hash_start, n->items))
        return 0;
    uint32_t *slot = zs_index_first(&n->index, zs_hash_u64(0, start));
    while (*slot && n->items[*slot - 1] != start)
        slot = zs_index_next(&n->index, slot);
    if (!*slot) {
        if (!ZS_VEC_PUSH(n, start))
            return 0;
        *slot = (uint32_t)n->count;
    }
    return *slot - 1 + ZS_TIMING_RANGE_FIRST;
}

int zs_timing_name_ranges(struct zs_timing_trace *trace)
{
    struct names names = {0};
    int error = 0;
    for (uint64_t i = 0; i < trace->sampled * trace->launch.threads_per_group; i++) {
        struct zs_timing_stream *s = &trace->streams[i];
        for (uint32_t r = 0; r < s->range_count && !error; r++) {
            uint32_t ordinal = name_of(&names, s->ranges[r]);
            s->ranges[r] = ordinal;
            error = ordinal ? 0 : -ENOMEM;
        }
    }
    zs_index_fini(&names.index);
    free(names.items);
    return error;
}

/* ---- set up ------------------------------------------------------------------------------------
 */

static bool allocate(struct zs_timing_machine *m)
{
    m->eus = calloc(m->eu_count, sizeof(*m->eus));
    m->keys = calloc(m->eu_count, sizeof(*m->keys));
    m->least = calloc(m->subslice_count, sizeof(*m->least));
    size_t threads_B = (size_t)m->thread_count * sizeof(*m->threads);
    m->threads = aligned_alloc(_Alignof(struct zs_timing_thread), threads_B);
    if (m->threads)
        memset(m->threads, 0, threads_B);
    m->slots = calloc((size_t)m->eu_count * m->threads_per_eu, sizeof(*m->slots));
    m->groups = calloc(m->group_count + 1, sizeof(*m->groups));
    m->members =
        calloc(m->group_count * m->threads_per_group + 1, sizeof(struct zs_timing_thread *));
    m->places = calloc(m->subslice_count, sizeof(*m->places));
    m->dispatch_free = calloc(m->subslice_count, sizeof(*m->dispatch_free));
    m->ready = calloc((size_t)m->thread_count * m->code->slot_count, sizeof(*m->ready));
    m->tallies = calloc((size_t)m->code->op_count + 1, sizeof(*m->tallies));
    m->accesses = calloc(((size_t)m->code->op_count + 1) * ZS_GPU_ACCESSES, sizeof(*m->accesses));
    m->stores = calloc((size_t)m->code->op_count + 1, sizeof(*m->stores));
    m->left_out = calloc((size_t)m->code->op_count + 1, sizeof(*m->left_out));
    m->unheard_of = calloc((size_t)m->code->op_count + 1, sizeof(*m->unheard_of));
    return m->ready && m->unheard_of && m->tallies && m->accesses && m->left_out && m->eus &&
           m->keys && m->least && m->threads && m->slots && m->groups && m->members && m->places &&
           m->dispatch_free && m->stores;
}

/* Windows that any thread of the group gave up. */
static uint32_t stride_of(const struct zs_timing_machine *m, uint64_t group)
{
    uint32_t stride = 1; /* powers of two */
    for (uint32_t i = 0; i < m->threads_per_group; i++)
        stride = ZS_MAX(stride, m->streams[group * m->threads_per_group + i].stride);
    return stride;
}

int zs_timing_machine_init(struct zs_timing_machine *m, struct zs_timing_trace *trace,
                           const struct zs_timing_reuse *reuse, struct zs_gpu_timing *totals)
{
    const struct zs_timing_launch *l = &trace->launch;
    const struct zs_gpu_model *model = l->model;
    *m = (struct zs_timing_machine){
        .params = l->params,
        .code = l->code,
        .totals = totals,
        .without = l->without,
        .grf_B = model->grf_B,
        .eu_count = zs_gpu_model_eus(model),
        .eus_per_subslice = model->eus_per_subslice,
        .subslice_count = model->slices * model->subslices_per_slice,
        .subslices_per_slice = model->subslices_per_slice,
        .threads_per_eu = l->threads_per_eu,
        .thread_count = zs_gpu_model_eus(model) * l->threads_per_eu,
        .threads_per_group = l->threads_per_group,
        .slm_B = l->slm_B,
        .has_barriers = l->has_barriers,
        .group_count = trace->sampled,
        .run_groups = trace->chunk_groups,
        .reuse_groups = reuse ? zs_timing_reuse_groups(reuse) : trace->chunk_groups,
        .resident_groups = trace->resident_groups,
        .streams = trace->streams,
        .dispatch_cost = l->params->dispatch_cycles +
                         l->payload_grf / ZS_MAX(l->params->payload_grf_per_cycle, 1u),
        .window_end = UINT64_MAX,
    };
    zs_assert(m->eu_count < 1u << ZS_TIMING_EU_BITS);
    int error = zs_timing_hierarchy_init(&m->hierarchy, l, reuse, totals);
    if (!error)
        error = allocate(m) ? 0 : -ENOMEM;
    for (uint32_t i = 0; i < m->eu_count && !error; i++) {
        m->eus[i].subslice = i / m->eus_per_subslice;
        m->keys[i] = UINT64_MAX;
    }
    for (uint32_t i = 0; i < m->eu_count * m->threads_per_eu && !error; i++)
        zs_timing_set_never(&m->slots[i]);
    for (uint32_t i = 0; i < m->subslice_count && !error; i++)
        m->least[i] = UINT64_MAX;
    for (uint64_t i = 0; i < m->group_count && !error; i++)
        m->groups[i].stride = stride_of(m, i);
    return error;
}

void zs_timing_machine_fini(struct zs_timing_machine *m, struct zs_timing_store *store)
{
    zs_timing_hierarchy_fini(&m->hierarchy, store);
    free(m->eus);
    free(m->keys);
    free(m->least);
    free(m->threads);
    free(m->slots);
    free(m->groups);
    free(m->members);
    free(m->places);
    free(m->dispatch_free);
    free(m->ready);
    free(m->tallies);
    free(m->accesses);
    free(m->stores);
    free(m->left_out);
    free(m->unheard_of);
}

/* ---- blocks ------------------------------------------------------------------------------------
 */

static bool next_window(struct zs_timing_machine *m, struct zs_timing_thread *th)
{
    const struct zs_timing_stream *s = th->stream;
    uint32_t stride = m->groups[th->group].stride, own = ZS_MAX(s->stride, 1u);
    /* those that no thread of the group gave up */
    th->window = th->window == UINT32_MAX ? s->turn % stride / own : th->window + stride / own;
    if (th->window >= s->window_count || m->now > CYCLES_MOST)
        return false;
    th->at = s->windows[th->window];
    th->end = th->window + 1 < s->window_count ? s->windows[th->window + 1] : s->count;
    uint32_t arrived = s->words[th->at] & 0x3fffffff;
    if (arrived > th->arrived) /* what it waited for lies in what was left out */
        th->arrived = th->passed = arrived;
    th->mask = s->words[th->at + 1];
    th->at += 2;
    return true;
}

bool zs_timing_find_block(struct zs_timing_machine *m, struct zs_timing_thread *th)
{
    while (th->inst >= th->inst_end) {
        if (th->at >= th->end) {
            if (!next_window(m, th))
                return false;
            continue;
        }
        const uint32_t *words = th->stream->words + th->at;
        uint32_t kind = words[0] >> 30;
        if (kind == ZS_TIMING_WORD_BLOCK) {
            th->inst = words[0] & 0x3fffffff;
            th->inst_end = ZS_MIN(th->inst + words[1], m->code->op_count);
            m->seen += words[1];
        } else if (kind == ZS_TIMING_WORD_MASK) {
            th->mask = words[1];
        }
        th->at += 2 + (kind == ZS_TIMING_WORD_MESSAGE ? 2 * (words[0] >> 20 & 1023) : 0);
    }
    return true;
}
