/* SPDX-License-Identifier: MIT */
/*
 * The live allocations of a context, as launches see them.
 *
 * Allocations are kept sorted by address. A launch works on a snapshot: an immutable sorted array
 * that is built when a launch starts and something changed since the last one, and shared by all
 * launches until the next change. Checking an access therefore takes no lock.
 *
 * A kernel may touch whatever its snapshot shows until the launch ends, so freed memory has to
 * stay mapped that long. Launches and removals draw numbers from one sequence; what was removed at
 * number n is released when no pinned launch with a smaller number is left. Pins stand in a list
 * in ascending order, so the oldest is its head.
 */
#include "base/vec.h"
#include "gpu/gpu_priv.h"

#include <errno.h>
#include <stdlib.h>

enum { FREED_MAX = 512 };

struct entry {
    struct zs_gpu_allocation allocation;
    uint64_t *written;
};

struct removal {
    uint64_t sequence;
    struct entry *entry;
    void (*release)(void *ctx);
    void *ctx;
};

struct zs_gpu_snapshot {
    atomic_uint references;
    bool tracked;
    uint32_t count;
    struct zs_port_range ranges[];
};

struct zs_gpu_memory {
    pthread_mutex_t lock;
    struct {
        struct entry **items;
        size_t count, capacity;
    } live; /* ascending by address */
    uint64_t next_id, sequence;
    struct zs_gpu_snapshot *snapshot; /* NULL: changed since the last launch */
    struct zs_gpu_pin *oldest, *newest;
    uint32_t pins;
    struct {
        struct removal *items;
        size_t count, capacity;
    } removals;                                /* ascending by sequence */
    struct zs_gpu_allocation freed[FREED_MAX]; /* a ring */
    uint64_t freed_count;
};

static const char *const kind_names[ZS_GPU_MEMORY_KIND_COUNT] = {
    [ZS_GPU_MEMORY_HOST] = "host",       [ZS_GPU_MEMORY_DEVICE] = "device",
    [ZS_GPU_MEMORY_SHARED] = "shared",   [ZS_GPU_MEMORY_IMAGE] = "image",
    [ZS_GPU_MEMORY_GLOBAL] = "global",   [ZS_GPU_MEMORY_CONSTANT] = "constant",
    [ZS_GPU_MEMORY_VIRTUAL] = "virtual", [ZS_GPU_MEMORY_PRIVATE] = "private",
    [ZS_GPU_MEMORY_PRINTF] = "printf",
};

const char *zs_gpu_memory_kind_name(enum zs_gpu_memory_kind kind)
{
    return (unsigned)kind < ZS_GPU_MEMORY_KIND_COUNT ? kind_names[kind] : "unknown";
}

int zs_gpu_memory_create(struct zs_gpu_memory **ret_memory)
{
    struct zs_gpu_memory *memory = calloc(1, sizeof(*memory));
    if (!memory)
        return -ENOMEM;
    pthread_mutex_init(&memory->lock, NULL);
    *ret_memory = memory;
    return 0;
}

static void snapshot_drop(struct zs_gpu_snapshot *snapshot)
{
    if (snapshot && atomic_fetch_sub(&snapshot->references, 1) == 1)
        free(snapshot);
}

static void entry_free(struct entry *entry)
{
    free(entry->written);
    free(entry);
}

void zs_gpu_memory_destroy(struct zs_gpu_memory *memory)
{
    if (!memory)
        return;
    zs_assert(memory->pins == 0);
    snapshot_drop(memory->snapshot);
    for (size_t i = 0; i < memory->live.count; i++)
        entry_free(memory->live.items[i]);
    free(memory->live.items);
    free(memory->removals.items);
    pthread_mutex_destroy(&memory->lock);
    free(memory);
}

