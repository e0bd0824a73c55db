/* SPDX-License-Identifier: MIT */
/* Whether code counts on its sub-groups: then lanes of one hardware thread are in step by intent.
 */
#include "driver/module/compile.h"

#include "base/reader.h"

enum {
    HEADER_WORDS = 5,
    OP_CONSTANT = 43,
    OP_DECORATE = 71,
    DECORATION_BUILT_IN = 11,
    SCOPE_SUBGROUP = 3,
    SCOPES_MAX = 16,
};

/* Operations whose operand at `scope_at` is a scope, or that are of sub-groups whatever it is. */
static const struct {
    uint32_t first, last, scope_at; /* 0: they have none */
} operations[] = {
    {224, 225, 1},   /* OpControlBarrier, OpMemoryBarrier */
    {261, 271, 3},   /* OpGroupAll to OpGroupSMax */
    {333, 366, 3},   /* OpGroupNonUniform... */
    {4421, 4432, 0}, /* sub-group ballot and vote of KHR */
    {5571, 5581, 0}, /* shuffles and blocks of INTEL */
};

enum { BUILT_IN_FIRST = 36, BUILT_IN_LAST = 41 }; /* SubgroupSize to SubgroupLocalInvocationId */

struct scopes {
    uint32_t ids[SCOPES_MAX], count; /* constants that may be the scope of a sub-group */
    bool full;
};

static bool is_sub_group(const struct scopes *s, uint32_t id)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (s->ids[i] == id)
            return true;
    return s->full;
}

static bool counts_on_it(const uint8_t *at, uint32_t opcode, uint32_t length, struct scopes *s)
{
    if (opcode == OP_CONSTANT && length == 4 && zs_load_u32(at + 12) == SCOPE_SUBGROUP) {
        s->full |= s->count == SCOPES_MAX;
        s->ids[s->count % SCOPES_MAX] = zs_load_u32(at + 8);
        s->count += s->count < SCOPES_MAX;
    }
    if (opcode == OP_DECORATE && length == 4 && zs_load_u32(at + 8) == DECORATION_BUILT_IN)
        return zs_load_u32(at + 12) >= BUILT_IN_FIRST && zs_load_u32(at + 12) <= BUILT_IN_LAST;
    for (uint32_t i = 0; i < ZS_ARRAY_LEN(operations); i++) {
        uint32_t scope_at = operations[i].scope_at;
        if (opcode >= operations[i].first && opcode <= operations[i].last && scope_at < length &&
            (!scope_at || is_sub_group(s, zs_load_u32(at + 4 * (size_t)scope_at))))
            return true;
    }
    return false;
}

bool zs_spirv_has_sub_groups(struct zs_span spirv)
{
    struct scopes scopes = {.count = 0};
    size_t count = spirv.size_B / 4;
    for (size_t at = HEADER_WORDS; at < count;) {
        uint32_t first = zs_load_u32(spirv.data + 4 * at), length = first >> 16;
        if (!length || length > count - at ||
            counts_on_it(spirv.data + 4 * at, first & 0xffff, length, &scopes))
            return true;
        at += length;
    }
    return false;
}
