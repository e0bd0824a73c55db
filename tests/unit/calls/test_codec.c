/* SPDX-License-Identifier: MIT */
#include "../test.h"

#include "calls/codec.h"

#include <level_zero/ze_api.h>
#include <level_zero/zet_api.h>

#include <stdio.h>
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
    const struct zs_api_shape shape = zs_api_call_shape(enter.call);
    assert_int_equal(zs_codec_decode(&reading, &shape, false, &r, &values, &seen), 0);
    r = zs_reader_make(zs_span_make(bytes[1], out_B), 0, NULL);
    assert_int_equal(zs_codec_decode(&reading, &shape, true, &r, &values, &seen), 0);
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
        const struct zs_api_shape shape = zs_api_call_shape(call);
        zs_codec_decode(&codec, &shape, round & 1, &r, &values, &result);
        assert_true(values.count <= ZS_CODEC_VALUES_MAX);
        struct zs_buf out = {0};
        if (round % 16 == 0)
            zs_api_format_call(&out, "x", &values);
        zs_buf_fini(&out);
    }
}

/* A call as a recorder sees it: entered with what the application gave, left with what came back;
 * as text, in and out. */
struct seen {
    char in[600], out[600];
};

static void see(struct seen *seen, const char *name, void **params, uint32_t count,
                void (*driver)(void *user), void *user, int32_t result)
{
    struct zs_codec codec = {0}, reading = {0};
    uint64_t counts[ZS_TRACE_COUNTS_MAX];
    uint8_t bytes[ZS_CODEC_EVENT_MAX_B];
    memset(counts, 0xa5, sizeof(counts));
    for (int is_exit = 0; is_exit < 2; is_exit++) {
        static struct zs_api_values values;
        struct zs_api_event e = event_of(name, params, count, is_exit ? &result : NULL);
        const struct zs_api_shape shape = zs_api_call_shape(e.call);
        struct zs_buf out = {0};
        int32_t read_result;
        e.internal = counts;
        if (!is_exit)
            zs_codec_enter(&e);
        else
            driver(user);
        size_t size_B = zs_codec_encode(&codec, &e, bytes);
        struct zs_reader r = zs_reader_make(zs_span_make(bytes, size_B), 0, NULL);
        values.count = 0;
        values.cut = false;
        assert_int_equal(zs_codec_decode(&reading, &shape, is_exit, &r, &values, &read_result), 0);
        assert_int_equal(zs_reader_left(&r), 0);
        zs_api_format_call(&out, name, &values);
        snprintf(is_exit ? seen->out : seen->in, sizeof(seen->in), "%s", zs_buf_cstr(&out));
        zs_buf_fini(&out);
    }
    assert_memory_equal(&codec, &reading, sizeof(codec));
}

static void fills_name(void *user)
{
    void **params = user;
    strcpy(*(char **)params[2], "saxpy");
    **(size_t **)params[1] = 6;
}

static void says_size(void *user)
{
    void **params = user;
    **(size_t **)params[1] = 6;
}

/* What the driver is to write is nobody's before it did: not on enter, not beyond the room that
 * there was, not after a failure. */
static void texts_are_read_when_they_are_there(void **state)
{
    char name[] = "secret of the heap";
    char *pname = name;
    size_t size_B = sizeof(name), *psize = &size_B;
    ze_kernel_handle_t kernel = (void *)0x10;
    void *params[] = {&kernel, &psize, &pname};
    struct seen seen;
    see(&seen, "zeKernelGetName", params, 3, says_size, params, ZE_RESULT_ERROR_DEVICE_LOST);
    assert_null(strstr(seen.in, "secret"));
    assert_null(strstr(seen.out, "secret"));
    size_B = 0; /* asks for the size, and leaves a pointer behind */
    see(&seen, "zeKernelGetName", params, 3, says_size, params, 0);
    assert_null(strstr(seen.in, "secret"));
    assert_string_equal(seen.out, "zeKernelGetName(pSize = 6, pName = \"\")");
    size_B = sizeof(name);
    see(&seen, "zeKernelGetName", params, 3, fills_name, params, 0);
    assert_string_equal(seen.in, "zeKernelGetName(hKernel = 0x10, pSize = 19)");
    assert_string_equal(seen.out, "zeKernelGetName(pSize = 6, pName = \"saxpy\")");
}

