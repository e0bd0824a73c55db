/* SPDX-License-Identifier: MIT */
#include "module/patch.h"

#include "base/reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

static int read_program_header(struct zs_reader *r, struct zs_patch_module *patch)
{
    uint32_t magic = zs_read_u32(r, "magic of the program header");
    patch->version = zs_read_u32(r, "version of the program header");
    patch->device = zs_read_u32(r, "device of the program header");
    patch->pointer_B = zs_read_u32(r, "pointer size of the program header");
    patch->kernel_count = zs_read_u32(r, "kernel count of the program header");
    patch->stepping = zs_read_u32(r, "stepping of the program header");
    uint32_t list_B = zs_read_u32(r, "size of the program's patch list");
    if (r->error)
        return r->error;
    if (magic != ZS_PATCH_MAGIC)
        return zs_diag_set(r->diag, -EINVAL, r->base_B,
                           "magic 0x%08x: 0x%08x of patch tokens expected", magic, ZS_PATCH_MAGIC);
    if (patch->version < ZS_PATCH_VERSION_MIN || patch->version > ZS_PATCH_VERSION_MAX)
        return zs_diag_set(r->diag, -ENOTSUP, r->base_B + 4,
                           "patch list version %u: %d to %d are known", patch->version,
                           ZS_PATCH_VERSION_MIN, ZS_PATCH_VERSION_MAX);
    if (patch->pointer_B != 4 && patch->pointer_B != 8)
        return zs_diag_set(r->diag, -EINVAL, r->base_B + 12, "pointer size %u: 4 or 8 expected",
                           patch->pointer_B);
    patch->patch_list = zs_read_bytes(r, list_B, "patch list of the program");
    if (!r->error && patch->kernel_count > zs_reader_left(r) / ZS_PATCH_KERNEL_HEADER_B)
        return zs_reader_fail(r, -EINVAL, "%u kernels do not fit into the %zu bytes that remain",
                              patch->kernel_count, zs_reader_left(r));
    return r->error;
}

static int read_kernel(struct zs_reader *r, struct zs_patch_kernel *k)
{
    k->offset_B = zs_reader_offset(r);
    k->checksum = zs_read_u32(r, "kernel checksum");
    k->shader_hash = zs_read_u64(r, "kernel hash");
    uint32_t name_B = zs_read_u32(r, "kernel name size");
    uint32_t list_B = zs_read_u32(r, "kernel patch list size");
    uint32_t heap_B = zs_read_u32(r, "kernel heap size");
    uint32_t gsh_B = zs_read_u32(r, "general state heap size");
    uint32_t dsh_B = zs_read_u32(r, "dynamic state heap size");
    uint32_t ssh_B = zs_read_u32(r, "surface state heap size");
    k->unpadded_B = zs_read_u32(r, "unpadded kernel size");
    k->name = zs_read_bytes(r, name_B, "kernel name");
    k->heap = zs_read_bytes(r, heap_B, "kernel heap");
    k->gsh = zs_read_bytes(r, gsh_B, "general state heap");
    k->dsh = zs_read_bytes(r, dsh_B, "dynamic state heap");
    k->ssh = zs_read_bytes(r, ssh_B, "surface state heap");
    k->patch_list = zs_read_bytes(r, list_B, "patch list of the kernel");
    if (!r->error && k->unpadded_B > heap_B)
        return zs_diag_set(r->diag, r->error = -EINVAL, k->offset_B + 36,
                           "%u bytes of code in a kernel heap of %u", k->unpadded_B, heap_B);
    return r->error;
}

int zs_patch_module_read(struct zs_span bytes, uint64_t offset_B, struct zs_patch_module *ret,
                         struct zs_diag *diag)
{
    struct zs_reader r = zs_reader_make(bytes, offset_B, diag);
    struct zs_patch_module patch = {.offset_B = offset_B};
    int error = read_program_header(&r, &patch);
    if (error)
        return error;
    patch.kernels = calloc(patch.kernel_count ? patch.kernel_count : 1, sizeof(*patch.kernels));
    if (!patch.kernels)
        return zs_diag_set(diag, -ENOMEM, offset_B, "no memory for %u kernels", patch.kernel_count);
    for (uint32_t i = 0; i < patch.kernel_count && !error; i++)
        error = read_kernel(&r, &patch.kernels[i]);
    if (error) {
        zs_patch_module_fini(&patch);
        return error;
    }
    patch.trailing = zs_read_bytes(&r, zs_reader_left(&r), "trailing bytes");
    *ret = patch;
    return 0;
}

void zs_patch_module_fini(struct zs_patch_module *patch)
{
    free(patch->kernels);
    *patch = (struct zs_patch_module){0};
}

/*
 * Checksum of a kernel (hash.h of compute-runtime): Bob Jenkins' 96-bit mix over the words of
 * everything behind the header; the low word of the state is stored. The stream is the
 * concatenation of the parts, which need not be multiples of 4, so words may span two of them.
 */
