/* SPDX-License-Identifier: MIT */
/* Groups of devices: which are wanted, what they are, which are active. See activity_metrics.h. */
#include "collect/activity_metrics.h"

#include <zescope/driver_ext.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define ARG(type, i) (*(type *)event->params[i])

/* One name a line. */
static void take_names(struct act_meter *m, const char *lines)
{
    while (*lines && m->name_count < METER_GROUPS_MAX) {
        size_t length = strcspn(lines, "\n");
        if (length && length < sizeof(m->names[0])) {
            memcpy(m->names[m->name_count], lines, length);
            m->names[m->name_count++][length] = '\0';
        }
        lines += length + (lines[length] == '\n');
    }
}

struct act_meter *act_meter_create(void)
{
    const char *names = getenv(ZS_ENV_COLLECT_METRICS), *run = getenv(ZS_ENV_COLLECT_METRICS_RUN);
    const char *period = getenv(ZS_ENV_COLLECT_METRICS_PERIOD);
    bool is_below = dlsym(RTLD_DEFAULT, ZESCOPE_SET_WALK_METRICS_NAME) != NULL; /* walk_metrics.h */
    struct act_meter *m = names && names[0] && !is_below ? calloc(1, sizeof(*m)) : NULL;
    if (!m)
        return NULL;
    take_names(m, names);
    m->run = run ? (uint32_t)strtoul(run, NULL, 10) : 0;
    m->period_ns = period ? strtoull(period, NULL, 10) : 0;
    pthread_mutex_init(&m->prepare_lock, NULL);
    return m;
}

static bool has_functions(const struct zs_collect_api *api, bool streams)
{
    bool common = api->zetMetricGroupGet && api->zetMetricGroupGetProperties && api->zetMetricGet &&
                  api->zetMetricGetProperties && api->zetContextActivateMetricGroups &&
                  api->zetMetricGroupCalculateMetricValues && api->zeContextCreate;
    if (streams)
        return common && api->zetMetricStreamerOpen && api->zetMetricStreamerClose &&
               api->zetMetricStreamerReadData;
    return common && api->zetMetricQueryPoolCreate && api->zetMetricQueryPoolDestroy &&
           api->zetMetricQueryCreate && api->zetMetricQueryDestroy && api->zetMetricQueryReset &&
           api->zetMetricQueryGetData && api->zetCommandListAppendMetricQueryBegin &&
           api->zetCommandListAppendMetricQueryEnd;
}

/* ---- what there is ---- */

static zet_metric_handle_t *metrics_of(const struct zs_collect_api *api,
                                       zet_metric_group_handle_t group, uint32_t *ret_count)
{
    zet_metric_handle_t *metrics = NULL;
    *ret_count = 0;
    if (api->zetMetricGet(group, ret_count, NULL) || !*ret_count ||
        *ret_count > METER_OBJECTS_MAX || !(metrics = calloc(*ret_count, sizeof(*metrics))) ||
        api->zetMetricGet(group, ret_count, metrics)) {
        free(metrics);
        *ret_count = 0;
        return NULL;
    }
    return metrics;
}

static void describe(struct zs_activity *a, struct zs_trace_file *file,
                     const struct meter_device *d, struct meter_group *group,
                     const zet_metric_group_properties_t *properties)
{
    const struct zs_collect_api *api = &a->collector->api;
    uint32_t count;
    zet_metric_handle_t *metrics = metrics_of(api, group->handle, &count);
    group->metric_count = count;
    group->timestamp = group->time = UINT32_MAX;
    act_write_metric_group(file, d, group, properties);
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_properties_t p = {.stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES};
        if (api->zetMetricGetProperties(metrics[i], &p))
            memset(p.name, 0, sizeof(p.name));
        group->has_places |= p.metricType == ZET_METRIC_TYPE_IP_EXP;
        bool in_ns = !strncmp(p.resultUnits, "ns", sizeof(p.resultUnits));
        if (in_ns && p.metricType == ZET_METRIC_TYPE_TIMESTAMP && group->timestamp == UINT32_MAX)
            group->timestamp = i;
        if (in_ns && p.metricType == ZET_METRIC_TYPE_DURATION && group->time == UINT32_MAX)
            group->time = i;
        act_write_metric(file, group, i, &p);
    }
    free(metrics);
}

