/* SPDX-License-Identifier: MIT */
/* Allocations, views and pins of launches, images' layout, printf records, fault texts. */
#include "../test.h"

#include "gpu/gpu_priv.h"

#include <errno.h>
#include <stdlib.h>

static struct zs_gpu_allocation make(uint64_t gpu_va, uint64_t size_B, const char *label)
{
    struct zs_gpu_allocation a = {.gpu_va = gpu_va, .size_B = size_B, .kind = ZS_GPU_MEMORY_DEVICE};
    strncpy(a.label, label, sizeof(a.label) - 1);
    return a;
}

static void released(void *ctx)
{
    ++*(int *)ctx;
}

static void allocations_are_found_by_any_address(void **state)
{
    struct zs_gpu_memory *m;
    struct zs_gpu_allocation a, found;
    uint64_t id = 0;
    assert_int_equal(zs_gpu_memory_create(&m), 0);
    for (uint64_t i = 0; i < 100; i++) { /* in an order that is not ascending */
        a = make(0x10000 + (i * 37 % 100) * 0x1000, 0x800, "a");
        assert_int_equal(zs_gpu_memory_add(m, &a, &id), 0);
        assert_int_equal(id, i + 1);
    }
    for (uint64_t i = 0; i < 100; i++) {
        uint64_t base = 0x10000 + i * 0x1000;
        assert_true(zs_gpu_memory_find(m, base, &found) && found.gpu_va == base);
        assert_true(zs_gpu_memory_find(m, base + 0x7ff, &found) && found.gpu_va == base);
        assert_false(zs_gpu_memory_find(m, base + 0x800, &found));
        assert_false(zs_gpu_memory_find(m, base - 1, &found));
    }
    a = make(0x107ff, 2, "b");
    assert_int_equal(zs_gpu_memory_add(m, &a, NULL), -EEXIST);
    a = make(0x0ff00, 0x200, "b");
    assert_int_equal(zs_gpu_memory_add(m, &a, NULL), -EEXIST);
    a = make(0x10800, 0x800, "b");
    assert_int_equal(zs_gpu_memory_add(m, &a, NULL), 0);
    a = make(5, 0, "empty");
    assert_int_equal(zs_gpu_memory_add(m, &a, NULL), -EINVAL);
    a = make(UINT64_MAX - 5, 10, "wraps");
    assert_int_equal(zs_gpu_memory_add(m, &a, NULL), -EINVAL);
    assert_int_equal(zs_gpu_memory_remove(m, 0x10001, NULL, NULL), -ENOENT);
    assert_int_equal(zs_gpu_memory_remove(m, 0x10000, NULL, NULL), 0);
    assert_false(zs_gpu_memory_find(m, 0x10000, &found));
    zs_gpu_memory_destroy(m);
}

/* What a launch without arguments pins: nothing. */
static const struct zs_gpu_args *no_args(void)
{
    static const struct zs_kernel module;
    static const struct zs_gpu_kernel kernel = {.module = &module};
    static const struct zs_gpu_args args = {.kernel = &kernel};
    return &args;
}

