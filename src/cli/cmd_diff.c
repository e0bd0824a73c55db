/* SPDX-License-Identifier: MIT */
/* zescope diff: what changed between two recordings. */
#include "cli/options.h"

#include "report/diff.h"

#include <string.h>
#include <unistd.h>

struct diff_options {
    struct zs_common_options common;
    uint64_t threshold;
    bool json;
};

static const struct zs_option options[] = {
    {"threshold", 0, ZS_OPTION_U64, offsetof(struct diff_options, threshold), "PERCENT",
     "means that changed by less are not shown (10); 0: every change"},
    {"json", 0, ZS_OPTION_FLAG, offsetof(struct diff_options, json), NULL, "print JSON"},
};
static const struct diff_options defaults = {.threshold = 10};

extern const struct zs_command zs_command_diff;

static int run(void *parsed, int operand_count, char **operands)
{
    const struct diff_options *o = parsed;
    if (operand_count != 2)
        return zs_cli_usage(&zs_command_diff, "two recordings are needed");
    struct zs_diff diff;
    struct zs_diag diag = {0};
    int error = zs_diff_load(operands[0], operands[1], &diff, &diag);
    if (error)
        return zs_cli_fail("%s", diag.text[0] ? diag.text : strerror(-error));
    for (int i = 0; i < operand_count; i++)
        zs_cli_note_losses(&o->common, operands[i], 1, 0, 0);
    struct zs_buf out = {0};
    if (o->json)
        zs_diff_json(&diff, o->threshold, &out);
    else
        zs_diff_text(&diff, o->threshold, zs_cli_color(&o->common, STDOUT_FILENO), &out);
    int status =
        out.error ? zs_cli_fail("out of memory") : zs_cli_write_stdout(out.data, out.size_B);
    zs_buf_fini(&out);
    zs_diff_free(&diff);
    return status;
}

const struct zs_command zs_command_diff = {
    .name = "diff",
    .summary = "calls, kernels and times that changed between two recordings",
    .operands = "RECORDING RECORDING",
    .description =
        "Compares two recordings, A and B: API calls by name, kernels by name and shape, copies by "
        "direction. A row is shown when its count or its failures differ, or its mean time by the "
        "threshold or more.",
    .examples = "zescope diff --threshold 0 before after\n"
                "    every difference\n",
    .options = options,
    .defaults = &defaults,
    .option_count = ZS_ARRAY_LEN(options),
    .options_size_B = sizeof(struct diff_options),
    .run = run,
};