/* Index of the first live allocation that starts behind gpu_va. */
static size_t upper(const struct zs_gpu_memory *memory, uint64_t gpu_va)
{
    size_t low = 0, high = memory->live.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (memory->live.items[middle]->allocation.gpu_va <= gpu_va)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint64_t end_of(const struct zs_gpu_allocation *a)
{
    return a->gpu_va + a->size_B;
}

static struct entry *find(const struct zs_gpu_memory *memory, uint64_t gpu_va)
{
    size_t i = upper(memory, gpu_va);
    if (i == 0 || gpu_va >= end_of(&memory->live.items[i - 1]->allocation))
        return NULL;
    return memory->live.items[i - 1];
}

static void changed(struct zs_gpu_memory *memory)
{
    snapshot_drop(memory->snapshot);
    memory->snapshot = NULL;
}

static int insert(struct zs_gpu_memory *memory, struct entry *entry)
{
    const struct zs_gpu_allocation *a = &entry->allocation;
    size_t i = upper(memory, a->gpu_va);
    if (i > 0 && end_of(&memory->live.items[i - 1]->allocation) > a->gpu_va)
        return -EEXIST;
    if (i < memory->live.count && memory->live.items[i]->allocation.gpu_va < end_of(a))
        return -EEXIST;
    if (!ZS_VEC_RESERVE(&memory->live, 1))
        return -ENOMEM;
    memmove(&memory->live.items[i + 1], &memory->live.items[i],
            (memory->live.count - i) * sizeof(*memory->live.items));
    memory->live.items[i] = entry;
    memory->live.count++;
    entry->allocation.id = ++memory->next_id;
    changed(memory);
    return 0;
}

int zs_gpu_memory_add(struct zs_gpu_memory *memory, const struct zs_gpu_allocation *allocation,
                      uint64_t *ret_id)
{
    uint64_t end;
    if (allocation->size_B == 0 || !zs_add_u64(allocation->gpu_va, allocation->size_B, &end))
        return -EINVAL;
    struct entry *entry = calloc(1, sizeof(*entry));
    if (!entry)
        return -ENOMEM;
    entry->allocation = *allocation;
    entry->allocation.freed = false;
    int error = 0;
    if (allocation->flags & ZS_GPU_ALLOCATION_TRACK_WRITES) {
        entry->written = calloc(allocation->size_B / 64 + 1, sizeof(uint64_t));
        error = entry->written ? 0 : -ENOMEM;
    }
    pthread_mutex_lock(&memory->lock);
    if (!error)
        error = insert(memory, entry);
    if (!error && ret_id)
        *ret_id = entry->allocation.id;
    pthread_mutex_unlock(&memory->lock);
    if (error)
        entry_free(entry);
    return error;
}

/* Take the removals that no launch can see any more; the caller releases them without the lock. */
static size_t take_released(struct zs_gpu_memory *memory, struct removal **ret_items)
{
    uint64_t oldest = memory->oldest ? memory->oldest->sequence : UINT64_MAX;
    size_t n = 0;
    while (n < memory->removals.count && memory->removals.items[n].sequence < oldest)
        n++;
    *ret_items = NULL;
    if (n == 0)
        return 0;
    struct removal *items = malloc(n * sizeof(*items));
    if (!items)
        return 0; /* the next unpin tries again */
    memcpy(items, memory->removals.items, n * sizeof(*items));
    memory->removals.count -= n;
    memmove(memory->removals.items, memory->removals.items + n,
            memory->removals.count * sizeof(*memory->removals.items));
    *ret_items = items;
    return n;
}

static void release_all(struct removal *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (items[i].release)
            items[i].release(items[i].ctx);
        entry_free(items[i].entry);
    }
    free(items);
}

int zs_gpu_memory_remove(struct zs_gpu_memory *memory, uint64_t gpu_va, void (*release)(void *ctx),
                         void *ctx)
{
    pthread_mutex_lock(&memory->lock);
    struct entry *entry = find(memory, gpu_va);
    if (!entry || entry->allocation.gpu_va != gpu_va) {
        pthread_mutex_unlock(&memory->lock);
        return -ENOENT;
    }
    if (memory->pins && !ZS_VEC_RESERVE(&memory->removals, 1)) {
        pthread_mutex_unlock(&memory->lock);
        return -ENOMEM;
    }
    size_t i = upper(memory, gpu_va) - 1;
    memory->live.count--;
    memmove(&memory->live.items[i], &memory->live.items[i + 1],
            (memory->live.count - i) * sizeof(*memory->live.items));
    changed(memory);
    memory->freed[memory->freed_count % FREED_MAX] = entry->allocation;
    memory->freed[memory->freed_count % FREED_MAX].freed = true;
    memory->freed_count++;
    bool now = memory->pins == 0;
    if (!now)
        memory->removals.items[memory->removals.count++] = (struct removal){
            .sequence = memory->sequence, .entry = entry, .release = release, .ctx = ctx};
    pthread_mutex_unlock(&memory->lock);
    if (now) {
        if (release)
            release(ctx);
        entry_free(entry);
    }
    return 0;
}

