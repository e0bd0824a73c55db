/* SPDX-License-Identifier: MIT */
#include "cli/instrument.h"

#include "instrument/instrument.h"
#include "wire/instrument.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the helper ---- */

static int listen_at(const char *path)
{
    enum { WAITING_MAX = 128 };
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    if (!bind(fd, (const struct sockaddr *)&address, sizeof(address)) && !listen(fd, WAITING_MAX))
        return fd;
    int error = -errno;
    close(fd);
    return error;
}

/* In the child. Its end is nobody's error: applications notice that it is gone. */
static void serve(int fd, const struct zs_tool_ref *tool, pid_t parent)
{
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(STDERR_FILENO,
         STDOUT_FILENO); /* what tools print is no part of the application's output */
    if (getppid() == parent)
        zs_instrument_serve(fd, tool);
    _exit(0);
}

static int make_folder(struct zs_cli_helper *h)
{
    snprintf(h->folder, sizeof(h->folder), "/tmp/zescope-XXXXXX"); /* sockets' paths are short */
    if (!mkdtemp(h->folder)) {
        h->folder[0] = '\0';
        return -errno;
    }
    snprintf(h->socket, sizeof(h->socket), "%s/instrument", h->folder);
    return 0;
}

int zs_cli_helper_start(const char *text, struct zs_cli_helper *ret)
{
    struct zs_tool_ref tool;
    struct zs_diag diag = {0};
    *ret = (struct zs_cli_helper){0};
    if (zs_tool_find(text, &tool, &diag))
        return zs_cli_fail("%s", diag.text);
    int error = make_folder(ret), fd = -1;
    if (!error) {
        fd = listen_at(ret->socket);
        error = fd < 0 ? fd : 0;
    }
    pid_t parent = getpid();
    fflush(NULL);
    if (!error && (ret->pid = fork()) < 0)
        error = -errno;
    if (!error && ret->pid == 0)
        serve(fd, &tool, parent);
    if (fd >= 0)
        close(fd);
    zs_tool_drop(&tool);
    if (!error)
        return ZS_EXIT_OK;
    ret->pid = 0;
    zs_cli_helper_stop(ret);
    return zs_cli_fail("the helper that rewrites modules cannot be started: %s", strerror(-error));
}

/* While it should be waiting for modules. */
static void tell_end(int status)
{
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        zs_cli_fail(
            "the tool worked on one module for more than %u s and was ended: that module and "
            "those behind it are not instrumented (" ZS_ENV_INSTRUMENT_LIMIT ": more seconds)",
            zs_instrument_limit_s());
    else if (WIFSIGNALED(status))
        zs_cli_fail("the tool crashed (%s): the module that it worked on and those behind it are "
                    "not instrumented",
                    strsignal(WTERMSIG(status)));
    else
        zs_cli_fail("the tool ended its process (exit status %d): the module that it worked on and "
                    "those behind it are not instrumented",
                    WEXITSTATUS(status));
}

