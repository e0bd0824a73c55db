/* SPDX-License-Identifier: MIT */
/*
 * A zebin kernel in the normalised model, so that what was written for patch tokens serves it:
 * vectors become one field per dimension, binding table indices become surfaces, attributes become
 * the text that OpenCL has for them.
 */
#include "module/ze_info_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct ze_build {
    struct zs_builder *b;
    const struct zs_image *image;
    const struct ze_kernel *from;
    struct zs_kernel *k;
    struct zs_arg *args;
    struct zs_payload *payload;
    struct zs_surface *surfaces;
    struct zs_sampler *samplers;
};

static int fail(const struct ze_build *zb, uint64_t offset_B, const char *sentence, uint32_t value)
{
    return zs_diag_set(zb->b->diag, -EINVAL, offset_B, ".ze_info: kernel %.100s: %s (%u)",
                       zb->k->name, sentence, value);
}

/* Kinds that zebin gives as one vector of three dwords. */
static bool is_vector(uint32_t kind)
{
    return kind == ZS_PAYLOAD_LOCAL_SIZE || kind == ZS_PAYLOAD_GLOBAL_SIZE ||
           kind == ZS_PAYLOAD_GROUP_COUNT || kind == ZS_PAYLOAD_GLOBAL_OFFSET ||
           kind == ZS_PAYLOAD_ENQUEUED_LOCAL_SIZE || kind == ZS_PAYLOAD_REGION_GROUP_SIZE;
}

static void copy_environment(struct ze_build *zb)
{
    const struct ze_environment *e = &zb->from->environment;
    struct zs_kernel *k = zb->k;
    k->simd = e->simd;
    k->grf_count = e->grf_count;
    k->eu_thread_count = e->eu_thread_count;
    k->barrier_count = e->barrier_count;
    k->slm_B = e->slm_B;
    k->spill_B = e->spill_B;
    k->spill_known = true;
    k->flags = e->flags;
    k->indirect_stateless = e->indirect_stateless;
    k->required_subgroup_size = e->required_subgroup_size;
    k->thread.inline_data_B = e->inline_data_B;
    k->thread.skip_per_thread_load_B = e->skip_per_thread_B;
    k->thread.skip_set_ffid_B = e->skip_set_ffid_B;
    k->thread.generate_local_id = e->generate_local_id;
    k->thread.indirect = true;
    for (uint32_t i = 0; i < 3; i++) {
        k->required_group_size[i] = e->required_group_size[i];
        k->walk_order[i] = (uint8_t)(e->has_walk_order ? e->walk_order[i] : i);
    }
}

static int check_environment(const struct ze_build *zb)
{
    const struct ze_environment *e = &zb->from->environment;
    uint64_t at_B = zb->from->text_B;
    if (e->simd != 1 && e->simd != 8 && e->simd != 16 && e->simd != 32)
        return fail(zb, at_B, "simd_size: 1, 8, 16 or 32 expected", e->simd);
    if (e->grf_count > 1024)
        return fail(zb, at_B, "grf_count: at most 1024 expected", e->grf_count);
    for (uint32_t i = 0; i < 3 && e->has_walk_order; i++)
        if (e->walk_order[i] > 2)
            return fail(zb, at_B, "walk order: dimensions 0 to 2 expected", e->walk_order[i]);
    return 0;
}

static int copy_memory(struct ze_build *zb)
{
    struct zs_kernel *k = zb->k;
    for (size_t i = 0; i < zb->from->memory.count; i++) {
        const struct ze_memory *m = &zb->from->memory.items[i];
        if (m->type == ZE_MEMORY_SCRATCH) {
            if (m->slot > 1)
                return fail(zb, zb->from->text_B, "scratch slot: 0 or 1 expected", m->slot);
            k->scratch_B[m->slot] = m->size_B;
            if (m->usage == ZE_USAGE_SPILL && k->spill_B == 0)
                k->spill_B = m->size_B;
        } else if (m->type == ZE_MEMORY_GLOBAL) {
            k->private_B = m->size_B;
            k->private_per_thread = !m->is_simt_thread;
        }
    }
    return 0;
}

static void append_attribute(struct zs_buf *buf, const char *format, const char *name,
                             const uint32_t *value)
{
    if (buf->size_B)
        zs_buf_putc(buf, ' ');
    zs_buf_printf(buf, format, name, value[0], value[1], value[2]);
}

