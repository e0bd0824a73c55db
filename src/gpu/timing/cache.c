/* SPDX-License-Identifier: MIT */
#include "gpu/timing/cache.h"

#include "dataport/dataport.h"

#include <errno.h>
#include <smmintrin.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LARGE_B = 1 << 20 };
enum { STEP = 16, WAYS_MOST = 48, HOST_LINE_B = 64 };

/* ---- a set's parts -----------------------------------------------------------------------------
 */

/* Of the ways that stand elsewhere: marks, then fours. */
static inline uint8_t *rest_of(const struct zs_timing_cache *c, const struct zs_timing_set *set)
{
    return c->rests + (size_t)(set - c->sets) * c->rest_B;
}

static inline uint16_t *mark_at(const struct zs_timing_cache *c, struct zs_timing_set *set,
                                uint32_t way)
{
    return way < ZS_TIMING_MARKS ? &set->marks[way]
                                 : (uint16_t *)(void *)rest_of(c, set) + (way - ZS_TIMING_MARKS);
}

enum { FOUR = ZS_TIMING_FOUR };
static inline struct zs_timing_four *four_of(const struct zs_timing_cache *c,
                                             struct zs_timing_set *set, uint32_t way)
{
    return way < FOUR
               ? &set->first
               : (struct zs_timing_four *)(void *)(rest_of(c, set) + c->marks_B) + way / FOUR - 1;
}

static inline uint16_t mark_of(uint64_t line)
{
    return (uint16_t)(line * UINT64_C(0xd6e8feb86659fd93) >> 48);
}

/* ---- ways --------------------------------------------------------------------------------------
 */

static inline __m128i load(const void *at)
{
    return _mm_load_si128(at);
}

/* Ways with the mark, a bit each. */
static inline uint64_t marked(const struct zs_timing_cache *c, struct zs_timing_set *set,
                              uint16_t mark)
{
    const __m128i wanted = _mm_set1_epi16((short)mark);
    uint64_t found = 0;
    for (uint32_t i = 0; i < set->count; i += STEP) {
        const uint16_t *marks = mark_at(c, set, i);
        __m128i low = _mm_cmpeq_epi16(load(marks), wanted);
        __m128i high = _mm_cmpeq_epi16(load(marks + STEP / 2), wanted);
        found |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_packs_epi16(low, high)) << i;
    }
    return found & ((UINT64_C(1) << set->count) - 1);
}

/* The way that was used first; times differ. */
static inline uint32_t oldest(const struct zs_timing_cache *c, struct zs_timing_set *set)
{
    const struct zs_timing_four *rest = four_of(c, set, FOUR);
    __m128i least = load(set->first.times);
    for (uint32_t i = 1; i < c->ways / FOUR; i++)
        least = _mm_min_epu32(least, load(rest[i - 1].times));
    least = _mm_min_epu32(least, _mm_shuffle_epi32(least, 0x4e));
    least = _mm_min_epu32(least, _mm_shuffle_epi32(least, 0xb1));
    uint64_t found = 0;
    for (uint32_t i = 0; i < c->ways; i += STEP) {
        const struct zs_timing_four *at = rest + i / FOUR; /* behind the first of these ways */
        __m128i first = load(i ? at[-1].times : set->first.times);
        __m128i a = _mm_packs_epi32(_mm_cmpeq_epi32(first, least),
                                    _mm_cmpeq_epi32(load(at[0].times), least));
        __m128i b = _mm_packs_epi32(_mm_cmpeq_epi32(load(at[1].times), least),
                                    _mm_cmpeq_epi32(load(at[2].times), least));
        found |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_packs_epi16(a, b)) << i;
    }
    return (uint32_t)__builtin_ctzll(found);
}

/* A way for a line that the set takes in. */
static uint32_t take_way(struct zs_timing_cache *c, struct zs_timing_set *set,
                         uint64_t *ret_written)
{
    if (set->count < c->ways) {
        c->grown += set->count == FOUR;
        return set->count++;
    }
    uint32_t way = oldest(c, set);
    if (set->written >> way & 1)
        *ret_written = four_of(c, set, way)->lines[way % FOUR] + 1;
    set->written &= ~(UINT64_C(1) << way);
    return way;
}

