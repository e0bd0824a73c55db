/* SPDX-License-Identifier: MIT */
/*
 * Structs of options and other inputs that begin with their size, as callers of any version pass
 * them: members that the caller does not know read as zero, and members that this library does not
 * know must be zero.
 */
#ifndef ZS_BASE_OPTIONS_H
#define ZS_BASE_OPTIONS_H

#include "base/diag.h"

/* Copy `given` (NULL: all zero) into `own`, whose first member, too, is its size. 0, -EINVAL for a
 * size that has no room for itself, -E2BIG for something that is set and not known here. */
int zs_options_take(void *own, size_t own_B, const void *given, struct zs_diag *diag);

#define ZS_OPTIONS_TAKE(own, given, diag) zs_options_take((own), sizeof(*(own)), (given), (diag))

#endif
