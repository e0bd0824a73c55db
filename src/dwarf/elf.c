/* SPDX-License-Identifier: MIT */
/*
 * The sections of a debug ELF, and its relocations.
 *
 * Why not libelf and libdw: measured with elfutils 0.188, libdw needs about 100 bytes of memory
 * per byte of a line program of one-byte rows (16 MiB of input took 1.7 GB), with no way to bound
 * it, and has no backend for Intel's machine numbers, so relocations would be ours anyway. To
 * give libdw only what was validated means to parse all of it first; that parser is this folder,
 * and it is then also what reads. libdw remains the oracle of the tests.
 *
 * Relocations (IGC's zebin, all others are refused): type 1 stores a 64-bit and type 2 a 32-bit
 * address. The symbols they name carry the *name* of a section (".text.k1", ".debug_loc") but,
 * with this IGC's linker, the section *index* of the one that is relocated: the name decides.
 */
#include "dwarf/dwarf_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    ELF_HEADER_B = 64,
    SECTION_HEADER_B = 64,
    SYMBOL_B = 24,
    RELA_B = 24,
    SHT_RELA_ = 4,
    SHT_NOBITS_ = 8,
    SHF_COMPRESSED_ = 0x800,
    ET_REL_ = 1,
    ET_ZEBIN_REL = 0xff11,
    EM_INTELGT_ = 205,
    RELOC_64 = 1,
    RELOC_32 = 2,
    TEXT_GAP_B = 64,
};

static const char *const section_names[ZS_DW_SECTION_COUNT] = {
    ".debug_info",     ".debug_abbrev",      ".debug_line",     ".debug_line_str",
    ".debug_str",      ".debug_str_offsets", ".debug_addr",     ".debug_ranges",
    ".debug_rnglists", ".debug_loc",         ".debug_loclists",
};

const char *zs_dwarf_section_name(enum zs_dw_section section)
{
    return section_names[section];
}

struct section_header {
    const char *name;
    uint32_t name_B, type, link, info;
    uint64_t flags, va, offset_B, size_B;
};

struct elf_reader {
    struct zs_dwarf *debug;
    struct zs_diag *diag;
    struct section_header *sections;
    uint32_t count, names_index;
    uint16_t type, machine;
};

static int read_header(struct elf_reader *elf, uint64_t *ret_sections_B)
{
    struct zs_reader r = zs_reader_make(elf->debug->elf, 0, elf->diag);
    if (zs_read_u32(&r, "ELF magic") != 0x464c457f && !r.error)
        return zs_diag_set(elf->diag, -EINVAL, 0, "not an ELF file");
    uint8_t elf_class = zs_read_u8(&r, "ELF class");
    uint8_t order = zs_read_u8(&r, "ELF byte order");
    if (!r.error && (elf_class != 2 || order != 1))
        return zs_diag_set(elf->diag, -EINVAL, 4, "a 64-bit little-endian ELF is expected");
    zs_read_skip(&r, 10, "ELF header");
    elf->type = zs_read_u16(&r, "ELF type");
    elf->machine = zs_read_u16(&r, "ELF machine");
    zs_read_skip(&r, 4 + 8 + 8, "ELF header");
    *ret_sections_B = zs_read_u64(&r, "section table offset");
    zs_read_skip(&r, 4 + 2 + 2 + 2, "ELF header");
    uint16_t entry_B = zs_read_u16(&r, "section header size");
    elf->count = zs_read_u16(&r, "section count");
    elf->names_index = zs_read_u16(&r, "section name table");
    if (r.error)
        return r.error;
    if (entry_B != SECTION_HEADER_B)
        return zs_diag_set(elf->diag, -EINVAL, 58, "section headers of 64 bytes are expected");
    return 0;
}

