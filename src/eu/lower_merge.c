/* SPDX-License-Identifier: MIT */
/*
 * Instructions of a block that are lowered together.
 *
 * Halves. What has more lanes than an instruction may have is split by the compiler: into
 * add (16|M0) r26 r18 r6.1<0> and add (16|M16) r28 r20 r6.1<0>. Where the operands of the second
 * go on where those of the first end, they are lowered as one instruction of twice the lanes, at
 * the place of the first; four quarters are two halves twice. Nothing that stands between them may
 * touch what the second touches.
 *
 * Products. Behind Gen9 a product of dwords is two instructions: mul writes that with the low
 * words of the second source to acc0, macl (or mach without AccWrEn) adds that with its high
 * words. The latter is lowered as a whole product. The former is left out if nobody else may read
 * what it writes: behind it in its block an instruction overwrites it first, or the block ends and
 * in no block of the program accumulators are read that were not written there.
 *
 * Both change in which order registers are written, and what accumulators hold that are not read,
 * within a block. Threads stand in the middle of one for debuggers, single steps and the
 * scoreboard's check alone: programs for these are not merged.
 */
#include "eu/lower_merge.h"
#include "eu/lower_operand.h"

#include <string.h>

enum { REACH = 16 }; /* how far apart halves may stand */

/* ---- what instructions touch -------------------------------------------------------------------
 */

enum {
    KNOWN = 1,      /* it touches its operands and flags, and what is said here */
    HALVES = 2,     /* may be one */
    ACC_READ = 4,   /* acc0 as well */
    ACC_WRITTEN = 8 /* the same */
};

static const uint8_t kinds[128] = {
    [ZS_OP_MOV] = KNOWN | HALVES,       [ZS_OP_SEL] = KNOWN | HALVES,
    [ZS_OP_NOT] = KNOWN | HALVES,       [ZS_OP_AND] = KNOWN | HALVES,
    [ZS_OP_OR] = KNOWN | HALVES,        [ZS_OP_XOR] = KNOWN | HALVES,
    [ZS_OP_SHR] = KNOWN | HALVES,       [ZS_OP_SHL] = KNOWN | HALVES,
    [ZS_OP_ASR] = KNOWN | HALVES,       [ZS_OP_ROL] = KNOWN | HALVES,
    [ZS_OP_ROR] = KNOWN | HALVES,       [ZS_OP_CMP] = KNOWN | HALVES,
    [ZS_OP_CMPN] = KNOWN | HALVES,      [ZS_OP_CSEL] = KNOWN | HALVES,
    [ZS_OP_BFREV] = KNOWN | HALVES,     [ZS_OP_BFE] = KNOWN | HALVES,
    [ZS_OP_BFI1] = KNOWN | HALVES,      [ZS_OP_BFI2] = KNOWN | HALVES,
    [ZS_OP_LZD] = KNOWN | HALVES,       [ZS_OP_FBH] = KNOWN | HALVES,
    [ZS_OP_FBL] = KNOWN | HALVES,       [ZS_OP_CBIT] = KNOWN | HALVES,
    [ZS_OP_ADD] = KNOWN | HALVES,       [ZS_OP_MUL] = KNOWN | HALVES,
    [ZS_OP_AVG] = KNOWN | HALVES,       [ZS_OP_FRC] = KNOWN | HALVES,
    [ZS_OP_RNDU] = KNOWN | HALVES,      [ZS_OP_RNDD] = KNOWN | HALVES,
    [ZS_OP_RNDE] = KNOWN | HALVES,      [ZS_OP_RNDZ] = KNOWN | HALVES,
    [ZS_OP_ADD3] = KNOWN | HALVES,      [ZS_OP_BFN] = KNOWN | HALVES,
    [ZS_OP_DP4A] = KNOWN | HALVES,      [ZS_OP_MAD] = KNOWN | HALVES,
    [ZS_OP_LRP] = KNOWN | HALVES,       [ZS_OP_MATH] = KNOWN | HALVES,
    [ZS_OP_MAC] = KNOWN | ACC_READ,     [ZS_OP_MACH] = KNOWN | ACC_READ,
    [ZS_OP_MACL] = KNOWN | ACC_READ,    [ZS_OP_ADDC] = KNOWN | ACC_WRITTEN,
    [ZS_OP_SUBB] = KNOWN | ACC_WRITTEN,
};

