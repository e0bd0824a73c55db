/* SPDX-License-Identifier: MIT */
/* Launches and the model of time: kernels lowered with hooks, traces, replays. */
#include "gpu/gpu_priv.h"

#include <errno.h>
#include <stdlib.h>

static uint32_t slm_of_group(uint32_t slm_B)
{
    uint32_t size_B = 1024; /* the device gives powers of two */
    while (size_B < slm_B)
        size_B *= 2;
    return slm_B ? size_B : 0;
}

int zs_gpu_kernel_time(struct zs_gpu_kernel *kernel, const struct zs_eu_lower_params *params,
                       struct zs_diag *diag)
{
    const struct zs_timing_params *timing = zs_timing_params_find(kernel->device->model);
    struct zs_eu_lower_params hooked = *params;
    if (!timing)
        return 0;
    hooked.flags |= ZS_EU_LOWER_HOOK_BLOCKS | ZS_EU_LOWER_HOOK_MESSAGES | ZS_EU_LOWER_HOOKS_BLIND;
    int error = zs_eu_lower(&hooked, &kernel->timed_program, diag);
    if (error)
        return error;
    error = zs_timing_code_create(timing, kernel->timed_program, params->code, params->platform,
                                  &kernel->timing_code);
    if (error == -ENOMEM)
        return zs_diag_set(diag, error, ZS_DIAG_NO_OFFSET, "no memory for kernel %s",
                           kernel->module->name);
    if (error) { /* bytes that are no instructions: the formula stays */
        zs_eu_program_destroy(kernel->timed_program);
        kernel->timed_program = NULL;
        return 0;
    }
    zs_assert(zs_eu_program_counter_count(kernel->timed_program) ==
              zs_eu_program_counter_count(kernel->program));
    return 0;
}

int zs_gpu_run_trace(struct zs_gpu_run *run)
{
    const struct zs_gpu_kernel *kernel = run->kernel;
    if (!kernel->timing_code)
        return 0;
    const struct zs_kernel *m = kernel->module;
    const struct zs_gpu_model *model = run->device->model;
    bool own = run->private_memory.data != NULL;
    uint32_t private_thread_B = own ? m->private_per_hw_thread_B : run->launch->private_thread_B;
    const struct zs_timing_launch launch = {
        .store = run->device->timing,
        .workers = run->workers_max,
        .model = model,
        .params = zs_timing_params_find(model),
        .code = kernel->timing_code,
        .group_count = run->group_total,
        .threads_per_group = run->threads_per_group,
        .threads_per_eu = zs_gpu_model_threads_per_eu(model, m->grf_count),
        .slm_B = slm_of_group(run->slm_B),
        .payload_grf =
            (uint32_t)((kernel->per_thread_B + m->thread.cross_thread_B) / model->grf_B + 1),
        .has_barriers = m->barrier_count > 0,
        .simd = m->simd,
        .exact = run->launch->flags & ZS_GPU_LAUNCH_TIME_EXACT,
        .gains = run->launch->flags & ZS_GPU_LAUNCH_TIME_GAINS,
        .without = ZS_TIMING_GAINS,
        .private_va = own ? (uint64_t)(uintptr_t)run->private_memory.data : run->launch->private_va,
        .private_B = own || run->launch->private_va ? (uint64_t)private_thread_B * run->slots : 0,
        .private_thread_B = private_thread_B,
        .array_thread_B = ZS_MAX(zs_gpu_kernel_scratch_B(kernel), private_thread_B),
    };
    return zs_timing_trace_create(&launch, &run->trace);
}

bool zs_gpu_is_traced(struct zs_gpu_run *run, const struct zs_gpu_worker *w,
                      const struct zs_gpu_group *group)
{
    if (!group->traced || ZS_LIKELY(!w->debug))
        return group->traced;
    atomic_store_explicit(&run->was_debugged, true, memory_order_relaxed);
    return false;
}

void zs_gpu_run_replay(struct zs_gpu_run *run, struct zs_gpu_result *ret)
{
    if (!run->trace || ret->error || atomic_load(&run->was_debugged))
        return;
    const struct zs_eu_program *program = run->kernel->program;
    size_t count = zs_eu_program_inst_count(program);
    uint64_t *executions = calloc(2 * count + 1, sizeof(*executions));
    if (!executions)
        return;
    zs_eu_program_counters_expand(program, run->sums, executions, executions + count);
    int error = zs_timing_replay(run->trace, ret->totals.instructions, executions,
                                 executions + count, &ret->timing);
    free(executions);
    if (error)
        return;
    for (uint32_t i = 0; i < ret->timing.stall_count; i++)
        ret->timing.stalls[i].offset_B -= (int64_t)run->kernel->entry_B;
    ret->modelled_cycles = ret->timing.cycles;
}

uint32_t zs_gpu_model_lacks(const struct zs_gpu_model *model)
{
    static const uint32_t l1 = 1u << ZS_GPU_ACCESS_l1_hits | 1u << ZS_GPU_ACCESS_l1_misses,
                          llc = 1u << ZS_GPU_ACCESS_llc_hits | 1u << ZS_GPU_ACCESS_llc_misses;
    const struct zs_timing_params *p = zs_timing_params_find(model);
    return p ? (p->l1_ways ? 0 : l1) | (p->llc_ways ? 0 : llc) : 0;
}

bool zs_gpu_model_is_timed(const struct zs_gpu_model *model)
{
    return zs_timing_params_find(model) != NULL;
}
