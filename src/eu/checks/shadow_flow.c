/* SPDX-License-Identifier: MIT */
/*
 * Programs that read nothing undefined, but what messages load (eu/checks/shadow.h).
 *
 * What may be read before it was written is found backwards along the ways of lanes. If a thread
 * starts with all of that defined, no operation has an undefined source, nothing undefined is ever
 * written, and it needs no shadow: until a message loads something that is not defined. Then its
 * shadow is zeros but for that, as what the way from there on does not read may be anything.
 *
 * A byte that a lane wrote under its mask is written for that lane, wherever it goes; what all
 * lanes, another one or code without a mask reads has to be written as a whole. With all lanes on
 * masks are whole: blocks are looked at twice, for those and for any.
 */
#include "dataport/dataport.h"
#include "eu/checks/shadow_priv.h"
#include "eu/lower/lower_operand.h"

#include <stdlib.h>

enum { NOBODY = ZS_EU_SHADOW_NOBODY, EVERYBODY = ZS_EU_SHADOW_EVERYBODY };
enum { ROOM_MAX_B = 64 << 20, TARGETS_MAX = 64 };

struct flow {
    struct zs_eu_shadow_walk *w;
    const struct zs_eu_program *p;
    uint32_t size_B;  /* of a node: all bytes up to the end of the register file */
    uint8_t *needs;   /* by block and version, all lanes on behind any: before it ... */
    uint8_t *defines; /* ... and what it writes */
    bool *parts;      /* by block: its lanes may part */
    bool *to_acc;     /* by instruction: results go to accumulators, whatever lanes are on */
    bool has_acc;     /* ... and some do */
    bool is_unknown;  /* what it reads, or where it goes */
};

/* ---- messages ----------------------------------------------------------------------------------
 */

struct message {
    const struct zs_eu_op *op;
    const struct zs_eu_send_desc *d;
    const struct zs_port_message *m;
};

static void lanes_read(struct zs_eu_shadow_walk *w, const struct message *g, uint32_t at,
                       uint32_t step_B, uint32_t size_B)
{
    uint32_t on = zs_eu_shadow_channels_of(w, g->op) & UINT32_MAX >> (32 - g->m->lanes);
    for (; on; on &= on - 1) {
        unsigned c = (unsigned)__builtin_ctz(on);
        zs_eu_shadow_reads(w, at + c * step_B, size_B, zs_eu_shadow_reader(w, g->op, c));
    }
}

/* Of a message without addresses by lanes: where, and a block that is stored. */
static void block_payload(struct zs_eu_shadow_walk *w, const struct message *g)
{
    static const struct {
        uint8_t at_B, size_B;
    } where[] = {[ZS_PORT_SHAPE_BLOCK] = {8, 4},
                 [ZS_PORT_SHAPE_A64_BLOCK] = {0, 8},
                 [ZS_PORT_SHAPE_SCRATCH] = {0, 0},
                 [ZS_PORT_SHAPE_LSC] = {0, 8}};
    const struct zs_port_message *m = g->m;
    uint32_t grf = ZS_EU_OFFSET(grf), src0 = grf + g->d->src0_B, src1 = grf + g->d->src1_B;
    bool typed = m->shape == ZS_PORT_SHAPE_TYPED || m->shape == ZS_PORT_SHAPE_SAMPLE ||
                 m->shape == ZS_PORT_SHAPE_TEXEL;

    if (typed) /* nobody looks at it */
        return;
    if (m->gather || g->d->gathers || m->lanes || m->makes || m->shape >= ZS_ARRAY_LEN(where) ||
        (m->shape != ZS_PORT_SHAPE_SCRATCH && !where[m->shape].size_B)) {
        zs_eu_shadow_reads(w, src0, g->d->mlen * w->p->regs.grf_B, EVERYBODY);
        zs_eu_shadow_reads(w, src1, g->d->xlen * w->p->regs.grf_B, EVERYBODY);
        return;
    }
    bool lsc = m->shape == ZS_PORT_SHAPE_LSC;
    zs_eu_shadow_reads(w, src0 + where[m->shape].at_B, lsc ? m->address_B : where[m->shape].size_B,
                       EVERYBODY);
    if (m->bytes_written || (m->shape == ZS_PORT_SHAPE_SCRATCH && m->op))
        zs_eu_shadow_reads(w, lsc || m->data_in_src1 ? src1 : src0 + 32, m->block_B, EVERYBODY);
}