static void says_four(void *user)
{
    void **params = user;
    **(uint32_t **)params[0] = 4;
}

static void arrays_are_read_as_far_as_there_was_room(void **state)
{
    ze_driver_handle_t drivers[2] = {(void *)0xbad, (void *)0xbad}, *pdrivers = drivers;
    uint32_t count = 0, *pcount = &count;
    void *params[] = {&pcount, &pdrivers};
    struct seen seen;
    see(&seen, "zeDriverGet", params, 2, says_four, params, 0);
    assert_string_equal(seen.in, "zeDriverGet(pCount = 0)");
    assert_string_equal(seen.out, "zeDriverGet(pCount = 4, phDrivers = [])");
    count = 2;
    see(&seen, "zeDriverGet", params, 2, says_four, params, 0);
    assert_string_equal(seen.out, "zeDriverGet(pCount = 4, phDrivers = [0xbad, 0xbad])");
    ze_device_memory_properties_t memory, *pmemory = &memory;
    memset(&memory, 0x5a, sizeof(memory));
    ze_device_handle_t device = (void *)0x20;
    void *more[] = {&device, &pcount, &pmemory};
    count = 0;
    see(&seen, "zeDeviceGetMemoryProperties", more, 3, says_four, &more[1], 0);
    assert_null(strstr(seen.in, "ZZ"));
    assert_string_equal(seen.out, "zeDeviceGetMemoryProperties(pCount = 4, pMemProperties = {})");
}

static void nothing(void *user)
{
}

/* Of a structure that the driver fills, the application initialises type and chain. */
static void properties_go_in_without_what_comes_out(void **state)
{
    ze_kernel_properties_t p, *pp = &p;
    memset(&p, 0x77, sizeof(p));
    p.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES;
    p.pNext = NULL;
    ze_kernel_handle_t kernel = (void *)0x10;
    void *params[] = {&kernel, &pp};
    struct seen seen;
    see(&seen, "zeKernelGetProperties", params, 2, nothing, NULL, ZE_RESULT_ERROR_DEVICE_LOST);
    assert_string_equal(seen.in, "zeKernelGetProperties(hKernel = 0x10, pKernelProperties = {stype "
                                 "= ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES, pNext = NULL})");
    see(&seen, "zeKernelGetProperties", params, 2, nothing, NULL, 0);
    assert_non_null(strstr(seen.out, "numKernelArgs = 2004318071"));
}

/* Memory that may be the device's is never read. */
static void device_memory_is_left_alone(void **state)
{
    ze_command_list_handle_t list = (void *)0x10;
    ze_kernel_handle_t kernel = (void *)0x20, *pkernels = &kernel;
    uint64_t *timestamp = (void *)0x30;
    const ze_group_count_t *groups = (void *)0x40;
    const uint32_t *count = (void *)0x50;
    uint32_t kernels = 1, waits = 0;
    ze_event_handle_t event = NULL, *pevents = NULL;
    void *stamp[] = {&list, &timestamp, &event, &waits, &pevents};
    void *indirect[] = {&list, &kernel, &groups, &event, &waits, &pevents};
    void *multiple[] = {&list, &kernels, &pkernels, &count, &groups, &event, &waits, &pevents};
    struct seen seen;
    see(&seen, "zeCommandListAppendWriteGlobalTimestamp", stamp, 5, nothing, NULL, 0);
    see(&seen, "zeCommandListAppendLaunchKernelIndirect", indirect, 6, nothing, NULL, 0);
    see(&seen, "zeCommandListAppendLaunchMultipleKernelsIndirect", multiple, 8, nothing, NULL, 0);
    assert_non_null(strstr(seen.in, "pCountBuffer = 0x50"));
}

