/* SPDX-License-Identifier: MIT */
/*
 * The software GPU under the Level Zero driver: device models, device memory, kernels with their
 * arguments, launches, faults, counters, the device's clock.
 *
 *     zs_gpu_device_create(zs_gpu_model_find("skl"), 0, &device);
 *     zs_gpu_memory_create(&memory);                         // one per context
 *     zs_gpu_memory_add(memory, &(struct zs_gpu_allocation){...});
 *     zs_gpu_kernel_create(device, &desc, &kernel, &diag);   // lowered once
 *     zs_gpu_args_create(kernel, &args);
 *     zs_gpu_args_set_buffer(args, 0, memory, pointer);
 *     zs_gpu_launch_run(device, &launch, &result);           // returns when all groups are done
 *
 * Device memory shares the host's address space: a gpu_va is a host pointer, unless an allocation
 * has a bias. Every access of a
 * kernel is checked against the live allocations of its context, so a wild pointer ends the launch
 * with a fault record and never touches anything else.
 *
 * Threads: every object may be used by several threads at once unless its section says otherwise.
 * Errors: 0 or -errno. Nothing here exits, prints or keeps mutable globals.
 */
#ifndef ZS_GPU_GPU_H
#define ZS_GPU_GPU_H

#include "base/buf.h"
#include "base/diag.h"
#include "base/span.h"
#include "base/tile.h"

#include <zescope/isa.h>

struct zs_kernel; /* zescope/module.h: one kernel of a parsed container */
struct zs_gpu_device;
struct zs_gpu_memory;
struct zs_gpu_kernel;
struct zs_gpu_args;
struct zs_gpu_counters;

/* ---- Device models (model.def) ----------------------------------------------------------------
 */

struct zs_gpu_model {
    const char *name;              /* "skl", "skl-gt4" */
    const char *target;            /* as ocloc names what to compile for: "skl" */
    const char *marketing;         /* zeDeviceGetProperties: name */
    enum zs_isa_platform platform; /* the instruction set */
    uint32_t vendor_id;            /* 0x8086 */
    uint32_t device_id;            /* PCI */
    uint32_t revision;             /* stepping */
    uint32_t core_family;          /* GFXCORE_FAMILY of the patch-token header: 12 is Gen9 */
    uint32_t product_family;       /* PRODUCT_FAMILY of zebin's note */
    uint32_t tiles;                /* 0 in rows: one */
    uint32_t slices;
    uint32_t subslices_per_slice;
    uint32_t eus_per_subslice;
    uint32_t threads_per_eu;
    uint32_t threads_least;   /* of an EU, however many registers they have; 0: as others (Xe3) */
    uint32_t grf_B;           /* 32, on XeHPC 64 */
    uint32_t grf_count;       /* registers of a thread */
    uint32_t simd_sizes;      /* OR of the legal kernel SIMD sizes: 8 | 16 | 32 */
    uint32_t physical_simd;   /* lanes of an EU */
    uint32_t max_group_items; /* work-items of a group */
    uint32_t slm_B;           /* per group */
    uint32_t fftid_bits;  /* of a thread's number in r0.5, which selects its private memory ... */
    uint32_t fftid_fixed; /* ... and bits that are set beside it */
    /* From XeHPG on: threads load their arguments from memory that r0.0 points to, scratch memory
     * is a surface whose state r0.5 names, and the number that selects private memory is in sr0.0,
     * in the bits of sr0_number from the lowest on, fftid_bits of them. */
    bool loads_payload;
    uint32_t sr0_number;
    bool has_fused_eus;  /* two that go in step: bit 5 of the number */
    uint32_t msg0_shift; /* from Xe2 on msg0 has the number without so many bits; 0: nothing */
    /* Xe3: the number is tid + tid_count * (engine + 8 * msg0), with tid in bits 3:0 of sr0.0 and
     * the engine in 6:4. 0: as above */
    uint32_t tid_count;
    bool payload_in_r0; /* Xe3P: r0.14 and r0.15 have the first qword of inline data */
    uint32_t core_clock_MHz;
    uint32_t timer_Hz;              /* ticks of timestamps: 12 MHz, 83.333 ns */
    uint32_t timestamp_bits;        /* of the global timestamp */
    uint32_t kernel_timestamp_bits; /* of an event's timestamps */
    uint32_t metric_timestamp_bits; /* of the clock of metric reports: QueryBeginTime ... */
    uint32_t metric_timer_shift;    /* ... which has 1 << so many ticks in one of timer_Hz */
    uint32_t memory_clock_MHz;
    uint32_t memory_bus_bits;
    uint32_t tiles_max; /* of the largest part; 0: hardware has none, ours may have some */
    uint64_t memory_B;  /* what the device reports; host memory caps it */
    uint64_t max_allocation_B;
    uint32_t l3_cache_B;
    bool fp64, fp16, int64_atomics, integrated;
    bool hbm;             /* its memory: else GDDR6, of integrated ones the host's */
    bool no_images;       /* nor samplers */
    bool no_dpas;         /* where the platform has it */
    bool stall_sampler;   /* EU stall sampling, as far as Intel's driver has it */
    uint8_t stall_active; /* which count of its records is that of issued instructions */
    bool long_integers;   /* 64-bit integers have the long pipe, not that of the others */
};

