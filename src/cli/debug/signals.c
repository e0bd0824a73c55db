/* SPDX-License-Identifier: MIT */
#include "cli/debug/signals.h"
#include "cli/debug/screen.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

const char zs_prompt_text[] = "(zescope) ";

struct zs_signals zs_signals = {.wake_fds = {-1, -1}};
static struct zs_debugger *stoppable; /* what Ctrl-C stops, while something runs */

static void wake(void)
{
    int saved = errno;
    (void)!write(zs_signals.wake_fds[1], "", 1);
    errno = saved;
}

static void handle_interrupt(int signal_number)
{
    (void)signal_number;
    if (zs_signals.at_prompt) {
        zs_signals.interrupted = 1;
        wake();
    } else if (stoppable) {
        zs_debug_interrupt(stoppable);
    }
}

void zs_signals_interrupts(struct zs_debugger *debug)
{
    const struct sigaction action = {.sa_handler = handle_interrupt, .sa_flags = SA_RESTART};
    stoppable = debug;
    if (debug)
        sigaction(SIGINT, &action, NULL);
}

/* ---- Ctrl-Z ------------------------------------------------------------------------------------
 * Where a line is edited the reading of a key does it; else the handler, at once.
 */

static void note_suspend(int signal_number);

static void handle_suspend_by(void (*handler)(int signal_number))
{
    const struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART | SA_NODEFER};
    sigaction(SIGTSTP, &action, NULL);
}

void zs_signals_suspend(void)
{
    zs_screen_suspend();
    handle_suspend_by(SIG_DFL);
    zs_signals.continued = 1; /* where nobody would continue it, it is not stopped */
    raise(SIGTSTP);
    handle_suspend_by(note_suspend);
}

static void note_suspend(int signal_number)
{
    int saved = errno;
    (void)signal_number;
    if (zs_signals.at_prompt && zs_signals.is_edited) {
        zs_signals.suspended = 1;
        wake();
    } else {
        zs_signals_suspend();
        if (zs_signals.at_prompt)
            (void)!write(STDOUT_FILENO, zs_prompt_text, sizeof(zs_prompt_text) - 1);
    }
    errno = saved;
}

static void note_resize(int signal_number)
{
    (void)signal_number;
    zs_signals.resized = 1;
    wake();
}

static void note_continue(int signal_number)
{
    (void)signal_number;
    zs_signals.continued = 1;
    wake();
}

void zs_signals_watch(void)
{
    const struct sigaction resize = {.sa_handler = note_resize, .sa_flags = SA_RESTART};
    const struct sigaction go_on = {.sa_handler = note_continue, .sa_flags = SA_RESTART};
    sigaction(SIGWINCH, &resize, NULL);
    sigaction(SIGCONT, &go_on, NULL);
    handle_suspend_by(note_suspend);
}

/* The terminal has given up the line when the handler of Ctrl-C is called: a new prompt alone. */
static void plain_interrupt(int signal_number)
{
    if (zs_signals.at_prompt) {
        int saved = errno;
        (void)!write(STDOUT_FILENO, "\n", 1);
        (void)!write(STDOUT_FILENO, zs_prompt_text, sizeof(zs_prompt_text) - 1);
        errno = saved;
    } else {
        handle_interrupt(signal_number);
    }
}

void zs_signals_plain(void)
{
    const struct sigaction action = {.sa_handler = plain_interrupt, .sa_flags = SA_RESTART};
    sigaction(SIGINT, &action, NULL);
}

char zs_signals_ask(int fd)
{
    struct pollfd fds[] = {{.fd = fd, .events = POLLIN},
                           {.fd = zs_signals.wake_fds[0], .events = POLLIN}};
    char answer = '\0', byte = '\0';
    zs_signals.at_prompt = 1;
    while (byte != '\n' && !zs_signals.interrupted) {
        if (poll(fds, 2, -1) < 0 && errno != EINTR)
            break;
        if (zs_signals.interrupted || !(fds[0].revents & (POLLIN | POLLHUP)))
            continue;
        if (read(fd, &byte, 1) != 1) {
            answer = 'q';
            break;
        }
        answer = answer ? answer : byte;
    }
    zs_signals.at_prompt = 0;
    if (zs_signals.interrupted)
        fputs("\n", stdout); /* the terminal has shown ^C */
    answer = zs_signals.interrupted ? 'q' : answer;
    zs_signals.interrupted = 0;
    return answer;
}
