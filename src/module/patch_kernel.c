/* SPDX-License-Identifier: MIT */
/*
 * The patch list of one kernel becomes the normalised model.
 *
 * Two walks over the list. The first checks every token's size, counts what the arrays of the
 * model must hold and learns what later checks need (size of the cross-thread data, bindless mode);
 * the second fills. What a token means stands in one handler per token number, in a table.
 */
#include "module/module_priv.h"
#include "module/tokens.h"

#include <errno.h>
#include <stdlib.h>

struct kernel_build {
    struct zs_builder *b;
    const struct zs_image *image;
    struct zs_kernel *k;
    bool bindless, has_environment;
    uint32_t sampler_table_B; /* DSH offset of the sampler table, or ZS_NONE */
    /* arrays under construction; k holds the counts */
    struct zs_arg *args;
    struct zs_payload *payload;
    struct zs_surface *surfaces;
    struct zs_sampler *samplers;
    struct zs_string *strings;
    struct zs_symbol *symbols;
    struct zs_relocation *relocations;
};

struct kernel_counts {
    uint32_t args, payload, surfaces, samplers, strings, symbols, relocations;
};

/* DATA_PARAMETER_TOKEN to payload kind, and which kinds belong to an argument. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
enum { DATA_PARAMETER_COUNT = 51 };
static const uint8_t kind_of_parameter[DATA_PARAMETER_COUNT] = {
#define ZS_PAYLOAD(name, text, token, arg_type, scope, patched) [token] = ZS_PAYLOAD_##name,
#include <zescope/module_payload.def>
#undef ZS_PAYLOAD
    [0] = ZS_PAYLOAD_UNKNOWN,
};
#pragma GCC diagnostic pop
enum { SCOPE_K, SCOPE_A };
static const uint8_t payload_scope[ZS_PAYLOAD_COUNT] = {
#define ZS_PAYLOAD(name, text, token, arg_type, scope, patched) [ZS_PAYLOAD_##name] = SCOPE_##scope,
#include <zescope/module_payload.def>
#undef ZS_PAYLOAD
};

static enum zs_payload_kind parameter_kind(const struct zs_token *t)
{
    uint32_t type = zs_token_u32(t, 0);
    return type < DATA_PARAMETER_COUNT ? (enum zs_payload_kind)kind_of_parameter[type]
                                       : ZS_PAYLOAD_UNKNOWN;
}

static int add_payload(struct kernel_build *kb, const struct zs_token *t, enum zs_payload_kind kind,
                       uint32_t arg, uint32_t offset_B, uint32_t size_B)
{
    struct zs_kernel *k = kb->k;
    uint32_t total_B = k->thread.cross_thread_B;
    if (offset_B > total_B || size_B > total_B - offset_B)
        return zs_diag_set(kb->b->diag, -EINVAL, t->offset_B,
                           "%s: bytes 0x%x to 0x%llx of a cross-thread block of 0x%x bytes",
                           t->name, offset_B, (unsigned long long)offset_B + size_B, total_B);
    kb->payload[k->payload_count++] =
        (struct zs_payload){.kind = kind, .arg = arg, .offset_B = offset_B, .size_B = size_B};
    return 0;
}

static int add_surface(struct kernel_build *kb, const struct zs_token *t, enum zs_surface_kind kind,
                       uint32_t arg, uint32_t ssh_offset_B, bool writable)
{
    struct zs_kernel *k = kb->k;
    struct zs_span state;
    if (ssh_offset_B == ZS_NONE)
        return 0;
    if (!zs_span_sub(k->ssh, ssh_offset_B, 64, &state)) {
        if (k->ssh.size_B == 0) /* stateless only: offset 0 stands for "none" */
            return 0;
        return zs_diag_set(kb->b->diag, -EINVAL, t->offset_B,
                           "%s: surface state at 0x%x of a surface state heap of 0x%zx bytes",
                           t->name, ssh_offset_B, k->ssh.size_B);
    }
    if (arg != ZS_NONE)
        kb->args[arg].surface = k->surface_count;
    kb->surfaces[k->surface_count++] = (struct zs_surface){.kind = kind,
                                                           .arg = arg,
                                                           .ssh_offset_B = ssh_offset_B,
                                                           .bti = ZS_NONE,
                                                           .writable = writable};
    return 0;
}

/* --- one handler per token --- */

static int on_sampler_table(struct kernel_build *kb, const struct zs_token *t)
{
    uint32_t offset_B = zs_token_u32(t, 0), count = zs_token_u32(t, 1);
    uint32_t border_B = zs_token_u32(t, 2);
    struct zs_span table, border;
    if (!zs_span_sub(kb->k->dsh, offset_B, (uint64_t)count * 16, &table))
        return zs_diag_set(kb->b->diag, -EINVAL, t->offset_B,
                           "%s: %u samplers at 0x%x of a dynamic state heap of 0x%zx bytes",
                           t->name, count, offset_B, kb->k->dsh.size_B);
    kb->sampler_table_B = offset_B;
    if (zs_span_sub(kb->k->dsh, border_B, 16, &border))
        kb->k->border_color_offset_B = border_B;
    for (uint32_t i = 0; i < count; i++)
        kb->samplers[kb->k->sampler_count++] =
            (struct zs_sampler){.arg = ZS_NONE, .index = i, .dsh_offset_B = offset_B + 16 * i};
    return 0;
}

