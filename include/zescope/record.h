/* SPDX-License-Identifier: MIT */
/*
 * Recordings: what `zescope record -- app` leaves behind.
 *
 * A recording is a directory (docs/recording.md describes its files). Opening one reads all of its
 * metadata, treats it as hostile input (symbolic links, odd names, broken or huge JSON) and gives
 * an immutable model; the binaries themselves are read when they are asked for. What is broken in
 * one file or line is a note in the model (zs_recording_notes) and costs only that file or line:
 * a recording of a process that was killed in mid-write opens.
 *
 * Threads: an opened recording may be read from several threads at once. All pointers that the
 * model hands out live until zs_recording_close; strings are NUL-terminated UTF-8, never NULL
 * unless said so.
 */
#ifndef ZESCOPE_RECORD_H
#define ZESCOPE_RECORD_H

#include <zescope/common.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ZS_RECORD_NONE UINT32_MAX /* "no such index" in the members below */

/* A file of the recording, named by the SHA-256 of its contents. */
struct zs_record_blob {
    const char *file; /* "modules/<64 hex digits>.bin", or NULL: there is none */
    uint64_t size_B;  /* as it was captured */
};

/* One program image: a fork or an exec starts a new one. */
struct zs_record_process {
    uint32_t pid, parent_pid;
    const char *exe; /* path of the executable, "" when not known */
    const char *const *argv;
    uint32_t argc;
    uint64_t start_ns; /* CLOCK_MONOTONIC when its capture began */
};

/* A device as the driver described it to the application. Strings are "" where not known. */
struct zs_record_device {
    const char *name;
    uint32_t vendor_id, device_id;
    const char *uuid;            /* 32 hex digits */
    const char *ocloc_name;      /* "skl", "dg2", ...: as `ocloc -device` takes it */
    uint32_t driver_version;     /* as zeDriverGetProperties gives it; 0: not known */
    uint32_t driver_api_version; /* major << 16 | minor; 0: not known */
    const char *driver_uuid;
};

/* How large a device is and how fast it clocks, as its driver says. 0: not known. Later versions
 * append members. */
struct zs_record_device_shape {
    uint32_t core_clock_MHz;
    uint32_t slices, subslices_per_slice, eus_per_subslice, threads_per_eu;
    uint32_t simd_width; /* lanes that an EU works on at a time */
    uint32_t group_items_max;
    uint64_t group_local_max_B;
    uint32_t memory_clock_MHz, memory_bus_bits;
    uint64_t cache_B; /* the largest cache */
};

struct zs_record_constant {
    uint32_t id;    /* SpecId */
    uint8_t size_B; /* 0: the SPIR-V does not declare it, value not recorded */
    uint64_t value;
};

/* What one module was built from; a program may be linked from several. */
struct zs_record_input {
    struct zs_record_blob blob;
    const char *flags;   /* build flags of this input as the driver got them */
    bool has_debug_info; /* SPIR-V that carries source lines */
    const struct zs_record_constant *constants;
    uint32_t constant_count;
};

enum zs_record_format {
    ZS_RECORD_FORMAT_SPIRV,
    ZS_RECORD_FORMAT_NATIVE,
    ZS_RECORD_FORMAT_OTHER,
    ZS_RECORD_FORMAT_SOURCE, /* OpenCL C */
};

/* One call of zeModuleCreate, or a build of an OpenCL program for one device. */
struct zs_record_build {
    uint32_t process; /* index */
    uint32_t id;      /* of the build in its process: what records of kernels and counts name */
    uint32_t thread_id;
    uint32_t device; /* index, or ZS_RECORD_NONE */
    uint32_t module; /* index of what came out, or ZS_RECORD_NONE (see failed, finished) */
    uint64_t start_ns, duration_ns; /* CLOCK_MONOTONIC; the driver's time, capture excluded */
    bool finished;                  /* false: the process ended before the driver returned */
    int32_t result;  /* ze_result_t or OpenCL's (negative), 0: success; 0 too while not
                        finished */
    uint64_t handle; /* ze_module_handle_t of the application */
    enum zs_record_format format;
    const char *flags;     /* build flags as the driver got them */
    const char *app_flags; /* as the application gave them (--debug-info adds -g) */
    const char *log;       /* build log, "" when there was none */
    const struct zs_record_input *inputs;
    uint32_t input_count;
};

