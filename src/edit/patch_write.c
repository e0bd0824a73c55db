/* SPDX-License-Identifier: MIT */
/*
 * Patch tokens with new code. Kernel heaps are replaced; the padding behind the code stays, and the
 * heap is filled up to the alignment that it had. In the lists of tokens only numbers change where
 * they stand: offsets and sizes of symbols, offsets of relocations. Checksums are the writer's.
 */
#include "edit/edit_priv.h"

#include "module/patch.h"
#include "module/tokens.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    SCRATCH_TOKEN_B = 16,
    HEAP_ALIGN_B = 64,
    SECOND_ENTRY = 12 /* dword of a thread payload's token */
};

static void store_u32(uint8_t *at, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

static bool is_code(const uint8_t *entry)
{
    uint32_t kind = zs_load_u32(entry);
    return kind == ZS_SYMBOL_FUNCTION || kind == ZS_SYMBOL_KERNEL;
}

/* A symbol: kind, offset, size. Offset 0 of a kernel is where it starts, whatever comes first. */
static int move_symbol(const struct zs_edit_kernel *k, struct zs_symbol_fields at, uint8_t *entry)
{
    uint32_t kind = zs_load_u32(entry), begin_B = zs_load_u32(entry + at.offset_at);
    uint32_t size_B = zs_load_u32(entry + at.size_at);
    bool starts = begin_B == 0 && kind == ZS_SYMBOL_KERNEL;
    uint32_t begin = starts ? 0 : zs_place_label(k, begin_B);
    uint32_t end = zs_place_label(k, (uint64_t)begin_B + size_B);
    if (begin == ZS_NONE || end == ZS_NONE)
        return -EINVAL;
    store_u32(entry + at.offset_at, begin);
    store_u32(entry + at.size_at, end - begin);
    return 0;
}

static int move_relocation(const struct zs_edit_kernel *k, uint8_t *entry)
{
    uint32_t at = zs_place_inside(k, zs_load_u32(entry + 4));
    if (at == ZS_NONE)
        return -EINVAL;
    store_u32(entry + 4, at);
    return 0;
}

/* Which kernel's code a symbol of the program's table lies in; NULL: it is a variable. */
static const struct zs_edit_kernel *owner_of(const struct zs_edit *edit, uint32_t name_at,
                                             const uint8_t *entry)
{
    uint32_t kind = zs_load_u32(entry);
    char name[ZS_NAME_FIELD_B + 1] = {0};
    memcpy(name, entry + name_at, ZS_NAME_FIELD_B);
    for (uint32_t i = 0; i < edit->kernel_count; i++) {
        const struct zs_kernel *info = edit->kernels[i].info;
        if (kind == ZS_SYMBOL_FUNCTION ? info->is_function_holder
                                       : kind == ZS_SYMBOL_KERNEL && !strcmp(info->name, name))
            return &edit->kernels[i];
    }
    return NULL;
}

/* k is NULL for the program's list. */
static int move_tokens(const struct zs_edit *edit, const struct zs_edit_kernel *k,
                       const struct zs_token_list *list, uint8_t *bytes)
{
    size_t cursor = 0;
    struct zs_token token;
    int error = 0;
    while (!error && zs_token_next(list, &cursor, &token)) {
        if (token.number == ZS_TOKEN_THREAD_PAYLOAD && k && k->placed.entry_B &&
            token.body.size_B >= 4 * (SECOND_ENTRY + 1))
            store_u32(bytes + (token.body.data - list->bytes.data) + 4 * SECOND_ENTRY,
                      k->placed.entry_B);
        if (token.number == ZS_TOKEN_MEDIA_VFE_STATE && k && k->placed.scratch_B &&
            token.body.size_B >= 8)
            store_u32(bytes + (token.body.data - list->bytes.data) + 4, k->placed.scratch_B);
        bool symbols = token.number == ZS_TOKEN_PROGRAM_SYMBOL_TABLE;
        bool relocations = token.number == ZS_TOKEN_PROGRAM_RELOCATION_TABLE && k;
        size_t entry_B = zs_token_entry_B(&token);
        const struct zs_symbol_fields at = zs_token_symbol_fields(&token);
        if (!(symbols || relocations) || !entry_B || token.body.size_B < 4)
            continue;
        uint8_t *entry = bytes + (token.body.data - list->bytes.data) + 4;
        uint32_t count = zs_load_u32(token.body.data);
        if (count > (token.body.size_B - 4) / entry_B)
            return -EINVAL;
        for (; count-- && !error; entry += entry_B) {
            const struct zs_edit_kernel *owner = k ? k : owner_of(edit, at.name_at, entry);
            if (symbols && !is_code(entry))
                continue;
            if (relocations)
                zs_redirect_entry(edit, entry + 8);
            if (owner && zs_edit_is_changed(owner))
                error = symbols ? move_symbol(owner, at, entry) : move_relocation(owner, entry);
        }
    }
    return error;
}

struct copies {
    uint8_t **items;
    uint32_t count;
};

static bool has_token(const struct zs_token_list *list, uint32_t number)
{
    size_t cursor = 0;
    struct zs_token token;
    while (zs_token_next(list, &cursor, &token))
        if (token.number == number)
            return true;
    return false;
}

/* The token of scratch memory behind the others, where there was none. */
static void add_scratch(uint8_t *to, uint32_t size_B)
{
    store_u32(to, ZS_TOKEN_MEDIA_VFE_STATE);
    store_u32(to + 4, SCRATCH_TOKEN_B);
    store_u32(to + 8, 0);
    store_u32(to + 12, size_B);
}

/* A copy of a list with its numbers moved. */
static int replace_list(const struct zs_edit *edit, const struct zs_edit_kernel *k,
                        const struct zs_token_list *list, struct zs_span *ret,
                        struct copies *copies)
{
    bool adds = k && k->placed.scratch_B && !has_token(list, ZS_TOKEN_MEDIA_VFE_STATE);
    size_t size_B = list->bytes.size_B, new_B = size_B + (adds ? SCRATCH_TOKEN_B : 0);
    if (!new_B)
        return 0;
    uint8_t *bytes = malloc(new_B);
    if (!bytes)
        return -ENOMEM;
    copies->items[copies->count++] = bytes;
    if (size_B)
        memcpy(bytes, list->bytes.data, size_B);
    if (adds)
        add_scratch(bytes + size_B, k->placed.scratch_B);
    *ret = zs_span_make(bytes, new_B);
    return move_tokens(edit, k, list, bytes);
}

static int replace_heap(const struct zs_edit_kernel *k, struct zs_patch_kernel *patch,
                        struct copies *copies)
{
    struct zs_buf heap = {0};
    size_t code_B = k->info->code.size_B, padding_B = patch->heap.size_B - code_B;
    zs_buf_append(&heap, k->placed.code.data, k->placed.code.size_B);
    zs_buf_append(&heap, patch->heap.data + code_B, padding_B);
    if (patch->heap.size_B % HEAP_ALIGN_B == 0)
        zs_buf_pad(&heap, 0, (HEAP_ALIGN_B - heap.size_B % HEAP_ALIGN_B) % HEAP_ALIGN_B);
    copies->items[copies->count++] = heap.data;
    patch->heap = zs_buf_span(&heap);
    patch->unpadded_B = (uint32_t)k->placed.code.size_B;
    return heap.error;
}

static int replace_kernel(const struct zs_edit *edit, uint32_t i, struct zs_patch_kernel *patch,
                          struct copies *copies)
{
    const struct zs_edit_kernel *k = &edit->kernels[i];
    if (!zs_edit_is_changed(k))
        return edit->redirects.count
                   ? replace_list(edit, k, &k->info->tokens, &patch->patch_list, copies)
                   : 0;
    if (patch->heap.data != k->info->heap.data || patch->heap.size_B < k->info->code.size_B)
        return -EINVAL;
    int error = replace_heap(k, patch, copies);
    return error ? error : replace_list(edit, k, &k->info->tokens, &patch->patch_list, copies);
}

int zs_edit_write_patch(struct zs_edit *edit, struct zs_buf *out, struct zs_diag *diag)
{
    const struct zs_part *part = &edit->module->parts[edit->image->part];
    struct zs_patch_module patch;
    int error = zs_patch_module_read(part->bytes, part->offset_B, &patch, diag);
    if (error)
        return error;
    struct copies copies = {.items = calloc(edit->kernel_count * 2u + 1u, sizeof(uint8_t *))};
    error = !copies.items ? -ENOMEM : patch.kernel_count != edit->kernel_count ? -EINVAL : 0;
    if (!error)
        error = replace_list(edit, NULL, &edit->image->tokens, &patch.patch_list, &copies);
    for (uint32_t i = 0; i < edit->kernel_count && !error; i++)
        error = replace_kernel(edit, i, &patch.kernels[i], &copies);
    if (!error)
        error = zs_patch_module_write(&patch, out);
    for (uint32_t i = 0; i < copies.count; i++)
        free(copies.items[i]);
    free(copies.items);
    zs_patch_module_fini(&patch);
    return error ? zs_diag_set(diag, error, ZS_DIAG_NO_OFFSET,
                               "symbols or relocations of the patch tokens do not fit the code")
                 : 0;
}
