/* SPDX-License-Identifier: MIT */
/*
 * zetTracerExp*: callbacks around the core API, behind ZET_ENABLE_API_TRACING_EXP=1. The wrappers
 * are generated (gen_ddi.py) and go into the dispatch tables only when the variable is set as the
 * loader asks for them, so tracing costs nothing when it is off. tracers/tracers.h gives the
 * guarantees: pairs, no self-tracing, waiting on destruction.
 */
#ifndef ZS_DRIVER_TRACING_H
#define ZS_DRIVER_TRACING_H

#include "driver/ddi.h"
#include "tracers/tracers.h"

/* The tracers of the process; calls are numbered as in the generated file. */
extern struct zs_trace_set zs_driver_tracers;

/* Whether the tables get the wrappers. */
bool zs_ddi_is_traced(void);
/* Hand each function of a table of callbacks to `set`. 0 or the first error. */
int zs_ddi_set_callbacks(struct zs_tracer *tracer, const ze_callbacks_t *callbacks,
                         int (*set)(struct zs_tracer *tracer, uint32_t call, zs_trace_fn fn));

#endif
