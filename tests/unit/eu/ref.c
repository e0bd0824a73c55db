/* SPDX-License-Identifier: MIT */
#include "ref.h"

#include "encode.h"

#include <assert.h>
#include <fenv.h>
#include <math.h>
#include <string.h>

typedef __int128 wide;

/* ---- types ---- */

static unsigned type_size(unsigned type)
{
    /* packed vectors: of what they unpack to */
    static const unsigned sizes[ZS_TYPE_COUNT] = {
        [ZS_TYPE_UD] = 4, [ZS_TYPE_D] = 4,  [ZS_TYPE_UW] = 2, [ZS_TYPE_W] = 2,  [ZS_TYPE_UB] = 1,
        [ZS_TYPE_B] = 1,  [ZS_TYPE_DF] = 8, [ZS_TYPE_F] = 4,  [ZS_TYPE_UQ] = 8, [ZS_TYPE_Q] = 8,
        [ZS_TYPE_HF] = 2, [ZS_TYPE_BF] = 2, [ZS_TYPE_V] = 2,  [ZS_TYPE_UV] = 2, [ZS_TYPE_VF] = 4,
    };
    return sizes[type];
}

static bool type_float(unsigned type)
{
    return type == ZS_TYPE_F || type == ZS_TYPE_DF || type == ZS_TYPE_HF || type == ZS_TYPE_BF ||
           type == ZS_TYPE_VF;
}

static bool type_signed(unsigned type)
{
    return type == ZS_TYPE_D || type == ZS_TYPE_W || type == ZS_TYPE_B || type == ZS_TYPE_Q ||
           type == ZS_TYPE_V;
}

/* A value: an integer of any size, or a float of one of three precisions held exactly. */
struct value {
    unsigned type; /* ZS_TYPE_Q for integers, F, DF, HF */
    wide i;
    double d;
    uint64_t raw; /* the bits it was read from */
};

static bool is_float(struct value v)
{
    return v.type != ZS_TYPE_Q;
}

/* ---- half ---- */

double ref_from_half(uint16_t half)
{
    int exponent = half >> 10 & 31;
    double mantissa = half & 1023, value;

    if (exponent == 31)
        value = half & 1023 ? (double)NAN : (double)INFINITY;
    else if (exponent == 0)
        value = ldexp(mantissa, -24);
    else
        value = ldexp(1024 + mantissa, exponent - 25);
    return half & 0x8000 ? -value : value;
}

/* By search: the neighbours on both sides, then the rule. */
uint16_t ref_to_half(double value, unsigned mode)
{
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    double size = fabs(value);
    uint16_t low = 0, high = 0x7c00;

    if (isnan(value))
        return sign | 0x7e00;
    if (isinf(value))
        return sign | 0x7c00;
    /* greatest finite half <= size */
    while (high - low > 1) {
        uint16_t middle = (uint16_t)((low + high) / 2);
        if (ref_from_half(middle) <= size)
            low = middle;
        else
            high = middle;
    }
    double below = ref_from_half(low);
    if (below == size)
        return sign | low;
    /* behind the greatest finite one, 65536 would follow */
    double above = high == 0x7c00 ? 65536.0 : ref_from_half(high);
    bool up;
    if (mode == 0) {
        double to_below = size - below, to_above = above - size;
        up = to_above < to_below || (to_above == to_below && (low & 1));
    } else {
        up = mode == 1 ? !sign : mode == 2 ? sign != 0 : false;
    }
    return (uint16_t)(sign | (up ? high : low));
}

/* ---- rounding and denormals ---- */

static unsigned rounding(const struct ref_state *s)
{
    return s->cr0 >> 4 & 3;
}

static void set_rounding(unsigned mode)
{
    static const int modes[4] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    fesetround(modes[mode]);
}

static bool keeps_denormals(const struct ref_state *s, unsigned type)
{
    return s->cr0 & (type == ZS_TYPE_DF ? 0x40 : 0x80);
}

/* For arithmetic: denormals become zeros where cr0 says so. */
static struct value flush(const struct ref_state *s, struct value v)
{
    if (!is_float(v) || keeps_denormals(s, v.type))
        return v;
    double least = v.type == ZS_TYPE_DF ? 0x1p-1022 : 0x1p-126;
    if (v.type == ZS_TYPE_HF)
        return v;
    if (fabs(v.d) < least)
        v.d = copysign(0, v.d);
    return v;
}

/* ---- reading ---- */

static unsigned file_B(const struct ref_state *s)
{
    return 128 * s->grf_B;
}

