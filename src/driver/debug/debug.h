/* SPDX-License-Identifier: MIT */
/*
 * Program debugging in the debugged process: ZET_ENABLE_PROGRAM_DEBUGGING=1. Without the variable
 * driver->debug is NULL, and nothing here does anything.
 *
 * debug/server.c: the thread that debuggers talk to; debug/modules.c: what is loaded;
 * debug/memory.c: memory by address. The debugger's side, zetDebug*: debug/session.c,
 * debug/process.c.
 */
#ifndef ZS_DRIVER_DEBUG_DEBUG_H
#define ZS_DRIVER_DEBUG_DEBUG_H

#include "driver/driver_priv.h"
#include "wire/debug.h"

#include "gpu/debug/debug.h"
#include "gpu/debug/history.h"

struct zs_ze_module;
struct zs_debug_server;

/* With the driver, when the variable is set. NULL with a message: no memory, no thread. */
struct zs_debug_server *zs_debug_start(struct zs_ze_driver *driver);
/* The devices are there: debuggers may come. */
void zs_debug_open(struct zs_ze_driver *driver);
/* Its threads end, sockets are closed. For a driver that could not be made. */
void zs_debug_stop(struct zs_debug_server *server);
/* In a forked child: the parent's sockets are closed. */
void zs_debug_after_fork(struct zs_debug_server *server);

struct zs_gpu_debug *zs_debug_gpu(struct zs_debug_server *server);

/* A queue or an immediate list was made, or is gone. */
void zs_debug_queue_made(struct zs_ze_device *device);
void zs_debug_queue_gone(struct zs_ze_device *device);

/* The module is complete: its code has addresses. Returns when debuggers have acknowledged it.
 * Again for the same module: nothing. */
void zs_debug_module_loaded(struct zs_ze_module *module);
/* Its handle goes. */
void zs_debug_module_unloaded(struct zs_ze_module *module);
/* It goes itself: its code and its ELFs do. */
void zs_debug_module_free(struct zs_ze_module *module);
/* An ELF of its code and its kernels' names, for a module that the compiler gave no debug
 * information for; empty: it has some, it cannot be debugged, or no memory. Lives as long as the
 * module. */
struct zs_span zs_debug_module_elf(struct zs_ze_module *module);

/* Neither gone nor a zombie. */
bool zs_debug_process_is_alive(uint32_t pid);
/* It was started with ZET_ENABLE_PROGRAM_DEBUGGING=1. */
bool zs_debug_process_is_enabled(uint32_t pid);

/* ---- inside ------------------------------------------------------------------------------------
 */

/* A piece of a module that debuggers are told of: one event. */
struct zs_debug_piece {
    struct zs_debug_piece *next; /* of the module's */
    struct zs_gpu_debug_code *code;
    uint64_t load_va;
    uint8_t *elf; /* NULL: there is none */
    size_t elf_B;
};
struct zs_debug_module {
    struct zs_debug_module *next, **at; /* of the server's; at NULL: not among them */
    struct zs_ze_device *device;
    struct zs_debug_piece *pieces;
};

struct zs_debug_event {
    uint32_t type, flags;
    struct zs_wire_thread thread;
    uint64_t info[3];
};
/* The module's pieces are there, or about to go: tell its debuggers. load: returns when they have
 * acknowledged the events, or are gone. */
void zs_debug_announce(struct zs_debug_server *server, struct zs_debug_module *module, bool load);
void zs_debug_event_of(const struct zs_debug_piece *piece, bool load, struct zs_debug_event *ret);

/* Bytes of an ELF: -ENOENT: none is there, -EINVAL: not all of it. */
int zs_debug_read_elf(struct zs_debug_server *server, uint64_t gpu_va, void *ret_bytes,
                      size_t size_B);

/* debug/memory.c: thread NULL: all. */
struct zs_debug_access {
    struct zs_ze_driver *driver;
    struct zs_gpu_debug_session *session;
    const struct zs_gpu_hw_thread *thread;
    uint32_t space;
    uint64_t gpu_va;
    void *bytes;
    size_t size_B;
    bool write;
};
ze_result_t zs_debug_access_memory(const struct zs_debug_access *access);

/* Whether what happens on one of them concerns a debugger of the other: the same device, or tile
 * and root of one. */
static inline bool zs_debug_concerns(const struct zs_ze_device *session_device,
                                     const struct zs_ze_device *device)
{
    return session_device == device || session_device->parent == device ||
           device->parent == session_device;
}

static inline struct zs_wire_device zs_debug_name(const struct zs_ze_device *device)
{
    return (struct zs_wire_device){device->model->device_id, device->card, device->tile};
}

/* Of a later specification than loaders may have in their tables, by its name; or NULL. */
void *zs_debug_function(const char *name);

#endif
