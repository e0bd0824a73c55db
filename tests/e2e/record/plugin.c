/* SPDX-License-Identifier: MIT */
/* A plug-in that links the loader: for `opened plugin`. */
#include "app.h"

#include <stddef.h>

__attribute__((visibility("default"))) int plugin_main(char **argv);

int plugin_main(char **argv)
{
    struct app app = {
#define API(name) .api.name = name,
        API(zeInit) API(zeDriverGet) API(zeDeviceGet) API(zeContextCreate) API(zeModuleCreate)
            API(zeModuleDestroy) API(zeModuleGetNativeBinary) API(zeModuleBuildLogGetString)
                API(zeModuleBuildLogDestroy) API(zetModuleGetDebugInfo)
#undef API
                    .spirv = argv[2],
        .flags = argv[3],
        .out_dir = argv[4],
    };
    int step = app_init(&app);
    return step ? 90 + step : app_build(&app, argv[1], 0) != ZE_RESULT_SUCCESS;
}
