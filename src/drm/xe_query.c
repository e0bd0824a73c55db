/* SPDX-License-Identifier: MIT */
/* What a device is and has. */
#include "drm/xe.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROOM_B = 16 << 10 };

static uint32_t tiles_of(const struct zs_drm_node *node)
{
    return ZS_MAX(node->model->tiles, 1u);
}

static size_t put_config(const struct zs_drm_node *node, uint8_t *to)
{
    const struct zs_gpu_model *model = node->model;
    struct zs_xe_config config = {
        .device_and_revision = model->device_id | (uint64_t)model->revision << 16,
        .flags = model->integrated ? 0 : ZS_XE_CONFIG_HAS_VRAM,
        .alignment_B = model->integrated ? 4096 : 65536,
        .address_bits = node->says->address_bits,
        .priority_max = 2,
    };
    const struct zs_xe_count count = {.count = sizeof(config) / sizeof(uint64_t)};
    memcpy(to, &count, sizeof(count));
    memcpy(to + sizeof(count), &config, sizeof(config));
    return sizeof(count) + sizeof(config);
}

static size_t put_engines(const struct zs_drm_node *node, uint8_t *to)
{
    struct zs_xe_count *count = (void *)to;
    struct zs_xe_engine_info *info = (void *)(to + sizeof(*count));
    struct zs_drm_engine engines[ZS_DRM_ENGINES_MAX];
    uint32_t of_tile = zs_drm_engines(node, engines);
    for (uint32_t tile = 0; tile < tiles_of(node); tile++) {
        for (uint32_t i = 0; i < of_tile; i++)
            info[count->count++].engine =
                (struct zs_xe_engine){engines[i].class, engines[i].instance, (uint16_t)tile, 0};
    }
    return sizeof(*count) + count->count * sizeof(*info);
}

/* Region 0 is the host's memory; each tile has one of its own. */
static size_t put_regions(const struct zs_drm_node *node, uint8_t *to)
{
    const struct zs_gpu_model *model = node->model;
    struct zs_xe_count *count = (void *)to;
    struct zs_xe_region *regions = (void *)(to + sizeof(*count));
    count->count = model->integrated ? 1 : 1 + tiles_of(node);
    regions[0] = (struct zs_xe_region){.page_B = 4096, .size_B = model->memory_B};
    for (uint32_t i = 1; i < count->count; i++) {
        uint64_t size_B = model->memory_B / tiles_of(node);
        regions[i] = (struct zs_xe_region){.class = 1,
                                           .instance = (uint16_t)i,
                                           .page_B = 65536,
                                           .size_B = size_B,
                                           .visible_B = size_B};
    }
    return sizeof(*count) + count->count * sizeof(*regions);
}

static size_t put_gts(const struct zs_drm_node *node, uint8_t *to)
{
    struct zs_xe_count *count = (void *)to;
    struct zs_xe_gt *gts = (void *)(to + sizeof(*count));
    count->count = tiles_of(node);
    uint64_t regions = (UINT64_C(2) << (node->model->integrated ? 0 : count->count)) - 1;
    for (uint32_t i = 0; i < count->count; i++) {
        gts[i] = (struct zs_xe_gt){
            .tile = (uint16_t)i, .id = (uint16_t)i, .clock_Hz = node->model->timer_Hz};
        gts[i].near_regions = node->model->integrated ? 1 : UINT64_C(2) << i;
        gts[i].far_regions = regions & ~gts[i].near_regions;
        memcpy(gts[i].ip, node->says->ip, sizeof(gts[i].ip));
    }
    return sizeof(*count) + count->count * sizeof(*gts);
}

/* ---- the table of the firmware -----------------------------------------------------------------
 * Words: what, how many words follow, those. Intel's "hwconfig", numbers as Mesa's and
 * compute-runtime's readers have them.
 */

enum hwconfig {
    MAX_SLICES = 1,
    MAX_DUAL_SUBSLICES = 2,
    MAX_EUS_PER_DUAL_SUBSLICE = 3,
    THREADS_PER_EU = 15,
    RENDER_ENGINES = 23,
    COMPUTE_ENGINES = 24,
    L3_BANK_KB = 64,
    SLM_KB = 65,
    HBM_STACKS = 74,
};

size_t zs_drm_put_hwconfig(const struct zs_drm_node *node, uint8_t *to)
{
    const struct zs_gpu_model *model = node->model;
    const struct zs_drm_device *says = node->says;
    uint32_t slices = model->slices / tiles_of(node);
    const uint32_t rows[][2] = {
        {MAX_SLICES, slices},
        {MAX_DUAL_SUBSLICES, slices * model->subslices_per_slice},
        {MAX_EUS_PER_DUAL_SUBSLICE, model->eus_per_subslice},
        {THREADS_PER_EU, model->threads_per_eu},
        {RENDER_ENGINES, says->render},
        {COMPUTE_ENGINES, says->compute},
        {L3_BANK_KB,
         says->l3_banks ? model->l3_cache_B / tiles_of(node) / says->l3_banks >> 10 : 0},
        {SLM_KB, model->slm_B >> 10},
        {HBM_STACKS, says->hbm_stacks},
    };
    uint32_t *words = (void *)to, count = 0;
    for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        if (!rows[i][1])
            continue;
        words[count++] = rows[i][0];
        words[count++] = 1;
        words[count++] = rows[i][1];
    }
    return count * sizeof(*words);
}

