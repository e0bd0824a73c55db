/* SPDX-License-Identifier: MIT */
#include "dataport/dataport.h"
#include "eu/eu_priv.h"

#include <stdlib.h>
#include <string.h>

enum {
    WAYS_MAX = 4 << 20
}; /* words for what may be under way: programs are looked at as a whole */

/* ---- waiting ---- */

/* Messages to one function read their sources in order. */
static void wait_reads(struct zs_eu_scoreboard *s, const struct zs_eu_token *until)
{
    for (uint32_t i = 0; i < ZS_EU_TOKENS; i++)
        if (s->tokens[i].function == until->function && s->tokens[i].number <= until->number)
            s->tokens[i].reads = false;
}

static void wait_tokens(struct zs_eu_scoreboard *s, uint32_t dst, uint32_t src)
{
    for (uint32_t m = dst | src; m; m &= m - 1) {
        struct zs_eu_token *token = &s->tokens[__builtin_ctz(m)];
        if (token->reads) /* else somebody waited for it and all before it */
            wait_reads(s, token);
        if (dst & m & -m)
            token->writes = false;
    }
}

static void wait_distance(struct zs_eu_scoreboard *s, const struct zs_eu_score *score)
{
    for (uint32_t pipe = 0; pipe < ZS_EU_PIPE_COUNT; pipe++) {
        if (!(score->wait_pipes >> pipe & 1) || s->issued[pipe] < score->distance)
            continue;
        s->done[pipe] = ZS_MAX(s->done[pipe], s->issued[pipe] - score->distance + 1);
    }
}

/* ---- what an instruction touches ---- */

struct touches {
    struct zs_eu_bytes dst, src[3];
    uint32_t lanes;
    uint64_t mask; /* of the bytes */
};

static struct touches touches_of(const struct zs_eu_score *score)
{
    struct touches now = {.dst = score->dst, .lanes = UINT32_MAX, .mask = score->mask};
    memcpy(now.src, score->src, sizeof(now.src));
    return now;
}

static uint64_t mask_of(const struct touches *touches)
{
    uint64_t mask = zs_eu_bytes_mask(touches->dst);
    for (uint32_t i = 0; i < 3; i++)
        mask |= zs_eu_bytes_mask(touches->src[i]);
    return mask;
}

static struct zs_eu_bytes registers(uint32_t begin_B, uint32_t count, uint32_t grf_B)
{
    return (struct zs_eu_bytes){begin_B, begin_B + count * grf_B};
}

/* Lengths that are in a descriptor in a0. */
static void add_lengths(const struct zs_eu_thread *t, const struct zs_eu_score *score,
                        struct touches *touches)
{
    const struct zs_eu_program_send *send =
        &t->program->sends.items[t->program->insts[score->inst].send];
    const uint8_t *a0 = (const uint8_t *)t->a0;
    uint32_t grf_B = t->program->regs.grf_B, desc, ex_desc;

    if (send->desc_is_reg) {
        memcpy(&desc, a0 + send->desc_a0 * 4, 4);
        touches->src[0] = registers(score->src[0].begin_B, desc >> 25 & 15, grf_B);
        if (send->send.d.has_dst)
            touches->dst = registers(score->dst.begin_B, desc >> 20 & 31, grf_B);
    }
    if (send->ex_desc_is_reg && !send->send.d.xlen_known && score->src[1].end_B) {
        memcpy(&ex_desc, a0 + send->ex_desc_a0 * 4, 4);
        touches->src[1] = registers(score->src[1].begin_B, ex_desc >> 6 & 31, grf_B);
    }
}

/* A load of a block of 32 registers says 31: how many it has, its payload tells. */
static void add_last_register(const struct zs_eu_thread *t, const struct zs_eu_score *score,
                              struct touches *touches)
{
    const struct zs_eu_send_desc *d =
        &t->program->sends.items[t->program->insts[score->inst].send].send.d;
    uint32_t size_B = zs_port_block2d_load_B(d->desc, t->program->regs.grf_B, t->grf + d->src0_B);

    touches->dst.end_B = ZS_MAX(touches->dst.end_B, touches->dst.begin_B + size_B);
}