/* The text that patch token 27 has for the same attributes. */
static int copy_attributes(struct ze_build *zb)
{
    const struct ze_attributes *a = &zb->from->attributes;
    struct zs_kernel *k = zb->k;
    const uint32_t size[3] = {a->required_subgroup_size, 0, 0};
    const uint32_t dispatch[3] = {a->dispatch_size, 0, 0};
    struct zs_buf buf = {0};
    if (a->has_group_size)
        append_attribute(&buf, "%s(%u,%u,%u)", "reqd_work_group_size", a->required_group_size);
    if (a->has_hint)
        append_attribute(&buf, "%s(%u,%u,%u)", "work_group_size_hint", a->group_size_hint);
    if (a->required_subgroup_size)
        append_attribute(&buf, "%s(%u)", "intel_reqd_sub_group_size", size);
    if (a->has_walk_order)
        append_attribute(&buf, "%s(%u,%u,%u)", "intel_reqd_workgroup_walk_order", a->walk_order);
    if (a->dispatch_size)
        append_attribute(&buf, "%s(%u)", "intel_reqd_thread_group_dispatch_size", dispatch);
    if (a->required_subgroup_size && k->required_subgroup_size == 0)
        k->required_subgroup_size = a->required_subgroup_size;
    memcpy(k->group_size_hint, a->group_size_hint, sizeof(k->group_size_hint));
    k->attributes = zs_arena_strndup(zb->b->arena, zs_buf_cstr(&buf), buf.size_B);
    k->vec_type_hint = zs_yaml_string(a->vec_type_hint, zb->b->arena);
    k->invalid_reason = zs_yaml_string(a->invalid_kernel, zb->b->arena);
    k->thread_scheduling = zs_yaml_string(zb->from->environment.thread_scheduling, zb->b->arena);
    zs_buf_fini(&buf);
    return k->attributes && k->vec_type_hint && k->invalid_reason && k->thread_scheduling
               ? 0
               : zs_builder_no_memory(zb->b, zb->from->text_B);
}

/* How many of everything, and the size of the cross-thread data: whole registers. */
static int allocate(struct ze_build *zb)
{
    struct zs_kernel *k = zb->k;
    uint32_t args = 0;
    uint64_t end_B = 0;
    size_t fields = 0, count = zb->from->payload.count;
    for (size_t i = 0; i < count; i++) {
        const struct ze_payload *p = &zb->from->payload.items[i];
        if (p->arg != ZS_NONE && p->arg >= ZS_ARG_COUNT_MAX)
            return fail(zb, p->text_B, "arg_index is too large", p->arg);
        args = ZS_MAX(args, p->arg + 1); /* ZS_NONE + 1 is 0 */
        end_B = ZS_MAX(end_B, (uint64_t)p->offset_B + p->size_B);
        fields += is_vector(p->kind) ? 3 : 1;
    }
    for (size_t i = 0; i < zb->from->bindings.count; i++) {
        const struct ze_binding *binding = &zb->from->bindings.items[i];
        if (binding->arg >= ZS_ARG_COUNT_MAX || binding->bti >= ZS_BTI_COUNT_MAX)
            return fail(zb, zb->from->text_B, "binding_table_indices: index is too large",
                        ZS_MAX(binding->arg, binding->bti));
        args = ZS_MAX(args, binding->arg + 1);
    }
    if (end_B > 1 << 20)
        return fail(zb, zb->from->text_B, "payload ends behind 1 MiB", (uint32_t)end_B);
    k->thread.cross_thread_B = (uint32_t)zs_align_up(end_B, zs_gfxcore_grf_B(zb->image->gfxcore));
    struct zs_arena *arena = zb->b->arena;
    k->args = zb->args = ZS_ARENA_ARRAY(arena, args, struct zs_arg);
    k->payload = zb->payload = ZS_ARENA_ARRAY(arena, fields, struct zs_payload);
    k->surfaces = zb->surfaces =
        ZS_ARENA_ARRAY(arena, zb->from->bindings.count + count + 1, struct zs_surface);
    k->samplers = zb->samplers =
        ZS_ARENA_ARRAY(arena, zb->from->samplers.count + count, struct zs_sampler);
    if (!k->args || !k->payload || !k->surfaces || !k->samplers)
        return zs_builder_no_memory(zb->b, zb->from->text_B);
    k->arg_count = args;
    for (uint32_t i = 0; i < args; i++) {
        zb->args[i].index = i;
        zb->args[i].surface = zb->args[i].sampler = ZS_NONE;
    }
    return 0;
}

