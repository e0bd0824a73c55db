/* SPDX-License-Identifier: MIT */
/*
 * Sequences of calls: bytes choose functions, objects (live, stale or none) and flags. Objects die
 * in any order while lists, queues and threads still use them; queues wait for events that nobody
 * signals, contexts go while kernels run. Copies may name any memory of the process, so they write
 * only to memory of the list's own context, which stops with it, and to memory that stays.
 */
#include "fuzz_module.h"

#include <level_zero/ze_api.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { EACH = 5, BUFFER_B = 4096, CALLS_MAX = 400 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B);

enum kind {
    CONTEXT,
    QUEUE,
    LIST,
    FENCE,
    POOL,
    EVENT,
    MODULE,
    KERNEL,
    IMAGE,
    KINDS,
};

struct world {
    const uint8_t *data;
    size_t left_B;
    ze_driver_handle_t driver;
    ze_device_handle_t devices[3]; /* a root device and its tiles */
    void *live[KINDS][EACH];
    void *stale[KINDS];
    void *memory[EACH];
    uint32_t context_of[EACH]; /* of a list: where its context was when it was made */
};

static uint8_t lasting[BUFFER_B];

static uint32_t next(struct world *w)
{
    if (!w->left_B)
        return 0;
    w->left_B--;
    return *w->data++;
}

static ze_device_handle_t device(struct world *w)
{
    return w->devices[next(w) % 3];
}

/* One that lives, in most cases. */
static void *pick(struct world *w, enum kind kind)
{
    uint32_t n = next(w);
    return n < 250 ? w->live[kind][n % EACH] : n < 254 ? w->stale[kind] : NULL;
}

/* Where a new one goes; NULL: there are enough. */
static void **place(struct world *w, enum kind kind)
{
    void **slot = &w->live[kind][next(w) % EACH];
    return *slot ? NULL : slot;
}

static void setup(struct world *w)
{
    static ze_driver_handle_t driver;
    uint32_t one = 1, two = 2;
    if (!driver) {
        setenv("ZESCOPE_DEVICES", "skl:2", 1);
        setenv("ZESCOPE_LOG", "off", 1);
        setenv("ZESCOPE_KERNEL_TIMEOUT", "100ms", 1);
        if (zeInit(0) != ZE_RESULT_SUCCESS || zeDriverGet(&one, &driver) != ZE_RESULT_SUCCESS)
            abort();
    }
    w->driver = driver;
    if (zeDeviceGet(driver, &one, w->devices) != ZE_RESULT_SUCCESS ||
        zeDeviceGetSubDevices(w->devices[0], &two, w->devices + 1) != ZE_RESULT_SUCCESS)
        abort();
}

/* ---- Calls that make something ---- */

static void make_context(struct world *w, void **slot)
{
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_context_handle_t context = NULL;
    uint32_t only = next(w) % 4;
    if (zeContextCreateEx(w->driver, &desc, only == 1, w->devices, &context) != ZE_RESULT_SUCCESS)
        return;
    *slot = context;
    ze_device_mem_alloc_desc_t mem = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    void **memory = &w->memory[slot - w->live[CONTEXT]];
    if (zeMemAllocShared(context, &mem, &host, BUFFER_B, 0, device(w), memory) == ZE_RESULT_SUCCESS)
        memset(*memory, 0, BUFFER_B);
}

static void make_queue(struct world *w, void **slot)
{
    ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                    .ordinal = next(w) % 3};
    zeCommandQueueCreate(pick(w, CONTEXT), device(w), &desc, (ze_command_queue_handle_t *)slot);
}

static void make_list(struct world *w, void **slot)
{
    ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                     .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC,
                                   .commandQueueGroupOrdinal = next(w) % 3 == 1};
    uint32_t index = next(w) % EACH;
    ze_context_handle_t context = w->live[CONTEXT][index];
    w->context_of[slot - w->live[LIST]] = index;
    if (next(w) % 3 == 0)
        zeCommandListCreateImmediate(context, device(w), &queue, (ze_command_list_handle_t *)slot);
    else
        zeCommandListCreate(context, device(w), &desc, (ze_command_list_handle_t *)slot);
}

static void make_fence(struct world *w, void **slot)
{
    ze_fence_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC, .flags = next(w) % 8 == 1};
    zeFenceCreate(pick(w, QUEUE), &desc, (ze_fence_handle_t *)slot);
}

