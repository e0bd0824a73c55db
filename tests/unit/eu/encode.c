/* SPDX-License-Identifier: MIT */
#include "encode.h"

#include <string.h>

static void put(uint64_t words[2], unsigned hi, unsigned lo, uint64_t value)
{
    for (unsigned bit = lo; bit <= hi; bit++)
        if (value >> (bit - lo) & 1)
            words[bit / 64] |= UINT64_C(1) << bit % 64;
}

static unsigned log2u(unsigned x)
{
    return (unsigned)__builtin_ctz(x);
}

static unsigned stride_code(unsigned stride)
{
    return stride == 0 ? 0 : log2u(stride) + 1;
}

unsigned opcode_bits(unsigned op)
{
    static const uint8_t bits[ZS_OP_COUNT] = {
        [ZS_OP_MOV] = 0x01,   [ZS_OP_SEL] = 0x02,   [ZS_OP_NOT] = 0x04,   [ZS_OP_AND] = 0x05,
        [ZS_OP_OR] = 0x06,    [ZS_OP_XOR] = 0x07,   [ZS_OP_SHR] = 0x08,   [ZS_OP_SHL] = 0x09,
        [ZS_OP_SMOV] = 0x0a,  [ZS_OP_ASR] = 0x0c,   [ZS_OP_CMP] = 0x10,   [ZS_OP_CMPN] = 0x11,
        [ZS_OP_CSEL] = 0x12,  [ZS_OP_BFREV] = 0x17, [ZS_OP_BFE] = 0x18,   [ZS_OP_BFI1] = 0x19,
        [ZS_OP_BFI2] = 0x1a,  [ZS_OP_JMPI] = 0x20,  [ZS_OP_IF] = 0x22,    [ZS_OP_ELSE] = 0x24,
        [ZS_OP_ENDIF] = 0x25, [ZS_OP_WHILE] = 0x27, [ZS_OP_BREAK] = 0x28, [ZS_OP_CONT] = 0x29,
        [ZS_OP_CALL] = 0x2c,  [ZS_OP_RET] = 0x2d,   [ZS_OP_GOTO] = 0x2e,  [ZS_OP_JOIN] = 0x2f,
        [ZS_OP_WAIT] = 0x30,  [ZS_OP_SEND] = 0x31,  [ZS_OP_MATH] = 0x38,  [ZS_OP_ADD] = 0x40,
        [ZS_OP_MUL] = 0x41,   [ZS_OP_AVG] = 0x42,   [ZS_OP_FRC] = 0x43,   [ZS_OP_RNDU] = 0x44,
        [ZS_OP_RNDD] = 0x45,  [ZS_OP_RNDE] = 0x46,  [ZS_OP_RNDZ] = 0x47,  [ZS_OP_MACH] = 0x49,
        [ZS_OP_LZD] = 0x4a,   [ZS_OP_FBH] = 0x4b,   [ZS_OP_FBL] = 0x4c,   [ZS_OP_CBIT] = 0x4d,
        [ZS_OP_ADDC] = 0x4e,  [ZS_OP_SUBB] = 0x4f,  [ZS_OP_PLN] = 0x5a,   [ZS_OP_MAD] = 0x5b,
        [ZS_OP_LRP] = 0x5c,   [ZS_OP_MADM] = 0x5d,
    };
    return bits[op];
}

/* Codes of register operands and of immediates (-1: there is none), and sizes. */
static const struct {
    int8_t reg, imm;
    uint8_t size_B;
} type_rows[ZS_TYPE_COUNT] = {
    [ZS_TYPE_UD] = {0, 0, 4},  [ZS_TYPE_D] = {1, 1, 4},    [ZS_TYPE_UW] = {2, 2, 2},
    [ZS_TYPE_W] = {3, 3, 2},   [ZS_TYPE_UB] = {4, -1, 1},  [ZS_TYPE_B] = {5, -1, 1},
    [ZS_TYPE_DF] = {6, 10, 8}, [ZS_TYPE_F] = {7, 7, 4},    [ZS_TYPE_UQ] = {8, 8, 8},
    [ZS_TYPE_Q] = {9, 9, 8},   [ZS_TYPE_HF] = {10, 11, 2}, [ZS_TYPE_BF] = {-1, -1, 2},
    [ZS_TYPE_UV] = {-1, 4, 0}, [ZS_TYPE_V] = {-1, 6, 0},   [ZS_TYPE_VF] = {-1, 5, 0},
};

unsigned type_size_B(unsigned type)
{
    return type_rows[type].size_B;
}

