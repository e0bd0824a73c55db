/* SPDX-License-Identifier: MIT */
#include "isa/gen9_decode.h"
#include "base/reader.h"
#include "isa/gen9_priv.h"

#include <string.h>

struct op_row {
    const char *mnemonic;
    uint8_t format;
};

static const struct op_row op_table[128] = {
#define ZS_GEN9_OP(encoding, id, name, fmt) [encoding] = {name, ZS_GEN9_FORMAT_##fmt},
#include "isa/gen9_op.def"
#undef ZS_GEN9_OP
};

static const uint8_t register_types[16] = {
    ZS_GEN9_UD, ZS_GEN9_D, ZS_GEN9_UW, ZS_GEN9_W, ZS_GEN9_UB, ZS_GEN9_B,
    ZS_GEN9_DF, ZS_GEN9_F, ZS_GEN9_UQ, ZS_GEN9_Q, ZS_GEN9_HF, [11 ... 15] = ZS_GEN9_TYPE_INVALID,
};

static const uint8_t immediate_types[16] = {
    ZS_GEN9_UD,
    ZS_GEN9_D,
    ZS_GEN9_UW,
    ZS_GEN9_W,
    ZS_GEN9_UV,
    ZS_GEN9_VF,
    ZS_GEN9_V,
    ZS_GEN9_F,
    ZS_GEN9_UQ,
    ZS_GEN9_Q,
    ZS_GEN9_DF,
    ZS_GEN9_HF,
    [12 ... 15] = ZS_GEN9_TYPE_INVALID,
};

static const uint8_t ternary_types[8] = {
    ZS_GEN9_F, ZS_GEN9_D, ZS_GEN9_UD, ZS_GEN9_DF, ZS_GEN9_HF, [5 ... 7] = ZS_GEN9_TYPE_INVALID,
};

static const struct {
    const char *name;
    uint8_t size_B;
} type_table[] = {
    [ZS_GEN9_UD] = {"ud", 4}, [ZS_GEN9_D] = {"d", 4},   [ZS_GEN9_UW] = {"uw", 2},
    [ZS_GEN9_W] = {"w", 2},   [ZS_GEN9_UB] = {"ub", 1}, [ZS_GEN9_B] = {"b", 1},
    [ZS_GEN9_DF] = {"df", 8}, [ZS_GEN9_F] = {"f", 4},   [ZS_GEN9_UQ] = {"uq", 8},
    [ZS_GEN9_Q] = {"q", 8},   [ZS_GEN9_HF] = {"hf", 2}, [ZS_GEN9_UV] = {"uv", 0},
    [ZS_GEN9_V] = {"v", 0},   [ZS_GEN9_VF] = {"vf", 0}, [ZS_GEN9_TYPE_INVALID] = {"?", 0},
};

static const char *const math_names[16] = {
    [ZS_GEN9_MATH_INV] = "inv",   [ZS_GEN9_MATH_LOG] = "log",     [ZS_GEN9_MATH_EXP] = "exp",
    [ZS_GEN9_MATH_SQT] = "sqt",   [ZS_GEN9_MATH_RSQT] = "rsqt",   [ZS_GEN9_MATH_SIN] = "sin",
    [ZS_GEN9_MATH_COS] = "cos",   [ZS_GEN9_MATH_FDIV] = "fdiv",   [ZS_GEN9_MATH_POW] = "pow",
    [ZS_GEN9_MATH_IDIV] = "idiv", [ZS_GEN9_MATH_IQOT] = "iqot",   [ZS_GEN9_MATH_IREM] = "irem",
    [ZS_GEN9_MATH_INVM] = "invm", [ZS_GEN9_MATH_RSQTM] = "rsqtm",
};

static const uint8_t math_sources[16] = {
    0, 1, 1, 1, 1, 1, 1, 1, 0, 2, 2, 2, 2, 2, 2, 1,
};

unsigned zs_gen9_type_size_B(enum zs_gen9_type type)
{
    return type < ZS_ARRAY_LEN(type_table) ? type_table[type].size_B : 0;
}

const char *zs_gen9_type_name(enum zs_gen9_type type)
{
    return type < ZS_ARRAY_LEN(type_table) ? type_table[type].name : "?";
}

const char *zs_gen9_math_name(unsigned function)
{
    return function < ZS_ARRAY_LEN(math_names) ? math_names[function] : NULL;
}

