/* SPDX-License-Identifier: MIT */
/* zescope record: run an application with the collector preloaded. */
#include "base/clock.h"
#include "base/default_device.h"
#include "base/duration.h"
#include "cli/check_report.h"
#include "cli/demangle.h"
#include "cli/hottest.h"
#include "cli/instrument.h"
#include "cli/intel.h"
#include "cli/launch.h"
#include "cli/metrics.h"
#include "cli/options.h"
#include "cli/paths.h"
#include "cli/record_into.h"
#include "cli/record_metrics.h"

#include <zescope/record.h>

#include "base/buf.h"
#include "base/checks.h"
#include "base/filter.h"
#include "base/text.h"
#include "record/counts.h"
#include "record/writer.h"
#include "report/failed_builds.h"
#include "report/recording.h"
#include "report/walks.h"
#include "store/launch_file.h"
#include "store/store.h"
#include "symbols/symbols.h"
#include "wire/instrument.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct record_options {
    struct zs_common_options common;
    const char *output, *live, *device;
    struct zs_string_list include, exclude, kernels, capture;
    uint64_t capture_limit;
    uint64_t launch_skip, launch_count;
    uint64_t trace_limit, records_buffer, records_limit;
    bool debug_info, trace, activity, counts, paused, backtrace, report, last, intel;
    const char *toggle_signal, *start_kernel, *stop_kernel, *delay, *duration;
    struct zs_string_list metrics;
    const char *metrics_period;
    bool runs;
    const char *check; /* kinds; NULL: none asked for */
    const char *instrument;
    const struct zs_cli_instrument *view; /* of zescope instrument */
    bool lines_only;                      /* of zescope trace */
};

extern const struct zs_command zs_command_record;

struct launch {
    char collector[PATH_MAX];   /* the library as LD_PRELOAD names it */
    char layer[PATH_MAX];       /* the layer for API calls, "" when they are not recorded */
    char link_folder[PATH_MAX]; /* made for it, "" when none was needed */
    char live[PATH_MAX];        /* where lines of calls go, absolute; "-": stderr; "": nowhere */
    int live_fd;                /* open meanwhile, or -1 */
    char **environment;         /* of the application; the first `owned` entries are ours */
    size_t owned;
    struct zs_cli_helper helper;
    int toggle_signal; /* 0: none */
    uint64_t delay_ns, duration_ns;
    uint64_t metrics_period_ns; /* 0: queries */
};

/* LD_PRELOAD cannot hold a path with blanks or colons: such a one is reached through a link. */
static int make_preloadable(struct launch *l)
{
    if (!strpbrk(l->collector, " \t\n:"))
        return 0;
    const char *temp = getenv("TMPDIR");
    if (!temp || temp[0] != '/' || strpbrk(temp, " \t\n:"))
        temp = "/tmp";
    snprintf(l->link_folder, sizeof(l->link_folder), "%.3000s/zescope-XXXXXX", temp);
    char path[PATH_MAX + 32];
    if (!mkdtemp(l->link_folder))
        return -errno;
    snprintf(path, sizeof(path), "%s/libzescope_collect.so", l->link_folder);
    if (symlink(l->collector, path))
        return -errno;
    snprintf(l->collector, sizeof(l->collector), "%.4000s", path);
    return 0;
}

static void remove_link(const struct launch *l)
{
    if (!l->link_folder[0])
        return;
    unlink(l->collector);
    rmdir(l->link_folder);
}

/* What the application's environment gets; entries of the same names are left out. */
static bool put_variable(struct launch *l, const char *name, const char *value)
{
    return asprintf(&l->environment[l->owned], "%s=%s", name, value) >= 0 && ++l->owned;
}

static bool is_ours(const struct launch *l, const char *entry)
{
    size_t length = strcspn(entry, "=") + 1;
    for (size_t i = 0; i < l->owned; i++)
        if (!strncmp(l->environment[i], entry, length))
            return true;
    return false;
}

/* The last of OpenCL's layers is the one that the application calls. */
static bool put_opencl_layer(struct launch *l)
{
    const char *given = getenv("OPENCL_LAYERS");
    char *layers;
    if (asprintf(&layers, "%s%s%s", given ? given : "", given && given[0] ? ":" : "", l->layer) < 0)
        return false;
    bool ok = put_variable(l, "OPENCL_LAYERS", layers);
    free(layers);
    return ok;
}

/* API calls pass our layer, which the loader takes for its validation layer. The real one stays in
 * the chain when the application asked for it. */
static bool put_trace_variables(struct launch *l)
{
    const char *asked = getenv("ZE_ENABLE_VALIDATION_LAYER");
    return put_variable(l, ZS_ENV_COLLECT_LAYER, l->layer) &&
           (!asked || strcmp(asked, "1") != 0 || put_variable(l, "ZESCOPE_NEXT_LAYER", "1")) &&
           put_variable(l, "ZE_ENABLE_VALIDATION_LAYER", "1") && put_opencl_layer(l);
}

/* OpenCL programs are rewritten by the layer, whether calls are recorded or not. */
static bool put_opencl_variables(struct launch *l)
{
    return put_variable(l, ZS_ENV_COLLECT_LAYER, l->layer) && put_opencl_layer(l);
}

/* Expressions as lines of one variable. */
static bool put_list(struct launch *l, const char *name, const struct zs_string_list *list)
{
    struct zs_buf text = {0};
    for (size_t i = 0; i < list->count; i++)
        zs_buf_printf(&text, "%s%s", i ? "\n" : "", list->items[i]);
    zs_buf_putc(&text, '\0');
    bool ok = !text.error && put_variable(l, name, (const char *)text.data);
    zs_buf_fini(&text);
    return ok;
}

