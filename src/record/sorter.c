/* SPDX-License-Identifier: MIT */
#include "record/sorter.h"
#include "base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    HEAD_B = 8, /* before each record: its size */
    MEMORY_B = 2 << 20,
    BUFFER_B = 64 << 10,
    RUNS_AT_ONCE = 32, /* that are merged: each has a buffer */
};

/* What a record takes with its size in front. */
static size_t room_of(size_t size_B)
{
    return HEAD_B + ((size_B + 7) & ~(size_t)7);
}

static size_t size_at(const uint8_t *at)
{
    uint64_t size_B;
    memcpy(&size_B, at, sizeof(size_B));
    return (size_t)size_B;
}

void zs_sorter_init(struct zs_sorter *s, zs_sorter_compare *compare)
{
    *s = (struct zs_sorter){.compare = compare};
}

static void drop_memory(struct zs_sorter *s)
{
    free(s->bytes);
    free((void *)s->order.items);
    s->bytes = NULL;
    s->order.items = NULL;
    s->order.count = s->order.capacity = s->size_B = s->capacity_B = 0;
}

void zs_sorter_fini(struct zs_sorter *s)
{
    drop_memory(s);
    free(s->runs.items);
    if (s->fd)
        close(s->fd - 1);
    *s = (struct zs_sorter){0};
}

/* ---- the file ---- */

/* 0 or -errno. */
static int make_file(int *ret_fd)
{
    char path[4096];
    const char *folder = getenv("TMPDIR");
    int n = snprintf(path, sizeof(path), "%s/zescope-sort-XXXXXX",
                     folder && folder[0] ? folder : "/tmp");
    int fd = n > 0 && (size_t)n < sizeof(path) ? mkostemp(path, O_CLOEXEC) : -1;
    if (fd < 0)
        return errno ? -errno : -ENAMETOOLONG;
    unlink(path);
    *ret_fd = fd + 1;
    return 0;
}

static int write_at(int fd, const uint8_t *data, size_t size_B, uint64_t *at_B)
{
    while (size_B) {
        ssize_t n = pwrite(fd, data, size_B, (off_t)*at_B);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n ? -errno : -EIO;
        data += n;
        size_B -= (size_t)n;
        *at_B += (uint64_t)n;
    }
    return 0;
}

/* Records on their way to a file, gathered. */
struct out {
    int fd; /* + 1 */
    uint64_t at_B;
    uint8_t *buffer; /* [BUFFER_B] */
    size_t size_B;
};

static int out_flush(struct out *o)
{
    int error = write_at(o->fd - 1, o->buffer, o->size_B, &o->at_B);
    o->size_B = 0;
    return error;
}

/* A record with its size in front. */
static int out_put(struct out *o, const uint8_t *record)
{
    size_t room_B = room_of(size_at(record));
    int error = o->size_B + room_B > BUFFER_B ? out_flush(o) : 0;
    if (error || room_B > BUFFER_B)
        return error ? error : write_at(o->fd - 1, record, room_B, &o->at_B);
    memcpy(o->buffer + o->size_B, record, room_B);
    o->size_B += room_B;
    return 0;
}

/* ---- sorting ---- */

/* Merge sort of pointers: stable, and with a comparison of the sorter's own. */
static void sort(const struct zs_sorter *s, const uint8_t **items, const uint8_t **scratch,
                 size_t count)
{
    size_t half = count / 2;
    if (count < 2)
        return;
    sort(s, items, scratch, half);
    sort(s, items + half, scratch, count - half);
    if (s->compare(items[half - 1] + HEAD_B, items[half] + HEAD_B) <= 0)
        return;
    memcpy((void *)scratch, items, half * sizeof(*items));
    for (size_t i = 0, k = half, to = 0; i < half; to++) {
        bool second = k < count && s->compare(items[k] + HEAD_B, scratch[i] + HEAD_B) < 0;
        items[to] = second ? items[k++] : scratch[i++];
    }
}

static int sort_memory(struct zs_sorter *s)
{
    size_t at_B = 0;
    s->order.count = 0;
    while (at_B < s->size_B) {
        if (!ZS_VEC_PUSH(&s->order, s->bytes + at_B))
            return -ENOMEM;
        at_B += room_of(size_at(s->bytes + at_B));
    }
    const uint8_t **scratch = calloc(s->order.count / 2 + 1, sizeof(*scratch));
    if (!scratch)
        return -ENOMEM;
    sort(s, s->order.items, scratch, s->order.count);
    free((void *)scratch);
    return 0;
}

/* What is in memory becomes a sorted stretch of the file. */
static int spill(struct zs_sorter *s)
{
    struct out out = {.fd = s->fd, .at_B = s->file_B, .buffer = malloc(BUFFER_B)};
    struct zs_sorter_run run = {.at_B = s->file_B};
    int error = out.buffer ? sort_memory(s) : -ENOMEM;
    if (!error && !s->fd)
        error = make_file(&s->fd);
    out.fd = s->fd;
    for (size_t i = 0; i < s->order.count && !error; i++)
        error = out_put(&out, s->order.items[i]);
    error = error ? error : out_flush(&out);
    run.end_B = s->file_B = out.at_B;
    free(out.buffer);
    s->size_B = 0;
    return error ? error : ZS_VEC_PUSH(&s->runs, run) ? 0 : -ENOMEM;
}

