/* SPDX-License-Identifier: MIT */
/* Objects by handle and type, whatever numbers a driver takes for handles. */
#include "../test.h"

#include "collect/activity_metrics.h"
#include "collect/instrument.h"

#include <stdlib.h>

void act_write_device(struct zs_trace_file *file, uint64_t id, const char *name,
                      uint64_t frequency_hz, uint32_t tile, uint32_t index,
                      enum zs_activity_api api)
{
    (void)file, (void)id, (void)name, (void)frequency_hz, (void)tile, (void)index, (void)api;
}

uint64_t act_meter_base(struct zs_activity *a, ze_kernel_handle_t kernel)
{
    return 0;
}

void act_write_kernel(struct zs_trace_file *file, uint64_t id, const char *name, uint64_t build,
                      uint64_t base, bool is_rewritten, const ze_kernel_properties_t *p)
{
    (void)file, (void)id, (void)name, (void)build, (void)p;
}

void act_clock_sample(struct zs_activity *a, struct act_device *device)
{
    (void)a, (void)device;
}

bool zs_instrument_is_of(const struct zs_collector *c, uint64_t build)
{
    (void)c, (void)build;
    return false;
}

bool zs_launches_match(const struct zs_launches *launches, const char *kernel)
{
    (void)launches, (void)kernel;
    return true;
}

/* What stands for an object: another address for each pair. */
static char objects[ACT_TYPES][256];

static void *handle_of(uint64_t number)
{
    return (void *)(uintptr_t)number;
}

static void fill(struct zs_activity *a, uint64_t base)
{
    for (uint64_t h = 1; h < 256; h++)
        for (int type = 0; type < ACT_TYPES; type++)
            assert_ptr_equal(
                act_put(a, (enum act_type)type, handle_of(base + h), &objects[type][h]),
                &objects[type][h]);
}

/* Small numbers next to each other, as some drivers hand out: each is of its own type alone. */
static void test_small_numbers(void **state)
{
    struct zs_activity a = {0};
    (void)state;
    fill(&a, 0);
    for (uint64_t h = 1; h < 256; h++)
        for (int type = 0; type < ACT_TYPES; type++)
            assert_ptr_equal(act_find(&a, (enum act_type)type, handle_of(h)), &objects[type][h]);
    for (uint64_t h = 1; h < 256; h += 2)
        assert_ptr_equal(act_take(&a, ACT_BUILD, handle_of(h)), &objects[ACT_BUILD][h]);
    for (uint64_t h = 1; h < 256; h++)
        for (int type = 0; type < ACT_TYPES; type++)
            assert_ptr_equal(act_find(&a, (enum act_type)type, handle_of(h)),
                             type == ACT_BUILD && h % 2 ? NULL : &objects[type][h]);
    size_t lists = 0;
    for (size_t i = 0; i < a.map.capacity; i++)
        lists += act_map_value(&a.map, i, ACT_LIST) != NULL;
    assert_int_equal(lists, 255);
    free(a.map.keys);
    free(a.map.values);
}

/* No address is up there: they are not followed rather than taken for others. */
static void test_large_numbers(void **state)
{
    struct zs_activity a = {0};
    (void)state;
    fill(&a, 0);
    for (int bit = 60; bit < 64; bit++) {
        assert_null(act_put(&a, ACT_LIST, handle_of((UINT64_C(1) << bit) | 8), &a));
        assert_null(act_find(&a, ACT_LIST, handle_of((UINT64_C(1) << bit) | 8)));
    }
    assert_ptr_equal(act_find(&a, ACT_LIST, handle_of(8)), &objects[ACT_LIST][8]);
    free(a.map.keys);
    free(a.map.values);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_numbers),
        cmocka_unit_test(test_large_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