static bool is_expression(const char *text)
{
    struct zs_filter filter;
    int error = zs_filter_compile(&filter, &text, 1, NULL);
    zs_filter_fini(&filter);
    return !error;
}

/* NULL, or the first expression that is none. */
static const char *bad_expression(const struct record_options *o)
{
    const char *kernels[] = {o->start_kernel, o->stop_kernel};
    for (size_t i = 0; i < o->include.count; i++)
        if (!is_expression(o->include.items[i]))
            return o->include.items[i];
    for (size_t i = 0; i < o->exclude.count; i++)
        if (!is_expression(o->exclude.items[i]))
            return o->exclude.items[i];
    for (size_t i = 0; i < o->kernels.count; i++)
        if (!is_expression(o->kernels.items[i]))
            return o->kernels.items[i];
    for (size_t i = 0; i < o->capture.count; i++)
        if (!is_expression(o->capture.items[i]))
            return o->capture.items[i];
    for (size_t i = 0; i < ZS_ARRAY_LEN(kernels); i++)
        if (kernels[i] && !is_expression(kernels[i]))
            return kernels[i];
    return NULL;
}

/* "USR2", "SIGRTMIN+3", "40"; 0: no signal that can be caught. */
static int signal_number(const char *text)
{
    char *end;
    if (!strncasecmp(text, "SIG", 3))
        text += 3;
    bool is_real_time = !strncmp(text, "RTMIN", 5);
    const char *digits = is_real_time ? text + 5 : text;
    long number = strtol(digits, &end, 10);
    if (*end || (end == digits && *text && !is_real_time))
        number = 0;
    else if (is_real_time)
        number += SIGRTMIN;
    for (int i = 1; !number && i < SIGRTMIN; i++) {
        const char *name = sigabbrev_np(i);
        if (name && !strcasecmp(name, text))
            number = i;
    }
    bool can_be_caught = number > 0 && number <= SIGRTMAX && number != SIGKILL && number != SIGSTOP;
    return can_be_caught ? (int)number : 0;
}

/* What is wrong with the options, said; 0 when nothing is. */
static int check_options(const struct record_options *o, struct launch *l)
{
    const char *bad = bad_expression(o);
    struct zs_diag diag = {0};
    unsigned checks;
    char why[128];
    if (o->check && !zs_checks_parse(o->check, &checks, why, sizeof(why)))
        return zs_cli_usage(&zs_command_record, "--check: %s", why);
    if (o->output && zs_recording_check_name(o->output, &diag))
        return zs_cli_usage(&zs_command_record, "%s", diag.text);
    if (bad)
        return zs_cli_usage(&zs_command_record, "'%s' is no regular expression", bad);
    if (o->toggle_signal && !(l->toggle_signal = signal_number(o->toggle_signal)))
        return zs_cli_usage(&zs_command_record, "'%s' is no signal that can be caught",
                            o->toggle_signal);
    if (o->delay && !zs_duration_parse(o->delay, &l->delay_ns))
        return zs_cli_usage(&zs_command_record, "--delay takes a time (2, 1.5s, 200ms), not '%s'",
                            o->delay);
    if (o->duration && !zs_duration_parse(o->duration, &l->duration_ns))
        return zs_cli_usage(&zs_command_record,
                            "--duration takes a time (2, 1.5s, 200ms), not '%s'", o->duration);
    bool pauses = o->paused || l->toggle_signal || o->start_kernel || o->stop_kernel ||
                  l->delay_ns || l->duration_ns;
    if (o->metrics_period && !zs_period_parse(o->metrics_period, &l->metrics_period_ns))
        return zs_cli_usage(&zs_command_record,
                            "--metrics-period takes a time (1ms, 50us), not '%s'",
                            o->metrics_period);
    if ((o->runs || o->metrics_period) && !o->metrics.count)
        return zs_cli_usage(&zs_command_record, "%s belongs to --metrics",
                            o->runs ? "--runs" : "--metrics-period");
    if (o->runs && o->metrics_period)
        return zs_cli_usage(
            &zs_command_record,
            "--runs is for queries: time-based groups of one domain take a recording "
            "each");
    if (o->metrics.count && (!o->trace || !o->activity))
        return zs_cli_usage(&zs_command_record,
                            "--metrics needs the trace and the activity of devices");
    if (o->capture.count && !o->trace)
        return zs_cli_usage(&zs_command_record, "--capture needs the trace");
    if (pauses && !o->trace)
        return zs_cli_usage(&zs_command_record, "with --no-trace there is nothing to pause");
    return 0;
}

static bool put_number(struct launch *l, const char *name, uint64_t value)
{
    char text[32];
    snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
    return put_variable(l, name, text);
}

static bool put_pause_variables(struct launch *l, const struct record_options *o)
{
    uint64_t start_ns = zs_now_ns();
    bool paused = o->paused || o->start_kernel || l->delay_ns;
    return put_number(l, ZS_ENV_COLLECT_PAUSED, paused) &&
           put_number(l, ZS_ENV_COLLECT_TOGGLE_SIGNAL, (uint64_t)l->toggle_signal) &&
           put_variable(l, ZS_ENV_COLLECT_START_KERNEL, o->start_kernel ? o->start_kernel : "") &&
           put_variable(l, ZS_ENV_COLLECT_STOP_KERNEL, o->stop_kernel ? o->stop_kernel : "") &&
           put_number(l, ZS_ENV_COLLECT_START, start_ns) &&
           put_number(l, ZS_ENV_COLLECT_RESUME_AT, l->delay_ns ? start_ns + l->delay_ns : 0) &&
           put_number(l, ZS_ENV_COLLECT_DURATION, l->duration_ns);
}

