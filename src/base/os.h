/* SPDX-License-Identifier: MIT */
/*
 * What differs between Linux and Windows: files, standard streams, terminals. Everything else in
 * src/base, src/isa, src/module, src/correlate and what reports on modules is plain C.
 * Paths and arguments are UTF-8 on both. Errors are -errno.
 */
#ifndef ZS_BASE_OS_H
#define ZS_BASE_OS_H

#include "base/compiler.h"

#include <sys/types.h>

enum zs_path_kind {
    ZS_PATH_FILE,   /* regular */
    ZS_PATH_FOLDER, /* read with openat, not as a file */
    ZS_PATH_DEVICE, /* of characters: a terminal, /dev/zero, NUL */
    ZS_PATH_OTHER,  /* pipe, socket, disk */
};

struct zs_path_info {
    enum zs_path_kind kind;
    uint64_t size_B;
    int64_t mtime_s;
    uint32_t mtime_ns; /* of that second */
};

/* What path (links followed) or an open file is. */
int zs_os_path_info(const char *path, struct zs_path_info *ret_info);
int zs_os_file_info(int fd, struct zs_path_info *ret_info);

/* Descriptors that programs started from here do not get, and bytes as they are. */
int zs_os_open_read(const char *path);
/* An entry of an open folder: no link, nothing that blocks. */
int zs_os_open_read_at(int dir_fd, const char *name);
/* What is there already and is no regular file. */
int zs_os_open_device(const char *path);
/* A new file; `name` ends in "XXXXXX", which is replaced. Permissions as for any new file. */
int zs_os_open_temp(char *name);
/* Where a path leads to when links are followed, to be freed; NULL: nowhere. */
char *zs_os_real_path(const char *path);
/* Over what is there. */
int zs_os_rename(const char *from, const char *to);
int zs_os_unlink(const char *path);

/* Bytes read or written, or -errno; -EPIPE when nobody reads the other end. */
ssize_t zs_os_read(int fd, void *data, size_t size_B);
ssize_t zs_os_write(int fd, const void *data, size_t size_B);

/* Whether paths here have drives and backslashes. */
bool zs_os_has_drives(void);

/* Whether a file may become so large. Beyond a limit of the process the kernel sends SIGXFSZ to who
 * makes it larger, which ends it. */
bool zs_os_may_grow_to(uint64_t size_B);

/* Memory that is about to be filled from end to end: in large pages, where the system has them. */
void zs_os_expect_fill(void *data, size_t size_B);

/* A number that nobody outside foresees; false: the system has none yet. */
bool zs_os_random(uint64_t *ret_value);

/* The beginning of main: arguments as UTF-8, streams that carry bytes as they are and tell of a
 * reader that has gone by an error. */
void zs_os_start(int *argc, char ***argv);
/* Whether fd is a terminal that obeys escape sequences. */
bool zs_os_is_terminal(int fd);
/* Columns of the terminal on fd; 0: none, or it does not say. */
unsigned zs_os_columns(int fd);

/* Until the end numbers that this thread writes and reads have a point, whatever locale the program
 * has set. */
struct zs_os_numbers {
    void *plain, *before;
};
struct zs_os_numbers zs_os_numbers_begin(void);
void zs_os_numbers_end(struct zs_os_numbers numbers);

#endif
