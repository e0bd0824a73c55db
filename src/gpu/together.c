/* SPDX-License-Identifier: MIT */
/*
 * What work-items do together. Those of a group have to come to the same asynchronous copies, waits
 * for them and functions of the group, with the same operands; those of a sub-group to the same
 * functions of the sub-group. Modules that were built for this check mark all of these with stores
 * of a byte (ZS_GPU_MARK_TAG): the n-th mark of each work-item has to be the n-th of all.
 */
#include "gpu/check.h"

#include "base/vec.h"

#include <stdlib.h>

_Static_assert((int)ZS_GPU_MARK_TAG == (int)ZS_PORT_MARK_TAG, "one tag");

enum { LANES = 32, MARKS_KEPT = 1024 };

static enum zs_gpu_mark kind_of(const struct zs_check_mark *mark)
{
    return mark->address >> (32 + ZS_GPU_MARK_KIND_BIT) & 3;
}

static void tell(struct zs_gpu_checks *c, const struct zs_check_group *group,
                 enum zs_gpu_finding_kind kind, const struct zs_check_mark *here,
                 const struct zs_check_mark *other, bool is_missed)
{
    static const char *const advice[] = {
        [ZS_GPU_FINDING_COPY] = "all work-items of a group have to make and await the same "
                                "asynchronous copies, with the same operands",
        [ZS_GPU_FINDING_GROUP] = "all work-items of a group have to call the same functions of the "
                                 "group, a broadcast with the same index",
        [ZS_GPU_FINDING_SUB_GROUP] =
            "all work-items of a sub-group have to call the same functions of the sub-group",
        [ZS_GPU_FINDING_UNWAITED] = "wait_group_events() has to follow before the kernel ends",
        [ZS_GPU_FINDING_NO_EVENT] = "events come from asynchronous copies",
    };
    if (!zs_check_is_new(c, here->inst, other ? other->inst : UINT32_MAX >> 4, 0))
        return;
    struct zs_gpu_finding f = {.kind = kind, .site_count = other ? 2 : 1, .advice = advice[kind]};
    const struct zs_check_mark *marks[] = {here, other};
    for (uint32_t i = 0; i < f.site_count; i++) {
        const struct zs_check_mark *mark = marks[i];
        zs_check_site(c->run, group->index, mark->item / LANES, mark->inst,
                      (int)(mark->item % LANES), &f.site[i]);
        f.site[i].is_write = kind_of(mark) != ZS_GPU_MARK_WAIT &&
                             !(is_missed && i && kind_of(mark) != ZS_GPU_MARK_COPY);
    }
    zs_check_tell(c, &f);
}

static enum zs_gpu_finding_kind finding_of(const struct zs_check_mark *here,
                                           const struct zs_check_mark *other)
{
    if (kind_of(here) == ZS_GPU_MARK_SUB_GROUP)
        return ZS_GPU_FINDING_SUB_GROUP;
    bool are_functions = kind_of(here) == ZS_GPU_MARK_GROUP && kind_of(other) == ZS_GPU_MARK_GROUP;
    return are_functions ? ZS_GPU_FINDING_GROUP : ZS_GPU_FINDING_COPY;
}

/* Of the group, or of the sub-group that the mark is of. */
static struct zs_check_marks *marks_of(struct zs_gpu_checks *c, const struct zs_check_group *group,
                                       uint32_t thread, bool is_sub_group)
{
    size_t number = (size_t)(group - c->groups);
    return is_sub_group
               ? &c->marks[c->run->groups_per_worker + number * c->run->threads_per_group + thread]
               : &c->marks[number];
}

static void take(struct zs_gpu_checks *c, struct zs_check_group *group, struct zs_check_item *item,
                 const struct zs_check_mark *here)
{
    bool is_sub_group = kind_of(here) == ZS_GPU_MARK_SUB_GROUP;
    struct zs_check_marks *marks = marks_of(c, group, here->item / LANES, is_sub_group);
    uint32_t number = item->counts[is_sub_group]++;
    if (kind_of(here) == ZS_GPU_MARK_COPY) {
        item->unwaited = here->inst + 1;
        item->copies++;
    } else if (kind_of(here) == ZS_GPU_MARK_WAIT) {
        if (!item->copies)
            tell(c, group, ZS_GPU_FINDING_NO_EVENT, here, NULL, false);
        item->unwaited = 0;
    }
    if (number >= MARKS_KEPT || marks->differs)
        return;
    if (number == marks->count) {
        c->lost |= !ZS_VEC_PUSH(marks, *here);
    } else if (number < marks->count && marks->items[number].address != here->address) {
        const struct zs_check_mark *other = &marks->items[number];
        tell(c, group, finding_of(here, other), here, other, false);
        marks->differs = true;
    }
}

