/* SPDX-License-Identifier: MIT */
/*
 * Recording: which groups of a launch are sampled, and what their threads did. The words of a
 * stream are described in timing_priv.h.
 *
 * Launches are recorded whole while that is cheap; of others long runs of neighbouring groups are,
 * spread evenly from the first group to the last: neighbours share lines, and what differs along
 * the launch is seen. Which groups these are follows from numbers of the launch alone.
 *
 * Of a thread that outgrows its room every other window stays, again and again: the same ones in
 * most threads, others in some. Windows of kernels with barriers begin behind barriers, behind the
 * same ones in all threads of a group: what is left out is left out of all of them, and those that
 * wait for each other in what stays did so.
 */
#include "gpu/timing/timing_priv.h"

#include "base/vec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    WHOLE_WAVES = 8,   /* launches of so many times what the device holds are recorded whole */
    BARRIER_WAVES = 3, /* ... with barriers: groups mostly do the same, and records are dear */
    RUN_WAVES = 2,     /* the least length of a run */
    SHARE = 4,         /* of the groups, as long as there is room */
    THREADS_MOST = 16 << 10,
    WORDS_ALL = 8 << 20, /* of all streams */
    WORDS_LEAST = 256,
    DENSE = 60,  /* words of 100 instructions: a thread keeps every other window */
    CHATTY = 12, /* messages of 100 instructions, and at most so many lines each: one of four */
    FEW_LINES = 2,
    CHATTY_STRIDE = 4,
    OTHERS = 4,  /* one thread in so many keeps other windows, */
    TURNS = 128, /* ... of so many */
    EXACT = 16,  /* times as many threads, and so many times the words: */
    EXACT_WORDS = 8,
    BLOCK_B = 1 << 20, /* of an arena */
    MORE_WORDS = 64,
    OWN_WORDS = BLOCK_B / 16, /* streams of more have their own memory */
};

/* ---- which groups ------------------------------------------------------------------------------
 */

/* Groups that the device holds at once. */
static uint32_t resident_groups(const struct zs_timing_launch *l)
{
    uint32_t subslices = l->model->slices * l->model->subslices_per_slice;
    uint32_t threads = l->model->eus_per_subslice * l->threads_per_eu;
    uint32_t fit = threads / ZS_MAX(l->threads_per_group, 1u);
    if (l->slm_B)
        fit = ZS_MIN(fit, l->params->slm_B / l->slm_B);
    if (l->has_barriers)
        fit = ZS_MIN(fit, l->params->barriers);
    return ZS_MAX(fit, 1u) * subslices;
}

static void choose_groups(struct zs_timing_trace *t)
{
    const struct zs_timing_launch *l = &t->launch;
    uint64_t all = l->group_count, wave = t->resident_groups, scale = l->exact ? EXACT : 1;
    uint64_t room = THREADS_MOST * scale / ZS_MAX(l->threads_per_group, 1u);
    uint64_t whole = wave * (l->has_barriers ? BARRIER_WAVES : WHOLE_WAVES);
    uint64_t wanted = l->exact ? all : ZS_MAX(all / SHARE, whole);
    wanted = ZS_MAX(ZS_MIN(wanted, room), wave * RUN_WAVES);
    t->chunk_groups = t->sampled = all;
    t->chunk_count = 1;
    if (all <= wanted || (all <= wanted + wave && all <= room)) /* two runs would cost more */
        return;
    t->chunk_count = ZS_MAX(ZS_MIN(wanted / (wave * RUN_WAVES), (uint64_t)ZS_TIMING_RUNS), 2u);
    t->chunk_groups = wanted / t->chunk_count;
    t->sampled = t->chunk_count * t->chunk_groups;
}

static uint64_t chunk_start(const struct zs_timing_trace *t, uint64_t chunk)
{
    if (t->chunk_count == 1)
        return 0;
    uint64_t last = t->launch.group_count - t->chunk_groups;
    return (uint64_t)((__uint128_t)last * chunk / (t->chunk_count - 1));
}

uint64_t zs_timing_trace_group(const struct zs_timing_trace *t, uint64_t sample)
{
    return chunk_start(t, sample / t->chunk_groups) + sample % t->chunk_groups;
}

/* UINT64_MAX: not sampled. */
static uint64_t sample_of(const struct zs_timing_trace *t, uint64_t group)
{
    for (uint64_t chunk = 0; chunk < t->chunk_count; chunk++) {
        uint64_t start = chunk_start(t, chunk);
        if (group >= start && group - start < t->chunk_groups)
            return chunk * t->chunk_groups + (group - start);
    }
    return UINT64_MAX;
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
        s->recording = false;
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

/* Instructions in a window's words. */
static uint64_t instructions_in(const uint32_t *words, uint32_t count)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count;) {
        uint32_t word = words[i];
        if (word >> 30 == ZS_TIMING_WORD_BLOCK)
            sum += words[i + 1];
        i += 2 + (word >> 30 == ZS_TIMING_WORD_MESSAGE ? 2 * (word >> 20 & 1023) : 0);
    }
    return sum;
}

