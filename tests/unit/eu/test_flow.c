/* SPDX-License-Identifier: MIT */
/*
 * Random control flow: nested if/else, loops with break and cont, goto/join, backward goto,
 * calls. The same program is walked as a tree with lane masks (the reference) and executed as
 * machine code; values of all lanes, and the counters of every instruction, must agree.
 */
#include "../test.h"

#include "encode.h"
#include "eu/eu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VARS = 4, INSTS_MAX = 4000, NODES_MAX = 600, DEPTH_MAX = 5, FUNCTIONS = 3, ROUNDS = 300 };
enum { FIRST_REG = 20, LINK_REG = 100, ONCE_REG = 110, JUMP_REG = 112, COUNT_VAR = VARS };

enum kind {
    ASSIGN,   /* v[a] = v[b] op constant */
    ONCE,     /* a NoMask scalar counts how often this is reached */
    IF,       /* then, maybe else */
    SKIP,     /* goto over the body, join behind */
    DO_WHILE, /* predicated while; the body may break */
    FOREVER,  /* unpredicated while; the body breaks, maybe continues */
    BACK,     /* backward goto */
    BREAK,    /* of the innermost loop, for lanes that meet the condition */
    CONT,
    CALL,
};

struct node {
    enum kind kind;
    unsigned a, b, op, cond, counter, function;
    int32_t constant;
    struct node *body, *other, *next;
    bool has_other;
    unsigned inst[8]; /* indices of its instructions, in the order of emission */
};

struct program {
    struct random random;
    unsigned simd;
    struct node nodes[NODES_MAX];
    unsigned node_count;
    struct node *functions[FUNCTIONS]; /* bodies; [0] is the kernel */
    uint32_t function_at[FUNCTIONS];
    unsigned ret_inst[FUNCTIONS];
    bool returns_by_jump[FUNCTIONS];
    uint64_t code[INSTS_MAX][2];
    unsigned inst_count;
    struct {
        unsigned inst, function;
    } calls[64];
    unsigned call_count;
    /* reference */
    int32_t v[VARS + DEPTH_MAX + 2][32];
    uint32_t flag, once;
    uint64_t executions[INSTS_MAX], lanes[INSTS_MAX];
    unsigned steps;
};

/* ---- random trees ---- */

static struct node *new_node(struct program *p, enum kind kind)
{
    struct random *r = &p->random;
    struct node *node = &p->nodes[p->node_count++];

    memset(node, 0, sizeof(*node));
    node->kind = kind;
    node->a = random_below(r, VARS);
    node->b = random_below(r, VARS);
    node->op = random_below(r, 3);
    node->cond = 1 + random_below(r, 6);
    node->constant = (int32_t)random_below(r, 200) - 100;
    return node;
}

static struct node *random_block(struct program *p, unsigned depth, bool in_loop,
                                 unsigned function);

static struct node *random_node(struct program *p, unsigned depth, bool in_loop, unsigned function)
{
    unsigned pick = random_below(&p->random, 100);
    struct node *node;

    if (depth >= DEPTH_MAX || p->node_count > NODES_MAX - 80 || pick < 35)
        return new_node(p, pick < 28 ? ASSIGN : ONCE);
    if (pick < 55) {
        node = new_node(p, IF);
        node->body = random_block(p, depth + 1, in_loop, function);
        node->has_other = random_below(&p->random, 2);
        if (node->has_other)
            node->other = random_block(p, depth + 1, in_loop, function);
    } else if (pick < 65) {
        node = new_node(p, SKIP);
        node->body = random_block(p, depth + 1, in_loop, function);
    } else if (pick < 80) {
        node = new_node(p, pick < 70 ? DO_WHILE : pick < 76 ? FOREVER : BACK);
        node->counter = COUNT_VAR + depth;
        node->body = random_block(p, depth + 1, node->kind != BACK, function);
    } else if (pick < 93 && in_loop) {
        node = new_node(p, BREAK); /* CONT is made of it where the loop allows */
    } else if (function + 1 < FUNCTIONS && depth < 3) {
        node = new_node(p, CALL);
        node->function = function + 1;
    } else {
        node = new_node(p, ASSIGN);
    }
    return node;
}

static struct node *random_block(struct program *p, unsigned depth, bool in_loop, unsigned function)
{
    struct node *first = NULL, **end = &first;
    unsigned count = 1 + random_below(&p->random, 4);

