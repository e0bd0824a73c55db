/* SPDX-License-Identifier: MIT */
#include "driver/metrics/exclusive.h"
#include "driver/driver_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRIES = 16 }; /* files that vanish while they are locked */

/* A file of this user; -errno: there is none, and none can be made. */
static int open_file(const char *path, struct zs_own_fd *ret)
{
    struct stat st;
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);
    if (fd < 0)
        return -errno;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid()) {
        close(fd);
        return -EACCES;
    }
    *ret = zs_own_fd_make(fd);
    return ret->fd < 0 ? -EBADF : 0;
}

/* Whoever gives the lock back removes the file first: another one may stand there by now. */
static bool is_there(const char *path, const struct zs_own_fd *file)
{
    struct stat st;
    return lstat(path, &st) == 0 && st.st_dev == file->device && st.st_ino == file->inode;
}

/* Locked, and with what a dead process has told: it goes, as launches see by the folder's time
 * alone that there is another claim. */
static bool is_left(const char *path, const struct zs_own_fd *file)
{
    struct stat st;
    return fstat(file->fd, &st) == 0 && st.st_size && unlink(path) == 0;
}

/* 0, -EBUSY, or what keeps it from being locked. */
static int lock_file(const char *path, struct zs_own_fd *ret)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int error = -EAGAIN;
    for (int i = 0; i < TRIES && error == -EAGAIN; i++) {
        error = open_file(path, ret);
        if (error)
            return error;
        if (fcntl(ret->fd, F_SETLK, &lock) != 0)
            error = errno == EACCES || errno == EAGAIN ? -EBUSY : -errno;
        else if (!is_there(path, ret) || is_left(path, ret))
            error = -EAGAIN;
        if (error)
            zs_own_fd_close(ret);
    }
    return error;
}

static const char *folder(void)
{
    const char *dir = zs_env("XDG_RUNTIME_DIR");
    return dir && dir[0] == '/' ? dir : "/tmp";
}

/* NULL: no memory. */
static char *path_of(uint32_t device_id, uint32_t card, uint32_t tile, uint32_t domain)
{
    char *path;
    return asprintf(&path, "%s/zescope-metrics.%u.%x.%u.%u.%u", folder(), (unsigned)geteuid(),
                    device_id, card, tile, domain) < 0
               ? NULL
               : path;
}

int zs_metric_claim_make(uint32_t device_id, uint32_t card, uint32_t tile, uint32_t domain,
                         struct zs_metric_claim *ret)
{
    *ret = ZS_METRIC_CLAIM_NONE;
    ret->owner = getpid();
    ret->path = path_of(device_id, card, tile, domain);
    int error = ret->path ? lock_file(ret->path, &ret->file) : -ENOMEM;
    if (error && error != -EBUSY)
        zs_log(ZS_LOG_INFO,
               "metrics: %s cannot be locked (%s): streamers of other processes are "
               "not kept out, and what other processes launch is not seen",
               ret->path ? ret->path : folder(), strerror(-error));
    if (error) {
        free(ret->path);
        *ret = ZS_METRIC_CLAIM_NONE;
    }
    return error == -EBUSY ? error : 0;
}

void zs_metric_claim_end(struct zs_metric_claim *claim)
{
    if (claim->path && claim->owner == getpid() && zs_own_fd_is(&claim->file) &&
        is_there(claim->path, &claim->file))
        (void)unlink(claim->path);
    zs_own_fd_close(&claim->file);
    free(claim->path);
    *claim = ZS_METRIC_CLAIM_NONE;
}

enum { TEXT_B = 64 }; /* of the file: all that is read of it */

void zs_metric_claim_tell(const struct zs_metric_claim *claim, int fd)
{
    char text[TEXT_B] = {0};
    snprintf(text, sizeof(text), "%ld %d\n", (long)getpid(), fd);
    if (zs_own_fd_is(&claim->file) &&
        pwrite(claim->file.fd, text, sizeof(text), 0) != (ssize_t)sizeof(text))
        zs_log(ZS_LOG_INFO,
               "metrics: %s cannot be written (%s): what other processes launch is "
               "not seen",
               claim->path, strerror(errno));
}

/* A process that ended without taking its claim back holds no lock. */
static bool is_held(int fd)
{
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    return fcntl(fd, F_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

int zs_metric_claim_read(uint32_t device_id, uint32_t card, uint32_t tile, uint32_t domain,
                         pid_t *ret_pid, int *ret_fd)
{
    char *path = path_of(device_id, card, tile, domain), text[TEXT_B + 1] = {0};
    long pid = 0;
    struct stat st;
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY) : -1;
    int error = fd < 0 && errno == ENOENT ? 0 : -EAGAIN;
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
        pread(fd, text, TEXT_B, 0) == TEXT_B && sscanf(text, "%9ld %9d", &pid, ret_fd) == 2 &&
        pid > 0 && pid != getpid() && *ret_fd >= 0)
        error = is_held(fd);
    if (fd >= 0)
        close(fd);
    free(path);
    *ret_pid = (pid_t)pid;
    return error;
}

struct timespec zs_metric_claims_changed(void)
{
    struct stat st;
    return stat(folder(), &st) == 0 ? st.st_mtim : (struct timespec){0};
}
