/* SPDX-License-Identifier: MIT */
/*
 * Probes to machine code: rows of emit.def are filled with numbers and assembled, all of a kernel
 * at once. Every line is an instruction of 16 bytes, so lines tell where each piece ends.
 *
 * The shape of a probe does not depend on the instruction set; what it is made of does.
 */
#include "edit/edit_priv.h"
#include "edit/record.h"
#include "isa/isa.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum emit_op {
#define ZS_EMIT(name, text)                          EMIT_##name,
#define ZS_EMIT_BY(name, gen9, gen12, xe_hpg)        EMIT_##name,
#define ZS_EMIT_BY4(name, gen9, gen12, xe_hpg, xe2)  EMIT_##name,
#define ZS_EMIT_LSC(name, gen9, gen12, xe_hpg, xe3p) EMIT_##name,
#include "edit/emit.def"
    EMIT_COUNT
};

enum emit_text { TEXT_GEN9, TEXT_GEN12, TEXT_XE_HPG, TEXT_XE2, TEXT_XE3P, TEXT_COUNT };

static const char *const rows[EMIT_COUNT][TEXT_COUNT] = {
#define ZS_EMIT(name, text)                         [EMIT_##name] = {text, text, text, text, text},
#define ZS_EMIT_BY(name, gen9, gen12, xe_hpg)       [EMIT_##name] = {gen9, gen12, xe_hpg, xe_hpg, xe_hpg},
#define ZS_EMIT_BY4(name, gen9, gen12, xe_hpg, xe2) [EMIT_##name] = {gen9, gen12, xe_hpg, xe2, xe2},
#define ZS_EMIT_LSC(name, gen9, gen12, xe_hpg, xe3p)                                               \
    [EMIT_##name] = {gen9, gen12, xe_hpg, xe_hpg, xe3p},
#include "edit/emit.def"
};

/* Instruction sets that probes are known for. */
static const struct emit_set {
    enum zs_isa_platform platform;
    enum emit_text text;
    const char *pipe; /* of a distance */
    struct {
        uint32_t save, load;         /* at the place that is added; 0: there is none */
        uint32_t far_save, far_load; /* stateless; of the load/store unit; 0: there is none */
    } four, one;                     /* registers: descriptors for scratch memory */
} sets[] = {
#define FAR_FOUR 0x020a04ff, 0x024804ff
#define FAR_ONE  0x020a02ff, 0x021802ff
    {ZS_ISA_GEN9,
     TEXT_GEN9,
     NULL,
     {0x020f2000, 0x024c2000, FAR_FOUR},
     {0x020f0000, 0x021c0000, FAR_ONE}},
    {ZS_ISA_GEN11,
     TEXT_GEN9,
     NULL,
     {0x020f2000, 0x024c2000, FAR_FOUR},
     {0x020f0000, 0x021c0000, FAR_ONE}},
    {ZS_ISA_XE_LP,
     TEXT_GEN12,
     "",
     {0x020f2000, 0x024c2000, FAR_FOUR},
     {0x020f0000, 0x021c0000, FAR_ONE}},
    {ZS_ISA_XE_HP, TEXT_GEN12, "A", {0x020f2000, 0x024c2000, 0, 0}, {0x020f0000, 0x021c0000, 0, 0}},
    {ZS_ISA_XE_HPG,
     TEXT_XE_HPG,
     "A",
     {0x020f2000, 0x024c2000, 0x4200e504, 0x4240e500},
     {0x020f0000, 0x021c0000, 0x4200c504, 0x4210c500}},
    {ZS_ISA_XE_HPC,
     TEXT_XE_HPG,
     "A",
     {0x020f3000, 0x024c3000, 0x4200f504, 0x4240f500},
     {0x020f1000, 0x021c1000, 0x4200d504, 0x4210d500}},
    {ZS_ISA_XE2, TEXT_XE2, "A", {0, 0, 0x4200f504, 0x4240f500}, {0, 0, 0x4200d504, 0x4210d500}},
    {ZS_ISA_XE3, TEXT_XE2, "A", {0, 0, 0x4200f504, 0x4240f500}, {0, 0, 0x4200d504, 0x4210d500}},
    {ZS_ISA_XE3P, TEXT_XE3P, "A", {0}, {0}}};
#undef FAR_FOUR
#undef FAR_ONE

static const struct emit_set *set_of(enum zs_isa_platform platform)
{
    for (size_t i = 0; i < ZS_ARRAY_LEN(sets); i++)
        if (sets[i].platform == platform)
            return &sets[i];
    return NULL;
}

bool zs_emit_has(enum zs_isa_platform platform)
{
    return set_of(platform) != NULL;
}

bool zs_emit_reaches_near(enum zs_isa_platform platform)
{
    const struct emit_set *set = set_of(platform);
    return set && set->four.save;
}

bool zs_emit_reaches_far(enum zs_isa_platform platform)
{
    const struct emit_set *set = set_of(platform);
    return set && set->four.far_save;
}

enum { INST_B = 16 };
enum { WRITE_LSC_DESC = 0x0200c584, WRITE_XE3P_DESC = 0x9604 /* eight dwords */ };

struct emitter {
    struct zs_edit_kernel *k;
    const struct zs_plan *plan;
    struct zs_edit_buffer layout;
    uint64_t gpu_va;
    const struct emit_set *set;
    uint32_t grf_B;
    struct zs_buf text;
    uint32_t lines;
    uint32_t asked; /* register of what has no effect unless QUESTION_KEPT of it is set; ZS_NONE */
    const struct zs_window *window; /* of the probe that is being made */
    bool saves;                     /* some probe saves its window */
};

/* Dwords of the register in which lanes are asked for. */
enum { QUESTION_LANES = 0, QUESTION_MORE = 3, QUESTION_FLAG = 6, QUESTION_KEPT = 7 };

static void put_number(struct zs_buf *out, uint32_t value, bool is_hex)
{
    static const char digits[] = "0123456789abcdef";
    if (!is_hex) {
        zs_buf_put_u64(out, value);
        return;
    }
    uint32_t shift = value ? (31 - (uint32_t)__builtin_clz(value)) / 4 * 4 : 0;
    zs_buf_append(out, "0x", 2);
    for (;; shift -= 4) {
        zs_buf_putc(out, digits[value >> shift & 15]);
        if (!shift)
            break;
    }
}

static void emit(struct emitter *e, enum emit_op op, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    const uint32_t numbers[] = {a, b, c, d};
    const char *pipe = e->set->pipe;
    bool waits_itself = false;
    for (const char *s = rows[op][e->set->text]; *s; s++) {
        if ((*s == '$' || *s == '#') && s[1] >= 'a' && s[1] <= 'd') {
            put_number(&e->text, numbers[s[1] - 'a'], *s == '#');
            s++;
            continue;
        }
        waits_itself |= *s == '{';
        if (*s == '@')
            zs_buf_puts(&e->text, pipe);
        if (*s == '\n') {
            if (!waits_itself && pipe) { /* for all that was begun in order */
                zs_buf_puts(&e->text, " {");
                zs_buf_puts(&e->text, pipe);
                zs_buf_puts(&e->text, "@1}");
            }
            waits_itself = false;
            e->lines++;
        }
        zs_buf_putc(&e->text, *s);
    }
}

/* ---- parts of probes ---- */

/* Lanes of an instruction's width and place. */
static uint32_t window_lanes(const struct zs_isa_inst *inst)
{
    uint64_t lanes = ((UINT64_C(1) << inst->exec_size) - 1) << inst->channel_offset;
    return (uint32_t)lanes;
}

uint32_t zs_emit_pred_width(const struct zs_isa_inst *inst)
{
    uint32_t width = inst->exec_size;
    if (inst->pred < ZS_PRED_ANY2H || inst->pred > ZS_PRED_ALL)
        return 0;
    if (inst->pred < ZS_PRED_ANY)
        width = 2u << (inst->pred - ZS_PRED_ANY2H) / 2;
    return width >= inst->exec_size ? width : 0;
}

/* Dword `at` of register w, flags = all bits where any (all) of the instruction's group of lanes
 * are set, none else; dword at + 1 is used. */
static void put_reduced(struct emitter *e, const struct zs_isa_inst *inst, uint32_t w, uint32_t at)
{
    uint32_t width = zs_emit_pred_width(inst);
    uint32_t shift = inst->flag_subreg * 16u + inst->channel_offset;
    bool all = (inst->pred - ZS_PRED_ANY2H) % 2;
    if (shift)
        emit(e, EMIT_SHIFT, w, at, shift, 0);
    if (all)
        emit(e, EMIT_NOT, w, at, 0, 0);
    if (width < 32)
        emit(e, EMIT_AND_IMM, w, at, (1u << width) - 1, 0);
    emit(e, EMIT_IS_SET, w, at, at + 1, 0);
    if (all)
        emit(e, EMIT_NOT, w, at, 0, 0);
}

/* Dword `at` of register w = lanes that the instruction works on, the two behind it are used. */
static void put_lanes(struct emitter *e, const struct zs_isa_inst *inst, const struct zs_probe *p,
                      uint32_t w, uint32_t at)
{
    uint32_t lanes = window_lanes(inst);
    bool nomask = inst->flags & ZS_INST_NOMASK && !p->all_lanes;
    if (nomask)
        emit(e, EMIT_ALL_LANES, w, at, lanes, 0);
    else if (e->plan->mask != ZS_NONE)
        emit(e, EMIT_LANES, w, at, e->plan->mask, 0);
    else
        emit(e, EMIT_LANES_HERE, w, at, 0, 0);
    /* threads of one lane, as CM has them, start with all bits set */
    uint32_t width = e->k->info->simd > 1 ? e->k->info->simd : 32;
    if (!nomask && !p->all_lanes && lanes + UINT64_C(1) < UINT64_C(1) << width)
        emit(e, EMIT_AND_IMM, w, at, lanes, 0);
    if (p->all_active || p->all_lanes || inst->pred == ZS_PRED_NONE)
        return;
    emit(e, EMIT_FLAG, w, at + 1, inst->flag_reg, 0);
    if (inst->pred == ZS_PRED_SEQ && inst->flag_subreg)
        emit(e, EMIT_SHIFT, w, at + 1, 16, 0);
    if (inst->pred != ZS_PRED_SEQ)
        put_reduced(e, inst, w, at + 1);
    if (inst->flags & ZS_INST_PRED_INVERSE)
        emit(e, EMIT_NOT, w, at + 1, 0, 0);
    emit(e, EMIT_AND, w, at, w, at + 1);
}

static uint64_t counter_va(const struct emitter *e, uint32_t counter)
{
    return e->gpu_va + (uint64_t)counter * ZS_COUNTER_B;
}

/* Dwords 0 and 1 of register w = an address. */
static void put_address(struct emitter *e, uint32_t w, uint64_t gpu_va)
{
    emit(e, EMIT_SET, w, 0, (uint32_t)gpu_va, 0);
    emit(e, EMIT_SET, w, 1, (uint32_t)(gpu_va >> 32), 0);
}

/* The counter's register; its dword is counter % ZS_GROUP_COUNTERS. */
static uint32_t counter_grf(const struct zs_plan *plan, uint32_t counter)
{
    uint32_t low = 0, high = plan->group_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        *(plan->groups[middle] <= counter / ZS_GROUP_COUNTERS ? &low : &high) = middle;
    }
    return plan->group_grf[low];
}

