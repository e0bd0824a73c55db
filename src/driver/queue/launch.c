/* SPDX-License-Identifier: MIT */
/* Launches: appended, then run by a worker. */
#include "driver/queue/launch.h"
#include "base/checks.h"
#include "base/clock.h"

#include "driver/memory/memory.h"
#include "driver/metrics/metrics.h"
#include "driver/module/counts.h"
#include "driver/queue/engine_time.h"
#include "driver/report.h"
#include "gpu/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const uint64_t GROUPS_MAX = UINT64_MAX / 4;

/* ---- Running -----------------------------------------------------------------------------------
 */

/* The rows of the kernel itself, made now; NULL: no memory. They live as long as it does. */
static struct zs_gpu_counters *kernel_counters(struct zs_ze_kernel *kernel)
{
    pthread_mutex_lock(&kernel->counters_lock);
    if (!kernel->counters)
        (void)!zs_gpu_counters_create(kernel->gpu, &kernel->counters);
    struct zs_gpu_counters *counters = kernel->counters;
    pthread_mutex_unlock(&kernel->counters_lock);
    return counters;
}

/* The counters that a launch adds to; NULL: none. */
static struct zs_gpu_counters *take_counters(struct zs_ze_kernel *kernel, enum zs_counting counting)
{
    struct zs_gpu_counters *counters = NULL;
    if (counting == ZS_COUNTING_LAUNCH)
        (void)!zs_gpu_counters_create(kernel->gpu, &counters);
    else if (counting == ZS_COUNTING_KERNEL)
        counters = kernel_counters(kernel);
    return counters;
}

/* What was counted apart for the callback belongs to the kernel's own rows as well. */
static void add_to_kernel(struct zs_ze_kernel *kernel, const struct zs_gpu_counters *counters)
{
    struct zs_gpu_counters *own = counters ? kernel_counters(kernel) : NULL;
    if (own)
        zs_gpu_counters_merge(own, counters);
}

static void print_output(const struct zs_ze_kernel *kernel, void *buffer)
{
    struct zs_buf text = {0};
    zs_gpu_printf_drain(kernel->gpu, kernel->module->context->memory, buffer, ZS_GPU_PRINTF_B,
                        &text);
    if (text.size_B && !text.error) {
        fwrite(text.data, 1, text.size_B, stdout);
        fflush(stdout);
    }
    zs_buf_fini(&text);
}

static void report_fault(const struct zs_launch *launch, const struct zs_gpu_result *result,
                         struct zs_buf *ret_text)
{
    char source[2048];
    const struct zs_kernel *kernel = launch->kernel->kernel;
    bool known =
        result->fault.instruction_offset_B != INT64_MIN &&
        zs_fault_line(launch->kernel, result->fault.instruction_offset_B, source, sizeof(source));
    if (result->fault.kind != ZS_GPU_FAULT_NONE)
        zs_report_fault(&result->fault, known ? source : NULL, ret_text);
    else
        zs_buf_printf(ret_text, "%s: %s", kernel->name, strerror(-result->error));
}

static void report_finding(void *context, const struct zs_gpu_finding *finding)
{
    const struct zs_launch *launch = context;
    char text[2][2048];
    const char *sources[2] = {NULL, NULL};
    for (uint32_t i = 0; i < finding->site_count; i++) {
        if (zs_fault_line(launch->kernel, finding->site[i].instruction_offset_B, text[i],
                          sizeof(text[i])))
            sources[i] = text[i];
    }
    if (!zs_gpu_finding_is_one_line(finding, sources))
        zs_report_finding(finding, sources);
}

static bool find_line(void *context, int64_t *offset_B, char *ret_text, size_t size_B)
{
    const struct zs_launch *launch = context;
    return zs_fault_line(launch->kernel, *offset_B, ret_text, size_B);
}

