/* SPDX-License-Identifier: MIT */
/*
 * What zescope's Level Zero driver (the software GPU) tells beyond the standard API. Each function
 * is found by its name with zeDriverGetExtensionFunctionAddress; on other drivers that call fails,
 * and the question is answered otherwise or not at all.
 *
 *     zescope_pfnKernelGetCounts_t get_counts = NULL;
 *     if (zeDriverGetExtensionFunctionAddress(driver, ZESCOPE_KERNEL_GET_COUNTS_NAME,
 *                                             (void **)&get_counts) == ZE_RESULT_SUCCESS)
 *         ...
 *
 * Asking for one of the functions that give counts per instruction turns counting on, for launches
 * that start later; so does ZESCOPE_COUNTS=1 in the environment of zeInit. Handles are the
 * driver's own: with several drivers in one process the loader hands out wrapped handles, which
 * these functions refuse with ZE_RESULT_ERROR_INVALID_NULL_HANDLE; use the callback then, which any
 * handle of a driver sets.
 *
 * Threads: all may be called from any thread.
 */
#ifndef ZESCOPE_DRIVER_EXT_H
#define ZESCOPE_DRIVER_EXT_H

#include <level_zero/zet_api.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ZESCOPE_KERNEL_GET_COUNTS_NAME          "zescopeKernelGetCounts"
#define ZESCOPE_KERNEL_RESET_COUNTS_NAME        "zescopeKernelResetCounts"
#define ZESCOPE_DRIVER_SET_LAUNCH_CALLBACK_NAME "zescopeDriverSetLaunchCallback"

/* Of one machine instruction. Exact and, for kernels without races, the same in every run. */
typedef struct zescope_instruction_count {
    int64_t offset_B;      /* from the kernel's first instruction; negative: in a function that
                              the kernel calls and that stands before it in the module */
    uint64_t executions;   /* by EU threads */
    uint64_t active_lanes; /* summed over the executions */
    uint64_t bytes_read;   /* messages: by the active lanes */
    uint64_t bytes_written;
} zescope_instruction_count_t;

/*
 * Counts of all launches of a kernel object that have completed, ascending by offset, one row per
 * instruction. *pCount 0: how many rows there are. ZE_RESULT_NOT_READY: no launch was counted yet.
 */
typedef ze_result_t(ZE_APICALL *zescope_pfnKernelGetCounts_t)(ze_kernel_handle_t hKernel,
                                                              uint32_t *pCount,
                                                              zescope_instruction_count_t *pCounts);
typedef ze_result_t(ZE_APICALL *zescope_pfnKernelResetCounts_t)(ze_kernel_handle_t hKernel);

/*
 * What a kernel became, as text: its instructions and the operations that the software GPU executes
 * for each; the module in LLVM's language that code of the host is made of; that code, as an
 * assembler takes it. pText NULL: *pSize is what the text takes with its NUL; else at most *pSize
 * bytes are written. ZE_RESULT_ERROR_UNSUPPORTED_FEATURE: it is not compiled here, and the text
 * says why.
 */
#define ZESCOPE_KERNEL_GET_LOWERED_NAME "zescopeKernelGetLowered"
typedef enum zescope_lowered_step {
    ZESCOPE_LOWERED_OPERATIONS,
    ZESCOPE_LOWERED_LLVM,
    ZESCOPE_LOWERED_HOST
} zescope_lowered_step_t;
typedef ze_result_t(ZE_APICALL *zescope_pfnKernelGetLowered_t)(ze_kernel_handle_t hKernel,
                                                               zescope_lowered_step_t step,
                                                               size_t *pSize, char *pText);

