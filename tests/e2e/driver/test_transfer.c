/* SPDX-License-Identifier: MIT */
/*
 * Copies and fills: rows of every shape between every kind of memory, how many system calls they
 * take, and commands that would never end.
 */
#include "e2e.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_uint system_calls;

/* The driver's calls come here: counted, and passed on. */
ssize_t process_vm_readv(pid_t pid, const struct iovec *to, unsigned long to_count,
                         const struct iovec *from, unsigned long from_count, unsigned long flags)
{
    atomic_fetch_add(&system_calls, 1);
    return syscall(SYS_process_vm_readv, pid, to, to_count, from, from_count, flags);
}

enum { AREA_B = 4 << 20 };

struct shape {
    uint32_t row_B, rows, slices, dst_pitch_B, src_pitch_B;
};

static void check_shape(const struct e2e *e, ze_command_list_handle_t list, const struct shape *s,
                        uint8_t *dst, const uint8_t *src, uint8_t *expected)
{
    ze_copy_region_t region = {0, 0, 0, s->row_B, s->rows, s->slices};
    uint32_t dst_slice_B = s->dst_pitch_B * s->rows + 64, src_slice_B = s->src_pitch_B * s->rows;
    uint32_t all_B = (s->slices - 1) * dst_slice_B + s->rows * s->dst_pitch_B + 64;
    assert_in_range(all_B, 64, AREA_B);
    for (uint32_t i = 0; i < all_B; i++)
        dst[i] = expected[i] = (uint8_t)(i >> 3);
    for (uint32_t z = 0; z < s->slices; z++)
        for (uint32_t y = 0; y < s->rows; y++)
            memcpy(expected + z * dst_slice_B + y * s->dst_pitch_B,
                   src + z * src_slice_B + y * s->src_pitch_B, s->row_B);
    OK(zeCommandListAppendMemoryCopyRegion(list, dst, &region, s->dst_pitch_B, dst_slice_B, src,
                                           &region, s->src_pitch_B, src_slice_B, NULL, 0, NULL));
    assert_memory_equal(dst, expected, all_B);
}

static void test_shapes(void **state)
{
    static const uint32_t widths[] = {1, 4, 255, 256, 20000};
    static const uint32_t heights[] = {1, 2, 33};
    static const uint32_t gaps[] = {0, 12, 5000};
    struct e2e *e = *state;
    uint8_t *areas[] = {e2e_alloc(e, AREA_B), e2e_alloc(e, AREA_B), malloc(AREA_B), malloc(AREA_B)};
    uint8_t *expected = malloc(AREA_B);
    ze_command_list_handle_t list = e2e_immediate(e, true);
    for (uint32_t kinds = 0; kinds < 4; kinds++) {
        uint8_t *dst = areas[kinds & 1 ? 2 : 0], *src = areas[kinds & 2 ? 3 : 1];
        for (uint32_t i = 0; i < AREA_B; i++)
            src[i] = (uint8_t)(i * 2654435761u >> 24);
        for (size_t i = 0; i < COUNT(widths) * COUNT(heights) * COUNT(gaps) * COUNT(gaps); i++) {
            struct shape s = {.row_B = widths[i % COUNT(widths)],
                              .rows = heights[i / COUNT(widths) % COUNT(heights)],
                              .slices = 1 + (uint32_t)(i % 3)};
            size_t gap = i / (COUNT(widths) * COUNT(heights));
            s.dst_pitch_B = s.row_B + gaps[gap % COUNT(gaps)];
            s.src_pitch_B = s.row_B + gaps[gap / COUNT(gaps)];
            check_shape(e, list, &s, dst, src, expected);
        }
        check_shape(e, list, &(struct shape){4, 9000, 2, 16, 32}, dst, src, expected);
    }
    OK(zeCommandListDestroy(list));
    for (int i = 0; i < 2; i++)
        OK(zeMemFree(e->context, areas[i]));
    free(areas[2]);
    free(areas[3]);
    free(expected);
}

static void test_system_calls(void **state)
{
    enum { ROWS = 16384, ROW_B = 200, PITCH_B = 256 };
    struct e2e *e = *state;
    uint8_t *device = e2e_alloc(e, AREA_B), *host = malloc(AREA_B);
    memset(host, 7, AREA_B);
    ze_command_list_handle_t list = e2e_immediate(e, true);
    ze_copy_region_t region = {0, 0, 0, ROW_B, ROWS, 1};
    atomic_store(&system_calls, 0);
    OK(zeCommandListAppendMemoryCopyRegion(list, device, &region, PITCH_B, 0, host, &region,
                                           PITCH_B, 0, NULL, 0, NULL));
    assert_in_range(atomic_exchange(&system_calls, 0), 1, ROWS / 200);
    OK(zeCommandListAppendMemoryCopyRegion(list, host, &region, PITCH_B, 0, device, &region,
                                           PITCH_B, 0, NULL, 0, NULL));
    assert_in_range(atomic_exchange(&system_calls, 0), 1, ROWS / 200);
    /* rows that follow each other are one */
    region.width = PITCH_B;
    region.height = 1000;
    OK(zeCommandListAppendMemoryCopyRegion(list, device, &region, PITCH_B, 0, host, &region,
                                           PITCH_B, 0, NULL, 0, NULL));
    assert_int_equal(atomic_exchange(&system_calls, 0), 1);
    OK(zeCommandListAppendMemoryFill(list, device, "abcd", 4, 64, NULL, 0, NULL));
    OK(zeCommandListAppendMemoryFill(list, device + 64, "x", 1, AREA_B - 64, NULL, 0, NULL));
    OK(zeCommandListAppendMemoryCopy(list, device, device + 4096, 64, NULL, 0, NULL));
    assert_int_equal(atomic_load(&system_calls), 0);
    OK(zeCommandListDestroy(list));
    OK(zeMemFree(e->context, device));
    free(host);
}

