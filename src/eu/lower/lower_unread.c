/* SPDX-License-Identifier: MIT */
/*
 * What loads bring that nobody reads.
 *
 * Compilers make one load of several with holes between, and longer blocks than anybody asked for:
 * what lies in the holes is read by the message and not by the program. Liveness tells them apart
 * (isa/live.c), of loads without a mask that of lanes which are off, too. In doubt all is read:
 * where liveness leaves something out; and all of a load of which nobody reads anything, as
 * volatile variables have it.
 */
#include "base/compiler.h"
#include "dataport/dataport.h"
#include "eu/lower/lower.h"
#include "eu/lower/send_lower.h"
#include "isa/register_use.h"

struct search {
    const struct zs_isa_kernel *code;
    struct zs_eu_program *program;
    bool across; /* of loads without a mask, what lanes have that are off */
};

/* What a bit of `unread` stands for: `count` neighbours in registers. */
struct parts {
    uint32_t count, size_B;
};

static struct parts parts_of(const struct zs_eu_send *send)
{
    const struct zs_port_message_row *row = NULL;
    const struct zs_port_message *m = send->exec ? zs_eu_send_message(send, &row) : NULL;
    struct parts none = {0, 0};
    if (!m || row->is_atomic || !m->bytes_read || m->bytes_written || !m->rlen ||
        !send->d.has_dst || (m->space != ZS_PORT_SPACE_GLOBAL && m->space != ZS_PORT_SPACE_SLM))
        return none;
    bool is_block = m->shape == ZS_PORT_SHAPE_LSC || m->shape == ZS_PORT_SHAPE_BLOCK ||
                    m->shape == ZS_PORT_SHAPE_A64_BLOCK;
    if (!m->lanes)
        return is_block && !m->block_upper && m->block_B % 4 == 0 && m->block_B <= 64 * 4
                   ? (struct parts){m->block_B / 4u, 4}
                   : none;
    if (!zs_port_message_element_B(m) || m->elements > 8)
        return none;
    if (m->elements > 1)
        return (struct parts){m->elements, m->component_B};
    return send->d.no_mask ? (struct parts){m->lanes, m->slot_B} : none;
}

static void look_at(void *context, uint32_t i, const struct zs_isa_live_state *behind)
{
    const struct search *s = context;
    struct zs_eu_program *p = s->program;
    if (i >= p->inst_count || !p->insts[i].is_send ||
        p->insts[i].offset_B != zs_isa_inst_offset(s->code, i))
        return;
    struct zs_eu_send *send = &p->sends.items[p->insts[i].send].send;
    struct parts parts = parts_of(send);
    uint64_t unread = 0;
    if (!parts.count || (s->across && !(send->d.no_mask && send->d.unread)))
        return;
    for (uint32_t k = 0; k < parts.count; k++) {
        uint32_t at_B = send->d.dst_B + k * parts.size_B;
        if (!zs_isa_is_live(behind, at_B, at_B + parts.size_B))
            unread |= UINT64_C(1) << k;
    }
    if (s->across)
        unread &= send->d.unread;
    else if (unread == UINT64_MAX >> (64 - parts.count))
        unread = 0;
    zs_eu_send_leave_unread(send, unread);
}

static void look_at_all(struct search *s)
{
    for (uint32_t b = 0; b < zs_isa_block_count(s->code); b++)
        zs_isa_visit_live(s->code, b, look_at, s);
}

/* Some load without a mask leaves something unread. */
static bool asks_across(const struct zs_eu_program *p)
{
    bool asks = false;
    for (size_t i = 0; i < p->sends.count && !asks; i++) {
        const struct zs_eu_send_desc *d = &p->sends.items[i].send.d;
        asks = d->no_mask && d->unread;
    }
    return asks;
}

static void forget_across(struct zs_eu_program *p)
{
    for (size_t i = 0; i < p->sends.count; i++) {
        struct zs_eu_send *send = &p->sends.items[i].send;
        if (send->d.no_mask)
            zs_eu_send_leave_unread(send, 0);
    }
}

void zs_eu_find_unread(const struct zs_eu_lowering *l)
{
    const struct zs_isa_options options = {.size_B = sizeof(options),
                                           .grf_count = l->program->regs.grf_count,
                                           .entry_B = l->params->entry_B};
    uint32_t flags = l->params->flags;
    struct zs_isa_register_use use;
    struct zs_isa_kernel *code;
    if (!(flags & (ZS_EU_LOWER_HOOK_MESSAGES | ZS_EU_LOWER_LOCAL)) ||
        flags & ZS_EU_LOWER_HOOK_BLOCKS || l->program->segment_count > 1 ||
        zs_isa_kernel_open(l->model->platform, l->params->code, &options, &code, NULL))
        return;
    struct search s = {.code = code, .program = l->program};
    bool is_known = !zs_isa_kernel_decode(code, ZS_ISA_INSTS | ZS_ISA_BLOCKS, NULL);
    if (is_known) {
        zs_isa_kernel_register_use(code, 0, &use);
        is_known = use.live_known && use.closed && !zs_isa_make_liveness_of_values(code, false);
    }
    if (is_known)
        look_at_all(&s);
    s.across = is_known && asks_across(l->program);
    if (s.across && !zs_isa_make_liveness_of_values(code, true))
        look_at_all(&s);
    else if (s.across)
        forget_across(l->program);
    zs_isa_kernel_close(code);
}