size_t zs_gpu_model_count(void);
const struct zs_gpu_model *zs_gpu_model_at(size_t index); /* NULL past the end */
/* "skl-gt2" is "skl", "apl" is "bxt". NULL: no such model */
const struct zs_gpu_model *zs_gpu_model_find(const char *name);
/* Several tiles as one device: it has the slices, the cache and the memory of all. */
struct zs_gpu_model zs_gpu_model_of_tiles(const struct zs_gpu_model *tile, uint32_t tiles);
uint32_t zs_gpu_model_eus(const struct zs_gpu_model *model);
uint32_t zs_gpu_model_threads(const struct zs_gpu_model *model); /* resident HW threads */
/* ... when each has so many registers: twice the usual number, half the threads; and of an EU */
uint32_t zs_gpu_model_threads_for(const struct zs_gpu_model *model, uint32_t grf_count);
uint32_t zs_gpu_model_threads_per_eu(const struct zs_gpu_model *model, uint32_t grf_count);
bool zs_gpu_model_is_timed(const struct zs_gpu_model *model); /* there is a model of its time */
/* Bits of enum zs_gpu_access that it has no part for: no L1 of loads, no LLC. */
uint32_t zs_gpu_model_lacks(const struct zs_gpu_model *model);

/* ---- Device: worker pool and clock -------------------------------------------------------------
 */

/* workers: host threads that run groups beside the caller's, 0: one per usable core. They are
 * started by the first launch that needs them. */
int zs_gpu_device_create(const struct zs_gpu_model *model, uint32_t workers,
                         struct zs_gpu_device **ret_device);
/* No launch may be running. */
void zs_gpu_device_destroy(struct zs_gpu_device *device);
const struct zs_gpu_model *zs_gpu_device_model(const struct zs_gpu_device *device);

/* The device's clock: CLOCK_MONOTONIC in units of 1 / timer_Hz, full 64 bits (the driver masks).
 * Timestamps of launches are on this clock: see struct zs_gpu_result. */
uint64_t zs_gpu_clock_ticks(const struct zs_gpu_device *device);
uint64_t zs_gpu_clock_from_ns(const struct zs_gpu_device *device, uint64_t monotonic_ns);
uint64_t zs_gpu_clock_to_ns(const struct zs_gpu_device *device, uint64_t ticks);

/* ---- Memory of contexts -----------------------------------------------------------------------
 */

enum zs_gpu_memory_kind {
    ZS_GPU_MEMORY_HOST,
    ZS_GPU_MEMORY_DEVICE,
    ZS_GPU_MEMORY_SHARED,
    ZS_GPU_MEMORY_IMAGE,
    ZS_GPU_MEMORY_GLOBAL,   /* variables of a module */
    ZS_GPU_MEMORY_CONSTANT, /* constants of a module */
    ZS_GPU_MEMORY_VIRTUAL,  /* reserved and mapped by zeVirtualMem */
    ZS_GPU_MEMORY_PRIVATE,  /* of one launch: private arrays */
    ZS_GPU_MEMORY_PRINTF,   /* of one launch */
    ZS_GPU_MEMORY_KIND_COUNT
};
const char *zs_gpu_memory_kind_name(enum zs_gpu_memory_kind kind); /* "device" ... */

enum {
    ZS_GPU_ALLOCATION_READ_ONLY = 1u << 0, /* a kernel's write is a fault */
    /* Remember which bytes were written, so that reads of never-written memory are found when a
     * launch asks for it. For memory that the host cannot write behind our back: the driver marks
     * its own copies and fills with zs_gpu_memory_mark_written(). */
    ZS_GPU_ALLOCATION_TRACK_WRITES = 1u << 1,
    /* Gone as soon as it is removed, even for launches whose arguments name it: a mapping. */
    ZS_GPU_ALLOCATION_WITHDRAWABLE = 1u << 2,
    /* It and neighbours with the same flags and bias are one to whoever reaches over its end. */
    ZS_GPU_ALLOCATION_JOINED = 1u << 3,
    /* The application says that its kernels only read it: READ_ONLY of launches that are
     * ZS_GPU_LAUNCH_STRICT. */
    ZS_GPU_ALLOCATION_FOR_READS = 1u << 4,
};

enum { ZS_GPU_FREED_MAX = 4096 }; /* freed ones that a memory remembers for faults */

struct zs_gpu_allocation {
    uint64_t gpu_va; /* first byte */
    uint64_t size_B; /* > 0 */
    /* Its host address minus gpu_va. 0 but for memory of a driver that is not ours. Debuggers and
     * ZS_GPU_ALLOCATION_TRACK_WRITES take addresses for the host's: they are not for such memory.
     */
    uint64_t bias;
    uint64_t id; /* out: unique in this memory, ascending from 1 */
    enum zs_gpu_memory_kind kind;
    uint32_t flags;  /* ZS_GPU_ALLOCATION_* */
    uint64_t origin; /* opaque: where it was made (a backtrace id), shown by the caller's reports */
    uint64_t freed_by; /* the same of where it was freed: zs_gpu_memory_freed_by() */
    char label[48];    /* what it is, for people: "zeMemAllocDevice", a variable's name */
    bool freed;        /* out, in faults: it was freed when the fault happened */
};

