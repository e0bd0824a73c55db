/* SPDX-License-Identifier: MIT */
/*
 * How the addresses of a message's lanes lie, as far as the code tells: lanes whose addresses are
 * the same unknown value and a known distance each. A static estimate: all lanes on, each register
 * as it was written last above, in the order of the code.
 */
#ifndef ZS_METRICS_ADDRESSES_H
#define ZS_METRICS_ADDRESSES_H

#include "metrics/profile.h"

struct zs_lane_access {
    bool is_known;
    uint32_t lanes;
    uint32_t lines, lines_least;   /* of 64 bytes that are touched, and that the bytes need */
    uint32_t cycles, cycles_least; /* local memory: of its banks, and without conflicts */
    int64_t stride_B;              /* between neighbouring lanes, where it is the same */
    bool has_stride;
    bool from_load; /* not known: a lane's address follows from what it has loaded */
};

/* One for each instruction of the profile's code; freed by the caller. NULL: no memory, or the code
 * is too large for this (then nothing is known of it). */
struct zs_lane_access *zs_accesses(const struct zs_profile *profile);

#endif