/* The counter grows by dword 0 of the window's third register. */
static void put_add(struct emitter *e, uint32_t w, uint32_t counter)
{
    if (e->plan->in_registers) {
        emit(e, EMIT_ADD, counter_grf(e->plan, counter), counter % ZS_GROUP_COUNTERS, w + 2, 0);
        return;
    }
    put_address(e, w, counter_va(e, counter));
    if (e->k->edit->narrow_atomics) {
        emit(e, EMIT_NARROW, w, w + 2, w + 3, 1);
        emit(e, EMIT_NARROW_CARRY, w, w + 2, w + 3, 1);
        return;
    }
    emit(e, EMIT_SET, w + 2, 1, 0, 0);
    emit(e, EMIT_ATOMIC_1, w, w + 2, 0, 0);
}

/* ---- probes ---- */

/* Dword b of register a is 0 if the answer is no. */
static void put_if(struct emitter *e, uint32_t a, uint32_t b)
{
    if (e->asked != ZS_NONE)
        emit(e, EMIT_AND, a, b, e->asked, QUESTION_KEPT);
}

static void put_count(struct emitter *e, const struct zs_probe *p, const struct zs_isa_inst *inst,
                      uint32_t w)
{
    (void)inst;
    if (e->plan->in_registers && e->asked == ZS_NONE) {
        emit(e, EMIT_ADD_1, counter_grf(e->plan, p->counter), p->counter % ZS_GROUP_COUNTERS, 0, 0);
        return;
    }
    emit(e, EMIT_SET, w + 2, 0, 1, 0);
    put_if(e, w + 2, 0);
    put_add(e, w, p->counter);
}

