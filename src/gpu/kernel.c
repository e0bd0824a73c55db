/* SPDX-License-Identifier: MIT */
/* Kernels: a parsed kernel and its relocated code, lowered once for all launches. */
#include "gpu/debug/debug_priv.h"

#include "base/reader.h"
#include "eu/checks/shadow.h"
#include "eu/lower/show.h"
#include "isa/reaching.h"

#include <errno.h>
#include <stdlib.h>

enum { SAMPLERS_MAX = 256, SURFACES_MAX = 250 };

/* ---- samplers ----------------------------------------------------------------------------------
 */

static float float_at(const uint8_t *bytes)
{
    uint32_t bits = zs_load_u32(bytes);
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* SAMPLER_STATE of the dynamic state heap (four dwords). */
void zs_gpu_sampler_from_state(struct zs_port_sampler *sampler, const uint8_t *state)
{
    uint32_t dw0 = zs_load_u32(state), dw3 = zs_load_u32(state + 12);
    static const enum zs_port_wrap wraps[8] = {
        ZS_PORT_WRAP_REPEAT, ZS_PORT_WRAP_MIRROR,      ZS_PORT_WRAP_CLAMP, ZS_PORT_WRAP_REPEAT,
        ZS_PORT_WRAP_BORDER, ZS_PORT_WRAP_MIRROR_ONCE, ZS_PORT_WRAP_CLAMP, ZS_PORT_WRAP_CLAMP};
    sampler->linear = (dw0 >> 14 & 7) == 1;
    sampler->normalized = !(dw3 >> 10 & 1);
    sampler->wrap[0] = wraps[dw3 >> 6 & 7];
    sampler->wrap[1] = wraps[dw3 >> 3 & 7];
    sampler->wrap[2] = wraps[dw3 & 7];
}

static void sampler_from_module(struct zs_port_sampler *sampler, const struct zs_sampler *from)
{
    static const enum zs_port_wrap wraps[] = {
        [ZS_SAMPLER_NONE] = ZS_PORT_WRAP_CLAMP,
        [ZS_SAMPLER_CLAMP_BORDER] = ZS_PORT_WRAP_BORDER,
        [ZS_SAMPLER_CLAMP_EDGE] = ZS_PORT_WRAP_CLAMP,
        [ZS_SAMPLER_REPEAT] = ZS_PORT_WRAP_REPEAT,
        [ZS_SAMPLER_MIRROR] = ZS_PORT_WRAP_MIRROR,
    };
    sampler->linear = from->linear;
    sampler->normalized = from->normalized;
    for (uint32_t i = 0; i < 3; i++)
        sampler->wrap[i] = wraps[ZS_MIN((unsigned)from->address, (unsigned)ZS_SAMPLER_MIRROR)];
}

static int create_samplers(struct zs_gpu_kernel *kernel)
{
    const struct zs_kernel *m = kernel->module;
    for (uint32_t i = 0; i < m->sampler_count; i++) {
        if (m->samplers[i].index >= SAMPLERS_MAX)
            return -EINVAL;
        kernel->sampler_count = ZS_MAX(kernel->sampler_count, m->samplers[i].index + 1);
    }
    kernel->samplers = calloc(kernel->sampler_count + 1u, sizeof(*kernel->samplers));
    if (!kernel->samplers)
        return -ENOMEM;
    struct zs_span border = {0};
    if (m->border_color_offset_B != ZS_NONE &&
        !zs_span_sub(m->dsh, m->border_color_offset_B, 16, &border))
        border.size_B = 0;
    for (uint32_t i = 0; i < m->sampler_count; i++) {
        const struct zs_sampler *from = &m->samplers[i];
        struct zs_port_sampler *to = &kernel->samplers[from->index];
        struct zs_span state;
        if (from->has_state)
            sampler_from_module(to, from);
        else if (from->dsh_offset_B != ZS_NONE &&
                 zs_span_sub(m->dsh, from->dsh_offset_B, 16, &state))
            zs_gpu_sampler_from_state(to, state.data);
        for (uint32_t c = 0; border.size_B && c < 4; c++)
            to->border[c] = float_at(border.data + (size_t)c * 4);
    }
    return 0;
}

/* ---- instructions ------------------------------------------------------------------------------
 */

static void describe_send(struct zs_gpu_instruction *to, const struct zs_eu_send_desc *d)
{
    struct zs_port_message message;
    const struct zs_port_message_row *row = NULL;
    struct zs_diag diag = {0};
    to->is_send = 1;
    struct zs_isa_send send;
    zs_eu_send_describe(d, &send);
    if (zs_port_message_decode(&send, &message, &row, &diag))
        return; /* thread spawner; or a descriptor in a0: its bytes are not known */
    to->is_atomic = row->is_atomic;
    to->is_fence = row->is_fence;
    to->space = message.space;
    to->is_barrier = message.space == ZS_PORT_SPACE_GATEWAY;
    to->is_block = message.lanes == 0;
    to->bytes_read = to->is_block && message.bytes_read ? message.block_B : message.bytes_read;
    to->bytes_written =
        to->is_block && message.bytes_written ? message.block_B : message.bytes_written;
}

/* The first of the messages shortly before that are the same of lanes below, and whose other half
 * was not found yet. */
static uint32_t half_of(const struct zs_gpu_kernel *kernel, uint32_t inst,
                        const struct zs_eu_send_desc *d)
{
    enum { NEAR = 32 };
    for (uint32_t i = inst - ZS_MIN(inst, (uint32_t)NEAR); i < inst; i++) {
        struct zs_eu_inst_info info;
        bool is_taken = false;
        if (!zs_eu_program_inst(kernel->program, i, &info) || !info.is_send ||
            info.send.desc != d->desc || info.send.ex_desc != d->ex_desc ||
            info.send.sfid != d->sfid || info.send.chan_offset >= d->chan_offset)
            continue;
        for (uint32_t k = i + 1; k < inst; k++)
            is_taken |= kernel->instructions[k].half_of == i;
        if (!is_taken)
            return i;
    }
    return inst;
}

/* What the threads of a group do together beside local memory, as far as it is known. */
static bool joins_threads(const struct zs_gpu_instruction *in, const struct zs_eu_inst_info *info)
{
    bool is_unknown = in->space == ZS_PORT_SPACE_NONE && !in->is_fence;
    return (info->is_send && !info->send.eot && (in->is_barrier || is_unknown)) ||
           strncmp(info->mnemonic, "dpasw", 5) == 0;
}

static int create_instructions(struct zs_gpu_kernel *kernel)
{
    kernel->is_hooked = zs_eu_program_is_hooked(kernel->program);
    kernel->instruction_count = zs_eu_program_inst_count(kernel->program);
    kernel->counter_count = zs_eu_program_counter_count(kernel->program);
    kernel->instructions = calloc(kernel->instruction_count + 1u, sizeof(*kernel->instructions));
    if (!kernel->instructions)
        return -ENOMEM;
    for (uint32_t i = 0; i < kernel->instruction_count; i++) {
        struct zs_eu_inst_info info;
        struct zs_gpu_instruction *to = &kernel->instructions[i];
        if (!zs_eu_program_inst(kernel->program, i, &info))
            continue;
        to->offset_B = info.offset_B;
        to->cost = 1;
        to->half_of = i;
        if (info.is_send)
            describe_send(to, &info.send);
        if (info.is_send && info.send.chan_offset)
            to->half_of = half_of(kernel, i, &info.send);
        if (strncmp(info.mnemonic, "math", 4) == 0)
            to->cost = 4;
        kernel->joins_threads |= joins_threads(to, &info);
    }
    return zs_gpu_find_orders(kernel);
}

/* ---- create ------------------------------------------------------------------------------------
 */

static int check_module(const struct zs_gpu_device *device, const struct zs_kernel *m,
                        struct zs_diag *diag)
{
    static const struct {
        uint32_t flag;
        const char *what;
    } refused[] = {
        {ZS_KERNEL_DEVICE_ENQUEUE, "enqueues kernels from the device"},
        {ZS_KERNEL_RT_CALLS, "uses ray tracing"},
    };
    for (size_t i = 0; i < ZS_ARRAY_LEN(refused); i++) {
        if (m->flags & refused[i].flag)
            return zs_diag_set(diag, -ENOTSUP, ZS_DIAG_NO_OFFSET, "kernel %s %s: not modelled",
                               m->name, refused[i].what);
    }
    uint64_t in_registers_B =
        device->model->loads_payload
            ? zs_align_up(m->thread.inline_data_B, m->grf_B) + m->thread.per_thread_B
            : (uint64_t)ZS_MAX(m->thread.per_thread_B, 32u) + m->thread.cross_thread_B;
    uint64_t payload_B = m->grf_B + in_registers_B;
    struct zs_eu_registers registers;
    if (!zs_eu_registers_of(device->model->platform, m->grf_count, &registers))
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                           "kernel %s: threads of %u registers do not exist on %s", m->name,
                           m->grf_count, device->model->name);
    if (payload_B > (uint32_t)registers.grf_B * registers.grf_count || m->grf_B != registers.grf_B)
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                           "kernel %s: a payload of %llu bytes does not fit %u registers of %u",
                           m->name, (unsigned long long)payload_B, registers.grf_count,
                           registers.grf_B);
    for (uint32_t i = 0; i < m->surface_count; i++) {
        if (m->surfaces[i].bti != ZS_NONE && m->surfaces[i].bti >= SURFACES_MAX)
            return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                               "kernel %s: binding table index %u is above %d", m->name,
                               m->surfaces[i].bti, SURFACES_MAX - 1);
    }
    return 0;
}