/* Addresses, and what is stored; false: of another shape. */
static bool lanes_payload(struct zs_eu_shadow_walk *w, const struct message *g, bool is_atomic)
{
    const struct zs_port_message *m = g->m;
    bool lsc = m->shape == ZS_PORT_SHAPE_LSC;
    uint32_t grf = ZS_EU_OFFSET(grf), src0 = grf + g->d->src0_B;
    uint32_t header_B = lsc ? 0 : m->header_grf * 32u;
    uint32_t behind_B = header_B + m->lanes * m->address_B, component_B = m->component_B;
    uint32_t elements = is_atomic ? ZS_MAX(m->elements, 2u) : m->bytes_written ? m->elements : 0;

    if (!m->lanes || m->gather || g->d->gathers || m->strided || m->makes ||
        (!lsc && m->shape != ZS_PORT_SHAPE_ADDRESSES && m->shape != ZS_PORT_SHAPE_OFFSETS &&
         m->shape != ZS_PORT_SHAPE_DWORD_OFFSETS))
        return false;
    lanes_read(w, g, src0 + header_B, m->address_B, m->address_B);
    bool in_src1 = lsc || m->data_in_src1;
    uint32_t at = in_src1 ? grf + g->d->src1_B : src0 + behind_B;
    uint32_t room_B = in_src1 ? m->xlen * 32u : m->mlen * 32u - ZS_MIN(behind_B, m->mlen * 32u);
    for (uint32_t e = 0; e < elements && (e + 1) * component_B <= room_B; e++)
        lanes_read(w, g, at + e * component_B + (m->upper ? 2 : 0), m->slot_B, m->element_B);
    return true;
}

static void response(struct zs_eu_shadow_walk *w, const struct message *g)
{
    const struct zs_port_message *m = g->m;
    uint32_t at = ZS_EU_OFFSET(grf) + g->d->dst_B, size_B = m->rlen * 32u;
    uint32_t slot_B = m->slot_B, component_B = m->component_B;
    bool all = g->op->enables == ZS_EU_OFFSET(all_ones) || w->ce;

    if (!g->d->has_dst || !zs_eu_shadow_is_sure(g->op))
        return;
    if (all) {
        zs_eu_shadow_writes(w, at, size_B, EVERYBODY);
        return;
    }
    bool known =
        m->lanes && (m->shape == ZS_PORT_SHAPE_LSC || m->shape == ZS_PORT_SHAPE_ADDRESSES ||
                     m->shape == ZS_PORT_SHAPE_OFFSETS || m->shape == ZS_PORT_SHAPE_DWORD_OFFSETS);
    uint32_t lanes = zs_eu_shadow_channels_of(w, g->op) & UINT32_MAX >> (32 - ZS_MAX(m->lanes, 1));
    for (uint32_t e = 0; known && component_B && (e + 1) * component_B <= size_B; e++)
        for (uint32_t on = lanes; on; on &= on - 1) {
            unsigned c = (unsigned)__builtin_ctz(on);
            zs_eu_shadow_writes(w, at + e * component_B + c * slot_B, slot_B,
                                zs_eu_shadow_writer(w, g->op, c));
        }
}

