/* SPDX-License-Identifier: MIT */
/*
 * Processes as the collector meets them: ones that outlive the application, execute themselves
 * again, are made by hand; and calls of a library that sees its own names first. Arguments: the
 * way, a SPIR-V module with add and scale, more. Built as a program and as a library that others
 * open.
 */
#include "app.h"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct app app;
static ze_command_list_handle_t list;

static void start(const char *spirv)
{
    app_init(&app);
    app_load(&app, spirv);
    app_fill(&app, 0);
    list = app_immediate(&app, true);
}

static void launch(int count)
{
    for (int i = 0; i < count; i++)
        app_launch(&app, list, app.add, 1, NULL);
}

static void say(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    fprintf(file, "%d\n", app.shared[0]);
    fclose(file);
}

/* Goes on when its parent and the recorder have ended, which the file "go" in argv[3] says. */
static int outlive(char **argv)
{
    char go[4096];
    snprintf(go, sizeof(go), "%s/go", argv[3]);
    start(argv[2]);
    launch(10);
    say(argv[3], "ready");
    while (access(go, F_OK))
        usleep(1000);
    launch(3000);
    say(argv[3], "done");
    return 0;
}

static int again(char **argv)
{
    int left = atoi(argv[3]);
    char text[16];
    start(argv[2]);
    launch(340);
    OK(zeKernelDestroy(app.add));
    OK(zeKernelDestroy(app.scale));
    OK(zeModuleDestroy(app.module));
    OK(zeContextDestroy(app.context));
    snprintf(text, sizeof(text), "%d", left - 1);
    if (left > 1)
        execl("/proc/self/exe", argv[0], "again", argv[2], text, (char *)NULL);
    return 0;
}

/* Children of which no handler of pthread_atfork is told: argv[3] how, argv[4] calls that it makes.
 */
static int raw(char **argv)
{
    bool by_hand = !strcmp(argv[3], "clone");
    int calls = atoi(argv[4]), status;
    start(argv[2]);
    launch(20);
    pid_t pid = by_hand ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : _Fork();
    if (pid == 0) {
        ze_memory_allocation_properties_t properties = {
            .stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};
        ze_device_handle_t device;
        for (int i = 0; i < calls; i++)
            zeMemGetAllocProperties(app.context, app.shared, &properties, &device);
        exit(0);
    }
    launch(1000);
    waitpid(pid, &status, 0);
    launch(20);
    printf("%d %d\n", status, app.shared[0]);
    return 0;
}

static int spaced(char **argv)
{
    void *loader = dlmopen(LM_ID_NEWLM, "libze_loader.so.1", RTLD_NOW);
    return loader ? 0 : 4;
}

static int here(char **argv)
{
    start(argv[2]);
    launch(10);
    return 0;
}

static int many(char **argv)
{
    start(argv[2]);
    launch(atoi(argv[3]));
    return 0;
}

__attribute__((visibility("default"))) int run(int argc, char **argv);
int run(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(char **argv);
    } ways[] = {{"outlive", outlive}, {"again", again}, {"raw", raw},
                {"spaced", spaced},   {"here", here},   {"many", many}};
    for (size_t i = 0; argc > 2 && i < sizeof(ways) / sizeof(*ways); i++)
        if (!strcmp(argv[1], ways[i].name))
            return ways[i].run(argv);
    return 2;
}

#ifndef LIBRARY
int main(int argc, char **argv)
{
    return run(argc, argv);
}
#endif
