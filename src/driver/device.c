/* SPDX-License-Identifier: MIT */
/* Devices and their properties. Values of a device come from its model's row. */
#include "base/clock.h"
#include "driver/intel.h"
#include "driver/queue/list.h"

#include <stdio.h>
#include <time.h>

enum {
    GROUP_COUNT = ZS_ORDINAL_COUNT,

    IMAGE_DIM_MAX = 16384,
    IMAGE_DIM_3D_MAX = 2048,
    IMAGE_LAYERS_MAX = 2048,
    IMAGE_ARGS_MAX = 128,
    SAMPLERS_MAX = 16,
    ARGUMENTS_B_MAX = 2048,
};

bool zs_devices_valid(uint32_t count, ze_device_handle_t *devices)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!zs_ze_device_of(devices[i]))
            return false;
    }
    return true;
}

ze_result_t ZE_APICALL zeDeviceGet(ze_driver_handle_t hDriver, uint32_t *pCount,
                                   ze_device_handle_t *phDevices)
{
    ZS_OBJECT(driver, driver, hDriver);
    ZS_CHECK_POINTER(pCount);
    uint32_t count = zs_list_count(pCount, driver->device_count, phDevices != NULL);
    for (uint32_t i = 0; i < count; i++)
        phDevices[i] = driver->devices[i]->object.handle;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeDeviceGetSubDevices(ze_device_handle_t hDevice, uint32_t *pCount,
                                             ze_device_handle_t *phSubdevices)
{
    ZS_OBJECT(device, device, hDevice);
    ZS_CHECK_POINTER(pCount);
    uint32_t count = zs_list_count(pCount, device->sub_count, phSubdevices != NULL);
    for (uint32_t i = 0; i < count; i++)
        phSubdevices[i] = device->subs[i]->object.handle;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeDeviceGetRootDevice(ze_device_handle_t hDevice,
                                             ze_device_handle_t *phRootDevice)
{
    ZS_OBJECT(device, device, hDevice);
    ZS_CHECK_POINTER(phRootDevice);
    bool is_sub = device->parent && !device->flat;
    *phRootDevice = is_sub ? device->parent->object.handle : NULL;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeDeviceGetProperties(ze_device_handle_t hDevice,
                                             ze_device_properties_t *pDeviceProperties)
{
    ZS_OBJECT(device, device, hDevice);
    ZS_CHECK_POINTER(pDeviceProperties);
    const struct zs_gpu_model *model = device->model;
    ze_device_properties_t *p = pDeviceProperties;
    p->type = ZE_DEVICE_TYPE_GPU;
    p->vendorId = model->vendor_id;
    p->deviceId = model->device_id;
    p->flags = (model->integrated ? ZE_DEVICE_PROPERTY_FLAG_INTEGRATED : 0u) |
               (device->parent && !device->flat ? ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE : 0u) |
               (model->platform >= ZS_ISA_XE2 ? ZE_DEVICE_PROPERTY_FLAG_ONDEMANDPAGING : 0u);
    p->subdeviceId = device->parent && !device->flat ? device->sub_index : 0;
    p->coreClockRate = model->core_clock_MHz;
    p->maxMemAllocSize = ZS_MIN(model->max_allocation_B, device->memory_B);
    p->maxHardwareContexts = 1024 * 64;
    p->maxCommandQueuePriority = 0;
    p->numThreadsPerEU = model->threads_per_eu;
    p->physicalEUSimdWidth = model->physical_simd;
    p->numEUsPerSubslice = model->eus_per_subslice;
    p->numSubslicesPerSlice = model->subslices_per_slice;
    p->numSlices = model->slices;
    /* from 1.2 on the structure's type selects cycles per second instead of nanoseconds */
    p->timerResolution = p->stype == ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2
                             ? model->timer_Hz
                             : 1000000000u / model->timer_Hz;
    p->timestampValidBits = model->timestamp_bits;
    p->kernelTimestampValidBits = model->kernel_timestamp_bits;
    memset(p->uuid.id, 0, sizeof(p->uuid.id));
    const uint32_t id[4] = {model->vendor_id, model->device_id, model->revision,
                            device->card | device->tile << 8};
    for (size_t i = 0; i < ZS_ARRAY_LEN(id); i++) {
        p->uuid.id[4 * i] = (uint8_t)id[i];
        p->uuid.id[4 * i + 1] = (uint8_t)(id[i] >> 8);
    }
    memset(p->name, 0, sizeof(p->name));
    snprintf(p->name, sizeof(p->name), "%s", model->marketing);
    ze_device_readonly_memory_ext_properties_t *readonly = (void *)(uintptr_t)zs_chain_find(
        p->pNext, ZE_STRUCTURE_TYPE_DEVICE_READONLY_MEMORY_EXT_PROPERTIES);
    if (readonly)
        readonly->readonlyCapability =
            (__typeof__(readonly->readonlyCapability))ZE_DEVICE_READONLY_MEMORY_CAPABILITY_ENFORCED;
    ze_eu_count_ext_t *eus =
        (void *)(uintptr_t)zs_chain_find(p->pNext, ZE_STRUCTURE_TYPE_EU_COUNT_EXT);
    if (eus)
        eus->numTotalEUs = zs_gpu_model_eus(model);
    ze_device_event_properties_t *events =
        (void *)(uintptr_t)zs_chain_find(p->pNext, ZE_STRUCTURE_TYPE_DEVICE_EVENT_PROPERTIES);
    if (events)
        events->flags = ZE_DEVICE_EVENT_PROPERTIES_FLAG_COUNTER_BASED_IPC;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeDeviceGetComputeProperties(
    ze_device_handle_t hDevice, ze_device_compute_properties_t *pComputeProperties)
{
    ZS_OBJECT(device, device, hDevice);
    ZS_CHECK_POINTER(pComputeProperties);
    const struct zs_gpu_model *model = device->model;
    ze_device_compute_properties_t *p = pComputeProperties;
    p->maxTotalGroupSize = model->max_group_items;
    p->maxGroupSizeX = p->maxGroupSizeY = p->maxGroupSizeZ = model->max_group_items;
    p->maxGroupCountX = p->maxGroupCountY = p->maxGroupCountZ = UINT32_MAX;
    p->maxSharedLocalMemory = model->slm_B;
    p->numSubGroupSizes = 0;
    for (uint32_t simd = 8; simd <= 32; simd *= 2) {
        if (model->simd_sizes & simd)
            p->subGroupSizes[p->numSubGroupSizes++] = simd;
    }
    return ZE_RESULT_SUCCESS;
}

static void float_atomics(const struct zs_gpu_model *model, ze_float_atomic_ext_properties_t *p)
{
    const ze_device_fp_atomic_ext_flags_t basic = ZE_DEVICE_FP_ATOMIC_EXT_FLAG_GLOBAL_LOAD_STORE |
                                                  ZE_DEVICE_FP_ATOMIC_EXT_FLAG_LOCAL_LOAD_STORE;
    const ze_device_fp_atomic_ext_flags_t ordered = basic |
                                                    ZE_DEVICE_FP_ATOMIC_EXT_FLAG_GLOBAL_MIN_MAX |
                                                    ZE_DEVICE_FP_ATOMIC_EXT_FLAG_LOCAL_MIN_MAX;
    const ze_device_fp_atomic_ext_flags_t all =
        ordered | ZE_DEVICE_FP_ATOMIC_EXT_FLAG_GLOBAL_ADD | ZE_DEVICE_FP_ATOMIC_EXT_FLAG_LOCAL_ADD;
    /* gen9 has minimum, maximum and compare-exchange of floats, no additions. From XeHPG on as
     * Intel's driver says (CompilerProductHelper::getKernelFp32AtomicCapabilities ...) */
    bool has_additions = model->platform >= ZS_ISA_XE_HPG;
    p->fp16Flags = has_additions ? ordered : 0;
    p->fp32Flags = has_additions ? all : ordered;
    p->fp64Flags = !model->fp64 || !model->int64_atomics ? 0 : has_additions ? all : basic;
}

static bool has_dp4a(const struct zs_gpu_model *model)
{
    return model->platform >= ZS_ISA_XE_LP;
}

static bool has_dpas(const struct zs_gpu_model *model)
{
    return model->platform >= ZS_ISA_XE_HP && !model->no_dpas;
}

ze_result_t ZE_APICALL zeDeviceGetModuleProperties(ze_device_handle_t hDevice,
                                                   ze_device_module_properties_t *pModuleProperties)
{
    ZS_OBJECT(device, device, hDevice);
    ZS_CHECK_POINTER(pModuleProperties);
    const struct zs_gpu_model *model = device->model;
    ze_device_module_properties_t *p = pModuleProperties;
    const ze_device_fp_flags_t basic =
        ZE_DEVICE_FP_FLAG_DENORM | ZE_DEVICE_FP_FLAG_INF_NAN | ZE_DEVICE_FP_FLAG_ROUND_TO_NEAREST |
        ZE_DEVICE_FP_FLAG_ROUND_TO_ZERO | ZE_DEVICE_FP_FLAG_ROUND_TO_INF | ZE_DEVICE_FP_FLAG_FMA;
    p->spirvVersionSupported = ZE_MAKE_VERSION(1, 2);
    p->flags = (model->fp16 ? ZE_DEVICE_MODULE_FLAG_FP16 : 0u) |
               (model->fp64 ? ZE_DEVICE_MODULE_FLAG_FP64 : 0u) |
               (model->int64_atomics ? ZE_DEVICE_MODULE_FLAG_INT64_ATOMICS : 0u) |
               (has_dp4a(model) ? ZE_DEVICE_MODULE_FLAG_DP4A : 0u);
    p->fp16flags = model->fp16 ? basic : 0;
    p->fp32flags = basic | (model->fp64 ? ZE_DEVICE_FP_FLAG_ROUNDED_DIVIDE_SQRT : 0u);
    p->fp64flags = model->fp64 ? basic | ZE_DEVICE_FP_FLAG_ROUNDED_DIVIDE_SQRT : 0;
    p->maxArgumentsSize = ARGUMENTS_B_MAX;
    p->printfBufferSize = ZS_GPU_PRINTF_B;
    memset(&p->nativeKernelSupported, 0, sizeof(p->nativeKernelSupported));
    ze_float_atomic_ext_properties_t *atomics =
        (void *)(uintptr_t)zs_chain_find(p->pNext, ZE_STRUCTURE_TYPE_FLOAT_ATOMIC_EXT_PROPERTIES);
    if (atomics)
        float_atomics(model, atomics);
    ze_scheduling_hint_exp_properties_t *hints = (void *)(uintptr_t)zs_chain_find(
        p->pNext, ZE_STRUCTURE_TYPE_SCHEDULING_HINT_EXP_PROPERTIES);
    if (hints)
        hints->schedulingHintFlags = ZE_SCHEDULING_HINT_EXP_FLAG_OLDEST_FIRST |
                                     ZE_SCHEDULING_HINT_EXP_FLAG_ROUND_ROBIN |
                                     ZE_SCHEDULING_HINT_EXP_FLAG_STALL_BASED_ROUND_ROBIN;
    ze_device_raytracing_ext_properties_t *rays = (void *)(uintptr_t)zs_chain_find(
        p->pNext, ZE_STRUCTURE_TYPE_DEVICE_RAYTRACING_EXT_PROPERTIES);
    if (rays) {
        rays->flags = 0;
        rays->maxBVHLevels = 0;
    }
    zs_intel_module_dp_t *products =
        (void *)(uintptr_t)zs_chain_find(p->pNext, ZS_INTEL_STYPE_MODULE_DP);
    if (products)
        products->flags = (has_dp4a(model) ? ZS_INTEL_MODULE_DP4A : 0u) |
                          (has_dpas(model) ? ZS_INTEL_MODULE_DPAS : 0u);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeDeviceGetCommandQueueGroupProperties(
    ze_device_handle_t hDevice, uint32_t *pCount,
    ze_command_queue_group_properties_t *pCommandQueueGroupProperties)
{
    ZS_OBJECT(device, device, hDevice);
    ZS_CHECK_POINTER(pCount);
    static const struct {
        ze_command_queue_group_property_flags_t flags;
        size_t pattern_B_max;
    } groups[GROUP_COUNT] = {
        {ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE | ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY |
             ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COOPERATIVE_KERNELS |
             ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_METRICS,
         SIZE_MAX},
        {ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY, ZS_COPY_PATTERN_B_MAX},
    };
    uint32_t count = zs_list_count(pCount, GROUP_COUNT, pCommandQueueGroupProperties != NULL);
    for (uint32_t i = 0; i < count; i++) {
        pCommandQueueGroupProperties[i].flags = groups[i].flags;
        pCommandQueueGroupProperties[i].maxMemoryFillPatternSize = groups[i].pattern_B_max;
        pCommandQueueGroupProperties[i].numQueues = 1;
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeDeviceGetMemoryProperties(ze_device_handle_t hDevice, uint32_t *pCount,
                                                   ze_device_memory_properties_t *pMemProperties)
{
    ZS_OBJECT(device, device, hDevice);
    ZS_CHECK_POINTER(pCount);
    if (!zs_list_count(pCount, 1, pMemProperties != NULL))
        return ZE_RESULT_SUCCESS;
    const struct zs_gpu_model *model = device->model;
    pMemProperties->flags = 0;
    pMemProperties->maxClockRate = model->memory_clock_MHz;
    pMemProperties->maxBusWidth = model->memory_bus_bits;
    pMemProperties->totalSize = device->memory_B;
    memset(pMemProperties->name, 0, sizeof(pMemProperties->name));
    snprintf(pMemProperties->name, sizeof(pMemProperties->name), "%s",
             model->integrated ? "DDR"
             : model->hbm      ? "HBM"
                               : "device memory");
    ze_device_memory_ext_properties_t *ext = (void *)(uintptr_t)zs_chain_find(
        pMemProperties->pNext, ZE_STRUCTURE_TYPE_DEVICE_MEMORY_EXT_PROPERTIES);
    if (ext) {
        uint32_t bytes_per_ns = model->memory_clock_MHz * (model->memory_bus_bits / 8) / 1000;
        ext->type = model->integrated ? ZE_DEVICE_MEMORY_EXT_TYPE_DDR4
                    : model->hbm      ? ZE_DEVICE_MEMORY_EXT_TYPE_HBM2
                                      : ZE_DEVICE_MEMORY_EXT_TYPE_GDDR6;
        ext->physicalSize = pMemProperties->totalSize;
        ext->readBandwidth = ext->writeBandwidth = bytes_per_ns;
        ext->bandwidthUnit = ZE_BANDWIDTH_UNIT_BYTES_PER_NANOSEC;
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeDeviceGetMemoryAccessProperties(
    ze_device_handle_t hDevice, ze_device_memory_access_properties_t *pMemAccessProperties)
{
    ZS_OBJECT(device, device, hDevice);
    ZS_CHECK_POINTER(pMemAccessProperties);
    const ze_memory_access_cap_flags_t all =
        ZE_MEMORY_ACCESS_CAP_FLAG_RW | ZE_MEMORY_ACCESS_CAP_FLAG_ATOMIC |
        ZE_MEMORY_ACCESS_CAP_FLAG_CONCURRENT | ZE_MEMORY_ACCESS_CAP_FLAG_CONCURRENT_ATOMIC;
    pMemAccessProperties->hostAllocCapabilities = all;
    pMemAccessProperties->deviceAllocCapabilities = all;
    pMemAccessProperties->sharedSingleDeviceAllocCapabilities = all;
    pMemAccessProperties->sharedCrossDeviceAllocCapabilities = all;
    pMemAccessProperties->sharedSystemAllocCapabilities = 0; /* accesses are checked */
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeDeviceGetCacheProperties(ze_device_handle_t hDevice, uint32_t *pCount,
                                                  ze_device_cache_properties_t *pCacheProperties)
{
    ZS_OBJECT(device, device, hDevice);
    ZS_CHECK_POINTER(pCount);
    if (!zs_list_count(pCount, 1, pCacheProperties != NULL))
        return ZE_RESULT_SUCCESS;
    pCacheProperties->flags = 0;
    pCacheProperties->cacheSize = device->model->l3_cache_B;
    ze_cache_reservation_ext_desc_t *reserved = (void *)(uintptr_t)zs_chain_find(
        pCacheProperties->pNext, ZE_STRUCTURE_TYPE_CACHE_RESERVATION_EXT_DESC);
    if (reserved)
        reserved->maxCacheReservationSize = 0;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeDeviceGetImageProperties(ze_device_handle_t hDevice,
                                                  ze_device_image_properties_t *pImageProperties)
{
    ZS_OBJECT(device, device, hDevice);
    ZS_CHECK_POINTER(pImageProperties);
    ze_device_image_properties_t *p = pImageProperties;
    if (device->model->no_images) {
        p->maxImageDims1D = p->maxImageDims2D = p->maxImageDims3D = 0;
        p->maxImageBufferSize = 0;
        p->maxImageArraySlices = p->maxSamplers = 0;
        p->maxReadImageArgs = p->maxWriteImageArgs = 0;
        return ZE_RESULT_SUCCESS;
    }
    p->maxImageDims1D = IMAGE_DIM_MAX;
    p->maxImageDims2D = IMAGE_DIM_MAX;
    p->maxImageDims3D = IMAGE_DIM_3D_MAX;
    p->maxImageBufferSize = ZS_MIN(device->model->max_allocation_B, device->memory_B);
    p->maxImageArraySlices = IMAGE_LAYERS_MAX;
    p->maxSamplers = SAMPLERS_MAX;
    p->maxReadImageArgs = IMAGE_ARGS_MAX;
    p->maxWriteImageArgs = IMAGE_ARGS_MAX;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeDeviceGetExternalMemoryProperties(
    ze_device_handle_t hDevice, ze_device_external_memory_properties_t *pExternalMemoryProperties)
{
    ZS_OBJECT(device, device, hDevice);
    ZS_CHECK_POINTER(pExternalMemoryProperties);
    const ze_external_memory_type_flags_t fds =
        ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD | ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF;
    pExternalMemoryProperties->memoryAllocationImportTypes = fds;
    pExternalMemoryProperties->memoryAllocationExportTypes = fds;
    pExternalMemoryProperties->imageImportTypes = fds;
    pExternalMemoryProperties->imageExportTypes = fds;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeDeviceGetP2PProperties(ze_device_handle_t hDevice,
                                                ze_device_handle_t hPeerDevice,
                                                ze_device_p2p_properties_t *pP2PProperties)
{
    ZS_OBJECT(device, device, hDevice);
    ZS_OBJECT(device, peer, hPeerDevice);
    ZS_CHECK_POINTER(pP2PProperties);
    /* all devices of a context see the same memory */
    pP2PProperties->flags =
        ZE_DEVICE_P2P_PROPERTY_FLAG_ACCESS | ZE_DEVICE_P2P_PROPERTY_FLAG_ATOMICS;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeDeviceCanAccessPeer(ze_device_handle_t hDevice,
                                             ze_device_handle_t hPeerDevice, ze_bool_t *value)
{
    ZS_OBJECT(device, device, hDevice);
    ZS_OBJECT(device, peer, hPeerDevice);
    ZS_CHECK_POINTER(value);
    *value = 1;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeDeviceGetStatus(ze_device_handle_t hDevice)
{
    ZS_OBJECT(device, device, hDevice);
    return ZE_RESULT_SUCCESS; /* a fault loses a context's work, never the device */
}

ze_result_t ZE_APICALL zeDeviceGetGlobalTimestamps(ze_device_handle_t hDevice,
                                                   uint64_t *hostTimestamp,
                                                   uint64_t *deviceTimestamp)
{
    ZS_OBJECT(device, device, hDevice);
    ZS_CHECK_POINTER(hostTimestamp);
    ZS_CHECK_POINTER(deviceTimestamp);
    uint64_t now_ns = zs_clock_ns(CLOCK_MONOTONIC_RAW); /* which Intel's driver reports */
    *deviceTimestamp =
        zs_gpu_clock_ticks(device->gpu) & (UINT64_MAX >> (64 - device->model->timestamp_bits));
    *hostTimestamp = now_ns;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeDeviceReserveCacheExt(ze_device_handle_t hDevice, size_t cacheLevel,
                                               size_t cacheReservationSize)
{
    ZS_OBJECT(device, device, hDevice);
    ZS_CHECK(cacheReservationSize == 0, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
             "no part of the cache can be reserved");
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeDeviceSetCacheAdviceExt(ze_device_handle_t hDevice, void *ptr,
                                                 size_t regionSize,
                                                 ze_cache_ext_region_t cacheRegion)
{
    ZS_OBJECT(device, device, hDevice);
    ZS_CHECK_POINTER(ptr);
    ZS_CHECK_ENUM(cacheRegion, ZE_CACHE_EXT_REGION_ZE_CACHE_NON_RESERVED_REGION);
    ZS_CHECK(cacheRegion != ZE_CACHE_EXT_REGION_ZE_CACHE_RESERVE_REGION,
             ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "no part of the cache is reserved");
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeDevicePciGetPropertiesExt(ze_device_handle_t hDevice,
                                                   ze_pci_ext_properties_t *pPciProperties)
{
    ZS_OBJECT(device, device, hDevice);
    ZS_CHECK_POINTER(pPciProperties);
    /* where integrated graphics sit; further devices on buses of their own */
    pPciProperties->address =
        (ze_pci_address_ext_t){.domain = 0, .bus = device->card, .device = 2, .function = 0};
    pPciProperties->maxSpeed =
        (ze_pci_speed_ext_t){.genVersion = -1, .width = -1, .maxBandwidth = -1};
    return ZE_RESULT_SUCCESS;
}

/* The one call of Sysman: profilers find the same device of another API by its address. */
ze_result_t ZE_APICALL zesDevicePciGetProperties(zes_device_handle_t hDevice,
                                                 zes_pci_properties_t *pProperties)
{
    ze_pci_ext_properties_t p = {.stype = ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES};
    ze_result_t result = zeDevicePciGetPropertiesExt(hDevice, &p);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    ZS_CHECK_POINTER(pProperties);
    pProperties->address = (zes_pci_address_t){.domain = p.address.domain,
                                               .bus = p.address.bus,
                                               .device = p.address.device,
                                               .function = p.address.function};
    pProperties->maxSpeed = (zes_pci_speed_t){.gen = p.maxSpeed.genVersion,
                                              .width = p.maxSpeed.width,
                                              .maxBandwidth = p.maxSpeed.maxBandwidth};
    pProperties->haveBandwidthCounters = 0;
    pProperties->havePacketCounters = 0;
    pProperties->haveReplayCounters = 0;
    return ZE_RESULT_SUCCESS;
}