/* Bytes of registers that an element of all lanes takes in what a message brings; 0: unknown. */
static uint32_t element_B(const struct zs_eu_thread *t, uint32_t inst)
{
    const struct zs_eu_program *p = t->program;
    const struct zs_port_message_row *row;

    if (!p->insts[inst].is_send || !p->sends.items[p->insts[inst].send].send.exec)
        return 0;
    const struct zs_port_message *m =
        zs_eu_send_message(&p->sends.items[p->insts[inst].send].send, &row);
    return m ? zs_port_message_element_B(m) : 0;
}

/* Parts of what each lane writes there (the high halves of doubles), up to the last lane. */
static bool is_part_of(const struct zs_eu_thread *t, struct zs_eu_bytes at,
                       const struct zs_eu_token *token, struct zs_eu_bytes token_at)
{
    uint32_t lane_B =
        (token_at.end_B - token_at.begin_B) / t->program->insts[token->inst].exec_size;

    return at.begin_B - token_at.begin_B < lane_B && at.end_B <= token_at.end_B &&
           at.end_B > token_at.end_B - lane_B;
}

/* The same place, or that of another element of a message, or of a part of each. */
static bool is_place_of(const struct zs_eu_thread *t, struct zs_eu_bytes at,
                        const struct zs_eu_token *token, struct zs_eu_bytes token_at)
{
    if (at.begin_B <= token_at.begin_B || token_at.begin_B != token->dst.begin_B)
        return at.begin_B == token_at.begin_B;
    if (!t->program->insts[token->inst].is_send)
        return is_part_of(t, at, token, token_at);
    uint32_t size_B = element_B(t, token->inst);
    return size_B && (at.begin_B - token_at.begin_B) % size_B == 0 &&
           at.end_B - at.begin_B <= size_B;
}

/* Elements of other lanes: the same places for the same lanes, and no lane in both. */
static bool are_apart(const struct zs_eu_thread *t, const struct zs_eu_score *score,
                      const struct touches *now, struct zs_eu_bytes at,
                      const struct zs_eu_token *token, struct zs_eu_bytes token_at)
{
    const struct zs_eu_inst *insts = t->program->insts;

    return !(token->lanes & now->lanes) && is_place_of(t, at, token, token_at) &&
           insts[score->inst].chan_offset == insts[token->inst].chan_offset;
}

static bool meet(struct zs_eu_bytes a, struct zs_eu_bytes b)
{
    return a.begin_B < b.end_B && b.begin_B < a.end_B;
}

/* ---- looking ---- */

static const char *name_of(const struct zs_eu_thread *t, uint32_t inst)
{
    return t->program->insts[inst].mnemonic;
}

/* What was not waited for: "$3.dst", "F@2". */
struct missing {
    const char *before;
    uint32_t number;
    const char *behind;
};

/* "add reads r10, which send at 0x120 writes: $3.dst was not waited for"; offsets are the kernel's,
 * functions may stand in front of it. */
static bool fail(struct zs_eu_thread *t, uint32_t inst, const char *does, struct zs_eu_bytes at,
                 struct zs_eu_bytes other_at, uint32_t other, const char *other_does,
                 struct missing missing)
{
    const struct zs_eu_program *p = t->program;
    uint32_t reg = ZS_MAX(at.begin_B, other_at.begin_B) / p->regs.grf_B;
    int64_t offset_B = (int64_t)p->insts[other].offset_B - (int64_t)p->kernel_B;

    zs_eu_fault_set(t, ZS_EU_FAULT_SCOREBOARD,
                    "%s %s r%u, which %s at %s0x%x %s: %s%u%s was not waited for", name_of(t, inst),
                    does, (unsigned)reg, name_of(t, other), offset_B < 0 ? "-" : "",
                    (unsigned)(offset_B < 0 ? -offset_B : offset_B), other_does, missing.before,
                    (unsigned)missing.number, missing.behind);
    return false;
}

