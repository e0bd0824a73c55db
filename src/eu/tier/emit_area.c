/* SPDX-License-Identifier: MIT */
/*
 * Areas that messages in line reach. Whatever speaks against an area (no buffer, may not be
 * written, somebody wants to know of accesses) makes its size zero: one comparison covers it all.
 *
 * They stay while threads run, but for the data port's cache of ranges, which changes by what the
 * port does itself. So a function begins with base and size of all of them as variables; one that
 * is left at barriers, to come in again soon, works out what it reaches as it does.
 */
#include "eu/tier/emit_message.h"

#include <stdio.h>

#define VALUE(...) zs_eu_emit_value(e, __VA_ARGS__)
#define LINE(...)  zs_eu_emit_line(e, __VA_ARGS__)

_Static_assert(sizeof(struct zs_port_range) == 5 * sizeof(uint64_t),
               "a range says where addresses lead: find_range() has to know all of it");

/* The number of an area: what is reached, and how. */
enum {
    WRITES = 1,
    SMALL = 2, /* elements of less than four bytes: checked to the byte */
    RANGES = ZS_PORT_SURFACES_MAX * 4,
    SLM = RANGES + ZS_PORT_CACHE * 2,
    PAYLOAD,
    SCRATCH,
    AREAS,
};
_Static_assert((int)AREAS <= (int)ZS_EU_EMIT_AREAS, "a flag for each");

struct area {
    unsigned base, size, start; /* i8*; i64; i64, of ranges and scratch memory */
};

static unsigned area_of(const struct zs_eu_emit_message *m)
{
    if (m->wide)
        return RANGES + m->port->cache_slot * 2u + m->writes;
    if (zs_eu_emit_is_slm(m))
        return SLM;
    if (m->port->space == ZS_PORT_SPACE_PAYLOAD)
        return PAYLOAD;
    if (m->port->space == ZS_PORT_SPACE_SCRATCH)
        return SCRATCH;
    return m->port->bti * 4u + (m->size_B < 4 ? SMALL : 0) + (m->writes ? WRITES : 0);
}

static bool is_range(unsigned area)
{
    return area >= RANGES && area < SLM;
}

/* ---- what is known of one ---- */

static unsigned load_field(struct zs_eu_emit *e, const char *base, uint64_t offset_B,
                           const char *type, bool stays)
{
    unsigned at = zs_eu_emit_address(e, base, offset_B, type);

    return VALUE("load %s, %s* %%v%u%s", type, type, at, stays ? ", !invariant.load !2" : "");
}

#define FIELD(base, at_B, type, field, kind)                                                       \
    load_field(e, base, (at_B) + offsetof(struct type, field), kind, true)

static void size_if(struct zs_eu_emit *e, struct area *area, unsigned condition)
{
    area->size = VALUE("select i1 %%v%u, i64 %%v%u, i64 0", condition, area->size);
}

static struct area find_surface(struct zs_eu_emit *e, const char *surfaces, unsigned number)
{
    uint64_t at_B = number / 4 * sizeof(struct zs_port_surface);
    struct area area = {.base = FIELD(surfaces, at_B, zs_port_surface, base, "i8*"),
                        .size = FIELD(surfaces, at_B, zs_port_surface, size_B, "i64")};
    unsigned kind = FIELD(surfaces, at_B, zs_port_surface, kind, "i32");

    if (number & SMALL) {
        unsigned pad = FIELD(surfaces, at_B, zs_port_surface, pad_B, "i32");
        pad = VALUE("zext i32 %%v%u to i64", pad);
        area.size = VALUE("sub i64 %%v%u, %%v%u", area.size, pad);
    }
    size_if(e, &area, VALUE("icmp eq i32 %%v%u, %d", kind, (int)ZS_PORT_SURFACE_BUFFER));
    if (number & WRITES) {
        unsigned closed = FIELD(surfaces, at_B, zs_port_surface, read_only, "i8");
        size_if(e, &area, VALUE("icmp eq i8 %%v%u, 0", closed));
    }
    return area;
}

