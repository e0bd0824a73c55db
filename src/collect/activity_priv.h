/* SPDX-License-Identifier: MIT */
#ifndef ZS_COLLECT_ACTIVITY_PRIV_H
#define ZS_COLLECT_ACTIVITY_PRIV_H

#include "collect/activity.h"
#include "store/activity.h"

#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stddef.h>

enum {
    ACT_EVENTS_FIRST = 64, /* events of a context's first pool of ours; doubled up to ... */
    ACT_EVENTS_CHUNK_MAX = 1024,
    ACT_EVENTS_MAX = 1 << 16, /* beyond: executed without times */
    ACT_PENDING_MAX = 8192,   /* of an immediate list whose events never come */
    ACT_HARVESTS_MAX = 64,    /* executions of one list that wait at once */
    ACT_SLOTS_CHUNK = 512,
    ACT_SUPPLY_MAX = 64, /* records with events that a list gets at once for its next appends */
    ACT_KEEP_MAX = 1024, /* ... and that it keeps when it is reset */
    ACT_RECORDS_CHUNK = 64,
    ACT_IDS = 256, /* ids of appends that a list takes at once */
    ACT_PREFIX_B = 24,
    ACT_LOCALS = 32, /* arguments beyond it are taken for none of local memory */
};

enum act_type {
    ACT_CONTEXT,
    ACT_DEVICE,
    ACT_QUEUE,
    ACT_LIST,
    ACT_POOL,
    ACT_EVENT,
    ACT_KERNEL,
    ACT_IMAGE,
    ACT_BUILD, /* of a module, or of a kernel: the id as a pointer */
    ACT_TYPES
};

/* Handle and type -> what we know of it. Open addressing. */
struct act_map {
    uint64_t *keys; /* 0: empty */
    void **values;
    size_t capacity, count;
};

struct act_context {
    ze_context_handle_t handle;
    struct act_event *free_events;
    struct act_slot *free_slots;
    struct act_chunk *chunks; /* pools of ours, and memory for slots */
    uint32_t event_count, next_chunk;
    bool no_events, no_slots, no_measures;
    struct meter_chunk *measures; /* activity_metrics.h */
    uint32_t measure_count;
};

struct act_chunk {
    struct act_chunk *next;
    ze_event_pool_handle_t pool;
    struct act_event *events;
    uint32_t event_count;
    void *memory;
    struct act_slot *slots;
};

/* Host memory that a device writes timestamps to; all ones until then. */
struct act_slot {
    struct act_slot *next;
    struct act_context *context;
    ze_kernel_timestamp_result_t *result;
};

struct act_device {
    ze_device_handle_t handle;
    uint64_t id;
    double ns_per_tick;
    uint32_t kernel_bits;
    bool has_clock;
    uint64_t sample_host_ns, sample_ticks; /* taken at the same moment ... */
    uint64_t sample_error_ns;              /* ... within this; 0: no sample yet */
    uint64_t tried_ns;
    struct meter_device *meter; /* NULL: no metrics are wanted of it, or none yet */
};

struct act_queue {
    ze_command_queue_handle_t handle; /* NULL: of an immediate list */
    struct act_device *device;
    uint64_t id;
    uint64_t submitted; /* calls that executed lists and have returned */
};

struct act_event {
    ze_event_handle_t handle;
    struct act_context *context; /* of ours */
    struct act_event *next;      /* free ones of ours */
    struct act_append *owner;    /* executed last, as far as is known */
    struct act_append *appended; /* appended last */
    uint32_t references;         /* appends that name it; it is freed behind the last */
    bool is_own, has_timestamps; /* no timestamps: also when it was destroyed */
};

struct act_kernel {
    struct act_kernel *next; /* of free ones: a call may still look at one */
    uint64_t id;
    uint32_t size[3];
    uint32_t local_B[ACT_LOCALS]; /* by index of the argument: its local memory */
    bool is_left_out;             /* its launches are not to be recorded */
};

struct act_image {
    ze_image_desc_t desc;
};

struct act_deferred {
    uint64_t time_ns;
    struct act_shape shape;
};

/* What an append to a list that is being built touches stands in its first 64 bytes; the rest is
 * zero unless has_more says so. */
