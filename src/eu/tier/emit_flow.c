/* SPDX-License-Identifier: MIT */
/*
 * Functions of a program in LLVM's language: control flow, the ways in and out.
 *
 * A function has segments of both versions, all lanes on and any. Lanes that part and meet stay in
 * it (emit_part.c). Variables are loaded where threads come in, as far as they are live there, and
 * stored where they leave. Counters are kept at block starts as the interpreter keeps them; the
 * budget is, too, but looked at only where threads come in.
 */
#include "dataport/dataport.h"
#include "eu/checks/shadow_priv.h"
#include "eu/control.h"
#include "eu/tier/emit.h"
#include "eu/tier/tier_priv.h"

#include <stdlib.h>
#include <string.h>

#define VALUE(...) zs_eu_emit_value(e, __VA_ARGS__)
#define LINE(...)  zs_eu_emit_line(e, __VA_ARGS__)

enum {
    LIKELY_NOT_KNOWN = ZS_EU_EMIT_LIKELY_NOT_KNOWN,
    LIKELY = ZS_EU_EMIT_LIKELY,
    UNLIKELY = ZS_EU_EMIT_UNLIKELY
};
enum { EXIT_GOES_ON = 1, EXIT_BUDGET = 2, EXIT_LEAVES = 4, EXIT_AGAIN = 8, EXIT_ENDS = 16 };

static uint32_t half(const struct zs_eu_emit *e)
{
    return e->segment_count / 2;
}

/* ---- ways out ---- */

void zs_eu_emit_branch(struct zs_eu_emit *e, unsigned condition, unsigned yes, unsigned no,
                       unsigned likely)
{
    static const char *const how[] = {"", ", !prof !0", ", !prof !1"};

    LINE("br i1 %%v%u, label %%l%u, label %%l%u%s", condition, yes, no, how[likely]);
}

static unsigned op_at(struct zs_eu_emit *e, uint32_t op)
{
    return VALUE("getelementptr i8, i8* %%ops, i64 %llu",
                 (unsigned long long)op * sizeof(struct zs_eu_op));
}

static void store_op(struct zs_eu_emit *e, uint32_t at, uint32_t op)
{
    unsigned to = zs_eu_emit_address(e, "%t", at, "i8*");
    LINE("store i8* %%v%u, i8** %%v%u", op_at(e, op), to);
}

void zs_eu_emit_store_status(struct zs_eu_emit *e, enum zs_eu_status status, uint32_t resume)
{
    zs_eu_emit_set_field(e, ZS_EU_OFFSET(status), VALUE("add i32 0, %d", (int)status));
    store_op(e, ZS_EU_OFFSET(resume), resume);
}

void zs_eu_emit_store_budget(struct zs_eu_emit *e)
{
    unsigned at = zs_eu_emit_address(e, "%t", ZS_EU_OFFSET(budget), "i64");
    LINE("store i64 %%v%u, i64* %%v%u", VALUE("load i64, i64* %%budget"), at);
}

/* Variables of units among a set; of all without one. */
void zs_eu_emit_each_unit(struct zs_eu_emit *e, const struct zs_eu_emit_set *set,
                          void (*what)(struct zs_eu_emit *, uint32_t))
{
    for (uint32_t unit = 0; unit < ZS_EU_EMIT_UNITS; unit++) {
        bool is_in = !set || unit < ZS_EU_EMIT_HEAD_B / 32 || zs_eu_emit_has(set, unit);
        if (e->kind[unit] == ZS_EU_EMIT_HIGH)
            continue;
        if (e->kind[unit] == ZS_EU_EMIT_LOW && set)
            is_in |= zs_eu_emit_has(set, unit + 1);
        if (is_in)
            what(e, unit);
    }
}

static void give_up(struct zs_eu_emit *e, const struct zs_eu_emit_set *live)
{
    zs_eu_emit_each_unit(e, live, zs_eu_emit_spill);
    zs_eu_emit_store_budget(e);
}

/* An exit stores what is live there: nothing else needs a value, nor has to be kept for it. Of long
 * functions all exits have one place, which stores all. */
static bool has_own_exits(const struct zs_eu_emit *e)
{
    enum { SHORT = 80 };

    return e->segment_count <= SHORT;
}

static void leave_from(struct zs_eu_emit *e, uint32_t op)
{
    bool is_start = zs_eu_emit_segment_at(e, op) != UINT32_MAX; /* its handler may be this one */

    LINE("store i8* %%v%u, i8** %%next", op_at(e, op));
    LINE("br label %%%s", is_start ? "handler" : "return");
}

static const char *exit_name(unsigned how)
{
    return how == EXIT_AGAIN ? "again" : how == EXIT_ENDS ? "ends" : "leave";
}

/* By one of the ways out of a segment: before it, in it, at its end. */
static void go_out(struct zs_eu_emit *e, unsigned how)
{
    if (!has_own_exits(e)) {
        LINE("br label %%%s", exit_name(how == EXIT_ENDS ? EXIT_LEAVES : how));
        return;
    }
    LINE("br label %%%s%u", exit_name(how), e->segment);
    e->exits[e->segment] |= e->dry ? 0 : (uint8_t)how;
}

/* What was written is stored, as far as somebody may want it. */
void zs_eu_emit_leave(struct zs_eu_emit *e, uint32_t op)
{
    uint16_t kind = e->p->ops[op].kind;
    bool again = zs_eu_emit_segment_at(e, op) != UINT32_MAX;
    bool ends = kind == ZS_EU_KIND_BRANCH || kind == ZS_EU_KIND_GOTO;
    unsigned at = op_at(e, op);

    LINE("store i8* %%v%u, i8** %%next", at);
    go_out(e, again ? EXIT_AGAIN : ends ? EXIT_ENDS : EXIT_LEAVES);
}

static unsigned shadow_is(struct zs_eu_emit *e, const char *how)
{
    return VALUE("icmp %s i8* %%v%u, null", how,
                 zs_eu_emit_load(e, "%t", ZS_EU_OFFSET(shadow), "i8*"));
}

