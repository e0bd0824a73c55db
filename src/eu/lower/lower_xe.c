/* SPDX-License-Identifier: MIT */
/*
 * Operations that came with Xe: sums of three, any function of three bits, dot products of bytes;
 * with XeHPC: stochastic rounding; with Xe3P: numbers of four bits. Sources of these: SRND.md of
 * intel-graphics-compiler and SPV_INTEL_fp_conversions; "4bit_downconvert" and
 * "packed_4bit_upconvert_lut" of vc-intrinsics, emitShflIdx4() and emitMaxReduce() of IGC's
 * EmitVISAPass.cpp; of rounding, intel/llvm's mini_float_conversions_env.
 */
#include "eu/lower/lower_inst.h"

void zs_eu_lower_add3(struct zs_eu_lowering *l)
{
    unsigned type = modular_type(l);
    struct zs_eu_loc src[3], sum[2];

    if (any_float_src(l) || dst_is_float(l) || widest_B(l, true) > 4) {
        unmodelled(l, "this type");
        return;
    }
    load_all(l, type, ZS_EU_MOD_ARITH, src);
    if (zs_eu_type_B(type) == 4) {
        zs_eu_compute(l, ZS_EU_ROW_ADD3_32, type, src, 3);
        return;
    }
    sum[0] = zs_eu_apply(l, BY_WIDTH(type, ADD), src, 2);
    sum[1] = src[2];
    zs_eu_compute(l, BY_WIDTH(type, ADD), type, sum, 2);
}

/* Bit s0 + 2 * s1 + 4 * s2 of the function is the result's. */
void zs_eu_lower_bfn(struct zs_eu_lowering *l)
{
    struct zs_eu_loc src[3];

    if (any_float_src(l) || dst_is_float(l) || widest_B(l, true) == 8) {
        unmodelled(l, "this type");
        return;
    }
    load_all(l, ZS_TYPE_UD, ZS_EU_MOD_LOGIC, src);
    uint32_t at = zs_eu_temp(l);
    zs_eu_emit_row(l, ZS_EU_ROW_BFN_32, at, src, 3, false)->aux = l->inst->subfunction;
    zs_eu_store(l, (struct zs_eu_loc){at, l->n == 1}, ZS_TYPE_UD);
}

/* src0 plus the products of the four bytes of src1 and src2. */
void zs_eu_lower_dp4a(struct zs_eu_lowering *l)
{
    bool s1 = zs_eu_type_is_signed(src_type(l, 1)), s2 = zs_eu_type_is_signed(src_type(l, 2));
    enum zs_eu_row row =
        s1 == s2 ? (s1 ? ZS_EU_ROW_DOT4_S8 : ZS_EU_ROW_DOT4_U8) : ZS_EU_ROW_DOT4_S8_U8;
    unsigned type = modular_type(l);
    struct zs_eu_loc bytes[2], sum[2];

    for (unsigned i = 0; i < 3; i++) {
        unsigned own = l->inst->src[i].type;
        bool modified = l->inst->src[i].modifiers && l->inst->src[i].kind != ZS_OPERAND_IMM;
        bool narrow = i == 0 && (own == ZS_TYPE_W || own == ZS_TYPE_UW); /* numbers are: "0:w" */
        if ((own != ZS_TYPE_D && own != ZS_TYPE_UD && !narrow) || (i > 0 && modified) ||
            dst_is_float(l)) {
            unmodelled(l, "this type");
            return;
        }
    }
    bytes[s1 || !s2 ? 0 : 1] = zs_eu_load(l, 1, ZS_TYPE_UD, ZS_EU_MOD_ARITH);
    bytes[s1 || !s2 ? 1 : 0] = zs_eu_load(l, 2, ZS_TYPE_UD, ZS_EU_MOD_ARITH);
    sum[0] = zs_eu_load(l, 0, type, ZS_EU_MOD_ARITH);
    sum[1] = zs_eu_convert(l, zs_eu_apply(l, row, bytes, 2), ZS_TYPE_D, type, false);
    zs_eu_compute(l, BY_WIDTH(type, ADD), type, sum, 2);
}

/* One operation on dwords into a temporary, and that into the destination. */
static void emit_small(struct zs_eu_lowering *l, unsigned kind, uint32_t aux)
{
    struct zs_eu_loc src[2];
    for (unsigned i = 0; i < 2; i++) /* dnscl has a third one, which is not read */
        src[i] = zs_eu_load(l, i, ZS_TYPE_UD, ZS_EU_MOD_ARITH);
    struct zs_eu_op *op = emit_of_two(l, kind, src);
    op->aux = aux;
    zs_eu_store(l, (struct zs_eu_loc){op->dst, l->n == 1}, ZS_TYPE_UD);
}

/* Four halves or bf of two dwords become four numbers of four bits. */
void zs_eu_lower_dnscl(struct zs_eu_lowering *l)
{
    const struct zs_isa_inst *inst = l->inst;

    if (!(inst->subfunction & ZS_DNSCL_RNE) || inst->subfunction & ZS_DNSCL_F)
        unmodelled(l,
                   inst->subfunction & ZS_DNSCL_F ? "a source of floats" : "stochastic rounding");
    else if (inst->dst.type != ZS_TYPE_UD || src_type(l, 0) != ZS_TYPE_UD ||
             src_type(l, 1) != ZS_TYPE_UD || inst->dst.modifiers & ZS_MOD_SAT)
        unmodelled(l, "this form");
    else
        emit_small(l, ZS_EU_KIND_DOWNSCALE, inst->subfunction);
}

/* Numbers of four bits become what a table of 16 dwords has for them. */
void zs_eu_lower_shfl(struct zs_eu_lowering *l)
{
    const struct zs_isa_operand *table = &l->inst->src[0];
    unsigned indices = src_type(l, 1);

    if (l->inst->dst.type != ZS_TYPE_UD || src_type(l, 0) != ZS_TYPE_UD || l->n < 16 ||
        table->kind == ZS_OPERAND_IMM || (!table->vstride && table->width < 16) ||
        (indices != ZS_TYPE_UB && indices != ZS_TYPE_UW))
        unmodelled(l, "this form");
    else
        emit_small(l, ZS_EU_KIND_LOOK_UP, indices == ZS_TYPE_UB ? 16 : 8);
}

/* Bits, whatever the types say. */
void zs_eu_lower_srnd(struct zs_eu_lowering *l)
{
    bool of_float = src_type(l, 0) == ZS_TYPE_F && l->inst->dst.type == ZS_TYPE_HF;
    bool of_half = src_type(l, 0) == ZS_TYPE_HF && l->inst->dst.type == ZS_TYPE_BF8;
    unsigned number = src_type(l, 1);
    bool fits = of_float ? number == ZS_TYPE_F || number == ZS_TYPE_UW
                         : number == ZS_TYPE_HF || number == ZS_TYPE_UB;

    if ((!of_float && !of_half) || !fits || l->inst->dst.modifiers || l->inst->src[0].modifiers ||
        l->inst->src[1].modifiers || l->inst->cond) {
        unmodelled(l, "this form");
        return;
    }
    struct zs_isa_inst *plain = rewrite(l);
    plain->dst.type = of_float ? ZS_TYPE_UW : ZS_TYPE_UB;
    plain->src[0].type = of_float ? ZS_TYPE_UD : ZS_TYPE_UW;
    plain->src[1].type = number == ZS_TYPE_F    ? ZS_TYPE_UD
                         : number == ZS_TYPE_HF ? ZS_TYPE_UW
                                                : (uint8_t)number;
    emit_small(l, ZS_EU_KIND_ROUND_RANDOMLY, of_half);
}
