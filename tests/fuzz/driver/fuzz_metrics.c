/* SPDX-License-Identifier: MIT */
/*
 * Metric data that comes back: raw reports of all groups, above all those by instruction address,
 * with sizes and counts that lie, exported data, and records of a tracer.
 *
 *   0  what to do: enum what
 *   1  group, of the device's
 *   2  bits 0, 1: raw data is that of a real query, cut, or changed where the rest says so; bit 2:
 *      largest values; bit 3: the header is mended to be one report's
 *   3  u16 room for values, or room for bytes
 *   5  the raw data, or changes of it: u16 offset, u8 value
 */
#include "base/compiler.h"
#include "driver/ddi.h"
#include "driver/metrics/metrics.h"
#include "fuzz_module.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B);

enum what { CALCULATE, CALCULATE_SETS, QUERY_DATA, EXPORT, DECODE, WHATS };
enum {
    GROUPS_MAX = 64,
    REAL = 4,
    RAW_MAX_B = 1 << 16,
    ROOM_MAX = 4096,
    TRACED_B = 2048,
    DECODABLE_MAX = 32
};
static const char *const real_names[REAL] = {"ComputeBasic", "ZscopeStalls", "ZscopeStallSampling",
                                             "ZscopeMemoryByAddress"};

static struct {
    bool made;
    ze_driver_handle_t driver;
    ze_device_handle_t device;
    zet_metric_group_handle_t groups[GROUPS_MAX], real_groups[REAL + 1]; /* and the tracer's */
    uint32_t group_count;
    zet_metric_query_handle_t queries[REAL];
    uint8_t *raw[REAL];
    size_t raw_B[REAL];
    zet_metric_decoder_exp_handle_t decoder;
    uint8_t traced[TRACED_B];
    zet_metric_handle_t decodable[DECODABLE_MAX];
    uint32_t decodable_count;
    /* what the driver has for us until the end */
    ze_context_handle_t context;
    ze_module_handle_t module;
    ze_kernel_handle_t kernel;
    void *memory;
    ze_command_list_handle_t list;
    zet_metric_query_pool_handle_t pools[REAL];
} w;

#define MUST(call) zs_assert((call) == ZE_RESULT_SUCCESS)

static void find_groups(void)
{
    w.group_count = GROUPS_MAX;
    MUST(zetMetricGroupGet(w.device, &w.group_count, w.groups));
    for (uint32_t i = 0; i < w.group_count; i++) {
        zet_metric_group_properties_t p = {.stype = ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES};
        MUST(zetMetricGroupGetProperties(w.groups[i], &p));
        for (uint32_t r = 0; r < REAL; r++)
            if (!strcmp(p.name, real_names[r]) &&
                p.samplingType == ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED)
                w.real_groups[r] = w.groups[i];
        if (!strcmp(p.name, "ZscopeLaunches"))
            w.real_groups[REAL] = w.groups[i];
    }
    for (uint32_t r = 0; r <= REAL; r++)
        zs_assert(w.real_groups[r]);
}

static void make_kernel(void)
{
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = ZE_MODULE_FORMAT_NATIVE,
                             .inputSize = (size_t)(fuzz_module_end - fuzz_module),
                             .pInputModule = fuzz_module};
    ze_kernel_desc_t kernel_desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                                    .pKernelName = "writes"};
    int number = 3;
    ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    MUST(zeModuleCreate(w.context, w.device, &desc, &w.module, NULL));
    MUST(zeKernelCreate(w.module, &kernel_desc, &w.kernel));
    MUST(zeMemAllocHost(w.context, &host, 4096, 0, &w.memory));
    MUST(zeKernelSetGroupSize(w.kernel, 16, 1, 1));
    MUST(zeKernelSetArgumentValue(w.kernel, 0, sizeof(w.memory), &w.memory));
    MUST(zeKernelSetArgumentValue(w.kernel, 1, sizeof(number), &number));
}