static int run_one(struct zs_exec *exec, const struct zs_launch *launch,
                   const uint32_t group_count[3])
{
    struct zs_ze_kernel *kernel = launch->kernel;
    struct zs_ze_driver *driver = exec->context->driver;
    enum zs_counting counting = zs_counts_wanted();
    struct zs_gpu_launch gpu = {
        .kernel = kernel->gpu,
        .args = launch->args->args,
        .memory = kernel->module->context->memory,
        .flags = (launch->cooperative ? ZS_GPU_LAUNCH_COOPERATIVE : 0u) |
                 (driver->check_surfaces ? ZS_GPU_LAUNCH_CHECK_SURFACES : 0u) |
                 (driver->check ? ZS_GPU_LAUNCH_STRICT : 0u) |
                 (driver->checks & ZS_CHECK_INIT ? ZS_GPU_LAUNCH_CHECK_UNWRITTEN : 0u) |
                 (driver->checks & ZS_CHECK_RACE ? ZS_GPU_LAUNCH_CHECK_RACES : 0u) |
                 (driver->checks & ZS_CHECK_SYNC ? ZS_GPU_LAUNCH_CHECK_SYNC : 0u) |
                 (launch->indirect_access ? ZS_GPU_LAUNCH_PIN_ALL : 0u) |
                 (driver->timing == ZS_DRIVER_TIMING_EXACT ? ZS_GPU_LAUNCH_TIME_EXACT : 0u),
        .cancel = exec->cancel,
        .time_limit_ns = driver->kernel_time_limit_ns,
        .counters = take_counters(kernel, counting),
        .found = report_finding,
        .found_context = (void *)(uintptr_t)launch,
        .command = exec->between.between ? &exec->between : NULL,
        .find_line = find_line};
    memcpy(gpu.group_count, group_count, sizeof(gpu.group_count));
    memcpy(gpu.group_size, launch->group_size, sizeof(gpu.group_size));
    memcpy(gpu.global_offset, launch->global_offset, sizeof(gpu.global_offset));
    if (zs_gpu_kernel_uses_printf(kernel->gpu)) {
        gpu.printf_buffer = calloc(1, ZS_GPU_PRINTF_B);
        gpu.printf_size_B = ZS_GPU_PRINTF_B;
        if (!gpu.printf_buffer)
            return -ENOMEM;
        zs_gpu_printf_init(gpu.printf_buffer, gpu.printf_size_B);
    }
    struct zs_gpu_result result = {0};
    struct zs_buf fault = {0};
    struct zs_launch_end end = {.launch = launch,
                                .device = exec->device,
                                .group_count = group_count,
                                .result = &result,
                                .start_ns = zs_now_ns()};
    bool counted = zs_metrics_launch_begin(exec->device);
    gpu.flags |= counted && zs_metrics_want_gains(exec->device) ? ZS_GPU_LAUNCH_TIME_GAINS : 0u;
    zs_memory_check_files(driver);
    int error = zs_gpu_launch_run(exec->device->gpu, &gpu, &result);
    end.end_ns = zs_now_ns();
    zs_metrics_launch_end(exec->device, counted, launch->kernel, &result);
    if (!zs_engine_wait(exec->device, result.end_ticks, exec->cancel) && !error)
        result.error = error = -ECANCELED;
    exec->start_ticks = result.start_ticks;
    exec->end_ticks = result.end_ticks;
    if (gpu.printf_buffer) {
        print_output(kernel, gpu.printf_buffer);
        free(gpu.printf_buffer);
    }
    if (error && error != -ECANCELED) {
        report_fault(launch, &result, &fault);
        end.fault = zs_buf_cstr(&fault);
    }
    if (counting == ZS_COUNTING_LAUNCH) {
        end.counters = gpu.counters;
        add_to_kernel(kernel, gpu.counters);
    }
    if (zs_counts_has_callback())
        zs_counts_report(&end);
    if (counting == ZS_COUNTING_LAUNCH && gpu.counters)
        zs_gpu_counters_destroy(gpu.counters);
    zs_buf_fini(&fault);
    zs_gpu_result_fini(&result);
    zs_log(ZS_LOG_DEBUG, "%s: %u x %u x %u groups of %u x %u x %u: %s", kernel->kernel->name,
           group_count[0], group_count[1], group_count[2], launch->group_size[0],
           launch->group_size[1], launch->group_size[2], error ? strerror(-error) : "done");
    return error;
}

static int run_launch(struct zs_exec *exec, const struct zs_launch *launch)
{
    if (!launch->indirect)
        return run_one(exec, launch, launch->group_count);
    ze_group_count_t count;
    zs_between_touch(&exec->between, launch->indirect, sizeof(count), false);
    int error = zs_memory_copy(exec->context, &count, NULL, launch->indirect, sizeof(count), NULL);
    const uint32_t group_count[3] = {count.groupCountX, count.groupCountY, count.groupCountZ};
    return error ? error : run_one(exec, launch, group_count);
}

/* Launches of one append: one, or several whose number stands in memory. */
struct launches {
    const uint32_t *count_buffer; /* NULL: all */
    uint32_t count;
    struct zs_launch items[];
};

static int run_launches(struct zs_exec *exec, struct zs_command *command)
{
    const struct launches *launches = command->data;
    uint32_t count = launches->count;
    uint64_t start_ticks = 0;
    int error = 0;
    if (launches->count_buffer) {
        zs_between_touch(&exec->between, launches->count_buffer, sizeof(count), false);
        error = zs_memory_copy(exec->context, &count, NULL, launches->count_buffer, sizeof(count),
                               NULL);
        count = ZS_MIN(count, launches->count);
    }
    for (uint32_t i = 0; i < count && !error; i++) {
        error = run_launch(exec, &launches->items[i]);
        if (i == 0)
            start_ticks = exec->start_ticks;
    }
    if (count > 1)
        exec->start_ticks = start_ticks;
    return error;
}

