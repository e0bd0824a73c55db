/* SPDX-License-Identifier: MIT */
/* zescope report: tables of a recording. */
#include "cli/check_report.h"
#include "cli/demangle.h"
#include "cli/paths.h"
#include "cli/view.h"

#include "base/file.h"
#include "base/path.h"
#include "record/recordings.h"
#include "report/call_tree.h"
#include "report/html_recording.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FORMAT_TEXT, FORMAT_CSV, FORMAT_JSON, FORMAT_FOLDED };
enum { TABLE_NOT_GIVEN = -1, TABLE_ALL };
enum { TREE_NONE, TREE_HOST, TREE_DEVICE };
/* Of the call tree's text: places with less of the time, in hundredths of a percent, are left out
 */
enum { TREE_LEAST = 50 };

struct report_options {
    struct zs_common_options common;
    struct zs_string_list filters, where;
    const char *sort, *group_by, *html;
    uint64_t limit, items;
    int format, table, tree;
    bool per_thread, json, checks;
};

static const struct zs_option options[] = {
    {"table", 't', ZS_OPTION_CHOICE, offsetof(struct report_options, table),
     "all|calls|kernels|copies|barriers|memory|allocations|leaks|builds|threads|"
     "marks|pauses|metrics",
     "which table; csv: calls unless given"},
    {"group-by", 0, ZS_OPTION_STRING, offsetof(struct report_options, group_by), "KEY,...",
     "what rows are told apart by: call, result, kernel, shape, simd, direction, kind, size, "
     "device, queue, engine, list, mark, caller, backtrace, process, thread; tables without any of "
     "them stay as they "
     "are"},
    {"per-thread", 0, ZS_OPTION_FLAG, offsetof(struct report_options, per_thread), NULL,
     "process and thread besides, in all tables that know them"},
    {"filter", 'f', ZS_OPTION_LIST, offsetof(struct report_options, filters), "REGEX",
     "only calls, kernels, directions, kinds whose name matches; may be given several times"},
    {"where", 'w', ZS_OPTION_LIST, offsetof(struct report_options, where), "CONDITION",
     "only rows with it: a column, one of = != < <= > >= ~ !~, a value (units: ns us ms s K M G); "
     "may be given several times; tables without the column stay as they are"},
    {"sort", 's', ZS_OPTION_STRING, offsetof(struct report_options, sort), "COLUMN[:asc|:desc]",
     "order of the rows, as in total, count, mean, name, bytes, failed:desc"},
    {"limit", 'n', ZS_OPTION_U64, offsetof(struct report_options, limit), "ROWS",
     "only so many rows of a table; 0: all"},
    {"tree", 0, ZS_OPTION_CHOICE, offsetof(struct report_options, tree), "none|host|device",
     "instead of tables the call tree of a recording with --backtrace: time in API calls, or time "
     "of "
     "kernels and copies on devices, by the functions that made and appended them; with --format "
     "folded as lines for flame graphs"},
    {"html", 0, ZS_OPTION_STRING, offsetof(struct report_options, html), "OUT",
     "write one self-contained HTML file: timeline, tables, source and machine code"},
    {"html-items", 0, ZS_OPTION_U64, offsetof(struct report_options, items), "N",
     "so many calls and so many executions on the page's timeline, the longest (100000)"},
    {"checks", 0, ZS_OPTION_FLAG, offsetof(struct report_options, checks), NULL,
     "instead of tables what zescope record --check found; as text or JSON"},
    {"format", 0, ZS_OPTION_CHOICE, offsetof(struct report_options, format), "text|csv|json|folded",
     "what to print"},
    {"json", 'j', ZS_OPTION_FLAG, offsetof(struct report_options, json), NULL,
     "the same as --format json"},
};

static const struct report_options defaults = {.table = TABLE_NOT_GIVEN};

static void put_json(const struct zs_report *report, int only, struct zs_buf *out)
{
    struct zs_json json = zs_json_make(out, 2);
    zs_json_object(&json, NULL);
    zs_report_json(report, only, &json);
    zs_json_end(&json);
    zs_buf_putc(out, '\n');
}

