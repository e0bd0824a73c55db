/* SPDX-License-Identifier: MIT */
/* What the files that lower operands share: types, places, conversions. */
#ifndef ZS_EU_LOWER_OPERAND_H
#define ZS_EU_LOWER_OPERAND_H

#include "eu/lower/lower.h"

/* ---- lower_row.c ---- */

enum zs_eu_form {
    ZS_EU_FORM_PLAIN,
    ZS_EU_FORM_CMP, /* writes a flag */
    ZS_EU_FORM_SEL, /* the predicate chooses */
};
enum zs_eu_row_mode { /* of floats: see sem.def */
                      ZS_EU_MODE_PLAIN,
                      ZS_EU_MODE_SINGLE,
                      ZS_EU_MODE_DOUBLE,
                      ZS_EU_MODE_KEEP,
};
struct zs_eu_row_info {
    uint8_t form, mode;
    uint8_t dst_B, src_B[3];
};

extern const struct zs_eu_row_info zs_eu_row_infos[ZS_EU_ROW_COUNT];

unsigned zs_eu_type_log2(unsigned type); /* of its size */

struct zs_eu_plan {
    enum zs_eu_row rows[6];
    unsigned count;
};

/* Rows that convert, in order. */
void zs_eu_plan_convert(struct zs_eu_plan *plan, unsigned from, unsigned to, bool clamp);
/* One row, for all channels, into a new temporary. */
struct zs_eu_loc zs_eu_to_temp(struct zs_eu_lowering *l, enum zs_eu_row row, struct zs_eu_loc in);

/* ---- lower_place.c ---- */

/*
 * Byte offset in the thread of an operand's first element, bytes that may be used from there, and
 * the distance of neighbouring elements. Of accumulators it is that of the low halves; the high
 * ones of 64-bit elements lie ZS_EU_ACC_HIGH behind.
 */
enum {
    ZS_EU_ACC_HIGH = offsetof(struct zs_eu_thread, acc_high) - offsetof(struct zs_eu_thread, acc)
};
struct zs_eu_place {
    uint32_t at, limit_B, step_B;
};

/* Refuses what is no place that can be read or written. */
bool zs_eu_place_of(struct zs_eu_lowering *l, const struct zs_isa_operand *op, bool write,
                    struct zs_eu_place *ret);
/* Offsets of all channels' elements from the first; false when one leaves the register file. */
bool zs_eu_region_offsets(const struct zs_isa_operand *op, unsigned n,
                          const struct zs_eu_place *place, unsigned size_B, bool is_dst,
                          uint16_t *ret_offsets);
/* The distance of neighbours when it is the same everywhere, else UINT32_MAX. */
uint32_t zs_eu_even_stride(const uint16_t *offsets, unsigned n);
/* Index of such a region in the program. */
uint32_t zs_eu_add_region(struct zs_eu_lowering *l, const struct zs_eu_region *region);
/* Every operand through the general path. */
static inline bool zs_eu_is_general(const struct zs_eu_lowering *l)
{
    return l->params->flags & ZS_EU_LOWER_GENERAL;
}

#endif
