/* SPDX-License-Identifier: MIT */
#include "record/traces.h"

#include "base/file.h"
#include "base/reader.h"
#include "base/vec.h"
#include "store/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail(struct zs_diag *diag, int error, const char *dir, const char *name)
{
    return zs_diag_set(diag, error, ZS_DIAG_NO_OFFSET, "cannot open %s%s%s: %s", dir,
                       *name ? "/" : "", name, strerror(-error));
}

static bool is_trace(const char *name)
{
    size_t length = strlen(name), suffix = strlen(".pftrace");
    return length > suffix && !strcmp(name + length - suffix, ".pftrace");
}

static int compare(const void *a, const void *b)
{
    return strcmp(((const struct zs_traces_file *)a)->name,
                  ((const struct zs_traces_file *)b)->name);
}

enum { DIR_FLAGS = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW };

/* What is not named as trace files are is a process of its own. */
static uint64_t process_of(const char *name, uint32_t first_ordinal)
{
    char *behind_pid, *behind = NULL;
    unsigned long pid = strtoul(name, &behind_pid, 10), ordinal = 0;
    if (behind_pid > name && *behind_pid == '-')
        ordinal = strtoul(behind_pid + 1, &behind, 10);
    bool known = behind && behind > behind_pid + 1 && *behind == '-' && pid <= UINT32_MAX &&
                 ordinal < UINT32_MAX - first_ordinal;
    uint64_t number = known ? ordinal + first_ordinal : UINT32_MAX;
    return number << 32 | (uint32_t)pid;
}

/* Adds the trace files of one folder, sorted; takes dir_fd. */
static int list(struct zs_traces *traces, int dir_fd, uint32_t part, uint32_t first_ordinal,
                struct zs_diag *diag)
{
    struct {
        struct zs_traces_file *items;
        size_t count, capacity;
    } files = {traces->files, traces->count, traces->count};
    DIR *dir = dir_fd >= 0 ? fdopendir(dir_fd) : NULL;
    if (!dir) {
        int error = -errno;
        if (dir_fd >= 0)
            close(dir_fd);
        return fail(diag, error, ZS_RECORD_TRACE_DIR, "");
    }
    int error = 0;
    for (struct dirent *entry; !error && (entry = readdir(dir));) {
        if (!is_trace(entry->d_name))
            continue;
        struct zs_traces_file file = {strdup(entry->d_name), part,
                                      process_of(entry->d_name, first_ordinal)};
        if (files.count == ZS_TRACE_FILES_MAX)
            error = zs_diag_set(diag, -E2BIG, ZS_DIAG_NO_OFFSET, "more than %d trace files",
                                ZS_TRACE_FILES_MAX);
        if (error || !file.name || !ZS_VEC_PUSH(&files, file)) {
            free(file.name);
            error = error ? error : -ENOMEM;
        }
    }
    closedir(dir);
    if (files.count > traces->count)
        qsort(files.items + traces->count, files.count - traces->count, sizeof(*files.items),
              compare);
    traces->files = files.items;
    traces->count = files.count;
    return error;
}

/* --- a folder of recordings --- */

static int compare_parts(const void *a, const void *b)
{
    return strverscmp(((const struct zs_traces_part *)a)->rank,
                      ((const struct zs_traces_part *)b)->rank);
}

static bool is_recording(int fd, const char *name, int flags)
{
    int dir_fd = openat(fd, name, flags);
    struct stat st;
    bool is = dir_fd >= 0 && !fstatat(dir_fd, ZS_RECORD_META, &st, AT_SYMLINK_NOFOLLOW) &&
              S_ISREG(st.st_mode);
    if (dir_fd >= 0)
        close(dir_fd);
    return is;
}

