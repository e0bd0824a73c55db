/* SPDX-License-Identifier: MIT */
/*
 * Parts of blocks whose operations need no look at shadows (eu/checks/shadow.h) one by one.
 *
 * Nearly always all that a thread computes with is defined. So operations that follow each other
 * and do nothing but compute are a part: what it reads and has not written before is known when
 * it is lowered, and so is what it writes. If all of the former is defined when the part begins,
 * so is all that it writes, and its operations run as they do without shadows. Otherwise their
 * careful copies run, each of which keeps its shadow, and which stand behind all others; the next
 * operation that is not of the part leads back. Messages, branches and what finds registers by
 * addresses are of no part, and keep their shadows themselves.
 *
 * A part has two forms: for all lanes on, and for any mask, where a byte that a lane reads may be
 * one that the same lane has written under that mask: `owner` is the lane. What is written by a
 * predicate alone stays partly what it was, so it has to be defined before.
 */
#include "eu/checks/shadow_priv.h"
#include "eu/lower/lower.h"
#include "eu/lower/lower_operand.h"

#include "base/vec.h"

#include <stdlib.h>

enum { NOBODY = ZS_EU_SHADOW_NOBODY, EVERYBODY = ZS_EU_SHADOW_EVERYBODY };

/* ---- running -----------------------------------------------------------------------------------
 */

static bool is_defined(const struct zs_eu_shadow *s, const struct zs_eu_shadow_plan *plan,
                       struct zs_eu_shadow_range spans)
{
    const struct zs_eu_shadow_span *span = plan->spans.items + spans.first;
    for (uint32_t i = 0; i < spans.count; i++)
        if (zs_eu_shadow_some(s->bits + span[i].at_B, span[i].size_B))
            return false;
    return true;
}

static bool __attribute__((noinline))
is_defined_by_lane(const struct zs_eu_thread *t, const struct zs_eu_shadow_plan *plan,
                   struct zs_eu_shadow_range spans)
{
    const struct zs_eu_shadow_lane_span *by = plan->lane_spans.items + spans.first;
    for (uint32_t i = 0; i < spans.count; i++)
        if ((by[i].lane == ZS_EU_SHADOW_ALL || t->ce >> by[i].lane & 1) &&
            zs_eu_shadow_some(t->shadow->bits + by[i].span.at_B, by[i].span.size_B))
            return false;
    return spans.count > 0;
}

static void __attribute__((noinline))
define_by_lane(const struct zs_eu_thread *t, const struct zs_eu_shadow_plan *plan,
               struct zs_eu_shadow_range spans)
{
    const struct zs_eu_shadow_lane_span *by = plan->lane_spans.items + spans.first;
    for (uint32_t i = 0; i < spans.count; i++)
        if (t->ce >> by[i].lane & 1)
            zs_eu_shadow_zero(t->shadow->bits + by[i].span.at_B, by[i].span.size_B);
}

/* In front of the first operation of a part. */
static const struct zs_eu_op *begin_part(struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    const struct zs_eu_shadow_plan *plan = t->program->shadows;
    struct zs_eu_shadow *s = t->shadow;
    if (s) {
        const struct zs_eu_shadow_form *form =
            &plan->parts.items[plan->part_of[op - t->program->ops]]
                 .form[t->ce == t->program->simd_mask];
        if (ZS_UNLIKELY(!is_defined(s, plan, form->needs)) &&
            !is_defined_by_lane(t, plan, form->needs_by_lane)) {
            const struct zs_eu_op *careful = op + plan->careful;
            return careful->fn(t, careful);
        }
        const struct zs_eu_shadow_span *span = plan->spans.items + form->defines.first;
        for (uint32_t i = 0; i < form->defines.count; i++)
            zs_eu_shadow_zero(s->bits + span[i].at_B, span[i].size_B);
        if (form->masked.count && !is_defined(s, plan, form->masked))
            define_by_lane(t, plan, form->masked_by_lane);
    }
    return zs_eu_shadow_go_on(t, op);
}

