/* SPDX-License-Identifier: MIT */
#include "report/html_recording.h"

#include "report/html_counters.h"

#include "report/call_tree.h"

#include <errno.h>

static const char *module_of(void *report, const struct zs_act_kernel *kernel)
{
    return zs_report_module_of(report, kernel);
}

static void put_info(const struct zs_recording_info *info, struct zs_json *json)
{
    zs_json_string(json, "zescope", info->version ? info->version : "");
    zs_json_array(json, "argv");
    for (uint32_t i = 0; i < info->argc; i++)
        zs_json_string(json, NULL, info->argv[i]);
    zs_json_end(json);
    zs_json_string(json, "host", info->host ? info->host : "");
    zs_json_string(json, "start_time", info->start_time ? info->start_time : "");
    zs_json_bool(json, "finished", info->finished);
    zs_json_i64(json, "exit_status", info->exit_status);
    zs_json_u64(json, "duration_ns", info->duration_ns);
}

static int put_record(void *user, zs_html_write_fn *write, void *sink)
{
    const struct zs_recording_html *r = user;
    struct zs_buf out = {0};
    struct zs_json json = zs_json_make(&out, 0);
    zs_json_object(&json, NULL);
    zs_json_object(&json, "recording");
    if (r->recordings)
        zs_json_u64(&json, "recordings", r->recordings);
    if (r->code_note)
        zs_json_string(&json, "code_note", r->code_note);
    if (r->info)
        put_info(r->info, &json);
    zs_json_end(&json);
    zs_json_object(&json, "report");
    zs_report_json(r->report, -1, &json);
    zs_json_end(&json);
    const struct zs_call_tree *tree = zs_report_call_tree(r->report);
    if (tree) {
        zs_call_tree_json(tree, ZS_TREE_HOST, "host_tree", &json);
        zs_call_tree_json(tree, ZS_TREE_DEVICE, "device_tree", &json);
    }
    if (r->analysis) {
        zs_json_object(&json, "analysis");
        zs_analysis_json_members(r->analysis, &(struct zs_analysis_view){.limit = ZS_HTML_KERNELS},
                                 &json);
        zs_json_end(&json);
    }
    if (r->put_checks)
        r->put_checks(r->checked, &json);
    zs_json_object(&json, "timeline");
    zs_html_timeline_json(r->timeline, zs_report_activities(r->report),
                          zs_report_symbols(r->report), module_of, r->report, &json);
    zs_html_counters_json(zs_report_metrics(r->report), &json);
    zs_json_end(&json);
    zs_json_end(&json);
    int error = out.error ? out.error : write(sink, out.data, out.size_B);
    zs_buf_fini(&out);
    return error;
}

static int put_code(void *user, zs_html_write_fn *write, void *sink)
{
    static const struct zs_module_json_options options = {
        .pressure = true, .sends = true, .with_source = true};
    const struct zs_recording_html *r = user;
    return zs_report_module_json(r->view, &options, write, sink);
}

/* The tables come first, then kernels. */
static const char *listing_title(void *user, size_t index)
{
    const struct zs_recording_html *r = user;
    return index ? r->view->kernels[index - 1].kernel->name : "Tables";
}

static int put_listing(void *user, size_t index, zs_html_write_fn *write, void *sink)
{
    const struct zs_recording_html *r = user;
    if (index) {
        struct zs_module_view one = *r->view;
        one.kernels += index - 1;
        one.kernel_count = 1;
        one.note_count = 0;
        return zs_report_annotate_text(&one, &r->code->text, write, sink);
    }
    struct zs_buf out = {0};
    zs_report_text(r->report, -1, false, &out);
    int error = out.error ? out.error : write(sink, out.data, out.size_B);
    zs_buf_fini(&out);
    return error;
}

int zs_report_recording_html(const struct zs_recording_html *recording, zs_write_fn *write,
                             void *user)
{
    const struct zs_html_page page = {
        .title = recording->code->title,
        .text_command = recording->code->text_command,
        .user = (void *)(uintptr_t)recording,
        .json = put_code,
        .record = put_record,
        .listing_count = recording->view->kernel_count + 1,
        .listing_title = listing_title,
        .listing = put_listing,
        .listing_limit_B = recording->code->listing_limit_B,
        .readable = recording->code->readable,
    };
    return zs_report_html(&page, write, user);
}
