/* SPDX-License-Identifier: MIT */
/*
 * Addresses of 64 bits.
 *
 * From an index of 32 bits compilers make an address in three instructions:
 *
 *   mov (16) r38.0<2>:ud r15.0<1;1,0>:ud       every second dword
 *   shl (16) r50.0<1>:q  r38.0<2;1,0>:d  2:w
 *   add (16) r17.0<1>:q  r50.0<1;1,0>:q  r4.4<0;1,0>:q
 *
 * The shift is given what the move has read, and the sum what the shift reads then, with its count:
 * it is one operation. Where a message of a dword for each lane takes such sums of dwords' indices
 * for its addresses, it is given index and base instead: that indices rise by one is seen sooner
 * than that addresses do. The move, the shift and the sum are left out if nobody else may read what
 * they write: behind them in their block it is overwritten first, or the block ends, and no block
 * of the program reads these registers where it has not written them itself.
 */
#include "eu/lower_address.h"
#include "eu/lower_operand.h"
#include "eu/send_lower.h"

static bool is_plain(const struct zs_isa_inst *inst)
{
    return !inst->pred && !inst->cond && !inst->dst.modifiers &&
           !(inst->flags & (ZS_INST_ACCWREN | ZS_INST_ALIGN16)) && inst->dst.file == ZS_FILE_GRF &&
           inst->dst.kind == ZS_OPERAND_REG && inst->exec_size >= 8 &&
           inst->channel_offset % 8 == 0;
}

static bool is_usable(const struct zs_eu_slot *slot)
{
    return slot->state == ZS_EU_SLOT_OWN && !slot->touch.stays && is_plain(&slot->whole);
}

static bool is_dword(unsigned type)
{
    return type == ZS_TYPE_D || type == ZS_TYPE_UD;
}

static bool is_qword(unsigned type)
{
    return type == ZS_TYPE_Q || type == ZS_TYPE_UQ;
}

/* Registers, whose elements of `size_B` lie this far apart. */
static bool is_spread(const struct zs_eu_lowering *l, const struct zs_isa_operand *op, unsigned n,
                      uint32_t size_B, uint32_t stride_B)
{
    uint16_t offsets[ZS_EU_LANES_MAX];
    const struct zs_eu_place place = {0, zs_eu_file_B(l->program), size_B};

    return op->kind == ZS_OPERAND_REG && op->file == ZS_FILE_GRF && !op->modifiers &&
           zs_eu_type_B(op->type) == size_B &&
           zs_eu_region_offsets(op, n, &place, size_B, false, offsets) &&
           zs_eu_even_stride(offsets, n) == stride_B;
}

/* mov of dwords to every second one. */
bool zs_eu_is_widening(const struct zs_eu_lowering *l, const struct zs_eu_slot *slot)
{
    const struct zs_isa_inst *inst = &slot->whole;

    return is_usable(slot) && inst->op == ZS_OP_MOV && is_dword(inst->dst.type) &&
           inst->dst.hstride == 2 && is_dword(inst->src[0].type) &&
           is_spread(l, &inst->src[0], inst->exec_size, 4, 4);
}

/* Of one number, no vector of them, and no float, which no shift has. */
static bool is_count(const struct zs_isa_operand *op)
{
    return op->kind == ZS_OPERAND_IMM && op->imm < 32 &&
           (op->type == ZS_TYPE_B || op->type == ZS_TYPE_UB || op->type == ZS_TYPE_W ||
            op->type == ZS_TYPE_UW || is_dword(op->type));
}

/* shl of dwords, which lie this far apart, to qwords, by an immediate. */
bool zs_eu_is_shift(const struct zs_eu_lowering *l, const struct zs_eu_slot *slot,
                    uint32_t stride_B)
{
    const struct zs_isa_inst *inst = &slot->whole;

    return is_usable(slot) && inst->op == ZS_OP_SHL && is_qword(inst->dst.type) &&
           inst->dst.hstride == 1 && is_count(&inst->src[1]) && is_dword(inst->src[0].type) &&
           is_spread(l, &inst->src[0], inst->exec_size, 4, stride_B);
}

/* add of qwords and one for all channels. */
bool zs_eu_is_sum(const struct zs_eu_lowering *l, const struct zs_eu_slot *slot)
{
    const struct zs_isa_inst *inst = &slot->whole;

    return is_usable(slot) && inst->op == ZS_OP_ADD && is_qword(inst->dst.type) &&
           inst->dst.hstride == 1 && is_qword(inst->src[0].type) &&
           is_spread(l, &inst->src[0], inst->exec_size, 8, 8) && is_qword(inst->src[1].type) &&
           is_spread(l, &inst->src[1], inst->exec_size, 8, 0);
}

/* The channels of `later` are among those of `first`, in the same places. */
static bool same_channels(const struct zs_eu_slot *first, const struct zs_eu_slot *later)
{
    const struct zs_isa_inst *a = &first->whole, *b = &later->whole;

    return a->exec_size == b->exec_size && a->channel_offset == b->channel_offset &&
           (a->flags & ZS_INST_NOMASK || !(b->flags & ZS_INST_NOMASK));
}

