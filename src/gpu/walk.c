/* SPDX-License-Identifier: MIT */
/* A walk's kernel as one of a module that says nothing but what the walker does. */
#include "gpu/walk.h"

#include "gpu/gpu_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHUNK_B = 16 << 10, /* of code that is looked at for its end, at first */
    CODE_MAX_B = 16 << 20,
    SURFACES_UNKNOWN = 64, /* that messages name whose descriptors are in registers */
    HANDLES = 128,         /* surfaces that handles name */
    SAMPLERS = 16,
    SAMPLER_HANDLES = 64,
    SFID_SAMPLER = 2,
};

struct zs_gpu_walk_kernel {
    struct zs_kernel module;
    struct zs_gpu_kernel *kernel;
    struct zs_gpu_walk_code code; /* its span is `bytes` */
    uint8_t *bytes;               /* functions, then the kernel */
    uint32_t entry_B;
    char name[128];
    uint32_t table_count, handle_count, sampler_handle_count;
};

/* ---- the end of code ---------------------------------------------------------------------------
 */

/* The first end of the thread, or of a function, that no jump and no call leads over. 0: none. */
static uint32_t end_of_code(const struct zs_isa_kernel *k)
{
    uint32_t reached_B = 0;
    for (uint32_t i = 0; i < zs_isa_kernel_count(k); i++) {
        const struct zs_isa_inst *inst = zs_isa_inst(k, i);
        if (!inst || inst->flags & ZS_INST_ILLEGAL)
            return 0;
        if (inst->jip_B != ZS_ISA_NO_INDEX)
            reached_B = ZS_MAX(reached_B, inst->jip_B);
        if (inst->uip_B != ZS_ISA_NO_INDEX)
            reached_B = ZS_MAX(reached_B, inst->uip_B);
        bool ends = inst->flags & ZS_INST_EOT || inst->op == ZS_OP_RET;
        if (ends && inst->offset_B >= reached_B)
            return inst->offset_B + inst->size_B;
    }
    return 0;
}

/* A chunk may cut an instruction of 16 bytes in two: its half is left out. */
static int end_in_chunk(enum zs_isa_platform platform, struct zs_span code, uint32_t *ret_B)
{
    struct zs_isa_kernel *k = NULL;
    struct zs_diag diag = {0};
    int error = zs_isa_kernel_open(platform, code, NULL, &k, &diag);
    if (error == -EINVAL && code.size_B >= 8) {
        code.size_B -= 8;
        error = zs_isa_kernel_open(platform, code, NULL, &k, &diag);
    }
    if (!error)
        error = zs_isa_kernel_decode(k, ZS_ISA_INSTS, &diag);
    *ret_B = error ? 0 : end_of_code(k);
    zs_isa_kernel_close(k);
    return error;
}

static int find_end(enum zs_isa_platform platform, struct zs_span code, uint32_t *ret_B)
{
    for (size_t chunk_B = CHUNK_B; chunk_B <= CODE_MAX_B; chunk_B *= 4) {
        struct zs_span chunk = {code.data, ZS_MIN(code.size_B, chunk_B) & ~(size_t)7};
        int error = end_in_chunk(platform, chunk, ret_B);
        if (error || *ret_B)
            return error;
        if (code.size_B <= chunk_B)
            break;
    }
    return -EINVAL;
}

/* ---- create ------------------------------------------------------------------------------------
 */

