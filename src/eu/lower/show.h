/* SPDX-License-Identifier: MIT */
/* The representation between instructions and handlers: named, printed, verified. */
#ifndef ZS_EU_SHOW_H
#define ZS_EU_SHOW_H

#include "eu/eu.h"

#include "base/buf.h"

/* Of a row of sem.def, a kind of kind.def: "ADD_32", "BRANCH". */
const char *zs_eu_kind_name(unsigned kind);

/*
 * The program as text: blocks, each instruction as it was decoded, and under it its operations:
 * what they are, the elements that they read and write (registers, accumulators, flags,
 * temporaries, constants), their mask. Offsets are the kernel's; those of functions before it,
 * which it may call, stand behind "f+". platform: of the code.
 */
void zs_eu_program_show(const struct zs_eu_program *program, enum zs_isa_platform platform,
                        struct zs_buf *ret);

/*
 * Whether all operations say what can be: kinds that there are, operands inside the thread and in
 * parts that may be read or written, masks of no more lanes than elements, jumps to blocks, tables
 * that have their index. false, and a sentence.
 */
bool zs_eu_program_verify(const struct zs_eu_program *program, struct zs_diag *diag);

#endif
