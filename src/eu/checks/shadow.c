/* SPDX-License-Identifier: MIT */
/*
 * Definedness of registers, operation by operation (eu/checks/shadow.h).
 *
 * In a program that is lowered with ZS_EU_LOWER_DEFINED each operation that moves or computes
 * something has a handler of this file, which does to the thread's shadow what the operation is
 * about to do to the thread, and goes on with the operation's own handler. It works on the same
 * offsets, so that regions, conversions and masks need no thought here. Nearly always all sources
 * are defined: a look at their shadows, and zeros to the destination's. Otherwise it goes channel
 * by channel, by the rules of shadow.def.
 *
 * Channels that are off are not looked at, and keep what they have. Where a predicate is not
 * defined, its channel of the result is not, either, and nothing is told before something depends
 * on that.
 */
#include "eu/checks/shadow_priv.h"
#include "eu/lower/lower_operand.h"

#include <stdlib.h>

#define SHADOW(name)                                                                               \
    static const struct zs_eu_op *name(struct zs_eu_thread *t, const struct zs_eu_op *op)

/* ---- bits of the shadow ------------------------------------------------------------------------
 */

/* Of 1, 2, 4 or 8 bytes. */
static inline uint64_t get(const uint8_t *at, uint32_t size_B)
{
    uint64_t value = 0;
    if (size_B == 4)
        memcpy(&value, at, 4);
    else if (size_B == 8)
        memcpy(&value, at, 8);
    else
        memcpy(&value, at, size_B == 2 ? 2 : 1);
    return value;
}

static uint32_t word_of(const struct zs_eu_shadow *s, uint32_t offset_B)
{
    return (uint32_t)get(s->bits + offset_B, 4);
}

static void set_word(struct zs_eu_shadow *s, uint32_t offset_B, uint32_t bits)
{
    memcpy(s->bits + offset_B, &bits, sizeof(bits));
}

static uint32_t channels(const struct zs_eu_op *op)
{
    return op->count >= 32 ? UINT32_MAX : (1u << op->count) - 1;
}

/* Channels of the predicate that are not defined, and on. */
static uint32_t unsure(const struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    uint32_t bits = word_of(t->shadow, op->predicate) >> op->pred_shift;
    return bits & op->lanes & zs_eu_word(t, op->enables) >> op->chan_offset;
}

/* Where a value that is not defined came from: this instruction, if nobody wrote it. */
static uint32_t from_of(const struct zs_eu_shadow *s, const struct zs_eu_op *op, uint32_t offset_B)
{
    uint32_t from = s->from[offset_B / 4];
    return from ? from : op->inst + 1;
}

static void set_from(struct zs_eu_shadow *s, uint32_t offset_B, uint32_t size_B, uint32_t from)
{
    s->has_from = true;
    for (uint32_t at = offset_B / 4; at <= (offset_B + size_B - 1) / 4; at++)
        s->from[at] = from;
}

/* Zeros in the channels that are on. */
static void define(struct zs_eu_shadow *s, uint32_t dst, uint32_t size_B, uint32_t active,
                   uint32_t all)
{
    if ((active & all) == all) {
        zs_eu_shadow_zero(s->bits + dst, size_B * (unsigned)__builtin_popcount(all));
        return;
    }
    for (uint32_t m = active & all; m; m &= m - 1)
        memset(s->bits + dst + (size_t)__builtin_ctz(m) * size_B, 0, size_B);
}

static void tell(struct zs_eu_thread *t, const struct zs_eu_op *op, enum zs_eu_use use, int lane,
                 uint32_t from)
{
    const struct zs_eu_undefined undefined = {
        .use = use, .inst = op->inst, .lane = lane, .from = from};
    t->current = op;
    if (t->shadow->report)
        t->shadow->report(t, &undefined);
}

/* ... unless the environment stops the thread for what it was told. */
static const struct zs_eu_op *go_on_unless_stopped(struct zs_eu_thread *t,
                                                   const struct zs_eu_op *op)
{
    if (ZS_LIKELY(t->fault.kind == ZS_EU_FAULT_NONE))
        return zs_eu_shadow_go_on(t, op);
    t->status = ZS_EU_FAULT;
    return NULL;
}

/* ---- rows --------------------------------------------------------------------------------------
 */

static inline uint32_t element_at(const struct zs_eu_op *op, unsigned i, uint32_t size_B,
                                  unsigned c)
{
    return op->src[i] + (op->cls >> i & 1 ? 0 : c * size_B);
}

