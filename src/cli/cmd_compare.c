/* SPDX-License-Identifier: MIT */
/* zescope compare: what changed between two recordings, or two builds. */
#include "cli/demangle.h"
#include "cli/view.h"

#include "base/file.h"
#include "base/os.h"
#include "record/traces.h"
#include "report/compare.h"
#include "report/diff_limit.h"

#include <zescope/analyze.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct compare_options {
    struct zs_common_options common;
    struct zs_string_list fail_on, with;
    struct zs_input_select select;
    const char *html;
    uint64_t threshold, context, width;
    int by;
    bool json, unlike_clocks, all, code, calls;
};

#define AT(member) offsetof(struct compare_options, member)
static const struct zs_option options[] = {
    {"kernel", 'k', ZS_OPTION_LIST, AT(select.kernels), "REGEX",
     "only kernels whose name matches, with their code; may be given several times"},
    {"with", 0, ZS_OPTION_LIST, AT(with), "REGEX",
     "kernels of B, where they have another name: -k naive --with tiled"},
    {"device", 'd', ZS_OPTION_STRING, AT(select.device), "NAME",
     "only code for this device; sources are compiled for it (skl)"},
    {"build-options", 0, ZS_OPTION_STRING, AT(select.options), "OPTIONS",
     "of the compiler, where a side is a source"},
    {"code", 0, ZS_OPTION_FLAG, AT(code), NULL,
     "recordings: source and machine code of all kernels that changed, side by side"},
    {"by", 0, ZS_OPTION_CHOICE, AT(by), "source|address",
     "order of the code: by source lines, or by addresses"},
    {"context", 0, ZS_OPTION_U64, AT(context), "LINES", "shown around what changed (2)"},
    {"all", 'a', ZS_OPTION_FLAG, AT(all), NULL, "what did not change, too"},
    {"calls", 0, ZS_OPTION_FLAG, AT(calls), NULL,
     "recordings: calls, launches and copies alone, without what is inside kernels"},
    {"width", 0, ZS_OPTION_U64, AT(width), "COLUMNS",
     "of the text (the terminal's); from 100 on code stands side by side"},
    {"threshold", 0, ZS_OPTION_U64, AT(threshold), "PERCENT",
     "times that changed by less are not shown (10); 0: every change"},
    {"fail-on", 0, ZS_OPTION_LIST, AT(fail_on), "LIMIT",
     "exit with 3 when something grew by more: [REGEX:]time|total|count|failed>VALUE, VALUE in % "
     "or with ns us ms s; REGEX is of \"kind name\"; may be given several times"},
    {"unlike-clocks", 0, ZS_OPTION_FLAG, AT(unlike_clocks), NULL,
     "compare also where times of devices are of different kinds: of a device and of the software "
     "GPU, or estimated and replayed"},
    {"html", 0, ZS_OPTION_STRING, AT(html), "OUT", "write one self-contained HTML file"},
    {"json", 'j', ZS_OPTION_FLAG, AT(json), NULL, "print JSON, schema zescope.compare/1"},
};
#undef AT
static const struct compare_options defaults = {.threshold = 10, .context = 2};

extern const struct zs_command zs_command_compare;

/* ---- limits ---- */