void zs_eu_emit_leave_undefined(struct zs_eu_emit *e, uint32_t op)
{
    unsigned go_on = zs_eu_emit_label(e), leave = zs_eu_emit_label(e);

    if (!e->p->shadows)
        return;
    zs_eu_emit_branch(e, shadow_is(e, "eq"), go_on, leave, LIKELY);
    zs_eu_emit_put_label(e, leave);
    LINE("store i8* %%v%u, i8** %%next", op_at(e, op + 1 + (uint32_t)e->p->shadows->careful));
    go_out(e, EXIT_LEAVES);
    zs_eu_emit_put_label(e, go_on);
}

void zs_eu_emit_stop(struct zs_eu_emit *e)
{
    LINE("br label %%stop");
}

/* ---- blocks and jumps ---- */

static void go_to(struct zs_eu_emit *e, uint32_t segment)
{
    if (e->segments[segment].in) {
        LINE("br label %%s%u", segment);
        return;
    }
    if (!has_own_exits(e)) {
        LINE("store i8* %%v%u, i8** %%next", op_at(e, e->segments[segment].first));
        LINE("br label %%leave");
        return;
    }
    LINE("br label %%x%u", segment);
    if (!e->dry)
        e->exits[segment] |= EXIT_GOES_ON;
}

static uint32_t segment_of(const struct zs_eu_emit *e, uint32_t block, bool full)
{
    return e->block_segment[block] + (full ? half(e) : 0);
}

static void go_to_block(struct zs_eu_emit *e, uint32_t block)
{
    go_to(e, segment_of(e, block, e->full));
}

static void add_to_counter(struct zs_eu_emit *e, uint32_t counter, unsigned value)
{
    unsigned at = zs_eu_emit_address(e, "%counters", counter * UINT64_C(8), "i64");
    unsigned sum = VALUE("load i64, i64* %%v%u", at);
    sum = VALUE("add i64 %%v%u, %%v%u", sum, value);
    LINE("store i64 %%v%u, i64* %%v%u", sum, at);
}

static void add_popcount(struct zs_eu_emit *e, uint32_t counter, unsigned mask)
{
    unsigned count = VALUE("call i32 @llvm.ctpop.i32(i32 %%v%u)", mask);

    add_to_counter(e, counter, VALUE("zext i32 %%v%u to i64", count));
}

/* The thread's lanes. */
static void load_lanes(struct zs_eu_emit *e)
{
    LINE("store i32 %%v%u, i32* %%ce", zs_eu_emit_field(e, ZS_EU_OFFSET(ce)));
}

/* Lanes that wait here join; with them all may be on. */
static void emit_join(struct zs_eu_emit *e, uint32_t block)
{
    unsigned join = zs_eu_emit_label(e), alone = zs_eu_emit_label(e);
    uint32_t full = segment_of(e, block, true);

    zs_eu_emit_branch(e, zs_eu_emit_waits_at(e, block), join, alone, LIKELY_NOT_KNOWN);
    zs_eu_emit_put_label(e, join);
    if (!zs_eu_emit_is_place(e, block)) {
        zs_eu_emit_leave(e, e->segments[e->segment].first);
        zs_eu_emit_put_label(e, alone);
        return;
    }
    unsigned all = zs_eu_emit_meet(e, block), more = zs_eu_emit_label(e);
    zs_eu_emit_branch(e, VALUE("icmp eq i32 %%v%u, %u", all, e->p->full_ce), more, alone,
                      LIKELY_NOT_KNOWN);
    zs_eu_emit_put_label(e, more);
    go_to(e, full);
    zs_eu_emit_put_label(e, alone);
}

uint64_t zs_eu_emit_counted(uint32_t ce, unsigned i)
{
    uint64_t known[2] = {1 | (uint64_t)(unsigned)__builtin_popcount(ce & 0xff) << ZS_EU_PACKED_LOW |
                             (uint64_t)(unsigned)__builtin_popcount(ce & 0xff00)
                                 << ZS_EU_PACKED_HIGH,
                         (unsigned)__builtin_popcount(ce & 0xff0000) |
                             (uint64_t)(unsigned)__builtin_popcount(ce & 0xff000000) << 32};

    return known[i];
}

/* What the lanes that run add to a block's counters. */
static unsigned block_count(struct zs_eu_emit *e, unsigned i)
{
    if (e->full)
        return VALUE("add i64 0, %llu", (unsigned long long)zs_eu_emit_counted(e->p->full_ce, i));
    return zs_eu_emit_load(e, "%t", ZS_EU_OFFSET(block_count) + 8 * i, "i64");
}

/* At a segment's start, with what is live there; or by one way for all. */
static void stop_for_budget(struct zs_eu_emit *e)
{
    const struct zs_eu_emit_segment *s = &e->segments[e->segment];

    if (s->loops || has_own_exits(e)) {
        LINE("br label %%z%u", e->segment);
        e->exits[e->segment] |= e->dry ? 0 : EXIT_BUDGET;
        return;
    }
    zs_eu_emit_store_status(e, ZS_EU_BUDGET, s->first);
    LINE("br label %%pause");
}

/* Who is stopped elsewhere would go on in the interpreter; every loop has a place to come in. */
static void emit_budget(struct zs_eu_emit *e, unsigned budget)
{
    unsigned go_on = zs_eu_emit_label(e), stop = zs_eu_emit_label(e);

    if (!e->segments[e->segment].entry)
        return;
    zs_eu_emit_branch(e, VALUE("icmp sle i64 %%v%u, 0", budget), stop, go_on, UNLIKELY);
    zs_eu_emit_put_label(e, stop);
    stop_for_budget(e);
    zs_eu_emit_put_label(e, go_on);
}

