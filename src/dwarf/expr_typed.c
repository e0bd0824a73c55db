/* SPDX-License-Identifier: MIT */
/*
 * Values of DWARF expressions, of base types and of the generic one: operators, conversions
 * (DWARF 5, 2.5.1.4 to 2.5.1.7). What C leaves open is fixed: integers wrap, shifts by the width
 * or more give 0 or the sign, floats become the nearest integer of the type towards zero that
 * there is, NaN becomes 0.
 */
#include "dwarf/expr_priv.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static bool is_float(const struct zs_sym *s)
{
    return s->size_B && s->encoding == ZS_ENCODING_FLOAT;
}

static bool is_signed(const struct zs_sym *s)
{
    return !s->size_B || s->encoding == ZS_ENCODING_SIGNED ||
           s->encoding == ZS_ENCODING_SIGNED_CHAR;
}

static uint32_t bits_of(const struct zs_sym *s)
{
    return s->size_B ? s->size_B * 8u : 64;
}

struct zs_sym zs_typed_make(uint64_t bits, uint8_t encoding, uint8_t size_B)
{
    struct zs_sym s = {.encoding = size_B ? encoding : 0, .size_B = size_B};
    uint32_t unused = 64 - bits_of(&s);
    s.value =
        is_signed(&s) ? (uint64_t)((int64_t)(bits << unused) >> unused) : bits << unused >> unused;
    return s;
}

static double to_double(const struct zs_sym *s)
{
    double d;
    float f;
    uint32_t low = (uint32_t)s->value;
    if (!is_float(s))
        return is_signed(s) ? (double)(int64_t)s->value : (double)s->value;
    if (s->size_B == 8) {
        memcpy(&d, &s->value, sizeof(d));
        return d;
    }
    memcpy(&f, &low, sizeof(f));
    return (double)f;
}

static struct zs_sym from_double(double d, uint8_t size_B)
{
    uint64_t bits;
    uint32_t low;
    float f = (float)d;
    memcpy(&bits, &d, sizeof(bits));
    memcpy(&low, &f, sizeof(low));
    return zs_typed_make(size_B == 4 ? low : bits, ZS_ENCODING_FLOAT, size_B);
}

/* The integer of that type; the generic type is taken as signed. */
static struct zs_sym to_integer(double d, uint8_t encoding, uint8_t size_B)
{
    struct zs_sym s = zs_typed_make(0, encoding, size_B);
    uint32_t bits = bits_of(&s);
    if (isnan(d))
        return s;
    if (is_signed(&s)) {
        double end = ldexp(1, (int)bits - 1);
        int64_t least = (int64_t)(UINT64_C(1) << 63) >> (64 - bits);
        s.value = d >= end ? (uint64_t)~least : d <= -end ? (uint64_t)least : (uint64_t)(int64_t)d;
    } else {
        s.value = d >= ldexp(1, (int)bits) ? UINT64_MAX >> (64 - bits) : d <= 0 ? 0 : (uint64_t)d;
    }
    return s;
}

struct zs_sym zs_typed_convert(const struct zs_sym *value, uint8_t encoding, uint8_t size_B)
{
    bool to_float = size_B && encoding == ZS_ENCODING_FLOAT;
    if (to_float && is_float(value) && size_B == value->size_B)
        return *value;
    if (to_float && !is_float(value) && size_B == 4) { /* rounded once */
        float f = is_signed(value) ? (float)(int64_t)value->value : (float)value->value;
        return from_double((double)f, 4);
    }
    if (to_float)
        return from_double(to_double(value), size_B);
    if (is_float(value))
        return to_integer(to_double(value), encoding, size_B);
    return zs_typed_make(value->value, encoding, size_B);
}

static int refuse(struct zs_reader *r, const struct zs_dw_op *op, const struct zs_sym *s)
{
    return zs_reader_fail(r, -EINVAL, "DW_OP_%s of a value of encoding %u and %u bytes", op->name,
                          s->encoding, s->size_B);
}

static struct zs_sym generic(bool value)
{
    return (struct zs_sym){.value = value};
}

static int float_binary(struct zs_reader *r, const struct zs_dw_op *op, const struct zs_sym *left,
                        const struct zs_sym *right, struct zs_sym *ret)
{
    double a = to_double(left), b = to_double(right);
    bool single = left->size_B == 4;
    double v;
    switch (op->value) {
    case DW_OP_plus:
        v = single ? (double)((float)a + (float)b) : a + b;
        break;
    case DW_OP_minus:
        v = single ? (double)((float)a - (float)b) : a - b;
        break;
    case DW_OP_mul:
        v = single ? (double)((float)a * (float)b) : a * b;
        break;
    case DW_OP_div:
        v = single ? (double)((float)a / (float)b) : a / b;
        break;
    case DW_OP_eq:
        *ret = generic(a == b);
        return 0;
    case DW_OP_ne:
        *ret = generic(a != b);
        return 0;
    case DW_OP_ge:
        *ret = generic(a >= b);
        return 0;
    case DW_OP_gt:
        *ret = generic(a > b);
        return 0;
    case DW_OP_le:
        *ret = generic(a <= b);
        return 0;
    case DW_OP_lt:
        *ret = generic(a < b);
        return 0;
    default:
        return refuse(r, op, left);
    }
    *ret = from_double(v, left->size_B);
    return 0;
}