static void put_lane_count(struct emitter *e, const struct zs_probe *p,
                           const struct zs_isa_inst *inst, uint32_t w)
{
    put_lanes(e, inst, p, w + 2, 0);
    put_if(e, w + 2, 0);
    emit(e, EMIT_BITS, w + 2, 0, 0, 0);
    put_add(e, w, p->counter);
}

/* A clock that is kept in scratch memory: to register `grf`, or from there. */
static void put_slot(struct emitter *e, uint32_t grf, uint32_t clock, bool back);

/* The clock's dword, in a register of its own or, from memory, in register `to`. */
struct clock {
    uint32_t grf, dword;
};
static struct clock put_clock_read(struct emitter *e, uint32_t number, uint32_t to)
{
    const struct zs_plan *plan = e->plan;
    if (plan->clocks != ZS_NONE)
        return (struct clock){plan->clocks + number / ZS_GRF_CLOCKS, number % ZS_GRF_CLOCKS};
    put_slot(e, to, number, true);
    return (struct clock){to, 0};
}

static void put_clock(struct emitter *e, const struct zs_probe *p, const struct zs_isa_inst *inst,
                      uint32_t w)
{
    bool in_memory = e->plan->clocks == ZS_NONE;
    struct clock clock = {w + 3, 0};
    (void)inst;
    if (e->asked != ZS_NONE || !in_memory)
        clock = put_clock_read(e, p->clock, w + 3);
    if (e->asked == ZS_NONE) {
        emit(e, EMIT_TIME, clock.grf, clock.dword, 0, 0);
    } else {
        emit(e, EMIT_TIME, w + 2, 0, 0, 0);
        emit(e, EMIT_XOR, w + 2, 0, clock.grf, clock.dword);
        put_if(e, w + 2, 0);
        emit(e, EMIT_XOR, clock.grf, clock.dword, w + 2, 0);
    }
    if (in_memory)
        put_slot(e, w + 3, p->clock, false);
}

static void put_elapsed(struct emitter *e, const struct zs_probe *p, const struct zs_isa_inst *inst,
                        uint32_t w)
{
    struct clock clock = put_clock_read(e, p->clock, w + 3);
    (void)inst;
    emit(e, EMIT_SINCE, w + 2, 0, clock.grf, clock.dword);
    put_if(e, w + 2, 0);
    put_add(e, w, p->counter);
}

/* So many registers, or the first 32 bytes of one, to the address in w. */
static void put_write(struct emitter *e, uint32_t w, uint32_t grf, uint32_t grfs, uint32_t size_B)
{
    uint32_t doubled = (uint32_t)__builtin_ctz(size_B / ZS_UNIT_B);
    uint32_t desc = e->set->text == TEXT_XE3P ? WRITE_XE3P_DESC + (doubled << 7)
                                              : WRITE_LSC_DESC + (doubled << 12);
    enum emit_op op = grfs == 4 ? EMIT_WRITE_4 : grfs == 2 ? EMIT_WRITE_2 : EMIT_WRITE_1;
    emit(e, op, w, grf, desc, 0);
}

/* Registers to behind the record's place in the window, which is the same afterwards. */
static void put_copies(struct emitter *e, const struct zs_probe *p, uint32_t w)
{
    if (!p->grf_count)
        return;
    uint32_t at_B = ZS_UNIT_B, last_B = 0;
    for (uint32_t done = 0; done < p->grf_count;) {
        uint32_t left = p->grf_count - done, step = left >= 4 ? 4 : left >= 2 ? 2 : 1;
        emit(e, EMIT_MOVE_ON, w, at_B - last_B, 0, 0);
        put_write(e, w, p->grf + done, step, step * e->grf_B);
        last_B = at_B;
        at_B += step * e->grf_B;
        done += step;
    }
    emit(e, EMIT_MOVE_ON, w, (uint32_t)-last_B, 0, 0);
}

/* If the answer is no, the record's place is behind all others, where those go that find no room.
 */
