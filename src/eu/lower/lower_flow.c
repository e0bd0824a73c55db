/* SPDX-License-Identifier: MIT */
/* Branches, calls, barriers and sends. */
#include "base/vec.h"
#include "dataport/dataport.h"
#include "eu/lower/lower.h"
#include "eu/lower/lower_inst.h"
#include "eu/lower/send_lower.h"

#include <errno.h>

/* Where the lanes of a branch go. */
enum where { NOWHERE, NEXT, JIP, UIP, BEHIND_UIP };

struct branch_row {
    enum where taken; /* where lanes that leave go */
    bool when_false;  /* lanes whose predicate is false leave, else those where it is true */
};

/*
 * if: false lanes go behind else, or to endif. else: lanes that fall out of the then-part go to
 * endif. break: its UIP is the loop's while, and the lanes go on behind that. goto: up to Gen9
 * lanes whose predicate is false jump (see lower_branch). endif and join only mark where lanes
 * meet.
 */
static const struct branch_row branch_rows[128] = {
    [ZS_OP_IF] = {JIP, true},     [ZS_OP_ELSE] = {JIP, false},
    [ZS_OP_WHILE] = {JIP, false}, [ZS_OP_BREAK] = {BEHIND_UIP, false},
    [ZS_OP_CONT] = {UIP, false},  [ZS_OP_HALT] = {UIP, false},
    [ZS_OP_GOTO] = {UIP, false},  [ZS_OP_BRD] = {JIP, false},
    [ZS_OP_BRC] = {UIP, false},   [ZS_OP_ENDIF] = {NEXT, false},
    [ZS_OP_JOIN] = {NEXT, false},
};

static uint32_t behind(const struct zs_isa_inst *inst)
{
    return inst->offset_B + inst->size_B;
}

static uint32_t target_block(struct zs_eu_lowering *l, int64_t target_B)
{
    uint32_t block = zs_eu_block_at(l->program, target_B);

    if (block == UINT32_MAX)
        zs_eu_refuse(l, ZS_EU_FAULT_TARGET, "%s to 0x%llx, where no instruction starts", l->name,
                     (unsigned long long)target_B);
    return block;
}

/* `break` names the while of its loop; lanes resume behind it. */
static int64_t behind_uip(const struct zs_eu_lowering *l, int64_t uip_B)
{
    const struct zs_eu_program *p = l->program;
    uint32_t inst =
        uip_B < 0 || uip_B > UINT32_MAX ? UINT32_MAX : zs_eu_program_inst_at(p, (uint32_t)uip_B);

    return inst == UINT32_MAX ? uip_B : (int64_t)p->insts[inst].offset_B + p->insts[inst].size_B;
}

static int64_t branch_target(const struct zs_eu_lowering *l, enum where where)
{
    const struct zs_isa_inst *inst = l->inst;
    int64_t jip_B = zs_eu_label(l->program, inst, 0);
    int64_t uip_B = zs_eu_label(l->program, inst, inst->source_count - 1u);

    return where == JIP ? jip_B : where == UIP ? uip_B : behind_uip(l, uip_B);
}

static struct zs_eu_op *emit_jump(struct zs_eu_lowering *l, enum zs_eu_kind kind, uint32_t block)
{
    uint32_t next = zs_eu_block_at(l->program, behind(l->inst));
    struct zs_eu_op *op = zs_eu_emit(l, kind);

    zs_eu_mask(l, op);
    op->block = block;
    op->next_block = next;
    return op;
}

/* What it goes over is nothing to lanes outside its channels: if its own all go, nobody sees
 * whether the others do. */
