/* SPDX-License-Identifier: MIT */
/* Code as Intel's driver runs it, of kernels that IGC 2 made (tests/igc2). test_code FOLDER */
#include "../test.h"

#include "module/module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *folder;

static struct zs_module *open_module(const char *name)
{
    char path[4096];
    struct zs_module *module;
    struct zs_diag diag = {0};
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    if (zs_module_open(path, NULL, &module, &diag))
        fail_msg("%s: %s", path, diag.text);
    return module;
}

/* Where the driver writes how far from r0.0 threads find what all of them get. -1: nowhere. */
static int64_t find_relocated(const struct zs_kernel *kernel)
{
    for (uint32_t i = 0; i < kernel->relocation_count; i++) {
        if (!strncmp(kernel->relocations[i].symbol, "__INTEL_PATCH_CROSS", 19))
            return (int64_t)kernel->relocations[i].at.offset_B;
    }
    return -1;
}

static void check_kernel(const struct zs_module *module, const struct zs_kernel *kernel,
                         uint32_t *ret_found)
{
    int64_t at_B = find_relocated(kernel);
    uint8_t *code = malloc(kernel->code.size_B);
    assert_non_null(code);
    memcpy(code, kernel->code.data, kernel->code.size_B);
    const uint32_t value = 0x1a40;
    if (at_B >= 0) {
        assert_int_equal(at_B % 16, 12); /* the immediate of an instruction */
        memcpy(code + at_B, &value, sizeof(value));
    }
    ret_found[at_B >= 0]++;
    uint32_t want = at_B >= 0 ? value : 0;
    assert_int_equal(zs_kernel_implicit_B(kernel, zs_span_make(code, kernel->code.size_B), 0),
                     want);
    /* threads that begin behind what loads their payload, as the driver submits it */
    for (uint64_t skip_B = 64; skip_B <= 128 && skip_B < kernel->code.size_B; skip_B += 64) {
        struct zs_span rest = zs_span_make(code + skip_B, kernel->code.size_B - skip_B);
        uint64_t skipped_B;
        assert_ptr_equal(zs_module_find_code(module, rest, NULL, &skipped_B), kernel);
        assert_int_equal(skipped_B, skip_B);
        assert_int_equal(zs_kernel_implicit_B(kernel, rest, skip_B),
                         at_B >= (int64_t)skip_B ? want : 0);
    }
    /* code that ends in front of it, or in it */
    for (uint64_t size_B = (uint64_t)at_B; at_B >= 0 && size_B < (uint64_t)at_B + 4; size_B++)
        assert_int_equal(zs_kernel_implicit_B(kernel, zs_span_make(code, size_B), 0), 0);
    free(code);
}

/* Kernels without, and with implicit arguments. */
static void check_module(const char *name, uint32_t ret_found[2])
{
    struct zs_module *module = open_module(name);
    for (uint32_t i = 0; i < module->image_count; i++) {
        for (uint32_t k = 0; k < module->images[i].kernel_count; k++)
            check_kernel(module, &module->images[i].kernels[k], ret_found);
    }
    zs_module_close(module);
}

static void test_implicit(void **state)
{
    uint32_t found[2] = {0, 0};
    check_module("pvc-flow-unoptimised.bin", found);
    check_module("bmg-flow-unoptimised.bin", found);
    assert_true(found[1] > 0);
    check_module("tgllp-flow-default.bin", found);
    assert_true(found[0] > 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_implicit)};
    if (argc != 2)
        return 2;
    folder = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
