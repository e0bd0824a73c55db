/* SPDX-License-Identifier: MIT */
/* zeInit, drivers, extensions; what every API function uses to refuse a call. */
#include "driver/driver_priv.h"

#include "base/buf.h"
#include "base/checks.h"
#include "base/duration.h"
#include "compiler/compiler.h"
#include "driver/debug/debug.h"
#include "driver/leaks.h"
#include "driver/memory/quarantine.h"
#include "driver/metrics/metrics.h"
#include "driver/module/compile.h"
#include "driver/module/counts.h"
#include "driver/module/module.h"
#include "driver/queue/order.h"
#include "driver/report.h"
#include "driver/tracing.h"
#include "eu/tier/tier.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { CHAIN_MAX = 64, DRIVER_VERSION = 0x00010000 };

/* The driver of this process: made by the first zeInit that succeeds, never freed. */
static struct {
    pthread_mutex_t lock;
    struct zs_ze_driver *driver;
    struct zs_ze_driver *parent; /* of the process that this one was forked from */
    bool watches_forks;
} root = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* What zeDriverGetLastErrorDescription gives: the last refusal of each thread. */
static _Thread_local char last_error[512];

const char *zs_env(const char *name)
{
    return secure_getenv(name);
}

/* Nothing that depends on the device, and nothing that a program asks to find out what there is. */
static bool is_misuse(ze_result_t result)
{
    switch (result) {
    case ZE_RESULT_ERROR_UNINITIALIZED:
    case ZE_RESULT_ERROR_INVALID_ARGUMENT:
    case ZE_RESULT_ERROR_INVALID_NULL_HANDLE:
    case ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE:
    case ZE_RESULT_ERROR_INVALID_NULL_POINTER:
    case ZE_RESULT_ERROR_INVALID_SIZE:
    case ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT:
    case ZE_RESULT_ERROR_INVALID_ENUMERATION:
    case ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX:
    case ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE:
    case ZE_RESULT_ERROR_INVALID_KERNEL_ATTRIBUTE_VALUE:
    case ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION:
    case ZE_RESULT_ERROR_INVALID_GLOBAL_WIDTH_DIMENSION:
    case ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE:
    case ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED:
    case ZE_RESULT_ERROR_OVERLAPPING_REGIONS:
    case ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT:
        return true;
    default:
        return false;
    }
}

static ze_result_t refuse(ze_result_t result)
{
    zs_log(ZS_LOG_WARN, "%s (result 0x%x)", last_error, (unsigned)result);
    return result;
}

ze_result_t zs_refuse(ze_result_t result, const char *function, const char *format, ...)
{
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    snprintf(last_error, sizeof(last_error), "%s: %s", function, text);
    if (is_misuse(result))
        zs_report_misuse(last_error, NULL, 0, 0);
    return refuse(result);
}

