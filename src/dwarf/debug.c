/* SPDX-License-Identifier: MIT */
/* Opening a debug ELF, and loading what it says about one kernel. */
#include "dwarf/dwarf_priv.h"
#include "dwarf/variables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { WORK_PER_BYTE = 64, ABBREV_PER_BYTE = 4, PATHS_PER_BYTE = 4, CODE_MAX_B = 1 << 30 };
static const size_t WORK_SPARE_B = 16 << 20, ARENA_SPARE_B = 1 << 20;

void zs_dwarf_renew(const struct zs_dwarf *debug)
{
    const uint64_t work_B = debug->elf.size_B * WORK_PER_BYTE + WORK_SPARE_B;
    atomic_store_explicit(&((struct zs_dwarf *)debug)->work_left_B, (int64_t)work_B,
                          memory_order_relaxed);
}

int zs_dwarf_open(struct zs_span elf, struct zs_dwarf **ret_debug, struct zs_diag *diag)
{
    *ret_debug = NULL;
    struct zs_dwarf *debug = calloc(1, sizeof(*debug));
    if (!debug)
        return -ENOMEM;
    debug->elf = elf;
    pthread_mutex_init(&debug->lock, NULL);
    zs_dwarf_renew(debug);
    int error = zs_dwarf_read_elf(debug, diag);
    zs_arena_init(&debug->abbrev_arena,
                  debug->section[ZS_DW_ABBREV].size_B * 8 * ABBREV_PER_BYTE + ARENA_SPARE_B);
    if (!error)
        error = zs_dwarf_read_units(debug, diag);
    if (error) {
        zs_dwarf_close(debug);
        return error;
    }
    *ret_debug = debug;
    return 0;
}

void zs_dwarf_close(struct zs_dwarf *debug)
{
    if (!debug)
        return;
    for (size_t i = 0; i < ZS_DW_SECTION_COUNT; i++)
        free(debug->owned[i]);
    free(debug->texts.items);
    free(debug->units.items);
    free(debug->tables.items);
    zs_arena_fini(&debug->abbrev_arena);
    pthread_mutex_destroy(&debug->lock);
    free(debug);
}

/* ---- loading ---- */

static int compare_rows(const void *a, const void *b)
{
    const struct zs_line_row *x = a, *y = b;
    if (x->offset_B != y->offset_B)
        return x->offset_B < y->offset_B ? -1 : 1;
    /* where one sequence ends another may begin */
    return (y->flags & ZS_ROW_END_SEQUENCE) - (x->flags & ZS_ROW_END_SEQUENCE);
}

/* Bottom-up merge sort: rows at one offset keep the order of the line program. */
static int sort_rows(struct zs_line_row *rows, size_t count)
{
    struct zs_line_row *spare = malloc(count * sizeof(*spare));
    if (!spare)
        return -ENOMEM;
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t low = 0; low < count; low += 2 * width) {
            size_t middle = ZS_MIN(low + width, count), high = ZS_MIN(low + 2 * width, count);
            size_t i = low, j = middle, k = low;
            while (i < middle || j < high) {
                bool left = j >= high || (i < middle && compare_rows(&rows[i], &rows[j]) <= 0);
                spare[k++] = left ? rows[i++] : rows[j++];
            }
        }
        memcpy(rows, spare, count * sizeof(*rows));
    }
    free(spare);
    return 0;
}

static bool covers(const struct zs_unit *unit, uint64_t begin_va, uint64_t end_va)
{
    if (unit->range_low_va >= unit->range_high_va)
        return true; /* it does not say */
    return unit->range_low_va < end_va && unit->range_high_va > begin_va;
}

static int load_unit(struct zs_kernel_loader *loader, const struct zs_unit *unit)
{
    struct zs_dwarf_kernel *kernel = loader->kernel;
    size_t rows_before = loader->rows.count, scopes_before = loader->scopes.count;
    int error = zs_load_lines(loader, unit);
    if (!error)
        error = zs_load_scopes(loader, unit);
    bool useful = loader->rows.count > rows_before || loader->scopes.count > scopes_before;
    if (!error && useful && !kernel->dwarf_version) {
        kernel->dwarf_version = unit->version;
        kernel->producer = unit->producer;
        kernel->comp_dir = unit->comp_dir;
    }
    return error;
}

static int load_units(struct zs_kernel_loader *loader)
{
    const struct zs_dwarf *debug = loader->debug;
    for (size_t i = 0; i < debug->units.count; i++) {
        const struct zs_unit *unit = &debug->units.items[i];
        int error = covers(unit, loader->begin_va, loader->end_va) ? load_unit(loader, unit) : 0;
        if (error)
            return error;
    }
    if (!loader->rows_sorted)
        return sort_rows(loader->rows.items, loader->rows.count);
    return 0;
}

static void give_arrays(struct zs_kernel_loader *loader)
{
    struct zs_dwarf_kernel *kernel = loader->kernel;
    kernel->rows = loader->rows.items;
    kernel->row_count = (uint32_t)loader->rows.count;
    kernel->frames = loader->frames.items;
    kernel->frame_count = (uint32_t)loader->frames.count;
    kernel->scopes = loader->scopes.items;
    kernel->scope_count = (uint32_t)loader->scopes.count;
    kernel->ranges = loader->ranges.items;
    kernel->range_count = (uint32_t)loader->ranges.count;
    kernel->variables = loader->variables.items;
    kernel->variable_count = (uint32_t)loader->variables.count;
    kernel->files = zs_file_table_files(loader->files, &kernel->file_count);
}

