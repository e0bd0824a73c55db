/* SPDX-License-Identifier: MIT */
/*
 * A zebin with new code: .text sections, symbols in them, relocations of them. What was behind the
 * kernel's own code in its section (functions, padding) follows the new code. The debug sections
 * speak of the original code and are emptied.
 */
#include "edit/edit_priv.h"

#include "module/elf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    SYM_B = 24,
    SYM_SECTION = 6,
    SYM_VALUE = 8,
    SYM_SIZE = 16,
    REL_B = 16,
    RELA_B = 24,
    REL_INFO = 8
};
enum { TEXT_ALIGN_B = 64 };

struct zebin_writer {
    struct zs_edit *edit;
    const struct zs_part *part;
    struct zs_elf_splice *splices;
    struct zs_buf *owned; /* bytes of each splice */
    uint32_t count;
};

static struct zs_buf *splice(struct zebin_writer *w, const struct zs_section *section)
{
    w->splices[w->count].section = section;
    return &w->owned[w->count++];
}

static const struct zs_edit_kernel *changed_in(const struct zebin_writer *w, uint32_t section)
{
    for (uint32_t i = 0; i < w->edit->kernel_count; i++) {
        const struct zs_edit_kernel *k = &w->edit->kernels[i];
        if (k->info->section == section && zs_edit_is_changed(k))
            return k;
    }
    return NULL;
}

static void put_text(struct zebin_writer *w, const struct zs_section *section,
                     const struct zs_edit_kernel *k)
{
    struct zs_buf *out = splice(w, section);
    size_t code_B = k->info->code.size_B;
    zs_buf_append(out, k->placed.code.data, k->placed.code.size_B);
    zs_buf_append(out, section->bytes.data + code_B, section->bytes.size_B - code_B);
    if (section->bytes.size_B % TEXT_ALIGN_B == 0)
        zs_buf_pad(out, 0, (TEXT_ALIGN_B - out->size_B % TEXT_ALIGN_B) % TEXT_ALIGN_B);
}

/* A place in the section: what is behind the kernel's code moves with its end. */
static uint64_t move_place(const struct zs_edit_kernel *k, uint64_t offset_B, bool inside)
{
    uint64_t code_B = k->info->code.size_B;
    if (offset_B >= code_B)
        return offset_B - code_B + k->placed.code.size_B;
    uint32_t at = inside ? zs_place_inside(k, offset_B) : zs_place_label(k, offset_B);
    return at == ZS_NONE ? UINT64_MAX : at;
}

static int move_symbols(struct zebin_writer *w, const struct zs_section *section)
{
    struct zs_buf *out = splice(w, section);
    zs_buf_append(out, section->bytes.data, section->bytes.size_B);
    for (size_t at = 0; !out->error && at + SYM_B <= out->size_B; at += SYM_B) {
        uint8_t *symbol = out->data + at;
        const struct zs_edit_kernel *k = changed_in(w, zs_load_u16(symbol + SYM_SECTION));
        uint64_t begin_B = zs_load_u64(symbol + SYM_VALUE);
        uint64_t size_B = zs_load_u64(symbol + SYM_SIZE);
        if (!k || size_B > section->bytes.size_B + k->info->heap.size_B)
            continue;
        /* the section's and the kernel's start is where threads begin */
        uint64_t begin = begin_B == 0 ? 0 : move_place(k, begin_B, false);
        uint64_t end = move_place(k, begin_B + size_B, false);
        if (begin == UINT64_MAX || end == UINT64_MAX)
            return -EINVAL;
        zs_store_u64(symbol + SYM_VALUE, begin);
        if (size_B)
            zs_store_u64(symbol + SYM_SIZE, end - begin);
    }
    zs_redirect_symbols(w->edit, w->part, section, out);
    return out->error;
}

static int add_names(struct zebin_writer *w, const struct zs_section *section)
{
    struct zs_buf *out = splice(w, section);
    zs_buf_append(out, section->bytes.data, section->bytes.size_B);
    zs_redirect_names(w->edit, out);
    return out->error;
}

