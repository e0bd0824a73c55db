/* SPDX-License-Identifier: MIT */
/* The text of .ze_info, in a zebin with code for kernels k1, k2 and kernel. */
#include "walk.h"

#include "base/buf.h"
#include "module/elf.h"

static const struct {
    const char *name;
    uint32_t type;
} sections[] = {
    {"", 0},
    {".text.k1", ZS_SHT_PROGBITS},
    {".text.k2", ZS_SHT_PROGBITS},
    {".text.kernel", ZS_SHT_PROGBITS},
    {".ze_info", ZS_SHT_ZEINFO},
    {".shstrtab", ZS_SHT_STRTAB},
};
enum { COUNT = ZS_ARRAY_LEN(sections), EHDR_B = 64, SHDR_B = 64, CODE_B = 16 };

static void put(struct zs_buf *buf, uint64_t value, size_t size_B)
{
    for (size_t i = 0; i < size_B; i++)
        zs_buf_putc(buf, (char)(value >> (8 * i)));
}

static void put_section(struct zs_buf *out, uint32_t name, uint32_t type, uint64_t offset_B,
                        uint64_t size_B)
{
    put(out, name, 4);
    put(out, type, 4);
    zs_buf_pad(out, 0, 16); /* flags and address */
    put(out, offset_B, 8);
    put(out, size_B, 8);
    zs_buf_pad(out, 0, 8 + 16); /* link, info, alignment, entry size */
}

static void make_zebin(struct zs_buf *out, struct zs_span text)
{
    struct zs_buf names = {0};
    zs_buf_append(out, "\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\1\0\315\0\1\0\0\0", 24);
    zs_buf_pad(out, 0, 16); /* entry and program headers */
    put(out, EHDR_B, 8);
    zs_buf_pad(out, 0, 4 + 6);
    put(out, SHDR_B, 2);
    put(out, COUNT, 2);
    put(out, COUNT - 1, 2);
    uint64_t body_B = EHDR_B + (uint64_t)SHDR_B * COUNT, names_B = 0;
    for (uint32_t i = 0; i < COUNT; i++)
        names_B += strlen(sections[i].name) + 1;
    for (uint32_t i = 0; i < COUNT; i++) {
        uint64_t size_B = sections[i].type == ZS_SHT_ZEINFO   ? text.size_B
                          : sections[i].type == ZS_SHT_STRTAB ? names_B
                          : i                                 ? (uint64_t)CODE_B
                                                              : 0;
        put_section(out, (uint32_t)names.size_B, sections[i].type, body_B, size_B);
        zs_buf_append(&names, sections[i].name, strlen(sections[i].name) + 1);
        body_B += size_B;
    }
    zs_buf_pad(out, 0, 3 * CODE_B);
    zs_buf_append(out, text.data, text.size_B);
    zs_buf_append(out, names.data, names.size_B);
    zs_buf_fini(&names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B)
{
    struct zs_buf zebin = {0};
    make_zebin(&zebin, zs_span_make(data, size_B));
    zs_fuzz_module(zs_buf_span(&zebin), (struct zs_span){0});
    zs_buf_fini(&zebin);
    return 0;
}
