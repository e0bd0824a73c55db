/* SPDX-License-Identifier: MIT */
/* What is read plainly, and is atomic then: such reads are guesses. And what atomics order. */
#include "gpu/race_priv.h"

/* ---- what is read plainly ----------------------------------------------------------------------
 */

bool zs_race_is_guess(const struct zs_gpu_checks *c, uint32_t inst)
{
    for (uint32_t i = 0; i < c->guess_count; i++) {
        if (c->guesses[i] == inst)
            return true;
    }
    return false;
}

static void add_guess(struct zs_gpu_checks *c, uint32_t inst)
{
    if (c->guess_count < ZS_ARRAY_LEN(c->guesses) && !zs_race_is_guess(c, inst))
        c->guesses[c->guess_count++] = inst;
}

/* ZS_CHECK_READS_KEPT of them. */
static struct zs_check_reads *reads_of(const struct zs_race_access *a)
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

/* Where what the instruction reads now is noted. */
static struct zs_check_reads *place_of_reads(const struct zs_race_access *a)
{
    struct zs_check_reads *all = reads_of(a), *reads = all;
    while (reads < all + ZS_CHECK_READS_KEPT && reads->count && reads->inst != a->inst)
        reads++;
    if (reads == all + ZS_CHECK_READS_KEPT) /* the oldest */
        reads = all + a->at->thread->reads_noted++ % ZS_CHECK_READS_KEPT;
    reads->inst = a->inst;
    return reads;
}

void zs_race_note_row(const struct zs_race_access *a, uint64_t address, uint32_t count)
{
    struct zs_check_reads *reads = place_of_reads(a);
    reads->is_row = true;
    reads->is_slm = a->is_slm;
    reads->count = count;
    reads->low = address;
    reads->high = address + 4 * (count - 1);
}

void zs_race_note_reads(const struct zs_race_access *a, const struct zs_port_accesses *pieces)
{
    struct zs_check_reads *reads = place_of_reads(a);
    reads->is_row = false;
    reads->count = (uint32_t)ZS_MIN((size_t)pieces->count, ZS_ARRAY_LEN(reads->pieces));
    for (uint32_t i = 0; i < reads->count; i++) {
        reads->pieces[i].address = pieces->pieces[i].address;
        reads->pieces[i].is_slm = pieces->pieces[i].is_slm;
    }
    find_ends(pieces, reads->count, &reads->low, &reads->high);
}

static bool has_read(const struct zs_check_reads *reads, const struct zs_port_access *p)
{
    if (reads->is_row)
        return p->is_slm == reads->is_slm && p->address >= reads->low &&
               p->address <= reads->high && (p->address - reads->low) % 4 == 0;
    for (uint32_t i = 0; i < reads->count; i++) {
        if (p->address == reads->pieces[i].address && p->is_slm == reads->pieces[i].is_slm)
            return true;
    }
    return false;
}

/* What the thread has read plainly it is atomic on now: a first guess, or a look before. */
void zs_race_find_guesses(const struct zs_race_access *a, const struct zs_port_accesses *pieces)
{
    uint64_t low, high;
    find_ends(pieces, pieces->count, &low, &high);
    for (uint32_t n = 0; n < ZS_CHECK_READS_KEPT; n++) {
        const struct zs_check_reads *reads = reads_of(a) + n;
        if (!reads->count || low > reads->high || high < reads->low ||
            zs_race_is_guess(a->at->c, reads->inst))
            continue;
        for (uint32_t i = 0; i < pieces->count; i++) {
            if (has_read(reads, &pieces->pieces[i])) {
                add_guess(a->at->c, reads->inst);
                break;
            }
        }
    }
}

/* ---- what atomics order ------------------------------------------------------------------------
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

static inline void order_at(struct zs_check_where *at, uint64_t address, bool is_slm)
{
    uint64_t space = is_slm ? at->group->index + 1 : 0;
    if (!at->thread->fenced)
        put_off(at->thread, address, space);
    else
        zs_check_order_atomic(&at->c->order, at->group->index, at->number, address, space);
}

void zs_race_order(struct zs_check_where *at, const struct zs_port_accesses *pieces)
{
    if (!at->c->logs)
        return;
    for (uint32_t i = 0; i < pieces->count; i++) {
        if (!i || pieces->pieces[i].address != pieces->pieces[i - 1].address)
            order_at(at, pieces->pieces[i].address, pieces->pieces[i].is_slm);
    }
    at->thread->epoch += at->thread->fenced;
}

/* The same of a dword of each lane; before, what zs_race_find_guesses() does. */
void zs_race_order_lanes(const struct zs_race_access *a, const uint64_t *addresses,
                         uint32_t lane_mask, uint32_t first)
{
    struct zs_check_where *at = a->at;
    uint64_t before = UINT64_MAX, space = a->is_slm ? at->group->index + 1 : 0;
    if (!at->c->logs)
        return;
    if (at->thread->fenced)
        zs_check_order_lanes(&at->c->order, at->group->index, at->number, addresses - first,
                             lane_mask, space);
    for (uint32_t rest = at->thread->fenced ? 0 : lane_mask; rest; rest &= rest - 1) {
        uint64_t address = addresses[(uint32_t)__builtin_ctz(rest) - first];
        if (address != before)
            put_off(at->thread, address, space);
        before = address;
    }
    at->thread->epoch += at->thread->fenced;
}

/* Some of what was read is of local memory, or none of it. */
static bool has_space(const struct zs_check_reads *reads, bool is_slm)
{
    bool has = reads->is_row && reads->is_slm == is_slm;
    for (uint32_t i = 0; !reads->is_row && i < reads->count && !has; i++)
        has = reads->pieces[i].is_slm == is_slm;
    return has;
}

void zs_race_guess_lanes(const struct zs_race_access *a, const uint64_t *addresses,
                         uint32_t lane_mask, uint32_t first)
{
    struct zs_port_accesses pieces;
    uint64_t low = UINT64_MAX, high = 0;
    bool may = false;
    for (uint32_t n = 0; n < ZS_CHECK_READS_KEPT; n++)
        may |= reads_of(a)[n].count && has_space(&reads_of(a)[n], a->is_slm);
    for (uint32_t rest = may ? lane_mask : 0; rest; rest &= rest - 1) {
        uint64_t address = addresses[(uint32_t)__builtin_ctz(rest) - first];
        low = ZS_MIN(low, address);
        high = ZS_MAX(high, address);
    }
    may = false;
    for (uint32_t n = 0; n < ZS_CHECK_READS_KEPT; n++)
        may |= reads_of(a)[n].count && low <= reads_of(a)[n].high && high >= reads_of(a)[n].low;
    pieces.count = 0;
    for (uint32_t rest = may ? lane_mask : 0; rest; rest &= rest - 1) {
        uint64_t address = addresses[(uint32_t)__builtin_ctz(rest) - first];
        pieces.pieces[pieces.count].address = address;
        pieces.pieces[pieces.count++].is_slm = a->is_slm;
    }
    if (may)
        zs_race_find_guesses(a, &pieces);
}
