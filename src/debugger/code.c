/* SPDX-License-Identifier: MIT */
/* What is known of the code that is loaded: kernels, instructions, lines, functions. */
#include "debugger/debugger_priv.h"

#include "base/path.h"

#include <errno.h>
#include <string.h>

enum { CALLS_DEPTH = 8 };

const struct zs_debug_module *zs_debug_modules(const struct zs_debugger *d, size_t index)
{
    return index < d->modules.count ? &d->modules.items[index]->shown : NULL;
}

const struct zs_dbg_kernel *zs_dbg_kernel_at(const struct zs_debugger *d, uint64_t va)
{
    for (size_t i = 0; i < d->modules.count; i++) {
        const struct zs_dbg_module *m = d->modules.items[i];
        for (uint32_t k = 0; k < m->count; k++)
            if (va >= m->kernels[k].va && va - m->kernels[k].va < m->kernels[k].size_B)
                return &m->kernels[k];
    }
    return NULL;
}

const struct zs_dbg_module *zs_dbg_module_of(const struct zs_debugger *d,
                                             const struct zs_dbg_kernel *kernel)
{
    for (size_t i = 0; i < d->modules.count; i++) {
        const struct zs_dbg_module *m = d->modules.items[i];
        if (kernel >= m->kernels && kernel < m->kernels + m->count)
            return m;
    }
    return NULL;
}

uint32_t zs_dbg_inst_at(const struct zs_dbg_kernel *kernel, uint64_t va)
{
    if (!kernel || !kernel->isa || va < kernel->va || va - kernel->va >= kernel->size_B)
        return ZS_NO_INDEX;
    return zs_isa_inst_find(kernel->isa, (uint32_t)(va - kernel->va));
}

enum { BEHIND_MAX = 4 }; /* from that question to sync.bar: the loop, and a flag is restored */

/* A loop of two instructions around a question to n0: IGC 2's code for debuggers waits so, and
 * comes to sync.bar when it is over. */
static bool asks_again(const struct zs_isa_kernel *isa, uint32_t index)
{
    const struct zs_isa_inst *inst = zs_isa_inst(isa, index);
    const struct zs_isa_inst *next =
        index + 1 < zs_isa_kernel_count(isa) ? zs_isa_inst(isa, index + 1) : NULL;
    return next && next->op == ZS_OP_WHILE && next->jip_B == inst->offset_B && inst->source_count &&
           inst->src[0].kind == ZS_OPERAND_REG && inst->src[0].file == ZS_FILE_N &&
           inst->src[0].reg == 0;
}

bool zs_dbg_inst_waits(const struct zs_dbg_kernel *kernel, uint32_t index)
{
    char text[ZS_ISA_LINE_MAX];
    const struct zs_isa_inst *inst = zs_isa_inst(kernel->isa, index);
    if (inst->op == ZS_OP_WAIT || asks_again(kernel->isa, index))
        return true;
    if (inst->op != ZS_OP_SYNC)
        return false;
    for (uint32_t back = 2; back <= BEHIND_MAX && back <= index; back++) {
        if (asks_again(kernel->isa, index - back))
            return false; /* it has waited there */
    }
    zs_isa_inst_text(kernel->isa, index, text);
    return strstr(text, "sync.bar") != NULL;
}

bool zs_dbg_call_waits(const struct zs_dbg_kernel *kernel, uint32_t index, uint32_t depth)
{
    if (depth > CALLS_DEPTH)
        return true;
    for (uint32_t i = index; i < zs_isa_kernel_count(kernel->isa); i++) {
        const struct zs_isa_inst *inst = zs_isa_inst(kernel->isa, i);
        if (zs_dbg_inst_waits(kernel, i))
            return true;
        if (inst->op == ZS_OP_RET && inst->pred == ZS_PRED_NONE)
            return false;
        if (inst->op == ZS_OP_CALLA)
            return true;
        if (inst->op != ZS_OP_CALL)
            continue;
        uint32_t target = inst->jip_B == ZS_ISA_NO_INDEX
                              ? ZS_NO_INDEX
                              : zs_isa_inst_find(kernel->isa, inst->jip_B);
        if (target == ZS_NO_INDEX || zs_dbg_call_waits(kernel, target, depth + 1))
            return true;
    }
    return true;
}

const struct zs_line_row *zs_dbg_row_at(const struct zs_dbg_kernel *kernel, uint64_t va)
{
    uint32_t index = zs_dbg_inst_at(kernel, va);
    const struct zs_line_row *row = NULL;
    if (kernel && kernel->join && index != ZS_NO_INDEX && index < kernel->join->count &&
        kernel->join->row[index] != ZS_NO_INDEX)
        row = &kernel->info->rows[kernel->join->row[index]];
    else if (kernel && kernel->info && !kernel->join && va >= kernel->va)
        row = zs_dwarf_row_at(kernel->info, (uint32_t)(va - kernel->va));
    return row && row->line && row->file < kernel->info->file_count ? row : NULL;
}