bool zs_eu_touches_operands_alone(const struct zs_isa_inst *inst)
{
    return inst->op < ZS_ARRAY_LEN(kinds) && kinds[inst->op] & KNOWN && inst->exec_size &&
           !(inst->op == ZS_OP_MATH && inst->subfunction >= ZS_MATH_IDIV);
}

static bool overlap(struct zs_eu_bytes a, struct zs_eu_bytes b)
{
    return a.begin_B < b.end_B && b.begin_B < a.end_B;
}

static bool is_empty(struct zs_eu_bytes a)
{
    return a.begin_B == a.end_B;
}

/* The first elements of accumulators, a slot for each lane. */
static struct zs_eu_bytes acc_of_lanes(const struct zs_isa_inst *inst)
{
    return (struct zs_eu_bytes){ZS_EU_OFFSET(acc), ZS_EU_OFFSET(acc) + inst->exec_size * 4u};
}

/* As zs_eu_place_of(), of general registers and accumulators alone, and without consequences. */
static bool place_of(const struct zs_eu_lowering *l, const struct zs_isa_operand *op,
                     struct zs_eu_place *ret)
{
    const struct zs_eu_registers *regs = &l->program->regs;
    uint32_t size_B = zs_eu_type_B(op->type), last;

    if (op->kind != ZS_OPERAND_REG || size_B == 0)
        return false;
    if (op->file == ZS_FILE_GRF) {
        uint32_t at = op->reg * (uint32_t)regs->grf_B + op->subreg_B,
                 end = zs_eu_file_B(l->program);
        *ret = (struct zs_eu_place){ZS_EU_OFFSET(grf) + at, end - at, size_B};
        return at < end;
    }
    uint32_t first = zs_eu_acc_slot(regs, op->reg, size_B, &last) + op->subreg_B / size_B;
    *ret = (struct zs_eu_place){ZS_EU_OFFSET(acc) + first * 4, (last - first) * 4, 4};
    return op->file == ZS_FILE_ACC && op->reg < regs->acc_count && first < last;
}

/* Where the elements of an operand are; false: it is none of registers. */
static bool elements_of(const struct zs_eu_lowering *l, const struct zs_isa_operand *op, unsigned n,
                        bool is_dst, struct zs_eu_place *place, uint16_t offsets[ZS_EU_LANES_MAX])
{
    return place_of(l, op, place) &&
           zs_eu_region_offsets(op, n, place, ZS_MIN(place->step_B, zs_eu_type_B(op->type)), is_dst,
                                offsets);
}

/* The bytes from the first to the last element; false: other ones, which is no place for merging.
 */
static bool bytes_of(const struct zs_eu_lowering *l, const struct zs_isa_inst *inst,
                     const struct zs_isa_operand *op, struct zs_eu_bytes *ret)
{
    uint16_t offsets[ZS_EU_LANES_MAX];
    struct zs_eu_place place;

    *ret = (struct zs_eu_bytes){0, 0};
    if (op->kind == ZS_OPERAND_NONE || op->kind == ZS_OPERAND_IMM || op->file == ZS_FILE_NULL)
        return true;
    if (!elements_of(l, op, inst->exec_size, op == &inst->dst, &place, offsets))
        return false;
    uint32_t last = 0;
    for (unsigned c = 0; c < inst->exec_size; c++)
        last = ZS_MAX(last, (uint32_t)offsets[c]);
    *ret = (struct zs_eu_bytes){place.at, place.at + last + place.step_B};
    return true;
}

