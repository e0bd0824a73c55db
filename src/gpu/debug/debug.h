/* SPDX-License-Identifier: MIT */
/*
 * Debugging of kernels: hardware threads that can be addressed, stopped and resumed; code that can
 * be read and written; registers. The driver's debug server (src/driver) is the caller.
 *
 * There is one struct zs_gpu_debug in a process, and none where debugging is not enabled. A card is
 * a root device: the table of its hardware threads. Its tiles are devices that use a part of its
 * slices. A session is a debugger's hold of a card or of a part of its slices.
 *
 * Who stops: an EU thread is executed by a host thread of a launch (a worker). A worker looks at
 * `epoch` between two slices; when it has changed, it takes the lock, takes over changed code,
 * gives its EU threads places in the table and holds those that are to stop. A thread that reaches
 * a breakpoint, ends its step or faults is held by its worker as well. While a worker has threads
 * that are held it goes on with the others, and sleeps when there is none. What is held is touched
 * under the lock only, by whoever has it.
 *
 * Threads beyond the card's number have no place until one is free; they cannot be interrupted, and
 * wait for a place at a breakpoint.
 */
#ifndef ZS_GPU_DEBUG_DEBUG_H
#define ZS_GPU_DEBUG_DEBUG_H

#include "gpu/gpu.h"

struct zs_gpu_debug;
struct zs_gpu_debug_card;
struct zs_gpu_debug_session;

/* UINT32_MAX in a member: all. */
struct zs_gpu_hw_thread {
    uint32_t slice, subslice, eu, thread;
};

int zs_gpu_debug_create(struct zs_gpu_debug **ret_debug);
/* Lives as long as debug, which is for ever. slices: of all tiles. */
int zs_gpu_debug_card_add(struct zs_gpu_debug *debug, const struct zs_gpu_model *model,
                          uint32_t slices, struct zs_gpu_debug_card **ret_card);
/* Before the device runs anything: it uses the card's slices from first_slice on. */
void zs_gpu_device_debug(struct zs_gpu_device *device, struct zs_gpu_debug_card *card,
                         uint32_t first_slice);

/* ---- Code --------------------------------------------------------------------------------------
 * Places of code by gpu_va: the base of its context's code and the ip in it.
 */

struct zs_gpu_debug_code; /* a piece of code: a kernel's or the functions of a module */
int zs_gpu_debug_code_add(struct zs_gpu_debug *debug, uint64_t gpu_va, struct zs_span bytes,
                          struct zs_gpu_debug_code **ret_code);
void zs_gpu_debug_code_remove(struct zs_gpu_debug *debug, struct zs_gpu_debug_code *code);
/* -ENOENT: gpu_va is in no code; -EINVAL: it is, but not all of [gpu_va, gpu_va + size_B). */
int zs_gpu_debug_code_read(struct zs_gpu_debug *debug, uint64_t gpu_va, void *ret_bytes,
                           size_t size_B);
int zs_gpu_debug_code_write(struct zs_gpu_debug *debug, uint64_t gpu_va, const void *bytes,
                            size_t size_B);

/* ---- Sessions ----------------------------------------------------------------------------------
 */

enum zs_gpu_debug_event_kind {
    ZS_GPU_DEBUG_STOPPED,     /* one thread; or what an interrupt asked for */
    ZS_GPU_DEBUG_UNAVAILABLE, /* an interrupt found nobody; a thread ended in its step */
    ZS_GPU_DEBUG_PAGE_FAULT,
};
struct zs_gpu_debug_event {
    enum zs_gpu_debug_event_kind kind;
    struct zs_gpu_hw_thread thread; /* slices count from the session's first one */
    uint64_t gpu_va;                /* page faults */
    bool is_permission;             /* page faults: mapped, but not for this */
};
/* Called under the lock: must not call back. */
typedef void zs_gpu_debug_sink(void *ctx, const struct zs_gpu_debug_event *event);

/* -EBUSY: somebody has one of these slices. */
int zs_gpu_debug_attach(struct zs_gpu_debug_card *card, uint32_t first_slice, uint32_t slice_count,
                        zs_gpu_debug_sink *sink, void *ctx,
                        struct zs_gpu_debug_session **ret_session);
/* All threads go on, breakpoints are taken out. */
void zs_gpu_debug_detach(struct zs_gpu_debug_session *session);

/* -EALREADY: all of them are stopped; -EINPROGRESS: the same is under way; -EINVAL: no such. */
int zs_gpu_debug_interrupt(struct zs_gpu_debug_session *session,
                           const struct zs_gpu_hw_thread *threads);
/* -EALREADY: none of them is stopped; -EINVAL. `before`, unless NULL, is called, under the lock,
 * when some will go on as soon as it returns: the process may be gone a moment later. */
int zs_gpu_debug_resume(struct zs_gpu_debug_session *session,
                        const struct zs_gpu_hw_thread *threads, void (*before)(void *ctx),
                        void *ctx);
/* To be called every few milliseconds while it is true: an interrupt is under way. */
bool zs_gpu_debug_poll(struct zs_gpu_debug_session *session);

/* A bit for each thread of the session (the last member of its id changes first), set: it is
 * stopped. Returns the bytes of them; 0: more than size_B. */
size_t zs_gpu_debug_held_map(struct zs_gpu_debug_session *session, uint8_t *ret_bits,
                             size_t size_B);

/* ---- A stopped thread --------------------------------------------------------------------------
 * All: -EAGAIN: the thread is not stopped, -EINVAL: there is no such thread.
 */

enum { ZS_GPU_DEBUG_REGISTER_B_MAX = 64 };
/* A set of registers, as zet_debug_regset_properties_t. */
struct zs_gpu_debug_regset {
    uint32_t type; /* ZET_DEBUG_REGSET_TYPE_..._INTEL_GPU or ZESCOPE_DEBUG_REGSET_... */
    bool writable;
    uint32_t count, bits, bytes;
    uint32_t most; /* count in threads of kernels that were compiled for more registers */
};
uint32_t zs_gpu_debug_regsets(const struct zs_gpu_model *model,
                              struct zs_gpu_debug_regset *ret_sets, uint32_t capacity);
/* -EINVAL, too: no such set, or range; -EPERM: written, but read-only. */
int zs_gpu_debug_read_registers(struct zs_gpu_debug_session *session,
                                const struct zs_gpu_hw_thread *thread, uint32_t type,
                                uint32_t start, uint32_t count, void *ret_values);
int zs_gpu_debug_write_registers(struct zs_gpu_debug_session *session,
                                 const struct zs_gpu_hw_thread *thread, uint32_t type,
                                 uint32_t start, uint32_t count, const void *values);
/* Local memory by offset. -EFAULT: beyond what the group has. */
int zs_gpu_debug_slm(struct zs_gpu_debug_session *session, const struct zs_gpu_hw_thread *thread,
                     uint64_t offset_B, void *bytes, size_t size_B, bool write);
/* Memory of its launch alone: private arrays, printf buffer ... -ENOENT: it is none of these. */
int zs_gpu_debug_launch_memory(struct zs_gpu_debug_session *session,
                               const struct zs_gpu_hw_thread *thread, uint64_t gpu_va, void *bytes,
                               size_t size_B, bool write);
/* Whether it may be used as the context of memory accesses. */
int zs_gpu_debug_check_stopped(struct zs_gpu_debug_session *session,
                               const struct zs_gpu_hw_thread *thread);

#endif