static uint32_t get(const struct zs_gen9_inst *inst, unsigned hi, unsigned lo)
{
    return (uint32_t)zs_gen9_get(inst->full, hi, lo);
}

static bool bit(const struct zs_gen9_inst *inst, unsigned at)
{
    return zs_gen9_get(inst->full, at, at) != 0;
}

static void fail(struct zs_gen9_inst *inst, const char *why)
{
    if (!inst->error)
        inst->error = why;
}

static void check_type(struct zs_gen9_inst *inst, const struct zs_gen9_operand *op)
{
    if (op->type == ZS_GEN9_TYPE_INVALID)
        fail(inst, "reserved operand type");
    if (op->file == ZS_GEN9_FILE_RESERVED)
        fail(inst, "reserved register file");
}

static uint8_t stride(uint32_t code) /* 0, 1, 2, 4 */
{
    return (uint8_t)((1u << code) >> 1);
}

static int16_t signed10(uint32_t high, uint32_t low9)
{
    return (int16_t)((int32_t)low9 - (high ? 512 : 0));
}

static void decode_dst(struct zs_gen9_inst *inst)
{
    struct zs_gen9_operand *dst = &inst->dst;

    dst->file = (uint8_t)get(inst, 36, 35);
    dst->type = register_types[get(inst, 40, 37)];
    dst->hstride = stride(get(inst, 62, 61));
    dst->mme = ZS_GEN9_MME_NONE;
    dst->indirect = bit(inst, 63);
    if (dst->indirect) {
        dst->a0_subreg = (uint8_t)get(inst, 60, 57);
        dst->indirect_B = signed10(get(inst, 47, 47), get(inst, 56, 48));
    } else {
        dst->reg = (uint8_t)get(inst, 60, 53);
        dst->subreg_B = (uint8_t)get(inst, 52, 48);
    }
    if (inst->align16) {
        dst->mme = (uint8_t)get(inst, 51, 48);
        dst->subreg_B = (uint8_t)(get(inst, 52, 52) * 16);
        dst->hstride = 1;
    }
    if (dst->file == ZS_GEN9_FILE_IMM)
        fail(inst, "immediate destination");
    check_type(inst, dst);
}

static void decode_immediate(struct zs_gen9_inst *inst, struct zs_gen9_operand *op)
{
    op->imm = op->type == ZS_GEN9_UQ || op->type == ZS_GEN9_Q || op->type == ZS_GEN9_DF
                  ? inst->full[1]
                  : get(inst, 127, 96);
    if (zs_gen9_type_size_B(op->type) == 2)
        op->imm &= 0xffff;
}

/* Sources of one- and two-source instructions share a layout; src1's lies 32 bits higher. */
static void decode_src(struct zs_gen9_inst *inst, unsigned index)
{
    struct zs_gen9_operand *op = &inst->src[index];
    unsigned at = index * 32;
    uint32_t type_code;

    op->mme = ZS_GEN9_MME_NONE;
    if (index == 0) {
        op->file = (uint8_t)get(inst, 42, 41);
        type_code = get(inst, 46, 43);
    } else {
        op->file = (uint8_t)get(inst, 90, 89);
        type_code = get(inst, 94, 91);
    }
    op->type =
        op->file == ZS_GEN9_FILE_IMM ? immediate_types[type_code] : register_types[type_code];
    check_type(inst, op);
    if (op->file == ZS_GEN9_FILE_IMM) {
        decode_immediate(inst, op);
        return;
    }
    op->abs = bit(inst, 77 + at);
    op->neg = bit(inst, 78 + at);
    op->indirect = bit(inst, 79 + at);
    op->hstride = stride(get(inst, 81 + at, 80 + at));
    uint32_t width = get(inst, 84 + at, 82 + at);
    op->width = (uint8_t)(1u << width);
    uint32_t vstride = get(inst, 88 + at, 85 + at);
    op->vstride = vstride == 15 ? ZS_GEN9_VSTRIDE_VXH : (uint8_t)((1u << vstride) >> 1);
    if (op->indirect) {
        op->a0_subreg = (uint8_t)get(inst, 76 + at, 73 + at);
        op->indirect_B = index == 0 ? signed10(get(inst, 95, 95), get(inst, 72, 64))
                                    : signed10(get(inst, 121, 121), get(inst, 104, 96));
    } else {
        op->reg = (uint8_t)get(inst, 76 + at, 69 + at);
        op->subreg_B = (uint8_t)get(inst, 68 + at, 64 + at);
    }
    if (inst->align16) {
        op->mme = (uint8_t)get(inst, 67 + at, 64 + at);
        op->subreg_B = (uint8_t)(get(inst, 68 + at, 68 + at) * 16);
        op->hstride = 1;
    } else if (width > 4 || (vstride > 6 && vstride != 15)) {
        fail(inst, "reserved region");
    } else if (op->vstride == ZS_GEN9_VSTRIDE_VXH && !op->indirect) {
        fail(inst, "per-row addressing of a direct operand");
    }
}

