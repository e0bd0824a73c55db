/* SPDX-License-Identifier: MIT */
/* Several modules: linked when they are built, and afterwards; specialization constants. */
#include "kernels.h"

static void use_import(struct e2e *e, ze_module_handle_t module)
{
    ze_kernel_handle_t kernel = kernel_of(module, "use_import");
    int *p = e2e_alloc(e, 64 * 4);
    for (int i = 0; i < 64; i++)
        p[i] = i;
    set(kernel, 0, sizeof(p), &p);
    OK(zeKernelSetGroupSize(kernel, 64, 1, 1));
    OK(launch(e, kernel, 1));
    for (int i = 0; i < 64; i++)
        assert_int_equal(p[i], 2 * i + 7);
    OK(zeKernelDestroy(kernel));
    OK(zeMemFree(e->context, p));
}

static void test_program(void **state)
{
    struct e2e *e = *state;
    struct bytes units[2] = {load("imports.spv"), load("library.spv")};
    size_t sizes[2] = {units[0].size, units[1].size};
    const uint8_t *inputs[2] = {units[0].data, units[1].data};
    const char *flags[2] = {"", NULL};
    ze_module_program_exp_desc_t program = {.stype = ZE_STRUCTURE_TYPE_MODULE_PROGRAM_EXP_DESC,
                                            .count = 2,
                                            .inputSizes = sizes,
                                            .pInputModules = inputs,
                                            .pBuildFlags = flags};
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .pNext = &program,
                             .format = ZE_MODULE_FORMAT_IL_SPIRV,
                             .inputSize = sizes[0],
                             .pInputModule = inputs[0]};
    ze_module_handle_t module;
    OK(zeModuleCreate(e->context, e->device, &desc, &module, NULL));
    use_import(e, module);
    OK(zeModuleDestroy(module));
    /* without the other half */
    program.count = 1;
    ze_module_build_log_handle_t log;
    ze_result_t result = zeModuleCreate(e->context, e->device, &desc, &module, &log);
    if (result == ZE_RESULT_SUCCESS) {
        ze_module_properties_t props = {.stype = ZE_STRUCTURE_TYPE_MODULE_PROPERTIES};
        OK(zeModuleGetProperties(module, &props));
        assert_int_equal(props.flags, ZE_MODULE_PROPERTY_FLAG_IMPORTS);
        OK(zeModuleDestroy(module));
    } else {
        assert_int_equal(result, ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
    }
    OK(zeModuleBuildLogDestroy(log));
    free(units[0].data);
    free(units[1].data);
}

static ze_module_handle_t library_module(struct e2e *e, const char *name)
{
    struct bytes spirv = load(name);
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = ZE_MODULE_FORMAT_IL_SPIRV,
                             .inputSize = spirv.size,
                             .pInputModule = spirv.data,
                             .pBuildFlags = "-library-compilation"};
    ze_module_handle_t module;
    OK(zeModuleCreate(e->context, e->device, &desc, &module, NULL));
    free(spirv.data);
    return module;
}

static void test_dynamic(void **state)
{
    struct e2e *e = *state;
    if (e2e_through("intercept"))
        return; /* the loader takes the array of handles for a handle */
    ze_module_handle_t modules[2] = {library_module(e, "imports.spv"),
                                     library_module(e, "library.spv")};
    ze_module_properties_t props = {.stype = ZE_STRUCTURE_TYPE_MODULE_PROPERTIES};
    OK(zeModuleGetProperties(modules[0], &props));
    assert_int_equal(props.flags, ZE_MODULE_PROPERTY_FLAG_IMPORTS);
    OK(zeModuleGetProperties(modules[1], &props));
    assert_int_equal(props.flags, 0);
    ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "use_import"};
    ze_kernel_handle_t kernel;
    FAILS(zeKernelCreate(modules[0], &desc, &kernel), ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED);
    void *function = NULL;
    OK(zeModuleGetFunctionPointer(modules[1], "twice_plus", &function));
    assert_non_null(function);
    ze_module_build_log_handle_t log;
    FAILS(zeModuleDynamicLink(1, modules, &log), ZE_RESULT_ERROR_MODULE_LINK_FAILURE);
    char text[256] = "";
    size_t size = sizeof(text);
    OK(zeModuleBuildLogGetString(log, &size, text));
    assert_non_null(strstr(text, "twice_plus"));
    OK(zeModuleBuildLogDestroy(log));
    OK(zeModuleDynamicLink(2, modules, NULL));
    use_import(e, modules[0]);
    OK(zeModuleDestroy(modules[0]));
    OK(zeModuleDestroy(modules[1]));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_program),
        cmocka_unit_test(test_dynamic),
    };
    return cmocka_run_group_tests(tests, e2e_setup, e2e_teardown);
}
