/* SPDX-License-Identifier: MIT */
/* Parts of the driver that need no loader: handles, chains, build flags, specialization. */
#include "../test.h"

#include "driver/ddi.h"
#include "driver/module/compile.h"
#include "driver/queue/event.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>

/* ---- Handles ---- */

static struct zs_ze_sampler *new_object(void)
{
    /* a sampler's destructor only drops its context, NULL here */
    struct zs_ze_sampler *object = zs_object_new(ZS_OBJECT_sampler, 256);
    assert_non_null(object);
    assert_true(zs_object_publish(object));
    return object;
}

static void test_handles(void **state)
{
    struct zs_object *object = (struct zs_object *)new_object();
    char *handle = object->handle;
    assert_ptr_equal(zs_ze_sampler_of(handle), object);
    assert_null(zs_ze_image_of(handle));
    assert_null(zs_ze_sampler_of(NULL));
    assert_null(zs_ze_sampler_of(handle + 1));
    assert_null(zs_ze_sampler_of(handle + (1 << 30)));
    assert_null(zs_ze_sampler_of((void *)UINTPTR_MAX));
    assert_null(zs_ze_sampler_of(object));
    assert_true(zs_object_retract(object));
    assert_false(zs_object_retract(object));
    assert_null(zs_ze_sampler_of(handle));
    zs_object_unref(object);
}

static void test_slots_rest(void **state)
{
    struct zs_object *first = (struct zs_object *)new_object();
    void *stale = first->handle;
    zs_object_retract(first);
    zs_object_unref(first);
    for (int i = 0; i < ZS_SLOTS_RESTING; i++) {
        struct zs_object *other = (struct zs_object *)new_object();
        assert_ptr_not_equal(other->handle, stale);
        zs_object_retract(other);
        zs_object_unref(other);
    }
    assert_null(zs_ze_sampler_of(stale));
}

/* ---- Patterns of the API ---- */

static void test_list_count(void **state)
{
    static const struct {
        uint32_t asked, have;
        bool array;
        uint32_t count, write;
    } rows[] = {
        {0, 3, false, 3, 0}, {0, 3, true, 3, 0}, {5, 3, true, 3, 3},  {2, 3, true, 2, 2},
        {3, 3, true, 3, 3},  {5, 0, true, 0, 0}, {2, 3, false, 2, 0},
    };
    for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        uint32_t count = rows[i].asked;
        assert_int_equal(zs_list_count(&count, rows[i].have, rows[i].array), rows[i].write);
        assert_int_equal(count, rows[i].count);
    }
}

static void test_chain(void **state)
{
    ze_base_desc_t c = {.stype = 30}, b = {.stype = 20, .pNext = &c},
                   a = {.stype = 10, .pNext = &b};
    assert_ptr_equal(zs_chain_find(&a, 30), &c);
    assert_null(zs_chain_find(&a, 40));
    assert_null(zs_chain_find(NULL, 10));
    c.pNext = &a; /* a loop */
    assert_null(zs_chain_find(&a, 40));
}

static void test_signal(void **state)
{
    _Atomic uint32_t word = 0;
    _Atomic bool cancel = true;
    assert_int_equal(zs_signal_wait(&word, 0, NULL), ZS_SIGNAL_NOT_READY);
    assert_int_equal(zs_signal_wait(&word, 1000000, NULL), ZS_SIGNAL_NOT_READY);
    assert_int_equal(zs_signal_wait(&word, UINT64_MAX, &cancel), ZS_SIGNAL_NOT_READY);
    zs_signal_set(&word, ZS_SIGNAL_READY);
    assert_int_equal(zs_signal_wait(&word, UINT64_MAX, NULL), ZS_SIGNAL_READY);
    zs_signal_set(&word, ZS_SIGNAL_FAILED);
    assert_int_equal(zs_signal_wait(&word, 0, NULL), ZS_SIGNAL_FAILED);
    word = 77; /* memory that another process shares may hold anything */
    assert_int_equal(zs_signal_wait(&word, 0, NULL), ZS_SIGNAL_FAILED);
}