struct act_append {
    alignas(64) struct act_append *next; /* of free ones, and of those that a list has in supply */
    uint64_t id;
    struct act_list *list;   /* NULL: it is gone */
    struct act_event *event; /* NULL: no times. Of ours: also of those in supply */
    uint64_t submit_ns;      /* 0: recording was paused, it is not recorded */
    uint64_t recorded_ns;    /* the last submit_ns that was not 0 */
    uint32_t outstanding;    /* executions that are not over */
    uint32_t muted;          /* of these: not to be recorded */
    bool is_stale, in_call, cancelled;
    bool submitted; /* once at least */
    bool shared;    /* a later append of the same list signals the same event */
    bool maybe_set; /* an execution was given up: our event may be set, now or later */
    bool in_doubt;  /* ... and nothing proves that it was not: no times until the list is reset */
    bool has_more;  /* something below is set */
    struct act_slot *slot;         /* times come here before the event is reset */
    struct act_deferred *deferred; /* appended while paused: written when it is needed, or NULL */
    uint64_t stale_start;          /* the event was set already when it was submitted: with this */
    uint64_t command;              /* of a mutable list: its id there, or 0 */
    struct act_measure *measure;   /* of regular lists; NULL: none */
    struct act_shape shape;        /* while `command` is set */
};
_Static_assert(offsetof(struct act_append, slot) == 64, "what every append touches is one line");

/* An execution whose timestamps go to host memory because the list was executed again. */
struct act_harvest {
    struct act_harvest *next;
    struct act_queue *queue;
    ze_command_list_handle_t commands;
    ze_context_handle_t context;
    volatile uint64_t *mark; /* all ones until the device is done with it */
    ze_kernel_timestamp_result_t *results;
    struct {
        struct act_append *append; /* for its stale_start; valid while the list is */
        uint64_t id, submit_ns;
    } * items;
    uint32_t count;
};

struct act_list {
    ze_command_list_handle_t handle;
    struct act_context *context;
    struct act_device *device;
    struct act_queue *queue; /* of the last execution */
    uint32_t ordinal;
    bool immediate, synchronous, is_muted; /* is_muted: executed last while paused */
    bool is_cloneable;                     /* clones would share events of ours: there are none */
    bool is_capturing;                     /* what is appended becomes part of a graph */
    uint64_t next_command;                 /* mutable: the id of the next append; 0: none */
    bool is_harvesting;                    /* a harvest is being submitted, without the lock */
    uint32_t submitting;                   /* calls under way that execute it */
    uint64_t ticket;                       /* queue->submitted as the last of them returned */
    uint64_t clears;                       /* how often it was cleared */
    uint32_t set;                          /* of metric groups, for its launches */
    bool has_set;
    atomic_bool is_held;      /* act_list_hold: who reads or changes what stands here */
    struct act_append *spare; /* supply of the next appends, with events of ours */
    uint32_t spare_count;
    uint64_t next_id, ids_end;
    uint8_t prefix[ACT_PREFIX_B]; /* what all records of its appends begin with */
    uint32_t prefix_B;
    struct act_append **appends;
    size_t count, capacity, first; /* first: those before are done (immediate lists) */
    uint32_t pending;              /* executions that are not recorded yet */
    struct act_harvest *harvests;  /* the oldest first */
    uint32_t harvest_count;
    struct act_list *prev_pending, *next_pending;
    bool is_linked;
};

/* Held by nobody but for a moment. */
static inline void act_list_hold(struct act_list *list)
{
    while (ZS_UNLIKELY(atomic_exchange_explicit(&list->is_held, true, memory_order_acquire)))
        sched_yield();
}

static inline void act_list_release(struct act_list *list)
{
    atomic_store_explicit(&list->is_held, false, memory_order_release);
}

struct zs_activity {
    struct zs_collector *collector;
    struct zs_trace_process *process;
    pthread_mutex_t lock;
    struct zs_trace_file *file;      /* of the thread that holds the lock */
    struct zs_activity_thread *self; /* ... in a hook */
    struct act_map map;
    _Atomic(struct act_list *) pending; /* lists with something pending */
    struct act_append *free_appends;
    struct act_kernel *free_kernels;
    struct act_list *free_lists; /* by next_pending; never freed: a call may still look at one */
    atomic_int can_ask;          /* 0: not looked yet, 1: no, 2: yes */
    _Atomic uint64_t generation; /* changes when lists and kernels come and go */
    uint64_t next_append, next_device, next_queue, next_kernel;
    struct act_meter *meter; /* NULL: no metrics */
};

/* The lock is let go of around a call that may wait: everything may have changed afterwards. */
static inline void act_unlock(struct zs_activity *a)
{
    a->file = NULL;
    pthread_mutex_unlock(&a->lock);
}

static inline void act_relock(struct zs_activity *a, struct zs_trace_file *file)
{
    pthread_mutex_lock(&a->lock);
    a->file = file;
}

