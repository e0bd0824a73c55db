/* SPDX-License-Identifier: MIT */
/* Handlers of control.c that do the same as those of kind.def, and take more for granted:
 * operations of lower_select.c. */
#ifndef ZS_EU_CONTROL_H
#define ZS_EU_CONTROL_H

#include "eu/eu_priv.h"

/* send_indexed: to all lanes that the message has */
extern zs_eu_op_fn zs_eu_op_send_indexed_full;
/* send: the end of a thread, and nothing else */
extern zs_eu_op_fn zs_eu_op_send_end;
/* lane_count: dst is how many */
extern zs_eu_op_fn zs_eu_op_lane_count_known;
/* jump_uniform: NoMask, with a predicate and without */
extern zs_eu_op_fn zs_eu_op_jump_flag, zs_eu_op_jump_always;

#endif
