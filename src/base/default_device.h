/* SPDX-License-Identifier: MIT */
/* The device that is taken where none is named: one that the installed compiler can compile for. */
#ifndef ZS_BASE_DEFAULT_DEVICE_H
#define ZS_BASE_DEFAULT_DEVICE_H

#include <stdbool.h>

/* Whether a library is in the usual folders; `more`: further ones, as in LD_LIBRARY_PATH, or NULL.
 * Nothing is loaded. */
bool zs_has_library(const char *name, const char *more);
bool zs_has_igc2(const char *more);

/* "skl", or "tgllp" where only IGC 2 is, which compiles for Gen12LP and later. */
const char *zs_default_device(void);
/* The same for what Intel's ocloc and driver themselves know: "tgllp" beside IGC 2. */
const char *zs_default_intel_device(void);

#endif
