/* SPDX-License-Identifier: MIT */
/* Level Zero: the loader's calls, and registers and memory through them. */
#include "debugger/debugger_priv.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
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

int zs_dbg_read(struct zs_debugger *d, const struct zs_dbg_thread *thread,
                enum zs_debug_space space, uint64_t va, void *ret_bytes, size_t size_B)
{
    int error = zs_dbg_access(d, thread, space, va, ret_bytes, size_B, false);
    if (!error && space == ZS_DEBUG_SPACE_GLOBAL)
        zs_dbg_hide_inserted(d, va, ret_bytes, size_B);
    return error;
}

int zs_dbg_write(struct zs_debugger *d, const struct zs_dbg_thread *thread,
                 enum zs_debug_space space, uint64_t va, void *bytes, size_t size_B)
{
    struct zs_dbg_kernel *k = NULL;
    if (space == ZS_DEBUG_SPACE_GLOBAL)
        k = (struct zs_dbg_kernel *)(uintptr_t)zs_dbg_kernel_at(d, va);
    return k ? zs_dbg_code_write(d, k, va, bytes, size_B)
             : zs_dbg_access(d, thread, space, va, bytes, size_B, true);
}

static int access_public(struct zs_debugger *d, uint32_t id, enum zs_debug_space space, uint64_t va,
                         void *bytes, size_t size_B, bool write, struct zs_diag *diag)
{
    struct zs_dbg_thread *t = NULL;
    int error = id ? zs_dbg_need_thread(d, id, &t, diag) : 0;
    if (!error && !t && space == ZS_DEBUG_SPACE_LOCAL)
        error = zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "local memory is a thread's");
    if (error)
        return error;
    if (t && space == ZS_DEBUG_SPACE_GLOBAL) /* a pointer says which memory it means */
        space = zs_dbg_space_of(d, t, va, &va);
    error = write ? zs_dbg_write(d, t, space, va, bytes, size_B)
                  : zs_dbg_read(d, t, space, va, bytes, size_B);
    if (!error)
        return 0;
    return zs_diag_set(diag, error, ZS_DIAG_NO_OFFSET, "%s memory at %#llx cannot be %s",
                       space == ZS_DEBUG_SPACE_LOCAL ? "local" : "the", (unsigned long long)va,
                       write ? "written" : "read");
}

int zs_debug_memory_read(struct zs_debugger *d, uint32_t thread, enum zs_debug_space space,
                         uint64_t va, void *ret_bytes, size_t size_B, struct zs_diag *diag)
{
    return access_public(d, thread, space, va, ret_bytes, size_B, false, diag);
}

int zs_debug_memory_write(struct zs_debugger *d, uint32_t thread, enum zs_debug_space space,
                          uint64_t va, const void *bytes, size_t size_B, struct zs_diag *diag)
{
    void *copy = malloc(size_B + 1);
    if (!copy)
        return -ENOMEM;
    memcpy(copy, bytes, size_B);
    int error = access_public(d, thread, space, va, copy, size_B, true, diag);
    free(copy);
    return error;
}

/* ---- all registers ---- */

static const struct {
    uint32_t set;
    const char *name;
} set_names[] = {
    {ZESCOPE_DEBUG_REGSET_GRF, "r"},          {ZESCOPE_DEBUG_REGSET_ADDR, "a"},
    {ZESCOPE_DEBUG_REGSET_FLAG, "f"},         {ZESCOPE_DEBUG_REGSET_CE, "ce"},
    {ZESCOPE_DEBUG_REGSET_SR, "sr"},          {ZESCOPE_DEBUG_REGSET_CR, "cr"},
    {ZESCOPE_DEBUG_REGSET_TDR, "tdr"},        {ZESCOPE_DEBUG_REGSET_ACC, "acc"},
    {ZESCOPE_DEBUG_REGSET_MME, "mme"},        {ZESCOPE_DEBUG_REGSET_SP, "sp"},
    {ZESCOPE_DEBUG_REGSET_SBA, "sba"},        {ZESCOPE_DEBUG_REGSET_DBG, "dbg"},
    {ZESCOPE_DEBUG_REGSET_NOTIFICATION, "n"}, {ZESCOPE_DEBUG_REGSET_TIMESTAMP, "tm"},
};

int zs_debug_registers(struct zs_debugger *d, uint32_t thread,
                       struct zs_debug_register *ret_registers, uint32_t capacity,
                       struct zs_diag *diag)
{
    struct zs_dbg_thread *t;
    int error = zs_dbg_need_thread(d, thread, &t, diag);
    if (error)
        return error;
    uint32_t count = 0;
    for (size_t n = 0; n < ZS_ARRAY_LEN(set_names); n++) {
        const struct zs_dbg_regset *set = zs_dbg_regset(d, set_names[n].set);
        for (uint32_t i = 0; set && i < set->count && set->size_B <= ZS_DBG_GRF_MAX_B; i++) {
            struct zs_debug_register r = {.size_B = set->size_B, .writable = set->writable};
            snprintf(r.name, sizeof(r.name), "%s%u", set_names[n].name, i);
            if (zs_dbg_read_regs(d, t->place, set->type, i, 1, r.bytes))
                continue;
            if (count < capacity)
                ret_registers[count] = r;
            count++;
        }
    }
    return (int)count;
}
