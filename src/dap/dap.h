/* SPDX-License-Identifier: MIT */
/*
 * A debugger for editors: the Debug Adapter Protocol (its specification 1.68) over zescope/debug.h.
 *
 *     zs_dap_open(&options, &dap);
 *     while (!zs_dap_ended(dap)) {
 *         ... read what the client has sent; where zs_dap_busy() says so, without waiting for it
 *         zs_dap_feed(dap, bytes, size_B);
 *         zs_dap_work(dap, 20);
 *     }
 *     zs_dap_close(dap);
 *
 * How the protocol's words are used: a thread is a thread of the device that has been stopped, with
 * its work-items as lanes; a frame's scopes are the lane in focus, all lanes as a table, the
 * registers, and each lane. While something runs there is one thread, ZS_DAP_DEVICE, that stands
 * for all and can be paused.
 *
 * What the client sends is hostile: messages have a limit, bytes that are no JSON and requests that
 * make no sense are answered with an error, requests that come too early or too late too. Where a
 * header cannot be read there is no way to find the next message: the session ends.
 *
 * Threads: none. One session at a time in a process where `env` and `cwd` of a launch are used.
 */
#ifndef ZS_DAP_DAP_H
#define ZS_DAP_DAP_H

#include "base/buf.h"

#include <zescope/debug.h>

struct zs_dap;

enum {
    ZS_DAP_DEVICE = 0x7fffffff,
    ZS_DAP_MESSAGE_MAX_B = 16 << 20,
    ZS_DAP_COMMAND_RUNS = 1,
    ZS_DAP_QUEUE_MAX = 1024, /* requests that wait: then zs_dap_full */
};

struct zs_dap_options {
    void *user;
    /* A whole message with its header. 0, or -errno: nobody listens, the session is over. */
    int (*write)(void *user, const void *data, size_t size_B);
    /* Feed what has come, without waiting: called in long requests, for cancellations. Or NULL. */
    void (*poll)(void *user);
    /* Pass on what the application has written (zs_dap_output), before its end is told. Or NULL. */
    void (*drain)(void *user);
    /* A line of the console that is a debugger's command; its output goes to `out`.
     * ZS_DAP_COMMAND_RUNS: it has made something run, or go back. -ENOENT: it is none, but an
     * expression. Or NULL. */
    int (*command)(void *user, struct zs_debugger *debug, const char *line, struct zs_buf *out,
                   struct zs_diag *diag);
    /* What the end of a console's line may become: words, in place of what begins at *ret_begin,
     * which is set before the first of them. Or NULL. */
    void (*complete)(void *user, struct zs_debugger *debug, const char *line, size_t length,
                     size_t *ret_begin, void (*put)(void *put_user, const char *word),
                     void *put_user);
    /* What a launch takes that does not say it; strings are borrowed, or NULL. The driver "system"
     * is zs_debug_options' NULL. */
    const char *driver, *devices;
    uint32_t device;
};

/* 0 or -ENOMEM. */
int zs_dap_open(const struct zs_dap_options *options, struct zs_dap **ret_dap);
/* Detaches, or kills what was launched. */
void zs_dap_close(struct zs_dap *dap);
/* Bytes from the client, in any pieces. */
void zs_dap_feed(struct zs_dap *dap, const void *data, size_t size_B);
/* Answers one request; without one, what the debugger has to tell within timeout_ms. */
void zs_dap_work(struct zs_dap *dap, uint32_t timeout_ms);
/* There are requests to be answered, or something runs: zs_dap_work has something to do. */
bool zs_dap_busy(const struct zs_dap *dap);
/* Requests wait: read no more of them now. */
bool zs_dap_full(const struct zs_dap *dap);
/* The client has disconnected, or nothing it sends can be understood. */
bool zs_dap_ended(const struct zs_dap *dap);
/* Output of the application ("stdout", "stderr") in any pieces: an incomplete character at the end
 * waits for its rest; size_B 0: there will be none. */
void zs_dap_output(struct zs_dap *dap, bool is_stderr, const void *data, size_t size_B);

#endif
