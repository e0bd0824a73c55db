/* SPDX-License-Identifier: MIT */
/* The debugger's signals: their handlers note what is to be done, and wake the reading of a key. */
#ifndef ZS_CLI_DEBUG_SIGNALS_H
#define ZS_CLI_DEBUG_SIGNALS_H

#include <zescope/debug.h>

#include <signal.h>
#include <stdbool.h>

extern const char zs_prompt_text[sizeof("(zescope) ")];

/* One terminal in a process. */
extern struct zs_signals {
    volatile sig_atomic_t at_prompt, interrupted, resized, continued, suspended;
    bool is_edited; /* lines are: at the prompt the terminal has modes of its own */
    int wake_fds[2];
} zs_signals;

/* From now on SIGINT stops the debugger's kernels, and at the prompt it gives up the line; NULL:
 * nothing any more. */
void zs_signals_interrupts(struct zs_debugger *debug);
/* Sizes, Ctrl-Z and going on. */
void zs_signals_watch(void);
/* Lines come as they are: the terminal has given up the line when Ctrl-C is seen. */
void zs_signals_plain(void);
/* Stops the process. May be called by handlers. Returns when it is continued. */
void zs_signals_suspend(void);
/* The first character of a line that answers a question; 'q' also for Ctrl-C and the end. */
char zs_signals_ask(int fd);

#endif