int zs_gpu_memory_create(struct zs_gpu_memory **ret_memory);
/* Releases what is still registered (callbacks are not called). Nobody may pin any of it. */
void zs_gpu_memory_destroy(struct zs_gpu_memory *memory);
/* The bytes stay the caller's, and so do those up to the next multiple of 64: they are mapped and
 * of no other allocation, because kernels are compiled to read whole lines. -EINVAL: empty or
 * wraps; -EEXIST: overlaps a live allocation. */
int zs_gpu_memory_add(struct zs_gpu_memory *memory, const struct zs_gpu_allocation *allocation,
                      uint64_t *ret_id);
/*
 * Forget the allocation that starts at gpu_va (-ENOENT: none does). Whoever pins it may still
 * touch its bytes: `release` (may be NULL) is called with ctx when nobody does any more, from this
 * call or from the thread that ends the last pin. A launch pins what its arguments name until it
 * ends, and everything else for no longer than a slice of its threads. Remembered for
 * use-after-free.
 */
int zs_gpu_memory_remove(struct zs_gpu_memory *memory, uint64_t gpu_va, void (*release)(void *ctx),
                         void *ctx);
/* Before it is removed: where that is. */
void zs_gpu_memory_freed_by(struct zs_gpu_memory *memory, uint64_t gpu_va, uint64_t origin);
/* The live allocation that holds [gpu_va, gpu_va + 1). */
bool zs_gpu_memory_find(struct zs_gpu_memory *memory, uint64_t gpu_va,
                        struct zs_gpu_allocation *ret_allocation);
/* ... or the first one behind. */
bool zs_gpu_memory_next(struct zs_gpu_memory *memory, uint64_t gpu_va,
                        struct zs_gpu_allocation *ret_allocation);
/* Where the host has bytes, which may lie in several joined allocations; NULL: not all are there,
 * or they are to be written and may not. */
uint8_t *zs_gpu_memory_host(struct zs_gpu_memory *memory, uint64_t gpu_va, uint64_t size_B,
                            bool is_write);
/* The driver wrote these bytes (copies, fills, host-side image uploads). */
void zs_gpu_memory_mark_written(struct zs_gpu_memory *memory, uint64_t gpu_va, uint64_t size_B);

/*
 * For copies: what is found alive in between stays mapped until unpin(). A thread takes at most
 * one pin of a memory, and those of several memories in the order of their addresses; it launches
 * nothing meanwhile.
 */
struct zs_gpu_pin {
    struct zs_gpu_pin *previous, *next;
    uint64_t taken, newest;
};
void zs_gpu_memory_pin(struct zs_gpu_memory *memory, struct zs_gpu_pin *pin);
void zs_gpu_memory_unpin(struct zs_gpu_memory *memory, struct zs_gpu_pin *pin);
/* Somebody waits in stop(): a pin that lasts is to be ended and begun anew. */
bool zs_gpu_memory_is_wanted(struct zs_gpu_memory *memory);
/*
 * Between the two no copy and no launch touches anything of the memory: pages may be replaced.
 * Launches wait at the end of their slices, so stop() returns soon whatever runs.
 */
void zs_gpu_memory_stop(struct zs_gpu_memory *memory);
void zs_gpu_memory_resume(struct zs_gpu_memory *memory);

/*
 * Mapped pages of a file that somebody else may make smaller: a launch that then touches what is
 * gone fails, without a signal, and finds zeros meanwhile (file.c). Until unwatch(), which comes
 * before the pages go. NULL: no memory.
 */
struct zs_gpu_file;
struct zs_gpu_file *zs_gpu_file_watch(uint64_t gpu_va, uint64_t size_B, int protection);
void zs_gpu_file_unwatch(struct zs_gpu_file *file); /* NULL: nothing */
bool zs_gpu_file_is_lost(const struct zs_gpu_file *file);

/* The live and the recently freed allocation nearest to an address: for fault texts. */
uint32_t zs_gpu_memory_nearest(struct zs_gpu_memory *memory, uint64_t gpu_va,
                               struct zs_gpu_allocation ret_nearest[2]);
/* The live allocation whose byte the host has there. */
bool zs_gpu_memory_of_host(struct zs_gpu_memory *memory, uint64_t host,
                           struct zs_gpu_allocation *ret_allocation);

/* ---- Images and samplers -----------------------------------------------------------------------
 */

enum zs_gpu_image_type {
    ZS_GPU_IMAGE_1D,
    ZS_GPU_IMAGE_1D_ARRAY,
    ZS_GPU_IMAGE_2D,
    ZS_GPU_IMAGE_2D_ARRAY,
    ZS_GPU_IMAGE_3D,
    ZS_GPU_IMAGE_BUFFER,
};

/* One row of dataport/format.def: a layout of channels in a texel and how they convert. */
struct zs_port_format;
/* By the code of RENDER_SURFACE_STATE (0x0C7: R8G8B8A8_UNORM). NULL: not supported. */
const struct zs_port_format *zs_gpu_format_find(uint32_t surface_format);
uint32_t zs_gpu_format_texel_B(const struct zs_port_format *format);

