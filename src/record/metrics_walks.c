/* SPDX-License-Identifier: MIT */
/*
 * Metrics from below Intel's driver (store/counts_file.h), which belong to kernels by their code:
 * the nth launch of a kernel by the device's clock is its nth execution. Of kernels with other
 * numbers of both nothing is kept.
 */
#include "record/metrics_priv.h"

#include "base/file.h"
#include "base/reader.h"
#include "base/vec.h"
#include "record/counts.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const uint64_t FILE_MAX_B = UINT64_C(1) << 30;

/* ---- orders ---- */

/* A kernel of a build of a process. */
struct key {
    uint64_t process, build;
    const char *kernel;
};

static int by_key(const struct key *a, const struct key *b)
{
    int order = metrics_compare(a->process, b->process);
    order = order ? order : metrics_compare(a->build, b->build);
    return order ? order : strcmp(a->kernel, b->kernel);
}

/* Values stand behind it. */
struct walked {
    struct key key;
    struct metrics_entry entry;
};

static int by_walk(const void *a, const void *b)
{
    const struct walked *x = a, *y = b;
    int order = by_key(&x->key, &y->key);
    order = order ? order : metrics_compare(x->entry.start_ns, y->entry.start_ns);
    return order ? order : metrics_compare(x->entry.group, y->entry.group);
}

struct ran {
    struct key key;
    uint64_t start_ns, submit_ns, append;
};

static int by_run(const void *a, const void *b)
{
    const struct ran *x = a, *y = b;
    int order = by_key(&x->key, &y->key);
    return order ? order : metrics_compare(x->start_ns, y->start_ns);
}

/* ---- reading ---- */

struct reading {
    struct metrics_load *load;
    struct zs_counts_list counts;
    struct zs_sorter walks, runs;
    uint64_t process; /* of the file */
};

static const struct zs_counts *counts_of(const struct reading *r, uint64_t number)
{
    for (size_t i = 0; i < r->counts.count; i++) {
        const struct zs_counts *c = &r->counts.items[i];
        if (c->module_handle == number && ((uint64_t)c->ordinal << 32 | c->pid) == r->process)
            return c;
    }
    return NULL;
}

/* Offsets from where threads begin become those from where the kernel does. */
static void move_places(const struct metrics_described *d, uint64_t skip_B, uint8_t *values,
                        size_t size_B)
{
    for (uint32_t m = 0; d && m < d->count; m++) {
        for (size_t at = m * 8ull; d->metrics[m].type == METRICS_IP && at + 8 <= size_B;
             at += d->count * 8ull) {
            uint64_t place = zs_load_u64(values + at) + skip_B;
            memcpy(values + at, &place, sizeof(place));
        }
    }
}

/* A launch of a kernel that nobody wants has no counts: it is left out. */
static int add_walk(struct reading *r, const struct metrics_entry *entry, struct zs_span values)
{
    struct metrics_load *l = r->load;
    const struct zs_counts *c = counts_of(r, entry->append);
    if (!c || !c->row_count)
        return 0;
    const struct walked w = {{r->process, c->build, c->kernel}, *entry};
    l->scratch.size_B = 0;
    zs_buf_append(&l->scratch, values.data, values.size_B);
    if (l->scratch.error)
        return l->scratch.error;
    move_places(zs_id_map_get(&l->described, r->process, entry->group),
                (uint64_t)c->rows[0].offset_B, l->scratch.data, values.size_B);
    return zs_sorter_add(&r->walks, &w, sizeof(w), l->scratch.data, values.size_B);
}

static int read_records(struct reading *r, struct zs_reader *reader)
{
    int error = 0;
    while (!error && zs_reader_left(reader) >= 4) {
        struct metrics_entry entry;
        struct zs_span values;
        uint32_t size_B = zs_read_u32(reader, "length");
        struct zs_span record = zs_read_bytes(reader, size_B, "record");
        if (reader->error)
            break; /* the process was killed within it */
        error = metrics_record(r->load, r->process, record, &entry, &values);
        if (error > 0)
            error = add_walk(r, &entry, values);
    }
    return error;
}

static int read_file(struct reading *r, int dir_fd, const char *name)
{
    struct zs_file file;
    if (zs_file_read_at(dir_fd, name, FILE_MAX_B, &file, NULL)) {
        r->load->m->info.damaged_files++;
        return 0;
    }
    struct zs_reader reader = zs_reader_make(file.span, 0, NULL);
    struct zs_span magic = zs_read_bytes(&reader, 8, "magic");
    uint32_t pid = zs_read_u32(&reader, "pid"), ordinal = zs_read_u32(&reader, "process") - 1;
    int error = 0;
    r->process = (uint64_t)ordinal << 32 | pid;
    if (reader.error || memcmp(magic.data, ZS_WALK_METRICS_MAGIC, 8) != 0)
        r->load->m->info.damaged_files++;
    else
        error = read_records(r, &reader);
    zs_file_close(&file);
    return error;
}

static bool is_measured(const char *name)
{
    size_t length = strlen(name), suffix = strlen(ZS_WALK_METRICS_SUFFIX);
    return length > suffix && length < 128 &&
           !strcmp(name + length - suffix, ZS_WALK_METRICS_SUFFIX);
}

