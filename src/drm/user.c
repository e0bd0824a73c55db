/* SPDX-License-Identifier: MIT */
/* Memory of the caller, as a kernel reaches it: what is not there is an error. */
#include "drm/drm_priv.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

static int copy(void *own, uint64_t user, size_t size_B, bool out)
{
    struct iovec here = {own, size_B}, there = {(void *)(uintptr_t)user, size_B};
    if (!size_B)
        return 0;
    ssize_t done = out ? process_vm_writev(getpid(), &here, 1, &there, 1, 0)
                       : process_vm_readv(getpid(), &here, 1, &there, 1, 0);
    if (done == (ssize_t)size_B)
        return 0;
    if (done >= 0 || errno == EFAULT)
        return -EFAULT;
    if (!zs_drm_is_mapped(user, size_B)) /* the call is not allowed here */
        return -EFAULT;
    if (out)
        memcpy(there.iov_base, own, size_B);
    else
        memcpy(own, there.iov_base, size_B);
    return 0;
}

int zs_drm_copy_in(void *to, uint64_t user, size_t size_B)
{
    return copy(to, user, size_B, false);
}

int zs_drm_copy_out(uint64_t user, const void *from, size_t size_B)
{
    return copy((void *)(uintptr_t)from, user, size_B, true);
}

bool zs_drm_is_mapped(uint64_t user, uint64_t size_B)
{
    uint64_t page_B = 4096, start = user & ~(page_B - 1), end;
    if (!zs_add_u64(user, size_B, &end) || !user)
        return false;
    return msync((void *)(uintptr_t)start, end - start, MS_ASYNC) == 0;
}
