/* SPDX-License-Identifier: MIT */
/*
 * The patch-token container as it lies in the file: read into spans and written back.
 *
 *     struct zs_patch_module patch;
 *     zs_patch_module_read(bytes, 0, &patch, &diag);
 *     patch.kernels[0].heap = new_code;              // padded; unpadded_B = bytes of code
 *     zs_patch_module_write(&patch, &out);           // checksums computed anew
 *     zs_patch_module_fini(&patch);
 *
 * What was read and not changed is written byte for byte, names' padding and bytes behind the last
 * kernel included. The same for the NEO ELF around it.
 *
 * Source of the layout: patch_list.h of intel-graphics-compiler (SProgramBinaryHeader,
 * SKernelBinaryHeaderCommon), ocl_elf.h of compute-runtime.
 */
#ifndef ZS_MODULE_PATCH_H
#define ZS_MODULE_PATCH_H

#include "base/buf.h"
#include "base/diag.h"
#include "module/elf.h"

enum {
    ZS_PATCH_MAGIC = 0x494e5443, /* "CTNI" */
    ZS_PATCH_VERSION_MIN = 1081,
    ZS_PATCH_VERSION_MAX = 1082, /* token 23 gained HasSample, token 17 a last field */
    ZS_PATCH_PROGRAM_HEADER_B = 28,
    ZS_PATCH_KERNEL_HEADER_B = 40,
    ZS_PATCH_TOKEN_HEADER_B = 8,
    ZS_PATCH_TOKEN_COUNT = 59,
};

struct zs_patch_kernel {
    uint64_t offset_B; /* of the header, in the input; not written */
    uint32_t checksum; /* as read; computed when written */
    uint64_t shader_hash;
    uint32_t unpadded_B; /* bytes of code at the start of heap */
    struct zs_span name; /* with its terminator and padding */
    struct zs_span heap, gsh, dsh, ssh, patch_list;
};

struct zs_patch_module {
    uint32_t version, device, pointer_B, stepping;
    uint64_t offset_B;         /* of the blob in the input; not written */
    struct zs_span patch_list; /* program scope */
    struct zs_patch_kernel *kernels;
    uint32_t kernel_count;
    struct zs_span trailing; /* bytes behind the last kernel */
};

/* 0, -EINVAL, -ENOTSUP (version), -ENOMEM. The spans are those of bytes; close with _fini. */
int zs_patch_module_read(struct zs_span bytes, uint64_t offset_B, struct zs_patch_module *ret,
                         struct zs_diag *diag);
void zs_patch_module_fini(struct zs_patch_module *patch);
/* Append to out; 0, or -EFBIG (a part over 4 GiB), -EINVAL (code longer than its heap, name not a
 * multiple of 4), out->error. */
int zs_patch_module_write(const struct zs_patch_module *patch, struct zs_buf *out);
/* What the checksum member must be, from the kernel's parts. */
uint32_t zs_patch_kernel_checksum(const struct zs_patch_kernel *kernel);

/* Append one token: header and body. */
void zs_patch_token_write(struct zs_buf *out, uint32_t number, struct zs_span body);
/* A list with every token passed through fn: it appends what shall stand there instead to out
 * (copy it with zs_patch_token_copy, change it, or drop it). 0 or -EINVAL. */
int zs_patch_list_rewrite(const struct zs_token_list *list, struct zs_buf *out,
                          void (*fn)(void *ctx, const struct zs_token *token, struct zs_buf *out),
                          void *ctx);
void zs_patch_token_copy(struct zs_buf *out, const struct zs_token *token);

/* One section of the NEO ELF to be written. */
struct zs_neo_section {
    const char *name;
    uint32_t type;
    uint64_t flags;
    struct zs_span bytes;
};
/* Append a NEO ELF with these sections in this order: NULL before, .shstrtab behind them, bodies
 * aligned to 8 bytes, as ocloc and the driver lay it out. elf_type is ZS_ELF_OPENCL_*. */
int zs_neo_elf_write(uint16_t elf_type, const struct zs_neo_section *sections, uint32_t count,
                     struct zs_buf *out);
/* The NEO ELF of an image with its patch tokens replaced; other sections are kept. */
int zs_neo_elf_rewrite(const struct zs_elf *elf, struct zs_span device_binary, struct zs_buf *out);

#endif
