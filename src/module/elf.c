/* SPDX-License-Identifier: MIT */
#include "module/elf.h"
#include "module/module.h"

#include "base/reader.h"

#include <errno.h>
#include <inttypes.h>

enum { EHDR_B = 64, SHDR_B = 64, SYM_B = 24, REL_B = 16, RELA_B = 24, SHN_XINDEX = 0xffff };
enum { STT_OBJECT = 1 };

static const struct {
    uint32_t type;
    const char *text;
} type_names[] = {
#define ZS_SECTION_TYPE(number, name, text) {number, text},
#include "module/section_types.def"
#undef ZS_SECTION_TYPE
};

const char *zs_section_type_name(uint32_t type)
{
    for (size_t i = 0; i < ZS_ARRAY_LEN(type_names); i++)
        if (type_names[i].type == type)
            return type_names[i].text;
    return "";
}

const char *zs_span_string(struct zs_span table, uint64_t offset_B)
{
    if (offset_B >= table.size_B)
        return NULL;
    const uint8_t *text = table.data + offset_B;
    return memchr(text, 0, table.size_B - (size_t)offset_B) ? (const char *)text : NULL;
}

struct elf_header {
    uint64_t section_table_B;
    uint32_t count, names;
    uint16_t entry_B;
};

static int read_header(struct zs_reader *r, struct zs_elf *elf, struct elf_header *ret)
{
    uint32_t magic = zs_read_u32(r, "ELF magic");
    uint8_t class = zs_read_u8(r, "ELF class");
    uint8_t data = zs_read_u8(r, "ELF data encoding");
    zs_read_skip(r, 2, "ELF identification");
    elf->abi_version = zs_read_u8(r, "ELF ABI version");
    zs_read_skip(r, 7, "ELF identification");
    elf->type = zs_read_u16(r, "ELF type");
    elf->machine = zs_read_u16(r, "ELF machine");
    zs_read_skip(r, 4, "ELF version");
    elf->entry_va = zs_read_u64(r, "ELF entry");
    zs_read_skip(r, 8, "ELF program headers");
    ret->section_table_B = zs_read_u64(r, "offset of the section headers");
    elf->flags = zs_read_u32(r, "ELF flags");
    zs_read_skip(r, 2 + 2 + 2, "ELF header size and program headers");
    ret->entry_B = zs_read_u16(r, "section header size");
    ret->count = zs_read_u16(r, "section count");
    ret->names = zs_read_u16(r, "section name table");
    if (r->error)
        return r->error;
    if (magic != 0x464c457f)
        return zs_diag_set(r->diag, -EINVAL, r->base_B, "ELF magic 0x%08x: 0x464c457f expected",
                           magic);
    if (class != 2 || data != 1)
        return zs_diag_set(r->diag, -ENOTSUP, r->base_B + 4,
                           "ELF class %u, encoding %u: only 64-bit little-endian is supported",
                           class, data);
    if (ret->count && ret->entry_B != SHDR_B)
        return zs_diag_set(r->diag, -EINVAL, r->base_B + 0x3a,
                           "section headers of %u bytes: %d expected", ret->entry_B, SHDR_B);
    return 0;
}

static void read_section(struct zs_reader *r, struct zs_section *s, uint32_t *ret_name)
{
    *ret_name = zs_read_u32(r, "section name");
    s->type = zs_read_u32(r, "section type");
    s->flags = zs_read_u64(r, "section flags");
    s->address = zs_read_u64(r, "section address");
    s->offset_B = zs_read_u64(r, "section offset");
    s->size_B = zs_read_u64(r, "section size");
    s->link = zs_read_u32(r, "section link");
    s->info = zs_read_u32(r, "section info");
    s->align_B = zs_read_u64(r, "section alignment");
    s->entry_B = zs_read_u64(r, "section entry size");
    s->type_name = zs_section_type_name(s->type);
    s->name = "";
}

/* A section's place: everything but NULL and NOBITS has its bytes in the file. */
static int place_section(const struct zs_elf *elf, struct zs_section *s, uint32_t index,
                         struct zs_diag *diag)
{
    if (s->type == ZS_SHT_NULL || s->type == ZS_SHT_NOBITS)
        return 0;
    if (!zs_span_sub(elf->bytes, s->offset_B, s->size_B, &s->bytes))
        return zs_diag_set(diag, -EINVAL, elf->offset_B,
                           "section %u (%s) of 0x%" PRIx64 " bytes at 0x%" PRIx64
                           " lies outside the ELF of 0x%zx bytes",
                           index, s->type_name[0] ? s->type_name : "unknown type", s->size_B,
                           s->offset_B, elf->bytes.size_B);
    return 0;
}

/* Names come last: s->offset of the string table must have been read. Takes from the budget, as
 * many headers may name one long string. */
