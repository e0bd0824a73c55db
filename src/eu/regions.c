/* SPDX-License-Identifier: MIT */
/*
 * Which functions a program is compiled to.
 *
 * Loops are what time is spent in: each has an entry at its head, in both versions. Where threads
 * start is one, with all that they may reach, so that a thread that nothing stops is one call. So
 * are the places behind barriers, behind calls, where functions begin, and where lanes that were
 * apart join. Code between is the interpreter's.
 */
#include "eu/emit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    REGION_OPS = 1500,  /* of an entry that is no loop */
    SMALL_OPS = 200,    /* of one that is none of a kernel */
    MODULE_OPS = 12000, /* of all functions together */
};

struct plan {
    struct zs_eu_emit *e;
    struct zs_eu_tier_module *module;
    const struct zs_eu_program *p;
    uint8_t *head;       /* by block: a jump goes back to it */
    uint8_t *join;       /* by block: somebody jumps forward to it */
    uint8_t *in_loop;    /* by block */
    uint32_t *successor; /* two of each block; UINT32_MAX: none */
    uint32_t ops;        /* written */
    struct zs_buf functions;
};

static uint32_t block_ops(const struct zs_eu_program *p, uint32_t block)
{
    uint32_t end = block + 1 < p->block_count ? p->block_op[block + 1] : (uint32_t)p->op_count;

    return end - p->block_op[block];
}

static bool ends_straight(const struct zs_eu_op *op)
{
    return op->kind == ZS_EU_KIND_GOTO || op->kind == ZS_EU_KIND_RET ||
           op->kind == ZS_EU_KIND_END || op->kind == ZS_EU_KIND_CALL ||
           op->kind == ZS_EU_KIND_CALL_REGISTER ||
           (op->kind == ZS_EU_KIND_JUMP_UNIFORM && op->predicate == ZS_EU_OFFSET(all_ones) &&
            !op->pred_xor) ||
           (op->kind == ZS_EU_KIND_SEND && op->arg);
}

/* Where a block's lanes may go on. */
static void find_edges(struct plan *plan)
{
    const struct zs_eu_program *p = plan->p;

    for (uint32_t block = 0; block < p->block_count; block++) {
        uint32_t *to = &plan->successor[2 * block], first = p->block_op[block];
        to[0] = to[1] = UINT32_MAX;
        bool falls = block + 1 < p->block_count;
        for (uint32_t i = first; i < first + block_ops(p, block); i++) {
            const struct zs_eu_op *op = &p->ops[i];
            bool jumps = op->kind == ZS_EU_KIND_BRANCH || op->kind == ZS_EU_KIND_GOTO ||
                         op->kind == ZS_EU_KIND_JUMP_UNIFORM;
            if (jumps)
                to[0] = op->block;
            if (op->kind == ZS_EU_KIND_GOTO)
                to[1] = op->next_block;
            falls = falls && !ends_straight(op);
        }
        if (falls)
            to[1] = block + 1;
        for (unsigned i = 0; i < 2; i++) {
            if (to[i] <= block)
                plan->head[to[i]] = 1;
            else if (to[i] != UINT32_MAX && to[i] != block + 1)
                plan->join[to[i]] = 1;
        }
    }
}

/* Blocks of the loop with this head: those that reach it without passing it, from jumps back. */
static void mark_loop(const struct plan *plan, uint32_t head, uint8_t *in)
{
    const struct zs_eu_program *p = plan->p;
    bool more = true;

    memset(in, 0, p->block_count);
    in[head] = 1;
    for (uint32_t block = head; block < p->block_count; block++)
        in[block] |= plan->successor[2 * block] == head || plan->successor[2 * block + 1] == head;
    while (more) {
        more = false;
        for (uint32_t block = p->block_count; block-- > head + 1;) {
            for (unsigned i = 0; i < 2 && !in[block]; i++) {
                uint32_t to = plan->successor[2 * block + i];
                if (to != UINT32_MAX && to != head && in[to])
                    in[block] = 1, more = true;
            }
        }
    }
}

/* What can be reached from a block, until it is enough; not through heads of loops unless whole. */
static void mark_reached(const struct plan *plan, uint32_t from, uint32_t limit, bool through_loops,
                         uint8_t *in)
{
    const struct zs_eu_program *p = plan->p;
    uint32_t ops = 0;
    bool more = true;

    memset(in, 0, p->block_count);
    in[from] = 1;
    while (more) {
        more = false;
        for (uint32_t block = 0; block < p->block_count; block++) {
            for (unsigned i = 0; i < 2 && in[block]; i++) {
                uint32_t to = plan->successor[2 * block + i];
                if (to == UINT32_MAX || in[to] || ops + block_ops(p, to) > limit ||
                    (!through_loops && (plan->head[to] || to < from)))
                    continue;
                ops += block_ops(p, to);
                in[to] = 1;
                more = true;
            }
        }
    }
}

static void add_entry(struct plan *plan, uint32_t op, uint32_t block, bool full, uint8_t *region,
                      bool has_start)
{
    struct zs_eu_emit *e = plan->e;
    struct zs_eu_tier_module *m = plan->module;
    uint32_t ops = 0;

    for (uint32_t b = 0; b < plan->p->block_count; b++)
        ops += region[b] ? block_ops(plan->p, b) : 0;
    if (m->entry_count == ZS_EU_TIER_ENTRIES_MAX || plan->ops + ops > MODULE_OPS)
        return;
    for (uint32_t i = 0; i < m->entry_count; i++) {
        if (m->entries[i].op == op)
            return;
    }
    (void)has_start;
    plan->ops += ops;
    e->full = full;
    e->entry = op;
    e->entry_block = block;
    e->region = region;
    e->number = m->entry_count;
    zs_eu_emit_function(e, &plan->functions);
    m->entries[m->entry_count++] = (struct zs_eu_tier_entry){.op = op};
}

