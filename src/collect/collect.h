/* SPDX-License-Identifier: MIT */
/*
 * The collector: the half of the recorder that lives in the application's process.
 *
 * entry.c gets into the process and onto the loader's tracing layer, tracer.c turns callbacks into
 * captures, capture.c asks the driver for what was built, session.c writes it down. Nothing here
 * exits, aborts, takes a lock or keeps a descriptor open; whatever fails is a note in the
 * recording, or at least a count (store/store.h), and the application goes on.
 */
#ifndef ZS_COLLECT_COLLECT_H
#define ZS_COLLECT_COLLECT_H

#include "base/buf.h"
#include "collect/below.h"
#include "collect/launches.h"
#include "store/store.h"

#include <level_zero/layers/zel_tracing_api.h>
#include <level_zero/ze_api.h>
#include <level_zero/zet_api.h>

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/types.h>

enum { ZS_COLLECT_PATH_CHARS = 4096, ZS_COLLECT_DEVICES_MAX = 256, ZS_COLLECT_DRIVERS_MAX = 16 };

/* The API functions that a capture calls: through the loader, untraced. Any may be NULL. */
struct zs_collect_api {
#define API(type, name) ze_result_t(*name) type;
#include "collect/api.def"
#undef API
};

/* One program image that is being recorded. Never freed: a fork replaces it in the child. */
struct zs_session {
    pid_t pid;
    _Atomic uint32_t next_build;
    char dir[ZS_COLLECT_PATH_CHARS]; /* .../process/<pid>; empty when it could not be made */
};

/* Which driver a device came from. */
struct zs_collect_device {
    _Atomic(ze_device_handle_t) device;
    ze_driver_handle_t driver;
};

/* A driver that was asked to count, of this process or its parent. */
struct zs_counting {
    atomic_bool is_taken;
    _Atomic pid_t pid;
    _Atomic(ze_driver_handle_t) driver;
};

struct zs_collector {
    char dir[ZS_COLLECT_PATH_CHARS];         /* the recording; empty: do nothing */
    char modules_dir[ZS_COLLECT_PATH_CHARS]; /* where blobs go */
    bool add_debug_info;
    bool names_only; /* nothing is kept: emulated nodes are told what there is */
    struct zs_below below;
    bool lines_only; /* calls are told as they happen, and nothing is kept but notes */
    bool count;      /* ask for execution counts per instruction */
    struct zs_counting counting[ZS_COLLECT_DRIVERS_MAX]; /* drivers that were asked */
    atomic_uint counts_files;
    _Atomic pid_t counts_below; /* the process that counts below Intel's driver */
    _Atomic(struct zs_counts_keeper *) counts_keepers; /* one per driver that counts */
    struct zs_launches launches;                       /* of kernels: which to record */
    bool activity;                                     /* times of what devices do */
    const char *instrument_socket;  /* of the helper that rewrites modules, or NULL */
    unsigned instrument_limit_s;    /* how long to wait for it */
    atomic_bool instrument_is_over; /* it did not answer once: it is not asked again */
    _Atomic(struct zs_instrument_buffer *) instrument_buffers;
    atomic_bool instrument_counts_told; /* whose counts are left out */
    atomic_uint instrument_files;
    _Atomic uint64_t instrument_trace_B; /* room for records of a module; 0: as there is memory */
    _Atomic uint64_t instrument_rooms_B; /* for records, of all buffers that are in use */
    uint64_t instrument_records_limit_B; /* of a module's in the recording */
    atomic_uint instrument_traces;       /* buffers with room for records that are in use */
    _Atomic pid_t instrument_reader;     /* who looks through the buffers; 0: nobody */
    _Atomic uint64_t instrument_pause;   /* until when nobody does, in ns */
    _Atomic pid_t instrument_watcher;    /* the process that has a thread that looks now and then */
    atomic_bool exit_is_watched;
    void (*at_exit)(void);              /* to be registered when there is something to keep */
    uint64_t trace_limit_B;             /* of the traces of API calls of one process, 0: none */
    struct zs_store_counters *counters; /* NULL: losses cannot be counted */
    struct zs_collect_api api;
    _Atomic(struct zs_session *) session;
    _Atomic uint64_t ordinal;            /* pid << 32 | ordinal + 1 of whose it is; 0: none yet */
    atomic_bool layer_captures;          /* zs_tracer_retire was called */
    _Atomic(zel_tracer_handle_t) tracer; /* of the loader's tracing layer */
    ze_result_t (*disable_tracer)(zel_tracer_handle_t tracer, ze_bool_t enable);
    _Atomic uint32_t device_count;
    struct zs_collect_device devices[ZS_COLLECT_DEVICES_MAX];
};

/* `dir` is the absolute path of an existing recording. 0 or -errno. The collector is zeroed. */
int zs_collector_init(struct zs_collector *c, const char *dir, bool add_debug_info);

/* Nothing is kept. */
void zs_collector_init_names(struct zs_collector *c, bool add_debug_info);

/* The number of the current process in the recording, or -errno: none can be claimed (yet). */
int zs_collect_ordinal(struct zs_collector *c, uint32_t *ret_ordinal);
/* What stands before the names of this process's files: "<pid>-<ordinal>-". */
enum { ZS_COLLECT_PREFIX_CHARS = 32 };
int zs_collect_prefix(struct zs_collector *c, char ret_prefix[ZS_COLLECT_PREFIX_CHARS]);
/* The current process's session; never NULL except when out of memory. */
struct zs_session *zs_session_get(struct zs_collector *c);
/* Keep bytes as modules/<hash>.<ext>: writes the members "blob" and "size_B" of a JSON object. */
struct zs_json;
int zs_session_blob(struct zs_collector *c, struct zs_json *j, const char *key, const char *ext,
                    struct zs_span span);