/* The thread keeps windows whose number is its turn plus or less a multiple of the stride. */
static bool is_kept(const struct zs_timing_stream *s, uint32_t window)
{
    return (window - s->turn) % s->stride == 0; /* a power of two */
}

/* Of windows that were kept every other one goes: the first, unless it is still the thread's turn.
 */
static void thin_out(struct zs_timing_stream *s)
{
    uint32_t kept = 0, at = 0;
    s->recorded = 0;
    for (uint32_t w = (s->turn & s->stride) != 0; w < s->window_count; w += 2) {
        uint32_t start = s->windows[w];
        uint32_t end = w + 1 < s->window_count ? s->windows[w + 1] : s->count;
        memmove(s->words + at, s->words + start, (end - start) * sizeof(*s->words));
        s->windows[kept++] = at;
        s->recorded += instructions_in(s->words + at, end - start);
        at += end - start;
    }
    s->count = at;
    s->window_count = kept;
    s->stride *= 2;
    s->messages_from = 0;
    s->messages_until = at;
}

static bool add_window(struct zs_timing_stream *s)
{
    if (s->window_count == s->window_capacity) {
        uint32_t wanted = 4 * s->window_capacity, size_B = wanted * (uint32_t)sizeof(*s->windows);
        bool own = s->windows != s->first_windows;
        uint32_t *grown = realloc(own ? s->windows : NULL, size_B);
        if (!grown)
            return false;
        if (!own)
            memcpy(grown, s->windows, sizeof(s->first_windows));
        s->windows = grown;
        s->window_capacity = wanted;
    }
    s->windows[s->window_count++] = s->count;
    return true;
}

/* Barriers tie threads together: which windows they keep is not for each to decide. */
static bool may_leave_out(const struct zs_timing_trace *t)
{
    return !t->launch.exact && !t->launch.has_barriers;
}

/* By what its first windows say. Where it mostly sends messages that touch next to nothing, few of
 * them tell of the others; those that go here and there fill the caches. */
static uint32_t stride_for(const struct zs_timing_stream *s)
{
    uint64_t instructions = s->recorded, lines = s->lines, messages = s->messages;
    if (messages * 100 > instructions * CHATTY && lines <= messages * FEW_LINES)
        return CHATTY_STRIDE;
    return s->window == 2 && s->count > instructions * DENSE / 100 ? 2 : 1;
}

/* Of the windows so far this one alone. */
static void keep_one(struct zs_timing_stream *s, uint32_t window)
{
    uint32_t start = s->windows[window];
    s->count = (window + 1 < s->window_count ? s->windows[window + 1] : s->count) - start;
    memmove(s->words, s->words + start, s->count * sizeof(*s->words));
    s->windows[0] = 0;
    s->window_count = 1;
    s->recorded = instructions_in(s->words, s->count);
    s->messages_from = 0;
    s->messages_until = s->count;
}

/* Once a thread knows its stride: of its first windows the one whose turn it is stays; until that
 * comes another one does, so that no thread is without any. */
static void set_stride(struct zs_timing_stream *s, uint32_t stride)
{
    uint32_t turn = s->turn % stride;
    s->stride = stride;
    s->waits = stride > 1 && turn >= s->window_count;
    if (stride > 1 && s->window_count)
        keep_one(s, s->waits ? 0 : turn);
}

/* Its turn has come. */
static void start_turn(struct zs_timing_stream *s)
{
    s->waits = false;
    s->count = s->window_count = 0;
    s->messages_from = s->messages_until = 0;
    s->recorded = 0;
}

static void on_message(struct zs_eu_thread *t, const struct zs_eu_send *send, uint32_t lane_mask);

static void begin_window(struct zs_timing_stream *s, uint32_t mask)
{
    s->blocks = 0;
    s->window++;
    s->window_blocks =
        s->trace->launch.has_barriers ? UINT32_MAX : (uint32_t)ZS_TIMING_WINDOW_BLOCKS;
    s->window_barriers = s->barriers + ZS_TIMING_WINDOW_BARRIERS;
    if (s->window <= 2 && s->stride == 1 && may_leave_out(s->trace))
        set_stride(s, stride_for(s));
    if (s->waits && is_kept(s, s->window))
        start_turn(s);
    if (s->count > s->trace->words_max && is_kept(s, s->window))
        thin_out(s);
    s->recording = !s->full && is_kept(s, s->window);
    /* barriers are counted always */
    bool hears = s->recording || s->trace->launch.has_barriers;
    s->hooks.message = hears ? on_message : NULL;
    if (!s->recording)
        return;
    s->full = !add_window(s);
    s->window_room = s->count + s->trace->words_max;
    uint32_t *at = s->full ? NULL : room(s, 2);
    s->recording = at != NULL;
    if (!at)
        return;
    at[0] = ZS_TIMING_WORD(ZS_TIMING_WORD_WINDOW, s->barriers & 0x3fffffff);
    at[1] = s->mask = mask;
}

static struct zs_timing_stream *stream_of(const struct zs_eu_thread *t)
{
    return (struct zs_timing_stream *)(uintptr_t)t->hooks;
}

