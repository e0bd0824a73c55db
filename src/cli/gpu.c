/* SPDX-License-Identifier: MIT */
#include "cli/gpu.h"
#include "cli/ask.h"

#include <zescope/driver_ext.h>

#include <dlfcn.h>
#include <string.h>

enum { TIMEOUT_MS = 20000, MOST = 16 };

#define FUNCTION(name)                                                                             \
    __typeof__(name) *name##_fn = (__typeof__(name) *)(uintptr_t)dlsym(loader, #name)

/* The software GPU's driver knows a call that others do not. */
static int ask(const void *question, FILE *out)
{
    (void)question;
    void *loader = dlopen("libze_loader.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (!loader)
        return 1;
    FUNCTION(zeInit);
    FUNCTION(zeDriverGet);
    FUNCTION(zeDriverGetExtensionFunctionAddress);
    FUNCTION(zeDeviceGet);
    FUNCTION(zeDeviceGetProperties);
    ze_driver_handle_t drivers[MOST];
    ze_device_handle_t devices[MOST];
    uint32_t driver_count = MOST;
    if (!zeInit_fn || !zeDriverGet_fn || !zeDriverGetExtensionFunctionAddress_fn ||
        !zeDeviceGet_fn || !zeDeviceGetProperties_fn || zeInit_fn(0) ||
        zeDriverGet_fn(&driver_count, drivers))
        return 1;
    for (uint32_t i = 0; i < driver_count; i++) {
        void *own;
        uint32_t count = 0;
        /* asked for more than there are, Intel's driver leaves the count as it was */
        if (!zeDriverGetExtensionFunctionAddress_fn(drivers[i], ZESCOPE_KERNEL_GET_COUNTS_NAME,
                                                    &own) ||
            zeDeviceGet_fn(drivers[i], &count, NULL))
            continue;
        count = ZS_MIN(count, (uint32_t)MOST);
        if (zeDeviceGet_fn(drivers[i], &count, devices))
            continue;
        for (uint32_t d = 0; d < count; d++) {
            ze_device_properties_t p = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
            if (!zeDeviceGetProperties_fn(devices[d], &p) && p.type == ZE_DEVICE_TYPE_GPU) {
                fprintf(out, "%s", p.name);
                return 0;
            }
        }
    }
    return 1;
}

bool zs_cli_find_gpu(char *ret_name, size_t size_B)
{
    struct zs_buf text = {0};
    struct zs_asked asked = zs_cli_ask(ask, NULL, NULL, TIMEOUT_MS, size_B - 1, &text);
    bool found = asked.asked && !asked.timed_out && !asked.status && text.size_B;
    snprintf(ret_name, size_B, "%.*s", (int)text.size_B, found ? (const char *)text.data : "");
    zs_buf_fini(&text);
    return found;
}
