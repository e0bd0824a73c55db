/* SPDX-License-Identifier: MIT */
/*
 * Races: two accesses of a launch to one byte, one of them a write, not both atomic, that nothing
 * orders. They are found whichever comes first, and whether or not they meet. What is remembered of
 * them is in race_priv.h.
 *
 * Ordered are: accesses of one lane; of lanes of one thread with a fence or barrier between; of
 * threads of a group with a barrier between, where the first one has signalled it after its access
 * and the second has waited for it; and what order.c finds. What was written plainly needs a fence
 * of its memory in front of the barrier, too. What a thread does as a whole is
 * ordered with what its lanes do, but where it reads or is atomic once for all lanes: compilers
 * make that of what each of them does alike. With one lane on it is that lane's. One host thread
 * runs the launch.
 */
#include "gpu/race_priv.h"

#include <stdlib.h>

enum {
    RECORD_MASK = ZS_RACE_RECORD_MASK,
    LANE_SHIFT = ZS_RACE_LANE_SHIFT,
    BYTES_SHIFT = ZS_RACE_BYTES_SHIFT,
    LINE_WORDS = ZS_RACE_LINE_WORDS,
    LINE_B = ZS_RACE_LINE_B,
    VALUE_MAX_B = 8,
    HELD_MAX = 64,
};
#define SECOND_READ ZS_RACE_SECOND_READ

/* ---- records -----------------------------------------------------------------------------------
 */

static const struct zs_check_record *record_at(const struct zs_gpu_checks *c, uint32_t half)
{
    return zs_race_record(c, half);
}

static uint32_t lane_of(uint32_t half)
{
    return zs_race_lane(half);
}

/* ---- places ------------------------------------------------------------------------------------
 */

/* A line, and the words that it has when it is split. */
struct place {
    uint64_t *line, *words;
};

/* Of an address; false: no memory. */
static inline bool place_of(struct zs_race_access *a, uint64_t at, struct place *ret)
{
    struct zs_gpu_checks *c = a->at->c;
    if (!a->is_slm) {
        struct zs_race_page *page = zs_race_page_of(c, at, a->record->is_write);
        uint32_t line = at % ZS_BETWEEN_PAGE_B / LINE_B;
        *ret = (struct place){page->lines + line, page->words + (size_t)line * LINE_WORDS};
        return page != NULL;
    }
    uint64_t *local = a->at->local, line = at / LINE_B;
    if (ZS_UNLIKELY(!local))
        local = a->at->local = zs_race_local(c, a->at->group);
    *ret = (struct place){local + line, local + zs_race_local_lines(c->run) + line * LINE_WORDS};
    return local != NULL;
}

static void split(const struct place *place)
{
    for (uint32_t i = 0; i < LINE_WORDS; i++)
        place->words[i] = zs_race_word(*place->line, i);
    *place->line = ZS_RACE_SPLIT;
}

static bool is_half(uint32_t half, bool rises)
{
    return !half ||
           ((half >> BYTES_SHIFT & 15) == 15 && !(rises && lane_of(half) + LINE_WORDS - 1 > 31));
}

/* The line that words are; ZS_RACE_SPLIT: they are none. */
static uint64_t joined(const uint64_t *words)
{
    const uint64_t low = UINT64_C(1) << LANE_SHIFT, high = low << 32;
    uint64_t first = words[0], step = words[1] - first, differs = 0;
    for (uint32_t i = 2; i < LINE_WORDS; i++)
        differs |= words[i] ^ (first + i * step);
    uint32_t halves[2] = {(uint32_t)first, (uint32_t)(first >> 32)};
    bool rises[2] = {step & low, step & high};
    if (differs || step & ~(low | high) || !is_half(halves[0], rises[0]) ||
        !is_half(halves[1], rises[1]) || (rises[0] && !halves[0]) || (rises[1] && !halves[1]))
        return ZS_RACE_SPLIT;
    uint64_t line = 0;
    for (uint32_t i = 2; i--;)
        line = line << 32 |
               (halves[i] ? (halves[i] & ~(15u << BYTES_SHIFT)) | (unsigned)ZS_RACE_IS_THERE |
                                (rises[i] ? (unsigned)ZS_RACE_RISES : 0u)
                          : 0u);
    return line;
}

