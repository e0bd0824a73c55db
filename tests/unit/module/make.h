/* SPDX-License-Identifier: MIT */
/* Containers made by hand, word by word, for the tests of the readers. */
#ifndef ZS_TESTS_UNIT_MODULE_MAKE_H
#define ZS_TESTS_UNIT_MODULE_MAKE_H

#include "base/buf.h"
#include "module/elf.h"
#include "module/module.h"

/* Little-endian words behind each other. */
void put_u16(struct zs_buf *buf, uint16_t value);
void put_u32(struct zs_buf *buf, uint32_t value);
void put_u64(struct zs_buf *buf, uint64_t value);
void put_text(struct zs_buf *buf, const char *text, size_t size_B); /* padded with zeros */
void set_u32(struct zs_buf *buf, size_t at_B, uint32_t value);

/* A patch token of dwords. */
void put_token(struct zs_buf *buf, uint32_t number, const uint32_t *words, size_t count);
#define TOKEN(buf, number, ...)                                                                    \
    put_token((buf), (number), (const uint32_t[]){__VA_ARGS__},                                    \
              sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

struct made_kernel {
    const char *name;
    size_t code_B, heap_B, dsh_B, ssh_B;
    struct zs_buf tokens;
};
/* A blob with these kernels; the patch lists are taken over and freed. Checksums are right. */
void make_patch_blob(struct zs_buf *out, struct zs_buf *program, struct made_kernel *kernels,
                     uint32_t count);
/* The tokens that every kernel has: environment (SIMD 8), payload, 64 bytes of cross-thread data.
 */
void put_usual_tokens(struct zs_buf *tokens);

struct made_section {
    const char *name;
    uint32_t type;
    const void *data;
    size_t size_B; /* 0: strlen(data) */
    uint32_t link, info;
    uint64_t entry_B;
};
/* An ELF64 of that type and machine with a NULL section before and .shstrtab behind. */
void make_elf(struct zs_buf *out, uint16_t type, uint16_t machine,
              const struct made_section *sections, uint32_t count);

void put_ar_member(struct zs_buf *out, const char *name, struct zs_span data);

#endif
