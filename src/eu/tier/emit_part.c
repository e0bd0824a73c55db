/* SPDX-License-Identifier: MIT */
/*
 * Lanes that part and meet: what split(), merge() and run_lanes() of control.c do.
 *
 * Blocks that lanes come to by branches of the function are places, with numbers that rise as they
 * do. Those that wait at one are in %wait, by its number; %open has a bit for each where some do,
 * the odd ones. Lanes that wait at other blocks, where no branch of the function goes, stay at
 * their keys; the bit in front of the next place behind the first of them is set. Where threads
 * leave, lanes get keys again.
 */
#include "eu/tier/emit.h"

#include <string.h>

#define VALUE(...) zs_eu_emit_value(e, __VA_ARGS__)
#define LINE(...)  zs_eu_emit_line(e, __VA_ARGS__)

/* ---- numbers of blocks ---- */

static void number(struct zs_eu_emit *e, uint32_t block)
{
    if (block < e->p->block_count)
        e->places[block] = 1;
}

void zs_eu_emit_find_places(struct zs_eu_emit *e)
{
    memset(e->places, 0, e->p->block_count * sizeof(*e->places));
    e->place_count = 0;
    for (uint32_t i = 0; i < e->segment_count; i++) {
        const struct zs_eu_emit_segment *s = &e->segments[i];
        for (uint32_t index = s->first; s->in && index < s->end; index++) {
            const struct zs_eu_op *op = &e->p->ops[index];
            bool parts = op->kind == ZS_EU_KIND_BRANCH || op->kind == ZS_EU_KIND_GOTO;
            if (parts || op->kind == ZS_EU_KIND_JUMP_UNIFORM)
                number(e, op->block);
            if (parts)
                number(e, op->next_block);
        }
    }
    for (uint32_t block = 0; block < e->p->block_count; block++) {
        if (e->places[block] && e->place_count < ZS_EU_TIER_PLACES)
            e->places[block] = (uint16_t)++e->place_count;
        else
            e->places[block] = 0;
    }
    for (e->open_bits = 64; e->open_bits < 2 * e->place_count;)
        e->open_bits *= 2;
}

bool zs_eu_emit_is_place(const struct zs_eu_emit *e, uint32_t block)
{
    return block < e->p->block_count && e->places[block] != 0;
}

void zs_eu_emit_put_places(const struct zs_eu_emit *e, struct zs_buf *out)
{
    uint32_t count = 0;

    if (!e->place_count)
        return;
    zs_buf_printf(out, "@places%u = internal constant [%u x i32] [", e->number, e->place_count);
    for (uint32_t block = 0; block < e->p->block_count; block++) {
        if (e->places[block])
            zs_buf_printf(out, "%si32 %u", count++ ? ", " : "", block);
    }
    zs_buf_puts(out, "]\n");
}

/* ---- variables ---- */

void zs_eu_emit_place_variables(struct zs_eu_emit *e)
{
    if (!e->place_count)
        return;
    uint32_t count = (e->place_count + 15) / 16 * 16; /* whole vectors */
    LINE("%%open = alloca i%u", e->open_bits);
    LINE("%%wait = alloca [%u x i32], align 64", count);
    LINE("%%wait0 = bitcast [%u x i32]* %%wait to i32*", count);
    LINE("%%opens = alloca i%u", e->open_bits);
    LINE("%%opens0 = bitcast i%u* %%opens to i64*", e->open_bits);
    LINE("%%places = bitcast [%u x i32]* @places%u to i32*", e->place_count, e->number);
}

static unsigned load_open(struct zs_eu_emit *e, const char *from)
{
    return VALUE("load i%u, i%u* %%%s", e->open_bits, e->open_bits, from);
}

static void store_open(struct zs_eu_emit *e, unsigned open)
{
    LINE("store i%u %%v%u, i%u* %%open", e->open_bits, open, e->open_bits);
}

void zs_eu_emit_none_waits(struct zs_eu_emit *e)
{
    if (!e->place_count)
        return;
    LINE("store i%u 0, i%u* %%open", e->open_bits, e->open_bits);
    for (uint32_t i = 0; i < e->place_count; i += 16) {
        unsigned at = VALUE("getelementptr i32, i32* %%wait0, i64 %u", i);
        LINE("store <16 x i32> zeroinitializer, <16 x i32>* %%v%u, align 64",
             VALUE("bitcast i32* %%v%u to <16 x i32>*", at));
    }
}

