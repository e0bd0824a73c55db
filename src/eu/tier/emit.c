/* SPDX-License-Identifier: MIT */
/*
 * Operations in LLVM's language: masks, rows, moves between places, flags. emit_flow.c has the
 * functions that they stand in, and how these are left; emit_value.c bytes of the thread as values.
 */
#include "eu/tier/emit.h"
#include "eu/lower/show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUE(...) zs_eu_emit_value(e, __VA_ARGS__)
#define LINE(...)  zs_eu_emit_line(e, __VA_ARGS__)

/* ---- masks ---- */

/* What is known of a word when the function is written: enables and predicates that are constants.
 */
static bool known_word(const struct zs_eu_emit *e, uint32_t at, uint32_t *ret)
{
    if (at == ZS_EU_OFFSET(all_ones))
        *ret = UINT32_MAX;
    else if (at == ZS_EU_OFFSET(ce) && e->full)
        *ret = e->p->full_ce;
    else
        return false;
    return true;
}

struct zs_eu_emit_mask zs_eu_emit_constant_mask(uint32_t bits)
{
    return (struct zs_eu_emit_mask){.known = true, .bits = bits};
}

unsigned zs_eu_emit_mask_value(struct zs_eu_emit *e, struct zs_eu_emit_mask mask)
{
    if (mask.known)
        return VALUE("add i32 0, %u", mask.bits);
    return mask.inverted ? VALUE("xor i32 %%v%u, -1", mask.value) : mask.value;
}

struct zs_eu_emit_mask zs_eu_emit_mask_word(struct zs_eu_emit *e, uint32_t at)
{
    uint32_t bits;

    if (known_word(e, at, &bits))
        return zs_eu_emit_constant_mask(bits);
    if (at == ZS_EU_OFFSET(ce))
        return (struct zs_eu_emit_mask){.value = VALUE("load i32, i32* %%ce")};
    return (struct zs_eu_emit_mask){.value = zs_eu_emit_word(e, at)};
}

struct zs_eu_emit_mask zs_eu_emit_mask_and(struct zs_eu_emit *e, struct zs_eu_emit_mask a,
                                           struct zs_eu_emit_mask b)
{
    if (a.known && b.known)
        return zs_eu_emit_constant_mask(a.bits & b.bits);
    if ((a.known && a.bits == 0) || (b.known && b.bits == 0))
        return zs_eu_emit_constant_mask(0);
    if (a.known && a.bits == UINT32_MAX)
        return b;
    if (b.known && b.bits == UINT32_MAX)
        return a;
    unsigned x = zs_eu_emit_mask_value(e, a), y = zs_eu_emit_mask_value(e, b);
    return (struct zs_eu_emit_mask){.value = VALUE("and i32 %%v%u, %%v%u", x, y)};
}

struct zs_eu_emit_mask zs_eu_emit_mask_shift(struct zs_eu_emit *e, struct zs_eu_emit_mask a,
                                             int right)
{
    if (right == 0)
        return a;
    if (a.known)
        return zs_eu_emit_constant_mask(right > 0 ? a.bits >> right : a.bits << -right);
    unsigned value = zs_eu_emit_mask_value(e, a);
    return (struct zs_eu_emit_mask){.value = right > 0 ? VALUE("lshr i32 %%v%u, %d", value, right)
                                                       : VALUE("shl i32 %%v%u, %d", value, -right)};
}

struct zs_eu_emit_mask zs_eu_emit_mask_xor(struct zs_eu_emit *e, struct zs_eu_emit_mask a,
                                           uint32_t x)
{
    if (x == 0)
        return a;
    if (a.known)
        return zs_eu_emit_constant_mask(a.bits ^ x);
    if (x == UINT32_MAX)
        return (struct zs_eu_emit_mask){.value = a.value, .inverted = !a.inverted};
    return (struct zs_eu_emit_mask){.value =
                                        VALUE("xor i32 %%v%u, %u", zs_eu_emit_mask_value(e, a), x)};
}

/* Channels that the enables leave on. */
static struct zs_eu_emit_mask enabled(struct zs_eu_emit *e, const struct zs_eu_op *op)
{
    return zs_eu_emit_mask_shift(e, zs_eu_emit_mask_word(e, op->enables), op->chan_offset);
}

static struct zs_eu_emit_mask chooser(struct zs_eu_emit *e, const struct zs_eu_op *op)
{
    return zs_eu_emit_mask_xor(
        e, zs_eu_emit_mask_shift(e, zs_eu_emit_mask_word(e, op->predicate), op->pred_shift),
        op->pred_xor);
}

/* zs_eu_active() */
struct zs_eu_emit_mask zs_eu_emit_active(struct zs_eu_emit *e, const struct zs_eu_op *op)
{
    struct zs_eu_emit_mask on = zs_eu_emit_mask_and(e, enabled(e, op), chooser(e, op));

    return zs_eu_emit_mask_and(e, on, zs_eu_emit_constant_mask(op->lanes));
}

unsigned zs_eu_emit_lanes(struct zs_eu_emit *e, struct zs_eu_emit_mask mask, unsigned first,
                          unsigned lanes)
{
    bool inverted = !mask.known && mask.inverted; /* as lanes: LLVM sees through it */

    mask.inverted = false;
    struct zs_eu_emit_mask some = zs_eu_emit_mask_shift(e, mask, (int)first);
    unsigned id = VALUE("trunc i32 %%v%u to i%u", zs_eu_emit_mask_value(e, some), lanes);
    id = VALUE("bitcast i%u %%v%u to <%u x i1>", lanes, id, lanes);
    if (!inverted)
        return id;
    unsigned ones = VALUE("bitcast i%u -1 to <%u x i1>", lanes, lanes);
    return VALUE("xor <%u x i1> %%v%u, %%v%u", lanes, id, ones);
}

