/* SPDX-License-Identifier: MIT */
/* Every function of every table in the headers is taken over by the layer. Argument: the layer. */
#include <level_zero/ze_ddi.h>
#include <level_zero/zes_ddi.h>
#include <level_zero/zet_ddi.h>

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Addresses that nobody calls. */
static char driver[4096];

static int check(void *layer, const char *name, void **table, size_t count)
{
    ze_result_t (*get)(ze_api_version_t version, void *table);
    int failures = 0;
    *(void **)&get = dlsym(layer, name);
    for (size_t i = 0; i < count; i++)
        table[i] = driver + i;
    if (!get || get(ZE_API_VERSION_CURRENT, table)) {
        printf("%s: refused\n", name);
        return 1;
    }
    for (size_t i = 0; i < count; i++) {
        Dl_info info;
        if (table[i] == driver + i || !dladdr(table[i], &info) ||
            !strstr(info.dli_fname, "libzescope_layer")) {
            printf("%s: entry %zu is not traced\n", name, i);
            failures++;
        }
    }
    /* a table of an older version, which may be shorter, is left alone */
    for (size_t i = 0; i < count; i++)
        table[i] = driver + i;
    get(ZE_API_VERSION_1_0, table);
    for (size_t i = 0; i < count; i++)
        failures += table[i] != driver + i;
    return failures;
}

int main(int argc, char **argv)
{
    void *layer = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    int failures = !layer;
    size_t tables = 0;
#define ZE_TABLE(domain, Name, type)                                                               \
    if (layer) {                                                                                   \
        static type table;                                                                         \
        failures += check(layer, #domain "Get" #Name "ProcAddrTable", (void **)&table,             \
                          sizeof(table) / sizeof(void *));                                         \
        tables++;                                                                                  \
    }
#include "layer_api.def"
    printf("%zu tables, %d failures\n", tables, failures);
    return failures != 0;
}
