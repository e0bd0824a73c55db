/* SPDX-License-Identifier: MIT */
#include "cli/paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool usable(const char *path, char ret_path[PATH_MAX])
{
    return realpath(path, ret_path) && !access(ret_path, R_OK);
}

bool zs_cli_find_library(const char *name, const char *variable, const char *build_folder,
                         char ret_path[PATH_MAX])
{
    /* what is preloaded is nothing to link with, and has a folder of its own */
    static const char *const places[] = {
        "lib",         "lib/x86_64-linux-gnu",         "lib64",
        "lib/zescope", "lib/x86_64-linux-gnu/zescope", "lib64/zescope"};
    const char *chosen = getenv(variable);
    if (chosen && chosen[0])
        return usable(chosen, ret_path);
    char exe[PATH_MAX], path[3 * PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
    exe[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(exe, '/');
    if (!slash)
        return false;
    slash[1] = '\0';
    for (size_t i = 0; i < ZS_ARRAY_LEN(places); i++) {
        snprintf(path, sizeof(path), "%s../%s/%s", exe, places[i], name);
        if (usable(path, ret_path))
            return true;
    }
    snprintf(path, sizeof(path), "%s../%s/%s", exe, build_folder, name);
    return usable(path, ret_path);
}