unsigned zs_eu_emit_all_on(struct zs_eu_emit *e, unsigned bits, unsigned mask, unsigned first,
                           unsigned lanes)
{
    struct zs_eu_emit_mask off = {.value = mask, .inverted = true};
    unsigned id;

    if (zs_eu_host_usable(ZS_EU_HOST_AVX512)) { /* lanes are bits */
        off.value = zs_eu_emit_lanes(e, off, first, lanes);
        id = VALUE("or <%u x i1> %%v%u, %%v%u", lanes, bits, off.value);
        id = VALUE("bitcast <%u x i1> %%v%u to i%u", lanes, id, lanes);
    } else {
        off = zs_eu_emit_mask_shift(e, off, (int)first);
        id = VALUE("trunc i32 %%v%u to i%u", zs_eu_emit_mask_value(e, off), lanes);
        bits = VALUE("bitcast <%u x i1> %%v%u to i%u", lanes, bits, lanes);
        id = VALUE("or i%u %%v%u, %%v%u", lanes, bits, id);
    }
    return VALUE("icmp eq i%u %%v%u, -1", lanes, id);
}

/* Where lanes are on a value, else an old one. Floats as such: LLVM masks the operation itself
 * then, and denormals in lanes that are off, which take the host long, are not computed with. */
static unsigned blend(struct zs_eu_emit *e, const char *real, unsigned size_B, unsigned lanes,
                      unsigned on, unsigned value, unsigned old)
{
    char whole[16];

    snprintf(whole, sizeof(whole), "i%u", 8 * size_B);
    const char *type = real ? real : whole;
    for (unsigned i = 0; i < 2 && real; i++) {
        unsigned *v = i ? &old : &value;
        *v = VALUE("bitcast <%u x %s> %%v%u to <%u x %s>", lanes, whole, *v, lanes, real);
    }
    value = VALUE("select <%u x i1> %%v%u, <%u x %s> %%v%u, <%u x %s> %%v%u", lanes, on, lanes,
                  type, value, lanes, type, old);
    return real ? VALUE("bitcast <%u x %s> %%v%u to <%u x %s>", lanes, real, value, lanes, whole)
                : value;
}

/* Elements of an operation from the first-th channel on; those of lanes that are off as they were,
 * unless nobody reads them. */
static void write_masked(struct zs_eu_emit *e, const struct zs_eu_op *op, uint32_t at,
                         unsigned size_B, unsigned lanes, unsigned value,
                         struct zs_eu_emit_mask mask, unsigned first)
{
    uint32_t all = (1u << lanes) - 1, bits = mask.bits >> first & all;

    if (mask.known && bits == 0)
        return;
    zs_eu_emit_lanes_at(e, op, at - first * size_B, size_B);
    if (mask.known ? bits != all : zs_eu_emit_keeps(e, op, at, lanes * size_B, first, lanes)) {
        unsigned on = zs_eu_emit_lanes(e, mask, first, lanes);
        unsigned old = zs_eu_emit_read_old(e, at, size_B, lanes);
        value = blend(e, op->kind < ZS_EU_ROW_COUNT ? zs_eu_row_texts[op->kind].real : NULL, size_B,
                      lanes, on, value, old);
        if (e->dry && zs_eu_emit_partly(op, first, lanes))
            zs_eu_emit_reads(e, at, lanes * size_B);
        else if (e->dry && op->enables == ZS_EU_OFFSET(ce))
            zs_eu_emit_writes_lanes(e, at, lanes * size_B);
        e->quiet++;
        zs_eu_emit_write(e, at, size_B, lanes, value);
        e->quiet--;
    } else {
        zs_eu_emit_write(e, at, size_B, lanes, value);
    }
    zs_eu_emit_lanes_end(e);
}

/* One element, if a channel's bit is set. */
static void write_one_masked(struct zs_eu_emit *e, uint32_t at, unsigned size_B, unsigned value,
                             struct zs_eu_emit_mask mask, unsigned channel)
{
    if (mask.known && !(mask.bits >> channel & 1))
        return;
    if (!mask.known) {
        unsigned bit = zs_eu_emit_mask_value(e, zs_eu_emit_mask_shift(e, mask, (int)channel));
        bit = VALUE("trunc i32 %%v%u to i1", bit);
        unsigned old = zs_eu_emit_read_one(e, at, size_B);
        value =
            VALUE("select i1 %%v%u, i%u %%v%u, i%u %%v%u", bit, 8 * size_B, value, 8 * size_B, old);
    }
    zs_eu_emit_write_one(e, at, size_B, value);
}

/* zs_eu_write_flag() with `active` */
static void write_flag(struct zs_eu_emit *e, const struct zs_eu_op *op,
                       struct zs_eu_emit_mask active, unsigned bits)
{
    unsigned on = zs_eu_emit_mask_value(e, active), old = zs_eu_emit_word(e, op->flag);

    bits = VALUE("and i32 %%v%u, %%v%u", bits, on);
    bits = VALUE("shl i32 %%v%u, %u", bits, op->flag_shift);
    on = VALUE("shl i32 %%v%u, %u", on, op->flag_shift);
    on = VALUE("xor i32 %%v%u, -1", on);
    old = VALUE("and i32 %%v%u, %%v%u", old, on);
    zs_eu_emit_set_word(e, op->flag, VALUE("or i32 %%v%u, %%v%u", old, bits));
}

/* ---- rows ---- */

static bool can_operand(uint32_t at, unsigned size_B, bool one, unsigned chunks)
{
    if (one)
        return zs_eu_emit_can_scalar(at, size_B);
    uint32_t a0 = ZS_EU_OFFSET(a0), end = at + 8 * size_B * chunks;
    if (zs_eu_emit_in_head(at))
        return at >= a0 && end <= a0 + ZS_EU_A0_MAX * 2 && at % 4 == 0;
    return end <= sizeof(struct zs_eu_thread);
}

