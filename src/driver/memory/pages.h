/* SPDX-License-Identifier: MIT */
/* Pages that other processes can map. */
#ifndef ZS_DRIVER_MEMORY_PAGES_H
#define ZS_DRIVER_MEMORY_PAGES_H

#include "base/compiler.h"

/* A memfd of that size, or -errno. */
int zs_memfd_make(const char *name, uint64_t size_B);

/*
 * Move the contents of anonymous pages into a memfd of that size and map it in their place. Nothing
 * that a thread of the process writes meanwhile is lost: it waits. Where the kernel does not let
 * writers wait (userfaultfd(2)) and the process has threads that are not this driver's, -EBUSY.
 */
int zs_pages_move(void *pages, size_t size_B, int fd);

#endif