static void define_flag(const struct zs_eu_thread *t, const struct zs_eu_op *op, uint32_t active,
                        uint32_t bits)
{
    uint32_t flag = word_of(t->shadow, op->flag);
    flag = (flag & ~(active << op->flag_shift)) | (bits & active) << op->flag_shift;
    set_word(t->shadow, op->flag, flag);
}

/* Channels that are written, whatever is not known. */
static uint32_t written(const struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    if (zs_eu_row_infos[op->kind].form == ZS_EU_FORM_SEL)
        return zs_eu_word(t, op->enables) >> op->chan_offset & op->lanes & channels(op);
    return zs_eu_active(t, op) & channels(op);
}

/* Whether some bit of the elements of these lanes is set. */
static bool some_of(const uint8_t *at, uint32_t size_B, uint32_t lanes)
{
    uint64_t bits = 0;
    for (; lanes; lanes &= lanes - 1)
        bits |= get(at + (size_t)__builtin_ctz(lanes) * size_B, size_B);
    return bits != 0;
}

/* All sources are defined, and the result is. false: not known. */
static inline bool row_is_defined(struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    struct zs_eu_shadow *s = t->shadow;
    const struct zs_eu_row_info *row = &zs_eu_row_infos[op->kind];
    if (word_of(s, op->predicate))
        return false;
    uint32_t active = written(t, op);
    for (unsigned i = 0; i < 3 && row->src_B[i]; i++) {
        bool is_scalar = op->cls >> i & 1;
        const uint8_t *at = s->bits + op->src[i];
        if (zs_eu_shadow_some(at, (is_scalar ? 1u : op->count) * row->src_B[i]) &&
            (is_scalar || some_of(at, row->src_B[i], active)))
            return false;
    }
    if (row->form == ZS_EU_FORM_CMP)
        define_flag(t, op, active, 0);
    if (row->form != ZS_EU_FORM_CMP || op->arg)
        define(s, op->dst, row->dst_B, active, channels(op));
    return true;
}

/* One channel: its bits that are not defined. */
static uint64_t row_channel(const struct zs_eu_thread *t, const struct zs_eu_op *op, unsigned c,
                            uint32_t unsure_lanes, uint32_t *ret_from)
{
    const struct zs_eu_shadow *s = t->shadow;
    const struct zs_eu_row_info *row = &zs_eu_row_infos[op->kind];
    const struct zs_eu_shadow_rule *rule = &zs_eu_shadow_rules[op->kind];
    struct zs_eu_shadow_lane lane = {.width = row->dst_B * 8u,
                                     .from_width = row->src_B[0] * 8u,
                                     .param = rule->param,
                                     .aux = op->aux};
    uint64_t any = 0;
    for (unsigned i = 0; i < 3 && row->src_B[i]; i++) {
        uint32_t at = element_at(op, i, row->src_B[i], c);
        lane.value[i] = get((const uint8_t *)t + at, row->src_B[i]);
        lane.bits[i] = get(s->bits + at, row->src_B[i]);
        if (lane.bits[i] && !any)
            *ret_from = from_of(s, op, at);
        any |= lane.bits[i];
    }
    bool is_unsure = unsure_lanes >> c & 1;
    if (is_unsure && !any)
        *ret_from = from_of(s, op, op->predicate);
    if (row->form == ZS_EU_FORM_SEL) {
        bool first = (zs_eu_word(t, op->predicate) >> op->pred_shift ^ op->pred_xor) >> c & 1;
        return is_unsure ? (lane.value[0] ^ lane.value[1]) | lane.bits[0] | lane.bits[1]
                         : lane.bits[first ? 0 : 1];
    }
    if (is_unsure)
        return UINT64_MAX;
    return !any ? 0 : rule->bits ? rule->bits(&lane) : UINT64_MAX;
}

static void __attribute__((noinline))
row_by_channels(struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    struct zs_eu_shadow *s = t->shadow;
    const struct zs_eu_row_info *row = &zs_eu_row_infos[op->kind];
    uint32_t doubt = unsure(t, op), lanes = (written(t, op) | doubt) & channels(op);
    uint64_t bits[ZS_EU_LANES_MAX];
    uint32_t from[ZS_EU_LANES_MAX] = {0}, flag = 0;
    for (uint32_t m = lanes; m; m &= m - 1) {
        unsigned c = (unsigned)__builtin_ctz(m);
        bits[c] = row_channel(t, op, c, doubt, &from[c]);
        if (row->form == ZS_EU_FORM_CMP && bits[c]) {
            bits[c] = UINT64_MAX;
            flag |= 1u << c;
            set_from(s, op->flag, 4, from[c]);
        }
    }
    if (row->form == ZS_EU_FORM_CMP)
        define_flag(t, op, lanes, flag);
    for (uint32_t m = row->form == ZS_EU_FORM_CMP && !op->arg ? 0 : lanes; m; m &= m - 1) {
        unsigned c = (unsigned)__builtin_ctz(m);
        uint32_t at = op->dst + c * row->dst_B;
        memcpy(s->bits + at, &bits[c], row->dst_B);
        if (get(s->bits + at, row->dst_B))
            set_from(s, at, row->dst_B, from[c]);
    }
}

