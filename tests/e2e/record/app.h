/* SPDX-License-Identifier: MIT */
/* A small Level Zero application: builds modules and writes what it gets from the API to files. */
#ifndef ZS_E2E_APP_H
#define ZS_E2E_APP_H

#include <level_zero/ze_api.h>
#include <level_zero/zet_api.h>

/* The API as the program reached it. */
struct app_api {
#define API(name) __typeof__(name) *name;
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
};

struct app {
    struct app_api api;
    ze_context_handle_t context;
    ze_device_handle_t device;
    const char *spirv;   /* path */
    const char *flags;   /* build flags */
    const char *out_dir; /* for the files */
};

/* 0, or the number of the step that failed. */
int app_init(struct app *app);
/* Build a module and write out_dir/<name>.bin, .dbg (when there is any) and, with a log wanted,
 * .log. Returns the result of zeModuleCreate. */
ze_result_t app_build(struct app *app, const char *name, int want_log);

#endif
