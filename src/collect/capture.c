/* SPDX-License-Identifier: MIT */
/*
 * What is kept of a module. Two lines of JSON per zeModuleCreate: "begin" with the input, before
 * the driver's compiler runs (if that crashes, what it was fed is there), and "end" with the
 * results. docs/recording.md describes the lines.
 *
 * The native binary is asked for before the debug info: Intel's driver attaches a zebin's debug
 * ELF to the module when that is first asked for, and what zeModuleGetNativeBinary returns is
 * fixed by its first call. In this order the application gets the same bytes as without us.
 */
#include "collect/collect.h"
#include "collect/instrument.h"
#include "collect/lines.h"

#include "base/json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    LOG_MAX_B = 256 << 10,
    KERNELS_MAX = 1 << 16,
    LINE_MAX_B = 6 << 20, /* readers take 8 MiB */
    INPUTS_MAX = 1024,
    CONSTANTS_MAX = 4096,
    HEX_UUID_CHARS = 2 * ZE_MAX_DRIVER_UUID_SIZE + 1,
};

struct zs_capture {
    uint32_t id;
    uint64_t begin_ns;            /* when the driver was called */
    const ze_module_desc_t *desc; /* the application's */
    bool rewritten;
    struct zs_debug_desc debug;
    struct zs_lines lines;
    struct zs_capture_log log;
};

static void put_hex(struct zs_json *j, const char *key, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof(text), "0x%" PRIx64, value);
    zs_json_string(j, key, text);
}

static void put_uuid(struct zs_json *j, const char *key, const uint8_t *id, size_t size_B)
{
    char text[HEX_UUID_CHARS];
    for (size_t i = 0; i < size_B && 2 * i + 2 < sizeof(text); i++)
        snprintf(text + 2 * i, 3, "%02x", id[i]);
    zs_json_string(j, key, text);
}

void zs_capture_devices(struct zs_collector *c, ze_driver_handle_t driver, uint32_t count,
                        const ze_device_handle_t *devices)
{
    for (uint32_t i = 0; driver && i < count; i++) {
        if (!devices[i] || zs_collect_driver_of(c, devices[i]))
            continue;
        uint32_t slot = atomic_fetch_add(&c->device_count, 1);
        if (slot >= ZS_COLLECT_DEVICES_MAX) {
            atomic_store(&c->device_count, ZS_COLLECT_DEVICES_MAX);
            return;
        }
        c->devices[slot].driver = driver;
        atomic_store_explicit(&c->devices[slot].device, devices[i], memory_order_release);
    }
}

ze_driver_handle_t zs_collect_driver_of(struct zs_collector *c, ze_device_handle_t device)
{
    uint32_t count = atomic_load(&c->device_count);
    for (uint32_t i = 0; i < ZS_MIN(count, (uint32_t)ZS_COLLECT_DEVICES_MAX); i++)
        if (atomic_load_explicit(&c->devices[i].device, memory_order_acquire) == device)
            return c->devices[i].driver;
    return NULL;
}

static void put_driver(struct zs_collector *c, struct zs_json *j, ze_driver_handle_t driver)
{
    ze_driver_properties_t p = {.stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES};
    if (c->api.zeDriverGetProperties && !c->api.zeDriverGetProperties(driver, &p)) {
        zs_json_u64(j, "driver_version", p.driverVersion);
        put_uuid(j, "driver_uuid", p.uuid.id, sizeof(p.uuid.id));
    }
    ze_api_version_t version;
    if (c->api.zeDriverGetApiVersion && !c->api.zeDriverGetApiVersion(driver, &version))
        zs_json_u64(j, "driver_api_version", (uint64_t)version);
}