    for (unsigned i = 0; i < count; i++) {
        *end = random_node(p, depth, in_loop, function);
        end = &(*end)->next;
    }
    return first;
}

/* ---- machine code ---- */

static unsigned width(const struct program *p)
{
    return p->simd == 32 ? 16 : p->simd;
}

static unsigned emit_words(struct program *p, const uint64_t words[2])
{
    assert_true(p->inst_count < INSTS_MAX);
    memcpy(p->code[p->inst_count], words, 16);
    return p->inst_count++;
}

static struct zs_isa_operand grf(unsigned reg, unsigned n)
{
    return (struct zs_isa_operand){
        .kind = ZS_OPERAND_REG,
        .file = ZS_FILE_GRF,
        .type = ZS_TYPE_D,
        .reg = (uint8_t)reg,
        .vstride = (uint8_t)(n == 1 ? 0 : 8),
        .width = (uint8_t)(n == 1 ? 1 : 8),
        .hstride = n == 1 ? 0 : 1,
    };
}

static struct zs_isa_operand immediate(int32_t value)
{
    return (struct zs_isa_operand){
        .kind = ZS_OPERAND_IMM, .type = ZS_TYPE_D, .imm = (uint32_t)value};
}

static unsigned var_reg(const struct program *p, unsigned var, unsigned offset)
{
    return FIRST_REG + var * p->simd / 8 + offset / 8;
}

/* One operation on a variable, in pieces of at most 16 lanes; returns the first instruction. */
static unsigned emit_op(struct program *p, unsigned opcode, int dst, unsigned cond, unsigned var,
                        int32_t constant)
{
    unsigned n = width(p), first = p->inst_count;
    static const uint8_t null_type = ZS_TYPE_D;

    for (unsigned offset = 0; offset < p->simd; offset += n) {
        struct zs_isa_inst inst = {
            .op = (uint8_t)opcode,
            .exec_size = (uint8_t)n,
            .channel_offset = (uint8_t)offset,
            .cond = (uint8_t)cond,
            .source_count = 2,
            .src = {grf(var_reg(p, var, offset), n), immediate(constant)},
            .dst = {.kind = ZS_OPERAND_REG, .file = ZS_FILE_NULL, .type = null_type, .hstride = 1},
        };
        uint64_t words[2];
        if (dst >= 0) {
            inst.dst = grf(var_reg(p, (unsigned)dst, offset), n);
            inst.dst.hstride = 1;
        }
        encode(&inst, words);
        emit_words(p, words);
    }
    return first;
}

static unsigned emit_branch(struct program *p, unsigned opcode, bool predicated, bool control)
{
    uint64_t words[2] = {opcode_bits(opcode), 0};
    unsigned log2n = p->simd == 32 ? 5 : p->simd == 16 ? 4 : 3;

    words[0] |= (uint64_t)log2n << 21 | (uint64_t)predicated << 16 | (uint64_t)control << 28;
    if (opcode == ZS_OP_CALL) /* dst, and src1 as an immediate */
        words[0] |= UINT64_C(1) << 35 | UINT64_C(1) << 61;
    return emit_words(p, words);
}

/* Distances are in bytes from the branch. */
static void aim(struct program *p, unsigned inst, unsigned jip, unsigned uip)
{
    uint32_t j = (uint32_t)(((int)jip - (int)inst) * 16),
             u = (uint32_t)(((int)uip - (int)inst) * 16);
    p->code[inst][1] = (uint64_t)j << 32 | u;
}

struct loop {
    unsigned breaks[64], break_count;
    bool allows_cont;
};

static void emit_block(struct program *p, struct node *node, struct loop *loop);

static void emit_if(struct program *p, struct node *node, struct loop *loop)
{
    node->inst[0] = emit_op(p, ZS_OP_CMP, -1, node->cond, node->a, node->constant);
    node->inst[1] = emit_branch(p, ZS_OP_IF, true, false);
    emit_block(p, node->body, loop);
    if (node->has_other) {
        node->inst[2] = emit_branch(p, ZS_OP_ELSE, false, false);
        emit_block(p, node->other, loop);
    }
    node->inst[3] = emit_branch(p, ZS_OP_ENDIF, false, false);
    unsigned end = node->inst[3];
    aim(p, node->inst[1], node->has_other ? node->inst[2] + 1 : end, end);
    if (node->has_other)
        aim(p, node->inst[2], end, end);
    aim(p, end, end + 1, end);
}

