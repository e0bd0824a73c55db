/* SPDX-License-Identifier: MIT */
/* Metrics: groups, activation, queries, streamers, calculation; every result of every call. */
#include "kernels_group.h"

#include <time.h>
#include <unistd.h>

enum { ITEMS = 64, GROUPS = 32, VALUES_MAX = 64 };
/* address, 9 reasons, what is estimated; behind a header */
enum { STALL_VALUES = 11, STALL_REPORT_B = 64 + 8 * STALL_VALUES };

static zet_metric_group_handle_t queried(const struct e2e *e, const char *name)
{
    return e2e_metric_group(e, name, ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED);
}

static zet_metric_group_handle_t streamed(const struct e2e *e, const char *name)
{
    return e2e_metric_group(e, name, ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED);
}

static void activate(const struct e2e *e, zet_metric_group_handle_t group)
{
    OK(zetContextActivateMetricGroups(e->context, e->device, group ? 1 : 0, group ? &group : NULL));
}

/* Index of a metric in the group's values. */
static uint32_t metric(zet_metric_group_handle_t group, const char *name)
{
    zet_metric_handle_t metrics[VALUES_MAX];
    uint32_t count = COUNT(metrics);
    OK(zetMetricGet(group, &count, metrics));
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_properties_t p = {.stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES};
        OK(zetMetricGetProperties(metrics[i], &p));
        if (!strcmp(p.name, name))
            return i;
    }
    fail_msg("no metric %s", name);
    return 0;
}

static double number(const zet_typed_value_t *v)
{
    return v->type == ZET_VALUE_TYPE_FLOAT32 ? (double)v->value.fp32 : (double)v->value.ui64;
}

static double value_of(zet_metric_group_handle_t group, const zet_typed_value_t *values,
                       const char *name)
{
    return number(&values[metric(group, name)]);
}

static void calculate(zet_metric_group_handle_t group, const uint8_t *raw, size_t size,
                      zet_typed_value_t *ret_values)
{
    uint32_t count = 0;
    OK(zetMetricGroupCalculateMetricValues(group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES,
                                           size, raw, &count, NULL));
    assert_in_range(count, 1, VALUES_MAX);
    OK(zetMetricGroupCalculateMetricValues(group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES,
                                           size, raw, &count, ret_values));
}

/* ---- Enumeration -------------------------------------------------------------------------------
 */

