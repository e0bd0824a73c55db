/* SPDX-License-Identifier: MIT */
/*
 * Functions that are to be others. Patch tokens name a relocation's symbol where it stands; in a
 * zebin relocations have the number of a symbol, which is that of the other function or a new,
 * undefined one behind the others.
 */
#include "edit/edit_priv.h"

#include "base/vec.h"
#include "module/elf.h"
#include "module/tokens.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SYM_B = 24, SYM_INFO = 4, SYM_INFO_GLOBAL_FUNCTION = 0x12 };

static bool is_used(const struct zs_edit *edit, const char *name)
{
    for (uint32_t i = 0; i < edit->kernel_count; i++)
        for (uint32_t r = 0; r < edit->image->kernels[i].relocation_count; r++)
            if (!strcmp(edit->image->kernels[i].relocations[r].symbol, name))
                return true;
    return false;
}

int zs_edit_redirect(struct zs_edit *edit, const char *from, const char *to, struct zs_diag *diag)
{
    if (!from || !to || !from[0] || !to[0] || strlen(to) >= ZS_NAME_FIELD_B)
        return zs_diag_set(diag, -ENAMETOOLONG, ZS_DIAG_NO_OFFSET, "a function's name");
    if (!is_used(edit, from))
        return zs_diag_set(diag, -ENOENT, ZS_DIAG_NO_OFFSET, "no relocation names %.200s", from);
    struct zs_redirect r = {.from = strdup(from), .to = strdup(to), .symbol = ZS_NONE};
    if (!r.from || !r.to || !ZS_VEC_PUSH(&edit->redirects, r)) {
        free(r.from);
        free(r.to);
        return zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "no memory for a redirection");
    }
    return 0;
}

void zs_redirects_fini(struct zs_edit *edit)
{
    for (size_t i = 0; i < edit->redirects.count; i++) {
        free(edit->redirects.items[i].from);
        free(edit->redirects.items[i].to);
    }
    free(edit->redirects.items);
}

static struct zs_redirect *find(const struct zs_edit *edit, const char *name)
{
    for (size_t i = 0; i < edit->redirects.count; i++)
        if (!strcmp(edit->redirects.items[i].from, name))
            return &edit->redirects.items[i];
    return NULL;
}

void zs_redirect_entry(const struct zs_edit *edit, uint8_t *field)
{
    char name[ZS_NAME_FIELD_B + 1] = {0};
    memcpy(name, field, ZS_NAME_FIELD_B);
    const struct zs_redirect *r = find(edit, name);
    if (!r)
        return;
    memset(field, 0, ZS_NAME_FIELD_B);
    memcpy(field, r->to, strlen(r->to));
}

/* ---- zebin ---- */

static const char *symbol_name(const struct zs_part *part, const struct zs_section *symtab,
                               uint32_t symbol)
{
    if (symtab->link >= part->section_count || symbol >= symtab->bytes.size_B / SYM_B)
        return "";
    uint32_t at_B = zs_load_u32(symtab->bytes.data + (size_t)symbol * SYM_B);
    const char *name = zs_span_string(part->sections[symtab->link].bytes, at_B);
    return name ? name : "";
}

static const struct zs_section *find_symtab(const struct zs_part *part)
{
    for (uint32_t i = 0; i < part->section_count; i++)
        if (part->sections[i].type == ZS_SHT_SYMTAB)
            return &part->sections[i];
    return NULL;
}

void zs_redirects_resolve(struct zs_edit *edit, const struct zs_part *part)
{
    const struct zs_section *symtab = find_symtab(part);
    uint32_t count = symtab ? (uint32_t)(symtab->bytes.size_B / SYM_B) : 0, more = 0;
    for (size_t i = 0; i < edit->redirects.count; i++) {
        struct zs_redirect *r = &edit->redirects.items[i];
        r->symbol = ZS_NONE;
        for (uint32_t s = 0; s < count && r->symbol == ZS_NONE; s++)
            if (!strcmp(symbol_name(part, symtab, s), r->to))
                r->symbol = s;
        r->is_new = r->symbol == ZS_NONE;
        if (r->is_new)
            r->symbol = count + more++;
    }
}

bool zs_redirect_adds_names(const struct zs_edit *edit, const struct zs_part *part,
                            uint32_t section)
{
    const struct zs_section *symtab = find_symtab(part);
    return edit->redirects.count && symtab && symtab->link == section;
}

void zs_redirect_names(const struct zs_edit *edit, struct zs_buf *out)
{
    for (size_t i = 0; i < edit->redirects.count; i++)
        if (edit->redirects.items[i].is_new)
            zs_buf_append(out, edit->redirects.items[i].to,
                          strlen(edit->redirects.items[i].to) + 1);
}

void zs_redirect_symbols(const struct zs_edit *edit, const struct zs_part *part,
                         const struct zs_section *symtab, struct zs_buf *out)
{
    uint32_t name_B = symtab->link < part->section_count
                          ? (uint32_t)part->sections[symtab->link].bytes.size_B
                          : 0;
    for (size_t i = 0; i < edit->redirects.count; i++) {
        const struct zs_redirect *r = &edit->redirects.items[i];
        uint8_t symbol[SYM_B] = {0};
        if (!r->is_new)
            continue;
        memcpy(symbol, &name_B, sizeof(name_B));
        symbol[SYM_INFO] = SYM_INFO_GLOBAL_FUNCTION;
        zs_buf_append(out, symbol, sizeof(symbol));
        name_B += (uint32_t)strlen(r->to) + 1;
    }
}

uint32_t zs_redirect_symbol(const struct zs_edit *edit, const struct zs_part *part, uint32_t symbol)
{
    if (!edit->redirects.count)
        return symbol;
    const struct zs_section *symtab = find_symtab(part);
    const struct zs_redirect *r = symtab ? find(edit, symbol_name(part, symtab, symbol)) : NULL;
    return r ? r->symbol : symbol;
}
