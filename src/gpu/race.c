/* SPDX-License-Identifier: MIT */
/*
 * Races: two accesses of a launch to one byte, one of them a write, not both atomic, that nothing
 * orders. They are found whichever comes first, and whether or not they meet.
 *
 * A shadow word of 64 bits stands for four bytes of memory: in its high half who wrote last, in its
 * low half who read (the first of those that nothing orders; while nobody has written the high half
 * has the second one), or who was atomic after a plain write. Each names a record, a lane and the
 * bytes. A record is what one instruction of a thread does until the thread's next barrier, fence
 * or ordering atomic, so there are far fewer of them than accesses.
 *
 * Ordered are: accesses of one lane; of lanes of one thread with a fence or barrier between; of
 * threads of a group with a barrier between, where the first one has signalled it after its access
 * and the second has waited for it; and what order.c finds. What was written plainly needs a fence
 * of its memory in front of the barrier, too. What a thread does as a whole is
 * ordered with what its lanes do, but where it reads or is atomic once for all lanes: compilers
 * make that of what each of them does alike. With one lane on it is that lane's. One host thread
 * runs the launch.
 */
#include "gpu/between.h"
#include "gpu/check.h"

#include "base/vec.h"

#include <stdlib.h>

enum {
    PAGE_B = ZS_BETWEEN_PAGE_B,
    PAGE_WORDS = ZS_BETWEEN_WORDS,
    RECORDS_MAX = 1 << 22,
    RECORD_MASK = RECORDS_MAX - 1,
    LANE_SHIFT = 22,
    BYTES_SHIFT = ZS_BETWEEN_BYTES_SHIFT,
    VALUE_MAX_B = 8,
    HELD_MAX = 64,
    SLAB_B = 1 << 18,
    SLAB_DOUBLINGS = 12,
};
#define SECOND_READ (1u << 31)

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
    uint64_t *local;                /* words of the group's local memory; NULL: not asked for yet */
    struct zs_check_verdict *known; /* of words' halves, the last ones */
    /* of stores whose layout is known: values of lanes, else NULL */
    const uint8_t *values;
    uint32_t slot_B, component_B, chan_offset;
};

/* ---- records -----------------------------------------------------------------------------------
 */

static void forget_all(struct zs_gpu_checks *c)
{
    for (size_t i = 0; i < c->pages.capacity; i++) {
        if (c->pages.slots[i].value)
            memset(c->pages.slots[i].value, 0, PAGE_WORDS * sizeof(uint64_t));
    }
    if (c->local)
        memset(c->local, 0,
               (size_t)c->run->groups_per_worker * (c->run->slm_B / 4 + 1) * sizeof(uint64_t));
    c->records.count = 0;
    c->generation++;
    c->lost = true;
}

/* 0: no memory. */
static uint32_t record_of(struct zs_check_where *at, const struct zs_check_record *wanted)
{
    struct zs_gpu_checks *c = at->c;
    uint32_t slot = wanted->inst % ZS_ARRAY_LEN(at->thread->recent);
    if (at->thread->recent[slot].record && at->thread->recent[slot].inst == wanted->inst &&
        at->thread->recent[slot].epoch == wanted->epoch &&
        at->thread->recent[slot].generation == c->generation &&
        c->records.items[at->thread->recent[slot].record - 1].is_whole == wanted->is_whole)
        return at->thread->recent[slot].record;
    if (c->records.count >= RECORD_MASK)
        forget_all(c);
    if (!ZS_VEC_PUSH(&c->records, *wanted))
        return 0;
    at->thread->recent[slot].inst = wanted->inst;
    at->thread->recent[slot].epoch = wanted->epoch;
    at->thread->recent[slot].generation = c->generation;
    memset(at->thread->recent[slot].known, 0, sizeof(at->thread->recent[slot].known));
    return at->thread->recent[slot].record = (uint32_t)c->records.count;
}

static const struct zs_check_record *record_at(const struct zs_gpu_checks *c, uint32_t half)
{
    return &c->records.items[(half & RECORD_MASK) - 1];
}

static uint32_t lane_of(uint32_t half)
{
    return half >> LANE_SHIFT & 31;
}

