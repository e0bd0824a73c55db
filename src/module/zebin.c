/* SPDX-License-Identifier: MIT */
/*
 * A zebin becomes an image: notes say for what device, sections hold code and data, the symbol
 * table and .rel sections what to link, .ze_info the kernels (elf.md of intel-graphics-compiler).
 */
#include "module/module_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

static const char text_prefix[] = ".text.";

struct zebin {
    struct zs_builder *b;
    const struct zs_elf *elf;
    struct zs_image *image;
    struct zs_kernel *kernels;
    const struct zs_section *symtab;
    struct zs_place *place_of; /* per section: what its offset 0 is */
    uint32_t text_count;
};

/* --- notes --- */

enum {
    NOTE_PRODUCT_FAMILY = 1,
    NOTE_GFXCORE_FAMILY = 2,
    NOTE_TARGET_METADATA = 3,
    NOTE_ZEBIN_VERSION = 4,
    NOTE_PRODUCT_CONFIG = 6,
};

static int take_note(struct zebin *z, uint32_t type, struct zs_span data)
{
    uint32_t word = data.size_B >= 4 ? zs_load_u32(data.data) : 0;
    struct zs_image *image = z->image;
    switch (type) {
    case NOTE_PRODUCT_FAMILY:
        image->product_family = word;
        break;
    case NOTE_GFXCORE_FAMILY:
        image->gfxcore = word;
        break;
    case NOTE_TARGET_METADATA:
        image->stepping = word >> 8 & 31; /* least hardware revision */
        break;
    case NOTE_ZEBIN_VERSION:
        image->zebin_version = zs_arena_strndup(z->b->arena, data.data, data.size_B);
        return image->zebin_version ? 0 : zs_builder_no_memory(z->b, z->elf->offset_B);
    case NOTE_PRODUCT_CONFIG:
        image->product_config = word;
        break;
    default:
        break;
    }
    return 0;
}

static int read_notes(struct zebin *z, const struct zs_section *section)
{
    struct zs_reader r =
        zs_reader_make(section->bytes, z->elf->offset_B + section->offset_B, z->b->diag);
    int error = 0;
    while (!error && zs_reader_left(&r) >= 12) {
        uint32_t name_B = zs_read_u32(&r, "note name size");
        uint32_t data_B = zs_read_u32(&r, "note data size");
        uint32_t type = zs_read_u32(&r, "note type");
        struct zs_span name = zs_read_bytes(&r, name_B, "note name");
        zs_read_skip(&r, ZS_MIN((0u - name_B) & 3, zs_reader_left(&r)), "note padding");
        struct zs_span data = zs_read_bytes(&r, data_B, "note data");
        zs_read_skip(&r, ZS_MIN((0u - data_B) & 3, zs_reader_left(&r)), "note padding");
        if (r.error)
            return r.error;
        if (name.size_B >= 7 && !memcmp(name.data, "IntelGT", 7))
            error = take_note(z, type, data);
    }
    return error;
}

/* --- sections --- */

static const struct buffer_row {
    const char *name;
    enum zs_buffer_kind buffer;
    enum zs_place_kind place;
    bool zeros; /* only adds zeros behind the initialised part */
} buffer_rows[] = {
    {".data.const", ZS_BUFFER_CONSTANT, ZS_PLACE_CONSTANT, false},
    {".data.global", ZS_BUFFER_GLOBAL, ZS_PLACE_GLOBAL, false},
    {".data.global_const", ZS_BUFFER_CONSTANT, ZS_PLACE_CONSTANT, false},
    {".data.const.string", ZS_BUFFER_STRINGS, ZS_PLACE_STRINGS, false},
    {".bss.const", ZS_BUFFER_CONSTANT, ZS_PLACE_CONSTANT, true},
    {".bss.global", ZS_BUFFER_GLOBAL, ZS_PLACE_GLOBAL, true},
};

enum { BUFFER_MAX_B = 1 << 30 };

