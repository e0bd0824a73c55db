/* SPDX-License-Identifier: MIT */
#include "eu/lower/show.h"

#include "eu/lower/lower_operand.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *const names[ZS_EU_KIND_COUNT] = {
#define ZS_EU_UN(id, td, ta, mode, expr)          [ZS_EU_ROW_##id] = #id,
#define ZS_EU_BIN(id, td, ta, tb, mode, expr)     [ZS_EU_ROW_##id] = #id,
#define ZS_EU_TER(id, td, ta, tb, tc, mode, expr) [ZS_EU_ROW_##id] = #id,
#define ZS_EU_CMP(id, ta, mode, expr)             [ZS_EU_ROW_##id] = #id,
#define ZS_EU_SEL(id, ta)                         [ZS_EU_ROW_##id] = #id,
#include "eu/exec/sem.def"
    [ZS_EU_KIND_GATHER] = "GATHER",
    [ZS_EU_KIND_SCATTER] = "SCATTER",
    [ZS_EU_KIND_DPAS] = "DPAS",
#define ZS_EU_KIND(id, handler) [ZS_EU_KIND_##id] = #id,
#include "eu/exec/kind.def"
};

const char *zs_eu_kind_name(unsigned kind)
{
    return kind < ZS_EU_KIND_COUNT ? names[kind] : "?";
}

/* ---- places ---- */

/* Parts of a thread that operands lie in. */
static const struct part {
    const char *name;
    uint32_t start_B, size_B, each_B; /* each_B: of one that has a number */
    bool writable;
} parts[] = {
    {"f", ZS_EU_OFFSET(flag), sizeof(uint32_t[ZS_EU_FLAGS_MAX]), 4, true},
    {"a0.", ZS_EU_OFFSET(a0), sizeof(uint16_t[ZS_EU_A0_MAX]), 2, true},
    {"cr0.", ZS_EU_OFFSET(cr0), 16, 4, true},
    {"sr0.", ZS_EU_OFFSET(sr0), 16, 4, true},
    {"n0.", ZS_EU_OFFSET(n0), 16, 4, true},
    {"tm0.", ZS_EU_OFFSET(tm0), 20, 4, true},
    {"s0.", ZS_EU_OFFSET(s0), sizeof(uint64_t[ZS_EU_S0_QWORDS]), 8, true},
    {"msg0.", ZS_EU_OFFSET(msg0), 4, 4, false},
    {"ip", ZS_EU_OFFSET(ip_B), 4, 0, true},
    {"ce", ZS_EU_OFFSET(ce), 4, 0, false},
    {"ones", ZS_EU_OFFSET(all_ones), 4, 0, false},
    {"pred", ZS_EU_OFFSET(predicate), 4, 0, true},
    {"acc.", ZS_EU_OFFSET(acc), sizeof(uint32_t[ZS_EU_ACC_SLOTS_MAX]), 4, true},
    {"acch.", ZS_EU_OFFSET(acc_high), sizeof(uint32_t[ZS_EU_ACC_SLOTS_MAX]), 4, true},
    {"r", ZS_EU_OFFSET(grf), ZS_EU_GRF_FILE_MAX_B + ZS_EU_GUARD_B, 0, true},
    {"t", ZS_EU_OFFSET(temp), ZS_EU_TEMP_COUNT *ZS_EU_TEMP_B, ZS_EU_TEMP_B, true},
    {"null", ZS_EU_OFFSET(sink), ZS_EU_TEMP_B, 0, true},
    {"pair", ZS_EU_OFFSET(pair), ZS_EU_PAIR_B, 0, false},
    {"#", ZS_EU_OFFSET(constant), ZS_EU_CONST_B + 64, 1, false},
};

static const struct part *part_of(uint32_t at)
{
    for (size_t i = 0; i < ZS_ARRAY_LEN(parts); i++) {
        if (at >= parts[i].start_B && at - parts[i].start_B < parts[i].size_B)
            return &parts[i];
    }
    return NULL;
}

static void put_constant(const struct zs_eu_program *p, uint32_t from, unsigned size_B,
                         struct zs_buf *ret)
{
    uint64_t value = 0;

    if (from + size_B <= ZS_EU_CONST_B)
        memcpy(&value, p->constant + from, size_B);
    zs_buf_printf(ret, "#0x%llx", (unsigned long long)value);
}

/* n elements of a size, or one for all. */
static void put_place(const struct zs_eu_program *p, uint32_t at, unsigned size_B, unsigned count,
                      struct zs_buf *ret)
{
    const struct part *part = part_of(at);

    if (!part) {
        zs_buf_printf(ret, "?%u", at);
        return;
    }
    uint32_t from = at - part->start_B;
    if (part->name[0] == '#')
        put_constant(p, from, size_B, ret);
    else if (part->name[0] == 'r')
        zs_buf_printf(ret, "r%u.%u", from / p->regs.grf_B, from % p->regs.grf_B);
    else if (part->each_B)
        zs_buf_printf(ret, "%s%u", part->name, from / part->each_B);
    else
        zs_buf_puts(ret, part->name);
    zs_buf_printf(ret, ":%u", 8 * size_B);
    if (count > 1)
        zs_buf_printf(ret, "x%u", count);
}