/* What limits how fast the device is: 0 and a missing member are not known. */
static void put_shape(struct zs_collector *c, struct zs_json *j, ze_device_handle_t device,
                      const ze_device_properties_t *p)
{
    ze_device_compute_properties_t compute = {.stype = ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES};
    ze_device_memory_properties_t memory = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES};
    ze_device_cache_properties_t caches[4] = {0};
    uint32_t one = 1, cache_count = ZS_ARRAY_LEN(caches);
    uint64_t l3_B = 0;
    zs_json_u64(j, "core_clock_MHz", p->coreClockRate);
    zs_json_u64(j, "slices", p->numSlices);
    zs_json_u64(j, "subslices_per_slice", p->numSubslicesPerSlice);
    zs_json_u64(j, "eus_per_subslice", p->numEUsPerSubslice);
    zs_json_u64(j, "threads_per_eu", p->numThreadsPerEU);
    zs_json_u64(j, "simd_width", p->physicalEUSimdWidth);
    if (c->api.zeDeviceGetComputeProperties &&
        !c->api.zeDeviceGetComputeProperties(device, &compute)) {
        zs_json_u64(j, "group_items_max", compute.maxTotalGroupSize);
        zs_json_u64(j, "group_local_max_B", compute.maxSharedLocalMemory);
    }
    if (c->api.zeDeviceGetMemoryProperties &&
        !c->api.zeDeviceGetMemoryProperties(device, &one, &memory) && one) {
        zs_json_u64(j, "memory_clock_MHz", memory.maxClockRate);
        zs_json_u64(j, "memory_bus_bits", memory.maxBusWidth);
    }
    for (size_t i = 0; i < ZS_ARRAY_LEN(caches); i++)
        caches[i].stype = ZE_STRUCTURE_TYPE_DEVICE_CACHE_PROPERTIES;
    if (c->api.zeDeviceGetCacheProperties &&
        !c->api.zeDeviceGetCacheProperties(device, &cache_count, caches))
        for (uint32_t i = 0; i < ZS_MIN(cache_count, (uint32_t)ZS_ARRAY_LEN(caches)); i++)
            l3_B = ZS_MAX(l3_B, (uint64_t)caches[i].cacheSize);
    zs_json_u64(j, "cache_B", l3_B);
}

static void put_device(struct zs_collector *c, struct zs_json *j, ze_device_handle_t device)
{
    ze_device_properties_t p = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    if (!c->api.zeDeviceGetProperties || c->api.zeDeviceGetProperties(device, &p))
        return;
    zs_json_object(j, "device");
    zs_json_string_n(j, "name", p.name, strnlen(p.name, sizeof(p.name)));
    zs_json_u64(j, "vendor_id", p.vendorId);
    zs_json_u64(j, "device_id", p.deviceId);
    put_uuid(j, "uuid", p.uuid.id, sizeof(p.uuid.id));
    put_shape(c, j, device, &p);
    ze_driver_handle_t driver = zs_collect_driver_of(c, device);
    if (driver)
        put_driver(c, j, driver);
    zs_json_end(j);
}

static void put_constants(struct zs_json *j, const ze_module_constants_t *constants,
                          struct zs_span spirv)
{
    if (!constants || !constants->pConstantIds)
        return;
    zs_json_array(j, "constants");
    for (uint32_t i = 0; i < ZS_MIN(constants->numConstants, (uint32_t)CONSTANTS_MAX); i++) {
        uint32_t id = constants->pConstantIds[i];
        const void *value = constants->pConstantValues ? constants->pConstantValues[i] : NULL;
        uint8_t size_B = value ? zs_spirv_constant_size(spirv, id) : 0;
        uint64_t bits = 0;
        if (size_B)
            memcpy(&bits, value, size_B);
        zs_json_object(j, NULL);
        zs_json_u64(j, "id", id);
        zs_json_u64(j, "size_B", size_B);
        if (size_B)
            put_hex(j, "value", bits);
        zs_json_end(j);
    }
    zs_json_end(j);
}

static int put_input(struct zs_collector *c, struct zs_json *j, const uint8_t *data, size_t size_B,
                     const char *flags, const ze_module_constants_t *constants)
{
    struct zs_span input = zs_span_make(data, data ? size_B : 0);
    struct zs_spirv_info info = zs_spirv_scan(input);
    zs_json_object(j, NULL);
    int error = zs_session_blob(c, j, "input", info.is_spirv ? "spv" : "in", input);
    zs_json_string(j, "flags", flags ? flags : "");
    zs_json_bool(j, "debug_info", info.has_debug_info);
    put_constants(j, constants, input);
    zs_json_end(j);
    return error;
}