static bool check_token(struct zs_eu_thread *t, const struct zs_eu_score *score,
                        const struct touches *now, uint32_t sbid)
{
    const struct zs_eu_token *token = &t->scoreboard.tokens[sbid];
    const struct missing dst = {"$", sbid, ".dst"}, src = {"$", sbid, ".src"};

    for (uint32_t i = 0; token->writes && i < 3; i++)
        if (meet(now->src[i], token->dst) &&
            !(score->by_lanes >> i & 1 && are_apart(t, score, now, now->src[i], token, token->dst)))
            return fail(t, score->inst, "reads", now->src[i], token->dst, token->inst, "writes",
                        dst);
    if (token->writes && meet(now->dst, token->dst) &&
        !are_apart(t, score, now, now->dst, token, token->dst))
        return fail(t, score->inst, "writes", now->dst, token->dst, token->inst, "writes", dst);
    bool in_order = score->pipe == ZS_EU_PIPE_TOKEN && token->function == score->function;
    for (uint32_t i = 0; token->reads && !in_order && i < 3; i++)
        if (meet(now->dst, token->src[i]) &&
            !are_apart(t, score, now, now->dst, token, token->src[i]))
            return fail(t, score->inst, "writes", now->dst, token->src[i], token->inst, "reads",
                        src);
    return true;
}

static bool check_pipe(struct zs_eu_thread *t, const struct zs_eu_score *score,
                       const struct touches *now, uint32_t pipe)
{
    static const char *const names[ZS_EU_PIPE_COUNT] = {"F@", "I@", "L@", "M@"};
    struct zs_eu_scoreboard *s = &t->scoreboard;
    uint64_t pending = 0;
    if (!(s->pending[pipe] & now->mask))
        return true;
    uint32_t depth = pipe == ZS_EU_PIPE_LONG ? 14 : pipe == ZS_EU_PIPE_MATH ? 15 : 10;

    for (uint32_t n = s->issued[pipe], back = 1; n > s->done[pipe] && back <= depth; n--, back++) {
        const struct zs_eu_recent *r = &s->recent[pipe][n % ZS_EU_RECENT];
        const struct missing missing = {names[pipe], ZS_MIN(back, 7u), ""};
        pending |= r->mask;
        if (!(r->mask & now->mask))
            continue;
        for (uint32_t i = 0; i < 3; i++)
            if (meet(now->src[i], r->dst))
                return fail(t, score->inst, "reads", now->src[i], r->dst, r->inst, "writes",
                            missing);
        if (score->pipe != pipe && meet(now->dst, r->dst))
            return fail(t, score->inst, "writes", now->dst, r->dst, r->inst, "writes", missing);
    }
    s->pending[pipe] = pending;
    return true;
}

static bool check_pipes(struct zs_eu_thread *t, const struct zs_eu_score *score,
                        const struct touches *now)
{
    for (uint32_t pipe = 0; pipe < ZS_EU_PIPE_COUNT; pipe++)
        if (!check_pipe(t, score, now, pipe))
            return false;
    return true;
}

static bool check(struct zs_eu_thread *t, const struct zs_eu_score *score,
                  const struct touches *now)
{
    for (uint32_t m = t->scoreboard.in_use; m; m &= m - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(m);
        if (!t->scoreboard.tokens[i].writes && !t->scoreboard.tokens[i].reads)
            t->scoreboard.in_use &= ~(m & -m);
        else if (t->scoreboard.tokens[i].mask & now->mask && !check_token(t, score, now, i))
            return false;
    }
    return check_pipes(t, score, now);
}

/* ---- marking ---- */

static struct zs_eu_token token_of(const struct zs_eu_score *score, const struct touches *now)
{
    struct zs_eu_token token = {.inst = score->inst,
                                .function = score->function,
                                .lanes = now->lanes,
                                .dst = now->dst,
                                .mask = now->mask,
                                .writes = now->dst.end_B > now->dst.begin_B,
                                .reads = true};
    memcpy(token.src, now->src, sizeof(token.src));
    return token;
}

static void mark(struct zs_eu_scoreboard *s, const struct zs_eu_score *score,
                 const struct touches *now)
{
    if (score->pipe < ZS_EU_PIPE_COUNT) {
        uint32_t n = ++s->issued[score->pipe];
        uint64_t mask = zs_eu_bytes_mask(now->dst);
        s->recent[score->pipe][n % ZS_EU_RECENT] =
            (struct zs_eu_recent){.inst = score->inst, .dst = now->dst, .mask = mask};
        s->pending[score->pipe] |= mask;
    } else if (score->sets) {
        s->in_use |= 1u << score->sbid;
        s->tokens[score->sbid] = token_of(score, now);
        s->tokens[score->sbid].number = ++s->token_number;
    }
}

