/* SPDX-License-Identifier: MIT */
/* The timing model: docs/timing.md. Deterministic, from counts alone. */
#include "gpu/gpu_priv.h"

enum {
    LAUNCH_CYCLES = 1000, /* from the walker's start to the first thread, and back */
    THREAD_CYCLES = 30,   /* dispatch of an EU thread */
    BARRIER_CYCLES = 30,
    L3_B_PER_CYCLE = 64,  /* per subslice */
    SLM_B_PER_CYCLE = 64, /* per subslice */
    ATOMIC_CYCLES = 16,   /* per message, per slice */
    TEXELS_PER_CYCLE = 4, /* per subslice */
};

uint64_t zs_gpu_timing_cycles(const struct zs_gpu_model *model, const struct zs_gpu_totals *t,
                              uint64_t weighted)
{
    if (t->threads == 0)
        return 0;
    uint64_t subslices = (uint64_t)model->slices * model->subslices_per_slice;
    uint64_t eus = zs_gpu_model_eus(model);
    uint64_t busy_eus = ZS_MIN(eus, t->threads);
    uint64_t busy_subslices = ZS_MIN(subslices, t->threads);
    uint64_t issue = weighted / busy_eus;
    uint64_t global = (t->untyped_bytes_read + t->untyped_bytes_written + t->typed_bytes_read +
                       t->typed_bytes_written + t->scratch_bytes_read + t->scratch_bytes_written +
                       t->argument_bytes_read) /
                      (busy_subslices * L3_B_PER_CYCLE);
    uint64_t slm = (t->slm_bytes_read + t->slm_bytes_written) / (busy_subslices * SLM_B_PER_CYCLE);
    uint64_t sampler = t->sampler_texels / (busy_subslices * TEXELS_PER_CYCLE);
    uint64_t atomic = t->atomics * ATOMIC_CYCLES / model->slices;
    uint64_t longest = ZS_MAX(ZS_MAX(issue, global), ZS_MAX(ZS_MAX(slm, sampler), atomic));
    return LAUNCH_CYCLES + longest + t->threads * THREAD_CYCLES / busy_eus +
           t->barriers * BARRIER_CYCLES / busy_eus;
}
