/* SPDX-License-Identifier: MIT */
/* zescope metrics query, stream, show: an application is recorded, and its metrics are shown. */
#include "cli/metrics.h"

#include "base/duration.h"
#include "cli/input.h"
#include "cli/paths.h"
#include "cli/record_into.h"
#include "cli/record_metrics.h"
#include "cli/scratch.h"
#include "record/metrics_numbers.h"
#include "report/metrics.h"

#include <zescope/metrics.h>
#include <zescope/record.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int compile(struct zs_filter *filter, const struct zs_string_list *list)
{
    struct zs_diag diag = {0};
    if (list->count && zs_filter_compile(filter, list->items, list->count, &diag))
        return zs_cli_usage(&zs_command_metrics, "%s", diag.text);
    return ZS_EXIT_OK;
}

static void free_view(struct zs_metrics_view *view)
{
    zs_filter_fini(&view->groups);
    zs_filter_fini(&view->metrics);
    zs_filter_fini(&view->kernels);
}

/* Names of groups choose what is recorded; of what was recorded expressions choose. */
static int make_view(const struct metrics_options *o, bool choose_groups,
                     struct zs_metrics_view *ret)
{
    *ret = (struct zs_metrics_view){.by = (enum zs_metrics_by)o->by,
                                    .limit = o->csv || o->json ? 0 : (uint32_t)o->limit,
                                    .columns = zs_cli_columns(STDOUT_FILENO)};
    int status = choose_groups ? compile(&ret->groups, &o->groups) : ZS_EXIT_OK;
    status = status ? status : compile(&ret->metrics, &o->metrics);
    return status ? status : compile(&ret->kernels, &o->kernels);
}

static int print(const struct metrics_options *o, const char *recording, bool is_show)
{
    struct zs_metrics *metrics;
    struct zs_metrics_view view;
    struct zs_diag diag = {0};
    int status = make_view(o, is_show, &view);
    if (!status && zs_metrics_open_numbers(recording, &metrics, &diag)) {
        status = zs_cli_fail("%s: %s", recording, diag.text);
    } else if (!status) {
        const struct zs_metrics_info *info = zs_metrics_info(metrics);
        zs_metrics_write *show = o->json  ? zs_metrics_json
                                 : o->csv ? zs_metrics_csv
                                          : zs_metrics_text;
        if (is_show) /* the others told it as they recorded */
            zs_cli_note_metrics_losses(&o->common, recording, info);
        if (!info->reports && !o->json) {
            status = zs_cli_fail("%s holds no metrics: zescope record --metrics, zescope metrics "
                                 "query and zescope metrics stream make some",
                                 recording);
        } else {
            int error = show(metrics, &view,
                             o->json || o->csv ? zs_cli_sink_stdout : zs_cli_sink_text, &status);
            if (error && status == ZS_EXIT_OK && !zs_cli_stdout_closed())
                status = zs_cli_fail("%s", strerror(-error));
        }
        zs_metrics_close(metrics);
    }
    free_view(&view);
    return status;
}

/* What got lost or could not be had, which `record --quiet` leaves to us. False: there are none. */
static bool tell(const struct metrics_options *o, const char *path)
{
    struct zs_recording *recording;
    if (zs_recording_open(path, &recording, NULL))
        return false; /* it did not come to be, and that was said */
    zs_cli_print_notes(&o->common, recording);
    zs_recording_close(recording);
    return zs_cli_note_metrics(&o->common, path);
}

/* JSON and CSV are alone on standard output: what the application writes there goes to standard
 * error. The descriptor to put back, or -1. */
static int data_to_us(void)
{
    int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (out >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
        close(out);
        out = -1;
    }
    return out;
}