static struct section_header read_section_header(struct zs_reader *r)
{
    struct section_header s = {0};
    s.name_B = zs_read_u32(r, "section name");
    s.type = zs_read_u32(r, "section type");
    s.flags = zs_read_u64(r, "section flags");
    s.va = zs_read_u64(r, "section address");
    s.offset_B = zs_read_u64(r, "section offset");
    s.size_B = zs_read_u64(r, "section size");
    s.link = zs_read_u32(r, "section link");
    s.info = zs_read_u32(r, "section info");
    zs_read_skip(r, 16, "section header");
    return s;
}

static bool section_span(const struct elf_reader *elf, const struct section_header *s,
                         struct zs_span *ret)
{
    return s->type != SHT_NOBITS_ && zs_span_sub(elf->debug->elf, s->offset_B, s->size_B, ret);
}

/* The NUL-terminated string at an offset of a string section, or "". */
static const char *string_at(struct zs_span strings, uint64_t offset_B)
{
    struct zs_span rest;
    if (offset_B >= strings.size_B ||
        !zs_span_sub(strings, offset_B, strings.size_B - offset_B, &rest) ||
        !memchr(rest.data, 0, rest.size_B))
        return "";
    return (const char *)rest.data;
}

static int read_sections(struct elf_reader *elf)
{
    uint64_t sections_B = 0;
    int error = read_header(elf, &sections_B);
    if (error)
        return error;
    struct zs_reader r = zs_reader_make(elf->debug->elf, 0, elf->diag);
    zs_read_seek(&r, sections_B, "section table");
    if (elf->count == 0 && zs_reader_left(&r) >= SECTION_HEADER_B) {
        /* more than 65,279 sections: the first header holds the count and the name table */
        struct zs_reader first = r;
        struct section_header s = read_section_header(&first);
        if (s.size_B > UINT32_MAX)
            return zs_diag_set(elf->diag, -EINVAL, sections_B + 32, "too many sections");
        elf->count = (uint32_t)s.size_B;
        elf->names_index = elf->names_index == 0xffff ? s.link : elf->names_index;
    }
    if (r.error || elf->count > zs_reader_left(&r) / SECTION_HEADER_B)
        return zs_diag_set(elf->diag, -EINVAL, sections_B,
                           "section table: %u headers do not fit in the file", elf->count);
    elf->sections = calloc(elf->count ? elf->count : 1, sizeof(*elf->sections));
    if (!elf->sections)
        return -ENOMEM;
    for (uint32_t i = 0; i < elf->count; i++)
        elf->sections[i] = read_section_header(&r);
    struct zs_span names = {0};
    if (elf->names_index >= elf->count ||
        !section_span(elf, &elf->sections[elf->names_index], &names))
        return zs_diag_set(elf->diag, -EINVAL, 62, "the section name table is not in the file");
    for (uint32_t i = 0; i < elf->count; i++)
        elf->sections[i].name = string_at(names, elf->sections[i].name_B);
    return 0;
}

static int compare_texts(const void *a, const void *b)
{
    const struct zs_text_section *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : (x->va > y->va) - (x->va < y->va);
}

static bool is_text(const char *name)
{
    return strncmp(name, ".text", 5) == 0 && (name[5] == '\0' || name[5] == '.');
}