/*
 * single: the one component that is written, or -1. Such an instruction is a scalar one in
 * disguise: exec size 4 (2 for df), one bit (pair) of the write mask, sources by swizzle.
 */
static void decode_ternary_src(struct zs_gen9_inst *inst, unsigned index, int single)
{
    struct zs_gen9_operand *op = &inst->src[index];
    unsigned at = index * 21;
    static const uint8_t half_bit[3] = {84, 105, 126};
    unsigned swizzle = get(inst, 72 + at, 65 + at);
    unsigned size_B = zs_gen9_type_size_B(inst->src[index].type);

    op->file = ZS_GEN9_FILE_GRF;
    op->mme = ZS_GEN9_MME_NONE;
    op->reg = (uint8_t)get(inst, 83 + at, 76 + at);
    op->subreg_B = (uint8_t)(get(inst, 75 + at, 73 + at) * 4 +
                             get(inst, half_bit[index], half_bit[index]) * 2);
    op->abs = bit(inst, 37 + 2 * index);
    op->neg = bit(inst, 38 + 2 * index);
    op->width = 1;
    if (bit(inst, 64 + at)) { /* broadcast */
        op->vstride = op->hstride = 0;
        return;
    }
    if (single >= 0) {
        op->vstride = op->hstride = 0;
        op->subreg_B = (uint8_t)(op->subreg_B + (swizzle >> 2 * single & 3) * 4);
        return;
    }
    op->vstride = op->hstride = 1;
    if (inst->macro) {
        op->mme = (uint8_t)(swizzle & 15);
        op->subreg_B = 0;
    } else if (swizzle != 0xe4) {
        fail(inst, "swizzled three-source operand");
    } else if (op->subreg_B && size_B < 4 && (op->subreg_B & 2)) {
        fail(inst, "misaligned three-source operand");
    }
}

/* Component that a partial write mask names, or -1 when it is whole. */
static int decode_write_mask(struct zs_gen9_inst *inst)
{
    unsigned mask = get(inst, 52, 49), size_B = zs_gen9_type_size_B(inst->dst.type);
    unsigned first = mask ? (unsigned)__builtin_ctz(mask) : 0;

    if (mask == 15)
        return -1;
    if (mask != (size_B == 8 ? 3u : 1u) << first || inst->exec_size != (size_B == 8 ? 2 : 4) ||
        !inst->no_mask || inst->pred || size_B < 4) {
        fail(inst, "partial three-source write mask");
        return -1;
    }
    inst->exec_size = 1;
    inst->dst.subreg_B = (uint8_t)(inst->dst.subreg_B + first * 4);
    return (int)first;
}

static void decode_ternary(struct zs_gen9_inst *inst)
{
    struct zs_gen9_operand *dst = &inst->dst;
    int single = -1;

    inst->src_count = 3;
    dst->file = ZS_GEN9_FILE_GRF;
    dst->type = ternary_types[get(inst, 48, 46)];
    dst->reg = (uint8_t)get(inst, 63, 56);
    dst->subreg_B = (uint8_t)(get(inst, 55, 53) * 4);
    dst->hstride = 1;
    dst->mme = ZS_GEN9_MME_NONE;
    if (inst->macro) {
        dst->mme = (uint8_t)get(inst, 52, 49);
        dst->subreg_B = 0;
    } else {
        single = decode_write_mask(inst);
    }
    for (unsigned i = 0; i < 3; i++)
        inst->src[i].type = ternary_types[get(inst, 45, 43)];
    if (inst->src[0].type == ZS_GEN9_F || inst->src[0].type == ZS_GEN9_HF) {
        /* the type field is src0's; these are half or single whatever that is */
        inst->src[1].type = bit(inst, 36) ? ZS_GEN9_HF : ZS_GEN9_F;
        inst->src[2].type = bit(inst, 35) ? ZS_GEN9_HF : ZS_GEN9_F;
    }
    for (unsigned i = 0; i < 3; i++) {
        decode_ternary_src(inst, i, single);
        check_type(inst, &inst->src[i]);
    }
    check_type(inst, dst);
    if (!inst->align16)
        fail(inst, "three-source instruction without Align16");
}