static int take_buffer(struct zebin *z, uint32_t index, const struct buffer_row *row)
{
    const struct zs_section *s = &z->elf->sections[index];
    struct zs_data_buffer *buffer = &z->image->buffers[row->buffer];
    uint64_t at_B = z->elf->offset_B + s->offset_B;
    z->place_of[index] = (struct zs_place){row->place, ZS_NONE, 0};
    if (s->size_B > BUFFER_MAX_B || buffer->size_B > BUFFER_MAX_B)
        return zs_diag_set(z->b->diag, -EFBIG, at_B, "section %s of 0x%" PRIx64 " bytes", s->name,
                           s->size_B);
    if (row->zeros || s->type == ZS_SHT_NOBITS) {
        /* zeros stand behind the initialised part, aligned as the section asks */
        uint64_t align_B =
            s->align_B && s->align_B <= 4096 && !(s->align_B & (s->align_B - 1)) ? s->align_B : 1;
        uint64_t from_B = zs_align_up(buffer->size_B, align_B);
        z->place_of[index].offset_B = from_B;
        buffer->size_B = from_B + s->size_B;
        if (!buffer->present)
            buffer->section = ZS_NONE;
        buffer->present = true;
        return 0;
    }
    if (buffer->present)
        return zs_diag_set(z->b->diag, -EINVAL, at_B, "a second section for what %s holds",
                           s->name);
    *buffer = (struct zs_data_buffer){
        .present = true, .init = s->bytes, .size_B = s->size_B, .offset_B = at_B, .section = index};
    return 0;
}

static int take_section(struct zebin *z, uint32_t index, bool zeros)
{
    const struct zs_section *s = &z->elf->sections[index];
    for (size_t i = 0; i < ZS_ARRAY_LEN(buffer_rows); i++)
        if (!strcmp(s->name, buffer_rows[i].name))
            return (buffer_rows[i].zeros || s->type == ZS_SHT_NOBITS) == zeros
                       ? take_buffer(z, index, &buffer_rows[i])
                       : 0;
    if (zeros)
        return 0;
    z->place_of[index] = (struct zs_place){ZS_PLACE_SECTION, index, 0};
    if (s->type == ZS_SHT_SYMTAB && !z->symtab && s->link < z->elf->section_count)
        z->symtab = s;
    else if (s->type == ZS_SHT_NOTE && !strcmp(s->name, ".note.intelgt.compat"))
        return read_notes(z, s);
    else if (s->type == ZS_SHT_PROGBITS && !strncmp(s->name, text_prefix, 6))
        z->text_count++;
    else if (s->type == ZS_SHT_SPIRV) {
        z->image->ir = s->bytes;
        z->image->ir_format = "SPIR-V";
    } else if (s->type == ZS_SHT_ZEINFO && !z->image->ze_info.data) {
        z->image->ze_info = s->bytes;
        z->image->ze_info_offset_B = z->elf->offset_B + s->offset_B;
    } else if (s->type == ZS_SHT_MISC && !strcmp(s->name, ".misc.buildOptions")) {
        z->image->build_options = zs_arena_strndup(z->b->arena, s->bytes.data, s->bytes.size_B);
        return z->image->build_options ? 0 : zs_builder_no_memory(z->b, z->elf->offset_B);
    }
    return 0;
}

/* --- kernels to their code --- */

struct text_entry {
    const char *name; /* behind ".text." */
    uint32_t section;
};

static int compare_text(const void *a, const void *b)
{
    return strcmp(((const struct text_entry *)a)->name, ((const struct text_entry *)b)->name);
}

static int compare_start(const void *a, const void *b)
{
    const struct zs_kernel *p = *(struct zs_kernel *const *)a, *q = *(struct zs_kernel *const *)b;
    return (p->code_offset_B > q->code_offset_B) - (p->code_offset_B < q->code_offset_B);
}

/* Overlapping code would let a small file stand for any amount of work later on. */
static int check_overlap(struct zebin *z)
{
    uint32_t count = z->image->kernel_count;
    struct zs_kernel **sorted = ZS_ARENA_ARRAY(z->b->arena, count, struct zs_kernel *);
    if (!sorted)
        return zs_builder_no_memory(z->b, z->elf->offset_B);
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = &z->kernels[i];
    qsort(sorted, count, sizeof(*sorted), compare_start);
    for (uint32_t i = 1; i < count; i++)
        if (sorted[i]->code_offset_B - sorted[i - 1]->code_offset_B < sorted[i - 1]->heap.size_B)
            return zs_diag_set(z->b->diag, -EINVAL, sorted[i]->code_offset_B,
                               "the code of kernels %.100s and %.100s overlaps",
                               sorted[i - 1]->name, sorted[i]->name);
    return 0;
}

