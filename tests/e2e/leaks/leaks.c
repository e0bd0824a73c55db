/* SPDX-License-Identifier: MIT */
/* leaks MODE [BINARY]: a program that gives back all, or not; see main(). A line that makes what is
 * never given back has the mark "leaks:". */
#include <level_zero/ze_api.h>
#include <level_zero/zet_api.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        ze_result_t result = (call);                                                               \
        if (result != ZE_RESULT_SUCCESS) {                                                         \
            fprintf(stderr, "%s: 0x%x\n", #call, (unsigned)result);                                \
            exit(20);                                                                              \
        }                                                                                          \
    } while (0)

static ze_driver_handle_t driver;
static ze_device_handle_t device;
static ze_context_handle_t context;

static ze_context_handle_t new_context(void)
{
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_context_handle_t made;
    CHECK(zeContextCreate(driver, &desc, &made)); // leaks: context
    return made;
}

static void *new_memory(ze_context_handle_t of, size_t size_B)
{
    ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    void *p;
    CHECK(zeMemAllocDevice(of, &desc, size_B, 64, device, &p)); // leaks: memory
    return p;
}

static ze_event_handle_t new_event(ze_event_pool_handle_t pool, uint32_t index)
{
    ze_event_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC, .index = index};
    ze_event_handle_t event;
    CHECK(zeEventCreate(pool, &desc, &event)); // leaks: event
    return event;
}

static ze_event_pool_handle_t new_pool(uint32_t count)
{
    ze_event_pool_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, .count = count};
    ze_event_pool_handle_t pool;
    CHECK(zeEventPoolCreate(context, &desc, 1, &device, &pool)); // leaks: pool
    return pool;
}

static ze_module_handle_t new_module(const char *path)
{
    static uint8_t bytes[4 << 20];
    ze_module_handle_t module;
    FILE *f = fopen(path, "rb");
    if (!f)
        exit(21);
    size_t size = fread(bytes, 1, sizeof(bytes), f);
    fclose(f);
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = ZE_MODULE_FORMAT_NATIVE,
                             .inputSize = size,
                             .pInputModule = bytes};
    CHECK(zeModuleCreate(context, device, &desc, &module, NULL)); // leaks: module
    return module;
}

