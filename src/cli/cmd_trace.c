/* SPDX-License-Identifier: MIT */
/* zescope trace: the API calls of an application as lines while it runs. */
#include "cli/options.h"
#include "cli/record_into.h"
#include "cli/scratch.h"

#include <zescope/record.h>

#include <stdio.h>

struct trace_options {
    struct zs_common_options common;
    const char *output;
    struct zs_string_list include, exclude;
};

static const struct zs_option options[] = {
    {"output", 'o', ZS_OPTION_STRING, offsetof(struct trace_options, output), "FILE",
     "append the lines to a file instead of stderr"},
    {"include", 'i', ZS_OPTION_LIST, offsetof(struct trace_options, include), "REGEX",
     "only calls whose name matches; may be given several times"},
    {"exclude", 'e', ZS_OPTION_LIST, offsetof(struct trace_options, exclude), "REGEX",
     "no calls whose name matches; may be given several times"},
};

extern const struct zs_command zs_command_trace;

/* What got lost, which `record --quiet` leaves to us. */
static void tell_notes(const struct trace_options *o, const char *path)
{
    struct zs_recording *recording;
    if (zs_recording_open(path, &recording, NULL))
        return; /* it did not come to be, and that was said */
    zs_cli_print_notes(&o->common, recording);
    zs_recording_close(recording);
}

static int run(void *parsed, int operand_count, char **operands)
{
    const struct trace_options *o = parsed;
    char folder[PATH_MAX], recording[PATH_MAX + 16];
    if (!operand_count)
        return zs_cli_usage(&zs_command_trace, "no application given");
    if (!zs_cli_scratch_make(folder))
        return ZS_EXIT_FAILED;
    snprintf(recording, sizeof(recording), "%s/recording", folder);
    const struct zs_cli_lines lines = {recording, o->output, &o->include, &o->exclude};
    int status = zs_cli_record_lines(&o->common, &lines, operand_count, operands);
    tell_notes(o, recording);
    zs_cli_scratch_remove(folder);
    return status;
}

const struct zs_command zs_command_trace = {
    .name = "trace",
    .summary = "run an application and print its API calls as they happen",
    .operands = "-- APP [ARGS...]",
    .description =
        "Prints a line when a Level Zero or OpenCL call of the application has returned: thread, "
        "the call "
        "with its arguments by name, its result and how long it took. Nothing is kept. The "
        "application's exit status is passed through.",
    .examples = "zescope trace -i Module -i Kernel -o calls.txt -- ./app\n"
                "    what it builds and launches\n",
    .options = options,
    .option_count = ZS_ARRAY_LEN(options),
    .options_size_B = sizeof(struct trace_options),
    .takes_app = true,
    .run = run,
};
