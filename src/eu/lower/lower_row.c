/* SPDX-License-Identifier: MIT */
/* Types, the rows that work on them, and conversions between them. */
#include "eu/exec/scalars.h"
#include "eu/lower/lower_operand.h"

/* ---- rows and their types ---- */

const struct zs_eu_row_info zs_eu_row_infos[ZS_EU_ROW_COUNT] = {
#define ZS_EU_UN(id, td, ta, mode, expr)                                                           \
    [ZS_EU_ROW_##id] = {ZS_EU_FORM_PLAIN, ZS_EU_MODE_##mode, sizeof(td), {sizeof(ta)}},
#define ZS_EU_BIN(id, td, ta, tb, mode, expr)                                                      \
    [ZS_EU_ROW_##id] = {ZS_EU_FORM_PLAIN, ZS_EU_MODE_##mode, sizeof(td), {sizeof(ta), sizeof(tb)}},
#define ZS_EU_TER(id, td, ta, tb, tc, mode, expr)                                                  \
    [ZS_EU_ROW_##id] = {                                                                           \
        ZS_EU_FORM_PLAIN, ZS_EU_MODE_##mode, sizeof(td), {sizeof(ta), sizeof(tb), sizeof(tc)}},
#define ZS_EU_CMP(id, ta, mode, expr)                                                              \
    [ZS_EU_ROW_##id] = {ZS_EU_FORM_CMP, ZS_EU_MODE_##mode, sizeof(ta), {sizeof(ta), sizeof(ta)}},
#define ZS_EU_SEL(id, ta)                                                                          \
    [ZS_EU_ROW_##id] = {ZS_EU_FORM_SEL, ZS_EU_MODE_PLAIN, sizeof(ta), {sizeof(ta), sizeof(ta)}},
#include "eu/exec/sem.def"
};

unsigned zs_eu_type_B(unsigned type)
{
    static const uint8_t sizes_B[ZS_TYPE_COUNT] = {
        [ZS_TYPE_UB] = 1, [ZS_TYPE_B] = 1,  [ZS_TYPE_UW] = 2,   [ZS_TYPE_W] = 2,   [ZS_TYPE_UD] = 4,
        [ZS_TYPE_D] = 4,  [ZS_TYPE_UQ] = 8, [ZS_TYPE_Q] = 8,    [ZS_TYPE_HF] = 2,  [ZS_TYPE_F] = 4,
        [ZS_TYPE_DF] = 8, [ZS_TYPE_BF] = 2, [ZS_TYPE_TF32] = 4, [ZS_TYPE_BF8] = 1,
    };
    return type < ZS_TYPE_COUNT ? sizes_B[type] : 0;
}

unsigned zs_eu_type_log2(unsigned type)
{
    return (unsigned)__builtin_ctz(zs_eu_type_B(type) | 16);
}

bool zs_eu_type_is_float(unsigned type)
{
    return type == ZS_TYPE_F || type == ZS_TYPE_DF || type == ZS_TYPE_HF || type == ZS_TYPE_VF ||
           type == ZS_TYPE_BF || type == ZS_TYPE_TF32 || type == ZS_TYPE_BF8;
}

bool zs_eu_type_is_signed(unsigned type)
{
    return type == ZS_TYPE_D || type == ZS_TYPE_W || type == ZS_TYPE_B || type == ZS_TYPE_Q ||
           type == ZS_TYPE_V;
}

enum zs_eu_row zs_eu_move_row(unsigned type)
{
    static const enum zs_eu_row rows[4] = {ZS_EU_ROW_MOV_8, ZS_EU_ROW_MOV_16, ZS_EU_ROW_MOV_32,
                                           ZS_EU_ROW_MOV_64};
    return rows[zs_eu_type_log2(type) & 3];
}

enum zs_eu_row zs_eu_cmp_row(unsigned cond, unsigned type)
{
#define ROWS(eq, t)                                                                                \
    {                                                                                              \
        [0] = ZS_EU_ROW_NONE, [ZS_COND_EQ] = ZS_EU_ROW_CMP_EQ_##eq,                                \
        [ZS_COND_NE] = ZS_EU_ROW_CMP_NE_##eq, [ZS_COND_GT] = ZS_EU_ROW_CMP_GT_##t,                 \
        [ZS_COND_GE] = ZS_EU_ROW_CMP_GE_##t, [ZS_COND_LT] = ZS_EU_ROW_CMP_LT_##t,                  \
        [ZS_COND_LE] = ZS_EU_ROW_CMP_LE_##t, [7] = ZS_EU_ROW_NONE                                  \
    }
    static const enum zs_eu_row rows[][8] = {
        [ZS_TYPE_D] = ROWS(I32, S32), [ZS_TYPE_UD] = ROWS(I32, U32),
        [ZS_TYPE_Q] = ROWS(I64, S64), [ZS_TYPE_UQ] = ROWS(I64, U64),
        [ZS_TYPE_F] = ROWS(F32, F32), [ZS_TYPE_DF] = ROWS(F64, F64),
        [ZS_TYPE_HF] = {0},
    };
#undef ROWS
    if (cond == ZS_COND_UN)
        return type == ZS_TYPE_F    ? ZS_EU_ROW_CMP_UN_F32
               : type == ZS_TYPE_DF ? ZS_EU_ROW_CMP_UN_F64
                                    : ZS_EU_ROW_NONE;
    if (cond > 7 || type >= ZS_ARRAY_LEN(rows) || !rows[type][1])
        return ZS_EU_ROW_NONE;
    return rows[type][cond];
}

/* ---- rows ---- */

struct zs_eu_op *zs_eu_emit_row(struct zs_eu_lowering *l, enum zs_eu_row row, uint32_t dst,
                                const struct zs_eu_loc *src, unsigned count, bool masked)
{
    struct zs_eu_op *op = zs_eu_emit(l, row);

    op->cls = l->n == 1 ? ZS_EU_CLASS_N1 : 0;
    op->dst = dst;
    for (unsigned i = 0; i < count; i++) {
        op->src[i] = src[i].at;
        op->cls |= (uint8_t)((src[i].scalar ? ZS_EU_CLASS_SCALAR0 : 0) << i);
    }
    if (masked)
        zs_eu_mask(l, op);
    return op;
}

struct zs_eu_loc zs_eu_apply(struct zs_eu_lowering *l, enum zs_eu_row row,
                             const struct zs_eu_loc *src, unsigned count)
{
    struct zs_eu_loc ret = {zs_eu_temp(l), l->n == 1};

    zs_eu_emit_row(l, row, ret.at, src, count, false);
    return ret;
}

/* One row, for all channels, into a new temporary. */
struct zs_eu_loc zs_eu_to_temp(struct zs_eu_lowering *l, enum zs_eu_row row, struct zs_eu_loc in)
{
    uint32_t at = zs_eu_temp(l);
    unsigned n = l->n, chunks = l->chunks;

    if (in.scalar) /* convert the one element, not all channels */
        l->n = l->chunks = 1;
    zs_eu_emit_row(l, row, at, &in, 1, false);
    l->n = n;
    l->chunks = chunks;
    return (struct zs_eu_loc){at, in.scalar};
}

/* ---- conversions ---- */

static void step(struct zs_eu_plan *plan, enum zs_eu_row row)
{
    plan->rows[plan->count++] = row;
}

static void plan_integers(struct zs_eu_plan *plan, unsigned from, unsigned to)
{
    unsigned a = zs_eu_type_B(from), b = zs_eu_type_B(to);
    bool s = zs_eu_type_is_signed(from);

    if (a == 1 && b == 2)
        step(plan, s ? ZS_EU_ROW_S8_S16 : ZS_EU_ROW_U8_U16);
    if (a == 1 && b >= 4)
        step(plan, s ? ZS_EU_ROW_S8_S32 : ZS_EU_ROW_U8_U32);
    if (a == 2 && b == 4)
        step(plan, s ? ZS_EU_ROW_S16_S32 : ZS_EU_ROW_U16_U32);
    if (a == 2 && b == 8)
        step(plan, s ? ZS_EU_ROW_S16_S64 : ZS_EU_ROW_U16_U64);
    if ((a == 1 || a == 4) && b == 8)
        step(plan, s ? ZS_EU_ROW_S32_S64 : ZS_EU_ROW_U32_U64);
    if (a == 8 && b == 4)
        step(plan, ZS_EU_ROW_I64_32);
    if (a == 8 && b <= 2)
        step(plan, ZS_EU_ROW_I64_16);
    if (a == 4 && b == 2)
        step(plan, ZS_EU_ROW_I32_16);
    if (a == 4 && b == 1)
        step(plan, ZS_EU_ROW_I32_8);
    if ((a == 8 || a == 2) && b == 1)
        step(plan, ZS_EU_ROW_I16_8);
}

static void plan_clamp_from_d(struct zs_eu_plan *plan, unsigned to)
{
    static const enum zs_eu_row rows[] = {
        [ZS_TYPE_W] = ZS_EU_ROW_CLAMP_S32_S16,
        [ZS_TYPE_UW] = ZS_EU_ROW_CLAMP_S32_U16,
        [ZS_TYPE_B] = ZS_EU_ROW_CLAMP_S32_S8,
        [ZS_TYPE_UB] = ZS_EU_ROW_CLAMP_S32_U8,
    };
    if (to != ZS_TYPE_D)
        step(plan, rows[to]);
}

/* Clamp to the range of `to`: through q, which holds every value but those of uq. */
static void plan_clamp(struct zs_eu_plan *plan, unsigned from, unsigned to)
{
    if (from == to)
        return;
    if (zs_eu_type_B(to) <= 2 && (zs_eu_type_B(from) <= 2 || from == ZS_TYPE_D)) {
        plan_integers(plan, from, ZS_TYPE_D);
        plan_clamp_from_d(plan, to);
        return;
    }
    if (from == ZS_TYPE_UQ)
        step(plan, ZS_EU_ROW_CLAMP_U64_S64);
    else
        plan_integers(plan, from, ZS_TYPE_Q);
    if (to == ZS_TYPE_UQ)
        step(plan, ZS_EU_ROW_CLAMP_S64_U64);
    else if (to == ZS_TYPE_UD)
        step(plan, ZS_EU_ROW_CLAMP_S64_U32);
    else if (to != ZS_TYPE_Q) {
        step(plan, ZS_EU_ROW_CLAMP_S64_S32);
        plan_clamp_from_d(plan, to);
    }
}

static void plan_from_float(struct zs_eu_plan *plan, unsigned from, unsigned to)
{
    static const enum zs_eu_row rows[2][4] = {
        {ZS_EU_ROW_F32_S32, ZS_EU_ROW_F32_U32, ZS_EU_ROW_F32_S64, ZS_EU_ROW_F32_U64},
        {ZS_EU_ROW_F64_S32, ZS_EU_ROW_F64_U32, ZS_EU_ROW_F64_S64, ZS_EU_ROW_F64_U64},
    };
    const enum zs_eu_row *row = rows[from == ZS_TYPE_DF];

    if (to == ZS_TYPE_UD)
        step(plan, row[1]);
    else if (to == ZS_TYPE_Q)
        step(plan, row[2]);
    else if (to == ZS_TYPE_UQ)
        step(plan, row[3]);
    else {
        step(plan, row[0]);
        plan_clamp_from_d(plan, to);
    }
}

static void plan_to_float(struct zs_eu_plan *plan, unsigned from, unsigned to)
{
    static const enum zs_eu_row rows[2][4] = {
        {ZS_EU_ROW_S32_F32, ZS_EU_ROW_U32_F32, ZS_EU_ROW_S64_F32, ZS_EU_ROW_U64_F32},
        {ZS_EU_ROW_S32_F64, ZS_EU_ROW_U32_F64, ZS_EU_ROW_S64_F64, ZS_EU_ROW_U64_F64},
    };
    const enum zs_eu_row *row = rows[to == ZS_TYPE_DF];

    if (zs_eu_type_B(from) <= 2) {
        plan_integers(plan, from, ZS_TYPE_D);
        from = ZS_TYPE_D;
    }
    step(plan, row[from == ZS_TYPE_D ? 0 : from == ZS_TYPE_UD ? 1 : from == ZS_TYPE_Q ? 2 : 3]);
}

/* Small floats: rows from and to single. */
static const struct {
    enum zs_eu_row up, down;
    bool is_small;
} small_floats[ZS_TYPE_COUNT] = {
    [ZS_TYPE_HF] = {ZS_EU_ROW_F16_F32, ZS_EU_ROW_F32_F16, true},
    [ZS_TYPE_BF] = {ZS_EU_ROW_BF16_F32, ZS_EU_ROW_F32_BF16, true},
    [ZS_TYPE_TF32] = {ZS_EU_ROW_TF32_F32, ZS_EU_ROW_F32_TF32, true},
};

/* They go through single: exact up, and down from integers whatever is not exact overflows. */
void zs_eu_plan_convert(struct zs_eu_plan *plan, unsigned from, unsigned to, bool clamp)
{
    if (from == to)
        return;
    if (from == ZS_TYPE_BF8 || to == ZS_TYPE_BF8) { /* the other one is a half */
        step(plan, to == ZS_TYPE_BF8 ? ZS_EU_ROW_F16_BF8 : ZS_EU_ROW_BF8_F16);
        return;
    }
    if (small_floats[from].is_small) {
        step(plan, small_floats[from].up);
        from = ZS_TYPE_F;
    }
    if (from == to)
        return;
    if (small_floats[to].is_small && !(from == ZS_TYPE_DF && to == ZS_TYPE_HF)) {
        zs_eu_plan_convert(plan, from, ZS_TYPE_F, clamp);
        step(plan, small_floats[to].down);
        return;
    }
    if (zs_eu_type_is_float(from)) {
        if (!zs_eu_type_is_float(to))
            plan_from_float(plan, from, to);
        else if (to == ZS_TYPE_HF)
            step(plan, ZS_EU_ROW_F64_F16);
        else
            step(plan, to == ZS_TYPE_DF ? ZS_EU_ROW_F32_F64 : ZS_EU_ROW_F64_F32);
    } else if (zs_eu_type_is_float(to)) {
        plan_to_float(plan, from, to);
    } else if (clamp) {
        plan_clamp(plan, from, to);
    } else {
        plan_integers(plan, from, to);
    }
}

struct zs_eu_loc zs_eu_convert(struct zs_eu_lowering *l, struct zs_eu_loc loc, unsigned from,
                               unsigned to, bool clamp)
{
    struct zs_eu_plan plan = {.count = 0};

    zs_eu_plan_convert(&plan, from, to, clamp);
    for (unsigned i = 0; i < plan.count; i++)
        loc = zs_eu_to_temp(l, plan.rows[i], loc);
    return loc;
}
