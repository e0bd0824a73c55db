/* SPDX-License-Identifier: MIT */
/*
 * Reports of kernel faults: to the log, and under ZESCOPE_CHECK also to the file that
 * ZESCOPE_CHECK_REPORT names (`zescope run --check` prints it and takes its exit status from it),
 * in blocks of gpu/report.h.
 *
 * With checking on, every allocation remembers the calls that made it.
 */
#ifndef ZS_DRIVER_REPORT_H
#define ZS_DRIVER_REPORT_H

#include "gpu/gpu.h"

void zs_report_init(unsigned checks); /* ZS_CHECK_* */
void zs_report_after_fork(void);
/* An id for "made here", the caller's backtrace, when one of these checks is on; otherwise 0.
 * Equal backtraces have one id. */
uint64_t zs_report_origin(unsigned kinds);
/* Whether one of these checks is on in this process. */
bool zs_report_wants(unsigned kinds);
/* A launch failed. `source` is "file:line" or NULL. ret_text gets the text. */
void zs_report_fault(const struct zs_gpu_fault *fault, const char *source, struct zs_buf *ret_text);

/* A check found something; the launch goes on. sources: of its sites, or NULL. */
void zs_report_finding(const struct zs_gpu_finding *finding, const char *const sources[2]);

/* The program called what the specification forbids: once for each place. text: what and why;
 * what: the object it did it with, or NULL, and ids of where that was made and destroyed. */
void zs_report_misuse(const char *text, const char *what, uint64_t made, uint64_t ended);
/* Something was not given back. text: what, up to "made by:". */
void zs_report_leak(const char *text, uint64_t origin);

#endif
