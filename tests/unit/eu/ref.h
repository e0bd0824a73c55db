/* SPDX-License-Identifier: MIT */
/*
 * A second, plain implementation of the instructions: lane by lane, value by value, from the
 * instruction's fields. Slow and simple on purpose; shares nothing with src/eu but the struct of
 * instructions.
 */
#ifndef ZS_TESTS_UNIT_EU_REF_H
#define ZS_TESTS_UNIT_EU_REF_H

#include <zescope/isa.h>

enum { REF_FILE_MAX_B = 128 * 64 };
struct ref_state {
    unsigned grf_B; /* of a register; there are 128 */
    uint8_t grf[REF_FILE_MAX_B];
    int64_t acc[32];
    uint32_t flag[4];
    uint16_t a0[16];
    uint32_t cr0, ce;
};

/* Execute one instruction. */
void ref_execute(struct ref_state *state, const struct zs_isa_inst *inst);

/* Half floats by the book: round-to-nearest-even as `mode` 0, then up, down, zero. */
uint16_t ref_to_half(double value, unsigned mode);
double ref_from_half(uint16_t half);

#endif
