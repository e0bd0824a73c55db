/* SPDX-License-Identifier: MIT */
/* zescope diff: what changed between two recordings. */
#include "cli/options.h"

#include "base/file.h"
#include "record/traces.h"
#include "report/diff_limit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct diff_options {
    struct zs_common_options common;
    struct zs_string_list fail_on;
    const char *html;
    uint64_t threshold;
    bool json, unlike_clocks;
};

static const struct zs_option options[] = {
    {"threshold", 0, ZS_OPTION_U64, offsetof(struct diff_options, threshold), "PERCENT",
     "means that changed by less are not shown (10); 0: every change"},
    {"fail-on", 0, ZS_OPTION_LIST, offsetof(struct diff_options, fail_on), "LIMIT",
     "exit with 3 when something grew by more: [REGEX:]time|total|count|failed>VALUE, VALUE in % "
     "or "
     "with ns us ms s; REGEX is of \"kind name\"; may be given several times"},
    {"unlike-clocks", 0, ZS_OPTION_FLAG, offsetof(struct diff_options, unlike_clocks), NULL,
     "compare also where times of devices are of different kinds: of a device and of the software "
     "GPU, or estimated and replayed"},
    {"html", 0, ZS_OPTION_STRING, offsetof(struct diff_options, html), "OUT",
     "write one self-contained HTML file"},
    {"json", 'j', ZS_OPTION_FLAG, offsetof(struct diff_options, json), NULL, "print JSON"},
};
static const struct diff_options defaults = {.threshold = 10};

extern const struct zs_command zs_command_diff;

/* ---- limits ---- */

static int parse_limits(const struct diff_options *o, struct zs_diff_limit *limits)
{
    for (size_t i = 0; i < o->fail_on.count; i++) {
        struct zs_diag diag = {0};
        if (zs_diff_limit_parse(o->fail_on.items[i], &limits[i], &diag))
            return zs_cli_usage(&zs_command_diff, "--fail-on: %s", diag.text);
    }
    return ZS_EXIT_OK;
}

/* Where a recording does not hold what happened, nothing is known to be within a limit. */
static int check_input(const char *recording, const struct zs_diff_input *input)
{
    const char *why = input->damaged_files        ? "its trace is damaged"
                      : zs_traces_lost(recording) ? "parts of its trace were lost while recording"
                      : !input->calls             ? "it holds no API calls"
                                                  : NULL;
    return why ? zs_cli_fail("%s: %s: --fail-on cannot be judged", recording, why) : ZS_EXIT_OK;
}

/* A limit on nothing is never broken: most likely its expression is wrong. */
static void note_unused(const struct zs_common_options *common, const struct zs_diff *diff,
                        const struct zs_diff_limit *limits, size_t count)
{
    for (size_t l = 0; l < count; l++) {
        size_t row = 0;
        while (row < diff->count && !zs_diff_limit_covers(&limits[l], &diff->rows[row]))
            row++;
        if (row == diff->count)
            zs_cli_note(common, "--fail-on %s: nothing in either recording matches",
                        limits[l].text);
    }
}

/* What is beyond a limit is told on stderr. */
static int check_limits(const struct zs_diff *diff, const struct zs_diff_limit *limits,
                        size_t count)
{
    struct zs_buf text = {0};
    for (size_t l = 0; l < count; l++)
        for (size_t row = 0; row < diff->count; row++)
            zs_diff_limit_broken(&limits[l], &diff->rows[row], &text);
    int status = text.size_B ? ZS_EXIT_UNMET : ZS_EXIT_OK;
    for (const char *line = zs_buf_cstr(&text); *line;) {
        size_t length = strcspn(line, "\n");
        zs_cli_fail("%.*s", (int)length, line);
        line += length + (line[length] == '\n');
    }
    if (text.error)
        status = zs_cli_fail("out of memory");
    zs_buf_fini(&text);
    return status;
}

/* ---- output ---- */

static int write_file(void *sink, const void *data, size_t size_B)
{
    return zs_file_out_write(sink, data, size_B);
}

