/* SPDX-License-Identifier: MIT */
#include "driver/memory/memory.h"

#include "driver/leaks.h"
#include "driver/memory/pages.h"
#include "driver/memory/quarantine.h"
#include "driver/queue/order.h"
#include "driver/report.h"

#include "base/checks.h"

#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { PAGE_B = 4096 };
static const uint64_t ALIGNMENT_MAX = 1ull << 30;

/* ---- The tree of live ranges -------------------------------------------------------------------
 * tsearch keeps disjoint ranges ordered; a range of one byte finds the one that holds it. */

static int compare_ranges(const void *a, const void *b)
{
    const struct zs_range *x = a, *y = b;
    if (x->base + x->size_B <= y->base)
        return -1;
    return x->base >= y->base + y->size_B;
}

/* Under memory_lock. */
static struct zs_range *find_range(struct zs_ze_context *context, uint64_t va)
{
    struct zs_range key = {.base = va, .size_B = 1};
    struct zs_range **node = tfind(&key, &context->ranges, compare_ranges);
    return node ? *node : NULL;
}

bool zs_memory_set_atomics(struct zs_ze_context *context, const void *host, uint32_t atomics)
{
    pthread_rwlock_wrlock(&context->memory_lock);
    struct zs_range *range = find_range(context, (uintptr_t)host);
    if (range)
        range->atomics = atomics;
    pthread_rwlock_unlock(&context->memory_lock);
    return range != NULL;
}

bool zs_memory_find(struct zs_ze_context *context, const void *host, struct zs_range *ret_range)
{
    pthread_rwlock_rdlock(&context->memory_lock);
    struct zs_range *range = find_range(context, (uintptr_t)host);
    if (range)
        *ret_range = *range;
    pthread_rwlock_unlock(&context->memory_lock);
    return range != NULL;
}

bool zs_memory_touches(struct zs_ze_context *context, const void *host, uint64_t size_B)
{
    struct zs_range key = {.base = (uintptr_t)host, .size_B = size_B};
    pthread_rwlock_rdlock(&context->memory_lock);
    bool found = tfind(&key, &context->ranges, compare_ranges) != NULL;
    pthread_rwlock_unlock(&context->memory_lock);
    return found;
}

bool zs_memory_contains(struct zs_ze_context *context, const void *host, uint64_t size_B)
{
    struct zs_range range;
    return zs_memory_find(context, host, &range) &&
           size_B <= range.base + range.size_B - (uintptr_t)host;
}

/* ---- Making and freeing ranges -----------------------------------------------------------------
 */

static bool charge_one(struct zs_ze_device *device, uint64_t size_B, bool relaxed)
{
    uint64_t limit_B = relaxed ? UINT64_MAX : device->memory_B;
    uint64_t used_B = atomic_fetch_add(&device->used_B, size_B);
    if (size_B <= limit_B && used_B <= limit_B - size_B)
        return true;
    atomic_fetch_sub(&device->used_B, size_B);
    return false;
}

void zs_memory_discharge(struct zs_ze_device *device, uint64_t size_B)
{
    for (; device; device = device->parent)
        atomic_fetch_sub(&device->used_B, size_B);
}

/* A tile's memory is part of its root's. */
bool zs_memory_charge(struct zs_ze_device *device, uint64_t size_B, bool relaxed)
{
    if (!device)
        return true;
    if (!charge_one(device, size_B, relaxed))
        return false;
    if (!device->parent || charge_one(device->parent, size_B, relaxed))
        return true;
    atomic_fetch_sub(&device->used_B, size_B);
    return false;
}

/* Pages at an aligned address, between guard zones: reserve more than is needed, give back both
 * ends. */
static void *map_aligned(struct zs_ze_driver *driver, size_t size_B, uint64_t alignment,
                         size_t guard_B, int fd)
{
    int flags = fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
    int protection = PROT_READ | PROT_WRITE;
    if (alignment <= PAGE_B && !guard_B) {
        void *p = mmap(NULL, size_B, protection, flags | MAP_NORESERVE, fd, 0);
        return p != MAP_FAILED ? p : fd < 0 ? zs_pages_take(driver, size_B) : NULL;
    }
    size_t own_B = size_B + 2 * guard_B;
    char *all = mmap(NULL, own_B + alignment, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED)
        return NULL;
    char *p = (char *)zs_align_up((uintptr_t)all + guard_B, ZS_MAX(alignment, (uint64_t)PAGE_B));
    size_t head_B = (size_t)(p - guard_B - all);
    if (head_B)
        munmap(all, head_B);
    size_t tail_B = (size_t)zs_align_up(alignment, PAGE_B) - head_B;
    if (tail_B)
        munmap(p + size_B + guard_B, tail_B);
    if (mmap(p, size_B, protection, flags | MAP_NORESERVE | MAP_FIXED, fd, 0) == MAP_FAILED) {
        munmap(p - guard_B, own_B);
        return NULL;
    }
    return p;
}