static void test_groups(void **state)
{
    struct e2e *e = *state;
    uint32_t count = 0, domains = 0;
    zet_metric_group_handle_t groups[64];
    FAILS(zetMetricGroupGet(e->device, NULL, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    OK(zetMetricGroupGet(e->device, &count, NULL));
    assert_in_range(count, 2, COUNT(groups));
    uint32_t one = 1;
    OK(zetMetricGroupGet(e->device, &one, groups));
    assert_int_equal(one, 1);
    uint32_t more = COUNT(groups);
    OK(zetMetricGroupGet(e->device, &more, groups));
    assert_int_equal(more, count);
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_group_properties_t p = {.stype = ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES};
        OK(zetMetricGroupGetProperties(groups[i], &p));
        assert_true(p.samplingType == ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED ||
                    p.samplingType == ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED);
        assert_true(p.name[0] && p.description[0]);
        /* programs take the first group of a domain for a streamer */
        assert_true((domains >> p.domain & 1) ||
                    p.samplingType == ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED);
        domains |= 1u << p.domain;
        zet_metric_handle_t metrics[VALUES_MAX];
        uint32_t metric_count = COUNT(metrics);
        OK(zetMetricGet(groups[i], &metric_count, metrics));
        assert_int_equal(metric_count, p.metricCount);
        for (uint32_t m = 0; m < metric_count; m++) {
            zet_metric_properties_t q = {.stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES};
            OK(zetMetricGetProperties(metrics[m], &q));
            assert_true(q.name[0] && q.description[0] && q.component[0] && q.resultUnits[0]);
            assert_in_range(q.tierNumber, 1, 4);
            assert_true(
                (q.metricType <= ZET_METRIC_TYPE_RAW || q.metricType == ZET_METRIC_TYPE_IP_EXP) &&
                q.resultType <= ZET_VALUE_TYPE_BOOL8);
        }
    }
    const char *timing = getenv("ZESCOPE_TIMING");
    assert_int_equal(domains, timing && !strcmp(timing, "formula") ? 3 : 47);
    FAILS(zetMetricGroupGetProperties(groups[0], NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    FAILS(zetMetricGet(groups[0], NULL, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
}

static void test_activation(void **state)
{
    struct e2e *e = *state;
    zet_metric_group_handle_t query = queried(e, "ComputeBasic"),
                              stream = streamed(e, "ComputeBasic");
    zet_metric_group_handle_t same[] = {query, stream};
    zet_metric_group_handle_t both[] = {query, queried(e, "ZscopeInstructions")};
    FAILS(zetContextActivateMetricGroups(e->context, e->device, 2, same),
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
    FAILS(zetContextActivateMetricGroups(e->context, e->device, 1, NULL),
          ZE_RESULT_ERROR_INVALID_SIZE);
    OK(zetContextActivateMetricGroups(e->context, e->device, 2, both));
    OK(zetContextActivateMetricGroups(e->context, e->device, 1, &stream));
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .samplingPeriod = 100000};
    zet_metric_streamer_handle_t streamer, second;
    OK(zetMetricStreamerOpen(e->context, e->device, stream, &desc, NULL, &streamer));
    FAILS(zetMetricStreamerOpen(e->context, e->device, stream, &desc, NULL, &second),
          ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    /* what is collected from stays active */
    FAILS(zetContextActivateMetricGroups(e->context, e->device, 1, &query),
          ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    /* it goes on when it is deactivated, and nothing takes its place until it is closed */
    OK(zetContextActivateMetricGroups(e->context, e->device, 0, NULL));
    FAILS(zetMetricStreamerOpen(e->context, e->device, stream, &desc, NULL, &second),
          ZE_RESULT_NOT_READY);
    FAILS(zetContextActivateMetricGroups(e->context, e->device, 1, &query),
          ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    OK(zetContextActivateMetricGroups(e->context, e->device, 1, &both[1]));
    size_t size = 0;
    for (int i = 0; i < 10000 && size == 0; i++) { /* a period of time passes */
        static uint8_t raw[1 << 16];
        const struct timespec rest = {.tv_nsec = 100000};
        nanosleep(&rest, NULL);
        size = sizeof(raw);
        OK(zetMetricStreamerReadData(streamer, 1, &size, raw));
    }
    assert_true(size > 0);
    OK(zetContextActivateMetricGroups(e->context, e->device, 1, &stream));
    OK(zetContextActivateMetricGroups(e->context, e->device, 0, NULL));
    OK(zetMetricStreamerClose(streamer));
    activate(e, query);
    activate(e, NULL);
    FAILS(zetMetricStreamerOpen(e->context, e->device, stream, &desc, NULL, &streamer),
          ZE_RESULT_NOT_READY);
}

/* ---- Queries -----------------------------------------------------------------------------------
 */

struct work {
    ze_kernel_handle_t kernel;
    float *buffers[3];
};

static struct work make_work(struct e2e *e)
{
    struct work w = {.kernel = kernel_of(the_module, "vecadd")};
    for (uint32_t i = 0; i < 3; i++) {
        w.buffers[i] = e2e_alloc(e, ITEMS * GROUPS * sizeof(float));
        memset(w.buffers[i], 0, ITEMS * GROUPS * sizeof(float));
        set(w.kernel, i, sizeof(w.buffers[i]), &w.buffers[i]);
    }
    OK(zeKernelSetGroupSize(w.kernel, ITEMS, 1, 1));
    return w;
}

static void free_work(struct e2e *e, struct work *w)
{
    for (uint32_t i = 0; i < 3; i++)
        OK(zeMemFree(e->context, w->buffers[i]));
    OK(zeKernelDestroy(w->kernel));
}

static zet_metric_query_pool_handle_t make_pool(const struct e2e *e,
                                                zet_metric_group_handle_t group, uint32_t count)
{
    zet_metric_query_pool_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC,
                                         .type = ZET_METRIC_QUERY_POOL_TYPE_PERFORMANCE,
                                         .count = count};
    zet_metric_query_pool_handle_t pool;
    OK(zetMetricQueryPoolCreate(e->context, e->device, group, &desc, &pool));
    return pool;
}

static void read_query(zet_metric_query_handle_t query, zet_metric_group_handle_t group,
                       zet_typed_value_t *ret_values)
{
    uint8_t raw[4096];
    size_t size = 0;
    OK(zetMetricQueryGetData(query, &size, NULL));
    assert_in_range(size, 1, sizeof(raw));
    OK(zetMetricQueryGetData(query, &size, raw));
    calculate(group, raw, size, ret_values);
}

/* `launches` of the work between begin and end, in a regular or an immediate list. */
static void run_query(struct e2e *e, const struct work *w, zet_metric_query_handle_t query,
                      uint32_t launches, bool immediate)
{
    ze_command_queue_handle_t queue = e2e_queue(e, 0);
    ze_command_list_handle_t list = immediate ? e2e_immediate(e, false) : e2e_list(e, 0);
    ze_event_pool_handle_t pool = e2e_pool(e, 1, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
    ze_event_handle_t event = e2e_event(pool, 0);
    ze_group_count_t groups = {GROUPS, 1, 1};
    OK(zetCommandListAppendMetricQueryBegin(list, query));
    for (uint32_t i = 0; i < launches; i++)
        OK(zeCommandListAppendLaunchKernel(list, w->kernel, &groups, NULL, 0, NULL));
    OK(zetCommandListAppendMetricMemoryBarrier(list));
    OK(zetCommandListAppendMetricQueryEnd(list, query, event, 0, NULL));
    if (!immediate)
        OK(e2e_run(queue, list));
    OK(zeEventHostSynchronize(event, UINT64_MAX));
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
    OK(zeEventDestroy(event));
    OK(zeEventPoolDestroy(pool));
}

/* Threads, bytes and messages are known from the kernel. */
static void test_query(void **state)
{
    struct e2e *e = *state;
    struct work w = make_work(e);
    zet_metric_group_handle_t group = queried(e, "ComputeBasic");
    ze_kernel_properties_t p = {.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES};
    OK(zeKernelGetProperties(w.kernel, &p));
    activate(e, group);
    zet_metric_query_pool_handle_t pool = make_pool(e, group, 4);
    zet_metric_query_handle_t query;
    FAILS(zetMetricQueryCreate(pool, 4, &query), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(zetMetricQueryCreate(pool, 0, &query));
    for (uint32_t launches = 0; launches < 4; launches++) {
        uint8_t raw[4096];
        size_t size = sizeof(raw);
        FAILS(zetMetricQueryGetData(query, &size, raw), ZE_RESULT_NOT_READY);
        run_query(e, &w, query, launches, launches & 1);
        zet_typed_value_t v[VALUES_MAX];
        read_query(query, group, v);
        uint64_t items = (uint64_t)ITEMS * GROUPS * launches;
        uint32_t threads = (ITEMS + p.maxSubgroupSize - 1) / p.maxSubgroupSize;
        assert_int_equal(value_of(group, v, "CsThreads"), threads * GROUPS * launches);
        assert_int_equal(value_of(group, v, "UntypedBytesRead"), items * 8);
        assert_int_equal(value_of(group, v, "UntypedBytesWritten"), items * 4);
        assert_int_equal(value_of(group, v, "SlmBytesRead"), 0);
        assert_int_equal(value_of(group, v, "ShaderBarriers"), 0);
        assert_true(value_of(group, v, "GpuTime") >= (launches ? 100 : 0));
        assert_true(value_of(group, v, "GpuBusy") == (launches ? 100 : 0));
        double active = value_of(group, v, "EuActive"), stall = value_of(group, v, "EuStall");
        assert_true(active >= 0 && stall >= 0 && active + stall <= 100.01);
        assert_true(!launches || active > 0);
        assert_true(value_of(group, v, "EuThreadOccupancy") <= 100);
        OK(zetMetricQueryReset(query));
    }
    OK(zetMetricQueryDestroy(query));
    OK(zetMetricQueryPoolDestroy(pool));
    activate(e, NULL);
    free_work(e, &w);
}

/* The same program gives the same numbers; queries may lie in each other. */
static void test_many_queries(void **state)
{
    enum { MANY = 1000 };
    struct e2e *e = *state;
    struct work w = make_work(e);
    zet_metric_group_handle_t group = queried(e, "ZscopeInstructions");
    activate(e, group);
    zet_metric_query_pool_handle_t pool = make_pool(e, group, MANY + 1);
    ze_command_list_handle_t list = e2e_list(e, 0);
    ze_command_queue_handle_t queue = e2e_queue(e, 0);
    ze_group_count_t groups = {2, 1, 1};
    static zet_metric_query_handle_t queries[MANY + 1];
    for (uint32_t i = 0; i <= MANY; i++)
        OK(zetMetricQueryCreate(pool, i, &queries[i]));
    OK(zetCommandListAppendMetricQueryBegin(list, queries[MANY]));
    for (uint32_t i = 0; i < MANY; i++) {
        OK(zetCommandListAppendMetricQueryBegin(list, queries[i]));
        OK(zeCommandListAppendLaunchKernel(list, w.kernel, &groups, NULL, 0, NULL));
        OK(zetCommandListAppendMetricQueryEnd(list, queries[i], NULL, 0, NULL));
    }
    OK(zetCommandListAppendMetricQueryEnd(list, queries[MANY], NULL, 0, NULL));
    OK(e2e_run(queue, list));
    zet_typed_value_t first[VALUES_MAX], v[VALUES_MAX];
    read_query(queries[0], group, first);
    assert_int_equal(value_of(group, first, "Launches"), 1);
    assert_int_equal(value_of(group, first, "Groups"), 2);
    uint32_t count = 0;
    OK(zetMetricGet(group, &count, NULL));
    for (uint32_t i = 1; i < MANY; i++) {
        read_query(queries[i], group, v);
        for (uint32_t m = 0; m < count; m++)
            assert_true(number(&v[m]) == number(&first[m]));
    }
    read_query(queries[MANY], group, v);
    assert_int_equal(value_of(group, v, "Launches"), MANY);
    assert_true(value_of(group, v, "Instructions") ==
                MANY * value_of(group, first, "Instructions"));
    for (uint32_t i = 0; i <= MANY; i++)
        OK(zetMetricQueryDestroy(queries[i]));
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
    OK(zetMetricQueryPoolDestroy(pool));
    activate(e, NULL);
    free_work(e, &w);
}

static void test_refused_queries(void **state)
{
    struct e2e *e = *state;
    zet_metric_group_handle_t group = queried(e, "ComputeBasic");
    zet_metric_query_pool_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC,
                                         .count = 1};
    zet_metric_query_pool_handle_t pool;
    zet_metric_query_handle_t query;
    FAILS(zetMetricQueryPoolCreate(e->context, e->device, group, NULL, &pool),
          ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    FAILS(zetMetricQueryPoolCreate(e->context, e->device, group, &desc, NULL),
          ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    FAILS(
        zetMetricQueryPoolCreate(e->context, e->device, streamed(e, "ComputeBasic"), &desc, &pool),
        ZE_RESULT_ERROR_INVALID_ARGUMENT);
    desc.type = (zet_metric_query_pool_type_t)2;
    FAILS(zetMetricQueryPoolCreate(e->context, e->device, group, &desc, &pool),
          ZE_RESULT_ERROR_INVALID_ENUMERATION);
    desc.type = ZET_METRIC_QUERY_POOL_TYPE_EXECUTION;
    FAILS(zetMetricQueryPoolCreate(e->context, e->device, group, &desc, &pool),
          ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    pool = make_pool(e, group, 1);
    FAILS(zetMetricQueryCreate(pool, 0, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    OK(zetMetricQueryCreate(pool, 0, &query));
    FAILS(zetMetricQueryGetData(query, NULL, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    ze_command_list_handle_t copies = e2e_list(e, 1);
    FAILS(zetCommandListAppendMetricQueryBegin(copies, query),
          ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE);
    OK(zeCommandListDestroy(copies));
    OK(zetMetricQueryDestroy(query));
    OK(zetMetricQueryPoolDestroy(pool));
}

/* ---- Streamers ---------------------------------------------------------------------------------
 */

enum { RAW_MAX = 32 << 20 };

/* All that there is; the sum of a metric over it, and how many reports. */
struct stream {
    zet_metric_group_handle_t group;
    zet_metric_streamer_handle_t handle;
    uint8_t *raw;
    double reports, sums[VALUES_MAX], marks[8];
    uint32_t mark_count;
    bool lost;
};

static void read_stream(struct stream *s, uint32_t most)
{
    size_t size = RAW_MAX;
    uint32_t per = 0, count = 0;
    ze_result_t result = zetMetricStreamerReadData(s->handle, most, &size, s->raw);
    s->lost |= result == ZE_RESULT_WARNING_DROPPED_DATA;
    assert_true(result == ZE_RESULT_SUCCESS || result == ZE_RESULT_WARNING_DROPPED_DATA);
    if (!size)
        return;
    OK(zetMetricGet(s->group, &per, NULL));
    OK(zetMetricGroupCalculateMetricValues(
        s->group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, size, s->raw, &count, NULL));
    assert_int_equal(count % per, 0);
    assert_true(count / per <= most);
    zet_typed_value_t *values = calloc(count, sizeof(*values));
    OK(zetMetricGroupCalculateMetricValues(
        s->group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, size, s->raw, &count, values));
    uint32_t marker = metric(s->group, "StreamMarker");
    for (uint32_t i = 0; i < count; i++)
        s->sums[i % per] += number(&values[i]);
    for (uint32_t i = marker; i < count; i += per)
        if (number(&values[i]) > 0 && s->mark_count < COUNT(s->marks))
            s->marks[s->mark_count++] = number(&values[i]);
    s->reports += count / per;
    free(values);
}

static void open_stream(struct e2e *e, struct stream *s, const char *name, uint32_t period_ns,
                        uint32_t notify, ze_event_handle_t event)
{
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .notifyEveryNReports = notify,
                                       .samplingPeriod = period_ns};
    *s = (struct stream){.group = streamed(e, name), .raw = malloc(RAW_MAX)};
    activate(e, s->group);
    OK(zetMetricStreamerOpen(e->context, e->device, s->group, &desc, event, &s->handle));
    assert_in_range(desc.samplingPeriod, period_ns - 100, period_ns + 100);
}

static void close_stream(struct e2e *e, struct stream *s)
{
    OK(zetMetricStreamerClose(s->handle));
    free(s->raw);
    activate(e, NULL);
}

/* Sums over reports are what was launched: nothing is lost between them. */
static void test_stream_totals(void **state)
{
    enum { LAUNCHES = 50 };
    struct e2e *e = *state;
    struct work w = make_work(e);
    struct stream s;
    /* twice as many reports are kept, half a minute and more: launches take long on busy machines
     */
    open_stream(e, &s, "ComputeBasic", 100000, 200000, NULL);
    ze_command_list_handle_t list = e2e_list(e, 0);
    ze_command_queue_handle_t queue = e2e_queue(e, 0);
    ze_group_count_t groups = {GROUPS, 1, 1};
    OK(zetCommandListAppendMetricStreamerMarker(list, s.handle, 11));
    for (uint32_t i = 0; i < LAUNCHES; i++)
        OK(zeCommandListAppendLaunchKernel(list, w.kernel, &groups, NULL, 0, NULL));
    OK(zetCommandListAppendMetricStreamerMarker(list, s.handle, 22));
    OK(e2e_run(queue, list));
    uint32_t bytes = metric(s.group, "UntypedBytesRead");
    const double want = 8.0 * ITEMS * GROUPS * LAUNCHES;
    /* reports come as time passes, a few at a time; all that are there now and then, as turns of a
     * busy machine are longer than those few periods */
    for (uint32_t i = 0; i < 2000 && s.sums[bytes] < want; i++) {
        read_stream(&s, i % 4 ? 7 : UINT32_MAX);
        usleep(1000);
    }
    assert_true(s.sums[bytes] == want);
    assert_true(s.sums[metric(s.group, "UntypedBytesWritten")] == want / 2);
    read_stream(&s, UINT32_MAX);
    assert_true(s.sums[bytes] == want);
    assert_int_equal(s.mark_count, 2);
    assert_true(s.marks[0] == 11 && s.marks[1] == 22);
    assert_false(s.lost);
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
    close_stream(e, &s);
    free_work(e, &w);
}

/* Launches of `from`, streamed from `to`: what came of the bytes that each reads. */
static void check_tiles(struct e2e *from, struct e2e *to, uint32_t count, double ret_bytes[])
{
    struct work w = make_work(from);
    struct stream s[2];
    double sum = 0;
    for (uint32_t t = 0; t < count; t++)
        open_stream(&to[t], &s[t], "ComputeBasic", 100000, 200000, NULL);
    uint32_t bytes = metric(s[0].group, "UntypedBytesRead");
    ze_command_list_handle_t list = e2e_immediate(from, true);
    ze_group_count_t groups = {GROUPS, 1, 1};
    OK(zeCommandListAppendLaunchKernel(list, w.kernel, &groups, NULL, 0, NULL));
    for (uint32_t i = 0; i < 2000 && sum < 8.0 * ITEMS * GROUPS; i++, usleep(1000)) {
        sum = 0;
        for (uint32_t t = 0; t < count; t++) {
            read_stream(&s[t], UINT32_MAX);
            sum += ret_bytes[t] = s[t].sums[bytes];
        }
    }
    OK(zeCommandListDestroy(list));
    for (uint32_t t = 0; t < count; t++)
        close_stream(&to[t], &s[t]);
    free_work(from, &w);
}

/* Tiles see their parts of what runs on all, the root what runs on one of them. */
static void test_stream_tiles(void **state)
{
    struct e2e *e = *state, tiles[2] = {*e, *e};
    ze_device_handle_t subs[2];
    uint32_t count = 2;
    double bytes[2];
    OK(zeDeviceGetSubDevices(e->device, &count, subs));
    assert_int_equal(count, 2);
    tiles[0].device = subs[0];
    tiles[1].device = subs[1];
    check_tiles(e, tiles, 2, bytes);
    assert_true(bytes[0] == 4.0 * ITEMS * GROUPS && bytes[1] == bytes[0]);
    check_tiles(&tiles[1], tiles, 2, bytes);
    assert_true(bytes[0] == 0 && bytes[1] == 8.0 * ITEMS * GROUPS);
    check_tiles(&tiles[1], e, 1, bytes);
    assert_true(bytes[0] == 8.0 * ITEMS * GROUPS);
}

/* Time passes also while nothing runs; the event tells of enough reports, again after a reading. */
static void test_stream_notifies(void **state)
{
    struct e2e *e = *state;
    struct stream s;
    ze_event_pool_handle_t pool = e2e_pool(e, 1, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
    ze_event_handle_t event = e2e_event(pool, 0);
    open_stream(e, &s, "ComputeBasic", 1000000, 5, event);
    for (uint32_t round = 0; round < 3; round++) {
        OK(zeEventHostSynchronize(event, 300000000000));
        double before = s.reports;
        OK(zeEventHostReset(event));
        read_stream(&s, UINT32_MAX);
        assert_true(s.reports - before >= 5);
    }
    assert_true(s.sums[metric(s.group, "GpuBusy")] == 0);
    /* each report says how long it was */
    assert_true(s.sums[metric(s.group, "GpuTime")] >= 15 * 990000.0);
    close_stream(e, &s);
    OK(zeEventDestroy(event));
    OK(zeEventPoolDestroy(pool));
}

static void test_stream_loses_the_oldest(void **state)
{
    struct e2e *e = *state;
    struct stream s;
    open_stream(e, &s, "ZscopeInstructions", 1000, 1, NULL);
    usleep(300000); /* more reports than are kept */
    read_stream(&s, UINT32_MAX);
    assert_true(s.lost);
    assert_in_range((uint64_t)s.reports, 1, 65536);
    close_stream(e, &s);
}

/* Intel's way to say how much is kept: zet_intel_metric_hw_buffer_size_exp_desc_t. */
static void test_size_of_buffer(void **state)
{
    enum { ONE_B = 1024 };
    struct e2e *e = *state;
    struct {
        uint32_t stype;
        const void *next;
        size_t size;
    } buffer = {0x10007, NULL, 100 * ONE_B + 5};
    struct stream s = {.group = streamed(e, "ZscopeInstructions"), .raw = malloc(RAW_MAX)};
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .pNext = &buffer,
                                       .samplingPeriod = 100000};
    activate(e, s.group);
    OK(zetMetricStreamerOpen(e->context, e->device, s.group, &desc, NULL, &s.handle));
    assert_int_equal(buffer.size, 100 * ONE_B);
    usleep(50000); /* 500 periods */
    read_stream(&s, UINT32_MAX);
    assert_true(s.lost && s.reports == 100);
    OK(zetMetricStreamerClose(s.handle));
    buffer.size = 3; /* too little for anything, and too much */
    OK(zetMetricStreamerOpen(e->context, e->device, s.group, &desc, NULL, &s.handle));
    assert_in_range(buffer.size, ONE_B, 64 * ONE_B);
    OK(zetMetricStreamerClose(s.handle));
    buffer.size = SIZE_MAX;
    OK(zetMetricStreamerOpen(e->context, e->device, s.group, &desc, NULL, &s.handle));
    assert_true(buffer.size >= 65536 * ONE_B && buffer.size < SIZE_MAX && buffer.size % ONE_B == 0);
    close_stream(e, &s);
}

/* Time goes on while the host executes a launch: its reports come, and the launch stands behind
 * those that were read, as its timestamps do. */
static void test_stream_while_running(void **state)
{
    struct e2e *e = *state;
    struct stream s;
    const ze_group_count_t one = {1, 1, 1};
    ze_event_pool_handle_t pool =
        e2e_pool(e, 2, ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
    ze_event_handle_t enough = e2e_event(pool, 0), ended = e2e_event(pool, 1);
    ze_command_list_handle_t list = e2e_list(e, 0);
    ze_command_queue_handle_t queue = e2e_queue(e, 0);
    ze_kernel_handle_t kernel = kernel_of(the_module, "forever");
    int *p = e2e_alloc(e, 64);
    memset(p, 0, 64);
    set(kernel, 0, sizeof(p), &p);
    OK(zeKernelSetGroupSize(kernel, 8, 1, 1));
    OK(zeCommandListAppendLaunchKernel(list, kernel, &one, ended, 0, NULL));
    OK(zeCommandListClose(list));
    uint64_t before_ticks, told_ticks, host;
    OK(zeDeviceGetGlobalTimestamps(e->device, &host, &before_ticks));
    open_stream(e, &s, "ZscopeInstructions", 1000000, 20, enough);
    OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    uint32_t launches = metric(s.group, "Launches"), time = metric(s.group, "GpuTime");
    for (uint32_t round = 0; round < 2; round++) {
        OK(zeEventHostSynchronize(enough, 300000000000));
        double before = s.reports;
        OK(zeEventHostReset(enough)); /* it may be signaled again as soon as some were read */
        read_stream(&s, 20);
        assert_true(s.reports - before == 20);
    }
    assert_true(s.sums[launches] == 0 && s.sums[time] > 39 * 1000000.0);
    FAILS(zeEventQueryStatus(ended), ZE_RESULT_NOT_READY);
    *(volatile int *)p = 1;
    OK(zeCommandQueueSynchronize(queue, UINT64_MAX));
    for (uint32_t i = 0; i < 2000 && s.sums[launches] < 1; i++) {
        read_stream(&s, UINT32_MAX);
        usleep(1000);
    }
    assert_true(s.sums[launches] == 1 && s.sums[metric(s.group, "Groups")] == 1);
    assert_true(s.sums[metric(s.group, "Instructions")] > 0);
    ze_device_properties_t device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2};
    OK(zeDeviceGetProperties(e->device, &device));
    ze_kernel_timestamp_result_t t;
    OK(zeEventQueryKernelTimestamp(ended, &t));
    OK(zeDeviceGetGlobalTimestamps(e->device, &host, &told_ticks));
    uint64_t mask = (UINT64_C(1) << (device.kernelTimestampValidBits - 1) << 1) - 1;
    uint64_t start = (t.global.kernelStart - before_ticks) & mask,
             end = (t.global.kernelEnd - before_ticks) & mask;
    assert_true(start >= device.timerResolution * 39 / 1000 && end > start);
    assert_true(end <= ((told_ticks - before_ticks) & mask));
    assert_false(s.lost);
    close_stream(e, &s);
    OK(zeKernelDestroy(kernel));
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
    OK(zeEventDestroy(enough));
    OK(zeEventDestroy(ended));
    OK(zeEventPoolDestroy(pool));
    OK(zeMemFree(e->context, p));
}

static void test_refused_streamers(void **state)
{
    struct e2e *e = *state;
    zet_metric_group_handle_t group = streamed(e, "ComputeBasic");
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .samplingPeriod = 1000000};
    zet_metric_streamer_handle_t streamer;
    activate(e, group);
    FAILS(zetMetricStreamerOpen(e->context, e->device, group, NULL, NULL, &streamer),
          ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    FAILS(zetMetricStreamerOpen(e->context, e->device, group, &desc, NULL, NULL),
          ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    FAILS(zetMetricStreamerOpen(e->context, e->device, queried(e, "ComputeBasic"), &desc, NULL,
                                &streamer),
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(zetMetricStreamerOpen(e->context, e->device, group, &desc, NULL, &streamer));
    FAILS(zetMetricStreamerReadData(streamer, 1, NULL, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    OK(zetMetricStreamerClose(streamer));
    activate(e, NULL);
}

/* A streamer that goes while kernels run and a marker waits to run. */
static void test_close_while_running(void **state)
{
    struct e2e *e = *state;
    struct work w = make_work(e);
    struct stream s;
    open_stream(e, &s, "ComputeBasic", 10000, 1, NULL);
    ze_command_list_handle_t list = e2e_list(e, 0);
    ze_command_queue_handle_t queue = e2e_queue(e, 0);
    ze_group_count_t groups = {4096, 1, 1};
    int *sum = e2e_alloc(e, 4);
    ze_kernel_handle_t kernel = kernel_of(the_module, "add_atomic");
    set(kernel, 0, sizeof(sum), &sum);
    OK(zeKernelSetGroupSize(kernel, 64, 1, 1));
    for (uint32_t i = 0; i < 20; i++)
        OK(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
    OK(zetCommandListAppendMetricStreamerMarker(list, s.handle, 1));
    OK(zeCommandListClose(list));
    OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    close_stream(e, &s);
    OK(zeCommandQueueSynchronize(queue, UINT64_MAX));
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
    OK(zeKernelDestroy(kernel));
    OK(zeMemFree(e->context, sum));
    free_work(e, &w);
}

/* ---- Calculation -------------------------------------------------------------------------------
 */

static void test_hostile_raw_data(void **state)
{
    struct e2e *e = *state;
    struct work w = make_work(e);
    zet_metric_group_handle_t group = queried(e, "ComputeBasic");
    activate(e, group);
    zet_metric_query_pool_handle_t pool = make_pool(e, group, 1);
    zet_metric_query_handle_t query;
    OK(zetMetricQueryCreate(pool, 0, &query));
    run_query(e, &w, query, 1, false);
    uint8_t raw[4096], bent[4096];
    size_t size = sizeof(raw);
    zet_typed_value_t v[VALUES_MAX];
    OK(zetMetricQueryGetData(query, &size, raw));
    uint32_t count = 0, sets = 0, total = 0;
    const zet_metric_group_calculation_type_t
        plain = ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES,
        most = ZET_METRIC_GROUP_CALCULATION_TYPE_MAX_METRIC_VALUES;
    FAILS(zetMetricGroupCalculateMetricValues(group, (zet_metric_group_calculation_type_t)7, size,
                                              raw, &count, NULL),
          ZE_RESULT_ERROR_INVALID_ENUMERATION);
    FAILS(zetMetricGroupCalculateMetricValues(group, plain, size, NULL, &count, NULL),
          ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    FAILS(zetMetricGroupCalculateMetricValues(group, plain, size, raw, NULL, NULL),
          ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    FAILS(zetMetricGroupCalculateMetricValues(group, plain, size - 1, raw, &count, NULL),
          ZE_RESULT_ERROR_INVALID_SIZE);
    count = VALUES_MAX;
    FAILS(zetMetricGroupCalculateMetricValues(queried(e, "ZscopeInstructions"), plain, size, raw,
                                              &count, v),
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
    /* room behind the data is no data, and alone it is none either */
    uint32_t once = 0, padded = 0;
    uint8_t *room = calloc(3, size);
    memcpy(room, raw, size);
    OK(zetMetricGroupCalculateMetricValues(group, plain, size, raw, &once, NULL));
    OK(zetMetricGroupCalculateMetricValues(group, plain, 3 * size, room, &padded, NULL));
    assert_int_equal(padded, once);
    padded = VALUES_MAX;
    OK(zetMetricGroupCalculateMetricValues(group, plain, 3 * size, room, &padded, v));
    assert_int_equal(padded, once);
    padded = VALUES_MAX;
    OK(zetMetricGroupCalculateMetricValues(group, plain, 2 * size, room + size, &padded, v));
    assert_int_equal(padded, 0);
    OK(zetMetricGroupCalculateMetricValues(group, plain, 2 * size, room + size, &padded, NULL));
    assert_int_equal(padded, 0);
    memcpy(room + 2 * size, raw, size); /* between reports they are none */
    padded = VALUES_MAX;
    FAILS(zetMetricGroupCalculateMetricValues(group, plain, 3 * size, room, &padded, v),
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
    free(room);
    /* whatever the bytes are: values or an error, and percentages that are some */
    srand(7);
    for (uint32_t i = 0; i < 2000; i++) {
        memcpy(bent, raw, size);
        for (uint32_t k = 0; k < 1 + i % 16; k++)
            bent[(uint32_t)rand() % size] = (uint8_t)rand();
        count = VALUES_MAX;
        ze_result_t result =
            zetMetricGroupCalculateMetricValues(group, plain, size, bent, &count, v);
        assert_true(result == ZE_RESULT_SUCCESS || result == ZE_RESULT_ERROR_INVALID_ARGUMENT);
        if (result == ZE_RESULT_SUCCESS)
            assert_true(value_of(group, v, "EuActive") >= 0 &&
                        value_of(group, v, "EuActive") <= 100);
    }
    count = VALUES_MAX;
    OK(zetMetricGroupCalculateMetricValues(group, most, size, raw, &count, v));
    assert_true(value_of(group, v, "EuActive") == 100);
    assert_true(value_of(group, v, "UntypedBytesRead") > 8.0 * ITEMS * GROUPS);
    OK(zetMetricGroupCalculateMultipleMetricValuesExp(group, plain, size, raw, &sets, &total, NULL,
                                                      NULL));
    assert_int_equal(sets, 1);
    uint32_t counts[1] = {0};
    OK(zetMetricGroupCalculateMultipleMetricValuesExp(group, plain, size, raw, &sets, &total,
                                                      counts, v));
    assert_int_equal(counts[0], total);
    assert_true(value_of(group, v, "UntypedBytesRead") == 8.0 * ITEMS * GROUPS);
    OK(zetMetricQueryDestroy(query));
    OK(zetMetricQueryPoolDestroy(pool));
    activate(e, NULL);
    free_work(e, &w);
}

/* ---- The model of time -------------------------------------------------------------------------
 */

enum { NESTED = 4 };
static const char *const nested_names[NESTED] = {"ComputeBasic", "ZscopeMemory",
                                                 "ZscopeStallSampling", "ZscopeMemoryByAddress"};

static bool has_model(void)
{
    const char *timing = getenv("ZESCOPE_TIMING");
    return !timing || strcmp(timing, "formula") != 0;
}

/* Begin of all queries, launches, end of all. */
static void run_queries(struct e2e *e, const struct work *w,
                        const zet_metric_query_handle_t *queries, uint32_t count, uint32_t launches)
{
    ze_command_queue_handle_t queue = e2e_queue(e, 0);
    ze_command_list_handle_t list = e2e_list(e, 0);
    ze_group_count_t groups = {GROUPS, 1, 1};
    for (uint32_t i = 0; i < count; i++)
        OK(zetCommandListAppendMetricQueryBegin(list, queries[i]));
    for (uint32_t i = 0; i < launches; i++)
        OK(zeCommandListAppendLaunchKernel(list, w->kernel, &groups, NULL, 0, NULL));
    for (uint32_t i = 0; i < count; i++)
        OK(zetCommandListAppendMetricQueryEnd(list, queries[i], NULL, 0, NULL));
    OK(e2e_run(queue, list));
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
}

/* Each of three buffers is touched once, in whole lines. */
static void check_memory(zet_metric_group_handle_t group, const zet_typed_value_t *v,
                         uint32_t launches)
{
    double sectors = 3.0 * ITEMS * GROUPS * 4 / 64 * launches;
    assert_true(value_of(group, v, "GlobalBytesAsked") == sectors * 64);
    assert_true(value_of(group, v, "GlobalSectors") == sectors);
    assert_true(value_of(group, v, "SectorUse") == 100);
    assert_true(value_of(group, v, "L3Misses") == sectors);
    assert_true(value_of(group, v, "L3Hits") == 0);
    assert_true(value_of(group, v, "LlcMisses") == sectors * 2 / 3); /* writes read nothing */
    assert_true(value_of(group, v, "MemoryBytesRead") == sectors * 64 * 2 / 3);
    assert_true(value_of(group, v, "SlmConflictCycles") == 0);
    assert_true(value_of(group, v, "ReplayedShare") == 100);
    assert_true(value_of(group, v, "EstimateError") == 0);
}

static uint64_t base_address(const struct e2e *e, const struct work *w)
{
    ze_result_t(ZE_APICALL * base)(ze_kernel_handle_t, uint64_t *) = NULL;
    OK(zeDriverGetExtensionFunctionAddress(e->driver, "zexKernelGetBaseAddress", (void **)&base));
    uint64_t address = 0;
    FAILS(base(w->kernel, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    FAILS(base(NULL, &address), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    OK(base(w->kernel, &address));
    return address;
}

/* Values of reports by address: within the kernel, ascending; their sum is that of all threads. */
static double check_addresses(zet_metric_group_handle_t group, const zet_typed_value_t *v,
                              uint32_t count, uint64_t base)
{
    uint32_t per = 0;
    double sum = 0;
    OK(zetMetricGet(group, &per, NULL));
    assert_int_equal(per, STALL_VALUES);
    assert_true(count > per && count % per == 0);
    for (uint32_t i = 0; i < count; i += per) {
        assert_in_range(v[i].value.ui64, base, base + 4096);
        assert_true(i == 0 || v[i].value.ui64 > v[i - per].value.ui64);
        for (uint32_t m = 1; m < per - 1; m++)
            sum += number(&v[i + m]);
        assert_true(number(&v[i + per - 1]) == 0); /* all was replayed */
    }
    return sum;
}

/* Sums over addresses are what the device moved as a whole. */
static void check_memory_addresses(zet_metric_group_handle_t group, zet_metric_query_handle_t query,
                                   uint64_t base, zet_metric_group_handle_t all_group,
                                   const zet_typed_value_t *all)
{
    static const char *const same[][2] = {{"L3Hits", "L3Hits"},
                                          {"L3Misses", "L3Misses"},
                                          {"LlcHits", "LlcHits"},
                                          {"LlcMisses", "LlcMisses"},
                                          {"MemoryBytesRead", "MemoryBytesRead"},
                                          {"Sectors", "GlobalSectors"},
                                          {"SlmConflictCycles", "SlmConflictCycles"}};
    static uint8_t raw[1 << 16];
    zet_typed_value_t v[1024];
    size_t size = 0;
    uint32_t per = 0, count = COUNT(v), seen = 0;
    OK(zetMetricQueryGetData(query, &size, NULL));
    assert_true(size > 0 && size <= sizeof(raw));
    OK(zetMetricQueryGetData(query, &size, raw));
    OK(zetMetricGroupCalculateMetricValues(group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES,
                                           size, raw, &count, v));
    OK(zetMetricGet(group, &per, NULL));
    assert_int_equal(count % per, 0);
    for (uint32_t i = 0; i < COUNT(same); i++) {
        uint32_t at = metric(group, same[i][0]);
        double sum = 0;
        for (uint32_t r = 0; r < count; r += per)
            sum += number(&v[r + at]);
        assert_true(sum == value_of(all_group, all, same[i][1]));
    }
    for (uint32_t r = 0; r < count; r += per, seen++)
        assert_in_range(v[r].value.ui64, base, base + 4096);
    assert_in_range(seen, 3, 8); /* two loads and a store; nothing of other instructions */
}

static void test_model(void **state)
{
    struct e2e *e = *state;
    if (!has_model())
        return; /* test_which_time has what is the case then */
    struct work w = make_work(e);
    zet_metric_group_handle_t groups[NESTED];
    zet_metric_query_pool_handle_t pools[NESTED];
    zet_metric_query_handle_t queries[NESTED];
    for (uint32_t i = 0; i < NESTED; i++) {
        groups[i] = queried(e, nested_names[i]);
        pools[i] = make_pool(e, groups[i], 1);
        OK(zetMetricQueryCreate(pools[i], 0, &queries[i]));
    }
    OK(zetContextActivateMetricGroups(e->context, e->device, NESTED, groups));
    size_t size = 0;
    FAILS(zetMetricQueryGetData(queries[2], &size, NULL), ZE_RESULT_NOT_READY);
    for (uint32_t launches = 1; launches < 4; launches++) {
        static uint8_t raw[1 << 20];
        zet_typed_value_t v[VALUES_MAX];
        static zet_typed_value_t many[1 << 14];
        run_queries(e, &w, queries, NESTED, launches);
        read_query(queries[0], groups[0], v);
        double threads = value_of(groups[0], v, "EuThreadOccupancy"),
               clocks = value_of(groups[0], v, "GpuCoreClocks");
        assert_true(threads > 0 && threads <= 100);
        assert_true(value_of(groups[0], v, "EuAvgIpcRate") >= 1);
        assert_true(value_of(groups[0], v, "Fpu0Active") > 0);
        assert_true(value_of(groups[0], v, "GtiReadThroughput") == 8.0 * ITEMS * GROUPS * launches);
        read_query(queries[1], groups[1], v);
        check_memory(groups[1], v, launches);
        size = 0;
        OK(zetMetricQueryGetData(queries[2], &size, NULL));
        assert_true(size > 0 && size % STALL_REPORT_B == 0 && size <= sizeof(raw));
        size_t less = size - 1;
        FAILS(zetMetricQueryGetData(queries[2], &less, raw), ZE_RESULT_ERROR_INVALID_SIZE);
        OK(zetMetricQueryGetData(queries[2], &size, raw));
        uint32_t count = COUNT(many);
        OK(zetMetricGroupCalculateMetricValues(
            groups[2], ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, size, raw, &count, many));
        double sum = check_addresses(groups[2], many, count, base_address(e, &w));
        ze_device_properties_t p = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
        OK(zeDeviceGetProperties(e->device, &p));
        read_query(queries[1], groups[1], v);
        check_memory_addresses(groups[3], queries[3], base_address(e, &w), groups[1], v);
        double slots =
            (double)p.numSlices * p.numSubslicesPerSlice * p.numEUsPerSubslice * p.numThreadsPerEU;
        double want = threads / 100 * slots * clocks;
        assert_true(sum > want * 0.999 && sum < want * 1.001);
        for (uint32_t i = 0; i < NESTED; i++)
            OK(zetMetricQueryReset(queries[i]));
    }
    for (uint32_t i = 0; i < NESTED; i++) {
        OK(zetMetricQueryDestroy(queries[i]));
        OK(zetMetricQueryPoolDestroy(pools[i]));
    }
    activate(e, NULL);
    free_work(e, &w);
}

/* A streamer by address gives the launches' reports, a few at a time. */
static void test_stream_of_addresses(void **state)
{
    struct e2e *e = *state;
    if (!has_model())
        return;
    struct work w = make_work(e);
    zet_metric_group_handle_t group = streamed(e, "ZscopeStallSampling");
    activate(e, group);
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .samplingPeriod = 100000};
    zet_metric_streamer_handle_t streamer;
    OK(zetMetricStreamerOpen(e->context, e->device, group, &desc, NULL, &streamer));
    uint8_t raw[5 * STALL_REPORT_B];
    size_t size = 0;
    OK(zetMetricStreamerReadData(streamer, UINT32_MAX, &size, NULL));
    assert_true(size >= sizeof(raw) &&
                size % STALL_REPORT_B == 0); /* what may come, not what is there */
    size = sizeof(raw);
    OK(zetMetricStreamerReadData(streamer, UINT32_MAX, &size, raw));
    assert_int_equal(size, 0);
    ze_command_list_handle_t list = e2e_list(e, 0);
    FAILS(zetCommandListAppendMetricStreamerMarker(list, streamer, 1),
          ZE_RESULT_ERROR_UNSUPPORTED_FEATURE); /* a report would have to end there */
    OK(zeCommandListDestroy(list));
    run_queries(e, &w, NULL, 0, 1);
    uint64_t base = base_address(e, &w), last = 0;
    size_t all = 0;
    for (;; all += size) {
        zet_typed_value_t v[5 * STALL_VALUES];
        uint32_t count = COUNT(v);
        size = sizeof(raw);
        OK(zetMetricStreamerReadData(streamer, UINT32_MAX, &size, raw));
        if (!size)
            break;
        OK(zetMetricGroupCalculateMetricValues(
            group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, size, raw, &count, v));
        for (uint32_t i = 0; i < count; i += STALL_VALUES) {
            assert_true(v[i].value.ui64 >= base && v[i].value.ui64 > last);
            last = v[i].value.ui64;
        }
    }
    assert_true(all > sizeof(raw) && all % STALL_REPORT_B == 0);
    OK(zetMetricStreamerClose(streamer));
    activate(e, NULL);
    free_work(e, &w);
}

/* Each group says which it is; without the model nothing of it is there. */
static void test_which_time(void **state)
{
    struct e2e *e = *state;
    zet_metric_group_handle_t groups[64];
    uint32_t count = COUNT(groups), model = 0;
    OK(zetMetricGroupGet(e->device, &count, groups));
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_group_properties_t p = {.stype = ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES};
        OK(zetMetricGroupGetProperties(groups[i], &p));
        assert_non_null(strstr(p.description, has_model() ? "replay" : "formula"));
        model += !strcmp(p.name, "ZscopeStalls") || !strcmp(p.name, "ComputeL3Cache");
    }
    assert_int_equal(model, has_model() ? 4 : 0);
    zet_metric_handle_t metrics[VALUES_MAX];
    count = COUNT(metrics);
    bool ipc = false;
    OK(zetMetricGet(queried(e, "ComputeBasic"), &count, metrics));
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_properties_t p = {.stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES};
        OK(zetMetricGetProperties(metrics[i], &p));
        ipc |= !strcmp(p.name, "EuAvgIpcRate");
    }
    assert_true(ipc == has_model());
}

/* "tiles": the device has two. */
int main(int argc, char **argv)
{
    const struct CMUnitTest of_tiles[] = {cmocka_unit_test(test_stream_tiles)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_activation),
        cmocka_unit_test(test_query),
        cmocka_unit_test(test_many_queries),
        cmocka_unit_test(test_refused_queries),
        cmocka_unit_test(test_stream_totals),
        cmocka_unit_test(test_stream_notifies),
        cmocka_unit_test(test_stream_while_running),
        cmocka_unit_test(test_stream_loses_the_oldest),
        cmocka_unit_test(test_size_of_buffer),
        cmocka_unit_test(test_refused_streamers),
        cmocka_unit_test(test_close_while_running),
        cmocka_unit_test(test_hostile_raw_data),
        cmocka_unit_test(test_model),
        cmocka_unit_test(test_stream_of_addresses),
        cmocka_unit_test(test_which_time),
    };
    int failed = argc > 1 && strcmp(argv[1], "tiles") == 0
                     ? cmocka_run_group_tests(of_tiles, setup, teardown)
                     : 0;
    return failed + cmocka_run_group_tests(tests, setup, teardown);
}
