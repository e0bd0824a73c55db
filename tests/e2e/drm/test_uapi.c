/* SPDX-License-Identifier: MIT */
/* The interface of a node, as programs see it that have the library preloaded. */
#include "../../unit/test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <i915_drm.h>
#include <linux/dma-buf.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#define NODE "/dev/dri/renderD128"
#define VA   UINT64_C(0xffff800100000000) /* no address of the host's */

static int open_node(void)
{
    int fd = open(NODE, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

static uint32_t create(int fd, uint64_t size_B, void **ret_map)
{
    struct drm_i915_gem_create c = {.size = size_B};
    assert_int_equal(ioctl(fd, DRM_IOCTL_I915_GEM_CREATE, &c), 0);
    struct drm_i915_gem_mmap_offset m = {.handle = c.handle, .flags = I915_MMAP_OFFSET_WB};
    assert_int_equal(ioctl(fd, DRM_IOCTL_I915_GEM_MMAP_OFFSET, &m), 0);
    *ret_map = mmap(NULL, size_B, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)m.offset);
    assert_true(*ret_map != MAP_FAILED);
    return c.handle;
}

static int submit(int fd, uint32_t context, const uint32_t *handles, const uint64_t *addresses,
                  uint32_t count)
{
    struct drm_i915_gem_exec_object2 objects[4] = {0};
    for (uint32_t i = 0; i < count; i++) {
        objects[i].handle = handles[i];
        objects[i].offset = addresses[i];
        objects[i].flags = EXEC_OBJECT_PINNED | EXEC_OBJECT_SUPPORTS_48B_ADDRESS;
    }
    struct drm_i915_gem_execbuffer2 e = {.buffers_ptr = (uintptr_t)objects,
                                         .buffer_count = count,
                                         .flags = I915_EXEC_RENDER | I915_EXEC_NO_RELOC,
                                         .rsvd1 = context};
    return ioctl(fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &e);
}

static int wait_for(int fd, uint32_t handle)
{
    struct drm_i915_gem_wait w = {.bo_handle = handle, .timeout_ns = -1};
    return ioctl(fd, DRM_IOCTL_I915_GEM_WAIT, &w);
}

static uint32_t new_context(int fd)
{
    struct drm_i915_gem_context_create c = {0};
    assert_int_equal(ioctl(fd, DRM_IOCTL_I915_GEM_CONTEXT_CREATE, &c), 0);
    return c.ctx_id;
}

static void paths(void **state)
{
    struct stat st;
    char text[64] = "", link[256];
    assert_int_equal(stat(NODE, &st), 0);
    assert_true(S_ISCHR(st.st_mode) && st.st_rdev == makedev(226, 128));
    int fd = open_node();
    assert_int_equal(fstat(fd, &st), 0);
    assert_true(S_ISCHR(st.st_mode) && st.st_rdev == makedev(226, 128));
    struct pollfd poll_fd = {.fd = fd, .events = POLLOUT};
    assert_int_equal(poll(&poll_fd, 1, 0), 1);
    assert_int_equal(close(fd), 0);
    assert_int_equal(access("/dev/dri/renderD200", F_OK), -1);
    assert_int_equal(errno, ENOENT);
    FILE *file = fopen("/sys/dev/char/226:128/device/device", "r");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof(text), file));
    assert_string_equal(text, "0x1912\n");
    fclose(file);
    assert_non_null(realpath("/sys/class/drm/card0/device", link));
    assert_string_equal(link, "/sys/devices/pci0000:00/0000:00:02.0");
    ssize_t length = readlink("/dev/dri/by-path/pci-0000:00:02.0-render", link, sizeof(link));
    assert_int_equal(length, 13);
    assert_memory_equal(link, "../renderD128", 13);
    /* folders list each entry once; other folders are the system's */
    static const char *const wanted[] = {"card0", "renderD128", "by-path"};
    uint32_t seen = 0, count = 0;
    DIR *dir = opendir("/dev/dri");
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir)); count++)
        for (uint32_t i = 0; i < 3; i++)
            seen |= (uint32_t)!strcmp(e->d_name, wanted[i]) << i;
    closedir(dir);
    assert_int_equal(seen, 7);
    assert_int_equal(count, 5);
    dir = opendir("/proc/self");
    assert_non_null(dir);
    assert_non_null(readdir(dir));
    closedir(dir);
    assert_int_equal(stat("/sys/devices", &st), access("/sys/devices", F_OK));
}