static void freed_memory_outlives_who_sees_it(void **state)
{
    struct zs_gpu_memory *m;
    struct zs_gpu_launch_pin launch_pin = {.args = no_args()};
    struct zs_gpu_view first, second, third;
    struct zs_gpu_allocation a = make(0x1000, 0x1000, "a"), b = make(0x3000, 0x1000, "b");
    int count_a = 0, count_b = 0;
    assert_int_equal(zs_gpu_memory_create(&m), 0);
    assert_int_equal(zs_gpu_memory_add(m, &a, NULL), 0);
    assert_int_equal(zs_gpu_memory_add(m, &b, NULL), 0);
    assert_int_equal(zs_gpu_view_open(m, &launch_pin, &first), 0);
    assert_int_equal(zs_gpu_view_open(m, &launch_pin, &second), 0);
    assert_ptr_equal(first.map.root, second.map.root); /* nothing changed between them */
    uint64_t changes = zs_gpu_memory_changes(m);
    assert_int_equal(zs_gpu_memory_remove(m, 0x1000, released, &count_a), 0);
    assert_true(zs_gpu_memory_changes(m) != changes);
    assert_int_equal(zs_gpu_view_open(m, &launch_pin, &third), 0);
    assert_non_null(zs_port_map_find(&third.map, 0x3000, 1));
    assert_non_null(zs_port_map_find(&first.map, 0x3000, 1));
    assert_non_null(zs_port_map_find(&first.map, 0x1fff, 1));
    assert_null(zs_port_map_find(&third.map, 0x1fff, 1));
    zs_gpu_view_close(m, &first, NULL);
    assert_int_equal(count_a, 0);
    assert_int_equal(zs_gpu_memory_remove(m, 0x3000, released, &count_b), 0);
    zs_gpu_view_close(m, &second, NULL);
    assert_int_equal(count_a, 1); /* the third launch started after it was freed */
    assert_int_equal(count_b, 0);
    zs_gpu_view_close(m, &third, &launch_pin);
    assert_int_equal(count_b, 1);
    assert_int_equal(zs_gpu_memory_add(m, &a, NULL), 0);
    assert_int_equal(zs_gpu_memory_remove(m, 0x1000, released, &count_a), 0);
    assert_int_equal(count_a, 2); /* nobody runs: at once */
    zs_gpu_memory_destroy(m);
}

/* Launches that overlap without a gap do not add up: each freed allocation goes with the last one
 * that saw it, and what came and went meanwhile goes at once. */
static void overlapping_launches_release(void **state)
{
    enum { ROUNDS = 100 };
    struct zs_gpu_memory *m;
    struct zs_gpu_launch_pin launch_pins[ROUNDS];
    struct zs_gpu_view views[ROUNDS];
    int count = 0, transient = 0;
    assert_int_equal(zs_gpu_memory_create(&m), 0);
    for (int i = 0; i < ROUNDS; i++) {
        struct zs_gpu_allocation a = make(0x100000 + (uint64_t)i * 0x1000, 0x1000, "a");
        assert_int_equal(zs_gpu_memory_add(m, &a, NULL), 0);
        launch_pins[i] = (struct zs_gpu_launch_pin){.args = no_args()};
        assert_int_equal(zs_gpu_view_open(m, &launch_pins[i], &views[i]), 0);
        a = make(0x1000, 0x1000, "transient");
        assert_int_equal(zs_gpu_memory_add(m, &a, NULL), 0);
        assert_int_equal(zs_gpu_memory_remove(m, 0x1000, released, &transient), 0);
        assert_int_equal(transient, i + 1);
        assert_int_equal(zs_gpu_memory_remove(m, 0x100000 + (uint64_t)i * 0x1000, released, &count),
                         0);
        if (i > 0) {
            assert_int_equal(count, i - 1);
            zs_gpu_view_close(m, &views[i - 1], &launch_pins[i - 1]);
            assert_int_equal(count, i);
        }
    }
    zs_gpu_view_close(m, &views[ROUNDS - 1], &launch_pins[ROUNDS - 1]);
    assert_int_equal(count, ROUNDS);
    zs_gpu_memory_destroy(m);
}

