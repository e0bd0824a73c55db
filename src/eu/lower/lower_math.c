/* SPDX-License-Identifier: MIT */
/* Functions of the math unit, and the macros of division and square root. */
#include "eu/lower/lower_inst.h"

/* ---- macros ---- */

/* Up to Gen11 operands of macros are in Align16, later there is no other form. */
static bool is_in_form_of_macros(const struct zs_eu_lowering *l)
{
    return l->platform->macros_in_align1 || (l->inst->flags & ZS_INST_ALIGN16);
}

static bool macro_operands_are_known(struct zs_eu_lowering *l)
{
    const struct zs_isa_inst *inst = l->inst;
    bool known = inst->dst.mme <= ZS_MME_NONE && l->n <= 16 && is_in_form_of_macros(l);

    for (unsigned i = 0; i < inst->source_count; i++)
        known = known && inst->src[i].mme <= ZS_MME_NONE && inst->src[i].type == inst->dst.type;
    known = known && (inst->dst.type == ZS_TYPE_F || inst->dst.type == ZS_TYPE_DF);
    return known || unmodelled(l, "this form");
}

/* An operation of a macro; its result goes to a temporary and from there where dst says. */
static struct zs_eu_op *emit_macro(struct zs_eu_lowering *l, enum zs_eu_kind kind)
{
    unsigned type = l->inst->dst.type;
    struct zs_eu_loc src[3] = {{0, false}, {0, false}, {0, false}};

    load_all(l, type, ZS_EU_MOD_ARITH, src);
    struct zs_eu_op *op = zs_eu_emit(l, kind);
    zs_eu_mask(l, op);
    op->dst = zs_eu_temp(l);
    for (unsigned i = 0; i < 3; i++) {
        op->src[i] = src[i].at;
        op->arg |= (uint8_t)((unsigned)src[i].scalar << i);
    }
    op->arg |= type == ZS_TYPE_DF ? 8 : 0;
    return op;
}

/* Nothing where the seed has the result already (see lower_math_macro). */
void zs_eu_lower_madm(struct zs_eu_lowering *l)
{
    if (l->program->insts[l->index].seed)
        return;
    struct zs_isa_inst *plain = rewrite(l);
    uint32_t aux = (uint32_t)plain->dst.mme << 12;

    plain->flags &= ~(uint32_t)ZS_INST_ACCWREN;
    if (!macro_operands_are_known(l))
        return;
    for (unsigned i = 0; i < 3; i++) {
        struct zs_isa_operand *src = &plain->src[i];
        aux |= (uint32_t)src->mme << 4 * i;
        if (src->mme == ZS_MME_NONE)
            continue;
        aux |= (uint32_t) !!(src->modifiers & ZS_MOD_ABS) << (16 + i) |
               (uint32_t) !!(src->modifiers & ZS_MOD_NEG) << (20 + i);
        src->modifiers = 0;
    }
    struct zs_eu_op *op = emit_macro(l, ZS_EU_KIND_MADM);
    op->aux = aux;
    zs_eu_store(l, (struct zs_eu_loc){op->dst, l->n == 1}, plain->dst.type);
}

/* ---- functions ---- */

static void lower_idiv(struct zs_eu_lowering *l, enum zs_eu_row quotient, enum zs_eu_row remainder,
                       unsigned type)
{
    const struct zs_isa_inst *inst = l->inst;
    struct zs_eu_loc src[2], result[2];

    load_all(l, type, ZS_EU_MOD_ARITH, src);
    result[0] = zs_eu_apply(l, quotient, src, 2);
    result[1] = zs_eu_apply(l, remainder, src, 2);
    zs_eu_store(l, result[0], type);
    /* eight lanes of dwords: the next register */
    if (l->n > 8 || inst->dst.reg + 1 >= l->program->regs.grf_count ||
        inst->dst.file != ZS_FILE_GRF) {
        unmodelled(l, "this destination");
        return;
    }
    rewrite(l)->dst.reg++;
    zs_eu_store(l, result[1], type);
}