/* A batch reads what the host wrote, and the host reads what it wrote. */
static void batches(void **state)
{
    void *code, *data;
    int fd = open_node(), copy = dup(fd);
    uint32_t context = new_context(fd);
    uint32_t handles[2] = {create(fd, 8192, &data), create(fd, 4096, &code)};
    const uint64_t addresses[2] = {VA, VA + 0x10000};
    const uint32_t batch[] = {0x20u << 23 | 2, (uint32_t)VA + 4096, VA >> 32, 0x1234,
                              0x2eu << 23 | 3, (uint32_t)VA + 8,    VA >> 32, (uint32_t)VA,
                              VA >> 32,        0x0au << 23};
    memcpy(code, batch, sizeof(batch));
    ((uint32_t *)data)[0] = 77;
    assert_int_equal(submit(fd, context, handles, addresses, 2), 0);
    assert_int_equal(wait_for(copy, handles[1]), 0); /* a copy of the descriptor is as good */
    assert_int_equal(((uint32_t *)data)[2], 77);
    assert_int_equal(((uint32_t *)data)[1024], 0x1234);
    /* user memory, elsewhere on the GPU; and the first object moves */
    void *user = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct drm_i915_gem_userptr u = {.user_ptr = (uintptr_t)user, .user_size = 4096};
    assert_int_equal(ioctl(fd, DRM_IOCTL_I915_GEM_USERPTR, &u), 0);
    const uint32_t moved[3] = {u.handle, handles[0], handles[1]};
    const uint64_t places[3] = {VA, VA + 0x20000, VA + 0x10000};
    ((uint32_t *)user)[0] = 99;
    ((uint32_t *)code)[1] = (uint32_t)VA + 16;
    assert_int_equal(submit(fd, context, moved, places, 3), 0);
    assert_int_equal(wait_for(fd, handles[1]), 0);
    assert_int_equal(((uint32_t *)user)[2], 99);
    assert_int_equal(((uint32_t *)user)[4], 0x1234);
    munmap(user, 4096); /* a kernel could not take its pages any more */
    assert_int_equal(submit(fd, context, moved, places, 3), -1);
    assert_int_equal(errno, EFAULT);
    close(fd);
    close(copy);
}

static void *set_soon(void *arg)
{
    usleep(20000);
    *(volatile uint32_t *)arg = 1;
    return NULL;
}

/* Who has an object by a descriptor waits for its batches there. */
static void syncs_dmabufs(void **state)
{
    void *code, *data;
    pthread_t thread;
    int fd = open_node();
    uint32_t context = new_context(fd);
    const uint32_t handles[2] = {create(fd, 4096, &data), create(fd, 4096, &code)};
    const uint64_t addresses[2] = {VA, VA + 0x10000};
    const uint32_t batch[] = {0x1cu << 23 | 1u << 15 | 4u << 12 | 2,
                              1,
                              (uint32_t)VA + 8,
                              VA >> 32,
                              0x20u << 23 | 2,
                              (uint32_t)VA,
                              VA >> 32,
                              0x5678,
                              0x0au << 23};
    memcpy(code, batch, sizeof(batch));
    struct drm_prime_handle p = {.handle = handles[0], .flags = DRM_CLOEXEC | DRM_RDWR};
    assert_int_equal(ioctl(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &p), 0);
    assert_int_equal(submit(fd, context, handles, addresses, 2), 0);
    assert_int_equal(pthread_create(&thread, NULL, set_soon, (uint32_t *)data + 2), 0);
    struct dma_buf_sync sync = {.flags = DMA_BUF_SYNC_START | DMA_BUF_SYNC_READ};
    assert_int_equal(ioctl(p.fd, DMA_BUF_IOCTL_SYNC, &sync), 0);
    assert_int_equal(*(uint32_t *)data, 0x5678);
    assert_int_equal(ioctl(STDIN_FILENO, DMA_BUF_IOCTL_SYNC, &sync), -1);
    pthread_join(thread, NULL);
    close(p.fd);
    close(fd);
}