/* out_of_budget() and count_block() of control.c */
static void emit_block(struct zs_eu_emit *e, const struct zs_eu_op *op)
{
    if (!e->full && e->joins[op->block])
        emit_join(e, op->block);
    unsigned budget = VALUE("load i64, i64* %%budget");
    emit_budget(e, budget);
    LINE("store i64 %%v%u, i64* %%budget", VALUE("sub i64 %%v%u, %u", budget, op->aux));
    if (!op->arg)
        return;
    add_to_counter(e, op->next_block, block_count(e, 0));
    if (e->p->full_ce > 0xffff)
        add_to_counter(e, op->next_block + 1, block_count(e, 1));
    if (op->pred_xor) {
        struct zs_eu_emit_mask on = zs_eu_emit_mask_word(e, ZS_EU_OFFSET(ce));
        on = zs_eu_emit_mask_and(e, on, zs_eu_emit_constant_mask(op->full));
        add_popcount(e, op->pred_xor, zs_eu_emit_mask_value(e, on));
    }
}

/* The operation where a block begins, for any lanes: i8*. */
static unsigned op_of_block(struct zs_eu_emit *e, unsigned block)
{
    unsigned at = zs_eu_emit_load(e, "%program", offsetof(struct zs_eu_program, block_op), "i32*");

    at = VALUE("getelementptr i32, i32* %%v%u, i32 %%v%u", at, block);
    at = VALUE("zext i32 %%v%u to i64", VALUE("load i32, i32* %%v%u", at));
    at = VALUE("mul i64 %%v%u, %zu", at, sizeof(struct zs_eu_op));
    return VALUE("getelementptr i8, i8* %%ops, i64 %%v%u", at);
}

/* The interpreter has the branch, and counts a jump that is taken once more. */
static void leave_branch(struct zs_eu_emit *e, uint32_t index)
{
    const struct zs_eu_op *op = &e->p->ops[index];

    if (op->kind == ZS_EU_KIND_JUMP_UNIFORM && op->aux && e->counts)
        add_to_counter(e, op->aux, VALUE("add i64 0, -1"));
    zs_eu_emit_leave(e, index);
}

/* Lanes wait between here and the block: those run first. */
static void pass(struct zs_eu_emit *e, uint32_t block, uint32_t index)
{
    enum { FEW = 12 };
    unsigned none = zs_eu_emit_label(e), mine = zs_eu_emit_label(e), other = zs_eu_emit_label(e);
    uint32_t to[FEW];
    unsigned count = 0;

    if (!zs_eu_emit_is_place(e, block)) {
        leave_branch(e, index);
        return;
    }
    unsigned bit = zs_eu_emit_first_bit(e, e->segments[e->segment].block, block);
    zs_eu_emit_branch(e, VALUE("trunc i32 %%v%u to i1", bit), mine, other, LIKELY);
    zs_eu_emit_put_label(e, other);
    leave_branch(e, index);
    zs_eu_emit_put_label(e, mine);
    zs_eu_emit_give_way(e, bit, block);
    for (uint32_t b = e->segments[e->segment].block + 1; b < block && count < FEW; b++) {
        if (e->segments[segment_of(e, b, false)].in && zs_eu_emit_is_place(e, b))
            to[count++] = b;
    }
    LINE("switch i32 %%v%u, label %%l%u [", bit, none);
    for (unsigned i = 0; i < count; i++)
        LINE("  i32 %u, label %%s%u", 2u * e->places[to[i]] - 1, segment_of(e, to[i], false));
    LINE("]");
    zs_eu_emit_put_label(e, none);
    unsigned first = VALUE("lshr i32 %%v%u, 1", bit);
    first = VALUE("getelementptr i32, i32* %%places, i32 %%v%u", first);
    LINE("store i8* %%v%u, i8** %%next", op_of_block(e, VALUE("load i32, i32* %%v%u", first)));
    go_out(e, EXIT_ENDS);
}

static void go_unless_passed(struct zs_eu_emit *e, uint32_t block, uint32_t index)
{
    if (!e->full && block > e->segments[e->segment].block + 1) { /* nobody waits behind */
        unsigned go = zs_eu_emit_label(e), passed = zs_eu_emit_label(e);
        zs_eu_emit_branch(e, zs_eu_emit_waits_before(e, block), passed, go, LIKELY_NOT_KNOWN);
        zs_eu_emit_put_label(e, passed);
        pass(e, block, index);
        zs_eu_emit_put_label(e, go);
    }
    go_to_block(e, block);
}

static unsigned running(struct zs_eu_emit *e)
{
    return zs_eu_emit_mask_value(e, zs_eu_emit_mask_word(e, ZS_EU_OFFSET(ce)));
}

/* Of a branch, call or return: lanes that take it. */
static struct zs_eu_emit_mask taken_lanes(struct zs_eu_emit *e, const struct zs_eu_op *op)
{
    struct zs_eu_emit_mask taken =
        zs_eu_emit_mask_shift(e, zs_eu_emit_active(e, op), -(int)op->chan_offset);

    if (op->kind == ZS_EU_KIND_BRANCH && op->arg & ZS_EU_BRANCH_WHEN_FALSE)
        taken = zs_eu_emit_mask_and(e, zs_eu_emit_mask_xor(e, taken, UINT32_MAX),
                                    zs_eu_emit_constant_mask(op->lanes << op->chan_offset));
    return zs_eu_emit_mask_and(e, taken, zs_eu_emit_mask_word(e, ZS_EU_OFFSET(ce)));
}

/* Some of the running lanes take a branch: those that come to the first of both blocks run on.
 * Others may wait there, who join them then, but not in front of it. */
static void emit_split(struct zs_eu_emit *e, const struct zs_eu_op *op, uint32_t index,
                       unsigned taken, unsigned all)
{
    uint32_t first = ZS_MIN(op->block, op->next_block), last = ZS_MAX(op->block, op->next_block);
    unsigned rest = VALUE("xor i32 %%v%u, %%v%u", all, taken);

    if (first == last || !zs_eu_emit_is_place(e, last)) {
        zs_eu_emit_leave(e, index);
        return;
    }
    if (!e->full && first > e->segments[e->segment].block + 1) {
        unsigned part = zs_eu_emit_label(e), other = zs_eu_emit_label(e);
        zs_eu_emit_branch(e, zs_eu_emit_waits_before(e, first), other, part, UNLIKELY);
        zs_eu_emit_put_label(e, other);
        zs_eu_emit_leave(e, index);
        zs_eu_emit_put_label(e, part);
    }
    zs_eu_emit_part(e, first == op->block ? taken : rest, first == op->block ? rest : taken, last);
    go_to(e, segment_of(e, first, false));
}