static void put_nowhere(struct emitter *e, uint32_t w)
{
    if (e->asked == ZS_NONE)
        return;
    emit(e, EMIT_MOVE, w + 2, 0, e->asked, QUESTION_KEPT);
    emit(e, EMIT_NOT, w + 2, 0, 0, 0);
    emit(e, EMIT_OR, w, 0, w + 2, 0);
}

/* The place in the trace by 32 bits; the lanes that w + 3 keeps are kept in w + 1 meanwhile. */
static void put_narrow_place(struct emitter *e, uint32_t w)
{
    emit(e, EMIT_MOVE, w + 1, 7, w + 3, 0);
    emit(e, EMIT_NARROW, w, w + 2, w + 3, 1);
    emit(e, EMIT_MOVE, w + 1, 6, w + 3, 0);
    emit(e, EMIT_NARROW_CARRY, w, w + 2, w + 3, 1);
    emit(e, EMIT_MOVE, w, 0, w + 1, 6);
    emit(e, EMIT_SET, w, 1, 0, 0);
    emit(e, EMIT_MOVE, w + 3, 0, w + 1, 7);
}

static void put_record(struct emitter *e, const struct zs_probe *p, const struct zs_isa_inst *inst,
                       uint32_t w)
{
    uint64_t records_va = e->gpu_va + e->layout.records_offset_B;
    uint32_t grf_units = e->grf_B / ZS_UNIT_B, units = 1 + p->grf_count * grf_units;
    /* of the addition's second registers, only those of lanes that are off, the lanes are kept in
     * the one that it does not write */
    put_lanes(e, inst, p, w + 3, 0);
    put_address(e, w, e->gpu_va + e->layout.trace_offset_B);
    emit(e, EMIT_SET, w + 2, 0, units, 0);
    emit(e, EMIT_SET, w + 2, 1, 0, 0);
    put_if(e, w + 2, 0);
    if (e->k->edit->narrow_atomics) /* 2^32 units are more than a trace can have */
        put_narrow_place(e, w);
    else
        emit(e, EMIT_ATOMIC_OLD, w, w + 2, 0, 0);
    put_nowhere(e, w);
    emit(e, EMIT_RECORD_AT, w, (uint32_t)(e->layout.records_size_B / ZS_UNIT_B),
         (uint32_t)records_va, (uint32_t)(records_va >> 32));
    emit(e, EMIT_ZERO, w + 1, 0, 0, 0);
    emit(e, EMIT_SET, w + 1, 0, ZS_RECORD_HEAD(units, grf_units), 0);
    emit(e, EMIT_SET, w + 1, 1, p->site, 0);
    emit(e, EMIT_MOVE, w + 1, 2, w + 3, 0);
    emit(e, EMIT_TIME, w + 1, 4, 0, 0);
    emit(e, EMIT_THREAD, w + 1, 5, 0, 0);
    /* what says that there is a record comes last: who looks meanwhile sees a whole one or none */
    put_copies(e, p, w);
    put_write(e, w, w + 1, 1, ZS_UNIT_B);
}

typedef void (*put_fn)(struct emitter *e, const struct zs_probe *p, const struct zs_isa_inst *inst,
                       uint32_t w);
static const struct {
    put_fn put;
    bool needs_window; /* with counters in registers, too */
} kinds[ZS_PROBE_KIND_COUNT] = {
    [ZS_PROBE_COUNT] = {put_count, false}, [ZS_PROBE_LANES] = {put_lane_count, true},
    [ZS_PROBE_CLOCK] = {put_clock, false}, [ZS_PROBE_ELAPSED] = {put_elapsed, true},
    [ZS_PROBE_TRACE] = {put_record, true},
};

/* ---- a kernel ---- */

enum { FAR_DWORD = 2, OWORD_B = 16 };
/* Of a header of the load/store unit: the place, what names the surface, what a0 had there. */
enum { SURFACE_PLACE = 0, SURFACE_NAME = 1, SURFACE_A0 = 2 };
enum { A0_SURFACE = 2, A0_OURS = 7, A0_OTHER = 6 /* dwords */ };

static bool is_by_surface(const struct emitter *e)
{
    return e->plan->is_far && e->set->text >= TEXT_XE_HPG;
}

/* What the header of a stateless block message has in that dword. */
static uint32_t far_offset(const struct zs_plan *plan)
{
    return plan->scratch_offset_B / OWORD_B;
}

static void put_entry(struct emitter *e)
{
    const struct zs_plan *plan = e->plan;
    bool by_grf = plan->scratch == ZS_SCRATCH_BY_GRF, by_surface = is_by_surface(e);
    if (by_grf)
        emit(e, EMIT_COPY, plan->header, 0, 0, 0);
    if (by_grf && by_surface)
        emit(e, EMIT_SURFACE, plan->header, SURFACE_NAME, plan->header, 0);
    else if (by_grf && plan->is_far)
        emit(e, EMIT_SET, plan->header, FAR_DWORD, far_offset(plan), 0);
    if (plan->scratch == ZS_SCRATCH_BY_ACC)
        emit(e, EMIT_TO_ACC, e->k->acc, 0, 0, 0);
    if (plan->scratch == ZS_SCRATCH_BY_A0)
        by_surface ? emit(e, EMIT_SURFACE_TO_A0, 0, A0_OURS, 0, 0)
                   : emit(e, EMIT_TO_A0, 0, 0, 0, 0);
    if (!plan->in_registers)
        return;
    emit(e, EMIT_MASK_KEEP, plan->mask, 0, 0, 0);
    for (uint32_t i = 0; i < plan->group_count; i++)
        emit(e, EMIT_ZERO, plan->group_grf[i], 0, 0, 0);
}