/* What a launch names, or all that it began with, stays for it while its threads look anew. */
static void launches_pin_what_they_name(void **state)
{
    struct zs_kernel module = {.arg_count = 1};
    struct zs_gpu_kernel kernel = {.module = &module};
    uint64_t named = 0x1010;
    struct zs_gpu_args args = {.kernel = &kernel, .named_va = &named};
    for (int all = 0; all < 2; all++) {
        struct zs_gpu_memory *m;
        struct zs_gpu_launch_pin launch_pin = {.args = &args, .all = all != 0};
        struct zs_gpu_view view;
        struct zs_gpu_allocation a = make(0x1000, 0x1000, "named"), b = make(0x3000, 0x1000, "b");
        struct zs_gpu_allocation c = make(0x5000, 0x1000, "mapped"),
                                 d = make(0x7000, 0x10, "later");
        int counts[4] = {0};
        c.flags = ZS_GPU_ALLOCATION_WITHDRAWABLE;
        assert_int_equal(zs_gpu_memory_create(&m), 0);
        assert_int_equal(zs_gpu_memory_add(m, &a, NULL), 0);
        assert_int_equal(zs_gpu_memory_add(m, &b, NULL), 0);
        assert_int_equal(zs_gpu_memory_add(m, &c, NULL), 0);
        assert_int_equal(zs_gpu_view_open(m, &launch_pin, &view), 0);
        assert_int_equal(zs_gpu_memory_add(m, &d, NULL), 0);
        assert_int_equal(zs_gpu_memory_remove(m, 0x1000, released, &counts[0]), 0);
        assert_int_equal(zs_gpu_memory_remove(m, 0x3000, released, &counts[1]), 0);
        assert_int_equal(zs_gpu_memory_remove(m, 0x5000, released, &counts[2]), 0);
        assert_int_equal(zs_gpu_memory_remove(m, 0x7000, released, &counts[3]), 0);
        assert_int_equal(counts[0] + counts[1] + counts[2], 0);
        assert_int_equal(counts[3], 1);
        zs_gpu_view_close(m, &view, NULL);
        assert_int_equal(zs_gpu_view_open(m, &launch_pin, &view), 0);
        assert_int_equal(counts[0], 0);
        assert_int_equal(counts[1], !all);
        assert_int_equal(counts[2], 1);
        assert_non_null(zs_port_map_find(&view.map, 0x1000, 1));
        assert_int_equal(zs_port_map_find(&view.map, 0x3000, 1) != NULL, all);
        assert_null(zs_port_map_find(&view.map, 0x5000, 1));
        assert_null(zs_port_map_find(&view.map, 0x7000, 1));
        zs_gpu_view_close(m, &view, NULL);
        zs_gpu_memory_launch_unpin(m, &launch_pin);
        assert_int_equal(counts[0], 1);
        assert_int_equal(counts[1], 1);
        zs_gpu_memory_destroy(m);
    }
}

/* The allocator, as long as it has something. */
static bool exhausted;
static size_t allocated_B;
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *p, size_t size);

void *__wrap_malloc(size_t size)
{
    allocated_B += size;
    return exhausted ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return exhausted ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *p, size_t size)
{
    return exhausted ? NULL : __real_realloc(p, size);
}

/* Without memory nothing can be made or looked at, but what is freed is gone, and kept as long as
 * somebody sees it. */
static void freeing_needs_no_memory(void **state)
{
    enum { COUNT = 100 };
    struct zs_gpu_memory *m;
    struct zs_gpu_launch_pin launch_pin = {.args = no_args()}, other = {.args = no_args()};
    struct zs_gpu_view view, none;
    struct zs_gpu_pin pin;
    int count = 0;
    assert_int_equal(zs_gpu_memory_create(&m), 0);
    for (uint64_t i = 0; i <= COUNT; i++) {
        struct zs_gpu_allocation a = make(0x1000 * (i + 1), 0x1000, "a");
        assert_int_equal(zs_gpu_memory_add(m, &a, NULL), 0);
    }
    assert_int_equal(zs_gpu_view_open(m, &launch_pin, &view), 0);
    exhausted = true;
    for (uint64_t i = 0; i < COUNT; i++) /* one stays */
        assert_int_equal(zs_gpu_memory_remove(m, 0x1000 * (i + 1), released, &count), 0);
    zs_gpu_memory_pin(m, &pin);
    zs_gpu_memory_unpin(m, &pin);
    int error = zs_gpu_view_open(m, &other, &none);
    exhausted = false;
    assert_int_equal(error, -ENOMEM);
    zs_gpu_memory_launch_unpin(m, &other);
    assert_int_equal(count, 0);
    assert_int_equal(zs_gpu_view_open(m, &other, &none), 0); /* and there is memory again */
    assert_null(zs_port_map_find(&none.map, 0x1000, 1));
    assert_non_null(zs_port_map_find(&none.map, 0x1000 * (COUNT + 1), 1));
    zs_gpu_view_close(m, &none, &other);
    zs_gpu_view_close(m, &view, &launch_pin);
    assert_int_equal(count, COUNT);
    zs_gpu_memory_destroy(m);
}

