/* SPDX-License-Identifier: MIT */
/* What messages in line tell hooks: where they reach, mostly for later (struct zs_eu_reaches). */
#include "eu/tier/emit_message.h"

#include <inttypes.h>
#include <stdio.h>

#define VALUE(...) zs_eu_emit_value(e, __VA_ARGS__)
#define LINE(...)  zs_eu_emit_line(e, __VA_ARGS__)

/* Lanes from one on. */
static unsigned among(struct zs_eu_emit *e, const struct zs_eu_emit_message *m, unsigned first,
                      unsigned lanes)
{
    uint32_t all = lanes == 32 ? UINT32_MAX : (1u << lanes) - 1;

    return lanes >= m->lanes ? m->active_value
                             : VALUE("and i32 %%v%u, %u", m->active_value, all << first);
}

/* i64: the high half of an entry's second qword. UINT32_MAX: zero. */
static unsigned beside_lanes(struct zs_eu_emit *e, const struct zs_eu_emit_message *m,
                             unsigned offset, unsigned first, unsigned lanes)
{
    unsigned n = m->n, all = UINT32_MAX;
    char type[24];

    snprintf(type, sizeof(type), "<%u x i%u>", n, 8 * m->size_B);
    for (unsigned lane = first; m->writes && lane < first + lanes; lane += n) {
        unsigned at = zs_eu_emit_pointer(e, m, offset, (lane - first) * m->size_B, type);
        unsigned old = zs_eu_emit_load_row(e, m, lane / n, type, at);
        unsigned v =
            VALUE("icmp eq %s %%v%u, %%v%u", type, old, zs_eu_emit_from_slots(e, m, 0, lane / n));
        v = VALUE("zext i%u %%v%u to i64", n, VALUE("bitcast <%u x i1> %%v%u to i%u", n, v, n));
        v = VALUE("shl i64 %%v%u, %u", v, 32 + lane);
        all = lane == first ? v : VALUE("or i64 %%v%u, %%v%u", all, v);
    }
    if (m->writes)
        return all;
    if (m->d->exec_size != 1 || !m->d->no_mask)
        return UINT32_MAX;
    unsigned ce = VALUE("zext i32 %%v%u to i64", zs_eu_emit_field(e, ZS_EU_OFFSET(ce)));
    return VALUE("shl i64 %%v%u, 32", ce);
}

static unsigned page_of(struct zs_eu_emit *e, unsigned address)
{
    return VALUE("lshr i64 %%v%u, %d", address, __builtin_ctz(ZS_EU_REACHES_PAGE_B));
}

static unsigned quiet_of(struct zs_eu_emit *e, unsigned quiet, unsigned page)
{
    page = VALUE("and i64 %%v%u, %d", page, ZS_EU_REACHES_QUIET - 1);
    return VALUE("getelementptr i64, i64* %%v%u, i64 %%v%u", quiet, page);
}

/* Nobody wants to know of what is read in such a page. */
static void skip_quiet(struct zs_eu_emit *e, unsigned quiet, unsigned address, unsigned size_B,
                       unsigned done)
{
    unsigned other = zs_eu_emit_label(e), page = page_of(e, address);
    unsigned in_B = VALUE("and i64 %%v%u, %d", address, ZS_EU_REACHES_PAGE_B - 1);
    unsigned is = VALUE("icmp eq i64 %%v%u, %%v%u", page,
                        VALUE("load i64, i64* %%v%u", quiet_of(e, quiet, page)));
    unsigned fits = VALUE("icmp ule i64 %%v%u, %u", in_B, ZS_EU_REACHES_PAGE_B - size_B);
    zs_eu_emit_branch(e, VALUE("and i1 %%v%u, %%v%u", is, fits), done, other, 0);
    zs_eu_emit_put_label(e, other);
}

/* Something is stored there, in two pages at most. */
static void end_quiet(struct zs_eu_emit *e, unsigned quiet, unsigned address, unsigned size_B)
{
    unsigned last = VALUE("add i64 %%v%u, %u", address, size_B - 1);

    LINE("store i64 -1, i64* %%v%u", quiet_of(e, quiet, page_of(e, address)));
    LINE("store i64 -1, i64* %%v%u", quiet_of(e, quiet, page_of(e, last)));
}

