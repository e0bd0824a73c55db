/* SPDX-License-Identifier: MIT */
/*
 * profile SPIRV BINARY KERNEL [large]: -zet-profile-flags and zetKernelGetProfileInfo, with
 * ZET_ENABLE_PROGRAM_INSTRUMENTATION as the environment has it; of threads with 256 registers.
 */
#include "check.h"

#include <level_zero/ze_api.h>
#include <level_zero/zet_api.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zescope/driver_ext.h>
#include <zescope/edit.h>

static ze_context_handle_t context;
static ze_device_handle_t device;
static unsigned char bytes[2][1 << 20];
static size_t sizes[2];
static const char *kernel_name;
static uint32_t registers_min = 20, registers_max = 128;

static ze_result_t create(int native, const char *flags, ze_module_handle_t *ret, char log[512])
{
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = native ? ZE_MODULE_FORMAT_NATIVE : ZE_MODULE_FORMAT_IL_SPIRV,
                             .inputSize = sizes[native],
                             .pInputModule = bytes[native],
                             .pBuildFlags = flags};
    ze_module_build_log_handle_t handle = NULL;
    ze_result_t result = zeModuleCreate(context, device, &desc, ret, &handle);
    size_t size_B = 511;
    log[0] = 0;
    if (handle) {
        zeModuleBuildLogGetString(handle, &size_B, log);
        zeModuleBuildLogDestroy(handle);
    }
    return result;
}

/* What the kernel's code does not touch, by the rewriter's own account of the binary. */
static void expected(ze_module_handle_t module, uint64_t ret_bits[4])
{
    size_t size_B = 0;
    CHECK(!zeModuleGetNativeBinary(module, &size_B, NULL));
    uint8_t *binary = malloc(size_B);
    CHECK(binary && !zeModuleGetNativeBinary(module, &size_B, binary));
    struct zs_edit *edit;
    CHECK(!zs_edit_open((struct zs_span){binary, size_B}, NULL, &edit, NULL));
    for (uint32_t i = 0; i < zs_edit_kernel_count(edit); i++)
        if (!strcmp(zs_edit_kernel_info(zs_edit_kernel(edit, i))->name, kernel_name))
            CHECK(zs_edit_free_grf(zs_edit_kernel(edit, i), ret_bits));
    zs_edit_close(edit);
    free(binary);
}

static void check_info(int native, const char *flags, uint32_t want)
{
    ze_module_handle_t module;
    ze_kernel_handle_t kernel;
    char log[512];
    CHECK(!create(native, flags, &module, log));
    ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = kernel_name};
    CHECK(!zeKernelCreate(module, &desc, &kernel));
    zescope_profile_registers_t registers = {.stype = ZESCOPE_STRUCTURE_TYPE_PROFILE_REGISTERS};
    zet_profile_properties_t properties = {.stype = ZET_STRUCTURE_TYPE_PROFILE_PROPERTIES,
                                           .pNext = &registers,
                                           .flags = 77,
                                           .numTokens = 77};
    CHECK(!zetKernelGetProfileInfo((zet_kernel_handle_t)kernel, &properties));
    CHECK(properties.flags == want && properties.numTokens == 0);
    uint64_t bits[4] = {0};
    uint32_t count = 0;
    expected(module, bits);
    for (int w = 0; w < 4; w++)
        count += (uint32_t)__builtin_popcountll(bits[w]);
    CHECK(registers.known && registers.freeGeneral == count && count > registers_min &&
          count < registers_max);
    CHECK(!memcmp(registers.generalMask, bits, sizeof(bits)));
    CHECK(registers.freeFlags <= 4 && registers.freeFlags >= 1 && registers.freeAccumulators <= 2);
    CHECK(zetKernelGetProfileInfo((zet_kernel_handle_t)kernel, NULL) ==
          ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    CHECK(!zeKernelDestroy(kernel) && !zeModuleDestroy(module));
}

static void slurp(const char *path, int i)
{
    FILE *f = fopen(path, "rb");
    CHECK(f);
    sizes[i] = fread(bytes[i], 1, sizeof(bytes[i]), f);
    fclose(f);
}

int main(int argc, char **argv)
{
    const char *enabled = getenv("ZET_ENABLE_PROGRAM_INSTRUMENTATION");
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_driver_handle_t driver;
    uint32_t count = 1;
    bool large = argc == 5 && !strcmp(argv[4], "large");
    CHECK(argc == 4 || large);
    slurp(argv[1], 0);
    slurp(argv[2], 1);
    kernel_name = argv[3];
    CHECK(!zeInit(0) && !zeDriverGet(&count, &driver));
    count = 1;
    CHECK(!zeDeviceGet(driver, &count, &device) && !zeContextCreate(driver, &desc, &context));
    if (!enabled) {
        ze_module_handle_t module;
        char log[512];
        CHECK(create(0, "-zet-profile-flags 3", &module, log) ==
              ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
        CHECK(strstr(log, "ZET_ENABLE_PROGRAM_INSTRUMENTATION"));
        check_info(0, "", 0);
        return 0;
    }
    if (large) {
        registers_min = 148;
        registers_max = 256;
        check_info(0, "-ze-opt-large-register-file -zet-profile-flags 1", 1);
        return 0;
    }
    for (int native = 0; native < 2; native++) {
        check_info(native, "-zet-profile-flags 1", 1);
        check_info(native, "-cl-opt-disable -zet-profile-flags 0x2", 2);
        check_info(native, "-zet-profile-flags 3 -cl-fast-relaxed-math", 3);
        check_info(native, "-zet-profile-flags", 0);
        check_info(native, "-zet-profile-flags garbage", 0);
        check_info(native, "-zet-profile-flags ff", 0);
        check_info(native, NULL, 0);
    }
    return 0;
}
