/* SPDX-License-Identifier: MIT */
/* Level Zero: the loader's calls, and registers and memory through them. */
#include "debugger/debugger_priv.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

int zs_dbg_load_calls(struct zs_debugger *d, struct zs_diag *diag)
{
    d->loader = dlopen("libze_loader.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!d->loader)
        return zs_diag_set(diag, -ENODEV, ZS_DIAG_NO_OFFSET,
                           "%s; the Level Zero loader is the package libze1", dlerror());
#define ROW(name)                                                                                  \
    d->ze.name = (__typeof__(name) *)(uintptr_t)dlsym(d->loader, #name);                           \
    if (!d->ze.name)                                                                               \
        return zs_diag_set(diag, -ENODEV, ZS_DIAG_NO_OFFSET, "the Level Zero loader has no " #name);
    ZS_DBG_CALLS(ROW)
#undef ROW
    return 0;
}

static const struct {
    ze_result_t result;
    int error;
    const char *text;
} results[] = {
    {ZE_RESULT_NOT_READY, -EAGAIN, "it is not ready"},
    {ZE_RESULT_ERROR_DEVICE_LOST, -ESRCH, "the process has ended"},
    {ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, -ENOMEM, "no memory"},
    {ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS, -EPERM, "it belongs to another user"},
    {ZE_RESULT_ERROR_NOT_AVAILABLE, -EBUSY, "it is not available"},
    {ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, -ENOTSUP, "the driver does not support it"},
    {ZE_RESULT_ERROR_UNSUPPORTED_VERSION, -ENOTSUP, "the driver's version does not support it"},
    {ZE_RESULT_ERROR_INVALID_ARGUMENT, -EINVAL, "the driver refuses an argument"},
    {ZE_RESULT_ERROR_UNINITIALIZED, -ENODEV, "the driver is not initialised"},
};

int zs_dbg_result(ze_result_t result, const char *what, struct zs_diag *diag)
{
    if (result == ZE_RESULT_SUCCESS)
        return 0;
    for (size_t i = 0; i < ZS_ARRAY_LEN(results); i++)
        if (results[i].result == result)
            return zs_diag_set(diag, results[i].error, ZS_DIAG_NO_OFFSET, "%s: %s", what,
                               results[i].text);
    return zs_diag_set(diag, -EIO, ZS_DIAG_NO_OFFSET, "%s: Level Zero gives %#x", what,
                       (unsigned)result);
}

const struct zs_dbg_regset *zs_dbg_regset(const struct zs_debugger *d, uint32_t type)
{
    for (uint32_t i = 0; i < d->set_count; i++)
        if (d->sets[i].type == type)
            return &d->sets[i];
    return NULL;
}

int zs_dbg_read_regs(struct zs_debugger *d, ze_device_thread_t thread, uint32_t set, uint32_t first,
                     uint32_t count, void *ret)
{
    ze_result_t result = d->ze.zetDebugReadRegisters(d->session, thread, set, first, count, ret);
    return result ? -ENODATA : 0;
}

int zs_dbg_write_regs(struct zs_debugger *d, ze_device_thread_t thread, uint32_t set,
                      uint32_t first, uint32_t count, const void *data)
{
    uint8_t copy[ZS_DBG_GRF_MAX_B * 4];
    const struct zs_dbg_regset *known = zs_dbg_regset(d, set);
    if (!known || (size_t)known->size_B * count > sizeof(copy))
        return -EINVAL;
    memcpy(copy, data, (size_t)known->size_B * count);
    return d->ze.zetDebugWriteRegisters(d->session, thread, set, first, count, copy) ? -EACCES : 0;
}

int zs_dbg_access(struct zs_debugger *d, const struct zs_dbg_thread *thread,
                  enum zs_debug_space space, uint64_t va, void *bytes, size_t size_B, bool write)
{
    const ze_device_thread_t all = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
    const zet_debug_memory_space_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_DEBUG_MEMORY_SPACE_DESC,
                                                .type = space == ZS_DEBUG_SPACE_LOCAL
                                                            ? ZET_DEBUG_MEMORY_SPACE_TYPE_SLM
                                                            : ZET_DEBUG_MEMORY_SPACE_TYPE_DEFAULT,
                                                .address = va};
    if (!d->session)
        return -ECHILD;
    ze_device_thread_t place = thread ? thread->place : all;
    ze_result_t result = write ? d->ze.zetDebugWriteMemory(d->session, place, &desc, size_B, bytes)
                               : d->ze.zetDebugReadMemory(d->session, place, &desc, size_B, bytes);
    return result == ZE_RESULT_SUCCESS             ? 0
           : result == ZE_RESULT_ERROR_DEVICE_LOST ? -ESRCH
                                                   : -EFAULT;
}