/* Whole registers. */
static bool payload_of(const struct zs_eu_lowering *l, const struct zs_isa_inst *inst,
                       const struct zs_isa_operand *op, struct zs_eu_bytes *ret)
{
    uint32_t grf_B = l->program->regs.grf_B, at = ZS_EU_OFFSET(grf) + op->reg * grf_B;

    *ret = (struct zs_eu_bytes){0, 0};
    if (op->kind != ZS_OPERAND_REG)
        return op->kind != ZS_OPERAND_INDIRECT;
    if (op->file == ZS_FILE_GRF)
        *ret = (struct zs_eu_bytes){at, at + zs_eu_payload_grfs(inst, op) * grf_B};
    return op->file == ZS_FILE_GRF || op->file == ZS_FILE_NULL;
}

static uint16_t flags_of(const struct zs_isa_inst *inst)
{
    unsigned first = inst->flag_subreg * 16u + inst->channel_offset;
    unsigned last = first + inst->exec_size - 1;
    uint16_t bits = 0;

    for (unsigned i = first / 8; i <= last / 8; i++)
        bits |= (uint16_t)(1u << (inst->flag_reg * 4u + i) % 16);
    return bits;
}

static bool is_high(const struct zs_eu_lowering *l, const struct zs_isa_inst *inst)
{
    return inst->op == ZS_OP_MACH && (l->platform->mach_is_high || l->platform->mach_writes_acc ||
                                      (inst->flags & ZS_INST_ACCWREN));
}

static bool touch_operands(const struct zs_eu_lowering *l, const struct zs_isa_inst *inst,
                           struct zs_eu_touch *ret)
{
    bool is_send = zs_isa_op_flags((enum zs_isa_op)inst->op) & ZS_OPF_SEND, known = true;

    for (unsigned i = 0; i < inst->source_count && i < 3; i++)
        known = known && (is_send ? payload_of(l, inst, &inst->src[i], &ret->read[i])
                                  : bytes_of(l, inst, &inst->src[i], &ret->read[i]));
    if (!(inst->flags & ZS_INST_HAS_DST))
        return known;
    return known && (is_send ? payload_of(l, inst, &inst->dst, &ret->written[0])
                             : bytes_of(l, inst, &inst->dst, &ret->written[0]));
}

/* Whatever else it touches: no accumulator. (State registers have no place among the bytes here.)
 */
static bool leaves_acc(const struct zs_isa_inst *inst)
{
    if (!zs_eu_touches_operands_alone(inst) || inst->flags & ZS_INST_ACCWREN ||
        kinds[inst->op] & (ACC_READ | ACC_WRITTEN))
        return false;
    for (unsigned i = 0; i <= inst->source_count && i <= 3; i++) {
        const struct zs_isa_operand *op = i < inst->source_count ? &inst->src[i] : &inst->dst;
        if ((op->kind != ZS_OPERAND_NONE && op->kind != ZS_OPERAND_IMM &&
             op->kind != ZS_OPERAND_REG) ||
            (op->kind == ZS_OPERAND_REG && op->file == ZS_FILE_ACC))
            return false;
    }
    return true;
}

/* Everything that may be in an accumulator. */
static void touch_all_of_acc(const struct zs_eu_lowering *l, struct zs_eu_touch *touch)
{
    uint32_t end = ZS_EU_OFFSET(acc) + zs_eu_acc_slots(&l->program->regs) * 4;

    touch->read[3] = touch->written[1] = (struct zs_eu_bytes){ZS_EU_OFFSET(acc), end};
}

static void touch_of(const struct zs_eu_lowering *l, const struct zs_isa_inst *inst,
                     struct zs_eu_touch *ret)
{
    enum { SYNC_BAR = 14 };
    uint32_t flags = zs_isa_op_flags((enum zs_isa_op)inst->op);
    bool is_flow = flags & (ZS_OPF_BRANCH | ZS_OPF_SYNC), is_send = flags & ZS_OPF_SEND;
    unsigned kind = inst->op < ZS_ARRAY_LEN(kinds) ? kinds[inst->op] : 0;

