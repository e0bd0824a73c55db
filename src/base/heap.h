/* SPDX-License-Identifier: MIT */
/*
 * A binary heap in a vector (base/vec.h): the item with the least key stands first. Keys are
 * members of type uint64_t:
 *
 *     struct { struct job *items; size_t count, capacity; } jobs = {0};
 *     if (!ZS_VEC_PUSH(&jobs, job))
 *         return -ENOMEM;
 *     ZS_HEAP_UP(&jobs, due_ns);
 *     struct job first = jobs.items[0];
 *     ZS_HEAP_POP(&jobs, due_ns);
 */
#ifndef ZS_BASE_HEAP_H
#define ZS_BASE_HEAP_H

#include "base/compiler.h"

/* The last item was added. */
#define ZS_HEAP_UP(vec, key)                                                                       \
    zs_heap_up((vec)->items, (vec)->count, sizeof(*(vec)->items), ZS_HEAP_KEY(vec, key))
/* The first item was changed. */
#define ZS_HEAP_DOWN(vec, key)                                                                     \
    zs_heap_down((vec)->items, (vec)->count, sizeof(*(vec)->items), ZS_HEAP_KEY(vec, key), 0)
/* Any order becomes a heap. */
#define ZS_HEAP_MAKE(vec, key)                                                                     \
    zs_heap_make((vec)->items, (vec)->count, sizeof(*(vec)->items), ZS_HEAP_KEY(vec, key))
/* The first item of at least one is removed. */
#define ZS_HEAP_POP(vec, key)                                                                      \
    ((vec)->items[0] = (vec)->items[--(vec)->count], ZS_HEAP_DOWN(vec, key))

#define ZS_HEAP_KEY(vec, key)                                                                      \
    ((size_t)((const char *)&(vec)->items[0].key - (const char *)&(vec)->items[0]) +               \
     0 * sizeof(&(vec)->items[0].key == (const uint64_t *)0))

/* key_at_B: where the key stands in an item. */
void zs_heap_up(void *items, size_t count, size_t item_B, size_t key_at_B);
void zs_heap_down(void *items, size_t count, size_t item_B, size_t key_at_B, size_t from);
void zs_heap_make(void *items, size_t count, size_t item_B, size_t key_at_B);

#endif