static uint64_t bytes_at(const struct ref_state *s, unsigned at, unsigned size)
{
    uint64_t raw = 0;
    for (unsigned i = 0; i < size; i++)
        raw |= (uint64_t)s->grf[(at + i) % file_B(s)] << 8 * i;
    return raw;
}

static struct value make_value(uint64_t raw, unsigned type)
{
    struct value v = {.type = ZS_TYPE_Q, .raw = raw};
    unsigned bits = type_size(type) * 8;

    if (type == ZS_TYPE_F || type == ZS_TYPE_VF || type == ZS_TYPE_BF) {
        float f;
        uint32_t word = (uint32_t)raw << (type == ZS_TYPE_BF ? 16 : 0);
        memcpy(&f, &word, 4);
        v.type = ZS_TYPE_F;
        v.d = (double)f;
    } else if (type == ZS_TYPE_DF) {
        v.type = type;
        memcpy(&v.d, &raw, 8);
    } else if (type == ZS_TYPE_HF) {
        v.type = type;
        v.d = ref_from_half((uint16_t)raw);
    } else {
        v.i = raw;
        if (type_signed(type) && raw >> (bits - 1) & 1)
            v.i -= (wide)1 << bits;
    }
    return v;
}

static struct value immediate(const struct zs_isa_inst *inst, const struct zs_isa_operand *op,
                              unsigned channel)
{
    /* v and uv are rows of words; fewer than eight dwords take every second one */
    if ((op->type == ZS_TYPE_V || op->type == ZS_TYPE_UV) && inst->exec_size < 8 &&
        inst->dst.hstride * type_size(inst->dst.type) == 4)
        channel *= 2;
    if (op->type == ZS_TYPE_V) {
        int nibble = (int)(op->imm >> channel % 8 * 4 & 15);
        return make_value((uint64_t)(nibble < 8 ? nibble : nibble - 16) & 0xffff, ZS_TYPE_W);
    }
    if (op->type == ZS_TYPE_UV)
        return make_value(op->imm >> channel % 8 * 4 & 15, ZS_TYPE_UW);
    if (op->type == ZS_TYPE_VF) {
        unsigned byte = (unsigned)(op->imm >> channel % 4 * 8 & 255);
        float f = ldexpf(1 + (float)(byte & 15) / 16, (int)(byte >> 4 & 7) - 3);
        uint32_t word;
        if ((byte & 127) == 0)
            f = 0;
        if (byte & 128)
            f = -f;
        memcpy(&word, &f, 4);
        return make_value(word, ZS_TYPE_F);
    }
    return make_value(op->imm, op->type);
}

/* Elements in a row. Three sources have no such field: rows <v;h> end where the next one begins,
 * and the last source <h> is one row. */
static unsigned row_width(const struct zs_isa_operand *op)
{
    if (op->width != ZS_REGION_NONE)
        return op->width;
    if (op->vstride == ZS_REGION_NONE)
        return 64;
    return op->hstride && op->vstride > op->hstride ? op->vstride / op->hstride : 1;
}

static unsigned source_address(const struct ref_state *s, const struct zs_isa_operand *op,
                               unsigned channel)
{
    unsigned row = channel / row_width(op), column = channel % row_width(op);
    unsigned size = type_size(op->type);

    if (op->kind != ZS_OPERAND_INDIRECT)
        return op->reg * s->grf_B + op->subreg_B +
               (row * op->vstride + column * op->hstride) * size;
    if (op->vstride == ZS_REGION_VXH)
        return (s->a0[op->subreg + row] + (unsigned)(int)op->offset_B +
                column * op->hstride * size) %
               file_B(s);
    return (s->a0[op->subreg] + (unsigned)(int)op->offset_B +
            (row * op->vstride + column * op->hstride) * size) %
           file_B(s);
}

static bool is_logic(const struct zs_isa_inst *inst)
{
    return inst->op == ZS_OP_AND || inst->op == ZS_OP_OR || inst->op == ZS_OP_XOR ||
           inst->op == ZS_OP_NOT;
}

/* Modifiers leave d and q their width, and magnitudes of w and b; all others have bits to spare. */
static wide wrapped(wide i, const struct zs_isa_operand *op)
{
    if (has_modifier(op, ZS_MOD_ABS) && op->type == ZS_TYPE_W)
        return (int16_t)i;
    if (has_modifier(op, ZS_MOD_ABS) && op->type == ZS_TYPE_B)
        return (int8_t)i;
    return op->type == ZS_TYPE_D ? (int32_t)i : op->type == ZS_TYPE_Q ? (int64_t)i : i;
}

