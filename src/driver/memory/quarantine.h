/* SPDX-License-Identifier: MIT */
/*
 * With checks on, memory that was freed keeps its addresses for a while, without pages: nothing
 * else gets them, so whoever uses them is found out. Guard zones, too, are addresses alone.
 */
#ifndef ZS_DRIVER_MEMORY_QUARANTINE_H
#define ZS_DRIVER_MEMORY_QUARANTINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct zs_quarantine; /* the driver's; NULL: checks are off */

/* ZESCOPE_QUARANTINE: bytes of addresses that it keeps. NULL: no memory. */
struct zs_quarantine *zs_quarantine_create(const char *limit);
void zs_quarantine_destroy(struct zs_quarantine *quarantine);
/* Keep whole pages with their guard zones; what was kept longest goes. false: the pages are as
 * before, and the caller's. */
bool zs_quarantine_put(struct zs_quarantine *quarantine, void *pages, size_t size_B);

/* Bytes on either side of an allocation, whole pages of virtual memory. */
size_t zs_guard_B(uint64_t size_B);

#endif