/* ---- Files that may become smaller -------------------------------------------------------------
 */

static void watch(struct zs_range *range)
{
    struct zs_ze_driver *driver = range->driver;
    pthread_mutex_lock(&driver->files_lock);
    range->next = driver->files;
    driver->files = range;
    driver->file_count++;
    pthread_mutex_unlock(&driver->files_lock);
}

static void unwatch(struct zs_range *range)
{
    struct zs_ze_driver *driver = range->driver;
    pthread_mutex_lock(&driver->files_lock);
    struct zs_range **at = &driver->files;
    while (*at && *at != range)
        at = &(*at)->next;
    if (*at) {
        *at = range->next;
        driver->file_count--;
    }
    pthread_mutex_unlock(&driver->files_lock);
}

void zs_memory_check_files(struct zs_ze_driver *driver)
{
    if (!atomic_load_explicit(&driver->file_count, memory_order_relaxed))
        return;
    pthread_mutex_lock(&driver->files_lock);
    for (struct zs_range *r = driver->files; r; r = r->next) {
        const char *last = (const char *)(uintptr_t)(r->base + r->size_B - 1);
        if (r->shrunk || (zs_memory_is_there(last) && !zs_gpu_file_is_lost(r->watched)))
            continue;
        r->shrunk = true;
        (void)!zs_gpu_memory_remove(r->memory, r->base, NULL, NULL);
        zs_log(ZS_LOG_ERROR,
               "the file of imported memory at %#llx became smaller than its %llu "
               "bytes: kernels that touch it fail",
               (unsigned long long)r->base, (unsigned long long)r->size_B);
    }
    pthread_mutex_unlock(&driver->files_lock);
}

/* ---- Publishing --------------------------------------------------------------------------------
 */

/* Into the tree and into the GPU's view. */
static int publish_range(struct zs_ze_context *context, struct zs_range *range,
                         const struct zs_range_desc *desc)
{
    struct zs_gpu_allocation allocation = {.gpu_va = range->base,
                                           .size_B = range->size_B,
                                           .kind = range->kind,
                                           .flags = desc->gpu_flags,
                                           .origin = range->origin};
    snprintf(allocation.label, sizeof(allocation.label), "%s", desc->label);
    if (context->driver->checks & ZS_CHECK_INIT && range->kind == ZS_GPU_MEMORY_DEVICE &&
        desc->fd < 0)
        allocation.flags |= ZS_GPU_ALLOCATION_TRACK_WRITES;
    if (range->may_shrink)
        allocation.flags |= ZS_GPU_ALLOCATION_WITHDRAWABLE;
    if (range->may_shrink) {
        range->watched = zs_gpu_file_watch(range->base, range->size_B,
                                           range->read_only ? PROT_READ : PROT_READ | PROT_WRITE);
        if (!range->watched)
            return -ENOMEM;
    }
    pthread_rwlock_wrlock(&context->memory_lock);
    void *node = tsearch(range, &context->ranges, compare_ranges);
    int error = !node ? -ENOMEM : *(struct zs_range **)node != range ? -EEXIST : 0;
    if (!error) {
        error = zs_gpu_memory_add(context->memory, &allocation, &range->id);
        if (error)
            tdelete(range, &context->ranges, compare_ranges);
    }
    pthread_rwlock_unlock(&context->memory_lock);
    if (!error && range->may_shrink)
        watch(range);
    if (!error)
        zs_order_made(context->driver, range->base, range->size_B);
    return error;
}

static void discard(struct zs_range *range)
{
    char *first =
        range->guard_B ? (char *)range->map - range->guard_B : NULL; /* not always mapped */
    size_t own_B = range->map_B + 2 * range->guard_B;
    zs_gpu_file_unwatch(range->watched);
    if (range->guard_B && zs_quarantine_put(range->driver->quarantine, first, own_B))
        range->map = NULL;
    else if (range->guard_B) {
        munmap(first, range->guard_B);
        munmap(first + own_B - range->guard_B, range->guard_B);
    }
    if (range->map && range->is_file)
        munmap(range->map, range->map_B); /* a mapping of its own: it is not parted */
    else if (range->map)
        zs_pages_give_back(range->driver, range->map, range->map_B);
    zs_shared_file_close(&range->file);
    zs_memory_discharge(range->device, range->charged_B);
    free(range);
}

