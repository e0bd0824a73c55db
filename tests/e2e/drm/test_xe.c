/* SPDX-License-Identifier: MIT */
/* The interface of xe, as programs see it that have the library preloaded. */
#include "drm/xe.h"

#include "../../unit/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define VA UINT64_C(0x800100000000) /* no address of the host's */
enum { PAGE = 4096, OBJECT_B = 4 * PAGE };

static int call(int fd, uint32_t number, void *argument, size_t size_B)
{
    return ioctl(fd, _IOC(_IOC_READ | _IOC_WRITE, 'd', number, size_B), argument);
}
#define CALL(fd, number, argument) call(fd, number, &(argument), sizeof(argument))

static int open_node(void)
{
    int fd = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

static uint32_t create(int fd, void **ret_map)
{
    struct zs_xe_gem_create c = {.size_B = OBJECT_B, .placement = 1, .caching = 1};
    assert_int_equal(CALL(fd, ZS_XE_GEM_CREATE, c), 0);
    struct zs_xe_mmap_offset m = {.handle = c.handle};
    assert_int_equal(CALL(fd, ZS_XE_GEM_MMAP_OFFSET, m), 0);
    *ret_map = mmap(NULL, OBJECT_B, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)m.offset);
    assert_true(*ret_map != MAP_FAILED);
    return c.handle;
}

static uint32_t new_vm(int fd)
{
    struct zs_xe_vm_create v = {.flags = ZS_XE_VM_LONG_RUNNING};
    assert_int_equal(CALL(fd, ZS_XE_VM_CREATE, v), 0);
    return v.id;
}

static uint32_t new_queue(int fd, uint32_t vm)
{
    struct zs_xe_engine engine = {.class = ZS_XE_CLASS_COMPUTE};
    struct zs_xe_queue_create q = {
        .width = 1, .placements = 1, .vm = vm, .engines = (uintptr_t)&engine};
    assert_int_equal(CALL(fd, ZS_XE_EXEC_QUEUE_CREATE, q), 0);
    return q.id;
}

/* Of an object, of the user's memory (handle 0), or nothing any more. */
static int bind(int fd, uint32_t vm, enum zs_xe_bind_what what, uint32_t handle, uint64_t offset_B,
                uint64_t gpu_va, uint64_t size_B)
{
    uint64_t fence = 0;
    struct zs_xe_sync sync = {.type = ZS_XE_SYNC_USER_FENCE,
                              .flags = ZS_XE_SYNC_SIGNAL,
                              .address = (uintptr_t)&fence,
                              .value = 5};
    struct zs_xe_vm_bind b = {.vm = vm, .count = 1, .sync_count = 1, .syncs = (uintptr_t)&sync};
    b.op = (struct zs_xe_bind_op){.what = (uint32_t)what,
                                  .handle = handle,
                                  .offset_B = offset_B,
                                  .size_B = size_B,
                                  .gpu_va = gpu_va};
    int ret = CALL(fd, ZS_XE_VM_BIND, b);
    assert_int_equal(fence, ret ? 0 : 5);
    return ret;
}

static int submit(int fd, uint32_t queue, uint64_t batch_va, uint64_t fence_va, uint64_t value)
{
    struct zs_xe_sync sync = {.type = ZS_XE_SYNC_USER_FENCE,
                              .flags = ZS_XE_SYNC_SIGNAL,
                              .address = fence_va,
                              .value = value};
    struct zs_xe_exec e = {.queue = queue,
                           .sync_count = 1,
                           .syncs = (uintptr_t)&sync,
                           .batch_va = batch_va,
                           .batches = 1};
    return CALL(fd, ZS_XE_EXEC, e);
}

static int wait_for(int fd, uint32_t queue, const uint64_t *at, uint64_t value, int64_t timeout_ns)
{
    struct zs_xe_wait w = {.address = (uintptr_t)at,
                           .compare = 3,
                           .value = value,
                           .mask = UINT64_MAX,
                           .timeout_ns = timeout_ns,
                           .queue = queue};
    return CALL(fd, ZS_XE_WAIT_USER_FENCE, w);
}

/* MI_STORE_DATA_IMM, and the batch's end. */
static void put_store(uint32_t *at, uint64_t to, uint32_t value)
{
    const uint32_t batch[] = {0x20u << 23 | 2, (uint32_t)to, (uint32_t)(to >> 32), value,
                              0x0au << 23};
    memcpy(at, batch, sizeof(batch));
}

