/* SPDX-License-Identifier: MIT */
/* A patch-token blob becomes an image: program scope and the kernels' frames. */
#include "module/module_priv.h"
#include "module/tokens.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

int zs_patch_symbols_read(struct zs_builder *b, const struct zs_token *token,
                          struct zs_symbol **ret_symbols, uint32_t *ret_count)
{
    static const uint8_t place_of[] = {
        [ZS_SYMBOL_FUNCTION] = ZS_PLACE_KERNEL,
        [ZS_SYMBOL_GLOBAL_VARIABLE] = ZS_PLACE_GLOBAL,
        [ZS_SYMBOL_CONSTANT_VARIABLE] = ZS_PLACE_CONSTANT,
        [ZS_SYMBOL_CONST_SAMPLER] = ZS_PLACE_NONE,
        [ZS_SYMBOL_KERNEL] = ZS_PLACE_KERNEL,
    };
    struct zs_reader r = zs_reader_make(token->body, token->offset_B + 8, b->diag);
    uint32_t count = zs_read_u32(&r, "symbol count");
    if (count > zs_reader_left(&r) / zs_token_entry_B(token))
        return zs_reader_fail(&r, -EINVAL, "%u symbols do not fit into the %zu bytes that remain",
                              count, zs_reader_left(&r));
    struct zs_symbol *symbols = ZS_ARENA_ARRAY(b->arena, count, struct zs_symbol);
    if (!symbols)
        return zs_builder_no_memory(b, token->offset_B);
    const struct zs_symbol_fields at = zs_token_symbol_fields(token);
    for (uint32_t i = 0; i < count; i++) {
        struct zs_symbol *s = &symbols[i];
        const uint8_t *entry =
            zs_read_bytes(&r, zs_token_entry_B(token), "symbol").data; /* all are there */
        uint32_t kind = zs_load_u32(entry);
        s->place =
            (struct zs_place){.index = ZS_NONE, .offset_B = zs_load_u32(entry + at.offset_at)};
        s->size_B = zs_load_u32(entry + at.size_at);
        s->name = zs_arena_strndup(b->arena, (const char *)entry + at.name_at, ZS_NAME_FIELD_B);
        if (!s->name)
            return zs_builder_no_memory(b, token->offset_B);
        s->kind = kind <= ZS_SYMBOL_KERNEL ? (enum zs_symbol_kind)kind : ZS_SYMBOL_NONE;
        s->global = true;
        s->place.kind = (enum zs_place_kind)(kind <= ZS_SYMBOL_KERNEL ? place_of[kind] : 0);
    }
    *ret_symbols = symbols;
    *ret_count = count;
    return r.error;
}

struct program_build {
    struct zs_builder *b;
    struct zs_image *image;
    struct zs_symbol *symbols;
    struct zs_relocation *relocations;
    struct zs_host_access *host_access;
    uint32_t symbol_room, relocation_room, host_access_room;
};

static int on_buffer(struct program_build *pb, const struct zs_token *t, enum zs_buffer_kind kind)
{
    struct zs_data_buffer *buffer = &pb->image->buffers[kind];
    if (buffer->present)
        return zs_diag_set(pb->b->diag, -EINVAL, t->offset_B,
                           "%s: a second buffer of this kind: one is supported", t->name);
    *buffer = (struct zs_data_buffer){
        .present = true,
        .init = t->inline_data,
        .size_B = t->inline_data.size_B,
        .offset_B = t->offset_B + t->size_B,
        .section = ZS_NONE,
    };
    return 0;
}

/* Tokens 47 and 48: a pointer in one program-scope buffer to (the start of) another. */
static int on_pointer(struct program_build *pb, const struct zs_token *t)
{
    bool in_global = t->number == ZS_TOKEN_GLOBAL_POINTER_PROGRAM_BINARY_INFO;
    const struct zs_data_buffer *buffer =
        &pb->image->buffers[in_global ? ZS_BUFFER_GLOBAL : ZS_BUFFER_CONSTANT];
    uint64_t offset_B = zs_load_u64(t->body.data + 4);
    uint32_t target = zs_token_u32(t, 3);
    struct zs_span slot;
    if (target > 1)
        return zs_diag_set(pb->b->diag, -EINVAL, t->offset_B,
                           "%s: buffer type %u: 0 (global) or 1 (constant) expected", t->name,
                           target);
    if (!zs_span_sub(buffer->init, offset_B, pb->image->pointer_B, &slot))
        return zs_diag_set(pb->b->diag, -EINVAL, t->offset_B,
                           "%s: pointer at 0x%" PRIx64 " of a buffer of 0x%zx bytes", t->name,
                           offset_B, buffer->init.size_B);
    if (!pb->image->buffers[target == 0 ? ZS_BUFFER_GLOBAL : ZS_BUFFER_CONSTANT].present)
        return zs_diag_set(pb->b->diag, -EINVAL, t->offset_B,
                           "%s: points to a buffer that the module does not have", t->name);
    pb->relocations[pb->image->relocation_count++] = (struct zs_relocation){
        .kind = ZS_RELOCATION_ADD_BASE,
        .adds_in_place = true,
        .at = {in_global ? ZS_PLACE_GLOBAL : ZS_PLACE_CONSTANT, ZS_NONE, offset_B},
        .symbol = "",
        .target = {target == 0 ? ZS_PLACE_GLOBAL : ZS_PLACE_CONSTANT, ZS_NONE, 0},
    };
    return 0;
}

