/* SPDX-License-Identifier: MIT */
/* zescope trace: the API calls of an application as lines while it runs. */
#include "cli/options.h"

#include <zescope/record.h>

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

extern const struct zs_command zs_command_record, zs_command_trace;

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    return remove(path) && errno != ENOENT ? -1 : 0;
}

/* `record` into a folder that is thrown away, with the lines on. */
static int run_record(const struct trace_options *o, const char *folder, int count, char **operands)
{
    size_t extra = 12 + 2 * (o->include.count + o->exclude.count);
    char **argv = calloc((size_t)count + extra + 1, sizeof(*argv));
    void *parsed = calloc(1, zs_command_record.options_size_B);
    int argc = 0, status = ZS_EXIT_FAILED, app_count;
    char **app;
    if (argv && parsed) {
        const char *start[] = {"record", "--quiet", "--no-activity", "--no-last",
                               "-o",     folder,    "--live",        o->output ? o->output : "-"};
        for (size_t i = 0; i < ZS_ARRAY_LEN(start); i++)
            argv[argc++] = (char *)(uintptr_t)start[i];
        for (size_t i = 0; i < o->include.count + o->exclude.count; i++) {
            bool in = i < o->include.count;
            argv[argc++] = (char *)(uintptr_t)(in ? "--include" : "--exclude");
            argv[argc++] = (char *)(uintptr_t)(in ? o->include.items[i]
                                                  : o->exclude.items[i - o->include.count]);
        }
        argv[argc++] = (char *)(uintptr_t) "--";
        for (int i = 0; i < count; i++)
            argv[argc++] = operands[i];
        status = zs_options_parse(&zs_command_record, argc, argv, parsed, &app_count, &app);
        if (!status)
            status = zs_command_record.run(parsed, app_count, app);
        zs_options_free(&zs_command_record, parsed);
    }
    free(parsed);
    free(argv);
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
    char folder[256], recording[300];
    const char *temp = getenv("TMPDIR");
    if (!operand_count)
        return zs_cli_usage(&zs_command_trace, "no application given");
    snprintf(folder, sizeof(folder), "%.200s/zescope-trace-XXXXXX",
             temp && temp[0] == '/' ? temp : "/tmp");
    if (!mkdtemp(folder))
        return zs_cli_fail("%s: %s", folder, strerror(errno));
    snprintf(recording, sizeof(recording), "%s/recording", folder);
    int status = run_record(o, recording, operand_count, operands);
    tell_notes(o, recording);
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
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