static unsigned is_open(struct zs_eu_emit *e)
{
    return VALUE("icmp ne i%u %%v%u, 0", e->open_bits, load_open(e, "open"));
}

unsigned zs_eu_emit_some_wait(struct zs_eu_emit *e)
{
    unsigned waiting = zs_eu_emit_field(e, ZS_EU_OFFSET(waiting));
    unsigned some = VALUE("icmp ne i32 %%v%u, 0", waiting);

    return e->place_count ? VALUE("or i1 %%v%u, %%v%u", some, is_open(e)) : some;
}

/* A thread comes in, with lanes that may wait. */
void zs_eu_emit_absorb(struct zs_eu_emit *e)
{
    if (!e->place_count)
        return;
    unsigned some = zs_eu_emit_label(e), go_on = zs_eu_emit_label(e);
    unsigned waiting = zs_eu_emit_field(e, ZS_EU_OFFSET(waiting));

    zs_eu_emit_none_waits(e);
    zs_eu_emit_branch(e, VALUE("icmp ne i32 %%v%u, 0", waiting), some, go_on, ZS_EU_EMIT_UNLIKELY);
    zs_eu_emit_put_label(e, some);
    LINE("store i%u 0, i%u* %%opens", e->open_bits, e->open_bits);
    (void)VALUE("call coldcc i32 @zs_absorb(i8* %%t, i32* %%wait0, i32* %%places, i32 %u, i64* "
                "%%opens0) #3",
                e->place_count);
    store_open(e, load_open(e, "opens"));
    LINE("br label %%l%u", go_on);
    zs_eu_emit_put_label(e, go_on);
}

/* ... and leaves. */
void zs_eu_emit_settle(struct zs_eu_emit *e)
{
    if (!e->place_count)
        return;
    unsigned some = zs_eu_emit_label(e), go_on = zs_eu_emit_label(e);

    zs_eu_emit_branch(e, is_open(e), some, go_on, ZS_EU_EMIT_UNLIKELY);
    zs_eu_emit_put_label(e, some);
    LINE("store i%u %%v%u, i%u* %%opens", e->open_bits, load_open(e, "open"), e->open_bits);
    (void)VALUE("call coldcc i32 @zs_settle(i8* %%t, i32* %%wait0, i32* %%places, i32 %u, i64* "
                "%%opens0) #3",
                e->place_count);
    LINE("br label %%l%u", go_on);
    zs_eu_emit_put_label(e, go_on);
}

/* ---- lanes ---- */

/* What block starts count while lanes run. */
static void count(struct zs_eu_emit *e, unsigned ce)
{
    static const struct {
        uint32_t bits;
        unsigned shift;
    } parts[2][2] = {{{0xff, ZS_EU_PACKED_LOW}, {0xff00, ZS_EU_PACKED_HIGH}},
                     {{0xff0000, 0}, {0xff000000, 32}}};

    for (unsigned i = 0; i < (e->p->full_ce > 0xffff ? 2 : 1); i++) {
        unsigned sum = VALUE("add i64 0, %u", !i);
        for (unsigned k = 0; k < 2; k++) {
            unsigned some = VALUE("and i32 %%v%u, %u", ce, parts[i][k].bits);
            some = VALUE("call i32 @llvm.ctpop.i32(i32 %%v%u)", some);
            some =
                VALUE("shl i64 %%v%u, %u", VALUE("zext i32 %%v%u to i64", some), parts[i][k].shift);
            sum = VALUE("or i64 %%v%u, %%v%u", sum, some);
        }
        LINE("store i64 %%v%u, i64* %%v%u", sum,
             zs_eu_emit_address(e, "%t", ZS_EU_OFFSET(block_count) + 8 * i, "i64"));
    }
}

static void run(struct zs_eu_emit *e, unsigned ce)
{
    LINE("store i32 %%v%u, i32* %%ce", ce);
    zs_eu_emit_set_field(e, ZS_EU_OFFSET(ce), ce);
    count(e, ce);
}

static unsigned wait_of(struct zs_eu_emit *e, uint32_t block)
{
    return VALUE("getelementptr i32, i32* %%wait0, i64 %u", e->places[block] - 1u);
}

static unsigned bit_of(struct zs_eu_emit *e, uint32_t block)
{
    return VALUE("shl i%u 1, %u", e->open_bits, 2 * e->places[block] - 1u);
}

