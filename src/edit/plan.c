/* SPDX-License-Identifier: MIT */
/*
 * Registers for probes.
 *
 * Best are registers that the kernel never names: some stay the probes' own from the thread's start
 * to its end, and counters live in them (a dword each, eight to a register), which costs an
 * addition where something is counted and a few messages at the end. Where there are too few of
 * them, each probe adds to memory and needs a window of four registers at its place only: those
 * that liveness knows to hold nothing.
 *
 * Liveness takes a lane's view: a masked write ends what was there before. Where lanes that are off
 * are read all the same (by NoMask instructions, scalar regions, blocks), what they held before
 * counts: think of a sum over the lanes that starts with zeros under NoMask and then gets the
 * active lanes' numbers. Registers that are written under the mask somewhere and read across lanes
 * anywhere are in no window.
 *
 * Both need to know what the kernel touches. That is unknown when operands are addressed through
 * a0, when code that is not there is called, and in functions, whose callers are not known.
 */
#include "edit/edit_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

uint32_t zs_grf_find(const uint64_t bits[4], uint32_t count)
{
    uint32_t run = 0;
    for (uint32_t reg = 0; reg < ZS_GRFS_MAX; reg++) {
        run = zs_grf_has(bits, reg) ? run + 1 : 0;
        if (run == count)
            return reg + 1 - count;
    }
    return ZS_NONE;
}

/* Branches whose targets the code does not tell. */
static bool leaves_the_code(const struct zs_isa_inst *inst)
{
    if (!(zs_isa_op_flags((enum zs_isa_op)inst->op) & ZS_OPF_BRANCH) || inst->op == ZS_OP_RET)
        return false;
    for (uint32_t s = 0; s < inst->source_count; s++)
        if (inst->src[s].kind == ZS_OPERAND_REG || inst->src[s].kind == ZS_OPERAND_INDIRECT)
            return inst->src[s].file != ZS_FILE_NULL;
    return inst->op == ZS_OP_CALLA;
}

/* What is in registers as a thread starts: an indirect operand may read any of it. */
static void add_payload(const struct zs_edit_kernel *k, uint64_t touched[4])
{
    uint32_t grf_B = zs_isa_platform_info(k->edit->platform)->grf_B;
    const struct zs_thread_payload *t = &k->info->thread;
    uint64_t grfs = 1 + ((uint64_t)t->per_thread_B + grf_B - 1) / grf_B +
                    ((uint64_t)t->cross_thread_B + grf_B - 1) / grf_B;
    for (uint32_t reg = 0; reg < grfs && reg < ZS_GRFS_MAX; reg++)
        zs_grf_set(touched, reg);
}

/* Registers that an instruction reads without regard to which lanes are on. */
static void add_read_across(const struct zs_edit_kernel *k, uint32_t i,
                            const struct zs_isa_effects *e, uint64_t across[4])
{
    const struct zs_isa_inst *inst = zs_isa_inst(k->code, i);
    const struct zs_isa_message *m = zs_isa_inst_message(k->code, i);
    bool all = inst->flags & ZS_INST_NOMASK ||
               (m && (m->kind == ZS_MSG_UNKNOWN || m->flags & (ZS_MSGF_BLOCK | ZS_MSGF_HEADER)));
    for (uint32_t w = 0; w < 4 && all; w++)
        across[w] |= e->grf_read[w];
    for (uint32_t s = 0; s < inst->source_count && !all; s++) {
        const struct zs_isa_operand *o = &inst->src[s];
        if (o->kind == ZS_OPERAND_REG && o->file == ZS_FILE_GRF && !o->vstride &&
            o->reg < ZS_GRFS_MAX)
            zs_grf_set(across, o->reg);
    }
}

/* Messages whose lengths come from registers: as long as they can be. */
static bool add_unknown_lengths(const struct zs_isa_inst *inst, uint64_t touched[4])
{
    enum { RESPONSE_MAX = 31, PAYLOAD_MAX = 15 };
    bool unknown = inst->flags & (ZS_INST_DESC_REG | ZS_INST_EXDESC_REG);
    const struct zs_isa_operand *operands[] = {&inst->dst, &inst->src[0], &inst->src[1]};
    for (uint32_t n = 0; unknown && n < ZS_ARRAY_LEN(operands); n++) {
        const struct zs_isa_operand *o = operands[n];
        uint32_t length = n == 0 ? RESPONSE_MAX : PAYLOAD_MAX;
        for (uint32_t i = 0; o->kind == ZS_OPERAND_REG && o->file == ZS_FILE_GRF && i < length; i++)
            if (o->reg + i < ZS_GRFS_MAX)
                zs_grf_set(touched, o->reg + i);
    }
    return unknown;
}

/* What both are in. */
static void add_common(uint64_t to[4], const uint64_t a[4], const uint64_t b[4])
{
    for (uint32_t w = 0; w < 4; w++)
        to[w] |= a[w] & b[w];
}

/* An indirect operand that is read names what was written by somebody, or came with the thread; one
 * that is written may be any register. */
static bool touches_are_known(struct zs_edit_kernel *k, uint64_t ret_touched[4])
{
    uint64_t masked[4] = {0}, across[4] = {0};
    struct zs_isa_effects e;
    bool known = !k->info->is_function_holder;
    k->dead_known = zs_isa_live_exact(k->code);
    for (uint32_t i = 0; known && i < zs_isa_kernel_count(k->code); i++) {
        zs_isa_inst_effects(k->code, i, &e);
        known = !leaves_the_code(zs_isa_inst(k->code, i)) && !e.indirect_written;
        bool is_masked = !(zs_isa_inst(k->code, i)->flags & ZS_INST_NOMASK);
        for (uint32_t w = 0; w < 4; w++) {
            ret_touched[w] |= e.grf_read[w] | e.grf_written[w];
            masked[w] |= is_masked ? e.grf_written[w] : 0;
        }
        add_read_across(k, i, &e, across);
        if (add_unknown_lengths(zs_isa_inst(k->code, i), ret_touched))
            k->dead_known = false;
    }
    add_common(k->shared_grf, masked, across);
    if (!zs_isa_live_exact(k->code))
        add_payload(k, ret_touched);
    return known;
}

