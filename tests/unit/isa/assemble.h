/* SPDX-License-Identifier: MIT */
/* Kernels for tests, from assembly text through libiga64's assembler. */
#ifndef ZS_TESTS_UNIT_ISA_ASSEMBLE_H
#define ZS_TESTS_UNIT_ISA_ASSEMBLE_H

#include "isa/isa.h"

/* A kernel over the assembled text, decoded as far as `what` says; fails the test on an error. */
struct zs_isa_kernel *assemble(enum zs_isa_platform platform, const char *text, uint32_t what);
/* Close it, and free its code. */
void release(struct zs_isa_kernel *kernel);
/* The code of the kernel that assemble() made. */
struct zs_span assembled_code(void);

#endif
