/* SPDX-License-Identifier: MIT */
#include "collect/walk_metrics.h"

#include "store/activity.h"
#include "store/counts_file.h"
#include "store/pb.h"
#include "store/store.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_MAX_B = 1024, RECORD_B = 6 * TEXT_MAX_B };
static const uint64_t FILE_MAX_B = 512u << 20;

void zs_walk_metrics_ask(struct zs_collector *c)
{
    const char *names = getenv(ZS_ENV_COLLECT_METRICS);
    void *function = names && *names ? dlsym(RTLD_DEFAULT, ZESCOPE_SET_WALK_METRICS_NAME) : NULL;
    zescope_pfnSetWalkMetrics_t set_metrics;
    if (!function)
        return;
    memcpy(&set_metrics, &function, sizeof(set_metrics));
    uint32_t asked = 1;
    for (const char *at = names; (at = strchr(at, '\n')); at++)
        asked += at[1] != '\0';
    uint32_t known = set_metrics(names);
    if (known < asked)
        zs_session_note(c, ZS_NOTE_NO_METRICS ": the device has %u of the %u groups", known, asked);
}

/* False, with a note: nothing is kept from now on. */
static bool fail(struct zs_walk_metrics *m, struct zs_collector *c, const char *why)
{
    m->has_failed = true;
    zs_session_note(c, ZS_NOTE_NO_METRICS ": %s", why);
    return false;
}

static bool put(struct zs_walk_metrics *m, struct zs_collector *c, const void *data, size_t size_B)
{
    if (m->has_failed)
        return false;
    if (m->size_B + size_B > FILE_MAX_B)
        return fail(m, c, "those of later launches do not fit");
    for (const uint8_t *at = data; size_B;) {
        ssize_t n = write(m->fd - 1, at, size_B);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return fail(m, c, strerror(n ? errno : ENOSPC));
        at += n;
        size_B -= (size_t)n;
        m->size_B += (uint64_t)n;
    }
    return true;
}

static bool put_record(struct zs_walk_metrics *m, struct zs_collector *c, const uint8_t *record,
                       const struct zs_pb *pb)
{
    uint32_t size_B = (uint32_t)(pb->at - record);
    return !pb->full && put(m, c, &size_B, sizeof(size_B)) && put(m, c, record, size_B);
}

static bool open_file(struct zs_walk_metrics *m, struct zs_collector *c)
{
    char path[ZS_COLLECT_PATH_CHARS], prefix[ZS_COLLECT_PREFIX_CHARS];
    uint8_t header[16] = {0};
    uint32_t ordinal, pid = (uint32_t)getpid();
    if (m->fd || m->has_failed)
        return !m->has_failed;
    int error = zs_collect_prefix(c, prefix);
    int n = snprintf(path, sizeof(path), "%s/" ZS_RECORD_COUNTS_DIR "/%s0%s", c->dir, prefix,
                     ZS_WALK_METRICS_SUFFIX);
    int fd = error || n < 0 || (size_t)n >= sizeof(path)
                 ? -1
                 : open(path, O_CREAT | O_EXCL | O_WRONLY | O_APPEND | O_CLOEXEC, 0644);
    if (fd < 0)
        return fail(m, c, strerror(error ? -error : errno));
    m->fd = fd + 1;
    ordinal = zs_collect_ordinal(c, &ordinal) ? 0 : ordinal + 1;
    memcpy(header, ZS_WALK_METRICS_MAGIC, 8);
    memcpy(header + 8, &pid, sizeof(pid));
    memcpy(header + 12, &ordinal, sizeof(ordinal));
    return put(m, c, header, sizeof(header));
}

static void put_text(struct zs_pb *pb, uint32_t field, const char *text)
{
    size_t length = strnlen(text, TEXT_MAX_B);
    if (length)
        zs_pb_bytes(pb, field, text, length);
}