static bool may_go_together(const struct zs_eu_lowering *l, int64_t to_B)
{
    enum { INSTRUCTIONS_MAX = 64 };
    const struct zs_isa_inst *branch = l->inst;
    uint32_t at_B = behind(branch), end = branch->channel_offset + branch->exec_size;
    struct zs_isa_inst inst;

    if (branch->exec_size >= 32 || branch->flags & ZS_INST_NOMASK)
        return false;
    for (uint32_t i = 0; at_B < to_B; at_B += inst.size_B) {
        if (++i > INSTRUCTIONS_MAX || !zs_eu_decode(l, at_B, &inst) ||
            inst.flags & ZS_INST_NOMASK || inst.channel_offset < branch->channel_offset ||
            inst.channel_offset + inst.exec_size > end ||
            zs_isa_op_flags((enum zs_isa_op)inst.op) & (ZS_OPF_BRANCH | ZS_OPF_SEND))
            return false;
    }
    return at_B == to_B;
}

static void lower_branch(struct zs_eu_lowering *l, const struct branch_row *row)
{
    const struct zs_isa_inst *inst = l->inst;

    if (row->taken == NEXT)
        return;
    if (inst->src[0].kind != ZS_OPERAND_LABEL) {
        zs_eu_refuse(l, ZS_EU_FAULT_UNMODELLED, "%s: a target in a register is not modelled",
                     l->name);
        return;
    }
    if (inst->op == ZS_OP_GOTO && (inst->flags & ZS_INST_BRANCH_CTRL)) {
        uint32_t taken = target_block(l, zs_eu_label(l->program, inst, 1));
        uint32_t other = target_block(l, zs_eu_label(l->program, inst, 0));
        if (!l->failed)
            emit_jump(l, ZS_EU_KIND_GOTO, taken)->next_block = other;
        return;
    }
    if ((inst->op == ZS_OP_IF || inst->op == ZS_OP_ELSE) && (inst->flags & ZS_INST_BRANCH_CTRL)) {
        zs_eu_refuse(l, ZS_EU_FAULT_UNMODELLED, "%s with branch control is not modelled", l->name);
        return;
    }
    int64_t target_B = branch_target(l, row->taken);
    uint32_t block = target_block(l, target_B);
    if (l->failed)
        return;
    bool when_false = row->when_false || (inst->op == ZS_OP_GOTO && l->platform->goto_when_false);
    unsigned together = l->program->insts[l->index].seed ? ZS_EU_BRANCH_ALL_OR_NONE
                        : may_go_together(l, target_B)   ? ZS_EU_BRANCH_TOGETHER
                                                         : 0;
    emit_jump(l, ZS_EU_KIND_BRANCH, block)->arg =
        (uint8_t)((when_false ? ZS_EU_BRANCH_WHEN_FALSE : 0) | together);
}

/* One dword of a register, wherever the region says. */
static bool scalar_source(struct zs_eu_lowering *l, unsigned i, uint32_t *ret_at)
{
    unsigned n = l->n, chunks = l->chunks;
    const struct zs_isa_operand *op = &l->inst->src[i];

    bool is_dword = zs_eu_type_B(op->type) == 4 || op->type == ZS_TYPE_NONE;
    if (op->kind == ZS_OPERAND_IMM || !is_dword || (op->modifiers & ZS_MOD_ABS) ||
        (op->modifiers & ZS_MOD_NEG) || op->kind == ZS_OPERAND_INDIRECT)
        return zs_eu_refuse(l, ZS_EU_FAULT_UNMODELLED,
                            "%s: a target that is no plain dword "
                            "register is not modelled",
                            l->name);
    l->n = l->chunks = 1;
    if (op->type == ZS_TYPE_NONE) /* from Gen12LP on there is none in the encoding */
        rewrite(l)->src[i].type = ZS_TYPE_UD;
    *ret_at = zs_eu_load(l, i, ZS_TYPE_UD, ZS_EU_MOD_ARITH).at;
    l->n = n;
    l->chunks = chunks;
    return !l->failed;
}