static void emit_skip(struct program *p, struct node *node, struct loop *loop)
{
    node->inst[0] = emit_op(p, ZS_OP_CMP, -1, node->cond, node->a, node->constant);
    node->inst[1] = emit_branch(p, ZS_OP_GOTO, true, false);
    emit_block(p, node->body, loop);
    node->inst[2] = emit_branch(p, ZS_OP_JOIN, false, false);
    aim(p, node->inst[1], node->inst[2], node->inst[2]);
    aim(p, node->inst[2], node->inst[2] + 1, node->inst[2]);
}

static void emit_break(struct program *p, struct node *node, struct loop *loop)
{
    if (loop->allows_cont && random_below(&p->random, 3) == 0)
        node->kind = CONT;
    node->inst[0] = emit_op(p, ZS_OP_CMP, -1, node->cond, node->a, node->constant);
    node->inst[1] = emit_branch(p, node->kind == CONT ? ZS_OP_CONT : ZS_OP_BREAK, true, false);
    loop->breaks[loop->break_count++] = node->inst[1];
}

/* All loops count in a variable of their own and stop after at most six rounds. */
static void emit_loop(struct program *p, struct node *node)
{
    struct loop loop = {.allows_cont = node->kind == FOREVER};

    node->inst[0] = emit_op(p, ZS_OP_AND, (int)node->counter, 0, node->a, 3);
    unsigned start = p->inst_count;
    node->inst[1] = emit_op(p, ZS_OP_ADD, (int)node->counter, 0, node->counter, 1);
    if (node->kind == FOREVER) {
        node->inst[2] = emit_op(p, ZS_OP_CMP, -1, ZS_COND_GT, node->counter, 5);
        node->inst[3] = emit_branch(p, ZS_OP_BREAK, true, false);
        loop.breaks[loop.break_count++] = node->inst[3];
    }
    emit_block(p, node->body, &loop);
    if (node->kind != FOREVER)
        node->inst[2] = emit_op(p, ZS_OP_CMP, -1, ZS_COND_LT, node->counter, 6);
    node->inst[4] = emit_branch(p, node->kind == BACK ? ZS_OP_GOTO : ZS_OP_WHILE,
                                node->kind != FOREVER, node->kind == BACK);
    unsigned end = node->inst[4];
    if (node->kind == BACK)
        aim(p, end, end + 1, start);
    else
        aim(p, end, start, end);
    for (unsigned i = 0; i < loop.break_count; i++)
        aim(p, loop.breaks[i], end, end);
}

static void emit_call(struct program *p, struct node *node)
{
    node->inst[0] = emit_branch(p, ZS_OP_CALL, false, false);
    p->code[node->inst[0]][0] |= (uint64_t)(LINK_REG + node->function) << 53;
    p->calls[p->call_count].inst = node->inst[0];
    p->calls[p->call_count++].function = node->function;
    assert_true(p->call_count < 64);
}

static void emit_once(struct program *p, struct node *node)
{
    struct zs_isa_inst inst = {
        .op = ZS_OP_ADD,
        .exec_size = 1,
        .flags = ZS_INST_NOMASK,
        .source_count = 2,
        .src = {grf(ONCE_REG, 1), immediate(node->constant)},
        .dst = grf(ONCE_REG, 1),
    };
    uint64_t words[2];
    inst.dst.hstride = 1;
    encode(&inst, words);
    node->inst[0] = emit_words(p, words);
}

static const uint8_t ops[3] = {ZS_OP_ADD, ZS_OP_XOR, ZS_OP_MUL};

static void emit_block(struct program *p, struct node *node, struct loop *loop)
{
    for (; node; node = node->next) {
        switch (node->kind) {
        case ASSIGN:
            node->inst[0] = emit_op(p, ops[node->op], (int)node->a, 0, node->b, node->constant);
            break;
        case ONCE:
            emit_once(p, node);
            break;
        case IF:
            emit_if(p, node, loop);
            break;
        case SKIP:
            emit_skip(p, node, loop);
            break;
        case BREAK:
        case CONT:
            emit_break(p, node, loop);
            break;
        case CALL:
            emit_call(p, node);
            break;
        default:
            emit_loop(p, node);
        }
    }
}