/* Names of groups with commas between them, one a line. */
static bool put_metrics_variables(struct launch *l, const struct record_options *o, uint32_t run)
{
    struct zs_buf text = {0};
    for (size_t i = 0; i < o->metrics.count; i++)
        zs_buf_printf(&text, "%s%s", i ? "\n" : "", o->metrics.items[i]);
    for (size_t i = 0; i < text.size_B; i++)
        if (text.data[i] == ',')
            text.data[i] = '\n';
    zs_buf_putc(&text, '\0');
    bool ok = !text.error && put_variable(l, ZS_ENV_COLLECT_METRICS, (const char *)text.data) &&
              put_number(l, ZS_ENV_COLLECT_METRICS_RUN, run) &&
              put_number(l, ZS_ENV_COLLECT_METRICS_PERIOD, l->metrics_period_ns) &&
              (!o->metrics.count || zs_cli_has_intel_nodes() ||
               put_variable(l, "ZET_ENABLE_METRICS", "1"));
    zs_buf_fini(&text);
    return ok;
}

/* How long the software GPU's launches take, should it be used: replayed where they are looked at
 * closely, else estimated. */
static const char *timing_of(const struct record_options *o)
{
    const char *given = getenv("ZESCOPE_TIMING"), *metrics = getenv("ZET_ENABLE_METRICS");
    if (given && *given)
        return given;
    return o->counts || o->metrics.count || (metrics && !strcmp(metrics, "1")) ? "model"
                                                                               : "formula";
}

static bool put_check_variables(struct launch *l, const struct record_options *o,
                                const char *recording)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof(path), "%s/" ZS_RECORD_CHECKS, recording);
    return n > 0 && (size_t)n < sizeof(path) &&
           put_variable(l, "ZESCOPE_CHECK", o->check[0] ? o->check : "1") &&
           put_variable(l, "ZESCOPE_CHECK_REPORT", path) && put_variable(l, "ZESCOPE_LOG", "off");
}

static bool make_environment(struct launch *l, const char *recording,
                             const struct record_options *o, uint32_t run)
{
    size_t count = 0;
    while (environ[count])
        count++;
    l->environment = calloc(count + 40, sizeof(*l->environment));
    if (!l->environment)
        return false;
    /* others stay first: a sanitizer's runtime insists on it */
    const char *given = getenv("LD_PRELOAD");
    char *preload = NULL;
    bool ok = asprintf(&preload, "%s%s%s", given ? given : "", given && given[0] ? ":" : "",
                       l->collector) >= 0 &&
              put_variable(l, "LD_PRELOAD", preload) &&
              put_variable(l, "ZE_ENABLE_TRACING_LAYER", "1") &&
              put_variable(l, ZS_ENV_COLLECT_DIR, recording) &&
              put_variable(l, ZS_ENV_COLLECT_DEBUG_INFO, o->debug_info ? "1" : "0") &&
              put_variable(l, ZS_ENV_COLLECT_COUNTS, o->counts ? "1" : "0") &&
              (!o->counts || put_variable(l, "ZESCOPE_TIMING", timing_of(o))) &&
              put_variable(l, ZS_ENV_COLLECT_BACKTRACE, o->backtrace ? "1" : "0") &&
              put_number(l, ZS_ENV_COLLECT_TRACE_LIMIT, o->trace_limit) &&
              put_list(l, ZS_ENV_COLLECT_INCLUDE, &o->include) &&
              put_list(l, ZS_ENV_COLLECT_EXCLUDE, &o->exclude) &&
              put_list(l, ZS_ENV_COLLECT_KERNELS, &o->kernels) &&
              put_list(l, ZS_ENV_COLLECT_CAPTURE, &o->capture) &&
              put_number(l, ZS_ENV_COLLECT_CAPTURE_LIMIT, o->capture_limit) &&
              put_number(l, ZS_ENV_COLLECT_LAUNCH_SKIP, o->launch_skip) &&
              put_number(l, ZS_ENV_COLLECT_LAUNCH_COUNT, o->launch_count) &&
              put_variable(l, ZS_ENV_COLLECT_LIVE, l->live) &&
              put_variable(l, ZS_ENV_COLLECT_LINES_ONLY, o->lines_only ? "1" : "0") &&
              put_variable(l, ZS_ENV_COLLECT_INSTRUMENT, l->helper.socket) &&
              put_number(l, ZS_ENV_COLLECT_RECORDS_BUFFER, o->records_buffer) &&
              put_number(l, ZS_ENV_COLLECT_RECORDS_LIMIT, o->records_limit) &&
              put_variable(l, ZS_ENV_COLLECT_ACTIVITY, o->activity ? "1" : "0") &&
              (!o->check || put_check_variables(l, o, recording)) && put_pause_variables(l, o) &&
              put_metrics_variables(l, o, run) &&
              (!l->layer[0] || (o->trace ? put_trace_variables(l) : put_opencl_variables(l)));
    free(preload);
    for (size_t i = 0, at = l->owned; ok && i < count; i++)
        if (!is_ours(l, environ[i]))
            l->environment[at++] = environ[i];
    return ok;
}

static void free_environment(struct launch *l)
{
    for (size_t i = 0; l->environment && i < l->owned; i++)
        free(l->environment[i]);
    free(l->environment);
    l->environment = NULL;
    l->owned = 0;
}

