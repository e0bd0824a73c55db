/* SPDX-License-Identifier: MIT */
/*
 * zeModuleCreate as a program meets it: build_modules SPIRV [THREADS MODULES [DISTINCT]]
 * prints milliseconds: from the start of main to the first module, of that module alone, and until
 * all THREADS have made MODULES each, of which DISTINCT are different by a build flag.
 */
#include <level_zero/ze_api.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static struct {
    ze_context_handle_t context;
    ze_device_handle_t device;
    unsigned char *spirv;
    size_t spirv_B;
    int modules, distinct;
} bench;

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void build(int which)
{
    char flags[64];
    snprintf(flags, sizeof(flags), "-DWHICH=%d", which);
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = ZE_MODULE_FORMAT_IL_SPIRV,
                             .inputSize = bench.spirv_B,
                             .pInputModule = bench.spirv,
                             .pBuildFlags = flags};
    ze_module_handle_t module;
    if (zeModuleCreate(bench.context, bench.device, &desc, &module, NULL) != ZE_RESULT_SUCCESS) {
        fprintf(stderr, "zeModuleCreate failed\n");
        exit(1);
    }
    zeModuleDestroy(module);
}

static void *build_many(void *arg)
{
    for (int i = 0; i < bench.modules; i++)
        build(i % bench.distinct);
    return arg;
}

static void set_up(const char *path)
{
    uint32_t one = 1;
    ze_driver_handle_t driver;
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    FILE *f = fopen(path, "rb");
    bench.spirv = malloc(16 << 20);
    bench.spirv_B = f ? fread(bench.spirv, 1, 16 << 20, f) : 0;
    if (!bench.spirv_B || zeInit(0) != ZE_RESULT_SUCCESS ||
        zeDriverGet(&one, &driver) != ZE_RESULT_SUCCESS ||
        zeDeviceGet(driver, &one, &bench.device) != ZE_RESULT_SUCCESS ||
        zeContextCreate(driver, &desc, &bench.context) != ZE_RESULT_SUCCESS) {
        fprintf(stderr, "no SPIR-V, or no driver\n");
        exit(1);
    }
    fclose(f);
}

int main(int argc, char **argv)
{
    enum { THREADS_MAX = 64 };
    pthread_t threads[THREADS_MAX];
    double start = now_ms();
    if (argc < 2)
        return 2;
    set_up(argv[1]);
    double ready = now_ms();
    build(0);
    printf("%.3f %.3f", now_ms() - start, now_ms() - ready);
    int count = argc > 3 ? atoi(argv[2]) : 0;
    bench.modules = argc > 3 ? atoi(argv[3]) : 0;
    bench.distinct = argc > 4 ? atoi(argv[4]) : 1;
    start = now_ms();
    for (int i = 0; i < count && i < THREADS_MAX; i++)
        pthread_create(&threads[i], NULL, build_many, NULL);
    for (int i = 0; i < count && i < THREADS_MAX; i++)
        pthread_join(threads[i], NULL);
    printf(" %.3f\n", now_ms() - start);
    return 0;
}