static int on_program_symbols(struct program_build *pb, const struct zs_token *t)
{
    struct zs_symbol *symbols = NULL;
    uint32_t count = 0;
    int error = zs_patch_symbols_read(pb->b, t, &symbols, &count);
    for (uint32_t i = 0; i < count && !error; i++)
        pb->symbols[pb->image->symbol_count++] = symbols[i];
    return error;
}

static int on_host_access(struct program_build *pb, const struct zs_token *t)
{
    struct zs_reader r = zs_reader_make(t->body, t->offset_B + 8, pb->b->diag);
    uint32_t count = zs_read_u32(&r, "host access count");
    for (uint32_t i = 0; i < count && !r.error; i++) {
        struct zs_span device = zs_read_bytes(&r, ZS_NAME_FIELD_B, "device name of a global");
        struct zs_span host = zs_read_bytes(&r, ZS_NAME_FIELD_B, "host name of a global");
        if (r.error)
            break;
        struct zs_host_access *h = &pb->host_access[pb->image->host_access_count++];
        h->device_name = zs_arena_strndup(pb->b->arena, device.data, device.size_B);
        h->host_name = zs_arena_strndup(pb->b->arena, host.data, host.size_B);
        if (!h->device_name || !h->host_name)
            return zs_builder_no_memory(pb->b, t->offset_B);
    }
    return r.error;
}

/* First walk: buffers (others refer to them) and counts. */
static int count_program_token(struct program_build *pb, const struct zs_token *t)
{
    uint32_t entry_B = zs_token_entry_B(t);
    uint32_t entries = entry_B ? (uint32_t)((t->body.size_B - 4) / entry_B) : 0;
    switch (t->number) {
    case ZS_TOKEN_ALLOCATE_GLOBAL_MEMORY_SURFACE_PROGRAM_BINARY_INFO:
        return on_buffer(pb, t, ZS_BUFFER_GLOBAL);
    case ZS_TOKEN_ALLOCATE_CONSTANT_MEMORY_SURFACE_PROGRAM_BINARY_INFO:
        return on_buffer(pb, t, ZS_BUFFER_CONSTANT);
    case ZS_TOKEN_GLOBAL_POINTER_PROGRAM_BINARY_INFO:
    case ZS_TOKEN_CONSTANT_POINTER_PROGRAM_BINARY_INFO:
        pb->relocation_room++;
        break;
    case ZS_TOKEN_PROGRAM_SYMBOL_TABLE:
        pb->symbol_room += entries;
        break;
    case ZS_TOKEN_GLOBAL_HOST_ACCESS_TABLE:
        pb->host_access_room += entries;
        break;
    default:
        zs_builder_note(pb->b, t->offset_B, "token %u (%s) is not known at program scope: skipped",
                        t->number, t->name);
    }
    return 0;
}

static int read_program_token(struct program_build *pb, const struct zs_token *t)
{
    switch (t->number) {
    case ZS_TOKEN_GLOBAL_POINTER_PROGRAM_BINARY_INFO:
    case ZS_TOKEN_CONSTANT_POINTER_PROGRAM_BINARY_INFO:
        return on_pointer(pb, t);
    case ZS_TOKEN_PROGRAM_SYMBOL_TABLE:
        return on_program_symbols(pb, t);
    case ZS_TOKEN_GLOBAL_HOST_ACCESS_TABLE:
        return on_host_access(pb, t);
    default:
        return 0;
    }
}

static int read_program(struct zs_builder *b, struct zs_image *image)
{
    struct program_build pb = {.b = b, .image = image};
    struct zs_token t;
    size_t cursor = 0;
    int more, error = 0;
    while ((more = zs_token_next_checked(&image->tokens, &cursor, &t, b->diag)) == 1 && !error)
        error = count_program_token(&pb, &t);
    if (more < 0 || error)
        return more < 0 ? more : error;
    image->symbols = pb.symbols = ZS_ARENA_ARRAY(b->arena, pb.symbol_room, struct zs_symbol);
    image->relocations = pb.relocations =
        ZS_ARENA_ARRAY(b->arena, pb.relocation_room, struct zs_relocation);
    image->host_access = pb.host_access =
        ZS_ARENA_ARRAY(b->arena, pb.host_access_room, struct zs_host_access);
    if (!pb.symbols || !pb.relocations || !pb.host_access)
        return zs_builder_no_memory(b, image->tokens.offset_B);
    for (cursor = 0; !error && zs_token_next(&image->tokens, &cursor, &t);)
        error = read_program_token(&pb, &t);
    return error;
}

