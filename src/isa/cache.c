/* SPDX-License-Identifier: MIT */
/*
 * Decoded instructions by their bytes, shared by the kernels of a module and by threads.
 *
 * The table is split into shards with a lock each; an entry's fields change only under its shard's
 * lock and only from "not there" to "there", and a thread looks at a field only after it saw it set
 * under the lock. Pointers that were handed out stay valid until the cache is closed.
 */
#include "base/arena.h"
#include "isa/isa_priv.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum {
    SHARD_COUNT = 32,
    BUCKETS_FIRST = 64,
    /* Code whose instructions are all different would make the cache several times its size. */
    SHARD_LIMIT_B = 1 << 20,
};

struct shard {
    pthread_mutex_t lock;
    struct zs_isa_entry **buckets;
    uint32_t bucket_count, entry_count;
    struct zs_arena arena;
};

struct zs_isa_cache {
    enum zs_isa_platform platform;
    atomic_uint_fast64_t batches;
    struct shard shards[SHARD_COUNT];
};

static uint64_t hash_bytes(const uint8_t bytes[16])
{
    uint64_t a, b;
    memcpy(&a, bytes, 8);
    memcpy(&b, bytes + 8, 8);
    uint64_t h = a * UINT64_C(0x9e3779b97f4a7c15) ^ (b + UINT64_C(0x632be59bd9b4e019));
    h = (h ^ h >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    return h ^ h >> 32;
}

struct zs_isa_cache *zs_isa_cache_open(enum zs_isa_platform platform)
{
    struct zs_isa_cache *cache = calloc(1, sizeof(*cache));
    if (!cache)
        return NULL;
    cache->platform = platform;
    for (uint32_t i = 0; i < SHARD_COUNT; i++) {
        pthread_mutex_init(&cache->shards[i].lock, NULL);
        zs_arena_init(&cache->shards[i].arena, 0);
    }
    return cache;
}

void zs_isa_cache_close(struct zs_isa_cache *cache)
{
    if (!cache)
        return;
    for (uint32_t i = 0; i < SHARD_COUNT; i++) {
        pthread_mutex_destroy(&cache->shards[i].lock);
        zs_arena_fini(&cache->shards[i].arena);
        free(cache->shards[i].buckets);
    }
    free(cache);
}

enum zs_isa_platform zs_isa_cache_platform(const struct zs_isa_cache *cache)
{
    return cache->platform;
}

uint64_t zs_isa_cache_new_batch(struct zs_isa_cache *cache)
{
    return (uint64_t)atomic_fetch_add_explicit(&cache->batches, 1, memory_order_relaxed) + 1;
}

void zs_isa_entry_init(struct zs_isa_entry *entry, const uint8_t *bytes, uint32_t size_B)
{
    memcpy(entry->bytes, bytes, size_B);
    memset(entry->bytes + size_B, 0, sizeof(entry->bytes) - size_B);
    entry->size_B = (uint8_t)size_B;
    if (zs_isa_raw_is_branch(bytes))
        entry->flags |= ZS_ENTRY_BRANCH;
    if (zs_isa_raw_is_send(bytes))
        entry->flags |= ZS_ENTRY_SEND;
}

/* Twice as many buckets; staying with the old ones is only slower. */
static void grow_shard(struct shard *shard)
{
    uint32_t count = shard->bucket_count ? shard->bucket_count * 2 : BUCKETS_FIRST;
    struct zs_isa_entry **buckets = calloc(count, sizeof(*buckets));
    if (!buckets)
        return;
    for (uint32_t i = 0; i < shard->bucket_count; i++) {
        for (struct zs_isa_entry *entry = shard->buckets[i], *next; entry; entry = next) {
            next = entry->next;
            size_t at = (hash_bytes(entry->bytes) / SHARD_COUNT) & (count - 1);
            entry->next = buckets[at];
            buckets[at] = entry;
        }
    }
    free(shard->buckets);
    shard->buckets = buckets;
    shard->bucket_count = count;
}

static struct zs_isa_entry *find_or_add(struct shard *shard, uint64_t hash, const uint8_t bytes[16],
                                        uint32_t size_B)
{
    if (shard->entry_count >= shard->bucket_count)
        grow_shard(shard);
    if (!shard->buckets)
        return NULL;
    struct zs_isa_entry **bucket =
        &shard->buckets[(hash / SHARD_COUNT) & (shard->bucket_count - 1)];
    for (struct zs_isa_entry *entry = *bucket; entry; entry = entry->next)
        if (memcmp(entry->bytes, bytes, 16) == 0 && entry->size_B == size_B)
            return entry;
    if (shard->arena.used_B >= SHARD_LIMIT_B)
        return NULL;
    struct zs_isa_entry *entry = ZS_ARENA_NEW(&shard->arena, struct zs_isa_entry);
    if (!entry)
        return NULL;
    zs_isa_entry_init(entry, bytes, size_B);
    entry->next = *bucket;
    *bucket = entry;
    shard->entry_count++;
    return entry;
}

static bool lacks(const struct zs_isa_entry *entry, uint32_t want)
{
    return (want & ZS_ISA_TEXT && !entry->line) || (want & ZS_ISA_INSTS && !entry->template);
}

struct zs_isa_entry *zs_isa_cache_get(struct zs_isa_cache *cache, const uint8_t *bytes,
                                      uint32_t size_B, uint32_t want, uint64_t batch,
                                      bool *ret_take)
{
    uint8_t padded[16] = {0};
    memcpy(padded, bytes, size_B);
    uint64_t hash = hash_bytes(padded);
    struct shard *shard = &cache->shards[hash % SHARD_COUNT];
    *ret_take = false;
    pthread_mutex_lock(&shard->lock);
    struct zs_isa_entry *entry = find_or_add(shard, hash, padded, size_B);
    if (entry && entry->batch != batch && lacks(entry, want)) {
        entry->batch = batch;
        *ret_take = true;
    }
    pthread_mutex_unlock(&shard->lock);
    return entry;
}

static struct shard *shard_of(struct zs_isa_cache *cache, const struct zs_isa_entry *entry)
{
    return &cache->shards[hash_bytes(entry->bytes) % SHARD_COUNT];
}

bool zs_isa_cache_lacks(struct zs_isa_cache *cache, const struct zs_isa_entry *entry, uint32_t want)
{
    struct shard *shard = shard_of(cache, entry);
    pthread_mutex_lock(&shard->lock);
    bool yes = lacks(entry, want);
    pthread_mutex_unlock(&shard->lock);
    return yes;
}

void zs_isa_entry_set_text(struct zs_isa_entry *entry, const char *line, size_t size_B)
{
    static const char illegal[] = "illegal";
    size_t lead = 0, end = size_B;
    while (lead < end && line[lead] == ' ')
        lead++;
    while (end > lead && line[end - 1] == ' ')
        end--;
    entry->lead_B = (uint16_t)lead;
    entry->text_size_B = (uint16_t)(end - lead);
    entry->line_size_B = (uint16_t)size_B;
    if (end - lead >= sizeof(illegal) - 1 && memcmp(line + lead, illegal, sizeof(illegal) - 1) == 0)
        entry->text_flags |= ZS_TEXT_ILLEGAL;
    else if (entry->flags & ZS_ENTRY_SEND && memmem(line, size_B, "EOT", 3))
        entry->text_flags |= ZS_TEXT_EOT;
    entry->line = line;
}

int zs_isa_cache_put_text(struct zs_isa_cache *cache, struct zs_isa_entry *entry, const char *line,
                          size_t size_B)
{
    struct shard *shard = shard_of(cache, entry);
    int error = 0;
    pthread_mutex_lock(&shard->lock);
    if (!entry->line) {
        char *copy = zs_arena_alloc(&shard->arena, size_B);
        if (copy) {
            memcpy(copy, line, size_B);
            zs_isa_entry_set_text(entry, copy, size_B);
        } else {
            error = -ENOMEM;
        }
    }
    pthread_mutex_unlock(&shard->lock);
    return error;
}

int zs_isa_cache_put_template(struct zs_isa_cache *cache, struct zs_isa_entry *entry,
                              const struct zs_isa_template *template)
{
    struct shard *shard = shard_of(cache, entry);
    int error = 0;
    pthread_mutex_lock(&shard->lock);
    if (!entry->template) {
        struct zs_isa_template *copy = ZS_ARENA_NEW(&shard->arena, struct zs_isa_template);
        if (copy) {
            *copy = *template;
            entry->template = copy;
        } else {
            error = -ENOMEM;
        }
    }
    pthread_mutex_unlock(&shard->lock);
    return error;
}