/* As the environment looks at it; what has no meaning to it is read as a whole. */
static void message(struct flow *f, const struct zs_eu_op *op)
{
    const struct zs_eu_program_send *send = op->send;
    const struct zs_port_message_row *row = NULL;
    const struct message g = {op, &send->send.d, zs_eu_send_message(&send->send, &row)};

    if (op->arg && !send->send.exec && !send->desc_is_reg && !send->ex_desc_is_reg)
        return; /* the thread's end */
    if (send->desc_is_reg || send->ex_desc_is_reg || send->sampler_is_reg || g.d->has_base) {
        f->is_unknown |= send->desc_is_reg || g.d->is_e64;
        zs_eu_shadow_reads(f->w, ZS_EU_OFFSET(a0) + send->ex_desc_a0 * 4u, 4, EVERYBODY);
    }
    if (!g.m || !row) { /* who knows */
        zs_eu_shadow_reads(f->w, ZS_EU_OFFSET(grf) + g.d->src0_B, g.d->mlen * f->p->regs.grf_B,
                           EVERYBODY);
        zs_eu_shadow_reads(f->w, ZS_EU_OFFSET(grf) + g.d->src1_B, g.d->xlen * f->p->regs.grf_B,
                           EVERYBODY);
        return;
    }
    if (row->is_fence || g.m->space == ZS_PORT_SPACE_GATEWAY)
        return;
    if (!lanes_payload(f->w, &g, row->is_atomic))
        block_payload(f->w, &g);
    response(f->w, &g);
}

/* ---- blocks ------------------------------------------------------------------------------------
 */

/* A row of results is made of all columns. */
static void systolic(struct flow *f, const struct zs_eu_op *op)
{
    const struct zs_eu_dpas *d = &f->p->dpas.items[op->aux];
    uint32_t elements = ZS_EU_DPAS_DEPTH * 1u * d->ops, results = d->rows * 1u * d->lanes,
             dst_B = zs_eu_type_B(d->dst_type);

    f->is_unknown |= d->scaled;
    zs_eu_shadow_reads(f->w, op->src[1], elements * d->bits[0] / 8 * d->lanes, EVERYBODY);
    zs_eu_shadow_reads(f->w, op->src[2], elements * d->bits[1] / 8 * d->rows, EVERYBODY);
    if (d->has_src0)
        zs_eu_shadow_reads(f->w, op->src[0], results * zs_eu_type_B(d->src0_type), EVERYBODY);
    for (uint32_t i = 0; i < results && zs_eu_shadow_is_sure(op); i++)
        zs_eu_shadow_writes(f->w, op->dst + i * dst_B, dst_B,
                            zs_eu_shadow_writer(f->w, op, i % d->lanes));
}

static bool is_control(const struct zs_eu_op *op)
{
    return op->kind == ZS_EU_KIND_GOTO || op->kind == ZS_EU_KIND_BRANCH ||
           op->kind == ZS_EU_KIND_CALL || op->kind == ZS_EU_KIND_RET ||
           op->kind == ZS_EU_KIND_JUMP_UNIFORM;
}

/* What no mask keeps from reading lanes that are off gives them to a temporary, of which only lanes
 * that are on are looked at, or a bit there, by which others choose; so do products that go to an
 * accumulator, in front of `mach`. */
static uint8_t lane_of(struct flow *f, const struct zs_eu_op *op)
{
    const struct zs_eu_inst *inst = &f->p->insts[op->inst];
    bool is_of_rows = op->kind < ZS_EU_ROW_COUNT;
    bool chooses = is_of_rows && zs_eu_row_infos[op->kind].form == ZS_EU_FORM_SEL &&
                   zs_eu_shadow_is_temporary(op->predicate);
    if (op->inst >= f->p->inst_count || op->enables != ZS_EU_OFFSET(all_ones) ||
        (op->predicate != ZS_EU_OFFSET(all_ones) && !chooses))
        return 0;
    bool is_row = is_of_rows || op->kind == ZS_EU_KIND_GATHER || op->kind == ZS_EU_KIND_SCATTER ||
                  op->kind == ZS_EU_KIND_GATHER_REGION || op->kind == ZS_EU_KIND_EXACT;
    bool to_acc = f->to_acc[op->inst];
    f->has_acc |= to_acc;
    bool compares = is_of_rows && zs_eu_row_infos[op->kind].form == ZS_EU_FORM_CMP;
    uint32_t to = compares && !op->arg ? op->flag : op->dst;
    return is_row && (to_acc || (!inst->no_mask && zs_eu_shadow_is_temporary(to)))
               ? (uint8_t)(1 + inst->chan_offset)
               : 0;
}