static int lower(struct zs_gpu_kernel *kernel, const struct zs_gpu_kernel_desc *desc,
                 struct zs_diag *diag)
{
    struct zs_eu_segment *segments = NULL;
    struct zs_eu_registers registers = {0};
    zs_eu_registers_of(kernel->device->model->platform, desc->module_kernel->grf_count,
                       &registers); /* check_module() has seen that there are such */
    if (desc->segments) {
        segments = calloc(desc->segment_count + 1, sizeof(*segments));
        if (!segments)
            return zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "no memory");
    }
    for (size_t i = 0; segments && i < desc->segment_count; i++)
        segments[i] = (struct zs_eu_segment){desc->segments[i].offset_B, desc->segments[i].size_B,
                                             desc->segments[i].ip_B};
    struct zs_eu_lower_params params = {
        .code = desc->code,
        .segments = segments,
        .segment_count = desc->segment_count,
        .kernel_B = kernel->entry_B,
        .entry_B = kernel->start_B,
        .targets_B = desc->function_offsets_B,
        .target_count = desc->function_count,
        .simd = desc->module_kernel->simd,
        .payload_B = registers.grf_B + kernel->per_thread_B +
                     (uint32_t)zs_align_up(kernel->inline_B, registers.grf_B),
        .flags = (desc->flags & ZS_GPU_KERNEL_UNCOUNTED ? 0u : ZS_EU_LOWER_COUNTS) |
                 (desc->flags & ZS_GPU_KERNEL_SCOREBOARD ? ZS_EU_LOWER_SCOREBOARD : 0u) |
                 (desc->flags & ZS_GPU_KERNEL_LOCAL ? ZS_EU_LOWER_LOCAL : 0u) |
                 (desc->flags & ZS_GPU_KERNEL_DEFINED ? ZS_EU_LOWER_DEFINED : 0u) |
                 (kernel->device->model->long_integers ? ZS_EU_LOWER_LONG_INTEGERS : 0u) |
                 (desc->flags & ZS_GPU_KERNEL_WALKED ? ZS_EU_LOWER_HANDLES : 0u) |
                 (desc->flags & ZS_GPU_KERNEL_MESSAGES
                      ? ZS_EU_LOWER_HOOK_MESSAGES | ZS_EU_LOWER_HOOKS_BLIND
                  : desc->flags & ZS_GPU_KERNEL_BARRIERS ? ZS_EU_LOWER_HOOK_BARRIERS
                                                         : 0u) |
                 (kernel->device->debug ? ZS_EU_LOWER_PLACES : 0u),
        .host = desc->flags & ZS_GPU_KERNEL_X86_64_V2 ? ZS_EU_HOST_BASE : ZS_EU_HOST_BEST,
        .platform = kernel->device->model->platform,
        .registers = &registers,
    };
    int error = zs_eu_lower(&params, &kernel->program, diag);
    if (!error && params.flags & ZS_EU_LOWER_SCOREBOARD && zs_eu_program_waits(kernel->program)) {
        zs_eu_program_destroy(kernel->program);
        kernel->program = NULL;
        params.flags &= ~(uint32_t)ZS_EU_LOWER_SCOREBOARD;
        error = zs_eu_lower(&params, &kernel->program, diag);
    }
    for (unsigned all = 0; all < 2 && !error; all++)
        kernel->is_clean[all] =
            !kernel->uses_private &&
            zs_eu_shadow_is_clean(kernel->program, all, params.payload_B, kernel->unused_ids);
    if (!error && desc->compile && (kernel->is_clean[true] || !kernel->tracks_undefined) &&
        !(params.flags & ZS_EU_LOWER_SCOREBOARD) && !(desc->flags & ZS_GPU_KERNEL_X86_64_V2))
        error = zs_gpu_tier_create(kernel, desc, &params);
    if (!error && kernel->device->debug && desc->base_va &&
        zs_gpu_kernel_debug_make(kernel, &params, desc->base_va))
        error = zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "no memory");
    if (!error && desc->flags & ZS_GPU_KERNEL_TIMED)
        error = zs_gpu_kernel_time(kernel, &params, diag);
    free(segments);
    return error;
}