bool zs_eu_emit_can_row(const struct zs_eu_op *op)
{
    const struct zs_eu_row_info *row = &zs_eu_row_infos[op->kind];
    const struct zs_eu_row_text *text = &zs_eu_row_texts[op->kind];
    bool one = op->cls == ZS_EU_CLASS_N1;

    if (row->form != ZS_EU_FORM_SEL && !text->function && !text->code)
        return false;
    for (unsigned i = 0; i < 3; i++) {
        if (row->src_B[i] &&
            !can_operand(op->src[i], row->src_B[i], one || op->cls >> i & 1, op->chunks))
            return false;
    }
    bool writes = row->form != ZS_EU_FORM_CMP || op->arg;
    uint32_t dst_B = row->form == ZS_EU_FORM_CMP ? row->src_B[0] : row->dst_B;
    return !writes || can_operand(op->dst, dst_B, one, op->chunks);
}

/* How many lanes a step of it has. */
static unsigned row_lanes(const struct zs_eu_emit *e, const struct zs_eu_op *op)
{
    bool wide = zs_eu_row_infos[op->kind].form == ZS_EU_FORM_SEL || zs_eu_row_texts[op->kind].wide;

    return op->cls != ZS_EU_CLASS_N1 && op->chunks % 2 == 0 && wide && zs_eu_emit_modes_fold(e, op)
               ? 16
               : 8;
}

/* Sources that are one element: read before anything is stored, which may be over them. */
static void read_ones(struct zs_eu_emit *e, const struct zs_eu_op *op, unsigned ret[3])
{
    for (unsigned i = 0; i < 3; i++) {
        unsigned size_B = zs_eu_row_infos[op->kind].src_B[i];
        if (size_B && (op->cls >> i & 1))
            ret[i] = zs_eu_emit_read_one(e, op->src[i], size_B);
    }
}

/* Sources of lanes from the first-th on. */
static void row_sources(struct zs_eu_emit *e, const struct zs_eu_op *op, const unsigned ones[3],
                        unsigned first, unsigned lanes, unsigned ret[3])
{
    for (unsigned i = 0; i < 3; i++) {
        unsigned size_B = zs_eu_row_infos[op->kind].src_B[i];
        bool one = op->cls >> i & 1;
        if (!size_B)
            continue;
        zs_eu_emit_lanes_at(e, op, op->src[i], size_B);
        ret[i] = one ? zs_eu_emit_splat(e, ones[i], size_B, lanes)
                     : zs_eu_emit_read(e, op->src[i] + first * size_B, size_B, lanes);
        ret[i] = zs_eu_emit_modes_keep(e, op, ret[i], size_B);
        zs_eu_emit_lanes_end(e);
    }
}

/* The lines of a row, with its values' numbers behind those that there are. */
static unsigned put_code(struct zs_eu_emit *e, const struct zs_eu_op *op, unsigned lanes,
                         const unsigned src[3])
{
    const struct zs_eu_row_info *row = &zs_eu_row_infos[op->kind];
    const struct zs_eu_row_text *text = &zs_eu_row_texts[op->kind];
    const char *at = lanes == 16 ? text->wide : text->code;
    unsigned cr0 = strstr(at, "$4") ? zs_eu_emit_word(e, ZS_EU_OFFSET(cr0)) : 0;
    unsigned result = e->next, first = e->next + 1;

    e->next += 1 + text->values;
    for (; *at && !e->dry; at++) {
        if (*at == '%' && at[1] >= '0' && at[1] <= '9') {
            char *end;
            zs_buf_printf(&e->body, "%%v%lu", first + strtoul(at + 1, &end, 10));
            at = end - 1;
        } else if (*at == '$' && at[1] >= '1' && at[1] <= '3') {
            unsigned i = (unsigned)(*++at - '1');
            zs_buf_printf(&e->body, "<%u x i%u> %%v%u", lanes, 8 * row->src_B[i], src[i]);
        } else if (*at == '$') {
            at++;
            if (*at == '5')
                zs_buf_printf(&e->body, "%u", op->aux);
            else
                zs_buf_printf(&e->body, "%%v%u", *at == '4' ? cr0 : result);
        } else {
            zs_buf_putc(&e->body, *at);
        }
    }
    return result;
}

/* A place for a row's operand: a variable by its number and size. */
static unsigned operand_place(struct zs_eu_emit *e, unsigned index, unsigned size_B)
{
    e->place_used[index] |= (uint8_t)size_B;
    return index * 10 + size_B;
}

/* A row that is a function of eight lanes. */
static unsigned call_row(struct zs_eu_emit *e, const struct zs_eu_op *op, const unsigned src[3])
{
    const struct zs_eu_row_info *row = &zs_eu_row_infos[op->kind];
    unsigned dst = operand_place(e, 3, row->dst_B);
    unsigned cr0 = zs_eu_emit_word(e, ZS_EU_OFFSET(cr0)), at[3] = {0};
    struct zs_buf args = {0};

    zs_buf_printf(&args, "i8* %%q%u", dst);
    for (unsigned i = 0; i < 3; i++) {
        unsigned size_B = row->src_B[i], bits = 8 * size_B;
        if (size_B) {
            at[i] = operand_place(e, i, size_B);
            LINE("store <8 x i%u> %%v%u, <8 x i%u>* %%p%u, align 64", bits, src[i], bits, at[i]);
            zs_buf_printf(&args, ", i8* %%q%u", at[i]);
        } else {
            zs_buf_printf(&args, ", i8* null");
        }
    }
    LINE("call void @zs_row_%s(%s, i32 %%v%u, i32 %u)", zs_eu_kind_name(op->kind),
         zs_buf_cstr(&args), cr0, op->aux);
    zs_buf_fini(&args);
    return VALUE("load <8 x i%u>, <8 x i%u>* %%p%u, align 64", 8 * row->dst_B, 8 * row->dst_B, dst);
}

static unsigned hidden(struct zs_eu_emit *e, unsigned lanes, unsigned bits, unsigned value)
{
    return VALUE("call <%u x i%u> asm \"\", \"=v,0\"(<%u x i%u> %%v%u)", lanes, bits, lanes, bits,
                 value);
}

