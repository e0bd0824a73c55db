/* SPDX-License-Identifier: MIT */
/*
 * The common archive format: a magic, then members with a 60-byte text header, each aligned to 2
 * bytes. ocloc names them "64.9.0.9/" (pointer size and device version) and puts "pad_N" members
 * between them, so that the ELFs are aligned. Long names: GNU ("//" table and "/offset") and BSD
 * ("#1/length").
 */
#include "module/module_priv.h"

#include <errno.h>

enum { MAGIC_B = 8, NAME_B = 16 };

static bool read_decimal(struct zs_span field, uint64_t *ret)
{
    size_t i = 0;
    *ret = 0;
    for (; i < field.size_B && field.data[i] >= '0' && field.data[i] <= '9'; i++)
        *ret = *ret * 10 + (uint64_t)(field.data[i] - '0');
    bool any = i != 0;
    for (; i < field.size_B; i++)
        if (field.data[i] != ' ')
            return false;
    return any;
}

static const char *copy_name(struct zs_builder *b, struct zs_span name)
{
    size_t size_B = 0;
    while (size_B < name.size_B && name.data[size_B] != '/' && name.data[size_B] != '\n' &&
           name.data[size_B] != '\0')
        size_B++;
    while (size_B && name.data[size_B - 1] == ' ')
        size_B--;
    return size_B ? zs_arena_strndup(b->arena, name.data, size_B) : "";
}

/* Name of a member, which may stand at the start of its bytes (BSD) or in the table (GNU). */
static const char *member_name(struct zs_builder *b, struct zs_span field, struct zs_span table,
                               struct zs_blob *member)
{
    uint64_t number;
    struct zs_span text;
    if (!memcmp(field.data, "#1/", 3)) {
        if (!read_decimal(zs_span_make(field.data + 3, NAME_B - 3), &number) ||
            !zs_span_sub(member->bytes, 0, number, &text))
            return "";
        member->bytes = zs_span_make(member->bytes.data + number, member->bytes.size_B - number);
        member->offset_B += number;
        return copy_name(b, text);
    }
    if (field.data[0] == '/' && field.data[1] >= '0' && field.data[1] <= '9') {
        if (!read_decimal(zs_span_make(field.data + 1, NAME_B - 1), &number) ||
            number > table.size_B || !zs_span_sub(table, number, table.size_B - number, &text))
            return "";
        return copy_name(b, zs_span_make(text.data, ZS_MIN(text.size_B, (size_t)1024)));
    }
    return copy_name(b, field);
}

int zs_ar_read(struct zs_builder *b, struct zs_blob blob,
               int (*fn)(void *ctx, struct zs_blob member, const char *name), void *ctx)
{
    struct zs_reader r = zs_reader_make(blob.bytes, blob.offset_B, b->diag);
    struct zs_span table = {0};
    int error = 0;
    zs_read_skip(&r, MAGIC_B, "archive magic");
    while (!error && zs_reader_left(&r) > 1) {
        uint64_t size_B = 0;
        struct zs_span field = zs_read_bytes(&r, NAME_B, "archive member name");
        zs_read_skip(&r, 12 + 6 + 6 + 8, "archive member header");
        struct zs_span size = zs_read_bytes(&r, 10, "archive member size");
        uint16_t end = zs_read_u16(&r, "end of an archive member header");
        if (r.error)
            return r.error;
        if (end != 0x0a60 || !read_decimal(size, &size_B))
            return zs_reader_fail(&r, -EINVAL,
                                  "archive member header: a decimal size and \"`\\n\" "
                                  "expected");
        uint64_t at_B = zs_reader_offset(&r);
        struct zs_blob member = {zs_read_bytes(&r, size_B, "archive member"), at_B};
        zs_read_skip(&r, ZS_MIN(size_B & 1, zs_reader_left(&r)), "archive padding");
        if (r.error)
            return r.error;
        if (!memcmp(field.data, "// ", 3)) {
            table = member.bytes;
            continue;
        }
        if (!memcmp(field.data, "/ ", 2) || !memcmp(field.data, "pad_", 4))
            continue;
        const char *name = member_name(b, field, table, &member);
        error = name ? fn(ctx, member, name) : zs_builder_no_memory(b, at_B);
    }
    return error;
}