static void queries(void **state)
{
    int fd = open_node();
    char name[8] = "";
    struct drm_version v = {.name = name, .name_len = sizeof(name)};
    assert_int_equal(CALL(fd, 0, v), 0);
    assert_string_equal(name, "xe");
    for (uint32_t id = ZS_XE_QUERY_ENGINES; id <= ZS_XE_QUERY_GT_TOPOLOGY; id++) {
        uint8_t data[4096];
        struct zs_xe_query q = {.query = id, .data = (uintptr_t)data};
        assert_int_equal(CALL(fd, ZS_XE_DEVICE_QUERY, q), 0);
        assert_in_range(q.size_B, 8, sizeof(data));
        assert_int_equal(CALL(fd, ZS_XE_DEVICE_QUERY, q), 0);
        if (id == ZS_XE_QUERY_CONFIG)
            assert_int_equal(((struct zs_xe_config *)(data + 8))->device_and_revision & 0xffff,
                             0x56a0);
        q.size_B--;
        assert_int_equal(CALL(fd, ZS_XE_DEVICE_QUERY, q), -1);
        q.size_B++;
        q.data = 64;
        assert_int_equal(CALL(fd, ZS_XE_DEVICE_QUERY, q), -1);
        assert_int_equal(errno, EFAULT);
    }
    struct zs_xe_query unknown = {.query = 77};
    assert_int_equal(CALL(fd, ZS_XE_DEVICE_QUERY, unknown), -1);
    close(fd);
}

/* Bindings of parts of objects and of user memory; what is bound over others cuts them. */
static void bindings(void **state)
{
    int fd = open_node();
    uint32_t vm = new_vm(fd), queue = new_queue(fd, vm), *code, *data;
    uint32_t code_handle = create(fd, (void **)&code), handle = create(fd, (void **)&data);
    uint64_t *user = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t target = VA + 0x100000, fence = 0;
    volatile uint64_t *fences = (uint64_t *)data + PAGE / 8 * 3;
    assert_int_equal(bind(fd, vm, ZS_XE_BIND_MAP, code_handle, 0, VA, OBJECT_B), 0);
    assert_int_equal(bind(fd, vm, ZS_XE_BIND_MAP, handle, 0, target, OBJECT_B), 0);
    put_store(code, target + 2 * PAGE, 11);
    assert_int_equal(submit(fd, queue, VA, target + 3 * PAGE, ++fence), 0);
    assert_int_equal(wait_for(fd, queue, (uint64_t *)fences, fence, -1), 0);
    assert_int_equal(data[2 * PAGE / 4], 11);
    /* the user's memory in the middle; what is left and right of it stays */
    assert_int_equal(bind(fd, vm, ZS_XE_BIND_MAP_USERS, 0, (uintptr_t)user, target + PAGE, PAGE),
                     0);
    for (uint32_t page = 0; page < 3; page++) {
        put_store(code, target + page * PAGE + 8, 20 + page);
        assert_int_equal(submit(fd, queue, VA, target + 3 * PAGE, ++fence), 0);
        assert_int_equal(wait_for(fd, queue, (uint64_t *)fences, fence, -1), 0);
    }
    assert_int_equal(data[2], 20);
    assert_int_equal(user[1], 21);
    assert_int_equal(data[2 * PAGE / 4 + 2], 22);
    /* a closed object lives as long as it is bound, and nobody has its memory */
    struct drm_gem_close c = {.handle = handle};
    assert_int_equal(CALL(fd, 0x09, c), 0);
    void *other;
    create(fd, &other);
    assert_int_equal(((uint32_t *)other)[2], 0);
    put_store(code, target + 8, 30);
    assert_int_equal(submit(fd, queue, VA, target + 3 * PAGE, ++fence), 0);
    assert_int_equal(wait_for(fd, queue, (uint64_t *)fences, fence, -1), 0);
    assert_int_equal(data[2], 30);
    /* what is not bound any more is not there: the queue is banned, others go on */
    assert_int_equal(bind(fd, vm, ZS_XE_BIND_UNMAP, 0, 0, target, 2 * PAGE), 0);
    assert_int_equal(submit(fd, queue, VA, target + 3 * PAGE, ++fence), 0);
    assert_int_equal(wait_for(fd, queue, (uint64_t *)fences, fence, -1), -1);
    assert_int_equal(errno, EIO);
    struct zs_xe_queue_property p = {.id = queue, .property = ZS_XE_PROPERTY_BAN};
    assert_int_equal(CALL(fd, ZS_XE_EXEC_QUEUE_GET_PROPERTY, p), 0);
    assert_int_equal(p.value, 1);
    assert_int_equal(submit(fd, queue, VA, target + 3 * PAGE, fence), -1);
    queue = new_queue(fd, vm);
    put_store(code, target + 2 * PAGE, 12);
    assert_int_equal(submit(fd, queue, VA, target + 3 * PAGE, fence), 0);
    assert_int_equal(wait_for(fd, queue, (uint64_t *)fences, fence, -1), 0);
    assert_int_equal(data[2 * PAGE / 4], 12);
    close(fd);
}

