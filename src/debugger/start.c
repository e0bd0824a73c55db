/* SPDX-License-Identifier: MIT */
/*
 * Starting an application. It stands in its exec, as a traced process does, until it was attached
 * to: else a quick one has executed kernels before that. Where tracing is not allowed the attaching
 * has to be quicker than the application.
 */
#include "debugger/debugger_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* In the child, where only what is async-signal-safe may be called. It tells whether it is traced,
 * then why exec has failed. */
static void become(char *const *argv, char **environment, const sigset_t *mask, int tell_fd)
{
    struct sigaction act = {.sa_handler = SIG_DFL};
    sigaction(SIGPIPE, &act, NULL);
    sigaction(SIGINT, &act, NULL);
    /* a process group of its own: an interrupt from the terminal is for the debugger */
    setpgid(0, 0);
    int word = ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0;
    (void)!write(tell_fd, &word, sizeof(word));
    sigprocmask(SIG_SETMASK, mask, NULL);
    execvpe(argv[0], argv, environment);
    word = errno;
    (void)!write(tell_fd, &word, sizeof(word));
    _exit(127);
}

static int read_word(int fd)
{
    int word = 0;
    while (read(fd, &word, sizeof(word)) < 0 && errno == EINTR)
        ;
    return word;
}

/* Signals that come before exec are passed on. */
static bool stands_in_exec(pid_t pid)
{
    int status = 0;
    for (;;) {
        pid_t got = waitpid(pid, &status, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 || !WIFSTOPPED(status))
            return false;
        if (WSTOPSIG(status) == SIGTRAP)
            return true;
        (void)ptrace(PTRACE_CONT, pid, NULL, (void *)(intptr_t)WSTOPSIG(status));
    }
}

int zs_dbg_start(char *const *argv, char **environment, pid_t *ret_pid, bool *ret_held)
{
    sigset_t all, before;
    int fds[2], error = 0;
    *ret_held = false;
    if (pipe2(fds, O_CLOEXEC))
        return -errno;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t pid = fork();
    if (pid == 0)
        become(argv, environment, &before, fds[1]);
    if (pid < 0)
        error = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(fds[1]);
    if (pid > 0) {
        bool traced = read_word(fds[0]) != 0;
        *ret_held = traced && stands_in_exec(pid);
        error = *ret_held ? 0 : read_word(fds[0]);
        if (error && !traced)
            waitpid(pid, NULL, 0);
        if (traced && !*ret_held && !error)
            error = ESRCH; /* a signal has ended it before its program began */
    }
    close(fds[0]);
    *ret_pid = pid;
    return -error;
}

void zs_dbg_let_go(pid_t pid)
{
    (void)ptrace(PTRACE_DETACH, pid, NULL, NULL);
}
