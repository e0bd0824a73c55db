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
 * One mechanism decides when memory that was freed may go. Whoever touches memory pins it:
 *   - a copy from its start to its end: whatever is alive at some time in between;
 *   - each host thread of a launch: what its view shows. It renews its view between two slices
 *     when something was freed, so that this pin is a short one even when the kernel never ends;
 *   - a launch as a whole: what its arguments name, or, where pointers in memory may lead anywhere
 *     (zs_gpu_launch: ZS_GPU_LAUNCH_PIN_ALL), all that was alive as it began.
 * Everything draws numbers from one sequence: an allocation as it is made and as it is freed, a
 * pin as it is taken. So it is a comparison whether a pin concerns a freed allocation. Removing
 * counts the pins that do, their ends count down, and the last one calls release. Nothing of it
 * needs memory, so freeing cannot fail.
 *
 * Where pages are about to change under an address that stays (mappings, a move into a memfd),
 * zs_gpu_memory_stop() waits until nobody pins anything of the first two kinds, and those that
 * come wait until zs_gpu_memory_resume().
 */
#include "gpu/gpu_priv.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

struct entry {
    struct zs_port_node node; /* first: of the tree of live ones */
    struct zs_gpu_allocation allocation;
    uint64_t *written;
    uint64_t made, freed; /* numbers of the sequence */
    /* freed and pinned: */
    struct entry *older, *newer;
    uint32_t pin_count;
    void (*release)(void *ctx);
    void *ctx;
};

