/* SPDX-License-Identifier: MIT */
/*
 * A program in LLVM's language.
 *
 * A function is an entry: an operation at which threads come in, and the blocks that they may go
 * through without leaving (its region). In a region the lanes that run do not change: whatever
 * would change them is left to the interpreter, by returning the operation that does.
 *
 * The thread's bytes are cells of 32, a variable each, always read and written whole, so that LLVM
 * makes values of them without a search: loaded at the start, stored at exits where somebody in
 * the region has written them. Its first part (flags, address and control registers) are dwords.
 * A function is written twice: what it touches is known after the first time.
 */
#include "eu/emit.h"
#include "eu/show.h"

#include <errno.h>
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

static struct zs_eu_emit_mask constant_mask(uint32_t bits)
{
    return (struct zs_eu_emit_mask){.known = true, .bits = bits};
}

static unsigned mask_value(struct zs_eu_emit *e, struct zs_eu_emit_mask mask)
{
    return mask.known ? VALUE("add i32 0, %u", mask.bits) : mask.value;
}

static struct zs_eu_emit_mask mask_word(struct zs_eu_emit *e, uint32_t at)
{
    uint32_t bits;

    if (known_word(e, at, &bits))
        return constant_mask(bits);
    if (at == ZS_EU_OFFSET(ce))
        return (struct zs_eu_emit_mask){.value = VALUE("add i32 0, %%ce")};
    return (struct zs_eu_emit_mask){.value = zs_eu_emit_word(e, at)};
}

static struct zs_eu_emit_mask mask_and(struct zs_eu_emit *e, struct zs_eu_emit_mask a,
                                       struct zs_eu_emit_mask b)
{
    if (a.known && b.known)
        return constant_mask(a.bits & b.bits);
    if ((a.known && a.bits == 0) || (b.known && b.bits == 0))
        return constant_mask(0);
    if (a.known && a.bits == UINT32_MAX)
        return b;
    if (b.known && b.bits == UINT32_MAX)
        return a;
    unsigned x = mask_value(e, a), y = mask_value(e, b);
    return (struct zs_eu_emit_mask){.value = VALUE("and i32 %%v%u, %%v%u", x, y)};
}

static struct zs_eu_emit_mask mask_shift(struct zs_eu_emit *e, struct zs_eu_emit_mask a, int right)
{
    if (right == 0)
        return a;
    if (a.known)
        return constant_mask(right > 0 ? a.bits >> right : a.bits << -right);
    return (struct zs_eu_emit_mask){.value = right > 0
                                                 ? VALUE("lshr i32 %%v%u, %d", a.value, right)
                                                 : VALUE("shl i32 %%v%u, %d", a.value, -right)};
}

static struct zs_eu_emit_mask mask_xor(struct zs_eu_emit *e, struct zs_eu_emit_mask a, uint32_t x)
{
    if (x == 0)
        return a;
    if (a.known)
        return constant_mask(a.bits ^ x);
    return (struct zs_eu_emit_mask){.value = VALUE("xor i32 %%v%u, %u", a.value, x)};
}

/* Channels that the enables leave on. */
static struct zs_eu_emit_mask enabled(struct zs_eu_emit *e, const struct zs_eu_op *op)
{
    return mask_shift(e, mask_word(e, op->enables), op->chan_offset);
}

static struct zs_eu_emit_mask chooser(struct zs_eu_emit *e, const struct zs_eu_op *op)
{
    return mask_xor(e, mask_shift(e, mask_word(e, op->predicate), op->pred_shift), op->pred_xor);
}

/* zs_eu_active() */
struct zs_eu_emit_mask zs_eu_emit_active(struct zs_eu_emit *e, const struct zs_eu_op *op)
{
    struct zs_eu_emit_mask on = mask_and(e, enabled(e, op), chooser(e, op));

    return mask_and(e, on, constant_mask(op->lanes));
}

/* A lane's condition for eight lanes from the first-th on. */
static unsigned lane_bits(struct zs_eu_emit *e, struct zs_eu_emit_mask mask, unsigned first)
{
    struct zs_eu_emit_mask eight = mask_shift(e, mask, (int)first);
    unsigned id = VALUE("trunc i32 %%v%u to i8", mask_value(e, eight));

    return VALUE("bitcast i8 %%v%u to <8 x i1>", id);
}

static bool is_whole(struct zs_eu_emit_mask mask, unsigned chunk)
{
    return mask.known && (mask.bits >> 8 * chunk & 0xff) == 0xff;
}

/* Eight elements, those of lanes that are off as they were. */
static void write_masked(struct zs_eu_emit *e, uint32_t at, unsigned size_B, unsigned value,
                         struct zs_eu_emit_mask mask, unsigned chunk)
{
    if (mask.known && (mask.bits >> 8 * chunk & 0xff) == 0)
        return;
    if (!is_whole(mask, chunk)) {
        unsigned lanes = lane_bits(e, mask, 8 * chunk), old = zs_eu_emit_read(e, at, size_B);
        value = VALUE("select <8 x i1> %%v%u, <8 x i%u> %%v%u, <8 x i%u> %%v%u", lanes, 8 * size_B,
                      value, 8 * size_B, old);
    }
    zs_eu_emit_write(e, at, size_B, value);
}