/* aux: index of the instruction's row. A token that is in use is waited for by who sets it. */
const struct zs_eu_op *zs_eu_op_scoreboard(struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    const struct zs_eu_score *score = &t->program->scores[op->aux];
    struct zs_eu_scoreboard *s = &t->scoreboard;
    struct touches now = touches_of(score);

    if (score->starts_block) {
        memcpy(s->done, s->issued, sizeof(s->done));
        memset(s->pending, 0, sizeof(s->pending));
    }
    if (!t->program->insts[score->inst].no_mask)
        now.lanes = zs_eu_active(t, op) << op->chan_offset;
    wait_tokens(s, score->wait_dst | (score->sets ? 1u << score->sbid : 0), score->wait_src);
    wait_distance(s, score);
    if (score->lengths_in_a0)
        add_lengths(t, score, &now);
    if (score->maybe_longer)
        add_last_register(t, score, &now);
    if (score->lengths_in_a0 || score->maybe_longer)
        now.mask = mask_of(&now);
    t->current = op;
    if (!check(t, score, &now)) {
        t->status = ZS_EU_FAULT;
        return NULL;
    }
    mark(s, score, &now);
    ZS_EU_NEXT(t, op);
}

/* ---- whole programs ----------------------------------------------------------------------------
 *
 * Which registers are under way where depends on the way alone, and on lanes, which are taken to be
 * the same here. So a walk over the blocks finds out what may be under way in front of each: where
 * nothing of it is touched too early, no thread has to look.
 */

struct ways {
    const struct zs_eu_program *p;
    struct zs_eu_thread *t; /* for its scoreboard */
    size_t words;           /* of a set of instructions */
    struct way {            /* in front of a block */
        bool reached;
        uint32_t set;                   /* tokens that some instruction has set, whatever the way */
        uint32_t younger[ZS_EU_TOKENS]; /* ... and those that were set behind each */
        /* Instructions that may be the last ones that set their tokens; that may write, read. */
        uint64_t *last, *writes, *reads;
    } * ways, now;
    uint64_t *bits;
    uint64_t *of_token[ZS_EU_TOKENS];
    bool *joins; /* blocks where lanes may wait */
};

static bool has(const uint64_t *set, uint32_t inst)
{
    return set[inst / 64] >> inst % 64 & 1;
}

static void remove_all(const struct ways *w, uint64_t *from, const uint64_t *what)
{
    for (size_t i = 0; i < w->words; i++)
        from[i] &= ~what[i];
}

/* Of the instructions that may have set a token last; UINT32_MAX: not all have the same. */
static uint32_t function_of_token(const struct ways *w, uint32_t token)
{
    uint32_t function = 0;
    bool any = false;
    for (size_t i = 0; i < w->words; i++)
        for (uint64_t m = w->now.last[i] & w->of_token[token][i]; m; m &= m - 1) {
            uint32_t of = w->p->scores[i * 64 + (size_t)__builtin_ctzll(m)].function;
            if (any && of != function)
                return UINT32_MAX;
            function = of;
            any = true;
        }
    return any ? function : UINT32_MAX;
}

static void await(struct ways *w, uint32_t dst, uint32_t src)
{
    for (uint32_t m = dst | src; m; m &= m - 1) {
        uint32_t token = (uint32_t)__builtin_ctz(m);
        uint32_t function = w->now.set >> token & 1 ? function_of_token(w, token) : UINT32_MAX;
        for (uint32_t older = 0; function != UINT32_MAX && older < ZS_EU_TOKENS; older++) {
            for (size_t i = 0; w->now.younger[older] >> token & 1 && i < w->words; i++)
                for (uint64_t r = w->now.reads[i] & w->of_token[older][i]; r; r &= r - 1)
                    if (w->p->scores[i * 64 + (size_t)__builtin_ctzll(r)].function == function)
                        w->now.reads[i] &= ~(r & -r);
        }
        remove_all(w, w->now.reads, w->of_token[token]);
        if (dst & m & -m)
            remove_all(w, w->now.writes, w->of_token[token]);
    }
}

