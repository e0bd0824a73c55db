/* SPDX-License-Identifier: MIT */
/*
 * Segments of a program, and which units of the thread are live at their starts: what is not need
 * not be stored where a function is left, nor loaded where it is entered.
 *
 * Writing a segment without a text (`dry`) tells what it reads and writes. Lanes may come from a
 * version of a block to the other. Where some lanes are off, others may wait at any place that a
 * branch leads to: what is live there is live everywhere. Temporaries are of one instruction.
 */
#include "eu/tier/emit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool waits(const struct zs_eu_op *op)
{
    return op->kind == ZS_EU_KIND_WAIT || op->kind == ZS_EU_KIND_WAIT_NAMED;
}

bool zs_eu_emit_waits(const struct zs_eu_emit *e, uint32_t segment)
{
    return waits(&e->p->ops[e->segments[segment].end - 1]);
}

bool zs_eu_emit_can_wait(const struct zs_eu_emit *e)
{
    bool any = false;

    for (uint32_t i = 0; i < e->segment_count && !any; i++)
        any = e->segments[i].in && zs_eu_emit_waits(e, i);
    return any;
}

static uint32_t block_end(const struct zs_eu_program *p, uint32_t block)
{
    return block + 1 < p->block_count ? p->block_op[block + 1] : (uint32_t)p->op_count;
}

static uint32_t count_segments(const struct zs_eu_program *p)
{
    uint32_t count = p->block_count;

    for (uint32_t i = 0; i < p->op_count; i++)
        count += waits(&p->ops[i]);
    return count;
}

static void cut(struct zs_eu_emit *e)
{
    const struct zs_eu_program *p = e->p;
    uint32_t n = 0, half = e->segment_count / 2, ops = (uint32_t)p->op_count;

    for (uint32_t block = 0; block < p->block_count; block++) {
        uint32_t first = p->block_op[block], end = block_end(p, block);
        e->block_segment[block] = n;
        for (uint32_t i = first; i < end; i++) {
            if (!waits(&p->ops[i]) && i + 1 < end)
                continue;
            e->segments[n] =
                (struct zs_eu_emit_segment){.block = block, .first = first, .end = i + 1};
            e->segments[half + n++] = (struct zs_eu_emit_segment){
                .block = block, .first = ops + first, .end = ops + i + 1, .full = true};
            first = i + 1;
        }
        if (first < end || e->block_segment[block] == n)
            n++; /* never: a block has its start */
    }
    e->segment_count = 2 * n;
    if (n != half)
        memmove(e->segments + n, e->segments + half, n * sizeof(*e->segments));
}

uint32_t zs_eu_emit_segment_at(const struct zs_eu_emit *e, uint32_t op)
{
    for (uint32_t i = 0; i < e->segment_count; i++) {
        if (e->segments[i].first == op)
            return i;
    }
    return UINT32_MAX;
}

/* ---- where lanes go ---- */

struct targets {
    uint32_t *at;
    unsigned count;
    bool anywhere;
};

static void add_target(const struct zs_eu_emit *e, struct targets *to, uint32_t block)
{
    uint32_t segment = e->block_segment[block];

    for (unsigned i = 0; i < to->count; i++) {
        if (to->at[i] == segment)
            return;
    }
    if (to->count == ZS_EU_EMIT_SUCCESSORS)
        to->anywhere = true;
    else
        to->at[to->count++] = segment;
}

static void add_returns(const struct zs_eu_emit *e, struct targets *to)
{
    const struct zs_eu_program *p = e->p;

    for (uint32_t i = 0; i < p->op_count; i++) {
        if (p->ops[i].kind == ZS_EU_KIND_CALL)
            add_target(e, to, p->ops[i].next_block);
        else if (p->ops[i].kind == ZS_EU_KIND_CALL_REGISTER ||
                 p->ops[i].kind == ZS_EU_KIND_JUMP_REGISTER)
            to->anywhere = true;
    }
}

/* false: nothing behind it is reached. */
static bool add_targets(const struct zs_eu_emit *e, const struct zs_eu_op *op, struct targets *to)
{
    bool always = op->predicate == ZS_EU_OFFSET(all_ones) && !op->pred_xor;

    switch (op->kind) {
    case ZS_EU_KIND_BRANCH:
        add_target(e, to, op->block);
        return true;
    case ZS_EU_KIND_GOTO:
    case ZS_EU_KIND_CALL:
        add_target(e, to, op->block);
        add_target(e, to, op->next_block);
        return op->kind == ZS_EU_KIND_CALL;
    case ZS_EU_KIND_JUMP_UNIFORM:
        add_target(e, to, op->block);
        return !(always && op->enables == ZS_EU_OFFSET(all_ones));
    case ZS_EU_KIND_RET:
        add_returns(e, to);
        return true;
    case ZS_EU_KIND_CALL_REGISTER:
    case ZS_EU_KIND_JUMP_REGISTER:
        to->anywhere = true;
        return true;
    case ZS_EU_KIND_END:
        return false;
    case ZS_EU_KIND_SEND:
        return !op->arg;
    default:
        return true;
    }
}

