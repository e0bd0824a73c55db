/* SPDX-License-Identifier: MIT */
/* Sizes of SPIR-V's types, as compilers for 64-bit addresses lay them out. */
#include "driver/module/spirv_words.h"

enum { NESTING_MAX = 8, POINTER_B = 8 };

struct layout {
    uint64_t size_B, align_B; /* 0: not known */
};

static struct layout layout_of(const struct zs_spirv_defs *defs, uint32_t type, int depth);

static struct layout layout_of_array(const struct zs_spirv_defs *defs, uint32_t at, int depth)
{
    int64_t count;
    struct layout element = layout_of(defs, zs_spirv_word(defs->words, at + 2), depth);
    if (!zs_spirv_constant(defs, zs_spirv_word(defs->words, at + 3), &count) || count < 0 ||
        count > UINT32_MAX || element.size_B > UINT32_MAX)
        return (struct layout){0, 0};
    return (struct layout){element.size_B * (uint64_t)count, element.align_B};
}

/* Up to a member, or the end; align 0: not known. */
static struct layout layout_of_struct(const struct zs_spirv_defs *defs, uint32_t type,
                                      uint32_t members, int depth)
{
    uint32_t at = defs->ids[type].at, count = (zs_spirv_word(defs->words, at) >> 16) - 2;
    struct layout all = {0, 1};
    for (uint32_t i = 0; i < count && i <= members; i++) {
        struct layout member = layout_of(defs, zs_spirv_word(defs->words, at + 2 + i), depth);
        if (!member.align_B || all.size_B > UINT32_MAX)
            return (struct layout){0, 0};
        if (defs->ids[type].is_packed)
            member.align_B = 1;
        all.align_B = ZS_MAX(all.align_B, member.align_B);
        all.size_B = zs_align_up(all.size_B, member.align_B);
        all.size_B += i < members ? member.size_B : 0;
    }
    if (members >= count)
        all.size_B = zs_align_up(all.size_B, all.align_B);
    return all;
}

static struct layout layout_of(const struct zs_spirv_defs *defs, uint32_t type, int depth)
{
    const struct layout none = {0, 0};
    uint32_t at = type < defs->bound ? defs->ids[type].at : 0;
    if (!at || depth > NESTING_MAX)
        return none;
    uint32_t first = zs_spirv_word(defs->words, at), length = first >> 16;
    uint64_t bytes = length > 2 ? zs_spirv_word(defs->words, at + 2) / 8 : 0;
    switch (first & 0xffff) {
    case OP_TYPE_INT:
    case OP_TYPE_FLOAT:
        return bytes <= 8 ? (struct layout){bytes, bytes} : none;
    case OP_TYPE_VECTOR: {
        uint32_t elements = length == 4 ? zs_spirv_word(defs->words, at + 3) : 0;
        uint64_t element_B = layout_of(defs, zs_spirv_word(defs->words, at + 2), depth + 1).size_B;
        uint64_t size_B = elements > 16 ? 0 : (elements == 3 ? 4 : elements) * element_B;
        return (struct layout){size_B, size_B};
    }
    case OP_TYPE_ARRAY:
        return length == 4 ? layout_of_array(defs, at, depth + 1) : none;
    case OP_TYPE_STRUCT:
        return layout_of_struct(defs, type, UINT32_MAX, depth + 1);
    case OP_TYPE_POINTER:
        return (struct layout){POINTER_B, POINTER_B};
    default:
        return none;
    }
}

uint64_t zs_spirv_size_B(const struct zs_spirv_defs *defs, uint32_t type)
{
    return layout_of(defs, type, 0).size_B;
}

bool zs_spirv_member_B(const struct zs_spirv_defs *defs, uint32_t type, uint32_t member,
                       uint64_t *ret_offset_B)
{
    struct layout before = layout_of_struct(defs, type, member, 1);
    *ret_offset_B = before.size_B;
    return before.align_B != 0;
}

bool zs_spirv_constant(const struct zs_spirv_defs *defs, uint32_t id, int64_t *ret_value)
{
    uint32_t at = id < defs->bound ? defs->ids[id].at : 0;
    uint32_t first = at ? zs_spirv_word(defs->words, at) : 0, length = first >> 16;
    if ((first & 0xffff) == OP_CONSTANT_NULL) {
        *ret_value = 0;
        return true;
    }
    if ((first & 0xffff) != OP_CONSTANT || length < 4 || length > 5)
        return false;
    uint32_t low = zs_spirv_word(defs->words, at + 3);
    *ret_value = length == 4 ? (int32_t)low
                             : (int64_t)((uint64_t)zs_spirv_word(defs->words, at + 4) << 32 | low);
    return true;
}