/* Launches that see what was there at some time, among changes: a model of plain arrays agrees. */
static void launches_see_their_own_time(void **state)
{
    enum { PLACES = 300, PINS = 8, STEPS = 20000 };
    static bool seen[PINS][PLACES], live[PLACES];
    struct zs_gpu_memory *m;
    struct zs_gpu_launch_pin launch_pins[PINS];
    struct zs_gpu_view views[PINS];
    bool pinned[PINS] = {false};
    uint64_t seed = 1;
    assert_int_equal(zs_gpu_memory_create(&m), 0);
    for (int step = 0; step < STEPS; step++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        uint64_t place = (seed >> 33) % PLACES, va = 0x1000 * (place + 1);
        struct zs_gpu_allocation a = make(va, 0x800, "a");
        uint32_t p = (uint32_t)(seed >> 20) % PINS;
        if (live[place])
            assert_int_equal(zs_gpu_memory_remove(m, va, NULL, NULL), 0);
        else
            assert_int_equal(zs_gpu_memory_add(m, &a, NULL), 0);
        live[place] = !live[place];
        if (step % 5)
            continue;
        for (uint64_t i = 0; i < PLACES && pinned[p]; i++)
            assert_int_equal(zs_port_map_find(&views[p].map, 0x1000 * (i + 1) + 0x7ff, 1) != NULL,
                             seen[p][i]);
        if (pinned[p])
            zs_gpu_view_close(m, &views[p], &launch_pins[p]);
        else
            launch_pins[p] = (struct zs_gpu_launch_pin){.args = no_args()};
        pinned[p] = !pinned[p];
        if (pinned[p])
            assert_int_equal(zs_gpu_view_open(m, &launch_pins[p], &views[p]), 0);
        memcpy(seen[p], live, sizeof(live));
    }
    for (int p = 0; p < PINS; p++)
        if (pinned[p])
            zs_gpu_view_close(m, &views[p], &launch_pins[p]);
    zs_gpu_memory_destroy(m);
}

/* What a change costs does not grow with what is there: nodes that it copies, counted as they are
 * made, while a launch sees all of it. */
static void changes_copy_few_nodes(void **state)
{
    enum { COUNT = 20000, CHANGES = 100 };
    struct zs_gpu_memory *m;
    struct zs_gpu_launch_pin launch_pin = {.args = no_args()};
    struct zs_gpu_view view;
    assert_int_equal(zs_gpu_memory_create(&m), 0);
    for (uint64_t i = 0; i < COUNT; i++) {
        struct zs_gpu_allocation a = make(0x2000 * (i + 1), 0x1000, "a");
        assert_int_equal(zs_gpu_memory_add(m, &a, NULL), 0);
    }
    allocated_B = 0;
    for (uint64_t i = 0; i < CHANGES; i++) {
        struct zs_gpu_allocation a = make(0x2000 * (i * 190 + 1) + 0x1000, 0x1000, "b");
        assert_int_equal(zs_gpu_view_open(m, &launch_pin, &view), 0);
        assert_int_equal(zs_gpu_memory_add(m, &a, NULL), 0);
        zs_gpu_view_close(m, &view, &launch_pin);
    }
    assert_in_range(allocated_B, 1, CHANGES * 16384);
    zs_gpu_memory_destroy(m);
}