/*
 * An image view over bytes of a registered allocation. Plain data, copied by zs_gpu_args_set_image.
 * Pitches in bytes: texel (x, y, z) is at gpu_va + z * slice_pitch_B + y * row_pitch_B + x * texel.
 * Arrays count their layers in `layers`; a layer is a slice, for 1D arrays too.
 */
struct zs_gpu_image {
    enum zs_gpu_image_type type;
    const struct zs_port_format *format;
    uint64_t gpu_va;
    uint32_t width, height, depth, layers; /* unused dimensions: 1 */
    uint32_t row_pitch_B;
    uint64_t slice_pitch_B;
    enum zs_tiling tiling;               /* our own driver has none */
    const struct zs_port_format *chroma; /* not NULL: behind the rows of Y stand those of U and V */
    uint32_t planes;    /* of this size and format, one behind the other; 0 stands for 1 */
    uint8_t swizzle[4]; /* what R, G, B, A return: 0 zero, 1 one, 4..7 channel R..A */
    bool read_only;     /* kernels must not write */
    uint32_t cl_channel_type, cl_channel_order; /* OpenCL's enums: what kernels are told */
};
/* Pairs of U and V that a row or column of an image with chroma has. */
static inline uint32_t zs_gpu_halved(uint32_t texels)
{
    return texels / 2 + texels % 2;
}
/* Fill pitches (rows 64-byte aligned); the bytes to allocate, 0 when that overflows. */
uint64_t zs_gpu_image_layout(struct zs_gpu_image *image);

enum zs_gpu_address_mode {
    ZS_GPU_ADDRESS_NONE, /* as clamp to edge */
    ZS_GPU_ADDRESS_BORDER,
    ZS_GPU_ADDRESS_EDGE,
    ZS_GPU_ADDRESS_REPEAT,
    ZS_GPU_ADDRESS_MIRROR,
};
struct zs_gpu_sampler {
    enum zs_gpu_address_mode address_mode;
    bool linear;
    bool normalized;
};

/* ---- Kernels -----------------------------------------------------------------------------------
 */

/* Part of a kernel's code: at offset_B of it, and at ip_B as the ip register counts. */
struct zs_gpu_segment {
    uint32_t offset_B, size_B, ip_B;
};

/* An array in local memory with nothing behind it until the next one, or the end. */
struct zs_gpu_local_array {
    uint32_t offset_B, size_B;
    char name[48];
};

/* Accesses that their code compares with the bounds of a variable: one outside stores a byte at
 * ZS_GPU_BOUNDS_TAG << 48 | the site's number << 32 | the offset from the variable's start. */
struct zs_gpu_bounds_site {
    char name[64], declared[216]; /* of the variable; file:line, or empty */
    uint32_t size_B, access_B;
    bool is_write, in_struct; /* of an array in the variable */
};
enum { ZS_GPU_BOUNDS_TAG = 0x5a5c, ZS_GPU_BOUNDS_SITES_MAX = 1 << 16 };

/*
 * What a work-item is about to do with others, a byte stored to no memory: at ZS_GPU_MARK_TAG << 48
 * | what it is << 46 | a number of the place in the code << 32 | a hash of operands. What is loaded
 * from such addresses is undefined.
 */
enum zs_gpu_mark {
    ZS_GPU_MARK_COPY,  /* asynchronous, with its group */
    ZS_GPU_MARK_WAIT,  /* for such */
    ZS_GPU_MARK_GROUP, /* a function of its group */
    ZS_GPU_MARK_SUB_GROUP,
};
enum {
    ZS_GPU_MARK_TAG = 0x5a5d,
    ZS_GPU_MARK_KIND_BIT = 14, /* of the number */
    ZS_GPU_MARK_HASHES = 1 << 14,
    ZS_GPU_MARK_BARRIER =
        1 << 30, /* alone: the group's next barrier has no fence of local memory */
};

/* What is to be compiled: a request, and what of it is worth it (of the options: seen). */
struct zs_gpu_compile {
    struct zs_span request, seen;
    bool only_known; /* no new one is made */
    bool is_anew;    /* what was made for the request has too little */
};
enum zs_gpu_compiled {
    ZS_GPU_COMPILED_NOT,
    ZS_GPU_COMPILED_WANTED, /* not, but others asked before: it is worth making soon */
    ZS_GPU_COMPILED,
};

struct zs_gpu_kernel_desc {
    /* Parsed kernel, must outlive the gpu kernel. */
    const struct zs_kernel *module_kernel;
    /*
     * Machine code after relocation, copied: the kernel at entry_B, before it the functions that it
     * may call through addresses. Each part has an address of its own, the same in every kernel.
     */
    struct zs_span code;
    uint32_t entry_B;
    const struct zs_gpu_segment *segments; /* of `code`; NULL: one, at address 0 */
    size_t segment_count;
    const uint32_t *function_offsets_B; /* in `code`: what function pointers may lead to */
    size_t function_count;
    uint64_t base_va; /* of the context's code: where ip 0 is; 0: not to be debugged */
    /* Addresses that the cross-thread data asks for, 0: the module has no such surface. */
    uint64_t global_va, global_size_B;     /* program-scope variables */
    uint64_t constant_va, constant_size_B; /* program-scope constants */
    uint32_t flags;                        /* ZS_GPU_KERNEL_* */
    /* Code of the host (eu/tier/tier.h). NULL: nobody compiles. */
    enum zs_gpu_compiled (*compile)(void *context, const struct zs_gpu_compile *what,
                                    struct zs_buf *ret_blob);
    void *compile_context;
    /* ZS_GPU_KERNEL_LOCAL: in ascending order, copied; 0: not known. */
    const struct zs_gpu_local_array *local_arrays;
    uint32_t local_array_count;
    const struct zs_gpu_bounds_site *bounds_sites; /* outlive the kernel */
    size_t bounds_site_count;
};