/* A ring that waits for the host, as direct submission does: it is told to go on, or killed. */
static void rings(void **state)
{
    int fd = open_node();
    uint32_t vm = new_vm(fd), queue = new_queue(fd, vm), *code;
    uint32_t handle = create(fd, (void **)&code);
    assert_int_equal(bind(fd, vm, ZS_XE_BIND_MAP, handle, 0, VA, OBJECT_B), 0);
    volatile uint32_t *semaphore = code + 1024;
    const uint32_t wait[] = {0x1cu << 23 | 2 | 1u << 15 | 1u << 12, 7, (uint32_t)VA + 4096,
                             VA >> 32};
    memcpy(code, wait, sizeof(wait));
    put_store(code + 4, VA + 4100, 99);
    assert_int_equal(submit(fd, queue, VA, VA + 8192, 3), 0);
    assert_int_equal(wait_for(fd, queue, (uint64_t *)code + 1024, 3, 1000000), -1);
    assert_int_equal(errno, ETIME);
    /* bindings change while it waits */
    assert_int_equal(bind(fd, vm, ZS_XE_BIND_MAP, handle, 0, VA + 0x10000, OBJECT_B), 0);
    assert_int_equal(bind(fd, vm, ZS_XE_BIND_UNMAP, 0, 0, VA + 0x10000, OBJECT_B), 0);
    *semaphore = 7;
    assert_int_equal(wait_for(fd, queue, (uint64_t *)code + 1024, 3, -1), 0);
    assert_int_equal(code[1025], 99);
    *semaphore = 0;
    assert_int_equal(submit(fd, queue, VA, VA + 8192, 4), 0);
    struct zs_xe_queue_destroy d = {.id = queue};
    assert_int_equal(CALL(fd, ZS_XE_EXEC_QUEUE_DESTROY, d), 0);
    assert_int_equal(CALL(fd, ZS_XE_EXEC_QUEUE_DESTROY, d), -1);
    struct zs_xe_vm_destroy v = {.id = vm};
    assert_int_equal(CALL(fd, ZS_XE_VM_DESTROY, v), 0);
    close(fd);
}

/* Memory of one device's object in another's, as contexts of several devices want it. */
static void shares(void **state)
{
    int fd = open_node(), other = open_node();
    uint32_t *data, *code, vm = new_vm(other), queue = new_queue(other, vm);
    uint32_t handle = create(fd, (void **)&data), code_handle = create(other, (void **)&code);
    struct drm_prime_handle p = {.handle = handle, .flags = DRM_CLOEXEC | DRM_RDWR};
    assert_int_equal(CALL(fd, 0x2d, p), 0);
    assert_int_equal(lseek(p.fd, 0, SEEK_END), OBJECT_B);
    struct drm_prime_handle q = {.fd = p.fd}, again = {.fd = p.fd}, none = {.fd = fd};
    assert_int_equal(CALL(other, 0x2e, q), 0);
    assert_int_equal(CALL(other, 0x2e, again), 0);
    assert_int_equal(again.handle, q.handle);
    assert_int_equal(CALL(other, 0x2e, none), -1);
    close(p.fd);
    assert_int_equal(bind(other, vm, ZS_XE_BIND_MAP, q.handle, 0, VA, OBJECT_B), 0);
    assert_int_equal(bind(other, vm, ZS_XE_BIND_MAP, code_handle, 0, VA + 0x10000, OBJECT_B), 0);
    /* whoever is closed first, the other has it */
    struct drm_gem_close c = {.handle = handle};
    assert_int_equal(CALL(fd, 0x09, c), 0);
    put_store(code, VA + 8, 77);
    assert_int_equal(submit(other, queue, VA + 0x10000, VA + PAGE, 1), 0);
    assert_int_equal(wait_for(other, queue, (uint64_t *)data + PAGE / 8, 1, -1), 0);
    assert_int_equal(data[2], 77);
    c.handle = q.handle;
    assert_int_equal(CALL(other, 0x09, c), 0);
    assert_int_equal(bind(other, vm, ZS_XE_BIND_UNMAP, 0, 0, VA, OBJECT_B), 0);
    assert_int_equal(data[2], 0); /* its pages are gone */
    close(fd);
    close(other);
}

