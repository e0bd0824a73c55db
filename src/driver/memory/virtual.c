/* SPDX-License-Identifier: MIT */
/*
 * Virtual and physical memory. A reservation is address space without access; physical memory is
 * shared pages at a place of their own that nobody may touch; mapping puts them into the
 * reservation as well (mremap() of nothing from there), and needs no descriptor, of which a process
 * has few and may close any. A file is behind them when they were imported, made for export, or
 * shared since. Ending a mapping closes the access again and leaves the reservation.
 *
 * For kernels and copies, mappings that follow each other with the same access are one allocation,
 * a run: what a program maps piece by piece it may use as a whole. A change of mappings withdraws
 * the runs that it touches and tells of those that are there afterwards; no kernel and no copy
 * touches memory of the context meanwhile: kernels stop between two slices of their threads and go
 * on behind it.
 */
#include "base/checks.h"
#include "driver/leaks.h"
#include "driver/memory/memory.h"
#include "driver/memory/pages.h"
#include "driver/memory/quarantine.h"
#include "driver/report.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE_B = ZS_VIRTUAL_PAGE_B };

/* What is given in whole pages. */
#define CHECK_SIZE(size)                                                                           \
    ZS_CHECK((size) && (size) % PAGE_B == 0, ZE_RESULT_ERROR_UNSUPPORTED_SIZE,                     \
             "%zu bytes are no multiple of the page size %d", (size), PAGE_B)