static int name_sections(const struct zs_elf *elf, struct zs_section *sections,
                         const uint32_t *name_offsets, uint32_t names, uint64_t *name_left_B,
                         struct zs_diag *diag)
{
    if (names == 0)
        return 0;
    if (names >= elf->section_count)
        return zs_diag_set(diag, -EINVAL, elf->offset_B + 0x3e,
                           "section name table %u of %u sections", names, elf->section_count);
    for (uint32_t i = 0; i < elf->section_count; i++) {
        const char *name = zs_span_string(sections[names].bytes, name_offsets[i]);
        if (!name) {
            if (sections[i].type == ZS_SHT_NULL)
                continue;
            return zs_diag_set(diag, -EINVAL, elf->offset_B,
                               "name of section %u: offset 0x%x is not a terminated string in the "
                               "name table of 0x%zx bytes",
                               i, name_offsets[i], sections[names].bytes.size_B);
        }
        size_t length_B = strlen(name);
        if (length_B > *name_left_B)
            return zs_diag_set(diag, -EFBIG, elf->offset_B,
                               "section names are longer than the limit: they overlap");
        *name_left_B -= length_B;
        sections[i].name = name;
    }
    return 0;
}

/* More than 65,279 sections: the first header holds their count and the name table. */
static void take_long_counts(const struct zs_reader *r, struct elf_header *header)
{
    struct zs_reader first = *r;
    struct zs_section s;
    uint32_t name;
    if (r->error || header->count || !header->section_table_B || header->entry_B != SHDR_B ||
        zs_reader_left(&first) < SHDR_B)
        return;
    read_section(&first, &s, &name);
    header->count = (uint32_t)ZS_MIN(s.size_B, (uint64_t)UINT32_MAX);
    if (header->names == SHN_XINDEX)
        header->names = s.link;
}

int zs_elf_parse(struct zs_span bytes, uint64_t offset_B, struct zs_arena *arena,
                 uint64_t *name_left_B, struct zs_diag *diag, struct zs_elf *ret_elf)
{
    struct zs_reader r = zs_reader_make(bytes, offset_B, diag);
    struct elf_header header;
    struct zs_elf elf = {.bytes = bytes, .offset_B = offset_B};
    uint64_t own_budget_B = 4 * (uint64_t)bytes.size_B;
    int error = read_header(&r, &elf, &header);
    if (error)
        return error;
    zs_read_seek(&r, header.section_table_B, "section headers");
    take_long_counts(&r, &header);
    if (!r.error && zs_reader_left(&r) / SHDR_B < header.count)
        return zs_diag_set(diag, -EINVAL, zs_reader_offset(&r),
                           "%u section headers expected, the file ends after %zu", header.count,
                           zs_reader_left(&r) / SHDR_B);
    if (r.error)
        return r.error;
    elf.section_count = header.count;
    struct zs_section *sections = ZS_ARENA_ARRAY(arena, header.count, struct zs_section);
    uint32_t *names = ZS_ARENA_ARRAY(arena, header.count, uint32_t);
    if (!sections || !names)
        return zs_diag_set(diag, -EFBIG, offset_B, "no memory for %u sections", header.count);
    for (uint32_t i = 0; i < elf.section_count; i++) {
        read_section(&r, &sections[i], &names[i]);
        if ((error = place_section(&elf, &sections[i], i, diag)) != 0)
            return error;
    }
    elf.sections = sections;
    error = name_sections(&elf, sections, names, header.names,
                          name_left_B ? name_left_B : &own_budget_B, diag);
    if (!error)
        *ret_elf = elf;
    return error;
}

const struct zs_section *zs_elf_section(const struct zs_elf *elf, const char *name)
{
    for (uint32_t i = 0; i < elf->section_count; i++)
        if (!strcmp(elf->sections[i].name, name))
            return &elf->sections[i];
    return NULL;
}

const struct zs_section *zs_elf_section_of_type(const struct zs_elf *elf, uint32_t type)
{
    for (uint32_t i = 0; i < elf->section_count; i++)
        if (elf->sections[i].type == type)
            return &elf->sections[i];
    return NULL;
}

uint32_t zs_elf_symbol_count(const struct zs_elf *elf, const struct zs_section *symtab)
{
    if (symtab->type != ZS_SHT_SYMTAB || symtab->link >= elf->section_count)
        return 0;
    return (uint32_t)ZS_MIN(symtab->bytes.size_B / SYM_B, (size_t)UINT32_MAX);
}

bool zs_elf_symbol(const struct zs_elf *elf, const struct zs_section *symtab, uint32_t index,
                   struct zs_elf_symbol *ret_symbol)
{
    struct zs_reader r = zs_reader_make(symtab->bytes, 0, NULL);
    zs_read_seek(&r, (uint64_t)index * SYM_B, "symbol");
    uint32_t name = zs_read_u32(&r, "symbol name");
    uint8_t info = zs_read_u8(&r, "symbol info");
    zs_read_skip(&r, 1, "symbol visibility");
    *ret_symbol = (struct zs_elf_symbol){.type = info & 15, .binding = info >> 4};
    ret_symbol->section = zs_read_u16(&r, "symbol section");
    ret_symbol->value = zs_read_u64(&r, "symbol value");
    ret_symbol->size_B = zs_read_u64(&r, "symbol size");
    const char *text = zs_span_string(elf->sections[symtab->link].bytes, name);
    ret_symbol->name = text ? text : "";
    return !r.error && text;
}

