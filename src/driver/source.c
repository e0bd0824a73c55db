/* SPDX-License-Identifier: MIT */
/* Source lines of faults, from the kernel's DWARF. Only asked when a launch failed. */
#include "driver/module.h"

#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>

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
                snprintf(ret_text, size_B, "%s:%d", file, number);
                return true;
            }
        }
        offset = next;
    }
    return false;
}

bool zs_source_line(const struct zs_kernel *kernel, int64_t offset_B, char *ret_text, size_t size_B)
{
    const struct zs_debug *debug = &kernel->debug;
    /* a zebin's lines want relocation first, which is the tools' work */
    if (debug->kind != ZS_DEBUG_KERNEL_ELF || offset_B < 0)
        return false;
    char *copy = malloc(debug->elf.size_B);
    if (!copy)
        return false;
    memcpy(copy, debug->elf.data, debug->elf.size_B);
    elf_version(EV_CURRENT);
    Elf *elf = elf_memory(copy, debug->elf.size_B);
    Dwarf *dwarf = elf ? dwarf_begin_elf(elf, DWARF_C_READ, NULL) : NULL;
    bool found = dwarf && search(dwarf, debug->address + (uint64_t)offset_B, ret_text, size_B);
    if (dwarf)
        dwarf_end(dwarf);
    if (elf)
        elf_end(elf);
    free(copy);
    return found;
}
