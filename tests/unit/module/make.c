/* SPDX-License-Identifier: MIT */
#include "make.h"

#include "module/patch.h"

#include <stdio.h>

void put_u16(struct zs_buf *buf, uint16_t value)
{
    zs_buf_putc(buf, (char)value);
    zs_buf_putc(buf, (char)(value >> 8));
}

void put_u32(struct zs_buf *buf, uint32_t value)
{
    put_u16(buf, (uint16_t)value);
    put_u16(buf, (uint16_t)(value >> 16));
}

void put_u64(struct zs_buf *buf, uint64_t value)
{
    put_u32(buf, (uint32_t)value);
    put_u32(buf, (uint32_t)(value >> 32));
}

void put_text(struct zs_buf *buf, const char *text, size_t size_B)
{
    size_t length = strlen(text);
    zs_buf_append(buf, text, ZS_MIN(length, size_B));
    zs_buf_pad(buf, 0, length < size_B ? size_B - length : 0);
}

void set_u32(struct zs_buf *buf, size_t at_B, uint32_t value)
{
    zs_assert(at_B + 4 <= buf->size_B);
    for (int i = 0; i < 4; i++)
        buf->data[at_B + (size_t)i] = (uint8_t)(value >> (8 * i));
}

void put_token(struct zs_buf *buf, uint32_t number, const uint32_t *words, size_t count)
{
    put_u32(buf, number);
    put_u32(buf, (uint32_t)(8 + 4 * count));
    for (size_t i = 0; i < count; i++)
        put_u32(buf, words[i]);
}

void put_usual_tokens(struct zs_buf *tokens)
{
    TOKEN(tokens, 25, 64);
    TOKEN(tokens, 23, 0, 0, 0, 8, 0, 1, 0, 1, 0, 0);
    TOKEN(tokens, 22, 0, 1, 1, 1, 0, 1, 0, 0, 0, 0);
}

void make_patch_blob(struct zs_buf *out, struct zs_buf *program, struct made_kernel *kernels,
                     uint32_t count)
{
    static const uint8_t zeros[4096];
    struct zs_patch_kernel raw[8] = {0};
    struct zs_buf names[8] = {0};
    struct zs_patch_module patch = {.version = 1081,
                                    .device = 12,
                                    .pointer_B = 8,
                                    .stepping = 9,
                                    .kernels = raw,
                                    .kernel_count = count};
    zs_assert(count <= ZS_ARRAY_LEN(raw));
    if (program)
        patch.patch_list = zs_buf_span(program);
    for (uint32_t i = 0; i < count; i++) {
        struct made_kernel *k = &kernels[i];
        put_text(&names[i], k->name, (strlen(k->name) + 4) & ~(size_t)3);
        raw[i] = (struct zs_patch_kernel){
            .shader_hash = 0x1122334455667788,
            .unpadded_B = (uint32_t)k->code_B,
            .name = zs_buf_span(&names[i]),
            .heap = zs_span_make(zeros, k->heap_B),
            .dsh = zs_span_make(zeros, k->dsh_B),
            .ssh = zs_span_make(zeros, k->ssh_B),
            .patch_list = zs_buf_span(&k->tokens),
        };
    }
    zs_assert(zs_patch_module_write(&patch, out) == 0);
    for (uint32_t i = 0; i < count; i++) {
        zs_buf_fini(&names[i]);
        zs_buf_fini(&kernels[i].tokens);
    }
    if (program)
        zs_buf_fini(program);
}

static size_t size_of(const struct made_section *s)
{
    return s->size_B || !s->data ? s->size_B : strlen(s->data);
}

static void put_section_header(struct zs_buf *out, uint32_t name, const struct made_section *s,
                               uint64_t offset_B)
{
    put_u32(out, name);
    put_u32(out, s->type);
    put_u64(out, 0);
    put_u64(out, 0);
    put_u64(out, offset_B);
    put_u64(out, size_of(s));
    put_u32(out, s->link);
    put_u32(out, s->info);
    put_u64(out, 8);
    put_u64(out, s->entry_B);
}

void make_elf(struct zs_buf *out, uint16_t type, uint16_t machine,
              const struct made_section *sections, uint32_t count)
{
    struct zs_buf names = {0}, body = {0};
    uint32_t name_of[32];
    zs_assert(count <= ZS_ARRAY_LEN(name_of));
    zs_buf_putc(&names, 0);
    for (uint32_t i = 0; i < count; i++) {
        name_of[i] = (uint32_t)names.size_B;
        zs_buf_append(&names, sections[i].name, strlen(sections[i].name) + 1);
    }
    uint32_t own_name = (uint32_t)names.size_B;
    zs_buf_append(&names, ".shstrtab", 10);
    zs_buf_append(out, "\177ELF\2\1\1\0\0\0\0\0\0\0\0\0", 16);
    put_u16(out, type);
    put_u16(out, machine);
    put_u32(out, 1);
    put_u64(out, 0);
    put_u64(out, 0);
    put_u64(out, 64);
    put_u32(out, 0);
    put_u16(out, 64);
    put_u16(out, 56);
    put_u16(out, 0);
    put_u16(out, 64);
    put_u16(out, (uint16_t)(count + 2));
    put_u16(out, (uint16_t)(count + 1));
    uint64_t base_B = 64 + 64 * ((uint64_t)count + 2);
    put_section_header(out, 0, &(struct made_section){0}, 0);
    for (uint32_t i = 0; i < count; i++) {
        put_section_header(out, name_of[i], &sections[i], base_B + body.size_B);
        if (sections[i].type != ZS_SHT_NOBITS)
            zs_buf_append(&body, sections[i].data, size_of(&sections[i]));
    }
    struct made_section last = {.type = ZS_SHT_STRTAB, .data = names.data, .size_B = names.size_B};
    put_section_header(out, own_name, &last, base_B + body.size_B);
    zs_buf_append(out, body.data, body.size_B);
    zs_buf_append(out, names.data, names.size_B);
    zs_buf_fini(&names);
    zs_buf_fini(&body);
}

void put_ar_member(struct zs_buf *out, const char *name, struct zs_span data)
{
    zs_buf_printf(out, "%-16s%-12d%-6d%-6d%-8s%-10zu`\n", name, 0, 0, 0, "644", data.size_B);
    zs_buf_append(out, data.data, data.size_B);
    zs_buf_pad(out, '\n', data.size_B & 1);
}