static void put_exit(struct emitter *e)
{
    const struct zs_plan *plan = e->plan;
    uint32_t w = plan->window;
    if (!plan->in_registers || !plan->group_count)
        return;
    emit(e, EMIT_FLUSH_HIGH, w, w + 2, 0, 0);
    uint64_t before_va = 0;
    for (uint32_t i = 0; i < plan->group_count; i++) {
        uint64_t va = counter_va(e, plan->groups[i] * ZS_GROUP_COUNTERS);
        if (i == 0)
            emit(e, EMIT_ADDRESSES, w, w + 1, (uint32_t)va, 0);
        else
            emit(e, EMIT_ADVANCE, w, 0, (uint32_t)(va - before_va), 0);
        if (i == 0 || va >> 32 != before_va >> 32)
            emit(e, EMIT_ADDRESSES_HIGH, w, 0, (uint32_t)(va >> 32), 0);
        if (e->k->edit->narrow_atomics) {
            emit(e, EMIT_NARROW, w, plan->group_grf[i], w + 3, 8);
            emit(e, EMIT_NARROW_CARRY, w, plan->group_grf[i], w + 3, 8);
        } else {
            emit(e, EMIT_FLUSH_LOW, 0, w + 2, plan->group_grf[i], 0);
            emit(e, EMIT_FLUSH, w, w + 2, 0, 0);
        }
        before_va = va;
    }
}

/* Why no registers can be saved. */
static const char *unsaved(const struct emitter *e)
{
    if (e->k->info->scratch_B[1])
        return "its scratch memory has two parts, behind which none can be saved";
    if (!e->plan->scratch_size_B)
        return "its scratch memory cannot grow";
    return "it, or text that is inserted, uses accumulators and the end of a0 and may write r0, "
           "one of which saving some needs";
}

static int refuse_window(const struct emitter *e, uint32_t offset_B)
{
    const struct zs_edit_kernel *k = e->k;
    if (k->info->is_function_holder)
        return zs_edit_refuse(e->k, "how much scratch memory the callers of its functions have, "
                                    "to save registers to, is not known");
    if (!zs_emit_reaches_near(k->edit->platform) && !zs_emit_reaches_far(k->edit->platform))
        return zs_edit_refuse(e->k,
                              "no %d registers in a row are free at 0x%x, and none can be "
                              "saved on %s",
                              ZS_WINDOW_GRFS, offset_B,
                              zs_isa_platform_info(k->edit->platform)->name);
    if (e->plan->is_far && !zs_emit_reaches_far(k->edit->platform))
        return zs_edit_refuse(e->k,
                              "registers cannot be saved behind its scratch memory of %u "
                              "bytes: messages do not reach farther",
                              k->info->scratch_B[0]);
    if (!k->unknown_why)
        return zs_edit_refuse(e->k, "no %d registers in a row are free at 0x%x, and %s",
                              ZS_WINDOW_GRFS, offset_B, unsaved(e));
    return zs_edit_refuse(e->k,
                          "which registers are free at 0x%x is not known since the instruction at "
                          "0x%x %s, and %s",
                          offset_B, k->unknown_at_B, k->unknown_why, unsaved(e));
}

/* A thread's scratch memory as r0.3 has it: 0 is 1 KiB, each more is twice that. */
static uint32_t scratch_code(uint32_t size_B)
{
    return 31 - (uint32_t)__builtin_clz(size_B / ZS_SCRATCH_MIN_B);
}

/* The header of messages to scratch memory, before; and back. */
static void put_header(struct emitter *e, const struct zs_window *w, bool back)
{
    const struct zs_plan *plan = e->plan;
    uint32_t code = scratch_code(plan->scratch_size_B);
    if (plan->scratch == ZS_SCRATCH_BY_A0 && plan->is_far) {
        emit(e, back ? EMIT_FROM_A0_FAR : EMIT_HEADER_FROM_A0_FAR, w->header, code,
             far_offset(plan), 0);
        return;
    }
    if (plan->scratch == ZS_SCRATCH_BY_ACC)
        back ? emit(e, EMIT_FROM_ACC, w->header, e->k->acc + 1, 0, 0)
             : emit(e, EMIT_HEADER_FROM_ACC, w->header, e->k->acc, e->k->acc + 1, 0);
    if (plan->scratch == ZS_SCRATCH_BY_A0)
        back ? emit(e, EMIT_FROM_A0, w->header, 0, 0, 0)
             : emit(e, EMIT_HEADER_FROM_A0, w->header, code, 0, 0);
    if (!plan->is_far || plan->scratch == ZS_SCRATCH_BY_GRF)
        return;
    if (plan->scratch == ZS_SCRATCH_BY_CODE)
        emit(e, back ? EMIT_DWORD_FROM_A0 : EMIT_DWORD_TO_A0, w->header, FAR_DWORD, A0_OURS, 0);
    if (!back)
        emit(e, EMIT_SET, w->header, FAR_DWORD, far_offset(plan), 0);
}

/* Registers that go to scratch memory, or come back from there. */
struct part {
    uint32_t grf, count; /* ZS_WINDOW_GRFS, or 1 */
    uint32_t offset_B;   /* from where windows are kept */
};