typedef void (*act_hook_fn)(struct zs_activity *a, const struct zs_trace_event *event,
                            struct zs_activity_call *call);

/* Numbers of records, for who is not a part of this: `count` from the one that is returned. */
enum act_id { ACT_ID_APPEND, ACT_ID_DEVICE, ACT_ID_QUEUE, ACT_ID_KERNEL };
uint64_t act_ids_take(struct zs_activity *a, enum act_id kind, uint64_t count);

/* activity_later.c: calls of later specifications than Debian's headers. */
#define ACT_LATER_HOOKS(X)                                                                         \
    X(zeCommandListHostSynchronize, act_host_synchronize_enter, act_host_synchronize_exit)         \
    X(zeCommandListImmediateAppendCommandListsExp, act_append_lists_enter, act_append_lists_exit)  \
    X(zeCommandListImmediateAppendCommandListsWithParameters, act_append_lists_enter,              \
      act_append_lists_exit)                                                                       \
    X(zeCommandListCreateCloneExp, NULL, act_clone_exit)                                           \
    X(zeCommandListGetNextCommandIdExp, NULL, act_next_command_exit)                               \
    X(zeCommandListGetNextCommandIdWithKernelsExp, NULL, act_next_command_exit)                    \
    X(zeCommandListUpdateMutableCommandsExp, NULL, act_update_commands_exit)                       \
    X(zeCommandListUpdateMutableCommandKernelsExp, NULL, act_update_kernels_exit)                  \
    X(zeCommandListUpdateMutableCommandSignalEventExp, act_update_signal_enter, NULL)              \
    X(zeEventCounterBasedCreate, act_counter_event_enter, act_counter_event_exit)                  \
    X(zeCommandListBeginGraphCaptureExt, NULL, act_capture_exit)                                   \
    X(zeCommandListBeginCaptureIntoGraphExt, NULL, act_capture_exit)                               \
    X(zeCommandListEndGraphCaptureExt, NULL, act_capture_end_exit)
#define ACT_DECLARE(name)                                                                          \
    void name(struct zs_activity *a, const struct zs_trace_event *event,                           \
              struct zs_activity_call *call);
ACT_DECLARE(act_host_synchronize_enter)
ACT_DECLARE(act_host_synchronize_exit)
ACT_DECLARE(act_append_lists_enter)
ACT_DECLARE(act_append_lists_exit)
ACT_DECLARE(act_clone_exit)
ACT_DECLARE(act_next_command_exit)
ACT_DECLARE(act_update_commands_exit)
ACT_DECLARE(act_update_kernels_exit)
ACT_DECLARE(act_update_signal_enter)
ACT_DECLARE(act_counter_event_enter)
ACT_DECLARE(act_counter_event_exit)
ACT_DECLARE(act_capture_exit)
ACT_DECLARE(act_capture_end_exit)
#undef ACT_DECLARE

/* activity_map.c */
void *act_find(const struct zs_activity *a, enum act_type type, const void *handle);
/* NULL, and nothing kept, without memory. `value` replaces what was there. */
void *act_put(struct zs_activity *a, enum act_type type, const void *handle, void *value);
/* The value at place i < capacity, if one of that type is there. */
void *act_map_value(const struct act_map *map, size_t i, enum act_type type);
void *act_take(struct zs_activity *a, enum act_type type, const void *handle);
struct act_context *act_context_get(struct zs_activity *a, ze_context_handle_t handle);
struct act_device *act_device_get(struct zs_activity *a, ze_device_handle_t handle);
struct act_kernel *act_kernel_get(struct zs_activity *a, ze_kernel_handle_t handle);

/* activity_events.c */
struct act_event *act_event_take(struct zs_activity *a, struct act_context *context);
void act_event_give(struct act_event *event);
struct act_slot *act_slot_take(struct zs_activity *a, struct act_context *context);
void act_slot_clear(struct act_slot *slot);
void act_slot_give(struct act_slot *slot);
/* Before the application destroys a context: everything of ours in it. */
void act_context_drop(struct zs_activity *a, struct act_context *context);

/* activity_times.c */
/* What the device wrote as CLOCK_MONOTONIC; false when it makes no sense. */
bool act_times(struct zs_activity *a, struct act_device *device,
               const ze_kernel_timestamp_result_t *result, uint64_t submit_ns, uint64_t now_ns,
               uint64_t *ret_start, uint64_t *ret_end, bool *ret_estimated);
void act_clock_sample(struct zs_activity *a, struct act_device *device);

/* activity_write.c */
void act_write_device(struct zs_trace_file *file, uint64_t id, const char *name,
                      uint64_t frequency_hz, uint32_t tile, uint32_t index,
                      enum zs_activity_api api);
