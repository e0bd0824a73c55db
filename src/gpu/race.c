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
 *
 * Compiled code says what a message reaches before it carries it out; where something conflicts, it
 * gives way to the data port, and is looked at again.
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

struct access {
    struct zs_check_where *at;
    const struct zs_eu_thread *t;
    const struct zs_port_message *m;
    const struct zs_check_record *record;
    uint32_t number; /* of the record, from 1 on */
    uint32_t inst;
    uint32_t passed; /* barriers that the thread has waited for */
    uint64_t gpu_va;
    uint32_t size_B, lane, element;
    uint32_t only; /* the lane in whose name it is one access for all; 0: lanes have their own */
    bool is_slm;
    bool is_quick, fails;           /* nothing is told: something conflicts */
    bool rises;                     /* of a row: each dword is of the next lane */
    uint64_t *local;                /* lines of the group's local memory; NULL: not asked for yet */
    struct zs_check_verdict *known; /* of words' halves, the last ones */
    /* of stores whose layout is known: values of lanes, else NULL */
    /* What became of a whole word, the same for others that differ from it in lanes: in any, or as
     * this access's lanes do, which `by` and `after_by` are multiplied by. */
    struct {
        bool is_known;
        uint64_t any, by, word, keeps, after, after_by;
    } last;
    const uint8_t *values;
    uint32_t slot_B, component_B, chan_offset;
};

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
static inline bool place_of(struct access *a, uint64_t at, struct place *ret)
{
    struct zs_gpu_checks *c = a->at->c;
    if (!a->is_slm) {
        struct zs_race_page *page = zs_race_page_of(c, at);
        uint32_t line = at % ZS_BETWEEN_PAGE_B / LINE_B;
        *ret = (struct place){page->lines + line, page->words + (size_t)line * LINE_WORDS};
        return page != NULL;
    }
    if (!a->local)
        a->local = zs_race_local(c, a->at->group);
    uint64_t line = at / LINE_B;
    *ret =
        (struct place){a->local + line, a->local + zs_race_local_lines(c->run) + line * LINE_WORDS};
    return a->local != NULL;
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
static bool is_own(const struct access *a, const struct zs_check_record *r, uint32_t half)
{
    const struct zs_check_record *now = a->record;
    if (r->is_whole || now->is_whole)
        return (r->is_whole && !r->by_all) || (now->is_whole && !now->by_all) ||
               (r->is_whole && now->is_whole);
    return lane_of(half) == a->lane;
}

static bool is_own_lane(const struct access *a, uint32_t half)
{
    return is_own(a, record_at(a->at->c, half), half);
}

/* A barrier, of one thread a fence too, is between what a thread of the group did and now. */
static bool is_parted(const struct access *a, const struct zs_check_record *r)
{
    return r->thread == a->record->thread ? r->epoch != a->record->epoch : a->passed > r->signals;
}

/* ... and what it wrote a fence made seen, in front of that barrier. Who has read has its value. */
static bool is_seen(const struct access *a, const struct zs_check_record *r)
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
static bool is_before(const struct access *a, uint32_t half)
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

static bool conflicts(const struct access *a, uint32_t half, uint32_t bytes)
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

/* Where the values of a store's lanes stand. */
static void find_values(struct access *a, const struct zs_eu_send *send, const uint8_t *src0)
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

static const uint8_t *value_of(const struct access *a, uint32_t lane)
{
    return a->values + (size_t)a->element * a->component_B +
           (size_t)(a->only ? 0 : lane - a->chan_offset) * a->slot_B;
}

/* What was written there before, by this message or another, is what this lane writes. */
static bool writes_the_same(const struct access *a, uint32_t half)
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

static const char *advice_of(const struct access *a, const struct zs_check_record *r)
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

static enum zs_gpu_finding_note note_of(const struct access *a, uint32_t half)
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

static bool is_guess(const struct zs_gpu_checks *c, uint32_t inst)
{
    for (uint32_t i = 0; i < c->guess_count; i++) {
        if (c->guesses[i] == inst)
            return true;
    }
    return false;
}

static void add_guess(struct zs_gpu_checks *c, uint32_t inst)
{
    if (c->guess_count < ZS_ARRAY_LEN(c->guesses) && !is_guess(c, inst))
        c->guesses[c->guess_count++] = inst;
}

/* ZS_CHECK_READS_KEPT of them. */
static struct zs_check_reads *reads_of(const struct access *a)
{
    size_t index = (size_t)(a->at->thread - a->at->c->threads);
    return a->at->c->reads + index * ZS_CHECK_READS_KEPT;
}

static void find_ends(const struct zs_port_accesses *pieces, uint32_t count, uint64_t *ret_low,
                      uint64_t *ret_high)
{
    *ret_low = UINT64_MAX;
    *ret_high = 0;
    for (uint32_t i = 0; i < count; i++) {
        *ret_low = ZS_MIN(*ret_low, pieces->pieces[i].address);
        *ret_high = ZS_MAX(*ret_high, pieces->pieces[i].address);
    }
}

static void note_reads(const struct access *a, const struct zs_port_accesses *pieces)
{
    struct zs_check_reads *all = reads_of(a), *reads = all;
    while (reads < all + ZS_CHECK_READS_KEPT && reads->count && reads->inst != a->inst)
        reads++;
    if (reads == all + ZS_CHECK_READS_KEPT) /* the oldest */
        reads = all + a->at->thread->reads_noted++ % ZS_CHECK_READS_KEPT;
    reads->inst = a->inst;
    reads->count = (uint32_t)ZS_MIN((size_t)pieces->count, ZS_ARRAY_LEN(reads->pieces));
    for (uint32_t i = 0; i < reads->count; i++) {
        reads->pieces[i].address = pieces->pieces[i].address;
        reads->pieces[i].is_slm = pieces->pieces[i].is_slm;
    }
    find_ends(pieces, reads->count, &reads->low, &reads->high);
}

static bool has_read(const struct zs_check_reads *reads, const struct zs_port_access *p)
{
    for (uint32_t i = 0; i < reads->count; i++) {
        if (p->address == reads->pieces[i].address && p->is_slm == reads->pieces[i].is_slm)
            return true;
    }
    return false;
}

/* What the thread has read plainly it is atomic on now: a first guess, or a look before. */
static void find_guesses(const struct access *a, const struct zs_port_accesses *pieces)
{
    uint64_t low, high;
    find_ends(pieces, pieces->count, &low, &high);
    for (uint32_t n = 0; n < ZS_CHECK_READS_KEPT; n++) {
        const struct zs_check_reads *reads = reads_of(a) + n;
        if (!reads->count || low > reads->high || high < reads->low ||
            is_guess(a->at->c, reads->inst))
            continue;
        for (uint32_t i = 0; i < pieces->count; i++) {
            if (has_read(reads, &pieces->pieces[i])) {
                add_guess(a->at->c, reads->inst);
                break;
            }
        }
    }
}

static void report(const struct access *a, uint32_t half)
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
static uint64_t after_atomic(const struct access *a, uint64_t word, uint32_t mine)
{
    uint32_t written = (uint32_t)(word >> 32);
    bool plain = written && !(written & SECOND_READ) && !record_at(a->at->c, written)->is_atomic;
    if (plain && a->is_slm)
        plain = record_at(a->at->c, written)->group == a->record->group;
    return plain ? (word & ~(uint64_t)UINT32_MAX) | mine : after_write(mine);
}

static uint64_t after_read(const struct access *a, uint64_t word, uint32_t mine)
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
judge(const struct access *a, uint32_t half)
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

static inline const struct zs_check_verdict *verdict_of(struct access *a, unsigned i, uint32_t half)
{
    if (a->known[i].number != (half & RECORD_MASK))
        a->known[i] = judge(a, half);
    return &a->known[i];
}

/* The word of a plain access, where nothing conflicts; false: it is not that simple. */
static inline bool touch_harmless(struct access *a, uint64_t *word, uint32_t read, uint32_t other,
                                  uint32_t mine)
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
touch_slowly(struct access *a, uint64_t *word, uint32_t bytes, uint32_t mine)
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

static inline void touch(struct access *a, uint64_t *word, uint32_t bytes)
{
    uint32_t read = (uint32_t)*word, other = (uint32_t)(*word >> 32);
    uint32_t mine =
        a->number | (a->record->is_whole ? 0 : a->lane) << LANE_SHIFT | bytes << BYTES_SHIFT;
    if ((a->record->is_write ? other : read) == mine && !(a->record->is_write && read))
        return; /* again */
    if (a->record->is_atomic || !touch_harmless(a, word, read, other, mine))
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

static void touch_word(struct access *a, const struct place *place, uint32_t i, uint32_t bytes)
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

static void remember(struct access *a, uint64_t before, uint64_t after)
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
static inline void touch_dword(struct access *a, const struct place *place, uint32_t i, bool more)
{
    uint64_t before = word_of(place, i), after = before;
    if (a->last.is_known && ((before - a->lane * a->last.by) & ~a->last.any) == a->last.word) {
        after = (before & a->last.keeps) | (a->last.after + a->lane * a->last.after_by);
    } else {
        touch(a, &after, 15);
        if (more)
            remember(a, before, after);
    }
    put_word(place, i, before, after);
}

static void touch_bytes(struct access *a)
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
static bool goes_by_line(struct access *a, unsigned i, uint32_t half, uint32_t mine)
{
    return !half || !((half ^ mine) & ZS_RACE_RISES) || !verdict_of(a, i, half)->is_own ||
           a->record->is_whole || record_at(a->at->c, half)->is_whole;
}

/* All of a line. false: nothing was done. */
static inline bool touch_line(struct access *a, const struct place *place)
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

/* Dwords behind each other, by a->lane, or lanes from there on. */
static void touch_row(struct access *a, uint64_t at, uint32_t count, bool rises)
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

/* ---- messages ----------------------------------------------------------------------------------
 */

/* As many places as there is room for, the last ones: a lock is one, flags of others are some. */
static void put_off(struct zs_check_thread *thread, uint64_t where, uint64_t space)
{
    const size_t room = ZS_ARRAY_LEN(thread->pending);
    for (size_t i = 0; i < ZS_MIN(thread->pending_count, room); i++) {
        if (thread->pending[i].where == where && thread->pending[i].space == space)
            return;
    }
    thread->pending[thread->pending_count % room].where = where;
    thread->pending[thread->pending_count++ % room].space = space;
}

static void order_atomic(struct zs_check_where *at, const struct zs_port_accesses *pieces)
{
    if (!at->c->logs)
        return;
    for (uint32_t i = 0; i < pieces->count; i++) {
        const struct zs_port_access *p = &pieces->pieces[i];
        uint64_t space = p->is_slm ? at->group->index + 1 : 0;
        if (i && p->address == pieces->pieces[i - 1].address)
            continue;
        if (!at->thread->fenced)
            put_off(at->thread, p->address, space);
        else
            zs_check_order_atomic(&at->c->order, at->group->index, at->number, p->address, space);
    }
    at->thread->epoch += at->thread->fenced;
}

/* How many pieces from this one on are dwords behind each other, of lanes that follow each other.
 */
static uint32_t run_length(const struct zs_port_access *p, uint32_t count)
{
    uint32_t n = 1;
    while (n < count && p[n].address == p->address + n * 4 && p[n].size_B == 4 &&
           p[n].lane == p->lane + n && p[n].is_slm == p->is_slm)
        n++;
    return n;
}

/* What is known is so of one space. */
static void enter_space(struct access *a, bool is_slm)
{
    if (a->is_slm == is_slm)
        return;
    a->known[0].number = a->known[1].number = a->at->asked = 0;
    a->is_slm = is_slm;
}

/* Messages of bytes take any address, and the load/store cache but for atomics. */
static uint32_t alignment_of(const struct zs_port_message *m, bool is_atomic)
{
    bool by_dwords =
        m->shape == ZS_PORT_SHAPE_DWORD_OFFSETS ||
        (m->channels && (m->shape == ZS_PORT_SHAPE_OFFSETS || m->shape == ZS_PORT_SHAPE_ADDRESSES));
    bool is_typed = m->shape == ZS_PORT_SHAPE_TYPED;
    return by_dwords || (is_atomic && !is_typed) ? ZS_MIN(m->element_B, 4u) : 1;
}

static void tell_unaligned(struct access *a, const struct zs_port_access *p)
{
    struct zs_gpu_checks *c = a->at->c;
    a->fails = true;
    if (a->is_quick || !(c->run->launch->flags & ZS_GPU_LAUNCH_STRICT) ||
        !zs_check_is_new(c, a->inst, UINT32_MAX >> 4, 0))
        return;
    struct zs_gpu_finding f = {
        .kind = ZS_GPU_FINDING_UNALIGNED,
        .is_local = p->is_slm,
        .gpu_va = p->address,
        .site_count = 1,
        .advice = "devices need what the pointer's type promises: read parts by vload or as char"};
    zs_check_site(c->run, a->at->group->index, a->at->number, a->inst, (int)a->lane, &f.site[0]);
    f.site[0].is_write = a->record->is_write;
    f.site[0].is_atomic = a->record->is_atomic;
    f.site[0].size_B = p->size_B;
    zs_check_tell(c, &f);
}

static void touch_pieces(struct access *a, const struct zs_port_accesses *pieces)
{
    const uint64_t below = alignment_of(a->m, a->record->is_atomic) - 1;
    uint32_t lane_before = UINT32_MAX;
    bool can_run = !a->only && !a->record->is_whole && !a->record->is_atomic;
    for (uint32_t i = 0; i < pieces->count && !(a->is_quick && a->fails); i++) {
        const struct zs_port_access *p = &pieces->pieces[i];
        bool several = p->size_B > a->m->element_B && p->lane != ZS_PORT_NO_LANE && a->values &&
                       p->size_B % a->m->element_B == 0;
        if (!a->record->is_write && i && p->address == p[-1].address && p->size_B == p[-1].size_B)
            continue; /* the lane before stands for it */
        uint32_t run =
            can_run && p->size_B == 4 && !(p->address & 3) ? run_length(p, pieces->count - i) : 1;
        if (!p->is_slm && zs_race_is_own(a->at->c, p->address))
            continue;
        if (p->lane != lane_before)
            a->element = 0;
        lane_before = p->lane;
        a->lane = a->only                      ? (uint32_t)__builtin_ctz(a->only)
                  : p->lane == ZS_PORT_NO_LANE ? 0
                                               : p->lane + a->chan_offset;
        if (p->address & below)
            tell_unaligned(a, p);
        enter_space(a, p->is_slm);
        if (run > 1) {
            touch_row(a, p->address, run, true);
            i += run - 1;
            lane_before = pieces->pieces[i].lane;
            continue;
        }
        uint32_t step_B = several ? a->m->element_B : p->size_B;
        for (uint32_t at_B = 0; at_B < p->size_B; at_B += step_B) {
            a->gpu_va = p->address + at_B;
            a->size_B = step_B;
            touch_bytes(a);
            a->element++;
        }
    }
}

static bool is_one_row(const struct zs_check_where *at, const struct zs_eu_send *send,
                       const struct zs_port_message *m, bool is_atomic, const uint8_t *payload,
                       uint32_t lane_mask, struct zs_port_row *ret)
{
    bool is_write = m->bytes_written != 0;
    return !is_atomic && !send->d.no_mask && (is_write || !at->c->reads) &&
           zs_port_row(&at->w->port, m, payload, lane_mask, ret) && !(ret->address & 3) &&
           !(is_write && ret->is_one);
}

static uint32_t add_record(struct zs_check_where *at, const struct zs_eu_send *send,
                           const struct zs_port_message *m, bool is_atomic, bool is_whole,
                           bool is_scalar, uint32_t size_B)
{
    struct zs_gpu_checks *c = at->c;
    const struct zs_check_thread *thread = at->thread;
    if (!zs_race_make_room(c))
        return 0;
    c->records[c->record_count++] = (struct zs_check_record){
        .group = (uint32_t)at->group->index,
        .inst = send->d.inst,
        .signals = thread->signals,
        .epoch = thread->epoch,
        .log_at = (uint32_t)c->order.log.count,
        .fences = {thread->fences[0], thread->fences[1]},
        .thread = (uint16_t)at->number,
        .size_B = (uint8_t)ZS_MIN(size_B, 255u),
        .is_write = m->bytes_written != 0 || is_atomic,
        .is_atomic = is_atomic,
        .is_whole = is_whole,
        .by_all = is_scalar && is_whole && (is_atomic || !m->bytes_written)};
    return c->record_count;
}

/* Of a message whose parts have lanes, or have none. false: no memory. What is known of other
 * records stays so until the thread has waited for one more barrier: what they did then was
 * signalled before. */
static inline bool begin(struct access *ret, struct zs_check_where *at,
                         const struct zs_eu_thread *t, const struct zs_eu_send *send,
                         const struct zs_port_message *m, bool is_atomic, bool has_no_lane,
                         uint32_t size_B)
{
    bool is_scalar = send->d.no_mask && send->d.exec_size == 1;
    bool is_one = is_scalar && t->ce && !(t->ce & (t->ce - 1));
    bool is_whole = !is_one && (send->d.no_mask || has_no_lane);
    struct zs_check_recent *recent = &at->thread->recent[send->d.inst % ZS_CHECK_RECENT];
    uint32_t passed = at->of_group->releases - ZS_MIN(t->n0[0], at->of_group->releases);
    bool is_again = recent->record && recent->inst == send->d.inst &&
                    recent->epoch == at->thread->epoch && recent->is_whole == is_whole &&
                    recent->generation == at->c->generation;
    if (!is_again) {
        recent->record = add_record(at, send, m, is_atomic, is_whole, is_scalar, size_B);
        recent->inst = send->d.inst;
        recent->epoch = at->thread->epoch;
        recent->is_whole = is_whole;
        recent->generation = at->c->generation;
    }
    if (!is_again || recent->passed != passed) {
        recent->passed = passed;
        recent->known[0].number = recent->known[1].number = 0;
    }
    at->asked = 0;
    at->c->lost |= !recent->record;
    ret->at = at;
    ret->t = t;
    ret->m = m;
    ret->number = recent->record;
    ret->record = recent->record ? record_at(at->c, recent->record) : NULL;
    ret->inst = send->d.inst;
    ret->passed = passed;
    ret->only = is_one ? t->ce : 0;
    ret->chan_offset = send->d.chan_offset;
    ret->is_slm = recent->is_slm;
    ret->is_quick = ret->fails = ret->rises = false;
    ret->local = NULL;
    ret->known = recent->known;
    ret->values = NULL;
    ret->element = 0;
    ret->last.is_known = false;
    return ret->record != NULL;
}

static void end(const struct access *a)
{
    a->at->thread->recent[a->inst % ZS_CHECK_RECENT].is_slm = a->is_slm;
}

void zs_check_access(struct zs_check_where *at, const struct zs_eu_thread *t,
                     const struct zs_eu_send *send, const struct zs_port_message *m, bool is_atomic,
                     uint32_t lane_mask)
{
    uint8_t joined_payload[ZS_EU_PAYLOAD_MAX_B];
    struct zs_port_accesses pieces;
    struct zs_port_row row;
    struct access a;
    const uint8_t *payload = zs_eu_send_payload(t, send, m, joined_payload);
    bool is_row = is_one_row(at, send, m, is_atomic, payload, lane_mask, &row);
    pieces.count = 0;
    if (!is_row)
        zs_port_accesses(&at->w->port, m, payload, lane_mask, &pieces);
    if (!is_row && !pieces.count)
        return;
    uint64_t first = is_row ? row.address : pieces.pieces[0].address;
    if (!(is_row ? row.is_slm : pieces.pieces[0].is_slm) && zs_race_is_own(at->c, first))
        return; /* the others are, too */
    if (!begin(&a, at, t, send, m, is_atomic, !is_row && pieces.pieces[0].lane == ZS_PORT_NO_LANE,
               is_row ? 4 : pieces.pieces[0].size_B))
        return;
    if (a.record->is_write && !is_atomic)
        find_values(&a, send, payload);
    else if (at->c->reads && is_atomic)
        find_guesses(&a, &pieces);
    else if (at->c->reads)
        note_reads(&a, &pieces);
    if (is_row) {
        enter_space(&a, row.is_slm);
        a.lane = a.chan_offset;
        touch_row(&a, row.address, row.is_one ? 1 : row.lanes, true);
    } else {
        touch_pieces(&a, &pieces);
    }
    end(&a);
    if (is_atomic) /* what it orders is not itself: another one might have come first */
        order_atomic(at, &pieces);
}

/* Channels of a lane, if there are holes between them. */
static uint32_t channels_of(const struct zs_port_message *m)
{
    return m->lanes && m->channels & (m->channels + 1u) ? m->channels : 0;
}

static uint32_t size_of(const struct zs_port_message *m)
{
    return m->lanes ? (uint32_t)m->element_B * m->elements : m->block_B;
}

static void add_piece(const struct zs_port_message *m, uint64_t address, uint32_t lane,
                      struct zs_port_accesses *ret)
{
    uint32_t channels = channels_of(m);
    struct zs_port_access piece = {.address = address,
                                   .size_B = size_of(m),
                                   .lane = m->lanes ? (uint8_t)lane : ZS_PORT_NO_LANE,
                                   .is_slm = m->space == ZS_PORT_SPACE_SLM};
    if (!channels)
        ret->pieces[ret->count++] = piece;
    for (; channels && ret->count < ZS_PORT_ACCESSES_MAX; channels &= channels - 1) {
        piece.address = address + (uint64_t)m->element_B * (unsigned)__builtin_ctz(channels);
        piece.size_B = m->element_B;
        ret->pieces[ret->count++] = piece;
    }
}

/* Of each lane that is on, of a message in line. */
static void list_lanes(const struct zs_port_message *m, uint32_t lane_mask, enum zs_eu_reach how,
                       uint64_t address, uint32_t first, struct zs_port_accesses *ret)
{
    const uint64_t *addresses = (const uint64_t *)(uintptr_t)address;
    ret->count = 0;
    for (uint32_t rest = lane_mask; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        add_piece(m,
                  how == ZS_EU_REACH_LANES ? addresses[lane - first]
                  : how == ZS_EU_REACH_ROW ? address + (uint64_t)lane * m->element_B
                                           : address,
                  lane, ret);
        if (how == ZS_EU_REACH_ONE || !m->lanes)
            break;
    }
}

/* Rows of dwords of lanes, one for each channel; or what one lane or the thread as a whole reaches.
 */
static bool reach_rows(struct access *a, enum zs_eu_reach how, uint64_t address, uint32_t lane_mask)
{
    const struct zs_port_message *m = a->m;
    uint32_t low = (uint32_t)__builtin_ctz(lane_mask), mask = lane_mask >> low,
             holes = channels_of(m);
    uint32_t size_B = size_of(m), lanes = 32 - (uint32_t)__builtin_clz(mask);
    uint32_t channels = holes ? holes : (1u << m->elements) - 1;
    uint32_t lane = a->only    ? (uint32_t)__builtin_ctz(a->only)
                    : m->lanes ? a->chan_offset + low
                               : 0;
    if ((address | size_B) & 3 || a->record->is_atomic)
        return false;
    if (how == ZS_EU_REACH_ONE && !holes) {
        a->lane = lane;
        touch_row(a, address, size_B / 4, false);
        return true;
    }
    if (how == ZS_EU_REACH_ONE || m->element_B != 4 || mask & (mask + 1))
        return false;
    for (; channels; channels &= channels - 1) {
        a->lane = lane;
        touch_row(a, address + (low + (uint32_t)__builtin_ctz(channels)) * 4u, lanes,
                  !a->record->is_whole);
    }
    return true;
}

/* Lane by lane. */
static void __attribute__((noinline))
reach_lanes(struct access *a, enum zs_eu_reach how, uint64_t address, uint32_t lane_mask,
            uint32_t first)
{
    struct zs_port_accesses pieces;
    bool is_atomic = a->record->is_atomic;
    list_lanes(a->m, lane_mask, how, address, first, &pieces);
    if (a->at->c->reads && is_atomic)
        find_guesses(a, &pieces);
    else if (a->at->c->reads && !a->record->is_write)
        note_reads(a, &pieces);
    touch_pieces(a, &pieces);
    if (is_atomic && !a->fails)
        order_atomic(a->at, &pieces);
}

bool zs_check_reach(struct zs_eu_thread *t, const struct zs_eu_send *send, uint32_t lane_mask,
                    enum zs_eu_reach how, uint64_t address, uint32_t first)
{
    const struct zs_port_message_row *row = NULL;
    const struct zs_port_message *m = zs_eu_send_message(send, &row);
    struct zs_check_where *at = zs_check_where(t);
    bool is_slm = m->space == ZS_PORT_SPACE_SLM, is_lanes = how == ZS_EU_REACH_LANES;
    bool is_noted = at->c->reads && (row->is_atomic || !m->bytes_written);
    struct access a;
    if (!lane_mask || !at->c->races)
        return true;
    if (!is_slm && (is_lanes || is_noted)) {
        const uint64_t *all = (const uint64_t *)(uintptr_t)address;
        uint32_t lane = (uint32_t)__builtin_ctz(lane_mask);
        if (zs_race_is_own(at->c, is_lanes ? all[lane - first] : address))
            return true;
    }
    if (!begin(&a, at, t, send, m, row->is_atomic, !m->lanes, size_of(m)))
        return true;
    a.is_quick = true;
    enter_space(&a, is_slm);
    if (is_noted || is_lanes || !reach_rows(&a, how, address, lane_mask))
        reach_lanes(&a, how, address, lane_mask, first);
    end(&a);
    return !a.fails;
}

/* ---- the end -----------------------------------------------------------------------------------
 */

void zs_check_races_end(struct zs_gpu_checks *c)
{
    for (uint32_t i = 0; i < c->held_count; i++) {
        struct zs_gpu_finding *f = &c->held[i].finding;
        if (f->note != ZS_GPU_NOTE_SAME_VALUE && is_guess(c, c->held[i].inst))
            f->note = ZS_GPU_NOTE_GUESS;
        zs_check_tell(c, f);
    }
    free(c->held);
    zs_race_shadow_end(c);
}
