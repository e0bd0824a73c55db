/* SPDX-License-Identifier: MIT */
/* Sets of metrics, and which of them a device has. */
#include "gpu/metric/metric.h"

#define C(id) 1 + ZS_METRIC_##id
#define S(at) 1 + (1 + (at))
#define A(id) S(ZS_GPU_ACCESS_##id)
static const struct zs_metric_row rows[] = {
#define ZS_METRIC_SET(id, where, domain, needs, name, description)
#define ZS_METRIC(set, name, description, component, tier, type, unit, how, ...)                   \
    {ZS_METRIC_SET_##set,                                                                          \
     name,                                                                                         \
     description,                                                                                  \
     component,                                                                                    \
     unit,                                                                                         \
     tier,                                                                                         \
     ZET_METRIC_TYPE_##type,                                                                       \
     ZS_HOW_##how,                                                                                 \
     (const uint16_t[]){__VA_ARGS__, 0}},
#include "gpu/metric/group.def"
#undef ZS_METRIC_SET
#undef ZS_METRIC
};
#undef C
#undef S
#undef A

static const uint16_t no_counters[] = {0};
const struct zs_metric_row zs_metric_stream_rows[2] = {
    {0, "QueryBeginTime", "The measurement begin time, on the device's clock.", "Report Meta Data",
     "ns", 4, ZET_METRIC_TYPE_TIMESTAMP, ZS_HOW_TIMESTAMP, no_counters},
    {0, "StreamMarker", "Value of the marker at which the report ended, 0: there was none.",
     "Report", "id", 4, ZET_METRIC_TYPE_EVENT, ZS_HOW_MARKER, no_counters},
};

