/* SPDX-License-Identifier: MIT */
#ifndef ZS_COLLECT_OPENCL_PRIV_H
#define ZS_COLLECT_OPENCL_PRIV_H

#include "collect/activity_priv.h"
#include "collect/opencl.h"

#include "base/id_map.h"

enum {
    CL_DEVICES_MAX = 32,      /* of one program, or that are followed */
    CL_PENDING_LOOK = 64,     /* so many gather before an enqueue looks how far the device is */
    CL_PENDING_MAX = 1 << 16, /* of a queue; beyond: executed without times */
    CL_BATCH = 64,
    CL_IDS = 256,
    CL_CALLS = ZS_API_CALL_COUNT - ZS_API_CL_FIRST,
};

struct cl_api {
#define API(name, result, params) result(*name) params;
#include "collect/opencl_api.def"
#undef API
};

struct cl_device {
    cl_device_id handle;
    uint64_t id;       /* in records; 0: none written */
    bool has_clock;    /* the two below are known */
    int64_t low, high; /* what to add to the device's time to get the host's lies between */
    cl_int (*suggest_size)(cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *,
                           size_t *);
    cl_int (*memory_info)(cl_context, const void *, cl_uint, size_t, void *, size_t *);
};

/* An enqueue whose times are not known yet. */
struct cl_pending {
    cl_event event;
    uint64_t id, enter_ns, exit_ns;
};

struct cl_queue {
    cl_command_queue handle;
    cl_context context;
    struct cl_device *device;
    struct act_list list; /* its prefix: what records of enqueues begin with */
    uint64_t id;
    bool has_profiling, hides_profiling; /* hides: we added it */
    bool is_harvesting;
    uint32_t looked; /* pending when somebody looked last */
    struct {
        struct cl_pending *items;
        size_t count, capacity;
    } pending;
};

/* A kernel on a device. */
struct cl_kernel_entry {
    uint64_t id;
    bool is_left_out;
    size_t required[3]; /* work-group size; 0: any */
    cl_uint asked_dims; /* the last size that the driver was asked for */
    size_t asked[3], answer[3];
};

/* Local memory that a kernel gets as arguments, by index. */
struct cl_locals {
    uint64_t bytes[ACT_LOCALS];
};

/* The build of a program for a device, by the id of its event. */
struct cl_program_entry {
    cl_device_id devices[CL_DEVICES_MAX];
    uint32_t builds[CL_DEVICES_MAX];
    uint32_t count;
    cl_program instrumented; /* what its kernels are taken from instead; NULL: from itself */
    cl_program original;     /* of one that was instrumented: the application's */
};

/* What a call enqueues, and which of its parameters say how much: + 1, 0: none. */
struct cl_enqueue {
    enum zs_activity_kind kind; /* 0: nothing is enqueued */
    enum zs_activity_memory from, to;
    uint8_t event, blocking, size, region, image, source, target;
};

struct zs_cl {
    struct zs_collector *collector;
    struct zs_activity *activity;
    struct zs_trace_process *process;
    struct cl_api api;
    atomic_bool is_resolved, has_told; /* what is not done for OpenCL */
    pthread_mutex_t lock;              /* never held while the driver is called for an event */
    struct zs_id_map queues, kernels, programs, locals; /* by handle and, kernels, device */
    struct cl_enqueue enqueues[CL_CALLS];
    struct cl_device devices[CL_DEVICES_MAX];
    uint32_t device_count;
    struct cl_queue **all;
    size_t queue_count, queue_capacity;
    uint64_t next_id, ids_end; /* of enqueues */
};

/* opencl_capture.c */
void cl_build_enter(struct zs_cl *cl, const struct zs_trace_event *event, struct zs_cl_call *call);
void cl_build_exit(struct zs_cl *cl, const struct zs_trace_event *event, struct zs_cl_call *call);
/* A program has been created: what was known under its handle is of another one. */
void cl_program_created(struct zs_cl *cl, cl_program program);
/* The id of its last build for a device; 0: none. */
uint32_t cl_program_build(struct zs_cl *cl, cl_program program, cl_device_id device);
/* An answer of a fixed size; false: none. */
#define CL_ASK(function, object, what, ret)                                                        \
    cl_has((function)((object), (what), sizeof(*(ret)), (ret), NULL))
static inline bool cl_has(cl_int error)
{
    return error == CL_SUCCESS;
}

/* The driver's bytes for a device, the caller's; NULL: there are none, or *ret_error. */
uint8_t *cl_program_bytes_of(struct zs_cl *cl, cl_program program, cl_device_id device,
                             cl_uint what_size, cl_uint what, size_t *ret_size_B, int *ret_error);
enum { CL_DEBUG_SIZES_INTEL = 0x4101 };
bool cl_is_intel_gpu(struct zs_cl *cl, cl_device_id device);

/* What its kernels are taken from instead, or NULL; and whose kernels these are to the application.
 */
cl_program cl_program_instrumented(struct zs_cl *cl, cl_program program);
cl_program cl_program_original(struct zs_cl *cl, cl_program program);

/* opencl_instrument.c: the application keeps its program, and gets kernels of one that a tool
 * rewrote (instrument.h), which stays until the process ends. */
/* What to take kernels of this program from, that has just been built for one device; NULL: from
 * itself. */
cl_program cl_instrument(struct zs_cl *cl, cl_program program, cl_device_id device, uint32_t build);
/* A kernel of it: it reaches what its probes write to. */
void cl_instrument_kernel(struct zs_cl *cl, cl_kernel kernel);
/* The application has said what a kernel reaches (clSetKernelExecInfo). */
void cl_instrument_kernel_reaches(struct zs_cl *cl, cl_kernel kernel, cl_uint what, size_t size_B,
                                  const void *value);

/* opencl_shape.c */
void cl_enqueues_init(struct cl_enqueue enqueues[CL_CALLS]);
void cl_shape_fill(struct zs_cl *cl, struct zs_trace_file *file, const struct zs_trace_event *event,
                   struct cl_queue *queue, struct act_shape *shape, bool *ret_is_left_out);
/* The kernel has been created: what was known under its handle is of another one. */
void cl_kernel_created(struct zs_cl *cl, cl_kernel kernel);
/* It gets that much local memory as an argument. */
void cl_kernel_local(struct zs_cl *cl, cl_kernel kernel, cl_uint index, size_t size_B);

/* opencl_harvest.c */
/* What the queue has done is recorded in the file. */
void cl_harvest(struct zs_cl *cl, struct zs_trace_file *file, struct cl_queue *queue);
void cl_harvest_all(struct zs_cl *cl, struct zs_trace_file *file);
/* An enqueue has returned with this event, which is ours from now on. */
void cl_pend(struct zs_cl *cl, struct zs_trace_file *file, struct cl_queue *queue,
             const struct cl_pending *pending);

#endif
