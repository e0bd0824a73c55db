/* SPDX-License-Identifier: MIT */
/* What a driver tells of itself, of its device and of kernels. */
#include "ask.h"

#include "ask_file.h"

#include <inttypes.h>
#include <stdlib.h>

/* What the driver leaves as it is shows. */
enum { POISON = 0x5a };

#define FILL(p, type)                                                                              \
    do {                                                                                           \
        memset(&(p), POISON, sizeof(p));                                                           \
        (p).stype = (type);                                                                        \
        (p).pNext = NULL;                                                                          \
    } while (0)
#define SHOW(prefix, p, member)                                                                    \
    printf("%s." #member " = 0x%" PRIx64 "\n", prefix, (uint64_t)(p).member)
#define TEXT(prefix, p, member) printf("%s." #member " = %.250s\n", prefix, (p).member)

static void bytes(const char *key, const void *data, size_t size_B)
{
    const uint8_t *b = data;
    printf("%s =", key);
    for (size_t i = 0; i < size_B; i++)
        printf(" %02x", b[i]);
    printf("\n");
}

static void driver(const struct ask *a)
{
    ze_api_version_t version = 0;
    ASK("driver.version", zeDriverGetApiVersion(a->driver, &version));
    printf("driver.api = 0x%x\n", (unsigned)version);
    ze_driver_properties_t p;
    FILL(p, ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES);
    ASK("driver.properties", zeDriverGetProperties(a->driver, &p));
    bytes("driver.uuid", &p.uuid, sizeof(p.uuid));
    SHOW("driver", p, driverVersion);
    ze_driver_memory_free_ext_properties_t freeing;
    FILL(freeing, ZE_STRUCTURE_TYPE_DRIVER_MEMORY_FREE_EXT_PROPERTIES);
    p.pNext = &freeing;
    ASK("driver.properties_free", zeDriverGetProperties(a->driver, &p));
    SHOW("driver", freeing, freePolicies);
    ze_driver_ipc_properties_t ipc;
    FILL(ipc, ZE_STRUCTURE_TYPE_DRIVER_IPC_PROPERTIES);
    ASK("driver.ipc", zeDriverGetIpcProperties(a->driver, &ipc));
    SHOW("driver.ipc", ipc, flags);
    ze_driver_extension_properties_t list[128];
    uint32_t count = 128;
    ASK("driver.extensions", zeDriverGetExtensionProperties(a->driver, &count, list));
    for (uint32_t i = 0; i < count && i < 128; i++)
        printf("driver.extension.%s = 0x%x\n", list[i].name, list[i].version);
}

static void device(const struct ask *a)
{
    ze_device_properties_t p;
    ze_eu_count_ext_t eus;
    FILL(p, ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES);
    FILL(eus, ZE_STRUCTURE_TYPE_EU_COUNT_EXT);
    p.pNext = &eus;
    ASK("device.properties", zeDeviceGetProperties(a->device, &p));
    SHOW("device", eus, numTotalEUs);
    SHOW("device", p, type);
    SHOW("device", p, vendorId);
    SHOW("device", p, deviceId);
    SHOW("device", p, flags);
    SHOW("device", p, subdeviceId);
    SHOW("device", p, coreClockRate);
    SHOW("device", p, maxMemAllocSize);
    SHOW("device", p, maxHardwareContexts);
    SHOW("device", p, maxCommandQueuePriority);
    SHOW("device", p, numThreadsPerEU);
    SHOW("device", p, physicalEUSimdWidth);
    SHOW("device", p, numEUsPerSubslice);
    SHOW("device", p, numSubslicesPerSlice);
    SHOW("device", p, numSlices);
    SHOW("device", p, timerResolution);
    SHOW("device", p, timestampValidBits);
    SHOW("device", p, kernelTimestampValidBits);
    bytes("device.uuid", &p.uuid, sizeof(p.uuid));
    TEXT("device", p, name);
    FILL(p, ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2);
    ASK("device.properties_1_2", zeDeviceGetProperties(a->device, &p));
    printf("device.timerResolution_1_2 = %" PRIu64 "\n", p.timerResolution);
    ze_device_luid_ext_properties_t luid;
    FILL(luid, ZE_STRUCTURE_TYPE_DEVICE_LUID_EXT_PROPERTIES);
    FILL(p, ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES);
    p.pNext = &luid;
    ASK("device.luid", zeDeviceGetProperties(a->device, &p));
    SHOW("device.luid", luid, nodeMask);
    ze_device_raytracing_ext_properties_t rays;
    ze_device_module_properties_t m;
    FILL(rays, ZE_STRUCTURE_TYPE_DEVICE_RAYTRACING_EXT_PROPERTIES);
    FILL(m, ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES);
    m.pNext = &rays;
    ASK("device.rays", zeDeviceGetModuleProperties(a->device, &m));
    SHOW("device.rays", rays, flags);
    SHOW("device.rays", rays, maxBVHLevels);
    ze_pci_ext_properties_t pci;
    FILL(pci, ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES);
    ASK("pci.properties", zeDevicePciGetPropertiesExt(a->device, &pci));
    SHOW("pci", pci, address.domain);
    SHOW("pci", pci, address.bus);
    SHOW("pci", pci, address.device);
    SHOW("pci", pci, address.function);
    SHOW("pci", pci, maxSpeed.genVersion);
    SHOW("pci", pci, maxSpeed.width);
    SHOW("pci", pci, maxSpeed.maxBandwidth);
    ASK("device.status", zeDeviceGetStatus(a->device));
    ze_bool_t peer = 7;
    ASK("device.peer", zeDeviceCanAccessPeer(a->device, a->device, &peer));
    printf("device.peer_self = %u\n", peer);
    ze_device_p2p_properties_t p2p;
    FILL(p2p, ZE_STRUCTURE_TYPE_DEVICE_P2P_PROPERTIES);
    ASK("device.p2p", zeDeviceGetP2PProperties(a->device, a->device, &p2p));
    SHOW("device.p2p", p2p, flags);
    uint64_t host = 0, ticks = 0;
    ASK("device.timestamps", zeDeviceGetGlobalTimestamps(a->device, &host, &ticks));
    printf("device.timestamps_are = %d %d\n", host != 0, ticks != 0);
    zet_device_debug_properties_t debug;
    memset(&debug, POISON, sizeof(debug));
    debug.stype = ZET_STRUCTURE_TYPE_DEVICE_DEBUG_PROPERTIES;
    debug.pNext = NULL;
    ASK("device.debug", zetDeviceGetDebugProperties(a->device, &debug));
    SHOW("device.debug", debug, flags);
    uint32_t groups = 0;
    ASK("device.metric_groups", zetMetricGroupGet(a->device, &groups, NULL));
    printf("device.metric_group_count = %u\n", groups);
}

static void compute(const struct ask *a)
{
    ze_device_compute_properties_t c;
    FILL(c, ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES);
    ASK("compute.properties", zeDeviceGetComputeProperties(a->device, &c));
    SHOW("compute", c, maxTotalGroupSize);
    SHOW("compute", c, maxGroupSizeX);
    SHOW("compute", c, maxGroupSizeY);
    SHOW("compute", c, maxGroupSizeZ);
    SHOW("compute", c, maxGroupCountX);
    SHOW("compute", c, maxGroupCountY);
    SHOW("compute", c, maxGroupCountZ);
    SHOW("compute", c, maxSharedLocalMemory);
    SHOW("compute", c, numSubGroupSizes);
    for (uint32_t i = 0; i < c.numSubGroupSizes && i < ZE_SUBGROUPSIZE_COUNT; i++)
        printf("compute.subGroupSizes.%u = %u\n", i, c.subGroupSizes[i]);
    ze_device_module_properties_t m;
    ze_float_atomic_ext_properties_t f;
    FILL(m, ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES);
    FILL(f, ZE_STRUCTURE_TYPE_FLOAT_ATOMIC_EXT_PROPERTIES);
    m.pNext = &f;
    ASK("module.properties", zeDeviceGetModuleProperties(a->device, &m));
    SHOW("module", m, spirvVersionSupported);
    SHOW("module", m, flags);
    SHOW("module", m, fp16flags);
    SHOW("module", m, fp32flags);
    SHOW("module", m, fp64flags);
    SHOW("module", m, maxArgumentsSize);
    SHOW("module", m, printfBufferSize);
    bytes("module.nativeKernelSupported", &m.nativeKernelSupported,
          sizeof(m.nativeKernelSupported));
    SHOW("module.float_atomics", f, fp16Flags);
    SHOW("module.float_atomics", f, fp32Flags);
    SHOW("module.float_atomics", f, fp64Flags);
}

static void memories(const struct ask *a)
{
    char key[64];
    uint32_t count = 0;
    ASK("queue_groups.count_of", zeDeviceGetCommandQueueGroupProperties(a->device, &count, NULL));
    ze_command_queue_group_properties_t g[8];
    for (int i = 0; i < 8; i++)
        FILL(g[i], ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES);
    printf("queue_groups.count = %u\n", count);
    count = 8;
    ASK("queue_groups.properties", zeDeviceGetCommandQueueGroupProperties(a->device, &count, g));
    for (uint32_t i = 0; i < count && i < 8; i++) {
        snprintf(key, sizeof(key), "queue_group.%u", i);
        SHOW(key, g[i], flags);
        SHOW(key, g[i], maxMemoryFillPatternSize);
        SHOW(key, g[i], numQueues);
    }
    ze_device_memory_properties_t m;
    ze_device_memory_ext_properties_t ext;
    FILL(m, ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES);
    FILL(ext, ZE_STRUCTURE_TYPE_DEVICE_MEMORY_EXT_PROPERTIES);
    m.pNext = &ext;
    count = 9;
    ASK("memory.properties", zeDeviceGetMemoryProperties(a->device, &count, &m));
    printf("memory.count = %u\n", count);
    SHOW("memory", m, flags);
    SHOW("memory", m, maxClockRate);
    SHOW("memory", m, maxBusWidth);
    SHOW("memory", m, totalSize);
    TEXT("memory", m, name);
    SHOW("memory.ext", ext, type);
    SHOW("memory.ext", ext, physicalSize);
    SHOW("memory.ext", ext, readBandwidth);
    SHOW("memory.ext", ext, writeBandwidth);
    SHOW("memory.ext", ext, bandwidthUnit);
    ze_device_memory_access_properties_t x;
    FILL(x, ZE_STRUCTURE_TYPE_DEVICE_MEMORY_ACCESS_PROPERTIES);
    ASK("access.properties", zeDeviceGetMemoryAccessProperties(a->device, &x));
    SHOW("access", x, hostAllocCapabilities);
    SHOW("access", x, deviceAllocCapabilities);
    SHOW("access", x, sharedSingleDeviceAllocCapabilities);
    SHOW("access", x, sharedCrossDeviceAllocCapabilities);
    SHOW("access", x, sharedSystemAllocCapabilities);
    ze_device_cache_properties_t c;
    ze_cache_reservation_ext_desc_t reserved;
    FILL(c, ZE_STRUCTURE_TYPE_DEVICE_CACHE_PROPERTIES);
    memset(&reserved, POISON, sizeof(reserved));
    reserved.stype = ZE_STRUCTURE_TYPE_CACHE_RESERVATION_EXT_DESC;
    reserved.pNext = NULL;
    c.pNext = &reserved;
    count = 9;
    ASK("cache.properties", zeDeviceGetCacheProperties(a->device, &count, &c));
    printf("cache.count = %u\n", count);
    SHOW("cache", c, flags);
    SHOW("cache", c, cacheSize);
    SHOW("cache", reserved, maxCacheReservationSize);
    ze_device_external_memory_properties_t e;
    FILL(e, ZE_STRUCTURE_TYPE_DEVICE_EXTERNAL_MEMORY_PROPERTIES);
    ASK("external.properties", zeDeviceGetExternalMemoryProperties(a->device, &e));
    SHOW("external", e, memoryAllocationImportTypes);
    SHOW("external", e, memoryAllocationExportTypes);
    SHOW("external", e, imageImportTypes);
    SHOW("external", e, imageExportTypes);
}

static void images(const struct ask *a)
{
    ze_device_image_properties_t i;
    FILL(i, ZE_STRUCTURE_TYPE_DEVICE_IMAGE_PROPERTIES);
    ASK("image.properties", zeDeviceGetImageProperties(a->device, &i));
    SHOW("image", i, maxImageDims1D);
    SHOW("image", i, maxImageDims2D);
    SHOW("image", i, maxImageDims3D);
    SHOW("image", i, maxImageBufferSize);
    SHOW("image", i, maxImageArraySlices);
    SHOW("image", i, maxSamplers);
    SHOW("image", i, maxReadImageArgs);
    SHOW("image", i, maxWriteImageArgs);
    /* which formats and types there are */
    for (int layout = 0; layout <= ZE_IMAGE_FORMAT_LAYOUT_Y416 + 1; layout++) {
        for (int type = 0; type <= ZE_IMAGE_FORMAT_TYPE_FLOAT; type++) {
            char key[64];
            ze_image_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_IMAGE_DESC,
                                    .type = ZE_IMAGE_TYPE_2D,
                                    .format = {.layout = (ze_image_format_layout_t)layout,
                                               .type = (ze_image_format_type_t)type,
                                               .x = ZE_IMAGE_FORMAT_SWIZZLE_R,
                                               .y = ZE_IMAGE_FORMAT_SWIZZLE_G,
                                               .z = ZE_IMAGE_FORMAT_SWIZZLE_B,
                                               .w = ZE_IMAGE_FORMAT_SWIZZLE_A},
                                    .width = 16,
                                    .height = 16,
                                    .depth = 1};
            ze_image_handle_t image = NULL;
            ze_image_properties_t p;
            FILL(p, ZE_STRUCTURE_TYPE_IMAGE_PROPERTIES);
            snprintf(key, sizeof(key), "image.format.%d.%d.properties", layout, type);
            ASK(key, zeImageGetProperties(a->device, &desc, &p));
            snprintf(key, sizeof(key), "image.format.%d.%d", layout, type);
            SHOW(key, p, samplerFilterFlags);
            snprintf(key, sizeof(key), "image.format.%d.%d.create", layout, type);
            ASK(key, zeImageCreate(a->context, a->device, &desc, &image));
            if (image)
                (void)zeImageDestroy(image);
        }
    }
}