bool zs_edit_free_grf(struct zs_edit_kernel *kernel, uint64_t ret_bits[4])
{
    memset(ret_bits, 0, 4 * sizeof(*ret_bits));
    if (!zs_edit_kernel_code(kernel))
        return false;
    if (!kernel->free_computed) {
        uint64_t touched[4] = {0};
        kernel->free_computed = true;
        kernel->free_known = touches_are_known(kernel, touched);
        uint32_t count = zs_isa_platform_info(kernel->edit->platform)->grf_count;
        for (uint32_t reg = 1; kernel->free_known && reg < count; reg++)
            if (!zs_grf_has(touched, reg))
                zs_grf_set(kernel->free_grf, reg);
    }
    memcpy(ret_bits, kernel->free_grf, sizeof(kernel->free_grf));
    return kernel->free_known;
}

void zs_plan_fini(struct zs_plan *plan)
{
    free(plan->groups);
    free(plan->group_grf);
}

static int compare_u32(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Which groups of counters the probes use, and how many clocks. */
static int collect(const struct zs_edit_kernel *k, struct zs_plan *plan, uint32_t *ret_clocks)
{
    uint32_t count = 0;
    *ret_clocks = 0;
    plan->groups = calloc(k->probe_count + 1, sizeof(*plan->groups));
    plan->group_grf = calloc(k->probe_count + 1, sizeof(*plan->group_grf));
    if (!plan->groups || !plan->group_grf)
        return -ENOMEM;
    for (size_t i = 0; i < k->probe_count; i++) {
        const struct zs_probe *p = &k->probes[i].probe;
        if (p->kind == ZS_PROBE_CLOCK || p->kind == ZS_PROBE_ELAPSED)
            *ret_clocks = ZS_MAX(*ret_clocks, p->clock + 1);
        if (p->kind != ZS_PROBE_CLOCK && p->kind != ZS_PROBE_TRACE)
            plan->groups[count++] = p->counter / ZS_GROUP_COUNTERS;
    }
    qsort(plan->groups, count, sizeof(*plan->groups), compare_u32);
    for (uint32_t i = 0; i < count; i++)
        if (i == 0 || plan->groups[i] != plan->groups[plan->group_count - 1])
            plan->groups[plan->group_count++] = plan->groups[i];
    return 0;
}

static uint32_t take(uint64_t bits[4], uint32_t count)
{
    uint32_t first = zs_grf_find(bits, count);
    for (uint32_t i = 0; first != ZS_NONE && i < count; i++)
        zs_grf_clear(bits, first + i);
    return first;
}

static uint32_t population(const uint64_t bits[4])
{
    uint32_t count = 0;
    for (uint32_t w = 0; w < 4; w++)
        count += (uint32_t)__builtin_popcountll(bits[w]);
    return count;
}

int zs_plan_make(struct zs_edit_kernel *k, struct zs_plan *plan)
{
    uint32_t clocks;
    uint64_t left[4];
    *plan = (struct zs_plan){.window = ZS_NONE, .mask = ZS_NONE, .clocks = ZS_NONE};
    int error = collect(k, plan, &clocks);
    if (error || !k->probe_count)
        return error;
    bool known = zs_edit_free_grf(k, left);
    uint32_t dwords = zs_isa_platform_info(k->edit->platform)->grf_B / 4;
    uint32_t clock_grfs = (clocks + dwords - 1) / dwords;
    plan->window = take(left, ZS_WINDOW_GRFS);
    if (plan->window != ZS_NONE && clock_grfs)
        plan->clocks = take(left, clock_grfs);
    if (clock_grfs && plan->clocks == ZS_NONE)
        return zs_edit_refuse(k, known ? "no registers are free for its clocks"
                                       : "which registers are free for clocks is not known");
    if (plan->window != ZS_NONE && population(left) > plan->group_count) {
        plan->in_registers = true;
        plan->mask = take(left, 1);
        for (uint32_t i = 0; i < plan->group_count; i++)
            plan->group_grf[i] = (uint8_t)take(left, 1);
    }
    return 0;
}

uint32_t zs_plan_window(struct zs_edit_kernel *k, const struct zs_plan *plan,
                        const struct zs_insertion *insertion)
{
    uint64_t live[4], dead[4] = {0};
    if (plan->window != ZS_NONE)
        return plan->window;
    if (!k->free_known || !k->dead_known)
        return ZS_NONE;
    uint32_t at = insertion->inst + (insertion->where == ZS_EDIT_AFTER ? 1 : 0);
    const struct zs_probe *p = &k->probes[insertion->index].probe;
    zs_isa_live_set(k->code, at, live);
    for (uint32_t reg = 1; reg < zs_isa_platform_info(k->edit->platform)->grf_count; reg++) {
        bool copied = p->kind == ZS_PROBE_TRACE && reg >= p->grf && reg < p->grf + p->grf_count;
        if (!zs_grf_has(live, reg) && !zs_grf_has(k->shared_grf, reg) && !copied)
            zs_grf_set(dead, reg);
    }
    return zs_grf_find(dead, ZS_WINDOW_GRFS);
}
