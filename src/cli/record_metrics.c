/* SPDX-License-Identifier: MIT */
#include "cli/record_metrics.h"

#include "cli/doctor.h"
#include "cli/input.h"
#include "store/store.h"

#include "record/metrics_numbers.h"
#include <zescope/metrics.h>
#include <zescope/record.h>

#include <dlfcn.h>
#include <inttypes.h>
#include <level_zero/ze_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ASK_TIMEOUT_MS = 20000 };

static int ask_init(const void *question, FILE *out)
{
    const bool *enabled = question;
    void *loader = dlopen("libze_loader.so.1", RTLD_NOW | RTLD_LOCAL);
    __typeof__(zeInit) *init =
        loader ? (__typeof__(zeInit) *)(uintptr_t)dlsym(loader, "zeInit") : NULL;
    if (!init || setenv("ZET_ENABLE_METRICS", *enabled ? "1" : "0", 1))
        return 1;
    fprintf(out, "init=%u\n", (unsigned)init(0));
    return 0;
}

/* What zeInit gives; false: it did not come back. */
static bool try_init(bool enabled, unsigned *ret_result)
{
    struct doctor_answer answer;
    char value[16];
    doctor_ask(ask_init, &enabled, ASK_TIMEOUT_MS, &answer);
    if (!answer.asked || answer.timed_out || !doctor_value(&answer, "init", value, sizeof(value)))
        return false;
    *ret_result = (unsigned)strtoul(value, NULL, 10);
    return true;
}

bool zs_cli_metrics_allowed(void)
{
    unsigned with = 0, without = 0;
    bool came_back = try_init(true, &with);
    if ((came_back && !with) || !try_init(false, &without))
        return true; /* or it fails anyhow: that is for the application to find out */
    if (without)
        zs_cli_fail(
            "no device here has metrics: no Level Zero driver starts; --device skl measures "
            "on the software GPU, zescope doctor says what is installed");
    else if (came_back)
        zs_cli_fail(
            "the driver here does not start with metrics enabled (zeInit gives %#x with "
            "ZET_ENABLE_METRICS=1, and works without): it finds no counters to read (Intel's needs "
            "libigdmd.so.1, which is not in Debian); zescope "
            "run -- ... measures on the software GPU",
            with);
    else
        zs_cli_fail("the driver here does not survive zeInit with ZET_ENABLE_METRICS=1, and works "
                    "without: there are no metrics to be had from it");
    return false;
}

uint32_t zs_cli_metrics_sets(const char *recording)
{
    struct zs_metrics *metrics;
    uint32_t count, sets = 1;
    if (zs_metrics_open_numbers(recording, &metrics, NULL))
        return 1;
    const struct zs_metric_group *groups = zs_metrics_groups(metrics, &count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t same = 0;
        for (uint32_t k = 0; k < count; k++)
            same +=
                groups[k].domain == groups[i].domain && !strcmp(groups[k].device, groups[i].device);
        sets = ZS_MAX(sets, same);
    }
    zs_metrics_close(metrics);
    return sets;
}

/* A number that the kernel shows, or -1. */
static int setting(const char *path)
{
    FILE *file = fopen(path, "re");
    int value = -1;
    if (!file)
        return -1;
    if (fscanf(file, "%d", &value) != 1)
        value = -1;
    fclose(file);
    return value;
}

/* What to do where a driver offers nothing. */
static const char *advice(void)
{
    const char *drivers = getenv("ZE_ENABLE_ALT_DRIVERS");
    if (drivers && strstr(drivers, "libze_zescope.so"))
        return "zescope metrics list shows the groups that there are";
    if (geteuid() && setting("/proc/sys/dev/i915/perf_stream_paranoid") == 1)
        return "the kernel lets root only read counters: sysctl dev.i915.perf_stream_paranoid=0";
    if (geteuid() && setting("/proc/sys/dev/xe/observation_paranoid") == 1)
        return "the kernel lets root only read counters: sysctl dev.xe.observation_paranoid=0";
    return "Intel's driver needs a GPU and its metrics libraries (intel-metrics-discovery); "
           "zescope "
           "run -- ... measures on the software GPU; zescope metrics list shows what there is";
}

