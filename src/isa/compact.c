/* SPDX-License-Identifier: MIT */
#include "isa/compact.h"
#include "isa/layout.h"

enum table_id {
    TABLE_COPY,
    TABLE_SIGN,
#define ZS_COMPACT_TABLE(name, ...) TABLE_##name,
#include "isa/compact_tables.def"
#undef ZS_COMPACT_TABLE
    TABLE_COUNT,
};

#define ZS_COMPACT_TABLE(name, ...) static const uint64_t table_##name[] = {__VA_ARGS__};
#include "isa/compact_tables.def"
#undef ZS_COMPACT_TABLE

static const struct {
    const uint64_t *patterns;
    uint32_t count;
} tables[TABLE_COUNT] = {
#define ZS_COMPACT_TABLE(name, ...) [TABLE_##name] = {table_##name, ZS_ARRAY_LEN(table_##name)},
#include "isa/compact_tables.def"
#undef ZS_COMPACT_TABLE
};

#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)
/* Where each set begins: its marker has the number of the row behind it. */
enum {
#define ZS_COMPACT_SET(name) BEGIN_##name, BEFORE_##name = BEGIN_##name - 1,
#define ZS_COMPACT(...)      JOIN(ROW_, __LINE__),
#include "isa/compact.def"
#undef ZS_COMPACT_SET
#undef ZS_COMPACT
    ROW_COUNT,
};
static const uint16_t begins[ZS_COMPACT_SET_COUNT + 1] = {
#define ZS_COMPACT_SET(name) BEGIN_##name,
#define ZS_COMPACT(...)
#include "isa/compact.def"
#undef ZS_COMPACT_SET
#undef ZS_COMPACT
    ROW_COUNT,
};

struct row {
    uint8_t lo, width, table; /* bits of the compacted instruction */
    uint8_t pattern_lo, pattern_width, full_lo, full_width;
    uint8_t below; /* bits of the index below bit 29, where it passes that */
};
/* clang-format off */
#define ROW(hi, lo, table, pattern_hi, pattern_lo, full_hi, full_lo)                               \
    {                                                                                              \
        (lo), (hi) - (lo) + 1, TABLE_##table,                                                      \
        (pattern_lo), (pattern_hi) - (pattern_lo) + 1, (full_lo), (full_hi) - (full_lo) + 1,       \
        (uint8_t)((lo) < 29 && (hi) > 29 ? 29 - (lo) : 0),                                         \
    }
/* clang-format on */

static const struct row rows[ROW_COUNT] = {
#define ZS_COMPACT_SET(name)
#define ZS_COMPACT(...) ROW(__VA_ARGS__),
#include "isa/compact.def"
#undef ZS_COMPACT_SET
#undef ZS_COMPACT
};

static ZS_ALWAYS_INLINE uint64_t low_bits(unsigned width)
{
    return width >= 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
}

/* Patterns may cross bit 64 of the whole instruction. */
static ZS_ALWAYS_INLINE void put(uint64_t bits[2], const struct row *row, uint64_t value)
{
    unsigned below = row->full_lo < 64 ? 64u - row->full_lo : 0;
    if (below == 0 || row->full_width <= below) {
        zs_isa_put_part(bits, row->full_lo, row->full_width, value);
        return;
    }
    zs_isa_put_part(bits, row->full_lo, below, value);
    zs_isa_put_part(bits, 64, row->full_width - below, value >> below);
}

/* A row's bits of the compacted instruction, and back. */
static ZS_ALWAYS_INLINE uint64_t take_index(uint64_t compact, const struct row *row)
{
    uint64_t value = compact >> row->lo & low_bits(row->width);
    if (!row->below)
        return value;
    return (value & low_bits(row->below)) | value >> (row->below + 1) << row->below;
}

static uint64_t place_index(uint64_t compact, const struct row *row, uint64_t value)
{
    if (row->below)
        value = (value & low_bits(row->below)) | value >> row->below << (row->below + 1);
    return (compact & ~(low_bits(row->width) << row->lo)) | value << row->lo;
}

static ZS_ALWAYS_INLINE bool expand(struct row row, uint64_t compact, uint64_t bits[2])
{
    uint64_t value = take_index(compact, &row);
    if (row.table == TABLE_SIGN)
        value = value ? UINT64_MAX : 0;
    else if (row.table == TABLE_COPY)
        value = value >> row.pattern_lo;
    else if (value < tables[row.table].count)
        value = tables[row.table].patterns[value] >> row.pattern_lo;
    else
        return false;
    put(bits, &row, value & low_bits(row.full_width));
    return true;
}

/* Every row on its own: the compiler folds its places into shifts and masks. */
bool zs_compact_expand(enum zs_compact_set set, uint64_t compact, uint64_t ret_bits[2])
{
    uint64_t bits[2] = {ret_bits[0], ret_bits[1]};
    bool known = true;
    switch (set) {
    default:
        return false;
#define ZS_COMPACT_SET(name)                                                                       \
    break;                                                                                         \
    case ZS_COMPACT_##name:
#define ZS_COMPACT(...) known &= expand((struct row)ROW(__VA_ARGS__), compact, bits);
#include "isa/compact.def"
#undef ZS_COMPACT_SET
#undef ZS_COMPACT
    }
    ret_bits[0] = bits[0];
    ret_bits[1] = bits[1];
    return known;
}

/* The index of the first pattern with these bits. */
static bool find_pattern(const struct row *row, uint64_t value, uint64_t mask, uint64_t *ret_index)
{
    for (uint32_t i = 0; i < tables[row->table].count; i++) {
        if ((tables[row->table].patterns[i] & mask) == value) {
            *ret_index = i;
            return true;
        }
    }
    return false;
}

bool zs_compact_shrink(enum zs_compact_set set, const uint64_t bits[2], uint64_t *compact)
{
    for (uint32_t i = begins[set]; i < begins[set + 1];) {
        const struct row *first = &rows[i];
        uint64_t value = 0, mask = 0;
        for (; i < begins[set + 1] && rows[i].lo == first->lo && rows[i].table == first->table;
             i++) {
            const struct row *row = &rows[i];
            value |= zs_isa_get_part(bits, row->full_lo, row->full_width) << row->pattern_lo;
            mask |= low_bits(row->pattern_width) << row->pattern_lo;
        }
        if (first->table == TABLE_SIGN)
            continue;
        if (first->table != TABLE_COPY && !find_pattern(first, value, mask, &value))
            return false;
        *compact = place_index(*compact, first, value);
    }
    return true;
}
