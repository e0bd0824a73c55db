/* SPDX-License-Identifier: MIT */
/* What a dispatch writes into a thread's payload: sizes, counts, addresses, local ids. */
#include "gpu/gpu_priv.h"

typedef uint64_t value_fn(const struct zs_gpu_dispatch *d, uint32_t dim);

uint32_t zs_gpu_work_dimensions(const struct zs_gpu_launch *launch)
{
    for (uint32_t dim = 2; dim > 0; dim--) {
        if ((uint64_t)launch->group_count[dim] * launch->group_size[dim] > 1)
            return dim + 1;
    }
    return 1;
}

static uint64_t local_size(const struct zs_gpu_dispatch *d, uint32_t dim)
{
    return d->launch->group_size[dim];
}
static uint64_t global_size(const struct zs_gpu_dispatch *d, uint32_t dim)
{
    return (uint64_t)d->launch->group_count[dim] * d->launch->group_size[dim];
}
static uint64_t group_count(const struct zs_gpu_dispatch *d, uint32_t dim)
{
    return d->launch->group_count[dim];
}
static uint64_t global_offset(const struct zs_gpu_dispatch *d, uint32_t dim)
{
    return d->launch->global_offset[dim];
}
static uint64_t work_dimensions(const struct zs_gpu_dispatch *d, uint32_t dim)
{
    return zs_gpu_work_dimensions(d->launch);
}
static uint64_t hardware_threads(const struct zs_gpu_dispatch *d, uint32_t dim)
{
    return d->threads_per_group;
}
static uint64_t max_group_size(const struct zs_gpu_dispatch *d, uint32_t dim)
{
    return d->launch->kernel->device->model->max_group_items;
}
static uint64_t simd_size(const struct zs_gpu_dispatch *d, uint32_t dim)
{
    return d->launch->kernel->module->simd;
}
static uint64_t slm_size(const struct zs_gpu_dispatch *d, uint32_t dim)
{
    return d->slm_B;
}
static uint64_t private_size(const struct zs_gpu_dispatch *d, uint32_t dim)
{
    return d->private_B;
}
static uint64_t private_base(const struct zs_gpu_dispatch *d, uint32_t dim)
{
    return d->private_va;
}
static uint64_t printf_buffer(const struct zs_gpu_dispatch *d, uint32_t dim)
{
    return d->printf_va;
}
static uint64_t printf_size(const struct zs_gpu_dispatch *d, uint32_t dim)
{
    return d->launch->printf_size_B;
}
static uint64_t const_base(const struct zs_gpu_dispatch *d, uint32_t dim)
{
    return d->launch->kernel->constant_va;
}
static uint64_t global_base(const struct zs_gpu_dispatch *d, uint32_t dim)
{
    return d->launch->kernel->global_va;
}
static uint64_t implicit_args(const struct zs_gpu_dispatch *d, uint32_t dim)
{
    return d->implicit_va;
}
static uint64_t local_id_buffer(const struct zs_gpu_dispatch *d, uint32_t dim)
{
    return d->local_ids_va;
}
static uint64_t indirect_data(const struct zs_gpu_dispatch *d, uint32_t dim)
{
    return d->indirect_va;
}
static uint64_t scratch_state(const struct zs_gpu_dispatch *d, uint32_t dim)
{
    return ZS_PORT_SCRATCH_STATE;
}
static uint64_t sync_buffer(const struct zs_gpu_dispatch *d, uint32_t dim)
{
    return d->sync_va;
}

static value_fn *const values[ZS_PAYLOAD_COUNT] = {
    [ZS_PAYLOAD_LOCAL_SIZE] = local_size,
    [ZS_PAYLOAD_ENQUEUED_LOCAL_SIZE] = local_size,
    [ZS_PAYLOAD_GLOBAL_SIZE] = global_size,
    [ZS_PAYLOAD_GROUP_COUNT] = group_count,
    [ZS_PAYLOAD_GLOBAL_OFFSET] = global_offset,
    [ZS_PAYLOAD_WORK_DIMENSIONS] = work_dimensions,
    [ZS_PAYLOAD_HARDWARE_THREADS] = hardware_threads,
    [ZS_PAYLOAD_MAX_GROUP_SIZE] = max_group_size,
    [ZS_PAYLOAD_PREFERRED_MULTIPLE] = simd_size,
    [ZS_PAYLOAD_SIMD_SIZE] = simd_size,
    [ZS_PAYLOAD_SLM_WINDOW_SIZE] = slm_size,
    [ZS_PAYLOAD_PRIVATE_SIZE] = private_size,
    [ZS_PAYLOAD_PRIVATE_BASE] = private_base,
    [ZS_PAYLOAD_PRINTF_BUFFER] = printf_buffer,
    [ZS_PAYLOAD_PRINTF_SIZE] = printf_size,
    [ZS_PAYLOAD_CONST_BASE] = const_base,
    [ZS_PAYLOAD_GLOBAL_BASE] = global_base,
    [ZS_PAYLOAD_IMPLICIT_ARGS] = implicit_args,
    [ZS_PAYLOAD_LOCAL_ID_BUFFER] = local_id_buffer,
    [ZS_PAYLOAD_SYNC_BUFFER] = sync_buffer,
    [ZS_PAYLOAD_INDIRECT_DATA] = indirect_data,
    [ZS_PAYLOAD_SCRATCH_POINTER] = scratch_state,
};

