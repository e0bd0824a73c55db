/* SPDX-License-Identifier: MIT */
#include "store/store.h"

#include "base/os.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

enum { PATH_CHARS = 4096 };

static int join(char *path, const char *dir, const char *name)
{
    int n = snprintf(path, PATH_CHARS, "%s/%s", dir, name);
    return n < 0 || n >= PATH_CHARS ? -ENAMETOOLONG : 0;
}

static int write_all(int fd, struct zs_span span)
{
    while (span.size_B) {
        ssize_t n = write(fd, span.data, span.size_B);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : -ENOSPC;
        span = zs_span_make(span.data + n, span.size_B - (size_t)n);
    }
    return 0;
}

/* A name that no other writer of this recording uses: threads differ in the id of the kernel,
 * machines that share the file system in what the clock says. O_EXCL guards the rest. */
static int create_temp(const char *dir, char *ret_path)
{
    for (unsigned attempt = 0; attempt < 100; attempt++) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        int n = snprintf(ret_path, PATH_CHARS, "%s/.new-%ld-%lx-%u", dir, syscall(SYS_gettid),
                         (unsigned long)now.tv_nsec, attempt);
        if (n < 0 || n >= PATH_CHARS)
            return -ENAMETOOLONG;
        int fd = open(ret_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
        if (fd >= 0 || errno != EEXIST)
            return fd >= 0 ? fd : -errno;
    }
    return -EEXIST;
}

int zs_store_file(const char *dir, const char *name, struct zs_span span)
{
    char temp[PATH_CHARS], path[PATH_CHARS];
    int error = join(path, dir, name);
    if (error)
        return error;
    int fd = create_temp(dir, temp);
    if (fd < 0)
        return fd;
    error = write_all(fd, span);
    if (close(fd) && !error)
        error = -errno;
    if (!error && rename(temp, path))
        error = -errno;
    if (error)
        unlink(temp);
    return error;
}

int zs_store_blob(const char *dir, const char *ext, struct zs_span span,
                  char ret_file[ZS_STORE_FILE_CHARS])
{
    char hex[ZS_SHA256_HEX_CHARS + 1], path[PATH_CHARS];
    zs_sha256_hex(span, hex);
    snprintf(ret_file, ZS_STORE_FILE_CHARS, "%s.%.6s", hex, ext);
    int error = join(path, dir, ret_file);
    if (error)
        return error;
    struct stat st;
    if (!lstat(path, &st) && S_ISREG(st.st_mode) && (uint64_t)st.st_size == span.size_B)
        return 0;
    return zs_store_file(dir, ret_file, span);
}

static bool ends_in_mid_line(int fd)
{
    struct stat st;
    char last = '\n';
    return !fstat(fd, &st) && st.st_size > 0 && pread(fd, &last, 1, st.st_size - 1) == 1 &&
           last != '\n';
}

/* What the file ends in was left by a writer that is no more: those that write now hold a lock. */
static bool is_torn(int fd)
{
    enum { PATIENCE_MS = 1000 };
    for (int ms = 0; ends_in_mid_line(fd); ms++) {
        if (!flock(fd, LOCK_EX | LOCK_NB))
            return ends_in_mid_line(fd);
        if (ms == PATIENCE_MS)
            return true;
        usleep(1000);
    }
    return false;
}

int zs_store_line(const char *path, struct zs_span line)
{
    int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0)
        return -errno;
    bool torn = is_torn(fd);
    if (!torn)
        (void)flock(fd, LOCK_SH | LOCK_NB); /* a file system without them: a line may be empty */
    size_t size_B = line.size_B + 1 + torn;
    char *text = malloc(size_B);
    int error = text ? 0 : -ENOMEM;
    if (text) {
        text[0] = '\n';
        memcpy(text + torn, line.data, line.size_B);
        text[size_B - 1] = '\n';
        ssize_t n;
        do
            n = write(fd, text, size_B);
        while (n < 0 && errno == EINTR);
        error = n < 0 ? -errno : (size_t)n < size_B ? -ENOSPC : 0;
        free(text);
    }
    if (close(fd) && !error)
        error = -errno;
    return error;
}

int zs_store_reserve(int fd, uint64_t at_B, uint64_t size_B)
{
    int error;
    if (!zs_os_may_grow_to(at_B + size_B))
        return -EFBIG;
    do
        error = posix_fallocate(fd, (off_t)at_B, (off_t)size_B);
    while (error == EINTR);
    return -error;
}

/* There pages are made by reserving already, and writing takes longer. */
static bool is_in_memory(int fd)
{
    struct statfs fs;
    return !fstatfs(fd, &fs) && fs.f_type == TMPFS_MAGIC;
}

int zs_store_fill(int fd, uint64_t at_B, uint64_t size_B)
{
    static const uint8_t zeros[16384];
    struct iovec parts[16];
    uint64_t end_B = at_B + size_B;
    if (!size_B) /* filled already: mapping it failed the last time */
        return 0;
    if (!zs_os_may_grow_to(end_B))
        return -EFBIG;
    if (is_in_memory(fd))
        return zs_store_reserve(fd, at_B, size_B);
    while (at_B < end_B) {
        int count = 0;
        for (uint64_t left_B = end_B - at_B; left_B && count < (int)ZS_ARRAY_LEN(parts); count++) {
            size_t part_B = (size_t)ZS_MIN(left_B, (uint64_t)sizeof(zeros));
            parts[count] = (struct iovec){.iov_base = (void *)zeros, .iov_len = part_B};
            left_B -= part_B;
        }
        ssize_t n = pwritev(fd, parts, count, (off_t)at_B);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : -ENOSPC;
        at_B += (uint64_t)n;
    }
    return 0;
}

int zs_store_counters_create(const char *dir)
{
    union {
        struct zs_store_counters counters;
        uint8_t bytes[ZS_COUNTERS_SIZE_B];
    } page = {.counters = {.magic = "zscount1"}};
    return zs_store_file(dir, ZS_RECORD_COUNTERS, zs_span_make(page.bytes, sizeof(page.bytes)));
}

struct zs_store_counters *zs_store_counters_map(const char *dir)
{
    char path[PATH_CHARS];
    if (join(path, dir, ZS_RECORD_COUNTERS))
        return NULL;
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return NULL;
    struct stat st;
    void *map = MAP_FAILED;
    if (!fstat(fd, &st) && st.st_size >= ZS_COUNTERS_SIZE_B)
        map = mmap(NULL, ZS_COUNTERS_SIZE_B, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return map == MAP_FAILED ? NULL : map;
}
