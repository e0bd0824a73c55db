/* SPDX-License-Identifier: MIT */
#include "driver/object.h"

#include "base/checks.h"
#include "driver/report.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { SLOTS_MAX = 1 << 22 };

struct slot {
    _Atomic uint32_t type; /* enum zs_object_type; NONE while free */
    uint32_t next_free;    /* index + 1; guarded by the table's lock */
    void *_Atomic object;
    struct zs_object_history last; /* while free; guarded by the lock */
};

/*
 * The API has no handle for "this process": zeInit and every lookup start from nothing. So this
 * table is one of the driver's two process-wide states (the other is the log).
 */
static struct {
    pthread_mutex_t lock;
    struct slot *_Atomic slots; /* SLOTS_MAX of them, pages appear as they are used */
    uint32_t used;              /* slots that were ever handed out */
    uint32_t free_head, free_tail, free_count; /* index + 1 */
    struct slot *forgotten;                    /* of the process that this one was forked from */
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

#define X(name)                                                                                    \
    static void fini_##name(void *object)                                                          \
    {                                                                                              \
        zs_ze_##name##_fini(object);                                                               \
    }
ZS_OBJECT_TYPES(X)
#undef X

static void (*const fini_of[ZS_OBJECT_TYPE_COUNT])(void *object) = {
#define X(name) [ZS_OBJECT_##name] = fini_##name,
    ZS_OBJECT_TYPES(X)
#undef X
};

void *zs_object_new(enum zs_object_type type, size_t size_B)
{
    struct zs_object *object = calloc(1, size_B);
    if (object) {
        atomic_init(&object->refs, 1);
        object->type = type;
    }
    return object;
}

/* A free slot, or NULL. Under the lock. */
static struct slot *take_slot(struct slot *slots)
{
    if (table.free_count > ZS_SLOTS_RESTING || (table.used == SLOTS_MAX && table.free_count > 0)) {
        struct slot *slot = &slots[table.free_head - 1];
        table.free_head = slot->next_free;
        if (!table.free_head)
            table.free_tail = 0;
        table.free_count--;
        return slot;
    }
    return table.used < SLOTS_MAX ? &slots[table.used++] : NULL;
}

bool zs_object_publish(void *object)
{
    struct zs_object *o = object;
    o->origin = zs_report_origin(ZS_CHECK_LEAK | ZS_CHECK_API);
    pthread_mutex_lock(&table.lock);
    struct slot *slots = atomic_load(&table.slots);
    if (!slots) {
        void *p = mmap(NULL, SLOTS_MAX * sizeof(struct slot), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        slots = p == MAP_FAILED ? NULL : p;
        atomic_store(&table.slots, slots);
    }
    struct slot *slot = slots ? take_slot(slots) : NULL;
    if (slot) {
        o->handle = slot;
        atomic_store_explicit(&slot->object, o, memory_order_relaxed);
        atomic_store_explicit(&slot->type, (uint32_t)o->type, memory_order_release);
    }
    pthread_mutex_unlock(&table.lock);
    return slot != NULL;
}

bool zs_object_retract(void *object)
{
    struct zs_object *o = object;
    uint64_t ended = zs_report_origin(ZS_CHECK_API);
    pthread_mutex_lock(&table.lock);
    struct slot *slots = atomic_load(&table.slots);
    struct slot *slot = o->handle;
    if (slot) {
        uint32_t index = (uint32_t)(slot - slots) + 1;
        slot->last = (struct zs_object_history){o->type, o->origin, ended};
        atomic_store(&slot->type, ZS_OBJECT_NONE);
        atomic_store(&slot->object, NULL);
        slot->next_free = 0;
        if (table.free_tail)
            slots[table.free_tail - 1].next_free = index;
        else
            table.free_head = index;
        table.free_tail = index;
        table.free_count++;
        o->handle = NULL;
    }
    pthread_mutex_unlock(&table.lock);
    return slot != NULL;
}

void *zs_object_ref(void *object)
{
    struct zs_object *o = object;
    if (o)
        atomic_fetch_add_explicit(&o->refs, 1, memory_order_relaxed);
    return object;
}

bool zs_object_ref_live(void *object)
{
    struct zs_object *o = object;
    uint32_t refs = atomic_load(&o->refs);
    while (refs && !atomic_compare_exchange_weak(&o->refs, &refs, refs + 1))
        ;
    return refs != 0;
}

void zs_object_unref(void *object)
{
    struct zs_object *o = object;
    if (!o || atomic_fetch_sub_explicit(&o->refs, 1, memory_order_acq_rel) != 1)
        return;
    fini_of[o->type](o);
    free(o);
}

/* NULL: it points at none. */
static struct slot *slot_of(const void *handle)
{
    struct slot *slots = atomic_load_explicit(&table.slots, memory_order_acquire);
    uintptr_t offset_B = (uintptr_t)handle - (uintptr_t)slots;
    if (!slots || offset_B >= SLOTS_MAX * sizeof(struct slot) || offset_B % sizeof(struct slot))
        return NULL;
    return &slots[offset_B / sizeof(struct slot)];
}

void *zs_object_of(const void *handle, enum zs_object_type type)
{
    struct slot *slot = slot_of(handle);
    if (!slot || atomic_load_explicit(&slot->type, memory_order_acquire) != (uint32_t)type)
        return NULL;
    return atomic_load_explicit(&slot->object, memory_order_relaxed);
}

struct zs_object_history zs_object_history(const void *handle)
{
    struct zs_object_history history = {.type = ZS_OBJECT_NONE};
    struct slot *slot = slot_of(handle);
    pthread_mutex_lock(&table.lock);
    if (slot && atomic_load(&slot->type) == ZS_OBJECT_NONE)
        history = slot->last;
    pthread_mutex_unlock(&table.lock);
    return history;
}

void *zs_object_ref_of(const void *handle, enum zs_object_type type)
{
    pthread_mutex_lock(&table.lock); /* taking a handle away needs it, too */
    void *object = zs_object_ref(zs_object_of(handle, type));
    pthread_mutex_unlock(&table.lock);
    return object;
}

void zs_object_unref_var(void *variable)
{
    void *object;
    memcpy(&object, variable, sizeof(object));
    zs_object_unref(object);
}

bool zs_objects_each(void (*each)(struct zs_object *object, void *closure), void *closure)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    if (pthread_mutex_timedlock(&table.lock, &until))
        return false;
    struct slot *slots = atomic_load(&table.slots);
    for (uint32_t i = 0; i < table.used; i++)
        if (atomic_load(&slots[i].type) != ZS_OBJECT_NONE)
            each(atomic_load(&slots[i].object), closure);
    pthread_mutex_unlock(&table.lock);
    return true;
}

void zs_objects_forget(void)
{
    /* the old table stays mapped: new handles are elsewhere, so old ones are none of theirs */
    table.forgotten = atomic_load(&table.slots);
    pthread_mutex_init(&table.lock, NULL);
    atomic_store(&table.slots, NULL);
    table.used = table.free_head = table.free_tail = table.free_count = 0;
}

bool zs_object_forgotten(const void *handle)
{
    uintptr_t offset_B = (uintptr_t)handle - (uintptr_t)table.forgotten;
    return table.forgotten && offset_B < SLOTS_MAX * sizeof(struct slot);
}