/* branch, goto */
static void emit_parting(struct zs_eu_emit *e, const struct zs_eu_op *op, uint32_t index)
{
    unsigned taken = zs_eu_emit_mask_value(e, taken_lanes(e, op)), all = running(e);
    if (op->kind == ZS_EU_KIND_BRANCH && op->arg & ZS_EU_BRANCH_TOGETHER) {
        unsigned stays = VALUE("xor i32 %%v%u, %%v%u", all, taken);
        stays = VALUE("and i32 %%v%u, %u", stays, op->lanes << op->chan_offset);
        taken = VALUE("select i1 %%v%u, i32 %%v%u, i32 %%v%u", VALUE("icmp eq i32 %%v%u, 0", stays),
                      all, taken);
    } else if (op->kind == ZS_EU_KIND_BRANCH && op->arg & ZS_EU_BRANCH_ALL_OR_NONE) {
        unsigned every = VALUE("icmp eq i32 %%v%u, %%v%u", taken, all);
        taken = VALUE("select i1 %%v%u, i32 %%v%u, i32 0", every, all);
    }
    unsigned yes = zs_eu_emit_label(e), maybe = zs_eu_emit_label(e), no = zs_eu_emit_label(e),
             split = zs_eu_emit_label(e);

    zs_eu_emit_branch(e, VALUE("icmp eq i32 %%v%u, %%v%u", taken, all), yes, maybe,
                      LIKELY_NOT_KNOWN);
    zs_eu_emit_put_label(e, maybe);
    zs_eu_emit_branch(e, VALUE("icmp eq i32 %%v%u, 0", taken), no, split, LIKELY_NOT_KNOWN);
    zs_eu_emit_put_label(e, split);
    emit_split(e, op, index, taken, all);
    zs_eu_emit_put_label(e, yes);
    go_unless_passed(e, op->block, index);
    zs_eu_emit_put_label(e, no);
    if (op->kind == ZS_EU_KIND_GOTO)
        go_unless_passed(e, op->next_block, index);
}

static void emit_jump(struct zs_eu_emit *e, const struct zs_eu_op *op, uint32_t index)
{
    struct zs_eu_emit_mask taken =
        zs_eu_emit_mask_and(e, zs_eu_emit_active(e, op), zs_eu_emit_constant_mask(1));
    unsigned bit = zs_eu_emit_mask_value(e, taken);
    unsigned yes = zs_eu_emit_label(e), no = zs_eu_emit_label(e);

    if (op->aux && e->counts)
        add_to_counter(e, op->aux, VALUE("zext i32 %%v%u to i64", bit));
    zs_eu_emit_branch(e, VALUE("icmp ne i32 %%v%u, 0", bit), yes, no, LIKELY_NOT_KNOWN);
    zs_eu_emit_put_label(e, yes);
    go_unless_passed(e, op->block, index);
    zs_eu_emit_put_label(e, no);
}

/* ---- calls ---- */

static uint32_t return_ip_B(const struct zs_eu_emit *e, const struct zs_eu_op *op)
{
    const struct zs_eu_inst *inst = &e->p->insts[op->inst];

    return zs_eu_program_ip(e->p, inst->offset_B) + inst->size_B;
}

/* What the interpreter does where it is not all lanes, or too deep. */
static void need(struct zs_eu_emit *e, unsigned condition, unsigned otherwise)
{
    unsigned next = zs_eu_emit_label(e);

    zs_eu_emit_branch(e, condition, next, otherwise, LIKELY);
    zs_eu_emit_put_label(e, next);
}

static void emit_call(struct zs_eu_emit *e, const struct zs_eu_op *op, uint32_t index)
{
    unsigned other = zs_eu_emit_label(e), link = VALUE("add i32 0, %u", return_ip_B(e, op));
    unsigned taken = zs_eu_emit_mask_value(e, taken_lanes(e, op)), all = running(e);

    need(e, VALUE("icmp eq i32 %%v%u, %%v%u", taken, all), other);
    unsigned depth = zs_eu_emit_field(e, ZS_EU_OFFSET(depth_key));
    need(e, VALUE("icmp ne i32 %%v%u, 0", depth), other);
    if (!e->full)
        zs_eu_emit_settle(e);
    depth = VALUE("sub i32 %%v%u, %u", depth, 1u << ZS_EU_BLOCK_BITS);
    zs_eu_emit_set_field(e, ZS_EU_OFFSET(depth_key), depth);
    unsigned at = VALUE("lshr i32 %%v%u, %d", depth, ZS_EU_BLOCK_BITS - 2);
    at = VALUE("zext i32 %%v%u to i64", at);
    at = VALUE("add i64 %%v%u, %u", at, ZS_EU_OFFSET(return_ip_B));
    at = VALUE("getelementptr i8, i8* %%t, i64 %%v%u", at);
    at = VALUE("bitcast i8* %%v%u to i32*", at);
    LINE("store i32 %%v%u, i32* %%v%u", link, at);
    if (op->arg) {
        zs_eu_emit_write_one(e, op->aux, 4, link);
        zs_eu_emit_write_one(e, op->aux + 4, 4, all);
    }
    if (!e->full) {
        zs_eu_emit_set_field(e, ZS_EU_OFFSET(merge_block), VALUE("add i32 0, -1"));
        zs_eu_emit_none_waits(e);
    }
    go_to_block(e, op->block);
    zs_eu_emit_put_label(e, other);
    zs_eu_emit_leave(e, index);
}