void ask_properties(const struct ask *a)
{
    driver(a);
    device(a);
    compute(a);
    memories(a);
    images(a);
}

/* ---- kernels ---- */

static void suggestions(ze_kernel_handle_t kernel, const char *prefix)
{
    static const uint32_t sizes[][3] = {{1, 1, 1},   {1000, 1, 1}, {4096, 1, 1}, {64, 64, 1},
                                        {100, 7, 3}, {17, 1, 1},   {1, 256, 4},  {1048576, 1, 1}};
    char key[600];
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        uint32_t x = 0, y = 0, z = 0, count = 0;
        const uint32_t *s = sizes[i];
        snprintf(key, sizeof(key), "%s.suggest.%u_%u_%u", prefix, s[0], s[1], s[2]);
        ASK(key, zeKernelSuggestGroupSize(kernel, s[0], s[1], s[2], &x, &y, &z));
        printf("%s.is = %u %u %u\n", key, x, y, z);
        if (x && !zeKernelSetGroupSize(kernel, x, y, z)) {
            snprintf(key, sizeof(key), "%s.cooperative.%u_%u_%u", prefix, s[0], s[1], s[2]);
            ASK(key, zeKernelSuggestMaxCooperativeGroupCount(kernel, &count));
            printf("%s.is = %u\n", key, count);
        }
    }
}