enum {
    ZS_GPU_KERNEL_UNCOUNTED = 1u << 0, /* no counters: totals and modelled time are 0 */
    ZS_GPU_KERNEL_X86_64_V2 = 1u << 1, /* as on a host without AVX2 and FMA */
    ZS_GPU_KERNEL_TIMED = 1u << 2, /* launches use the model of time, where the device has one */
    ZS_GPU_KERNEL_SCOREBOARD = 1u << 3, /* registers that were not waited for are faults */
    /* Of walk.h: private memory is somebody else's, made for as many threads as the device holds.
     */
    ZS_GPU_KERNEL_WALKED = 1u << 4,
    /* Local memory that is read was written, arrays in it stand apart. */
    ZS_GPU_KERNEL_LOCAL = 1u << 5,
    /* ZS_GPU_LAUNCH_CHECK_RACES needs it; CHECK_SYNC one of the two */
    ZS_GPU_KERNEL_MESSAGES = 1u << 6,
    ZS_GPU_KERNEL_BARRIERS = 1u << 10,
    ZS_GPU_KERNEL_COMPILED = 1u << 7,      /* at once, not when it is worth it */
    ZS_GPU_KERNEL_DEFINED = 1u << 8,       /* launches look for undefined values */
    ZS_GPU_KERNEL_NO_SUB_GROUPS = 1u << 9, /* it does not count on lanes in step */
};

enum zs_gpu_arg_kind {
    ZS_GPU_ARG_NONE, /* the kernel does not use it: any value is taken */
    ZS_GPU_ARG_VALUE,
    ZS_GPU_ARG_BUFFER,
    ZS_GPU_ARG_LOCAL,
    ZS_GPU_ARG_IMAGE,
    ZS_GPU_ARG_SAMPLER,
};

/* -ENOTSUP with a sentence: an instruction or a feature is not modelled at all (device enqueue). */
int zs_gpu_kernel_create(struct zs_gpu_device *device, const struct zs_gpu_kernel_desc *desc,
                         struct zs_gpu_kernel **ret_kernel, struct zs_diag *diag);
/* No launch and no args of it may be left. */
void zs_gpu_kernel_destroy(struct zs_gpu_kernel *kernel);
uint32_t zs_gpu_kernel_simd(const struct zs_gpu_kernel *kernel);
uint32_t zs_gpu_kernel_arg_count(const struct zs_gpu_kernel *kernel);
enum zs_gpu_arg_kind zs_gpu_kernel_arg_kind(const struct zs_gpu_kernel *kernel, uint32_t index);
uint32_t zs_gpu_kernel_scratch_B(const struct zs_gpu_kernel *kernel); /* per HW thread */
uint32_t zs_gpu_kernel_private_B(const struct zs_gpu_kernel *kernel); /* per HW thread */
/* Groups that may run at once because of what their threads need: numbers, where the kernel finds
 * its private memory by them, and scratch memory below 4 GB. */
uint64_t zs_gpu_kernel_groups_max(const struct zs_gpu_kernel *kernel, uint32_t threads_per_group);
/* Whether it calls functions by their addresses, which may be those of any code there is. */
bool zs_gpu_kernel_computes_jumps(const struct zs_gpu_kernel *kernel);
/* Its instructions, and the operations that each became (eu/lower/show.h). */
void zs_gpu_kernel_show(const struct zs_gpu_kernel *kernel, struct zs_buf *ret_text);
/* What it is compiled for the host from (eu/tier/tier.h): bytes of its own; empty: it never is. */
struct zs_span zs_gpu_kernel_tier_request(const struct zs_gpu_kernel *kernel);
/* Bytes of its code, and of functions before it. */
void zs_gpu_kernel_extent(const struct zs_gpu_kernel *kernel, uint32_t *ret_before_B,
                          uint32_t *ret_size_B);
/* The address of an instruction; offset_B as in a fault. */
uint32_t zs_gpu_kernel_ip(const struct zs_gpu_kernel *kernel, int64_t offset_B);
bool zs_gpu_kernel_uses_printf(const struct zs_gpu_kernel *kernel);
bool zs_gpu_kernel_uses_barriers(const struct zs_gpu_kernel *kernel);

/*
 * The group size that NEO suggests for a global size (items per dimension, >= 1): its product is
 * at most the device's limit and each dimension divides the global size. slm_B: total SLM.
 */