static int bind_sections(struct elf_reader *elf)
{
    struct zs_dwarf *debug = elf->debug;
    uint64_t next_va = 0;
    for (uint32_t i = 0; i < elf->count; i++) {
        struct section_header *s = &elf->sections[i];
        if (is_text(s->name)) {
            if (debug->relocatable) {
                /* sizes beyond the file only cost address space: keep them from wrapping */
                s->va = next_va;
                next_va +=
                    zs_align_up(ZS_MIN(s->size_B, (uint64_t)UINT32_MAX), TEXT_GAP_B) + TEXT_GAP_B;
            }
            if (!ZS_VEC_PUSH(
                    &debug->texts,
                    ((struct zs_text_section){.name = s->name, .va = s->va, .size_B = s->size_B})))
                return -ENOMEM;
            continue;
        }
        for (size_t d = 0; d < ZS_DW_SECTION_COUNT; d++) {
            if (strcmp(s->name, section_names[d]) != 0 || debug->section[d].data)
                continue;
            if (s->flags & SHF_COMPRESSED_)
                return zs_diag_set(elf->diag, -EOPNOTSUPP, s->offset_B,
                                   "%s is compressed, which is not supported", s->name);
            if (!section_span(elf, s, &debug->section[d]))
                return zs_diag_set(elf->diag, -EINVAL, s->offset_B, "%s does not fit in the file",
                                   s->name);
            debug->section_offset_B[d] = s->offset_B;
        }
    }
    if (debug->texts.count)
        qsort(debug->texts.items, debug->texts.count, sizeof(*debug->texts.items), compare_texts);
    return 0;
}