/* ---- Compilation ---- */

static void test_flags(void **state)
{
    static const struct {
        const char *flags, *options, *internal;
    } rows[] = {
        {NULL, "", ""},
        {"", "", ""},
        {"-g", "-g ", ""},
        {"  -ze-opt-disable   -g ", "-cl-opt-disable -g ", ""},
        {"-ze-opt-greater-than-4GB-buffer-required -DX=1", "-DX=1 ",
         "-cl-intel-greater-than-4GB-buffer-required "},
        {"-ze-opt-disabled", "-ze-opt-disabled ", ""},
    };
    for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        struct zs_buf options = {0}, internal = {0};
        zs_compile_flags(rows[i].flags, &options, &internal);
        assert_string_equal(zs_buf_cstr(&options), rows[i].options);
        assert_string_equal(zs_buf_cstr(&internal), rows[i].internal);
        zs_buf_fini(&options);
        zs_buf_fini(&internal);
    }
}

/* OpDecorate %4 SpecId 7, %5 SpecId 8, %6 SpecId 9; int, long, bool; their constants. */
/* clang-format off */
static const uint32_t module_words[] = {
    0x07230203, 0x00010000, 0, 10, 0,
    4u << 16 | 71, 4, 1, 7,
    4u << 16 | 71, 5, 1, 8,
    4u << 16 | 71, 6, 1, 9,
    4u << 16 | 21, 1, 32, 0,
    4u << 16 | 21, 2, 64, 0,
    2u << 16 | 20, 3,
    4u << 16 | 50, 1, 4, 1111,
    5u << 16 | 50, 2, 5, 2222, 0,
    3u << 16 | 49, 3, 6,
};
/* clang-format on */

static void test_specialize(void **state)
{
    const uint32_t ids[] = {8, 7, 9};
    const uint64_t l = 0x1122334455667788;
    const uint32_t i = 42;
    const uint8_t yes = 1;
    const void *values[] = {&l, &i, &yes};
    const ze_module_constants_t constants = {3, ids, values};
    struct zs_span in = zs_span_make(module_words, sizeof(module_words));
    struct zs_buf out = {0}, log = {0};
    assert_int_equal(zs_spirv_specialize(in, &constants, &out, &log), 0);
    uint32_t words[ZS_ARRAY_LEN(module_words)];
    assert_int_equal(out.size_B, sizeof(words));
    memcpy(words, out.data, sizeof(words));
    assert_int_equal(words[27 + 3], 42); /* behind the header, decorations and types */
    assert_int_equal(words[31 + 3], 0x55667788);
    assert_int_equal(words[31 + 4], 0x11223344);
    assert_int_equal(words[36], 3u << 16 | 48);
    zs_buf_fini(&out);
    /* a constant that is not there */
    const uint32_t wrong[] = {70};
    const ze_module_constants_t bad = {1, wrong, values};
    out = (struct zs_buf){0};
    assert_int_equal(zs_spirv_specialize(in, &bad, &out, &log), -EINVAL);
    assert_non_null(strstr(zs_buf_cstr(&log), "70"));
    zs_buf_fini(&out);
    zs_buf_fini(&log);
}

