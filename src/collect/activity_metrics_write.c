/* SPDX-License-Identifier: MIT */
/* Records of metrics (store/activity.h) into a trace file. */
#include "collect/activity_metrics.h"

#include "store/pb.h"

#include <string.h>

enum { TEXT_MAX_B = 1024, RAW_PART_B = 6 << 10 };

struct record {
    struct zs_trace_file *file;
    uint64_t now_ns;
    uint8_t *start;
    struct zs_pb pb;
};

static bool begin(struct record *r, struct zs_trace_file *file, enum zs_activity_record type)
{
    r->file = file;
    r->now_ns = file ? zs_trace_file_now_ns(file) : 0;
    r->start = file ? zs_trace_record_open(file, r->now_ns) : NULL;
    if (!r->start)
        return false;
    r->pb = zs_pb_make(r->start, ZS_TRACE_CALL_MAX_B);
    zs_pb_u64(&r->pb, ZS_ACT_TYPE, type);
    return true;
}

static void end(struct record *r)
{
    zs_trace_call_close(r->file, r->now_ns, r->pb.full ? 0 : (size_t)(r->pb.at - r->start));
}

/* Of an array that a driver filled: it may lack its end. */
static void put_text(struct record *r, uint32_t field, const char *text, size_t size_B)
{
    size_t length = strnlen(text, ZS_MIN(size_B, (size_t)TEXT_MAX_B));
    if (length)
        zs_pb_bytes(&r->pb, field, text, length);
}

static void put_number(struct record *r, uint32_t field, uint64_t value)
{
    if (value)
        zs_pb_u64(&r->pb, field, value);
}

void act_write_metric_group(struct zs_trace_file *file, const struct meter_device *device,
                            const struct meter_group *group, const zet_metric_group_properties_t *p)
{
    struct record r;
    if (!begin(&r, file, ZS_ACT_METRIC_GROUP))
        return;
    zs_pb_u64(&r.pb, ZS_ACT_ID, group->id);
    put_number(&r, ZS_ACT_DEVICE_ID, device->device->id);
    put_text(&r, ZS_ACT_NAME, p->name, sizeof(p->name));
    put_text(&r, ZS_ACT_DESCRIPTION, p->description, sizeof(p->description));
    put_number(&r, ZS_ACT_DOMAIN, p->domain);
    put_number(&r, ZS_ACT_SAMPLING, group->sampling);
    put_number(&r, ZS_ACT_COUNT, group->metric_count);
    end(&r);
}

void act_write_metric(struct zs_trace_file *file, const struct meter_group *group, uint32_t number,
                      const zet_metric_properties_t *p)
{
    struct record r;
    if (!begin(&r, file, ZS_ACT_METRIC))
        return;
    zs_pb_u64(&r.pb, ZS_ACT_ID, (uint64_t)number + 1);
    zs_pb_u64(&r.pb, ZS_ACT_GROUP_ID, group->id);
    put_text(&r, ZS_ACT_NAME, p->name, sizeof(p->name));
    put_text(&r, ZS_ACT_DESCRIPTION, p->description, sizeof(p->description));
    put_text(&r, ZS_ACT_COMPONENT, p->component, sizeof(p->component));
    put_text(&r, ZS_ACT_UNITS, p->resultUnits, sizeof(p->resultUnits));
    put_number(&r, ZS_ACT_METRIC_TYPE, (uint32_t)p->metricType);
    put_number(&r, ZS_ACT_VALUE_TYPE, (uint32_t)p->resultType);
    put_number(&r, ZS_ACT_TIER, p->tierNumber);
    end(&r);
}

static uint64_t number_of(const zet_typed_value_t *v)
{
    double number = 0;
    uint64_t bits;
    switch (v->type) {
    case ZET_VALUE_TYPE_UINT32:
        return v->value.ui32;
    case ZET_VALUE_TYPE_BOOL8:
        return v->value.b8 != 0;
    case ZET_VALUE_TYPE_FLOAT32:
        number = (double)v->value.fp32;
        break;
    case ZET_VALUE_TYPE_FLOAT64:
        number = v->value.fp64;
        break;
    default:
        return v->value.ui64;
    }
    memcpy(&bits, &number, sizeof(bits));
    return bits;
}

