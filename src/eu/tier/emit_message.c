/* SPDX-License-Identifier: MIT */
/*
 * Messages in line: bytes to qwords of lanes, up to four elements each, and blocks, from buffers,
 * local and scratch memory and by 64-bit address. One check covers all lanes; they are neighbours,
 * at one place, or anywhere in the area. What is none of these, and every access that is to be
 * refused, is the data port's.
 *
 * Single accesses are volatile, and vectors of them are behind a barrier of the compiler's: other
 * threads may write the memory, and loops wait for that.
 */
#include "eu/tier/emit_message.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define VALUE(...) zs_eu_emit_value(e, __VA_ARGS__)
#define LINE(...)  zs_eu_emit_line(e, __VA_ARGS__)

/* As the data port has them. */
enum { SLM_OFFSET_MASK = 0x0fffffff, BTI_NON_COHERENT = 253, BTI_SLM = 254, BTI_STATELESS = 255 };
enum { NEAR_B = 0x7fffff00 }; /* offsets below it are positive as 32 bits, and so is what follows */

void zs_eu_emit_need(struct zs_eu_emit *e, const struct zs_eu_emit_message *m, unsigned condition)
{
    unsigned next = zs_eu_emit_label(e);

    zs_eu_emit_branch(e, condition, next, m->slow, 1);
    zs_eu_emit_put_label(e, next);
}

/* Bytes from an offset (i64) on are inside. */
static unsigned inside(struct zs_eu_emit *e, const struct zs_eu_emit_message *m, unsigned first,
                       unsigned size_B)
{
    return VALUE("icmp ult i64 %%v%u, %%v%u", first, zs_eu_emit_places(e, m, size_B, false));
}

/* The same of so many lanes that are neighbours; a few at the end need not be. */
static unsigned lanes_inside(struct zs_eu_emit *e, const struct zs_eu_emit_message *m,
                             unsigned first, unsigned lanes)
{
    return VALUE("icmp ult i64 %%v%u, %%v%u", first,
                 zs_eu_emit_places(e, m, zs_eu_emit_row_B(m, lanes), true));
}

unsigned zs_eu_emit_pointer(struct zs_eu_emit *e, const struct zs_eu_emit_message *m,
                            unsigned offset, uint32_t more_B, const char *type)
{
    unsigned at = VALUE("getelementptr i8, i8* %%v%u, i64 %%v%u", m->base, offset);

    at = more_B ? VALUE("getelementptr i8, i8* %%v%u, i64 %u", at, more_B) : at;
    return VALUE("bitcast i8* %%v%u to %s*", at, type);
}

/* ---- lanes ---- */

static unsigned address_bits(const struct zs_eu_emit_message *m)
{
    return m->wide ? 64 : 32;
}

/* Where the thread's own scratch memory begins, as addresses count: i64. */
static unsigned scratch_bias(struct zs_eu_emit *e)
{
    return zs_eu_emit_load(e, "%port", offsetof(struct zs_port, scratch_bias), "i64");
}

/* Scratch memory by addresses of lanes, which is their private memory before XeHPG. */
static bool has_bias(const struct zs_eu_emit_message *m)
{
    return m->port->space == ZS_PORT_SPACE_SCRATCH && !m->is_guess;
}

/* Offsets from the base, of n lanes. */
static unsigned offsets(struct zs_eu_emit *e, const struct zs_eu_emit_message *m, unsigned group)
{
    unsigned bits = address_bits(m), n = m->n;
    unsigned v = zs_eu_emit_read(e, m->address_at + group * n * bits / 8, bits / 8, n);

    if (m->wide)
        return VALUE("sub <%u x i64> %%v%u, %%v%u", n, v, zs_eu_emit_splat(e, m->start, 8, n));
    if (zs_eu_emit_is_slm(m))
        return VALUE("and <%u x i32> %%v%u, %%v%u", n, v,
                     zs_eu_emit_splat(e, VALUE("add i32 0, %d", SLM_OFFSET_MASK), 4, n));
    if (m->port->shape == ZS_PORT_SHAPE_DWORD_OFFSETS)
        v = VALUE("shl <%u x i32> %%v%u, %%v%u", n, v,
                  zs_eu_emit_splat(e, VALUE("add i32 0, 2"), 4, n));
    if (has_bias(m)) {
        unsigned bias = VALUE("trunc i64 %%v%u to i32", scratch_bias(e));
        v = VALUE("sub <%u x i32> %%v%u, %%v%u", n, v, zs_eu_emit_splat(e, bias, 4, n));
    }
    return v;
}

unsigned zs_eu_emit_all_of(struct zs_eu_emit *e, const struct zs_eu_emit_message *m, unsigned bits)
{
    unsigned id = VALUE("bitcast <%u x i1> %%v%u to i%u", m->n, bits, m->n);

    return VALUE("icmp eq i%u %%v%u, -1", m->n, id);
}

/* The same of one lane: i64. */
static unsigned offset(struct zs_eu_emit *e, const struct zs_eu_emit_message *m, unsigned at)
{
    if (m->wide)
        return VALUE("sub i64 %%v%u, %%v%u", at, m->start);
    if (zs_eu_emit_is_slm(m))
        at = VALUE("and i32 %%v%u, %d", at, SLM_OFFSET_MASK);
    else if (m->port->shape == ZS_PORT_SHAPE_DWORD_OFFSETS)
        at = VALUE("shl i32 %%v%u, 2", at);
    at = VALUE("zext i32 %%v%u to i64", at);
    return has_bias(m) ? VALUE("sub i64 %%v%u, %%v%u", at, scratch_bias(e)) : at;
}

static uint32_t data_of(const struct zs_eu_emit_message *m, unsigned element, unsigned group)
{
    return m->data_at + element * m->element_B + group * m->n * m->slot_B;
}

