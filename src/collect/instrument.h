/* SPDX-License-Identifier: MIT */
/*
 * Instrumented modules: what the driver built is handed to a helper process, which rewrites it, and
 * the application gets the module that comes back. Whatever goes wrong, it keeps its own.
 */
#ifndef ZS_COLLECT_INSTRUMENT_H
#define ZS_COLLECT_INSTRUMENT_H

#include "collect/collect.h"

/* The module to give to the application instead, or NULL. The caller destroys the other. */
ze_module_handle_t zs_instrument_module(struct zs_collector *c, uint32_t build,
                                        const ze_module_create_params_t *params,
                                        ze_module_handle_t module);
/* A context is about to be destroyed: keep what its buffers hold. */
void zs_instrument_context_ends(struct zs_collector *c, ze_context_handle_t context);
/* The process is about to end. */
void zs_instrument_process_ends(struct zs_collector *c);

#endif