/* struct zs_eu_reaches: an entry, or on where it is asked for at once. n: addresses of lanes. */
static void note_reach(struct zs_eu_emit *e, const struct zs_eu_emit_message *m,
                       enum zs_eu_reach how, unsigned address, unsigned offset, unsigned first,
                       unsigned active, unsigned n, unsigned lanes, unsigned done)
{
    unsigned some = zs_eu_emit_label(e), room = zs_eu_emit_label(e), ask = zs_eu_emit_label(e);
    uint64_t site = (uint64_t)(m->op - e->p->ops) | (uint64_t)how << ZS_EU_REACHES_HOW_SHIFT |
                    (uint64_t)first / 8 << ZS_EU_REACHES_FIRST_SHIFT |
                    (uint64_t)n << ZS_EU_REACHES_MORE_SHIFT;
    unsigned size_B = how == ZS_EU_REACH_ROW ? zs_eu_emit_row_B(m, first + lanes)
                      : m->lanes             ? m->span_B
                                             : m->port->block_B;
    if (zs_eu_emit_is_slm(m))
        site |= UINT64_C(1) << ZS_EU_REACHES_LOCAL_SHIFT;
    else if (!n && !m->writes)
        site |= (uint64_t)size_B << ZS_EU_REACHES_SIZE_SHIFT;
    site |= (uint64_t)m->writes << ZS_EU_REACHES_WRITE_SHIFT;
    unsigned to = zs_eu_emit_address(e, "%t", ZS_EU_OFFSET(reaches), "i64**");
    to = VALUE("load i64**, i64*** %%v%u, !invariant.load !2", to);
    zs_eu_emit_branch(e, VALUE("icmp ne i64** %%v%u, null", to), some, ask, 1);
    zs_eu_emit_put_label(e, some);
    unsigned quiet = VALUE("bitcast i64** %%v%u to i64*", to);
    quiet = VALUE("getelementptr i64, i64* %%v%u, i64 %zu", quiet,
                  offsetof(struct zs_eu_reaches, quiet) / 8);
    if (site >> ZS_EU_REACHES_SIZE_SHIFT)
        skip_quiet(e, quiet, address, size_B, done);
    unsigned at = VALUE("load i64*, i64** %%v%u", to);
    unsigned end =
        VALUE("load i64*, i64** %%v%u", VALUE("getelementptr i64*, i64** %%v%u, i64 1", to));
    zs_eu_emit_branch(e, VALUE("icmp ult i64* %%v%u, %%v%u", at, end), room, ask, 1);
    zs_eu_emit_put_label(e, room);
    unsigned who = VALUE("zext i32 %%v%u to i64", active),
             beside = beside_lanes(e, m, offset, first, lanes);
    if (beside != UINT32_MAX)
        who = VALUE("or i64 %%v%u, %%v%u", who, beside);
    unsigned thread = VALUE("zext i32 %%v%u to i64", zs_eu_emit_field(e, ZS_EU_OFFSET(series.at)));
    thread = VALUE("shl i64 %%v%u, %d", thread, ZS_EU_REACHES_THREAD_SHIFT);
    if (n) {
        unsigned all =
            VALUE("bitcast i64* %%v%u to <%u x i64>*",
                  VALUE("getelementptr i64, i64* %%v%u, i64 %d", at, ZS_EU_REACHES_EACH), n);
        LINE("store <%u x i64> %%v%u, <%u x i64>* %%v%u, align 8", n, address, n, all);
    } else {
        LINE("store i64 %%v%u, i64* %%v%u", address, at);
    }
    LINE("store i64 %%v%u, i64* %%v%u", who, VALUE("getelementptr i64, i64* %%v%u, i64 1", at));
    LINE("store i64 %%v%u, i64* %%v%u", VALUE("or i64 %%v%u, %" PRIu64, thread, site),
         VALUE("getelementptr i64, i64* %%v%u, i64 2", at));
    LINE("store i64* %%v%u, i64** %%v%u",
         VALUE("getelementptr i64, i64* %%v%u, i64 %u", at, ZS_EU_REACHES_EACH + n), to);
    if (m->writes && !zs_eu_emit_is_slm(m))
        end_quiet(e, quiet, address, size_B);
    LINE("br label %%l%u", done);
    zs_eu_emit_put_label(e, ask);
}

