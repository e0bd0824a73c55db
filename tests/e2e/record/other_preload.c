/* SPDX-License-Identifier: MIT */
/* Somebody else's preloaded library, which interposes dlopen too. Says in a file that it ran. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((constructor)) static void say(void)
{
    const char *path = getenv("OTHER_PRELOAD_SAYS");
    FILE *out = path ? fopen(path, "w") : NULL;
    if (out) {
        fputs("here\n", out);
        fclose(out);
    }
}

__attribute__((visibility("default"))) void *dlopen(const char *file, int flags)
{
    void *(*next)(const char *, int) =
        (void *(*)(const char *, int))(__UINTPTR_TYPE__)dlsym(RTLD_NEXT, "dlopen");
    return next(file, flags);
}