/* One launch that has ended. Everything is borrowed for the duration of the callback. */
typedef struct zescope_launch_info {
    size_t size_B;             /* of this struct: later versions append members */
    uint64_t launch;           /* ascending from 1 in this process */
    uint64_t append;           /* the same for all launches of one append: ascending from 1 */
    ze_kernel_handle_t kernel; /* NULL when the program has destroyed it meanwhile */
    ze_module_handle_t module; /* likewise */
    const char *kernel_name;
    uint32_t device_index; /* in zeDeviceGet's order */
    uint32_t simd;
    uint32_t group_size[3], group_count[3];
    ze_result_t result;              /* ZE_RESULT_ERROR_DEVICE_LOST after a fault */
    const char *fault;               /* text of several lines, or NULL */
    uint64_t start_ticks, end_ticks; /* device clock, not masked */
    uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC of the host's execution alone: the launch may
                                  end later, once the device's clock has come to end_ticks */
    uint64_t modelled_cycles;  /* of the documented timing model */
    uint32_t total_count;      /* launch totals: pairs of name and value */
    const char *const *total_names;
    const uint64_t *totals;
    uint32_t instruction_count; /* rows, this launch alone; 0 when counting is off */
    const zescope_instruction_count_t *instructions;
    uint64_t replayed_instructions; /* by the model of time, of all; 0: modelled_cycles is the
                                       formula's */
    uint64_t code_address;          /* of the kernel's first instruction in metrics by address: what
                                       zexKernelGetBaseAddress gives */
    uint64_t doubt_cycles; /* that modelled_cycles may be off because not all was replayed: about
                              two standard errors; 0: all was, or the time is the formula's */
} zescope_launch_info_t;

typedef void (*zescope_launch_callback_t)(const zescope_launch_info_t *info, void *user);

/*
 * Call back after each launch, on the thread that ran it, before its event is signalled. The
 * callback must not wait for the device. One callback per process; NULL takes it away, and returns
 * when no callback is running any more. counts: also counts per instruction.
 */
typedef ze_result_t(ZE_APICALL *zescope_pfnDriverSetLaunchCallback_t)(
    ze_driver_handle_t hDriver, zescope_launch_callback_t callback, void *user, ze_bool_t counts);

/*
 * A group with the metrics of hMetricGroup and, behind them, ReplayedShare and EstimateError
 * (docs/metrics.md): how far its values may be off because the model of time replayed a part of
 * what ran, in percent. It is used as any group is, of the same domain and sampling type, and
 * zetMetricGroupGet does not list it: groups with Intel's names have Intel's metrics there. The
 * same group gives the same handle. ZE_RESULT_ERROR_UNSUPPORTED_FEATURE: values are not the model's
 * (ZESCOPE_TIMING=formula), the group has these metrics itself, is by address or for tracers, or
 * was made by the program.
 */
#define ZESCOPE_METRIC_GROUP_WITH_DOUBT_NAME "zescopeMetricGroupWithDoubt"
typedef ze_result_t(ZE_APICALL *zescope_pfnMetricGroupWithDoubt_t)(
    zet_metric_group_handle_t hMetricGroup, zet_metric_group_handle_t *phMetricGroup);

/*
 * In the chain of zet_profile_properties_t (zetKernelGetProfileInfo): registers that the kernel's
 * code never touches. known 0: it writes registers indirectly, or runs code that is not its own;
 * then nothing is free.
 */
#define ZESCOPE_STRUCTURE_TYPE_PROFILE_REGISTERS 0x5a530001
typedef struct zescope_profile_registers {
    uint32_t stype;
    void *pNext;
    uint32_t known;
    uint32_t freeGeneral;      /* whole ones, of 32 bytes on Gen9 */
    uint32_t freeFlags;        /* halves of 16 bits: f0.0, f0.1, f1.0, f1.1 */
    uint32_t freeAddress;      /* words of a0 */
    uint32_t freeAccumulators; /* acc0, acc1 */
    uint64_t generalMask[4];   /* which ones: bit r of generalMask[r / 64] */
} zescope_profile_registers_t;

/*
 * Exported by the library under this name (dlsym), to be asked before zeInit: 0 when the driver can
 * be the devices of a list as in ZESCOPE_DEVICES; else -EINVAL, and the text says what is wrong
 * with it and which devices there are.
 */
