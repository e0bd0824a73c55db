/* SPDX-License-Identifier: MIT */
/* Messages that control.c runs without a call in between (send_lower.c). */
#ifndef ZS_EU_SEND_LOWER_H
#define ZS_EU_SEND_LOWER_H

#include "eu/eu_priv.h"

/* Payload and response stand in registers, and each channel of the instruction has an element: all
 * that send->exec does is to call send->run. */
bool zs_eu_send_is_direct(const struct zs_eu_send *send);
/* Where the message remembers what it hit last: any number. */
void zs_eu_send_place_in_cache(struct zs_eu_send *send, unsigned place);
/* Lowered as for zs_eu_send_lower(), with the surface that its handle names for this thread. */
int zs_eu_send_lower_handle(const struct zs_eu_thread *t, struct zs_eu_send *send,
                            struct zs_diag *diag);
/* After send->run has returned false. */
enum zs_eu_status zs_eu_send_failed(struct zs_eu_thread *t, const struct zs_eu_send *send);
/* control.c: in place of zs_eu_op_send_full for one that is direct. */
extern zs_eu_op_fn zs_eu_op_send_direct;

#endif