static void operation(struct flow *f, const struct zs_eu_op *op, bool known)
{
    f->w->lane = lane_of(f, op);
    bool added = zs_eu_shadow_add(f->w, op, known);
    f->w->lane = 0;
    if (added)
        return;
    switch (op->kind) {
    case ZS_EU_KIND_SEND:
        message(f, op);
        break;
    case ZS_EU_KIND_CALL:
        if (op->arg && zs_eu_shadow_is_sure(op))
            zs_eu_shadow_writes(f->w, op->aux, 8, EVERYBODY);
        break;
    case ZS_EU_KIND_DPAS:
        systolic(f, op);
        break;
    case ZS_EU_KIND_RET:
        zs_eu_shadow_reads(f->w, op->src[0], 4, EVERYBODY);
        break;
    case ZS_EU_KIND_GATHER_REGION:
    case ZS_EU_KIND_SCATTER_REGION:
    case ZS_EU_KIND_MOVI:
    case ZS_EU_KIND_LOOK_UP:
    case ZS_EU_KIND_PLANE:
    case ZS_EU_KIND_PAIR:
    case ZS_EU_KIND_CALL_REGISTER:
    case ZS_EU_KIND_JUMP_REGISTER:
        f->is_unknown = true;
        break;
    default:
        break;
    }
}

static uint32_t end_of(const struct zs_eu_program *p, uint32_t block)
{
    return block + 1 < p->block_count ? p->block_op[block + 1] : (uint32_t)p->op_count;
}

static void summarise(struct flow *f, uint32_t block, bool all, const bool *known)
{
    struct zs_eu_shadow_walk *w = f->w;
    size_t node = ((all ? f->p->block_count : 0u) + (size_t)block) * f->size_B;
    bool left = false;

    w->strays = false;
    zs_eu_shadow_forget(w);
    w->ce = all ? f->p->simd_mask : 0;
    for (uint32_t i = f->p->block_op[block]; i < end_of(f->p, block); i++) {
        const struct zs_eu_op *op = &f->p->ops[i];
        f->is_unknown |= left && op->kind != ZS_EU_KIND_HOP && !is_control(op);
        f->is_unknown |= op->kind == ZS_EU_KIND_DOT || op->kind == ZS_EU_KIND_SAD;
        operation(f, op, known[i]);
        left |= is_control(op);
        f->parts[block] |= op->kind == ZS_EU_KIND_GOTO || op->kind == ZS_EU_KIND_BRANCH ||
                           op->kind == ZS_EU_KIND_CALL || op->kind == ZS_EU_KIND_RET;
    }
    f->is_unknown |= w->strays;
    memcpy(f->needs + node, w->need, f->size_B);
    memcpy(f->defines + node, w->define, f->size_B);
}

/* ---- ways --------------------------------------------------------------------------------------
 */

struct targets {
    uint32_t at[TARGETS_MAX];
    unsigned count;
};

static void add_target(struct flow *f, struct targets *to, uint32_t block)
{
    if (block >= f->p->block_count)
        return;
    if (to->count == TARGETS_MAX)
        f->is_unknown = true;
    else
        to->at[to->count++] = block;
}

static void returns(struct flow *f, struct targets *to)
{
    for (size_t i = 0; i < f->p->op_count; i++)
        if (f->p->ops[i].kind == ZS_EU_KIND_CALL)
            add_target(f, to, f->p->ops[i].next_block);
}

