/* SPDX-License-Identifier: MIT */
/*
 * An emulated DRM render node for each device of ZESCOPE_DEVICES, in a library that is preloaded
 * into a process that uses Intel's user-mode drivers.
 *
 *     entry.c     functions of the C library that lead here: paths, ioctl
 *     paths.c     the files and folders of /dev/dri and /sys that drivers look at
 *     node.c      devices, open files of nodes and their memory
 *     object.c    memory objects and where they are bound
 *     prime.c     objects that several devices share
 *     vm.c        addresses of GPUs, and what is bound there
 *     syncobj.c   what batches wait for and signal
 *     engine.c    contexts, and a thread for each engine that is used: batches in their order
 *     heap.c      code beside a kernel's, which it may call by addresses
 *     walk.c      what the command streamer hands over, for src/gpu
 *     names.c     modules and allocations of the application: what faults and findings name
 *     check.c     what --check finds
 *     calls.c     ioctl(): handlers by number
 *     i915_*.c    the interface of that kernel driver, one file for each family of calls
 *     xe_*.c      and of that one
 *
 * A node's descriptor is a memory file: mmap(), dup(), poll(), close() and fork() are the kernel's
 * work on it, and objects are parts of that file. It is known by its inode.
 *
 * Threads: any. file->lock guards what a file has; engines have their own. A child of fork() goes
 * on with its parent's files where no batch was under way, else without them: it opens nodes anew.
 */
#ifndef ZS_DRM_DRM_PRIV_H
#define ZS_DRM_DRM_PRIV_H

#include "base/diag.h"
#include "base/vec.h"
#include "dataport/dataport.h"
#include "gpu/between.h"

#include <zescope/driver_ext.h>

#include <pthread.h>
#include <sys/types.h>

struct stat;
struct zs_cs_walk;
struct zs_cs_ran;
struct zs_drm_file;
struct zs_drm_kernels;
struct zs_drm_pages;

/* ---- names.c -----------------------------------------------------------------------------------
 */

struct zs_kernel;
/* The kernel of the application that has this code, from *ret_skip_B on; NULL: it is not known.
 * It stays. */
const struct zs_kernel *zs_drm_name(struct zs_span code, uint64_t *ret_skip_B);
/* Another thread of the parent may have been inside. */
void zs_drm_names_begin_child(void);
/* Whether anybody says what there is. */
bool zs_drm_has_names(void);
/* Bytes of an object that this thread is making, or that is bound at an address, which the
 * application may use, and the call that made it; false: it is not known. */
bool zs_drm_memory_made(uint64_t size_B, uint64_t *ret_size_B, const char **ret_call);
bool zs_drm_memory_at(uint64_t gpu_va, uint64_t size_B, uint64_t *ret_size_B,
                      const char **ret_call);
/* The application has freed what is there, and the driver has not yet. */
bool zs_drm_memory_is_freed(uint64_t gpu_va);

/* ---- check.c -----------------------------------------------------------------------------------
 */

struct zs_gpu_walk;
/* ZS_CHECK_* that are asked for. */
unsigned zs_drm_checks(void);
/* ZS_GPU_KERNEL_* that they need. */
uint32_t zs_drm_check_kernel(void);
/* Which kernels become code of the host: ZESCOPE_EU. */
struct zs_gpu_walk_code;
void zs_drm_compile_choose(struct zs_gpu_walk_code *code);
void zs_drm_compile_begin_child(void);
/* What a launch is to look for. kernel: of zs_drm_name(), or NULL; it stays as long as the walk. */
enum { ZS_DRM_LOCALS_MAX = 16 };
struct zs_drm_checked {
    const struct zs_kernel *kernel;
    uint64_t skip_B;
    uint8_t *payload; /* the walk's cross */
    const struct zs_gpu_walk *walk;
    struct zs_port_gap gaps[ZS_DRM_LOCALS_MAX];
};
void zs_drm_check_launch(const struct zs_gpu_model *model, struct zs_gpu_walk *walk,
                         struct zs_drm_checked *checked);
/* What an engine of a context runs, for races between commands of all engines. */
struct zs_drm_order {
    struct zs_past *mine;   /* what it has run */
    struct zs_past *before; /* what is over before what it runs now */
    uint64_t phase;         /* cs/cs.h */
};
/* All that is over now; the caller's reference. NULL: nobody asks. */
struct zs_past *zs_drm_order_now(void);
/* What is in `past` is over before all that comes; and all that is over now. */
void zs_drm_order_after(struct zs_drm_order *order, const struct zs_past *past);
void zs_drm_order_waited(struct zs_drm_order *order);
/* Behind check_launch(), for as long as it runs. */
void zs_drm_order_begin(struct zs_drm_order *order, const struct zs_cs_walk *asked,
                        struct zs_gpu_walk *walk, struct zs_between_command *command);