/* jump = link - ip of the jmpi's next instruction; what functions called by address end with. */
static void emit_jump_back(struct program *p, unsigned function)
{
    struct zs_isa_operand ip = {.kind = ZS_OPERAND_REG,
                                .file = ZS_FILE_IP,
                                .type = ZS_TYPE_UD,
                                .width = 1,
                                .modifiers = ZS_MOD_NEG};
    struct zs_isa_inst insts[3] = {
        {.op = ZS_OP_ADD, .src = {ip, grf(LINK_REG + function, 1)}},
        {.op = ZS_OP_ADD, .src = {grf(JUMP_REG, 1), immediate(-48)}},
        {.op = ZS_OP_JMPI, .src = {ip, grf(JUMP_REG, 1)}},
    };

    for (unsigned i = 0; i < 3; i++) {
        uint64_t words[2];
        insts[i].exec_size = 1;
        insts[i].flags |= ZS_INST_NOMASK;
        insts[i].source_count = 2;
        insts[i].dst = grf(JUMP_REG, 1);
        insts[i].dst.hstride = 1;
        if (i == 0)
            insts[i].src[1].type = insts[i].dst.type = ZS_TYPE_UD;
        encode(&insts[i], words);
        p->ret_inst[function] = emit_words(p, words);
    }
}

static void emit_program(struct program *p)
{
    static const uint64_t end[2] = {UINT64_C(0x2000020407600031), UINT64_C(0x8200001006000e00)};
    struct loop none = {.break_count = 0};

    for (unsigned i = 0; i < FUNCTIONS; i++) {
        p->function_at[i] = p->inst_count;
        emit_block(p, p->functions[i], &none);
        if (i == 0) {
            p->ret_inst[0] = emit_words(p, end);
            continue;
        }
        p->returns_by_jump[i] = random_below(&p->random, 2);
        if (p->returns_by_jump[i]) {
            emit_jump_back(p, i);
            continue;
        }
        struct zs_isa_inst ret = {
            .op = ZS_OP_RET,
            .exec_size = (uint8_t)p->simd,
            .source_count = 1,
            .src = {grf(LINK_REG + i, 1)},
            .dst = {.kind = ZS_OPERAND_REG, .file = ZS_FILE_NULL, .type = ZS_TYPE_UD, .hstride = 1},
        };
        uint64_t words[2];
        ret.src[0].type = ZS_TYPE_UD;
        encode(&ret, words);
        p->ret_inst[i] = emit_words(p, words);
    }
    for (unsigned i = 0; i < p->call_count; i++) {
        unsigned inst = p->calls[i].inst;
        aim(p, inst, p->function_at[p->calls[i].function], inst);
        /* src1: an immediate d, which the low word's target field overlays */
        p->code[inst][1] = (p->code[inst][1] & UINT64_C(0xffffffff00000000)) | UINT64_C(3) << 25 |
                           UINT64_C(1) << 27;
    }
}

/* ---- the reference ---- */

static void touch(struct program *p, unsigned inst, uint32_t lanes)
{
    p->executions[inst]++;
    p->lanes[inst] += (unsigned)__builtin_popcount(lanes);
}

/* An operation of several pieces. */
static void touch_op(struct program *p, unsigned inst, uint32_t mask)
{
    unsigned n = width(p);

    for (unsigned offset = 0; offset < p->simd; offset += n)
        touch(p, inst + offset / n, mask >> offset & (n == 16 ? 0xffff : 0xff));
}

static int32_t apply(unsigned opcode, int32_t a, int32_t b)
{
    uint32_t x = (uint32_t)a, y = (uint32_t)b;

    return (int32_t)(opcode == ZS_OP_ADD   ? x + y
                     : opcode == ZS_OP_XOR ? x ^ y
                     : opcode == ZS_OP_AND ? (x & y)
                                           : x * y);
}

static bool holds(unsigned cond, int32_t a, int32_t b)
{
    return cond == 1   ? a == b
           : cond == 2 ? a != b
           : cond == 3 ? a > b
           : cond == 4 ? a >= b
           : cond == 5 ? a < b
                       : a <= b;
}