struct hash {
    uint32_t a, hi, lo;
    uint32_t pending, pending_B;
};

static void hash_word(struct hash *h, uint32_t word)
{
    static const struct {
        uint8_t left, by;
    } shifts[9] = {{0, 13}, {1, 8}, {0, 13}, {0, 12}, {1, 16}, {0, 5}, {0, 3}, {1, 10}, {0, 15}};
    uint32_t v[3] = {h->a ^ word, h->hi, h->lo};
#pragma GCC unroll 9
    for (unsigned i = 0; i < 9; i++) {
        uint32_t b = v[(i + 1) % 3], c = v[(i + 2) % 3];
        uint32_t shifted = shifts[i].left ? c << shifts[i].by : c >> shifts[i].by;
        v[i % 3] = (v[i % 3] - b - c) ^ shifted;
    }
    h->a = v[0];
    h->hi = v[1];
    h->lo = v[2];
}

static void hash_span(struct hash *h, struct zs_span span)
{
    size_t i = 0;
    for (; i < span.size_B && h->pending_B; i++) {
        h->pending |= (uint32_t)span.data[i] << (8 * h->pending_B);
        h->pending_B = (h->pending_B + 1) & 3;
        if (!h->pending_B) {
            hash_word(h, h->pending);
            h->pending = 0;
        }
    }
    for (; span.size_B - i >= 4; i += 4)
        hash_word(h, zs_load_u32(span.data + i));
    for (; i < span.size_B; i++)
        h->pending |= (uint32_t)span.data[i] << (8 * h->pending_B++);
}

uint32_t zs_patch_kernel_checksum(const struct zs_patch_kernel *k)
{
    struct hash h = {.a = 0x428a2f98, .hi = 0x71374491, .lo = 0xb5c0fbcf};
    const struct zs_span parts[] = {k->name, k->heap, k->gsh, k->dsh, k->ssh, k->patch_list};
    for (size_t i = 0; i < ZS_ARRAY_LEN(parts); i++)
        hash_span(&h, parts[i]);
    if (h.pending_B)
        hash_word(&h, h.pending);
    return h.lo;
}

/* --- writer --- */

static void put_u16(struct zs_buf *out, uint16_t value)
{
    const uint8_t bytes[2] = {(uint8_t)value, (uint8_t)(value >> 8)};
    zs_buf_append(out, bytes, sizeof(bytes));
}

static void put_u32(struct zs_buf *out, uint32_t value)
{
    put_u16(out, (uint16_t)value);
    put_u16(out, (uint16_t)(value >> 16));
}

static void put_u64(struct zs_buf *out, uint64_t value)
{
    put_u32(out, (uint32_t)value);
    put_u32(out, (uint32_t)(value >> 32));
}

static void put_span(struct zs_buf *out, struct zs_span span)
{
    zs_buf_append(out, span.data, span.size_B);
}

static int write_kernel(const struct zs_patch_kernel *k, struct zs_buf *out)
{
    const struct zs_span parts[] = {k->name, k->heap, k->gsh, k->dsh, k->ssh, k->patch_list};
    for (size_t i = 0; i < ZS_ARRAY_LEN(parts); i++)
        if (parts[i].size_B > UINT32_MAX)
            return -EFBIG;
    if (k->unpadded_B > k->heap.size_B || k->name.size_B % 4)
        return -EINVAL;
    put_u32(out, zs_patch_kernel_checksum(k));
    put_u64(out, k->shader_hash);
    put_u32(out, (uint32_t)k->name.size_B);
    put_u32(out, (uint32_t)k->patch_list.size_B);
    put_u32(out, (uint32_t)k->heap.size_B);
    put_u32(out, (uint32_t)k->gsh.size_B);
    put_u32(out, (uint32_t)k->dsh.size_B);
    put_u32(out, (uint32_t)k->ssh.size_B);
    put_u32(out, k->unpadded_B);
    for (size_t i = 0; i < ZS_ARRAY_LEN(parts); i++)
        put_span(out, parts[i]);
    return out->error;
}

int zs_patch_module_write(const struct zs_patch_module *patch, struct zs_buf *out)
{
    if (patch->patch_list.size_B > UINT32_MAX)
        return -EFBIG;
    put_u32(out, ZS_PATCH_MAGIC);
    put_u32(out, patch->version);
    put_u32(out, patch->device);
    put_u32(out, patch->pointer_B);
    put_u32(out, patch->kernel_count);
    put_u32(out, patch->stepping);
    put_u32(out, (uint32_t)patch->patch_list.size_B);
    put_span(out, patch->patch_list);
    int error = out->error;
    for (uint32_t i = 0; i < patch->kernel_count && !error; i++)
        error = write_kernel(&patch->kernels[i], out);
    put_span(out, patch->trailing);
    return error ? error : out->error;
}