static int parse_limits(const struct compare_options *o, struct zs_diff_limit *limits)
{
    for (size_t i = 0; i < o->fail_on.count; i++) {
        struct zs_diag diag = {0};
        if (zs_diff_limit_parse(o->fail_on.items[i], &limits[i], &diag))
            return zs_cli_usage(&zs_command_compare, "--fail-on: %s", diag.text);
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

struct page {
    const struct zs_compared *compared;
    const struct zs_compare_options *how;
};

static int put_html(const void *opaque, zs_write_fn *write, void *user)
{
    const struct page *page = opaque;
    return zs_compare_html(page->compared, page->how, write, user);
}

static int print(const struct compare_options *o, const struct zs_compared *c,
                 const struct zs_compare_options *how)
{
    int status = ZS_EXIT_OK;
    if (o->html)
        return zs_cli_write_to(&o->common, o->html, put_html, &(struct page){c, how});
    if (o->json)
        return zs_cli_ended(zs_compare_json(c, how, zs_cli_sink_stdout, &status), status);
    return zs_cli_ended(zs_compare_text(c, how, zs_cli_sink_text, &status), status);
}

/* ---- kernels ---- */

struct side {
    struct zs_view view;
    struct zs_source_options sources;
    struct zs_analysis *analysis;
};

static int open_side(const struct compare_options *o, int at, char *operand, struct side *ret)
{
    struct zs_input_select select = o->select;
    struct zs_diag diag = {0};
    char *operands[] = {operand, NULL};
    if (at && o->with.count)
        select.kernels = o->with;
    select.allow_none = select.each_once = true;
    ret->sources.size_B = sizeof(ret->sources);
    int status = zs_view_open(&o->common, &select, &ret->sources, 1, operands, &ret->view);
    if (status == ZS_EXIT_OK && ret->view.inputs.recordings.count &&
        zs_analysis_open(operand, &ret->analysis, &diag))
        status = zs_cli_fail("%s: %s", operand, diag.text);
    return status;
}

static int compare_kernels(const struct compare_options *o, char **operands,
                           const struct zs_diff *calls)
{
    static const struct zs_module_view nothing;
    struct zs_compare_options how = {.names = {operands[0], operands[1]},
                                     .calls = calls,
                                     .threshold = (double)o->threshold,
                                     .all = o->all,
                                     .with_code = o->code || o->select.kernels.count || !calls,
                                     .by_address = o->by,
                                     .color = zs_cli_color(&o->common, STDOUT_FILENO),
                                     .width = o->width ? (unsigned)ZS_MIN(o->width, 10000u)
                                                       : zs_cli_columns(STDOUT_FILENO),
                                     .context = (uint32_t)ZS_MIN(o->context, 1000000u),
                                     .readable = zs_cli_demangle,
                                     .indent = 2};
    struct zs_compare_side sides[ZS_SIDES] = {{&nothing, NULL}, {&nothing, NULL}};
    struct side opened[ZS_SIDES] = {0};
    struct zs_compared c = {0};
    int status = ZS_EXIT_OK;
    for (int s = 0; s < ZS_SIDES && !o->calls && status == ZS_EXIT_OK; s++) {
        status = open_side(o, s, operands[s], &opened[s]);
        sides[s] = (struct zs_compare_side){&opened[s].view.view, opened[s].analysis};
    }
    if (status == ZS_EXIT_OK)
        status = zs_compare_open(sides, &c) ? zs_cli_fail("out of memory") : print(o, &c, &how);
    zs_compare_close(&c);
    for (int s = 0; s < ZS_SIDES; s++) {
        zs_analysis_close(opened[s].analysis);
        zs_view_close(&opened[s].view);
    }
    return status;
}

/* ---- recordings ---- */

static int compare_recordings(struct compare_options *o, char **operands,
                              const struct zs_diff_limit *limits)
{
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
    for (int i = 0; i < 2; i++) {
        zs_cli_note_losses(&o->common, operands[i], inputs[i]->calls, inputs[i]->lost_calls,
                           inputs[i]->damaged_files);
        o->calls |= !zs_recording_probe(operands[i]); /* a folder of recordings has no modules */
    }
    int status = compare_kernels(o, operands, &diff);
    for (int i = 0; i < 2 && status == ZS_EXIT_OK && o->fail_on.count; i++)
        status = check_input(operands[i], inputs[i]);
    if (status == ZS_EXIT_OK) {
        note_unused(&o->common, &diff, limits, o->fail_on.count);
        status = check_limits(&diff, limits, o->fail_on.count);
    }
    zs_diff_free(&diff);
    return status;
}

static int compare(struct compare_options *o, char **operands, const struct zs_diff_limit *limits)
{
    struct zs_path_info info;
    for (int i = 0; i < 2; i++) {
        bool is_file = !zs_os_path_info(operands[i], &info) && info.kind == ZS_PATH_FILE;
        if (!is_file || zs_recording_probe(operands[i]))
            continue;
        if (o->fail_on.count || o->calls)
            return zs_cli_usage(&zs_command_compare, "%s: %s is of recordings, this is a file",
                                operands[i], o->calls ? "--calls" : "--fail-on");
        return compare_kernels(o, operands, NULL);
    }
    return compare_recordings(o, operands, limits);
}

static int run(void *parsed, int operand_count, char **operands)
{
    struct compare_options *o = parsed;
    if (operand_count != 2)
        return zs_cli_usage(&zs_command_compare, "two recordings or files are needed");
    if (o->html && o->json)
        return zs_cli_usage(&zs_command_compare, "--html and --json do not go together");
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

const struct zs_command zs_command_compare = {
    .name = "compare",
    .summary = "what changed between two recordings, or two builds of kernels",
    .operands = "A B",
    .description =
        "Compares two recordings: API calls by name, kernels by name and shape, copies by "
        "direction; then each kernel: what it is limited by, what was measured and counted, "
        "findings that came and went, and with -k or --code its source and machine code side by "
        "side. A and B may also be modules or sources (.cl, .spv), which are compiled: then "
        "kernels alone are compared. Kernels are the same by name; one on each side is compared "
        "whatever its name.\n\n"
        "Instructions are aligned by their text, then without numbers of registers, then by "
        "opcode: ~ stands before what changed, - and + before what A or B has alone. Lines whose "
        "code is the same are left out.\n\n"
        "A row of calls is shown when its count or its failures differ, or its mean time by the "
        "threshold or more. With --fail-on it is a check for continuous integration: what grew "
        "beyond a limit is told on stderr, and the exit status is 3; it is 1 when a recording is "
        "damaged or holds no calls, so that limits cannot be judged.",
    .examples =
        "zescope compare before after\n"
        "    what changed between two recordings\n"
        "zescope compare -d dg2 -k gemm old.cl new.cl\n"
        "    two sources of a kernel, compiled: lines and instructions side by side\n"
        "zescope compare -k gemm_naive --with gemm_tiled rec rec\n"
        "    two kernels of one recording\n"
        "zescope compare --fail-on 'kernel:time>10%' --fail-on 'failed>0' before after\n"
        "    fails when a kernel became slower by more than a tenth, or calls failed anew\n",
    .options = options,
    .defaults = &defaults,
    .option_count = ZS_ARRAY_LEN(options),
    .options_size_B = sizeof(struct compare_options),
    .run = run,
};
