/* SPDX-License-Identifier: MIT */
#include "compiler/message.h"
#include "base/clock.h"

#include "base/reader.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>

enum { MAGIC = 0x3163737a, HEADER_B = 32 };

uint64_t zs_message_clock_ns(void)
{
    return zs_now_ns();
}

void zs_message_fini(struct zs_message *message)
{
    zs_buf_fini(&message->text);
    zs_buf_fini(&message->data);
}

/* 0: ready, or there is an error that the next call will tell. */
static int wait_for(int fd, short events, uint64_t deadline_ns)
{
    for (;;) {
        int wait_ms = -1;
        if (deadline_ns) {
            uint64_t now_ns = zs_message_clock_ns();
            if (now_ns >= deadline_ns)
                return -ETIMEDOUT;
            wait_ms = (int)ZS_MIN((deadline_ns - now_ns) / 1000000u + 1, UINT64_C(1000000));
        }
        struct pollfd p = {.fd = fd, .events = events};
        int n = poll(&p, 1, wait_ms);
        if (n > 0)
            return p.revents & POLLNVAL ? -EBADF : 0;
        if (n < 0 && errno != EINTR)
            return -errno;
    }
}

static int send_all(int fd, struct zs_span bytes, uint64_t deadline_ns)
{
    while (bytes.size_B) {
        ssize_t n = send(fd, bytes.data, bytes.size_B, MSG_NOSIGNAL | MSG_DONTWAIT);
        int error = n < 0 ? -errno : 0;
        if (error == -EAGAIN)
            error = wait_for(fd, POLLOUT, deadline_ns);
        if (error && error != -EINTR)
            return error == -ECONNRESET ? -EPIPE : error;
        if (n > 0)
            bytes = zs_span_make(bytes.data + n, bytes.size_B - (size_t)n);
    }
    return 0;
}

static int receive_all(int fd, uint8_t *place, size_t size_B, uint64_t deadline_ns)
{
    while (size_B) {
        ssize_t n = recv(fd, place, size_B, MSG_DONTWAIT);
        int error = n < 0 ? -errno : 0;
        if (n == 0)
            return -EPIPE;
        if (error == -EAGAIN)
            error = wait_for(fd, POLLIN, deadline_ns);
        if (error && error != -EINTR)
            return error == -ECONNRESET ? -EPIPE : error;
        if (n > 0) {
            place += n;
            size_B -= (size_t)n;
        }
    }
    return 0;
}

static void put(uint8_t *place, uint64_t value, unsigned size_B)
{
    for (unsigned i = 0; i < size_B; i++)
        place[i] = (uint8_t)(value >> 8 * i);
}

int zs_message_send(int fd, enum zs_message_kind kind, int32_t status, struct zs_span text,
                    struct zs_span data, uint64_t deadline_ns)
{
    uint8_t header[HEADER_B] = {0};
    if (text.size_B > ZS_MESSAGE_TEXT_MAX_B || data.size_B > ZS_MESSAGE_DATA_MAX_B)
        return -EBADMSG;
    put(header, MAGIC, 4);
    put(header + 4, kind, 4);
    put(header + 8, (uint32_t)status, 4);
    put(header + 16, text.size_B, 8);
    put(header + 24, data.size_B, 8);
    int error = send_all(fd, zs_span_make(header, sizeof(header)), deadline_ns);
    if (!error)
        error = send_all(fd, text, deadline_ns);
    return error ? error : send_all(fd, data, deadline_ns);
}

static int receive_buf(int fd, struct zs_buf *buf, uint64_t size_B, uint64_t deadline_ns)
{
    uint8_t *place = size_B ? zs_buf_reserve(buf, (size_t)size_B) : NULL;
    if (size_B && !place)
        return -ENOMEM;
    int error = receive_all(fd, place, (size_t)size_B, deadline_ns);
    if (!error)
        buf->size_B += (size_t)size_B;
    return error;
}

int zs_message_receive(int fd, struct zs_message *ret_message, uint64_t deadline_ns)
{
    uint8_t header[HEADER_B];
    *ret_message = (struct zs_message){0};
    int error = receive_all(fd, header, sizeof(header), deadline_ns);
    if (error)
        return error;
    uint32_t kind = zs_load_u32(header + 4);
    uint64_t text_B = zs_load_u64(header + 16), data_B = zs_load_u64(header + 24);
    if (zs_load_u32(header) != MAGIC || kind >= ZS_MESSAGE_KINDS ||
        text_B > ZS_MESSAGE_TEXT_MAX_B || data_B > ZS_MESSAGE_DATA_MAX_B)
        return -EBADMSG;
    ret_message->kind = (enum zs_message_kind)kind;
    ret_message->status = (int32_t)zs_load_u32(header + 8);
    error = receive_buf(fd, &ret_message->text, text_B, deadline_ns);
    if (!error)
        error = receive_buf(fd, &ret_message->data, data_B, deadline_ns);
    if (error)
        zs_message_fini(ret_message);
    return error;
}
