/* SPDX-License-Identifier: MIT */
/*
 * A program that submits and waits with calls of later specifications than the installed headers
 * alone, through tables as a newer loader would have the layer wrap them. Arguments: driver,
 * SPIR-V.
 */
#include "app.h"

#include <dlfcn.h>
#include <stdint.h>

enum { VERSION = ZE_MAKE_VERSION(1, 13), SLOTS = 64 };
enum { HOST_SYNCHRONIZE = 28, GET_ORDINAL = 31, APPEND_LISTS_EXP = 1 };

typedef ze_result_t (*get_table)(uint32_t version, void **table);

/* The driver's functions of that version, wrapped by the layer that is in the process. */
static void take(void *driver, void *layer, const char *name, void **table)
{
    get_table from_driver = (get_table)(uintptr_t)dlsym(driver, name);
    get_table from_layer = layer ? (get_table)(uintptr_t)dlsym(layer, name) : NULL;
    if (!from_driver || from_driver(VERSION, table) || (from_layer && from_layer(VERSION, table)))
        exit(4);
}

int main(int argc, char **argv)
{
    struct app app;
    void *lists[SLOTS] = {0}, *exp[SLOTS] = {0};
    if (argc < 3)
        return 2;
    app_init(&app);
    app_load(&app, argv[2]);
    app_args(&app, app.add, app.shared, ITEMS);
    app_args(&app, app.scale, app.shared, ITEMS);
    void *driver = dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD);
    void *layer = dlopen("libze_validation_layer.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (!driver)
        return 5;
    take(driver, layer, "zeGetCommandListProcAddrTable", lists);
    take(driver, layer, "zeGetCommandListExpProcAddrTable", exp);
    ze_result_t (*synchronize)(ze_command_list_handle_t, uint64_t);
    ze_result_t (*ordinal)(ze_command_list_handle_t, uint32_t *);
    ze_result_t (*append)(ze_command_list_handle_t, uint32_t, ze_command_list_handle_t *,
                          ze_event_handle_t, uint32_t, ze_event_handle_t *);
    memcpy(&synchronize, &lists[HOST_SYNCHRONIZE], sizeof(synchronize));
    memcpy(&ordinal, &lists[GET_ORDINAL], sizeof(ordinal));
    memcpy(&append, &exp[APPEND_LISTS_EXP], sizeof(append));
    const ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                           .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    const ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    const ze_group_count_t groups = {ITEMS / GROUP, 1, 1};
    ze_command_list_handle_t immediate, list;
    OK(zeCommandListCreateImmediate(app.context, app.device, &queue, &immediate));
    for (int i = 0; i < 3; i++) {
        OK(zeCommandListAppendLaunchKernel(immediate, app.add, &groups, NULL, 0, NULL));
        OK(synchronize(immediate, UINT64_MAX));
    }
    OK(zeCommandListCreate(app.context, app.device, &desc, &list));
    OK(zeCommandListAppendLaunchKernel(list, app.scale, &groups, NULL, 0, NULL));
    OK(zeCommandListAppendLaunchKernel(list, app.scale, &groups, NULL, 0, NULL));
    OK(zeCommandListClose(list));
    for (int i = 0; i < 4; i++) {
        OK(append(immediate, 1, &list, NULL, 0, NULL));
        OK(synchronize(immediate, UINT64_MAX));
    }
    uint32_t number = 99;
    OK(ordinal(list, &number));
    printf("ordinal %u\n", number);
    fflush(stdout);
    _Exit(9); /* what was not known by the waits stays unknown */
}