static void release_launches(struct zs_command *command)
{
    struct launches *launches = command->data;
    for (uint32_t i = 0; launches && i < launches->count; i++) {
        zs_arg_set_unref(launches->items[i].args);
        zs_object_unref(launches->items[i].kernel);
    }
    free(launches);
}

static const struct zs_op op_launch = {
    .name = "kernel launch", .run = run_launches, .release = release_launches};

/* ---- Appending ---------------------------------------------------------------------------------
 */

struct request {
    uint32_t count;
    ze_kernel_handle_t *kernels;
    const ze_group_count_t *group_counts;
    const uint32_t *count_buffer;
    bool indirect, cooperative;
};

static ze_result_t check_kernel(const char *function, const struct zs_ze_list *list,
                                ze_kernel_handle_t handle)
{
    struct zs_ze_kernel *kernel = zs_ze_kernel_of(handle);
    if (!kernel)
        return zs_refuse(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, function, "hKernel is %s",
                         handle ? "not a live kernel" : "null");
    if (list->ordinal != ZS_ORDINAL_COMPUTE)
        return zs_refuse(ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE, function,
                         "the list is of the copy group: it runs no kernels");
    if (!zs_devices_share(kernel->module->device, list->device))
        return zs_refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, function,
                         "%s is of another device than the list", kernel->kernel->name);
    uint32_t unset = zs_gpu_args_first_unset(kernel->args->args);
    if (unset != UINT32_MAX && !zs_lets_pass(function, "%s: argument %u was never set; taken as 0",
                                             kernel->kernel->name, unset))
        return zs_refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, function,
                         "%s: argument %u was never set", kernel->kernel->name, unset);
    return ZE_RESULT_SUCCESS;
}

/* What the device could not run however it is asked; sizes in memory are looked at as it runs. */
static ze_result_t check_size(const char *function, const struct zs_ze_kernel *kernel,
                              const struct request *request, uint32_t index)
{
    const struct zs_gpu_model *model = kernel->module->device->model;
    uint64_t items = 1, groups = 1;
    bool fits = true;
    for (int i = 0; i < 3; i++)
        fits = fits && zs_mul_u64(items, kernel->group_size[i], &items);
    if (!fits || items > model->max_group_items)
        return zs_refuse(ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION, function,
                         "%s: groups of %u x %u x %u, at most %u work-items", kernel->kernel->name,
                         kernel->group_size[0], kernel->group_size[1], kernel->group_size[2],
                         model->max_group_items);
    uint32_t slm_B = zs_gpu_args_slm_B(kernel->args->args);
    if (slm_B > model->slm_B)
        return zs_refuse(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, function,
                         "%s: %u bytes of local memory, a group has %u", kernel->kernel->name,
                         slm_B, model->slm_B);
    const ze_group_count_t *c = &request->group_counts[index];
    if (!request->indirect && (!zs_mul_u64(c->groupCountX, c->groupCountY, &groups) ||
                               !zs_mul_u64(groups, c->groupCountZ, &groups) || groups > GROUPS_MAX))
        return zs_refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, function,
                         "%s: %u x %u x %u groups are too many to count", kernel->kernel->name,
                         c->groupCountX, c->groupCountY, c->groupCountZ);
    return ZE_RESULT_SUCCESS;
}

static void fill(struct zs_launch *launch, struct zs_ze_kernel *kernel,
                 const struct request *request, uint32_t index, uint64_t append)
{
    launch->kernel = zs_object_ref(kernel);
    launch->args = kernel->args;
    atomic_fetch_add_explicit(&launch->args->refs, 1, memory_order_relaxed);
    memcpy(launch->group_size, kernel->group_size, sizeof(launch->group_size));
    memcpy(launch->global_offset, kernel->global_offset, sizeof(launch->global_offset));
    const ze_group_count_t *count = &request->group_counts[index];
    if (request->indirect) {
        launch->indirect = count;
    } else {
        launch->group_count[0] = count->groupCountX;
        launch->group_count[1] = count->groupCountY;
        launch->group_count[2] = count->groupCountZ;
    }
    launch->cooperative = request->cooperative;
    launch->indirect_access = kernel->indirect_access != 0;
    launch->append = append;
}

