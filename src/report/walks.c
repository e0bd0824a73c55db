/* SPDX-License-Identifier: MIT */
#include "report/walks.h"

#include "base/file.h"
#include "base/filter.h"
#include "base/reader.h"
#include "base/vec.h"
#include "module/module.h"
#include "record/builds.h"
#include "record/counts.h"
#include "record/merge.h"

#include <zescope/module.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
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
    bool knows_runs;
    struct {
        struct ran *items;
        size_t count, capacity;
    } runs;
};

/* Executions of a kernel. */
struct ran {
    uint64_t process, build, launches, first_ns;
    char *kernel;
    bool is_taken; /* by a file */
};

/* A file, checked. */
struct walk {
    uint32_t pid, rows, ordinal, number;
    uint64_t first_ns, launches;
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
    w->launches = zs_read_u64(&r, "launches");
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

static uint64_t process_of(const struct walk *w)
{
    return (uint64_t)w->ordinal << 32 | w->pid;
}

static struct ran *runs_of(struct naming *n, uint64_t process, uint64_t build, const char *kernel)
{
    for (size_t i = 0; i < n->runs.count; i++) {
        struct ran *r = &n->runs.items[i];
        if (r->process == process && r->build == build && !strcmp(r->kernel, kernel))
            return r;
    }
    return NULL;
}

static int on_execute(void *user, const struct zs_act_execute *e)
{
    struct naming *n = user;
    const struct zs_act_kernel *kernel = e->append ? e->append->kernel : NULL;
    if (!kernel)
        return 0;
    struct ran *r = runs_of(n, e->process, kernel->build, kernel->name);
    if (!r) {
        const struct ran fresh = {e->process, kernel->build,        0,
                                  UINT64_MAX, strdup(kernel->name), false};
        if (!fresh.kernel || !ZS_VEC_PUSH(&n->runs, fresh)) {
            free(fresh.kernel);
            return -ENOMEM;
        }
        r = &n->runs.items[n->runs.count - 1];
    }
    r->launches++;
    r->first_ns = ZS_MIN(r->first_ns, e->start_ns);
    return 0;
}

static void read_runs(struct naming *n)
{
    const struct zs_merge_sink sink = {.user = n, .execute = on_execute};
    struct zs_activities activities = {0};
    struct zs_merge_totals totals = {0};
    if (n->knows_runs)
        return;
    (void)!zs_merge(n->path, &sink, &activities, &totals, NULL);
    zs_activities_free(&activities);
    n->knows_runs = true;
}

/* Of kernels with the same code the one that was executed as often and is not taken: files come in
 * the order of their first launches. The first where none is. */
static const struct zs_kernel *choose(struct naming *n, const struct walk *w,
                                      const struct zs_module *module, uint32_t build,
                                      const struct zs_kernel *first, uint64_t *ret_skip_B)
{
    uint64_t skip_B = 0;
    struct ran *best = NULL;
    const struct zs_kernel *found = first;
    if (!zs_module_find_code(module, w->code, first, &skip_B))
        return first;
    read_runs(n);
    skip_B = *ret_skip_B;
    for (const struct zs_kernel *k = first; k;
         k = zs_module_find_code(module, w->code, k, &skip_B)) {
        struct ran *r = runs_of(n, process_of(w), build, k->name);
        if (!r || r->is_taken || r->launches != w->launches ||
            (best && best->first_ns <= r->first_ns))
            continue;
        best = r;
        found = k;
        *ret_skip_B = skip_B;
    }
    if (best)
        best->is_taken = true;
    return found;
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
            zs_recording_find_build(n->recording, process_of(w), b->id, w->first_ns) != b)
            continue;
        const struct zs_module *module = module_of(n, b->module);
        const struct zs_kernel *kernel =
            module ? zs_module_find_code(module, w->code, NULL, ret_skip_B) : NULL;
        *ret_build = b->id;
        if (kernel)
            return choose(n, w, module, b->id, kernel, ret_skip_B);
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

/* A file by when its first launch was. */
struct listed {
    uint64_t first_ns;
    char name[128];
};

static int by_first(const void *a, const void *b)
{
    const struct listed *x = a, *y = b;
    return x->first_ns < y->first_ns ? -1 : x->first_ns > y->first_ns;
}

static uint64_t first_of(int dir_fd, const char *name)
{
    uint8_t header[40] = {0};
    int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    bool is_read = fd >= 0 && read(fd, header, sizeof(header)) == (ssize_t)sizeof(header);
    if (fd >= 0)
        close(fd);
    return is_read ? zs_load_u64(header + 32) : 0;
}

static int name_all(struct naming *n, int dir_fd, size_t *ret_others)
{
    struct {
        struct listed *items;
        size_t count, capacity;
    } files = {0};
    DIR *dir = fdopendir(dup(dir_fd));
    bool has_memory = true;
    for (struct dirent *entry; dir && has_memory && (entry = readdir(dir));) {
        struct listed file = {0};
        if (!is_walk(entry->d_name))
            continue;
        file.first_ns = first_of(dir_fd, entry->d_name);
        memcpy(file.name, entry->d_name, strlen(entry->d_name) + 1);
        has_memory = ZS_VEC_PUSH(&files, file);
    }
    if (dir)
        closedir(dir);
    if (files.count)
        qsort(files.items, files.count, sizeof(*files.items), by_first);
    for (size_t i = 0; i < files.count; i++) {
        *ret_others += name_one(n, dir_fd, files.items[i].name) != 0;
        unlinkat(dir_fd, files.items[i].name, 0);
    }
    free(files.items);
    return has_memory ? 0 : -ENOMEM;
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
        has_memory = !name_all(&n, fd, ret_others);
    for (uint32_t i = 0; n.modules && i < n.module_count; i++)
        zs_module_close(n.modules[i]);
    for (size_t i = 0; i < n.runs.count; i++)
        free(n.runs.items[i].kernel);
    free(n.runs.items);
    free(n.modules);
    free(n.tried);
    close(fd);
    return has_memory ? 0 : zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "no memory");
}