/* Behind a part's careful copies. */
static const struct zs_eu_op *end_careful(struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    const struct zs_eu_op *back = op - t->program->shadows->careful;
    return back->fn(t, back);
}

/* ---- what operations read and write ------------------------------------------------------------
 */

static bool is_covered(const struct zs_eu_shadow_walk *w, uint32_t at, uint8_t lane)
{
    return w->owner[at] == EVERYBODY || (w->owner[at] == lane && lane != EVERYBODY);
}

/* Parts are short, and touch little of a thread: all else is not looked at. */
static void touch(struct zs_eu_shadow_walk *w, uint32_t at_B, uint32_t size_B)
{
    uint32_t end_B = ZS_MIN(at_B + size_B, (uint32_t)ZS_EU_SHADOW_B), line;
    for (; at_B < end_B; at_B = (line + 1) * ZS_EU_SHADOW_LINE_B) {
        line = at_B / ZS_EU_SHADOW_LINE_B;
        w->lines[line / 64] |= UINT64_C(1) << line % 64;
    }
}

/* The byte itself, or the first of the next line that is somebody's. */
static uint32_t next_touched(const struct zs_eu_shadow_walk *w, uint32_t at)
{
    uint32_t line = at / ZS_EU_SHADOW_LINE_B, word = line / 64;
    if (word >= ZS_ARRAY_LEN(w->lines))
        return ZS_EU_SHADOW_B;
    uint64_t rest = w->lines[word] >> line % 64 << line % 64;
    while (!rest && ++word < ZS_ARRAY_LEN(w->lines))
        rest = w->lines[word];
    if (!rest)
        return ZS_EU_SHADOW_B;
    return ZS_MAX(at, (word * 64 + (uint32_t)__builtin_ctzll(rest)) * ZS_EU_SHADOW_LINE_B);
}

void zs_eu_shadow_forget(struct zs_eu_shadow_walk *w)
{
    for (uint32_t at = next_touched(w, 0); at < ZS_EU_SHADOW_B;
         at = next_touched(w, at + ZS_EU_SHADOW_LINE_B)) {
        size_t size_B = ZS_MIN(ZS_EU_SHADOW_B - at, (uint32_t)ZS_EU_SHADOW_LINE_B);
        memset(w->owner + at, NOBODY, size_B);
        memset(w->need + at, NOBODY, size_B);
        memset(w->define + at, NOBODY, size_B);
    }
    memset(w->lines, 0, sizeof(w->lines));
}

void zs_eu_shadow_reads(struct zs_eu_shadow_walk *w, uint32_t at_B, uint32_t size_B, uint8_t lane)
{
    touch(w, at_B, size_B);
    for (uint32_t at = at_B; at < at_B + size_B && at < ZS_EU_SHADOW_B; at++) {
        if (is_covered(w, at, lane) ||
            at - ZS_EU_OFFSET(constant) < sizeof(((struct zs_eu_thread *)0)->constant))
            continue;
        w->need[at] = w->need[at] == NOBODY || w->need[at] == lane ? lane : EVERYBODY;
        w->strays |= w->owner[at] != NOBODY && zs_eu_shadow_is_acc(at);
    }
}

void zs_eu_shadow_writes(struct zs_eu_shadow_walk *w, uint32_t at_B, uint32_t size_B, uint8_t lane)
{
    touch(w, at_B, size_B);
    for (uint32_t at = at_B; at < at_B + size_B && at < ZS_EU_SHADOW_B; at++) {
        if (lane == EVERYBODY || w->define[at] == EVERYBODY) {
            w->owner[at] = w->define[at] = EVERYBODY;
        } else if (w->define[at] == NOBODY || w->define[at] == lane) {
            w->owner[at] = w->define[at] = lane;
        } else { /* of several lanes, at different times */
            w->owner[at] = w->owner[at] == lane || w->flows ? lane : NOBODY;
            w->define[at] = w->flows ? lane : w->define[at];
            w->need[at] = w->flows ? w->need[at] : (uint8_t)EVERYBODY;
        }
    }
}

