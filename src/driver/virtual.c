/* SPDX-License-Identifier: MIT */
/*
 * Virtual and physical memory. A reservation is address space without access; physical memory is a
 * memfd; mapping puts pages of one into the other. A mapping is memory for kernels and copies; its
 * end closes the access again and leaves the reservation.
 */
#include "driver/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE_B = 65536 };

struct zs_ze_physical {
    struct zs_object object;
    struct zs_ze_context *context;
    struct zs_ze_device *device;
    size_t size_B;
    uint64_t charged_B; /* of the device's memory */
    int fd;
};

struct mapping {
    struct mapping *next;
    uint64_t base, size_B;
    struct zs_ze_physical *physical;
    uint64_t offset_B;
    ze_memory_access_attribute_t access;
};

/* Linked from context->reservations, under reservations_lock, mappings included. */
struct zs_reservation {
    struct zs_reservation *next;
    uint64_t base, size_B;
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

static struct mapping **find_mapping(struct zs_reservation *reservation, uint64_t va)
{
    struct mapping **at = &reservation->mappings;
    while (*at && !contains((*at)->base, (*at)->size_B, va, 1))
        at = &(*at)->next;
    return at;
}

ze_result_t ZE_APICALL zeVirtualMemQueryPageSize(ze_context_handle_t hContext,
                                                 ze_device_handle_t hDevice, size_t size,
                                                 size_t *pagesize)
{
    ZS_OBJECT(context, context, hContext);
    ZS_OBJECT(device, device, hDevice);
    ZS_CHECK_MEMBER(context, device);
    ZS_CHECK_POINTER(pagesize);
    ZS_CHECK(size, ZE_RESULT_ERROR_UNSUPPORTED_SIZE, "size is 0");
    *pagesize = PAGE_B;
    return ZE_RESULT_SUCCESS;
}

/* ---- Reservations ------------------------------------------------------------------------------
 */

static void *reserve(const void *start, size_t size_B)
{
    if (start) {
        void *p = mmap((void *)(uintptr_t)start, size_B, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
        if (p == start)
            return p;
        if (p != MAP_FAILED)
            munmap(p, size_B);
    }
    char *all =
        mmap(NULL, size_B + PAGE_B, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED)
        return NULL;
    char *p = (char *)zs_align_up((uintptr_t)all, PAGE_B);
    if (p > all)
        munmap(all, (size_t)(p - all));
    if (all + PAGE_B > p)
        munmap(p + size_B, (size_t)(all + PAGE_B - p));
    return p;
}

ze_result_t ZE_APICALL zeVirtualMemReserve(ze_context_handle_t hContext, const void *pStart,
                                           size_t size, void **pptr)
{
    ZS_OBJECT(context, context, hContext);
    ZS_CHECK_POINTER(pptr);
    ZS_CHECK(size && size % PAGE_B == 0, ZE_RESULT_ERROR_UNSUPPORTED_SIZE,
             "%zu bytes are no multiple of the page size %d", size, PAGE_B);
    ZS_CHECK((uintptr_t)pStart % PAGE_B == 0, ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT,
             "pStart %p is not aligned to %d", pStart, PAGE_B);
    struct zs_reservation *reservation = calloc(1, sizeof(*reservation));
    void *p = reservation && size < (1ull << 46) ? reserve(pStart, size) : NULL;
    if (!p) {
        free(reservation);
        return ZS_REFUSE(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no room for %zu bytes", size);
    }
    reservation->base = (uintptr_t)p;
    reservation->size_B = size;
    pthread_mutex_lock(&context->reservations_lock);
    reservation->next = context->reservations;
    context->reservations = reservation;
    pthread_mutex_unlock(&context->reservations_lock);
    *pptr = p;
    return ZE_RESULT_SUCCESS;
}

/* Close the pages and forget the mapping. Under reservations_lock. */
static void unmap(struct zs_ze_context *context, struct mapping **at)
{
    struct mapping *mapping = *at;
    *at = mapping->next;
    if (mapping->access != ZE_MEMORY_ACCESS_ATTRIBUTE_NONE)
        zs_memory_free(context, (void *)(uintptr_t)mapping->base);
    /* wait until no command can have the pages in use */
    pthread_rwlock_wrlock(&context->exec_lock);
    (void)!mmap((void *)(uintptr_t)mapping->base, mapping->size_B, PROT_NONE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    pthread_rwlock_unlock(&context->exec_lock);
    zs_object_unref(mapping->physical);
    free(mapping);
}

static void free_reservation(struct zs_ze_context *context, struct zs_reservation *reservation)
{
    while (reservation->mappings)
        unmap(context, &reservation->mappings);
    munmap((void *)(uintptr_t)reservation->base, reservation->size_B);
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

ze_result_t ZE_APICALL zePhysicalMemCreate(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                           ze_physical_mem_desc_t *desc,
                                           ze_physical_mem_handle_t *phPhysicalMemory)
{
    ZS_OBJECT(context, context, hContext);
    ZS_OBJECT(device, device, hDevice);
    ZS_CHECK_MEMBER(context, device);
    ZS_CHECK_POINTER(desc);
    ZS_CHECK_POINTER(phPhysicalMemory);
    ZS_CHECK_ENUM(desc->flags, 0x1);
    ZS_CHECK(desc->size && desc->size % PAGE_B == 0, ZE_RESULT_ERROR_UNSUPPORTED_SIZE,
             "%zu bytes are no multiple of the page size %d", desc->size, PAGE_B);
    ZS_CHECK(desc->size <= device->memory_B, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY,
             "%zu bytes are more than the device has", desc->size);
    struct zs_ze_physical *physical = zs_object_new(ZS_OBJECT_physical, sizeof(*physical));
    ZS_CHECK(physical, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory");
    physical->context = zs_object_ref(context);
    physical->device = device;
    physical->size_B = desc->size;
    physical->fd = -1;
    if (!zs_memory_charge(device, desc->size, false)) {
        zs_object_unref(physical);
        return ZS_REFUSE(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, "%zu bytes, the device has no more",
                         desc->size);
    }
    physical->charged_B = desc->size;
    physical->fd = memfd_create("zescope-physical", MFD_CLOEXEC);
    if (physical->fd < 0 || ftruncate(physical->fd, (off_t)desc->size) != 0 ||
        !zs_object_publish(physical)) {
        zs_object_unref(physical);
        return ZS_REFUSE(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, "%zu bytes: %s", desc->size,
                         strerror(errno));
    }
    *phPhysicalMemory = physical->object.handle;
    return ZE_RESULT_SUCCESS;
}

void zs_ze_physical_fini(struct zs_ze_physical *physical)
{
    if (physical->fd >= 0)
        close(physical->fd);
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

/* ---- Mappings ----------------------------------------------------------------------------------
 */

/* Tell kernels and copies what they may do with a mapping. */
static int expose(struct zs_ze_context *context, const struct mapping *mapping)
{
    if (mapping->access == ZE_MEMORY_ACCESS_ATTRIBUTE_NONE)
        return 0;
    const struct zs_range_desc desc = {.device = mapping->physical->device,
                                       .kind = ZS_GPU_MEMORY_VIRTUAL,
                                       .size_B = mapping->size_B,
                                       .label = "zeVirtualMemMap",
                                       .fd = -1,
                                       .gpu_flags =
                                           mapping->access == ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY
                                               ? ZS_GPU_ALLOCATION_READ_ONLY
                                               : 0};
    return zs_memory_add_borrowed(context, &desc, (void *)(uintptr_t)mapping->base);
}

static ze_result_t map(struct zs_ze_context *context, struct mapping *mapping)
{
    struct zs_reservation *reservation = *find_reservation(context, mapping->base, mapping->size_B);
    if (!reservation)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    for (const struct mapping *m = reservation->mappings; m; m = m->next) {
        if (mapping->base < m->base + m->size_B && m->base < mapping->base + mapping->size_B)
            return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    void *p =
        mmap((void *)(uintptr_t)mapping->base, mapping->size_B, protection_of(mapping->access),
             MAP_SHARED | MAP_FIXED, mapping->physical->fd, (off_t)mapping->offset_B);
    if (p == MAP_FAILED)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    int error = expose(context, mapping);
    if (error)
        return zs_result_of_errno(error);
    mapping->next = reservation->mappings;
    reservation->mappings = mapping;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeVirtualMemMap(ze_context_handle_t hContext, const void *ptr, size_t size,
                                       ze_physical_mem_handle_t hPhysicalMemory, size_t offset,
                                       ze_memory_access_attribute_t access)
{
    ZS_OBJECT(context, context, hContext);
    ZS_CHECK_POINTER(ptr);
    ZS_OBJECT(physical, physical, hPhysicalMemory);
    ZS_CHECK_ENUM(access, ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY);
    ZS_CHECK(size && size % PAGE_B == 0, ZE_RESULT_ERROR_UNSUPPORTED_SIZE,
             "%zu bytes are no multiple of the page size %d", size, PAGE_B);
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

/* The mapping that ptr and size name exactly. Under reservations_lock. */
static struct mapping **exact(struct zs_ze_context *context, const void *ptr, size_t size)
{
    struct zs_reservation *reservation = *find_reservation(context, (uintptr_t)ptr, size);
    struct mapping **at = reservation ? find_mapping(reservation, (uintptr_t)ptr) : NULL;
    return at && *at && (*at)->base == (uintptr_t)ptr && (*at)->size_B == size ? at : NULL;
}

ze_result_t ZE_APICALL zeVirtualMemUnmap(ze_context_handle_t hContext, const void *ptr, size_t size)
{
    ZS_OBJECT(context, context, hContext);
    ZS_CHECK_POINTER(ptr);
    ZS_CHECK(size, ZE_RESULT_ERROR_UNSUPPORTED_SIZE, "size is 0");
    pthread_mutex_lock(&context->reservations_lock);
    struct mapping **at = exact(context, ptr, size);
    if (at)
        unmap(context, at);
    pthread_mutex_unlock(&context->reservations_lock);
    ZS_CHECK(at, ZE_RESULT_ERROR_INVALID_ARGUMENT, "%p and %zu bytes are no mapping", ptr, size);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeVirtualMemSetAccessAttribute(ze_context_handle_t hContext, const void *ptr,
                                                      size_t size,
                                                      ze_memory_access_attribute_t access)
{
    ZS_OBJECT(context, context, hContext);
    ZS_CHECK_POINTER(ptr);
    ZS_CHECK_ENUM(access, ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY);
    ZS_CHECK(size, ZE_RESULT_ERROR_UNSUPPORTED_SIZE, "size is 0");
    pthread_mutex_lock(&context->reservations_lock);
    struct mapping **at = exact(context, ptr, size);
    int error = at ? 0 : -EINVAL;
    if (at) {
        struct mapping *mapping = *at;
        if (mapping->access != ZE_MEMORY_ACCESS_ATTRIBUTE_NONE)
            zs_memory_free(context, (void *)(uintptr_t)mapping->base);
        mapping->access = access;
        error = mprotect((void *)(uintptr_t)mapping->base, mapping->size_B, protection_of(access))
                    ? -errno
                    : expose(context, mapping);
    }
    pthread_mutex_unlock(&context->reservations_lock);
    ZS_CHECK(!error, zs_result_of_errno(error), "%p and %zu bytes: %s", ptr, size,
             at ? strerror(-error) : "no mapping");
    return ZE_RESULT_SUCCESS;
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
        const struct mapping *mapping = *find_mapping(reservation, (uintptr_t)ptr);
        uint64_t end =
            mapping ? mapping->base + mapping->size_B : reservation->base + reservation->size_B;
        *access = mapping ? mapping->access : ZE_MEMORY_ACCESS_ATTRIBUTE_NONE;
        *outSize = (size_t)ZS_MIN((uint64_t)size, end - (uintptr_t)ptr);
    }
    pthread_mutex_unlock(&context->reservations_lock);
    ZS_CHECK(reservation, ZE_RESULT_ERROR_INVALID_ARGUMENT, "%p is not reserved", ptr);
    return ZE_RESULT_SUCCESS;
}