/* What the host maps of a descriptor are the object's pages, which stay as long. */
static void maps_shared(void **state)
{
    int status, fd = open_node();
    uint32_t *data, handle = create(fd, (void **)&data);
    struct drm_prime_handle p = {.handle = handle, .flags = DRM_CLOEXEC | DRM_RDWR};
    assert_int_equal(CALL(fd, 0x2d, p), 0);
    uint32_t *whole = mmap(NULL, OBJECT_B, PROT_READ | PROT_WRITE, MAP_SHARED, p.fd, 0);
    uint32_t *second = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, p.fd, PAGE);
    assert_ptr_not_equal(whole, MAP_FAILED);
    assert_ptr_not_equal(second, MAP_FAILED);
    assert_int_equal(whole[0], 0);
    data[PAGE / 4 + 1] = 55;
    whole[1] = 56;
    assert_int_equal(second[1], 55);
    assert_int_equal(data[1], 56);
    assert_ptr_equal(mmap(NULL, OBJECT_B, PROT_READ, MAP_SHARED, p.fd, PAGE), MAP_FAILED);
    assert_int_equal(errno, EINVAL);
    pid_t pid = fork();
    if (!pid) {
        uint32_t *here = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, p.fd, 0);
        bool is_it = here != MAP_FAILED && here[1] == 56;
        if (is_it)
            here[2] = 57;
        _exit(!is_it);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    struct drm_gem_close c = {.handle = handle};
    assert_int_equal(CALL(fd, 0x09, c), 0);
    close(p.fd);
    assert_int_equal(whole[2], 57);
    assert_int_equal(second[1], 55);
    munmap(whole, OBJECT_B);
    munmap(second, PAGE);
    close(fd);
}

/* The GPU of another process writes to the object, also when the first process has closed it. */
static int other_process(int from, int to)
{
    char path[64], byte = 0;
    int number, fd = open_node();
    void *map;
    uint32_t vm = new_vm(fd), queue = new_queue(fd, vm), code_handle = create(fd, &map);
    uint32_t *code = map;
    assert_int_equal(read(from, &number, sizeof(number)), sizeof(number));
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getppid(), number);
    struct drm_prime_handle p = {.fd = open(path, O_RDWR)};
    assert_int_equal(CALL(fd, 0x2e, p), 0);
    assert_int_equal(bind(fd, vm, ZS_XE_BIND_MAP, p.handle, 0, VA, OBJECT_B), 0);
    assert_int_equal(bind(fd, vm, ZS_XE_BIND_MAP, code_handle, 0, VA + 0x10000, OBJECT_B), 0);
    for (uint32_t i = 0; i < 2; i++) {
        put_store(code, VA + 8 + i * 4, 77 + i);
        assert_int_equal(submit(fd, queue, VA + 0x10000, VA + 0x10000 + PAGE, i + 1), 0);
        assert_int_equal(wait_for(fd, queue, (uint64_t *)map + PAGE / 8, i + 1, -1), 0);
        assert_int_equal(write(to, &byte, 1), 1);
        assert_int_equal(read(from, &byte, 1), 1);
    }
    struct drm_gem_close c = {.handle = p.handle};
    assert_int_equal(CALL(fd, 0x09, c), 0);
    return 0;
}

static void shares_with_processes(void **state)
{
    int there[2], back[2], status;
    char byte = 0;
    assert_int_equal(pipe(there), 0);
    assert_int_equal(pipe(back), 0);
    pid_t pid = fork();
    if (!pid)
        _exit(other_process(there[0], back[1]));
    int fd = open_node();
    void *map;
    uint32_t handle = create(fd, &map);
    struct drm_prime_handle p = {.handle = handle, .flags = DRM_CLOEXEC | DRM_RDWR};
    assert_int_equal(CALL(fd, 0x2d, p), 0);
    assert_int_equal(write(there[1], &p.fd, sizeof(int)), sizeof(int));
    assert_int_equal(read(back[0], &byte, 1), 1);
    assert_int_equal(((uint32_t *)map)[2], 77);
    struct drm_gem_close c = {.handle = handle};
    assert_int_equal(CALL(fd, 0x09, c), 0);
    assert_int_equal(write(there[1], &byte, 1), 1);
    assert_int_equal(read(back[0], &byte, 1), 1);
    assert_int_equal(((uint32_t *)map)[2], 77);
    assert_int_equal(((uint32_t *)map)[3], 78);
    assert_int_equal(write(there[1], &byte, 1), 1);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    for (uint32_t i = 0; i < 2; i++) {
        close(there[i]);
        close(back[i]);
    }
    close(p.fd);
    /* one that says what is not so */
    int forged = memfd_create("forged", 0);
    const struct {
        char magic[8];
        int32_t pid, memory_fd;
        uint64_t offset_B, size_B, others;
    } said = {"zsdmabf", getpid(), forged, 4096, 8192, 0};
    assert_int_equal(ftruncate(forged, 8192), 0);
    assert_int_equal(pwrite(forged, &said, sizeof(said), 0), sizeof(said));
    struct drm_prime_handle f = {.fd = forged};
    assert_int_equal(CALL(fd, 0x2e, f), -1);
    close(forged);
    close(fd);
}

