/* SPDX-License-Identifier: MIT */
/*
 * An ELF with other bytes in some of its sections. What is behind them moves, by a multiple of 64
 * bytes (or of a larger alignment that some section wants), so that alignments stay as they were;
 * headers are corrected, all other bytes are copied.
 */
#include "edit/edit_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { EHDR_B = 64, SHDR_B = 64, PHDR_B = 56, ALIGN_MAX_B = 4096, NOBITS = 8 };
/* Fields of the headers (System V ABI). */
enum { E_PHOFF = 32, E_SHOFF = 40, E_PHENTSIZE = 54, E_PHNUM = 56, E_SHENTSIZE = 58 };
enum { SH_OFFSET = 24, SH_SIZE = 32, P_OFFSET = 8, P_FILESZ = 32, P_MEMSZ = 40 };

static int compare_splices(const void *a, const void *b)
{
    const struct zs_elf_splice *x = a, *y = b;
    return (x->section->offset_B > y->section->offset_B) -
           (x->section->offset_B < y->section->offset_B);
}

static bool meet(uint64_t a_B, uint64_t a_size_B, uint64_t b_B, uint64_t b_size_B)
{
    return a_size_B && b_size_B && a_B < b_B + b_size_B && b_B < a_B + a_size_B;
}

/* Nothing else may lie in what is replaced. */
static bool is_alone(struct zs_span elf, const struct zs_section *sections, uint32_t count,
                     const struct zs_section *s)
{
    uint64_t phoff_B = zs_load_u64(elf.data + E_PHOFF), shoff_B = zs_load_u64(elf.data + E_SHOFF);
    uint64_t phdrs_B = (uint64_t)zs_load_u16(elf.data + E_PHNUM) * PHDR_B;
    if (meet(s->offset_B, s->size_B, 0, EHDR_B) || meet(s->offset_B, s->size_B, phoff_B, phdrs_B) ||
        meet(s->offset_B, s->size_B, shoff_B, (uint64_t)count * SHDR_B))
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (&sections[i] != s && sections[i].type != NOBITS &&
            meet(s->offset_B, s->size_B, sections[i].offset_B, sections[i].size_B))
            return false;
    return true;
}

struct splicer {
    const struct zs_elf_splice *splices;
    uint32_t count;
    int64_t *shift_B; /* of what is behind each splice */
};

static uint64_t moved(const struct splicer *sp, uint64_t offset_B)
{
    int64_t shift_B = 0;
    for (uint32_t i = 0; i < sp->count; i++) {
        const struct zs_section *s = sp->splices[i].section;
        if (s->offset_B + s->size_B <= offset_B && s->offset_B < offset_B)
            shift_B = sp->shift_B[i];
    }
    return (uint64_t)((int64_t)offset_B + shift_B);
}

static void correct_sections(const struct splicer *sp, const struct zs_section *sections,
                             uint32_t count, uint8_t *out, uint64_t shoff_B)
{
    for (uint32_t i = 0; i < count; i++) {
        uint8_t *header = out + shoff_B + (uint64_t)i * SHDR_B;
        zs_store_u64(header + SH_OFFSET, moved(sp, sections[i].offset_B));
        for (uint32_t n = 0; n < sp->count; n++)
            if (sp->splices[n].section == &sections[i])
                zs_store_u64(header + SH_SIZE, sp->splices[n].bytes.size_B);
    }
}

static void correct_segments(const struct splicer *sp, uint8_t *out, uint64_t phoff_B,
                             uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint8_t *header = out + phoff_B + (uint64_t)i * PHDR_B;
        uint64_t begin_B = zs_load_u64(header + P_OFFSET), size_B = zs_load_u64(header + P_FILESZ);
        uint64_t grown_B = moved(sp, begin_B + size_B) - moved(sp, begin_B) - size_B;
        zs_store_u64(header + P_OFFSET, moved(sp, begin_B));
        zs_store_u64(header + P_FILESZ, size_B + grown_B);
        zs_store_u64(header + P_MEMSZ, zs_load_u64(header + P_MEMSZ) + grown_B);
    }
}

static uint64_t alignment(const struct zs_section *sections, uint32_t count)
{
    uint64_t align_B = ZS_GROUP_B;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t a = sections[i].align_B;
        if (a > align_B && a <= ALIGN_MAX_B && (a & (a - 1)) == 0)
            align_B = a;
    }
    return align_B;
}

static int correct_headers(const struct splicer *sp, struct zs_span elf,
                           const struct zs_section *sections, uint32_t count, uint8_t *out,
                           uint64_t out_B)
{
    uint64_t phoff_B = moved(sp, zs_load_u64(elf.data + E_PHOFF));
    uint64_t shoff_B = moved(sp, zs_load_u64(elf.data + E_SHOFF));
    uint32_t segments = zs_load_u16(elf.data + E_PHNUM);
    if (zs_load_u16(elf.data + E_SHENTSIZE) != SHDR_B || shoff_B > out_B ||
        (uint64_t)count * SHDR_B > out_B - shoff_B)
        return -EINVAL;
    if (segments && (zs_load_u16(elf.data + E_PHENTSIZE) != PHDR_B || phoff_B > out_B ||
                     (uint64_t)segments * PHDR_B > out_B - phoff_B))
        return -EINVAL;
    if (segments)
        zs_store_u64(out + E_PHOFF, phoff_B);
    zs_store_u64(out + E_SHOFF, shoff_B);
    correct_sections(sp, sections, count, out, shoff_B);
    correct_segments(sp, out, phoff_B, segments);
    return 0;
}

int zs_elf_splice(struct zs_span elf, const struct zs_section *sections, uint32_t section_count,
                  struct zs_elf_splice *splices, uint32_t count, struct zs_buf *out,
                  struct zs_diag *diag)
{
    if (elf.size_B < EHDR_B)
        return zs_diag_set(diag, -EINVAL, 0, "an ELF of %zu bytes", elf.size_B);
    for (uint32_t i = 0; i < count; i++)
        if (!is_alone(elf, sections, section_count, splices[i].section))
            return zs_diag_set(diag, -EINVAL, splices[i].section->offset_B,
                               "section %.200s shares its bytes with others",
                               splices[i].section->name);
    qsort(splices, count, sizeof(*splices), compare_splices);
    struct splicer sp = {splices, count, calloc(count + 1u, sizeof(int64_t))};
    if (!sp.shift_B)
        return zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "no memory for sections");
    uint64_t align_B = alignment(sections, section_count), at_B = 0;
    size_t start_B = out->size_B;
    for (uint32_t i = 0; i < count; i++) {
        const struct zs_section *s = splices[i].section;
        uint64_t end_B = s->offset_B + s->size_B;
        zs_buf_append(out, elf.data + at_B, (size_t)(s->offset_B - at_B));
        zs_buf_append(out, splices[i].bytes.data, splices[i].bytes.size_B);
        zs_buf_pad(out, 0, (size_t)((end_B - (out->size_B - start_B)) & (align_B - 1)));
        sp.shift_B[i] = (int64_t)(out->size_B - start_B) - (int64_t)end_B;
        at_B = end_B;
    }
    zs_buf_append(out, elf.data + at_B, (size_t)(elf.size_B - at_B));
    int error = out->error;
    if (!error)
        error = correct_headers(&sp, elf, sections, section_count, out->data + start_B,
                                out->size_B - start_B);
    free(sp.shift_B);
    return error ? zs_diag_set(diag, error, ZS_DIAG_NO_OFFSET, "the ELF cannot be written") : 0;
}