/* A copy or a fill: all before it in its engine is over. false: nobody asks. */
bool zs_drm_order_copy(struct zs_drm_order *order, const char *name, struct zs_gpu_memory *memory,
                       struct zs_between_command *command);
/* The engine stores a value behind all that it has run, or has read one. */
void zs_drm_order_sync(struct zs_drm_order *order, const uint8_t *host, uint32_t value,
                       bool is_store);
void zs_drm_order_end(struct zs_drm_order *order, struct zs_between_command *command);
void zs_drm_order_fini(struct zs_drm_order *order);
void zs_drm_order_begin_child(void);
void zs_drm_tell_fault(const struct zs_drm_checked *checked, const struct zs_gpu_fault *fault);
/* What an application may use of an object; the label of it. */
void zs_drm_check_allocation(const char *call, uint64_t exact_B, struct zs_gpu_allocation *a);

/* ---- log.c -------------------------------------------------------------------------------------
 * As the Level Zero driver's: ZESCOPE_LOG=LEVEL[:FILE].
 */
enum zs_drm_log_level { ZS_DRM_ERROR = 1, ZS_DRM_WARN, ZS_DRM_INFO, ZS_DRM_DEBUG };
bool zs_drm_log_is(enum zs_drm_log_level level);
void zs_drm_log(enum zs_drm_log_level level, const char *format, ...) ZS_PRINTF(2, 3);

/* ---- entry.c ---------------------------------------------------------------------------------
 * The C library's own.
 */
int zs_drm_real_fstat(int fd, struct stat *ret);
void *zs_drm_real_mmap(void *at, size_t size_B, int protection, int flags, int fd, off_t offset_B);

/* ---- node.c ------------------------------------------------------------------------------------
 */

enum { ZS_DRM_NODES_MAX = 8, ZS_DRM_MAJOR = 226, ZS_DRM_RENDER_MINOR = 128 };

/* Kernel drivers, as bits. */
enum zs_drm_interface { ZS_DRM_I915 = 1, ZS_DRM_XE = 2 };
/* A row of device.def. */
struct zs_drm_device {
    const char *name; /* of a model; NULL: all of the platform */
    enum zs_isa_platform platform;
    uint32_t interfaces; /* that know it */
    uint32_t address_bits;
    uint16_t ip[3];
    uint8_t render, copy, compute; /* engines */
    uint8_t l3_banks, hbm_stacks;
    bool wide_eus; /* topology counts EUs of 16 lanes */
};
struct zs_drm_node {
    const struct zs_gpu_model *model;
    struct zs_gpu_model of_tiles; /* of several: what model leads to */
    const struct zs_drm_device *says;
    enum zs_drm_interface interface;
    uint32_t index;
    char bdf[16]; /* "0000:00:02.0" */
    pthread_mutex_t lock;
    struct zs_gpu_device *device; /* made by the first batch */
    struct zs_drm_kernels *kernels;
    struct zs_drm_stalls *stalls; /* streams that observe it */
};
/* xe_query.c: keys, counts of words and values, as firmware has them. */
size_t zs_drm_put_hwconfig(const struct zs_drm_node *node, uint8_t *to);
/* A call on a stream's descriptor. false: it is none. */
bool zs_drm_xe_stream_ioctl(int fd, unsigned long request, int *ret);
/* Somebody samples stalls: launches are to be timed, and what was found of them goes there. */
bool zs_drm_stalls_wanted(struct zs_drm_node *node);
struct zs_gpu_kernel;
void zs_drm_stalls_put(struct zs_drm_node *node, uint64_t kernel_va,
                       const struct zs_gpu_kernel *kernel, const struct zs_gpu_timing *timing);
uint32_t zs_drm_node_count(void);
struct zs_drm_node *zs_drm_node(uint32_t index);
struct zs_drm_engine {
    uint16_t class, instance; /* as both interfaces number them */
};
enum { ZS_DRM_ENGINES_MAX = 16 };
uint32_t zs_drm_engines(const struct zs_drm_node *node,
                        struct zs_drm_engine ret[ZS_DRM_ENGINES_MAX]);
