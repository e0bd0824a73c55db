/* SPDX-License-Identifier: MIT */
/* What a device is and has. */
#include "drm/i915.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int zs_drm_getparam(struct zs_drm_file *file, void *argument)
{
    const struct zs_gpu_model *model = file->node->model;
    const struct drm_i915_getparam *g = argument;
    const struct {
        int param;
        uint64_t value;
    } params[] = {
        {I915_PARAM_CHIPSET_ID, model->device_id},
        {I915_PARAM_REVISION, model->revision},
        {I915_PARAM_HAS_EXEC_SOFTPIN, 1},
        {I915_PARAM_HAS_EXEC_NO_RELOC, 1},
        {I915_PARAM_HAS_EXEC_HANDLE_LUT, 1},
        {I915_PARAM_HAS_ALIASING_PPGTT, 3}, /* full, of 48 bits */
        {I915_PARAM_HAS_LLC, model->integrated},
        {I915_PARAM_HAS_POOLED_EU, 0},
        {I915_PARAM_MIN_EU_IN_POOL, 0},
        {I915_PARAM_EU_TOTAL, zs_gpu_model_eus(model)},
        {I915_PARAM_SUBSLICE_TOTAL, model->slices * model->subslices_per_slice},
        {I915_PARAM_HAS_SCHEDULER,
         I915_SCHEDULER_CAP_ENABLED | I915_SCHEDULER_CAP_PRIORITY | I915_SCHEDULER_CAP_PREEMPTION},
        {I915_PARAM_CS_TIMESTAMP_FREQUENCY, model->timer_Hz},
        {I915_PARAM_HAS_USERPTR_PROBE, 1},
    };
    for (size_t i = 0; i < ZS_ARRAY_LEN(params); i++) {
        int value = (int)params[i].value;
        if (params[i].param == g->param)
            return zs_drm_copy_out((uintptr_t)g->value, &value, sizeof(value));
    }
    zs_drm_log(ZS_DRM_DEBUG, "getparam %d is not known", g->param);
    return -EINVAL;
}

/* The render engine's timestamp; its low bits say how it is read. */
int zs_drm_reg_read(struct zs_drm_file *file, void *argument)
{
    enum { TIMESTAMP = 0x2358 };
    struct drm_i915_reg_read *r = argument;
    const struct zs_gpu_model *model = file->node->model;
    struct zs_gpu_device *device = zs_drm_node_device(file->node);
    if ((r->offset & ~7ull) != TIMESTAMP || !device)
        return -EINVAL;
    r->val = zs_gpu_clock_ticks(device) & ((UINT64_C(1) << model->timestamp_bits) - 1);
    return 0;
}

int zs_drm_reset_stats(struct zs_drm_file *file, void *argument)
{
    struct drm_i915_reset_stats *r = argument;
    const struct zs_drm_context *context = zs_drm_context(file, r->ctx_id);
    if (!context || r->flags)
        return context ? -EINVAL : -ENOENT;
    r->reset_count = 0;
    r->batch_active = context->resets;
    r->batch_pending = context->lost;
    return 0;
}

/* ---- queries -----------------------------------------------------------------------------------
 */

static size_t put_engines(const struct zs_drm_node *node, uint8_t *to)
{
    struct drm_i915_query_engine_info *info = (void *)to;
    struct zs_drm_engine engines[ZS_DRM_ENGINES_MAX];
    info->num_engines = zs_drm_engines(node, engines);
    for (uint32_t i = 0; i < info->num_engines; i++) {
        info->engines[i].engine.engine_class = engines[i].class;
        info->engines[i].engine.engine_instance = engines[i].instance;
    }
    return sizeof(*info) + info->num_engines * sizeof(info->engines[0]);
}

static void set_bits(uint8_t *to, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        to[i / 8] = (uint8_t)(to[i / 8] | 1u << i % 8);
}

static uint16_t bytes_of(uint32_t bits)
{
    return (uint16_t)((bits + 7) / 8);
}

