/* SPDX-License-Identifier: MIT */
/* Unified shared memory and its sharing between processes. */
#include "driver/memory/memory.h"

#include "driver/queue/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE_B = 4096 };

/* ---- Allocation --------------------------------------------------------------------------------
 */

struct request {
    size_t size_B, alignment;
    const char *label;
    enum zs_gpu_memory_kind kind;
};

ze_result_t zs_memory_external(const void *next, struct zs_range_desc *desc)
{
    const ze_external_memory_import_fd_t *import =
        zs_chain_find(next, ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD);
    const ze_external_memory_export_desc_t *export =
        zs_chain_find(next, ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC);
    const ze_external_memory_type_flags_t fds =
        ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD | ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF;
    if ((export && (export->flags & ~fds)) || (import && (import->flags & ~fds)))
        return ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION;
    if (zs_chain_find(next, ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_WIN32) ||
        zs_chain_find(next, ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_WIN32))
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    desc->exported |= export != NULL;
    desc->relaxed |=
        zs_chain_find(next, ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXP_DESC) != NULL;
    if (import) {
        struct stat st;
        if (fstat(import->fd, &st) != 0 || st.st_size < 0 || (uint64_t)st.st_size < desc->size_B)
            return ZE_RESULT_ERROR_INVALID_ARGUMENT;
        desc->fd = import->fd;
    }
    return ZE_RESULT_SUCCESS;
}

static uint64_t file_size(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && st.st_size > 0 ? (uint64_t)st.st_size : 0;
}

static ze_result_t allocate(const char *function, struct zs_ze_context *context,
                            struct zs_ze_device *device, const struct request *request,
                            const void *device_next, const void *host_next, void **pptr)
{
    struct zs_range_desc desc = {.device = device,
                                 .kind = request->kind,
                                 .size_B = request->size_B,
                                 .alignment = request->alignment,
                                 .label = request->label,
                                 .fd = -1};
    ze_result_t result = zs_memory_external(device_next, &desc);
    if (result == ZE_RESULT_SUCCESS)
        result = zs_memory_external(host_next, &desc);
    if (result != ZE_RESULT_SUCCESS)
        return zs_refuse(result, function, "external memory of this kind");
    if (!desc.size_B && desc.fd >= 0 && zs_lets_pass(function, "0 bytes of what is imported: all"))
        desc.size_B = file_size(desc.fd);
    if (desc.size_B == 0)
        return zs_refuse(ZE_RESULT_ERROR_UNSUPPORTED_SIZE, function, "size is 0");
    uint64_t max_B =
        device ? ZS_MIN(device->model->max_allocation_B, device->memory_B) : UINT64_MAX;
    if (desc.size_B > max_B && !desc.relaxed)
        return zs_refuse(ZE_RESULT_ERROR_UNSUPPORTED_SIZE, function,
                         "%llu bytes, the largest allocation is %llu",
                         (unsigned long long)desc.size_B, (unsigned long long)max_B);
    result = zs_memory_alloc(context, &desc, pptr);
    if (result != ZE_RESULT_SUCCESS)
        return zs_refuse(result, function, "%llu bytes, alignment %zu",
                         (unsigned long long)desc.size_B, request->alignment);
    return result;
}

ze_result_t ZE_APICALL zeMemAllocShared(ze_context_handle_t hContext,
                                        const ze_device_mem_alloc_desc_t *device_desc,
                                        const ze_host_mem_alloc_desc_t *host_desc, size_t size,
                                        size_t alignment, ze_device_handle_t hDevice, void **pptr)
{
    ZS_OBJECT(context, context, hContext);
    ZS_CHECK_POINTER(device_desc);
    ZS_CHECK_POINTER(host_desc);
    ZS_CHECK_POINTER(pptr);
    ZS_CHECK_FLAGS(device_desc->flags, 0x7);
    ZS_CHECK_FLAGS(host_desc->flags, 0xf);
    struct zs_ze_device *device = hDevice ? zs_ze_device_of(hDevice) : NULL;
    ZS_CHECK(device || !hDevice, ZE_RESULT_ERROR_INVALID_NULL_HANDLE, "hDevice is no device");
    if (device)
        ZS_CHECK_MEMBER(context, device);
    const struct request request = {size, alignment, "zeMemAllocShared", ZS_GPU_MEMORY_SHARED};
    return allocate(__func__, context, device, &request, device_desc->pNext, host_desc->pNext,
                    pptr);
}

