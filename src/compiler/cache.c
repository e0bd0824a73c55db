/* SPDX-License-Identifier: MIT */
#include "compiler/cache.h"

#include <stdlib.h>

void zs_cache_init(struct zs_cache *cache, uint64_t limit_B)
{
    *cache = (struct zs_cache){.limit_B = limit_B};
    pthread_mutex_init(&cache->lock, NULL);
    pthread_cond_init(&cache->settled, NULL);
}

static void unref(struct zs_built *built)
{
    if (--built->refs > 0)
        return;
    zs_buf_fini(&built->text);
    zs_buf_fini(&built->binary);
    free(built);
}

static struct zs_built **slot_of(struct zs_cache *cache, const uint8_t *key)
{
    return &cache->slots[((size_t)key[0] << 8 | key[1]) % ZS_CACHE_SLOTS];
}

static void use(struct zs_cache *cache, struct zs_built *built)
{
    built->older = cache->newest;
    built->newer = NULL;
    *(cache->newest ? &cache->newest->newer : &cache->oldest) = built;
    cache->newest = built;
}

static void unuse(struct zs_cache *cache, struct zs_built *built)
{
    *(built->newer ? &built->newer->older : &cache->newest) = built->older;
    *(built->older ? &built->older->newer : &cache->oldest) = built->newer;
}

static uint64_t cost_B(const struct zs_built *built)
{
    return sizeof(*built) + built->text.size_B + built->binary.size_B;
}

static void forget(struct zs_cache *cache, struct zs_built *built)
{
    struct zs_built **at = slot_of(cache, built->key);
    while (*at != built)
        at = &(*at)->chain;
    *at = built->chain;
    if (built->kept) {
        unuse(cache, built);
        cache->total_B -= cost_B(built);
        built->kept = false;
    }
    unref(built);
}

void zs_cache_fini(struct zs_cache *cache)
{
    while (cache->oldest)
        forget(cache, cache->oldest);
    pthread_mutex_destroy(&cache->lock);
    pthread_cond_destroy(&cache->settled);
}

/* NULL: nobody has asked for it. */
static struct zs_built *find(struct zs_cache *cache, const uint8_t *key)
{
    struct zs_built *built = *slot_of(cache, key);
    while (built && memcmp(built->key, key, sizeof(built->key)) != 0)
        built = built->chain;
    return built;
}

void zs_cache_forget(struct zs_cache *cache, const uint8_t key[ZS_SHA256_B])
{
    pthread_mutex_lock(&cache->lock);
    struct zs_built *built = find(cache, key);
    if (built && built->settled)
        forget(cache, built);
    pthread_mutex_unlock(&cache->lock);
}

static struct zs_built *add(struct zs_cache *cache, const uint8_t *key)
{
    struct zs_built *built = calloc(1, sizeof(*built)), **slot = slot_of(cache, key);
    if (!built)
        return NULL;
    memcpy(built->key, key, sizeof(built->key));
    built->refs = 2;
    built->chain = *slot;
    *slot = built;
    return built;
}

struct zs_built *zs_cache_take(struct zs_cache *cache, const uint8_t key[ZS_SHA256_B],
                               bool *ret_is_mine)
{
    pthread_mutex_lock(&cache->lock);
    struct zs_built *built = find(cache, key);
    *ret_is_mine = !built;
    if (!built) {
        built = add(cache, key);
    } else {
        built->refs++;
        while (!built->settled)
            pthread_cond_wait(&cache->settled, &cache->lock);
        if (built->kept) {
            unuse(cache, built);
            use(cache, built);
        }
    }
    pthread_mutex_unlock(&cache->lock);
    return built;
}

void zs_cache_settle(struct zs_cache *cache, struct zs_built *built, enum zs_compiler_status status)
{
    pthread_mutex_lock(&cache->lock);
    built->status = status;
    built->settled = true;
    if (status == ZS_COMPILER_OK && cost_B(built) <= cache->limit_B / 4) {
        built->kept = true;
        cache->total_B += cost_B(built);
        use(cache, built);
        while (cache->total_B > cache->limit_B)
            forget(cache, cache->oldest);
    } else {
        forget(cache, built);
    }
    pthread_cond_broadcast(&cache->settled);
    pthread_mutex_unlock(&cache->lock);
}

void zs_cache_release(struct zs_cache *cache, struct zs_built *built)
{
    pthread_mutex_lock(&cache->lock);
    unref(built);
    pthread_mutex_unlock(&cache->lock);
}