static void lower_math_integer(struct zs_eu_lowering *l)
{
    const struct zs_isa_inst *inst = l->inst;
    /* d by d is signed; one unsigned source makes both unsigned */
    bool s = zs_eu_type_is_signed(src_type(l, 0)) && zs_eu_type_is_signed(src_type(l, 1));
    unsigned type = s ? ZS_TYPE_D : ZS_TYPE_UD;
    enum zs_eu_row quotient = s ? ZS_EU_ROW_IQOT_S32 : ZS_EU_ROW_IQOT_U32;
    enum zs_eu_row remainder = s ? ZS_EU_ROW_IREM_S32 : ZS_EU_ROW_IREM_U32;
    struct zs_eu_loc src[2];

    if (any_float_src(l) || widest_B(l, true) > 4) {
        unmodelled(l, "integer division of this type");
        return;
    }
    if (inst->subfunction == ZS_MATH_IDIV) {
        lower_idiv(l, quotient, remainder, type);
        return;
    }
    load_all(l, type, ZS_EU_MOD_ARITH, src);
    zs_eu_compute(l, inst->subfunction == ZS_MATH_IQOT ? quotient : remainder, type, src, 2);
}

/* ---- macros as the compiler emits them ---- */

/* A macro, from what follows its seed to its last step. */
struct macro {
    const struct zs_isa_inst *seed;
    uint32_t branch, last; /* branch: 0, if steps are under the flag instead */
};

static bool has_flag_of(const struct zs_isa_inst *inst, const struct zs_isa_inst *seed)
{
    return inst->pred == ZS_PRED_SEQ && inst->flag_reg == seed->flag_reg &&
           inst->flag_subreg == seed->flag_subreg;
}

static bool may_write_flag_of(const struct zs_isa_inst *inst, const struct zs_isa_inst *seed)
{
    return (inst->cond && inst->flag_reg == seed->flag_reg) || inst->dst.file == ZS_FILE_F;
}

/* Behind the branch: in lanes that are not the seed's, or by which lanes there are. */
static bool does_more(const struct zs_isa_inst *inst, const struct zs_isa_inst *seed)
{
    unsigned first = inst->channel_offset, end = first + inst->exec_size;
    bool reads_ce = false;

    for (unsigned i = 0; i < inst->source_count && i < ZS_ARRAY_LEN(inst->src); i++)
        reads_ce = reads_ce || inst->src[i].file == ZS_FILE_CE;
    return reads_ce ||
           (!(inst->flags & ZS_INST_NOMASK) &&
            (first < seed->channel_offset || end > seed->channel_offset + seed->exec_size));
}

static bool is_step(const struct macro *m, const struct zs_isa_inst *inst)
{
    const struct zs_isa_inst *seed = m->seed;
    bool is_under_flag = has_flag_of(inst, seed) && inst->flags & ZS_INST_PRED_INVERSE;

    return inst->exec_size == seed->exec_size && inst->channel_offset == seed->channel_offset &&
           inst->dst.type == seed->dst.type && !((inst->flags ^ seed->flags) & ZS_INST_NOMASK) &&
           !inst->cond && !(inst->dst.modifiers & ZS_MOD_SAT) &&
           (m->branch && !inst->pred ? true : is_under_flag);
}

/* A branch by which lanes leave whose flag is set. */
static bool is_way_out(const struct zs_eu_lowering *l, const struct zs_isa_inst *inst,
                       const struct zs_isa_inst *seed)
{
    bool when_false =
        inst->op == ZS_OP_IF || (inst->op == ZS_OP_GOTO && l->platform->goto_when_false);

    return (inst->op == ZS_OP_IF || inst->op == ZS_OP_GOTO) && has_flag_of(inst, seed) &&
           !(inst->flags & (ZS_INST_BRANCH_CTRL | ZS_INST_NOMASK)) &&
           !(inst->flags & ZS_INST_PRED_INVERSE) == !when_false &&
           inst->src[0].kind == ZS_OPERAND_LABEL;
}

/* It goes to the end of the block behind it, which nobody else comes to. */
static bool goes_over_one_block(const struct zs_eu_lowering *l, const struct zs_isa_inst *branch,
                                uint32_t index)
{
    const struct zs_eu_program *p = l->program;
    unsigned label = branch->op == ZS_OP_GOTO ? branch->source_count - 1u : 0;

    return index + 1 < p->inst_count && !p->insts[index + 1].is_target &&
           zs_eu_block_at(p, zs_eu_label(p, branch, label)) == p->insts[index].block + 2;
}

