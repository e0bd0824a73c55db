/* SPDX-License-Identifier: MIT */
/* What else control.c has. */
#ifndef ZS_EU_CONTROL_H
#define ZS_EU_CONTROL_H

#include "eu/eu_priv.h"

/* Beside the register that a wait is for: it keeps what it has. */
enum { ZS_EU_WAIT_LEAVES = 4 };

/* Remember where a message's lanes are, if they are a load's or store's. */
void zs_eu_send_look(struct zs_eu_thread *t, const struct zs_eu_op *op,
                     const struct zs_eu_send *send, uint32_t active);

/* Lanes that wait at some blocks, at the running depth, go to ret_lanes, by the block's number;
 * what else is there stays. In ret_open, which is 0, bit 2 * number + 1 is set for those, and 2 *
 * number if others wait in front of that block, but not of the one before it. 0 */
uint32_t zs_eu_lanes_absorb(struct zs_eu_thread *t, uint32_t *ret_lanes, const uint32_t *blocks,
                            uint32_t count, uint64_t *ret_open);
/* ... and back to their places. 0 */
uint32_t zs_eu_lanes_settle(struct zs_eu_thread *t, const uint32_t *lanes, const uint32_t *blocks,
                            uint32_t count, const uint64_t *open);

#endif