#define ZESCOPE_CHECK_DEVICES_NAME "zescope_check_devices"
typedef int (*zescope_pfnCheckDevices_t)(const char *list, char *ret_why, size_t size_B);

/*
 * Exported, too: 0 when kernels can become code of the host here, which is tried out; else
 * -ENOTSUP, and the text says what is missing. Kernels are interpreted then.
 */
#define ZESCOPE_CHECK_COMPILED_NAME "zescope_check_compiled"
typedef int (*zescope_pfnCheckCompiled_t)(char *ret_why, size_t size_B);

/*
 * The library of emulated nodes (libzescope_drm.so) exports this (dlsym): to be called back after
 * each kernel that Intel's driver ran, on the thread that ran it, with what its instructions did.
 * The callback must not wait for the device. One a process; NULL takes it away.
 */
typedef struct zescope_walk_metric {
    const char *name, *description, *component, *unit;
    uint32_t tier, type, value_type; /* zet_metric_type_t, zet_value_type_t */
} zescope_walk_metric_t;
typedef struct zescope_walk_group {
    const char *name, *description;
    uint32_t domain, metric_count;
    const zescope_walk_metric_t *metrics;
    uint32_t set_count;     /* one, or of groups by address one for each instruction */
    const uint64_t *values; /* set_count * metric_count; of floats the bits of a double. Addresses
                               are offsets from `code` */
} zescope_walk_group_t;
#define ZESCOPE_SET_WALK_CALLBACK_NAME "zescope_set_walk_callback"
typedef struct zescope_walk_info {
    size_t size_B;       /* of this struct: later versions append members */
    const uint8_t *code; /* from the first instruction on that threads execute, as it ran */
    size_t code_B;
    uint32_t simd;
    uint32_t instruction_count;
    const zescope_instruction_count_t *instructions; /* offsets from `code` */
    uint64_t address;                                /* of the device, that `code` ran at */
    uint64_t start_ticks;                            /* of its clock */
    uint32_t group_count;                            /* of metrics that were asked for */
    const zescope_walk_group_t *groups;
} zescope_walk_info_t;
typedef void (*zescope_walk_callback_t)(const zescope_walk_info_t *info, void *user);
typedef void (*zescope_pfnSetWalkCallback_t)(zescope_walk_callback_t callback, void *user);

/* And this: which groups of metrics that callback gets, by their names, one a line. How many of
 * these names devices have. */
#define ZESCOPE_SET_WALK_METRICS_NAME "zescope_set_walk_metrics"
typedef uint32_t (*zescope_pfnSetWalkMetrics_t)(const char *names);

/*
 * And these: who sees the application's calls says what faults and findings are to name. A module
 * that was built: its binary, debug information that is not in it (or NULL), both copied. An
 * allocation: its call's name and size before the call, and after it the address (NULL: none is
 * known), on the same thread; its context and address before it is freed, which returns what is to
 * be freed in its place: with checks of memory one that was to be freed earlier, or NULL. Names
 * stay, and end with what follows where kernels are not to write.
 */
#define ZESCOPE_MEMORY_READ_ONLY "(CL_MEM_READ_ONLY)"

#define ZESCOPE_ADD_MODULE_NAME "zescope_add_module"
typedef void (*zescope_pfnAddModule_t)(const void *binary, size_t binary_B, const void *debug,
                                       size_t debug_B);
#define ZESCOPE_MEMORY_BEGIN_NAME "zescope_memory_begin"
typedef void (*zescope_pfnMemoryBegin_t)(const char *call, uint64_t size_B);
#define ZESCOPE_MEMORY_END_NAME "zescope_memory_end"
typedef void (*zescope_pfnMemoryEnd_t)(const void *address);
#define ZESCOPE_MEMORY_FREE_NAME "zescope_memory_free"
typedef void *(*zescope_pfnMemoryFree_t)(const void *context, void *address);

#ifdef __cplusplus
}
#endif

#endif
