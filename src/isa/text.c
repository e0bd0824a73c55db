/* SPDX-License-Identifier: MIT */
/*
 * Text of instructions, as `iga64 -d` prints it.
 *
 * Instructions other than branches are printed many at a time: libiga64 is given a batch of them
 * behind each other as if they were a kernel, and its listing is cut into lines. Label lines of
 * that listing mean nothing and are dropped.
 *
 * A branch is printed alone, with a callback that names its targets: libiga64 then hands out
 * targets relative to the instruction, which are also where control flow comes from. libiga64
 * counts the width of a name from the callback against its column but that of its own names not
 * (L136 is followed by the whole column's spaces), so as many spaces as the name is long are
 * added behind it.
 */
#include "isa/iga_abi.h"
#include "isa/isa_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static const iga_disassemble_options_t listing_options = {
    .cb = sizeof(iga_disassemble_options_t), .formatting_opts = IGA_FORMATTING_OPTS_LISTING};

static int iga_failed(struct zs_diag *diag, int status, const char *what)
{
    int error = status == IGA_OUT_OF_MEM ? -ENOMEM : -ENODATA;
    return zs_diag_set(diag, error, ZS_DIAG_NO_OFFSET, "libiga64 failed with status %d in %s",
                       status, what);
}

static int open_context(const struct zs_isa_kernel *k, iga_context_t *ret_context,
                        struct zs_diag *diag)
{
    iga_context_options_t options = {.cb = sizeof(options),
                                     .gen = (int)zs_isa_iga_gen(k->platform)};
    int status = iga_context_create(&options, ret_context);
    return status == IGA_SUCCESS ? 0 : iga_failed(diag, status, "iga_context_create");
}

/* ---- batches ---- */

/* Label lines start with a name in the first column, instructions with a space or parenthesis. */
static bool is_label_line(const char *line)
{
    return *line != ' ' && *line != '(';
}

/* The listing's next instruction line, NULL at its end. */
static const char *next_line(const char **cursor, size_t *ret_size_B)
{
    while (**cursor) {
        const char *line = *cursor;
        const char *end = strchrnul(line, '\n');
        *cursor = *end ? end + 1 : end;
        if (line != end && !is_label_line(line)) {
            *ret_size_B = (size_t)(end - line);
            return line;
        }
    }
    *ret_size_B = 0;
    return NULL;
}

static uint32_t count_lines(const char *listing)
{
    uint32_t count = 0;
    size_t size_B;
    while (next_line(&listing, &size_B))
        count++;
    return count;
}

static int put_lines(struct zs_isa_kernel *k, const char *listing,
                     struct zs_isa_entry *const *entries, uint32_t count)
{
    int error = 0;
    for (uint32_t i = 0; i < count && !error; i++) {
        size_t size_B;
        const char *line = next_line(&listing, &size_B);
        error = zs_isa_put_text(k, entries[i], line, size_B);
    }
    return error;
}

static int print_batch(struct zs_isa_kernel *k, iga_context_t context,
                       struct zs_isa_entry *const *entries, uint32_t count, struct zs_diag *diag);

/* libiga64 printed another number of lines than there are instructions: print each alone, and one
 * that still has no line or more than one (never seen) by its first. */
static int print_singly(struct zs_isa_kernel *k, iga_context_t context, const char *listing,
                        struct zs_isa_entry *const *entries, uint32_t count, struct zs_diag *diag)
{
    static const char nothing[] = "        illegal                 // libiga64 prints nothing";
    int error = 0;
    if (count == 1) {
        size_t size_B;
        const char *line = next_line(&listing, &size_B);
        return line ? zs_isa_put_text(k, entries[0], line, size_B)
                    : zs_isa_put_text(k, entries[0], nothing, sizeof(nothing) - 1);
    }
    for (uint32_t i = 0; i < count && !error; i++)
        error = print_batch(k, context, entries + i, 1, diag);
    return error;
}

