/* SPDX-License-Identifier: MIT */
/* What the environment says of the compiler, and what names this machine. */
#include "compiler/compiler.h"

#include "base/duration.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *get(const char *name)
{
    const char *text = secure_getenv(name);
    return text && *text ? text : NULL;
}

struct zs_compiler *zs_compiler_create_as_set(void (*complain)(const char *format, ...))
{
    struct zs_compiler_settings settings = {
        .helper = get("ZESCOPE_COMPILER"),
        .time_limit_ns = UINT64_C(120000000000),
        .remembers = true,
        .cache_folder = get("ZESCOPE_CACHE_DIR"),
        .cache_B = UINT64_C(1) << 30,
        .cache_memory_B = UINT64_C(64) << 20,
    };
    const char *cache = get("ZESCOPE_CACHE"), *size = get("ZESCOPE_CACHE_SIZE");
    const char *time = get("ZESCOPE_COMPILE_TIMEOUT"), *memory = get("ZESCOPE_COMPILE_MEMORY");
    settings.remembers = !cache || strcmp(cache, "0") != 0;
    if (cache && strcmp(cache, "0") != 0 && strcmp(cache, "1") != 0)
        complain("ZESCOPE_CACHE=%s: 0 or 1 is expected; taken as 1", cache);
    if (size && !zs_size_parse(size, &settings.cache_B))
        complain("ZESCOPE_CACHE_SIZE=%s is not a size such as 500M or 2G", size);
    if (time && !zs_duration_parse(time, &settings.time_limit_ns))
        complain("ZESCOPE_COMPILE_TIMEOUT=%s is not a time such as 10, 1.5s or 200ms", time);
    if (memory && !zs_size_parse(memory, &settings.memory_limit_B))
        complain("ZESCOPE_COMPILE_MEMORY=%s is not a size such as 500M or 2G", memory);
    return zs_compiler_create(&settings);
}

/* The machine that code is made for: it may have all that this one has. */
static char host[64];
static void name_host(void)
{
    unsigned a[4] = {0}, b[4] = {0};
#ifdef __x86_64__
    __get_cpuid(1, &a[0], &a[1], &a[2], &a[3]);
    __get_cpuid_count(7, 0, &b[0], &b[1], &b[2], &b[3]);
#endif
    snprintf(host, sizeof(host), "%x.%x.%x.%x.%x.%x", a[0], a[2], a[3], b[1], b[2], b[3]);
}

struct zs_compiler_request zs_compiler_for_host(const struct zs_span *unit)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, name_host);
    return (struct zs_compiler_request){.device = ZS_COMPILER_HOST_DEVICE,
                                        .options = host,
                                        .internal_options = "",
                                        .unit_count = 1,
                                        .units = unit};
}