static void one_kernel(const struct ask *a, ze_module_handle_t module, const char *file,
                       const char *name)
{
    char prefix[500], key[600];
    snprintf(prefix, sizeof(prefix), "kernel.%s.%s", file, name);
    ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name};
    ze_kernel_handle_t kernel = NULL;
    snprintf(key, sizeof(key), "%s.create", prefix);
    ASK(key, zeKernelCreate(module, &desc, &kernel));
    if (!kernel)
        return;
    ze_kernel_properties_t p;
    ze_kernel_preferred_group_size_properties_t preferred;
    FILL(p, ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES);
    FILL(preferred, ZE_STRUCTURE_TYPE_KERNEL_PREFERRED_GROUP_SIZE_PROPERTIES);
    p.pNext = &preferred;
    snprintf(key, sizeof(key), "%s.properties", prefix);
    ASK(key, zeKernelGetProperties(kernel, &p));
    SHOW(prefix, p, numKernelArgs);
    SHOW(prefix, p, requiredGroupSizeX);
    SHOW(prefix, p, requiredGroupSizeY);
    SHOW(prefix, p, requiredGroupSizeZ);
    SHOW(prefix, p, requiredNumSubGroups);
    SHOW(prefix, p, requiredSubgroupSize);
    SHOW(prefix, p, maxSubgroupSize);
    SHOW(prefix, p, maxNumSubgroups);
    SHOW(prefix, p, localMemSize);
    SHOW(prefix, p, privateMemSize);
    SHOW(prefix, p, spillMemSize);
    SHOW(prefix, preferred, preferredMultiple);
    uint32_t size = 0;
    char *attributes = NULL;
    snprintf(key, sizeof(key), "%s.attributes", prefix);
    ASK(key, zeKernelGetSourceAttributes(kernel, &size, NULL));
    printf("%s.size = %u\n", key, size);
    char text[4096] = "";
    attributes = text;
    if (size < sizeof(text) && !zeKernelGetSourceAttributes(kernel, &size, &attributes))
        printf("%s.text = %s\n", key, attributes ? attributes : "(null)");
    size_t length = 0;
    snprintf(key, sizeof(key), "%s.name_size", prefix);
    ASK(key, zeKernelGetName(kernel, &length, NULL));
    printf("%s.is = %zu\n", key, length);
    ze_kernel_indirect_access_flags_t flags = 0x5a;
    snprintf(key, sizeof(key), "%s.indirect", prefix);
    ASK(key, zeKernelGetIndirectAccess(kernel, &flags));
    printf("%s.is = 0x%x\n", key, flags);
    for (uint32_t i = 0; i < p.numKernelArgs && i < 16; i++) {
        static const size_t sizes[] = {1, 2, 4, 8, 16, 64};
        uint64_t pointers[8]; /* one of ours; as a value it is as good as any */
        for (int w = 0; w < 8; w++)
            pointers[w] = (uint64_t)(uintptr_t)a->shared_memory;
        for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
            snprintf(key, sizeof(key), "%s.argument.%u.size_%zu", prefix, i, sizes[s]);
            ASK(key, zeKernelSetArgumentValue(kernel, i, sizes[s], pointers));
        }
    }
    suggestions(kernel, prefix);
    (void)zeKernelDestroy(kernel);
}

