/* SPDX-License-Identifier: MIT */
/*
 * zescope: rewriting the machine code of a module.
 *
 * A module (patch tokens or zebin, bare or in NEO's ELF) is opened, instructions and probes are put
 * into its kernels, and a module of the same container comes out: branches, relocations, symbols,
 * sizes and checksums follow. Nothing that the kernel can observe changes: probes use registers
 * that it does not.
 *
 *     struct zs_edit *edit;
 *     int error = zs_edit_open(binary, NULL, &edit, &diag);
 *     struct zs_edit_kernel *k = zs_edit_kernel(edit, 0);
 *     struct zs_probe probe = {.kind = ZS_PROBE_COUNT, .counter = zs_edit_counters(edit, 1)};
 *     zs_edit_probe(k, 0, ZS_EDIT_BEFORE, &probe, &diag);
 *     ... memory of zs_edit_buffer(edit).size_B bytes at gpu_va ...
 *     zs_edit_write(edit, gpu_va, &bytes, &size_B, &diag);
 *
 * Instructions are named by their index in the original code: zs_edit_kernel_code gives it with
 * all that <zescope/isa.h> knows of it.
 *
 * What probes find out lies in one buffer of memory that the kernel can write through its address:
 * 64-bit counters first, then the trace. docs/instrumentation.md describes it and its limits.
 *
 * Threads: one zs_edit belongs to one thread at a time.
 */
#ifndef ZESCOPE_EDIT_H
#define ZESCOPE_EDIT_H

#include <zescope/isa.h>
#include <zescope/module.h>

