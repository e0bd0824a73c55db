/* SPDX-License-Identifier: MIT */
/* C's arithmetic of expressions: conversions, and operators of two numbers. */
#include "debugger/debugger_priv.h"

/* C's conversion; what does not fit into an integer is cut off. */
struct zs_dbg_number zs_dbg_convert(struct zs_dbg_number n, const struct zs_dbg_plain *to)
{
    struct zs_dbg_number out = {.kind = to->kind};
    double f = n.kind == ZS_DBG_FLOAT ? n.f : n.kind == ZS_DBG_SIGNED ? (double)n.i : (double)n.u;
    if (to->kind == ZS_DBG_FLOAT) {
        out.f = to->size_B == 4 ? (double)(float)f : f;
        return out;
    }
    out.u = n.u;
    if (n.kind == ZS_DBG_FLOAT) /* as far as C says what comes of it; else 0 */
        out.u = !(f > -9.3e18 && f < 1.84e19) ? 0
                : f < 0                       ? (uint64_t)(int64_t)ZS_MAX(f, -9.2e18)
                                              : (uint64_t)f;
    uint32_t spare = 64 - to->size_B * 8;
    out.u <<= spare;
    out.u = to->kind == ZS_DBG_SIGNED ? (uint64_t)((int64_t)out.u >> spare) : out.u >> spare;
    return out;
}

const struct zs_dbg_plain *zs_dbg_number_type(enum zs_dbg_scalar kind, bool wide)
{
    static const struct zs_dbg_plain types[][2] = {
        [ZS_DBG_SIGNED] = {{"int", 4, ZS_DBG_SIGNED}, {"long", 8, ZS_DBG_SIGNED}},
        [ZS_DBG_UNSIGNED] = {{"uint", 4, ZS_DBG_UNSIGNED}, {"ulong", 8, ZS_DBG_UNSIGNED}},
        [ZS_DBG_FLOAT] = {{"float", 4, ZS_DBG_FLOAT}, {"double", 8, ZS_DBG_FLOAT}},
    };
    return &types[kind][wide];
}

/* What an operand becomes: small integers are ints. */
const struct zs_dbg_plain *zs_dbg_promoted(const struct zs_dbg_value *v,
                                           const struct zs_dbg_number *n)
{
    bool is_small = n->kind != ZS_DBG_FLOAT && v->shown.size_B < 4;
    return zs_dbg_number_type(is_small ? ZS_DBG_SIGNED : n->kind, v->shown.size_B > 4);
}

const struct zs_dbg_plain *zs_dbg_common_type(const struct zs_dbg_plain *a,
                                              const struct zs_dbg_plain *b)
{
    if ((a->kind == ZS_DBG_FLOAT) != (b->kind == ZS_DBG_FLOAT))
        return a->kind == ZS_DBG_FLOAT ? a : b;
    if (a->size_B != b->size_B)
        return a->size_B > b->size_B ? a : b;
    return a->kind == ZS_DBG_UNSIGNED ? a : b;
}

static bool float_binary(enum zs_dbg_binary op, double a, double b, struct zs_dbg_number *ret)
{
    ret->kind = ZS_DBG_SIGNED;
    switch (op) {
    case ZS_DBG_OR:
        ret->i = a != 0.0 || b != 0.0;
        return true;
    case ZS_DBG_AND:
        ret->i = a != 0.0 && b != 0.0;
        return true;
    case ZS_DBG_EQ:
        ret->i = a == b;
        return true;
    case ZS_DBG_NE:
        ret->i = a != b;
        return true;
    case ZS_DBG_LE:
        ret->i = a <= b;
        return true;
    case ZS_DBG_GE:
        ret->i = a >= b;
        return true;
    case ZS_DBG_LT:
        ret->i = a < b;
        return true;
    case ZS_DBG_GT:
        ret->i = a > b;
        return true;
    default:
        break;
    }
    ret->kind = ZS_DBG_FLOAT;
    ret->f = op == ZS_DBG_ADD ? a + b : op == ZS_DBG_SUB ? a - b : op == ZS_DBG_MUL ? a * b : a / b;
    return op == ZS_DBG_ADD || op == ZS_DBG_SUB || op == ZS_DBG_MUL || op == ZS_DBG_DIV;
}

static bool int_binary(enum zs_dbg_binary op, bool is_signed, uint64_t a, uint64_t b,
                       struct zs_dbg_number *ret)
{
    bool less = is_signed ? (int64_t)a < (int64_t)b : a < b;
    ret->kind = is_signed ? ZS_DBG_SIGNED : ZS_DBG_UNSIGNED;
    bool divides = op == ZS_DBG_DIV || op == ZS_DBG_MOD;
    if (divides && (!b || (is_signed && b == UINT64_MAX && a == (uint64_t)INT64_MIN)))
        return false;
    switch (op) {
    case ZS_DBG_OR:
        ret->u = a || b;
        break;
    case ZS_DBG_AND:
        ret->u = a && b;
        break;
    case ZS_DBG_BOR:
        ret->u = a | b;
        break;
    case ZS_DBG_XOR:
        ret->u = a ^ b;
        break;
    case ZS_DBG_BAND:
        ret->u = a & b;
        break;
    case ZS_DBG_EQ:
        ret->u = a == b;
        break;
    case ZS_DBG_NE:
        ret->u = a != b;
        break;
    case ZS_DBG_LE:
        ret->u = less || a == b;
        break;
    case ZS_DBG_GE:
        ret->u = !less;
        break;
    case ZS_DBG_LT:
        ret->u = less;
        break;
    case ZS_DBG_GT:
        ret->u = !less && a != b;
        break;
    case ZS_DBG_SHL:
        ret->u = b < 64 ? a << b : 0;
        break;
    case ZS_DBG_SHR:
        ret->u = is_signed ? (uint64_t)((int64_t)a >> (b < 64 ? b : 63)) : b < 64 ? a >> b : 0;
        break;
    case ZS_DBG_ADD:
        ret->u = a + b;
        break;
    case ZS_DBG_SUB:
        ret->u = a - b;
        break;
    case ZS_DBG_MUL:
        ret->u = a * b;
        break;
    case ZS_DBG_DIV:
        ret->u = is_signed ? (uint64_t)((int64_t)a / (int64_t)b) : a / b;
        break;
    case ZS_DBG_MOD:
        ret->u = is_signed ? (uint64_t)((int64_t)a % (int64_t)b) : a % b;
        break;
    case ZS_DBG_REPEAT:
        return false;
    }
    return true;
}

bool zs_dbg_compute(enum zs_dbg_binary op, const struct zs_dbg_plain *type, struct zs_dbg_number a,
                    struct zs_dbg_number b, struct zs_dbg_number *ret)
{
    *ret = (struct zs_dbg_number){.kind = ZS_DBG_SIGNED};
    if (type->kind == ZS_DBG_FLOAT)
        return float_binary(op, a.f, b.f, ret);
    return b.kind != ZS_DBG_FLOAT && int_binary(op, type->kind == ZS_DBG_SIGNED, a.u, b.u, ret);
}