/* ---- order -------------------------------------------------------------------------------------
 */

/* Of one thread: no lane of either is another one than the other's. */
static bool is_own(const struct zs_race_access *a, const struct zs_check_record *r, uint32_t half)
{
    const struct zs_check_record *now = a->record;
    if (r->is_whole || now->is_whole)
        return (r->is_whole && !r->by_all) || (now->is_whole && !now->by_all) ||
               (r->is_whole && now->is_whole);
    return lane_of(half) == a->lane;
}

static bool is_own_lane(const struct zs_race_access *a, uint32_t half)
{
    return is_own(a, record_at(a->at->c, half), half);
}

/* A barrier, of one thread a fence too, is between what a thread of the group did and now. */
static bool is_parted(const struct zs_race_access *a, const struct zs_check_record *r)
{
    return r->thread == a->record->thread ? r->epoch != a->record->epoch : a->passed > r->signals;
}

/* ... and what it wrote a fence made seen, in front of that barrier. Who has read has its value. */
static bool is_seen(const struct zs_race_access *a, const struct zs_check_record *r)
{
    const struct zs_check_thread *thread = a->at->thread - a->at->number + r->thread;
    uint32_t fence = r->fences[a->is_slm] + 1, last = thread->fences[a->is_slm];
    if (!r->is_write || r->is_atomic)
        return true;
    if (last < fence)
        return false;
    return r->thread == a->record->thread || last - fence >= ZS_CHECK_FENCES_KEPT ||
           a->passed > thread->fenced_at[a->is_slm][fence % ZS_CHECK_FENCES_KEPT];
}

/* Who it was is known to be before this access. */
static bool is_before(const struct zs_race_access *a, uint32_t half)
{
    if ((half & RECORD_MASK) == a->at->asked)
        return a->at->was_before;
    const struct zs_check_record *r = record_at(a->at->c, half), *now = a->record;
    if (r->group == now->group && r->thread == now->thread)
        return (r->inst != now->inst && a->at->c->in_step) || is_own(a, r, half) ||
               (is_parted(a, r) && is_seen(a, r));
    a->at->asked = half & RECORD_MASK;
    return a->at->was_before = r->group == now->group && is_parted(a, r) && is_seen(a, r);
}

static bool conflicts(const struct zs_race_access *a, uint32_t half, uint32_t bytes)
{
    if (!half || ((half & RECORD_MASK) == a->at->asked && a->at->was_before))
        return false;
    const struct zs_check_record *r = half ? record_at(a->at->c, half) : NULL;
    if (!r || !(half >> BYTES_SHIFT & 15 & bytes) || (r->is_atomic && a->record->is_atomic) ||
        !(r->is_write || a->record->is_write))
        return false;
    if (is_before(a, half))
        return false;
    return !a->is_slm || r->group == a->record->group; /* else of a group that has ended */
}

/* ---- values ------------------------------------------------------------------------------------
 */

void zs_race_find_values(struct zs_race_access *a, const struct zs_eu_send *send,
                         const uint8_t *src0)
{
    const struct zs_port_message *m = a->m;
    const uint8_t *src1 = zs_eu_send_data(a->t, send, m, src0);
    bool addresses = m->shape == ZS_PORT_SHAPE_ADDRESSES;
    if (!m->lanes && m->shape == ZS_PORT_SHAPE_LSC) { /* one block */
        a->values = src1;
        return;
    }
    if (!m->lanes || m->gather || m->element_B > VALUE_MAX_B || m->upper)
        return;
    if (m->shape == ZS_PORT_SHAPE_LSC) {
        a->values = src1;
        a->slot_B = m->slot_B;
        a->component_B = m->component_B;
    } else if (addresses || m->shape == ZS_PORT_SHAPE_OFFSETS ||
               m->shape == ZS_PORT_SHAPE_DWORD_OFFSETS) {
        uint32_t address_B = m->lanes * (addresses ? 8u : 4u);
        a->slot_B = m->element_B == 8 ? 8 : 4;
        a->component_B = m->lanes * a->slot_B;
        a->values = m->data_in_src1 ? src1 : src0 + m->header_grf * 32u + address_B;
    }
}