ze_result_t ZE_APICALL zeMemAllocDevice(ze_context_handle_t hContext,
                                        const ze_device_mem_alloc_desc_t *device_desc, size_t size,
                                        size_t alignment, ze_device_handle_t hDevice, void **pptr)
{
    ZS_OBJECT(context, context, hContext);
    ZS_OBJECT(device, device, hDevice);
    ZS_CHECK_MEMBER(context, device);
    ZS_CHECK_POINTER(device_desc);
    ZS_CHECK_POINTER(pptr);
    ZS_CHECK_FLAGS(device_desc->flags, 0x7);
    ZS_CHECK(device_desc->ordinal == 0 ||
                 zs_lets_pass(__func__, "memory ordinal %u, there is only 0", device_desc->ordinal),
             ZE_RESULT_ERROR_INVALID_ARGUMENT, "memory ordinal %u, there is only 0",
             device_desc->ordinal);
    const struct request request = {size, alignment, "zeMemAllocDevice", ZS_GPU_MEMORY_DEVICE};
    return allocate(__func__, context, device, &request, device_desc->pNext, NULL, pptr);
}

ze_result_t ZE_APICALL zeMemAllocHost(ze_context_handle_t hContext,
                                      const ze_host_mem_alloc_desc_t *host_desc, size_t size,
                                      size_t alignment, void **pptr)
{
    ZS_OBJECT(context, context, hContext);
    ZS_CHECK_POINTER(host_desc);
    ZS_CHECK_POINTER(pptr);
    ZS_CHECK_FLAGS(host_desc->flags, 0xf);
    const struct request request = {size, alignment, "zeMemAllocHost", ZS_GPU_MEMORY_HOST};
    return allocate(__func__, context, NULL, &request, NULL, host_desc->pNext, pptr);
}

static bool is_usm(const struct zs_range *range)
{
    return range->kind == ZS_GPU_MEMORY_HOST || range->kind == ZS_GPU_MEMORY_DEVICE ||
           range->kind == ZS_GPU_MEMORY_SHARED;
}

/*
 * The context that the memory at ptr belongs to, with a reference: this one, or, as Intel's driver
 * lets pass, another one of the driver. NULL: none.
 */
static struct zs_ze_context *find_anywhere(const char *function, struct zs_ze_context *context,
                                           const void *ptr, struct zs_range *ret_range)
{
    if (zs_memory_find(context, ptr, ret_range))
        return zs_object_ref(context);
    struct zs_ze_context **others = NULL, *owner = NULL;
    uint32_t count = zs_contexts_beside(context, &others);
    for (uint32_t i = 0; i < count; i++) {
        if (!owner && zs_memory_find(others[i], ptr, ret_range))
            owner = others[i];
        else
            zs_object_unref(others[i]);
    }
    free(others);
    if (owner && !zs_lets_pass(function, "%p is memory of another context", ptr)) {
        zs_object_unref(owner);
        owner = NULL;
    }
    return owner;
}