static struct area find_range(struct zs_eu_emit *e, unsigned number)
{
    uint64_t at_B =
        offsetof(struct zs_port, cache) + (number - RANGES) / 2 * sizeof(struct zs_port_range);
    struct area area = {
        .start =
            load_field(e, "%port", at_B + offsetof(struct zs_port_range, start), "i64", false)};
    unsigned end = load_field(e, "%port", at_B + offsetof(struct zs_port_range, end), "i64", false);
    unsigned bias =
        load_field(e, "%port", at_B + offsetof(struct zs_port_range, bias), "i64", false);

    bias = VALUE("add i64 %%v%u, %%v%u", area.start, bias);
    area.base = VALUE("inttoptr i64 %%v%u to i8*", bias);
    area.size = VALUE("sub i64 %%v%u, %%v%u", end, area.start);
    if (number & WRITES) {
        unsigned closed =
            load_field(e, "%port", at_B + offsetof(struct zs_port_range, read_only), "i8", false);
        size_if(e, &area, VALUE("icmp eq i8 %%v%u, 0", closed));
    }
    return area;
}

static struct area find_scratch(struct zs_eu_emit *e)
{
    unsigned all = FIELD("%port", 0, zs_port, scratch, "i8*");
    unsigned end = FIELD("%port", 0, zs_port, scratch_end, "i64");
    struct area area = {.start = FIELD("%port", 0, zs_port, scratch_start, "i64")};

    area.size = VALUE("sub i64 %%v%u, %%v%u", end, area.start);
    area.base = VALUE("getelementptr i8, i8* %%v%u, i64 %%v%u", all, area.start);
    size_if(e, &area, VALUE("icmp ne i8* %%v%u, null", all));
    unsigned bias = FIELD("%port", 0, zs_port, scratch_bias, "i64"); /* addresses have 32 bits */
    size_if(e, &area, VALUE("icmp ult i64 %%v%u, 4294967296", bias));
    return area;
}

static struct area find_other(struct zs_eu_emit *e, unsigned number)
{
    struct area area = {0};

    if (number == SCRATCH)
        return find_scratch(e);
    if (number == SLM) {
        unsigned size = FIELD("%port", 0, zs_port, slm_B, "i32");
        area.base = FIELD("%port", 0, zs_port, slm, "i8*");
        area.size = VALUE("zext i32 %%v%u to i64", size);
        return area;
    }
    area.base = FIELD("%port", 0, zs_port, payload, "i8*");
    area.size = FIELD("%port", 0, zs_port, payload_B, "i64");
    size_if(e, &area, VALUE("icmp ne i8* %%v%u, null", area.base));
    return area;
}

static struct area unless_tracked(struct zs_eu_emit *e, struct area area)
{
    unsigned flags = FIELD("%port", 0, zs_port, flags, "i32");

    flags = VALUE("and i32 %%v%u, %u", flags, ZS_PORT_TRACK_WRITES);
    size_if(e, &area, VALUE("icmp eq i32 %%v%u, 0", flags));
    return area;
}

static struct area find(struct zs_eu_emit *e, unsigned number)
{
    return unless_tracked(e, number < RANGES    ? find_surface(e, "%surfaces", number)
                             : is_range(number) ? find_range(e, number)
                                                : find_other(e, number));
}

/* Of a message whose surface a0 names: if there is one of that number. */
static struct area find_named(struct zs_eu_emit *e, const struct zs_eu_emit_message *m,
                              unsigned name)
{
    unsigned count = FIELD("%port", 0, zs_port, surface_count, "i32"), at;
    char surface[16];

    name = VALUE("lshr i32 %%v%u, %d", name, (int)ZS_EU_EMIT_NAME_SHIFT);
    zs_eu_emit_need(e, m, VALUE("icmp ult i32 %%v%u, %%v%u", name, count));
    at = VALUE("mul i32 %%v%u, %u", name, (unsigned)sizeof(struct zs_port_surface));
    snprintf(surface, sizeof(surface), "%%v%u", FIELD("%port", 0, zs_port, surfaces, "i8*"));
    at = VALUE("getelementptr i8, i8* %s, i32 %%v%u", surface, at);
    snprintf(surface, sizeof(surface), "%%v%u", at);
    return unless_tracked(e, find_surface(e, surface, area_of(m) - m->port->bti * 4u));
}

static bool is_named(const struct zs_eu_emit_message *m)
{
    return m->is_guess && m->port->space == ZS_PORT_SPACE_GLOBAL;
}

