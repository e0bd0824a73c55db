/* SPDX-License-Identifier: MIT */
/*
 * Program debugging on zescope's Level Zero driver: what the zetDebug* functions leave to the
 * vendor. The numbers of register sets are those of Intel's zet_intel_gpu_debug.h; those from
 * 0x10000 on have none there.
 */
#ifndef ZESCOPE_DEBUG_EXT_H
#define ZESCOPE_DEBUG_EXT_H

#ifdef __cplusplus
extern "C" {
#endif

typedef enum zescope_debug_regset {
    ZESCOPE_DEBUG_REGSET_GRF = 1,  /* r0 ... */
    ZESCOPE_DEBUG_REGSET_ADDR = 2, /* a0, sixteen words */
    ZESCOPE_DEBUG_REGSET_FLAG = 3, /* f0, f1 ... */
    ZESCOPE_DEBUG_REGSET_CE = 4,   /* channel enables: lanes that run; read-only */
    ZESCOPE_DEBUG_REGSET_SR = 5,   /* sr0 (dword 2: dispatch mask) ...; read-only */
    ZESCOPE_DEBUG_REGSET_CR = 6,   /* cr0: see enum zescope_debug_cr0 */
    ZESCOPE_DEBUG_REGSET_TDR = 7,  /* thread dependencies: always 0 */
    ZESCOPE_DEBUG_REGSET_ACC = 8,  /* as dwords, then those of macros */
    ZESCOPE_DEBUG_REGSET_MME = 9,  /* the eight of macros, as floats */
    ZESCOPE_DEBUG_REGSET_SP = 10,  /* stack pointer: always 0, compilers keep it in r125 */
    ZESCOPE_DEBUG_REGSET_SBA = 11, /* base addresses: 0 general state, 4 instructions, 8 scratch */
    ZESCOPE_DEBUG_REGSET_DBG = 12, /* dbg0: always 0 */
    ZESCOPE_DEBUG_REGSET_NOTIFICATION = 0x10001, /* n0.0 ... n0.2 */
    ZESCOPE_DEBUG_REGSET_TIMESTAMP = 0x10002,    /* tm0: executed instructions */
    /* the lane that a fault is about, while the thread is stopped by it; UINT32_MAX: none */
    ZESCOPE_DEBUG_REGSET_FAULT_LANE = 0x10003,
} zescope_debug_regset_t;

/*
 * cr0.0, cr0.1: bits of Intel's hardware, which its debugger uses in the same way. cr0.2 is the
 * instruction pointer; the address of the instruction is that of the code (SBA 4) plus it. Writing
 * it moves the lanes that run.
 *
 * A thread that is resumed with the breakpoint bit in what was last written to cr0.1 executes one
 * instruction. What the bits say is gone when a thread is resumed.
 */
enum zescope_debug_cr0 {
    ZESCOPE_DEBUG_CR0_0_BREAKPOINT_SUPPRESS = 1 << 15, /* not at the instruction it stands at */
    ZESCOPE_DEBUG_CR0_1_PAGE_FAULT = 1 << 16,
    ZESCOPE_DEBUG_CR0_1_ILLEGAL_OPCODE = 1 << 28,     /* or not modelled, bad jump, bad message */
    ZESCOPE_DEBUG_CR0_1_SOFTWARE = 1 << 29,           /* waits at a barrier that not all reach */
    ZESCOPE_DEBUG_CR0_1_EXTERNAL_HALT = 1 << 30,      /* interrupted */
    ZESCOPE_DEBUG_CR0_1_BREAKPOINT = (int)(1u << 31), /* breakpoint, or end of a step */
};

#ifdef __cplusplus
}
#endif

#endif