/*
 * The macro behind a seed, if it is as the compiler emits it: a branch by which lanes leave whose
 * flag is set, or steps under the flag's inverse; none without; and the last one writes what the
 * seed writes. Other instructions may stand between.
 */
static bool find_macro(const struct zs_eu_lowering *l, struct macro *m)
{
    enum { INSTRUCTIONS_MAX = 64 };
    const struct zs_eu_program *p = l->program;
    uint32_t block = p->insts[l->index].block;
    struct zs_isa_inst inst;

    for (uint32_t i = l->index + 1; i < p->inst_count && i < l->index + INSTRUCTIONS_MAX; i++) {
        zs_eu_decode(l, p->insts[i].offset_B, &inst);
        if (p->insts[i].block != block || (inst.flags & ZS_INST_ILLEGAL) ||
            (inst.op == ZS_OP_MATH && inst.dst.kind == ZS_OPERAND_MACRO))
            return false;
        if (inst.op == ZS_OP_MADM) {
            if (!is_step(m, &inst))
                return false;
            m->last = i;
            if (inst.dst.mme == ZS_MME_NONE)
                return inst.dst.file == m->seed->dst.file && inst.dst.reg == m->seed->dst.reg;
        } else if (zs_eu_inst_ends_block(&inst)) {
            if (m->last || !is_way_out(l, &inst, m->seed) || !goes_over_one_block(l, &inst, i))
                return false;
            m->branch = i;
            block++;
        }
    }
    return false;
}

/* Its branch finds the flag clear for all lanes of the seed, and others have nothing to do behind
 * it: where any stays, all may. */
static bool stays_together(const struct zs_eu_lowering *l, const struct macro *m)
{
    const struct zs_eu_program *p = l->program;
    bool stays = !(m->seed->flags & ZS_INST_NOMASK);
    struct zs_isa_inst inst;

    for (uint32_t i = l->index + 1; i < p->inst_count && stays; i++) {
        if (p->insts[i].block > p->insts[m->last].block)
            break;
        zs_eu_decode(l, p->insts[i].offset_B, &inst);
        if (i != m->branch)
            stays = i < m->branch ? !may_write_flag_of(&inst, m->seed) : !does_more(&inst, m->seed);
    }
    return stays;
}

/* ... whose steps then have nothing to do; false: it is not as the compiler emits it. */
static bool take_macro(struct zs_eu_lowering *l)
{
    struct zs_eu_program *p = l->program;
    struct zs_isa_inst inst, seed = *l->inst;
    struct macro m = {.seed = &seed};

    if (seed.pred || seed.exec_size > 16 || seed.dst.mme >= ZS_MME_NONE || !find_macro(l, &m))
        return false;
    for (uint32_t i = l->index + 1; i <= m.last; i++) {
        zs_eu_decode(l, p->insts[i].offset_B, &inst);
        if (inst.op == ZS_OP_MADM)
            p->insts[i].seed = l->index + 1;
    }
    if (m.branch && stays_together(l, &m))
        p->insts[m.branch].seed = l->index + 1;
    return true;
}

/*
 * Whether the macro behind a math.invm or math.rsqtm is left by lanes whose flag is set: a branch
 * on the flag, or madms under its inverse.
 */
static bool macro_is_left_early(const struct zs_eu_lowering *l)
{
    const struct zs_isa_inst *seed = l->inst;
    const struct zs_eu_program *p = l->program;
    struct zs_isa_inst next;

    for (uint32_t i = l->index + 1; i < p->inst_count && i < l->index + 32; i++) {
        zs_eu_decode(l, p->insts[i].offset_B, &next);
        bool same_flag = next.pred == ZS_PRED_SEQ && next.flag_reg == seed->flag_reg &&
                         next.flag_subreg == seed->flag_subreg;
        if (next.op == ZS_OP_MADM)
            return same_flag && (next.flags & ZS_INST_PRED_INVERSE);
        if (same_flag && (zs_isa_op_flags((enum zs_isa_op)next.op) & ZS_OPF_BRANCH))
            return true;
    }
    return true;
}