/* Bytes of a table of jumps behind the instruction: jumps without a condition, in a row. */
static uint32_t table_B(const struct zs_eu_lowering *l)
{
    enum { TABLE_MAX_B = 1 << 16 };
    uint32_t begin_B = behind(l->inst), at_B = begin_B;
    struct zs_isa_inst inst;

    while (at_B - begin_B < TABLE_MAX_B && zs_eu_decode(l, at_B, &inst) && inst.op == ZS_OP_JMPI &&
           !inst.pred && inst.src[0].kind == ZS_OPERAND_LABEL)
        at_B += inst.size_B;
    return at_B - begin_B;
}

static void lower_jmpi(struct zs_eu_lowering *l)
{
    const struct zs_isa_inst *inst = l->inst;
    struct zs_eu_op *op;
    uint32_t at;

    if (inst->src[0].kind == ZS_OPERAND_LABEL) {
        uint32_t block = target_block(l, zs_eu_label(l->program, inst, 0));
        if (l->failed)
            return;
        op = emit_jump(l, ZS_EU_KIND_JUMP_UNIFORM, block);
        op->aux = l->jump_counter;
    } else {
        if (!scalar_source(l, 0, &at))
            return;
        op = zs_eu_emit(l, ZS_EU_KIND_JUMP_REGISTER);
        zs_eu_mask(l, op);
        op->src[0] = at;
        op->src[1] = table_B(l);
        op->src[2] = l->platform->jumps_from_itself ? inst->size_B : 0;
        op->aux = zs_eu_program_ip(l->program, l->inst->offset_B) +
                  (uint32_t)(behind(inst) - l->inst->offset_B);
        l->program->computes_jumps = true;
    }
    /* the whole thread: channel enables play no part */
    op->enables = (uint16_t)ZS_EU_OFFSET(all_ones);
}

static void lower_call(struct zs_eu_lowering *l)
{
    const struct zs_isa_inst *inst = l->inst;
    const struct zs_isa_operand *dst = &inst->dst;

    bool computed = inst->src[0].kind != ZS_OPERAND_LABEL;
    uint32_t from, block = 0;

    if (inst->source_count != 1) {
        zs_eu_refuse(l, ZS_EU_FAULT_UNMODELLED, "%s: this form is not modelled", l->name);
        return;
    }
    if (!computed)
        block = target_block(l, zs_eu_label(l->program, inst, 0));
    else if (!scalar_source(l, 0, &from))
        return;
    uint32_t at = dst->reg * (uint32_t)l->program->regs.grf_B + dst->subreg_B;
    bool has_dst = dst->file == ZS_FILE_GRF;
    if (has_dst && (dst->kind == ZS_OPERAND_INDIRECT || at + 8 > zs_eu_file_B(l->program)))
        zs_eu_refuse(l, ZS_EU_FAULT_OPERAND, "%s: bad destination", l->name);
    if (l->failed)
        return;
    if (!computed) {
        struct zs_eu_op *op = emit_jump(l, ZS_EU_KIND_CALL, block);
        op->arg = has_dst;
        op->aux = ZS_EU_OFFSET(grf) + at;
        return;
    }
    l->program->computes_jumps = true;
    uint32_t next = zs_eu_block_at(l->program, behind(l->inst));
    struct zs_eu_op *op = zs_eu_emit(l, ZS_EU_KIND_CALL_REGISTER);
    zs_eu_mask(l, op);
    op->src[0] = from;
    op->src[1] = next;
    op->dst = inst->op == ZS_OP_CALLA ? 0 : zs_eu_program_ip(l->program, l->inst->offset_B);
    op->arg = has_dst;
    op->aux = ZS_EU_OFFSET(grf) + at;
}

static void lower_ret(struct zs_eu_lowering *l)
{
    uint32_t at, next = zs_eu_block_at(l->program, behind(l->inst));

    if (!scalar_source(l, 0, &at))
        return;
    struct zs_eu_op *op = zs_eu_emit(l, ZS_EU_KIND_RET);
    zs_eu_mask(l, op);
    op->src[0] = at;
    op->aux = next;
}

