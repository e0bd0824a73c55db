/* SPDX-License-Identifier: MIT */
/* The same kernels from the same source on another implementation of OpenCL: PoCL. */
#ifndef ZS_TESTS_E2E_ORACLE_H
#define ZS_TESTS_E2E_ORACLE_H

#include "suite.h"

struct suite_oracle;

/* source: the group's .cl file, built with options. NULL: it does not build, which is explained. */
struct suite_oracle *suite_oracle_open(const char *source, const char *options);
void suite_oracle_close(struct suite_oracle *oracle);

enum suite_oracle_result { SUITE_ORACLE_RAN, SUITE_ORACLE_CANNOT, SUITE_ORACLE_FAILED };

/*
 * Run the case's stages and its kernel in the memory of the case's buffers, which hold what they
 * did before the launch; images are of its own, and what one holds afterwards is put into the
 * buffer that stands for it. CANNOT: it does not have the format of an image, or the kernel.
 */
enum suite_oracle_result suite_oracle_run(struct suite_oracle *oracle, struct suite *s,
                                          const struct suite_case *c);

#endif
