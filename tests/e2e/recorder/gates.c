/* SPDX-License-Identifier: MIT */
/*
 * Threads that submit while others wait or append. Argument: proof (a queue is waited for while
 * another thread is about to submit to it) or held (a submission is held up while a list waits to
 * be executed again). GATE_DRIVER's wrapper is the driver.
 */
#include "app.h"
#include "gate_driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

static struct app app;
static ze_command_queue_handle_t queue;
static void (*close_gate)(int closed);
static void (*wait_until_somebody_waits)(void);

static void *submit(void *list)
{
    app_run(queue, list);
    return NULL;
}

/* 3 executions of a fill and a barrier. */
static void proof(ze_command_list_handle_t list)
{
    pthread_t thread;
    OK(zeCommandListClose(list));
    close_gate(1);
    pthread_create(&thread, NULL, submit, list);
    wait_until_somebody_waits();
    app_wait(queue); /* nothing was submitted: this proves nothing */
    close_gate(0);
    pthread_join(thread, NULL);
    app_wait(queue);
    for (int i = 0; i < 2; i++) {
        usleep(30000); /* so that old timestamps cannot be taken for new ones */
        app_run(queue, list);
        app_wait(queue);
    }
}

/* 2 executions of a fill and a barrier. */
static void held(ze_command_list_handle_t list)
{
    const ze_event_pool_desc_t pool_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                            .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
                                            .count = 1};
    const ze_event_desc_t event_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC};
    ze_command_list_handle_t other = app_list(&app);
    ze_event_pool_handle_t pool;
    ze_event_handle_t start;
    pthread_t thread;
    OK(zeEventPoolCreate(app.context, &pool_desc, 0, NULL, &pool));
    OK(zeEventCreate(pool, &event_desc, &start));
    OK(zeCommandListReset(list));
    OK(zeCommandListAppendWaitOnEvents(list, 1, &start));
    OK(zeCommandListAppendMemoryFill(list, app.shared, "\1", 1, BYTES, NULL, 0, NULL));
    OK(zeCommandListAppendBarrier(list, NULL, 0, NULL));
    OK(zeCommandListClose(list));
    app_run(queue, list); /* waits for the event */
    close_gate(1);
    pthread_create(&thread, NULL, submit, list);
    wait_until_somebody_waits();
    OK(zeCommandListAppendBarrier(other, NULL, 0, NULL)); /* must not wait for that thread */
    puts("appended");
    close_gate(0);
    pthread_join(thread, NULL);
    OK(zeEventHostSignal(start));
    app_wait(queue);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    app_init(&app);
    app.shared = app_alloc(&app, BYTES);
    void *driver = dlopen(getenv("ZE_ENABLE_ALT_DRIVERS"), RTLD_NOW | RTLD_NOLOAD);
    if (!driver)
        return 3;
    close_gate = (void (*)(int))dlsym(driver, "gate_close");
    wait_until_somebody_waits = (void (*)(void))dlsym(driver, "gate_wait_until_somebody_waits");
    queue = app_queue(&app);
    ze_command_list_handle_t list = app_list(&app);
    OK(zeCommandListAppendMemoryFill(list, app.shared, "\1", 1, BYTES, NULL, 0, NULL));
    OK(zeCommandListAppendBarrier(list, NULL, 0, NULL));
    if (strcmp(argv[1], "proof") == 0)
        proof(list);
    else
        held(list);
    OK(zeCommandListDestroy(list));
    puts("done");
    return 9;
}