bool zs_drm_has_engine(const struct zs_drm_node *node, struct zs_drm_engine engine);
/* A descriptor, or -errno. */
int zs_drm_open(struct zs_drm_node *node, int flags);
/* The open file behind a descriptor; NULL: it is none of ours. */
struct zs_drm_file *zs_drm_file_of(int fd);
/* What stat() says of a node: a character device. */
void zs_drm_node_stat(uint32_t minor, struct stat *ret);
/* What the application has of memory at an address is gone for kernels that come. */
void zs_drm_withdraw(uint64_t gpu_va);
/* Until no batch of any file uses objects that have them. */
void zs_drm_wait_pages(const struct zs_drm_pages *pages);
uint32_t zs_drm_file_minor(const struct zs_drm_file *file);
/* The device that runs its kernels; NULL: it cannot be made. */
struct zs_gpu_device *zs_drm_node_device(struct zs_drm_node *node);

/* ---- object.c ----------------------------------------------------------------------------------
 */

struct zs_drm_object;
/* A part of an object, or of the user's memory, at an address: what xe calls a binding. */
struct zs_drm_mapping {
    uint64_t gpu_va, size_B;
    uint8_t *host;
    struct zs_drm_object *object; /* one reference; NULL: the user's memory */
    bool read_only;
};
struct zs_drm_vm {
    uint32_t references;
    uint32_t address_bits;
    struct zs_gpu_memory *memory;
    struct {
        struct zs_drm_mapping *items; /* by address */
        size_t count, capacity;
    } mappings;
};
struct zs_drm_binding {
    struct zs_drm_vm *vm;
    uint64_t gpu_va;
};
struct zs_drm_object {
    struct zs_drm_file *file;
    uint32_t references; /* its handle, its bindings, batches that use it */
    uint32_t busy;       /* batches that are not done */
    uint64_t size_B;
    uint8_t *host;
    uint64_t offset_B;          /* in the file, unless it is the user's own memory */
    struct zs_drm_pages *pages; /* shared with other objects; NULL: its own, or the user's */
    bool is_users, read_only;
    const char *call; /* of the application that made it; NULL: not known */
    uint64_t exact_B; /* that it asked for */
    uint32_t tiling, stride_B;
    struct {
        struct zs_drm_binding *items;
        size_t count, capacity;
    } bindings;
};

/* What batches wait for and signal: points on a line, those that were submitted and reached. */
struct zs_drm_sync {
    uint32_t references;
    bool has_fence; /* something was submitted, since it was reset */
    uint64_t submitted, reached;
};
struct zs_drm_point {
    struct zs_drm_sync *sync; /* one reference */
    uint64_t value;           /* 0, of one that signals: the next */
    bool is_signal;
};

struct zs_drm_hole {
    uint64_t start_B, end_B;
};
struct zs_drm_file {
    struct zs_drm_file *next;
    struct zs_drm_node *node;
    dev_t device;
    ino_t inode;
    int memory_fd; /* ours */
    pthread_mutex_t lock;
    pthread_cond_t idle;      /* an object or a queue has less to do */
    uint8_t *memory;          /* the whole of the memory file, mapped with the first object */
    uint64_t used_B, end_B;   /* of it: what was given out, and where this process's part ends */
    uint32_t batches;         /* that were run */
    uint32_t jobs;            /* that were submitted and are not done */
    _Atomic(bool) has_failed; /* one of them did */
    struct {
        struct zs_drm_object **items; /* by handle; NULL: free */
        size_t count, capacity;
    } objects;
    struct {
        struct zs_drm_hole *items;
        size_t count, capacity;
    } holes;
    struct {
        struct zs_drm_vm **items; /* by number - 1 */
        size_t count, capacity;
    } vms;
    struct {
        struct zs_drm_context **items;
        size_t count, capacity;
    } contexts;
    struct {
        struct zs_drm_sync **items; /* by handle - 1 */
        size_t count, capacity;
    } syncs;
};

/* All with file->lock held. */
/* In a child: memory is shared with the parent, which gives it back; what is new has a part of its
 * own, which the parent has left it. */
void zs_drm_objects_inherit(struct zs_drm_file *file);
/* Before fork(): leaves a part to the child. false: there is none left. */
bool zs_drm_objects_share(struct zs_drm_file *file);
int zs_drm_object_create(struct zs_drm_file *file, uint64_t size_B, uint32_t *ret_handle);
int zs_drm_object_wrap(struct zs_drm_file *file, uint64_t host, uint64_t size_B, bool read_only,
                       uint32_t *ret_handle);
struct zs_drm_object *zs_drm_object(struct zs_drm_file *file, uint32_t handle); /* or NULL */
int zs_drm_object_close(struct zs_drm_file *file, uint32_t handle);
void zs_drm_object_put(struct zs_drm_object *object);
/* At an address of a VM, where it stays until it is closed or bound elsewhere. What is there goes.
 */
