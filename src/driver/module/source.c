/* SPDX-License-Identifier: MIT */
/* Source lines of faults, from the kernel's DWARF. Only asked when a launch failed. */
#include "driver/log.h"
#include "driver/module/module.h"

#include "base/buf.h"
#include "base/diag.h"

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

static bool look_up(const struct zs_kernel *kernel, uint64_t at_B, char *ret_text, size_t size_B)
{
    struct zs_span elf = kernel->debug.elf;
    if (!elf.size_B || elf.size_B > ELF_B_MAX || at_B >= kernel->code.size_B)
        return false;
    struct zs_diag diag;
    struct zs_dwarf *dwarf = NULL;
    struct zs_dwarf_kernel *info = NULL;
    zs_diag_clear(&diag);
    int error = zs_dwarf_open(elf, &dwarf, &diag);
    if (!error)
        error = zs_dwarf_kernel_load(dwarf, kernel->name, kernel->code.size_B, &info, &diag);
    if (error && error != -ENODATA && error != -ENOENT)
        zs_log(ZS_LOG_WARN, "%s: debug information cannot be read: %s", kernel->name,
               diag.error ? diag.text : strerror(-error));
    bool found = !error && put_line(info, (uint32_t)at_B, ret_text, size_B);
    zs_dwarf_kernel_unload(info);
    zs_dwarf_close(dwarf);
    return found;
}

bool zs_fault_line(struct zs_ze_kernel *ran, int64_t offset_B, char *ret_text, size_t size_B)
{
    struct zs_ze_module *owner = NULL;
    uint64_t at_B;
    const struct zs_kernel *kernel = zs_link_locate(ran, offset_B, &owner, &at_B);
    bool found =
        kernel && kernel->debug.kind != ZS_DEBUG_NONE && look_up(kernel, at_B, ret_text, size_B);
    zs_object_unref(owner);
    return found;
}
