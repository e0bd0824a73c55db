/* SPDX-License-Identifier: MIT */
/* Signals of the program that we are in: they are its own threads' business, and not for a moment
 * in which one of them works for us. */
#ifndef ZS_BASE_SIGNALS_H
#define ZS_BASE_SIGNALS_H

#include <pthread.h>
#include <signal.h>

/*
 * Blocks all that come from outside, for the calling thread and for threads that it creates. Those
 * that a thread brings upon itself stay as they are: blocked they would end the process, and
 * handlers answer them. SIGSYS is how sandboxes let a broker do what they refuse.
 */
static inline void zs_signals_hold(sigset_t *ret_before)
{
    static const int own[] = {SIGSYS, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
    sigset_t others;
    sigfillset(&others);
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        sigdelset(&others, own[i]);
    pthread_sigmask(SIG_BLOCK, &others, ret_before);
}

static inline void zs_signals_release(const sigset_t *before)
{
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

#endif