static void targets_of(struct flow *f, uint32_t block, struct targets *to)
{
    bool goes_on = true;
    for (uint32_t i = f->p->block_op[block]; i < end_of(f->p, block); i++) {
        const struct zs_eu_op *op = &f->p->ops[i];
        if (op->kind == ZS_EU_KIND_RET)
            returns(f, to);
        else if (is_control(op))
            add_target(f, to, op->block);
        if (op->kind == ZS_EU_KIND_GOTO || op->kind == ZS_EU_KIND_CALL)
            add_target(f, to, op->next_block);
        goes_on &= op->kind != ZS_EU_KIND_END && op->kind != ZS_EU_KIND_FAULT &&
                   !(op->kind == ZS_EU_KIND_SEND && op->arg && zs_eu_shadow_is_sure(op));
        goes_on &= !(op->kind == ZS_EU_KIND_JUMP_UNIFORM && zs_eu_shadow_is_sure(op) &&
                     op->enables == ZS_EU_OFFSET(all_ones));
    }
    if (goes_on)
        add_target(f, to, block + 1);
}

/* What is needed there, and not written by the block in front. */
static bool merge(struct flow *f, size_t node, size_t behind)
{
    uint8_t *to = f->needs + node * f->size_B;
    const uint8_t *define = f->defines + node * f->size_B, *from = f->needs + behind * f->size_B;
    uint64_t few;
    bool more = false;

    for (uint32_t first = 0; first < f->size_B; first += sizeof(few)) {
        memcpy(&few, from + first, sizeof(few));
        for (uint32_t i = first; few && i < first + sizeof(few); i++) {
            if (from[i] == NOBODY || define[i] == EVERYBODY || define[i] == from[i] ||
                to[i] == EVERYBODY || to[i] == from[i])
                continue;
            to[i] = to[i] == NOBODY ? from[i] : (uint8_t)EVERYBODY;
            more = true;
        }
    }
    return more;
}

static bool go_back(struct flow *f, uint32_t block)
{
    struct targets to = {.count = 0};
    uint32_t all = f->p->block_count;
    bool more = false;

    targets_of(f, block, &to);
    for (unsigned i = 0; i < to.count; i++) {
        more |= merge(f, block, to.at[i]);
        more |= merge(f, block, all + to.at[i]); /* others have joined */
        more |= merge(f, all + block, all + to.at[i]);
        if (f->parts[block])
            more |= merge(f, all + block, to.at[i]);
    }
    return more;
}

/* Accumulators that were written for lanes that are on alone are of one block. */
static bool keeps_acc(const struct flow *f)
{
    const uint8_t *acc = f->needs + ZS_EU_OFFSET(acc);
    bool keeps = false;
    for (size_t node = 0; f->has_acc && node < 2 * (size_t)f->p->block_count; node++)
        for (uint32_t i = 0; i < 2 * sizeof(((struct zs_eu_thread *)0)->acc); i++)
            keeps |= acc[node * f->size_B + i] != NOBODY;
    return keeps;
}

static bool reads_acc(const struct zs_eu_op *op)
{
    bool reads = false;
    for (unsigned i = 0; i < 3 && op->kind < ZS_EU_ROW_COUNT; i++)
        reads |= zs_eu_row_infos[op->kind].src_B[i] && zs_eu_shadow_is_acc(op->src[i]);
    return reads;
}

/* What a product goes to is added by an instruction under a mask. */
static bool is_added_masked(const struct flow *f, size_t at)
{
    for (size_t i = at + 1; i < f->p->op_count && f->p->ops[i].kind != ZS_EU_KIND_BLOCK; i++)
        if (reads_acc(&f->p->ops[i]))
            return f->p->ops[i].enables == ZS_EU_OFFSET(ce);
    return false;
}

