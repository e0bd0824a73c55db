/* SPDX-License-Identifier: MIT */
#include "driver/queue/event.h"
#include "base/clock.h"

#include "driver/memory/memory.h"
#include "driver/memory/pages.h"
#include "driver/queue/order.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* How long a worker sleeps before it looks whether its context was destroyed. */
static const uint64_t CANCEL_POLL_NS = 20000000;
static const uint32_t POOL_EVENTS_MAX = 1u << 24;

/* ---- Words -------------------------------------------------------------------------------------
 */

void zs_word_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

void zs_word_sleep(_Atomic uint32_t *word, uint32_t seen, uint64_t left_ns,
                   const _Atomic bool *cancel)
{
    left_ns = ZS_MIN(left_ns, cancel ? CANCEL_POLL_NS : 3600000000000u);
    struct timespec left = {.tv_sec = (time_t)(left_ns / 1000000000u),
                            .tv_nsec = (long)(left_ns % 1000000000u)};
    syscall(SYS_futex, word, FUTEX_WAIT, seen, &left, NULL, 0);
}

void zs_signal_set(_Atomic uint32_t *word, enum zs_signal_state state)
{
    atomic_store(word, (uint32_t)state);
    if (state != ZS_SIGNAL_NOT_READY)
        zs_word_wake(word);
}

enum zs_signal_state zs_signal_wait(_Atomic uint32_t *word, uint64_t timeout_ns,
                                    const _Atomic bool *cancel)
{
    uint64_t start_ns = timeout_ns && timeout_ns != UINT64_MAX ? zs_now_ns() : 0;
    for (;;) {
        uint32_t state = atomic_load(word);
        if (state != ZS_SIGNAL_NOT_READY || timeout_ns == 0)
            return state == ZS_SIGNAL_NOT_READY || state == ZS_SIGNAL_READY
                       ? (enum zs_signal_state)state
                       : ZS_SIGNAL_FAILED;
        if (cancel && atomic_load(cancel))
            return ZS_SIGNAL_NOT_READY;
        uint64_t left_ns = UINT64_MAX;
        if (timeout_ns != UINT64_MAX) {
            uint64_t passed_ns = zs_now_ns() - start_ns;
            if (passed_ns >= timeout_ns)
                return ZS_SIGNAL_NOT_READY;
            left_ns = timeout_ns - passed_ns;
        }
        zs_word_sleep(word, ZS_SIGNAL_NOT_READY, left_ns, cancel);
    }
}

ze_result_t zs_signal_result(enum zs_signal_state state)
{
    static const ze_result_t results[] = {[ZS_SIGNAL_NOT_READY] = ZE_RESULT_NOT_READY,
                                          [ZS_SIGNAL_READY] = ZE_RESULT_SUCCESS,
                                          [ZS_SIGNAL_FAILED] = ZE_RESULT_ERROR_DEVICE_LOST};
    return results[state];
}

/* ---- Pools -------------------------------------------------------------------------------------
 */

