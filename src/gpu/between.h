/* SPDX-License-Identifier: MIT */
/*
 * Races between commands: launches, copies, fills and what the host frees.
 *
 * Whoever runs commands numbers them as they begin and says of each which others are over before
 * it (a past). Here a shadow of memory remembers, for each four bytes, what was done there last by
 * commands that nothing orders.
 */
#ifndef ZS_GPU_BETWEEN_H
#define ZS_GPU_BETWEEN_H

#include "gpu/gpu.h"

struct zs_between; /* of a process */

struct zs_between *zs_between_create(void); /* NULL: no memory */
void zs_between_destroy(struct zs_between *between);

/* ---- pasts -------------------------------------------------------------------------------------
 * Sets of commands, counted references that never change. NULL: of none.
 */

struct zs_past;

struct zs_past *zs_past_ref(struct zs_past *past);
void zs_past_unref(struct zs_past *past);
/* *past gets what is in the other one, too; without memory nothing is told any more. */
void zs_past_join(struct zs_between *between, struct zs_past **past, const struct zs_past *other);
/* ... a command; and all up to it. */
void zs_past_add(struct zs_between *between, struct zs_past **past, uint64_t number);
void zs_past_add_all(struct zs_between *between, struct zs_past **past);

/* ---- commands ----------------------------------------------------------------------------------
 */

/* One that runs. */
struct zs_between_command {
    struct zs_between *between; /* NULL: nobody asks */
    uint64_t number;            /* zs_between_number() */
    struct zs_past *past;       /* with itself */
    const char *name;           /* what it is, a literal; of launches their kernel's */
    uint64_t origin;            /* opaque: where it was asked for */
    bool leaves_nothing;        /* nobody comes that could race with it */
    struct zs_gpu_memory *memory;
    zs_gpu_found_fn *found; /* its context: NULL */
};

/* From 1 on. */
uint64_t zs_between_number(struct zs_between *between);
/* The command has touched memory of the host's addresses. */
void zs_between_touch(const struct zs_between_command *command, const void *host, uint64_t size_B,
                      bool is_write);
/* Who has touched it is forgotten: it is new memory. */
void zs_between_forget(struct zs_between *between, uint64_t host_va, uint64_t size_B);

/* ---- launches (race.c) -------------------------------------------------------------------------
 */

enum {
    ZS_BETWEEN_PAGE_B = 4096,
    ZS_BETWEEN_WORDS = ZS_BETWEEN_PAGE_B / 4,
    ZS_BETWEEN_LINE_WORDS = 8,
    ZS_BETWEEN_LINES = ZS_BETWEEN_WORDS / ZS_BETWEEN_LINE_WORDS,
};
#define ZS_BETWEEN_SPLIT UINT64_MAX
enum { ZS_BETWEEN_BYTES_SHIFT = 27 };

/* A number of what an instruction of a kernel does, below 1 << ZS_BETWEEN_BYTES_SHIFT; 0: none yet,
 * or no memory. a, b: name it among all. */
uint32_t zs_between_site(struct zs_between *between, uint64_t a, uint64_t b);
uint32_t zs_between_add_site(struct zs_between *between, uint64_t a, uint64_t b, const char *kernel,
                             const char *source, const struct zs_gpu_site *site);
/* What was done to the words of a page: in each half a site, and four bits of bytes above. Lines of
 * words that are alike have it in `lines`, others ZS_BETWEEN_SPLIT. */
struct zs_between_done {
    uint64_t page, lines[ZS_BETWEEN_LINES], words[ZS_BETWEEN_WORDS];
};
/* Of some pages. */
void zs_between_pages(const struct zs_between_command *command, const struct zs_between_done *done,
                      size_t count);

#endif