static void lower_wait(struct zs_eu_lowering *l)
{
    const struct zs_isa_operand *src = &l->inst->src[0];

    if (src->file != ZS_FILE_N || src->reg != 0 || src->subreg_B / 4 > 2) {
        zs_eu_refuse(l, ZS_EU_FAULT_UNMODELLED, "wait: not for a notification register");
        return;
    }
    zs_eu_emit(l, ZS_EU_KIND_WAIT)->arg = src->subreg_B / 4;
}

/* From XeHPC on it has the barrier's number: 0 is the group's, others are named ones. */
static void lower_barrier(struct zs_eu_lowering *l)
{
    const struct zs_isa_operand *src = &l->inst->src[0];
    uint32_t barrier = src->kind == ZS_OPERAND_IMM ? (uint32_t)src->imm : 0;
    bool has_named = l->platform->has_named_barriers;

    if (barrier > (has_named ? 31u : 0) || src->kind == ZS_OPERAND_INDIRECT ||
        (has_named && src->kind == ZS_OPERAND_REG && src->file != ZS_FILE_NULL)) {
        zs_eu_refuse(l, ZS_EU_FAULT_UNMODELLED, "sync.bar: this barrier is not modelled");
        return;
    }
    struct zs_eu_op *op = zs_eu_emit(l, barrier ? ZS_EU_KIND_WAIT_NAMED : ZS_EU_KIND_WAIT);
    op->arg = (uint8_t)barrier;
}

/* The scoreboard makes no difference to what is computed: results are there at once. */
static void lower_sync(struct zs_eu_lowering *l)
{
    enum { NOP = 0, ALLRD = 2, ALLWR = 3, BAR = 14 };

    switch (l->inst->subfunction) {
    case NOP:
    case ALLRD:
    case ALLWR:
        return;
    case BAR:
        lower_barrier(l);
        return;
    }
    zs_eu_refuse(l, ZS_EU_FAULT_UNMODELLED, "sync: this function is not modelled");
}

/* ---- sends ---- */

uint32_t zs_eu_payload_grfs(const struct zs_isa_inst *inst, const struct zs_isa_operand *op)
{
    bool is_send = zs_isa_op_flags((enum zs_isa_op)inst->op) & ZS_OPF_SEND;
    bool is_longer = is_send && op == &inst->dst && !(inst->flags & ZS_INST_DESC_REG) &&
                     zs_isa_may_be_one_more(inst->sfid, inst->desc, op->grf_count);

    return op->grf_count + is_longer;
}

int zs_eu_send_finish(const struct zs_eu_program *program, struct zs_eu_send *send)
{
    struct zs_eu_send_desc *d = &send->d;
    uint32_t grf_B = program->regs.grf_B, file_B = zs_eu_file_B(program);

    if (!d->is_e64) {
        d->mlen = (uint8_t)(d->desc >> 25 & 15);
        d->rlen = (uint8_t)(d->desc >> 20 & 31);
    }
    if (d->src1_B != UINT32_MAX && !d->xlen_known)
        d->xlen = (uint8_t)(d->ex_desc >> 6 & 31);
    if ((!d->gathers && d->src0_B + d->mlen * grf_B > file_B) ||
        (d->xlen && d->src1_B + d->xlen * grf_B > file_B) ||
        (d->has_dst && d->dst_B + d->rlen * grf_B > file_B))
        return -EINVAL;
    if (d->generation->has_blocks2d && !d->is_e64 &&
        zs_isa_may_be_one_more(d->sfid, d->desc, d->rlen) &&
        (!d->has_dst || d->dst_B + (d->rlen + 1u) * grf_B <= file_B))
        d->rlen++;
    return 0;
}

enum zs_eu_fault_kind zs_eu_send_fault_kind(int error)
{
    return error == -ENOTSUP ? ZS_EU_FAULT_UNMODELLED : ZS_EU_FAULT_MESSAGE;
}

static bool gathers(const struct zs_isa_inst *inst)
{
    return inst->src[0].kind == ZS_OPERAND_INDIRECT && inst->src[0].file == ZS_FILE_S;
}

