/* SPDX-License-Identifier: MIT */
/*
 * The assembler: text in IGA's syntax, as zs_isa_print writes it, to bytes.
 *
 * A line is a label ("L0:"), an instruction, or both; comments are those of C++. Two passes: the
 * first reads instructions, which gives their sizes (8 with {Compacted}, else 16), the second knows
 * where labels stand and encodes. A target that no label names may still be an offset: "L136",
 * "L_N16" (before the code), as listings of damaged code have them.
 */
#ifndef ZS_ISA_ASM_H
#define ZS_ISA_ASM_H

#include "base/buf.h"
#include "base/diag.h"
#include "isa/inst.h"

/* Append the bytes. 0; -EINVAL with *ret_error; -ENOMEM. */
int zs_isa_assemble_text(const struct zs_isa_model *model, struct zs_span text, struct zs_buf *out,
                         struct zs_isa_asm_error *ret_error);

#endif
