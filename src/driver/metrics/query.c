/* SPDX-License-Identifier: MIT */
/*
 * Event-based collection: a query is the difference of the device's sums between two commands.
 *
 * Its time is that of the launches between them, as the model has it, not the host's: so a program
 * gives the same numbers in every run. Commands of other queues that run meanwhile count, too, as
 * on hardware.
 */
#include "driver/metrics/metrics.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t QUERIES_MAX = 1u << 20;

enum slot_state { SLOT_IDLE, SLOT_BEGUN, SLOT_ENDED };

/* One place of a pool; its lock is the pool's. */
struct slot {
    enum slot_state state;
    uint64_t begin_ticks;
    uint64_t begin[ZS_METRIC_COUNTERS];
    uint64_t first_kept; /* of groups by address */
    struct zs_metric_report report;
    struct zs_metric_at *places; /* ... reports differ from `report` in these */
    size_t place_count;
};

struct zs_ze_query_pool {
    struct zs_object object;
    struct zs_ze_context *context;
    struct zs_ze_metric_group *group; /* NULL: of execution queries */
    bool skips;                       /* ZET_METRIC_QUERY_POOL_TYPE_EXECUTION */
    uint32_t count;
    _Atomic uint32_t queries; /* handles that live */
    pthread_mutex_t lock;
    struct slot *slots;
};

struct zs_ze_query {
    struct zs_object object;
    struct zs_ze_query_pool *pool;
    uint32_t index;
};

void zs_ze_query_pool_fini(struct zs_ze_query_pool *pool)
{
    pthread_mutex_destroy(&pool->lock);
    for (uint32_t i = 0; i < pool->count && pool->slots; i++)
        free(pool->slots[i].places);
    free(pool->slots);
    zs_object_unref(pool->group);
    zs_object_unref(pool->context);
}

void zs_ze_query_fini(struct zs_ze_query *query)
{
    zs_object_unref(query->pool);
}