bool zs_eu_slot_writes(const struct zs_eu_slot *slot, struct zs_eu_bytes bytes)
{
    return slot->state == ZS_EU_SLOT_OWN && (zs_eu_bytes_overlap(slot->touch.written[0], bytes) ||
                                             zs_eu_bytes_overlap(slot->touch.written[1], bytes));
}

bool zs_eu_slot_reads(const struct zs_eu_slot *slot, struct zs_eu_bytes bytes)
{
    for (unsigned i = 0; i < ZS_ARRAY_LEN(slot->touch.read); i++)
        if (slot->state == ZS_EU_SLOT_OWN && zs_eu_bytes_overlap(slot->touch.read[i], bytes))
            return true;
    return false;
}

/* ---- giving sources of one to another ----------------------------------------------------------
 */

/* Whether nothing behind `first` and in front of `later` changes what the first has read or
 * written. */
static bool is_kept(const struct zs_eu_window *w, uint32_t first, uint32_t later)
{
    const struct zs_eu_touch *touch = &w->slots[first].touch;

    if (zs_eu_bytes_overlap(touch->written[0], touch->read[0]) ||
        zs_eu_bytes_overlap(touch->written[0], touch->read[1]))
        return false;
    for (uint32_t i = first + 1; i < later; i++)
        if (w->slots[i].touch.unknown || zs_eu_slot_writes(&w->slots[i], touch->read[0]) ||
            zs_eu_slot_writes(&w->slots[i], touch->read[1]) ||
            zs_eu_slot_writes(&w->slots[i], touch->written[0]))
            return false;
    return true;
}

/* `later` reads of the first source what the slot `first` has written: let it read that one's. */
static void forward(const struct zs_eu_lowering *l, struct zs_eu_window *w, uint32_t first,
                    uint32_t later)
{
    struct zs_eu_slot *slot = &w->slots[later];
    unsigned type = slot->whole.src[0].type;

    slot->whole.src[0] = w->slots[first].whole.src[0];
    if (is_dword(type))
        slot->whole.src[0].type = (uint8_t)type; /* the move's own does not matter */
    slot->is_rewritten = slot->is_forwarded = true;
    zs_eu_touch_again(l, slot);
}

static void forward_moves(const struct zs_eu_lowering *l, struct zs_eu_window *w, uint32_t move)
{
    const struct zs_eu_slot *first = &w->slots[move];

    for (uint32_t i = move + 1; i < w->count; i++) {
        const struct zs_eu_slot *slot = &w->slots[i];
        if (slot->touch.unknown)
            return;
        if (zs_eu_is_shift(l, slot, 8) && same_channels(first, slot) &&
            slot->touch.read[0].begin_B == first->touch.written[0].begin_B && is_kept(w, move, i))
            forward(l, w, move, i);
    }
}

static void forward_shifts(const struct zs_eu_lowering *l, struct zs_eu_window *w, uint32_t shift)
{
    const struct zs_eu_slot *first = &w->slots[shift];

    for (uint32_t i = shift + 1; i < w->count; i++) {
        struct zs_eu_slot *slot = &w->slots[i];
        if (slot->touch.unknown)
            return;
        if (zs_eu_is_sum(l, slot) && same_channels(first, slot) &&
            slot->touch.read[0].begin_B == first->touch.written[0].begin_B &&
            is_kept(w, shift, i)) {
            slot->shift = (uint8_t)(1 + first->whole.src[1].imm);
            forward(l, w, shift, i);
        }
    }
}

/* ---- messages ----------------------------------------------------------------------------------
 */

zs_port_indexed_fn *zs_eu_indexed_message(struct zs_eu_lowering *l, const struct zs_eu_window *w,
                                          uint32_t index)
{
    const struct zs_eu_slot *slot = &w->slots[index];
    const struct zs_port_message_row *row = NULL;
    struct zs_eu_send send;

    if (!(zs_isa_op_flags((enum zs_isa_op)slot->inst.op) & ZS_OPF_SEND) || slot->inst.pred ||
        slot->touch.stays || slot->indices || l->params->flags & ZS_EU_LOWER_HOOK_MESSAGES ||
        !zs_eu_known_send(l, &slot->inst, w->first + index, &send) || !zs_eu_send_is_direct(&send))
        return NULL;
    const struct zs_port_message *m = zs_eu_send_message(&send, &row);
    return m && m->lanes == slot->inst.exec_size
               ? zs_port_message_indexed(m, row, l->host >= ZS_EU_HOST_AVX2)
               : NULL;
}