static int place_kernels(struct zebin *z)
{
    struct text_entry *texts = ZS_ARENA_ARRAY(z->b->arena, z->text_count, struct text_entry);
    uint32_t count = 0;
    if (!texts)
        return zs_builder_no_memory(z->b, z->elf->offset_B);
    for (uint32_t i = 0; i < z->elf->section_count; i++) {
        const struct zs_section *s = &z->elf->sections[i];
        if (s->type == ZS_SHT_PROGBITS && !strncmp(s->name, text_prefix, 6))
            texts[count++] = (struct text_entry){s->name + 6, i};
    }
    qsort(texts, count, sizeof(*texts), compare_text);
    for (uint32_t i = 0; i < z->image->kernel_count; i++) {
        struct zs_kernel *k = &z->kernels[i];
        struct text_entry key = {.name = k->name};
        const struct text_entry *found = bsearch(&key, texts, count, sizeof(*texts), compare_text);
        if (!found)
            return zs_diag_set(z->b->diag, -EINVAL, z->image->ze_info_offset_B,
                               ".ze_info names kernel %.200s, which has no section .text.%.200s",
                               k->name, k->name);
        const struct zs_section *s = &z->elf->sections[found->section];
        k->section = found->section;
        k->heap = k->code = s->bytes;
        k->code_offset_B = z->elf->offset_B + s->offset_B;
        z->place_of[found->section] = (struct zs_place){ZS_PLACE_KERNEL, i, 0};
        if (k->thread.skip_per_thread_load_B > s->bytes.size_B ||
            k->thread.skip_set_ffid_B > s->bytes.size_B)
            return zs_diag_set(z->b->diag, -EINVAL, z->image->ze_info_offset_B,
                               ".ze_info: kernel %.200s: entry points behind its code", k->name);
    }
    return check_overlap(z);
}

/* --- symbols and relocations --- */

enum { STT_NOTYPE, STT_OBJECT, STT_FUNC, STT_SECTION, STB_GLOBAL = 1, SHN_UNDEF = 0 };

static enum zs_symbol_kind symbol_kind(const struct zs_elf_symbol *s, const struct zs_place *place)
{
    if (s->section == SHN_UNDEF)
        return ZS_SYMBOL_UNDEFINED;
    if (s->type == STT_SECTION)
        return ZS_SYMBOL_SECTION;
    if (place->kind == ZS_PLACE_KERNEL && s->type == STT_FUNC)
        return ZS_SYMBOL_FUNCTION;
    if (place->kind == ZS_PLACE_GLOBAL && s->type == STT_OBJECT)
        return ZS_SYMBOL_GLOBAL_VARIABLE;
    if ((place->kind == ZS_PLACE_CONSTANT || place->kind == ZS_PLACE_STRINGS) &&
        s->type == STT_OBJECT)
        return ZS_SYMBOL_CONSTANT_VARIABLE;
    return ZS_SYMBOL_LABEL;
}

/* Code ends with the last function in its section, the kernel or one that it calls: padding
 * follows. */
static int end_code(struct zebin *z, const struct zs_symbol *symbol, size_t *ends_B)
{
    const struct zs_kernel *k = &z->kernels[symbol->place.index];
    uint64_t end_B;
    if (symbol->size_B == 0)
        return 0;
    if (!zs_add_u64(symbol->place.offset_B, symbol->size_B, &end_B) || end_B > k->heap.size_B)
        return zs_diag_set(z->b->diag, -EINVAL, k->code_offset_B,
                           "symbol %.200s of 0x%" PRIx64 " bytes at 0x%" PRIx64
                           " in a section of 0x%zx",
                           symbol->name, symbol->size_B, symbol->place.offset_B, k->heap.size_B);
    ends_B[symbol->place.index] = ZS_MAX(ends_B[symbol->place.index], (size_t)end_B);
    return 0;
}

/* Many small entries may name one long string: what they say together is bounded. */
static int take_name(struct zebin *z, const char *name, uint64_t at_B)
{
    size_t name_B = strlen(name) + 1;
    if (name_B > z->b->name_left_B)
        return zs_diag_set(z->b->diag, -EFBIG, at_B,
                           "symbol names are longer than the limit: they overlap");
    z->b->name_left_B -= name_B;
    return 0;
}