/*
 * The driver writes the handle of its log to us, who know whether it did: on some failures it does
 * not, and what the application has there need not be a handle.
 */
static void log_begin(struct zs_collector *c, struct zs_capture_log *log,
                      ze_module_build_log_handle_t **param)
{
    *log = (struct zs_capture_log){.app = *param};
    if (log->app || c->api.zeModuleBuildLogDestroy) {
        *param = &log->handle;
        log->taken = true;
    }
}

static void log_end(struct zs_collector *c, struct zs_capture_log *log,
                    ze_module_build_log_handle_t **param)
{
    if (log->taken)
        *param = log->app;
    if (!log->handle)
        return;
    if (log->app)
        *log->app = log->handle;
    else
        c->api.zeModuleBuildLogDestroy(log->handle);
}

static const ze_module_program_exp_desc_t *program_of(const ze_module_desc_t *desc)
{
    const ze_base_desc_t *d = desc->pNext;
    while (d && d->stype != ZE_STRUCTURE_TYPE_MODULE_PROGRAM_EXP_DESC)
        d = d->pNext;
    return (const void *)d;
}

static int put_inputs(struct zs_collector *c, struct zs_json *j, const ze_module_desc_t *desc)
{
    const ze_module_program_exp_desc_t *p = program_of(desc);
    int error = 0;
    zs_json_array(j, "inputs");
    if (!p)
        error = put_input(c, j, desc->pInputModule, desc->inputSize, desc->pBuildFlags,
                          desc->pConstants);
    for (uint32_t i = 0; p && i < ZS_MIN(p->count, (uint32_t)INPUTS_MAX); i++) {
        int e = put_input(c, j, p->pInputModules ? p->pInputModules[i] : NULL,
                          p->inputSizes ? p->inputSizes[i] : 0,
                          p->pBuildFlags ? p->pBuildFlags[i] : NULL,
                          p->pConstants ? p->pConstants[i] : NULL);
        error = error ? error : e;
    }
    zs_json_end(j);
    return error;
}

static const char *format_name(ze_module_format_t format)
{
    return format == ZE_MODULE_FORMAT_IL_SPIRV ? "spirv"
           : format == ZE_MODULE_FORMAT_NATIVE ? "native"
                                               : "other";
}

static void rewrite_desc(struct zs_collector *c, struct zs_capture *capture,
                         ze_module_create_params_t *params)
{
    const char *why;
    int error = zs_debug_desc_make(capture->desc, &capture->debug, &why);
    capture->rewritten = !error;
    if (!error)
        *params->pdesc = &capture->debug.desc;
    if (why)
        zs_session_note(c, "module %u: %s", capture->id, why);
}

struct zs_capture *zs_capture_begin(struct zs_collector *c, ze_module_create_params_t *params)
{
    const ze_module_desc_t *desc = *params->pdesc;
    struct zs_session *session = zs_session_get(c);
    if (!desc || !session)
        return NULL;
    struct zs_capture *capture = calloc(1, sizeof(*capture));
    if (!capture) {
        zs_session_lost(c, -ENOMEM);
        return NULL;
    }
    capture->id = atomic_fetch_add(&session->next_build, 1) + 1;
    capture->desc = desc;
    if (c->add_debug_info &&
        zs_lines_begin(c, zs_span_make(desc->pInputModule, desc->inputSize), &capture->lines))
        rewrite_desc(c, capture, params);
    struct zs_buf line = {0};
    struct zs_json j = zs_session_event_begin(&line, "begin");
    zs_json_u64(&j, "id", capture->id);
    zs_json_string(&j, "format", format_name(desc->format));
    zs_json_string(&j, "app_flags", desc->pBuildFlags ? desc->pBuildFlags : "");
    const char *flags = (*params->pdesc)->pBuildFlags;
    zs_json_string(&j, "flags", flags ? flags : "");
    put_device(c, &j, *params->phDevice);
    int error = put_inputs(c, &j, *params->pdesc);
    if (error)
        zs_session_note(c, "module %u: its input was not kept: %s", capture->id, strerror(-error));
    zs_session_event_end(c, &j, &line);