static struct value modify(const struct zs_isa_inst *inst, const struct zs_isa_operand *op,
                           struct value v)
{
    if (op->kind == ZS_OPERAND_IMM)
        return v;
    if (is_logic(inst)) {
        if (has_modifier(op, ZS_MOD_NEG))
            v.i = ~v.i;
        return v;
    }
    if (has_modifier(op, ZS_MOD_ABS)) {
        v.d = fabs(v.d);
        v.i = wrapped(v.i < 0 ? -v.i : v.i, op);
    }
    if (has_modifier(op, ZS_MOD_NEG)) {
        v.d = -v.d;
        v.i = wrapped(-v.i, op);
    }
    return v;
}

static struct value source(const struct ref_state *s, const struct zs_isa_inst *inst, unsigned i,
                           unsigned channel)
{
    const struct zs_isa_operand *op = &inst->src[i];

    if (op->kind == ZS_OPERAND_IMM)
        return immediate(inst, op, channel);
    unsigned at = source_address(s, op, channel);
    return modify(inst, op, make_value(bytes_at(s, at, type_size(op->type)), op->type));
}

/* ---- converting and writing ---- */

static wide clamp(wide i, unsigned type)
{
    unsigned bits = type_size(type) * 8;
    wide low = type_signed(type) ? -((wide)1 << (bits - 1)) : 0;
    wide high = ((wide)1 << (type_signed(type) ? bits - 1 : bits)) - 1;

    return i < low ? low : i > high ? high : i;
}

static wide float_to_integer(const struct ref_state *s, double d, unsigned type)
{
    if (isnan(d))
        return 0;
    if (s->cr0 >> 12 & 1) {
        set_rounding(rounding(s));
        d = rint(d);
        set_rounding(0);
    } else {
        d = trunc(d);
    }
    if (d >= 0x1p100)
        d = 0x1p100;
    if (d <= -0x1p100)
        d = -0x1p100;
    return clamp((wide)d, type);
}

/* An integer as a float, rounded once. */
static double integer_to_float(const struct ref_state *s, wide i, bool single)
{
    volatile double d;

    if (i < INT64_MIN) { /* a negated uq: up and down change places */
        static const unsigned mirrored[4] = {0, 2, 1, 3};
        set_rounding(mirrored[rounding(s)]);
        volatile float f = (float)(uint64_t)-i;
        d = single ? (double)f : (double)(uint64_t)-i;
        set_rounding(0);
        return -d;
    }
    set_rounding(rounding(s));
    if (single && i > INT64_MAX) {
        volatile float f = (float)(uint64_t)i;
        d = (double)f;
    } else if (single) {
        volatile float f = (float)(int64_t)i;
        d = (double)f;
    } else {
        d = i > INT64_MAX ? (double)(uint64_t)i : (double)(int64_t)i;
    }
    set_rounding(0);
    return d;
}

static uint64_t single_bits(const struct ref_state *s, double d)
{
    uint32_t bits;
    volatile float f;

    set_rounding(rounding(s));
    f = (float)d;
    set_rounding(0);
    float plain = f;
    memcpy(&bits, &plain, 4);
    return bits;
}

/* The upper half of a float, rounded: up means away from zero. */
static uint64_t bf_bits(const struct ref_state *s, double d)
{
    uint32_t word = (uint32_t)single_bits(s, d), rest = word & 0xffff, high = word >> 16;
    bool negative = word >> 31, up = false;

    if (isnan(d))
        return high | 0x40;
    if (rounding(s) == 0)
        up = rest > 0x8000 || (rest == 0x8000 && (high & 1));
    else if (rounding(s) < 3)
        up = rest && negative == (rounding(s) == 2);
    return high + (isinf(d) ? 0 : up);
}

/* Bits of a value in the destination's type. */
static uint64_t convert(const struct ref_state *s, struct value v, unsigned type, bool saturate)
{
    if (saturate && is_float(v) && type_float(type))
        v.d = isnan(v.d) || v.d <= 0 ? 0 : v.d > 1 ? 1 : v.d;
    if (!type_float(type)) {
        wide i = is_float(v) ? float_to_integer(s, v.d, type) : v.i;
        return (uint64_t)(saturate ? clamp(i, type) : i);
    }
    double d = is_float(v) ? v.d : integer_to_float(s, v.i, type != ZS_TYPE_DF);
    if (saturate)
        d = isnan(d) || d <= 0 ? 0 : d > 1 ? 1 : d;
    uint64_t bits;
    if (type == ZS_TYPE_HF)
        return ref_to_half(d, rounding(s));
    if (type == ZS_TYPE_BF)
        return bf_bits(s, d);
    if (type == ZS_TYPE_F)
        return single_bits(s, d);
    memcpy(&bits, &d, 8);
    return bits;
}