ze_result_t zs_refuse_handle(const void *handle, const char *name, const char *type,
                             const char *function)
{
    static const char *const types[] = {
#define X(word) [ZS_OBJECT_##word] = #word,
        ZS_OBJECT_TYPES(X)
#undef X
    };
    struct zs_object_history was = zs_object_history(handle);
    snprintf(last_error, sizeof(last_error), "%s: %s is %s%s%s", function, name,
             handle ? "not a live handle of a " : "null", handle ? type : "",
             zs_object_forgotten(handle) ? ": it is of the process that this one was forked from; "
                                           "call zeInit for handles of its own"
             : was.type                  ? ": it was destroyed"
                                         : "");
    zs_report_misuse(last_error, was.type ? types[was.type] : NULL, was.made, was.ended);
    return refuse(ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
}

const char *zs_last_error(void)
{
    return last_error;
}

bool zs_lets_pass(const char *function, const char *format, ...)
{
    pthread_mutex_lock(&root.lock);
    bool check = root.driver && root.driver->check;
    pthread_mutex_unlock(&root.lock);
    bool told = zs_report_wants(ZS_CHECK_API);
    if (check || (!told && !zs_log_enabled(ZS_LOG_WARN)))
        return !check;
    char text[400], line[480];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    snprintf(line, sizeof(line), "%s: %s", function, text);
    zs_report_misuse(line, NULL, 0, 0);
    zs_log(ZS_LOG_WARN, "%s (let pass, as Intel's driver does; run --check refuses it)", line);
    return true;
}

ze_result_t zs_ddi_unsupported(const char *function)
{
    return zs_refuse(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, function, "not supported by this driver");
}

ze_result_t zs_ddi_fill(uint32_t version, void **table, const struct zs_ddi_entry *entries,
                        size_t count)
{
    if (!table)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (ZE_MAJOR_VERSION(version) != 1)
        return ZE_RESULT_ERROR_UNSUPPORTED_VERSION;
    bool traced = zs_ddi_is_traced();
    for (size_t i = 0; i < count; i++)
        if (version >= entries[i].since && version != entries[i].not_in)
            table[entries[i].index] = traced ? entries[i].traced : entries[i].plain;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zs_result_of_errno(int error)
{
    static const struct {
        int error;
        ze_result_t result;
    } rows[] = {
        {0, ZE_RESULT_SUCCESS},
        {ENOMEM, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY},
        {EFBIG, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY}, /* pages to share, beyond RLIMIT_FSIZE */
        {EINVAL, ZE_RESULT_ERROR_INVALID_ARGUMENT},
        {ENOTSUP, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE},
        {EFAULT, ZE_RESULT_ERROR_DEVICE_LOST},
        {ECANCELED, ZE_RESULT_ERROR_DEVICE_LOST},
        {ETIMEDOUT, ZE_RESULT_ERROR_DEVICE_LOST},
        {EBADMSG, ZE_RESULT_ERROR_INVALID_NATIVE_BINARY},
        {EACCES, ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS},
        {EPERM, ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS},
    };
    for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        if (rows[i].error == error || rows[i].error == -error)
            return rows[i].result;
    }
    return ZE_RESULT_ERROR_UNKNOWN;
}

const void *zs_chain_find(const void *next, uint32_t stype)
{
    const ze_base_desc_t *at = next;
    for (int i = 0; at && i < CHAIN_MAX; i++, at = at->pNext) {
        if ((uint32_t)at->stype == stype)
            return at;
    }
    return NULL;
}

uint32_t zs_list_count(uint32_t *count, uint32_t have, bool has_array)
{
    uint32_t wanted = ZS_MIN(*count, have);
    if (*count == 0 || *count > have)
        *count = have;
    return has_array ? wanted : 0;
}

/* ---- Making the driver ---- */

/* Metrics need the model of time; without them nobody asks what it knows. */
static enum zs_driver_timing parse_timing(const char *text, const char *metrics)
{
    static const char *const names[] = {"formula", "model", "exact"};
    for (size_t i = 0; text && i < ZS_ARRAY_LEN(names); i++) {
        if (strcmp(text, names[i]) == 0)
            return (enum zs_driver_timing)i;
    }
    if (text && *text)
        zs_log(ZS_LOG_ERROR, "ZESCOPE_TIMING=%s is none of formula, model, exact", text);
    return metrics && strcmp(metrics, "1") == 0 ? ZS_DRIVER_TIMING_MODEL : ZS_DRIVER_TIMING_FORMULA;
}

static enum zs_driver_eu parse_eu(const char *text)
{
    static const char *const names[] = {"interpreter", "auto", "compiled"};
    enum zs_driver_eu eu = ZS_DRIVER_EU_DEFAULT;
    const char *why = NULL;
    bool known = !text || !*text || strcmp(text, "dump") == 0;
    for (size_t i = 0; text && i < ZS_ARRAY_LEN(names); i++) {
        if (strcmp(text, names[i]) == 0)
            eu = (enum zs_driver_eu)i, known = true;
    }
    if (!known)
        zs_log(ZS_LOG_ERROR, "ZESCOPE_EU=%s is none of interpreter, auto, compiled, dump", text);
    if (eu == ZS_DRIVER_EU_INTERPRETED || zs_eu_tier_possible(&why))
        return eu;
    if (eu == ZS_DRIVER_EU_COMPILED)
        zs_log(ZS_LOG_ERROR, "ZESCOPE_EU=compiled: %s; kernels are interpreted", why);
    return ZS_DRIVER_EU_INTERPRETED;
}

/* 0: none */
static uint64_t parse_time_ns(const char *text)
{
    uint64_t ns = 0;
    if (text && *text && !zs_duration_parse(text, &ns))
        zs_log(ZS_LOG_ERROR, "ZESCOPE_KERNEL_TIMEOUT=%s is not a time such as 10, 1.5s or 200ms",
               text);
    return ns;
}

void zs_ze_driver_fini(struct zs_ze_driver *driver)
{
    zs_debug_stop(driver->debug);
    zs_topology_free(driver);
    zs_compiler_destroy(driver->compiler);
    zs_gpu_memory_destroy(driver->memory);
    zs_quarantine_destroy(driver->quarantine);
    zs_order_destroy(driver->order);
}

/*
 * A forked child has none of the driver's threads, and locks that other threads held stay locked
 * for ever. So it starts from nothing: handles of the parent are refused, zeInit or zeDriverGet
 * makes a driver of the child's own. What the parent had stays where it is, out of reach.
 */
static void after_fork(void)
{
    pthread_mutex_init(&root.lock, NULL);
    if (root.driver)
        zs_compiler_abandon(root.driver->compiler);
    if (root.driver)
        zs_debug_after_fork(root.driver->debug);
    root.parent = root.driver;
    root.driver = NULL;
    zs_objects_forget();
    zs_report_after_fork();
    zs_leaks_after_fork();
    zs_counts_after_fork();
    zs_metrics_after_fork();
}

static struct zs_ze_driver *driver_new(void)
{
    struct zs_ze_driver *driver = zs_object_new(ZS_OBJECT_driver, sizeof(*driver));
    if (!driver)
        return NULL;
    pthread_mutex_init(&driver->contexts_lock, NULL);
    pthread_mutex_init(&driver->files_lock, NULL);
    pthread_mutex_init(&driver->default_lock, NULL);
    driver->kernel_time_limit_ns = parse_time_ns(zs_env("ZESCOPE_KERNEL_TIMEOUT"));
    atomic_store(&driver->next_code_va, (uint64_t)ZS_IP_BASE);
    driver->timing = parse_timing(zs_env("ZESCOPE_TIMING"), zs_env("ZET_ENABLE_METRICS"));
    const char *check = zs_env("ZESCOPE_CHECK");
    char why[128] = "";
    if (check && *check && !zs_checks_parse(check, &driver->checks, why, sizeof(why)) &&
        !driver->checks)
        driver->checks = ZS_CHECK_DEFAULT;
    driver->check = driver->checks & (ZS_CHECK_MEMORY | ZS_CHECK_INIT | ZS_CHECK_UNDEFINED);
    driver->quarantine = driver->check ? zs_quarantine_create(zs_env("ZESCOPE_QUARANTINE")) : NULL;
    driver->order = driver->checks & ZS_CHECK_RACE ? zs_order_create() : NULL;
    driver->check_surfaces = !check || strcmp(check, "0") != 0;
    driver->compiler = zs_compile_start();
    const char *eu = zs_env("ZESCOPE_EU");
    driver->dumps = eu && strcmp(eu, "dump") == 0;
    driver->eu = parse_eu(eu);
    const char *debug = zs_env("ZET_ENABLE_PROGRAM_DEBUGGING");
    bool debugged = debug && strcmp(debug, "1") == 0;
    if (debugged)
        driver->debug = zs_debug_start(driver);
    if ((driver->check ? !driver->quarantine : zs_gpu_memory_create(&driver->memory) != 0) ||
        !driver->compiler || (debugged && !driver->debug) || !zs_topology_make(driver) ||
        !zs_metrics_init(driver) || !zs_object_publish(driver)) {
        zs_object_unref(driver);
        return NULL;
    }
    if (why[0])
        zs_log_setting("ZESCOPE_CHECK=%s: %s, or 0 or 1", check, why);
    zs_log_enabled(ZS_LOG_ERROR); /* says now what is wrong with its setting */
    zs_report_init(driver->checks);
    zs_counts_init();
    if (driver->debug)
        zs_debug_open(driver);
    return driver;
}

static struct zs_ze_driver *the_driver(void)
{
    pthread_mutex_lock(&root.lock);
    struct zs_ze_driver *driver = root.driver;
    pthread_mutex_unlock(&root.lock);
    return driver;
}

ze_result_t ZE_APICALL zeInit(ze_init_flags_t flags)
{
    ZS_CHECK_ENUM(flags, 0x3);
    /* VPU devices only: there are none */
    if (flags == ZE_INIT_FLAG_VPU_ONLY)
        return ZE_RESULT_ERROR_UNINITIALIZED;
    pthread_mutex_lock(&root.lock);
    if (!root.watches_forks)
        root.watches_forks = pthread_atfork(NULL, NULL, after_fork) == 0;
    if (!root.driver)
        root.driver = driver_new();
    bool ok = root.driver != NULL;
    pthread_mutex_unlock(&root.lock);
    return ok ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_UNINITIALIZED;
}

/* Newer loaders (1.32) pass zeInit on once, and tell a forked child what it said to the parent. */
static struct zs_ze_driver *driver_of_child(void)
{
    if (!root.parent || zeInit(0) != ZE_RESULT_SUCCESS)
        return NULL;
    zs_log(ZS_LOG_INFO, "zeInit did not come here since this process was forked: as if it had");
    return the_driver();
}

ze_result_t ZE_APICALL zeDriverGet(uint32_t *pCount, ze_driver_handle_t *phDrivers)
{
    struct zs_ze_driver *driver = the_driver();
    if (!driver)
        driver = driver_of_child();
    ZS_CHECK(driver, ZE_RESULT_ERROR_UNINITIALIZED, "zeInit was not called");
    ZS_CHECK_POINTER(pCount);
    if (zs_list_count(pCount, 1, phDrivers != NULL))
        phDrivers[0] = driver->object.handle;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeInitDrivers(uint32_t *pCount, ze_driver_handle_t *phDrivers,
                                     ze_init_driver_type_desc_t *desc)
{
    ZS_CHECK_POINTER(pCount);
    ZS_CHECK_POINTER(desc);
    ZS_CHECK(desc->flags != 0, ZE_RESULT_ERROR_INVALID_ENUMERATION, "no driver type is wanted");
    if (!(desc->flags & 1u)) { /* no GPU wanted */
        *pCount = 0;
        return ZE_RESULT_SUCCESS;
    }
    ze_result_t result = zeInit(0);
    return result == ZE_RESULT_SUCCESS ? zeDriverGet(pCount, phDrivers) : result;
}

ze_result_t ZE_APICALL zeDriverGetApiVersion(ze_driver_handle_t hDriver, ze_api_version_t *version)
{
    ZS_OBJECT(driver, driver, hDriver);
    ZS_CHECK_POINTER(version);
    /* from 1.17 on, loaders may take handles for pointers to tables of functions, which ours are
     * not */
    *version = ZS_MIN(ZE_API_VERSION_CURRENT, ZE_MAKE_VERSION(1, 16));
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeDriverGetProperties(ze_driver_handle_t hDriver,
                                             ze_driver_properties_t *pDriverProperties)
{
    ZS_OBJECT(driver, driver, hDriver);
    ZS_CHECK_POINTER(pDriverProperties);
    static const uint8_t uuid[ZE_MAX_DRIVER_UUID_SIZE] = {'z', 'e', 's', 'c', 'o', 'p', 'e', 0,
                                                          0,   0,   0,   0,   0,   0,   0,   1};
    memcpy(pDriverProperties->uuid.id, uuid, sizeof(uuid));
    pDriverProperties->driverVersion = DRIVER_VERSION;
    ze_driver_memory_free_ext_properties_t *free_ext = (void *)(uintptr_t)zs_chain_find(
        pDriverProperties->pNext, ZE_STRUCTURE_TYPE_DRIVER_MEMORY_FREE_EXT_PROPERTIES);
    if (free_ext)
        free_ext->freePolicies = ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_BLOCKING_FREE |
                                 ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_DEFER_FREE;
    ze_driver_ddi_handles_ext_properties_t *ddi = (void *)(uintptr_t)zs_chain_find(
        pDriverProperties->pNext, ZE_STRUCTURE_TYPE_DRIVER_DDI_HANDLES_EXT_PROPERTIES);
    if (ddi)
        ddi->flags = 0; /* a handle does not point to tables of functions */
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeDriverGetIpcProperties(ze_driver_handle_t hDriver,
                                                ze_driver_ipc_properties_t *pIpcProperties)
{
    ZS_OBJECT(driver, driver, hDriver);
    ZS_CHECK_POINTER(pIpcProperties);
    pIpcProperties->flags = ZE_IPC_PROPERTY_FLAG_MEMORY | ZE_IPC_PROPERTY_FLAG_EVENT_POOL;
    return ZE_RESULT_SUCCESS;
}

static const ze_driver_extension_properties_t extensions[] = {
    {ZE_MODULE_PROGRAM_EXP_NAME, ZE_MODULE_PROGRAM_EXP_VERSION_CURRENT},
    {ZE_GLOBAL_OFFSET_EXP_NAME, ZE_GLOBAL_OFFSET_EXP_VERSION_CURRENT},
    {ZE_RELAXED_ALLOCATION_LIMITS_EXP_NAME, ZE_RELAXED_ALLOCATION_LIMITS_EXP_VERSION_CURRENT},
    {ZE_KERNEL_SCHEDULING_HINTS_EXP_NAME, ZE_SCHEDULING_HINTS_EXP_VERSION_CURRENT},
    {ZE_EVENT_QUERY_TIMESTAMPS_EXP_NAME, ZE_EVENT_QUERY_TIMESTAMPS_EXP_VERSION_CURRENT},
    {ZE_IMAGE_MEMORY_PROPERTIES_EXP_NAME, ZE_IMAGE_MEMORY_PROPERTIES_EXP_VERSION_CURRENT},
    {ZE_IMAGE_VIEW_EXP_NAME, ZE_IMAGE_VIEW_EXP_VERSION_CURRENT},
    /* of later specifications: literals, the headers may not have their names */
    {"ZE_extension_image_view", ZE_MAKE_VERSION(1, 0)},
    {"ZE_extension_kernel_max_group_size_properties", ZE_MAKE_VERSION(1, 0)},
    {"ZE_extension_event_query_kernel_timestamps", ZE_MAKE_VERSION(1, 0)},
    {"ZE_experimental_immediate_command_list_append", ZE_MAKE_VERSION(1, 0)},
    {"ZE_experimental_event_pool_counter_based", ZE_MAKE_VERSION(1, 0)},
    {"ZET_experimental_concurrent_metric_groups", ZE_MAKE_VERSION(1, 0)},
    {"ZET_experimental_global_metric_timestamps", ZE_MAKE_VERSION(1, 0)},
    {"ZET_experimental_metric_export_data", ZE_MAKE_VERSION(1, 0)},
    {"ZET_experimental_metric_group_marker", ZE_MAKE_VERSION(1, 0)},
    {"ZET_experimental_metric_tracer", ZE_MAKE_VERSION(1, 0)},
    {"ZET_experimental_programmable_metrics", ZE_MAKE_VERSION(1, 1)},
    {"ZET_intel_get_hw_buffer_size", ZE_MAKE_VERSION(1, 0)}, /* Intel's own */
    {"ZET_experimental_metrics_runtime_enable_disable", ZE_MAKE_VERSION(1, 0)},
    {ZE_CONTEXT_POWER_SAVING_HINT_EXP_NAME, ZE_POWER_SAVING_HINT_EXP_VERSION_CURRENT},
    {ZE_FLOAT_ATOMICS_EXT_NAME, ZE_FLOAT_ATOMICS_EXT_VERSION_CURRENT},
    {ZE_CACHE_RESERVATION_EXT_NAME, ZE_CACHE_RESERVATION_EXT_VERSION_CURRENT},
    {ZE_SUBGROUPS_EXT_NAME, ZE_SUBGROUP_EXT_VERSION_CURRENT},
    {ZE_EU_COUNT_EXT_NAME, ZE_EU_COUNT_EXT_VERSION_CURRENT},
    {ZE_PCI_PROPERTIES_EXT_NAME, ZE_PCI_PROPERTIES_EXT_VERSION_CURRENT},
    {ZE_IMAGE_COPY_EXT_NAME, ZE_IMAGE_COPY_EXT_VERSION_CURRENT},
    {ZE_IMAGE_QUERY_ALLOC_PROPERTIES_EXT_NAME, ZE_IMAGE_QUERY_ALLOC_PROPERTIES_EXT_VERSION_CURRENT},
    {ZE_MEMORY_COMPRESSION_HINTS_EXT_NAME, ZE_MEMORY_COMPRESSION_HINTS_EXT_VERSION_CURRENT},
    {ZE_MEMORY_FREE_POLICIES_EXT_NAME, ZE_MEMORY_FREE_POLICIES_EXT_VERSION_CURRENT},
    {ZE_LINKAGE_INSPECTION_EXT_NAME, ZE_LINKAGE_INSPECTION_EXT_VERSION_CURRENT},
    {ZE_DEVICE_MEMORY_PROPERTIES_EXT_NAME, ZE_DEVICE_MEMORY_PROPERTIES_EXT_VERSION_CURRENT},
    {"ZESCOPE_extension_counts", ZE_MAKE_VERSION(1, 0)},
};

ze_result_t ZE_APICALL
zeDriverGetExtensionProperties(ze_driver_handle_t hDriver, uint32_t *pCount,
                               ze_driver_extension_properties_t *pExtensionProperties)
{
    ZS_OBJECT(driver, driver, hDriver);
    ZS_CHECK_POINTER(pCount);
    uint32_t count = zs_list_count(pCount, ZS_ARRAY_LEN(extensions), pExtensionProperties != NULL);
    if (count)
        memcpy(pExtensionProperties, extensions, count * sizeof(extensions[0]));
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeDriverGetExtensionFunctionAddress(ze_driver_handle_t hDriver,
                                                           const char *name,
                                                           void **ppFunctionAddress)
{
    ZS_OBJECT(driver, driver, hDriver);
    ZS_CHECK_POINTER(name);
    ZS_CHECK_POINTER(ppFunctionAddress);
    *ppFunctionAddress = zs_counts_function(name);
    if (!*ppFunctionAddress)
        *ppFunctionAddress = zs_kernel_function(name);
    if (!*ppFunctionAddress)
        *ppFunctionAddress = zs_debug_function(name);
    if (!*ppFunctionAddress)
        *ppFunctionAddress = zs_metrics_function(name);
    if (!*ppFunctionAddress)
        *ppFunctionAddress = zs_ddi_function(name);
    /* programs try names of many drivers: no message */
    return *ppFunctionAddress ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

ze_result_t ZE_APICALL zeDriverGetLastErrorDescription(ze_driver_handle_t hDriver,
                                                       const char **ppString)
{
    ZS_OBJECT(driver, driver, hDriver);
    ZS_CHECK_POINTER(ppString);
    *ppString = last_error;
    return ZE_RESULT_SUCCESS;
}
