/* SPDX-License-Identifier: MIT */
/*
 * What OpenCL programs build and have devices do, seen from their calls, in the same recording and
 * in the same words as Level Zero's (activity.h).
 *
 *   - A build (clBuildProgram, clCompileProgram, clLinkProgram) is a module event for each device:
 *     what it was made of, its options, its log, the binary and the debug info that the driver
 *     gives. A build that goes on after the call has returned ends with its callback, which we
 *     stand in for.
 *   - Every enqueue gets an event: ours where the application asked for none. Queues are created
 *     with profiling; where the driver refuses that, as the application said.
 *   - Times are asked for when the application has just waited, when much has gathered, and at the
 *     end; nothing is ever waited for. An event is asked only without a lock: drivers may call the
 *     application from there.
 *   - The device's clock is tied to the host's by each enqueue: the device says when it was
 *     queued (CL_PROFILING_COMMAND_QUEUED), which was between the call's enter and its exit.
 */
#ifndef ZS_COLLECT_OPENCL_H
#define ZS_COLLECT_OPENCL_H

#include "api_calls.h"
#include "collect/activity.h"

struct zs_cl;
struct cl_build;
struct cl_queue;

/* What one call keeps from its enter to its exit. */
struct zs_cl_call {
    uint64_t enter_ns, id;
    struct cl_queue *queue; /* that it enqueues to */
    struct cl_build *build;
    cl_event event;   /* where the driver puts it, if the application gave no place */
    uint32_t restore; /* the parameter that was replaced, + 1; 0: none */
    void *replaced;   /* its value as the application gave it */
    cl_queue_properties properties[2 * 16 + 1];
    struct act_shape shape;
};

/* activity: NULL: builds alone are followed. NULL: no memory. Never freed. */
struct zs_cl *zs_cl_create(struct zs_collector *c, struct zs_activity *activity,
                           struct zs_trace_process *process);
/* Whether a call is followed, paused or not. */
bool zs_cl_hooks(uint32_t call);
/* The functions below the layer, which has been given them. */
void zs_cl_resolve(struct zs_cl *cl, void *(*next)(uint32_t call));
/* As zs_activity_enter and _exit. */
void zs_cl_enter(struct zs_cl *cl, struct zs_trace_file *file, const struct zs_trace_event *event,
                 struct zs_cl_call *call, bool muted);
void zs_cl_exit(struct zs_cl *cl, struct zs_trace_file *file, const struct zs_trace_event *event,
                struct zs_cl_call *call, uint64_t now_ns);
/* The process ends. */
void zs_cl_end(struct zs_cl *cl, struct zs_trace_file *file);

#endif
