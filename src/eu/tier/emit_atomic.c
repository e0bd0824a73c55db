/* SPDX-License-Identifier: MIT */
/*
 * What is done lane by lane, in their order: stores to anywhere, and atomics of dwords and
 * qwords, also sums of floats where the thread computes as the data port does. Local
 * memory belongs to one host thread, so plain accesses do there; elsewhere they are the host's
 * atomics. Everything is checked before anything is done, since the slow way does all of the
 * message. Lanes that all want one place outside of local memory go that way, too: the data port
 * needs one of the host's atomics for them.
 */
#include "eu/tier/emit_message.h"

#include "isa/message_form.h"

#include <stdio.h>

#define VALUE(...) zs_eu_emit_value(e, __VA_ARGS__)
#define LINE(...)  zs_eu_emit_line(e, __VA_ARGS__)

enum { LANES_MAX = 16 };

/* How the new value is made of the old one, and the host's atomic that does it all. */
static const struct operation {
    const char *local, *global;
    uint8_t operands, one; /* one: in place of the operand */
    bool compares;         /* local: the comparison that keeps the old value */
    bool is_float, negates;
} operations[ZS_ATOMIC_COUNT] = {
    [ZS_ATOMIC_AND] = {"and", "and", 1, 0, false},
    [ZS_ATOMIC_OR] = {"or", "or", 1, 0, false},
    [ZS_ATOMIC_XOR] = {"xor", "xor", 1, 0, false},
    [ZS_ATOMIC_INC] = {"add", "add", 0, 1, false},
    [ZS_ATOMIC_DEC] = {"sub", "sub", 0, 1, false},
    [ZS_ATOMIC_ADD] = {"add", "add", 1, 0, false},
    [ZS_ATOMIC_SUB] = {"sub", "sub", 1, 0, false},
    [ZS_ATOMIC_IMAX] = {"sgt", "max", 1, 0, true},
    [ZS_ATOMIC_IMIN] = {"slt", "min", 1, 0, true},
    [ZS_ATOMIC_UMAX] = {"ugt", "umax", 1, 0, true},
    [ZS_ATOMIC_UMIN] = {"ult", "umin", 1, 0, true},
    [ZS_ATOMIC_MOV] = {"", "xchg", 1, 0, false},
    [ZS_ATOMIC_CMPWR] = {"cmpxchg", "cmpxchg", 2, 0, false},
    [ZS_ATOMIC_FADD] = {"fadd", "fadd", 1, .is_float = true},
    [ZS_ATOMIC_FSUB] = {"fadd", "fadd", 1, .is_float = true, .negates = true},
};

bool zs_eu_emit_atomic_operands(const struct zs_eu_emit *e, const struct zs_port_message *m,
                                unsigned *ret)
{
    if (m->op >= ZS_ATOMIC_COUNT || !operations[m->op].local || m->element_B < 4 ||
        m->slot_B != m->element_B || m->elements != 1)
        return false;
    if (operations[m->op].is_float && !zs_eu_emit_modes_plain(e))
        return false;
    *ret = operations[m->op].operands;
    return true;
}

/* ---- checks ---- */

static void need_aligned(struct zs_eu_emit *e, const struct zs_eu_emit_message *m, unsigned group)
{
    unsigned bits = m->wide ? 64 : 32, n = m->n;
    unsigned low = VALUE("ptrtoint i8* %%v%u to i%u", m->base, bits);

    low = zs_eu_emit_splat(e, low, bits / 8, n);
    low = VALUE("or <%u x i%u> %%v%u, %%v%u", n, bits, low, m->at[group]);
    unsigned rest = zs_eu_emit_splat(e, VALUE("add i%u 0, %u", bits, m->size_B - 1), bits / 8, n);
    low = VALUE("and <%u x i%u> %%v%u, %%v%u", n, bits, low, rest);
    low = VALUE("icmp eq <%u x i%u> %%v%u, zeroinitializer", n, bits, low);
    zs_eu_emit_need(e, m, zs_eu_emit_all_of(e, m, low));
}

/* Of lanes that are on some are at another place than the first of them, or there is one alone. */
static void need_apart(struct zs_eu_emit *e, const struct zs_eu_emit_message *m)
{
    unsigned bits = m->wide ? 64 : 32, n = m->n, groups = m->lanes / n, same = UINT32_MAX;
    unsigned first = UINT32_MAX;

    for (unsigned g = 0; g < groups; g++) {
        unsigned on = zs_eu_emit_lanes_on(e, m, g);
        if (first == UINT32_MAX) { /* of lanes that are on the greatest: any would do */
            first = VALUE("call i%u @llvm.vector.reduce.umax.v%ui%u(<%u x i%u> %%v%u)", bits, n,
                          bits, n, bits, m->at[g]);
            first = zs_eu_emit_splat(e, first, bits / 8, n);
        }
        unsigned is = VALUE("icmp ne <%u x i%u> %%v%u, %%v%u", n, bits, m->at[g], first);
        is = VALUE("and <%u x i1> %%v%u, %%v%u", n, is, on);
        same = same == UINT32_MAX ? is : VALUE("or <%u x i1> %%v%u, %%v%u", n, same, is);
    }
    unsigned apart = VALUE("bitcast <%u x i1> %%v%u to i%u", n, same, n);
    apart = VALUE("icmp ne i%u %%v%u, 0", n, apart);
    unsigned less = VALUE("sub i32 %%v%u, 1", m->active_value);
    less = VALUE("and i32 %%v%u, %%v%u", less, m->active_value);
    less = VALUE("icmp eq i32 %%v%u, 0", less);
    zs_eu_emit_need(e, m, VALUE("or i1 %%v%u, %%v%u", apart, less));
}