static bool is_sendg(const struct zs_isa_inst *inst)
{
    return inst->op >= ZS_OP_SENDG && inst->op <= ZS_OP_SENDGXC;
}

static void describe(const struct zs_eu_lowering *l, struct zs_eu_send_desc *ret)
{
    const struct zs_isa_inst *inst = l->inst;
    bool eot = inst->flags & ZS_INST_EOT, ex_in_register = inst->flags & ZS_INST_EXDESC_REG;
    uint32_t grf_B = l->program->regs.grf_B;
    /* these are so without saying it */
    bool is_state = ex_in_register && inst->sfid == ZS_SFID_UGM && l->platform->exdesc_is_state;

    *ret = (struct zs_eu_send_desc){
        .inst = l->index,
        .desc = inst->desc,
        .ex_desc = inst->exdesc | (eot ? 1u << 5 : 0),
        .sfid = inst->sfid,
        .exec_size = inst->exec_size,
        .chan_offset = inst->channel_offset,
        .eot = eot,
        .no_mask = (inst->flags & ZS_INST_NOMASK),
        .generation = zs_isa_generation(l->model->platform),
        .is_surface_offset = (inst->flags & ZS_INST_EXBSO) || is_state,
        .ex_in_register = ex_in_register,
        .ex_offset = ex_in_register ? inst->exdesc_offset : 0,
        .xlen = inst->source_count == 2 ? inst->src[1].grf_count : 0,
        .xlen_known =
            inst->source_count == 2 && (!ex_in_register || is_state || inst->src[1].grf_count),
        .conditional = inst->op == ZS_OP_SENDC || inst->op == ZS_OP_SENDSC,
        .has_dst = inst->dst.file == ZS_FILE_GRF,
        .checks_local = l->params->flags & ZS_EU_LOWER_LOCAL,
        .gathers = gathers(inst),
        .gather_at_B =
            gathers(inst) ? (uint8_t)(inst->src[0].subreg * (is_sendg(inst) ? 1u : 2u)) : 0,
        .dst_B = inst->dst.reg * grf_B,
        .src0_B = gathers(inst) ? 0 : inst->src[0].reg * grf_B,
        .src1_B = inst->source_count == 2 && inst->src[1].file == ZS_FILE_GRF
                      ? inst->src[1].reg * grf_B
                      : UINT32_MAX,
    };
}

/* What sendg has of its own. How much a block of two dimensions brings the payload says: as much as
 * there may be. */
static void describe_e64(const struct zs_eu_lowering *l, struct zs_eu_program_send *send)
{
    enum { BLOCK_GRFS_MAX = 32 };
    const struct zs_isa_inst *inst = l->inst;
    struct zs_eu_send_desc *d = &send->send.d;
    struct zs_message_form form;
    bool named = inst->flags & ZS_INST_INDIRECT0;
    int32_t rlen = zs_e64_form(l->model, inst, &form);

    if (rlen < 0 && inst->dst.reg < l->program->regs.grf_count)
        rlen = ZS_MIN(BLOCK_GRFS_MAX, l->program->regs.grf_count - inst->dst.reg);
    else if (form.is_lsc && rlen > 0 && form.lanes) /* room for as many lanes as payloads have */
        rlen = ZS_MAX(rlen, (int32_t)(form.elements * form.slot_B * form.generation->payload_lanes /
                                      l->program->regs.grf_B));
    d->is_e64 = true;
    d->ex_desc = d->eot ? 1u << 5 : 0;
    d->desc_high = inst->exdesc;
    d->mlen = inst->src[0].grf_count;
    d->rlen = (uint8_t)(d->has_dst && rlen > 0 ? rlen : 0);
    d->xlen = d->src1_B == UINT32_MAX ? 0 : inst->src[1].grf_count;
    d->xlen_known = true;
    d->is_surface_offset = d->ex_in_register = false;
    send->desc_is_reg = false;
    send->ex_desc_is_reg = named && form.surface == ZS_SURFACE_STATE;
    send->ex_desc_a0 = d->base_s0 = inst->desc_subreg;
    d->has_base = named && !send->ex_desc_is_reg;
    send->sampler_is_reg = inst->flags & ZS_INST_INDIRECT1;
    send->sampler_s0 = inst->exdesc_subreg;
}