/* An element of n lanes from registers. */
unsigned zs_eu_emit_from_slots(struct zs_eu_emit *e, const struct zs_eu_emit_message *m,
                               unsigned element, unsigned group)
{
    unsigned v = zs_eu_emit_read(e, data_of(m, element, group), m->slot_B, m->n);

    return m->size_B == m->slot_B ? v
                                  : VALUE("trunc <%u x i%u> %%v%u to <%u x i%u>", m->n,
                                          8 * m->slot_B, v, m->n, 8 * m->size_B);
}

/* What was loaded is in variables until all of it is: the payload may be where it goes. */
static unsigned result(struct zs_eu_emit *e, const struct zs_eu_emit_message *m, unsigned element,
                       unsigned group)
{
    unsigned index = 2 * element + group;

    e->result_used[index] |= (uint8_t)(m->slot_B | m->n);
    return index * 1000 + m->n * 10 + m->slot_B;
}

void zs_eu_emit_put_result(struct zs_eu_emit *e, const struct zs_eu_emit_message *m,
                           unsigned element, unsigned group, unsigned v)
{
    unsigned bits = 8 * m->slot_B;

    if (m->size_B != m->slot_B)
        v = VALUE("zext <%u x i%u> %%v%u to <%u x i%u>", m->n, 8 * m->size_B, v, m->n, bits);
    LINE("store <%u x i%u> %%v%u, <%u x i%u>* %%r%u", m->n, bits, v, m->n, bits,
         result(e, m, element, group));
}

unsigned zs_eu_emit_lanes_on(struct zs_eu_emit *e, const struct zs_eu_emit_message *m,
                             unsigned group)
{
    struct zs_eu_emit_mask mask = {.value = m->active_value};

    return zs_eu_emit_lanes(e, mask, group * m->n, m->n);
}

/* Lanes that are off take no part in a vector either; hosts do not mask small elements. */
static bool is_masked(const struct zs_eu_emit_message *m)
{
    return !zs_eu_emit_all_lanes(m) && m->size_B >= 4;
}

static void store_row(struct zs_eu_emit *e, const struct zs_eu_emit_message *m, unsigned group,
                      const char *type, unsigned at, unsigned v)
{
    if (is_masked(m))
        LINE("call void @llvm.masked.store.v%ui%u.p0v%ui%u(%s %%v%u, %s* %%v%u, i32 1, <%u x i1> "
             "%%v%u)",
             m->n, 8 * m->size_B, m->n, 8 * m->size_B, type, v, type, at, m->n,
             zs_eu_emit_lanes_on(e, m, group));
    else
        LINE("store volatile %s %%v%u, %s* %%v%u, align 1", type, v, type, at);
}

unsigned zs_eu_emit_load_row(struct zs_eu_emit *e, const struct zs_eu_emit_message *m,
                             unsigned group, const char *type, unsigned at)
{
    if (!is_masked(m))
        return VALUE("load volatile %s, %s* %%v%u, align 1", type, type, at);
    return VALUE("call %s @zs_load_%u_%u(%s* %%v%u, <%u x i1> %%v%u)", type, m->n, 8 * m->size_B,
                 type, at, m->n, zs_eu_emit_lanes_on(e, m, group));
}

/* Neighbours: whole vectors. Of several elements those of lanes overlap: what is stored is one. */
static void move_row(struct zs_eu_emit *e, const struct zs_eu_emit_message *m, unsigned group,
                     unsigned first)
{
    char type[24];

    snprintf(type, sizeof(type), "<%u x i%u>", m->n, 8 * m->size_B);
    if (is_masked(m))
        LINE("call void asm sideeffect \"\", \"~{memory}\"()");
    for (unsigned i = 0; i < m->elements; i++) {
        unsigned at = zs_eu_emit_pointer(e, m, first, m->place_B[i], type);
        if (m->writes)
            store_row(e, m, group, type, at, zs_eu_emit_from_slots(e, m, i, group));
        else
            zs_eu_emit_put_result(e, m, i, group, zs_eu_emit_load_row(e, m, group, type, at));
    }
    if (is_masked(m) && m->writes)
        LINE("call void asm sideeffect \"\", \"~{memory}\"()");
}

/* One place: to all lanes. */
static void load_one(struct zs_eu_emit *e, const struct zs_eu_emit_message *m, unsigned group,
                     unsigned first)
{
    char type[16];

    snprintf(type, sizeof(type), "i%u", 8 * m->size_B);
    for (unsigned i = 0; i < m->elements; i++) {
        unsigned at = zs_eu_emit_pointer(e, m, first, m->place_B[i], type);
        unsigned one = VALUE("load volatile %s, %s* %%v%u, align 1", type, type, at);
        zs_eu_emit_put_result(e, m, i, group, zs_eu_emit_splat(e, one, m->size_B, m->n));
    }
}

/* Pointers of n lanes to an element. */
static unsigned pointers(struct zs_eu_emit *e, const struct zs_eu_emit_message *m, unsigned element,
                         unsigned group)
{
    unsigned base = m->base, n = m->n;

    if (m->place_B[element])
        base = VALUE("getelementptr i8, i8* %%v%u, i64 %u", base, m->place_B[element]);
    unsigned at = VALUE("getelementptr i8, i8* %%v%u, <%u x i%u> %%v%u", base, n, address_bits(m),
                        m->at[group]);
    return VALUE("bitcast <%u x i8*> %%v%u to <%u x i%u*>", n, at, n, 8 * m->size_B);
}

static unsigned gather(struct zs_eu_emit *e, const struct zs_eu_emit_message *m, unsigned element,
                       unsigned group)
{
    unsigned bits = 8 * m->size_B, n = m->n, at = pointers(e, m, element, group);

    return VALUE("call <%u x i%u> @zs_gather_%u_%u(<%u x i%u*> %%v%u)", n, bits, n, bits, n, bits,
                 at);
}