/* New objects hold zeros, whoever had their memory before. */
static void reuse(void **state)
{
    int fd = open_node();
    for (uint32_t i = 0; i < 300; i++) {
        uint32_t *map;
        uint32_t handle = create(fd, 1 << 20, (void **)&map);
        assert_int_equal(map[0] | map[1000] | map[200000], 0);
        map[0] = map[1000] = map[200000] = ~0u;
        munmap(map, 1 << 20);
        struct drm_gem_close c = {.handle = handle};
        assert_int_equal(ioctl(fd, DRM_IOCTL_GEM_CLOSE, &c), 0);
        assert_int_equal(ioctl(fd, DRM_IOCTL_GEM_CLOSE, &c), -1);
    }
    close(fd);
}

/* A batch that cannot be run bans its context, and no other one. */
static void bans(void **state)
{
    void *code;
    int fd = open_node();
    uint32_t context = new_context(fd), other = new_context(fd), handle = create(fd, 4096, &code);
    const uint64_t address = VA;
    const uint32_t bad[] = {0x20u << 23 | 2, 0x40, 0, 1, 0x0au << 23}, end = 0x0au << 23;
    memcpy(code, bad, sizeof(bad));
    assert_int_equal(submit(fd, context, &handle, &address, 1), 0);
    assert_int_equal(wait_for(fd, handle), 0);
    assert_int_equal(submit(fd, context, &handle, &address, 1), -1);
    assert_int_equal(errno, EIO);
    struct drm_i915_reset_stats stats = {.ctx_id = context};
    assert_int_equal(ioctl(fd, DRM_IOCTL_I915_GET_RESET_STATS, &stats), 0);
    assert_int_equal(stats.batch_active, 1);
    memcpy(code, &end, sizeof(end));
    assert_int_equal(submit(fd, other, &handle, &address, 1), 0);
    assert_int_equal(wait_for(fd, handle), 0);
    /* nor does one wait for ever for what the failed batch would have written */
    const uint32_t until[] = {0x1cu << 23 | 1u << 15 | 4u << 12 | 2, 1, (uint32_t)VA + 0x800,
                              VA >> 32, end};
    memcpy(code, until, sizeof(until));
    assert_int_equal(submit(fd, other, &handle, &address, 1), 0);
    assert_int_equal(wait_for(fd, handle), 0);
    assert_int_equal(submit(fd, other, &handle, &address, 1), -1);
    assert_int_equal(errno, EIO);
    close(fd);
}