static const uint8_t *value_of(const struct zs_race_access *a, uint32_t lane)
{
    return a->values + (size_t)a->element * a->component_B +
           (size_t)(a->only ? 0 : lane - a->chan_offset) * a->slot_B;
}

/* What was written there before, by this message or another, is what this lane writes. */
static bool writes_the_same(const struct zs_race_access *a, uint32_t half)
{
    if (!a->values || !a->record->is_write || (a->m->lanes && a->size_B != a->m->element_B))
        return false;
    const uint8_t *mine = value_of(a, a->lane);
    if ((half & RECORD_MASK) == a->number && lane_of(half) >= a->chan_offset &&
        lane_of(half) - a->chan_offset < a->m->lanes)
        return !memcmp(mine, value_of(a, lane_of(half)), a->size_B);
    if (a->is_slm)
        return !memcmp(mine, a->at->group->slm + a->gpu_va, a->size_B);
    struct zs_gpu_allocation there; /* none is refused once it is asked, and threads may go on */
    return zs_gpu_memory_of_host(a->at->c->run->launch->memory, a->gpu_va, &there) &&
           there.gpu_va + there.bias + there.size_B - a->gpu_va >= a->size_B &&
           !memcmp(mine, (const uint8_t *)(uintptr_t)a->gpu_va, a->size_B);
}

/* ---- reports -----------------------------------------------------------------------------------
 */

void zs_race_describe(const struct zs_gpu_run *run, const struct zs_check_record *r, uint32_t lane,
                      struct zs_gpu_site *ret)
{
    zs_check_site(run, r->group, r->thread, r->inst, r->is_whole ? -1 : (int)lane, ret);
    ret->is_write = r->is_write;
    ret->is_atomic = r->is_atomic;
    ret->size_B = r->size_B;
}

static const char *advice_of(const struct zs_race_access *a, const struct zs_check_record *r)
{
    if (r->is_atomic != a->record->is_atomic)
        return "one is atomic and the other is not: make both atomic, or order them";
    if (r->group != a->record->group)
        return "groups of a launch have no order: two launches, or atomics with release and "
               "acquire, order them";
    if (r->thread == a->record->thread && r->inst == a->record->inst)
        return "lanes of one instruction have no order: only one of them may write there";
    if (is_parted(a, r))
        return a->is_slm ? "the barrier between them has no fence of local memory"
                         : "the barrier between them has no fence of global memory";
    return a->is_slm ? "a barrier with a fence of local memory between them orders them"
                     : "a barrier with a fence of global memory between them orders them";
}

static enum zs_gpu_finding_note note_of(const struct zs_race_access *a, uint32_t half)
{
    const struct zs_check_record *r = record_at(a->at->c, half), *now = a->record;
    if (r->is_write && !r->is_atomic && writes_the_same(a, half))
        return ZS_GPU_NOTE_SAME_VALUE;
    bool one_thread = r->group == now->group && r->thread == now->thread;
    const struct zs_gpu_kernel *kernel = a->at->c->run->kernel;
    bool may_count_on_it =
        !kernel->has_no_sub_groups || kernel->module->required_subgroup_size != 0;
    bool in_step = one_thread && r->inst != now->inst && may_count_on_it;
    return in_step ? ZS_GPU_NOTE_IN_STEP : ZS_GPU_NOTE_NONE;
}

static void hold(struct zs_gpu_checks *c, const struct zs_gpu_finding *f, uint32_t read)
{
    if (!c->held)
        c->held = calloc(HELD_MAX, sizeof(*c->held));
    if (!c->held || c->held_count == HELD_MAX) {
        c->lost = true;
        return;
    }
    c->held[c->held_count].finding = *f;
    c->held[c->held_count++].inst = read;
}

