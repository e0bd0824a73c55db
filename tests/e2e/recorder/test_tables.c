/* SPDX-License-Identifier: MIT */
/*
 * Every function of every table is taken over by the layer, those of later specifications than the
 * headers' too, and by a loader of any version as far as its tables go. Argument: the layer.
 */
#include "api_calls.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { SLOTS_MAX = 128 };

/* Addresses that nobody calls. */
static char driver[4096];

static const struct slot {
    const char *table, *name;
    uint32_t index, since;
} slots[] = {
#define ZE_SLOT(domain, Name, index, major, minor, function)                                       \
    {#domain "Get" #Name "ProcAddrTable", #function, index, ZE_MAKE_VERSION(major, minor)},
#include "calls_api.def"
};

static const struct {
    const char *name;
    size_t members; /* of the installed headers, or that the description knows */
} tables[] = {
#define ZE_TABLE(domain, Name, type)                                                               \
    {#domain "Get" #Name "ProcAddrTable", sizeof(type) / sizeof(void *)},
#define ZE_LATER_TABLE(domain, Name, members) {#domain "Get" #Name "ProcAddrTable", members},
#include "calls_api.def"
};

static uint32_t since(const char *table, size_t index)
{
    for (size_t i = 0; i < sizeof(slots) / sizeof(slots[0]); i++)
        if (!strcmp(slots[i].table, table) && slots[i].index == index)
            return slots[i].since;
    return UINT32_MAX;
}

/* As a loader of that version hands the table out: all entries that it has are traced, what lies
 * behind them, which need not be memory of the table, is left alone. */
static int check(void *layer, const char *name, uint32_t version, bool moved)
{
    ze_result_t (*get)(uint32_t version, void *table);
    void *table[SLOTS_MAX];
    int failures = 0;
    for (size_t i = 0; i < SLOTS_MAX; i++)
        table[i] = driver + i;
    *(void **)&get = dlsym(layer, name);
    if (!get || get(version, table)) {
        printf("%s: refused\n", name);
        return 1;
    }
    for (size_t i = 0; i < SLOTS_MAX; i++) {
        Dl_info info;
        bool taken = table[i] != driver + i;
        if (taken && (!dladdr(table[i], &info) || !strstr(info.dli_fname, "libzescope_layer")))
            failures++;
        if (taken != (!moved && since(name, i) <= version)) {
            printf("%s: entry %zu of version %#x is %staken\n", name, i, version,
                   taken ? "" : "not ");
            failures++;
        }
    }
    return failures;
}

/* Specification 1.11 shuffled some experimental tables, and 1.12 put them back. */
static bool is_moved(const char *table, uint32_t version)
{
    static const char *const moved[] = {
        "zeGetCommandListExpProcAddrTable",   "zesGetDeviceExpProcAddrTable",
        "zesGetVFManagementExpProcAddrTable", "zetGetMetricProcAddrTable",
        "zetGetMetricExpProcAddrTable",       "zetGetMetricGroupExpProcAddrTable"};
    for (size_t i = 0; i < sizeof(moved) / sizeof(moved[0]) && version == ZE_MAKE_VERSION(1, 11);
         i++)
        if (!strcmp(moved[i], table))
            return true;
    return false;
}

int main(int argc, char **argv)
{
    void *layer = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    int failures = !layer;
    size_t count = sizeof(tables) / sizeof(tables[0]), later = 0;
    for (size_t i = 0; layer && i < count; i++) {
        for (uint32_t minor = 0; minor < 20; minor++) {
            uint32_t version = ZE_MAKE_VERSION(1, minor);
            failures += check(layer, tables[i].name, version, is_moved(tables[i].name, version));
        }
        /* no entry of the headers is missing */
        for (size_t k = 0; k < tables[i].members; k++)
            failures += since(tables[i].name, k) == UINT32_MAX;
    }
    for (size_t i = 0; i < sizeof(slots) / sizeof(slots[0]); i++)
        later += slots[i].since > ZE_MAKE_VERSION(1, 4);
    printf("%zu tables, %zu later calls, %d failures\n", count, later, failures);
    return failures != 0 || later < 180;
}
