/* SPDX-License-Identifier: MIT */
/*
 * Messages in line: dwords of lanes, one to four each, from buffers, local memory and by 64-bit
 * address. One check covers all lanes; they are neighbours, at one place, or anywhere in the area.
 * What is none of these, and every access that is to be refused, is the data port's.
 *
 * Accesses are volatile: other threads may write the memory, and loops wait for that.
 */
#include "eu/emit.h"

#include "dataport/dataport.h"

#include <stdio.h>

#define VALUE(...) zs_eu_emit_value(e, __VA_ARGS__)
#define LINE(...)  zs_eu_emit_line(e, __VA_ARGS__)

_Static_assert(sizeof(struct zs_port_range) == 5 * sizeof(uint64_t),
               "a range says where addresses lead: find_range() has to know all of it");

enum { SLM_OFFSET_MASK = 0x0fffffff }; /* as the data port has it */

struct message {
    const struct zs_eu_op *op;
    uint32_t index;
    bool writes, wide; /* addresses of 64 bits */
    unsigned lanes, elements;
    uint32_t address_at, data_at, element_B; /* in the thread */
    struct zs_eu_emit_mask active;
    unsigned active_value;
    unsigned slow, done; /* labels */
    unsigned base, size; /* values: i8*, i64 */
    unsigned start;      /* of a range: i64 */
    unsigned at[4];      /* eight lanes' offsets from base: <8 x i64> */
};

static unsigned load_field(struct zs_eu_emit *e, const char *base, uint64_t offset_B,
                           const char *type)
{
    unsigned at = zs_eu_emit_address(e, base, offset_B, type);

    return VALUE("load %s, %s* %%v%u", type, type, at);
}

/* Go on where it holds, else the slow way. */
static void need(struct zs_eu_emit *e, const struct message *m, unsigned condition)
{
    unsigned next = zs_eu_emit_label(e);

    LINE("br i1 %%v%u, label %%l%u, label %%l%u", condition, next, m->slow);
    zs_eu_emit_put_label(e, next);
}

static void find_surface(struct zs_eu_emit *e, struct message *m, unsigned bti)
{
    char base[24];
    unsigned count = load_field(e, "%port", offsetof(struct zs_port, surface_count), "i32");

    need(e, m, VALUE("icmp ugt i32 %%v%u, %u", count, bti));
    unsigned surfaces = load_field(e, "%port", offsetof(struct zs_port, surfaces), "i8*");
    surfaces = VALUE("getelementptr i8, i8* %%v%u, i64 %llu", surfaces,
                     (unsigned long long)(bti * sizeof(struct zs_port_surface)));
    snprintf(base, sizeof(base), "%%v%u", surfaces);
    unsigned kind = load_field(e, base, offsetof(struct zs_port_surface, kind), "i32");
    need(e, m, VALUE("icmp eq i32 %%v%u, %d", kind, (int)ZS_PORT_SURFACE_BUFFER));
    if (m->writes) {
        unsigned closed = load_field(e, base, offsetof(struct zs_port_surface, read_only), "i8");
        need(e, m, VALUE("icmp eq i8 %%v%u, 0", closed));
    }
    m->base = load_field(e, base, offsetof(struct zs_port_surface, base), "i8*");
    m->size = load_field(e, base, offsetof(struct zs_port_surface, size_B), "i64");
}

static void find_range(struct zs_eu_emit *e, struct message *m, unsigned slot)
{
    uint64_t range = offsetof(struct zs_port, cache) + slot * sizeof(struct zs_port_range);

    if (m->writes) {
        unsigned closed =
            load_field(e, "%port", range + offsetof(struct zs_port_range, read_only), "i8");
        need(e, m, VALUE("icmp eq i8 %%v%u, 0", closed));
    }
    m->start = load_field(e, "%port", range + offsetof(struct zs_port_range, start), "i64");
    unsigned end = load_field(e, "%port", range + offsetof(struct zs_port_range, end), "i64");
    m->size = VALUE("sub i64 %%v%u, %%v%u", end, m->start);
    unsigned bias = load_field(e, "%port", range + offsetof(struct zs_port_range, bias), "i64");
    bias = VALUE("add i64 %%v%u, %%v%u", m->start, bias);
    m->base = VALUE("inttoptr i64 %%v%u to i8*", bias);
}