static void find_acc(struct flow *f)
{
    for (size_t i = 0; i < f->p->op_count; i++) {
        const struct zs_eu_op *op = &f->p->ops[i];
        bool writes = op->kind < ZS_EU_ROW_COUNT || op->kind == ZS_EU_KIND_SCATTER;
        if (op->inst < f->p->inst_count && writes && zs_eu_shadow_is_acc(op->dst) &&
            op->enables == ZS_EU_OFFSET(all_ones) && is_added_masked(f, i))
            f->to_acc[op->inst] = true;
    }
}

/* ---- starts ------------------------------------------------------------------------------------
 */

/* Of registers behind r0 that a thread may start with. */
static void note(struct flow *f, unsigned all)
{
    struct zs_eu_shadow_plan *plan = f->p->shadows;
    uint32_t grf = ZS_EU_OFFSET(grf), grf_B = f->p->regs.grf_B, acc = ZS_EU_OFFSET(acc);
    uint32_t acc_B = f->p->read_acc_slots ? sizeof(((struct zs_eu_thread *)0)->acc) * 2 : 0;
    const uint8_t *needs =
        f->needs + ((all ? f->p->block_count : 0u) + (size_t)f->p->entry_block) * f->size_B;

    for (uint32_t i = 0; i < f->size_B; i++) {
        bool is_a0 = i - ZS_EU_OFFSET(a0) < sizeof(((struct zs_eu_thread *)0)->a0);
        uint32_t reg = (i - grf) / grf_B;
        if (needs[i] == NOBODY)
            continue;
        if (is_a0 || i - acc < acc_B || (i >= grf && reg > 32))
            plan->wants_more[all] = true;
        else if (i >= grf && reg)
            plan->wants[all] |= 1u << (reg - 1);
    }
}

void zs_eu_shadow_flow(struct zs_eu_shadow_walk *w, const bool *known)
{
    struct flow f = {.w = w, .p = w->p, .size_B = ZS_EU_OFFSET(grf) + zs_eu_file_B(w->p)};
    size_t nodes = 2 * (size_t)f.p->block_count;
    struct zs_eu_shadow_plan *plan = f.p->shadows;

    if (nodes * f.size_B <= ROOM_MAX_B) {
        f.needs = malloc(nodes * f.size_B);
        f.defines = malloc(nodes * f.size_B);
        f.parts = calloc(f.p->block_count, sizeof(*f.parts));
        f.to_acc = calloc(f.p->inst_count + 1u, sizeof(*f.to_acc));
    }
    f.is_unknown = !f.needs || !f.defines || !f.parts || !f.to_acc;
    if (!f.is_unknown)
        find_acc(&f);
    w->flows = true;
    for (uint32_t i = 0; i < nodes && !f.is_unknown; i++)
        summarise(&f, i / 2, i & 1, known);
    w->flows = false;
    for (bool more = true; more && !f.is_unknown;) {
        more = false;
        for (uint32_t block = f.p->block_count; block-- > 0;)
            more |= go_back(&f, block);
    }
    f.is_unknown = f.is_unknown || keeps_acc(&f);
    for (unsigned all = 0; all < 2 && !f.is_unknown; all++) {
        plan->wants_more[all] = false;
        note(&f, all);
    }
    free(f.needs);
    free(f.defines);
    free(f.parts);
    free(f.to_acc);
}

bool zs_eu_shadow_is_clean(const struct zs_eu_program *p, bool all, uint32_t payload_B,
                           uint32_t undefined)
{
    const struct zs_eu_shadow_plan *plan = p->shadows;
    uint32_t registers = payload_B / p->regs.grf_B - (payload_B >= p->regs.grf_B);
    uint32_t defined = registers >= 32 ? UINT32_MAX : (1u << registers) - 1;
    return plan && !plan->wants_more[all] && !(plan->wants[all] & ~(defined & ~undefined));
}