bool zs_gpu_memory_find(struct zs_gpu_memory *memory, uint64_t gpu_va,
                        struct zs_gpu_allocation *ret_allocation)
{
    pthread_mutex_lock(&memory->lock);
    const struct entry *entry = find(memory, gpu_va);
    if (entry)
        *ret_allocation = entry->allocation;
    pthread_mutex_unlock(&memory->lock);
    return entry != NULL;
}

void zs_gpu_memory_mark_written(struct zs_gpu_memory *memory, uint64_t gpu_va, uint64_t size_B)
{
    pthread_mutex_lock(&memory->lock);
    struct entry *entry = find(memory, gpu_va);
    if (entry && entry->written) {
        uint64_t from = gpu_va - entry->allocation.gpu_va;
        uint64_t to = from + ZS_MIN(size_B, entry->allocation.size_B - from);
        for (uint64_t at = from; at < to;) {
            uint64_t bits = ZS_MIN(64 - at % 64, to - at);
            uint64_t mask = (bits == 64 ? UINT64_MAX : (1ull << bits) - 1) << at % 64;
            __atomic_fetch_or(&entry->written[at / 64], mask, __ATOMIC_RELAXED);
            at += bits;
        }
    }
    pthread_mutex_unlock(&memory->lock);
}

bool zs_gpu_memory_is_empty(struct zs_gpu_memory *memory)
{
    pthread_mutex_lock(&memory->lock);
    bool empty = memory->live.count == 0;
    pthread_mutex_unlock(&memory->lock);
    return empty;
}

uint32_t zs_gpu_memory_busy(struct zs_gpu_memory *memory)
{
    pthread_mutex_lock(&memory->lock);
    uint32_t pins = memory->pins;
    pthread_mutex_unlock(&memory->lock);
    return pins;
}

/* ---- snapshots ---------------------------------------------------------------------------------
 */

static struct zs_gpu_snapshot *snapshot_build(const struct zs_gpu_memory *memory)
{
    size_t count = memory->live.count;
    struct zs_gpu_snapshot *s = malloc(sizeof(*s) + count * sizeof(s->ranges[0]));
    if (!s)
        return NULL;
    atomic_init(&s->references, 1);
    s->tracked = false;
    s->count = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        const struct entry *entry = memory->live.items[i];
        s->ranges[i] = (struct zs_port_range){
            .start = entry->allocation.gpu_va,
            .end = end_of(&entry->allocation),
            .read_only = (entry->allocation.flags & ZS_GPU_ALLOCATION_READ_ONLY) != 0,
            .index = (uint32_t)i,
            .written = entry->written};
        s->tracked |= entry->written != NULL;
    }
    return s;
}

int zs_gpu_memory_pin(struct zs_gpu_memory *memory, struct zs_gpu_pin *pin)
{
    pthread_mutex_lock(&memory->lock);
    if (!memory->snapshot)
        memory->snapshot = snapshot_build(memory);
    struct zs_gpu_snapshot *s = memory->snapshot;
    if (s) {
        atomic_fetch_add(&s->references, 1);
        *pin = (struct zs_gpu_pin){.snapshot = s,
                                   .map = {s->ranges, s->count},
                                   .tracked = s->tracked,
                                   .sequence = ++memory->sequence,
                                   .previous = memory->newest};
        if (memory->newest)
            memory->newest->next = pin;
        else
            memory->oldest = pin;
        memory->newest = pin;
        memory->pins++;
    }
    pthread_mutex_unlock(&memory->lock);
    return s ? 0 : -ENOMEM;
}

