/* SPDX-License-Identifier: MIT */
/*
 * Moving pages into a memfd while the process runs, and giving pages back.
 *
 * Between the copy and the new mapping a write of another thread would go to pages that are about
 * to disappear. So the pages are handed to a userfaultfd first: writes to them, and first touches
 * of those that do not exist yet, wait in the kernel. /proc/self/pagemap then says which pages
 * there are; they are copied, the memfd is mapped over them, and as the descriptor is closed the
 * threads that wait try again, on the new pages. Pages that were never touched stay holes.
 *
 * Without CAP_SYS_PTRACE (or vm.unprivileged_userfaultfd) only accesses of the program itself wait;
 * system calls that write there at that moment (read(2) into the buffer) fail with EFAULT.
 */
#include "driver/memory/pages.h"

#include "dataport/dataport.h"
#include "driver/driver_priv.h"

#include "base/os.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

enum { PAGE_B = 4096, ENTRIES = 512 };
static const uint64_t PAGE_EXISTS = 3ull << 62; /* of pagemap: in memory, or swapped out */

int zs_memfd_make(const char *name, uint64_t size_B)
{
    if (!zs_os_may_grow_to(size_B))
        return -EFBIG;
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return -errno;
    if (ftruncate(fd, (off_t)size_B) != 0) {
        int error = -errno;
        close(fd);
        return error;
    }
    (void)!fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL);
    return fd;
}

bool zs_file_may_shrink(int fd)
{
    int seals = fcntl(fd, F_GET_SEALS);
    return seals < 0 || !(seals & F_SEAL_SHRINK);
}

/* ---- Descriptors -------------------------------------------------------------------------------
 */

struct zs_shared_file zs_shared_file_make(int fd)
{
    return (struct zs_shared_file){zs_own_fd_make(fd), ZS_OWN_FD_NONE};
}

void zs_shared_file_close(struct zs_shared_file *file)
{
    zs_own_fd_close(&file->kept);
    zs_own_fd_close(&file->handed);
}

int zs_shared_file_hand(struct zs_shared_file *file)
{
    if (zs_own_fd_is(&file->handed))
        return file->handed.fd;
    if (!zs_own_fd_is(&file->kept))
        return -EBADF;
    int fd = fcntl(file->kept.fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    file->handed = zs_own_fd_make(fd);
    return fd;
}

/* ---- Moving ------------------------------------------------------------------------------------
 */

/* A userfaultfd that holds up whoever writes to the pages; -1: there is none. */
static int hold_writers(const struct zs_pages_view *views, size_t count)
{
    int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);
    if (fd < 0)
        return -1;
    struct uffdio_api api = {.api = UFFD_API, .features = UFFD_FEATURE_PAGEFAULT_FLAG_WP};
    bool ok = ioctl(fd, UFFDIO_API, &api) == 0;
    for (size_t i = 0; i < count && ok; i++) {
        struct uffdio_range range = {.start = (uintptr_t)views[i].pages, .len = views[i].size_B};
        struct uffdio_register reg = {
            .range = range, .mode = UFFDIO_REGISTER_MODE_MISSING | UFFDIO_REGISTER_MODE_WP};
        struct uffdio_writeprotect protect = {.range = range, .mode = UFFDIO_WRITEPROTECT_MODE_WP};
        ok = ioctl(fd, UFFDIO_REGISTER, &reg) == 0 && ioctl(fd, UFFDIO_WRITEPROTECT, &protect) == 0;
    }
    if (ok)
        return fd;
    close(fd);
    return -1;
}

/* The driver's own threads touch nothing now: its callers have seen to that. */
static bool has_foreign_threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    pid_t self = (pid_t)syscall(SYS_gettid);
    bool found = !tasks;
    for (struct dirent *task; tasks && !found && (task = readdir(tasks));) {
        char path[300], name[32] = "";
        snprintf(path, sizeof(path), "/proc/self/task/%s/comm", task->d_name);
        int fd = task->d_name[0] == '.' ? -1 : open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            continue; /* it has ended */
        ssize_t n = read(fd, name, sizeof(name) - 1);
        close(fd);
        char own[16];
        snprintf(own, sizeof(own), "%d", (int)self);
        found = n > 0 && strcmp(task->d_name, own) != 0 && strncmp(name, "zescope", 7) != 0;
    }
    if (tasks)
        closedir(tasks);
    return found;
}

/* The kernel holds up who would write to it meanwhile: nothing that a thread sanitizer could know.
 */
__attribute__((no_sanitize("thread"))) static void copy_page(char *to, const char *from)
{
    /* words: unoptimised, copies are calls that it knows */
    for (size_t i = 0; i < PAGE_B; i += sizeof(uint64_t))
        *(uint64_t *)(void *)(to + i) = *(const uint64_t *)(const void *)(from + i);
}

/* Only the pages that exist: touching another one would wait for ourselves. */
static int copy_existing(char *to, const char *from, size_t size_B)
{
    uint64_t entries[ENTRIES];
    int map = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (map < 0)
        return -errno;
    int error = 0;
    for (size_t at_B = 0; at_B < size_B && !error; at_B += sizeof(entries) / 8 * PAGE_B) {
        size_t count = ZS_MIN((size_B - at_B) / PAGE_B, (size_t)ENTRIES);
        off_t where = (off_t)(((uintptr_t)from + at_B) / PAGE_B * 8);
        if (pread(map, entries, count * 8, where) != (ssize_t)(count * 8))
            error = -EIO;
        for (size_t i = 0; i < count && !error; i++) {
            if (entries[i] & PAGE_EXISTS)
                copy_page(to + at_B + i * PAGE_B, from + at_B + i * PAGE_B);
        }
    }
    close(map);
    return error;
}

