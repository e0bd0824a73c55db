/* SPDX-License-Identifier: MIT */
/*
 * Counter-based events of later specifications.
 *
 * On hardware such an event is a number that the counter of an in-order list reaches; each append
 * that signals the event replaces the number. Here each of these appends gets a slot of its own,
 * from pools that nobody has a handle of, and the event points at the last one. Appends that wait
 * for it and calls that ask for it take the slot as it is then (zs_event_now), so nobody resets
 * anything.
 *
 * A list may be executed again: its slots count the executions that were submitted and those that
 * are over. A command waits for as many as were submitted when its own list is, so that whatever
 * is submitted later holds up nothing, or for the first one when there was none; the host waits
 * for all of them. An event that no append has signalled yet counts as signalled, as with Intel's
 * driver.
 *
 * Between processes the slot goes over as it is when the handle is made: what signals the event
 * later is seen by those that have a later handle.
 */
#include "driver/queue/event.h"

#include "driver/memory/memory.h"
#include "driver/memory/pages.h"

#include "base/vec.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SLOTS_PER_POOL = 64 }; /* a page of them */

struct zs_event_counter {
    pthread_mutex_t lock; /* of its event's pool and slot, and of `used` */
    uint32_t flags;       /* ZE_EVENT_COUNTER_BASED_FLAG_* */
    uint32_t used;        /* slots of the pool; all of one that another process made */
    bool ipc_opened;
    struct zs_ze_event_pool *origin;
    struct {
        struct zs_ze_event_pool **items; /* of which handles were given out; held */
        size_t count, capacity;
    } shared;
};

void zs_event_counter_free(struct zs_event_counter *counter)
{
    pthread_mutex_destroy(&counter->lock);
    zs_object_unref(counter->origin);
    for (size_t i = 0; i < counter->shared.count; i++)
        zs_object_unref(counter->shared.items[i]);
    free(counter->shared.items);
    free(counter);
}

struct zs_ze_event_pool *zs_event_counter_origin(const struct zs_event_counter *counter)
{
    return counter->origin;
}

static struct zs_ze_event_pool *slots_new(struct zs_ze_context *context, uint32_t flags)
{
    int fd = -1;
    if (flags & ZE_EVENT_COUNTER_BASED_FLAG_IPC) {
        fd = zs_memfd_make("zescope-events", SLOTS_PER_POOL * sizeof(struct zs_event_slot));
        if (fd < 0)
            return NULL;
    }
    return zs_event_pool_new(context, SLOTS_PER_POOL, fd);
}

/* Takes the reference to the pool over. NULL: no memory. */
static struct zs_ze_event *counter_new(struct zs_ze_event_pool *pool, uint32_t index,
                                       uint32_t flags)
{
    struct zs_ze_event *event = pool ? zs_object_new(ZS_OBJECT_event, sizeof(*event)) : NULL;
    struct zs_event_counter *counter = event ? calloc(1, sizeof(*counter)) : NULL;
    if (!counter) {
        zs_object_unref(event);
        zs_object_unref(pool);
        return NULL;
    }
    pthread_mutex_init(&counter->lock, NULL);
    counter->flags = flags;
    event->counter = counter;
    event->pool = pool;
    event->slot = &pool->slots[index];
    return event;
}