ze_result_t ZE_APICALL zeMemFree(ze_context_handle_t hContext, void *ptr)
{
    ZS_OBJECT(context, context, hContext);
    ZS_CHECK_POINTER(ptr);
    struct zs_range range;
    struct zs_ze_context *owner = find_anywhere(__func__, context, ptr, &range);
    bool is_one = owner && range.base == (uintptr_t)ptr && is_usm(&range) && !range.ipc_opened;
    if (is_one)
        zs_order_freed(owner, ptr, range.size_B);
    bool freed = is_one && zs_memory_free(owner, ptr);
    zs_object_unref(owner);
    ZS_CHECK(freed, ZE_RESULT_ERROR_INVALID_ARGUMENT, "%p is no live allocation of the context",
             ptr);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeMemFreeExt(ze_context_handle_t hContext,
                                    const ze_memory_free_ext_desc_t *pMemFreeDesc, void *ptr)
{
    ZS_OBJECT(context, context, hContext);
    ZS_CHECK_POINTER(pMemFreeDesc);
    ZS_CHECK_POINTER(ptr);
    ZS_CHECK_ENUM(pMemFreeDesc->freePolicy, 0x3);
    /* Pages stay until nothing runs in any case; blocking means that what was submitted before
     * may still use the memory. */
    if (pMemFreeDesc->freePolicy != 0) {
        zs_workers_drain(context);
        zs_order_saw_all(context->driver);
    }
    return zeMemFree(hContext, ptr);
}

/* ---- Properties --------------------------------------------------------------------------------
 */

static ze_memory_type_t memory_type(enum zs_gpu_memory_kind kind)
{
    switch (kind) {
    case ZS_GPU_MEMORY_HOST:
        return ZE_MEMORY_TYPE_HOST;
    case ZS_GPU_MEMORY_SHARED:
        return ZE_MEMORY_TYPE_SHARED;
    default:
        return ZE_MEMORY_TYPE_DEVICE;
    }
}

ze_result_t zs_memory_export(const char *function, const void *next, const struct zs_range *range)
{
    ze_external_memory_export_fd_t *export =
        (void *)(uintptr_t)zs_chain_find(next, ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD);
    if (!export)
        return ZE_RESULT_SUCCESS;
    if (!range || !range->exported)
        return zs_refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, function, "not made for export");
    if (!zs_own_fd_is(&range->file.kept))
        return zs_refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, function,
                         "the program closed the memory's descriptor");
    export->fd = fcntl(range->file.kept.fd, F_DUPFD_CLOEXEC, 0);
    if (export->fd < 0)
        return zs_refuse(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, function,
                         "no file descriptor is left");
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeMemGetAllocProperties(
    ze_context_handle_t hContext, const void *ptr,
    ze_memory_allocation_properties_t *pMemAllocProperties, ze_device_handle_t *phDevice)
{
    ZS_OBJECT(context, context, hContext);
    ZS_CHECK_POINTER(ptr);
    ZS_CHECK_POINTER(pMemAllocProperties);
    struct zs_range range;
    struct zs_ze_context *owner = find_anywhere(__func__, context, ptr, &range);
    bool found = owner != NULL;
    if (phDevice)
        *phDevice = found && range.device ? range.device->object.handle : NULL;
    pMemAllocProperties->type = found ? memory_type(range.kind) : ZE_MEMORY_TYPE_UNKNOWN;
    pMemAllocProperties->id = found ? range.id : 0;
    pMemAllocProperties->pageSize = found ? PAGE_B : 0;
    /* not asked for as it was made: programs written for Intel's driver do so */
    if (owner == context && !range.exported && is_usm(&range) && !range.ipc_opened &&
        zs_chain_find(pMemAllocProperties->pNext, ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD))
        range.exported =
            zs_memory_share(context, range.base, NULL) == 0 && zs_memory_find(context, ptr, &range);
    ze_result_t result =
        zs_memory_export(__func__, pMemAllocProperties->pNext, found ? &range : NULL);
    zs_object_unref(owner);
    return result;
}

ze_result_t ZE_APICALL zeMemGetAddressRange(ze_context_handle_t hContext, const void *ptr,
                                            void **pBase, size_t *pSize)
{
    ZS_OBJECT(context, context, hContext);
    ZS_CHECK_POINTER(ptr);
    struct zs_range range;
    struct zs_ze_context *owner = find_anywhere(__func__, context, ptr, &range);
    ZS_CHECK(owner, ZE_RESULT_ERROR_INVALID_ARGUMENT, "%p is in no allocation of the context", ptr);
    zs_object_unref(owner);
    if (pBase)
        *pBase = (void *)(uintptr_t)range.base;
    if (pSize)
        *pSize = (size_t)range.size_B;
    return ZE_RESULT_SUCCESS;
}

/* ---- Atomic accesses ---------------------------------------------------------------------------
 * All memory takes atomics of everybody, whatever is asked for: the attribute is a hint. */

