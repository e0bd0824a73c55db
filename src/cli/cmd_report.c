/* SPDX-License-Identifier: MIT */
/* zescope report: tables of a recording. */
#include "cli/options.h"

#include "report/calls.h"

#include <unistd.h>

enum { FORMAT_TEXT, FORMAT_CSV, FORMAT_JSON };

struct report_options {
    struct zs_common_options common;
    struct zs_string_list filters;
    int sort, format;
    bool per_thread, json;
};

static const struct zs_option options[] = {
    {"filter", 'f', ZS_OPTION_LIST, offsetof(struct report_options, filters), "REGEX",
     "only calls whose name matches; may be given several times"},
    {"sort", 0, ZS_OPTION_CHOICE, offsetof(struct report_options, sort), "total|count|mean|name",
     "order of the rows"},
    {"per-thread", 0, ZS_OPTION_FLAG, offsetof(struct report_options, per_thread), NULL,
     "a row per call and thread"},
    {"format", 0, ZS_OPTION_CHOICE, offsetof(struct report_options, format), "text|csv|json",
     "what to print"},
    {"json", 0, ZS_OPTION_FLAG, offsetof(struct report_options, json), NULL,
     "the same as --format json"},
};

static void put_json(const struct zs_call_table *table, struct zs_buf *out)
{
    struct zs_json json = zs_json_make(out, 2);
    zs_json_object(&json, NULL);
    zs_json_string(&json, "schema", "zescope.report/1");
    zs_json_u64(&json, "first_ns", table->first_ns);
    zs_json_u64(&json, "last_ns", table->last_ns);
    zs_json_u64(&json, "lost_calls", table->lost);
    zs_json_u64(&json, "damaged_files", table->damaged_files);
    zs_call_table_json(table, &json);
    zs_json_end(&json);
    zs_buf_putc(out, '\n');
}

extern const struct zs_command zs_command_report;

static int run(void *parsed, int operand_count, char **operands)
{
    const struct report_options *o = parsed;
    if (operand_count != 1)
        return zs_cli_usage(&zs_command_report, "one recording is needed");
    const struct zs_call_options calls = {.per_thread = o->per_thread,
                                          .order = (enum zs_call_order)o->sort,
                                          .filters = o->filters.items,
                                          .filter_count = o->filters.count};
    struct zs_call_table table;
    struct zs_diag diag = {0};
    if (zs_call_table_load(operands[0], &calls, &table, &diag)) {
        char text[600];
        zs_diag_print(&diag, text, sizeof(text));
        return zs_cli_fail("%s: %s", operands[0], text);
    }
    struct zs_buf out = {0};
    if (o->json || o->format == FORMAT_JSON)
        put_json(&table, &out);
    else if (o->format == FORMAT_CSV)
        zs_call_table_csv(&table, &out);
    else
        zs_call_table_text(&table, zs_cli_color(&o->common, STDOUT_FILENO), &out);
    if (!table.count)
        zs_cli_note(&o->common, "%s holds no API calls; 'zescope record --trace' records them",
                    operands[0]);
    if (table.lost || table.damaged_files)
        zs_cli_note(&o->common, "%llu calls are incomplete, %llu trace files damaged",
                    (unsigned long long)table.lost, (unsigned long long)table.damaged_files);
    int status =
        out.error ? zs_cli_fail("out of memory") : zs_cli_write_stdout(out.data, out.size_B);
    zs_buf_fini(&out);
    zs_call_table_free(&table);
    return status;
}

const struct zs_command zs_command_report = {
    .name = "report",
    .summary = "tables of what a recording holds: API calls",
    .operands = "RECORDING",
    .description =
        "Prints how often each API call was made, how long it took and how it failed. Percentiles "
        "are taken from a histogram and are within 6 %.",
    .options = options,
    .option_count = ZS_ARRAY_LEN(options),
    .options_size_B = sizeof(struct report_options),
    .run = run,
};
