/* SPDX-License-Identifier: MIT */
/* Modules and kernels: E2E_KERNELS is the folder with what ocloc made of kernels.cl. */
#include "kernels_group.h"

#include <unistd.h>

static void vecadd_of(struct e2e *e, ze_module_handle_t module)
{
    enum { N = 1000 };
    ze_kernel_handle_t kernel = kernel_of(module, "vecadd");
    float *p[3];
    for (uint32_t i = 0; i < 3; i++) {
        p[i] = e2e_alloc(e, N * sizeof(float));
        set(kernel, i, sizeof(void *), &p[i]);
    }
    for (int i = 0; i < N; i++) {
        p[0][i] = (float)i;
        p[1][i] = (float)i * 0.5f;
    }
    OK(zeKernelSetGroupSize(kernel, 100, 1, 1));
    OK(launch(e, kernel, 10));
    for (int i = 0; i < N; i++)
        assert_true(p[2][i] == (float)i * 1.5f);
    OK(zeKernelDestroy(kernel));
    for (int i = 0; i < 3; i++)
        OK(zeMemFree(e->context, p[i]));
}

static void test_every_container(void **state)
{
    static const char *const names[] = {"kernels.bin", "kernels.spv", "kernels.zebin"};
    for (size_t i = 0; i < COUNT(names); i++) {
        ze_module_handle_t module = make_module(*state, names[i]);
        vecadd_of(*state, module);
        OK(zeModuleDestroy(module));
    }
}

/* What the driver hands out is a binary like any other. */
static void test_native_binary(void **state)
{
    struct e2e *e = *state;
    struct bytes spirv = load("kernels.spv");
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = ZE_MODULE_FORMAT_IL_SPIRV,
                             .inputSize = spirv.size,
                             .pInputModule = spirv.data,
                             .pBuildFlags = "-g -ze-opt-level=2"};
    ze_module_handle_t first, second;
    ze_module_build_log_handle_t log;
    OK(zeModuleCreate(e->context, e->device, &desc, &first, &log));
    size_t size = 0;
    OK(zeModuleBuildLogGetString(log, &size, NULL));
    assert_true(size >= 1);
    char *text = malloc(size);
    OK(zeModuleBuildLogGetString(log, &size, text));
    assert_int_equal(text[size - 1], '\0');
    free(text);
    OK(zeModuleBuildLogDestroy(log));
    size = 0;
    /* the validation layer wants a place even for the question */
    uint8_t nothing;
    OK(zetModuleGetDebugInfo(first, ZET_MODULE_DEBUG_INFO_FORMAT_ELF_DWARF, &size,
                             e2e_through("validation") ? &nothing : NULL));
    assert_true(size > 1000);
    uint8_t *debug = malloc(size);
    OK(zetModuleGetDebugInfo(first, ZET_MODULE_DEBUG_INFO_FORMAT_ELF_DWARF, &size, debug));
    assert_true(memcmp(debug, "CTNI", 4) == 0 || memcmp(debug, "\177ELF", 4) == 0); /* of a zebin */
    free(debug);
    size = 0;
    OK(zeModuleGetNativeBinary(first, &size, NULL));
    uint8_t *binary = malloc(size);
    OK(zeModuleGetNativeBinary(first, &size, binary));
    desc = (ze_module_desc_t){.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                              .format = ZE_MODULE_FORMAT_NATIVE,
                              .inputSize = size,
                              .pInputModule = binary};
    OK(zeModuleCreate(e->context, e->device, &desc, &second, NULL));
    OK(zeModuleDestroy(first));
    vecadd_of(e, second);
    OK(zeModuleDestroy(second));
    free(binary);
    free(spirv.data);
}

