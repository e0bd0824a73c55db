/* SPDX-License-Identifier: MIT */
/*
 * A checked view of an ELF64 little-endian file: section headers lie inside the file, section
 * bodies (but NOBITS) too, names are NUL-terminated inside their table. Nothing is copied but the
 * section table; names point into the file.
 *
 * Layout: System V ABI; types of Intel's sections: elf.h of compute-runtime (ocl_elf.h) and the
 * zebin specification (elf.md).
 */
#ifndef ZS_MODULE_ELF_H
#define ZS_MODULE_ELF_H

#include "base/arena.h"
#include "base/diag.h"

#include <zescope/module.h>

enum {
    ZS_ELF_REL = 1,
    ZS_ELF_EXEC = 2,
    ZS_ELF_OPENCL_SOURCE = 0xff01,
    ZS_ELF_OPENCL_OBJECTS = 0xff02,
    ZS_ELF_OPENCL_LIBRARY = 0xff03,
    ZS_ELF_OPENCL_EXECUTABLE = 0xff04,
    ZS_ELF_OPENCL_DEBUG = 0xff05,
    ZS_ELF_ZEBIN_REL = 0xff11,
    ZS_ELF_ZEBIN_EXEC = 0xff12,
    ZS_ELF_ZEBIN_DYN = 0xff13,

    ZS_EM_INTELGT = 205,
};

enum zs_section_type {
#define ZS_SECTION_TYPE(number, name, text) ZS_SHT_##name = number,
#include "module/section_types.def"
#undef ZS_SECTION_TYPE
};

struct zs_elf {
    struct zs_span bytes;
    uint64_t offset_B; /* of the ELF in the input, for diagnostics */
    uint16_t type, machine;
    uint32_t flags;
    uint64_t entry_va; /* e_entry */
    uint8_t abi_version;
    const struct zs_section *sections; /* in the arena */
    uint32_t section_count;
};

struct zs_elf_symbol {
    const char *name;
    uint8_t type;     /* STT_* */
    uint8_t binding;  /* STB_* */
    uint16_t section; /* 0: undefined; 0xfff1: absolute */
    uint64_t value;
    uint64_t size_B;
};

struct zs_elf_relocation {
    uint64_t offset_B;
    uint32_t type;
    uint32_t symbol; /* < symbol count of the table that the section links to */
    int64_t addend;
};

/*
 * Read headers and section table. 0, -EINVAL with diag (not an ELF, something lies outside),
 * -ENOTSUP (32-bit or big-endian), -EFBIG (the arena is full). *name_left_B bounds the bytes of
 * names, which hostile headers could share; NULL: four times the file.
 */
int zs_elf_parse(struct zs_span bytes, uint64_t offset_B, struct zs_arena *arena,
                 uint64_t *name_left_B, struct zs_diag *diag, struct zs_elf *ret_elf);
/* First section of that name or type, or NULL. Linear. */
const struct zs_section *zs_elf_section(const struct zs_elf *elf, const char *name);
const struct zs_section *zs_elf_section_of_type(const struct zs_elf *elf, uint32_t type);

/* Entries of a SYMTAB section; 0 for sections of another type or entry size. */
uint32_t zs_elf_symbol_count(const struct zs_elf *elf, const struct zs_section *symtab);
/* false when the name lies outside the string table (then name is ""). */
bool zs_elf_symbol(const struct zs_elf *elf, const struct zs_section *symtab, uint32_t index,
                   struct zs_elf_symbol *ret_symbol);
/* Entries of a REL or RELA section. */
uint32_t zs_elf_relocation_count(const struct zs_section *section);
void zs_elf_relocation(const struct zs_section *section, uint32_t index,
                       struct zs_elf_relocation *ret_relocation);

enum { ZS_ELF_NOWHERE = -1 };
/*
 * IGC 2.40 may lose the names of the symbols that relocations of .debug_info and .debug_line use.
 * Each unit of these belongs to the code of one kernel, in the order of the sections: where there
 * are as many units as sections of code and all names that are left agree, that tells what the
 * 64-bit relocations of a unit mean. ret_section, zeroed, one of each relocation of `table`: the
 * section that a nameless one means; ZS_ELF_NOWHERE where that cannot be told; 0 for all others.
 */
void zs_elf_nameless_code(const struct zs_elf *elf, const struct zs_section *table,
                          int32_t *ret_section);

/* The NUL-terminated string at that offset of a string table, or NULL. */
const char *zs_span_string(struct zs_span table, uint64_t offset_B);
/* "STRTAB", "ZEINFO", ...; "" for others. */
const char *zs_section_type_name(uint32_t type);

#endif