/* Returns to whoever calls in this function. */
static void emit_ret(struct zs_eu_emit *e, const struct zs_eu_op *op, uint32_t index)
{
    const struct zs_eu_program *p = e->p;
    unsigned other = zs_eu_emit_label(e), outermost = (ZS_EU_DEPTHS - 1u) << ZS_EU_BLOCK_BITS;
    unsigned taken = zs_eu_emit_mask_value(e, taken_lanes(e, op)), all = running(e);

    need(e, VALUE("icmp eq i32 %%v%u, %%v%u", taken, all), other);
    if (!e->full)
        need(e, VALUE("xor i1 %%v%u, true", zs_eu_emit_some_wait(e)), other);
    unsigned depth = zs_eu_emit_field(e, ZS_EU_OFFSET(depth_key));
    need(e, VALUE("icmp ne i32 %%v%u, %u", depth, outermost), other);
    depth = VALUE("add i32 %%v%u, %u", depth, 1u << ZS_EU_BLOCK_BITS);
    unsigned ip = zs_eu_emit_read_one(e, op->src[0], 4), labels = e->label;
    LINE("switch i32 %%v%u, label %%l%u [", ip, other);
    for (uint32_t i = 0; i < p->op_count; i++) {
        if (p->ops[i].kind == ZS_EU_KIND_CALL)
            LINE("  i32 %u, label %%l%u", return_ip_B(e, &p->ops[i]), zs_eu_emit_label(e));
    }
    LINE("]");
    for (uint32_t i = 0; i < p->op_count; i++) {
        if (p->ops[i].kind != ZS_EU_KIND_CALL)
            continue;
        zs_eu_emit_put_label(e, labels++);
        zs_eu_emit_set_field(e, ZS_EU_OFFSET(depth_key), depth);
        go_to_block(e, p->ops[i].next_block);
    }
    zs_eu_emit_put_label(e, other);
    zs_eu_emit_leave(e, index);
}

/* What is stored may be over what another thread would begin with. */
static void emit_strayed(struct zs_eu_emit *e)
{
    unsigned follows = zs_eu_emit_field(e, ZS_EU_OFFSET(follows));

    zs_eu_emit_set_field(e, ZS_EU_OFFSET(follows),
                         VALUE("or i32 %%v%u, %d", follows, (int)ZS_EU_STRAYED));
}

/* A barrier: who comes to it waits, nearly always. The interpreter goes on behind it. */
static void emit_wait(struct zs_eu_emit *e, const struct zs_eu_op *op, uint32_t index)
{
    uint32_t next = e->segment + 1;
    bool is_last = next == e->segment_count || e->segments[next].first != index + 1;
    const struct zs_eu_emit_set *live = is_last ? NULL : &e->segments[next].live;

    if (!e->dry && e->full)
        zs_eu_emit_each_unit(e, live, zs_eu_emit_overwrites);

    unsigned n0 =
        op->kind == ZS_EU_KIND_WAIT
            ? zs_eu_emit_word(e, ZS_EU_OFFSET(n0) + 4 * (op->arg & ~(uint32_t)ZS_EU_WAIT_LEAVES))
            : 0;
    give_up(e, live);
    if (op->kind == ZS_EU_KIND_WAIT) {
        unsigned waits = zs_eu_emit_label(e), passes = zs_eu_emit_label(e);
        zs_eu_emit_branch(e, VALUE("icmp eq i32 %%v%u, 0", n0), waits, passes, LIKELY);
        zs_eu_emit_put_label(e, waits);
        zs_eu_emit_set_field(e, ZS_EU_OFFSET(awaited_barrier), VALUE("add i32 0, 0"));
        zs_eu_emit_store_status(e, ZS_EU_BARRIER, index);
        if (!e->full)
            emit_strayed(e);
        LINE("br label %%paused");
        zs_eu_emit_put_label(e, passes);
    }
    leave_from(e, index);
}

/* ---- messages ---- */

/* Of all variables that bytes of registers are in. */
static void each_of_bytes(struct zs_eu_emit *e, uint32_t at_B, uint32_t size_B,
                          void (*what)(struct zs_eu_emit *, uint32_t))
{
    uint32_t first = (ZS_EU_OFFSET(grf) + at_B) / 32;

    for (uint32_t unit = first; unit * 32 < ZS_EU_OFFSET(grf) + at_B + size_B; unit++) {
        if (unit == first || e->kind[unit] != ZS_EU_EMIT_HIGH) /* that is the one before */
            what(e, unit);
    }
}

static uint32_t returned_B(const struct zs_eu_send_desc *d)
{
    return d->has_dst ? d->rlen * (uint32_t)d->generation->grf_B : 0;
}

void zs_eu_emit_runner(struct zs_eu_emit *e, const struct zs_eu_op *op, uint32_t index,
                       unsigned active)
{
    const struct zs_eu_send_desc *d = &op->send->send.d;
    uint32_t grf_B = (uint32_t)d->generation->grf_B, dst_B = returned_B(d);
    unsigned go_on = zs_eu_emit_label(e), stop = zs_eu_emit_label(e);

    if (d->has_base)
        zs_eu_emit_spill(e, (ZS_EU_OFFSET(s0) + d->base_s0 * 8u) / 32);
    if (op->send->ex_desc_is_reg)
        zs_eu_emit_spill(e, (ZS_EU_OFFSET(a0) + op->send->ex_desc_a0 * 4u) / 32);
    each_of_bytes(e, d->src0_B, d->mlen * grf_B, zs_eu_emit_spill);
    each_of_bytes(e, d->src1_B, d->xlen * grf_B, zs_eu_emit_spill);
    each_of_bytes(e, d->dst_B, dst_B, zs_eu_emit_spill);
    unsigned done = VALUE("call coldcc i32 @zs_send(i8* %%t, i32 %u, i32 %%v%u) #3", index, active);
    each_of_bytes(e, d->dst_B, dst_B, zs_eu_emit_fill);
    zs_eu_emit_look_again(e, &op->send->send);
    zs_eu_emit_branch(e, VALUE("icmp eq i32 %%v%u, 0", done), stop, go_on, UNLIKELY);
    zs_eu_emit_put_label(e, stop);
    zs_eu_emit_stop(e);
    zs_eu_emit_put_label(e, go_on);
    zs_eu_emit_leave_undefined(e, index);
}