SHADOW(shadow_row)
{
    if (t->shadow && !row_is_defined(t, op))
        row_by_channels(t, op);
    return zs_eu_shadow_go_on(t, op);
}

/* A comparison of a register with itself, or all its bits against themselves: the compiler asks so
 * which lanes are on, and the register may be any. */
SHADOW(shadow_known)
{
    struct zs_eu_shadow *s = t->shadow;
    const struct zs_eu_row_info *row = &zs_eu_row_infos[op->kind];
    if (s && word_of(s, op->predicate)) {
        row_by_channels(t, op);
    } else if (s) {
        if (row->form == ZS_EU_FORM_CMP)
            define_flag(t, op, written(t, op), 0);
        if (row->form != ZS_EU_FORM_CMP || op->arg)
            define(s, op->dst, row->dst_B, written(t, op), channels(op));
    }
    return zs_eu_shadow_go_on(t, op);
}

/* ---- moves of any region -----------------------------------------------------------------------
 */

struct elements {
    uint32_t size_B, lanes;
    uint32_t from[ZS_EU_LANES_MAX], to[ZS_EU_LANES_MAX]; /* offsets in the thread */
    uint32_t spoilt; /* lanes that have nothing defined, because of what is at `from` */
};

static void move(struct zs_eu_thread *t, const struct zs_eu_op *op, const struct elements *e)
{
    struct zs_eu_shadow *s = t->shadow;
    uint64_t bits[ZS_EU_LANES_MAX];
    uint32_t from[ZS_EU_LANES_MAX], doubt = unsure(t, op);
    for (uint32_t m = e->lanes; m; m &= m - 1) {
        unsigned c = (unsigned)__builtin_ctz(m);
        bits[c] = (doubt | e->spoilt) >> c & 1 ? UINT64_MAX : get(s->bits + e->from[c], e->size_B);
        from[c] = doubt >> c & 1 ? from_of(s, op, op->predicate)
                  : bits[c]      ? from_of(s, op, e->from[c])
                                 : 0;
    }
    for (uint32_t m = e->lanes; m; m &= m - 1) {
        unsigned c = (unsigned)__builtin_ctz(m);
        memcpy(s->bits + e->to[c], &bits[c], e->size_B);
        if (bits[c])
            set_from(s, e->to[c], e->size_B, from[c]);
    }
}

static void move_strided(struct zs_eu_thread *t, const struct zs_eu_op *op, uint32_t from_step_B,
                         uint32_t to_step_B)
{
    struct elements e = {.size_B = 1u << op->cls,
                         .lanes = (zs_eu_active(t, op) | unsure(t, op)) & channels(op)};
    for (unsigned c = 0; c < op->count; c++) {
        e.from[c] = op->src[0] + c * from_step_B;
        e.to[c] = op->dst + c * to_step_B;
    }
    move(t, op, &e);
}

SHADOW(shadow_gather)
{
    if (t->shadow)
        move_strided(t, op, op->src[1], 1u << op->cls);
    return zs_eu_shadow_go_on(t, op);
}

SHADOW(shadow_scatter)
{
    if (t->shadow)
        move_strided(t, op, 1u << op->cls, op->src[1]);
    return zs_eu_shadow_go_on(t, op);
}

/* The offset in the shadow of address register a0, where it is not defined; 0: it is. What such an
 * address leads to is not defined, either. */
static uint32_t unsure_address(const struct zs_eu_thread *t, unsigned a0)
{
    uint32_t at = ZS_EU_OFFSET(a0) + (a0 & 15) * 2;
    return get(t->shadow->bits + at, 2) ? at : 0;
}

