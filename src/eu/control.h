/* SPDX-License-Identifier: MIT */
/* What else control.c has. */
#ifndef ZS_EU_CONTROL_H
#define ZS_EU_CONTROL_H

#include "eu/eu_priv.h"

/* Beside the register that a wait is for: it keeps what it has. */
enum { ZS_EU_WAIT_LEAVES = 4 };

#endif
