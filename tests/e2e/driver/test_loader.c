/* SPDX-License-Identifier: MIT */
/*
 * What loaders of later releases call, and how they hand drivers on: zeInitDrivers() beside
 * zeInit(), several drivers, and their order. Without an argument one driver; with one, two of
 * them, the second a copy under that path.
 *
 * Loader 1.8 of Debian 12 has no zeInitDrivers(): there, the driver's own is asked.
 */
#include "e2e.h"

#include <dlfcn.h>

typedef ze_result_t (*init_drivers_fn)(uint32_t *, ze_driver_handle_t *, void *);
/* ze_init_driver_type_desc_t, ze_driver_ddi_handles_ext_properties_t, which old headers lack */
struct init_desc {
    uint32_t stype;
    const void *pNext;
    uint32_t flags;
};
enum { STYPE_INIT_DESC = 0x00020021, STYPE_DDI_HANDLES = 0x00020027, GPU = 1, NPU = 2 };

static uint32_t driver_count = 1;
static bool by_loader;

static init_drivers_fn find_init_drivers(void)
{
    init_drivers_fn init = NULL;
    *(void **)&init = dlsym(RTLD_DEFAULT, "zeInitDrivers");
    by_loader = init != NULL;
    if (!init) {
        void *driver = dlopen(getenv("E2E_DRIVER"), RTLD_NOW), *table[2] = {0};
        assert_non_null(driver);
        ze_result_t (*get)(ze_api_version_t, void *) = NULL;
        *(void **)&get = dlsym(driver, "zeGetGlobalProcAddrTable");
        OK(get(ZE_MAKE_VERSION(1, 11), table));
        *(void **)&init = table[1];
    }
    assert_non_null(init);
    return init;
}

/* A device of the driver moves bytes. */
static void use(ze_driver_handle_t driver)
{
    uint32_t one = 1;
    uint8_t *a = NULL, *b = NULL;
    ze_device_handle_t device;
    ze_context_handle_t context;
    ze_command_list_handle_t list;
    ze_context_desc_t context_desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                     .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    ze_api_version_t version = 0;
    OK(zeDriverGetApiVersion(driver, &version));
    assert_true(version >= ZE_API_VERSION_1_3);
    /* 1.17 says that handles point to tables of functions, as an extension may say before */
    struct init_desc handles = {.stype = STYPE_DDI_HANDLES, .flags = 0xf0};
    /* loaders that do not know the structure refuse it where they validate parameters */
    bool refused = (uint32_t)ZE_API_VERSION_CURRENT < ZE_MAKE_VERSION(1, 13) &&
                   getenv("ZE_ENABLE_PARAMETER_VALIDATION");
    ze_driver_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES,
                                         .pNext = refused ? NULL : &handles};
    OK(zeDriverGetProperties(driver, &properties));
    assert_int_equal(handles.flags, refused ? 0xf0 : version >= ZE_MAKE_VERSION(1, 17));
    OK(zeDeviceGet(driver, &one, &device));
    OK(zeContextCreate(driver, &context_desc, &context));
    OK(zeMemAllocHost(context, &host, 64, 64, (void **)&a));
    OK(zeMemAllocHost(context, &host, 64, 64, (void **)&b));
    for (int i = 0; i < 64; i++)
        a[i] = (uint8_t)(i * 3);
    OK(zeCommandListCreateImmediate(context, device, &queue, &list));
    OK(zeCommandListAppendMemoryCopy(list, b, a, 64, NULL, 0, NULL));
    assert_memory_equal(a, b, 64);
    OK(zeCommandListDestroy(list));
    OK(zeMemFree(context, a));
    OK(zeMemFree(context, b));
    OK(zeContextDestroy(context));
}

static void test_init_drivers(void **state)
{
    init_drivers_fn init = find_init_drivers();
    struct init_desc desc = {.stype = STYPE_INIT_DESC, .flags = GPU};
    ze_driver_handle_t drivers[8] = {0}, again[8] = {0}, plain[8] = {0};
    uint32_t count = 0, more = 8;
    OK(init(&count, NULL, &desc));
    assert_int_equal(count, by_loader ? driver_count : 1);
    OK(init(&count, drivers, &desc));
    desc.flags = UINT32_MAX;
    OK(init(&more, again, &desc));
    assert_int_equal(more, count);
    assert_memory_equal(drivers, again, count * sizeof(*drivers));
    OK(zeInit(0)); /* both ways side by side */
    more = 8;
    OK(zeDriverGet(&more, plain));
    assert_int_equal(more, driver_count);
    for (uint32_t i = 0; by_loader && i < count; i++)
        use(drivers[i]);
    for (uint32_t i = 0; i < more; i++)
        use(plain[i]);
}

/* No other kind of device, and nothing wanted at all. */
static void test_kinds(void **state)
{
    init_drivers_fn init = find_init_drivers();
    struct init_desc desc = {.stype = STYPE_INIT_DESC, .flags = NPU};
    uint32_t count = 8;
    ze_driver_handle_t drivers[8];
    ze_result_t result = init(&count, drivers, &desc);
    assert_true(result == ZE_RESULT_ERROR_UNINITIALIZED ||
                (result == ZE_RESULT_SUCCESS && count == 0));
    desc.flags = 0;
    assert_int_not_equal(init(&count, drivers, &desc), ZE_RESULT_SUCCESS);
    if (!by_loader) /* stock loaders read what it points to */
        assert_int_not_equal(init(NULL, drivers, &desc), ZE_RESULT_SUCCESS);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_init_drivers),
        cmocka_unit_test(test_kinds),
    };
    if (argc > 1) {
        char list[8192];
        snprintf(list, sizeof(list), "%s,%s", getenv("ZE_ENABLE_ALT_DRIVERS"), argv[1]);
        setenv("ZE_ENABLE_ALT_DRIVERS", list, 1);
        driver_count = 2;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
