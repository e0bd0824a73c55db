/* SPDX-License-Identifier: MIT */
/*
 * Recording: which groups of a launch are sampled, and what their threads did. The words of a
 * stream are described in timing_priv.h.
 *
 * Launches are recorded whole while that is cheap; of others a long run of the first groups is, and
 * a shorter one of the last: neighbours share lines, and what differs along the launch is seen.
 * Whole waves are left out, as many groups as the device holds at once. Which these are follows
 * from numbers of the launch alone.
 *
 * A thread that outgrows its room is recorded up to there.
 */
#include "gpu/timing/timing_priv.h"

#include "base/vec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    WHOLE_WAVES = 4, /* launches of so many times what the device holds without local memory are
                        recorded whole */
    WAVES_LEAST = 3,
    SHARE = 4, /* of longer ones one group in so many, as long as there is room */
    THREADS_MOST = 16 << 10,
    WORDS_ALL = 16 << 20, /* of all streams ... */
    WORDS_TIMES = 4,      /* ... of which one may have so many times its part */
    WORDS_LEAST = 1024,
    EXACT = 16, /* times as many threads, and so many times the words: */
    EXACT_WORDS = 8,
    BLOCK_B = 1 << 20, /* of an arena */
    MORE_WORDS = 64,
    OWN_WORDS = BLOCK_B / 16, /* streams of more have their own memory */
};

/* ---- which groups ------------------------------------------------------------------------------
 */

uint32_t zs_timing_resident_groups(const struct zs_timing_launch *l, uint32_t slm_B)
{
    uint32_t subslices = l->model->slices * l->model->subslices_per_slice;
    uint32_t threads = l->model->eus_per_subslice * l->threads_per_eu;
    uint32_t fit = threads / ZS_MAX(l->threads_per_group, 1u);
    if (slm_B)
        fit = ZS_MIN(fit, l->params->slm_B / slm_B);
    if (l->has_barriers)
        fit = ZS_MIN(fit, l->params->barriers);
    return ZS_MAX(fit, 1u) * subslices;
}

/* Whole waves are left out: what is recorded ends as the launch does. */
static void choose_groups(struct zs_timing_trace *t)
{
    const struct zs_timing_launch *l = &t->launch;
    uint64_t all = l->group_count, wave = t->resident_groups, scale = l->exact ? EXACT : 1;
    uint64_t room = THREADS_MOST * scale / ZS_MAX(l->threads_per_group, 1u);
    uint64_t whole = (uint64_t)zs_timing_resident_groups(l, 0) * WHOLE_WAVES;
    uint64_t wanted = l->exact ? all : ZS_MAX(all / SHARE, whole);
    wanted = ZS_MAX(ZS_MIN(wanted, room), wave * WAVES_LEAST);
    uint64_t left_out = (all - ZS_MIN(wanted, all)) / wave * wave;
    t->sampled = t->first_groups = all - left_out;
    if (left_out)
        t->first_groups -= ZS_MIN(t->sampled / SHARE, t->sampled - wave * WAVES_LEAST);
}

/* UINT64_MAX: not sampled. */
static uint64_t sample_of(const struct zs_timing_trace *t, uint64_t group)
{
    uint64_t left_out = t->launch.group_count - t->sampled;
    return group < t->first_groups              ? group
           : group - t->first_groups < left_out ? UINT64_MAX
                                                : group - left_out;
}

bool zs_timing_trace_samples(const struct zs_timing_trace *t, uint64_t group)
{
    return sample_of(t, group) != UINT64_MAX;
}

/* ---- words -------------------------------------------------------------------------------------
 */

static bool add_block(struct zs_timing_arena *a, struct zs_timing_store *store)
{
    struct zs_timing_block *blocks = realloc(a->blocks, (a->block_count + 1u) * sizeof(*a->blocks));
    a->blocks = blocks ? blocks : a->blocks;
    if (!blocks || zs_timing_block_get(store, BLOCK_B, &blocks[a->block_count]))
        return false;
    a->at = blocks[a->block_count++].data;
    a->end = a->at + BLOCK_B / sizeof(*a->at);
    return true;
}

