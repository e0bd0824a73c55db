/* SPDX-License-Identifier: MIT */
#include "base/default_device.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef PATH_MAX
#define PATH_MAX 4096
#endif

static bool in_folders(const char *library, const char *folders)
{
    for (const char *next = NULL; folders && *folders; folders = next) {
        size_t length = strcspn(folders, ":");
        char path[PATH_MAX];
        int n = snprintf(path, sizeof(path), "%.*s/%s", (int)length, folders, library);
        if (length && n > 0 && (size_t)n < sizeof(path) && !access(path, R_OK))
            return true;
        next = folders + length + (folders[length] == ':');
    }
    return false;
}

bool zs_has_library(const char *name, const char *more)
{
    return in_folders(name, more) ||
           in_folders(name, "/usr/lib/x86_64-linux-gnu:/usr/lib64:/usr/lib:"
                            "/usr/local/lib/x86_64-linux-gnu:/usr/local/lib64:/usr/local/lib");
}

bool zs_has_igc2(const char *more)
{
    return zs_has_library("libigdfcl.so.2", more);
}

const char *zs_default_device(void)
{
    const char *more = getenv("LD_LIBRARY_PATH");
    return zs_has_igc2(more) && !zs_has_library("libigc.so.1", more) ? "tgllp" : "skl";
}

const char *zs_default_intel_device(void)
{
    return zs_has_igc2(getenv("LD_LIBRARY_PATH")) ? "tgllp" : "skl";
}