SHADOW(shadow_gather_region)
{
    struct elements e = {.size_B = 1u << op->arg,
                         .lanes = t->shadow ? zs_eu_active(t, op) & channels(op) : 0};
    for (uint32_t m = e.lanes; m; m &= m - 1) {
        unsigned c = (unsigned)__builtin_ctz(m);
        const struct zs_eu_region *region = &t->program->regions.items[op->aux];
        bool indirect = op->src[0] == UINT32_MAX;
        uint32_t unsure_at = indirect ? unsure_address(t, region->a0_step[c]) : 0;
        e.from[c] = unsure_at ? unsure_at : zs_eu_region_element(t, region, op->src[0], c);
        e.spoilt |= unsure_at ? 1u << c : 0;
        e.to[c] = op->dst + c * e.size_B;
    }
    if (t->shadow)
        move(t, op, &e);
    return zs_eu_shadow_go_on(t, op);
}

/* A channel that is on writes where it says; told once. */
static uint32_t target_at(struct zs_eu_thread *t, const struct zs_eu_op *op, unsigned c)
{
    const struct zs_eu_region *region = &t->program->regions.items[op->aux];
    uint32_t unsure_at = op->dst == UINT32_MAX ? unsure_address(t, region->a0_step[c]) : 0;
    if (unsure_at) {
        tell(t, op, ZS_EU_USE_REGISTER, -1, from_of(t->shadow, op, unsure_at));
        memset(t->shadow->bits + unsure_at, 0, 2);
    }
    return zs_eu_region_element(t, region, op->dst, c);
}

SHADOW(shadow_scatter_region)
{
    struct elements e = {.size_B = 1u << op->arg,
                         .lanes =
                             t->shadow ? (zs_eu_active(t, op) | unsure(t, op)) & channels(op) : 0};
    for (uint32_t m = e.lanes; m; m &= m - 1) {
        unsigned c = (unsigned)__builtin_ctz(m);
        e.from[c] = op->src[0] + c * e.size_B;
        e.to[c] = target_at(t, op, c);
    }
    if (t->shadow && t->fault.kind == ZS_EU_FAULT_NONE)
        move(t, op, &e);
    return go_on_unless_stopped(t, op);
}

/* ---- predicates and flags ----------------------------------------------------------------------
 */

/* Of each group of bits: known when one that is defined decides. */
static uint32_t reduce(uint32_t value, uint32_t bits, unsigned width, bool all)
{
    uint32_t group = width == 32 ? UINT32_MAX : (1u << width) - 1, result = 0;
    for (unsigned at = 0; at < 32; at += width) {
        uint32_t mask = group << at, decides = (all ? ~value : value) & ~bits & mask;
        result |= bits & mask && !decides ? mask : 0;
    }
    return result;
}

/* Of both flag registers together. */
static uint32_t vertical(const struct zs_eu_thread *t, bool all)
{
    uint32_t flip = all ? UINT32_MAX : 0, s[2] = {word_of(t->shadow, ZS_EU_OFFSET(flag[0])),
                                                  word_of(t->shadow, ZS_EU_OFFSET(flag[1]))};
    uint32_t decides = ((t->flag[0] ^ flip) & ~s[0]) | ((t->flag[1] ^ flip) & ~s[1]);
    return (s[0] | s[1]) & ~decides;
}

SHADOW(shadow_predicate)
{
    if (!t->shadow)
        return zs_eu_shadow_go_on(t, op);
    uint32_t value = zs_eu_word(t, op->predicate) >> op->pred_shift,
             bits = word_of(t->shadow, op->predicate) >> op->pred_shift, result = 0;
    if (op->arg == ZS_PRED_ANYV || op->arg == ZS_PRED_ALLV) {
        result = vertical(t, op->arg == ZS_PRED_ALLV) >> op->pred_shift;
    } else if (op->arg == ZS_PRED_ANY || op->arg == ZS_PRED_ALL) {
        uint32_t others = op->arg == ZS_PRED_ALL ? ~op->lanes : 0;
        result = reduce((value & op->lanes) | others, bits & op->lanes, 32, op->arg == ZS_PRED_ALL);
    } else if (op->arg >= ZS_PRED_ANY2H && op->arg <= ZS_PRED_ALL32H) {
        unsigned index = op->arg - ZS_PRED_ANY2H;
        result = reduce(value, bits, 2u << index / 2, index & 1);
    }
    set_word(t->shadow, ZS_EU_OFFSET(predicate), result);
    if (result)
        set_from(t->shadow, ZS_EU_OFFSET(predicate), 4, from_of(t->shadow, op, op->predicate));
    return zs_eu_shadow_go_on(t, op);
}

