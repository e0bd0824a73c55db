/* SPDX-License-Identifier: MIT */
#include <level_zero/ze_api.h>

int call_from_library(void *device);

__attribute__((visibility("default"))) int call_from_library(void *device)
{
    uint32_t count = 0;
    int result = (int)zeDeviceGetMemoryProperties(device, &count, NULL);
    return result ? result : 0;
}