/* folder: what traces->dir_fd is of, for the sentence; flags: recordings are opened with. */
static int list_parts(struct zs_traces *traces, const char *folder, int flags, struct zs_diag *diag)
{
    struct {
        struct zs_traces_part *items;
        size_t count, capacity;
    } parts = {0};
    int fd = openat(traces->dir_fd, ".", DIR_FLAGS);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    int error = dir ? 0 : fail(diag, -errno, folder, "");
    if (!dir && fd >= 0)
        close(fd);
    for (struct dirent *entry; dir && !error && (entry = readdir(dir));) {
        if (entry->d_name[0] == '.' || !is_recording(traces->dir_fd, entry->d_name, flags))
            continue;
        struct zs_traces_part part = {.rank = strdup(entry->d_name)};
        if (parts.count == ZS_TRACE_PARTS_MAX)
            error = zs_diag_set(diag, -E2BIG, ZS_DIAG_NO_OFFSET, "more than %d recordings in %s",
                                ZS_TRACE_PARTS_MAX, folder);
        else if (!part.rank || !ZS_VEC_PUSH(&parts, part))
            error = fail(diag, -ENOMEM, folder, "");
        if (error)
            free(part.rank);
    }
    if (dir)
        closedir(dir);
    if (parts.count)
        qsort(parts.items, parts.count, sizeof(*parts.items), compare_parts);
    traces->parts = parts.items;
    traces->part_count = parts.count;
    return error;
}

/* The folder "trace" of file's recording, to be closed. */
static int trace_dir(const struct zs_traces *traces, uint32_t part)
{
    if (!traces->part_count)
        return openat(traces->dir_fd, ".", DIR_FLAGS);
    int recording = openat(traces->dir_fd, traces->parts[part].rank, DIR_FLAGS);
    int fd = recording >= 0 ? openat(recording, ZS_RECORD_TRACE_DIR, DIR_FLAGS) : -1;
    int error = errno;
    if (recording >= 0)
        close(recording);
    errno = error;
    return fd;
}

static int list_all(struct zs_traces *traces, struct zs_diag *diag)
{
    uint64_t ordinal = 0;
    int error = 0;
    for (uint32_t part = 0; part < traces->part_count && !error; part++) {
        size_t first = traces->count;
        int fd = trace_dir(traces, part);
        traces->parts[part].first_ordinal = (uint32_t)ZS_MIN(ordinal, (uint64_t)UINT32_MAX);
        if (fd < 0 && errno == ENOENT)
            continue; /* it holds modules only */
        error = list(traces, fd, part, traces->parts[part].first_ordinal, diag);
        for (size_t i = first; i < traces->count; i++)
            ordinal = ZS_MAX(ordinal, (traces->files[i].process >> 32) + 1);
    }
    return error;
}

const char *zs_traces_rank(const struct zs_traces *traces, size_t i)
{
    return traces->part_count ? traces->parts[traces->files[i].part].rank : NULL;
}

int zs_traces_read_drops(int dir_fd, struct zs_record_drops *ret_drops)
{
    struct zs_file file;
    *ret_drops = (struct zs_record_drops){0};
    int error = zs_file_read_at(dir_fd, ZS_RECORD_COUNTERS, ZS_COUNTERS_SIZE_B, &file, NULL);
    if (error)
        return error;
    struct zs_reader reader = zs_reader_make(file.span, 0, NULL);
    struct zs_span magic = zs_read_bytes(&reader, 8, "magic");
    ret_drops->modules = zs_read_u64(&reader, "modules");
    ret_drops->notes = zs_read_u64(&reader, "notes");
    ret_drops->last_errno = (int32_t)zs_read_u32(&reader, "errno");
    zs_read_u32(&reader, "unused");
    ret_drops->packets = zs_read_u64(&reader, "packets");
    bool sound = !reader.error && !memcmp(magic.data, "zscount1", 8);
    zs_file_close(&file);
    if (!sound)
        *ret_drops = (struct zs_record_drops){0};
    return sound ? 0 : -EBADMSG;
}