static void report(const struct zs_race_access *a, uint32_t half)
{
    struct zs_gpu_checks *c = a->at->c;
    const struct zs_check_record *r = record_at(c, half);
    uint64_t low = ZS_MIN(r->inst, a->inst), high = ZS_MAX(r->inst, a->inst);
    enum zs_gpu_finding_note note = note_of(a, half);
    if (!zs_check_is_new(c, low, high, note != 0))
        return;
    if (zs_check_ordered(&c->order, r, a->record->group, a->record->thread, a->passed)) {
        zs_check_is_new(c, low, high, 2u + (note != 0)); /* the pair is asked again */
        return;
    }
    struct zs_gpu_finding f = {.kind = ZS_GPU_FINDING_RACE,
                               .note = note,
                               .is_local = a->is_slm,
                               .gpu_va = a->gpu_va,
                               .site_count = 2,
                               .advice = advice_of(a, r)};
    zs_race_describe(c->run, a->record, a->lane, &f.site[0]);
    c->stop_lane = a->lane;
    zs_race_describe(c->run, r, lane_of(half), &f.site[1]);
    f.site[0].size_B = a->size_B;
    if (r->is_atomic && !a->record->is_write)
        hold(c, &f, a->inst);
    else if (a->record->is_atomic && !r->is_write)
        hold(c, &f, r->inst);
    else
        zs_check_tell(c, &f);
}

/* ---- words -------------------------------------------------------------------------------------
 */

static uint64_t after_write(uint32_t mine)
{
    return (uint64_t)mine << 32;
}

/* A plain write before it stays: others' atomics may race with that, and not with this one. */
static uint64_t after_atomic(const struct zs_race_access *a, uint64_t word, uint32_t mine)
{
    uint32_t written = (uint32_t)(word >> 32);
    bool plain = written && !(written & SECOND_READ) && !record_at(a->at->c, written)->is_atomic;
    if (plain && a->is_slm)
        plain = record_at(a->at->c, written)->group == a->record->group;
    return plain ? (word & ~(uint64_t)UINT32_MAX) | mine : after_write(mine);
}

static uint64_t after_read(const struct zs_race_access *a, uint64_t word, uint32_t mine)
{
    uint32_t read = (uint32_t)word, written = (uint32_t)(word >> 32);
    bool stale = read && a->is_slm && record_at(a->at->c, read)->group != a->record->group;
    bool atomic = read && record_at(a->at->c, read)->is_write;
    if (!read || stale || (!atomic && is_before(a, read)))
        return (word & ~(uint64_t)UINT32_MAX) | mine;
    if (!written)
        return word | (uint64_t)(mine | SECOND_READ) << 32;
    return word;
}

static struct zs_check_verdict __attribute__((noinline))
judge(const struct zs_race_access *a, uint32_t half)
{
    const struct zs_check_record *r = record_at(a->at->c, half), *now = a->record;
    bool is_ended = a->is_slm && r->group != now->group;
    struct zs_check_verdict v = {.number = half & RECORD_MASK,
                                 .is_atomic = r->is_write && !is_ended};
    if (r->group == now->group && r->thread == now->thread) {
        v.is_before =
            (is_parted(a, r) && is_seen(a, r)) || (r->inst != now->inst && a->at->c->in_step);
        v.is_own = !v.is_before;
    } else {
        v.is_before = is_before(a, half) || is_ended;
    }
    v.is_harmless = v.is_before || !(r->is_write || now->is_write);
    return v;
}

static inline const struct zs_check_verdict *verdict_of(struct zs_race_access *a, unsigned i,
                                                        uint32_t half)
{
    if (a->known[i].number != (half & RECORD_MASK))
        a->known[i] = judge(a, half);
    return &a->known[i];
}