static bool is_zero(const char *page)
{
    return page[0] == 0 && memcmp(page, page + 1, PAGE_B - 1) == 0;
}

/* What is shared has its pages elsewhere: those that hold something. */
static void copy_shared(char *to, const char *from, size_t size_B)
{
    for (size_t at_B = 0; at_B < size_B; at_B += PAGE_B)
        if (!is_zero(from + at_B))
            copy_page(to + at_B, from + at_B);
}

/* Not mmap(), which the thread sanitizer takes for a write by this thread to all of it. The kernel
 * takes whole words: an int on the stack would have any upper half. */
static bool map_over(const struct zs_pages_view *view, int fd)
{
    return syscall(SYS_mmap, view->pages, view->size_B, (long)view->protection,
                   (long)(MAP_SHARED | MAP_FIXED | MAP_NORESERVE), (long)fd,
                   (long)view->offset_B) != -1;
}

int zs_pages_move(const struct zs_pages_view *views, size_t count, const void *source,
                  size_t size_B, int fd)
{
    char *copy = mmap(NULL, size_B, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (copy == MAP_FAILED)
        return -ENOMEM;
    int guard = hold_writers(views, count), error = 0;
    if (guard < 0 && count && has_foreign_threads())
        error = -EBUSY;
    else if (source)
        copy_shared(copy, source, size_B);
    else if (guard >= 0)
        error = copy_existing(copy, views[0].pages, size_B);
    else
        memcpy(copy, views[0].pages, size_B);
    munmap(copy, size_B);
    for (size_t i = 0; i < count && !error; i++)
        if (!map_over(&views[i], fd))
            error = -ENOMEM;
    if (guard >= 0)
        close(guard);
    return error;
}

/* ---- Giving back -------------------------------------------------------------------------------
 */

struct zs_lost_pages {
    pthread_mutex_t lock;
    struct zs_port_map waiting;
    bool told;
};

static struct zs_lost_pages *lost_of(struct zs_ze_driver *driver)
{
    struct zs_lost_pages *lost = atomic_load(&driver->lost_pages);
    if (lost)
        return lost;
    struct zs_lost_pages *fresh = calloc(1, sizeof(*fresh));
    if (!fresh)
        return NULL;
    pthread_mutex_init(&fresh->lock, NULL);
    if (atomic_compare_exchange_strong(&driver->lost_pages, &lost, fresh))
        return fresh;
    free(fresh);
    return lost;
}

/* Neighbours that wait become part of it. */
static void join_neighbours(struct zs_lost_pages *lost, struct zs_port_range *range)
{
    const struct zs_port_range *below = zs_port_map_floor(&lost->waiting, range->start);
    const struct zs_port_range *above = zs_port_map_above(&lost->waiting, range->start);
    uint64_t start = below && below->end == range->start ? below->start : range->start;
    uint64_t behind = above && above->start == range->end ? above->start : 0;
    range->end = behind ? above->end : range->end;
    if (start != range->start)
        (void)!zs_port_map_remove(&lost->waiting, start);
    if (behind)
        (void)!zs_port_map_remove(&lost->waiting, behind);
    range->start = start;
}

static bool unmap_range(const struct zs_port_range *range)
{
    return munmap((void *)(uintptr_t)range->start, range->end - range->start) == 0;
}

void zs_pages_give_back(struct zs_ze_driver *driver, void *pages, size_t size_B)
{
    struct zs_lost_pages *lost = atomic_load(&driver->lost_pages);
    if (!lost && munmap(pages, size_B) == 0)
        return;
    lost = lost_of(driver);
    if (!lost) {
        madvise(pages, size_B, MADV_DONTNEED);
        return;
    }
    struct zs_port_range range = {.start = (uintptr_t)pages, .end = (uintptr_t)pages + size_B};
    pthread_mutex_lock(&lost->lock);
    join_neighbours(lost, &range);
    bool tell = false;
    if (unmap_range(&range)) {
        const struct zs_port_range *other = zs_port_map_above(&lost->waiting, 0);
        if (other && unmap_range(other)) /* there may be room now */
            (void)!zs_port_map_remove(&lost->waiting, other->start);
    } else {
        madvise(pages, size_B, MADV_DONTNEED);
        (void)!zs_port_map_insert(&lost->waiting, &range);
        tell = !lost->told;
        lost->told = true;
    }
    pthread_mutex_unlock(&lost->lock);
    if (tell)
        zs_log(ZS_LOG_WARN, "the process has as many mappings as vm.max_map_count allows: memory "
                            "that is freed gives back its pages and keeps its addresses");
}

void *zs_pages_take(struct zs_ze_driver *driver, size_t size_B)
{
    struct zs_lost_pages *lost = atomic_load(&driver->lost_pages);
    if (!lost)
        return NULL;
    pthread_mutex_lock(&lost->lock);
    const struct zs_port_range *found = zs_port_map_above(&lost->waiting, 0);
    while (found && found->end - found->start < size_B)
        found = zs_port_map_above(&lost->waiting, found->start);
    struct zs_port_range rest = found ? *found : (struct zs_port_range){0};
    void *pages = (void *)(uintptr_t)rest.start;
    if (found) {
        rest.start += size_B;
        (void)!zs_port_map_remove(&lost->waiting, found->start);
        if (rest.start < rest.end)
            (void)!zs_port_map_insert(&lost->waiting, &rest);
    }
    pthread_mutex_unlock(&lost->lock);
    return pages;
}
