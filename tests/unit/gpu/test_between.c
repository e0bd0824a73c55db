/* SPDX-License-Identifier: MIT */
/* What is remembered of commands, and forgotten of memory. Nothing is there at the addresses. */
#include "../test.h"

#include "gpu/between.h"

#include <time.h>

#define AT(va) ((const void *)(uintptr_t)(va))

static uint32_t told;

static void count(void *context, const struct zs_gpu_finding *finding)
{
    told += finding->kind == ZS_GPU_FINDING_RACE;
}

/* One that knows of no other; each is asked for elsewhere, as a pair is told once. */
static uint32_t write_there(struct zs_between *between, struct zs_gpu_memory *memory, uint64_t va,
                            uint64_t size_B)
{
    struct zs_between_command command = {.between = between,
                                         .number = zs_between_number(between),
                                         .name = "memory fill",
                                         .memory = memory,
                                         .found = count};
    command.origin = command.number;
    zs_past_add(between, &command.past, command.number);
    told = 0;
    zs_between_touch(&command, AT(va), size_B, true);
    zs_past_unref(command.past);
    return told;
}

/* Of 64 TB: as long as what was touched there takes. */
static void test_forget(void **state)
{
    const uint64_t base = UINT64_C(1) << 45, size_B = UINT64_C(1) << 46, page = 4096;
    struct zs_between *b = zs_between_create();
    struct zs_gpu_memory *memory;
    assert_non_null(b);
    assert_int_equal(zs_gpu_memory_create(&memory), 0);
    for (uint64_t i = 0; i < 300; i++) /* in the range, and on both sides of it */
        assert_int_equal(write_there(b, memory, base - 10 * page + i * page, page), 0);
    write_there(b, memory, base + size_B - page, 2 * page);
    clock_t start = clock();
    zs_between_forget(b, base + 8, size_B - 16);
    assert_true(clock() - start < CLOCKS_PER_SEC);
    assert_int_equal(write_there(b, memory, base + 8, 289 * page), 0);
    assert_int_equal(write_there(b, memory, base + size_B - page, page - 8), 0);
    zs_between_forget(b, base + 8, size_B - 16);
    const uint64_t kept[] = {base - 10 * page, base - 1, base + 4, base + size_B - 8,
                             base + size_B};
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
        assert_int_equal(write_there(b, memory, kept[i], 1), 1);
    zs_between_forget(b, base - 4, 2 * page); /* fewer pages than are held */
    assert_int_equal(write_there(b, memory, base - 4, 8), 0);
    assert_int_equal(write_there(b, memory, base - 8, 4), 1);
    zs_between_forget(b, UINT64_MAX - page, page + 1); /* nothing is there */
    zs_between_forget(NULL, base, 1);
    zs_gpu_memory_destroy(memory);
    zs_between_destroy(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_forget)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
