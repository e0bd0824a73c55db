/* SPDX-License-Identifier: MIT */
/* Source lines of faults, from the kernel's DWARF. Only asked when a launch failed. */
#include "driver/log.h"
#include "driver/module/module.h"
#include "dwarf/place.h"

#include <errno.h>

bool zs_fault_line(struct zs_ze_kernel *ran, int64_t offset_B, char *ret_text, size_t size_B)
{
    struct zs_ze_module *owner = NULL;
    uint64_t at_B;
    const struct zs_kernel *kernel = zs_link_locate(ran, offset_B, &owner, &at_B);
    struct zs_diag diag;
    zs_diag_clear(&diag);
    int error = kernel ? zs_dwarf_place(kernel, at_B, ret_text, size_B, &diag) : -ENOENT;
    if (error && error != -ENODATA && error != -ENOENT)
        zs_log(ZS_LOG_WARN, "%s: debug information cannot be read: %s", kernel->name,
               diag.error ? diag.text : strerror(-error));
    zs_object_unref(owner);
    return !error;
}
