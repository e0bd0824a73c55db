/* SPDX-License-Identifier: MIT */
/*
 * Objects that several devices of a process share, by descriptors ("PRIME"). A descriptor is a file
 * without content that is as long as the object and is known by its inode. Pages of an object that
 * was shared belong to all objects that have them; the last one lets them go. Other processes are
 * refused: they know no such inode.
 */
#include "drm/xe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct zs_drm_pages {
    struct zs_drm_pages *next;
    uint32_t references;
    int descriptor; /* ours */
    dev_t device;
    ino_t inode;
    uint8_t *host;
    uint64_t size_B;
    int memory_fd; /* where they are, and from which offset on */
    uint64_t offset_B;
};

static struct {
    pthread_mutex_t lock;
    struct zs_drm_pages *first;
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

void zs_drm_pages_put(struct zs_drm_pages *pages)
{
    pthread_mutex_lock(&shared.lock);
    bool is_last = --pages->references == 0;
    for (struct zs_drm_pages **at = &shared.first; is_last && *at; at = &(*at)->next) {
        if (*at == pages) {
            *at = pages->next;
            break;
        }
    }
    pthread_mutex_unlock(&shared.lock);
    if (!is_last)
        return;
    fallocate(pages->memory_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)pages->offset_B,
              (off_t)pages->size_B);
    close(pages->descriptor);
    free(pages);
}

static int share(struct zs_drm_object *object)
{
    struct stat st;
    struct zs_drm_pages *pages = calloc(1, sizeof(*pages));
    int fd = pages ? memfd_create("zescope-dmabuf", MFD_CLOEXEC) : -1;
    if (fd < 0 || ftruncate(fd, (off_t)object->size_B) || zs_drm_real_fstat(fd, &st)) {
        if (fd >= 0)
            close(fd);
        free(pages);
        return -ENOMEM;
    }
    *pages = (struct zs_drm_pages){.references = 1,
                                   .descriptor = fd,
                                   .device = st.st_dev,
                                   .inode = st.st_ino,
                                   .host = object->host,
                                   .size_B = object->size_B,
                                   .memory_fd = object->file->memory_fd,
                                   .offset_B = object->offset_B};
    object->pages = pages;
    pthread_mutex_lock(&shared.lock);
    pages->next = shared.first;
    shared.first = pages;
    pthread_mutex_unlock(&shared.lock);
    return 0;
}

int zs_drm_prime_export(struct zs_drm_file *file, void *argument)
{
    struct drm_prime_handle *p = argument;
    struct zs_drm_object *object = zs_drm_object(file, p->handle);
    if (!object || p->flags & ~(uint32_t)(DRM_CLOEXEC | DRM_RDWR))
        return object ? -EINVAL : -ENOENT;
    if (object->is_users && !object->pages)
        return -ENODEV;
    int error = object->pages ? 0 : share(object);
    if (error)
        return error;
    p->fd = fcntl(object->pages->descriptor, p->flags & DRM_CLOEXEC ? F_DUPFD_CLOEXEC : F_DUPFD, 0);
    return p->fd < 0 ? -errno : 0;
}

/* With one more reference; NULL: the descriptor is none of these. */
static struct zs_drm_pages *find_pages(int fd)
{
    struct stat st;
    if (zs_drm_real_fstat(fd, &st))
        return NULL;
    pthread_mutex_lock(&shared.lock);
    struct zs_drm_pages *pages = shared.first;
    while (pages && (pages->inode != st.st_ino || pages->device != st.st_dev))
        pages = pages->next;
    if (pages)
        pages->references++;
    pthread_mutex_unlock(&shared.lock);
    return pages;
}

/* A file that has the object already gets the handle that it has. */
int zs_drm_prime_import(struct zs_drm_file *file, void *argument)
{
    struct drm_prime_handle *p = argument;
    struct zs_drm_pages *pages = find_pages(p->fd);
    if (!pages) {
        zs_drm_log(ZS_DRM_WARN, "prime: descriptor %d is of no object of this process", p->fd);
        return -EINVAL;
    }
    int error = -ENOENT;
    for (uint32_t i = 1; i < file->objects.count && error; i++) {
        const struct zs_drm_object *object = file->objects.items[i];
        if (object && object->pages == pages) {
            p->handle = i;
            error = 0;
        }
    }
    if (!error) {
        zs_drm_pages_put(pages);
        return 0;
    }
    error = zs_drm_object_wrap(file, (uintptr_t)pages->host, pages->size_B, false, &p->handle);
    if (error)
        zs_drm_pages_put(pages);
    else
        zs_drm_object(file, p->handle)->pages = pages;
    return error;
}
