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
#include "driver/module/places.h"
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
    ZS_CHECK_OBJECT(type, var, h)
/* With a reference until the block ends: of objects that another thread may destroy meanwhile. */
#define ZS_OBJECT_REF(type, var, h)                                                                \
    __attribute__((cleanup(zs_object_unref_var))) struct zs_ze_##type *var =                       \
        zs_object_ref_of(h, ZS_OBJECT_##type);                                                     \
    ZS_CHECK_OBJECT(type, var, h)
#define ZS_CHECK_OBJECT(type, var, h)                                                              \
    do {                                                                                           \
        if (ZS_UNLIKELY(!(var)))                                                                   \
            return zs_refuse_handle(h, #h, #type, __func__);                                       \
    } while (0)
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

/* The same for a handle that is none of that type. name: of the parameter. */
ze_result_t zs_refuse_handle(const void *handle, const char *name, const char *type,
                             const char *function);
/* What was refused last in this thread. */
const char *zs_last_error(void);
/*
 * What the specification forbids and Intel's driver takes: false when it is to be refused, which is
 * so under run --check; otherwise the log tells what is wrong with it.
 */
bool zs_lets_pass(const char *function, const char *format, ...) ZS_PRINTF(2, 3);
/* Flags: those that have a meaning. */
#define ZS_CHECK_FLAGS(value, known)                                                               \
    do {                                                                                           \
        uint32_t unknown_flags_ = (uint32_t)(value) & ~(uint32_t)(known);                          \
        if (ZS_UNLIKELY(unknown_flags_) &&                                                         \
            !zs_lets_pass(__func__, "%s has 0x%x, which means nothing", #value, unknown_flags_))   \
            return ZS_REFUSE(ZE_RESULT_ERROR_INVALID_ENUMERATION, "%s is 0x%x", #value,            \
                             (unsigned)(value));                                                   \
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

enum { ZS_DEVICES_MAX = 64, ZS_SUB_DEVICES_MAX = 16 };

/* Groups of queues. */
enum { ZS_ORDINAL_COMPUTE, ZS_ORDINAL_COPY, ZS_ORDINAL_COUNT };

enum zs_driver_eu {
    ZS_DRIVER_EU_INTERPRETED, /* none */
    ZS_DRIVER_EU_AUTO,        /* those that have run for a while */
    ZS_DRIVER_EU_COMPILED,    /* all, before they run */
    ZS_DRIVER_EU_DEFAULT = ZS_DRIVER_EU_AUTO,
};
enum zs_driver_timing {
    ZS_DRIVER_TIMING_FORMULA,
    ZS_DRIVER_TIMING_MODEL,
    ZS_DRIVER_TIMING_EXACT, /* ... that replays much more of long launches */
};

struct zs_ze_driver {
    struct zs_object object;
    uint32_t device_count;
    struct zs_ze_device **devices; /* what zeDeviceGet gives */
    uint32_t owned_count;
    struct zs_ze_device **owned; /* all but the sub-devices, which their root devices own */
    unsigned checks;             /* ZESCOPE_CHECK: ZS_CHECK_* of base/checks.h */
    bool check;                  /* ... with memory: all checks of it, see report.h */
    bool dumps;                  /* ZESCOPE_EU=dump: what kernels become, to stderr */
    enum zs_driver_eu eu;        /* ZESCOPE_EU: which kernels become code of the host */
    bool check_surfaces; /* not ZESCOPE_CHECK=0: beyond a buffer's end is a fault there, too */
    enum zs_driver_timing timing;     /* ZESCOPE_TIMING */
    _Atomic uint64_t next_code_va;    /* of kernels, for metrics by address */
    uint64_t kernel_time_limit_ns;    /* ZESCOPE_KERNEL_TIMEOUT, 0: none */
    struct zs_gpu_memory *memory;     /* of all contexts; NULL: each has its own, for checks */
    struct zs_quarantine *quarantine; /* of freed memory, for checks: memory/quarantine.h */
    struct zs_order *order;           /* of commands, for the check of races: queue/order.h */
    _Atomic(struct zs_lost_pages *) lost_pages; /* see pages.h; NULL: there never were any */
    pthread_mutex_t files_lock;
    struct zs_range *files; /* imported ones that may become smaller */
    _Atomic uint32_t file_count;
    struct zs_compiler *compiler;
    struct zs_debug_server *debug; /* NULL: ZET_ENABLE_PROGRAM_DEBUGGING is not 1 */
    pthread_mutex_t contexts_lock;
    struct zs_ze_context *contexts; /* that are not destroyed */
    _Atomic uint32_t context_count;
    _Atomic uint64_t appends; /* of launches */
    pthread_mutex_t default_lock;
    ze_context_handle_t default_context; /* NULL: nobody asked for it */
};

struct zs_ze_device {
    struct zs_object object;
    struct zs_ze_driver *driver;      /* lives as long as the process */
    const struct zs_gpu_model *model; /* own_model: of all its tiles together */
    struct zs_gpu_model own_model;
    struct zs_gpu_device *gpu;
    uint32_t index;              /* in driver->devices; a tile: its root's */
    uint32_t card, tile;         /* in ZESCOPE_DEVICES; tile 0: it is no tile */
    struct zs_ze_device *parent; /* of a tile; NULL: it is a root device */
    uint32_t sub_index;          /* in parent->subs */
    uint32_t sub_count;
    struct zs_ze_device *subs[ZS_SUB_DEVICES_MAX];
    bool hidden;             /* a root that zeDeviceGet does not give */
    bool flat;               /* a tile that is reported as a root device */
    uint64_t memory_B;       /* what it reports, and the limit of what is allocated on it */
    _Atomic uint64_t used_B; /* on it and its tiles */
    struct zs_metrics *_Atomic metrics; /* NULL: nobody asked for any yet */
    struct {                            /* for streamers of other processes */
        pthread_mutex_t lock;
        _Atomic uint64_t next_ticks;
        struct timespec seen; /* the folder of claims, as nobody was there; 0: somebody may be */
    } metric_look;
    pthread_mutex_t engines_lock;          /* a root's: of the next, of itself and its tiles */
    uint64_t busy_ticks[ZS_ORDINAL_COUNT]; /* up to when its engines are (engine_time.h) */
    /* With driver->debug: threads of the root device, and which slices of it are this one's. */
    struct zs_gpu_debug_card *debug_card;
    uint32_t first_slice;
};

/* topology.c: the devices that the environment asks for; false: none, the log says why. */
bool zs_topology_make(struct zs_ze_driver *driver);
void zs_topology_free(struct zs_ze_driver *driver);
/* The same device, or tiles and root of one: what is made for one may be used on the other. */
bool zs_devices_share(const struct zs_ze_device *a, const struct zs_ze_device *b);

struct zs_ze_context {
    struct zs_object object;
    struct zs_ze_driver *driver;
    uint32_t device_count; /* 0: all devices */
    struct zs_ze_device **devices;
    struct zs_gpu_memory *memory;      /* the driver's, or its own */
    _Atomic bool cancelled;            /* destroyed: running kernels stop */
    _Atomic bool lost;                 /* a launch failed in it */
    pthread_rwlock_t memory_lock;      /* guards ranges */
    void *ranges;                      /* tsearch tree of struct zs_range, ordered by address */
    pthread_mutex_t code_lock;         /* of the next three */
    struct zs_ze_module *code_modules; /* with functions, in no order */
    struct zs_code_places places;
    uint64_t code_base_va;    /* where ip 0 is for debuggers; 0: nowhere */
    uint32_t code_generation; /* modules with functions that there have been */
    pthread_mutex_t reservations_lock;
    struct zs_reservation *reservations; /* virtual memory */
    pthread_mutex_t workers_lock;
    pthread_cond_t workers_gone;
    struct zs_engine *engines; /* made by the first queue or immediate list that needs one */
    uint32_t engine_threads;
    struct zs_ze_context *next, *previous; /* of the driver's, under contexts_lock */
    bool is_listed;
};

/*
 * Programs hand pointers of one context to kernels of another, which Intel's driver lets pass:
 * all contexts of the driver but `context`, each with a reference that the caller
 * gives back. *ret_contexts is to be freed. 0: there is none, memory checks are on, or no memory.
 */
uint32_t zs_contexts_beside(const struct zs_ze_context *context,
                            struct zs_ze_context ***ret_contexts);

ze_result_t zs_context_status(struct zs_ze_context *context);
/* Whether devices[0..count) are all devices of the driver. */
bool zs_devices_valid(uint32_t count, ze_device_handle_t *devices);
/* Whether the context was made for the device, one of its tiles or its root device. */
bool zs_context_has(const struct zs_ze_context *context, const struct zs_ze_device *device);
#define ZS_CHECK_MEMBER(context, device)                                                           \
    ZS_CHECK(zs_context_has(context, device), ZE_RESULT_ERROR_INVALID_ARGUMENT,                    \
             "the context was not made for %s (device %u)", (device)->model->name,                 \
             (device)->index)

/* Environment of a running process, set-id programs excepted. */
const char *zs_env(const char *name);

#endif
