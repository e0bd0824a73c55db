/* SPDX-License-Identifier: MIT */
/* What is known of a kernel as the values of quantities. */
#include "metrics/profile_priv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const struct zs_quantity_row zs_quantity_rows[ZS_QUANTITIES] = {
#define QUANTITY(id, name, unit, better, source, exact, adds, description)                         \
    [ZS_Q_##id] = {name, unit, description, ZS_BETTER_##better, ZS_FROM_##source, exact, adds},
#include "metrics/quantities.def"
#undef QUANTITY
};

const struct zs_shape *profile_main_shape(const struct zs_profile *p)
{
    const struct zs_shape *best = NULL;
    for (size_t i = 0; i < p->shapes.count; i++)
        if (p->shapes.items[i].size[0] && (!best || p->shapes.items[i].launches > best->launches))
            best = &p->shapes.items[i];
    return best;
}

/* ---- the module ---- */

/* Patch tokens do not tell spills from private memory, the code does: only spills move in blocks at
 * offsets that are part of the descriptor. */
static double spills_of(const struct zs_code *code)
{
    double end_B = 0;
    if (code->kernel->spill_known)
        return code->kernel->spill_B;
    for (uint32_t i = 0; i < zs_isa_kernel_count(code->isa); i++) {
        const struct zs_isa_message *m = zs_isa_inst_message(code->isa, i);
        if (!m || m->surface != ZS_SURFACE_SCRATCH || (m->flags & ZS_MSGF_TYPED) ||
            (m->kind != ZS_MSG_LOAD && m->kind != ZS_MSG_STORE && m->kind != ZS_MSG_ATOMIC))
            continue;
        if (m->flags & ZS_MSGF_DESC_REG)
            return NAN;
        double last_B = (m->desc & 0xfff) * 32.0 + ZS_MAX(m->read_B, m->written_B);
        end_B = last_B > end_B ? last_B : end_B;
    }
    return end_B;
}

void zs_module_values(const struct zs_code *code, double *v)
{
    const struct zs_kernel *kernel = code->kernel;
    v[ZS_Q_SIMD] = kernel->simd;
    v[ZS_Q_REGISTERS] = kernel->grf_count;
    v[ZS_Q_LIVE_REGISTERS] = zs_isa_live_peak(code->isa, NULL);
    v[ZS_Q_SPILLS] = spills_of(code);
    v[ZS_Q_SCRATCH] = (double)kernel->scratch_B[0] + kernel->scratch_B[1];
    v[ZS_Q_SLM_STATIC] = kernel->slm_B;
    v[ZS_Q_BARRIERS] = kernel->barrier_count;
    v[ZS_Q_CODE] = zs_isa_kernel_size_B(code->isa);
    v[ZS_Q_CODE_INSTRUCTIONS] = zs_isa_kernel_count(code->isa);
}

/* ---- launches ---- */

static double items_of(const uint32_t numbers[3])
{
    return (double)numbers[0] * numbers[1] * numbers[2];
}

static void from_trace(const struct zs_profile *p, double *v)
{
    const struct zs_shape *shape = profile_main_shape(p);
    double groups = 0, items = 0, slm_B = 0;
    v[ZS_Q_LAUNCHES] = (double)p->launches;
    for (size_t i = 0; i < p->shapes.count; i++) {
        const struct zs_shape *s = &p->shapes.items[i];
        bool has_groups = s->groups[0], has_size = s->size[0];
        double launches = (double)s->launches;
        groups += has_groups ? launches * items_of(s->groups) : (double)NAN;
        items += has_groups && has_size ? launches * items_of(s->groups) * items_of(s->size)
                                        : (double)NAN;
        slm_B = (double)s->slm_B > slm_B ? (double)s->slm_B : slm_B;
    }
    if (p->launches) {
        v[ZS_Q_GROUPS] = groups;
        v[ZS_Q_ITEMS] = items;
        v[ZS_Q_SLM] = slm_B;
    }
    if (shape)
        v[ZS_Q_GROUP_ITEMS] = items_of(shape->size);
    if (!p->timed)
        return;
    v[ZS_Q_TIME_TOTAL] = (double)p->total_ns;
    v[ZS_Q_TIME_MEAN] = (double)p->total_ns / (double)p->timed;
    v[ZS_Q_TIME_MIN] = (double)p->min_ns;
    v[ZS_Q_TIME_MAX] = (double)p->max_ns;
}