static void ref_op(struct program *p, unsigned inst, unsigned opcode, unsigned dst, unsigned var,
                   int32_t constant, uint32_t mask)
{
    touch_op(p, inst, mask);
    for (unsigned lane = 0; lane < p->simd; lane++)
        if (mask >> lane & 1)
            p->v[dst][lane] = apply(opcode, p->v[var][lane], constant);
}

static uint32_t ref_cmp(struct program *p, unsigned inst, unsigned cond, unsigned var,
                        int32_t constant, uint32_t mask)
{
    uint32_t result = 0;

    touch_op(p, inst, mask);
    for (unsigned lane = 0; lane < p->simd; lane++)
        if ((mask >> lane & 1) && holds(cond, p->v[var][lane], constant))
            result |= 1u << lane;
    return result;
}

struct ref_loop {
    uint32_t broken, continued;
};

static uint32_t ref_block(struct program *p, const struct node *node, uint32_t mask,
                          struct ref_loop *loop);

static uint32_t ref_if(struct program *p, const struct node *node, uint32_t mask,
                       struct ref_loop *loop)
{
    uint32_t yes = ref_cmp(p, node->inst[0], node->cond, node->a, node->constant, mask);
    uint32_t no = mask & ~yes;

    touch(p, node->inst[1], mask);
    yes = ref_block(p, node->body, yes, loop);
    if (node->kind == IF && node->has_other) {
        if (yes)
            touch(p, node->inst[2], yes);
        no = ref_block(p, node->other, no, loop);
    }
    if (yes | no)
        touch(p, node->inst[node->kind == IF ? 3 : 2], yes | no);
    return yes | no;
}

static uint32_t ref_loop(struct program *p, const struct node *node, uint32_t mask)
{
    struct ref_loop loop = {0};
    uint32_t live = mask, done = 0;

    ref_op(p, node->inst[0], ZS_OP_AND, node->counter, node->a, 3, mask);
    while (live) {
        ref_op(p, node->inst[1], ZS_OP_ADD, node->counter, node->counter, 1, live);
        if (node->kind == FOREVER) {
            uint32_t out = ref_cmp(p, node->inst[2], ZS_COND_GT, node->counter, 5, live);
            touch(p, node->inst[3], live);
            loop.broken |= out;
            live &= ~out;
        }
        live = ref_block(p, node->body, live, &loop);
        uint32_t again = live;
        if (live && node->kind != FOREVER)
            again = ref_cmp(p, node->inst[2], ZS_COND_LT, node->counter, 6, live);
        live |= loop.continued;
        if (live)
            touch(p, node->inst[4], live);
        if (node->kind == FOREVER)
            again = live;
        done |= live & ~again;
        live = again;
        loop.continued = 0;
    }
    return done | loop.broken;
}

static uint32_t ref_leave(struct program *p, const struct node *node, uint32_t mask,
                          struct ref_loop *loop)
{
    uint32_t out = ref_cmp(p, node->inst[0], node->cond, node->a, node->constant, mask);

    touch(p, node->inst[1], mask);
    *(node->kind == CONT ? &loop->continued : &loop->broken) |= out;
    return mask & ~out;
}

static void ref_call(struct program *p, const struct node *node, uint32_t mask)
{
    struct ref_loop none = {0};

    touch(p, node->inst[0], mask);
    ref_block(p, p->functions[node->function], mask, &none);
    unsigned ret = p->ret_inst[node->function];
    if (p->returns_by_jump[node->function]) {
        touch(p, ret - 2, 1);
        touch(p, ret - 1, 1);
        mask = 1;
    }
    touch(p, ret, mask);
}

static uint32_t ref_block(struct program *p, const struct node *node, uint32_t mask,
                          struct ref_loop *loop)
{
    for (; node && mask; node = node->next) {
        if (++p->steps > 200000)
            return mask;
        switch (node->kind) {
        case ASSIGN:
            ref_op(p, node->inst[0], ops[node->op], node->a, node->b, node->constant, mask);
            break;
        case ONCE:
            touch(p, node->inst[0], 1);
            p->once += (uint32_t)node->constant;
            break;
        case IF:
        case SKIP:
            mask = ref_if(p, node, mask, loop);
            break;
        case BREAK:
        case CONT:
            mask = ref_leave(p, node, mask, loop);
            break;
        case CALL:
            ref_call(p, node, mask);
            break;
        default:
            mask = ref_loop(p, node, mask);
        }
    }
    return mask;
}

