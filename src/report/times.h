/* SPDX-License-Identifier: MIT */
/* Many durations as count, sum, extremes and percentiles. */
#ifndef ZS_REPORT_TIMES_H
#define ZS_REPORT_TIMES_H

#include "base/arena.h"
#include "base/buf.h"

/* Durations are counted in buckets of 1/8 octave: percentiles are within 6.25 %. */
enum { ZS_TIMES_OCTAVES = 48, ZS_TIMES_BUCKETS = ZS_TIMES_OCTAVES * 8 };

struct zs_times {
    uint64_t count, total_ns, min_ns, max_ns;
    uint32_t *buckets; /* from the second on; NULL: none, or no room for any */
};

/* `arena` gives room for the buckets; NULL: percentiles are not wanted (or there are too many). */
void zs_times_add(struct zs_times *times, uint64_t ns, struct zs_arena *arena);
/* Duration below which `percent` of them lie. False: not known. */
bool zs_times_percentile(const struct zs_times *times, double percent, uint64_t *ret_ns);
static inline uint64_t zs_times_mean(const struct zs_times *times)
{
    return times->count ? times->total_ns / times->count : 0;
}

/* Buckets that hold any, ascending, from *cursor (0 at first) on; false behind the last. Durations
 * are in [from, to). */
bool zs_times_next(const struct zs_times *times, uint32_t *cursor, uint64_t *ret_from_ns,
                   uint64_t *ret_to_ns, uint64_t *ret_count);
/* A picture of `columns` steps from the shortest to the longest, on a logarithmic scale. */
void zs_times_picture(const struct zs_times *times, uint32_t columns, struct zs_buf *out);

/* "12.3 us" in a fixed width: three digits and a unit. */
void zs_format_duration(struct zs_buf *out, uint64_t ns);

#endif
