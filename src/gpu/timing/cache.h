/* SPDX-License-Identifier: MIT */
/*
 * Caches of the modelled device: set-associative, the least recently used line is replaced.
 *
 * A set has, of each way, 16 bits of a hash of the line's name, by which ways are found all at
 * once; when each was used, and its line. What most launches need of it stands together with that
 * of its neighbours: of large caches they touch many sets, and few lines of each. The other ways
 * stand elsewhere. Nothing is cleared between launches: a set says of which launch its lines are.
 * So time follows what a launch touches, not the size of the cache.
 */
#ifndef ZS_GPU_TIMING_CACHE_H
#define ZS_GPU_TIMING_CACHE_H

#include "base/compiler.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ZS_TIMING_MARKS = 16, ZS_TIMING_FOUR = 4 };
struct zs_timing_four {
    uint32_t times[ZS_TIMING_FOUR];
    uint64_t lines[ZS_TIMING_FOUR];
};

struct __attribute__((aligned(64))) zs_timing_set {
    uint64_t newest_line; /* that was used last */
    uint64_t written;     /* a bit each way */
    uint32_t launch;      /* of which its lines are; of another one: it is empty */
    uint16_t newest;      /* way of newest_line */
    uint16_t count;       /* ways that hold a line: the first ones */
    uint64_t unused;
    uint16_t marks[ZS_TIMING_MARKS]; /* of the first ways */
    struct zs_timing_four first;     /* the first ways */
};
_Static_assert(sizeof(struct zs_timing_set) == 128, "two lines of the host's cache");

struct zs_timing_cache {
    uint32_t set_count, ways; /* set_count: a power of two; 0: there is no cache */
    uint64_t reach;           /* sets that are used, in 2^-32 of all */
    uint32_t marks_B, rest_B; /* of what stands elsewhere: marks, all of it */
    struct zs_timing_set *sets;
    uint8_t *rests;
    uint32_t launch, now; /* now: uses so far */
    uint32_t *used;       /* numbers of the sets that have lines of this launch */
    uint32_t used_count;
    uint32_t touched; /* sets that any launch has used: the others take no memory */
    uint32_t grown;   /* how often one had more than its first ways */
    void *memory;     /* of the sets */
};

/* ways: a multiple of 16, up to 48. size_B or ways 0: there is none. */
int zs_timing_cache_init(struct zs_timing_cache *c, uint64_t size_B, uint32_t ways);
void zs_timing_cache_fini(struct zs_timing_cache *c);
size_t zs_timing_cache_touched_B(const struct zs_timing_cache *c); /* of the host's memory */
/* Another launch begins: it is empty, and uses so much of it. */
void zs_timing_cache_clear(struct zs_timing_cache *c, double reach);

/* Behind the line that was used last. */
bool zs_timing_cache_find(struct zs_timing_cache *c, struct zs_timing_set *set, uint64_t line,
                          bool write, uint64_t *ret_written);

/* What it holds, a line each time; false: no more. Zeros to begin with. */
struct zs_timing_walk {
    uint32_t used, set, way; /* of the next one; set: of the last one */
    uint64_t line;
    bool written;
};
bool zs_timing_cache_next(const struct zs_timing_cache *c, struct zs_timing_walk *walk);

/* Pages lie anywhere in physical memory; lines of a page are neighbours. */
static inline struct zs_timing_set *zs_timing_cache_set(const struct zs_timing_cache *c,
                                                        uint64_t line)
{
    uint64_t page = (line >> 6) * UINT64_C(0x9e3779b97f4a7c15);
    size_t number = (uint32_t)(line ^ page >> 40) & (c->set_count - 1);
    return &c->sets[number * c->reach >> 32];
}

/* True: it was there. A line that had to go and was written comes back in *ret_written + 1. */
static inline bool zs_timing_cache_touch(struct zs_timing_cache *c, uint64_t line, bool write,
                                         uint64_t *ret_written)
{
    *ret_written = 0;
    if (!c->set_count)
        return false;
    struct zs_timing_set *set = zs_timing_cache_set(c, line);
    if (set->newest_line != line || set->launch != c->launch)
        return zs_timing_cache_find(c, set, line, write, ret_written);
    set->written |= (uint64_t)write << set->newest; /* mostly */
    return true;
}

#endif
