/* SPDX-License-Identifier: MIT */
/* The tables of kernels.h as text, CSV and JSON. */
#include "report/calls.h"
#include "report/kernels.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool is_copy(const struct zs_activity_row *r)
{
    return r->kind == ZS_ACTIVITY_COPY || r->kind == ZS_ACTIVITY_FILL;
}

static bool in_table(const struct zs_activity_row *r, enum zs_report_table table)
{
    return table == ZS_REPORT_KERNELS ? r->kind == ZS_ACTIVITY_KERNEL
                                      : r->kind != ZS_ACTIVITY_KERNEL;
}

/* "32x1x1 of 64x1x1": groups of their size. */
static void shape_text(const struct zs_activity_row *r, char *ret_text, size_t size_B)
{
    char groups[40] = "n/a", size[40] = "n/a";
    if (r->groups[0])
        snprintf(groups, sizeof(groups), "%ux%ux%u", r->groups[0], r->groups[1], r->groups[2]);
    if (r->size[0])
        snprintf(size, sizeof(size), "%ux%ux%u", r->size[0], r->size[1], r->size[2]);
    snprintf(ret_text, size_B, "%s of %s", groups, size);
}

static void duration(struct zs_buf *out, bool known, uint64_t ns)
{
    if (known)
        zs_format_duration(out, ns);
    else
        zs_buf_printf(out, "%9s", "n/a");
    zs_buf_puts(out, "  ");
}

static void rows_text(const struct zs_device_report *report, enum zs_report_table table,
                      const char *bold, const char *plain, struct zs_buf *out)
{
    bool kernels = table == ZS_REPORT_KERNELS;
    zs_buf_printf(out, "%s%9s  %9s  %9s  %9s  %9s  %9s  %9s  %s%s\n", bold, "total", "count",
                  "mean", "min", "max", "to submit", "to start",
                  kernels ? "kernel  (groups of size, SIMD)" : "bytes, direction", plain);
    for (size_t i = 0; i < report->rows.count; i++) {
        const struct zs_activity_row *r = &report->rows.items[i];
        if (!in_table(r, table))
            continue;
        uint64_t timed = ZS_MAX(r->timed, 1u);
        duration(out, r->timed, r->total_ns);
        zs_buf_printf(out, "%9" PRIu64 "  ", r->count);
        duration(out, r->timed, r->total_ns / timed);
        duration(out, r->timed, r->min_ns);
        duration(out, r->timed, r->max_ns);
        duration(out, r->timed, r->append_ns / timed);
        duration(out, r->timed, r->wait_ns / timed);
        char shape[96];
        shape_text(r, shape, sizeof(shape));
        if (kernels && r->simd)
            zs_buf_printf(out, "%s  (%s, SIMD %" PRIu64 ")\n", r->name, shape, r->simd);
        else if (kernels)
            zs_buf_printf(out, "%s  (%s, SIMD n/a)\n", r->name, shape);
        else if (r->has_bytes)
            zs_buf_printf(out, "%" PRIu64 " B %s\n", r->bytes, r->name);
        else
            zs_buf_printf(out, "%s%s\n", is_copy(r) ? "n/a " : "", r->name);
    }
}

static void memory_text(const struct zs_device_report *report, const char *bold, const char *plain,
                        struct zs_buf *out)
{
    zs_buf_printf(out, "%s%12s  %12s  %16s  %16s  %16s  %s%s\n", bold, "allocations", "frees",
                  "bytes", "peak bytes", "never freed", "memory", plain);
    for (size_t i = 0; i < ZS_ARRAY_LEN(report->memory); i++) {
        const struct zs_memory_row *m = &report->memory[i];
        zs_buf_printf(
            out, "%12" PRIu64 "  %12" PRIu64 "  %16" PRIu64 "  %16" PRIu64 "  %16" PRIu64 "  %s\n",
            m->allocations, m->frees, m->bytes, m->peak_B, m->left_B, m->name);
    }
}

static double seconds(uint64_t ns)
{
    return (double)ns / 1e9;
}

static void leaks_text(const struct zs_device_report *report, const char *bold, const char *plain,
                       struct zs_buf *out)
{
    zs_buf_printf(out, "%s%18s  %10s  %10s  %16s  %s%s\n", bold, "created at s", "thread", "call",
                  "bytes", "never destroyed", plain);
    for (size_t i = 0; i < report->leaks.count; i++) {
        const struct zs_act_object *o = report->leaks.items[i];
        zs_buf_printf(out, "%18.9f  %10u  %10" PRIu64 "  ", seconds(o->time_ns), o->tid, o->call);
        if (o->type < ZS_ACT_ALLOCATION_TYPES)
            zs_buf_printf(out, "%16" PRIu64, o->size_B);
        else
            zs_buf_printf(out, "%16s", "");
        zs_buf_printf(out, "  %s 0x%" PRIx64 "\n", zs_act_object_name(o->type), o->handle);
    }
}