static void add_field(struct ze_build *zb, const struct ze_payload *p, enum zs_payload_kind kind)
{
    struct zs_payload field = {
        .kind = kind, .arg = p->arg, .offset_B = p->offset_B, .size_B = p->size_B};
    if (kind == ZS_PAYLOAD_ARG_VALUE && p->source_offset_B != ZS_NONE)
        field.source_offset_B = p->source_offset_B;
    if (kind == ZS_PAYLOAD_INLINE_SAMPLER)
        field.index = p->sampler_index == ZS_NONE ? 0 : p->sampler_index;
    zb->payload[zb->k->payload_count++] = field;
}

static void add_vector(struct ze_build *zb, const struct ze_payload *p)
{
    for (uint32_t dim = 0; dim < 3 && 4 * dim < p->size_B; dim++)
        zb->payload[zb->k->payload_count++] = (struct zs_payload){
            .kind = (enum zs_payload_kind)p->kind,
            .arg = ZS_NONE,
            .offset_B = p->offset_B + 4 * dim,
            .size_B = ZS_MIN(p->size_B - 4 * dim, 4u),
            .dim = (uint8_t)dim,
        };
}

static void add_sampler(struct ze_build *zb, const struct ze_payload *p, struct zs_arg *arg)
{
    arg->sampler = zb->k->sampler_count;
    arg->sampler_type = p->sampler_type;
    arg->vme = p->sampler_type == 7;
    zb->samplers[zb->k->sampler_count++] = (struct zs_sampler){
        .arg = p->arg,
        .index = p->sampler_index,
        .dsh_offset_B = ZS_NONE,
    };
}

/* arg_bypointer: an argument may have one entry per way in which the kernel reaches it. */
static int add_pointer(struct ze_build *zb, const struct ze_payload *p)
{
    static const uint8_t mode_bits[] = {0, ZS_ADDRESS_STATELESS, ZS_ADDRESS_STATEFUL,
                                        ZS_ADDRESS_BINDLESS, ZS_ADDRESS_SLM};
    static const struct {
        uint8_t kind, space;
    } of_space[] = {
        [ZE_SPACE_NONE] = {ZS_ARG_BUFFER, ZS_SPACE_GLOBAL},
        [ZE_SPACE_GLOBAL] = {ZS_ARG_BUFFER, ZS_SPACE_GLOBAL},
        [ZE_SPACE_LOCAL] = {ZS_ARG_LOCAL, ZS_SPACE_LOCAL},
        [ZE_SPACE_CONSTANT] = {ZS_ARG_BUFFER, ZS_SPACE_CONSTANT},
        [ZE_SPACE_IMAGE] = {ZS_ARG_IMAGE, ZS_SPACE_GLOBAL},
        [ZE_SPACE_SAMPLER] = {ZS_ARG_SAMPLER, ZS_SPACE_PRIVATE},
    };
    if (p->arg == ZS_NONE)
        return fail(zb, p->text_B, "arg_bypointer without arg_index", 0);
    struct zs_arg *arg = &zb->args[p->arg];
    arg->kind = (enum zs_arg_kind)of_space[p->space].kind;
    arg->space = (enum zs_address_space)of_space[p->space].space;
    arg->access = p->access ? (enum zs_access)p->access : arg->access;
    arg->address_modes |= mode_bits[p->mode];
    arg->qualifiers |= p->pipe ? ZS_QUALIFIER_PIPE : 0u;
    if (arg->kind == ZS_ARG_IMAGE) {
        arg->image_type = (enum zs_image_type)p->image_type;
        arg->transformable = p->transformable;
    } else if (arg->kind == ZS_ARG_LOCAL) {
        arg->slm_alignment_B = p->slm_alignment_B;
    } else if (arg->kind == ZS_ARG_SAMPLER && arg->sampler == ZS_NONE) {
        add_sampler(zb, p, arg);
    }
    if (p->size_B == 0)
        return 0;
    if (p->mode == ZE_MODE_BINDLESS)
        add_field(zb, p, ZS_PAYLOAD_BINDLESS_HANDLE);
    else if (arg->kind == ZS_ARG_LOCAL)
        add_field(zb, p, ZS_PAYLOAD_LOCAL_POINTER);
    else
        add_field(zb, p, ZS_PAYLOAD_ARG_POINTER);
    return 0;
}

