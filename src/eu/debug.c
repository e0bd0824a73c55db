/* SPDX-License-Identifier: MIT */
/*
 * What a debugger does to a thread that stands still: see where its lanes are, send them elsewhere,
 * go on with another lowering of the code.
 *
 * A thread stands at a block start (its budget was used up), at the step operation of an
 * instruction (a step hook stopped it), or at the operation of a `wait`. Programs of one code
 * differ in their operations only: instructions and blocks are found again by the offsets in the
 * code. The operations for any mask are right under every mask, so a thread may enter them in front
 * of each instruction. Programs are lowered with ZS_EU_LOWER_PLACES: each instruction has one, and
 * none that does nothing is passed over uncounted.
 */
#include "eu/eu_priv.h"

#include <errno.h>
#include <string.h>

static const struct zs_eu_op *block_op(const struct zs_eu_program *p, uint32_t block)
{
    return &p->ops[p->block_op[block]];
}

/* The first operation of an instruction, its step operation if it has one. */
static const struct zs_eu_op *inst_op(const struct zs_eu_program *p, uint32_t inst)
{
    if (inst >= p->inst_count) /* behind the last: a block of its own */
        return block_op(p, p->block_count - 1);
    const struct zs_eu_op *op = block_op(p, p->insts[inst].block) + 1;
    while (op->inst < inst)
        op++;
    return op;
}

static uint32_t block_offset_B(const struct zs_eu_program *p, uint32_t block)
{
    uint32_t inst = p->block_inst[block];
    return inst < p->inst_count ? p->insts[inst].offset_B : p->code_B;
}

uint32_t zs_eu_thread_place(const struct zs_eu_thread *t)
{
    if (t->fault.kind != ZS_EU_FAULT_NONE)
        return t->fault.inst;
    return t->resume ? t->resume->inst : t->program->block_inst[t->program->entry_block];
}

/* A block counts as executed from its start on. */
uint64_t zs_eu_thread_steps(const struct zs_eu_thread *t)
{
    const struct zs_eu_program *p = t->program;
    const struct zs_eu_op *op = t->resume;
    bool faulted = t->fault.kind != ZS_EU_FAULT_NONE;
    uint32_t inst = zs_eu_thread_place(t);
    if ((!faulted && (!op || op->kind == ZS_EU_KIND_BLOCK)) || inst >= p->inst_count ||
        t->status == ZS_EU_EOT)
        return t->executed;
    uint32_t block = p->insts[inst].block;
    uint32_t count = block_op(p, block)->aux, first = p->block_inst[block];
    return t->executed - count + (inst - first);
}

uint32_t zs_eu_thread_lane_offset_B(const struct zs_eu_thread *t, uint32_t lane)
{
    const struct zs_eu_program *p = t->program;
    uint32_t inst = p->block_inst[t->key[lane] & ZS_EU_BLOCK_MASK];
    return inst < p->inst_count ? p->insts[inst].offset_B : UINT32_MAX;
}

uint32_t zs_eu_program_block_starts(const struct zs_eu_program *program, uint32_t *ret_offsets_B,
                                    uint32_t capacity)
{
    for (uint32_t i = 0; i < program->block_count && i < capacity; i++)
        ret_offsets_B[i] = block_offset_B(program, i);
    return program->block_count;
}

double zs_eu_thread_mme(const struct zs_eu_thread *t, uint32_t mme, uint32_t channel)
{
    __float128 value;
    memcpy(&value, t->mme[mme][channel], sizeof(value));
    return (double)value;
}

/* Where the thread goes on in another program; NULL: nowhere. */
static const struct zs_eu_op *translate(const struct zs_eu_thread *t,
                                        const struct zs_eu_program *to, bool *ret_pass)
{
    const struct zs_eu_program *from = t->program;
    const struct zs_eu_op *op = t->resume;
    *ret_pass = false;
    if (op->kind == ZS_EU_KIND_BLOCK) {
        uint32_t block = zs_eu_block_at(to, block_offset_B(from, op->block));
        if (block == UINT32_MAX)
            return NULL;
        op = block_op(to, block);
        *ret_pass = t->stopped && op[1].kind == ZS_EU_KIND_STEP;
        return op;
    }
    uint32_t inst = op->inst < from->inst_count
                        ? zs_eu_program_inst_at(to, from->insts[op->inst].offset_B)
                        : UINT32_MAX;
    if (inst == UINT32_MAX)
        return NULL;
    *ret_pass = op->kind != ZS_EU_KIND_STEP || t->stopped;
    op = inst_op(to, inst);
    *ret_pass = *ret_pass && op->kind == ZS_EU_KIND_STEP;
    return op;
}

static bool translate_keys(const struct zs_eu_thread *t, const struct zs_eu_program *to,
                           uint32_t *ret_keys)
{
    for (uint32_t m = t->waiting; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m), key = t->key[lane];
        uint32_t block = zs_eu_block_at(to, block_offset_B(t->program, key & ZS_EU_BLOCK_MASK));
        if (block == UINT32_MAX)
            return false;
        ret_keys[lane] = (key & ~ZS_EU_BLOCK_MASK) | block;
    }
    return true;
}

int zs_eu_thread_switch(struct zs_eu_thread *t, const struct zs_eu_program *to)
{
    uint32_t keys[ZS_EU_LANES_MAX];
    const struct zs_eu_op *resume = NULL;
    uint32_t merge_block = t->merge_block;
    bool pass = false;
    if (to == t->program)
        return 0;
    if (t->resume) {
        resume = translate(t, to, &pass);
        if (!resume || !translate_keys(t, to, keys))
            return -EINVAL;
        if (merge_block != UINT32_MAX)
            merge_block = zs_eu_block_at(to, block_offset_B(t->program, merge_block));
    }
    for (uint32_t m = t->waiting; m; m &= m - 1)
        t->key[__builtin_ctz(m)] = keys[__builtin_ctz(m)];
    t->merge_block = merge_block;
    t->resume = resume;
    t->stopped = resume ? pass : t->stopped;
    t->program = to;
    t->send_cached = 0;
    memcpy(t->constant, to->constant, to->constant_B);
    /* it may have begun with the modes of a write to cr0 that is no longer there */
    zs_eu_control_register_changed(t);
    return 0;
}

int zs_eu_thread_jump(struct zs_eu_thread *t, uint32_t inst)
{
    const struct zs_eu_program *p = t->program;
    if (inst >= p->inst_count)
        return -EINVAL;
    uint32_t block = p->insts[inst].block;
    bool is_start = p->block_inst[block] == inst;
    if (t->merge_block != UINT32_MAX &&
        (block > t->merge_block || (block == t->merge_block && !is_start)))
        return -EINVAL;
    t->resume = is_start ? block_op(p, block) : inst_op(p, inst);
    t->stopped = false;
    return 0;
}

void zs_eu_thread_pass(struct zs_eu_thread *t)
{
    const struct zs_eu_op *op =
        t->resume ? t->resume : block_op(t->program, t->program->entry_block);
    if (op->kind == ZS_EU_KIND_BLOCK)
        op++;
    t->stopped = op->kind == ZS_EU_KIND_STEP;
}

void zs_eu_thread_retry(struct zs_eu_thread *t)
{
    t->resume = inst_op(t->program, t->fault.inst);
    t->fault.kind = ZS_EU_FAULT_NONE;
    t->fault.text[0] = '\0';
    t->stopped = false;
    zs_eu_thread_pass(t);
}
