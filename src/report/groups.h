/* SPDX-License-Identifier: MIT */
/* Rows by a few numbers (names are interned, so that they are numbers too), with what is counted
 * and timed of them. */
#ifndef ZS_REPORT_GROUPS_H
#define ZS_REPORT_GROUPS_H

#include "base/index.h"
#include "report/table.h"
#include "report/times.h"

enum { ZS_GROUP_KEYS_MAX = 8, ZS_GROUP_RESULTS_MAX = 8 };

struct zs_group {
    uint64_t keys[ZS_GROUP_KEYS_MAX];
    uint64_t count, failed, unfinished;
    uint64_t bytes, frees, left_B, live_B, peak_B;
    uint64_t first_ns, last_ns;
    bool has_bytes;
    struct zs_times times;
    uint64_t to_submit_ns, to_start_ns, to_submit_max_ns, to_start_max_ns; /* sums, of the timed */
    struct zs_result_count results[ZS_GROUP_RESULTS_MAX];                  /* by first appearance */
    uint32_t result_count;
};

struct zs_groups {
    struct zs_arena *arena;
    struct zs_group **items;
    size_t count, capacity;
    struct zs_index by_keys;
    struct zs_group *recent;
};

/* Made when it is not there. NULL: no memory. */
struct zs_group *zs_groups_get(struct zs_groups *groups, const uint64_t *keys);
void zs_groups_fini(struct zs_groups *groups);
/* Room for percentiles of a group: NULL when there are too many groups for that. */
struct zs_arena *zs_groups_times_arena(const struct zs_groups *groups);
/* One more of this result; success is counted like others. */
void zs_group_result(struct zs_group *group, int32_t result);

#endif