static const struct zs_text_section *find_text(const struct zs_dwarf *debug, const char *name)
{
    struct zs_text_section key = {.name = name};
    size_t low = 0, high = debug->texts.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(debug->texts.items[middle].name, key.name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < debug->texts.count && strcmp(debug->texts.items[low].name, name) == 0;
    return found ? &debug->texts.items[low] : NULL;
}

/* Address of every symbol of a table. */
static int read_symbols(struct elf_reader *elf, uint32_t index, uint64_t **ret_va,
                        size_t *ret_count)
{
    struct zs_span table, strings = {0};
    if (index >= elf->count || !section_span(elf, &elf->sections[index], &table))
        return zs_diag_set(elf->diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                           "relocations name a symbol table that is not there");
    const struct section_header *header = &elf->sections[index];
    if (header->link < elf->count)
        (void)section_span(elf, &elf->sections[header->link], &strings);
    size_t count = table.size_B / SYMBOL_B;
    uint64_t *va = calloc(count ? count : 1, sizeof(*va));
    if (!va)
        return -ENOMEM;
    struct zs_reader r = zs_reader_make(table, header->offset_B, elf->diag);
    for (size_t i = 0; i < count; i++) {
        const char *name = string_at(strings, zs_read_u32(&r, "symbol name"));
        zs_read_skip(&r, 2, "symbol");
        uint16_t section = zs_read_u16(&r, "symbol section");
        uint64_t value = zs_read_u64(&r, "symbol value");
        zs_read_skip(&r, 8, "symbol size");
        const struct zs_text_section *text = is_text(name) ? find_text(elf->debug, name) : NULL;
        if (text)
            va[i] = text->va + value;
        else if (strncmp(name, ".debug_", 7) != 0 && section < elf->count &&
                 is_text(elf->sections[section].name))
            va[i] = elf->sections[section].va + value;
        else
            va[i] = value;
    }
    *ret_va = va;
    *ret_count = count;
    return r.error;
}

static int apply_one(struct elf_reader *elf, size_t target, struct zs_reader *r,
                     const uint64_t *symbol_va, size_t symbol_count)
{
    struct zs_dwarf *debug = elf->debug;
    uint64_t at_B = zs_reader_offset(r);
    uint64_t offset_B = zs_read_u64(r, "relocation offset");
    uint64_t info = zs_read_u64(r, "relocation type");
    uint64_t addend = zs_read_u64(r, "relocation addend");
    uint32_t type = (uint32_t)info, symbol = (uint32_t)(info >> 32);
    if (type != RELOC_64 && type != RELOC_32)
        return zs_diag_set(elf->diag, -EOPNOTSUPP, at_B + 8,
                           "%s: relocations of type %u are not known", section_names[target], type);
    size_t size_B = type == RELOC_64 ? 8 : 4;
    if (symbol >= symbol_count)
        return zs_diag_set(elf->diag, -EINVAL, at_B + 8, "relocation of symbol %u of %zu", symbol,
                           symbol_count);
    if (offset_B > debug->section[target].size_B ||
        size_B > debug->section[target].size_B - offset_B)
        return zs_diag_set(elf->diag, -EINVAL, at_B, "relocation outside of %s",
                           section_names[target]);
    uint64_t value = symbol_va[symbol] + addend;
    for (size_t i = 0; i < size_B; i++)
        debug->owned[target][offset_B + i] = (uint8_t)(value >> (8 * i));
    return 0;
}

static int apply_relocations(struct elf_reader *elf, const struct section_header *s, size_t target)
{
    struct zs_dwarf *debug = elf->debug;
    struct zs_span rela;
    if (!section_span(elf, s, &rela))
        return zs_diag_set(elf->diag, -EINVAL, s->offset_B, "%s does not fit in the file", s->name);
    if (!debug->owned[target]) {
        debug->owned[target] = malloc(debug->section[target].size_B + 1);
        if (!debug->owned[target])
            return -ENOMEM;
        if (debug->section[target].size_B)
            memcpy(debug->owned[target], debug->section[target].data,
                   debug->section[target].size_B);
        debug->section[target].data = debug->owned[target];
    }
    uint64_t *symbol_va = NULL;
    size_t symbol_count = 0;
    int error = read_symbols(elf, s->link, &symbol_va, &symbol_count);
    struct zs_reader r = zs_reader_make(rela, s->offset_B, elf->diag);
    while (!error && zs_reader_left(&r) >= RELA_B)
        error = apply_one(elf, target, &r, symbol_va, symbol_count);
    free(symbol_va);
    return error;
}

static int relocate(struct elf_reader *elf)
{
    bool done[ZS_DW_SECTION_COUNT] = {false};
    for (uint32_t i = 0; i < elf->count; i++) {
        const struct section_header *s = &elf->sections[i];
        if (s->type != SHT_RELA_ || s->info >= elf->count)
            continue;
        for (size_t d = 0; d < ZS_DW_SECTION_COUNT; d++) {
            const struct section_header *target = &elf->sections[s->info];
            if (strcmp(target->name, section_names[d]) != 0 || done[d])
                continue;
            done[d] = true; /* one list per section: a file with thousands would cost squares */
            int error = apply_relocations(elf, s, d);
            if (error)
                return error;
        }
    }
    return 0;
}

int zs_dwarf_read_elf(struct zs_dwarf *debug, struct zs_diag *diag)
{
    struct elf_reader elf = {.debug = debug, .diag = diag};
    int error = read_sections(&elf);
    if (error)
        goto out;
    debug->relocatable = elf.type == ET_REL_ || elf.type == ET_ZEBIN_REL;
    error = bind_sections(&elf);
    if (error)
        goto out;
    if (!debug->section[ZS_DW_LINE].size_B && !debug->section[ZS_DW_INFO].size_B) {
        error = zs_diag_set(diag, -ENODATA, ZS_DIAG_NO_OFFSET,
                            "the ELF has no .debug_info and no .debug_line");
        goto out;
    }
    if (debug->relocatable && elf.machine != EM_INTELGT_) {
        error = zs_diag_set(diag, -EOPNOTSUPP, 18,
                            "relocatable debug info of machine %u is not known", elf.machine);
        goto out;
    }
    if (debug->relocatable)
        error = relocate(&elf);
out:
    free(elf.sections);
    return error;
}

const struct zs_text_section *zs_dwarf_find_text(const struct zs_dwarf *debug,
                                                 const char *kernel_name)
{
    char name[2048];
    size_t length = strlen(kernel_name);
    if (length < sizeof(name) - sizeof(".text.")) {
        memcpy(name, ".text.", 6);
        memcpy(name + 6, kernel_name, length + 1);
        const struct zs_text_section *text = find_text(debug, name);
        if (text)
            return text;
    }
    /* one ELF per kernel: its only code */
    return find_text(debug, ".text");
}