/* Anywhere in the area; lanes that are off read its first bytes. */
static void load_lanes(struct zs_eu_emit *e, const struct zs_eu_emit_message *m, unsigned group)
{
    LINE("call void asm sideeffect \"\", \"~{memory}\"()");
    if (m->size_B < 4 || m->fours) {
        zs_eu_emit_each_lane(e, m, group);
        return;
    }
    for (unsigned i = 0; i < m->elements; i++)
        zs_eu_emit_put_result(e, m, i, group, gather(e, m, i, group));
}

/* In the order of lanes: of those at one place the last one stays. */
static void store_lanes(struct zs_eu_emit *e, const struct zs_eu_emit_message *m, unsigned group)
{
    unsigned bits = 8 * m->size_B, n = m->n;
    bool at_once = zs_eu_emit_all_lanes(m) || zs_eu_host_usable(ZS_EU_HOST_AVX512);
    unsigned fours = zs_eu_emit_label(e), other = zs_eu_emit_label(e), end = zs_eu_emit_label(e);

    if (zs_eu_emit_all_lanes(m) && m->fours) {
        zs_eu_emit_branch(e, zs_eu_emit_ascends(e, m, group), fours, other, 1);
        zs_eu_emit_put_label(e, fours);
        zs_eu_emit_each_lane(e, m, group);
        LINE("br label %%l%u", end);
        zs_eu_emit_put_label(e, other);
    }
    for (unsigned i = 0; i < m->elements; i++) {
        unsigned v = zs_eu_emit_from_slots(e, m, i, group);
        if (at_once)
            LINE("call void @llvm.masked.scatter.v%ui%u.v%up0i%u(<%u x i%u> %%v%u, <%u x i%u*> "
                 "%%v%u, i32 1, <%u x i1> %%v%u)",
                 n, bits, n, bits, n, bits, v, n, bits, pointers(e, m, i, group), n,
                 zs_eu_emit_lanes_on(e, m, group));
        else
            zs_eu_emit_scatter(e, m, group, i, v);
    }
    LINE("br label %%l%u", end);
    zs_eu_emit_put_label(e, end);
    LINE("call void asm sideeffect \"\", \"~{memory}\"()");
}

void zs_eu_emit_offsets_inside(struct zs_eu_emit *e, struct zs_eu_emit_message *m, unsigned group)
{
    unsigned bits = address_bits(m), n = m->n;
    unsigned last = VALUE("sub i64 %%v%u, %u", m->size, m->span_B);

    m->at[group] = m->is_atomic ? offsets(e, m, group) : m->at[group];

    if (m->wide) {
        zs_eu_emit_need(e, m, VALUE("icmp uge i64 %%v%u, %u", m->size, m->span_B));
    } else {
        zs_eu_emit_need(e, m, VALUE("icmp ult i64 %%v%u, %d", last, NEAR_B));
        last = VALUE("trunc i64 %%v%u to i32", last);
    }
    last = zs_eu_emit_splat(e, last, bits / 8, n);
    if (!zs_eu_emit_all_lanes(m))
        m->at[group] = VALUE("select <%u x i1> %%v%u, <%u x i%u> %%v%u, <%u x i%u> zeroinitializer",
                             n, zs_eu_emit_lanes_on(e, m, group), n, bits, m->at[group], n, bits);
    zs_eu_emit_need(
        e, m,
        zs_eu_emit_all_of(e, m,
                          VALUE("icmp ule <%u x i%u> %%v%u, %%v%u", n, bits, m->at[group], last)));
}

/* n lanes that are anywhere. */
static void move_group(struct zs_eu_emit *e, struct zs_eu_emit_message *m, unsigned group)
{
    m->at[group] = offsets(e, m, group);
    zs_eu_emit_offsets_inside(e, m, group);
    zs_eu_emit_local_lanes(e, m, group);
    zs_eu_emit_reach_lanes(e, m, group);
    if (m->writes)
        store_lanes(e, m, group);
    else
        load_lanes(e, m, group);
}

/* Somebody may read what lanes that are off have in so many elements from a place on, of which the
 * first is channel `first`. */
static bool keeps(struct zs_eu_emit *e, const struct zs_eu_emit_message *m, uint32_t at,
                  unsigned first)
{
    zs_eu_emit_lanes_at(e, m->op, at - first * m->slot_B, m->slot_B);
    bool keeps =
        m->op->chan_offset % 8 || zs_eu_emit_keeps(e, m->op, at, m->n * m->slot_B, first, m->n);
    zs_eu_emit_lanes_end(e);
    return keeps;
}

/* Lanes that are off keep what they have, if it matters. */
void zs_eu_emit_put_loaded(struct zs_eu_emit *e, const struct zs_eu_emit_message *m, uint32_t at,
                           unsigned group, unsigned v)
{
    unsigned bits = 8 * m->slot_B, n = m->n;

    if (!zs_eu_emit_all_lanes(m) && keeps(e, m, at, group * n)) {
        unsigned old = zs_eu_emit_read(e, at, m->slot_B, n);
        v = VALUE("select <%u x i1> %%v%u, <%u x i%u> %%v%u, <%u x i%u> %%v%u", n,
                  zs_eu_emit_lanes_on(e, m, group), n, bits, v, n, bits, old);
    }
    zs_eu_emit_write(e, at, m->slot_B, n, v);
}

static void write_results(struct zs_eu_emit *e, const struct zs_eu_emit_message *m)
{
    unsigned bits = 8 * m->slot_B, n = m->n;

    for (unsigned i = 0; i < m->elements; i++) {
        for (unsigned g = 0; g < m->lanes / n; g++) {
            unsigned v =
                VALUE("load <%u x i%u>, <%u x i%u>* %%r%u", n, bits, n, bits, result(e, m, i, g));
            zs_eu_emit_put_loaded(e, m, data_of(m, i, g), g, v);
        }
    }
}

/* Bytes that addresses count. */
static unsigned unit_B(const struct zs_eu_emit_message *m)
{
    return !m->wide && m->port->shape == ZS_PORT_SHAPE_DWORD_OFFSETS ? 4 : 1;
}