/* ---- shadow ------------------------------------------------------------------------------------
 */

typedef uint64_t pair __attribute__((vector_size(16)));

/* Zeros. Slabs are the device's, as most launches have others behind them: memory that is fresh
 * from the host's system costs more than all that is done with it. */
static uint64_t *make_page(struct zs_gpu_checks *c)
{
    const size_t size_B = PAGE_WORDS * sizeof(uint64_t);
    struct zs_gpu_block *slab = &c->slabs[c->slab_count - (c->slab_count > 0)];
    if (!c->slab_count || slab->size_B - c->slab_used_B < size_B) {
        size_t wanted_B = (size_t)SLAB_B << ZS_MIN(c->slab_count, (uint32_t)SLAB_DOUBLINGS);
        slab = &c->slabs[c->slab_count];
        if (c->slab_count == ZS_CHECK_SLABS ||
            zs_gpu_block_get(c->run->device, wanted_B, slab) != 0)
            return NULL;
        c->slab_count++;
        c->slab_used_B = 0;
    }
    uint8_t *page = slab->data + c->slab_used_B;
    c->slab_used_B += size_B;
    return (uint64_t *)(void *)memset(page, 0, size_B);
}

static uint64_t *__attribute__((noinline)) find_page(struct zs_gpu_checks *c, uint64_t number)
{
    uint64_t *page = zs_id_map_get(&c->pages, number, 0);
    if (!page) {
        page = make_page(c);
        if (!page || zs_id_map_put(&c->pages, number, 0, page)) {
            c->lost = true;
            return NULL;
        }
    }
    c->recent[number % ZS_ARRAY_LEN(c->recent)].number = number;
    return c->recent[number % ZS_ARRAY_LEN(c->recent)].words = page;
}

static inline uint64_t *page_of(struct zs_gpu_checks *c, uint64_t gpu_va)
{
    uint64_t number = gpu_va / PAGE_B, slot = number % ZS_ARRAY_LEN(c->recent);
    return c->recent[slot].words && c->recent[slot].number == number ? c->recent[slot].words
                                                                     : find_page(c, number);
}

