/* SPDX-License-Identifier: MIT */
/*
 * Memory that a debugger reads and writes: code at its place, the ELFs that events name, what is
 * alive in any context of the process, and in the context of a thread what its launch alone has.
 */
#include "driver/debug/debug.h"

#include "driver/memory/memory.h"

#include <errno.h>
#include <stdlib.h>

enum { SLM_TAG = 1 << 28 }; /* compilers mark addresses of local memory with it */

static ze_result_t result_of(int error)
{
    switch (error) {
    case 0:
        return ZE_RESULT_SUCCESS;
    case -ENOMEM:
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    case -EAGAIN: /* the thread runs */
    case -ENOENT: /* nothing is there */
    case -EFAULT:
    case -EACCES:
        return ZE_RESULT_ERROR_NOT_AVAILABLE;
    default:
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
}

static struct zs_ze_context **all_contexts(struct zs_ze_driver *driver, uint32_t *ret_count)
{
    *ret_count = 0;
    pthread_mutex_lock(&driver->contexts_lock);
    struct zs_ze_context **found = calloc(driver->context_count + 1u, sizeof(*found));
    for (struct zs_ze_context *c = driver->contexts; found && c; c = c->next)
        found[(*ret_count)++] = zs_object_ref(c);
    pthread_mutex_unlock(&driver->contexts_lock);
    return found;
}

static int access_context(const struct zs_debug_access *a, struct zs_ze_context *context)
{
    struct zs_gpu_allocation found;
    void *memory = (void *)(uintptr_t)a->gpu_va;
    if (!zs_gpu_memory_find(context->memory, a->gpu_va, &found))
        return -ENOENT;
    if (a->size_B > found.gpu_va + found.size_B - a->gpu_va)
        return -EFAULT;
    if (a->write && (found.flags & ZS_GPU_ALLOCATION_READ_ONLY))
        return -EACCES;
    if (a->write)
        zs_gpu_history_writes(a->session, a->gpu_va, a->bytes, a->size_B);
    return a->write ? zs_memory_copy(context, memory, NULL, a->bytes, a->size_B, NULL)
                    : zs_memory_copy(context, a->bytes, NULL, memory, a->size_B, NULL);
}

static int access_contexts(const struct zs_debug_access *a)
{
    uint32_t count;
    struct zs_ze_context **contexts = all_contexts(a->driver, &count);
    int error = contexts ? -ENOENT : -ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        if (error == -ENOENT)
            error = access_context(a, contexts[i]);
        zs_object_unref(contexts[i]);
    }
    free(contexts);
    return error;
}

static int access_default(const struct zs_debug_access *a)
{
    struct zs_gpu_debug *gpu = zs_debug_gpu(a->driver->debug);
    int error = a->write ? zs_gpu_debug_code_write(gpu, a->gpu_va, a->bytes, a->size_B)
                         : zs_gpu_debug_code_read(gpu, a->gpu_va, a->bytes, a->size_B);
    if (error == -ENOENT) {
        error =
            zs_debug_read_elf(a->driver->debug, a->gpu_va, a->write ? NULL : a->bytes, a->size_B);
        if (error == 0 && a->write)
            error = -EACCES;
    }
    if (error == -ENOENT && a->thread)
        error = zs_gpu_debug_launch_memory(a->session, a->thread, a->gpu_va, a->bytes, a->size_B,
                                           a->write);
    if (error == -ENOENT)
        error = access_contexts(a);
    return error;
}

ze_result_t zs_debug_access_memory(const struct zs_debug_access *a)
{
    int error = a->thread ? zs_gpu_debug_check_stopped(a->session, a->thread) : 0;
    if (error)
        return result_of(error);
    if (a->space == ZET_DEBUG_MEMORY_SPACE_TYPE_DEFAULT)
        return result_of(access_default(a));
    if (!a->thread)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    uint64_t offset_B = a->gpu_va & SLM_TAG ? a->gpu_va & (SLM_TAG - 1) : a->gpu_va;
    return result_of(
        zs_gpu_debug_slm(a->session, a->thread, offset_B, a->bytes, a->size_B, a->write));
}
