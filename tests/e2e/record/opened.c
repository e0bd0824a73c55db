/* SPDX-License-Identifier: MIT */
/*
 * usage: opened MODE SPIRV FLAGS OUT_DIR LIBRARY: a program that knows Level Zero at run time only.
 *
 *   dlopen     opens LIBRARY (the loader) and looks the functions up
 *   deepbind   the same with RTLD_DEEPBIND
 *   deepbind-init  the same, and builds nothing
 *   plugin     opens LIBRARY, a plug-in that links the loader, and calls its `plugin_main`
 *   plugin-deepbind  the same with RTLD_DEEPBIND
 */
#include "app.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    if (argc != 6)
        return 99;
    const char *mode = argv[1];
    void *library =
        dlopen(argv[5], RTLD_LAZY | RTLD_LOCAL | (strstr(mode, "deepbind") ? RTLD_DEEPBIND : 0));
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 98;
    }
    if (!strncmp(mode, "plugin", 6)) {
        int (*plugin_main)(char **) = (int (*)(char **))(uintptr_t)dlsym(library, "plugin_main");
        return plugin_main ? plugin_main(argv) : 97;
    }
    struct app app = {.spirv = argv[2], .flags = argv[3], .out_dir = argv[4]};
#define API(name) app.api.name = (__typeof__(name) *)(uintptr_t)dlsym(library, #name);
    API(zeInit)
    API(zeDriverGet)
    API(zeDeviceGet)
    API(zeContextCreate)
    API(zeModuleCreate)
    API(zeModuleDestroy)
    API(zeModuleGetNativeBinary)
    API(zeModuleBuildLogGetString)
    API(zeModuleBuildLogDestroy)
    API(zetModuleGetDebugInfo)
#undef API
    if (dlerror())
        return 96; /* somebody left an error behind */
    int step = app_init(&app);
    if (!step && strstr(mode, "-init"))
        return 0;
    return step ? 90 + step : app_build(&app, mode, 0) != ZE_RESULT_SUCCESS;
}
