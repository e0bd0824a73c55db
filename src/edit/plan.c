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
 * Where there is no window, four registers that hold something are saved to scratch memory and
 * brought back. That needs only to know that nobody touches what the messages' header is kept in,
 * callers' text included.
 * Clocks are there, too, if there are no registers for them from start to end.
 *
 * The first two need to know what the kernel touches. That is unknown when it writes registers that
 * a0 chooses; where it only reads such, liveness is unknown. Code that calls what is not there, and
 * functions, whose callers are not known, have windows among the registers that IGC's calling
 * convention (StackCallABI of its visa/G4_Kernel.hpp) lets them: r26 to r57 are for arguments and
 * results, those up to r59 are the callee's to write, the last ones are the stack's, others the
 * callee brings back.
 * Kernels that call by address save at the end of their own scratch memory, which what they call
 * does not reach. Functions do not know how much scratch memory their callers have.
 */
#include "edit/edit_priv.h"

#include "isa/register_use.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { A0_WORDS = 0xfc00 /* of a0, for headers of scratch messages */ };

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

/* Registers that come with a thread. */
static uint32_t payload_grfs(const struct zs_edit_kernel *k)
{
    uint32_t grf_B = zs_isa_platform_info(k->edit->platform)->grf_B;
    const struct zs_thread_payload *t = &k->info->thread;
    uint64_t grfs = 1 + ((uint64_t)t->per_thread_B + grf_B - 1) / grf_B +
                    ((uint64_t)t->cross_thread_B + grf_B - 1) / grf_B;
    return (uint32_t)ZS_MIN(grfs, (uint64_t)ZS_GRFS_MAX);
}

/* Two that nobody uses; what is implicit in instructions is acc0 and acc1. From XeHP on others hold
 * integers as well. */
static uint32_t unused_acc(enum zs_isa_platform platform, uint32_t touched)
{
    uint32_t end = platform >= ZS_ISA_XE_HP ? 4 : 2;
    for (uint32_t acc = 0; acc < end; acc += 2)
        if (touched < 1u << acc)
            return acc;
    return ZS_NONE;
}

bool zs_edit_free_grf(struct zs_edit_kernel *kernel, uint64_t ret_bits[4])
{
    memset(ret_bits, 0, 4 * sizeof(*ret_bits));
    if (!zs_edit_kernel_code(kernel))
        return false;
    if (!kernel->free_computed) {
        struct zs_isa_register_use touched;
        zs_isa_kernel_register_use(kernel->code, payload_grfs(kernel), &touched);
        kernel->free_computed = true;
        kernel->free_known = touched.known && !kernel->info->is_function_holder;
        kernel->dead_known = touched.live_known;
        kernel->writes_known = touched.writes_known;
        kernel->is_closed = touched.closed && !kernel->info->is_function_holder;
        kernel->unknown_why = touched.unknown_why;
        kernel->unknown_at_B = touched.unknown_at_B;
        kernel->code_acc = touched.acc;
        kernel->code_address = touched.address;
        /* what is edited has at most 256 */
        memcpy(kernel->shared_grf, touched.shared_grf, sizeof(kernel->shared_grf));
        memcpy(kernel->named_grf, touched.grf, sizeof(kernel->named_grf));
        uint32_t count = zs_edit_grf_count(kernel);
        for (uint32_t reg = 1; kernel->free_known && reg < count; reg++)
            if (!zs_grf_has(touched.grf, reg))
                zs_grf_set(kernel->free_grf, reg);
    }
    for (uint32_t w = 0; w < 4; w++)
        ret_bits[w] = kernel->free_grf[w] & ~kernel->reserved_grf[w];
    return kernel->free_known;
}

