/* SPDX-License-Identifier: MIT */
/* zescope report: tables of a recording. */
#include "cli/options.h"

#include "report/calls.h"
#include "report/kernels.h"

#include <unistd.h>

enum { FORMAT_TEXT, FORMAT_CSV, FORMAT_JSON };

struct report_options {
    struct zs_common_options common;
    struct zs_string_list filters;
    int sort, format, table;
    bool per_thread, json;
};

static const struct zs_option options[] = {
    {"filter", 'f', ZS_OPTION_LIST, offsetof(struct report_options, filters), "REGEX",
     "only calls whose name matches; may be given several times"},
    {"sort", 0, ZS_OPTION_CHOICE, offsetof(struct report_options, sort), "total|count|mean|name",
     "order of the rows"},
    {"per-thread", 0, ZS_OPTION_FLAG, offsetof(struct report_options, per_thread), NULL,
     "a row per call and thread"},
    {"table", 't', ZS_OPTION_CHOICE, offsetof(struct report_options, table),
     "all|calls|kernels|copies|memory|leaks|builds", "which table; csv: calls unless given"},
    {"format", 0, ZS_OPTION_CHOICE, offsetof(struct report_options, format), "text|csv|json",
     "what to print"},
    {"json", 0, ZS_OPTION_FLAG, offsetof(struct report_options, json), NULL,
     "the same as --format json"},
};

static void put_json(const struct zs_call_table *table, const struct zs_device_report *report,
                     struct zs_buf *out)
{
    struct zs_json json = zs_json_make(out, 2);
    zs_json_object(&json, NULL);
    zs_json_string(&json, "schema", "zescope.report/1");
    zs_json_u64(&json, "first_ns", table->first_ns);
    zs_json_u64(&json, "last_ns", table->last_ns);
    zs_json_u64(&json, "lost_calls", table->lost);
    zs_json_u64(&json, "damaged_files", table->damaged_files);
    zs_call_table_json(table, &json);
    zs_device_report_json(report, &json);
    zs_json_end(&json);
    zs_buf_putc(out, '\n');
}

enum { TABLE_ALL, TABLE_CALLS };

static void put_text(const struct report_options *o, const struct zs_call_table *calls,
                     const struct zs_device_report *report, struct zs_buf *out)
{
    bool color = zs_cli_color(&o->common, STDOUT_FILENO), some = false;
    if (o->table == TABLE_ALL || o->table == TABLE_CALLS)
        zs_call_table_text(calls, color, out);
    bool wanted[] = {
        [ZS_REPORT_CALLS] = false,
        [ZS_REPORT_KERNELS] = report->rows.count,
        [ZS_REPORT_COPIES] = report->rows.count,
        [ZS_REPORT_MEMORY] = report->activities.objects.count,
        [ZS_REPORT_LEAKS] = report->leaks.count,
        [ZS_REPORT_BUILDS] = report->activities.builds.count,
    };
    for (int i = ZS_REPORT_KERNELS; i <= ZS_REPORT_BUILDS; i++) {
        if (o->table != i + 1 && (o->table != TABLE_ALL || !wanted[i]))
            continue;
        if (o->table == TABLE_ALL || some)
            zs_buf_putc(out, '\n');
        zs_device_report_text(report, (enum zs_report_table)i, color, out);
        some = true;
    }
}

static void put(const struct report_options *o, const struct zs_call_table *calls,
                const struct zs_device_report *report, struct zs_buf *out)
{
    if (o->json || o->format == FORMAT_JSON)
        put_json(calls, report, out);
    else if (o->format == FORMAT_CSV && o->table > TABLE_CALLS)
        zs_device_report_csv(report, (enum zs_report_table)(o->table - 1), out);
    else if (o->format == FORMAT_CSV)
        zs_call_table_csv(calls, out);
    else
        put_text(o, calls, report, out);
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
    struct zs_device_report report;
    struct zs_diag diag = {0};
    int error = zs_call_table_load(operands[0], &calls, &table, &diag);
    if (!error && (error = zs_device_report_load(operands[0], &report, &diag)))
        zs_call_table_free(&table);
    if (error) {
        char text[600];
        zs_diag_print(&diag, text, sizeof(text));
        return zs_cli_fail("%s: %s", operands[0], text);
    }
    struct zs_buf out = {0};
    put(o, &table, &report, &out);
    if (!table.count)
        zs_cli_note(&o->common, "%s holds no API calls; 'zescope record --trace' records them",
                    operands[0]);
    if (table.lost || table.damaged_files)
        zs_cli_note(&o->common, "%llu calls are incomplete, %llu trace files damaged",
                    (unsigned long long)table.lost, (unsigned long long)table.damaged_files);
    int status =
        out.error ? zs_cli_fail("out of memory") : zs_cli_write_stdout(out.data, out.size_B);
    zs_buf_fini(&out);
    zs_device_report_free(&report);
    zs_call_table_free(&table);
    return status;
}

const struct zs_command zs_command_report = {
    .name = "report",
    .summary = "tables of what a recording holds: calls, kernels, copies, memory, leaks",
    .operands = "RECORDING",
    .description =
        "Prints how often each API call was made, how long it took and how it failed; how long "
        "each "
        "kernel ran on its device, by shape, and waited before; copies by direction; allocations "
        "with their peak; objects that were never destroyed; module builds. Percentiles are taken "
        "from a histogram and are within 6 %. What was not collected reads n/a.",
    .options = options,
    .option_count = ZS_ARRAY_LEN(options),
    .options_size_B = sizeof(struct report_options),
    .run = run,
};