void act_write_queue(struct zs_activity *a, struct act_queue *queue, uint32_t ordinal,
                     uint32_t index, bool immediate);
void act_write_cl_queue(struct zs_trace_file *file, const struct zs_trace_process *process,
                        uint64_t id, uint64_t device);
struct act_cl_times {
    uint64_t submit_ns, start_ns, end_ns; /* end_ns 0: not known */
    bool is_estimated;
};
void act_write_cl_execute(struct zs_trace_file *file, uint64_t id, uint64_t queue,
                          const struct act_cl_times *times);
void act_write_kernel(struct zs_trace_file *file, uint64_t id, const char *name, uint64_t build,
                      uint64_t base, bool is_rewritten, const ze_kernel_properties_t *p);
/* What every record of an append to the list begins with: made once. */
void act_write_prefix(struct act_list *list);
/* Needs no lock: only what does not change is read. is_end: the call that appended ends, too. */
void act_write_append(struct zs_trace_file *file, uint64_t id, const struct act_list *list,
                      const struct act_shape *shape, uint64_t now_ns, bool is_end);
/* The same for what was appended while recording was paused. */
void act_write_earlier(struct zs_activity *a, uint64_t id, const struct act_list *list,
                       const struct act_shape *shape, uint64_t time_ns);
/* result NULL: without times. submit_ns 0: while recording was paused, nothing is written. */
void act_write_execute(struct zs_activity *a, const struct act_list *list, uint64_t id,
                       const struct act_queue *queue, uint64_t submit_ns,
                       const ze_kernel_timestamp_result_t *result);

/* activity_collect.c */
struct act_append *act_append_new(struct zs_activity *a, struct act_list *list,
                                  struct act_event *event);
/* Another event, or none, from now on; the list is not under way. */
void act_append_retarget(struct zs_activity *a, struct act_append *append, struct act_event *event);
/* Fill the supply of a list to which is appended. */
void act_list_supply(struct zs_activity *a, struct act_list *list);
/* An append to a regular list with an event of ours from the supply; NULL: there is none. The list
 * is held. */
struct act_append *act_append_supplied(struct act_list *list);
/* The call that appended is over. */
void act_append_done(struct zs_activity *a, struct act_append *append, bool ok);
/* It was made while recording is paused: its record is written with its first execution. */
void act_append_defer(struct act_append *append, const struct act_shape *shape);
/* Its event is about to be submitted; now_ns 0: while paused. */
void act_append_submit(struct zs_activity *a, struct act_append *append, uint64_t now_ns);
/* What is finished is recorded. is_proof: everything is finished that was submitted, by calls that
 * have returned. */
void act_collect_append(struct zs_activity *a, struct act_append *append, bool is_proof);
void act_collect_list(struct zs_activity *a, struct act_list *list, bool is_proof);
/* proven: the ticket up to which executions are known to be over, 0: none. */
void act_collect_queue(struct zs_activity *a, const struct act_queue *queue, uint64_t proven);
void act_collect_all(struct zs_activity *a);
/* The process ends: what is finished is recorded, and the rest without times. */
void act_collect_last(struct zs_activity *a);
/* An event that is about to be reset, destroyed: record its execution now or without times. */
void act_event_ends(struct zs_activity *a, struct act_event *event);
void act_list_submit(struct zs_activity *a, struct act_list *list, struct act_queue *queue,
                     uint64_t now_ns);
/* The list is about to be reset or destroyed: forget its appends. */
void act_list_clear(struct zs_activity *a, struct act_list *list);
/* It is destroyed: its supply goes back. */
void act_list_give_back(struct zs_activity *a, struct act_list *list);
/* The execution is not going to happen. */
void act_list_revoke(struct zs_activity *a, struct act_list *list);
/* Around a call that submits lists to a queue, or to the one behind an immediate list. */
void act_lists_enter(struct zs_activity *a, struct act_queue *queue,
                     const ze_command_list_handle_t *lists, uint32_t count, bool muted);
void act_lists_exit(struct zs_activity *a, struct act_queue *queue,
                    const ze_command_list_handle_t *lists, uint32_t count, int32_t result);
void act_event_created(struct zs_activity *a, ze_event_handle_t handle);

/* activity_harvest.c */
bool act_harvest_start(struct zs_activity *a, struct act_list *list);
/* Record the harvests that are there; true when none is left. */
bool act_harvest_poll(struct zs_activity *a, struct act_list *list);
void act_harvest_drop(struct zs_activity *a, struct act_list *list);

#endif