/* ---- counts ---- */

/* One instruction's part of a quantity that is a sum over instructions. */
double zs_profile_share(const struct zs_profile *p, enum zs_quantity quantity, uint32_t i)
{
    const struct zs_inst_profile *n = &p->insts[i];
    const struct zs_isa_message *m = zs_isa_inst_message(p->code->isa, i);
    double bytes = n->read_B + n->written_B;
    switch (quantity) {
    case ZS_Q_INSTRUCTIONS:
        return n->executions;
    case ZS_Q_LANES:
        return n->lanes;
    case ZS_Q_MESSAGES:
        return m ? n->executions : 0;
    case ZS_Q_FLOPS:
        return n->flops * n->lanes;
    case ZS_Q_FLOPS_HALF:
        return n->precision == ZS_HALF ? n->flops * n->lanes : 0;
    case ZS_Q_FLOPS_SINGLE:
        return n->precision == ZS_SINGLE ? n->flops * n->lanes : 0;
    case ZS_Q_FLOPS_DOUBLE:
        return n->precision == ZS_DOUBLE ? n->flops * n->lanes : 0;
    case ZS_Q_INT_OPS:
        return n->int_ops * n->lanes;
    case ZS_Q_MATRIX_OPS:
        return n->matrix_elements ? (n->flops + n->int_ops) * n->lanes : 0;
    case ZS_Q_MATH_OPS:
        return n->is_math ? n->lanes : 0;
    case ZS_Q_GLOBAL_READ:
        return n->space == ZS_SPACE_BUFFER ? n->read_B : 0;
    case ZS_Q_GLOBAL_WRITTEN:
        return n->space == ZS_SPACE_BUFFER ? n->written_B : 0;
    case ZS_Q_GLOBAL_BYTES:
        return n->space == ZS_SPACE_BUFFER ? bytes : 0;
    case ZS_Q_GLOBAL_MESSAGES:
        return n->space == ZS_SPACE_BUFFER ? n->executions : 0;
    case ZS_Q_SLM_BYTES:
        return n->space == ZS_SPACE_SLM ? bytes : 0;
    case ZS_Q_SLM_MESSAGES:
        return n->space == ZS_SPACE_SLM ? n->executions : 0;
    case ZS_Q_SCRATCH_BYTES:
        return n->space == ZS_SPACE_SCRATCH_BLOCK ? bytes : 0;
    case ZS_Q_SCRATCH_MESSAGES:
    case ZS_Q_SPILLS:
        return n->space == ZS_SPACE_SCRATCH_BLOCK ? n->executions : 0;
    case ZS_Q_IMAGE_BYTES:
        return n->space == ZS_SPACE_PICTURE ? bytes : 0;
    case ZS_Q_ATOMICS:
        return m && m->kind == ZS_MSG_ATOMIC ? n->executions : 0;
    case ZS_Q_BARRIER_MESSAGES:
        return m && m->kind == ZS_MSG_BARRIER ? n->executions : 0;
    case ZS_Q_FENCES:
        return m && m->kind == ZS_MSG_FENCE ? n->executions : 0;
    case ZS_Q_ISSUE:
        return n->issue_cycles * n->executions;
    default:
        return NAN;
    }
}

static double sum_of(const struct zs_profile *p, enum zs_quantity quantity)
{
    double sum = 0;
    for (uint32_t i = 0; i < p->inst_count; i++) {
        double share = zs_profile_share(p, quantity, i);
        sum += isnan(share) ? 0 : share;
    }
    return sum;
}