/* Any bytes for any call; what they point to ends at a page that is not there. */
static void hostile(void **state)
{
    int fd = open_node();
    uint64_t seed = 0x9e3779b97f4a7c15ull, argument[32];
    void *map;
    uint32_t vm = new_vm(fd), handle = create(fd, &map);
    new_queue(fd, vm);
    assert_int_equal(bind(fd, vm, ZS_XE_BIND_MAP, handle, PAGE, VA, OBJECT_B), -1);
    assert_int_equal(bind(fd, vm, ZS_XE_BIND_MAP, handle, 0, VA + 1, PAGE), -1);
    assert_int_equal(bind(fd, vm, ZS_XE_BIND_MAP, handle, 0, UINT64_MAX & ~4095ull, PAGE), -1);
    assert_int_equal(bind(fd, vm, ZS_XE_BIND_MAP_USERS, 0, PAGE, VA, PAGE), -1);
    char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_int_equal(mprotect(page + 4096, 4096, PROT_NONE), 0);
    for (uint32_t i = 0; i < 20000; i++) {
        for (uint32_t w = 0; w < 32; w++) {
            seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
            argument[w] = seed & 1   ? seed >> 32 & 15
                          : seed & 2 ? seed
                          : seed & 4 ? VA + (seed >> 32 & 7) * PAGE
                                     : (uintptr_t)page + 3840;
        }
        uint32_t number = ZS_XE_DEVICE_QUERY + (seed >> 40) % 0x20;
        if (number != ZS_XE_WAIT_USER_FENCE) /* might rightly wait for ever */
            call(fd, number, argument, seed >> 50 & 127);
    }
    close(fd);
}

static int sync_wait(int fd, const uint32_t *handles, const uint64_t *points, uint32_t count,
                     uint32_t flags, int64_t until_ns, uint32_t *first)
{
    struct drm_syncobj_timeline_wait w = {.handles = (uintptr_t)handles,
                                          .points = (uintptr_t)points,
                                          .count_handles = count,
                                          .flags = flags,
                                          .timeout_nsec = until_ns};
    int ret = CALL(fd, 0xca, w);
    *first = w.first_signaled;
    return ret;
}

/* A batch that waits for one, signals another and reaches a point of a timeline. */
static int submit_synced(int fd, uint32_t queue, uint64_t batch_va, uint32_t in, uint32_t out,
                         uint32_t line, uint64_t point)
{
    const struct zs_xe_sync syncs[] = {
        {.type = ZS_XE_SYNC_OBJECT, .address = in},
        {.type = ZS_XE_SYNC_OBJECT, .flags = ZS_XE_SYNC_SIGNAL, .address = out},
        {.type = ZS_XE_SYNC_TIMELINE, .flags = ZS_XE_SYNC_SIGNAL, .address = line, .value = point}};
    struct zs_xe_exec e = {.queue = queue,
                           .sync_count = in ? 3 : 2,
                           .syncs = (uintptr_t)(in ? syncs : syncs + 1),
                           .batch_va = batch_va,
                           .batches = 1};
    return CALL(fd, ZS_XE_EXEC, e);
}

