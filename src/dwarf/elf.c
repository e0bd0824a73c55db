/* SPDX-License-Identifier: MIT */
/*
 * The sections of a debug ELF, and its relocations.
 *
 * Sections, symbols and relocations are found by the one ELF reader of src/module.
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
#include "module/elf.h"
#include "dwarf/dwarf_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    SHF_COMPRESSED_ = 0x800,
    RELA_B = 24,
    TEXT_GAP_B = 64,
    SECTIONS_PER_BYTE = 4, /* a header has 64 bytes, and takes about twice that here */
    SECTIONS_SPARE_B = 1 << 20,
};

static const char *const section_names[ZS_DW_SECTION_COUNT] = {
    ".debug_info",     ".debug_abbrev",      ".debug_line",     ".debug_line_str",
    ".debug_str",      ".debug_str_offsets", ".debug_addr",     ".debug_ranges",
    ".debug_rnglists", ".debug_loc",         ".debug_loclists",
};

struct elf_reader {
    struct zs_dwarf *debug;
    struct zs_diag *diag;
    struct zs_elf elf;
    uint64_t *text_va; /* by section: where its code was put */
    uint64_t end_va;   /* behind all code */
};

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

static int add_text(struct elf_reader *r, uint32_t index, uint64_t *next_va)
{
    const struct zs_section *s = &r->elf.sections[index];
    uint64_t va = s->address;
    if (r->debug->relocatable) {
        va = *next_va;
        /* sizes beyond the file only cost address space: keep them from wrapping */
        *next_va += zs_align_up(ZS_MIN(s->size_B, (uint64_t)UINT32_MAX), TEXT_GAP_B) + TEXT_GAP_B;
    }
    r->text_va[index] = va;
    struct zs_text_section text = {.name = s->name, .va = va, .size_B = s->size_B};
    return ZS_VEC_PUSH(&r->debug->texts, text) ? 0 : -ENOMEM;
}

static int add_debug(struct elf_reader *r, const struct zs_section *s)
{
    struct zs_dwarf *debug = r->debug;
    for (size_t d = 0; d < ZS_DW_SECTION_COUNT; d++) {
        if (strcmp(s->name, section_names[d]) != 0 || debug->section[d].data)
            continue;
        if (s->flags & SHF_COMPRESSED_)
            return zs_diag_set(r->diag, -EOPNOTSUPP, s->offset_B,
                               "%s is compressed, which is not supported", s->name);
        debug->section[d] = s->bytes; /* NOBITS (stripped): as if it were not there */
        debug->section_offset_B[d] = s->offset_B;
    }
    return 0;
}

