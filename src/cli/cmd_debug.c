/* SPDX-License-Identifier: MIT */
/* zescope debug: GPU kernels stopped, looked at and stepped. */
#include "cli/debug_shell.h"
#include "cli/paths.h"

#include "base/file.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct debug_options {
    struct zs_common_options common;
    struct zs_string_list commands, source_path;
    const char *script, *device;
    uint64_t pid;
    bool batch, system;
};

static int run_debug(void *options, int operand_count, char **operands);

#define OPTION(member) offsetof(struct debug_options, member)
static const struct zs_option options_table[] = {
    {"pid", 'p', ZS_OPTION_U64, OPTION(pid), "N",
     "attach to a process that was started with ZET_ENABLE_PROGRAM_DEBUGGING=1"},
    {"device", 'd', ZS_OPTION_STRING, OPTION(device), "NAME",
     "device that the application finds: skl, kbl, icllp, tgllp ... (skl)"},
    {"system", 0, ZS_OPTION_FLAG, OPTION(system), NULL,
     "use the system's Level Zero driver instead of the software GPU"},
    {"command", 'x', ZS_OPTION_STRING, OPTION(script), "FILE", "execute commands of a file first"},
    {"eval-command", 0, ZS_OPTION_LIST, OPTION(commands), "COMMAND",
     "execute a command, after those of the file; may be given several times"},
    {"batch", 0, ZS_OPTION_FLAG, OPTION(batch), NULL,
     "end after these commands, with the application's exit status"},
    {"source-path", 0, ZS_OPTION_LIST, OPTION(source_path), "DIR",
     "look for source files there, too; may be given several times"},
};

const struct zs_command zs_command_debug = {
    .name = "debug",
    .summary = "debug an application's kernels",
    .operands = "[-- APP [ARGS...]]",
    .description =
        "Starts an application, or attaches to one, and stops its kernels at breakpoints, faults "
        "and on Ctrl-C. Lines, variables and functions are those of modules that were built with "
        "-g; with -cl-opt-disable besides, all variables have values everywhere. Commands have the "
        "names and abbreviations of gdb; `help` shows them.\n\n"
        "The application runs on the software GPU unless --system is given. It works through Level "
        "Zero's debug functions alone, so that drivers of other GPUs will do that offer them.",
    .examples = "zescope debug -- ./app\n"
                "    then: break k.cl:12, run, print acc @lanes, next, backtrace\n"
                "zescope debug --batch --eval-command 'break k.cl:12' --eval-command run -- ./app\n"
                "    the same from a script\n"
                "zescope debug --pid 1234\n"
                "    attach\n",
    .options = options_table,
    .option_count = ZS_ARRAY_LEN(options_table),
    .options_size_B = sizeof(struct debug_options),
    .takes_app = true,
    .run = run_debug,
};

/* For the handler of SIGINT. */
static struct zs_debugger *interrupted;

static void interrupt(int signal_number)
{
    (void)signal_number;
    if (interrupted)
        zs_debug_interrupt(interrupted);
}

static bool run_script(struct zs_shell *shell, const char *path)
{
    struct zs_file file;
    struct zs_diag diag = {.offset_B = ZS_DIAG_NO_OFFSET};
    if (zs_file_read(path, 1 << 20, &file, &diag)) {
        zs_cli_fail("%s", diag.text);
        return false;
    }
    const char *at = (const char *)file.span.data, *end = at + file.span.size_B;
    while (at < end && !shell->quit) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t length = newline ? (size_t)(newline - at) : (size_t)(end - at);
        char *line = strndup(at, length);
        if (line)
            zs_shell_execute(shell, line);
        free(line);
        at += length + 1;
    }
    zs_file_close(&file);
    return true;
}

static int open_session(const struct debug_options *o, char driver[PATH_MAX],
                        struct zs_debugger **ret)
{
    struct zs_debug_options options = {
        .size_B = sizeof(options),
        .devices = o->device,
        .sources = {.size_B = sizeof(options.sources),
                    .search_dirs = (const char *const *)o->source_path.items,
                    .search_dir_count = o->source_path.count}};
    struct zs_diag diag = {.offset_B = ZS_DIAG_NO_OFFSET};
    char why[1024];
    if (!o->system) {
        if (!zs_cli_find_library("libze_zescope.so.1", "ZESCOPE_DRIVER", "driver", driver))
            return zs_cli_fail("libze_zescope.so.1 cannot be found: reinstall zescope, or say "
                               "where it is with ZESCOPE_DRIVER");
        if (o->device && !zs_cli_check_devices(driver, o->device, why, sizeof(why)))
            return zs_cli_usage(&zs_command_debug, "--device: %s", why);
        options.driver = driver;
    }
    int error = zs_debug_open(&options, ret, &diag);
    return error ? zs_cli_fail("%s", diag.text[0] ? diag.text : strerror(-error)) : ZS_EXIT_OK;
}

static int run_debug(void *options, int operand_count, char **operands)
{
    const struct debug_options *o = options;
    static char driver[PATH_MAX]; /* lives in the environment */
    struct zs_shell shell = {.common = &o->common, .exit_status = -1};
    struct zs_diag diag = {.offset_B = ZS_DIAG_NO_OFFSET};
    if (!operand_count && !o->pid)
        return zs_cli_usage(&zs_command_debug, "no application and no --pid given");
    if (operand_count && o->pid)
        return zs_cli_usage(&zs_command_debug, "either an application or --pid");
    int status = open_session(o, driver, &shell.debug);
    if (status != ZS_EXIT_OK)
        return status;
    shell.app = operand_count ? operands : NULL;
    shell.color = zs_cli_color(&o->common, STDOUT_FILENO);
    interrupted = shell.debug;
    const struct sigaction action = {.sa_handler = interrupt, .sa_flags = SA_RESTART};
    sigaction(SIGINT, &action, NULL);
    if (o->pid && zs_debug_attach(shell.debug, (uint32_t)o->pid, &diag))
        status = zs_cli_fail("%s", diag.text);
    if (status == ZS_EXIT_OK && o->script && !run_script(&shell, o->script))
        status = ZS_EXIT_FAILED;
    for (size_t i = 0; i < o->commands.count && status == ZS_EXIT_OK && !shell.quit; i++)
        zs_shell_execute(&shell, o->commands.items[i]);
    if (status == ZS_EXIT_OK && !o->batch && !shell.quit)
        zs_shell_interact(&shell);
    interrupted = NULL;
    zs_debug_close(shell.debug);
    if (status == ZS_EXIT_OK && shell.exit_status >= 0)
        status = shell.exit_status;
    else if (status == ZS_EXIT_OK && o->batch && shell.failed)
        status = ZS_EXIT_FAILED;
    zs_shell_fini(&shell);
    return status;
}
