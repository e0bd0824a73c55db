/* SPDX-License-Identifier: MIT */
/* Addresses of code: nobody's twice while it is somebody's, and enough for a program that makes
 * modules for as long as it runs. */
#include "metrics_env.h"

#include "driver/module/module.h"
#include "driver/module/places.h"

#include <stdio.h>

enum { START_B = 64, END_B = 64 + 64 * 16, UNITS = 16 };

static void test_in_a_row(void **state)
{
    struct zs_code_places p;
    (void)state;
    zs_code_places_init(&p, START_B, END_B);
    assert_int_equal(zs_code_place_take(&p, 64), 64);
    assert_int_equal(zs_code_place_take(&p, 65), 128);
    assert_int_equal(zs_code_place_take(&p, 0), 256);
    assert_int_equal(zs_code_place_take(&p, UINT64_MAX), 0);
    assert_int_equal(zs_code_place_take(&p, UINT64_C(1) << 32), 0);
    assert_int_equal(zs_code_place_take(&p, 64 * 13), 0);
    /* what is given back comes last, from where the last one was found on */
    zs_code_place_give_back(&p, 64, 64);
    zs_code_place_give_back(&p, 0, 64);
    assert_int_equal(zs_code_place_take(&p, 64 * 12), 320);
    zs_code_place_give_back(&p, 320, 64 * 12);
    zs_code_place_give_back(&p, 256, 0);
    assert_int_equal(zs_code_place_take(&p, 64), 64);
    assert_int_equal(zs_code_place_take(&p, 64), 256);
    zs_code_place_give_back(&p, 64, 64);
    assert_int_equal(zs_code_place_take(&p, 64), 320);
    assert_int_equal(zs_code_place_take(&p, 64 * 12), 0);
    assert_int_equal(zs_code_place_take(&p, 64 * 11), 384);
    assert_int_equal(zs_code_place_take(&p, 64), 64);
    assert_int_equal(zs_code_place_take(&p, 64), 0);
    zs_code_places_fini(&p);
}

/* Against a map of units. */
static void test_random(void **state)
{
    enum { TURNS = 20000 };
    struct zs_code_places p;
    struct {
        uint32_t at_B, units;
    } held[UNITS] = {0};
    bool used[UNITS] = {0};
    uint64_t random = 1;
    (void)state;
    zs_code_places_init(&p, START_B, END_B);
    for (int turn = 0; turn < TURNS; turn++) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        uint32_t i = (uint32_t)(random >> 33) % UNITS, units = 1 + (uint32_t)(random >> 45) % 4;
        if (held[i].units) {
            zs_code_place_give_back(&p, held[i].at_B, held[i].units * 64);
            for (uint32_t u = 0; u < held[i].units; u++)
                used[held[i].at_B / 64 - 1 + u] = false;
            held[i].units = 0;
            continue;
        }
        uint32_t at_B = zs_code_place_take(&p, units * 64), most = 0, row = 0;
        for (uint32_t u = 0; u < UNITS; u++) {
            row = used[u] ? 0 : row + 1;
            most = row > most ? row : most;
        }
        /* (what was never given out yet does not join what was) */
        assert_true(at_B || most < units || turn < 100);
        for (uint32_t u = 0; at_B && u < units; u++) {
            assert_true(at_B % 64 == 0 && at_B / 64 - 1 + u < UNITS);
            assert_false(used[at_B / 64 - 1 + u]);
            used[at_B / 64 - 1 + u] = true;
        }
        held[i].at_B = at_B;
        held[i].units = at_B ? units : 0;
    }
    zs_code_places_fini(&p);
}

static ze_kernel_handle_t create(struct env *e, ze_context_handle_t context,
                                 ze_module_handle_t *ret_module)
{
    static uint8_t bytes[1 << 16];
    FILE *file = fopen(MODULE, "rb");
    assert_non_null(file);
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = ZE_MODULE_FORMAT_NATIVE,
                             .inputSize = fread(bytes, 1, sizeof(bytes), file),
                             .pInputModule = bytes};
    fclose(file);
    uint32_t count = 1;
    ze_kernel_desc_t kernel_desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC};
    ze_kernel_handle_t kernel;
    OK(zeModuleCreate(context, e->root, &desc, ret_module, NULL));
    OK(zeModuleGetKernelNames(*ret_module, &count, &kernel_desc.pKernelName));
    OK(zeKernelCreate(*ret_module, &kernel_desc, &kernel));
    return kernel;
}

/* As if a program had made modules with 2 GiB of code already. */
static void test_modules_without_end(void **state)
{
    enum { TIMES = 50, LEFT_B = 64 << 10 };
    struct env *e = *state;
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_context_handle_t context;
    ze_module_handle_t module, first_module;
    OK(zeContextCreate(e->driver, &desc, &context));
    struct zs_code_places *places = &zs_ze_context_of(context)->places;
    places->next_B = places->end_B - LEFT_B;
    ze_kernel_handle_t first = create(e, context, &first_module);
    uint32_t one_B = places->next_B - (places->end_B - LEFT_B);
    assert_true(one_B > 0 && one_B < LEFT_B);
    for (int i = 0; i < TIMES * LEFT_B / (int)one_B; i++) {
        ze_kernel_handle_t kernel = create(e, context, &module);
        OK(zeKernelDestroy(kernel));
        OK(zeModuleDestroy(module));
    }
    OK(zeKernelDestroy(first));
    OK(zeModuleDestroy(first_module));
    OK(zeContextDestroy(context));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_a_row),
        cmocka_unit_test(test_random),
        cmocka_unit_test_setup_teardown(test_modules_without_end, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