/* Architecture registers: the high half of the number. */
static unsigned register_bits(const struct zs_isa_operand *op)
{
    static const uint8_t bases[ZS_FILE_COUNT] = {
        [ZS_FILE_NULL] = 0x00, [ZS_FILE_A] = 0x10,   [ZS_FILE_ACC] = 0x20, [ZS_FILE_F] = 0x30,
        [ZS_FILE_CE] = 0x40,   [ZS_FILE_MSG] = 0x50, [ZS_FILE_SP] = 0x60,  [ZS_FILE_SR] = 0x70,
        [ZS_FILE_CR] = 0x80,   [ZS_FILE_N] = 0x90,   [ZS_FILE_IP] = 0xa0,  [ZS_FILE_TDR] = 0xb0,
        [ZS_FILE_TM] = 0xc0,   [ZS_FILE_FC] = 0xd0,  [ZS_FILE_DBG] = 0xf0,
    };
    return bases[op->file] + op->reg;
}

static unsigned file_bits(const struct zs_isa_operand *op)
{
    if (op->kind == ZS_OPERAND_IMM)
        return 3;
    return op->kind == ZS_OPERAND_INDIRECT || op->file == ZS_FILE_GRF;
}

static void put_header(uint64_t w[2], const struct zs_isa_inst *inst)
{
    put(w, 6, 0, opcode_bits(inst->op));
    put(w, 8, 8, has_flag(inst, ZS_INST_ALIGN16));
    put(w, 11, 11, inst->channel_offset / 4 % 2);
    put(w, 13, 12, inst->channel_offset / 8);
    put(w, 19, 16, inst->pred);
    put(w, 20, 20, has_flag(inst, ZS_INST_PRED_INVERSE));
    put(w, 23, 21, log2u(inst->exec_size));
    put(w, 27, 24, inst->op == ZS_OP_MATH ? inst->subfunction : inst->cond);
    put(w, 28, 28, has_flag(inst, ZS_INST_ACCWREN));
    put(w, 31, 31, has_modifier(&inst->dst, ZS_MOD_SAT));
    put(w, 32, 32, inst->flag_subreg);
    put(w, 33, 33, inst->flag_reg);
    put(w, 34, 34, has_flag(inst, ZS_INST_NOMASK));
}

static void put_dst(uint64_t w[2], const struct zs_isa_operand *dst)
{
    put(w, 36, 35, file_bits(dst));
    put(w, 40, 37, (uint64_t)type_rows[dst->type].reg);
    put(w, 62, 61, stride_code(dst->hstride));
    if (dst->kind == ZS_OPERAND_INDIRECT) {
        put(w, 63, 63, 1);
        put(w, 60, 57, dst->subreg);
        put(w, 56, 48, (uint64_t)dst->offset_B & 511);
        put(w, 47, 47, dst->offset_B < 0);
    } else {
        put(w, 60, 53, register_bits(dst));
        put(w, 52, 48, dst->subreg_B);
    }
}

static void put_src(uint64_t w[2], unsigned i, const struct zs_isa_operand *op)
{
    unsigned type_lo = i ? 91 : 43, file_lo = i ? 89 : 41, at = i * 32;
    bool imm = op->kind == ZS_OPERAND_IMM;

    put(w, file_lo + 1, file_lo, file_bits(op));
    put(w, type_lo + 3, type_lo,
        (uint64_t)(imm ? type_rows[op->type].imm : type_rows[op->type].reg));
    if (imm) {
        if (op->type == ZS_TYPE_UQ || op->type == ZS_TYPE_Q || op->type == ZS_TYPE_DF)
            w[1] = op->imm;
        else if (type_size_B(op->type) == 2)
            put(w, 127, 96, op->imm | op->imm << 16);
        else
            put(w, 127, 96, op->imm);
        return;
    }
    put(w, 77 + at, 77 + at, has_modifier(op, ZS_MOD_ABS));
    put(w, 78 + at, 78 + at, has_modifier(op, ZS_MOD_NEG));
    put(w, 81 + at, 80 + at, stride_code(op->hstride));
    put(w, 84 + at, 82 + at, log2u(op->width));
    put(w, 88 + at, 85 + at, op->vstride == ZS_REGION_VXH ? 15 : stride_code(op->vstride));
    if (op->kind == ZS_OPERAND_INDIRECT) {
        put(w, 79 + at, 79 + at, 1);
        put(w, 76 + at, 73 + at, op->subreg);
        put(w, 72 + at, 64 + at, (uint64_t)op->offset_B & 511);
        put(w, i ? 121 : 95, i ? 121 : 95, op->offset_B < 0);
    } else {
        put(w, 76 + at, 69 + at, register_bits(op));
        put(w, 68 + at, 64 + at, op->subreg_B);
    }
}

static unsigned ternary_type(unsigned type)
{
    return type == ZS_TYPE_F    ? 0
           : type == ZS_TYPE_D  ? 1
           : type == ZS_TYPE_UD ? 2
           : type == ZS_TYPE_DF ? 3
                                : 4;
}