static void syncs(void **state)
{
    enum { ALL = 1, MAY_COME = 2 };
    int fd = open_node();
    uint32_t vm = new_vm(fd), first_queue = new_queue(fd, vm), queue = new_queue(fd, vm), *code;
    uint32_t handle = create(fd, (void **)&code), s[3], first = 9;
    assert_int_equal(bind(fd, vm, ZS_XE_BIND_MAP, handle, 0, VA, OBJECT_B), 0);
    for (uint32_t i = 0; i < 3; i++) {
        struct drm_syncobj_create c = {0};
        assert_int_equal(CALL(fd, 0xbf, c), 0);
        s[i] = c.handle;
    }
    /* nothing was submitted: an error, or a time that is over */
    assert_int_equal(sync_wait(fd, s, NULL, 1, 0, INT64_MAX, &first), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(sync_wait(fd, s, NULL, 1, MAY_COME, 1000, &first), -1);
    assert_int_equal(errno, ETIME);
    assert_int_equal(submit_synced(fd, queue, VA, s[0], s[1], s[2], 5), -1);
    /* the first queue waits for the host, the second one for the first */
    const uint32_t wait[] = {0x1cu << 23 | 2 | 1u << 15 | 1u << 12, 7, (uint32_t)VA + 8192,
                             VA >> 32};
    volatile uint32_t *semaphore = code + 2048;
    memcpy(code, wait, sizeof(wait));
    put_store(code + 4, VA + 8200, 1);
    put_store(code + 512, VA + 8204, 2);
    assert_int_equal(submit_synced(fd, first_queue, VA, 0, s[0], s[2], 3), 0);
    assert_int_equal(submit_synced(fd, queue, VA + 2048, s[0], s[1], s[2], 5), 0);
    const uint64_t points[] = {0, 0, 5};
    assert_int_equal(sync_wait(fd, s, points, 3, 0, 1000, &first), -1);
    assert_int_equal(errno, ETIME);
    assert_int_equal(code[2051], 0);
    *semaphore = 7;
    assert_int_equal(sync_wait(fd, s, points, 3, ALL, INT64_MAX, &first), 0);
    assert_int_equal(code[2050], 1);
    assert_int_equal(code[2051], 2);
    uint64_t reached = 0;
    struct drm_syncobj_timeline_array a = {
        .handles = (uintptr_t)&s[2], .points = (uintptr_t)&reached, .count_handles = 1};
    assert_int_equal(CALL(fd, 0xcb, a), 0);
    assert_int_equal(reached, 5);
    const uint64_t later = 6;
    assert_int_equal(sync_wait(fd, &s[2], &later, 1, 0, INT64_MAX, &first), -1);
    assert_int_equal(errno, EINVAL);
    a.points = (uintptr_t)&later;
    assert_int_equal(CALL(fd, 0xcd, a), 0);
    assert_int_equal(sync_wait(fd, &s[2], &later, 1, 0, 0, &first), 0);
    /* those of a killed queue are signalled, and whoever waits goes on */
    struct drm_syncobj_array r = {.handles = (uintptr_t)s, .count_handles = 2};
    assert_int_equal(CALL(fd, 0xc4, r), 0);
    *semaphore = 0;
    assert_int_equal(submit_synced(fd, first_queue, VA, 0, s[0], s[2], 7), 0);
    assert_int_equal(submit_synced(fd, queue, VA + 2048, s[0], s[1], s[2], 8), 0);
    struct zs_xe_queue_destroy d = {.id = first_queue};
    assert_int_equal(CALL(fd, ZS_XE_EXEC_QUEUE_DESTROY, d), 0);
    assert_int_equal(sync_wait(fd, &s[1], NULL, 1, 0, INT64_MAX, &first), 0);
    assert_int_equal(first, 0);
    for (uint32_t i = 0; i < 3; i++) {
        struct drm_syncobj_destroy gone = {.handle = s[i]};
        assert_int_equal(CALL(fd, 0xc0, gone), 0);
        assert_int_equal(CALL(fd, 0xc0, gone), -1);
    }
    close(fd);
}

static void forks(void **state)
{
    int fd = open_node();
    new_queue(fd, new_vm(fd));
    for (uint32_t i = 0; i < 3; i++) {
        pid_t child = fork();
        if (child == 0) {
            rings(NULL);
            _exit(0);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    close(fd);
}

/* Of a device of two tiles each has engines, memory and a topology. */
static void tiles(void **state)
{
    int fd = open_node();
    struct {
        struct zs_xe_count head;
        struct zs_xe_engine_info engines[16];
    } e = {0};
    struct zs_xe_query q = {.query = ZS_XE_QUERY_ENGINES, .data = (uintptr_t)&e};
    assert_int_equal(CALL(fd, ZS_XE_DEVICE_QUERY, q), 0);
    assert_int_equal(CALL(fd, ZS_XE_DEVICE_QUERY, q), 0);
    assert_int_equal(e.head.count, 4);
    assert_int_equal(e.engines[3].engine.gt, 1);
    uint32_t vm = new_vm(fd), *code, handle = create(fd, (void **)&code);
    assert_int_equal(bind(fd, vm, ZS_XE_BIND_MAP, handle, 0, VA, OBJECT_B), 0);
    for (uint16_t gt = 0; gt < 3; gt++) {
        struct zs_xe_engine engine = {.class = ZS_XE_CLASS_COMPUTE, .gt = gt};
        struct zs_xe_queue_create c = {
            .width = 1, .placements = 1, .vm = vm, .engines = (uintptr_t)&engine};
        assert_int_equal(CALL(fd, ZS_XE_EXEC_QUEUE_CREATE, c), gt < 2 ? 0 : -1);
        if (gt == 2)
            continue;
        put_store(code, VA + 8192, 10u + gt);
        assert_int_equal(submit(fd, c.id, VA, VA + 8200, gt + 1u), 0);
        assert_int_equal(wait_for(fd, c.id, (uint64_t *)code + 1025, gt + 1u, -1), 0);
        assert_int_equal(code[2048], 10 + gt);
    }
    close(fd);
}

/* iga64's text: moves, math and a product of 16 floats, then the end of the thread. */
static const uint32_t stall_code[] = {
    0x00100061, 0x14054aa0,
    0x00000000, 0x3f800000, /* mov (16|M0) r20.0<1>:f 1.0:f */
    0x0010c038, 0x16050aa0,
    0x10101404, 0x00000000, /* math.inv (16|M0) r22.0<1>:f r20.0:f {$0} */
    0x00108041, 0x18050aa0,
    0x0a101604, 0x00101404, /* mul (16|M0) r24.0<1>:f r22.0 r20.0 {$0.dst} */
    0x000c1161, 0x70050220,
    0x00460005, 0x00000000, /* mov (8|M0) r112.0<1>:ud r0.0 {F@1} */
    0x00000031, 0x00000004,
    0x3020700c, 0x00000000, /* send.gtwy ... {EOT} */
};

static void put_walk(uint32_t *at, uint64_t base_va, uint32_t kernel_B, uint32_t groups)
{
    enum { BASES = 20, WALKER = 39 };
    memset(at, 0, (BASES + WALKER) * 4);
    at[0] = 0x61010000u | (BASES - 2); /* STATE_BASE_ADDRESS: instructions */
    at[10] = (uint32_t)base_va | 1;
    at[11] = (uint32_t)(base_va >> 32);
    at += BASES;
    at[0] = 0x72080000u | (WALKER - 2);
    at[4] = 1u << 30; /* SIMD16 */
    at[5] = 0xffff;
    at[6] = 15;
    at[7] = groups;
    at[8] = at[9] = 1;
    at[18] = kernel_B;
    at[18 + 5] = 1; /* a thread in a group */
    at[WALKER] = 0x0au << 23;
}

static int open_stalls(int fd, uint64_t gt, uint64_t rate)
{
    struct zs_xe_property p[3] = {{.next = (uintptr_t)&p[1], .id = ZS_XE_STALL_GT, .value = gt},
                                  {.next = (uintptr_t)&p[2], .id = ZS_XE_STALL_RATE, .value = rate},
                                  {.id = ZS_XE_STALL_WAIT_REPORTS, .value = 1}};
    struct zs_xe_observation o = {.type = 1, .param = (uintptr_t)p};
    return CALL(fd, ZS_XE_OBSERVATION, o);
}

/* Samples of kernels are of their instructions, as many as their threads' cycles give. */
static void stalls(void **state)
{
    enum { GROUPS = 4096, RATE = 251, RECORDS = 4096 };
    static uint8_t records[RECORDS][ZS_XE_STALL_RECORD_B];
    int fd = open_node();
    struct zs_xe_stall_query told = {0};
    struct zs_xe_query q = {.query = ZS_XE_QUERY_EU_STALL, .data = (uintptr_t)&told};
    assert_int_equal(CALL(fd, ZS_XE_DEVICE_QUERY, q), 0);
    assert_int_equal(CALL(fd, ZS_XE_DEVICE_QUERY, q), 0);
    assert_int_equal(told.record_B, ZS_XE_STALL_RECORD_B);
    assert_int_equal(told.rates[told.rate_count - 1], 7 * RATE);
    assert_int_equal(open_stalls(fd, 2, RATE), -1);
    assert_int_equal(open_stalls(fd, 0, 8 * RATE), -1);
    int stream = open_stalls(fd, 0, RATE);
    assert_true(stream >= 0);
    assert_int_equal(fcntl(stream, F_SETFL, O_NONBLOCK), 0);

    uint32_t vm = new_vm(fd), *code, handle = create(fd, (void **)&code), queue = new_queue(fd, vm);
    assert_int_equal(bind(fd, vm, ZS_XE_BIND_MAP, handle, 0, VA, OBJECT_B), 0);
    memcpy(code + 1024, stall_code, sizeof(stall_code));
    put_walk(code, VA, PAGE, GROUPS);
    for (uint64_t turn = 0; turn < 3; turn++) { /* it samples in the second */
        assert_int_equal(ioctl(stream, _IO('i', turn == 1 ? 0 : 1), 0), 0);
        assert_int_equal(submit(fd, queue, VA, VA + 8200, turn + 1), 0);
        assert_int_equal(wait_for(fd, queue, (uint64_t *)code + 1025, turn + 1, -1), 0);
        ssize_t got = read(stream, records, sizeof(records));
        if (turn != 1) {
            assert_true(got < 0 && errno == EAGAIN);
            continue;
        }
        assert_true(got >= ZS_XE_STALL_RECORD_B && got % ZS_XE_STALL_RECORD_B == 0);
        uint64_t samples = 0;
        for (ssize_t i = 0; i < got / ZS_XE_STALL_RECORD_B; i++) {
            uint64_t low, high;
            memcpy(&low, records[i], 8);
            memcpy(&high, records[i] + 8, 8);
            uint64_t ip = (low & 0x1fffffff) << 3, first = VA + 4096;
            assert_true(ip >= (first & 0xffffffff) &&
                        ip < (first & 0xffffffff) + sizeof(stall_code));
            for (uint32_t bit = 29; bit < 29 + 9 * 8; bit += 8)
                samples += (bit >= 64  ? high >> (bit - 64)
                            : bit > 56 ? low >> bit | high << (64 - bit)
                                       : low >> bit) &
                           0xff;
        }
        /* a thread takes some 20 to 500 cycles */
        assert_in_range(samples, GROUPS * 20 / RATE, GROUPS * 500 / RATE);
    }
    close(stream);
    assert_int_equal(submit(fd, queue, VA, VA + 8200, 9), 0);
    assert_int_equal(wait_for(fd, queue, (uint64_t *)code + 1025, 9, -1), 0);
    close(fd);
}

/* Code calls by what the ip register counts, which is from the base of instructions on: any page,
 * here in the middle of an object, with a kernel below and a function above a border of 4 GB. */
static void calls_by_address(void **state)
{
    static const uint32_t kernel[] = {
        0x80000061, 0x0a054220, 0x00000000, 0x00001000, /* (W) mov (1|M0) r10.0<1>:ud 0x1000:ud */
        0x8003192b, 0x14040000, 0x00000a04, 0x00000000, /* (W) calla (8|M0) r20.0 r10.0 {I@1} */
        0x80030061, 0x70050220, 0x00460005, 0x00000000, /* (W) mov (8|M0) r112.0<1>:ud r0.0 */
        0x80031931, 0x00000004, 0x3020700c, 0x00000000, /* (W) send.gtwy ... {EOT,I@1} */
    };
    static const uint32_t function[] = {0x8003002d, 0, 0x00001404, 0}; /* (W) ret (8|M0) r20.0 */
    int fd = open_node();
    uint32_t vm = new_vm(fd), *code, handle = create(fd, (void **)&code), queue = new_queue(fd, vm);
    assert_int_equal(bind(fd, vm, ZS_XE_BIND_MAP, handle, 0, VA - 2 * PAGE, OBJECT_B), 0);
    put_walk(code, VA - PAGE, 0, 1);
    memcpy(code + PAGE / 4, kernel, sizeof(kernel));
    for (uint64_t turn = 0; turn < 3; turn++) { /* from the second on the function is there */
        if (turn == 1)
            memcpy(code + 2 * PAGE / 4, function, sizeof(function));
        assert_int_equal(submit(fd, queue, VA - 2 * PAGE, VA + PAGE, turn + 1), 0);
        assert_int_equal(wait_for(fd, queue, (uint64_t *)code + 3 * PAGE / 8, turn + 1, -1),
                         turn ? 0 : -1);
        if (turn == 0)
            queue = new_queue(fd, vm);
    }
    close(fd);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest of_tiles[] = {cmocka_unit_test(tiles), cmocka_unit_test(stalls)};
    if (argc > 1)
        return cmocka_run_group_tests(of_tiles, NULL, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queries),
        cmocka_unit_test(bindings),
        cmocka_unit_test(rings),
        cmocka_unit_test(syncs),
        cmocka_unit_test(shares),
        cmocka_unit_test(maps_shared),
        cmocka_unit_test(shares_with_processes),
        cmocka_unit_test(hostile),
        cmocka_unit_test(forks),
        cmocka_unit_test(calls_by_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
