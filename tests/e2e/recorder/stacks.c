/* SPDX-License-Identifier: MIT */
/* Calls from known places: a function of the program twice, an inlined one, a callback of libc, a
 * library that is opened, and a thread. Argument: the library. */
#include "app.h"

#include <dlfcn.h>
#include <pthread.h>

static struct app app;

__attribute__((noinline)) static void outer_function(void)
{
    OK(zeMemFree(app.context, app_alloc(&app, 64))); /* app_alloc is inlined */
    __asm__ volatile("");                            /* no tail call */
}

static int by_qsort(const void *a, const void *b)
{
    uint32_t status = 0;
    OK(zeDeviceGetCacheProperties(app.device, &status, NULL));
    return *(const int *)a - *(const int *)b;
}

static void *in_thread(void *arg)
{
    outer_function();
    return NULL;
}

int main(int argc, char **argv)
{
    int two[2] = {2, 1};
    pthread_t thread;
    if (argc < 2)
        return 2;
    app_init(&app);
    for (int i = 0; i < 3; i++)
        outer_function();
    qsort(two, 2, sizeof(*two), by_qsort);
    void *library = dlopen(argv[1], RTLD_NOW);
    int (*call)(void *device) =
        library ? (int (*)(void *))dlsym(library, "call_from_library") : NULL;
    if (!call || call(app.device))
        return 4;
    pthread_create(&thread, NULL, in_thread, NULL);
    pthread_join(thread, NULL);
    return 9;
}
