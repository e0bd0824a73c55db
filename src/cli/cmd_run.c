/* SPDX-License-Identifier: MIT */
/* zescope run: an application on the software GPU. */
#include "cli/check_report.h"
#include "cli/intel.h"
#include "cli/launch.h"
#include "cli/options.h"
#include "cli/paths.h"

#include "base/checks.h"
#include "base/duration.h"
#include "base/file.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_FOUND = 99 }; /* --check: the application's kernels did something wrong */

struct run_options {
    struct zs_common_options common;
    const char *device;
    const char *kernel_timeout;
    const char *check; /* kinds; NULL: none asked for */
    unsigned checks;
    int check_format;
    const char *check_output;
    uint64_t error_exitcode;
    struct zs_string_list suppressions;
    bool gen_suppressions;
    bool stop_at_first;
    bool intel;
    const char *batches;
};

/* ---- --check ---- */

static int write_report(const struct run_options *o, const char *path, bool only_counts,
                        size_t *ret_found)
{
    struct zs_file file;
    struct zs_diag diag = {0};
    *ret_found = 0;
    if (zs_file_read(path, 0, &file, &diag))
        return zs_cli_fail("%s", diag.text);
    const struct zs_check_report report = {.report = file.span,
                                           .suppressions = &o->suppressions,
                                           .gen_suppressions = o->gen_suppressions,
                                           .format = (enum zs_check_format)o->check_format,
                                           .output = o->check_output,
                                           .only_counts = only_counts};
    int status = zs_check_report_write(&report, ret_found);
    zs_file_close(&file);
    return status;
}

/* --stop-at-first: a thread ends the application when the report has what is not suppressed. */
struct watch {
    const struct run_options *o;
    const char *path;
    atomic_bool ended; /* the application has */
};

static void *watch_report(void *context)
{
    struct watch *w = context;
    const struct timespec pause = {.tv_nsec = 20000000};
    off_t known = 0;
    for (size_t found = 0; !found && !w->ended; nanosleep(&pause, NULL)) {
        struct stat now;
        if (stat(w->path, &now) || now.st_size == known)
            continue;
        known = now.st_size;
        if (write_report(w->o, w->path, true, &found))
            break;
        if (found)
            zs_cli_end_app();
    }
    return NULL;
}

static int run_watched(const struct run_options *o, const char *path, char **argv, int *ret_status)
{
    struct watch w = {.o = o, .path = path};
    pthread_t thread;
    int error = o->stop_at_first ? -pthread_create(&thread, NULL, watch_report, &w) : 0;
    if (error)
        return error;
    error = zs_cli_run_app(argv, environ, 0, ret_status);
    w.ended = true;
    if (o->stop_at_first)
        pthread_join(thread, NULL);
    return error;
}

static int run_checked(const struct run_options *o, char **argv)
{
    const char *folder = getenv("TMPDIR");
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/zescope-check-XXXXXX", folder && *folder ? folder : "/tmp");
    int fd = mkstemp(path);
    if (fd < 0)
        return zs_cli_fail("%s: %s", path, strerror(errno));
    close(fd);
    setenv("ZESCOPE_CHECK", o->check[0] ? o->check : "1", 1);
    setenv("ZESCOPE_CHECK_REPORT", path, 1);
    setenv("ZESCOPE_LOG", "off", 0); /* the report has it all */
    int status = 0;
    size_t found = 0;
    int error = run_watched(o, path, argv, &status);
    int result = error ? zs_cli_cannot_start(argv[0], error) : write_report(o, path, false, &found);
    if (!result)
        result = found ? (int)o->error_exitcode : status;
    unlink(path);
    return result;
}

static int run_run(void *options, int operand_count, char **operands);

static const struct run_options defaults = {.error_exitcode = EXIT_FOUND};
#define OPTION(member) offsetof(struct run_options, member)
static const struct zs_option options_table[] = {
    {"device", 'd', ZS_OPTION_STRING, OPTION(device), "NAME[,NAME...]",
     "devices that the application finds: skl, skl-gt4, kbl, bxt, icllp, tgllp, dg2, pvc ...; "
     "pvc:2 has two tiles (skl)"},
    {"kernel-timeout", 0, ZS_OPTION_STRING, OPTION(kernel_timeout), "TIME",
     "end a launch that takes longer: 10, 1.5s, 200ms"},
    {"check", 'C', ZS_OPTION_OPTIONAL, OPTION(check), "KINDS",
     "find what kernels do wrong: memory, init (memory that nobody wrote), undefined (values that "
     "nobody gave, slow), race, sync, swsb "
     "(registers that code from tgllp on did "
     "not wait for), leak (what is never freed or destroyed), api (calls that the "
     "specification forbids), all; with commas between "
     "(memory,init). What was found is reported at the "
     "end"},
    {"check-format", 0, ZS_OPTION_CHOICE, OPTION(check_format), "text|json|sarif|junit",
     "how findings are written"},
    {"check-output", 0, ZS_OPTION_STRING, OPTION(check_output), "FILE",
     "where JSON, SARIF or JUnit goes (stderr)"},
    {"error-exitcode", 0, ZS_OPTION_U64, OPTION(error_exitcode), "N",
     "exit status when something was found (99)"},
    {"suppressions", 0, ZS_OPTION_LIST, OPTION(suppressions), "FILE",
     "findings that the file describes are not reported"},
    {"gen-suppressions", 0, ZS_OPTION_FLAG, OPTION(gen_suppressions), NULL,
     "print for each finding what would suppress it"},
    {"stop-at-first", 0, ZS_OPTION_FLAG, OPTION(stop_at_first), NULL,
     "end the application (SIGTERM) when something is found"},
    {"intel", 0, ZS_OPTION_FLAG, OPTION(intel), NULL,
     "under Intel's own drivers, Level Zero and OpenCL, as they are installed: they find a DRM "
     "render node for each device (skl, icllp, tgllp, dg2 ...)"},
    {"batches", 0, ZS_OPTION_STRING, OPTION(batches), "FOLDER",
     "with --intel: write what they hand to the command streamer there, for zescope batch"},
};