void zs_eu_emit_find_area(struct zs_eu_emit *e, struct zs_eu_emit_message *m)
{
    unsigned number = area_of(m), name = 0;
    struct area area;

    if (m->is_guess)
        name = zs_eu_emit_word(e, ZS_EU_OFFSET(a0) + m->op->send->ex_desc_a0 * 4u);
    if (m->is_guess && !is_named(m))
        zs_eu_emit_need(e, m, VALUE("icmp eq i32 %%v%u, %d", name, (int)ZS_EU_EMIT_SCRATCH_NAME));
    e->area_used[number] |= !is_named(m);
    if (is_named(m)) {
        area = find_named(e, m, name);
    } else if (e->waits) {
        area = find(e, number);
    } else {
        area.base = VALUE("load i8*, i8** %%ab%u", number);
        area.size = VALUE("load i64, i64* %%as%u", number);
        area.start = VALUE("load i64, i64* %%at%u", number);
    }
    m->base = area.base;
    m->size = area.size;
    m->start = area.start;
}

static unsigned places(struct zs_eu_emit *e, unsigned size, unsigned span_B)
{
    return VALUE("call i64 @llvm.usub.sat.i64(i64 %%v%u, i64 %u)", size, span_B - 1);
}

unsigned zs_eu_emit_places(struct zs_eu_emit *e, const struct zs_eu_emit_message *m,
                           unsigned size_B, bool fewer)
{
    unsigned number = area_of(m), span_B = e->area_span[number];

    if (e->dry)
        e->area_span[number] = ZS_MAX(e->area_span[number], size_B);
    if (number == SCRATCH && !m->lanes && span_B > size_B) /* spills: all is there */
        size_B = span_B;
    if (e->waits || is_named(m) || span_B < size_B ||
        (span_B > size_B && (!fewer || span_B > 2 * size_B)))
        return places(e, m->size, size_B);
    return VALUE("load i64, i64* %%am%u", number);
}

/* ---- what a function begins with ---- */

static void store_area(struct zs_eu_emit *e, unsigned number)
{
    struct area area = find(e, number);

    LINE("store i8* %%v%u, i8** %%ab%u", area.base, number);
    LINE("store i64 %%v%u, i64* %%as%u", area.size, number);
    if (e->area_span[number])
        LINE("store i64 %%v%u, i64* %%am%u", places(e, area.size, e->area_span[number]), number);
    if (area.start)
        LINE("store i64 %%v%u, i64* %%at%u", area.start, number);
}

static void store_areas(struct zs_eu_emit *e, unsigned first, unsigned end)
{
    for (unsigned i = first; i < end && !e->dry && !e->waits; i++) {
        if (e->area_used[i])
            store_area(e, i);
    }
}

void zs_eu_emit_look_again(struct zs_eu_emit *e, const struct zs_eu_send *send)
{
    const struct zs_port_message_row *row;
    const struct zs_port_message *m = zs_eu_send_message(send, &row);
    unsigned slot = m ? m->cache_slot : send->d.inst % ZS_PORT_CACHE;

    store_areas(e, RANGES + 2 * slot, RANGES + 2 * slot + 2);
}

unsigned zs_eu_emit_areas_known(struct zs_eu_emit *e)
{
    unsigned behind = 0, count;

    for (unsigned i = 0; i < AREAS; i++) {
        if (!e->area_used[i])
            continue;
        behind = i < RANGES ? i / 4 + 1 : behind;
        LINE("%%ab%u = alloca i8*", i);
        LINE("%%as%u = alloca i64", i);
        LINE("%%am%u = alloca i64", i);
        LINE("%%at%u = alloca i64", i);
    }
    if (!behind)
        return UINT32_MAX;
    count = FIELD("%port", 0, zs_port, surface_count, "i32");
    return VALUE("icmp uge i32 %%v%u, %u", count, behind);
}

void zs_eu_emit_areas(struct zs_eu_emit *e)
{
    bool surfaces = false;

    for (unsigned i = 0; i < RANGES; i++)
        surfaces |= e->area_used[i];
    if (surfaces)
        LINE("%%surfaces = load i8*, i8** %%v%u",
             zs_eu_emit_address(e, "%port", offsetof(struct zs_port, surfaces), "i8*"));
    store_areas(e, 0, AREAS);
}
