/* SPDX-License-Identifier: MIT */
#include "driver/driver_priv.h"

#include "driver/leaks.h"
#include "driver/memory/memory.h"
#include "driver/module/module.h"
#include "driver/queue/worker.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { CODE_SPACE_SHIFT = 31 };

/* Addresses for code, which no memory has. Nothing is there: src/gpu has the bytes. 0: none. The
 * lower half of such an address is the ip. */
static uint64_t reserve_code_space(void)
{
    const size_t size_B = (size_t)1 << CODE_SPACE_SHIFT, align_B = size_B * 2;
    uint8_t *all =
        mmap(NULL, align_B + size_B, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED)
        return 0;
    uint8_t *base = (uint8_t *)(uintptr_t)zs_align_up((uintptr_t)all, align_B);
    size_t before_B = (size_t)(base - all);
    if (before_B)
        munmap(all, before_B);
    if (align_B - before_B)
        munmap(base + size_B, align_B - before_B);
    return (uintptr_t)base;
}

static void list_context(struct zs_ze_context *context)
{
    struct zs_ze_driver *driver = context->driver;
    pthread_mutex_lock(&driver->contexts_lock);
    context->next = driver->contexts;
    if (context->next)
        context->next->previous = context;
    driver->contexts = context;
    driver->context_count++;
    context->is_listed = true;
    pthread_mutex_unlock(&driver->contexts_lock);
}

static void unlist_context(struct zs_ze_context *context)
{
    struct zs_ze_driver *driver = context->driver;
    pthread_mutex_lock(&driver->contexts_lock);
    if (context->is_listed) {
        if (context->previous)
            context->previous->next = context->next;
        else
            driver->contexts = context->next;
        if (context->next)
            context->next->previous = context->previous;
        driver->context_count--;
        context->is_listed = false;
    }
    pthread_mutex_unlock(&driver->contexts_lock);
}

uint32_t zs_contexts_beside(const struct zs_ze_context *context,
                            struct zs_ze_context ***ret_contexts)
{
    struct zs_ze_driver *driver = context->driver;
    uint32_t count = 0;
    *ret_contexts = NULL;
    if (driver->check || atomic_load_explicit(&driver->context_count, memory_order_relaxed) < 2)
        return 0;
    pthread_mutex_lock(&driver->contexts_lock);
    struct zs_ze_context **found = calloc(driver->context_count, sizeof(*found));
    for (struct zs_ze_context *c = driver->contexts; found && c; c = c->next)
        if (c != context)
            found[count++] = zs_object_ref(c);
    pthread_mutex_unlock(&driver->contexts_lock);
    if (count)
        *ret_contexts = found;
    else
        free(found);
    return count;
}

