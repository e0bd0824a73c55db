/* SPDX-License-Identifier: MIT */
/* Builds that the driver refused: what the compiler said is what a user wants to read first. */
#ifndef ZS_REPORT_FAILED_BUILDS_H
#define ZS_REPORT_FAILED_BUILDS_H

#include "base/buf.h"
#include "base/json.h"

#include <zescope/record.h>

/* A paragraph for each: result, flags, log (at most so many lines of each; 0: all). How many. */
size_t zs_failed_builds_text(const struct zs_recording *recording, uint32_t lines_max,
                             struct zs_buf *out);
/* An object for each, in the array that is open: number of the build, result, flags, log. */
void zs_failed_builds_json(const struct zs_recording *recording, struct zs_json *json);

#endif
