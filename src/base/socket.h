/* SPDX-License-Identifier: MIT */
/* Whole messages over a stream socket. Both ends wait as long as the socket's own timeouts let
 * them. */
#ifndef ZS_BASE_SOCKET_H
#define ZS_BASE_SOCKET_H

#include <errno.h>
#include <stddef.h>
#include <sys/socket.h>

/* 0 or -errno; a peer that is gone raises no signal. */
static inline int zs_socket_send(int fd, const void *from, size_t size_B)
{
    for (const char *at = from; size_B;) {
        ssize_t n = send(fd, at, size_B, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n ? -errno : -EPIPE;
        at += n;
        size_B -= (size_t)n;
    }
    return 0;
}

/* 0 or -errno; -ECONNRESET: the peer ended before. */
static inline int zs_socket_receive(int fd, void *to, size_t size_B)
{
    for (char *at = to; size_B;) {
        ssize_t n = recv(fd, at, size_B, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n ? -errno : -ECONNRESET;
        at += n;
        size_B -= (size_t)n;
    }
    return 0;
}

#endif