ze_result_t ZE_APICALL zetMetricQueryPoolCreate(zet_context_handle_t hContext,
                                                zet_device_handle_t hDevice,
                                                zet_metric_group_handle_t hMetricGroup,
                                                const zet_metric_query_pool_desc_t *desc,
                                                zet_metric_query_pool_handle_t *phMetricQueryPool)
{
    ZS_OBJECT(context, context, hContext);
    ZS_OBJECT(device, device, hDevice);
    ZS_CHECK_MEMBER(context, device);
    ZS_CHECK_POINTER(desc);
    ZS_CHECK_POINTER(phMetricQueryPool);
    ZS_CHECK_ENUM(desc->type, ZET_METRIC_QUERY_POOL_TYPE_EXECUTION);
    ZS_CHECK(desc->type != ZET_METRIC_QUERY_POOL_TYPE_EXECUTION,
             ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "queries that skip execution are not modelled");
    ZS_OBJECT_REF(metric_group, group, hMetricGroup);
    ZS_CHECK(group->device == device, ZE_RESULT_ERROR_INVALID_ARGUMENT,
             "the group is of another device");
    ZS_CHECK(group->sampling == ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED,
             ZE_RESULT_ERROR_INVALID_ARGUMENT, "the group is not event-based");
    ZS_CHECK(desc->count > 0 && desc->count <= QUERIES_MAX, ZE_RESULT_ERROR_INVALID_SIZE,
             "%u queries, 1 to %u can be had", desc->count, QUERIES_MAX);
    struct zs_ze_query_pool *pool = zs_object_new(ZS_OBJECT_query_pool, sizeof(*pool));
    ZS_CHECK(pool, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory");
    pthread_mutex_init(&pool->lock, NULL);
    pool->context = zs_object_ref(context);
    pool->group = zs_object_ref(group);
    pool->count = desc->count;
    pool->slots = calloc(desc->count, sizeof(*pool->slots));
    if (!pool->slots || !zs_object_publish(pool)) {
        zs_object_unref(pool);
        return ZS_REFUSE(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory for %u queries",
                         desc->count);
    }
    *phMetricQueryPool = pool->object.handle;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zetMetricQueryPoolDestroy(zet_metric_query_pool_handle_t hMetricQueryPool)
{
    ZS_OBJECT(query_pool, pool, hMetricQueryPool);
    uint32_t left = atomic_load(&pool->queries);
    if (left)
        zs_log(ZS_LOG_WARN, "zetMetricQueryPoolDestroy: %u queries of the pool were not destroyed",
               left);
    if (!zs_object_retract(pool))
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    zs_object_unref(pool);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zetMetricQueryCreate(zet_metric_query_pool_handle_t hMetricQueryPool,
                                            uint32_t index,
                                            zet_metric_query_handle_t *phMetricQuery)
{
    ZS_OBJECT(query_pool, pool, hMetricQueryPool);
    ZS_CHECK_POINTER(phMetricQuery);
    ZS_CHECK(index < pool->count, ZE_RESULT_ERROR_INVALID_ARGUMENT, "query %u of a pool of %u",
             index, pool->count);
    struct zs_ze_query *query = zs_object_new(ZS_OBJECT_query, sizeof(*query));
    ZS_CHECK(query, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory");
    query->pool = zs_object_ref(pool);
    query->index = index;
    if (!zs_object_publish(query)) {
        zs_object_unref(query);
        return ZS_REFUSE(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory");
    }
    atomic_fetch_add(&pool->queries, 1);
    *phMetricQuery = query->object.handle;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zetMetricQueryDestroy(zet_metric_query_handle_t hMetricQuery)
{
    ZS_OBJECT(query, query, hMetricQuery);
    if (!zs_object_retract(query))
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    atomic_fetch_sub(&query->pool->queries, 1);
    zs_object_unref(query);
    return ZE_RESULT_SUCCESS;
}

static void forget(struct slot *slot)
{
    slot->state = SLOT_IDLE;
    free(slot->places);
    slot->places = NULL;
    slot->place_count = 0;
}

ze_result_t ZE_APICALL zetMetricQueryReset(zet_metric_query_handle_t hMetricQuery)
{
    ZS_OBJECT(query, query, hMetricQuery);
    pthread_mutex_lock(&query->pool->lock);
    forget(&query->pool->slots[query->index]);
    pthread_mutex_unlock(&query->pool->lock);
    return ZE_RESULT_SUCCESS;
}

/* ---- Commands ----------------------------------------------------------------------------------
 */

static void release_query(struct zs_command *command)
{
    zs_object_unref(command->data);
}

static int run_begin(struct zs_exec *exec, struct zs_command *command)
{
    const struct zs_ze_query *query = command->data;
    struct zs_metrics *m = exec->device->metrics;
    struct slot *slot = &query->pool->slots[query->index];
    pthread_mutex_lock(&query->pool->lock);
    pthread_mutex_lock(&m->lock);
    forget(slot);
    slot->state = SLOT_BEGUN;
    slot->first_kept = zs_metric_kept_end(zs_metrics_kept_for(m, query->pool->group->set));
    slot->begin_ticks = zs_gpu_clock_ticks(exec->device->gpu);
    memcpy(slot->begin, m->sums, sizeof(slot->begin));
    pthread_mutex_unlock(&m->lock);
    pthread_mutex_unlock(&query->pool->lock);
    return 0;
}

static void finish(const struct zs_ze_device *device, struct slot *slot,
                   const struct zs_ze_metric_group *group)
{
    struct zs_metric_report *r = &slot->report;
    const struct zs_metrics *m = device->metrics;
    *r = (struct zs_metric_report){.set = group->set,
                                   .begin_ticks = slot->begin_ticks,
                                   .end_ticks = zs_gpu_clock_ticks(device->gpu)};
    for (uint32_t i = 0; i < ZS_METRIC_COUNTERS; i++)
        r->counters[i] = m->sums[i] - slot->begin[i];
    zs_metric_report_time(device->model, r);
    const struct zs_metric_kept *kept = zs_metrics_kept_for(m, group->set);
    if (kept) {
        bool lost;
        slot->places = zs_metrics_kept(kept, slot->first_kept, &slot->place_count, &lost);
        r->flags |= lost ? (uint32_t)ZS_RAW_LOST : 0u;
    }
    slot->state = SLOT_ENDED;
}

/* Reports of an ended slot: one, or one for each address. */
static size_t report_count(const struct slot *slot)
{
    return zs_metric_is_by_address(slot->report.set) ? slot->place_count : 1;
}

static void write_reports(const struct slot *slot, uint8_t *to)
{
    struct zs_metric_report report = slot->report;
    for (size_t i = 0; i < report_count(slot); i++) {
        if (slot->places)
            zs_metric_report_at(&report, &slot->places[i]);
        zs_metric_report_write(&report, to + i * zs_metric_report_B(report.set));
    }
}

static int run_end(struct zs_exec *exec, struct zs_command *command)
{
    const struct zs_ze_query *query = command->data;
    struct slot *slot = &query->pool->slots[query->index];
    pthread_mutex_lock(&query->pool->lock);
    if (slot->state == SLOT_BEGUN) {
        pthread_mutex_lock(&exec->device->metrics->lock);
        finish(exec->device, slot, query->pool->group);
        pthread_mutex_unlock(&exec->device->metrics->lock);
    } else {
        zs_log(ZS_LOG_WARN, "metric query %u ends without having begun", query->index);
    }
    pthread_mutex_unlock(&query->pool->lock);
    return 0;
}

static const struct zs_op op_begin = {
    .name = "metric query begin", .run = run_begin, .release = release_query};
static const struct zs_op op_end = {
    .name = "metric query end", .run = run_end, .release = release_query};

/* The device counts. */
static ze_result_t check(const char *function, const struct zs_ze_query *query,
                         const struct zs_ze_list *list)
{
    if (query->pool->group->device != list->device)
        return zs_refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, function,
                         "the query is of another device than the list");
    if (list->ordinal != ZS_ORDINAL_COMPUTE)
        return zs_refuse(ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE, function,
                         "the list is of the copy group, which has no metrics");
    struct zs_metrics *m = list->device->metrics;
    const struct zs_ze_metric_group *group = query->pool->group;
    pthread_mutex_lock(&m->lock);
    bool active = m->active[group->domain] == group;
    pthread_mutex_unlock(&m->lock);
    if (!active && !zs_lets_pass(function, "the query's metric group is not active"))
        return ZE_RESULT_ERROR_NOT_AVAILABLE;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zetCommandListAppendMetricQueryBegin(zet_command_list_handle_t hCommandList,
                                                            zet_metric_query_handle_t hMetricQuery)
{
    ZS_OBJECT(list, list, hCommandList);
    ZS_OBJECT(query, query, hMetricQuery);
    struct zs_append append;
    ze_result_t result = check(__func__, query, list);
    if (result == ZE_RESULT_SUCCESS)
        result = zs_append_begin(__func__, hCommandList, NULL, 0, NULL, &append);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    append.command.op = &op_begin;
    append.command.data = zs_object_ref(query);
    return zs_append_end(&append);
}

ze_result_t ZE_APICALL zetCommandListAppendMetricQueryEnd(zet_command_list_handle_t hCommandList,
                                                          zet_metric_query_handle_t hMetricQuery,
                                                          ze_event_handle_t hSignalEvent,
                                                          uint32_t numWaitEvents,
                                                          ze_event_handle_t *phWaitEvents)
{
    ZS_OBJECT(list, list, hCommandList);
    ZS_OBJECT(query, query, hMetricQuery);
    struct zs_append append;
    ze_result_t result = check(__func__, query, list);
    if (result == ZE_RESULT_SUCCESS)
        result = zs_append_begin(__func__, hCommandList, hSignalEvent, numWaitEvents, phWaitEvents,
                                 &append);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    append.command.op = &op_end;
    append.command.data = zs_object_ref(query);
    return zs_append_end(&append);
}

static const struct zs_op op_barrier = {.name = "metric memory barrier"};

ze_result_t ZE_APICALL
zetCommandListAppendMetricMemoryBarrier(zet_command_list_handle_t hCommandList)
{
    ZS_OBJECT(list, list, hCommandList);
    struct zs_append append;
    ze_result_t result = zs_append_begin(__func__, hCommandList, NULL, 0, NULL, &append);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    append.command.op = &op_barrier;
    return zs_append_end(&append);
}

/* ---- Data --------------------------------------------------------------------------------------
 */

ze_result_t ZE_APICALL zetMetricQueryGetData(zet_metric_query_handle_t hMetricQuery,
                                             size_t *pRawDataSize, uint8_t *pRawData)
{
    ZS_OBJECT(query, query, hMetricQuery);
    ZS_CHECK_POINTER(pRawDataSize);
    ze_result_t result = ZE_RESULT_SUCCESS;
    uint32_t set = query->pool->group->set;
    bool asked = *pRawDataSize == 0;
    size_t size_B = zs_metric_report_B(set);
    pthread_mutex_lock(&query->pool->lock);
    const struct slot *slot = &query->pool->slots[query->index];
    bool ended = slot->state == SLOT_ENDED;
    if (ended)
        size_B = zs_metric_report_B(set) * report_count(slot);
    if (asked) /* how many addresses there are is known when it has ended */
        result = ended || !zs_metric_is_by_address(set) ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
    else if (*pRawDataSize < size_B)
        result = zs_refuse(ZE_RESULT_ERROR_INVALID_SIZE, __func__, "%zu bytes, there are %zu",
                           *pRawDataSize, size_B);
    else if (!ended)
        result = ZE_RESULT_NOT_READY;
    else if (pRawData)
        write_reports(slot, pRawData);
    pthread_mutex_unlock(&query->pool->lock);
    if (result == ZE_RESULT_SUCCESS)
        *pRawDataSize = size_B;
    return result;
}