static void decode_desc(struct zs_gen9_inst *inst)
{
    if (!inst->desc_is_reg) {
        inst->desc = get(inst, 126, 96);
        inst->mlen = (uint8_t)(inst->desc >> 25 & 15);
        inst->rlen = (uint8_t)(inst->desc >> 20 & 31);
    }
    inst->eot = bit(inst, 127);
    inst->ex_desc |= inst->function | (inst->eot ? 1u << 5 : 0);
    inst->cond = 0;
    inst->dst.reg = (uint8_t)get(inst, 60, 53);
    inst->dst.type = register_types[get(inst, 40, 37)];
    inst->src[0].reg = (uint8_t)get(inst, 76, 69);
    inst->src[0].file = ZS_GEN9_FILE_GRF;
    inst->function = (uint8_t)get(inst, 27, 24);
}

static void decode_send(struct zs_gen9_inst *inst)
{
    inst->function = (uint8_t)get(inst, 27, 24);
    inst->src_count = 1;
    inst->dst.file = (uint8_t)get(inst, 36, 35);
    inst->desc_is_reg = get(inst, 90, 89) != ZS_GEN9_FILE_IMM;
    inst->ex_desc = get(inst, 67, 64) << 16 | get(inst, 83, 80) << 20 | get(inst, 88, 85) << 24 |
                    get(inst, 94, 91) << 28;
    decode_desc(inst);
    if (get(inst, 42, 41) != ZS_GEN9_FILE_GRF)
        fail(inst, "send payload is no general register");
    if (bit(inst, 63) || bit(inst, 79))
        fail(inst, "send with an indirect register");
    if (inst->desc_is_reg && (get(inst, 90, 89) != ZS_GEN9_FILE_ARF ||
                              get(inst, 108, 101) != ZS_GEN9_ARF_A || get(inst, 100, 96) != 0))
        fail(inst, "send descriptor is neither immediate nor a0.0");
}

static void decode_sends(struct zs_gen9_inst *inst)
{
    inst->function = (uint8_t)get(inst, 27, 24);
    inst->src_count = 2;
    inst->dst.file = (uint8_t)get(inst, 35, 35);
    inst->src[1].file = (uint8_t)get(inst, 36, 36);
    inst->src[1].reg = (uint8_t)get(inst, 51, 44);
    inst->desc_is_reg = bit(inst, 77);
    inst->ex_desc_is_reg = bit(inst, 61);
    if (inst->ex_desc_is_reg) {
        inst->ex_desc_a0 = (uint8_t)get(inst, 82, 80);
    } else {
        inst->ex_desc = get(inst, 67, 64) << 6 | get(inst, 95, 80) << 16;
        inst->xlen = (uint8_t)get(inst, 67, 64);
    }
    decode_desc(inst);
    if (bit(inst, 63) || bit(inst, 79))
        fail(inst, "sends with an indirect register");
}

static void decode_branch(struct zs_gen9_inst *inst)
{
    inst->jip_B = (int32_t)get(inst, 127, 96);
    inst->branch_control =
        bit(inst, 28) && (inst->opcode == ZS_GEN9_IF || inst->opcode == ZS_GEN9_ELSE ||
                          inst->opcode == ZS_GEN9_GOTO);
    inst->acc_write = false;
    inst->cond = 0;
    switch (inst->format) {
    case ZS_GEN9_FORMAT_BRANCH2:
        inst->uip_B = (int32_t)get(inst, 95, 64);
        break;
    case ZS_GEN9_FORMAT_JUMP:
    case ZS_GEN9_FORMAT_CALL:
        if (inst->format == ZS_GEN9_FORMAT_CALL)
            decode_dst(inst);
        decode_src(inst, 1);
        inst->src_count = 2;
        break;
    default:
        break;
    }
}

static void decode_regular(struct zs_gen9_inst *inst)
{
    if (inst->opcode == ZS_GEN9_MATH) {
        inst->function = (uint8_t)get(inst, 27, 24);
        inst->macro = inst->function >= ZS_GEN9_MATH_INVM;
        inst->cond = 0;
        if (!zs_gen9_math_name(inst->function))
            fail(inst, "reserved math function");
    }
    inst->src_count = inst->format == ZS_GEN9_FORMAT_BINARY ? 2 : 1;
    if (inst->opcode == ZS_GEN9_MATH)
        inst->src_count = math_sources[inst->function];
    decode_dst(inst);
    decode_src(inst, 0);
    if (inst->src_count == 2)
        decode_src(inst, 1);
    if (inst->src_count == 2 && inst->src[0].file == ZS_GEN9_FILE_IMM)
        fail(inst, "immediate first source of two");
    if (inst->align16 && !inst->macro)
        fail(inst, "Align16 region");
}