/* The word of a plain access, where nothing conflicts; false: it is not that simple. */
static inline bool touch_harmless(struct zs_race_access *a, uint64_t *word, uint32_t read,
                                  uint32_t other, uint32_t mine)
{
    bool reads_before = true, is_atomic = false;
    if (read) {
        const struct zs_check_verdict *v = verdict_of(a, 0, read);
        bool is_own = v->is_own && is_own_lane(a, read);
        if (!v->is_harmless && !is_own)
            return false;
        reads_before = v->is_before || is_own;
        is_atomic = v->is_atomic;
    }
    if (other) {
        const struct zs_check_verdict *v = verdict_of(a, 1, other);
        if (!v->is_harmless && !(v->is_own && is_own_lane(a, other)))
            return false;
    }
    if (a->record->is_write)
        *word = after_write(mine);
    else if (!read || (reads_before && !is_atomic))
        *word = (*word & ~(uint64_t)UINT32_MAX) | mine;
    else if (!other)
        *word |= (uint64_t)(mine | SECOND_READ) << 32;
    return true;
}

static void __attribute__((noinline))
touch_slowly(struct zs_race_access *a, uint64_t *word, uint32_t bytes, uint32_t mine)
{
    const uint32_t halves[2] = {(uint32_t)(*word >> 32), (uint32_t)*word};
    for (uint32_t i = 0; i < 2; i++) {
        if (!conflicts(a, halves[i], bytes))
            continue;
        a->fails = true;
        if (a->is_quick)
            return;
        report(a, halves[i]);
    }
    if (a->record->is_atomic)
        *word = after_atomic(a, *word, mine);
    else
        *word = a->record->is_write ? after_write(mine) : after_read(a, *word, mine);
}

/* What an atomic finds are atomics, or what was before it. */
static bool meets_atomics(struct zs_race_access *a, uint32_t read, uint32_t other)
{
    const struct zs_gpu_checks *c = a->at->c;
    return (!read || record_at(c, read)->is_atomic) &&
           (!other || record_at(c, other)->is_atomic || verdict_of(a, 1, other)->is_before);
}

static inline void touch(struct zs_race_access *a, uint64_t *word, uint32_t bytes)
{
    uint32_t read = (uint32_t)*word, other = (uint32_t)(*word >> 32);
    uint32_t mine =
        a->number | (a->record->is_whole ? 0 : a->lane) << LANE_SHIFT | bytes << BYTES_SHIFT;
    if ((a->record->is_write ? other : read) == mine && !(a->record->is_write && read))
        return; /* again */
    if (!*word)
        *word = a->record->is_write ? after_write(mine) : mine;
    else if (a->record->is_atomic && meets_atomics(a, read, other))
        *word = after_atomic(a, *word, mine);
    else if (a->record->is_atomic || !touch_harmless(a, word, read, other, mine))
        touch_slowly(a, word, bytes, mine);
}

/* A word of a line, or one that is as it would be. */
static inline void put_word(const struct place *place, uint32_t i, uint64_t before, uint64_t after)
{
    if (after == before)
        return;
    if (*place->line != ZS_RACE_SPLIT)
        split(place);
    place->words[i] = after;
}

static inline uint64_t word_of(const struct place *place, uint32_t i)
{
    return *place->line == ZS_RACE_SPLIT ? place->words[i] : zs_race_word(*place->line, i);
}

static void touch_word(struct zs_race_access *a, const struct place *place, uint32_t i,
                       uint32_t bytes)
{
    uint64_t before = word_of(place, i), after = before;
    touch(a, &after, bytes);
    put_word(place, i, before, after);
}

static const uint64_t LANES = ZS_RACE_BOTH(31u) << ZS_RACE_LANE_SHIFT;

/* A lane in each half that says something. */
static uint64_t lanes_in(uint64_t word)
{
    return (word & RECORD_MASK ? UINT64_C(1) << LANE_SHIFT : 0) |
           (word >> 32 & RECORD_MASK ? UINT64_C(1) << (LANE_SHIFT + 32) : 0);
}