/* Channels that may be on, and the lane of one. */
uint32_t zs_eu_shadow_channels_of(const struct zs_eu_shadow_walk *w, const struct zs_eu_op *op)
{
    uint32_t all = op->count >= 32 ? UINT32_MAX : (1u << op->count) - 1;
    bool no_mask = op->enables == ZS_EU_OFFSET(all_ones);
    return (no_mask || !w->ce ? UINT32_MAX : w->ce >> op->chan_offset) & op->lanes & all;
}

uint8_t zs_eu_shadow_reader(const struct zs_eu_shadow_walk *w, const struct zs_eu_op *op,
                            unsigned c)
{
    if (w->lane)
        return (uint8_t)(w->lane + c);
    bool whole = op->enables == ZS_EU_OFFSET(all_ones) || (w->ce && !w->flows);
    return whole ? (uint8_t)EVERYBODY : (uint8_t)(1 + c + op->chan_offset);
}

uint8_t zs_eu_shadow_writer(const struct zs_eu_shadow_walk *w, const struct zs_eu_op *op,
                            unsigned c)
{
    return w->ce && !w->lane ? (uint8_t)EVERYBODY : zs_eu_shadow_reader(w, op, c);
}

struct region {
    uint32_t at_B, step_B, size_B;
    const uint16_t *offset_B; /* in place of steps */
};

static uint32_t element(const struct region *r, unsigned c)
{
    return r->at_B + (r->offset_B ? r->offset_B[c] : c * r->step_B);
}

static void source(struct zs_eu_shadow_walk *w, const struct zs_eu_op *op, const struct region *r)
{
    if (!r->step_B && !r->offset_B) {
        zs_eu_shadow_reads(w, r->at_B, r->size_B, EVERYBODY);
        return;
    }
    for (uint32_t m = zs_eu_shadow_channels_of(w, op); m; m &= m - 1) {
        unsigned c = (unsigned)__builtin_ctz(m);
        zs_eu_shadow_reads(w, element(r, c), r->size_B, zs_eu_shadow_reader(w, op, c));
    }
}

static void destination(struct zs_eu_shadow_walk *w, const struct zs_eu_op *op,
                        const struct region *r)
{
    bool is_sel = op->kind < ZS_EU_ROW_COUNT && zs_eu_row_infos[op->kind].form == ZS_EU_FORM_SEL;
    bool is_sure = is_sel || zs_eu_shadow_is_sure(op);
    for (uint32_t m = zs_eu_shadow_channels_of(w, op); m; m &= m - 1) {
        unsigned c = (unsigned)__builtin_ctz(m);
        if (is_sure)
            zs_eu_shadow_writes(w, element(r, c), r->size_B, zs_eu_shadow_writer(w, op, c));
        else if (!w->flows)
            zs_eu_shadow_reads(w, element(r, c), r->size_B, zs_eu_shadow_reader(w, op, c));
    }
}

static void word(struct zs_eu_shadow_walk *w, uint32_t at_B)
{
    zs_eu_shadow_reads(w, at_B, 4, EVERYBODY);
}

static void row(struct zs_eu_shadow_walk *w, const struct zs_eu_op *op, bool known)
{
    const struct zs_eu_row_info *info = &zs_eu_row_infos[op->kind];
    for (unsigned i = 0; i < 3 && info->src_B[i] && !known; i++)
        source(w, op,
               &(struct region){op->src[i], op->cls >> i & 1 ? 0 : info->src_B[i], info->src_B[i],
                                NULL});
    bool in_temp = zs_eu_shadow_is_temporary(op->flag);
    if (info->form == ZS_EU_FORM_CMP && in_temp) /* nobody looks at other lanes' bits of it */
        zs_eu_shadow_writes(w, op->flag, 4, EVERYBODY);
    else if (info->form == ZS_EU_FORM_CMP)
        word(w, op->flag);
    if (info->form != ZS_EU_FORM_CMP || op->arg)
        destination(w, op, &(struct region){op->dst, info->dst_B, info->dst_B, NULL});
}