static uint32_t sampling_of(const struct act_meter *m)
{
    return m->period_ns ? ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED
                        : ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED;
}

/* The software GPU has its groups a second time, with how far modelled values may be off. */
static zet_metric_group_handle_t with_doubt(struct zs_activity *a, zet_metric_group_handle_t group)
{
    void *function = act_driver_function(a, ZESCOPE_METRIC_GROUP_WITH_DOUBT_NAME);
    zescope_pfnMetricGroupWithDoubt_t get;
    zet_metric_group_handle_t doubting = NULL;
    memcpy(&get, &function, sizeof(get));
    return get && !get(group, &doubting) && doubting ? doubting : group;
}

/* A group belongs to the set that comes behind those that have one of its domain before it. */
static void add_group(struct zs_activity *a, struct zs_trace_file *file, struct meter_device *d,
                      zet_metric_group_handle_t handle,
                      const zet_metric_group_properties_t *properties)
{
    struct meter_group *group = &d->groups[d->group_count];
    *group = (struct meter_group){.handle = with_doubt(a, handle),
                                  .listed = handle,
                                  .domain = properties->domain,
                                  .sampling = sampling_of(a->meter),
                                  .id = ++a->meter->next_group};
    for (uint32_t i = 0; i < d->group_count; i++)
        group->set += d->groups[i].domain == group->domain;
    d->group_count++;
    d->set_count = ZS_MAX(d->set_count, group->set + 1);
    describe(a, file, d, group, properties);
}

/* Names of the groups that can be had, for the sentence that another cannot. */
static void list_names(char *text, size_t size_B, const char *name)
{
    size_t length = strlen(text);
    if (strstr(text, name) || strstr(text, ", ..."))
        return;
    bool fits = length + strlen(name) + 8 < size_B;
    snprintf(text + length, size_B - length, "%s%s", length ? ", " : "", fits ? name : "...");
}

static bool has_group(const struct meter_device *d, zet_metric_group_handle_t handle)
{
    for (uint32_t i = 0; i < d->group_count; i++)
        if (d->groups[i].listed == handle)
            return true;
    return false;
}

/* What to ask instead for a group that is there, but of the other kind. */
static void note_lacking(struct zs_activity *a, const char *name, bool is_other_kind,
                         const char *names)
{
    bool by_time = a->meter->period_ns != 0;
    if (is_other_kind)
        zs_session_note(a->collector, ZS_NOTE_OTHER_COMMAND ": '%.200s' is %s %.200s", name,
                        by_time ? "measured by launch: zescope record --metrics"
                                : "sampled over time: zescope metrics stream -g",
                        name);
    else
        zs_session_note(a->collector,
                        ZS_NOTE_NO_METRICS ": it has no %s group '%.200s'; it has: %s",
                        by_time ? "time-based" : "event-based", name, names);
}

static void find_groups(struct zs_activity *a, struct zs_trace_file *file, struct meter_device *d)
{
    const struct zs_collect_api *api = &a->collector->api;
    const struct act_meter *m = a->meter;
    const char *enabled = getenv("ZET_ENABLE_METRICS");
    uint32_t count = 0;
    char names[320] = "";
    zet_metric_group_handle_t *handles = NULL;
    if (api->zetMetricGroupGet(d->device->handle, &count, NULL) || !count ||
        count > METER_OBJECTS_MAX || !(handles = calloc(count, sizeof(*handles))) ||
        api->zetMetricGroupGet(d->device->handle, &count, handles)) {
        zs_session_note(a->collector, ZS_NOTE_NO_METRICS ": %s",
                        enabled && !strcmp(enabled, "1")
                            ? "its driver offers no metric groups"
                            : "ZET_ENABLE_METRICS is not 1 in the application's environment");
        free(handles);
        return;
    }
    for (uint32_t n = 0; n < m->name_count; n++) {
        bool known = false, is_other_kind = false;
        for (uint32_t i = 0; i < count && !known; i++) {
            zet_metric_group_properties_t p = {.stype = ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES};
            if (api->zetMetricGroupGetProperties(handles[i], &p))
                continue;
            p.name[sizeof(p.name) - 1] = '\0';
            if (!(p.samplingType & sampling_of(m))) {
                is_other_kind |= !strcasecmp(p.name, m->names[n]);
                continue;
            }
            list_names(names, sizeof(names), p.name);
            known = !strcasecmp(p.name, m->names[n]);
            if (known && !has_group(d, handles[i]))
                add_group(a, file, d, handles[i], &p);
        }
        if (!known)
            note_lacking(a, m->names[n], is_other_kind, names);
    }
    free(handles);
}