/* OpImageRead with ZeroExtend, OpImageWrite with SignExtend, a sample with Lod and ZeroExtend. */
static void test_image_operands(void **state)
{
    static const uint32_t words[] = {0x07230203,
                                     0x00010400,
                                     0,
                                     10,
                                     0,
                                     6u << 16 | 98,
                                     1,
                                     2,
                                     3,
                                     4,
                                     0x2000,
                                     5u << 16 | 99,
                                     3,
                                     4,
                                     2,
                                     0x1000,
                                     7u << 16 | 88,
                                     1,
                                     5,
                                     6,
                                     4,
                                     0x2002,
                                     7,
                                     5u << 16 | 98,
                                     1,
                                     2,
                                     3,
                                     4};
    static const uint32_t expected[] = {0x07230203,
                                        0x00010400,
                                        0,
                                        10,
                                        0,
                                        5u << 16 | 98,
                                        1,
                                        2,
                                        3,
                                        4,
                                        1u << 16,
                                        4u << 16 | 99,
                                        3,
                                        4,
                                        2,
                                        1u << 16,
                                        7u << 16 | 88,
                                        1,
                                        5,
                                        6,
                                        4,
                                        0x2,
                                        7,
                                        5u << 16 | 98,
                                        1,
                                        2,
                                        3,
                                        4};
    struct zs_buf out = {0}, log = {0};
    assert_int_equal(zs_spirv_specialize(zs_span_make(words, sizeof(words)), NULL, &out, &log), 0);
    assert_int_equal(out.size_B, sizeof(expected));
    assert_memory_equal(out.data, expected, sizeof(expected));
    zs_buf_fini(&out);
    zs_buf_fini(&log);
}

/* Every prefix, and every word made wrong: an answer, and no access outside (sanitizers). */
static void test_specialize_hostile(void **state)
{
    const uint32_t ids[] = {7}, value = 1;
    const void *values[] = {&value};
    const ze_module_constants_t constants = {1, ids, values};
    for (size_t size_B = 0; size_B <= sizeof(module_words); size_B++) {
        uint8_t *copy = malloc(size_B + 1);
        memcpy(copy, module_words, size_B);
        struct zs_buf out = {0}, log = {0};
        (void)zs_spirv_specialize(zs_span_make(copy, size_B), &constants, &out, &log);
        zs_buf_fini(&out);
        zs_buf_fini(&log);
        free(copy);
    }
    for (size_t i = 0; i < ZS_ARRAY_LEN(module_words); i++) {
        uint32_t words[ZS_ARRAY_LEN(module_words)];
        memcpy(words, module_words, sizeof(words));
        words[i] = 0xfffffff0 | (words[i] & 15);
        struct zs_buf out = {0}, log = {0};
        (void)zs_spirv_specialize(zs_span_make(words, sizeof(words)), &constants, &out, &log);
        zs_buf_fini(&out);
        zs_buf_fini(&log);
    }
}

/* ---- Sub-devices; the loader of Debian 12 does not know zeDeviceGetRootDevice ---- */

static void test_root_device(void **state)
{
    setenv("ZESCOPE_DEVICES", "skl:2,kbl", 1);
    unsetenv("ZE_AFFINITY_MASK");
    assert_int_equal(zeInit(0), ZE_RESULT_SUCCESS);
    uint32_t one = 1, two = 2;
    ze_driver_handle_t driver;
    ze_device_handle_t devices[2], subs[2], root;
    assert_int_equal(zeDriverGet(&one, &driver), ZE_RESULT_SUCCESS);
    assert_int_equal(zeDeviceGet(driver, &two, devices), ZE_RESULT_SUCCESS);
    assert_int_equal(two, 2);
    assert_int_equal(zeDeviceGetSubDevices(devices[0], &two, subs), ZE_RESULT_SUCCESS);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(zeDeviceGetRootDevice(subs[i], &root), ZE_RESULT_SUCCESS);
        assert_ptr_equal(root, devices[0]);
        assert_int_equal(zeDeviceGetRootDevice(devices[i], &root), ZE_RESULT_SUCCESS);
        assert_null(root);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_handles),        cmocka_unit_test(test_slots_rest),
        cmocka_unit_test(test_list_count),     cmocka_unit_test(test_chain),
        cmocka_unit_test(test_signal),         cmocka_unit_test(test_flags),
        cmocka_unit_test(test_specialize),     cmocka_unit_test(test_specialize_hostile),
        cmocka_unit_test(test_image_operands), cmocka_unit_test(test_root_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