/* Nothing but the end of a thread: to the thread spawner, from XeHPG on to the gateway. */
static bool ends_thread(const struct zs_eu_send_desc *d)
{
    enum { GATEWAY_FUNCTION = 7, GATEWAY_EOT = 0 };

    return d->eot && (d->sfid == ZS_SFID_TS ||
                      (d->sfid == ZS_SFID_GTWY && (d->desc & GATEWAY_FUNCTION) == GATEWAY_EOT));
}

static bool lower_known_send(struct zs_eu_lowering *l, struct zs_eu_program_send *send)
{
    struct zs_diag diag;

    if (zs_eu_send_finish(l->program, &send->send) < 0)
        return zs_eu_refuse(l, ZS_EU_FAULT_OPERAND,
                            "%s: message with descriptor 0x%08x leaves the register file", l->name,
                            (unsigned)l->inst->desc);
    if (ends_thread(&send->send.d))
        return true;
    if (send->send.d.sfid == ZS_SFID_TS)
        return zs_eu_refuse(l, ZS_EU_FAULT_UNMODELLED,
                            "%s to the thread spawner without EOT is not modelled", l->name);
    zs_diag_clear(&diag);
    int error = l->program->send_lower(&send->send, &diag);
    if (error < 0)
        return zs_eu_refuse(l, zs_eu_send_fault_kind(error), "%s: %s", l->name, diag.text);
    return true;
}

static void mark_payload(struct zs_eu_lowering *l, const struct zs_eu_send_desc *d)
{
    uint32_t grf_B = l->program->regs.grf_B;

    if (d->gathers)
        zs_eu_mark_read(l, 0, zs_eu_file_B(l->program));
    zs_eu_mark_read(l, d->src0_B, d->mlen * grf_B);
    if (d->xlen)
        zs_eu_mark_read(l, d->src1_B, d->xlen * grf_B);
}

static bool is_register(const struct zs_isa_operand *op)
{
    return op->kind == ZS_OPERAND_REG && op->file == ZS_FILE_GRF;
}

/* Addresses are sums of a pointer, which all lanes have alike, and offsets: where in the register
 * file the pointer of what an instruction makes stands. Of other ways to the message nothing is
 * known: two pointers may be taken for one, which costs time. */
void zs_eu_note_pointer(struct zs_eu_lowering *l, const struct zs_isa_inst *inst)
{
    uint32_t grf_B = l->program->regs.grf_B, pointer = UINT32_MAX;

    if (!(inst->flags & ZS_INST_HAS_DST) || !is_register(&inst->dst) ||
        inst->dst.reg >= ZS_ARRAY_LEN(l->pointer_of))
        return;
    for (unsigned s = inst->source_count; s-- > 0;) {
        const struct zs_isa_operand *from = &inst->src[s];
        bool alike = from->vstride == 0 && from->hstride == 0;
        if (!is_register(from) || zs_eu_type_B(from->type) != 8)
            continue;
        if (alike || inst->exec_size == 1)
            pointer = from->reg * grf_B + from->subreg_B;
        else if (pointer == UINT32_MAX)
            pointer = l->pointer_of[from->reg % ZS_ARRAY_LEN(l->pointer_of)];
    }
    l->pointer_of[inst->dst.reg] = pointer;
}

/* Messages by address remember what they hit last: those of a pointer in a place, others of a
 * program in one each, as long as there are some. */