static int read_symbols(struct zebin *z)
{
    if (!z->symtab)
        return 0;
    uint32_t count = zs_elf_symbol_count(z->elf, z->symtab);
    struct zs_symbol *symbols = ZS_ARENA_ARRAY(z->b->arena, count, struct zs_symbol);
    size_t *ends_B = ZS_ARENA_ARRAY(z->b->arena, z->image->kernel_count + 1u, size_t);
    int error = symbols && ends_B ? 0 : zs_builder_no_memory(z->b, z->elf->offset_B);
    z->image->symbols = symbols;
    z->image->symbol_count = symbols ? count : 0;
    for (uint32_t i = 0; i < count && !error; i++) {
        struct zs_elf_symbol from;
        uint64_t at_B = z->elf->offset_B + z->symtab->offset_B + 24 * (uint64_t)i;
        if (!zs_elf_symbol(z->elf, z->symtab, i, &from))
            return zs_diag_set(z->b->diag, -EINVAL, at_B, "name of symbol %u lies outside .strtab",
                               i);
        if ((error = take_name(z, from.name, at_B)) != 0)
            return error;
        struct zs_symbol *to = &symbols[i];
        to->name = from.name;
        to->size_B = from.size_B;
        to->global = from.binding == STB_GLOBAL;
        to->place = (struct zs_place){.index = ZS_NONE};
        if (from.section != SHN_UNDEF && from.section < z->elf->section_count) {
            to->place = z->place_of[from.section];
            if (!zs_add_u64(to->place.offset_B, from.value, &to->place.offset_B))
                return zs_diag_set(z->b->diag, -EINVAL, at_B, "value of symbol %u", i);
        }
        to->kind = i == 0 ? ZS_SYMBOL_NONE : symbol_kind(&from, &to->place);
        if (to->kind == ZS_SYMBOL_FUNCTION) {
            error = end_code(z, to, ends_B);
            if (!strcmp(to->name, z->kernels[to->place.index].name))
                to->kind = ZS_SYMBOL_KERNEL;
        }
    }
    for (uint32_t i = 0; i < z->image->kernel_count && !error; i++)
        z->kernels[i].code.size_B = ends_B[i] ? ends_B[i] : z->kernels[i].code.size_B;
    return error;
}

/* Size of what relocations at this place may patch. */
static uint64_t patched_size_B(const struct zebin *z, const struct zs_place *place)
{
    static const uint8_t buffer_of[ZS_PLACE_COUNT] = {[ZS_PLACE_CONSTANT] = ZS_BUFFER_CONSTANT,
                                                      [ZS_PLACE_GLOBAL] = ZS_BUFFER_GLOBAL,
                                                      [ZS_PLACE_STRINGS] = ZS_BUFFER_STRINGS};
    if (place->kind == ZS_PLACE_KERNEL)
        return z->kernels[place->index].heap.size_B;
    return z->image->buffers[buffer_of[place->kind]].size_B;
}

static int read_relocation(struct zebin *z, const struct zs_section *s, uint32_t i,
                           const struct zs_place *base, struct zs_relocation *out)
{
    struct zs_elf_relocation from;
    zs_elf_relocation(s, i, &from);
    uint64_t at_B = z->elf->offset_B + s->offset_B;
    if (from.symbol >= z->image->symbol_count)
        return zs_diag_set(z->b->diag, -EINVAL, at_B, "relocation %u of %s names symbol %u of %u",
                           i, s->name, from.symbol, z->image->symbol_count);
    const struct zs_symbol *symbol = &z->image->symbols[from.symbol];
    *out = (struct zs_relocation){
        .kind = from.type < ZS_RELOCATION_ADD_BASE ? (enum zs_relocation_kind)from.type
                                                   : ZS_RELOCATION_NONE,
        .at = *base,
        .symbol = symbol->name,
        .target = symbol->place,
        .addend = from.addend,
        .has_addend = s->type == ZS_SHT_RELA,
        .adds_in_place = base->kind != ZS_PLACE_KERNEL,
    };
    int error = take_name(z, symbol->name, at_B);
    if (error)
        return error;
    if (out->kind == ZS_RELOCATION_NONE && from.type)
        zs_builder_note(z->b, at_B, "%s: relocation of unknown type %u", s->name, from.type);
    uint64_t room_B = patched_size_B(z, base), size_B = zs_relocation_size_B(out->kind);
    if (!zs_add_u64(base->offset_B, from.offset_B, &out->at.offset_B) ||
        out->at.offset_B > room_B || size_B > room_B - out->at.offset_B)
        return zs_diag_set(z->b->diag, -EINVAL, at_B,
                           "relocation %u of %s patches 0x%" PRIx64 ", outside its section", i,
                           s->name, from.offset_B);
    return 0;
}

/* A REL section whose target is code or a program-scope buffer; those of .debug_* are left to the
 * reader of the debug information. */
static const struct zs_place *relocated_place(const struct zebin *z, const struct zs_section *s)
{
    if ((s->type != ZS_SHT_REL && s->type != ZS_SHT_RELA) || s->info >= z->elf->section_count)
        return NULL;
    const struct zs_place *place = &z->place_of[s->info];
    return place->kind == ZS_PLACE_NONE || place->kind == ZS_PLACE_SECTION ? NULL : place;
}