    *ret = (struct zs_eu_touch){.stays = true};
    if (is_flow) {
        ret->stays =
            inst->op != ZS_OP_NOP && (inst->op != ZS_OP_SYNC || inst->subfunction == SYNC_BAR);
        return;
    }
    bool is_plain = !(inst->flags & ZS_INST_ILLEGAL) && inst->exec_size &&
                    inst->channel_offset + inst->exec_size <= ZS_EU_LANES_MAX &&
                    inst->pred <= ZS_PRED_SEQ;
    bool known = is_send ? !(inst->flags & (ZS_INST_DESC_REG | ZS_INST_EXDESC_REG))
                         : zs_eu_touches_operands_alone(inst);
    if (!is_plain || !known || !touch_operands(l, inst, ret)) {
        *ret = (struct zs_eu_touch){.stays = true, .unknown = true};
        if (!is_send && !leaves_acc(inst))
            touch_all_of_acc(l, ret);
        return;
    }
    if (kind & ACC_READ)
        ret->read[3] = acc_of_lanes(inst);
    if (kind & ACC_WRITTEN || inst->flags & ZS_INST_ACCWREN || is_high(l, inst))
        ret->written[1] = acc_of_lanes(inst);
    ret->flags_read = inst->pred ? flags_of(inst) : 0;
    ret->flags_written = inst->cond ? flags_of(inst) : 0;
    ret->stays = is_send && inst->flags & ZS_INST_EOT;
}

void zs_eu_touch_again(const struct zs_eu_lowering *l, struct zs_eu_slot *slot)
{
    touch_of(l, &slot->whole, &slot->touch);
}

static bool writes_any(const struct zs_eu_touch *touch, const struct zs_eu_bytes *bytes,
                       unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (overlap(touch->written[0], bytes[i]) || overlap(touch->written[1], bytes[i]))
            return true;
    return false;
}

bool zs_eu_may_pass(const struct zs_eu_touch *later, const struct zs_eu_touch *other)
{
    return !other->stays && !writes_any(other, later->read, ZS_ARRAY_LEN(later->read)) &&
           !writes_any(other, later->written, ZS_ARRAY_LEN(later->written)) &&
           !writes_any(later, other->read, ZS_ARRAY_LEN(other->read)) &&
           !((later->flags_read | later->flags_written) & other->flags_written) &&
           !(later->flags_written & other->flags_read);
}

bool zs_eu_slot_passes(const struct zs_eu_slot *later, const struct zs_eu_slot *other)
{
    if (other->state == ZS_EU_SLOT_HALF)
        return true;
    if (other->state == ZS_EU_SLOT_DROPPED) /* its lanes are counted, that is all */
        return !(later->touch.flags_written & other->touch.flags_read);
    return zs_eu_may_pass(&later->touch, &other->touch);
}

/* ---- products ----------------------------------------------------------------------------------
 */

static bool is_dword(const struct zs_isa_operand *op)
{
    return (op->type == ZS_TYPE_D || op->type == ZS_TYPE_UD) && !op->modifiers;
}

/* The same elements, or, of `low`, those of half the size at the same places. */
static bool same_elements(const struct zs_eu_lowering *l, const struct zs_isa_operand *a,
                          const struct zs_isa_operand *low, unsigned n, uint64_t imm_mask)
{
    uint16_t x[ZS_EU_LANES_MAX], y[ZS_EU_LANES_MAX];
    struct zs_eu_place at, low_at;

    if (a->kind == ZS_OPERAND_IMM || low->kind == ZS_OPERAND_IMM)
        return a->kind == low->kind && (a->imm & imm_mask) == (low->imm & imm_mask);
    if (a->file != ZS_FILE_GRF || !elements_of(l, a, n, false, &at, x) ||
        !elements_of(l, low, n, false, &low_at, y) || at.at != low_at.at)
        return false;
    for (unsigned c = 0; c < n; c++)
        if (x[c] != y[c])
            return false;
    return true;
}

