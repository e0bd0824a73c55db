/* SPDX-License-Identifier: MIT */
/* Modules of Level Zero: what the exchange with the helper (instrument.c) asks of their driver. */
#include "collect/instrument.h"

#include <stdlib.h>

struct level_zero {
    struct zs_collector *c;
    uint32_t build;
    const ze_module_create_params_t *params;
    ze_module_handle_t module;
};

static uint8_t *driver_bytes(void *ctx, bool debug, size_t *ret_size_B)
{
    const struct level_zero *l = ctx;
    const struct zs_collect_api *api = &l->c->api;
    const zet_module_debug_info_format_t dwarf = ZET_MODULE_DEBUG_INFO_FORMAT_ELF_DWARF;
    uint8_t *bytes = NULL;
    size_t size_B = 0;
    for (int turn = 0; turn < 2; turn++) {
        ze_result_t result = debug ? api->zetModuleGetDebugInfo((zet_module_handle_t)l->module,
                                                                dwarf, &size_B, bytes)
                                   : api->zeModuleGetNativeBinary(l->module, &size_B, bytes);
        if (result || !size_B || (turn == 0 && !(bytes = malloc(size_B)))) {
            free(bytes);
            return NULL;
        }
    }
    *ret_size_B = size_B;
    return bytes;
}

static void *allocate(void *ctx, size_t size_B)
{
    const ze_device_mem_alloc_desc_t device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    const ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    const struct level_zero *l = ctx;
    const struct zs_collect_api *api = &l->c->api;
    ze_context_handle_t context = *l->params->phContext;
    void *memory = NULL;
    if (api->zeMemAllocShared(context, &device, &host, size_B, ZS_INSTRUMENT_ALIGN_B,
                              *l->params->phDevice, &memory) &&
        api->zeMemAllocHost(context, &host, size_B, ZS_INSTRUMENT_ALIGN_B, &memory))
        return NULL;
    if (api->zeContextMakeMemoryResident)
        api->zeContextMakeMemoryResident(context, *l->params->phDevice, memory, size_B);
    return memory;
}

static void release(void *ctx, void *memory)
{
    const struct level_zero *l = ctx;
    l->c->api.zeMemFree(*l->params->phContext, memory);
}

static void *build(void *ctx, struct zs_span bytes)
{
    const struct level_zero *l = ctx;
    const ze_module_desc_t *asked = *l->params->pdesc;
    const ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                   .format = ZE_MODULE_FORMAT_NATIVE,
                                   .inputSize = bytes.size_B,
                                   .pInputModule = bytes.data,
                                   .pBuildFlags = asked ? asked->pBuildFlags : NULL};
    ze_module_handle_t module = NULL;
    ze_result_t result =
        l->c->api.zeModuleCreate(*l->params->phContext, *l->params->phDevice, &desc, &module, NULL);
    if (result)
        zs_session_note(l->c, "module %u is not instrumented: the driver does not take it (0x%x)",
                        l->build, (unsigned)result);
    return result ? NULL : module;
}

static void drop(void *ctx, void *module)
{
    ((const struct level_zero *)ctx)->c->api.zeModuleDestroy(module);
}

/* Probes add 64 bits atomically, which a module's machine code does not tell of its device. */
static bool has_atomics(const struct zs_collect_api *api, ze_device_handle_t device)
{
    ze_device_module_properties_t properties = {.stype =
                                                    ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES};
    return api->zeDeviceGetModuleProperties &&
           api->zeDeviceGetModuleProperties(device, &properties) == ZE_RESULT_SUCCESS &&
           (properties.flags & ZE_DEVICE_MODULE_FLAG_INT64_ATOMICS);
}

/* Memory of a device that there may be traces in; UINT64_MAX: not known. */
static uint64_t device_part_B(const struct zs_collect_api *api, ze_device_handle_t device)
{
    enum { MEMORIES_MAX = 8, PART = 8 };
    ze_device_memory_properties_t memories[MEMORIES_MAX];
    uint32_t count = MEMORIES_MAX;
    uint64_t sum_B = 0;
    for (int i = 0; i < MEMORIES_MAX; i++)
        memories[i] =
            (ze_device_memory_properties_t){.stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES};
    if (!api->zeDeviceGetMemoryProperties ||
        api->zeDeviceGetMemoryProperties(device, &count, memories))
        return UINT64_MAX;
    for (uint32_t i = 0; i < ZS_MIN(count, (uint32_t)MEMORIES_MAX); i++)
        sum_B += memories[i].totalSize;
    return sum_B ? sum_B / PART : UINT64_MAX;
}

/* What host and device may do at a time with shared memory. */
static ze_memory_access_cap_flags_t sharing(const struct zs_collect_api *api,
                                            ze_device_handle_t device)
{
    ze_device_memory_access_properties_t p = {
        .stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_ACCESS_PROPERTIES};
    bool known = api->zeDeviceGetMemoryAccessProperties &&
                 api->zeDeviceGetMemoryAccessProperties(device, &p) == ZE_RESULT_SUCCESS;
    return known ? p.sharedSingleDeviceAllocCapabilities : 0;
}

ze_module_handle_t zs_instrument_module(struct zs_collector *c, uint32_t build_id,
                                        const ze_module_create_params_t *params,
                                        ze_module_handle_t module)
{
    static const struct zs_instrument_ops ops = {driver_bytes, allocate, release, build, drop};
    const struct zs_collect_api *api = &c->api;
    if (!c->instrument_socket || atomic_load(&c->instrument_is_over) || !api->zeModuleCreate ||
        !api->zeModuleDestroy || !api->zeMemAllocShared || !api->zeMemAllocHost ||
        !api->zeMemFree || !api->zeModuleGetNativeBinary || !api->zetModuleGetDebugInfo)
        return NULL;
    ze_device_handle_t device = *params->phDevice;
    struct level_zero l = {c, build_id, params, module};
    const struct zs_instrument_request request = {.ops = &ops,
                                                  .ctx = &l,
                                                  .build = build_id,
                                                  .narrow_atomics = !has_atomics(api, device),
                                                  .memory_part_B = device_part_B(api, device),
                                                  .context = *params->phContext,
                                                  .sharing = sharing(api, device)};
    return zs_instrument_exchange(c, &request);
}