/* Local ids are always in registers: walkers make them, or a driver in memory; who loads them from
 * there has an entry for either. */
static void place_payload(struct zs_gpu_kernel *kernel)
{
    const struct zs_thread_payload *thread = &kernel->module->thread;
    kernel->start_B = kernel->entry_B;
    if (!kernel->device->model->loads_payload) {
        bool as_walked = kernel->slots_max != 0; /* without the filler, if there is none */
        kernel->per_thread_B = as_walked ? thread->per_thread_B : ZS_MAX(thread->per_thread_B, 32u);
        kernel->inline_B = thread->cross_thread_B;
        return;
    }
    kernel->start_B += thread->skip_per_thread_load_B + thread->skip_set_ffid_B;
    kernel->per_thread_B = thread->per_thread_B;
    kernel->inline_B = ZS_MIN(thread->inline_data_B, thread->cross_thread_B);
}

static int find_unused_ids(struct zs_gpu_kernel *kernel, struct zs_diag *diag)
{
    const struct zs_kernel *m = kernel->module;
    const struct zs_isa_options options = {.size_B = sizeof(options), .grf_count = m->grf_count};
    struct zs_span code = m->code;
    struct zs_isa_kernel *k;
    if (!zs_span_sub(code, kernel->start_B - kernel->entry_B,
                     code.size_B - (kernel->start_B - kernel->entry_B), &code) ||
        zs_isa_kernel_open(kernel->device->model->platform, code, &options, &k, NULL))
        return 0;
    int error = zs_isa_kernel_decode(k, ZS_ISA_INSTS | ZS_ISA_BLOCKS, diag);
    if (!error)
        kernel->unused_ids = zs_isa_unused_ids(k, kernel->per_thread_B / m->grf_B);
    zs_isa_kernel_close(k);
    return error;
}

