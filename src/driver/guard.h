/* SPDX-License-Identifier: MIT */
/*
 * The compiler ends the process when it meets SPIR-V that it cannot read: LLVM's fatal errors call
 * exit. In the user's process that must not happen, so calls of exit and abort out of the
 * compiler's libraries are led here and become a return from zs_guard_run. So does a crash of the
 * compiler on the calling thread (SIGSEGV, SIGBUS, SIGFPE, SIGILL); crashes of other threads go
 * where they would have gone.
 *
 * What the compiler held then is lost (some memory), and so is what it would have destroyed; that
 * is the price of a fatal error, and only of it.
 */
#ifndef ZS_DRIVER_GUARD_H
#define ZS_DRIVER_GUARD_H

#include "base/buf.h"

/* Redirect exit, _exit, quick_exit, abort and sigaction, and what prints to stdout, as called by
 * the loaded libraries whose file names start with one of these. May be called again: libraries
 * that were done stay so. */
void zs_guard_libraries(const char *const *names, size_t count);
/* Call fn; false: it wanted to end the process, *ret_status says with which status, or
 * is minus the signal's number when it crashed. What the libraries print to stdout, which is the
 * application's, is appended to ret_said instead (NULL: dropped). One call at a time in a process.
 */
bool zs_guard_run(void (*fn)(void *ctx), void *ctx, struct zs_buf *ret_said, int *ret_status);

#endif