static unsigned stride(const struct zs_eu_emit_message *m)
{
    return m->size_B / unit_B(m);
}

static const struct zs_eu_emit_rise *rise_of(const struct zs_eu_emit *e,
                                             const struct zs_eu_emit_message *m, unsigned group)
{
    unsigned size_B = address_bits(m) / 8;

    return zs_eu_emit_rise_at(e, m->address_at + group * m->n * size_B, size_B, m->n);
}

/* Whether a group's lanes are known to rise by a step (0: to be alike), if their root does. */
static bool is_known(const struct zs_eu_emit *e, const struct zs_eu_emit_message *m, unsigned group,
                     unsigned step)
{
    const struct zs_eu_emit_rise *r = rise_of(e, m, group);

    return r && zs_eu_emit_may_rise_by(r, step) &&
           (!r->partly || (m->op->enables == ZS_EU_OFFSET(ce) && (!step || is_masked(m)) &&
                           r->partly == m->op->chan_offset + group * m->n + 1));
}

/* Of a root that threads start with, or of none. */
static bool is_sure(const struct zs_eu_emit_rise *r)
{
    return r->known || r->root == UINT32_MAX;
}

/* All of them are. */
static bool all_known(const struct zs_eu_emit *e, const struct zs_eu_emit_message *m, unsigned step,
                      bool sure)
{
    bool all = true;

    for (unsigned g = 0; g < m->lanes / m->n && all; g++)
        all = is_known(e, m, g, step) && (!sure || is_sure(rise_of(e, m, g)));
    return all;
}

/* It depends on which local ids are alike, and that on the group's size. */
static bool is_guessed(const struct zs_eu_emit *e, const struct zs_eu_emit_message *m)
{
    bool is = false;

    for (unsigned g = 0; g < m->lanes / m->n; g++)
        is |= rise_of(e, m, g) && rise_of(e, m, g)->guessed;
    return is;
}

/* By how much all lanes are known to rise if they are apart; 0: nobody knows. */
static unsigned step_apart(const struct zs_eu_emit *e, const struct zs_eu_emit_message *m)
{
    const struct zs_eu_emit_rise *r = rise_of(e, m, 0);
    unsigned step = r && r->known ? r->factor : 0;

    return step && step != stride(m) && all_known(e, m, step, true) &&
                   zs_eu_emit_may_be_apart(m, step * unit_B(m))
               ? step
               : 0;
}

/* All 32 lanes at once, where their threads know. */
static void move_long(struct zs_eu_emit *e, const struct zs_eu_emit_message *m, unsigned ready)
{
    const struct zs_eu_emit_rise *low = rise_of(e, m, 0), *high = rise_of(e, m, 1);
    unsigned row = zs_eu_emit_label(e), other = zs_eu_emit_label(e);
    unsigned is = low && high ? zs_eu_emit_rise_both(e, low, high, stride(m)) : UINT32_MAX;

    if (e->dry)
        lanes_inside(e, m, 0, m->lanes);
    if (is == UINT32_MAX)
        return;
    unsigned first = offset(e, m, low->first);
    is = VALUE("and i1 %%v%u, %%v%u", is, lanes_inside(e, m, first, m->lanes));
    zs_eu_emit_branch(e, is, row, other, 1);
    zs_eu_emit_put_label(e, row);
    zs_eu_emit_local_row(e, m, first, zs_eu_emit_row_B(m, m->lanes), m->writes);
    zs_eu_emit_reach(e, m, ZS_EU_REACH_ROW, first, 0, m->lanes);
    move_row(e, m, 0, first);
    move_row(e, m, 1, VALUE("add i64 %%v%u, %u", first, m->n * m->size_B));
    LINE("br label %%l%u", ready);
    zs_eu_emit_put_label(e, other);
}

/* How n lanes' addresses rise, of which nothing is known: of those that are on, from where the
 * first lane is, or would be; ret: i1, they do. */
static unsigned rise_of_some(struct zs_eu_emit *e, const struct zs_eu_emit_message *m,
                             unsigned group, unsigned step, unsigned *ret)
{
    unsigned bits = address_bits(m), n = m->n, on = m->active_value;
    unsigned v = zs_eu_emit_read(e, m->address_at + group * n * bits / 8, bits / 8, n);

    if (zs_eu_emit_all_lanes(m)) {
        struct zs_eu_emit_rise rise = zs_eu_emit_rise_itself(e, v, bits / 8, n);
        *ret = zs_eu_emit_rise_by(e, &rise, step);
        return rise.first;
    }
    if (group)
        on = VALUE("lshr i32 %%v%u, %u", on, group * n);
    on = VALUE("or i32 %%v%u, %u", on, 1u << (n - 1)); /* none: the last one */
    unsigned lane = VALUE("call i32 @llvm.cttz.i32(i32 %%v%u, i1 true)", on);
    unsigned first = VALUE("extractelement <%u x i%u> %%v%u, i32 %%v%u", n, bits, v, lane);
    if (step) {
        lane = VALUE("mul i32 %%v%u, %u", lane, step);
        lane = bits == 64 ? VALUE("zext i32 %%v%u to i64", lane) : lane;
        first = VALUE("sub i%u %%v%u, %%v%u", bits, first, lane);
    }
    unsigned is = zs_eu_emit_rising(e, v, zs_eu_emit_splat(e, first, bits / 8, n), bits, n, step);
    *ret = zs_eu_emit_all_on(e, is, m->active_value, group * n, n);
    return first;
}

