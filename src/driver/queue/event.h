/* SPDX-License-Identifier: MIT */
/*
 * Events and fences: words that threads, queues and processes wait for.
 *
 * An event's state lives in its pool's memory (a memfd when the pool is made for sharing between
 * processes), and waiting is a futex on that word, so all three kinds of waiters are served alike.
 */
#ifndef ZS_DRIVER_QUEUE_EVENT_H
#define ZS_DRIVER_QUEUE_EVENT_H

#include "driver/driver_priv.h"
#include "driver/memory/pages.h"

enum zs_signal_state {
    ZS_SIGNAL_NOT_READY,
    ZS_SIGNAL_READY,
    ZS_SIGNAL_FAILED, /* what should have signalled it failed: waiting ends with an error */
};

/* One event in its pool's memory. Ticks of the device's clock, full 64 bits. */
struct zs_event_slot {
    _Atomic uint32_t state;
    _Atomic uint32_t done; /* counter-based events: executions that are over, of `submitted` */
    _Atomic uint64_t start_ticks, end_ticks;
    /* How far the host's raw clock was ahead of the device's as somebody first asked for timestamps
     * on it, so that all processes give the same ones; 0: nobody has. */
    _Atomic uint64_t ahead_ns;
    _Atomic uint32_t submitted; /* counter-based events: executions of the append so far */
    uint32_t reserved;
    _Atomic uint64_t failures; /* which of the last 64 of them failed: bit N % 64 for the Nth */
    uint64_t pad[2];
};
_Static_assert(sizeof(struct zs_event_slot) == 64, "shared between processes");

struct zs_ze_event_pool {
    struct zs_object object;
    struct zs_ze_context *context;
    ze_event_pool_flags_t flags;
    uint32_t count;
    struct zs_event_slot *slots;
    size_t map_B;
    struct zs_shared_file file; /* none: not shareable */
    bool ipc_opened;
    uint32_t counter_flags; /* ZE_EVENT_COUNTER_BASED_FLAG_*: its events are counter-based */
    pthread_mutex_t lock;   /* of what counts in its slots, and of their states then */
};

struct zs_ze_event {
    struct zs_object object;
    struct zs_ze_event_pool *pool;
    struct zs_event_slot *slot;
    ze_event_scope_flags_t signal_scope, wait_scope;
    struct zs_event_counter *counter; /* NULL: it is not counter-based; see event_counter.c */
    bool counted;                     /* it is what zs_event_now() made of one that is */
};

/* Wake all waiters of a state word. */
void zs_signal_set(_Atomic uint32_t *word, enum zs_signal_state state);
/*
 * Wait until the word is not NOT_READY. timeout_ns UINT64_MAX: for ever. cancel (may be NULL) is
 * looked at now and then. Returns the state; NOT_READY: timed out or cancelled.
 */
enum zs_signal_state zs_signal_wait(_Atomic uint32_t *word, uint64_t timeout_ns,
                                    const _Atomic bool *cancel);
/* Sleep while the word is `seen`, at most so long, and with `cancel` (may be NULL) not long. */
void zs_word_sleep(_Atomic uint32_t *word, uint32_t seen, uint64_t left_ns,
                   const _Atomic bool *cancel);
void zs_word_wake(_Atomic uint32_t *word);
ze_result_t zs_signal_result(enum zs_signal_state state);

void zs_event_times(struct zs_event_slot *slot, uint64_t start_ticks, uint64_t end_ticks);
void zs_event_signal(struct zs_event_slot *slot, bool ok, uint64_t start_ticks, uint64_t end_ticks);
/* A pool without a handle; takes the descriptor over. NULL: no memory. */
struct zs_ze_event_pool *zs_event_pool_new(struct zs_ze_context *context, uint32_t count, int fd);
/* A descriptor for handles of a pool that can be shared; -errno. */
int zs_event_pool_hand(struct zs_ze_event_pool *pool);
/* What an event says of its execution, masked as the device's timestamps are. */
void zs_event_timestamps(const struct zs_ze_event *event, const struct zs_ze_device *device,
                         ze_kernel_timestamp_result_t *ret_timestamps);

/* ---- Counter-based events ----------------------------------------------------------------------
 * Of later specifications: each append that signals one gives it a slot of its own, so nobody
 * resets them, and who waited before waits for what was meant then. */

/* A handle for such an event. origin: the pool that it is made from, or NULL. */
ze_result_t zs_event_counter_make(struct zs_ze_context *context, struct zs_ze_event_pool *origin,
                                  uint32_t flags, const ze_event_desc_t *scopes,
                                  ze_event_handle_t *ret_handle);
void zs_event_counter_free(struct zs_event_counter *counter);
/* The pool that it was made from, or NULL. */
struct zs_ze_event_pool *zs_event_counter_origin(const struct zs_event_counter *counter);
/*
 * The event as it stands now, with a reference: an event like any other, which the next append that
 * signals it leaves alone. The event itself when it is not counter-based. NULL: no memory.
 */
struct zs_ze_event *zs_event_now(struct zs_ze_event *event);
/* Why a list of that kind may not signal it; NULL: it may. */
const char *zs_event_counter_refusal(const struct zs_event_counter *counter, bool immediate);
/* The slot of the append that is being made, and its pool, with a reference. False: no memory. */
bool zs_event_counter_next(struct zs_ze_event *event, struct zs_event_slot **ret_slot,
                           struct zs_ze_event_pool **ret_pool);
/* Before a command that signals it is submitted, each time. */
void zs_event_counter_expect(struct zs_ze_event_pool *pool, struct zs_event_slot *slot);
/* What a command that is submitted now waits for: see zs_event_counter_wait(). */
uint32_t zs_event_counter_target(const struct zs_event_slot *slot);
/* Until so many executions are over. False: the last of them failed, or cancelled. */
bool zs_event_counter_wait(struct zs_event_slot *slot, uint32_t target, const _Atomic bool *cancel);
/* It was not submitted: who waits for it learns that it failed. */
void zs_event_counter_lost(struct zs_event_slot *slot);
/* It ran: commands that wait for this execution go on, and the host when it was the last one. */
void zs_event_counter_signal(struct zs_ze_event_pool *pool, struct zs_event_slot *slot, bool ok,
                             uint64_t start_ticks, uint64_t end_ticks);

#endif
