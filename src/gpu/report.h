/* SPDX-License-Identifier: MIT */
/*
 * What a report of checks has, whoever writes it: blocks that end with an empty line, of lines with
 * fields, which begin with %, and text:
 *
 *     %finding KIND error|note       a kind of base/checks.h
 *     %kernel NAME               empty: of no kernel
 *     %site OFFSET ACCESS SIZE SOURCE    once or twice; ACCESS may be -, SOURCE empty
 */
#ifndef ZS_GPU_REPORT_H
#define ZS_GPU_REPORT_H

#include "gpu/gpu.h"

/* Text; zs_gpu_fault_print() makes that of faults. sources: of its sites, or NULL. */
void zs_gpu_finding_print(const struct zs_gpu_finding *finding, const char *const sources[2],
                          struct zs_buf *out);
/* Threads at barriers of one line are at the same one, which the compiler wrote twice: no finding.
 */
bool zs_gpu_finding_is_one_line(const struct zs_gpu_finding *finding, const char *const sources[2]);
/* Fields of a block. */
void zs_gpu_report_head(struct zs_buf *out, const char *kind, bool note, const char *kernel);
void zs_gpu_report_finding(const struct zs_gpu_finding *finding, const char *const sources[2],
                           struct zs_buf *out);
void zs_gpu_report_fault(const struct zs_gpu_fault *fault, const char *source, struct zs_buf *out);

#endif
