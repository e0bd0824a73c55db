/* SPDX-License-Identifier: MIT */
/*
 * What was built, by key, in memory. A key that a thread is building already is waited for: its
 * outcome, a failure as well, is that of all who asked meanwhile. Failures are not kept.
 *
 *     struct zs_built *built = zs_cache_take(cache, key, &is_mine);
 *     if (is_mine)
 *         zs_cache_settle(cache, built, status);   // after filling in text and binary
 *     ... built->status, built->text, built->binary ...
 *     zs_cache_release(cache, built);
 */
#ifndef ZS_COMPILER_CACHE_H
#define ZS_COMPILER_CACHE_H

#include "compiler/compiler.h"

#include "base/sha256.h"

#include <pthread.h>

struct zs_built {
    enum zs_compiler_status status; /* these three: constant once it is settled */
    struct zs_buf text, binary;
    uint8_t key[ZS_SHA256_B];
    bool settled, kept;
    uint32_t refs;                  /* the cache's own included */
    struct zs_built *chain;         /* of the same slot of the table */
    struct zs_built *newer, *older; /* by last use, when kept */
};

enum { ZS_CACHE_SLOTS = 1024 };

struct zs_cache {
    pthread_mutex_t lock;
    pthread_cond_t settled;
    uint64_t limit_B, total_B;
    struct zs_built *newest, *oldest;
    struct zs_built *slots[ZS_CACHE_SLOTS];
};

void zs_cache_init(struct zs_cache *cache, uint64_t limit_B);
void zs_cache_fini(struct zs_cache *cache); /* nobody holds anything */
/* NULL: no memory. Not is_mine: it is settled. */
struct zs_built *zs_cache_take(struct zs_cache *cache, const uint8_t key[ZS_SHA256_B],
                               bool *ret_is_mine);
void zs_cache_settle(struct zs_cache *cache, struct zs_built *built,
                     enum zs_compiler_status status);
/* Whoever takes the key next has to settle it. */
void zs_cache_forget(struct zs_cache *cache, const uint8_t key[ZS_SHA256_B]);
void zs_cache_release(struct zs_cache *cache, struct zs_built *built);

#endif