bool zs_eu_emit_successors(const struct zs_eu_emit *e, uint32_t segment,
                           uint32_t ret[ZS_EU_EMIT_SUCCESSORS], unsigned *ret_count)
{
    const struct zs_eu_emit_segment *s = &e->segments[segment];
    struct targets to = {.at = ret};
    bool goes_on = true;
    uint32_t half = e->segment_count / 2, next = segment % half + 1;

    for (uint32_t i = s->first; i < s->end && goes_on; i++)
        goes_on = add_targets(e, &e->p->ops[i], &to);
    if (goes_on && next < half && e->segments[next].block == s->block) {
        if (to.count == ZS_EU_EMIT_SUCCESSORS)
            to.anywhere = true;
        else
            to.at[to.count++] = next;
    } else if (goes_on && s->block + 1 < e->p->block_count) {
        add_target(e, &to, s->block + 1);
    }
    *ret_count = to.count;
    return !to.anywhere;
}

/* Blocks at which lanes may wait for others. */
static void find_joins(struct zs_eu_emit *e)
{
    const struct zs_eu_program *p = e->p;

    for (uint32_t i = 0; i < p->op_count; i++) {
        const struct zs_eu_op *op = &p->ops[i];
        bool parts = op->kind == ZS_EU_KIND_BRANCH || op->kind == ZS_EU_KIND_GOTO;
        if (parts || op->kind == ZS_EU_KIND_JUMP_UNIFORM)
            e->joins[op->block] = 1;
        if (parts && op->next_block < p->block_count)
            e->joins[op->next_block] = 1;
        if (op->kind == ZS_EU_KIND_CALL || op->kind == ZS_EU_KIND_RET ||
            op->kind == ZS_EU_KIND_CALL_REGISTER || op->kind == ZS_EU_KIND_JUMP_REGISTER)
            memset(e->joins, 1, p->block_count);
    }
}

/* ---- what is live ---- */

static bool merge(struct zs_eu_emit_set *to, const struct zs_eu_emit_set *from)
{
    uint64_t changed = 0;

    for (unsigned i = 0; i < ZS_EU_EMIT_SET; i++) {
        changed |= from->bits[i] & ~to->bits[i];
        to->bits[i] |= from->bits[i];
    }
    return changed != 0;
}

/* What instructions leave to others: not what is one's own, nor the program's. */
static void visible(struct zs_eu_emit_set *set)
{
    static const struct {
        uint32_t from, to;
    } parts[] = {
        {ZS_EU_OFFSET(temp), ZS_EU_OFFSET(pair)},
        {ZS_EU_OFFSET(constant), ZS_EU_OFFSET(send_cache)},
    };

    for (size_t i = 0; i < ZS_ARRAY_LEN(parts); i++) {
        for (uint32_t unit = parts[i].from / 32; unit < parts[i].to / 32; unit++)
            set->bits[unit / 64] &= ~(UINT64_C(1) << unit % 64);
    }
}

/* What is alive behind a segment, in one way. */
static void flow_out(const struct zs_eu_emit *e, uint32_t segment, unsigned how,
                     struct zs_eu_emit_set *ret)
{
    uint32_t to[ZS_EU_EMIT_SUCCESSORS], half = e->segment_count / 2;
    unsigned count;

    memset(ret, 0, sizeof(*ret));
    if (!zs_eu_emit_successors(e, segment, to, &count) || e->options.keeps_state)
        memset(ret, 0xff, sizeof(*ret));
    for (unsigned i = 0; i < count; i++) {
        merge(ret, &e->segments[to[i]].alive[how]);
        merge(ret, &e->segments[to[i] + half].alive[how]);
    }
}

void zs_eu_emit_live_behind(const struct zs_eu_emit *e, uint32_t segment,
                            struct zs_eu_emit_set *ret)
{
    uint32_t to[ZS_EU_EMIT_SUCCESSORS], half = e->segment_count / 2;
    unsigned count;