/* What was counted below Intel's driver gets the names of its kernels. */
static void name_counts(const struct record_options *o, const struct zs_recording *recording,
                        const char *path)
{
    const struct zs_common_options *common = &o->common;
    struct zs_filter wanted = {0};
    struct zs_diag diag = {0};
    size_t others = 0;
    int error = zs_filter_compile(&wanted, o->kernels.items, o->kernels.count, &diag);
    wanted.other_form = zs_cli_demangle;
    if (error || zs_walks_name(path, recording, &wanted, &others, &diag))
        zs_cli_note(common, "counts: %s", diag.text);
    else if (others)
        zs_cli_note(common,
                    "%zu kernel%s of no module that was recorded ran, such as the driver's own: "
                    "not counted",
                    others, others == 1 ? "" : "s");
    zs_filter_fini(&wanted);
}

/* Where counts were asked for and nothing here could count: how it is done. */
static void note_missing_counts(const struct record_options *o,
                                const struct zs_recording *recording, const char *path)
{
    struct zs_counts_list counts = {0};
    size_t damaged = 0;
    uint32_t module_count, note_count;
    const char *drivers = getenv("ZE_ENABLE_ALT_DRIVERS");
    zs_recording_modules(recording, &module_count);
    const struct zs_record_note *notes = zs_recording_notes(recording, &note_count);
    bool cannot = !module_count && !(drivers && strstr(drivers, "libze_zescope.so"));
    for (uint32_t i = 0; i < note_count && !cannot; i++)
        cannot = !strncmp(notes[i].text, ZS_NOTE_NO_COUNTS, strlen(ZS_NOTE_NO_COUNTS));
    if (!o->counts || !cannot)
        return;
    bool has_counts = !zs_counts_load(path, &counts, &damaged, NULL) && (counts.count || damaged);
    zs_counts_free(&counts);
    if (!has_counts)
        zs_cli_note(&o->common, "no instruction was counted, which takes the software GPU: zescope "
                                "record -d skl --counts ... -- ./app");
}

/* Whether nothing is in the traces but that recording was paused, all the time. */
static bool was_never_resumed(const char *path)
{
    const struct zs_report_options load = {.only = -1};
    struct zs_report *report;
    if (zs_report_load(path, &load, NULL, &report, NULL))
        return false;
    struct zs_report_totals totals = zs_report_totals(report);
    bool paused = zs_report_table(report, ZS_REPORT_PAUSES)->row_count > 0;
    bool executed = zs_report_table(report, ZS_REPORT_KERNELS)->row_count > 0;
    zs_report_free(report);
    return paused && !executed && !totals.calls && !totals.lost_calls && !totals.damaged_files;
}

/* Names that no kernel has: nothing was done for them. */
static void note_unmatched(const struct record_options *o, const struct zs_recording *recording)
{
    for (size_t i = 0; i < o->kernels.count; i++)
        zs_cli_note_kernels(&o->common, recording, "nothing was counted", "--kernel",
                            o->kernels.items[i], false);
    for (size_t i = 0; i < o->capture.count; i++) {
        char *name = strdup(o->capture.items[i]);
        if (!name)
            return;
        zs_filter_cut_number(name, 1);
        zs_cli_note_kernels(&o->common, recording, "no launch was captured", "--capture", name,
                            false);
        free(name);
    }
}

/* Recording was to be resumed by something, and was not. */
static void note_never_resumed(const struct record_options *o, const struct zs_recording *recording,
                               const char *path)
{
    bool started_paused = o->paused || o->start_kernel || o->delay;
    if (!started_paused || !was_never_resumed(path))
        return;
    if (o->start_kernel)
        zs_cli_note_kernels(&o->common, recording, "nothing was recorded", "--start-at-kernel",
                            o->start_kernel, true);
    else if (o->delay)
        zs_cli_note(&o->common,
                    "nothing was recorded: no call was made after the --delay of %s was over",
                    o->delay);
    else
        zs_cli_note(&o->common, "nothing was recorded: --paused, and nothing resumed it: neither "
                                "the application (zescope/control.h) nor a --toggle-signal");
}

/* The first lines of what the compiler said; all of it is for who asks. */
static void print_failed_builds(const struct zs_common_options *common,
                                const struct zs_recording *recording, const char *path)
{
    enum { LINES_MAX = 20 };
    struct zs_buf text = {0};
    char quoted[PATH_MAX];
    size_t failed = zs_failed_builds_text(recording, LINES_MAX, &text);
    zs_cli_quote(path, quoted, sizeof(quoted));
    if (!text.error && !common->quiet)
        zs_cli_print_stderr("%.*s", (int)text.size_B, (const char *)text.data);
    zs_cli_note(common, "%zu build%s failed; zescope inspect %s shows the log%s again", failed,
                zs_plural(failed), quoted, zs_plural(failed));
    zs_buf_fini(&text);
}

/* Nothing could be done with Level Zero but find out that there is nothing to do it with. */
static bool found_no_device(const struct zs_recording *recording, uint32_t build_count)
{
    uint32_t device_count;
    zs_recording_devices(recording, &device_count);
    return !device_count && !build_count && !getenv("ZE_ENABLE_ALT_DRIVERS");
}

static void note_no_device(const struct zs_common_options *common,
                           const struct zs_recording_info *info)
{
    char quoted[PATH_MAX];
    struct zs_buf app = {0};
    for (size_t i = 0; i < info->argc; i++) {
        zs_cli_quote(info->argv[i], quoted, sizeof(quoted));
        zs_buf_printf(&app, " %s", quoted);
    }
    zs_cli_note(common,
                "no Level Zero driver here has a device: on the software GPU it is\n"
                "  zescope record -d skl --%s\n"
                "or zescope profile for what limits its kernels; zescope doctor says what is "
                "installed",
                app.error ? " ..." : zs_buf_cstr(&app));
    zs_buf_fini(&app);
}