bool zs_timing_cache_find(struct zs_timing_cache *c, struct zs_timing_set *set, uint64_t line,
                          bool write, uint64_t *ret_written)
{
    uint16_t mark = mark_of(line);
    if (set->launch != c->launch) {
        c->touched += !set->launch;
        set->newest_line = set->written = 0;
        set->newest = set->count = 0;
        set->launch = c->launch;
        c->used[c->used_count++] = (uint32_t)(set - c->sets);
    }
    uint64_t left = marked(c, set, mark);
    uint32_t way = 0;
    bool found = false;
    for (; left && !found; left &= left - 1) {
        way = (uint32_t)__builtin_ctzll(left);
        found = four_of(c, set, way)->lines[way % FOUR] == line;
    }
    if (!found) {
        way = take_way(c, set, ret_written);
        *mark_at(c, set, way) = mark;
        four_of(c, set, way)->lines[way % FOUR] = line;
    }
    four_of(c, set, way)->times[way % FOUR] = ++c->now;
    set->written |= (uint64_t)write << way;
    set->newest = (uint16_t)way;
    set->newest_line = line;
    return found;
}

bool zs_timing_cache_next(const struct zs_timing_cache *c, struct zs_timing_walk *walk)
{
    for (; walk->used < c->used_count; walk->used++, walk->way = 0) {
        walk->set = c->used[walk->used];
        struct zs_timing_set *set = &c->sets[walk->set];
        if (walk->way == set->count)
            continue;
        uint32_t way = walk->way++;
        walk->line = four_of(c, set, way)->lines[way % FOUR];
        walk->written = set->written >> way & 1;
        return true;
    }
    return false;
}

/* ---- set up ------------------------------------------------------------------------------------
 */

/* Zeros. Of what is large, pages that nobody touches cost nothing, whatever the allocator does with
 * what it gives and takes. */
static void *get_zeros(size_t size_B)
{
    if (size_B < LARGE_B)
        return calloc(1, size_B);
    void *data = mmap(NULL, size_B, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return data == MAP_FAILED ? NULL : data;
}

static void give_back(void *data, size_t size_B)
{
    if (size_B < LARGE_B)
        free(data);
    else if (data)
        (void)munmap(data, size_B);
}

static size_t sets_B(const struct zs_timing_cache *c)
{
    return (size_t)c->set_count * (sizeof(*c->sets) + c->rest_B) + HOST_LINE_B;
}

static size_t used_B(const struct zs_timing_cache *c)
{
    return c->set_count * sizeof(*c->used);
}

int zs_timing_cache_init(struct zs_timing_cache *c, uint64_t size_B, uint32_t ways)
{
    uint64_t sets = size_B && ways ? size_B / ZS_PORT_LINE_B / ways : 0;
    *c = (struct zs_timing_cache){.ways = ways};
    if (!sets)
        return 0;
    zs_assert(ways % STEP == 0 && ways <= WAYS_MOST);
    c->set_count = 1;
    while (c->set_count * 2ull <= sets)
        c->set_count *= 2;
    c->marks_B = (ways - ZS_TIMING_MARKS) * (uint32_t)sizeof(uint16_t);
    size_t fours_B = (ways / FOUR - 1) * sizeof(struct zs_timing_four);
    c->rest_B = (uint32_t)zs_align_up(c->marks_B + fours_B, HOST_LINE_B);
    c->memory = get_zeros(sets_B(c));
    c->used = get_zeros(used_B(c));
    if (!c->memory || !c->used)
        return -ENOMEM;
    c->sets = (struct zs_timing_set *)(uintptr_t)zs_align_up((uintptr_t)c->memory, HOST_LINE_B);
    c->rests = (uint8_t *)(c->sets + c->set_count);
    c->launch = 1;
    c->reach = UINT64_C(1) << 32;
    return 0;
}

void zs_timing_cache_fini(struct zs_timing_cache *c)
{
    give_back(c->memory, sets_B(c));
    give_back(c->used, used_B(c));
}

size_t zs_timing_cache_touched_B(const struct zs_timing_cache *c)
{
    return c->touched * sizeof(*c->sets) + (size_t)ZS_MIN(c->touched, c->grown) * c->rest_B;
}

void zs_timing_cache_clear(struct zs_timing_cache *c, double reach)
{
    if (!c->set_count)
        return;
    if (++c->launch == 0) /* there has been such a launch */
        memset(c->memory, 0, sets_B(c));
    c->launch = ZS_MAX(c->launch, 1u);
    c->now = 0;
    c->used_count = 0;
    c->reach = (uint64_t)(reach * 0x1p32);
}