static int print_batch(struct zs_isa_kernel *k, iga_context_t context,
                       struct zs_isa_entry *const *entries, uint32_t count, struct zs_diag *diag)
{
    uint8_t bytes[ZS_ISA_BATCH_MAX * 16];
    uint32_t size_B = 0;
    for (uint32_t i = 0; i < count; i++) {
        memcpy(bytes + size_B, entries[i]->bytes, entries[i]->size_B);
        size_B += entries[i]->size_B;
    }
    char *listing = NULL;
    int status =
        iga_context_disassemble(context, &listing_options, bytes, size_B, NULL, NULL, &listing);
    if ((status != IGA_SUCCESS && status != IGA_DECODE_ERROR) || !listing)
        return iga_failed(diag, status, "iga_context_disassemble");
    if (count_lines(listing) != count)
        return print_singly(k, context, listing, entries, count, diag);
    return put_lines(k, listing, entries, count);
}

int zs_isa_text_batch(struct zs_isa_kernel *k, struct zs_isa_entry *const *entries, uint32_t count,
                      struct zs_diag *diag)
{
    iga_context_t context;
    int error = open_context(k, &context, diag);
    if (error)
        return error;
    error = print_batch(k, context, entries, count, diag);
    iga_context_release(context);
    return error;
}

/* ---- branches ---- */

enum { NAME_MAX_B = 16, TARGETS_MAX = 2 };

struct targets {
    uint32_t offset_B; /* of the branch */
    uint32_t count;
    int64_t target_B[TARGETS_MAX]; /* absolute; may lie outside the code */
    char names[TARGETS_MAX][NAME_MAX_B];
};

/* As libiga64 names labels: L136, L_N16 for -16. */
static void name_label(char name[NAME_MAX_B], int64_t offset_B)
{
    if (offset_B < 0)
        snprintf(name, NAME_MAX_B, "L_N%lld", (long long)-offset_B);
    else
        snprintf(name, NAME_MAX_B, "L%lld", (long long)offset_B);
}

static const char *name_target(int32_t relative_B, void *env)
{
    struct targets *targets = env;
    if (targets->count == TARGETS_MAX)
        return NULL;
    uint32_t i = targets->count++;
    targets->target_B[i] = (int64_t)targets->offset_B + relative_B;
    name_label(targets->names[i], targets->target_B[i]);
    return targets->names[i];
}

/* Copy the branch's line with the spaces that iga64 would have printed behind each name. */
static int widen_line(struct zs_isa_kernel *k, struct zs_isa_branch *branch, const char *text,
                      const struct targets *targets)
{
    size_t size_B = strlen(text);
    size_B = ZS_MIN(size_B, (size_t)(UINT16_MAX - TARGETS_MAX * NAME_MAX_B));
    char *line = zs_arena_alloc(&k->arena, size_B + TARGETS_MAX * NAME_MAX_B);
    if (!line)
        return -ENOMEM;
    size_t at_B = 0, from_B = 0;
    for (uint32_t i = 0; i < targets->count; i++) {
        size_t name_B = strlen(targets->names[i]);
        const char *found = memmem(text + from_B, size_B - from_B, targets->names[i], name_B);
        if (!found)
            continue;
        size_t until_B = (size_t)(found - text) + name_B;
        memcpy(line + at_B, text + from_B, until_B - from_B);
        at_B += until_B - from_B;
        memset(line + at_B, ' ', name_B);
        at_B += name_B;
        from_B = until_B;
    }
    memcpy(line + at_B, text + from_B, size_B - from_B);
    at_B += size_B - from_B;

    struct zs_isa_entry scratch = {0};
    zs_isa_entry_set_text(&scratch, line, at_B);
    branch->line = line;
    branch->lead_B = scratch.lead_B;
    branch->text_size_B = scratch.text_size_B;
    branch->line_size_B = scratch.line_size_B;
    branch->illegal = scratch.text_flags & ZS_TEXT_ILLEGAL;
    return 0;
}