static void note_failures(const struct zs_common_options *common,
                          const struct zs_recording *recording, const char *path)
{
    const struct zs_recording_info *info = zs_recording_info(recording);
    uint32_t build_count;
    const struct zs_record_build *builds = zs_recording_builds(recording, &build_count);
    uint64_t failed = 0;
    for (uint32_t i = 0; i < build_count; i++)
        failed += builds[i].finished && builds[i].result;
    if (failed)
        print_failed_builds(common, recording, path);
    if (info->drops.modules || info->drops.notes)
        zs_cli_note(common, "lost: %llu module%s, %llu note%s (last error: %s)",
                    (unsigned long long)info->drops.modules, zs_plural(info->drops.modules),
                    (unsigned long long)info->drops.notes, zs_plural(info->drops.notes),
                    info->drops.last_errno ? strerror(info->drops.last_errno) : "not known");
    if (info->drops.packets)
        zs_cli_note(
            common,
            "lost: %llu beginnings and ends of calls and other events (--trace-limit, or the "
            "disk is full)",
            (unsigned long long)info->drops.packets);
}

void zs_cli_note_failures(const struct zs_common_options *common, const char *path)
{
    struct zs_recording *recording;
    struct zs_diag diag = {0};
    if (zs_recording_open(path, &recording, &diag)) {
        zs_cli_note(common, "%s: %s", path, diag.text);
        return;
    }
    zs_cli_print_notes(common, recording);
    note_failures(common, recording, path);
    zs_recording_close(recording);
}

static void print_summary(const struct record_options *o, const char *path, bool has_calls)
{
    const struct zs_common_options *common = &o->common;
    struct zs_recording *recording;
    struct zs_diag diag = {0};
    if (zs_recording_open(path, &recording, &diag)) {
        zs_cli_note(common, "%s: %s", path, diag.text);
        return;
    }
    uint32_t module_count, build_count, process_count, source_count;
    uint64_t kernels = 0, without_debug = 0;
    const struct zs_record_module *modules = zs_recording_modules(recording, &module_count);
    zs_recording_builds(recording, &build_count);
    zs_recording_processes(recording, &process_count);
    zs_recording_sources(recording, &source_count);
    for (uint32_t i = 0; i < module_count; i++) {
        kernels += modules[i].kernel_count;
        without_debug += !modules[i].debug.file;
    }
    const struct zs_recording_info *info = zs_recording_info(recording);
    zs_cli_print_notes(common, recording);
    if (o->counts)
        name_counts(o, recording, path);
    note_missing_counts(o, recording, path);
    note_never_resumed(o, recording, path);
    note_unmatched(o, recording);
    if (o->metrics.count)
        zs_cli_note_metrics(common, path);
    note_failures(common, recording, path);
    if (!process_count && !has_calls)
        zs_cli_note(common,
                    "the application used neither Level Zero nor OpenCL: nothing was recorded");
    else if (!o->device && found_no_device(recording, build_count))
        note_no_device(common, info);
    else
        zs_cli_note(
            common,
            "%u module%s (%llu kernel%s) of %u build%s in %u process%s, %u source file%s: %s",
            module_count, zs_plural(module_count), (unsigned long long)kernels, zs_plural(kernels),
            build_count, zs_plural(build_count), process_count, process_count == 1 ? "" : "es",
            source_count, zs_plural(source_count), path);
    if (without_debug)
        zs_cli_note(common, "%llu module%s without debug info: %s",
                    (unsigned long long)without_debug, zs_plural(without_debug),
                    info->debug_info
                        ? "the SPIR-V must carry it too (build it with -g)"
                        : "build with -g, or record with --debug-info where the SPIR-V carries it");
    if (module_count) {
        char quoted[PATH_MAX];
        zs_cli_quote(path, quoted, sizeof(quoted));
        zs_cli_note(common, "next: zescope annotate %s", quoted);
    }
    zs_recording_close(recording);
}

static char last_recorded[PATH_MAX];

const char *zs_cli_recorded(void)
{
    return last_recorded;
}

static int finish(const struct record_options *o, struct zs_recording_writer *writer,
                  const struct zs_recording_result *result)
{
    struct zs_diag diag = {0};
    char *path = strdup(zs_recording_writer_path(writer));
    if (zs_recording_add_sources(writer, &diag))
        zs_cli_note(&o->common, "sources were not copied: %s", diag.text);
    diag = (struct zs_diag){0};
    if (o->backtrace && path && zs_symbols_store(path, &diag))
        zs_cli_note(&o->common, "%s", diag.text);
    diag = (struct zs_diag){0};
    if (zs_recording_finish(writer, result, &diag))
        zs_cli_note(&o->common, "%s", diag.text);
    if (path)
        snprintf(last_recorded, sizeof(last_recorded), "%s", path);
    if (path && o->last)
        zs_cli_link_last(path);
    bool has_calls = path && o->trace && !o->report && zs_cli_print_hottest(&o->common, path);
    if (path)
        print_summary(o, path, has_calls);
    int status = result->exit_status;
    if (path && o->check) {
        int shown = zs_check_report_show(path, false, ZS_CHECK_TEXT);
        status = status ? status : shown;
    }
    if (path && o->instrument) {
        const struct zs_cli_instrument keep = {.tool = o->instrument};
        int made = zs_cli_instrument_results(&o->common, o->view ? o->view : &keep, path);
        status = status ? status : made;
    }
    if (path && o->report) {
        int printed = zs_cli_print_report(&o->common, path);
        status = status ? status : printed;
    }
    free(path);
    return status;
}

/* The application's process opens the file itself; whether that can be is found out before it
 * starts. It stays open here, so that who reads a pipe sees no end between two lines. */
