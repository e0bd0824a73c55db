/* SPDX-License-Identifier: MIT */
/* Opening and closing a module: inputs, limits, and the builder's arrays moved into the model. */
#include "base/options.h"
#include "module/module_priv.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Structures are smaller than what they describe; tiny records that need more are not real. */
enum { ARENA_PER_INPUT = 8, ARENA_BASE_B = 16 << 20, NAMES_PER_INPUT = 4, NAMES_BASE_B = 1 << 20 };

int zs_builder_no_memory(struct zs_builder *b, uint64_t offset_B)
{
    return zs_diag_set(b->diag, -EFBIG, offset_B,
                       "the model of this module needs more than %zu bytes, %d per byte of input",
                       b->arena->limit_B, ARENA_PER_INPUT);
}

void zs_builder_note(struct zs_builder *b, uint64_t offset_B, const char *format, ...)
{
    char text[300];
    va_list args;
    b->note_total++;
    if (b->notes.count >= ZS_NOTE_COUNT_MAX)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    struct zs_module_note note = {b->input ? ZS_DIAG_NO_OFFSET : offset_B,
                                  zs_arena_strndup(b->arena, text, sizeof(text))};
    /* a note that cannot be kept is still counted */
    if (note.text && !ZS_VEC_PUSH(&b->notes, note))
        return;
}

int zs_builder_part(struct zs_builder *b, enum zs_container kind, const char *name, uint32_t parent,
                    struct zs_blob blob, uint32_t *ret_part)
{
    struct zs_part part = {.kind = kind,
                           .name = name,
                           .parent = parent,
                           .input = b->input,
                           .offset_B = blob.offset_B,
                           .bytes = blob.bytes};
    *ret_part = (uint32_t)b->parts.count;
    return ZS_VEC_PUSH(&b->parts, part)
               ? 0
               : zs_diag_set(b->diag, -ENOMEM, blob.offset_B, "no memory for a container");
}

/* A vector's items in the arena; the vector is freed. */
static const void *move_items(struct zs_builder *b, void *items, size_t count, size_t item_B,
                              bool *ok)
{
    void *copy = zs_arena_array(b->arena, count, item_B);
    if (copy && count)
        memcpy(copy, items, count * item_B);
    free(items);
    *ok = *ok && copy;
    return copy;
}

static int finish(struct zs_builder *b)
{
    struct zs_module *m = b->module;
    bool ok = true;
    m->parts = move_items(b, b->parts.items, b->parts.count, sizeof(*b->parts.items), &ok);
    m->part_count = (uint32_t)b->parts.count;
    m->images = move_items(b, b->images.items, b->images.count, sizeof(*b->images.items), &ok);
    m->image_count = (uint32_t)b->images.count;
    m->notes = move_items(b, b->notes.items, b->notes.count, sizeof(*b->notes.items), &ok);
    m->note_count = (uint32_t)b->notes.count;
    m->note_total = b->note_total;
    m->debug_entries = move_items(b, b->debug_entries.items, b->debug_entries.count,
                                  sizeof(*b->debug_entries.items), &ok);
    m->debug_entry_count = (uint32_t)b->debug_entries.count;
    return ok ? 0 : zs_builder_no_memory(b, 0);
}

static int build(struct zs_module_owner *owner, bool verify_checksums, struct zs_diag *diag)
{
    struct zs_module *m = &owner->module;
    uint64_t total_B = (uint64_t)m->bytes.size_B + m->debug_bytes.size_B;
    owner->arena.limit_B = (size_t)(ARENA_PER_INPUT * total_B + ARENA_BASE_B);
    struct zs_builder b = {
        .module = m,
        .arena = &owner->arena,
        .diag = diag,
        .verify_checksums = verify_checksums,
        .name_left_B = NAMES_PER_INPUT * total_B + NAMES_BASE_B,
    };
    m->container = zs_container_detect(m->bytes);
    int error = zs_container_read(&b, (struct zs_blob){m->bytes, 0}, "", ZS_NONE, 0);
    if (!error && m->debug_bytes.size_B) {
        b.input = 1;
        error = zs_container_read(&b, (struct zs_blob){m->debug_bytes, 0}, "", ZS_NONE, 0);
    }
    int finish_error = finish(&b);
    return error ? error : finish_error;
}

