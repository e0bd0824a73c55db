/* SPDX-License-Identifier: MIT */
#include "base/heap.h"

#include <string.h>

struct heap {
    char *items;
    size_t count, item_B, key_at_B;
};

static uint64_t key(const struct heap *h, size_t i)
{
    uint64_t value;
    memcpy(&value, h->items + i * h->item_B + h->key_at_B, sizeof(value));
    return value;
}

static void swap(const struct heap *h, size_t i, size_t k)
{
    char *a = h->items + i * h->item_B, *b = h->items + k * h->item_B, part[64];
    for (size_t at = 0; at < h->item_B; at += sizeof(part)) {
        size_t size_B = ZS_MIN(sizeof(part), h->item_B - at);
        memcpy(part, a + at, size_B);
        memcpy(a + at, b + at, size_B);
        memcpy(b + at, part, size_B);
    }
}

void zs_heap_up(void *items, size_t count, size_t item_B, size_t key_at_B)
{
    const struct heap h = {items, count, item_B, key_at_B};
    for (size_t i = count ? count - 1 : 0; i && key(&h, (i - 1) / 2) > key(&h, i); i = (i - 1) / 2)
        swap(&h, i, (i - 1) / 2);
}

void zs_heap_down(void *items, size_t count, size_t item_B, size_t key_at_B, size_t from)
{
    const struct heap h = {items, count, item_B, key_at_B};
    for (size_t i = from, least = from;; i = least) {
        for (size_t child = 2 * i + 1; child < 2 * i + 3 && child < count; child++)
            if (key(&h, child) < key(&h, least))
                least = child;
        if (least == i)
            return;
        swap(&h, i, least);
    }
}

void zs_heap_make(void *items, size_t count, size_t item_B, size_t key_at_B)
{
    for (size_t i = count / 2; i-- > 0;)
        zs_heap_down(items, count, item_B, key_at_B, i);
}
