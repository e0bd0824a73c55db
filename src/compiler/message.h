/* SPDX-License-Identifier: MIT */
/*
 * What the driver and the helper say to each other, over stream sockets.
 *
 * A message is a header of 32 bytes, a text and data. Numbers are little-endian:
 *
 *     u32 magic, u32 kind, i32 status, u32 0, u64 bytes of text, u64 bytes of data
 *
 * On the control socket the helper says HELLO once; after that each byte from the driver comes with
 * a descriptor (SCM_RIGHTS), the socket of a new worker. There a REQUEST is answered by STARTED
 * and, then, DONE by the worker or DIED by the helper. A socket that ends without any of these was
 * that of an idle worker, or the helper was killed.
 */
#ifndef ZS_COMPILER_MESSAGE_H
#define ZS_COMPILER_MESSAGE_H

#include "base/buf.h"

enum zs_message_kind {
    ZS_MESSAGE_HELLO,   /* status 0: the data are the compiler's identity; else the text says why */
    ZS_MESSAGE_REQUEST, /* data: zs_request_put; text: zs_keep_put, or empty */
    ZS_MESSAGE_STARTED,
    ZS_MESSAGE_DONE, /* status: enum zs_compiler_status; the text is the log, the data the binary */
    ZS_MESSAGE_DIED, /* status: the signal; -1 - the exit status; 0: it was never there. The text is
                        what it said */
    ZS_MESSAGE_KINDS,
};

struct zs_message {
    enum zs_message_kind kind;
    int32_t status;
    struct zs_buf text, data;
};

enum { ZS_MESSAGE_TEXT_MAX_B = 4 << 20, ZS_MESSAGE_DATA_MAX_B = 1 << 30 };

void zs_message_fini(struct zs_message *message);
/*
 * Both wait at most until deadline_ns of the monotonic clock (0: for ever), and do not go on when
 * signals come. 0 or -errno: -EPIPE: the other side is gone; -ETIMEDOUT; -EBADMSG: not a message,
 * or larger than the limits above; -ENOTSOCK: the descriptor is something else by now.
 */
int zs_message_send(int fd, enum zs_message_kind kind, int32_t status, struct zs_span text,
                    struct zs_span data, uint64_t deadline_ns);
int zs_message_receive(int fd, struct zs_message *ret_message, uint64_t deadline_ns);

uint64_t zs_message_clock_ns(void);

#endif