int zs_drm_object_bind(struct zs_drm_object *object, struct zs_drm_vm *vm, uint64_t gpu_va);

/* ---- prime.c -----------------------------------------------------------------------------------
 */

void zs_drm_pages_put(struct zs_drm_pages *pages);
/* What mmap() is called with. */
struct zs_drm_host_map {
    void *at;
    size_t size_B;
    int protection, flags, fd;
    off_t offset_B;
};
/* Maps the pages behind a descriptor of a shared object; *ret and errno as of mmap(). false: the
 * descriptor is none of these. */
bool zs_drm_prime_map(const struct zs_drm_host_map *map, void **ret);
/* Until no batch of i915's of this process uses the pages; xe's wait by fences in memory. false: as
 * above. */
bool zs_drm_prime_sync(int fd);

/* ---- vm.c --------------------------------------------------------------------------------------
 * With file->lock held.
 */

struct zs_drm_vm *zs_drm_vm_create(const struct zs_drm_node *node);
/* For kernels to find; what the application has freed is only remembered. */
int zs_drm_vm_show(struct zs_drm_vm *vm, const struct zs_gpu_allocation *allocation);
void zs_drm_vm_put(struct zs_drm_vm *vm);
/* By number. add() takes the reference, which may be NULL: no memory. */
struct zs_drm_vm *zs_drm_vm(const struct zs_drm_file *file, uint64_t id);
int zs_drm_vm_add(struct zs_drm_file *file, struct zs_drm_vm *vm, uint32_t *ret_id);
int zs_drm_vm_remove(struct zs_drm_file *file, uint32_t id);
/* What is there goes, whole or in part. map() takes a reference of the object. */
int zs_drm_vm_map(struct zs_drm_vm *vm, const struct zs_drm_mapping *mapping);
int zs_drm_vm_unmap(struct zs_drm_vm *vm, uint64_t gpu_va, uint64_t size_B);
void zs_drm_vm_unmap_object(struct zs_drm_vm *vm, const struct zs_drm_object *object);
/* The highest bit of an address is repeated above. */
static inline uint64_t zs_drm_canonical(const struct zs_drm_vm *vm, uint64_t gpu_va)
{
    uint32_t above = 64 - vm->address_bits;
    return (uint64_t)((int64_t)(gpu_va << above) >> above);
}

/* ---- engine.c ----------------------------------------------------------------------------------
 */

struct zs_drm_queue;
struct zs_drm_context {
    struct zs_drm_file *file;
    struct zs_drm_vm *vm;
    uint32_t references; /* its number, and its queues' threads */
    uint32_t engine_count;
    struct zs_drm_engine engines[ZS_DRM_ENGINES_MAX];
    struct zs_drm_queue *queues[ZS_DRM_ENGINES_MAX];
    bool banned, closed, is_persistent;
    uint32_t resets, lost; /* batches that failed, and those behind them */
};
/* With file->lock held. */
int zs_drm_context_create(struct zs_drm_file *file, struct zs_drm_vm *vm, uint32_t *ret_id);
struct zs_drm_context *zs_drm_context(struct zs_drm_file *file, uint32_t id); /* or NULL */
int zs_drm_context_destroy(struct zs_drm_file *file, uint32_t id);
/* Nothing of it goes on; it is banned. */
void zs_drm_context_kill(struct zs_drm_context *context);
/* What is stored when a batch is done: of the VM's memory. */
struct zs_drm_fence {
    uint64_t gpu_va, value;
};
struct zs_drm_batch {
    uint64_t va; /* 0: none, fences alone */
    struct zs_drm_object **objects;
    struct zs_drm_fence *fences;
    struct zs_drm_point *points;
    uint32_t object_count, fence_count, point_count;
};
/* In a child, where threads are none. */
void zs_drm_contexts_inherit(struct zs_drm_file *file);
/* Takes the arrays, what points refer to, and a reference of each object. -EIO: the context is
 * banned. */
int zs_drm_submit(struct zs_drm_context *context, uint32_t engine,
                  const struct zs_drm_batch *batch);
/* Until no batch uses it. deadline: of CLOCK_MONOTONIC, NULL: none. -ETIME */
int zs_drm_wait(struct zs_drm_object *object, const struct timespec *deadline);

/* ---- syncobj.c ---------------------------------------------------------------------------------
 * With file->lock held.
 */

/* may_come: it need not be submitted yet. -ENOENT, -EINVAL */
int zs_drm_sync_point(const struct zs_drm_file *file, uint64_t handle, uint64_t value,
                      bool is_signal, bool may_come, struct zs_drm_point *ret);
