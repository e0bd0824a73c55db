/* SPDX-License-Identifier: MIT */
/* Symbols of an image by name: relocations find the places they refer to. */
#include "module/module_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

struct symbol_entry {
    const char *name;
    struct zs_place place;
    bool global;
};

struct symbol_table {
    struct symbol_entry *items;
    size_t count;
};

static int compare_entries(const void *a, const void *b)
{
    const struct symbol_entry *p = a, *q = b;
    int order = strcmp(p->name, q->name);
    return order ? order : (int)q->global - (int)p->global;
}

static void collect(struct symbol_table *table, const struct zs_symbol *symbols, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (symbols[i].place.kind != ZS_PLACE_NONE && symbols[i].name[0])
            table->items[table->count++] =
                (struct symbol_entry){symbols[i].name, symbols[i].place, symbols[i].global};
}

static const struct symbol_entry *find(const struct symbol_table *table, const char *name)
{
    size_t low = 0, high = table->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(table->items[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < table->count && !strcmp(table->items[low].name, name) ? &table->items[low] : NULL;
}

static void resolve(const struct symbol_table *table, const struct zs_relocation *relocations,
                    uint32_t count)
{
    /* the arrays are the builder's own until the module is handed out */
    struct zs_relocation *own = (struct zs_relocation *)(uintptr_t)relocations;
    for (uint32_t i = 0; i < count; i++) {
        if (own[i].target.kind != ZS_PLACE_NONE || !own[i].symbol[0])
            continue;
        const struct symbol_entry *entry = find(table, own[i].symbol);
        if (entry)
            own[i].target = entry->place;
    }
}

/* Size of what a place lies in. */
static uint64_t place_size_B(const struct zs_image *image, const struct zs_place *place)
{
    switch (place->kind) {
    case ZS_PLACE_KERNEL:
        return image->kernels[place->index].heap.size_B;
    case ZS_PLACE_CONSTANT:
        return image->buffers[ZS_BUFFER_CONSTANT].size_B;
    case ZS_PLACE_GLOBAL:
        return image->buffers[ZS_BUFFER_GLOBAL].size_B;
    case ZS_PLACE_STRINGS:
        return image->buffers[ZS_BUFFER_STRINGS].size_B;
    default:
        return UINT64_MAX;
    }
}

/* Functions of a patch-token program's table lie in the function holder; kernels have a name. */
static void place_program_symbols(struct zs_image *image)
{
    struct zs_symbol *symbols = (struct zs_symbol *)(uintptr_t)image->symbols;
    const struct zs_kernel *holder = zs_image_kernel(image, ZS_FUNCTION_HOLDER_NAME);
    for (uint32_t i = 0; i < image->symbol_count; i++) {
        struct zs_place *place = &symbols[i].place;
        if (place->kind != ZS_PLACE_KERNEL || place->index != ZS_NONE)
            continue;
        const struct zs_kernel *owner =
            symbols[i].kind == ZS_SYMBOL_KERNEL && image->symbol_count < 4096
                ? zs_image_kernel(image, symbols[i].name)
                : holder;
        place->kind = owner ? ZS_PLACE_KERNEL : ZS_PLACE_NONE;
        place->index = owner ? owner->index : ZS_NONE;
    }
}

static int check_symbols(struct zs_builder *b, const struct zs_image *image)
{
    for (uint32_t i = 0; i < image->symbol_count; i++) {
        const struct zs_symbol *s = &image->symbols[i];
        uint64_t size_B = place_size_B(image, &s->place);
        if (s->place.kind != ZS_PLACE_NONE && s->place.offset_B > size_B)
            return zs_diag_set(b->diag, -EINVAL, image->offset_B,
                               "symbol %.200s: offset 0x%" PRIx64 " of 0x%" PRIx64 " bytes",
                               s->name, s->place.offset_B, size_B);
    }
    return 0;
}

int zs_image_resolve(struct zs_builder *b, struct zs_image *image)
{
    if (image->format == ZS_CONTAINER_PATCH_TOKENS)
        place_program_symbols(image);
    int error = check_symbols(b, image);
    size_t count = image->symbol_count, relocations = image->relocation_count;
    for (uint32_t i = 0; i < image->kernel_count; i++) {
        count += image->kernels[i].symbol_count;
        relocations += image->kernels[i].relocation_count;
    }
    if (error || relocations == 0)
        return error;
    struct symbol_table table = {.items = calloc(count ? count : 1, sizeof(*table.items))};
    if (!table.items)
        return zs_diag_set(b->diag, -ENOMEM, image->offset_B, "no memory for %zu symbols", count);
    collect(&table, image->symbols, image->symbol_count);
    for (uint32_t i = 0; i < image->kernel_count; i++)
        collect(&table, image->kernels[i].symbols, image->kernels[i].symbol_count);
    qsort(table.items, table.count, sizeof(*table.items), compare_entries);
    resolve(&table, image->relocations, image->relocation_count);
    for (uint32_t i = 0; i < image->kernel_count; i++)
        resolve(&table, image->kernels[i].relocations, image->kernels[i].relocation_count);
    free(table.items);
    return 0;
}
