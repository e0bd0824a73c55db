/* SPDX-License-Identifier: MIT */
/* A replay's device, and the streams that its threads read. */
#include "gpu/timing/replay.h"

#include "base/hash.h"
#include "base/index.h"
#include "base/vec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t BUDGET = 400000; /* instructions that are replayed of any launch */
enum {
    BUDGET_SHARE = 16, /* ... of longer ones one in so many */
    WAVES_LEAST = 3,   /* of groups */
};

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
    size_t ops = (size_t)m->code->op_count + 1;
    size_t threads_B = (size_t)m->eu_count * m->threads_per_eu;
    m->thread_B = (size_t)zs_align_up(sizeof(struct zs_timing_thread) +
                                          m->code->response_count * sizeof(uint64_t),
                                      _Alignof(struct zs_timing_thread));
    threads_B *= m->thread_B;
    m->eus = calloc(m->eu_count, sizeof(*m->eus));
    m->keys = calloc(2 * (size_t)m->leaves, sizeof(*m->keys));
    m->threads = aligned_alloc(_Alignof(struct zs_timing_thread), threads_B);
    m->groups = calloc(m->group_count + 1, sizeof(*m->groups));
    m->members =
        calloc(m->group_count * m->threads_per_group + 1, sizeof(struct zs_timing_thread *));
    m->places = calloc(m->subslice_count, sizeof(*m->places));
    m->dispatch_free = calloc(m->dispatcher_count, sizeof(*m->dispatch_free));
    m->stores = calloc(ops, sizeof(*m->stores));
    bool phases = m->stores != NULL;
    for (uint32_t i = 0; i < (m->in_part ? ZS_TIMING_PHASES : 1); i++) {
        m->phases[i].tallies = calloc(ops, sizeof(*m->phases[i].tallies));
        m->phases[i].accesses = calloc(ops * ZS_GPU_ACCESSES, sizeof(*m->phases[i].accesses));
        m->phases[i].due = calloc(ops, sizeof(*m->phases[i].due));
        phases = phases && m->phases[i].tallies && m->phases[i].accesses && m->phases[i].due;
    }
    return phases && m->eus && m->keys && m->threads && m->groups && m->members && m->places &&
           m->dispatch_free;
}

static void set_up(struct zs_timing_machine *m)
{
    for (uint32_t i = 0; i < m->eu_count; i++) {
        struct zs_timing_eu *eu = &m->eus[i];
        *eu = (struct zs_timing_eu){.number = i, .subslice = i / m->eus_per_subslice};
        for (uint32_t k = 0; k < ZS_TIMING_PLACES; k++)
            eu->when[k] = ZS_TIMING_NEVER;
    }
    for (uint32_t i = 0; i < m->subslice_count; i++)
        m->places[i].free = m->eus_per_subslice * m->threads_per_eu;
    memset(m->keys, 0xff, 2 * (size_t)m->leaves * sizeof(*m->keys));
}

struct zs_timing_stream *zs_timing_stream_of(const struct zs_timing_machine *m, uint64_t group,
                                             uint64_t member)
{
    uint64_t number = m->part->groups ? m->part->groups[group] : group;
    return &m->streams[number * m->threads_per_group + member];
}

/* Where more was recorded than there is a budget for, whole waves of groups are left out: the last
 * ones of the launch's first groups, so that the cache has what neighbours read. */
static void choose_skipped(struct zs_timing_machine *m, const struct zs_timing_trace *trace)
{
    const struct zs_timing_part *part = m->part;
    uint64_t recorded = 0, count = part->group_count, last = count - part->first_groups;
    uint64_t wave = m->resident_groups;
    uint64_t budget = ZS_MAX(BUDGET, trace->instructions / BUDGET_SHARE), skipped = 0;
    bool full = false;
    m->lanes = trace->launch.simd;
    for (uint64_t i = 0; i < count * m->threads_per_group; i++) {
        const struct zs_timing_stream *s =
            zs_timing_stream_of(m, i / m->threads_per_group, i % m->threads_per_group);
        recorded += s->recorded;
        full = full || s->full;
        /* the first word says which lanes are on */
        if (!trace->launch.simd && s->count > 1 && s->words[0] >> 30 == ZS_TIMING_WORD_MASK)
            m->lanes = ZS_MAX(m->lanes, (uint32_t)__builtin_popcount(s->words[1]));
    }
    if (recorded > budget && !trace->launch.exact) {
        uint64_t most = count - ZS_MIN(count, wave * WAVES_LEAST + last);
        uint64_t wanted = (uint64_t)((double)count * (1 - (double)budget / (double)recorded));
        skipped = ZS_MIN(wanted, most) / wave * wave;
    }
    m->skip_until = part->first_groups;
    m->skip_from = part->first_groups - skipped;
    m->skips = skipped || trace->sampled < trace->launch.group_count;
    m->in_part = full || m->skips;
    m->join_groups = ZS_MAX(2 * wave, last / 2); /* the first of them have ended */
    m->warm_groups = ZS_MAX(wave, m->skip_from / 2);
    m->one_wave = count <= wave;
    m->slice_length = recorded / (ZS_TIMING_SLICES / 2) + 1;
    if (skipped)
        m->slice_length = m->slice_length * (count - skipped) / count + 1;
}

