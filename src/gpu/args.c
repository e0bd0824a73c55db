/* SPDX-License-Identifier: MIT */
/* Kernel arguments: from values to payload fields, surfaces and samplers. */
#include "gpu/gpu_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

void zs_gpu_payload_store(uint8_t *cross_thread, const struct zs_payload *field, uint64_t value)
{
    for (uint32_t i = 0; i < field->size_B; i++)
        cross_thread[field->offset_B + i] = i < 8 ? (uint8_t)(value >> 8 * i) : 0;
}

/* Write `value` into every field of that kind that belongs to the argument. */
static void patch(struct zs_gpu_args *args, uint32_t index, enum zs_payload_kind kind,
                  uint64_t value)
{
    const struct zs_kernel *m = args->kernel->module;
    for (uint32_t i = 0; i < m->payload_count; i++) {
        if (m->payload[i].arg == index && m->payload[i].kind == kind)
            zs_gpu_payload_store(args->cross_thread, &m->payload[i], value);
    }
}

/* ---- create, clone -----------------------------------------------------------------------------
 */

static struct zs_gpu_args *allocate(const struct zs_gpu_kernel *kernel)
{
    struct zs_gpu_args *args = calloc(1, sizeof(*args));
    if (!args)
        return NULL;
    args->kernel = kernel;
    args->cross_thread = calloc(1, kernel->module->thread.cross_thread_B + 1u);
    args->bindings = calloc(kernel->surface_count + 1u, sizeof(*args->bindings));
    args->samplers = calloc(kernel->sampler_count + 1u, sizeof(*args->samplers));
    args->local_B = calloc(kernel->module->arg_count + 1u, sizeof(*args->local_B));
    args->is_set = calloc(kernel->module->arg_count + 1u, sizeof(*args->is_set));
    args->named_va = calloc(kernel->module->arg_count + 1u, sizeof(*args->named_va));
    if (args->cross_thread && args->bindings && args->samplers && args->local_B && args->is_set &&
        args->named_va)
        return args;
    zs_gpu_args_destroy(args);
    return NULL;
}

static void bind_program_buffer(struct zs_gpu_args *args, uint32_t index, bool constant)
{
    const struct zs_gpu_kernel *kernel = args->kernel;
    struct zs_gpu_binding *b = &args->bindings[index];
    b->gpu_va = constant ? kernel->constant_va : kernel->global_va;
    b->size_B = constant ? kernel->constant_size_B : kernel->global_size_B;
    b->kind = b->gpu_va ? ZS_GPU_BINDING_BUFFER : ZS_GPU_BINDING_NULL;
}

/* Surfaces of the module's own buffers. */
static void bind_program_buffers(struct zs_gpu_args *args)
{
    const struct zs_gpu_kernel *kernel = args->kernel;
    const uint8_t *own = kernel->bindless + kernel->module->arg_count;
    for (uint32_t i = 0; i < kernel->module->surface_count; i++) {
        const struct zs_surface *surface = &kernel->module->surfaces[i];
        if (surface->bti == ZS_NONE)
            continue;
        bool constant = surface->kind == ZS_SURFACE_CONSTANT;
        if (constant || surface->kind == ZS_SURFACE_GLOBAL)
            bind_program_buffer(args, surface->bti, constant);
    }
    for (uint32_t i = 0; i < 2; i++) {
        if (own[i])
            bind_program_buffer(args, own[i] - 1u, i == 0);
    }
}

/* The sampler whose handle a field holds; ZS_NONE: none's. */
static uint32_t sampler_of(const struct zs_kernel *m, const struct zs_payload *field)
{
    if (field->kind == ZS_PAYLOAD_INLINE_SAMPLER)
        return field->index;
    for (uint32_t i = 0; i < m->sampler_count && field->kind == ZS_PAYLOAD_BINDLESS_HANDLE; i++) {
        if (m->samplers[i].arg == field->arg && field->arg != ZS_NONE)
            return m->samplers[i].index;
    }
    return ZS_NONE;
}