/* A copy pins what it finds, be it made after the copy began. */
static void copies_pin_what_they_find(void **state)
{
    struct zs_gpu_memory *m;
    struct zs_gpu_pin pin;
    struct zs_gpu_allocation a = make(0x1000, 0x1000, "a");
    int count = 0;
    assert_int_equal(zs_gpu_memory_create(&m), 0);
    zs_gpu_memory_pin(m, &pin);
    assert_int_equal(zs_gpu_memory_add(m, &a, NULL), 0);
    assert_int_equal(zs_gpu_memory_remove(m, 0x1000, released, &count), 0);
    assert_int_equal(count, 0);
    zs_gpu_memory_unpin(m, &pin);
    assert_int_equal(count, 1);
    zs_gpu_memory_destroy(m);
}

static void nearest_allocations(void **state)
{
    struct zs_gpu_memory *m;
    struct zs_gpu_allocation a = make(0x1000, 0x100, "low"), b = make(0x9000, 0x100, "high");
    struct zs_gpu_allocation near[2];
    assert_int_equal(zs_gpu_memory_create(&m), 0);
    assert_int_equal(zs_gpu_memory_nearest(m, 0x5000, near), 0);
    assert_int_equal(zs_gpu_memory_add(m, &a, NULL), 0);
    assert_int_equal(zs_gpu_memory_add(m, &b, NULL), 0);
    assert_int_equal(zs_gpu_memory_nearest(m, 0x1100, near), 1);
    assert_string_equal(near[0].label, "low");
    assert_int_equal(zs_gpu_memory_nearest(m, 0x8fff, near), 1);
    assert_string_equal(near[0].label, "high");
    assert_int_equal(zs_gpu_memory_remove(m, 0x9000, NULL, NULL), 0);
    assert_int_equal(zs_gpu_memory_nearest(m, 0x9010, near), 2);
    assert_string_equal(near[0].label, "high");
    assert_true(near[0].freed);
    assert_string_equal(near[1].label, "low");
    zs_gpu_memory_destroy(m);
}

static void written_bytes_are_marked(void **state)
{
    struct zs_gpu_memory *m;
    struct zs_gpu_launch_pin launch_pin = {.args = no_args()};
    struct zs_gpu_view view;
    struct zs_gpu_allocation a = make(0x1000, 1000, "a");
    a.flags = ZS_GPU_ALLOCATION_TRACK_WRITES;
    assert_int_equal(zs_gpu_memory_create(&m), 0);
    assert_int_equal(zs_gpu_memory_add(m, &a, NULL), 0);
    zs_gpu_memory_mark_written(m, 0x1000 + 60, 200);
    zs_gpu_memory_mark_written(m, 0x1000 + 990, 1000);
    assert_int_equal(zs_gpu_view_open(m, &launch_pin, &view), 0);
    assert_true(view.tracked);
    const uint64_t *written = zs_port_map_find(&view.map, 0x1000, 1)->written;
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(written[i / 64] >> i % 64 & 1, (i >= 60 && i < 260) || i >= 990);
    zs_gpu_view_close(m, &view, &launch_pin);
    zs_gpu_memory_destroy(m);
}

/* ---- printf ------------------------------------------------------------------------------------
 */

struct record {
    uint8_t bytes[512];
    uint32_t used;
};

static void put32(struct record *r, uint32_t v)
{
    memcpy(r->bytes + r->used, &v, 4);
    r->used += 4;
}

static void put64(struct record *r, uint64_t v)
{
    memcpy(r->bytes + r->used, &v, 8);
    r->used += 8;
}

static void drain(struct record *r, const struct zs_string *strings, uint32_t count,
                  const char *expect)
{
    struct zs_kernel module = {.strings = strings, .string_count = count, .section = ZS_NONE};
    struct zs_gpu_kernel kernel = {.module = &module};
    struct zs_buf out = {0};
    memcpy(r->bytes, &r->used, 4);
    zs_gpu_printf_drain(&kernel, NULL, r->bytes, sizeof(r->bytes), &out);
    assert_string_equal(zs_buf_cstr(&out), expect);
    zs_buf_fini(&out);
    uint32_t first;
    memcpy(&first, r->bytes, 4);
    assert_int_equal(first, 4);
}