static uint64_t *local_of(const struct access *a)
{
    struct zs_gpu_checks *c = a->at->c;
    size_t words = c->run->slm_B / 4 + 1;
    size_t group = (size_t)(a->at->group->slm - a->at->w->slm) / a->at->w->slm_stride_B;
    if (!c->local)
        c->local = calloc(c->run->groups_per_worker * words, sizeof(*c->local));
    c->lost |= !c->local;
    return c->local ? c->local + group * words : NULL;
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

static void describe(const struct zs_gpu_run *run, const struct zs_check_record *r, uint32_t lane,
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
    describe(c->run, a->record, a->lane, &f.site[0]);
    c->stop_lane = a->lane;
    describe(c->run, r, lane_of(half), &f.site[1]);
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
    uint32_t read = (uint32_t)*word, other = (uint32_t)(*word >> 32);
    if (conflicts(a, other, bytes))
        report(a, other);
    if (conflicts(a, read, bytes))
        report(a, read);
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

/* The word that an address lies in; NULL: no memory. */
static inline uint64_t *word_at(struct access *a, uint64_t at)
{
    if (!a->is_slm) {
        uint64_t *page = page_of(a->at->c, at);
        return page ? page + at % PAGE_B / 4 : NULL;
    }
    if (!a->local)
        a->local = local_of(a);
    return a->local ? a->local + at / 4 : NULL;
}

static void touch_bytes(struct access *a)
{
    uint64_t at = a->gpu_va, end = at + a->size_B;
    while (at < end) {
        uint64_t *word = word_at(a, at), to = ZS_MIN(end, (at & ~UINT64_C(3)) + 4);
        uint32_t bytes = (15u << (at & 3) & 15) & (15u >> ((4 - (to & 3)) & 3));
        if (!word)
            return;
        touch(a, word, bytes);
        at = to;
    }
}

/* ---- messages ----------------------------------------------------------------------------------
 */

static bool is_of_launch(const struct zs_gpu_checks *c, const struct zs_port *port, uint64_t gpu_va)
{
    if (gpu_va - c->own.start < c->own.end - c->own.start)
        return true;
    for (uint32_t i = 0; i < port->launch_range_count; i++) {
        if (gpu_va >= port->launch_ranges[i].start && gpu_va < port->launch_ranges[i].end)
            return true;
    }
    return false;
}

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

/* How many pieces from this one on are dwords behind each other, of lanes that follow each other,
 * on a page. */
static uint32_t run_length(const struct zs_port_access *p, uint32_t count)
{
    uint32_t n = 1, room = (uint32_t)(PAGE_B - p->address % PAGE_B) / 4;
    count = ZS_MIN(count, room);
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

/* What a lane more is in the half of a word. */
static uint64_t lane_step(const struct access *a, uint64_t word)
{
    uint32_t low = (uint32_t)word, high = (uint32_t)(word >> 32);
    uint64_t step = low && !record_at(a->at->c, low)->is_whole ? 1u << LANE_SHIFT : 0;
    if (high && !record_at(a->at->c, high)->is_whole)
        step |= UINT64_C(1) << (LANE_SHIFT + 32);
    return step;
}

/*
 * Lanes beside each other mostly find words that lanes beside each other have left: each has a lane
 * more than the one before. What holds for the first holds for all of them then. false: they do
 * not, or something conflicts, and nothing was done.
 */
static bool touch_run(struct access *a, uint64_t *word, uint32_t count)
{
    uint64_t before = word[0], step = lane_step(a, before), differs;
    uint32_t read = (uint32_t)before, other = (uint32_t)(before >> 32), i = 0;
    uint32_t mine = a->number | a->lane << LANE_SHIFT | 15u << BYTES_SHIFT;
    pair expected = {before, before + step}, two = {2 * step, 2 * step}, wrong = {0, 0};
    for (; i + 1 < count; i += 2, expected += two) {
        pair found;
        memcpy(&found, word + i, sizeof(found));
        wrong |= found ^ expected;
    }
    differs = wrong[0] | wrong[1] | (i < count ? word[i] ^ expected[0] : 0);
    if (differs || (read && lane_of(read) + count > 32 && (uint32_t)step) ||
        (other && lane_of(other) + count > 32 && step >> 32))
        return false;
    if ((a->record->is_write ? other : read) == mine && !(a->record->is_write && read))
        return true;
    if (!touch_harmless(a, word, read, other, mine))
        return false;
    uint64_t after = word[0];
    if (after == before)
        return true;
    step = lane_step(a, after);
    expected = (pair){after, after + step};
    two = (pair){2 * step, 2 * step};
    for (i = 0; i + 1 < count; i += 2, expected += two)
        memcpy(word + i, &expected, sizeof(expected));
    if (i < count)
        word[i] = expected[0];
    return true;
}

/* Dwords of lanes from the first one on, behind each other; of reads also one for all. */
static void touch_row(struct access *a, const struct zs_port_row *row)
{
    uint64_t at = row->address;
    enter_space(a, row->is_slm);
    a->size_B = 4;
    for (uint32_t lane = 0, count; lane < (row->is_one ? 1 : row->lanes); lane += count) {
        count = row->is_one ? 1 : ZS_MIN(row->lanes - lane, (uint32_t)(PAGE_B - at % PAGE_B) / 4);
        uint64_t *word = word_at(a, at);
        a->lane = lane + a->chan_offset;
        if (!word)
            return;
        for (uint32_t i = 0; i < count && (i || count == 1 || !touch_run(a, word, count)); i++) {
            a->lane = lane + i + a->chan_offset;
            a->gpu_va = at + i * 4;
            touch(a, word + i, 15);
        }
        at += count * 4;
    }
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
    if (!(c->run->launch->flags & ZS_GPU_LAUNCH_STRICT) ||
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
    const struct zs_port *port = &a->at->w->port;
    uint32_t lane_before = UINT32_MAX;
    bool can_run = !a->only && !a->record->is_whole && !a->record->is_atomic;
    for (uint32_t i = 0; i < pieces->count; i++) {
        const struct zs_port_access *p = &pieces->pieces[i];
        bool several = p->size_B > a->m->element_B && p->lane != ZS_PORT_NO_LANE && a->values &&
                       p->size_B % a->m->element_B == 0;
        if (!a->record->is_write && i && p->address == p[-1].address && p->size_B == p[-1].size_B)
            continue; /* the lane before stands for it */
        uint32_t run =
            can_run && p->size_B == 4 && !(p->address & 3) ? run_length(p, pieces->count - i) : 1;
        if (!p->is_slm && is_of_launch(a->at->c, port, p->address))
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
        uint64_t *first = run > 1 ? word_at(a, p->address) : NULL;
        if (first && touch_run(a, first, run)) {
            i += run - 1;
            lane_before = pieces->pieces[i].lane;
            continue;
        }
        uint32_t step_B = several ? a->m->element_B : p->size_B;
        for (uint32_t at_B = 0; at_B < p->size_B; at_B += step_B) {
            a->gpu_va = p->address + at_B;
            a->size_B = step_B;
            uint64_t *word = step_B == 4 && !(a->gpu_va & 3) ? word_at(a, a->gpu_va) : NULL;
            if (word)
                touch(a, word, 15);
            else
                touch_bytes(a);
            a->element++;
        }
    }
}

/* What is known of other records stays so until the thread has waited for one more barrier: what
 * they did then was signalled before. */
static void find_known(struct access *a)
{
    size_t slot = a->inst % ZS_ARRAY_LEN(a->at->thread->recent);
    if (a->at->thread->recent[slot].passed != a->passed)
        memset(a->at->thread->recent[slot].known, 0, sizeof(a->at->thread->recent[slot].known));
    a->at->thread->recent[slot].passed = a->passed;
    a->is_slm = a->at->thread->recent[slot].is_slm;
    a->known = a->at->thread->recent[slot].known;
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

void zs_check_access(struct zs_check_where *at, const struct zs_eu_thread *t,
                     const struct zs_eu_send *send, const struct zs_port_message *m, bool is_atomic,
                     uint32_t lane_mask)
{
    uint8_t joined[ZS_EU_PAYLOAD_MAX_B];
    struct zs_port_accesses pieces;
    struct zs_port_row row;
    const uint8_t *payload = zs_eu_send_payload(t, send, m, joined);
    bool is_row = is_one_row(at, send, m, is_atomic, payload, lane_mask, &row);
    pieces.count = 0;
    if (!is_row)
        zs_port_accesses(&at->w->port, m, payload, lane_mask, &pieces);
    if (!is_row && !pieces.count)
        return;
    uint64_t first = is_row ? row.address : pieces.pieces[0].address;
    if (!(is_row ? row.is_slm : pieces.pieces[0].is_slm) &&
        is_of_launch(at->c, &at->w->port, first))
        return; /* the others are, too */
    uint32_t one_B = is_row ? 4 : pieces.pieces[0].size_B;
    bool is_scalar = send->d.no_mask && send->d.exec_size == 1;
    bool is_one = is_scalar && t->ce && !(t->ce & (t->ce - 1));
    bool has_no_lane = !is_row && pieces.pieces[0].lane == ZS_PORT_NO_LANE;
    struct zs_check_record wanted = {
        .group = (uint32_t)at->group->index,
        .inst = send->d.inst,
        .thread = (uint16_t)at->number,
        .is_write = m->bytes_written != 0 || is_atomic,
        .is_atomic = is_atomic,
        .is_whole = !is_one && (send->d.no_mask || has_no_lane),
        .by_all = is_scalar && !is_one && (is_atomic || !m->bytes_written),
        .size_B = (uint8_t)ZS_MIN(one_B, 255u),
        .signals = at->thread->signals,
        .epoch = at->thread->epoch,
        .log_at = (uint32_t)at->c->order.log.count,
        .fences = {at->thread->fences[0], at->thread->fences[1]},
    };
    struct access a = {.at = at,
                       .t = t,
                       .m = m,
                       .inst = send->d.inst,
                       .chan_offset = send->d.chan_offset,
                       .only = is_one ? t->ce : 0,
                       .passed = at->of_group->releases - ZS_MIN(t->n0[0], at->of_group->releases),
                       .number = record_of(at, &wanted)};
    if (!a.number) {
        at->c->lost = true;
        return;
    }
    a.record = record_at(at->c, a.number);
    find_known(&a);
    if (wanted.is_write && !is_atomic)
        find_values(&a, send, payload);
    else if (at->c->reads && is_atomic)
        find_guesses(&a, &pieces);
    else if (at->c->reads)
        note_reads(&a, &pieces);
    if (is_row)
        touch_row(&a, &row);
    else
        touch_pieces(&a, &pieces);
    at->thread->recent[send->d.inst % ZS_ARRAY_LEN(at->thread->recent)].is_slm = a.is_slm;
    if (is_atomic) /* what it orders is not itself: another one might have come first */
        order_atomic(at, &pieces);
}

/* ---- other commands ----------------------------------------------------------------------------
 */

static const uint64_t WORD_LANES = UINT64_C(31) << LANE_SHIFT | UINT64_C(31) << (LANE_SHIFT + 32);
enum { SITES_KNOWN = 64 };
struct known_site {
    uint64_t what;
    uint32_t number;
};

static uint32_t make_site(struct zs_gpu_checks *c, const struct zs_check_record *r, uint64_t what)
{
    const struct zs_gpu_run *run = c->run;
    const struct zs_gpu_launch *launch = run->launch;
    struct zs_between *between = launch->command->between;
    uint32_t number = zs_between_site(between, run->kernel->number, what);
    char source[2048];
    struct zs_gpu_site site;
    if (number)
        return number;
    describe(run, r, 0, &site);
    bool is_known = launch->find_line(launch->found_context, &site.instruction_offset_B, source,
                                      sizeof(source));
    return zs_between_add_site(between, run->kernel->number, what, run->kernel->module->name,
                               is_known ? source : NULL, &site);
}

/* Lanes and records are of this launch alone. */
static uint32_t as_command(struct zs_gpu_checks *c, struct known_site *known, uint32_t half)
{
    if (!(half & RECORD_MASK))
        return 0;
    const struct zs_check_record *r = record_at(c, half);
    uint64_t what = (uint64_t)r->inst << 2 | (uint64_t)r->is_write << 1 | r->is_atomic;
    struct known_site *k = &known[what % SITES_KNOWN];
    if (!k->number || k->what != what)
        *k = (struct known_site){what, make_site(c, r, what)};
    return k->number ? k->number | (half & 15u << BYTES_SHIFT) : 0;
}

static void compare_page(struct zs_gpu_checks *c, struct known_site *known, uint64_t number,
                         const uint64_t *words)
{
    uint64_t done[PAGE_WORDS], before = 0, after = 0;
    for (uint32_t i = 0; i < PAGE_WORDS; i++) {
        uint64_t word = words[i] & ~WORD_LANES; /* as its neighbours, mostly */
        if (word != before)
            after = (uint64_t)as_command(c, known, (uint32_t)(word >> 32)) << 32 |
                    as_command(c, known, (uint32_t)word);
        before = word;
        done[i] = after;
    }
    zs_between_page(c->run->launch->command, number, done);
}

static void compare_with_commands(struct zs_gpu_checks *c)
{
    struct known_site known[SITES_KNOWN] = {{0}};
    for (size_t i = 0; i < c->pages.capacity; i++) {
        if (c->pages.slots[i].value)
            compare_page(c, known, c->pages.slots[i].a, c->pages.slots[i].value);
    }
}

void zs_check_races_end(struct zs_gpu_checks *c)
{
    if (c->run->launch->command && c->records.count)
        compare_with_commands(c);
    for (uint32_t i = 0; i < c->held_count; i++) {
        struct zs_gpu_finding *f = &c->held[i].finding;
        if (f->note != ZS_GPU_NOTE_SAME_VALUE && is_guess(c, c->held[i].inst))
            f->note = ZS_GPU_NOTE_GUESS;
        zs_check_tell(c, f);
    }
    free(c->held);
    for (uint32_t i = 0; i < c->slab_count; i++)
        zs_gpu_block_put(c->run->device, &c->slabs[i]);
    zs_id_map_fini(&c->pages);
    free(c->local);
    free(c->records.items);
}