static void strided(struct zs_eu_shadow_walk *w, const struct zs_eu_op *op)
{
    uint32_t size_B = 1u << op->cls, step_B = op->src[1];
    bool gathers = op->kind == ZS_EU_KIND_GATHER;
    /* a step of nothing is one element for all */
    source(w, op, &(struct region){op->src[0], gathers ? step_B : size_B, size_B, NULL});
    destination(w, op, &(struct region){op->dst, gathers ? size_B : step_B, size_B, NULL});
}

static void by_region(struct zs_eu_shadow_walk *w, const struct zs_eu_op *op)
{
    const uint16_t *offsets = w->p->regions.items[op->aux].offset_B;
    uint32_t size_B = 1u << op->arg;
    bool gathers = op->kind == ZS_EU_KIND_GATHER_REGION;
    source(w, op, &(struct region){op->src[0], size_B, size_B, gathers ? offsets : NULL});
    destination(w, op, &(struct region){op->dst, size_B, size_B, gathers ? NULL : offsets});
}

/* As shadow.c has it: all channels of the destination are written. */
static void channels(struct zs_eu_shadow_walk *w, const struct zs_eu_op *op)
{
    const struct zs_eu_shadow_shape shape = zs_eu_shadow_shape_of(op);
    for (unsigned c = 0; c < op->count; c++) {
        uint8_t who = w->flows ? zs_eu_shadow_reader(w, op, c) : (uint8_t)EVERYBODY;
        for (unsigned i = 0; i < shape.source_count; i++)
            if (op->src[i])
                zs_eu_shadow_reads(w, op->src[i] + (op->arg >> i & 1 ? 0 : c * shape.src_B),
                                   shape.src_B, op->arg >> i & 1 ? EVERYBODY : who);
    }
    for (unsigned c = 0; c < op->count; c++)
        zs_eu_shadow_writes(w, op->dst + c * shape.dst_B, shape.dst_B, EVERYBODY);
    if (shape.sets_flag)
        zs_eu_shadow_writes(w, op->flag, 4, EVERYBODY);
}

static void predicate(struct zs_eu_shadow_walk *w, const struct zs_eu_op *op)
{
    if (op->arg == ZS_PRED_ANYV || op->arg == ZS_PRED_ALLV) {
        word(w, ZS_EU_OFFSET(flag[0]));
        word(w, ZS_EU_OFFSET(flag[1]));
    }
    zs_eu_shadow_writes(w, ZS_EU_OFFSET(predicate), 4, EVERYBODY);
}

static void flag(struct zs_eu_shadow_walk *w, const struct zs_eu_op *op)
{
    word(w, op->src[0]);
    word(w, op->flag);
}

static void constant(struct zs_eu_shadow_walk *w, const struct zs_eu_op *op)
{
    zs_eu_shadow_writes(w, op->dst, op->src[0], EVERYBODY);
}

static void nothing(struct zs_eu_shadow_walk *w, const struct zs_eu_op *op)
{
    (void)w, (void)op;
}