static int write_html(const struct diff_options *o, const struct zs_diff *diff,
                      const struct zs_diff_json_options *json)
{
    struct zs_file_out *out;
    struct zs_diag diag = {0};
    int status = ZS_EXIT_OK;
    if (!strcmp(o->html, "-")) {
        int error = zs_diff_html(diff, json, zs_cli_sink_stdout, &status);
        return error && status == ZS_EXIT_OK && !zs_cli_stdout_closed()
                   ? zs_cli_fail("out of memory")
                   : status;
    }
    if (zs_file_out_open(o->html, &out, &diag))
        return zs_cli_fail("%s", diag.text);
    int error = zs_diff_html(diff, json, write_file, out);
    if (zs_file_out_close(out, error != -ENOMEM, &diag)) /* an error of writing is the file's */
        return zs_cli_fail("%s", diag.text);
    if (error)
        return zs_cli_fail("out of memory");
    zs_cli_note(&o->common, "wrote %s", o->html);
    return ZS_EXIT_OK;
}

static int print(const struct diff_options *o, const struct zs_diff *diff,
                 const struct zs_diff_json_options *json)
{
    struct zs_buf out = {0};
    if (o->json)
        zs_diff_json(diff, json, &out);
    else
        zs_diff_text(diff, o->threshold, zs_cli_color(&o->common, STDOUT_FILENO), &out);
    int (*write)(const void *, size_t) = o->json ? zs_cli_write_stdout : zs_cli_write_text;
    int status = out.error ? zs_cli_fail("out of memory") : write(out.data, out.size_B);
    zs_buf_fini(&out);
    return status;
}

static int compare(const struct diff_options *o, char **operands,
                   const struct zs_diff_limit *limits)
{
    const struct zs_diff_json_options json = {
        .a = operands[0], .b = operands[1], .threshold = o->threshold, .indent = 2};
    struct zs_diff diff;
    struct zs_diag diag = {0};
    int error = zs_diff_load(operands[0], operands[1], &diff, &diag);
    if (error)
        return zs_cli_fail("%s", diag.text[0] ? diag.text : strerror(-error));
    if (!o->unlike_clocks && zs_diff_unlike_clocks(&diff, operands[0], operands[1], &diag)) {
        zs_diff_free(&diff);
        return zs_cli_fail("%s; --unlike-clocks compares nevertheless", diag.text);
    }
    const struct zs_diff_input *inputs[] = {&diff.a, &diff.b};
    for (int i = 0; i < 2; i++)
        zs_cli_note_losses(&o->common, operands[i], inputs[i]->calls, inputs[i]->lost_calls,
                           inputs[i]->damaged_files);
    int status = o->html ? write_html(o, &diff, &json) : print(o, &diff, &json);
    for (int i = 0; i < 2 && status == ZS_EXIT_OK && o->fail_on.count; i++)
        status = check_input(operands[i], inputs[i]);
    if (status == ZS_EXIT_OK) {
        note_unused(&o->common, &diff, limits, o->fail_on.count);
        status = check_limits(&diff, limits, o->fail_on.count);
    }
    zs_diff_free(&diff);
    return status;
}

static int run(void *parsed, int operand_count, char **operands)
{
    const struct diff_options *o = parsed;
    if (operand_count != 2)
        return zs_cli_usage(&zs_command_diff, "two recordings are needed");
    if (o->html && o->json)
        return zs_cli_usage(&zs_command_diff, "--html and --json do not go together");
    struct zs_diff_limit *limits = calloc(o->fail_on.count + 1, sizeof(*limits));
    if (!limits)
        return zs_cli_fail("out of memory");
    int status = parse_limits(o, limits);
    if (status == ZS_EXIT_OK)
        status = compare(o, operands, limits);
    for (size_t i = 0; i < o->fail_on.count; i++)
        zs_diff_limit_fini(&limits[i]);
    free(limits);
    return status;
}

const struct zs_command zs_command_diff = {
    .name = "diff",
    .summary = "calls, kernels and times that changed between two recordings",
    .operands = "RECORDING RECORDING",
    .description =
        "Compares two recordings, A and B: API calls by name, kernels by name and shape, copies by "
        "direction. A row is shown when its count or its failures differ, or its mean time by the "
        "threshold or more. With --fail-on it is a check for continuous integration: what grew "
        "beyond a "
        "limit is told on stderr, and the exit status is 3; it is 1 when a recording is damaged or "
        "holds no calls, so that limits cannot be judged.",
    .examples =
        "zescope diff --threshold 0 before after\n"
        "    every difference\n"
        "zescope diff --fail-on 'kernel:time>10%' --fail-on 'failed>0' before after\n"
        "    fails when a kernel became slower by more than a tenth, or calls failed anew\n",
    .options = options,
    .defaults = &defaults,
    .option_count = ZS_ARRAY_LEN(options),
    .options_size_B = sizeof(struct diff_options),
    .run = run,
};
