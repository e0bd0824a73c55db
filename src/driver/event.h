/* SPDX-License-Identifier: MIT */
/*
 * Events and fences: words that threads, queues and processes wait for.
 *
 * An event's state lives in its pool's memory (a memfd when the pool is made for sharing between
 * processes), and waiting is a futex on that word, so all three kinds of waiters are served alike.
 */
#ifndef ZS_DRIVER_EVENT_H
#define ZS_DRIVER_EVENT_H

#include "driver/driver_priv.h"

enum zs_signal_state {
    ZS_SIGNAL_NOT_READY,
    ZS_SIGNAL_READY,
    ZS_SIGNAL_FAILED, /* what should have signalled it failed: waiting ends with an error */
};

/* One event in its pool's memory. Ticks of the device's clock, full 64 bits. */
struct zs_event_slot {
    _Atomic uint32_t state;
    uint32_t reserved;
    _Atomic uint64_t start_ticks, end_ticks;
    /* How far the host's raw clock was ahead of the device's as somebody first asked for timestamps
     * on it, so that all processes give the same ones; 0: nobody has. */
    _Atomic uint64_t ahead_ns;
    uint64_t pad[4];
};
_Static_assert(sizeof(struct zs_event_slot) == 64, "shared between processes");

struct zs_ze_event_pool {
    struct zs_object object;
    struct zs_ze_context *context;
    ze_event_pool_flags_t flags;
    uint32_t count;
    struct zs_event_slot *slots;
    size_t map_B;
    int fd; /* -1: not shareable */
    bool ipc_opened;
};

struct zs_ze_event {
    struct zs_object object;
    struct zs_ze_event_pool *pool;
    struct zs_event_slot *slot;
    ze_event_scope_flags_t signal_scope, wait_scope;
};

/* Wake all waiters of a state word. */
void zs_signal_set(_Atomic uint32_t *word, enum zs_signal_state state);
/*
 * Wait until the word is not NOT_READY. timeout_ns UINT64_MAX: for ever. cancel (may be NULL) is
 * looked at now and then. Returns the state; NOT_READY: timed out or cancelled.
 */
enum zs_signal_state zs_signal_wait(_Atomic uint32_t *word, uint64_t timeout_ns,
                                    const _Atomic bool *cancel);
ze_result_t zs_signal_result(enum zs_signal_state state);

void zs_event_signal(struct zs_event_slot *slot, bool ok, uint64_t start_ticks, uint64_t end_ticks);
/* What an event says of its execution, masked as the device's timestamps are. */
void zs_event_timestamps(const struct zs_ze_event *event, const struct zs_ze_device *device,
                         ze_kernel_timestamp_result_t *ret_timestamps);

#endif