    log_begin(c, &capture->log, params->pphBuildLog);
    capture->begin_ns = zs_collect_now_ns();
    return capture;
}

static void put_log(struct zs_collector *c, struct zs_json *j, ze_module_build_log_handle_t log)
{
    size_t size_B = 0;
    if (!log || !c->api.zeModuleBuildLogGetString ||
        c->api.zeModuleBuildLogGetString(log, &size_B, NULL) || size_B < 2)
        return;
    char *text = calloc(1, size_B + 1);
    if (text && !c->api.zeModuleBuildLogGetString(log, &size_B, text))
        zs_json_string_n(j, "log", text, strnlen(text, ZS_MIN(size_B, (size_t)LOG_MAX_B)));
    free(text);
}

typedef ze_result_t (*get_bytes_fn)(struct zs_collector *c, ze_module_handle_t module,
                                    size_t *size_B, uint8_t *data);

static ze_result_t get_binary(struct zs_collector *c, ze_module_handle_t module, size_t *size_B,
                              uint8_t *data)
{
    return c->api.zeModuleGetNativeBinary ? c->api.zeModuleGetNativeBinary(module, size_B, data)
                                          : ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
}

static ze_result_t get_debug(struct zs_collector *c, ze_module_handle_t module, size_t *size_B,
                             uint8_t *data)
{
    return c->api.zetModuleGetDebugInfo
               ? c->api.zetModuleGetDebugInfo((zet_module_handle_t)module,
                                              ZET_MODULE_DEBUG_INFO_FORMAT_ELF_DWARF, size_B, data)
               : ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
}

/* Ask the driver for bytes and keep them: 0, -errno, or the driver's result (positive). *ret: the
 * same, the caller's. */
static int64_t put_bytes(struct zs_collector *c, struct zs_json *j, const char *key,
                         const char *ext, get_bytes_fn get, ze_module_handle_t module,
                         struct zs_span *ret)
{
    *ret = (struct zs_span){0};
    size_t size_B = 0;
    ze_result_t result = get(c, module, &size_B, NULL);
    if (result || !size_B)
        return (int64_t)result;
    uint8_t *data = malloc(size_B);
    if (!data)
        return -ENOMEM;
    int64_t status = (int64_t)get(c, module, &size_B, data);
    if (!status)
        status = zs_session_blob(c, j, key, ext, zs_span_make(data, size_B));
    *ret = (struct zs_span){data, size_B};
    return status;
}

static void note_bytes(struct zs_collector *c, uint32_t id, const char *what, int64_t status)
{
    if (status < 0)
        zs_session_note(c, "module %u: its %s was not kept: %s", id, what, strerror((int)-status));
    else if (status > 0)
        zs_session_note(c, "module %u: the driver does not give its %s (0x%" PRIx64 ")", id, what,
                        (uint64_t)status);
}

/* binary and debug info of a module. False when the binary is not there. */
static bool put_module(struct zs_collector *c, struct zs_json *j, uint32_t id,
                       ze_module_handle_t module)
{
    struct zs_span binary, debug;
    int64_t status = put_bytes(c, j, "binary", "bin", get_binary, module, &binary);
    note_bytes(c, id, "native binary", status);
    if (status)
        zs_session_lost(c, status < 0 ? (int)status : -EIO);
    note_bytes(c, id, "debug info", put_bytes(c, j, "debug", "dbg", get_debug, module, &debug));
    if (!status)
        zs_below_module(&c->below, binary, debug);
    free((void *)(uintptr_t)binary.data);
    free((void *)(uintptr_t)debug.data);
    return !status;
}

static void put_kernels(struct zs_collector *c, struct zs_json *j, uint32_t id,
                        ze_module_handle_t module)
{
    uint32_t count = 0;
    if (!c->api.zeModuleGetKernelNames || c->api.zeModuleGetKernelNames(module, &count, NULL) ||
        !count || count > KERNELS_MAX)
        return;
    const char **names = calloc(count, sizeof(*names));
    if (names && !c->api.zeModuleGetKernelNames(module, &count, names)) {
        zs_json_array(j, "kernels");
        uint32_t i = 0;
        for (; i < count && j->out->size_B < LINE_MAX_B; i++)
            zs_json_string(j, NULL, names[i] ? names[i] : "");
        zs_json_end(j);
        if (i < count)
            zs_session_note(c, "module %u: only %u of %u kernel names were kept", id, i, count);
    }
    free((void *)names);
}