static bool check_all_tokens(struct ways *w, const struct zs_eu_score *score,
                             const struct touches *now)
{
    for (size_t i = 0; i < w->words; i++)
        for (uint64_t m = w->now.writes[i] | w->now.reads[i]; m; m &= m - 1) {
            uint32_t inst = (uint32_t)(i * 64) + (uint32_t)__builtin_ctzll(m);
            const struct zs_eu_score *other = &w->p->scores[inst];
            const struct touches of = touches_of(other);
            if (!(other->mask & now->mask))
                continue;
            struct zs_eu_token *token = &w->t->scoreboard.tokens[other->sbid];
            *token = token_of(other, &of);
            token->writes &= has(w->now.writes, inst);
            token->reads &= has(w->now.reads, inst);
            if (!check_token(w->t, score, now, other->sbid))
                return false;
        }
    return true;
}

static void set_token(struct ways *w, const struct zs_eu_score *score)
{
    uint64_t bit = UINT64_C(1) << score->inst % 64;
    bool writes = score->dst.end_B > score->dst.begin_B;

    remove_all(w, w->now.last, w->of_token[score->sbid]);
    w->now.last[score->inst / 64] |= bit;
    w->now.writes[score->inst / 64] |= writes ? bit : 0;
    w->now.reads[score->inst / 64] |= bit;
    w->now.set |= 1u << score->sbid;
    for (uint32_t i = 0; i < ZS_EU_TOKENS; i++)
        w->now.younger[i] |= 1u << score->sbid;
    w->now.younger[score->sbid] = 0;
}

/* false: something is touched too early, or lengths are not known. */
static bool pass(struct ways *w, const struct zs_eu_score *score)
{
    const struct zs_eu_inst *inst = &w->p->insts[score->inst];
    const struct touches now = touches_of(score);
    bool has_lengths = true;

    if (score->lengths_in_a0) {
        const struct zs_eu_program_send *send = &w->p->sends.items[inst->send];
        has_lengths = !send->desc_is_reg && (send->send.d.xlen_known || !score->src[1].end_B);
    }
    await(w, score->wait_dst | (score->sets ? 1u << score->sbid : 0), score->wait_src);
    wait_distance(&w->t->scoreboard, score);
    if (!has_lengths || score->maybe_longer || !check_all_tokens(w, score, &now) ||
        !check_pipes(w->t, score, &now))
        return false;
    if (score->pipe < ZS_EU_PIPE_COUNT)
        mark(&w->t->scoreboard, score, &now);
    else if (score->sets)
        set_token(w, score);
    return true;
}

static void copy_way(const struct ways *w, struct way *to, const struct way *from)
{
    memcpy(to->last, from->last, 3 * w->words * sizeof(uint64_t)); /* one behind the other */
    memcpy(to->younger, from->younger, sizeof(to->younger));
    to->set = from->set;
    to->reached = true;
}

/* From the end of a block to the start of another. true: that knows more now. */
static bool go(struct ways *w, uint32_t block)
{
    struct way *to = &w->ways[block];
    uint64_t more = 0;

    if (!to->reached) {
        copy_way(w, to, &w->now);
        return true;
    }
    for (size_t i = 0; i < 3 * w->words; i++) {
        more |= w->now.last[i] & ~to->last[i];
        to->last[i] |= w->now.last[i];
    }
    more |= to->set & ~w->now.set;
    to->set &= w->now.set;
    for (uint32_t i = 0; i < ZS_EU_TOKENS; i++) {
        more |= to->younger[i] & ~w->now.younger[i];
        to->younger[i] &= w->now.younger[i];
    }
    return more != 0;
}

/* ... or to lanes that wait before it. */
static bool go_between(struct ways *w, uint32_t from, uint32_t block)
{
    bool more = go(w, block);
    for (uint32_t i = from + 1; i < block; i++)
        if (w->joins[i])
            more |= go(w, i);
    return more;
}

static uint32_t end_of(const struct zs_eu_program *p, uint32_t block)
{
    return block + 1 < p->block_count ? p->block_op[block + 1] : (uint32_t)p->op_count;
}

