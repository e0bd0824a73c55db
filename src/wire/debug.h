/* SPDX-License-Identifier: MIT */
/*
 * What a debugger's process and the debugged one say to each other: messages of one struct each,
 * over a SOCK_SEQPACKET socket in the abstract namespace, between processes of one user on one
 * machine.
 *
 * A debugged process listens at "zescope-debug.PID" from its zeInit on. A debugger connects and
 * says HELLO. One that attaches before that zeInit listens itself, at a name that says which device
 * it wants; the debugged process finds it there in its zeInit and is attached before that returns.
 * After that both are the same: requests go one way and are answered in order, events the other way
 * at any time. A connection that ends is a detach. Whoever gets a message that is not as it should
 * be closes the connection: neither side trusts the other.
 */
#ifndef ZS_WIRE_DEBUG_H
#define ZS_WIRE_DEBUG_H

#include "base/compiler.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

enum {
    ZS_WIRE_MAGIC = 0x4742445a, /* "ZDBG" */
    ZS_WIRE_VERSION = 3,
    ZS_WIRE_DATA_B_MAX = 32 << 10, /* of memory or registers in one message */
};

enum zs_wire_kind {
    ZS_WIRE_HELLO, /* the first request; sent as an answer where the debugged process connects */
    ZS_WIRE_ACK,
    ZS_WIRE_INTERRUPT,
    ZS_WIRE_RESUME,
    ZS_WIRE_READ_MEMORY,
    ZS_WIRE_WRITE_MEMORY,
    ZS_WIRE_READ_REGISTERS,
    ZS_WIRE_WRITE_REGISTERS,
    ZS_WIRE_DETACH,
    ZS_WIRE_HISTORY, /* data: struct zs_history_request, and the answer's zs_history_answer */
    ZS_WIRE_HELD,    /* the answer's data: a bit for each thread, set: it is stopped */
    ZS_WIRE_REQUEST_COUNT,
    ZS_WIRE_EVENT = 0x100,
};

struct zs_wire_device {
    uint32_t device_id, card, tile; /* tile 0: the whole card */
};
struct zs_wire_hello {
    uint32_t magic, version;
    struct zs_wire_device device;
};
struct zs_wire_thread {
    uint32_t slice, subslice, eu, thread;
};
/* type, flags and members of info as in zet_debug_event_t: module: begin, end, load; page fault:
 * address, mask, reason. */
struct zs_wire_event {
    uint64_t id;
    uint32_t type, flags;
    struct zs_wire_thread thread;
    uint64_t info[3];
};
struct zs_wire_memory {
    struct zs_wire_thread thread;
    uint32_t space, size_B;
    uint64_t gpu_va;
};
struct zs_wire_registers {
    struct zs_wire_thread thread;
    uint32_t type, start, count, size_B; /* of the data */
};

struct zs_wire_head {
    uint32_t kind;   /* enum zs_wire_kind */
    uint32_t number; /* of the request, also in its answer */
    uint32_t size_B; /* of the data behind the message's struct */
    uint32_t result; /* answers: ze_result_t */
};

/* The longest of all messages. Shorter ones end behind their struct and data. */
struct zs_wire_message {
    struct zs_wire_head head;
    union {
        struct zs_wire_hello hello;
        struct zs_wire_thread thread;
        struct zs_wire_event event;
        struct zs_wire_memory memory;
        struct zs_wire_registers registers;
        uint64_t ack; /* event id */
    };
    uint8_t data[ZS_WIRE_DATA_B_MAX];
};

enum { ZS_WIRE_FIXED_B = offsetof(struct zs_wire_message, data) };

static inline size_t zs_wire_size_B(const struct zs_wire_message *message)
{
    return ZS_WIRE_FIXED_B + (size_t)message->head.size_B;
}

/* Whether so many bytes that were received are one whole message. */
static inline bool zs_wire_is_whole(const struct zs_wire_message *message, size_t size_B)
{
    return size_B >= ZS_WIRE_FIXED_B && message->head.size_B <= ZS_WIRE_DATA_B_MAX &&
           size_B == zs_wire_size_B(message);
}

/* Where a debugged process listens, or a debugger that waits for one. Returns the address's size.
 */
static inline socklen_t zs_wire_address(uint32_t pid, const struct zs_wire_device *wanted,
                                        struct sockaddr_un *ret)
{
    memset(ret, 0, sizeof(*ret));
    ret->sun_family = AF_UNIX;
    int length =
        wanted
            ? snprintf(ret->sun_path + 1, sizeof(ret->sun_path) - 1, "zescope-debugger.%u.%x.%u.%u",
                       pid, wanted->device_id, wanted->card, wanted->tile)
            : snprintf(ret->sun_path + 1, sizeof(ret->sun_path) - 1, "zescope-debug.%u", pid);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

/* The other end's process is of this user. */
static inline bool zs_wire_is_ours(int fd, uid_t uid, struct ucred *ret_peer)
{
    socklen_t size_B = sizeof(*ret_peer);
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, ret_peer, &size_B) == 0 && ret_peer->uid == uid;
}

#endif
