/* SPDX-License-Identifier: MIT */
/* What devices did and what memory and objects were used, from the traces of a recording. */
#ifndef ZS_REPORT_KERNELS_H
#define ZS_REPORT_KERNELS_H

#include "base/buf.h"
#include "base/json.h"
#include "record/activities.h"

/* Executions of one kernel in one shape, or of copies in one direction, or of barriers. */
struct zs_activity_row {
    enum zs_activity_kind kind;
    const char *name;            /* kernel, direction or "barrier" */
    const char *device;          /* NULL: not known */
    uint32_t groups[3], size[3]; /* of kernels; all 0: not known */
    uint64_t simd;               /* 0: not known */
    uint64_t count, timed;       /* executions, and those whose times are known */
    uint64_t bytes;
    bool has_bytes;
    uint64_t total_ns, min_ns, max_ns;
    uint64_t append_ns, wait_ns; /* of the timed: sum from append to submit, from submit to start */
};

struct zs_memory_row {
    const char *name;
    uint64_t allocations, frees, bytes, peak_B, left_B;
};

struct zs_device_report {
    struct zs_activities activities;
    ZS_ACT_VEC(struct zs_activity_row) rows; /* by kind, then by time */
    struct zs_memory_row memory[ZS_ACT_ALLOCATION_TYPES];
    uint64_t peak_B; /* of all kinds together */
    ZS_ACT_VEC(const struct zs_act_object *) leaks;
};

enum zs_report_table {
    ZS_REPORT_CALLS,
    ZS_REPORT_KERNELS,
    ZS_REPORT_COPIES,
    ZS_REPORT_MEMORY,
    ZS_REPORT_LEAKS,
    ZS_REPORT_BUILDS,
};

/* 0 or -errno with a sentence. */
int zs_device_report_load(const char *recording, struct zs_device_report *ret_report,
                          struct zs_diag *diag);
void zs_device_report_free(struct zs_device_report *report);
void zs_device_report_text(const struct zs_device_report *report, enum zs_report_table table,
                           bool color, struct zs_buf *out);
void zs_device_report_csv(const struct zs_device_report *report, enum zs_report_table table,
                          struct zs_buf *out);
/* The members "kernels", "copies", "barriers", "memory", "leaks", "builds" of zescope.report/1. */
void zs_device_report_json(const struct zs_device_report *report, struct zs_json *json);

#endif
