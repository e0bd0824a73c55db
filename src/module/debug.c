/* SPDX-License-Identifier: MIT */
/*
 * IGC's debug data: one ELF with DWARF per kernel (program_debug_data.h of
 * intel-graphics-compiler), and how debug information finds its kernels.
 */
#include "module/module_priv.h"

#include <errno.h>
#include <stdlib.h>

static int read_entry(struct zs_builder *b, struct zs_reader *r)
{
    struct zs_debug_entry e = {.input = b->input};
    uint32_t name_B = zs_read_u32(r, "kernel name size in debug data");
    uint32_t visa_B = zs_read_u32(r, "size of a kernel's debug data");
    uint32_t genisa_B = zs_read_u32(r, "size of a kernel's GenISA debug data");
    uint64_t at_B = zs_reader_offset(r);
    struct zs_span name = zs_read_bytes(r, name_B, "kernel name in debug data");
    e.offset_B = zs_reader_offset(r);
    e.elf = zs_read_bytes(r, visa_B, "debug data of a kernel");
    e.genisa = zs_read_bytes(r, genisa_B, "GenISA debug data of a kernel");
    if (r->error)
        return r->error;
    e.name = zs_arena_strndup(b->arena, name.data, name.size_B);
    if (!e.name)
        return zs_builder_no_memory(b, at_B);
    if (e.elf.size_B == 0)
        return 0; /* a kernel without debug data */
    if (zs_container_detect(e.elf) == ZS_CONTAINER_UNKNOWN || e.elf.data[0] != 0x7f)
        return zs_diag_set(r->diag, -EINVAL, e.offset_B,
                           "debug data of kernel %.200s is not an ELF", e.name);
    return ZS_VEC_PUSH(&b->debug_entries, e) ? 0 : zs_diag_set(b->diag, -ENOMEM, at_B, "no memory");
}

int zs_igc_debug_read(struct zs_builder *b, struct zs_blob blob, uint32_t *ret_device)
{
    struct zs_reader r = zs_reader_make(blob.bytes, blob.offset_B, b->diag);
    uint32_t magic = zs_read_u32(&r, "magic of the debug data");
    uint32_t version = zs_read_u32(&r, "version of the debug data");
    zs_read_skip(&r, 4, "size of the debug data");
    *ret_device = zs_read_u32(&r, "device of the debug data");
    zs_read_skip(&r, 8, "stepping and pointer size of the debug data");
    uint32_t count = zs_read_count(&r, 12, "kernel count of the debug data");
    if (r.error)
        return r.error;
    if (magic != ZS_PATCH_MAGIC)
        return zs_diag_set(b->diag, -EINVAL, blob.offset_B, "magic 0x%08x: 0x%08x expected", magic,
                           ZS_PATCH_MAGIC);
    if (version < ZS_PATCH_VERSION_MIN || version > ZS_PATCH_VERSION_MAX)
        return zs_diag_set(b->diag, -ENOTSUP, blob.offset_B + 4,
                           "debug data version %u: %d to %d are known", version,
                           ZS_PATCH_VERSION_MIN, ZS_PATCH_VERSION_MAX);
    int error = 0;
    for (uint32_t i = 0; i < count && !error; i++) {
        /* IGC counts all kernels but leaves out those without debug data */
        if (zs_reader_left(&r) < 12)
            break;
        error = read_entry(b, &r);
    }
    if (!error && zs_reader_left(&r))
        zs_builder_note(b, zs_reader_offset(&r), "%zu bytes behind the debug data",
                        zs_reader_left(&r));
    return error;
}

static int compare_entries(const void *a, const void *b)
{
    return strcmp((*(struct zs_debug_entry *const *)a)->name,
                  (*(struct zs_debug_entry *const *)b)->name);
}

/* The arrays of an image are the builder's own until the module is handed out. */
static struct zs_kernel *own_kernels(struct zs_image *image)
{
    return (struct zs_kernel *)(uintptr_t)image->kernels;
}

int zs_debug_bind_entries(struct zs_builder *b, struct zs_image *image, size_t first)
{
    size_t count = b->debug_entries.count - first;
    struct zs_debug_entry **sorted = ZS_ARENA_ARRAY(b->arena, count, struct zs_debug_entry *);
    struct zs_kernel *kernels = own_kernels(image);
    if (!sorted)
        return zs_builder_no_memory(b, 0);
    for (size_t i = 0; i < count; i++)
        sorted[i] = &b->debug_entries.items[first + i];
    qsort(sorted, count, sizeof(*sorted), compare_entries);
    for (uint32_t i = 0; i < image->kernel_count; i++) {
        struct zs_debug_entry key = {.name = kernels[i].name}, *want = &key;
        struct zs_debug_entry **found =
            bsearch(&want, sorted, count, sizeof(*sorted), compare_entries);
        if (!found)
            continue;
        (*found)->bound = true;
        kernels[i].debug = (struct zs_debug){
            .kind = ZS_DEBUG_KERNEL_ELF,
            .input = (*found)->input,
            .offset_B = (*found)->offset_B,
            .elf = (*found)->elf,
            .part = ZS_NONE,
            .section = ZS_NONE,
        };
        image->has_debug = true;
    }
    return 0;
}

struct text_entry {
    const char *name; /* behind ".text." */
    uint32_t section;
};

static int compare_texts(const void *a, const void *b)
{
    return strcmp(((const struct text_entry *)a)->name, ((const struct text_entry *)b)->name);
}

int zs_debug_bind_zebin(struct zs_builder *b, struct zs_image *image, const struct zs_elf *elf,
                        uint32_t part)
{
    struct text_entry *texts = ZS_ARENA_ARRAY(b->arena, elf->section_count, struct text_entry);
    struct zs_kernel *kernels = own_kernels(image);
    uint32_t count = 0;
    if (!texts)
        return zs_builder_no_memory(b, elf->offset_B);
    for (uint32_t i = 0; i < elf->section_count; i++)
        if (!strncmp(elf->sections[i].name, ".text.", 6))
            texts[count++] = (struct text_entry){elf->sections[i].name + 6, i};
    qsort(texts, count, sizeof(*texts), compare_texts);
    for (uint32_t i = 0; i < image->kernel_count; i++) {
        struct text_entry key = {.name = kernels[i].name};
        const struct text_entry *found = bsearch(&key, texts, count, sizeof(*texts), compare_texts);
        if (!found)
            continue;
        bool linked = elf->type == ZS_ELF_EXEC;
        kernels[i].debug = (struct zs_debug){
            .kind = linked ? ZS_DEBUG_LINKED : ZS_DEBUG_ZEBIN,
            .input = b->input,
            .offset_B = elf->offset_B,
            .elf = elf->bytes,
            .part = part,
            .section = found->section,
            .address = linked ? elf->sections[found->section].address : 0,
        };
        image->has_debug = true;
    }
    return 0;
}
