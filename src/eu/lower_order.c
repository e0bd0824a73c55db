/* SPDX-License-Identifier: MIT */
/*
 * The order in which the instructions of a window are lowered.
 *
 * What an operation of 32 lanes makes is passed on in the host's registers to one that needs it
 * and comes next (exec_linked.c). Compilers do the opposite: they put something else between two
 * such instructions, to hide how long the first takes. So, within what dependencies allow,
 * instructions of few lanes go to the front, and behind each of 32 lanes comes one that reads what
 * it wrote. Messages and what is not known stay where they are among each other.
 *
 * If that one alone reads it, it need not be stored: behind the two in their block it is
 * overwritten, or the block ends and no block of the program reads these registers, or
 * accumulators, in lanes where it has not written them itself.
 */
#include "eu/lower_address.h"
#include "eu/lower_operand.h"

#include <limits.h>
#include <string.h>

enum { REACH = 24, LINKED_LANES = 32, LINKED_B = 4 * LINKED_LANES };

static bool may_move(const struct zs_eu_slot *slot)
{
    return slot->state == ZS_EU_SLOT_OWN && !slot->touch.stays &&
           zs_eu_touches_operands_alone(&slot->whole);
}

static bool is_chained(const struct zs_eu_slot *slot)
{
    return may_move(slot) && slot->whole.exec_size == LINKED_LANES;
}

/* One channel, or the same for all: nothing is passed on to it. */
static bool is_small(const struct zs_eu_slot *slot)
{
    for (unsigned i = 0; i < slot->whole.source_count && i < 3; i++)
        if (slot->touch.read[i].end_B - slot->touch.read[i].begin_B > 8)
            return false;
    return may_move(slot);
}

/* Those of few lanes as far to the front as may be. */
static void raise_small(struct zs_eu_window *w)
{
    for (uint32_t i = 1; i < w->count; i++) {
        const struct zs_eu_slot *slot = &w->slots[w->order[i]];
        uint32_t to = i, least = i > REACH ? i - REACH : 0;
        if (!is_small(slot))
            continue;
        while (to > least && zs_eu_slot_passes(slot, &w->slots[w->order[to - 1]]))
            to--;
        uint8_t moved = w->order[i];
        memmove(&w->order[to + 1], &w->order[to], i - to);
        w->order[to] = moved;
    }
}

/* A comparison of numbers that a block ends by comes last, in front of the jump. */
static void lower_comparison(struct zs_eu_window *w)
{
    uint32_t last = w->count - 1, at = last;
    const struct zs_isa_inst *jump = &w->slots[w->order[last]].inst;

    if (jump->op != ZS_OP_JMPI || !jump->pred)
        return;
    for (uint32_t i = last; i-- > 0;) {
        const struct zs_eu_slot *slot = &w->slots[w->order[i]];
        if (slot->whole.cond && slot->whole.flag_reg == jump->flag_reg) {
            at = slot->whole.op == ZS_OP_CMP && zs_eu_dst_is_null(&slot->whole) && is_small(slot)
                     ? i
                     : last;
            break;
        }
    }
    for (uint32_t i = at + 1; i < last; i++)
        if (w->slots[w->order[i]].touch.stays || /* it may read the flag, as a register */
            !zs_eu_slot_passes(&w->slots[w->order[i]], &w->slots[w->order[at]]))
            return;
    if (at + 1 >= last)
        return;
    uint8_t moved = w->order[at];
    memmove(&w->order[at], &w->order[at + 1], last - 1 - at);
    w->order[last - 1] = moved;
}

static bool takes_from(const struct zs_eu_slot *slot, const struct zs_eu_slot *from)
{
    struct zs_eu_bytes made = from->touch.written[0];

    for (unsigned i = 0; i < 3; i++)
        if (slot->touch.read[i].begin_B == made.begin_B && slot->touch.read[i].end_B == made.end_B)
            return true;
    return false;
}

/*
 * Those between the chain that ends at `at` and the one at `taker` which have to stand in front of
 * that one, and what these depend on: bits from the place behind `at` on.
 */
