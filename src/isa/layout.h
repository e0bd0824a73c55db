/* SPDX-License-Identifier: MIT */
/*
 * Bits of an instruction by field. A layout says where each field of fields.def stands in one
 * encoding; code that reads or writes instructions is written over fields and serves several
 * encodings. Give the layout as the address of a constant, and the compiler folds the places in.
 */
#ifndef ZS_ISA_LAYOUT_H
#define ZS_ISA_LAYOUT_H

#include "base/compiler.h"

enum zs_isa_field {
#define ZS_FIELD(name, text, ...) ZS_F_##name,
#include "isa/fields.def"
#undef ZS_FIELD
    ZS_F_COUNT,
};

/* Distances between the same field of two sources. */
enum {
    ZS_F_SRC_STEP = ZS_F_SRC1_FILE - ZS_F_SRC0_FILE,
    ZS_F_T_SRC_STEP = ZS_F_T_SRC1_FILE - ZS_F_T_SRC0_FILE,
    ZS_F_T16_SRC_STEP = ZS_F_T16_SRC1_REP - ZS_F_T16_SRC0_REP,
};
_Static_assert(ZS_F_SRC1_MME - ZS_F_SRC0_MME == ZS_F_SRC_STEP, "rows of src0 and src1");
_Static_assert(ZS_F_T_SRC1_IMM - ZS_F_T_SRC0_IMM == ZS_F_T_SRC_STEP, "rows of src0 and src1");
_Static_assert(ZS_F_T_SRC2_FILE - ZS_F_T_SRC1_FILE == ZS_F_T_SRC_STEP, "rows of src1 and src2");
_Static_assert(ZS_F_T_SRC2_IMM - ZS_F_T_SRC1_IMM == ZS_F_T_SRC_STEP, "rows of src1 and src2");
_Static_assert(ZS_F_T16_SRC2_SUBREG - ZS_F_T16_SRC0_SUBREG == 2 * ZS_F_T16_SRC_STEP, "rows of T16");

/* A field's place: the low part and, above it, the high one; width 0 is a part that is not there.
 * No part crosses bit 64. */
struct zs_isa_bits {
    uint8_t lo, width, high_lo, high_width;
};

struct zs_isa_layout {
    struct zs_isa_bits field[ZS_F_COUNT];
};

/* Constants of every file that uses them, so that places fold into its code. */
/* clang-format off */
#define NO {0, 0, 0, 0}
#define B(hi, lo) {lo, (hi) - (lo) + 1, 0, 0}
#define B2(hi, lo, hi2, lo2) {lo2, (hi2) - (lo2) + 1, lo, (hi) - (lo) + 1}
static const struct zs_isa_layout zs_isa_layout_legacy = {{ /* Gen8 .. Gen11 */
#define ZS_FIELD(name, text, legacy, xe, xe2) [ZS_F_##name] = legacy,
#include "isa/fields.def"
#undef ZS_FIELD
}};
static const struct zs_isa_layout zs_isa_layout_xe = {{ /* Gen12LP .. XeHPG */
#define ZS_FIELD(name, text, legacy, xe, xe2) [ZS_F_##name] = xe,
#include "isa/fields.def"
#undef ZS_FIELD
}};
static const struct zs_isa_layout zs_isa_layout_xe2 = {{ /* XeHPC .. Xe3P */
#define ZS_FIELD(name, text, legacy, xe, xe2) [ZS_F_##name] = xe2,
#include "isa/fields.def"
#undef ZS_FIELD
}};
#undef NO
#undef B
#undef B2
/* clang-format on */

const char *zs_isa_field_name(enum zs_isa_field field);

/* Where the layout is a constant places become shifts and masks: not a call that looks them up. */
#define ZS_FOLD static inline __attribute__((always_inline))

ZS_FOLD uint64_t zs_isa_get_part(const uint64_t bits[2], unsigned lo, unsigned width)
{
    uint64_t value = bits[lo / 64] >> (lo % 64);
    return width >= 64 ? value : value & ((UINT64_C(1) << width) - 1);
}

static inline void zs_isa_put_part(uint64_t bits[2], unsigned lo, unsigned width, uint64_t value)
{
    uint64_t mask = width >= 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
    bits[lo / 64] = (bits[lo / 64] & ~(mask << (lo % 64))) | (value & mask) << (lo % 64);
}

/* 0 for a field that the encoding does not have. */
ZS_FOLD uint64_t zs_isa_get(const struct zs_isa_layout *layout, const uint64_t bits[2],
                            enum zs_isa_field field)
{
    struct zs_isa_bits f = layout->field[field];
    uint64_t value = zs_isa_get_part(bits, f.lo, f.width);
    if (f.high_width)
        value |= zs_isa_get_part(bits, f.high_lo, f.high_width) << f.width;
    return value;
}

static inline bool zs_isa_has(const struct zs_isa_layout *layout, enum zs_isa_field field)
{
    return layout->field[field].width != 0;
}

/* False when the value does not fit (or the encoding has no such field and the value is not 0). */
static inline bool zs_isa_put(const struct zs_isa_layout *layout, uint64_t bits[2],
                              enum zs_isa_field field, uint64_t value)
{
    struct zs_isa_bits f = layout->field[field];
    unsigned width = (unsigned)f.width + f.high_width;
    if (width < 64 && value >> width)
        return false;
    zs_isa_put_part(bits, f.lo, f.width, value);
    if (f.high_width)
        zs_isa_put_part(bits, f.high_lo, f.high_width, value >> f.width);
    return true;
}

#endif