static ze_result_t check_atomics(const char *function, struct zs_ze_context *context,
                                 const void *ptr, size_t size, struct zs_range *ret_range)
{
    if (size == 0)
        return zs_refuse(ZE_RESULT_ERROR_UNSUPPORTED_SIZE, function, "size is 0");
    if (!zs_memory_find(context, ptr, ret_range) || ret_range->kind != ZS_GPU_MEMORY_SHARED)
        return zs_refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, function,
                         "%p is no shared memory of the context", ptr);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeMemSetAtomicAccessAttributeExp(ze_context_handle_t hContext,
                                                        ze_device_handle_t hDevice, const void *ptr,
                                                        size_t size, uint32_t attr)
{
    ZS_OBJECT(context, context, hContext);
    ZS_OBJECT(device, device, hDevice);
    ZS_CHECK_POINTER(ptr);
    ZS_CHECK_ENUM(attr, ZS_ALL_ZE_MEMORY_ATOMIC_ATTR_EXP_FLAGS);
    struct zs_range range;
    ze_result_t result = check_atomics(__func__, context, ptr, size, &range);
    if (result == ZE_RESULT_SUCCESS && !zs_memory_set_atomics(context, ptr, attr))
        result = ZE_RESULT_ERROR_INVALID_ARGUMENT;
    return result;
}

ze_result_t ZE_APICALL zeMemGetAtomicAccessAttributeExp(ze_context_handle_t hContext,
                                                        ze_device_handle_t hDevice, const void *ptr,
                                                        size_t size, uint32_t *pAttr)
{
    ZS_OBJECT(context, context, hContext);
    ZS_OBJECT(device, device, hDevice);
    ZS_CHECK_POINTER(ptr);
    ZS_CHECK_POINTER(pAttr);
    struct zs_range range;
    ze_result_t result = check_atomics(__func__, context, ptr, size, &range);
    if (result == ZE_RESULT_SUCCESS)
        *pAttr = range.atomics;
    return result;
}

/* ---- Between processes -------------------------------------------------------------------------
 */

/*
 * A handle names the memfd by the exporting process and its descriptor; whoever opens it goes
 * through /proc, so both processes must belong to the same user. The inode tells a reused number.
 * The descriptor stands first, as in the handles of Intel's driver: programs written for that one
 * send it over a socket and put the number that arrives in the place of it, often with zeros
 * behind.
 */
struct ipc_memory {
    int32_t fd;
    uint32_t magic;
    int32_t pid;
    uint32_t kind;
    uint64_t inode, size_B;
};
_Static_assert(sizeof(struct ipc_memory) <= ZE_MAX_IPC_HANDLE_SIZE, "fits in a handle");
enum { IPC_MEMORY_MAGIC = 0x6d657a73 };

bool zs_ipc_is_ours(int fd, uint64_t *ret_inode)
{
    static const char prefix[] = "/memfd:zescope";
    char path[64], name[sizeof(prefix)];
    struct stat st;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if (readlink(path, name, sizeof(name)) < (ssize_t)sizeof(prefix) - 1 ||
        memcmp(name, prefix, sizeof(prefix) - 1) != 0 || fstat(fd, &st) != 0)
        return false;
    *ret_inode = (uint64_t)st.st_ino;
    return true;
}

int zs_ipc_open(int pid, int fd, uint64_t inode)
{
    uint64_t own_inode;
    if (zs_ipc_is_ours(fd, &own_inode) && own_inode == inode) {
        /* it came by a socket, or is the process's own */
        int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
        return copy < 0 ? -errno : copy;
    }
    char path[64];
    struct stat st;
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, fd);
    int opened = open(path, O_RDWR | O_CLOEXEC);
    if (opened < 0)
        return -errno;
    if (fstat(opened, &st) != 0 || (uint64_t)st.st_ino != inode) {
        close(opened);
        return -ENOENT;
    }
    return opened;
}

/* What a bare descriptor of this process says of the memory behind it. */
static bool describe_fd(struct ipc_memory *ipc)
{
    struct stat st;
    if (!zs_ipc_is_ours(ipc->fd, &ipc->inode) || fstat(ipc->fd, &st) != 0 || st.st_size <= 0)
        return false;
    ipc->pid = getpid();
    ipc->kind = ZS_GPU_MEMORY_DEVICE;
    ipc->size_B = (uint64_t)st.st_size;
    return true;
}

