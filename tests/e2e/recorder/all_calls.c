/* SPDX-License-Identifier: MIT */
/*
 * Calls every function whose name stands on standard input, a line each, with nothing but zeros.
 * Where a driver would not stand that, the loader's validation of parameters is to be switched on.
 * Prints each name and its result.
 */
#include <level_zero/ze_api.h>

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef uint32_t (*any_fn)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
                           uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);

int main(void)
{
    char name[128];
    void *loader = dlopen("libze_loader.so.1", RTLD_NOW);
    if (!loader || zeInit(0))
        puts("no driver");
    while (loader && fgets(name, sizeof(name), stdin)) {
        name[strcspn(name, "\n")] = '\0';
        any_fn fn;
        *(void **)&fn = dlsym(loader, name);
        if (!fn)
            return 3;
        printf("%s %x\n", name, (unsigned)fn(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
        fflush(stdout);
    }
    return 9;
}