static void printf_records(void **state)
{
    static const struct zs_string strings[] = {{0, "i=%d u=%5u x=%#x\\n"},
                                               {1, "text"},
                                               {2, "[%s|%6.2f|%-6s] 100%%\\n"},
                                               {3, "%v4d %v2hhx %c %ld %p\\n"},
                                               {4, "%.3e"}};
    struct record r = {.used = 4};
    put32(&r, 0);
    put32(&r, 3), put32(&r, (uint32_t)-5);
    put32(&r, 3), put32(&r, 42);
    put32(&r, 1), put32(&r, 0xff);
    put32(&r, 2);
    put32(&r, 5), put32(&r, 1);
    float f = 3.14159f;
    uint32_t bits;
    memcpy(&bits, &f, 4);
    put32(&r, 4), put32(&r, bits);
    put32(&r, 5), put32(&r, 1);
    put32(&r, 3);
    put32(&r, 11), put32(&r, 4), put32(&r, 1), put32(&r, 2), put32(&r, (uint32_t)-3), put32(&r, 4);
    put32(&r, 9), put32(&r, 2);
    r.bytes[r.used] = 0x12, r.bytes[r.used + 1] = 0xab, r.used += 8; /* two bytes and padding */
    put32(&r, 1), put32(&r, 'z');
    put32(&r, 6), put64(&r, (uint64_t)-7000000000);
    put32(&r, 7), put64(&r, 0x1234);
    put32(&r, 4);
    double d = 12345.678;
    uint64_t bits64;
    memcpy(&bits64, &d, 8);
    put32(&r, 8), put64(&r, bits64);
    drain(&r, strings, 5,
          "i=-5 u=   42 x=0xff\n[text|  3.14|text  ] 100%\n1,2,-3,4 12,ab z -7000000000 0x1234\n"
          "1.235e+04");
}

static void hostile_printf_buffers(void **state)
{
    static const struct zs_string strings[] = {{0, "%d %s %v4f %999999999d %n %*d \\"}, {1, "x"}};
    uint64_t seed = 99;
    struct zs_kernel module = {.strings = strings, .string_count = 2, .section = ZS_NONE};
    struct zs_gpu_kernel kernel = {.module = &module};
    for (uint32_t round = 0; round < 20000; round++) {
        uint8_t bytes[128];
        struct zs_buf out = {0};
        for (uint32_t i = 0; i < sizeof(bytes); i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            bytes[i] = i % 4 ? 0 : (uint8_t)((seed >> 33) % 20);
        }
        uint32_t used = round % 3 ? 128 : UINT32_MAX;
        memcpy(bytes, &used, 4);
        zs_gpu_printf_drain(&kernel, NULL, bytes, sizeof(bytes), &out);
        zs_buf_fini(&out);
    }
}

/* ---- fault text --------------------------------------------------------------------------------
 */

static void fault_text(void **state)
{
    struct zs_gpu_fault fault = {.kind = ZS_GPU_FAULT_OUT_OF_BOUNDS,
                                 .kernel = "saxpy",
                                 .simd = 16,
                                 .instruction_offset_B = 0x1a8,
                                 .has_lane = true,
                                 .lane = 5,
                                 .group_id = {1, 0, 0},
                                 .local_id = {5, 0, 0},
                                 .global_id = {37, 0, 0},
                                 .has_access = true,
                                 .is_write = true,
                                 .gpu_va = 0x10108,
                                 .access_B = 4,
                                 .nearest_count = 1};
    fault.nearest[0] = make(0x10000, 0x100, "zeMemAllocDevice");
    fault.nearest[0].id = 3;
    struct zs_buf out = {0};
    zs_gpu_fault_print(&fault, "saxpy.cl:4", &out);
    assert_string_equal(
        zs_buf_cstr(&out),
        "kernel saxpy: access out of bounds: write of 4 bytes at 0x10108\n"
        "  at instruction 0x1a8, saxpy.cl:4\n"
        "  in group (1, 0, 0), work-item (37, 0, 0), local (5, 0, 0), lane 5 of SIMD16\n"
        "  8 bytes after the end of device allocation #3 zeMemAllocDevice of 256 bytes "
        "at 0x10000");
    zs_buf_fini(&out);
}

