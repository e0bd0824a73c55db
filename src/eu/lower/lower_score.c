/* SPDX-License-Identifier: MIT */
/* Rows of the scoreboard's check: what an instruction waits for, its pipe, the bytes it touches. */
#include "eu/lower/lower_operand.h"

/* Of the pipe of doubles and, where that has them too, of 64-bit integers. */
static bool doubles_alone(const struct zs_eu_lowering *l)
{
    return l->platform->doubles_are_long && !(l->params->flags & ZS_EU_LOWER_LONG_INTEGERS);
}

static bool is_long(const struct zs_eu_lowering *l, unsigned type)
{
    return doubles_alone(l) ? type == ZS_TYPE_DF : zs_eu_type_B(type) == 8;
}

static enum zs_eu_pipe pipe_of_type(const struct zs_eu_lowering *l, unsigned type)
{
    return is_long(l, type)            ? ZS_EU_PIPE_LONG
           : zs_eu_type_is_float(type) ? ZS_EU_PIPE_FLOAT
                                       : ZS_EU_PIPE_INT;
}

static bool is_math(const struct zs_eu_lowering *l, const struct zs_isa_inst *inst)
{
    bool of_doubles = inst->flags & ZS_INST_HAS_DST && inst->dst.type == ZS_TYPE_DF;
    for (unsigned i = 0; i < inst->source_count; i++)
        of_doubles |= inst->src[i].type == ZS_TYPE_DF;
    return zs_isa_op_flags((enum zs_isa_op)inst->op) & ZS_OPF_MATH ||
           (of_doubles && l->platform->doubles_are_math);
}

static bool is_small_float(unsigned type)
{
    return type == ZS_TYPE_BF8 || type == ZS_TYPE_HF8;
}

/* Moves that convert to floats are not always of the pipe that those have: isFloatInIntegerPipe()
 * of IGC's G4_IR.cpp. */
static bool converts_as_int(const struct zs_eu_lowering *l, const struct zs_isa_inst *inst)
{
    unsigned to = inst->dst.type, from = inst->src[0].type;
    bool is_int = !zs_eu_type_is_float(from) && from != ZS_TYPE_VF;

    if (!l->platform->converts_as_int || inst->op != ZS_OP_MOV)
        return l->platform->converts_as_int && inst->op == ZS_OP_SRND;
    if (is_small_float(to) || is_small_float(from))
        return true;
    if (to == ZS_TYPE_F)
        return is_int || from == ZS_TYPE_DF || from == ZS_TYPE_HF || from == ZS_TYPE_BF;
    if (to == ZS_TYPE_HF)
        return from == ZS_TYPE_F || (is_int && zs_eu_type_B(from) <= 4);
    return to == ZS_TYPE_BF && from == ZS_TYPE_F;
}

static enum zs_eu_pipe pipe_of(const struct zs_eu_lowering *l, const struct zs_isa_inst *inst)
{
    uint32_t flags = zs_isa_op_flags((enum zs_isa_op)inst->op);

    if (inst->op == ZS_OP_SYNC || inst->op == ZS_OP_NOP || inst->op == ZS_OP_HALT ||
        inst->op == ZS_OP_WAIT || inst->op == ZS_OP_ILLEGAL || inst->flags & ZS_INST_ILLEGAL)
        return ZS_EU_PIPE_NONE;
    if (flags & (ZS_OPF_SEND | ZS_OPF_DPAS) || (is_math(l, inst) && !l->platform->has_math_pipe))
        return ZS_EU_PIPE_TOKEN;
    if (l->platform->one_pipe)
        return ZS_EU_PIPE_FLOAT;
    if (is_math(l, inst))
        return ZS_EU_PIPE_MATH;
    if (flags & ZS_OPF_BRANCH || converts_as_int(l, inst))
        return ZS_EU_PIPE_INT;
    bool is_wide = false;
    for (unsigned i = 0; i < inst->source_count && !doubles_alone(l); i++)
        is_wide |= is_long(l, inst->src[i].type);
    return is_wide ? ZS_EU_PIPE_LONG : pipe_of_type(l, inst->dst.type);
}

/* Pipes that a distance is about. One without a pipe: the instruction's own, or that of its
 * sources; sources do not agree on which, either will do. */
static uint32_t waited_pipes(const struct zs_eu_lowering *l, const struct zs_isa_inst *inst,
                             enum zs_eu_pipe own)
{
    uint32_t pipes = own < ZS_EU_PIPE_COUNT ? 1u << own : 0;

    switch ((enum zs_isa_swsb_pipe)inst->swsb.pipe) {
    case ZS_SWSB_FLOAT:
        return 1u << ZS_EU_PIPE_FLOAT;
    case ZS_SWSB_INT:
        return 1u << ZS_EU_PIPE_INT;
    case ZS_SWSB_LONG:
        return 1u << ZS_EU_PIPE_LONG;
    case ZS_SWSB_MATH:
        return 1u << ZS_EU_PIPE_MATH;
    case ZS_SWSB_DIST:
        break;
    case ZS_SWSB_ALL:
        return (1u << ZS_EU_PIPE_COUNT) - 1;
    default:
        return 0;
    }
    if (l->platform->one_pipe || own == ZS_EU_PIPE_NONE)
        return (1u << ZS_EU_PIPE_COUNT) - 1;
    for (unsigned i = 0; i < inst->source_count; i++)
        pipes |= 1u << pipe_of_type(l, inst->src[i].type);
    return pipes;
}