/* A line on a module: members follow. */
struct zs_json zs_session_event_begin(struct zs_buf *line, const char *event);
/* Ends it, appends it and frees it. A line that cannot be written counts as a lost module. */
void zs_session_event_end(struct zs_collector *c, struct zs_json *j, struct zs_buf *line);
/* Say in the recording what went wrong. */
void zs_session_note(struct zs_collector *c, const char *format, ...) ZS_PRINTF(2, 3);
void zs_session_lost(struct zs_collector *c, int error);
uint64_t zs_collect_now_ns(void);

/*
 * Every callback works inside a guard: the application's errno, its cancellation state and its
 * handling of SIGXFSZ (raised by writes beyond RLIMIT_FSIZE) stay as they were.
 */
struct zs_collect_guard {
    int saved_errno;
    int cancel_state;
    bool was_pending;
    bool was_working;
    sigset_t old_mask;
};
/* Inside a guard: API calls of this thread are the collector's, not the application's. */
bool zs_guard_is_entered(void);
void zs_guard_enter(struct zs_collect_guard *guard);
void zs_guard_leave(struct zs_collect_guard *guard);

/* One zeModuleCreate on its way; lives from prologue to epilogue. */
struct zs_capture;

/* Where the driver puts the handle of a log. */
struct zs_capture_log {
    ze_module_build_log_handle_t *app; /* where the application wants it, or NULL */
    ze_module_build_log_handle_t handle;
    bool taken; /* the call was given our place for it */
};

/* Before the driver builds: keeps the input, may replace *params->pdesc and add a build log.
 * NULL when there is nothing to finish. */
struct zs_capture *zs_capture_begin(struct zs_collector *c, ze_module_create_params_t *params);
/* After it: puts the parameters back, keeps what came out, frees the capture. */
/* Returns the build's id in this process. */
uint32_t zs_capture_end(struct zs_collector *c, struct zs_capture *capture,
                        ze_module_create_params_t *params, ze_result_t result);
/* The same around zeModuleDynamicLink. */
struct zs_capture_log *zs_capture_link_begin(struct zs_collector *c,
                                             ze_module_dynamic_link_params_t *params);
void zs_capture_link_end(struct zs_collector *c, struct zs_capture_log *log,
                         ze_module_dynamic_link_params_t *params, ze_result_t result);
void zs_capture_destroy(struct zs_collector *c, ze_module_handle_t module);
void zs_capture_devices(struct zs_collector *c, ze_driver_handle_t driver, uint32_t count,
                        const ze_device_handle_t *devices);
/* The driver of a device that was seen before, or NULL. */
ze_driver_handle_t zs_collect_driver_of(struct zs_collector *c, ze_device_handle_t device);

/* Rewriting of the module descriptor for --debug-info: a deep enough copy that adds -g. */
struct zs_debug_desc {
    ze_module_desc_t desc;
    ze_module_program_exp_desc_t program;
    const char **program_flags;
    char **owned; /* flag strings to free */
    size_t owned_count;
};
/* 0: *ret is a descriptor to pass on; 1: nothing to add; -errno. `why` gets a sentence then. */
int zs_debug_desc_make(const ze_module_desc_t *desc, struct zs_debug_desc *ret, const char **why);
void zs_debug_desc_free(struct zs_debug_desc *d);

/* What a capture wants to know of a SPIR-V module. */
struct zs_spirv_info {
    bool is_spirv;
    bool has_debug_info; /* line information of any kind */
};
struct zs_spirv_info zs_spirv_scan(struct zs_span spirv);
/* Size of a specialization constant in bytes (1, 2, 4, 8), 0 when it is not declared. */
uint8_t zs_spirv_constant_size(struct zs_span spirv, uint32_t spec_id);

/* Have a driver count what its launches execute; once per process and driver. */
/* A module was built: its handle may have stood for another one before. */
void zs_counts_built(struct zs_collector *c, ze_module_handle_t module, uint32_t build,
                     bool is_rewritten);
void zs_counts_start(struct zs_collector *c, ze_driver_handle_t driver);
/* Counts of all that runs on emulated nodes of this process; false: it has none. */
bool zs_counts_start_below(struct zs_collector *c);

/* Put the tracer into the loader's tracing layer, whose file stands at layer_path. Once. */
void zs_tracer_install(struct zs_collector *c, void *layer, void *loader);
/* From now on somebody else calls the hooks: the layer's tracer, which costs every call of the
 * application something, is disabled. Before the first call that one of them is for. */
void zs_tracer_retire(struct zs_collector *c);

/* What a capture does on enter and exit of a call; either may be NULL. */
typedef void (*zs_capture_fn)(void *params, ze_result_t result, void *collector, void **instance);
struct zs_capture_hook {
    const char *call;
    zs_capture_fn enter, leave;
};
const struct zs_capture_hook *zs_capture_hooks(const struct zs_collector *c, size_t *ret_count);

/* Record the API calls that pass the zescope layer, which has been loaded. Once. False, and a note
 * in the recording, when that does not work. */
bool zs_api_trace_start(struct zs_collector *c, void *layer_library);

#endif