static void decode_common(struct zs_gen9_inst *inst)
{
    inst->align16 = bit(inst, 8);
    inst->chan_offset = (uint8_t)(get(inst, 13, 12) * 8 + get(inst, 11, 11) * 4);
    inst->pred = (uint8_t)get(inst, 19, 16);
    inst->pred_inverse = bit(inst, 20);
    inst->exec_size = (uint8_t)(1u << ZS_MIN(get(inst, 23, 21), 5u));
    inst->cond = (uint8_t)get(inst, 27, 24);
    inst->acc_write = bit(inst, 28);
    inst->breakpoint = bit(inst, 30);
    inst->saturate = bit(inst, 31);
    inst->flag_subreg = (uint8_t)get(inst, 32, 32);
    inst->flag_reg = (uint8_t)get(inst, 33, 33);
    inst->no_mask = bit(inst, 34);
    inst->macro = inst->opcode == ZS_GEN9_MADM;
    if (get(inst, 23, 21) > 5)
        fail(inst, "reserved execution size");
    if (inst->pred > ZS_GEN9_PRED_ALL32H)
        fail(inst, "reserved predicate control");
}

static void decode_format(struct zs_gen9_inst *inst)
{
    switch ((enum zs_gen9_format)inst->format) {
    case ZS_GEN9_FORMAT_UNARY:
    case ZS_GEN9_FORMAT_BINARY:
        decode_regular(inst);
        break;
    case ZS_GEN9_FORMAT_TERNARY:
        decode_ternary(inst);
        break;
    case ZS_GEN9_FORMAT_JUMP:
    case ZS_GEN9_FORMAT_BRANCH:
    case ZS_GEN9_FORMAT_BRANCH2:
    case ZS_GEN9_FORMAT_CALL:
        decode_branch(inst);
        break;
    case ZS_GEN9_FORMAT_SEND:
        decode_send(inst);
        break;
    case ZS_GEN9_FORMAT_SENDS:
        decode_sends(inst);
        break;
    case ZS_GEN9_FORMAT_ILLEGAL:
    case ZS_GEN9_FORMAT_NOP:
        break;
    }
    if (inst->align16 && inst->pred > ZS_GEN9_PRED_SEQ) /* component predicates */
        fail(inst, "Align16 predicate control");
    if (inst->opcode == ZS_GEN9_CSEL && inst->pred)
        fail(inst, "predicated csel");
    if (inst->cond > ZS_GEN9_COND_UN || inst->cond == 7)
        fail(inst, "reserved conditional modifier");
}

bool zs_gen9_decode(struct zs_span code, uint32_t offset_B, struct zs_gen9_inst *ret)
{
    struct zs_span bytes;

    memset(ret, 0, sizeof(*ret));
    ret->offset_B = offset_B;
    if (!zs_span_sub(code, offset_B, 8, &bytes)) {
        ret->error = "no instruction left";
        return false;
    }
    ret->raw[0] = zs_load_u64(bytes.data);
    ret->compacted = ret->raw[0] >> 29 & 1;
    ret->size_B = ret->compacted ? 8 : 16;
    if (!zs_span_sub(code, offset_B, ret->size_B, &bytes)) {
        ret->error = "truncated instruction";
        return false;
    }
    if (!ret->compacted)
        ret->raw[1] = zs_load_u64(bytes.data + 8);

    const struct op_row *row = &op_table[ret->raw[0] & 0x7f];
    ret->opcode = ret->raw[0] & 0x7f;
    ret->mnemonic = row->mnemonic ? row->mnemonic : "illegal";
    ret->format = row->format;
    if (ret->compacted) {
        zs_gen9_uncompact(ret->raw[0], row->format == ZS_GEN9_FORMAT_TERNARY, ret->full);
    } else {
        ret->full[0] = ret->raw[0];
        ret->full[1] = ret->raw[1];
    }
    if (!row->mnemonic)
        ret->error = "no such opcode";
    decode_common(ret);
    decode_format(ret);
    return true;
}
