/* SPDX-License-Identifier: MIT */
/*
 * What a kernel's atomics may order: who is atomic on a place, and passes a fence then, is behind
 * those who were atomic on it before. Of atomics with no fence behind them nobody need keep a log.
 * What is local the group's barrier orders: atomics before it, and a fence that belongs to it, add
 * nothing. Up to Gen12 local memory needs no fence.
 */
#include "gpu/check.h"

#include <errno.h>
#include <stdlib.h>

/* What a thread may have done on its way. */
enum {
    SHARED = 1 << 0, /* was atomic on memory of all groups ... */
    BEHIND = 1 << 1, /* ... and passed a fence */
    LOCAL = 1 << 2,  /* the same of the group's */
    BEHIND_IT = 1 << 3,
    FENCED = 1 << 4,  /* nothing since the last fence */
    SIGNALS = 1 << 5, /* it has signalled the barrier, and does not wait yet */
    GROUPS = 1 << 6,  /* found: something behind BEHIND */
    THREADS = 1 << 7,
};

/* For the group's barrier: all of the group is before what follows. */
static bool waits(const struct zs_isa_inst *inst)
{
    enum { BAR = 14 };
    const struct zs_isa_operand *which = &inst->src[0];
    bool is_named = which->kind == ZS_OPERAND_IMM && which->imm;
    return inst->op == ZS_OP_WAIT ||
           (inst->op == ZS_OP_SYNC && inst->subfunction == BAR && !is_named);
}

static uint32_t pass(const struct zs_gpu_kernel *kernel, uint32_t inst, uint32_t state)
{
    const struct zs_gpu_instruction *in = &kernel->instructions[inst];
    struct zs_eu_inst_info info = {.mnemonic = ""};
    (void)zs_eu_program_inst(kernel->program, inst, &info);
    bool is_unknown = in->space == ZS_PORT_SPACE_NONE && !in->is_fence;
    bool is_shared = in->space == ZS_PORT_SPACE_GLOBAL || in->space == ZS_PORT_SPACE_TYPED;
    if (!info.is_send || info.send.eot)
        return state;
    if (in->is_fence || in->is_barrier) {
        state |= state & SHARED ? BEHIND : 0;
        return in->is_fence ? state | FENCED : (state & ~(uint32_t)FENCED) | SIGNALS;
    }
    bool is_fenced =
        state & (FENCED | SIGNALS) ||
        (!kernel->has_local_fences && in->space == ZS_PORT_SPACE_SLM && !in->is_atomic);
    if (state & LOCAL && is_fenced)
        state |= BEHIND_IT;
    state &= ~(uint32_t)FENCED;
    if (state & BEHIND && (is_shared || is_unknown))
        state |= GROUPS;
    if (state & (BEHIND | BEHIND_IT))
        state |= THREADS;
    if (is_unknown)
        return state | SHARED | LOCAL;
    return in->is_atomic ? state | (is_shared ? SHARED : LOCAL) : state;
}

/* States at the ends of blocks go on to those behind, until nothing changes. */
static uint32_t pass_all(const struct zs_gpu_kernel *kernel, const struct zs_isa_kernel *k,
                         uint32_t *begins)
{
    uint32_t blocks = zs_isa_block_count(k), all = 0;
    for (bool changes = true; changes;) {
        changes = false;
        for (uint32_t b = 0; b < blocks; b++) {
            const struct zs_isa_block *block = zs_isa_block(k, b);
            uint32_t state = begins[b];
            for (uint32_t i = 0; i < block->count; i++) {
                uint32_t at_B = kernel->start_B + zs_isa_inst_offset(k, block->first + i);
                uint32_t inst = zs_eu_program_inst_at(kernel->program, at_B);
                state = inst < kernel->instruction_count ? pass(kernel, inst, state) : state;
                if (waits(zs_isa_inst(k, block->first + i)))
                    state &= ~(uint32_t)(SIGNALS | FENCED | LOCAL | BEHIND_IT);
            }
            all |= state;
            for (uint32_t e = 0; e < block->edge_count; e++) {
                uint32_t to = zs_isa_edge(k, block->edge_first + e)->to;
                changes |= (begins[to] | state) != begins[to];
                begins[to] |= state;
            }
        }
    }
    return all;
}

/* What is called may be elsewhere. */
static bool has_calls(const struct zs_gpu_kernel *kernel)
{
    bool has = false;
    for (uint32_t i = 0; i < kernel->instruction_count; i++) {
        struct zs_eu_inst_info info = {.mnemonic = ""};
        (void)zs_eu_program_inst(kernel->program, i, &info);
        has |= !strncmp(info.mnemonic, "call", 4);
    }
    return has;
}

int zs_gpu_find_orders(struct zs_gpu_kernel *kernel)
{
    const struct zs_kernel *m = kernel->module;
    const struct zs_isa_options options = {.size_B = sizeof(options), .grf_count = m->grf_count};
    struct zs_span code = m->code;
    struct zs_isa_kernel *k = NULL;
    struct zs_diag diag;
    kernel->has_local_fences = zs_isa_generation(kernel->device->model->platform)->has_lsc;
    for (uint32_t i = 0; i < kernel->instruction_count; i++)
        kernel->has_atomics |= kernel->instructions[i].is_atomic;
    if (!kernel->is_hooked || !kernel->has_atomics)
        return 0;
    uint32_t skip_B = kernel->start_B - kernel->entry_B, all = GROUPS | THREADS;
    if (!has_calls(kernel) && zs_span_sub(code, skip_B, code.size_B - skip_B, &code) &&
        !zs_isa_kernel_open(kernel->device->model->platform, code, &options, &k, NULL)) {
        int error = zs_isa_kernel_decode(k, ZS_ISA_INSTS | ZS_ISA_BLOCKS, &diag);
        uint32_t *begins = calloc(zs_isa_block_count(k) + 1u, sizeof(*begins));
        all = !error && begins ? pass_all(kernel, k, begins) : all;
        error = error == -ENOMEM || !begins ? -ENOMEM : 0;
        free(begins);
        zs_isa_kernel_close(k);
        if (error)
            return error;
    }
    kernel->orders_groups = all & GROUPS;
    kernel->orders_threads = all & THREADS;
    return 0;
}