/* One element, if a channel's bit is set. */
static void write_one_masked(struct zs_eu_emit *e, uint32_t at, unsigned size_B, unsigned value,
                             struct zs_eu_emit_mask mask, unsigned channel)
{
    if (mask.known && !(mask.bits >> channel & 1))
        return;
    if (!mask.known) {
        unsigned bit = mask_value(e, mask_shift(e, mask, (int)channel));
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
    unsigned on = mask_value(e, active), old = zs_eu_emit_word(e, op->flag);

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
    return !zs_eu_emit_in_head(at) && at + 8 * size_B * chunks <= sizeof(struct zs_eu_thread);
}

/* The row's operands are such as can be written here. */
static bool can_row(const struct zs_eu_op *op)
{
    const struct zs_eu_row_info *row = &zs_eu_row_infos[op->kind];
    bool one = op->cls == ZS_EU_CLASS_N1;

    if (row->form != ZS_EU_FORM_SEL && !zs_eu_row_texts[op->kind].function)
        return false;
    for (unsigned i = 0; i < 3; i++) {
        if (row->src_B[i] &&
            !can_operand(op->src[i], row->src_B[i], one || op->cls >> i & 1, op->chunks))
            return false;
    }
    bool writes = row->form != ZS_EU_FORM_CMP || op->arg;
    return !writes || can_operand(op->dst, row->dst_B, one, op->chunks);
}

/* Sources that are one element: read before anything is stored, which may be over them. */
static void read_ones(struct zs_eu_emit *e, const struct zs_eu_op *op, unsigned ret[3])
{
    for (unsigned i = 0; i < 3; i++) {
        unsigned size_B = zs_eu_row_infos[op->kind].src_B[i];
        if (size_B && (op->cls == ZS_EU_CLASS_N1 || op->cls >> i & 1))
            ret[i] = zs_eu_emit_splat(e, zs_eu_emit_read_one(e, op->src[i], size_B), size_B);
    }
}

/* Source i of a chunk. */
static unsigned row_source(struct zs_eu_emit *e, const struct zs_eu_op *op, const unsigned ones[3],
                           unsigned i, unsigned chunk)
{
    unsigned size_B = zs_eu_row_infos[op->kind].src_B[i];

    if (op->cls == ZS_EU_CLASS_N1 || op->cls >> i & 1)
        return ones[i];
    return zs_eu_emit_read(e, op->src[i] + chunk * 8 * size_B, size_B);
}

/* A place for a row's operand: a variable by its number and size. */
static unsigned operand_place(struct zs_eu_emit *e, unsigned index, unsigned size_B)
{
    e->place_used[index] |= (uint8_t)size_B;
    return index * 10 + size_B;
}

/* Eight lanes of a row; ret_bits: of a comparison. */
static unsigned call_row(struct zs_eu_emit *e, const struct zs_eu_op *op, const unsigned src[3],
                         unsigned *ret_bits)
{
    const struct zs_eu_row_info *row = &zs_eu_row_infos[op->kind];
    bool compares = row->form == ZS_EU_FORM_CMP;
    unsigned dst_B = compares ? row->src_B[0] : row->dst_B, dst = operand_place(e, 3, dst_B);
    unsigned cr0 = zs_eu_emit_word(e, ZS_EU_OFFSET(cr0)), at[3] = {0};

    e->rows[op->kind] = 1;
    for (unsigned i = 0; i < 3; i++) {
        unsigned size_B = row->src_B[i], bits = 8 * size_B;
        if (!size_B)
            continue;
        at[i] = operand_place(e, i, size_B);
        LINE("store <8 x i%u> %%v%u, <8 x i%u>* %%p%u, align 64", bits, src[i], bits, at[i]);
    }
    struct zs_buf args = {0};
    zs_buf_printf(&args, "i8* %%q%u", dst);
    for (unsigned i = 0; i < 3; i++) {
        if (row->src_B[i])
            zs_buf_printf(&args, ", i8* %%q%u", at[i]);
        else
            zs_buf_printf(&args, ", i8* null");
    }
    if (compares)
        *ret_bits = VALUE("call i32 @zs_row_%s(%s, i32 %%v%u, i32 %u)", zs_eu_kind_name(op->kind),
                          zs_buf_cstr(&args), cr0, op->aux);
    else
        LINE("call void @zs_row_%s(%s, i32 %%v%u, i32 %u)", zs_eu_kind_name(op->kind),
             zs_buf_cstr(&args), cr0, op->aux);
    zs_buf_fini(&args);
    return VALUE("load <8 x i%u>, <8 x i%u>* %%p%u, align 64", 8 * dst_B, 8 * dst_B, dst);
}

static unsigned first_of(struct zs_eu_emit *e, unsigned vector, unsigned size_B)
{
    return VALUE("extractelement <8 x i%u> %%v%u, i32 0", 8 * size_B, vector);
}

static void emit_compare(struct zs_eu_emit *e, const struct zs_eu_op *op)
{
    unsigned size_B = zs_eu_row_infos[op->kind].src_B[0], all = 0;
    unsigned ones[3] = {0};
    struct zs_eu_emit_mask active = zs_eu_emit_active(e, op);
    bool one = op->cls == ZS_EU_CLASS_N1;

    read_ones(e, op, ones);
    if (one)
        active = mask_and(e, active, constant_mask(1));
    for (unsigned chunk = 0; chunk < (one ? 1u : op->chunks); chunk++) {
        unsigned src[3] = {0}, bits;
        for (unsigned i = 0; i < 2; i++)
            src[i] = row_source(e, op, ones, i, chunk);
        unsigned value = call_row(e, op, src, &bits);
        if (chunk)
            bits = VALUE("shl i32 %%v%u, %u", bits, 8 * chunk);
        all = chunk ? VALUE("or i32 %%v%u, %%v%u", all, bits) : bits;
        if (op->arg && one)
            write_one_masked(e, op->dst, size_B, first_of(e, value, size_B), active, 0);
        else if (op->arg)
            write_masked(e, op->dst + chunk * 8 * size_B, size_B, value, active, chunk);
    }
    write_flag(e, op, active, all);
}

static void emit_select(struct zs_eu_emit *e, const struct zs_eu_op *op)
{
    unsigned size_B = zs_eu_row_infos[op->kind].dst_B, bits = 8 * size_B;
    unsigned ones[3] = {0};
    struct zs_eu_emit_mask chosen = chooser(e, op), on = enabled(e, op);
    bool one = op->cls == ZS_EU_CLASS_N1;

    read_ones(e, op, ones);
    if (!one)
        on = mask_and(e, on, constant_mask(op->lanes));
    for (unsigned chunk = 0; chunk < (one ? 1u : op->chunks); chunk++) {
        unsigned a = row_source(e, op, ones, 0, chunk), b = row_source(e, op, ones, 1, chunk);
        unsigned lanes = lane_bits(e, chosen, 8 * chunk);
        unsigned value = VALUE("select <8 x i1> %%v%u, <8 x i%u> %%v%u, <8 x i%u> %%v%u", lanes,
                               bits, a, bits, b);
        if (one)
            write_one_masked(e, op->dst, size_B, first_of(e, value, size_B), on, 0);
        else
            write_masked(e, op->dst + chunk * 8 * size_B, size_B, value, on, chunk);
    }
}

static bool emit_row(struct zs_eu_emit *e, const struct zs_eu_op *op)
{
    const struct zs_eu_row_info *row = &zs_eu_row_infos[op->kind];
    bool one = op->cls == ZS_EU_CLASS_N1;

    if (!can_row(op))
        return false;
    if (row->form == ZS_EU_FORM_CMP) {
        emit_compare(e, op);
        return true;
    }
    if (row->form == ZS_EU_FORM_SEL) {
        emit_select(e, op);
        return true;
    }
    struct zs_eu_emit_mask active = zs_eu_emit_active(e, op);
    unsigned ones[3] = {0};
    read_ones(e, op, ones);
    for (unsigned chunk = 0; chunk < (one ? 1u : op->chunks); chunk++) {
        unsigned src[3] = {0};
        for (unsigned i = 0; i < 3; i++) {
            if (row->src_B[i])
                src[i] = row_source(e, op, ones, i, chunk);
        }
        unsigned value = call_row(e, op, src, NULL);
        if (one)
            write_one_masked(e, op->dst, row->dst_B, first_of(e, value, row->dst_B), active, 0);
        else
            write_masked(e, op->dst + chunk * 8 * row->dst_B, row->dst_B, value, active, chunk);
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

static bool emit_stride(struct zs_eu_emit *e, const struct zs_eu_op *op)
{
    bool gathers = op->kind == ZS_EU_KIND_GATHER;
    unsigned size_B = 1u << op->cls, count = 8u * op->chunks;
    uint32_t from[ZS_EU_LANES_MAX], to[ZS_EU_LANES_MAX];

    for (unsigned i = 0; i < count; i++) {
        from[i] = op->src[0] + i * (gathers ? op->src[1] : size_B);
        to[i] = op->dst + i * (gathers ? size_B : op->src[1]);
    }
    return emit_elements(e, op, size_B, count, from, to, false);
}

static bool emit_region_move(struct zs_eu_emit *e, const struct zs_eu_op *op)
{
    bool gathers = op->kind == ZS_EU_KIND_GATHER_REGION;
    const struct zs_eu_region *region = &e->p->regions.items[op->aux];
    unsigned size_B = 1u << op->arg;
    uint32_t from[ZS_EU_LANES_MAX], to[ZS_EU_LANES_MAX];

    if ((gathers ? op->src[0] : op->dst) == UINT32_MAX)
        return false;
    for (unsigned i = 0; i < op->count; i++) {
        from[i] = gathers ? op->src[0] + region->offset_B[i] : op->src[0] + i * size_B;
        to[i] = gathers ? op->dst + i * size_B : op->dst + region->offset_B[i];
    }
    return emit_elements(e, op, size_B, op->count, from, to, true);
}

/* ---- flags ---- */

static bool emit_predicate(struct zs_eu_emit *e, const struct zs_eu_op *op)
{
    struct zs_eu_emit_mask bits = mask_shift(e, mask_word(e, op->predicate), op->pred_shift);
    bool any = op->arg == ZS_PRED_ANY;

    if (op->arg != ZS_PRED_ANY && op->arg != ZS_PRED_ALL)
        return false;
    unsigned mine = mask_value(e, mask_and(e, bits, constant_mask(op->lanes)));
    unsigned is = VALUE("icmp %s i32 %%v%u, %u", any ? "ne" : "eq", mine, any ? 0 : op->lanes);
    zs_eu_emit_set_word(e, ZS_EU_OFFSET(predicate), VALUE("sext i1 %%v%u to i32", is));
    return true;
}

/* ---- ways out ---- */

/* Go on with an operation, by the interpreter or another entry. At this entry's own the interpreter
 * does it: its handler would be this function again. */
static void leave_to(struct zs_eu_emit *e, uint32_t op)
{
    if (op == e->entry) {
        LINE("br label %%again");
        return;
    }
    LINE("store i64 %u, i64* %%next", op);
    LINE("br label %%out");
}

static void branch(struct zs_eu_emit *e, unsigned condition, unsigned yes, unsigned no)
{
    LINE("br i1 %%v%u, label %%l%u, label %%l%u", condition, yes, no);
}

/* A place of the thread that has no variable. */
unsigned zs_eu_emit_address(struct zs_eu_emit *e, const char *base, uint64_t offset_B,
                            const char *type)
{
    unsigned id = VALUE("getelementptr i8, i8* %s, i64 %llu", base, (unsigned long long)offset_B);

    return VALUE("bitcast i8* %%v%u to %s*", id, type);
}

static void store_status(struct zs_eu_emit *e, enum zs_eu_status status, uint32_t resume)
{
    unsigned at = zs_eu_emit_address(e, "%t", ZS_EU_OFFSET(status), "i32");
    LINE("store i32 %d, i32* %%v%u", (int)status, at);
    at = zs_eu_emit_address(e, "%t", ZS_EU_OFFSET(resume), "i8*");
    unsigned op = VALUE("getelementptr i8, i8* %%ops, i64 %llu",
                        (unsigned long long)resume * sizeof(struct zs_eu_op));
    LINE("store i8* %%v%u, i8** %%v%u", op, at);
}

static void store_current(struct zs_eu_emit *e, uint32_t op)
{
    unsigned at = zs_eu_emit_address(e, "%t", ZS_EU_OFFSET(current), "i8*");
    unsigned from = VALUE("getelementptr i8, i8* %%ops, i64 %llu",
                          (unsigned long long)op * sizeof(struct zs_eu_op));
    LINE("store i8* %%v%u, i8** %%v%u", from, at);
}

static void store_budget(struct zs_eu_emit *e)
{
    unsigned at = zs_eu_emit_address(e, "%t", ZS_EU_OFFSET(budget), "i64");
    LINE("store i64 %%v%u, i64* %%v%u", VALUE("load i64, i64* %%budget"), at);
}

/* Cells of a part of the thread: to memory, if they were written, or from it. */
static void spill_cell(struct zs_eu_emit *e, uint32_t cell)
{
    unsigned value = VALUE("load <8 x i32>, <8 x i32>* %%c%u", cell);
    unsigned at = zs_eu_emit_address(e, "%t", cell * UINT64_C(32), "<8 x i32>");
    LINE("store <8 x i32> %%v%u, <8 x i32>* %%v%u, align 32", value, at);
}

static void fill_cell(struct zs_eu_emit *e, uint32_t cell)
{
    unsigned at = zs_eu_emit_address(e, "%t", cell * UINT64_C(32), "<8 x i32>");
    unsigned value = VALUE("load <8 x i32>, <8 x i32>* %%v%u, align 32", at);
    LINE("store <8 x i32> %%v%u, <8 x i32>* %%c%u", value, cell);
}

static void spill_words(struct zs_eu_emit *e)
{
    for (uint32_t i = 0; i < ZS_EU_EMIT_HEAD_B / 4; i++) {
        if (!e->word_dirty[i])
            continue;
        unsigned at = zs_eu_emit_address(e, "%t", i * UINT64_C(4), "i32");
        LINE("store i32 %%v%u, i32* %%v%u", VALUE("load i32, i32* %%h%u", i), at);
    }
}

static void fill_words(struct zs_eu_emit *e)
{
    for (uint32_t i = 0; i < ZS_EU_EMIT_HEAD_B / 4; i++) {
        if (!e->word_used[i])
            continue;
        unsigned at = zs_eu_emit_address(e, "%t", i * UINT64_C(4), "i32");
        LINE("store i32 %%v%u, i32* %%h%u", VALUE("load i32, i32* %%v%u", at), i);
    }
}

static void spill_all(struct zs_eu_emit *e)
{
    for (uint32_t cell = 0; cell < ZS_EU_EMIT_CELLS; cell++) {
        if (e->dirty[cell])
            spill_cell(e, cell);
    }
    spill_words(e);
}

static void fill_all(struct zs_eu_emit *e)
{
    for (uint32_t cell = 0; cell < ZS_EU_EMIT_CELLS; cell++) {
        if (e->used[cell])
            fill_cell(e, cell);
    }
    fill_words(e);
}

/* ---- what the interpreter does ---- */

static unsigned helper(struct zs_eu_emit *e, enum zs_eu_tier_helper which, const char *type)
{
    unsigned at = zs_eu_emit_address(e, "%tier", which * sizeof(void *), "i8*");
    at = VALUE("load i8*, i8** %%v%u", at);
    return VALUE("bitcast i8* %%v%u to %s*", at, type);
}

/* Its handler of this operation alone. */
static void emit_one(struct zs_eu_emit *e, uint32_t index)
{
    unsigned go_on = zs_eu_emit_label(e), stop = zs_eu_emit_label(e);

    spill_all(e);
    store_budget(e);
    unsigned fn = helper(e, ZS_EU_TIER_ONE, "i32 (i8*, i32)");
    unsigned done = VALUE("call i32 %%v%u(i8* %%t, i32 %u)", fn, index);
    fill_all(e);
    branch(e, VALUE("icmp eq i32 %%v%u, 0", done), stop, go_on);
    zs_eu_emit_put_label(e, stop);
    LINE("br label %%stop");
    zs_eu_emit_put_label(e, go_on);
}

static void for_cells(struct zs_eu_emit *e, uint32_t at_B, uint32_t size_B,
                      void (*what)(struct zs_eu_emit *, uint32_t), bool dirty_only)
{
    uint32_t first = (ZS_EU_OFFSET(grf) + at_B) / 32;

    for (uint32_t cell = first; size_B && cell <= first + (size_B - 1) / 32; cell++) {
        if (dirty_only ? e->dirty[cell] : e->used[cell])
            what(e, cell);
    }
}

static void call_send(struct zs_eu_emit *e, const struct zs_eu_op *op, uint32_t index,
                      unsigned active)
{
    const struct zs_eu_send *send = &op->send->send;
    const struct zs_eu_send_desc *d = &send->d;
    uint32_t dst_B = d->has_dst ? d->rlen * (uint32_t)d->generation->grf_B : 0;
    unsigned go_on = zs_eu_emit_label(e), stop = zs_eu_emit_label(e);

    for_cells(e, d->src0_B, d->mlen * (uint32_t)d->generation->grf_B, spill_cell, true);
    for_cells(e, d->src1_B, d->xlen * (uint32_t)d->generation->grf_B, spill_cell, true);
    for_cells(e, d->dst_B, dst_B, spill_cell, true);
    unsigned fn = helper(e, ZS_EU_TIER_SEND, "i32 (i8*, i32, i32)");
    unsigned done = VALUE("call i32 %%v%u(i8* %%t, i32 %u, i32 %%v%u)", fn, index, active);
    for_cells(e, d->dst_B, dst_B, fill_cell, false);
    branch(e, VALUE("icmp eq i32 %%v%u, 0", done), stop, go_on);
    zs_eu_emit_put_label(e, stop);
    LINE("br label %%stop");
    zs_eu_emit_put_label(e, go_on);
}

/* false: nothing of the block runs behind it. */
static bool emit_send(struct zs_eu_emit *e, const struct zs_eu_op *op, uint32_t index)
{
    const struct zs_eu_program_send *send = op->send;

    if (send->desc_is_reg || send->ex_desc_is_reg || send->send.d.src0_B >= ZS_EU_GRF_FILE_MAX_B ||
        send->send.d.src1_B >= ZS_EU_GRF_FILE_MAX_B || send->send.d.dst_B >= ZS_EU_GRF_FILE_MAX_B) {
        emit_one(e, index);
        return true;
    }
    if (op->arg && !send->send.exec) {
        store_current(e, index);
        store_status(e, ZS_EU_EOT, index + 1);
        LINE("br label %%%s", e->options.keeps_state ? "stop" : "end");
        return false;
    }
    struct zs_eu_emit_mask active = zs_eu_emit_active(e, op);
    if (active.known && !active.bits && !op->arg)
        return true;
    unsigned skip = zs_eu_emit_label(e), mine = zs_eu_emit_label(e), value = mask_value(e, active);
    if (!op->arg && !active.known) {
        branch(e, VALUE("icmp eq i32 %%v%u, 0", value), skip, mine);
        zs_eu_emit_put_label(e, mine);
    }
    if (!zs_eu_emit_message(e, op, index, active, value))
        call_send(e, op, index, value);
    LINE("br label %%l%u", skip);
    zs_eu_emit_put_label(e, skip);
    return true;
}

void zs_eu_emit_runner(struct zs_eu_emit *e, const struct zs_eu_op *op, uint32_t index,
                       unsigned active)
{
    call_send(e, op, index, active);
}

/* ---- blocks and jumps ---- */

static uint32_t block_op(const struct zs_eu_emit *e, uint32_t block)
{
    return e->p->block_op[block] + (e->full ? (uint32_t)e->p->op_count : 0);
}

static void go_to(struct zs_eu_emit *e, uint32_t block)
{
    if (e->region[block])
        LINE("br label %%b%u", block);
    else
        leave_to(e, block_op(e, block));
}

static void add_to_counter(struct zs_eu_emit *e, uint32_t counter, unsigned value)
{
    unsigned at = zs_eu_emit_address(e, "%counters", counter * UINT64_C(8), "i64");
    unsigned sum = VALUE("load i64, i64* %%v%u", at);
    sum = VALUE("add i64 %%v%u, %%v%u", sum, value);
    LINE("store i64 %%v%u, i64* %%v%u", sum, at);
}

static void add_popcount(struct zs_eu_emit *e, uint32_t counter, unsigned mask)
{
    unsigned count = VALUE("call i32 @llvm.ctpop.i32(i32 %%v%u)", mask);

    add_to_counter(e, counter, VALUE("zext i32 %%v%u to i64", count));
}

/* out_of_budget() and count_block() of control.c; lanes that wait here join by the interpreter. */
static void emit_block(struct zs_eu_emit *e, const struct zs_eu_op *op, uint32_t index)
{
    unsigned go_on = zs_eu_emit_label(e), stop = zs_eu_emit_label(e);

    if (!e->full) {
        unsigned join = zs_eu_emit_label(e), alone = zs_eu_emit_label(e);
        branch(e, VALUE("icmp eq i32 %%merge, %u", op->block), join, alone);
        zs_eu_emit_put_label(e, join);
        leave_to(e, index);
        zs_eu_emit_put_label(e, alone);
    }
    unsigned budget = VALUE("load i64, i64* %%budget");
    branch(e, VALUE("icmp sle i64 %%v%u, 0", budget), stop, go_on);
    zs_eu_emit_put_label(e, stop);
    store_status(e, ZS_EU_BUDGET, index);
    LINE("br label %%stop");
    zs_eu_emit_put_label(e, go_on);
    LINE("store i64 %%v%u, i64* %%budget", VALUE("sub i64 %%v%u, %u", budget, op->aux));
    if (!op->arg)
        return;
    add_to_counter(e, op->next_block, VALUE("add i64 0, %%count0"));
    if (!e->full || e->p->full_ce > 0xffff)
        add_to_counter(e, op->next_block + 1, VALUE("add i64 0, %%count1"));
    if (op->pred_xor) {
        struct zs_eu_emit_mask on = mask_word(e, ZS_EU_OFFSET(ce));
        add_popcount(e, op->pred_xor, mask_value(e, mask_and(e, on, constant_mask(op->full))));
    }
}

/* Whether no lane waits in front of a block: always, where all are on. */
static void go_unless_passed(struct zs_eu_emit *e, uint32_t block, uint32_t index)
{
    if (!e->full) {
        unsigned pass = zs_eu_emit_label(e), leave = zs_eu_emit_label(e);
        branch(e, VALUE("icmp uge i32 %%merge, %u", block), pass, leave);
        zs_eu_emit_put_label(e, leave);
        leave_to(e, index);
        zs_eu_emit_put_label(e, pass);
    }
    go_to(e, block);
}

static unsigned lanes_on(struct zs_eu_emit *e)
{
    return mask_value(e, mask_word(e, ZS_EU_OFFSET(ce)));
}

static uint32_t jump_block(const struct zs_eu_emit *e, const struct zs_eu_op *op)
{
    (void)e;
    return op->block;
}

/* Of a branch: lanes that take it. */
static unsigned taken_lanes(struct zs_eu_emit *e, const struct zs_eu_op *op)
{
    struct zs_eu_emit_mask taken = mask_shift(e, zs_eu_emit_active(e, op), -(int)op->chan_offset);

    if (op->kind == ZS_EU_KIND_BRANCH && op->arg)
        taken = mask_and(e, mask_xor(e, taken, UINT32_MAX),
                         constant_mask(op->lanes << op->chan_offset));
    return mask_value(e, mask_and(e, taken, mask_word(e, ZS_EU_OFFSET(ce))));
}

/* branch, goto: all lanes or none; else the interpreter's. */
static void emit_branch(struct zs_eu_emit *e, const struct zs_eu_op *op, uint32_t index)
{
    unsigned taken = taken_lanes(e, op), all = lanes_on(e);
    unsigned yes = zs_eu_emit_label(e), maybe = zs_eu_emit_label(e), no = zs_eu_emit_label(e),
             split = zs_eu_emit_label(e);

    branch(e, VALUE("icmp eq i32 %%v%u, %%v%u", taken, all), yes, maybe);
    zs_eu_emit_put_label(e, maybe);
    branch(e, VALUE("icmp eq i32 %%v%u, 0", taken), no, split);
    zs_eu_emit_put_label(e, split);
    leave_to(e, index);
    zs_eu_emit_put_label(e, yes);
    go_unless_passed(e, jump_block(e, op), index);
    zs_eu_emit_put_label(e, no);
    if (op->kind == ZS_EU_KIND_GOTO)
        go_unless_passed(e, op->next_block, index);
}

static void emit_jump(struct zs_eu_emit *e, const struct zs_eu_op *op, uint32_t index)
{
    struct zs_eu_emit_mask taken = mask_and(e, zs_eu_emit_active(e, op), constant_mask(1));
    unsigned bit = mask_value(e, taken);
    bool counts = op->aux && e->counts && !taken.known;

    if (!e->full) { /* before anything is counted */
        unsigned go_on = zs_eu_emit_label(e), leave = zs_eu_emit_label(e);
        unsigned passed = VALUE("icmp ult i32 %%merge, %u", jump_block(e, op));
        unsigned goes = VALUE("icmp ne i32 %%v%u, 0", bit);
        branch(e, VALUE("and i1 %%v%u, %%v%u", passed, goes), leave, go_on);
        zs_eu_emit_put_label(e, leave);
        leave_to(e, index);
        zs_eu_emit_put_label(e, go_on);
    }
    if (counts)
        add_to_counter(e, op->aux, VALUE("zext i32 %%v%u to i64", bit));
    unsigned yes = zs_eu_emit_label(e), no = zs_eu_emit_label(e);
    branch(e, VALUE("icmp ne i32 %%v%u, 0", bit), yes, no);
    zs_eu_emit_put_label(e, yes);
    go_to(e, jump_block(e, op));
    zs_eu_emit_put_label(e, no);
}

/* A write to cr0: nothing has to be done where it asks for the modes that there are. */
static void emit_control(struct zs_eu_emit *e, uint32_t index)
{
    enum { CARES = 0x5 | 0x30 | 0xc0, USUAL = 0xc0 }; /* modes, rounding, denormals */
    unsigned go_on = zs_eu_emit_label(e), leave = zs_eu_emit_label(e);
    unsigned bits = VALUE("and i32 %%v%u, %d", zs_eu_emit_word(e, ZS_EU_OFFSET(cr0)), CARES);

    branch(e, VALUE("icmp eq i32 %%v%u, %d", bits, USUAL), go_on, leave);
    zs_eu_emit_put_label(e, leave);
    leave_to(e, index);
    zs_eu_emit_put_label(e, go_on);
}

/* ---- operations ---- */

/* false: what follows in the block is not reached from here. */
static bool emit_op(struct zs_eu_emit *e, uint32_t index)
{
    const struct zs_eu_op *op = &e->p->ops[index];

    if (op->kind < ZS_EU_ROW_COUNT) {
        if (!emit_row(e, op))
            emit_one(e, index);
        return true;
    }
    switch (op->kind) {
    case ZS_EU_KIND_GATHER:
    case ZS_EU_KIND_SCATTER:
        if (!emit_stride(e, op))
            emit_one(e, index);
        return true;
    case ZS_EU_KIND_GATHER_REGION:
    case ZS_EU_KIND_SCATTER_REGION:
        if (!emit_region_move(e, op))
            emit_one(e, index);
        return true;
    case ZS_EU_KIND_PREDICATE:
        if (!emit_predicate(e, op))
            emit_one(e, index);
        return true;
    case ZS_EU_KIND_FLAG_COPY:
        if (zs_eu_emit_can_scalar(op->src[0], 4))
            write_flag(e, op, zs_eu_emit_active(e, op), zs_eu_emit_read_one(e, op->src[0], 4));
        else
            emit_one(e, index);
        return true;
    case ZS_EU_KIND_FLAG_ONES:
        write_flag(e, op, zs_eu_emit_active(e, op), VALUE("add i32 0, -1"));
        return true;
    case ZS_EU_KIND_READ_IP:
        zs_eu_emit_set_word(e, ZS_EU_OFFSET(ip_B), VALUE("add i32 0, %u", op->aux));
        return true;
    case ZS_EU_KIND_LANE_COUNT:
        if (e->counts)
            add_popcount(e, op->aux, mask_value(e, zs_eu_emit_active(e, op)));
        return true;
    case ZS_EU_KIND_HOP:
        return true;
    case ZS_EU_KIND_BLOCK:
        emit_block(e, op, index);
        return true;
    case ZS_EU_KIND_SEND:
        return emit_send(e, op, index);
    case ZS_EU_KIND_BRANCH:
    case ZS_EU_KIND_GOTO:
        emit_branch(e, op, index);
        return op->kind == ZS_EU_KIND_BRANCH;
    case ZS_EU_KIND_JUMP_UNIFORM:
        emit_jump(e, op, index);
        return true;
    case ZS_EU_KIND_FAULT:
    case ZS_EU_KIND_END:
    case ZS_EU_KIND_CALL:
    case ZS_EU_KIND_CALL_REGISTER:
    case ZS_EU_KIND_RET:
    case ZS_EU_KIND_JUMP_REGISTER:
    case ZS_EU_KIND_WAIT:
    case ZS_EU_KIND_WAIT_NAMED:
    case ZS_EU_KIND_PAIR:
    case ZS_EU_KIND_STEP:
    case ZS_EU_KIND_SCOREBOARD:
        leave_to(e, index);
        return false;
    case ZS_EU_KIND_CONTROL_REGISTER:
        emit_control(e, index);
        return true;
    default:
        emit_one(e, index);
        return true;
    }
}

/* Whether the host's modes are those that the function was written for. */
unsigned zs_eu_emit_modes(struct zs_eu_emit *e)
{
    unsigned at = zs_eu_emit_address(e, "%t", ZS_EU_OFFSET(host_csr), "i32");
    unsigned single = VALUE("load i32, i32* %%v%u", at);
    at = zs_eu_emit_address(e, "%t", ZS_EU_OFFSET(host_csr_double), "i32");
    unsigned both = VALUE("load i32, i32* %%v%u", at);
    single = VALUE("icmp eq i32 %%v%u, %u", single, e->p->host_csr[0]);
    both = VALUE("icmp eq i32 %%v%u, %u", both, e->p->host_csr[1]);
    return VALUE("and i1 %%v%u, %%v%u", single, both);
}

/* From an operation to the end of its block. */
static void emit_from(struct zs_eu_emit *e, uint32_t index, uint32_t block)
{
    uint32_t end = block + 1 < e->p->block_count
                       ? block_op(e, block + 1)
                       : (uint32_t)(e->full ? 2 : 1) * (uint32_t)e->p->op_count;
    bool goes_on = true;

    for (; index < end && goes_on; index++)
        goes_on = emit_op(e, index);
    if (goes_on && block + 1 < e->p->block_count)
        go_to(e, block + 1);
    else if (goes_on)
        LINE("unreachable");
}

static void emit_body(struct zs_eu_emit *e)
{
    uint32_t first = e->entry_block;

    e->body.size_B = 0;
    e->next = e->label = 0;
    if (e->entry != block_op(e, first)) /* in the middle of one */
        emit_from(e, e->entry, first);
    else
        LINE("br label %%b%u", first);
    for (uint32_t block = 0; block < e->p->block_count; block++) {
        if (!e->region[block])
            continue;
        zs_buf_printf(&e->body, "b%u:\n", block);
        emit_from(e, block_op(e, block), block);
    }
    zs_buf_puts(&e->body, "end:\n"); /* nobody looks at registers of a thread that ended */
    store_budget(e);
    LINE("ret i8* null");
    zs_buf_puts(&e->body, "stop:\n");
    LINE("store i64 -1, i64* %%next");
    LINE("br label %%out");
    zs_buf_puts(&e->body, "out:\n");
    spill_all(e);
    store_budget(e);
    unsigned next = VALUE("load i64, i64* %%next");
    unsigned none = VALUE("icmp eq i64 %%v%u, -1", next);
    unsigned at = VALUE("mul i64 %%v%u, %llu", next, (unsigned long long)sizeof(struct zs_eu_op));
    at = VALUE("getelementptr i8, i8* %%ops, i64 %%v%u", at);
    at = VALUE("select i1 %%v%u, i8* null, i8* %%v%u", none, at);
    LINE("ret i8* %%v%u", at);
    zs_buf_puts(&e->body, "again:\n");
    spill_all(e);
    store_budget(e);
    LINE("br label %%bail");
    zs_buf_puts(&e->body, "bail:\n");
    unsigned fn = helper(e, ZS_EU_TIER_ORIGINAL, "i8* (i8*, i8*)");
    at = VALUE("call i8* %%v%u(i8* %%t, i8* %%op)", fn);
    LINE("ret i8* %%v%u", at);
    zs_buf_puts(&e->body, "}\n\n");
}

/* What a thread says that does not change while the function runs. */
static void emit_known(struct zs_eu_emit *e)
{
    unsigned ok = zs_eu_emit_modes(e);

    LINE("%%ce_at = getelementptr i8, i8* %%t, i64 %u", ZS_EU_OFFSET(ce));
    LINE("%%ce_word = bitcast i8* %%ce_at to i32*");
    LINE("%%ce = load i32, i32* %%ce_word");
    LINE("%%merge_at = getelementptr i8, i8* %%t, i64 %u", ZS_EU_OFFSET(merge_block));
    LINE("%%merge_word = bitcast i8* %%merge_at to i32*");
    LINE("%%merge = load i32, i32* %%merge_word");
    unsigned at = zs_eu_emit_address(e, "%t", ZS_EU_OFFSET(budget), "i64");
    LINE("store i64 %%v%u, i64* %%budget", VALUE("load i64, i64* %%v%u", at));
    if (e->counts) {
        for (unsigned i = 0; i < 2; i++) {
            LINE("%%count%u_at = getelementptr i8, i8* %%t, i64 %u", i,
                 ZS_EU_OFFSET(block_count) + 8 * i);
            LINE("%%count%u_word = bitcast i8* %%count%u_at to i64*", i, i);
            LINE("%%count%u = load i64, i64* %%count%u_word", i, i);
        }
        LINE("%%counters_at = getelementptr i8, i8* %%t, i64 %u", ZS_EU_OFFSET(counters));
        LINE("%%counters_word = bitcast i8* %%counters_at to i8**");
        LINE("%%counters = load i8*, i8** %%counters_word");
        unsigned some = VALUE("icmp ne i8* %%counters, null");
        ok = VALUE("and i1 %%v%u, %%v%u", ok, some);
    }
    LINE("br i1 %%v%u, label %%start, label %%bail", ok);
}

/* The variables, and what they begin with. */
static void emit_head(struct zs_eu_emit *e, struct zs_buf *out)
{
    e->body.size_B = 0;
    e->next = UINT32_C(1) << 24; /* names apart from the body's */
    zs_buf_printf(&e->body, "define i8* @e%u(i8* %%t, i8* %%op) #2 {\nentry:\n", e->number);
    LINE("%%next = alloca i64");
    LINE("%%budget = alloca i64");
    for (uint32_t cell = 0; cell < ZS_EU_EMIT_CELLS; cell++) {
        if (e->used[cell])
            LINE("%%c%u = alloca <8 x i32>", cell);
    }
    for (uint32_t i = 0; i < ZS_EU_EMIT_HEAD_B / 4; i++) {
        if (e->word_used[i])
            LINE("%%h%u = alloca i32", i);
    }
    for (unsigned i = 0; i < 4; i++) {
        for (unsigned size_B = 1; size_B <= 8; size_B *= 2) {
            if (!(e->place_used[i] & size_B))
                continue;
            LINE("%%p%u = alloca <8 x i%u>, align 64", i * 10 + size_B, 8 * size_B);
            LINE("%%q%u = bitcast <8 x i%u>* %%p%u to i8*", i * 10 + size_B, 8 * size_B,
                 i * 10 + size_B);
        }
    }
    unsigned at = zs_eu_emit_address(e, "%t", ZS_EU_OFFSET(program), "i8*");
    LINE("%%program = load i8*, i8** %%v%u", at);
    at = zs_eu_emit_address(e, "%program", offsetof(struct zs_eu_program, ops), "i8*");
    LINE("%%ops = load i8*, i8** %%v%u", at);
    at = zs_eu_emit_address(e, "%program", offsetof(struct zs_eu_program, tier), "i8*");
    LINE("%%tier = load i8*, i8** %%v%u", at);
    at = zs_eu_emit_address(e, "%t", ZS_EU_OFFSET(env), "i8*");
    LINE("%%port = load i8*, i8** %%v%u", at);
    emit_known(e);
    zs_buf_puts(&e->body, "start:\n");
    fill_all(e);
    zs_buf_append(out, e->body.data, e->body.size_B);
}

void zs_eu_emit_function(struct zs_eu_emit *e, struct zs_buf *out)
{
    memset(e->used, 0, sizeof(e->used));
    memset(e->dirty, 0, sizeof(e->dirty));
    memset(e->word_used, 0, sizeof(e->word_used));
    memset(e->word_dirty, 0, sizeof(e->word_dirty));
    memset(e->place_used, 0, sizeof(e->place_used));
    emit_body(e);
    emit_head(e, out);
    emit_body(e);
    zs_buf_append(out, e->body.data, e->body.size_B);
}