/* Calls that no kernel would take. */
static void hostile(void **state)
{
    int fd = open_node();
    void *code;
    uint32_t handle = create(fd, 4096, &code);
    const uint64_t odd = VA + 1;
    struct drm_i915_gem_create huge = {.size = UINT64_MAX}, none = {0};
    struct drm_i915_gem_create_ext cycle = {.size = 4096};
    struct i915_user_extension self = {.next_extension = (uintptr_t)&self};
    struct drm_i915_gem_userptr user = {.user_ptr = 1, .user_size = 4096};
    struct drm_i915_query query = {.num_items = 4, .items_ptr = 64};
    struct drm_i915_gem_execbuffer2 execs[] = {{.buffers_ptr = 64, .buffer_count = 3},
                                               {.buffer_count = UINT32_MAX},
                                               {.buffer_count = 1, .rsvd1 = 12345},
                                               {.flags = I915_EXEC_FENCE_OUT, .buffer_count = 1},
                                               {.flags = 63, .buffer_count = 1}};
    cycle.extensions = (uintptr_t)&self;
    assert_int_equal(ioctl(fd, DRM_IOCTL_I915_GEM_CREATE, &huge), -1);
    assert_int_equal(ioctl(fd, DRM_IOCTL_I915_GEM_CREATE, &none), -1);
    assert_int_equal(ioctl(fd, DRM_IOCTL_I915_GEM_CREATE_EXT, &cycle), -1);
    assert_int_equal(ioctl(fd, DRM_IOCTL_I915_GEM_USERPTR, &user), -1);
    assert_int_equal(ioctl(fd, DRM_IOCTL_I915_QUERY, &query), -1);
    assert_int_equal(errno, EFAULT);
    assert_int_equal(ioctl(fd, DRM_IOCTL_I915_QUERY, NULL), -1);
    assert_int_equal(errno, EFAULT);
    for (size_t i = 0; i < sizeof(execs) / sizeof(execs[0]); i++)
        assert_int_equal(ioctl(fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &execs[i]), -1);
    assert_int_equal(submit(fd, 0, &handle, &odd, 1), -1);
    assert_int_equal(ioctl(fd, _IOWR('d', 0xf0, uint64_t), &odd), -1);
    /* any bytes for any call; what they point to ends at a page that is not there */
    uint64_t seed = 0x9e3779b97f4a7c15ull, argument[32];
    char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_int_equal(mprotect(page + 4096, 4096, PROT_NONE), 0);
    for (uint32_t i = 0; i < 20000; i++) {
        for (uint32_t w = 0; w < 32; w++) {
            seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
            argument[w] = seed & 1 ? seed >> 32 & 15 : seed & 2 ? seed : (uintptr_t)page + 3840;
        }
        uint32_t number = 0x40 + (seed >> 40) % 0x40;
        if (number == 0x40 + DRM_I915_GEM_WAIT || number == 0x40 + DRM_I915_GEM_SET_DOMAIN)
            continue; /* might rightly wait for ever */
        ioctl(fd, _IOC(_IOC_READ | _IOC_WRITE, 'd', number, seed >> 50 & 127), argument);
    }
    close(fd);
}

static void *submit_many(void *arg)
{
    int fd = *(int *)arg;
    void *code, *data;
    uint32_t context = new_context(fd);
    uint32_t handles[2] = {create(fd, 4096, &data), create(fd, 4096, &code)};
    const uint64_t addresses[2] = {VA, VA + 0x10000};
    const uint32_t batch[] = {0x2fu << 23 | 1 | 5u << 8, (uint32_t)VA, VA >> 32, 0x0au << 23};
    memcpy(code, batch, sizeof(batch));
    for (uint32_t i = 0; i < 200; i++)
        assert_int_equal(submit(fd, context, handles, addresses, 2), 0);
    assert_int_equal(wait_for(fd, handles[1]), 0);
    assert_int_equal(*(uint32_t *)data, 200);
    struct drm_i915_gem_context_destroy d = {.ctx_id = context};
    assert_int_equal(ioctl(fd, DRM_IOCTL_I915_GEM_CONTEXT_DESTROY, &d), 0);
    return NULL;
}

static void threads(void **state)
{
    int fd = open_node();
    pthread_t all[6];
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(pthread_create(&all[i], NULL, submit_many, &fd), 0);
    for (uint32_t i = 0; i < 6; i++)
        pthread_join(all[i], NULL);
    close(fd);
}

