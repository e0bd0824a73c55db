/* SPDX-License-Identifier: MIT */
/*
 * Which bits of a thread's registers are not defined: for programs lowered with
 * ZS_EU_LOWER_DEFINED, whose operations carry them along as they compute.
 *
 * A shadow has the layout of the thread: a set bit says that the bit at its place (of registers,
 * flags, accumulators, temporaries) has no value that the kernel's code gave it. Bits that decide
 * something are told to the environment and taken for defined from then on, so that a value is told
 * once. What messages bring and take is the environment's business. Values beside bits are where an
 * undefined value came from, for each four bytes.
 */
#ifndef ZS_EU_SHADOW_H
#define ZS_EU_SHADOW_H

#include "eu/eu.h"

#include <emmintrin.h>
#include <string.h>

enum zs_eu_use {
    ZS_EU_USE_BRANCH,   /* lanes go where it says */
    ZS_EU_USE_MASK,     /* ... or take part in a message */
    ZS_EU_USE_REGISTER, /* it chooses a register */
    ZS_EU_USE_JUMP,     /* it is where a jump leads */
    ZS_EU_USE_MESSAGE,  /* a message's descriptor */
    /* the environment's own */
    ZS_EU_USE_ADDRESS,
    ZS_EU_USE_ATOMIC,
    ZS_EU_USE_STORED,
    ZS_EU_USE_COUNT
};

/* An undefined value at work. */
struct zs_eu_undefined {
    enum zs_eu_use use;
    uint32_t inst;
    int lane;      /* -1: the thread as a whole */
    uint32_t from; /* 1 + the instruction that it came from; 0: unknown */
};

enum { ZS_EU_SHADOW_B = offsetof(struct zs_eu_thread, return_ip_B) };

struct zs_eu_shadow {
    uint8_t bits[ZS_EU_SHADOW_B];
    uint32_t from[ZS_EU_SHADOW_B / 4]; /* 1 + an instruction; 0: nobody wrote it */
    bool has_from;
    bool is_zero; /* all of the bits are known to be */
    void *context;
    /* Where it sets t->fault the thread stops; once that is taken back it does the instruction. */
    void (*report)(struct zs_eu_thread *t, const struct zs_eu_undefined *undefined);
    /* Before a message is sent: what it brings into registers and takes from them; lane_mask as for
     * zs_eu_send_fn, not 0. */
    void (*message)(struct zs_eu_thread *t, const struct zs_eu_send *send, uint32_t lane_mask);
};

/* A thread begins with it (t->shadow): payload_B bytes of registers are defined. */
void zs_eu_shadow_begin(struct zs_eu_thread *t, struct zs_eu_shadow *shadow, uint32_t payload_B);
/*
 * A thread that reads nothing undefined, as long as messages bring it nothing undefined, needs no
 * shadow (t->shadow NULL): then it gets one that was cleared. Whether that holds for those of a
 * program that start with all lanes on, or with any, and payload_B defined bytes of registers, but
 * those behind the first of which `undefined` has bits.
 */
bool zs_eu_shadow_is_clean(const struct zs_eu_program *p, bool all, uint32_t payload_B,
                           uint32_t undefined);
void zs_eu_shadow_clear(struct zs_eu_shadow *shadow);
/* Registers of the thread have got a value from outside. */
static inline void zs_eu_shadow_define(struct zs_eu_thread *t, const void *registers, size_t size_B)
{
    if (t->shadow)
        memset(t->shadow->bits + ((const char *)registers - (const char *)t), 0, size_B);
}

/* Whether some bit of these bytes is set. */
static inline bool zs_eu_shadow_some(const uint8_t *at, uint32_t size_B)
{
    uint64_t bits = 0;
    __m128i wide = _mm_setzero_si128();
    for (; size_B >= 16; at += 16, size_B -= 16) {
        __m128i part;
        memcpy(&part, at, sizeof(part));
        wide = _mm_or_si128(wide, part);
    }
    for (; size_B >= 4; at += 4, size_B -= 4) {
        uint32_t part;
        memcpy(&part, at, sizeof(part));
        bits |= part;
    }
    for (; size_B; at++, size_B--)
        bits |= *at;
    int zeros = _mm_movemask_epi8(_mm_cmpeq_epi8(wide, _mm_setzero_si128()));
    return bits || zeros != 0xffff;
}

static inline void zs_eu_shadow_zero(uint8_t *at, uint32_t size_B)
{
    for (; size_B >= 16; at += 16, size_B -= 16)
        memset(at, 0, 16);
    for (; size_B >= 4; at += 4, size_B -= 4)
        memset(at, 0, 4);
    for (; size_B; at++, size_B--)
        *at = 0;
}

#endif
