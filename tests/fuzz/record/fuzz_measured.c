/* SPDX-License-Identifier: MIT */
/*
 * What kernels below Intel's driver were measured by: the input is a file of counts and one of
 * metrics, each one's length in four bytes before all, and the trace with the executions.
 */
#include "../folder.h"
#include "base/compiler.h"
#include "base/reader.h"
#include "base/span.h"

#include <zescope/metrics.h>

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B);

static struct zs_span part(struct zs_reader *r, uint32_t size_B, const char *what)
{
    return zs_read_bytes(r, ZS_MIN((uint64_t)size_B, zs_reader_left(r)), what);
}

static void read_all(const struct zs_metrics *metrics)
{
    const struct zs_metric_launch *launch;
    const struct zs_metric_report *report;
    struct zs_metric_place place;
    struct zs_metrics_cursor *cursor = zs_metrics_cursor_open(metrics);
    volatile double sum = 0;
    while (cursor && zs_metrics_next(cursor, &launch, &report) > 0) {
        uint32_t count;
        const struct zs_metric_group *groups = zs_metrics_groups(metrics, &count);
        for (uint32_t m = 0; report && m < groups[report->group].metric_count; m++)
            sum = sum + zs_metrics_number(metrics, report, m);
        if (report && zs_metrics_place(metrics, report, &place))
            zs_assert(place.kernel);
    }
    zs_metrics_cursor_close(cursor);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B)
{
    struct zs_reader r = zs_reader_make(zs_span_make(data, size_B), 0, NULL);
    static const char meta[] = "{\"schema\": \"zescope.recording/1\"}";
    if (!folder[0]) {
        make_folder("trace process/1 counts modules");
        put("meta.json", (const uint8_t *)meta, strlen(meta));
    }
    uint32_t counts_B = zs_read_u32(&r, "length"), measured_B = zs_read_u32(&r, "length");
    struct zs_span counts = part(&r, counts_B, "counts"),
                   measured = part(&r, measured_B, "metrics");
    struct zs_span trace = part(&r, UINT32_MAX, "trace");
    put("counts/840-0-0.counts", counts.data, counts.size_B);
    put("counts/840-0-0.measured", measured.data, measured.size_B);
    put("trace/840-0-0.pftrace", trace.data, trace.size_B);
    struct zs_metrics *metrics;
    struct zs_diag diag = {0};
    int error = zs_metrics_open(folder, &metrics, &diag);
    zs_assert(error || metrics);
    if (!error)
        read_all(metrics);
    zs_metrics_close(error ? NULL : metrics);
    return 0;
}
