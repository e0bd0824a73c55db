/* SPDX-License-Identifier: MIT */
/*
 * The software scoreboard, checked: on demand (ZS_EU_LOWER_SCOREBOARD) an operation in front of
 * every instruction looks whether the registers that it touches were waited for.
 *
 * From Gen12LP on hardware does not do so itself. Instructions whose time varies (sends, dpas, up
 * to XeHPG math) set a token; who reads or writes their destination waits for "dst" of it, who
 * writes their sources for "src". All others end in the order of their pipe; who reads what one of
 * them writes, or writes it from another pipe, waits for a distance. Sources: Mesa,
 * brw_fs_scoreboard.cpp; IGC, SWSB_G4IR.cpp and G4_INST::getInstructionPipeXe() (pipes: on XeHPC
 * only results in doubles go through the long one, 64-bit integers with the others, but on its
 * first stepping; WARDepRequired: messages to one shared function read their sources in order).
 *
 * Looked at are general registers by bytes. Architecture registers are the hardware's business
 * (flags, accumulators) or waited for with every access; operands that an address register names
 * are left out, as is what an instruction without a token does. Ten instructions behind one in its
 * pipe (fourteen in the long one) its result is there, and where a block begins, too: compilers
 * count on jumps taking longer than pipes.
 */
#ifndef ZS_EU_SCOREBOARD_H
#define ZS_EU_SCOREBOARD_H

#include "base/compiler.h"

enum zs_eu_pipe {
    ZS_EU_PIPE_FLOAT, /* of Gen12LP: the only one */
    ZS_EU_PIPE_INT,
    ZS_EU_PIPE_LONG,
    ZS_EU_PIPE_MATH,
    ZS_EU_PIPE_COUNT,
    ZS_EU_PIPE_TOKEN, /* no pipe: ends when it ends */
    ZS_EU_PIPE_NONE,  /* waits only */
};

enum { ZS_EU_TOKENS = 32, ZS_EU_RECENT = 16 };

/* Bytes [begin, end) of the register file; empty when equal. */
struct zs_eu_bytes {
    uint32_t begin_B, end_B;
};

/* A bit for each 32 bytes, modulo 64: what has none in common does not meet. */
static inline uint64_t zs_eu_bytes_mask(struct zs_eu_bytes at)
{
    uint32_t first = at.begin_B / 32, count = (at.end_B + 31) / 32 - first;
    if (at.end_B <= at.begin_B)
        return 0;
    uint64_t bits = count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
    return first % 64 ? bits << first % 64 | bits >> (64 - first % 64) : bits;
}

/* Of a thread: what is under way. */
struct zs_eu_scoreboard {
    struct zs_eu_token {
        uint32_t inst, lanes; /* lanes of the thread that take part */
        uint32_t number;      /* in the order in which tokens were set; 0: never */
        uint8_t function;     /* shared function, or unit */
        struct zs_eu_bytes dst, src[3];
        uint64_t mask; /* of them */
        bool writes, reads;
    } tokens[ZS_EU_TOKENS];
    uint32_t token_number;
    uint32_t in_use; /* tokens that may write or read yet */
    /* numbers of instructions, by pipe: the last one, and the last one that was waited for */
    uint32_t issued[ZS_EU_PIPE_COUNT], done[ZS_EU_PIPE_COUNT];
    uint64_t pending[ZS_EU_PIPE_COUNT]; /* masks of what was issued since, at least */
    struct zs_eu_recent {
        uint32_t inst;
        struct zs_eu_bytes dst;
        uint64_t mask;
    } recent[ZS_EU_PIPE_COUNT][ZS_EU_RECENT]; /* by number */
};

#endif
