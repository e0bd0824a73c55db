/* SPDX-License-Identifier: MIT */
/*
 * The order in which the instructions of a window are lowered.
 *
 * What an operation of 32 lanes makes is passed on in the host's registers to one that needs it
 * and comes next (exec_linked.c). Compilers do the opposite: they put something else between two
 * such instructions, to hide how long the first takes. So, within what dependencies allow,
 * instructions of few lanes go to the front, and behind each of 32 lanes comes one that reads what
 * it wrote. Messages and what is not known stay where they are among each other.
 */
#include "eu/lower_merge.h"

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

static bool takes_from(const struct zs_eu_slot *slot, const struct zs_eu_slot *from)
{
    struct zs_eu_bytes made = from->touch.written[0];

    for (unsigned i = 0; i < 3; i++)
        if (slot->touch.read[i].begin_B == made.begin_B && slot->touch.read[i].end_B == made.end_B)
            return true;
    return false;
}

/* The place of one that takes what stands at `at`, and may come next; 0: there is none. */
static uint32_t find_taker(const struct zs_eu_window *w, uint32_t at)
{
    const struct zs_eu_slot *from = &w->slots[w->order[at]];
    uint32_t end = ZS_MIN(w->count, at + REACH);

    if (!is_chained(from) ||
        from->touch.written[0].end_B - from->touch.written[0].begin_B != LINKED_B)
        return 0;
    for (uint32_t i = at + 1; i < end; i++) {
        const struct zs_eu_slot *slot = &w->slots[w->order[i]];
        uint32_t k = at + 1;
        if (slot->touch.stays && slot->state == ZS_EU_SLOT_OWN)
            return 0;
        if (!is_chained(slot) || !takes_from(slot, from))
            continue;
        while (k < i && zs_eu_slot_passes(slot, &w->slots[w->order[k]]))
            k++;
        if (k == i)
            return i;
    }
    return 0;
}

static bool has_chains(const struct zs_eu_window *w)
{
    for (uint32_t i = 0; i < w->count; i++)
        if (is_chained(&w->slots[i]))
            return true;
    return false;
}

void zs_eu_order(struct zs_eu_window *w)
{
    if (!has_chains(w))
        return;
    raise_small(w);
    for (uint32_t i = 0; i + 1 < w->count; i++) {
        uint32_t taker = find_taker(w, i);
        if (taker <= i + 1)
            continue;
        uint8_t moved = w->order[taker];
        memmove(&w->order[i + 2], &w->order[i + 1], taker - i - 1);
        w->order[i + 1] = moved;
    }
}