/* ---- models, clock, group sizes ----------------------------------------------------------------
 */

static void models_and_clock(void **state)
{
    assert_null(zs_gpu_model_find("gen3"));
    assert_null(zs_gpu_model_at(zs_gpu_model_count()));
    const struct zs_gpu_model *skl = zs_gpu_model_find("skl");
    assert_ptr_equal(zs_gpu_model_find("SKL-gt2"), skl); /* as tools write devices */
    assert_int_equal(zs_gpu_model_eus(skl), 24);
    assert_int_equal(zs_gpu_model_threads(skl), 168);
    /* 56 bits as Intel's driver has it, where a kernel's have 64 */
    assert_int_equal(zs_gpu_model_find("bmg")->metric_timestamp_bits, 56);
    assert_int_equal(zs_gpu_model_find("ptl")->metric_timestamp_bits, 56);
    struct zs_gpu_device *device = NULL;
    assert_int_equal(zs_gpu_device_create(skl, 0, &device), 0);
    uint64_t before = zs_gpu_clock_ticks(device);
    uint64_t now = zs_gpu_clock_from_ns(device, zs_gpu_now_ns());
    assert_true(before <= now);
    assert_int_equal(zs_gpu_clock_from_ns(device, 1000000000), 12000000);
    assert_int_equal(zs_gpu_clock_to_ns(device, 12000000), 1000000000);
    zs_gpu_device_destroy(device);
}

static void suggested_sizes_are_legal(void **state)
{
    struct zs_gpu_device *device = NULL;
    assert_int_equal(zs_gpu_device_create(zs_gpu_model_find("skl"), 0, &device), 0);
    static const uint32_t sizes[] = {1,   2,   3,   7,    16,   17,   64,   100,
                                     251, 256, 257, 1000, 1024, 1920, 4099, 1 << 20};
    uint64_t seed = 21;
    for (uint32_t round = 0; round < 3000; round++) {
        struct zs_kernel module = {.simd = 8u << round % 3, .barrier_count = round % 2};
        struct zs_gpu_kernel kernel = {.module = &module, .device = device};
        uint32_t global[3], size[3];
        for (uint32_t i = 0; i < 3; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            global[i] = i < 1 + round % 3 ? sizes[(seed >> 40) % ZS_ARRAY_LEN(sizes)] : 1;
        }
        zs_gpu_suggest_group_size(device, &kernel, 0, global, size);
        assert_true(size[0] * size[1] * size[2] <= 256);
        for (uint32_t i = 0; i < 3; i++)
            assert_true(size[i] >= 1 && global[i] % size[i] == 0);
    }
    struct zs_kernel module = {.simd = 16};
    struct zs_gpu_kernel kernel = {.module = &module, .device = device};
    uint32_t size[3];
    zs_gpu_suggest_group_size(device, &kernel, 0, (uint32_t[]){1 << 20, 1, 1}, size);
    assert_int_equal(size[0], 256);
    zs_gpu_suggest_group_size(device, &kernel, 0, (uint32_t[]){100, 1, 1}, size);
    assert_int_equal(size[0], 100);
    zs_gpu_device_destroy(device);
}

static void image_layout(void **state)
{
    struct zs_gpu_image image = {.type = ZS_GPU_IMAGE_2D_ARRAY,
                                 .format = zs_gpu_format_find(0x0C7),
                                 .width = 100,
                                 .height = 10,
                                 .depth = 1,
                                 .layers = 3};
    assert_int_equal(zs_gpu_image_layout(&image), 448 * 10 * 3);
    assert_int_equal(image.row_pitch_B, 448);
    assert_int_equal(image.slice_pitch_B, 4480);
}

