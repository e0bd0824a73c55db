/* SPDX-License-Identifier: MIT */
/*
 * Device activity and the objects of an application, read back from all trace files of a recording
 * and joined. Hostile input: ids that lead nowhere are NULL.
 */
#ifndef ZS_RECORD_ACTIVITIES_H
#define ZS_RECORD_ACTIVITIES_H

#include "base/arena.h"
#include "base/diag.h"
#include "record/activity.h"
#include "record/calls.h"

/* process: ordinal << 32 | pid, as in the files' names. */
struct zs_act_device {
    uint64_t process, id;
    const char *name;
    uint64_t frequency_hz;
};

struct zs_act_queue {
    uint64_t process, id, device_id;
    const struct zs_act_device *device;
    uint32_t ordinal, index;
    bool immediate;
};

struct zs_act_kernel {
    uint64_t process, id;
    const char *name;
    uint64_t simd, spill_B, private_B, local_B;
};

struct zs_act_append {
    uint64_t process, id;
    uint64_t time_ns, list, kernel_id, device_id, bytes, count;
    uint64_t call;  /* number of the API call in its thread, from 1; 0: not recorded (paused) */
    uint64_t track; /* of the thread */
    uint32_t tid, kind;
    uint32_t groups[3], size[3]; /* groups[0] == 0 or size[0] == 0: not known */
    uint8_t from, to;            /* enum zs_activity_memory */
    bool has_bytes;
    uint32_t executions;
    const struct zs_act_kernel *kernel;
    const struct zs_act_device *device;
};

struct zs_act_execute {
    uint64_t process, id, queue_id;
    uint64_t submit_ns, start_ns, end_ns; /* end_ns 0: not known */
    bool estimated;
    struct zs_act_append *append;
    const struct zs_act_queue *queue;
};

/* An object or allocation that came or went. */
struct zs_act_object {
    uint64_t process, time_ns, handle, size_B;
    uint64_t call; /* number of the call in its thread, from 1 */
    uint32_t tid;
    uint8_t type; /* of zs_act_object_name */
    bool is_create;
};

/* One zeModuleCreate. */
struct zs_act_build {
    uint64_t process, time_ns, duration_ns;
    uint32_t tid;
    int32_t result;
};

/* A time without recording. */
struct zs_act_pause {
    uint64_t process, start_ns, end_ns; /* end_ns 0: it was never resumed */
    uint32_t reason, end_reason;        /* enum zs_pause_reason */
};

/* What the application said (zescope/control.h). */
struct zs_act_mark {
    uint64_t process, time_ns, end_ns; /* end_ns 0: a mark, UINT64_MAX: a range that did not end */
    uint64_t track;                    /* of the thread */
    const char *name;
    uint32_t tid;
    uint32_t depth; /* ranges around it */
};

#define ZS_ACT_VEC(type)                                                                           \
    struct {                                                                                       \
        type *items;                                                                               \
        size_t count, capacity;                                                                    \
    }

struct zs_activities {
    struct zs_arena arena;
    ZS_ACT_VEC(struct zs_act_device) devices;
    ZS_ACT_VEC(struct zs_act_queue) queues;
    ZS_ACT_VEC(struct zs_act_kernel) kernels;
    ZS_ACT_VEC(struct zs_act_append) appends;
    ZS_ACT_VEC(struct zs_act_execute) executes;
    ZS_ACT_VEC(struct zs_act_object) objects; /* in the order of time */
    ZS_ACT_VEC(struct zs_act_build) builds;
    ZS_ACT_VEC(struct zs_act_pause) pauses; /* by process and time */
    ZS_ACT_VEC(struct zs_act_mark) marks;   /* by process, thread, time */
    bool collected;                         /* some device was seen: activity was recorded */
};

/* Called for every API call, file by file; may be NULL. 0 or -errno to stop. */
typedef int (*zs_activities_call_fn)(void *user, const struct zs_calls *calls,
                                     const struct zs_call *call);

/* 0 or -errno with a sentence. Memory grows with the activities and objects, not with the calls. */
int zs_activities_load(const char *recording, zs_activities_call_fn on_call, void *user,
                       struct zs_activities *ret_activities, struct zs_diag *diag);
void zs_activities_free(struct zs_activities *activities);

/* "device memory", "event pool"; NULL beyond the last. The first three are allocations. */
const char *zs_act_object_name(uint32_t type);
enum { ZS_ACT_ALLOCATION_TYPES = 3 };
/* "signal", "API"; "unknown" beyond the last. */
const char *zs_act_pause_reason_name(uint32_t reason);
/* "kernel", "copy". */
const char *zs_act_kind_name(uint32_t kind);
/* "host-to-device"; where something is not known "unknown". */
void zs_act_direction(const struct zs_act_append *append, char *ret_text, size_t size_B);

#endif