static void put_message(struct emitter *e, uint32_t header, const struct part *part, bool back)
{
    bool is_one = part->count == 1, is_far = e->plan->is_far;
    uint32_t save = is_one ? e->set->one.save : e->set->four.save;
    uint32_t load = is_one ? e->set->one.load : e->set->four.load;
    uint32_t far_save = is_one ? e->set->one.far_save : e->set->four.far_save;
    uint32_t far_load = is_one ? e->set->one.far_load : e->set->four.far_load;
    uint32_t offset = (e->plan->scratch_offset_B + part->offset_B) / ZS_UNIT_B;
    uint32_t desc = is_far ? (back ? far_load : far_save) : (back ? load : save) | offset;
    uint32_t length = e->set->text >= TEXT_XE_HPG  ? part->count
                      : e->set->text == TEXT_GEN12 ? part->count << 6
                                                   : part->count << 6 | 0xa;
    emit(e, back ? EMIT_LOAD : EMIT_SAVE, header, part->grf, desc, length);
}

/*
 * The same by the load/store unit, whose messages need an address in a register and the surface in
 * a0. Where the header is at hand, a0.2 is kept in it meanwhile; else a0.7 names the surface, and
 * a0.6 keeps the dword of the header that has the address meanwhile.
 */
static void put_message_by_surface(struct emitter *e, uint32_t header, const struct part *part,
                                   bool back)
{
    uint32_t scratch = e->plan->scratch, place_B = e->plan->scratch_offset_B + part->offset_B;
    bool at_hand = scratch == ZS_SCRATCH_BY_ACC || scratch == ZS_SCRATCH_BY_GRF;
    bool is_one = part->count == 1;
    uint32_t dword = at_hand ? A0_SURFACE : A0_OURS;
    if (at_hand) {
        emit(e, EMIT_DWORD_FROM_A0, header, SURFACE_A0, dword, 0);
        emit(e, EMIT_DWORD_TO_A0, header, SURFACE_NAME, dword, 0);
    } else {
        if (scratch == ZS_SCRATCH_BY_CODE)
            emit(e, EMIT_SURFACE_TO_A0, 0, dword, 0, 0);
        emit(e, EMIT_DWORD_TO_A0, header, SURFACE_PLACE, A0_OTHER, 0);
    }
    emit(e, EMIT_SET, header, SURFACE_PLACE, place_B, 0);
    if (back)
        emit(e, EMIT_LOAD_SURFACE, header, part->grf,
             is_one ? e->set->one.far_load : e->set->four.far_load, dword);
    else
        emit(e, is_one ? EMIT_SAVE_1_SURFACE : EMIT_SAVE_4_SURFACE, header, part->grf,
             is_one ? e->set->one.far_save : e->set->four.far_save, dword);
    if (at_hand)
        emit(e, EMIT_DWORD_TO_A0, header, SURFACE_A0, dword, 0);
    else
        emit(e, EMIT_DWORD_FROM_A0, header, SURFACE_PLACE, A0_OTHER, 0);
}

/* The header by the load/store unit, where it is kept in an accumulator; and back. */
static void put_header_by_surface(struct emitter *e, const struct zs_window *w, bool back)
{
    if (e->plan->scratch != ZS_SCRATCH_BY_ACC)
        return;
    if (back) {
        emit(e, EMIT_FROM_ACC, w->header, e->k->acc + 1, 0, 0);
        return;
    }
    emit(e, EMIT_HEADER_FROM_ACC, w->header, e->k->acc, e->k->acc + 1, 0);
    emit(e, EMIT_SURFACE, w->header, SURFACE_NAME, w->header, 0);
}

/* What the window holds goes to scratch memory, and comes back. r0, where it is the header, is the
 * kernel's in between: a record may have it. */
static void put_saved(struct emitter *e, const struct zs_window *w, bool back)
{
    const struct part window = {.grf = w->first, .count = ZS_WINDOW_GRFS};
    bool by_code = e->plan->scratch == ZS_SCRATCH_BY_CODE, by_surface = is_by_surface(e);
    e->saves = true;
    if (by_surface && !back)
        put_header_by_surface(e, w, false);
    else if (!by_surface && (!back || by_code))
        put_header(e, w, false);
    if (by_surface)
        put_message_by_surface(e, w->header, &window, back);
    else
        put_message(e, w->header, &window, back);
    if (by_surface && back)
        put_header_by_surface(e, w, true);
    else if (!by_surface && (back || by_code))
        put_header(e, w, true);
}

static void put_slot(struct emitter *e, uint32_t grf, uint32_t clock, bool back)
{
    const struct part slot = {
        .grf = grf, .count = 1, .offset_B = (ZS_WINDOW_GRFS + clock) * e->grf_B};
    const struct zs_window *w = e->window;
    uint32_t place_B = e->plan->scratch_offset_B + slot.offset_B;
    bool by_code = e->plan->scratch == ZS_SCRATCH_BY_CODE, moves = e->plan->is_far;
    if (is_by_surface(e)) {
        put_message_by_surface(e, w->header, &slot, back);
        return;
    }
    if (moves && by_code)
        put_header(e, w, false);
    if (moves)
        emit(e, EMIT_SET, w->header, FAR_DWORD, place_B / OWORD_B, 0);
    put_message(e, w->header, &slot, back);
    if (moves && by_code)
        put_header(e, w, true);
    else if (moves)
        emit(e, EMIT_SET, w->header, FAR_DWORD, far_offset(e->plan), 0);
}

/* The window is there to be used, and is the kernel's again. */
static void put_lent(struct emitter *e, const struct zs_window *w)
{
    if (w->is_lent)
        emit(e, EMIT_WAIT, 0, 0, 0, 0);
    if (w->is_saved)
        put_saved(e, w, false);
}

static void put_given_back(struct emitter *e, const struct zs_window *w)
{
    if (w->is_saved)
        put_saved(e, w, true);
    if (w->is_lent)
        emit(e, EMIT_DONE, 0, 0, 0, 0);
}

/* ---- the edge of threads that jump ---- */