static void put_ternary(uint64_t w[2], const struct zs_isa_inst *inst)
{
    static const unsigned half[3] = {84, 105, 126};
    bool single = inst->exec_size == 1;
    unsigned size_B = type_size_B(inst->dst.type);
    unsigned part = single ? inst->dst.subreg_B % 16 / 4 : 0;

    put(w, 8, 8, 1);
    if (single) { /* one component of a group of four dwords */
        put(w, 23, 21, size_B == 8 ? 1 : 2);
        put(w, 52, 49, (size_B == 8 ? 3u : 1u) << part);
    } else {
        put(w, 52, 49, inst->op == ZS_OP_MADM ? inst->dst.mme : 15);
    }
    put(w, 48, 46, ternary_type(inst->dst.type));
    put(w, 63, 56, inst->dst.reg);
    put(w, 55, 53, (inst->dst.subreg_B - part * 4u) / 4);
    put(w, 45, 43, ternary_type(inst->src[0].type));
    put(w, 36, 36, inst->src[1].type == ZS_TYPE_HF);
    put(w, 35, 35, inst->src[2].type == ZS_TYPE_HF);
    for (unsigned i = 0; i < 3; i++) {
        const struct zs_isa_operand *op = &inst->src[i];
        unsigned at = i * 21;
        bool broadcast = op->vstride == 0 && size_B != 8;
        /* a lone double is picked by a swizzle */
        unsigned swizzle = single && size_B == 8 ? (op->subreg_B & 8 ? 0xee : 0x44) : 0xe4;
        unsigned sub = single && size_B == 8 ? op->subreg_B & ~8u : op->subreg_B;
        if (inst->op == ZS_OP_MADM)
            swizzle = op->mme;
        put(w, 37 + 2 * i, 37 + 2 * i, has_modifier(op, ZS_MOD_ABS));
        put(w, 38 + 2 * i, 38 + 2 * i, has_modifier(op, ZS_MOD_NEG));
        put(w, 64 + at, 64 + at, broadcast);
        put(w, 72 + at, 65 + at, swizzle);
        put(w, 75 + at, 73 + at, sub / 4);
        put(w, half[i], half[i], sub / 2 % 2);
        put(w, 83 + at, 76 + at, op->reg);
    }
}

void encode(const struct zs_isa_inst *inst, uint64_t ret_words[2])
{
    ret_words[0] = ret_words[1] = 0;
    if (inst->source_count == 3) {
        struct zs_isa_inst head = *inst;
        head.flags &= ~(uint32_t)ZS_INST_ALIGN16;
        if (inst->exec_size == 1)
            head.exec_size = 1; /* put_ternary() has the bits */
        put_header(ret_words, &head);
        put_ternary(ret_words, inst);
        return;
    }
    put_header(ret_words, inst);
    put_dst(ret_words, &inst->dst);
    for (unsigned i = 0; i < inst->source_count; i++) {
        struct zs_isa_operand src = inst->src[i];
        if (has_flag(inst, ZS_INST_ALIGN16)) /* a row of four components, or of a pair of doubles */
            src.vstride = src.type == ZS_TYPE_DF ? 2 : 4;
        put_src(ret_words, i, &src);
    }
    if (has_flag(inst, ZS_INST_ALIGN16)) { /* two sources: numbers of macro operands */
        put(ret_words, 51, 48, inst->dst.mme);
        for (unsigned i = 0; i < inst->source_count; i++)
            put(ret_words, 67 + i * 32, 64 + i * 32, inst->src[i].mme);
    }
    if (inst->op == ZS_OP_MATH && inst->source_count == 1 && inst->src[0].kind != ZS_OPERAND_IMM) {
        struct zs_isa_operand null = {
            .kind = ZS_OPERAND_REG, .file = ZS_FILE_NULL, .type = inst->src[0].type, .width = 1};
        put_src(ret_words, 1, &null);
    }
}

/* ---- random ---- */