static void describe(struct zs_gpu_walk_kernel *k, const struct zs_gpu_model *model)
{
    const struct zs_gpu_walk_code *code = &k->code;
    const struct zs_isa_platform_info *isa = zs_isa_platform_info(model->platform);
    struct zs_kernel *m = &k->module;
    uint32_t lanes_B = (uint32_t)zs_align_up(code->simd * 2, model->grf_B);
    m->name = k->name;
    m->code = m->heap = code->code;
    m->simd = code->simd;
    m->grf_B = model->grf_B;
    m->grf_count = code->large_grf ? isa->grf_count_max : model->grf_count;
    m->barrier_count = code->has_barrier;
    m->scratch_B[0] = code->scratch_B;
    memcpy(m->walk_order, code->order, sizeof(m->walk_order));
    m->thread.per_thread_B = code->row_B;
    for (uint32_t i = 0; i < 3; i++) {
        m->thread.local_id[i] = code->emit >> i & 1;
        m->thread.per_thread_B += code->emit >> i & 1 ? lanes_B : 0;
    }
    m->thread.inline_data_B = code->inline_B;
    m->thread.cross_thread_B = code->inline_B + code->cross_B;
    m->border_color_offset_B = m->interface_descriptor_offset_B = ZS_NONE;
    m->binding_table_offset_B = ZS_NONE;
}

/* Entries of the binding table that messages name, and of handles. */
static void count_surfaces(struct zs_gpu_walk_kernel *k)
{
    const struct zs_gpu_kernel *kernel = k->kernel;
    uint32_t count = 0;
    bool has_handles = false, samples = false;
    for (uint32_t i = 0; i < kernel->instruction_count; i++) {
        struct zs_eu_inst_info info;
        struct zs_isa_send send;
        struct zs_port_message message;
        const struct zs_port_message_row *row;
        struct zs_diag diag = {0};
        if (!zs_eu_program_inst(kernel->program, i, &info) || !info.is_send || info.send.eot)
            continue;
        zs_eu_send_describe(&info.send, &send);
        has_handles |= zs_port_send_has_handle(&send);
        samples |= send.sfid == SFID_SAMPLER && send.generation->has_sampler_handles;
        if (zs_port_message_decode(&send, &message, &row, &diag))
            count = ZS_MAX(count, (uint32_t)SURFACES_UNKNOWN);
        else if (message.bti < ZS_PORT_SURFACES_MAX)
            count = ZS_MAX(count, message.bti + 1u);
    }
    k->table_count = count;
    k->handle_count = has_handles ? ZS_MIN(ZS_PORT_SURFACES_MAX - count, (uint32_t)HANDLES) : 0;
    k->kernel->surface_count = k->table_count + k->handle_count;
    k->sampler_handle_count = samples ? SAMPLER_HANDLES : 0;
    k->kernel->sampler_count = SAMPLERS + k->sampler_handle_count;
}

/* To be freed when the kernel is there. NULL: no memory. */
static struct zs_gpu_segment *add_functions(const struct zs_gpu_walk_kernel *k,
                                            const struct zs_gpu_walk_functions *functions,
                                            struct zs_gpu_kernel_desc *desc)
{
    size_t count = functions->segments.count;
    struct zs_gpu_segment *segments = calloc(count + 1, sizeof(*segments));
    if (!segments)
        return NULL;
    memcpy(segments, functions->segments.items, count * sizeof(*segments));
    segments[count] = (struct zs_gpu_segment){k->entry_B, (uint32_t)k->code.code.size_B,
                                              (uint32_t)(k->code.gpu_va - k->code.base_va)};
    desc->segments = segments;
    desc->segment_count = count + 1;
    desc->function_offsets_B = functions->starts_B.items;
    desc->function_count = functions->starts_B.count;
    return segments;
}

static int create_kernel(struct zs_gpu_walk_kernel *k, struct zs_gpu_device *device,
                         const struct zs_gpu_walk_functions *functions, struct zs_diag *diag)
{
    struct zs_gpu_kernel_desc desc = {.module_kernel = &k->module,
                                      .code = {k->bytes, k->entry_B + k->code.code.size_B},
                                      .entry_B = k->entry_B,
                                      .flags = k->code.flags | ZS_GPU_KERNEL_WALKED,
                                      .compile = k->code.compile};
    struct zs_gpu_segment *segments = functions ? add_functions(k, functions, &desc) : NULL;
    if (functions && !segments)
        return zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "no memory");
    int error = zs_gpu_kernel_create(device, &desc, &k->kernel, diag);
    free(segments);
    if (error)
        return error;
    free(k->kernel->samplers);
    count_surfaces(k);
    k->kernel->samplers = calloc(k->kernel->sampler_count, sizeof(*k->kernel->samplers));
    return k->kernel->samplers ? 0 : zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "no memory");
}