static size_t put_topology(const struct zs_drm_node *node, uint8_t *to)
{
    const struct zs_gpu_model *model = node->model;
    struct drm_i915_query_topology_info *t = (void *)to;
    t->max_slices = (uint16_t)model->slices;
    t->max_subslices = (uint16_t)model->subslices_per_slice;
    t->max_eus_per_subslice = (uint16_t)model->eus_per_subslice;
    t->subslice_offset = bytes_of(model->slices);
    t->subslice_stride = bytes_of(model->subslices_per_slice);
    t->eu_offset = (uint16_t)(t->subslice_offset + model->slices * t->subslice_stride);
    t->eu_stride = bytes_of(model->eus_per_subslice);
    set_bits(t->data, model->slices);
    for (uint32_t s = 0; s < model->slices; s++) {
        set_bits(t->data + t->subslice_offset + s * t->subslice_stride, model->subslices_per_slice);
        for (uint32_t i = 0; i < model->subslices_per_slice; i++)
            set_bits(t->data + t->eu_offset +
                         (s * model->subslices_per_slice + i) * (size_t)t->eu_stride,
                     model->eus_per_subslice);
    }
    return sizeof(*t) + t->eu_offset +
           (size_t)model->slices * model->subslices_per_slice * t->eu_stride;
}

static size_t put_regions(const struct zs_drm_node *node, uint8_t *to)
{
    struct drm_i915_query_memory_regions *m = (void *)to;
    m->num_regions = node->model->integrated ? 1 : 2;
    for (uint32_t i = 0; i < m->num_regions; i++) {
        m->regions[i].region.memory_class = i ? I915_MEMORY_CLASS_DEVICE : I915_MEMORY_CLASS_SYSTEM;
        m->regions[i].probed_size = m->regions[i].unallocated_size = node->model->memory_B;
    }
    return sizeof(*m) + m->num_regions * sizeof(m->regions[0]);
}

/* Firmware has it from XeHPG on. */
static size_t put_hwconfig(const struct zs_drm_node *node, uint8_t *to)
{
    return node->model->platform >= ZS_ISA_XE_HPG ? zs_drm_put_hwconfig(node, to) : 0;
}

/* A length of 0 asks for it; errors are lengths below 0. */
static int query_item(const struct zs_drm_node *node, struct drm_i915_query_item *item)
{
    enum { ROOM_B = 16 << 10 };
    static const struct {
        uint64_t id;
        size_t (*put)(const struct zs_drm_node *node, uint8_t *to);
    } rows[] = {{DRM_I915_QUERY_TOPOLOGY_INFO, put_topology},
                {DRM_I915_QUERY_ENGINE_INFO, put_engines},
                {DRM_I915_QUERY_MEMORY_REGIONS, put_regions},
                {DRM_I915_QUERY_HWCONFIG_BLOB, put_hwconfig}};
    uint8_t *data = calloc(1, ROOM_B);
    if (!data)
        return -ENOMEM;
    int error = 0;
    size_t size_B = 0;
    for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        if (rows[i].id == item->query_id)
            size_B = rows[i].put(node, data);
    }
    int32_t room = item->length;
    item->length = size_B ? (int32_t)size_B : -EINVAL;
    if (!size_B)
        zs_drm_log(ZS_DRM_DEBUG, "query %" PRIu64 " is not known", (uint64_t)item->query_id);
    else if (room && room < (int32_t)size_B)
        item->length = -EINVAL;
    else if (room)
        error = zs_drm_copy_out(item->data_ptr, data, size_B);
    free(data);
    return error;
}

int zs_drm_query(struct zs_drm_file *file, void *argument)
{
    const struct drm_i915_query *q = argument;
    int error = q->flags ? -EINVAL : 0;
    for (uint32_t i = 0; i < q->num_items && !error; i++) {
        struct drm_i915_query_item item;
        uint64_t at = q->items_ptr + i * sizeof(item);
        error = zs_drm_copy_in(&item, at, sizeof(item));
        if (!error)
            error = query_item(file->node, &item);
        if (!error)
            error = zs_drm_copy_out(at, &item, sizeof(item));
    }
    return error;
}