static void builds_text(const struct zs_device_report *report, const char *bold, const char *plain,
                        struct zs_buf *out)
{
    zs_buf_printf(out, "%s%18s  %10s  %9s  %s%s\n", bold, "at s", "thread", "took", "module build",
                  plain);
    for (size_t i = 0; i < report->activities.builds.count; i++) {
        const struct zs_act_build *b = &report->activities.builds.items[i];
        const char *result = zs_api_enum_name("ze_result_t", b->result);
        zs_buf_printf(out, "%18.9f  %10u  ", seconds(b->time_ns), b->tid);
        zs_format_duration(out, b->duration_ns);
        zs_buf_printf(out, "  %s\n", result ? result : "unknown result");
    }
}

void zs_device_report_text(const struct zs_device_report *report, enum zs_report_table table,
                           bool color, struct zs_buf *out)
{
    const char *bold = color ? "\033[1m" : "", *plain = color ? "\033[0m" : "";
    if (table == ZS_REPORT_MEMORY)
        memory_text(report, bold, plain, out);
    else if (table == ZS_REPORT_LEAKS)
        leaks_text(report, bold, plain, out);
    else if (table == ZS_REPORT_BUILDS)
        builds_text(report, bold, plain, out);
    else
        rows_text(report, table, bold, plain, out);
}

/* Names come from the application: quoted, with quotes doubled. */
static void csv_text(struct zs_buf *out, const char *text)
{
    zs_buf_putc(out, '"');
    for (; *text; text++) {
        if (*text == '"')
            zs_buf_putc(out, '"');
        zs_buf_putc(out, *text);
    }
    zs_buf_putc(out, '"');
}

static void csv_number(struct zs_buf *out, bool known, uint64_t value)
{
    if (known)
        zs_buf_printf(out, ",%" PRIu64, value);
    else
        zs_buf_puts(out, ",n/a");
}

static void rows_csv(const struct zs_device_report *report, enum zs_report_table table,
                     struct zs_buf *out)
{
    bool kernels = table == ZS_REPORT_KERNELS;
    zs_buf_printf(out,
                  "%s,device,count,timed,%s,total_ns,mean_ns,min_ns,max_ns,to_submit_ns,"
                  "to_start_ns\n",
                  kernels ? "name" : "direction", kernels ? "shape,simd" : "bytes");
    for (size_t i = 0; i < report->rows.count; i++) {
        const struct zs_activity_row *r = &report->rows.items[i];
        if (!in_table(r, table))
            continue;
        uint64_t timed = ZS_MAX(r->timed, 1u);
        char shape[96];
        csv_text(out, r->name);
        zs_buf_putc(out, ',');
        csv_text(out, r->device ? r->device : "n/a");
        zs_buf_printf(out, ",%" PRIu64 ",%" PRIu64, r->count, r->timed);
        if (kernels) {
            shape_text(r, shape, sizeof(shape));
            zs_buf_printf(out, ",%s", shape);
            csv_number(out, r->simd, r->simd);
        } else {
            csv_number(out, r->has_bytes, r->bytes);
        }
        const uint64_t times[] = {r->total_ns, r->total_ns / timed,  r->min_ns,
                                  r->max_ns,   r->append_ns / timed, r->wait_ns / timed};
        for (size_t k = 0; k < ZS_ARRAY_LEN(times); k++)
            csv_number(out, r->timed, times[k]);
        zs_buf_putc(out, '\n');
    }
}

void zs_device_report_csv(const struct zs_device_report *report, enum zs_report_table table,
                          struct zs_buf *out)
{
    if (table == ZS_REPORT_MEMORY) {
        zs_buf_puts(out, "memory,allocations,frees,bytes,peak_bytes,left_bytes\n");
        for (size_t i = 0; i < ZS_ARRAY_LEN(report->memory); i++) {
            const struct zs_memory_row *m = &report->memory[i];
            zs_buf_printf(out, "%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n",
                          m->name, m->allocations, m->frees, m->bytes, m->peak_B, m->left_B);
        }
    } else if (table == ZS_REPORT_LEAKS) {
        zs_buf_puts(out, "type,handle,bytes,pid,tid,call,time_ns\n");
        for (size_t i = 0; i < report->leaks.count; i++) {
            const struct zs_act_object *o = report->leaks.items[i];
            zs_buf_printf(out, "%s,0x%" PRIx64, zs_act_object_name(o->type), o->handle);
            csv_number(out, o->type < ZS_ACT_ALLOCATION_TYPES, o->size_B);
            zs_buf_printf(out, ",%u,%u,%" PRIu64 ",%" PRIu64 "\n", (uint32_t)o->process, o->tid,
                          o->call, o->time_ns);
        }
    } else if (table == ZS_REPORT_BUILDS) {
        zs_buf_puts(out, "pid,tid,time_ns,duration_ns,result\n");
        for (size_t i = 0; i < report->activities.builds.count; i++) {
            const struct zs_act_build *b = &report->activities.builds.items[i];
            zs_buf_printf(out, "%u,%u,%" PRIu64 ",%" PRIu64 ",%d\n", (uint32_t)b->process, b->tid,
                          b->time_ns, b->duration_ns, b->result);
        }
    } else {
        rows_csv(report, table, out);
    }
}

