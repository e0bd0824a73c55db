/* SPDX-License-Identifier: MIT */
/* Counters of a launch, of what it gives. */
#include "gpu/metric/metric.h"

/* By the formula: EUs that hold threads hold them from the launch's start to its end. */
static void count_by_formula(const struct zs_gpu_model *model, const struct zs_gpu_result *result,
                             uint64_t *c)
{
    const struct zs_gpu_totals *t = &result->totals;
    uint64_t eus = zs_gpu_model_eus(model);
    uint64_t threads = ZS_MIN(t->threads, (uint64_t)zs_gpu_model_threads(model));
    c[ZS_METRIC_eu_loaded_cycles] = ZS_MIN(eus, t->threads) * result->modelled_cycles;
    c[ZS_METRIC_eu_active_cycles] = ZS_MIN(result->issue_cycles, c[ZS_METRIC_eu_loaded_cycles]);
    c[ZS_METRIC_eu_thread_cycles] = threads * result->modelled_cycles;
    c[ZS_METRIC_unmodelled] = 1;
}

/* What shaders and L3 exchanged: in lines, as the hardware counts its accesses, where the launch
 * was replayed. Which of both a launch gives is decided here, not by reports, which have parts of
 * launches and sums of several. */
static void count_shader_accesses(const struct zs_gpu_result *result, uint64_t *c)
{
    const struct zs_gpu_totals *t = &result->totals;
    const struct zs_gpu_timing *timing = &result->timing;
    if (timing->modelled) {
        c[ZS_METRIC_shader_accesses] =
            timing->global_sectors + timing->typed_sectors + timing->scratch_sectors;
        c[ZS_METRIC_shader_bytes] = 64 * c[ZS_METRIC_shader_accesses];
    } else {
        c[ZS_METRIC_shader_accesses] =
            t->untyped_messages + t->typed_messages + t->scratch_messages;
        c[ZS_METRIC_shader_bytes] = t->untyped_bytes_read + t->untyped_bytes_written +
                                    t->typed_bytes_read + t->typed_bytes_written +
                                    t->scratch_bytes_read + t->scratch_bytes_written;
    }
}

void zs_metric_count(const struct zs_gpu_model *model, const struct zs_gpu_result *result,
                     struct zs_metric_stretch *ret)
{
    const struct zs_gpu_totals *t = &result->totals;
    const struct zs_gpu_timing *timing = &result->timing;
    uint64_t *c = ret->counters;
    c[ZS_METRIC_launches] = 1;
    c[ZS_METRIC_busy_cycles] = result->modelled_cycles;
#define ZS_GPU_TOTAL(id, text) c[ZS_METRIC_##id] = t->id;
#include "gpu/total.def"
#undef ZS_GPU_TOTAL
    if (timing->modelled) {
#define ZS_TIMING_TOTAL(id, text) c[ZS_METRIC_##id] = timing->id;
#include "gpu/timing/total.def"
#undef ZS_TIMING_TOTAL
#define ZS_TIMING_GAIN(id, text) c[ZS_METRIC_gain_##id] = timing->gain_##id;
#include "gpu/timing/gain.def"
#undef ZS_TIMING_GAIN
#define ZS_TIMING_LIMIT(id, text) c[ZS_METRIC_limit_##id] = timing->limit_##id;
#include "gpu/timing/limit.def"
#undef ZS_TIMING_LIMIT
        c[ZS_METRIC_replayed] = timing->replayed;
        c[ZS_METRIC_doubt_cycles] = timing->doubt;
        c[ZS_METRIC_eu_loaded_cycles] = timing->eu_loaded;
        c[ZS_METRIC_eu_active_cycles] = timing->eu_active;
        c[ZS_METRIC_eu_thread_cycles] =
            timing->thread_active + timing->thread_control + timing->thread_pipe +
            timing->thread_send + timing->thread_dist + timing->thread_sbid + timing->thread_sync +
            timing->thread_other + timing->thread_fetch;
    } else {
        count_by_formula(model, result, c);
    }
    count_shader_accesses(result, c);
    ret->start_ticks = result->start_ticks;
    ret->end_ticks = ZS_MAX(result->end_ticks, result->start_ticks + 1);
}

void zs_metric_report_time(const struct zs_gpu_model *model, struct zs_metric_report *report)
{
    report->cycles = ZS_MAX(report->counters[ZS_METRIC_busy_cycles], 1u);
    report->elapsed_ns =
        ZS_MAX((uint64_t)((__uint128_t)report->cycles * 1000 / model->core_clock_MHz), 1u);
}

bool zs_metric_values_at(enum zs_metric_by_address kind, const struct zs_gpu_stalls *from,
                         uint64_t ret[static ZS_METRIC_ADDRESS_VALUES])
{
    bool stalls = kind == ZS_METRIC_STALLS_BY_ADDRESS;
    uint32_t count = stalls ? ZS_GPU_STALL_REASONS : ZS_GPU_ACCESSES;
    uint64_t any = 0;
    for (uint32_t i = 0; i < count; i++)
        any |= ret[i] = stalls ? from->cycles[i] : from->accesses[i];
    if (stalls)
        ret[ZS_GPU_STALL_REASONS] = from->estimated;
    return any != 0;
}