/* What mul leaves in acc0 is what the low half of a product is made from. */
static bool is_low_product(const struct zs_eu_lowering *l, const struct zs_isa_inst *mul,
                           const struct zs_isa_inst *macl)
{
    const struct zs_isa_operand *dst = &mul->dst, *words = &mul->src[1];
    bool all_lanes = mul->flags & ZS_INST_NOMASK;
    bool same_lanes = mul->channel_offset == macl->channel_offset &&
                      !(macl->flags & ZS_INST_NOMASK) && mul->exec_size == macl->exec_size;

    return mul->op == ZS_OP_MUL && dst->kind == ZS_OPERAND_REG && dst->file == ZS_FILE_ACC &&
           dst->reg == 0 && dst->subreg_B == 0 && is_dword(dst) && dst->hstride == 1 &&
           !mul->cond && !mul->pred && !(mul->flags & ZS_INST_ACCWREN) &&
           mul->exec_size >= macl->exec_size && (all_lanes || same_lanes) &&
           is_dword(&mul->src[0]) && is_dword(&macl->src[0]) && is_dword(&macl->src[1]) &&
           words->type == ZS_TYPE_UW && !words->modifiers &&
           same_elements(l, &macl->src[0], &mul->src[0], macl->exec_size, UINT32_MAX) &&
           same_elements(l, &macl->src[1], words, macl->exec_size, UINT16_MAX);
}

static bool is_macl(const struct zs_eu_lowering *l, const struct zs_isa_inst *inst)
{
    return (inst->op == ZS_OP_MACL || inst->op == ZS_OP_MACH) && !is_high(l, inst) &&
           !(inst->flags & ZS_INST_ACCWREN) && inst->dst.file == ZS_FILE_GRF &&
           is_dword(&inst->dst);
}

/* The mul that the slot's macl goes on with; NULL: it is another one. */
static struct zs_eu_slot *find_mul(const struct zs_eu_lowering *l, struct zs_eu_window *w,
                                   uint32_t index)
{
    const struct zs_eu_slot *macl = &w->slots[index];

    for (uint32_t i = index; i-- > 0;) {
        struct zs_eu_slot *slot = &w->slots[i];
        if (slot->touch.stays)
            return NULL;
        if (writes_any(&slot->touch, &macl->touch.read[3], 1))
            return is_low_product(l, &slot->inst, &macl->inst) ? slot : NULL;
        if (writes_any(&slot->touch, macl->touch.read, 2))
            return NULL;
    }
    return NULL;
}

static void find_products(const struct zs_eu_lowering *l, struct zs_eu_window *w)
{
    for (uint32_t i = 0; i < w->count; i++) {
        struct zs_eu_slot *slot = &w->slots[i];
        if (slot->touch.stays || !is_macl(l, &slot->inst))
            continue;
        struct zs_eu_slot *mul = find_mul(l, w, i);
        if (!mul)
            continue;
        mul->is_product = true;
        slot->whole.op = ZS_OP_MUL;
        slot->is_rewritten = true;
        touch_of(l, &slot->whole, &slot->touch);
    }
}

/* Each channel reads the slot of its own number, counted from the first of these bytes. */
static bool is_by_lanes(const struct zs_eu_lowering *l, const struct zs_eu_slot *slot,
                        unsigned read)
{
    uint16_t offsets[ZS_EU_LANES_MAX];
    struct zs_eu_place place;

    if (read == 3) /* the accumulator that is implied */
        return true;
    if (!elements_of(l, &slot->inst.src[read], slot->inst.exec_size, false, &place, offsets))
        return false;
    for (unsigned c = 0; c < slot->inst.exec_size; c++)
        if (offsets[c] != c * 4)
            return false;
    return true;
}

/* Whether `slot` writes these bytes for whoever reads them; of a masked instruction, if `reader` is
 * not NULL, for its channels, each of which reads what it has written. */
static bool covers(const struct zs_eu_slot *slot, const struct zs_eu_slot *reader,
                   struct zs_eu_bytes bytes)
{
    const struct zs_isa_inst *inst = &slot->inst;
    bool all_lanes = inst->flags & ZS_INST_NOMASK;
    bool same_lanes = reader && !(reader->inst.flags & ZS_INST_NOMASK) &&
                      inst->channel_offset == reader->inst.channel_offset;