static int on_binding_table(struct kernel_build *kb, const struct zs_token *t)
{
    uint32_t offset_B = zs_token_u32(t, 0), count = zs_token_u32(t, 1);
    struct zs_kernel *k = kb->k;
    struct zs_span table;
    if (count > ZS_BTI_COUNT_MAX)
        return zs_diag_set(kb->b->diag, -EINVAL, t->offset_B, "%s: %u entries: at most %d expected",
                           t->name, count, ZS_BTI_COUNT_MAX);
    if (!zs_span_sub(k->ssh, offset_B, (uint64_t)count * 4, &table))
        return zs_diag_set(kb->b->diag, -EINVAL, t->offset_B,
                           "%s: %u entries at 0x%x of a surface state heap of 0x%zx bytes", t->name,
                           count, offset_B, k->ssh.size_B);
    uint32_t *entries = ZS_ARENA_ARRAY(kb->b->arena, count, uint32_t);
    if (!entries)
        return zs_builder_no_memory(kb->b, t->offset_B);
    for (uint32_t i = 0; i < count; i++) {
        entries[i] = zs_load_u32(table.data + 4 * i);
        if (entries[i] >= k->ssh.size_B)
            return zs_diag_set(kb->b->diag, -EINVAL, t->offset_B,
                               "%s: entry %u names 0x%x of a surface state heap of 0x%zx bytes",
                               t->name, i, entries[i], k->ssh.size_B);
    }
    k->binding_table = entries;
    k->binding_table_count = count;
    k->binding_table_offset_B = offset_B;
    return 0;
}

static int on_sip_surface(struct kernel_build *kb, const struct zs_token *t)
{
    kb->k->system_thread_B = zs_token_u32(t, 1);
    return add_surface(kb, t, ZS_SURFACE_SIP, ZS_NONE, zs_token_u32(t, 0), true);
}

/* Tokens 11 and 13: a buffer that is reached through its surface only. */
static int on_stateful_buffer(struct kernel_build *kb, const struct zs_token *t)
{
    struct zs_arg *arg = &kb->args[zs_token_u32(t, 0)];
    bool constant = t->number == ZS_TOKEN_CONSTANT_MEMORY_OBJECT_KERNEL_ARGUMENT;
    arg->kind = ZS_ARG_BUFFER;
    arg->space = constant ? ZS_SPACE_CONSTANT : ZS_SPACE_GLOBAL;
    arg->address_modes |= ZS_ADDRESS_STATEFUL;
    arg->emulation = zs_token_u32(t, 4) != 0;
    return add_surface(kb, t, ZS_SURFACE_ARG_BUFFER, arg->index, zs_token_u32(t, 1), !constant);
}

static int on_image(struct kernel_build *kb, const struct zs_token *t)
{
    struct zs_arg *arg = &kb->args[zs_token_u32(t, 0)];
    uint32_t type = zs_token_u32(t, 1), offset_B = zs_token_u32(t, 2);
    bool writable = zs_token_u32(t, 5) != 0;
    arg->kind = ZS_ARG_IMAGE;
    arg->space = ZS_SPACE_GLOBAL;
    arg->image_type = type < ZS_IMAGE_TYPE_COUNT ? (enum zs_image_type)type : ZS_IMAGE_NONE;
    if (arg->access == ZS_ACCESS_NONE)
        arg->access = writable ? ZS_ACCESS_READ_WRITE : ZS_ACCESS_READ_ONLY;
    arg->transformable = zs_token_u32(t, 6) != 0;
    arg->emulation = zs_token_u32(t, 8) != 0;
    if (kb->bindless && zs_token_u32(t, 7)) {
        arg->address_modes |= ZS_ADDRESS_BINDLESS;
        return add_payload(kb, t, ZS_PAYLOAD_BINDLESS_HANDLE, arg->index, offset_B, 4);
    }
    arg->address_modes |= ZS_ADDRESS_STATEFUL;
    return add_surface(kb, t, ZS_SURFACE_ARG_IMAGE, arg->index, offset_B, writable);
}

static int on_sampler(struct kernel_build *kb, const struct zs_token *t)
{
    struct zs_arg *arg = &kb->args[zs_token_u32(t, 0)];
    uint32_t offset_B = zs_token_u32(t, 2);
    struct zs_span state;
    arg->kind = ZS_ARG_SAMPLER;
    arg->sampler_type = zs_token_u32(t, 1);
    arg->vme = arg->sampler_type == 7;
    arg->emulation = zs_token_u32(t, 7) != 0;
    if (arg->vme)
        kb->k->flags |= ZS_KERNEL_VME;
    if (kb->bindless && zs_token_u32(t, 5)) {
        arg->address_modes |= ZS_ADDRESS_BINDLESS;
        return add_payload(kb, t, ZS_PAYLOAD_BINDLESS_HANDLE, arg->index, offset_B, 4);
    }
    arg->address_modes |= ZS_ADDRESS_STATEFUL;
    if (!zs_span_sub(kb->k->dsh, offset_B, 16, &state))
        return zs_diag_set(kb->b->diag, -EINVAL, t->offset_B,
                           "%s: sampler state at 0x%x of a dynamic state heap of 0x%zx bytes",
                           t->name, offset_B, kb->k->dsh.size_B);
    /* joined to its place in the sampler table at the end: the table may come later */
    arg->sampler = offset_B;
    return 0;
}

