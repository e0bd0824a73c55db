/* SPDX-License-Identifier: MIT */
/*
 * What of a kernel is there only since integers have 64 bits: what computes their high halves.
 * Where the device has no such integers compilers write sums with a carry, and products of 32 bits
 * whose both halves are kept. What puts a high half together is one; so is what adds to one, and
 * what nobody reads but for a high half.
 */
#include "gpu/timing/timing_priv.h"

#include "isa/inst.h"

#include <stdlib.h>
#include <string.h>

enum {
    NEAR = 24,        /* instructions: schedulers put others between */
    STEPS_MOST = 512, /* that are looked at for who reads a result: further on anything may */
    READERS_MOST = 16,
    GRFS = ZS_ISA_GRF_WORDS * 64,
};

/* Of an instruction: what it may be, and who reads what it writes. */
struct node {
    struct zs_isa_effects e;
    bool may;  /* it may compute a high half: a pipe's, into general registers */
    bool high; /* it does, as far as is known */
    bool seed, product, reaches;
    bool stays; /* it is what is left of a product: of 32 bits */
    uint32_t reader_count, readers[READERS_MOST];
};

struct wide {
    struct zs_timing_code *code;
    const struct zs_isa_kernel *isa;
    struct node *nodes;
    uint32_t count;
};

static bool is_grf(const struct zs_isa_operand *op)
{
    return op->kind == ZS_OPERAND_REG && op->file == ZS_FILE_GRF;
}

static bool is_acc(const struct zs_isa_operand *op)
{
    return op->kind == ZS_OPERAND_REG && op->file == ZS_FILE_ACC;
}

static bool is_dword(uint8_t type)
{
    return type == ZS_TYPE_D || type == ZS_TYPE_UD;
}

static void leave_out(struct zs_timing_op *op)
{
    op->kind = ZS_TIMING_KIND_WIDE_INTEGER;
    op->converts = true;
}

static bool is_left_out(const struct wide *w, uint32_t i)
{
    return w->code->ops[i].kind == ZS_TIMING_KIND_WIDE_INTEGER && w->code->ops[i].converts;
}

/* ---- who reads what ----------------------------------------------------------------------------
 */

/* Registers of one result: of few words of 64. */
struct registers {
    uint64_t bits[ZS_ISA_GRF_WORDS];
    uint32_t first, last;
};

static bool overlap(const uint64_t *a, const struct registers *of)
{
    uint64_t both = 0;
    for (uint32_t i = of->first; i <= of->last; i++)
        both |= a[i] & of->bits[i];
    return both != 0;
}

static bool is_packed(const struct zs_isa_inst *inst, uint32_t grf_B)
{
    uint32_t B = zs_isa_type_bits((enum zs_isa_type)inst->dst.type) / 8 * inst->exec_size;
    return inst->dst.hstride == 1 && B >= grf_B;
}

/* Readers of `of` from `at` up to `end`; what is written anew there is taken out of `of`. False:
 * somebody may read it who cannot compute a high half, or it is not known who does. */
static bool find_readers_in(struct wide *w, struct node *n, uint32_t at, uint32_t end,
                            struct registers *of, uint32_t *steps, uint32_t grf_B)
{
    for (; at < end; at++) {
        const struct node *other = &w->nodes[at];
        uint64_t left = 0;
        if (++*steps > STEPS_MOST || other->e.indirect_read)
            return false;
        if (overlap(other->e.grf_read, of)) {
            if (!other->may || n->reader_count == READERS_MOST)
                return false;
            n->readers[n->reader_count++] = at;
        }
        if (!overlap(other->e.grf_written, of) || other->e.conditional ||
            !is_packed(zs_isa_inst(w->isa, at), grf_B))
            continue;
        for (uint32_t i = of->first; i <= of->last; i++)
            left |= of->bits[i] &= ~other->e.grf_written[i];
        if (!left)
            return true;
    }
    return true;
}