/* The module that the application gets: an instrumented one, or what the driver built. */
static ze_module_handle_t instrument(struct zs_collector *c, const struct zs_capture *capture,
                                     const ze_module_create_params_t *params,
                                     ze_module_handle_t module)
{
    ze_module_handle_t other = zs_instrument_module(c, capture->id, params, module);
    if (!other)
        return module;
    **params->pphModule = other;
    c->api.zeModuleDestroy(module);
    return other;
}

uint32_t zs_capture_end(struct zs_collector *c, struct zs_capture *capture,
                        ze_module_create_params_t *params, ze_result_t result)
{
    uint64_t returned_ns = zs_collect_now_ns();
    zs_lines_end(&capture->lines);
    ze_module_handle_t module = !result && *params->pphModule ? **params->pphModule : NULL;
    struct zs_buf line = {0};
    struct zs_json j = zs_session_event_begin(&line, "end");
    zs_json_u64(&j, "id", capture->id);
    zs_json_u64(&j, "duration_ns", returned_ns - capture->begin_ns);
    put_hex(&j, "result", (uint64_t)result);
    if (module) {
        put_module(c, &j, capture->id, module);
        put_kernels(c, &j, capture->id, module);
        module = instrument(c, capture, params, module);
        put_hex(&j, "handle", (uint64_t)(uintptr_t)module);
    }
    put_log(c, &j, capture->log.handle);
    zs_session_event_end(c, &j, &line);

    log_end(c, &capture->log, params->pphBuildLog);
    if (capture->rewritten) {
        *params->pdesc = capture->desc;
        zs_debug_desc_free(&capture->debug);
    }
    uint32_t id = capture->id;
    bool is_instrumented = module && zs_instrument_is_of(c, id);
    if (module)
        zs_counts_built(c, module, id, is_instrumented);
    if (is_instrumented && c->count && !atomic_exchange(&c->instrument_counts_told, true))
        zs_session_note(c,
                        "execution counts of instrumented modules are those that the tool knows: "
                        "the driver counts the code with its probes");
    free(capture);
    return id;
}

struct zs_capture_log *zs_capture_link_begin(struct zs_collector *c,
                                             ze_module_dynamic_link_params_t *params)
{
    struct zs_capture_log *log = calloc(1, sizeof(*log));
    if (log)
        log_begin(c, log, params->pphLinkLog);
    return log;
}

/* Dynamic linking resolves imports: the modules are what they were, but their code is not. */
void zs_capture_link_end(struct zs_collector *c, struct zs_capture_log *log,
                         ze_module_dynamic_link_params_t *params, ze_result_t result)
{
    struct zs_buf line = {0};
    struct zs_json j = zs_session_event_begin(&line, "link");
    put_hex(&j, "result", (uint64_t)result);
    zs_json_array(&j, "modules");
    ze_module_handle_t *modules = *params->pphModules;
    for (uint32_t i = 0; modules && i < ZS_MIN(*params->pnumModules, (uint32_t)INPUTS_MAX); i++) {
        zs_json_object(&j, NULL);
        put_hex(&j, "handle", (uint64_t)(uintptr_t)modules[i]);
        if (!result && modules[i])
            put_module(c, &j, 0, modules[i]);
        zs_json_end(&j);
    }
    zs_json_end(&j);
    put_log(c, &j, log->handle);
    zs_session_event_end(c, &j, &line);
    log_end(c, log, params->pphLinkLog);
    free(log);
}

void zs_capture_destroy(struct zs_collector *c, ze_module_handle_t module)
{
    struct zs_buf line = {0};
    struct zs_json j = zs_session_event_begin(&line, "destroy");
    put_hex(&j, "handle", (uint64_t)(uintptr_t)module);
    zs_session_event_end(c, &j, &line);
}