/* Dword QUESTION_LANES of register w = all bits if the thread jumps, or 0. */
static void put_question(struct emitter *e, uint32_t i, uint32_t w)
{
    const struct zs_isa_inst *inst = zs_isa_inst(e->k->code, i);
    static const struct zs_probe of_predicate = {0}, of_branch = {.all_active = true},
                                 of_thread = {.all_lanes = true};
    struct zs_jump jump = zs_jump_find(e->k, i);
    put_lanes(e, inst, &of_predicate, w, QUESTION_LANES);
    if (jump.leave_when_false) {
        put_lanes(e, inst, &of_branch, w, QUESTION_MORE);
        emit(e, EMIT_NOT, w, QUESTION_LANES, 0, 0);
        emit(e, EMIT_AND, w, QUESTION_LANES, w, QUESTION_MORE);
    }
    if (jump.when == ZS_JUMP_NONE_STAYS) {
        put_lanes(e, inst, &of_thread, w, QUESTION_MORE);
        emit(e, EMIT_NOT, w, QUESTION_LANES, 0, 0);
        emit(e, EMIT_AND, w, QUESTION_LANES, w, QUESTION_MORE);
    }
    emit(e, EMIT_IS_SET, w, QUESTION_LANES, QUESTION_MORE, 0);
    if (jump.when == ZS_JUMP_NONE_STAYS)
        emit(e, EMIT_NOT, w, QUESTION_LANES, 0, 0);
}

static int put_probe(struct emitter *e, const struct zs_insertion *insertion)
{
    const struct zs_probe_at *at = &e->k->probes[insertion->index];
    const struct zs_isa_inst *inst = zs_isa_inst(e->k->code, at->inst);
    struct zs_window w = {0};
    bool asks = zs_jump_asks_lanes(e->k, insertion) && zs_isa_has_fused_eus(e->k->edit->platform);
    if ((kinds[at->probe.kind].needs_window || !e->plan->in_registers || asks) &&
        !zs_plan_window(e->k, e->plan, insertion, &w))
        return refuse_window(e, inst->offset_B);
    if (!w.is_lent && at->probe.kind == ZS_PROBE_TRACE)
        emit(e, EMIT_WAIT, 0, 0, 0, 0);
    put_lent(e, &w);
    if (asks) {
        put_question(e, at->inst, w.first);
        emit(e, EMIT_MOVE, w.first, QUESTION_KEPT, w.first, QUESTION_LANES);
        e->asked = w.first;
    }
    e->window = &w;
    kinds[at->probe.kind].put(e, &at->probe, inst, w.first);
    e->window = NULL;
    e->asked = ZS_NONE;
    put_given_back(e, &w);
    return e->text.error;
}

/*
 * Callers' code on fused EUs: it has a predicate (guard.c). The window is its own meanwhile, since
 * it keeps the flag.
 */
static int put_guarded(struct emitter *e, const struct zs_insertion *insertion, uint32_t *ret_line)
{
    struct zs_window w;
    uint32_t flag = insertion->guard;
    if (!zs_plan_window(e->k, e->plan, insertion, &w))
        return refuse_window(e, zs_isa_inst_offset(e->k->code, insertion->inst));
    put_lent(e, &w);
    put_question(e, insertion->inst, w.first);
    emit(e, EMIT_FLAG, w.first, QUESTION_FLAG, flag, 0);
    emit(e, EMIT_TO_FLAG, w.first, QUESTION_LANES, flag, 0);
    emit(e, EMIT_DONE, 0, 0, 0, 0); /* for the caller's first instruction */
    *ret_line = e->lines;
    emit(e, EMIT_TO_FLAG, w.first, QUESTION_FLAG, flag, 0);
    put_given_back(e, &w);
    emit(e, EMIT_DONE, 0, 0, 0, 0); /* the branch may read the flag */
    return e->text.error;
}

/*
 * What is inserted, for threads that jump:
 *
 *     dword 6 of the window = f0      f0 = whether it jumps
 *     (~f0.0) jmpi skip
 *     f0 = dword 6     what is inserted     jmpi end
 *     skip:  f0 = dword 6
 *     end:
 *
 * Everything is put twice: once to know where it stands. *ret_line: where the caller's own code is
 * put in between, later.
 */
static int put_if_jumps(struct emitter *e, const struct zs_insertion *insertion, uint32_t *ret_line)
{
    const struct zs_insertion question = {.inst = insertion->inst, .where = ZS_EDIT_JUMP};
    size_t text_B = e->text.size_B;
    uint32_t lines = e->lines, skip_B = 0, end_B = 0;
    struct zs_window w;
    int error = 0;
    if (!zs_plan_window(e->k, e->plan, &question, &w))
        return refuse_window(e, zs_isa_inst_offset(e->k->code, insertion->inst));
    for (int turn = 0; turn < 2 && !error; turn++) {
        e->text.size_B = text_B;
        e->lines = lines;
        put_lent(e, &w);
        put_question(e, insertion->inst, w.first);
        emit(e, EMIT_FLAG, w.first, QUESTION_FLAG, 0, 0);
        emit(e, EMIT_TO_FLAG, w.first, QUESTION_LANES, 0, 0);
        emit(e, EMIT_JUMP_UNLESS, skip_B, 0, 0, 0);
        emit(e, EMIT_TO_FLAG, w.first, QUESTION_FLAG, 0, 0);
        put_given_back(e, &w);
        *ret_line = e->lines;
        error = insertion->is_probe ? put_probe(e, insertion) : e->text.error;
        emit(e, EMIT_JUMP, end_B, 0, 0, 0);
        skip_B = e->lines * INST_B + insertion->size_B;
        emit(e, EMIT_TO_FLAG, w.first, QUESTION_FLAG, 0, 0);
        put_given_back(e, &w);
        emit(e, EMIT_DONE, 0, 0, 0, 0); /* the branch reads the flag */
        end_B = e->lines * INST_B;      /* the caller's own code is before both ends of this jump */
    }
    return error;
}