static uint32_t find_needed(const struct zs_eu_window *w, uint32_t at, uint32_t taker)
{
    uint32_t needed = 0;

    for (uint32_t i = taker; i-- > at + 1;) {
        const struct zs_eu_slot *slot = &w->slots[w->order[i]];
        bool is_needed = !zs_eu_slot_passes(&w->slots[w->order[taker]], slot);
        for (uint32_t k = i + 1; k < taker && !is_needed; k++)
            is_needed =
                needed >> (k - at - 1) & 1 && !zs_eu_slot_passes(&w->slots[w->order[k]], slot);
        needed |= (uint32_t)is_needed << (i - at - 1);
    }
    return needed;
}

/* Whether these may stand in front of the chain. */
static bool may_lead(const struct zs_eu_window *w, uint32_t chain, uint32_t at, uint32_t needed)
{
    for (; needed; needed &= needed - 1) {
        const struct zs_eu_slot *slot =
            &w->slots[w->order[at + 1 + (uint32_t)__builtin_ctz(needed)]];
        if (!may_move(slot))
            return false;
        for (uint32_t i = chain; i <= at; i++)
            if (!zs_eu_slot_passes(slot, &w->slots[w->order[i]]))
                return false;
    }
    return true;
}

/* The place of one that takes what the chain that begins at `chain` ends with, at `at`, and may
 * come next; 0: there is none. ret_needed: those which have to go in front of the chain then. */
static uint32_t find_taker(const struct zs_eu_window *w, uint32_t chain, uint32_t at,
                           uint32_t *ret_needed)
{
    const struct zs_eu_slot *from = &w->slots[w->order[at]];
    uint32_t end = ZS_MIN(w->count, at + REACH);

    if (!is_chained(from) ||
        from->touch.written[0].end_B - from->touch.written[0].begin_B != LINKED_B)
        return 0;
    for (uint32_t i = at + 1; i < end; i++) {
        const struct zs_eu_slot *slot = &w->slots[w->order[i]];
        if (slot->touch.stays && slot->state == ZS_EU_SLOT_OWN)
            return 0;
        if (!is_chained(slot) || !takes_from(slot, from))
            continue;
        *ret_needed = find_needed(w, at, i);
        if (may_lead(w, chain, at, *ret_needed))
            return i;
    }
    return 0;
}

/* What is needed, the chain, its taker, the others. */
static void reorder(struct zs_eu_window *w, uint32_t chain, uint32_t at, uint32_t taker,
                    uint32_t needed)
{
    uint8_t old[ZS_EU_WINDOW];
    uint32_t to = chain;

    memcpy(old, w->order, sizeof(old));
    for (uint32_t i = at + 1; i < taker; i++)
        if (needed >> (i - at - 1) & 1)
            w->order[to++] = old[i];
    for (uint32_t i = chain; i <= at; i++)
        w->order[to++] = old[i];
    w->order[to++] = old[taker];
    for (uint32_t i = at + 1; i < taker; i++)
        if (!(needed >> (i - at - 1) & 1))
            w->order[to++] = old[i];
}

/* ---- what need not be stored -------------------------------------------------------------------
 */

static bool writes_dwords(const struct zs_eu_slot *slot)
{
    const struct zs_isa_operand *dst = &slot->whole.dst;
    struct zs_eu_bytes made = slot->touch.written[0];

    return is_chained(slot) && zs_eu_type_B(dst->type) == 4 &&
           made.end_B - made.begin_B == LINKED_B;
}

/* All that `first` has written, in the same lanes. */
static bool overwrites(const struct zs_eu_slot *later, const struct zs_eu_slot *first)
{
    const struct zs_isa_inst *inst = &later->whole;

    return writes_dwords(later) && (!inst->pred || inst->op == ZS_OP_SEL) &&
           later->touch.written[0].begin_B == first->touch.written[0].begin_B &&
           (inst->flags & ZS_INST_NOMASK || !(first->whole.flags & ZS_INST_NOMASK));
}

/* The place of the one that is lowered next. */
static uint32_t next_own(const struct zs_eu_window *w, uint32_t at)
{
    do
        at++;
    while (at < w->count && w->slots[w->order[at]].state != ZS_EU_SLOT_OWN);
    return at;
}