static void lower_macro_seed(struct zs_eu_lowering *l)
{
    const struct zs_isa_inst *inst = l->inst;

    if (!macro_operands_are_known(l))
        return;
    struct zs_eu_op *op = emit_macro(l, ZS_EU_KIND_MACRO_SEED);
    uint32_t result = op->dst, bits = zs_eu_temp(l);
    op->aux = inst->dst.mme | (inst->subfunction == ZS_MATH_RSQTM ? 16u : 0);
    op->flag = (uint16_t)bits; /* the flag itself may be the predicate of the store */
    zs_eu_store(l, (struct zs_eu_loc){result, l->n == 1}, inst->dst.type);
    zs_eu_copy_flag(l, bits);
}

/*
 * The final result at once. Lanes then go through the macro, as nearly all do on hardware, and its
 * steps do nothing; where it is not found, the flag makes every lane leave it.
 */
static void lower_math_macro(struct zs_eu_lowering *l)
{
    const struct zs_isa_inst *inst = l->inst;
    bool divide = inst->subfunction == ZS_MATH_INVM, taken = take_macro(l);
    bool early = taken || macro_is_left_early(l);
    unsigned type = float_type(l);
    bool is_double = type == ZS_TYPE_DF;
    struct zs_eu_loc src[2];
    struct zs_isa_inst *plain = rewrite(l);

    plain->cond = 0; /* early out: not a comparison */
    plain->flags &= ~(uint32_t)ZS_INST_ACCWREN;
    if ((src_type(l, 0) != ZS_TYPE_F && src_type(l, 0) != ZS_TYPE_DF) || !is_in_form_of_macros(l)) {
        unmodelled(l, "this form");
        return;
    }
    if (!early) {
        lower_macro_seed(l);
        return;
    }
    load_all(l, type, ZS_EU_MOD_ARITH, src);
    zs_eu_compute(l,
                  divide ? (is_double ? ZS_EU_ROW_DIV_F64 : ZS_EU_ROW_FDIV_F32)
                         : (is_double ? ZS_EU_ROW_SQT_F64 : ZS_EU_ROW_SQT_F32),
                  type, src, plain->source_count);
    if (l->failed)
        return;
    zs_eu_copy_flag(l, zs_eu_number(l, taken ? 0 : UINT32_MAX).at);
}

void zs_eu_lower_math(struct zs_eu_lowering *l)
{
    static const enum zs_eu_row rows[16] = {
        [ZS_MATH_INV] = ZS_EU_ROW_INV_F32,   [ZS_MATH_LOG] = ZS_EU_ROW_LOG_F32,
        [ZS_MATH_EXP] = ZS_EU_ROW_EXP_F32,   [ZS_MATH_SQT] = ZS_EU_ROW_SQT_F32,
        [ZS_MATH_RSQT] = ZS_EU_ROW_RSQT_F32, [ZS_MATH_SIN] = ZS_EU_ROW_SIN_F32,
        [ZS_MATH_COS] = ZS_EU_ROW_COS_F32,   [ZS_MATH_FDIV] = ZS_EU_ROW_FDIV_F32,
        [ZS_MATH_POW] = ZS_EU_ROW_POW_F32,
    };
    const struct zs_isa_inst *inst = l->inst;
    enum zs_eu_row row = rows[inst->subfunction];
    struct zs_eu_loc src[2];

    if (l->model->platform >= ZS_ISA_XE3P && inst->subfunction == ZS_MATH_TANH)
        row = ZS_EU_ROW_TANH_F32;
    else if (l->model->platform >= ZS_ISA_XE3P && inst->subfunction == ZS_MATH_SIGM)
        row = ZS_EU_ROW_SIGM_F32;
    if ((inst->dst.kind == ZS_OPERAND_MACRO)) {
        lower_math_macro(l);
    } else if (!row) {
        lower_math_integer(l);
    } else {
        if (!any_float_src(l) || any_src(l, ZS_TYPE_DF)) {
            unmodelled(l, "this type");
            return;
        }
        load_all(l, ZS_TYPE_F, ZS_EU_MOD_ARITH, src);
        zs_eu_compute(l, row, ZS_TYPE_F, src, l->inst->source_count);
    }
}