int zs_gpu_walk_kernel_create(struct zs_gpu_device *device, const struct zs_gpu_walk_code *code,
                              struct zs_gpu_walk_kernel **ret_kernel, struct zs_diag *diag)
{
    uint32_t size_B;
    if (find_end(device->model->platform, code->code, &size_B))
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                           "kernel at 0x%" PRIx64 ": what is there has no end as kernels have it",
                           code->gpu_va);
    if (!(device->model->simd_sizes & code->simd))
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                           "kernel at 0x%" PRIx64 ": SIMD%" PRIu32 " does not exist on %s",
                           code->gpu_va, code->simd, device->model->name);
    struct zs_gpu_walk_kernel *k = calloc(1, sizeof(*k));
    if (!k)
        return zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "no memory");
    const struct zs_gpu_walk_functions *functions =
        code->functions && code->functions->segments.count ? code->functions : NULL;
    k->code = *code;
    k->code.functions = NULL;
    k->entry_B = functions ? (uint32_t)functions->code.size_B : 0;
    k->bytes = malloc((size_t)k->entry_B + size_B);
    snprintf(k->name, sizeof(k->name), "at 0x%" PRIx64, code->gpu_va);
    int error = k->bytes ? 0 : zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "no memory");
    if (!error) {
        if (functions)
            memcpy(k->bytes, functions->code.data, k->entry_B);
        memcpy(k->bytes + k->entry_B, code->code.data, size_B);
        k->code.code = (struct zs_span){k->bytes + k->entry_B, size_B};
        describe(k, device->model);
        error = create_kernel(k, device, functions, diag);
    }
    if (error) {
        zs_gpu_walk_kernel_destroy(k);
        return error;
    }
    *ret_kernel = k;
    return 0;
}

void zs_gpu_walk_kernel_destroy(struct zs_gpu_walk_kernel *kernel)
{
    if (!kernel)
        return;
    zs_gpu_kernel_destroy(kernel->kernel);
    free(kernel->bytes);
    free(kernel);
}

bool zs_gpu_walk_kernel_is(const struct zs_gpu_walk_kernel *kernel,
                           const struct zs_gpu_walk_code *code)
{
    const struct zs_gpu_walk_code *own = &kernel->code;
    return own->gpu_va == code->gpu_va && own->base_va == code->base_va &&
           own->simd == code->simd && own->flags == code->flags &&
           own->large_grf == code->large_grf && own->has_barrier == code->has_barrier &&
           own->scratch_B == code->scratch_B && own->emit == code->emit &&
           !memcmp(own->order, code->order, sizeof(own->order)) && own->row_B == code->row_B &&
           own->inline_B == code->inline_B && own->cross_B == code->cross_B &&
           own->code.size_B <= code->code.size_B &&
           !memcmp(own->code.data, code->code.data, own->code.size_B);
}

uint32_t zs_gpu_walk_kernel_surfaces(const struct zs_gpu_walk_kernel *kernel)
{
    return kernel->table_count;
}

uint32_t zs_gpu_walk_kernel_handles(const struct zs_gpu_walk_kernel *kernel)
{
    return kernel->handle_count;
}

uint32_t zs_gpu_walk_kernel_sampler_handles(const struct zs_gpu_walk_kernel *kernel)
{
    return kernel->sampler_handle_count;
}

uint32_t zs_gpu_walk_kernel_samplers(const struct zs_gpu_walk_kernel *kernel)
{
    return kernel->kernel->sampler_count;
}