/* LLVM 14 and 15 make one masked instruction of and, or, xor and a choice of lanes, and of a
 * constant among them another operand's table of bits: such a result is hidden from what follows.
 */
static unsigned hide_logic(struct zs_eu_emit *e, const struct zs_eu_op *op, unsigned lanes,
                           unsigned value)
{
    int logic = op->kind == ZS_EU_ROW_BFN_32 ? 1 : zs_eu_row_texts[op->kind].logic;
    unsigned size_B = zs_eu_row_infos[op->kind].dst_B, part[2];

    if (op->cls == ZS_EU_CLASS_N1 || !zs_eu_host_usable(ZS_EU_HOST_AVX512) ||
        !(logic == 2 || (logic && op->cls)))
        return value;
    if (lanes * size_B <= 64)
        return hidden(e, lanes, 8 * size_B, value);
    for (unsigned i = 0; i < 2; i++)
        part[i] = hidden(e, lanes / 2, 8 * size_B, zs_eu_emit_half(e, value, size_B, i));
    return zs_eu_emit_join(e, part[0], part[1], size_B);
}

static unsigned row_value(struct zs_eu_emit *e, const struct zs_eu_op *op, unsigned lanes,
                          const unsigned src[3])
{
    const struct zs_eu_row_info *row = &zs_eu_row_infos[op->kind];
    bool is_inline = zs_eu_row_texts[op->kind].code;

    e->rows[op->kind] = 1;
    unsigned value = is_inline ? put_code(e, op, lanes, src) : call_row(e, op, src);
    if (e->rounds)
        value = zs_eu_emit_modes_keep(e, op, value,
                                      row->form == ZS_EU_FORM_CMP ? row->src_B[0] : row->dst_B);
    return hide_logic(e, op, lanes, value);
}

static unsigned first_of(struct zs_eu_emit *e, unsigned vector, unsigned size_B, unsigned lanes)
{
    return VALUE("extractelement <%u x i%u> %%v%u, i32 0", lanes, 8 * size_B, vector);
}

/* A bit for each lane of a comparison's result. What all have alike is compared once. */
static unsigned bits_of(struct zs_eu_emit *e, const struct zs_eu_op *op, unsigned value,
                        unsigned size_B, unsigned lanes)
{
    if ((op->cls & 3) == 3) {
        unsigned is = VALUE("icmp slt i%u %%v%u, 0", 8 * size_B, first_of(e, value, size_B, lanes));
        return VALUE("select i1 %%v%u, i32 %u, i32 0", is, (1u << lanes) - 1);
    }
    unsigned id = VALUE("icmp slt <%u x i%u> %%v%u, zeroinitializer", lanes, 8 * size_B, value);

    id = VALUE("bitcast <%u x i1> %%v%u to i%u", lanes, id, lanes);
    return VALUE("zext i%u %%v%u to i32", lanes, id);
}

/* `a || b`, `a && b`: the flag that is written chooses lanes, and nothing else does. */
static bool write_chained(struct zs_eu_emit *e, const struct zs_eu_op *op, unsigned bits)
{
    struct zs_eu_emit_mask on = enabled(e, op);
    uint32_t rest = ~(op->lanes << op->flag_shift);

    if (op->cls == ZS_EU_CLASS_N1 || op->predicate != op->flag ||
        op->pred_shift != op->flag_shift || !on.known || (on.bits & op->lanes) != op->lanes)
        return false;
    unsigned old = zs_eu_emit_word(e, op->flag);
    if (op->lanes != UINT32_MAX || op->flag_shift)
        bits =
            VALUE("shl i32 %%v%u, %u", VALUE("and i32 %%v%u, %u", bits, op->lanes), op->flag_shift);
    if (!op->pred_xor && rest)
        bits = VALUE("or i32 %%v%u, %u", bits, rest);
    bits = VALUE("%s i32 %%v%u, %%v%u", op->pred_xor ? "or" : "and", old, bits);
    zs_eu_emit_set_word(e, op->flag, bits);
    return true;
}

static void emit_compare(struct zs_eu_emit *e, const struct zs_eu_op *op)
{
    unsigned size_B = zs_eu_row_infos[op->kind].src_B[0], all = 0, ones[3] = {0}, src[3] = {0};
    struct zs_eu_emit_mask active = zs_eu_emit_active(e, op);
    bool one = op->cls == ZS_EU_CLASS_N1;
    unsigned lanes = row_lanes(e, op), end = one ? 8 : 8u * op->chunks;

    read_ones(e, op, ones);
    if (one)
        active = zs_eu_emit_mask_and(e, active, zs_eu_emit_constant_mask(1));
    for (unsigned first = 0; first < end; first += lanes) {
        row_sources(e, op, ones, first, lanes, src);
        unsigned value = row_value(e, op, lanes, src), bits = bits_of(e, op, value, size_B, lanes);
        if (first)
            bits = VALUE("shl i32 %%v%u, %u", bits, first);
        all = first ? VALUE("or i32 %%v%u, %%v%u", all, bits) : bits;
        if (op->arg && one)
            write_one_masked(e, op->dst, size_B, first_of(e, value, size_B, lanes), active, 0);
        else if (op->arg)
            write_masked(e, op, op->dst + first * size_B, size_B, lanes, value, active, first);
    }
    if (!write_chained(e, op, all))
        write_flag(e, op, active, all);
}

static unsigned select_value(struct zs_eu_emit *e, const struct zs_eu_op *op, unsigned first,
                             unsigned lanes, const unsigned src[3])
{
    unsigned bits = 8u * zs_eu_row_infos[op->kind].dst_B;
    unsigned chosen = zs_eu_emit_lanes(e, chooser(e, op), first, lanes);

    return VALUE("select <%u x i1> %%v%u, <%u x i%u> %%v%u, <%u x i%u> %%v%u", lanes, chosen, lanes,
                 bits, src[0], lanes, bits, src[1]);
}