static void write_bytes(struct ref_state *s, const struct zs_isa_inst *inst, unsigned channel,
                        uint64_t bits)
{
    const struct zs_isa_operand *dst = &inst->dst;
    unsigned size = type_size(dst->type);
    unsigned at = dst->reg * s->grf_B + dst->subreg_B;

    if (dst->file != ZS_FILE_GRF)
        return;
    if (dst->kind == ZS_OPERAND_INDIRECT)
        at = s->a0[dst->subreg] + (unsigned)(int)dst->offset_B;
    at += channel * dst->hstride * size;
    if (dst->kind == ZS_OPERAND_INDIRECT)
        at %= file_B(s);
    for (unsigned i = 0; i < size; i++)
        s->grf[at + i] = (uint8_t)(bits >> 8 * i);
}

/* ---- masks ---- */

static unsigned flag_base(const struct zs_isa_inst *inst)
{
    return inst->flag_subreg * 16u + inst->channel_offset;
}

static bool flag_bit(const struct ref_state *s, unsigned reg, unsigned bit)
{
    return bit < 32 && (s->flag[reg] >> bit & 1);
}

static bool predicate(const struct ref_state *s, const struct zs_isa_inst *inst, unsigned channel)
{
    unsigned base = flag_base(inst);
    bool value;

    if (inst->pred == ZS_PRED_NONE)
        return true;
    if (inst->pred == ZS_PRED_SEQ) {
        value = flag_bit(s, inst->flag_reg, base + channel);
    } else if (inst->pred == ZS_PRED_ANY || inst->pred == ZS_PRED_ALL) { /* of its channels */
        unsigned count = 0;
        for (unsigned i = 0; i < inst->exec_size; i++)
            count += flag_bit(s, inst->flag_reg, base + i);
        value = inst->pred == ZS_PRED_ALL ? count == inst->exec_size : count > 0;
    } else if (inst->pred == ZS_PRED_ANYV) {
        value = flag_bit(s, 0, base + channel) || flag_bit(s, 1, base + channel);
    } else if (inst->pred == ZS_PRED_ALLV) {
        value = flag_bit(s, 0, base + channel) && flag_bit(s, 1, base + channel);
    } else {
        static const unsigned widths[] = {2, 4, 8, 16, 32};
        unsigned width = widths[(inst->pred - ZS_PRED_ANY2H) / 2];
        bool all = (inst->pred - ZS_PRED_ANY2H) % 2;
        unsigned count = 0;
        for (unsigned i = 0; i < width; i++)
            count += flag_bit(s, inst->flag_reg, base + channel / width * width + i);
        value = all ? count == width : count > 0;
    }
    return value != has_flag(inst, ZS_INST_PRED_INVERSE);
}

static bool enabled(const struct ref_state *s, const struct zs_isa_inst *inst, unsigned channel)
{
    return has_flag(inst, ZS_INST_NOMASK) || (s->ce >> (inst->channel_offset + channel) & 1);
}

/* ---- computing ---- */

static bool compare(unsigned cond, struct value a, struct value b)
{
    if (is_float(a)) {
        switch (cond) {
        case ZS_COND_EQ:
            return a.d == b.d;
        case ZS_COND_NE:
            return a.d != b.d;
        case ZS_COND_GT:
            return a.d > b.d;
        case ZS_COND_GE:
            return a.d >= b.d;
        case ZS_COND_LT:
            return a.d < b.d;
        case ZS_COND_LE:
            return a.d <= b.d;
        default:
            return isnan(a.d) || isnan(b.d);
        }
    }
    switch (cond) {
    case ZS_COND_EQ:
        return a.i == b.i;
    case ZS_COND_NE:
        return a.i != b.i;
    case ZS_COND_GT:
        return a.i > b.i;
    case ZS_COND_GE:
        return a.i >= b.i;
    case ZS_COND_LT:
        return a.i < b.i;
    default:
        return a.i <= b.i;
    }
}

static struct value integer(wide i)
{
    return (struct value){.type = ZS_TYPE_Q, .i = i};
}

static unsigned sources_widest(const struct zs_isa_inst *inst)
{
    unsigned widest = type_size(inst->dst.type);
    for (unsigned i = 0; i < inst->source_count; i++)
        if (type_size(inst->src[i].type) > widest)
            widest = type_size(inst->src[i].type);
    return widest;
}

static wide low_bits(wide i, unsigned bits)
{
    return i & (((wide)1 << bits) - 1);
}

