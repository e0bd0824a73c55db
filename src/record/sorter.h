/* SPDX-License-Identifier: MIT */
/*
 * Records of any size in an order of their own, in memory that does not grow with them: beyond two
 * megabytes they go, sorted, to an unnamed file in $TMPDIR (or /tmp), and are merged in the end.
 *
 *     zs_sorter_init(&sorter, by_time);
 *     error = zs_sorter_add(&sorter, &head, sizeof(head), tail, tail_B);
 *     error = zs_sorter_finish(&sorter);
 *     zs_sorter_start(&sorter, &cursor);
 *     while ((record = zs_sorter_next(&cursor, NULL)))
 *         ...
 *     zs_sorter_stop(&cursor);
 *
 * Equal records keep the order in which they were added. One thread adds; once it is finished any
 * number of cursors may read at the same time.
 */
#ifndef ZS_RECORD_SORTER_H
#define ZS_RECORD_SORTER_H

#include "base/compiler.h"

#include <stddef.h>

typedef int zs_sorter_compare(const void *a, const void *b);

/* Where a sorted stretch of the file stands. */
struct zs_sorter_run {
    uint64_t at_B, end_B;
};

struct zs_sorter {
    zs_sorter_compare *compare;
    uint64_t count;
    uint8_t *bytes; /* those in memory, each behind its size */
    size_t size_B, capacity_B;
    struct {
        const uint8_t **items;
        size_t count, capacity;
    } order;
    int fd; /* + 1; 0: all are in memory */
    uint64_t file_B;
    struct {
        struct zs_sorter_run *items;
        size_t count, capacity;
    } runs;
};

void zs_sorter_init(struct zs_sorter *sorter, zs_sorter_compare *compare);
void zs_sorter_fini(struct zs_sorter *sorter);
/* Copies head and tail into one record, aligned to 8 bytes. 0 or -errno: -ENOMEM, of the file. */
int zs_sorter_add(struct zs_sorter *sorter, const void *head, size_t head_B, const void *tail,
                  size_t tail_B);
/* Nothing is added any more. 0 or -errno. */
int zs_sorter_finish(struct zs_sorter *sorter);

struct zs_sorter_cursor {
    const struct zs_sorter *sorter;
    size_t next; /* in memory */
    struct zs_sorter_run run;
    uint8_t *buffer;
    size_t buffer_B, left_B, at_B; /* of the buffer: what was read, where the next stands */
    int error;                     /* -errno that ended it */
};

void zs_sorter_start(const struct zs_sorter *sorter, struct zs_sorter_cursor *ret_cursor);
/* The next record, which lives until the next call; NULL at the end and on cursor->error.
 * ret_size_B may be NULL. */
const void *zs_sorter_next(struct zs_sorter_cursor *cursor, size_t *ret_size_B);
void zs_sorter_stop(struct zs_sorter_cursor *cursor);

#endif
