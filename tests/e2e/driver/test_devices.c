/* SPDX-License-Identifier: MIT */
/*
 * Device models, sub-devices, several devices in one process. argv[1] says which devices the
 * environment asks for (meson.build sets it accordingly).
 */
#include "kernels.h"

static ze_device_handle_t devices[64];
static uint32_t device_count;

static void get_devices(const struct e2e *e)
{
    device_count = COUNT(devices);
    OK(zeDeviceGet(e->driver, &device_count, devices));
}

static ze_device_properties_t properties(ze_device_handle_t device)
{
    ze_device_properties_t p = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    OK(zeDeviceGetProperties(device, &p));
    return p;
}

static uint64_t memory_size(ze_device_handle_t device)
{
    uint32_t one = 1;
    ze_device_memory_properties_t m = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES};
    OK(zeDeviceGetMemoryProperties(device, &one, &m));
    return m.totalSize;
}

static void *device_memory(const struct e2e *e, ze_device_handle_t device, size_t size)
{
    ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    void *p = NULL;
    OK(zeMemAllocDevice(e->context, &desc, size, 64, device, &p));
    return p;
}

/* p[i] += groups of 32 items each, on that device. */
static void add_on(struct e2e on, ze_module_handle_t module, int *p, uint32_t groups)
{
    ze_kernel_handle_t kernel = kernel_of(module, "add_atomic");
    set(kernel, 0, sizeof(p), &p);
    OK(zeKernelSetGroupSize(kernel, 32, 1, 1));
    OK(launch(&on, kernel, groups));
    OK(zeKernelDestroy(kernel));
}

static struct e2e on_device(const struct e2e *e, ze_device_handle_t device)
{
    struct e2e on = *e;
    on.device = device;
    return on;
}

/* ---- models: every Gen9 that runs ---- */

/* What Intel's tables say: id, slices, subslices, EUs, threads, nanoseconds of a tick. */
static const struct {
    uint32_t id, slices, subslices, eus, threads, tick_ns;
} expected[] = {
    {0x1912, 1, 3, 8, 7, 83}, {0x1902, 1, 2, 6, 7, 83}, {0x1926, 2, 3, 8, 7, 83},
    {0x193b, 3, 3, 8, 7, 83}, {0x5912, 1, 3, 8, 7, 83}, {0x5902, 1, 2, 6, 7, 83},
    {0x5927, 2, 3, 8, 7, 83}, {0x591c, 1, 3, 8, 7, 83}, {0x3e92, 1, 3, 8, 7, 83},
    {0x3e90, 1, 2, 6, 7, 83}, {0x3ea5, 2, 3, 8, 7, 83}, {0x3ea0, 1, 3, 8, 7, 83},
    {0x9bc5, 1, 3, 8, 7, 83}, {0x5a84, 1, 3, 6, 6, 52}, {0x5a85, 1, 2, 6, 6, 52},
    {0x3184, 1, 3, 6, 6, 52}, {0x3185, 1, 2, 6, 6, 52}, {0x1912, 1, 3, 8, 7, 83},
};

static void test_models(void **state)
{
    struct e2e *e = *state;
    get_devices(e);
    assert_int_equal(device_count, COUNT(expected));
    for (uint32_t i = 0; i < device_count; i++) {
        ze_device_properties_t p = properties(devices[i]);
        assert_int_equal(p.deviceId, expected[i].id);
        assert_int_equal(p.numSlices, expected[i].slices);
        assert_int_equal(p.numSubslicesPerSlice, expected[i].subslices);
        assert_int_equal(p.numEUsPerSubslice, expected[i].eus);
        assert_int_equal(p.numThreadsPerEU, expected[i].threads);
        assert_int_equal(p.timerResolution, expected[i].tick_ns);
        assert_true(strncmp(p.name, "Intel(R) ", 9) == 0);
        bool small = expected[i].tick_ns == 52; /* Broxton, Gemini Lake */
        ze_device_module_properties_t m = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES};
        OK(zeDeviceGetModuleProperties(devices[i], &m));
        assert_int_equal((m.flags & ZE_DEVICE_MODULE_FLAG_INT64_ATOMICS) != 0, !small);
        for (uint32_t k = 0; k < i; k++) {
            ze_device_properties_t other = properties(devices[k]);
            assert_memory_not_equal(p.uuid.id, other.uuid.id, sizeof(p.uuid.id));
        }
        uint32_t none = 7;
        OK(zeDeviceGetSubDevices(devices[i], &none, NULL));
        assert_int_equal(none, 0);
    }
}

