/* SPDX-License-Identifier: MIT */
/*
 * Asynchronous copies of a group: its work-items have to come to the same ones with the same
 * operands, and to wait for them. Modules that were built for this check mark copies and waits with
 * stores of a byte (ZS_GPU_MARK_TAG): the n-th mark of each work-item has to be the n-th of all.
 */
#include "gpu/check.h"

#include <stdlib.h>

_Static_assert((int)ZS_GPU_MARK_TAG == (int)ZS_PORT_MARK_TAG, "one tag");

enum { LANES = 32, COPIES_KEPT = 1024 };

static bool is_wait(uint64_t mark)
{
    return mark >> 32 & ZS_GPU_MARK_WAITS;
}

static void site_of(const struct zs_gpu_checks *c, const struct zs_check_group *group,
                    uint32_t item, uint32_t inst, bool is_copy, struct zs_gpu_site *ret)
{
    zs_check_site(c->run, group->index, item / LANES, inst, (int)(item % LANES), ret);
    ret->is_write = is_copy;
}

static void tell(struct zs_gpu_checks *c, const struct zs_check_group *group,
                 enum zs_gpu_finding_kind kind, const struct zs_check_copy *here,
                 const struct zs_check_copy *other)
{
    static const char *const advice[] = {
        [ZS_GPU_FINDING_COPY] = "all work-items of a group have to make the same asynchronous "
                                "copies, with the same operands",
        [ZS_GPU_FINDING_UNWAITED] = "wait_group_events() has to follow before the kernel ends",
        [ZS_GPU_FINDING_NO_EVENT] = "events come from asynchronous copies",
    };
    if (!zs_check_is_new(c, here->inst, other ? other->inst : UINT32_MAX >> 4, 0))
        return;
    struct zs_gpu_finding f = {.kind = kind, .site_count = other ? 2 : 1, .advice = advice[kind]};
    site_of(c, group, here->item, here->inst, !is_wait(here->mark), &f.site[0]);
    if (other)
        site_of(c, group, other->item, other->inst, !is_wait(other->mark), &f.site[1]);
    zs_check_tell(c, &f);
}

static void take(struct zs_gpu_checks *c, struct zs_check_group *group, struct zs_check_item *item,
                 const struct zs_check_copy *here)
{
    uint32_t number = item->count++;
    if (!is_wait(here->mark)) {
        item->unwaited = here->inst + 1;
        item->copies++;
    } else {
        if (!item->copies)
            tell(c, group, ZS_GPU_FINDING_NO_EVENT, here, NULL);
        item->unwaited = 0;
    }
    if (number >= COPIES_KEPT || group->differs)
        return;
    if (number == group->copy_count) {
        group->copies[group->copy_count++] = *here;
    } else if (group->copies[number].mark != here->mark) {
        tell(c, group, ZS_GPU_FINDING_COPY, here, &group->copies[number]);
        group->differs = true;
    }
}

static bool make_room(struct zs_gpu_checks *c, struct zs_check_group *group)
{
    size_t threads = (size_t)c->run->groups_per_worker * c->run->threads_per_group;
    if (!c->items)
        c->items = calloc(threads * LANES, sizeof(*c->items));
    if (!group->copies)
        group->copies = calloc(COPIES_KEPT, sizeof(*group->copies));
    c->lost |= !c->items || !group->copies;
    return c->items && group->copies;
}

bool zs_check_mark(struct zs_check_where *at, const struct zs_eu_thread *t,
                   const struct zs_eu_send *send, const struct zs_port_message *m,
                   uint32_t lane_mask)
{
    uint8_t joined[ZS_EU_PAYLOAD_MAX_B];
    struct zs_port_accesses pieces;
    zs_port_accesses(&at->w->port, m, zs_eu_send_payload(t, send, m, joined), lane_mask, &pieces);
    if (!pieces.count || pieces.pieces[0].address >> 48 != ZS_GPU_MARK_TAG)
        return false;
    struct zs_gpu_checks *c = at->c;
    if (!c->sync || !make_room(c, at->of_group))
        return true;
    size_t first = (size_t)(at->thread - c->threads) * LANES;
    bool for_all = send->d.no_mask && send->d.exec_size == 1;
    for (uint32_t i = 0; i < pieces.count; i++) {
        uint32_t lane = (pieces.pieces[i].lane + send->d.chan_offset) % LANES;
        uint32_t lanes = for_all ? t->ce : 1u << lane;
        for (; lanes; lanes &= lanes - 1) {
            lane = (uint32_t)__builtin_ctz(lanes);
            const struct zs_check_copy here = {.mark = pieces.pieces[i].address,
                                               .inst = send->d.inst,
                                               .item = at->number * LANES + lane};
            take(c, at->of_group, &c->items[first + lane], &here);
        }
    }
    return true;
}

void zs_check_copies_end(struct zs_gpu_checks *c, struct zs_check_group *group)
{
    if (!group->copy_count)
        return;
    uint32_t simd = c->run->kernel->module->simd, threads = c->run->threads_per_group;
    struct zs_check_item *items = c->items + (size_t)(group - c->groups) * threads * LANES;
    for (uint32_t i = 0; i < c->run->group_items; i++) {
        uint32_t number = i / simd * LANES + i % simd;
        const struct zs_check_item *item = &items[number];
        if (item->unwaited) {
            const struct zs_check_copy copy = {.inst = item->unwaited - 1, .item = number};
            tell(c, group, ZS_GPU_FINDING_UNWAITED, &copy, NULL);
        }
        if (item->count < group->copy_count && !group->differs) { /* it left the kernel instead */
            struct zs_check_copy missed = group->copies[item->count];
            missed.item = number;
            tell(c, group, ZS_GPU_FINDING_COPY, &group->copies[item->count], &missed);
            group->differs = true;
        }
    }
    memset(items, 0, (size_t)threads * LANES * sizeof(*items));
    group->copy_count = 0;
    group->differs = false;
}