/* ---- operations ---- */

static void put_mask(const struct zs_eu_program *p, const struct zs_eu_op *op, struct zs_buf *ret)
{
    bool all = op->enables == ZS_EU_OFFSET(all_ones) && op->predicate == ZS_EU_OFFSET(all_ones) &&
               !op->pred_xor;

    if (all)
        return;
    zs_buf_puts(ret, "  [");
    put_place(p, op->enables, 4, 1, ret);
    if (op->chan_offset)
        zs_buf_printf(ret, ">>%u", op->chan_offset);
    if (op->predicate != ZS_EU_OFFSET(all_ones)) {
        zs_buf_printf(ret, " & %s", op->pred_xor ? "~" : "");
        put_place(p, op->predicate, 4, 1, ret);
        if (op->pred_shift)
            zs_buf_printf(ret, ">>%u", op->pred_shift);
    }
    zs_buf_printf(ret, " & 0x%x]", op->lanes);
}

static void put_row(const struct zs_eu_program *p, const struct zs_eu_op *op, struct zs_buf *ret)
{
    const struct zs_eu_row_info *row = &zs_eu_row_infos[op->kind];
    bool one = op->cls == ZS_EU_CLASS_N1;
    const char *comma = " ";

    if (row->form == ZS_EU_FORM_CMP) {
        zs_buf_puts(ret, " ");
        put_place(p, op->flag, 4, 1, ret);
        zs_buf_printf(ret, "<<%u", op->flag_shift);
        comma = ", ";
    }
    if (row->form != ZS_EU_FORM_CMP || op->arg) {
        zs_buf_puts(ret, comma);
        put_place(p, op->dst, row->dst_B ? row->dst_B : row->src_B[0], one ? 1 : op->count, ret);
    }
    zs_buf_puts(ret, " <-");
    for (unsigned i = 0; i < 3; i++) {
        if (!row->src_B[i])
            continue;
        zs_buf_puts(ret, i ? ", " : " ");
        put_place(p, op->src[i], row->src_B[i], one || op->cls >> i & 1 ? 1 : op->count, ret);
    }
}

static void put_send(const struct zs_eu_program *p, const struct zs_eu_op *op, struct zs_buf *ret)
{
    const struct zs_eu_send_desc *d = &op->send->send.d;

    zs_buf_printf(ret, " sfid %u, r%u..+%u", d->sfid, d->src0_B / p->regs.grf_B, d->mlen);
    if (d->xlen)
        zs_buf_printf(ret, ", r%u..+%u", d->src1_B / p->regs.grf_B, d->xlen);
    if (d->has_dst && d->rlen)
        zs_buf_printf(ret, " -> r%u..+%u", d->dst_B / p->regs.grf_B, d->rlen);
    if (op->send->desc_is_reg || op->send->ex_desc_is_reg)
        zs_buf_puts(ret, ", descriptor in a0");
    if (d->eot)
        zs_buf_puts(ret, ", ends the thread");
}

static void put_op(const struct zs_eu_program *p, const struct zs_eu_op *op, struct zs_buf *ret)
{
    zs_buf_printf(ret, "        %-15s", zs_eu_kind_name(op->kind));
    switch (op->kind) {
    case ZS_EU_KIND_GATHER:
    case ZS_EU_KIND_SCATTER:
        zs_buf_puts(ret, " ");
        put_place(p, op->dst, 1u << op->cls, op->count, ret);
        zs_buf_puts(ret, " <- ");
        put_place(p, op->src[0], 1u << op->cls, op->count, ret);
        zs_buf_printf(ret, ", stride %u", op->src[1]);
        break;
    case ZS_EU_KIND_BLOCK:
        zs_buf_printf(ret, " %u, %u instructions", op->block, op->aux);
        break;
    case ZS_EU_KIND_BRANCH:
    case ZS_EU_KIND_GOTO:
    case ZS_EU_KIND_CALL:
    case ZS_EU_KIND_JUMP_UNIFORM:
        zs_buf_printf(ret, " block %u, else %u", op->block, op->next_block);
        if (op->kind == ZS_EU_KIND_BRANCH && op->arg & ZS_EU_BRANCH_TOGETHER)
            zs_buf_puts(ret, ", all if its lanes do");
        if (op->kind == ZS_EU_KIND_BRANCH && op->arg & ZS_EU_BRANCH_ALL_OR_NONE)
            zs_buf_puts(ret, ", all or none");
        break;
    case ZS_EU_KIND_SEND:
        put_send(p, op, ret);
        break;
    default:
        if (op->kind < ZS_EU_ROW_COUNT)
            put_row(p, op, ret);
    }
    put_mask(p, op, ret);
    zs_buf_puts(ret, "\n");
}

void zs_eu_program_show(const struct zs_eu_program *p, enum zs_isa_platform platform,
                        struct zs_buf *ret)
{
    char line[ZS_ISA_LINE_MAX];
    uint32_t shown = UINT32_MAX;

