/* SPDX-License-Identifier: MIT */
/* Sessions of the debug adapter (dap/dap.h) on descriptors and sockets. */
#ifndef ZS_CLI_DEBUG_DAP_SERVE_H
#define ZS_CLI_DEBUG_DAP_SERVE_H

#include "dap/dap.h"

/*
 * One session: requests from in_fd, answers to out_fd, until the client disconnects, its end is
 * closed, or SIGTERM, SIGINT or SIGHUP comes. The process' stdout and stderr become pipes whose
 * bytes the client is sent as output, and stay so: the application inherits them. Its stdin is
 * empty. `options` say the rest; what is called back is filled in here. Returns an exit
 * status.
 */
int zs_dap_serve(struct zs_dap_options *options, int in_fd, int out_fd);

/* A socket that listens for clients of this user, on 127.0.0.1 (port 0: any; *ret_port says which)
 * or at a path. A descriptor, or a negative number after a message. */
int zs_dap_listen_port(uint16_t port, uint16_t *ret_port);
int zs_dap_listen_path(const char *path);
/* One session after another, side by side, each in a process of its own; with `once` the first one
 * alone. Returns an exit status. */
int zs_dap_accept(struct zs_dap_options *options, int listen_fd, bool once);

#endif
