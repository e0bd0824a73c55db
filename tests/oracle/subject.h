/* SPDX-License-Identifier: MIT */
/* What is compared with libiga64: our tables, one instruction at a time. */
#ifndef ZS_TESTS_ORACLE_SUBJECT_H
#define ZS_TESTS_ORACLE_SUBJECT_H

#include "isa/isa.h"

enum { SUBJECT_LINE_MAX_B = 1024 };

/* The line of a listing, without trailing spaces; false when the bytes are refused, and then the
 * line is the reason. Branches are at byte 0 of the code. */
bool subject_print(enum zs_isa_platform platform, const uint8_t inst[16],
                   char ret_line[SUBJECT_LINE_MAX_B]);
/* Decode, and encode what was decoded; afresh: from its fields alone, forgetting its bytes. False
 * with the reason in `ret_line` when either is refused. */
bool subject_encode(enum zs_isa_platform platform, const uint8_t inst[16], bool afresh,
                    uint8_t ret_bytes[16], char ret_line[SUBJECT_LINE_MAX_B]);
/* Assemble one line; false with the reason when it is refused. */
bool subject_assemble(enum zs_isa_platform platform, const char *line, uint8_t ret_bytes[16],
                      uint32_t *ret_size_B, char ret_error[SUBJECT_LINE_MAX_B]);

#endif
