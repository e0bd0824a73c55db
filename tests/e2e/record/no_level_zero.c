/* SPDX-License-Identifier: MIT */
/*
 * usage: no_level_zero [LIBRARY]: a program that does not use Level Zero. Opens a library by its
 * name alone, which only this program's RUNPATH finds: whoever stands between it and dlopen must
 * not hide who calls.
 */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[4096];
    int loaded = 0;
    while (maps && fgets(line, sizeof(line), maps)) {
        const char *wrong[] = {"libze_", "libstdc++"};
        for (unsigned i = 0; i < 2; i++)
            for (const char *p = line; *p; p++)
                loaded |= !__builtin_strncmp(p, wrong[i], __builtin_strlen(wrong[i]));
    }
    if (loaded)
        return 10;
    if (argc > 1 && !dlopen(argv[1], RTLD_NOW)) {
        fprintf(stderr, "%s\n", dlerror());
        return 11;
    }
    puts("out");
    fputs("err\n", stderr);
    return 7;
}
