/* SPDX-License-Identifier: MIT */
/*
 * Code that the process has loaded. The ELF of a module has its code in sections .text*, each of a
 * kernel with the functions it calls; where they are in the device's memory follows from the
 * address of the first one (docs/debugging.md). Instructions are read from the device, as they are
 * there relocated.
 */
#include "debugger/debugger_priv.h"

#include "correlate/value_check.h"

#include "module/elf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ELF_MAX_B = 1 << 30, GRF_OF_GROUP = 0 };

static void free_makers(struct zs_dbg_kernel *k)
{
    free(k->makers);
    k->makers = NULL;
}

static void free_kernel(struct zs_dbg_kernel *k)
{
    free_makers(k);
    zs_join_free(k->join);
    zs_dwarf_kernel_unload(k->info);
    zs_isa_kernel_close(k->isa);
    free(k->code);
    free(k->name);
}

static void free_module(struct zs_dbg_module *m)
{
    for (uint32_t i = 0; i < m->count; i++)
        free_kernel(&m->kernels[i]);
    zs_dwarf_close(m->dwarf);
    free(m->kernels);
    free(m->names);
    free(m->elf);
    free(m);
}

void zs_dbg_modules_clear(struct zs_debugger *d)
{
    zs_debug_forget(d);
    zs_dbg_kept_drop(d, NULL);
    for (size_t i = 0; i < d->modules.count; i++)
        free_module(d->modules.items[i]);
    d->modules.count = 0;
}

static bool is_text(const char *name)
{
    return !strcmp(name, ".text") || !strncmp(name, ".text.", 6);
}

/* Who has no section of his own name: the function at the code's start, by debug info or symbol. */
static const char *name_of_start(const struct zs_dbg_kernel *k, const struct zs_elf *elf)
{
    for (uint32_t f = 0; k->info && f < k->info->frame_count; f++) {
        const struct zs_scope *scope = &k->info->scopes[k->info->frames[f].scope];
        for (uint32_t r = 0; r < scope->range_count; r++)
            if (k->info->frames[f].parent == ZS_NO_INDEX &&
                k->info->ranges[scope->range_first + r].begin_B == 0)
                return k->info->frames[f].function;
    }
    const struct zs_section *table = zs_elf_section_of_type(elf, 2);
    for (uint32_t i = 0; table && i < zs_elf_symbol_count(elf, table); i++) {
        struct zs_elf_symbol symbol;
        if (zs_elf_symbol(elf, table, i, &symbol) && symbol.name[0] && symbol.name[0] != '.')
            return symbol.name;
    }
    return "";
}

/* A prologue that drivers pass over: an ELF of one kernel names its entry, others have a symbol. */
static uint64_t entry_of(const struct zs_elf *elf, const struct zs_section *text)
{
    const struct zs_section *table = zs_elf_section_of_type(elf, 2);
    uint64_t entry_B = elf->entry_va - text->address;
    for (uint32_t i = 0; table && i < zs_elf_symbol_count(elf, table); i++) {
        struct zs_elf_symbol symbol;
        if (zs_elf_symbol(elf, table, i, &symbol) && !strcmp(symbol.name, "_entry") &&
            symbol.section < elf->section_count && &elf->sections[symbol.section] == text)
            entry_B = symbol.value;
    }
    return entry_B < text->bytes.size_B ? entry_B : 0;
}

static bool writes_r0(const struct zs_isa_kernel *isa)
{
    for (uint32_t i = 0; i < zs_isa_kernel_count(isa); i++) {
        struct zs_isa_effects effects;
        zs_isa_inst_effects(isa, i, &effects);
        if (effects.indirect_written || (effects.grf_written[0] & 1u << GRF_OF_GROUP))
            return true;
    }
    return false;
}

/* Kernels that call functions set the bits of the dispatch mask that are no lanes of theirs. */
static uint32_t lanes_of(const struct zs_isa_kernel *isa)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < zs_isa_kernel_count(isa); i++) {
        const struct zs_isa_inst *inst = zs_isa_inst(isa, i);
        if (!(inst->flags & (ZS_INST_NOMASK | ZS_INST_ILLEGAL)))
            most = ZS_MAX(most, (uint32_t)inst->channel_offset + inst->exec_size);
    }
    return most == 0 || most >= 32 ? UINT32_MAX : (1u << most) - 1;
}

static uint32_t frame_register_of(const struct zs_isa_kernel *isa)
{
    for (uint32_t i = 0; i < zs_isa_kernel_count(isa); i++) {
        const struct zs_isa_inst *inst = zs_isa_inst(isa, i);
        if (inst->op == ZS_OP_CALL || inst->op == ZS_OP_CALLA)
            return inst->dst.reg;
        if (inst->op == ZS_OP_RET)
            return inst->src[0].reg;
    }
    return 0;
}