static ze_result_t publish(struct zs_ze_event *event, ze_event_handle_t *ret_handle)
{
    if (event && !zs_object_publish(event)) {
        zs_object_unref(event);
        event = NULL;
    }
    if (!event)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    *ret_handle = event->object.handle;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zs_event_counter_make(struct zs_ze_context *context, struct zs_ze_event_pool *origin,
                                  uint32_t flags, const ze_event_desc_t *scopes,
                                  ze_event_handle_t *ret_handle)
{
    struct zs_ze_event *event = counter_new(slots_new(context, flags), 0, flags);
    if (event) {
        event->counter->origin = zs_object_ref(origin);
        event->counter->used = 1;
        event->signal_scope = scopes->signal;
        event->wait_scope = scopes->wait;
        atomic_store(&event->slot->submitted, 1);
        atomic_store(&event->slot->done, 1);
        atomic_store(&event->slot->state, ZS_SIGNAL_READY);
    }
    ze_result_t result = publish(event, ret_handle);
    const char *function = origin ? "zeEventCreate" : "zeEventCounterBasedCreate";
    return result == ZE_RESULT_SUCCESS ? result : zs_refuse(result, function, "no memory");
}

struct zs_ze_event *zs_event_now(struct zs_ze_event *event)
{
    if (!event->counter)
        return zs_object_ref(event);
    struct zs_ze_event *now = zs_object_new(ZS_OBJECT_event, sizeof(*now));
    if (!now)
        return NULL;
    pthread_mutex_lock(&event->counter->lock);
    now->pool = zs_object_ref(event->pool);
    now->slot = event->slot;
    now->counted = true;
    pthread_mutex_unlock(&event->counter->lock);
    return now;
}

const char *zs_event_counter_refusal(const struct zs_event_counter *counter, bool immediate)
{
    uint32_t kind = immediate ? ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE
                              : ZE_EVENT_COUNTER_BASED_FLAG_NON_IMMEDIATE;
    return counter->ipc_opened        ? "was opened from a handle, which is to be waited for"
           : !(counter->flags & kind) ? "not for such lists"
                                      : NULL;
}

bool zs_event_counter_next(struct zs_ze_event *event, struct zs_event_slot **ret_slot,
                           struct zs_ze_event_pool **ret_pool)
{
    struct zs_event_counter *counter = event->counter;
    pthread_mutex_lock(&counter->lock);
    struct zs_ze_event_pool *old = NULL;
    if (counter->used == event->pool->count) {
        struct zs_ze_event_pool *fresh = slots_new(event->pool->context, counter->flags);
        if (!fresh) {
            pthread_mutex_unlock(&counter->lock);
            return false;
        }
        old = event->pool;
        event->pool = fresh;
        counter->used = 0;
    }
    event->slot = &event->pool->slots[counter->used++];
    *ret_slot = event->slot;
    *ret_pool = zs_object_ref(event->pool);
    pthread_mutex_unlock(&counter->lock);
    zs_object_unref(old);
    return true;
}

void zs_event_counter_expect(struct zs_ze_event_pool *pool, struct zs_event_slot *slot)
{
    pthread_mutex_lock(&pool->lock);
    atomic_fetch_add(&slot->submitted, 1);
    zs_signal_set(&slot->state, ZS_SIGNAL_NOT_READY);
    pthread_mutex_unlock(&pool->lock);
}

uint32_t zs_event_counter_target(const struct zs_event_slot *slot)
{
    uint32_t submitted = atomic_load(&slot->submitted);
    return submitted ? submitted : 1;
}

bool zs_event_counter_wait(struct zs_event_slot *slot, uint32_t target, const _Atomic bool *cancel)
{
    for (;;) {
        uint32_t done = atomic_load(&slot->done);
        uint32_t since = done - target;
        if ((int32_t)since >= 0)
            return since >= 64 || !(atomic_load(&slot->failures) >> target % 64 & 1);
        if (cancel && atomic_load(cancel))
            return false;
        zs_word_sleep(&slot->done, done, UINT64_MAX, cancel);
    }
}

/* Under the pool's lock, if others have the slot. The host's state goes first: what waits for the
 * event may tell the host to look at it. */
static void count_done(struct zs_event_slot *slot, bool ok)
{
    uint32_t run = atomic_load(&slot->done) + 1;
    uint64_t bit = 1ull << run % 64;
    if (ok)
        atomic_fetch_and(&slot->failures, ~bit);
    else
        atomic_fetch_or(&slot->failures, bit);
    if (run == atomic_load(&slot->submitted) || !ok)
        zs_signal_set(&slot->state, ok ? ZS_SIGNAL_READY : ZS_SIGNAL_FAILED);
    atomic_store(&slot->done, run);
    zs_word_wake(&slot->done);
}

void zs_event_counter_lost(struct zs_event_slot *slot)
{
    uint32_t none = 0;
    if (atomic_compare_exchange_strong(&slot->submitted, &none, 1)) /* or it ran */
        count_done(slot, false);
}

void zs_event_counter_signal(struct zs_ze_event_pool *pool, struct zs_event_slot *slot, bool ok,
                             uint64_t start_ticks, uint64_t end_ticks)
{
    pthread_mutex_lock(&pool->lock);
    zs_event_times(slot, start_ticks, end_ticks);
    count_done(slot, ok);
    pthread_mutex_unlock(&pool->lock);
}

/* ---- The API -----------------------------------------------------------------------------------
 */

ze_result_t ZE_APICALL zeEventCounterBasedCreate(ze_context_handle_t hContext,
                                                 ze_device_handle_t hDevice,
                                                 const ze_event_counter_based_desc_t *desc,
                                                 ze_event_handle_t *phEvent)
{
    ZS_OBJECT(context, context, hContext);
    ZS_OBJECT(device, device, hDevice);
    ZS_CHECK_MEMBER(context, device);
    ZS_CHECK_POINTER(desc);
    ZS_CHECK_POINTER(phEvent);
    ZS_CHECK_FLAGS(desc->flags, ZS_ALL_ZE_EVENT_COUNTER_BASED_FLAGS);
    ZS_CHECK_FLAGS(desc->signal, 0x7);
    ZS_CHECK_FLAGS(desc->wait, 0x7);
    const uint32_t times =
        ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP | ZE_EVENT_COUNTER_BASED_FLAG_HOST_TIMESTAMP;
    ZS_CHECK((desc->flags & times) != times, ZE_RESULT_ERROR_INVALID_ARGUMENT,
             "timestamps of the device and of the host");
    ZS_CHECK(!(desc->flags & ZE_EVENT_COUNTER_BASED_FLAG_IPC) || !(desc->flags & times),
             ZE_RESULT_ERROR_INVALID_ARGUMENT, "an event with timestamps is not shared");
    ZS_CHECK(
        !zs_chain_find(desc->pNext,
                       ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_EXTERNAL_SYNC_ALLOCATION_DESC) &&
            !zs_chain_find(desc->pNext,
                           ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_EXTERNAL_AGGREGATE_STORAGE_DESC),
        ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "counters in memory of the program");
    uint32_t flags = desc->flags;
    if (!(flags & ZS_ALL_ZE_EVENT_POOL_COUNTER_BASED_EXP_FLAGS))
        flags |= ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE;
    const ze_event_desc_t scopes = {.signal = desc->signal, .wait = desc->wait};
    return zs_event_counter_make(context, NULL, flags, &scopes, phEvent);
}

ze_result_t ZE_APICALL zeEventGetCounterBasedFlags(ze_event_handle_t hEvent, uint32_t *pFlags)
{
    ZS_OBJECT(event, event, hEvent);
    ZS_CHECK_POINTER(pFlags);
    *pFlags = event->counter ? event->counter->flags : 0;
    return ZE_RESULT_SUCCESS;
}

struct ipc_counter {
    int32_t fd; /* first: see struct ipc_memory */
    uint32_t index;
    uint32_t magic;
    int32_t pid;
    uint32_t flags;
    uint32_t scopes; /* signal's below, wait's from bit 16 on */
    uint64_t inode;
};
_Static_assert(sizeof(struct ipc_counter) <= ZE_MAX_IPC_HANDLE_SIZE, "fits in a handle");
enum { IPC_COUNTER_MAGIC = 0x63657a73 };

/* Under the counter's lock: a handle of the pool is good as long as the event. */
static bool keep_shared(struct zs_event_counter *counter, struct zs_ze_event_pool *pool)
{
    size_t count = counter->shared.count;
    if (count && counter->shared.items[count - 1] == pool)
        return true;
    if (!ZS_VEC_PUSH(&counter->shared, pool))
        return false;
    zs_object_ref(pool);
    return true;
}

ze_result_t ZE_APICALL zeEventCounterBasedGetIpcHandle(ze_event_handle_t hEvent,
                                                       ze_ipc_event_counter_based_handle_t *phIpc)
{
    ZS_OBJECT(event, event, hEvent);
    ZS_CHECK_POINTER(phIpc);
    struct zs_event_counter *counter = event->counter;
    ZS_CHECK(counter && (counter->flags & ZE_EVENT_COUNTER_BASED_FLAG_IPC) && !counter->ipc_opened,
             ZE_RESULT_ERROR_INVALID_ARGUMENT, "the event was not made to be shared");
    struct ipc_counter ipc = {.magic = IPC_COUNTER_MAGIC,
                              .pid = getpid(),
                              .flags = counter->flags,
                              .scopes = event->signal_scope | event->wait_scope << 16};
    pthread_mutex_lock(&counter->lock);
    ipc.fd = zs_event_pool_hand(event->pool);
    ipc.inode = (uint64_t)event->pool->file.kept.inode;
    ipc.index = (uint32_t)(event->slot - event->pool->slots);
    bool kept = keep_shared(counter, event->pool);
    pthread_mutex_unlock(&counter->lock);
    ZS_CHECK(ipc.fd >= 0, ZE_RESULT_ERROR_INVALID_ARGUMENT, "the event's memory was closed");
    ZS_CHECK(kept, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory");
    memset(phIpc->data, 0, sizeof(phIpc->data));
    memcpy(phIpc->data, &ipc, sizeof(ipc));
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeEventCounterBasedOpenIpcHandle(ze_context_handle_t hContext,
                                                        ze_ipc_event_counter_based_handle_t hIpc,
                                                        ze_event_handle_t *phEvent)
{
    ZS_OBJECT(context, context, hContext);
    ZS_CHECK_POINTER(phEvent);
    struct ipc_counter ipc;
    memcpy(&ipc, hIpc.data, sizeof(ipc));
    ZS_CHECK(ipc.magic == IPC_COUNTER_MAGIC && ipc.index < SLOTS_PER_POOL,
             ZE_RESULT_ERROR_INVALID_ARGUMENT, "this is no handle of an event of this driver");
    int fd = zs_ipc_open(ipc.pid, ipc.fd, ipc.inode);
    ZS_CHECK(fd >= 0, ZE_RESULT_ERROR_INVALID_ARGUMENT, "event of process %d: %s", ipc.pid,
             strerror(-fd));
    struct stat st;
    const size_t slots_B = SLOTS_PER_POOL * sizeof(struct zs_event_slot);
    if (fstat(fd, &st) != 0 || (uint64_t)st.st_size < slots_B) {
        close(fd);
        return ZS_REFUSE(ZE_RESULT_ERROR_INVALID_ARGUMENT, "event of process %d is smaller",
                         ipc.pid);
    }
    struct zs_ze_event *event =
        counter_new(zs_event_pool_new(context, SLOTS_PER_POOL, fd), ipc.index,
                    ipc.flags & ZS_ALL_ZE_EVENT_COUNTER_BASED_FLAGS);
    if (event) {
        event->counter->used = SLOTS_PER_POOL;
        event->counter->ipc_opened = true;
        event->signal_scope = ipc.scopes & 0x7;
        event->wait_scope = ipc.scopes >> 16 & 0x7;
    }
    ze_result_t result = publish(event, phEvent);
    ZS_CHECK(result == ZE_RESULT_SUCCESS, result, "no memory");
    return result;
}

ze_result_t ZE_APICALL zeEventCounterBasedCloseIpcHandle(ze_event_handle_t hEvent)
{
    ZS_OBJECT(event, event, hEvent);
    ZS_CHECK(event->counter && event->counter->ipc_opened,
             ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT,
             "the event was not opened from a handle");
    if (!zs_object_retract(event))
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    zs_object_unref(event);
    return ZE_RESULT_SUCCESS;
}