/* What lies behind the stream's words is free. */
static bool is_last(const struct zs_timing_stream *s)
{
    return !s->own && s->words && s->words + s->capacity == s->arena->at;
}

/* More words for a stream: behind its own when nothing is there yet, else elsewhere. */
static __attribute__((noinline)) bool grow(struct zs_timing_stream *s, uint32_t words)
{
    struct zs_timing_arena *a = s->arena;
    uint32_t wanted = s->count + words + MORE_WORDS, *at;
    if (is_last(s) && wanted - s->capacity <= (size_t)(a->end - a->at)) {
        a->at = s->words + wanted;
        s->capacity = wanted;
        return true;
    }
    wanted = ZS_MAX(2 * s->capacity, wanted);
    bool own = wanted > OWN_WORDS;
    if (!own && wanted > (size_t)(a->end - a->at) && !add_block(a, s->trace->launch.store))
        return false;
    at = own ? realloc(s->own ? s->words : NULL, wanted * sizeof(*at)) : a->at;
    if (!at)
        return false;
    if (!s->own && s->count)
        memcpy(at, s->words, s->count * sizeof(*at));
    a->at += own ? 0 : wanted;
    s->words = at;
    s->capacity = wanted;
    s->own = own;
    return true;
}

static inline uint32_t *room(struct zs_timing_stream *s, uint32_t words)
{
    if (ZS_UNLIKELY(s->capacity - s->count < words) && !grow(s, words)) {
        s->full = true;
        return NULL;
    }
    uint32_t *at = s->words + s->count;
    s->count += words;
    return at;
}

/* Where the stream's words begin. Threads without barriers run one after the other: what the one
 * before it has not used is free. Of others as many words are set aside as the same thread of the
 * group before needed. */
static void place_stream(struct zs_timing_stream *s, struct zs_timing_arena *a, uint32_t thread)
{
    struct zs_timing_stream *last = a->last;
    if (thread == 0) {
        a->group_before = a->group;
        a->group = s;
    }
    a->last = s;
    s->words = a->at;
    if (s->trace->launch.has_barriers) {
        uint32_t wanted = a->group_before ? a->group_before[thread].count + MORE_WORDS : 0;
        if (wanted && wanted <= (size_t)(a->end - a->at)) {
            s->capacity = wanted;
            a->at += wanted;
        }
    } else if (last && is_last(last)) {
        last->capacity = last->count;
        s->words = a->at = last->words + last->count;
    }
}

static struct zs_timing_stream *stream_of(const struct zs_eu_thread *t)
{
    return (struct zs_timing_stream *)(uintptr_t)t->hooks;
}

static void on_block(struct zs_eu_thread *t, uint32_t first, uint32_t count)
{
    struct zs_timing_stream *s = stream_of(t);
    s->executed += count;
    if (s->full || count == 0)
        return;
    if (ZS_UNLIKELY(s->count > s->trace->words_max)) {
        s->full = true;
        s->hooks.message = NULL;
        return;
    }
    uint32_t changed = t->ce != s->mask ? 2 : 0, *at = room(s, 2 + changed);
    if (!at)
        return;
    if (changed) {
        at[0] = ZS_TIMING_WORD(ZS_TIMING_WORD_MASK, 0);
        at[1] = s->mask = t->ce;
        at += 2;
    }
    at[0] = ZS_TIMING_WORD(ZS_TIMING_WORD_BLOCK, first);
    at[1] = count;
    s->recorded += count;
}

/* ---- messages ----------------------------------------------------------------------------------
 */