void zs_gpu_payload_patch(const struct zs_gpu_dispatch *dispatch, uint8_t *cross_thread)
{
    const struct zs_kernel *m = dispatch->launch->kernel->module;
    for (uint32_t i = 0; i < m->payload_count; i++) {
        const struct zs_payload *field = &m->payload[i];
        if (values[field->kind])
            zs_gpu_payload_store(cross_thread, field,
                                 values[field->kind](dispatch, ZS_MIN(field->dim, 2)));
    }
}

/* ---- local ids ---------------------------------------------------------------------------------
 */

static const uint8_t *walk_order(const struct zs_gpu_kernel *kernel)
{
    static const uint8_t usual[3] = {0, 1, 2};
    const uint8_t *order = kernel->module->walk_order;
    bool is_order = order[0] < 3 && order[1] < 3 && order[2] < 3 && order[0] != order[1] &&
                    order[0] != order[2] && order[1] != order[2];
    return is_order ? order : usual;
}

void zs_gpu_local_id(const struct zs_gpu_kernel *kernel, const uint32_t group_size[3],
                     uint64_t index, uint32_t ret_id[3])
{
    const uint8_t *order = walk_order(kernel);
    for (uint32_t i = 0; i < 3; i++) {
        ret_id[order[i]] = (uint32_t)(index % group_size[order[i]]);
        index /= group_size[order[i]];
    }
}

void zs_gpu_local_ids(const struct zs_gpu_kernel *kernel, const uint32_t group_size[3],
                      uint32_t thread_count, uint8_t *rows)
{
    const struct zs_kernel *m = kernel->module;
    const uint8_t *order = walk_order(kernel);
    uint32_t simd = m->simd, lanes_B = (uint32_t)zs_align_up(simd * 2, m->grf_B), id[3] = {0};
    uint64_t items = (uint64_t)group_size[0] * group_size[1] * group_size[2];
    memset(rows, 0, (size_t)thread_count * kernel->per_thread_B);
    for (uint64_t index = 0; index < items; index++) {
        uint8_t *row = rows + index / simd * kernel->per_thread_B;
        uint32_t at_B = 0;
        for (uint32_t dim = 0; dim < 3; dim++) {
            if (!m->thread.local_id[dim])
                continue;
            uint16_t value = (uint16_t)id[dim];
            if (at_B + lanes_B <= kernel->per_thread_B)
                memcpy(row + at_B + index % simd * 2, &value, 2);
            at_B += lanes_B;
        }
        for (uint32_t i = 0; i < 3 && ++id[order[i]] == group_size[order[i]]; i++)
            id[order[i]] = 0;
    }
}

/* ---- implicit arguments ------------------------------------------------------------------------
 */

static void put(uint8_t *bytes, uint32_t at, uint64_t value, uint32_t size_B)
{
    memcpy(bytes + at, &value, size_B);
}

/* struct ImplicitArgs of NEO's implicit_args.h. */
void zs_gpu_implicit_args(const struct zs_gpu_dispatch *d, uint8_t *ret_bytes)
{
    memset(ret_bytes, 0, IMPLICIT_ARGS_B);
    ret_bytes[0] = IMPLICIT_ARGS_B;
    ret_bytes[2] = (uint8_t)zs_gpu_work_dimensions(d->launch);
    ret_bytes[3] = (uint8_t)d->launch->kernel->module->simd;
    for (uint32_t dim = 0; dim < 3; dim++) {
        put(ret_bytes, 4 + dim * 4, local_size(d, dim), 4);
        put(ret_bytes, 16 + dim * 8, global_size(d, dim), 8);
        put(ret_bytes, 48 + dim * 8, global_offset(d, dim), 8);
        put(ret_bytes, 80 + dim * 4, group_count(d, dim), 4);
    }
    put(ret_bytes, 40, d->printf_va, 8);
    put(ret_bytes, 72, d->local_ids_va, 8);
}
