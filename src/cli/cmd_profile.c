/* SPDX-License-Identifier: MIT */
/* zescope profile: all that is known of an application's kernels, in one command. */
#include "base/default_device.h"
#include "base/text.h"
#include "cli/gpu.h"
#include "cli/intel.h"
#include "cli/paths.h"
#include "cli/record_into.h"
#include "metrics/unit.h"

#include <zescope/analyze.h>
#include <zescope/record.h>

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct profile_options {
    struct zs_common_options common;
    const char *output, *device, *html;
    struct zs_string_list kernels;
    uint64_t launch_count, limit;
    bool quick, system, intel;
};

static const struct zs_option options[] = {
    {"output", 'o', ZS_OPTION_STRING, offsetof(struct profile_options, output), "DIR",
     "folder of the recording, as of zescope record"},
    {"device", 'd', ZS_OPTION_STRING, offsetof(struct profile_options, device), "NAME[,NAME...]",
     "the software GPU as these devices, also where the machine has a GPU (skl)"},
    {"system", 0, ZS_OPTION_FLAG, offsetof(struct profile_options, system), NULL,
     "use the system's Level Zero drivers, whatever they have: times alone"},
    {"intel", 0, ZS_OPTION_FLAG, offsetof(struct profile_options, intel), NULL,
     "on Intel's own drivers, as zescope run --intel has them: OpenCL programs, too"},
    {"kernel", 'k', ZS_OPTION_LIST, offsetof(struct profile_options, kernels), "REGEX",
     "only kernels whose name matches, of C++ as it was written or as compilers have it; may be "
     "given several times"},
    {"launch-count", 0, ZS_OPTION_U64, offsetof(struct profile_options, launch_count), "N",
     "measure at most N launches"},
    {"quick", 0, ZS_OPTION_FLAG, offsetof(struct profile_options, quick), NULL,
     "exact counts and replayed times alone: nothing of stalls, limits and gains"},
    {"limit", 'n', ZS_OPTION_U64, offsetof(struct profile_options, limit), "N",
     "so many kernels in the table, those with most time (20); 0: all"},
    {"html", 0, ZS_OPTION_STRING, offsetof(struct profile_options, html), "OUT",
     "the page (OUT.html beside the recording)"},
};
static const struct profile_options defaults = {.launch_count = UINT64_MAX, .limit = 20};

extern const struct zs_command zs_command_profile, zs_command_report;

/* What rules look at; these can be active together. */
#define GROUPS "ZscopeGains,ZscopeMemory,ZscopeStallSampling,ZscopeMemoryByAddress"

enum { WORDS_MOST = 64 };

static int record(const struct profile_options *o, const char *output, int count, char **app)
{
    const char *words[WORDS_MOST];
    char launches[32];
    size_t at = 0;
    words[at++] = "--debug-info";
    if (!o->system)
        words[at++] = "--counts";
    bool counts_all = !o->intel || o->launch_count == UINT64_MAX; /* as --metrics there does */
    if (!o->system && !o->quick && counts_all) {
        words[at++] = "--metrics";
        words[at++] = GROUPS;
    }
    if (output) {
        words[at++] = "--output";
        words[at++] = output;
    }
    if (o->launch_count != UINT64_MAX) {
        snprintf(launches, sizeof(launches), "%llu", (unsigned long long)o->launch_count);
        words[at++] = "--launch-count";
        words[at++] = launches;
    }
    for (size_t i = 0; i < o->kernels.count && at + 2 < WORDS_MOST; i++) {
        words[at++] = "--kernel";
        words[at++] = o->kernels.items[i];
    }
    words[at++] = "--quiet";
    return zs_cli_record_with(words, at, count, app);
}

/* The application ended within a build that got -g of us: it is built without from now on
 * (collect/lines.h). */
static bool died_of_lines(const char *path)
{
    struct zs_recording *recording;
    uint32_t count;
    bool died = false;
    if (!*path || zs_recording_open(path, &recording, NULL))
        return false;
    const struct zs_record_build *builds = zs_recording_builds(recording, &count);
    for (uint32_t i = 0; i < count; i++)
        died |= !builds[i].finished && strcmp(builds[i].app_flags, builds[i].flags) != 0;
    zs_recording_close(recording);
    return died;
}

static int record_twice(const struct profile_options *o, int count, char **app)
{
    enum { SIGNALS = 128 };
    char again[PATH_MAX];
    int ended = record(o, o->output, count, app);
    if (ended <= SIGNALS || !died_of_lines(zs_cli_recorded()))
        return ended;
    zs_cli_note(&o->common,
                "the compiler did not survive -g, which was added for lines: once more without");
    int n = snprintf(again, sizeof(again), "%s-again", zs_cli_recorded());
    return n > 0 && (size_t)n < sizeof(again) ? record(o, again, count, app) : ended;
}

