/* SPDX-License-Identifier: MIT */
/* The metric tracer: launches as events, read, decoded, refused. */
#include "metrics_env.h"

#include <stdio.h>

enum { LAUNCHES = 3, RECORD_B = 1024, TRACED_MAX = 16, ENTRIES_MAX = 128 };

/* Kernel "writes" of a module that is no SPIR-V: (int *, int). */
struct launched {
    ze_module_handle_t module;
    ze_kernel_handle_t kernel;
    void *memory;
    uint64_t address;
};

static struct launched open_kernel(const struct env *e)
{
    struct launched l;
    static uint8_t bytes[1 << 16];
    FILE *file = fopen(MODULE, "rb");
    assert_non_null(file);
    size_t size = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = ZE_MODULE_FORMAT_NATIVE,
                             .inputSize = size,
                             .pInputModule = bytes};
    ze_kernel_desc_t kernel = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "writes"};
    ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    ze_result_t(ZE_APICALL * base)(ze_kernel_handle_t, uint64_t *) = NULL;
    int number = 3;
    OK(zeModuleCreate(e->context, e->device, &desc, &l.module, NULL));
    OK(zeKernelCreate(l.module, &kernel, &l.kernel));
    OK(zeMemAllocHost(e->context, &host, 4096, 0, &l.memory));
    OK(zeKernelSetGroupSize(l.kernel, 16, 1, 1));
    OK(zeKernelSetArgumentValue(l.kernel, 0, sizeof(l.memory), &l.memory));
    OK(zeKernelSetArgumentValue(l.kernel, 1, sizeof(number), &number));
    OK(zeDriverGetExtensionFunctionAddress(e->driver, "zexKernelGetBaseAddress", (void **)&base));
    OK(base(l.kernel, &l.address));
    return l;
}

static void launch(const struct env *e, const struct launched *l, uint32_t groups)
{
    const ze_group_count_t count = {groups, 1, 1};
    OK(zeCommandListAppendLaunchKernel(e->list, l->kernel, &count, NULL, 0, NULL));
}

static void close_kernel(const struct env *e, const struct launched *l)
{
    OK(zeKernelDestroy(l->kernel));
    OK(zeModuleDestroy(l->module));
    OK(zeMemFree(e->context, l->memory));
}