static ze_result_t fill_handle(const char *function, int fd, const struct zs_range *range,
                               ze_ipc_mem_handle_t *ret_handle)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return zs_refuse(zs_result_of_errno(errno), function, "memory cannot be shared: %s",
                         strerror(errno));
    struct ipc_memory ipc = {.magic = IPC_MEMORY_MAGIC,
                             .pid = getpid(),
                             .fd = fd,
                             .kind = range->kind,
                             .inode = (uint64_t)st.st_ino,
                             .size_B = range->size_B};
    memset(ret_handle->data, 0, sizeof(ret_handle->data));
    memcpy(ret_handle->data, &ipc, sizeof(ipc));
    return ZE_RESULT_SUCCESS;
}

static ze_result_t refuse_share(const char *function, int error)
{
    if (error == -EBUSY)
        return zs_refuse(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, function,
                         "other threads may write to it as it moves, and the kernel offers no "
                         "userfaultfd to make them wait; ask for export "
                         "(ze_external_memory_export_desc_t) as it is allocated");
    if (error == -EBADF)
        return zs_refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, function,
                         "the program closed the memory's descriptor");
    return zs_refuse(zs_result_of_errno(error), function, "memory cannot be shared: %s",
                     strerror(-error));
}

ze_result_t ZE_APICALL zeMemGetIpcHandle(ze_context_handle_t hContext, const void *ptr,
                                         ze_ipc_mem_handle_t *pIpcHandle)
{
    ZS_OBJECT(context, context, hContext);
    ZS_CHECK_POINTER(ptr);
    ZS_CHECK_POINTER(pIpcHandle);
    struct zs_range range;
    bool found = zs_memory_find(context, ptr, &range) && !range.ipc_opened;
    bool mapped = found && range.kind == ZS_GPU_MEMORY_VIRTUAL;
    ZS_CHECK(found && (mapped || is_usm(&range)), ZE_RESULT_ERROR_INVALID_ARGUMENT,
             "%p is in no allocation of the context", ptr);
    int fd = -1;
    int error = mapped ? zs_virtual_share(context, ptr, &range, &fd)
                       : zs_memory_share(context, range.base, &fd);
    ZS_CHECK(error != -ENOTSUP, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
             "%p is not mapped from the start of physical memory", ptr);
    if (error)
        return refuse_share(__func__, error);
    return fill_handle(__func__, fd, &range, pIpcHandle);
}

/* ptr: as above, or a handle of physical memory, mapped or not. */
ze_result_t ZE_APICALL zeMemGetIpcHandleWithProperties(ze_context_handle_t hContext,
                                                       const void *ptr, void *pNext,
                                                       ze_ipc_mem_handle_t *pIpcHandle)
{
    ZS_OBJECT(context, context, hContext);
    const ze_ipc_mem_handle_type_ext_desc_t *type =
        zs_chain_find(pNext, ZE_STRUCTURE_TYPE_IPC_MEM_HANDLE_TYPE_EXT_DESC);
    ZS_CHECK(!type || !(type->typeFlags & ~(uint32_t)ZE_IPC_MEM_HANDLE_TYPE_FLAG_DEFAULT),
             ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "handles of type 0x%x", type->typeFlags);
    struct zs_range range;
    int fd = -1, error = pIpcHandle ? zs_physical_share(ptr, &range, &fd) : -ENOENT;
    if (error == -ENOENT)
        return zeMemGetIpcHandle(hContext, ptr, pIpcHandle);
    return error ? refuse_share(__func__, error) : fill_handle(__func__, fd, &range, pIpcHandle);
}