/* Patch tokens and zebin name the family: Skylake's run on all. SPIR-V is compiled for each. */
static void test_model_kernels(void **state)
{
    struct e2e *e = *state;
    get_devices(e);
    int *p = e2e_alloc(e, 4);
    static const char *const files[] = {"kernels.bin", "kernels.zebin", "kernels.spv"};
    for (uint32_t i = 0; i < device_count; i++) {
        struct e2e on = on_device(e, devices[i]);
        bool product = expected[i].slices == 1 && expected[i].eus * expected[i].subslices != 12;
        *p = 0;
        for (uint32_t k = 0; k < (product ? 3u : 2u); k++) {
            ze_module_handle_t module = make_module(&on, files[k]);
            add_on(on, module, p, 1);
            assert_int_equal(*p, 32 * (k + 1));
            OK(zeModuleDestroy(module));
        }
    }
    OK(zeMemFree(e->context, p));
}

/* ---- later: models of later generations ---- */

/* The same of NEO's tables, and what differs: work-items of a group, doubles, 64-bit atomics. */
static const struct later {
    uint32_t id, slices, subslices, eus, threads, group, simd;
    bool doubles, int64_atomics, integrated;
    bool runs; /* the first of a generation: build and run something */
} later[] = {
    {0x8a52, 1, 8, 8, 7, 256, 8, false, true, true, true},     /* icllp */
    {0x8a5a, 1, 6, 8, 7, 256, 8, false, true, true, false},    /* icllp-1x6 */
    {0x8a56, 1, 4, 8, 7, 256, 8, false, true, true, false},    /* icllp-1x4 */
    {0x4571, 1, 4, 8, 7, 256, 8, false, false, true, false},   /* ehl */
    {0x9a49, 1, 6, 16, 7, 512, 8, false, true, true, true},    /* tgllp */
    {0x9a60, 1, 2, 16, 7, 512, 8, false, true, true, false},   /* tgllp-1x2 */
    {0x4c8a, 1, 2, 16, 7, 512, 8, false, true, true, false},   /* rkl */
    {0x4680, 1, 2, 16, 7, 512, 8, false, true, true, false},   /* adl-s */
    {0x46a6, 1, 6, 16, 7, 512, 8, false, true, true, false},   /* adl-p */
    {0x46d1, 1, 2, 16, 7, 512, 8, false, true, true, false},   /* adl-n */
    {0x4905, 1, 6, 16, 7, 512, 8, false, true, false, true},   /* dg1 */
    {0x56a0, 8, 4, 16, 8, 1024, 8, false, true, false, true},  /* acm-g10 */
    {0x56a5, 2, 4, 16, 8, 1024, 8, false, true, false, false}, /* acm-g11 */
    {0x5696, 4, 4, 16, 8, 1024, 8, false, true, false, false}, /* acm-g12 */
    {0x0bd5, 8, 8, 8, 8, 1024, 16, true, true, false, true},   /* pvc */
    {0x0bd0, 8, 8, 8, 8, 1024, 16, true, true, false, true},   /* pvc-sdv */
    {0x7d45, 1, 4, 16, 8, 1024, 8, true, true, true, false},   /* mtl */
    {0x7d55, 2, 4, 16, 8, 1024, 8, true, true, true, false},   /* mtl-h */
    {0x7d51, 2, 4, 16, 8, 1024, 8, true, true, true, false},   /* arl-h */
    {0xe20b, 5, 4, 8, 8, 1024, 16, true, true, false, false},  /* bmg */
    {0x64a0, 2, 4, 8, 8, 1024, 16, true, true, true, false},   /* lnl */
    {0xb080, 2, 6, 8, 10, 1024, 16, true, true, true, false},  /* ptl */
    {0xb090, 1, 4, 8, 10, 1024, 16, true, true, true, false},  /* ptl-u */
    {0xfd80, 1, 2, 8, 10, 1024, 16, true, true, true, false},  /* wcl */
    {0xd740, 2, 6, 8, 10, 1024, 16, true, true, true, false},  /* nvl-s */
    {0xd741, 2, 6, 8, 10, 1024, 16, true, true, true, false},  /* nvl-u */
    {0xd750, 2, 6, 8, 10, 1024, 16, true, true, true, false},  /* nvl-p */
    {0x674c, 2, 6, 8, 8, 1024, 16, true, true, false, false},  /* cri */
};

/* DG2 and Xe-LPG; XeHPC, Xe2, Xe3 and Xe3P. */
static bool is_hpg(uint32_t id)
{
    return id >> 8 == 0x56 || id >> 8 == 0x7d;
}

static bool is_hpc(uint32_t id)
{
    return id >> 8 == 0x0b || id >> 8 == 0xe2 || id >> 8 == 0x64 || id >> 8 == 0xb0 ||
           id >> 8 == 0xfd || id >> 8 == 0xd7 || id >> 8 == 0x67;
}