/* What is left of an allocation behind a binding, of which a surface has no more than 4 GB. */
static void surfaces_of_large_buffers(void **state)
{
    static const struct {
        uint64_t left_B, size_B;
        uint32_t pad_B;
    } rows[] = {{6ull << 30, 4ull << 30, 0},
                {(4ull << 30) + 1, 4ull << 30, 0},
                {4ull << 30, 4ull << 30, 0},
                {(4ull << 30) - 1, 4ull << 30, 1},
                {1001, 1004, 3}};
    const struct zs_kernel module = {.surface_count = 0};
    const struct zs_gpu_kernel kernel = {.module = &module, .surface_count = 1};
    struct zs_gpu_binding binding = {.kind = ZS_GPU_BINDING_BUFFER, .gpu_va = 0x10000};
    const struct zs_gpu_args args = {.kernel = &kernel, .bindings = &binding};
    const struct zs_gpu_launch launch = {.args = &args};
    const struct zs_gpu_run run = {.launch = &launch, .kernel = &kernel};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct zs_port_node node = {.range = {.start = 0x10000, .end = 0x10000 + rows[i].left_B}};
        const struct zs_port_map map = {&node};
        struct zs_port_surface surface;
        zs_gpu_resolve_surfaces(&run, &map, &surface);
        assert_int_equal(surface.kind, ZS_PORT_SURFACE_BUFFER);
        assert_int_equal(surface.size_B, rows[i].size_B);
        assert_int_equal(surface.pad_B, rows[i].pad_B);
    }
}

/* Handles are there before arguments are set: of surfaces that nobody bound, not of another's. */
static void unset_bindless_arguments(void **state)
{
    const struct zs_arg module_args[2] = {{0}};
    const struct zs_payload payload[] = {
        {.kind = ZS_PAYLOAD_BINDLESS_HANDLE, .arg = 0, .offset_B = 0, .size_B = 4},
        {.kind = ZS_PAYLOAD_BINDLESS_HANDLE, .arg = 1, .offset_B = 4, .size_B = 4}};
    const struct zs_kernel module = {.arg_count = 2,
                                     .args = (struct zs_arg *)module_args,
                                     .payload_count = 2,
                                     .payload = (struct zs_payload *)payload,
                                     .thread = {.cross_thread_B = 8}};
    uint8_t bindless[4] = {1, 2}; /* of the arguments, and of the module's own buffers */
    struct zs_gpu_model model = {.loads_payload = true};
    struct zs_gpu_device device = {.model = &model};
    const struct zs_gpu_kernel kernel = {
        .module = &module, .device = &device, .surface_count = 2, .bindless = bindless};
    struct zs_gpu_args *args;
    uint32_t handles[2];

    (void)state;
    assert_int_equal(zs_gpu_args_create(&kernel, &args), 0);
    memcpy(handles, args->cross_thread, sizeof(handles));
    assert_int_equal(handles[0], 0 << 6);
    assert_int_equal(handles[1], 1 << 6);
    assert_int_equal(args->bindings[1].kind, ZS_GPU_BINDING_NULL);
    zs_gpu_args_destroy(args);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations_are_found_by_any_address),
        cmocka_unit_test(freed_memory_outlives_who_sees_it),
        cmocka_unit_test(overlapping_launches_release),
        cmocka_unit_test(launches_pin_what_they_name),
        cmocka_unit_test(freeing_needs_no_memory),
        cmocka_unit_test(copies_pin_what_they_find),
        cmocka_unit_test(launches_see_their_own_time),
        cmocka_unit_test(changes_copy_few_nodes),
        cmocka_unit_test(nearest_allocations),
        cmocka_unit_test(written_bytes_are_marked),
        cmocka_unit_test(printf_records),
        cmocka_unit_test(hostile_printf_buffers),
        cmocka_unit_test(fault_text),
        cmocka_unit_test(models_and_clock),
        cmocka_unit_test(suggested_sizes_are_legal),
        cmocka_unit_test(image_layout),
        cmocka_unit_test(surfaces_of_large_buffers),
        cmocka_unit_test(unset_bindless_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
