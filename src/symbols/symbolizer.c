/* SPDX-License-Identifier: MIT */
#include "symbols/symbolizer.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct zs_symbolizer {
    Dwfl *dwfl;
    Dwfl_Module *module;
    char *debug_path; /* where libdw looks for separate debug information */
    Dwfl_Callbacks callbacks;
};

static bool has_build_id(Dwfl_Module *module, const char *expected)
{
    const unsigned char *bytes;
    GElf_Addr address;
    int count = dwfl_module_build_id(module, &bytes, &address);
    if (count <= 0 || strlen(expected) != 2 * (size_t)count)
        return false;
    for (int i = 0; i < count; i++) {
        char hex[3];
        snprintf(hex, sizeof(hex), "%02x", bytes[i]);
        if (memcmp(hex, expected + (size_t)i * 2, 2) != 0)
            return false;
    }
    return true;
}

struct zs_symbolizer *zs_symbolizer_open(const char *path, uint64_t base, const char *build_id)
{
    struct stat st;
    if (path[0] != '/' || stat(path, &st) || !S_ISREG(st.st_mode))
        return NULL;
    struct zs_symbolizer *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->callbacks = (Dwfl_Callbacks){.find_elf = dwfl_build_id_find_elf,
                                    .find_debuginfo = dwfl_standard_find_debuginfo,
                                    .section_address = dwfl_offline_section_address,
                                    .debuginfo_path = &s->debug_path};
    s->dwfl = dwfl_begin(&s->callbacks);
    if (s->dwfl) {
        dwfl_report_begin(s->dwfl);
        s->module = dwfl_report_elf(s->dwfl, path, path, -1, base, true);
        dwfl_report_end(s->dwfl, NULL, NULL);
    }
    if (s->module && (!build_id || has_build_id(s->module, build_id)))
        return s;
    zs_symbolizer_close(s);
    return NULL;
}

void zs_symbolizer_close(struct zs_symbolizer *s)
{
    if (!s)
        return;
    if (s->dwfl)
        dwfl_end(s->dwfl);
    free(s);
}

/* The unit that an address belongs to. libdwfl gives addresses that are of no unit (_start, between
 * the pieces of others) to the one before them; compilers that write no .debug_aranges (clang) make
 * it necessary to ask each. */
static Dwarf_Die *unit_of(struct zs_symbolizer *s, uint64_t pc, Dwarf_Addr *ret_bias)
{
    Dwarf_Die *unit = dwfl_module_addrdie(s->module, pc, ret_bias);
    if (unit && dwarf_haspc(unit, pc - *ret_bias) != 0)
        return unit;
    unit = NULL;
    while ((unit = dwfl_module_nextcu(s->module, unit, ret_bias)))
        if (dwarf_haspc(unit, pc - *ret_bias) == 1)
            return unit;
    return NULL;
}

static const char *copy(struct zs_arena *arena, const char *text)
{
    return text ? zs_arena_strndup(arena, text, strlen(text)) : NULL;
}

static uint32_t line_of_call(Dwarf_Die *die, Dwarf_Die *unit, const char **ret_file)
{
    Dwarf_Attribute attribute;
    Dwarf_Word line = 0, number = 0;
    Dwarf_Files *files;
    size_t count;
    dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attribute), &line);
    dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attribute), &number);
    *ret_file = !dwarf_getsrcfiles(unit, &files, &count) && number < count
                    ? dwarf_filesrc(files, (size_t)number, NULL, NULL)
                    : NULL;
    return (uint32_t)line;
}

/* The functions that were inlined at an address, the innermost first: each is where the one before
 * it was called. *line and *file are the address's, and become the outermost call's. */
static uint32_t inlined_frames(Dwarf_Die *unit, Dwarf_Addr pc, struct zs_arena *arena,
                               const char **file, uint32_t *line,
                               struct zs_symbol_frame ret_frames[ZS_SYMBOL_INLINE_MAX])
{
    Dwarf_Die *scopes = NULL;
    int scope_count = dwarf_getscopes(unit, pc, &scopes);
    Dwarf_Die *inlined = NULL;
    uint32_t count = 0;
    /* scopes are lexical ones: those around the inlined instance are asked for by its DIE */
    int around = scope_count > 0 ? dwarf_getscopes_die(&scopes[0], &inlined) : 0;
    for (int i = 0; i < around && count < ZS_SYMBOL_INLINE_MAX - 1; i++) {
        int tag = dwarf_tag(&inlined[i]);
        if (tag == DW_TAG_subprogram)
            break;
        if (tag != DW_TAG_inlined_subroutine)
            continue;
        ret_frames[count++] =
            (struct zs_symbol_frame){.function = copy(arena, dwarf_diename(&inlined[i])),
                                     .file = copy(arena, *file),
                                     .line = *line,
                                     .is_inline = true};
        *line = line_of_call(&inlined[i], unit, file);
    }
    free(inlined);
    free(scopes);
    return count;
}

uint32_t zs_symbolizer_frames(struct zs_symbolizer *s, uint64_t pc, struct zs_arena *arena,
                              struct zs_symbol_frame ret_frames[ZS_SYMBOL_INLINE_MAX])
{
    GElf_Off offset;
    GElf_Sym symbol;
    const char *name = dwfl_module_addrinfo(s->module, pc, &offset, &symbol, NULL, NULL, NULL);
    Dwarf_Addr bias = 0;
    Dwarf_Die *unit = unit_of(s, pc, &bias);
    Dwarf_Line *found = unit ? dwarf_getsrc_die(unit, pc - bias) : NULL;
    int number = 0;
    const char *file = found ? dwarf_linesrc(found, NULL, NULL) : NULL;
    if (found)
        dwarf_lineno(found, &number);
    uint32_t line = number > 0 ? (uint32_t)number : 0;
    uint32_t count = found ? inlined_frames(unit, pc - bias, arena, &file, &line, ret_frames) : 0;
    if (!name && !file && !count)
        return 0;
    ret_frames[count++] = (struct zs_symbol_frame){
        .function = copy(arena, name), .file = copy(arena, file), .line = line};
    return count;
}