struct zs_ze_event_pool *zs_event_pool_new(struct zs_ze_context *context, uint32_t count, int fd)
{
    struct zs_ze_event_pool *pool = zs_object_new(ZS_OBJECT_event_pool, sizeof(*pool));
    if (!pool) {
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    pthread_mutex_init(&pool->lock, NULL);
    pool->context = zs_object_ref(context);
    pool->count = count;
    pool->file = zs_shared_file_make(fd);
    pool->map_B = (size_t)count * sizeof(struct zs_event_slot);
    void *map = mmap(NULL, pool->map_B, PROT_READ | PROT_WRITE,
                     fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, fd, 0);
    pool->slots = map == MAP_FAILED ? NULL : map;
    if (!pool->slots) {
        zs_object_unref(pool);
        return NULL;
    }
    return pool;
}

static struct zs_ze_event_pool *pool_new(struct zs_ze_context *context, uint32_t count, int fd)
{
    struct zs_ze_event_pool *pool = zs_event_pool_new(context, count, fd);
    if (pool && !zs_object_publish(pool)) {
        zs_object_unref(pool);
        return NULL;
    }
    return pool;
}

void zs_ze_event_pool_fini(struct zs_ze_event_pool *pool)
{
    if (pool->slots)
        munmap(pool->slots, pool->map_B);
    zs_shared_file_close(&pool->file);
    pthread_mutex_destroy(&pool->lock);
    zs_object_unref(pool->context);
}

ze_result_t ZE_APICALL zeEventPoolCreate(ze_context_handle_t hContext,
                                         const ze_event_pool_desc_t *desc, uint32_t numDevices,
                                         ze_device_handle_t *phDevices,
                                         ze_event_pool_handle_t *phEventPool)
{
    ZS_OBJECT(context, context, hContext);
    ZS_CHECK_POINTER(desc);
    ZS_CHECK_POINTER(phEventPool);
    ZS_CHECK_FLAGS(desc->flags, ZS_ALL_ZE_EVENT_POOL_FLAGS);
    ZS_CHECK(desc->count > 0, ZE_RESULT_ERROR_INVALID_SIZE, "a pool of no events");
    ZS_CHECK(desc->count <= POOL_EVENTS_MAX, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "%u events",
             desc->count);
    ZS_CHECK(numDevices == 0 || phDevices, ZE_RESULT_ERROR_INVALID_SIZE,
             "%u devices, phDevices is null", numDevices);
    ZS_CHECK(zs_devices_valid(numDevices, phDevices), ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
             "phDevices has something that is no device");
    const ze_event_pool_counter_based_exp_desc_t *counters =
        zs_chain_find(desc->pNext, ZE_STRUCTURE_TYPE_COUNTER_BASED_EVENT_POOL_EXP_DESC);
    ZS_CHECK(!counters ||
                 (counters->flags & ~(uint32_t)ZS_ALL_ZE_EVENT_POOL_COUNTER_BASED_EXP_FLAGS) == 0,
             ZE_RESULT_ERROR_INVALID_ARGUMENT, "counter-based events of no list");
    ZS_CHECK(!counters || !(desc->flags & ZE_EVENT_POOL_FLAG_IPC),
             ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "a pool of counter-based events is not shared");
    int fd = -1;
    if (desc->flags & ZE_EVENT_POOL_FLAG_IPC) {
        fd = zs_memfd_make("zescope-events", desc->count * sizeof(struct zs_event_slot));
        ZS_CHECK(fd >= 0, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory to share");
    }
    struct zs_ze_event_pool *pool = pool_new(context, desc->count, fd);
    ZS_CHECK(pool, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory for %u events", desc->count);
    pool->flags = desc->flags;
    if (counters)
        pool->counter_flags =
            counters->flags ? counters->flags : ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE;
    *phEventPool = pool->object.handle;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t pool_destroy(struct zs_ze_event_pool *pool)
{
    if (!zs_object_retract(pool))
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    zs_object_unref(pool);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeEventPoolDestroy(ze_event_pool_handle_t hEventPool)
{
    ZS_OBJECT(event_pool, pool, hEventPool);
    return pool_destroy(pool);
}

ze_result_t ZE_APICALL zeEventPoolGetContextHandle(ze_event_pool_handle_t hEventPool,
                                                   ze_context_handle_t *phContext)
{
    ZS_OBJECT(event_pool, pool, hEventPool);
    ZS_CHECK_POINTER(phContext);
    *phContext = pool->context->object.handle;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeEventPoolGetFlags(ze_event_pool_handle_t hEventPool,
                                           ze_event_pool_flags_t *pFlags)
{
    ZS_OBJECT(event_pool, pool, hEventPool);
    ZS_CHECK_POINTER(pFlags);
    *pFlags = pool->flags;
    return ZE_RESULT_SUCCESS;
}

/* ---- Pools between processes -------------------------------------------------------------------
 */

struct ipc_pool {
    int32_t fd; /* first, then the count: see struct ipc_memory */
    uint32_t count;
    uint32_t magic;
    int32_t pid;
    uint32_t flags, reserved;
    uint64_t inode;
};
_Static_assert(sizeof(struct ipc_pool) <= ZE_MAX_IPC_HANDLE_SIZE, "fits in a handle");
enum { IPC_POOL_MAGIC = 0x65657a73 };

int zs_event_pool_hand(struct zs_ze_event_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    int fd = zs_shared_file_hand(&pool->file);
    pthread_mutex_unlock(&pool->lock);
    return fd;
}

ze_result_t ZE_APICALL zeEventPoolGetIpcHandle(ze_event_pool_handle_t hEventPool,
                                               ze_ipc_event_pool_handle_t *phIpc)
{
    ZS_OBJECT(event_pool, pool, hEventPool);
    ZS_CHECK_POINTER(phIpc);
    ZS_CHECK(pool->file.kept.fd >= 0 && !pool->ipc_opened, ZE_RESULT_ERROR_INVALID_ARGUMENT,
             "the pool was not made with ZE_EVENT_POOL_FLAG_IPC");
    int fd = zs_event_pool_hand(pool);
    ZS_CHECK(fd >= 0, ZE_RESULT_ERROR_INVALID_ARGUMENT, "the pool's descriptor: %s", strerror(-fd));
    struct ipc_pool ipc = {.magic = IPC_POOL_MAGIC,
                           .pid = getpid(),
                           .fd = fd,
                           .count = pool->count,
                           .flags = pool->flags,
                           .inode = (uint64_t)pool->file.kept.inode};
    memset(phIpc->data, 0, sizeof(phIpc->data));
    memcpy(phIpc->data, &ipc, sizeof(ipc));
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeEventPoolPutIpcHandle(ze_context_handle_t hContext,
                                               ze_ipc_event_pool_handle_t hIpc)
{
    ZS_OBJECT(context, context, hContext);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeEventPoolOpenIpcHandle(ze_context_handle_t hContext,
                                                ze_ipc_event_pool_handle_t hIpc,
                                                ze_event_pool_handle_t *phEventPool)
{
    ZS_OBJECT(context, context, hContext);
    ZS_CHECK_POINTER(phEventPool);
    struct ipc_pool ipc;
    memcpy(&ipc, hIpc.data, sizeof(ipc));
    if (ipc.magic != IPC_POOL_MAGIC && zs_ipc_is_ours(ipc.fd, &ipc.inode)) {
        /* only what Intel's driver has in its handles came here: descriptor and count */
        ipc.magic = IPC_POOL_MAGIC;
        ipc.flags = ZE_EVENT_POOL_FLAG_IPC | ZE_EVENT_POOL_FLAG_HOST_VISIBLE;
    }
    ZS_CHECK(ipc.magic == IPC_POOL_MAGIC && ipc.count > 0 && ipc.count <= POOL_EVENTS_MAX,
             ZE_RESULT_ERROR_INVALID_ARGUMENT, "this is no event pool handle of this driver");
    int fd = zs_ipc_open(ipc.pid, ipc.fd, ipc.inode);
    ZS_CHECK(fd >= 0, ZE_RESULT_ERROR_INVALID_ARGUMENT, "event pool of process %d: %s", ipc.pid,
             strerror(-fd));
    struct stat st;
    if (fstat(fd, &st) != 0 ||
        (uint64_t)st.st_size < ipc.count * (uint64_t)sizeof(struct zs_event_slot)) {
        close(fd);
        return ZS_REFUSE(ZE_RESULT_ERROR_INVALID_ARGUMENT, "event pool of process %d is smaller",
                         ipc.pid);
    }
    struct zs_ze_event_pool *pool = pool_new(context, ipc.count, fd);
    ZS_CHECK(pool, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory for %u events", ipc.count);
    pool->flags = ipc.flags;
    pool->ipc_opened = true;
    *phEventPool = pool->object.handle;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeEventPoolCloseIpcHandle(ze_event_pool_handle_t hEventPool)
{
    ZS_OBJECT(event_pool, pool, hEventPool);
    ZS_CHECK(pool->ipc_opened, ZE_RESULT_ERROR_INVALID_ARGUMENT,
             "the pool was not opened from a handle");
    return pool_destroy(pool);
}

/* ---- Events ------------------------------------------------------------------------------------
 */

/* The event behind a handle as it stands now, until the block ends. */
#define ZS_EVENT_NOW(var, h)                                                                       \
    ZS_OBJECT(event, live_, h);                                                                    \
    __attribute__((cleanup(zs_object_unref_var))) struct zs_ze_event *var = zs_event_now(live_);   \
    ZS_CHECK(var, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory")

ze_result_t ZE_APICALL zeEventCreate(ze_event_pool_handle_t hEventPool, const ze_event_desc_t *desc,
                                     ze_event_handle_t *phEvent)
{
    ZS_OBJECT(event_pool, pool, hEventPool);
    ZS_CHECK_POINTER(desc);
    ZS_CHECK_POINTER(phEvent);
    ZS_CHECK_FLAGS(desc->signal, 0x7);
    ZS_CHECK_FLAGS(desc->wait, 0x7);
    ZS_CHECK(desc->index < pool->count, ZE_RESULT_ERROR_INVALID_ARGUMENT,
             "index %u, the pool has %u events", desc->index, pool->count);
    if (pool->counter_flags)
        return zs_event_counter_make(pool->context, pool, pool->counter_flags, desc, phEvent);
    struct zs_ze_event *event = zs_object_new(ZS_OBJECT_event, sizeof(*event));
    ZS_CHECK(event, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory");
    event->pool = zs_object_ref(pool);
    event->slot = &pool->slots[desc->index];
    event->signal_scope = desc->signal;
    event->wait_scope = desc->wait;
    if (!zs_object_publish(event)) {
        zs_object_unref(event);
        return ZS_REFUSE(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no handle is left");
    }
    /* another process's event keeps the state that it has */
    if (!pool->ipc_opened)
        atomic_store(&event->slot->state, ZS_SIGNAL_NOT_READY);
    *phEvent = event->object.handle;
    return ZE_RESULT_SUCCESS;
}

void zs_ze_event_fini(struct zs_ze_event *event)
{
    if (event->counter)
        zs_event_counter_free(event->counter);
    zs_object_unref(event->pool);
}

ze_result_t ZE_APICALL zeEventDestroy(ze_event_handle_t hEvent)
{
    ZS_OBJECT(event, event, hEvent);
    if (!zs_object_retract(event))
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    zs_object_unref(event);
    return ZE_RESULT_SUCCESS;
}

void zs_event_times(struct zs_event_slot *slot, uint64_t start_ticks, uint64_t end_ticks)
{
    atomic_store_explicit(&slot->start_ticks, start_ticks, memory_order_relaxed);
    atomic_store_explicit(&slot->end_ticks, end_ticks, memory_order_relaxed);
    atomic_store_explicit(&slot->ahead_ns, 0, memory_order_relaxed);
}

void zs_event_signal(struct zs_event_slot *slot, bool ok, uint64_t start_ticks, uint64_t end_ticks)
{
    zs_event_times(slot, start_ticks, end_ticks);
    zs_signal_set(&slot->state, ok ? ZS_SIGNAL_READY : ZS_SIGNAL_FAILED);
}

/* Whose clock counts where no device is named. */
static const struct zs_ze_device *first_device(const struct zs_ze_event *event)
{
    const struct zs_ze_context *context = event->pool->context;
    return context->device_count ? context->devices[0] : context->driver->devices[0];
}

ze_result_t ZE_APICALL zeEventHostSignal(ze_event_handle_t hEvent)
{
    ZS_OBJECT(event, event, hEvent);
    ZS_CHECK(!event->counter, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
             "a counter-based event is signalled by lists alone");
    uint64_t ticks = zs_gpu_clock_ticks(first_device(event)->gpu);
    zs_order_host_signals(event);
    zs_event_signal(event->slot, true, ticks, ticks);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeEventHostReset(ze_event_handle_t hEvent)
{
    ZS_OBJECT(event, event, hEvent);
    ZS_CHECK(!event->counter, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
             "a counter-based event is never reset");
    zs_signal_set(&event->slot->state, ZS_SIGNAL_NOT_READY);
    return ZE_RESULT_SUCCESS;
}

static ze_result_t wait_for(const struct zs_ze_event *event, uint64_t timeout_ns)
{
    enum zs_signal_state state = zs_signal_wait(&event->slot->state, timeout_ns, NULL);
    if (state != ZS_SIGNAL_NOT_READY)
        zs_order_saw_event(event);
    return zs_signal_result(state);
}

ze_result_t ZE_APICALL zeEventHostSynchronize(ze_event_handle_t hEvent, uint64_t timeout)
{
    ZS_EVENT_NOW(event, hEvent);
    return wait_for(event, timeout);
}

ze_result_t ZE_APICALL zeEventQueryStatus(ze_event_handle_t hEvent)
{
    ZS_EVENT_NOW(event, hEvent);
    return wait_for(event, 0);
}

void zs_event_timestamps(const struct zs_ze_event *event, const struct zs_ze_device *device,
                         ze_kernel_timestamp_result_t *ret_timestamps)
{
    uint64_t mask = UINT64_MAX >> (64 - device->model->kernel_timestamp_bits);
    ze_kernel_timestamp_data_t data = {
        .kernelStart = atomic_load_explicit(&event->slot->start_ticks, memory_order_relaxed) & mask,
        .kernelEnd = atomic_load_explicit(&event->slot->end_ticks, memory_order_relaxed) & mask};
    *ret_timestamps = (ze_kernel_timestamp_result_t){.global = data, .context = data};
}

ze_result_t ZE_APICALL zeEventQueryKernelTimestamp(ze_event_handle_t hEvent,
                                                   ze_kernel_timestamp_result_t *dstptr)
{
    ZS_EVENT_NOW(event, hEvent);
    ZS_CHECK_POINTER(dstptr);
    ze_result_t result = wait_for(event, 0);
    if (result == ZE_RESULT_SUCCESS)
        zs_event_timestamps(event, first_device(event), dstptr);
    return result;
}

ze_result_t ZE_APICALL zeEventQueryTimestampsExp(ze_event_handle_t hEvent,
                                                 ze_device_handle_t hDevice, uint32_t *pCount,
                                                 ze_kernel_timestamp_result_t *pTimestamps)
{
    ZS_EVENT_NOW(event, hEvent);
    ZS_OBJECT(device, device, hDevice);
    ZS_CHECK_POINTER(pCount);
    if (!zs_list_count(pCount, 1, pTimestamps != NULL))
        return ZE_RESULT_SUCCESS;
    ze_result_t result = wait_for(event, 0);
    if (result == ZE_RESULT_SUCCESS)
        zs_event_timestamps(event, device, pTimestamps);
    return result;
}

static uint64_t ahead_of_device_ns(struct zs_event_slot *slot)
{
    uint64_t known_ns = 0;
    uint64_t monotonic_ns = zs_now_ns();
    uint64_t ahead_ns = zs_clock_ns(CLOCK_MONOTONIC_RAW) - monotonic_ns;
    ahead_ns += ahead_ns == 0;
    return atomic_compare_exchange_strong(&slot->ahead_ns, &known_ns, ahead_ns) ? ahead_ns
                                                                                : known_ns;
}

/* From the device's clock to the one that zeDeviceGetGlobalTimestamps reports for the host. */
static ze_kernel_timestamp_data_t on_host_clock(const struct zs_ze_event *event,
                                                const struct zs_ze_device *device)
{
    struct zs_event_slot *slot = event->slot;
    uint64_t ahead_ns = ahead_of_device_ns(slot);
    uint64_t start = atomic_load_explicit(&slot->start_ticks, memory_order_relaxed);
    uint64_t end = atomic_load_explicit(&slot->end_ticks, memory_order_relaxed);
    return (ze_kernel_timestamp_data_t){
        .kernelStart = zs_gpu_clock_to_ns(device->gpu, start) + ahead_ns,
        .kernelEnd = zs_gpu_clock_to_ns(device->gpu, end) + ahead_ns};
}

ze_result_t ZE_APICALL zeEventQueryKernelTimestampsExt(
    ze_event_handle_t hEvent, ze_device_handle_t hDevice, uint32_t *pCount,
    ze_event_query_kernel_timestamps_results_ext_properties_t *pResults)
{
    ZS_EVENT_NOW(event, hEvent);
    ZS_OBJECT(device, device, hDevice);
    ZS_CHECK_POINTER(pCount);
    if (!zs_list_count(pCount, 1, pResults != NULL))
        return ZE_RESULT_SUCCESS;
    ze_result_t result = wait_for(event, 0);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (pResults->pKernelTimestampsBuffer)
        zs_event_timestamps(event, device, pResults->pKernelTimestampsBuffer);
    if (pResults->pSynchronizedTimestampsBuffer) {
        ze_kernel_timestamp_data_t data = on_host_clock(event, device);
        pResults->pSynchronizedTimestampsBuffer->global.kernelStart = data.kernelStart;
        pResults->pSynchronizedTimestampsBuffer->global.kernelEnd = data.kernelEnd;
        pResults->pSynchronizedTimestampsBuffer->context =
            pResults->pSynchronizedTimestampsBuffer->global;
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeEventGetEventPool(ze_event_handle_t hEvent,
                                           ze_event_pool_handle_t *phEventPool)
{
    ZS_OBJECT(event, event, hEvent);
    ZS_CHECK_POINTER(phEventPool);
    const struct zs_ze_event_pool *pool =
        event->counter ? zs_event_counter_origin(event->counter) : event->pool;
    ZS_CHECK(pool, ZE_RESULT_ERROR_INVALID_ARGUMENT, "the event is of no pool");
    *phEventPool = pool->object.handle;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeEventGetSignalScope(ze_event_handle_t hEvent,
                                             ze_event_scope_flags_t *pSignalScope)
{
    ZS_OBJECT(event, event, hEvent);
    ZS_CHECK_POINTER(pSignalScope);
    *pSignalScope = event->signal_scope;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeEventGetWaitScope(ze_event_handle_t hEvent,
                                           ze_event_scope_flags_t *pWaitScope)
{
    ZS_OBJECT(event, event, hEvent);
    ZS_CHECK_POINTER(pWaitScope);
    *pWaitScope = event->wait_scope;
    return ZE_RESULT_SUCCESS;
}
