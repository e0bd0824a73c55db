/* SPDX-License-Identifier: MIT */
#include "../test.h"

#include "layer/codec.h"

#include <level_zero/ze_api.h>
#include <level_zero/zet_api.h>

#include <stdlib.h>
#include <string.h>

/* An event of a call by name; params are pointers to the parameters. */
static struct zs_api_event event_of(const char *name, void **params, uint32_t count,
                                    int32_t *result)
{
    int call = zs_api_call_find(name);
    assert_true(call >= 0);
    return (struct zs_api_event){.call = (uint32_t)call,
                                 .name = name,
                                 .is_exit = result != NULL,
                                 .param_count = count,
                                 .params = params,
                                 .result = result};
}

static void calls_read_like_c(void **state)
{
    ze_command_list_handle_t list = (void *)0x1000;
    ze_kernel_handle_t kernel = (void *)0x2000;
    ze_group_count_t groups = {3, 2, 1};
    const ze_group_count_t *pgroups = &groups;
    ze_event_handle_t signal = NULL, waits[2] = {(void *)0x30, (void *)0x40};
    ze_event_handle_t *pwaits = waits;
    uint32_t wait_count = 2;
    void *params[] = {&list, &kernel, &pgroups, &signal, &wait_count, &pwaits};
    int32_t result = ZE_RESULT_ERROR_DEVICE_LOST;
    struct zs_api_event e = event_of("zeCommandListAppendLaunchKernel", params, 6, &result);
    char text[512];
    size_t length = zs_api_event_format(&e, text, sizeof(text));
    assert_string_equal(text, "zeCommandListAppendLaunchKernel(hCommandList = 0x1000, hKernel = "
                              "0x2000, pLaunchFuncArgs = {groupCountX = 3, groupCountY = 2, "
                              "groupCountZ = 1}, hSignalEvent = NULL, numWaitEvents = 2, "
                              "phWaitEvents = [0x30, 0x40]) = ZE_RESULT_ERROR_DEVICE_LOST");
    assert_int_equal(length, strlen(text));
    char small[12];
    assert_int_equal(zs_api_event_format(&e, small, sizeof(small)), length);
    assert_string_equal(small, "zeCommandLi");
}

static void what_comes_back_replaces_what_went_in(void **state)
{
    uint32_t count = 0, *pcount = &count;
    ze_driver_handle_t drivers[2] = {(void *)0xa, (void *)0xb}, *pdrivers = NULL;
    void *params[] = {&pcount, &pdrivers};
    struct zs_api_event enter = event_of("zeDriverGet", params, 2, NULL);
    struct zs_codec codec = {0}, reading = {0};
    uint8_t bytes[2][ZS_CODEC_EVENT_MAX_B];
    size_t in_B = zs_codec_encode(&codec, &enter, bytes[0]);
    count = 2;
    pdrivers = drivers;
    int32_t result = 0, seen = -1;
    struct zs_api_event exit_event = event_of("zeDriverGet", params, 2, &result);
    size_t out_B = zs_codec_encode(&codec, &exit_event, bytes[1]);
    struct zs_api_values values = {.count = 0};
    struct zs_reader r = zs_reader_make(zs_span_make(bytes[0], in_B), 0, NULL);
    assert_int_equal(zs_codec_decode(&reading, enter.call, false, &r, &values, &seen), 0);
    r = zs_reader_make(zs_span_make(bytes[1], out_B), 0, NULL);
    assert_int_equal(zs_codec_decode(&reading, enter.call, true, &r, &values, &seen), 0);
    assert_int_equal(seen, 0);
    assert_memory_equal(&codec, &reading, sizeof(codec));
    struct zs_buf out = {0};
    zs_api_format_call(&out, "zeDriverGet", &values);
    assert_string_equal(zs_buf_cstr(&out), "zeDriverGet(pCount = 2, phDrivers = [0xa, 0xb])");
    zs_buf_fini(&out);
}