const struct zs_gpu_walk_code *zs_gpu_walk_kernel_code(const struct zs_gpu_walk_kernel *kernel)
{
    return &kernel->code;
}

void zs_gpu_walk_kernel_name(struct zs_gpu_walk_kernel *kernel, const struct zs_kernel *named)
{
    snprintf(kernel->name, sizeof(kernel->name), "%s", named->name);
    memcpy(kernel->module.required_group_size, named->required_group_size,
           sizeof(kernel->module.required_group_size));
}

const struct zs_gpu_kernel *zs_gpu_walk_kernel_of(const struct zs_gpu_walk_kernel *kernel)
{
    return kernel->kernel;
}

/* ---- run ---------------------------------------------------------------------------------------
 */

static void bind_surfaces(struct zs_gpu_args *args, const struct zs_gpu_walk *walk)
{
    uint32_t count = ZS_MIN(walk->surface_count, args->kernel->surface_count);
    for (uint32_t i = 0; i < count; i++) {
        const struct zs_gpu_walk_surface *from = &walk->surfaces[i];
        if (!from->size_B)
            continue;
        args->bindings[i] = (struct zs_gpu_binding){
            .kind = from->is_image ? ZS_GPU_BINDING_IMAGE : ZS_GPU_BINDING_BUFFER,
            .arg = ZS_NONE,
            .is_cut = true,
            .gpu_va = from->gpu_va,
            .size_B = from->size_B,
            .image = from->image,
        };
    }
}

static void bind_samplers(struct zs_gpu_args *args, const struct zs_gpu_walk *walk)
{
    for (uint32_t i = 0; walk->samplers && i < args->kernel->sampler_count; i++) {
        zs_gpu_sampler_from_state(&args->samplers[i], walk->samplers[i].state);
        memcpy(args->samplers[i].border, walk->samplers[i].border,
               sizeof(args->samplers[i].border));
    }
}

int zs_gpu_walk_run(struct zs_gpu_device *device, const struct zs_gpu_walk *walk,
                    struct zs_gpu_result *ret_result)
{
    const struct zs_gpu_kernel *kernel = walk->kernel->kernel;
    struct zs_gpu_args *args;
    *ret_result = (struct zs_gpu_result){.error = zs_gpu_args_create(kernel, &args)};
    if (ret_result->error)
        return ret_result->error;
    memcpy(args->cross_thread, walk->cross, kernel->module->thread.cross_thread_B);
    args->slm_end_B = walk->slm_B;
    args->gaps = walk->gaps;
    args->gap_count = walk->gap_count;
    bind_surfaces(args, walk);
    bind_samplers(args, walk);
    struct zs_gpu_launch launch = {
        .kernel = kernel,
        .args = args,
        .memory = walk->memory,
        .local_ids = walk->rows,
        .handles = walk->handles,
        .handle_count = walk->handle_count,
        .handle_base = walk->kernel->table_count,
        .sampler_handles = walk->sampler_handles,
        .sampler_handle_count = walk->sampler_handle_count,
        .sampler_handle_base = SAMPLERS,
        .flags = ZS_GPU_LAUNCH_PIN_ALL | walk->flags,
        .private_va = walk->private_va,
        .private_thread_B = walk->private_thread_B,
        .cancel = walk->cancel,
        .time_limit_ns = walk->time_limit_ns,
        .counters = walk->counters,
        .found = walk->found,
        .found_context = walk->found_context,
        .command = walk->command,
        .find_line = walk->find_line,
    };
    memcpy(launch.group_count, walk->group_count, sizeof(launch.group_count));
    memcpy(launch.group_start, walk->group_start, sizeof(launch.group_start));
    memcpy(launch.group_size, walk->group_size, sizeof(launch.group_size));
    int error = zs_gpu_launch_run(device, &launch, ret_result);
    zs_gpu_args_destroy(args);
    return error;
}