/* Code gives them to messages: in the extended descriptor, samplers' in the header. */
static void store_handles(struct zs_gpu_args *args)
{
    const struct zs_kernel *m = args->kernel->module;
    bool is_surface_offset = args->kernel->device->model->loads_payload;
    for (uint32_t i = 0; i < m->payload_count; i++) {
        uint32_t handle = zs_gpu_handle_of(m, &m->payload[i]);
        uint32_t sampler = sampler_of(m, &m->payload[i]);
        uint64_t slot = handle == ZS_NONE ? 0 : args->kernel->bindless[handle];
        if (slot)
            zs_gpu_payload_store(args->cross_thread, &m->payload[i],
                                 (slot - 1) << (is_surface_offset ? 6 : 12));
        else if (sampler != ZS_NONE)
            zs_gpu_payload_store(args->cross_thread, &m->payload[i],
                                 (sampler + 1ull) * ZS_PORT_SAMPLER_HANDLE_B);
    }
}

int zs_gpu_args_create(const struct zs_gpu_kernel *kernel, struct zs_gpu_args **ret_args)
{
    struct zs_gpu_args *args = allocate(kernel);
    if (!args)
        return -ENOMEM;
    for (uint32_t i = 0; i < kernel->surface_count; i++)
        args->bindings[i].arg = ZS_NONE;
    if (kernel->sampler_count)
        memcpy(args->samplers, kernel->samplers, kernel->sampler_count * sizeof(*args->samplers));
    bind_program_buffers(args);
    store_handles(args); /* null surfaces until they are set */
    *ret_args = args;
    return 0;
}

int zs_gpu_args_clone(const struct zs_gpu_args *args, struct zs_gpu_args **ret_args)
{
    const struct zs_gpu_kernel *kernel = args->kernel;
    struct zs_gpu_args *copy = allocate(kernel);
    if (!copy)
        return -ENOMEM;
    memcpy(copy->cross_thread, args->cross_thread, kernel->module->thread.cross_thread_B);
    memcpy(copy->bindings, args->bindings, kernel->surface_count * sizeof(*args->bindings));
    memcpy(copy->samplers, args->samplers, kernel->sampler_count * sizeof(*args->samplers));
    memcpy(copy->local_B, args->local_B, kernel->module->arg_count * sizeof(*args->local_B));
    memcpy(copy->is_set, args->is_set, kernel->module->arg_count * sizeof(*args->is_set));
    memcpy(copy->named_va, args->named_va, kernel->module->arg_count * sizeof(*args->named_va));
    copy->slm_end_B = args->slm_end_B;
    copy->gap_B = args->gap_B;
    *ret_args = copy;
    return 0;
}

void zs_gpu_args_destroy(struct zs_gpu_args *args)
{
    if (!args)
        return;
    free(args->cross_thread);
    free(args->bindings);
    free(args->samplers);
    free(args->local_B);
    free(args->is_set);
    free(args->named_va);
    free(args);
}

/* ---- finding what belongs to an argument -------------------------------------------------------
 */

static int check_kind(const struct zs_gpu_args *args, uint32_t index, enum zs_gpu_arg_kind kind)
{
    if (index >= args->kernel->module->arg_count)
        return -EINVAL;
    enum zs_gpu_arg_kind is = zs_gpu_kernel_arg_kind(args->kernel, index);
    return is == kind || is == ZS_GPU_ARG_NONE ? 0 : -EINVAL;
}

static bool has_field(const struct zs_gpu_args *args, uint32_t index, enum zs_payload_kind kind)
{
    const struct zs_kernel *m = args->kernel->module;
    for (uint32_t i = 0; i < m->payload_count; i++) {
        if (m->payload[i].arg == index && m->payload[i].kind == kind)
            return true;
    }
    return false;
}

static void bind(struct zs_gpu_args *args, uint32_t index, const struct zs_gpu_binding *binding)
{
    const struct zs_kernel *m = args->kernel->module;
    for (uint32_t i = 0; i < m->surface_count; i++) {
        if (m->surfaces[i].arg == index && m->surfaces[i].bti != ZS_NONE)
            args->bindings[m->surfaces[i].bti] = *binding;
    }
    uint32_t slot = args->kernel->bindless[index];
    if (slot)
        args->bindings[slot - 1] = *binding;
}

/* ---- setters -----------------------------------------------------------------------------------
 */