static bool has_note(const struct zs_record_note *notes, uint32_t count, const char *kind)
{
    for (uint32_t i = 0; i < count; i++)
        if (!strncmp(notes[i].text, kind, strlen(kind)))
            return true;
    return false;
}

/* ret_lacks_advice: no note says what to run instead. */
static bool is_refused(const char *recording, bool *ret_lacks_advice)
{
    struct zs_recording *r;
    uint32_t count;
    if (zs_recording_open(recording, &r, NULL))
        return false;
    const struct zs_record_note *notes = zs_recording_notes(r, &count);
    bool refused = has_note(notes, count, ZS_NOTE_NO_METRICS);
    *ret_lacks_advice = !has_note(notes, count, ZS_NOTE_OTHER_COMMAND);
    zs_recording_close(r);
    return refused;
}

/* Why there is no report though nothing was lost. */
static const char *reason(const struct zs_metrics *metrics)
{
    uint32_t count;
    const struct zs_metric_group *groups = zs_metrics_groups(metrics, &count);
    if (!zs_metrics_info(metrics)->launches)
        return "no kernel was launched";
    if (count && groups[0].is_time_based)
        return "the device ran for less than one period: make it shorter";
    return "no kernel launch was measured";
}

/* With another group of the device that measured. */
static bool shares_domain(const struct zs_metric_group *groups, uint32_t count,
                          const bool *measured, uint32_t g)
{
    for (uint32_t i = 0; i < count; i++)
        if (i != g && measured[i] && groups[i].domain == groups[g].domain &&
            groups[i].is_time_based == groups[g].is_time_based &&
            !strcmp(groups[i].device, groups[g].device))
            return true;
    return false;
}

/* Groups that had no turn while others of their domain measured. */
static void note_turns_of(const struct zs_common_options *common, const struct zs_metrics *metrics,
                          const bool *measured, bool is_time_based, const char *why)
{
    uint32_t count;
    char names[512] = "";
    const struct zs_metric_group *groups = zs_metrics_groups(metrics, &count);
    for (uint32_t g = 0; g < count; g++) {
        size_t at = strlen(names);
        if (!measured[g] && groups[g].is_time_based == is_time_based &&
            shares_domain(groups, count, measured, g))
            snprintf(names + at, sizeof(names) - at, "%s%.100s", at ? ", " : "", groups[g].name);
    }
    if (names[0])
        zs_cli_note(common, "nothing was measured with %s: %s", names, why);
}

static void note_turns(const struct zs_common_options *common, const struct zs_metrics *metrics)
{
    uint32_t count;
    struct zs_metrics_cursor *cursor = zs_metrics_cursor_open(metrics);
    const struct zs_metric_launch *launch;
    const struct zs_metric_report *report;
    zs_metrics_groups(metrics, &count);
    bool *measured = calloc((size_t)count + 1, sizeof(*measured));
    while (measured && zs_metrics_next(cursor, &launch, &report) > 0)
        if (report)
            measured[report->group] = true;
    zs_metrics_cursor_close(cursor);
    if (measured && zs_metrics_info(metrics)->reports) {
        note_turns_of(common, metrics, measured, false,
                      "groups of one domain take turns, and a command list keeps its groups until "
                      "it is reset; --runs runs the application once for each");
        note_turns_of(common, metrics, measured, true,
                      "of a domain one group at a time is read over time: the first that is named");
    }
    free(measured);
}

bool zs_cli_note_metrics(const struct zs_common_options *common, const char *recording)
{
    struct zs_metrics *metrics;
    struct zs_diag diag = {0};
    if (zs_metrics_open_numbers(recording, &metrics, &diag)) {
        zs_cli_note(common, "metrics: %s", diag.text);
        return false;
    }
    const struct zs_metrics_info *info = zs_metrics_info(metrics);
    const uint64_t reports = info->reports;
    zs_cli_note_metrics_losses(common, recording, info);
    note_turns(common, metrics);
    bool lacks = false;
    if (!reports && is_refused(recording, &lacks))
        zs_cli_note(common, "there are no metrics%s%s", lacks ? ": " : "", lacks ? advice() : "");
    else if (!reports && !info->lost && !info->events_lost)
        zs_cli_note(common, "there are no metrics: %s", reason(metrics));
    zs_metrics_close(metrics);
    return reports != 0;
}
