/* SPDX-License-Identifier: MIT */
/* The source line of an instruction, for texts of faults. */
#include "dwarf/place.h"

#include "base/buf.h"

#include <zescope/dwarf.h>

#include <errno.h>
#include <stdio.h>

enum { ELF_B_MAX = 256 << 20, CALLS_MAX = 64 };

/* Where the functions around the instruction were inlined, the innermost first. */
static void put_inlined(const struct zs_dwarf_kernel *info, uint32_t offset_B, struct zs_buf *out)
{
    uint32_t scope = zs_dwarf_scope_at(info, offset_B);
    uint32_t index = scope == ZS_NO_INDEX ? ZS_NO_INDEX : info->scopes[scope].frame;
    for (int i = 0; i < CALLS_MAX && index < info->frame_count; i++) {
        const struct zs_frame *frame = &info->frames[index];
        if (frame->call_line && frame->call_file < info->file_count)
            zs_buf_printf(out, "\n    inlined at %s:%u", info->files[frame->call_file].path,
                          frame->call_line);
        index = frame->parent;
    }
}

static bool put_line(const struct zs_dwarf_kernel *info, uint32_t offset_B, char *ret_text,
                     size_t size_B)
{
    const struct zs_line_row *row = zs_dwarf_row_at(info, offset_B);
    if (!row || !row->line || row->file >= info->file_count)
        return false;
    struct zs_buf text = {0};
    zs_buf_printf(&text, "%s:%u", info->files[row->file].path, row->line);
    put_inlined(info, offset_B, &text);
    bool made = !text.error;
    if (made)
        snprintf(ret_text, size_B, "%s", zs_buf_cstr(&text));
    zs_buf_fini(&text);
    return made;
}

int zs_dwarf_place(const struct zs_kernel *kernel, uint64_t at_B, char *ret_text, size_t size_B,
                   struct zs_diag *diag)
{
    struct zs_span elf = kernel->debug.elf;
    if (kernel->debug.kind == ZS_DEBUG_NONE || !elf.size_B || elf.size_B > ELF_B_MAX ||
        at_B >= kernel->code.size_B)
        return -ENODATA;
    struct zs_dwarf *dwarf = NULL;
    struct zs_dwarf_kernel *info = NULL;
    int error = zs_dwarf_open(elf, &dwarf, diag);
    if (!error)
        error = zs_dwarf_kernel_load(dwarf, kernel->name, kernel->code.size_B, &info, diag);
    if (!error && !put_line(info, (uint32_t)at_B, ret_text, size_B))
        error = -ENODATA;
    zs_dwarf_kernel_unload(info);
    zs_dwarf_close(dwarf);
    return error;
}