SHADOW(shadow_flag_copy)
{
    if (t->shadow) {
        uint32_t doubt = unsure(t, op), bits = word_of(t->shadow, op->src[0]) | doubt;
        define_flag(t, op, zs_eu_active(t, op) | doubt, bits);
        if (bits)
            set_from(t->shadow, op->flag, 4, from_of(t->shadow, op, op->src[0]));
    }
    return zs_eu_shadow_go_on(t, op);
}

/* ---- what is not one formula -------------------------------------------------------------------
 */

static const struct zs_eu_shadow_shape shapes[ZS_EU_KIND_COUNT] = {
    [ZS_EU_KIND_EXACT] = {3, 8, 8, .sets_flag = false},
    [ZS_EU_KIND_MADM] = {3, 4, 4, .sets_flag = false},
    [ZS_EU_KIND_MACRO_SEED] = {2, 4, 4, .sets_flag = true},
    [ZS_EU_KIND_DOT] = {2, 4, 4, .sets_flag = false},
    [ZS_EU_KIND_SAD] = {2, 4, 4, .sets_flag = false},
    [ZS_EU_KIND_DOWNSCALE] = {2, 4, 4, .sets_flag = false},
    [ZS_EU_KIND_ROUND_RANDOMLY] = {2, 4, 4, .sets_flag = false},
};

struct zs_eu_shadow_shape zs_eu_shadow_shape_of(const struct zs_eu_op *op)
{
    struct zs_eu_shadow_shape shape = shapes[op->kind];
    if (shape.src_B == 4 && op->kind != ZS_EU_KIND_DOT && op->kind != ZS_EU_KIND_SAD && op->arg & 8)
        shape.src_B = shape.dst_B = 8;
    return shape;
}

static void set_element(struct zs_eu_shadow *s, uint32_t at, uint32_t size_B, bool is_undefined,
                        uint32_t from)
{
    memset(s->bits + at, is_undefined ? 0xff : 0, size_B);
    if (is_undefined)
        set_from(s, at, size_B, from);
}

SHADOW(shadow_channels)
{
    const struct zs_eu_shadow_shape shape = zs_eu_shadow_shape_of(op);
    struct zs_eu_shadow *s = t->shadow;
    uint32_t src_B = shape.src_B, dst_B = shape.dst_B;
    for (unsigned c = 0; s && c < op->count; c++) {
        uint32_t from = 0;
        bool is_undefined = false;
        for (unsigned i = 0; i < shape.source_count; i++) {
            uint32_t at = op->src[i] + (op->arg >> i & 1 ? 0 : c * src_B);
            if (op->src[i] && get(s->bits + at, src_B))
                is_undefined = true, from = from_of(s, op, at);
        }
        set_element(s, op->dst + c * dst_B, dst_B, is_undefined, from);
    }
    if (s && shape.sets_flag)
        set_word(s, op->flag, 0);
    return zs_eu_shadow_go_on(t, op);
}

/* A bit of the four floats or of the planes spoils all. */
SHADOW(shadow_plane)
{
    struct zs_eu_shadow *s = t->shadow;
    if (s) {
        uint32_t size_B = op->count * 4u;
        uint32_t at = zs_eu_shadow_some(s->bits + op->src[0], 16)       ? op->src[0]
                      : zs_eu_shadow_some(s->bits + op->src[1], size_B) ? op->src[1]
                      : zs_eu_shadow_some(s->bits + op->src[2], size_B) ? op->src[2]
                                                                        : 0;
        set_element(s, op->dst, size_B, at != 0, at ? from_of(s, op, at) : 0);
    }
    return zs_eu_shadow_go_on(t, op);
}

/* The index of a byte or word, or what it chooses, spoils that. */
SHADOW(shadow_look_up)
{
    struct zs_eu_shadow *s = t->shadow;
    uint32_t part_B = op->aux / 8;
    for (unsigned k = 0; s && k < op->count * 4u / part_B; k++) {
        uint32_t c = k * part_B / 4, part = k % (4 / part_B);
        uint32_t indices = op->src[1] + (op->arg & 2 ? 0 : c * 4);
        uint32_t entry = op->src[0] + (zs_eu_word(t, indices) >> 4 * part & 15) * 4 + part * part_B;
        uint32_t from = zs_eu_shadow_some(s->bits + indices + part / 2, 1) ? indices + part / 2
                        : zs_eu_shadow_some(s->bits + entry, part_B)       ? entry
                                                                           : 0;
        set_element(s, op->dst + k * part_B, part_B, from != 0, from ? from_of(s, op, from) : 0);
    }
    return zs_eu_shadow_go_on(t, op);
}

