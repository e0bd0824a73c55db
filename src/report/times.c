/* SPDX-License-Identifier: MIT */
#include "report/times.h"

#include <string.h>

/* Bucket of a duration: its power of two, and three bits behind the first one. */
static uint32_t bucket_of(uint64_t ns)
{
    if (ns < 8)
        return (uint32_t)ns;
    uint32_t octave = 63 - (uint32_t)__builtin_clzll(ns);
    return ZS_MIN(octave * 8 + (uint32_t)(ns >> (octave - 3) & 7), (uint32_t)ZS_TIMES_BUCKETS - 1);
}

/* The middle of a bucket. */
static uint64_t bucket_ns(uint32_t bucket)
{
    if (bucket < 8)
        return bucket;
    uint32_t octave = bucket / 8;
    uint64_t low = (UINT64_C(8) | (bucket & 7)) << (octave - 3);
    return low + (UINT64_C(1) << (octave - 3)) / 2;
}

void zs_times_add(struct zs_times *times, uint64_t ns, struct zs_arena *arena)
{
    if (times->count == 1 && arena) {
        times->buckets = zs_arena_array(arena, ZS_TIMES_BUCKETS, sizeof(*times->buckets));
        if (times->buckets)
            times->buckets[bucket_of(times->min_ns)]++;
    }
    times->min_ns = times->count ? ZS_MIN(times->min_ns, ns) : ns;
    times->max_ns = ZS_MAX(times->max_ns, ns);
    times->total_ns += ns;
    times->count++;
    if (times->buckets)
        times->buckets[bucket_of(ns)]++;
}

bool zs_times_percentile(const struct zs_times *times, double percent, uint64_t *ret_ns)
{
    double want = (double)times->count * percent / 100.0;
    uint64_t seen = 0;
    *ret_ns = times->max_ns;
    if (!times->buckets)
        return times->count && times->min_ns == times->max_ns;
    for (uint32_t i = 0; i < ZS_TIMES_BUCKETS; i++) {
        seen += times->buckets[i];
        if (seen && (double)seen >= want) {
            *ret_ns = ZS_MAX(times->min_ns, ZS_MIN(bucket_ns(i), times->max_ns));
            break;
        }
    }
    return true;
}

void zs_format_duration(struct zs_buf *out, uint64_t ns)
{
    static const struct {
        double scale;
        const char *unit;
    } units[] = {{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}};
    size_t i = ns < 1000 ? 0 : ns < 1000000 ? 1 : ns < 1000000000 ? 2 : 3;
    double value = (double)ns / units[i].scale;
    int decimals = i == 0 ? 0 : value < 10 ? 2 : value < 100 ? 1 : 0;
    zs_buf_printf(out, "%6.*f %-2s", decimals, value, units[i].unit);
}