static uint64_t ones(uint32_t count)
{
    return count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
}

static size_t put_topology(const struct zs_drm_node *node, uint8_t *to)
{
    const struct zs_gpu_model *model = node->model;
    uint32_t subslices = model->slices / tiles_of(node) * model->subslices_per_slice;
    const struct {
        uint16_t type;
        uint64_t mask;
    } rows[] = {
        {ZS_XE_DSS_GEOMETRY, node->says->render ? ones(subslices) : 0},
        {ZS_XE_DSS_COMPUTE, node->says->compute ? ones(subslices) : 0},
        {ZS_XE_L3_BANK, ones(node->says->l3_banks)},
        {node->says->wide_eus ? ZS_XE_SIMD16_EU_PER_DSS : ZS_XE_EU_PER_DSS,
         ones(model->eus_per_subslice)},
    };
    struct zs_xe_topology *t = (void *)to;
    for (uint32_t tile = 0; tile < tiles_of(node); tile++) {
        for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++, t++) {
            *t = (struct zs_xe_topology){
                .gt = (uint16_t)tile, .type = rows[i].type, .size_B = sizeof(t->mask)};
            memcpy(t->mask, &rows[i].mask, sizeof(t->mask));
        }
    }
    return (size_t)((uint8_t *)t - to);
}

/* ---- the call ----------------------------------------------------------------------------------
 */

/* Its argument says which engine and which clock. */
static int engine_cycles(struct zs_drm_file *file, struct zs_xe_query *q)
{
    struct zs_xe_engine_cycles c;
    struct zs_gpu_device *device = zs_drm_node_device(file->node);
    struct timespec now;
    if (!q->size_B) {
        q->size_B = sizeof(c);
        return 0;
    }
    int error = q->size_B < sizeof(c) || !device ? -EINVAL : zs_drm_copy_in(&c, q->data, sizeof(c));
    if (error)
        return error;
    static const int clocks[] = {CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_REALTIME,
                                 CLOCK_BOOTTIME, CLOCK_TAI};
    bool is_known = false;
    for (size_t i = 0; i < ZS_ARRAY_LEN(clocks); i++)
        is_known |= clocks[i] == c.clock;
    if (!is_known || clock_gettime(c.clock, &now))
        return -EINVAL;
    c.width = file->node->model->timestamp_bits;
    c.cpu_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    c.cpu_delta_ns = 0;
    c.cycles = zs_gpu_clock_ticks(device) & ones(c.width);
    return zs_drm_copy_out(q->data, &c, sizeof(c));
}

int zs_drm_xe_query(struct zs_drm_file *file, void *argument)
{
    static const struct {
        uint32_t id;
        size_t (*put)(const struct zs_drm_node *node, uint8_t *to);
    } rows[] = {{ZS_XE_QUERY_ENGINES, put_engines},
                {ZS_XE_QUERY_MEM_REGIONS, put_regions},
                {ZS_XE_QUERY_CONFIG, put_config},
                {ZS_XE_QUERY_GT_LIST, put_gts},
                {ZS_XE_QUERY_HWCONFIG, zs_drm_put_hwconfig},
                {ZS_XE_QUERY_GT_TOPOLOGY, put_topology},
                {ZS_XE_QUERY_EU_STALL, zs_drm_xe_put_stalls}};
    struct zs_xe_query *q = argument;
    if (q->extensions)
        return -EINVAL;
    if (q->query == ZS_XE_QUERY_ENGINE_CYCLES)
        return engine_cycles(file, q);
    size_t row = 0;
    while (row < ZS_ARRAY_LEN(rows) && rows[row].id != q->query)
        row++;
    if (row == ZS_ARRAY_LEN(rows) ||
        (q->query == ZS_XE_QUERY_EU_STALL && !zs_drm_xe_has_stalls(file->node))) {
        zs_drm_log(ZS_DRM_DEBUG, "query %" PRIu32 " is not known", q->query);
        return -EINVAL;
    }
    uint8_t *data = calloc(1, ROOM_B);
    if (!data)
        return -ENOMEM;
    uint32_t size_B = (uint32_t)rows[row].put(file->node, data);
    int error = 0;
    if (!q->size_B)
        q->size_B = size_B;
    else if (q->size_B != size_B)
        error = -EINVAL;
    else
        error = zs_drm_copy_out(q->data, data, size_B);
    free(data);
    return error;
}
