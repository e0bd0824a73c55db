/* SPDX-License-Identifier: MIT */
#include "driver/memory/quarantine.h"

#include "driver/log.h"
#include "gpu/gpu.h"

#include "base/compiler.h"
#include "base/duration.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

static const uint64_t LIMIT_B = 8ull << 30;
enum { GUARD_MIN_B = 64 << 10, GUARD_MAX_B = 16 << 20 };

struct zs_quarantine {
    pthread_mutex_t lock;
    uint64_t limit_B, kept_B, first, count;
    struct {
        void *pages;
        size_t size_B;
    } kept[ZS_GPU_FREED_MAX]; /* a ring: no more than faults can name */
};

struct zs_quarantine *zs_quarantine_create(const char *limit)
{
    struct zs_quarantine *quarantine = calloc(1, sizeof(*quarantine));
    if (!quarantine)
        return NULL;
    pthread_mutex_init(&quarantine->lock, NULL);
    quarantine->limit_B = LIMIT_B;
    if (limit && *limit && !zs_size_parse(limit, &quarantine->limit_B))
        zs_log_setting("ZESCOPE_QUARANTINE=%s is not a size such as 500M or 2G", limit);
    return quarantine;
}

/* Should the process have as many mappings as it may, the addresses stay taken. */
static void let_go(struct zs_quarantine *quarantine)
{
    uint64_t at = quarantine->first++ % ZS_GPU_FREED_MAX;
    (void)!munmap(quarantine->kept[at].pages, quarantine->kept[at].size_B);
    quarantine->kept_B -= quarantine->kept[at].size_B;
    quarantine->count--;
}

void zs_quarantine_destroy(struct zs_quarantine *quarantine)
{
    if (!quarantine)
        return;
    while (quarantine->count)
        let_go(quarantine);
    pthread_mutex_destroy(&quarantine->lock);
    free(quarantine);
}

bool zs_quarantine_put(struct zs_quarantine *quarantine, void *pages, size_t size_B)
{
    if (size_B > quarantine->limit_B ||
        mmap(pages, size_B, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
             0) == MAP_FAILED)
        return false;
    pthread_mutex_lock(&quarantine->lock);
    while (quarantine->count && (quarantine->count == ZS_GPU_FREED_MAX ||
                                 quarantine->kept_B + size_B > quarantine->limit_B))
        let_go(quarantine);
    uint64_t at = (quarantine->first + quarantine->count++) % ZS_GPU_FREED_MAX;
    quarantine->kept[at].pages = pages;
    quarantine->kept[at].size_B = size_B;
    quarantine->kept_B += size_B;
    pthread_mutex_unlock(&quarantine->lock);
    return true;
}

size_t zs_guard_B(uint64_t size_B)
{
    uint64_t guard_B = ZS_MIN(size_B / 8, (uint64_t)GUARD_MAX_B);
    return (size_t)zs_align_up(ZS_MAX(guard_B, (uint64_t)GUARD_MIN_B), GUARD_MIN_B);
}
