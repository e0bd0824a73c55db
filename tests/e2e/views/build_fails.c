/* SPDX-License-Identifier: MIT */
/* Builds a module whose source the compiler refuses. */
#include <level_zero/ze_api.h>

#include <stdio.h>

int main(void)
{
    /* a header of SPIR-V and nothing behind it that is an instruction */
    static const uint32_t spirv[] = {0x07230203, 0x00010000, 0, 8, 0, 0xffffffff};
    uint32_t one = 1;
    ze_driver_handle_t driver;
    ze_device_handle_t device;
    ze_context_handle_t context;
    ze_module_handle_t module;
    const ze_context_desc_t context_desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    const ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                   .format = ZE_MODULE_FORMAT_IL_SPIRV,
                                   .inputSize = sizeof(spirv),
                                   .pInputModule = (const uint8_t *)spirv,
                                   .pBuildFlags = "-DIT_FAILS"};
    if (zeInit(0) || zeDriverGet(&one, &driver) || zeDeviceGet(driver, &one, &device) ||
        zeContextCreate(driver, &context_desc, &context))
        return 2;
    return zeModuleCreate(context, device, &desc, &module, NULL) ? 0 : 3;
}
