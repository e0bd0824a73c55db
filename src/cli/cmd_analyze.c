/* SPDX-License-Identifier: MIT */
/* zescope analyze: what limits the kernels of a recording. */
#include "cli/demangle.h"
#include "cli/formulas.h"

#include "report/analysis.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct analyze_options {
    struct zs_common_options common;
    struct zs_string_list kernels, files;
    uint64_t limit;
    bool quantities, json;
};

static const struct zs_option options[] = {
    {"kernel", 'k', ZS_OPTION_LIST, offsetof(struct analyze_options, kernels), "REGEX",
     "only kernels whose name matches; may be given several times"},
    {"limit", 'n', ZS_OPTION_U64, offsetof(struct analyze_options, limit), "N",
     "so many kernels, those with most time (10); 0: all"},
    {"quantities", 0, ZS_OPTION_FLAG, offsetof(struct analyze_options, quantities), NULL,
     "all that is known of a kernel in numbers, by the names that `zescope check` knows"},
    {"file", 0, ZS_OPTION_LIST, offsetof(struct analyze_options, files), "FILE",
     "definitions of further numbers, which are shown, too; may be given several times"},
    {"json", 'j', ZS_OPTION_FLAG, offsetof(struct analyze_options, json), NULL, "print JSON"},
};
static const struct analyze_options defaults = {.limit = 10};

extern const struct zs_command zs_command_analyze;

static void put_notes(const struct analyze_options *o, const struct zs_analysis_info *info)
{
    if (info->damaged)
        zs_cli_note(&o->common, "%s: %zu damaged file%s left out", info->recording, info->damaged,
                    info->damaged == 1 ? "" : "s");
    if (info->unread_modules)
        zs_cli_note(&o->common, "%s: %zu module%s cannot be read", info->recording,
                    info->unread_modules, info->unread_modules == 1 ? "" : "s");
    if (info->note_count)
        zs_cli_note(&o->common, "note: %s%s", info->first_note,
                    info->note_count > 1 ? "; zescope inspect shows all notes" : "");
    if (!info->has_counts)
        zs_cli_note(
            &o->common,
            "instructions were not counted: `zescope record -d DEVICE --counts` (or `zescope "
            "profile`) counts them on the software GPU");
}

static int print(const struct analyze_options *o, struct zs_analysis *analysis,
                 const struct zs_filter *kernels)
{
    const struct zs_analysis_view view = {.kernels = kernels,
                                          .limit = (size_t)o->limit,
                                          .color = zs_cli_color(&o->common, STDOUT_FILENO),
                                          .quantities = o->quantities};
    const struct zs_analysis_info *info = zs_analysis_info(analysis);
    struct zs_buf out = {0};
    if (info->kernel_count && !zs_analysis_kernel(analysis, 0))
        return zs_cli_fail("out of memory");
    if (o->json)
        zs_analysis_json(analysis, &view, &out);
    else
        zs_analysis_text(analysis, &view, &out);
    int status = ZS_EXIT_OK;
    if (out.error)
        status = zs_cli_fail("out of memory");
    else if (!out.size_B)
        status = zs_cli_fail("%s: no kernel%s", info->recording,
                             o->kernels.count ? " matches --kernel" : "s ran");
    else
        status = (o->json ? zs_cli_write_stdout : zs_cli_write_text)(out.data, out.size_B);
    zs_buf_fini(&out);
    return status;
}

static int analyze(const struct analyze_options *o, const char *path,
                   const struct zs_formula_files *files, const struct zs_filter *kernels)
{
    char text[600];
    struct zs_analysis *analysis;
    struct zs_diag diag;
    zs_diag_clear(&diag);
    if (zs_analysis_open(path, &analysis, &diag)) {
        zs_diag_print(&diag, text, sizeof(text));
        return zs_cli_fail("%s: %s", path, text);
    }
    int status = zs_formula_files_define(files, analysis);
    if (status == ZS_EXIT_OK) {
        put_notes(o, zs_analysis_info(analysis));
        status = print(o, analysis, kernels);
    }
    zs_analysis_close(analysis);
    return status;
}

static int run(void *parsed, int operand_count, char **operands)
{
    const struct analyze_options *o = parsed;
    struct zs_filter kernels = {0};
    struct zs_formula_files files = {0};
    struct zs_diag diag = {0};
    if (operand_count != 1)
        return zs_cli_usage(&zs_command_analyze, "one recording is needed");
    if (zs_filter_compile(&kernels, o->kernels.items, o->kernels.count, &diag))
        return zs_cli_usage(&zs_command_analyze, "--kernel %s", diag.text);
    kernels.other_form = zs_cli_demangle;
    int status = zs_formula_files_open(&o->files, &files);
    if (status == ZS_EXIT_OK)
        status = analyze(o, operands[0], &files, &kernels);
    zs_formula_files_close(&files);
    zs_filter_fini(&kernels);
    return status;
}

const struct zs_command zs_command_analyze = {
    .name = "analyze",
    .summary = "what limits the kernels of a recording: roofline, occupancy, findings",
    .operands = "[RECORDING]",
    .takes_recording = true,
    .description =
        "Shows for each kernel its place under the roofline of its device (operations a second "
        "against operations for each byte), how many hardware threads fit at the same time and "
        "what limits them, and findings, those first that cost most. Each has what mending it "
        "would save, the source line, and what to try.\n\n"
        "Most of it needs what `zescope profile` records: exact counts, and replays of launches "
        "on the model of the software GPU. What was not recorded is told with the option that "
        "records it.\n\n"
        "RECORDING may be a folder of recordings, those of the ranks of a program: each kernel "
        "says which it is of.",
    .examples = "  zescope record -d skl --counts --debug-info -o rec -- ./app\n"
                "  zescope analyze rec\n"
                "      the ten kernels with most time\n"
                "  zescope analyze --json -n 0 rec | jq '.kernels[] | {name, findings}'\n"
                "      findings of all kernels, for other programs\n",
    .options = options,
    .defaults = &defaults,
    .option_count = ZS_ARRAY_LEN(options),
    .options_size_B = sizeof(struct analyze_options),
    .run = run,
};
