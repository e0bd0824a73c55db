/* SPDX-License-Identifier: MIT */
/*
 * Trace files of a recording, through every view: the input is the files of two threads, the first
 * one's length in four bytes before it.
 */
#include "../folder.h"
#include "base/compiler.h"
#include "base/reader.h"
#include "report/analysis.h"
#include "report/html_timeline.h"
#include "report/log.h"
#include "report/recording.h"
#include "report/timeline.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B);

static void put_trace(const char *name, struct zs_span bytes)
{
    put(name, bytes.data, bytes.size_B);
}

static int count_bytes(void *user, struct zs_span bytes)
{
    *(uint64_t *)user += bytes.size_B;
    return 0;
}

static const char *module_of(void *report, const struct zs_act_kernel *kernel)
{
    return zs_report_module_of(report, kernel);
}

static void check_report(void)
{
    const struct zs_html_timeline_limits limits = {.calls = 20, .executions = 20};
    struct zs_html_timeline *timeline = zs_html_timeline_new(&limits);
    const struct zs_report_options options = {.group_by = "call,kernel,shape,queue,size,thread",
                                              .only = -1};
    struct zs_report *report;
    struct zs_diag diag = {0};
    struct zs_merge_sink sink = zs_html_timeline_sink(timeline);
    if (!zs_report_load(folder, &options, &sink, &report, &diag)) {
        struct zs_buf out = {0};
        struct zs_json json = zs_json_make(&out, 0);
        zs_json_object(&json, NULL);
        zs_report_json(report, -1, &json);
        zs_json_object(&json, "timeline");
        zs_html_timeline_json(timeline, zs_report_activities(report), zs_report_symbols(report),
                              module_of, report, &json);
        zs_json_end(&json);
        zs_json_end(&json);
        zs_assert(!out.error && json.depth == 0);
        out.size_B = 0;
        zs_report_text(report, -1, false, &out);
        for (int t = 0; t < ZS_REPORT_TABLES; t++)
            zs_table_csv(zs_report_table(report, (enum zs_report_table)t), &out);
        zs_assert(!out.error);
        zs_buf_fini(&out);
        zs_report_free(report);
    } else {
        zs_assert(diag.error && diag.text[0]);
    }
    zs_html_timeline_free(timeline);
}

static void check_analysis(void)
{
    struct zs_analysis *analysis;
    struct zs_diag diag = {0};
    struct zs_buf out = {0};
    int error = zs_analysis_open(folder, &analysis, &diag);
    zs_assert(!error || diag.text[0]);
    if (!error) {
        const struct zs_analysis_view view = {.quantities = true};
        zs_analysis_text(analysis, &view, &out);
        zs_analysis_json(analysis, &view, &out);
        zs_assert(!out.error);
    }
    zs_buf_fini(&out);
    zs_analysis_close(analysis);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B)
{
    struct zs_reader r = zs_reader_make(zs_span_make(data, size_B), 0, NULL);
    static const char meta[] = "{\"schema\": \"zescope.recording/1\"}";
    if (!folder[0]) {
        make_folder("trace process");
        put("meta.json", (const uint8_t *)meta, sizeof(meta) - 1);
    }
    uint32_t first_B = zs_read_u32(&r, "length");
    first_B = (uint32_t)ZS_MIN((size_t)first_B, zs_reader_left(&r));
    put_trace("trace/1-0-0.pftrace", zs_read_bytes(&r, first_B, "first"));
    put_trace("trace/1-0-1.pftrace", zs_read_bytes(&r, zs_reader_left(&r), "second"));
    check_report();
    check_analysis();
    uint64_t written_B = 0;
    struct zs_timeline_result result;
    struct zs_merge_totals totals;
    struct zs_diag diag = {0};
    zs_timeline_chrome(folder, count_bytes, &written_B, &result, &diag);
    zs_timeline_perfetto(folder, count_bytes, &written_B, &result, &diag);
    const struct zs_log_options log = {0};
    zs_log_write(folder, &log, count_bytes, &written_B, &totals, &diag);
    return 0;
}
