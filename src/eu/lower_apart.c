/* SPDX-License-Identifier: MIT */
/*
 * Addresses of messages that are made by sixteen lanes apart, in registers that lie apart or are
 * used again at once:
 *
 *   mov (16|M0)  r12.0<2>:ud r8.0<1;1,0>:ud
 *   mov (16|M16) r14.0<2>:ud r9.0<1;1,0>:ud
 *   shl (16|M0)  r16.0<1>:q  r12.0<2;1,0>:d  2:w
 *   shl (16|M16) r12.0<1>:q  r14.0<2;1,0>:d  2:w
 *   add (16|M0)  r5.0<1>:q   r16.0<1;1,0>:q  r4.4<0;1,0>:q
 *   add (16|M16) r7.0<1>:q   r12.0<1;1,0>:q  r4.4<0;1,0>:q
 *   send.ugm (32|M0) r14 r5 ...
 *
 * One by one they cannot be told index and base in place of addresses: the second sum is written
 * over the index. All together they can, if nobody else reads what any of them writes: then none is
 * needed, so none overwrites anything. From the message backwards: who wrote the addresses of these
 * sixteen lanes last, what that one read, and so on to the indices, which must lie one behind the
 * other for all lanes, and stay as they are.
 */
#include "eu/lower_address.h"

enum { LANES = 16, PARTS_MAX = 2, STEPS = 3, NOBODY = ZS_EU_WINDOW };

/* What makes the addresses of a message. */
struct chain {
    uint32_t message;
    uint8_t slots[PARTS_MAX]
                 [STEPS]; /* of sixteen lanes each: sum, shift, move; some are the same */
    uint32_t parts;
    uint32_t index_at, base_at; /* where indices and base stand */
    uint8_t type;               /* of the indices */
};

static bool has(const struct chain *c, uint32_t index)
{
    for (uint32_t part = 0; part < c->parts; part++)
        for (uint32_t step = 0; step < STEPS; step++)
            if (c->slots[part][step] == index)
                return true;
    return false;
}

/* Who wrote these bytes last, in front of a slot. */
static uint32_t writer_of(const struct zs_eu_window *w, uint32_t before, struct zs_eu_bytes bytes)
{
    for (uint32_t i = before; i-- > 0;) {
        if (w->slots[i].touch.unknown)
            return NOBODY;
        if (zs_eu_slot_writes(&w->slots[i], bytes))
            return i;
    }
    return NOBODY;
}

/* Of elements that lie 8 bytes apart from `at` on, the lanes from `lane` on: all that the slot
 * wrote there is theirs, under the message's mask. */
static bool makes(const struct zs_eu_window *w, uint32_t index, uint32_t message, uint32_t at,
                  uint32_t size_B, uint32_t lane)
{
    const struct zs_eu_slot *slot = &w->slots[index], *sent = &w->slots[message];
    struct zs_eu_bytes made = slot->touch.written[0];

    return at >= made.begin_B && at + size_B <= made.end_B && (at - made.begin_B) % 8 == 0 &&
           slot->whole.channel_offset + (at - made.begin_B) / 8 == lane &&
           (slot->whole.flags & ZS_INST_NOMASK || !(sent->inst.flags & ZS_INST_NOMASK));
}

static bool step_back(const struct zs_eu_lowering *l, const struct zs_eu_window *w, uint32_t step,
                      uint32_t index)
{
    const struct zs_eu_slot *slot = &w->slots[index];

    if (step == 0)
        return zs_eu_is_sum(l, slot);
    if (step == 1)
        return zs_eu_is_shift(l, slot, 8) && slot->whole.src[1].imm == ZS_EU_DWORD_SHIFT;
    return zs_eu_is_widening(l, slot);
}

/* From the addresses of sixteen lanes to their indices. */
static bool follow(const struct zs_eu_lowering *l, const struct zs_eu_window *w, struct chain *c,
                   uint32_t part)
{
    uint32_t lane = w->slots[c->message].inst.channel_offset + part * LANES;
    uint32_t at = w->slots[c->message].touch.read[0].begin_B + part * LANES * 8, i = c->message;

    for (uint32_t step = 0; step < STEPS; step++) {
        uint32_t size_B = step < 2 ? LANES * 8 : LANES * 8 - 4; /* the move: every second dword */
        i = writer_of(w, i, (struct zs_eu_bytes){at, at + size_B});
        if (i == NOBODY || !step_back(l, w, step, i) || !makes(w, i, c->message, at, size_B, lane))
            return false;
        const struct zs_eu_touch *touch = &w->slots[i].touch;
        uint32_t behind_B = at - touch->written[0].begin_B;
        at = touch->read[0].begin_B + (step < 2 ? behind_B : behind_B / 2);
        c->slots[part][step] = (uint8_t)i;
    }
    const struct zs_eu_slot *sum = &w->slots[c->slots[part][0]];
    uint8_t type = w->slots[c->slots[part][1]].whole.src[0].type;
    if (part == 0) {
        c->index_at = at;
        c->base_at = sum->touch.read[1].begin_B;
        c->type = type;
    }
    return at == c->index_at + part * LANES * 4 && sum->touch.read[1].begin_B == c->base_at &&
           type == c->type;
}

