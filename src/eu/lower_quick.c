/* SPDX-License-Identifier: MIT */
/*
 * The last step of lowering: operations on sixteen channels without a predicate, or that choose by
 * one, get a handler which does nothing but two chunks.
 */
#include "eu/lower.h"

#include <string.h>

enum { SLOTS = 2048 }; /* a power of two, several times the number of quick handlers */

struct quick {
    zs_eu_op_fn *fn, *quick;
    bool chooses; /* sel: the predicate is no mask */
};

static struct quick *slot_of(struct quick slots[SLOTS], zs_eu_op_fn *fn)
{
    size_t at = (size_t)((uintptr_t)fn >> 4) * 2654435761u >> 5;

    while (slots[at % SLOTS].fn && slots[at % SLOTS].fn != fn)
        at++;
    return &slots[at % SLOTS];
}

static void fill(struct quick slots[SLOTS], const struct zs_eu_handlers *handlers)
{
    unsigned used = 0;

    memset(slots, 0, SLOTS * sizeof(slots[0]));
    for (unsigned row = 0; row < ZS_EU_ROW_COUNT; row++) {
        for (unsigned cls = 0; cls < ZS_EU_CLASS_COUNT; cls++) {
            if (!handlers->quick[row][cls])
                continue;
            zs_assert(++used < SLOTS / 2);
            *slot_of(slots, handlers->row[row][cls]) =
                (struct quick){.fn = handlers->row[row][cls],
                               .quick = handlers->quick[row][cls],
                               .chooses = row >= ZS_EU_ROW_SEL_8 && row <= ZS_EU_ROW_SEL_64};
        }
    }
}

void zs_eu_quicken(struct zs_eu_program *program, const struct zs_eu_handlers *handlers)
{
    struct quick slots[SLOTS];

    fill(slots, handlers);
    for (size_t i = 0; i < program->op_count; i++) {
        struct zs_eu_op *op = &program->ops[i];
        const struct quick *quick = slot_of(slots, op->fn);
        bool everyone = op->predicate == ZS_EU_OFFSET(all_ones) && op->pred_xor == 0;
        if (quick->fn && op->chunks == 2 && op->lanes == 0xffff && op->full == 0xffff &&
            (everyone || quick->chooses))
            op->fn = quick->quick;
    }
}