    *ret = e->join;
    if (!zs_eu_emit_successors(e, segment, to, &count))
        memset(ret, 0xff, sizeof(*ret));
    for (unsigned i = 0; i < count; i++) {
        merge(ret, &e->segments[to[i]].live);
        merge(ret, &e->segments[to[i] + half].live);
    }
}

void zs_eu_emit_find_later(struct zs_eu_emit *e)
{
    const struct zs_eu_emit_segment *s = &e->segments[e->segment];

    for (unsigned how = 0; how < ZS_EU_EMIT_HOWS; how++) {
        flow_out(e, e->segment, how, &e->later[how]);
        merge(&e->later[how], &s->looks[how]);
    }
}

static bool flow(struct zs_eu_emit *e, uint32_t segment)
{
    struct zs_eu_emit_segment *s = &e->segments[segment];
    struct zs_eu_emit_set out;
    bool changed = false;

    for (unsigned how = 0; how < ZS_EU_EMIT_HOWS; how++) {
        flow_out(e, segment, how, &out);
        for (unsigned i = 0; i < ZS_EU_EMIT_SET && !e->options.keeps_state; i++)
            out.bits[i] = (out.bits[i] & ~s->writes[how].bits[i]) | s->reads[how].bits[i];
        if (!s->full)
            merge(&out, &e->segments[segment + e->segment_count / 2].alive[how]);
        visible(&out);
        changed |= merge(&s->alive[how], &out);
        merge(&s->live, &s->alive[how]);
    }
    if (!s->full)
        merge(&s->live, &e->join);
    return changed;
}

/* Blocks at which lanes may wait for others. */
static bool flow_joins(struct zs_eu_emit *e)
{
    const struct zs_eu_program *p = e->p;
    bool changed = false;

    for (uint32_t i = 0; i < p->op_count; i++) {
        const struct zs_eu_op *op = &p->ops[i];
        if (op->kind != ZS_EU_KIND_BRANCH && op->kind != ZS_EU_KIND_GOTO &&
            op->kind != ZS_EU_KIND_JUMP_UNIFORM && op->kind != ZS_EU_KIND_CALL)
            continue;
        changed |= merge(&e->join, &e->segments[e->block_segment[op->block]].live);
        if (op->next_block < p->block_count)
            changed |= merge(&e->join, &e->segments[e->block_segment[op->next_block]].live);
    }
    return changed;
}

static void find_touched(struct zs_eu_emit *e)
{
    e->dry = true;
    zs_eu_emit_lanes_end(e);
    for (uint32_t i = 0; i < e->segment_count; i++) {
        struct zs_eu_emit_segment *s = &e->segments[i];
        bool goes_on = true;
        memset(s->reads, 0, sizeof(s->reads));
        memset(s->looks, 0, sizeof(s->looks));
        memset(s->writes, 0, sizeof(s->writes));
        memset(e->cover, 0, sizeof(e->cover));
        memset(e->dirty, 0, sizeof(e->dirty));
        memset(e->word_dirty, 0, sizeof(e->word_dirty));
        e->segment = i;
        e->full = s->full;
        e->mode = zs_eu_emit_modes_at(e, i);
        for (uint32_t op = s->first; op < s->end && goes_on; op++)
            goes_on = zs_eu_emit_op(e, op);
        for (uint32_t word = 0; word < ZS_EU_EMIT_UNITS * 8; word++) {
            if (e->dirty[word / 8] || e->word_dirty[word])
                zs_eu_emit_add(&s->may, word / 8);
        }
    }
    e->dry = false;
}

int zs_eu_emit_segments(struct zs_eu_emit *e)
{
    uint32_t count = count_segments(e->p);
    bool more = true;

    e->segment_count = 2 * count;
    e->segments = calloc(e->segment_count, sizeof(*e->segments));
    e->block_segment = calloc(e->p->block_count, sizeof(*e->block_segment));
    e->exits = calloc(e->segment_count, 1);
    e->joins = calloc(e->p->block_count, 1);
    e->places = calloc(e->p->block_count, sizeof(*e->places));
    if (!e->segments || !e->block_segment || !e->exits || !e->joins || !e->places)
        return -ENOMEM;
    cut(e);
    find_joins(e);
    if (zs_eu_emit_find_modes(e))
        return -ENOMEM;
    zs_eu_emit_reset_units(e);
    find_touched(e);
    find_touched(e); /* once more, as it is known which units are mixed */
    while (more) {
        more = false;
        for (uint32_t i = e->segment_count; i-- > 0;)
            more |= flow(e, i);
        more |= flow_joins(e);
    }
    return 0;
}