/* Some product of values beyond 64 bits does not fit 128: it is beyond every type. */
static wide multiply(const struct zs_isa_inst *inst, wide a, wide b)
{
    wide r;

    if (__builtin_mul_overflow(a, b, &r) && has_modifier(&inst->dst, ZS_MOD_SAT))
        return (a < 0) != (b < 0) ? -((wide)1 << 126) : (wide)1 << 126;
    return r;
}

static struct value shift(const struct zs_isa_inst *inst, wide a, wide count)
{
    bool is_wide = sources_widest(inst) == 8;
    unsigned n = (unsigned)(count & (is_wide ? 63 : 31)), bits = is_wide ? 64 : 32;

    if (inst->op == ZS_OP_SHL && has_modifier(&inst->dst, ZS_MOD_SAT))
        return integer(multiply(inst, a, (wide)1 << n));
    if (inst->op == ZS_OP_SHL)
        return integer(low_bits((wide)((unsigned __int128)a << n), bits));
    if (inst->op == ZS_OP_ASR)
        return integer(a >> n);
    return integer(low_bits(a, bits) >> n);
}

/* 32 bits of a result exist, or 64 */
static struct value bitwise(const struct zs_isa_inst *inst, wide i)
{
    return integer(low_bits(i, sources_widest(inst) == 8 ? 64 : 32));
}

static struct value bit_field(const struct zs_isa_inst *inst, const struct value *v)
{
    unsigned w = v[0].i & 31, o = v[1].i & 31;
    uint32_t field = (uint32_t)v[2].i;

    if (inst->op == ZS_OP_BFI1)
        return integer((uint32_t)((((uint64_t)1 << w) - 1) << o));
    if (inst->op == ZS_OP_BFI2) {
        uint32_t mask = (uint32_t)v[0].i, insert = (uint32_t)v[1].i;
        unsigned first = 0;
        while (first < 31 && !(mask >> first & 1))
            first++;
        return integer(((insert << first) & mask) | (field & ~mask));
    }
    bool is_signed = type_signed(inst->src[2].type);
    if (w == 0)
        return integer(0);
    if (o + w >= 32)
        return integer(is_signed ? (int32_t)field >> o : (wide)(field >> o));
    wide value = field >> o & ((1u << w) - 1);
    if (is_signed && value >> (w - 1) & 1)
        value -= (wide)1 << w;
    return integer(value);
}

static struct value count_bits(const struct zs_isa_inst *inst, uint32_t x)
{
    unsigned n = 0;
    uint32_t sign;

    switch (inst->op) {
    case ZS_OP_BFREV:
        sign = 0;
        for (unsigned i = 0; i < 32; i++)
            sign |= (x >> i & 1) << (31 - i);
        return integer(sign);
    case ZS_OP_CBIT:
        for (unsigned i = 0; i < 32; i++)
            n += x >> i & 1;
        return integer(n);
    case ZS_OP_FBL:
        if (x == 0)
            return integer(UINT32_MAX);
        while (!(x >> n & 1))
            n++;
        return integer(n);
    case ZS_OP_FBH:
        sign = type_signed(inst->src[0].type) ? x >> 31 : 0;
        if (x == (sign ? UINT32_MAX : 0))
            return integer(UINT32_MAX);
        while ((x >> (31 - n) & 1) == sign)
            n++;
        return integer(n);
    default: /* lzd */
        while (n < 32 && !(x >> (31 - n) & 1))
            n++;
        return integer(n);
    }
}

static struct value divide(const struct zs_isa_inst *inst, wide a, wide b)
{
    bool remainder = inst->subfunction == ZS_MATH_IREM;

    if (b == 0)
        return integer(!type_signed(inst->src[0].type) ? (wide)UINT32_MAX
                       : a < 0                         ? (wide)INT32_MIN
                                                       : (wide)INT32_MAX);
    return integer(remainder ? a % b : a / b);
}

/* The carry, and the high half of a product, use the accumulator lane of the channel. */
static struct value carry(struct ref_state *s, const struct zs_isa_inst *inst, wide a, wide b,
                          unsigned channel, bool active)
{
    wide result, acc;

    if (inst->op == ZS_OP_MACH || inst->op == ZS_OP_MACL) {
        uint64_t product = (uint64_t)a * (uint64_t)(b >> 16);
        acc = (int64_t)((uint64_t)s->acc[channel] + (product << 16));
        result = (uint32_t)((uint64_t)acc >> (inst->op == ZS_OP_MACH ? 32 : 0));
        active = active && inst->op == ZS_OP_MACH; /* acc stays */
        if (inst->dst.type == ZS_TYPE_D)
            result = (int32_t)(uint32_t)result;
    } else if (inst->op == ZS_OP_ADDC) {
        result = a + b;
        acc = result >> 32;
    } else {
        result = a - b;
        acc = result < 0;
    }
    if (active)
        s->acc[channel] = (int64_t)acc;
    return integer((wide)(uint32_t)result);
}