void zs_gpu_suggest_group_size(const struct zs_gpu_device *device,
                               const struct zs_gpu_kernel *kernel, uint32_t slm_B,
                               const uint32_t global_items[3], uint32_t ret_group_size[3]);

/* ---- Arguments ---------------------------------------------------------------------------------
 */

/*
 * Values of a kernel's arguments, as the payload needs them: cross-thread bytes, surfaces,
 * samplers. One writer at a time; a launch only reads. Clone at append time: a launch keeps what
 * the arguments were then. Every setter: -EINVAL index out of range or another kind.
 */
int zs_gpu_args_create(const struct zs_gpu_kernel *kernel, struct zs_gpu_args **ret_args);
int zs_gpu_args_clone(const struct zs_gpu_args *args, struct zs_gpu_args **ret_args);
void zs_gpu_args_destroy(struct zs_gpu_args *args);
/* value NULL: zeros. -EINVAL when a piece of the argument lies beyond size_B. */
int zs_gpu_args_set_value(struct zs_gpu_args *args, uint32_t index, size_t size_B,
                          const void *value);
/* gpu_va 0: null pointer. The pointer need not be of a live allocation: access then faults. */
int zs_gpu_args_set_buffer(struct zs_gpu_args *args, uint32_t index, struct zs_gpu_memory *memory,
                           uint64_t gpu_va);
/* -ENOMEM: more SLM than the device has. */
int zs_gpu_args_set_local(struct zs_gpu_args *args, uint32_t index, uint64_t size_B);
int zs_gpu_args_set_image(struct zs_gpu_args *args, uint32_t index,
                          const struct zs_gpu_image *image); /* NULL: null surface */
int zs_gpu_args_set_sampler(struct zs_gpu_args *args, uint32_t index,
                            const struct zs_gpu_sampler *sampler);
/* Static SLM and local arguments, rounded as the device allocates it. */
uint32_t zs_gpu_args_slm_B(const struct zs_gpu_args *args);
/* The first argument that the kernel uses and nobody has set; UINT32_MAX: all are set. */
uint32_t zs_gpu_args_first_unset(const struct zs_gpu_args *args);

/* ---- Faults ------------------------------------------------------------------------------------
 */

enum zs_gpu_fault_kind {
#define ZS_GPU_FAULT(id, text) ZS_GPU_FAULT_##id,
#include "gpu/fault.def"
#undef ZS_GPU_FAULT
    ZS_GPU_FAULT_COUNT
};

struct zs_gpu_fault {
    enum zs_gpu_fault_kind kind; /* ZS_GPU_FAULT_NONE: none */
    char kernel[128];            /* name, cut */
    uint32_t simd;
    /* The instruction: offset from the kernel's first instruction; negative inside functions that
     * were placed before it. INT64_MIN: no instruction. */
    int64_t instruction_offset_B;
    bool has_lane; /* a work-item is to blame, not the whole HW thread */
    uint32_t lane;
    uint32_t group_id[3], local_id[3];
    uint64_t global_id[3]; /* with the global offset */
    bool has_access;
    bool is_write;
    uint64_t gpu_va; /* or the offset, for SLM and binding-table surfaces */
    uint32_t access_B;
    uint32_t surface_index; /* binding table index; 254 SLM, 255 stateless */
    uint32_t nearest_count; /* nearest[0] is the nearest */
    struct zs_gpu_allocation nearest[2];
    char detail[160];   /* what exactly: message, encoding, limits; may be empty */
    char declared[216]; /* ZS_GPU_FAULT_ARRAY: file:line of the array, or empty */
};
/* Several lines of text without a final newline; `source` (may be NULL) is "file:line" or so. */
void zs_gpu_fault_print(const struct zs_gpu_fault *fault, const char *source, struct zs_buf *out);
bool zs_gpu_fault_is_address(const struct zs_gpu_fault *fault); /* gpu_va is one */
bool zs_gpu_fault_is_local(enum zs_gpu_fault_kind kind); /* addresses are offsets in local memory */
const char *zs_gpu_fault_name(enum zs_gpu_fault_kind kind); /* "out of bounds" ... */

/* ---- Findings ----------------------------------------------------------------------------------
 *
 * What checks find that does not end a launch.
 */

enum zs_gpu_finding_kind {
    ZS_GPU_FINDING_RACE,
    ZS_GPU_FINDING_DIVERGENT, /* a barrier that some lanes of a thread do not reach */
    ZS_GPU_FINDING_DIFFERENT, /* threads of a group at different barriers */
    ZS_GPU_FINDING_COPY,      /* work-items of a group do not make the same asynchronous copies */
    ZS_GPU_FINDING_GROUP,     /* ... do not call the same functions of the group */
    ZS_GPU_FINDING_SUB_GROUP, /* ... of the sub-group */
    ZS_GPU_FINDING_UNWAITED,  /* an asynchronous copy that its work-item does not wait for */
    ZS_GPU_FINDING_NO_EVENT,  /* a wait without a copy */
    ZS_GPU_FINDING_UNALIGNED, /* an address that the message cannot have */
    ZS_GPU_FINDING_UNDEFINED, /* a value that nobody gave decides something */
    ZS_GPU_FINDING_LOST,      /* a limit was met: text says which */
};

