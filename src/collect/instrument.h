/* SPDX-License-Identifier: MIT */
/*
 * Instrumented modules: what the driver built is handed to a helper process, which rewrites it, and
 * the application gets the module that comes back. Whatever goes wrong, it keeps its own.
 */
#ifndef ZS_COLLECT_INSTRUMENT_H
#define ZS_COLLECT_INSTRUMENT_H

#include "collect/collect.h"
#include "wire/instrument.h"

/* The module to give to the application instead, or NULL. The caller destroys the other. */
ze_module_handle_t zs_instrument_module(struct zs_collector *c, uint32_t build,
                                        const ze_module_create_params_t *params,
                                        ze_module_handle_t module);
/* A tool rewrote the module of this build: what a driver says of its instructions is not of the
 * module that is recorded. */
bool zs_instrument_is_of(const struct zs_collector *c, uint64_t build);
/* The call of the module that is being destroyed returned; a context is about to be destroyed: keep
 * what their buffers hold, and free them. */
void zs_instrument_module_ends(struct zs_collector *c, ze_module_handle_t module);
void zs_instrument_context_ends(struct zs_collector *c, ze_context_handle_t context);
/* Where the probes of a module write; NULL: it has none. */
const void *zs_instrument_memory_of(const struct zs_collector *c, ze_module_handle_t module);
/* In a child of fork(), before it does anything else: buffers are its parent's. */
void zs_instrument_forked(struct zs_collector *c);
/* The process is about to end. */
void zs_instrument_process_ends(struct zs_collector *c);
/* Something that waits for the device has returned: keep what is new in the buffers, unless that
 * was done a moment ago. */
bool zs_instrument_is_due(const struct zs_collector *c);
void zs_instrument_synchronized(struct zs_collector *c);

/* ---- the exchange, for either API ---- */

enum { ZS_INSTRUMENT_ALIGN_B = 4096 };
struct zs_instrument_ops {
    uint8_t *(*bytes)(void *ctx, bool debug, size_t *ret_size_B); /* of the module; the caller's */
    void *(*allocate)(void *ctx, size_t size_B); /* at an address that host and device have */
    void (*release)(void *ctx, void *memory);
    void *(*build)(void *ctx, struct zs_span bytes); /* NULL: refused, and noted */
    void (*drop)(void *ctx, void *module);
};
struct zs_instrument_request {
    const struct zs_instrument_ops *ops;
    void *ctx;
    uint32_t build;
    bool narrow_atomics;
    uint64_t memory_part_B; /* of the device's, for traces; UINT64_MAX: not known */
    ze_context_handle_t context;
    ze_memory_access_cap_flags_t sharing; /* what host and device may do at a time */
};
/* What was built of the module that came back, or NULL. */
void *zs_instrument_exchange(struct zs_collector *c, const struct zs_instrument_request *request);

/* ---- between instrument.c and instrument_buffers.c ---- */

struct zs_instrument_place_of {
    ze_context_handle_t context; /* with whose end the memory ends; NULL: with the process */
    ze_module_handle_t module;   /* or what else it is called by */
    void *memory;
    ze_memory_access_cap_flags_t sharing;
    uint64_t room_B; /* that was taken for it, which its records' size replaces when it is kept */
    uint32_t build;
};
/* Whether a buffer's parts lie in it, in the order that they have. */
bool zs_instrument_fits(const struct zs_instrument_answer *layout);
/* Take room for records of the next module: what the user said, or as much as the recording keeps,
 * as long as the rooms of all modules, and of those that are on their way, are not too much. */
uint64_t zs_instrument_take_room_B(struct zs_collector *c, uint64_t memory_part_B);
void zs_instrument_give_room(struct zs_collector *c, uint64_t room_B);
/* The buffer of a module that was built, whose layout fits. False: out of memory. */
bool zs_instrument_keep(struct zs_collector *c, const struct zs_instrument_place_of *place,
                        const struct zs_instrument_answer *layout);

#endif
