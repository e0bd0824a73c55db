/* SPDX-License-Identifier: MIT */
/* Level Zero, through the stock loader. FILE: SPIR-V (*.spv) or a native binary. */
#include "work.h"

#include <level_zero/ze_api.h>
#include <string.h>
#include <zescope/driver_ext.h>

static struct {
    ze_driver_handle_t driver;
    ze_device_handle_t device;
    ze_context_handle_t context;
    ze_module_handle_t module;
    ze_kernel_handle_t kernel;
    ze_command_queue_handle_t queue;
    ze_command_list_handle_t immediate;
    ze_group_count_t groups;
    void *buffers[ARGS_MAX];
    bool wants_idle;
} ze;

static void ok(ze_result_t result, const char *what)
{
    if (result != ZE_RESULT_SUCCESS)
        give_up("%s: 0x%x", what, (unsigned)result);
}

static void set_args(struct arg *args)
{
    ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    for (uint32_t i = 0; i < ARGS_MAX && args[i].kind; i++) {
        const void *value = args[i].host;
        size_t size_B = args[i].size_B;
        if (args[i].kind == ARG_BUFFER) {
            ok(zeMemAllocShared(ze.context, &desc, &host, size_B, 64, ze.device, &ze.buffers[i]),
               "zeMemAllocShared");
            memcpy(ze.buffers[i], args[i].host, size_B);
            value = &ze.buffers[i];
            size_B = sizeof(void *);
        }
        ok(zeKernelSetArgumentValue(ze.kernel, i, size_B, value), "zeKernelSetArgumentValue");
    }
}

void backend_open(const char *file, const struct work *work, struct arg *args)
{
    uint32_t one = 1;
    size_t size_B;
    ze_context_desc_t context = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ok(zeInit(0), "zeInit");
    ok(zeDriverGet(&one, &ze.driver), "zeDriverGet");
    ok(zeDeviceGet(ze.driver, &one, &ze.device), "zeDeviceGet");
    ok(zeContextCreate(ze.driver, &context, &ze.context), "zeContextCreate");
    uint8_t *code = read_file(file, &size_B);
    const char *dot = strrchr(file, '.');
    ze_module_desc_t module = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                               .format = dot && strcmp(dot, ".spv") == 0 ? ZE_MODULE_FORMAT_IL_SPIRV
                                                                         : ZE_MODULE_FORMAT_NATIVE,
                               .inputSize = size_B,
                               .pInputModule = code};
    ok(zeModuleCreate(ze.context, ze.device, &module, &ze.module, NULL), "zeModuleCreate");
    ze_kernel_desc_t kernel = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = work->name};
    ok(zeKernelCreate(ze.module, &kernel, &ze.kernel), "zeKernelCreate");
    ok(zeKernelSetGroupSize(ze.kernel, work->group_size[0], work->group_size[1],
                            work->group_size[2]),
       "zeKernelSetGroupSize");
    set_args(args);
    ze.groups =
        (ze_group_count_t){work->group_count[0], work->group_count[1], work->group_count[2]};
    ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                     .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    ok(zeCommandQueueCreate(ze.context, ze.device, &queue, &ze.queue), "zeCommandQueueCreate");
    ok(zeCommandListCreateImmediate(ze.context, ze.device, &queue, &ze.immediate),
       "zeCommandListCreateImmediate");
}

static void append(ze_command_list_handle_t list, ze_event_handle_t signal)
{
    ok(zeCommandListAppendLaunchKernel(list, ze.kernel, &ze.groups, signal, 0, NULL),
       "zeCommandListAppendLaunchKernel");
}

static void run_list(uint32_t launches)
{
    ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    ze_command_list_handle_t list;
    ok(zeCommandListCreate(ze.context, ze.device, &desc, &list), "zeCommandListCreate");
    for (uint32_t i = 0; i < launches; i++)
        append(list, NULL);
    ok(zeCommandListClose(list), "zeCommandListClose");
    ok(zeCommandQueueExecuteCommandLists(ze.queue, 1, &list, NULL), "execute");
    ok(zeCommandQueueSynchronize(ze.queue, UINT64_MAX), "zeCommandQueueSynchronize");
    ok(zeCommandListDestroy(list), "zeCommandListDestroy");
}

static void run_immediate(uint32_t launches, bool wait_each)
{
    ze_event_pool_desc_t pool_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                      .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
                                      .count = 1};
    ze_event_desc_t event_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC,
                                  .signal = ZE_EVENT_SCOPE_FLAG_HOST};
    ze_event_pool_handle_t pool;
    ze_event_handle_t event;
    ok(zeEventPoolCreate(ze.context, &pool_desc, 1, &ze.device, &pool), "zeEventPoolCreate");
    ok(zeEventCreate(pool, &event_desc, &event), "zeEventCreate");
    for (uint32_t i = 0; i < launches; i++) {
        bool wait = wait_each || i == launches - 1;
        append(ze.immediate, wait ? event : NULL);
        if (!wait)
            continue;
        ok(zeEventHostSynchronize(event, UINT64_MAX), "zeEventHostSynchronize");
        ok(zeEventHostReset(event), "zeEventHostReset");
    }
    ok(zeEventDestroy(event), "zeEventDestroy");
    ok(zeEventPoolDestroy(pool), "zeEventPoolDestroy");
}

void backend_run(uint32_t launches, enum mode mode)
{
    if (mode == MODE_TOGETHER)
        run_list(launches);
    else
        run_immediate(launches, mode == MODE_EACH);
}

void backend_read(struct arg *args)
{
    for (uint32_t i = 0; i < ARGS_MAX; i++) {
        if (args[i].is_output)
            memcpy(args[i].host, ze.buffers[i], args[i].size_B);
    }
}

uint64_t backend_instructions(void)
{
    zescope_pfnKernelGetCounts_t get_counts = NULL;
    zescope_instruction_count_t rows[4096];
    uint32_t count = 4096;
    uint64_t sum = 0;
    int64_t idle = -1;
    if (zeDriverGetExtensionFunctionAddress(ze.driver, ZESCOPE_KERNEL_GET_COUNTS_NAME,
                                            (void **)&get_counts) != ZE_RESULT_SUCCESS)
        return 0;
    run_list(1);
    ok(get_counts(ze.kernel, &count, rows), "zescopeKernelGetCounts");
    for (uint32_t i = 0; i < count; i++) {
        sum += rows[i].executions;
        if (rows[i].executions == 0 && rows[i].offset_B > 0 && idle < 0)
            idle = rows[i].offset_B;
    }
    return ze.wants_idle ? (uint64_t)idle : sum;
}

void backend_option(const char *option)
{
    if (strcmp(option, "--idle") != 0)
        give_up("%s: no such option", option);
    ze.wants_idle = true;
}

void backend_close(void)
{
    for (uint32_t i = 0; i < ARGS_MAX; i++) {
        if (ze.buffers[i])
            zeMemFree(ze.context, ze.buffers[i]);
    }
    zeCommandListDestroy(ze.immediate);
    zeCommandQueueDestroy(ze.queue);
    zeKernelDestroy(ze.kernel);
    zeModuleDestroy(ze.module);
    zeContextDestroy(ze.context);
}
