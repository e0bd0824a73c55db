/* SPDX-License-Identifier: MIT */
/*
 * Descriptors that are kept between calls inside a process that is not ours. It may close all that
 * it finds, as daemons do, and the number may then be one of its own files. So each is used only
 * after proof, by device and inode, that it still is what we opened.
 */
#ifndef ZS_BASE_OWN_FD_H
#define ZS_BASE_OWN_FD_H

#include "base/compiler.h"

#include <sys/stat.h>
#include <unistd.h>

struct zs_own_fd {
    int fd; /* -1: none */
    dev_t device;
    ino_t inode;
};

#define ZS_OWN_FD_NONE ((struct zs_own_fd){.fd = -1})

static inline struct zs_own_fd zs_own_fd_make(int fd)
{
    struct stat st;
    struct zs_own_fd own = {.fd = fd};
    if (fd < 0 || fstat(fd, &st) != 0)
        return ZS_OWN_FD_NONE;
    own.device = st.st_dev;
    own.inode = st.st_ino;
    return own;
}

static inline bool zs_own_fd_is(const struct zs_own_fd *own)
{
    struct stat st;
    return own->fd >= 0 && fstat(own->fd, &st) == 0 && st.st_dev == own->device &&
           st.st_ino == own->inode;
}

static inline void zs_own_fd_close(struct zs_own_fd *own)
{
    if (zs_own_fd_is(own))
        close(own->fd);
    *own = ZS_OWN_FD_NONE;
}

#endif