static struct zs_range *new_range(struct zs_ze_context *context, const struct zs_range_desc *desc)
{
    struct zs_range *range = calloc(1, sizeof(*range));
    if (range)
        *range = (struct zs_range){
            .size_B = desc->size_B,
            .kind = desc->kind,
            .device = desc->device,
            .file = ZS_SHARED_FILE_NONE,
            .exported = desc->exported,
            .ipc_opened = desc->ipc_opened,
            .may_shrink = desc->may_shrink,
            .read_only = (desc->gpu_flags & ZS_GPU_ALLOCATION_READ_ONLY) != 0,
            .label = desc->label,
            .origin = zs_report_origin(ZS_CHECK_MEMORY | ZS_CHECK_INIT | ZS_CHECK_LEAK),
            .memory = context->memory,
            .driver = context->driver};
    return range;
}

/* Where addresses are scarce, without guard zones. */
static void map_range(struct zs_range *range, uint64_t alignment, int fd)
{
    if (range->driver->quarantine) {
        range->guard_B = zs_guard_B(range->map_B);
        range->map = map_aligned(range->driver, range->map_B, alignment, range->guard_B, fd);
    }
    if (!range->map) {
        range->guard_B = 0;
        range->map = map_aligned(range->driver, range->map_B, alignment, 0, fd);
    }
}

ze_result_t zs_memory_alloc(struct zs_ze_context *context, const struct zs_range_desc *desc,
                            void **ret_host)
{
    ze_result_t no_memory =
        desc->device ? ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    if (desc->size_B == 0 || desc->size_B > (1ull << 46))
        return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
    uint64_t alignment = 1;
    while (alignment < desc->alignment && alignment <= ALIGNMENT_MAX)
        alignment *= 2;
    if (alignment > ALIGNMENT_MAX ||
        (desc->alignment & (desc->alignment - 1) &&
         !zs_lets_pass(desc->label, "an alignment of %llu, which is no power of two; taken as %llu",
                       (unsigned long long)desc->alignment, (unsigned long long)alignment)))
        return ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT;
    size_t map_B = (size_t)zs_align_up(desc->size_B, PAGE_B);
    if (!zs_memory_charge(desc->device, map_B, desc->relaxed))
        return no_memory;
    struct zs_range *range = new_range(context, desc);
    if (!range) {
        zs_memory_discharge(desc->device, map_B);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    range->charged_B = desc->device ? map_B : 0;
    /* whole pages of virtual memory: importers may map it as physical memory */
    int made_fd = desc->fd < 0 && desc->exported
                      ? zs_memfd_make("zescope", zs_align_up(map_B, ZS_VIRTUAL_PAGE_B))
                      : -1;
    range->map_B = map_B;
    range->is_file = desc->fd >= 0 || desc->exported;
    int fd = desc->fd >= 0 ? desc->fd : made_fd;
    range->may_shrink |= desc->fd >= 0 && zs_file_may_shrink(desc->fd);
    if (!range->is_file || fd >= 0)
        map_range(range, alignment, fd);
    range->base = (uintptr_t)range->map;
    range->file = zs_shared_file_make(made_fd);
    int error = range->map ? publish_range(context, range, desc) : -ENOMEM;
    if (error) {
        discard(range);
        return error == -ENOMEM ? no_memory : zs_result_of_errno(error);
    }
    if (desc->fd >= 0)
        range->file = zs_shared_file_make(desc->fd);
    *ret_host = range->map;
    return ZE_RESULT_SUCCESS;
}

int zs_memory_add_borrowed(struct zs_ze_context *context, const struct zs_range_desc *desc,
                           void *host)
{
    struct zs_range *range = new_range(context, desc);
    if (!range)
        return -ENOMEM;
    range->base = (uintptr_t)host;
    int error = publish_range(context, range, desc);
    if (error)
        discard(range);
    return error;
}

/* Nobody pins the range any more. */
static void discard_range(void *range)
{
    discard(range);
}

static void tell_leak(const void *node, VISIT visit, void *ended)
{
    const struct zs_range *range = *(struct zs_range *const *)node;
    bool is_ipc = range->ipc_opened;
    if ((visit != postorder && visit != leaf) || strncmp(range->label, "zeMem", 5) != 0)
        return;
    zs_leaks_memory(is_ipc                                ? ZS_LEAK_IPC
                    : range->kind == ZS_GPU_MEMORY_HOST   ? ZS_LEAK_HOST
                    : range->kind == ZS_GPU_MEMORY_DEVICE ? ZS_LEAK_DEVICE
                                                          : ZS_LEAK_SHARED,
                    range->size_B, range->origin, ended != NULL);
}

void zs_memory_tell_leaks(struct zs_ze_context *context, bool ended)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++; /* the process may end inside of a call */
    if (pthread_rwlock_timedrdlock(&context->memory_lock, &until))
        return;
    twalk_r(context->ranges, tell_leak, ended ? context : NULL);
    pthread_rwlock_unlock(&context->memory_lock);
}

