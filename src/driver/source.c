/* SPDX-License-Identifier: MIT */
/* Source lines of faults, from the kernel's DWARF. Only asked when a launch failed. */
#include "driver/module.h"

#include "base/buf.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>

/* libdw needs a hundred bytes of memory for each byte of a line program that wants it so. */
enum { ELF_B_MAX = 256 << 20, LINES_B_MAX = 4 << 20, SCOPES_MAX = 64 };

static bool is_moderate(Elf *elf)
{
    size_t names;
    Elf_Scn *section = NULL;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return false;
    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        const char *name =
            gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (name && strcmp(name, ".debug_line") == 0 && header.sh_size > LINES_B_MAX)
            return false;
    }
    return true;
}

/* The scope in `scope` that holds the address. Nothing here recurses: modules nest as they like. */
static bool enter_scope(Dwarf_Die *scope, uint64_t address)
{
    Dwarf_Die child;
    for (int end = dwarf_child(scope, &child); end == 0; end = dwarf_siblingof(&child, &child)) {
        int tag = dwarf_tag(&child);
        if ((tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine ||
             tag == DW_TAG_lexical_block) &&
            dwarf_haspc(&child, address) == 1) {
            *scope = child;
            return true;
        }
    }
    return false;
}

/* Where the functions around the address were inlined, the innermost first. */
static void put_inlined(Dwarf_Die *cu, uint64_t address, struct zs_buf *out)
{
    Dwarf_Die calls[SCOPES_MAX], scope = *cu;
    size_t count = 0, file_count;
    Dwarf_Files *files;
    if (dwarf_getsrcfiles(cu, &files, &file_count) != 0)
        return;
    for (int depth = 0; depth < SCOPES_MAX && enter_scope(&scope, address); depth++) {
        if (dwarf_tag(&scope) == DW_TAG_inlined_subroutine)
            calls[count++] = scope;
    }
    while (count-- > 0) {
        Dwarf_Attribute attribute;
        Dwarf_Word line = 0, file = 0;
        dwarf_formudata(dwarf_attr(&calls[count], DW_AT_call_line, &attribute), &line);
        dwarf_formudata(dwarf_attr(&calls[count], DW_AT_call_file, &attribute), &file);
        const char *name = file < file_count ? dwarf_filesrc(files, file, NULL, NULL) : NULL;
        if (name && line)
            zs_buf_printf(out, "\n    inlined at %s:%llu", name, (unsigned long long)line);
    }
}

static bool search(Dwarf *dwarf, uint64_t address, char *ret_text, size_t size_B)
{
    Dwarf_Off offset = 0, next;
    size_t header_B;
    while (dwarf_nextcu(dwarf, offset, &next, &header_B, NULL, NULL, NULL) == 0) {
        Dwarf_Die cu;
        if (dwarf_offdie(dwarf, offset + header_B, &cu)) {
            Dwarf_Line *line = dwarf_getsrc_die(&cu, address);
            int number = 0;
            const char *file = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
            if (file && dwarf_lineno(line, &number) == 0 && number > 0) {
                struct zs_buf text = {0};
                zs_buf_printf(&text, "%s:%d", file, number);
                put_inlined(&cu, address, &text);
                snprintf(ret_text, size_B, "%s", zs_buf_cstr(&text));
                zs_buf_fini(&text);
                return true;
            }
        }
        offset = next;
    }
    return false;
}

/* Where a section of the ELF starts. */
static bool section_address(Elf *elf, uint32_t index, uint64_t *ret_va)
{
    GElf_Shdr header;
    Elf_Scn *section = elf_getscn(elf, index);
    if (!section || !gelf_getshdr(section, &header))
        return false;
    *ret_va = header.sh_addr;
    return true;
}

static bool look_up(struct zs_ze_module *owner, const struct zs_debug *debug, uint64_t at_B,
                    char *ret_text, size_t size_B)
{
    struct zs_span bytes = debug->kind == ZS_DEBUG_ZEBIN ? zs_debug_linked(owner) : debug->elf;
    char *copy = bytes.size_B && bytes.size_B <= ELF_B_MAX ? malloc(bytes.size_B) : NULL;
    if (!copy)
        return false;
    memcpy(copy, bytes.data, bytes.size_B);
    elf_version(EV_CURRENT);
    Elf *elf = elf_memory(copy, bytes.size_B);
    Dwarf *dwarf = elf && is_moderate(elf) ? dwarf_begin_elf(elf, DWARF_C_READ, NULL) : NULL;
    uint64_t start_va = debug->address;
    bool found =
        dwarf &&
        (debug->kind != ZS_DEBUG_ZEBIN || section_address(elf, debug->section, &start_va)) &&
        search(dwarf, start_va + at_B, ret_text, size_B);
    if (dwarf)
        dwarf_end(dwarf);
    if (elf)
        elf_end(elf);
    free(copy);
    return found;
}

bool zs_source_line(struct zs_ze_kernel *ran, int64_t offset_B, char *ret_text, size_t size_B)
{
    struct zs_ze_module *owner = NULL;
    uint64_t at_B;
    const struct zs_kernel *kernel = zs_link_locate(ran, offset_B, &owner, &at_B);
    bool found = kernel && kernel->debug.kind != ZS_DEBUG_NONE &&
                 look_up(owner, &kernel->debug, at_B, ret_text, size_B);
    zs_object_unref(owner);
    return found;
}
