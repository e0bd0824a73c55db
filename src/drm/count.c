/* SPDX-License-Identifier: MIT */
/* What instructions of kernels did, for a recorder in the same process; measure.c has their
 * metrics. */
#include "drm/drm_priv.h"

#include "gpu/walk.h"

#include <zescope/driver_ext.h>

#include <stdlib.h>
#include <string.h>

static struct {
    pthread_rwlock_t lock; /* read: a callback is running */
    zescope_walk_callback_t callback;
    void *user;
} watcher = {.lock = PTHREAD_RWLOCK_INITIALIZER};

__attribute__((visibility("default"))) void
zescope_set_walk_callback(zescope_walk_callback_t callback, void *user);

void zescope_set_walk_callback(zescope_walk_callback_t callback, void *user)
{
    pthread_rwlock_wrlock(&watcher.lock);
    watcher.callback = callback;
    watcher.user = user;
    pthread_rwlock_unlock(&watcher.lock);
}

bool zs_drm_counts_wanted(void)
{
    pthread_rwlock_rdlock(&watcher.lock);
    bool is_wanted = watcher.callback != NULL;
    pthread_rwlock_unlock(&watcher.lock);
    return is_wanted;
}

struct zs_gpu_counters *zs_drm_count_begin(const struct zs_gpu_walk_kernel *kernel)
{
    struct zs_gpu_counters *counters = NULL;
    if (zs_drm_counts_wanted() && zs_gpu_counters_create(zs_gpu_walk_kernel_of(kernel), &counters))
        counters = NULL;
    return counters;
}

static void tell(const struct zs_gpu_walk_kernel *kernel, struct zs_gpu_counters *counters,
                 const struct zs_gpu_model *model, const struct zs_gpu_result *result)
{
    zescope_walk_group_t *groups;
    uint32_t group_count = zs_drm_measure(model, result, &groups);
    size_t count = zs_gpu_counters_size(counters);
    struct zs_gpu_instruction_count *rows = calloc(count + 1, sizeof(*rows));
    zescope_instruction_count_t *told = calloc(count + 1, sizeof(*told));
    if (rows && told) {
        count = zs_gpu_counters_read(counters, rows, count);
        size_t own = 0; /* functions beside the kernel are of any module */
        while (own < count && rows[own].offset_B < 0)
            own++;
        memmove(rows, rows + own, (count - own) * sizeof(*rows));
        count -= own;
        for (size_t i = 0; i < count; i++)
            told[i] = (zescope_instruction_count_t){rows[i].offset_B, rows[i].executions,
                                                    rows[i].active_lanes, rows[i].bytes_read,
                                                    rows[i].bytes_written};
        const struct zs_gpu_walk_code *code = zs_gpu_walk_kernel_code(kernel);
        const zescope_walk_info_t info = {.size_B = sizeof(info),
                                          .code = code->code.data,
                                          .code_B = code->code.size_B,
                                          .simd = code->simd,
                                          .instruction_count = (uint32_t)count,
                                          .instructions = told,
                                          .address = code->gpu_va,
                                          .start_ticks = result->start_ticks,
                                          .group_count = group_count,
                                          .groups = groups};
        pthread_rwlock_rdlock(&watcher.lock);
        if (watcher.callback)
            watcher.callback(&info, watcher.user);
        pthread_rwlock_unlock(&watcher.lock);
    }
    zs_drm_measured_free(groups, group_count);
    free(rows);
    free(told);
}

void zs_drm_count_end(const struct zs_gpu_walk_kernel *kernel, struct zs_gpu_counters *counters,
                      const struct zs_gpu_model *model, const struct zs_gpu_result *result)
{
    if (counters && !result->error)
        tell(kernel, counters, model, result);
    zs_gpu_counters_destroy(counters);
}