#define CHECK_AT_PAGE(ptr)                                                                         \
    ZS_CHECK((uintptr_t)(ptr) % PAGE_B == 0, ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT,                \
             #ptr " %p is not aligned to %d", (ptr), PAGE_B)

struct zs_ze_physical {
    struct zs_object object;
    struct zs_ze_context *context;
    struct zs_ze_device *device;
    size_t size_B;
    uint64_t charged_B;         /* of the device's memory */
    char *home;                 /* its pages */
    bool may_shrink;            /* imported */
    struct zs_shared_file file; /* none: anonymous */
    size_t mappings;            /* of it in its context, under reservations_lock */
    _Atomic size_t foreign;     /* ... in others */
};

struct mapping {
    struct mapping *next; /* ascending addresses */
    uint64_t base, size_B;
    struct zs_ze_physical *physical;
    uint64_t offset_B;
    ze_memory_access_attribute_t access;
};

/* Linked from context->reservations, under reservations_lock, mappings included. */
struct zs_reservation {
    struct zs_reservation *next;
    uint64_t base, size_B;
    size_t guard_B;  /* on either side */
    uint64_t origin; /* who made it: report.h */
    struct mapping *mappings;
};

static int protection_of(ze_memory_access_attribute_t access)
{
    return access == ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE  ? PROT_READ | PROT_WRITE
           : access == ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY ? PROT_READ
                                                           : PROT_NONE;
}

static bool contains(uint64_t base, uint64_t size_B, uint64_t at, uint64_t want_B)
{
    return at >= base && at - base <= size_B && want_B <= size_B - (at - base);
}

/* Under reservations_lock. */
static struct zs_reservation **find_reservation(struct zs_ze_context *context, uint64_t base,
                                                uint64_t size_B)
{
    struct zs_reservation **at = &context->reservations;
    while (*at && !contains((*at)->base, (*at)->size_B, base, size_B))
        at = &(*at)->next;
    return at;
}

static struct mapping *find_mapping(struct zs_reservation *reservation, uint64_t va)
{
    struct mapping *m = reservation->mappings;
    while (m && !contains(m->base, m->size_B, va, 1))
        m = m->next;
    return m;
}

/* ---- Runs --------------------------------------------------------------------------------------
 */

struct span {
    uint64_t begin, end;
};

/* The run that starts with a mapping; the mapping behind it. */
static struct mapping *run_of(struct mapping *first, struct span *ret_run)
{
    *ret_run = (struct span){first->base, first->base + first->size_B};
    struct mapping *m = first->next;
    for (; m && m->base == ret_run->end && m->access == first->access; m = m->next)
        ret_run->end += m->size_B;
    return m;
}

static bool may_shrink(const struct mapping *m, struct span run)
{
    for (; m && m->base < run.end; m = m->next)
        if (m->physical->may_shrink)
            return true;
    return false;
}

static int expose(struct zs_ze_context *context, const struct mapping *first, struct span run)
{
    const struct zs_range_desc desc = {.device = first->physical->device,
                                       .kind = ZS_GPU_MEMORY_VIRTUAL,
                                       .size_B = run.end - run.begin,
                                       .label = "zeVirtualMemMap",
                                       .fd = -1,
                                       .may_shrink = may_shrink(first, run),
                                       .gpu_flags =
                                           ZS_GPU_ALLOCATION_WITHDRAWABLE |
                                           (first->access == ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY
                                                ? ZS_GPU_ALLOCATION_READ_ONLY
                                                : 0u)};
    return zs_memory_add_borrowed(context, &desc, (void *)(uintptr_t)run.begin);
}

/* Runs that overlap the area or touch its ends: withdraw them, and widen the area to theirs. */
static void withdraw(struct zs_ze_context *context, struct zs_reservation *reservation,
                     struct span *area)
{
    struct span wide = *area, run;
    for (struct mapping *m = reservation->mappings, *next; m; m = next) {
        next = run_of(m, &run);
        if (run.end < area->begin || run.begin > area->end)
            continue;
        if (m->access != ZE_MEMORY_ACCESS_ATTRIBUTE_NONE)
            zs_memory_free(context, (void *)(uintptr_t)run.begin);
        wide.begin = ZS_MIN(wide.begin, run.begin);
        wide.end = ZS_MAX(wide.end, run.end);
    }
    *area = wide;
}

/* Runs within the area, which withdraw() gave. 0 or -errno. */
static int announce(struct zs_ze_context *context, struct zs_reservation *reservation,
                    struct span area)
{
    int error = 0;
    struct span run;
    for (struct mapping *m = reservation->mappings, *next; m && !error; m = next) {
        next = run_of(m, &run);
        if (run.begin >= area.begin && run.end <= area.end &&
            m->access != ZE_MEMORY_ACCESS_ATTRIBUTE_NONE)
            error = expose(context, m, run);
    }
    return error;
}

/* Programs may map what they made in another context. */
static void count_mapping(const struct zs_ze_context *context, struct zs_ze_physical *physical,
                          int by)
{
    if (physical->context == context)
        physical->mappings += (size_t)by;
    else
        physical->foreign += (size_t)by;
}

/* So that no mapping lies on both sides of va. */
static bool split(struct zs_ze_context *context, struct zs_reservation *reservation, uint64_t va)
{
    struct mapping *m = find_mapping(reservation, va);
    if (!m || m->base == va)
        return true;
    struct mapping *right = malloc(sizeof(*right));
    if (!right)
        return false;
    *right = *m;
    right->base = va;
    right->size_B = m->base + m->size_B - va;
    right->offset_B = m->offset_B + (va - m->base);
    zs_object_ref(right->physical);
    count_mapping(context, right->physical, 1);
    m->size_B = va - m->base;
    m->next = right;
    return true;
}

static bool is_empty(struct zs_reservation *reservation, struct span area)
{
    for (const struct mapping *m = reservation->mappings; m; m = m->next) {
        if (area.begin < m->base + m->size_B && m->base < area.end)
            return false;
    }
    return true;
}

ze_result_t ZE_APICALL zeVirtualMemQueryPageSize(ze_context_handle_t hContext,
                                                 ze_device_handle_t hDevice, size_t size,
                                                 size_t *pagesize)
{
    ZS_OBJECT(context, context, hContext);
    ZS_OBJECT(device, device, hDevice);
    ZS_CHECK_MEMBER(context, device);
    ZS_CHECK_POINTER(pagesize);
    ZS_CHECK(size || zs_lets_pass(__func__, "size is 0"), ZE_RESULT_ERROR_UNSUPPORTED_SIZE,
             "size is 0");
    *pagesize = PAGE_B;
    return ZE_RESULT_SUCCESS;
}

/* ---- Reservations ------------------------------------------------------------------------------
 */

/* Guard zones are beside it where the driver chooses the place. */
static void *reserve(const void *start, size_t size_B, size_t *guard_B)
{
    if (start) {
        void *p = mmap((void *)(uintptr_t)start, size_B, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
        if (p == start) {
            *guard_B = 0;
            return p;
        }
        if (p != MAP_FAILED)
            munmap(p, size_B);
    }
    size_t own_B = size_B + 2 * *guard_B;
    char *all =
        mmap(NULL, own_B + PAGE_B, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED)
        return NULL;
    char *p = (char *)zs_align_up((uintptr_t)all, PAGE_B);
    if (p > all)
        munmap(all, (size_t)(p - all));
    if (all + PAGE_B > p)
        munmap(p + own_B, (size_t)(all + PAGE_B - p));
    return p + *guard_B;
}

ze_result_t ZE_APICALL zeVirtualMemReserve(ze_context_handle_t hContext, const void *pStart,
                                           size_t size, void **pptr)
{
    ZS_OBJECT(context, context, hContext);
    ZS_CHECK_POINTER(pptr);
    CHECK_SIZE(size);
    CHECK_AT_PAGE(pStart);
    struct zs_reservation *reservation = calloc(1, sizeof(*reservation));
    size_t guard_B = context->driver->check ? zs_guard_B(size) : 0;
    void *p = reservation && size <= (1ull << 46) ? reserve(pStart, size, &guard_B) : NULL;
    if (!p) {
        free(reservation);
        return ZS_REFUSE(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no room for %zu bytes", size);
    }
    reservation->base = (uintptr_t)p;
    reservation->size_B = size;
    reservation->guard_B = guard_B;
    reservation->origin = zs_report_origin(ZS_CHECK_LEAK);
    pthread_mutex_lock(&context->reservations_lock);
    reservation->next = context->reservations;
    context->reservations = reservation;
    pthread_mutex_unlock(&context->reservations_lock);
    *pptr = p;
    return ZE_RESULT_SUCCESS;
}

/* No access, no pages. */
static bool close_pages(uint64_t base, uint64_t size_B)
{
    return mmap((void *)(uintptr_t)base, size_B, PROT_NONE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != MAP_FAILED;
}

static void forget_mapping(struct zs_ze_context *context, struct mapping *m)
{
    count_mapping(context, m->physical, -1);
    zs_object_unref(m->physical);
    free(m);
}

/* Forget the mappings within the area, close its pages. Under reservations_lock. -ENOMEM: some
 * stay, because the process has no more mappings of the kernel. */
static int unmap(struct zs_ze_context *context, struct zs_reservation *reservation,
                 struct span area)
{
    int error = 0;
    zs_gpu_memory_stop(context->memory);
    struct span wide = area;
    withdraw(context, reservation, &wide);
    for (struct mapping **at = &reservation->mappings; *at;) {
        struct mapping *m = *at;
        bool inside = m->base >= area.begin && m->base < area.end;
        if (!inside || !close_pages(m->base, m->size_B)) {
            error = inside ? -ENOMEM : error;
            at = &m->next;
            continue;
        }
        *at = m->next;
        forget_mapping(context, m);
    }
    if (announce(context, reservation, wide) != 0)
        zs_log(ZS_LOG_ERROR, "no memory: mappings beside the one that ended are lost");
    zs_gpu_memory_resume(context->memory);
    return error;
}

static void free_reservation(struct zs_ze_context *context, struct zs_reservation *reservation)
{
    struct span all = {reservation->base, reservation->base + reservation->size_B};
    zs_gpu_memory_stop(context->memory);
    withdraw(context, reservation, &all);
    if (munmap((void *)(uintptr_t)reservation->base, reservation->size_B) != 0 &&
        !close_pages(reservation->base, reservation->size_B))
        zs_log(ZS_LOG_ERROR, "no more mappings: a reservation of %llu bytes stays as it is",
               (unsigned long long)reservation->size_B);
    char *guard = (char *)(uintptr_t)reservation->base - reservation->guard_B;
    if (reservation->guard_B) {
        munmap(guard, reservation->guard_B);
        munmap(guard + reservation->guard_B + reservation->size_B, reservation->guard_B);
    }
    zs_gpu_memory_resume(context->memory);
    while (reservation->mappings) {
        struct mapping *first = reservation->mappings;
        reservation->mappings = first->next;
        forget_mapping(context, first);
    }
    free(reservation);
}

ze_result_t ZE_APICALL zeVirtualMemFree(ze_context_handle_t hContext, const void *ptr, size_t size)
{
    ZS_OBJECT(context, context, hContext);
    ZS_CHECK_POINTER(ptr);
    ZS_CHECK(size, ZE_RESULT_ERROR_UNSUPPORTED_SIZE, "size is 0");
    pthread_mutex_lock(&context->reservations_lock);
    struct zs_reservation **at = find_reservation(context, (uintptr_t)ptr, size);
    struct zs_reservation *found = *at;
    bool whole = found && found->base == (uintptr_t)ptr && found->size_B == size;
    if (whole) {
        *at = found->next;
        free_reservation(context, found);
    }
    pthread_mutex_unlock(&context->reservations_lock);
    ZS_CHECK(whole, found ? ZE_RESULT_ERROR_INVALID_SIZE : ZE_RESULT_ERROR_INVALID_ARGUMENT,
             "%p and %zu bytes are no reservation", ptr, size);
    return ZE_RESULT_SUCCESS;
}

void zs_virtual_free_all(struct zs_ze_context *context)
{
    while (context->reservations) {
        struct zs_reservation *first = context->reservations;
        context->reservations = first->next;
        free_reservation(context, first);
    }
}

/* ---- Physical memory ---------------------------------------------------------------------------
 */

/* Pages of what another allocation or process exported, or new ones. 0 or -errno. */
static int make_home(struct zs_ze_physical *physical, const struct zs_range_desc *external)
{
    int made = -1, flags = MAP_SHARED | MAP_NORESERVE;
    if (external->exported && external->fd < 0 &&
        (made = zs_memfd_make("zescope-physical", external->size_B)) < 0)
        return made;
    int fd = external->fd >= 0 ? external->fd : made;
    void *home =
        mmap(NULL, physical->size_B, PROT_NONE, flags | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);
    if (home == MAP_FAILED) {
        int error = -errno;
        if (made >= 0)
            close(made);
        return error;
    }
    physical->home = home;
    physical->file = zs_shared_file_make(made);
    return 0;
}

ze_result_t ZE_APICALL zePhysicalMemCreate(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                           ze_physical_mem_desc_t *desc,
                                           ze_physical_mem_handle_t *phPhysicalMemory)
{
    ZS_OBJECT(context, context, hContext);
    ZS_CHECK_POINTER(desc);
    ZS_CHECK_POINTER(phPhysicalMemory);
    ZS_CHECK_FLAGS(desc->flags, ZS_ALL_ZE_PHYSICAL_MEM_FLAGS);
    struct zs_ze_device *device = hDevice ? zs_ze_device_of(hDevice) : NULL;
    bool on_host = (desc->flags & ZE_PHYSICAL_MEM_FLAG_ALLOCATE_ON_HOST) != 0;
    ZS_CHECK(device || (!hDevice && on_host), ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
             "hDevice is no device");
    if (device)
        ZS_CHECK_MEMBER(context, device);
    CHECK_SIZE(desc->size);
    ZS_CHECK(on_host || desc->size <= device->memory_B, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY,
             "%zu bytes are more than the device has", desc->size);
    struct zs_range_desc external = {.size_B = desc->size, .fd = -1};
    ze_result_t result = zs_memory_external(desc->pNext, &external);
    ZS_CHECK(result == ZE_RESULT_SUCCESS, result, "external memory of this kind");
    struct zs_ze_physical *physical = zs_object_new(ZS_OBJECT_physical, sizeof(*physical));
    ZS_CHECK(physical, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory");
    physical->context = zs_object_ref(context);
    physical->device = on_host ? NULL : device;
    physical->size_B = desc->size;
    physical->file = ZS_SHARED_FILE_NONE;
    if (!zs_memory_charge(physical->device, desc->size, false)) {
        zs_object_unref(physical);
        return ZS_REFUSE(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, "%zu bytes, the device has no more",
                         desc->size);
    }
    physical->charged_B = physical->device ? desc->size : 0;
    int error = make_home(physical, &external);
    if (!error && !zs_object_publish(physical))
        error = -ENOMEM;
    if (error) {
        zs_object_unref(physical);
        return ZS_REFUSE(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, "%zu bytes: %s", desc->size,
                         strerror(-error));
    }
    if (external.fd >= 0) { /* the caller's no more */
        physical->file = zs_shared_file_make(external.fd);
        physical->may_shrink = zs_file_may_shrink(external.fd);
    }
    *phPhysicalMemory = physical->object.handle;
    return ZE_RESULT_SUCCESS;
}

void zs_ze_physical_fini(struct zs_ze_physical *physical)
{
    if (physical->home)
        munmap(physical->home, physical->size_B);
    zs_shared_file_close(&physical->file);
    zs_memory_discharge(physical->device, physical->charged_B);
    zs_object_unref(physical->context);
}

ze_result_t ZE_APICALL zePhysicalMemDestroy(ze_context_handle_t hContext,
                                            ze_physical_mem_handle_t hPhysicalMemory)
{
    ZS_OBJECT(context, context, hContext);
    ZS_OBJECT(physical, physical, hPhysicalMemory);
    if (!zs_object_retract(physical))
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    zs_object_unref(physical);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zePhysicalMemGetProperties(ze_context_handle_t hContext,
                                                  ze_physical_mem_handle_t hPhysicalMem,
                                                  ze_physical_mem_properties_t *pMemProperties)
{
    ZS_OBJECT(context, context, hContext);
    ZS_OBJECT(physical, physical, hPhysicalMem);
    ZS_CHECK_POINTER(pMemProperties);
    pMemProperties->id = (uintptr_t)hPhysicalMem;
    pMemProperties->size = physical->size_B;
    return ZE_RESULT_SUCCESS;
}

/* ---- Mappings ----------------------------------------------------------------------------------
 */

static void insert(struct zs_reservation *reservation, struct mapping *mapping)
{
    struct mapping **at = &reservation->mappings;
    while (*at && (*at)->base < mapping->base)
        at = &(*at)->next;
    mapping->next = *at;
    *at = mapping;
}

static void take_out(struct zs_reservation *reservation, const struct mapping *mapping)
{
    struct mapping **at = &reservation->mappings;
    while (*at != mapping)
        at = &(*at)->next;
    *at = mapping->next;
}

/* The physical memory's pages at the mapping's place, which is closed again when that fails. */
static bool put_pages(const struct mapping *mapping)
{
    void *at = (void *)(uintptr_t)mapping->base;
    void *from = mapping->physical->home + mapping->offset_B;
    if (mremap(from, 0, mapping->size_B, MREMAP_MAYMOVE | MREMAP_FIXED, at) == at &&
        mprotect(at, mapping->size_B, protection_of(mapping->access)) == 0)
        return true;
    (void)!close_pages(mapping->base, mapping->size_B);
    return false;
}

static ze_result_t map(struct zs_ze_context *context, struct mapping *mapping)
{
    struct zs_reservation *reservation = *find_reservation(context, mapping->base, mapping->size_B);
    struct span area = {mapping->base, mapping->base + mapping->size_B}, wide = area;
    if (!reservation || !is_empty(reservation, area))
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    if (!put_pages(mapping))
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    /* only a neighbour may be in use */
    struct span around = {area.begin - 1, area.end + 1};
    bool alone = is_empty(reservation, around);
    if (!alone)
        zs_gpu_memory_stop(context->memory);
    withdraw(context, reservation, &wide);
    insert(reservation, mapping);
    int error = announce(context, reservation, wide);
    if (!error) {
        count_mapping(context, mapping->physical, 1);
    } else {
        take_out(reservation, mapping);
        (void)!close_pages(mapping->base, mapping->size_B);
    }
    if (!alone)
        zs_gpu_memory_resume(context->memory);
    return zs_result_of_errno(error);
}

ze_result_t ZE_APICALL zeVirtualMemMap(ze_context_handle_t hContext, const void *ptr, size_t size,
                                       ze_physical_mem_handle_t hPhysicalMemory, size_t offset,
                                       ze_memory_access_attribute_t access)
{
    ZS_OBJECT(context, context, hContext);
    ZS_CHECK_POINTER(ptr);
    ZS_OBJECT(physical, physical, hPhysicalMemory);
    ZS_CHECK_ENUM(access, ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY);
    CHECK_SIZE(size);
    ZS_CHECK((uintptr_t)ptr % PAGE_B == 0 && offset % PAGE_B == 0,
             ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT, "%p or offset %zu is not aligned to %d", ptr,
             offset, PAGE_B);
    ZS_CHECK(contains(0, physical->size_B, offset, size), ZE_RESULT_ERROR_INVALID_ARGUMENT,
             "%zu bytes at offset %zu, the physical memory has %zu", size, offset,
             physical->size_B);
    struct mapping *mapping = calloc(1, sizeof(*mapping));
    ZS_CHECK(mapping, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory");
    *mapping = (struct mapping){.base = (uintptr_t)ptr,
                                .size_B = size,
                                .physical = zs_object_ref(physical),
                                .offset_B = offset,
                                .access = access};
    pthread_mutex_lock(&context->reservations_lock);
    ze_result_t result = map(context, mapping);
    pthread_mutex_unlock(&context->reservations_lock);
    if (result != ZE_RESULT_SUCCESS) {
        zs_object_unref(physical);
        free(mapping);
        return ZS_REFUSE(result, "%p and %zu bytes are not reserved, or mapped already", ptr, size);
    }
    return result;
}

/* The reservation of an area, with no mapping across its ends. Under reservations_lock. */
static ze_result_t cut_out(struct zs_ze_context *context, struct span area,
                           struct zs_reservation **ret_reservation)
{
    *ret_reservation = *find_reservation(context, area.begin, area.end - area.begin);
    if (!*ret_reservation)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    return split(context, *ret_reservation, area.begin) &&
                   split(context, *ret_reservation, area.end)
               ? ZE_RESULT_SUCCESS
               : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}

ze_result_t ZE_APICALL zeVirtualMemUnmap(ze_context_handle_t hContext, const void *ptr, size_t size)
{
    ZS_OBJECT(context, context, hContext);
    ZS_CHECK_POINTER(ptr);
    CHECK_SIZE(size);
    CHECK_AT_PAGE(ptr);
    struct span area = {(uintptr_t)ptr, (uintptr_t)ptr + size};
    struct zs_reservation *reservation;
    pthread_mutex_lock(&context->reservations_lock);
    ze_result_t result = cut_out(context, area, &reservation);
    if (result == ZE_RESULT_SUCCESS && !is_empty(reservation, area))
        result = zs_result_of_errno(unmap(context, reservation, area));
    pthread_mutex_unlock(&context->reservations_lock);
    ZS_CHECK(result == ZE_RESULT_SUCCESS, result, "%zu bytes at %p are not reserved", size, ptr);
    return result;
}

/* Under reservations_lock, for an area that is cut out. Pages that are not mapped stay closed: what
 * will be mapped there brings its own access. */
static int set_access(struct zs_ze_context *context, struct zs_reservation *reservation,
                      struct span area, ze_memory_access_attribute_t access)
{
    struct span wide = area;
    zs_gpu_memory_stop(context->memory);
    withdraw(context, reservation, &wide);
    int error = 0;
    for (struct mapping *m = reservation->mappings; m && !error; m = m->next) {
        if (m->base < area.begin || m->base >= area.end)
            continue;
        if (mprotect((void *)(uintptr_t)m->base, m->size_B, protection_of(access)) != 0)
            error = -errno;
        else
            m->access = access;
    }
    int lost = announce(context, reservation, wide);
    zs_gpu_memory_resume(context->memory);
    return error ? error : lost;
}

ze_result_t ZE_APICALL zeVirtualMemSetAccessAttribute(ze_context_handle_t hContext, const void *ptr,
                                                      size_t size,
                                                      ze_memory_access_attribute_t access)
{
    ZS_OBJECT(context, context, hContext);
    ZS_CHECK_POINTER(ptr);
    ZS_CHECK_ENUM(access, ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY);
    CHECK_SIZE(size);
    CHECK_AT_PAGE(ptr);
    struct span area = {(uintptr_t)ptr, (uintptr_t)ptr + size};
    struct zs_reservation *reservation;
    pthread_mutex_lock(&context->reservations_lock);
    ze_result_t result = cut_out(context, area, &reservation);
    if (result == ZE_RESULT_SUCCESS)
        result = zs_result_of_errno(set_access(context, reservation, area, access));
    pthread_mutex_unlock(&context->reservations_lock);
    ZS_CHECK(result == ZE_RESULT_SUCCESS, result, "%zu bytes at %p are not reserved", size, ptr);
    return result;
}

ze_result_t ZE_APICALL zeVirtualMemGetAccessAttribute(ze_context_handle_t hContext, const void *ptr,
                                                      size_t size,
                                                      ze_memory_access_attribute_t *access,
                                                      size_t *outSize)
{
    ZS_OBJECT(context, context, hContext);
    ZS_CHECK_POINTER(ptr);
    ZS_CHECK_POINTER(access);
    ZS_CHECK_POINTER(outSize);
    ZS_CHECK(size, ZE_RESULT_ERROR_UNSUPPORTED_SIZE, "size is 0");
    pthread_mutex_lock(&context->reservations_lock);
    struct zs_reservation *reservation = *find_reservation(context, (uintptr_t)ptr, 1);
    if (reservation) {
        uint64_t va = (uintptr_t)ptr, end = reservation->base + reservation->size_B;
        const struct mapping *m = find_mapping(reservation, va);
        *access = m ? m->access : ZE_MEMORY_ACCESS_ATTRIBUTE_NONE;
        for (uint64_t at = va; m && m->access == *access && m->base <= at; m = m->next)
            at = end = m->base + m->size_B;
        for (m = reservation->mappings; m && *access == ZE_MEMORY_ACCESS_ATTRIBUTE_NONE;
             m = m->next) {
            if (m->base > va && m->access != *access)
                end = ZS_MIN(end, m->base);
        }
        *outSize = (size_t)ZS_MIN((uint64_t)size, end - va);
    }
    pthread_mutex_unlock(&context->reservations_lock);
    ZS_CHECK(reservation, ZE_RESULT_ERROR_INVALID_ARGUMENT, "%p is not reserved", ptr);
    return ZE_RESULT_SUCCESS;
}

/* ---- Sharing -----------------------------------------------------------------------------------
 */

/* Where the physical memory is mapped, under reservations_lock of its context; NULL: no memory. The
 * first one is its home. */
static struct zs_pages_view *views_of(const struct zs_ze_physical *physical, size_t *ret_count)
{
    struct zs_pages_view *views = calloc(physical->mappings + 1, sizeof(*views));
    if (!views)
        return NULL;
    views[0] = (struct zs_pages_view){physical->home, physical->size_B, 0, PROT_NONE};
    *ret_count = 1;
    for (const struct zs_reservation *r = physical->context->reservations; r; r = r->next)
        for (const struct mapping *m = r->mappings; m; m = m->next)
            if (m->physical == physical)
                views[(*ret_count)++] =
                    (struct zs_pages_view){(void *)(uintptr_t)m->base, m->size_B,
                                           (off_t)m->offset_B, protection_of(m->access)};
    return views;
}

/* A second look at its pages, for reading. */
static const void *look_at(const struct zs_ze_physical *physical)
{
    void *pages = mremap(physical->home, 0, physical->size_B, MREMAP_MAYMOVE);
    if (pages == MAP_FAILED)
        return NULL;
    if (mprotect(pages, physical->size_B, PROT_READ) == 0)
        return pages;
    munmap(pages, physical->size_B);
    return NULL;
}

/* Under reservations_lock of its context: its pages move into a file. */
static int move_to_file(struct zs_ze_physical *physical)
{
    size_t count = 0;
    struct zs_pages_view *views = views_of(physical, &count);
    const void *source = look_at(physical);
    int fd = zs_memfd_make("zescope-physical", physical->size_B);
    int error = physical->foreign ? -EBUSY : !views || !source ? -ENOMEM : ZS_MIN(fd, 0);
    if (!error) {
        zs_gpu_memory_stop(physical->context->memory);
        error = zs_pages_move(views, count, source, physical->size_B, fd);
        zs_gpu_memory_resume(physical->context->memory);
    }
    if (!error)
        physical->file = zs_shared_file_make(fd);
    else if (fd >= 0)
        close(fd);
    if (source)
        munmap((void *)(uintptr_t)source, physical->size_B);
    free(views);
    return error;
}

/* Under reservations_lock of its context. */
static int share(struct zs_ze_physical *physical, int *ret_fd)
{
    int error = physical->file.kept.fd < 0 ? move_to_file(physical) : 0;
    *ret_fd = error ? error : zs_shared_file_hand(&physical->file);
    return ZS_MIN(*ret_fd, 0);
}

int zs_virtual_share(struct zs_ze_context *context, const void *ptr, struct zs_range *range,
                     int *ret_fd)
{
    pthread_mutex_lock(&context->reservations_lock);
    struct zs_reservation *reservation = *find_reservation(context, (uintptr_t)ptr, 1);
    const struct mapping *m = reservation ? find_mapping(reservation, (uintptr_t)ptr) : NULL;
    int error = m && m->offset_B == 0 && m->physical->context == context ? 0 : -ENOTSUP;
    if (!error)
        error = share(m->physical, ret_fd);
    if (!error) {
        range->kind = m->physical->device ? ZS_GPU_MEMORY_DEVICE : ZS_GPU_MEMORY_HOST;
        range->size_B = m->size_B;
    }
    pthread_mutex_unlock(&context->reservations_lock);
    return error;
}

int zs_physical_share(const void *handle, struct zs_range *range, int *ret_fd)
{
    struct zs_ze_physical *physical = zs_ze_physical_of(handle);
    if (!physical)
        return -ENOENT;
    pthread_mutex_lock(&physical->context->reservations_lock);
    int error = share(physical, ret_fd);
    pthread_mutex_unlock(&physical->context->reservations_lock);
    range->kind = physical->device ? ZS_GPU_MEMORY_DEVICE : ZS_GPU_MEMORY_HOST;
    range->size_B = physical->size_B;
    return error;
}

void zs_virtual_tell_leaks(struct zs_ze_context *context, bool ended)
{
    if (pthread_mutex_trylock(&context->reservations_lock))
        return; /* the process ends inside of a call */
    for (const struct zs_reservation *r = context->reservations; r; r = r->next)
        zs_leaks_memory(ZS_LEAK_VIRTUAL, r->size_B, r->origin, ended);
    pthread_mutex_unlock(&context->reservations_lock);
}
