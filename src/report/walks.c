/* SPDX-License-Identifier: MIT */
#include "report/walks.h"

#include "base/file.h"
#include "base/filter.h"
#include "base/reader.h"
#include "module/module.h"
#include "record/builds.h"
#include "record/counts.h"

#include <zescope/module.h>

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CODE_MOST_B = 16 << 20 };

struct naming {
    const char *path;
    const struct zs_recording *recording;
    const struct zs_filter *wanted;
    const struct zs_record_module *records;
    struct zs_module **modules; /* NULL: not opened yet, or it cannot be */
    bool *tried;
    uint32_t module_count;
};

/* A file, checked. */
struct walk {
    uint32_t pid, rows, ordinal, number;
    uint64_t first_ns;
    struct zs_span all, code;
};

static int parse(struct zs_span span, struct walk *w)
{
    struct zs_diag diag = {0};
    struct zs_reader r = zs_reader_make(span, 0, &diag);
    struct zs_span magic = zs_read_bytes(&r, 8, "magic");
    w->all = span;
    w->pid = zs_read_u32(&r, "pid");
    w->rows = zs_read_u32(&r, "rows");
    uint64_t code_B = zs_read_u64(&r, "bytes of code");
    zs_read_u64(&r, "launches");
    w->first_ns = zs_read_u64(&r, "first launch");
    zs_read_bytes(&r, 8, "no name");
    w->number = zs_read_u32(&r, "number");
    zs_read_bytes(&r, 252 - 52, "no name");
    w->ordinal = zs_read_u32(&r, "process") - 1;
    uint64_t left_B = zs_reader_left(&r);
    if (r.error || memcmp(magic.data, ZS_WALKS_MAGIC, 8) != 0 || w->rows > ZS_COUNTS_ROWS_MAX ||
        !code_B || code_B > left_B || left_B - code_B != (uint64_t)w->rows * ZS_COUNTS_ROW_B)
        return -EINVAL;
    w->code = (struct zs_span){span.data + span.size_B - code_B, code_B};
    return 0;
}

/* ---- whose code it is ---- */

static struct zs_module *module_of(struct naming *n, uint32_t index)
{
    struct zs_span binary = {0};
    if (!n->tried[index] &&
        !zs_recording_blob_read(n->recording, &n->records[index].binary, &binary, NULL) &&
        zs_module_open_memory(binary, NULL, &n->modules[index], NULL))
        n->modules[index] = NULL;
    n->tried[index] = true;
    zs_recording_blob_free(&binary);
    return n->modules[index];
}

/* The build of the process that has it, the last one. */
static const struct zs_kernel *find(struct naming *n, const struct walk *w, uint32_t *ret_build,
                                    uint64_t *ret_skip_B)
{
    uint32_t count;
    const struct zs_record_build *builds = zs_recording_builds(n->recording, &count);
    for (uint32_t i = count; i-- > 0;) {
        const struct zs_record_build *b = &builds[i];
        if (b->module >= n->module_count ||
            zs_recording_find_build(n->recording, (uint64_t)w->ordinal << 32 | w->pid, b->id,
                                    w->first_ns) != b)
            continue;
        const struct zs_module *module = module_of(n, b->module);
        const struct zs_kernel *kernel =
            module ? zs_module_find_code(module, w->code, ret_skip_B) : NULL;
        *ret_build = b->id;
        if (kernel)
            return kernel;
    }
    return NULL;
}

/* ---- files ---- */