void zs_patch_token_write(struct zs_buf *out, uint32_t number, struct zs_span body)
{
    put_u32(out, number);
    put_u32(out, (uint32_t)(ZS_PATCH_TOKEN_HEADER_B + body.size_B));
    put_span(out, body);
}

void zs_patch_token_copy(struct zs_buf *out, const struct zs_token *token)
{
    zs_patch_token_write(out, token->number, token->body);
    put_span(out, token->inline_data);
}

int zs_patch_list_rewrite(const struct zs_token_list *list, struct zs_buf *out,
                          void (*fn)(void *ctx, const struct zs_token *token, struct zs_buf *out),
                          void *ctx)
{
    size_t cursor = 0;
    struct zs_token token;
    while (zs_token_next(list, &cursor, &token))
        fn(ctx, &token, out);
    return out->error;
}

enum { EHDR_B = 64, PHDR_B = 56, SHDR_B = 64 };

static void write_elf_header(uint16_t elf_type, uint16_t sections, struct zs_buf *out)
{
    static const uint8_t ident[16] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
    zs_buf_append(out, ident, sizeof(ident));
    put_u16(out, elf_type);
    put_u16(out, 0); /* machine */
    put_u32(out, 1); /* version */
    put_u64(out, 0); /* entry */
    put_u64(out, 0); /* program headers */
    put_u64(out, EHDR_B);
    put_u32(out, 0); /* flags */
    put_u16(out, EHDR_B);
    put_u16(out, PHDR_B);
    put_u16(out, 0);
    put_u16(out, SHDR_B);
    put_u16(out, sections);
    put_u16(out, (uint16_t)(sections - 1));
}

static void write_section_header(struct zs_buf *out, uint32_t name, uint32_t type, uint64_t flags,
                                 uint64_t offset_B, uint64_t size_B, uint64_t align_B)
{
    put_u32(out, name);
    put_u32(out, type);
    put_u64(out, flags);
    put_u64(out, 0); /* address */
    put_u64(out, offset_B);
    put_u64(out, size_B);
    put_u32(out, 0); /* link */
    put_u32(out, 0); /* info */
    put_u64(out, align_B);
    put_u64(out, 0); /* entry size */
}

/* The name table starts with "" and ".shstrtab", the others follow in order. */
static uint32_t append_name(struct zs_buf *names, const char *name)
{
    if (!name[0])
        return 0;
    uint32_t at = (uint32_t)names->size_B;
    zs_buf_append(names, name, strlen(name) + 1);
    return at;
}

int zs_neo_elf_write(uint16_t elf_type, const struct zs_neo_section *sections, uint32_t count,
                     struct zs_buf *out)
{
    if (count > UINT16_MAX - 2)
        return -EFBIG;
    struct zs_buf names = {0}, body = {0};
    zs_buf_append(&names, "\0.shstrtab", sizeof("\0.shstrtab"));
    write_elf_header(elf_type, (uint16_t)(count + 2), out);
    write_section_header(out, 0, ZS_SHT_NULL, 0, 0, 0, 0);
    const uint64_t base_B = EHDR_B + SHDR_B * ((uint64_t)count + 2);
    for (uint32_t i = 0; i < count; i++) {
        write_section_header(out, append_name(&names, sections[i].name), sections[i].type,
                             sections[i].flags, base_B + body.size_B, sections[i].bytes.size_B, 8);
        put_span(&body, sections[i].bytes);
        zs_buf_pad(&body, 0, (size_t)(zs_align_up(body.size_B, 8) - body.size_B));
    }
    size_t names_B = names.size_B;
    write_section_header(out, 1, ZS_SHT_STRTAB, 0, base_B + body.size_B, names_B, 8);
    zs_buf_pad(&names, 0, (size_t)(zs_align_up(names_B, 8) - names_B));
    put_span(out, zs_buf_span(&body));
    put_span(out, zs_buf_span(&names));
    int error = out->error ? out->error : body.error ? body.error : names.error;
    zs_buf_fini(&names);
    zs_buf_fini(&body);
    return error;
}

int zs_neo_elf_rewrite(const struct zs_elf *elf, struct zs_span device_binary, struct zs_buf *out)
{
    if (elf->section_count < 2)
        return -EINVAL;
    struct zs_neo_section *sections = calloc(elf->section_count, sizeof(*sections));
    if (!sections)
        return -ENOMEM;
    uint32_t count = 0;
    for (uint32_t i = 0; i < elf->section_count; i++) {
        const struct zs_section *s = &elf->sections[i];
        if (s->type == ZS_SHT_NULL || s->type == ZS_SHT_STRTAB)
            continue;
        sections[count++] = (struct zs_neo_section){
            .name = s->name,
            .type = s->type,
            .flags = s->flags,
            .bytes = s->type == ZS_SHT_DEVICE_BINARY ? device_binary : s->bytes,
        };
    }
    int error = zs_neo_elf_write(elf->type, sections, count, out);
    free(sections);
    return error;
}