int zs_timing_machine_init(struct zs_timing_machine *m, struct zs_timing_trace *trace)
{
    const struct zs_timing_launch *l = &trace->launch;
    const struct zs_gpu_model *model = l->model;
    uint32_t share = trace->part.share;
    *m = (struct zs_timing_machine){
        .params = l->params,
        .code = l->code,
        .without = l->without,
        .atomics_meet = l->atomics_meet,
        .grf_B = model->grf_B,
        .part = &trace->part,
        .eu_count = zs_gpu_model_eus(model) / share,
        .eus_per_subslice = model->eus_per_subslice,
        .subslice_count = model->slices * model->subslices_per_slice / share,
        .dispatcher_count = ZS_MAX(model->slices / share, 1u),
        .threads_per_eu = l->threads_per_eu,
        .threads_per_group = l->threads_per_group,
        .slm_B = l->slm_B,
        .has_barriers = l->has_barriers,
        .group_count = trace->part.group_count,
        .resident_groups = trace->resident_groups / share,
        .streams = trace->streams,
        .dwords = trace->arenas[0].dwords,
        .leaves = 1,
        .dispatch_cost = l->params->dispatch_cycles +
                         l->payload_grf / ZS_MAX(l->params->payload_grf_per_cycle, 1u),
    };
    if (model->slices == 1) /* its dispatcher has the others to do, too */
        m->dispatch_others = m->dispatch_cost * l->threads_per_group * (share - 1);
    zs_assert(m->eu_count < 1u << ZS_TIMING_EU_BITS && m->threads_per_eu <= ZS_TIMING_PLACES);
    while (m->leaves < m->eu_count)
        m->leaves *= 2;
    m->phase = &m->phases[ZS_TIMING_HEAD];
    choose_skipped(m, trace);
    int error = zs_timing_hierarchy_init(&m->hierarchy, trace, &m->phase->totals);
    if (!error)
        error = zs_timing_bursts_init(&m->bursts, l->code);
    if (!error && m->without != ZS_TIMING_GAIN_fetch)
        error = zs_timing_fetch_init(&m->fetch, l->code, m->subslice_count);
    if (!error)
        error = allocate(m) ? 0 : -ENOMEM;
    if (!error)
        set_up(m);
    if (!error && m->without == ZS_TIMING_GAIN_divergence && m->has_barriers &&
        m->threads_per_group > 1)
        zs_timing_find_busiest(m);
    return error;
}

void zs_timing_machine_fini(struct zs_timing_machine *m, struct zs_timing_store *store)
{
    zs_timing_hierarchy_fini(&m->hierarchy, store);
    zs_timing_bursts_fini(&m->bursts);
    zs_timing_fetch_fini(&m->fetch);
    for (uint32_t i = 0; i < ZS_TIMING_PHASES; i++) {
        free(m->phases[i].tallies);
        free(m->phases[i].accesses);
        free(m->phases[i].due);
    }
    free(m->stores);
    free(m->eus);
    free(m->keys);
    free(m->threads);
    free(m->groups);
    free(m->members);
    free(m->places);
    free(m->dispatch_free);
}

/* ---- streams -----------------------------------------------------------------------------------
 */

bool zs_timing_find_block(struct zs_timing_machine *m, struct zs_timing_thread *th)
{
    while (th->inst >= th->inst_end) {
        if (th->at >= th->end)
            return false;
        const uint32_t *words = th->words + th->at;
        uint32_t kind = words[0] >> 30;
        if (kind == ZS_TIMING_WORD_BLOCK) {
            th->inst = words[0];
            th->inst_end = ZS_MIN(th->inst + words[1], m->code->op_count);
        } else if (kind == ZS_TIMING_WORD_MASK) {
            th->mask = words[1];
        }
        th->at += kind == ZS_TIMING_WORD_MESSAGE ? zs_timing_message_words(words) : 2;
    }
    return true;
}

_Static_assert(ZS_TIMING_LINE_SHARED < 1 << ZS_TIMING_PLACE_BITS, "beyond it");

/* A line's name in a replay: which allocation, and where in it. */
static inline uint64_t name_line(const struct zs_timing_thread *th, uint32_t place, uint32_t word,
                                 uint32_t low)
{
    uint32_t range = word >> 24, own = low & ((1u << ZS_TIMING_PLACE_BITS) - 1);
    uint64_t first = (uint64_t)range << ZS_TIMING_LINE_BITS;
    if (ZS_LIKELY(range >= ZS_TIMING_RANGE_FIRST))
        return th->ranges[range - ZS_TIMING_RANGE_FIRST] << ZS_TIMING_LINE_BITS |
               (uint64_t)(word & 0xff) << 32 | low;
    if (word & ZS_TIMING_SHARED) /* beyond what a thread has of scratch memory */
        return first | own | ZS_TIMING_LINE_SHARED;
    return first | (uint64_t)place << ZS_TIMING_PLACE_BITS | own;
}

uint32_t zs_timing_read_lines(const struct zs_timing_thread *th, uint32_t place,
                              const uint32_t *words, uint64_t lines[ZS_PORT_FOOTPRINT_LINES])
{
    uint32_t count = words[0] >> 20 & 1023;
    const uint32_t *at = words + 2;
    if (count && at[0] & ZS_TIMING_LINES_EVEN) {
        for (uint32_t i = 0; i < count; i++)
            lines[i] = name_line(th, place, at[0], at[1] + i * at[2]);
    } else if (count && at[0] & ZS_TIMING_LINES_NEAR) {
        for (uint32_t i = 0; i < count; i++)
            lines[i] = name_line(th, place, at[0], at[1 + i]);
    } else {
        for (uint32_t i = 0; i < count; i++)
            lines[i] = name_line(th, place, at[2 * i], at[2 * i + 1]);
    }
    return count;
}