/* Dot products came with Tiger Lake, those of matrices with DG2. */
static void check_products(const struct later *want, ze_device_handle_t device)
{
    struct {
        uint32_t stype;
        void *next;
        uint32_t flags; /* bit 0: dp4a, bit 1: dpas */
    } products = {.stype = 0x30013, .flags = 0xff};
    ze_device_module_properties_t m = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES,
                                       .pNext = &products};
    bool gen11 = want->id == 0x4571 || want->id >> 8 == 0x8a;
    bool is_mtl = want->id == 0x7d45 || want->id == 0x7d55;
    bool systolic = (is_hpg(want->id) && !is_mtl) || is_hpc(want->id);
    OK(zeDeviceGetModuleProperties(device, &m));
    assert_int_equal((m.flags & ZE_DEVICE_MODULE_FLAG_DP4A) != 0, !gen11);
    assert_int_equal(products.flags, (gen11 ? 0 : 1) | (systolic ? 2 : 0));
}

/* Additions of floats in memory came with DG2. */
static void check_float_atomics(const struct later *want, ze_device_handle_t device)
{
    const ze_device_fp_atomic_ext_flags_t add =
        ZE_DEVICE_FP_ATOMIC_EXT_FLAG_GLOBAL_ADD | ZE_DEVICE_FP_ATOMIC_EXT_FLAG_LOCAL_ADD;
    const ze_device_fp_atomic_ext_flags_t others = ZE_DEVICE_FP_ATOMIC_EXT_FLAG_GLOBAL_LOAD_STORE |
                                                   ZE_DEVICE_FP_ATOMIC_EXT_FLAG_LOCAL_LOAD_STORE |
                                                   ZE_DEVICE_FP_ATOMIC_EXT_FLAG_GLOBAL_MIN_MAX |
                                                   ZE_DEVICE_FP_ATOMIC_EXT_FLAG_LOCAL_MIN_MAX;
    ze_float_atomic_ext_properties_t a = {.stype = ZE_STRUCTURE_TYPE_FLOAT_ATOMIC_EXT_PROPERTIES};
    ze_device_module_properties_t m = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES,
                                       .pNext = &a};
    bool adds = is_hpg(want->id) || is_hpc(want->id);
    OK(zeDeviceGetModuleProperties(device, &m));
    assert_int_equal(a.fp16Flags, adds ? others : 0);
    assert_int_equal(a.fp32Flags, adds ? others | add : others);
    assert_int_equal(a.fp64Flags, adds && want->doubles ? others | add : 0);
}

static void check_later(const struct later *want, ze_device_handle_t device)
{
    ze_device_properties_t p = properties(device);
    ze_device_module_properties_t m = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES};
    ze_device_compute_properties_t c = {.stype = ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES};
    OK(zeDeviceGetModuleProperties(device, &m));
    OK(zeDeviceGetComputeProperties(device, &c));
    assert_int_equal(p.deviceId, want->id);
    assert_int_equal(p.numSlices, want->slices);
    assert_int_equal(p.numSubslicesPerSlice, want->subslices);
    assert_int_equal(p.numEUsPerSubslice, want->eus);
    assert_int_equal(p.numThreadsPerEU, want->threads);
    assert_int_equal(p.physicalEUSimdWidth, want->simd);
    assert_true(strncmp(p.name, "Intel(R) ", 9) == 0);
    assert_int_equal((p.flags & ZE_DEVICE_PROPERTY_FLAG_INTEGRATED) != 0, want->integrated);
    assert_int_equal((m.flags & ZE_DEVICE_MODULE_FLAG_FP64) != 0, want->doubles);
    assert_int_equal((m.flags & ZE_DEVICE_MODULE_FLAG_INT64_ATOMICS) != 0, want->int64_atomics);
    assert_true(m.flags & ZE_DEVICE_MODULE_FLAG_FP16);
    check_products(want, device);
    check_float_atomics(want, device);
    assert_int_equal(m.fp64flags != 0, want->doubles);
    assert_int_equal(c.maxTotalGroupSize, want->group);
    assert_int_equal(c.subGroupSizes[0], want->simd);
}

/* Count and bits of the register sets 1 to 12 as Intel's system routines describe them (the headers
 * of their state save areas), {0, 0} where there is none; of Gen11, which Intel's driver does not
 * debug, and of Xe3P, which has 32 words in a0, what this one says. */