int zs_sorter_add(struct zs_sorter *s, const void *head, size_t head_B, const void *tail,
                  size_t tail_B)
{
    const uint64_t size_B = head_B + tail_B;
    size_t room_B = room_of(size_B);
    int error = s->size_B && s->size_B + room_B > MEMORY_B ? spill(s) : 0;
    if (error)
        return error;
    if (s->capacity_B - s->size_B < room_B &&
        !zs_vec_grow((void **)&s->bytes, &s->capacity_B, s->size_B, room_B, 1))
        return -ENOMEM;
    uint8_t *at = s->bytes + s->size_B;
    memset(at + room_B - 8, 0, 8);
    memcpy(at, &size_B, sizeof(size_B));
    memcpy(at + HEAD_B, head, head_B);
    if (tail_B)
        memcpy(at + HEAD_B + head_B, tail, tail_B);
    s->size_B += room_B;
    s->count++;
    return 0;
}

/* ---- reading ---- */

static void start_run(const struct zs_sorter *s, struct zs_sorter_run run,
                      struct zs_sorter_cursor *c)
{
    *c = (struct zs_sorter_cursor){.sorter = s, .run = run};
}

/* At least size_B behind at_B, where the stretch has so much. */
static int fill(struct zs_sorter_cursor *c, size_t size_B)
{
    size_t want_B = ZS_MAX(size_B, (size_t)BUFFER_B);
    size_t kept_B = c->left_B - c->at_B;
    if (c->buffer && kept_B)
        memmove(c->buffer, c->buffer + c->at_B, kept_B);
    if (want_B > c->buffer_B) {
        uint8_t *wider = realloc(c->buffer, want_B);
        if (!wider)
            return -ENOMEM;
        c->buffer = wider;
        c->buffer_B = want_B;
    }
    c->at_B = 0;
    c->left_B = kept_B;
    while (c->left_B < c->buffer_B && c->run.at_B < c->run.end_B) {
        uint64_t most_B = ZS_MIN(c->run.end_B - c->run.at_B, (uint64_t)(c->buffer_B - c->left_B));
        ssize_t n =
            pread(c->sorter->fd - 1, c->buffer + c->left_B, (size_t)most_B, (off_t)c->run.at_B);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n ? -errno : -EIO;
        c->left_B += (size_t)n;
        c->run.at_B += (uint64_t)n;
    }
    return 0;
}

/* With its size in front; NULL at the end. */
static const uint8_t *next_of_file(struct zs_sorter_cursor *c)
{
    if (c->left_B - c->at_B < HEAD_B && c->run.at_B < c->run.end_B)
        c->error = fill(c, HEAD_B);
    if (c->error || c->left_B - c->at_B < HEAD_B)
        return NULL;
    size_t room_B = room_of(size_at(c->buffer + c->at_B));
    if (c->left_B - c->at_B < room_B)
        c->error = fill(c, room_B);
    if (c->error)
        return NULL;
    const uint8_t *record = c->buffer + c->at_B;
    c->at_B += room_B;
    return record;
}

void zs_sorter_start(const struct zs_sorter *s, struct zs_sorter_cursor *ret)
{
    const struct zs_sorter_run none = {0};
    start_run(s, s->runs.count ? s->runs.items[0] : none, ret);
}

const void *zs_sorter_next(struct zs_sorter_cursor *c, size_t *ret_size_B)
{
    const struct zs_sorter *s = c->sorter;
    const uint8_t *record = s->fd                      ? next_of_file(c)
                            : c->next < s->order.count ? s->order.items[c->next++]
                                                       : NULL;
    if (record && ret_size_B)
        *ret_size_B = size_at(record);
    return record ? record + HEAD_B : NULL;
}

void zs_sorter_stop(struct zs_sorter_cursor *c)
{
    free(c->buffer);
    *c = (struct zs_sorter_cursor){0};
}

/* ---- merging ---- */

/* The stretches, some 30, become one of another file. Of equal records the earlier's comes first.
 */
static int merge(const struct zs_sorter *s, const struct zs_sorter_run *runs, size_t count,
                 struct out *out)
{
    struct zs_sorter_cursor cursors[RUNS_AT_ONCE];
    const uint8_t *heads[RUNS_AT_ONCE];
    int error = 0;
    for (size_t i = 0; i < count; i++) {
        start_run(s, runs[i], &cursors[i]);
        heads[i] = next_of_file(&cursors[i]);
        error = error ? error : cursors[i].error;
    }
    while (!error) {
        size_t least = count;
        for (size_t i = 0; i < count; i++)
            if (heads[i] &&
                (least == count || s->compare(heads[i] + HEAD_B, heads[least] + HEAD_B) < 0))
                least = i;
        if (least == count)
            break;
        error = out_put(out, heads[least]);
        heads[least] = next_of_file(&cursors[least]);
        error = error ? error : cursors[least].error;
    }
    for (size_t i = 0; i < count; i++)
        zs_sorter_stop(&cursors[i]);
    return error ? error : out_flush(out);
}

/* Every 30 stretches become one. */
static int merge_all(struct zs_sorter *s)
{
    struct out out = {.buffer = malloc(BUFFER_B)};
    size_t made = 0;
    int error = out.buffer ? make_file(&out.fd) : -ENOMEM;
    for (size_t i = 0; i < s->runs.count && !error; i += RUNS_AT_ONCE) {
        struct zs_sorter_run run = {.at_B = out.at_B};
        size_t count = ZS_MIN(s->runs.count - i, (size_t)RUNS_AT_ONCE);
        error = merge(s, s->runs.items + i, count, &out);
        run.end_B = out.at_B;
        s->runs.items[made++] = run;
    }
    free(out.buffer);
    s->runs.count = made;
    s->file_B = out.at_B;
    if (out.fd) {
        close(s->fd - 1);
        s->fd = out.fd;
    }
    return error;
}

int zs_sorter_finish(struct zs_sorter *s)
{
    if (!s->fd)
        return sort_memory(s);
    int error = s->size_B ? spill(s) : 0;
    drop_memory(s);
    while (s->runs.count > 1 && !error)
        error = merge_all(s);
    return error;
}
