/* SPDX-License-Identifier: MIT */
/*
 * Myers' O(ND) in linear space: the middle of a shortest path through the grid of both sequences
 * is looked for from both ends, and both halves likewise. A search that has taken COST_MOST steps
 * is cut where it got furthest, as git and GNU diff do.
 */
#include "report/align.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { COST_MOST = 512 };

struct aligner {
    const uint64_t *a, *b; /* of the level */
    uint32_t *partner;
    int32_t *forward, *backward; /* furthest x by diagonal, shifted by b's count + 1 */
    int32_t shift;
};

struct box {
    int32_t a0, a1, b0, b1;
};

struct point {
    int32_t x, y;
};

/* One step of the search from the begin: false as long as it did not meet the other's. */
static bool step_forward(struct aligner *al, const struct box *box, int32_t d, int32_t back_d,
                         struct point *ret)
{
    int32_t begin = box->a0 - box->b0, end = box->a1 - box->b1;
    int32_t *v = al->forward + al->shift;
    for (int32_t k = begin + d; k >= begin - d; k -= 2) {
        if (k < box->a0 - box->b1 || k > box->a1 - box->b0)
            continue;
        int32_t x = !d                                                          ? box->a0
                    : k == begin - d || (k != begin + d && v[k - 1] < v[k + 1]) ? v[k + 1]
                                                                                : v[k - 1] + 1;
        int32_t y = x - k;
        while (x < box->a1 && y < box->b1 && x >= box->a0 && y >= box->b0 && al->a[x] == al->b[y])
            x++, y++;
        v[k] = x;
        bool is_in = x >= box->a0 && x <= box->a1 && y >= box->b0 && y <= box->b1;
        if (((end - begin) & 1) && k >= end - back_d && k <= end + back_d && is_in &&
            x >= al->backward[al->shift + k]) {
            *ret = (struct point){x, y};
            return true;
        }
    }
    return false;
}

static bool step_backward(struct aligner *al, const struct box *box, int32_t d, struct point *ret)
{
    int32_t begin = box->a0 - box->b0, end = box->a1 - box->b1;
    int32_t *v = al->backward + al->shift;
    for (int32_t k = end + d; k >= end - d; k -= 2) {
        if (k < box->a0 - box->b1 || k > box->a1 - box->b0)
            continue;
        int32_t x = !d                                                      ? box->a1
                    : k == end + d || (k != end - d && v[k - 1] < v[k + 1]) ? v[k - 1]
                                                                            : v[k + 1] - 1;
        int32_t y = x - k;
        while (x > box->a0 && y > box->b0 && x <= box->a1 && y <= box->b1 &&
               al->a[x - 1] == al->b[y - 1])
            x--, y--;
        v[k] = x;
        bool is_in = x >= box->a0 && x <= box->a1 && y >= box->b0 && y <= box->b1;
        if (!((end - begin) & 1) && k >= begin - d && k <= begin + d && is_in &&
            x <= al->forward[al->shift + k]) {
            *ret = (struct point){x, y};
            return true;
        }
    }
    return false;
}

/* Where the search from the begin got furthest. */
static struct point furthest(const struct aligner *al, const struct box *box, int32_t d)
{
    struct point best = {box->a0, box->b0};
    int32_t begin = box->a0 - box->b0;
    for (int32_t k = begin - d; k <= begin + d; k += 2) {
        if (k < box->a0 - box->b1 || k > box->a1 - box->b0)
            continue;
        int32_t x = al->forward[al->shift + k], y = x - k;
        if (x <= box->a1 && y <= box->b1 && y >= box->b0 && x + y > best.x + best.y)
            best = (struct point){x, y};
    }
    return best;
}

static struct point middle(struct aligner *al, const struct box *box)
{
    struct point at;
    int32_t below = al->shift + box->a0 - box->b1 - 1, above = al->shift + box->a1 - box->b0 + 1;
    al->forward[below] = al->forward[above] = -1; /* outside of the grid: never the better one */
    al->backward[below] = al->backward[above] = INT32_MAX;
    for (int32_t d = 0;; d++) {
        if (step_forward(al, box, d, d - 1, &at) || step_backward(al, box, d, &at))
            return at;
        if (d == COST_MOST)
            return furthest(al, box, d);
    }
}

/* The first half by recursion, whose depth the costs' halving bounds; the second by the loop. */
static void align_box(struct aligner *al, struct box box)
{
    for (;;) {
        while (box.a0 < box.a1 && box.b0 < box.b1 && al->a[box.a0] == al->b[box.b0])
            al->partner[box.a0++] = (uint32_t)box.b0++;
        while (box.a0 < box.a1 && box.b0 < box.b1 && al->a[box.a1 - 1] == al->b[box.b1 - 1])
            al->partner[--box.a1] = (uint32_t)--box.b1;
        if (box.a0 == box.a1 || box.b0 == box.b1)
            return;
        struct point at = middle(al, &box);
        if ((at.x == box.a0 && at.y == box.b0) || (at.x == box.a1 && at.y == box.b1))
            return; /* nothing of one is in the other */
        align_box(al, (struct box){box.a0, at.x, box.b0, at.y});
        box.a0 = at.x;
        box.b0 = at.y;
    }
}

/* The next stretch from *at on that has no pairs; false: there is none. */
static bool next_gap(const uint32_t *partner, uint32_t a_count, uint32_t b_count, uint32_t *at,
                     struct box *ret)
{
    while (*at < a_count && partner[*at] != UINT32_MAX)
        ++*at;
    if (*at == a_count)
        return false;
    uint32_t end = *at;
    while (end < a_count && partner[end] == UINT32_MAX)
        end++;
    *ret = (struct box){(int32_t)*at, (int32_t)end, *at ? (int32_t)partner[*at - 1] + 1 : 0,
                        (int32_t)(end < a_count ? partner[end] : b_count)};
    *at = end;
    return true;
}

int zs_align(const struct zs_align_side *a, const struct zs_align_side *b, uint32_t levels,
             bool pairs_rest, uint32_t *ret_partner)
{
    size_t diagonals = (size_t)a->count + b->count + 3;
    memset(ret_partner, 0xff, (size_t)a->count * sizeof(*ret_partner));
    if (a->count > INT32_MAX / 4 || b->count > INT32_MAX / 4)
        return -ENOMEM;
    struct aligner al = {.partner = ret_partner,
                         .forward = malloc(2 * diagonals * sizeof(*al.forward)),
                         .shift = (int32_t)b->count + 1};
    if (!al.forward)
        return -ENOMEM;
    al.backward = al.forward + diagonals;
    for (uint32_t level = 0; level < levels; level++) {
        uint32_t at = 0;
        struct box gap;
        al.a = a->keys + (size_t)level * a->count;
        al.b = b->keys + (size_t)level * b->count;
        while (next_gap(ret_partner, a->count, b->count, &at, &gap))
            align_box(&al, gap);
    }
    uint32_t at = 0;
    struct box gap;
    while (pairs_rest && next_gap(ret_partner, a->count, b->count, &at, &gap))
        for (int32_t i = gap.a0; gap.a1 - gap.a0 == gap.b1 - gap.b0 && i < gap.a1; i++)
            ret_partner[i] = (uint32_t)(gap.b0 + i - gap.a0);
    free(al.forward);
    return 0;
}