/* Offsets from the base, of eight lanes; of lanes that are off 0. */
static unsigned offsets(struct zs_eu_emit *e, const struct message *m, unsigned group, bool slm)
{
    uint32_t at = m->address_at + group * 8 * (m->wide ? 8 : 4);
    unsigned v = zs_eu_emit_read(e, at, m->wide ? 8 : 4);

    if (m->wide) {
        unsigned start = VALUE("insertelement <8 x i64> undef, i64 %%v%u, i32 0", m->start);
        start = VALUE("shufflevector <8 x i64> %%v%u, <8 x i64> undef, <8 x i32> zeroinitializer",
                      start);
        return VALUE("sub <8 x i64> %%v%u, %%v%u", v, start);
    }
    if (slm) {
        const unsigned k = SLM_OFFSET_MASK;
        v = VALUE("and <8 x i32> %%v%u, <i32 %u, i32 %u, i32 %u, i32 %u, i32 %u, i32 %u, i32 %u, "
                  "i32 %u>",
                  v, k, k, k, k, k, k, k, k);
    }
    return VALUE("zext <8 x i32> %%v%u to <8 x i64>", v);
}

static unsigned all_of(struct zs_eu_emit *e, unsigned bits)
{
    unsigned id = VALUE("bitcast <8 x i1> %%v%u to i8", bits);

    return VALUE("icmp eq i8 %%v%u, -1", id);
}

/* All lanes at first + step * lane. */
static unsigned rises(struct zs_eu_emit *e, const struct message *m, unsigned first, unsigned step)
{
    unsigned one = VALUE("insertelement <8 x i64> undef, i64 %%v%u, i32 0", first), all = 0;
    unsigned start =
        VALUE("shufflevector <8 x i64> %%v%u, <8 x i64> undef, <8 x i32> zeroinitializer", one);

    for (unsigned g = 0; g < m->lanes / 8; g++) {
        unsigned id = e->next++;
        zs_buf_printf(&e->body, "  %%v%u = add <8 x i64> %%v%u, <", id, start);
        for (unsigned i = 0; i < 8; i++)
            zs_buf_printf(&e->body, "%si64 %u", i ? ", " : "", step * (8 * g + i));
        zs_buf_puts(&e->body, ">\n");
        unsigned same = VALUE("xor <8 x i64> %%v%u, %%v%u", m->at[g], id);
        all = g ? VALUE("or <8 x i64> %%v%u, %%v%u", all, same) : same;
    }
    return all_of(e, VALUE("icmp eq <8 x i64> %%v%u, zeroinitializer", all));
}

/* Bytes from an offset on are inside. */
static unsigned inside(struct zs_eu_emit *e, const struct message *m, unsigned first,
                       unsigned size_B)
{
    unsigned some = VALUE("icmp uge i64 %%v%u, %u", m->size, size_B);
    unsigned last = VALUE("sub i64 %%v%u, %u", m->size, size_B);

    last = VALUE("icmp ule i64 %%v%u, %%v%u", first, last);
    return VALUE("and i1 %%v%u, %%v%u", some, last);
}

static unsigned pointer(struct zs_eu_emit *e, const struct message *m, unsigned offset,
                        uint32_t more_B, const char *type)
{
    unsigned at = VALUE("getelementptr i8, i8* %%v%u, i64 %%v%u", m->base, offset);

    at = more_B ? VALUE("getelementptr i8, i8* %%v%u, i64 %u", at, more_B) : at;
    return VALUE("bitcast i8* %%v%u to %s*", at, type);
}

static uint32_t data_of(const struct message *m, unsigned element, unsigned group)
{
    return m->data_at + element * m->element_B + group * 32;
}

/* Neighbours: whole vectors. */
static void move_rows(struct zs_eu_emit *e, const struct message *m, unsigned first)
{
    for (unsigned g = 0; g < m->lanes / 8; g++) {
        unsigned at = pointer(e, m, first, g * 32, "<8 x i32>");
        if (m->writes)
            LINE("store volatile <8 x i32> %%v%u, <8 x i32>* %%v%u, align 1",
                 zs_eu_emit_read(e, data_of(m, 0, g), 4), at);
        else
            zs_eu_emit_write(e, data_of(m, 0, g), 4,
                             VALUE("load volatile <8 x i32>, <8 x i32>* %%v%u, align 1", at));
    }
    LINE("br label %%l%u", m->done);
}

/* One place: to all lanes. */
static void load_one(struct zs_eu_emit *e, const struct message *m, unsigned first)
{
    for (unsigned i = 0; i < m->elements; i++) {
        unsigned at = pointer(e, m, first, i * 4, "i32");
        unsigned one = VALUE("load volatile i32, i32* %%v%u, align 1", at);
        one = VALUE("insertelement <8 x i32> undef, i32 %%v%u, i32 0", one);
        one =
            VALUE("shufflevector <8 x i32> %%v%u, <8 x i32> undef, <8 x i32> zeroinitializer", one);
        for (unsigned g = 0; g < m->lanes / 8; g++)
            zs_eu_emit_write(e, data_of(m, i, g), 4, one);
    }
    LINE("br label %%l%u", m->done);
}