static const struct {
    void (*add)(struct zs_eu_shadow_walk *w, const struct zs_eu_op *op);
    bool has_no_mask; /* and no predicate */
} kinds[ZS_EU_KIND_COUNT] = {
    [ZS_EU_KIND_GATHER] = {strided, false},
    [ZS_EU_KIND_SCATTER] = {strided, false},
    [ZS_EU_KIND_GATHER_REGION] = {by_region, false},
    [ZS_EU_KIND_SCATTER_REGION] = {by_region, false},
    [ZS_EU_KIND_PREDICATE] = {predicate, false},
    [ZS_EU_KIND_FLAG_COPY] = {flag, false},
    [ZS_EU_KIND_EXACT] = {channels, false},
    [ZS_EU_KIND_MADM] = {channels, false},
    [ZS_EU_KIND_MACRO_SEED] = {channels, false},
    [ZS_EU_KIND_DOT] = {channels, false},
    [ZS_EU_KIND_SAD] = {channels, false},
    [ZS_EU_KIND_DOWNSCALE] = {channels, false},
    [ZS_EU_KIND_ROUND_RANDOMLY] = {channels, false},
    [ZS_EU_KIND_CONSTANT] = {constant, true},
    [ZS_EU_KIND_HOP] = {nothing, true},
    [ZS_EU_KIND_LANE_COUNT] = {nothing, true},
};

/* It only computes, with registers that it names. */
static bool is_of_part(const struct zs_eu_op *op)
{
    if (op->kind == ZS_EU_KIND_GATHER_REGION && op->src[0] == UINT32_MAX)
        return false;
    if (op->kind == ZS_EU_KIND_SCATTER_REGION && op->dst == UINT32_MAX)
        return false;
    return op->kind < ZS_EU_ROW_COUNT || kinds[op->kind].add;
}

bool zs_eu_shadow_add(struct zs_eu_shadow_walk *w, const struct zs_eu_op *op, bool known)
{
    if (!is_of_part(op))
        return false;
    bool has_no_mask = op->kind >= ZS_EU_ROW_COUNT && kinds[op->kind].has_no_mask;
    if (!has_no_mask && op->predicate != ZS_EU_OFFSET(all_ones))
        word(w, op->predicate);
    if (op->kind < ZS_EU_ROW_COUNT)
        row(w, op, known);
    else
        kinds[op->kind].add(w, op);
    return true;
}

/* ---- parts -------------------------------------------------------------------------------------
 */

/* Bytes that somebody has there: all together, without those of `except`. */
static struct zs_eu_shadow_range spans_of(struct zs_eu_shadow_walk *w, const uint8_t *bytes,
                                          bool everybody, bool lanes)
{
    struct zs_eu_shadow_plan *plan = w->p->shadows;
    struct zs_eu_shadow_range range = {(uint32_t)plan->spans.count, 0};
    for (uint32_t at = next_touched(w, 0), end; at < ZS_EU_SHADOW_B;
         at = next_touched(w, end + 1)) {
        for (end = at; end < ZS_EU_SHADOW_B && bytes[end] != NOBODY &&
                       (bytes[end] == EVERYBODY ? everybody : lanes);)
            end++;
        if (end == at)
            continue;
        w->no_memory |= !ZS_VEC_PUSH(
            &plan->spans, ((struct zs_eu_shadow_span){(uint16_t)at, (uint16_t)(end - at)}));
        range.count++;
    }
    return range;
}

/* The same lane by lane. */
static struct zs_eu_shadow_range lanes_of(struct zs_eu_shadow_walk *w, const uint8_t *bytes,
                                          bool everybody)
{
    struct zs_eu_shadow_plan *plan = w->p->shadows;
    struct zs_eu_shadow_range range = {(uint32_t)plan->lane_spans.count, 0};
    for (uint32_t at = next_touched(w, 0), end; at < ZS_EU_SHADOW_B; at = next_touched(w, end)) {
        for (end = at + 1; end < ZS_EU_SHADOW_B && bytes[end] == bytes[at];)
            end++;
        if (bytes[at] == NOBODY || (bytes[at] == EVERYBODY && !everybody))
            continue;
        const struct zs_eu_shadow_lane_span by = {
            .span = {(uint16_t)at, (uint16_t)(end - at)},
            .lane = bytes[at] == EVERYBODY ? (uint8_t)ZS_EU_SHADOW_ALL : (uint8_t)(bytes[at] - 1)};
        w->no_memory |= !ZS_VEC_PUSH(&plan->lane_spans, by);
        range.count++;
    }
    return range;
}

