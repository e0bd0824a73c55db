/* SPDX-License-Identifier: MIT */
/*
 * Every function of every table, called with nothing, with garbage, and with a live handle of each
 * kind and nothing else. None may crash; what takes a handle refuses one of another kind. On
 * x86-64 integers and pointers travel alike, so all functions can be called as one type: six
 * registers and a block of zeros for what is passed by value.
 */
#include "../test.h"

#include "driver/driver_priv.h"

#include <stdio.h>
#include <stdlib.h>

typedef ze_result_t (*any_fn)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
                              uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
                              uintptr_t, uintptr_t);

#define TABLES(X)                                                                                  \
    X(ze, Driver, driver)                                                                          \
    X(ze, Device, device)                                                                          \
    X(ze, DeviceExp, device_exp)                                                                   \
    X(ze, Context, context)                                                                        \
    X(ze, CommandQueue, command_queue)                                                             \
    X(ze, CommandList, command_list)                                                               \
    X(ze, Image, image)                                                                            \
    X(ze, ImageExp, image_exp)                                                                     \
    X(ze, Fence, fence)                                                                            \
    X(ze, EventPool, event_pool)                                                                   \
    X(ze, Event, event)                                                                            \
    X(ze, EventExp, event_exp)                                                                     \
    X(ze, Module, module)                                                                          \
    X(ze, ModuleBuildLog, module_build_log)                                                        \
    X(ze, Kernel, kernel)                                                                          \
    X(ze, KernelExp, kernel_exp)                                                                   \
    X(ze, Sampler, sampler)                                                                        \
    X(ze, PhysicalMem, physical_mem)                                                               \
    X(ze, Mem, mem)                                                                                \
    X(ze, VirtualMem, virtual_mem)                                                                 \
    X(ze, FabricVertexExp, fabric_vertex_exp)                                                      \
    X(ze, FabricEdgeExp, fabric_edge_exp)                                                          \
    X(zet, Device, device)                                                                         \
    X(zet, Context, context)                                                                       \
    X(zet, CommandList, command_list)                                                              \
    X(zet, Module, module)                                                                         \
    X(zet, Kernel, kernel)                                                                         \
    X(zet, MetricGroup, metric_group)                                                              \
    X(zet, Metric, metric)                                                                         \
    X(zet, MetricStreamer, metric_streamer)                                                        \
    X(zet, MetricQueryPool, metric_query_pool)                                                     \
    X(zet, MetricQuery, metric_query)                                                              \
    X(zet, TracerExp, tracer_exp)                                                                  \
    X(zet, Debug, debug)

enum { FUNCTIONS_MAX = 64 };

static struct table {
    const char *name;
    any_fn functions[FUNCTIONS_MAX];
    size_t count;
} tables[64];
static size_t table_count;

static void load_tables(void)
{
#define X(api, Name, type)                                                                         \
    {                                                                                              \
        api##_##type##_dditable_t t;                                                               \
        memset(&t, 0, sizeof(t));                                                                  \
        assert_int_equal(api##Get##Name##ProcAddrTable(ZE_API_VERSION_CURRENT, &t),                \
                         ZE_RESULT_SUCCESS);                                                       \
        struct table *out = &tables[table_count++];                                                \
        out->name = #api #Name;                                                                    \
        out->count = sizeof(t) / sizeof(void *);                                                   \
        assert_true(out->count <= FUNCTIONS_MAX);                                                  \
        memcpy(out->functions, &t, sizeof(t));                                                     \
        if (strcmp(out->name, "zeDriver") == 0)                                                    \
            out->functions[0] = out->functions[1]; /* zeDriverGet writes where it is told */       \
    }
    TABLES(X)
#undef X
}

/* Functions have fewer arguments than that. */
__attribute__((no_sanitize("undefined"))) static ze_result_t call(any_fn function,
                                                                  const void *first)
{
    return function((uintptr_t)first, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
}

/* ---- A live object of each kind ---- */

static struct {
    ze_driver_handle_t driver;
    ze_device_handle_t device;
    ze_context_handle_t context;
    ze_command_queue_handle_t queue;
    ze_command_list_handle_t list;
    ze_fence_handle_t fence;
    ze_event_pool_handle_t pool;
    ze_event_handle_t event;
    ze_image_handle_t image;
    ze_sampler_handle_t sampler;
    ze_module_handle_t module;
    ze_module_build_log_handle_t log;
    ze_kernel_handle_t kernel;
    ze_physical_mem_handle_t physical;
} live;

static ze_context_handle_t lasting; /* of the physical memory, which cannot go without it */
static uint8_t *binary;
static size_t binary_B;
static const char *path;

#define OK(call) assert_int_equal((call), ZE_RESULT_SUCCESS)

static void open_all(void)
{
    ze_context_desc_t context = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    ze_command_list_desc_t list = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    ze_fence_desc_t fence = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC};
    ze_event_pool_desc_t pool = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, .count = 1};
    ze_event_desc_t event = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC};
    ze_image_desc_t image = {.stype = ZE_STRUCTURE_TYPE_IMAGE_DESC,
                             .type = ZE_IMAGE_TYPE_1D,
                             .format = {.layout = ZE_IMAGE_FORMAT_LAYOUT_8},
                             .width = 8};
    ze_sampler_desc_t sampler = {.stype = ZE_STRUCTURE_TYPE_SAMPLER_DESC};
    ze_module_desc_t module = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                               .format = ZE_MODULE_FORMAT_NATIVE,
                               .inputSize = binary_B,
                               .pInputModule = binary};
    ze_kernel_desc_t kernel = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "writes"};
    ze_physical_mem_desc_t physical = {.stype = ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC,
                                       .size = 1 << 16};
    OK(zeContextCreate(live.driver, &context, &live.context));
    OK(zeCommandQueueCreate(live.context, live.device, &queue, &live.queue));
    OK(zeCommandListCreate(live.context, live.device, &list, &live.list));
    OK(zeFenceCreate(live.queue, &fence, &live.fence));
    OK(zeEventPoolCreate(live.context, &pool, 0, NULL, &live.pool));
    OK(zeEventCreate(live.pool, &event, &live.event));
    OK(zeImageCreate(live.context, live.device, &image, &live.image));
    OK(zeSamplerCreate(live.context, live.device, &sampler, &live.sampler));
    OK(zeModuleCreate(live.context, live.device, &module, &live.module, &live.log));
    OK(zeKernelCreate(live.module, &kernel, &live.kernel));
    OK(zePhysicalMemCreate(lasting, live.device, &physical, &live.physical));
}