static uint32_t ordinal_of(struct zs_timing_stream *s, uint64_t start)
{
    for (uint32_t i = 0; i < s->range_count; i++) {
        if (s->ranges[i] == start)
            return i + ZS_TIMING_RANGE_FIRST;
    }
    if (s->range_count + ZS_TIMING_RANGE_FIRST >= ZS_TIMING_RANGES)
        return 0;
    if (s->range_count == s->range_capacity) {
        uint32_t wanted = 4 * s->range_capacity, size_B = wanted * (uint32_t)sizeof(*s->ranges);
        bool own = s->ranges != s->first_ranges;
        uint64_t *grown = realloc(own ? s->ranges : NULL, size_B);
        if (!grown)
            return 0;
        if (!own)
            memcpy(grown, s->ranges, sizeof(s->first_ranges));
        s->ranges = grown;
        s->range_capacity = wanted;
    }
    s->ranges[s->range_count] = start;
    return s->range_count++ + ZS_TIMING_RANGE_FIRST;
}

static const struct zs_port_range *range_at(const struct zs_port *port, uint64_t address)
{
    const struct zs_port_range *range = zs_port_map_find(&port->map, address, 1);
    for (uint32_t i = 0; i < port->launch_range_count && !range; i++) {
        const struct zs_port_range *r = &port->launch_ranges[i];
        range = address >= r->start && address < r->end ? r : NULL;
    }
    return range;
}

static uint32_t find(struct zs_timing_stream *s, const struct zs_port *port, uint64_t address,
                     uint64_t *line)
{
    const struct zs_timing_launch *l = &s->trace->launch;
    const struct zs_port_range *range = range_at(port, address);
    if (!range)
        range = range_at(port, address + ZS_PORT_LINE_B - 1);
    uint32_t ordinal = range ? ordinal_of(s, range->start) : 0;
    if (!ordinal)
        return 0;
    uint64_t start = range->start & ~(uint64_t)(ZS_PORT_LINE_B - 1);
    *line -= start / ZS_PORT_LINE_B;
    bool has_private = l->private_B && start < l->private_va + l->private_B &&
                       range->end > l->private_va; /* lines of it are looked at first */
    if (!has_private) {
        struct zs_timing_found *found = &s->found[s->found_next++ % ZS_TIMING_FOUND];
        *found = (struct zs_timing_found){start, range->end - start, ordinal};
    }
    return ordinal;
}

/* The range of a line and its number in it; 0: it lies nowhere. A line belongs to the range that
 * holds its last byte that any does: ranges need not start at one. */
static inline uint32_t locate(struct zs_timing_stream *s, const struct zs_port *port,
                              uint64_t *line)
{
    const struct zs_timing_launch *l = &s->trace->launch;
    uint64_t address = *line * ZS_PORT_LINE_B;
    for (uint32_t i = 0; i < ZS_TIMING_FOUND; i++) {
        if (address - s->found[i].start < s->found[i].size_B) {
            *line -= s->found[i].start / ZS_PORT_LINE_B;
            return s->found[i].ordinal;
        }
    }
    if (address + ZS_PORT_LINE_B - 1 - l->private_va < l->private_B && l->private_thread_B) {
        *line = (address - l->private_va) % l->private_thread_B / ZS_PORT_LINE_B;
        return ZS_TIMING_RANGE_PRIVATE;
    }
    return find(s, port, address, line);
}

static inline uint32_t event_word(const struct zs_port_message *m,
                                  const struct zs_port_message_row *row,
                                  const struct zs_port_footprint *touch)
{
    bool write = m->bytes_written && !m->bytes_read, barrier = m->space == ZS_PORT_SPACE_GATEWAY;
    uint32_t kind = (uint32_t)m->space << ZS_TIMING_EVENT_SPACE |
                    (uint32_t)write * ZS_TIMING_EVENT_WRITE |
                    (uint32_t)row->is_atomic * ZS_TIMING_EVENT_ATOMIC |
                    (uint32_t)row->is_fence * ZS_TIMING_EVENT_FENCE |
                    (uint32_t)barrier * ZS_TIMING_EVENT_BARRIER;
    if (!(touch->slm_cycles | touch->atomic_lanes | touch->slm_conflicts | touch->texels))
        return kind;
    uint32_t cycles = ZS_MAX(touch->slm_cycles, touch->atomic_lanes);
    return kind | ZS_MIN(cycles, 255u) << ZS_TIMING_EVENT_CYCLES |
           ZS_MIN((uint32_t)touch->slm_conflicts, 255u) << ZS_TIMING_EVENT_CONFLICTS |
           ZS_MIN((uint32_t)touch->texels, 255u) << ZS_TIMING_EVENT_TEXELS;
}