/* ---- the table ---------------------------------------------------------------------------------
 */

struct row {
    const struct zs_analyzed *kernel;
    const char *limit;
    char finding[80], place[80];
};

static const char *file_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Sources that came as text are kept by what they contain. */
static bool has_name(const char *file)
{
    return strspn(file, "0123456789abcdef") < 40;
}

static void fill(const struct zs_analyzed *k, struct row *ret)
{
    *ret = (struct row){.kernel = k};
    ret->limit = *k->limit->by ? k->limit->text : "what was not measured";
    if (!k->finding_count || k->gains[0] < 2) {
        snprintf(ret->finding, sizeof(ret->finding),
                 k->not_judged_count ? "nothing that was judged" : "nothing");
        return;
    }
    const struct zs_finding *f = &k->findings[0];
    struct zs_buf gain = {0};
    if (!isnan(k->gains[0]))
        zs_unit_put_gain(&gain, k->gains_least[0], k->gains[0]);
    snprintf(ret->finding, sizeof(ret->finding), "%s%s%s", f->title, gain.size_B ? ", " : "",
             zs_buf_cstr(&gain));
    zs_buf_fini(&gain);
    if (!f->place_count || !*f->places[0].path)
        return;
    const char *file = file_of(f->places[0].path);
    if (has_name(file))
        snprintf(ret->place, sizeof(ret->place), "%.60s:%u", file, f->places[0].line);
    else
        snprintf(ret->place, sizeof(ret->place), "line %u of its source", f->places[0].line);
}

static void put_row(const struct row *r, double all_ns, struct zs_buf *out)
{
    const struct zs_analyzed *k = r->kernel;
    struct zs_buf time = {0};
    zs_unit_put_value(&time, k->time_ns, "ns");
    zs_buf_printf(out, "%10s  %4.0f %%  %8llu  ", k->timed ? zs_buf_cstr(&time) : "n/a",
                  k->timed && all_ns > 0 ? 100 * k->time_ns / all_ns : 0,
                  (unsigned long long)k->launches);
    zs_buf_fini(&time);
    zs_text_puts(out, k->name);
    if (!k->launches) {
        zs_buf_printf(out, "\n%30sit was not launched\n", "");
        return;
    }
    zs_buf_printf(out, "\n%30slimited by %s", "", r->limit);
    if (!isnan(k->limit->occupancy))
        zs_buf_printf(out, "; %.0f %% of thread places are taken", k->limit->occupancy);
    zs_buf_printf(out, "\n%30sfirst: %s%s", "", r->finding, *r->place ? ", " : "");
    zs_text_puts(out, r->place);
    zs_buf_putc(out, '\n');
}

/* Names that no kernel has. */
static void note_unmatched(const struct profile_options *o, const char *path)
{
    struct zs_recording *recording;
    if (!o->kernels.count || zs_recording_open(path, &recording, NULL))
        return;
    for (size_t i = 0; i < o->kernels.count; i++)
        zs_cli_note_kernels(&o->common, recording, "nothing was measured", "--kernel",
                            o->kernels.items[i], false);
    zs_recording_close(recording);
}

static int print_table(const struct profile_options *o, const char *path)
{
    struct zs_analysis *analysis;
    struct zs_diag diag = {0};
    struct zs_buf out = {0};
    const struct zs_analyzed *k;
    double all_ns = 0;
    uint32_t count = 0, shown;
    if (zs_analysis_open(path, &analysis, &diag))
        return zs_cli_fail("%s: %s", path, diag.text);
    for (; (k = zs_analysis_kernel(analysis, count)); count++)
        all_ns += k->timed ? k->time_ns : 0;
    if (count)
        zs_buf_printf(&out, "%10s  %6s  %8s  %s\n",
                      zs_analysis_info(analysis)->is_modelled ? "modelled" : "time", "share",
                      "launches", "kernel");
    for (shown = 0; shown < count && (!o->limit || shown < o->limit); shown++) {
        struct row row;
        fill(zs_analysis_kernel(analysis, shown), &row);
        put_row(&row, all_ns, &out);
    }
    if (shown < count)
        zs_buf_printf(&out, "%u more: zescope analyze --limit 0 %s shows all\n", count - shown,
                      path);
    if (count && !o->system && !zs_analysis_info(analysis)->has_counts)
        zs_cli_note(&o->common,
                    "these kernels did not run on the software GPU: the application chose another "
                    "device, as OpenCL lets it; %s",
                    o->intel ? "the driver that is installed may not know this one"
                             : "zescope profile --intel runs it on Intel's drivers there");
    int status = !count
                     ? zs_cli_fail("%s: no kernels ran%s", path,
                                   o->kernels.count ? " of names that match --kernel"
                                   : o->system ? ": zescope doctor says which drivers have a device"
                                   : o->intel  ? "; zescope report shows what it called"
                                               : "; OpenCL programs need --intel")
                 : out.error ? zs_cli_fail("out of memory")
                             : zs_cli_write_text(out.data, out.size_B);
    zs_buf_fini(&out);
    zs_analysis_close(analysis);
    note_unmatched(o, path);
    return status;
}

