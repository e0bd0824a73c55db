/* SPDX-License-Identifier: MIT */
/* The device that is taken where none is named: one that the installed compiler can compile for. */
#ifndef ZS_BASE_DEFAULT_DEVICE_H
#define ZS_BASE_DEFAULT_DEVICE_H

#include <stdbool.h>

/* Whether IGC 2 is in the folders of libraries; `more`: further ones, as in LD_LIBRARY_PATH, or
 * NULL. Nothing is loaded. */
bool zs_has_igc2(const char *more);

/* "skl", or "tgllp" beside IGC 2, whose ocloc compiles for Gen12LP and later only. */
const char *zs_default_device(void);

#endif