static void test_properties(void **state)
{
    uint32_t count = 0;
    OK(zeModuleGetKernelNames(the_module, &count, NULL));
    const char *names[64];
    assert_in_range(count, 10, COUNT(names));
    OK(zeModuleGetKernelNames(the_module, &count, names));
    bool found = false;
    for (uint32_t i = 0; i < count; i++)
        found |= strcmp(names[i], "local_sum") == 0;
    assert_true(found);
    ze_module_properties_t module = {.stype = ZE_STRUCTURE_TYPE_MODULE_PROPERTIES, .flags = 7};
    OK(zeModuleGetProperties(the_module, &module));
    assert_int_equal(module.flags, 0);
    ze_kernel_handle_t kernel = kernel_of(the_module, "required");
    ze_kernel_preferred_group_size_properties_t preferred = {
        .stype = ZE_STRUCTURE_TYPE_KERNEL_PREFERRED_GROUP_SIZE_PROPERTIES};
    ze_kernel_properties_t p = {.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES, .pNext = &preferred};
    OK(zeKernelGetProperties(kernel, &p));
    assert_int_equal(p.numKernelArgs, 1);
    assert_int_equal(p.requiredGroupSizeX, 16);
    assert_int_equal(p.requiredGroupSizeY, 2);
    assert_int_equal(p.requiredGroupSizeZ, 1);
    assert_true(p.maxSubgroupSize == 8 || p.maxSubgroupSize == 16 || p.maxSubgroupSize == 32);
    assert_int_equal(preferred.preferredMultiple, p.maxSubgroupSize);
    size_t size = 0;
    OK(zeKernelGetName(kernel, &size, NULL));
    assert_int_equal(size, sizeof("required"));
    char name[32];
    OK(zeKernelGetName(kernel, &size, name));
    assert_string_equal(name, "required");
    uint32_t length = 0;
    char attributes[512] = "", *at = attributes, *none = NULL;
    OK(zeKernelGetSourceAttributes(kernel, &length, e2e_through("validation") ? &none : NULL));
    assert_in_range(length, 1, sizeof(attributes));
    OK(zeKernelGetSourceAttributes(kernel, &length, &at));
    assert_non_null(strstr(attributes, "reqd_work_group_size(16,2,1)"));
    zet_profile_properties_t profile = {.stype = ZET_STRUCTURE_TYPE_PROFILE_PROPERTIES};
    OK(zetKernelGetProfileInfo(kernel, &profile));
    OK(zeKernelSetCacheConfig(kernel, ZE_CACHE_CONFIG_FLAG_LARGE_SLM));
    ze_kernel_indirect_access_flags_t flags = 0;
    OK(zeKernelSetIndirectAccess(kernel, ZE_KERNEL_INDIRECT_ACCESS_FLAG_DEVICE));
    OK(zeKernelGetIndirectAccess(kernel, &flags));
    assert_int_equal(flags, ZE_KERNEL_INDIRECT_ACCESS_FLAG_DEVICE);
    OK(zeKernelDestroy(kernel));
    kernel = kernel_of(the_module, "local_sum");
    OK(zeKernelGetProperties(kernel, &p));
    assert_int_equal(p.numKernelArgs, 4);
    assert_in_range(p.localMemSize, 256, 1024);
    OK(zeKernelDestroy(kernel));
}

static void test_scalars(void **state)
{
    struct e2e *e = *state;
    ze_kernel_handle_t kernel = kernel_of(the_module, "scalars");
    double *out = e2e_alloc(e, 16 * sizeof(double));
    struct {
        int8_t c;
        int16_t s;
        int32_t i;
        int64_t l;
        float f;
    } t = {-7, -300, 70000, -5000000000, 0.25f};
    int8_t c = -3;
    int16_t s = -1234;
    int32_t i = -7654321, v[4] = {1, 2, 3, 99};
    int64_t l = 123456789012345;
    float f = 2.5f;
    double d = -0.125;
    set(kernel, 0, sizeof(out), &out);
    set(kernel, 1, sizeof(c), &c);
    set(kernel, 2, sizeof(s), &s);
    set(kernel, 3, sizeof(i), &i);
    set(kernel, 4, sizeof(l), &l);
    set(kernel, 5, sizeof(f), &f);
    set(kernel, 6, sizeof(d), &d);
    set(kernel, 7, sizeof(v), v);
    set(kernel, 8, sizeof(t), &t);
    OK(launch(e, kernel, 1));
    const double expected[12] = {-3, -1234, -7654321, 123456789012345.0, 2.5, -0.125, 321,
                                 -7, -300,  70000,    -5000000000,       0.25};
    for (int n = 0; n < 12; n++)
        assert_true(out[n] == expected[n]);
    FAILS(zeKernelSetArgumentValue(kernel, 9, 4, &i),
          ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX);
    FAILS(zeKernelSetArgumentValue(kernel, 4, 0, &l), ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE);
    OK(zeKernelDestroy(kernel));
    OK(zeMemFree(e->context, out));
}

