/* SPDX-License-Identifier: MIT */
/*
 * Lanes that part and meet: what split(), merge() and run_lanes() of control.c do, as functions of
 * the module. They take few registers, and those of whoever calls them stay. The thread has
 * everything at all times; what is compared with at each block is in variables, too.
 */
#include "eu/tier/emit.h"

#include <string.h>

#define VALUE(...) zs_eu_emit_value(e, __VA_ARGS__)
#define LINE(...)  zs_eu_emit_line(e, __VA_ARGS__)

/* Lanes of a thread, in groups of n. */
static unsigned group_lanes(const struct zs_eu_emit *e)
{
    return e->p->full_ce > 0xff ? 16 : 8;
}

static unsigned group_count(const struct zs_eu_emit *e)
{
    return e->p->full_ce > 0xffff ? 2 : 1;
}

static unsigned keys_at(struct zs_eu_emit *e, unsigned group)
{
    return zs_eu_emit_address(e, "%t", ZS_EU_OFFSET(key) + group * UINT64_C(64),
                              group_lanes(e) == 16 ? "<16 x i32>" : "<8 x i32>");
}

static unsigned load_keys(struct zs_eu_emit *e, unsigned group)
{
    unsigned n = group_lanes(e);

    return VALUE("load <%u x i32>, <%u x i32>* %%v%u, align 32", n, n, keys_at(e, group));
}

static unsigned lanes_of(struct zs_eu_emit *e, unsigned bits, unsigned group)
{
    unsigned n = group_lanes(e);

    return zs_eu_emit_lanes(e, (struct zs_eu_emit_mask){.value = bits}, group * n, n);
}

static unsigned choose(struct zs_eu_emit *e, unsigned lanes, unsigned yes, unsigned no)
{
    unsigned n = group_lanes(e);

    return VALUE("select <%u x i1> %%v%u, <%u x i32> %%v%u, <%u x i32> %%v%u", n, lanes, n, yes, n,
                 no);
}

/* The place of a block (i32), at the depth of those that run. */
static unsigned key_of(struct zs_eu_emit *e, unsigned block)
{
    return VALUE("or i32 %%v%u, %%v%u", zs_eu_emit_field(e, ZS_EU_OFFSET(depth_key)), block);
}

static void place(struct zs_eu_emit *e, unsigned lanes, unsigned block)
{
    unsigned n = group_lanes(e), key = zs_eu_emit_splat(e, key_of(e, block), 4, n);

    for (unsigned g = 0; g < group_count(e); g++) {
        unsigned new = choose(e, lanes_of(e, lanes, g), key, load_keys(e, g));
        LINE("store <%u x i32> %%v%u, <%u x i32>* %%v%u, align 32", n, new, n, keys_at(e, g));
    }
}

/* Those of some lanes that are at a place. */
static unsigned lanes_with(struct zs_eu_emit *e, unsigned lanes, unsigned key)
{
    unsigned n = group_lanes(e), all = UINT32_MAX;

    key = zs_eu_emit_splat(e, key, 4, n);
    for (unsigned g = 0; g < group_count(e); g++) {
        unsigned is = VALUE("icmp eq <%u x i32> %%v%u, %%v%u", n, load_keys(e, g), key);
        is = VALUE("zext i%u %%v%u to i32", n, VALUE("bitcast <%u x i1> %%v%u to i%u", n, is, n));
        all = g ? VALUE("or i32 %%v%u, %%v%u", all, VALUE("shl i32 %%v%u, %u", is, g * n)) : is;
    }
    return VALUE("and i32 %%v%u, %%v%u", all, lanes);
}

/* Where the first of some lanes wait that is at this depth; -1: there is none. */
static unsigned first_of(struct zs_eu_emit *e, unsigned lanes)
{
    unsigned n = group_lanes(e), all = UINT32_MAX;
    unsigned none = zs_eu_emit_splat(e, VALUE("add i32 0, -1"), 4, n);

    for (unsigned g = 0; g < group_count(e); g++) {
        unsigned keys = choose(e, lanes_of(e, lanes, g), load_keys(e, g), none);
        if (g) {
            unsigned less = VALUE("icmp ult <%u x i32> %%v%u, %%v%u", n, keys, all);
            keys = choose(e, less, keys, all);
        }
        all = keys;
    }
    unsigned least = VALUE("call i32 @llvm.vector.reduce.umin.v%ui32(<%u x i32> %%v%u)", n, n, all);
    unsigned depth = zs_eu_emit_field(e, ZS_EU_OFFSET(depth_key));
    unsigned block = VALUE("xor i32 %%v%u, %%v%u", least, depth);
    unsigned here = VALUE("icmp ult i32 %%v%u, %u", block, ZS_EU_BLOCK_MASK);
    return VALUE("select i1 %%v%u, i32 %%v%u, i32 -1", here, block);
}

