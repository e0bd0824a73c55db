/* SPDX-License-Identifier: MIT */
/*
 * How far what was measured of kernels may be off: metrics ReplayedShare and EstimateError, which
 * groups of the software GPU have (docs/metrics.md).
 */
#ifndef ZS_REPORT_DOUBTS_H
#define ZS_REPORT_DOUBTS_H

#include "base/buf.h"

#include <zescope/metrics.h>

#include <stddef.h>

enum { ZS_DOUBTS_TOLD_MAX = 8 };

/* "24 % replayed, may be 4.1 % off", both in percent. */
void zs_doubt_put(struct zs_buf *out, double replayed, double error);

/*
 * A sentence for each of the wanted kernels that was replayed in part, the longest first, of all
 * groups together; beyond ZS_DOUBTS_TOLD_MAX one says how many more there are. Sentences are handed
 * to `tell`, which returns 0 or an error that ends it. 0, -ENOMEM, or what `tell` returned.
 */
int zs_doubts_tell(const struct zs_metrics *metrics, bool (*wanted)(void *user, const char *kernel),
                   int (*tell)(void *user, const char *sentence), void *user);

#endif