/* Operations behind which threads come in again. */
static void add_places_in(struct plan *plan, uint32_t block, bool full, uint8_t *region)
{
    const struct zs_eu_program *p = plan->p;
    uint32_t first = p->block_op[block], end = first + block_ops(p, block);
    uint32_t base = full ? (uint32_t)p->op_count : 0;

    for (uint32_t i = first; i < end; i++) {
        uint16_t kind = p->ops[i].kind;
        if ((kind != ZS_EU_KIND_WAIT && kind != ZS_EU_KIND_WAIT_NAMED) || i + 1 >= end)
            continue;
        mark_reached(plan, block, REGION_OPS, true, region);
        /* the block itself only if it is reached again */
        bool again = false;
        for (uint32_t b = 0; b < p->block_count; b++)
            again |= region[b] &&
                     (plan->successor[2 * b] == block || plan->successor[2 * b + 1] == block);
        region[block] = again;
        add_entry(plan, base + i + 1, block, full, region, true);
    }
}

static void add_version(struct plan *plan, bool full, uint8_t *region)
{
    const struct zs_eu_program *p = plan->p;
    uint32_t base = full ? (uint32_t)p->op_count : 0;

    if (full) {
        mark_reached(plan, p->entry_block, REGION_OPS, true, region);
        add_entry(plan, base + p->block_op[p->entry_block], p->entry_block, full, region, false);
    }
    for (uint32_t block = 0; block + 1 < p->block_count; block++) {
        if (!plan->head[block])
            continue;
        mark_loop(plan, block, region);
        add_entry(plan, base + p->block_op[block], block, full, region, false);
    }
    for (uint32_t block = 0; full && block + 1 < p->block_count; block++)
        add_places_in(plan, block, full, region);
}

/* Where lanes join, functions begin, and calls come back. */
static void add_others(struct plan *plan, bool full, uint8_t *region)
{
    const struct zs_eu_program *p = plan->p;
    uint32_t base = full ? (uint32_t)p->op_count : 0;

    for (uint32_t block = 0; block + 1 < p->block_count; block++) {
        if (block_ops(p, block) < 4)
            continue;
        mark_reached(plan, block, SMALL_OPS, false, region);
        add_entry(plan, base + p->block_op[block], block, full, region, false);
    }
}

static void put_rows(const struct zs_eu_emit *e, struct zs_buf *out)
{
    uint8_t uses[256] = {0};

    for (unsigned row = 0; row < ZS_EU_ROW_COUNT; row++) {
        if (!e->rows[row])
            continue;
        zs_buf_puts(out, zs_eu_row_texts[row].function);
        for (unsigned i = 0; zs_eu_row_declares[i].name; i++) {
            const char *name = zs_eu_row_declares[i].name;
            const char *at = strstr(zs_eu_row_texts[row].uses, name);
            if (at)
                uses[i] = 1;
        }
    }
    for (unsigned i = 0; zs_eu_row_declares[i].name; i++) {
        if (uses[i])
            zs_buf_printf(out, "%s\n", zs_eu_row_declares[i].text);
    }
}

static void put_module(struct plan *plan)
{
    struct zs_buf *out = &plan->module->text;

    zs_buf_puts(out, "target triple = \"x86_64-unknown-linux-gnu\"\n\n");
    put_rows(plan->e, out);
    zs_buf_puts(out, "declare i32 @llvm.ctpop.i32(i32)\n\n");
    zs_buf_append(out, plan->functions.data, plan->functions.size_B);
    zs_buf_puts(out, "attributes #0 = { nounwind alwaysinline }\n"
                     "attributes #1 = { nounwind noinline }\n"
                     "attributes #2 = { nounwind \"no-jump-tables\"=\"true\" "
                     "\"frame-pointer\"=\"none\" }\n");
}

int zs_eu_tier_emit(const struct zs_eu_program *program, const struct zs_eu_tier_options *options,
                    struct zs_eu_tier_module *ret)
{
    enum { MODES_OF_LLVM = 0x1f80 }; /* to the nearest, with denormals, nothing traps */
    uint32_t blocks = program->block_count;
    struct plan plan = {.module = ret, .p = program};
    int error = -ENOMEM;

    memset(ret, 0, sizeof(*ret));
    if (program->host_csr[0] != MODES_OF_LLVM || program->host_csr[1] != MODES_OF_LLVM ||
        !program->full_ce)
        return -ENOTSUP;
    plan.e = calloc(1, sizeof(*plan.e));
    uint8_t *bytes = calloc(blocks, 4);
    plan.successor = calloc(blocks, 2 * sizeof(*plan.successor));
    if (!plan.e || !bytes || !plan.successor)
        goto out;
    plan.head = bytes;
    plan.join = bytes + blocks;
    plan.in_loop = bytes + 2 * (size_t)blocks;
    uint8_t *region = bytes + 3 * (size_t)blocks;
    plan.e->p = program;
    plan.e->options = *options;
    plan.e->counts = program->ops[program->block_op[0]].arg;
    find_edges(&plan);
    add_version(&plan, true, region);
    add_version(&plan, false, region);
    add_others(&plan, true, region);
    add_others(&plan, false, region);
    put_module(&plan);
    error = ret->text.error || plan.functions.error || plan.e->body.error ? -ENOMEM
            : ret->entry_count                                            ? 0
                                                                          : -ENOTSUP;
out:
    if (plan.e)
        zs_buf_fini(&plan.e->body);
    zs_buf_fini(&plan.functions);
    free(plan.e);
    free(bytes);
    free(plan.successor);
    return error;
}
