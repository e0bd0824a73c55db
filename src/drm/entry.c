/* SPDX-License-Identifier: MIT */
/*
 * Functions of the C library, in front of its own: what names one of our paths or descriptors is
 * done here, everything else is passed on as it came.
 */
#include "drm/drm_priv.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/dma-buf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* The next definition of a function. Looked up again when two threads do it at once. */
#define NEXT(name)                                                                                 \
    ({                                                                                             \
        static __typeof__(name) *_Atomic next;                                                     \
        __typeof__(name) *now_ = next;                                                             \
        if (!now_) {                                                                               \
            *(void **)&now_ = dlsym(RTLD_NEXT, #name);                                             \
            next = now_;                                                                           \
        }                                                                                          \
        now_;                                                                                      \
    })

int zs_drm_real_fstat(int fd, struct stat *ret)
{
    return NEXT(fstat)(fd, ret);
}

/* The system's call itself: allocators map memory before dlsym() may be called. */
void *zs_drm_real_mmap(void *at, size_t size_B, int protection, int flags, int fd, off_t offset_B)
{
    return (void *)syscall(SYS_mmap, at, size_B, protection, flags, fd, offset_B);
}

static int failed(int error)
{
    errno = -error;
    return -1;
}

/* ---- open --------------------------------------------------------------------------------------
 */

/* A file of a line of text, at its beginning. */
static int open_text(const struct zs_drm_path *p, int flags)
{
    int fd = memfd_create("zescope-sys", flags & O_CLOEXEC ? MFD_CLOEXEC : 0);
    size_t size_B = strlen(p->text);
    if (fd < 0)
        return -1;
    if (write(fd, p->text, size_B) != (ssize_t)size_B || lseek(fd, 0, SEEK_SET)) {
        close(fd);
        return failed(-EIO);
    }
    return fd;
}

/* true: the path is ours, and *ret is what open() gives for it. */
static bool open_ours(const char *path, int flags, int *ret)
{
    struct zs_drm_path p;
    int found = zs_drm_path_find(path, true, &p);
    if (found > 0)
        return false;
    if (found < 0)
        *ret = failed(found);
    else if (p.kind == ZS_DRM_FOLDER)
        *ret = failed(-EACCES);
    else if (p.kind == ZS_DRM_TEXT)
        *ret = flags & O_ACCMODE ? failed(-EACCES) : open_text(&p, flags);
    else {
        int fd = zs_drm_open(zs_drm_node(p.node), flags);
        *ret = fd < 0 ? failed(fd) : fd;
    }
    return true;
}

static mode_t mode_of(int flags, va_list args)
{
    return flags & (O_CREAT | __O_TMPFILE) ? va_arg(args, mode_t) : 0;
}

#define OPEN(name, parameters, ...)                                                                \
    EXPORT int name parameters;                                                                    \
    EXPORT int name parameters                                                                     \
    {                                                                                              \
        va_list args;                                                                              \
        va_start(args, flags);                                                                     \
        mode_t mode = mode_of(flags, args);                                                        \
        va_end(args);                                                                              \
        int ret;                                                                                   \
        return open_ours(path, flags, &ret) ? ret : NEXT(name)(__VA_ARGS__, mode);                 \
    }
OPEN(open, (const char *path, int flags, ...), path, flags)
OPEN(open64, (const char *path, int flags, ...), path, flags)
OPEN(openat, (int folder, const char *path, int flags, ...), folder, path, flags)
OPEN(openat64, (int folder, const char *path, int flags, ...), folder, path, flags)

/* The same where the compiler knows that there is no mode. */
#define OPEN_2(name, parameters, ...)                                                              \
    EXPORT int name parameters;                                                                    \
    EXPORT int name parameters                                                                     \
    {                                                                                              \
        int ret;                                                                                   \
        return open_ours(path, flags, &ret) ? ret : NEXT(name)(__VA_ARGS__);                       \
    }
OPEN_2(__open_2, (const char *path, int flags), path, flags)
OPEN_2(__open64_2, (const char *path, int flags), path, flags)
OPEN_2(__openat_2, (int folder, const char *path, int flags), folder, path, flags)
OPEN_2(__openat64_2, (int folder, const char *path, int flags), folder, path, flags)

#define FOPEN(name)                                                                                \
    EXPORT FILE *name(const char *path, const char *mode)                                          \
    {                                                                                              \
        int fd;                                                                                    \
        int flags = *mode == 'r' && !strchr(mode, '+') ? O_RDONLY : O_RDWR;                        \
        if (!open_ours(path, flags | (strchr(mode, 'e') ? O_CLOEXEC : 0), &fd))                    \
            return NEXT(name)(path, mode);                                                         \
        return fd < 0 ? NULL : fdopen(fd, mode);                                                   \
    }
FOPEN(fopen)
FOPEN(fopen64)

/* ---- what is there -----------------------------------------------------------------------------
 */

static bool access_ours(const char *path, int mode, int *ret)
{
    struct zs_drm_path p;
    int found = zs_drm_path_find(path, true, &p);
    if (found > 0)
        return false;
    bool no_write = p.kind != ZS_DRM_NODE && mode & W_OK;
    *ret = found < 0 ? failed(found) : no_write ? failed(-EACCES) : 0;
    return true;
}

EXPORT int access(const char *path, int mode)
{
    int ret;
    return access_ours(path, mode, &ret) ? ret : NEXT(access)(path, mode);
}

EXPORT int faccessat(int folder, const char *path, int mode, int flags)
{
    int ret;
    return access_ours(path, mode, &ret) ? ret : NEXT(faccessat)(folder, path, mode, flags);
}

static bool stat_ours(const char *path, bool follow, struct stat *ret_stat, int *ret)
{
    struct zs_drm_path p;
    int found = zs_drm_path_find(path, follow, &p);
    if (found > 0)
        return false;
    if (found < 0) {
        *ret = failed(found);
        return true;
    }
    memset(ret_stat, 0, sizeof(*ret_stat));
    ret_stat->st_nlink = 1;
    ret_stat->st_blksize = 4096;
    ret_stat->st_ino = 1;
    for (const char *c = p.path; *c; c++) /* the same path, the same inode */
        ret_stat->st_ino = ret_stat->st_ino * 31 + (unsigned char)*c;
    if (p.kind == ZS_DRM_NODE) {
        zs_drm_node_stat(p.minor, ret_stat);
    } else if (p.kind == ZS_DRM_FOLDER) {
        ret_stat->st_mode = S_IFDIR | 0755;
    } else {
        ret_stat->st_mode = p.link[0] ? S_IFLNK | 0777 : S_IFREG | 0444;
        ret_stat->st_size = (off_t)strlen(p.link[0] ? p.link : p.text);
    }
    *ret = 0;
    return true;
}

/* A descriptor of a node is one of a character device. */
static int mend_fstat(int fd, struct stat *st, int ret)
{
    const struct zs_drm_file *file = ret ? NULL : zs_drm_file_of(fd);
    if (file)
        zs_drm_node_stat(zs_drm_file_minor(file), st);
    return ret;
}

/* struct stat and stat64 are one on 64-bit systems. */
#define STAT(name, type, follow)                                                                   \
    EXPORT int name(const char *path, struct type *st)                                             \
    {                                                                                              \
        int ret;                                                                                   \
        return stat_ours(path, follow, (struct stat *)(void *)st, &ret) ? ret                      \
                                                                        : NEXT(name)(path, st);    \
    }
STAT(stat, stat, true)
STAT(lstat, stat, false)
STAT(stat64, stat64, true)
STAT(lstat64, stat64, false)

#define FSTAT(name, type)                                                                          \
    EXPORT int name(int fd, struct type *st)                                                       \
    {                                                                                              \
        return mend_fstat(fd, (struct stat *)(void *)st, NEXT(name)(fd, st));                      \
    }
FSTAT(fstat, stat)
FSTAT(fstat64, stat64)

#define FSTATAT(name, type)                                                                        \
    EXPORT int name(int folder, const char *path, struct type *st, int flags)                      \
    {                                                                                              \
        int ret;                                                                                   \
        struct stat *own = (struct stat *)(void *)st;                                              \
        if (stat_ours(path, !(flags & AT_SYMLINK_NOFOLLOW), own, &ret))                            \
            return ret;                                                                            \
        ret = NEXT(name)(folder, path, st, flags);                                                 \
        return flags & AT_EMPTY_PATH && !*path ? mend_fstat(folder, own, ret) : ret;               \
    }
FSTATAT(fstatat, stat)
FSTATAT(fstatat64, stat64)

/* Programs that were linked with a C library before 2.33. */
#define XSTAT(name, type, modern)                                                                  \
    EXPORT int name(int version, const char *path, struct type *st);                               \
    EXPORT int name(int version, const char *path, struct type *st)                                \
    {                                                                                              \
        return modern(path, st);                                                                   \
    }
XSTAT(__xstat, stat, stat)
XSTAT(__lxstat, stat, lstat)
XSTAT(__xstat64, stat64, stat64)
XSTAT(__lxstat64, stat64, lstat64)
EXPORT int __fxstat(int version, int fd, struct stat *st);
EXPORT int __fxstat(int version, int fd, struct stat *st)
{
    return fstat(fd, st);
}
EXPORT int __fxstat64(int version, int fd, struct stat64 *st);
EXPORT int __fxstat64(int version, int fd, struct stat64 *st)
{
    return fstat64(fd, st);
}

EXPORT int statx(int folder, const char *restrict path, int flags, unsigned mask,
                 struct statx *restrict stx)
{
    struct stat st;
    int ret;
    if (!stat_ours(path, !(flags & AT_SYMLINK_NOFOLLOW), &st, &ret))
        return NEXT(statx)(folder, path, flags, mask, stx);
    if (ret)
        return ret;
    *stx =
        (struct statx){.stx_mask = STATX_BASIC_STATS & ~(STATX_ATIME | STATX_MTIME | STATX_CTIME),
                       .stx_blksize = (uint32_t)st.st_blksize,
                       .stx_nlink = (uint32_t)st.st_nlink,
                       .stx_mode = (uint16_t)st.st_mode,
                       .stx_ino = st.st_ino,
                       .stx_size = (uint64_t)st.st_size,
                       .stx_rdev_major = major(st.st_rdev),
                       .stx_rdev_minor = minor(st.st_rdev)};
    return 0;
}

/* ---- links -------------------------------------------------------------------------------------
 */

static bool readlink_ours(const char *path, char *to, size_t size_B, ssize_t *ret)
{
    struct zs_drm_path p;
    int found = zs_drm_path_find(path, false, &p);
    if (found > 0)
        return false;
    if (found < 0 || !p.link[0]) {
        *ret = failed(found < 0 ? found : -EINVAL);
        return true;
    }
    size_t length = ZS_MIN(strlen(p.link), size_B);
    memcpy(to, p.link, length);
    *ret = (ssize_t)length;
    return true;
}

EXPORT ssize_t readlink(const char *restrict path, char *restrict to, size_t size_B)
{
    ssize_t ret;
    return readlink_ours(path, to, size_B, &ret) ? ret : NEXT(readlink)(path, to, size_B);
}

EXPORT ssize_t readlinkat(int folder, const char *restrict path, char *restrict to, size_t size_B)
{
    ssize_t ret;
    return readlink_ours(path, to, size_B, &ret) ? ret : NEXT(readlinkat)(folder, path, to, size_B);
}

EXPORT ssize_t __readlink_chk(const char *path, char *to, size_t size_B, size_t room_B);
EXPORT ssize_t __readlink_chk(const char *path, char *to, size_t size_B, size_t room_B)
{
    ssize_t ret;
    return size_B <= room_B && readlink_ours(path, to, size_B, &ret)
               ? ret
               : NEXT(__readlink_chk)(path, to, size_B, room_B);
}

static bool realpath_ours(const char *path, char *to, char **ret)
{
    struct zs_drm_path p;
    int found = zs_drm_path_find(path, true, &p);
    if (found > 0)
        return false;
    if (found < 0)
        errno = -found;
    *ret = found < 0 ? NULL : to ? strcpy(to, p.path) : strdup(p.path);
    return true;
}

EXPORT char *realpath(const char *restrict path, char *restrict to)
{
    char *ret;
    return realpath_ours(path, to, &ret) ? ret : NEXT(realpath)(path, to);
}

EXPORT char *__realpath_chk(const char *path, char *to, size_t room_B);
EXPORT char *__realpath_chk(const char *path, char *to, size_t room_B)
{
    char *ret;
    return room_B >= PATH_MAX && realpath_ours(path, to, &ret)
               ? ret
               : NEXT(__realpath_chk)(path, to, room_B);
}

/* ---- folders -----------------------------------------------------------------------------------
 * One that is ours is known by its address: there are few.
 */

struct folder {
    struct folder *next;
    struct zs_drm_path path;
    uint32_t index;
    struct dirent entry;
};
static struct {
    pthread_mutex_t lock;
    struct folder *first;
} folders = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct folder *find_folder(const DIR *dir, bool unlink)
{
    struct folder **at = &folders.first, *found;
    pthread_mutex_lock(&folders.lock);
    while (*at && (const void *)*at != (const void *)dir)
        at = &(*at)->next;
    found = *at;
    if (found && unlink)
        *at = found->next;
    pthread_mutex_unlock(&folders.lock);
    return found;
}

EXPORT DIR *opendir(const char *path)
{
    struct zs_drm_path p;
    int found = zs_drm_path_find(path, true, &p);
    if (found > 0)
        return NEXT(opendir)(path);
    struct folder *folder = found || p.kind != ZS_DRM_FOLDER ? NULL : calloc(1, sizeof(*folder));
    if (!folder) {
        errno = found < 0 ? -found : p.kind != ZS_DRM_FOLDER ? ENOTDIR : ENOMEM;
        return NULL;
    }
    folder->path = p;
    pthread_mutex_lock(&folders.lock);
    folder->next = folders.first;
    folders.first = folder;
    pthread_mutex_unlock(&folders.lock);
    return (DIR *)(void *)folder;
}

static struct dirent *read_folder(struct folder *folder)
{
    struct dirent *e = &folder->entry;
    char name[64];
    if (!zs_drm_path_entry(&folder->path, folder->index, name, &e->d_type))
        return NULL;
    strcpy(e->d_name, name);
    e->d_ino = 1 + folder->index++;
    e->d_off = folder->index;
    e->d_reclen = sizeof(*e);
    return e;
}

EXPORT struct dirent *readdir(DIR *dir)
{
    struct folder *folder = find_folder(dir, false);
    return folder ? read_folder(folder) : NEXT(readdir)(dir);
}

EXPORT struct dirent64 *readdir64(DIR *dir)
{
    struct folder *folder = find_folder(dir, false);
    return folder ? (struct dirent64 *)(void *)read_folder(folder) : NEXT(readdir64)(dir);
}

EXPORT void rewinddir(DIR *dir)
{
    struct folder *folder = find_folder(dir, false);
    if (folder)
        folder->index = 0;
    else
        NEXT(rewinddir)(dir);
}

EXPORT int closedir(DIR *dir)
{
    struct folder *folder = find_folder(dir, true);
    if (!folder)
        return NEXT(closedir)(dir);
    free(folder);
    return 0;
}

/* ---- mmap --------------------------------------------------------------------------------------
 * off_t and off64_t are one on 64-bit systems.
 */

#define MMAP(name)                                                                                 \
    EXPORT void *name(void *at, size_t size_B, int protection, int flags, int fd, off_t offset_B)  \
    {                                                                                              \
        const struct zs_drm_host_map map = {at, size_B, protection, flags, fd, offset_B};          \
        void *ret;                                                                                 \
        return fd >= 0 && flags & MAP_SHARED && zs_drm_prime_map(&map, &ret)                       \
                   ? ret                                                                           \
                   : zs_drm_real_mmap(at, size_B, protection, flags, fd, offset_B);                \
    }
MMAP(mmap)
MMAP(mmap64)

/* ---- ioctl -------------------------------------------------------------------------------------
 */

EXPORT int ioctl(int fd, unsigned long request, ...)
{
    va_list args;
    va_start(args, request);
    void *argument = va_arg(args, void *);
    va_end(args);
    struct zs_drm_file *file = _IOC_TYPE(request) == 'd' ? zs_drm_file_of(fd) : NULL;
    int ret;
    if (!file && _IOC_TYPE(request) == 'i' && zs_drm_xe_stream_ioctl(fd, request, &ret))
        return ret;
    if (!file && request == DMA_BUF_IOCTL_SYNC && zs_drm_prime_sync(fd))
        return 0;
    if (!file)
        return NEXT(ioctl)(fd, request, argument);
    ret = zs_drm_ioctl(file, request, (uintptr_t)argument);
    return ret < 0 ? failed(ret) : ret;
}
