/* SPDX-License-Identifier: MIT */
/*
 * What the files of the driver share: objects, argument checks, results.
 *
 * The driver is thin: it checks arguments, keeps objects alive, records commands and runs them in
 * order on a thread per queue. Memory is host memory, registered with src/gpu, which runs kernels.
 */
#ifndef ZS_DRIVER_PRIV_H
#define ZS_DRIVER_PRIV_H

#include "driver/ddi.h"
#include "driver/log.h"
#include "driver/object.h"

#include "base/diag.h"
#include "gpu/gpu.h"

#include <pthread.h>

/* ---- Checks ------------------------------------------------------------------------------------
 * They return from the calling API function. __func__ is the API function's name. */

/* Log why a call is refused (ZS_LOG_WARN) and return the result. */
ze_result_t zs_refuse(ze_result_t result, const char *function, const char *format, ...)
    ZS_PRINTF(3, 4);
#define ZS_REFUSE(result, ...) zs_refuse((result), __func__, __VA_ARGS__)

#define ZS_OBJECT(type, var, h)                                                                    \
    struct zs_ze_##type *var = zs_ze_##type##_of(h);                                               \
    if (ZS_UNLIKELY(!var))                                                                         \
    return ZS_REFUSE(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, "%s is %s", #h,                          \
                     (h) ? "not a live handle of a " #type : "null")
#define ZS_CHECK_POINTER(p)                                                                        \
    do {                                                                                           \
        if (ZS_UNLIKELY(!(p)))                                                                     \
            return ZS_REFUSE(ZE_RESULT_ERROR_INVALID_NULL_POINTER, "%s is null", #p);              \
    } while (0)
/* Flags or an enumerator: largest legal value. */
#define ZS_CHECK_ENUM(value, max)                                                                  \
    do {                                                                                           \
        if (ZS_UNLIKELY((uint32_t)(value) > (uint32_t)(max)))                                      \
            return ZS_REFUSE(ZE_RESULT_ERROR_INVALID_ENUMERATION, "%s is 0x%x", #value,            \
                             (unsigned)(value));                                                   \
    } while (0)
#define ZS_CHECK(condition, result, ...)                                                           \
    do {                                                                                           \
        if (ZS_UNLIKELY(!(condition)))                                                             \
            return ZS_REFUSE((result), __VA_ARGS__);                                               \
    } while (0)

/* Where errno meets the API. */
ze_result_t zs_result_of_errno(int error);

/* The structure of that type in a chain of pNext; unknown ones are skipped. NULL: none. A chain of
 * more than 64 structures (a loop) ends. */
const void *zs_chain_find(const void *next, uint32_t stype);

/*
 * The API's pattern for lists: *count 0 asks how many, otherwise at most *count are wanted.
 * Returns how many items to write (0 when it was only asked, or when there is no array).
 */
uint32_t zs_list_count(uint32_t *count, uint32_t have, bool has_array);

/* ---- Driver, device, context -------------------------------------------------------------------
 */

struct zs_ze_driver {
    struct zs_object object;
    uint32_t device_count;
    struct zs_ze_device **devices;
    bool check;          /* ZESCOPE_CHECK=1: all memory checks, see report.h */
    bool check_surfaces; /* not ZESCOPE_CHECK=0: beyond a buffer's end is a fault there, too */
    uint64_t kernel_time_limit_ns; /* ZESCOPE_KERNEL_TIMEOUT, 0: none */
    pthread_mutex_t compiler_lock;
    _Atomic uint64_t appends; /* of launches */
};

struct zs_ze_device {
    struct zs_object object;
    struct zs_ze_driver *driver; /* lives as long as the process */
    const struct zs_gpu_model *model;
    struct zs_gpu_device *gpu;
    uint32_t index;
    uint64_t memory_B; /* what it reports, and the limit of what is allocated on it */
    _Atomic uint64_t used_B;
};

struct zs_ze_context {
    struct zs_object object;
    struct zs_ze_driver *driver;
    struct zs_gpu_memory *memory;
    _Atomic bool cancelled;           /* destroyed: running kernels stop */
    _Atomic bool lost;                /* a launch failed in it */
    pthread_rwlock_t memory_lock;     /* guards ranges */
    void *ranges;                     /* tsearch tree of struct zs_range, ordered by address */
    struct zs_range *_Atomic zombies; /* freed, pages still there */
    pthread_rwlock_t exec_lock;       /* read: a command runs; write: pages go or are replaced */
    pthread_mutex_t reservations_lock;
    struct zs_reservation *reservations; /* virtual memory */
    pthread_mutex_t workers_lock;
    pthread_cond_t workers_gone;
    struct zs_worker *workers; /* those of its queues and immediate lists that have a thread */
};

ze_result_t zs_context_status(struct zs_ze_context *context);
/* Whether devices[0..count) are all devices of the driver. */
bool zs_devices_valid(uint32_t count, ze_device_handle_t *devices);

/* Environment of a running process, set-id programs excepted. */
const char *zs_env(const char *name);

#endif