/* ---- activation ---- */

bool act_meter_activate(struct zs_activity *a, struct meter_device *d, uint32_t set)
{
    zet_metric_group_handle_t groups[METER_GROUPS_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; i < d->group_count; i++)
        if (d->groups[i].set == set)
            groups[count++] = d->groups[i].handle;
    ze_result_t result = a->collector->api.zetContextActivateMetricGroups(
        d->context, d->device->handle, count, groups);
    d->is_ready = !result && count;
    d->active = set;
    if (result)
        zs_session_note(a->collector,
                        ZS_NOTE_NO_METRICS ": its groups cannot be activated (%#x): another "
                                           "process may use them, or rights are missing",
                        (unsigned)result);
    return d->is_ready;
}

void act_meter_submit(struct zs_activity *a, const struct act_list *list)
{
    struct meter_device *d = list->device ? list->device->meter : NULL;
    if (d && d->is_ready && !d->is_yielded && list->has_set && list->set != d->active &&
        !d->under_way)
        act_meter_activate(a, d, list->set);
}

static void prepare(struct zs_activity *a, struct zs_trace_file *file, struct meter_device *d)
{
    const struct zs_collect_api *api = &a->collector->api;
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_driver_handle_t driver = zs_collect_driver_of(a->collector, d->device->handle);
    uint32_t set = a->meter->run ? a->meter->run - 1 : 0;
    if (!has_functions(api, a->meter->period_ns)) {
        zs_session_note(a->collector,
                        ZS_NOTE_NO_METRICS ": the Level Zero loader has no calls for it");
        return;
    }
    find_groups(a, file, d);
    if (!d->group_count || set >= d->set_count)
        return;
    if (!driver || api->zeContextCreate(driver, &desc, &d->context)) {
        zs_session_note(a->collector, ZS_NOTE_NO_METRICS ": no context could be made");
        return;
    }
    if (act_meter_activate(a, d, set) && a->meter->period_ns)
        act_streams_open(a, d);
}

void act_meter_prepare(struct zs_activity *a, struct zs_activity_thread *self,
                       const struct zs_trace_event *event)
{
    int cancel_state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    pthread_mutex_lock(&a->meter->prepare_lock);
    act_relock(a, self->file);
    struct act_device *device = act_find(a, ACT_DEVICE, ARG(ze_device_handle_t, 1));
    bool is_new = device && !device->meter;
    act_unlock(a);
    struct meter_device *d = is_new ? calloc(1, sizeof(*d)) : NULL;
    if (d) {
        d->device = device;
        prepare(a, self->file, d);
        act_relock(a, self->file);
        device->meter = d;
        d->next = a->meter->devices;
        a->meter->devices = d;
        act_unlock(a);
    }
    pthread_mutex_unlock(&a->meter->prepare_lock);
    pthread_setcancelstate(cancel_state, NULL);
}

static struct meter_device *find_device(struct zs_activity *a, ze_device_handle_t handle)
{
    act_relock(a, NULL);
    const struct act_device *device = act_find(a, ACT_DEVICE, handle);
    struct meter_device *d = device ? device->meter : NULL;
    act_unlock(a);
    return d;
}

/* What is ours must be out of the way before: it could make the application's call fail. */
void act_meter_activate_enter(struct zs_activity *a, const struct zs_trace_event *event)
{
    struct meter_device *d = find_device(a, ARG(ze_device_handle_t, 1));
    if (!d || !d->is_ready)
        return;
    act_relock(a, NULL);
    d->is_yielded = true;
    act_unlock(a);
    if (a->meter->period_ns)
        act_streams_close(a, d);
}

void act_meter_activate_exit(struct zs_activity *a, const struct zs_trace_event *event)
{
    struct meter_device *d = find_device(a, ARG(ze_device_handle_t, 1));
    if (!d || !d->is_yielded || *event->result || ARG(uint32_t, 2))
        return;
    act_relock(a, NULL);
    d->is_yielded = !act_meter_activate(a, d, d->active);
    act_unlock(a);
    if (!d->is_yielded && a->meter->period_ns)
        act_streams_open(a, d);
}