    /* the predicate of sel chooses */
    if (slot->touch.stays || (inst->pred && inst->op != ZS_OP_SEL) || !(all_lanes || same_lanes))
        return false;
    for (unsigned i = 0; i < ZS_ARRAY_LEN(slot->touch.written); i++) {
        struct zs_eu_bytes written = slot->touch.written[i];
        bool packed = i == 1 || inst->dst.hstride == 1;
        bool in_place = all_lanes || written.begin_B == bytes.begin_B;
        if (packed && in_place && written.begin_B <= bytes.begin_B && bytes.end_B <= written.end_B)
            return true;
    }
    return false;
}

static bool is_of_acc(struct zs_eu_bytes bytes)
{
    return !is_empty(bytes) && bytes.begin_B < ZS_EU_OFFSET(acc_high);
}

/* Whether accumulators are read that were not written since the window's begin. */
static bool reads_old_acc(const struct zs_eu_lowering *l, const struct zs_eu_window *w)
{
    for (uint32_t i = 0; i < w->count; i++) {
        const struct zs_eu_slot *slot = &w->slots[i];
        for (unsigned k = 0; k < ZS_ARRAY_LEN(slot->touch.read); k++) {
            struct zs_eu_bytes bytes = slot->touch.read[k];
            uint32_t j = i;
            if (!is_of_acc(bytes))
                continue;
            const struct zs_eu_slot *reader = is_by_lanes(l, slot, k) ? slot : NULL;
            while (j > 0 && !covers(&w->slots[j - 1], reader, bytes))
                j--;
            if (j == 0)
                return true;
        }
    }
    return false;
}

/* Whether an instruction behind the slot may read what its mul writes to acc0. */
static bool is_read_later(const struct zs_eu_window *w, uint32_t index, bool at_end)
{
    struct zs_eu_bytes bytes = w->slots[index].touch.written[0];

    for (uint32_t i = index + 1; i < w->count; i++) {
        const struct zs_eu_touch *touch = &w->slots[i].touch;
        for (unsigned k = 0; k < ZS_ARRAY_LEN(touch->read); k++)
            if (overlap(touch->read[k], bytes))
                return true;
        if (covers(&w->slots[i], NULL, bytes))
            return false;
    }
    return at_end;
}

/* at_end: accumulators may be read behind the window. */
static void drop_products(struct zs_eu_window *w, bool at_end)
{
    for (uint32_t i = 0; i < w->count; i++) {
        struct zs_eu_slot *slot = &w->slots[i];
        if (slot->is_product)
            slot->state = is_read_later(w, i, at_end) ? ZS_EU_SLOT_OWN : ZS_EU_SLOT_DROPPED;
    }
}

/* Dependencies of messages: `mov (8) null r40`. */
static void drop_idle_moves(struct zs_eu_window *w)
{
    for (uint32_t i = 0; i < w->count; i++) {
        const struct zs_isa_inst *inst = &w->slots[i].inst;
        if (!w->slots[i].touch.stays && inst->op == ZS_OP_MOV && zs_eu_dst_is_null(inst) &&
            !inst->cond && !(inst->flags & ZS_INST_ACCWREN) && zs_eu_type_B(inst->dst.type) &&
            inst->src[0].kind == ZS_OPERAND_REG && inst->src[0].type == inst->dst.type)
            w->slots[i].state = ZS_EU_SLOT_DROPPED;
    }
}

/* ---- halves ------------------------------------------------------------------------------------
 */

static bool may_be_half(const struct zs_eu_slot *slot)
{
    const struct zs_isa_inst *inst = &slot->whole;
    unsigned kind = inst->op < ZS_ARRAY_LEN(kinds) ? kinds[inst->op] : 0;
    const uint32_t other = ZS_INST_ACCWREN | ZS_INST_ILLEGAL | ZS_INST_BREAKPOINT;

    return slot->state == ZS_EU_SLOT_OWN && !slot->touch.stays && kind & HALVES &&
           (inst->exec_size == 8 || inst->exec_size == 16) && !(inst->flags & other) &&
           (inst->dst.file != ZS_FILE_ACC || inst->dst.type == ZS_TYPE_F);
}