static int on_local_surface(struct kernel_build *kb, const struct zs_token *t)
{
    kb->k->slm_B = zs_token_u32(t, 1);
    return 0;
}

static int on_parameter(struct kernel_build *kb, const struct zs_token *t)
{
    enum zs_payload_kind kind = parameter_kind(t);
    bool of_arg = payload_scope[kind] == SCOPE_A;
    uint32_t source_B = zs_token_u32(t, 4);
    if (kind == ZS_PAYLOAD_UNKNOWN)
        zs_builder_note(kb->b, t->offset_B, "kernel %s: data parameter of unknown type %u",
                        kb->k->name, zs_token_u32(t, 0));
    struct zs_arg *arg = of_arg ? &kb->args[zs_token_u32(t, 1)] : NULL;
    uint32_t size_B = zs_token_u32(t, 3);
    int error = add_payload(kb, t, kind, arg ? arg->index : ZS_NONE, zs_token_u32(t, 2), size_B);
    if (error)
        return error;
    struct zs_payload *p = &kb->payload[kb->k->payload_count - 1];
    if (kind == ZS_PAYLOAD_ARG_VALUE) {
        p->source_offset_B = source_B;
        if (arg->kind == ZS_ARG_UNUSED)
            arg->kind = ZS_ARG_VALUE;
        uint64_t end_B = (uint64_t)source_B + size_B;
        if (end_B > UINT32_MAX)
            return zs_diag_set(kb->b->diag, -EINVAL, t->offset_B,
                               "%s: source offset 0x%x of an argument", t->name, source_B);
        arg->value_size_B = ZS_MAX(arg->value_size_B, (uint32_t)end_B);
    } else if (kind == ZS_PAYLOAD_LOCAL_POINTER) {
        arg->kind = ZS_ARG_LOCAL;
        arg->space = ZS_SPACE_LOCAL;
        arg->slm_alignment_B = source_B;
    } else if (!of_arg && source_B <= 8 && source_B % 4 == 0) {
        p->dim = (uint8_t)(source_B / 4);
    }
    return 0;
}

static int on_scratch(struct kernel_build *kb, const struct zs_token *t)
{
    kb->k->scratch_B[t->number == ZS_TOKEN_MEDIA_VFE_STATE_SLOT1] = zs_token_u32(t, 1);
    return 0;
}

static int on_interface_descriptor(struct kernel_build *kb, const struct zs_token *t)
{
    struct zs_span data;
    if (!zs_span_sub(kb->k->dsh, zs_token_u32(t, 0), 32, &data))
        return zs_diag_set(kb->b->diag, -EINVAL, t->offset_B,
                           "%s: 32 bytes at 0x%x of a dynamic state heap of 0x%zx bytes", t->name,
                           zs_token_u32(t, 0), kb->k->dsh.size_B);
    kb->k->interface_descriptor_offset_B = zs_token_u32(t, 0);
    return 0;
}

static int on_thread_payload(struct kernel_build *kb, const struct zs_token *t)
{
    struct zs_thread_payload *p = &kb->k->thread;
    p->header = zs_token_u32(t, 0) != 0;
    for (uint32_t i = 0; i < 3; i++)
        p->local_id[i] = zs_token_u32(t, 1 + i) != 0;
    p->local_id_flattened = zs_token_u32(t, 4) != 0;
    p->indirect = zs_token_u32(t, 5) != 0;
    p->unused_per_thread = zs_token_u32(t, 6) != 0;
    p->skip_per_thread_load_B = zs_token_u32(t, 12);
    p->skip_set_ffid_B = zs_token_u32(t, 13);
    p->inline_data_B = zs_token_u32(t, 14) ? zs_gfxcore_grf_B(kb->image->gfxcore) : 0;
    p->rt_stack_id = zs_token_u32(t, 15) != 0;
    p->generate_local_id = zs_token_u32(t, 16) != 0;
    p->emit_local_mask = zs_token_u32(t, 17) != 0;
    p->walk_order = zs_token_u32(t, 18);
    p->tile_y = zs_token_u32(t, 19) != 0;
    if (p->skip_per_thread_load_B > kb->k->code.size_B || p->skip_set_ffid_B > kb->k->code.size_B)
        return zs_diag_set(kb->b->diag, -EINVAL, t->offset_B,
                           "%s: entry points 0x%x and 0x%x behind %zu bytes of code", t->name,
                           p->skip_per_thread_load_B, p->skip_set_ffid_B, kb->k->code.size_B);
    return 0;
}

/* The dword of EXECUTION_ENVIRONMENT at that place in version 1081; 1082 put HasSample before
 * what was dword 6. */
static uint32_t environment_u32(const struct kernel_build *kb, const struct zs_token *t,
                                uint32_t dword)
{
    return zs_token_u32(t, dword + (kb->image->version >= 1082 && dword >= 6));
}

static uint32_t environment_flags(const struct kernel_build *kb, const struct zs_token *t)
{
    static const struct {
        uint32_t flag;
        int offset_B;
    } rows[] = {
#define ZS_KERNEL_FLAG(bit, name, text, key, offset) {ZS_KERNEL_##name, offset},
#include <zescope/module_flags.def>
#undef ZS_KERNEL_FLAG
    };
    uint32_t flags = kb->image->version >= 1082 && zs_token_u32(t, 6) ? ZS_KERNEL_SAMPLE : 0;
    for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++)
        if (rows[i].offset_B >= 0 && environment_u32(kb, t, (uint32_t)rows[i].offset_B / 4))
            flags |= rows[i].flag;
    return flags;
}