ze_result_t ZE_APICALL zeMemGetIpcHandleFromFileDescriptorExp(ze_context_handle_t hContext,
                                                              uint64_t handle,
                                                              ze_ipc_mem_handle_t *pIpcHandle)
{
    ZS_OBJECT(context, context, hContext);
    ZS_CHECK_POINTER(pIpcHandle);
    struct ipc_memory ipc = {.fd = (int32_t)handle, .magic = IPC_MEMORY_MAGIC};
    ZS_CHECK(handle <= INT32_MAX && describe_fd(&ipc), ZE_RESULT_ERROR_INVALID_ARGUMENT,
             "%llu is no descriptor of this driver's memory", (unsigned long long)handle);
    memset(pIpcHandle->data, 0, sizeof(pIpcHandle->data));
    memcpy(pIpcHandle->data, &ipc, sizeof(ipc));
    return ZE_RESULT_SUCCESS;
}

/* The descriptor stays the exporter's: one of another process must come by a socket. */
ze_result_t ZE_APICALL zeMemGetFileDescriptorFromIpcHandleExp(ze_context_handle_t hContext,
                                                              ze_ipc_mem_handle_t ipcHandle,
                                                              uint64_t *pHandle)
{
    ZS_OBJECT(context, context, hContext);
    ZS_CHECK_POINTER(pHandle);
    struct ipc_memory ipc;
    memcpy(&ipc, ipcHandle.data, sizeof(ipc));
    uint64_t inode;
    ZS_CHECK(ipc.fd >= 0 && zs_ipc_is_ours(ipc.fd, &inode), ZE_RESULT_ERROR_INVALID_ARGUMENT,
             "the handle holds no descriptor of this process");
    *pHandle = (uint64_t)ipc.fd;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeMemPutIpcHandle(ze_context_handle_t hContext, ze_ipc_mem_handle_t handle)
{
    ZS_OBJECT(context, context, hContext);
    return ZE_RESULT_SUCCESS; /* the memory keeps its descriptor until it is freed */
}

ze_result_t ZE_APICALL zeMemOpenIpcHandle(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                          ze_ipc_mem_handle_t handle, ze_ipc_memory_flags_t flags,
                                          void **pptr)
{
    ZS_OBJECT(context, context, hContext);
    ZS_OBJECT(device, device, hDevice);
    ZS_CHECK_MEMBER(context, device);
    ZS_CHECK_FLAGS(flags, 0x3);
    ZS_CHECK_POINTER(pptr);
    struct ipc_memory ipc;
    memcpy(&ipc, handle.data, sizeof(ipc));
    bool known = ipc.magic == IPC_MEMORY_MAGIC || describe_fd(&ipc);
    ZS_CHECK(known && ipc.size_B != 0 && ipc.kind <= ZS_GPU_MEMORY_SHARED,
             ZE_RESULT_ERROR_INVALID_ARGUMENT, "this is no memory handle of this driver");
    int fd = zs_ipc_open(ipc.pid, ipc.fd, ipc.inode);
    ZS_CHECK(fd >= 0, ZE_RESULT_ERROR_INVALID_ARGUMENT, "memory of process %d: %s", ipc.pid,
             strerror(-fd));
    struct stat st;
    struct zs_range_desc desc = {.device = device,
                                 .kind = (enum zs_gpu_memory_kind)ipc.kind,
                                 .size_B = ipc.size_B,
                                 .label = "zeMemOpenIpcHandle",
                                 .fd = fd,
                                 .ipc_opened = true,
                                 .relaxed = true};
    ze_result_t result = ZE_RESULT_ERROR_INVALID_ARGUMENT;
    if (fstat(fd, &st) == 0 && (uint64_t)st.st_size >= ipc.size_B)
        result = zs_memory_alloc(context, &desc, pptr);
    if (result != ZE_RESULT_SUCCESS) {
        close(fd);
        return ZS_REFUSE(result, "memory of process %d cannot be mapped", ipc.pid);
    }
    return result;
}

ze_result_t ZE_APICALL zeMemCloseIpcHandle(ze_context_handle_t hContext, const void *ptr)
{
    ZS_OBJECT(context, context, hContext);
    ZS_CHECK_POINTER(ptr);
    struct zs_range range;
    ZS_CHECK(zs_memory_find(context, ptr, &range) && range.ipc_opened,
             ZE_RESULT_ERROR_INVALID_ARGUMENT, "%p was not opened from a handle", ptr);
    return zs_memory_free(context, (void *)(uintptr_t)range.base)
               ? ZE_RESULT_SUCCESS
               : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}
