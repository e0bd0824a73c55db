/* SPDX-License-Identifier: MIT */
/*
 * Trace files of a recording, through every view: the input is the files of two threads, the first
 * one's length in four bytes before it.
 */
#include "base/compiler.h"
#include "base/reader.h"
#include "report/html_timeline.h"
#include "report/log.h"
#include "report/recording.h"
#include "report/timeline.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B);

static char folder[64];

static void remove_folder(void)
{
    char command[128];
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    if (system(command))
        fprintf(stderr, "%s is left behind\n", folder);
}

static void make_folder(void)
{
    char command[256];
    snprintf(folder, sizeof(folder), "%s/zs-fuzz-XXXXXX",
             access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    if (!mkdtemp(folder))
        __builtin_trap();
    atexit(remove_folder);
    snprintf(command, sizeof(command), "mkdir -p %s/trace", folder);
    if (system(command))
        __builtin_trap();
}

static void put(const char *name, struct zs_span bytes)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/trace/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || (bytes.size_B && write(fd, bytes.data, bytes.size_B) != (ssize_t)bytes.size_B))
        __builtin_trap();
    close(fd);
}

static int count_bytes(void *user, struct zs_span bytes)
{
    *(uint64_t *)user += bytes.size_B;
    return 0;
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
                              &json);
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B)
{
    struct zs_reader r = zs_reader_make(zs_span_make(data, size_B), 0, NULL);
    if (!folder[0])
        make_folder();
    uint32_t first_B = zs_read_u32(&r, "length");
    first_B = (uint32_t)ZS_MIN((size_t)first_B, zs_reader_left(&r));
    put("1-0-0.pftrace", zs_read_bytes(&r, first_B, "first"));
    put("1-0-1.pftrace", zs_read_bytes(&r, zs_reader_left(&r), "second"));
    check_report();
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
