/* SPDX-License-Identifier: MIT */
/* For files that are built twice, for any host and for those with AVX2: names of what they run, and
 * the widest vector of dwords that the host has. */
#ifndef ZS_DATAPORT_TWICE_H
#define ZS_DATAPORT_TWICE_H

#ifdef __AVX2__
#define RUN(name) zs_port_run_##name##_avx2
typedef uint32_t vector __attribute__((vector_size(32), aligned(1), may_alias));
#else
#define RUN(name) zs_port_run_##name
typedef uint32_t vector __attribute__((vector_size(16), aligned(1), may_alias));
#endif
enum { VECTOR_LANES = sizeof(vector) / 4 };

#endif