static int on_environment(struct kernel_build *kb, const struct zs_token *t)
{
    struct zs_kernel *k = kb->k;
    kb->has_environment = true;
    for (uint32_t i = 0; i < 3; i++)
        k->required_group_size[i] = zs_token_u32(t, i);
    k->simd = zs_token_u32(t, 3);
    k->subgroup_count = zs_token_u32(t, 4);
    k->barrier_count = zs_token_u32(t, 5);
    k->grf_count = environment_u32(kb, t, 20);
    uint32_t order = environment_u32(kb, t, 21);
    for (uint32_t i = 0; i < 3 && order; i++)
        k->walk_order[i] = (uint8_t)(order >> (2 * i) & 3);
    k->stateless_writes = environment_u32(kb, t, 26);
    k->indirect_stateless = environment_u32(kb, t, 27);
    k->stateless_writes_known = t->body.size_B >= 27 * 4;
    k->flags |= environment_flags(kb, t);
    if (k->simd != 1 && k->simd != 8 && k->simd != 16 && k->simd != 32)
        return zs_diag_set(kb->b->diag, -EINVAL, t->offset_B,
                           "%s: SIMD size %u: 1, 8, 16 or 32 expected", t->name, k->simd);
    if (k->grf_count > 1024)
        return zs_diag_set(kb->b->diag, -EINVAL, t->offset_B,
                           "%s: %u registers: at most 1024 expected", t->name, k->grf_count);
    for (uint32_t i = 0; i < 3; i++)
        if (k->walk_order[i] > 2)
            return zs_diag_set(kb->b->diag, -EINVAL, t->offset_B, "%s: walk order 0x%x", t->name,
                               order);
    return 0;
}

static int on_arg_info(struct kernel_build *kb, const struct zs_token *t)
{
    struct zs_reader r = zs_reader_make(t->body, t->offset_B + 8, kb->b->diag);
    const char *texts[5];
    zs_read_skip(&r, 24, "argument information");
    for (uint32_t i = 0; i < 5; i++) {
        struct zs_span text = zs_read_bytes(&r, zs_token_u32(t, 1 + i), "argument information");
        if (r.error)
            return r.error;
        texts[i] = text.size_B && text.data[0]
                       ? zs_arena_strndup(kb->b->arena, text.data, text.size_B)
                       : "";
        if (!texts[i])
            return zs_builder_no_memory(kb->b, t->offset_B);
    }
    zs_arg_set_info(&kb->args[zs_token_u32(t, 0)], texts[0], texts[1], texts[2], texts[3], texts[4],
                    kb->b->arena);
    return 0;
}

static int read_string(struct kernel_build *kb, const struct zs_token *t, uint32_t at_dword,
                       uint32_t size_B, const char **ret_text)
{
    struct zs_span text;
    if (!zs_span_sub(t->body, 4 * (uint64_t)at_dword, size_B, &text))
        return zs_diag_set(kb->b->diag, -EINVAL, t->offset_B,
                           "%s: string of %u bytes in a token of %u", t->name, size_B, t->size_B);
    *ret_text = text.size_B ? zs_arena_strndup(kb->b->arena, text.data, text.size_B) : "";
    return *ret_text ? 0 : zs_builder_no_memory(kb->b, t->offset_B);
}

static int on_attributes(struct kernel_build *kb, const struct zs_token *t)
{
    return read_string(kb, t, 1, zs_token_u32(t, 0), &kb->k->attributes);
}

static int on_string(struct kernel_build *kb, const struct zs_token *t)
{
    struct zs_string *s = &kb->strings[kb->k->string_count++];
    s->index = zs_token_u32(t, 0);
    return read_string(kb, t, 2, zs_token_u32(t, 1), &s->text);
}

/* Tokens 30, 31 and 46: a pointer argument with an address in the payload and often a surface. */
static int on_stateless_arg(struct kernel_build *kb, const struct zs_token *t)
{
    struct zs_arg *arg = &kb->args[zs_token_u32(t, 0)];
    bool queue = t->number == ZS_TOKEN_STATELESS_DEVICE_QUEUE_KERNEL_ARGUMENT;
    bool constant = t->number == ZS_TOKEN_STATELESS_CONSTANT_MEMORY_OBJECT_KERNEL_ARGUMENT;
    arg->kind = queue ? ZS_ARG_QUEUE : ZS_ARG_BUFFER;
    arg->space = constant ? ZS_SPACE_CONSTANT : ZS_SPACE_GLOBAL;
    arg->emulation = zs_token_u32(t, 6) != 0;
    arg->address_modes |= ZS_ADDRESS_STATELESS;
    int error = add_payload(kb, t, queue ? ZS_PAYLOAD_DEVICE_QUEUE : ZS_PAYLOAD_ARG_POINTER,
                            arg->index, zs_token_u32(t, 2), zs_token_u32(t, 3));
    if (error)
        return error;
    /* of others IGC gives a surface state in bindless mode, too */
    if (kb->bindless && !queue && !constant && zs_token_u32(t, 1) != ZS_NONE) {
        arg->address_modes |= ZS_ADDRESS_BINDLESS;
        return add_payload(kb, t, ZS_PAYLOAD_BINDLESS_HANDLE, arg->index, zs_token_u32(t, 1), 4);
    }
    uint32_t before = kb->k->surface_count;
    error = add_surface(kb, t, queue ? ZS_SURFACE_ARG_QUEUE : ZS_SURFACE_ARG_BUFFER, arg->index,
                        zs_token_u32(t, 1), !constant);
    if (kb->k->surface_count > before)
        arg->address_modes |= ZS_ADDRESS_STATEFUL;
    return error;
}

