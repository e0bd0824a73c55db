/* SPDX-License-Identifier: MIT */
/* What the debug info of loaded code names: sources and functions, each once. */
#include "debugger/debugger_priv.h"

#include <string.h>

static bool has_lines_of(const struct zs_dwarf_kernel *info, uint32_t file)
{
    for (uint32_t r = 0; r < info->row_count; r++)
        if (info->rows[r].file == file && info->rows[r].line)
            return true;
    for (uint32_t f = 0; f < info->frame_count; f++)
        if (info->frames[f].decl_file == file)
            return true;
    return false;
}

static uint32_t put_sources(const struct zs_dwarf_kernel *info, const char **ret_paths,
                            uint32_t count, uint32_t capacity)
{
    for (uint32_t f = 0; f < info->file_count; f++) {
        const char *path = info->files[f].path;
        bool known = !path || !path[0] || !has_lines_of(info, f);
        for (uint32_t i = 0; !known && i < ZS_MIN(count, capacity); i++)
            known = !strcmp(ret_paths[i], path);
        if (known)
            continue;
        if (count < capacity)
            ret_paths[count] = path;
        count++;
    }
    return count;
}

int zs_debug_sources(struct zs_debugger *d, const char **ret_paths, uint32_t capacity)
{
    uint32_t count = 0;
    for (size_t i = 0; i < d->modules.count; i++)
        for (uint32_t n = 0; n < d->modules.items[i]->count; n++)
            if (d->modules.items[i]->kernels[n].info)
                count =
                    put_sources(d->modules.items[i]->kernels[n].info, ret_paths, count, capacity);
    return (int)count;
}

static uint32_t put_functions(const struct zs_dbg_kernel *k, struct zs_debug_function *ret,
                              uint32_t count, uint32_t capacity)
{
    for (uint32_t f = 0; k->info && f < k->info->frame_count; f++) {
        const struct zs_frame *frame = &k->info->frames[f];
        bool known = !frame->function[0];
        for (uint32_t i = 0; !known && i < ZS_MIN(count, capacity); i++)
            known = !strcmp(ret[i].name, frame->function) && !strcmp(ret[i].kernel, k->name);
        if (known)
            continue;
        if (count < capacity)
            ret[count] = (struct zs_debug_function){
                .name = frame->function,
                .kernel = k->name,
                .file = frame->decl_file < k->info->file_count && frame->decl_line
                            ? k->info->files[frame->decl_file].path
                            : NULL,
                .line = frame->decl_line};
        count++;
    }
    if (k->info && k->info->frame_count)
        return count;
    if (count < capacity)
        ret[count] = (struct zs_debug_function){.name = k->name, .kernel = k->name};
    return count + 1;
}

int zs_debug_functions(struct zs_debugger *d, struct zs_debug_function *ret_functions,
                       uint32_t capacity)
{
    uint32_t count = 0;
    for (size_t i = 0; i < d->modules.count; i++)
        for (uint32_t n = 0; n < d->modules.items[i]->count; n++)
            count = put_functions(&d->modules.items[i]->kernels[n], ret_functions, count, capacity);
    return (int)count;
}
