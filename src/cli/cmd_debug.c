/* SPDX-License-Identifier: MIT */
/* zescope debug: GPU kernels stopped, looked at and stepped. */
#include "cli/debug/shell.h"
#include "cli/debug/signals.h"
#include "cli/paths.h"

#include "base/checks.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct debug_options {
    struct zs_common_options common;
    struct zs_string_list commands, source_path;
    const char *script, *device, *check;
    uint64_t pid, number;
    bool batch, system, history;
};

static int run_debug(void *options, int operand_count, char **operands);

#define NO_PID UINT64_MAX

#define OPTION(member) offsetof(struct debug_options, member)
static const struct zs_option options_table[] = {
    {"pid", 'p', ZS_OPTION_U64, OPTION(pid), "N",
     "attach to a process that was started with ZET_ENABLE_PROGRAM_DEBUGGING=1"},
    {"device", 'd', ZS_OPTION_STRING, OPTION(device), "NAME",
     "device that the application finds: skl, icllp, tgllp, dg2, pvc ... (skl)"},
    {"device-number", 0, ZS_OPTION_U64, OPTION(number), "N",
     "debug this one of several devices, counted from 0 (0)"},
    {"check", 'C', ZS_OPTION_OPTIONAL, OPTION(check), "KINDS",
     "stop where a kernel does something wrong, as zescope run --check finds it: memory, init, "
     "swsb (these three without KINDS), undefined, race, sync"},
    {"system", 0, ZS_OPTION_FLAG, OPTION(system), NULL,
     "use the system's Level Zero driver instead of the software GPU"},
    {"command", 'x', ZS_OPTION_STRING, OPTION(script), "FILE", "execute commands of a file first"},
    {"eval-command", 0, ZS_OPTION_LIST, OPTION(commands), "COMMAND",
     "execute a command, after those of the file; may be given several times"},
    {"batch", 0, ZS_OPTION_FLAG, OPTION(batch), NULL,
     "end after these commands, with the application's exit status"},
    {"history", 0, ZS_OPTION_FLAG, OPTION(history), NULL,
     "keep the lines that are typed for later sessions, in $XDG_STATE_HOME/zescope/debug_history "
     "(yes; --no-history)"},
    {"source-path", 'S', ZS_OPTION_LIST, OPTION(source_path), "DIR",
     "look for source files there, too; may be given several times"},
};

static const struct debug_options defaults = {.pid = NO_PID, .history = true};

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
        "Zero's debug functions alone, so that drivers of other GPUs will do that offer them.\n\n"
        "Commands are read from stdin, and the application's stdin is empty; with --batch it is "
        "this one's. A file of commands ends at the first one that fails.",
    .examples = "zescope debug -- ./app\n"
                "    then: break k.cl:12, run, print acc @lanes, next, backtrace\n"
                "zescope debug --batch --eval-command 'break k.cl:12' --eval-command run -- ./app\n"
                "    the same from a script\n"
                "zescope debug --check -- ./app\n"
                "    stop where a kernel reaches memory that it should not\n"
                "zescope debug --pid 1234\n"
                "    attach\n",
    .options = options_table,
    .option_count = ZS_ARRAY_LEN(options_table),
    .options_size_B = sizeof(struct debug_options),
    .defaults = &defaults,
    .takes_app = true,
    .run = run_debug,
};

/* One that fails ends the file, as what follows was written for what it would have done. */
static bool run_script(struct zs_shell *shell, const char *path)
{
    struct zs_file file;
    struct zs_diag diag = {.offset_B = ZS_DIAG_NO_OFFSET};
    if (zs_file_read(path, 1 << 20, &file, &diag)) {
        zs_cli_fail("%s", diag.text);
        return false;
    }
    const char *at = (const char *)file.span.data, *end = at + file.span.size_B;
    uint32_t before = shell->errors;
    for (unsigned number = 1; at < end && !shell->quit && shell->errors == before; number++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t length = newline ? (size_t)(newline - at) : (size_t)(end - at);
        char *line = strndup(at, length);
        if (line)
            zs_shell_execute(shell, line);
        free(line);
        at += length + 1;
        if (shell->errors != before)
            zs_cli_fail("%s:%u: this command failed; what follows it is not executed", path,
                        number);
    }
    if (shell->collecting)
        zs_cli_fail("%s: commands: `end` is missing", path);
    zs_file_close(&file);
    return true;
}

/* Commands are read from what was stdin; the application's is empty then: both cannot have it. */
static FILE *take_stdin(void)
{
    int fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    FILE *in = fd >= 0 && null_fd >= 0 && dup2(null_fd, STDIN_FILENO) >= 0 ? fdopen(fd, "r") : NULL;
    if (null_fd >= 0)
        close(null_fd);
    return in;
}