static void decode(struct zs_debugger *d, struct zs_dbg_kernel *k)
{
    struct zs_span code = {k->code, k->size_B};
    uint32_t grf_count = 0;
    const struct zs_isa_options options = {.size_B = sizeof(options), .grf_count = grf_count};
    if (d->platform == ZS_ISA_NONE ||
        zs_isa_kernel_open(d->platform, code, &options, &k->isa, NULL))
        return;
    if (zs_isa_kernel_decode(k->isa, ZS_ISA_TEXT | ZS_ISA_INSTS, NULL)) {
        zs_isa_kernel_close(k->isa);
        k->isa = NULL;
        return;
    }
    k->keeps_r0 = !writes_r0(k->isa);
    k->lanes = lanes_of(k->isa);
    k->frame_register = frame_register_of(k->isa);
    uint32_t count = zs_isa_kernel_count(k->isa);
    uint32_t *offsets = malloc(((size_t)count + 1) * sizeof(*offsets));
    for (uint32_t i = 0; offsets && i < count; i++)
        offsets[i] = zs_isa_inst_offset(k->isa, i);
    if (k->info && offsets && zs_join(k->info, offsets, count, &k->join))
        k->join = NULL;
    free(offsets);
}

static int add_kernel(struct zs_debugger *d, struct zs_dbg_module *m, const struct zs_elf *elf,
                      const struct zs_section *text)
{
    struct zs_dbg_kernel *k = &m->kernels[m->count];
    const char *own_name = text->name[5] ? text->name + 6 : "";
    memset(k, 0, sizeof(*k));
    k->lanes = UINT32_MAX;
    k->va = m->shown.load_va + (text->address - m->text_va);
    k->size_B = text->bytes.size_B;
    k->entry_B = entry_of(elf, text);
    k->code = malloc(k->size_B + 1);
    if (!k->code)
        return -ENOMEM;
    if (zs_dbg_access(d, NULL, ZS_DEBUG_SPACE_GLOBAL, k->va, k->code, k->size_B, false))
        memcpy(k->code, text->bytes.data, k->size_B);
    if (m->dwarf && zs_dwarf_kernel_load(m->dwarf, own_name, k->size_B, &k->info, NULL))
        k->info = NULL;
    k->optimised = k->info && zs_value_is_optimised(k->info);
    const char *name = own_name[0] ? own_name : name_of_start(k, elf);
    k->name = strdup(name[0] ? name : "(no name)");
    decode(d, k);
    m->names[m->count++] = k->name;
    m->shown.has_lines |= k->info && k->info->row_count;
    return k->name ? 0 : -ENOMEM;
}

/* ---- code that is written ---- */

/* Takes the code over. */
static void replace_code(struct zs_debugger *d, struct zs_dbg_kernel *k, uint8_t *code)
{
    free_makers(k);
    zs_join_free(k->join);
    zs_isa_kernel_close(k->isa);
    k->join = NULL;
    k->isa = NULL;
    free(k->code);
    k->code = code;
    decode(d, k);
}

/* What is there now; breakpoints are put where it has instructions again. */
static void refresh(struct zs_debugger *d, struct zs_dbg_kernel *k)
{
    uint8_t *code = malloc(k->size_B + 1), *there = malloc(k->size_B + 1);
    bool known = code && there &&
                 !zs_dbg_access(d, NULL, ZS_DEBUG_SPACE_GLOBAL, k->va, there, k->size_B, false);
    if (known) {
        memcpy(code, there, k->size_B);
        zs_dbg_put_bits(d, k, code, false);
    }
    if (known && memcmp(code, k->code, k->size_B) != 0) {
        replace_code(d, k, code);
        code = malloc(k->size_B + 1);
        if (code) {
            memcpy(code, k->code, k->size_B);
            zs_dbg_put_bits(d, k, code, true);
        }
        if (code && memcmp(code, there, k->size_B) != 0)
            (void)zs_dbg_access(d, NULL, ZS_DEBUG_SPACE_GLOBAL, k->va, code, k->size_B, true);
    }
    free(code);
    free(there);
}

void zs_dbg_code_refresh(struct zs_debugger *d)
{
    for (size_t i = 0; i < d->modules.count; i++) {
        struct zs_dbg_module *m = d->modules.items[i];
        for (uint32_t k = 0; k < m->count; k++)
            if (m->kernels[k].written)
                refresh(d, &m->kernels[k]);
    }
}