int zs_gpu_args_set_value(struct zs_gpu_args *args, uint32_t index, size_t size_B,
                          const void *value)
{
    int error = check_kind(args, index, ZS_GPU_ARG_VALUE);
    if (error)
        return error;
    const struct zs_kernel *m = args->kernel->module;
    for (uint32_t i = 0; i < m->payload_count; i++) {
        const struct zs_payload *piece = &m->payload[i];
        if (piece->arg == index && piece->kind == ZS_PAYLOAD_ARG_VALUE && value &&
            piece->source_offset_B >= size_B)
            return -EINVAL;
    }
    for (uint32_t i = 0; i < m->payload_count; i++) {
        const struct zs_payload *piece = &m->payload[i];
        if (piece->arg != index || piece->kind != ZS_PAYLOAD_ARG_VALUE)
            continue;
        uint8_t *to = args->cross_thread + piece->offset_B;
        /* a small member may be given a whole dword: copy no more than there is */
        size_t copy_B = value ? ZS_MIN(piece->size_B, size_B - piece->source_offset_B) : 0;
        if (copy_B)
            memcpy(to, (const uint8_t *)value + piece->source_offset_B, copy_B);
        memset(to + copy_B, 0, piece->size_B - copy_B);
    }
    args->is_set[index] = true;
    return 0;
}

int zs_gpu_args_set_buffer(struct zs_gpu_args *args, uint32_t index, struct zs_gpu_memory *memory,
                           uint64_t gpu_va)
{
    int error = check_kind(args, index, ZS_GPU_ARG_BUFFER);
    if (error)
        return error;
    /* A surface starts where the allocation starts, and BUFFER_OFFSET says how far into it the
     * pointer leads; kernels that do not read it get a surface that starts at the pointer. */
    struct zs_gpu_allocation allocation;
    struct zs_gpu_binding binding = {.arg = index, .gpu_va = gpu_va};
    if (gpu_va)
        binding.kind = ZS_GPU_BINDING_BUFFER;
    if (gpu_va && zs_gpu_memory_find(memory, gpu_va, &allocation)) {
        if (has_field(args, index, ZS_PAYLOAD_BUFFER_OFFSET))
            binding.gpu_va = allocation.gpu_va;
        binding.size_B = allocation.gpu_va + allocation.size_B - binding.gpu_va;
        binding.read_only = (allocation.flags & ZS_GPU_ALLOCATION_READ_ONLY) != 0;
    }
    patch(args, index, ZS_PAYLOAD_ARG_POINTER, gpu_va);
    patch(args, index, ZS_PAYLOAD_BUFFER_ADDRESS, gpu_va);
    patch(args, index, ZS_PAYLOAD_BUFFER_OFFSET, gpu_va - binding.gpu_va);
    patch(args, index, ZS_PAYLOAD_BUFFER_SIZE, binding.size_B - (gpu_va - binding.gpu_va));
    bind(args, index, &binding);
    args->named_va[index] = gpu_va;
    args->is_set[index] = true;
    return 0;
}

/* Where argument i, which is local, begins when `end_B` is taken already. */
static uint64_t place_local(const struct zs_gpu_args *args, uint32_t i, uint64_t end_B,
                            uint64_t gap_B)
{
    uint32_t alignment_B = args->kernel->module->args[i].slm_alignment_B;
    bool is_power = alignment_B && !(alignment_B & (alignment_B - 1));
    /* the compiler knows where the first one is: right behind the static part */
    return zs_align_up(end_B + (end_B ? gap_B : 0), is_power ? alignment_B : 16);
}

static uint64_t place_all(struct zs_gpu_args *args, uint64_t gap_B, bool store)
{
    const struct zs_kernel *m = args->kernel->module;
    uint64_t end_B = 0;
    for (uint32_t i = 0; i < m->arg_count; i++) {
        if (m->args[i].kind != ZS_ARG_LOCAL)
            continue;
        end_B = place_local(args, i, end_B, gap_B);
        if (store)
            patch(args, i, ZS_PAYLOAD_LOCAL_POINTER, end_B);
        end_B += args->local_B[i];
    }
    return end_B;
}

/* Between local arguments, where that is checked and there is room. */
static uint64_t local_gap_B(struct zs_gpu_args *args)
{
    const struct zs_gpu_kernel *kernel = args->kernel;
    bool room = place_all(args, ZS_GPU_LOCAL_GAP_B, false) + kernel->module->slm_B <=
                kernel->device->model->slm_B;
    return kernel->checks_local && room ? ZS_GPU_LOCAL_GAP_B : 0;
}