/* Fills of every kind of memory, of patterns smaller and larger than what is filled. */
static void test_fills(void **state)
{
    struct e2e *e = *state;
    uint8_t *areas[] = {e2e_alloc(e, AREA_B), malloc(AREA_B)}, *pattern = malloc(1 << 17);
    ze_command_list_handle_t list = e2e_immediate(e, true);
    for (uint32_t i = 0; i < 1 << 17; i++)
        pattern[i] = (uint8_t)(i * 2654435761u >> 24);
    for (int kind = 0; kind < 2; kind++)
        for (size_t pattern_B = 1; pattern_B <= 1 << 17; pattern_B *= 4)
            for (size_t size_B = 1; size_B < 1 << 18; size_B = size_B * 9 + 4) {
                memset(areas[kind], 0x5a, size_B + 64);
                OK(zeCommandListAppendMemoryFill(list, areas[kind], pattern, pattern_B, size_B,
                                                 NULL, 0, NULL));
                for (size_t i = 0; i < size_B; i += pattern_B)
                    assert_memory_equal(areas[kind] + i, pattern,
                                        pattern_B < size_B - i ? pattern_B : size_B - i);
                assert_int_equal(areas[kind][size_B], 0x5a);
            }
    OK(zeCommandListDestroy(list));
    OK(zeMemFree(e->context, areas[0]));
    free(areas[1]);
    free(pattern);
}

/* Rows up to a page that is missing arrive, and the command fails. */
static void test_missing_page(void **state)
{
    enum { PAGE = 4096, ROWS = 64, ROW_B = 100, PITCH_B = 128 };
    struct e2e *e = *state;
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    struct e2e own = *e;
    OK(zeContextCreate(e->driver, &desc, &own.context));
    uint8_t *device = e2e_alloc(&own, 2 * PAGE);
    uint8_t *host =
        mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(host != MAP_FAILED);
    memset(host, 3, 2 * PAGE);
    assert_int_equal(munmap(host + PAGE, PAGE), 0);
    ze_command_list_handle_t list = e2e_immediate(&own, true);
    ze_copy_region_t region = {0, 0, 0, ROW_B, ROWS, 1};
    FAILS(zeCommandListAppendMemoryCopyRegion(list, device, &region, PITCH_B, 0, host, &region,
                                              PITCH_B, 0, NULL, 0, NULL),
          ZE_RESULT_ERROR_DEVICE_LOST);
    memset(device, 9, 2 * PAGE);
    FAILS(zeCommandListAppendMemoryCopyRegion(list, host, &region, PITCH_B, 0, device, &region,
                                              PITCH_B, 0, NULL, 0, NULL),
          ZE_RESULT_ERROR_DEVICE_LOST);
    assert_int_equal(host[0], 9);
    OK(zeCommandListDestroy(list));
    OK(zeMemFree(own.context, device));
    OK(zeContextDestroy(own.context));
    munmap(host, PAGE);
}

/* Copies without an end are interrupted, and hold nobody up; those of nothing are done. */
static void test_endless(void **state)
{
    struct e2e *e = *state;
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    struct e2e own = *e;
    OK(zeContextCreate(e->driver, &desc, &own.context));
    uint8_t *a = e2e_alloc(&own, 4096), *b = e2e_alloc(&own, 4096), *host = malloc(4096);
    ze_command_list_handle_t list = e2e_immediate(&own, false);
    ze_event_pool_handle_t pool = e2e_pool(&own, 1, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
    ze_event_handle_t event = e2e_event(pool, 0);
    ze_copy_region_t nothing = {0, 0, 0, 0, UINT32_MAX, UINT32_MAX}, endless = nothing;
    endless.width = 1;
    OK(zeCommandListAppendMemoryCopyRegion(list, a, &nothing, 0, 0, b, &nothing, 0, 0, event, 0,
                                           NULL));
    OK(zeEventHostSynchronize(event, UINT64_MAX));
    OK(zeCommandListAppendMemoryCopyRegion(list, a, &endless, 0, 0, host, &endless, 0, 0, NULL, 0,
                                           NULL));
    ze_ipc_mem_handle_t handle;
    OK(zeMemGetIpcHandle(own.context, b, &handle));
    OK(zeContextDestroy(own.context));
    OK(zeEventDestroy(event));
    OK(zeEventPoolDestroy(pool));
    OK(zeCommandListDestroy(list));
    free(host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),  cmocka_unit_test(test_system_calls),
        cmocka_unit_test(test_fills),   cmocka_unit_test(test_missing_page),
        cmocka_unit_test(test_endless),
    };
    return cmocka_run_group_tests(tests, e2e_setup, e2e_teardown);
}
