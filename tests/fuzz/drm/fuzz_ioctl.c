/* SPDX-License-Identifier: MIT */
/*
 * Calls of a hostile program: any numbers, sizes and bytes, in any order.
 *
 * The input: the node's number; 8 blocks of 64 bytes that stand in the program's memory, at USER;
 * then calls: number, size, and that many bytes. The program's memory is what zs_drm_copy_*() reach
 * here, and nothing else: a stray address is no crash of the harness. Waits without an end get one.
 */
#include "drm/i915.h"
#include "drm/xe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define USER UINT64_C(0x200000000000)
enum { USER_B = 16 << 10, BEGIN_B = 512, CALLS_MAX = 64, OBJECT_MAX_B = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B);

static struct zs_drm_file *files[ZS_DRM_NODES_MAX];

int zs_drm_real_fstat(int fd, struct stat *ret)
{
    return fstat(fd, ret);
}

void *zs_drm_real_mmap(void *at, size_t size_B, int protection, int flags, int fd, off_t offset_B)
{
    return mmap(at, size_B, protection, flags, fd, offset_B);
}

bool zs_drm_is_mapped(uint64_t user, uint64_t size_B)
{
    return user >= USER && size_B <= USER_B && user - USER <= USER_B - size_B;
}

int zs_drm_copy_in(void *to, uint64_t user, size_t size_B)
{
    if (!zs_drm_is_mapped(user, size_B))
        return size_B ? -EFAULT : 0;
    memcpy(to, (const void *)(uintptr_t)user, size_B);
    return 0;
}

int zs_drm_copy_out(uint64_t user, const void *from, size_t size_B)
{
    if (!zs_drm_is_mapped(user, size_B))
        return size_B ? -EFAULT : 0;
    memcpy((void *)(uintptr_t)user, from, size_B);
    return 0;
}

static void prepare(void)
{
    setenv("ZESCOPE_DEVICES", "skl,acm-g10,pvc", 1);
    setenv("ZESCOPE_LOG", "off", 0);
    void *user = mmap((void *)(uintptr_t)USER, USER_B, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    for (uint32_t i = 0; i < zs_drm_node_count(); i++)
        files[i] = zs_drm_file_of(zs_drm_open(zs_drm_node(i), 0));
    if ((uintptr_t)user != USER || !zs_drm_node_count() || !files[0])
        __builtin_trap();
}

/* Memory that the machine does not have, and waits that nobody ends. */
static void tame(const struct zs_drm_file *file, uint32_t number, uint64_t words[32])
{
    bool is_xe = file->node->interface == ZS_DRM_XE;
    uint64_t *bytes = number == ZS_XE_GEM_CREATE && is_xe ? &words[1]
                      : number == DRM_COMMAND_BASE + DRM_I915_GEM_CREATE || /* */
                              number == DRM_COMMAND_BASE + DRM_I915_GEM_CREATE_EXT
                          ? &words[0]
                          : NULL;
    if (bytes && *bytes <= file->node->model->memory_B)
        *bytes %= OBJECT_MAX_B + 1;
    uint64_t *until = number == 0xc3 ? &words[1] : number == 0xca ? &words[2] : NULL;
    if (until) { /* of syncobj_wait, timeline_wait */
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        *until =
            ZS_MIN(*until, (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec + 1000000);
    }
    if (is_xe && number == ZS_XE_WAIT_USER_FENCE) {
        struct zs_xe_wait *w = (void *)words;
        w->flags &= (uint16_t)~ZS_XE_WAIT_ABSOLUTE;
        w->timeout_ns = (int64_t)((uint64_t)w->timeout_ns % 1000000);
    } else if (!is_xe && number == DRM_COMMAND_BASE + DRM_I915_GEM_WAIT) {
        struct drm_i915_gem_wait *w = (void *)words;
        w->timeout_ns = (int64_t)((uint64_t)w->timeout_ns % 1000000);
    }
}

/* Until no batch is left, or for a while. */
static void wait_for_batches(struct zs_drm_file *file, bool for_ever)
{
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += (end.tv_nsec + 5000000) / 1000000000;
    end.tv_nsec = (end.tv_nsec + 5000000) % 1000000000;
    int error = 0;
    while (file->jobs && !error)
        error = for_ever ? pthread_cond_wait(&file->idle, &file->lock)
                         : pthread_cond_timedwait(&file->idle, &file->lock, &end);
}

static void kill_contexts(struct zs_drm_file *file)
{
    for (size_t i = 0; i < file->contexts.count; i++) {
        if (file->contexts.items[i])
            zs_drm_context_kill(file->contexts.items[i]);
    }
    wait_for_batches(file, true);
}

static void call(struct zs_drm_file *file, uint32_t number, const uint8_t *bytes, uint32_t size_B)
{
    const uint64_t at = USER + BEGIN_B;
    uint64_t words[32] = {0};
    memcpy(words, bytes, size_B);
    tame(file, number, words);
    memcpy((void *)(uintptr_t)at, words, sizeof(words));
    int error = zs_drm_ioctl(file, _IOC(_IOC_READ | _IOC_WRITE, 'd', number, size_B), at);
    const struct drm_prime_handle *p = (const void *)(uintptr_t)at;
    if (!error && number == 0x2d && size_B >= sizeof(*p))
        close(p->fd);
    pthread_mutex_lock(&file->lock);
    if (file->jobs) {
        wait_for_batches(file, false);
        if (file->jobs) /* what would wait for them must not wait for ever */
            kill_contexts(file);
    }
    pthread_mutex_unlock(&file->lock);
}

/* As nothing had been: handles and numbers are the lowest again. */
static void clean(struct zs_drm_file *file)
{
    pthread_mutex_lock(&file->lock);
    kill_contexts(file);
    for (uint32_t i = 0; i < file->contexts.count; i++)
        zs_drm_context_destroy(file, i);
    for (uint32_t i = 0; i < file->objects.count; i++)
        zs_drm_object_close(file, i);
    for (uint32_t i = 0; i <= file->vms.count; i++)
        zs_drm_vm_remove(file, i);
    for (uint32_t i = 0; i < file->syncs.count; i++) {
        zs_drm_sync_put(file->syncs.items[i]);
        file->syncs.items[i] = NULL;
    }
    pthread_mutex_unlock(&file->lock);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare);
    if (size_B < 1 + BEGIN_B)
        return 0;
    struct zs_drm_file *file = files[data[0] % zs_drm_node_count()];
    memset((void *)(uintptr_t)USER, 0, USER_B);
    memcpy((void *)(uintptr_t)USER, data + 1, BEGIN_B);
    size_t at = 1 + BEGIN_B;
    for (uint32_t i = 0; i < CALLS_MAX && size_B - at >= 2; i++) {
        uint32_t number = data[at], bytes = (uint32_t)ZS_MIN((size_t)data[at + 1], size_B - at - 2);
        call(file, number, data + at + 2, bytes);
        at += 2 + bytes;
    }
    clean(file);
    return 0;
}
