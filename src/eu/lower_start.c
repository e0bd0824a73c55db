/* SPDX-License-Identifier: MIT */
/*
 * What a new thread must find zero, and how its floating-point modes begin.
 *
 * A thread that starts finds in its registers what an earlier one left. Those that the program may
 * read before it writes them have to be cleared: all that it reads anywhere, or, for threads with
 * all lanes on, what follows from the following. Everything behind the first block is executed
 * after all of it, and in it all lanes are on. In any block lanes stay the same, so what a masked
 * instruction writes in a lane is there for masked instructions that read it in the same lane. For
 * each byte of the file: nobody wrote it, all lanes did, or the lane did that it belongs to.
 *
 * The first write to cr0 is often a constant, with nothing that depends on the modes before it:
 * then the host's modes are those from the start on, and need not be changed twice a thread.
 */
#include "eu/lower.h"
#include "eu/lower_operand.h"

#include "dataport/dataport.h"

#include <stdlib.h>
#include <string.h>

/* Programs that are longer spend little of their time on starting. */
enum { INSTS_MAX = 4096 };

enum { NOBODY = 254, EVERYBODY = 255 }; /* else a lane */

/* They touch their operands, flags and accumulators, and nothing else. */
static const bool plain[128] = {
    [ZS_OP_MOV] = true,  [ZS_OP_SEL] = true,  [ZS_OP_NOT] = true,   [ZS_OP_AND] = true,
    [ZS_OP_OR] = true,   [ZS_OP_XOR] = true,  [ZS_OP_SHR] = true,   [ZS_OP_SHL] = true,
    [ZS_OP_ASR] = true,  [ZS_OP_ROL] = true,  [ZS_OP_ROR] = true,   [ZS_OP_CMP] = true,
    [ZS_OP_CMPN] = true, [ZS_OP_CSEL] = true, [ZS_OP_BFREV] = true, [ZS_OP_BFE] = true,
    [ZS_OP_BFI1] = true, [ZS_OP_BFI2] = true, [ZS_OP_LZD] = true,   [ZS_OP_FBH] = true,
    [ZS_OP_FBL] = true,  [ZS_OP_CBIT] = true, [ZS_OP_ADD] = true,   [ZS_OP_MUL] = true,
    [ZS_OP_AVG] = true,  [ZS_OP_FRC] = true,  [ZS_OP_RNDU] = true,  [ZS_OP_RNDD] = true,
    [ZS_OP_RNDE] = true, [ZS_OP_RNDZ] = true, [ZS_OP_ADD3] = true,  [ZS_OP_BFN] = true,
    [ZS_OP_DP4A] = true, [ZS_OP_MAD] = true,  [ZS_OP_LRP] = true,   [ZS_OP_MATH] = true,
    [ZS_OP_MAC] = true,  [ZS_OP_MACH] = true, [ZS_OP_MACL] = true,  [ZS_OP_ADDC] = true,
    [ZS_OP_SUBB] = true,
};

static bool touches_operands_alone(const struct zs_isa_inst *inst)
{
    return inst->op < ZS_ARRAY_LEN(plain) && plain[inst->op] && inst->exec_size &&
           !(inst->op == ZS_OP_MATH && inst->subfunction >= ZS_MATH_IDIV);
}

struct bytes {
    struct zs_eu_lowering *l;
    bool is_first, all_lanes; /* of the block, of the instruction */
    unsigned lane, lanes;     /* of the instruction's first channel; those that may be on */
    uint64_t exposed[4];      /* registers that are read where nobody wrote */
    uint8_t first[ZS_EU_GRF_FILE_MAX_B]; /* behind the first block */
    uint8_t now[ZS_EU_GRF_FILE_MAX_B];
};

static void written(struct bytes *b, uint32_t at_B, uint32_t size_B, unsigned channel)
{
    unsigned lane = b->lane + channel;

    for (uint32_t i = at_B; i < at_B + size_B && lane < b->lanes; i++)
        b->now[i] = b->all_lanes ? EVERYBODY : (uint8_t)lane;
}

static void read_bytes(struct bytes *b, uint32_t at_B, uint32_t size_B, unsigned channel)
{
    unsigned lane = b->lane + channel;

    for (uint32_t i = at_B; i < at_B + size_B && lane < b->lanes; i++) {
        uint32_t reg = i / b->l->program->regs.grf_B;
        if (b->now[i] != EVERYBODY && (b->all_lanes || b->now[i] != lane))
            b->exposed[reg / 64] |= UINT64_C(1) << reg % 64;
    }
}

typedef void touch_fn(struct bytes *b, uint32_t at_B, uint32_t size_B, unsigned channel);

static bool in_file(const struct bytes *b, uint32_t at_B, uint32_t size_B)
{
    return at_B + size_B <= zs_eu_file_B(b->l->program);
}