/* ---- the test ---- */

static int no_sends(struct zs_eu_send *ret, struct zs_diag *diag)
{
    (void)ret;
    return zs_diag_set(diag, -1, ZS_DIAG_NO_OFFSET, "no sends here");
}

/* After the program was run `times` times. */
static void compare_counters(const struct program *p, const struct zs_eu_program *program,
                             const uint64_t *counters, uint64_t times)
{
    uint64_t *executions = calloc(p->inst_count, 8), *lanes = calloc(p->inst_count, 8);

    assert_non_null(executions);
    assert_non_null(lanes);
    assert_int_equal(zs_eu_program_inst_count(program), p->inst_count);
    zs_eu_program_counters_expand(program, counters, executions, lanes);
    for (unsigned i = 0; i < p->inst_count; i++) {
        if (i == p->ret_inst[0])
            continue; /* end of thread */
        if (executions[i] != times * p->executions[i] || lanes[i] != times * p->lanes[i])
            fail_msg("instruction %u (opcode %02x): %llu/%llu counted, %llu/%llu expected", i,
                     (unsigned)p->code[i][0] & 0x7f, (unsigned long long)executions[i],
                     (unsigned long long)lanes[i], (unsigned long long)(times * p->executions[i]),
                     (unsigned long long)(times * p->lanes[i]));
    }
    free(executions);
    free(lanes);
}

static void load(const struct program *p, struct zs_eu_thread *t)
{
    for (unsigned var = 0; var < VARS; var++)
        memcpy(t->grf + var_reg(p, var, 0) * 32, p->v[var], p->simd * 4);
}

/* Counters are packed, and settled now and then: the same numbers either way. */
static void compare_repeated(const struct program *p, struct zs_eu_thread *t,
                             const struct zs_eu_program *program, uint32_t dispatch,
                             uint64_t *counters)
{
    uint64_t executed = t->executed, times = 1;

    while (executed < 300000 && times < 10000) {
        zs_eu_thread_init(t, program, dispatch);
        t->counters = counters;
        load(p, t);
        assert_int_equal(zs_eu_run(t, program, UINT64_MAX), ZS_EU_EOT);
        executed += t->executed;
        times++;
    }
    compare_counters(p, program, counters, times);
    zs_eu_program_counters_settle(program, counters);
    compare_counters(p, program, counters, times);
}

/* ---- hooks ---- */

struct watch {
    uint64_t blocks[INSTS_MAX], steps[INSTS_MAX]; /* executions of an instruction, as told */
    unsigned messages;
    uint32_t ce, next; /* lanes of the running block, and its next instruction */
    bool stops;
    struct random random;
};

static void on_block(struct zs_eu_thread *t, uint32_t first, uint32_t count)
{
    struct watch *watch = t->env;

    for (uint32_t i = first; i < first + count; i++)
        watch->blocks[i]++;
    watch->ce = t->ce;
    watch->next = first;
}

static void on_message(struct zs_eu_thread *t, const struct zs_eu_send *send, uint32_t lane_mask)
{
    struct watch *watch = t->env;

    assert_true(send->d.eot && lane_mask == 0xff); /* NoMask */
    watch->messages++;
}

static bool on_step(struct zs_eu_thread *t, uint32_t inst)
{
    struct watch *watch = t->env;

    assert_int_equal(t->ce, watch->ce);
    assert_int_equal(inst, watch->next);
    watch->next = inst + 1;
    watch->steps[inst]++;
    return watch->stops && random_below(&watch->random, 3) == 0;
}