void ask_kernels(const struct ask *a, const char *path)
{
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    const char *names[256];
    char key[600];
    size_t size_B = 0;
    uint8_t *data = ask_read_file(path, &size_B);
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = ZE_MODULE_FORMAT_NATIVE,
                             .inputSize = size_B,
                             .pInputModule = data};
    if (size_B > 4 && !memcmp(data, "\x03\x02\x23\x07", 4))
        desc.format = ZE_MODULE_FORMAT_IL_SPIRV;
    ze_module_handle_t module = NULL;
    snprintf(key, sizeof(key), "module.%s.create", file);
    ASK(key, zeModuleCreate(a->context, a->device, &desc, &module, NULL));
    free(data);
    if (!module)
        return;
    ze_module_properties_t p;
    FILL(p, ZE_STRUCTURE_TYPE_MODULE_PROPERTIES);
    snprintf(key, sizeof(key), "module.%s", file);
    ASK(key, zeModuleGetProperties(module, &p));
    SHOW(key, p, flags);
    uint32_t count = 256;
    snprintf(key, sizeof(key), "module.%s.names", file);
    ASK(key, zeModuleGetKernelNames(module, &count, names));
    printf("%s.count = %u\n", key, count);
    for (uint32_t i = 0; i < count && i < 256; i++)
        one_kernel(a, module, file, names[i]);
    (void)zeModuleDestroy(module);
}
