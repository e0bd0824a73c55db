/* SPDX-License-Identifier: MIT */
/*
 * The live allocations of a context, and how long what was freed stays mapped.
 *
 * Allocations are kept in a tree by address. A launch works on a second one, `shown`, as it was
 * when the launch asked for it (dataport/map.c): what changes afterwards does not show there, and
 * checking an access takes no lock. The first tree has its nodes in the allocations, so that taking
 * one out needs no memory; should there be none for the second one then, it is made anew from the
 * first.
 *
 * One mechanism decides when memory that was freed may go. Whoever touches memory holds it:
 *   - a copy from its start to its end: whatever is alive at some time in between;
 *   - each host thread of a launch: what its snapshot shows. It renews its snapshot between two
 *     slices when something was freed, so that this hold is a short one even when the kernel never
 *     ends;
 *   - a launch as a whole: what its arguments name, or, where pointers in memory may lead anywhere
 *     (zs_gpu_launch: ZS_GPU_LAUNCH_KEEP_ALL), all that was alive as it began.
 * Everything draws numbers from one sequence: an allocation as it is made and as it is freed, a
 * hold as it is taken. So it is a comparison whether a hold concerns a freed allocation. Removing
 * counts the holds that do, their ends count down, and the last one calls release. Nothing of it
 * needs memory, so freeing cannot fail.
 *
 * Where pages are about to change under an address that stays (mappings, a move into a memfd),
 * zs_gpu_memory_stop() waits until nobody holds anything of the first two kinds, and those that
 * come wait until zs_gpu_memory_resume().
 */
#include "gpu/gpu_priv.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

enum { FREED_MAX = 512 };

struct entry {
    struct zs_port_node node; /* first: of the tree of live ones */
    struct zs_gpu_allocation allocation;
    uint64_t *written;
    uint64_t made, freed; /* numbers of the sequence */
    /* freed and held: */
    struct entry *older, *newer;
    uint32_t holders;
    void (*release)(void *ctx);
    void *ctx;
};

struct zs_gpu_memory {
    pthread_mutex_t lock;
    struct zs_port_map live, shown;
    bool shows_nothing; /* there was no memory for `shown`: not that nothing is live */
    size_t tracked;     /* live ones that remember what was written */
    uint64_t next_id, sequence;
    struct zs_gpu_hold *holds;
    struct zs_gpu_keep *keeps;
    struct entry *newest; /* of those that are freed and held */
    uint32_t hold_count;
    atomic_bool stopped;
    pthread_cond_t quiet; /* no hold is left, or it goes on */
    atomic_uint_fast64_t changes;
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
    pthread_cond_init(&memory->quiet, NULL);
    *ret_memory = memory;
    return 0;
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
    zs_assert(memory->hold_count == 0 && !memory->keeps);
    zs_port_map_drop(&memory->shown);
    while (memory->live.root) {
        struct entry *entry = (struct entry *)memory->live.root;
        (void)!zs_port_map_remove(&memory->live, entry->node.range.start);
        entry_free(entry);
    }
    pthread_cond_destroy(&memory->quiet);
    pthread_mutex_destroy(&memory->lock);
    free(memory);
}

static uint64_t end_of(const struct zs_gpu_allocation *a)
{
    return a->gpu_va + a->size_B;
}

/* Live ranges are the first member of nodes, and these of entries. */
static struct entry *entry_of(const struct zs_port_range *range)
{
    return (struct entry *)(uintptr_t)range;
}
_Static_assert(offsetof(struct entry, node.range) == 0, "entry_of()");

static struct entry *find(const struct zs_gpu_memory *memory, uint64_t gpu_va)
{
    return entry_of(zs_port_map_find(&memory->live, gpu_va, 1));
}

static bool is_free(const struct zs_port_map *map, const struct zs_port_range *range)
{
    const struct zs_port_range *below = zs_port_map_floor(map, range->start);
    const struct zs_port_range *above = zs_port_map_above(map, range->start);
    return (!below || below->end <= range->start) && (!above || range->end <= above->start);
}

