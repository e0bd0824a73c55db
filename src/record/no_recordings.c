/* SPDX-License-Identifier: MIT */
/*
 * The interface of recordings on systems that make none: none can be opened, and what is asked of
 * an open one is asked by nobody.
 */
#include "record/builds.h"
#include "record/counts.h"
#include "record/metrics_numbers.h"
#include <zescope/metrics.h>

#include <errno.h>

static _Noreturn void no_recording(const char *func)
{
    zs_assert_fail("a recording is open", __FILE__, __LINE__, func);
}

bool zs_recording_probe(const char *path)
{
    (void)path;
    return false;
}

int zs_recording_open(const char *path, struct zs_recording **ret_recording, struct zs_diag *diag)
{
    (void)path;
    *ret_recording = NULL;
    return zs_diag_set(diag, -ENOTSUP, ZS_DIAG_NO_OFFSET,
                       "is a folder; recordings are read on Linux alone");
}

void zs_recording_close(struct zs_recording *recording)
{
    if (recording)
        no_recording(__func__);
}

int zs_recording_blob_read(const struct zs_recording *recording, const struct zs_record_blob *blob,
                           struct zs_span *ret_span, struct zs_diag *diag)
{
    (void)recording, (void)blob;
    *ret_span = (struct zs_span){0};
    return zs_diag_set(diag, -ENOTSUP, ZS_DIAG_NO_OFFSET, "recordings are read on Linux alone");
}

void zs_recording_blob_free(struct zs_span *span)
{
    *span = (struct zs_span){0}; /* none was read */
}

int zs_counts_load(const char *recording, struct zs_counts_list *ret_list, size_t *ret_damaged,
                   struct zs_diag *diag)
{
    (void)recording;
    *ret_list = (struct zs_counts_list){0};
    *ret_damaged = 0;
    return zs_diag_set(diag, -ENOTSUP, ZS_DIAG_NO_OFFSET, "recordings are read on Linux alone");
}

uint32_t zs_counts_module(const struct zs_recording *recording, const struct zs_counts *counts)
{
    (void)recording, (void)counts;
    no_recording(__func__);
}

void zs_counts_free(struct zs_counts_list *list)
{
    *list = (struct zs_counts_list){0};
}

const struct zs_recording_info *zs_recording_info(const struct zs_recording *recording)
{
    (void)recording;
    no_recording(__func__);
}

const struct zs_record_process *zs_recording_processes(const struct zs_recording *recording,
                                                       uint32_t *ret_count)
{
    (void)recording, (void)ret_count;
    no_recording(__func__);
}

const struct zs_record_build *zs_recording_builds(const struct zs_recording *recording,
                                                  uint32_t *ret_count)
{
    (void)recording, (void)ret_count;
    no_recording(__func__);
}

const struct zs_record_module *zs_recording_modules(const struct zs_recording *recording,
                                                    uint32_t *ret_count)
{
    (void)recording, (void)ret_count;
    no_recording(__func__);
}

const struct zs_record_source *zs_recording_find_source(const struct zs_recording *recording,
                                                        const char *path)
{
    (void)recording, (void)path;
    no_recording(__func__);
}

const struct zs_record_build *zs_recording_find_build(const struct zs_recording *recording,
                                                      uint64_t process, uint64_t build_id,
                                                      uint64_t time_ns)
{
    (void)recording, (void)process, (void)build_id, (void)time_ns;
    no_recording(__func__);
}

void zs_record_module_name(const struct zs_record_module *module,
                           char ret_name[ZS_MODULE_NAME_CHARS])
{
    (void)module, (void)ret_name;
    no_recording(__func__);
}

const struct zs_record_note *zs_recording_notes(const struct zs_recording *recording,
                                                uint32_t *ret_count)
{
    (void)recording, (void)ret_count;
    no_recording(__func__);
}

const char *zs_record_debug_advice(const struct zs_recording *recording,
                                   const struct zs_record_module *module)
{
    (void)recording, (void)module;
    no_recording(__func__);
}

bool zs_metrics_probe(const char *recording)
{
    (void)recording;
    return false;
}

int zs_metrics_open_numbers(const char *recording, struct zs_metrics **ret_metrics,
                            struct zs_diag *diag)
{
    (void)recording, (void)ret_metrics, (void)diag;
    no_recording(__func__);
}

int zs_metrics_open(const char *recording, struct zs_metrics **ret_metrics, struct zs_diag *diag)
{
    (void)recording, (void)ret_metrics, (void)diag;
    no_recording(__func__);
}

void zs_metrics_close(struct zs_metrics *metrics)
{
    (void)metrics;
    no_recording(__func__);
}

const struct zs_metrics_info *zs_metrics_info(const struct zs_metrics *metrics)
{
    (void)metrics;
    no_recording(__func__);
}

const struct zs_metric_group *zs_metrics_groups(const struct zs_metrics *metrics,
                                                uint32_t *ret_count)
{
    (void)metrics, (void)ret_count;
    no_recording(__func__);
}

struct zs_metrics_cursor *zs_metrics_cursor_open(const struct zs_metrics *metrics)
{
    (void)metrics;
    no_recording(__func__);
}

int zs_metrics_next(struct zs_metrics_cursor *cursor, const struct zs_metric_launch **ret_launch,
                    const struct zs_metric_report **ret_report)
{
    (void)cursor, (void)ret_launch, (void)ret_report;
    no_recording(__func__);
}

void zs_metrics_cursor_close(struct zs_metrics_cursor *cursor)
{
    (void)cursor;
    no_recording(__func__);
}

bool zs_metrics_place(const struct zs_metrics *metrics, const struct zs_metric_report *report,
                      struct zs_metric_place *ret_place)
{
    (void)metrics, (void)report, (void)ret_place;
    no_recording(__func__);
}

double zs_metrics_number(const struct zs_metrics *metrics, const struct zs_metric_report *report,
                         uint32_t metric)
{
    (void)metrics, (void)report, (void)metric;
    no_recording(__func__);
}

uint32_t zs_metric_find(const struct zs_metric_group *group, const char *name)
{
    (void)group, (void)name;
    no_recording(__func__);
}

int zs_metrics_sum(const struct zs_metrics *metrics, enum zs_metric_sum_by by,
                   struct zs_metric_sums *ret_sums)
{
    (void)metrics, (void)by, (void)ret_sums;
    no_recording(__func__);
}

void zs_metric_sums_free(struct zs_metric_sums *sums)
{
    (void)sums;
    no_recording(__func__);
}