/* What the message reads and writes of the thread, where nobody knows better. */
static void note_send(struct zs_eu_emit *e, const struct zs_eu_send_desc *d)
{
    uint32_t grf = ZS_EU_OFFSET(grf), grf_B = (uint32_t)d->generation->grf_B;

    if (d->has_base)
        zs_eu_emit_reads(e, ZS_EU_OFFSET(s0) + d->base_s0 * 8u, 8);
    zs_eu_emit_reads(e, grf + d->src0_B, d->mlen * grf_B);
    zs_eu_emit_reads(e, grf + d->src1_B, d->xlen * grf_B);
}

/* Registers that it may read and write: whose memory it is alone may come from a0. */
static bool is_extent_known(const struct zs_eu_emit *e, const struct zs_eu_program_send *send)
{
    const struct zs_eu_send_desc *d = &send->send.d;
    struct zs_eu_send checked = send->send;
    bool has_data = d->src1_B < ZS_EU_GRF_FILE_MAX_B;

    if (send->desc_is_reg || d->gathers || d->src0_B >= ZS_EU_GRF_FILE_MAX_B)
        return false;
    if (!send->ex_desc_is_reg)
        return has_data && d->dst_B < ZS_EU_GRF_FILE_MAX_B;
    return !d->is_e64 && !d->eot && (has_data ? d->xlen_known : !d->xlen) &&
           zs_eu_send_finish(e->p, &checked) >= 0;
}

/* A message that ends the thread and does nothing else. */
static bool only_ends(const struct zs_eu_op *op)
{
    return op->kind == ZS_EU_KIND_SEND && op->arg && !op->send->send.exec &&
           !op->send->desc_is_reg && !op->send->ex_desc_is_reg;
}

/* false: nothing of the block runs behind it. */
static bool emit_send(struct zs_eu_emit *e, const struct zs_eu_op *op, uint32_t index)
{
    const struct zs_eu_program_send *send = op->send;
    const struct zs_eu_send_desc *d = &send->send.d;

    if (only_ends(op)) {
        zs_eu_emit_modes_end(e);
        zs_eu_emit_follow(e);
        store_op(e, ZS_EU_OFFSET(current), index);
        zs_eu_emit_store_status(e, ZS_EU_EOT, index + 1);
        zs_eu_emit_stop(e);
        return false;
    }
    if (!is_extent_known(e, send)) {
        zs_eu_emit_one(e, index);
        return true;
    }
    struct zs_eu_emit_mask active = zs_eu_emit_active(e, op);
    if (active.known && !active.bits && !op->arg)
        return true;
    bool always = op->arg || (active.known && active.bits);
    if (e->dry && !zs_eu_emit_message_notes(e, op, active))
        note_send(e, d);
    unsigned skip = zs_eu_emit_label(e), mine = zs_eu_emit_label(e);
    unsigned value = zs_eu_emit_mask_value(e, active);
    e->quiet++;
    if (!always) {
        zs_eu_emit_branch(e, VALUE("icmp eq i32 %%v%u, 0", value), skip, mine, LIKELY_NOT_KNOWN);
        zs_eu_emit_put_label(e, mine);
    }
    if (!zs_eu_emit_message(e, op, index, active, value))
        zs_eu_emit_runner(e, op, index, value);
    LINE("br label %%l%u", skip);
    zs_eu_emit_put_label(e, skip);
    e->quiet--;
    return true;
}

/* ---- operations ---- */

static bool emit_leaving(struct zs_eu_emit *e, uint32_t index)
{
    zs_eu_emit_leave(e, index);
    return false;
}

/* The other thread of the pair reads registers of this one, and the interpreter runs the rest of
 * the block. */
static bool emit_pair(struct zs_eu_emit *e, uint32_t index)
{
    if (e->dry)
        zs_eu_emit_reads(e, 0, ZS_EU_EMIT_UNITS * 32);
    return emit_leaving(e, index);
}

/* It moves what only the message that ends the thread reads, to which nobody listens. */
static bool is_for_end(const struct zs_eu_emit *e, uint32_t index)
{
    const struct zs_eu_op *op = &e->p->ops[index], *end = op + 1;

    if (e->options.keeps_state || op->kind != ZS_EU_ROW_MOV_32 || index + 1 >= 2 * e->p->op_count ||
        !only_ends(end))
        return false;
    const struct zs_eu_send_desc *d = &end->send->send.d;
    uint32_t from = ZS_EU_OFFSET(grf) + d->src0_B;
    uint32_t size_B = op->cls == ZS_EU_CLASS_N1 ? 4 : 32u * op->chunks;
    return op->dst >= from && op->dst + size_B <= from + d->mlen * (uint32_t)d->generation->grf_B;
}