/* The second operand goes on where the first one ends. */
static bool continues(const struct zs_eu_lowering *l, const struct zs_isa_operand *a,
                      const struct zs_isa_operand *b, unsigned n, bool is_dst)
{
    uint16_t all[ZS_EU_LANES_MAX], second[ZS_EU_LANES_MAX];
    struct zs_eu_place at, second_at;

    if (a->kind != b->kind || a->file != b->file || a->type != b->type ||
        a->modifiers != b->modifiers || a->hstride != b->hstride || a->vstride != b->vstride ||
        a->width != b->width)
        return false;
    if (a->kind == ZS_OPERAND_IMM)
        return a->imm == b->imm;
    if (a->kind == ZS_OPERAND_NONE || a->file == ZS_FILE_NULL)
        return true;
    /* of accumulators only floats: others are not packed */
    if (a->file == ZS_FILE_ACC && a->type != ZS_TYPE_F)
        return false;
    if (!elements_of(l, a, 2 * n, is_dst, &at, all) ||
        !elements_of(l, b, n, is_dst, &second_at, second))
        return false;
    for (unsigned c = 0; c < n; c++)
        if (at.at + all[n + c] != second_at.at + second[c])
            return false;
    return true;
}

static bool are_halves(const struct zs_eu_lowering *l, const struct zs_isa_inst *a,
                       const struct zs_isa_inst *b)
{
    const uint32_t flags = ZS_INST_NOMASK | ZS_INST_PRED_INVERSE | ZS_INST_ALIGN16;
    unsigned n = a->exec_size;

    if (a->op != b->op || b->exec_size != n || a->channel_offset % (2 * n) ||
        b->channel_offset != a->channel_offset + n || a->pred != b->pred || a->cond != b->cond ||
        a->subfunction != b->subfunction || a->source_count != b->source_count ||
        (a->flags ^ b->flags) & flags)
        return false;
    if ((a->pred || a->cond) && (a->flag_reg != b->flag_reg || a->flag_subreg != b->flag_subreg))
        return false;
    if (!continues(l, &a->dst, &b->dst, n, true))
        return false;
    for (unsigned i = 0; i < a->source_count && i < 3; i++)
        if (!continues(l, &a->src[i], &b->src[i], n, false))
            return false;
    return true;
}

/* The slot behind `index` that is the other half, and may come to its place; NULL: there is none.
 */
static struct zs_eu_slot *find_half(const struct zs_eu_lowering *l, struct zs_eu_window *w,
                                    uint32_t index)
{
    const struct zs_eu_slot *first = &w->slots[index];
    uint32_t end = ZS_MIN(w->count, index + REACH);

    for (uint32_t i = index + 1; i < end && !w->slots[i].touch.stays; i++) {
        struct zs_eu_slot *slot = &w->slots[i];
        if (!may_be_half(slot) || !are_halves(l, &first->whole, &slot->whole))
            continue;
        if (writes_any(&first->touch, slot->touch.read, ZS_ARRAY_LEN(slot->touch.read)) ||
            first->touch.flags_written & (slot->touch.flags_read | slot->touch.flags_written))
            return NULL;
        for (uint32_t k = index + 1; k < i; k++)
            if (!zs_eu_slot_passes(slot, &w->slots[k]))
                return NULL;
        return slot;
    }
    return NULL;
}

static void join_halves(struct zs_eu_lowering *l, struct zs_eu_window *w, uint32_t index,
                        struct zs_eu_slot *half)
{
    struct zs_eu_slot *slot = &w->slots[index];