static int add_value(struct ze_build *zb, const struct ze_payload *p)
{
    if (p->arg == ZS_NONE)
        return fail(zb, p->text_B, "arg_byvalue without arg_index", 0);
    struct zs_arg *arg = &zb->args[p->arg];
    uint64_t end_B = (uint64_t)(p->source_offset_B == ZS_NONE ? 0 : p->source_offset_B) + p->size_B;
    if (end_B > 1 << 20)
        return fail(zb, p->text_B, "source_offset is too large", p->source_offset_B);
    if (arg->kind == ZS_ARG_UNUSED)
        arg->kind = ZS_ARG_VALUE;
    arg->value_size_B = ZS_MAX(arg->value_size_B, (uint32_t)end_B);
    add_field(zb, p, ZS_PAYLOAD_ARG_VALUE);
    return 0;
}

static void add_surface(struct ze_build *zb, enum zs_surface_kind kind, uint32_t arg, uint32_t bti)
{
    zb->surfaces[zb->k->surface_count++] = (struct zs_surface){
        .kind = kind, .arg = arg, .ssh_offset_B = ZS_NONE, .bti = bti, .writable = true};
    zb->k->binding_table_count = ZS_MAX(zb->k->binding_table_count, bti + 1);
}

static int add_implicit(struct ze_build *zb, const struct ze_payload *p)
{
    struct ze_payload field = *p;
    if (p->kind == ZS_PAYLOAD_UNKNOWN)
        return 0; /* noted by the reader */
    if (p->bti != ZS_NONE &&
        (p->kind == ZS_PAYLOAD_CONST_BASE || p->kind == ZS_PAYLOAD_GLOBAL_BASE)) {
        if (p->bti >= ZS_BTI_COUNT_MAX)
            return fail(zb, p->text_B, "bti_value is too large", p->bti);
        add_surface(zb, p->kind == ZS_PAYLOAD_CONST_BASE ? ZS_SURFACE_CONSTANT : ZS_SURFACE_GLOBAL,
                    ZS_NONE, p->bti);
    }
    if (p->kind == ZS_PAYLOAD_PRINTF_BUFFER)
        zb->k->flags |= ZS_KERNEL_PRINTF_CALLS;
    if (p->mode == ZE_MODE_BINDLESS && p->kind == ZS_PAYLOAD_CONST_BASE)
        field.kind = ZS_PAYLOAD_CONST_HANDLE;
    if (p->mode == ZE_MODE_BINDLESS && p->kind == ZS_PAYLOAD_GLOBAL_BASE)
        field.kind = ZS_PAYLOAD_GLOBAL_HANDLE;
    if (is_vector(p->kind))
        add_vector(zb, &field);
    else if (p->size_B)
        add_field(zb, &field, (enum zs_payload_kind)field.kind);
    return 0;
}

static int add_payload(struct ze_build *zb)
{
    int error = 0;
    for (size_t i = 0; i < zb->from->payload.count && !error; i++) {
        const struct ze_payload *p = &zb->from->payload.items[i];
        if (p->kind == ZS_PAYLOAD_ARG_POINTER)
            error = add_pointer(zb, p);
        else if (p->kind == ZS_PAYLOAD_ARG_VALUE)
            error = add_value(zb, p);
        else
            error = add_implicit(zb, p);
    }
    return error;
}

static void add_bindings(struct ze_build *zb)
{
    for (size_t i = 0; i < zb->from->bindings.count; i++) {
        const struct ze_binding *binding = &zb->from->bindings.items[i];
        struct zs_arg *arg = &zb->args[binding->arg];
        bool image = arg->kind == ZS_ARG_IMAGE;
        if (arg->surface == ZS_NONE)
            arg->surface = zb->k->surface_count;
        add_surface(zb, image ? ZS_SURFACE_ARG_IMAGE : ZS_SURFACE_ARG_BUFFER, binding->arg,
                    binding->bti);
        zb->surfaces[zb->k->surface_count - 1].writable =
            image ? arg->access != ZS_ACCESS_READ_ONLY : arg->space != ZS_SPACE_CONSTANT;
    }
    if (zb->from->sip_bti < ZS_BTI_COUNT_MAX)
        add_surface(zb, ZS_SURFACE_SIP, ZS_NONE, zb->from->sip_bti);
}