/* All lanes that are on, if they are neighbours, at one place (step 0), or evenly apart. */
static void move_regular(struct zs_eu_emit *e, const struct zs_eu_emit_message *m, unsigned step,
                         bool likely, unsigned ready)
{
    unsigned yes = zs_eu_emit_label(e), no = zs_eu_emit_label(e), first[2], ok = UINT32_MAX;
    unsigned groups = m->lanes / m->n, apart_B = step == stride(m) ? 0 : step * unit_B(m);

    if (!zs_eu_emit_all_lanes(m) && step && !is_masked(m))
        ok = VALUE("icmp eq i32 %%v%u, %u", m->active_value,
                   m->lanes == 32 ? UINT32_MAX : (1u << m->lanes) - 1);
    for (unsigned g = 0; g < groups; g++) {
        unsigned rises;
        if (!m->looks && is_known(e, m, g, step) &&
            (zs_eu_emit_all_lanes(m) || is_sure(rise_of(e, m, g)))) {
            struct zs_eu_emit_rise rise = *rise_of(e, m, g);
            first[g] = rise.first;
            rises = zs_eu_emit_rise_by(e, &rise, step);
        } else {
            first[g] = rise_of_some(e, m, g, step, &rises);
        }
        first[g] = offset(e, m, first[g]);
        unsigned is = VALUE("and i1 %%v%u, %%v%u", rises,
                            apart_B ? inside(e, m, first[g], zs_eu_emit_apart_B(m, apart_B))
                            : step  ? lanes_inside(e, m, first[g], m->n)
                                    : inside(e, m, first[g], m->span_B));
        ok = ok == UINT32_MAX ? is : VALUE("and i1 %%v%u, %%v%u", ok, is);
    }
    zs_eu_emit_branch(e, ok, yes, no, likely);
    zs_eu_emit_put_label(e, yes);
    for (unsigned g = 0; g < groups && apart_B; g++)
        zs_eu_emit_apart(e, m, g, first[g], apart_B);
    for (unsigned g = 0; g < groups && !apart_B; g++)
        zs_eu_emit_local_row(e, m, first[g], step ? zs_eu_emit_row_B(m, m->n) : m->span_B,
                             step && m->writes && !is_masked(m));
    for (unsigned g = 0; g < groups && !apart_B; g++)
        zs_eu_emit_reach(e, m, step ? ZS_EU_REACH_ROW : ZS_EU_REACH_ONE, first[g], g * m->n, m->n);
    for (unsigned g = 0; g < groups && !apart_B; g++)
        (step ? move_row : load_one)(e, m, g, first[g]);
    LINE("br label %%l%u", ready);
    zs_eu_emit_put_label(e, no);
}

static void move_lanes(struct zs_eu_emit *e, struct zs_eu_emit_message *m)
{
    unsigned ready = zs_eu_emit_label(e), size_B = address_bits(m) / 8;
    bool regular = m->elements == 1 || !m->writes;
    bool alike = regular && !m->writes && all_known(e, m, 0, true);
    bool sure = all_known(e, m, stride(m), true);
    bool doubted = alike && is_guessed(e, m);
    bool any = (!alike || doubted) && (!regular || m->ways & ZS_PORT_WAY_ANY);
    unsigned step = step_apart(e, m), ways = step ? 0 : m->ways;

    m->fours = !step && zs_eu_emit_has_fours(m);

    if (regular && m->lanes == 32 && zs_eu_emit_all_lanes(m))
        move_long(e, m, ready);
    if (step)
        move_regular(e, m, step, true, ready);
    for (unsigned dwords = 2; dwords <= 4 && !alike; dwords++) {
        if (!sure && ways & zs_port_way_apart(dwords) && m->size_B == 4 &&
            zs_eu_emit_may_be_apart(m, dwords * 4))
            move_regular(e, m, 4 * dwords, true, ready);
        else
            any |= (m->ways & zs_port_way_apart(dwords)) != 0;
    }
    if (alike)
        move_regular(e, m, 0, true, ready);
    if (regular && (!alike || doubted) && (sure || ways & ZS_PORT_WAY_ROW))
        move_regular(e, m, stride(m), sure, ready);
    if (regular && !m->writes && !sure && !alike && ways & ZS_PORT_WAY_ONE)
        move_regular(e, m, 0, false, ready);
    for (unsigned g = 0; g < m->lanes / m->n && !alike; g++)
        zs_eu_emit_rise_again(e, m->address_at + g * m->n * size_B, size_B, m->n);
    m->looks = regular && sure && ways & ZS_PORT_WAY_ROW && is_guessed(e, m);
    if (m->looks)
        move_regular(e, m, stride(m), false, ready);
    for (unsigned g = 0; g < m->lanes / m->n && any; g++)
        move_group(e, m, g);
    LINE("br label %%l%u", any ? ready : m->slow);
    zs_eu_emit_put_label(e, ready);
    if (!m->writes)
        write_results(e, m);
    LINE("br label %%l%u", m->done);
}

/* One lane, which is on. */
static void move_single(struct zs_eu_emit *e, struct zs_eu_emit_message *m)
{
    unsigned first = zs_eu_emit_read_one(e, m->address_at, m->wide ? 8 : 4);
    char type[16];

    snprintf(type, sizeof(type), "i%u", 8 * m->size_B);
    first = offset(e, m, first);
    zs_eu_emit_need(e, m, inside(e, m, first, m->span_B));
    zs_eu_emit_local_row(e, m, first, m->span_B, m->writes && m->elements == 1);
    zs_eu_emit_reach(e, m, ZS_EU_REACH_ONE, first, 0, 32);
    for (unsigned i = 0; i < m->elements; i++) {
        uint32_t data = m->data_at + i * m->element_B;
        unsigned at = zs_eu_emit_pointer(e, m, first, m->place_B[i], type);
        if (m->writes) {
            unsigned v = zs_eu_emit_read_one(e, data, m->size_B);
            LINE("store volatile %s %%v%u, %s* %%v%u, align 1", type, v, type, at);
            continue;
        }
        unsigned v = VALUE("load volatile %s, %s* %%v%u, align 1", type, type, at);
        if (m->size_B < 4)
            v = VALUE("zext %s %%v%u to i32", type, v);
        zs_eu_emit_write_one(e, data, m->slot_B, v);
    }
    LINE("br label %%l%u", m->done);
}

/* ---- blocks ---- */

