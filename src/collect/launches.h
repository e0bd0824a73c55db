/* SPDX-License-Identifier: MIT */
/*
 * Which kernel launches are recorded: those of kernels whose name matches, without the first few of
 * them, and not more than so many. The numbers are of each process; a child goes on from its
 * parent's.
 */
#ifndef ZS_COLLECT_LAUNCHES_H
#define ZS_COLLECT_LAUNCHES_H

#include "base/filter.h"

#include <stdatomic.h>

/* Launches are counted twice, each for itself: as they are appended, and as they are executed. */
enum zs_launch_step { ZS_LAUNCH_APPENDED, ZS_LAUNCH_EXECUTED, ZS_LAUNCH_STEPS };

struct zs_launches {
    bool is_on; /* else all are recorded */
    bool has_names;
    struct zs_filter names;
    uint64_t skip, count; /* count UINT64_MAX: no limit */
    _Atomic uint64_t seen[ZS_LAUNCH_STEPS];
};

/* From the environment (store/store.h). */
void zs_launches_init(struct zs_launches *launches);
/* Whether any matches the kernel's name, as it is or as it was written (C++, SYCL). */
bool zs_launches_name_matches(const struct zs_filter *names, const char *kernel);
bool zs_launches_match(const struct zs_launches *launches, const char *kernel);
/* A launch of a kernel that matches: whether it is recorded. */
bool zs_launches_take(struct zs_launches *launches, enum zs_launch_step step);

#endif