/* Lines that are evenly far apart, or close to each other, take fewer words. How many. */
static uint32_t join_lines(uint32_t *words, uint32_t lines)
{
    if (lines < 2)
        return 2 * lines;
    uint32_t step = words[3] - words[1];
    bool near = true, even = true;
    for (uint32_t i = 1; i < lines; i++) {
        near = near && words[2 * i] == words[0];
        even = even && near && words[2 * i + 1] - words[2 * i - 1] == step;
    }
    if (!near)
        return 2 * lines;
    if (even) {
        words[0] |= ZS_TIMING_LINES_EVEN;
        words[2] = step;
        return 3;
    }
    words[0] |= ZS_TIMING_LINES_NEAR;
    for (uint32_t i = 1; i < lines; i++)
        words[1 + i] = words[2 * i + 1];
    return 1 + lines;
}

static inline void keep_message(struct zs_timing_stream *s, const struct zs_port *port,
                                uint32_t inst, const struct zs_port_message *m,
                                const struct zs_port_message_row *row,
                                const struct zs_port_footprint *touch)
{
    bool shared = m->space == ZS_PORT_SPACE_PAYLOAD;
    bool own = shared || m->space == ZS_PORT_SPACE_SCRATCH;
    uint32_t *const start = room(s, 3 + 2 * touch->line_count), *at;
    uint32_t lines = 0;
    if (!start)
        return;
    for (uint32_t i = 0; i < touch->line_count; i++) {
        uint64_t line = touch->lines[i];
        uint32_t ordinal = own ? (uint32_t)ZS_TIMING_RANGE_SCRATCH : locate(s, port, &line);
        if (!ordinal)
            continue;
        at = start + 2 + 2 * lines++;
        at[0] = ordinal << 24 | ((uint32_t)(line >> 32) & 0xff) | (shared ? ZS_TIMING_SHARED : 0);
        at[1] = (uint32_t)line;
    }
    if (ZS_UNLIKELY(s->arena->dwords != NULL))
        s->arena->dwords[inst] |= touch->dwords;
    start[0] = ZS_TIMING_WORD(ZS_TIMING_WORD_MESSAGE, lines << 20 | (inst & 0xfffff));
    start[1] = event_word(m, row, touch);
    s->count = (uint32_t)(start - s->words) + 2 + join_lines(start + 2, lines);
}

/* A cold path: it needs room. */
static __attribute__((noinline)) void
record_joined(struct zs_timing_stream *s, const struct zs_eu_thread *t,
              const struct zs_eu_send *send, const struct zs_port_message *m,
              const struct zs_port_message_row *row, uint32_t mask)
{
    struct zs_port_footprint touch;
    uint8_t joined[ZS_EU_PAYLOAD_MAX_B];
    zs_port_footprint(t->env, m, zs_eu_send_payload(t, send, m, joined), mask, &touch);
    keep_message(s, t->env, send->d.inst, m, row, &touch);
}

static __attribute__((noinline)) void
record_message(struct zs_timing_stream *s, const struct zs_eu_thread *t,
               const struct zs_eu_send *send, const struct zs_port_message *m,
               const struct zs_port_message_row *row, uint32_t mask)
{
    struct zs_port_footprint touch;
    zs_port_footprint(t->env, m, t->grf + send->d.src0_B, mask, &touch);
    keep_message(s, t->env, send->d.inst, m, row, &touch);
}