static int read_relocation_section(struct zebin *z, const struct zs_section *s,
                                   struct zs_relocation *buffer_relocations)
{
    const struct zs_place *base = relocated_place(z, s);
    if (!base)
        return 0;
    uint32_t count = zs_elf_relocation_count(s);
    struct zs_relocation *out = buffer_relocations + z->image->relocation_count;
    if (base->kind == ZS_PLACE_KERNEL) {
        struct zs_kernel *k = &z->kernels[base->index];
        if (k->relocations)
            return zs_diag_set(z->b->diag, -EINVAL, z->elf->offset_B + s->offset_B,
                               "a second relocation section for the code of %.200s", k->name);
        out = ZS_ARENA_ARRAY(z->b->arena, count, struct zs_relocation);
        if (!out)
            return zs_builder_no_memory(z->b, z->elf->offset_B);
        k->relocations = out;
        k->relocation_count = count;
    } else {
        z->image->relocation_count += count;
    }
    int error = 0;
    for (uint32_t i = 0; i < count && !error; i++)
        error = read_relocation(z, s, i, base, &out[i]);
    return error;
}

static int read_relocations(struct zebin *z)
{
    size_t room = 0;
    for (uint32_t i = 0; i < z->elf->section_count; i++) {
        const struct zs_place *place = relocated_place(z, &z->elf->sections[i]);
        if (place && place->kind != ZS_PLACE_KERNEL)
            room += zs_elf_relocation_count(&z->elf->sections[i]);
    }
    struct zs_relocation *relocations = ZS_ARENA_ARRAY(z->b->arena, room, struct zs_relocation);
    int error = relocations ? 0 : zs_builder_no_memory(z->b, z->elf->offset_B);
    z->image->relocations = relocations;
    for (uint32_t i = 0; i < z->elf->section_count && !error; i++)
        error = read_relocation_section(z, &z->elf->sections[i], relocations);
    return error;
}

static void bind_debug(struct zebin *z, uint32_t part)
{
    if (!zs_elf_section(z->elf, ".debug_info"))
        return;
    bool linked = z->elf->type == ZS_ELF_EXEC;
    for (uint32_t i = 0; i < z->image->kernel_count; i++)
        z->kernels[i].debug = (struct zs_debug){
            .kind = linked ? ZS_DEBUG_LINKED : ZS_DEBUG_ZEBIN,
            .address = linked ? z->elf->sections[z->kernels[i].section].address : 0,
            .offset_B = z->elf->offset_B,
            .elf = z->elf->bytes,
            .part = part,
            .section = z->kernels[i].section,
        };
    z->image->has_debug = z->image->kernel_count != 0;
}

int zs_zebin_image_read(struct zs_builder *b, const struct zs_elf *elf, uint32_t part,
                        struct zs_image *ret_image)
{
    struct zebin z = {.b = b, .elf = elf, .image = ret_image};
    struct zs_image *image = ret_image;
    image->format = ZS_CONTAINER_ZEBIN;
    image->part = part;
    image->pointer_B = 8;
    image->zebin_version = "";
    z.place_of = ZS_ARENA_ARRAY(b->arena, elf->section_count, struct zs_place);
    if (!z.place_of)
        return zs_builder_no_memory(b, elf->offset_B);
    int error = 0;
    /* zeros come behind initialised data, whatever the order of the sections */
    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < elf->section_count && !error; i++)
            error = take_section(&z, i, pass == 1);
    if (!error && !image->ze_info.data && z.text_count)
        error = zs_diag_set(b->diag, -EINVAL, elf->offset_B, "zebin without a .ze_info section");
    if (error)
        return error;
    zs_image_name_device(image);
    if (!image->ze_info.data) /* IGC since 2023: a program without kernels */
        return 0;
    z.kernels = ZS_ARENA_ARRAY(b->arena, z.text_count, struct zs_kernel);
    if (!z.kernels)
        return zs_builder_no_memory(b, elf->offset_B);
    error = zs_ze_info_read(b, (struct zs_blob){image->ze_info, image->ze_info_offset_B}, z.kernels,
                            z.text_count, image);
    if (!error)
        error = place_kernels(&z);
    if (!error)
        error = read_symbols(&z);
    if (!error)
        error = read_relocations(&z);
    if (!error)
        bind_debug(&z, part);
    return error;
}
