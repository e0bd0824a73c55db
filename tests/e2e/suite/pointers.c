/* SPDX-License-Identifier: MIT */
/* Calls through addresses of functions. */
#include "suite.h"

static int32_t triple(int32_t x)
{
    return x * 3 + 1;
}

static int32_t mix(int32_t x)
{
    for (int i = 0; i < (x & 7); i++)
        x = x * 5 + i;
    return x;
}

static int32_t less(int32_t x)
{
    return (x & 8 ? x : triple(x)) - 7;
}

static int32_t twice(int32_t x)
{
    return less(mix(x)) ^ 0x55;
}

static int32_t (*const table[4])(int32_t) = {triple, mix, less, twice};

static void case_select(struct suite *s)
{
    const int32_t *a = suite_in(s, S_I32, s->n);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    for (size_t i = 0; i < s->n; i++) {
        int32_t x = a[i] & 0xffff;
        o[i] = table[x & 1 ? 0 : x & 2 ? 1 : x & 4 ? 2 : 3](x);
    }
}

static void case_table(struct suite *s)
{
    const int32_t *a = suite_in(s, S_I32, s->n);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    for (size_t i = 0; i < s->n; i++) {
        int32_t x = a[i] & 0xffff;
        o[i] = table[x >> 4 & 3](x) + table[x >> 6 & 3](x + 1);
    }
}

static void case_apply(struct suite *s)
{
    const int32_t *a = suite_in(s, S_I32, s->n);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    for (size_t i = 0; i < s->n; i++) {
        int32_t x = a[i] & 0xffff, first = x;
        for (int left = first >> 4 & 7; left > 0; left--) {
            x = table[first & 3](x) & 0xffff;
            if (x & 32)
                x = table[first >> 2 & 3](x) & 0xffff;
            if ((x & 0x7f) == 0x11)
                break;
        }
        o[i] = x;
    }
}

static void case_flow(struct suite *s)
{
    const int32_t *a = suite_in(s, S_I32, s->n);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    for (size_t n = 0; n < s->n; n++) {
        int32_t x = a[n] & 0xffff, sum = 0;
        for (int i = 0; i < (x & 15); i++) {
            bool taken = x >> i & 1;
            if (taken)
                sum += table[(x + i) & 3](sum & 0xfff);
            if (taken && sum & 0x100000)
                break;
            if (!taken && i & 1)
                sum ^= triple(i);
            else
                x = table[i & 3](x) & 0xffff;
        }
        o[n] = sum + x;
    }
}

static void case_objects(struct suite *s)
{
    const int32_t *a = suite_in(s, S_I32, s->n);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    for (size_t i = 0; i < s->n; i++) {
        int32_t x = a[i] & 0xffff, k = x % 3;
        o[i] = table[x >> k & 3](x + k * 100) - table[x >> 1 & 3]((x >> 4) + 100);
    }
}

/* One kernel writes the addresses, another one calls them. */
static void case_load(struct suite *s)
{
    const int32_t *a = suite_in(s, S_I32, s->n);
    void *addresses = suite_zeroed(s, S_U64, 4, 0);
    suite_ignore(s, addresses, 0, 4);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    suite_stage_buffer(s, suite_stage(s, "pointers_store", 1, 4), addresses);
    for (size_t i = 0; i < s->n; i++)
        o[i] = table[a[i] & 3](a[i] & 0xffff);
}

/* The host asks for the addresses: of this module's functions, or of another's. */
static void host_addresses(struct suite *s, ze_module_handle_t module)
{
    static const char *const names[4] = {"triple", "mix", "less", "twice"};
    const int32_t *a = suite_in(s, S_I32, s->n);
    uint64_t *addresses = suite_out(s, S_U64, 4, 0);
    for (int k = 0; k < 4; k++) {
        void *function = NULL;
        s->cannot |= zeModuleGetFunctionPointer(module, names[k], &function) != ZE_RESULT_SUCCESS;
        void *own = NULL;
        if (module != s->module &&
            zeModuleGetFunctionPointer(s->module, names[k], &own) == ZE_RESULT_SUCCESS)
            s->cannot |= own == function; /* each module's code has a place of its own */
        addresses[k] = (uint64_t)(uintptr_t)function;
    }
    suite_upload(s, addresses);
    int32_t *o = suite_out(s, S_I32, s->n, 0);
    for (size_t i = 0; i < s->n; i++)
        o[i] = table[a[i] & 3](a[i] & 0xffff);
}

static void case_host(struct suite *s)
{
    host_addresses(s, s->module);
}

/* A kernel of the other module runs first: before, Intel's drivers do not tell GPUs that share the
 * host's memory of its code. */
static void case_other(struct suite *s)
{
    const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                                   .pKernelName = "pointers_store"};
    const ze_device_mem_alloc_desc_t memory = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    const ze_group_count_t groups = {1, 1, 1};
    ze_kernel_handle_t kernel = NULL;
    void *addresses = NULL;

    host_addresses(s, s->other);
    s->cannot |=
        zeKernelCreate(s->other, &desc, &kernel) ||
        zeMemAllocDevice(s->context, &memory, 4 * sizeof(uint64_t), 64, s->device, &addresses) ||
        zeKernelSetGroupSize(kernel, 4, 1, 1) ||
        zeKernelSetArgumentValue(kernel, 0, sizeof(addresses), &addresses) ||
        zeCommandListAppendLaunchKernel(s->list, kernel, &groups, NULL, 0, NULL);
    if (kernel)
        zeKernelDestroy(kernel);
    if (addresses)
        zeMemFree(s->context, addresses);
}

static const struct suite_case cases[] = {
    {"pointers_select", case_select, NULL, NULL},
    {"pointers_table", case_table, NULL, "default simd8 simd16 simd32 unoptimised"},
    {"pointers_apply", case_apply, NULL, NULL},
    {"pointers_flow", case_flow, NULL, NULL},
    {"pointers_objects", case_objects, NULL, NULL},
    {"pointers_load", case_load, NULL, NULL},
    {"pointers_load", case_host, NULL, NULL},
    {"pointers_load", case_other, NULL, NULL},
};

const struct suite_group suite_pointers = {"pointers", cases, SUITE_COUNT(cases)};