/* What it is asked for is put off where that changes nothing. */
static bool can_wait(const struct zs_eu_emit *e, const struct zs_eu_emit_message *m,
                     enum zs_eu_reach how)
{
    bool is_store = how == ZS_EU_REACH_ROW && !m->is_atomic && m->elements == 1;
    return (!m->writes || is_store) && !m->is_guess && !m->op->send->ex_desc_is_reg &&
           (uint64_t)(m->op - e->p->ops) < UINT64_C(1) << ZS_EU_REACHES_HOW_SHIFT;
}

static void call_reach(struct zs_eu_emit *e, const struct zs_eu_emit_message *m,
                       enum zs_eu_reach how, unsigned address, unsigned first, unsigned active)
{
    if (m->is_guess)
        zs_eu_emit_spill(e, (ZS_EU_OFFSET(a0) + m->op->send->ex_desc_a0 * 4u) / 32);
    unsigned done =
        VALUE("call coldcc i32 @zs_reach(i8* %%t, i32 %u, i32 %%v%u, i32 %u, i64 %%v%u, "
              "i32 %u)",
              (unsigned)(m->op - e->p->ops), active, (unsigned)how, address, first);
    zs_eu_emit_need(e, m, VALUE("icmp ne i32 %%v%u, 0", done));
}

void zs_eu_emit_reach(struct zs_eu_emit *e, const struct zs_eu_emit_message *m,
                      enum zs_eu_reach how, unsigned offset, unsigned first, unsigned lanes)
{
    if (!m->is_hooked)
        return;
    unsigned address = offset;
    if (how == ZS_EU_REACH_ROW && first)
        address = VALUE("sub i64 %%v%u, %u", address, first * m->size_B);
    if (!zs_eu_emit_is_slm(m))
        address =
            VALUE("add i64 %%v%u, %%v%u", address, VALUE("ptrtoint i8* %%v%u to i64", m->base));
    unsigned active = among(e, m, first, lanes), done = zs_eu_emit_label(e);
    if (can_wait(e, m, how))
        note_reach(e, m, how, address, offset, first, active, 0, ZS_MIN(lanes, m->lanes), done);
    call_reach(e, m, how, address, first, active);
    LINE("br label %%l%u", done);
    zs_eu_emit_put_label(e, done);
}

void zs_eu_emit_reach_lanes(struct zs_eu_emit *e, const struct zs_eu_emit_message *m,
                            unsigned group)
{
    unsigned n = m->n, at = m->at[group];

    if (!m->is_hooked)
        return;
    e->uses_lane_arrays = true;
    if (!m->wide)
        at = VALUE("zext <%u x i32> %%v%u to <%u x i64>", n, at, n);
    if (!zs_eu_emit_is_slm(m)) {
        unsigned base = VALUE("ptrtoint i8* %%v%u to i64", m->base);
        at = VALUE("add <%u x i64> %%v%u, %%v%u", n, at, zs_eu_emit_splat(e, base, 8, n));
    }
    unsigned active = among(e, m, group * n, n), done = zs_eu_emit_label(e);
    if (can_wait(e, m, ZS_EU_REACH_LANES))
        note_reach(e, m, ZS_EU_REACH_LANES, at, 0, group * n, active, n, n, done);
    unsigned to = VALUE("bitcast i8* %%ka1 to <%u x i64>*", n);
    LINE("store <%u x i64> %%v%u, <%u x i64>* %%v%u", n, at, n, to);
    call_reach(e, m, ZS_EU_REACH_LANES, VALUE("ptrtoint i8* %%ka1 to i64"), group * n, active);
    LINE("br label %%l%u", done);
    zs_eu_emit_put_label(e, done);
}
