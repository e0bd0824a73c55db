/* SPDX-License-Identifier: MIT */
/* zescope check: assertions on a recording, for continuous integration. */
#include "cli/formulas.h"

#include "base/file.h"
#include "report/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct check_options {
    struct zs_common_options common;
    struct zs_string_list max, min, assertions, files, tolerances;
    const char *baseline, *write_baseline, *junit;
    bool all, json;
};

static const struct zs_option options[] = {
    {"max", 0, ZS_OPTION_LIST, offsetof(struct check_options, max), "[KERNEL:]VALUE=LIMIT",
     "the value may at most be the limit, in every kernel, or in those whose name matches the "
     "pattern KERNEL (* ? [...]): 'spills=0', 'gemm*:time_mean=2ms'; may be given several times"},
    {"min", 0, ZS_OPTION_LIST, offsetof(struct check_options, min), "[KERNEL:]VALUE=LIMIT",
     "the value must at least be the limit: 'gemm:EuActive=60%', also 'gemm:EuActive>60%'"},
    {"assert", 0, ZS_OPTION_LIST, offsetof(struct check_options, assertions), "[KERNEL:]CONDITION",
     "a condition that must hold: 'slm_moved == 0 or lane_use >= 90%'"},
    {"file", 0, ZS_OPTION_LIST, offsetof(struct check_options, files), "FILE",
     "definitions and assertions, one a line; may be given several times"},
    {"baseline", 0, ZS_OPTION_STRING, offsetof(struct check_options, baseline),
     "RECORDING|FILE.json",
     "compare with another recording, or with what --write-baseline wrote; folders of recordings "
     "with each other, each recording and the sums of all; without --tolerance "
     "all that is the same in every run (instructions, bytes, spills, occupancy ...) must not get "
     "worse"},
    {"tolerance", 0, ZS_OPTION_LIST, offsetof(struct check_options, tolerances),
     "[KERNEL:]NAME=VALUE[%]",
     "compare this value with the baseline's, and let it be worse by so much: 'time_mean=5%', "
     "'spills=64'; +, - and +- before the amount say which change counts; may be given several "
     "times"},
    {"write-baseline", 0, ZS_OPTION_STRING, offsetof(struct check_options, write_baseline), "FILE",
     "write the values of this recording as a baseline"},
    {"junit", 0, ZS_OPTION_STRING, offsetof(struct check_options, junit), "FILE",
     "write the results as JUnit's XML besides"},
    {"all", 'a', ZS_OPTION_FLAG, offsetof(struct check_options, all), NULL,
     "print what holds, too"},
    {"json", 'j', ZS_OPTION_FLAG, offsetof(struct check_options, json), NULL, "print JSON"},
};

extern const struct zs_command zs_command_check;

/* ---- judging ---- */

static int open_analysis(const char *path, struct zs_analysis **ret_analysis)
{
    char text[600];
    struct zs_diag diag;
    zs_diag_clear(&diag);
    if (zs_analysis_open(path, ret_analysis, &diag)) {
        zs_diag_print(&diag, text, sizeof(text));
        return zs_cli_fail("%s: %s", path, text);
    }
    const char *why = zs_analysis_info(*ret_analysis)->unfit;
    return *why ? zs_cli_fail("%s: %s: it cannot be judged", path, why) : ZS_EXIT_OK;
}

static int judge_list(struct zs_check *check, const struct zs_string_list *list,
                      enum zs_assertion_kind kind, const char *option)
{
    for (size_t i = 0; i < list->count; i++) {
        struct zs_formula_error where;
        int error = zs_check_assert(check, kind, list->items[i], option, &where);
        if (error == -ENOMEM)
            return zs_cli_fail("out of memory");
        if (error)
            zs_cli_fail("%s '%s': column %u: %s", option, list->items[i], where.column, where.text);
        if (error)
            return ZS_EXIT_USAGE;
    }
    return ZS_EXIT_OK;
}

static int judge(const struct check_options *o, struct zs_check *check)
{
    const char *name;
    struct zs_formula_error where;
    int error = zs_check_defined(check, &name, &where);
    if (error)
        return zs_formula_fail(name, error, &where);
    int status = judge_list(check, &o->max, ZS_ASSERT_MAX, "--max");
    if (status == ZS_EXIT_OK)
        status = judge_list(check, &o->min, ZS_ASSERT_MIN, "--min");
    return status == ZS_EXIT_OK ? judge_list(check, &o->assertions, ZS_ASSERT_HOLDS, "--assert")
                                : status;
}

static int take_tolerances(const struct check_options *o, struct zs_check *check)
{
    for (size_t i = 0; i < o->tolerances.count; i++) {
        struct zs_diag diag = {0};
        if (zs_check_tolerance(check, o->tolerances.items[i], &diag))
            return zs_cli_usage(&zs_command_check, "--tolerance: %s", diag.text);
    }
    return ZS_EXIT_OK;
}

static int compare(const struct check_options *o, struct zs_check *check)
{
    char text[600];
    struct zs_diag diag;
    zs_diag_clear(&diag);
    int error = zs_check_baseline(check, o->baseline, &diag);
    if (!error)
        return ZS_EXIT_OK;
    zs_diag_print(&diag, text, sizeof(text));
    return error == -ENOMEM
               ? zs_cli_fail("out of memory")
               : zs_cli_fail("%s: %s", o->baseline, diag.text[0] ? text : strerror(-error));
}

/* ---- results ---- */