/* A child goes on with what it has and opens nodes of its own; it may end at any time. */
static void forks(void **state)
{
    int fd = open_node();
    submit_many(&fd);
    for (uint32_t i = 0; i < 4; i++) {
        pid_t child = fork();
        if (child == 0) {
            int own = open(NODE, O_RDWR);
            if (own >= 0 && i < 3)
                submit_many(&own);
            submit_many(&fd);
            _exit(own >= 0 ? 0 : 1);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    submit_many(&fd);
    close(fd);
}

/* Batches that signal and wait for synchronisation objects. */
static void fences(void **state)
{
    int fd = open_node();
    void *code, *data;
    uint32_t handles[2] = {create(fd, 4096, &data), create(fd, 4096, &code)};
    const uint32_t add[] = {0x2fu << 23 | 1 | 5u << 8, (uint32_t)VA, VA >> 32, 0x0au << 23};
    memcpy(code, add, sizeof(add));
    struct drm_syncobj_create first = {0}, second = {0};
    assert_int_equal(ioctl(fd, DRM_IOCTL_SYNCOBJ_CREATE, &first), 0);
    assert_int_equal(ioctl(fd, DRM_IOCTL_SYNCOBJ_CREATE, &second), 0);
    struct drm_i915_gem_exec_fence fence[2] = {{first.handle, I915_EXEC_FENCE_SIGNAL},
                                               {second.handle, I915_EXEC_FENCE_SIGNAL}};
    struct drm_i915_gem_exec_object2 objects[2] = {
        {.handle = handles[0], .offset = VA, .flags = EXEC_OBJECT_PINNED},
        {.handle = handles[1], .offset = VA + 0x10000, .flags = EXEC_OBJECT_PINNED}};
    struct drm_i915_gem_execbuffer2 e = {.buffers_ptr = (uintptr_t)objects,
                                         .buffer_count = 2,
                                         .flags = I915_EXEC_RENDER | I915_EXEC_FENCE_ARRAY,
                                         .cliprects_ptr = (uintptr_t)fence,
                                         .num_cliprects = 1,
                                         .rsvd1 = new_context(fd)};
    assert_int_equal(ioctl(fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &e), 0);
    e.num_cliprects = 2;
    fence[0].flags = I915_EXEC_FENCE_WAIT;
    assert_int_equal(ioctl(fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &e), 0);
    struct drm_syncobj_wait w = {
        .handles = (uintptr_t)&second.handle, .count_handles = 1, .timeout_nsec = INT64_MAX};
    assert_int_equal(ioctl(fd, DRM_IOCTL_SYNCOBJ_WAIT, &w), 0);
    assert_int_equal(*(uint32_t *)data, 2);
    fence[0].handle = 77;
    assert_int_equal(ioctl(fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &e), -1);
    assert_int_equal(errno, ENOENT);
    close(fd);
}

/* Batches that go round for ever, one behind the other. */
static uint32_t go_round(int fd, uint32_t context, uint32_t *ret_other)
{
    void *code;
    uint32_t handles[2] = {create(fd, 4096, &code), create(fd, 4096, &code)};
    const uint64_t addresses[2] = {VA, VA + 0x10000};
    const uint32_t batch[] = {0x31u << 23 | 1, (uint32_t)VA + 0x10000, VA >> 32};
    memcpy(code, batch, sizeof(batch));
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(submit(fd, context, handles, addresses, 2), 0);
    *ret_other = handles[0];
    return handles[1];
}

/* Nothing of a closed context keeps its objects for ever; what ends by itself goes on to its end,
 * unless the context is not persistent. */
static void closed_contexts(void **state)
{
    int fd = open_node();
    for (uint32_t persists = 0; persists < 2; persists++) {
        uint32_t context = new_context(fd), other;
        struct drm_i915_gem_context_param p = {
            .ctx_id = context, .param = I915_CONTEXT_PARAM_PERSISTENCE, .value = persists};
        assert_int_equal(ioctl(fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &p), 0);
        p.value = 7;
        assert_int_equal(ioctl(fd, DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, &p), 0);
        assert_int_equal(p.value, persists);
        uint32_t handle = go_round(fd, context, &other);
        struct drm_i915_gem_context_destroy d = {.ctx_id = context};
        assert_int_equal(ioctl(fd, DRM_IOCTL_I915_GEM_CONTEXT_DESTROY, &d), 0);
        assert_int_equal(wait_for(fd, other), 0);
        struct drm_gem_close c = {.handle = handle};
        assert_int_equal(ioctl(fd, DRM_IOCTL_GEM_CLOSE, &c), 0);
        assert_int_equal(new_context(fd), context); /* its number is free */
        assert_int_equal(ioctl(fd, DRM_IOCTL_I915_GEM_CONTEXT_DESTROY, &d), 0);
    }
    /* a long batch is run to its end */
    void *code, *data;
    uint32_t context = new_context(fd);
    uint32_t handles[2] = {create(fd, 4096, &data), create(fd, 1 << 20, &code)};
    const uint64_t addresses[2] = {VA, VA + 0x100000};
    const uint32_t add[] = {0x2fu << 23 | 1 | 5u << 8, (uint32_t)VA, VA >> 32}, end = 0x0au << 23;
    for (uint32_t i = 0; i < 50000; i++)
        memcpy((uint8_t *)code + i * sizeof(add), add, sizeof(add));
    memcpy((uint8_t *)code + 50000 * sizeof(add), &end, sizeof(end));
    assert_int_equal(submit(fd, context, handles, addresses, 2), 0);
    struct drm_i915_gem_context_destroy d = {.ctx_id = context};
    assert_int_equal(ioctl(fd, DRM_IOCTL_I915_GEM_CONTEXT_DESTROY, &d), 0);
    assert_int_equal(wait_for(fd, handles[1]), 0);
    assert_int_equal(*(uint32_t *)data, 50000);
    close(fd);
}

/* A process ends whatever its engines do, its descriptor closed or not. */
static void exits(void **state)
{
    for (uint32_t i = 0; i < 4; i++) {
        pid_t child = fork();
        if (child == 0) {
            int own = open(NODE, O_RDWR);
            uint32_t other;
            go_round(own, i & 1 ? new_context(own) : 0, &other);
            if (i & 2)
                close(own);
            exit(7);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    }
}

/* Today's driver takes the EUs of a subslice of it. */
static void firmware_table(void **state)
{
    enum { EUS_PER_SUBSLICE = 3, EUS = 16 };
    int fd = open_node();
    uint32_t words[64] = {0};
    struct drm_i915_query_item item = {.query_id = DRM_I915_QUERY_HWCONFIG_BLOB};
    struct drm_i915_query query = {.num_items = 1, .items_ptr = (uintptr_t)&item};
    assert_int_equal(ioctl(fd, DRM_IOCTL_I915_QUERY, &query), 0);
    if (!*state) { /* skl has none */
        assert_int_equal(item.length, -EINVAL);
        close(fd);
        return;
    }
    assert_in_range(item.length, 12, sizeof(words));
    item.data_ptr = (uintptr_t)words;
    assert_int_equal(ioctl(fd, DRM_IOCTL_I915_QUERY, &query), 0);
    uint32_t at = 0, eus = 0;
    for (; at < (uint32_t)item.length / 4; at += 2 + words[at + 1])
        eus = words[at] == EUS_PER_SUBSLICE ? words[at + 2] : eus;
    assert_int_equal(at * 4, item.length);
    assert_int_equal(eus, EUS);
    close(fd);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest of_dg2[] = {cmocka_unit_test_prestate(firmware_table, argv)};
    if (argc > 1)
        return cmocka_run_group_tests(of_dg2, NULL, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths),   cmocka_unit_test(batches),
        cmocka_unit_test(reuse),   cmocka_unit_test(syncs_dmabufs),
        cmocka_unit_test(bans),    cmocka_unit_test(hostile),
        cmocka_unit_test(threads), cmocka_unit_test(forks),
        cmocka_unit_test(fences),  cmocka_unit_test(closed_contexts),
        cmocka_unit_test(exits),   cmocka_unit_test(firmware_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