static int copy_input(struct zs_span from, bool borrow, uint8_t **ret_copy, struct zs_span *ret,
                      struct zs_diag *diag)
{
    *ret = from;
    if (borrow || from.size_B == 0)
        return 0;
    *ret_copy = malloc(from.size_B);
    if (!*ret_copy)
        return zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "no memory for %zu bytes",
                           from.size_B);
    memcpy(*ret_copy, from.data, from.size_B);
    *ret = zs_span_make(*ret_copy, from.size_B);
    return 0;
}

static int open_inputs(struct zs_module_owner *owner, const char *path, struct zs_span bytes,
                       const struct zs_module_options *options, struct zs_diag *diag)
{
    struct zs_module *m = &owner->module;
    int error = 0;
    m->path = "";
    if (path) {
        error = zs_file_read(path, options->file_limit_B, &owner->file, diag);
        m->bytes = owner->file.span;
        m->path = error ? "" : zs_or_empty(zs_arena_strndup(&owner->arena, path, strlen(path)));
    } else if (bytes.size_B > UINT32_MAX) {
        error = zs_diag_set(diag, -EFBIG, ZS_DIAG_NO_OFFSET, "a module of more than 4 GiB");
    } else {
        error = copy_input(bytes, options->borrow, &owner->copy, &m->bytes, diag);
    }
    if (!error && options->debug_path) {
        error = zs_file_read(options->debug_path, options->file_limit_B, &owner->debug_file, diag);
        m->debug_bytes = owner->debug_file.span;
    } else if (!error && options->debug.size_B <= UINT32_MAX) {
        error =
            copy_input(options->debug, options->borrow, &owner->debug_copy, &m->debug_bytes, diag);
    } else if (!error) {
        error = zs_diag_set(diag, -EFBIG, ZS_DIAG_NO_OFFSET, "debug data of more than 4 GiB");
    }
    return error;
}

static int open_module(const char *path, struct zs_span bytes,
                       const struct zs_module_options *given, struct zs_module **ret_module,
                       struct zs_diag *diag)
{
    struct zs_module_options options;
    *ret_module = NULL;
    int error = ZS_OPTIONS_TAKE(&options, given, diag);
    if (error)
        return error;
    if (!options.file_limit_B || options.file_limit_B > UINT32_MAX)
        options.file_limit_B = UINT32_MAX;
    struct zs_module_owner *owner = calloc(1, sizeof(*owner));
    if (!owner)
        return zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "no memory for a module");
    zs_arena_init(&owner->arena, ARENA_BASE_B);
    error = open_inputs(owner, path, bytes, &options, diag);
    if (!error)
        error = build(owner, options.verify_checksums, diag);
    if (error) {
        zs_module_close(&owner->module);
        return error;
    }
    *ret_module = &owner->module;
    return 0;
}

int zs_module_open(const char *path, const struct zs_module_options *options,
                   struct zs_module **ret_module, struct zs_diag *diag)
{
    return open_module(path, (struct zs_span){0}, options, ret_module, diag);
}

int zs_module_open_memory(struct zs_span bytes, const struct zs_module_options *options,
                          struct zs_module **ret_module, struct zs_diag *diag)
{
    return open_module(NULL, bytes, options, ret_module, diag);
}

void zs_module_close(struct zs_module *module)
{
    struct zs_module_owner *owner = (struct zs_module_owner *)module;
    if (!owner)
        return;
    zs_file_close(&owner->file);
    zs_file_close(&owner->debug_file);
    free(owner->copy);
    free(owner->debug_copy);
    zs_arena_fini(&owner->arena);
    free(owner);
}
