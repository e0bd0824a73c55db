/* SPDX-License-Identifier: MIT */
#include "cli/paths.h"
#include "cli/options.h"

#include <zescope/driver_ext.h>

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

bool zs_cli_last_recording(char ret_path[PATH_MAX])
{
    ssize_t n = readlink(ZS_CLI_LAST, ret_path, PATH_MAX - 1);
    struct stat st;
    if (n <= 0 || stat(ZS_CLI_LAST, &st) || !S_ISDIR(st.st_mode))
        return false;
    ret_path[n] = '\0';
    return true;
}

void zs_cli_link_last(const char *recording)
{
    char here[PATH_MAX], temp[64];
    struct stat st;
    bool is_there = !lstat(ZS_CLI_LAST, &st);
    if (is_there ? !S_ISLNK(st.st_mode) : errno != ENOENT)
        return;
    /* beside the link its name is enough: the folder may be moved */
    size_t length = getcwd(here, sizeof(here)) ? strlen(here) : 0;
    bool is_here = length > 1 && !strncmp(recording, here, length) && recording[length] == '/';
    snprintf(temp, sizeof(temp), "." ZS_CLI_LAST "-%ld", (long)getpid());
    if (!symlink(is_here ? recording + length + 1 : recording, temp) && rename(temp, ZS_CLI_LAST))
        unlink(temp);
}

int zs_cli_find_program(const char *name, char ret_path[PATH_MAX])
{
    const char *path = strchr(name, '/') ? "" : getenv("PATH");
    int error = -ENOENT;
    for (const char *p = path; p; p = strchr(p, ':') ? strchr(p, ':') + 1 : NULL) {
        struct stat st;
        int length = (int)strcspn(p, ":");
        snprintf(ret_path, PATH_MAX, "%.*s%s%s", length, p, length ? "/" : "", name);
        if (stat(ret_path, &st))
            continue;
        if (S_ISREG(st.st_mode) && !access(ret_path, X_OK))
            return 0;
        error = -EACCES;
    }
    return error;
}

bool zs_cli_check_devices(const char *driver, const char *list, char *ret_why, size_t size_B)
{
    void *library = dlopen(driver, RTLD_NOW | RTLD_LOCAL);
    zescope_pfnCheckDevices_t check =
        library ? (zescope_pfnCheckDevices_t)(uintptr_t)dlsym(library, ZESCOPE_CHECK_DEVICES_NAME)
                : NULL;
    bool ok = !check || !check(list, ret_why, size_B);
    if (library)
        dlclose(library);
    return ok;
}

int zs_cli_find_driver(char ret_driver[PATH_MAX])
{
    if (zs_cli_find_library("libze_zescope.so.1", "ZESCOPE_DRIVER", "driver", ret_driver))
        return ZS_EXIT_OK;
    return zs_cli_fail("libze_zescope.so.1 cannot be found: reinstall zescope, or say where it is "
                       "with ZESCOPE_DRIVER");
}

int zs_cli_use_software_gpu(const struct zs_command *command, const char *devices)
{
    char driver[PATH_MAX], why[1024];
    const char *asked = devices ? devices : getenv("ZESCOPE_DEVICES");
    int status = zs_cli_find_driver(driver);
    if (status != ZS_EXIT_OK)
        return status;
    if (asked && !zs_cli_check_devices(driver, asked, why, sizeof(why)))
        return zs_cli_usage(command, "%s: %s", devices ? "--device" : "ZESCOPE_DEVICES", why);
    if (setenv("ZE_ENABLE_ALT_DRIVERS", driver, 1) ||
        (devices && setenv("ZESCOPE_DEVICES", devices, 1)))
        return zs_cli_fail("out of memory");
    return ZS_EXIT_OK;
}
