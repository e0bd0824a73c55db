/* SPDX-License-Identifier: MIT */
/*
 * Launches that did the same take the same time: what a replay said follows from the records and
 * from numbers of the launch alone. Programs launch a kernel again and again, with other data, and
 * mostly it takes the same way through the same lines; then what was found is told again. Records
 * are compared by a hash of 128 bits of all their words.
 */
#include "gpu/timing/timing_priv.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 4, KEPT = 4 };

struct entry {
    struct zs_timing_key key;
    struct zs_gpu_timing timing;
    bool used;
};

struct zs_timing_memo {
    pthread_mutex_t lock; /* launches of a kernel may end at the same time */
    struct entry entries[KEPT];
    uint32_t next; /* the one that gives way */
};

/* ---- keys --------------------------------------------------------------------------------------
 */

static inline uint64_t mixed(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

static void add_words(uint64_t hash[LANES], const void *data, size_t size_B)
{
    const uint8_t *at = data;
    uint64_t words[LANES];
    for (; size_B >= sizeof(words); at += sizeof(words), size_B -= sizeof(words)) {
        memcpy(words, at, sizeof(words));
        for (uint32_t i = 0; i < LANES; i++)
            hash[i] = mixed(hash[i], words[i]);
    }
    memset(words, 0, sizeof(words));
    memcpy(words, at, size_B);
    for (uint32_t i = 0; i < LANES; i++)
        hash[i] = mixed(hash[i], words[i] + i);
}

static void add_stream(uint64_t hash[LANES], const struct zs_timing_stream *s)
{
    const uint32_t numbers[] = {
        s->count,       s->window_count,       s->stride,
        s->range_count, (uint32_t)s->recorded, (uint32_t)(s->recorded >> 32)};
    add_words(hash, numbers, sizeof(numbers));
    add_words(hash, s->words, s->count * sizeof(*s->words));
    add_words(hash, s->windows, s->window_count * sizeof(*s->windows));
    add_words(hash, s->ranges, s->range_count * sizeof(*s->ranges));
}

void zs_timing_key_of(const struct zs_timing_trace *t, uint64_t instructions,
                      const uint64_t *executions, struct zs_timing_key *ret)
{
    const struct zs_timing_launch *l = &t->launch;
    uint64_t hash[LANES] = {1, 2, 3, 4};
    const uint64_t numbers[] = {instructions,
                                (uint64_t)(uintptr_t)l->model,
                                (uint64_t)(uintptr_t)l->params,
                                l->group_count,
                                l->threads_per_group,
                                l->threads_per_eu,
                                l->slm_B,
                                l->payload_grf,
                                l->has_barriers,
                                l->exact,
                                l->gains,
                                t->sampled,
                                t->resident_groups};
    add_words(hash, numbers, sizeof(numbers));
    if (executions)
        add_words(hash, executions, l->code->op_count * sizeof(*executions));
    for (uint64_t i = 0; i < t->sampled * l->threads_per_group; i++)
        add_stream(hash, &t->streams[i]);
    for (uint32_t i = 0; i < ZS_ARRAY_LEN(ret->word); i++) {
        ret->word[i] = i;
        for (uint32_t lane = 0; lane < LANES; lane++)
            ret->word[i] = mixed(ret->word[i], hash[(lane + i) % LANES] + i);
    }
}

/* ---- what was found ----------------------------------------------------------------------------
 */

int zs_timing_memo_create(struct zs_timing_memo **ret_memo)
{
    struct zs_timing_memo *memo = calloc(1, sizeof(*memo));
    int error = memo ? -pthread_mutex_init(&memo->lock, NULL) : -ENOMEM;
    if (error) {
        free(memo);
        return error;
    }
    *ret_memo = memo;
    return 0;
}

void zs_timing_memo_destroy(struct zs_timing_memo *memo)
{
    if (!memo)
        return;
    for (uint32_t i = 0; i < KEPT; i++)
        free(memo->entries[i].timing.stalls);
    (void)pthread_mutex_destroy(&memo->lock);
    free(memo);
}

static bool copy(const struct zs_gpu_timing *from, struct zs_gpu_timing *to)
{
    size_t size_B = from->stall_count * sizeof(*from->stalls);
    struct zs_gpu_stalls *stalls = malloc(size_B + 1);
    if (!stalls)
        return false;
    if (size_B)
        memcpy(stalls, from->stalls, size_B);
    *to = *from;
    to->stalls = stalls;
    return true;
}

bool zs_timing_memo_find(struct zs_timing_memo *memo, const struct zs_timing_key *key,
                         struct zs_gpu_timing *ret_timing)
{
    bool found = false;
    (void)pthread_mutex_lock(&memo->lock);
    for (uint32_t i = 0; i < KEPT && !found; i++) {
        const struct entry *e = &memo->entries[i];
        if (e->used && memcmp(&e->key, key, sizeof(*key)) == 0)
            found = copy(&e->timing, ret_timing);
    }
    (void)pthread_mutex_unlock(&memo->lock);
    return found;
}

void zs_timing_memo_keep(struct zs_timing_memo *memo, const struct zs_timing_key *key,
                         const struct zs_gpu_timing *timing)
{
    struct zs_gpu_timing own;
    if (!copy(timing, &own))
        return;
    (void)pthread_mutex_lock(&memo->lock);
    struct entry *e = &memo->entries[memo->next++ % KEPT];
    free(e->timing.stalls);
    *e = (struct entry){.key = *key, .timing = own, .used = true};
    (void)pthread_mutex_unlock(&memo->lock);
}