static void on_message(struct zs_eu_thread *t, const struct zs_eu_send *send, uint32_t lane_mask)
{
    struct zs_timing_stream *s = stream_of(t);
    const struct zs_port_message_row *row;
    const struct zs_port_message *m = zs_eu_send_message(send, &row);
    if (m && lane_mask && !s->full)
        (zs_eu_send_joins(send, m) ? record_joined : record_message)(s, t, send, m, row, lane_mask);
}

/* ---- a launch ----------------------------------------------------------------------------------
 */

int zs_timing_trace_create(const struct zs_timing_launch *launch,
                           struct zs_timing_trace **ret_trace)
{
    struct zs_timing_trace *t = calloc(1, sizeof(*t));
    if (!t)
        return -ENOMEM;
    t->launch = *launch;
    t->resident_groups = zs_timing_resident_groups(launch, launch->slm_B);
    choose_groups(t);
    uint64_t streams = t->sampled * launch->threads_per_group;
    uint64_t words = WORDS_ALL * (launch->exact ? EXACT_WORDS : UINT64_C(1));
    words = ZS_MAX(words / ZS_MAX(streams, UINT64_C(1)), (uint64_t)WORDS_LEAST);
    t->words_max = (uint32_t)ZS_MIN(words * WORDS_TIMES, (uint64_t)WORDS_ALL);
    size_t streams_B = (streams + 1) * sizeof(*t->streams);
    t->arenas =
        aligned_alloc(_Alignof(struct zs_timing_arena), launch->workers * sizeof(*t->arenas));
    if (!t->arenas || zs_timing_block_get(launch->store, streams_B, &t->memory)) {
        free(t->arenas);
        free(t);
        return -ENOMEM;
    }
    memset(t->arenas, 0, launch->workers * sizeof(*t->arenas));
    for (uint32_t i = 0; i < launch->workers && launch->gains; i++) /* no memory: not asked */
        t->arenas[i].dwords = calloc(launch->code->op_count + 1u, sizeof(*t->arenas->dwords));
    t->streams = t->memory.data;
    memset(t->streams, 0, streams_B);
    *ret_trace = t;
    return 0;
}

void zs_timing_trace_destroy(struct zs_timing_trace *t)
{
    if (!t)
        return;
    for (uint64_t i = 0; i < t->sampled * t->launch.threads_per_group; i++) {
        if (t->streams[i].own)
            free(t->streams[i].words);
        if (t->streams[i].ranges != t->streams[i].first_ranges)
            free(t->streams[i].ranges);
    }
    for (uint32_t i = 0; i < t->launch.workers; i++) {
        struct zs_timing_arena *a = &t->arenas[i];
        for (uint32_t k = 0; k < a->block_count; k++)
            zs_timing_block_put(t->launch.store, &a->blocks[k]);
        free(a->blocks);
        free(a->dwords);
    }
    free(t->arenas);
    zs_timing_part_fini(&t->part);
    zs_timing_block_put(t->launch.store, &t->memory);
    free(t);
}

const struct zs_eu_hooks *zs_timing_trace_thread(struct zs_timing_trace *t, uint32_t worker,
                                                 uint64_t group, uint32_t thread)
{
    uint64_t sample = sample_of(t, group);
    zs_assert(sample < t->sampled && thread < t->launch.threads_per_group);
    zs_assert(worker < t->launch.workers);
    struct zs_timing_stream *s = &t->streams[sample * t->launch.threads_per_group + thread];
    s->hooks = (struct zs_eu_hooks){.block = on_block, .message = on_message};
    s->trace = t;
    s->ranges = s->first_ranges;
    s->range_capacity = ZS_ARRAY_LEN(s->first_ranges);
    s->arena = &t->arenas[worker];
    place_stream(s, s->arena, thread);
    return &s->hooks;
}