static unsigned lanes_on(struct zs_eu_emit *e, const struct message *m, unsigned group)
{
    unsigned bits = VALUE("lshr i32 %%v%u, %u", m->active_value, 8 * group);

    bits = VALUE("trunc i32 %%v%u to i8", bits);
    return VALUE("bitcast i8 %%v%u to <8 x i1>", bits);
}

static bool all_on(const struct message *m)
{
    return m->active.known &&
           m->active.bits == (m->lanes == 32 ? UINT32_MAX : (1u << m->lanes) - 1);
}

/* Anywhere in the area; lanes that are off read its first bytes, and keep what they have. */
static void load_lanes(struct zs_eu_emit *e, const struct message *m)
{
    for (unsigned i = 0; i < m->elements; i++) {
        for (unsigned g = 0; g < m->lanes / 8; g++) {
            unsigned v = VALUE("add <8 x i32> zeroinitializer, zeroinitializer");
            for (unsigned lane = 0; lane < 8; lane++) {
                unsigned at = VALUE("extractelement <8 x i64> %%v%u, i32 %u", m->at[g], lane);
                at = pointer(e, m, at, i * 4, "i32");
                at = VALUE("load volatile i32, i32* %%v%u, align 1", at);
                v = VALUE("insertelement <8 x i32> %%v%u, i32 %%v%u, i32 %u", v, at, lane);
            }
            if (!all_on(m)) {
                unsigned on = lanes_on(e, m, g), old = zs_eu_emit_read(e, data_of(m, i, g), 4);
                v = VALUE("select <8 x i1> %%v%u, <8 x i32> %%v%u, <8 x i32> %%v%u", on, v, old);
            }
            zs_eu_emit_write(e, data_of(m, i, g), 4, v);
        }
    }
    LINE("br label %%l%u", m->done);
}

static void store_lanes(struct zs_eu_emit *e, const struct message *m)
{
    for (unsigned i = 0; i < m->elements; i++) {
        for (unsigned g = 0; g < m->lanes / 8; g++) {
            unsigned v = zs_eu_emit_read(e, data_of(m, i, g), 4);
            for (unsigned lane = 0; lane < 8; lane++) {
                unsigned at = VALUE("extractelement <8 x i64> %%v%u, i32 %u", m->at[g], lane);
                at = pointer(e, m, at, i * 4, "i32");
                LINE("store volatile i32 %%v%u, i32* %%v%u, align 1",
                     VALUE("extractelement <8 x i32> %%v%u, i32 %u", v, lane), at);
            }
        }
    }
    LINE("br label %%l%u", m->done);
}

static void any_lanes(struct zs_eu_emit *e, struct message *m)
{
    unsigned span_B = 4 * m->elements;

    need(e, m, VALUE("icmp uge i64 %%v%u, %u", m->size, span_B));
    unsigned last = VALUE("sub i64 %%v%u, %u", m->size, span_B);
    last = VALUE("insertelement <8 x i64> undef, i64 %%v%u, i32 0", last);
    last = VALUE("shufflevector <8 x i64> %%v%u, <8 x i64> undef, <8 x i32> zeroinitializer", last);
    for (unsigned g = 0; g < m->lanes / 8; g++) {
        if (!all_on(m)) {
            unsigned on = lanes_on(e, m, g);
            m->at[g] = VALUE("select <8 x i1> %%v%u, <8 x i64> %%v%u, <8 x i64> zeroinitializer",
                             on, m->at[g]);
        }
        need(e, m, all_of(e, VALUE("icmp ule <8 x i64> %%v%u, %%v%u", m->at[g], last)));
    }
    if (m->writes)
        store_lanes(e, m);
    else
        load_lanes(e, m);
}

/* What it says, if it is one of these. */
static bool describe(const struct zs_eu_op *op, struct message *ret)
{
    const struct zs_port_message_row *row;
    const struct zs_eu_send *send = &op->send->send;
    const struct zs_port_message *m = zs_eu_send_message(send, &row);

    if (!m || op->arg || send->d.eot || row->is_atomic || row->is_fence || m->gather ||
        m->element_B != 4 || m->elements == 0 || m->elements > 4 || m->lanes != send->d.exec_size ||
        m->lanes % 8 || m->lanes == 0 || m->strided || m->offset64 || m->upper || m->block_B)
        return false;
    ret->writes = m->bytes_written != 0;
    if ((m->bytes_read != 0) == ret->writes || (!ret->writes && (!send->d.has_dst || !m->rlen)))
        return false;
    ret->op = op;
    ret->lanes = m->lanes;
    ret->elements = m->elements;
    ret->element_B = m->lanes * 4u;
    unsigned dense = (1u << m->elements) - 1;
    if (m->shape == ZS_PORT_SHAPE_LSC) {
        if (m->channels != 15 || m->slot_B != 4 || (m->address_B != 4 && m->address_B != 8))
            return false;
        ret->wide = m->address_B == 8;
        ret->element_B = m->component_B;
    } else if (m->shape == ZS_PORT_SHAPE_OFFSETS || m->shape == ZS_PORT_SHAPE_ADDRESSES) {
        ret->wide = m->shape == ZS_PORT_SHAPE_ADDRESSES;
        if (m->channels != dense && m->elements != 1)
            return false;
        if (m->elements == 1 && m->channels != 1 && m->channels != 0 && m->channels != 15)
            return false;
    } else {
        return false;
    }
    if (!ret->wide && m->space != ZS_PORT_SPACE_SLM && m->bti >= ZS_PORT_SURFACES_MAX)
        return false;
    uint32_t addresses_B = m->header_grf * 32u + m->lanes * (ret->wide ? 8u : 4u);
    ret->address_at = ZS_EU_OFFSET(grf) + send->d.src0_B + m->header_grf * 32u;
    ret->data_at = ZS_EU_OFFSET(grf) + (!ret->writes ? send->d.dst_B
                                        : m->data_in_src1 || m->shape == ZS_PORT_SHAPE_LSC
                                            ? send->d.src1_B
                                            : send->d.src0_B + addresses_B);
    return true;
}

