/* SPDX-License-Identifier: MIT */
/* Two modules with kernels of the same names, one after the other, the second under the handle of
 * the first where the driver gives it again. Arguments: a SPIR-V for each. */
#include "app.h"

static ze_module_handle_t run(struct app *app, const char *spirv, int launches)
{
    ze_command_list_handle_t list;
    app_load(app, spirv);
    list = app_immediate(app, true);
    for (int i = 0; i < launches; i++)
        app_launch(app, list, app->add, ITEMS, NULL);
    OK(zeCommandListDestroy(list));
    OK(zeMemFree(app->context, app->shared));
    OK(zeKernelDestroy(app->add));
    OK(zeKernelDestroy(app->scale));
    OK(zeModuleDestroy(app->module));
    return app->module;
}

int main(int argc, char **argv)
{
    struct app app;
    if (argc < 3)
        return 2;
    app_init(&app);
    ze_module_handle_t first = run(&app, argv[1], 3), second = run(&app, argv[2], 5);
    printf("%s\n", first == second ? "same handle" : "other handle");
    return 9;
}