/* What block starts count while lanes run. */
static void count(struct zs_eu_emit *e, unsigned ce)
{
    static const struct {
        uint32_t bits;
        unsigned shift;
    } parts[2][2] = {{{0xff, ZS_EU_PACKED_LOW}, {0xff00, ZS_EU_PACKED_HIGH}},
                     {{0xff0000, 0}, {0xff000000, 32}}};

    for (unsigned i = 0; i < group_count(e); i++) {
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

static void run(struct zs_eu_emit *e, unsigned ce, unsigned waiting, unsigned merge)
{
    zs_eu_emit_set_field(e, ZS_EU_OFFSET(ce), ce);
    zs_eu_emit_set_field(e, ZS_EU_OFFSET(waiting), waiting);
    zs_eu_emit_set_field(e, ZS_EU_OFFSET(merge_block), merge);
    count(e, ce);
    LINE("ret i32 %%v%u", ce);
}

/* ---- functions: %v0 to %v2 are what they are given ---- */

enum { GIVEN = 3 };

static void part(struct zs_eu_emit *e)
{
    const unsigned block = 0, stays = 1, leaves = 2;
    unsigned old = zs_eu_emit_field(e, ZS_EU_OFFSET(merge_block));
    unsigned waiting = zs_eu_emit_field(e, ZS_EU_OFFSET(waiting));

    place(e, leaves, block);
    unsigned less = VALUE("icmp ult i32 %%v%u, %%v%u", old, block);
    unsigned merge = VALUE("select i1 %%v%u, i32 %%v%u, i32 %%v%u", less, old, block);
    run(e, stays, VALUE("or i32 %%v%u, %%v%u", waiting, leaves), merge);
}

static void meet(struct zs_eu_emit *e)
{
    const unsigned block = 0;
    unsigned old = zs_eu_emit_field(e, ZS_EU_OFFSET(waiting));
    unsigned more = lanes_with(e, old, key_of(e, block));
    unsigned ce = VALUE("or i32 %%v%u, %%v%u", zs_eu_emit_field(e, ZS_EU_OFFSET(ce)), more);
    unsigned waiting = VALUE("xor i32 %%v%u, %%v%u", old, more);

    run(e, ce, waiting, first_of(e, waiting));
}

static void give_way(struct zs_eu_emit *e)
{
    const unsigned block = 0;
    unsigned old = zs_eu_emit_field(e, ZS_EU_OFFSET(waiting));
    unsigned ce = zs_eu_emit_field(e, ZS_EU_OFFSET(ce));
    unsigned key = key_of(e, zs_eu_emit_field(e, ZS_EU_OFFSET(merge_block)));
    unsigned mine = lanes_with(e, old, key), all = VALUE("or i32 %%v%u, %%v%u", old, ce);

    place(e, ce, block);
    unsigned waiting = VALUE("xor i32 %%v%u, %%v%u", all, mine);
    run(e, mine, waiting, first_of(e, waiting));
}

void zs_eu_emit_part_functions(struct zs_eu_emit *e, const char *functions, struct zs_buf *out)
{
    static const struct {
        const char *name;
        void (*write)(struct zs_eu_emit *);
    } all[] = {{"zs_part", part}, {"zs_meet", meet}, {"zs_give_way", give_way}};

    for (size_t i = 0; i < ZS_ARRAY_LEN(all); i++) {
        if (!strstr(functions, all[i].name))
            continue;
        e->body.size_B = 0;
        e->next = GIVEN;
        zs_buf_printf(
            &e->body,
            "define internal coldcc i32 @%s(i8* %%t, i32 %%v0, i32 %%v1, i32 %%v2) #1 {\n",
            all[i].name);
        all[i].write(e);
        zs_buf_append(out, e->body.data, e->body.size_B);
        zs_buf_puts(out, "}\n");
    }
}

/* ---- calls ---- */

static unsigned call(struct zs_eu_emit *e, const char *name, uint32_t block, unsigned stays,
                     unsigned leaves)
{
    unsigned ce = VALUE("call coldcc i32 @%s(i8* %%t, i32 %u, i32 %%v%u, i32 %%v%u)", name, block,
                        stays, leaves);

    LINE("store i32 %%v%u, i32* %%ce", ce);
    LINE("store i32 %%v%u, i32* %%merge", zs_eu_emit_field(e, ZS_EU_OFFSET(merge_block)));
    return ce;
}

void zs_eu_emit_part(struct zs_eu_emit *e, unsigned stays, unsigned leaves, uint32_t block)
{
    call(e, "zs_part", block, stays, leaves);
}

unsigned zs_eu_emit_meet(struct zs_eu_emit *e, uint32_t block)
{
    unsigned none = VALUE("add i32 0, 0");

    return call(e, "zs_meet", block, none, none);
}

void zs_eu_emit_give_way(struct zs_eu_emit *e, uint32_t block)
{
    unsigned none = VALUE("add i32 0, 0");

    call(e, "zs_give_way", block, none, none);
}
