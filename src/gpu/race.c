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
 * make that of what each of them does alike. With one lane on it is that lane's. A word remembers
 * few accesses: groups that run in another order, or on several workers, may show other pairs.
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
#define EARLIER     ZS_RACE_EARLIER

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
    struct zs_race_page *page; /* NULL: local memory */
};

/* Who has read since the last write, or was atomic. */
static inline uint32_t read_of(uint64_t word)
{
    return (int32_t)(uint32_t)word < 0 ? 0 : (uint32_t)word;
}

/* Of an address; false: no memory. */
static inline bool place_of(struct zs_race_access *a, uint64_t at, struct place *ret)
{
    struct zs_gpu_checks *c = a->at->c;
    if (!a->is_slm) {
        struct zs_race_page *page = zs_race_page_of(c, at, a->record->is_write);
        uint32_t line = at % ZS_BETWEEN_PAGE_B / LINE_B;
        if (ZS_UNLIKELY(!page))
            return false;
        if (zs_race_is_list(page))
            zs_race_unlist(c, page);
        page->quiet_words = a->record->is_write ? 0 : page->quiet_words;
        if (ZS_UNLIKELY(zs_race_is_quiet(page) && a->record->is_write)) {
            atomic_store_explicit(&page->is_quiet, false, memory_order_relaxed);
            c->reaches.quiet[at / ZS_BETWEEN_PAGE_B % ZS_EU_REACHES_QUIET] = UINT64_MAX;
        }
        *ret = (struct place){page->lines + line, page->words + (size_t)line * LINE_WORDS, page};
        return true;
    }
    uint64_t *local = a->at->local, line = at / LINE_B;
    if (ZS_UNLIKELY(!local))
        local = a->at->local = zs_race_local(c, a->at->group);
    *ret =
        (struct place){local + line, local + zs_race_local_lines(c->run) + line * LINE_WORDS, NULL};
    return local != NULL;
}

/* What is stored in it is to be known; looked for before it is touched or, is_late, behind that. */
static inline bool wants_values(const struct zs_race_access *a, const struct place *place,
                                bool is_late)
{
    return a->record->is_write && !a->record->is_atomic && place->page && a->is_late == is_late &&
           ZS_UNLIKELY(zs_race_is_shared(place->page) || (!a->is_quick && a->at->c->shares));
}

static void split(const struct place *place)
{
    uint64_t word = zs_race_word(*place->line, 0), step = zs_race_word(*place->line, 1) - word;
    for (uint32_t i = 0; i < LINE_WORDS; i++, word += step)
        place->words[i] = word;
    *place->line = ZS_RACE_SPLIT;
}

static bool is_half(uint32_t half, bool rises)
{
    return !half ||
           ((half >> BYTES_SHIFT & 15) == 15 && !(rises && lane_of(half) + LINE_WORDS - 1 > 31));
}

/* The line of words that rise by a step from a first one; ZS_RACE_SPLIT: there is none. */
static uint64_t line_of(uint64_t first, uint64_t step)
{
    const uint64_t low = UINT64_C(1) << LANE_SHIFT, high = low << 32;
    uint32_t halves[2] = {(uint32_t)first, (uint32_t)(first >> 32)};
    bool rises[2] = {step & low, step & high};
    if (!is_half(halves[0], rises[0]) || !is_half(halves[1], rises[1]))
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
    const struct zs_check_record *r = record_at(a->at->c, half), *now = a->record;
    if (r->group == now->group && r->thread == now->thread)
        return (r->inst != now->inst && a->at->c->in_step) || is_own(a, r, half) ||
               (is_parted(a, r) && is_seen(a, r));
    return r->group == now->group && is_parted(a, r) && is_seen(a, r);
}

static bool conflicts(const struct zs_race_access *a, uint32_t half, uint32_t bytes)
{
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
    if (!m->lanes && m->shape == ZS_PORT_SHAPE_LSC) { /* one block */
        a->values = src1;
        return;
    }
    if (!m->lanes || m->gather || m->element_B > VALUE_MAX_B || m->upper)
        return;
    if (m->shape == ZS_PORT_SHAPE_LSC || m->shape == ZS_PORT_SHAPE_ADDRESSES ||
        m->shape == ZS_PORT_SHAPE_OFFSETS || m->shape == ZS_PORT_SHAPE_DWORD_OFFSETS) {
        const uint8_t *behind = src0 + m->header_grf * 32u + (size_t)m->lanes * m->address_B;
        a->slot_B = m->slot_B;
        a->component_B = m->component_B;
        a->values = m->data_in_src1 || m->shape == ZS_PORT_SHAPE_LSC ? src1 : behind;
    }
}