static struct zs_eu_shadow_form make_form(struct zs_eu_shadow_walk *w)
{
    struct zs_eu_shadow_form form = {.needs = spans_of(w, w->need, true, true),
                                     .defines = spans_of(w, w->define, true, false),
                                     .masked = spans_of(w, w->define, false, true)};
    if (!w->ce) {
        form.needs_by_lane = lanes_of(w, w->need, true);
        form.masked_by_lane = lanes_of(w, w->define, false);
    }
    zs_eu_shadow_forget(w);
    return form;
}

/* Operations [first, end). */
static void make_part(struct zs_eu_shadow_walk *w, size_t first, size_t end, const bool *known)
{
    struct zs_eu_shadow_plan *plan = w->p->shadows;
    struct zs_eu_shadow_part part;
    for (unsigned all = 0; all < 2; all++) {
        w->ce = all ? w->p->simd_mask : 0;
        for (size_t i = first; i < end; i++)
            zs_eu_shadow_add(w, &w->p->ops[i], known[i]);
        part.form[all] = make_form(w);
    }
    plan->part_of[first] = (uint32_t)plan->parts.count;
    w->no_memory |= !ZS_VEC_PUSH(&plan->parts, part);
    w->p->ops[first].fn = begin_part;
}

static void make_parts(struct zs_eu_shadow_walk *w, bool has_parts, size_t count,
                       zs_eu_op_fn *const *keeps, const bool *known)
{
    struct zs_eu_shadow_plan *plan = w->p->shadows;
    size_t first = SIZE_MAX;
    for (size_t i = 0; i < count && !w->no_memory; i++) {
        struct zs_eu_op *op = &w->p->ops[i], *careful = op + plan->careful;
        if (has_parts && is_of_part(op)) {
            careful->fn = keeps[i] ? keeps[i] : plan->plain[i];
            first = first != SIZE_MAX ? first : keeps[i] ? i : SIZE_MAX;
            continue;
        }
        if (first != SIZE_MAX)
            make_part(w, first, i, known);
        first = SIZE_MAX;
        op->fn = keeps[i] ? keeps[i] : op->fn;
        careful->fn = end_careful;
    }
    if (first != SIZE_MAX)
        make_part(w, first, count, known);
}

bool zs_eu_shadow_parts(struct zs_eu_program *p, bool has_parts, size_t count,
                        zs_eu_op_fn *const *keeps, const bool *known)
{
    struct zs_eu_shadow_plan *plan = p->shadows = calloc(1, sizeof(*plan));
    struct zs_eu_shadow_walk *w = calloc(1, sizeof(*w));
    bool made = plan && w && (plan->plain = calloc(2 * count + 1, sizeof(*plan->plain))) &&
                (plan->part_of = calloc(count + 1, sizeof(*plan->part_of)));
    if (made) {
        memcpy(p->ops + count, p->ops, count * sizeof(*p->ops));
        for (size_t i = 0; i < 2 * count; i++)
            plan->plain[i] = p->ops[i].fn;
        plan->careful = count;
        plan->wants_more[0] = plan->wants_more[1] = true;
        w->p = p;
        make_parts(w, has_parts, count, keeps, known);
        if (has_parts)
            zs_eu_shadow_flow(w, known);
        made = !w->no_memory;
    }
    free(w);
    return made;
}

void zs_eu_shadow_plan_destroy(struct zs_eu_shadow_plan *plan)
{
    if (!plan)
        return;
    free(plan->plain);
    free(plan->part_of);
    free(plan->parts.items);
    free(plan->spans.items);
    free(plan->lane_spans.items);
    free(plan);
}