/* Records of one launch, and what decodes them. */
static void trace(void)
{
    const ze_group_count_t groups = {1, 1, 1};
    zet_metric_tracer_exp_desc_t desc = {.stype = 0x1000a};
    zet_metric_tracer_exp_handle_t tracer;
    size_t size_B = sizeof(w.traced);
    MUST(zetContextActivateMetricGroups(w.context, w.device, 1, &w.real_groups[REAL]));
    MUST(zetMetricTracerCreateExp(w.context, w.device, 1, &w.real_groups[REAL], &desc, NULL,
                                  &tracer));
    MUST(zetMetricTracerEnableExp(tracer, true));
    MUST(zetMetricDecoderCreateExp(tracer, &w.decoder));
    w.decodable_count = DECODABLE_MAX;
    MUST(zetMetricDecoderGetDecodableMetricsExp(w.decoder, &w.decodable_count, w.decodable));
    MUST(zeCommandListAppendLaunchKernel(w.list, w.kernel, &groups, NULL, 0, NULL));
    MUST(zetMetricTracerReadDataExp(tracer, &size_B, w.traced));
    zs_assert(size_B == sizeof(w.traced));
    MUST(zetMetricTracerDisableExp(tracer, true));
    MUST(zetMetricTracerDestroyExp(tracer));
}

/* Data of one launch, of one group of each domain. */
static void run_queries(void)
{
    ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                    .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    const ze_group_count_t groups = {1, 1, 1};
    make_kernel();
    MUST(zeCommandListCreateImmediate(w.context, w.device, &desc, &w.list));
    trace();
    MUST(zetContextActivateMetricGroups(w.context, w.device, REAL, w.real_groups));
    for (uint32_t i = 0; i < REAL; i++) {
        zet_metric_query_pool_desc_t pool_desc = {
            .stype = ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC, .count = 1};
        MUST(zetMetricQueryPoolCreate(w.context, w.device, w.real_groups[i], &pool_desc,
                                      &w.pools[i]));
        MUST(zetMetricQueryCreate(w.pools[i], 0, &w.queries[i]));
        MUST(zetCommandListAppendMetricQueryBegin(w.list, w.queries[i]));
    }
    MUST(zeCommandListAppendLaunchKernel(w.list, w.kernel, &groups, NULL, 0, NULL));
    for (uint32_t i = 0; i < REAL; i++) {
        MUST(zetCommandListAppendMetricQueryEnd(w.list, w.queries[i], NULL, 0, NULL));
        MUST(zetMetricQueryGetData(w.queries[i], &w.raw_B[i], NULL));
        w.raw[i] = malloc(w.raw_B[i] + 1);
        zs_assert(w.raw[i] && w.raw_B[i]);
        MUST(zetMetricQueryGetData(w.queries[i], &w.raw_B[i], w.raw[i]));
    }
}

static void teardown(void)
{
    MUST(zetMetricDecoderDestroyExp(w.decoder));
    for (uint32_t i = 0; i < REAL; i++) {
        MUST(zetMetricQueryDestroy(w.queries[i]));
        MUST(zetMetricQueryPoolDestroy(w.pools[i]));
        free(w.raw[i]);
    }
    MUST(zeCommandListDestroy(w.list));
    MUST(zeKernelDestroy(w.kernel));
    MUST(zeModuleDestroy(w.module));
    MUST(zeMemFree(w.context, w.memory));
    MUST(zeContextDestroy(w.context));
}

static void setup(void)
{
    uint32_t one = 1;
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    if (w.made)
        return;
    setenv("ZESCOPE_DEVICES", "skl", 1);
    setenv("ZESCOPE_LOG", "off", 1);
    setenv("ZET_ENABLE_METRICS", "1", 1);
    setenv("ZESCOPE_METRIC_TRACER", "1", 1);
    MUST(zeInit(0));
    MUST(zeDriverGet(&one, &w.driver));
    MUST(zeDeviceGet(w.driver, &one, &w.device));
    MUST(zeContextCreate(w.driver, &desc, &w.context));
    find_groups();
    run_queries();
    w.made = true;
    atexit(teardown);
}

/* ---- one input ---- */