static const uint8_t *value_of(const struct zs_race_access *a, uint32_t lane, uint32_t element)
{
    return a->values + (size_t)element * a->component_B +
           (size_t)(a->only ? 0 : lane - a->chan_offset) * a->slot_B;
}

const uint8_t *zs_race_value(const struct zs_race_access *a, uint32_t lane)
{
    bool is_known = a->values && !(a->m->lanes && a->size_B != a->m->element_B);
    return is_known ? value_of(a, lane, a->element) : NULL;
}

/* Which element a lane in front has stored there by this very message, not in another round of a
 * loop; -1: none. */
static int64_t element_of(const struct zs_race_access *a, uint32_t half)
{
    int64_t element = 0;
    uint32_t lane = lane_of(half), element_B = ZS_MAX(a->m->element_B, 1u);
    bool is_in_front = (half & RECORD_MASK) == a->number && lane < a->lane;
    for (uint32_t i = 0; is_in_front && a->pieces && i < a->pieces->count; i++) {
        const struct zs_port_access *p = &a->pieces->pieces[i];
        if (p->lane == ZS_PORT_NO_LANE || p->lane + a->chan_offset != lane)
            continue;
        if (p->is_slm == a->is_slm && a->gpu_va - p->address < p->size_B)
            return element + (int64_t)((a->gpu_va - p->address) / element_B);
        element += ZS_MAX(p->size_B / element_B, 1u);
    }
    return -1;
}