/* Every call with memory in which nothing is initialised, and counts of zero. */
static void every_call_with_nothing_written(void **state)
{
    for (uint32_t call = 0; call < zs_api_call_count(); call++) {
        uint8_t memory[32][1024];
        void *pointers[32] = {0}, *params[32]; /* structures by value take several */
        struct zs_codec codec = {0};
        uint64_t counts[ZS_TRACE_COUNTS_MAX];
        uint8_t bytes[ZS_CODEC_EVENT_MAX_B];
        uint32_t count = zs_api_call_param_count(call);
        memset(memory, 0xee, sizeof(memory));
        for (uint32_t i = 0; i < count; i++) {
            struct zs_api_param p;
            assert_true(zs_api_call_param(call, i, &p));
            if (p.flow == ZS_API_FLOW_INOUT && p.kind == ZS_API_KIND_VALUE_PTR)
                memset(memory[i], 0, sizeof(memory[i]));
            pointers[i] = p.flow == ZS_API_FLOW_IN ? NULL : memory[i];
            params[i] = &pointers[i];
        }
        struct zs_api_event e = event_of(zs_api_call_name(call), params, count, NULL);
        e.internal = counts;
        zs_codec_enter(&e);
        size_t size_B = zs_codec_encode(&codec, &e, bytes);
        /* stype and pNext of structures are the application's to write, and bytes of pointers */
        size_t marks = 0;
        for (size_t i = 0; i + 16 < size_B; i++)
            marks += !memcmp(bytes + i, memory[0], 12);
        assert_int_equal(marks, 0);
    }
}

static enum zs_api_field_flow nested_flow(const struct zs_api_field *f, enum zs_api_field_flow in)
{
    return f->flow == ZS_API_FIELD_ANY ? in : f->flow;
}

/* Bytes of a structure that the application writes become zero. */
static void write_fields(const struct zs_api_shape *shape, int sub, uint8_t *bytes,
                         enum zs_api_field_flow in)
{
    const struct zs_api_struct *s = zs_api_shape_struct(shape, sub);
    for (uint32_t i = 0; s && i < s->field_count; i++) {
        const struct zs_api_field *f = &s->fields[i];
        if (f->kind == ZS_API_KIND_STRUCT)
            write_fields(shape, f->sub, bytes + f->offset_B, nested_flow(f, in));
        else if (nested_flow(f, in) != ZS_API_FIELD_OUT)
            memset(bytes + f->offset_B, 0, f->size_B);
    }
}

/* What stands in memory that nobody has written changes no byte of what is kept: of a call that is
 * entered, and of one that failed. */
static void unwritten_memory_is_not_kept(void **state)
{
    static _Alignas(16) uint8_t memory[32][16384];
    for (uint32_t call = 0; call < zs_api_call_count(); call++) {
        const struct zs_api_shape shape = zs_api_call_shape(call);
        uint8_t kept[2][2][ZS_CODEC_EVENT_MAX_B];
        size_t kept_B[2][2];
        for (int fill = 0; fill < 2; fill++) {
            struct zs_codec codec = {0};
            uint64_t counts[ZS_TRACE_COUNTS_MAX] = {0};
            void *pointers[32] = {0}, *params[32];
            memset(memory, fill ? 0xe7 : 0x18, sizeof(memory));
            for (uint32_t i = 0; i < shape.param_count; i++) {
                const struct zs_api_param *p = &shape.params[i];
                pointers[i] = p->flow == ZS_API_FLOW_IN ? NULL : memory[i];
                params[i] = &pointers[i];
                if (p->flow == ZS_API_FLOW_INOUT && p->kind == ZS_API_KIND_VALUE_PTR)
                    memset(memory[i], 0, 8); /* a count, which the application writes */
                if (p->kind == ZS_API_KIND_STRUCT_PTR)
                    write_fields(&shape, p->sub, memory[i], ZS_API_FIELD_OUT);
            }
            for (int is_exit = 0; is_exit < 2; is_exit++) {
                int32_t failed = (int32_t)ZE_RESULT_ERROR_DEVICE_LOST;
                struct zs_api_event e = event_of(zs_api_call_name(call), params, shape.param_count,
                                                 is_exit ? &failed : NULL);
                e.internal = counts;
                if (!is_exit)
                    zs_codec_enter(&e);
                kept_B[is_exit][fill] = zs_codec_encode(&codec, &e, kept[is_exit][fill]);
            }
        }
        for (int is_exit = 0; is_exit < 2; is_exit++) {
            assert_int_equal(kept_B[is_exit][0], kept_B[is_exit][1]);
            assert_memory_equal(kept[is_exit][0], kept[is_exit][1], kept_B[is_exit][0]);
        }
    }
}

