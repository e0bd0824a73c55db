/* SPDX-License-Identifier: MIT */
#include "metrics/profile_priv.h"

#include <math.h>
#include <string.h>

static const struct peak_row {
    double half, single, twice; /* flop of a lane in a cycle */
    double matrix;              /* ... of dpas with elements of a dword */
    uint32_t l3_B, slm_B;       /* of a subslice in a cycle */
    uint32_t subslice_slm_B, barriers;
} rows[ZS_ISA_PLATFORM_COUNT] = {
#define PEAKS(platform, ...) [ZS_ISA_##platform] = {__VA_ARGS__},
#define PEAKS_OF(...)
#include "metrics/peaks.def"
#undef PEAKS
#undef PEAKS_OF
};

static const struct {
    const char *name;
    enum zs_isa_platform platform;
    struct peak_row row;
} rows_of[] = {
#define PEAKS(...)
#define PEAKS_OF(name, platform, ...) {name, ZS_ISA_##platform, {__VA_ARGS__}},
#include "metrics/peaks.def"
#undef PEAKS
#undef PEAKS_OF
};

static struct peak_row row_of(const char *name, enum zs_isa_platform platform)
{
    for (size_t i = 0; name && i < ZS_ARRAY_LEN(rows_of); i++)
        if (rows_of[i].platform == platform && strcmp(rows_of[i].name, name) == 0)
            return rows_of[i].row;
    return (unsigned)platform < ZS_ISA_PLATFORM_COUNT ? rows[platform] : (struct peak_row){0};
}

static double known(double value)
{
    return value > 0 ? value : (double)NAN;
}

struct zs_peaks profile_peaks(const struct zs_record_device_shape *s, const char *name,
                              enum zs_isa_platform platform)
{
    struct zs_peaks p = {.flop_rate = {NAN, NAN, NAN, NAN},
                         .matrix_rate = NAN,
                         .slm_rate = NAN,
                         .l3_rate = NAN,
                         .memory_rate = NAN};
    if (!s)
        return p;
    const struct peak_row row = row_of(name, platform);
    uint64_t subslices = (uint64_t)s->slices * s->subslices_per_slice;
    uint64_t eus = subslices * s->eus_per_subslice;
    p.known = true;
    p.clock_GHz = s->core_clock_MHz / 1e3;
    p.subslices = (uint32_t)ZS_MIN(subslices, (uint64_t)UINT32_MAX);
    p.eus = (uint32_t)ZS_MIN(eus, (uint64_t)UINT32_MAX);
    p.slot_count = s->eus_per_subslice * s->threads_per_eu;
    p.threads = (uint32_t)ZS_MIN(eus * s->threads_per_eu, (uint64_t)UINT32_MAX);
    /* OpenCL does not say it: a register's dwords */
    uint32_t width = s->simd_width ? s->simd_width : zs_isa_platform_info(platform)->grf_B / 4;
    double lanes = (double)eus * width * p.clock_GHz;
    p.flop_rate[ZS_HALF] = known(row.half * lanes);
    p.flop_rate[ZS_SINGLE] = known(row.single * lanes);
    p.flop_rate[ZS_DOUBLE] = known(row.twice * lanes);
    p.matrix_rate = known(row.matrix * lanes);
    p.l3_rate = known((double)row.l3_B * (double)subslices * p.clock_GHz);
    p.slm_rate = known((double)row.slm_B * (double)subslices * p.clock_GHz);
    p.memory_rate = known((double)s->memory_clock_MHz * s->memory_bus_bits / 8e3);
    p.subslice_slm_B = row.subslice_slm_B;
    p.subslice_barriers = row.barriers;
    return p;
}