static wide rotate(const struct zs_isa_inst *inst, wide a, wide count)
{
    unsigned bits = type_size(inst->src[0].type) * 8, n = (unsigned)(count & (bits - 1));
    wide value = low_bits(a, bits);

    n = inst->op == ZS_OP_ROL ? n : (bits - n) % bits;
    return low_bits(value << n, bits) | value >> (bits - n);
}

/* Bit s0 + 2 * s1 + 4 * s2 of the function is the result's. */
static wide boolean(const struct zs_isa_inst *inst, const struct value *v)
{
    wide result = 0;

    for (unsigned bit = 0; bit < 32; bit++) {
        unsigned index = 0;
        for (unsigned i = 0; i < 3; i++)
            index |= (unsigned)(v[i].i >> bit & 1) << i;
        result |= (wide)(inst->subfunction >> index & 1) << bit;
    }
    return result;
}

/* The products of four bytes. */
static wide dot(const struct zs_isa_inst *inst, wide a, wide b)
{
    wide sum = 0;

    for (unsigned i = 0; i < 4; i++) {
        wide x = a >> 8 * i & 255, y = b >> 8 * i & 255;
        if (type_signed(inst->src[1].type) && x > 127)
            x -= 256;
        if (type_signed(inst->src[2].type) && y > 127)
            y -= 256;
        sum += x * y;
    }
    return sum;
}

static struct value compute_integer(struct ref_state *s, const struct zs_isa_inst *inst,
                                    const struct value *v, unsigned channel, bool active)
{
    wide a = v[0].i, b = v[1].i;

    switch (inst->op) {
    case ZS_OP_ADD:
        return integer(a + b);
    case ZS_OP_MUL:
        return integer(multiply(inst, a, b));
    case ZS_OP_MAD:
        return integer(a + b * v[2].i);
    case ZS_OP_ADD3:
        return integer(a + b + v[2].i);
    case ZS_OP_DP4A:
        return integer(a + dot(inst, b, v[2].i));
    case ZS_OP_ROL:
    case ZS_OP_ROR:
        return integer(rotate(inst, a, b));
    case ZS_OP_BFN:
        return integer(boolean(inst, v));
    case ZS_OP_AVG:
        return integer((a + b + 1) >> 1);
    case ZS_OP_AND:
        return bitwise(inst, a & b);
    case ZS_OP_OR:
        return bitwise(inst, a | b);
    case ZS_OP_XOR:
        return bitwise(inst, a ^ b);
    case ZS_OP_NOT:
        return bitwise(inst, ~a);
    case ZS_OP_SHL:
    case ZS_OP_SHR:
    case ZS_OP_ASR:
        return shift(inst, a, b);
    case ZS_OP_BFE:
    case ZS_OP_BFI1:
    case ZS_OP_BFI2:
        return bit_field(inst, v);
    case ZS_OP_MATH:
        return divide(inst, a, b);
    case ZS_OP_ADDC:
    case ZS_OP_SUBB:
    case ZS_OP_MACH:
    case ZS_OP_MACL:
        return carry(s, inst, a, b, channel, active);
    default:
        return count_bits(inst, (uint32_t)a);
    }
}

static double compute_double(const struct zs_isa_inst *inst, double a, double b, double c)
{
    volatile double x = a, y = b, z = c, r;

    switch (inst->op) {
    case ZS_OP_ADD:
        r = x + y;
        break;
    case ZS_OP_MUL:
        r = x * y;
        break;
    default:
        assert(inst->op == ZS_OP_MAD);
        r = fma(y, z, x);
    }
    return r;
}

static double compute_single(const struct zs_isa_inst *inst, float a, float b, float c)
{
    volatile float x = a, y = b, z = c, r;

    switch (inst->op) {
    case ZS_OP_ADD:
        r = x + y;
        break;
    case ZS_OP_MUL:
        r = x * y;
        break;
    case ZS_OP_MAD:
        r = fmaf(y, z, x);
        break;
    case ZS_OP_RNDU:
        r = ceilf(x);
        break;
    case ZS_OP_RNDD:
        r = floorf(x);
        break;
    case ZS_OP_RNDZ:
        r = truncf(x);
        break;
    case ZS_OP_RNDE:
        fesetround(FE_TONEAREST);
        r = nearbyintf(x);
        break;
    case ZS_OP_FRC:
        r = x - floorf(x);
        break;
    default:
        assert(inst->op == ZS_OP_MATH);
        r = inst->subfunction == ZS_MATH_INV   ? 1.0f / x
            : inst->subfunction == ZS_MATH_SQT ? sqrtf(x)
                                               : x / y;
    }
    return (double)r;
}