static bool make_room(struct zs_gpu_checks *c)
{
    size_t threads = (size_t)c->run->groups_per_worker * c->run->threads_per_group;
    if (!c->items)
        c->items = calloc(threads * LANES, sizeof(*c->items));
    if (!c->marks)
        c->marks = calloc(c->run->groups_per_worker + threads, sizeof(*c->marks));
    c->lost |= !c->items || !c->marks;
    return c->items && c->marks;
}

bool zs_check_is_mark(struct zs_check_where *at, const struct zs_eu_thread *t,
                      const struct zs_eu_send *send, const struct zs_port_message *m,
                      uint32_t lane_mask)
{
    uint8_t joined[ZS_EU_PAYLOAD_MAX_B];
    struct zs_port_accesses pieces;
    zs_port_accesses(&at->w->port, m, zs_eu_send_payload(t, send, m, joined), lane_mask, &pieces);
    if (!pieces.count || pieces.pieces[0].address >> 48 != ZS_GPU_MARK_TAG)
        return false;
    struct zs_gpu_checks *c = at->c;
    at->thread->is_bare |= (pieces.pieces[0].address & ZS_GPU_MARK_BARRIER) != 0;
    if (pieces.pieces[0].address & ZS_GPU_MARK_BARRIER || !c->sync || !make_room(c))
        return true;
    size_t first = (size_t)(at->thread - c->threads) * LANES;
    bool for_all = send->d.no_mask && send->d.exec_size == 1;
    for (uint32_t i = 0; i < pieces.count; i++) {
        uint32_t lane = (pieces.pieces[i].lane + send->d.chan_offset) % LANES;
        uint32_t lanes = for_all ? t->ce : 1u << lane;
        for (; lanes; lanes &= lanes - 1) {
            lane = (uint32_t)__builtin_ctz(lanes);
            const struct zs_check_mark here = {.address = pieces.pieces[i].address,
                                               .inst = send->d.inst,
                                               .item = at->number * LANES + lane};
            take(c, at->of_group, &c->items[first + lane], &here);
        }
    }
    return true;
}

/* A work-item has ended with fewer marks than another. */
static void look_at_end(struct zs_gpu_checks *c, struct zs_check_group *group,
                        struct zs_check_marks *marks, uint32_t count, uint32_t item)
{
    if (count >= marks->count || marks->differs)
        return;
    struct zs_check_mark missed = marks->items[count];
    missed.item = item;
    tell(c, group, finding_of(&missed, &missed), &marks->items[count], &missed, true);
    marks->differs = true;
}

void zs_check_marks_end(struct zs_gpu_checks *c, struct zs_check_group *group)
{
    if (!c->items || !c->marks)
        return;
    uint32_t simd = c->run->kernel->module->simd, threads = c->run->threads_per_group;
    struct zs_check_item *items = c->items + (size_t)(group - c->groups) * threads * LANES;
    for (uint32_t i = 0; i < c->run->group_items; i++) {
        uint32_t thread = i / simd, number = thread * LANES + i % simd;
        const struct zs_check_item *item = &items[number];
        if (item->unwaited) {
            const struct zs_check_mark copy = {.inst = item->unwaited - 1, .item = number};
            tell(c, group, ZS_GPU_FINDING_UNWAITED, &copy, NULL, false);
        }
        look_at_end(c, group, marks_of(c, group, thread, false), item->counts[0], number);
        look_at_end(c, group, marks_of(c, group, thread, true), item->counts[1], number);
    }
    memset(items, 0, (size_t)threads * LANES * sizeof(*items));
    for (uint32_t i = 0; i <= threads; i++) {
        struct zs_check_marks *marks = marks_of(c, group, i ? i - 1 : 0, i != 0);
        marks->count = 0;
        marks->differs = false;
    }
}

void zs_check_marks_free(struct zs_gpu_checks *c)
{
    size_t count = (size_t)c->run->groups_per_worker * (1 + c->run->threads_per_group);
    for (size_t i = 0; c->marks && i < count; i++)
        free(c->marks[i].items);
    free(c->marks);
    free(c->items);
}