static int insert(struct zs_gpu_memory *memory, struct entry *entry)
{
    const struct zs_gpu_allocation *a = &entry->allocation;
    const struct zs_port_range range = {.start = a->gpu_va,
                                        .end = end_of(a),
                                        .read_only = (a->flags & ZS_GPU_ALLOCATION_READ_ONLY) != 0,
                                        .written = entry->written};
    if (!is_free(&memory->live, &range))
        return -EEXIST;
    if (!memory->shows_nothing && !zs_port_map_insert(&memory->shown, &range)) {
        memory->shows_nothing = true;
        return -ENOMEM;
    }
    zs_port_node_init(&entry->node, &range, true);
    (void)!zs_port_map_put(&memory->live, &entry->node);
    memory->tracked += entry->written != NULL;
    entry->allocation.id = ++memory->next_id;
    entry->made = ++memory->sequence;
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

/* ---- lifetime ----------------------------------------------------------------------------------
 */

static bool hold_concerns(const struct zs_gpu_hold *hold, const struct entry *entry)
{
    return hold->taken < entry->freed && entry->made <= hold->newest;
}

static bool is_named(const struct zs_gpu_args *args, const struct zs_gpu_allocation *a)
{
    for (uint32_t i = 0; i < args->kernel->module->arg_count; i++) {
        if (args->named_va[i] - a->gpu_va < a->size_B)
            return true;
    }
    return false;
}

static bool keep_concerns(const struct zs_gpu_keep *keep, const struct entry *entry)
{
    const struct zs_gpu_allocation *a = &entry->allocation;
    if (keep->begun >= entry->freed || entry->made > keep->begun ||
        (a->flags & ZS_GPU_ALLOCATION_WITHDRAWABLE))
        return false;
    return keep->all || is_named(keep->args, a);
}

/* Entries that nobody holds any more, linked by `older`; to be released without the lock. */
static void let_go(struct zs_gpu_memory *memory, struct entry *entry, struct entry **released)
{
    if (--entry->holders)
        return;
    if (entry->newer)
        entry->newer->older = entry->older;
    else
        memory->newest = entry->older;
    if (entry->older)
        entry->older->newer = entry->newer;
    entry->older = *released;
    *released = entry;
}

static void release_all(struct entry *entry)
{
    while (entry) {
        struct entry *next = entry->older;
        if (entry->release)
            entry->release(entry->ctx);
        entry_free(entry);
        entry = next;
    }
}

static void count_holders(const struct zs_gpu_memory *memory, struct entry *entry)
{
    for (const struct zs_gpu_hold *h = memory->holds; h; h = h->next)
        entry->holders += hold_concerns(h, entry);
    for (const struct zs_gpu_keep *k = memory->keeps; k; k = k->next)
        entry->holders += keep_concerns(k, entry);
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
    (void)!zs_port_map_remove(&memory->live, gpu_va);
    if (!memory->shows_nothing && !zs_port_map_remove(&memory->shown, gpu_va))
        memory->shows_nothing = true;
    memory->tracked -= entry->written != NULL;
    memory->freed[memory->freed_count % FREED_MAX] = entry->allocation;
    memory->freed[memory->freed_count % FREED_MAX].freed = true;
    memory->freed_count++;
    entry->freed = ++memory->sequence;
    entry->release = release;
    entry->ctx = ctx;
    count_holders(memory, entry);
    if (entry->holders) {
        atomic_fetch_add(&memory->changes, 1);
        entry->older = memory->newest;
        if (entry->older)
            entry->older->newer = entry;
        memory->newest = entry;
        entry = NULL;
    }
    pthread_mutex_unlock(&memory->lock);
    release_all(entry);
    return 0;
}

/* Under the lock. */
static void begin_hold(struct zs_gpu_memory *memory, struct zs_gpu_hold *hold)
{
    while (memory->stopped)
        pthread_cond_wait(&memory->quiet, &memory->lock);
    hold->taken = hold->newest = ++memory->sequence;
    hold->previous = NULL;
    hold->next = memory->holds;
    if (hold->next)
        hold->next->previous = hold;
    memory->holds = hold;
    memory->hold_count++;
}

static struct entry *end_hold(struct zs_gpu_memory *memory, struct zs_gpu_hold *hold)
{
    struct entry *released = NULL;
    if (hold->previous)
        hold->previous->next = hold->next;
    else
        memory->holds = hold->next;
    if (hold->next)
        hold->next->previous = hold->previous;
    for (struct entry *e = memory->newest, *older; e && e->freed > hold->taken; e = older) {
        older = e->older;
        if (hold_concerns(hold, e))
            let_go(memory, e, &released);
    }
    if (--memory->hold_count == 0 && memory->stopped)
        pthread_cond_broadcast(&memory->quiet);
    return released;
}

static struct entry *end_keep(struct zs_gpu_memory *memory, struct zs_gpu_keep *keep)
{
    struct entry *released = NULL;
    if (keep->previous)
        keep->previous->next = keep->next;
    else
        memory->keeps = keep->next;
    if (keep->next)
        keep->next->previous = keep->previous;
    keep->begun_here = false;
    for (struct entry *e = memory->newest, *older; e && e->freed > keep->begun; e = older) {
        older = e->older;
        if (keep_concerns(keep, e))
            let_go(memory, e, &released);
    }
    return released;
}

void zs_gpu_memory_hold(struct zs_gpu_memory *memory, struct zs_gpu_hold *hold)
{
    pthread_mutex_lock(&memory->lock);
    begin_hold(memory, hold);
    hold->newest = UINT64_MAX;
    pthread_mutex_unlock(&memory->lock);
}

void zs_gpu_memory_unhold(struct zs_gpu_memory *memory, struct zs_gpu_hold *hold)
{
    pthread_mutex_lock(&memory->lock);
    struct entry *released = end_hold(memory, hold);
    pthread_mutex_unlock(&memory->lock);
    release_all(released);
}

void zs_gpu_memory_stop(struct zs_gpu_memory *memory)
{
    pthread_mutex_lock(&memory->lock);
    while (memory->stopped)
        pthread_cond_wait(&memory->quiet, &memory->lock);
    memory->stopped = true;
    atomic_fetch_add(&memory->changes, 1);
    while (memory->hold_count)
        pthread_cond_wait(&memory->quiet, &memory->lock);
    pthread_mutex_unlock(&memory->lock);
}

void zs_gpu_memory_resume(struct zs_gpu_memory *memory)
{
    pthread_mutex_lock(&memory->lock);
    memory->stopped = false;
    pthread_cond_broadcast(&memory->quiet);
    pthread_mutex_unlock(&memory->lock);
}

bool zs_gpu_memory_is_wanted(struct zs_gpu_memory *memory)
{
    return atomic_load_explicit(&memory->stopped, memory_order_relaxed);
}

uint64_t zs_gpu_memory_changes(struct zs_gpu_memory *memory)
{
    return atomic_load_explicit(&memory->changes, memory_order_relaxed);
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

/* ---- snapshots ---------------------------------------------------------------------------------
 */

/* Anew from what is live. */
static bool show(struct zs_gpu_memory *memory)
{
    if (!memory->shows_nothing)
        return true;
    const struct zs_port_range *range = zs_port_map_above(&memory->live, 0);
    bool ok = true;
    for (; range && ok; range = zs_port_map_above(&memory->live, range->start))
        ok = zs_port_map_insert(&memory->shown, range);
    memory->shows_nothing = !ok;
    return ok;
}

/* What was freed since the launch began and is kept for it is shown to it alone. */
static bool show_kept(const struct zs_gpu_memory *memory, const struct zs_gpu_keep *keep,
                      struct zs_gpu_pin *pin)
{
    bool ok = true;
    for (const struct entry *e = memory->newest; e && e->freed > keep->begun && ok; e = e->older) {
        if (!keep_concerns(keep, e) || !is_free(&pin->map, &e->node.range))
            continue;
        ok = zs_port_map_insert(&pin->map, &e->node.range);
        pin->tracked |= e->written != NULL;
    }
    return ok;
}

/* Under the lock. */
static int take_snapshot(struct zs_gpu_memory *memory, const struct zs_gpu_keep *keep,
                         struct zs_gpu_pin *pin)
{
    if (!show(memory))
        return -ENOMEM;
    pin->map = zs_port_map_ref(&memory->shown);
    pin->tracked = memory->tracked > 0;
    return show_kept(memory, keep, pin) ? 0 : -ENOMEM;
}

int zs_gpu_memory_pin(struct zs_gpu_memory *memory, struct zs_gpu_keep *keep,
                      struct zs_gpu_pin *pin)
{
    pthread_mutex_lock(&memory->lock);
    begin_hold(memory, &pin->hold);
    if (!keep->begun_here) {
        keep->begun_here = true;
        keep->begun = pin->hold.taken;
        keep->previous = NULL;
        keep->next = memory->keeps;
        if (keep->next)
            keep->next->previous = keep;
        memory->keeps = keep;
    }
    int error = take_snapshot(memory, keep, pin);
    struct entry *released = error ? end_hold(memory, &pin->hold) : NULL;
    pthread_mutex_unlock(&memory->lock);
    release_all(released);
    return error;
}

void zs_gpu_memory_unpin(struct zs_gpu_memory *memory, struct zs_gpu_pin *pin,
                         struct zs_gpu_keep *keep)
{
    pthread_mutex_lock(&memory->lock);
    struct entry *released = end_hold(memory, &pin->hold), *kept = NULL;
    if (keep && keep->begun_here)
        kept = end_keep(memory, keep);
    pthread_mutex_unlock(&memory->lock);
    release_all(released);
    release_all(kept);
    zs_port_map_drop(&pin->map);
}

void zs_gpu_memory_end_keep(struct zs_gpu_memory *memory, struct zs_gpu_keep *keep)
{
    if (!keep->begun_here)
        return;
    pthread_mutex_lock(&memory->lock);
    struct entry *released = end_keep(memory, keep);
    pthread_mutex_unlock(&memory->lock);
    release_all(released);
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
    const struct zs_port_range *below = zs_port_map_floor(&memory->live, gpu_va);
    const struct zs_port_range *above = zs_port_map_above(&memory->live, gpu_va);
    if (below)
        live = &entry_of(below)->allocation;
    if (above) {
        const struct zs_gpu_allocation *next = &entry_of(above)->allocation;
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