struct register_set {
    uint32_t count, bits;
};
static const struct register_set gen11_sets[12] = {{128, 256}, {1, 256}, {2, 32},  {1, 32},
                                                   {2, 128},   {1, 128}, {1, 128}, {10, 256},
                                                   {8, 256},   {1, 128}, {9, 64},  {1, 32}},
                                 gen12_sets[12] = {{128, 256}, {1, 256}, {2, 32},  {1, 32},
                                                   {1, 128},   {1, 128}, {1, 128}, {10, 256},
                                                   {0, 0},     {1, 128}, {9, 64},  {0, 0}},
                                 hpg_sets[12] = {{128, 256}, {1, 256}, {2, 32}, {1, 32},
                                                 {1, 128},   {1, 128}, {0, 0},  {4, 256},
                                                 {8, 256},   {0, 0},   {9, 64}, {1, 64}},
                                 hpc_sets[12] = {{128, 512}, {1, 256}, {4, 32},  {1, 32},
                                                 {1, 128},   {1, 128}, {1, 128}, {4, 512},
                                                 {8, 512},   {1, 128}, {9, 64},  {1, 64}};

static void check_register_sets(const struct later *want, ze_device_handle_t device)
{
    const struct register_set *wanted = is_hpc(want->id)                              ? hpc_sets
                                        : is_hpg(want->id)                            ? hpg_sets
                                        : want->id == 0x4571 || want->id >> 8 == 0x8a ? gen11_sets
                                                                                      : gen12_sets;
    zet_debug_regset_properties_t sets[40] = {0};
    uint32_t count = COUNT(sets), seen = 0, listed = 0;
    OK(zetDebugGetRegisterSetProperties(device, &count, sets));
    for (uint32_t i = 0; i < count; i++) {
        if (sets[i].type > 12)
            continue;
        const struct register_set *w = &wanted[sets[i].type - 1];
        bool is_longer = sets[i].type == 2 && (want->id == 0xd750 || want->id == 0x674c);
        uint32_t bits = is_longer ? 2 * w->bits : w->bits;
        assert_int_equal(sets[i].count, w->count);
        assert_int_equal(sets[i].bitSize, bits);
        assert_int_equal(sets[i].byteSize, bits / 8);
        assert_int_equal(sets[i].version, 0);
        assert_true(sets[i].generalFlags & ZET_DEBUG_REGSET_FLAG_READABLE);
        assert_false(seen >> sets[i].type & 1);
        seen |= 1u << sets[i].type;
    }
    for (uint32_t i = 0; i < 12; i++)
        listed |= wanted[i].count ? 2u << i : 0u;
    assert_int_equal(seen, listed);
}

/* Threads that are resident at once: half as many with twice the registers. */
static void check_resident(const struct later *want, struct e2e on, const char *flags, bool halved)
{
    static uint8_t spirv[1 << 16];
    char path[4096];
    snprintf(path, sizeof(path), "%s/add.spv", getenv("E2E_KERNELS"));
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    const ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                   .format = ZE_MODULE_FORMAT_IL_SPIRV,
                                   .inputSize = fread(spirv, 1, sizeof(spirv), f),
                                   .pInputModule = spirv,
                                   .pBuildFlags = flags};
    const ze_kernel_desc_t add = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                                  .pKernelName = "add_atomic"};
    ze_kernel_properties_t p = {.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES};
    uint32_t threads = want->slices * want->subslices * want->eus * want->threads, groups = 0;
    ze_module_handle_t module;
    ze_kernel_handle_t kernel;
    fclose(f);
    OK(zeModuleCreate(on.context, on.device, &desc, &module, NULL));
    OK(zeKernelCreate(module, &add, &kernel));
    OK(zeKernelGetProperties(kernel, &p));
    OK(zeKernelSetGroupSize(kernel, 64, 1, 1));
    OK(zeKernelSuggestMaxCooperativeGroupCount(kernel, &groups));
    assert_int_equal(groups, threads / (halved ? 2 : 1) / (64 / p.maxSubgroupSize));
    OK(zeKernelDestroy(kernel));
    OK(zeModuleDestroy(module));
}

static void test_later(void **state)
{
    struct e2e *e = *state;
    get_devices(e);
    assert_int_equal(device_count, COUNT(later));
    int *p = e2e_alloc(e, 4);
    for (uint32_t i = 0; i < device_count; i++) {
        check_later(&later[i], devices[i]);
        check_register_sets(&later[i], devices[i]);
        if (!later[i].runs)
            continue;
        struct e2e on = on_device(e, devices[i]);
        ze_module_handle_t module = make_module(&on, "add.spv");
        *p = 0;
        add_on(on, module, p, 3);
        assert_int_equal(*p, 96);
        OK(zeModuleDestroy(module));
        if (later[i].id == 0x0bd5 || later[i].id == 0x56a5) {
            check_resident(&later[i], on, "", false);
            check_resident(&later[i], on, "-ze-opt-large-register-file", true);
        }
    }
    OK(zeMemFree(e->context, p));
}