static int put_insertion(struct emitter *e, const struct zs_insertion *insertion,
                         uint32_t *ret_line)
{
    *ret_line = e->lines;
    bool asks = zs_jump_asks_lanes(e->k, insertion);
    if (asks && !zs_isa_has_fused_eus(e->k->edit->platform))
        return put_if_jumps(e, insertion, ret_line);
    if (asks && !insertion->is_probe)
        return put_guarded(e, insertion, ret_line);
    return insertion->is_probe ? put_probe(e, insertion) : 0;
}

/* Pieces are first counted in lines; then all is assembled, and lines become bytes. inside: where
 * the caller's own code goes, if that is what is inserted. */
static int put_all(struct emitter *e, struct zs_pieces *ret, uint32_t *lines, uint32_t *inside)
{
    int error = 0;
    put_entry(e);
    ret->entry_end_B = e->lines * INST_B;
    ret->exit_begin_B = ret->entry_end_B;
    put_exit(e);
    ret->exit_end_B = e->lines * INST_B;
    for (size_t i = 0; i < e->k->insertion_count && !error; i++) {
        lines[i] = e->lines;
        error = put_insertion(e, &e->k->insertions[i], &inside[i]);
    }
    lines[e->k->insertion_count] = e->lines;
    ret->scratch_B = e->saves ? e->plan->scratch_size_B : 0;
    return error ? error : e->text.error;
}

static int assemble(struct emitter *e, struct zs_buf *out)
{
    struct zs_isa_asm_error why = {.size_B = sizeof(why)};
    uint8_t *code = NULL;
    size_t size_B = 0;
    int error = zs_isa_assemble(e->k->edit->platform, zs_buf_span(&e->text), &code, &size_B, &why);
    if (!error && size_B != (size_t)e->lines * INST_B)
        error = -EINVAL;
    if (error) {
        zs_edit_refuse(e->k, "a probe cannot be assembled: line %u, column %u: %s", why.line,
                       why.column, why.text);
        return error;
    }
    zs_buf_append(out, code, size_B);
    zs_isa_code_free(code);
    return out->error;
}

static void append_lines(struct zs_pieces *ret, const struct zs_buf *made, uint32_t from,
                         uint32_t to)
{
    if (to > from)
        zs_buf_append(&ret->code, made->data + (size_t)from * INST_B, (size_t)(to - from) * INST_B);
}

/* Only threads that jump come to what is inserted before a jmpi with a predicate. */
static int pass_by(struct zs_edit_kernel *k, const struct zs_insertion *insertion, uint32_t size_B,
                   struct zs_pieces *ret)
{
    uint8_t bytes[INST_B];
    if (insertion->where != ZS_EDIT_JUMP ||
        zs_jump_find(k, insertion->inst).when != ZS_JUMP_BY_PREDICATE)
        return 0;
    if (!zs_jump_opposite(k, insertion->inst, size_B, bytes))
        return zs_edit_refuse(k, "the opposite of the branch at 0x%x cannot be encoded",
                              zs_isa_inst_offset(k->code, insertion->inst));
    zs_buf_append(&ret->code, bytes, sizeof(bytes));
    return 0;
}

/* Callers' own code goes between the probes'. */
static int join(struct zs_edit_kernel *k, const uint32_t *lines, const uint32_t *inside,
                const struct zs_buf *made, struct zs_pieces *ret)
{
    int error = 0;
    append_lines(ret, made, 0, lines[0]);
    for (size_t i = 0; i < k->insertion_count && !error; i++) {
        const struct zs_insertion *insertion = &k->insertions[i];
        uint32_t size_B = insertion->size_B + (lines[i + 1] - lines[i]) * INST_B;
        ret->begin_B[i] = (uint32_t)ret->code.size_B;
        error = pass_by(k, insertion, size_B, ret);
        append_lines(ret, made, lines[i], inside[i]);
        if (!insertion->is_probe)
            zs_buf_append(&ret->code, k->pool.data + insertion->index, insertion->size_B);
        append_lines(ret, made, inside[i], lines[i + 1]);
    }
    ret->begin_B[k->insertion_count] = (uint32_t)ret->code.size_B;
    return error ? error : ret->code.error;
}

int zs_pieces_make(struct zs_edit_kernel *k, const struct zs_plan *plan, uint64_t gpu_va,
                   struct zs_pieces *ret)
{
    struct emitter e = {.k = k,
                        .plan = plan,
                        .layout = zs_edit_buffer(k->edit),
                        .gpu_va = gpu_va,
                        .set = set_of(k->edit->platform),
                        .grf_B = zs_isa_platform_info(k->edit->platform)->grf_B,
                        .asked = ZS_NONE};
    struct zs_buf made = {0};
    uint32_t *lines = calloc(2 * (k->insertion_count + 1), sizeof(*lines));
    uint32_t *inside = lines + k->insertion_count + 1;
    *ret = (struct zs_pieces){.begin_B = calloc(k->insertion_count + 1, sizeof(*ret->begin_B))};
    int error = lines && ret->begin_B ? 0 : -ENOMEM;
    if (!error && e.set)
        error = put_all(&e, ret, lines, inside);
    if (!error && e.lines)
        error = assemble(&e, &made);
    if (!error)
        error = join(k, lines, inside, &made, ret);
    zs_buf_fini(&made);
    zs_buf_fini(&e.text);
    free(lines);
    return error;
}

void zs_pieces_fini(struct zs_pieces *pieces)
{
    zs_buf_fini(&pieces->code);
    free(pieces->begin_B);
}