uint32_t zs_elf_relocation_count(const struct zs_section *section)
{
    size_t entry_B = section->type == ZS_SHT_REL ? REL_B : RELA_B;
    if (section->type != ZS_SHT_REL && section->type != ZS_SHT_RELA)
        return 0;
    return (uint32_t)ZS_MIN(section->bytes.size_B / entry_B, (size_t)UINT32_MAX);
}

void zs_elf_relocation(const struct zs_section *section, uint32_t index,
                       struct zs_elf_relocation *ret_relocation)
{
    bool rela = section->type == ZS_SHT_RELA;
    struct zs_reader r = zs_reader_make(section->bytes, 0, NULL);
    zs_read_seek(&r, (uint64_t)index * (rela ? RELA_B : REL_B), "relocation");
    ret_relocation->offset_B = zs_read_u64(&r, "relocation offset");
    uint64_t info = zs_read_u64(&r, "relocation info");
    ret_relocation->type = (uint32_t)info;
    ret_relocation->symbol = (uint32_t)(info >> 32);
    ret_relocation->addend = rela ? (int64_t)zs_read_u64(&r, "relocation addend") : 0;
}

/* From a symbol's name on to the end of all names: nothing is searched. */
static struct zs_span name_of(const struct zs_elf *elf, const struct zs_section *symtab,
                              uint32_t index, bool *ret_object)
{
    struct zs_reader r = zs_reader_make(symtab->bytes, 0, NULL);
    struct zs_span strings = elf->sections[symtab->link].bytes;
    zs_read_seek(&r, (uint64_t)index * SYM_B, "symbol");
    uint32_t at_B = zs_read_u32(&r, "symbol name");
    *ret_object = (zs_read_u8(&r, "symbol info") & 15) == STT_OBJECT;
    if (r.error || at_B >= strings.size_B)
        return (struct zs_span){0};
    return (struct zs_span){strings.data + at_B, strings.size_B - at_B};
}

/* Units of debug information and the sections of code, side by side. */
struct units {
    const struct zs_elf *elf;
    struct zs_span bytes;
    uint64_t end_B; /* of the unit */
    uint32_t code;  /* its section */
    bool holder;    /* what holds functions has a unit, too: where it has constants */
    bool agree;
};

static void next_unit(struct units *u)
{
    uint64_t room_B = u->bytes.size_B - u->end_B;
    uint32_t length_B = room_B >= 4 ? zs_load_u32(u->bytes.data + u->end_B) : UINT32_MAX;
    u->agree = u->agree && room_B >= 4 && length_B <= room_B - 4;
    u->end_B += u->agree ? 4u + length_B : 0;
    do
        u->code++;
    while (
        u->code < u->elf->section_count &&
        (strncmp(u->elf->sections[u->code].name, ".text.", 6) != 0 ||
         (!u->holder && strcmp(u->elf->sections[u->code].name + 6, ZS_FUNCTION_HOLDER_NAME) == 0)));
    u->agree = u->agree && u->code < u->elf->section_count;
}

/* Whether units and sections are as many. */
static bool find_nameless(const struct zs_elf *elf, const struct zs_section *table, bool holder,
                          int32_t *ret_section)
{
    struct units u = {
        .elf = elf, .bytes = elf->sections[table->info].bytes, .holder = holder, .agree = true};
    const struct zs_section *symtab = &elf->sections[table->link];
    uint32_t count = zs_elf_relocation_count(table);
    for (uint32_t i = 0; i < count; i++) {
        struct zs_elf_relocation relocation;
        bool is_object;
        ret_section[i] = 0;
        zs_elf_relocation(table, i, &relocation);
        if (relocation.type != ZS_RELOCATION_ADDRESS)
            continue;
        while (u.agree && relocation.offset_B >= u.end_B)
            next_unit(&u);
        struct zs_span name = name_of(elf, symtab, relocation.symbol, &is_object);
        if (name.size_B && !name.data[0] && is_object) {
            ret_section[i] = u.agree ? (int32_t)u.code : ZS_ELF_NOWHERE;
        } else if (u.agree) {
            size_t name_B = strlen(elf->sections[u.code].name) + 1;
            u.agree =
                name.size_B >= name_B && memcmp(name.data, elf->sections[u.code].name, name_B) == 0;
        }
    }
    while (u.agree && u.end_B < u.bytes.size_B)
        next_unit(&u);
    uint32_t last = u.code;
    bool ended = u.agree;
    next_unit(&u);
    return ended && last != 0 && u.code >= elf->section_count;
}

void zs_elf_nameless_code(const struct zs_elf *elf, const struct zs_section *table,
                          int32_t *ret_section)
{
    uint32_t count = zs_elf_relocation_count(table);
    /* a section of another type has any link */
    if (!zs_elf_symbol_count(elf, &elf->sections[table->link]) ||
        find_nameless(elf, table, false, ret_section) ||
        find_nameless(elf, table, true, ret_section))
        return;
    for (uint32_t i = 0; i < count; i++)
        ret_section[i] = ret_section[i] ? ZS_ELF_NOWHERE : 0;
}