static ze_result_t append_launches(const char *function, ze_command_list_handle_t list_handle,
                                   const struct request *request, ze_event_handle_t signal,
                                   uint32_t wait_count, ze_event_handle_t *waits)
{
    struct zs_append append;
    ze_result_t result = zs_append_begin(function, list_handle, signal, wait_count, waits, &append);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    for (uint32_t i = 0; i < request->count && result == ZE_RESULT_SUCCESS; i++)
        result = check_kernel(function, append.list, request->kernels[i]);
    for (uint32_t i = 0; i < request->count && result == ZE_RESULT_SUCCESS; i++)
        result = check_size(function, zs_ze_kernel_of(request->kernels[i]), request, i);
    struct launches *launches = NULL;
    if (result == ZE_RESULT_SUCCESS) {
        launches = calloc(1, sizeof(*launches) + request->count * sizeof(struct zs_launch));
        result = launches ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (result != ZE_RESULT_SUCCESS)
        return zs_append_abandon(&append, result);
    launches->count = request->count;
    launches->count_buffer = request->count_buffer;
    uint64_t number = atomic_fetch_add(&append.list->context->driver->appends, 1) + 1;
    for (uint32_t i = 0; i < request->count; i++)
        fill(&launches->items[i], zs_ze_kernel_of(request->kernels[i]), request, i, number);
    append.command.op = &op_launch;
    append.command.data = launches;
    return zs_append_end(&append);
}

ze_result_t ZE_APICALL zeCommandListAppendLaunchKernel(ze_command_list_handle_t hCommandList,
                                                       ze_kernel_handle_t hKernel,
                                                       const ze_group_count_t *pLaunchFuncArgs,
                                                       ze_event_handle_t hSignalEvent,
                                                       uint32_t numWaitEvents,
                                                       ze_event_handle_t *phWaitEvents)
{
    ZS_OBJECT(list, list, hCommandList);
    ZS_OBJECT(kernel, kernel, hKernel);
    ZS_CHECK_POINTER(pLaunchFuncArgs);
    const struct request request = {
        .count = 1, .kernels = &hKernel, .group_counts = pLaunchFuncArgs};
    return append_launches(__func__, hCommandList, &request, hSignalEvent, numWaitEvents,
                           phWaitEvents);
}

ze_result_t ZE_APICALL zeCommandListAppendLaunchCooperativeKernel(
    ze_command_list_handle_t hCommandList, ze_kernel_handle_t hKernel,
    const ze_group_count_t *pLaunchFuncArgs, ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
    ze_event_handle_t *phWaitEvents)
{
    ZS_OBJECT(list, list, hCommandList);
    ZS_OBJECT(kernel, kernel, hKernel);
    ZS_CHECK_POINTER(pLaunchFuncArgs);
    uint32_t max = 0;
    ze_result_t result = zeKernelSuggestMaxCooperativeGroupCount(hKernel, &max);
    uint64_t groups = (uint64_t)pLaunchFuncArgs->groupCountX * pLaunchFuncArgs->groupCountY;
    ZS_CHECK(result == ZE_RESULT_SUCCESS && groups <= max &&
                 groups * pLaunchFuncArgs->groupCountZ <= max,
             ZE_RESULT_ERROR_INVALID_ARGUMENT, "at most %u groups can run together", max);
    const struct request request = {
        .count = 1, .kernels = &hKernel, .group_counts = pLaunchFuncArgs, .cooperative = true};
    return append_launches(__func__, hCommandList, &request, hSignalEvent, numWaitEvents,
                           phWaitEvents);
}

ze_result_t ZE_APICALL zeCommandListAppendLaunchKernelIndirect(
    ze_command_list_handle_t hCommandList, ze_kernel_handle_t hKernel,
    const ze_group_count_t *pLaunchArgumentsBuffer, ze_event_handle_t hSignalEvent,
    uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents)
{
    ZS_OBJECT(list, list, hCommandList);
    ZS_OBJECT(kernel, kernel, hKernel);
    ZS_CHECK_POINTER(pLaunchArgumentsBuffer);
    const struct request request = {
        .count = 1, .kernels = &hKernel, .group_counts = pLaunchArgumentsBuffer, .indirect = true};
    return append_launches(__func__, hCommandList, &request, hSignalEvent, numWaitEvents,
                           phWaitEvents);
}

ze_result_t ZE_APICALL zeCommandListAppendLaunchMultipleKernelsIndirect(
    ze_command_list_handle_t hCommandList, uint32_t numKernels, ze_kernel_handle_t *phKernels,
    const uint32_t *pCountBuffer, const ze_group_count_t *pLaunchArgumentsBuffer,
    ze_event_handle_t hSignalEvent, uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents)
{
    ZS_OBJECT(list, list, hCommandList);
    ZS_CHECK_POINTER(phKernels);
    ZS_CHECK_POINTER(pCountBuffer);
    ZS_CHECK_POINTER(pLaunchArgumentsBuffer);
    const struct request request = {.count = numKernels,
                                    .kernels = phKernels,
                                    .group_counts = pLaunchArgumentsBuffer,
                                    .count_buffer = pCountBuffer,
                                    .indirect = true};
    return append_launches(__func__, hCommandList, &request, hSignalEvent, numWaitEvents,
                           phWaitEvents);
}
