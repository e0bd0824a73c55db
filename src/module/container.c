/* SPDX-License-Identifier: MIT */
/* Which container some bytes are, and the descent into what it holds. */
#include "module/module_priv.h"

#include <errno.h>

static enum zs_container detect_elf(struct zs_span bytes)
{
    if (bytes.size_B < 20)
        return ZS_CONTAINER_UNKNOWN;
    uint16_t type = zs_load_u16(bytes.data + 16), machine = zs_load_u16(bytes.data + 18);
    if (type >= ZS_ELF_OPENCL_SOURCE && type <= ZS_ELF_OPENCL_DEBUG)
        return ZS_CONTAINER_NEO_ELF;
    if ((type >= ZS_ELF_ZEBIN_REL && type <= ZS_ELF_ZEBIN_DYN) || type == ZS_ELF_REL ||
        machine == ZS_EM_INTELGT)
        return ZS_CONTAINER_ZEBIN;
    return type == ZS_ELF_EXEC ? ZS_CONTAINER_DEBUG_ELF : ZS_CONTAINER_UNKNOWN;
}

enum zs_container zs_container_detect(struct zs_span bytes)
{
    if (bytes.size_B >= 8 && !memcmp(bytes.data, "!<arch>\n", 8))
        return ZS_CONTAINER_AR;
    if (bytes.size_B >= 4 && !memcmp(bytes.data, "\177ELF", 4))
        return detect_elf(bytes);
    if (bytes.size_B >= 4 && zs_load_u32(bytes.data) == 0x07230203)
        return ZS_CONTAINER_SPIRV;
    if (bytes.size_B >= 16 && zs_load_u32(bytes.data) == ZS_PATCH_MAGIC) {
        /* the same magic: a program's fourth word is the pointer size, debug data's the device */
        uint32_t word = zs_load_u32(bytes.data + 12);
        return word == 4 || word == 8 ? ZS_CONTAINER_PATCH_TOKENS : ZS_CONTAINER_IGC_DEBUG;
    }
    return ZS_CONTAINER_UNKNOWN;
}

static int add_image(struct zs_builder *b, const struct zs_image *from, uint32_t outer_part)
{
    struct zs_image image = *from;
    const struct zs_part *outer = &b->parts.items[outer_part];
    image.outer_part = outer_part;
    image.bytes = outer->bytes;
    image.offset_B = outer->offset_B;
    image.build_options = zs_or_empty(image.build_options);
    image.ir_format = zs_or_empty(image.ir_format);
    /* an archive's member name is the most exact statement of the device */
    for (uint32_t p = outer_part; p != ZS_NONE && !image.product_config;
         p = b->parts.items[p].parent)
        if (b->parts.items[p].parent != ZS_NONE &&
            b->parts.items[b->parts.items[p].parent].kind == ZS_CONTAINER_AR)
            image.product_config = zs_device_config_of_member(b->parts.items[p].name);
    zs_image_name_device(&image);
    int error = zs_image_resolve(b, &image);
    if (!error && !ZS_VEC_PUSH(&b->images, image))
        error = zs_diag_set(b->diag, -ENOMEM, image.offset_B, "no memory for an image");
    return error;
}

static void set_elf(struct zs_builder *b, uint32_t part, const struct zs_elf *elf)
{
    struct zs_part *p = &b->parts.items[part];
    p->elf_type = elf->type;
    p->elf_machine = elf->machine;
    p->elf_flags = elf->flags;
    p->sections = elf->sections;
    p->section_count = elf->section_count;
}

static int bind_debug_input(struct zs_builder *b, size_t first, uint32_t device)
{
    int error = 0;
    for (size_t i = 0; i < b->images.count && !error; i++) {
        struct zs_image *image = &b->images.items[i];
        if (image->format == ZS_CONTAINER_PATCH_TOKENS &&
            (b->images.count == 1 || image->gfxcore == device))
            error = zs_debug_bind_entries(b, image, first);
    }
    return error;
}

static int read_igc_debug(struct zs_builder *b, struct zs_blob blob, struct zs_image *image)
{
    size_t first = b->debug_entries.count;
    uint32_t device;
    int error = zs_igc_debug_read(b, blob, &device);
    if (!error && b->input == 1)
        error = bind_debug_input(b, first, device);
    else if (!error && image)
        error = zs_debug_bind_entries(b, image, first);
    return error;
}