static void add_inline_samplers(struct ze_build *zb)
{
    for (size_t i = 0; i < zb->from->samplers.count; i++) {
        const struct ze_inline_sampler *s = &zb->from->samplers.items[i];
        zb->samplers[zb->k->sampler_count++] = (struct zs_sampler){
            .arg = ZS_NONE,
            .index = s->index,
            .dsh_offset_B = ZS_NONE,
            .has_state = true,
            .address = (enum zs_sampler_address)s->address,
            .linear = s->filter != 0,
            .normalized = s->normalized,
        };
    }
}

/* local_id has a whole number of registers per dimension: as many dimensions as fit. */
static void copy_local_ids(struct ze_build *zb)
{
    struct zs_kernel *k = zb->k;
    uint32_t grf_B = zs_gfxcore_grf_B(zb->image->gfxcore);
    uint32_t dim_B = (uint32_t)zs_align_up(ZS_MAX(k->simd, 16u) * 2, grf_B);
    for (uint32_t dim = 0; dim < 3; dim++)
        k->thread.local_id[dim] = zb->from->local_id_B >= (dim + 1) * dim_B;
    k->thread.packed_local_ids = zb->from->packed_local_ids;
    k->thread.per_thread_B = zb->from->per_thread_B;
}

int zs_ze_kernel_build(struct zs_builder *b, const struct zs_image *image,
                       const struct ze_kernel *from, struct zs_kernel *kernel)
{
    struct ze_build zb = {.b = b, .image = image, .from = from, .k = kernel};
    kernel->binding_table_offset_B = kernel->border_color_offset_B = ZS_NONE;
    kernel->interface_descriptor_offset_B = kernel->section = ZS_NONE;
    int error = check_environment(&zb);
    if (error)
        return error;
    copy_environment(&zb);
    error = copy_memory(&zb);
    if (!error)
        error = copy_attributes(&zb);
    if (!error)
        error = allocate(&zb);
    if (!error)
        error = add_payload(&zb);
    if (error)
        return error;
    add_bindings(&zb);
    add_inline_samplers(&zb);
    copy_local_ids(&zb);
    for (uint32_t i = 0; i < kernel->arg_count; i++)
        zs_arg_finish(&zb.args[i]);
    qsort(zb.payload, kernel->payload_count, sizeof(*zb.payload), zs_payload_compare);
    zs_kernel_finish(image, kernel);
    return 0;
}

int zs_ze_kernel_add_args(struct zs_builder *b, struct zs_kernel *kernel,
                          const struct ze_arg_info *infos, size_t count, uint64_t offset_B)
{
    uint32_t need = kernel->arg_count;
    for (size_t i = 0; i < count; i++) {
        if (infos[i].index >= ZS_ARG_COUNT_MAX)
            return zs_diag_set(b->diag, -EINVAL, offset_B,
                               ".ze_info: kernel %.100s: argument %u: at most %d expected",
                               kernel->name, infos[i].index, ZS_ARG_COUNT_MAX - 1);
        need = ZS_MAX(need, infos[i].index + 1);
    }
    struct zs_arg *args = ZS_ARENA_ARRAY(b->arena, need, struct zs_arg);
    if (!args)
        return zs_builder_no_memory(b, offset_B);
    if (kernel->arg_count)
        memcpy(args, kernel->args, kernel->arg_count * sizeof(*args));
    for (uint32_t i = kernel->arg_count; i < need; i++)
        args[i] = (struct zs_arg){.index = i, .surface = ZS_NONE, .sampler = ZS_NONE};
    kernel->args = args;
    kernel->arg_count = need;
    for (size_t i = 0; i < count; i++) {
        const struct zs_span *spans[5] = {&infos[i].address, &infos[i].access, &infos[i].name,
                                          &infos[i].type, &infos[i].qualifiers};
        const char *texts[5];
        for (uint32_t t = 0; t < 5; t++)
            if (!(texts[t] = zs_yaml_string(*spans[t], b->arena)))
                return zs_builder_no_memory(b, offset_B);
        zs_arg_set_info(&args[infos[i].index], texts[0], texts[1], texts[2], texts[3], texts[4],
                        b->arena);
    }
    for (uint32_t i = 0; i < need; i++)
        zs_arg_finish(&args[i]);
    return 0;
}