    half->state = ZS_EU_SLOT_HALF;
    slot->halves[slot->half_count++] = (uint8_t)(half - w->slots);
    for (unsigned i = 0; i < half->half_count; i++)
        slot->halves[slot->half_count++] = half->halves[i];
    half->half_count = 0;
    slot->whole.exec_size = (uint8_t)(2 * slot->whole.exec_size);
    slot->is_rewritten = true;
    touch_of(l, &slot->whole, &slot->touch);
}

static void find_halves(struct zs_eu_lowering *l, struct zs_eu_window *w, unsigned exec_size)
{
    for (uint32_t i = 0; i < w->count; i++) {
        struct zs_eu_slot *slot = &w->slots[i];
        if (slot->whole.exec_size != exec_size || !may_be_half(slot))
            continue;
        struct zs_eu_slot *half = find_half(l, w, i);
        if (half)
            join_halves(l, w, i, half);
    }
}

/* ---- windows -----------------------------------------------------------------------------------
 */

static void fill(struct zs_eu_lowering *l, struct zs_eu_window *w, uint32_t first, uint32_t end)
{
    w->first = first;
    w->count = ZS_MIN(end - first, w->is_merging ? (uint32_t)ZS_EU_WINDOW : 1);
    for (uint32_t i = 0; i < w->count; i++) {
        struct zs_eu_slot *slot = &w->slots[i];
        w->order[i] = (uint8_t)i;
        zs_eu_decode(l, l->program->insts[first + i].offset_B, &slot->inst);
        slot->half_count = slot->shift = slot->indices = 0;
        slot->is_rewritten = slot->is_forwarded = slot->is_product = slot->is_passed = false;
        slot->state = ZS_EU_SLOT_OWN;
        if (!w->is_merging)
            continue;
        slot->whole = slot->inst;
        touch_of(l, &slot->inst, &slot->touch);
    }
}

/* Where the block of an instruction ends. */
static uint32_t block_end(const struct zs_eu_program *p, uint32_t inst)
{
    return p->block_inst[p->insts[inst].block + 1];
}

/* Whether some shift makes qwords of dwords. */
static bool makes_addresses(const struct zs_eu_lowering *l)
{
    const struct zs_eu_program *p = l->program;
    struct zs_isa_inst inst;

    for (uint32_t i = 0; i < p->inst_count; i++) {
        zs_eu_decode(l, p->insts[i].offset_B, &inst);
        if (inst.op == ZS_OP_SHL && inst.exec_size >= 8 && zs_eu_type_B(inst.dst.type) == 8)
            return true;
    }
    return false;
}

void zs_eu_merge_begin(struct zs_eu_lowering *l, struct zs_eu_window *w)
{
    w->first = w->count = 0;
    w->acc_lives = false;
    w->is_merging = !zs_eu_stands_anywhere(l);
    memset(w->carried, 0xff, sizeof(w->carried));
    w->addresses = w->is_merging && makes_addresses(l);
    w->passes =
        w->is_merging && l->links && l->program->simd_mask == UINT32_MAX && !zs_eu_is_watched(l);
    if ((w->passes || w->addresses) && !zs_eu_carried_registers(l, w->carried))
        memset(w->carried, 0xff, sizeof(w->carried));
    if (!w->is_merging || !l->has_acc)
        return;
    for (uint32_t i = 0; i < l->program->inst_count && !w->acc_lives; i += w->count) {
        fill(l, w, i, block_end(l->program, i));
        find_products(l, w);
        w->acc_lives = reads_old_acc(l, w);
    }
    w->first = w->count = 0;
}

void zs_eu_merge_window(struct zs_eu_lowering *l, struct zs_eu_window *w, uint32_t first,
                        uint32_t end)
{
    fill(l, w, first, end);
    if (!w->is_merging)
        return;
    find_products(l, w);
    drop_products(w, w->acc_lives || first + w->count < end);
    drop_idle_moves(w);
    find_halves(l, w, 8);
    find_halves(l, w, 16);
    if (w->addresses)
        zs_eu_find_addresses(l, w, first + w->count == end);
    if (l->links)
        zs_eu_order(l, w, first + w->count == end);
}