/* Each step is rounded and flushed. */
static struct value interpolate(const struct ref_state *s, const struct value *v)
{
    struct value step[4] = {
        {.type = ZS_TYPE_F}, {.type = ZS_TYPE_F}, {.type = ZS_TYPE_F}, {.type = ZS_TYPE_F}};
    struct zs_isa_inst mul = {.op = ZS_OP_MUL}, add = {.op = ZS_OP_ADD};

    set_rounding(rounding(s));
    step[0].d = compute_single(&mul, (float)v[0].d, (float)v[1].d, 0);
    step[1].d = compute_single(&add, 1.0f, -(float)v[0].d, 0);
    step[1] = flush(s, step[1]);
    step[2].d = compute_single(&mul, (float)step[1].d, (float)v[2].d, 0);
    step[0] = flush(s, step[0]);
    step[2] = flush(s, step[2]);
    step[3].d = compute_single(&add, (float)step[0].d, (float)step[2].d, 0);
    set_rounding(0);
    return flush(s, step[3]);
}

static struct value compute_float(const struct ref_state *s, const struct zs_isa_inst *inst,
                                  const struct value *in, unsigned type)
{
    struct value v[3], r = {.type = type};
    double exact;

    for (unsigned i = 0; i < 3; i++) {
        v[i] = in[i];
        v[i].type = v[i].type == ZS_TYPE_Q ? type : v[i].type;
        v[i] = flush(s, v[i]);
    }
    if (inst->op == ZS_OP_MAD && inst->dst.type == ZS_TYPE_HF) {
        /* long double holds the sum of any half and any product of halves exactly */
        volatile long double product = (long double)v[1].d * (long double)v[2].d;
        set_rounding(rounding(s)); /* for the sign of zero */
        volatile long double sum = (long double)v[0].d + product;
        set_rounding(0);
        exact = (double)sum;
        if ((long double)exact != sum) { /* to odd */
            if (fabsl((long double)exact) > fabsl(sum))
                exact = nextafter(exact, 0);
            uint64_t bits;
            memcpy(&bits, &exact, 8);
            bits |= 1;
            memcpy(&exact, &bits, 8);
        }
        r.d = exact;
        return r;
    }
    if (inst->op == ZS_OP_LRP)
        return interpolate(s, v);
    set_rounding(rounding(s));
    r.d = type == ZS_TYPE_DF ? compute_double(inst, v[0].d, v[1].d, v[2].d)
                             : compute_single(inst, (float)v[0].d, (float)v[1].d, (float)v[2].d);
    set_rounding(0);
    return flush(s, r);
}

/* DF, F or 0 for integers. Halves are computed as F. */
static unsigned execution_type(const struct zs_isa_inst *inst)
{
    unsigned type = 0;

    for (unsigned i = 0; i < inst->source_count; i++) {
        if (inst->src[i].type == ZS_TYPE_DF)
            return ZS_TYPE_DF;
        if (type_float(inst->src[i].type))
            type = ZS_TYPE_F;
    }
    return type;
}

/* sel and csel pass one of their sources on. */
static struct value choose(const struct ref_state *s, const struct zs_isa_inst *inst,
                           const struct value *v, unsigned channel)
{
    struct value zero = {.type = v[2].type};

    if (inst->op == ZS_OP_CSEL)
        return compare(inst->cond, flush(s, v[2]), zero) ? v[0] : v[1];
    if (!inst->cond)
        return predicate(s, inst, channel) ? v[0] : v[1];
    if (inst->cond == ZS_COND_LT || inst->cond == ZS_COND_GE) {
        if (is_float(v[1]) && isnan(v[1].d))
            return v[0];
    }
    return compare(inst->cond, flush(s, v[0]), flush(s, v[1])) ? v[0] : v[1];
}

struct lane_result {
    bool active, has_flag, flag;
    struct value value;
    uint64_t bits;
};

/* Moves of the same type without modifiers are moves of bits. */
static bool moves_bits(const struct zs_isa_inst *inst)
{
    const struct zs_isa_operand *op = &inst->src[0];
    unsigned type = op->type == ZS_TYPE_VF ? ZS_TYPE_F : op->type;

    return (inst->op == ZS_OP_MOV || inst->op == ZS_OP_SMOV) && type == inst->dst.type &&
           !has_modifier(op, ZS_MOD_NEG) && !has_modifier(op, ZS_MOD_ABS) &&
           !has_modifier(&inst->dst, ZS_MOD_SAT);
}

