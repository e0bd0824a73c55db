/* SPDX-License-Identifier: MIT */
#include "record/counts.h"

#include "base/file.h"
#include "base/reader.h"
#include "base/vec.h"
#include "record/builds.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int parse(struct zs_span span, struct zs_counts *c, struct zs_diag *diag)
{
    struct zs_reader r = zs_reader_make(span, 0, diag);
    struct zs_span magic = zs_read_bytes(&r, 8, "magic");
    if (!r.error && memcmp(magic.data, ZS_RECORD_COUNTS_MAGIC, 8) != 0)
        return zs_reader_fail(&r, -EINVAL, "no file of execution counts");
    c->pid = zs_read_u32(&r, "pid");
    c->row_count = zs_read_u32(&r, "rows");
    c->module_handle = zs_read_u64(&r, "module");
    c->launches = zs_read_u64(&r, "launches");
    c->first_ns = zs_read_u64(&r, "first launch");
    c->simd = zs_read_u32(&r, "SIMD width");
    uint32_t name_B = zs_read_u32(&r, "length of the name");
    struct zs_span name = zs_read_bytes(&r, ZS_COUNTS_NAME_MAX_B, "name");
    if (!r.error && (name_B > ZS_COUNTS_NAME_MAX_B || c->row_count > ZS_COUNTS_ROWS_MAX ||
                     c->row_count > zs_reader_left(&r) / ZS_COUNTS_ROW_B))
        return zs_reader_fail(&r, -EINVAL, "%u rows do not fit", c->row_count);
    c->build = zs_read_u32(&r, "build");
    c->ordinal = zs_read_u32(&r, "process") - 1; /* 0 becomes ZS_RECORD_NONE */
    if (r.error)
        return r.error;
    c->kernel = strndup((const char *)name.data, name_B);
    c->rows = calloc(c->row_count + 1, sizeof(*c->rows));
    if (!c->kernel || !c->rows)
        return -ENOMEM;
    uint32_t stored = c->row_count;
    c->row_count = 0;
    for (uint32_t i = 0; i < stored; i++) {
        struct zs_counts_row *row = &c->rows[c->row_count];
        row->offset_B = (int64_t)zs_read_u64(&r, "offset");
        row->executions = zs_read_u64(&r, "executions");
        row->active_lanes = zs_read_u64(&r, "lanes");
        row->bytes_read = zs_read_u64(&r, "bytes read");
        row->bytes_written = zs_read_u64(&r, "bytes written");
        bool known = row->executions != ZS_COUNTS_NOT_KNOWN;
        c->row_count += known;
        c->is_partial |= !known;
    }
    return r.error;
}

static void counts_free(struct zs_counts *c)
{
    free(c->kernel);
    free(c->rows);
}

static bool is_counts(const char *name)
{
    size_t length = strlen(name), suffix = strlen(".counts");
    return length > suffix && length < 128 && !strcmp(name + length - suffix, ".counts");
}

static int load_file(int dir_fd, const char *name, struct zs_counts_list *list, size_t *ret_damaged)
{
    struct zs_file file;
    struct zs_counts counts = {0};
    const uint64_t limit_B = ZS_COUNTS_HEADER_B + (uint64_t)ZS_COUNTS_ROWS_MAX * ZS_COUNTS_ROW_B;
    int error = zs_file_read_at(dir_fd, name, limit_B, &file, NULL);
    if (!error) {
        error = parse(file.span, &counts, NULL);
        zs_file_close(&file);
    }
    if (!error && ZS_VEC_PUSH(list, counts))
        return 0;
    counts_free(&counts);
    ++*ret_damaged;
    return 0;
}

int zs_counts_open_folder(const char *recording, const char *name, struct zs_diag *diag)
{
    char path[4096];
    int n = snprintf(path, sizeof(path), "%s/%s", recording, name);
    if (n < 0 || (size_t)n >= sizeof(path))
        return zs_diag_set(diag, -ENAMETOOLONG, ZS_DIAG_NO_OFFSET, "path too long");
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0 || errno == ENOENT)
        return fd >= 0 ? fd : -ENOENT;
    return zs_diag_set(diag, -errno, ZS_DIAG_NO_OFFSET, "cannot open %s: %s", path,
                       strerror(errno));
}

int zs_counts_load(const char *recording, struct zs_counts_list *ret_list, size_t *ret_damaged,
                   struct zs_diag *diag)
{
    *ret_list = (struct zs_counts_list){0};
    *ret_damaged = 0;
    int fd = zs_counts_open_folder(recording, ZS_RECORD_COUNTS_DIR, diag);
    if (fd < 0)
        return fd == -ENOENT ? 0 : fd;
    DIR *dir = fdopendir(dup(fd));
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        if (is_counts(entry->d_name) && ret_list->count < ZS_COUNTS_FILES_MAX)
            load_file(fd, entry->d_name, ret_list, ret_damaged);
    if (dir)
        closedir(dir);
    close(fd);
    return 0;
}

void zs_counts_free(struct zs_counts_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        counts_free(&list->items[i]);
    free(list->items);
    *list = (struct zs_counts_list){0};
}

uint32_t zs_counts_module(const struct zs_recording *recording, const struct zs_counts *counts)
{
    uint32_t build_count, process_count, module = ZS_RECORD_NONE;
    const struct zs_record_build *builds = zs_recording_builds(recording, &build_count);
    const struct zs_record_process *processes = zs_recording_processes(recording, &process_count);
    const struct zs_record_build *named = zs_recording_find_build(
        recording, (uint64_t)counts->ordinal << 32 | counts->pid, counts->build, counts->first_ns);
    uint64_t best_ns = 0;
    if (named)
        return named->module;
    for (uint32_t i = 0; i < build_count; i++) {
        const struct zs_record_build *b = &builds[i];
        if (b->handle != counts->module_handle || b->process >= process_count ||
            processes[b->process].pid != counts->pid || b->start_ns > counts->first_ns ||
            b->module == ZS_RECORD_NONE || b->start_ns < best_ns)
            continue;
        best_ns = b->start_ns;
        module = b->module;
    }
    return module;
}