/* An operand's elements; false: other places than these. */
static bool touch_elements(struct bytes *b, const struct zs_isa_inst *inst,
                           const struct zs_isa_operand *op, bool is_dst, touch_fn *touch)
{
    uint32_t size_B = zs_eu_type_B(op->type), at_B = op->reg * b->l->program->regs.grf_B;
    uint16_t offsets[ZS_EU_LANES_MAX];

    if (op->kind == ZS_OPERAND_INDIRECT || op->kind == ZS_OPERAND_MACRO)
        return false;
    if (op->kind != ZS_OPERAND_REG || op->file != ZS_FILE_GRF)
        return true;
    const struct zs_eu_place place = {0, zs_eu_file_B(b->l->program), size_B};
    at_B += op->subreg_B;
    if (!size_B || !zs_eu_region_offsets(op, inst->exec_size, &place, size_B, is_dst, offsets))
        return false;
    for (unsigned c = 0; c < inst->exec_size; c++) {
        if (!in_file(b, at_B + offsets[c], size_B))
            return false;
        touch(b, at_B + offsets[c], size_B, c);
    }
    return true;
}

/* ---- messages ----------------------------------------------------------------------------------
 */

/* Elements of lanes, a slot for each, row by row. */
static void touch_rows(struct bytes *b, uint32_t at_B, const struct zs_port_message *m,
                       touch_fn *touch)
{
    uint32_t slot_B = m->slot_B, row_B = m->component_B;

    for (uint32_t e = 0; e < m->elements; e++)
        for (uint32_t c = 0; c < m->lanes; c++)
            if (in_file(b, at_B + e * row_B + c * slot_B, slot_B))
                touch(b, at_B + e * row_B + c * slot_B, slot_B, c);
}

static bool is_plain_load(const struct zs_port_message *m, const struct zs_port_message_row *row)
{
    return !row->is_atomic && m->bytes_read && !m->bytes_written &&
           (m->shape == ZS_PORT_SHAPE_LSC || m->shape == ZS_PORT_SHAPE_OFFSETS ||
            m->shape == ZS_PORT_SHAPE_ADDRESSES);
}

/* Registers that a message reads: of a plain one with a lane's address and data in its own places,
 * of others all of them. */
static void read_payload(struct bytes *b, const struct zs_eu_send_desc *d,
                         const struct zs_port_message *m)
{
    uint32_t grf_B = b->l->program->regs.grf_B;
    bool is_atomic = m && m->bytes_read && m->bytes_written; /* of two operands, perhaps */
    bool by_lanes = !d->gathers && m && m->shape == ZS_PORT_SHAPE_LSC && m->lanes &&
                    !m->header_grf && !is_atomic && !m->strided && m->address_B >= 4 &&
                    m->slot_B >= 4;

    if (by_lanes) {
        for (uint32_t c = 0; c < m->lanes; c++)
            if (in_file(b, d->src0_B + c * m->address_B, m->address_B))
                read_bytes(b, d->src0_B + c * m->address_B, m->address_B, c);
        if (d->xlen && m->data_in_src1)
            touch_rows(b, d->src1_B, m, read_bytes);
        return;
    }
    bool all_lanes = b->all_lanes;
    unsigned lanes = b->lanes;
    b->all_lanes = true;
    b->lanes = 2 * ZS_EU_LANES_MAX;
    if (d->gathers)
        read_bytes(b, 0, zs_eu_file_B(b->l->program), 0);
    else
        read_bytes(b, d->src0_B, d->mlen * grf_B, 0);
    if (d->xlen)
        read_bytes(b, d->src1_B, d->xlen * grf_B, 0);
    b->all_lanes = all_lanes;
    b->lanes = lanes;
}

static bool touch_message(struct bytes *b, const struct zs_isa_inst *inst, uint32_t index)
{
    const struct zs_eu_program *p = b->l->program;
    const struct zs_port_message_row *row = NULL;

    struct zs_eu_send early;

    if (inst->flags & (ZS_INST_DESC_REG | ZS_INST_EXDESC_REG) ||
        (!p->insts[index].is_send && !zs_eu_known_send(b->l, inst, index, &early)))
        return false;
    const struct zs_eu_send *send =
        p->insts[index].is_send ? &p->sends.items[p->insts[index].send].send : &early;
    const struct zs_eu_send_desc *d = &send->d;
    const struct zs_port_message *m = send->exec ? zs_eu_send_message(send, &row) : NULL;
    read_payload(b, d, m);
    if (!m || !d->has_dst || inst->pred || !is_plain_load(m, row))
        return true;
    if (m->lanes && m->lanes <= inst->exec_size)
        touch_rows(b, d->dst_B, m, written);
    else if (!m->lanes && m->shape == ZS_PORT_SHAPE_LSC && b->all_lanes &&
             in_file(b, d->dst_B, m->block_B))
        written(b, d->dst_B, m->block_B, 0);
    return true;
}

/* ---- blocks ------------------------------------------------------------------------------------
 */