static void make_pool(struct world *w, void **slot)
{
    ze_event_pool_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, .flags = next(w) & 5, .count = 4};
    zeEventPoolCreate(pick(w, CONTEXT), &desc, 0, NULL, (ze_event_pool_handle_t *)slot);
}

static void make_event(struct world *w, void **slot)
{
    ze_event_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC, .index = next(w) % 5};
    zeEventCreate(pick(w, POOL), &desc, (ze_event_handle_t *)slot);
}

static void make_module(struct world *w, void **slot)
{
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = ZE_MODULE_FORMAT_NATIVE,
                             .inputSize = (size_t)(fuzz_module_end - fuzz_module),
                             .pInputModule = fuzz_module};
    zeModuleCreate(pick(w, CONTEXT), device(w), &desc, (ze_module_handle_t *)slot, NULL);
}

static void make_kernel(struct world *w, void **slot)
{
    static const char *const names[] = {"writes", "reads", "neither"};
    ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                             .pKernelName = names[next(w) % 3]};
    zeKernelCreate(pick(w, MODULE), &desc, (ze_kernel_handle_t *)slot);
}

static void make_image(struct world *w, void **slot)
{
    ze_image_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_IMAGE_DESC,
                            .type = ZE_IMAGE_TYPE_2D,
                            .format = {.layout = ZE_IMAGE_FORMAT_LAYOUT_8},
                            .width = 16,
                            .height = 1 + next(w) % 16};
    zeImageCreate(pick(w, CONTEXT), device(w), &desc, (ze_image_handle_t *)slot);
}

#define DESTROY(name)                                                                              \
    static ze_result_t destroy_##name(void *handle)                                                \
    {                                                                                              \
        return ze##name##Destroy(handle);                                                          \
    }
DESTROY(Context)
DESTROY(CommandQueue)
DESTROY(CommandList)
DESTROY(Fence)
DESTROY(EventPool)
DESTROY(Event)
DESTROY(Module)
DESTROY(Kernel)
DESTROY(Image)

static const struct {
    void (*make)(struct world *w, void **slot);
    ze_result_t (*destroy)(void *handle);
} kinds[KINDS] = {
    [CONTEXT] = {make_context, destroy_Context}, [QUEUE] = {make_queue, destroy_CommandQueue},
    [LIST] = {make_list, destroy_CommandList},   [FENCE] = {make_fence, destroy_Fence},
    [POOL] = {make_pool, destroy_EventPool},     [EVENT] = {make_event, destroy_Event},
    [MODULE] = {make_module, destroy_Module},    [KERNEL] = {make_kernel, destroy_Kernel},
    [IMAGE] = {make_image, destroy_Image},
};

static void destroy(struct world *w, enum kind kind, uint32_t index)
{
    void **slot = &w->live[kind][index];
    if (!*slot)
        return;
    if (kind == CONTEXT) /* its memory goes with it */
        w->memory[index] = NULL;
    if (kinds[kind].destroy(*slot) != ZE_RESULT_SUCCESS)
        abort();
    w->stale[kind] = *slot;
    *slot = NULL;
}

/* ---- Calls that use what there is ---- */

static uint8_t *memory(struct world *w)
{
    uint8_t *p = w->memory[next(w) % EACH];
    return p ? p + 4 * (next(w) % 8) : NULL;
}

/* What a list may write to. The context that stands there now may be another one: then it is the
 * list's that is gone, and what it recorded does not run. */
static uint8_t *target(struct world *w, uint32_t list_index, void *context)
{
    uint8_t *p = w->memory[w->context_of[list_index]];
    return p && next(w) % 4 && context ? p + 4 * (next(w) % 8) : lasting + next(w) % 8;
}