/* A message whose payload's first part is what the sum has written. */
static bool takes_indices(struct zs_eu_lowering *l, const struct zs_eu_window *w, uint32_t sum,
                          uint32_t index)
{
    const struct zs_eu_slot *first = &w->slots[sum], *slot = &w->slots[index];
    struct zs_eu_bytes made = first->touch.written[0], read = slot->touch.read[0];

    return read.begin_B == made.begin_B && read.end_B == made.end_B && same_channels(first, slot) &&
           is_kept(w, sum, index) && zs_eu_indexed_message(l, w, index);
}

static void index_messages(struct zs_eu_lowering *l, struct zs_eu_window *w, uint32_t sum)
{
    const struct zs_eu_slot *first = &w->slots[sum];

    if (first->shift != 1 + ZS_EU_DWORD_SHIFT)
        return;
    for (uint32_t i = sum + 1; i < w->count && !w->slots[i].touch.unknown; i++) {
        struct zs_eu_slot *slot = &w->slots[i];
        if (!takes_indices(l, w, sum, i))
            continue;
        slot->indices = (uint8_t)(1 + sum);
        slot->touch.read[0] = first->touch.read[0];
        slot->touch.read[2] = first->touch.read[1];
    }
}

void zs_eu_find_indices(const struct zs_eu_lowering *l, const struct zs_isa_inst *sum,
                        struct zs_eu_send_indices *ret)
{
    uint32_t grf_B = l->program->regs.grf_B;
    const struct zs_isa_operand *index = &sum->src[0], *base = &sum->src[1];

    ret->dwords = ZS_EU_OFFSET(grf) + index->reg * grf_B + index->subreg_B;
    ret->base = ZS_EU_OFFSET(grf) + base->reg * grf_B + base->subreg_B;
    ret->is_signed = index->type == ZS_TYPE_D;
}

/* ---- leaving out -------------------------------------------------------------------------------
 */

/* Whether a slot overwrites all that another one has written. */
static bool overwrites(const struct zs_eu_slot *slot, const struct zs_eu_slot *first)
{
    struct zs_eu_bytes mine = slot->touch.written[0], bytes = first->touch.written[0];
    bool is_packed = slot->whole.dst.hstride == 1;
    bool same_places = same_channels(slot, first) && mine.begin_B == bytes.begin_B &&
                       is_qword(slot->whole.dst.type);

    return is_usable(slot) && is_packed && mine.begin_B <= bytes.begin_B &&
           bytes.end_B <= mine.end_B && (same_places || slot->whole.flags & ZS_INST_NOMASK);
}

bool zs_eu_is_carried(const struct zs_eu_lowering *l, const struct zs_eu_window *w,
                      struct zs_eu_bytes bytes)
{
    uint32_t grf_B = l->program->regs.grf_B, file = ZS_EU_OFFSET(grf);

    if (bytes.begin_B < file)
        return w->acc_lives || bytes.begin_B < ZS_EU_OFFSET(acc) ||
               bytes.end_B > ZS_EU_OFFSET(acc_high);
    for (uint32_t reg = (bytes.begin_B - file) / grf_B; reg * grf_B + file < bytes.end_B; reg++)
        if (w->carried[reg / 64] >> reg % 64 & 1)
            return true;
    return false;
}

/* To messages, as index and base. */
static bool is_given(const struct zs_eu_window *w, uint32_t sum)
{
    for (uint32_t i = sum + 1; i < w->count && w->slots[sum].shift; i++)
        if (w->slots[i].indices == 1 + sum)
            return true;
    return false;
}

/* at_end: the window ends with its block. */
static bool is_idle(const struct zs_eu_lowering *l, const struct zs_eu_window *w, uint32_t index,
                    bool at_end)
{
    const struct zs_eu_slot *slot = &w->slots[index];

    for (uint32_t i = index + 1; i < w->count; i++) {
        if (w->slots[i].touch.unknown || zs_eu_slot_reads(&w->slots[i], slot->touch.written[0]))
            return false;
        if (overwrites(&w->slots[i], slot))
            return true;
    }
    return at_end && !zs_eu_is_carried(l, w, slot->touch.written[0]);
}

void zs_eu_find_addresses(struct zs_eu_lowering *l, struct zs_eu_window *w, bool at_end)
{
    zs_eu_find_addresses_apart(l, w, at_end);
    for (uint32_t i = 0; i < w->count; i++)
        if (zs_eu_is_widening(l, &w->slots[i]))
            forward_moves(l, w, i);
    for (uint32_t i = 0; i < w->count; i++)
        if (zs_eu_is_shift(l, &w->slots[i], 4))
            forward_shifts(l, w, i);
    for (uint32_t i = 0; i < w->count; i++)
        if (w->slots[i].shift)
            index_messages(l, w, i);
    for (uint32_t i = w->count; i-- > 0;) {
        struct zs_eu_slot *slot = &w->slots[i];
        bool makes_part =
            zs_eu_is_widening(l, slot) || zs_eu_is_shift(l, slot, 4) || is_given(w, i);
        if (makes_part && is_usable(slot) && is_idle(l, w, i, at_end))
            slot->state = ZS_EU_SLOT_DROPPED;
    }
}
