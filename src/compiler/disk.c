/* SPDX-License-Identifier: MIT */
#include "compiler/disk.h"

#include "base/cache_folder.h"
#include "base/os.h"
#include "base/reader.h"
#include "base/vec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    PARTS = 16,
    FILES_MAX = 1 << 16, /* of a part, that are looked at */
    MAGIC_B = 8,
    HEADER_B = MAGIC_B + ZS_SHA256_B + ZS_SHA256_B, /* magic, key, checksum of the rest */
    FRESH_s = 3600, /* times of use are not written more often; leftovers of writers stay as long */
};
static const char magic[MAGIC_B + 1] = "zscache1";

/* ---- The folder --------------------------------------------------------------------------------
 */

void zs_disk_init(struct zs_disk *disk, const char *folder, uint64_t limit_B)
{
    *disk = (struct zs_disk){.limit_B = limit_B};
    if (limit_B >= PARTS)
        disk->folder = zs_cache_folder(folder);
}

void zs_disk_fini(struct zs_disk *disk)
{
    free(disk->folder);
    *disk = (struct zs_disk){0};
}

static bool is_ours(int fd, bool is_folder)
{
    struct stat st;
    return fstat(fd, &st) == 0 && st.st_uid == geteuid() && !(st.st_mode & S_IWOTH) &&
           (is_folder ? S_ISDIR(st.st_mode) : S_ISREG(st.st_mode));
}

