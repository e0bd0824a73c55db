/* SPDX-License-Identifier: MIT */
/*
 * How much of its stack a thread uses that works with Level Zero: a line for each kind of work, its
 * name and bytes. Each has a thread of its own, whose stack was painted. Arguments: a SPIR-V module
 * with add and scale.
 */
#include "app.h"

#include <zescope/control.h>

#include <pthread.h>
#include <sys/mman.h>

enum { STACK_B = 1 << 20, PAINT = 0xa5 };

static struct app app;
static const char *spirv;

static void ask(int count)
{
    ze_memory_allocation_properties_t properties = {
        .stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};
    ze_device_handle_t device;
    for (int i = 0; i < count; i++)
        OK(zeMemGetAllocProperties(app.context, app.shared, &properties, &device));
}

static void once(void)
{
    ask(1);
}

static void often(void)
{
    ask(20000);
}

static void launches(void)
{
    ze_command_list_handle_t immediate = app_immediate(&app, true), list = app_list(&app);
    ze_command_queue_handle_t queue = app_queue(&app);
    for (int i = 0; i < 20; i++)
        app_launch(&app, immediate, app.add, 1, NULL);
    for (int i = 0; i < 20; i++)
        app_launch(&app, list, app.scale, 1, NULL);
    OK(zeCommandListClose(list));
    for (int i = 0; i < 3; i++) {
        app_run(queue, list);
        app_wait(queue);
    }
    OK(zeCommandListDestroy(list));
    OK(zeCommandListDestroy(immediate));
    OK(zeCommandQueueDestroy(queue));
}

static void modules(void)
{
    struct app other = app;
    app_load(&other, spirv);
    OK(zeKernelDestroy(other.add));
    OK(zeKernelDestroy(other.scale));
    OK(zeModuleDestroy(other.module));
}

static void marks(void)
{
    zescope_mark("here");
    zescope_range_begin("range");
    ask(1);
    zescope_range_end();
}

static void *work(void *arg)
{
    (*(void (**)(void))arg)();
    return NULL;
}

static size_t depth(void (*what)(void))
{
    pthread_attr_t attributes;
    pthread_t thread;
    uint8_t *stack =
        mmap(NULL, STACK_B, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    size_t at = 0;
    memset(stack, PAINT, STACK_B);
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack, STACK_B);
    if (pthread_create(&thread, &attributes, work, &what) || pthread_join(thread, NULL))
        exit(6);
    while (stack[at] == PAINT)
        at++;
    munmap(stack, STACK_B);
    return STACK_B - at;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*work)(void);
    } kinds[] = {{"once", once},
                 {"often", often},
                 {"launches", launches},
                 {"modules", modules},
                 {"marks", marks}};
    spirv = argc > 1 ? argv[1] : "";
    app_init(&app);
    app_load(&app, spirv);
    modules(); /* what is compiled for the first time takes more */
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        printf("%s %zu\n", kinds[i].name, depth(kinds[i].work));
    return 0;
}