/* Where it begins, from the base: i64. Of scratch memory where the thread's own does: all such
 * messages have that in common, and one check. */
static unsigned block_offset(struct zs_eu_emit *e, const struct zs_eu_emit_message *m)
{
    if (m->wide) {
        unsigned at = zs_eu_emit_read_one(e, m->address_at, 8);
        return VALUE("sub i64 %%v%u, %%v%u", at, m->start);
    }
    if (m->port->shape == ZS_PORT_SHAPE_SCRATCH) {
        unsigned own = zs_eu_emit_read_one(e, m->address_at + 20, 4);
        own = VALUE("zext i32 %%v%u to i64", VALUE("and i32 %%v%u, %d", own, ~0x3ff));
        return VALUE("sub i64 %%v%u, %%v%u", own, scratch_bias(e));
    }
    bool lsc = m->port->shape == ZS_PORT_SHAPE_LSC;
    unsigned at = zs_eu_emit_read_one(e, m->address_at + (lsc ? 0 : 8), 4);
    if (zs_eu_emit_is_slm(m))
        at = VALUE("and i32 %%v%u, %d", at, SLM_OFFSET_MASK);
    at = VALUE("zext i32 %%v%u to i64", at);
    if (!lsc)
        at = VALUE("shl i64 %%v%u, %u", at, m->port->block_shift);
    if (lsc || m->port->space != ZS_PORT_SPACE_PAYLOAD)
        return at;
    unsigned more = zs_eu_emit_read_one(e, m->address_at + 20, 4);
    more = VALUE("zext i32 %%v%u to i64", VALUE("and i32 %%v%u, %d", more, ~0x3ff));
    return VALUE("add i64 %%v%u, %%v%u", at, more);
}

static void move_block(struct zs_eu_emit *e, struct zs_eu_emit_message *m)
{
    uint32_t size_B = m->port->block_B, at_B = 0;
    uint32_t more_B = m->port->shape == ZS_PORT_SHAPE_SCRATCH ? m->port->block_offset_B : 0;
    unsigned first = block_offset(e, m);

    zs_eu_emit_need(e, m, inside(e, m, first, more_B + size_B));
    zs_eu_emit_local_row(e, m, first, size_B, m->writes);
    zs_eu_emit_reach(e, m, ZS_EU_REACH_ONE, first, 0, 32);
    for (; at_B + 32 <= size_B; at_B += at_B + 64 <= size_B ? 64 : 32) {
        unsigned n = at_B + 64 <= size_B ? 16 : 8;
        const char *type = n == 16 ? "<16 x i32>" : "<8 x i32>";
        unsigned at = zs_eu_emit_pointer(e, m, first, more_B + at_B, type);
        if (m->writes)
            LINE("store volatile %s %%v%u, %s* %%v%u, align 1", type,
                 zs_eu_emit_read(e, m->data_at + at_B, 4, n), type, at);
        else
            zs_eu_emit_write(e, m->data_at + at_B, 4, n,
                             VALUE("load volatile %s, %s* %%v%u, align 1", type, type, at));
    }
    for (; at_B < size_B; at_B += 4) {
        unsigned at = zs_eu_emit_pointer(e, m, first, more_B + at_B, "i32");
        if (m->writes)
            LINE("store volatile i32 %%v%u, i32* %%v%u, align 1",
                 zs_eu_emit_read_one(e, m->data_at + at_B, 4), at);
        else
            zs_eu_emit_write_one(e, m->data_at + at_B, 4,
                                 VALUE("load volatile i32, i32* %%v%u, align 1", at));
    }
    LINE("br label %%l%u", m->done);
}

/* ---- which messages ---- */

static bool describe_area(struct zs_eu_emit_message *ret)
{
    const struct zs_port_message *m = ret->port;

    if (ret->wide)
        return m->space == ZS_PORT_SPACE_GLOBAL;
    if (m->space == ZS_PORT_SPACE_SLM)
        return m->bti == BTI_SLM;
    bool flat = m->bti == BTI_STATELESS || m->bti == BTI_NON_COHERENT;
    if (m->space == ZS_PORT_SPACE_SCRATCH)
        return m->shape == ZS_PORT_SHAPE_SCRATCH || ret->is_guess || (flat && ret->lanes);
    if (m->space == ZS_PORT_SPACE_PAYLOAD)
        return flat && !ret->writes;
    return m->space == ZS_PORT_SPACE_GLOBAL && m->bti < ZS_PORT_SURFACES_MAX;
}

static bool describe_block(const struct zs_eu_send_desc *d, struct zs_eu_emit_message *ret)
{
    const struct zs_port_message *m = ret->port;
    uint32_t grf = ZS_EU_OFFSET(grf);

    bool all = ret->active.known &&
               (ret->active.bits == 0xffff || (ret->active.bits == 0xff && m->block_B == 32));
    if (m->block_B % 4 || !m->block_B || m->block_upper || (m->masked && !all))
        return false;
    switch (m->shape) {
    case ZS_PORT_SHAPE_BLOCK:
    case ZS_PORT_SHAPE_SCRATCH:
    case ZS_PORT_SHAPE_A64_BLOCK:
        ret->wide = m->shape == ZS_PORT_SHAPE_A64_BLOCK;
        ret->data_at = grf + (!ret->writes      ? d->dst_B
                              : m->data_in_src1 ? d->src1_B
                                                : d->src0_B + m->header_grf * 32u);
        break;
    case ZS_PORT_SHAPE_LSC:
        if (m->address_B != 4 && m->address_B != 8)
            return false;
        ret->wide = m->address_B == 8;
        ret->data_at = grf + (ret->writes ? d->src1_B : d->dst_B);
        break;
    default:
        return false;
    }
    ret->address_at = grf + d->src0_B;
    return describe_area(ret);
}