static int write_named(const char *path, const struct walk *w, const struct zs_kernel *kernel,
                       uint32_t build, uint64_t skip_B)
{
    size_t size_B = w->all.size_B - w->code.size_B;
    uint8_t *file = malloc(size_B);
    if (!file)
        return -ENOMEM;
    memcpy(file, w->all.data, size_B);
    uint32_t name_B = (uint32_t)strnlen(kernel->name, ZS_COUNTS_NAME_MAX_B);
    memcpy(file, ZS_RECORD_COUNTS_MAGIC, 8);
    memset(file + 16, 0, 8);
    memcpy(file + 16, &w->number, sizeof(w->number));
    memset(file + 48, 0, sizeof(w->number));
    memcpy(file + 44, &name_B, sizeof(name_B));
    memcpy(file + 48, kernel->name, name_B);
    memcpy(file + 248, &build, sizeof(build));
    for (uint32_t i = 0; i < w->rows; i++) {
        uint8_t *row = file + ZS_COUNTS_HEADER_B + (size_t)i * ZS_COUNTS_ROW_B;
        uint64_t offset_B = zs_load_u64(row) + skip_B;
        memcpy(row, &offset_B, sizeof(offset_B));
    }
    int error = zs_file_write(path, (struct zs_span){file, size_B}, NULL);
    free(file);
    return error;
}

/* -ENOENT: nobody's code, or no such file. */
static int name_one(struct naming *n, int dir_fd, const char *name)
{
    char path[4096];
    struct zs_file file;
    struct walk w;
    uint32_t build = 0;
    uint64_t skip_B = 0;
    const uint64_t limit_B =
        ZS_COUNTS_HEADER_B + (uint64_t)ZS_COUNTS_ROWS_MAX * ZS_COUNTS_ROW_B + CODE_MOST_B;
    int stem = (int)(strlen(name) - strlen(ZS_WALKS_SUFFIX));
    int length = snprintf(path, sizeof(path), "%s/" ZS_RECORD_COUNTS_DIR "/%.*s.counts", n->path,
                          stem, name);
    if (length < 0 || (size_t)length >= sizeof(path))
        return -ENAMETOOLONG;
    int error = zs_file_read_at(dir_fd, name, limit_B, &file, NULL);
    if (error)
        return error;
    error = parse(file.span, &w);
    const struct zs_kernel *kernel = error ? NULL : find(n, &w, &build, &skip_B);
    bool is_wanted = kernel && (!n->wanted || zs_filter_matches(n->wanted, kernel->name));
    if (!error && (is_wanted || !kernel))
        error = kernel ? write_named(path, &w, kernel, build, skip_B) : -ENOENT;
    zs_file_close(&file);
    return error;
}

static bool is_walk(const char *name)
{
    size_t length = strlen(name), suffix = strlen(ZS_WALKS_SUFFIX);
    return length > suffix && length < 128 && !strcmp(name + length - suffix, ZS_WALKS_SUFFIX);
}

static void name_all(struct naming *n, int dir_fd, size_t *ret_others)
{
    DIR *dir = fdopendir(dup(dir_fd));
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        if (!is_walk(entry->d_name))
            continue;
        *ret_others += name_one(n, dir_fd, entry->d_name) != 0;
        unlinkat(dir_fd, entry->d_name, 0);
    }
    if (dir)
        closedir(dir);
}

int zs_walks_name(const char *recording_path, const struct zs_recording *recording,
                  const struct zs_filter *wanted, size_t *ret_others, struct zs_diag *diag)
{
    struct naming n = {.path = recording_path, .recording = recording, .wanted = wanted};
    *ret_others = 0;
    int fd = zs_counts_open_folder(recording_path, ZS_RECORD_COUNTS_DIR, diag);
    if (fd < 0)
        return fd == -ENOENT ? 0 : fd;
    n.records = zs_recording_modules(recording, &n.module_count);
    n.modules = calloc(n.module_count + 1ull, sizeof(struct zs_module *));
    n.tried = calloc(n.module_count + 1ull, sizeof(*n.tried));
    bool has_memory = n.modules && n.tried;
    if (has_memory)
        name_all(&n, fd, ret_others);
    for (uint32_t i = 0; n.modules && i < n.module_count; i++)
        zs_module_close(n.modules[i]);
    free(n.modules);
    free(n.tried);
    close(fd);
    return has_memory ? 0 : zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "no memory");
}
