/* SPDX-License-Identifier: MIT */
/*
 * usage: gpu_BACKEND FILE KERNEL LAUNCHES [--check] [--each | --immediate] [--instructions] ...
 *
 * One launch first, which takes what is done once (a compiler's last stage, first touches of
 * memory); then LAUNCHES more, whose process CPU time and wall time are printed as JSON. --check
 * compares the outputs with plain C, after the measurement. --instructions: how many of them a
 * launch executes; --idle (Level Zero): in that place the offset of one that no launch executes,
 * -1: there is none.
 */
#include "work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

void *read_file(const char *path, size_t *ret_size_B)
{
    FILE *file = fopen(path, "rb");
    long size_B = -1;
    if (file && fseek(file, 0, SEEK_END) == 0)
        size_B = ftell(file);
    char *data = size_B >= 0 ? malloc((size_t)size_B + 1) : NULL;
    if (!data || fseek(file, 0, SEEK_SET) || fread(data, 1, (size_t)size_B, file) != (size_t)size_B)
        give_up("%s: cannot be read", path);
    fclose(file);
    data[size_B] = 0;
    *ret_size_B = (size_t)size_B;
    return data;
}

static double cpu_s(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static double wall_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
    bool check = false, instructions = false;
    enum mode mode = MODE_TOGETHER;
    struct arg args[ARGS_MAX] = {0};

    if (argc < 4)
        give_up("usage: %s FILE KERNEL LAUNCHES [OPTIONS]", argv[0]);
    const struct work *work = work_find(argv[2]);
    uint32_t launches = (uint32_t)strtoul(argv[3], NULL, 10);
    if (!work)
        give_up("no kernel %s", argv[2]);
    for (int i = 4; i < argc; i++) {
        if (strcmp(argv[i], "--check") == 0)
            check = true;
        else if (strcmp(argv[i], "--instructions") == 0)
            instructions = true;
        else if (strcmp(argv[i], "--idle") == 0)
            instructions = true, backend_option(argv[i]);
        else if (strcmp(argv[i], "--each") == 0)
            mode = MODE_EACH;
        else if (strcmp(argv[i], "--immediate") == 0)
            mode = MODE_IMMEDIATE;
        else
            backend_option(argv[i]);
    }
    work->prepare(args);
    backend_open(argv[1], work, args);
    double opened_s = cpu_s();
    backend_run(1, mode);
    double before_s = cpu_s(), wall_before_s = wall_s();
    if (launches)
        backend_run(launches, mode);
    double used_s = cpu_s() - before_s, wall_used_s = wall_s() - wall_before_s;
    backend_read(args);
    if (check) {
        uint64_t wrong = work_check(work, args, launches + 1);
        if (wrong)
            give_up("%s: %llu words are wrong", work->name, (unsigned long long)wrong);
    }
    printf("{\"cpu_s\": %.6f, \"wall_s\": %.6f, \"open_s\": %.6f, \"instructions\": %lld}\n",
           used_s, wall_used_s, opened_s, instructions ? (long long)backend_instructions() : 0ll);
    backend_close();
    for (int i = 0; i < ARGS_MAX; i++)
        free(args[i].host);
    return 0;
}