/* What is in the tree is known to the GPU as well, and removing it cannot fail. */
static void forget(struct zs_ze_context *context, struct zs_range *range)
{
    if (range->may_shrink)
        unwatch(range);
    if (range->shrunk) { /* the GPU has forgotten it; who looked before lets go now */
        if (range->map) {
            zs_gpu_memory_stop(context->memory);
            zs_gpu_memory_resume(context->memory);
        }
        discard(range);
        return;
    }
    if (context->driver->check)
        zs_gpu_memory_freed_by(context->memory, range->base,
                               zs_report_origin(ZS_CHECK_MEMORY | ZS_CHECK_INIT));
    int error = zs_gpu_memory_remove(context->memory, range->base, discard_range, range);
    zs_assert(error == 0);
}

bool zs_memory_free(struct zs_ze_context *context, void *host)
{
    pthread_rwlock_wrlock(&context->memory_lock);
    struct zs_range *range = find_range(context, (uintptr_t)host);
    bool found = range && range->base == (uintptr_t)host;
    if (found)
        tdelete(range, &context->ranges, compare_ranges);
    pthread_rwlock_unlock(&context->memory_lock);
    if (found)
        forget(context, range);
    return found;
}

void zs_memory_free_all(struct zs_ze_context *context)
{
    while (context->ranges) {
        struct zs_range *range = *(struct zs_range **)context->ranges;
        tdelete(range, &context->ranges, compare_ranges);
        forget(context, range);
    }
}

int zs_memory_share(struct zs_ze_context *context, uint64_t base, int *ret_fd)
{
    zs_gpu_memory_stop(context->memory);
    pthread_rwlock_wrlock(&context->memory_lock);
    struct zs_range *range = find_range(context, base);
    int error = !range || !range->map ? -EINVAL : 0;
    if (!error && !range->is_file) {
        const struct zs_pages_view view = {range->map, range->map_B, 0, PROT_READ | PROT_WRITE};
        int fd = zs_memfd_make("zescope", range->map_B);
        error = fd < 0 ? fd : zs_pages_move(&view, 1, NULL, range->map_B, fd);
        range->is_file |= !error;
        if (!error)
            range->file = zs_shared_file_make(fd);
        else if (fd >= 0)
            close(fd);
    }
    if (!error && ret_fd) {
        *ret_fd = zs_shared_file_hand(&range->file);
        error = ZS_MIN(*ret_fd, 0);
    }
    pthread_rwlock_unlock(&context->memory_lock);
    zs_gpu_memory_resume(context->memory);
    return error;
}

/* ---- Holds -------------------------------------------------------------------------------------
 */

void zs_memory_pin(struct zs_ze_context *a, struct zs_ze_context *b, struct zs_memory_pin *ret)
{
    bool one = !b || a->memory == b->memory;
    bool swapped = !one && (uintptr_t)b->memory < (uintptr_t)a->memory;
    ret->memory[0] = swapped ? b->memory : a->memory;
    ret->memory[1] = one ? NULL : swapped ? a->memory : b->memory;
    for (int i = 0; i < 2 && ret->memory[i]; i++)
        zs_gpu_memory_pin(ret->memory[i], &ret->pin[i]);
}

void zs_memory_unpin(struct zs_memory_pin *pin)
{
    for (int i = 0; i < 2 && pin->memory[i]; i++)
        zs_gpu_memory_unpin(pin->memory[i], &pin->pin[i]);
}

bool zs_memory_is_wanted(const struct zs_memory_pin *pin)
{
    return zs_gpu_memory_is_wanted(pin->memory[0]) ||
           (pin->memory[1] && zs_gpu_memory_is_wanted(pin->memory[1]));
}