static bool emit_row(struct zs_eu_emit *e, const struct zs_eu_op *op)
{
    const struct zs_eu_row_info *row = &zs_eu_row_infos[op->kind];
    bool one = op->cls == ZS_EU_CLASS_N1, selects = row->form == ZS_EU_FORM_SEL;
    unsigned lanes = row_lanes(e, op), end = one ? 8 : 8u * op->chunks, ones[3] = {0}, src[3] = {0};

    if (!zs_eu_emit_can_row(op))
        return false;
    if (row->form == ZS_EU_FORM_CMP) {
        emit_compare(e, op);
        return true;
    }
    struct zs_eu_emit_mask on = selects ? enabled(e, op) : zs_eu_emit_active(e, op);
    if (selects && !one)
        on = zs_eu_emit_mask_and(e, on, zs_eu_emit_constant_mask(op->lanes));
    read_ones(e, op, ones);
    for (unsigned first = 0; first < end; first += lanes) {
        row_sources(e, op, ones, first, lanes, src);
        unsigned value =
            selects ? select_value(e, op, first, lanes, src) : row_value(e, op, lanes, src);
        struct zs_eu_emit_rise rise;
        bool rises = zs_eu_emit_rise_row(e, op, on, first, lanes, ones, src, &rise);
        if (one)
            write_one_masked(e, op->dst, row->dst_B, first_of(e, value, row->dst_B, lanes), on, 0);
        else
            write_masked(e, op, op->dst + first * row->dst_B, row->dst_B, lanes, value, on, first);
        if (rises)
            zs_eu_emit_rise_add(e, &rise);
    }
    return true;
}

/* ---- strides and regions ---- */

/* Elements one by one from places, to places. */
static bool emit_elements(struct zs_eu_emit *e, const struct zs_eu_op *op, unsigned size_B,
                          unsigned count, const uint32_t *from, const uint32_t *to, bool at_once)
{
    struct zs_eu_emit_mask active = zs_eu_emit_active(e, op);
    unsigned value[ZS_EU_LANES_MAX];

    for (unsigned i = 0; i < count; i++) {
        if (!zs_eu_emit_can_scalar(from[i], size_B) || !zs_eu_emit_can_scalar(to[i], size_B))
            return false;
    }
    for (unsigned i = 0; i < count; i += at_once ? count : 8) {
        unsigned end = at_once ? count : ZS_MIN(i + 8, count);
        for (unsigned c = i; c < end; c++)
            value[c] = active.known && !(active.bits >> c & 1)
                           ? 0
                           : zs_eu_emit_read_one(e, from[c], size_B);
        for (unsigned c = i; c < end; c++)
            write_one_masked(e, to[c], size_B, value[c], active, c);
    }
    return true;
}

/* A vector by which all elements are shifted. */
static unsigned by_bits(struct zs_eu_emit *e, unsigned bits, unsigned size_B, unsigned lanes)
{
    return zs_eu_emit_splat(e, VALUE("add i%u 0, %u", 8 * size_B, bits), size_B, lanes);
}

/* What an operation touches of elements of which it has a part each. */
static void parts_at(struct zs_eu_emit *e, const struct zs_eu_op *op, uint32_t at, unsigned size_B,
                     unsigned wide_B)
{
    zs_eu_emit_lanes_at(e, op, at - at % wide_B, wide_B);
    if (size_B == 4 && wide_B == 8)
        zs_eu_emit_halves(e, at % 8 / 4);
}

static void gather_parts(struct zs_eu_emit *e, const struct zs_eu_op *op, unsigned lanes,
                         unsigned first)
{
    unsigned size_B = 1u << op->cls, wide_B = op->src[1], shift = 8 * (op->src[0] % wide_B);
    uint32_t at = op->src[0] - op->src[0] % wide_B;

    parts_at(e, op, op->src[0], size_B, wide_B);
    unsigned v = zs_eu_emit_read(e, at + first * wide_B, wide_B, lanes);
    if (shift)
        v = VALUE("lshr <%u x i%u> %%v%u, %%v%u", lanes, 8 * wide_B, v,
                  by_bits(e, shift, wide_B, lanes));
    v = VALUE("trunc <%u x i%u> %%v%u to <%u x i%u>", lanes, 8 * wide_B, v, lanes, 8 * size_B);
    write_masked(e, op, op->dst + first * size_B, size_B, lanes, v, zs_eu_emit_active(e, op),
                 first);
}