/* 1: blocks behind it know more; -1: something is wrong. */
static int run_block(struct ways *w, uint32_t block)
{
    bool goes_on = block + 1 < w->p->block_count;
    int more = 0;

    copy_way(w, &w->now, &w->ways[block]);
    memset(&w->t->scoreboard, 0, sizeof(w->t->scoreboard));
    for (uint32_t i = w->p->block_op[block]; i < end_of(w->p, block); i++) {
        const struct zs_eu_op *op = &w->p->ops[i];
        bool always = op->predicate == ZS_EU_OFFSET(all_ones) && !op->pred_xor;
        switch (op->kind) {
        case ZS_EU_KIND_SCOREBOARD:
            if (!pass(w, &w->p->scores[op->aux]))
                return -1;
            break;
        case ZS_EU_KIND_GOTO:
            more |= go_between(w, block, op->next_block);
            more |= go_between(w, block, op->block);
            goes_on = false;
            break;
        case ZS_EU_KIND_BRANCH:
        case ZS_EU_KIND_JUMP_UNIFORM:
            more |= go_between(w, block, op->block);
            goes_on &= op->kind != ZS_EU_KIND_JUMP_UNIFORM || !always ||
                       op->enables != ZS_EU_OFFSET(all_ones);
            break;
        case ZS_EU_KIND_SEND:
            goes_on &= !op->arg || !always;
            break;
        case ZS_EU_KIND_END:
            goes_on = false;
            break;
        case ZS_EU_KIND_CALL:
        case ZS_EU_KIND_CALL_REGISTER:
        case ZS_EU_KIND_RET:
        case ZS_EU_KIND_JUMP_REGISTER:
        case ZS_EU_KIND_PAIR:
            return -1;
        default:
            break;
        }
    }
    return more | (goes_on && go(w, block + 1));
}

static bool run_all(struct ways *w)
{
    uint32_t count = w->p->block_count;

    w->ways[w->p->entry_block].reached = true;
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < count; i++) {
            int ran = w->ways[i].reached ? run_block(w, i) : 0;
            if (ran < 0)
                return false;
            more |= ran;
        }
    }
    return true;
}

static void find_places(struct ways *w)
{
    uint64_t *at = w->bits;
    for (uint32_t i = 0; i < ZS_EU_TOKENS; i++, at += w->words)
        w->of_token[i] = at;
    for (uint32_t i = 0; i <= w->p->block_count; i++, at += 3 * w->words) {
        struct way *way = i < w->p->block_count ? &w->ways[i] : &w->now;
        way->last = at;
        way->writes = at + w->words;
        way->reads = at + 2 * w->words;
    }
    for (uint32_t i = 0; i < w->p->inst_count; i++)
        if (w->p->scores[i].sets)
            w->of_token[w->p->scores[i].sbid][i / 64] |= UINT64_C(1) << i % 64;
    for (size_t i = 0; i < w->p->op_count; i++) {
        const struct zs_eu_op *op = &w->p->ops[i];
        if (op->kind != ZS_EU_KIND_GOTO && op->kind != ZS_EU_KIND_BRANCH)
            continue;
        w->joins[op->block] = true;
        if (op->next_block < w->p->block_count)
            w->joins[op->next_block] = true;
    }
}

bool zs_eu_program_waits(const struct zs_eu_program *p)
{
    struct ways w = {.p = p, .words = p->inst_count / 64 + 1};
    size_t sets = ZS_EU_TOKENS + 3 * ((size_t)p->block_count + 1);
    bool waits = false;

    if (!p->scores || sets * w.words > WAYS_MAX)
        return !p->scores;
    w.t = aligned_alloc(_Alignof(struct zs_eu_thread), sizeof(*w.t));
    w.ways = calloc(p->block_count, sizeof(*w.ways));
    w.bits = calloc(sets * w.words, sizeof(*w.bits));
    w.joins = calloc(p->block_count, sizeof(*w.joins));
    if (w.t && w.ways && w.bits && w.joins) {
        zs_eu_thread_init(w.t, p, p->simd_mask);
        find_places(&w);
        waits = run_all(&w);
    }
    free(w.t);
    free(w.ways);
    free(w.bits);
    free(w.joins);
    return waits;
}