uint32_t zs_gpu_handle_of(const struct zs_kernel *m, const struct zs_payload *field)
{
    if (field->kind == ZS_PAYLOAD_CONST_HANDLE)
        return m->arg_count;
    if (field->kind == ZS_PAYLOAD_GLOBAL_HANDLE)
        return m->arg_count + 1;
    bool is_surface = field->kind == ZS_PAYLOAD_BINDLESS_HANDLE && field->arg < m->arg_count &&
                      m->args[field->arg].kind != ZS_ARG_SAMPLER;
    return is_surface ? field->arg : ZS_NONE;
}

/* Surfaces that kernels reach by a handle in their arguments ("bindless") stand behind those of the
 * binding table; a handle is an index, as extended descriptors have it. */
static int number_surfaces(struct zs_gpu_kernel *kernel, struct zs_diag *diag)
{
    const struct zs_kernel *m = kernel->module;
    kernel->bindless = calloc(m->arg_count + 2u, sizeof(*kernel->bindless));
    if (!kernel->bindless)
        return -ENOMEM;
    for (uint32_t i = 0; i < m->surface_count; i++) {
        if (m->surfaces[i].bti != ZS_NONE)
            kernel->surface_count = ZS_MAX(kernel->surface_count, m->surfaces[i].bti + 1);
    }
    for (uint32_t i = 0; i < m->payload_count; i++) {
        uint32_t handle = zs_gpu_handle_of(m, &m->payload[i]);
        if (handle == ZS_NONE || kernel->bindless[handle])
            continue;
        if (kernel->surface_count >= ZS_PORT_SURFACES_MAX)
            return zs_diag_set(diag, -ENOTSUP, ZS_DIAG_NO_OFFSET,
                               "kernel %s: more than %d surfaces are not modelled", m->name,
                               ZS_PORT_SURFACES_MAX);
        kernel->bindless[handle] = (uint8_t)++kernel->surface_count;
    }
    return 0;
}