static void put_tree(const struct report_options *o, const struct zs_call_tree *tree,
                     struct zs_buf *out)
{
    enum zs_tree_of of = o->tree == TREE_DEVICE ? ZS_TREE_DEVICE : ZS_TREE_HOST;
    if (o->format == FORMAT_FOLDED) {
        zs_call_tree_folded(tree, of, out);
    } else if (o->json || o->format == FORMAT_JSON) {
        struct zs_json json = zs_json_make(out, 2);
        zs_json_object(&json, NULL);
        zs_json_string(&json, "schema", "zescope.report/1");
        zs_call_tree_json(tree, of, of == ZS_TREE_HOST ? "host_tree" : "device_tree", &json);
        zs_json_end(&json);
        zs_buf_putc(out, '\n');
    } else {
        zs_call_tree_text(tree, of, TREE_LEAST, zs_cli_color(&o->common, STDOUT_FILENO), out);
    }
}

static void put(const struct report_options *o, const struct zs_report *report, struct zs_buf *out)
{
    int only = ZS_MAX(o->table, TABLE_ALL) - 1;
    if (o->json || o->format == FORMAT_JSON)
        put_json(report, only, out);
    else if (o->format == FORMAT_CSV)
        zs_table_csv(
            zs_report_table(report, only < 0 ? ZS_REPORT_CALLS : (enum zs_report_table)only), out);
    else
        zs_report_text(report, only, zs_cli_color(&o->common, STDOUT_FILENO), out);
}

/* Which clock the times of kernels are of, where it is the rough one. */
static void note_estimates(const struct report_options *o, const struct zs_report *report)
{
    const struct zs_table *kernels = zs_report_table(report, ZS_REPORT_KERNELS);
    if (zs_report_is_estimated(report) && kernels->row_count)
        zs_cli_note(&o->common, "times of kernels are estimated from counts of instructions: "
                                "record --counts replays them on a model of the device");
}

static void put_notes(const struct report_options *o, const char *path,
                      const struct zs_report *report)
{
    struct zs_report_totals t = zs_report_totals(report);
    const char *no_activity = zs_report_no_activity(report, o->table - 1);
    zs_cli_note_losses(&o->common, path, t.calls, t.lost_calls, t.damaged_files);
    note_estimates(o, report);
    if (o->format == FORMAT_CSV && o->table > TABLE_ALL && no_activity)
        zs_cli_note(&o->common, "%s: %s are n/a: %s", path, zs_report_table_name(o->table - 1),
                    no_activity);
}

extern const struct zs_command zs_command_report;

/* ---- HTML ---- */

static int put_page(const void *page, zs_write_fn *write, void *user)
{
    return zs_report_recording_html(page, write, user);
}

/* The recordings whose modules the page shows: all but those without. */
static int with_modules(const struct zs_recordings *recordings, char **ret_paths)
{
    int count = 0;
    for (uint32_t i = 0; i < recordings->count; i++) {
        const struct zs_recording *recording = recordings->items[i].recording;
        uint32_t module_count = 0;
        if (!recording)
            continue;
        const char *path = zs_recording_info(recording)->path;
        zs_recording_modules(recording, &module_count);
        if (module_count)
            ret_paths[count++] = (char *)(uintptr_t)path;
        else
            zs_inputs_tell_damage(recording, path);
    }
    return count;
}

static const struct zs_recording_info *first_info(const struct zs_recordings *recordings)
{
    for (uint32_t i = 0; i < recordings->count; i++)
        if (recordings->items[i].recording)
            return zs_recording_info(recordings->items[i].recording);
    return NULL;
}

/* With the analysis of the kernels, where there is a recording that can be analysed. */
static int write_analyzed(const struct report_options *o, const struct zs_recording_html *page,
                          const char *path)
{
    struct zs_recording_html whole = *page;
    struct zs_analysis *analysis = NULL;
    struct zs_diag diag;
    zs_diag_clear(&diag);
    if (!zs_analysis_open(path, &analysis, &diag))
        whole.analysis = analysis;
    else
        zs_cli_note(&o->common, "the page has no analysis of kernels: %s", diag.text);
    int status = zs_cli_write_to(&o->common, o->html, put_page, &whole);
    zs_analysis_close(analysis);
    return status;
}