ze_result_t ZE_APICALL zeContextCreateEx(ze_driver_handle_t hDriver, const ze_context_desc_t *desc,
                                         uint32_t numDevices, ze_device_handle_t *phDevices,
                                         ze_context_handle_t *phContext)
{
    ZS_OBJECT(driver, driver, hDriver);
    ZS_CHECK_POINTER(desc);
    ZS_CHECK_POINTER(phContext);
    ZS_CHECK_FLAGS(desc->flags, 0x1);
    ZS_CHECK(numDevices == 0 || phDevices, ZE_RESULT_ERROR_INVALID_NULL_POINTER,
             "%u devices, phDevices is null", numDevices);
    ZS_CHECK(zs_devices_valid(numDevices, phDevices), ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
             "phDevices has something that is no device");
    struct zs_ze_context *context = zs_object_new(ZS_OBJECT_context, sizeof(*context));
    ZS_CHECK(context, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory");
    context->driver = driver;
    context->devices = calloc(numDevices + 1u, sizeof(struct zs_ze_device *));
    for (uint32_t i = 0; context->devices && i < numDevices; i++)
        context->devices[context->device_count++] = zs_ze_device_of(phDevices[i]);
    pthread_rwlock_init(&context->memory_lock, NULL);
    pthread_mutex_init(&context->workers_lock, NULL);
    pthread_mutex_init(&context->reservations_lock, NULL);
    pthread_mutex_init(&context->code_lock, NULL);
    zs_code_places_init(&context->places, ZS_IP_BASE, ZS_IP_END);
    if (driver->debug)
        context->code_base_va = reserve_code_space();
    pthread_cond_init(&context->workers_gone, NULL);
    int error = context->devices ? 0 : -ENOMEM;
    if (!error && driver->memory)
        context->memory = driver->memory;
    else if (!error)
        error = zs_gpu_memory_create(&context->memory);
    if (error || !zs_object_publish(context)) {
        zs_object_unref(context);
        return ZS_REFUSE(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory");
    }
    *phContext = context->object.handle;
    list_context(context);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeContextCreate(ze_driver_handle_t hDriver, const ze_context_desc_t *desc,
                                       ze_context_handle_t *phContext)
{
    return zeContextCreateEx(hDriver, desc, 0, NULL, phContext);
}

void zs_ze_context_fini(struct zs_ze_context *context)
{
    zs_engines_free(context);
    if (context->code_base_va)
        munmap((void *)(uintptr_t)context->code_base_va, (size_t)1 << CODE_SPACE_SHIFT);
    zs_virtual_free_all(context);
    zs_memory_free_all(context);
    if (context->memory != context->driver->memory)
        zs_gpu_memory_destroy(context->memory);
    pthread_rwlock_destroy(&context->memory_lock);
    pthread_mutex_destroy(&context->workers_lock);
    pthread_mutex_destroy(&context->reservations_lock);
    pthread_mutex_destroy(&context->code_lock);
    zs_code_places_fini(&context->places);
    pthread_cond_destroy(&context->workers_gone);
    free(context->devices);
}

bool zs_context_has(const struct zs_ze_context *context, const struct zs_ze_device *device)
{
    bool found = context->device_count == 0;
    for (uint32_t i = 0; i < context->device_count && !found; i++)
        found = zs_devices_share(context->devices[i], device);
    return found;
}

/* Work that still runs is interrupted: this is how a program gets rid of a kernel that never ends.
 * Objects of the context that were not destroyed keep its memory alive until they are. */
ze_result_t ZE_APICALL zeContextDestroy(ze_context_handle_t hContext)
{
    ZS_OBJECT(context, context, hContext);
    if (!zs_object_retract(context))
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    zs_leaks_of_context(context);
    unlist_context(context);
    atomic_store(&context->cancelled, true);
    zs_workers_stop(context);
    zs_object_unref(context);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zs_context_status(struct zs_ze_context *context)
{
    return atomic_load(&context->lost) ? ZE_RESULT_ERROR_DEVICE_LOST : ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeContextGetStatus(ze_context_handle_t hContext)
{
    ZS_OBJECT(context, context, hContext);
    return zs_context_status(context);
}

ze_result_t ZE_APICALL zeContextSystemBarrier(ze_context_handle_t hContext,
                                              ze_device_handle_t hDevice)
{
    ZS_OBJECT(context, context, hContext);
    ZS_OBJECT(device, device, hDevice);
    ZS_CHECK_MEMBER(context, device);
    atomic_thread_fence(memory_order_seq_cst);
    return ZE_RESULT_SUCCESS;
}

/* ---- Residency: all memory of a context always is ---------------------------------------------
 */

ze_result_t ZE_APICALL zeContextMakeMemoryResident(ze_context_handle_t hContext,
                                                   ze_device_handle_t hDevice, void *ptr,
                                                   size_t size)
{
    ZS_OBJECT(context, context, hContext);
    ZS_OBJECT(device, device, hDevice);
    ZS_CHECK_MEMBER(context, device);
    ZS_CHECK_POINTER(ptr);
    ZS_CHECK(size, ZE_RESULT_ERROR_INVALID_SIZE, "size is 0");
    ZS_CHECK(zs_memory_contains(context, ptr, size), ZE_RESULT_ERROR_INVALID_ARGUMENT,
             "%p and %zu bytes are not in one allocation of the context", ptr, size);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeContextEvictMemory(ze_context_handle_t hContext,
                                            ze_device_handle_t hDevice, void *ptr, size_t size)
{
    return zeContextMakeMemoryResident(hContext, hDevice, ptr, size);
}

ze_result_t ZE_APICALL zeContextMakeImageResident(ze_context_handle_t hContext,
                                                  ze_device_handle_t hDevice,
                                                  ze_image_handle_t hImage)
{
    ZS_OBJECT(context, context, hContext);
    ZS_OBJECT(device, device, hDevice);
    ZS_CHECK_MEMBER(context, device);
    ZS_OBJECT(image, image, hImage);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeContextEvictImage(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                           ze_image_handle_t hImage)
{
    return zeContextMakeImageResident(hContext, hDevice, hImage);
}