void zs_drm_sync_put(struct zs_drm_sync *sync);
/* A point that will be signalled. */
void zs_drm_point_submit(struct zs_drm_point *point);
/* Frees them; is_done: those that signal are reached. */
void zs_drm_points_end(struct zs_drm_point *points, uint32_t count, bool is_done);
static inline bool zs_drm_is_reached(const struct zs_drm_point *point)
{
    return point->sync->reached >= point->value;
}

/* ---- heap.c ------------------------------------------------------------------------------------
 */

struct zs_gpu_device;
struct zs_gpu_walk_code;
struct zs_gpu_walk_functions;
struct zs_drm_heap_part {
    uint64_t gpu_va, size_B;
    uint64_t hash; /* 0: no code is in it */
};
struct zs_drm_heap {
    struct zs_drm_heap_part *items;
    size_t count, capacity;
};
/* What stands in the 4 GB that a kernel can reach, and the functions of it. Both are to be let go
 * also after an error. */
int zs_drm_heap_read(const struct zs_drm_vm *vm, const struct zs_gpu_device *device,
                     const struct zs_gpu_walk_code *kernel, struct zs_drm_heap *ret_heap,
                     struct zs_gpu_walk_functions *ret_functions);
/* Whether that is still so. */
bool zs_drm_heap_is(const struct zs_drm_vm *vm, uint64_t base_va, const struct zs_drm_heap *heap);
void zs_drm_heap_fini(struct zs_drm_heap *heap);

/* ---- walk.c ------------------------------------------------------------------------------------
 */

/* The pin of memory is given up while it runs; `cancel` ends it. */
int zs_drm_walk(struct zs_drm_node *node, const struct zs_drm_vm *vm, const struct zs_cs_walk *walk,
                const _Atomic(bool) *cancel, struct zs_gpu_pin *pin, struct zs_drm_order *order,
                struct zs_cs_ran *ret, struct zs_diag *diag);
void zs_drm_kernels_free(struct zs_drm_kernels *kernels);

/* ---- paths.c -----------------------------------------------------------------------------------
 */

enum zs_drm_path_kind { ZS_DRM_FOLDER, ZS_DRM_TEXT, ZS_DRM_NODE };
struct zs_drm_path {
    enum zs_drm_path_kind kind;
    char path[256]; /* without links */
    char text[64];  /* of a file */
    char link[256]; /* what the last part of it is a link to; "": none */
    uint32_t node, minor;
};
/* What stands at a path. 0; -ENOENT: it would be ours and there is none; 1: it is not ours. */
int zs_drm_path_find(const char *path, bool follow, struct zs_drm_path *ret);
/* The name of an entry of a folder; false: there are no more. */
bool zs_drm_path_entry(const struct zs_drm_path *folder, uint32_t index, char ret_name[64],
                       unsigned char *ret_type);

/* ---- user.c: memory of whoever calls -----------------------------------------------------------
 */

/* -EFAULT: it is not there. */
int zs_drm_copy_in(void *to, uint64_t user, size_t size_B);
int zs_drm_copy_out(uint64_t user, const void *from, size_t size_B);
bool zs_drm_is_mapped(uint64_t user, uint64_t size_B);

/* ---- calls.c -----------------------------------------------------------------------------------
 */

typedef int zs_drm_handler(struct zs_drm_file *file, void *argument);
/* 0 or -errno. */
int zs_drm_ioctl(struct zs_drm_file *file, unsigned long request, uint64_t argument);

/* ---- count.c -----------------------------------------------------------------------------------
 */

struct zs_gpu_walk_kernel;
struct zs_gpu_counters;
/* NULL: nobody wants to know what the kernel's instructions do. */
struct zs_gpu_counters *zs_drm_count_begin(const struct zs_gpu_walk_kernel *kernel);
/* Tells it, if the kernel has run, and frees the counters. */
void zs_drm_count_end(const struct zs_gpu_walk_kernel *kernel, struct zs_gpu_counters *counters,
                      const struct zs_gpu_model *model, const struct zs_gpu_result *result);
/* Somebody is told: kernels are timed by the model then. */
bool zs_drm_counts_wanted(void);

/* ---- measure.c ---------------------------------------------------------------------------------
 */

/* Of launches (ZS_GPU_LAUNCH_*), for what is asked for. */
uint32_t zs_drm_measure_flags(void);
/* What is asked for of a launch: how many groups; 0: none, or no memory. */
uint32_t zs_drm_measure(const struct zs_gpu_model *model, const struct zs_gpu_result *result,
                        zescope_walk_group_t **ret_groups);
void zs_drm_measured_free(zescope_walk_group_t *groups, uint32_t count);

#endif