static bool find_readers(struct wide *w, uint32_t i, uint32_t grf_B)
{
    struct node *n = &w->nodes[i];
    struct registers of = {.last = ZS_ISA_GRF_WORDS - 1}, again;
    uint32_t at = i + 1, steps = 0;
    memcpy(of.bits, n->e.grf_written, sizeof(of.bits));
    while (of.first < of.last && !of.bits[of.first])
        of.first++;
    while (of.first < of.last && !of.bits[of.last])
        of.last--;
    for (uint32_t l = 0; l < w->code->loop_count; l++) {
        uint32_t first = w->code->loops[l][0], last = w->code->loops[l][1];
        if (i < first || i > last)
            continue;
        if (!find_readers_in(w, n, at, last + 1, &of, &steps, grf_B))
            return false;
        at = ZS_MAX(at, last + 1);
        again = of;
        if (!find_readers_in(w, n, first, i + 1, &again, &steps, grf_B))
            return false;
    }
    return find_readers_in(w, n, at, w->count, &of, &steps, grf_B);
}

/* ---- where high halves begin -------------------------------------------------------------------
 */

/* The instruction that wrote the accumulator last; NULL: none near. */
static const struct zs_isa_inst *writer_of_acc(const struct wide *w, uint32_t i, uint32_t *ret_at)
{
    for (uint32_t k = 1; k <= ZS_MIN(i, (uint32_t)NEAR); k++)
        if (w->nodes[i - k].e.acc_written & w->nodes[i].e.acc_read) {
            *ret_at = i - k;
            return zs_isa_inst(w->isa, i - k);
        }
    return NULL;
}

/* A 32-bit product's low half comes from the accumulator: the high one is read elsewhere. A move of
 * a carry is there for what adds it. */
static void begin_at_acc(struct wide *w, uint32_t i)
{
    const struct zs_isa_inst *move = zs_isa_inst(w->isa, i);
    uint32_t from = 0;
    const struct zs_isa_inst *writer = writer_of_acc(w, i, &from);
    if (!writer || !is_dword(move->src[0].type))
        return;
    if (writer->op == ZS_OP_MACH && is_grf(&writer->dst) && is_grf(&move->dst)) {
        w->nodes[from].seed = w->nodes[from].stays = true;
        return;
    }
    for (uint32_t n = i + 1; n < ZS_MIN(i + NEAR, w->count); n++) {
        const struct zs_isa_inst *inst = zs_isa_inst(w->isa, n);
        bool sums = (inst->op == ZS_OP_ADD3 || inst->op == ZS_OP_ADD) && is_dword(inst->dst.type);
        for (uint32_t s = 0; sums && s < inst->source_count; s++)
            if (inst->src[s].kind == ZS_OPERAND_REG && inst->src[s].file == move->dst.file &&
                inst->src[s].reg == move->dst.reg)
                w->nodes[n].seed = w->nodes[n].may;
    }
}

/* High halves that are put together with low ones, or taken apart from them. */
static bool moves_high(const struct zs_isa_inst *inst, const bool doubles[GRFS])
{
    const struct zs_isa_operand *dst = &inst->dst, *src = &inst->src[0];
    if (inst->op != ZS_OP_MOV || inst->exec_size == 1 || !is_grf(dst) || !is_grf(src) ||
        !is_dword(dst->type) || !is_dword(src->type))
        return false;
    bool apart = src->vstride == 2 && src->width == 1 && src->subreg == 1 && dst->hstride == 1;
    bool together = dst->hstride == 2 && dst->subreg == 1;
    return (apart && !doubles[src->reg % GRFS]) || (together && !doubles[dst->reg % GRFS]);
}

static bool is_product(const struct zs_isa_inst *inst)
{
    return inst->op == ZS_OP_MUL || inst->op == ZS_OP_MACH || inst->op == ZS_OP_MACL;
}

/* The low half is another instruction's, of the same factors. */
static bool has_low(const struct wide *w, uint32_t i)
{
    const struct zs_isa_inst *high = zs_isa_inst(w->isa, i);
    const uint64_t *of = w->nodes[i].e.grf_read;
    uint32_t first = i - ZS_MIN(i, (uint32_t)NEAR), last = ZS_MIN(i + NEAR, w->count);
    for (uint32_t n = first; n < last && high->op == ZS_OP_MACH; n++) {
        const struct zs_isa_inst *low = zs_isa_inst(w->isa, n);
        bool product = (low->op == ZS_OP_MUL || low->op == ZS_OP_MACL) && is_grf(&low->dst);
        bool same = product && low->src[1].kind == high->src[1].kind &&
                    (low->src[1].imm & 0xffff) == (high->src[1].imm & 0xffff);
        for (uint32_t k = 0; same && k < ZS_ISA_GRF_WORDS; k++)
            same = !(of[k] & ~w->nodes[n].e.grf_read[k]);
        if (same)
            return true;
    }
    return false;
}

