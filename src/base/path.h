/* SPDX-License-Identifier: MIT */
/*
 * Paths as debug info and people spell them, of Linux or of Windows, on either system.
 *
 * A path of Windows is one that starts with "X:\", "X:/" or "\\": there both slashes separate, and
 * the case of letters (of ASCII) does not count. In any other path only '/' separates, since Linux
 * has names with backslashes in them. Debug info's paths of Windows are turned to '/' where they
 * are read (src/dwarf/files.c), all but the two backslashes before the name of a server.
 */
#ifndef ZS_BASE_PATH_H
#define ZS_BASE_PATH_H

#include <stdbool.h>
#include <stddef.h>

bool zs_path_is_windows(const char *path);

/* What separates the parts of the path, for strcspn. */
const char *zs_path_separators(const char *path);

/* Behind the last separator, unless nothing is there. `path` is debug info's. */
const char *zs_path_base_name(const char *path);

/* The same for a path of the system that this runs on. */
const char *zs_path_own_base_name(const char *path);

/* What of `path` is below `folder`: empty, or with its separator first; NULL: it is elsewhere. */
const char *zs_path_below(const char *path, const char *folder);

/* Whether the last parts of `path` are those of `end`. */
bool zs_path_ends_with(const char *path, const char *end);

#endif