#ifdef __cplusplus
extern "C" {
#endif

struct zs_edit;
struct zs_edit_kernel;

struct zs_edit_options {
    size_t size_B;        /* sizeof(struct zs_edit_options) */
    const char *device;   /* of several devices in an archive: as ocloc names it; NULL: the first */
    struct zs_span debug; /* debug information of the module, which zs_edit_module then has */
    bool narrow_atomics;  /* the device adds 32 bits atomically, but not 64 */
};

/* The bytes are copied. 0; what zs_module_open_memory gives; -ENOENT: no image for the device;
 * -ENOTSUP: no machine code, or an instruction set that is not known; -EINVAL, -E2BIG: the options'
 * size has no room for itself, or members that are not known are set. options may be NULL. */
ZS_API int zs_edit_open(struct zs_span binary, const struct zs_edit_options *options,
                        struct zs_edit **ret_edit, struct zs_diag *diag);
ZS_API void zs_edit_close(struct zs_edit *edit); /* NULL is allowed */

ZS_API const struct zs_module *zs_edit_module(const struct zs_edit *edit);
ZS_API const struct zs_image *zs_edit_image(const struct zs_edit *edit);
ZS_API uint32_t zs_edit_kernel_count(const struct zs_edit *edit);
/* In the order of the image; NULL behind the last. */
ZS_API struct zs_edit_kernel *zs_edit_kernel(struct zs_edit *edit, uint32_t index);
ZS_API const struct zs_kernel *zs_edit_kernel_info(const struct zs_edit_kernel *kernel);
/* The original code, decoded: instructions, blocks and liveness are there. NULL when memory is
 * short or the code is more than liveness can take (the kernel is refused then). */
ZS_API const struct zs_isa_kernel *zs_edit_kernel_code(struct zs_edit_kernel *kernel);

/* ---- inserting ---- */

enum zs_edit_where {
    ZS_EDIT_BEFORE, /* also executed by who jumps to the instruction */
    ZS_EDIT_AFTER, /* not by who jumps to the next one: of a branch by threads that do not jump; not
                    * of those that always do, calls and ends of threads */
    ZS_EDIT_INSTEAD, /* the instruction itself goes; not of branches and ends of threads */
    ZS_EDIT_ENTRY,   /* once, as the thread begins; the instruction is ignored */
    ZS_EDIT_JUMP, /* of a branch by threads that jump; not where nobody can tell them before: else,
                   * endif, join, targets in registers, calls. From Gen12LP to XeHPG text gets a
                   * predicate (of all but jmpi): docs/instrumentation.md */
};

/*
 * Assembler text (docs/isa.md). Labels are the text's own. Registers are the caller's business:
 * zs_edit_free_grf tells which nobody uses. Probes keep nothing in accumulators, address registers
 * and r0 that text touches (read or written; of r0: written). What is put at one place stays in the
 * order of the calls. 0; -EINVAL (no such instruction or place, or the text: diag says where, or
 * NULL); -ENOTSUP: an edge that nothing, or not this, can be put on; -ENOMEM.
 */
ZS_API int zs_edit_insert(struct zs_edit_kernel *kernel, uint32_t inst, enum zs_edit_where where,
                          const char *text, struct zs_diag *diag);
/* A bit for each general register that the kernel never touches and nobody else can, and that was
 * not reserved; bits[r / 64]. Probes take theirs from the lowest on. False: that cannot be known,
 * all bits are 0. */
ZS_API bool zs_edit_free_grf(struct zs_edit_kernel *kernel, uint64_t ret_bits[4]);
/* Registers that the caller's own code uses: probes leave in them what they find. */
ZS_API void zs_edit_reserve_grf(struct zs_edit_kernel *kernel, const uint64_t bits[4]);

/*
 * Where relocations say that `from`, a function, is called or its address taken, it is `to` then: a
 * function of the module or, if it has none of that name, one of a module that it is linked with
 * (zeModuleDynamicLink). Calls within one piece of code have no relocation. 0; -ENOENT: no kernel
 * has a relocation that names it; -ENAMETOOLONG (also of no name at all); -ENOMEM.
 */
ZS_API int zs_edit_redirect(struct zs_edit *edit, const char *from, const char *to,
                            struct zs_diag *diag);

/* ---- probes ---- */

enum zs_probe_kind {
    ZS_PROBE_COUNT,   /* the counter grows by 1 each time a thread passes */
    ZS_PROBE_LANES,   /* by the lanes that the instruction works on there */
    ZS_PROBE_CLOCK,   /* the time is kept, for this thread */
    ZS_PROBE_ELAPSED, /* the counter grows by the time since then, in the timestamp's ticks */
    ZS_PROBE_TRACE,   /* a record goes into the trace */
    ZS_PROBE_KIND_COUNT
};

struct zs_probe {
    uint32_t kind;    /* enum zs_probe_kind */
    uint32_t counter; /* COUNT, LANES, ELAPSED: from zs_edit_counters */
    uint32_t clock;   /* CLOCK, ELAPSED: any small number, of this kernel */
    uint32_t site;    /* TRACE: any number, for the reader; of others any number, for the caller */
    uint32_t grf;     /* TRACE: registers that are copied into the record */
    uint32_t grf_count; /* ... at most ZS_RECORD_GRF_MAX; may be 0 */
    bool all_active;    /* LANES, TRACE: without the instruction's predicate */
    bool all_lanes; /* LANES, TRACE: all lanes of the thread that are on, whatever it works on */
};
enum { ZS_RECORD_GRF_MAX = 16, ZS_EDIT_CLOCKS_MAX = 64 };

/* The first of so many new counters; ZS_NONE: too many. */
ZS_API uint32_t zs_edit_counters(struct zs_edit *edit, uint32_t count);
/* Bytes that the trace may take; 0: 16 MiB. At most 1 GiB. */
ZS_API void zs_edit_set_trace_size(struct zs_edit *edit, uint32_t size_B);
/* 0; -EINVAL: NULL, or no such instruction, place, counter or registers; -ENOTSUP: a predicate that
 * looks at part of the instruction's lanes or at two flags, an edge that nothing can be put on, an
 * instruction set that probes are not known for; -ENOMEM. */
ZS_API int zs_edit_probe(struct zs_edit_kernel *kernel, uint32_t inst, enum zs_edit_where where,
                         const struct zs_probe *probe, struct zs_diag *diag);
/* The probes of a kernel in the order of their calls; NULL behind the last. */
ZS_API const struct zs_probe *zs_edit_probe_at(const struct zs_edit_kernel *kernel, uint32_t index,
                                               uint32_t *ret_inst);

/* ---- writing ---- */

/* Whether anything was inserted, or a function made another one. */
ZS_API bool zs_edit_has_edits(const struct zs_edit *edit);

struct zs_edit_buffer {
    uint64_t size_B;         /* of all; 0: no probe needs one */
    uint64_t counter_count;  /* 64-bit each, from the start on */
    uint64_t trace_offset_B; /* of the 64-bit number of units of 32 bytes that were asked for */
    uint64_t records_offset_B, records_size_B; /* behind it: where those go that find no room */
};
/* Zeros, aligned to 64 bytes, as the kernels start. */
ZS_API struct zs_edit_buffer zs_edit_buffer(const struct zs_edit *edit);

/*
 * The module with all that was put into it, for a buffer at this address. May be called again, for
 * another buffer. *ret_bytes is freed with zs_isa_code_free. Kernels that cannot be rewritten stay
 * as they are: zs_edit_refusal says why. Nothing inserted: the bytes of the input.
 * 0; -EINVAL (alignment); -ERANGE: the buffer crosses a border of 4 GiB; -ENOMEM; -EFBIG.
 */
ZS_API int zs_edit_write(struct zs_edit *edit, uint64_t gpu_va, uint8_t **ret_bytes,
                         size_t *ret_size_B, struct zs_diag *diag);

/* Behind zs_edit_write. */
/* Why a kernel was left as it was; NULL: it was not. */
ZS_API const char *zs_edit_refusal(const struct zs_edit_kernel *kernel);
/* Where the instruction at an original offset stands now; the end of the code is one, too.
 * ZS_NONE: there is no instruction. */
ZS_API uint32_t zs_edit_map_new(const struct zs_edit_kernel *kernel, uint32_t offset_B);
/* The original offset of what stands at a new one: of inserted code that of the instruction that it
 * was inserted at. ZS_NONE outside. */
ZS_API uint32_t zs_edit_map_old(const struct zs_edit_kernel *kernel, uint32_t offset_B);

/* ---- reading ---- */

struct zs_edit_record {
    uint32_t site;
    uint32_t lanes;  /* a bit for each, of the thread's */
    uint32_t time;   /* low 32 bits of the timestamp */
    uint32_t thread; /* which hardware thread: sr0.0 */
    uint32_t grf_count;
    const uint8_t *grf; /* their bytes: zs_isa_platform_info's grf_B each */
};
/* Records of a buffer's bytes, all of them or as many as there are: start with *cursor = 0; false
 * at the end. Damaged ones are passed over. */
ZS_API bool zs_edit_record_next(const struct zs_edit_buffer *layout, struct zs_span buffer,
                                uint64_t *cursor, struct zs_edit_record *ret);
/* Units of 32 bytes that did not fit, those of a record that began before the end among them. */
ZS_API uint64_t zs_edit_records_lost(const struct zs_edit_buffer *layout, struct zs_span buffer);

#ifdef __cplusplus
}
#endif

#endif