enum zs_gpu_finding_note {
    ZS_GPU_NOTE_NONE,
    ZS_GPU_NOTE_SAME_VALUE, /* the writes agree on what they write */
    ZS_GPU_NOTE_IN_STEP,    /* instructions of one hardware thread, one after the other */
    ZS_GPU_NOTE_GUESS,      /* a plain read that its thread follows up with an atomic */
    ZS_GPU_NOTE_HOST,       /* no command is known to have written it */
};

/* Who did it, and where. */
struct zs_gpu_site {
    int64_t instruction_offset_B; /* as in a fault */
    bool is_write, is_atomic, has_item;
    uint32_t size_B; /* of the access */
    uint32_t thread; /* of the group */
    uint32_t group_id[3], local_id[3];
    uint64_t global_id[3];
    /* Of two commands: each has its own. */
    const char *by;     /* the kernel, or what else it was; NULL: one launch has both sites */
    const char *source; /* "file:line", or NULL */
    uint64_t origin;    /* opaque: where it was asked for */
};

struct zs_gpu_finding {
    enum zs_gpu_finding_kind kind;
    enum zs_gpu_finding_note note; /* a race: why it is none on this device */
    bool is_local;                 /* memory */
    char kernel[128];
    uint64_t gpu_va; /* of memory, or the offset */
    uint32_t site_count;
    struct zs_gpu_site site[2]; /* the later one first; an undefined value: then where from */
    uint32_t allocation_count;
    struct zs_gpu_allocation allocation; /* that holds gpu_va */
    const char *advice;                  /* a sentence, static */
};
typedef void zs_gpu_found_fn(void *context, const struct zs_gpu_finding *finding);
/* The line of an instruction, whose offset becomes that of the kernel's code in its module. */
typedef bool zs_gpu_line_fn(void *found_context, int64_t *offset_B, char *ret_text, size_t size_B);

/* ---- Counters ----------------------------------------------------------------------------------
 */

/* Of one instruction, summed over launches. Deterministic for kernels without races. */
struct zs_gpu_instruction_count {
    int64_t offset_B;      /* as in a fault */
    uint64_t executions;   /* by HW threads, with at least one active lane or not */
    uint64_t active_lanes; /* sum over executions */
    uint64_t bytes_read;   /* sends: by active lanes, all address spaces */
    uint64_t bytes_written;
};

/* Of one launch, or a sum. rows in gpu/total.def. */
struct zs_gpu_totals {
#define ZS_GPU_TOTAL(id, text) uint64_t id;
#include "gpu/total.def"
#undef ZS_GPU_TOTAL
};

/* Accumulates over launches of one kernel; launches may run at once. */
int zs_gpu_counters_create(const struct zs_gpu_kernel *kernel,
                           struct zs_gpu_counters **ret_counters);
void zs_gpu_counters_destroy(struct zs_gpu_counters *counters);
void zs_gpu_counters_reset(struct zs_gpu_counters *counters);
/* Add what others of the same kernel counted; no launch may be using those. */
void zs_gpu_counters_merge(struct zs_gpu_counters *counters, const struct zs_gpu_counters *others);
size_t zs_gpu_counters_size(const struct zs_gpu_counters *counters);
/* A consistent copy: up to `capacity` rows ascending by offset; returns how many. */
size_t zs_gpu_counters_read(struct zs_gpu_counters *counters,
                            struct zs_gpu_instruction_count *ret_rows, size_t capacity);

/* ---- Timing ------------------------------------------------------------------------------------
 */

/* Thread cycles of an instruction, by reason: enum zs_timing_reason (timing/timing.h). */
enum { ZS_GPU_STALL_REASONS = 9 };
/* What its messages did; rows in gpu/timing/access.def. */
enum zs_gpu_access {
#define ZS_TIMING_ACCESS(id, text) ZS_GPU_ACCESS_##id,
#include "gpu/timing/access.def"
#undef ZS_TIMING_ACCESS
    ZS_GPU_ACCESSES
};
struct zs_gpu_stalls {
    int64_t offset_B; /* as in a fault */
    uint64_t cycles[ZS_GPU_STALL_REASONS];
    uint64_t estimated; /* of all of these, those that stand for what was not replayed */
    uint64_t accesses[ZS_GPU_ACCESSES];
};

/* What the model of time found for one launch (docs/timing.md). Rows in gpu/timing/total.def. */
struct zs_gpu_timing {
    bool modelled; /* else nothing here is known: the time is the formula's */
    uint64_t cycles;
    uint64_t instructions, replayed; /* executed, and of those replayed exactly */
    uint64_t
        doubt; /* cycles that `cycles` may be off because not all were: about two standard errors */
#define ZS_TIMING_TOTAL(id, text) uint64_t id;
#include "gpu/timing/total.def"
#undef ZS_TIMING_TOTAL
    struct zs_gpu_stalls *stalls; /* of instructions that have any, ascending by offset */
    uint32_t stall_count;
    /* With ZS_GPU_LAUNCH_TIME_GAINS: cycles that the launch would take less without ... */
#define ZS_TIMING_GAIN(id, text) uint64_t gain_##id;
#include "gpu/timing/gain.def"
#undef ZS_TIMING_GAIN
    /* Cycles of `cycles` in which each of these was busy; thread cycles. */
#define ZS_TIMING_LIMIT(id, text) uint64_t limit_##id;
#include "gpu/timing/limit.def"
#undef ZS_TIMING_LIMIT
};