/* at_end: the window ends with its block. */
static bool is_for_next(const struct zs_eu_lowering *l, const struct zs_eu_window *w, uint32_t at,
                        bool at_end)
{
    const struct zs_eu_slot *from = &w->slots[w->order[at]];
    struct zs_eu_bytes made = from->touch.written[0];
    uint32_t next = next_own(w, at);

    if (!writes_dwords(from) || next >= w->count || !takes_from(&w->slots[w->order[next]], from))
        return false;
    for (uint32_t i = next; i < w->count; i = next_own(w, i)) {
        const struct zs_eu_slot *slot = &w->slots[w->order[i]];
        if (slot->touch.unknown || (i != next && zs_eu_slot_reads(slot, made)))
            return false;
        if (overwrites(slot, from))
            return true;
    }
    return at_end && !zs_eu_is_carried(l, w, made);
}

/* How often operations from `first` on read these dwords as a vector; UINT_MAX: otherwise, too. */
static unsigned count_readers(const struct zs_eu_program *p, size_t first, struct zs_eu_bytes made)
{
    unsigned readers = 0;

    for (size_t i = first; i < p->op_count; i++) {
        const struct zs_eu_op *op = &p->ops[i];
        bool takes = false;
        if (op->kind == ZS_EU_KIND_LANE_COUNT || op->kind == ZS_EU_KIND_HOP)
            continue;
        if (op->kind >= ZS_EU_ROW_COUNT)
            return UINT_MAX;
        for (unsigned k = 0; k < 3; k++) {
            uint32_t size_B = zs_eu_row_infos[op->kind].src_B[k];
            bool is_one = op->cls >> k & 1;
            struct zs_eu_bytes read = {op->src[k],
                                       op->src[k] + (is_one ? 1 : LINKED_LANES) * size_B};
            if (!size_B || !zs_eu_bytes_overlap(read, made))
                continue;
            if (is_one || read.begin_B != made.begin_B || read.end_B != made.end_B)
                return UINT_MAX;
            takes = true;
        }
        readers += takes;
    }
    return readers;
}

void zs_eu_note_passed(struct zs_eu_lowering *l, const struct zs_eu_slot *slot, size_t first)
{
    struct zs_eu_program *p = l->program;

    if (l->giver && l->giver <= first) {
        struct zs_eu_op *giver = &p->ops[l->giver - 1];
        const struct zs_eu_bytes made = {giver->dst, giver->dst + LINKED_B};
        giver->passed = count_readers(p, first, made) == 1;
    }
    l->giver = 0;
    if (!slot->is_passed || p->op_count == first)
        return;
    const struct zs_eu_op *last = &p->ops[p->op_count - 1];
    if (last->kind < ZS_EU_ROW_COUNT && zs_eu_row_infos[last->kind].form != ZS_EU_FORM_CMP &&
        zs_eu_row_infos[last->kind].dst_B == 4 && last->chunks == 4 &&
        last->dst == slot->touch.written[0].begin_B)
        l->giver = p->op_count;
}

/* ---- the order ---------------------------------------------------------------------------------
 */

static bool has_chains(const struct zs_eu_window *w)
{
    for (uint32_t i = 0; i < w->count; i++)
        if (is_chained(&w->slots[i]))
            return true;
    return false;
}

void zs_eu_order(const struct zs_eu_lowering *l, struct zs_eu_window *w, bool at_end)
{
    if (!has_chains(w))
        return;
    raise_small(w);
    lower_comparison(w);
    for (uint32_t i = 0, chain = 0; i + 1 < w->count; i++) {
        uint32_t needed = 0, taker = find_taker(w, chain, i, &needed);
        if (taker)
            reorder(w, chain, i, taker, needed);
        unsigned more = (unsigned)__builtin_popcount(needed);
        if (taker)
            chain += more, i += more;
        else
            chain = i + 1;
    }
    for (uint32_t i = 0; i < w->count; i++)
        w->slots[w->order[i]].is_passed = w->passes && is_for_next(l, w, i, at_end);
}
