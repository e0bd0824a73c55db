/* SPDX-License-Identifier: MIT */
/*
 * From launches to streamers, in whichever process either of them is, without a lock that both
 * take.
 *
 * A streamer makes a segment: memory of its process that others of the user may map, a sealed memfd
 * that is found through the file of its claim (exclusive.h). It holds a ring for each
 * process that launches on the device, the streamer's own included. A ring has one writer, the
 * process whose number stands in it, and one reader, the streamer. Who is slow loses what there is
 * no room for, and the reader is told; nobody waits for the other side but the reader, a moment,
 * for a launch that is just taking its time on the device's clock.
 *
 * Both sides take the other one for hostile: a place in the ring counts only within the ring, what
 * stands there is copied before it is looked at, and what streamers have told of lies in the past.
 */
#ifndef ZS_DRIVER_METRIC_SHARE_H
#define ZS_DRIVER_METRIC_SHARE_H

#include "base/own_fd.h"
#include "driver/metrics/metrics.h"

enum {
    ZS_METRIC_SLOT_B = 1280,
    ZS_METRIC_SLOTS = 1 << 14, /* of a ring: some 0.1 s of the shortest launches */
    ZS_METRIC_RINGS = 32,      /* processes that launch at the same time */
    ZS_METRIC_SLOT_ADDRESSES = (ZS_METRIC_SLOT_B - 8) / sizeof(struct zs_metric_at),
};

enum zs_metric_slot_kind { ZS_METRIC_SLOT_STRETCH, ZS_METRIC_SLOT_MARK, ZS_METRIC_SLOT_AT };

struct zs_metric_mark {
    uint64_t ticks;
    uint32_t value;
};

struct zs_metric_slot {
    uint32_t kind, count; /* of ats */
    union {
        struct zs_metric_stretch stretch;
        struct zs_metric_mark mark;
        struct zs_metric_at ats[ZS_METRIC_SLOT_ADDRESSES];
        uint8_t bytes[ZS_METRIC_SLOT_B - 8];
    };
};
_Static_assert(sizeof(struct zs_metric_slot) == ZS_METRIC_SLOT_B, "a slot holds a stretch");

struct zs_metric_segment;

/* ---- The streamer's side -----------------------------------------------------------------------
 */

struct zs_metric_share {
    struct zs_metric_segment *segment; /* NULL: none */
    struct zs_own_fd file;             /* none: it is this process's alone */
    uint64_t tails[ZS_METRIC_RINGS], lost[ZS_METRIC_RINGS];
};

/* 0 or -errno. set: what the streamer is of (enum zs_metric_set). */
int zs_metric_share_open(uint32_t set, struct zs_metric_share *ret_share);
void zs_metric_share_close(struct zs_metric_share *share);

/* Reports up to then are going to be handed out, or are lost: launches that end from now on begin
 * behind them. What was put before that has arrived when this returns. */
void zs_metric_share_tell(struct zs_metric_share *share, uint64_t ticks);

/* Each slot that was put, in the order of its process. False: something was lost, or was none. */
bool zs_metric_share_drain(struct zs_metric_share *share,
                           void (*take)(void *opaque, const struct zs_metric_slot *slot),
                           void *opaque);

/* ---- The side of launches; the device's metrics lock is held -----------------------------------
 */

/* The streamer's file that is `fd` of process `pid`: a ring of it. False: it has none for us. */
bool zs_metric_out_open(struct zs_metric_out *out, pid_t pid, int fd);
/* Of a streamer of this process. */
void zs_metric_out_own(struct zs_metric_out *out, const struct zs_metric_share *share);
void zs_metric_out_close(struct zs_metric_out *out);
/* Whether the streamer of another process still takes what is put. */
bool zs_metric_out_lives(const struct zs_metric_out *out);

/* A launch takes its time on the clock: up to when was told. Until zs_metric_out_end() the streamer
 * waits before it tells of more. */
uint64_t zs_metric_out_begin(struct zs_metric_out *out, uint64_t now_ticks);
void zs_metric_out_end(struct zs_metric_out *out);
/* Whether half of the ring waits for its reader. */
bool zs_metric_out_presses(const struct zs_metric_out *out);
/* Lost, and counted, if there is no room. */
void zs_metric_out_put(struct zs_metric_out *out, const struct zs_metric_slot *slot);

#endif
