/* SPDX-License-Identifier: MIT */
/* A bump allocator: everything that one parsed object owns is freed at once. Not thread-safe. */
#ifndef ZS_BASE_ARENA_H
#define ZS_BASE_ARENA_H

#include "base/span.h"

struct zs_arena_block;

struct zs_arena {
    struct zs_arena_block *blocks;
    size_t used_B;  /* in all blocks */
    size_t limit_B; /* 0: none. Allocations beyond it fail, which bounds hostile input */
};

void zs_arena_init(struct zs_arena *arena, size_t limit_B);
void zs_arena_fini(struct zs_arena *arena);
/* Zeroed, 16-byte aligned memory, or NULL (no memory, or over the limit). Size 0 is allowed. */
void *zs_arena_alloc(struct zs_arena *arena, size_t size_B) ZS_MUST_CHECK;
/* count * size with the product checked. */
void *zs_arena_array(struct zs_arena *arena, size_t count, size_t size_B) ZS_MUST_CHECK;
/* A NUL-terminated copy of the bytes up to the first NUL, at most size_B of them. */
char *zs_arena_strndup(struct zs_arena *arena, const void *text, size_t size_B) ZS_MUST_CHECK;

#define ZS_ARENA_NEW(arena, type)          ((type *)zs_arena_alloc((arena), sizeof(type)))
#define ZS_ARENA_ARRAY(arena, count, type) ((type *)zs_arena_array((arena), (count), sizeof(type)))

#endif