/* Whether nobody but the chain writes these bytes between a slot and the message. */
static bool stays(const struct zs_eu_window *w, const struct chain *c, uint32_t first,
                  struct zs_eu_bytes bytes)
{
    for (uint32_t i = first + 1; i < c->message; i++)
        if (w->slots[i].touch.unknown || (!has(c, i) && zs_eu_slot_writes(&w->slots[i], bytes)))
            return false;
    return true;
}

static void leave_out(const struct zs_eu_window *w, uint32_t index, struct zs_eu_left_out *out)
{
    const struct zs_eu_slot *slot = &w->slots[index];

    out->slots[index / 64] |= UINT64_C(1) << index % 64;
    for (unsigned i = 0; i < slot->half_count; i++)
        out->slots[slot->halves[i] / 64] |= UINT64_C(1) << slot->halves[i] % 64;
}

static bool is_complete(struct zs_eu_lowering *l, const struct zs_eu_window *w,
                        const struct chain *c, bool at_end)
{
    struct zs_eu_bytes indices = {c->index_at, c->index_at + c->parts * LANES * 4};
    struct zs_eu_bytes base = {c->base_at, c->base_at + 8};
    struct zs_eu_left_out out = {.message = c->message};

    for (uint32_t part = 0; part < c->parts; part++) {
        const uint8_t *slots = c->slots[part];
        if (!stays(w, c, slots[STEPS - 1], indices) || !stays(w, c, slots[0], base))
            return false;
        for (uint32_t step = 0; step < STEPS; step++) {
            if (zs_eu_bytes_overlap(w->slots[c->message].touch.read[1],
                                    w->slots[slots[step]].touch.written[0]))
                return false; /* what a message stores */
            leave_out(w, slots[step], &out);
        }
    }
    return zs_eu_nobody_reads(l, w, &out, at_end);
}

/* The message is told indices and base; the rest is left out. */
static void give(const struct zs_eu_lowering *l, struct zs_eu_window *w, const struct chain *c)
{
    uint32_t grf_B = l->program->regs.grf_B, at_B = c->index_at - ZS_EU_OFFSET(grf);
    struct zs_eu_slot *sum = &w->slots[c->slots[0][0]], *sent = &w->slots[c->message];
    struct zs_isa_operand *index = &sum->whole.src[0];

    *index = w->slots[c->slots[0][STEPS - 1]].whole.src[0];
    index->type = c->type;
    index->reg = (uint16_t)(at_B / grf_B);
    index->subreg_B = (uint8_t)(at_B % grf_B);
    sent->indices = (uint8_t)(1 + c->slots[0][0]);
    sent->touch.read[0] = (struct zs_eu_bytes){c->index_at, c->index_at + c->parts * LANES * 4};
    sent->touch.read[2] = (struct zs_eu_bytes){c->base_at, c->base_at + 8};
    for (uint32_t part = 0; part < c->parts; part++)
        for (uint32_t step = 0; step < STEPS; step++)
            w->slots[c->slots[part][step]].state = ZS_EU_SLOT_DROPPED;
}

void zs_eu_find_addresses_apart(struct zs_eu_lowering *l, struct zs_eu_window *w, bool at_end)
{
    for (uint32_t i = 0; i < w->count; i++) {
        struct zs_eu_bytes addresses = w->slots[i].touch.read[0];
        uint32_t lanes = w->slots[i].inst.exec_size;
        struct chain c = {.message = i, .parts = lanes / LANES};
        memset(c.slots, NOBODY, sizeof(c.slots));
        if (lanes % LANES || addresses.end_B - addresses.begin_B != lanes * 8 ||
            !zs_eu_indexed_message(l, w, i))
            continue;
        bool found = true;
        for (uint32_t part = 0; part < c.parts && found; part++)
            found = follow(l, w, &c, part);
        if (found && is_complete(l, w, &c, at_end))
            give(l, w, &c);
    }
}