struct input {
    enum what what;
    uint32_t real, flags, room;
    uint8_t *raw;
    size_t raw_B;
};

static void put_u32(uint8_t *to, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> (8 * i));
}

/* One report of its own size; the set stays what it is. */
static void mend(struct input *in)
{
    if (in->raw_B < ZS_RAW_HEADER_B)
        return;
    put_u32(in->raw, ZS_RAW_MAGIC);
    put_u32(in->raw + 4, ZS_RAW_VERSION);
    put_u32(in->raw + 8, (uint32_t)in->raw_B);
    put_u32(in->raw + 12, (uint32_t)(in->raw_B - ZS_RAW_HEADER_B) / 8);
}

static void read_input(const uint8_t *data, size_t size_B, struct input *in)
{
    in->what = (enum what)(data[0] % WHATS);
    in->real = data[1] % REAL;
    in->flags = data[2];
    in->room = ((uint32_t)data[3] | (uint32_t)data[4] << 8) % ROOM_MAX;
    data += 5;
    size_B -= 5;
    if (in->flags & 3) {
        in->raw_B = w.raw_B[in->real];
        memcpy(in->raw, w.raw[in->real], in->raw_B);
        for (; size_B >= 3 && in->flags & 2; data += 3, size_B -= 3)
            in->raw[((size_t)data[0] | (size_t)data[1] << 8) % in->raw_B] = data[2];
        if (in->flags & 1 && size_B)
            in->raw_B -= data[0] % in->raw_B;
    } else {
        in->raw_B = size_B < RAW_MAX_B ? size_B : RAW_MAX_B;
        memcpy(in->raw, data, in->raw_B);
    }
}

/* Never more values than there is room for; as many as reports and metrics give. */
static void calculate(const struct input *in, zet_metric_group_handle_t group)
{
    zet_metric_group_calculation_type_t type =
        in->flags & 4 ? ZET_METRIC_GROUP_CALCULATION_TYPE_MAX_METRIC_VALUES
                      : ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES;
    uint32_t metrics = 0, all = 0, count = in->room;
    MUST(zetMetricGet(group, &metrics, NULL));
    ze_result_t asked =
        zetMetricGroupCalculateMetricValues(group, type, in->raw_B, in->raw, &all, NULL);
    zs_assert(asked == ZE_RESULT_SUCCESS || asked == ZE_RESULT_ERROR_INVALID_SIZE);
    zs_assert(asked != ZE_RESULT_SUCCESS || (all && all % metrics == 0));
    zet_typed_value_t *values = malloc((size_t)count * sizeof(*values) + 1);
    zs_assert(values);
    ze_result_t result = zetMetricGroupCalculateMetricValues(group, type, in->raw_B, in->raw,
                                                             &count, count ? values : NULL);
    zs_assert(result == ZE_RESULT_SUCCESS || result == ZE_RESULT_ERROR_INVALID_SIZE ||
              result == ZE_RESULT_ERROR_INVALID_ARGUMENT);
    if (result == ZE_RESULT_SUCCESS && in->room)
        zs_assert(count == (in->room < all ? in->room : all));
    free(values);
}

static void calculate_sets(const struct input *in, zet_metric_group_handle_t group)
{
    uint32_t sets = in->flags >> 4, values_count = in->room, counts[16];
    zet_typed_value_t *values = malloc((size_t)values_count * sizeof(*values) + 1);
    zs_assert(values);
    ze_result_t result = zetMetricGroupCalculateMultipleMetricValuesExp(
        group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, in->raw_B, in->raw, &sets,
        &values_count, counts, values);
    zs_assert(result != ZE_RESULT_SUCCESS || sets == 1);
    free(values);
}