static int bind_sections(struct elf_reader *r)
{
    struct zs_dwarf *debug = r->debug;
    uint64_t next_va = 0;
    for (uint32_t i = 0; i < r->elf.section_count; i++) {
        const struct zs_section *s = &r->elf.sections[i];
        int error = is_text(s->name) ? add_text(r, i, &next_va) : add_debug(r, s);
        if (error)
            return error;
    }
    r->end_va = next_va;
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
static int read_symbols(struct elf_reader *r, uint32_t index, uint64_t **ret_va, size_t *ret_count)
{
    if (index >= r->elf.section_count)
        return zs_diag_set(r->diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                           "relocations name a symbol table that is not there");
    const struct zs_section *table = &r->elf.sections[index];
    uint32_t count = zs_elf_symbol_count(&r->elf, table);
    uint64_t *va = calloc(count ? count : 1, sizeof(*va));
    if (!va)
        return -ENOMEM;
    int error = 0;
    for (uint32_t i = 0; i < count && !error; i++) {
        struct zs_elf_symbol symbol;
        bool named = zs_elf_symbol(&r->elf, table, i, &symbol); /* a bad name is "" */
        /* thousands of symbols may share one long name, or look for an end that is not there */
        size_t searched_B = named ? strlen(symbol.name) : r->elf.sections[table->link].bytes.size_B;
        error = zs_dwarf_charge(r->debug, searched_B, r->diag);
        const struct zs_text_section *text =
            is_text(symbol.name) ? find_text(r->debug, symbol.name) : NULL;
        va[i] = symbol.value;
        if (text)
            va[i] += text->va;
        else if (strncmp(symbol.name, ".debug_", 7) != 0 && symbol.section < r->elf.section_count)
            va[i] += r->text_va[symbol.section]; /* 0 for what is no code */
    }
    *ret_va = va;
    *ret_count = count;
    return error;
}

static int apply_one(struct elf_reader *r, size_t target, const struct zs_section *table,
                     uint32_t index, const uint64_t *symbol_va, size_t symbol_count,
                     int32_t nameless)
{
    struct zs_dwarf *debug = r->debug;
    uint64_t at_B = table->offset_B + (uint64_t)index * RELA_B;
    struct zs_elf_relocation relocation;
    zs_elf_relocation(table, index, &relocation);
    if (relocation.type != ZS_RELOCATION_ADDRESS && relocation.type != ZS_RELOCATION_ADDRESS_32)
        return zs_diag_set(r->diag, -EOPNOTSUPP, at_B + 8,
                           "%s: relocations of type %u are not known", section_names[target],
                           relocation.type);
    size_t size_B = relocation.type == ZS_RELOCATION_ADDRESS ? 8 : 4;
    if (relocation.symbol >= symbol_count)
        return zs_diag_set(r->diag, -EINVAL, at_B + 8, "relocation of symbol %u of %zu",
                           relocation.symbol, symbol_count);
    if (relocation.offset_B > debug->section[target].size_B ||
        size_B > debug->section[target].size_B - relocation.offset_B)
        return zs_diag_set(r->diag, -EINVAL, at_B, "relocation outside of %s",
                           section_names[target]);
    uint64_t va = nameless == 0  ? symbol_va[relocation.symbol]
                  : nameless > 0 ? r->text_va[nameless]
                                 : r->end_va;
    uint64_t value = va + (uint64_t)relocation.addend;
    for (size_t i = 0; i < size_B; i++)
        debug->owned[target][relocation.offset_B + i] = (uint8_t)(value >> (8 * i));
    return 0;
}

static int apply_relocations(struct elf_reader *r, const struct zs_section *table, size_t target)
{
    struct zs_dwarf *debug = r->debug;
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
    int error = read_symbols(r, table->link, &symbol_va, &symbol_count);
    uint32_t count = zs_elf_relocation_count(table);
    int32_t *nameless = calloc(count ? count : 1, sizeof(*nameless));
    error = error ? error : nameless ? 0 : -ENOMEM;
    if (!error)
        zs_elf_nameless_code(&r->elf, table, nameless);
    for (uint32_t i = 0; i < count && !error; i++)
        if (debug->relocatable || nameless[i] > 0)
            error = apply_one(r, target, table, i, symbol_va, symbol_count, nameless[i]);
    free(nameless);
    free(symbol_va);
    return error;
}

/* In what a driver has linked, code by symbols that have no name is left: it has put 0 there. */
static int relocate(struct elf_reader *r)
{
    bool done[ZS_DW_SECTION_COUNT] = {false};
    for (uint32_t i = 0; i < r->elf.section_count; i++) {
        const struct zs_section *s = &r->elf.sections[i];
        if (s->type != ZS_SHT_RELA || s->info >= r->elf.section_count ||
            (!r->debug->relocatable && s->link >= r->elf.section_count))
            continue;
        for (size_t d = 0; d < ZS_DW_SECTION_COUNT; d++) {
            if (strcmp(r->elf.sections[s->info].name, section_names[d]) != 0 || done[d])
                continue;
            done[d] = true; /* one list per section: a file with thousands would cost squares */
            int error = apply_relocations(r, s, d);
            if (error)
                return error;
        }
    }
    return 0;
}

static int read_sections(struct elf_reader *r, struct zs_arena *arena)
{
    struct zs_dwarf *debug = r->debug;
    int error = zs_elf_parse(debug->elf, 0, arena, NULL, r->diag, &r->elf);
    if (error)
        return error;
    r->text_va = ZS_ARENA_ARRAY(arena, r->elf.section_count + 1u, uint64_t);
    if (!r->text_va)
        return -ENOMEM;
    debug->relocatable = r->elf.type == ZS_ELF_REL || r->elf.type == ZS_ELF_ZEBIN_REL;
    error = bind_sections(r);
    if (error)
        return error;
    if (!debug->section[ZS_DW_LINE].size_B && !debug->section[ZS_DW_INFO].size_B)
        return zs_diag_set(r->diag, -ENODATA, ZS_DIAG_NO_OFFSET,
                           "the ELF has no .debug_info and no .debug_line");
    if (debug->relocatable && r->elf.machine != ZS_EM_INTELGT)
        return zs_diag_set(r->diag, -EOPNOTSUPP, 18,
                           "relocatable debug info of machine %u is not known", r->elf.machine);
    return r->elf.machine == ZS_EM_INTELGT ? relocate(r) : 0;
}

int zs_dwarf_read_elf(struct zs_dwarf *debug, struct zs_diag *diag)
{
    struct zs_arena arena;
    struct elf_reader r = {.debug = debug, .diag = diag};
    zs_arena_init(&arena, debug->elf.size_B * SECTIONS_PER_BYTE + SECTIONS_SPARE_B);
    int error = read_sections(&r, &arena);
    zs_arena_fini(&arena);
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