static void append(struct world *w)
{
    uint32_t index = next(w) % EACH;
    ze_command_list_handle_t list = w->live[LIST][index];
    uint8_t *to = target(w, index, w->live[CONTEXT][w->context_of[index]]);
    ze_event_handle_t signal = next(w) % 2 ? pick(w, EVENT) : NULL;
    ze_event_handle_t waits[2] = {pick(w, EVENT), pick(w, EVENT)};
    uint32_t wait_count = next(w) % 8 == 1 ? 1 + next(w) % 2 : 0;
    ze_group_count_t groups = {1 + next(w) % 4, 1, 1};
    ze_kernel_handle_t kernel;
    switch (next(w) % 10) {
    case 0:
        zeCommandListAppendMemoryFill(list, to, "abcd", 1u << next(w) % 3, (size_t)4 * next(w),
                                      signal, wait_count, waits);
        break;
    case 1:
        zeCommandListAppendMemoryCopy(list, to, memory(w), next(w), signal, wait_count, waits);
        break;
    case 2:
        zeCommandListAppendBarrier(list, signal, wait_count, waits);
        break;
    case 3:
        zeCommandListAppendSignalEvent(list, signal);
        break;
    case 4:
        zeCommandListAppendWaitOnEvents(list, 1 + next(w) % 2, waits);
        break;
    case 5:
        zeCommandListAppendEventReset(list, signal);
        break;
    case 6:
        zeCommandListAppendWriteGlobalTimestamp(list, (uint64_t *)(void *)to, signal, wait_count,
                                                waits);
        break;
    case 7:
        zeCommandListAppendImageCopyFromMemory(list, pick(w, IMAGE), memory(w), NULL, signal,
                                               wait_count, waits);
        break;
    default:
        kernel = pick(w, KERNEL);
        zeCommandListAppendLaunchKernel(list, kernel, &groups, signal, wait_count, waits);
        break;
    }
}

static void set_kernel(struct world *w)
{
    ze_kernel_handle_t kernel = pick(w, KERNEL);
    uint8_t *p = memory(w);
    uint32_t index = next(w) % 4;
    int n = next(w) % 4 == 3 ? 1 << 28 : (int)(next(w) % 32);
    if (next(w) % 2)
        zeKernelSetArgumentValue(kernel, index, sizeof(p), &p);
    else
        zeKernelSetArgumentValue(kernel, index, sizeof(n), &n);
    zeKernelSetGroupSize(kernel, 1 + next(w), 1, 1);
}

static void execute(struct world *w)
{
    ze_command_list_handle_t lists[2] = {pick(w, LIST), pick(w, LIST)};
    zeCommandQueueExecuteCommandLists(pick(w, QUEUE), 1 + next(w) % 2, lists,
                                      next(w) % 2 ? pick(w, FENCE) : NULL);
}

static void wait(struct world *w)
{
    uint64_t timeout_ns = next(w) % 4 == 0 ? 300000 : 0;
    ze_kernel_timestamp_result_t times;
    switch (next(w) % 5) {
    case 0:
        zeCommandQueueSynchronize(pick(w, QUEUE), timeout_ns);
        break;
    case 1:
        zeFenceHostSynchronize(pick(w, FENCE), timeout_ns);
        break;
    case 2:
        zeEventHostSynchronize(pick(w, EVENT), timeout_ns);
        break;
    case 3:
        zeEventQueryKernelTimestamp(pick(w, EVENT), &times);
        break;
    default:
        zeContextGetStatus(pick(w, CONTEXT));
        break;
    }
}

static void change(struct world *w)
{
    switch (next(w) % 5) {
    case 0:
        zeEventHostSignal(pick(w, EVENT));
        break;
    case 1:
        zeEventHostReset(pick(w, EVENT));
        break;
    case 2:
        zeFenceReset(pick(w, FENCE));
        break;
    case 3:
        zeCommandListReset(pick(w, LIST));
        break;
    default:
        zeCommandListClose(pick(w, LIST));
        break;
    }
}

static void make_or_destroy(struct world *w, uint32_t op)
{
    enum kind kind = (enum kind)(op % KINDS);
    if (op / KINDS % 4) {
        void **slot = place(w, kind);
        if (slot)
            kinds[kind].make(w, slot);
    } else {
        destroy(w, kind, next(w) % EACH);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B)
{
    struct world w = {.data = data, .left_B = size_B};
    static void (*const calls[])(struct world *) = {append,  append, set_kernel, execute,
                                                    execute, wait,   change,     change};
    setup(&w);
    for (int kind = 0; kind < KINDS; kind++) /* something to begin with */
        kinds[kind].make(&w, &w.live[kind][0]);
    for (int i = 0; i < CALLS_MAX && w.left_B; i++) {
        uint32_t op = next(&w);
        if (op < 128)
            make_or_destroy(&w, op);
        else
            calls[op % (sizeof(calls) / sizeof(calls[0]))](&w);
    }
    /* contexts first or last */
    bool contexts_first = size_B % 2;
    for (uint32_t i = 0; i < EACH && contexts_first; i++)
        destroy(&w, CONTEXT, i);
    for (int kind = KINDS - 1; kind >= 0; kind--) {
        for (uint32_t i = 0; i < EACH; i++)
            destroy(&w, (enum kind)kind, i);
    }
    return 0;
}
