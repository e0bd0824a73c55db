/* SPDX-License-Identifier: MIT */
/* What the readers of the module layer share while a module is being built. */
#ifndef ZS_MODULE_MODULE_PRIV_H
#define ZS_MODULE_MODULE_PRIV_H

#include "base/file.h"
#include "base/reader.h"
#include "base/vec.h"
#include "module/elf.h"
#include "module/module.h"
#include "module/patch.h"

/* Limits that no real module comes near. What they bound stands in docs/formats.md. */
enum {
    ZS_PART_DEPTH_MAX = 6, /* ar in ar in ... */
    ZS_ARG_COUNT_MAX = 4096,
    ZS_BTI_COUNT_MAX = 256,
    ZS_SAMPLER_COUNT_MAX = 256,
    ZS_NOTE_COUNT_MAX = 200,
};

/* The model and what it stands on; the public pointer is to `module`, the first member. */
struct zs_module_owner {
    struct zs_module module;
    struct zs_arena arena;
    struct zs_file file, debug_file;
    uint8_t *copy, *debug_copy; /* of memory that was not borrowed */
};

struct zs_builder {
    struct zs_module *module;
    struct zs_arena *arena;
    struct zs_diag *diag;
    bool verify_checksums;
    uint32_t input;       /* being read: 0 or 1 */
    uint64_t name_left_B; /* budget for names that many headers may share */
    uint32_t note_total;
    struct {
        struct zs_module_note *items;
        size_t count, capacity;
    } notes;
    struct {
        struct zs_part *items;
        size_t count, capacity;
    } parts;
    struct {
        struct zs_image *items;
        size_t count, capacity;
    } images;
    struct {
        struct zs_debug_entry *items;
        size_t count, capacity;
    } debug_entries;
};

/* Bytes of the input with the place they came from. */
struct zs_blob {
    struct zs_span bytes;
    uint64_t offset_B; /* in the builder's input */
};

/* -EFBIG for an allocation that the arena refused: the limit is proportional to the input. */
int zs_builder_no_memory(struct zs_builder *b, uint64_t offset_B);
void zs_builder_note(struct zs_builder *b, uint64_t offset_B, const char *format, ...)
    ZS_PRINTF(3, 4);
/* Append a part; its index in *ret_part. */
int zs_builder_part(struct zs_builder *b, enum zs_container kind, const char *name, uint32_t parent,
                    struct zs_blob blob, uint32_t *ret_part);

/* patch_tokens.c: a blob that starts with SProgramBinaryHeader becomes an image. */
int zs_patch_image_read(struct zs_builder *b, struct zs_blob blob, uint32_t part,
                        struct zs_image *ret_image);
/* patch_kernel.c: the patch list of one kernel whose header and spans are set. */
int zs_patch_kernel_read(struct zs_builder *b, const struct zs_image *image,
                         struct zs_kernel *kernel);
/* Tables 53 and 54, for program and kernel scope. */
int zs_patch_symbols_read(struct zs_builder *b, const struct zs_token *token,
                          struct zs_symbol **ret_symbols, uint32_t *ret_count);
/* zebin.c: an ELF with .ze_info becomes an image. */
int zs_zebin_image_read(struct zs_builder *b, const struct zs_elf *elf, uint32_t part,
                        struct zs_image *ret_image);
/* ze_info.c: the text of .ze_info fills kernels (room of them), functions and host access. */
int zs_ze_info_read(struct zs_builder *b, struct zs_blob text, struct zs_kernel *kernels,
                    uint32_t kernel_room, struct zs_image *image);
/* debug.c: entries of IGC debug data are appended to the builder's; *ret_device is the header's. */
int zs_igc_debug_read(struct zs_builder *b, struct zs_blob blob, uint32_t *ret_device);
/* Entries [first, end of the builder's) to the kernels of an image that have none yet. */
int zs_debug_bind_entries(struct zs_builder *b, struct zs_image *image, size_t first);
/* A zebin given as debug information to the kernels of an image. */
int zs_debug_bind_zebin(struct zs_builder *b, struct zs_image *image, const struct zs_elf *elf,
                        uint32_t part);
/* container.c: one container and all that it holds. */
int zs_container_read(struct zs_builder *b, struct zs_blob blob, const char *name, uint32_t parent,
                      uint32_t depth);
/* ar.c: calls back for each member that is not padding or the archive's own tables. */
int zs_ar_read(struct zs_builder *b, struct zs_blob blob,
               int (*fn)(void *ctx, struct zs_blob member, const char *name), void *ctx);
/* link.c: symbol names of relocations to places. Kernel and image arrays are set. */
int zs_image_resolve(struct zs_builder *b, struct zs_image *image);

/* args.c: text of argument information into the normalised members. */
void zs_arg_set_info(struct zs_arg *arg, const char *address, const char *access, const char *name,
                     const char *type, const char *qualifiers, struct zs_arena *arena);
/* After everything is known: kind of arguments that only the information describes. */
void zs_arg_finish(struct zs_arg *arg);
/* "intel_reqd_sub_group_size(8)": the number behind `key(`, else 0. */
uint32_t zs_attribute_number(const char *attributes, const char *key);
int zs_payload_compare(const void *a, const void *b);
/* GRF size, private memory per thread and the like, from what the reader filled in. */
void zs_kernel_finish(const struct zs_image *image, struct zs_kernel *kernel);

/* devices.c: fills device, device_exact and gfxcore from what is known. */
void zs_image_name_device(struct zs_image *image);
/* "64.9.0.9" or "skl" of an archive member: product_config, or 0. */
uint32_t zs_device_config_of_member(const char *name);
uint32_t zs_gfxcore_grf_B(uint32_t gfxcore);

static inline const char *zs_or_empty(const char *text)
{
    return text ? text : "";
}

#endif