/* Some of them are gone: their functions say so. Returns how many were left. */
static int close_all(void)
{
    int left = 0;
    left += zePhysicalMemDestroy(lasting, live.physical) == ZE_RESULT_SUCCESS;
    left += zeKernelDestroy(live.kernel) == ZE_RESULT_SUCCESS;
    left += zeModuleBuildLogDestroy(live.log) == ZE_RESULT_SUCCESS;
    left += zeModuleDestroy(live.module) == ZE_RESULT_SUCCESS;
    left += zeSamplerDestroy(live.sampler) == ZE_RESULT_SUCCESS;
    left += zeImageDestroy(live.image) == ZE_RESULT_SUCCESS;
    left += zeEventDestroy(live.event) == ZE_RESULT_SUCCESS;
    left += zeEventPoolDestroy(live.pool) == ZE_RESULT_SUCCESS;
    left += zeFenceDestroy(live.fence) == ZE_RESULT_SUCCESS;
    left += zeCommandListDestroy(live.list) == ZE_RESULT_SUCCESS;
    left += zeCommandQueueDestroy(live.queue) == ZE_RESULT_SUCCESS;
    left += zeContextDestroy(live.context) == ZE_RESULT_SUCCESS;
    return left;
}

enum { DESTROYABLE = 12 };

/* ---- The sweep ---- */

static void test_nothing(void **state)
{
    static char garbage[64];
    const void *const firsts[] = {NULL, (void *)(uintptr_t)0xdeadbeef00, garbage, garbage + 1,
                                  (void *)UINTPTR_MAX};
    for (size_t t = 0; t < table_count; t++) {
        for (size_t f = 0; f < tables[t].count; f++) {
            /* zeDriverGetDefaultContext() gives a context, or NULL */
            bool gives_handle = f == 8 && strcmp(tables[t].name, "zeDriver") == 0;
            for (size_t i = 0; i < ZS_ARRAY_LEN(firsts); i++) {
                ze_result_t result = call(tables[t].functions[f], firsts[i]);
                if (result == ZE_RESULT_SUCCESS && !gives_handle)
                    fail_msg("function %zu of %s takes nothing (case %zu)", f, tables[t].name, i);
            }
        }
    }
}

static void test_each_kind(void **state)
{
    const void **handles = (const void **)&live;
    int succeeded = 0, destroyed = 0;
    for (size_t t = 0; t < table_count; t++) {
        for (size_t f = 0; f < tables[t].count; f++) {
            open_all();
            for (size_t i = 0; i < sizeof(live) / sizeof(void *); i++)
                succeeded += call(tables[t].functions[f], handles[i]) == ZE_RESULT_SUCCESS;
            int left = close_all();
            assert_in_range(left, DESTROYABLE - 1, DESTROYABLE);
            destroyed += left < DESTROYABLE;
        }
    }
    printf("%d calls succeeded, %d destroyed something\n", succeeded, destroyed);
    assert_int_equal(destroyed, DESTROYABLE - 1); /* physical memory wants its context, too */
}

int main(int argc, char **argv)
{
    path = argc > 1 ? argv[1] : "";
    setenv("ZESCOPE_LOG", "off", 0);
    uint32_t one = 1;
    FILE *f = fopen(path, "rb");
    binary = malloc(1 << 20);
    if (!f || !binary || zeInit(0) != ZE_RESULT_SUCCESS ||
        zeDriverGet(&one, &live.driver) != ZE_RESULT_SUCCESS ||
        zeDeviceGet(live.driver, &one, &live.device) != ZE_RESULT_SUCCESS)
        return 1;
    binary_B = fread(binary, 1, 1 << 20, f);
    fclose(f);
    ze_context_desc_t context = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    if (zeContextCreate(live.driver, &context, &lasting) != ZE_RESULT_SUCCESS)
        return 1;
    load_tables();
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nothing),
                                       cmocka_unit_test(test_each_kind)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(binary);
    return failed || zeContextDestroy(lasting) != ZE_RESULT_SUCCESS;
}
