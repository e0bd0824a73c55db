/* SPDX-License-Identifier: MIT */
/*
 * Local memory, checked (dataport/local.c), in line. What has been written belongs to no gap, and
 * may be read and written again: one look at the bits of all bytes. Where there are no gaps rows
 * set their bits, too. All else is the data port's.
 */
#include "eu/tier/emit_message.h"

#define VALUE(...) zs_eu_emit_value(e, __VA_ARGS__)
#define LINE(...)  zs_eu_emit_line(e, __VA_ARGS__)

enum { ROW_B = 64 };

static unsigned load_field(struct zs_eu_emit *e, uint64_t offset_B, const char *type)
{
    unsigned at = zs_eu_emit_address(e, "%port", offset_B, type);

    return VALUE("load %s, %s* %%v%u, !invariant.load !2", type, type, at);
}

static bool is_checked(const struct zs_eu_emit_message *m)
{
    return m->d->checks_local && zs_eu_emit_is_slm(m);
}

/* Somebody asks for what was written; gaps: i32, how many there are. */
static unsigned asks(struct zs_eu_emit *e, unsigned gaps)
{
    unsigned flags = load_field(e, offsetof(struct zs_port, flags), "i32");

    flags = VALUE("and i32 %%v%u, %u", flags, ZS_PORT_CHECK_UNWRITTEN | ZS_PORT_LOCAL_UNDEFINED);
    return VALUE("icmp ne i32 %%v%u, 0", VALUE("or i32 %%v%u, %%v%u", flags, gaps));
}

static unsigned bits_at(struct zs_eu_emit *e, unsigned first, const char *type)
{
    unsigned at = load_field(e, offsetof(struct zs_port, slm_written), "i8*");

    at = VALUE("getelementptr i8, i8* %%v%u, i64 %%v%u", at, VALUE("lshr i64 %%v%u, 3", first));
    return VALUE("bitcast i8* %%v%u to %s*", at, type);
}

static void row(struct zs_eu_emit *e, const struct zs_eu_emit_message *m, unsigned first,
                unsigned size_B, bool may_set, unsigned gaps)
{
    unsigned at = bits_at(e, first, "i128"), next = zs_eu_emit_label(e);
    unsigned bits = VALUE("load i128, i128* %%v%u, align 1", at);
    unsigned shift = VALUE("zext i64 %%v%u to i128", VALUE("and i64 %%v%u, 7", first));
    unsigned all = VALUE("add i128 0, %llu", (unsigned long long)(UINT64_MAX >> (64 - size_B)));
    unsigned set = zs_eu_emit_label(e), other = may_set ? set : m->slow;

    all = VALUE("shl i128 %%v%u, %%v%u", all, shift);
    unsigned mine = VALUE("and i128 %%v%u, %%v%u", bits, all);
    zs_eu_emit_branch(e, VALUE("icmp eq i128 %%v%u, %%v%u", mine, all), next, other, 0);
    if (may_set) {
        unsigned may = zs_eu_emit_label(e);
        zs_eu_emit_put_label(e, set);
        zs_eu_emit_branch(e, VALUE("icmp eq i32 %%v%u, 0", gaps), may, m->slow, 1);
        zs_eu_emit_put_label(e, may);
        LINE("store i128 %%v%u, i128* %%v%u, align 1", VALUE("or i128 %%v%u, %%v%u", bits, all),
             at);
        LINE("br label %%l%u", next);
    }
    zs_eu_emit_put_label(e, next);
}

void zs_eu_emit_local_row(struct zs_eu_emit *e, const struct zs_eu_emit_message *m, unsigned first,
                          unsigned size_B, bool may_set)
{
    if (!is_checked(m))
        return;
    unsigned look = zs_eu_emit_label(e), fine = zs_eu_emit_label(e);
    unsigned gaps = load_field(e, offsetof(struct zs_port, gap_count), "i32");
    zs_eu_emit_branch(e, asks(e, gaps), look, fine, 0);
    zs_eu_emit_put_label(e, look);
    for (unsigned at_B = 0; at_B < size_B; at_B += ROW_B)
        row(e, m, VALUE("add i64 %%v%u, %u", first, at_B), ZS_MIN(size_B - at_B, (unsigned)ROW_B),
            may_set, gaps);
    LINE("br label %%l%u", fine);
    zs_eu_emit_put_label(e, fine);
}

void zs_eu_emit_local_lanes(struct zs_eu_emit *e, const struct zs_eu_emit_message *m,
                            unsigned group)
{
    if (!is_checked(m))
        return;
    unsigned look = zs_eu_emit_label(e), fine = zs_eu_emit_label(e), n = m->n;
    unsigned gaps = load_field(e, offsetof(struct zs_port, gap_count), "i32");
    zs_eu_emit_branch(e, asks(e, gaps), look, fine, 0);
    zs_eu_emit_put_label(e, look);
    unsigned base = load_field(e, offsetof(struct zs_port, slm_written), "i8*");
    unsigned three = zs_eu_emit_splat(e, VALUE("add i32 0, 3"), 4, n);
    unsigned seven = zs_eu_emit_splat(e, VALUE("add i32 0, 7"), 4, n);
    unsigned span = zs_eu_emit_splat(e, VALUE("add i32 0, %u", (1u << m->span_B) - 1), 4, n);
    unsigned at = VALUE("lshr <%u x i32> %%v%u, %%v%u", n, m->at[group], three);
    at = VALUE("getelementptr i8, i8* %%v%u, <%u x i32> %%v%u", base, n, at);
    at = VALUE("bitcast <%u x i8*> %%v%u to <%u x i32*>", n, at, n);
    unsigned bits = VALUE("call <%u x i32> @zs_gather_%u_32(<%u x i32*> %%v%u)", n, n, n, at);
    unsigned shift = VALUE("and <%u x i32> %%v%u, %%v%u", n, m->at[group], seven);
    bits = VALUE("lshr <%u x i32> %%v%u, %%v%u", n, bits, shift);
    bits = VALUE("and <%u x i32> %%v%u, %%v%u", n, bits, span);
    unsigned is = VALUE("icmp eq <%u x i32> %%v%u, %%v%u", n, bits, span);
    zs_eu_emit_need(e, m, zs_eu_emit_all_on(e, is, m->active_value, group * n, n));
    LINE("br label %%l%u", fine);
    zs_eu_emit_put_label(e, fine);
}
