/* SPDX-License-Identifier: MIT */
/*
 * What messages of a generation are like: how payloads stand in registers, which messages and forms
 * there are, what cache controls say. A new generation is a row of generation.c. Who decodes a
 * message (for text or to carry it out) asks its row, not its platform or the size of its
 * registers.
 */
#ifndef ZS_ISA_GENERATION_H
#define ZS_ISA_GENERATION_H

#include <zescope/isa.h>

/* Of load/store cache messages, by descriptor bits 19:16. */
struct zs_lsc_caching {
    uint8_t l1, l3; /* enum zs_isa_cache */
};
enum { ZS_LSC_CACHINGS = 16 };

struct zs_isa_generation {
    enum zs_isa_platform first, last;
    /* payloads */
    uint8_t grf_B;         /* bytes of a register: each operand begins in one of its own */
    uint8_t payload_lanes; /* messages of fewer lanes have room for as many */
    uint8_t typed_lanes;   /* of messages with coordinates */
    /* functions */
    bool has_lsc;             /* load/store cache messages, and offsets without a surface are */
                              /* those of the threads' arguments */
    bool has_remote;          /* ... to memory of another tile (ugml) */
    bool has_images;          /* typed messages and a sampler */
    bool has_sampler_handles; /* bit 0 of the sampler state pointer in headers may be set */
    bool has_sampler_offsets; /* types of sampler messages have a sixth bit: offsets of texels */
    bool has_numbered_barriers;
    uint8_t gateway_bits;  /* of a function's number */
    bool has_more_atomics; /* of halves, and sums of floats */
    /* load/store cache messages */
    uint8_t lsc_operations; /* the first that there is not */
    bool has_blocks2d;      /* blocks of two dimensions */
    bool has_typed_blocks2d;
    bool has_offsets; /* an offset of all addresses in the extended descriptor */
    bool urb_is_lsc;
    const struct zs_lsc_caching *loads, *stores; /* ZS_LSC_CACHINGS */
};

/* NULL: there is no such platform. */
const struct zs_isa_generation *zs_isa_generation(enum zs_isa_platform platform);

#endif
