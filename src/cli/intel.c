/* SPDX-License-Identifier: MIT */
#include "cli/intel.h"

#include "cli/options.h"
#include "cli/paths.h"
#include "store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Before (or behind) what is there already. */
static bool join(const char *variable, const char *path, bool first)
{
    const char *given = getenv(variable);
    char both[2 * PATH_MAX];
    bool has = given && *given;
    int length = snprintf(both, sizeof(both), "%s%s%s",
                          !has    ? ""
                          : first ? path
                                  : given,
                          has ? ":" : "", has && first ? given : path);
    return length > 0 && length < (int)sizeof(both) && !setenv(variable, both, 1);
}

bool zs_cli_has_intel_nodes(void)
{
    const char *preload = getenv("LD_PRELOAD");
    return preload && strstr(preload, "libzescope_drm.so");
}

/* Small allocations are parts of larger objects otherwise, and freed ones are kept for later. */
bool zs_cli_separate_allocations(void)
{
    static const char *const keys[] = {
        "EnableDeviceUsmAllocationPool",           "EnableHostUsmAllocationPool",
        "EnableUsmAllocationPoolManager",          "ExperimentalSmallBufferPoolAllocator",
        "ExperimentalEnableDeviceAllocationCache", "ExperimentalEnableHostAllocationCache",
        "ExperimentalEnableSharedAllocationCache",
    };
    bool ok = !setenv("NEOReadDebugKeys", "1", 0);
    for (size_t i = 0; i < ZS_ARRAY_LEN(keys); i++)
        ok = ok && !setenv(keys[i], "0", 0);
    return ok;
}

/* Who sees the application's calls tells the nodes what there is. Without those libraries faults
 * have addresses alone. */
static bool set_names(bool with_checks)
{
    char collector[PATH_MAX], layer[PATH_MAX];
    if (!zs_cli_find_library("libzescope_collect.so", "ZESCOPE_COLLECT", "collect", collector) ||
        !zs_cli_find_library("libzescope_layer.so", "ZESCOPE_LAYER", "layer", layer) ||
        strpbrk(collector, " :") || strpbrk(layer, ":"))
        return true;
    return join("LD_PRELOAD", collector, false) && join("OPENCL_LAYERS", layer, false) &&
           !setenv(ZS_ENV_COLLECT_LAYER, layer, 1) && !setenv(ZS_ENV_COLLECT_NAMES, "1", 1) &&
           !setenv(ZS_ENV_COLLECT_ACTIVITY, "0", 1) &&
           !setenv(ZS_ENV_COLLECT_DEBUG_INFO, with_checks ? "1" : "0", 1) &&
           !setenv("ZE_ENABLE_TRACING_LAYER", "1", 1);
}

int zs_cli_use_intel(const struct zs_command *command, const char *devices, bool with_checks)
{
    char library[PATH_MAX], driver[PATH_MAX], why[1024];
    if (devices && zs_cli_find_library("libze_zescope.so.1", "ZESCOPE_DRIVER", "driver", driver) &&
        !zs_cli_check_devices(driver, devices, why, sizeof(why)))
        return zs_cli_usage(command, "--device: %s", why);
    if (!zs_cli_find_library("libzescope_drm.so", "ZESCOPE_DRM", "drm", library))
        return zs_cli_fail("libzescope_drm.so cannot be found: reinstall zescope, or say where it "
                           "is with ZESCOPE_DRM");
    if (strpbrk(library, " :"))
        return zs_cli_fail("%s: a path with blanks or colons cannot be preloaded", library);
    bool ok = join("LD_PRELOAD", library, true) && set_names(with_checks) &&
              (!devices || !setenv("ZESCOPE_DEVICES", devices, 1)) &&
              (!with_checks || zs_cli_separate_allocations());
    return ok ? ZS_EXIT_OK : zs_cli_fail("out of memory");
}