uint64_t zs_traces_lost(const char *recording)
{
    struct zs_record_drops drops = {0};
    struct zs_traces traces = {.dir_fd = open(recording, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (traces.dir_fd < 0)
        return 0;
    zs_traces_read_drops(traces.dir_fd, &drops);
    uint64_t lost = drops.packets;
    if (faccessat(traces.dir_fd, ZS_RECORD_META, F_OK, 0))
        list_parts(&traces, recording, DIR_FLAGS, NULL);
    for (size_t i = 0; i < traces.part_count; i++) {
        int fd = openat(traces.dir_fd, traces.parts[i].rank, DIR_FLAGS);
        if (fd < 0)
            continue;
        zs_traces_read_drops(fd, &drops);
        lost += drops.packets;
        close(fd);
    }
    zs_traces_close(&traces);
    return lost;
}

int zs_traces_open(const char *recording, struct zs_traces *ret_traces, struct zs_diag *diag)
{
    *ret_traces = (struct zs_traces){.dir_fd = -1};
    int fd = open(recording, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return zs_diag_set(diag, -errno, ZS_DIAG_NO_OFFSET, "cannot open the recording: %s",
                           strerror(errno));
    int trace_fd = openat(fd, ZS_RECORD_TRACE_DIR, DIR_FLAGS);
    int error = trace_fd < 0 ? -errno : 0;
    bool has_meta = !faccessat(fd, ZS_RECORD_META, F_OK, 0);
    ret_traces->dir_fd = trace_fd;
    if (error == -ENOENT && !has_meta) {
        ret_traces->dir_fd = fd;
        error = list_parts(ret_traces, recording, DIR_FLAGS, diag);
        if (!error && !ret_traces->part_count)
            error = zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                                "it is not a recording of zescope: it has no " ZS_RECORD_META
                                ", nor have folders in it");
        if (!error)
            error = list_all(ret_traces, diag);
    } else {
        close(fd);
        if (error == -ENOENT)
            return 0;
        error = error ? fail(diag, error, ZS_RECORD_TRACE_DIR, "")
                      : list(ret_traces, openat(trace_fd, ".", DIR_FLAGS), 0, 0, diag);
    }
    if (error)
        zs_traces_close(ret_traces);
    return error;
}

int zs_traces_open_parts(const char *folder, struct zs_traces *ret_traces, struct zs_diag *diag)
{
    *ret_traces = (struct zs_traces){.dir_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    int error =
        ret_traces->dir_fd >= 0 ? list_parts(ret_traces, folder, DIR_FLAGS & ~O_NOFOLLOW, diag) : 0;
    if (error)
        zs_traces_close(ret_traces);
    return error;
}

void zs_traces_close(struct zs_traces *traces)
{
    for (size_t i = 0; i < traces->count; i++)
        free(traces->files[i].name);
    for (size_t i = 0; i < traces->part_count; i++)
        free(traces->parts[i].rank);
    free(traces->files);
    free(traces->parts);
    if (traces->dir_fd >= 0)
        close(traces->dir_fd);
    *traces = (struct zs_traces){.dir_fd = -1};
}

static int open_in(const struct zs_traces *traces, uint32_t part, const char *name, int flags)
{
    int dir_fd = trace_dir(traces, part);
    int fd = dir_fd >= 0 ? openat(dir_fd, name,
                                  flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0666)
                         : -1;
    int error = -errno;
    if (dir_fd >= 0)
        close(dir_fd);
    return fd >= 0 ? fd : error;
}

int zs_traces_open_file(const struct zs_traces *traces, size_t i, struct zs_diag *diag)
{
    const struct zs_traces_file *file = &traces->files[i];
    int fd = open_in(traces, file->part, file->name, O_RDONLY);
    struct stat st;
    int error = fd < 0 ? fd : fstat(fd, &st) ? -errno : !S_ISREG(st.st_mode) ? -EINVAL : 0;
    if (!error)
        return fd;
    if (fd >= 0)
        close(fd);
    return fail(diag, error, ZS_RECORD_TRACE_DIR, file->name);
}

int zs_traces_open_beside(const struct zs_traces *traces, size_t i, const char *ending, int flags)
{
    const struct zs_traces_file *file = &traces->files[i];
    uint32_t first = traces->part_count ? traces->parts[file->part].first_ordinal : 0;
    char name[64];
    snprintf(name, sizeof(name), "%u-%u.%.20s", (unsigned)(uint32_t)file->process,
             (unsigned)((file->process >> 32) - first), ending);
    return open_in(traces, file->part, name, flags);
}
