/* SPDX-License-Identifier: MIT */
#include "cli/hottest.h"

#include "cli/paths.h"

#include "record/traces.h"
#include "report/recording.h"
#include "report/table.h"
#include "report/times.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROWS = 5, READ_MAX_B = 64 << 20 };

static uint64_t traces_B(const char *recording)
{
    struct zs_traces traces;
    uint64_t size_B = 0;
    if (zs_traces_open(recording, &traces, NULL))
        return 0;
    for (size_t i = 0; i < traces.count; i++) {
        struct stat st;
        int fd = zs_traces_open_file(&traces, i, NULL);
        if (fd < 0)
            continue;
        if (!fstat(fd, &st))
            size_B += (uint64_t)st.st_size;
        close(fd);
    }
    zs_traces_close(&traces);
    return size_B;
}

static const struct zs_cell *cell_of(const struct zs_table *t, size_t row, const char *key)
{
    const struct zs_table_column *column = zs_table_find(t, key, strlen(key));
    return column ? &t->cells[row * t->column_count + (size_t)(column - t->columns)] : NULL;
}

static uint64_t number_of(const struct zs_table *t, size_t row, const char *key)
{
    const struct zs_cell *cell = cell_of(t, row, key);
    return cell && cell->known ? cell->number : 0;
}

/* The next row by time, of those below the last one printed. */
static size_t next_row(const struct zs_table *t, const bool *done)
{
    size_t best = SIZE_MAX;
    for (size_t row = 0; row < t->row_count; row++)
        if (!done[row] && number_of(t, row, "total_ns") &&
            (best == SIZE_MAX || number_of(t, row, "total_ns") > number_of(t, best, "total_ns")))
            best = row;
    return best;
}

static bool print_table(const struct zs_common_options *common, const struct zs_table *t,
                        const char *what)
{
    uint64_t sum_ns = 0;
    bool *done = calloc(t->row_count + 1, sizeof(*done));
    for (size_t row = 0; row < t->row_count; row++)
        sum_ns += number_of(t, row, "total_ns");
    for (size_t i = 0, row; done && i < ROWS && (row = next_row(t, done)) != SIZE_MAX; i++) {
        struct zs_buf line = {0};
        const struct zs_cell *name = cell_of(t, row, "name");
        uint64_t ns = number_of(t, row, "total_ns");
        done[row] = true;
        zs_format_duration(&line, ns);
        zs_buf_printf(&line, " %3.0f%% %8llu  %s", 100.0 * (double)ns / (double)sum_ns,
                      (unsigned long long)number_of(t, row, "count"),
                      name && name->known ? name->text : "?");
        if (!i)
            zs_cli_note(common, "hottest %s (time, share, count):", what);
        zs_cli_note(common, "  %s", zs_buf_cstr(&line));
        zs_buf_fini(&line);
    }
    free(done);
    return t->row_count;
}

bool zs_cli_print_hottest(const struct zs_common_options *common, const char *recording)
{
    const struct zs_report_options load = {.group_by = "kernel,call", .only = -1};
    struct zs_report *report;
    char path[PATH_MAX];
    zs_cli_quote(recording, path, sizeof(path));
    if (common->quiet)
        return false;
    if (traces_B(recording) > READ_MAX_B) {
        zs_cli_note(common, "where the time went: zescope report %s", path);
        return true;
    }
    if (zs_report_load(recording, &load, NULL, &report, NULL))
        return false;
    bool kernels = print_table(common, zs_report_table(report, ZS_REPORT_KERNELS), "kernels");
    bool calls = print_table(common, zs_report_table(report, ZS_REPORT_CALLS), "calls");
    zs_report_free(report);
    return kernels || calls;
}

int zs_cli_print_report(const struct zs_common_options *common, const char *recording)
{
    const struct zs_report_options load = {.only = -1};
    struct zs_report *report;
    struct zs_diag diag = {0};
    struct zs_buf out = {0};
    if (zs_report_load(recording, &load, NULL, &report, &diag))
        return zs_cli_fail("%s: %s", recording, diag.text);
    zs_report_text(report, -1, zs_cli_color(common, STDOUT_FILENO), &out);
    int status =
        out.error ? zs_cli_fail("out of memory") : zs_cli_write_stdout(out.data, out.size_B);
    zs_buf_fini(&out);
    zs_report_free(report);
    return status;
}