static void json_number(struct zs_json *json, const char *key, bool known, uint64_t value)
{
    if (known)
        zs_json_u64(json, key, value);
    else
        zs_json_null(json, key);
}

static void json_triple(struct zs_json *json, const char *key, const uint32_t *values)
{
    if (!values[0]) {
        zs_json_null(json, key);
        return;
    }
    zs_json_array(json, key);
    for (int i = 0; i < 3; i++)
        zs_json_u64(json, NULL, values[i]);
    zs_json_end(json);
}

static void row_json(const struct zs_activity_row *r, struct zs_json *json)
{
    bool kernel = r->kind == ZS_ACTIVITY_KERNEL;
    uint64_t timed = ZS_MAX(r->timed, 1u);
    zs_json_object(json, NULL);
    zs_json_string(json, is_copy(r) ? "direction" : "name", r->name);
    if (r->device)
        zs_json_string(json, "device", r->device);
    else
        zs_json_null(json, "device");
    if (kernel) {
        char shape[96];
        shape_text(r, shape, sizeof(shape));
        zs_json_string(json, "shape", shape);
        json_triple(json, "groups", r->groups);
        json_triple(json, "group_size", r->size);
        json_number(json, "simd", r->simd, r->simd);
    }
    zs_json_u64(json, "count", r->count);
    zs_json_u64(json, "timed", r->timed);
    if (is_copy(r))
        json_number(json, "bytes", r->has_bytes, r->bytes);
    json_number(json, "total_ns", r->timed, r->total_ns);
    json_number(json, "mean_ns", r->timed, r->total_ns / timed);
    json_number(json, "min_ns", r->timed, r->min_ns);
    json_number(json, "max_ns", r->timed, r->max_ns);
    json_number(json, "append_to_submit_ns", r->timed, r->append_ns / timed);
    json_number(json, "submit_to_start_ns", r->timed, r->wait_ns / timed);
    zs_json_end(json);
}

static void memory_json(const struct zs_device_report *report, struct zs_json *json)
{
    zs_json_object(json, "memory");
    zs_json_u64(json, "peak_bytes", report->peak_B);
    zs_json_array(json, "kinds");
    for (size_t i = 0; i < ZS_ARRAY_LEN(report->memory); i++) {
        const struct zs_memory_row *m = &report->memory[i];
        zs_json_object(json, NULL);
        zs_json_string(json, "name", m->name);
        zs_json_u64(json, "allocations", m->allocations);
        zs_json_u64(json, "frees", m->frees);
        zs_json_u64(json, "bytes", m->bytes);
        zs_json_u64(json, "peak_bytes", m->peak_B);
        zs_json_u64(json, "left_bytes", m->left_B);
        zs_json_end(json);
    }
    zs_json_end(json);
    zs_json_end(json);
}

static void leaks_json(const struct zs_device_report *report, struct zs_json *json)
{
    zs_json_array(json, "leaks");
    for (size_t i = 0; i < report->leaks.count; i++) {
        const struct zs_act_object *o = report->leaks.items[i];
        zs_json_object(json, NULL);
        zs_json_string(json, "type", zs_act_object_name(o->type));
        zs_json_u64(json, "handle", o->handle);
        json_number(json, "bytes", o->type < ZS_ACT_ALLOCATION_TYPES, o->size_B);
        zs_json_u64(json, "pid", (uint32_t)o->process);
        zs_json_u64(json, "tid", o->tid);
        zs_json_u64(json, "call", o->call);
        zs_json_u64(json, "time_ns", o->time_ns);
        zs_json_end(json);
    }
    zs_json_end(json);
    zs_json_array(json, "builds");
    for (size_t i = 0; i < report->activities.builds.count; i++) {
        const struct zs_act_build *b = &report->activities.builds.items[i];
        const char *result = zs_api_enum_name("ze_result_t", b->result);
        zs_json_object(json, NULL);
        zs_json_u64(json, "time_ns", b->time_ns);
        zs_json_u64(json, "duration_ns", b->duration_ns);
        zs_json_string(json, "result", result ? result : "unknown");
        zs_json_end(json);
    }
    zs_json_end(json);
}

void zs_device_report_json(const struct zs_device_report *report, struct zs_json *json)
{
    static const char *const keys[] = {"kernels", "copies", "barriers"};
    for (size_t k = 0; k < ZS_ARRAY_LEN(keys); k++) {
        if (!report->activities.collected) {
            zs_json_null(json, keys[k]);
            continue;
        }
        zs_json_array(json, keys[k]);
        for (size_t i = 0; i < report->rows.count; i++) {
            const struct zs_activity_row *r = &report->rows.items[i];
            size_t kind = r->kind == ZS_ACTIVITY_KERNEL ? 0 : is_copy(r) ? 1 : 2;
            if (kind == k)
                row_json(r, json);
        }
        zs_json_end(json);
    }
    memory_json(report, json);
    leaks_json(report, json);
}