/* Of instructions whose lanes can be off. */
static double lane_use(const struct zs_profile *p)
{
    double lanes = 0, channels = 0;
    for (uint32_t i = 0; i < p->inst_count; i++) {
        const struct zs_inst_profile *n = &p->insts[i];
        if (!n->is_masked || isnan(n->executions) || n->executions == 0)
            continue;
        lanes += n->lanes;
        channels += n->executions * zs_isa_inst(p->code->isa, i)->exec_size;
    }
    return channels > 0 ? 100 * lanes / channels : (double)NAN;
}

/* Those that ended: where they begin differs, as loads of what hardware brings are left out. */
static double threads(const struct zs_profile *p)
{
    double ended = p->inst_count ? 0 : (double)NAN;
    for (uint32_t i = 0; i < p->inst_count; i++)
        if (zs_isa_inst(p->code->isa, i)->flags & ZS_INST_EOT)
            ended += p->insts[i].executions;
    return ended;
}

static void from_counts(const struct zs_profile *p, double *v)
{
    for (int q = 0; q < ZS_QUANTITIES; q++)
        if (zs_quantity_rows[q].source == ZS_FROM_COUNTS)
            v[q] = sum_of(p, (enum zs_quantity)q);
    v[ZS_Q_INSTRUCTIONS] += p->other_executions;
    v[ZS_Q_THREADS] = threads(p);
    v[ZS_Q_LANE_USE] = lane_use(p);
    double bytes = v[ZS_Q_GLOBAL_BYTES] + v[ZS_Q_IMAGE_BYTES];
    v[ZS_Q_INTENSITY] = bytes > 0 ? v[ZS_Q_FLOPS] / bytes : (double)NAN;
}

/* ---- the device ---- */

/* Local memory is given out in powers of two. */
static uint64_t allocated_slm_B(uint64_t slm_B)
{
    uint64_t size_B = 1024;
    while (size_B < slm_B)
        size_B *= 2;
    return slm_B ? size_B : 0;
}

enum { USUAL_REGISTERS = 128 };

struct residency {
    uint32_t groups; /* of a subslice at the same time; 0: groups need not be together */
    enum zs_limiter limiter;
    double threads; /* of the device at the same time */
};

static bool lower(struct residency *r, uint64_t groups, enum zs_limiter limiter)
{
    if (groups >= r->groups)
        return false;
    r->groups = (uint32_t)groups;
    r->limiter = limiter;
    return true;
}

/* Groups with local memory or barriers run on one subslice each. */
static struct residency residency_of(const struct zs_profile *p, const struct zs_shape *shape)
{
    const struct zs_kernel *kernel = p->code->kernel;
    const struct zs_peaks *k = &p->peaks;
    uint64_t group_threads = ((uint64_t)items_of(shape->size) + kernel->simd - 1) / kernel->simd;
    struct residency r = {.threads = k->threads};
    uint32_t slots = k->slot_count;
    uint32_t normal = k->eus ? k->threads / k->eus : 1;
    if (kernel->grf_count > USUAL_REGISTERS && normal) {
        /* large register files: fewer threads on each EU; patch tokens do not say how many */
        uint32_t said = kernel->eu_thread_count, few = normal * USUAL_REGISTERS / kernel->grf_count;
        uint32_t fit = ZS_MIN(said ? said : ZS_MAX(few, 1u), normal);
        slots = slots / normal * fit;
        r.threads = (double)slots * k->subslices;
        r.limiter = fit < normal ? ZS_LIMIT_REGISTERS : ZS_LIMIT_NOTHING;
    }
    if ((!kernel->barrier_count && !shape->slm_B) || !group_threads)
        return r;
    uint64_t whole = slots / group_threads;
    if (!whole)
        return r; /* it could not run: the figures of the device are not what they seem */
    r.groups = (uint32_t)whole;
    if (whole * group_threads < slots)
        r.limiter = ZS_LIMIT_GROUP_SIZE;
    if (shape->slm_B && k->subslice_slm_B)
        lower(&r, ZS_MAX(k->subslice_slm_B / allocated_slm_B(shape->slm_B), (uint64_t)1),
              ZS_LIMIT_SLM);
    if (kernel->barrier_count && k->subslice_barriers)
        lower(&r, k->subslice_barriers, ZS_LIMIT_BARRIERS);
    r.threads = (double)r.groups * (double)group_threads * k->subslices;
    return r;
}

