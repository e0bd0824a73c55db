/* SPDX-License-Identifier: MIT */
/* Memory as people see it: code without the breakpoints that are in it, which it keeps. */
#include "debugger/debugger_priv.h"

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
    if (!k)
        return zs_dbg_access(d, thread, space, va, bytes, size_B, true);
    int error = zs_dbg_code_write(d, k, va, bytes, size_B);
    if (!error)
        zs_dbg_breakpoints_resolve(d);
    return error;
}