int zs_debug_disassemble(struct zs_debugger *d, uint64_t gpu_va, uint32_t before,
                         struct zs_debug_inst *ret_insts, uint32_t capacity, struct zs_diag *diag)
{
    const struct zs_dbg_kernel *k = zs_dbg_kernel_at(d, gpu_va);
    uint32_t index = zs_dbg_inst_at(k, gpu_va);
    if (index == ZS_NO_INDEX)
        return zs_diag_set(diag, -ENOENT, ZS_DIAG_NO_OFFSET, "no code of a kernel is at %#llx",
                           (unsigned long long)gpu_va);
    uint32_t count = 0;
    index -= ZS_MIN(index, before);
    for (; index < zs_isa_kernel_count(k->isa) && count < capacity; index++, count++) {
        struct zs_debug_inst *out = &ret_insts[count];
        char text[ZS_ISA_LINE_MAX];
        uint32_t offset_B = zs_isa_inst_offset(k->isa, index);
        *out = (struct zs_debug_inst){.gpu_va = k->va + offset_B,
                                      .size_B = zs_isa_inst_size(k->isa, index),
                                      .kernel = k->name,
                                      .offset_B = offset_B};
        memcpy(out->bytes, k->code + offset_B, ZS_MIN(out->size_B, sizeof(out->bytes)));
        zs_isa_inst_text(k->isa, index, text);
        snprintf(out->text, sizeof(out->text), "%.*s", (int)sizeof(out->text) - 1, text);
        const struct zs_line_row *row = zs_dbg_row_at(k, out->gpu_va);
        out->line = row ? row->line : 0;
        out->file = row ? k->info->files[row->file].path : NULL;
    }
    return (int)count;
}

/*
 * Of a run of instructions the first that threads come to. What stands in front of where they begin
 * is not executed; but for the kernel's head it has the line of its end, where nobody wants to
 * stop.
 */
static bool first_executed(const struct zs_dbg_kernel *k, const struct zs_join_run *run,
                           uint32_t *ret)
{
    uint32_t entry = zs_dbg_inst_at(k, k->va + k->entry_B);

    *ret = run->first;
    if (entry == ZS_NO_INDEX || run->first >= entry)
        return true;
    *ret = entry;
    return run->first == 0 && entry - run->first < run->count;
}

/* Where a person wants to stop for a line: at the first instruction of each run of a row that is
 * the beginning of a statement, once for each function body that it is in. */
static uint32_t line_places(const struct zs_dbg_kernel *k, uint32_t file, uint32_t line,
                            struct zs_debug_place *ret, uint32_t capacity)
{
    const struct zs_join_line *found = zs_join_find_line(k->join, file, line);
    uint32_t count = 0, frames[64], seen = 0;
    for (uint32_t r = 0; found && r < found->run_count; r++) {
        uint32_t inst;
        if (!first_executed(k, &k->join->runs[found->run_first + r], &inst))
            continue;
        uint32_t scope = k->join->scope[inst];
        uint32_t frame = scope == ZS_NO_INDEX ? ZS_NO_INDEX : k->info->scopes[scope].frame;
        bool known = false;
        for (uint32_t i = 0; i < seen; i++)
            known |= frames[i] == frame;
        if (known || seen == ZS_ARRAY_LEN(frames))
            continue;
        frames[seen++] = frame;
        if (count < capacity)
            ret[count] = (struct zs_debug_place){.gpu_va = k->va + zs_isa_inst_offset(k->isa, inst),
                                                 .kernel = k->name,
                                                 .file = k->info->files[file].path,
                                                 .line = line};
        count++;
    }
    return count;
}

int zs_debug_line_places(struct zs_debugger *d, const char *path, uint32_t line,
                         struct zs_debug_place *ret_places, uint32_t capacity)
{
    uint32_t count = 0;
    for (size_t i = 0; i < d->modules.count; i++) {
        for (uint32_t n = 0; n < d->modules.items[i]->count; n++) {
            const struct zs_dbg_kernel *k = &d->modules.items[i]->kernels[n];
            for (uint32_t f = 0; k->join && f < k->info->file_count; f++)
                if (zs_path_ends_with(k->info->files[f].path, path))
                    count += line_places(k, f, line, ret_places + ZS_MIN(count, capacity),
                                         capacity - ZS_MIN(count, capacity));
        }
    }
    return (int)count;
}

uint32_t zs_dbg_inlined_at(const struct zs_dbg_kernel *k, uint32_t index)
{
    uint32_t depth = 0;
    if (!k || index == ZS_NO_INDEX || !k->join || k->join->scope[index] == ZS_NO_INDEX)
        return 0;
    for (uint32_t f = k->info->scopes[k->join->scope[index]].frame;
         k->info->frames[f].parent != ZS_NO_INDEX; f = k->info->frames[f].parent)
        depth++;
    return depth;
}

uint32_t zs_dbg_function_at(const struct zs_dbg_kernel *k, uint64_t va)
{
    const struct zs_dwarf_kernel *info = k ? k->info : NULL;
    uint64_t offset_B = k ? va - k->va : 0;
    for (uint32_t f = 0; info && f < info->frame_count; f++) {
        if (info->frames[f].parent != ZS_NO_INDEX || info->frames[f].scope == ZS_NO_INDEX)
            continue;
        const struct zs_scope *scope = &info->scopes[info->frames[f].scope];
        for (uint32_t r = 0; r < scope->range_count; r++) {
            const struct zs_code_range *range = &info->ranges[scope->range_first + r];
            if (offset_B >= range->begin_B && offset_B < range->end_B)
                return f;
        }
    }
    return ZS_NO_INDEX;
}
