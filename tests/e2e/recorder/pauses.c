/* SPDX-License-Identifier: MIT */
/* Calls and launches of which the test knows how many are made while recording is paused.
 * Arguments: what pauses (api, signal, kernels, lists, time), a SPIR-V module with add and scale.
 */
#include "app.h"

#include <zescope/control.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static struct app app;

static void allocs(int count)
{
    for (int i = 0; i < count; i++)
        OK(zeMemFree(app.context, app_alloc(&app, 64)));
}

/* Started paused. Recorded: 3 executions of a list that was filled while paused, 2 launches on an
 * immediate list, 7 allocations. */
static void by_api(void)
{
    ze_command_queue_handle_t queue = app_queue(&app);
    ze_command_list_handle_t list = app_list(&app), immediate = app_immediate(&app, true);
    if (zescope_record_is_paused() != 1 || zescope_mark("not recorded") != -EAGAIN)
        exit(6);
    app_fill(&app, 0);
    app_launch(&app, list, app.add, 1, NULL);
    OK(zeCommandListClose(list));
    for (int i = 0; i < 5; i++)
        app_run(queue, list);
    zescope_range_begin("not recorded");
    if (zescope_record_resume() || zescope_record_resume() != -EALREADY)
        exit(6);
    zescope_range_begin("outer");
    void *first = app_alloc(&app, 64), *second = app_alloc(&app, 64);
    for (int i = 0; i < 3; i++)
        app_run(queue, list);
    zescope_range_begin("inner");
    app_wait(queue);
    zescope_mark("waited");
    allocs(7);
    zescope_range_end();
    app_launch(&app, immediate, app.scale, 2, NULL);
    app_launch(&app, immediate, app.scale, 2, NULL);
    if (zescope_record_pause() || zescope_record_pause() != -EALREADY)
        exit(6);
    zescope_range_end();
    zescope_range_end();
    if (zescope_range_end() != -EINVAL)
        exit(6);
    app_launch(&app, immediate, app.scale, 1, NULL);
    app_run(queue, list);
    app_wait(queue);
    allocs(3);
    OK(zeMemFree(app.context, first)); /* the second is left */
    app_expect(&app, 33, "api");
    zescope_record_resume();
    app_run(queue, list);
    zescope_record_pause();
    app_wait(queue);
    app_expect(&app, 34, "api, end");
    printf("left %p\n", second);
}

/* The child of a fork starts in its parent's state. */
static void by_signal(void)
{
    allocs(10);
    raise(SIGUSR2);
    allocs(20);
    pid_t pid = fork();
    if (pid == 0) {
        app_init(&app); /* handles of the parent are worth nothing here */
        allocs(100);
        raise(SIGUSR2);
        allocs(5);
        _exit(0);
    }
    int status;
    waitpid(pid, &status, 0);
    raise(SIGUSR2);
    allocs(3);
    if (status)
        exit(7);
}

static void by_kernels(void)
{
    ze_command_list_handle_t immediate = app_immediate(&app, true);
    ze_kernel_handle_t order[] = {app.add, app.add, app.scale, app.add, app.scale, app.add};
    for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++) {
        app_launch(&app, immediate, order[i], 1, NULL);
        allocs(1);
    }
}

/* From scale to scale, recorded: the append of scale, an execution of add, two of scale. */
static void by_lists(void)
{
    ze_command_queue_handle_t queue = app_queue(&app);
    ze_command_list_handle_t adds = app_list(&app), scales = app_list(&app);
    app_launch(&app, adds, app.add, 1, NULL);
    OK(zeCommandListClose(adds));
    allocs(1);
    app_launch(&app, scales, app.scale, 1, NULL);
    OK(zeCommandListClose(scales));
    app_run(queue, adds);
    app_run(queue, scales);
    allocs(1);
    app_run(queue, adds);
    app_run(queue, scales);
    allocs(1);
    app_wait(queue);
    OK(zeCommandListReset(scales));
    app_launch(&app, scales, app.add, 1, NULL);
    OK(zeCommandListClose(scales));
    app_run(queue, scales); /* without scale now */
    app_wait(queue);
}

static void by_time(void)
{
    for (int i = 0; i < 60; i++) {
        allocs(1);
        usleep(10000);
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } ways[] = {{"api", by_api},
                {"signal", by_signal},
                {"kernels", by_kernels},
                {"lists", by_lists},
                {"time", by_time}};
    if (argc < 3)
        return 2;
    app_init(&app);
    app_load(&app, argv[2]);
    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
        if (!strcmp(ways[i].name, argv[1]))
            ways[i].run();
    return 9;
}