static void shapes_are_read_as_they_were_written(void **state)
{
    size_t most_B = 0;
    for (uint32_t call = 0; call < zs_api_call_count(); call++) {
        uint8_t bytes[ZS_API_SHAPE_MAX_B];
        struct zs_arena arena;
        struct zs_api_shape own = zs_api_call_shape(call), shape;
        size_t size_B = zs_api_shape_write(call, bytes, sizeof(bytes));
        struct zs_reader r = zs_reader_make(zs_span_make(bytes, size_B), 0, NULL);
        assert_true(size_B > 0);
        most_B = size_B > most_B ? size_B : most_B;
        zs_arena_init(&arena, 1 << 20);
        assert_int_equal(zs_api_shape_read(&arena, &r, &shape), 0);
        assert_int_equal(zs_reader_left(&r), 0);
        assert_int_equal(shape.param_count, own.param_count);
        for (uint32_t i = 0; i < own.param_count; i++) {
            assert_string_equal(shape.params[i].name, own.params[i].name);
            assert_int_equal(shape.params[i].kind, own.params[i].kind);
            assert_int_equal(shape.params[i].flow, own.params[i].flow);
        }
        zs_arena_fini(&arena);
    }
    assert_true(most_B < ZS_API_SHAPE_MAX_B);
}

/* A call that this build does not know, as another build wrote it: f(in uint32_t n, in struct {
 * float x; handle h } *p, out uint64_t *v). */
static void calls_of_other_builds_are_read_by_their_shape(void **state)
{
    static const uint8_t shape_bytes[] = {
        3,
        ZS_API_KIND_U32,
        ZS_API_FLOW_IN,
        4,
        2,
        'n',
        9,
        'u',
        'i',
        'n',
        't',
        '3',
        '2',
        '_',
        't',
        ZS_API_KIND_STRUCT_PTR,
        ZS_API_FLOW_IN,
        8,
        2,
        'p',
        4,
        'z',
        'e',
        'x',
        2,
        ZS_API_KIND_F32,
        ZS_API_FIELD_IN,
        4,
        2,
        'x',
        6,
        'f',
        'l',
        'o',
        'a',
        't',
        ZS_API_KIND_HANDLE,
        ZS_API_FIELD_IN,
        8,
        2,
        'h',
        2,
        'H',
        ZS_API_KIND_VALUE_PTR,
        ZS_API_FLOW_OUT,
        8,
        2,
        'v',
        9,
        'u',
        'i',
        'n',
        't',
        '6',
        '4',
        '_',
        't',
        2,
    };
    static const uint8_t in[] = {7, 1, 0, 0, 0xc0, 0x3f, 2, 0x34, 0x12, 0, 0, 0, 0, 0, 0};
    static const uint8_t out[] = {0, 2, 0x2a};
    static struct zs_api_values values;
    struct zs_codec codec = {0};
    struct zs_arena arena;
    struct zs_api_shape shape;
    struct zs_buf text = {0};
    int32_t result = -1;
    struct zs_reader r = zs_reader_make(zs_span_make(shape_bytes, sizeof(shape_bytes)), 0, NULL);
    zs_arena_init(&arena, 1 << 20);
    assert_int_equal(zs_api_shape_read(&arena, &r, &shape), 0);
    values.count = 0;
    r = zs_reader_make(zs_span_make(in, sizeof(in)), 0, NULL);
    assert_int_equal(zs_codec_decode(&codec, &shape, false, &r, &values, &result), 0);
    r = zs_reader_make(zs_span_make(out, sizeof(out)), 0, NULL);
    assert_int_equal(zs_codec_decode(&codec, &shape, true, &r, &values, &result), 0);
    zs_api_format_call(&text, "zeNew", &values);
    assert_string_equal(zs_buf_cstr(&text), "zeNew(n = 7, p = {x = 1.5, h = 0x1234}, v = 42)");
    zs_buf_fini(&text);
    zs_arena_fini(&arena);
}