int zs_dwarf_kernel_load(const struct zs_dwarf *debug, const char *kernel_name,
                         uint64_t code_size_B, struct zs_dwarf_kernel **ret_kernel,
                         struct zs_diag *diag)
{
    *ret_kernel = NULL;
    const struct zs_text_section *text = zs_dwarf_find_text(debug, kernel_name);
    if (!text)
        return zs_diag_set(diag, -ENOENT, ZS_DIAG_NO_OFFSET,
                           "the debug info does not know the kernel \"%.200s\"", kernel_name);
    if (code_size_B > CODE_MAX_B)
        return zs_diag_set(diag, -E2BIG, ZS_DIAG_NO_OFFSET, "more than 1 GiB of code");
    struct zs_dwarf_kernel_owner *owner = calloc(1, sizeof(*owner));
    if (!owner)
        return -ENOMEM;
    struct zs_dwarf_kernel *kernel = &owner->kernel;
    *kernel = (struct zs_dwarf_kernel){.dwarf = debug,
                                       .code_size_B = code_size_B,
                                       .base_va = text->va,
                                       .producer = "",
                                       .comp_dir = ""};
    owner->name = strdup(kernel_name);
    kernel->name = owner->name;
    int error = owner->name ? zs_file_table_open(debug->elf.size_B * PATHS_PER_BYTE + ARENA_SPARE_B,
                                                 &owner->files)
                            : -ENOMEM;
    struct zs_kernel_loader loader = {.debug = debug,
                                      .diag = diag,
                                      .kernel = kernel,
                                      .begin_va = text->va,
                                      .end_va = text->va + code_size_B,
                                      .files = owner->files,
                                      .rows_sorted = true};
    if (!error) {
        error = load_units(&loader);
        free(loader.unit_files.items);
        give_arrays(&loader);
        owner->frame_dies = loader.frame_dies.items;
    }
    if (error) {
        zs_dwarf_kernel_unload(kernel);
        return error;
    }
    *ret_kernel = kernel;
    return 0;
}

void zs_dwarf_kernel_unload(struct zs_dwarf_kernel *kernel)
{
    if (!kernel)
        return;
    struct zs_dwarf_kernel_owner *owner = (struct zs_dwarf_kernel_owner *)kernel;
    free((void *)kernel->rows);
    free((void *)kernel->frames);
    free(owner->frame_dies);
    free((void *)kernel->scopes);
    free((void *)kernel->ranges);
    free((void *)kernel->variables);
    zs_file_table_close(owner->files);
    free(owner->name);
    free(owner);
}

/* ---- questions ---- */

bool zs_dwarf_frame_base(const struct zs_dwarf_kernel *kernel, uint32_t frame,
                         struct zs_attr *ret_attr, const struct zs_unit **ret_unit)
{
    const struct zs_dwarf_kernel_owner *owner = (const struct zs_dwarf_kernel_owner *)kernel;
    struct zs_die die;
    while (frame < kernel->frame_count && kernel->frames[frame].parent != ZS_NO_INDEX)
        frame = kernel->frames[frame].parent;
    return frame < kernel->frame_count &&
           !zs_die_follow(kernel->dwarf, owner->frame_dies[frame], &die) &&
           zs_die_attr_integrate(kernel->dwarf, &die, DW_AT_frame_base, ret_attr, ret_unit);
}

const struct zs_line_row *zs_dwarf_row_at(const struct zs_dwarf_kernel *kernel, uint32_t offset_B)
{
    uint32_t low = 0, high = kernel->row_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (kernel->rows[middle].offset_B <= offset_B)
            low = middle + 1;
        else
            high = middle;
    }
    const struct zs_line_row *row = low ? &kernel->rows[low - 1] : NULL;
    return row && !(row->flags & ZS_ROW_END_SEQUENCE) ? row : NULL;
}

static bool scope_holds(const struct zs_dwarf_kernel *kernel, const struct zs_scope *scope,
                        uint32_t offset_B)
{
    for (uint32_t i = 0; i < scope->range_count; i++) {
        const struct zs_code_range *range = &kernel->ranges[scope->range_first + i];
        if (offset_B >= range->begin_B && offset_B < range->end_B)
            return true;
    }
    return false;
}

uint32_t zs_dwarf_scope_at(const struct zs_dwarf_kernel *kernel, uint32_t offset_B)
{
    /* children stand behind their parents */
    for (uint32_t i = kernel->scope_count; i-- > 0;)
        if (scope_holds(kernel, &kernel->scopes[i], offset_B))
            return i;
    return ZS_NO_INDEX;
}

const struct zs_variable *zs_scope_variable(const struct zs_dwarf_kernel *kernel, uint32_t scope,
                                            const char *name)
{
    for (uint32_t i = kernel->variable_count; i-- > 0;)
        if (kernel->variables[i].scope == scope && !strcmp(kernel->variables[i].name, name))
            return &kernel->variables[i];
    return NULL;
}

bool zs_variable_visible(const struct zs_dwarf_kernel *kernel, const struct zs_variable *variable,
                         uint32_t offset_B)
{
    uint32_t scope = variable->scope;
    /* an inlined body without code of its own: visible where the nearest one with code is */
    while (scope != ZS_NO_INDEX && !kernel->scopes[scope].range_count)
        scope = kernel->scopes[scope].parent;
    return scope != ZS_NO_INDEX && scope_holds(kernel, &kernel->scopes[scope], offset_B);
}