SHADOW(shadow_movi)
{
    struct zs_eu_shadow *s = t->shadow;
    uint32_t grf_B = t->program->regs.grf_B, size_B = 1u << op->arg;
    uint32_t reg_B = (t->a0[op->aux & (ZS_EU_A0_MAX - 1)] + op->src[0]) % zs_eu_file_B(t->program);
    struct elements e = {.size_B = size_B, .lanes = channels(op)};
    for (unsigned c = 0; s && c < op->count; c++) {
        uint32_t unsure_at = unsure_address(t, op->aux + c),
                 at = (reg_B & ~(grf_B - 1)) +
                      (t->a0[(op->aux + c) & (ZS_EU_A0_MAX - 1)] & (grf_B - 1));
        e.from[c] = unsure_at ? unsure_at : ZS_EU_OFFSET(grf) + at;
        e.spoilt |= unsure_at ? 1u << c : 0;
        e.to[c] = op->dst + c * size_B;
    }
    if (s)
        move(t, op, &e);
    return zs_eu_shadow_go_on(t, op);
}

SHADOW(shadow_constant)
{
    if (t->shadow)
        memset(t->shadow->bits + op->dst, 0, op->src[0]);
    return zs_eu_shadow_go_on(t, op);
}

/* Element (row, lane) is made of src0's, of a row of src2 and of a column of src1. */
SHADOW(shadow_dpas)
{
    struct zs_eu_shadow *s = t->shadow;
    if (!s)
        return zs_eu_shadow_go_on(t, op);
    const struct zs_eu_dpas *d = &t->program->dpas.items[op->aux];
    uint32_t row_B = ZS_EU_DPAS_DEPTH * 1u * d->ops * d->bits[1] / 8,
             step_B = d->ops * 1u * d->bits[0] / 8, dst_B = zs_eu_type_B(d->dst_type),
             src0_B = zs_eu_type_B(d->src0_type), active = zs_eu_active(t, op);
    uint32_t all = UINT32_MAX >> (32 - d->lanes), columns = 0, column_from = 0;
    uint32_t blocks = d->ops == 8 ? 2 : 1;
    if ((active & all) == all && !d->scaled &&
        !zs_eu_shadow_some(s->bits + op->src[1], ZS_EU_DPAS_DEPTH * d->lanes * step_B) &&
        !zs_eu_shadow_some(s->bits + op->src[2], d->rows * row_B) &&
        !(d->has_src0 && zs_eu_shadow_some(s->bits + op->src[0], d->rows * d->lanes * src0_B))) {
        zs_eu_shadow_zero(s->bits + op->dst, d->rows * d->lanes * dst_B);
        return zs_eu_shadow_go_on(t, op);
    }
    for (uint32_t k = 0; k < ZS_EU_DPAS_DEPTH * 1u * d->lanes; k++) {
        uint32_t at = op->src[1] + k * step_B;
        if (zs_eu_shadow_some(s->bits + at, step_B))
            columns |= 1u << k % d->lanes, column_from = from_of(s, op, at);
    }
    for (uint32_t k = 0; d->scales[0] && k < blocks * d->lanes; k++) {
        uint32_t at = d->scales[0] + k / d->lanes * ZS_EU_DPAS_SCALES_B + k % d->lanes;
        if (zs_eu_shadow_some(s->bits + at, 1))
            columns |= 1u << k % d->lanes, column_from = from_of(s, op, at);
    }
    for (uint32_t r = 0; r < d->rows; r++) {
        bool row = zs_eu_shadow_some(s->bits + op->src[2] + r * row_B, row_B);
        for (uint32_t b = 0; d->scales[1] && b < blocks; b++)
            row |= zs_eu_shadow_some(s->bits + d->scales[1] + b * ZS_EU_DPAS_SCALES_B + r, 1);
        for (uint32_t c = 0; c < d->lanes; c++) {
            uint32_t at = op->src[0] + (r * d->lanes + c) * src0_B;
            bool sum = d->has_src0 && zs_eu_shadow_some(s->bits + at, src0_B);
            uint32_t from = sum   ? from_of(s, op, at)
                            : row ? from_of(s, op, op->src[2] + r * row_B)
                                  : column_from;
            if (active >> c & 1)
                set_element(s, op->dst + (r * d->lanes + c) * dst_B, dst_B,
                            sum || row || columns >> c & 1, from);
        }
    }
    return zs_eu_shadow_go_on(t, op);
}

