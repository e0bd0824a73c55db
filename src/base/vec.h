/* SPDX-License-Identifier: MIT */
/*
 * A growable array of any type, without hidden headers:
 *
 *     struct { struct line *items; size_t count, capacity; } lines = {0};
 *     if (!ZS_VEC_PUSH(&lines, ((struct line){.file = 1})))
 *         return -ENOMEM;
 *     free(lines.items);
 */
#ifndef ZS_BASE_VEC_H
#define ZS_BASE_VEC_H

#include "base/compiler.h"

/* Room for `extra` more items of item_B bytes; false when there is no memory. */
bool zs_vec_grow(void **items, size_t *capacity, size_t count, size_t extra,
                 size_t item_B) ZS_MUST_CHECK;

#define ZS_VEC_RESERVE(vec, extra)                                                                 \
    ((vec)->capacity - (vec)->count >= (size_t)(extra) ||                                          \
     zs_vec_grow((void **)&(vec)->items, &(vec)->capacity, (vec)->count, (extra),                  \
                 sizeof(*(vec)->items)))
#define ZS_VEC_PUSH(vec, value)                                                                    \
    (ZS_VEC_RESERVE(vec, 1) ? ((vec)->items[(vec)->count++] = (value), true) : false)

#endif