static bool begin(struct wide *w)
{
    bool doubles[GRFS] = {false}, found = false;
    for (uint32_t i = 0; i < w->count; i++) {
        const struct zs_isa_inst *inst = zs_isa_inst(w->isa, i);
        if (inst->dst.type == ZS_TYPE_DF && is_grf(&inst->dst))
            doubles[inst->dst.reg % GRFS] = true;
        for (uint32_t s = 0; s < inst->source_count && s < ZS_ISA_SOURCES_MAX; s++)
            if (inst->src[s].type == ZS_TYPE_DF && is_grf(&inst->src[s]))
                doubles[inst->src[s].reg % GRFS] = true;
    }
    for (uint32_t i = 0; i < w->count; i++) {
        const struct zs_isa_inst *inst = zs_isa_inst(w->isa, i);
        w->nodes[i].product = is_product(inst) && is_grf(&inst->dst);
        w->nodes[i].seed |= moves_high(inst, doubles) || has_low(w, i);
        if (inst->op == ZS_OP_MOV && is_acc(&inst->src[0]))
            begin_at_acc(w, i);
        found |= w->nodes[i].seed || w->code->ops[i].converts;
    }
    return found;
}

/* ---- what is one -------------------------------------------------------------------------------
 */

/* Sums of high halves of products and of other products. */
static bool add_products(struct wide *w)
{
    bool changed = false;
    for (uint32_t i = 0; i < w->count; i++) {
        const struct node *n = &w->nodes[i];
        for (uint32_t k = 0; n->seed && n->product && k < n->reader_count; k++) {
            struct node *sum = &w->nodes[n->readers[k]];
            uint32_t op = zs_isa_inst(w->isa, n->readers[k])->op;
            bool sums = op == ZS_OP_ADD || op == ZS_OP_ADD3;
            changed |= sums && !sum->seed;
            sum->seed |= sums;
            sum->product |= sums;
        }
    }
    return changed;
}

static bool is_high(const struct wide *w, const struct node *n)
{
    bool all = n->reader_count > 0;
    for (uint32_t k = 0; k < n->reader_count && all; k++)
        all = w->nodes[n->readers[k]].high;
    return all;
}

/* The most that may be; then of that what is for a high half at last. */
static void spread(struct wide *w)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = w->count; i-- > 0;) {
            struct node *n = &w->nodes[i];
            if (!n->high || n->seed || is_high(w, n))
                continue;
            n->high = false;
            changed = true;
        }
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = w->count; i-- > 0;) {
            struct node *n = &w->nodes[i];
            bool reaches = n->seed;
            for (uint32_t k = 0; k < n->reader_count; k++)
                reaches |= w->nodes[n->readers[k]].reaches;
            changed |= n->high && reaches && !n->reaches;
            n->reaches |= n->high && reaches;
        }
    }
}

/* Copies of low halves of sums, which have to be put elsewhere. */
static void find_copies(struct wide *w)
{
    bool low[GRFS] = {false};
    for (uint32_t i = 0; i < w->count; i++) {
        const struct zs_isa_inst *inst = zs_isa_inst(w->isa, i);
        if (inst->op == ZS_OP_ADDC && is_grf(&inst->dst))
            low[inst->dst.reg % GRFS] = true;
        if (inst->op == ZS_OP_MOV && is_grf(&inst->dst) && is_grf(&inst->src[0]) &&
            low[inst->src[0].reg % GRFS])
            leave_out(&w->code->ops[i]);
    }
}

/* ---- flags for products ------------------------------------------------------------------------
 * On Xe LP a product's first step in code that diverges is predicated: a flag is saved, has the
 * lanes that are on, and comes back.
 */

static bool is_flag(const struct zs_isa_operand *op, uint32_t reg)
{
    return op->kind == ZS_OPERAND_REG && op->file == ZS_FILE_F && op->reg == reg;
}