/* One of each kind; given back when `back`. */
static void each(const char *path, int back)
{
    ze_command_queue_desc_t queue_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    ze_command_list_desc_t list_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    ze_fence_desc_t fence_desc = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC};
    ze_host_mem_alloc_desc_t host_desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    ze_kernel_desc_t kernel_desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                                    .pKernelName = "global_groups"};
    ze_image_desc_t image_desc = {.stype = ZE_STRUCTURE_TYPE_IMAGE_DESC,
                                  .type = ZE_IMAGE_TYPE_2D,
                                  .format = {.layout = ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8},
                                  .width = 16,
                                  .height = 16,
                                  .depth = 1};
    ze_sampler_desc_t sampler_desc = {.stype = ZE_STRUCTURE_TYPE_SAMPLER_DESC};
    ze_physical_mem_desc_t physical_desc = {.stype = ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC,
                                            .size = 2 << 20};
    ze_command_queue_handle_t queue;
    ze_command_list_handle_t list, now;
    ze_fence_handle_t fence;
    ze_kernel_handle_t kernel;
    ze_image_handle_t image;
    ze_sampler_handle_t sampler;
    ze_physical_mem_handle_t physical;
    void *host, *shared, *virtual;
    ze_module_handle_t module = new_module(path);
    ze_event_pool_handle_t pool = new_pool(2);
    ze_event_handle_t event = new_event(pool, 0);
    void *memory = new_memory(context, 4096);
    CHECK(zeKernelCreate(module, &kernel_desc, &kernel));                    // leaks: kernel
    CHECK(zeCommandQueueCreate(context, device, &queue_desc, &queue));       // leaks: queue
    CHECK(zeFenceCreate(queue, &fence_desc, &fence));                        // leaks: fence
    CHECK(zeCommandListCreate(context, device, &list_desc, &list));          // leaks: list
    CHECK(zeCommandListCreateImmediate(context, device, &queue_desc, &now)); // leaks: immediate
    CHECK(zeMemAllocHost(context, &host_desc, 100, 64, &host));              // leaks: host
    ze_device_mem_alloc_desc_t any = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    CHECK(zeMemAllocShared(context, &any, &host_desc, 200, 64, NULL, &shared)); // leaks: shared
    CHECK(zeImageCreate(context, device, &image_desc, &image));                 // leaks: image
    CHECK(zeSamplerCreate(context, device, &sampler_desc, &sampler));           // leaks: sampler
    CHECK(zePhysicalMemCreate(context, device, &physical_desc, &physical));     // leaks: physical
    CHECK(zeVirtualMemReserve(context, NULL, 2 << 20, &virtual));               // leaks: virtual
    CHECK(zeVirtualMemMap(context, virtual, 2 << 20, physical, 0,
                          ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
    if (!back)
        return;
    CHECK(zeVirtualMemUnmap(context, virtual, 2 << 20));
    CHECK(zeVirtualMemFree(context, virtual, 2 << 20));
    CHECK(zePhysicalMemDestroy(context, physical));
    CHECK(zeSamplerDestroy(sampler));
    CHECK(zeImageDestroy(image));
    CHECK(zeMemFree(context, shared));
    CHECK(zeMemFree(context, host));
    CHECK(zeMemFree(context, memory));
    CHECK(zeCommandListDestroy(now));
    CHECK(zeCommandListDestroy(list));
    CHECK(zeFenceDestroy(fence));
    CHECK(zeCommandQueueDestroy(queue));
    CHECK(zeKernelDestroy(kernel));
    CHECK(zeEventDestroy(event));
    CHECK(zeEventPoolDestroy(pool));
    CHECK(zeModuleDestroy(module));
    CHECK(zeContextDestroy(context));
}

static void *late_memory;

static void at_exit(void)
{
    CHECK(zeMemFree(context, late_memory));
    CHECK(zeContextDestroy(context));
}

int main(int argc, char **argv)
{
    uint32_t one = 1;
    const char *mode = argc > 1 ? argv[1] : "";
    CHECK(zeInit(0));
    CHECK(zeDriverGet(&one, &driver));
    CHECK(zeDeviceGet(driver, &one, &device));
    if (!strcmp(mode,
                "loop")) { /* of 100 contexts with memory three stay, each with an event pool */
        for (int i = 0; i < 100; i++) {
            context = new_context();
            void *p = new_memory(context, 1000);
            if (i % 40 == 0) {
                new_pool(1);
                continue;
            }
            CHECK(zeMemFree(context, p));
            CHECK(zeContextDestroy(context));
        }
        return 0;
    }
    context = new_context();
    if (!strcmp(mode, "clean"))
        each(argv[2], 1);
    else if (!strcmp(mode, "each"))
        each(argv[2], 0);
    else if (!strcmp(mode, "ended")) { /* contexts are destroyed with memory in them */
        new_memory(context, 5000);
        new_memory(context, 6000); // leaks: second
        CHECK(zeContextDestroy(context));
    } else if (!strcmp(mode, "misuse")) { /* which goes on after each */
        ze_event_pool_handle_t pool = new_pool(1);
        ze_command_queue_desc_t queue_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
        ze_command_list_desc_t list_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
        ze_command_queue_handle_t queue;
        ze_command_list_handle_t list;
        CHECK(zeCommandQueueCreate(context, device, &queue_desc, &queue));
        CHECK(zeCommandListCreate(context, device, &list_desc, &list));
        ze_event_handle_t event = new_event(pool, 0);
        CHECK(zeEventDestroy(event)); // leaks: destroyed
        int refused = 0;
        for (int i = 0; i < 50; i++)
            refused += zeEventHostReset(event) == ZE_RESULT_ERROR_INVALID_NULL_HANDLE; // leaks: use
        refused += zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL) != 0; // leaks: open
        refused += zeMemFree(context, NULL) != 0;                                 // leaks: null
        ze_kernel_handle_t kernel = NULL;
        refused += zeKernelSetGroupSize(kernel, 1, 1, 1) != 0; // leaks: none
        ze_host_mem_alloc_desc_t odd = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
        void *memory; /* without the check of memory it lets that pass */
        if (!zeMemAllocHost(context, &odd, 64, 20, &memory)) // leaks: odd
            CHECK(zeMemFree(context, memory));
        CHECK(zeCommandListDestroy(list));
        CHECK(zeCommandQueueDestroy(queue));
        CHECK(zeEventPoolDestroy(pool));
        CHECK(zeContextDestroy(context));
        return refused == 53 ? 0 : 23;
    } else if (!strcmp(mode, "late")) { /* given back after main() */
        late_memory = new_memory(context, 64);
        atexit(at_exit);
    } else if (!strcmp(mode, "fork")) { /* the child has nothing, the parent gives all back */
        late_memory = new_memory(context, 64);
        int status = 1;
        pid_t child = fork();
        if (!child)
            exit(0);
        waitpid(child, &status, 0);
        if (status)
            return 22;
        at_exit();
    } else if (!strcmp(mode, "child")) { /* the child has its own, and leaves it */
        int status = 1;
        pid_t child = fork();
        if (!child) {
            CHECK(zeInit(0));
            CHECK(zeDriverGet(&one, &driver));
            CHECK(zeDeviceGet(driver, &one, &device));
            new_memory(new_context(), 77);
            exit(0);
        }
        waitpid(child, &status, 0);
        CHECK(zeContextDestroy(context));
        return status ? 22 : 0;
    } else
        return 2;
    return 0;
}