static void on_block(struct zs_eu_thread *t, uint32_t first, uint32_t count)
{
    struct zs_timing_stream *s = stream_of(t);
    if (ZS_UNLIKELY(s->blocks >= s->window_blocks))
        begin_window(s, t->ce);
    s->blocks++;
    s->executed += count;
    if (!s->recording || count == 0)
        return;
    if (ZS_UNLIKELY(s->count > s->window_room)) { /* one alone outgrows the room */
        s->recording = false;
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

static inline void keep_message(struct zs_timing_stream *s, const struct zs_port *port,
                                uint32_t inst, const struct zs_port_message *m,
                                const struct zs_port_message_row *row,
                                const struct zs_port_footprint *touch)
{
    uint32_t *const start = room(s, 2 + 2 * touch->line_count), *at = start;
    if (!at)
        return;
    at += 2;
    for (uint32_t i = 0; i < touch->line_count; i++) {
        uint64_t line = touch->lines[i];
        bool shared = m->space == ZS_PORT_SPACE_PAYLOAD;
        uint32_t ordinal = shared || m->space == ZS_PORT_SPACE_SCRATCH
                               ? (uint32_t)ZS_TIMING_RANGE_SCRATCH
                               : locate(s, port, &line);
        if (shared)
            line |= (uint64_t)ZS_TIMING_SHARED << 32;
        if (!ordinal)
            continue;
        at[0] = ordinal << 24 | ((uint32_t)(line >> 32) & 0xffffff);
        at[1] = (uint32_t)line;
        at += 2;
    }
    s->count = (uint32_t)(at - s->words);
    uint32_t lines = (uint32_t)(at - start) / 2 - 1;
    s->lines += lines;
    s->messages++;
    s->messages_from = s->messages_until ? s->messages_from : (uint32_t)(start - s->words);
    s->messages_until = s->count;
    start[0] = ZS_TIMING_WORD(ZS_TIMING_WORD_MESSAGE, lines << 20 | (inst & 0xfffff));
    start[1] = event_word(m, row, touch);
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
    if (!m || lane_mask == 0)
        return;
    if (m->space == ZS_PORT_SPACE_GATEWAY && ++s->barriers == s->window_barriers &&
        s->trace->launch.has_barriers)
        s->window_blocks = 0; /* with the next block another window begins */
    if (s->recording)
        (m->gather ? record_joined : record_message)(s, t, send, m, row, lane_mask);
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
    t->resident_groups = resident_groups(launch);
    choose_groups(t);
    uint64_t streams = t->sampled * launch->threads_per_group;
    uint64_t words = WORDS_ALL * (launch->exact ? EXACT_WORDS : UINT64_C(1));
    words = ZS_MAX(words / ZS_MAX(streams, UINT64_C(1)), (uint64_t)WORDS_LEAST);
    t->words_max = (uint32_t)ZS_MIN(words, (uint64_t)WORDS_ALL);
    size_t streams_B = (streams + 1) * sizeof(*t->streams);
    t->arenas =
        aligned_alloc(_Alignof(struct zs_timing_arena), launch->workers * sizeof(*t->arenas));
    if (!t->arenas || zs_timing_block_get(launch->store, streams_B, &t->memory)) {
        free(t->arenas);
        free(t);
        return -ENOMEM;
    }
    memset(t->arenas, 0, launch->workers * sizeof(*t->arenas));
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
        if (t->streams[i].windows != t->streams[i].first_windows)
            free(t->streams[i].windows);
        if (t->streams[i].ranges != t->streams[i].first_ranges)
            free(t->streams[i].ranges);
    }
    for (uint32_t i = 0; i < t->launch.workers; i++) {
        struct zs_timing_arena *a = &t->arenas[i];
        for (uint32_t k = 0; k < a->block_count; k++)
            zs_timing_block_put(t->launch.store, &a->blocks[k]);
        free(a->blocks);
    }
    free(t->arenas);
    zs_timing_block_put(t->launch.store, &t->memory);
    free(t);
}

/* Most threads keep windows that are multiples of the stride: the same ones, so that it is seen
 * what they share. One of four keeps others: what is left out of most is heard of these. All
 * threads of a group are as one where they wait for each other. */
static uint32_t turn_of(const struct zs_timing_trace *t, uint64_t sample, uint32_t thread)
{
    uint64_t number = sample;
    if (!t->launch.has_barriers)
        number = sample * t->launch.threads_per_group + thread;
    uint32_t mixed = (uint32_t)((number + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 32);
    return mixed % OTHERS ? 0 : 1 + mixed / OTHERS % TURNS;
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
    s->windows = s->first_windows;
    s->window_capacity = ZS_ARRAY_LEN(s->first_windows);
    s->ranges = s->first_ranges;
    s->range_capacity = ZS_ARRAY_LEN(s->first_ranges);
    s->stride = 1;
    s->turn = turn_of(t, sample, thread);
    s->window = UINT32_MAX; /* the first block begins window 0 */
    s->arena = &t->arenas[worker];
    place_stream(s, s->arena, thread);
    return &s->hooks;
}