/* ---- control flow and messages -----------------------------------------------------------------
 */

/* The predicate's channels count; told once, and taken for defined. */
static void check_predicate(struct zs_eu_thread *t, const struct zs_eu_op *op, uint32_t lanes,
                            enum zs_eu_use use)
{
    uint32_t doubt = unsure(t, op) & lanes;
    if (!doubt)
        return;
    bool has_lane = op->enables == ZS_EU_OFFSET(ce);
    tell(t, op, use, has_lane ? __builtin_ctz(doubt) + op->chan_offset : -1,
         from_of(t->shadow, op, op->predicate));
    uint32_t bits = word_of(t->shadow, op->predicate);
    set_word(t->shadow, op->predicate, bits & ~(doubt << op->pred_shift));
}

/* Of lanes that are on, whatever the instruction's mask. */
SHADOW(shadow_branch)
{
    if (t->shadow)
        check_predicate(t, op, t->ce >> op->chan_offset, ZS_EU_USE_BRANCH);
    return go_on_unless_stopped(t, op);
}

SHADOW(shadow_jump)
{
    if (t->shadow)
        check_predicate(t, op, 1, ZS_EU_USE_BRANCH);
    return go_on_unless_stopped(t, op);
}

static void check_target(struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    if (!word_of(t->shadow, op->src[0]))
        return;
    tell(t, op, ZS_EU_USE_JUMP, -1, from_of(t->shadow, op, op->src[0]));
    set_word(t->shadow, op->src[0], 0);
}

SHADOW(shadow_target)
{
    if (t->shadow && zs_eu_active(t, op))
        check_target(t, op);
    return shadow_branch(t, op);
}

/* Where it returns to is written. */
SHADOW(shadow_call)
{
    if (t->shadow && op->kind == ZS_EU_KIND_CALL_REGISTER && zs_eu_active(t, op))
        check_target(t, op);
    if (t->shadow && op->arg)
        memset(t->shadow->bits + op->aux, 0, 8);
    return shadow_branch(t, op);
}

static void check_descriptor(struct zs_eu_thread *t, const struct zs_eu_op *op, uint32_t at)
{
    if (!word_of(t->shadow, at))
        return;
    tell(t, op, ZS_EU_USE_MESSAGE, -1, from_of(t->shadow, op, at));
    set_word(t->shadow, at, 0);
}

SHADOW(shadow_send)
{
    uint32_t active = t->shadow ? zs_eu_active(t, op) : 0;
    if (!active)
        return zs_eu_shadow_go_on(t, op);
    const struct zs_eu_send_desc *d = &op->send->send.d;
    uint32_t number_B = d->is_e64 ? 8 : 4;
    uint32_t numbers = d->is_e64 ? ZS_EU_OFFSET(s0) : ZS_EU_OFFSET(a0);
    if (op->send->desc_is_reg)
        check_descriptor(t, op, numbers + op->send->desc_a0 * number_B);
    if (op->send->ex_desc_is_reg || d->has_base)
        check_descriptor(t, op, numbers + op->send->ex_desc_a0 * number_B);
    if (op->send->sampler_is_reg)
        check_descriptor(t, op, numbers + op->send->sampler_s0 * number_B);
    check_predicate(t, op, UINT32_MAX, ZS_EU_USE_MASK);
    const struct zs_eu_send *send = zs_eu_send_of(t, op);
    if (send && send->exec && t->shadow->message)
        t->shadow->message(t, send, active);
    return go_on_unless_stopped(t, op);
}

/* ---- programs and threads ----------------------------------------------------------------------
 */