static int read_zebin(struct zs_builder *b, const struct zs_elf *elf, uint32_t part,
                      struct zs_image *image)
{
    if (b->input == 0)
        return zs_zebin_image_read(b, elf, part, image);
    int error = 0;
    for (size_t i = 0; i < b->images.count && !error; i++)
        if (b->images.items[i].format == ZS_CONTAINER_ZEBIN)
            error = zs_debug_bind_zebin(b, &b->images.items[i], elf, part);
    return error;
}

/* The device binary inside a NEO ELF: patch tokens or a zebin. */
static int read_device_binary(struct zs_builder *b, struct zs_blob blob, const char *name,
                              uint32_t parent, struct zs_image *image)
{
    enum zs_container kind = zs_container_detect(blob.bytes);
    uint32_t part;
    struct zs_elf elf;
    if (kind != ZS_CONTAINER_PATCH_TOKENS && kind != ZS_CONTAINER_ZEBIN)
        return zs_diag_set(b->diag, -EINVAL, blob.offset_B,
                           "device binary that is neither patch tokens nor a zebin");
    int error = zs_builder_part(b, kind, name, parent, blob, &part);
    if (error)
        return error;
    if (kind == ZS_CONTAINER_PATCH_TOKENS)
        return zs_patch_image_read(b, blob, part, image);
    error = zs_elf_parse(blob.bytes, blob.offset_B, b->arena, &b->name_left_B, b->diag, &elf);
    if (error)
        return error;
    set_elf(b, part, &elf);
    return read_zebin(b, &elf, part, image);
}

static const struct ir_row {
    uint32_t type;
    const char *format;
} ir_rows[] = {
    {ZS_SHT_SPIRV, "SPIR-V"},
    {ZS_SHT_LLVM_BINARY, "LLVM bitcode"},
    {ZS_SHT_LLVM_TEXT, "LLVM text"},
};

static int take_neo_sections(struct zs_builder *b, const struct zs_elf *elf, struct zs_image *image)
{
    for (uint32_t i = 0; i < elf->section_count; i++) {
        const struct zs_section *s = &elf->sections[i];
        for (size_t k = 0; k < ZS_ARRAY_LEN(ir_rows); k++)
            if (s->type == ir_rows[k].type && !image->ir.data) {
                image->ir = s->bytes;
                image->ir_format = ir_rows[k].format;
            }
        if (s->type == ZS_SHT_BUILD_OPTIONS && !image->build_options) {
            image->build_options = zs_arena_strndup(b->arena, s->bytes.data, s->bytes.size_B);
            if (!image->build_options)
                return zs_builder_no_memory(b, elf->offset_B + s->offset_B);
        }
        if (!s->type_name[0])
            zs_builder_note(b, elf->offset_B + s->offset_B,
                            "section %u (%.100s) of unknown type 0x%x", i, s->name, s->type);
    }
    return 0;
}

static int read_neo_elf(struct zs_builder *b, const struct zs_elf *elf, uint32_t part)
{
    struct zs_image image = {0};
    const struct zs_section *device = zs_elf_section_of_type(elf, ZS_SHT_DEVICE_BINARY);
    const struct zs_section *debug = zs_elf_section_of_type(elf, ZS_SHT_DEVICE_DEBUG);
    int error = take_neo_sections(b, elf, &image);
    struct zs_span ir = image.ir;
    if (!error && device && b->input == 0)
        error =
            read_device_binary(b, (struct zs_blob){device->bytes, elf->offset_B + device->offset_B},
                               device->name, part, &image);
    if (image.ir.data != ir.data && ir.data)
        image.ir = ir;
    if (!error && debug && debug->bytes.size_B) {
        struct zs_blob blob = {debug->bytes, elf->offset_B + debug->offset_B};
        uint32_t debug_part;
        enum zs_container kind = zs_container_detect(debug->bytes);
        error = zs_builder_part(b, kind, debug->name, part, blob, &debug_part);
        if (!error && kind == ZS_CONTAINER_IGC_DEBUG)
            error = read_igc_debug(b, blob, device ? &image : NULL);
        else if (!error)
            zs_builder_note(b, blob.offset_B, "debug section that is not IGC debug data");
    }
    if (!error && device && b->input == 0)
        error = add_image(b, &image, part);
    else if (!error && !device)
        zs_builder_note(b, elf->offset_B, "this NEO ELF has no device binary: only %s",
                        image.ir.data ? "intermediate code, which is not compiled for a device"
                                      : "other sections");
    return error;
}

