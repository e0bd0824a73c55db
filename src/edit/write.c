/* SPDX-License-Identifier: MIT */
/* From insertions to a module: kernel by kernel, then the container. */
#include "edit/edit_priv.h"

#include "base/vec.h"
#include "module/elf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int rewrite_kernel(struct zs_edit_kernel *k, uint64_t gpu_va)
{
    struct zs_plan plan;
    struct zs_pieces pieces = {0};
    zs_placed_fini(&k->placed);
    if (!k->insertion_count)
        return 0;
    k->refusal[0] = '\0';
    if (k->info->thread.skip_set_ffid_B)
        return zs_edit_refuse(k, "it has several places where threads start");
    int error = zs_plan_make(k, &plan);
    if (!error)
        error = zs_pieces_make(k, &plan, gpu_va, &pieces);
    if (!error)
        error = zs_place(k, &pieces);
    zs_pieces_fini(&pieces);
    zs_plan_fini(&plan);
    return error;
}

bool zs_edit_has_edits(const struct zs_edit *edit)
{
    bool found = edit->redirects.count > 0;
    for (uint32_t i = 0; i < edit->kernel_count && !found; i++)
        found = edit->kernels[i].insertion_count > 0;
    return found;
}

static int check_buffer(const struct zs_edit *edit, uint64_t gpu_va, struct zs_diag *diag)
{
    struct zs_edit_buffer b = zs_edit_buffer(edit);
    if (gpu_va % ZS_GROUP_B)
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "the buffer's address 0x%llx",
                           (unsigned long long)gpu_va);
    if (b.records_size_B && (gpu_va + b.records_offset_B) >> 32 != (gpu_va + b.size_B - 1) >> 32)
        return zs_diag_set(diag, -ERANGE, ZS_DIAG_NO_OFFSET,
                           "the buffer crosses a border of 4 GiB");
    return 0;
}

/* The container around the patch tokens or the zebin, with the debug information taken out: it
 * speaks of the original code. */
static int write_outer(const struct zs_edit *edit, struct zs_span inner, struct zs_buf *out,
                       struct zs_diag *diag)
{
    const struct zs_part *part = &edit->module->parts[edit->image->part];
    const struct zs_part *outer = &edit->module->parts[edit->image->outer_part];
    struct zs_elf_splice *splices = calloc(outer->section_count + 1u, sizeof(*splices));
    uint32_t count = 0;
    bool found = false;
    if (!splices)
        return zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "no memory for sections");
    for (uint32_t i = 0; i < outer->section_count; i++) {
        const struct zs_section *s = &outer->sections[i];
        if (!found && s->bytes.size_B && s->bytes.data == part->bytes.data) {
            splices[count++] = (struct zs_elf_splice){s, inner};
            found = true;
        } else if (s->type == ZS_SHT_DEVICE_DEBUG && s->size_B) {
            splices[count++] = (struct zs_elf_splice){s, {0}};
        }
    }
    int error = found ? zs_elf_splice(outer->bytes, outer->sections, outer->section_count, splices,
                                      count, out, diag)
                      : zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                                    "the section of the machine code is not found");
    free(splices);
    return error;
}

static int write_image(struct zs_edit *edit, struct zs_buf *out, struct zs_diag *diag)
{
    struct zs_buf inner = {0};
    bool changed = edit->redirects.count > 0, nested = edit->image->outer_part != edit->image->part;
    for (uint32_t i = 0; i < edit->kernel_count; i++)
        changed |= zs_edit_is_changed(&edit->kernels[i]);
    if (!changed) {
        zs_buf_append(out, edit->image->bytes.data, edit->image->bytes.size_B);
        return out->error;
    }
    struct zs_buf *to = nested ? &inner : out;
    int error = edit->image->format == ZS_CONTAINER_ZEBIN ? zs_edit_write_zebin(edit, to, diag)
                                                          : zs_edit_write_patch(edit, to, diag);
    if (!error && nested)
        error = write_outer(edit, zs_buf_span(&inner), out, diag);
    zs_buf_fini(&inner);
    return error ? error : out->error;
}

int zs_edit_write(struct zs_edit *edit, uint64_t gpu_va, uint8_t **ret_bytes, size_t *ret_size_B,
                  struct zs_diag *diag)
{
    struct zs_buf out = {0};
    int error = check_buffer(edit, gpu_va, diag);
    for (uint32_t i = 0; i < edit->kernel_count && !error; i++) {
        error = rewrite_kernel(&edit->kernels[i], gpu_va);
        if (error && error != -ENOMEM)
            error = 0; /* refused: it stays as it is */
    }
    if (!error)
        error = write_image(edit, &out, diag);
    if (error) {
        zs_buf_fini(&out);
        return zs_diag_set(diag, error, ZS_DIAG_NO_OFFSET, "%s", strerror(-error));
    }
    *ret_bytes = out.data;
    *ret_size_B = out.size_B;
    return 0;
}