/* Data of a real query into room of any size: whole, or not at all. */
static void query_data(const struct input *in)
{
    size_t size_B = in->room;
    uint8_t *to = malloc(in->room + 1);
    zs_assert(to);
    ze_result_t result = zetMetricQueryGetData(w.queries[in->real], &size_B, to);
    zs_assert(result == (in->room && in->room < w.raw_B[in->real] ? ZE_RESULT_ERROR_INVALID_SIZE
                                                                  : ZE_RESULT_SUCCESS));
    if (result == ZE_RESULT_SUCCESS)
        zs_assert(size_B == w.raw_B[in->real]);
    if (result == ZE_RESULT_SUCCESS && in->room)
        zs_assert(!memcmp(to, w.raw[in->real], size_B));
    free(to);
}

/* What was exported, with its header and its reports changed. */
static void export_data(const struct input *in, zet_metric_group_handle_t group)
{
    size_t size_B = 0;
    MUST(zetMetricGroupGetExportDataExp(group, in->raw, in->raw_B, &size_B, NULL));
    uint8_t *exported = malloc(size_B);
    zs_assert(exported);
    MUST(zetMetricGroupGetExportDataExp(group, in->raw, in->raw_B, &size_B, exported));
    for (uint32_t i = 0; i + 1 < in->raw_B && i < 8 && in->flags & 8; i += 2)
        exported[in->raw[i] % size_B] ^= in->raw[i + 1];
    zet_metric_calculate_exp_desc_t desc = {.rawReportSkipCount = in->flags >> 4};
    uint32_t sets = in->flags & 16 ? 1 : 0, values_count = in->room, counts[16] = {0};
    zet_typed_value_t *values = malloc((size_t)values_count * sizeof(*values) + 1);
    zs_assert(values);
    (void)zetMetricGroupCalculateMetricExportDataExp(
        w.driver, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, size_B, exported, &desc, &sets,
        &values_count, counts, values);
    free(values);
    free(exported);
}

/* Records of a launch, changed and cut, into room for any number of entries. */
static void decode(const struct input *in)
{
    size_t size_B = in->flags & 16 ? in->raw_B % (TRACED_B + 1) : TRACED_B;
    uint8_t *raw = malloc(size_B + 1);
    uint32_t room = in->room % 64, sets = in->flags >> 5, of_set = 0;
    zet_metric_entry_exp_t *entries = malloc((size_t)room * sizeof(*entries) + 1);
    zs_assert(raw && entries);
    memcpy(raw, w.traced, size_B);
    for (uint32_t i = 0; i + 2 < in->raw_B && i < 24 && size_B && in->flags & 8; i += 3)
        raw[((size_t)in->raw[i] | (size_t)in->raw[i + 1] << 8) % size_B] ^= in->raw[i + 2];
    size_t before_B = size_B;
    uint32_t count = room;
    ze_result_t result =
        zetMetricTracerDecodeExp(w.decoder, &size_B, raw, 1 + in->real % w.decodable_count,
                                 w.decodable, &sets, &of_set, &count, entries);
    zs_assert(result == ZE_RESULT_SUCCESS || result == ZE_RESULT_ERROR_INVALID_ARGUMENT);
    if (result == ZE_RESULT_SUCCESS)
        zs_assert(sets == 1 && size_B <= before_B && (!room || !(in->flags >> 5) || count <= room));
    free(entries);
    free(raw);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B)
{
    struct input in;
    if (size_B < 5)
        return 0;
    setup();
    /* exactly as many bytes as are told: what is read beyond is found */
    uint8_t *room = malloc(RAW_MAX_B + 1);
    zs_assert(room);
    in.raw = room;
    read_input(data, size_B, &in);
    in.raw = malloc(in.raw_B + 1);
    zs_assert(in.raw);
    memcpy(in.raw, room, in.raw_B);
    free(room);
    zet_metric_group_handle_t group =
        in.flags & 3 ? w.real_groups[in.real] : w.groups[data[1] % w.group_count];
    if (in.flags & 8 && in.what != EXPORT)
        mend(&in);
    if (in.what == CALCULATE)
        calculate(&in, group);
    else if (in.what == CALCULATE_SETS)
        calculate_sets(&in, group);
    else if (in.what == QUERY_DATA)
        query_data(&in);
    else if (in.what == DECODE)
        decode(&in);
    else
        export_data(&in, group);
    free(in.raw);
    return 0;
}