static const struct implicit_row {
    uint32_t token;
    enum zs_payload_kind payload;
    enum zs_surface_kind surface;
    uint32_t first; /* dword of SurfaceStateHeapOffset; an index stands before it if 1 */
} implicit_rows[] = {
    {ZS_TOKEN_ALLOCATE_STATELESS_PRINTF_SURFACE, ZS_PAYLOAD_PRINTF_BUFFER, ZS_SURFACE_PRINTF, 1},
    {ZS_TOKEN_ALLOCATE_STATELESS_EVENT_POOL_SURFACE, ZS_PAYLOAD_EVENT_POOL, ZS_SURFACE_EVENT_POOL,
     1},
    {ZS_TOKEN_ALLOCATE_STATELESS_PRIVATE_MEMORY, ZS_PAYLOAD_PRIVATE_BASE, ZS_SURFACE_PRIVATE, 0},
    {ZS_TOKEN_ALLOCATE_STATELESS_GLOBAL_MEMORY_SURFACE_WITH_INITIALIZATION, ZS_PAYLOAD_GLOBAL_BASE,
     ZS_SURFACE_GLOBAL, 1},
    {ZS_TOKEN_ALLOCATE_STATELESS_CONSTANT_MEMORY_SURFACE_WITH_INITIALIZATION, ZS_PAYLOAD_CONST_BASE,
     ZS_SURFACE_CONSTANT, 1},
    {ZS_TOKEN_ALLOCATE_STATELESS_DEFAULT_DEVICE_QUEUE_SURFACE, ZS_PAYLOAD_DEFAULT_QUEUE,
     ZS_SURFACE_DEFAULT_QUEUE, 0},
    {ZS_TOKEN_ALLOCATE_SYNC_BUFFER, ZS_PAYLOAD_SYNC_BUFFER, ZS_SURFACE_SYNC, 0},
    {ZS_TOKEN_ALLOCATE_RT_GLOBAL_BUFFER, ZS_PAYLOAD_RT_GLOBAL_BUFFER, ZS_SURFACE_RT_GLOBAL, 0},
};

static int on_implicit(struct kernel_build *kb, const struct zs_token *t)
{
    const struct implicit_row *row = implicit_rows;
    while (row->token != t->number)
        row++;
    int error = add_payload(kb, t, row->payload, ZS_NONE, zs_token_u32(t, row->first + 1),
                            zs_token_u32(t, row->first + 2));
    if (error)
        return error;
    kb->payload[kb->k->payload_count - 1].index = row->first ? zs_token_u32(t, 0) : 0;
    if (row->payload == ZS_PAYLOAD_PRINTF_BUFFER)
        kb->k->flags |= ZS_KERNEL_PRINTF_CALLS;
    if (row->payload == ZS_PAYLOAD_SYNC_BUFFER)
        kb->k->flags |= ZS_KERNEL_SYNC_BUFFER;
    return add_surface(kb, t, row->surface, ZS_NONE, zs_token_u32(t, row->first),
                       row->surface != ZS_SURFACE_CONSTANT);
}

static int on_private(struct kernel_build *kb, const struct zs_token *t)
{
    kb->k->private_B = zs_token_u32(t, 3);
    kb->k->private_per_thread = zs_token_u32(t, 4) == 0;
    return on_implicit(kb, t);
}

static int on_symbols(struct kernel_build *kb, const struct zs_token *t)
{
    uint32_t count;
    struct zs_symbol *symbols;
    int error = zs_patch_symbols_read(kb->b, t, &symbols, &count);
    if (error)
        return error;
    for (uint32_t i = 0; i < count; i++) {
        if (symbols[i].place.kind == ZS_PLACE_KERNEL) {
            symbols[i].place.index = kb->k->index;
            if (symbols[i].place.offset_B > kb->k->heap.size_B)
                return zs_diag_set(kb->b->diag, -EINVAL, t->offset_B,
                                   "symbol %u at 0x%llx of a kernel heap of 0x%zx bytes", i,
                                   (unsigned long long)symbols[i].place.offset_B,
                                   kb->k->heap.size_B);
        }
        kb->symbols[kb->k->symbol_count++] = symbols[i];
    }
    return 0;
}