static void occupancy_of(struct zs_profile *p, double *v)
{
    const struct zs_shape *shape = profile_main_shape(p);
    if (!shape || !p->peaks.threads || !p->code->kernel->simd)
        return;
    double group_threads = ceil(items_of(shape->size) / p->code->kernel->simd);
    struct residency r = residency_of(p, shape);
    v[ZS_Q_OCCUPANCY] = 100 * r.threads / p->peaks.threads;
    p->limiter = v[ZS_Q_OCCUPANCY] < 100 ? r.limiter : ZS_LIMIT_NOTHING;
    if (!shape->groups[0] || group_threads <= 0 || r.threads <= 0)
        return;
    v[ZS_Q_WAVES] = items_of(shape->groups) * group_threads / r.threads;
    v[ZS_Q_FILL] = v[ZS_Q_WAVES] < 1 ? 100 * v[ZS_Q_WAVES] : 100;
}

static double fits(const struct zs_profile *p, const struct zs_shape *shape)
{
    double percent = 100 * residency_of(p, shape).threads / p->peaks.threads;
    return percent < 100 ? percent : 100;
}

uint32_t zs_profile_occupancy_cases(const struct zs_profile *p,
                                    struct zs_occupancy_case ret[ZS_OCCUPANCY_CASES])
{
    const struct zs_shape *shape = profile_main_shape(p);
    uint32_t count = 0, items = shape ? (uint32_t)items_of(shape->size) : 0;
    if (!items || !p->code || !p->peaks.threads || !p->code->kernel->simd ||
        (!p->code->kernel->barrier_count && !shape->slm_B))
        return 0;
    for (uint32_t size = p->code->kernel->simd; size <= 1024 && count < 8; size *= 2) {
        struct zs_shape other = *shape;
        if (size / p->code->kernel->simd > p->peaks.slot_count)
            break;
        if (items > size / 2 && items < size) { /* the one that is launched, in its place */
            ret[count] = (struct zs_occupancy_case){"", fits(p, shape), true};
            snprintf(ret[count++].what, sizeof(ret->what), "groups of %u", items);
        }
        other.size[0] = size;
        other.size[1] = other.size[2] = 1;
        ret[count] = (struct zs_occupancy_case){"", fits(p, &other), size == items};
        snprintf(ret[count++].what, sizeof(ret->what), "groups of %u", size);
    }
    for (int part = 2; shape->slm_B && part >= 0; part -= 2) {
        struct zs_shape other = *shape;
        other.slm_B = part ? shape->slm_B / 2 : 0;
        ret[count] = (struct zs_occupancy_case){"", fits(p, &other), false};
        snprintf(ret[count++].what, sizeof(ret->what), "%s local memory", part ? "half the" : "no");
    }
    return count;
}

/* Time of the launches that were counted. */
static double counted_ns(const struct zs_profile *p)
{
    return p->timed ? (double)p->total_ns / (double)p->timed * (double)p->counted_launches
                    : (double)NAN;
}

static void from_device(struct zs_profile *p, double *v)
{
    double ns = counted_ns(p);
    occupancy_of(p, v);
    if (!p->is_counted)
        return;
    if (p->peaks.eus)
        v[ZS_Q_ISSUE] = sum_of(p, ZS_Q_ISSUE) / p->peaks.eus;
    if (!(ns > 0))
        return;
    v[ZS_Q_FLOP_RATE] = v[ZS_Q_FLOPS] / ns;
    v[ZS_Q_GLOBAL_RATE] = v[ZS_Q_GLOBAL_BYTES] / ns;
    v[ZS_Q_SLM_RATE] = v[ZS_Q_SLM_BYTES] / ns;
}

void profile_derive(struct zs_profile *p)
{
    for (int q = 0; q < ZS_QUANTITIES; q++)
        p->values[q] = NAN;
    if (p->insts)
        zs_module_values(p->code, p->values);
    from_trace(p, p->values);
    if (p->insts && p->is_counted)
        from_counts(p, p->values);
    if (p->insts && p->peaks.known)
        from_device(p, p->values);
}