static void scatter_parts(struct zs_eu_emit *e, const struct zs_eu_op *op, unsigned lanes,
                          unsigned first)
{
    unsigned size_B = 1u << op->cls, wide_B = op->src[1], wide = 8 * wide_B;
    unsigned shift = 8 * (op->dst % wide_B);
    uint32_t at = op->dst - op->dst % wide_B + first * wide_B;
    uint64_t kept = ~(((UINT64_C(1) << 8 * size_B) - 1) << shift);
    struct zs_eu_emit_mask active = zs_eu_emit_active(e, op);
    uint32_t all = (1u << lanes) - 1;

    zs_eu_emit_lanes_at(e, op, op->src[0], size_B);
    unsigned v = zs_eu_emit_read(e, op->src[0] + first * size_B, size_B, lanes);
    unsigned old = zs_eu_emit_read_old(e, at, wide_B, lanes);
    v = VALUE("zext <%u x i%u> %%v%u to <%u x i%u>", lanes, 8 * size_B, v, lanes, wide);
    if (shift)
        v = VALUE("shl <%u x i%u> %%v%u, %%v%u", lanes, wide, v, by_bits(e, shift, wide_B, lanes));
    parts_at(e, op, op->dst, size_B, wide_B);
    bool some = zs_eu_emit_partly(op, first, lanes);
    bool by_lanes = !some && op->enables == ZS_EU_OFFSET(ce);
    bool is_half = size_B == 4 && wide_B == 8;
    if (!by_lanes || !is_half || zs_eu_emit_others_read(e, at, lanes * wide_B, true)) {
        unsigned mask = VALUE("add i%u 0, %lld", wide, (long long)kept);
        unsigned rest = VALUE("and <%u x i%u> %%v%u, %%v%u", lanes, wide, old,
                              zs_eu_emit_splat(e, mask, wide_B, lanes));
        v = VALUE("or <%u x i%u> %%v%u, %%v%u", lanes, wide, rest, v);
    }
    bool keeps = active.known ? (active.bits >> first & all) != all
                              : zs_eu_emit_keeps(e, op, at, lanes * wide_B, first, lanes);
    if (keeps) {
        unsigned on = zs_eu_emit_lanes(e, active, first, lanes);
        v = VALUE("select <%u x i1> %%v%u, <%u x i%u> %%v%u, <%u x i%u> %%v%u", lanes, on, lanes,
                  wide, v, lanes, wide, old);
        if (e->dry && some)
            zs_eu_emit_reads(e, at, lanes * wide_B);
        else if (e->dry)
            zs_eu_emit_writes_lanes(e, at, lanes * wide_B);
        e->quiet++;
        zs_eu_emit_write(e, at, wide_B, lanes, v);
        e->quiet--;
    } else {
        zs_eu_emit_write(e, at, wide_B, lanes, v);
    }
    zs_eu_emit_lanes_end(e);
}

/* Every second, fourth or eighth element: parts of wider ones, which are read and written whole. */
static bool emit_parts(struct zs_eu_emit *e, const struct zs_eu_op *op)
{
    bool gathers = op->kind == ZS_EU_KIND_GATHER;
    unsigned size_B = 1u << op->cls, wide_B = op->src[1], lanes = op->chunks % 2 ? 8 : 16;
    uint32_t at = gathers ? op->src[0] : op->dst;

    if (wide_B <= size_B || wide_B > 8 || wide_B & (wide_B - 1) || at % size_B ||
        zs_eu_emit_in_head(at) || zs_eu_emit_in_head(gathers ? op->dst : op->src[0]))
        return false;
    for (unsigned first = 0; first < 8u * op->chunks; first += lanes) {
        if (gathers)
            gather_parts(e, op, lanes, first);
        else
            scatter_parts(e, op, lanes, first);
    }
    return true;
}

static bool emit_stride(struct zs_eu_emit *e, const struct zs_eu_op *op)
{
    bool gathers = op->kind == ZS_EU_KIND_GATHER;
    unsigned size_B = 1u << op->cls, count = 8u * op->chunks;
    uint32_t from[ZS_EU_LANES_MAX], to[ZS_EU_LANES_MAX];
    struct zs_eu_emit_rise rise;
    bool rises = zs_eu_emit_rise_move(e, op, &rise), done = emit_parts(e, op);

    for (unsigned i = 0; i < count && !done; i++) {
        from[i] = op->src[0] + i * (gathers ? op->src[1] : size_B);
        to[i] = op->dst + i * (gathers ? size_B : op->src[1]);
    }
    done = done || emit_elements(e, op, size_B, count, from, to, false);
    if (rises && done)
        zs_eu_emit_rise_add(e, &rise);
    return done;
}

/* A pointer to a channel's element that an address register names; they wrap at the file's end. */
static unsigned indirect_at(struct zs_eu_emit *e, const struct zs_eu_region *region, unsigned c,
                            unsigned size_B)
{
    uint32_t a0 = ZS_EU_OFFSET(a0) + 2u * (region->a0_step[c] & (ZS_EU_A0_MAX - 1));
    unsigned at = VALUE("zext i16 %%v%u to i32", zs_eu_emit_read_one(e, a0, 2));

    at = VALUE("add i32 %%v%u, %u", at, (uint32_t)region->indirect_B + region->offset_B[c]);
    at = VALUE("urem i32 %%v%u, %u", at, zs_eu_file_B(e->p));
    at = VALUE("add i32 %%v%u, %u", at, (uint32_t)ZS_EU_OFFSET(grf));
    at = VALUE("getelementptr i8, i8* %%t, i32 %%v%u", at);
    return VALUE("bitcast i8* %%v%u to i%u*", at, 8 * size_B);
}

static void gather_indirect(struct zs_eu_emit *e, const struct zs_eu_op *op)
{
    const struct zs_eu_region *region = &e->p->regions.items[op->aux];
    struct zs_eu_emit_mask active = zs_eu_emit_active(e, op);
    unsigned size_B = 1u << op->arg, value[ZS_EU_LANES_MAX];

    zs_eu_emit_reads(e, ZS_EU_OFFSET(grf), zs_eu_file_B(e->p));
    for (unsigned c = 0; c < op->count; c++)
        value[c] = VALUE("load i%u, i%u* %%v%u, align 1", 8 * size_B, 8 * size_B,
                         indirect_at(e, region, c, size_B));
    for (unsigned c = 0; c < op->count; c++)
        write_one_masked(e, op->dst + c * size_B, size_B, value[c], active, c);
}

static void scatter_indirect(struct zs_eu_emit *e, const struct zs_eu_op *op)
{
    const struct zs_eu_region *region = &e->p->regions.items[op->aux];
    struct zs_eu_emit_mask active = zs_eu_emit_active(e, op);
    unsigned size_B = 1u << op->arg, bits = 8 * size_B, value[ZS_EU_LANES_MAX];
    char type[16];

    snprintf(type, sizeof(type), "i%u", bits);
    unsigned sink = zs_eu_emit_address(e, "%t", ZS_EU_OFFSET(sink), type);
    unsigned on = zs_eu_emit_mask_value(e, active);
    for (unsigned c = 0; c < op->count; c++)
        value[c] = zs_eu_emit_read_one(e, op->src[0] + c * size_B, size_B);
    for (unsigned c = 0; c < op->count; c++) {
        if (!(op->lanes >> c & 1) || (active.known && !(active.bits >> c & 1)))
            continue;
        unsigned at = indirect_at(e, region, c, size_B);
        if (!active.known) {
            unsigned bit = VALUE("trunc i32 %%v%u to i1", VALUE("lshr i32 %%v%u, %u", on, c));
            at = VALUE("select i1 %%v%u, %s* %%v%u, %s* %%v%u", bit, type, at, type, sink);
        }
        LINE("store %s %%v%u, %s* %%v%u, align 1", type, value[c], type, at);
    }
}