static int record(const struct metrics_options *o, bool streams, const char *path, int app_count,
                  char **app)
{
    size_t at = 0;
    const char **words = calloc(16 + 2 * (o->groups.count + o->kernels.count), sizeof(*words));
    if (!words)
        return zs_cli_fail("out of memory");
    words[at++] = "--quiet";
    words[at++] = "--no-last";
    words[at++] = "--output";
    words[at++] = path;
    for (size_t i = 0; i < o->groups.count; i++) {
        words[at++] = "--metrics";
        words[at++] = o->groups.items[i];
    }
    for (size_t i = 0; i < o->kernels.count && !streams; i++) {
        words[at++] = "--kernel";
        words[at++] = o->kernels.items[i];
    }
    if (streams) {
        words[at++] = "--metrics-period";
        words[at++] = o->period ? o->period : "1ms";
    } else if (o->runs) {
        words[at++] = "--runs";
    }
    int out = o->json || o->csv ? data_to_us() : -1;
    int status = zs_cli_record_with(words, at, app_count, app);
    if (out >= 0) {
        dup2(out, STDOUT_FILENO);
        close(out);
    }
    free(words);
    return status;
}

/* `record` gives a folder another name where there is one already: it shall be this one. */
static int check_output(const char *path)
{
    if (strchr(path, '%'))
        return zs_cli_usage(&zs_command_metrics, "--output: a plain name, without %%");
    if (access(path, F_OK))
        return ZS_EXIT_OK;
    return zs_cli_fail("%s is there already", path);
}

static int run_app(const struct metrics_options *o, bool streams, int app_count, char **app)
{
    char folder[PATH_MAX] = "", scratch[PATH_MAX + 16];
    const char *path = o->output;
    int status = path ? check_output(path) : ZS_EXIT_OK;
    if (status)
        return status;
    if (!path) {
        if (!zs_cli_scratch_make(folder))
            return ZS_EXIT_FAILED;
        snprintf(scratch, sizeof(scratch), "%s/recording", folder);
        path = scratch;
    }
    status = record(o, streams, path, app_count, app);
    bool some = zs_recording_probe(path) && tell(o, path);
    if (some) {
        int printed = print(o, path, false);
        status = status ? status : printed;
    } else if (!status) {
        status = ZS_EXIT_FAILED;
    }
    if (folder[0])
        zs_cli_scratch_remove(folder);
    return status;
}

static int show(const struct metrics_options *o, int count, char **paths)
{
    char last[PATH_MAX];
    if (count > 1)
        return zs_cli_usage(&zs_command_metrics, "show takes one recording");
    if (!count && !zs_cli_last_recording(last))
        return zs_cli_usage(&zs_command_metrics, "no recording given");
    return print(o, count ? paths[0] : last, true);
}

int zs_cli_metrics(const struct metrics_options *o, int count, char **operands)
{
    const char *verb = count ? operands[0] : "";
    uint64_t period_ns;
    bool queries = !strcmp(verb, "query"), streams = !strcmp(verb, "stream");
    if (o->json && o->csv)
        return zs_cli_usage(&zs_command_metrics, "--json or --csv");
    if (!strcmp(verb, "show"))
        return show(o, count - 1, operands + 1);
    if (!queries && !streams)
        return zs_cli_usage(&zs_command_metrics, "list, query, stream or show is expected%s%s",
                            count ? ", not " : "", verb);
    if (!o->groups.count)
        return zs_cli_usage(&zs_command_metrics,
                            "%s needs a metric group (-g); zescope metrics list shows them", verb);
    if (count < 2)
        return zs_cli_usage(&zs_command_metrics,
                            "no application given: zescope metrics %s -g G -- "
                            "app",
                            verb);
    if (streams && o->runs)
        return zs_cli_usage(&zs_command_metrics, "--runs is for query");
    if (queries && o->period)
        return zs_cli_usage(&zs_command_metrics, "--period is for stream");
    if (o->period && !zs_period_parse(o->period, &period_ns))
        return zs_cli_usage(&zs_command_metrics, "--period takes a time (1ms, 50us), not '%s'",
                            o->period);
    return run_app(o, streams, count - 1, operands + 1);
}
