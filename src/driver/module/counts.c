/* SPDX-License-Identifier: MIT */
#include "driver/module/counts.h"

#include <zescope/driver_ext.h>

#include <stdlib.h>

/* One callback per process, as the interface says: tools that use it are loaded once. */
static struct {
    pthread_rwlock_t lock; /* read: a callback runs */
    zescope_launch_callback_t callback;
    void *user;
    _Atomic bool has_callback, counts_for_callback, counts;
    _Atomic uint64_t launches;
} state = {.lock = PTHREAD_RWLOCK_INITIALIZER};

static const char *const total_names[] = {
#define ZS_GPU_TOTAL(id, text) #id,
#include "gpu/total.def"
#undef ZS_GPU_TOTAL
};

enum zs_counting zs_counts_wanted(void)
{
    if (atomic_load_explicit(&state.counts_for_callback, memory_order_relaxed))
        return ZS_COUNTING_LAUNCH;
    return atomic_load_explicit(&state.counts, memory_order_relaxed) ? ZS_COUNTING_KERNEL
                                                                     : ZS_COUNTING_OFF;
}

bool zs_counts_has_callback(void)
{
    return atomic_load_explicit(&state.has_callback, memory_order_relaxed);
}

void zs_counts_init(void)
{
    const char *text = zs_env("ZESCOPE_COUNTS");
    if (text && *text && strcmp(text, "0") != 0)
        atomic_store(&state.counts, true);
}

void zs_counts_after_fork(void)
{
    pthread_rwlock_init(&state.lock, NULL);
}

/* ---- Rows --------------------------------------------------------------------------------------
 */

/* The rows of counters in the extension's form; NULL: no memory, or none. */
static zescope_instruction_count_t *read_rows(struct zs_gpu_counters *counters, size_t *ret_count)
{
    size_t capacity = zs_gpu_counters_size(counters);
    struct zs_gpu_instruction_count *rows = calloc(capacity + 1, sizeof(*rows));
    zescope_instruction_count_t *out = calloc(capacity + 1, sizeof(*out));
    *ret_count = rows && out ? zs_gpu_counters_read(counters, rows, capacity) : 0;
    for (size_t i = 0; i < *ret_count; i++)
        out[i] = (zescope_instruction_count_t){.offset_B = rows[i].offset_B,
                                               .executions = rows[i].executions,
                                               .active_lanes = rows[i].active_lanes,
                                               .bytes_read = rows[i].bytes_read,
                                               .bytes_written = rows[i].bytes_written};
    free(rows);
    return out;
}

static ze_result_t ZE_APICALL zescopeKernelGetCounts(ze_kernel_handle_t hKernel, uint32_t *pCount,
                                                     zescope_instruction_count_t *pCounts)
{
    ZS_OBJECT(kernel, kernel, hKernel);
    ZS_CHECK_POINTER(pCount);
    pthread_mutex_lock(&kernel->counters_lock);
    size_t count = 0;
    bool counted = kernel->counters != NULL;
    zescope_instruction_count_t *rows = counted ? read_rows(kernel->counters, &count) : NULL;
    pthread_mutex_unlock(&kernel->counters_lock);
    if (!counted)
        return ZE_RESULT_NOT_READY;
    uint32_t give = zs_list_count(pCount, (uint32_t)count, pCounts != NULL);
    if (give && rows)
        memcpy(pCounts, rows, give * sizeof(*rows));
    free(rows);
    return ZE_RESULT_SUCCESS;
}

static ze_result_t ZE_APICALL zescopeKernelResetCounts(ze_kernel_handle_t hKernel)
{
    ZS_OBJECT(kernel, kernel, hKernel);
    pthread_mutex_lock(&kernel->counters_lock);
    if (kernel->counters)
        zs_gpu_counters_reset(kernel->counters);
    pthread_mutex_unlock(&kernel->counters_lock);
    return ZE_RESULT_SUCCESS;
}

/* ---- Callback ----------------------------------------------------------------------------------
 */

static ze_result_t ZE_APICALL zescopeDriverSetLaunchCallback(ze_driver_handle_t hDriver,
                                                             zescope_launch_callback_t callback,
                                                             void *user, ze_bool_t counts)
{
    if (!hDriver) /* among several drivers the loader's own handle, which says nothing here */
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    pthread_rwlock_wrlock(&state.lock);
    state.callback = callback;
    state.user = user;
    atomic_store(&state.has_callback, callback != NULL);
    atomic_store(&state.counts_for_callback, callback && counts);
    pthread_rwlock_unlock(&state.lock);
    return ZE_RESULT_SUCCESS;
}

void zs_counts_report(const struct zs_launch_end *end)
{
    const struct zs_launch *launch = end->launch;
    const struct zs_gpu_result *result = end->result;
    size_t row_count = 0;
    zescope_instruction_count_t *rows = end->counters ? read_rows(end->counters, &row_count) : NULL;
    uint64_t totals[ZS_ARRAY_LEN(total_names)] = {
#define ZS_GPU_TOTAL(id, text) result->totals.id,
#include "gpu/total.def"
#undef ZS_GPU_TOTAL
    };
    zescope_launch_info_t info = {
        .size_B = sizeof(info),
        .launch = atomic_fetch_add(&state.launches, 1) + 1,
        .append = launch->append,
        .kernel = launch->kernel->object.handle,
        .module = launch->kernel->module->object.handle,
        .kernel_name = launch->kernel->kernel->name,
        .device_index = end->device->index,
        .simd = launch->kernel->kernel->simd,
        .result = zs_result_of_errno(result->error),
        .fault = end->fault,
        .start_ticks = result->start_ticks,
        .end_ticks = result->end_ticks,
        .start_ns = end->start_ns,
        .end_ns = end->end_ns,
        .modelled_cycles = result->modelled_cycles,
        .total_count = ZS_ARRAY_LEN(total_names),
        .total_names = total_names,
        .totals = totals,
        .instruction_count = (uint32_t)row_count,
        .instructions = rows,
        .replayed_instructions = result->timing.modelled ? result->timing.replayed : 0,
        .code_address = launch->kernel->code_va,
        .doubt_cycles = result->timing.modelled ? result->timing.doubt : 0};
    memcpy(info.group_size, launch->group_size, sizeof(info.group_size));
    memcpy(info.group_count, end->group_count, sizeof(info.group_count));
    pthread_rwlock_rdlock(&state.lock);
    if (state.callback)
        state.callback(&info, state.user);
    pthread_rwlock_unlock(&state.lock);
    free(rows);
}

/* ---- Names -------------------------------------------------------------------------------------
 */

void *zs_counts_function(const char *name)
{
    static const struct {
        const char *name;
        void (*function)(void);
        bool counts; /* asking for it turns counting on */
    } rows[] = {
        {ZESCOPE_KERNEL_GET_COUNTS_NAME, (void (*)(void))zescopeKernelGetCounts, true},
        {ZESCOPE_KERNEL_RESET_COUNTS_NAME, (void (*)(void))zescopeKernelResetCounts, true},
        {ZESCOPE_DRIVER_SET_LAUNCH_CALLBACK_NAME, (void (*)(void))zescopeDriverSetLaunchCallback,
         false},
    };
    for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        if (strcmp(rows[i].name, name) == 0) {
            if (rows[i].counts)
                atomic_store(&state.counts, true);
            return (void *)rows[i].function;
        }
    }
    return NULL;
}