/* What hooks are told agrees with the reference, wherever the thread was stopped. */
static void run_hooked(const struct program *p, uint32_t dispatch, int32_t (*after)[32],
                       unsigned flags)
{
    static const struct zs_eu_hooks hooks = {
        .block = on_block, .message = on_message, .step = on_step};
    struct zs_eu_lower_params params = {
        .code = zs_span_make(p->code, p->inst_count * 16),
        .simd = p->simd,
        .flags = flags,
        .send_lower = no_sends,
    };
    struct zs_eu_program *program;
    struct zs_diag diag = {0};
    struct watch *watch = calloc(1, sizeof(*watch));
    struct zs_eu_thread *t = aligned_alloc(64, sizeof(*t));
    enum zs_eu_status status;

    assert_non_null(watch);
    assert_non_null(t);
    assert_int_equal(zs_eu_lower(&params, &program, &diag), 0);
    zs_eu_thread_init(t, program, dispatch);
    t->hooks = &hooks;
    t->env = watch;
    watch->stops = flags & ZS_EU_LOWER_HOOK_STEPS;
    load(p, t);
    while ((status = zs_eu_run(t, program, 1000)) == ZS_EU_BUDGET || status == ZS_EU_STOP)
        if (status == ZS_EU_STOP)
            assert_int_equal(zs_eu_thread_inst(t), watch->next - 1);
    assert_int_equal(status, ZS_EU_EOT);
    for (unsigned var = 0; var < VARS; var++)
        assert_memory_equal(t->grf + var_reg(p, var, 0) * 32, after[var], p->simd * 4);
    assert_int_equal(watch->messages, flags & ZS_EU_LOWER_HOOK_MESSAGES ? 1 : 0);
    for (unsigned i = 0; i < p->inst_count; i++) {
        bool end =
            (p->code[i][0] & 0x7f) == opcode_bits(ZS_OP_SEND); /* the reference ends before it */
        uint64_t expected = p->executions[i] + end;
        assert_int_equal(watch->blocks[i], expected);
        assert_int_equal(watch->steps[i], flags & ZS_EU_LOWER_HOOK_STEPS ? expected : 0);
    }
    free(watch);
    free(t);
    zs_eu_program_destroy(program);
}

/* In slices, so that the budget is tried too. */
static void run(struct program *p, struct zs_eu_thread *t, uint32_t dispatch, uint64_t slice,
                bool repeat)
{
    struct zs_eu_program *program;
    struct zs_diag diag;
    struct zs_eu_lower_params params = {
        .code = zs_span_make(p->code, p->inst_count * 16),
        .simd = p->simd,
        .flags = ZS_EU_LOWER_COUNTS,
        .send_lower = no_sends,
    };
    enum zs_eu_status status;
    unsigned slices = 0;

    zs_diag_clear(&diag);
    if (zs_eu_lower(&params, &program, &diag) < 0)
        fail_msg("%s", diag.text);
    uint64_t *counters = calloc(zs_eu_program_counter_count(program), 8);
    assert_non_null(counters);
    zs_eu_thread_init(t, program, dispatch);
    t->counters = counters;
    load(p, t);
    int32_t before[ZS_ARRAY_LEN(p->v)][32];
    memcpy(before, p->v, sizeof(before));
    memset(p->executions, 0, sizeof(p->executions));
    memset(p->lanes, 0, sizeof(p->lanes));
    p->once = 0;
    p->steps = 0;
    struct ref_loop none = {0};
    ref_block(p, p->functions[0], dispatch, &none);
    if (p->steps <= 200000) {
        while ((status = zs_eu_run(t, program, slice)) == ZS_EU_BUDGET)
            assert_true(++slices < 10000000);
        if (status != ZS_EU_EOT)
            fail_msg("status %d: %s", (int)status, t->fault.text);
        for (unsigned var = 0; var < VARS; var++)
            assert_memory_equal(t->grf + var_reg(p, var, 0) * 32, p->v[var], p->simd * 4);
        assert_memory_equal(t->grf + ONCE_REG * 32, &p->once, 4);
        compare_counters(p, program, counters, 1);
        int32_t after[ZS_ARRAY_LEN(p->v)][32];
        memcpy(after, p->v, sizeof(after));
        memcpy(p->v, before, sizeof(before));
        if (p->steps <= 2000) {
            enum { BOTH = ZS_EU_LOWER_HOOK_BLOCKS | ZS_EU_LOWER_HOOK_MESSAGES };
            run_hooked(p, dispatch, after, BOTH);
            run_hooked(p, dispatch, after, BOTH | ZS_EU_LOWER_HOOK_STEPS);
        }
        if (repeat)
            compare_repeated(p, t, program, dispatch, counters);
    }
    free(counters);
    zs_eu_program_destroy(program);
}