/* ---- several, generations: memory and contexts across devices; "skl,kbl", "skl,icllp" ---- */

static const char *across_file = "kernels.bin"; /* with add_atomic for both devices */

static void test_across(void **state)
{
    struct e2e *e = *state;
    get_devices(e);
    assert_int_equal(device_count, 2);
    struct e2e a = on_device(e, devices[0]), b = on_device(e, devices[1]);
    ze_bool_t can = 0;
    OK(zeDeviceCanAccessPeer(devices[0], devices[1], &can));
    assert_true(can);
    ze_device_p2p_properties_t p2p = {.stype = ZE_STRUCTURE_TYPE_DEVICE_P2P_PROPERTIES};
    OK(zeDeviceGetP2PProperties(devices[0], devices[1], &p2p));
    assert_true(p2p.flags & ZE_DEVICE_P2P_PROPERTY_FLAG_ACCESS);
    ze_module_handle_t ma = make_module(&a, across_file), mb = make_module(&b, across_file);
    int *pa = device_memory(e, devices[0], 4096), *pb = device_memory(e, devices[1], 4096);
    int *shared = e2e_alloc(e, 4096), zero = 0;
    ze_device_handle_t owner = NULL;
    ze_memory_allocation_properties_t props = {.stype =
                                                   ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};
    OK(zeMemGetAllocProperties(e->context, pb, &props, &owner));
    assert_ptr_equal(owner, devices[1]);
    *shared = 0;
    /* shared memory by both; a peer's memory; a copy on either side's queue */
    add_on(a, ma, shared, 1);
    add_on(b, mb, shared, 2);
    assert_int_equal(*shared, 96);
    ze_command_list_handle_t la = e2e_immediate(&a, true), lb = e2e_immediate(&b, true);
    OK(zeCommandListAppendMemoryFill(la, pb, &zero, 4, 4, NULL, 0, NULL));
    add_on(a, ma, pb, 1);
    add_on(b, mb, pb, 1);
    OK(zeCommandListAppendMemoryCopy(lb, pa, pb, 4, NULL, 0, NULL));
    OK(zeCommandListAppendMemoryCopy(la, shared, pa, 4, NULL, 0, NULL));
    assert_int_equal(*shared, 64);
    /* an event of one device is waited for by the other */
    ze_event_pool_handle_t pool = e2e_pool(e, 2, 0);
    ze_event_handle_t event = e2e_event(pool, 0), done = e2e_event(pool, 1);
    ze_command_list_handle_t wait = e2e_immediate(&b, false);
    OK(zeCommandListAppendMemoryFill(wait, shared, "\x7f", 1, 4, done, 1, &event));
    OK(zeCommandListAppendMemoryCopy(la, shared + 1, pa, 4, event, 0, NULL));
    OK(zeEventHostSynchronize(done, UINT64_MAX));
    assert_int_equal(shared[0], 0x7f7f7f7f);
    /* what belongs to one device does not run on the other */
    ze_kernel_handle_t kernel = kernel_of(ma, "add_atomic");
    set(kernel, 0, sizeof(shared), &shared);
    ze_group_count_t groups = {1, 1, 1};
    FAILS(zeCommandListAppendLaunchKernel(lb, kernel, &groups, NULL, 0, NULL),
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
    ze_command_queue_handle_t queue = e2e_queue(&b, 0);
    ze_command_list_handle_t list = e2e_list(&a, 0);
    OK(zeCommandListClose(list));
    FAILS(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL),
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(zeKernelDestroy(kernel));
    OK(zeCommandListDestroy(list));
    OK(zeCommandListDestroy(wait));
    OK(zeCommandListDestroy(la));
    OK(zeCommandListDestroy(lb));
    OK(zeCommandQueueDestroy(queue));
    OK(zeEventDestroy(event));
    OK(zeEventDestroy(done));
    OK(zeEventPoolDestroy(pool));
    OK(zeMemFree(e->context, pa));
    OK(zeMemFree(e->context, pb));
    OK(zeMemFree(e->context, shared));
    OK(zeModuleDestroy(ma));
    OK(zeModuleDestroy(mb));
}

static void test_subset(void **state)
{
    struct e2e *e = *state, own = *e;
    get_devices(e);
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    OK(zeContextCreateEx(e->driver, &desc, 1, &devices[1], &own.context));
    own.device = devices[1];
    ze_module_handle_t module = make_module(&own, across_file);
    int *p = e2e_alloc(&own, 4);
    *p = 0;
    add_on(own, module, p, 1);
    assert_int_equal(*p, 32);
    void *q = NULL;
    ze_device_mem_alloc_desc_t mem = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    FAILS(zeMemAllocDevice(own.context, &mem, 64, 0, devices[0], &q),
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
    ze_command_queue_desc_t queue_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    ze_command_queue_handle_t queue;
    FAILS(zeCommandQueueCreate(own.context, devices[0], &queue_desc, &queue),
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(zeMemFree(own.context, p));
    OK(zeModuleDestroy(module));
    OK(zeContextDestroy(own.context));
}

/* ---- tiles: "skl:2,kbl" ---- */

static void test_sub_devices(void **state)
{
    struct e2e *e = *state;
    get_devices(e);
    assert_int_equal(device_count, 2);
    ze_device_handle_t subs[4];
    uint32_t count = 0;
    OK(zeDeviceGetSubDevices(devices[0], &count, NULL));
    assert_int_equal(count, 2);
    count = COUNT(subs);
    OK(zeDeviceGetSubDevices(devices[0], &count, subs));
    assert_int_equal(count, 2);
    uint32_t none = 0;
    OK(zeDeviceGetSubDevices(subs[0], &none, NULL));
    assert_int_equal(none, 0);
    OK(zeDeviceGetSubDevices(devices[1], &none, NULL));
    assert_int_equal(none, 0);
    ze_device_properties_t whole = properties(devices[0]);
    assert_false(whole.flags & ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE);
    for (uint32_t i = 0; i < 2; i++) {
        ze_device_properties_t p = properties(subs[i]);
        assert_true(p.flags & ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE);
        assert_int_equal(p.subdeviceId, i);
        assert_int_equal(2 * p.numSlices, whole.numSlices);
        assert_int_equal(p.deviceId, whole.deviceId);
        assert_memory_not_equal(p.uuid.id, whole.uuid.id, sizeof(p.uuid.id));
        assert_true(memory_size(subs[i]) <= memory_size(devices[0]));
        ze_bool_t can = 0;
        OK(zeDeviceCanAccessPeer(subs[i], subs[1 - i], &can));
        assert_true(can);
        OK(zeDeviceCanAccessPeer(subs[i], devices[1], &can));
        assert_true(can);
    }
}

static void test_sub_device_work(void **state)
{
    struct e2e *e = *state;
    get_devices(e);
    ze_device_handle_t subs[2];
    uint32_t count = 2;
    OK(zeDeviceGetSubDevices(devices[0], &count, subs));
    struct e2e whole = on_device(e, devices[0]),
               tile[2] = {on_device(e, subs[0]), on_device(e, subs[1])};
    /* a module of the root device serves its tiles; a tile may have one of its own */
    ze_module_handle_t module = make_module(&whole, "kernels.bin");
    ze_module_handle_t own = make_module(&tile[1], "kernels.bin");
    int *p = device_memory(e, subs[0], 4096), *all = device_memory(e, devices[0], 4096);
    int *shared = e2e_alloc(&tile[1], 64), zero = 0;
    ze_command_list_handle_t list = e2e_immediate(&tile[1], true);
    OK(zeCommandListAppendMemoryFill(list, p, &zero, 4, 4096, NULL, 0, NULL));
    add_on(tile[0], module, p, 1);
    add_on(tile[1], module, p, 2);
    add_on(tile[1], own, p, 4);
    add_on(whole, module, p, 8);
    OK(zeCommandListAppendMemoryCopy(list, all, p, 4, NULL, 0, NULL));
    OK(zeCommandListAppendMemoryCopy(list, shared, all, 4, NULL, 0, NULL));
    assert_int_equal(*shared, 15 * 32);
    ze_device_handle_t owner = NULL;
    ze_memory_allocation_properties_t props = {.stype =
                                                   ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};
    OK(zeMemGetAllocProperties(e->context, p, &props, &owner));
    assert_ptr_equal(owner, subs[0]);
    /* an event of one tile, waited for by the other */
    ze_event_pool_desc_t pool_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                      .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE |
                                               ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP,
                                      .count = 1};
    ze_event_pool_handle_t pool;
    OK(zeEventPoolCreate(e->context, &pool_desc, 2, subs, &pool));
    ze_event_handle_t event = e2e_event(pool, 0);
    ze_command_list_handle_t first = e2e_immediate(&tile[0], false);
    OK(zeCommandListAppendMemoryFill(first, shared, "\x11", 1, 4, event, 0, NULL));
    OK(zeCommandListAppendMemoryCopy(list, shared + 1, shared, 4, NULL, 1, &event));
    assert_int_equal(shared[1], 0x11111111);
    ze_kernel_timestamp_result_t times;
    OK(zeEventQueryKernelTimestamp(event, &times));
    OK(zeEventDestroy(event));
    OK(zeEventPoolDestroy(pool));
    OK(zeCommandListDestroy(first));
    /* memory of a tile is memory of its root: what one tile takes the others lack */
    void *big[8];
    uint32_t taken = 0;
    ze_device_mem_alloc_desc_t mem = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    size_t piece = (size_t)(memory_size(subs[0]) / 4);
    while (taken < COUNT(big) &&
           zeMemAllocDevice(e->context, &mem, piece, 0, subs[0], &big[taken]) == ZE_RESULT_SUCCESS)
        taken++;
    assert_in_range(taken, 3, 4);
    void *more = device_memory(e, subs[1], piece);
    OK(zeMemFree(e->context, more));
    while (taken > 0)
        OK(zeMemFree(e->context, big[--taken]));
    /* a context of one tile */
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    struct e2e alone = tile[1];
    OK(zeContextCreateEx(e->driver, &desc, 1, &subs[1], &alone.context));
    int *q = e2e_alloc(&alone, 64);
    ze_command_queue_handle_t queue;
    ze_command_queue_desc_t queue_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    FAILS(zeCommandQueueCreate(alone.context, devices[1], &queue_desc, &queue),
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(zeMemFree(alone.context, q));
    OK(zeContextDestroy(alone.context));
    OK(zeCommandListDestroy(list));
    OK(zeMemFree(e->context, p));
    OK(zeMemFree(e->context, all));
    OK(zeMemFree(e->context, shared));
    OK(zeModuleDestroy(own));
    OK(zeModuleDestroy(module));
}

/* ---- stacks: "pvc:2,skl" ---- */

static void test_stacks(void **state)
{
    struct e2e *e = *state;
    get_devices(e);
    ze_device_handle_t subs[2];
    uint32_t count = 2, one = 1;
    OK(zeDeviceGetSubDevices(devices[0], &count, subs));
    ze_device_memory_ext_properties_t more = {.stype =
                                                  ZE_STRUCTURE_TYPE_DEVICE_MEMORY_EXT_PROPERTIES};
    ze_device_memory_properties_t memory = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES,
                                            .pNext = &more};
    OK(zeDeviceGetMemoryProperties(subs[0], &one, &memory));
    assert_string_equal(memory.name, "HBM");
    assert_int_equal(more.type, ZE_DEVICE_MEMORY_EXT_TYPE_HBM2);
    uint32_t tile_bits = memory.maxBusWidth, tile_rate = more.readBandwidth;
    assert_int_equal(tile_rate, 1638); /* 3.28 TB/s of two tiles */
    OK(zeDeviceGetMemoryProperties(devices[0], &one, &memory));
    assert_int_equal(memory.maxBusWidth, 2 * tile_bits);
    assert_in_range(more.readBandwidth, 2 * tile_rate, 2 * tile_rate + 1);
    ze_device_cache_properties_t cache = {.stype = ZE_STRUCTURE_TYPE_DEVICE_CACHE_PROPERTIES};
    OK(zeDeviceGetCacheProperties(subs[0], &one, &cache));
    assert_int_equal(cache.cacheSize, 192 << 20);
    OK(zeDeviceGetCacheProperties(devices[0], &one, &cache));
    assert_int_equal(cache.cacheSize, 2 * (192 << 20));
    ze_device_compute_properties_t compute = {.stype = ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES};
    OK(zeDeviceGetComputeProperties(subs[1], &compute));
    assert_int_equal(compute.maxSharedLocalMemory, 128 << 10);
    assert_int_equal(compute.numSubGroupSizes, 2);
    assert_int_equal(compute.subGroupSizes[1], 32);
    /* neither images nor samplers */
    ze_device_image_properties_t images = {.stype = ZE_STRUCTURE_TYPE_DEVICE_IMAGE_PROPERTIES};
    OK(zeDeviceGetImageProperties(subs[0], &images));
    assert_int_equal(images.maxImageDims2D, 0);
    assert_int_equal(images.maxSamplers, 0);
    ze_image_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_IMAGE_DESC,
                            .type = ZE_IMAGE_TYPE_2D,
                            .width = 16,
                            .height = 16,
                            .depth = 1};
    ze_image_handle_t image;
    FAILS(zeImageCreate(e->context, subs[0], &desc, &image), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    ze_sampler_desc_t sampler_desc = {.stype = ZE_STRUCTURE_TYPE_SAMPLER_DESC};
    ze_sampler_handle_t sampler;
    FAILS(zeSamplerCreate(e->context, subs[0], &sampler_desc, &sampler),
          ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    OK(zeImageCreate(e->context, devices[1], &desc, &image));
    OK(zeImageDestroy(image));
    /* root, stacks and another device on the same memory */
    struct e2e on[4] = {on_device(e, devices[0]), on_device(e, subs[0]), on_device(e, subs[1]),
                        on_device(e, devices[1])};
    int *p = e2e_alloc(e, 4);
    *p = 0;
    for (uint32_t i = 0; i < 4; i++) {
        ze_module_handle_t module = make_module(&on[i], "add.spv");
        add_on(on[i], module, p, 1 << i);
        OK(zeModuleDestroy(module));
    }
    assert_int_equal(*p, 15 * 32);
    OK(zeMemFree(e->context, p));
}

/* ---- masks: what stands in ZE_AFFINITY_MASK of "skl:4,kbl,cfl:2" ---- */

struct shape {
    uint32_t id, subs, slices, sub_flag;
};

static void check_shapes(const struct e2e *e, const struct shape *shapes, uint32_t count)
{
    get_devices(e);
    assert_int_equal(device_count, count);
    for (uint32_t i = 0; i < count; i++) {
        ze_device_properties_t p = properties(devices[i]);
        uint32_t subs = 0;
        OK(zeDeviceGetSubDevices(devices[i], &subs, NULL));
        assert_int_equal(p.deviceId, shapes[i].id);
        assert_int_equal(subs, shapes[i].subs);
        assert_int_equal(p.numSlices, shapes[i].slices);
        assert_int_equal(p.flags & ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE, shapes[i].sub_flag);
        ze_device_handle_t sub[16];
        OK(zeDeviceGetSubDevices(devices[i], &subs, sub));
        for (uint32_t k = 0; k < subs; k++)
            assert_int_equal(properties(sub[k]).subdeviceId, k);
    }
}

#define SHAPES(name, ...)                                                                          \
    static void test_##name(void **state)                                                          \
    {                                                                                              \
        static const struct shape shapes[] = {__VA_ARGS__};                                        \
        check_shapes(*state, shapes, COUNT(shapes));                                               \
    }
enum { SUB = ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE };
SHAPES(unmasked, {0x1912, 4, 4, 0}, {0x5912, 0, 1, 0}, {0x3e92, 2, 2, 0})
SHAPES(one_tile, {0x1912, 0, 1, 0})                                    /* 0.2 */
SHAPES(mixed, {0x1912, 2, 2, 0}, {0x5912, 0, 1, 0}, {0x3e92, 2, 2, 0}) /* 1,2, 0.3,0.1,7,0.9 */
SHAPES(flat, {0x1912, 0, 1, 0}, {0x1912, 0, 1, 0}, {0x5912, 0, 1, 0})  /* FLAT 1,2,4 */
SHAPES(combined, {0x1912, 0, 1, SUB}, {0x5912, 0, 1, 0}, {0x3e92, 0, 1, SUB}) /* COMBINED 3,4,5 */
SHAPES(stacks_flat, {0x0bd5, 0, 8, 0}, {0x0bd5, 0, 8, 0})

/* ---- refused ---- */

static void test_refused(void **state)
{
    FAILS(zeInit(0), ZE_RESULT_ERROR_UNINITIALIZED);
}

static int run(const char *what)
{
#define IS(name) (strcmp(what, name) == 0)
#define RUN(...)                                                                                   \
    do {                                                                                           \
        const struct CMUnitTest tests[] = {__VA_ARGS__};                                           \
        return cmocka_run_group_tests(tests, e2e_setup, e2e_teardown);                             \
    } while (0)
    if (IS("models"))
        RUN(cmocka_unit_test(test_models), cmocka_unit_test(test_model_kernels));
    if (IS("later"))
        RUN(cmocka_unit_test(test_later));
    if (IS("generations"))
        across_file = "add.spv";
    if (IS("several") || IS("generations"))
        RUN(cmocka_unit_test(test_across), cmocka_unit_test(test_subset));
    if (IS("tiles"))
        RUN(cmocka_unit_test(test_sub_devices), cmocka_unit_test(test_sub_device_work));
    if (IS("stacks"))
        RUN(cmocka_unit_test(test_sub_devices), cmocka_unit_test(test_stacks));
    if (IS("unmasked"))
        RUN(cmocka_unit_test(test_unmasked));
    if (IS("one-tile"))
        RUN(cmocka_unit_test(test_one_tile));
    if (IS("mixed"))
        RUN(cmocka_unit_test(test_mixed));
    if (IS("flat"))
        RUN(cmocka_unit_test(test_flat));
    if (IS("stacks-flat"))
        RUN(cmocka_unit_test(test_stacks_flat));
    if (IS("combined"))
        RUN(cmocka_unit_test(test_combined));
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv)
{
    return run(argc > 1 ? argv[1] : "");
}