/* The page shows what can be shown: a recording without modules has no code, and says so. */
static int write_html(const struct report_options *o, char **operands, struct zs_report *report,
                      struct zs_html_timeline *timeline)
{
    const struct zs_recordings *recordings = zs_report_recordings(report);
    struct zs_source_options sources = {.size_B = sizeof(sources)};
    const struct zs_input_select select = {.each_once = true};
    struct zs_view view = {0};
    char *paths[ZS_RECORDINGS_MAX] = {operands[0]};
    char command[2 * PATH_MAX + 64], path[PATH_MAX], title[256], code_note[160] = "";
    int count = with_modules(recordings, paths);
    int opened =
        count ? zs_view_open(&o->common, &select, &sources, count, paths, &view) : ZS_EXIT_OK;
    if (opened != ZS_EXIT_OK || !count)
        view.view = (struct zs_module_view){.input = operands[0]};
    if (!view.view.kernel_count)
        snprintf(code_note, sizeof(code_note), "no code: %s",
                 count ? "the modules cannot be read" : "no modules were recorded");
    else if (recordings->left_out)
        snprintf(code_note, sizeof(code_note), "%u of %u recordings are without their code",
                 recordings->left_out, recordings->total);
    zs_cli_quote(operands[0], path, sizeof(path));
    snprintf(command, sizeof(command), "zescope report %s; zescope annotate %s%s", path, path,
             recordings->total > 1 ? "/*" : "");
    snprintf(title, sizeof(title), "%s", zs_path_own_base_name(operands[0]));
    const struct zs_module_html_options code = {.title = title,
                                                .text_command = command,
                                                .readable = zs_cli_demangle,
                                                .text = {.context_lines = 3}};
    const struct zs_recording_html page = {.report = report,
                                           .timeline = timeline,
                                           .info = first_info(recordings),
                                           .view = &view.view,
                                           .code = &code,
                                           .recordings =
                                               recordings->total > 1 ? recordings->total : 0,
                                           .code_note = code_note[0] ? code_note : NULL,
                                           .put_checks = zs_check_report_put,
                                           .checked = operands[0]};
    int status = write_analyzed(o, &page, operands[0]);
    zs_view_close(&view);
    return status;
}

static int fail(const char *path, const struct zs_diag *diag)
{
    char text[600];
    zs_diag_print(diag, text, sizeof(text));
    return zs_cli_fail("%s: %s", path, text);
}

static int report_html(const struct report_options *o, const struct zs_report_options *load,
                       char **operands)
{
    const struct zs_html_timeline_limits limits = {(size_t)o->items, (size_t)o->items};
    struct zs_html_timeline *timeline = zs_html_timeline_new(&limits);
    struct zs_report_options all = *load;
    struct zs_report *report;
    struct zs_diag diag = {0};
    if (!timeline)
        return zs_cli_fail("out of memory");
    struct zs_merge_sink sink = zs_html_timeline_sink(timeline);
    all.only = -1;
    all.view.limit = all.view.limit ? all.view.limit : ZS_HTML_ROWS;
    if (zs_report_load(operands[0], &all, &sink, &report, &diag)) {
        zs_html_timeline_free(timeline);
        return fail(operands[0], &diag);
    }
    put_notes(o, operands[0], report);
    int status = write_html(o, operands, report, timeline);
    zs_report_free(report);
    zs_html_timeline_free(timeline);
    return status;
}

static int report_tables(const struct report_options *o, const struct zs_report_options *load,
                         const char *path)
{
    struct zs_report *report;
    struct zs_diag diag = {0};
    if (zs_report_load(path, load, NULL, &report, &diag))
        return fail(path, &diag);
    struct zs_buf out = {0};
    const struct zs_call_tree *tree = zs_report_call_tree(report);
    if (o->tree && !tree) {
        zs_report_free(report);
        return zs_cli_fail("%s has no backtraces: record with --backtrace", path);
    }
    if (o->tree)
        put_tree(o, tree, &out);
    else
        put(o, report, &out);
    put_notes(o, path, report);
    int (*write)(const void *, size_t) = o->json                    ? zs_cli_write_stdout
                                         : o->format == FORMAT_TEXT ? zs_cli_write_text
                                                                    : zs_cli_write_exact;
    int status = out.error ? zs_cli_fail("out of memory") : write(out.data, out.size_B);
    zs_buf_fini(&out);
    zs_report_free(report);
    return status;
}