static void find_window(struct wide *w, uint32_t i)
{
    const struct zs_isa_inst *save = zs_isa_inst(w->isa, i);
    uint32_t flag = save->src[0].reg, parts[READERS_MOST], count = 0;
    bool asks = false;
    parts[count++] = i;
    for (uint32_t n = i + 1; n < ZS_MIN(i + 4 * NEAR, w->count) && count < READERS_MOST; n++) {
        const struct zs_isa_inst *inst = zs_isa_inst(w->isa, n);
        bool of_flag = inst->flag_reg == flag;
        bool writes = is_flag(&inst->dst, flag);
        bool back = writes && is_grf(&inst->src[0]) && inst->src[0].reg == save->dst.reg &&
                    inst->src[0].subreg == save->dst.subreg;
        if (inst->op == ZS_OP_CMP && of_flag && is_grf(&inst->src[0]) && is_grf(&inst->src[1]) &&
            inst->src[0].reg == inst->src[1].reg && inst->src[0].subreg == inst->src[1].subreg)
            asks = writes = true;
        else if (!writes && ((inst->pred || inst->cond) && of_flag) && !is_left_out(w, n))
            return;
        if (writes)
            parts[count++] = n;
        if (!back || inst->pred)
            continue;
        for (uint32_t k = 0; k < count && asks; k++)
            leave_out(&w->code->ops[parts[k]]);
        return;
    }
}

/* A loop that is left before its end for what is not there needs no other way out than its end, and
 * no such flags. */
static void straighten(struct wide *w, uint32_t first, uint32_t last)
{
    uint32_t i = last;
    while (i > first && is_left_out(w, i - 1))
        i--;
    if (i == last || i == first || zs_isa_inst(w->isa, i - 1)->op != ZS_OP_BREAK)
        return;
    leave_out(&w->code->ops[i - 1]);
    for (uint32_t n = first; n < last; n++) {
        const struct zs_isa_inst *inst = zs_isa_inst(w->isa, n);
        const struct zs_isa_operand *src = inst->src;
        bool asks = inst->op == ZS_OP_CMP && is_grf(&src[0]) && is_grf(&src[1]) &&
                    src[0].reg == src[1].reg && src[0].subreg == src[1].subreg;
        bool moves = inst->op == ZS_OP_MOV && inst->exec_size == 1 &&
                     (inst->dst.file == ZS_FILE_F || src[0].file == ZS_FILE_F);
        if (asks || moves)
            leave_out(&w->code->ops[n]);
    }
}

/* ---- all ---------------------------------------------------------------------------------------
 */

static void find_nodes(struct wide *w)
{
    for (uint32_t i = 0; i < w->count; i++) {
        struct node *n = &w->nodes[i];
        uint64_t written = 0;
        zs_isa_inst_effects(w->isa, i, &n->e);
        for (uint32_t k = 0; k < ZS_ISA_GRF_WORDS; k++)
            written |= n->e.grf_written[k];
        n->may = w->code->ops[i].unit <= ZS_TIMING_UNIT_FPU1 && written &&
                 w->code->ops[i].kind != ZS_TIMING_KIND_MATH;
    }
}

void zs_timing_find_wide(struct zs_timing_code *code, const struct zs_isa_kernel *isa)
{
    struct wide w = {.code = code, .isa = isa, .count = code->op_count};
    uint32_t grf_B = zs_isa_platform_info(code->params->platform)->grf_B;
    bool any = false;
    for (uint32_t i = 0; i < code->op_count; i++)
        any |= code->ops[i].kind == ZS_TIMING_KIND_WIDE_INTEGER && code->ops[i].converts;
    w.nodes = any ? calloc(w.count, sizeof(*w.nodes)) : NULL;
    if (!w.nodes) /* no memory: high halves take what they take */
        return;
    find_nodes(&w);
    if (begin(&w)) {
        for (uint32_t i = 0; i < w.count; i++)
            w.nodes[i].high = w.nodes[i].may && (find_readers(&w, i, grf_B) || w.nodes[i].seed);
        while (add_products(&w))
            ;
        spread(&w);
        for (uint32_t i = 0; i < w.count; i++)
            if (w.nodes[i].stays)
                code->ops[i].kind = ZS_TIMING_KIND_PLAIN;
            else if (w.nodes[i].high && w.nodes[i].reaches)
                leave_out(&code->ops[i]);
        find_copies(&w);
        for (uint32_t l = 0; l < code->loop_count; l++)
            straighten(&w, code->loops[l][0], code->loops[l][1]);
    }
    for (uint32_t i = 0; i < w.count; i++) {
        const struct zs_isa_inst *inst = zs_isa_inst(isa, i);
        if (inst->op == ZS_OP_MOV && inst->exec_size == 1 && is_grf(&inst->dst) &&
            inst->src[0].kind == ZS_OPERAND_REG && inst->src[0].file == ZS_FILE_F)
            find_window(&w, i);
    }
    free(w.nodes);
}
