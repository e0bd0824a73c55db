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

/* OpenCL C, which Intel's driver takes, too; the front end's log where it does not build. */
static void test_source(void **state)
{
    struct e2e *e = *state;
    static const char source[] = "kernel void add(global int *p) { p[get_global_id(0)] += BY; }";
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = (ze_module_format_t)3,
                             .pInputModule = (const uint8_t *)source,
                             .pBuildFlags = "-DBY=5"};
    ze_module_handle_t module;
    int *p = e2e_alloc(e, 4);
    *p = 0;
    for (size_t with_nul = 0; with_nul < 2; with_nul++) {
        desc.inputSize = strlen(source) + with_nul;
        ze_result_t result = zeModuleCreate(e->context, e->device, &desc, &module, NULL);
        if (e2e_through("validation")) { /* which knows what the specification names */
            assert_int_equal(result, ZE_RESULT_ERROR_INVALID_ENUMERATION);
            continue;
        }
        if (result == ZE_RESULT_ERROR_MODULE_BUILD_FAILURE) { /* later compilers: no front end */
            char log[4096];
            (void)try_module(e, desc.format, source, desc.inputSize, log, sizeof(log));
            assert_non_null(strstr(log, "needs a libocloc that knows it: pass SPIR-V"));
            OK(zeMemFree(e->context, p));
            return;
        }
        assert_int_equal(result, ZE_RESULT_SUCCESS);
        ze_kernel_handle_t kernel = kernel_of(module, "add");
        set(kernel, 0, sizeof(p), &p);
        OK(zeKernelSetGroupSize(kernel, 1, 1, 1));
        OK(launch(e, kernel, 1));
        assert_int_equal(*p, 5 * ((int)with_nul + 1));
        OK(zeKernelDestroy(kernel));
        OK(zeModuleDestroy(module));
    }
    OK(zeMemFree(e->context, p));
    char log[4096];
    if (!e2e_through("validation"))
        assert_int_equal(try_module(e, desc.format, source, sizeof(source), log, sizeof(log)),
                         ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
    if (e2e_through("direct"))
        assert_non_null(strstr(log, "undeclared identifier 'BY'"));
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

/* OpConstant 305419896 becomes OpSpecConstant with SpecId 11. */
static size_t make_special(const struct bytes *in, uint32_t *ret_words)
{
    const uint32_t *words = (const uint32_t *)in->data;
    size_t count = in->size / 4, n = 5, decorations = 0, id = 0;
    memcpy(ret_words, words, 5 * 4);
    for (size_t at = 5; at < count; at += words[at] >> 16)
        if ((words[at] & 0xffff) == 43 && words[at + 3] == 305419896)
            id = words[at + 2];
    assert_true(id != 0);
    for (size_t at = 5; at < count; at += words[at] >> 16) {
        uint32_t opcode = words[at] & 0xffff, length = words[at] >> 16;
        if (opcode == 71 && !decorations++) {
            const uint32_t decorate[4] = {4u << 16 | 71, (uint32_t)id, 1, 11};
            memcpy(ret_words + n, decorate, sizeof(decorate));
            n += 4;
        }
        memcpy(ret_words + n, words + at, length * 4u);
        if (opcode == 43 && words[at + 2] == id)
            ret_words[n] = length << 16 | 50;
        n += length;
    }
    assert_true(decorations > 0);
    return n * 4;
}

static void test_specialization(void **state)
{
    struct e2e *e = *state;
    struct bytes spirv = load("spec.spv");
    uint32_t *words = malloc(spirv.size + 16);
    size_t size = make_special(&spirv, words);
    const uint32_t id = 11, unknown = 12;
    const int32_t value = -7;
    const void *values[] = {&value};
    ze_module_constants_t constants = {1, &id, values};
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = ZE_MODULE_FORMAT_IL_SPIRV,
                             .inputSize = size,
                             .pInputModule = (const uint8_t *)words};
    int *p = e2e_alloc(e, 8 * 4);
    for (int specialized = 0; specialized < 2; specialized++) {
        ze_module_handle_t module;
        desc.pConstants = specialized ? &constants : NULL;
        OK(zeModuleCreate(e->context, e->device, &desc, &module, NULL));
        ze_kernel_handle_t kernel = kernel_of(module, "special");
        set(kernel, 0, sizeof(p), &p);
        OK(zeKernelSetGroupSize(kernel, 8, 1, 1));
        OK(launch(e, kernel, 1));
        for (int i = 0; i < 8; i++)
            assert_int_equal(p[i], (specialized ? value : 305419896) + i);
        OK(zeKernelDestroy(kernel));
        OK(zeModuleDestroy(module));
    }
    constants.pConstantIds = &unknown;
    ze_module_handle_t module;
    FAILS(zeModuleCreate(e->context, e->device, &desc, &module, NULL),
          ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
    OK(zeMemFree(e->context, p));
    free(words);
    free(spirv.data);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_source),
        cmocka_unit_test(test_program),
        cmocka_unit_test(test_dynamic),
        cmocka_unit_test(test_specialization),
    };
    return cmocka_run_group_tests(tests, e2e_setup, e2e_teardown);
}
