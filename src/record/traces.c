/* SPDX-License-Identifier: MIT */
#include "record/traces.h"

#include "base/file.h"
#include "base/reader.h"
#include "base/vec.h"
#include "store/store.h"
#include "store/trace_writer.h"

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
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int list(struct zs_traces *traces, struct zs_diag *diag)
{
    struct {
        char **items;
        size_t count, capacity;
    } names = {0};
    int fd = openat(traces->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!dir) {
        int error = -errno;
        if (fd >= 0)
            close(fd);
        return fail(diag, error, ZS_RECORD_TRACE_DIR, "");
    }
    int error = 0;
    for (struct dirent *entry; !error && (entry = readdir(dir));) {
        char *name = is_trace(entry->d_name) ? strdup(entry->d_name) : NULL;
        if (!name)
            continue;
        if (names.count == ZS_TRACE_FILES_MAX)
            error = zs_diag_set(diag, -E2BIG, ZS_DIAG_NO_OFFSET, "more than %d trace files",
                                ZS_TRACE_FILES_MAX);
        if (error || !ZS_VEC_PUSH(&names, name)) {
            free(name);
            error = error ? error : -ENOMEM;
        }
    }
    closedir(dir);
    traces->names = names.items;
    traces->count = names.count;
    if (names.count)
        qsort(names.items, names.count, sizeof(*names.items), compare);
    return error;
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
    int fd = open(recording, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    zs_traces_read_drops(fd, &drops);
    close(fd);
    return drops.packets;
}

int zs_traces_open(const char *recording, struct zs_traces *ret_traces, struct zs_diag *diag)
{
    *ret_traces = (struct zs_traces){.dir_fd = -1};
    int fd = open(recording, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return zs_diag_set(diag, -errno, ZS_DIAG_NO_OFFSET, "cannot open the recording: %s",
                           strerror(errno));
    ret_traces->dir_fd =
        openat(fd, ZS_RECORD_TRACE_DIR, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    int error = ret_traces->dir_fd < 0 ? -errno : 0;
    bool no_recording = error == -ENOENT && faccessat(fd, ZS_RECORD_META, F_OK, 0) != 0;
    close(fd);
    if (no_recording)
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                           "it is not a recording of zescope: it has no " ZS_RECORD_META);
    if (error == -ENOENT)
        return 0;
    if (error)
        return fail(diag, error, ZS_RECORD_TRACE_DIR, "");
    error = list(ret_traces, diag);
    if (error)
        zs_traces_close(ret_traces);
    return error;
}

void zs_traces_close(struct zs_traces *traces)
{
    for (size_t i = 0; i < traces->count; i++)
        free(traces->names[i]);
    free(traces->names);
    if (traces->dir_fd >= 0)
        close(traces->dir_fd);
    *traces = (struct zs_traces){.dir_fd = -1};
}

int zs_traces_open_file(const struct zs_traces *traces, size_t i, struct zs_diag *diag)
{
    int fd = openat(traces->dir_fd, traces->names[i],
                    O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    struct stat st;
    int error = fd < 0 ? -errno : fstat(fd, &st) ? -errno : !S_ISREG(st.st_mode) ? -EINVAL : 0;
    if (!error)
        return fd;
    if (fd >= 0)
        close(fd);
    return fail(diag, error, ZS_RECORD_TRACE_DIR, traces->names[i]);
}

void zs_traces_trim(const char *recording)
{
    struct zs_traces traces;
    if (zs_traces_open(recording, &traces, NULL))
        return;
    for (size_t i = 0; i < traces.count; i++)
        zs_trace_file_trim(traces.dir_fd, traces.names[i]);
    zs_traces_close(&traces);
}