static int read_elf(struct zs_builder *b, struct zs_blob blob, uint32_t part)
{
    struct zs_elf elf;
    struct zs_image image = {0};
    int error = zs_elf_parse(blob.bytes, blob.offset_B, b->arena, &b->name_left_B, b->diag, &elf);
    if (error)
        return error;
    set_elf(b, part, &elf);
    if (b->parts.items[part].kind == ZS_CONTAINER_NEO_ELF)
        return read_neo_elf(b, &elf, part);
    bool ze_info = zs_elf_section_of_type(&elf, ZS_SHT_ZEINFO) != NULL;
    if (!ze_info && zs_elf_section(&elf, ".debug_info") && elf.type == ZS_ELF_EXEC)
        b->parts.items[part].kind = ZS_CONTAINER_DEBUG_ELF;
    if (b->parts.items[part].kind == ZS_CONTAINER_DEBUG_ELF) {
        if (b->input == 1)
            return read_zebin(b, &elf, part, &image);
        struct zs_debug_entry e = {.name = "", .offset_B = blob.offset_B, .elf = blob.bytes};
        return ZS_VEC_PUSH(&b->debug_entries, e)
                   ? 0
                   : zs_diag_set(b->diag, -ENOMEM, blob.offset_B, "no memory");
    }
    error = read_zebin(b, &elf, part, &image);
    return error || b->input ? error : add_image(b, &image, part);
}

struct archive {
    struct zs_builder *b;
    uint32_t part, depth;
};

static int read_member(void *ctx, struct zs_blob member, const char *name)
{
    struct archive *archive = ctx;
    if (zs_container_detect(member.bytes) == ZS_CONTAINER_UNKNOWN) {
        zs_builder_note(archive->b, member.offset_B,
                        "archive member %.100s is not a module: skipped", name);
        return 0;
    }
    return zs_container_read(archive->b, member, name, archive->part, archive->depth + 1);
}

int zs_container_read(struct zs_builder *b, struct zs_blob blob, const char *name, uint32_t parent,
                      uint32_t depth)
{
    enum zs_container kind = zs_container_detect(blob.bytes);
    struct zs_image image = {0};
    uint32_t part;
    if (depth > ZS_PART_DEPTH_MAX)
        return zs_diag_set(b->diag, -EFBIG, blob.offset_B, "containers nested more than %d deep",
                           ZS_PART_DEPTH_MAX);
    int error = zs_builder_part(b, kind, name, parent, blob, &part);
    if (error)
        return error;
    switch (kind) {
    case ZS_CONTAINER_AR: {
        struct archive archive = {b, part, depth};
        return zs_ar_read(b, blob, read_member, &archive);
    }
    case ZS_CONTAINER_NEO_ELF:
    case ZS_CONTAINER_ZEBIN:
    case ZS_CONTAINER_DEBUG_ELF:
        return read_elf(b, blob, part);
    case ZS_CONTAINER_PATCH_TOKENS:
        if (b->input == 1)
            return zs_diag_set(b->diag, -EINVAL, blob.offset_B,
                               "patch tokens given as debug information");
        error = zs_patch_image_read(b, blob, part, &image);
        return error ? error : add_image(b, &image, part);
    case ZS_CONTAINER_IGC_DEBUG:
        return read_igc_debug(b, blob, NULL);
    case ZS_CONTAINER_SPIRV:
        if (parent != ZS_NONE)
            return 0;
        return zs_diag_set(
            b->diag, -ENOTSUP, blob.offset_B,
            "SPIR-V, which is not compiled for a device: ocloc compile -spirv_input");
    default:
        return zs_diag_set(
            b->diag, -EINVAL, blob.offset_B,
            blob.bytes.size_B >= 4 && !memcmp(blob.bytes.data, "\177ELF", 4)
                ? "not a module: an ELF, but not one with code for an Intel GPU"
                : "not a module: an ELF, an ar archive or patch tokens (\"CTNI\") expected");
    }
}
