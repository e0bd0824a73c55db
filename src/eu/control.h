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

#endif
