/* SPDX-License-Identifier: MIT */
/* zescope timeline: a recording for trace viewers. */
#include "cli/options.h"

#include "report/timeline.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct timeline_options {
    struct zs_common_options common;
    const char *output;
};

static const struct zs_option options[] = {
    {"output", 'o', ZS_OPTION_STRING, offsetof(struct timeline_options, output), "FILE",
     "what to write: x.json is Chrome's format, every other name Perfetto's"},
};

static int put(void *user, struct zs_span bytes)
{
    errno = 0;
    if (fwrite(bytes.data, 1, bytes.size_B, user) == bytes.size_B)
        return 0;
    return errno ? -errno : -EIO;
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
    FILE *file = fopen(o->output, "wb");
    if (!file)
        return zs_cli_fail("%s: %s", o->output, strerror(errno));
    struct zs_timeline_result result;
    struct zs_diag diag = {0};
    int error =
        (json ? zs_timeline_chrome : zs_timeline_perfetto)(operands[0], put, file, &result, &diag);
    if (fclose(file) && !error)
        error = -errno;
    if (error) {
        remove(o->output);
        return zs_cli_fail("%s: %s", operands[0], diag.text[0] ? diag.text : strerror(-error));
    }
    zs_cli_note(&o->common, "%llu device activities, %llu more without times: %s",
                (unsigned long long)result.slices, (unsigned long long)result.untimed, o->output);
    return ZS_EXIT_OK;
}

const struct zs_command zs_command_timeline = {
    .name = "timeline",
    .summary = "make a trace for Perfetto or Chrome of a recording",
    .operands = "RECORDING",
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
