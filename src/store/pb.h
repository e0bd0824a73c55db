/* SPDX-License-Identifier: MIT */
/* Protocol buffers' wire format into a fixed buffer: enough for Perfetto packets, no allocation. */
#ifndef ZS_STORE_PB_H
#define ZS_STORE_PB_H

#include "base/compiler.h"

#include <string.h>

struct zs_pb {
    uint8_t *at, *end;
    bool full; /* something did not fit; what was written is not whole */
};

static inline struct zs_pb zs_pb_make(uint8_t *buffer, size_t size_B)
{
    return (struct zs_pb){.at = buffer, .end = buffer + size_B};
}

static inline void zs_pb_raw(struct zs_pb *pb, const void *data, size_t size_B)
{
    if ((size_t)(pb->end - pb->at) < size_B) {
        pb->full = true;
        return;
    }
    if (size_B)
        memcpy(pb->at, data, size_B);
    pb->at += size_B;
}

static inline void zs_pb_varint(struct zs_pb *pb, uint64_t value)
{
    uint8_t bytes[10];
    if (ZS_LIKELY(pb->end - pb->at >= (ptrdiff_t)sizeof(bytes))) {
        uint8_t *at = pb->at;
        for (; value >= 0x80; value >>= 7)
            *at++ = (uint8_t)(value | 0x80);
        *at++ = (uint8_t)value;
        pb->at = at;
        return;
    }
    size_t n = 0;
    while (value >= 0x80) {
        bytes[n++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    bytes[n++] = (uint8_t)value;
    zs_pb_raw(pb, bytes, n);
}

static inline void zs_pb_u64(struct zs_pb *pb, uint32_t field, uint64_t value)
{
    zs_pb_varint(pb, (uint64_t)field << 3);
    zs_pb_varint(pb, value);
}

static inline void zs_pb_fixed64(struct zs_pb *pb, uint32_t field, uint64_t value)
{
    zs_pb_varint(pb, (uint64_t)field << 3 | 1);
    zs_pb_raw(pb, &value, sizeof(value));
}

static inline void zs_pb_bytes(struct zs_pb *pb, uint32_t field, const void *data, size_t size_B)
{
    zs_pb_varint(pb, (uint64_t)field << 3 | 2);
    zs_pb_varint(pb, size_B);
    zs_pb_raw(pb, data, size_B);
}

static inline void zs_pb_text(struct zs_pb *pb, uint32_t field, const char *text)
{
    zs_pb_bytes(pb, field, text, strlen(text));
}

/* A nested message: begin returns where its length goes, end writes it. The length takes a fixed
 * two bytes (a varint with a spare continuation byte), so nothing has to be moved; messages are
 * shorter than 16 KiB. */
static inline uint8_t *zs_pb_begin(struct zs_pb *pb, uint32_t field)
{
    zs_pb_varint(pb, (uint64_t)field << 3 | 2);
    uint8_t *length = pb->at;
    zs_pb_raw(pb, "\0\0", 2);
    return length;
}

static inline void zs_pb_end(struct zs_pb *pb, uint8_t *length)
{
    if (pb->full)
        return;
    size_t size_B = (size_t)(pb->at - length) - 2;
    if (size_B >= 1 << 14) {
        pb->full = true;
        return;
    }
    length[0] = (uint8_t)(size_B | 0x80);
    length[1] = (uint8_t)(size_B >> 7);
}

/* A short nested message, at most 127 bytes: its length takes one byte. */
static inline uint8_t *zs_pb_begin_short(struct zs_pb *pb, uint32_t field)
{
    zs_pb_varint(pb, (uint64_t)field << 3 | 2);
    uint8_t *length = pb->at;
    zs_pb_raw(pb, "\0", 1);
    return length;
}

static inline void zs_pb_end_short(struct zs_pb *pb, uint8_t *length)
{
    if (pb->full)
        return;
    size_t size_B = (size_t)(pb->at - length) - 1;
    if (size_B > 127) {
        pb->full = true;
        return;
    }
    *length = (uint8_t)size_B;
}

#endif