static int on_relocations(struct kernel_build *kb, const struct zs_token *t)
{
    struct zs_reader r = zs_reader_make(t->body, t->offset_B + 8, kb->b->diag);
    uint32_t count = zs_read_u32(&r, "relocation count");
    struct zs_span bytes;
    for (uint32_t i = 0; i < count && !r.error; i++) {
        uint32_t kind = zs_read_u32(&r, "relocation type");
        uint32_t offset_B = zs_read_u32(&r, "relocation offset");
        struct zs_span name = zs_read_bytes(&r, ZS_NAME_FIELD_B, "relocation symbol");
        if (r.error)
            break;
        struct zs_relocation *out = &kb->relocations[kb->k->relocation_count++];
        out->kind =
            kind <= ZS_RELOCATION_GLOBAL_IMM ? (enum zs_relocation_kind)kind : ZS_RELOCATION_NONE;
        out->at = (struct zs_place){ZS_PLACE_KERNEL, kb->k->index, offset_B};
        out->symbol = zs_arena_strndup(kb->b->arena, name.data, name.size_B);
        if (!out->symbol)
            return zs_builder_no_memory(kb->b, t->offset_B);
        if (out->kind == ZS_RELOCATION_NONE && kind)
            zs_builder_note(kb->b, t->offset_B, "kernel %s: relocation of unknown type %u",
                            kb->k->name, kind);
        if (!zs_span_sub(kb->k->heap, offset_B, zs_relocation_size_B(out->kind), &bytes))
            return zs_diag_set(kb->b->diag, -EINVAL, t->offset_B,
                               "relocation %u patches 0x%x of a kernel heap of 0x%zx bytes", i,
                               offset_B, kb->k->heap.size_B);
    }
    return r.error;
}

static int on_ignored(struct kernel_build *kb, const struct zs_token *t)
{
    (void)kb;
    (void)t;
    return 0;
}

static int on_vme(struct kernel_build *kb, const struct zs_token *t)
{
    (void)t;
    kb->k->flags |= ZS_KERNEL_VME;
    return 0;
}

/* What a token adds at most to the arrays of the model. */
enum {
    ADDS_ARG = 1, /* dword 0 is an argument number */
    ADDS_PAYLOAD = 2,
    ADDS_SURFACE = 4,
    ADDS_ARG_PARAMETER = 8, /* dword 1 is one, for kinds that belong to an argument */
};

static const struct token_handler {
    int (*fn)(struct kernel_build *kb, const struct zs_token *t);
    uint32_t adds;
} handlers[ZS_PATCH_TOKEN_COUNT] = {
    [ZS_TOKEN_STATE_SIP] = {on_ignored, 0},
    [ZS_TOKEN_SAMPLER_STATE_ARRAY] = {on_sampler_table, 0},
    [ZS_TOKEN_BINDING_TABLE_STATE] = {on_binding_table, 0},
    [ZS_TOKEN_ALLOCATE_SIP_SURFACE] = {on_sip_surface, ADDS_SURFACE},
    [ZS_TOKEN_GLOBAL_MEMORY_OBJECT_KERNEL_ARGUMENT] = {on_stateful_buffer, ADDS_ARG | ADDS_SURFACE},
    [ZS_TOKEN_CONSTANT_MEMORY_OBJECT_KERNEL_ARGUMENT] = {on_stateful_buffer,
                                                         ADDS_ARG | ADDS_SURFACE},
    [ZS_TOKEN_IMAGE_MEMORY_OBJECT_KERNEL_ARGUMENT] = {on_image,
                                                      ADDS_ARG | ADDS_PAYLOAD | ADDS_SURFACE},
    [ZS_TOKEN_ALLOCATE_LOCAL_SURFACE] = {on_local_surface, 0},
    [ZS_TOKEN_SAMPLER_KERNEL_ARGUMENT] = {on_sampler, ADDS_ARG | ADDS_PAYLOAD},
    [ZS_TOKEN_DATA_PARAMETER_BUFFER] = {on_parameter, ADDS_ARG_PARAMETER | ADDS_PAYLOAD},
    [ZS_TOKEN_MEDIA_VFE_STATE] = {on_scratch, 0},
    [ZS_TOKEN_MEDIA_VFE_STATE_SLOT1] = {on_scratch, 0},
    [ZS_TOKEN_MEDIA_INTERFACE_DESCRIPTOR_LOAD] = {on_ignored, 0},
    [ZS_TOKEN_INTERFACE_DESCRIPTOR_DATA] = {on_interface_descriptor, 0},
    [ZS_TOKEN_THREAD_PAYLOAD] = {on_thread_payload, 0},
    [ZS_TOKEN_EXECUTION_ENVIRONMENT] = {on_environment, 0},
    [ZS_TOKEN_DATA_PARAMETER_STREAM] = {on_ignored, 0}, /* taken by the first walk */
    [ZS_TOKEN_KERNEL_ARGUMENT_INFO] = {on_arg_info, ADDS_ARG},
    [ZS_TOKEN_KERNEL_ATTRIBUTES_INFO] = {on_attributes, 0},
    [ZS_TOKEN_STRING] = {on_string, 0},
    [ZS_TOKEN_STATELESS_GLOBAL_MEMORY_OBJECT_KERNEL_ARGUMENT] = {on_stateless_arg,
                                                                 ADDS_ARG | ADDS_PAYLOAD |
                                                                     ADDS_SURFACE},
    [ZS_TOKEN_STATELESS_CONSTANT_MEMORY_OBJECT_KERNEL_ARGUMENT] = {on_stateless_arg,
                                                                   ADDS_ARG | ADDS_PAYLOAD |
                                                                       ADDS_SURFACE},
    [ZS_TOKEN_STATELESS_DEVICE_QUEUE_KERNEL_ARGUMENT] = {on_stateless_arg,
                                                         ADDS_ARG | ADDS_PAYLOAD | ADDS_SURFACE},
    [ZS_TOKEN_ALLOCATE_STATELESS_PRINTF_SURFACE] = {on_implicit, ADDS_PAYLOAD | ADDS_SURFACE},
    [ZS_TOKEN_ALLOCATE_STATELESS_EVENT_POOL_SURFACE] = {on_implicit, ADDS_PAYLOAD | ADDS_SURFACE},
    [ZS_TOKEN_ALLOCATE_STATELESS_PRIVATE_MEMORY] = {on_private, ADDS_PAYLOAD | ADDS_SURFACE},
    [ZS_TOKEN_ALLOCATE_STATELESS_GLOBAL_MEMORY_SURFACE_WITH_INITIALIZATION] = {on_implicit,
                                                                               ADDS_PAYLOAD |
                                                                                   ADDS_SURFACE},
    [ZS_TOKEN_ALLOCATE_STATELESS_CONSTANT_MEMORY_SURFACE_WITH_INITIALIZATION] = {on_implicit,
                                                                                 ADDS_PAYLOAD |
                                                                                     ADDS_SURFACE},
    [ZS_TOKEN_ALLOCATE_STATELESS_DEFAULT_DEVICE_QUEUE_SURFACE] = {on_implicit,
                                                                  ADDS_PAYLOAD | ADDS_SURFACE},
    [ZS_TOKEN_ALLOCATE_SYNC_BUFFER] = {on_implicit, ADDS_PAYLOAD | ADDS_SURFACE},
    [ZS_TOKEN_ALLOCATE_RT_GLOBAL_BUFFER] = {on_implicit, ADDS_PAYLOAD | ADDS_SURFACE},
    [ZS_TOKEN_INLINE_VME_SAMPLER_INFO] = {on_vme, 0},
    [ZS_TOKEN_GTPIN_FREE_GRF_INFO] = {on_ignored, 0},
    [ZS_TOKEN_GTPIN_INFO] = {on_ignored, 0},
    [ZS_TOKEN_PROGRAM_SYMBOL_TABLE] = {on_symbols, 0},
    [ZS_TOKEN_PROGRAM_RELOCATION_TABLE] = {on_relocations, 0},
};

