/* SPDX-License-Identifier: MIT */
/* What else control.c has. */
#ifndef ZS_EU_CONTROL_H
#define ZS_EU_CONTROL_H

#include "eu/eu_priv.h"

/* Beside the register that a wait is for: it keeps what it has. */
enum { ZS_EU_WAIT_LEAVES = 4 };

/* For compiled code: `taken` of the running lanes go to a block, the others to next_block, and
 * those with the least key run; its operation. Lanes that wait at a block join those that run. */
const struct zs_eu_op *zs_eu_lanes_split(struct zs_eu_thread *t, uint32_t taken, uint32_t block,
                                         uint32_t next_block);
const struct zs_eu_op *zs_eu_lanes_join(struct zs_eu_thread *t, uint32_t block);

#endif