static uint32_t target_or_none(const struct targets *targets, uint32_t i)
{
    if (i >= targets->count || targets->target_B[i] < 0 || targets->target_B[i] >= ZS_ISA_NO_INDEX)
        return ZS_ISA_NO_INDEX;
    return (uint32_t)targets->target_B[i];
}

static int print_branch(struct zs_isa_kernel *k, iga_context_t context, uint32_t i,
                        struct zs_isa_branch *branch, struct zs_diag *diag)
{
    /* libiga64 may read 16 bytes whatever the size of the instruction */
    uint8_t bytes[16] = {0};
    memcpy(bytes, k->entries[i]->bytes, sizeof(bytes));
    struct targets targets = {.offset_B = k->offsets_B[i]};
    char *text = NULL;
    int status = iga_context_disassemble_instruction(context, &listing_options, bytes, name_target,
                                                     &targets, &text);
    if ((status != IGA_SUCCESS && status != IGA_DECODE_ERROR) || !text)
        return iga_failed(diag, status, "iga_context_disassemble_instruction");
    branch->inst = i;
    branch->jip_B = target_or_none(&targets, 0);
    branch->uip_B = target_or_none(&targets, 1);
    return widen_line(k, branch, text, &targets);
}

int zs_isa_text_branches(struct zs_isa_kernel *k, struct zs_diag *diag)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < k->count; i++)
        count += k->entries[i]->flags & ZS_ENTRY_BRANCH ? 1 : 0;
    free(k->branches);
    k->branch_count = 0;
    k->branches = calloc((size_t)count + 1, sizeof(*k->branches));
    if (!k->branches)
        return -ENOMEM;
    iga_context_t context;
    int error = open_context(k, &context, diag);
    if (error)
        return error;
    for (uint32_t i = 0; i < k->count && !error; i++)
        if (k->entries[i]->flags & ZS_ENTRY_BRANCH)
            error = print_branch(k, context, i, &k->branches[k->branch_count++], diag);
    iga_context_release(context);
    k->has_branches = !error;
    return error;
}

/* ---- labels ---- */

static void set_label(struct zs_isa_kernel *k, uint32_t i)
{
    k->label_bits[i / 8] = (uint8_t)(k->label_bits[i / 8] | 1u << i % 8);
}

/* At the instruction that starts there, or the code's end. iga64 also prints labels for targets
 * inside an instruction or outside the code; only damaged code has those. */
static void set_label_at(struct zs_isa_kernel *k, uint32_t offset_B)
{
    uint32_t i = offset_B == k->code.size_B ? k->count : zs_isa_inst_find(k, offset_B);
    if (i != ZS_ISA_NO_INDEX && k->offsets_B[i] == offset_B)
        set_label(k, i);
}

int zs_isa_make_labels(struct zs_isa_kernel *k)
{
    free(k->label_bits);
    k->label_bits = calloc(1, (size_t)k->count / 8 + 1);
    if (!k->label_bits)
        return -ENOMEM;
    if (k->count == 0)
        return 0;
    set_label(k, 0);
    for (uint32_t b = 0; b < k->branch_count; b++) {
        const struct zs_isa_branch *branch = &k->branches[b];
        if (branch->illegal)
            continue;
        set_label(k, branch->inst + 1);
        if (branch->jip_B != ZS_ISA_NO_INDEX)
            set_label_at(k, branch->jip_B);
        if (branch->uip_B != ZS_ISA_NO_INDEX)
            set_label_at(k, branch->uip_B);
    }
    for (uint32_t i = 0; i < k->count; i++)
        if (!(k->entries[i]->flags & ZS_ENTRY_BRANCH) && k->entries[i]->text_flags & ZS_TEXT_EOT)
            set_label(k, i + 1);
    return 0;
}