static zs_eu_op_fn *const kinds[ZS_EU_KIND_COUNT] = {
    [ZS_EU_KIND_GATHER] = shadow_gather,
    [ZS_EU_KIND_SCATTER] = shadow_scatter,
    [ZS_EU_KIND_GATHER_REGION] = shadow_gather_region,
    [ZS_EU_KIND_SCATTER_REGION] = shadow_scatter_region,
    [ZS_EU_KIND_PREDICATE] = shadow_predicate,
    [ZS_EU_KIND_FLAG_COPY] = shadow_flag_copy,
    [ZS_EU_KIND_EXACT] = shadow_channels,
    [ZS_EU_KIND_MADM] = shadow_channels,
    [ZS_EU_KIND_MACRO_SEED] = shadow_channels,
    [ZS_EU_KIND_DOT] = shadow_channels,
    [ZS_EU_KIND_SAD] = shadow_channels,
    [ZS_EU_KIND_DOWNSCALE] = shadow_channels,
    [ZS_EU_KIND_ROUND_RANDOMLY] = shadow_channels,
    [ZS_EU_KIND_LOOK_UP] = shadow_look_up,
    [ZS_EU_KIND_PLANE] = shadow_plane,
    [ZS_EU_KIND_MOVI] = shadow_movi,
    [ZS_EU_KIND_CONSTANT] = shadow_constant,
    [ZS_EU_KIND_DPAS] = shadow_dpas,
    [ZS_EU_KIND_BRANCH] = shadow_branch,
    [ZS_EU_KIND_GOTO] = shadow_branch,
    [ZS_EU_KIND_JUMP_UNIFORM] = shadow_jump,
    [ZS_EU_KIND_JUMP_REGISTER] = shadow_target,
    [ZS_EU_KIND_RET] = shadow_target,
    [ZS_EU_KIND_CALL] = shadow_call,
    [ZS_EU_KIND_CALL_REGISTER] = shadow_call,
    [ZS_EU_KIND_SEND] = shadow_send,
};

/* Whether the result is the same whatever the sources are, which are one; or nobody reads it, as
 * where code waits for a message by moving what it brings to null. */
static bool is_known(struct zs_eu_lowering *l, const struct zs_eu_op *op)
{
    bool is_row = op->kind < ZS_EU_ROW_COUNT, is_null = is_row && op->dst == ZS_EU_OFFSET(sink);
    bool is_xor = op->kind == ZS_EU_ROW_XOR_16 || op->kind == ZS_EU_ROW_XOR_32 ||
                  op->kind == ZS_EU_ROW_XOR_64;
    bool compares = is_row && zs_eu_row_infos[op->kind].form == ZS_EU_FORM_CMP;
    struct zs_isa_inst inst;
    if ((!is_xor && !compares && !is_null) || op->inst >= l->program->inst_count ||
        !zs_eu_decode(l, l->program->insts[op->inst].offset_B, &inst))
        return false;
    if (is_null && !compares)
        return !inst.cond;
    return inst.op == (is_xor ? ZS_OP_XOR : ZS_OP_CMP) && inst.src[0].kind == ZS_OPERAND_REG &&
           !zs_eu_type_is_float(inst.src[0].type) &&
           !memcmp(&inst.src[0], &inst.src[1], sizeof(inst.src[0]));
}

bool zs_eu_shadow_program(struct zs_eu_lowering *l, size_t count)
{
    const struct zs_eu_program *p = l->program;
    zs_eu_op_fn **keeps = calloc(count + 1, sizeof(*keeps));
    bool *known = calloc(count + 1, sizeof(*known));
    for (size_t i = 0; keeps && known && i < count; i++) {
        const struct zs_eu_op *op = &p->ops[i];
        known[i] = is_known(l, op);
        keeps[i] = known[i]                     ? shadow_known
                   : op->kind < ZS_EU_ROW_COUNT ? shadow_row
                                                : kinds[op->kind];
    }
    bool made = keeps && known &&
                zs_eu_shadow_parts(l->program, !(l->params->flags & ZS_EU_LOWER_PLACES), count,
                                   keeps, known);
    free(keeps);
    free(known);
    return made;
}

void zs_eu_shadow_begin(struct zs_eu_thread *t, struct zs_eu_shadow *s, uint32_t payload_B)
{
    uint32_t grf = ZS_EU_OFFSET(grf), file_B = zs_eu_file_B(t->program),
             acc_B = sizeof(t->acc) + sizeof(t->acc_high);
    zs_assert(payload_B <= file_B);
    s->is_zero = false;
    /* temporaries are written before they are read, constants never */
    memset(s->bits, 0, ZS_EU_OFFSET(acc));
    memset(s->bits + ZS_EU_OFFSET(a0), 0xff, sizeof(t->a0));
    if (t->program->read_acc_slots)
        memset(s->bits + ZS_EU_OFFSET(acc), 0xff, acc_B);
    memset(s->bits + grf, 0, payload_B);
    memset(s->bits + grf + payload_B, 0xff, file_B - payload_B);
    if (s->has_from)
        memset(s->from, 0, sizeof(s->from));
    s->has_from = false;
    t->shadow = s;
}

void zs_eu_shadow_clear(struct zs_eu_shadow *s)
{
    if (!s->is_zero)
        memset(s->bits, 0, sizeof(s->bits));
    if (s->has_from)
        memset(s->from, 0, sizeof(s->from));
    s->has_from = false;
    s->is_zero = true;
}
