/* SPDX-License-Identifier: MIT */
/*
 * Breakpoints in the code: a bit of an instruction (bit 30, of compacted ones bit 7), set as long
 * as any breakpoint that is on has it.
 */
#include "debugger/debugger_priv.h"

#include <errno.h>

/* The byte that has the bit of the instruction at an offset, and the bit; NULL: none begins there.
 */
static uint8_t *bit_of(uint8_t *code, uint64_t size_B, uint64_t offset_B, uint8_t *ret_bit)
{
    uint64_t at_B = 0;
    while (at_B < offset_B && size_B - at_B >= 8)
        at_B += code[at_B + 3] >> 5 & 1 ? 8 : 16;
    if (at_B != offset_B || size_B < at_B || size_B - at_B < 8)
        return NULL;
    bool compact = code[at_B + 3] >> 5 & 1;
    *ret_bit = compact ? 1u << 7 : 1u << 6;
    return code + at_B + (compact ? 0 : 3);
}

void zs_dbg_put_bits(const struct zs_debugger *d, const struct zs_dbg_kernel *k, uint8_t *code,
                     bool on)
{
    for (size_t i = 0; i < d->inserted.count; i++) {
        uint64_t va = d->inserted.items[i].va;
        uint8_t bit, *byte = NULL;
        if (va >= k->va && va - k->va < k->size_B)
            byte = bit_of(code, k->size_B, va - k->va, &bit);
        if (byte)
            *byte = (uint8_t)(on ? *byte | bit : *byte & ~bit);
    }
}

static int set_bit(struct zs_debugger *d, uint64_t va, bool on)
{
    uint32_t word;
    const struct zs_dbg_kernel *k = zs_dbg_kernel_at(d, va);
    uint8_t unused;
    if (k && !bit_of(k->code, k->size_B, va - k->va, &unused))
        return -ENOENT; /* of code that was written since the breakpoint was made */
    int error = zs_dbg_access(d, NULL, ZS_DEBUG_SPACE_GLOBAL, va, &word, sizeof(word), false);
    if (error)
        return error;
    uint32_t bit = word >> 29 & 1 ? 1u << 7 : 1u << 30;
    word = on ? word | bit : word & ~bit;
    return zs_dbg_access(d, NULL, ZS_DEBUG_SPACE_GLOBAL, va, &word, sizeof(word), true);
}

static struct zs_dbg_inserted *find_inserted(const struct zs_debugger *d, uint64_t va)
{
    for (size_t i = 0; i < d->inserted.count; i++)
        if (d->inserted.items[i].va == va)
            return &d->inserted.items[i];
    return NULL;
}

bool zs_dbg_is_inserted(const struct zs_debugger *d, uint64_t va)
{
    return find_inserted(d, va) != NULL;
}

void zs_dbg_insert(struct zs_debugger *d, uint64_t va)
{
    struct zs_dbg_inserted *known = find_inserted(d, va);
    if (known)
        known->users++;
    else if (set_bit(d, va, true) == 0)
        (void)ZS_VEC_PUSH(&d->inserted, ((struct zs_dbg_inserted){va, 1}));
}

void zs_dbg_take_out(struct zs_debugger *d, uint64_t va)
{
    struct zs_dbg_inserted *known = find_inserted(d, va);
    if (!known || --known->users)
        return;
    (void)set_bit(d, va, false);
    *known = d->inserted.items[--d->inserted.count];
}

void zs_dbg_hide_inserted(const struct zs_debugger *d, uint64_t va, uint8_t *bytes, size_t size_B)
{
    for (size_t i = 0; i < d->inserted.count; i++) {
        uint64_t at = d->inserted.items[i].va;
        const struct zs_dbg_kernel *k = zs_dbg_kernel_at(d, at);
        for (uint32_t b = 0; k && b < 4; b++)
            if (at + b >= va && at + b - va < size_B)
                bytes[at + b - va] = k->code[at + b - k->va];
    }
}
