/* SPDX-License-Identifier: MIT */
/* The instructions that addresses are made with (lower_address.c). */
#ifndef ZS_EU_LOWER_ADDRESS_H
#define ZS_EU_LOWER_ADDRESS_H

#include "eu/lower_merge.h"

#include "dataport/dataport.h"

/* mov of dwords to every second one. */
bool zs_eu_is_widening(const struct zs_eu_lowering *l, const struct zs_eu_slot *slot);
/* shl of dwords, which lie this far apart, to qwords, by an immediate. */
bool zs_eu_is_shift(const struct zs_eu_lowering *l, const struct zs_eu_slot *slot,
                    uint32_t stride_B);
/* add of qwords and one for all channels. */
bool zs_eu_is_sum(const struct zs_eu_lowering *l, const struct zs_eu_slot *slot);

/* How far a message's addresses are shifted that are told by index. */
enum { ZS_EU_DWORD_SHIFT = 2 };
/* The handler by indices of a slot's message, whose payload's first part are addresses, one for
 * each channel; NULL: it is something else, or has indices. */
zs_port_indexed_fn *zs_eu_indexed_message(struct zs_eu_lowering *l, const struct zs_eu_window *w,
                                          uint32_t index);

static inline bool zs_eu_bytes_overlap(struct zs_eu_bytes a, struct zs_eu_bytes b)
{
    return a.begin_B < b.end_B && b.begin_B < a.end_B;
}
bool zs_eu_slot_writes(const struct zs_eu_slot *slot, struct zs_eu_bytes bytes);
bool zs_eu_slot_reads(const struct zs_eu_slot *slot, struct zs_eu_bytes bytes);
/* Whether some block may read these bytes of registers or accumulators, which it did not write. */
bool zs_eu_is_carried(const struct zs_eu_lowering *l, const struct zs_eu_window *w,
                      struct zs_eu_bytes bytes);

/* ---- lower_apart.c ---- */
/* Messages by index whose addresses are made by sixteen lanes apart. at_end: the window ends with
 * its block. */
void zs_eu_find_addresses_apart(struct zs_eu_lowering *l, struct zs_eu_window *w, bool at_end);

#endif