static void put_values(struct record *r, const zet_typed_value_t *values, uint32_t count)
{
    if (!count)
        return;
    zs_pb_varint(&r->pb, (uint64_t)ZS_ACT_VALUES << 3 | 2);
    zs_pb_varint(&r->pb, (uint64_t)count * 8);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t value = number_of(&values[i]);
        zs_pb_raw(&r->pb, &value, sizeof(value));
    }
}

static void write_part(struct zs_trace_file *file, const struct meter_group *group, uint64_t append,
                       uint64_t submit_ns, struct zs_span raw, const zet_typed_value_t *values,
                       uint32_t count, uint32_t part)
{
    struct record r;
    if (!begin(&r, file, ZS_ACT_QUERY))
        return;
    put_number(&r, ZS_ACT_PART, part);
    zs_pb_u64(&r.pb, ZS_ACT_ID, append);
    zs_pb_u64(&r.pb, ZS_ACT_SUBMIT_NS, submit_ns);
    zs_pb_u64(&r.pb, ZS_ACT_GROUP_ID, group->id);
    put_values(&r, values, count);
    /* where both do not fit, what can be shown is kept */
    if (raw.size_B && raw.size_B + 16 < (size_t)(r.pb.end - r.pb.at))
        zs_pb_bytes(&r.pb, ZS_ACT_RAW, raw.data, raw.size_B);
    end(&r);
}

/* As many sets of values in a record as fit. */
void act_write_query(struct zs_trace_file *file, const struct meter_group *group, uint64_t append,
                     uint64_t submit_ns, struct zs_span raw, const zet_typed_value_t *values,
                     uint32_t count)
{
    uint32_t set = ZS_MAX(group->metric_count, 1u);
    uint32_t at_once = ZS_MAX(RAW_PART_B / 8 / set, 1u) * set, part = 0;
    for (uint32_t at = 0; at < count; at += at_once, part++)
        write_part(file, group, append, submit_ns, part ? zs_span_make(NULL, 0) : raw, values + at,
                   ZS_MIN(at_once, count - at), part);
    if (!count)
        write_part(file, group, append, submit_ns, raw, NULL, 0, 0);
}

void act_write_samples(struct zs_trace_file *file, const struct meter_group *group,
                       uint64_t time_ns, struct zs_span raw, bool lost)
{
    struct record r;
    for (size_t at_B = 0; at_B < raw.size_B; at_B += RAW_PART_B) {
        if (!begin(&r, file, ZS_ACT_SAMPLES))
            return;
        zs_pb_u64(&r.pb, ZS_ACT_GROUP_ID, group->id);
        zs_pb_u64(&r.pb, ZS_ACT_START_NS, time_ns);
        put_number(&r, ZS_ACT_LOST, lost && !at_B);
        zs_pb_bytes(&r.pb, ZS_ACT_RAW, raw.data + at_B,
                    ZS_MIN(raw.size_B - at_B, (size_t)RAW_PART_B));
        end(&r);
    }
}

void act_write_sample(struct zs_trace_file *file, const struct meter_group *group,
                      uint64_t start_ns, uint64_t end_ns, const zet_typed_value_t *values,
                      uint32_t count)
{
    struct record r;
    if (!begin(&r, file, ZS_ACT_SAMPLE))
        return;
    zs_pb_u64(&r.pb, ZS_ACT_GROUP_ID, group->id);
    put_number(&r, ZS_ACT_START_NS, start_ns);
    put_number(&r, ZS_ACT_END_NS, end_ns);
    put_values(&r, values, count);
    end(&r);
}

void act_write_unmeasured(struct zs_trace_file *file, const char *reason, uint64_t count)
{
    struct record r;
    if (!begin(&r, file, ZS_ACT_UNMEASURED))
        return;
    zs_pb_u64(&r.pb, ZS_ACT_COUNT, count);
    zs_pb_text(&r.pb, ZS_ACT_DESCRIPTION, reason);
    end(&r);
}