static bool emit_region_move(struct zs_eu_emit *e, const struct zs_eu_op *op)
{
    bool gathers = op->kind == ZS_EU_KIND_GATHER_REGION;
    const struct zs_eu_region *region = &e->p->regions.items[op->aux];
    unsigned size_B = 1u << op->arg;
    uint32_t from[ZS_EU_LANES_MAX], to[ZS_EU_LANES_MAX];

    if (zs_eu_emit_is_indirect(op)) {
        if (!zs_eu_emit_can_scalar(gathers ? op->dst : op->src[0], size_B))
            return false;
        if (gathers)
            gather_indirect(e, op);
        else
            scatter_indirect(e, op);
        return true;
    }
    for (unsigned i = 0; i < op->count; i++) {
        from[i] = gathers ? op->src[0] + region->offset_B[i] : op->src[0] + i * size_B;
        to[i] = gathers ? op->dst + i * size_B : op->dst + region->offset_B[i];
    }
    return emit_elements(e, op, size_B, op->count, from, to, true);
}

/* ---- flags ---- */

static bool emit_predicate(struct zs_eu_emit *e, const struct zs_eu_op *op)
{
    struct zs_eu_emit_mask bits =
        zs_eu_emit_mask_shift(e, zs_eu_emit_mask_word(e, op->predicate), op->pred_shift);
    bool any = op->arg == ZS_PRED_ANY;

    if (op->arg != ZS_PRED_ANY && op->arg != ZS_PRED_ALL)
        return false;
    unsigned mine =
        zs_eu_emit_mask_value(e, zs_eu_emit_mask_and(e, bits, zs_eu_emit_constant_mask(op->lanes)));
    unsigned is = VALUE("icmp %s i32 %%v%u, %u", any ? "ne" : "eq", mine, any ? 0 : op->lanes);
    zs_eu_emit_set_word(e, ZS_EU_OFFSET(predicate), VALUE("sext i1 %%v%u to i32", is));
    return true;
}

/* ---- what the interpreter does ---- */

/* A place of the thread that has no variable. */
unsigned zs_eu_emit_address(struct zs_eu_emit *e, const char *base, uint64_t offset_B,
                            const char *type)
{
    unsigned id = VALUE("getelementptr i8, i8* %s, i64 %llu", base, (unsigned long long)offset_B);

    return VALUE("bitcast i8* %%v%u to %s*", id, type);
}

unsigned zs_eu_emit_load(struct zs_eu_emit *e, const char *base, uint64_t offset_B,
                         const char *type)
{
    unsigned at = zs_eu_emit_address(e, base, offset_B, type);

    return VALUE("load %s, %s* %%v%u, align 4", type, type, at);
}

unsigned zs_eu_emit_field(struct zs_eu_emit *e, uint32_t at)
{
    return zs_eu_emit_load(e, "%t", at, "i32");
}

void zs_eu_emit_set_field(struct zs_eu_emit *e, uint32_t at, unsigned value)
{
    LINE("store i32 %%v%u, i32* %%v%u", value, zs_eu_emit_address(e, "%t", at, "i32"));
}

struct bytes {
    uint32_t at, size_B;
};

/* Sources of an operation; what it writes, all or some of it. */
enum { SOURCES = 3, OPERANDS = 5 };

/* The macros of division and square root. */
static void macro_operands(const struct zs_eu_op *op, struct bytes ret[OPERANDS])
{
    uint32_t size_B = op->arg >> 3 & 1 ? 8 : 4, many_B = size_B * op->count;

    for (unsigned i = 0; i < SOURCES; i++)
        ret[i] = (struct bytes){op->src[i], op->arg >> i & 1 ? size_B : many_B};
    ret[3] = (struct bytes){op->dst, many_B};
    if (op->kind == ZS_EU_KIND_MACRO_SEED)
        ret[4] = (struct bytes){op->flag, 4};
}

/* false: anything */
static bool operands(const struct zs_eu_op *op, struct bytes ret[OPERANDS])
{
    memset(ret, 0, OPERANDS * sizeof(*ret));
    if (op->kind == ZS_EU_KIND_MADM || op->kind == ZS_EU_KIND_MACRO_SEED) {
        macro_operands(op, ret);
        return true;
    }
    if (op->kind < ZS_EU_ROW_COUNT) {
        const struct zs_eu_row_info *row = &zs_eu_row_infos[op->kind];
        uint32_t many = op->cls == ZS_EU_CLASS_N1 ? 1 : 8u * op->chunks;
        for (unsigned i = 0; i < 3; i++)
            ret[i] = (struct bytes){op->src[i], row->src_B[i] * (op->cls >> i & 1 ? 1 : many)};
        if (row->form != ZS_EU_FORM_CMP)
            ret[3] = (struct bytes){op->dst, row->dst_B * many};
        return row->form != ZS_EU_FORM_CMP;
    }
    return false;
}

static void each_of(struct zs_eu_emit *e, struct bytes bytes,
                    void (*what)(struct zs_eu_emit *, uint32_t))
{
    for (uint32_t unit = bytes.at / 32; bytes.size_B && unit <= (bytes.at + bytes.size_B - 1) / 32;
         unit++)
        what(e, unit);
}

static void note(struct zs_eu_emit *e, const struct bytes part[OPERANDS])
{
    for (unsigned i = 0; i < SOURCES; i++)
        zs_eu_emit_reads(e, part[i].at, part[i].size_B);
}