static void test_ids_and_offsets(void **state)
{
    struct e2e *e = *state;
    ze_kernel_handle_t kernel = kernel_of(the_module, "ids");
    uint32_t *out = e2e_alloc(e, 12 * 6 * 4 * 4);
    set(kernel, 0, sizeof(out), &out);
    OK(zeKernelSetGroupSize(kernel, 6, 3, 2));
    OK(zeKernelSetGlobalOffsetExp(kernel, 100, 20, 3));
    ze_command_list_handle_t list = e2e_immediate(e, true);
    /* the group counts are read when the command runs */
    ze_group_count_t *counts = e2e_alloc(e, sizeof(*counts));
    *counts = (ze_group_count_t){2, 2, 2};
    OK(zeCommandListAppendLaunchKernelIndirect(list, kernel, counts, NULL, 0, NULL));
    for (uint32_t z = 0; z < 4; z++)
        for (uint32_t y = 0; y < 6; y++)
            for (uint32_t x = 0; x < 12; x++)
                assert_int_equal(out[(z * 6 + y) * 12 + x],
                                 ((x + 100) + 1000 * (y + 20) + 1000000 * (z + 3)) ^
                                     ((x % 6) << 24) ^ ((y / 3) << 28));
    OK(zeCommandListDestroy(list));
    OK(zeKernelDestroy(kernel));
    OK(zeMemFree(e->context, out));
    OK(zeMemFree(e->context, counts));
}

