/* SPDX-License-Identifier: MIT */
#include "base/arena.h"

#include <stdlib.h>

enum { BLOCK_MIN_B = 4096, BLOCK_MAX_B = 1 << 20 };

struct zs_arena_block {
    struct zs_arena_block *next;
    size_t size_B;
    size_t used_B;
    _Alignas(16) uint8_t data[];
};

void zs_arena_init(struct zs_arena *arena, size_t limit_B)
{
    *arena = (struct zs_arena){.limit_B = limit_B};
}

void zs_arena_fini(struct zs_arena *arena)
{
    for (struct zs_arena_block *b = arena->blocks, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    *arena = (struct zs_arena){.limit_B = arena->limit_B};
}

void *zs_arena_alloc(struct zs_arena *arena, size_t size_B)
{
    if (size_B > SIZE_MAX / 2)
        return NULL;
    size_B = (size_t)zs_align_up(size_B ? size_B : 1, 16);
    if (arena->limit_B && (size_B > arena->limit_B || arena->used_B > arena->limit_B - size_B))
        return NULL;
    struct zs_arena_block *b = arena->blocks;
    if (!b || b->size_B - b->used_B < size_B) {
        /* blocks grow with the arena, so that small objects stay small and large ones are few */
        size_t want_B = ZS_MIN((size_t)BLOCK_MAX_B, ZS_MAX((size_t)BLOCK_MIN_B, arena->used_B));
        want_B = ZS_MAX(want_B, size_B);
        b = calloc(1, sizeof(*b) + want_B);
        if (!b)
            return NULL;
        b->size_B = want_B;
        b->next = arena->blocks;
        arena->blocks = b;
    }
    void *p = b->data + b->used_B;
    b->used_B += size_B;
    arena->used_B += size_B;
    return p;
}

void *zs_arena_array(struct zs_arena *arena, size_t count, size_t size_B)
{
    size_t total_B;
    return zs_mul_size(count, size_B, &total_B) ? zs_arena_alloc(arena, total_B) : NULL;
}

char *zs_arena_strndup(struct zs_arena *arena, const void *text, size_t size_B)
{
    size_t length_B = size_B ? strnlen(text, size_B) : 0;
    char *copy = zs_arena_alloc(arena, length_B + 1);
    if (copy && length_B)
        memcpy(copy, text, length_B);
    return copy;
}