void zs_gpu_memory_unpin(struct zs_gpu_memory *memory, struct zs_gpu_pin *pin)
{
    struct removal *released;
    pthread_mutex_lock(&memory->lock);
    if (pin->previous)
        pin->previous->next = pin->next;
    else
        memory->oldest = pin->next;
    if (pin->next)
        pin->next->previous = pin->previous;
    else
        memory->newest = pin->previous;
    memory->pins--;
    size_t count = take_released(memory, &released);
    pthread_mutex_unlock(&memory->lock);
    release_all(released, count);
    snapshot_drop(pin->snapshot);
}

static bool overlaps(const struct zs_port_map *map, const struct zs_port_range *range)
{
    uint32_t low = 0, high = map->count; /* the first that ends behind the start */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (map->ranges[middle].end <= range->start)
            low = middle + 1;
        else
            high = middle;
    }
    return low < map->count && map->ranges[low].start < range->end;
}

static int compare_ranges(const void *a, const void *b)
{
    const struct zs_port_range *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

int zs_gpu_pin_join(struct zs_gpu_pin *own, const struct zs_gpu_pin *others, uint32_t count,
                    struct zs_port_range **ret_ranges)
{
    size_t total = own->map.count, kept = own->map.count;
    for (uint32_t i = 0; i < count; i++)
        total += others[i].map.count;
    struct zs_port_range *ranges = malloc(ZS_MAX(total, (size_t)1) * sizeof(*ranges));
    if (!ranges)
        return -ENOMEM;
    for (size_t i = 0; i < kept; i++) {
        ranges[i] = own->map.ranges[i];
        ranges[i].index = 0; /* whose: the first ones go before their equals */
    }
    for (uint32_t i = 0; i < count; i++) {
        own->tracked |= others[i].tracked;
        for (uint32_t k = 0; k < others[i].map.count; k++) {
            const struct zs_port_range *r = &others[i].map.ranges[k];
            if (overlaps(&own->map, r))
                continue;
            ranges[kept] = *r;
            ranges[kept++].index = i + 1;
        }
    }
    qsort(ranges, kept, sizeof(*ranges), compare_ranges);
    size_t end = 0;
    for (size_t i = 0; i < kept; i++)
        if (end == 0 || ranges[i].start >= ranges[end - 1].end)
            ranges[end++] = ranges[i];
    own->map = (struct zs_port_map){ranges, (uint32_t)end};
    *ret_ranges = ranges;
    return 0;
}

/* ---- for faults --------------------------------------------------------------------------------
 */

static uint64_t distance(const struct zs_gpu_allocation *a, uint64_t gpu_va)
{
    if (gpu_va < a->gpu_va)
        return a->gpu_va - gpu_va;
    return gpu_va < end_of(a) ? 0 : gpu_va - end_of(a) + 1;
}

uint32_t zs_gpu_memory_nearest(struct zs_gpu_memory *memory, uint64_t gpu_va,
                               struct zs_gpu_allocation ret_nearest[2])
{
    const struct zs_gpu_allocation *live = NULL, *freed = NULL;
    pthread_mutex_lock(&memory->lock);
    size_t i = upper(memory, gpu_va);
    if (i > 0)
        live = &memory->live.items[i - 1]->allocation;
    if (i < memory->live.count) {
        const struct zs_gpu_allocation *next = &memory->live.items[i]->allocation;
        if (!live || distance(next, gpu_va) < distance(live, gpu_va))
            live = next;
    }
    uint64_t kept = ZS_MIN(memory->freed_count, (uint64_t)FREED_MAX);
    for (uint64_t n = 1; n <= kept; n++) { /* from the latest: on equal distance it wins */
        const struct zs_gpu_allocation *a = &memory->freed[(memory->freed_count - n) % FREED_MAX];
        if (!freed || distance(a, gpu_va) < distance(freed, gpu_va))
            freed = a;
    }
    uint32_t count = 0;
    bool freed_first = freed && (!live || distance(freed, gpu_va) < distance(live, gpu_va));
    if (freed_first)
        ret_nearest[count++] = *freed;
    if (live)
        ret_nearest[count++] = *live;
    pthread_mutex_unlock(&memory->lock);
    return count;
}