static struct zs_eu_bytes bytes_of(const struct zs_eu_lowering *l, const struct zs_isa_inst *inst,
                                   const struct zs_isa_operand *op, bool *ret_by_lanes)
{
    uint32_t grf_B = l->program->regs.grf_B, begin_B = op->reg * grf_B, end_B = begin_B;
    uint32_t flags = zs_isa_op_flags((enum zs_isa_op)inst->op);
    unsigned size_B = ZS_MAX(zs_eu_type_B(op->type), 1u);
    bool direct = op->kind == ZS_OPERAND_REG || op->kind == ZS_OPERAND_MACRO,
         is_dst = op == &inst->dst;

    *ret_by_lanes = false;
    if (!direct || op->file != ZS_FILE_GRF || (is_dst && !(inst->flags & ZS_INST_HAS_DST)))
        return (struct zs_eu_bytes){0, 0};
    if (flags & (ZS_OPF_SEND | ZS_OPF_DPAS))
        return (struct zs_eu_bytes){begin_B, begin_B + op->grf_count * grf_B};
    uint16_t offsets[ZS_EU_LANES_MAX];
    const struct zs_eu_place place = {0, UINT16_MAX, size_B};
    unsigned n = ZS_MAX(inst->exec_size, 1u);
    begin_B += op->subreg_B;
    end_B = begin_B + size_B;
    if (!zs_eu_region_offsets(op, n, &place, size_B, is_dst, offsets))
        return (struct zs_eu_bytes){begin_B, end_B};
    for (unsigned c = 0; c < n; c++)
        end_B = ZS_MAX(end_B, begin_B + offsets[c] + size_B);
    uint32_t stride = zs_eu_even_stride(offsets, n);
    *ret_by_lanes = stride && stride != UINT32_MAX;
    return (struct zs_eu_bytes){begin_B, end_B};
}

/* sync.allrd and sync.allwr: of all tokens, or of those that the immediate names. */
static void add_sync(const struct zs_isa_inst *inst, struct zs_eu_score *score)
{
    enum { ALLRD = 2, ALLWR = 3 };
    uint32_t mask = inst->src[0].kind == ZS_OPERAND_IMM ? (uint32_t)inst->src[0].imm : UINT32_MAX;

    if (inst->op != ZS_OP_SYNC)
        return;
    if (inst->subfunction == ALLRD)
        score->wait_src |= mask;
    if (inst->subfunction == ALLWR)
        score->wait_dst |= mask;
}

/* Units that read the sources of what they are given in order. */
static uint8_t function_of(const struct zs_eu_lowering *l, const struct zs_isa_inst *inst)
{
    enum { MATH = 0x40, DPAS };
    uint32_t flags = zs_isa_op_flags((enum zs_isa_op)inst->op);

    return is_math(l, inst) ? MATH : flags & ZS_OPF_DPAS ? DPAS : inst->sfid;
}

/* What is read is dropped, and may be anything: IGC 2 reads what a fence returns so, for hardware's
 * sake, and waits behind it. */
static bool drops(const struct zs_isa_inst *inst)
{
    return inst->op == ZS_OP_MOV && inst->dst.kind == ZS_OPERAND_REG &&
           inst->dst.file == ZS_FILE_NULL && !inst->cond;
}

void zs_eu_lower_score(struct zs_eu_lowering *l, const struct zs_isa_inst *inst, uint32_t index)
{
    struct zs_eu_program *p = l->program;
    struct zs_eu_score *score = &p->scores[index];
    enum zs_eu_pipe pipe = pipe_of(l, inst);
    uint32_t token = 1u << (inst->swsb.sbid & (ZS_EU_TOKENS - 1));
    /* with a distance, what sets a token looks like what waits for it: the instruction tells */
    bool sets = inst->swsb.token == ZS_SWSB_SET ||
                (inst->swsb.token == ZS_SWSB_DST && inst->swsb.distance &&
                 pipe == ZS_EU_PIPE_TOKEN && l->platform->doubles_are_math);
    bool by_lanes;

    *score = (struct zs_eu_score){.inst = index,
                                  .pipe = (uint8_t)pipe,
                                  .function = function_of(l, inst),
                                  .distance = inst->swsb.distance,
                                  .wait_pipes = (uint8_t)waited_pipes(l, inst, pipe),
                                  .wait_dst = inst->swsb.token == ZS_SWSB_DST && !sets ? token : 0,
                                  .wait_src = inst->swsb.token == ZS_SWSB_SRC ? token : 0,
                                  .sets = sets,
                                  .sbid = inst->swsb.sbid & (ZS_EU_TOKENS - 1)};
    score->starts_block = p->block_inst[p->insts[index].block] == index;
    score->wait_pipes = score->distance ? score->wait_pipes : 0;
    add_sync(inst, score);
    bool is_send = zs_isa_op_flags((enum zs_isa_op)inst->op) & ZS_OPF_SEND;
    score->lengths_in_a0 = is_send && inst->flags & (ZS_INST_DESC_REG | ZS_INST_EXDESC_REG);
    score->dst = bytes_of(l, inst, &inst->dst, &by_lanes);
    score->maybe_longer = score->dst.end_B > score->dst.begin_B &&
                          zs_eu_payload_grfs(inst, &inst->dst) > inst->dst.grf_count;
    for (unsigned i = 0; i < inst->source_count && i < ZS_ARRAY_LEN(score->src) && !drops(inst);
         i++) {
        score->src[i] = bytes_of(l, inst, &inst->src[i], &by_lanes);
        score->by_lanes |= (uint8_t)((unsigned)by_lanes << i);
    }
    score->mask = zs_eu_bytes_mask(score->dst);
    for (unsigned i = 0; i < ZS_ARRAY_LEN(score->src); i++)
        score->mask |= zs_eu_bytes_mask(score->src[i]);
    struct zs_eu_op *op = zs_eu_emit(l, ZS_EU_KIND_SCOREBOARD);
    zs_eu_mask(l, op);
    op->aux = index;
}
