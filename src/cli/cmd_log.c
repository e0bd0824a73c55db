/* SPDX-License-Identifier: MIT */
/* zescope log: the API calls of a recording as lines. */
#include "cli/options.h"

#include "base/filter.h"
#include "report/log.h"

#include <errno.h>
#include <unistd.h>

struct log_options {
    struct zs_common_options common;
    struct zs_string_list filters;
    uint64_t limit;
    bool failed, absolute, backtrace;
};

static const struct zs_option options[] = {
    {"filter", 'f', ZS_OPTION_LIST, offsetof(struct log_options, filters), "REGEX",
     "only calls whose name matches; may be given several times"},
    {"failed", 0, ZS_OPTION_FLAG, offsetof(struct log_options, failed), NULL,
     "only calls that failed"},
    {"limit", 'n', ZS_OPTION_U64, offsetof(struct log_options, limit), "N",
     "stop after N calls; 0: all"},
    {"absolute", 0, ZS_OPTION_FLAG, offsetof(struct log_options, absolute), NULL,
     "times of CLOCK_MONOTONIC instead of since the first call"},
    {"backtrace", 'b', ZS_OPTION_FLAG, offsetof(struct log_options, backtrace), NULL,
     "where each call was made, on lines of their own (record --backtrace)"},
};

struct out {
    struct zs_buf buf;
    int status;
};

static int flush(struct out *out)
{
    out->status = zs_cli_write_text(out->buf.data, out->buf.size_B);
    out->buf.size_B = 0;
    return out->status ? out->status : zs_cli_stdout_closed();
}

static int put(void *user, struct zs_span line)
{
    struct out *out = user;
    zs_buf_append(&out->buf, line.data, line.size_B);
    return out->buf.size_B > 1 << 16 ? flush(out) : out->buf.error;
}

extern const struct zs_command zs_command_log;

static int run(void *parsed, int operand_count, char **operands)
{
    const struct log_options *o = parsed;
    if (operand_count != 1)
        return zs_cli_usage(&zs_command_log, "one recording is needed");
    const struct zs_log_options log = {.color = zs_cli_color(&o->common, STDOUT_FILENO),
                                       .absolute = o->absolute,
                                       .failed_only = o->failed,
                                       .backtrace = o->backtrace,
                                       .filters = o->filters.items,
                                       .filter_count = o->filters.count,
                                       .limit = o->limit};
    struct out out = {0};
    struct zs_diag diag = {0};
    struct zs_merge_totals totals;
    struct zs_filter filter = {0};
    int error = zs_filter_compile(&filter, o->filters.items, o->filters.count, &diag);
    zs_filter_fini(&filter);
    if (error == -EINVAL)
        return zs_cli_usage(&zs_command_log, "%s", diag.text);
    error = zs_log_write(operands[0], &log, put, &out, &totals, &diag);
    int status = out.status;
    if (error < 0) {
        char text[600];
        diag.error = diag.error ? diag.error : error;
        diag.offset_B = diag.text[0] ? diag.offset_B : ZS_DIAG_NO_OFFSET;
        zs_diag_print(&diag, text, sizeof(text));
        status = zs_cli_fail("%s: %s", operands[0], text);
    } else if (!status) {
        flush(&out);
        status = out.status;
        if (!zs_cli_stdout_closed()) /* otherwise not all was read */
            zs_cli_note_losses(&o->common, operands[0], totals.calls, totals.lost,
                               totals.damaged_files);
    }
    zs_buf_fini(&out.buf);
    return status;
}

const struct zs_command zs_command_log = {
    .name = "log",
    .summary = "print the API calls of a recording, one a line",
    .operands = "[RECORDING]",
    .takes_recording = true,
    .description =
        "Prints what an application called, in the order of time over all threads and processes: "
        "seconds since the first call, thread, the call with its arguments by name, its result and "
        "how long it took.",
    .examples = "  zescope log -f 'Append' --failed rec\n"
                "      the appends that failed\n",
    .options = options,
    .option_count = ZS_ARRAY_LEN(options),
    .options_size_B = sizeof(struct log_options),
    .run = run,
};