/* Local arguments stand one behind the other, in the order of their indexes, behind the static
 * part (whose size kernel code adds). */
static uint64_t place_locals(struct zs_gpu_args *args, bool store)
{
    args->gap_B = local_gap_B(args);
    return place_all(args, args->gap_B, store);
}

void zs_gpu_name_local(uint32_t arg, const char *name, char *ret, size_t size_B)
{
    snprintf(ret, size_B, "argument %u%s%.24s", (unsigned)arg, *name ? ", " : "", name);
}

static void add_gap(const struct zs_gpu_args *args, uint32_t arg, uint64_t begin_B, uint64_t end_B,
                    struct zs_port_gap *ret)
{
    const struct zs_kernel *m = args->kernel->module;
    *ret = (struct zs_port_gap){.begin_B = (uint32_t)(m->slm_B + begin_B),
                                .end_B = (uint32_t)(m->slm_B + end_B),
                                .below_B = (uint32_t)args->local_B[arg]};
    zs_gpu_name_local(arg, m->args[arg].name, ret->below, sizeof(ret->below));
}

static uint32_t add_own_gaps(const struct zs_gpu_kernel *kernel, struct zs_port_gap *ret)
{
    uint32_t count = kernel->local_array_count;
    for (uint32_t i = 0; i < count; i++) {
        const struct zs_gpu_local_array *own = &kernel->local_arrays[i];
        ret[i] =
            (struct zs_port_gap){.begin_B = own->offset_B + own->size_B,
                                 .end_B = i + 1 < count ? own[1].offset_B : kernel->module->slm_B,
                                 .below_B = own->size_B};
        memcpy(ret[i].below, own->name, sizeof(ret[i].below));
    }
    return count;
}

uint32_t zs_gpu_args_gaps_max(const struct zs_gpu_args *args)
{
    return args->kernel->module->arg_count + args->kernel->local_array_count + args->gap_count;
}

uint32_t zs_gpu_args_gaps(const struct zs_gpu_args *args, struct zs_port_gap *ret)
{
    const struct zs_kernel *m = args->kernel->module;
    uint64_t end_B = 0;
    for (uint32_t i = 0; i < args->gap_count; i++)
        ret[i] = args->gaps[i];
    if (args->gap_count)
        return args->gap_count;
    uint32_t count = add_own_gaps(args->kernel, ret), below = 0;
    for (uint32_t i = 0; i < m->arg_count && args->gap_B; i++) {
        if (m->args[i].kind != ZS_ARG_LOCAL)
            continue;
        uint64_t at_B = place_local(args, i, end_B, args->gap_B);
        if (end_B)
            add_gap(args, below, end_B, at_B, &ret[count++]);
        end_B = at_B + args->local_B[i];
        below = i;
    }
    return count;
}

int zs_gpu_args_set_local(struct zs_gpu_args *args, uint32_t index, uint64_t size_B)
{
    int error = check_kind(args, index, ZS_GPU_ARG_LOCAL);
    if (error)
        return error;
    uint64_t limit_B = args->kernel->device->model->slm_B;
    if (size_B > limit_B)
        return -ENOMEM;
    uint64_t before_B = args->local_B[index];
    args->local_B[index] = size_B;
    if (place_locals(args, false) + args->kernel->module->slm_B > limit_B) {
        args->local_B[index] = before_B;
        return -ENOMEM;
    }
    args->slm_end_B = place_locals(args, true);
    args->is_set[index] = true;
    return 0;
}

static void patch_image(struct zs_gpu_args *args, uint32_t index, const struct zs_gpu_image *image)
{
    const struct {
        enum zs_payload_kind kind;
        uint64_t value;
    } fields[] = {
        {ZS_PAYLOAD_IMAGE_WIDTH, image->width},
        {ZS_PAYLOAD_IMAGE_HEIGHT, image->height},
        {ZS_PAYLOAD_IMAGE_DEPTH, image->depth},
        {ZS_PAYLOAD_IMAGE_ARRAY_SIZE, image->layers},
        {ZS_PAYLOAD_IMAGE_CHANNEL_TYPE, image->cl_channel_type},
        {ZS_PAYLOAD_IMAGE_CHANNEL_ORDER, image->cl_channel_order},
        {ZS_PAYLOAD_IMAGE_NUM_SAMPLES, 0},
        {ZS_PAYLOAD_IMAGE_NUM_MIP_LEVELS, 0},
        {ZS_PAYLOAD_FLAT_IMAGE_BASE, image->gpu_va},
        {ZS_PAYLOAD_FLAT_IMAGE_WIDTH, (uint64_t)image->width * image->format->texel_B - 1},
        {ZS_PAYLOAD_FLAT_IMAGE_HEIGHT, (uint64_t)image->height - 1},
        {ZS_PAYLOAD_FLAT_IMAGE_PITCH, (uint64_t)image->row_pitch_B - 1},
    };
    for (size_t i = 0; i < ZS_ARRAY_LEN(fields); i++)
        patch(args, index, fields[i].kind, fields[i].value);
}