static bool is_shift(uint8_t op)
{
    return op == DW_OP_shl || op == DW_OP_shr || op == DW_OP_shra;
}

static uint64_t shift(const struct zs_sym *left, uint8_t op, uint64_t count)
{
    uint32_t bits = bits_of(left);
    uint64_t plain = left->value & UINT64_MAX >> (64 - bits);
    int64_t extended = (int64_t)(left->value << (64 - bits)) >> (64 - bits);
    if (op == DW_OP_shra)
        return (uint64_t)(extended >> ZS_MIN(count, (uint64_t)63));
    if (count >= bits)
        return 0;
    return op == DW_OP_shl ? left->value << count : plain >> count;
}

static int compare(const struct zs_sym *left, const struct zs_sym *right)
{
    uint64_t a = left->value, b = right->value;
    if (is_signed(left))
        return (int64_t)a < (int64_t)b ? -1 : (int64_t)a > (int64_t)b;
    return a < b ? -1 : a > b;
}

static int divide(struct zs_reader *r, uint8_t op, const struct zs_sym *left,
                  const struct zs_sym *right, uint64_t *ret)
{
    uint64_t a = left->value, b = right->value;
    if (!b)
        return zs_reader_fail(r, -EINVAL, "division by zero");
    if (!is_signed(left) || (op == DW_OP_mod && !left->size_B)) /* mod of the generic type */
        *ret = op == DW_OP_div ? a / b : a % b;
    else if (b == UINT64_MAX) /* the least integer / -1 wraps */
        *ret = op == DW_OP_div ? 0 - a : 0;
    else
        *ret = (uint64_t)(op == DW_OP_div ? (int64_t)a / (int64_t)b : (int64_t)a % (int64_t)b);
    return 0;
}

static int integer_binary(struct zs_reader *r, const struct zs_dw_op *op, const struct zs_sym *left,
                          const struct zs_sym *right, struct zs_sym *ret)
{
    uint64_t a = left->value, b = right->value, v = 0;
    int order = compare(left, right), error = 0;
    switch (op->value) {
    case DW_OP_eq:
    case DW_OP_ne:
        *ret = generic((order == 0) == (op->value == DW_OP_eq));
        return 0;
    case DW_OP_ge:
    case DW_OP_lt:
        *ret = generic((order >= 0) == (op->value == DW_OP_ge));
        return 0;
    case DW_OP_gt:
    case DW_OP_le:
        *ret = generic((order > 0) == (op->value == DW_OP_gt));
        return 0;
    case DW_OP_plus:
        v = a + b;
        break;
    case DW_OP_minus:
        v = a - b;
        break;
    case DW_OP_mul:
        v = a * b;
        break;
    case DW_OP_div:
    case DW_OP_mod:
        error = divide(r, op->value, left, right, &v);
        break;
    case DW_OP_and:
        v = a & b;
        break;
    case DW_OP_or:
        v = a | b;
        break;
    case DW_OP_xor:
        v = a ^ b;
        break;
    default:
        v = shift(left, op->value, b);
    }
    *ret = zs_typed_make(v, left->encoding, left->size_B);
    return error;
}

int zs_typed_binary(struct zs_reader *r, const struct zs_dw_op *op, const struct zs_sym *left,
                    const struct zs_sym *right, struct zs_sym *ret)
{
    bool same = left->size_B == right->size_B && left->encoding == right->encoding;
    if (!same && !(is_shift(op->value) && !is_float(left) && !is_float(right)))
        return zs_reader_fail(r, -EINVAL, "DW_OP_%s of values of two types", op->name);
    return is_float(left) ? float_binary(r, op, left, right, ret)
                          : integer_binary(r, op, left, right, ret);
}

int zs_typed_unary(struct zs_reader *r, const struct zs_dw_op *op, const struct zs_sym *value,
                   struct zs_sym *ret)
{
    uint64_t sign = UINT64_C(1) << (bits_of(value) - 1), v = value->value;
    if (is_float(value) && op->value == DW_OP_not)
        return refuse(r, op, value);
    if (is_float(value))
        v = op->value == DW_OP_abs ? v & ~sign : v ^ sign;
    else if (op->value == DW_OP_not)
        v = ~v;
    else if (op->value == DW_OP_neg || (is_signed(value) && (int64_t)v < 0))
        v = 0 - v;
    *ret = zs_typed_make(v, value->encoding, value->size_B);
    return 0;
}