static void place_in_cache(struct zs_eu_lowering *l, struct zs_eu_send *send)
{
    const struct zs_port_message_row *row = NULL;
    const struct zs_port_message *m = send->exec ? zs_eu_send_message(send, &row) : NULL;
    unsigned i = 0;

    if (!m || m->space != ZS_PORT_SPACE_GLOBAL)
        return;
    uint32_t reg = l->inst->src[0].reg;
    bool is_known = !send->d.gathers && reg < ZS_ARRAY_LEN(l->pointer_of);
    uint32_t pointer = is_known ? l->pointer_of[reg] : UINT32_MAX;
    while (i < l->pointer_count && l->pointers[i].at_B != pointer)
        i++;
    unsigned place = i < l->pointer_count ? l->pointers[i].place : l->places_in_cache++;
    if (i == l->pointer_count && pointer != UINT32_MAX && i < ZS_ARRAY_LEN(l->pointers)) {
        l->pointers[i].at_B = pointer;
        l->pointers[l->pointer_count++].place = place;
    }
    zs_eu_send_place_in_cache(send, place);
}

/* A fence that any host is by itself. */
static bool does_nothing(const struct zs_eu_lowering *l, const struct zs_eu_program_send *send)
{
    const struct zs_port_message_row *row = NULL;
    bool known = send->send.exec && !send->desc_is_reg && !send->ex_desc_is_reg;
    const struct zs_port_message *m = known ? zs_eu_send_message(&send->send, &row) : NULL;

    return m && row->is_fence && m->op & ZS_PORT_FENCE_NEAR && !send->send.d.eot &&
           !(l->params->flags & ZS_EU_LOWER_HOOK_MESSAGES);
}

/* What IGC 2 writes for pvc in front of each store that is not optimised: a load from the same
 * addresses, and a move of what it brings to null. It is no read of the program's. */
static bool is_ahead(const struct zs_eu_lowering *l, const struct zs_eu_send *send)
{
    const struct zs_isa_inst *load = l->inst;
    const struct zs_port_message_row *row = NULL;
    const struct zs_port_message *m = send->exec ? zs_eu_send_message(send, &row) : NULL;
    struct zs_isa_inst move, store;
    uint32_t at_B = l->program->insts[l->index].offset_B + load->size_B;

    return m && send->d.has_dst && m->rlen && !row->is_atomic && zs_eu_decode(l, at_B, &move) &&
           move.op == ZS_OP_MOV && !move.cond && move.dst.file == ZS_FILE_NULL &&
           is_register(&move.src[0]) && move.src[0].reg == load->dst.reg &&
           zs_eu_decode(l, at_B + move.size_B, &store) && store.op == load->op &&
           store.sfid == load->sfid && store.dst.file == ZS_FILE_NULL &&
           is_register(&store.src[0]) && store.src[0].reg == load->src[0].reg &&
           store.exec_size == load->exec_size && store.channel_offset == load->channel_offset;
}

/* Who wants to look at it: ZS_EU_HOOKED_* */
static uint8_t hooked_by(const struct zs_eu_lowering *l, const struct zs_eu_program_send *send)
{
    const struct zs_port_message_row *row = NULL;
    uint32_t flags = l->params->flags;
    bool by_any = flags & (ZS_EU_LOWER_HOOK_BARRIERS | ZS_EU_LOWER_HOOK_MESSAGES);
    bool by_defined = flags & ZS_EU_LOWER_DEFINED;
    if (!send->desc_is_reg && !send->ex_desc_is_reg) {
        const struct zs_port_message *m =
            send->send.exec ? zs_eu_send_message(&send->send, &row) : NULL;
        bool is_barrier = m && (m->space == ZS_PORT_SPACE_GATEWAY || m->bytes_written == 1);
        by_any = by_any && (flags & ZS_EU_LOWER_HOOK_MESSAGES || is_barrier);
        by_defined = by_defined && m && m->space != ZS_PORT_SPACE_GATEWAY && !row->is_fence;
    }
    return (uint8_t)((by_any ? ZS_EU_HOOKED : 0) | (by_defined ? ZS_EU_HOOKED_DEFINED : 0));
}

