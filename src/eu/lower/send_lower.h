/* SPDX-License-Identifier: MIT */
/* Messages as control.c runs them (send_lower.c). */
#ifndef ZS_EU_SEND_LOWER_H
#define ZS_EU_SEND_LOWER_H

#include "eu/eu_priv.h"

/* Where the message remembers what it hit last: any number. */
void zs_eu_send_place_in_cache(struct zs_eu_send *send, unsigned place);
/* struct zs_port_message's unread. */
void zs_eu_send_leave_unread(struct zs_eu_send *send, uint64_t unread);
/* Lowered as for zs_eu_send_lower(), with the surface that its handle names for this thread. */
int zs_eu_send_lower_handle(const struct zs_eu_thread *t, struct zs_eu_send *send,
                            struct zs_diag *diag);

#endif
