/* SPDX-License-Identifier: MIT */
/*
 * usage: linked MODE SPIRV FLAGS OUT_DIR [MORE...]: a program that links the loader.
 *
 *   plain      one module             threads    eight threads, two modules each
 *   fork       one in the parent, one in a child that is forked afterwards
 *   early-fork a child that initialises Level Zero itself, then the parent
 *   exec       one module, then exec of MORE in the same process
 *   segv kill  one module, then death by that signal
 *   closeall   closes every descriptor before it builds
 *   log        asks for the build log
 *   exit N     one module, then exit status N
 */
#include "app.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct app app = {
#define API(name) .api.name = name,
    API(zeInit) API(zeDriverGet) API(zeDeviceGet) API(zeContextCreate) API(zeModuleCreate)
        API(zeModuleDestroy) API(zeModuleGetNativeBinary) API(zeModuleBuildLogGetString)
            API(zeModuleBuildLogDestroy) API(zetModuleGetDebugInfo)
#undef API
};

static void *build_two(void *argument)
{
    char name[32];
    for (int i = 0; i < 2; i++) {
        snprintf(name, sizeof(name), "thread%d-%d", *(int *)argument, i);
        app_build(&app, name, 0);
    }
    return NULL;
}

static int run_threads(void)
{
    pthread_t threads[8];
    int numbers[8];
    for (int i = 0; i < 8; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, build_two, &numbers[i]);
    }
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

static int build(const char *name)
{
    return (int)app_build(&app, name, 0) != 0;
}

static int run_fork(int early)
{
    if (!early && (app_init(&app) || build("parent")))
        return 1;
    pid_t pid = fork();
    if (!pid)
        _exit((early && app_init(&app)) || build("child"));
    int status = 0;
    waitpid(pid, &status, 0);
    if (early && (app_init(&app) || build("parent")))
        return 1;
    return status != 0;
}

int main(int argc, char **argv)
{
    if (argc < 5)
        return 99;
    const char *mode = argv[1];
    app.spirv = argv[2];
    app.flags = argv[3];
    app.out_dir = argv[4];
    if (!strcmp(mode, "fork") || !strcmp(mode, "early-fork"))
        return run_fork(mode[0] == 'e');
    int step = app_init(&app);
    if (step)
        return 90 + step;
    if (!strcmp(mode, "threads"))
        return run_threads();
    if (!strcmp(mode, "log"))
        return (int)app_build(&app, "logged", 1) != 0;
    if (!strcmp(mode, "closeall"))
        for (int fd = 3; fd < 1024; fd++)
            close(fd);
    if (build(mode))
        return 2;
    if (!strcmp(mode, "segv"))
        raise(SIGSEGV);
    if (!strcmp(mode, "kill"))
        raise(SIGKILL);
    if (!strcmp(mode, "exec")) {
        execv(argv[5], argv + 5);
        return 3;
    }
    if (!strcmp(mode, "exit"))
        return atoi(argv[5]);
    puts("app's own output");
    return 0;
}