const struct zs_command zs_command_run = {
    .name = "run",
    .summary = "run an application on the software GPU",
    .operands = "-- APP [ARGS...]",
    .description =
        "Runs an application with zescope's Level Zero driver instead of the system's: a software "
        "GPU that executes the machine code of kernels. Nothing but the environment is changed "
        "(ZE_ENABLE_ALT_DRIVERS and ZESCOPE_*), and the application's exit status is passed "
        "through.\n\n"
        "An access out of bounds, after a free or through a null pointer ends the launch with an "
        "error and a report; the application goes on. ZESCOPE_LOG=LEVEL[:FILE] with a level of "
        "off, error, warn, info or debug says how much the driver tells and where.",
    .examples = "zescope run -- ./app --size 100\n"
                "    run ./app without a GPU\n"
                "zescope run --check -- ./app\n"
                "    find wrong memory accesses of its kernels\n"
                "zescope run --check=all --check-format sarif --check-output found.sarif -- ./app\n"
                "    races and divergent barriers, too, for a code host\n"
                "zescope run -d skl,dg2 -- ./multi\n"
                "    two devices side by side\n"
                "zescope run -d pvc:2 -- ./tiles\n"
                "    one device with two sub-devices\n"
                "zescope run --intel -d dg2 -- clinfo\n"
                "    Intel's own OpenCL driver, on a GPU that is not there\n",
    .options = options_table,
    .option_count = ZS_ARRAY_LEN(options_table),
    .options_size_B = sizeof(struct run_options),
    .defaults = &defaults,
    .takes_app = true,
    .run = run_run,
};

static int start(char **argv)
{
    signal(SIGPIPE, SIG_DFL); /* zescope itself ignores it */
    execvp(argv[0], argv);
    return zs_cli_cannot_start(argv[0], -errno);
}

static bool set_timeout(const struct run_options *o)
{
    return !o->kernel_timeout || !setenv("ZESCOPE_KERNEL_TIMEOUT", o->kernel_timeout, 1);
}

static int run_or_check(const struct run_options *o, char **argv)
{
    return o->checks ? run_checked(o, argv) : start(argv);
}

static int run_intel(const struct run_options *o, char **argv)
{
    if (o->check && (o->checks & (ZS_CHECK_LEAK | ZS_CHECK_API)) && strcmp(o->check, "all") != 0)
        return zs_cli_usage(&zs_command_run, "--intel: leak and api are checks of zescope's own "
                                             "driver; zescope record tells what leaks");
    int status = zs_cli_use_intel(&zs_command_run, o->device, o->checks != 0);
    if (status != ZS_EXIT_OK)
        return status;
    if (o->batches && setenv("ZESCOPE_BATCHES", o->batches, 1))
        return zs_cli_fail("out of memory");
    return set_timeout(o) ? run_or_check(o, argv) : zs_cli_fail("out of memory");
}

static int run_run(void *options, int operand_count, char **operands)
{
    struct run_options *o = options;
    char why[128];
    if (!operand_count)
        return zs_cli_usage(&zs_command_run, "no application given");
    if (o->check && !zs_checks_parse(o->check, &o->checks, why, sizeof(why)))
        return zs_cli_usage(&zs_command_run, "--check: %s", why);
    if (o->error_exitcode > 255)
        return zs_cli_usage(&zs_command_run, "--error-exitcode is a number up to 255");
    uint64_t timeout_ns;
    if (o->kernel_timeout && !zs_duration_parse(o->kernel_timeout, &timeout_ns))
        return zs_cli_usage(&zs_command_run,
                            "--kernel-timeout takes a time such as 10, 1.5s or 200ms, not '%s'",
                            o->kernel_timeout);
    if (o->intel)
        return run_intel(o, operands);
    if (o->batches)
        return zs_cli_usage(&zs_command_run, "--batches needs --intel");
    int status = zs_cli_use_software_gpu(&zs_command_run, o->device);
    if (status != ZS_EXIT_OK)
        return status;
    return set_timeout(o) ? run_or_check(o, operands) : zs_cli_fail("out of memory");
}
