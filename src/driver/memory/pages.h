/* SPDX-License-Identifier: MIT */
/* Pages that other processes can map, and pages that are given back. */
#ifndef ZS_DRIVER_MEMORY_PAGES_H
#define ZS_DRIVER_MEMORY_PAGES_H

#include "base/compiler.h"
#include "base/own_fd.h"

#include <sys/types.h>

struct zs_ze_driver;

/* A memfd of that size, which nobody can make smaller; or -errno. */
int zs_memfd_make(const char *name, uint64_t size_B);

/*
 * The file behind memory that may be shared. The program may close descriptors that it finds, and
 * those in handles it may take for its own: so what is kept is another one than what is handed out,
 * and each is proven before it is used or closed.
 */
struct zs_shared_file {
    struct zs_own_fd kept, handed;
};
#define ZS_SHARED_FILE_NONE ((struct zs_shared_file){ZS_OWN_FD_NONE, ZS_OWN_FD_NONE})
struct zs_shared_file zs_shared_file_make(int fd); /* takes it over; -1: none */
void zs_shared_file_close(struct zs_shared_file *file);
/* A descriptor for a handle, the same one as long as it is good; -errno: -EBADF, the program closed
 * what was kept. */
int zs_shared_file_hand(struct zs_shared_file *file);
/* Whether a file may become smaller, which ends accesses to what is mapped of it with SIGBUS. */
bool zs_file_may_shrink(int fd);

/* Where pages that move are mapped, and what part of them. */
struct zs_pages_view {
    void *pages;
    size_t size_B;
    off_t offset_B;
    int protection;
};

/*
 * Move the contents of pages into a memfd of that size and map it in their place. Nothing that a
 * thread of the process writes meanwhile is lost: it waits. Where the kernel does not let writers
 * wait (userfaultfd(2)) and the process has threads that are not this driver's, -EBUSY. source: all
 * pages of shared memory, readable; NULL: the only view is anonymous memory, and its own source.
 */
int zs_pages_move(const struct zs_pages_view *views, size_t count, const void *source,
                  size_t size_B, int fd);

/*
 * Unmap pages. Where this is refused, because it would part a mapping of the kernel and the process
 * has as many as it may (vm.max_map_count), their contents are given back, and they wait: they go
 * with neighbours that are given back later, or are taken for an allocation.
 */
struct zs_lost_pages;
void zs_pages_give_back(struct zs_ze_driver *driver, void *pages, size_t size_B);
/* Anonymous pages, zero, from what waits; NULL: there are none of that size. */
void *zs_pages_take(struct zs_ze_driver *driver, size_t size_B);

#endif
