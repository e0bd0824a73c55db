/* SPDX-License-Identifier: MIT */
/*
 * Objects that several devices share, by descriptors ("PRIME"). A descriptor is a file that is as
 * long as the object; its process knows it by its inode. Pages of an object that was shared belong
 * to all objects that have them; the last one lets them go. The file begins with where the pages
 * are, for other processes: they map them, through /proc, while the first one lives. Pages that
 * another process or a mapping of the host's has had are kept until the first one ends.
 */
#include "drm/xe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* What the file of a descriptor begins with. */
struct zs_drm_shared {
    char magic[8];
    int32_t pid, memory_fd;
    uint64_t offset_B, size_B;
    _Atomic uint32_t others; /* how often other processes and mappings took it */
};
static const char MAGIC[8] = "zsdmabf";

struct zs_drm_pages {
    struct zs_drm_pages *next;
    uint32_t references;
    int descriptor; /* ours */
    dev_t device;
    ino_t inode;
    uint8_t *host;
    uint64_t size_B;
    int memory_fd; /* where they are, and from which offset on; -1: in another process */
    uint64_t offset_B;
    struct zs_drm_shared *told;
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
    if (pages->memory_fd < 0)
        munmap(pages->host, pages->size_B);
    else if (!atomic_load(&pages->told->others))
        fallocate(pages->memory_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  (off_t)pages->offset_B, (off_t)pages->size_B);
    if (pages->told)
        munmap(pages->told, sizeof(*pages->told));
    close(pages->descriptor);
    free(pages);
}

static void add(struct zs_drm_pages *pages)
{
    pthread_mutex_lock(&shared.lock);
    pages->next = shared.first;
    shared.first = pages;
    pthread_mutex_unlock(&shared.lock);
}

static struct zs_drm_shared *map_told(int fd)
{
    void *told = zs_drm_real_mmap(NULL, sizeof(struct zs_drm_shared), PROT_READ | PROT_WRITE,
                                  MAP_SHARED, fd, 0);
    return told == MAP_FAILED ? NULL : told;
}

static int share(struct zs_drm_object *object)
{
    struct stat st;
    struct zs_drm_shared *told = NULL;
    struct zs_drm_pages *pages = calloc(1, sizeof(*pages));
    int fd = pages ? memfd_create("zescope-dmabuf", MFD_CLOEXEC) : -1;
    if (fd < 0 || ftruncate(fd, (off_t)object->size_B) || zs_drm_real_fstat(fd, &st) ||
        !(told = map_told(fd))) {
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
                                   .offset_B = object->offset_B,
                                   .told = told};
    told->pid = getpid();
    told->memory_fd = pages->memory_fd;
    told->offset_B = pages->offset_B;
    told->size_B = pages->size_B;
    memcpy(told->magic, MAGIC, sizeof(MAGIC));
    object->pages = pages;
    add(pages);
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

/* The file that has the pages, of any process; what a descriptor's file says is not to be trusted.
 */
static int open_memory(int fd, const struct stat *st, struct zs_drm_shared *ret)
{
    char path[64];
    struct stat memory;
    if (pread(fd, ret, sizeof(*ret), 0) != sizeof(*ret) ||
        memcmp(ret->magic, MAGIC, sizeof(MAGIC)) != 0 || ret->size_B != (uint64_t)st->st_size ||
        !ret->size_B)
        return -1;
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)ret->pid, (int)ret->memory_fd);
    int memory_fd = open(path, O_RDWR | O_CLOEXEC);
    if (memory_fd < 0)
        return -1;
    if (!zs_drm_real_fstat(memory_fd, &memory) && memory.st_size > 0 &&
        ret->offset_B <= (uint64_t)memory.st_size &&
        ret->size_B <= (uint64_t)memory.st_size - ret->offset_B)
        return memory_fd;
    close(memory_fd);
    return -1;
}

static uint8_t *map_others(int fd, const struct stat *st, struct zs_drm_shared *ret)
{
    int memory_fd = open_memory(fd, st, ret);
    if (memory_fd < 0)
        return NULL;
    void *host = zs_drm_real_mmap(NULL, ret->size_B, PROT_READ | PROT_WRITE, MAP_SHARED, memory_fd,
                                  (off_t)ret->offset_B);
    close(memory_fd);
    return host == MAP_FAILED ? NULL : host;
}

bool zs_drm_prime_sync(int fd)
{
    struct zs_drm_pages *pages = find_pages(fd);
    if (!pages)
        return false;
    zs_drm_wait_pages(pages);
    zs_drm_pages_put(pages);
    return true;
}

bool zs_drm_prime_map(const struct zs_drm_host_map *map, void **ret)
{
    struct stat st;
    struct zs_drm_shared said, *told;
    if (fcntl(map->fd, F_GET_SEALS) < 0 || zs_drm_real_fstat(map->fd, &st)) /* no memory file */
        return false;
    int memory_fd = open_memory(map->fd, &st, &said);
    if (memory_fd < 0)
        return false;
    *ret = MAP_FAILED;
    errno = EINVAL;
    uint64_t room_B = zs_align_up(said.size_B, 4096);
    if (map->offset_B >= 0 && (uint64_t)map->offset_B <= room_B &&
        map->size_B <= room_B - (uint64_t)map->offset_B && (told = map_told(map->fd))) {
        *ret = zs_drm_real_mmap(map->at, map->size_B, map->protection, map->flags, memory_fd,
                                (off_t)said.offset_B + map->offset_B);
        if (*ret != MAP_FAILED)
            atomic_fetch_add(&told->others, 1);
        munmap(told, sizeof(*told));
    }
    close(memory_fd);
    return true;
}

static struct zs_drm_pages *take_others(int fd)
{
    struct stat st;
    struct zs_drm_shared said;
    struct zs_drm_pages *pages = calloc(1, sizeof(*pages));
    uint8_t *host = !pages || zs_drm_real_fstat(fd, &st) ? NULL : map_others(fd, &st, &said);
    if (!host) {
        free(pages);
        return NULL;
    }
    *pages = (struct zs_drm_pages){.references = 1,
                                   .descriptor = fcntl(fd, F_DUPFD_CLOEXEC, 0),
                                   .device = st.st_dev,
                                   .inode = st.st_ino,
                                   .host = host,
                                   .size_B = said.size_B,
                                   .memory_fd = -1,
                                   .told = map_told(fd)};
    if (pages->told)
        atomic_fetch_add(&pages->told->others, 1);
    add(pages);
    return pages;
}

/* A file that has the object already gets the handle that it has. */
int zs_drm_prime_import(struct zs_drm_file *file, void *argument)
{
    struct drm_prime_handle *p = argument;
    struct zs_drm_pages *pages = find_pages(p->fd);
    if (!pages)
        pages = take_others(p->fd);
    if (!pages) {
        zs_drm_log(ZS_DRM_WARN, "prime: descriptor %d is of no object that is there", p->fd);
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