/* What was written there before, by this message or another, is what this lane writes. */
static bool writes_the_same(const struct zs_race_access *a, uint32_t half)
{
    if (a->knows_same && !(a->m->lanes && a->size_B != a->m->element_B))
        return a->same >> (a->lane - a->chan_offset) & 1;
    const uint8_t *mine = zs_race_value(a, a->lane);
    if (!mine || !a->record->is_write)
        return false;
    int64_t theirs = element_of(a, half);
    if (theirs >= 0)
        return !memcmp(mine, value_of(a, lane_of(half), (uint32_t)theirs), a->size_B);
    if (a->is_slm)
        return !memcmp(mine, a->at->group->slm + a->gpu_va, a->size_B);
    struct zs_gpu_allocation there; /* none is refused once it is asked, and threads may go on */
    return zs_gpu_memory_of_host(a->at->c->run->launch->memory, a->gpu_va, &there) &&
           there.gpu_va + there.bias + there.size_B - a->gpu_va >= a->size_B &&
           zs_race_memory_is(mine, a->gpu_va, a->size_B);
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
    if (r->is_atomic != a->record->is_atomic || r->group != a->record->group)
        return NULL; /* it is the two's */
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

void zs_race_tell(struct zs_gpu_checks *c, const struct zs_check_record *const who[2],
                  const uint32_t lanes[2], struct zs_gpu_finding *f)
{
    f->kind = ZS_GPU_FINDING_RACE;
    f->site_count = 2;
    if (who[0]->is_atomic != who[1]->is_atomic)
        f->advice = "one is atomic and the other is not: make both atomic, or order them";
    else if (!f->advice)
        f->advice = "groups of a launch have no order: two launches, or atomics with release and "
                    "acquire, order them";
    uint32_t size_B = f->site[0].size_B;
    for (uint32_t i = 0; i < 2; i++)
        zs_race_describe(c->run, who[i], lanes[i], &f->site[i]);
    f->site[0].size_B = size_B;
    c->stop_lane = lanes[0];
    for (uint32_t i = 0; i < 2; i++) {
        if (who[i]->is_atomic && !who[!i]->is_write) {
            hold(c, f, who[!i]->inst);
            return;
        }
    }
    zs_check_tell(c, f);
}

static void report(const struct zs_race_access *a, uint32_t half)
{
    struct zs_gpu_checks *c = a->at->c;
    const struct zs_check_record *r = record_at(c, half);
    uint64_t low = ZS_MIN(r->inst, a->inst), high = ZS_MAX(r->inst, a->inst);
    enum zs_gpu_finding_note note = note_of(a, half);
    uint64_t pair = (low << 33 | high << 1 | (note != 0)) + 1;
    if (pair == c->known_pair)
        return;
    if (!zs_check_is_new(c, low, high, note != 0)) {
        c->known_pair = c->logs ? 0 : pair; /* pairs that were in order are asked for again */
        return;
    }
    if (zs_check_ordered(&c->order, r, a->record->group, a->record->thread, a->passed)) {
        zs_check_is_new(c, low, high, 2u + (note != 0)); /* the pair is asked again */
        return;
    }
    struct zs_gpu_finding f = {
        .note = note, .is_local = a->is_slm, .gpu_va = a->gpu_va, .advice = advice_of(a, r)};
    const struct zs_check_record *const who[2] = {a->record, r};
    f.site[0].size_B = a->size_B;
    zs_race_tell(c, who, (const uint32_t[]){a->lane, lane_of(half)}, &f);
}

/* ---- words -------------------------------------------------------------------------------------
 */

static inline uint64_t after_write(const struct zs_race_access *a, uint64_t word, uint32_t mine)
{
    uint32_t earlier = a->is_slm ? 0 : (uint32_t)word;
    return (uint64_t)mine << 32 | (earlier ? earlier | EARLIER : 0);
}

/* A plain write before it stays: others' atomics may race with that, and not with this one. */
static uint64_t after_atomic(const struct zs_race_access *a, uint64_t word, uint32_t mine)
{
    uint32_t written = (uint32_t)(word >> 32);
    bool plain = written && !(written & SECOND_READ) && !record_at(a->at->c, written)->is_atomic;
    if (plain && a->is_slm)
        plain = record_at(a->at->c, written)->group == a->record->group;
    return plain ? (word & ~(uint64_t)UINT32_MAX) | mine : after_write(a, word, mine);
}

static uint64_t after_read(const struct zs_race_access *a, uint64_t word, uint32_t mine)
{
    uint32_t read = read_of(word), written = (uint32_t)(word >> 32);
    bool stale = read && a->is_slm && record_at(a->at->c, read)->group != a->record->group;
    bool atomic = read && record_at(a->at->c, read)->is_write;
    if (!read || stale || (!atomic && is_before(a, read)))
        return (word & ~(uint64_t)UINT32_MAX) | mine;
    if (!written)
        return word | (uint64_t)(mine | SECOND_READ) << 32;
    return word;
}

/* What holds for all lanes is kept; of another thread, or a part in front of this one, longer. */
static enum zs_race_relation __attribute__((noinline))
find_relation(struct zs_race_access *a, unsigned i, uint32_t half)
{
    const struct zs_check_record *r = record_at(a->at->c, half), *now = a->record;
    uint32_t key = (half & RECORD_MASK) | (uint32_t)a->is_slm << 31;
    uint32_t slot = half % ZS_ARRAY_LEN(a->at->asked);
    bool before, by_lane = false;
    if (a->at->asked[slot] == key) {
        before = a->at->was_before[slot];
    } else if (r->group != now->group) {
        before = a->is_slm; /* local memory of another group is that of one that has ended */
    } else if ((before = is_parted(a, r) && is_seen(a, r)) || r->thread != now->thread) {
        a->at->has_asked = true;
        a->at->asked[slot] = key;
        a->at->was_before[slot] = before;
    } else if (!(before = r->inst != now->inst && a->at->c->in_step)) {
        before = is_own(a, r, half);
        by_lane = true;
    }
    enum zs_race_relation relation = before                         ? ZS_RACE_BEFORE
                                     : r->is_write || now->is_write ? ZS_RACE_AGAINST
                                                                    : ZS_RACE_BESIDE;
    if (!by_lane) {
        a->known[i].number = half & RECORD_MASK;
        a->known[i].relation = relation;
    }
    return relation;
}

static inline enum zs_race_relation relation_to(struct zs_race_access *a, unsigned i, uint32_t half)
{
    return a->known[i].number == (half & RECORD_MASK) ? a->known[i].relation
                                                      : find_relation(a, i, half);
}

static bool is_atomic_now(const struct zs_race_access *a, uint32_t half)
{
    const struct zs_check_record *r = record_at(a->at->c, half);
    return r->is_write && !(a->is_slm && r->group != a->record->group);
}

/* The word of a plain access, where nothing conflicts; false: it is not that simple. */
static inline bool touch_harmless(struct zs_race_access *a, uint64_t *word, uint32_t read,
                                  uint32_t other, uint32_t mine)
{
    enum zs_race_relation to_read = read ? relation_to(a, 0, read) : ZS_RACE_BEFORE;
    bool both_read = other & SECOND_READ && !a->record->is_write;
    if (to_read == ZS_RACE_AGAINST ||
        (other && !both_read && relation_to(a, 1, other) == ZS_RACE_AGAINST))
        return false;
    if (a->record->is_write)
        *word = after_write(a, *word, mine);
    else if (to_read == ZS_RACE_BEFORE && !(read && is_atomic_now(a, read)))
        *word = (*word & ~(uint64_t)UINT32_MAX) | mine;
    else if (!other)
        *word |= (uint64_t)(mine | SECOND_READ) << 32;
    return true;
}

static void __attribute__((noinline))
touch_slowly(struct zs_race_access *a, uint64_t *word, uint32_t bytes, uint32_t mine)
{
    const uint32_t halves[2] = {(uint32_t)(*word >> 32), read_of(*word)};
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
        *word = a->record->is_write ? after_write(a, *word, mine) : after_read(a, *word, mine);
}

/* What an atomic finds are atomics, or what was before it. */
static bool meets_atomics(struct zs_race_access *a, uint32_t read, uint32_t other)
{
    const struct zs_gpu_checks *c = a->at->c;
    return (!read || record_at(c, read)->is_atomic) &&
           (!other || record_at(c, other)->is_atomic || relation_to(a, 1, other) == ZS_RACE_BEFORE);
}

/* What a word keeps of it: which record's, which lane's, which bytes. */
static inline uint32_t half_of(const struct zs_race_access *a, uint32_t bytes)
{
    return a->number | (a->record->is_whole ? 0 : a->lane) << LANE_SHIFT | bytes << BYTES_SHIFT;
}

static inline void touch(struct zs_race_access *a, uint64_t *word, uint32_t bytes)
{
    uint32_t read = read_of(*word), other = (uint32_t)(*word >> 32);
    uint32_t mine = half_of(a, bytes);
    if ((a->record->is_write ? other : read) == mine && !(a->record->is_write && read))
        return; /* again */
    if (!*word)
        *word = a->record->is_write ? (uint64_t)mine << 32 : mine;
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

/* What words differ by that follow each other, in each half: lanes rise by one. */
static const uint64_t LANE_LOW = UINT64_C(1) << LANE_SHIFT;
static const uint64_t LANE_HIGH = UINT64_C(1) << (LANE_SHIFT + 32);

/* Of half a word which has been asked for: what holds for it does for all lanes, or they rise as
 * this access's do. */
static inline bool goes_along(const struct zs_race_access *a, unsigned i, uint32_t half, bool rises)
{
    return !half || a->known[i].number == (half & RECORD_MASK) || rises == a->rises;
}

/* Words of a page, or of local memory, of which a row touches some that follow each other. */
struct run {
    uint64_t before, step;      /* the first one, and what each differs by from the one before */
    uint64_t after, after_step; /* what becomes of them */
    uint32_t count;
};

static inline uint64_t word_at(const struct place *all, uint32_t word)
{
    uint64_t line = all->line[word / LINE_WORDS];
    return line == ZS_RACE_SPLIT ? all->words[word] : zs_race_word(line, word % LINE_WORDS);
}

/* Behind the first word those that differ from it in lanes alone: the same becomes of them. */
static inline void follow(const struct zs_race_access *a, const struct place *all, uint32_t word,
                          uint32_t count, struct run *run)
{
    run->count = 1;
    if (count == 1 || a->record->is_atomic)
        return;
    run->step = word_at(all, word + 1) - run->before;
    if (run->step & ~(LANE_LOW | LANE_HIGH) ||
        !goes_along(a, 0, read_of(run->before), run->step & LANE_LOW) ||
        !goes_along(a, 1, (uint32_t)(run->before >> 32), run->step & LANE_HIGH))
        return;
    uint64_t changed = run->before ^ run->after, by = a->rises && !a->record->is_whole;
    bool is_low = (uint32_t)changed & ~EARLIER, is_high = changed >> 32;
    run->after_step = (is_low ? (by && (uint32_t)run->after) * LANE_LOW : run->step & LANE_LOW) |
                      (is_high ? (by && run->after >> 32) * LANE_HIGH : run->step & LANE_HIGH);
    for (uint64_t next = run->before + run->step; run->count < count; next += run->step) {
        if (word_at(all, word + run->count) != next)
            return;
        run->count++;
    }
}

static inline void put_run(const struct place *all, uint32_t word, const struct run *run)
{
    uint64_t after = run->after;
    if (after == run->before && (run->count == 1 || run->after_step == run->step))
        return;
    for (uint32_t i = 0, n; i < run->count; i += n) {
        uint32_t at = word + i, in = at % LINE_WORDS;
        uint64_t *line = &all->line[at / LINE_WORDS];
        struct place place = {line, all->words + (at - in), NULL};
        n = ZS_MIN(run->count - i, LINE_WORDS - in);
        uint64_t whole = n == LINE_WORDS ? line_of(after, run->after_step) : ZS_RACE_SPLIT;
        if (*line != ZS_RACE_SPLIT && whole == ZS_RACE_SPLIT && n < LINE_WORDS)
            split(&place);
        *line = whole;
        for (uint32_t k = 0; k < n; k++, after += run->after_step)
            place.words[in + k] = after;
    }
}

/* As many words from an address on as are of one page, which nobody has written; 0: it is not that.
 */
static inline uint32_t list_row(const struct zs_race_access *a, uint64_t at, uint32_t count)
{
    if (a->is_slm || a->record->is_write)
        return 0;
    struct zs_race_page *page = zs_race_page_of(a->at->c, at, false);
    uint32_t word = (uint32_t)(at % ZS_BETWEEN_PAGE_B / 4);
    uint32_t n = ZS_MIN(count, ZS_BETWEEN_WORDS - word);
    return page && zs_race_list(page, zs_race_read(a->number, a->lane, a->rises, word, n)) ? n : 0;
}

void zs_race_bytes(struct zs_race_access *a)
{
    uint64_t at = a->gpu_va, end = at + a->size_B;
    struct place place;
    while (at < end) {
        uint64_t to = ZS_MIN(end, (at & ~UINT64_C(3)) + 4);
        if (to - at == 4 && list_row(a, at, 1)) {
            at = to;
            continue;
        }
        if (!place_of(a, at, &place))
            return;
        if (wants_values(a, &place, false))
            zs_race_note_values(a, place.page, at, (uint32_t)(to - at), 1, a->lane);
        touch_word(a, &place, at / 4 % LINE_WORDS,
                   (15u << (at & 3) & 15) & (15u >> ((4 - (to & 3)) & 3)));
        if (wants_values(a, &place, true))
            zs_race_note_values(a, place.page, at, (uint32_t)(to - at), 1, a->lane);
        at = to;
    }
}

/* All of a line. false: nothing was done. */
static inline bool touch_line(struct zs_race_access *a, const struct place *place)
{
    uint64_t line = *place->line;
    uint32_t mine = a->number | (unsigned)ZS_RACE_IS_THERE;
    if (!a->record->is_whole)
        mine |= a->lane << LANE_SHIFT | (a->rises ? (unsigned)ZS_RACE_RISES : 0u);
    if (!line) {
        *place->line = a->record->is_write ? (uint64_t)mine << 32 : mine;
        return true;
    }
    uint32_t read = read_of(line), other = (uint32_t)(line >> 32);
    bool is_again = (a->record->is_write ? other : read) == mine && !(a->record->is_write && read);
    if (is_again)
        return true;
    if (!touch_harmless(a, &line, read, other, mine) ||
        !goes_along(a, 0, read, read & ZS_RACE_RISES) ||
        !goes_along(a, 1, other, other & ZS_RACE_RISES))
        return false;
    *place->line = line;
    return true;
}

/* ---- reads of what was only read --------------------------------------------------------------
 */

/* Who read before, of what is read now. */
enum reader { READER_OTHER, READER_BESIDE, READER_LANES /* of this thread: by lane */ };

static enum reader find_reader(const struct zs_race_access *a, uint32_t read)
{
    const struct zs_check_record *r = record_at(a->at->c, read), *now = a->record;
    if (r->is_write || (a->is_slm && r->group != now->group))
        return READER_OTHER;
    if (r->group != now->group)
        return READER_BESIDE;
    if (r->thread != now->thread)
        return a->passed > r->signals ? READER_OTHER : READER_BESIDE;
    bool is_by_lane = r->epoch == now->epoch && !r->is_whole && !now->is_whole;
    return is_by_lane && !a->at->c->in_step ? READER_LANES : READER_OTHER;
}

/* Who read last, of those that were looked at. */
struct readers {
    uint32_t number;
    enum reader reader;
};

static inline enum reader reader_of(const struct zs_race_access *a, struct readers *last,
                                    uint32_t read)
{
    if (ZS_UNLIKELY(last->number != (read & RECORD_MASK))) {
        last->reader = find_reader(a, read);
        last->number = read & RECORD_MASK;
    }
    return last->reader;
}

/* What becomes of a word. false: it is not so simple. */
static inline bool read_word(const struct zs_race_access *a, struct readers *last, uint64_t *word,
                             uint32_t mine)
{
    uint32_t read = (uint32_t)*word, other = (uint32_t)(*word >> 32);
    if (!*word) {
        *word = mine;
        return true;
    }
    enum reader reader = read ? reader_of(a, last, read) : READER_OTHER;
    if (reader == READER_OTHER || (other && !(other & SECOND_READ)))
        return false;
    if (reader == READER_LANES && lane_of(read) == (mine >> LANE_SHIFT & 31))
        *word = (*word & ~(uint64_t)UINT32_MAX) | mine;
    else if (!other)
        *word |= (uint64_t)(mine | SECOND_READ) << 32;
    return true;
}

/* How many of these words, which are of one line, it was that simple for. */
static inline uint32_t read_words(const struct zs_race_access *a, struct readers *last,
                                  const struct place *place, uint32_t in, uint32_t count)
{
    uint32_t mine = half_of(a, 15);
    uint32_t step = a->rises ? 1u << LANE_SHIFT : 0, i = 0;
    if (*place->line != ZS_RACE_SPLIT) {
        uint32_t read = (uint32_t)*place->line;
        if (*place->line >> 63 && read && reader_of(a, last, read) == READER_BESIDE)
            return count;
        split(place);
    }
    for (uint64_t *word = place->words + in; i < count; i++, word++, mine += step) {
        uint32_t read = (uint32_t)*word;
        bool is_known = last->reader == READER_BESIDE && (read & RECORD_MASK) == last->number;
        if (ZS_LIKELY(is_known && *word >> 63))
            continue;
        if (is_known && !(*word >> 32))
            *word |= (uint64_t)(mine | SECOND_READ) << 32;
        else if (!read_word(a, last, word, mine))
            break;
    }
    return i;
}

/* Words of one line that nobody has touched. false: some are others. */
static inline bool write_words(const struct zs_race_access *a, const struct place *place,
                               uint32_t in, uint32_t count)
{
    uint32_t mine = half_of(a, 15);
    uint32_t step = a->rises ? 1u << LANE_SHIFT : 0;
    uint64_t any = 0;
    for (uint32_t i = 0; i < count && *place->line; i++)
        any |= place->words[in + i];
    if (*place->line && (*place->line != ZS_RACE_SPLIT || any))
        return false;
    if (!*place->line)
        split(place);
    for (uint32_t i = 0; i < count; i++, mine += step)
        place->words[in + i] = (uint64_t)mine << 32;
    return true;
}

/* Words from one on, which is a->gpu_va; false: enough. */
static bool touch_words(struct zs_race_access *a, const struct place *all, uint32_t word,
                        uint32_t count)
{
    const uint32_t by = a->rises;
    struct readers last = {0, READER_OTHER};
    for (uint32_t n; count; count -= n, word += n, a->lane += n * by, a->gpu_va += n * 4) {
        struct place place = {all->line + word / LINE_WORDS, NULL, NULL};
        n = LINE_WORDS;
        if (word % LINE_WORDS == 0 && count >= LINE_WORDS && *place.line != ZS_RACE_SPLIT &&
            touch_line(a, &place))
            continue;
        uint32_t in = word % LINE_WORDS;
        place.words = all->words + (word - in);
        n = ZS_MIN(count, LINE_WORDS - in);
        if (a->record->is_write ? write_words(a, &place, in, n)
                                : (n = read_words(a, &last, &place, in, n)) > 0)
            continue;
        struct run run = {.before = word_at(all, word)};
        run.after = run.before;
        touch(a, &run.after, 15);
        if (a->fails && a->is_quick)
            return false;
        if (a->fails)
            run.count = 1;
        else
            follow(a, all, word, count, &run);
        put_run(all, word, &run);
        n = run.count;
    }
    return true;
}

bool zs_race_page_words(struct zs_race_access *a, struct zs_race_page *page, uint32_t word,
                        uint32_t count)
{
    const struct place all = {page->lines, page->words, page};
    return touch_words(a, &all, word, count);
}

void zs_race_row(struct zs_race_access *a, uint64_t at, uint32_t count, bool rises)
{
    a->size_B = 4;
    a->rises = rises;
    a->gpu_va = at;
    while (count) {
        struct place all;
        uint32_t word = a->is_slm ? 0 : (uint32_t)(a->gpu_va % ZS_BETWEEN_PAGE_B / 4);
        uint32_t n = list_row(a, a->gpu_va, count);
        if (n) {
            a->gpu_va += n * 4;
            a->lane += rises ? n : 0;
            count -= n;
            continue;
        }
        n = a->is_slm ? count : ZS_MIN(count, ZS_BETWEEN_WORDS - word);
        if (!place_of(a, a->gpu_va & ~(uint64_t)(LINE_B - 1), &all))
            return;
        uint32_t lane = a->lane;
        uint64_t va = a->gpu_va;
        if (wants_values(a, &all, false))
            zs_race_note_values(a, all.page, va, 4, n, lane);
        if (!touch_words(a, &all, (uint32_t)(va / 4 % LINE_WORDS), n))
            return;
        if (wants_values(a, &all, true))
            zs_race_note_values(a, all.page, va, 4, n, lane);
        count -= n;
    }
}

/* Of words of a page, or of local memory: all that is known of one is an atomic. */
static inline bool meets_atomic(const struct zs_race_access *a, const struct place *all,
                                uint32_t word)
{
    uint32_t other = (uint32_t)(all->words[word] >> 32);
    return all->line[word / LINE_WORDS] == ZS_RACE_SPLIT && other && !(uint32_t)all->words[word] &&
           a->at->c->whats[(other & RECORD_MASK) - 1] & 1 && !a->record->is_whole;
}

bool zs_race_lanes(struct zs_race_access *a, const uint64_t *addresses, uint32_t lane_mask,
                   uint32_t first)
{
    uint64_t before_va = UINT64_MAX;
    struct place all = {NULL, NULL, NULL};
    const bool is_plain = a->record->is_write && !a->record->is_atomic;
    a->size_B = 4;
    a->rises = false;
    for (uint32_t rest = lane_mask; rest && !(a->is_quick && a->fails); rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        uint64_t va = addresses[lane - first];
        a->gpu_va = va;
        a->lane = lane + a->chan_offset;
        if (va & 3)
            return false;
        bool is_same = va == before_va && !a->record->is_write;
        before_va = va;
        if (is_same || list_row(a, va, 1))
            continue;
        if ((!a->is_slm || !all.line) &&
            !place_of(a, a->is_slm ? 0 : va - va % ZS_BETWEEN_PAGE_B, &all))
            continue;
        if (is_plain && wants_values(a, &all, false))
            zs_race_note_values(a, all.page, va, 4, 1, a->lane);
        uint32_t word = (uint32_t)(a->is_slm ? va / 4 : va / 4 % ZS_BETWEEN_WORDS);
        if (a->record->is_atomic && meets_atomic(a, &all, word)) {
            uint32_t mine = a->number | a->lane << LANE_SHIFT | 15u << BYTES_SHIFT;
            all.words[word] = (uint64_t)mine << 32;
            continue;
        }
        struct run run = {.before = word_at(&all, word), .count = 1};
        run.after = run.before;
        touch(a, &run.after, 15);
        put_run(&all, word, &run);
    }
    return true;
}