int zs_dbg_code_write(struct zs_debugger *d, struct zs_dbg_kernel *k, uint64_t va,
                      const void *bytes, size_t size_B)
{
    uint64_t at_B = va - k->va, end_B = at_B + size_B;
    uint8_t *code = malloc(k->size_B + 1), *out = malloc(k->size_B + 1);
    uint8_t *old = malloc(k->size_B + 1);
    int error = !code || !out || !old ? -ENOMEM : size_B > k->size_B - at_B ? -EFAULT : 0;
    if (!error) {
        memcpy(code, k->code, k->size_B);
        memcpy(code + at_B, bytes, size_B);
        memcpy(out, code, k->size_B);
        zs_dbg_put_bits(d, k, out, true);
        /* where the bit of an instruction is depends on its first dword */
        at_B -= at_B % 4;
        end_B = ZS_MIN((end_B + 3) / 4 * 4, k->size_B);
        /* where instructions begin behind it may have changed, too */
        memcpy(old, k->code, k->size_B);
        zs_dbg_put_bits(d, k, old, true);
        if (memcmp(old + end_B, out + end_B, k->size_B - end_B) != 0)
            end_B = k->size_B;
        error = zs_dbg_access(d, NULL, ZS_DEBUG_SPACE_GLOBAL, k->va + at_B, out + at_B,
                              (size_t)(end_B - at_B), true);
    }
    if (!error) {
        k->written = true;
        replace_code(d, k, code);
        code = NULL;
    }
    free(code);
    free(out);
    free(old);
    return error;
}

static int read_elf(struct zs_debugger *d, struct zs_dbg_module *m, struct zs_arena *arena)
{
    struct zs_span bytes = {m->elf, m->elf_B};
    struct zs_elf elf;
    struct zs_diag diag;
    zs_diag_clear(&diag);
    int error = zs_elf_parse(bytes, 0, arena, NULL, &diag, &elf);
    if (error)
        return error;
    uint32_t texts = 0;
    for (uint32_t i = 0; i < elf.section_count; i++) {
        const struct zs_section *s = &elf.sections[i];
        if (!strcmp(s->name, ".debug_frame"))
            m->frame_section = s->bytes;
        if (!is_text(s->name) || !s->bytes.size_B)
            continue;
        m->text_va = texts++ ? m->text_va : s->address;
    }
    m->kernels = calloc(texts + 1u, sizeof(*m->kernels));
    m->names = calloc(texts + 1u, sizeof(*m->names));
    if (!m->kernels || !m->names)
        return -ENOMEM;
    if (zs_dwarf_open(bytes, &m->dwarf, &diag))
        m->dwarf = NULL;
    for (uint32_t i = 0; i < elf.section_count && !error; i++)
        if (is_text(elf.sections[i].name) && elf.sections[i].bytes.size_B)
            error = add_kernel(d, m, &elf, &elf.sections[i]);
    return error;
}

int zs_dbg_module_add(struct zs_debugger *d, const zet_debug_event_t *event, uint32_t *ret_id)
{
    uint64_t begin = event->info.module.moduleBegin, end = event->info.module.moduleEnd;
    struct zs_dbg_module *m = calloc(1, sizeof(*m));
    struct zs_arena arena;
    if (!m)
        return -ENOMEM;
    m->shown.id = ++d->last_module;
    m->shown.load_va = event->info.module.load;
    if (end > begin && end - begin <= ELF_MAX_B) {
        m->elf_B = (size_t)(end - begin);
        m->elf = malloc(m->elf_B);
    }
    zs_arena_init(&arena, m->elf_B * 4 + (1 << 20));
    /* a module that cannot be read is shown all the same: with its address and nothing else */
    if (m->elf && !zs_dbg_access(d, NULL, ZS_DEBUG_SPACE_GLOBAL, begin, m->elf, m->elf_B, false))
        (void)read_elf(d, m, &arena);
    zs_arena_fini(&arena);
    for (uint32_t i = 0; i < m->count; i++)
        m->shown.size_B += m->kernels[i].size_B;
    m->shown.kernel_count = m->count;
    m->shown.kernels = m->names;
    if (!ZS_VEC_PUSH(&d->modules, m)) {
        free_module(m);
        return -ENOMEM;
    }
    *ret_id = m->shown.id;
    return 0;
}

uint32_t zs_dbg_module_remove(struct zs_debugger *d, const zet_debug_event_t *event)
{
    for (size_t i = 0; i < d->modules.count; i++) {
        struct zs_dbg_module *m = d->modules.items[i];
        if (m->shown.load_va != event->info.module.load)
            continue;
        uint32_t id = m->shown.id;
        for (size_t t = 0; t < d->threads.count; t++)
            d->threads.items[t].kernel = NULL;
        memmove(&d->modules.items[i], &d->modules.items[i + 1],
                (d->modules.count - i - 1) * sizeof(*d->modules.items));
        d->modules.count--;
        zs_debug_forget(d);
        zs_dbg_kept_drop(d, m->dwarf);
        free_module(m);
        return id;
    }
    return 0;
}