/* ---- one lane ---- */

/* An element of an array (emit_flow.c). */
static unsigned place_in(struct zs_eu_emit *e, char array, unsigned lane, unsigned bits)
{
    unsigned at = VALUE("bitcast i8* %%k%c1 to i%u*", array, bits);

    return VALUE("getelementptr i%u, i%u* %%v%u, i64 %%v%u", bits, bits, at, lane);
}

static unsigned load_from(struct zs_eu_emit *e, char array, unsigned lane, unsigned bits)
{
    return VALUE("load i%u, i%u* %%v%u", bits, bits, place_in(e, array, lane, bits));
}

static const char *real_of(unsigned bits)
{
    return bits == 64 ? "double" : "float";
}

static unsigned new_value(struct zs_eu_emit *e, const struct operation *op, unsigned bits,
                          unsigned old, unsigned a, unsigned b)
{
    const char *real = real_of(bits);

    if (op->operands == 2) {
        unsigned is = VALUE("icmp eq i%u %%v%u, %%v%u", bits, old, a);
        return VALUE("select i1 %%v%u, i%u %%v%u, i%u %%v%u", is, bits, b, bits, old);
    }
    if (op->compares) {
        unsigned is = VALUE("icmp %s i%u %%v%u, %%v%u", op->local, bits, old, a);
        return VALUE("select i1 %%v%u, i%u %%v%u, i%u %%v%u", is, bits, old, bits, a);
    }
    if (op->is_float) {
        old = VALUE("bitcast i%u %%v%u to %s", bits, old, real);
        a = VALUE("bitcast i%u %%v%u to %s", bits, a, real);
        a = VALUE("fadd %s %%v%u, %%v%u", real, old, a);
        return VALUE("bitcast %s %%v%u to i%u", real, a, bits);
    }
    return *op->local ? VALUE("%s i%u %%v%u, %%v%u", op->local, bits, old, a) : a;
}

/* Returns what was there. */
static unsigned apply(struct zs_eu_emit *e, const struct zs_eu_emit_message *m, unsigned at,
                      unsigned a, unsigned b)
{
    const struct operation *op = &operations[m->port->op];
    unsigned bits = 8 * m->size_B;
    const char *real = real_of(bits);

    if (op->negates)
        a = VALUE("xor i%u %%v%u, %lld", bits, a, -(1ll << (bits - 2)) * 2);
    if (zs_eu_emit_is_slm(m)) {
        unsigned old = VALUE("load volatile i%u, i%u* %%v%u, align %u", bits, bits, at, m->size_B);
        LINE("store volatile i%u %%v%u, i%u* %%v%u, align %u", bits,
             new_value(e, op, bits, old, a, b), bits, at, m->size_B);
        return old;
    }
    if (op->operands == 2) {
        unsigned both = VALUE("cmpxchg i%u* %%v%u, i%u %%v%u, i%u %%v%u seq_cst seq_cst, align %u",
                              bits, at, bits, a, bits, b, m->size_B);
        return VALUE("extractvalue { i%u, i1 } %%v%u, 0", bits, both);
    }
    if (op->is_float) {
        at = VALUE("bitcast i%u* %%v%u to %s*", bits, at, real);
        a = VALUE("bitcast i%u %%v%u to %s", bits, a, real);
        a = VALUE("atomicrmw fadd %s* %%v%u, %s %%v%u seq_cst, align %u", real, at, real, a,
                  m->size_B);
        return VALUE("bitcast %s %%v%u to i%u", real, a, bits);
    }
    return VALUE("atomicrmw %s i%u* %%v%u, i%u %%v%u seq_cst, align %u", op->global, bits, at, bits,
                 a, m->size_B);
}

/* Where a lane has an element. */
static unsigned place_of(struct zs_eu_emit *e, const struct zs_eu_emit_message *m, unsigned lane,
                         unsigned element)
{
    unsigned at = load_from(e, 'a', lane, m->wide ? 64 : 32);

    if (!m->wide)
        at = VALUE("zext i32 %%v%u to i64", at);
    at = VALUE("getelementptr i8, i8* %%v%u, i64 %%v%u", m->base, at);
    if (m->place_B[element])
        at = VALUE("getelementptr i8, i8* %%v%u, i64 %u", at, m->place_B[element]);
    return VALUE("bitcast i8* %%v%u to i%u*", at, 8 * m->size_B);
}

static void store_lane(struct zs_eu_emit *e, const struct zs_eu_emit_message *m, unsigned lane,
                       unsigned element)
{
    unsigned bits = 8 * m->size_B, v = load_from(e, 'd', lane, bits);

    LINE("store volatile i%u %%v%u, i%u* %%v%u, align 1", bits, v, bits,
         place_of(e, m, lane, element));
}