void zs_cli_helper_stop(struct zs_cli_helper *h)
{
    int status = 0;
    if (h->pid > 0) {
        bool is_over = waitpid(h->pid, &status, WNOHANG) == h->pid;
        if (!is_over) {
            kill(h->pid, SIGKILL);
            while (waitpid(h->pid, &status, 0) < 0 && errno == EINTR)
                ;
        }
        /* one that was ending just then ends as it would have */
        if (is_over || !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
            tell_end(status);
    }
    if (h->folder[0]) {
        unlink(h->socket);
        rmdir(h->folder);
    }
    *h = (struct zs_cli_helper){0};
}

/* ---- the table ---- */

static int print(const struct zs_cli_instrument *what, const struct zs_tool_run *run,
                 const struct zs_instrument_totals *totals)
{
    struct zs_buf out = {0};
    if (what->json)
        zs_instrument_json(run, totals, &out);
    else
        zs_instrument_text(run, what->limit, &out);
    bool ok = !out.error && fwrite(out.data, 1, out.size_B, stdout) == out.size_B;
    ok = fflush(stdout) == 0 && ok;
    zs_buf_fini(&out);
    return ok ? ZS_EXIT_OK : zs_cli_fail("the table cannot be written: %s", strerror(errno));
}

static void note_totals(const struct zs_common_options *common, const char *tool,
                        const struct zs_instrument_totals *totals)
{
    if (totals->damaged)
        zs_cli_note(common,
                    "counters of %u module%s are left out: they are damaged, or not those that the "
                    "tool asked for, which has to ask for the same each time",
                    totals->damaged, totals->damaged == 1 ? "" : "s");
    if (totals->partial)
        zs_cli_note(common,
                    "%u of %u modules: the process was gone before it freed them; what ran then is "
                    "counted as far as it had come when somebody last looked",
                    totals->partial, totals->modules);
    if (totals->records_lost)
        zs_cli_note(common,
                    "%llu bytes of records found no room and are lost: --records-buffer gives more "
                    "to kernels, --records-limit to what is kept of them",
                    (unsigned long long)totals->records_lost * 32);
    if (!totals->modules && !totals->damaged)
        zs_cli_note(common, "no module was instrumented: %s",
                    !totals->builds   ? "the application built none"
                    : totals->refused ? "the notes say why (zescope inspect shows them again)"
                    : strchr(tool, ':')
                        ? "the tool found nothing of what it was asked for; lines and variables "
                          "need debug information (build with -g)"
                        : "the tool found nothing in the kernels to put probes at, or they could "
                          "not be changed: of that zescope inspect shows notes");
}

static int make_results(const struct zs_common_options *common,
                        const struct zs_cli_instrument *what, const char *recording, int stdout_fd)
{
    struct zs_tool_ref tool;
    struct zs_tool_run run = {0};
    struct zs_instrument_totals totals = {0};
    struct zs_diag diag = {0};
    if (zs_tool_find(what->tool, &tool, &diag))
        return zs_cli_fail("%s", diag.text);
    int error = zs_instrument_results(recording, &tool, &run, &totals, &diag);
    int status = error ? zs_cli_fail("%s", diag.text) : ZS_EXIT_OK;
    if (!error)
        note_totals(common, what->tool, &totals);
    fflush(stdout);
    dup2(stdout_fd, STDOUT_FILENO);
    if (!error && what->table)
        status = print(what, &run, &totals);
    zs_tool_fini(&run);
    zs_tool_drop(&tool);
    return status;
}

/* In a process of its own: the tool may crash, exit, or print. */
int zs_cli_instrument_results(const struct zs_common_options *common,
                              const struct zs_cli_instrument *what, const char *recording)
{
    int done[2], ended = 0;
    char byte = 0;
    if (pipe2(done, O_CLOEXEC))
        return zs_cli_fail("the tool's table cannot be made: %s", strerror(errno));
    fflush(NULL);
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        int stdout_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(STDERR_FILENO, STDOUT_FILENO);
        int status =
            getppid() == parent ? make_results(common, what, recording, stdout_fd) : ZS_EXIT_FAILED;
        _exit(write(done[1], &byte, 1) == 1 ? status : ZS_EXIT_FAILED);
    }
    int error = pid < 0 ? errno : 0;
    close(done[1]);
    while (pid > 0 && waitpid(pid, &ended, 0) < 0 && errno == EINTR)
        ;
    bool is_done = pid > 0 && read(done[0], &byte, 1) == 1;
    close(done[0]);
    if (error)
        return zs_cli_fail("the tool's table cannot be made: %s", strerror(error));
    if (WIFSIGNALED(ended))
        return zs_cli_fail(
            "the tool crashed as it made its table (%s): there is none; what kernels "
            "wrote is kept in %s/" ZS_INSTRUMENT_DIR,
            strsignal(WTERMSIG(ended)), recording);
    return is_done
               ? WEXITSTATUS(ended)
               : zs_cli_fail("the tool ended its process as it made its table (exit status %d): "
                             "there is none; what kernels wrote is kept in %s/" ZS_INSTRUMENT_DIR,
                             WEXITSTATUS(ended), recording);
}
