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

/* First duration that is not below the bucket. */
static uint64_t bucket_start(uint32_t bucket)
{
    return bucket < 8 ? bucket : (UINT64_C(8) | (bucket & 7)) << (bucket / 8 - 3);
}

bool zs_times_next(const struct zs_times *times, uint32_t *cursor, uint64_t *ret_from_ns,
                   uint64_t *ret_to_ns, uint64_t *ret_count)
{
    if (times->count == 1 && !times->buckets) {
        uint32_t only = bucket_of(times->min_ns);
        if (*cursor > only)
            return false;
        *cursor = only;
        *ret_count = 1;
    } else {
        while (times->buckets && *cursor < ZS_TIMES_BUCKETS && !times->buckets[*cursor])
            ++*cursor;
        if (!times->buckets || *cursor == ZS_TIMES_BUCKETS)
            return false;
        *ret_count = times->buckets[*cursor];
    }
    *ret_from_ns = bucket_start(*cursor);
    *ret_to_ns = bucket_start(++*cursor);
    return true;
}

void zs_times_picture(const struct zs_times *times, uint32_t columns, struct zs_buf *out)
{
    static const char *const steps[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    uint64_t sums[64] = {0}, from, to, count, most = 0;
    uint32_t cursor = 0, first = bucket_of(times->min_ns), last = bucket_of(times->max_ns);
    columns = ZS_MIN(columns, (uint32_t)ZS_ARRAY_LEN(sums));
    while (zs_times_next(times, &cursor, &from, &to, &count)) {
        uint64_t at = (uint64_t)(cursor - 1 - first) * columns / (last - first + 1);
        sums[ZS_MIN(at, columns - 1)] += count;
    }
    for (uint32_t c = 0; c < columns; c++)
        most = ZS_MAX(most, sums[c]);
    for (uint32_t c = 0; c < columns; c++)
        zs_buf_puts(out, sums[c] ? steps[(sums[c] * 8 + most - 1) / most - 1] : " ");
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