/* One distinct result of building: same native binary, debug info and device. */
struct zs_record_module {
    struct zs_record_blob binary; /* zeModuleGetNativeBinary, CL_PROGRAM_BINARIES */
    struct zs_record_blob debug;  /* zetModuleGetDebugInfo; file NULL where there is none */
    uint32_t device;              /* index, or ZS_RECORD_NONE */
    const char *const *kernels;
    uint32_t kernel_count;
    uint32_t first_build; /* index of the first build (or link) that gave it */
    uint32_t build_count;
    bool linked; /* seen after zeModuleDynamicLink, which changed it */
};

struct zs_record_source {
    const char *path; /* as the debug info names it, absolute */
    struct zs_record_blob blob;
};

struct zs_record_note {
    uint32_t process; /* index, or ZS_RECORD_NONE: of the recording as a whole */
    const char *text;
};

/* What could not be kept, summed over all processes. */
struct zs_record_drops {
    uint64_t modules; /* created, but not captured in full */
    uint64_t notes;   /* notes that could not be written either */
    int32_t last_errno;
    uint64_t packets; /* of traces: a beginning or an end of a call, a record of activity */
};

struct zs_recording_info {
    const char *path;    /* as given to zs_recording_open */
    const char *version; /* of the zescope that wrote it */
    const char *const *argv;
    uint32_t argc;
    const char *cwd;
    const char *host;
    const char *start_time; /* ISO 8601, UTC */
    uint64_t duration_ns;
    bool finished;       /* false: `zescope record` itself was killed, or still runs */
    int32_t exit_status; /* as a shell shows it: 128 + n for signal n */
    bool debug_info;     /* recorded with --debug-info */
    struct zs_record_drops drops;
    bool no_trace, no_activity; /* recorded with --no-trace, --no-activity */
    /* What times of devices are: "device", or of the software GPU "formula" (estimated from counts
     * of instructions), "model" or "exact" (docs/timing.md); "": not known. Times of unlike clocks
     * cannot be compared. */
    const char *clock;
};

struct zs_recording;

/* Whether path is a directory that claims to be a recording (it may still fail to open). */
ZS_API bool zs_recording_probe(const char *path);

/* 0, or -errno with a sentence: -ENOENT, -ENOTDIR, -EINVAL (not a recording, or one of a newer
 * format), -ENOMEM (also: larger than the limits of docs/recording.md). */
ZS_API int zs_recording_open(const char *path, struct zs_recording **ret_recording,
                             struct zs_diag *diag);
ZS_API void zs_recording_close(struct zs_recording *recording);

ZS_API const struct zs_recording_info *zs_recording_info(const struct zs_recording *recording);

/* Arrays of the model. */
ZS_API const struct zs_record_process *zs_recording_processes(const struct zs_recording *recording,
                                                              uint32_t *ret_count);
ZS_API const struct zs_record_device *zs_recording_devices(const struct zs_recording *recording,
                                                           uint32_t *ret_count);
/* Of device `index`; NULL: a recording of a version that did not ask for it. */
ZS_API const struct zs_record_device_shape *
zs_recording_device_shape(const struct zs_recording *recording, uint32_t index);
ZS_API const struct zs_record_build *zs_recording_builds(const struct zs_recording *recording,
                                                         uint32_t *ret_count);
ZS_API const struct zs_record_module *zs_recording_modules(const struct zs_recording *recording,
                                                           uint32_t *ret_count);
ZS_API const struct zs_record_source *zs_recording_sources(const struct zs_recording *recording,
                                                           uint32_t *ret_count);
ZS_API const struct zs_record_note *zs_recording_notes(const struct zs_recording *recording,
                                                       uint32_t *ret_count);

/* The recorded copy of a source file, by the path that the debug info names; NULL: none. */
ZS_API const struct zs_record_source *zs_recording_find_source(const struct zs_recording *recording,
                                                               const char *path);

/*
 * Read a blob of this recording into memory that the caller frees with zs_recording_blob_free.
 * 0, or -errno with a sentence (-ENOENT when blob->file is NULL). The contents are hostile input.
 */
ZS_API int zs_recording_blob_read(const struct zs_recording *recording,
                                  const struct zs_record_blob *blob, struct zs_span *ret_span,
                                  struct zs_diag *diag);
ZS_API void zs_recording_blob_free(struct zs_span *span);

/* A device's name as ocloc takes it, from its PCI ids; "" when it is not an Intel GPU we know. */
ZS_API const char *zs_device_ocloc_name(uint32_t vendor_id, uint32_t device_id);

#ifdef __cplusplus
}
#endif

#endif
