/* SPDX-License-Identifier: MIT */
#include "app.h"

#include <stdio.h>
#include <stdlib.h>

static void *read_file(const char *path, size_t *ret_size_B)
{
    FILE *in = fopen(path, "rb");
    enum { MAX_B = 1 << 20 };
    void *data = malloc(MAX_B);
    *ret_size_B = in && data ? fread(data, 1, MAX_B, in) : 0;
    if (in)
        fclose(in);
    return data;
}

static void write_file(const struct app *app, const char *name, const char *ext, const void *data,
                       size_t size_B)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s.%s", app->out_dir, name, ext);
    FILE *out = fopen(path, "wb");
    if (!out)
        return;
    fwrite(data, 1, size_B, out);
    fclose(out);
}

int app_init(struct app *app)
{
    uint32_t one = 1;
    ze_driver_handle_t driver;
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    if (app->api.zeInit(0))
        return 1;
    if (app->api.zeDriverGet(&one, &driver) || one != 1)
        return 2;
    if (app->api.zeDeviceGet(driver, &one, &app->device) || one != 1)
        return 3;
    return app->api.zeContextCreate(driver, &desc, &app->context) ? 4 : 0;
}

static void write_module(struct app *app, const char *name, ze_module_handle_t module)
{
    size_t size_B = 0;
    if (!app->api.zeModuleGetNativeBinary(module, &size_B, NULL)) {
        uint8_t *data = malloc(size_B);
        if (!app->api.zeModuleGetNativeBinary(module, &size_B, data))
            write_file(app, name, "bin", data, size_B);
        free(data);
    }
    size_B = 0;
    if (!app->api.zetModuleGetDebugInfo((zet_module_handle_t)module,
                                        ZET_MODULE_DEBUG_INFO_FORMAT_ELF_DWARF, &size_B, NULL) &&
        size_B) {
        uint8_t *data = malloc(size_B);
        if (!app->api.zetModuleGetDebugInfo((zet_module_handle_t)module,
                                            ZET_MODULE_DEBUG_INFO_FORMAT_ELF_DWARF, &size_B, data))
            write_file(app, name, "dbg", data, size_B);
        free(data);
    }
}

static void write_log(struct app *app, const char *name, ze_module_build_log_handle_t log)
{
    size_t size_B = 0;
    char *text;
    if (!app->api.zeModuleBuildLogGetString(log, &size_B, NULL) && (text = malloc(size_B + 1))) {
        if (!app->api.zeModuleBuildLogGetString(log, &size_B, text))
            write_file(app, name, "log", text, size_B);
        free(text);
    }
    app->api.zeModuleBuildLogDestroy(log);
}

ze_result_t app_build(struct app *app, const char *name, int want_log)
{
    size_t size_B;
    uint8_t *spirv = read_file(app->spirv, &size_B);
    const ze_module_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
        .format = ZE_MODULE_FORMAT_IL_SPIRV,
        .inputSize = size_B,
        .pInputModule = spirv,
        .pBuildFlags = app->flags,
    };
    ze_module_handle_t module = NULL;
    ze_module_build_log_handle_t log = NULL;
    ze_result_t result =
        app->api.zeModuleCreate(app->context, app->device, &desc, &module, want_log ? &log : NULL);
    if (want_log && log)
        write_log(app, name, log);
    if (!result)
        write_module(app, name, module);
    free(spirv);
    return result;
}