static void do_lane(struct zs_eu_emit *e, const struct zs_eu_emit_message *m, unsigned lane,
                    unsigned element)
{
    const struct operation *op = &operations[m->port->op];
    unsigned at = place_of(e, m, lane, element), b = UINT32_MAX, bits = 8 * m->size_B;

    unsigned a =
        op->operands ? load_from(e, 'd', lane, bits) : VALUE("add i%u 0, %u", bits, op->one);
    if (op->operands == 2)
        b = load_from(e, 'b', lane, bits);
    unsigned old = apply(e, m, at, a, b);
    if (m->port->returns)
        LINE("store i%u %%v%u, i%u* %%v%u", bits, old, bits, place_in(e, 'r', lane, bits));
}

/* ---- n lanes ---- */

static void store_in(struct zs_eu_emit *e, const struct zs_eu_emit_message *m, char array,
                     unsigned value, unsigned bits)
{
    unsigned at = VALUE("bitcast i8* %%k%c1 to <%u x i%u>*", array, m->n, bits);

    LINE("store <%u x i%u> %%v%u, <%u x i%u>* %%v%u", m->n, bits, value, m->n, bits, at);
}

/* In the order of lanes, those that are on; addresses are in an array. */
static void each_lane(struct zs_eu_emit *e, const struct zs_eu_emit_message *m, unsigned group,
                      void (*what)(struct zs_eu_emit *, const struct zs_eu_emit_message *,
                                   unsigned lane, unsigned element),
                      unsigned element)
{
    unsigned loop = zs_eu_emit_label(e), body = zs_eu_emit_label(e), end = zs_eu_emit_label(e);
    unsigned on = m->active_value;

    e->uses_lane_arrays = true;
    store_in(e, m, 'a', m->at[group], m->wide ? 64 : 32);
    if (group)
        on = VALUE("lshr i32 %%v%u, %u", on, group * m->n);
    if (m->lanes > m->n)
        on = VALUE("and i32 %%v%u, %u", on, (1u << m->n) - 1);
    LINE("store i32 %%v%u, i32* %%km", on);
    LINE("br label %%l%u", loop);
    zs_eu_emit_put_label(e, loop);
    unsigned left = VALUE("load i32, i32* %%km");
    zs_eu_emit_branch(e, VALUE("icmp eq i32 %%v%u, 0", left), end, body, 0);
    zs_eu_emit_put_label(e, body);
    unsigned lane = VALUE("call i32 @llvm.cttz.i32(i32 %%v%u, i1 true)", left);
    what(e, m, VALUE("zext i32 %%v%u to i64", lane), element);
    unsigned less = VALUE("sub i32 %%v%u, 1", left);
    LINE("store i32 %%v%u, i32* %%km", VALUE("and i32 %%v%u, %%v%u", left, less));
    LINE("br label %%l%u", loop);
    zs_eu_emit_put_label(e, end);
}

void zs_eu_emit_scatter(struct zs_eu_emit *e, const struct zs_eu_emit_message *m, unsigned group,
                        unsigned element, unsigned value)
{
    store_in(e, m, 'd', value, 8 * m->size_B);
    each_lane(e, m, group, store_lane, element);
}

static void do_lanes(struct zs_eu_emit *e, const struct zs_eu_emit_message *m, unsigned group)
{
    static const char arrays[] = "db";
    unsigned data_B = m->data_at + group * m->n * m->size_B;

    for (unsigned i = 0; i < m->operands; i++)
        store_in(e, m, arrays[i], zs_eu_emit_read(e, data_B + i * m->element_B, m->size_B, m->n),
                 8 * m->size_B);
    each_lane(e, m, group, do_lane, 0);
}

void zs_eu_emit_atomic(struct zs_eu_emit *e, struct zs_eu_emit_message *m)
{
    unsigned groups = m->lanes / m->n, old[2];

    for (unsigned g = 0; g < groups; g++) {
        zs_eu_emit_offsets_inside(e, m, g);
        zs_eu_emit_local_lanes(e, m, g);
        need_aligned(e, m, g);
    }
    if (!zs_eu_emit_is_slm(m))
        need_apart(e, m);
    for (unsigned g = 0; g < groups; g++)
        zs_eu_emit_reach_lanes(e, m, g);
    for (unsigned g = 0; g < groups; g++) {
        do_lanes(e, m, g);
        if (!m->port->returns)
            continue;
        unsigned bits = 8 * m->size_B, at = VALUE("bitcast i8* %%kr1 to <%u x i%u>*", m->n, bits);
        old[g] = VALUE("load <%u x i%u>, <%u x i%u>* %%v%u", m->n, bits, m->n, bits, at);
    }
    for (unsigned g = 0; g < groups && m->port->returns; g++)
        zs_eu_emit_put_loaded(e, m, ZS_EU_OFFSET(grf) + m->d->dst_B + g * m->n * m->size_B, g,
                              old[g]);
    LINE("br label %%l%u", m->done);
}
