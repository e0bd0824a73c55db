/* SPDX-License-Identifier: MIT */
/* A kernel under the roofs of its device: operations by their peak rate, bytes by the rates of what
 * they move through. */
#include "metrics/analysis_priv.h"

#include <math.h>
#include <string.h>

static double counted_ns(const struct zs_profile *p)
{
    return p->timed ? (double)p->total_ns / (double)p->timed * (double)p->counted_launches
                    : (double)NAN;
}

/* The precision of most floating-point operations; without any integers count. */
static void set_operations(const struct zs_profile *p, struct zs_roofline *r)
{
    static const struct {
        enum zs_quantity quantity;
        enum zs_precision precision;
        const char *name;
    } rows[] = {{ZS_Q_FLOPS_SINGLE, ZS_SINGLE, "single precision"},
                {ZS_Q_FLOPS_HALF, ZS_HALF, "half precision"},
                {ZS_Q_FLOPS_DOUBLE, ZS_DOUBLE, "double precision"}};
    size_t best = 0;
    for (size_t i = 1; i < ZS_ARRAY_LEN(rows); i++)
        if (p->values[rows[i].quantity] > p->values[rows[best].quantity])
            best = i;
    r->count = p->values[ZS_Q_FLOPS];
    r->precision = rows[best].name;
    r->peak = p->peaks.flop_rate[rows[best].precision];
    if (r->count == 0) {
        r->count = p->values[ZS_Q_INT_OPS];
        r->operations = "ops";
        r->rate_unit = "Gop/s";
        r->precision = "";
        /* as many lanes; there is no fused operation that counts as two */
        r->peak = p->peaks.flop_rate[ZS_SINGLE] / 2;
    }
}

/* What kernels multiply by dpas that do most of their work there: the elements with most of it. */
static void set_matrix_operations(const struct zs_profile *p, struct zs_roofline *r)
{
    double by_type[ZS_TYPE_COUNT] = {0}, floats = 0;
    const struct zs_inst_profile *most = NULL;
    for (uint32_t i = 0; i < p->inst_count; i++) {
        const struct zs_inst_profile *n = &p->insts[i];
        double operations = zs_profile_share(p, ZS_Q_MATRIX_OPS, i);
        if (!(operations > 0))
            continue;
        floats += zs_profile_share(p, ZS_Q_FLOPS, i);
        by_type[n->matrix_type] += operations;
        if (!most || by_type[n->matrix_type] > by_type[most->matrix_type])
            most = n;
    }
    if (!most || p->values[ZS_Q_MATRIX_OPS] < p->values[ZS_Q_FLOPS] - floats)
        return;
    r->count = p->values[ZS_Q_MATRIX_OPS];
    r->operations = most->precision == ZS_NOT_FLOAT ? "ops" : "flop";
    r->rate_unit = most->precision == ZS_NOT_FLOAT ? "Gop/s" : "Gflop/s";
    r->precision = most->matrix_type == ZS_TYPE_BF     ? "matrices of bfloat16"
                   : most->matrix_type == ZS_TYPE_TF32 ? "matrices of tf32"
                   : most->precision == ZS_HALF && most->matrix_elements == 2
                       ? "matrices in half precision"
                   : most->matrix_elements == 4 ? "matrices of bytes"
                                                : "matrices of 4 bits and fewer";
    r->peak = p->peaks.matrix_rate * most->matrix_elements;
}

static void add_roof(struct zs_judged *to, const char *name, double bytes, double rate, double ns)
{
    struct zs_roofline *r = &to->roofline;
    struct zs_roof *roof = &to->roofs[r->roof_count];
    if (!(bytes > 0))
        return;
    *roof = (struct zs_roof){.name = name, .bytes = bytes, .rate = rate};
    roof->intensity = r->count / bytes;
    roof->asked_rate = bytes / ns;
    roof->attainable = fmin(r->peak, roof->intensity * rate);
    r->roof_count++;
}

/* Of all launches, where a group measured some of them; NaN: it is not there. */
static double of_all_launches(const struct zs_rank_analysis *a, const struct zs_profile *p,
                              const char *name)
{
    const struct zs_profile_metric *metrics = a->profiles->metrics.items;
    for (size_t m = 0; m < a->profiles->metrics.count; m++)
        if (!strcmp(metrics[m].name, name) && !metrics[m].is_time_based && !isnan(p->metrics[m]))
            return p->metrics[m] / p->metric_parts[m];
    return analysis_metric((struct zs_rank_analysis *)(uintptr_t)a, name);
}

void roofline_make(const struct zs_rank_analysis *a, const struct zs_profile *p,
                   struct zs_judged *to)
{
    struct zs_roofline *r = &to->roofline;
    const double *v = p->values;
    double ns = counted_ns(p), clock = p->peaks.known ? p->peaks.clock_GHz : (double)NAN;
    *r = (struct zs_roofline){.roofs = to->roofs,
                              .count = NAN,
                              .rate = NAN,
                              .peak = NAN,
                              .bound = "",
                              .operations = "flop",
                              .rate_unit = "Gflop/s",
                              .precision = "",
                              .attainable = NAN,
                              .compute_ns = NAN,
                              .memory_ns = NAN};
    if (!p->is_counted || !p->insts)
        return;
    set_operations(p, r);
    set_matrix_operations(p, r);
    r->rate = ns > 0 ? r->count / ns : (double)NAN;
    add_roof(to, ROOF_LOCAL_MEMORY, v[ZS_Q_SLM_BYTES], p->peaks.slm_rate, ns);
    add_roof(to, "L3", v[ZS_Q_GLOBAL_BYTES] + v[ZS_Q_SCRATCH_BYTES] + v[ZS_Q_IMAGE_BYTES],
             p->peaks.l3_rate, ns);
    double moved =
        of_all_launches(a, p, "MemoryBytesRead") + of_all_launches(a, p, "MemoryBytesWritten");
    if (isnan(moved))
        moved = of_all_launches(a, p, "GPU_MEMORY_BYTE_READ") +
                of_all_launches(a, p, "GPU_MEMORY_BYTE_WRITE");
    add_roof(to, "memory", moved, p->peaks.memory_rate, ns);
    r->attainable = r->peak;
    r->bound = isnan(r->peak) ? "" : "compute";
    r->compute_ns = v[ZS_Q_ISSUE] / clock;
    r->memory_ns = 0;
    for (uint32_t i = 0; i < r->roof_count; i++) {
        const struct zs_roof *roof = &r->roofs[i];
        double least_ns = roof->bytes / roof->rate;
        r->memory_ns = least_ns > r->memory_ns ? least_ns : r->memory_ns;
        if (roof->attainable < r->attainable) {
            r->attainable = roof->attainable;
            r->bound = roof->name;
        }
    }
}