    for (size_t i = 0; i < p->op_count; i++) {
        const struct zs_eu_op *op = &p->ops[i];
        struct zs_isa_inst inst;
        if (op->kind == ZS_EU_KIND_BLOCK) {
            zs_buf_printf(ret, "block %u\n", op->block);
        } else if (op->inst != shown && op->inst < p->inst_count) {
            const struct zs_eu_inst *at = &p->insts[op->inst];
            shown = op->inst;
            zs_isa_decode_one(platform, zs_span_make(at->raw, at->size_B), &inst);
            size_t length = zs_isa_print_one(platform, &inst, 0, line);
            bool is_function = at->offset_B < p->kernel_B;
            zs_buf_printf(ret, is_function ? "  f+%05x %.*s\n" : "  %05x %.*s\n",
                          at->offset_B - (is_function ? 0 : p->kernel_B), (int)length, line);
        }
        put_op(p, op, ret);
    }
}

/* ---- verifying ---- */

static int wrong(struct zs_diag *diag, const struct zs_eu_op *op, const char *why)
{
    return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "operation %s of instruction %u: %s",
                       zs_eu_kind_name(op->kind), op->inst, why);
}

/* All of these bytes in one part, which may be written if they are. */
static bool fits(uint32_t at, uint32_t size_B, bool writes)
{
    const struct part *part = part_of(at);

    return part && (!writes || part->writable) && at - part->start_B + size_B <= part->size_B;
}

static bool verify_row(const struct zs_eu_op *op, struct zs_diag *diag)
{
    const struct zs_eu_row_info *row = &zs_eu_row_infos[op->kind];
    bool one = op->cls == ZS_EU_CLASS_N1, compares = row->form == ZS_EU_FORM_CMP;
    uint32_t many = one ? 1 : 8u * op->chunks, dst_B = compares ? row->src_B[0] : row->dst_B;

    for (unsigned i = 0; i < 3; i++) {
        uint32_t count = op->cls >> i & 1 ? 1 : many;
        if (row->src_B[i] && !fits(op->src[i], count * row->src_B[i], false))
            return wrong(diag, op, "a source outside of what can be read") == 0;
    }
    /* of architecture registers a chunk may have neighbours, whose lanes are off */
    bool few = !one && op->dst < ZS_EU_OFFSET(acc) && op->lanes < 0xff && op->lanes;
    uint32_t written = few ? 32 - (uint32_t)__builtin_clz(op->lanes) : many;
    if ((!compares || op->arg) && !fits(op->dst, written * dst_B, true))
        return wrong(diag, op, "a destination outside of what can be written") == 0;
    if (compares && !fits(op->flag, 4, true))
        return wrong(diag, op, "no flag") == 0;
    return true;
}

static bool verify_op(const struct zs_eu_program *p, const struct zs_eu_op *op,
                      struct zs_diag *diag)
{
    bool jumps = op->kind == ZS_EU_KIND_BRANCH || op->kind == ZS_EU_KIND_GOTO ||
                 op->kind == ZS_EU_KIND_CALL || op->kind == ZS_EU_KIND_JUMP_UNIFORM;

    if (op->kind >= ZS_EU_KIND_COUNT || op->inst > p->inst_count)
        return wrong(diag, op, "no such kind or instruction") == 0;
    if (!fits(op->enables, 4, false) || !fits(op->predicate, 4, false))
        return wrong(diag, op, "a mask that is no word of the thread") == 0;
    bool computes = op->kind != ZS_EU_KIND_FAULT; /* which says what is wrong with its channels */
    if (computes && (op->chunks == 0 || op->chunks > 4 || op->count > ZS_EU_LANES_MAX))
        return wrong(diag, op, "channels that there are none of") == 0;
    if (jumps && op->block >= p->block_count)
        return wrong(diag, op, "a jump to no block") == 0;
    if (op->kind == ZS_EU_KIND_BLOCK && op->block >= p->block_count)
        return wrong(diag, op, "no block") == 0;
    if (op->kind == ZS_EU_KIND_FAULT && op->aux >= p->faults.count)
        return wrong(diag, op, "no fault") == 0;
    bool by_region = op->kind == ZS_EU_KIND_GATHER_REGION || op->kind == ZS_EU_KIND_SCATTER_REGION;
    if (by_region && op->aux >= p->regions.count)
        return wrong(diag, op, "no region") == 0;
    return op->kind >= ZS_EU_ROW_COUNT || verify_row(op, diag);
}

bool zs_eu_program_verify(const struct zs_eu_program *p, struct zs_diag *diag)
{
    size_t versions = p->full_ce ? 2 : 1;

    for (size_t i = 0; i < versions * p->op_count; i++) {
        if (!verify_op(p, &p->ops[i], diag))
            return false;
    }
    for (uint32_t block = 0; block < p->block_count; block++) {
        const struct zs_eu_op *op = &p->ops[p->block_op[block]];
        if (p->block_op[block] >= p->op_count || op->kind != ZS_EU_KIND_BLOCK || op->block != block)
            return wrong(diag, op, "a block that starts elsewhere") == 0;
    }
    return true;
}