/* false: what it touches is not known. */
static bool touch_inst(struct bytes *b, const struct zs_isa_inst *inst, uint32_t index)
{
    uint32_t flags = zs_isa_op_flags((enum zs_isa_op)inst->op);

    if (!b->l->program->insts[index].modelled)
        return false;
    bool no_mask = inst->flags & ZS_INST_NOMASK;
    b->all_lanes = no_mask || b->is_first;
    b->lane = inst->channel_offset;
    b->lanes = no_mask ? 2 * ZS_EU_LANES_MAX : b->l->params->simd;
    if (flags & ZS_OPF_SEND)
        return touch_message(b, inst, index);
    if (flags & (ZS_OPF_BRANCH | ZS_OPF_SYNC)) { /* targets are dwords, for all lanes */
        for (unsigned i = 0; i < inst->source_count; i++)
            if (inst->src[i].file == ZS_FILE_GRF || inst->src[i].kind == ZS_OPERAND_INDIRECT)
                return false;
        return inst->op != ZS_OP_CALL && inst->op != ZS_OP_CALLA;
    }
    if (!touches_operands_alone(inst))
        return false;
    for (unsigned i = 0; i < inst->source_count; i++)
        if (!touch_elements(b, inst, &inst->src[i], false, read_bytes))
            return false;
    if (!(inst->flags & ZS_INST_HAS_DST) || (inst->pred && inst->op != ZS_OP_SEL))
        return inst->dst.kind != ZS_OPERAND_INDIRECT;
    return touch_elements(b, inst, &inst->dst, true, written);
}

static bool touch_block(struct bytes *b, uint32_t block)
{
    const struct zs_eu_program *p = b->l->program;
    uint32_t end = block + 1 < p->block_count ? p->block_inst[block + 1] : p->inst_count;
    struct zs_isa_inst inst;

    for (uint32_t i = p->block_inst[block]; i < end; i++) {
        zs_eu_decode(b->l, p->insts[i].offset_B, &inst);
        if (!touch_inst(b, &inst, i))
            return false;
    }
    return true;
}

static bool find_exposed(struct bytes *b, uint32_t entry)
{
    const struct zs_eu_program *p = b->l->program;
    uint32_t payload_B = ZS_MIN(b->l->params->payload_B, zs_eu_file_B(p));

    memset(b->now, NOBODY, sizeof(b->now));
    memset(b->now, EVERYBODY, payload_B);
    b->is_first = true;
    if (!touch_block(b, entry))
        return false;
    memcpy(b->first, b->now, sizeof(b->first));
    b->is_first = false;
    for (uint32_t block = 0; block < p->block_count; block++) {
        memcpy(b->now, b->first, zs_eu_file_B(p));
        if (!touch_block(b, block))
            return false;
    }
    return true;
}

bool zs_eu_exposed_registers(struct zs_eu_lowering *l, uint32_t entry_block, uint64_t ret[4])
{
    struct bytes *b;

    if (l->program->inst_count > INSTS_MAX || !(b = calloc(1, sizeof(*b))))
        return false;
    b->l = l;
    bool known = find_exposed(b, entry_block);
    memcpy(ret, b->exposed, sizeof(b->exposed));
    free(b);
    return known;
}

/* ---- modes -------------------------------------------------------------------------------------
 */

/* It does the same in all modes. */
static bool has_no_modes(const struct zs_isa_inst *inst)
{
    bool is_send = zs_isa_op_flags((enum zs_isa_op)inst->op) & ZS_OPF_SEND;

    if (is_send || inst->op == ZS_OP_SYNC || inst->op == ZS_OP_NOP)
        return true;
    if (!touches_operands_alone(inst) || inst->op == ZS_OP_MATH || inst->cond)
        return false;
    if (zs_eu_type_is_float(inst->dst.type))
        return false;
    for (unsigned i = 0; i < inst->source_count; i++)
        if (zs_eu_type_is_float(inst->src[i].type) || inst->src[i].file == ZS_FILE_CR)
            return false;
    return true;
}

uint32_t zs_eu_early_control(const struct zs_eu_lowering *l, uint32_t entry_block)
{
    const struct zs_eu_program *p = l->program;
    struct zs_isa_inst inst;

    for (uint32_t i = p->block_inst[entry_block]; i < p->inst_count; i++) {
        zs_eu_decode(l, p->insts[i].offset_B, &inst);
        const struct zs_isa_operand *dst = &inst.dst;
        if (p->insts[i].block != entry_block)
            return 0;
        if (inst.flags & ZS_INST_HAS_DST && dst->kind == ZS_OPERAND_REG && dst->file == ZS_FILE_CR)
            return inst.op == ZS_OP_OR && inst.flags & ZS_INST_NOMASK && !inst.pred && !inst.cond &&
                           dst->reg == 0 && dst->subreg_B == 0 && inst.exec_size == 1 &&
                           inst.src[0].file == ZS_FILE_CR && inst.src[0].reg == 0 &&
                           inst.src[0].subreg_B == 0 && !inst.src[0].modifiers &&
                           inst.src[1].kind == ZS_OPERAND_IMM && inst.src[1].type == ZS_TYPE_UW
                       ? (uint32_t)inst.src[1].imm & UINT16_MAX
                       : 0;
        if (!has_no_modes(&inst))
            return 0;
    }
    return 0;
}
