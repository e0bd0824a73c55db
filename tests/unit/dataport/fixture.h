/* SPDX-License-Identifier: MIT */
/* Messages executed on a small memory, without an interpreter. */
#ifndef ZS_TESTS_SEND_FIXTURE_H
#define ZS_TESTS_SEND_FIXTURE_H

#include "../test.h"

#include "dataport/dataport.h"

#include <stdlib.h>
#include <string.h>

enum { MEMORY_B = 4096, SLM_B = 2048, SCRATCH_SLOT_B = 2048, GRF_B = 32 };

struct fixture {
    struct zs_port port;
    _Alignas(64) uint8_t memory[MEMORY_B];
    _Alignas(64) uint8_t slm[SLM_B];
    _Alignas(64) uint8_t scratch[4 * SCRATCH_SLOT_B];
    struct zs_port_node node;
    struct zs_port_surface surfaces[4]; /* 0: memory as a buffer, 1: null, 2: image, 3: freed */
    struct zs_port_sampler samplers[2];
    uint8_t src0[16 * GRF_B], src1[16 * GRF_B], dst[32 * GRF_B];
    struct zs_port_message message;
    const struct zs_port_message_row *row;
    enum zs_isa_platform platform; /* NONE: Gen9 */
};

/* Where messages find the memory: elsewhere than the host in a second build of the tests. */
#ifndef BIAS
#define BIAS 0
#endif
static inline uint64_t address_of(const struct fixture *f)
{
    return (uint64_t)(uintptr_t)f->memory - (uint64_t)BIAS;
}

/* xorshift: the same numbers on every machine */
static inline uint32_t random_u32(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (uint32_t)(*state >> 16);
}

static inline void fill_random(void *data, size_t size_B, uint64_t *seed)
{
    for (size_t i = 0; i < size_B; i += 4) {
        uint32_t word = random_u32(seed);
        memcpy((uint8_t *)data + i, &word, ZS_MIN(size_B - i, sizeof(word)));
    }
}

static inline void fixture_init(struct fixture *f, uint64_t *seed)
{
    memset(f, 0, sizeof(*f));
    fill_random(f->memory, sizeof(f->memory), seed);
    fill_random(f->slm, sizeof(f->slm), seed);
    fill_random(f->scratch, sizeof(f->scratch), seed);
    fill_random(f->dst, sizeof(f->dst), seed);
    fill_random(f->src0, sizeof(f->src0), seed);
    fill_random(f->src1, sizeof(f->src1), seed);
    f->node.range = (struct zs_port_range){
        .start = address_of(f), .end = address_of(f) + MEMORY_B, .bias = BIAS};
    f->surfaces[0] = (struct zs_port_surface){.kind = ZS_PORT_SURFACE_BUFFER,
                                              .base = f->memory,
                                              .gpu_va = address_of(f),
                                              .size_B = MEMORY_B};
    f->surfaces[3] = (struct zs_port_surface){
        .kind = ZS_PORT_SURFACE_FREED, .base = f->memory, .gpu_va = address_of(f)};
    f->port.map = (struct zs_port_map){&f->node};
    f->port.surfaces = f->surfaces;
    f->port.surface_count = 4;
    f->port.samplers = f->samplers;
    f->port.sampler_count = 2;
    f->port.slm = f->slm;
    f->port.slm_B = SLM_B;
    f->port.scratch = f->scratch;
    f->port.scratch_start = f->port.scratch_bias = SCRATCH_SLOT_B;
    f->port.scratch_end = 2 * SCRATCH_SLOT_B;
}

/* What was written is remembered only of memory at the host's addresses. */
static inline void fixture_unbias(struct fixture *f)
{
    f->node.range.start += BIAS;
    f->node.range.end += BIAS;
    f->node.range.bias = 0;
    for (uint32_t i = 0; i < f->port.surface_count; i++)
        f->surfaces[i].gpu_va += f->surfaces[i].gpu_va ? BIAS : 0;
}

/* The first platform from XeHPG on that has such registers. */
static inline const struct zs_isa_generation *later(uint32_t grf_B)
{
    return zs_isa_generation(grf_B == 32 ? ZS_ISA_XE_HPG : ZS_ISA_XE_HPC);
}

static inline int decode(struct fixture *f, uint32_t sfid, uint32_t desc, uint32_t mlen,
                         uint32_t xlen, uint32_t rlen)
{
    struct zs_diag diag = {0};
    const struct zs_isa_send send = {
        .sfid = sfid,
        .desc = desc,
        .mlen = mlen,
        .xlen = xlen,
        .rlen = rlen,
        .generation = zs_isa_generation(f->platform ? f->platform : ZS_ISA_GEN9)};
    int error = zs_port_message_decode(&send, &f->message, &f->row, &diag);
    if (error)
        assert_true(diag.text[0] != '\0');
    return error;
}

static inline bool run(struct fixture *f, uint32_t mask)
{
    memset(&f->port.fault, 0, sizeof(f->port.fault));
    return f->row->run(&f->port, &f->message, f->dst, f->src0, f->src1, mask);
}

#endif