static const struct token_handler *handler_of(const struct zs_token *t)
{
    return t->number < ZS_ARRAY_LEN(handlers) && handlers[t->number].fn ? &handlers[t->number]
                                                                        : NULL;
}

static uint32_t table_count(const struct zs_token *t)
{
    size_t room = (t->body.size_B - 4) / zs_token_entry_B(t);
    return ZS_MIN(zs_token_u32(t, 0), (uint32_t)room);
}

/* First walk: one token. */
static int count_token(struct kernel_build *kb, const struct zs_token *t, struct kernel_counts *c)
{
    const struct token_handler *handler = handler_of(t);
    if (!handler) {
        zs_builder_note(kb->b, t->offset_B, "kernel %s: token %u (%s) is not known here: skipped",
                        kb->k->name, t->number, t->name);
        return 0;
    }
    bool of_parameter =
        (handler->adds & ADDS_ARG_PARAMETER) && payload_scope[parameter_kind(t)] == SCOPE_A;
    if (handler->adds & ADDS_ARG || of_parameter) {
        uint32_t arg = zs_token_u32(t, of_parameter ? 1 : 0);
        if (arg >= ZS_ARG_COUNT_MAX)
            return zs_diag_set(kb->b->diag, -EINVAL, t->offset_B,
                               "%s: argument number %u: at most %d expected", t->name, arg,
                               ZS_ARG_COUNT_MAX - 1);
        c->args = ZS_MAX(c->args, arg + 1);
    }
    if (t->number == ZS_TOKEN_DATA_PARAMETER_STREAM)
        kb->k->thread.cross_thread_B = zs_token_u32(t, 0);
    else if (t->number == ZS_TOKEN_EXECUTION_ENVIRONMENT)
        kb->bindless = environment_u32(kb, t, 28) != 0;
    else if (t->number == ZS_TOKEN_STRING)
        c->strings++;
    else if (t->number == ZS_TOKEN_PROGRAM_SYMBOL_TABLE)
        c->symbols += table_count(t);
    else if (t->number == ZS_TOKEN_PROGRAM_RELOCATION_TABLE)
        c->relocations += table_count(t);
    else if (t->number == ZS_TOKEN_SAMPLER_STATE_ARRAY)
        c->samplers += ZS_MIN(zs_token_u32(t, 1), 2u * ZS_SAMPLER_COUNT_MAX + 1);
    c->samplers += t->number == ZS_TOKEN_SAMPLER_KERNEL_ARGUMENT;
    /* a stateless argument in bindless mode has two fields */
    c->payload += handler->adds & ADDS_PAYLOAD ? 2 : 0;
    c->surfaces += handler->adds & ADDS_SURFACE ? 1 : 0;
    if (c->samplers > 2 * ZS_SAMPLER_COUNT_MAX)
        return zs_diag_set(kb->b->diag, -EINVAL, t->offset_B, "%s: more than %d samplers", t->name,
                           2 * ZS_SAMPLER_COUNT_MAX);
    return 0;
}