static uint64_t offset_of(const struct zs_patch_module *patch, struct zs_blob blob,
                          struct zs_span span)
{
    (void)patch;
    return span.size_B ? blob.offset_B + (uint64_t)(span.data - blob.bytes.data) : blob.offset_B;
}

static int read_frame(struct zs_builder *b, const struct zs_patch_module *patch,
                      struct zs_blob blob, uint32_t index, struct zs_kernel *k)
{
    const struct zs_patch_kernel *raw = &patch->kernels[index];
    *k = (struct zs_kernel){
        .index = index,
        .heap = raw->heap,
        .code = zs_span_make(raw->heap.data, raw->unpadded_B),
        .code_offset_B = offset_of(patch, blob, raw->heap),
        .gsh = raw->gsh,
        .dsh = raw->dsh,
        .ssh = raw->ssh,
        .header_offset_B = raw->offset_B,
        .checksum = raw->checksum,
        .shader_hash = raw->shader_hash,
        .tokens = {raw->patch_list, offset_of(patch, blob, raw->patch_list), patch->version, false},
    };
    k->name = zs_arena_strndup(b->arena, raw->name.data, raw->name.size_B);
    if (!k->name)
        return zs_builder_no_memory(b, raw->offset_B);
    if (b->verify_checksums && zs_patch_kernel_checksum(raw) != raw->checksum)
        return zs_diag_set(b->diag, -EINVAL, raw->offset_B,
                           "kernel %s: checksum 0x%08x, its contents give 0x%08x", k->name,
                           raw->checksum, zs_patch_kernel_checksum(raw));
    return 0;
}

static int read_kernels(struct zs_builder *b, const struct zs_patch_module *patch,
                        struct zs_blob blob, struct zs_image *image)
{
    struct zs_kernel *kernels = ZS_ARENA_ARRAY(b->arena, patch->kernel_count, struct zs_kernel);
    if (!kernels)
        return zs_builder_no_memory(b, blob.offset_B);
    image->kernels = kernels;
    image->kernel_count = patch->kernel_count;
    for (uint32_t i = 0; i < patch->kernel_count; i++) {
        int error = read_frame(b, patch, blob, i, &kernels[i]);
        if (!error)
            error = zs_patch_kernel_read(b, image, &kernels[i]);
        if (error)
            return error;
    }
    return 0;
}

int zs_patch_image_read(struct zs_builder *b, struct zs_blob blob, uint32_t part,
                        struct zs_image *ret_image)
{
    struct zs_patch_module patch;
    int error = zs_patch_module_read(blob.bytes, blob.offset_B, &patch, b->diag);
    if (error)
        return error;
    struct zs_image *image = ret_image;
    image->format = ZS_CONTAINER_PATCH_TOKENS;
    image->part = part;
    image->gfxcore = patch.device;
    image->stepping = patch.stepping;
    image->pointer_B = patch.pointer_B;
    image->version = patch.version;
    image->zebin_version = "";
    image->tokens = (struct zs_token_list){
        patch.patch_list, blob.offset_B + ZS_PATCH_PROGRAM_HEADER_B, patch.version, true};
    if (patch.trailing.size_B)
        zs_builder_note(b, offset_of(&patch, blob, patch.trailing),
                        "%zu bytes behind the last kernel", patch.trailing.size_B);
    error = read_program(b, image);
    if (!error)
        error = read_kernels(b, &patch, blob, image);
    zs_patch_module_fini(&patch);
    return error;
}

uint32_t zs_kernel_checksum(const struct zs_image *image, const struct zs_kernel *kernel,
                            bool *ret_ok)
{
    if (image->format != ZS_CONTAINER_PATCH_TOKENS) {
        *ret_ok = true;
        return 0;
    }
    /* the checksum covers the padded name, which stands between the header and the heap */
    const uint8_t *name = image->bytes.data;
    size_t skip_B = (size_t)(kernel->header_offset_B - image->offset_B) + ZS_PATCH_KERNEL_HEADER_B;
    uint32_t name_B = zs_load_u32(name + skip_B - ZS_PATCH_KERNEL_HEADER_B + 12);
    struct zs_patch_kernel raw = {
        .name = zs_span_make(name + skip_B, name_B),
        .heap = kernel->heap,
        .gsh = kernel->gsh,
        .dsh = kernel->dsh,
        .ssh = kernel->ssh,
        .patch_list = kernel->tokens.bytes,
    };
    uint32_t checksum = zs_patch_kernel_checksum(&raw);
    *ret_ok = checksum == kernel->checksum;
    return checksum;
}
