/* SPDX-License-Identifier: MIT */
/* The text view of machine code: what `zescope disasm` prints (docs/isa.md). */
#ifndef ZS_REPORT_DISASM_H
#define ZS_REPORT_DISASM_H

#include "report/annotate.h"

struct zs_disasm_options {
    bool offsets;  /* a column with each instruction's offset, hexadecimal */
    bool encoding; /* a column with its dwords, the lowest first */
    bool pressure; /* a column with the live registers before it */
    bool blocks;   /* a comment with edges and loop before each block */
    bool sends;    /* a comment with the decoded message behind each send */
};

/*
 * Write the listing of these kernels, in order; those of one image stand together. Kernels are
 * decoded in parallel and written in pieces, so that memory does not grow with the module. A kernel
 * whose code cannot be read gets a comment that says why, and counts in *ret_failed (may be NULL).
 * 0, -ENOMEM, or what `write` returned.
 */
int zs_report_disasm_text(const struct zs_kernel_ref *kernels, size_t count,
                          const struct zs_disasm_options *options, zs_write_fn *write, void *user,
                          size_t *ret_failed);

#endif
