/* SPDX-License-Identifier: MIT */
/* zescope trace: the API calls of an application as lines while it runs. */
#include "cli/options.h"
#include "cli/record_into.h"

#include <zescope/record.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* `record` into a folder that is thrown away, with the lines on. */
static int run_record(const struct trace_options *o, const char *folder, int count, char **operands)
{
    const char *start[] = {"--quiet",
                           "--no-activity",
                           "--no-last",
                           "-o",
                           folder,
                           "--live",
                           o->output ? o->output : "-"};
    size_t filters = o->include.count + o->exclude.count, at = ZS_ARRAY_LEN(start);
    const char **words = calloc(at + 2 * filters, sizeof(*words));
    if (!words)
        return zs_cli_fail("out of memory");
    memcpy(words, start, sizeof(start));
    for (size_t i = 0; i < filters; i++) {
        bool in = i < o->include.count;
        words[at++] = in ? "--include" : "--exclude";
        words[at++] = in ? o->include.items[i] : o->exclude.items[i - o->include.count];
    }
    int status = zs_cli_record_with(words, at, count, operands);
    free(words);
    return status;
}

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
    int status = run_record(o, recording, operand_count, operands);
    tell_notes(o, recording);
    zs_cli_scratch_remove(folder);
    return status;
}

const struct zs_command zs_command_trace = {
    .name = "trace",
    .summary = "run an application and print its API calls as they happen",
    .operands = "-- APP [ARGS...]",
    .description =
        "Prints a line when a Level Zero call of the application has returned: thread, the call "
        "with its arguments by name, its result and how long it took. The application's exit "
        "status is passed through.",
    .examples = "zescope trace -i Module -i Kernel -o calls.txt -- ./app\n"
                "    what it builds and launches\n",
    .options = options,
    .option_count = ZS_ARRAY_LEN(options),
    .options_size_B = sizeof(struct trace_options),
    .takes_app = true,
    .run = run,
};