static int open_live(const struct record_options *o, struct launch *l)
{
    char here[PATH_MAX];
    if (!o->live || !o->live[0] || !strcmp(o->live, "-")) {
        snprintf(l->live, sizeof(l->live), "%s", o->live ? o->live : "");
        return 0;
    }
    bool is_relative = o->live[0] != '/';
    if (is_relative && !getcwd(here, sizeof(here)))
        return zs_cli_fail("the current folder: %s", strerror(errno));
    int n = snprintf(l->live, sizeof(l->live), "%s%s%s", is_relative ? here : "",
                     is_relative ? "/" : "", o->live);
    errno = ENAMETOOLONG;
    if (n > 0 && (size_t)n < sizeof(l->live))
        l->live_fd =
            open(l->live, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
    if (l->live_fd >= 0)
        return 0;
    return zs_cli_fail("%s cannot be written: %s", o->live,
                       errno == ENXIO ? "a pipe that nobody reads" : strerror(errno));
}

static int start_app(const struct record_options *o, struct launch *l, const char *recording,
                     uint32_t run, char **argv, struct zs_recording_result *ret_result)
{
    int error = make_environment(l, recording, o, run) ? 0 : -ENOMEM;
    uint64_t start_ns = zs_now_ns();
    if (!error)
        error = zs_cli_run_app(argv, l->environment, l->toggle_signal, &ret_result->exit_status);
    ret_result->duration_ns = zs_now_ns() - start_ns;
    free_environment(l);
    return error;
}

/* So that views know without reading the traces. */
static void keep_asked(const struct record_options *o, const char *path)
{
    struct zs_buf names = {0};
    for (size_t i = 0; i < o->metrics.count; i++)
        zs_buf_printf(&names, "%s\n", o->metrics.items[i]);
    int error = names.error        ? names.error
                : o->metrics.count ? zs_store_file(path, ZS_RECORD_ASKED, zs_buf_span(&names))
                                   : 0;
    if (error)
        zs_cli_note(&o->common, "%s/" ZS_RECORD_ASKED ": %s", path, strerror(-error));
    zs_buf_fini(&names);
}

/* A recording of its own inside the first: its name is taken as it is. */
static int one_more_run(const struct record_options *o, struct launch *l, const char *path,
                        uint32_t run, char **argv)
{
    struct zs_buf name = {0};
    struct zs_recording_result result = {0};
    struct zs_recording_writer *writer;
    struct zs_diag diag = {0};
    for (const char *p = path; *p; p++)
        zs_buf_printf(&name, *p == '%' ? "%%%%" : "%c", *p);
    zs_buf_printf(&name, "/runs/%u", run);
    zs_buf_putc(&name, '\0');
    const struct zs_recording_plan plan = {.path = (const char *)name.data, .argv = argv};
    if (name.error || zs_recording_create(&plan, &writer, &diag)) {
        zs_cli_note(&o->common, "run %u: %s", run, name.error ? "out of memory" : diag.text);
        zs_buf_fini(&name);
        return ZS_EXIT_FAILED;
    }
    zs_buf_fini(&name);
    int error = start_app(o, l, zs_recording_writer_path(writer), run, argv, &result);
    if (zs_recording_finish(writer, &result, &diag))
        zs_cli_note(&o->common, "run %u: %s", run, diag.text);
    if (error)
        zs_cli_note(&o->common, "run %u: %s", run, strerror(-error));
    return error ? ZS_EXIT_FAILED : result.exit_status;
}

/* The first run has told which groups exclude each other. The first exit status that is none of
 * success counts. */
static void more_runs(const struct record_options *o, struct launch *l, const char *path,
                      char **argv, int *exit_status)
{
    uint32_t sets = zs_cli_metrics_sets(path);
    char runs[PATH_MAX];
    snprintf(runs, sizeof(runs), "%.4000s/runs", path);
    if (sets > 1 && mkdir(runs, 0755)) {
        zs_cli_note(&o->common, "%s: %s", runs, strerror(errno));
        return;
    }
    for (uint32_t run = 2; run <= sets; run++) {
        int status = one_more_run(o, l, path, run, argv);
        *exit_status = *exit_status ? *exit_status : status;
    }
}

static int record(const struct record_options *o, struct launch *l,
                  struct zs_recording_writer *writer, char **argv)
{
    struct zs_recording_result result = {0};
    const char *path = zs_recording_writer_path(writer);
    int error = make_preloadable(l);
    if (!error)
        error = start_app(o, l, path, o->runs, argv, &result);
    if (!error)
        keep_asked(o, path);
    if (!error && o->runs)
        more_runs(o, l, path, argv, &result.exit_status);
    zs_cli_helper_stop(&l->helper);
    remove_link(l);
    if (!error)
        return finish(o, writer, &result);
    zs_recording_abandon(writer);
    return zs_cli_cannot_start(argv[0], error);
}

static int run_record(void *options, int operand_count, char **operands);

#define OPTION(member) offsetof(struct record_options, member)
static const struct zs_option options_table[] = {
    {"output", 'o', ZS_OPTION_STRING, OPTION(output), "DIR",
     "folder to make; %p is the process id, %h the host, %q{NAME} a variable of the environment, "
     "as in rank-%q{PMI_RANK}, %% a percent sign (zescope-<app>-%p)"},
    {"device", 'd', ZS_OPTION_STRING, OPTION(device), "NAME[,NAME...]",
     "on the software GPU as these devices, as zescope run has them, instead of the drivers here"},
    {"intel", 0, ZS_OPTION_FLAG, OPTION(intel), NULL,
     "on Intel's own drivers, as zescope run --intel has them: OpenCL programs, too"},
    {"report", 0, ZS_OPTION_FLAG, OPTION(report), NULL,
     "when the application has ended, print the tables of zescope report on stdout"},
    {"last", 0, ZS_OPTION_FLAG, OPTION(last), NULL,
     "keep the link " ZS_CLI_LAST " to the recording in the current folder: other commands take it "
     "when they are given none (--no-last: not); on by default"},
    {"debug-info", 0, ZS_OPTION_FLAG, OPTION(debug_info), NULL,
     "add -g to the build flags of every module that the application creates"},
    {"counts", 'c', ZS_OPTION_FLAG, OPTION(counts), NULL,
     "count how often each instruction is executed, and by how many lanes (on the software GPU)"},
    {"check", 'C', ZS_OPTION_OPTIONAL, OPTION(check), "KINDS",
     "find what kernels do wrong (zescope's driver), as zescope run has it; told when the "
     "application has ended, and kept for zescope report --checks"},
    {"metrics", 0, ZS_OPTION_LIST, OPTION(metrics), "GROUP[,GROUP]",
     "measure each kernel launch with queries of these event-based metric groups (zescope metrics "
     "list); groups that exclude each other take turns"},
    {"runs", 0, ZS_OPTION_FLAG, OPTION(runs), NULL,
     "... or, instead of taking turns, run the application once for each set of groups that can be "
     "active together"},
    {"metrics-period", 0, ZS_OPTION_STRING, OPTION(metrics_period), "TIME",
     "... or read the time-based groups of these names, a report every TIME (1ms, 50us)"},
    {"trace", 0, ZS_OPTION_FLAG, OPTION(trace), NULL,
     "record every API call (--no-trace: modules only); on by default"},
    {"activity", 0, ZS_OPTION_FLAG, OPTION(activity), NULL,
     "time kernels, copies and barriers on the device (--no-activity: calls only); on by default"},
    {"include", 'i', ZS_OPTION_LIST, OPTION(include), "REGEX",
     "record only calls whose name matches; may be given several times"},
    {"exclude", 'e', ZS_OPTION_LIST, OPTION(exclude), "REGEX",
     "do not record calls whose name matches; may be given several times"},
    {"kernel", 'k', ZS_OPTION_LIST, OPTION(kernels), "REGEX",
     "record the executions (and --counts) only of kernels whose name matches, of C++ as it was "
     "written or as compilers have it; calls, copies and barriers are recorded all the same; may "
     "be given several times"},
    {"launch-skip", 0, ZS_OPTION_U64, OPTION(launch_skip), "N",
     "... and not of the first N launches of these, in each process, in the order in which they "
     "are "
     "appended"},
    {"launch-count", 0, ZS_OPTION_U64, OPTION(launch_count), "N",
     "... and of at most N launches then"},
    {"capture", 0, ZS_OPTION_LIST, OPTION(capture), "REGEX[:N]",
     "keep the N-th launch (1) of each kernel whose name matches, with its arguments and memory "
     "before and after, for zescope replay; may be given several times"},
    {"capture-limit", 0, ZS_OPTION_U64, OPTION(capture_limit), "BYTES",
     "... of memory in all, in each process, before and after together (1 GiB)"},
    {"live", 0, ZS_OPTION_STRING, OPTION(live), "FILE",
     "also append a line per call to a file as it returns; - is stderr"},
    {"backtrace", 'b', ZS_OPTION_FLAG, OPTION(backtrace), NULL,
     "record where in the application each call was made (some microseconds a call)"},
    {"paused", 'P', ZS_OPTION_FLAG, OPTION(paused), NULL,
     "start without recording calls and activity, until a signal, the application "
     "(zescope/control.h), "
     "a kernel or the time says so"},
    {"toggle-signal", 0, ZS_OPTION_STRING, OPTION(toggle_signal), "SIGNAL",
     "a signal (USR2, RTMIN+3, 40) that pauses and resumes; the application must not use it"},
    {"start-at-kernel", 0, ZS_OPTION_STRING, OPTION(start_kernel), "REGEX",
     "start paused, and resume as a kernel whose name matches is appended to a list, or a list "
     "with "
     "such a kernel is executed"},
    {"stop-after-kernel", 0, ZS_OPTION_STRING, OPTION(stop_kernel), "REGEX",
     "pause after the launch of a kernel whose name matches: its append to an immediate list, the "
     "execution of another list with it"},
    {"delay", 0, ZS_OPTION_STRING, OPTION(delay), "TIME",
     "start paused, and resume after that time: 2, 1.5s, 200ms"},
    {"duration", 0, ZS_OPTION_STRING, OPTION(duration), "TIME",
     "pause when that much time has passed since recording began or was resumed"},
    {"instrument", 0, ZS_OPTION_STRING, OPTION(instrument), "TOOL",
     "rewrite the application's kernels with a tool of zescope instrument; its table is kept in "
     "instrument/table.json"},
    {"records-buffer", 0, ZS_OPTION_U64, OPTION(records_buffer), "BYTES",
     ZS_CLI_RECORDS_BUFFER_HELP},
    {"records-limit", 0, ZS_OPTION_U64, OPTION(records_limit), "BYTES", ZS_CLI_RECORDS_LIMIT_HELP},
    {"trace-limit", 0, ZS_OPTION_U64, OPTION(trace_limit), "BYTES",
     "keep at most this much of the calls of each process, 0: everything"},
};
static const struct record_options default_options = {.capture_limit = 1 << 30,
                                                      .trace = true,
                                                      .activity = true,
                                                      .last = true,
                                                      .launch_count = UINT64_MAX};

const struct zs_command zs_command_record = {
    .name = "record",
    .summary = "run an application and keep the modules that it creates",
    .operands = "-- APP [ARGS...]",
    .description =
        "Runs an application and keeps, in a folder, every module that it or its children create "
        "through Level Zero or OpenCL, on whatever driver: native binary, debug info, the SPIR-V "
        "or source it came from, build flags and log, device, kernel names, and the source files "
        "that the debug info "
        "names.\n\n"
        "The application's exit status is passed through (128 + n when signal n ended it) and its "
        "output is left alone; what zescope has to say goes to stderr at the end. What was "
        "captured stays when the application crashes or is killed.",
    .examples = "zescope record -o run1 -- ./app --size 100\n"
                "    record ./app into the folder run1\n"
                "zescope record --debug-info -- python3 train.py\n"
                "    compile with debug info, whatever flags the application gives\n"
                "zescope record -d skl --counts -o run2 -- ./app\n"
                "    on the software GPU, which counts instructions\n"
                "zescope record --metrics ComputeBasic -o run3 -- ./app\n"
                "    with counters of each kernel launch\n",
    .options = options_table,
    .defaults = &default_options,
    .option_count = ZS_ARRAY_LEN(options_table),
    .options_size_B = sizeof(struct record_options),
    .takes_app = true,
    .run = run_record,
};

int zs_cli_record_instrumented(const struct zs_common_options *common,
                               const struct zs_cli_instrument *what, char **argv)
{
    struct record_options o = default_options;
    o.common = *common;
    o.trace = false;
    o.activity = false;
    o.output = what->output;
    o.debug_info = what->debug_info;
    o.last = what->last;
    o.instrument = what->tool;
    o.records_buffer = what->records_buffer;
    o.records_limit = what->records_limit;
    o.view = what;
    return run_record(&o, 1, argv);
}

int zs_cli_record_lines(const struct zs_common_options *common, const struct zs_cli_lines *what,
                        int count, char **argv)
{
    struct record_options o = default_options;
    o.common = *common;
    o.common.quiet = true;
    o.output = what->folder;
    o.live = what->output ? what->output : "-";
    o.include = *what->include;
    o.exclude = *what->exclude;
    o.activity = false;
    o.last = false;
    o.lines_only = true;
    return run_record(&o, count, argv);
}

/* Below Intel's drivers launches are measured as they are counted. */
static int use_walk_metrics(struct record_options *o, bool *ret_told)
{
    if (o->metrics_period || o->runs || o->launch_skip || o->launch_count != UINT64_MAX)
        return zs_cli_usage(
            &zs_command_record,
            "on emulated nodes --metrics measures every launch, all groups at once: "
            "without --metrics-period, --runs, --launch-skip, --launch-count");
    o->counts = true;
    *ret_told = true;
    return ZS_EXIT_OK;
}

static int run_record(void *options, int operand_count, char **operands)
{
    struct record_options *o = options;
    if (!operand_count)
        return zs_cli_usage(&zs_command_record, "no application given");
    struct launch *l = calloc(1, sizeof(*l));
    if (!l)
        return zs_cli_fail("out of memory");
    l->live_fd = -1;
    bool told = false;
    int status = check_options(o, l);
    if (status == ZS_EXIT_OK && o->intel)
        status = zs_cli_use_intel(&zs_command_record,
                                  o->device ? o->device : zs_default_intel_device(), o->check);
    else if (status == ZS_EXIT_OK && o->device)
        status = zs_cli_use_software_gpu(&zs_command_record, o->device);
    if (status == ZS_EXIT_OK && o->metrics.count && zs_cli_has_intel_nodes())
        status = use_walk_metrics(o, &told);
    else if (status == ZS_EXIT_OK && o->metrics.count)
        status = zs_cli_check_metric_groups(&o->metrics, &told);
    if (status == ZS_EXIT_OK && o->check && zs_cli_has_intel_nodes()) {
        o->debug_info = true; /* for the lines of what is found */
        status = zs_cli_separate_allocations() ? ZS_EXIT_OK : zs_cli_fail("out of memory");
    }
    if (status) {
        free(l);
        return status;
    }
    const struct zs_recording_plan plan = {.path = o->output,
                                           .argv = operands,
                                           .debug_info = o->debug_info,
                                           .no_trace = !o->trace,
                                           .no_activity = !o->activity,
                                           .is_emulated = zs_cli_has_intel_nodes(),
                                           .timing = timing_of(o)};
    struct zs_recording_writer *writer;
    struct zs_diag diag = {0};
    if (!zs_cli_find_library("libzescope_collect.so", "ZESCOPE_COLLECT", "collect", l->collector))
        status = zs_cli_fail("libzescope_collect.so cannot be found: reinstall zescope, or say "
                             "where it is with ZESCOPE_COLLECT");
    else if ((o->trace || o->instrument) &&
             !zs_cli_find_library("libzescope_layer.so", "ZESCOPE_LAYER", "layer", l->layer) &&
             o->trace)
        status = zs_cli_fail("libzescope_layer.so cannot be found: reinstall zescope, say where it "
                             "is with ZESCOPE_LAYER, or record modules only with --no-trace");
    else if (o->metrics.count && !told && !zs_cli_metrics_allowed())
        status = ZS_EXIT_USAGE; /* said */
    else if ((status = open_live(o, l)) ||
             (o->instrument && (status = zs_cli_helper_start(o->instrument, &l->helper))))
        ; /* said */
    else if (zs_recording_create(&plan, &writer, &diag))
        status = zs_cli_fail("%s", diag.text);
    else
        status = record(o, l, writer, operands);
    zs_cli_helper_stop(&l->helper);
    if (l->live_fd >= 0)
        close(l->live_fd);
    free(l);
    return status;
}
