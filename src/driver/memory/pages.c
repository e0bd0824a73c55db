/* SPDX-License-Identifier: MIT */
/*
 * Moving pages into a memfd while the process runs.
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

#include "base/os.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdio.h>
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
    int fd = memfd_create(name, MFD_CLOEXEC);
    if (fd < 0)
        return -errno;
    if (ftruncate(fd, (off_t)size_B) != 0) {
        int error = -errno;
        close(fd);
        return error;
    }
    return fd;
}

/* A userfaultfd that holds up whoever writes to the pages; -1: there is none. */
static int hold_writers(void *pages, size_t size_B)
{
    int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);
    if (fd < 0)
        return -1;
    struct uffdio_api api = {.api = UFFD_API, .features = UFFD_FEATURE_PAGEFAULT_FLAG_WP};
    struct uffdio_range range = {.start = (uintptr_t)pages, .len = size_B};
    struct uffdio_register reg = {.range = range,
                                  .mode = UFFDIO_REGISTER_MODE_MISSING | UFFDIO_REGISTER_MODE_WP};
    struct uffdio_writeprotect protect = {.range = range, .mode = UFFDIO_WRITEPROTECT_MODE_WP};
    if (ioctl(fd, UFFDIO_API, &api) == 0 && ioctl(fd, UFFDIO_REGISTER, &reg) == 0 &&
        ioctl(fd, UFFDIO_WRITEPROTECT, &protect) == 0)
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
    for (size_t i = 0; i < PAGE_B; i += 64)
        __builtin_memcpy(to + i, from + i, 64);
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

/* Not mmap(), which the thread sanitizer takes for a write by this thread to all of it. The kernel
 * takes whole words: an int on the stack would have any upper half. */
static bool map_over(void *pages, size_t size_B, int fd)
{
    return syscall(SYS_mmap, pages, size_B, (long)(PROT_READ | PROT_WRITE),
                   (long)(MAP_SHARED | MAP_FIXED | MAP_NORESERVE), (long)fd, 0L) != -1;
}

int zs_pages_move(void *pages, size_t size_B, int fd)
{
    char *copy = mmap(NULL, size_B, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (copy == MAP_FAILED)
        return -ENOMEM;
    int guard = hold_writers(pages, size_B), error = 0;
    if (guard >= 0)
        error = copy_existing(copy, pages, size_B);
    else if (has_foreign_threads())
        error = -EBUSY;
    else
        memcpy(copy, pages, size_B);
    munmap(copy, size_B);
    if (!error && !map_over(pages, size_B, fd))
        error = -ENOMEM;
    if (guard >= 0)
        close(guard);
    return error;
}