static int allocate(struct kernel_build *kb, const struct kernel_counts *c)
{
    struct zs_arena *arena = kb->b->arena;
    struct zs_kernel *k = kb->k;
    k->args = kb->args = ZS_ARENA_ARRAY(arena, c->args, struct zs_arg);
    k->payload = kb->payload = ZS_ARENA_ARRAY(arena, c->payload, struct zs_payload);
    k->surfaces = kb->surfaces = ZS_ARENA_ARRAY(arena, c->surfaces, struct zs_surface);
    k->samplers = kb->samplers = ZS_ARENA_ARRAY(arena, c->samplers, struct zs_sampler);
    k->strings = kb->strings = ZS_ARENA_ARRAY(arena, c->strings, struct zs_string);
    k->symbols = kb->symbols = ZS_ARENA_ARRAY(arena, c->symbols, struct zs_symbol);
    k->relocations = kb->relocations = ZS_ARENA_ARRAY(arena, c->relocations, struct zs_relocation);
    if (!k->args || !k->payload || !k->surfaces || !k->samplers || !k->strings || !k->symbols ||
        !k->relocations)
        return zs_builder_no_memory(kb->b, k->header_offset_B);
    k->arg_count = c->args;
    for (uint32_t i = 0; i < c->args; i++) {
        kb->args[i].index = i;
        kb->args[i].surface = kb->args[i].sampler = ZS_NONE;
    }
    return 0;
}

/* Arguments hold the DSH offset of their sampler until here: find its place in the table. */
static void join_samplers(struct kernel_build *kb)
{
    struct zs_kernel *k = kb->k;
    for (uint32_t a = 0; a < k->arg_count; a++) {
        struct zs_arg *arg = &kb->args[a];
        if (arg->sampler == ZS_NONE)
            continue;
        uint32_t offset_B = arg->sampler, i = 0;
        while (i < k->sampler_count && kb->samplers[i].dsh_offset_B != offset_B)
            i++;
        if (i == k->sampler_count)
            kb->samplers[k->sampler_count++] =
                (struct zs_sampler){.index = ZS_NONE, .dsh_offset_B = offset_B};
        kb->samplers[i].arg = a;
        arg->sampler = i;
    }
}

static void join_surfaces(struct kernel_build *kb)
{
    struct zs_kernel *k = kb->k;
    for (uint32_t i = 0; i < k->surface_count; i++)
        for (uint32_t bti = 0; bti < k->binding_table_count; bti++)
            if (k->binding_table[bti] == kb->surfaces[i].ssh_offset_B) {
                kb->surfaces[i].bti = bti;
                break;
            }
}

/* An address that no stateless access uses is called what zebin calls it. */
static void mark_stateful_only(struct kernel_build *kb)
{
    struct zs_kernel *k = kb->k;
    for (uint32_t i = 0; i < k->payload_count; i++)
        if (kb->payload[i].kind == ZS_PAYLOAD_BUFFER_STATEFUL)
            kb->args[kb->payload[i].arg].address_modes &= ~(uint32_t)ZS_ADDRESS_STATELESS;
    for (uint32_t i = 0; i < k->payload_count; i++)
        if (kb->payload[i].kind == ZS_PAYLOAD_ARG_POINTER &&
            !(kb->args[kb->payload[i].arg].address_modes & ZS_ADDRESS_STATELESS))
            kb->payload[i].kind = ZS_PAYLOAD_BUFFER_ADDRESS;
}

static int compare_strings(const void *a, const void *b)
{
    const struct zs_string *p = a, *q = b;
    return (p->index > q->index) - (p->index < q->index);
}

int zs_patch_kernel_read(struct zs_builder *b, const struct zs_image *image,
                         struct zs_kernel *kernel)
{
    struct kernel_build kb = {.b = b, .image = image, .k = kernel, .sampler_table_B = ZS_NONE};
    struct kernel_counts counts = {0};
    struct zs_token t;
    size_t cursor = 0;
    int more, error = 0;
    kernel->binding_table_offset_B = kernel->border_color_offset_B = ZS_NONE;
    kernel->interface_descriptor_offset_B = kernel->section = ZS_NONE;
    for (uint8_t i = 0; i < 3; i++)
        kernel->walk_order[i] = i;
    while ((more = zs_token_next_checked(&kernel->tokens, &cursor, &t, b->diag)) == 1 && !error)
        error = count_token(&kb, &t, &counts);
    if (more < 0 || error)
        return more < 0 ? more : error;
    if (kernel->tokens.bytes.size_B - cursor)
        zs_builder_note(b, kernel->tokens.offset_B + cursor,
                        "kernel %s: %zu bytes behind the last token", kernel->name,
                        kernel->tokens.bytes.size_B - cursor);
    if ((error = allocate(&kb, &counts)) != 0)
        return error;
    for (cursor = 0; !error && zs_token_next(&kernel->tokens, &cursor, &t);) {
        const struct token_handler *handler = handler_of(&t);
        error = handler ? handler->fn(&kb, &t) : 0;
    }
    if (error)
        return error;
    if (!kb.has_environment)
        return zs_diag_set(b->diag, -EINVAL, kernel->tokens.offset_B,
                           "kernel %s: no token 23 (EXECUTION_ENVIRONMENT), which every kernel has",
                           kernel->name);
    join_samplers(&kb);
    join_surfaces(&kb);
    mark_stateful_only(&kb);
    for (uint32_t i = 0; i < kernel->arg_count; i++)
        zs_arg_finish(&kb.args[i]);
    qsort(kb.payload, kernel->payload_count, sizeof(*kb.payload), zs_payload_compare);
    qsort(kb.strings, kernel->string_count, sizeof(*kb.strings), compare_strings);
    zs_kernel_finish(image, kernel);
    return 0;
}