/* Its handler of this operation alone. */
void zs_eu_emit_one(struct zs_eu_emit *e, uint32_t index)
{
    const struct bytes head = {0, ZS_EU_EMIT_HEAD_B}, all = {0, ZS_EU_EMIT_UNITS * 32};
    unsigned go_on = zs_eu_emit_label(e), stop = zs_eu_emit_label(e);
    struct bytes part[OPERANDS];

    if (!operands(&e->p->ops[index], part)) {
        memset(part, 0, sizeof(part));
        part[0] = part[3] = all;
    }
    if (e->dry)
        note(e, part);
    each_of(e, head, zs_eu_emit_spill);
    for (unsigned i = 0; i < OPERANDS && !e->dry; i++)
        each_of(e, part[i], zs_eu_emit_spill);
    zs_eu_emit_store_budget(e);
    unsigned done = VALUE("call coldcc i32 @zs_one(i8* %%t, i32 %u)", index);
    zs_eu_emit_modes_again(e);
    each_of(e, head, zs_eu_emit_fill);
    if (e->p->ops[index].kind == ZS_EU_KIND_SEND)
        zs_eu_emit_look_again(e, &e->p->ops[index].send->send);
    for (unsigned i = SOURCES; i < OPERANDS && !e->dry; i++)
        each_of(e, part[i], zs_eu_emit_fill);
    zs_eu_emit_branch(e, VALUE("icmp eq i32 %%v%u, 0", done), stop, go_on, 2);
    zs_eu_emit_put_label(e, stop);
    zs_eu_emit_stop(e);
    zs_eu_emit_put_label(e, go_on);
    if (e->p->ops[index].kind == ZS_EU_KIND_SEND)
        zs_eu_emit_leave_undefined(e, index);
}

/* ---- operations ---- */

static bool emit_inline(struct zs_eu_emit *e, const struct zs_eu_op *op)
{
    if (op->kind < ZS_EU_ROW_COUNT)
        return emit_row(e, op);
    switch (op->kind) {
    case ZS_EU_KIND_GATHER:
    case ZS_EU_KIND_SCATTER:
        return emit_stride(e, op);
    case ZS_EU_KIND_GATHER_REGION:
    case ZS_EU_KIND_SCATTER_REGION:
        return emit_region_move(e, op);
    case ZS_EU_KIND_PREDICATE:
        return emit_predicate(e, op);
    case ZS_EU_KIND_FLAG_COPY:
        if (!zs_eu_emit_can_scalar(op->src[0], 4))
            return false;
        write_flag(e, op, zs_eu_emit_active(e, op), zs_eu_emit_read_one(e, op->src[0], 4));
        return true;
    case ZS_EU_KIND_READ_IP:
        zs_eu_emit_set_word(e, ZS_EU_OFFSET(ip_B), VALUE("add i32 0, %u", op->aux));
        return true;
    default:
        return op->kind == ZS_EU_KIND_HOP;
    }
}

/* Sines of great arguments are the C library's, which the interpreter calls. */
bool zs_eu_emit_is_limited(const struct zs_eu_op *op)
{
    return (op->kind == ZS_EU_ROW_SIN_F32 || op->kind == ZS_EU_ROW_COS_F32) &&
           zs_eu_emit_can_row(op);
}

/* Whether all of its arguments are near enough to zero, those of lanes that are off, too. */
static unsigned is_near(struct zs_eu_emit *e, const struct zs_eu_op *op)
{
    enum { LIMIT = 0x49742400, MAGNITUDE = INT32_MAX }; /* LANES_SIN_LIMIT */
    unsigned near = UINT32_MAX;

    if (op->cls & ZS_EU_CLASS_SCALAR0) {
        unsigned v = VALUE("and i32 %%v%u, %d", zs_eu_emit_read_one(e, op->src[0], 4), MAGNITUDE);
        return VALUE("icmp ult i32 %%v%u, %d", v, LIMIT);
    }
    unsigned size = zs_eu_emit_splat(e, VALUE("add i32 0, %d", MAGNITUDE), 4, 8);
    unsigned limit = zs_eu_emit_splat(e, VALUE("add i32 0, %d", LIMIT), 4, 8);
    for (unsigned chunk = 0; chunk < op->chunks; chunk++) {
        unsigned v = zs_eu_emit_read(e, op->src[0] + chunk * 32, 4, 8);
        v = VALUE("and <8 x i32> %%v%u, %%v%u", v, size);
        v = VALUE("icmp ult <8 x i32> %%v%u, %%v%u", v, limit);
        near = near == UINT32_MAX ? v : VALUE("and <8 x i1> %%v%u, %%v%u", near, v);
    }
    return VALUE("icmp eq i8 %%v%u, -1", VALUE("bitcast <8 x i1> %%v%u to i8", near));
}

static void emit_limited(struct zs_eu_emit *e, uint32_t index)
{
    const struct zs_eu_op *op = &e->p->ops[index];
    unsigned near = zs_eu_emit_label(e), far = zs_eu_emit_label(e), done = zs_eu_emit_label(e);

    zs_eu_emit_branch(e, is_near(e, op), near, far, 1);
    zs_eu_emit_put_label(e, far);
    zs_eu_emit_one(e, index);
    LINE("br label %%l%u", done);
    zs_eu_emit_put_label(e, near);
    emit_row(e, op);
    LINE("br label %%l%u", done);
    zs_eu_emit_put_label(e, done);
}

void zs_eu_emit_straight(struct zs_eu_emit *e, uint32_t index)
{
    const struct zs_eu_op *op = &e->p->ops[index];

    bool fits = zs_eu_emit_modes_fit(e, op);

    if (fits && zs_eu_emit_is_limited(op))
        emit_limited(e, index);
    else if (!fits || !emit_inline(e, op))
        zs_eu_emit_one(e, index);
}
