/* SPDX-License-Identifier: MIT */
/*
 * Handles and the objects behind them.
 *
 * A handle is the address of a slot in one table, so any value that a program passes can be judged
 * without following it: it must point at a slot, and the slot must hold the wanted kind of object.
 * Garbage, a handle of another kind and a destroyed object are thus refused. Slots are reused in
 * the order in which they were freed and not before ZS_SLOTS_RESTING others rest, which keeps
 * stale handles detectable for a while.
 *
 * Objects are counted: the handle holds one reference, each dependent object and each command that
 * was recorded with it another, so destroying in the wrong order frees nothing that is in use.
 *
 * Threads: everything here may be called from several threads at once. Looking up takes no lock.
 */
#ifndef ZS_DRIVER_OBJECT_H
#define ZS_DRIVER_OBJECT_H

#include "base/compiler.h"

#include <stdatomic.h>

/* name of the struct zs_ze_<name>, of the lookup zs_ze_<name>_of and of the destructor
 * zs_ze_<name>_fini */
#define ZS_OBJECT_TYPES(X)                                                                         \
    X(driver)                                                                                      \
    X(device)                                                                                      \
    X(context)                                                                                     \
    X(queue)                                                                                       \
    X(list)                                                                                        \
    X(fence)                                                                                       \
    X(event_pool)                                                                                  \
    X(event)                                                                                       \
    X(image)                                                                                       \
    X(sampler)                                                                                     \
    X(module)                                                                                      \
    X(build_log)                                                                                   \
    X(kernel)                                                                                      \
    X(physical)                                                                                    \
    X(tracer)                                                                                      \
    X(metric_group)                                                                                \
    X(metric)                                                                                      \
    X(metric_programmable)                                                                         \
    X(metric_tracer)                                                                               \
    X(metric_decoder)                                                                              \
    X(query_pool)                                                                                  \
    X(query)                                                                                       \
    X(streamer)                                                                                    \
    X(debug_session)

enum zs_object_type {
    ZS_OBJECT_NONE,
#define X(name) ZS_OBJECT_##name,
    ZS_OBJECT_TYPES(X)
#undef X
        ZS_OBJECT_TYPE_COUNT
};

enum { ZS_SLOTS_RESTING = 4096 };

/* The first member of every object. */
struct zs_object {
    _Atomic uint32_t refs;
    enum zs_object_type type;
    void *_Atomic handle; /* NULL once the program destroyed it */
    uint64_t origin;      /* who made it: report.h; 0: not known */
};

/* Zeroed memory of size_B bytes with one reference and no handle yet, or NULL. */
void *zs_object_new(enum zs_object_type type, size_t size_B) ZS_MUST_CHECK;
/* Give the object a handle; false when there is no memory. The handle owns the first reference. */
bool zs_object_publish(void *object) ZS_MUST_CHECK;
/* Take the handle away; the caller then owns its reference. False: another thread was first. */
bool zs_object_retract(void *object);
void *zs_object_ref(void *object); /* NULL is allowed; returns object */
/* For lists without references: false when the last one is gone, and the object is about to leave.
 */
bool zs_object_ref_live(void *object);
void zs_object_unref(void *object); /* NULL is allowed */
/* The live object of that type behind a handle, or NULL. Borrowed. */
void *zs_object_of(const void *handle, enum zs_object_type type);
/* The same with a reference, for objects that another thread may destroy meanwhile. */
void *zs_object_ref_of(const void *handle, enum zs_object_type type) ZS_MUST_CHECK;
/* For __attribute__((cleanup)) of a variable that zs_object_ref_of() was assigned to. */
void zs_object_unref_var(void *variable);

/* What is known of a handle that is none any more, of checks: report.h's ids. */
struct zs_object_history {
    enum zs_object_type type; /* NONE: it never was a handle, or another took its place */
    uint64_t made, ended;
};
struct zs_object_history zs_object_history(const void *handle);

/* Every object that has a handle, which it keeps meanwhile. false: another thread holds the table
 * for longer than a second, and nothing was called. */
bool zs_objects_each(void (*each)(struct zs_object *object, void *closure), void *closure);

/* In a forked child: all handles so far are invalid. Nothing else may run. */
void zs_objects_forget(void);
/* Whether it may be a handle of before that. */
bool zs_object_forgotten(const void *handle);

#define X(name)                                                                                    \
    struct zs_ze_##name;                                                                           \
    void zs_ze_##name##_fini(struct zs_ze_##name *object); /* frees what it owns, not itself */    \
    static inline struct zs_ze_##name *zs_ze_##name##_of(const void *handle)                       \
    {                                                                                              \
        return (struct zs_ze_##name *)zs_object_of(handle, ZS_OBJECT_##name);                      \
    }
ZS_OBJECT_TYPES(X)
#undef X

#endif
