/* SPDX-License-Identifier: MIT */
/*
 * What the lowering made of a program beyond one operation after the other: links, sums of
 * addresses, instructions that went into others. Nothing depends on it; it is there to be looked
 * at, by tests above all: results say nothing of it, since all ways give the same.
 */
#include "eu/chosen.h"
#include "eu/eu_priv.h"

#include <stdlib.h>

/* Whether one of the sources of a handler is what was passed on. */
static bool is_taker(unsigned code)
{
    for (; code; code /= 3)
        if (code % 3 == ZS_EU_LINK_C)
            return true;
    return false;
}

static void count_link(const struct zs_eu_links *links, const struct zs_eu_op *op,
                       struct zs_eu_chosen *ret)
{
    for (unsigned way = 0; way < 2 * ZS_EU_LINK_COUNT; way++)
        for (unsigned code = 0; code < ZS_EU_LINK_CODES; code++)
            if (op->linked == links->row[op->kind][way & 1][way >> 1][code] && op->linked) {
                ret->links += is_taker(code);
                ret->passed += way >> 1 == ZS_EU_LINK_PASSED;
            }
}

static void count_op(const struct zs_eu_op *op, struct zs_eu_chosen *ret)
{
    if (op->kind >= ZS_EU_ROW_COUNT)
        return;
    ret->addresses += op->kind == ZS_EU_ROW_ADDRESS_S32 || op->kind == ZS_EU_ROW_ADDRESS_U32;
    count_link(&zs_eu_links_avx2, op, ret);
    count_link(&zs_eu_links_avx512, op, ret);
}

bool zs_eu_program_chosen(const struct zs_eu_program *p, struct zs_eu_chosen *ret)
{
    uint8_t *has_op = calloc(p->inst_count + 1, 1);

    *ret = (struct zs_eu_chosen){
        .can_link = zs_eu_links_avx2.row[ZS_EU_ROW_ADD_32][0][0][ZS_EU_LINK_C] != NULL};
    if (!has_op)
        return false;
    for (size_t i = 0; i < p->op_count; i++) {
        const struct zs_eu_op *op = &p->ops[i];
        count_op(op, ret);
        if (op->kind != ZS_EU_KIND_BLOCK && op->inst < p->inst_count)
            has_op[op->inst] = 1;
    }
    for (uint32_t inst = 0; inst < p->inst_count; inst++)
        ret->absorbed += !has_op[inst];
    free(has_op);
    return true;
}