static void check_round(struct program *p, struct zs_eu_thread *t, uint64_t seed)
{
    static const unsigned simds[] = {8, 16, 32};

    memset(p, 0, sizeof(*p));
    p->random.state = seed;
    p->simd = simds[seed % 3];
    for (unsigned i = 0; i < FUNCTIONS; i++)
        p->functions[i] = random_block(p, i ? 2 : 0, false, i);
    emit_program(p);
    for (unsigned var = 0; var < VARS; var++)
        for (unsigned lane = 0; lane < p->simd; lane++)
            p->v[var][lane] = (int32_t)random_below(&p->random, 200) - 100;
    uint32_t dispatch = p->simd == 32 ? UINT32_MAX : (1u << p->simd) - 1;
    if (seed % 4 == 0)
        dispatch &= (uint32_t)random_next(&p->random) | 1;
    run(p, t, dispatch, seed % 5 == 0 ? 7 : 1u << 30, seed % 50 == 0);
}

static void test_random_flow(void **state)
{
    struct program *p = malloc(sizeof(*p));
    struct zs_eu_thread *t = aligned_alloc(64, sizeof(*t));
    const char *more = getenv("ZS_TEST_ROUNDS");
    unsigned rounds = more ? (unsigned)strtoul(more, NULL, 0) : ROUNDS;

    (void)state;
    assert_non_null(p);
    assert_non_null(t);
    for (unsigned i = 0; i < rounds; i++) {
        check_round(p, t, 77000 + i);
    }
    free(p);
    free(t);
}

/* One block, so often that packed counters would overflow if nobody settled them. */
static void test_long_loop(void **state)
{
    enum { TIMES = 1000000, DISPATCH = 0x87ff }; /* 8 lanes, and 4 */
    const struct zs_isa_operand r10 = {.kind = ZS_OPERAND_REG,
                                       .file = ZS_FILE_GRF,
                                       .type = ZS_TYPE_D,
                                       .reg = 10,
                                       .vstride = 8,
                                       .width = 8,
                                       .hstride = 1};
    const struct zs_isa_inst insts[2] = {
        {.op = ZS_OP_ADD,
         .exec_size = 16,
         .source_count = 2,
         .dst = r10,
         .src = {r10, {.kind = ZS_OPERAND_IMM, .type = ZS_TYPE_D, .imm = 1}}},
        {.op = ZS_OP_CMP,
         .exec_size = 16,
         .cond = ZS_COND_LT,
         .source_count = 2,
         .dst = {.kind = ZS_OPERAND_REG, .file = ZS_FILE_NULL, .type = ZS_TYPE_D, .hstride = 1},
         .src = {r10, {.kind = ZS_OPERAND_IMM, .type = ZS_TYPE_D, .imm = TIMES}}},
    };
    uint64_t code[4][2], executions[4], lanes[4];
    encode(&insts[0], code[0]);
    encode(&insts[1], code[1]);
    code[2][0] = opcode_bits(ZS_OP_WHILE) | UINT64_C(1) << 16 | UINT64_C(4) << 21;
    code[2][1] = (uint64_t)(uint32_t)-32 << 32;
    code[3][0] = UINT64_C(0x2000020407600031);
    code[3][1] = UINT64_C(0x8200001006000e00);
    struct zs_eu_lower_params params = {.code = zs_span_make(code, sizeof(code)),
                                        .simd = 16,
                                        .flags = ZS_EU_LOWER_COUNTS,
                                        .send_lower = no_sends};
    struct zs_eu_program *program;
    struct zs_diag diag = {0};
    assert_int_equal(zs_eu_lower(&params, &program, &diag), 0);
    struct zs_eu_thread *t = aligned_alloc(64, sizeof(*t));
    uint64_t *counters = calloc(zs_eu_program_counter_count(program), 8);
    assert_non_null(t);
    assert_non_null(counters);
    zs_eu_thread_init(t, program, DISPATCH);
    t->counters = counters;
    assert_int_equal(zs_eu_run(t, program, UINT64_MAX), ZS_EU_EOT);
    zs_eu_program_counters_expand(program, counters, executions, lanes);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(executions[i], TIMES);
        assert_int_equal(lanes[i], 12 * (uint64_t)TIMES);
    }
    zs_eu_program_counters_settle(program, counters);
    zs_eu_program_counters_expand(program, counters, executions, lanes);
    assert_int_equal(executions[1], TIMES);
    assert_int_equal(lanes[1], 12 * (uint64_t)TIMES);
    free(counters);
    free(t);
    zs_eu_program_destroy(program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_flow),
                                       cmocka_unit_test(test_long_loop)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
