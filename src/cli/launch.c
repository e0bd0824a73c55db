/* SPDX-License-Identifier: MIT */
#include "cli/launch.h"

#include "base/compiler.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <sys/wait.h>

enum { PASSED_ON = 5, LEFT_TO_APP = 2, SIGNALS = PASSED_ON + LEFT_TO_APP };

struct signals {
    int numbers[SIGNALS]; /* those that are passed on first; 0: none */
    struct sigaction old[SIGNALS];
};

/* For the handler, and for a thread that wants the application to end. */
static atomic_int app_pid;
static atomic_bool end_asked; /* perhaps before its number is known */

static void pass_on(int signal_number)
{
    int saved = errno, pid = app_pid;
    if (pid > 0)
        kill(pid, signal_number);
    errno = saved;
}

static void end_if_asked(void)
{
    if (app_pid > 0 && atomic_exchange(&end_asked, false))
        pass_on(SIGTERM);
}

void zs_cli_end_app(void)
{
    end_asked = true;
    end_if_asked();
}

static void catch_signals(struct signals *s, sigset_t *ret_defaults)
{
    sigemptyset(ret_defaults);
    sigaddset(ret_defaults, SIGPIPE); /* zescope itself ignores it */
    for (size_t i = 0; i < SIGNALS; i++) {
        bool passed = i < PASSED_ON;
        const struct sigaction action = {.sa_handler = passed ? pass_on : SIG_IGN,
                                         .sa_flags = SA_RESTART};
        if (!s->numbers[i])
            continue;
        sigaction(s->numbers[i], NULL, &s->old[i]);
        bool ignored = s->old[i].sa_handler == SIG_IGN; /* nohup: stays so, for the app too */
        if (!ignored)
            sigaction(s->numbers[i], &action, NULL);
        if (!ignored && !passed)
            sigaddset(ret_defaults, s->numbers[i]);
    }
}

static void release_signals(const struct signals *s)
{
    for (size_t i = SIGNALS; i-- > 0;)
        if (s->numbers[i])
            sigaction(s->numbers[i], &s->old[i], NULL);
}

int zs_cli_run_app(char **argv, char **environment, int one_more_signal, int *ret_status)
{
    struct signals s = {
        .numbers = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, one_more_signal, SIGINT, SIGQUIT}};
    posix_spawnattr_t attributes;
    sigset_t defaults, all, mask;
    siginfo_t info;
    pid_t pid;
    int status = 0;
    if (posix_spawnattr_init(&attributes))
        return -ENOMEM;
    for (size_t i = 0; i < SIGNALS; i++)
        if (i != PASSED_ON - 1 && s.numbers[i] == one_more_signal)
            s.numbers[PASSED_ON - 1] = 0;
    catch_signals(&s, &defaults);
    /* a signal that comes before the application's number is known waits until it is */
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &mask);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setsigmask(&attributes, &mask);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    int error = -posix_spawnp(&pid, argv[0], NULL, &attributes, argv, environment);
    posix_spawnattr_destroy(&attributes);
    app_pid = error ? 0 : pid;
    end_if_asked();
    sigprocmask(SIG_SETMASK, &mask, NULL);
    if (!error) {
        /* it keeps its number until nothing is passed on to it any more */
        while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) && errno == EINTR)
            continue;
        app_pid = 0;
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            continue;
        *ret_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }
    release_signals(&s);
    return error;
}