enum needs {
    NEEDS_NOTHING,
    NEEDS_MODEL,
    NEEDS_ONE_SLICE,    /* and the model */
    NEEDS_STALL_SAMPLER /* likewise */
};
#define ZS_ISA_EVERY ZS_ISA_NONE
static const struct {
    enum zs_isa_platform where; /* ZS_ISA_NONE: on all */
    uint32_t domain;
    enum needs needs;
    const char *name, *description;
} sets[ZS_METRIC_SETS] = {
#define ZS_METRIC_SET(id, where, domain, needs, name, description)                                 \
    {ZS_ISA_##where, domain, NEEDS_##needs, name, description},
#define ZS_METRIC(set, ...)
#include "gpu/metric/group.def"
#undef ZS_METRIC_SET
#undef ZS_METRIC
};

static bool names(const struct zs_metric_row *row, uint32_t counter)
{
    const uint16_t *c = row->counters;
    while (*c && *c != counter + 1)
        c++;
    return *c != 0;
}

static bool names_all_of(const struct zs_metric_row *row, const struct zs_metric_row *other)
{
    for (const uint16_t *c = other->counters; *c; c++)
        if (!names(row, *c - 1u))
            return false;
    return true;
}

bool zs_metric_same_counters(const struct zs_metric_row *a, const struct zs_metric_row *b)
{
    return names_all_of(a, b) && names_all_of(b, a);
}

/* Whether it is known without the model of time. */
static bool is_plain(const struct zs_metric_row *row)
{
    for (const uint16_t *c = row->counters; *c; c++)
        if (*c > ZS_METRIC_TIMING_FIRST)
            return false;
    return row->how != ZS_HOW_IPC && row->how != ZS_HOW_SECTOR_USE && row->how != ZS_HOW_REPLAYED &&
           row->how != ZS_HOW_ESTIMATE_ERROR && !names(row, ZS_METRIC_unmodelled);
}

/* Counters that nothing in the device moves: it has no such cache, pipe or subslice. */
static void find_lacking(const struct zs_gpu_model *model, bool ret[static ZS_METRIC_COUNTERS])
{
    static const uint16_t of_subslice[][3] = {
#define M(id) ZS_METRIC_##id
        {M(sampler_busy0), M(port_stalled0), M(dispatching0)},
        {M(sampler_busy1), M(port_stalled1), M(dispatching1)},
        {M(sampler_busy2), M(port_stalled2), M(dispatching2)},
    };
    static const uint16_t arguments[] = {M(argument_messages), M(argument_bytes_read),
                                         M(argument_sectors)};
    static const uint16_t images[] = {
        M(typed_messages),   M(typed_bytes_read), M(typed_bytes_written), M(typed_sectors),
        M(sampler_messages), M(sampler_texels),   M(sampler_sectors),     M(sampler_hits),
        M(sampler_misses),   M(sampler_busy)};
    _Static_assert(ZS_METRIC_slm_conflicts - ZS_METRIC_global_sectors == ZS_GPU_ACCESSES - 1,
                   "counters by instruction stand side by side");
    for (uint32_t i = 0; i < ZS_GPU_ACCESSES; i++)
        ret[ZS_METRIC_global_sectors + i] = zs_gpu_model_lacks(model) >> i & 1;
    for (uint32_t i = model->subslices_per_slice; i < ZS_ARRAY_LEN(of_subslice); i++)
        for (uint32_t k = 0; k < ZS_ARRAY_LEN(of_subslice[i]); k++)
            ret[of_subslice[i][k]] = true;
    if (model->platform < ZS_ISA_XE_HP)
        ret[M(xmx_active)] = ret[M(fpu0_xmx_active)] = true;
    for (uint32_t i = 0; i < ZS_ARRAY_LEN(arguments) && !model->loads_payload; i++)
        ret[arguments[i]] = true;
    for (uint32_t i = 0; i < ZS_ARRAY_LEN(images) && model->no_images; i++)
        ret[images[i]] = true;
#undef M
}

/* As rows of the set name them. */
static void find_lacking_in(const struct zs_gpu_model *model, enum zs_metric_set set,
                            bool ret[static ZS_METRIC_COUNTERS])
{
    enum zs_metric_by_address kind = zs_metric_by_address(set);
    memset(ret, 0, ZS_METRIC_COUNTERS * sizeof(*ret));
    if (kind == ZS_METRIC_BY_ADDRESS)
        find_lacking(model, ret);
    for (uint32_t i = 0; i < ZS_GPU_ACCESSES && kind == ZS_METRIC_MEMORY_BY_ADDRESS; i++)
        ret[1 + i] = zs_gpu_model_lacks(model) >> i & 1;
}

static bool is_missing(const struct zs_metric_row *row, const bool *missing)
{
    const uint16_t *c = row->counters;
    while (*c && missing[*c - 1])
        c++;
    return c != row->counters && !*c;
}

static enum zs_isa_platform named_like(enum zs_isa_platform platform)
{
    return platform >= ZS_ISA_XE3 ? ZS_ISA_XE2 : platform;
}

bool zs_metric_set_is_of(const struct zs_gpu_model *model, enum zs_metric_set set, bool timed)
{
    return (sets[set].where == ZS_ISA_EVERY || sets[set].where == named_like(model->platform)) &&
           (sets[set].needs == NEEDS_NOTHING || timed) &&
           (sets[set].needs != NEEDS_ONE_SLICE || model->slices == 1) &&
           (sets[set].needs != NEEDS_STALL_SAMPLER || model->stall_sampler);
}

const char *zs_metric_set_name(enum zs_metric_set set)
{
    return sets[set].name;
}

const char *zs_metric_set_description(enum zs_metric_set set)
{
    return sets[set].description;
}

uint32_t zs_metric_set_domain(enum zs_metric_set set)
{
    return sets[set].domain;
}

uint32_t zs_metric_domain_number(uint32_t domain)
{
    enum { INTELS_BY_ADDRESS = 100 };
    return domain == sets[ZS_METRIC_SET_EU_STALL_SAMPLING].domain ? INTELS_BY_ADDRESS : domain;
}

uint32_t zs_metric_rows(const struct zs_gpu_model *model, enum zs_metric_set set,
                        zet_metric_group_sampling_type_flags_t sampling, bool timed,
                        const struct zs_metric_row *ret[static ZS_METRIC_ROWS_MAX])
{
    bool missing[ZS_METRIC_COUNTERS];
    find_lacking_in(model, set, missing);
    uint32_t count = 0;
    for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++)
        if (rows[i].set == set && (timed || is_plain(&rows[i])) && !is_missing(&rows[i], missing))
            ret[count++] = &rows[i];
    bool streams =
        sampling == ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED && !zs_metric_is_by_address(set);
    for (size_t i = 0; i < ZS_ARRAY_LEN(zs_metric_stream_rows) && streams; i++)
        ret[count++] = &zs_metric_stream_rows[i];
    zs_assert(count <= ZS_METRIC_ROWS_MAX);
    return count;
}

bool zs_metric_is_doubt(const struct zs_metric_row *row)
{
    return row->how == ZS_HOW_REPLAYED || row->how == ZS_HOW_ESTIMATE_ERROR;
}

uint32_t zs_metric_doubt_rows(const struct zs_metric_row **ret)
{
    uint32_t count = 0;
    for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++)
        if (rows[i].set == ZS_METRIC_SET_MEMORY && zs_metric_is_doubt(&rows[i]))
            ret[count++] = &rows[i];
    return count;
}
