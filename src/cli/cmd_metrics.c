/* SPDX-License-Identifier: MIT */
/* zescope metrics: its options; the verbs are in metrics_list.c and metrics_app.c. */
#include "cli/metrics.h"
#include "cli/paths.h"

#include <string.h>

enum { TIMEOUT_MAX_S = 3600 };

static int run_metrics(void *opaque, int operand_count, char **operands);

#define AT(member) offsetof(struct metrics_options, member)
static const struct zs_option options[] = {
    {"group", 'g', ZS_OPTION_LIST, AT(groups), "NAME",
     "list: only groups of this name, with all their metrics; query, stream: the groups to "
     "measure, "
     "also as NAME,NAME; show: an expression; may be given several times"},
    {"device", 'd', ZS_OPTION_STRING, AT(device), "NAME[,NAME]",
     "of the software GPU as these devices (skl, tgllp, dg2, pvc ...) instead of the drivers here"},
    {"json", 'j', ZS_OPTION_FLAG, AT(json), NULL,
     "JSON with everything: schema zescope.metric-groups/1 of list, zescope.metrics/1 of the "
     "others"},
    {"csv", 0, ZS_OPTION_FLAG, AT(csv), NULL, "query, stream, show: a row for each value"},
    {"by", 0, ZS_OPTION_CHOICE, AT(by), "shape|kernel|launch",
     "query, stream, show: sums by kernel and numbers of groups and items, by kernel, or each "
     "launch "
     "(of stream: each report) alone"},
    {"kernel", 'k', ZS_OPTION_LIST, AT(kernels), "REGEX",
     "query, show: only kernels whose name matches; may be given several times"},
    {"metric", 0, ZS_OPTION_LIST, AT(metrics), "REGEX",
     "query, stream, show: only metrics whose name matches, in text and CSV; may be given several "
     "times"},
    {"period", 0, ZS_OPTION_STRING, AT(period), "TIME",
     "stream: a report every TIME: 1ms, 50us (1ms)"},
    {"runs", 0, ZS_OPTION_FLAG, AT(runs), NULL,
     "query: groups that exclude each other do not take turns, the application is run once for "
     "each "
     "set of them"},
    {"limit", 'n', ZS_OPTION_U64, AT(limit), "N",
     "text: at most N kernels or launches of a group, 0: all (48)"},
    {"output", 'o', ZS_OPTION_STRING, AT(output), "DIR", "query, stream: keep the recording"},
    {"timeout", 0, ZS_OPTION_U64, AT(timeout_s), "SECONDS",
     "how long the drivers may take to answer (30)"},
};
#undef AT

static const struct metrics_options defaults = {.timeout_s = 30, .limit = 48};

const struct zs_command zs_command_metrics = {
    .name = "metrics",
    .summary = "list the metrics of devices, measure the kernels of an application",
    .operands = "list | query -- APP [ARGS...] | stream -- APP [ARGS...] | show [DIR]",
    .description =
        "query runs an application with queries of event-based metric groups around each kernel "
        "launch, stream with time-based groups read all the time; then the values are shown, by "
        "kernel and shape. show prints what a recording holds (zescope record --metrics). The "
        "application's exit status is passed through; 1 when nothing could be measured. With "
        "--json or --csv its standard output goes to standard error.\n\n"
        "list lists the metric groups of all devices of all Level Zero drivers here: name, domain "
        "(one "
        "group of each domain can be active at a time), how they are sampled (event: "
        "zetMetricQuery, time: zetMetricStreamer), how many metrics they have. With --group also "
        "each metric with its units, metric type, type of its values and description.\n\n"
        "The drivers are asked in a process of their own with ZET_ENABLE_METRICS=1.",
    .examples =
        "zescope metrics list --device skl\n    of the software GPU\n"
        "zescope metrics list -d skl --group ComputeBasic\n    what the metrics of a group are\n"
        "zescope metrics list --json | jq '.devices[].groups[].name'\n    for scripts\n"
        "zescope metrics query -g ComputeBasic -- ./app\n    counters of each kernel\n"
        "zescope metrics query -d skl -g ComputeBasic --by launch --csv -- ./app\n"
        "    of each launch, on the software GPU\n"
        "zescope metrics stream -g ComputeBasic --period 100us -o rec -- ./app\n"
        "    over time; the recording is kept\n",
    .options = options,
    .option_count = ZS_ARRAY_LEN(options),
    .options_size_B = sizeof(struct metrics_options),
    .defaults = &defaults,
    .run = run_metrics,
};

static int run_metrics(void *opaque, int operand_count, char **operands)
{
    const struct metrics_options *o = opaque;
    bool is_list = operand_count && !strcmp(operands[0], "list");
    if (is_list && operand_count > 1)
        return zs_cli_usage(&zs_command_metrics, "list takes no %s", operands[1]);
    if (o->timeout_s == 0 || o->timeout_s > TIMEOUT_MAX_S)
        return zs_cli_usage(&zs_command_metrics, "--timeout: 1 to %d seconds", TIMEOUT_MAX_S);
    int status = o->device ? zs_cli_use_software_gpu(&zs_command_metrics, o->device) : ZS_EXIT_OK;
    if (status)
        return status;
    return is_list ? zs_cli_list_metrics(o) : zs_cli_metrics(o, operand_count, operands);
}