/* Elements are channels of a mask, or one behind the other. */
static void place_elements(const struct zs_port_message *m, struct zs_eu_emit_message *ret)
{
    unsigned channels = m->channels ? m->channels : 15, channel = 0;

    for (unsigned i = 0; i < m->elements; i++, channel++) {
        while (channel < 4 && !(channels >> channel & 1))
            channel++;
        ret->place_B[i] = channel * m->element_B;
    }
    ret->span_B = ret->place_B[m->elements - 1] + m->element_B;
}

static bool describe_lanes(const struct zs_eu_send_desc *d, struct zs_eu_emit_message *ret)
{
    const struct zs_port_message *m = ret->port;
    uint32_t grf = ZS_EU_OFFSET(grf);

    if (m->lanes < d->exec_size || (m->lanes != 1 && m->lanes != 8 && m->lanes % 16) || m->upper ||
        (m->block_B && m->lanes != 1) || m->elements == 0 || m->elements > 4 ||
        (m->elements > 1 && m->element_B < 4))
        return false;
    ret->lanes = d->exec_size == 1 ? 1 : m->lanes;
    ret->n = m->lanes == 8 ? 8 : 16;
    ret->elements = m->elements;
    ret->size_B = m->element_B;
    ret->slot_B = m->element_B == 8 ? 8 : 4;
    ret->element_B = m->lanes * ret->slot_B;
    place_elements(m, ret);
    switch (m->shape) {
    case ZS_PORT_SHAPE_LSC:
        if (m->slot_B != ret->slot_B || (m->address_B != 4 && m->address_B != 8))
            return false;
        ret->wide = m->address_B == 8;
        ret->element_B = m->component_B;
        break;
    case ZS_PORT_SHAPE_OFFSETS:
    case ZS_PORT_SHAPE_DWORD_OFFSETS:
    case ZS_PORT_SHAPE_ADDRESSES:
        if (m->shape == ZS_PORT_SHAPE_DWORD_OFFSETS && m->element_B % 4)
            return false;
        ret->wide = m->shape == ZS_PORT_SHAPE_ADDRESSES;
        break;
    default:
        return false;
    }
    uint32_t addresses_B = m->header_grf * 32u + m->lanes * (ret->wide ? 8u : 4u);
    bool apart = m->data_in_src1 || m->shape == ZS_PORT_SHAPE_LSC;
    ret->address_at = grf + d->src0_B + m->header_grf * 32u;
    ret->data_at = grf + (!ret->writes ? d->dst_B : apart ? d->src1_B : d->src0_B + addresses_B);
    return (m->lanes != 1 || ret->lanes == 1) && describe_area(ret);
}

bool zs_eu_emit_guess(const struct zs_eu_program *p, const struct zs_eu_program_send *from,
                      struct zs_eu_send *ret)
{
    struct zs_diag diag;

    *ret = from->send;
    ret->d.ex_desc = ZS_EU_EMIT_SCRATCH_NAME;
    zs_diag_clear(&diag);
    return from->ex_desc_is_reg && !from->desc_is_reg && ret->d.is_surface_offset &&
           !ret->d.is_e64 && !p->has_handles && zs_eu_send_finish(p, ret) >= 0 &&
           p->send_lower(ret, &diag) >= 0;
}

/* What memory has may be undefined: hooks are to be asked. */
static void need_defined(struct zs_eu_emit *e, const struct zs_eu_emit_message *m)
{
    if (!e->p->shadows || m->port->space == ZS_PORT_SPACE_PAYLOAD)
        return;
    unsigned at = zs_eu_emit_address(e, "%port", offsetof(struct zs_port, undefined), "i32*");
    at = VALUE("load i32*, i32** %%v%u, !invariant.load !2", at);
    unsigned some = VALUE("load volatile i32, i32* %%v%u", at);
    zs_eu_emit_need(e, m, VALUE("icmp eq i32 %%v%u, 0", some));
}

/* Whoever is told of messages looks at it. */
static bool looks_at(const struct zs_port_message *m)
{
    return m->space != ZS_PORT_SPACE_SCRATCH && m->space != ZS_PORT_SPACE_PAYLOAD;
}

/* Of which ways it may be: where nobody knows, of several elements, which are a structure, or what
 * a stencil takes of a row, these, too. */
static unsigned ways_of(const struct zs_eu_emit *e, const struct zs_eu_op *op,
                        const struct zs_port_message *m)
{
    size_t number = (size_t)(op->send - e->p->sends.items);
    const uint8_t *seen = e->options.seen.data;
    unsigned ways = e->options.seen.size_B ? seen[e->p->block_count + number] : 0;
    bool some = m->elements >= 2 && m->elements <= 4 && !(m->channels & (m->channels + 1u));

    return ways ? ways
                : ZS_PORT_WAY_ROW | ZS_PORT_WAY_ONE | ZS_PORT_WAY_ANY |
                      (some ? zs_port_way_apart(m->elements) : 0);
}

/* What it says, if it is one of these. */
static bool describe(const struct zs_eu_emit *e, const struct zs_eu_op *op,
                     struct zs_eu_emit_message *ret)
{
    const struct zs_port_message_row *row;
    ret->is_guess = zs_eu_emit_guess(e->p, op->send, &ret->guess);
    const struct zs_eu_send *send = ret->is_guess ? &ret->guess : &op->send->send;
    const struct zs_port_message *m = zs_eu_send_message(send, &row);

    if (!m || op->arg || send->d.eot || row->is_fence || zs_eu_send_joins(send, m) || m->strided ||
        m->offset64)
        return false;
    ret->op = op;
    ret->ways = ways_of(e, op, m);
    ret->is_hooked = op->cls & ZS_EU_HOOKED && looks_at(m);
    if (e->p->shadows && m->space == ZS_PORT_SPACE_SCRATCH) /* nobody has written most of it */
        return false;
    ret->port = m;
    ret->d = &send->d;
    ret->is_atomic = row->is_atomic;
    ret->writes = m->bytes_written != 0 || ret->is_atomic;
    if (ret->is_atomic)
        return zs_eu_emit_atomic_operands(e, m, &ret->operands) && describe_lanes(&send->d, ret) &&
               ret->lanes > 1 && (!m->returns || (send->d.has_dst && m->rlen));
    if ((m->bytes_read != 0) == ret->writes || (!ret->writes && (!send->d.has_dst || !m->rlen)))
        return false;
    return m->lanes ? describe_lanes(&send->d, ret) : describe_block(&send->d, ret);
}