struct zs_gpu_memory {
    pthread_mutex_t lock;
    struct zs_port_map live, shown;
    bool shows_nothing; /* there was no memory for `shown`: not that nothing is live */
    size_t tracked;     /* live ones that remember what was written */
    uint64_t next_id, sequence;
    struct zs_gpu_pin *pins;
    struct zs_gpu_launch_pin *launch_pins;
    struct entry *newest; /* of those that are freed and pinned */
    uint32_t pin_count;
    atomic_bool stopped;
    pthread_cond_t quiet; /* no pin is left, or it goes on */
    atomic_uint_fast64_t changes;
    struct zs_gpu_allocation *freed; /* a ring */
    uint64_t freed_count, freed_capacity;
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
    zs_assert(memory->pin_count == 0 && !memory->launch_pins);
    zs_port_map_drop(&memory->shown);
    while (memory->live.root) {
        struct entry *entry = (struct entry *)memory->live.root;
        (void)!zs_port_map_remove(&memory->live, entry->node.range.start);
        entry_free(entry);
    }
    free(memory->freed);
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
                                        .bias = a->bias,
                                        .is_joined = (a->flags & ZS_GPU_ALLOCATION_JOINED) != 0,
                                        .read_only = (a->flags & ZS_GPU_ALLOCATION_READ_ONLY) != 0,
                                        .is_for_reads =
                                            (a->flags & ZS_GPU_ALLOCATION_FOR_READS) != 0,
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
    bool tracked = allocation->flags & ZS_GPU_ALLOCATION_TRACK_WRITES;
    if (allocation->size_B == 0 || (tracked && allocation->bias) ||
        !zs_add_u64(allocation->gpu_va, allocation->size_B, &end))
        return -EINVAL;
    struct entry *entry = calloc(1, sizeof(*entry));
    if (!entry)
        return -ENOMEM;
    entry->allocation = *allocation;
    entry->allocation.freed = false;
    int error = 0;
    if (tracked) {
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

static bool pin_concerns(const struct zs_gpu_pin *pin, const struct entry *entry)
{
    return pin->taken < entry->freed && entry->made <= pin->newest;
}

static bool is_named(const struct zs_gpu_args *args, const struct zs_gpu_allocation *a)
{
    for (uint32_t i = 0; i < args->kernel->module->arg_count; i++) {
        if (args->named_va[i] - a->gpu_va < a->size_B)
            return true;
    }
    return false;
}

static bool launch_pin_concerns(const struct zs_gpu_launch_pin *launch_pin,
                                const struct entry *entry)
{
    const struct zs_gpu_allocation *a = &entry->allocation;
    if (launch_pin->begun >= entry->freed || entry->made > launch_pin->begun ||
        (a->flags & ZS_GPU_ALLOCATION_WITHDRAWABLE))
        return false;
    return launch_pin->all || is_named(launch_pin->args, a);
}

/* Entries that nobody pins any more, linked by `older`; to be released without the lock. */
static void unpin_entry(struct zs_gpu_memory *memory, struct entry *entry, struct entry **released)
{
    if (--entry->pin_count)
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

static void count_pins(const struct zs_gpu_memory *memory, struct entry *entry)
{
    for (const struct zs_gpu_pin *h = memory->pins; h; h = h->next)
        entry->pin_count += pin_concerns(h, entry);
    for (const struct zs_gpu_launch_pin *k = memory->launch_pins; k; k = k->next)
        entry->pin_count += launch_pin_concerns(k, entry);
}

/* Should there be no memory, fewer. */
static void remember(struct zs_gpu_memory *memory, const struct zs_gpu_allocation *freed)
{
    if (memory->freed_count == memory->freed_capacity &&
        memory->freed_capacity < ZS_GPU_FREED_MAX) {
        uint64_t capacity = memory->freed_capacity ? memory->freed_capacity * 4 : 64;
        struct zs_gpu_allocation *grown = realloc(memory->freed, (size_t)capacity * sizeof(*grown));
        if (grown) {
            memory->freed = grown;
            memory->freed_capacity = capacity;
        }
    }
    if (!memory->freed_capacity)
        return;
    struct zs_gpu_allocation *at = &memory->freed[memory->freed_count++ % memory->freed_capacity];
    *at = *freed;
    at->freed = true;
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
    remember(memory, &entry->allocation);
    entry->freed = ++memory->sequence;
    entry->release = release;
    entry->ctx = ctx;
    count_pins(memory, entry);
    if (entry->pin_count) {
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
static void begin_pin(struct zs_gpu_memory *memory, struct zs_gpu_pin *pin)
{
    while (memory->stopped)
        pthread_cond_wait(&memory->quiet, &memory->lock);
    pin->taken = pin->newest = ++memory->sequence;
    pin->previous = NULL;
    pin->next = memory->pins;
    if (pin->next)
        pin->next->previous = pin;
    memory->pins = pin;
    memory->pin_count++;
}

static struct entry *end_pin(struct zs_gpu_memory *memory, struct zs_gpu_pin *pin)
{
    struct entry *released = NULL;
    if (pin->previous)
        pin->previous->next = pin->next;
    else
        memory->pins = pin->next;
    if (pin->next)
        pin->next->previous = pin->previous;
    for (struct entry *e = memory->newest, *older; e && e->freed > pin->taken; e = older) {
        older = e->older;
        if (pin_concerns(pin, e))
            unpin_entry(memory, e, &released);
    }
    if (--memory->pin_count == 0 && memory->stopped)
        pthread_cond_broadcast(&memory->quiet);
    return released;
}

static struct entry *end_launch_pin(struct zs_gpu_memory *memory,
                                    struct zs_gpu_launch_pin *launch_pin)
{
    struct entry *released = NULL;
    if (launch_pin->previous)
        launch_pin->previous->next = launch_pin->next;
    else
        memory->launch_pins = launch_pin->next;
    if (launch_pin->next)
        launch_pin->next->previous = launch_pin->previous;
    launch_pin->begun_here = false;
    for (struct entry *e = memory->newest, *older; e && e->freed > launch_pin->begun; e = older) {
        older = e->older;
        if (launch_pin_concerns(launch_pin, e))
            unpin_entry(memory, e, &released);
    }
    return released;
}

void zs_gpu_memory_pin(struct zs_gpu_memory *memory, struct zs_gpu_pin *pin)
{
    pthread_mutex_lock(&memory->lock);
    begin_pin(memory, pin);
    pin->newest = UINT64_MAX;
    pthread_mutex_unlock(&memory->lock);
}

void zs_gpu_memory_unpin(struct zs_gpu_memory *memory, struct zs_gpu_pin *pin)
{
    pthread_mutex_lock(&memory->lock);
    struct entry *released = end_pin(memory, pin);
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
    while (memory->pin_count)
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

bool zs_gpu_memory_next(struct zs_gpu_memory *memory, uint64_t gpu_va,
                        struct zs_gpu_allocation *ret_allocation)
{
    pthread_mutex_lock(&memory->lock);
    const struct entry *entry = find(memory, gpu_va);
    if (!entry)
        entry = entry_of(zs_port_map_above(&memory->live, gpu_va));
    if (entry)
        *ret_allocation = entry->allocation;
    pthread_mutex_unlock(&memory->lock);
    return entry != NULL;
}

void zs_gpu_memory_freed_by(struct zs_gpu_memory *memory, uint64_t gpu_va, uint64_t origin)
{
    pthread_mutex_lock(&memory->lock);
    struct entry *entry = find(memory, gpu_va);
    if (entry)
        entry->allocation.freed_by = origin;
    pthread_mutex_unlock(&memory->lock);
}

uint8_t *zs_gpu_memory_host(struct zs_gpu_memory *memory, uint64_t gpu_va, uint64_t size_B,
                            bool is_write)
{
    struct zs_port_range range;
    pthread_mutex_lock(&memory->lock);
    bool found = zs_port_map_reach(&memory->live, gpu_va, size_B, &range);
    pthread_mutex_unlock(&memory->lock);
    return found && !(is_write && range.read_only) ? (uint8_t *)(uintptr_t)(gpu_va + range.bias)
                                                   : NULL;
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

/* What was freed since the launch began and is pinned by it is shown to it alone. */
static bool show_freed(const struct zs_gpu_memory *memory,
                       const struct zs_gpu_launch_pin *launch_pin, struct zs_gpu_view *view)
{
    bool ok = true;
    for (const struct entry *e = memory->newest; e && e->freed > launch_pin->begun && ok;
         e = e->older) {
        if (!launch_pin_concerns(launch_pin, e) || !is_free(&view->map, &e->node.range))
            continue;
        ok = zs_port_map_insert(&view->map, &e->node.range);
        view->tracked |= e->written != NULL;
    }
    return ok;
}

/* Under the lock. */
static int fill_view(struct zs_gpu_memory *memory, const struct zs_gpu_launch_pin *launch_pin,
                     struct zs_gpu_view *view)
{
    if (!show(memory))
        return -ENOMEM;
    view->map = zs_port_map_ref(&memory->shown);
    view->tracked = memory->tracked > 0;
    return show_freed(memory, launch_pin, view) ? 0 : -ENOMEM;
}

int zs_gpu_view_open(struct zs_gpu_memory *memory, struct zs_gpu_launch_pin *launch_pin,
                     struct zs_gpu_view *view)
{
    pthread_mutex_lock(&memory->lock);
    begin_pin(memory, &view->pin);
    if (!launch_pin->begun_here) {
        launch_pin->begun_here = true;
        launch_pin->begun = view->pin.taken;
        launch_pin->previous = NULL;
        launch_pin->next = memory->launch_pins;
        if (launch_pin->next)
            launch_pin->next->previous = launch_pin;
        memory->launch_pins = launch_pin;
    }
    int error = fill_view(memory, launch_pin, view);
    struct entry *released = error ? end_pin(memory, &view->pin) : NULL;
    pthread_mutex_unlock(&memory->lock);
    release_all(released);
    return error;
}

void zs_gpu_view_close(struct zs_gpu_memory *memory, struct zs_gpu_view *view,
                       struct zs_gpu_launch_pin *launch_pin)
{
    pthread_mutex_lock(&memory->lock);
    struct entry *released = end_pin(memory, &view->pin), *launched = NULL;
    if (launch_pin && launch_pin->begun_here)
        launched = end_launch_pin(memory, launch_pin);
    pthread_mutex_unlock(&memory->lock);
    release_all(released);
    release_all(launched);
    zs_port_map_drop(&view->map);
}

void zs_gpu_memory_launch_unpin(struct zs_gpu_memory *memory, struct zs_gpu_launch_pin *launch_pin)
{
    if (!launch_pin->begun_here)
        return;
    pthread_mutex_lock(&memory->lock);
    struct entry *released = end_launch_pin(memory, launch_pin);
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
    uint64_t kept = ZS_MIN(memory->freed_count, memory->freed_capacity);
    for (uint64_t n = 1; n <= kept; n++) { /* from the latest: on equal distance it wins */
        const struct zs_gpu_allocation *a =
            &memory->freed[(memory->freed_count - n) % memory->freed_capacity];
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

bool zs_gpu_memory_of_host(struct zs_gpu_memory *memory, uint64_t host,
                           struct zs_gpu_allocation *ret_allocation)
{
    pthread_mutex_lock(&memory->lock);
    const struct zs_port_range *range = zs_port_map_floor(&memory->live, host);
    if (!range || host >= range->end || range->bias) /* under drivers that are not ours */
        range = zs_port_map_above(&memory->live, 0);
    while (range && host - (range->start + range->bias) >= range->end - range->start)
        range = zs_port_map_above(&memory->live, range->start);
    if (range)
        *ret_allocation = entry_of(range)->allocation;
    pthread_mutex_unlock(&memory->lock);
    return range != NULL;
}
