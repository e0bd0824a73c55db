/* SPDX-License-Identifier: MIT */
/* zescope dap: the debugger of GPU kernels for editors. */
#include "cli/debug/dap_serve.h"
#include "cli/options.h"
#include "cli/paths.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define NO_PORT UINT64_MAX

struct dap_options {
    struct zs_common_options common;
    uint64_t port;
    const char *socket;
    bool once;
    const char *devices;
    bool system;
};

static int run_dap(void *options, int operand_count, char **operands);

#define OPTION(member) offsetof(struct dap_options, member)
static const struct zs_option options_table[] = {
    {"port", 0, ZS_OPTION_U64, OPTION(port), "N",
     "wait for clients on 127.0.0.1:N instead of stdin and stdout; 0: a port that is free"},
    {"socket", 0, ZS_OPTION_STRING, OPTION(socket), "PATH", "wait for clients at a socket"},
    {"once", 0, ZS_OPTION_FLAG, OPTION(once), NULL, "end after the first client"},
    {"device", 'd', ZS_OPTION_STRING, OPTION(devices), "NAME",
     "device that applications find: skl, icllp, tgllp, dg2, pvc ... (skl)"},
    {"system", 0, ZS_OPTION_FLAG, OPTION(system), NULL,
     "use the system's Level Zero driver instead of the software GPU"},
};

static const struct dap_options defaults = {.port = NO_PORT};

const struct zs_command zs_command_dap = {
    .name = "dap",
    .summary = "debug kernels in an editor (Debug Adapter Protocol)",
    .operands = "",
    .description =
        "Speaks the Debug Adapter Protocol, so that editors (VS Code, Neovim, Emacs) debug GPU "
        "kernels: breakpoints with conditions and log points, steps by line and by instruction, "
        "stacks with inlined functions, variables of each lane and of all lanes as a table, "
        "registers, memory, disassembly, faults. docs/debugging.md has the settings for them.\n\n"
        "The client's `launch` request names `program`, `args`, `env`, `cwd`, `stopOnEntry`, "
        "`sourcePath` (folders), `sourceMap` (prefixes of paths), `driver`, `devices` and `device` "
        "(a number); `attach` a `pid`, of a process that was started with "
        "ZET_ENABLE_PROGRAM_DEBUGGING=1. What the application writes is shown by the editor; its "
        "stdin is empty.\n\n"
        "Without --port and --socket there is one session, on stdin and stdout. On a port or "
        "socket only this user's clients (and root's) are let in: they start programs.",
    .examples = "zescope dap\n"
                "    what an editor starts\n"
                "zescope dap --port 4711\n"
                "    for editors that connect\n",
    .options = options_table,
    .option_count = ZS_ARRAY_LEN(options_table),
    .options_size_B = sizeof(struct dap_options),
    .defaults = &defaults,
    .run = run_dap,
};

static int listen_somewhere(const struct dap_options *o)
{
    if (o->socket) {
        int fd = zs_dap_listen_path(o->socket);
        if (fd >= 0)
            zs_cli_note(&o->common, "waiting at %s", o->socket);
        return fd;
    }
    uint16_t port;
    int fd = zs_dap_listen_port((uint16_t)o->port, &port);
    if (fd >= 0)
        zs_cli_note(&o->common, "waiting on 127.0.0.1:%u", (unsigned)port);
    return fd;
}

static int run_dap(void *options, int operand_count, char **operands)
{
    const struct dap_options *o = options;
    char driver[PATH_MAX];
    struct zs_dap_options dap = {.devices = o->devices};
    bool has_port = o->port != NO_PORT;
    if (operand_count)
        return zs_cli_usage(&zs_command_dap, "'%s': what to debug is the client's to say",
                            operands[0]);
    if (has_port && o->socket)
        return zs_cli_usage(&zs_command_dap, "--port and --socket exclude each other");
    if (has_port && o->port > UINT16_MAX)
        return zs_cli_usage(&zs_command_dap, "--port: there are ports up to 65535");
    if (!o->system) {
        char why[1024];
        int status = zs_cli_find_driver(driver);
        if (status != ZS_EXIT_OK)
            return status;
        if (o->devices && !zs_cli_check_devices(driver, o->devices, why, sizeof(why)))
            return zs_cli_usage(&zs_command_dap, "--device: %s", why);
        dap.driver = driver;
    }
    if (!has_port && !o->socket)
        return zs_dap_serve(&dap, STDIN_FILENO, STDOUT_FILENO);
    int fd = listen_somewhere(o);
    return fd < 0 ? ZS_EXIT_FAILED : zs_dap_accept(&dap, fd, o->once);
}