static void note_rows(struct zs_eu_emit *e, const struct zs_eu_emit_message *m, uint32_t at,
                      unsigned size_B, void (*note)(struct zs_eu_emit *, uint32_t, uint32_t))
{
    zs_eu_emit_lanes_at(e, m->op, at, size_B);
    note(e, at, m->lanes * size_B);
    zs_eu_emit_lanes_end(e);
}

/* As zs_port_run_fence() has it; NULL: it is none, or somebody is told of it. */
static const char *fence_of(const struct zs_eu_emit *e, const struct zs_eu_op *op)
{
    const struct zs_port_message_row *row;
    const struct zs_eu_send *send = &op->send->send;
    const struct zs_port_message *m = zs_eu_send_message(send, &row);

    if (!m || op->arg || op->cls || send->d.eot || row->kind != ZS_MSG_FENCE || e->p->shadows)
        return NULL;
    return m->op ? "acq_rel" : "seq_cst";
}

bool zs_eu_emit_message_notes(struct zs_eu_emit *e, const struct zs_eu_op *op,
                              struct zs_eu_emit_mask active)
{
    struct zs_eu_emit_message m = {.active = active};
    uint32_t grf = ZS_EU_OFFSET(grf);

    if (fence_of(e, op))
        return true;
    if (!describe(e, op, &m) || m.lanes == 1)
        return false;
    if (!m.lanes) {
        zs_eu_emit_reads(e, m.address_at, 32);
        if (m.writes)
            zs_eu_emit_reads(e, m.data_at, m.port->block_B);
        else if (active.known && active.bits)
            zs_eu_emit_writes(e, m.data_at, m.port->block_B);
        return true;
    }
    bool some = op->chan_offset % 8 || zs_eu_emit_partly(op, 0, m.lanes);
    zs_eu_emit_reads(e, grf + op->send->send.d.src0_B, m.port->header_grf * 32u);
    note_rows(e, &m, m.address_at, m.wide ? 8 : 4, zs_eu_emit_reads);
    for (unsigned i = 0; i < m.operands; i++)
        note_rows(e, &m, m.data_at + i * m.element_B, m.slot_B, zs_eu_emit_reads);
    if (m.is_atomic)
        m.data_at = grf + m.d->dst_B;
    bool only_reads = m.writes && !m.is_atomic;
    for (unsigned i = 0; i < (m.is_atomic ? m.port->returns : m.elements); i++) {
        uint32_t at = m.data_at + i * m.element_B;
        if (only_reads || some)
            note_rows(e, &m, at, m.slot_B, zs_eu_emit_reads);
        else
            note_rows(e, &m, at, m.slot_B,
                      zs_eu_emit_all_lanes(&m) ? zs_eu_emit_writes : zs_eu_emit_writes_lanes);
    }
    return true;
}

/* The group's barrier: a signal more. Those with a number (of XeHPC) are the data port's. */
static bool emit_barrier(struct zs_eu_emit *e, const struct zs_eu_op *op, uint32_t index,
                         unsigned active)
{
    const struct zs_port_message_row *row;
    const struct zs_eu_send *send = &op->send->send;
    const struct zs_port_message *m = zs_eu_send_message(send, &row);

    if (!m || op->arg || op->cls || send->d.eot || row->kind != ZS_MSG_BARRIER ||
        zs_eu_send_joins(send, m))
        return false;
    unsigned own = zs_eu_emit_label(e), named = zs_eu_emit_label(e), done = zs_eu_emit_label(e);
    if (m->op) {
        unsigned number = zs_eu_emit_read_one(e, ZS_EU_OFFSET(grf) + send->d.src0_B + 8, 4);
        number = VALUE("and i32 %%v%u, 255", number);
        zs_eu_emit_branch(e, VALUE("icmp eq i32 %%v%u, 0", number), own, named, 1);
        zs_eu_emit_put_label(e, named);
        zs_eu_emit_runner(e, op, index, active);
        LINE("br label %%l%u", done);
        zs_eu_emit_put_label(e, own);
    }
    unsigned at = zs_eu_emit_address(e, "%port", offsetof(struct zs_port, barrier_signals), "i32");
    LINE("store i32 %%v%u, i32* %%v%u",
         VALUE("add i32 %%v%u, 1", VALUE("load i32, i32* %%v%u", at)), at);
    LINE("br label %%l%u", done);
    zs_eu_emit_put_label(e, done);
    return true;
}

bool zs_eu_emit_message(struct zs_eu_emit *e, const struct zs_eu_op *op, uint32_t index,
                        struct zs_eu_emit_mask active, unsigned active_value)
{
    struct zs_eu_emit_message m = {.active = active};

    if (fence_of(e, op))
        LINE("fence %s", fence_of(e, op));
    if (fence_of(e, op) || emit_barrier(e, op, index, active_value))
        return true;
    if (!describe(e, op, &m))
        return false;
    m.active_value = active_value;
    m.slow = zs_eu_emit_label(e);
    m.done = zs_eu_emit_label(e);
    need_defined(e, &m);
    zs_eu_emit_find_area(e, &m);
    if (m.is_atomic)
        zs_eu_emit_atomic(e, &m);
    else if (m.lanes == 1)
        move_single(e, &m);
    else if (m.lanes)
        move_lanes(e, &m);
    else
        move_block(e, &m);
    zs_eu_emit_put_label(e, m.slow);
    zs_eu_emit_runner(e, op, index, active_value);
    LINE("br label %%l%u", m.done);
    zs_eu_emit_put_label(e, m.done);
    return true;
}
