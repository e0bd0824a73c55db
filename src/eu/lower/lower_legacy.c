/* SPDX-License-Identifier: MIT */
/*
 * Operations that left with Gen11: dot products over groups of four channels, lines and planes,
 * sums of absolute differences, indexed moves. No compiler of kernels emits them for Gen9.
 *
 * Sources: the PRM of Skylake, volume 2a; ksim, eu.c (line, pln); Intel's CM emulation,
 * libcm/cm_intrin.h (dp2, dp3, dp4, dph, sad2, sada2); Mesa, generate_linterp() (the layout of
 * pln's second source) and its replacement by native floats from Gen11 on, which keep more bits
 * between the two steps of a plane than a float has.
 */
#include "eu/lower/lower_inst.h"

static bool are_floats(struct zs_eu_lowering *l)
{
    for (unsigned i = 0; i < 2; i++)
        if (src_type(l, i) != ZS_TYPE_F)
            return unmodelled(l, "a type other than f");
    return true;
}

void zs_eu_lower_dp(struct zs_eu_lowering *l)
{
    enum zs_isa_op op = (enum zs_isa_op)l->inst->op;
    struct zs_eu_loc src[2];

    if (!are_floats(l))
        return;
    if (l->n % 4) {
        unmodelled(l, "an execution size below four");
        return;
    }
    load_all(l, ZS_TYPE_F, ZS_EU_MOD_ARITH, src);
    if (l->failed)
        return;
    struct zs_eu_op *dot = emit_of_two(l, ZS_EU_KIND_DOT, src);
    dot->aux = op == ZS_OP_DP2 ? 2 : op == ZS_OP_DP3 ? 3 : 4;
    dot->arg |= op == ZS_OP_DPH ? 4 : 0;
    zs_eu_store(l, (struct zs_eu_loc){dot->dst, false}, ZS_TYPE_F);
}

/* The first source of line and pln: four floats that lie together. */
static bool is_quad(struct zs_eu_lowering *l)
{
    const struct zs_isa_operand *op = &l->inst->src[0];
    bool lies_together = op->kind == ZS_OPERAND_REG && op->file == ZS_FILE_GRF &&
                         op->subreg_B % 16 == 0 && op->vstride == 0 && op->hstride == 0;

    return lies_together || unmodelled(l, "a first source that is no group of four floats");
}

/* src0.0 * src1 + src0.3 */
void zs_eu_lower_line(struct zs_eu_lowering *l)
{
    struct zs_isa_inst *mad = rewrite(l);

    if (!are_floats(l) || !is_quad(l))
        return;
    mad->src[2] = mad->src[1];
    mad->src[1] = mad->src[0];
    mad->src[0].subreg_B += 12;
    mad->src[0].subreg += 3;
    mad->source_count = 3;
    zs_eu_lower_mad(l);
}

/* src0.0 * u + src0.1 * v + src0.3: for every eight channels a register of u, then one of v. */
void zs_eu_lower_pln(struct zs_eu_lowering *l)
{
    struct zs_isa_inst *plain = rewrite(l);
    const struct zs_isa_operand *quad = &plain->src[0];
    struct zs_isa_operand *u = &plain->src[1];
    struct zs_eu_loc at[2];

    if (!are_floats(l) || !is_quad(l))
        return;
    if ((l->n != 8 && l->n != 16) || u->kind != ZS_OPERAND_REG || u->file != ZS_FILE_GRF ||
        u->subreg_B || u->hstride != 1 || u->vstride != 8 || u->width != 8 || u->modifiers ||
        quad->modifiers) {
        unmodelled(l, "this form");
        return;
    }
    u->vstride = 16;
    at[0] = zs_eu_load(l, 1, ZS_TYPE_F, ZS_EU_MOD_ARITH);
    u->reg++;
    at[1] = zs_eu_load(l, 1, ZS_TYPE_F, ZS_EU_MOD_ARITH);
    if (l->failed)
        return;
    uint32_t quad_B = quad->reg * (uint32_t)l->program->regs.grf_B + quad->subreg_B;
    zs_eu_mark_read(l, quad_B, 16);
    uint32_t dst = zs_eu_temp(l);
    struct zs_eu_op *plane = zs_eu_emit(l, ZS_EU_KIND_PLANE);
    plane->dst = dst;
    plane->src[0] = ZS_EU_OFFSET(grf) + quad_B;
    plane->src[1] = at[0].at;
    plane->src[2] = at[1].at;
    zs_eu_store(l, (struct zs_eu_loc){dst, false}, ZS_TYPE_F);
}

/* The first channel of each pair has the sum of both; the second one is not defined and stays. */
void zs_eu_lower_sad(struct zs_eu_lowering *l)
{
    const struct zs_isa_inst *inst = l->inst;
    bool adds = inst->op == ZS_OP_SADA2, is_signed = inst->dst.type == ZS_TYPE_W;
    struct zs_eu_loc src[2];

    for (unsigned i = 0; i < 2; i++)
        if (inst->src[i].type != ZS_TYPE_B && inst->src[i].type != ZS_TYPE_UB) {
            unmodelled(l, "a source that is no byte");
            return;
        }
    if ((!is_signed && inst->dst.type != ZS_TYPE_UW) || l->n % 2 || l->n > 16) {
        unmodelled(l, "this form");
        return;
    }
    load_all(l, ZS_TYPE_D, ZS_EU_MOD_ARITH, src);
    if (l->failed)
        return;
    struct zs_eu_op *sad = emit_of_two(l, ZS_EU_KIND_SAD, src);
    uint32_t at = sad->dst;
    sad->aux = (adds ? 1u : 0) | (is_signed ? 2u : 0);
    if (adds)
        zs_eu_mark_acc_read(l, 0, l->n);
    l->lanes = 0x55555555;
    zs_eu_store(l, (struct zs_eu_loc){at, false}, ZS_TYPE_D);
}

/* Elements of one register, whose number the first address has; each channel's address says which.
 */
void zs_eu_lower_movi(struct zs_eu_lowering *l)
{
    const struct zs_isa_inst *inst = l->inst;
    const struct zs_isa_operand *src = &inst->src[0];
    bool alone = inst->source_count == 1 || inst->src[1].file == ZS_FILE_NULL;

    if (src->kind != ZS_OPERAND_INDIRECT || src->file != ZS_FILE_GRF || !alone ||
        src->type != inst->dst.type || !zs_eu_type_B(src->type) || src->modifiers || l->n > 8 ||
        src->subreg + l->n > l->program->regs.a0_count) {
        unmodelled(l, "this form");
        return;
    }
    /* whether one carries into the register's number is not documented */
    if (src->offset_B % l->program->regs.grf_B) {
        unmodelled(l, "an offset inside of the register");
        return;
    }
    zs_eu_mark_read(l, 0, zs_eu_file_B(l->program));
    uint32_t at = zs_eu_temp(l);
    struct zs_eu_op *movi = zs_eu_emit(l, ZS_EU_KIND_MOVI);
    movi->dst = at;
    movi->src[0] = (uint32_t)(int32_t)src->offset_B;
    movi->aux = src->subreg;
    movi->arg = (uint8_t)__builtin_ctz(zs_eu_type_B(src->type));
    zs_eu_store(l, (struct zs_eu_loc){at, l->n == 1}, src->type);
}
