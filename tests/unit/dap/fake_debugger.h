/* SPDX-License-Identifier: MIT */
/*
 * A debugger without a device, at the interface of zescope/debug.h, for tests of what is on top of
 * it. It runs one kernel of 20 lines ("/src/k.cl", line n is the instruction 0x4000 + 16 n), in
 * thread 1 of four lanes and in thread 2 of two; lane 3 is in focus.
 *
 * What the application does is its path: "ends" loads the module, stops at breakpoints and exits
 * with 7, "faults" has a fault before that, "waits" runs until it is interrupted, "missing" cannot
 * be started.
 */
#ifndef ZS_TESTS_FAKE_DEBUGGER_H
#define ZS_TESTS_FAKE_DEBUGGER_H

#include <zescope/debug.h>

/* Of the last one, also after it was closed. */
struct fake_record {
    unsigned opened, closed, killed, detached, continued, stepped;
    enum zs_debug_step step;
    uint32_t step_thread;
    uint64_t step_va, jump_va; /* what was stepped into, and where a thread was sent */
    size_t breakpoint_count;
    char argv[256]; /* with spaces between them */
};
extern struct fake_record fake;

#endif