static int copy_arrays(struct zs_gpu_kernel *kernel, const struct zs_gpu_kernel_desc *desc,
                       struct zs_diag *diag)
{
    size_t size_B = desc->local_array_count * sizeof(*kernel->local_arrays);
    kernel->bounds_sites = desc->bounds_sites;
    kernel->bounds_site_count = desc->bounds_site_count;
    if (!size_B)
        return 0;
    kernel->local_arrays = malloc(size_B);
    if (!kernel->local_arrays)
        return zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "no memory");
    memcpy(kernel->local_arrays, desc->local_arrays, size_B);
    kernel->local_array_count = desc->local_array_count;
    return 0;
}

int zs_gpu_kernel_create(struct zs_gpu_device *device, const struct zs_gpu_kernel_desc *desc,
                         struct zs_gpu_kernel **ret_kernel, struct zs_diag *diag)
{
    static _Atomic uint64_t kernels;
    const struct zs_kernel *m = desc->module_kernel;
    int error = check_module(device, m, diag);
    if (error)
        return error;
    struct zs_gpu_kernel *kernel = calloc(1, sizeof(*kernel));
    if (!kernel)
        return zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "no memory for kernel %s", m->name);
    kernel->number = ++kernels;
    kernel->device = device;
    kernel->module = m;
    kernel->entry_B = desc->entry_B;
    if (desc->flags & ZS_GPU_KERNEL_WALKED)
        kernel->slots_max = zs_gpu_model_threads_for(device->model, m->grf_count);
    place_payload(kernel);
    kernel->global_va = desc->global_va;
    kernel->global_size_B = desc->global_size_B;
    kernel->constant_va = desc->constant_va;
    kernel->constant_size_B = desc->constant_size_B;
    for (uint32_t i = 0; i < m->payload_count; i++)
        kernel->uses_private |= m->payload[i].kind == ZS_PAYLOAD_PRIVATE_BASE;
    kernel->checks_local = desc->flags & ZS_GPU_KERNEL_LOCAL;
    kernel->has_no_sub_groups = desc->flags & ZS_GPU_KERNEL_NO_SUB_GROUPS;
    kernel->tracks_undefined = desc->flags & ZS_GPU_KERNEL_DEFINED;
    kernel->uses_private = kernel->uses_private && m->private_per_hw_thread_B > 0;
    error = kernel->tracks_undefined ? find_unused_ids(kernel, diag) : 0;
    if (!error)
        error = copy_arrays(kernel, desc, diag);
    if (!error)
        error = number_surfaces(kernel, diag);
    if (!error)
        error = lower(kernel, desc, diag);
    if (!error)
        error = create_samplers(kernel);
    if (!error)
        error = create_instructions(kernel);
    if (error) {
        zs_gpu_kernel_destroy(kernel);
        return zs_diag_set(diag, error, ZS_DIAG_NO_OFFSET, "kernel %s cannot be prepared", m->name);
    }
    *ret_kernel = kernel;
    return 0;
}

