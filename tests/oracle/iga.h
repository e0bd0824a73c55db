/* SPDX-License-Identifier: MIT */
/*
 * libiga64 1.1 (package libigc1 1.0.12504), the oracle of the instruction set's tests: the C
 * functions that are called, declared by hand because Intel's header needs a C++ compiler, and what
 * the tests make of them. libiga64 may crash on bytes that no compiler writes: call it in a child.
 */
#ifndef ZS_TESTS_ORACLE_IGA_H
#define ZS_TESTS_ORACLE_IGA_H

#include "isa/isa.h"

struct iga;

/* For one instruction set; NULL where libiga64 has none. */
struct iga *iga_open(enum zs_isa_platform platform);
void iga_close(struct iga *iga);

/* The lines that `iga64 -d` prints for the instructions, without trailing spaces. Behind a branch
 * to byte 136 of the code stands L136. False when libiga64 fails altogether. `lines` point into
 * memory that stays valid until the next call. */
bool iga_print(struct iga *iga, const uint8_t (*insts)[16], uint32_t count, const char **lines);
/* Assemble one instruction. False when it is refused; a branch to a label is always. `ret_size_B`
 * is 8 where the text asks for compaction. */
bool iga_assemble(struct iga *iga, const char *line, uint8_t ret_bytes[16], uint32_t *ret_size_B);
/* Why the last iga_assemble failed. */
const char *iga_error(struct iga *iga);

/* Bit 29 of every instruction. */
static inline uint32_t inst_size_B(const uint8_t *bytes)
{
    return bytes[3] & 0x20 ? 8 : 16;
}
/* if, while, jmpi and the like: opcodes 0x20 to 0x2f of every instruction set. */
static inline bool inst_is_branch(const uint8_t *bytes)
{
    return (bytes[0] & 0x70) == 0x20;
}

#endif