int zs_gpu_args_set_image(struct zs_gpu_args *args, uint32_t index,
                          const struct zs_gpu_image *image)
{
    int error = check_kind(args, index, ZS_GPU_ARG_IMAGE);
    if (error)
        return error;
    struct zs_gpu_binding binding = {.arg = index};
    if (image) {
        binding.kind = ZS_GPU_BINDING_IMAGE;
        binding.gpu_va = image->gpu_va;
        binding.image = *image;
        binding.image.read_only |= args->kernel->module->args[index].access == ZS_ACCESS_READ_ONLY;
        patch_image(args, index, image);
    }
    args->named_va[index] = binding.gpu_va;
    bind(args, index, &binding);
    args->is_set[index] = true;
    return 0;
}

int zs_gpu_args_set_sampler(struct zs_gpu_args *args, uint32_t index,
                            const struct zs_gpu_sampler *sampler)
{
    int error = check_kind(args, index, ZS_GPU_ARG_SAMPLER);
    if (error)
        return error;
    static const enum zs_port_wrap wraps[] = {
        [ZS_GPU_ADDRESS_NONE] = ZS_PORT_WRAP_CLAMP,
        [ZS_GPU_ADDRESS_BORDER] = ZS_PORT_WRAP_BORDER,
        [ZS_GPU_ADDRESS_EDGE] = ZS_PORT_WRAP_CLAMP,
        [ZS_GPU_ADDRESS_REPEAT] = ZS_PORT_WRAP_REPEAT,
        [ZS_GPU_ADDRESS_MIRROR] = ZS_PORT_WRAP_MIRROR,
    };
    if ((unsigned)sampler->address_mode >= ZS_ARRAY_LEN(wraps))
        return -EINVAL;
    const struct zs_kernel *m = args->kernel->module;
    for (uint32_t i = 0; i < m->sampler_count; i++) {
        if (m->samplers[i].arg != index)
            continue;
        struct zs_port_sampler *to = &args->samplers[m->samplers[i].index];
        to->linear = sampler->linear;
        to->normalized = sampler->normalized;
        to->wrap[0] = to->wrap[1] = to->wrap[2] = wraps[sampler->address_mode];
    }
    bool snap = sampler->address_mode == ZS_GPU_ADDRESS_BORDER && !sampler->linear;
    patch(args, index, ZS_PAYLOAD_SAMPLER_ADDRESS, sampler->address_mode);
    patch(args, index, ZS_PAYLOAD_SAMPLER_NORMALIZED, sampler->normalized ? 8 : 0);
    patch(args, index, ZS_PAYLOAD_SAMPLER_SNAP_WA, snap ? UINT32_MAX : 0);
    args->is_set[index] = true;
    return 0;
}

/* ---- queries -----------------------------------------------------------------------------------
 */

uint64_t zs_gpu_args_slm_exact_B(const struct zs_gpu_args *args)
{
    return args->kernel->module->slm_B + args->slm_end_B;
}

uint32_t zs_gpu_args_slm_B(const struct zs_gpu_args *args)
{
    uint64_t exact_B = zs_gpu_args_slm_exact_B(args), size_B = 1024;
    while (size_B < exact_B)
        size_B *= 2;
    return exact_B ? (uint32_t)size_B : 0;
}

uint32_t zs_gpu_args_first_unset(const struct zs_gpu_args *args)
{
    const struct zs_kernel *m = args->kernel->module;
    for (uint32_t i = 0; i < m->arg_count; i++) {
        if (!args->is_set[i] && zs_gpu_kernel_arg_kind(args->kernel, i) != ZS_GPU_ARG_NONE)
            return i;
    }
    return UINT32_MAX;
}