/* Options of which one would be ignored. */
static const char *contradiction(const struct report_options *o)
{
    if (o->format == FORMAT_FOLDED && !o->tree)
        return "--format folded is for --tree host or device";
    if (o->tree && (o->html || o->format == FORMAT_CSV))
        return "--tree does not go with --html and csv";
    if (o->tree && o->table > TABLE_ALL)
        return "--tree is printed instead of tables: no --table";
    if (o->html && (o->json || o->format != FORMAT_TEXT))
        return "--html does not go with --json and --format";
    if (o->html && o->table > TABLE_ALL)
        return "--html has all tables: no --table";
    if (o->json && o->format != FORMAT_TEXT && o->format != FORMAT_JSON)
        return "--json does not go with another --format";
    if (o->checks && (o->html || o->tree || o->table > TABLE_ALL || o->format == FORMAT_CSV))
        return "--checks is text or JSON, and no table";
    if (o->table == TABLE_ALL && o->format == FORMAT_CSV)
        return "--format csv prints one table: --table says which";
    return NULL;
}

static int run(void *parsed, int operand_count, char **operands)
{
    const struct report_options *o = parsed;
    if (operand_count != 1)
        return zs_cli_usage(&zs_command_report, "one recording is needed");
    if (contradiction(o))
        return zs_cli_usage(&zs_command_report, "%s", contradiction(o));
    if (o->checks)
        return zs_check_report_show(
            operands[0], true, o->json || o->format == FORMAT_JSON ? ZS_CHECK_JSON : ZS_CHECK_TEXT);
    const struct zs_report_options load = {
        .filters = o->filters.items,
        .filter_count = o->filters.count,
        .group_by = o->group_by,
        .per_thread = o->per_thread,
        .call_tree = o->tree || o->html,
        .view = {.sort = o->sort,
                 .where = o->where.items,
                 .where_count = o->where.count,
                 .limit = o->limit},
        .only = ZS_MAX(o->table, TABLE_ALL) - 1,
    };
    struct zs_diag diag = {0};
    int error = zs_report_check(&load, &diag);
    if (error == -EINVAL)
        return zs_cli_usage(&zs_command_report, "%s", diag.text);
    if (error)
        return zs_cli_fail("%s", diag.text);
    return o->html ? report_html(o, &load, operands) : report_tables(o, &load, operands[0]);
}

const struct zs_command zs_command_report = {
    .name = "report",
    .summary = "tables of what a recording holds: calls, kernels, copies, memory, leaks",
    .operands = "[RECORDING]",
    .takes_recording = true,
    .description =
        "Prints how often each API call was made, how long it took and how it failed; how long "
        "each kernel ran on its device, by shape, and waited before; copies by direction; "
        "allocations with their peak; objects that were never destroyed; module builds; threads. "
        "Percentiles are taken from a histogram and are within 6 %. What was not collected reads "
        "n/a.",
    .examples = "  zescope report -t kernels --group-by kernel -s mean rec\n"
                "      kernels whatever their shape, the longest on the mean first\n"
                "  zescope report --group-by call,result,thread -w 'count>100' rec\n"
                "      results of calls by thread, where there are many\n"
                "  zescope report -t calls --format csv -w 'failed>0' rec\n"
                "      calls that failed, for a spreadsheet\n"
                "  zescope report --tree device --format folded rec | flamegraph.pl >x.svg\n"
                "      device time by the functions of the application, for other programs\n"
                "  zescope report --html rec.html rec\n"
                "      a page for the browser\n",
    .options = options,
    .defaults = &defaults,
    .option_count = ZS_ARRAY_LEN(options),
    .options_size_B = sizeof(struct report_options),
    .run = run,
};