/* k: whose code they are of, where that has changed. */
static int move_relocations(struct zebin_writer *w, const struct zs_section *section,
                            const struct zs_edit_kernel *k)
{
    struct zs_buf *out = splice(w, section);
    size_t entry_B = section->type == ZS_SHT_RELA ? RELA_B : REL_B;
    zs_buf_append(out, section->bytes.data, section->bytes.size_B);
    for (size_t at = 0; !out->error && at + entry_B <= out->size_B; at += entry_B) {
        uint64_t info = zs_load_u64(out->data + at + REL_INFO);
        uint32_t symbol = zs_redirect_symbol(w->edit, w->part, (uint32_t)(info >> 32));
        zs_store_u64(out->data + at + REL_INFO, (uint64_t)symbol << 32 | (uint32_t)info);
        uint64_t place =
            k ? move_place(k, zs_load_u64(out->data + at), true) : zs_load_u64(out->data + at);
        if (place == UINT64_MAX)
            return -EINVAL;
        zs_store_u64(out->data + at, place);
    }
    return out->error;
}

/* .ze_info with what the new code has made of its numbers. */
static int change_info(struct zebin_writer *w, const struct zs_section *section)
{
    struct zs_buf text = {0}, *out = NULL;
    int error = 0;
    for (uint32_t i = 0; i < w->edit->kernel_count && !error; i++) {
        const struct zs_edit_kernel *k = &w->edit->kernels[i];
        if (!zs_edit_is_changed(k) || (!k->placed.entry_B && !k->placed.scratch_B))
            continue;
        if (!text.data)
            zs_buf_append(&text, section->bytes.data, section->bytes.size_B);
        if (k->placed.entry_B)
            error = zs_ze_info_set(&text, k->info->name, "offset_to_skip_per_thread_data_load",
                                   k->placed.entry_B);
        if (!error && k->placed.scratch_B)
            error = zs_ze_info_set_scratch(&text, k->info->name, k->placed.scratch_B);
    }
    if (!error && text.data) {
        out = splice(w, section);
        *out = text;
        return out->error;
    }
    zs_buf_fini(&text);
    return error;
}

static bool is_debug(const char *name)
{
    return !strncmp(name, ".debug_", 7) || !strncmp(name, ".rel.debug_", 11) ||
           !strncmp(name, ".rela.debug_", 12);
}

static int put_section(struct zebin_writer *w, uint32_t i)
{
    const struct zs_section *s = &w->part->sections[i];
    const struct zs_edit_kernel *text = changed_in(w, i);
    bool relocates = s->type == ZS_SHT_REL || s->type == ZS_SHT_RELA;
    const struct zs_edit_kernel *target = relocates ? changed_in(w, s->info) : NULL;
    if (text)
        put_text(w, s, text);
    else if (target || (relocates && w->edit->redirects.count && !is_debug(s->name)))
        return move_relocations(w, s, target);
    else if (zs_redirect_adds_names(w->edit, w->part, i))
        return add_names(w, s);
    else if (s->type == ZS_SHT_SYMTAB)
        return move_symbols(w, s);
    else if (!strcmp(s->name, ".ze_info"))
        return change_info(w, s);
    else if (is_debug(s->name) && s->bytes.size_B)
        splice(w, s);
    return 0;
}

int zs_edit_write_zebin(struct zs_edit *edit, struct zs_buf *out, struct zs_diag *diag)
{
    const struct zs_part *part = &edit->module->parts[edit->image->part];
    struct zebin_writer w = {.edit = edit,
                             .part = part,
                             .splices = calloc(part->section_count + 1u, sizeof(*w.splices)),
                             .owned = calloc(part->section_count + 1u, sizeof(*w.owned))};
    int error = w.splices && w.owned ? 0 : -ENOMEM;
    zs_redirects_resolve(edit, part);
    for (uint32_t i = 0; i < part->section_count && !error; i++)
        error = put_section(&w, i);
    for (uint32_t i = 0; i < w.count && !error; i++) {
        w.splices[i].bytes = zs_buf_span(&w.owned[i]);
        error = w.owned[i].error;
    }
    if (error)
        zs_diag_set(diag, error, ZS_DIAG_NO_OFFSET,
                    "symbols or relocations of the zebin do not fit the code");
    else
        error = zs_elf_splice(part->bytes, part->sections, part->section_count, w.splices, w.count,
                              out, diag);
    for (uint32_t i = 0; i < w.count; i++)
        zs_buf_fini(&w.owned[i]);
    free(w.owned);
    free(w.splices);
    return error;
}