/* What was stored, compared with zero. */
static bool result_flag(const struct ref_state *s, const struct zs_isa_inst *inst, uint64_t bits)
{
    unsigned size = type_size(inst->dst.type);
    uint64_t raw = size == 8 ? bits : bits & ((UINT64_C(1) << 8 * size) - 1);
    struct value stored = make_value(raw, inst->dst.type), zero = {.type = stored.type};

    return compare(inst->cond, flush(s, stored), zero);
}

static bool compares(const struct zs_isa_inst *inst)
{
    return inst->op == ZS_OP_CMP || inst->op == ZS_OP_CMPN;
}

/* A comparison stores all ones or zeros, whatever the type. */
static void finish(const struct ref_state *s, const struct zs_isa_inst *inst,
                   struct lane_result *lane, const struct value *v)
{
    bool chooses = inst->op == ZS_OP_SEL || inst->op == ZS_OP_CSEL;

    lane->has_flag = inst->cond && !chooses;
    if (compares(inst)) {
        lane->flag = compare(inst->cond, flush(s, v[0]), flush(s, v[1])) ||
                     (inst->op == ZS_OP_CMPN && is_float(v[1]) && isnan(v[1].d));
        lane->bits = lane->flag ? UINT64_MAX : 0;
        return;
    }
    lane->bits =
        moves_bits(inst) && inst->src[0].kind != ZS_OPERAND_IMM
            ? lane->value.raw
            : convert(s, lane->value, inst->dst.type, has_modifier(&inst->dst, ZS_MOD_SAT));
    if (lane->has_flag)
        lane->flag = result_flag(s, inst, lane->bits);
}

/* AccWrEn: the result before it is clamped. */
static void write_accumulator(struct ref_state *s, struct value value, unsigned channel)
{
    if (!is_float(value))
        s->acc[channel] = (int64_t)value.i;
}

static struct lane_result execute_channel(struct ref_state *s, const struct zs_isa_inst *inst,
                                          unsigned channel)
{
    struct lane_result lane = {.active = enabled(s, inst, channel)};
    struct value v[3] = {{.type = ZS_TYPE_Q}, {.type = ZS_TYPE_Q}, {.type = ZS_TYPE_Q}};
    unsigned type = execution_type(inst);

    if (inst->op != ZS_OP_SEL)
        lane.active = lane.active && predicate(s, inst, channel);
    for (unsigned i = 0; i < inst->source_count; i++)
        v[i] = source(s, inst, i, channel);
    if (inst->op == ZS_OP_SMOV)
        lane.active = lane.active && (inst->src[1].imm >> channel & 1);
    if (type) /* integers and halves among floats */
        for (unsigned i = 0; i < 3; i++)
            if (!is_float(v[i]) && inst->op != ZS_OP_MOV)
                v[i].type = type;
    if (inst->op == ZS_OP_MOV || inst->op == ZS_OP_SMOV || compares(inst))
        lane.value = v[0];
    else if (inst->op == ZS_OP_SEL || inst->op == ZS_OP_CSEL)
        lane.value = choose(s, inst, v, channel);
    else if (inst->op == ZS_OP_BFREV && type)
        lane.value = count_bits(inst, (uint32_t)float_to_integer(s, v[0].d, ZS_TYPE_UD));
    else if (type)
        lane.value = compute_float(s, inst, v, type);
    else
        lane.value = compute_integer(s, inst, v, channel, lane.active);
    finish(s, inst, &lane, v);
    return lane;
}

void ref_execute(struct ref_state *state, const struct zs_isa_inst *inst)
{
    struct lane_result lanes[32];

    for (unsigned c = 0; c < inst->exec_size; c++)
        lanes[c] = execute_channel(state, inst, c);
    for (unsigned c = 0; c < inst->exec_size; c++) {
        uint32_t bit = 1u << ((flag_base(inst) + c) & 31);
        if (!lanes[c].active)
            continue;
        write_bytes(state, inst, c, lanes[c].bits);
        if (has_flag(inst, ZS_INST_ACCWREN) && (inst->op == ZS_OP_ADD || inst->op == ZS_OP_SEL))
            write_accumulator(state, lanes[c].value, c);
        if (lanes[c].has_flag)
            state->flag[inst->flag_reg] =
                (state->flag[inst->flag_reg] & ~bit) | (lanes[c].flag ? bit : 0);
    }
}