bool zs_eu_emit_op(struct zs_eu_emit *e, uint32_t index)
{
    const struct zs_eu_op *op = &e->p->ops[index];

    if (is_for_end(e, index))
        return true;
    e->mode = zs_eu_emit_modes_behind(e, op, e->mode);
    switch (op->kind) {
    case ZS_EU_KIND_BLOCK:
        emit_block(e, op);
        return true;
    case ZS_EU_KIND_LANE_COUNT:
        if (e->counts)
            add_popcount(e, op->aux, zs_eu_emit_mask_value(e, zs_eu_emit_active(e, op)));
        return true;
    case ZS_EU_KIND_SEND:
        return emit_send(e, op, index);
    case ZS_EU_KIND_BRANCH:
    case ZS_EU_KIND_GOTO:
        emit_parting(e, op, index);
        return op->kind == ZS_EU_KIND_BRANCH;
    case ZS_EU_KIND_JUMP_UNIFORM:
        emit_jump(e, op, index);
        return true;
    case ZS_EU_KIND_CALL:
        emit_call(e, op, index);
        return false;
    case ZS_EU_KIND_RET:
        emit_ret(e, op, index);
        return false;
    case ZS_EU_KIND_WAIT:
    case ZS_EU_KIND_WAIT_NAMED:
        emit_wait(e, op, index);
        return false;
    case ZS_EU_KIND_CONTROL_REGISTER:
        zs_eu_emit_control(e, index);
        return true;
    case ZS_EU_KIND_PAIR:
        return emit_pair(e, index);
    case ZS_EU_KIND_FAULT:
    case ZS_EU_KIND_END:
    case ZS_EU_KIND_CALL_REGISTER:
    case ZS_EU_KIND_JUMP_REGISTER:
    case ZS_EU_KIND_STEP:
    case ZS_EU_KIND_SCOREBOARD:
        return emit_leaving(e, index);
    default:
        zs_eu_emit_straight(e, index);
        return true;
    }
}

/* ---- functions ---- */

/* Whether the host's modes are those that the function was written for. */
static unsigned emit_modes(struct zs_eu_emit *e)
{
    unsigned single = zs_eu_emit_field(e, ZS_EU_OFFSET(host_csr));
    unsigned both = zs_eu_emit_field(e, ZS_EU_OFFSET(host_csr_double));

    single = VALUE("icmp eq i32 %%v%u, %u", single, e->p->host_csr[0]);
    both = VALUE("icmp eq i32 %%v%u, %u", both, e->p->host_csr[1]);
    return VALUE("and i1 %%v%u, %%v%u", single, both);
}

static void emit_segment(struct zs_eu_emit *e, uint32_t number)
{
    const struct zs_eu_emit_segment *s = &e->segments[number];
    bool goes_on = true;

    e->segment = number;
    e->full = s->full;
    e->mode = zs_eu_emit_modes_at(e, number);
    if (!e->dry)
        zs_eu_emit_find_later(e);
    if (!e->dry)
        zs_buf_printf(&e->body, "s%u:\n", number);
    zs_eu_emit_clear_temporaries(e);
    zs_eu_emit_rise_begin(e);
    if (s->joins && !e->dry) {
        emit_join(e, s->block);
        zs_eu_emit_leave(e, s->first);
        return;
    }
    for (uint32_t i = s->first; i < s->end && goes_on; i++)
        goes_on = zs_eu_emit_op(e, i);
    zs_eu_emit_rise_end(e);
    if (goes_on && s->block + 1 < e->p->block_count)
        go_to_block(e, s->block + 1);
    else if (goes_on)
        LINE("unreachable");
}

static void emit_out(struct zs_eu_emit *e, uint32_t segment, unsigned how)
{
    struct zs_eu_emit_set live = e->segments[segment].live;

    if (!(e->exits[segment] & how))
        return;
    zs_buf_printf(&e->body, "%s%u:\n", exit_name(how), segment);
    if (how == EXIT_ENDS)
        zs_eu_emit_live_behind(e, segment, &live);
    for (unsigned i = 0; i < ZS_EU_EMIT_SET && how == EXIT_LEAVES; i++)
        live.bits[i] |= e->segments[segment].may.bits[i];
    give_up(e, &live);
    if (how == EXIT_LEAVES)
        zs_eu_emit_own(e, zs_eu_emit_spill);
    LINE("br label %%%s", how == EXIT_AGAIN ? "handler" : "return");
}

static void emit_exits(struct zs_eu_emit *e)
{
    for (uint32_t i = 0; i < e->segment_count; i++) {
        const struct zs_eu_emit_segment *s = &e->segments[i];
        if (e->exits[i] & EXIT_GOES_ON) {
            zs_buf_printf(&e->body, "x%u:\n", i);
            give_up(e, &s->live);
            LINE("store i8* %%v%u, i8** %%next", op_at(e, s->first));
            LINE("br label %%return");
        }
        if (e->exits[i] & EXIT_BUDGET) {
            zs_buf_printf(&e->body, "z%u:\n", i);
            zs_eu_emit_store_status(e, ZS_EU_BUDGET, s->first);
            give_up(e, &s->live);
            LINE("br label %%paused");
        }
        emit_out(e, i, EXIT_LEAVES);
        emit_out(e, i, EXIT_AGAIN);
        emit_out(e, i, EXIT_ENDS);
    }
    zs_buf_puts(&e->body, "stop:\n"); /* nobody looks at registers of a thread that ended */
    if (e->options.keeps_state)
        give_up(e, NULL);
    else
        zs_eu_emit_store_budget(e);
    LINE("br label %%paused");
    static const char *const shared[][2] = {{"pause", "br label %paused"},
                                            {"leave", "br label %return"},
                                            {"again", "br label %handler"}};
    for (size_t i = 0; i < ZS_ARRAY_LEN(shared) && !has_own_exits(e); i++) {
        zs_buf_printf(&e->body, "%s:\n", shared[i][0]);
        give_up(e, NULL);
        LINE("%s", shared[i][1]);
    }
    zs_buf_puts(&e->body, "paused:\n");
    zs_eu_emit_settle(e);
    zs_eu_emit_modes_leave(e);
    LINE("ret i8* null");
    zs_buf_puts(&e->body, "return:\n");
    zs_eu_emit_settle(e);
    zs_eu_emit_modes_leave(e);
    LINE("ret i8* %%v%u", VALUE("load i8*, i8** %%next"));
    zs_buf_puts(&e->body, "handler:\n");
    zs_eu_emit_settle(e);
    unsigned op = VALUE("load i8*, i8** %%next");
    op = VALUE("call coldcc i8* @zs_original(i8* %%t, i8* %%v%u) #3", op);
    LINE("ret i8* %%v%u", op);
    zs_eu_emit_next(e);
    zs_buf_puts(&e->body, "bail:\n");
    op = VALUE("call coldcc i8* @zs_original(i8* %%t, i8* %%op) #3");
    LINE("ret i8* %%v%u", op);
    zs_buf_puts(&e->body, "}\n\n");
}