static void remember(struct zs_race_access *a, uint64_t before, uint64_t after)
{
    uint32_t halves[2] = {(uint32_t)before, (uint32_t)(before >> 32)};
    bool is_own = false;
    a->last.is_known = !a->record->is_atomic && !a->record->is_whole;
    for (uint32_t i = 0; i < 2; i++) {
        a->last.is_known &= !halves[i] || (a->known[i].number == (halves[i] & RECORD_MASK) &&
                                           (a->known[i].is_harmless || a->known[i].is_own) &&
                                           !record_at(a->at->c, halves[i])->is_whole);
        is_own |= halves[i] && a->known[i].is_own;
    }
    a->last.any = is_own ? 0 : LANES;
    a->last.by = is_own ? lanes_in(before) : 0;
    a->last.word = (before - a->lane * a->last.by) & ~a->last.any;
    uint64_t low = UINT32_MAX, changed = before ^ after;
    a->last.keeps = !changed ? UINT64_MAX : a->record->is_write ? 0 : changed & low ? ~low : low;
    uint64_t sets = after & ~a->last.keeps;
    a->last.after_by = lanes_in(sets);
    a->last.after = sets - a->lane * a->last.after_by;
}

/* All of a word. */
static inline void touch_dword(struct zs_race_access *a, const struct place *place, uint32_t i,
                               bool more)
{
    uint64_t before = word_of(place, i), after = before;
    if (a->last.is_known && ((before - a->lane * a->last.by) & ~a->last.any) == a->last.word) {
        after = (before & a->last.keeps) | (a->last.after + a->lane * a->last.after_by);
    } else {
        touch(a, &after, 15);
        if (more && before)
            remember(a, before, after);
    }
    put_word(place, i, before, after);
}

void zs_race_bytes(struct zs_race_access *a)
{
    uint64_t at = a->gpu_va, end = at + a->size_B;
    struct place place;
    while (at < end) {
        uint64_t to = ZS_MIN(end, (at & ~UINT64_C(3)) + 4);
        if (!place_of(a, at, &place))
            return;
        touch_word(a, &place, at / 4 % LINE_WORDS,
                   (15u << (at & 3) & 15) & (15u >> ((4 - (to & 3)) & 3)));
        at = to;
    }
}

/* What holds for the first word holds for all, but where lanes of one thread are others in each. */
static bool goes_by_line(struct zs_race_access *a, unsigned i, uint32_t half, uint32_t mine)
{
    return !half || !((half ^ mine) & ZS_RACE_RISES) || !verdict_of(a, i, half)->is_own ||
           a->record->is_whole || record_at(a->at->c, half)->is_whole;
}

/* All of a line. false: nothing was done. */
static inline bool touch_line(struct zs_race_access *a, const struct place *place)
{
    uint64_t line = *place->line == ZS_RACE_SPLIT ? joined(place->words) : *place->line;
    uint32_t read = (uint32_t)line, other = (uint32_t)(line >> 32);
    uint32_t mine = a->number | (unsigned)ZS_RACE_IS_THERE;
    if (!a->record->is_whole)
        mine |= a->lane << LANE_SHIFT | (a->rises ? (unsigned)ZS_RACE_RISES : 0u);
    if (line == ZS_RACE_SPLIT)
        return false;
    bool is_again = (a->record->is_write ? other : read) == mine && !(a->record->is_write && read);
    if (is_again)
        return true;
    if (!goes_by_line(a, 0, read, mine) || !goes_by_line(a, 1, other, mine) ||
        !touch_harmless(a, &line, read, other, mine))
        return false;
    *place->line = line;
    return true;
}

void zs_race_row(struct zs_race_access *a, uint64_t at, uint32_t count, bool rises)
{
    uint32_t first = a->lane, by = rises ? 1 : 0;
    struct place place;
    a->size_B = 4;
    a->rises = rises;
    for (uint32_t i = 0, n; i < count && !(a->is_quick && a->fails); i += n) {
        uint64_t from = at + i * 4;
        n = ZS_MIN(count - i, LINE_WORDS - (uint32_t)(from / 4 % LINE_WORDS));
        a->lane = first + i * by;
        if (!place_of(a, from, &place))
            return;
        for (uint32_t k = 0; k < n && (n < LINE_WORDS || k || !touch_line(a, &place)); k++) {
            a->lane = first + (i + k) * by;
            a->gpu_va = from + k * 4;
            touch_dword(a, &place, (uint32_t)(from / 4 % LINE_WORDS) + k, count > 1);
        }
    }
}