static void lower_send(struct zs_eu_lowering *l)
{
    struct zs_eu_program *p = l->program;
    const struct zs_isa_inst *inst = l->inst;
    struct zs_eu_program_send send = {
        .desc_is_reg = inst->flags & ZS_INST_DESC_REG,
        .ex_desc_is_reg = inst->flags & ZS_INST_EXDESC_REG,
        .desc_a0 = inst->desc_subreg,
        .ex_desc_a0 = inst->exdesc_subreg,
        .sfid_in_ex_desc = l->platform->sfid_in_exdesc,
    };

    uint32_t names = is_sendg(inst) ? inst->src[0].grf_count : 16;

    describe(l, &send.send.d);
    if (is_sendg(inst))
        describe_e64(l, &send);
    p->insts[l->index].is_send = true;
    p->insts[l->index].send = (uint32_t)p->sends.count;
    if (inst->dst.kind == ZS_OPERAND_INDIRECT ||
        (inst->src[0].kind == ZS_OPERAND_INDIRECT && !gathers(inst)) ||
        (gathers(inst) && send.send.d.gather_at_B + names > sizeof(((struct zs_eu_thread *)0)->s0)))
        zs_eu_refuse(l, ZS_EU_FAULT_UNMODELLED, "%s: indirect operands are not modelled", l->name);
    else if (!send.desc_is_reg && !send.ex_desc_is_reg) {
        if (lower_known_send(l, &send))
            place_in_cache(l, &send.send);
        send.send.d.is_ahead =
            l->params->flags & ZS_EU_LOWER_HOOK_MESSAGES && is_ahead(l, &send.send);
        mark_payload(l, &send.send.d);
    } else {
        if (!send.desc_is_reg) /* how much it moves is known: whose it is alone comes from a0 */
            (void)zs_eu_send_finish(p, &send.send);
        zs_eu_mark_read(l, 0, zs_eu_file_B(p));
    }
    if (!ZS_VEC_PUSH(&p->sends, send)) {
        l->no_memory = true;
        return;
    }
    if (l->failed || does_nothing(l, &send))
        return;
    struct zs_eu_op *op = zs_eu_emit(l, ZS_EU_KIND_SEND);
    zs_eu_mask(l, op);
    op->aux = (uint32_t)p->sends.count - 1;
    op->arg = send.send.d.eot;
    op->cls = hooked_by(l, &send);
}

/* ---- the table ---- */

bool zs_eu_inst_ends_block(const struct zs_isa_inst *inst)
{
    uint32_t flags = zs_isa_op_flags((enum zs_isa_op)inst->op);

    return flags & ZS_OPF_SEND ? inst->flags & ZS_INST_EOT : flags & ZS_OPF_BRANCH;
}

bool zs_eu_lower_flow(struct zs_eu_lowering *l)
{
    static void (*const rows[128])(struct zs_eu_lowering * l) = {
        [ZS_OP_JMPI] = lower_jmpi,    [ZS_OP_CALL] = lower_call,   [ZS_OP_CALLA] = lower_call,
        [ZS_OP_RET] = lower_ret,      [ZS_OP_WAIT] = lower_wait,   [ZS_OP_SEND] = lower_send,
        [ZS_OP_SENDC] = lower_send,   [ZS_OP_SENDS] = lower_send,  [ZS_OP_SENDSC] = lower_send,
        [ZS_OP_SENDG] = lower_send,   [ZS_OP_SENDGC] = lower_send, [ZS_OP_SENDGX] = lower_send,
        [ZS_OP_SENDGXC] = lower_send, [ZS_OP_SYNC] = lower_sync,
    };
    const struct branch_row *branch = &branch_rows[l->inst->op];

    if (branch->taken != NOWHERE)
        lower_branch(l, branch);
    else if (rows[l->inst->op])
        rows[l->inst->op](l);
    return branch->taken != NOWHERE || rows[l->inst->op];
}
