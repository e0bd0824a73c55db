/* SPDX-License-Identifier: MIT */
/* zescope timeline: a recording for trace viewers. */
#include "cli/options.h"

#include "base/file.h"
#include "report/timeline.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct timeline_options {
    struct zs_common_options common;
    const char *output;
};

static const struct zs_option options[] = {
    {"output", 'o', ZS_OPTION_STRING, offsetof(struct timeline_options, output), "FILE",
     "what to write: x.json is Chrome's format, every other name Perfetto's; -: to stdout"},
};

typedef int (*timeline_fn)(const char *recording, zs_timeline_write_fn write, void *user,
                           struct zs_timeline_result *ret_result, struct zs_diag *diag);

static int put_file(void *user, struct zs_span bytes)
{
    return zs_file_out_write(user, bytes.data, bytes.size_B);
}

/* Whoever reads may have gone: nobody wants the rest, and that is no failure. */
static int put_stdout(void *user, struct zs_span bytes)
{
    (void)user;
    while (bytes.size_B) {
        ssize_t n = write(STDOUT_FILENO, bytes.data, bytes.size_B);
        if (n < 0 && errno != EINTR)
            return -errno;
        if (n > 0)
            bytes = zs_span_make(bytes.data + n, bytes.size_B - (size_t)n);
    }
    return 0;
}

extern const struct zs_command zs_command_timeline;

static int run(void *parsed, int operand_count, char **operands)
{
    const struct timeline_options *o = parsed;
    if (operand_count != 1)
        return zs_cli_usage(&zs_command_timeline, "one recording is needed");
    if (!o->output)
        return zs_cli_usage(&zs_command_timeline, "-o FILE says where to write");
    size_t length = strlen(o->output);
    bool json = length > 5 && !strcmp(o->output + length - 5, ".json");
    timeline_fn timeline = json ? zs_timeline_chrome : zs_timeline_perfetto;
    struct zs_timeline_result result = {0};
    struct zs_diag diag = {0};
    struct zs_file_out *file = NULL;
    bool to_stdout = !strcmp(o->output, "-");
    if (to_stdout && isatty(STDOUT_FILENO))
        return zs_cli_fail("a trace is not for a terminal: -o FILE");
    if (!to_stdout && zs_file_out_open(o->output, &file, &diag))
        return zs_cli_fail("%s", diag.text);
    int error = timeline(operands[0], file ? put_file : put_stdout, file, &result, &diag);
    struct zs_diag closing = {0};
    if (file && zs_file_out_close(file, !error, &closing))
        return zs_cli_fail("%s", closing.text);
    if (error && !(to_stdout && error == -EPIPE))
        return diag.text[0]
                   ? zs_cli_fail("%s: %s", operands[0], diag.text)
                   : zs_cli_fail("%s: %s", to_stdout ? "stdout" : o->output, strerror(-error));
    zs_cli_note(&o->common, "%llu device activit%s, %llu more without times: %s",
                (unsigned long long)result.slices, result.slices == 1 ? "y" : "ies",
                (unsigned long long)result.untimed, to_stdout ? "stdout" : o->output);
    zs_cli_note_losses(&o->common, operands[0], result.calls, result.lost_calls,
                       result.damaged_files);
    return ZS_EXIT_OK;
}

const struct zs_command zs_command_timeline = {
    .name = "timeline",
    .summary = "make a trace for Perfetto or Chrome of a recording",
    .operands = "[RECORDING]",
    .takes_recording = true,
    .description =
        "Writes one trace file with the API calls of every thread, a track per device queue with "
        "its kernels, copies and barriers, arrows from each append to its executions, and the "
        "memory that was allocated. ui.perfetto.dev opens both formats.",
    .examples = "zescope timeline rec -o rec.pftrace\n"
                "    for ui.perfetto.dev\n"
                "zescope timeline rec -o rec.json\n"
                "    for chrome://tracing and other viewers of that format\n",
    .options = options,
    .option_count = ZS_ARRAY_LEN(options),
    .options_size_B = sizeof(struct timeline_options),
    .run = run,
};