static int write_page(const struct profile_options *o, const char *recording, char *page,
                      size_t size_B)
{
    snprintf(page, size_B, "%s.html", recording);
    const char *to = o->html ? o->html : page;
    const char *const words[] = {"--quiet", "--html", to, recording};
    int status = zs_cli_run_with(&zs_command_report, words, ZS_ARRAY_LEN(words), 0, NULL);
    if (o->html)
        snprintf(page, size_B, "%s", o->html);
    return status;
}

static int run(void *parsed, int operand_count, char **operands)
{
    enum { ENDED_BY_SIGNAL = 128 };
    struct profile_options *o = parsed;
    char page[PATH_MAX + 8], gpu[256];
    if (!operand_count)
        return zs_cli_usage(&zs_command_profile, "no application given");
    if (o->system && o->device)
        return zs_cli_usage(&zs_command_profile, "--device is the software GPU, --system is not");
    if (o->system && o->intel)
        return zs_cli_usage(&zs_command_profile, "--intel is the software GPU, --system is not");
    if (o->html && !strcmp(o->html, "-"))
        return zs_cli_usage(&zs_command_profile, "--html FILE: the table is on standard output");
    if (o->kernels.count > WORDS_MOST / 4)
        return zs_cli_usage(&zs_command_profile, "too many --kernel");
    if (!o->system && !o->intel && !o->device && !zs_cli_has_intel_nodes() &&
        zs_cli_find_gpu(gpu, sizeof(gpu))) {
        o->system = true;
        zs_cli_note(
            &o->common,
            "on this machine's %s: times are measured; what limits kernels and what mending "
            "saves is told on the software GPU (--device)",
            gpu);
    }
    if (o->intel) {
        const char *device = o->device ? o->device : zs_default_intel_device();
        int status = zs_cli_use_intel(&zs_command_profile, device, false);
        if (status)
            return status;
        zs_cli_note(&o->common, "on Intel's drivers, on the software GPU as %s", device);
    } else if (!o->system) {
        const char *device = o->device ? o->device : zs_default_device();
        int status = zs_cli_use_software_gpu(&zs_command_profile, device);
        if (status)
            return status;
        zs_cli_note(&o->common, "on the software GPU as %s; times are modelled", device);
    }
    int ended = record_twice(o, operand_count, operands);
    const char *recording = zs_cli_recorded();
    if (!*recording)
        return ended ? ended : ZS_EXIT_FAILED; /* said */
    zs_cli_note_failures(&o->common, recording);
    if (ended > ENDED_BY_SIGNAL && ended < ENDED_BY_SIGNAL + NSIG)
        zs_cli_note(&o->common, "the application was ended by a signal (%s): this is until then",
                    strsignal(ended - ENDED_BY_SIGNAL));
    int status = print_table(o, recording);
    if (status == ZS_EXIT_OK)
        status = write_page(o, recording, page, sizeof(page));
    if (status == ZS_EXIT_OK) {
        zs_cli_note(&o->common, "%s: findings in words, lines and numbers: open it in a browser",
                    page);
        zs_cli_note(&o->common, "next: zescope analyze %s; zescope annotate %s", recording,
                    recording);
    }
    return ended ? ended : status;
}

const struct zs_command zs_command_profile = {
    .name = "profile",
    .summary = "run an application: what limits its kernels, and what mending it would save",
    .operands = "-- APP [ARGS...]",
    .description =
        "Runs an application and records all that is known of its kernels: modules with debug "
        "info, calls and times. On the software GPU, which is taken where the machine has no GPU "
        "or --device is given, there are exact counts, too, what messages moved, where threads "
        "waited, and what would be gained without each of what holds a kernel up. Then it prints a "
        "table of kernels, those with most time first: time, share, what the kernel is limited by, "
        "and its first finding with what mending it would save and its line; and writes the "
        "page.\n\n"
        "A gain is what the model of time says when a launch is replayed without, say, bank "
        "conflicts, or what threads spend on a line that divides integers. Gains of several things "
        "do not add up. The application's exit status is passed "
        "through.",
    .examples = "zescope profile -- ./app\n"
                "    the whole picture, in a table and a page\n"
                "zescope profile -d dg2 -k gemm --launch-count 3 -- ./app\n"
                "    of three launches of some kernels, as on another GPU\n"
                "zescope profile --intel -d dg2 -- clpeak\n"
                "    an OpenCL program\n",
    .options = options,
    .defaults = &defaults,
    .option_count = ZS_ARRAY_LEN(options),
    .options_size_B = sizeof(struct profile_options),
    .takes_app = true,
    .run = run,
};