static void texts_flags_and_nested_structures(void **state)
{
    char long_name[400];
    memset(long_name, 'k', sizeof(long_name) - 1);
    long_name[sizeof(long_name) - 1] = '\0';
    ze_module_handle_t module = (void *)0x5000;
    ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                             .flags = ZE_KERNEL_FLAG_FORCE_RESIDENCY | 0x100,
                             .pKernelName = "a\"b\n"};
    const ze_kernel_desc_t *pdesc = &desc;
    ze_kernel_handle_t *pkernel = NULL;
    void *params[] = {&module, &pdesc, &pkernel};
    struct zs_api_event e = event_of("zeKernelCreate", params, 3, NULL);
    char text[1024];
    zs_api_event_format(&e, text, sizeof(text));
    assert_string_equal(text, "zeKernelCreate(hModule = 0x5000, desc = {stype = "
                              "ZE_STRUCTURE_TYPE_KERNEL_DESC, pNext = NULL, flags = "
                              "ZE_KERNEL_FLAG_FORCE_RESIDENCY | 0x100, pKernelName = "
                              "\"a\\\"b\\x0a\"})");
    desc.pKernelName = long_name;
    zs_api_event_format(&e, text, sizeof(text));
    assert_non_null(strstr(text, "kkk\"..."));
}

static void a_handle_costs_little_the_second_time(void **state)
{
    ze_event_handle_t handle = (void *)0x7fff12345678;
    void *params[] = {&handle};
    struct zs_api_event e = event_of("zeEventHostReset", params, 1, NULL);
    struct zs_codec codec = {0};
    uint8_t bytes[ZS_CODEC_EVENT_MAX_B];
    assert_int_equal(zs_codec_encode(&codec, &e, bytes), 9);
    assert_true(zs_codec_encode(&codec, &e, bytes) <= 2);
    int32_t result = 0;
    e = event_of("zeEventHostReset", params, 1, &result);
    assert_int_equal(zs_codec_encode(&codec, &e, bytes), 0);
}

/* Every call of every header, all parameters zero: formats without reading through NULL. */
static void every_call_with_nulls(void **state)
{
    for (uint32_t call = 0; call < zs_api_call_count(); call++) {
        uint64_t zeros[32][16] = {{0}};
        void *params[32];
        uint32_t count = zs_api_call_param_count(call);
        assert_true(count <= 32);
        for (uint32_t i = 0; i < count; i++)
            params[i] = zeros[i];
        int32_t result = 0;
        struct zs_api_event e = event_of(zs_api_call_name(call), params, count, &result);
        char text[8192];
        assert_true(zs_api_event_format(&e, text, sizeof(text)) > 5);
    }
}

static void damaged_bytes_are_errors(void **state)
{
    unsigned seed = 5;
    for (int round = 0; round < 200000; round++) {
        uint8_t bytes[48];
        struct zs_codec codec = {0};
        static struct zs_api_values values;
        values.count = 0;
        for (size_t i = 0; i < sizeof(bytes); i++)
            bytes[i] = (uint8_t)(rand_r(&seed) >> (rand_r(&seed) % 24));
        size_t size_B = (size_t)rand_r(&seed) % sizeof(bytes);
        uint32_t call = (uint32_t)rand_r(&seed) % zs_api_call_count();
        struct zs_reader r = zs_reader_make(zs_span_make(bytes, size_B), 0, NULL);
        int32_t result;
        zs_codec_decode(&codec, call, round & 1, &r, &values, &result);
        assert_true(values.count <= ZS_CODEC_VALUES_MAX);
        struct zs_buf out = {0};
        if (round % 16 == 0)
            zs_api_format_call(&out, "x", &values);
        zs_buf_fini(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_read_like_c),
        cmocka_unit_test(what_comes_back_replaces_what_went_in),
        cmocka_unit_test(texts_flags_and_nested_structures),
        cmocka_unit_test(a_handle_costs_little_the_second_time),
        cmocka_unit_test(every_call_with_nulls),
        cmocka_unit_test(damaged_bytes_are_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