static int read_folder(struct reading *r, const char *recording)
{
    int fd = zs_counts_open_folder(recording, ZS_RECORD_COUNTS_DIR, NULL), error = 0;
    size_t damaged;
    DIR *dir = fd < 0 ? NULL : fdopendir(dup(fd));
    for (struct dirent *entry; dir && !error && (entry = readdir(dir));) {
        if (!is_measured(entry->d_name))
            continue;
        if (!r->counts.count)
            error = zs_counts_load(recording, &r->counts, &damaged, NULL);
        error = error ? error : read_file(r, fd, entry->d_name);
    }
    if (dir)
        closedir(dir);
    if (fd >= 0)
        close(fd);
    return error;
}

/* ---- pairing ---- */

static int add_runs(struct reading *r)
{
    struct zs_sorter_cursor c;
    const struct zs_metric_launch *l;
    int error = zs_sorter_finish(&r->load->launches);
    zs_sorter_start(&r->load->launches, &c);
    while (!error && (l = zs_sorter_next(&c, NULL))) {
        const struct ran ran = {
            {l->process, l->build, l->kernel}, l->start_ns, l->submit_ns, l->append};
        error = zs_sorter_add(&r->runs, &ran, sizeof(ran), NULL, 0);
    }
    error = error ? error : c.error;
    zs_sorter_stop(&c);
    return error ? error : zs_sorter_finish(&r->runs);
}

/* Executions of a kernel from where the cursor stands, which is put behind them. */
struct stretch {
    struct key key;
    struct ran *items;
    size_t count, capacity;
};

static int take_runs(struct zs_sorter_cursor *c, const struct ran **next, const struct key *key,
                     struct stretch *ret)
{
    ret->count = 0;
    ret->key = *key;
    while (*next && by_key(&(*next)->key, key) < 0)
        *next = zs_sorter_next(c, NULL);
    for (; *next && by_key(&(*next)->key, key) == 0; *next = zs_sorter_next(c, NULL))
        if (!ZS_VEC_PUSH(ret, **next))
            return -ENOMEM;
    return 0;
}

/* How many launches of each kernel were measured, in the order of kernels. */
struct totals {
    uint64_t *items;
    size_t count, capacity;
};

static int count_walks(struct reading *r, struct totals *ret)
{
    struct zs_sorter_cursor c;
    const struct walked *w;
    struct walked last = {0};
    bool ok = true;
    zs_sorter_start(&r->walks, &c);
    while (ok && (w = zs_sorter_next(&c, NULL))) {
        bool same = ret->count && by_key(&w->key, &last.key) == 0;
        bool same_launch = same && w->entry.start_ns == last.entry.start_ns;
        ok = same || ZS_VEC_PUSH(ret, (uint64_t)0);
        if (ok && !same_launch)
            ret->items[ret->count - 1]++;
        last = *w;
    }
    int error = c.error;
    zs_sorter_stop(&c);
    return ok ? error : -ENOMEM;
}

static int pair(struct reading *r, const struct totals *totals)
{
    struct zs_sorter_cursor walks, runs;
    struct stretch stretch = {0};
    const struct walked *w;
    struct walked last = {0};
    size_t kernel = 0, nth = 0;
    int error = 0;
    zs_sorter_start(&r->walks, &walks);
    zs_sorter_start(&r->runs, &runs);
    const struct ran *next = zs_sorter_next(&runs, NULL);
    for (bool begun = false; !error && (w = zs_sorter_next(&walks, NULL)); begun = true) {
        bool same = begun && by_key(&w->key, &last.key) == 0;
        if (!same) {
            kernel += begun;
            nth = 0;
            error = take_runs(&runs, &next, &w->key, &stretch);
        } else {
            nth += w->entry.start_ns != last.entry.start_ns;
        }
        last = *w;
        if (error || totals->items[kernel] != stretch.count) {
            r->load->m->info.orphans++;
            continue;
        }
        struct metrics_entry entry = w->entry;
        entry.append = stretch.items[nth].append;
        entry.submit_ns = stretch.items[nth].submit_ns;
        entry.start_ns = 0;
        error = zs_sorter_add(&r->load->entries, &entry, sizeof(entry), w + 1, entry.values_B);
    }
    error = error ? error : walks.error ? walks.error : runs.error;
    zs_sorter_stop(&walks);
    zs_sorter_stop(&runs);
    free(stretch.items);
    return error;
}

int metrics_add_walks(struct metrics_load *l, const char *recording)
{
    struct reading r = {.load = l};
    struct totals totals = {0};
    zs_sorter_init(&r.walks, by_walk);
    zs_sorter_init(&r.runs, by_run);
    int error = read_folder(&r, recording);
    if (!error && r.walks.count) {
        error = zs_sorter_finish(&r.walks);
        error = error ? error : add_runs(&r);
        error = error ? error : count_walks(&r, &totals);
        error = error ? error : pair(&r, &totals);
    }
    free(totals.items);
    zs_sorter_fini(&r.walks);
    zs_sorter_fini(&r.runs);
    zs_counts_free(&r.counts);
    return error;
}