static bool describe(struct zs_walk_metrics *m, struct zs_collector *c,
                     const zescope_walk_group_t *g, uint32_t id)
{
    uint8_t record[RECORD_B];
    struct zs_pb pb = zs_pb_make(record, sizeof(record));
    zs_pb_u64(&pb, ZS_ACT_TYPE, ZS_ACT_METRIC_GROUP);
    zs_pb_u64(&pb, ZS_ACT_ID, id);
    put_text(&pb, ZS_ACT_NAME, g->name);
    put_text(&pb, ZS_ACT_DESCRIPTION, g->description);
    zs_pb_u64(&pb, ZS_ACT_DOMAIN, g->domain);
    zs_pb_u64(&pb, ZS_ACT_COUNT, g->metric_count);
    bool ok = put_record(m, c, record, &pb);
    for (uint32_t i = 0; i < g->metric_count && ok; i++) {
        const zescope_walk_metric_t *metric = &g->metrics[i];
        pb = zs_pb_make(record, sizeof(record));
        zs_pb_u64(&pb, ZS_ACT_TYPE, ZS_ACT_METRIC);
        zs_pb_u64(&pb, ZS_ACT_ID, (uint64_t)i + 1);
        zs_pb_u64(&pb, ZS_ACT_GROUP_ID, id);
        put_text(&pb, ZS_ACT_NAME, metric->name);
        put_text(&pb, ZS_ACT_DESCRIPTION, metric->description);
        put_text(&pb, ZS_ACT_COMPONENT, metric->component);
        put_text(&pb, ZS_ACT_UNITS, metric->unit);
        zs_pb_u64(&pb, ZS_ACT_METRIC_TYPE, metric->type);
        zs_pb_u64(&pb, ZS_ACT_VALUE_TYPE, metric->value_type);
        zs_pb_u64(&pb, ZS_ACT_TIER, metric->tier);
        ok = put_record(m, c, record, &pb);
    }
    return ok;
}

static bool is_described(const struct zs_walk_metrics *m, uint32_t at,
                         const zescope_walk_group_t *g)
{
    bool same = m->groups[at].metric_count == g->metric_count;
    for (uint32_t i = 0; i < g->metric_count && same; i++)
        same = m->groups[at].names[i] == g->metrics[i].name;
    return same;
}

/* Its id, described in the file by now; 0: it cannot be. */
static uint32_t id_of(struct zs_walk_metrics *m, struct zs_collector *c,
                      const zescope_walk_group_t *g)
{
    uint32_t at = 0;
    while (at < m->group_count && !is_described(m, at, g))
        at++;
    if (at < m->group_count)
        return ZS_WALK_METRICS_IDS + at;
    if (at == ZS_WALK_GROUPS_MAX || g->metric_count > ZS_WALK_METRICS_MAX ||
        !describe(m, c, g, ZS_WALK_METRICS_IDS + at))
        return 0;
    m->groups[at].metric_count = g->metric_count;
    for (uint32_t i = 0; i < g->metric_count; i++)
        m->groups[at].names[i] = g->metrics[i].name;
    m->group_count++;
    return ZS_WALK_METRICS_IDS + at;
}

void zs_walk_metrics_put(struct zs_walk_metrics *m, struct zs_collector *c, uint32_t number,
                         const zescope_walk_info_t *info)
{
    for (uint32_t i = 0; i < info->group_count && open_file(m, c); i++) {
        const zescope_walk_group_t *g = &info->groups[i];
        uint32_t id = id_of(m, c, g);
        size_t values_B = (size_t)g->set_count * g->metric_count * 8, room_B = values_B + 128;
        uint8_t *record = id && values_B ? malloc(room_B) : NULL;
        if (!record)
            continue;
        struct zs_pb pb = zs_pb_make(record, room_B);
        zs_pb_u64(&pb, ZS_ACT_TYPE, ZS_ACT_QUERY);
        zs_pb_u64(&pb, ZS_ACT_ID, number);
        zs_pb_u64(&pb, ZS_ACT_START_NS, info->start_ticks);
        zs_pb_u64(&pb, ZS_ACT_GROUP_ID, id);
        zs_pb_bytes(&pb, ZS_ACT_VALUES, g->values, values_B);
        put_record(m, c, record, &pb);
        free(record);
    }
}