static void test_multiple_indirect(void **state)
{
    struct e2e *e = *state;
    ze_kernel_handle_t kernel = kernel_of(the_module, "add_atomic");
    int *sum = e2e_alloc(e, 4);
    *sum = 0;
    set(kernel, 0, sizeof(sum), &sum);
    OK(zeKernelSetGroupSize(kernel, 32, 1, 1));
    ze_group_count_t *counts = e2e_alloc(e, 3 * sizeof(*counts));
    counts[0] = (ze_group_count_t){1, 1, 1};
    counts[1] = (ze_group_count_t){4, 2, 1};
    counts[2] = (ze_group_count_t){100, 1, 1};
    uint32_t *number = e2e_alloc(e, 4);
    *number = 2;
    ze_kernel_handle_t kernels[3] = {kernel, kernel, kernel};
    ze_command_list_handle_t list = e2e_immediate(e, true);
    OK(zeCommandListAppendLaunchMultipleKernelsIndirect(list, 3, kernels, number, counts, NULL, 0,
                                                        NULL));
    assert_int_equal(*sum, 32 * 9);
    uint32_t max = 0;
    OK(zeKernelSuggestMaxCooperativeGroupCount(kernel, &max));
    assert_true(max >= 1);
    ze_group_count_t groups = {max, 1, 1}, too_many = {max + 1, 1, 1};
    *sum = 0;
    OK(zeCommandListAppendLaunchCooperativeKernel(list, kernel, &groups, NULL, 0, NULL));
    assert_int_equal(*sum, 32 * (int)max);
    FAILS(zeCommandListAppendLaunchCooperativeKernel(list, kernel, &too_many, NULL, 0, NULL),
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(zeCommandListDestroy(list));
    OK(zeKernelDestroy(kernel));
    OK(zeMemFree(e->context, sum));
    OK(zeMemFree(e->context, counts));
    OK(zeMemFree(e->context, number));
}

static void test_local_memory(void **state)
{
    struct e2e *e = *state;
    ze_kernel_handle_t kernel = kernel_of(the_module, "local_sum");
    enum { N = 64, GROUPS = 5 };
    int *in = e2e_alloc(e, N * GROUPS * 4), *out = e2e_alloc(e, GROUPS * 4);
    for (int i = 0; i < N * GROUPS; i++)
        in[i] = i;
    set(kernel, 0, sizeof(in), &in);
    set(kernel, 1, sizeof(out), &out);
    set(kernel, 2, N * 4, NULL);
    set(kernel, 3, N * 4, NULL);
    OK(zeKernelSetGroupSize(kernel, N, 1, 1));
    OK(launch(e, kernel, GROUPS));
    for (int g = 0; g < GROUPS; g++)
        assert_int_equal(out[g], g * N * N + N * (N - 1) / 2 + 1000000 * N + 200000000);
    FAILS(zeKernelSetArgumentValue(kernel, 2, 1 << 20, NULL), ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    OK(zeKernelDestroy(kernel));
    OK(zeMemFree(e->context, in));
    OK(zeMemFree(e->context, out));
}

static void test_null_pointer(void **state)
{
    struct e2e *e = *state;
    ze_kernel_handle_t kernel = kernel_of(the_module, "null_or_not");
    int *out = e2e_alloc(e, 4), *p = NULL, on_stack;
    int *wild = &on_stack;
    set(kernel, 1, sizeof(out), &out);
    set(kernel, 0, sizeof(p), NULL);
    OK(launch(e, kernel, 1));
    assert_int_equal(*out, -1);
    *out = 0;
    set(kernel, 0, sizeof(p), &p);
    OK(launch(e, kernel, 1));
    assert_int_equal(*out, -1);
    *out = 77;
    set(kernel, 0, sizeof(out), &out);
    OK(launch(e, kernel, 1));
    assert_int_equal(*out, 77);
    FAILS(zeKernelSetArgumentValue(kernel, 0, sizeof(wild), &wild),
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
    FAILS(zeKernelSetArgumentValue(kernel, 0, 4, &wild),
          ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE);
    OK(zeKernelDestroy(kernel));
    OK(zeMemFree(e->context, out));
}

static void test_images(void **state)
{
    struct e2e *e = *state;
    enum { W = 24, H = 10 };
    ze_image_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_IMAGE_DESC,
                            .type = ZE_IMAGE_TYPE_2D,
                            .format = {ZE_IMAGE_FORMAT_LAYOUT_32_32_32_32,
                                       ZE_IMAGE_FORMAT_TYPE_FLOAT, ZE_IMAGE_FORMAT_SWIZZLE_R,
                                       ZE_IMAGE_FORMAT_SWIZZLE_G, ZE_IMAGE_FORMAT_SWIZZLE_B,
                                       ZE_IMAGE_FORMAT_SWIZZLE_A},
                            .width = W,
                            .height = H,
                            .depth = 1};
    ze_sampler_desc_t sampler_desc = {.stype = ZE_STRUCTURE_TYPE_SAMPLER_DESC,
                                      .addressMode = ZE_SAMPLER_ADDRESS_MODE_CLAMP,
                                      .filterMode = ZE_SAMPLER_FILTER_MODE_NEAREST};
    ze_image_handle_t src, dst;
    ze_sampler_handle_t sampler;
    OK(zeImageCreate(e->context, e->device, &desc, &src));
    OK(zeImageCreate(e->context, e->device, &desc, &dst));
    OK(zeSamplerCreate(e->context, e->device, &sampler_desc, &sampler));
    float *in = e2e_alloc(e, W * H * 16), *out = e2e_alloc(e, W * H * 16);
    for (int i = 0; i < W * H * 4; i++)
        in[i] = (float)i / 1024.0f;
    ze_kernel_handle_t kernel = kernel_of(the_module, "invert");
    set(kernel, 0, sizeof(src), &src);
    set(kernel, 1, sizeof(dst), &dst);
    set(kernel, 2, sizeof(sampler), &sampler);
    OK(zeKernelSetGroupSize(kernel, 8, 2, 1));
    ze_command_list_handle_t list = e2e_immediate(e, true);
    ze_group_count_t groups = {W / 8, H / 2, 1};
    OK(zeCommandListAppendImageCopyFromMemory(list, src, in, NULL, NULL, 0, NULL));
    OK(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
    OK(zeCommandListAppendImageCopyToMemory(list, out, dst, NULL, NULL, 0, NULL));
    for (int i = 0; i < W * H * 4; i++)
        assert_true(out[i] == (i % 4 == 3 ? in[i] : 1.0f - in[i]));
    /* an image whose channels stand the other way round */
    OK(zeImageDestroy(dst));
    desc.format.x = ZE_IMAGE_FORMAT_SWIZZLE_A;
    desc.format.y = ZE_IMAGE_FORMAT_SWIZZLE_B;
    desc.format.z = ZE_IMAGE_FORMAT_SWIZZLE_G;
    desc.format.w = ZE_IMAGE_FORMAT_SWIZZLE_R;
    OK(zeImageCreate(e->context, e->device, &desc, &dst));
    set(kernel, 1, sizeof(dst), &dst);
    OK(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
    OK(zeCommandListAppendImageCopyToMemory(list, out, dst, NULL, NULL, 0, NULL));
    for (int i = 0; i < W * H * 4; i++)
        assert_true(out[i ^ 3] == (i % 4 == 3 ? in[i] : 1.0f - in[i]));
    void *none = NULL;
    FAILS(zeKernelSetArgumentValue(kernel, 2, sizeof(none), &none),
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(zeCommandListDestroy(list));
    OK(zeKernelDestroy(kernel));
    OK(zeSamplerDestroy(sampler));
    OK(zeImageDestroy(src));
    OK(zeImageDestroy(dst));
    OK(zeMemFree(e->context, in));
    OK(zeMemFree(e->context, out));
}

static void test_printf(void **state)
{
    struct e2e *e = *state;
    static const char *const names[] = {"kernels.bin", "kernels.zebin"};
    for (size_t i = 0; i < COUNT(names); i++) {
        ze_module_handle_t module = make_module(e, names[i]);
        ze_kernel_handle_t kernel = kernel_of(module, "hello");
        int x = 42;
        set(kernel, 0, sizeof(x), &x);
        FILE *file = tmpfile();
        assert_non_null(file);
        fflush(stdout);
        int saved = dup(STDOUT_FILENO);
        dup2(fileno(file), STDOUT_FILENO);
        OK(launch(e, kernel, 1));
        fflush(stdout);
        dup2(saved, STDOUT_FILENO);
        close(saved);
        char text[256] = "";
        rewind(file);
        size_t size = fread(text, 1, sizeof(text) - 1, file);
        fclose(file);
        text[size] = '\0';
        assert_string_equal(text, "hello 42 from 0 world 1.50\nhello 42 from 1 world 1.50\n");
        OK(zeKernelDestroy(kernel));
        OK(zeModuleDestroy(module));
    }
}

static void test_globals(void **state)
{
    struct e2e *e = *state;
    ze_module_handle_t module = make_module(e, "globals.bin");
    ze_kernel_handle_t kernel = kernel_of(module, "globals");
    int *out = e2e_alloc(e, 8);
    set(kernel, 0, sizeof(out), &out);
    OK(launch(e, kernel, 1));
    assert_int_equal(out[0], 5);
    assert_int_equal(out[1], 40);
    OK(launch(e, kernel, 1));
    assert_int_equal(out[0], 105);
    FAILS(zeModuleGetGlobalPointer(module, "no such variable", NULL, NULL),
          ZE_RESULT_ERROR_INVALID_GLOBAL_NAME);
    void *function;
    FAILS(zeModuleGetFunctionPointer(module, "no such function", &function),
          ZE_RESULT_ERROR_INVALID_FUNCTION_NAME);
    OK(zeModuleGetFunctionPointer(module, "globals", &function));
    assert_non_null(function);
    OK(zeKernelDestroy(kernel));
    OK(zeModuleDestroy(module));
    OK(zeMemFree(e->context, out));
}

static void test_global_pointer(void **state)
{
    struct e2e *e = *state;
    struct bytes spirv = load("globals.spv");
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = ZE_MODULE_FORMAT_IL_SPIRV,
                             .inputSize = spirv.size,
                             .pInputModule = spirv.data,
                             .pBuildFlags = "-ze-take-global-address"};
    ze_module_handle_t module;
    OK(zeModuleCreate(e->context, e->device, &desc, &module, NULL));
    size_t size = 0;
    int *counter = NULL;
    OK(zeModuleGetGlobalPointer(module, "counter", &size, (void **)&counter));
    assert_int_equal(size, 4);
    assert_int_equal(*counter, 5);
    *counter = 1000;
    ze_kernel_handle_t kernel = kernel_of(module, "globals");
    int *out = e2e_alloc(e, 8);
    set(kernel, 0, sizeof(out), &out);
    OK(launch(e, kernel, 1));
    assert_int_equal(out[0], 1000);
    assert_int_equal(*counter, 1100);
    OK(zeKernelDestroy(kernel));
    OK(zeModuleDestroy(module));
    OK(zeMemFree(e->context, out));
    free(spirv.data);
}

/* The flag changes nothing: variables that are exported can be found without it. */
static void test_global_pointer_unasked(void **state)
{
    struct e2e *e = *state;
    ze_module_handle_t module = make_module(e, "globals.spv");
    int *counter = NULL;
    OK(zeModuleGetGlobalPointer(module, "counter", NULL, (void **)&counter));
    assert_int_equal(*counter, 5);
    uint32_t count = 0;
    OK(zeModuleGetKernelNames(module, &count, NULL));
    assert_int_equal(count, 1);
    OK(zeModuleDestroy(module));
}

/* SPIR-V with nothing in it: a module without kernels. */
static void test_no_kernels(void **state)
{
    struct e2e *e = *state;
    static const uint32_t words[] = {
        0x07230203, 0x00010000,    0, 1, 0, 2u << 16 | 17, 4, 2u << 16 | 17, 5, 2u << 16 | 17,
        6,          3u << 16 | 14, 2, 2};
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = ZE_MODULE_FORMAT_IL_SPIRV,
                             .inputSize = sizeof(words),
                             .pInputModule = (const uint8_t *)words};
    ze_module_handle_t module, native;
    OK(zeModuleCreate(e->context, e->device, &desc, &module, NULL));
    uint32_t count = 7;
    OK(zeModuleGetKernelNames(module, &count, NULL));
    assert_int_equal(count, 0);
    ze_kernel_desc_t kernel_desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "any"};
    ze_kernel_handle_t kernel;
    FAILS(zeKernelCreate(module, &kernel_desc, &kernel), ZE_RESULT_ERROR_INVALID_KERNEL_NAME);
    size_t size = 0;
    OK(zeModuleGetNativeBinary(module, &size, NULL));
    uint8_t *binary = malloc(size);
    OK(zeModuleGetNativeBinary(module, &size, binary));
    desc.format = ZE_MODULE_FORMAT_NATIVE;
    desc.inputSize = size;
    desc.pInputModule = binary;
    OK(zeModuleCreate(e->context, e->device, &desc, &native, NULL));
    free(binary);
    OK(zeModuleDestroy(native));
    OK(zeModuleDestroy(module));
}

/* The binary says what was asked for. */
static void test_opt_level(void **state)
{
    struct e2e *e = *state;
    struct bytes spirv = load("globals.spv");
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = ZE_MODULE_FORMAT_IL_SPIRV,
                             .inputSize = spirv.size,
                             .pInputModule = spirv.data,
                             .pBuildFlags = "-ze-opt-level=1"};
    ze_module_handle_t module;
    OK(zeModuleCreate(e->context, e->device, &desc, &module, NULL));
    size_t size = 0;
    OK(zeModuleGetNativeBinary(module, &size, NULL));
    uint8_t *binary = malloc(size);
    OK(zeModuleGetNativeBinary(module, &size, binary));
    assert_non_null(memmem(binary, size, "-ze-opt-level=O1", 16));
    free(binary);
    free(spirv.data);
    OK(zeModuleDestroy(module));
}

/* A kernel of one context in a list of another works on the memory of its own. */
static void test_other_context(void **state)
{
    struct e2e *e = *state, other = *e;
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    OK(zeContextCreate(e->driver, &desc, &other.context));
    ze_module_handle_t module = make_module(&other, "kernels.bin");
    ze_kernel_handle_t kernel = kernel_of(module, "add_atomic");
    int *sum = e2e_alloc(&other, 4);
    *sum = 0;
    set(kernel, 0, sizeof(sum), &sum);
    ze_group_count_t groups = {2, 1, 1};
    OK(zeKernelSetGroupSize(kernel, 16, 1, 1));
    ze_command_list_handle_t list = e2e_immediate(e, true);
    OK(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
    assert_int_equal(*sum, 32);
    OK(zeCommandListDestroy(list));
    OK(zeMemFree(other.context, sum));
    OK(zeKernelDestroy(kernel));
    OK(zeModuleDestroy(module));
    OK(zeContextDestroy(other.context));
}

/* Programs count on it, though the specification gives memory to one context. */
static void test_memory_of_other_context(void **state)
{
    enum { N = 64 };
    struct e2e *e = *state, other = *e;
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    OK(zeContextCreate(e->driver, &desc, &other.context));
    float *a = e2e_alloc(&other, N * sizeof(*a)), *b = e2e_alloc(e, N * sizeof(*b));
    float *c = e2e_alloc(&other, N * sizeof(*c));
    for (int i = 0; i < N; i++) {
        a[i] = (float)i;
        b[i] = 1000.0f;
        c[i] = -1.0f;
    }
    ze_kernel_handle_t kernel = kernel_of(the_module, "vecadd");
    OK(zeKernelSetGroupSize(kernel, N, 1, 1));
    set(kernel, 0, sizeof(a), &a);
    set(kernel, 1, sizeof(b), &b);
    set(kernel, 2, sizeof(c), &c);
    OK(launch(e, kernel, 1));
    for (int i = 0; i < N; i++)
        assert_true(c[i] == (float)i + 1000.0f);
    /* freed there: an address like any other */
    OK(zeMemFree(other.context, c));
    FAILS(zeKernelSetArgumentValue(kernel, 2, sizeof(c), &c), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(zeMemFree(other.context, a));
    OK(zeContextDestroy(other.context));
    OK(zeMemFree(e->context, b));
    OK(zeKernelDestroy(kernel));
}

static void test_groups(void **state)
{
    struct e2e *e = *state;
    ze_device_compute_properties_t most = {.stype = ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES};
    OK(zeDeviceGetComputeProperties(e->device, &most));
    ze_kernel_handle_t kernel = kernel_of(the_module, "vecadd");
    uint32_t x = 0, y = 0, z = 0;
    OK(zeKernelSuggestGroupSize(kernel, 1024, 1, 1, &x, &y, &z));
    assert_int_equal(1024 % x, 0);
    assert_true(x >= 8 && x <= most.maxTotalGroupSize);
    assert_int_equal(y * z, 1);
    OK(zeKernelSuggestGroupSize(kernel, 17, 13, 11, &x, &y, &z));
    assert_true(17 % x == 0 && 13 % y == 0 && 11 % z == 0 && x * y * z <= most.maxTotalGroupSize);
    ze_kernel_handle_t together = kernel_of(the_module, "local_sum");
    set(together, 2, 64, NULL);
    OK(zeKernelSuggestGroupSize(together, 64, 64, 1, &x, &y, &z));
    assert_true(x * y * z <= most.maxTotalGroupSize);
    assert_true(most.maxTotalGroupSize != 256 ||
                (x == 16 && y == 16 && z == 1)); /* of the grid's shape, as Intel's driver has it */
    OK(zeKernelDestroy(together));
    FAILS(zeKernelSetGroupSize(kernel, most.maxTotalGroupSize + 1, 1, 1),
          ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION);
    FAILS(zeKernelSetGroupSize(kernel, most.maxTotalGroupSize / 2, 2, 2),
          ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION);
    FAILS(zeKernelSetGroupSize(kernel, 0, 1, 1), ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION);
    OK(zeKernelDestroy(kernel));
    kernel = kernel_of(the_module, "required");
    FAILS(zeKernelSetGroupSize(kernel, 16, 1, 1), ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION);
    OK(zeKernelSetGroupSize(kernel, 16, 2, 1));
    OK(zeKernelSuggestGroupSize(kernel, 64, 64, 1, &x, &y, &z));
    assert_true(x == 16 && y == 2 && z == 1);
    OK(zeKernelDestroy(kernel));
}

/* Arguments are what they were when the launch was appended. */
static void test_arguments_are_kept(void **state)
{
    struct e2e *e = *state;
    ze_kernel_handle_t kernel = kernel_of(the_module, "add_atomic");
    int *sums = e2e_alloc(e, 16), *p = sums;
    memset(sums, 0, 16);
    ze_command_list_handle_t list = e2e_list(e, 0);
    ze_command_queue_handle_t queue = e2e_queue(e, 0);
    for (uint32_t i = 0; i < 4; i++, p++) {
        set(kernel, 0, sizeof(p), &p);
        OK(zeKernelSetGroupSize(kernel, i + 1, 1, 1));
        ze_group_count_t groups = {10, 1, 1};
        OK(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
    }
    OK(zeKernelDestroy(kernel)); /* commands keep what they need */
    OK(e2e_run(queue, list));
    for (int i = 0; i < 4; i++)
        assert_int_equal(sums[i], 10 * (i + 1));
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
    OK(zeMemFree(e->context, sums));
}

static void test_indirect_memory(void **state)
{
    struct e2e *e = *state;
    ze_kernel_handle_t kernel = kernel_of(the_module, "chase");
    int *target = e2e_alloc(e, 32 * 4);
    int64_t *p = e2e_alloc(e, 8);
    *p = (int64_t)(uintptr_t)target;
    set(kernel, 0, sizeof(p), &p);
    OK(zeKernelSetIndirectAccess(kernel, ZE_KERNEL_INDIRECT_ACCESS_FLAG_SHARED));
    OK(zeKernelSetGroupSize(kernel, 32, 1, 1));
    OK(launch(e, kernel, 1));
    for (int i = 0; i < 32; i++)
        assert_int_equal(target[i], 3 * i);
    OK(zeKernelDestroy(kernel));
    OK(zeMemFree(e->context, p));
    OK(zeMemFree(e->context, target));
}

static void test_kernel_timestamps(void **state)
{
    struct e2e *e = *state;
    ze_event_pool_handle_t pool = e2e_pool(e, 1, ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
    ze_event_handle_t event = e2e_event(pool, 0);
    ze_kernel_handle_t kernel = kernel_of(the_module, "add_atomic");
    int *sum = e2e_alloc(e, 4);
    set(kernel, 0, sizeof(sum), &sum);
    OK(zeKernelSetGroupSize(kernel, 256, 1, 1));
    ze_command_list_handle_t list = e2e_immediate(e, false);
    ze_group_count_t groups = {200, 1, 1};
    uint64_t host, before, after;
    OK(zeDeviceGetGlobalTimestamps(e->device, &host, &before));
    OK(zeCommandListAppendLaunchKernel(list, kernel, &groups, event, 0, NULL));
    OK(zeEventHostSynchronize(event, UINT64_MAX));
    OK(zeDeviceGetGlobalTimestamps(e->device, &host, &after));
    ze_kernel_timestamp_result_t t;
    OK(zeEventQueryKernelTimestamp(event, &t));
    uint32_t whole = (uint32_t)(after - before);
    assert_true((uint32_t)(t.global.kernelStart - before) <= whole);
    assert_true((uint32_t)(t.global.kernelEnd - before) <= whole);
    assert_true((uint32_t)(t.global.kernelEnd - t.global.kernelStart) <= whole);
    OK(zeCommandListDestroy(list));
    OK(zeKernelDestroy(kernel));
    OK(zeEventDestroy(event));
    OK(zeEventPoolDestroy(pool));
    OK(zeMemFree(e->context, sum));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_container),
        cmocka_unit_test(test_native_binary),
        cmocka_unit_test(test_properties),
        cmocka_unit_test(test_scalars),
        cmocka_unit_test(test_ids_and_offsets),
        cmocka_unit_test(test_multiple_indirect),
        cmocka_unit_test(test_local_memory),
        cmocka_unit_test(test_null_pointer),
        cmocka_unit_test(test_images),
        cmocka_unit_test(test_printf),
        cmocka_unit_test(test_globals),
        cmocka_unit_test(test_global_pointer),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_arguments_are_kept),
        cmocka_unit_test(test_indirect_memory),
        cmocka_unit_test(test_kernel_timestamps),
        cmocka_unit_test(test_no_kernels),
        cmocka_unit_test(test_opt_level),
        cmocka_unit_test(test_other_context),
        cmocka_unit_test(test_memory_of_other_context),
        cmocka_unit_test(test_global_pointer_unasked),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
