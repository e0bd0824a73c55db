/* SPDX-License-Identifier: MIT */
/*
 * Sources: IGA (MessageDecoderLSC.cpp, MessageDecoderHDC.cpp), visa/HWCaps.inc, getSamplerHeader()
 * of visa/VisaToG4/TranslateSendMedia.cpp of intel-graphics-compiler; Mesa's brw_eu_defines.h.
 */
#include "isa/generation.h"

#include "base/compiler.h"

enum {
    DF = ZS_CACHE_DEFAULT,
    UC = ZS_CACHE_UNCACHED,
    CA = ZS_CACHE_CACHED,
    WB = ZS_CACHE_WRITE_BACK,
    WT = ZS_CACHE_WRITE_THROUGH,
    ST = ZS_CACHE_STREAMING,
    RI = ZS_CACHE_READ_INVALIDATE,
    CC = ZS_CACHE_CONSTANT,
};
/* Bit 16 says nothing but in loads from Xe2 on. */
#define TWICE(l1, l3)                                                                              \
    {l1, l3},                                                                                      \
    {                                                                                              \
        l1, l3                                                                                     \
    }
static const struct zs_lsc_caching stores[ZS_LSC_CACHINGS] = {
    TWICE(DF, DF), TWICE(UC, UC), TWICE(UC, WB), TWICE(WT, UC),
    TWICE(WT, WB), TWICE(ST, UC), TWICE(ST, WB), TWICE(WB, WB)};
static const struct zs_lsc_caching loads[ZS_LSC_CACHINGS] = {
    TWICE(DF, DF), TWICE(UC, UC), TWICE(UC, CA), TWICE(CA, UC),
    TWICE(CA, CA), TWICE(ST, UC), TWICE(ST, CA), TWICE(RI, CA)};
static const struct zs_lsc_caching xe2_loads[ZS_LSC_CACHINGS] = {
    TWICE(DF, DF), TWICE(UC, UC), {UC, CA},      {UC, CC}, TWICE(CA, UC), {CA, CA},
    {CA, CC},      TWICE(ST, UC), TWICE(ST, CA), {RI, RI}, {RI, CA}};
_Static_assert(ZS_ARRAY_LEN(xe2_loads) == ZS_LSC_CACHINGS, "a row for each code");

static const struct zs_isa_generation rows[] = {
    {
        .first = ZS_ISA_GEN8,
        .last = ZS_ISA_GEN9,
        .grf_B = 32,
        .payload_lanes = 8,
        .typed_lanes = 8,
        .gateway_bits = 3,
        .has_images = true,
        .lsc_operations = 0x21, /* reserved, but listings name them */
        .loads = loads,
        .stores = stores,
    },
    {
        .first = ZS_ISA_GEN11,
        .last = ZS_ISA_XE_HP,
        .grf_B = 32,
        .payload_lanes = 8,
        .typed_lanes = 8,
        .gateway_bits = 3,
        .has_images = true,
        .has_sampler_handles = true,
        .lsc_operations = 0x21,
        .loads = loads,
        .stores = stores,
    },
    {
        .first = ZS_ISA_XE_HPG,
        .last = ZS_ISA_XE_HPG,
        .grf_B = 32,
        .payload_lanes = 8,
        .typed_lanes = 8,
        .gateway_bits = 3,
        .has_lsc = true,
        .has_images = true,
        .has_sampler_handles = true,
        .has_more_atomics = true,
        .lsc_operations = 0x21,
        .loads = loads,
        .stores = stores,
    },
    {
        .first = ZS_ISA_XE_HPC,
        .last = ZS_ISA_XE_HPC,
        .grf_B = 64,
        .payload_lanes = 16,
        .typed_lanes = 8,
        .gateway_bits = 3,
        .has_lsc = true,
        .has_remote = true,
        .has_sampler_handles = true,
        .has_numbered_barriers = true,
        .has_more_atomics = true,
        .lsc_operations = 0x21,
        .has_blocks2d = true,
        .loads = loads,
        .stores = stores,
    },
    {
        .first = ZS_ISA_XE2,
        .last = ZS_ISA_XE3P,
        .grf_B = 64,
        .payload_lanes = 16,
        .typed_lanes = 32,
        .gateway_bits = 4,
        .has_lsc = true,
        .has_remote = true,
        .has_images = true,
        .has_sampler_handles = true,
        .has_sampler_offsets = true,
        .has_numbered_barriers = true,
        .has_more_atomics = true,
        .lsc_operations = 0x40,
        .has_blocks2d = true,
        .has_typed_blocks2d = true,
        .has_offsets = true,
        .urb_is_lsc = true,
        .loads = xe2_loads,
        .stores = stores,
    },
};

const struct zs_isa_generation *zs_isa_generation(enum zs_isa_platform platform)
{
    for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        if (platform >= rows[i].first && platform <= rows[i].last)
            return &rows[i];
    }
    return NULL;
}