static int write_baseline(const struct check_options *o, struct zs_analysis *analysis)
{
    struct zs_diag diag = {0};
    bool to_stdout = !strcmp(o->write_baseline, "-");
    int error =
        zs_analysis_write_baseline(analysis, to_stdout ? "/dev/stdout" : o->write_baseline, &diag);
    if (error)
        return zs_cli_fail("%s", error == -ENOMEM ? "out of memory" : diag.text);
    zs_cli_note(&o->common, "wrote %s", o->write_baseline);
    return ZS_EXIT_OK;
}

static int tell(const struct check_options *o, const char *path, const struct zs_check *check)
{
    uint32_t failed, count = zs_check_count(check, &failed);
    struct zs_buf out = {0};
    int status = ZS_EXIT_OK;
    if (o->junit) {
        zs_check_junit(check, &out);
        status = zs_cli_write_to(NULL, o->junit, zs_cli_put_buf, &out);
        zs_buf_fini(&out);
    }
    if (o->json)
        zs_check_json(check, path, o->baseline, &out);
    else
        zs_check_text(check, o->all, zs_cli_color(&o->common, STDOUT_FILENO), &out);
    if (status == ZS_EXIT_OK)
        status = out.error
                     ? zs_cli_fail("out of memory")
                     : (o->json ? zs_cli_write_stdout : zs_cli_write_text)(out.data, out.size_B);
    zs_buf_fini(&out);
    if (status != ZS_EXIT_OK)
        return status;
    if (failed)
        zs_cli_note(&o->common, "%u of %u checks failed", failed, count);
    else if (count == 1)
        zs_cli_note(&o->common, "the one check holds");
    else
        zs_cli_note(&o->common, "all %u checks hold", count);
    return failed ? ZS_EXIT_UNMET : ZS_EXIT_OK;
}

static int check_recording(const struct check_options *o, const char *path,
                           const struct zs_formula_files *files)
{
    struct zs_analysis *analysis = NULL;
    struct zs_check *check = NULL;
    int status = open_analysis(path, &analysis);
    if (status == ZS_EXIT_OK && zs_check_create(analysis, &check))
        status = zs_cli_fail("out of memory");
    if (status == ZS_EXIT_OK)
        status = take_tolerances(o, check);
    if (status == ZS_EXIT_OK)
        status = zs_formula_files_define(files, analysis);
    if (status == ZS_EXIT_OK)
        status = judge(o, check);
    if (status == ZS_EXIT_OK && o->baseline)
        status = compare(o, check);
    if (status == ZS_EXIT_OK && o->write_baseline)
        status = write_baseline(o, analysis);
    if (status == ZS_EXIT_OK && !zs_check_count(check, NULL) && !o->write_baseline)
        status = zs_cli_usage(&zs_command_check, "nothing to check: %s",
                              o->baseline ? "the baseline and the recording have no kernel"
                                          : "no --file asserts anything");
    /* only a baseline was wanted: nothing was asserted */
    bool only_wrote =
        o->write_baseline && check && !zs_check_count(check, NULL) && !o->junit && !o->json;
    if (status == ZS_EXIT_OK && !only_wrote)
        status = tell(o, path, check);
    zs_check_destroy(check);
    zs_analysis_close(analysis);
    return status;
}

static int run(void *parsed, int operand_count, char **operands)
{
    const struct check_options *o = parsed;
    size_t asserted = o->max.count + o->min.count + o->assertions.count + o->files.count;
    if (operand_count != 1)
        return zs_cli_usage(&zs_command_check, "one recording is needed");
    if (!asserted && !o->baseline && !o->write_baseline)
        return zs_cli_usage(
            &zs_command_check,
            "nothing to check: --max, --min, --assert, --file or --baseline say what");
    if (o->tolerances.count && !o->baseline)
        return zs_cli_usage(&zs_command_check, "--tolerance is for --baseline");
    struct zs_formula_files files = {0};
    int status = zs_formula_files_open(&o->files, &files);
    if (status == ZS_EXIT_OK)
        status = check_recording(o, operands[0], &files);
    zs_formula_files_close(&files);
    return status;
}

const struct zs_command zs_command_check = {
    .name = "check",
    .summary = "assertions on a recording, for continuous integration",
    .operands = "[RECORDING]",
    .takes_recording = true,
    .description =
        "Judges limits and conditions on the kernels of a recording. Values are quantities of "
        "zescope (spills, instructions, time_mean, lane_use, occupancy ...), metrics of recorded "
        "groups (EuActive, ComputeBasic.EuActive), formulas over them, and definitions of files "
        "given with --file.\n\n"
        "Every assertion is judged for each kernel that ran, or for those whose name matches. What "
        "does not hold is printed with the kernel, the value, the limit and the source line. A "
        "name that the recording does not have, a value that was not recorded and a pattern that "
        "matches no kernel are failures, too.\n\n"
        "RECORDING may be a folder of recordings, those of the ranks of a program: what is "
        "asserted "
        "has to hold in each. A limit on a name that is neither a quantity nor can be a metric's "
        "(these have capital letters) is wrong usage.\n\n"
        "The exit status is 0 when everything holds, 3 when something does not, 2 for an assertion "
        "that is wrong as such, 1 when the recording cannot be read or is damaged.",
    .examples = "  zescope check --max spills=0 --min 'gemm:lane_use>90%' rec\n"
                "      no kernel spills, gemm uses nine of ten lanes\n"
                "  zescope check --file limits.zsm --junit results.xml rec\n"
                "      assertions from a file, results for a server of continuous integration\n"
                "  zescope check --write-baseline base.json rec\n"
                "  zescope check --baseline base.json --tolerance time_mean=5% rec2\n"
                "      no kernel became slower by more than a twentieth\n",
    .options = options,
    .option_count = ZS_ARRAY_LEN(options),
    .options_size_B = sizeof(struct check_options),
    .run = run,
};
