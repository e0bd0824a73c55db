/* SPDX-License-Identifier: MIT */
/* Questions to drivers are asked in a process of their own: drivers crash, hang and write files. */
#ifndef ZS_CLI_ASK_H
#define ZS_CLI_ASK_H

#include "base/buf.h"

#include <stdio.h>

/* How a question that was asked in a process of its own ended. */
struct zs_asked {
    bool asked;     /* false: no process could be made, errno says why */
    bool timed_out; /* it was killed */
    bool cut;       /* it wrote more than the limit, which is not kept */
    int status;     /* exit status, or 128 + signal */
};

/*
 * Run `ask` in a child process, with stdin, stdout and stderr thrown away, and what it starts
 * killed with it. folder: where it works, NULL: where we do. What it writes to `out` is appended to
 * ret_text.
 */
struct zs_asked zs_cli_ask(int (*ask)(const void *question, FILE *out), const void *question,
                           const char *folder, uint64_t timeout_ms, size_t limit_B,
                           struct zs_buf *ret_text);

#endif
