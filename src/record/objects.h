/* SPDX-License-Identifier: MIT */
/* Objects and allocations from the calls that create and destroy them, in the order of time. */
#ifndef ZS_RECORD_OBJECTS_H
#define ZS_RECORD_OBJECTS_H

#include "record/activities.h"
#include "record/calls.h"

/* A non-zero return stops, and is returned. */
typedef int (*zs_object_fn)(void *user, const struct zs_act_object *object);

struct zs_objects {
    zs_object_fn on_object;
    zs_object_fn on_ended; /* or NULL: an allocation whose process ended; it stays among the left */
    void *user;
    int *rows; /* by call index: row of the table of calls + 1 */
    uint32_t call_count;
    struct zs_id_map live[ZS_ACT_OBJECT_TYPES]; /* allocations of all kinds: in the first */
    /* Creates whose call has not returned by the time that was reached: a heap by time. */
    struct zs_act_object *coming;
    size_t coming_count, coming_capacity;
};

/* 0 or -ENOMEM. */
int zs_objects_init(struct zs_objects *objects, zs_object_fn on_object, void *user);
void zs_objects_fini(struct zs_objects *objects);
/* A call at depth 0, in the order in which calls began; `number` counts the calls of its thread. */
int zs_objects_call(struct zs_objects *objects, const struct zs_calls *calls,
                    const struct zs_call *call, uint64_t process, uint64_t number);
/* An object that went while recording was paused; type of enum zs_act_object_type, hostile. */
int zs_objects_gone(struct zs_objects *objects, uint64_t process, uint64_t type, uint64_t handle,
                    uint64_t time_ns);
/* No more calls of a process from then on. 0 or -ENOMEM. */
int zs_objects_process_ended(struct zs_objects *objects, uint64_t process, uint64_t time_ns);
/* Whether this call needs its values. */
static inline bool zs_objects_wants(const struct zs_objects *objects, const struct zs_call *call)
{
    return call->call >= 0 && (uint32_t)call->call < objects->call_count &&
           objects->rows[call->call];
}
/* No more calls: what is left is given to `on_left`, in the order in which it came. */
int zs_objects_end(struct zs_objects *objects, zs_object_fn on_left);

#endif