static void find_area(struct zs_eu_emit *e, struct message *m)
{
    const struct zs_port_message_row *row;
    const struct zs_port_message *message = zs_eu_send_message(&m->op->send->send, &row);
    unsigned flags = load_field(e, "%port", offsetof(struct zs_port, flags), "i32");
    const unsigned looks = ZS_PORT_TRACK_WRITES | ZS_PORT_CHECK_UNWRITTEN;
    bool slm = !m->wide && message->space == ZS_PORT_SPACE_SLM;

    need(e, m, VALUE("icmp eq i32 %%v%u, 0", VALUE("and i32 %%v%u, %u", flags, looks)));
    if (m->wide) {
        find_range(e, m, message->cache_slot);
    } else if (slm) {
        m->base = load_field(e, "%port", offsetof(struct zs_port, slm), "i8*");
        m->size = load_field(e, "%port", offsetof(struct zs_port, slm_B), "i32");
        m->size = VALUE("zext i32 %%v%u to i64", m->size);
    } else {
        find_surface(e, m, message->bti);
    }
    for (unsigned g = 0; g < m->lanes / 8; g++)
        m->at[g] = offsets(e, m, g, slm);
}

bool zs_eu_emit_message(struct zs_eu_emit *e, const struct zs_eu_op *op, uint32_t index,
                        struct zs_eu_emit_mask active, unsigned active_value)
{
    struct message m = {0};
    uint32_t all;

    if (!describe(op, &m))
        return false;
    all = m.lanes == 32 ? UINT32_MAX : (1u << m.lanes) - 1;
    m.index = index;
    m.active = active;
    m.active_value = active_value;
    m.slow = zs_eu_emit_label(e);
    m.done = zs_eu_emit_label(e);
    unsigned some = zs_eu_emit_label(e), row = zs_eu_emit_label(e), one = zs_eu_emit_label(e),
             is_one = zs_eu_emit_label(e);

    find_area(e, &m);
    if (!active.known || active.bits != all) {
        unsigned full = zs_eu_emit_label(e), part = m.writes ? m.slow : some;
        unsigned is = VALUE("icmp eq i32 %%v%u, %u", active_value, all);
        LINE("br i1 %%v%u, label %%l%u, label %%l%u", is, full, part);
        zs_eu_emit_put_label(e, full);
    }
    unsigned first = VALUE("extractelement <8 x i64> %%v%u, i32 0", m.at[0]);
    if (m.elements == 1) {
        unsigned ok = rises(e, &m, first, 4), in = inside(e, &m, first, 4 * m.lanes);
        ok = VALUE("and i1 %%v%u, %%v%u", ok, in);
        LINE("br i1 %%v%u, label %%l%u, label %%l%u", ok, row, one);
        zs_eu_emit_put_label(e, row);
        move_rows(e, &m, first);
    } else {
        LINE("br label %%l%u", one);
    }
    zs_eu_emit_put_label(e, one);
    if (!m.writes) {
        unsigned ok = rises(e, &m, first, 0), in = inside(e, &m, first, 4 * m.elements);
        ok = VALUE("and i1 %%v%u, %%v%u", ok, in);
        LINE("br i1 %%v%u, label %%l%u, label %%l%u", ok, is_one, some);
        zs_eu_emit_put_label(e, is_one);
        load_one(e, &m, first);
    } else {
        LINE("br label %%l%u", some);
    }
    zs_eu_emit_put_label(e, some);
    any_lanes(e, &m);
    zs_eu_emit_put_label(e, m.slow);
    zs_eu_emit_runner(e, op, index, active_value);
    LINE("br label %%l%u", m.done);
    zs_eu_emit_put_label(e, m.done);
    return true;
}