static void emit_body(struct zs_eu_emit *e)
{
    e->body.size_B = 0;
    e->next = e->label = 0;
    for (uint32_t i = 0; i < e->segment_count; i++) {
        if (e->segments[i].in)
            emit_segment(e, i);
    }
}

static void emit_places(struct zs_eu_emit *e)
{
    for (unsigned i = 0; i < 4; i++) {
        for (unsigned size_B = 1; size_B <= 8; size_B *= 2) {
            if (!(e->place_used[i] & size_B))
                continue;
            LINE("%%p%u = alloca <8 x i%u>, align 64", i * 10 + size_B, 8 * size_B);
            LINE("%%q%u = bitcast <8 x i%u>* %%p%u to i8*", i * 10 + size_B, 8 * size_B,
                 i * 10 + size_B);
        }
    }
}

static void emit_results(struct zs_eu_emit *e)
{
    for (unsigned i = 0; i < 8; i++) {
        for (unsigned size_B = 4; size_B <= 8; size_B *= 2) {
            for (unsigned n = 8; n <= 16 && e->result_used[i]; n += 8)
                LINE("%%r%u = alloca <%u x i%u>", i * 1000 + n * 10 + size_B, n, 8 * size_B);
        }
    }
}

/* Of messages that go lane by lane: addresses, operands, results; the lanes that are left. */
static void emit_lane_arrays(struct zs_eu_emit *e)
{
    static const char names[] = "abdr";

    LINE("%%km = alloca i32");
    for (unsigned i = 0; names[i]; i++) {
        LINE("%%k%c = alloca <16 x i64>, align 64", names[i]);
        LINE("%%k%c1 = bitcast <16 x i64>* %%k%c to i8*", names[i], names[i]);
    }
}

/* A pointer that has a name. */
static void name_load(struct zs_eu_emit *e, const char *name, const char *base, uint64_t offset_B)
{
    LINE("%%%s = load i8*, i8** %%v%u", name, zs_eu_emit_address(e, base, offset_B, "i8*"));
}

/* The variables, and what they begin with. */
static void emit_head(struct zs_eu_emit *e)
{
    e->body.size_B = 0;
    e->next = e->label = UINT32_C(1) << 24; /* names apart from the body's */
    zs_buf_printf(&e->body, "define i8* @e%u(i8* %%t, i8* %%op) #2 {\nentry:\n", e->number);
    LINE("%%budget = alloca i64");
    LINE("%%next = alloca i8*");
    LINE("%%ce = alloca i32");
    zs_eu_emit_place_variables(e);
    zs_eu_emit_rise_variables(e);
    zs_eu_emit_variables(e);
    emit_places(e);
    emit_results(e);
    if (e->uses_lane_arrays)
        emit_lane_arrays(e);
    name_load(e, "program", "%t", ZS_EU_OFFSET(program));
    name_load(e, "ops", "%program", offsetof(struct zs_eu_program, ops));
    name_load(e, "port", "%t", ZS_EU_OFFSET(env));
    unsigned ok = emit_modes(e), areas = zs_eu_emit_areas_known(e);
    if (e->p->shadows)
        ok = VALUE("and i1 %%v%u, %%v%u", ok, shadow_is(e, "eq"));
    if (areas != UINT32_MAX)
        ok = VALUE("and i1 %%v%u, %%v%u", ok, areas);
    load_lanes(e);
    LINE("store i64 %%v%u, i64* %%budget", zs_eu_emit_load(e, "%t", ZS_EU_OFFSET(budget), "i64"));
    if (e->counts) {
        name_load(e, "counters", "%t", ZS_EU_OFFSET(counters));
        ok = VALUE("and i1 %%v%u, %%v%u", ok, VALUE("icmp ne i8* %%counters, null"));
    }
    zs_eu_emit_series(e);
    LINE("br i1 %%v%u, label %%start, label %%bail", ok);
    zs_buf_puts(&e->body, "start:\n");
    zs_eu_emit_absorb(e);
    if (e->in_memory)
        emit_strayed(e);
    zs_eu_emit_areas(e);
    zs_eu_emit_entries(e);
}

bool zs_eu_emit_has_indirect(const struct zs_eu_emit *e)
{
    bool has = false;

    for (uint32_t i = 0; i < e->segment_count; i++) {
        const struct zs_eu_emit_segment *s = &e->segments[i];
        for (uint32_t op = s->first; s->in && op < s->end; op++)
            has |= zs_eu_emit_is_indirect(&e->p->ops[op]);
    }
    return has;
}

void zs_eu_emit_function(struct zs_eu_emit *e, struct zs_buf *out)
{
    memset(e->exits, 0, e->segment_count);
    zs_eu_emit_find_places(e);
    e->in_memory =
        e->is_long || zs_eu_emit_has_indirect(e) || (e->waits_often && zs_eu_emit_can_wait(e));
    e->follows = !e->in_memory && zs_eu_emit_can_follow(e);
    e->overwrites |= e->in_memory;
    e->waits = zs_eu_emit_can_wait(e);
    zs_eu_emit_reset_units(e);
    e->dry = true;
    emit_body(e);
    e->dry = false;
    zs_eu_emit_choose_units(e);
    e->r0_changes = 0;
    for (unsigned i = 0; i < 8; i++)
        e->r0_changes |= (uint8_t)(e->word_dirty[ZS_EU_OFFSET(grf) / 4 + i] << i);
    zs_eu_emit_own(e, zs_eu_emit_mark_dirty);
    zs_eu_emit_rise_find(e, emit_body);
    zs_eu_emit_put_places(e, out);
    emit_head(e);
    zs_buf_append(out, e->body.data, e->body.size_B);
    emit_body(e);
    emit_exits(e);
    zs_buf_append(out, e->body.data, e->body.size_B);
}
