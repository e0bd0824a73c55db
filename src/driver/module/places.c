/* SPDX-License-Identifier: MIT */
#include "driver/module/places.h"

#include "base/compiler.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

enum { PLACE_ALIGN_B = 64 };

void zs_code_places_init(struct zs_code_places *p, uint32_t at_B, uint32_t end_B)
{
    *p = (struct zs_code_places){.next_B = at_B, .end_B = end_B, .from_B = at_B};
}

void zs_code_places_fini(struct zs_code_places *p)
{
    free(p->back.items);
}

/* 0: more than can ever be had. */
static uint32_t rounded(const struct zs_code_places *p, uint64_t size_B)
{
    uint64_t whole_B = ZS_MAX(zs_align_up(size_B, PLACE_ALIGN_B), (uint64_t)PLACE_ALIGN_B);
    return size_B > p->end_B || whole_B > p->end_B ? 0 : (uint32_t)whole_B;
}

/* The first that was given back and does not end before from_B. */
static size_t first_behind(const struct zs_code_places *p, uint32_t from_B)
{
    size_t low = 0, high = p->back.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (p->back.items[middle].at_B + p->back.items[middle].size_B <= from_B)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint32_t take_again(struct zs_code_places *p, uint32_t size_B)
{
    size_t count = p->back.count, first = first_behind(p, p->from_B);
    for (size_t n = 0; n < count; n++) {
        size_t i = (first + n) % count;
        struct zs_code_place *place = &p->back.items[i];
        uint32_t at_B = place->at_B;
        if (place->size_B < size_B)
            continue;
        place->at_B += size_B;
        place->size_B -= size_B;
        p->from_B = place->at_B;
        if (!place->size_B) {
            memmove(place, place + 1, (count - i - 1) * sizeof(*place));
            p->back.count--;
        }
        return at_B;
    }
    return 0;
}

uint32_t zs_code_place_take(struct zs_code_places *p, uint64_t size_B)
{
    uint32_t whole_B = rounded(p, size_B), at_B = p->next_B;
    if (!whole_B)
        return 0;
    if (whole_B > p->end_B - at_B)
        return take_again(p, whole_B);
    p->next_B += whole_B;
    return at_B;
}

void zs_code_place_give_back(struct zs_code_places *p, uint32_t at_B, uint64_t size_B)
{
    uint32_t whole_B = rounded(p, size_B);
    if (!at_B || !ZS_VEC_RESERVE(&p->back, 1))
        return;
    size_t i = first_behind(p, at_B);
    struct zs_code_place *items = p->back.items, *before = i > 0 ? &items[i - 1] : NULL;
    bool joins_before = before && before->at_B + before->size_B == at_B;
    bool joins_next = i < p->back.count && at_B + whole_B == items[i].at_B;
    if (joins_before && joins_next) {
        before->size_B += whole_B + items[i].size_B;
        memmove(&items[i], &items[i + 1], (p->back.count - i - 1) * sizeof(*items));
        p->back.count--;
    } else if (joins_before) {
        before->size_B += whole_B;
    } else if (joins_next) {
        items[i].at_B = at_B;
        items[i].size_B += whole_B;
    } else {
        memmove(&items[i + 1], &items[i], (p->back.count - i) * sizeof(*items));
        items[i] = (struct zs_code_place){at_B, whole_B};
        p->back.count++;
    }
}
