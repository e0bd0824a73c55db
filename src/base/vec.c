/* SPDX-License-Identifier: MIT */
#include "base/vec.h"

#include <stdlib.h>

bool zs_vec_grow(void **items, size_t *capacity, size_t count, size_t extra, size_t item_B)
{
    if (extra > SIZE_MAX / 2 - count)
        return false;
    size_t want = ZS_MAX(ZS_MAX(count + extra, *capacity + *capacity / 2), (size_t)8);
    size_t size_B;
    if (!zs_mul_size(want, item_B, &size_B))
        return false;
    void *p = realloc(*items, size_B);
    if (!p)
        return false;
    *items = p;
    *capacity = want;
    return true;
}