static zet_metric_tracer_exp_handle_t open_tracer(struct env *e, ze_event_handle_t event)
{
    zet_metric_group_handle_t group = first(e->device, 4);
    zet_metric_tracer_exp_desc_t desc = {.stype = 0x1000a, .notifyEveryNBytes = 5};
    zet_metric_tracer_exp_handle_t tracer, second;
    FAILS(zetMetricTracerCreateExp(e->context, e->device, 1, &group, &desc, event, &tracer),
          ZE_RESULT_ERROR_INVALID_ARGUMENT); /* not active */
    OK(zetContextActivateMetricGroups(e->context, e->device, 1, &group));
    OK(zetMetricTracerCreateExp(e->context, e->device, 1, &group, &desc, event, &tracer));
    assert_int_equal(desc.notifyEveryNBytes, 2 * RECORD_B); /* of each launch */
    FAILS(zetMetricTracerCreateExp(e->context, e->device, 1, &group, &desc, event, &second),
          ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    FAILS(zetContextActivateMetricGroups(e->context, e->device, 0, NULL),
          ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    return tracer;
}

/* All that the launches left, in three readings. */
static void read_traced(zet_metric_tracer_exp_handle_t tracer, uint8_t ret[2 * LAUNCHES * RECORD_B])
{
    size_t size = 100, whole = 2 * LAUNCHES * RECORD_B;
    OK(zetMetricTracerReadDataExp(tracer, &size, ret));
    assert_int_equal(size, 0); /* no whole record */
    size = RECORD_B + 100;
    OK(zetMetricTracerReadDataExp(tracer, &size, ret));
    assert_int_equal(size, RECORD_B);
    OK(zetMetricTracerDisableExp(tracer, true));
    size = whole;
    uint8_t *rest = malloc(whole);
    OK(zetMetricTracerReadDataExp(tracer, &size, rest));
    assert_int_equal(size, whole - RECORD_B);
    memcpy(ret + RECORD_B, rest, size);
    size = whole;
    FAILS(zetMetricTracerReadDataExp(tracer, &size, rest), ZE_RESULT_NOT_READY);
    assert_int_equal(size, 0);
    free(rest);
}

/* Entries of the nth launch are the nth of each metric. */
static const zet_metric_entry_exp_t *entry_of(const zet_metric_entry_exp_t *entries, uint32_t count,
                                              const zet_metric_handle_t *metrics, const char *name,
                                              uint32_t number)
{
    for (uint32_t i = 0; i < count; i++)
        if (!strcmp(metric_about(metrics[entries[i].metricIndex]).name, name) && number-- == 0)
            return &entries[i];
    fail_msg("no entry of %s", name);
    return NULL;
}

static void check_entries(const struct env *e, const zet_metric_entry_exp_t *entries,
                          uint32_t count, const zet_metric_handle_t *metrics, uint64_t address)
{
    ze_device_properties_t p = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2};
    uint64_t host, now, last = 0;
    OK(zeDeviceGetProperties(e->device, &p));
    OK(zeDeviceGetGlobalTimestamps(e->device, &host, &now));
    for (uint32_t n = 0; n < LAUNCHES; n++) {
        const zet_metric_entry_exp_t *begin = entry_of(entries, count, metrics, "LaunchBegin", n),
                                     *end = entry_of(entries, count, metrics, "LaunchEnd", n);
        assert_true(begin->value.ui64 == address && end->value.ui64 == address);
        assert_true(begin->timeStamp >= last && end->timeStamp > begin->timeStamp);
        last = end->timeStamp;
        assert_true(begin->onSubdevice && begin->subdeviceId == 0); /* the first tile */
        assert_int_equal(entry_of(entries, count, metrics, "Groups", n)->value.ui64, n + 1);
        assert_true(entry_of(entries, count, metrics, "Instructions", n)->value.ui64 > 0);
        uint64_t took = entry_of(entries, count, metrics, "GpuTime", n)->value.ui64;
        assert_in_range(took, end->timeStamp - begin->timeStamp - 1,
                        end->timeStamp - begin->timeStamp + 1);
    }
    assert_true(last <= (uint64_t)((double)now / (double)p.timerResolution * 1e9) + 1000);
}

static void check_decoding(const struct env *e, zet_metric_decoder_exp_handle_t decoder,
                           uint8_t *raw, uint64_t address)
{
    enum { WHOLE = 2 * LAUNCHES * RECORD_B };
    zet_metric_handle_t metrics[TRACED_MAX];
    zet_metric_entry_exp_t entries[ENTRIES_MAX], few[ENTRIES_MAX];
    uint32_t per = TRACED_MAX, sets = 0, count = 0, of_set = 0;
    OK(zetMetricDecoderGetDecodableMetricsExp(decoder, &per, metrics));
    assert_in_range(per, 4, TRACED_MAX - 1);
    size_t size = WHOLE;
    OK(zetMetricTracerDecodeExp(decoder, &size, raw, per, metrics, &sets, NULL, &count, NULL));
    assert_true(sets == 1 && size == WHOLE && count == LAUNCHES * per);
    uint32_t room = count + 3;
    OK(zetMetricTracerDecodeExp(decoder, &size, raw, per, metrics, &sets, &of_set, &room, entries));
    assert_true(room == count && of_set == count && size == WHOLE);
    check_entries(e, entries, count, metrics, address);
    room = 1 + per; /* a launch begins, ends; the next begins, and there is no room for its end */
    OK(zetMetricTracerDecodeExp(decoder, &size, raw, per, metrics, &sets, &of_set, &room, few));
    assert_true(room == 1 + per && size == 3 * RECORD_B);
    for (uint32_t i = 0; i < room; i++)
        assert_true(few[i].value.ui64 == entries[i].value.ui64 &&
                    few[i].timeStamp == entries[i].timeStamp &&
                    few[i].metricIndex == entries[i].metricIndex);
    size = WHOLE;
    room = ENTRIES_MAX; /* of one metric: its index is that in the array */
    OK(zetMetricTracerDecodeExp(decoder, &size, raw, 1, metrics + 1, &sets, NULL, &room, few));
    assert_true(room == LAUNCHES && few[0].metricIndex == 0 && few[0].value.ui64 == address);

    zet_metric_handle_t other;
    uint32_t one = 1;
    OK(zetMetricGet(first(e->device, 4), &one, &other));
    FAILS(zetMetricTracerDecodeExp(decoder, &size, raw, 1, &other, &sets, NULL, &room, few),
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
    FAILS(zetMetricTracerDecodeExp(decoder, &size, raw, 0, metrics, &sets, NULL, &room, few),
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
    FAILS(zetMetricTracerDecodeExp(NULL, &size, raw, 1, metrics, &sets, NULL, &room, few),
          ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    FAILS(zetMetricTracerDecodeExp(decoder, NULL, raw, 1, metrics, &sets, NULL, &room, few),
          ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    FAILS(zetMetricTracerDecodeExp(decoder, &size, NULL, 1, metrics, &sets, NULL, &room, few),
          ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    FAILS(zetMetricTracerDecodeExp(decoder, &size, raw, 1, NULL, &sets, NULL, &room, few),
          ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    FAILS(zetMetricTracerDecodeExp(decoder, &size, raw, 1, metrics, NULL, NULL, &room, few),
          ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    for (size_t i = 0; i < WHOLE; i += i < 80 ? 1 : 311) { /* hostile: values or an error */
        raw[i] ^= 0xff;
        room = ENTRIES_MAX;
        size = WHOLE;
        ze_result_t result =
            zetMetricTracerDecodeExp(decoder, &size, raw, per, metrics, &sets, NULL, &room, few);
        assert_true(result == ZE_RESULT_SUCCESS || result == ZE_RESULT_ERROR_INVALID_ARGUMENT);
        raw[i] ^= 0xff;
    }
}

static void check_refused_tracers(struct env *e, zet_metric_tracer_exp_handle_t tracer)
{
    zet_metric_group_handle_t group = first(e->device, 4), streamed = first(e->device, 2);
    zet_metric_tracer_exp_desc_t desc = {.stype = 0x1000a};
    zet_metric_tracer_exp_handle_t t;
    zet_metric_decoder_exp_handle_t d;
    uint8_t raw[16];
    size_t size = 0;
    NO_HANDLE(zetMetricTracerCreateExp(NULL, e->device, 1, &group, &desc, NULL, &t));
    NO_HANDLE(zetMetricTracerCreateExp(e->context, NULL, 1, &group, &desc, NULL, &t));
    NO_POINTER(zetMetricTracerCreateExp(e->context, e->device, 1, NULL, &desc, NULL, &t));
    NO_POINTER(zetMetricTracerCreateExp(e->context, e->device, 1, &group, NULL, NULL, &t));
    NO_POINTER(zetMetricTracerCreateExp(e->context, e->device, 1, &group, &desc, NULL, NULL));
    WRONG(zetMetricTracerCreateExp(e->context, e->device, 0, &group, &desc, NULL, &t));
    WRONG(zetMetricTracerCreateExp(e->context, e->device, 1, &streamed, &desc, NULL, &t));
    FAILS(zetMetricTracerCreateExp(e->context, e->device, 1, &group, &desc,
                                   (ze_event_handle_t)e->list, &t),
          ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT);
    NO_HANDLE(zetMetricTracerDestroyExp(NULL));
    NO_HANDLE(zetMetricTracerEnableExp(NULL, true));
    NO_HANDLE(zetMetricTracerDisableExp(NULL, true));
    NO_HANDLE(zetMetricTracerReadDataExp(NULL, &size, raw));
    NO_POINTER(zetMetricTracerReadDataExp(tracer, NULL, raw));
    WRONG(zetMetricTracerReadDataExp(tracer, &size, NULL)); /* how much cannot be asked */
    NO_HANDLE(zetMetricDecoderCreateExp(NULL, &d));
    NO_POINTER(zetMetricDecoderCreateExp(tracer, NULL));
    NO_HANDLE(zetMetricDecoderDestroyExp(NULL));
    uint32_t count = 0;
    NO_HANDLE(zetMetricDecoderGetDecodableMetricsExp(NULL, &count, NULL));
}

static void test_tracer(void **state)
{
    struct env *e = *state;
    OK(zetDeviceEnableMetricsExp(e->root));
    struct launched l = open_kernel(e);
    ze_event_pool_desc_t pool_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                      .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
                                      .count = 1};
    ze_event_desc_t event_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC};
    ze_event_pool_handle_t pool;
    ze_event_handle_t event;
    OK(zeEventPoolCreate(e->context, &pool_desc, 1, &e->device, &pool));
    OK(zeEventCreate(pool, &event_desc, &event));
    zet_metric_tracer_exp_handle_t tracer = open_tracer(e, event);
    zet_metric_decoder_exp_handle_t decoder;
    check_refused_tracers(e, tracer);
    static uint8_t raw[2 * LAUNCHES * RECORD_B];
    size_t size = sizeof(raw);
    launch(e, &l, 7); /* not enabled yet: it leaves nothing */
    FAILS(zetMetricTracerReadDataExp(tracer, &size, raw), ZE_RESULT_NOT_READY);
    OK(zetMetricTracerEnableExp(tracer, false));
    size = sizeof(raw);
    OK(zetMetricTracerReadDataExp(tracer, &size, raw));
    assert_int_equal(size, 0);
    FAILS(zeEventQueryStatus(event), ZE_RESULT_NOT_READY);
    for (uint32_t n = 0; n < LAUNCHES; n++)
        launch(e, &l, n + 1);
    OK(zeEventQueryStatus(event));
    FAILS(zetMetricTracerDestroyExp(tracer), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    OK(zetMetricDecoderCreateExp(tracer, &decoder));
    read_traced(tracer, raw);
    OK(zetMetricTracerDestroyExp(tracer));
    FAILS(zetMetricTracerDestroyExp(tracer), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    check_decoding(e, decoder, raw, l.address); /* without its tracer */
    OK(zetMetricDecoderDestroyExp(decoder));
    FAILS(zetMetricDecoderDestroyExp(decoder), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    OK(zetContextActivateMetricGroups(e->context, e->device, 0, NULL));
    OK(zeEventDestroy(event));
    OK(zeEventPoolDestroy(pool));
    close_kernel(e, &l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tracer)};
    setenv("ZESCOPE_METRIC_TRACER", "1", 1); /* without it the group is not listed */
    return cmocka_run_group_tests(tests, setup, teardown);
}