/* A folder that is this user's, made when it is missing and wanted; -1 otherwise. */
static int open_folder(int parent, const char *name, int flags, bool make)
{
    if (make)
        mkdirat(parent, name, 0700);
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags);
    if (fd >= 0 && !is_ours(fd, true)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static int open_part(const struct zs_disk *disk, char digit, bool make)
{
    if (!disk->folder)
        return -1;
    int folder = open_folder(AT_FDCWD, disk->folder, 0, make);
    if (folder < 0)
        return -1;
    int part = open_folder(folder, (char[2]){digit, 0}, O_NOFOLLOW, make);
    close(folder);
    return part;
}

static void key_name(const uint8_t key[ZS_SHA256_B], char ret_name[ZS_SHA256_HEX_CHARS + 1])
{
    for (unsigned i = 0; i < ZS_SHA256_HEX_CHARS; i++)
        ret_name[i] = "0123456789abcdef"[key[i / 2] >> (4 - 4 * (i % 2)) & 15];
    ret_name[ZS_SHA256_HEX_CHARS] = '\0';
}

/* ---- Reading -----------------------------------------------------------------------------------
 */

static bool read_whole(int fd, size_t size_B, struct zs_buf *ret_bytes)
{
    uint8_t *place = zs_buf_reserve(ret_bytes, size_B);
    while (place && ret_bytes->size_B < size_B) {
        ssize_t n = read(fd, place + ret_bytes->size_B, size_B - ret_bytes->size_B);
        if (n > 0)
            ret_bytes->size_B += (size_t)n;
        else if (n == 0 || errno != EINTR)
            break;
    }
    return place && ret_bytes->size_B == size_B;
}

static bool is_intact(const struct zs_buf *file, const uint8_t key[ZS_SHA256_B])
{
    uint8_t sum[ZS_SHA256_B];
    if (file->size_B < HEADER_B || memcmp(file->data, magic, MAGIC_B) != 0 ||
        memcmp(file->data + MAGIC_B, key, ZS_SHA256_B) != 0)
        return false;
    zs_sha256(zs_span_make(file->data + HEADER_B, file->size_B - HEADER_B), sum);
    return memcmp(file->data + MAGIC_B + ZS_SHA256_B, sum, sizeof(sum)) == 0;
}

bool zs_disk_get(const struct zs_disk *disk, const uint8_t key[ZS_SHA256_B],
                 struct zs_buf *ret_bytes)
{
    char name[ZS_SHA256_HEX_CHARS + 1];
    struct zs_buf file = {0};
    struct stat st;
    key_name(key, name);
    int part = open_part(disk, name[0], false);
    int fd = part < 0
                 ? -1
                 : openat(part, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    bool sized = fd >= 0 && is_ours(fd, false) && fstat(fd, &st) == 0 &&
                 (uint64_t)st.st_size <= disk->limit_B / PARTS;
    bool found = sized && read_whole(fd, (size_t)st.st_size, &file) && is_intact(&file, key);
    if (found && st.st_mtime < time(NULL) - FRESH_s)
        futimens(fd, NULL);
    if (found)
        zs_buf_append(ret_bytes, file.data + HEADER_B, file.size_B - HEADER_B);
    else if (fd >= 0 && !file.error)
        unlinkat(part, name, 0);
    if (fd >= 0)
        close(fd);
    if (part >= 0)
        close(part);
    zs_buf_fini(&file);
    return found && !ret_bytes->error;
}

/* ---- Writing -----------------------------------------------------------------------------------
 */

struct known {
    char name[ZS_SHA256_HEX_CHARS + 1];
    uint64_t size_B;
    int64_t used_ns;
};

struct scan {
    struct known *items;
    size_t count, capacity;
    uint64_t total_B;
};

/* Files of ours alone are counted; what writers left behind when they were killed goes. */
static void scan_part(int part, struct scan *scan)
{
    int copy = openat(part, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = copy < 0 ? NULL : fdopendir(copy);
    if (!dir) {
        if (copy >= 0)
            close(copy);
        return;
    }
    const time_t now = time(NULL);
    const struct dirent *entry;
    while (scan->count < FILES_MAX && (entry = readdir(dir)) != NULL) {
        struct known file = {0};
        struct stat st;
        bool is_key = strspn(entry->d_name, "0123456789abcdef") == ZS_SHA256_HEX_CHARS &&
                      entry->d_name[ZS_SHA256_HEX_CHARS] == '\0';
        bool is_left = strncmp(entry->d_name, "new.", 4) == 0;
        if ((!is_key && !is_left) || fstatat(part, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (is_left) {
            if (st.st_mtime < now - FRESH_s)
                unlinkat(part, entry->d_name, 0);
            continue;
        }
        memcpy(file.name, entry->d_name, sizeof(file.name));
        file.size_B = (uint64_t)st.st_blocks * 512;
        file.used_ns = ZS_MIN(st.st_mtime, now) * INT64_C(1000000000) + st.st_mtim.tv_nsec;
        if (!ZS_VEC_PUSH(scan, file))
            break;
        scan->total_B += file.size_B;
    }
    closedir(dir);
}

static int by_use(const void *a, const void *b)
{
    const struct known *x = a, *y = b;
    return (x->used_ns > y->used_ns) - (x->used_ns < y->used_ns);
}

/* Room for a while, so that not every new file has to look for some; `newest` stays. */
static void make_room(int part, const char *newest, uint64_t limit_B)
{
    struct scan scan = {0};
    scan_part(part, &scan);
    if (scan.total_B > limit_B) {
        qsort(scan.items, scan.count, sizeof(*scan.items), by_use);
        for (size_t i = 0; i < scan.count && scan.total_B > limit_B / 8 * 7; i++) {
            if (strcmp(scan.items[i].name, newest) != 0 &&
                unlinkat(part, scan.items[i].name, 0) == 0)
                scan.total_B -= scan.items[i].size_B;
        }
    }
    free(scan.items);
}

static bool write_whole(int fd, struct zs_span bytes)
{
    while (bytes.size_B) {
        ssize_t n = write(fd, bytes.data, bytes.size_B);
        if (n > 0)
            bytes = zs_span_make(bytes.data + n, bytes.size_B - (size_t)n);
        else if (n == 0 || errno != EINTR)
            return false;
    }
    return true;
}

void zs_disk_put(const struct zs_disk *disk, const uint8_t key[ZS_SHA256_B], struct zs_span bytes)
{
    char name[ZS_SHA256_HEX_CHARS + 1], fresh[64];
    uint8_t header[HEADER_B];
    uint64_t part_B = disk->limit_B / PARTS;
    struct timespec now;
    if (bytes.size_B > part_B / 2 || part_B / 2 - bytes.size_B < HEADER_B ||
        !zs_os_may_grow_to(HEADER_B + bytes.size_B))
        return;
    key_name(key, name);
    int part = open_part(disk, name[0], true);
    if (part < 0)
        return;
    memcpy(header, magic, MAGIC_B);
    memcpy(header + MAGIC_B, key, ZS_SHA256_B);
    zs_sha256(bytes, header + MAGIC_B + ZS_SHA256_B);
    clock_gettime(CLOCK_MONOTONIC, &now);
    /* the address of a local variable tells threads apart */
    snprintf(fresh, sizeof(fresh), "new.%d.%llx.%llx", (int)getpid(),
             (unsigned long long)(uintptr_t)&now,
             (unsigned long long)now.tv_sec * 1000000000u + (unsigned long long)now.tv_nsec);
    int fd = openat(part, fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0) {
        bool done = write_whole(fd, zs_span_make(header, sizeof(header))) && write_whole(fd, bytes);
        done = close(fd) == 0 && done;
        if (!done || renameat(part, fresh, part, name) != 0)
            unlinkat(part, fresh, 0);
        else
            make_room(part, name, part_B);
    }
    close(part);
}