uint64_t random_next(struct random *random)
{
    uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

uint32_t random_below(struct random *random, uint32_t limit)
{
    return (uint32_t)(random_next(random) % limit);
}

static void set_flag(struct zs_isa_inst *inst, uint32_t flag, bool on)
{
    inst->flags = on ? inst->flags | flag : inst->flags & ~flag;
}

static bool chance(struct random *r, unsigned percent)
{
    return random_below(r, 100) < percent;
}

static unsigned pick_type(struct random *r, const char *types)
{
    static const struct {
        char letter;
        unsigned type;
    } table[] = {
        {'D', ZS_TYPE_D}, {'d', ZS_TYPE_UD}, {'W', ZS_TYPE_W},  {'w', ZS_TYPE_UW},
        {'B', ZS_TYPE_B}, {'b', ZS_TYPE_UB}, {'Q', ZS_TYPE_Q},  {'q', ZS_TYPE_UQ},
        {'F', ZS_TYPE_F}, {'X', ZS_TYPE_DF}, {'H', ZS_TYPE_HF},
    };
    char letter = types[random_below(r, (uint32_t)strlen(types))];

    for (unsigned i = 0; i < ZS_ARRAY_LEN(table); i++)
        if (table[i].letter == letter)
            return table[i].type;
    return ZS_TYPE_D;
}

/* A place for `bytes` bytes, aligned to the type. */
static void random_place(struct random *r, struct zs_isa_operand *op, unsigned bytes)
{
    unsigned size = type_size_B(op->type);
    unsigned limit = ZS_MAX(4096 - bytes, 1) / size;
    unsigned at = random_below(r, limit) * size;

    if (chance(r, 70))
        at = at / 32 * 32; /* mostly whole registers */
    if (chance(r, 40))
        at %= 512; /* overlaps are of interest */
    op->reg = (uint8_t)(at / 32);
    op->subreg_B = (uint8_t)(at % 32);
}

static const uint8_t regions[][3] = {
    {8, 8, 1}, {0, 1, 0}, {16, 16, 1}, {4, 4, 1},  {2, 2, 1}, {1, 1, 0},  {2, 1, 0},
    {4, 1, 0}, {8, 4, 2}, {0, 4, 1},   {32, 8, 4}, {0, 2, 1}, {16, 8, 2}, {8, 1, 0},
};

static void random_region(struct random *r, struct zs_isa_operand *op, unsigned n)
{
    const uint8_t *region =
        regions[chance(r, 60) ? random_below(r, 2) : random_below(r, ZS_ARRAY_LEN(regions))];
    op->vstride = region[0];
    op->width = (uint8_t)ZS_MIN(region[1], n);
    op->hstride = region[2];
}

static unsigned region_bytes(const struct zs_isa_operand *op, unsigned n)
{
    unsigned last = 0;

    for (unsigned c = 0; c < n; c++)
        last = ZS_MAX(last, c / op->width * op->vstride + c % op->width * op->hstride);
    return (last + 1) * type_size_B(op->type);
}

static uint64_t random_immediate(struct random *r, unsigned type)
{
    static const uint32_t floats[] = {0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000,
                                      0xff800000, 0x7fc00000, 0x00000001, 0x4f000000, 0x3f000000};
    uint64_t value = random_next(r);

    if (chance(r, 40))
        value = random_below(r, 40);
    if (type == ZS_TYPE_F && chance(r, 50))
        value = floats[random_below(r, ZS_ARRAY_LEN(floats))];
    unsigned size = type_size_B(type) ? type_size_B(type) : 4;
    return size == 8 ? value : value & ((UINT64_C(1) << 8 * size) - 1);
}

/* Only a lone source may have 64 bits. */
static void make_immediate(struct random *r, struct zs_isa_operand *op, bool lone)
{
    if (!lone && op->type == ZS_TYPE_Q)
        op->type = ZS_TYPE_D;
    if (!lone && op->type == ZS_TYPE_UQ)
        op->type = ZS_TYPE_UD;
    op->kind = ZS_OPERAND_IMM;
    if (op->type == ZS_TYPE_UB || op->type == ZS_TYPE_B)
        op->type = ZS_TYPE_W;
    if (chance(r, 8) && (op->type == ZS_TYPE_W || op->type == ZS_TYPE_UW))
        op->type = op->type == ZS_TYPE_W ? ZS_TYPE_V : ZS_TYPE_UV;
    else if (chance(r, 8) && op->type == ZS_TYPE_F)
        op->type = ZS_TYPE_VF;
    op->imm = random_immediate(r, op->type);
}

static void random_source(struct random *r, unsigned what, struct zs_isa_inst *inst, unsigned i,
                          unsigned type, bool may_be_immediate, bool modifiers)
{
    struct zs_isa_operand *op = &inst->src[i];

    op->type = (uint8_t)type;
    op->mme = ZS_MME_NONE;
    if (may_be_immediate && chance(r, 25) && (type != ZS_TYPE_DF || inst->source_count == 1)) {
        make_immediate(r, op, inst->source_count == 1);
        return;
    }
    op->kind = ZS_OPERAND_REG;
    op->file = ZS_FILE_GRF;
    random_region(r, op, inst->exec_size);
    if (modifiers) {
        op->modifiers |= chance(r, 20) ? ZS_MOD_NEG : 0;
        op->modifiers |= chance(r, 10) ? ZS_MOD_ABS : 0;
    }
    if ((what & RANDOM_INDIRECT) && chance(r, 15)) {
        op->kind = ZS_OPERAND_INDIRECT;
        op->offset_B = (int16_t)((int)random_below(r, 1024) - 512);
        op->offset_B &= (int16_t)~7;
        op->subreg = (uint8_t)random_below(r, 16);
        if (chance(r, 40)) {
            op->vstride = ZS_REGION_VXH;
            op->width = 1;
            op->hstride = 0;
            op->subreg = (uint8_t)random_below(r, 17u - ZS_MIN(inst->exec_size, 16));
            if (inst->exec_size > 16)
                op->kind = ZS_OPERAND_REG, op->vstride = 1;
        }
    }
    if (op->kind != ZS_OPERAND_INDIRECT)
        random_place(r, op, region_bytes(op, inst->exec_size));
}

static void random_dst(struct random *r, unsigned what, struct zs_isa_inst *inst, unsigned type)
{
    static const uint8_t strides[] = {1, 1, 1, 1, 2, 4};
    struct zs_isa_operand *dst = &inst->dst;

    dst->type = (uint8_t)type;
    dst->mme = ZS_MME_NONE;
    dst->hstride = strides[random_below(r, ZS_ARRAY_LEN(strides))];
    dst->kind = ZS_OPERAND_REG;
    dst->file = ZS_FILE_GRF;
    unsigned bytes = inst->exec_size * dst->hstride * type_size_B(type);
    if ((what & RANDOM_INDIRECT) && chance(r, 15)) {
        dst->kind = ZS_OPERAND_INDIRECT;
        dst->subreg = (uint8_t)random_below(r, 16);
        dst->offset_B = (int16_t)(((int)random_below(r, 1024) - 512) & ~7);
    } else {
        random_place(r, dst, bytes);
    }
}

static void random_masks(struct random *r, unsigned what, struct zs_isa_inst *inst)
{
    static const uint8_t sizes[] = {1, 2, 4, 8, 8, 8, 16, 16, 16, 16, 32};

    inst->exec_size = sizes[random_below(r, ZS_ARRAY_LEN(sizes))];
    set_flag(inst, ZS_INST_NOMASK, chance(r, 25));
    if (!(what & RANDOM_MASKS))
        return;
    if (chance(r, 30))
        inst->channel_offset =
            (uint8_t)(random_below(r, 33u - inst->exec_size) & (inst->exec_size < 8 ? ~3u : ~7u));
    inst->flag_reg = (uint8_t)random_below(r, 2);
    if (inst->channel_offset + inst->exec_size <= 16)
        inst->flag_subreg = (uint8_t)random_below(r, 2);
    if (chance(r, 35)) {
        inst->pred = (uint8_t)(chance(r, 70) ? ZS_PRED_SEQ : 2 + random_below(r, 12));
        set_flag(inst, ZS_INST_PRED_INVERSE, chance(r, 40));
    }
}

/* What may be made of an opcode: types by letter (see pick_type). */
struct shape {
    uint8_t op, function, sources;
    const char *dst, *src[3];
    bool modifiers, saturate;
    const char *conds; /* digits */
};

static const struct shape integer_shapes[] = {
    {ZS_OP_MOV, 0, 1, "DdWwBb", {"DdWwBb"}, true, true, "123456"},
    {ZS_OP_SMOV, 0, 2, "DdWwBb", {"DdWwBb", "w"}, false, false, ""},
    {ZS_OP_ADD, 0, 2, "DdWwBb", {"DdWwBb", "DdWwBb"}, true, true, "123456"},
    {ZS_OP_ADD, 0, 2, "D", {"D", "D"}, true, false, ""},
    {ZS_OP_MUL, 0, 2, "DdWw", {"DdWwBb", "DdWwBb"}, true, true, "123456"},
    {ZS_OP_AVG, 0, 2, "DdWw", {"DdWwBb", "DdWwBb"}, false, true, ""},
    {ZS_OP_AND, 0, 2, "DdWwBb", {"DdWwBb", "DdWwBb"}, true, false, "12"},
    {ZS_OP_OR, 0, 2, "DdWwBb", {"DdWwBb", "DdWwBb"}, true, false, "12"},
    {ZS_OP_XOR, 0, 2, "DdWwBb", {"DdWwBb", "DdWwBb"}, true, false, "12"},
    {ZS_OP_NOT, 0, 1, "DdWwBb", {"DdWwBb"}, true, false, "12"},
    {ZS_OP_SHL, 0, 2, "DdWwBb", {"DdWwBb", "DdWwBb"}, true, true, "123456"},
    {ZS_OP_SHR, 0, 2, "DdWwBb", {"dwb", "DdWwBb"}, false, true, "123456"},
    {ZS_OP_ASR, 0, 2, "DdWwBb", {"DWB", "DdWwBb"}, true, true, "123456"},
    {ZS_OP_SEL, 0, 2, "DdWwBb", {"DdWwBb", "DdWwBb"}, true, true, ""},
    {ZS_OP_SEL, 1, 2, "DdWwBb", {"DdWwBb", "DdWwBb"}, true, false, "3456"},
    {ZS_OP_CMP, 0, 2, "DdWwBb", {"DdWwBb", "DdWwBb"}, true, false, "123456"},
    {ZS_OP_CMP, 0, 2, "D", {"DWw", "DWw"}, false, false, "123456"},
    {ZS_OP_CMPN, 0, 2, "D", {"DWw", "DWw"}, true, false, "123456"},
    {ZS_OP_MAD, 0, 3, "D", {"D", "=", "="}, true, true, "123456"},
    {ZS_OP_MAD, 0, 3, "d", {"d", "=", "="}, true, true, "123456"},
    {ZS_OP_BFREV, 0, 1, "d", {"d"}, false, false, ""},
    {ZS_OP_LZD, 0, 1, "d", {"d"}, false, false, ""},
    {ZS_OP_FBH, 0, 1, "d", {"Dd"}, false, false, ""},
    {ZS_OP_FBL, 0, 1, "d", {"dwb"}, false, false, ""},
    {ZS_OP_CBIT, 0, 1, "d", {"dwb"}, false, false, ""},
    {ZS_OP_BFI1, 0, 2, "d", {"d", "d"}, false, false, ""},
    {ZS_OP_BFE, 0, 3, "d", {"d", "=", "="}, false, false, ""},
    {ZS_OP_BFE, 0, 3, "D", {"D", "=", "="}, false, false, ""},
    {ZS_OP_BFI2, 0, 3, "d", {"d", "=", "="}, false, false, ""},
    {ZS_OP_ADDC, 0, 2, "d", {"d", "d"}, false, false, ""},
    {ZS_OP_SUBB, 0, 2, "d", {"d", "d"}, false, false, ""},
    {ZS_OP_MACH, 0, 2, "Dd", {"Dd", "Dd"}, false, false, ""},
    {ZS_OP_MATH, ZS_MATH_IQOT, 2, "d", {"d", "d"}, false, false, ""},
    {ZS_OP_MATH, ZS_MATH_IQOT, 2, "D", {"D", "D"}, false, false, ""},
    {ZS_OP_MATH, ZS_MATH_IREM, 2, "d", {"d", "d"}, false, false, ""},
    {ZS_OP_MATH, ZS_MATH_IREM, 2, "D", {"D", "D"}, false, false, ""},
};

static const struct shape wide_shapes[] = {
    {ZS_OP_MOV, 0, 1, "Qq", {"DdWwBbQq"}, true, true, "123456"},
    {ZS_OP_MOV, 0, 1, "DdWwBb", {"Q"}, false, true, "123456"},
    {ZS_OP_ADD, 0, 2, "QqDd", {"DdWwBbQ", "DdWwQ"}, true, false, "123456"},
    {ZS_OP_MOV, 0, 1, "DdWwBbQqFX", {"q"}, true, true, ""},
    {ZS_OP_ADD, 0, 2, "Q", {"Q", "Q"}, true, true, ""},
    {ZS_OP_ADD, 0, 2, "QqDd", {"DdWwBbQq", "DdWwQq"}, true, true, "123456"},
    {ZS_OP_MUL, 0, 2, "Qq", {"DdWwBb", "DdWw"}, true, true, ""},
    {ZS_OP_MUL, 0, 2, "Qq", {"DdQ", "DdQ"}, true, false, ""},
    {ZS_OP_MUL, 0, 2, "QqDdW", {"DdWQq", "DdWQq"}, true, true, "123456"},
    {ZS_OP_AND, 0, 2, "QqDW", {"DdWwBbQ", "DdWwQ"}, true, false, "12"},
    {ZS_OP_OR, 0, 2, "QqD", {"DdWwBbQ", "DdWwQ"}, true, false, "12"},
    {ZS_OP_XOR, 0, 2, "QqD", {"DdWwBbQ", "DdWwQ"}, true, false, ""},
    {ZS_OP_SHL, 0, 2, "Qq", {"DdWwQq", "DdWwQ"}, false, true, "12"},
    {ZS_OP_SHL, 0, 2, "QqDdW", {"Qq", "DdWw"}, true, true, "123456"},
    {ZS_OP_SHR, 0, 2, "QqDd", {"q", "DdWwQ"}, false, false, ""},
    {ZS_OP_ASR, 0, 2, "QqDd", {"Q", "DdWw"}, false, false, ""},
    {ZS_OP_SEL, 0, 2, "Qq", {"DdWwQq", "DdWwQ"}, true, false, ""},
    {ZS_OP_SEL, 1, 2, "Qq", {"DdWwQ", "DdWwQ"}, true, false, "3456"},
    {ZS_OP_CMP, 0, 2, "QqD", {"DdWwQ", "DdWwQ"}, true, false, "123456"},
    {ZS_OP_SEL, 0, 2, "QqDdW", {"DdWwQq", "DdWwQq"}, true, true, ""},
    {ZS_OP_SEL, 1, 2, "QqDdW", {"DdWwQq", "DdWwQq"}, true, true, "3456"},
    {ZS_OP_CMP, 0, 2, "QqD", {"dwq", "dwq"}, false, false, "123456"},
    {ZS_OP_CMP, 0, 2, "QqD", {"DdWwQq", "Qq"}, true, false, "123456"},
};

static const struct shape float_shapes[] = {
    {ZS_OP_BFREV, 0, 1, "d", {"F"}, false, false, ""},
    {ZS_OP_MOV, 0, 1, "F", {"DdWwBbFH"}, true, true, ""},
    {ZS_OP_MOV, 0, 1, "DdWwBb", {"FH"}, true, true, ""},
    {ZS_OP_MOV, 0, 1, "H", {"DdWwFH"}, true, true, ""},
    {ZS_OP_MOV, 0, 1, "F", {"F"}, true, false, "123456"},
    {ZS_OP_ADD, 0, 2, "F", {"F", "FH"}, true, true, "123456"},
    {ZS_OP_ADD, 0, 2, "H", {"H", "H"}, true, true, ""},
    {ZS_OP_MUL, 0, 2, "F", {"F", "FH"}, true, true, "123456"},
    {ZS_OP_MUL, 0, 2, "H", {"H", "FH"}, true, true, ""},
    {ZS_OP_MAD, 0, 3, "F", {"F", "=", "="}, true, true, ""},
    {ZS_OP_MAD, 0, 3, "F", {"F", "=", "="}, true, true, "36"},
    {ZS_OP_MAD, 0, 3, "H", {"H", "=", "="}, true, false, ""},
    {ZS_OP_LRP, 0, 3, "F", {"F", "=", "="}, true, true, ""},
    {ZS_OP_CSEL, 0, 3, "F", {"F", "=", "="}, true, false, "123456"},
    {ZS_OP_SEL, 0, 2, "F", {"F", "F"}, true, false, ""},
    {ZS_OP_SEL, 0, 2, "H", {"H", "H"}, true, false, ""},
    {ZS_OP_SEL, 1, 2, "F", {"F", "F"}, true, true, "3456"},
    {ZS_OP_CMP, 0, 2, "FD", {"F", "FH"}, true, false, "1234569"},
    {ZS_OP_CMPN, 0, 2, "FD", {"F", "FH"}, true, false, "45"},
    {ZS_OP_CMPN, 0, 2, "XQ", {"X", "X"}, true, false, "45"},
    {ZS_OP_CMP, 0, 2, "HW", {"H", "H"}, true, false, "123456"},
    {ZS_OP_RNDU, 0, 1, "F", {"F"}, true, true, ""},
    {ZS_OP_RNDD, 0, 1, "F", {"F"}, true, true, ""},
    {ZS_OP_RNDE, 0, 1, "F", {"F"}, true, true, ""},
    {ZS_OP_RNDZ, 0, 1, "F", {"F"}, true, true, ""},
    {ZS_OP_FRC, 0, 1, "F", {"F"}, true, false, ""},
    {ZS_OP_MATH, ZS_MATH_INV, 1, "F", {"F"}, true, true, ""},
    {ZS_OP_MATH, ZS_MATH_SQT, 1, "F", {"F"}, true, true, ""},
    {ZS_OP_MATH, ZS_MATH_FDIV, 2, "F", {"F", "F"}, true, true, ""},
    {ZS_OP_MOV, 0, 1, "X", {"DdWFQqX"}, true, true, ""},
    {ZS_OP_MOV, 0, 1, "DdWBFQqH", {"X"}, true, true, ""},
    {ZS_OP_MOV, 0, 1, "FH", {"Qq"}, false, false, ""},
    {ZS_OP_MOV, 0, 1, "Qq", {"FH"}, true, false, ""},
    {ZS_OP_ADD, 0, 2, "X", {"X", "X"}, true, true, "123456"},
    {ZS_OP_MUL, 0, 2, "X", {"X", "X"}, true, true, ""},
    {ZS_OP_MAD, 0, 3, "X", {"X", "=", "="}, true, true, ""},
    {ZS_OP_SEL, 0, 2, "X", {"X", "X"}, true, false, ""},
    {ZS_OP_SEL, 1, 2, "X", {"X", "X"}, true, false, "3456"},
    {ZS_OP_CMP, 0, 2, "XQ", {"X", "X"}, true, false, "1234569"},
};

static const struct shape *random_shape(struct random *r, unsigned what)
{
    if ((what & RANDOM_FLOAT) && chance(r, 45))
        return &float_shapes[random_below(r, ZS_ARRAY_LEN(float_shapes))];
    if ((what & RANDOM_WIDE) && chance(r, 35))
        return &wide_shapes[random_below(r, ZS_ARRAY_LEN(wide_shapes))];
    return &integer_shapes[random_below(r, ZS_ARRAY_LEN(integer_shapes))];
}

/* Three-source operands are packed or broadcast, on 4-byte boundaries. */
static void random_ternary_place(struct random *r, struct zs_isa_inst *inst,
                                 struct zs_isa_operand *op, bool is_dst)
{
    unsigned size = type_size_B(op->type);
    bool single = inst->exec_size == 1;

    op->kind = ZS_OPERAND_REG;
    op->file = ZS_FILE_GRF;
    op->hstride = op->vstride = op->width = 1;
    if (!is_dst && size < 8 && (single || chance(r, 30)))
        op->hstride = op->vstride = 0;
    if (!is_dst && single)
        op->hstride = op->vstride = 0;
    op->reg = (uint8_t)random_below(r, 60);
    op->subreg_B = (uint8_t)(random_below(r, 32 / ZS_MAX(size, 4)) * ZS_MAX(size, 4));
    if (!is_dst && op->vstride == 0 && size == 2)
        op->subreg_B = (uint8_t)(op->subreg_B + random_below(r, 2) * 2);
}

static void fit_ternary(struct random *r, struct zs_isa_inst *inst)
{
    unsigned size = type_size_B(inst->dst.type);

    inst->flags |= ZS_INST_ALIGN16;
    if (inst->pred) /* others choose components there */
        inst->pred = inst->op == ZS_OP_CSEL ? ZS_PRED_NONE : ZS_PRED_SEQ;
    set_flag(inst, ZS_INST_PRED_INVERSE, inst->pred && has_flag(inst, ZS_INST_PRED_INVERSE));
    if (inst->exec_size < 4 || (inst->exec_size == 4 && size == 2))
        inst->exec_size = size == 2 ? 8 : 1;
    if (inst->channel_offset + inst->exec_size > 32)
        inst->channel_offset = 0;
    if (inst->exec_size == 1) {
        inst->flags |= ZS_INST_NOMASK;
        inst->pred = 0;
        set_flag(inst, ZS_INST_PRED_INVERSE, false);
        inst->channel_offset = 0;
    }
    if (inst->flag_subreg && inst->channel_offset + inst->exec_size > 16)
        inst->flag_subreg = 0;
    random_ternary_place(r, inst, &inst->dst, true);
    for (unsigned i = 0; i < 3; i++)
        random_ternary_place(r, inst, &inst->src[i], false);
}

static void random_operands(struct random *r, unsigned what, const struct shape *shape,
                            struct zs_isa_inst *inst)
{
    random_dst(r, what, inst, pick_type(r, shape->dst));
    for (unsigned i = 0; i < shape->sources; i++) {
        unsigned type = shape->src[i][0] == '=' ? inst->src[0].type : pick_type(r, shape->src[i]);
        random_source(r, what, inst, i, type, shape->sources < 3 && i + 1 == shape->sources,
                      shape->modifiers);
    }
}

static bool accumulates(const struct zs_isa_inst *inst)
{
    return inst->op == ZS_OP_ADDC || inst->op == ZS_OP_SUBB || inst->op == ZS_OP_MACH;
}

static bool is_small_integer(unsigned type)
{
    return type >= ZS_TYPE_UB && type <= ZS_TYPE_D;
}

/* What AccWrEn leaves is compared for these. */
static bool writes_accumulator(const struct zs_isa_inst *inst)
{
    bool small = inst->exec_size <= 16;

    for (unsigned i = 0; i < inst->source_count; i++) /* NaNs would have to be told apart */
        small = small && is_small_integer(inst->src[i].type);
    return small && is_small_integer(inst->dst.type) &&
           (inst->op == ZS_OP_ADD || inst->op == ZS_OP_SEL);
}

void random_inst(struct random *r, unsigned what, struct zs_isa_inst *ret)
{
    const struct shape *shape = random_shape(r, what);

    memset(ret, 0, sizeof(*ret));
    ret->op = shape->op;
    ret->source_count = shape->sources;
    random_masks(r, what, ret);
    if (shape->op == ZS_OP_MATH)
        ret->subfunction = shape->function;
    if (shape->conds[0] && (chance(r, 40) || shape->op == ZS_OP_CMP || shape->op == ZS_OP_CMPN ||
                            shape->op == ZS_OP_CSEL || shape->function == 1))
        ret->cond = (uint8_t)(shape->conds[random_below(r, (uint32_t)strlen(shape->conds))] - '0');
    bool saturate = shape->saturate && chance(r, 20);
    ret->dst.modifiers = saturate ? ZS_MOD_SAT : 0;
    if (shape->op == ZS_OP_SEL) {
        if (ret->cond) {
            ret->pred = 0;
            set_flag(ret, ZS_INST_PRED_INVERSE, false);
        } else if (!ret->pred) {
            ret->pred = ZS_PRED_SEQ;
        }
    }
    if (shape->op == ZS_OP_MATH)
        what &= ~(unsigned)RANDOM_INDIRECT; /* it has none */
    random_operands(r, what, shape, ret);
    if (shape->sources == 3)
        fit_ternary(r, ret);
    bool masked = shape->op == ZS_OP_SMOV;
    if (masked) {
        ret->src[1] =
            (struct zs_isa_operand){.kind = ZS_OPERAND_IMM, .type = ZS_TYPE_UW, .mme = ZS_MME_NONE};
        ret->src[1].imm = random_below(r, 65536);
    }
    if ((accumulates(ret) || masked) && ret->exec_size > 16) {
        ret->exec_size = 16;
        for (unsigned i = 0; i < 2; i++) /* width <= exec size */
            ret->src[i].width = (uint8_t)ZS_MIN(ret->src[i].width, 16);
    }
    if (accumulates(ret))
        ret->flags |= ZS_INST_ACCWREN;
    if (writes_accumulator(ret) && chance(r, 10))
        ret->flags |= ZS_INST_ACCWREN;
}