static void damaged_shapes_are_errors(void **state)
{
    unsigned seed = 11;
    uint8_t bytes[ZS_API_SHAPE_MAX_B];
    for (int round = 0; round < 40000; round++) {
        uint32_t call = (uint32_t)rand_r(&seed) % zs_api_call_count();
        size_t size_B = zs_api_shape_write(call, bytes, sizeof(bytes));
        for (int i = 0; i < 1 + round % 3; i++)
            bytes[(size_t)rand_r(&seed) % size_B] = (uint8_t)rand_r(&seed);
        struct zs_arena arena;
        struct zs_api_shape shape;
        struct zs_reader r = zs_reader_make(
            zs_span_make(bytes, round % 2 ? size_B : (size_t)rand_r(&seed) % size_B), 0, NULL);
        zs_arena_init(&arena, 1 << 20);
        if (!zs_api_shape_read(&arena, &r, &shape)) {
            static struct zs_api_values values;
            struct zs_codec codec = {0};
            int32_t result;
            values.count = 0;
            r = zs_reader_make(zs_span_make(bytes, 64), 0, NULL);
            zs_codec_decode(&codec, &shape, round & 4, &r, &values, &result);
        }
        zs_arena_fini(&arena);
    }
}

/* Calls of specifications after the headers of Debian 12, and what their arguments are. */
static void later_calls_are_known(void **state)
{
    ze_command_list_handle_t list = (void *)0x10, lists[2] = {(void *)0x20, (void *)0x30};
    ze_command_list_handle_t *plists = lists;
    uint64_t timeout = UINT64_MAX;
    uint32_t count = 2, waits = 0;
    ze_event_handle_t event = NULL, *pevents = NULL;
    void *wait[] = {&list, &timeout};
    void *append[] = {&list, &count, &plists, &event, &waits, &pevents};
    struct seen seen;
    see(&seen, "zeCommandListHostSynchronize", wait, 2, nothing, NULL, 0);
    assert_string_equal(seen.in, "zeCommandListHostSynchronize(hCommandList = 0x10, timeout = "
                                 "18446744073709551615)");
    see(&seen, "zeCommandListImmediateAppendCommandListsExp", append, 6, nothing, NULL, 0);
    assert_non_null(strstr(seen.in, "phCommandLists = [0x20, 0x30]"));
    static const char *const names[] = {"zeInitDrivers",
                                        "zeEventCounterBasedCreate",
                                        "zeCommandListUpdateMutableCommandsExp",
                                        "zeCommandListCreateCloneExp",
                                        "zetMetricTracerCreateExp",
                                        "zesVFManagementGetVFPropertiesExp",
                                        "zeMemGetIpcHandleWithProperties",
                                        "zeRTASBuilderCreateExt"};
    for (size_t i = 0; i < ZS_ARRAY_LEN(names); i++)
        assert_true(zs_api_call_find(names[i]) >= 0);
    assert_string_equal(zs_api_enum_name("ze_structure_type_t", 0x20017),
                        "ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_ID_EXP_DESC");
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
        cmocka_unit_test(texts_are_read_when_they_are_there),
        cmocka_unit_test(arrays_are_read_as_far_as_there_was_room),
        cmocka_unit_test(properties_go_in_without_what_comes_out),
        cmocka_unit_test(device_memory_is_left_alone),
        cmocka_unit_test(every_call_with_nothing_written),
        cmocka_unit_test(unwritten_memory_is_not_kept),
        cmocka_unit_test(shapes_are_read_as_they_were_written),
        cmocka_unit_test(calls_of_other_builds_are_read_by_their_shape),
        cmocka_unit_test(damaged_shapes_are_errors),
        cmocka_unit_test(later_calls_are_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