/* ---- Launches ----------------------------------------------------------------------------------
 */

enum { ZS_GPU_LOCAL_GAP_B = 256 }; /* between local arguments, where that is checked */
/* What faults call one (cut). */
void zs_gpu_name_local(uint32_t arg, const char *name, char *ret, size_t size_B);

enum {
    ZS_GPU_LAUNCH_COOPERATIVE = 1u << 0, /* all groups make progress together */
    /* Checks beyond the default ones. */
    ZS_GPU_LAUNCH_CHECK_SURFACES = 1u << 1,  /* binding-table accesses out of bounds are faults;
                                                otherwise reads give 0 and writes are dropped */
    ZS_GPU_LAUNCH_CHECK_UNWRITTEN = 1u << 2, /* reads of never-written memory are faults */
    /* Pointers in memory lead the kernel to other memory: what is alive as it begins is pinned
     * until it ends, not only what its arguments name. */
    ZS_GPU_LAUNCH_PIN_ALL = 1u << 3,
    /* The model of time replays much more of a long launch: slow. */
    ZS_GPU_LAUNCH_TIME_EXACT = 1u << 4,
    /* It replays the launch again without each of what may hold it up: slow. */
    ZS_GPU_LAUNCH_TIME_GAINS = 1u << 6,
    /* Of kernels with ZS_GPU_KERNEL_MESSAGES: findings go to zs_gpu_launch.found. */
    ZS_GPU_LAUNCH_CHECK_RACES = 1u << 7,
    ZS_GPU_LAUNCH_CHECK_SYNC = 1u << 8,
    /* Behind the end of an allocation only as far as compilers widen accesses. */
    ZS_GPU_LAUNCH_STRICT = 1u << 9,
};

struct zs_gpu_launch {
    const struct zs_gpu_kernel *kernel;
    const struct zs_gpu_args *args; /* of that kernel; only read */
    struct zs_gpu_memory *memory;
    uint32_t group_count[3];  /* 0 in any: nothing runs, success */
    uint32_t group_size[3];   /* product within the device's limit */
    uint32_t group_start[3];  /* the first group's id */
    const uint8_t *local_ids; /* rows of threads, when they are not to be made; only read */
    /* Of walk.h: states that handles name, and the surface of the first. NULL: none. */
    const uint32_t *handles;
    uint32_t handle_count, handle_base;
    const uint32_t *sampler_handles; /* the same of samplers: bytes from their base on */
    uint32_t sampler_handle_count, sampler_handle_base;
    uint32_t global_offset[3];
    uint32_t flags;
    uint64_t private_va; /* of walk.h: in what threads have for themselves; 0: nothing */
    uint32_t private_thread_B;
    /* Printf buffer, when the kernel uses printf: initialise and drain it with zs_gpu_printf_*. */
    void *printf_buffer;
    size_t printf_size_B;
    const _Atomic(bool) *cancel;      /* NULL: cannot be interrupted */
    uint64_t time_limit_ns;           /* 0: none */
    struct zs_gpu_counters *counters; /* NULL: per-instruction counts are not kept */
    zs_gpu_found_fn *found;           /* by threads that run it, one at a time; NULL: nobody asks */
    void *found_context;
    /* With CHECK_RACES: it among other commands (between.h), and the line of an instruction. NULL:
     * nobody asks. */
    const struct zs_between_command *command;
    zs_gpu_line_fn *find_line;
};

struct zs_gpu_result {
    int error; /* 0; -EFAULT: see fault; -ECANCELED; -ETIMEDOUT; -ENOMEM; -EINVAL */
    struct zs_gpu_fault fault;
    struct zs_gpu_totals totals;
    /* When it ran, on the device's clock. The length is the timing model's (docs/timing.md), cut
     * so that it never ends after the host's clock. */
    uint64_t start_ticks, end_ticks;
    uint64_t modelled_cycles; /* of the core clock */
    uint64_t issue_cycles;    /* of all EUs together: instructions are issued */
    struct zs_gpu_timing timing;
};
/* What a result holds beyond itself. */
void zs_gpu_result_fini(struct zs_gpu_result *result);

/* Run all groups; returns when they are done, failed or interrupted. The caller's thread works
 * too; small launches run on it alone. Returns result->error. */
int zs_gpu_launch_run(struct zs_gpu_device *device, const struct zs_gpu_launch *launch,
                      struct zs_gpu_result *ret_result);

/* ---- printf ------------------------------------------------------------------------------------
 */

enum { ZS_GPU_PRINTF_B = 4 << 20 }; /* kernels embed this bound */
void zs_gpu_printf_init(void *buffer, size_t size_B);
/* Append what a launch printed to `out` and reset the buffer. Hostile contents are safe. memory:
 * where zebin kernels' strings are. */
void zs_gpu_printf_drain(const struct zs_gpu_kernel *kernel, struct zs_gpu_memory *memory,
                         void *buffer, size_t size_B, struct zs_buf *out);

#endif
