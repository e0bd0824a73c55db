/* SPDX-License-Identifier: MIT */
/* The copies of sources that recordings hold, as zs_sources_open asks for them. */
#ifndef ZS_RECORD_SOURCE_COPIES_H
#define ZS_RECORD_SOURCE_COPIES_H

#include <zescope/correlate.h>
#include <zescope/record.h>

/* Zeroed, then `recordings`: the first one that has a copy gives it. */
struct zs_source_copies {
    struct zs_recording *const
        *recordings; /* open, and where they are, until zs_source_copies_fini */
    size_t recording_count;
    struct {
        struct zs_span *items;
        size_t count, capacity;
    } texts; /* that were given */
};

/* For zs_source_options. Neither is moved while sources are open. */
struct zs_source_provider zs_source_copies_provider(struct zs_source_copies *copies);
/* Once the sources are closed. */
void zs_source_copies_fini(struct zs_source_copies *copies);

#endif
