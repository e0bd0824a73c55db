/* SPDX-License-Identifier: MIT */
/*
 * Execution: commands, the programs that command lists record, and the thread of each queue.
 *
 * A program is what was appended to a list since its last reset. Submitting it takes a reference,
 * so that a list may be reset, appended to again or destroyed while the program still runs. It is
 * immutable once submitted from a regular list; an immediate list submits one program per append.
 *
 * Queues and immediate lists of one device, ordinal and index are one engine of their context, as
 * on hardware: what was submitted first runs first, through whichever of them it came. Compute
 * queues of low priority are an engine of their own, on devices without tiles, as they are a
 * hardware context of their own with Intel's driver: what they wait for holds up nobody else. Each
 * of them is a worker, which knows what was submitted through it and how that ended. An engine
 * executes programs in order, each command after the other, waiting for the events that a command
 * names: commands never overlap, which satisfies barriers. Engines run independently of each other
 * and of the host.
 *
 * Failure: a command that fails ends its submission. The commands behind it do not run; their
 * events and the fence become "failed", so that nobody waits for ever. The queue's next
 * synchronize reports it; later submissions run.
 */
#ifndef ZS_DRIVER_QUEUE_WORKER_H
#define ZS_DRIVER_QUEUE_WORKER_H

#include "driver/queue/order.h"

struct zs_worker;
struct zs_command;

/* What a command sees while it runs. */
struct zs_exec {
    struct zs_ze_context *context; /* of the list that it was appended to */
    struct zs_ze_context *queue_context;
    struct zs_ze_device *device;
    uint32_t ordinal;
    const _Atomic bool *cancel;
    const uint32_t *targets;           /* of the counter-based events that are waited for next */
    uint64_t start_ticks, end_ticks;   /* of the command; a launch replaces them by its own */
    struct zs_order_queue *order;      /* of what runs it ... */
    struct zs_past *submitted;         /* ... and of the host as it did that */
    struct zs_between_command between; /* the command */
};

struct zs_op {
    const char *name;
    int (*run)(struct zs_exec *exec, struct zs_command *command); /* 0 or -errno */
    void (*release)(struct zs_command *command);                  /* may be NULL */
    bool is_barrier; /* all before it in its list is over */
};

struct zs_copy {
    void *dst;
    const void *src;
    struct zs_ze_context *src_context; /* NULL: the list's */
    uint64_t size_B;
    size_t pattern_B; /* fills: src is an owned copy of the pattern */
};

struct zs_command {
    const struct zs_op *op;
    struct zs_event_slot *signal; /* or NULL; its pool is the program's, see zs_program_append */
    struct zs_ze_event_pool *counted; /* that pool, when the event is counter-based */
    struct zs_ze_event **waits;
    uint32_t wait_count;
    uint64_t origin; /* where it was appended, for races: report.h */
    union {
        struct zs_copy copy;
        struct zs_ze_event *event;
        void *data; /* owned by the op */
    };
};

struct zs_program {
    _Atomic uint32_t refs;
    struct zs_ze_context *context; /* of its list */
    struct zs_command *items;
    size_t count, capacity;
    bool is_in_order;     /* each command after the others */
    bool is_apart;        /* of an immediate list that is not */
    bool counted;         /* it signals counter-based events */
    size_t counted_waits; /* for such events */
    struct {
        struct zs_ze_event_pool **items; /* of the events that commands signal; held */
        size_t count, capacity;
    } pools;
};

struct zs_program *zs_program_new(struct zs_ze_context *context);
struct zs_program *zs_program_ref(struct zs_program *program);
void zs_program_unref(struct zs_program *program);
/* Takes over the command's references; false (and still the caller's): no memory. pool: of the
 * event that it signals, or NULL. What is signalled is a word of the pool, so it is the pool that
 * lives on when the program destroys the event. */
bool zs_program_append(struct zs_program *program, const struct zs_command *command,
                       struct zs_ze_event_pool *pool);
void zs_command_release(struct zs_command *command);

/* NULL: no memory. The engine is made with its first worker, and stays until the context goes. */
struct zs_worker *zs_worker_new(struct zs_ze_context *context, struct zs_ze_device *device,
                                const ze_command_queue_desc_t *desc);
/* No more submissions; what was submitted still runs. The caller's pointer is gone. */
void zs_worker_close(struct zs_worker *worker);
/* Run programs in order, then signal the fence (may be NULL). Takes its own references. */
ze_result_t zs_worker_submit(struct zs_worker *worker, uint32_t count,
                             struct zs_program *const *programs, struct zs_ze_fence *fence);
/* Submit and wait; on the caller's thread when the engine has nothing else to do. */
ze_result_t zs_worker_run(struct zs_worker *worker, struct zs_program *program);
/* Wait for everything that was submitted; reports a failure once. */
ze_result_t zs_worker_synchronize(struct zs_worker *worker, uint64_t timeout_ns);
/* Submissions run, to their end or until they notice that the context is cancelled; then return. */
void zs_workers_stop(struct zs_ze_context *context);
/* Wait until nothing that was submitted in the context so far runs. */
void zs_workers_drain(struct zs_ze_context *context);
/* When nothing is left of the context but its memory. */
void zs_engines_free(struct zs_ze_context *context);

struct zs_ze_fence {
    struct zs_object object;
    struct zs_ze_queue *queue;
    _Atomic uint32_t state;
    struct zs_past *past; /* order.h */
};

#endif