void zs_gpu_kernel_destroy(struct zs_gpu_kernel *kernel)
{
    if (!kernel)
        return;
    zs_gpu_kernel_debug_free(kernel);
    zs_gpu_tier_free(kernel);
    zs_eu_program_destroy(kernel->program);
    zs_eu_program_destroy(kernel->timed_program);
    zs_timing_code_destroy(kernel->timing_code);
    free(kernel->samplers);
    free(kernel->local_arrays);
    free(kernel->bindless);
    free(kernel->instructions);
    free(kernel);
}

/* ---- queries -----------------------------------------------------------------------------------
 */

uint32_t zs_gpu_kernel_simd(const struct zs_gpu_kernel *kernel)
{
    return kernel->module->simd;
}

uint32_t zs_gpu_kernel_arg_count(const struct zs_gpu_kernel *kernel)
{
    return kernel->module->arg_count;
}

enum zs_gpu_arg_kind zs_gpu_kernel_arg_kind(const struct zs_gpu_kernel *kernel, uint32_t index)
{
    static const enum zs_gpu_arg_kind kinds[ZS_ARG_KIND_COUNT] = {
        [ZS_ARG_UNUSED] = ZS_GPU_ARG_NONE,   [ZS_ARG_VALUE] = ZS_GPU_ARG_VALUE,
        [ZS_ARG_BUFFER] = ZS_GPU_ARG_BUFFER, [ZS_ARG_LOCAL] = ZS_GPU_ARG_LOCAL,
        [ZS_ARG_IMAGE] = ZS_GPU_ARG_IMAGE,   [ZS_ARG_SAMPLER] = ZS_GPU_ARG_SAMPLER,
        [ZS_ARG_QUEUE] = ZS_GPU_ARG_NONE,
    };
    return index < kernel->module->arg_count ? kinds[kernel->module->args[index].kind]
                                             : ZS_GPU_ARG_NONE;
}

uint32_t zs_gpu_kernel_scratch_B(const struct zs_gpu_kernel *kernel)
{
    return kernel->module->scratch_B[0];
}

uint32_t zs_gpu_kernel_private_B(const struct zs_gpu_kernel *kernel)
{
    return kernel->module->private_per_hw_thread_B;
}

bool zs_gpu_kernel_computes_jumps(const struct zs_gpu_kernel *kernel)
{
    return zs_eu_program_computes_jumps(kernel->program);
}

void zs_gpu_kernel_show(const struct zs_gpu_kernel *kernel, struct zs_buf *ret_text)
{
    zs_eu_program_show(kernel->program, kernel->device->model->platform, ret_text);
}

void zs_gpu_kernel_extent(const struct zs_gpu_kernel *kernel, uint32_t *ret_before_B,
                          uint32_t *ret_size_B)
{
    *ret_before_B = kernel->entry_B;
    *ret_size_B = (uint32_t)kernel->module->code.size_B;
}

uint32_t zs_gpu_kernel_ip(const struct zs_gpu_kernel *kernel, int64_t offset_B)
{
    return zs_eu_program_ip(kernel->program, (uint32_t)((int64_t)kernel->entry_B + offset_B));
}

bool zs_gpu_kernel_uses_printf(const struct zs_gpu_kernel *kernel)
{
    for (uint32_t i = 0; i < kernel->module->payload_count; i++) {
        if (kernel->module->payload[i].kind == ZS_PAYLOAD_PRINTF_BUFFER)
            return true;
    }
    return false;
}

bool zs_gpu_kernel_uses_barriers(const struct zs_gpu_kernel *kernel)
{
    return kernel->module->barrier_count > 0;
}