static void wait_at(struct zs_eu_emit *e, unsigned lanes, uint32_t block)
{
    unsigned at = wait_of(e, block), bit = bit_of(e, block);
    unsigned old = VALUE("load i32, i32* %%v%u", at);

    LINE("store i32 %%v%u, i32* %%v%u", VALUE("or i32 %%v%u, %%v%u", old, lanes), at);
    store_open(e, VALUE("or i%u %%v%u, %%v%u", e->open_bits, load_open(e, "open"), bit));
}

/* Those that wait there do no more. */
static unsigned take(struct zs_eu_emit *e, unsigned at, unsigned open)
{
    unsigned lanes = VALUE("load i32, i32* %%v%u", at);

    LINE("store i32 0, i32* %%v%u", at);
    store_open(e, open);
    return lanes;
}

unsigned zs_eu_emit_waits_at(struct zs_eu_emit *e, uint32_t block)
{
    unsigned bits = e->open_bits;

    if (!zs_eu_emit_is_place(e, block))
        return VALUE("icmp eq i32 %%v%u, %u", zs_eu_emit_field(e, ZS_EU_OFFSET(merge_block)),
                     block);
    unsigned bit = VALUE("and i%u %%v%u, %%v%u", bits, load_open(e, "open"), bit_of(e, block));
    return VALUE("icmp ne i%u %%v%u, 0", bits, bit);
}

unsigned zs_eu_emit_waits_before(struct zs_eu_emit *e, uint32_t block)
{
    bool is_place = zs_eu_emit_is_place(e, block);
    unsigned bits = e->open_bits, others = UINT32_MAX;

    if (!is_place)
        others =
            VALUE("icmp ult i32 %%v%u, %u", zs_eu_emit_field(e, ZS_EU_OFFSET(merge_block)), block);
    if (!e->place_count)
        return others;
    /* of one that is no place all are told */
    unsigned those = VALUE("lshr i%u -1, %u", bits, is_place ? bits + 1 - 2 * e->places[block] : 0);
    those = VALUE("and i%u %%v%u, %%v%u", bits, load_open(e, "open"), those);
    those = VALUE("icmp ne i%u %%v%u, 0", bits, those);
    return is_place ? those : VALUE("or i1 %%v%u, %%v%u", those, others);
}

void zs_eu_emit_part(struct zs_eu_emit *e, unsigned stays, unsigned leaves, uint32_t block)
{
    wait_at(e, leaves, block);
    run(e, stays);
}

unsigned zs_eu_emit_meet(struct zs_eu_emit *e, uint32_t block)
{
    unsigned bits = e->open_bits, bit = VALUE("xor i%u %%v%u, -1", bits, bit_of(e, block));
    unsigned open = VALUE("and i%u %%v%u, %%v%u", bits, load_open(e, "open"), bit);
    unsigned more = take(e, wait_of(e, block), open);
    unsigned ce = VALUE("or i32 %%v%u, %%v%u", VALUE("load i32, i32* %%ce"), more);

    run(e, ce);
    return ce;
}

/* Only bits of blocks in between may be set: mostly one word has all of them. */
unsigned zs_eu_emit_first_bit(struct zs_eu_emit *e, uint32_t from, uint32_t block)
{
    uint32_t first = 2 * (e->places[block] - 1u), bits = e->open_bits;

    for (uint32_t b = from + 1; b < block; b++) {
        if (zs_eu_emit_is_place(e, b))
            first = ZS_MIN(first, 2 * (e->places[b] - 1u));
    }
    unsigned open = VALUE("lshr i%u %%v%u, %u", bits, load_open(e, "open"), first);
    if (bits > 64 && 2 * e->places[block] - 1u - first <= 64) {
        open = VALUE("trunc i%u %%v%u to i64", bits, open);
        bits = 64;
    }
    unsigned at = VALUE("call i%u @llvm.cttz.i%u(i%u %%v%u, i1 true)", bits, bits, bits, open);
    at = VALUE("trunc i%u %%v%u to i32", bits, at);
    return VALUE("add i32 %%v%u, %u", at, first);
}

void zs_eu_emit_give_way(struct zs_eu_emit *e, unsigned bit, uint32_t block)
{
    unsigned bits = e->open_bits, number = VALUE("lshr i32 %%v%u, 1", bit);
    unsigned at = VALUE("getelementptr i32, i32* %%wait0, i32 %%v%u", number);
    unsigned open = load_open(e, "open"), less = VALUE("add i%u %%v%u, -1", bits, open);
    unsigned mine = take(e, at, VALUE("and i%u %%v%u, %%v%u", bits, open, less));

    wait_at(e, VALUE("load i32, i32* %%ce"), block);
    run(e, mine);
}