static int open_session(const struct debug_options *o, char driver[PATH_MAX],
                        struct zs_debugger **ret)
{
    struct zs_debug_options options = {
        .size_B = sizeof(options),
        .devices = o->device,
        .device = (uint32_t)o->number,
        .sources = {.size_B = sizeof(options.sources),
                    .search_dirs = (const char *const *)o->source_path.items,
                    .search_dir_count = o->source_path.count}};
    struct zs_diag diag = {.offset_B = ZS_DIAG_NO_OFFSET};
    char why[1024];
    if (!o->system) {
        int status = zs_cli_find_driver(driver);
        if (status != ZS_EXIT_OK)
            return status;
        if (o->device && !zs_cli_check_devices(driver, o->device, why, sizeof(why)))
            return zs_cli_usage(&zs_command_debug, "--device: %s", why);
        options.driver = driver;
    }
    int error = zs_debug_open(&options, ret, &diag);
    return error ? zs_cli_fail("%s", diag.text[0] ? diag.text : strerror(-error)) : ZS_EXIT_OK;
}

static int check_usage(const struct debug_options *o, int operand_count)
{
    bool has_pid = o->pid != NO_PID;
    if (!operand_count && !has_pid)
        return zs_cli_usage(&zs_command_debug, "no application and no --pid given");
    if (operand_count && has_pid)
        return zs_cli_usage(&zs_command_debug, "either an application or --pid");
    if (has_pid && (!o->pid || o->pid > INT32_MAX))
        return zs_cli_usage(&zs_command_debug, "--pid: there is no process %" PRIu64, o->pid);
    const unsigned stops = ZS_CHECK_ALL & ~(unsigned)(ZS_CHECK_LEAK | ZS_CHECK_API);
    unsigned checks = 0;
    char why[128];
    if (o->check && !zs_checks_parse(o->check, &checks, why, sizeof(why)))
        return zs_cli_usage(&zs_command_debug, "--check: %s", why);
    if (checks & ~stops)
        return zs_cli_usage(&zs_command_debug,
                            "--check: only memory, init, undefined, swsb, race and sync stop a "
                            "kernel");
    if (o->check && (has_pid || o->system))
        return zs_cli_usage(&zs_command_debug, "--check is for applications that are started with "
                                               "zescope's driver");
    if (o->number > UINT32_MAX)
        return zs_cli_usage(&zs_command_debug, "--device-number: there are not so many devices");
    return ZS_EXIT_OK;
}

static int run_debug(void *options, int operand_count, char **operands)
{
    const struct debug_options *o = options;
    static char driver[PATH_MAX]; /* lives in the environment */
    struct zs_shell shell = {.common = &o->common, .exit_status = -1, .keeps_lines = o->history};
    struct zs_diag diag = {.offset_B = ZS_DIAG_NO_OFFSET};
    int status = check_usage(o, operand_count);
    /* `run` would say it, but who has typed breakpoints until then learns it too late */
    char program[PATH_MAX];
    int missing =
        status == ZS_EXIT_OK && operand_count ? zs_cli_find_program(operands[0], program) : 0;
    if (missing)
        status = zs_cli_cannot_start(operands[0], missing);
    if (status == ZS_EXIT_OK && o->check &&
        setenv("ZESCOPE_CHECK", o->check[0] ? o->check : "1", 1))
        status = zs_cli_fail("out of memory");
    if (status == ZS_EXIT_OK)
        status = open_session(o, driver, &shell.debug);
    if (status != ZS_EXIT_OK)
        return status;
    shell.app = operand_count ? operands : NULL;
    shell.color = zs_cli_color(&o->common, STDOUT_FILENO);
    shell.in = o->batch ? stdin : take_stdin();
    zs_signals_interrupts(shell.debug);
    if (!shell.in)
        status = zs_cli_fail("stdin cannot be read: %s", strerror(errno));
    else if (o->pid != NO_PID && zs_debug_attach(shell.debug, (uint32_t)o->pid, &diag))
        status = zs_cli_fail("%s", diag.text);
    if (status == ZS_EXIT_OK && o->script && !run_script(&shell, o->script))
        status = ZS_EXIT_FAILED;
    for (size_t i = 0; i < o->commands.count && status == ZS_EXIT_OK && !shell.quit; i++)
        zs_shell_execute(&shell, o->commands.items[i]);
    if (status == ZS_EXIT_OK && !o->batch && !shell.quit)
        zs_shell_interact(&shell);
    zs_signals_interrupts(NULL);
    zs_debug_close(shell.debug);
    if (status == ZS_EXIT_OK && shell.exit_status >= 0)
        status = shell.exit_status;
    else if (status == ZS_EXIT_OK && o->batch && shell.failed)
        status = ZS_EXIT_FAILED;
    zs_shell_fini(&shell);
    return status;
}