void zs_edit_reserve_grf(struct zs_edit_kernel *kernel, const uint64_t bits[4])
{
    for (uint32_t w = 0; w < 4; w++)
        kernel->reserved_grf[w] |= bits[w];
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

/*
 * r0 keeps what it had as the thread began: neither this code nor the functions of the module write
 * it, nor what is inserted there, as is the compiler's convention where functions are called that
 * are not there.
 */
static bool keeps_header(struct zs_edit_kernel *k)
{
    for (uint32_t n = 0; n < k->edit->kernel_count; n++) {
        struct zs_edit_kernel *other = &k->edit->kernels[n];
        if (other != k && !other->info->is_function_holder)
            continue;
        if (other->text_writes_header)
            return false;
        const struct zs_isa_kernel *code = zs_edit_kernel_code(other);
        for (uint32_t i = 0; !code || i < zs_isa_kernel_count(code); i++) {
            struct zs_isa_effects e = {.indirect_written = true};
            if (code)
                zs_isa_inst_effects(code, i, &e);
            if (e.indirect_written ||
                (zs_grf_has(e.grf_written, 0) && !zs_header_is_kept(zs_isa_inst(code, i))))
                return false;
        }
    }
    return true;
}

/* How windows can be saved where there are none that hold nothing. */
static void plan_scratch(struct zs_edit_kernel *k, uint64_t left[4], struct zs_plan *plan)
{
    uint64_t window_B = (ZS_WINDOW_GRFS + (uint64_t)plan->clock_slots) *
                        zs_isa_platform_info(k->edit->platform)->grf_B;
    const struct zs_kernel *info = k->info;
    uint64_t offset_B = ((uint64_t)info->scratch_B[0] + ZS_UNIT_B - 1) / ZS_UNIT_B * ZS_UNIT_B;
    uint32_t max_B = k->edit->platform >= ZS_ISA_XE_HP ? ZS_SCRATCH_MAX_XE_B : ZS_SCRATCH_MAX_B;
    plan->is_far =
        offset_B + window_B > ZS_SCRATCH_END_B || !zs_emit_reaches_near(k->edit->platform);
    if (info->is_function_holder || info->scratch_B[1] || offset_B + window_B > max_B ||
        (plan->is_far && !zs_emit_reaches_far(k->edit->platform)))
        return;
    plan->scratch_offset_B = (uint32_t)offset_B;
    plan->scratch_size_B = ZS_SCRATCH_MIN_B;
    while (plan->scratch_size_B < offset_B + window_B)
        plan->scratch_size_B *= 2;
    plan->header = k->is_closed ? take(left, 1) : ZS_NONE;
    k->acc = unused_acc(k->edit->platform, k->code_acc | k->text_acc);
    bool has_a0 = !((k->code_address | k->text_address) & A0_WORDS);
    plan->scratch = plan->header != ZS_NONE                        ? ZS_SCRATCH_BY_GRF
                    : k->is_closed && k->acc != ZS_NONE            ? ZS_SCRATCH_BY_ACC
                    : (has_a0 || !plan->is_far) && keeps_header(k) ? ZS_SCRATCH_BY_CODE
                    : k->is_closed && has_a0                       ? ZS_SCRATCH_BY_A0
                                                                   : ZS_SCRATCH_NONE;
    if (plan->scratch == ZS_SCRATCH_BY_CODE)
        plan->header = 0;
    if (plan->scratch == ZS_SCRATCH_NONE && !plan->is_far &&
        zs_header_find(k, &plan->header, &plan->header_at))
        plan->scratch = ZS_SCRATCH_BY_CODE;
}

static bool needs_registers(const struct zs_edit_kernel *k)
{
    bool found = k->probe_count > 0;
    for (size_t i = 0; i < k->insertion_count && !found; i++)
        found = zs_jump_asks_lanes(k, &k->insertions[i]);
    return found;
}

int zs_plan_make(struct zs_edit_kernel *k, struct zs_plan *plan)
{
    uint32_t clocks;
    uint64_t left[4];
    *plan = (struct zs_plan){.window = ZS_NONE,
                             .mask = ZS_NONE,
                             .clocks = ZS_NONE,
                             .header = ZS_NONE,
                             .header_at = ZS_NONE};
    int error = collect(k, plan, &clocks);
    if (error || !needs_registers(k))
        return error;
    bool known = zs_edit_free_grf(k, left);
    for (uint32_t w = 0; w < 4; w++)
        left[w] &= ~k->guarded_grf[w];
    uint32_t clock_grfs = (clocks + ZS_GRF_CLOCKS - 1) / ZS_GRF_CLOCKS;
    plan->window = take(left, ZS_WINDOW_GRFS);
    if (plan->window != ZS_NONE && clock_grfs)
        plan->clocks = take(left, clock_grfs);
    if (clock_grfs && plan->clocks == ZS_NONE) { /* then in memory, as all else */
        for (uint32_t i = 0; plan->window != ZS_NONE && i < ZS_WINDOW_GRFS; i++)
            zs_grf_set(left, plan->window + i);
        plan->window = ZS_NONE;
        plan->clock_slots = clocks;
    }
    if (plan->window != ZS_NONE && population(left) > plan->group_count) {
        plan->in_registers = true;
        plan->mask = take(left, 1);
        for (uint32_t i = 0; i < plan->group_count; i++)
            plan->group_grf[i] = (uint8_t)take(left, 1);
    }
    if (plan->window == ZS_NONE)
        plan_scratch(k, left, plan);
    if (plan->clock_slots && plan->scratch == ZS_SCRATCH_NONE)
        return zs_edit_refuse(k, "%s, and they cannot be kept in scratch memory",
                              known ? "no registers are free for its clocks"
                                    : "which registers are free for clocks is not known");
    return 0;
}

/* Whether code that calls, or is called from, elsewhere may write a register that it does not use.
 */
static bool convention_allows(const struct zs_edit_kernel *k, uint32_t reg)
{
    enum { ARGS_FIRST = 26, ARGS_END = 58, CALLEES_END = 60, STACK_FIRST = 120 };
    if (reg >= ARGS_FIRST && reg < ARGS_END)
        return false;
    return reg < (k->info->is_function_holder ? CALLEES_END : STACK_FIRST);
}

/* What is live before an instruction. Probes mostly come in order: a block's sets are kept. */
static bool find_live(struct zs_edit_kernel *k, uint32_t at, uint64_t ret_live[4])
{
    uint32_t b = zs_isa_inst_block(k->code, at);
    if (!k->live_grf)
        k->live_block = ZS_NONE;
    if (!k->live_grf)
        k->live_grf = calloc(zs_isa_kernel_count(k->code), sizeof(*k->live_grf));
    if (!k->live_grf)
        return false;
    if (k->live_block != b)
        zs_isa_live_sets(k->code, b, k->live_grf);
    k->live_block = b;
    memcpy(ret_live, k->live_grf[at - zs_isa_block(k->code, b)->first], 4 * sizeof(*ret_live));
    return true;
}

/* What threads start with that begin elsewhere, too. */
static bool add_live(struct zs_edit_kernel *k, uint32_t at, uint64_t live[4])
{
    uint64_t more[4];
    if (at == ZS_NONE || !find_live(k, at, more))
        return false;
    for (uint32_t w = 0; w < 4; w++)
        live[w] |= more[w];
    return true;
}

/* Registers that hold nothing where an insertion stands: liveness says so, or nobody names them. */
static bool find_dead(struct zs_edit_kernel *k, const struct zs_insertion *insertion,
                      uint64_t ret_dead[4])
{
    uint64_t used[4] = {0};
    if (!k->dead_known && !k->writes_known)
        return false;
    uint32_t at = insertion->inst + (insertion->where == ZS_EDIT_AFTER ? 1 : 0);
    bool is_end = at >= zs_isa_kernel_count(k->code); /* nothing is live there */
    if (k->dead_known && !is_end && !find_live(k, at, used))
        return false;
    uint32_t second_B =
        insertion->where == ZS_EDIT_ENTRY ? k->info->thread.skip_per_thread_load_B : 0;
    if (k->dead_known && second_B && !add_live(k, zs_isa_inst_find(k->code, second_B), used))
        return false;
    for (uint32_t w = 0; w < 4; w++)
        used[w] = k->dead_known ? used[w] | k->shared_grf[w] : k->named_grf[w];
    for (uint32_t reg = 1; reg < zs_edit_grf_count(k); reg++)
        if (!zs_grf_has(used, reg) && (k->free_known || convention_allows(k, reg)))
            zs_grf_set(ret_dead, reg);
    return true;
}

static bool dead_window(struct zs_edit_kernel *k, const struct zs_insertion *insertion,
                        const uint64_t copied[4], struct zs_window *ret)
{
    uint64_t dead[4] = {0};
    if (!find_dead(k, insertion, dead))
        return false;
    for (uint32_t w = 0; w < 4; w++)
        dead[w] &= ~(copied[w] | k->reserved_grf[w]);
    ret->first = zs_grf_find(dead, ZS_WINDOW_GRFS);
    return ret->first != ZS_NONE;
}

/* The register that has the header where an insertion stands. */
static uint32_t header_there(const struct zs_plan *plan, const struct zs_insertion *insertion)
{
    uint32_t at = insertion->inst + (insertion->where == ZS_EDIT_AFTER ? 1 : 0);
    bool is_before = insertion->where == ZS_EDIT_ENTRY || at <= plan->header_at;
    return plan->header_at != ZS_NONE && is_before ? 0 : plan->header;
}

/* Any registers that the probe does not copy; one more for the header if it is kept elsewhere. */
static bool saved_window(const struct zs_edit_kernel *k, const struct zs_plan *plan,
                         const struct zs_insertion *insertion, const uint64_t copied[4],
                         struct zs_window *ret)
{
    uint64_t usable[4] = {0};
    bool is_moved = plan->scratch == ZS_SCRATCH_BY_ACC || plan->scratch == ZS_SCRATCH_BY_A0;
    if (plan->scratch == ZS_SCRATCH_NONE)
        return false;
    for (uint32_t reg = 1; reg < zs_edit_grf_count(k); reg++)
        if (reg != plan->header && !zs_grf_has(copied, reg))
            zs_grf_set(usable, reg);
    ret->first = zs_grf_find(usable, ZS_WINDOW_GRFS + (is_moved ? 1 : 0));
    ret->header = is_moved ? ret->first + ZS_WINDOW_GRFS : header_there(plan, insertion);
    ret->is_saved = ret->first != ZS_NONE;
    return ret->is_saved;
}

bool zs_plan_window(struct zs_edit_kernel *k, const struct zs_plan *plan,
                    const struct zs_insertion *insertion, struct zs_window *ret)
{
    const struct zs_probe *p = insertion->is_probe ? &k->probes[insertion->index].probe : NULL;
    uint64_t copied[4] = {0};
    *ret = (struct zs_window){.first = plan->window, .header = ZS_NONE};
    if (plan->window != ZS_NONE)
        return true;
    ret->is_lent = true;
    for (uint32_t i = 0; p && p->kind == ZS_PROBE_TRACE && i < p->grf_count; i++)
        zs_grf_set(copied, p->grf + i);
    for (uint32_t i = 0; i < 4 && !p; i++)
        copied[i] |= k->guarded_grf[i];
    if (plan->header != ZS_NONE)
        zs_grf_set(copied, plan->header);
    /* who has clocks in scratch memory needs the header that comes with saving */
    bool is_clock = p && (p->kind == ZS_PROBE_CLOCK || p->kind == ZS_PROBE_ELAPSED);
    return (!is_clock && dead_window(k, insertion, copied, ret)) ||
           saved_window(k, plan, insertion, copied, ret);
}
