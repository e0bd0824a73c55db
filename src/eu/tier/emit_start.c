/* SPDX-License-Identifier: MIT */
/*
 * Where threads come in, and where one of a series follows another.
 *
 * What differs between the threads of a group is a row of a table, and rows of local ids: of short
 * threads most of the time would go into leaving the function, setting up the next one and coming
 * in again. Of the registers of the thread that runs memory holds what all have alike; what is its
 * own is stored where the function is left.
 */
#include "dataport/dataport.h"
#include "eu/tier/emit_message.h"

#define VALUE(...) zs_eu_emit_value(e, __VA_ARGS__)
#define LINE(...)  zs_eu_emit_line(e, __VA_ARGS__)

static uint32_t start_of(const struct zs_eu_emit *e)
{
    return e->block_segment[e->p->entry_block];
}

/* ---- threads come in ---- */

bool zs_eu_emit_only_starts(const struct zs_eu_emit *e, uint32_t segment)
{
    uint32_t to[ZS_EU_EMIT_SUCCESSORS], half = e->segment_count / 2;
    unsigned count;

    if (segment % half != start_of(e))
        return false;
    for (uint32_t i = 0; i < half; i++) {
        if (!e->segments[i].in && !e->segments[half + i].in)
            continue;
        if (!zs_eu_emit_successors(e, i, to, &count))
            return false;
        for (unsigned k = 0; k < count; k++) {
            if (to[k] == start_of(e))
                return false;
        }
    }
    return true;
}

/* A unit of a thread that starts. */
static void begin_unit(struct zs_eu_emit *e, uint32_t unit)
{
    uint32_t file = ZS_EU_OFFSET(grf), at = unit * 32, size_B = zs_eu_file_B(e->p);

    if (at >= file + e->options.payload_B && at < file + size_B)
        zs_eu_emit_clear(e, unit);
    else
        zs_eu_emit_fill(e, unit);
}

bool zs_eu_emit_may_rise(const struct zs_eu_emit *e, unsigned bit)
{
    uint32_t unit = (ZS_EU_OFFSET(grf) + e->p->regs.grf_B) / 32 + bit;
    bool live = zs_eu_emit_has(&e->segments[start_of(e) + e->segment_count / 2].live, unit);

    return e->follows && live && e->kind[unit] != ZS_EU_EMIT_WORDS &&
           e->used[unit - (e->kind[unit] == ZS_EU_EMIT_HIGH)];
}

/* What is known of a thread that starts; cr0 is zero mostly. */
static void begin_known(struct zs_eu_emit *e)
{
    unsigned usual = zs_eu_emit_label(e), cr0 = ZS_EU_OFFSET(cr0) / 4;

    if (e->follows)
        LINE("store i32 %%v%u, i32* %%rising", zs_eu_emit_field(e, ZS_EU_OFFSET(series.rising)));
    if (!e->word_used[cr0])
        return;
    unsigned is = VALUE("icmp eq i32 %%v%u, 0", VALUE("load i32, i32* %%w%u", cr0));
    LINE("br i1 %%v%u, label %%l%u, label %%bail", is, usual);
    zs_eu_emit_put_label(e, usual);
    LINE("store i32 0, i32* %%w%u", cr0);
}

static bool is_entry(const struct zs_eu_emit *e, uint32_t segment)
{
    return e->segments[segment].in && e->segments[segment].entry;
}

/* To where a thread comes in: that of one who starts has a place of its own. */
static void switch_to(struct zs_eu_emit *e, unsigned at, bool starts)
{
    LINE("switch i64 %%v%u, label %%%s [", at, starts ? "again_in" : "bail");
    for (uint32_t i = 0; i < e->segment_count; i++) {
        if (is_entry(e, i) && zs_eu_emit_only_starts(e, i) == starts)
            LINE("  i64 %llu, label %%%c%u",
                 (unsigned long long)e->segments[i].first * sizeof(struct zs_eu_op),
                 starts ? 'n' : 's', i);
    }
    LINE("]");
}

/* Those who come in again load what is live at any such place: one way in costs a compiler least.
 */
void zs_eu_emit_entries(struct zs_eu_emit *e)
{
    unsigned at = VALUE("ptrtoint i8* %%op to i64"), ops = VALUE("ptrtoint i8* %%ops to i64");
    struct zs_eu_emit_set live = {0};

    at = VALUE("sub i64 %%v%u, %%v%u", at, ops);
    switch_to(e, at, true);
    for (uint32_t i = 0; i < e->segment_count; i++) {
        const struct zs_eu_emit_segment *s = &e->segments[i];
        if (!is_entry(e, i))
            continue;
        if (!zs_eu_emit_only_starts(e, i)) {
            for (unsigned k = 0; k < ZS_EU_EMIT_SET; k++)
                live.bits[k] |= s->live.bits[k];
            continue;
        }
        zs_buf_printf(&e->body, "n%u:\n", i);
        zs_eu_emit_each_unit(e, &s->live, begin_unit);
        begin_known(e);
        LINE("br label %%s%u", i);
    }
    zs_buf_puts(&e->body, "again_in:\n");
    zs_eu_emit_each_unit(e, &live, zs_eu_emit_fill);
    switch_to(e, at, false);
}

/* ---- threads of a series ---- */

/* Messages that go by fields of the port which are a thread's own. */
static bool has_scratch(const struct zs_eu_program *p)
{
    const struct zs_port_message_row *row;

    for (size_t i = 0; i < p->sends.count; i++) {
        struct zs_eu_send guess;
        const struct zs_eu_send *send =
            zs_eu_emit_guess(p, &p->sends.items[i], &guess) ? &guess : &p->sends.items[i].send;
        const struct zs_port_message *m = send->exec ? zs_eu_send_message(send, &row) : NULL;
        if (m && m->space == ZS_PORT_SPACE_SCRATCH)
            return true;
    }
    return false;
}

bool zs_eu_emit_can_follow(const struct zs_eu_emit *e)
{
    uint32_t start = start_of(e) + e->segment_count / 2;

    return e->options.own_B && e->options.own_B % 32 == 0 && !e->options.keeps_state &&
           e->segments[start].in && e->segments[start].entry && !has_scratch(e->p);
}

/* Nothing ties threads of a group to each other, so that those of the next one may follow. */
static bool is_loose(const struct zs_eu_program *p)
{
    const struct zs_port_message_row *row;

    for (size_t i = 0; i < p->op_count; i++) {
        uint16_t kind = p->ops[i].kind;
        if (kind == ZS_EU_KIND_WAIT || kind == ZS_EU_KIND_WAIT_NAMED || kind == ZS_EU_KIND_PAIR)
            return false;
    }
    for (size_t i = 0; i < p->sends.count; i++) {
        const struct zs_eu_program_send *send = &p->sends.items[i];
        bool known = send->send.exec && zs_eu_send_message(&send->send, &row);
        if (known ? row->kind == ZS_MSG_BARRIER
                  : send->desc_is_reg && send->send.d.sfid == ZS_SFID_GTWY)
            return false;
    }
    return true;
}

/* Units of registers that are a thread's own. */
static bool is_own(const struct zs_eu_emit *e, uint32_t unit)
{
    uint32_t r0 = ZS_EU_OFFSET(grf) / 32, ids = r0 + e->p->regs.grf_B / 32;

    return unit == r0 || (unit >= ids && unit < ids + e->options.own_B / 32);
}

void zs_eu_emit_own(struct zs_eu_emit *e, void (*what)(struct zs_eu_emit *, uint32_t))
{
    for (uint32_t unit = ZS_EU_OFFSET(grf) / 32; e->follows && unit < ZS_EU_EMIT_UNITS; unit++) {
        if (is_own(e, unit))
            what(e, unit);
    }
}

void zs_eu_emit_overwrites(struct zs_eu_emit *e, uint32_t unit)
{
    const struct zs_eu_emit_set *live = &e->segments[start_of(e) + e->segment_count / 2].live;
    uint32_t end = unit + (e->kind[unit] == ZS_EU_EMIT_LOW ? 2 : 1);

    for (uint32_t at = unit; at < end; at++) {
        bool stored = e->dirty[unit];
        for (uint32_t i = 0; i < 8 && e->kind[unit] == ZS_EU_EMIT_WORDS; i++)
            stored |= e->word_dirty[unit * 8 + i];
        e->overwrites |=
            stored && !zs_eu_emit_in_head(at * 32) && zs_eu_emit_has(live, at) && !is_own(e, at);
    }
}

static void store_u64(struct zs_eu_emit *e, uint32_t at, unsigned value)
{
    LINE("store i64 %%v%u, i64* %%v%u", value, zs_eu_emit_address(e, "%t", at, "i64"));
}

/* All lanes run again, where they may have parted, or be in a function that was called. */
static void unite(struct zs_eu_emit *e)
{
    uint32_t ce = e->p->full_ce, outermost = (ZS_EU_DEPTHS - 1u) << ZS_EU_BLOCK_BITS;
    bool calls = false;

    for (size_t i = 0; i < e->p->op_count; i++)
        calls |= e->p->ops[i].kind == ZS_EU_KIND_CALL;
    if (calls)
        zs_eu_emit_set_field(e, ZS_EU_OFFSET(depth_key), VALUE("add i32 0, %u", outermost));
    if (e->full)
        return;
    zs_eu_emit_set_field(e, ZS_EU_OFFSET(waiting), VALUE("add i32 0, 0"));
    zs_eu_emit_set_field(e, ZS_EU_OFFSET(merge_block), VALUE("add i32 0, -1"));
    zs_eu_emit_set_field(e, ZS_EU_OFFSET(ce), VALUE("add i32 0, %u", ce));
    for (unsigned i = 0; i < 2; i++)
        store_u64(e, ZS_EU_OFFSET(block_count) + 8 * i,
                  VALUE("add i64 0, %llu", (unsigned long long)zs_eu_emit_counted(ce, i)));
}

void zs_eu_emit_series(struct zs_eu_emit *e)
{
    if (!e->follows)
        return;
    unsigned at = zs_eu_emit_field(e, ZS_EU_OFFSET(series.at));
    unsigned rows = zs_eu_emit_load(e, "%t", ZS_EU_OFFSET(series.rows), "i8*");
    unsigned own = zs_eu_emit_load(e, "%t", ZS_EU_OFFSET(series.own), "i8*");
    unsigned far = VALUE("zext i32 %%v%u to i64", at);

    LINE("%%at = alloca i32");
    LINE("%%row = alloca i8*");
    LINE("%%own = alloca i8*");
    LINE("%%rising = alloca i32");
    LINE("store i32 %%v%u, i32* %%at", at);
    rows = VALUE("getelementptr i8, i8* %%v%u, i64 %%v%u", rows,
                 VALUE("mul i64 %%v%u, %zu", far, sizeof(struct zs_eu_series_row)));
    LINE("store i8* %%v%u, i8** %%row", rows);
    own = VALUE("getelementptr i8, i8* %%v%u, i64 %%v%u", own,
                VALUE("mul i64 %%v%u, %u", far, e->options.own_B));
    LINE("store i8* %%v%u, i8** %%own", own);
}

static void move_to(struct zs_eu_emit *e, unsigned at, unsigned row, unsigned own)
{
    zs_eu_emit_set_field(e, ZS_EU_OFFSET(series.at), at);
    LINE("store i32 %%v%u, i32* %%at", at);
    LINE("store i8* %%v%u, i8** %%row", row);
    LINE("store i8* %%v%u, i8** %%own", own);
}

/* On to the next group's first thread, whose r0.1 is another. */
static void follow_group(struct zs_eu_emit *e, unsigned at, unsigned end)
{
    enum { GROUP_X = 4 };
    unsigned more = zs_eu_emit_label(e), none = zs_eu_emit_label(e);
    unsigned groups = zs_eu_emit_field(e, ZS_EU_OFFSET(series.groups));
    unsigned is = VALUE("icmp ne i32 %%v%u, 0", groups);

    is = VALUE("and i1 %%v%u, %%v%u", is, VALUE("icmp eq i32 %%v%u, %%v%u", at, end));
    zs_eu_emit_branch(e, is, more, none, 1);
    zs_eu_emit_put_label(e, more);
    zs_eu_emit_set_field(e, ZS_EU_OFFSET(series.groups), VALUE("sub i32 %%v%u, 1", groups));
    move_to(e, VALUE("add i32 0, 0"), zs_eu_emit_load(e, "%t", ZS_EU_OFFSET(series.rows), "i8*"),
            zs_eu_emit_load(e, "%t", ZS_EU_OFFSET(series.own), "i8*"));
    uint32_t at_x = ZS_EU_OFFSET(grf) + GROUP_X;
    unsigned x = VALUE("add i32 %%v%u, 1", zs_eu_emit_field(e, at_x));
    zs_eu_emit_set_field(e, at_x, x);
    if (e->word_used[at_x / 4] && !e->dry)
        zs_eu_emit_write_one(e, at_x, 4, x);
    unite(e);
    LINE("br label %%following");
    zs_eu_emit_put_label(e, none);
}

void zs_eu_emit_follow(struct zs_eu_emit *e)
{
    unsigned more = zs_eu_emit_label(e), last = zs_eu_emit_label(e);

    if (!e->follows)
        return;
    unsigned at = VALUE("add i32 %%v%u, 1", VALUE("load i32, i32* %%at"));
    unsigned end = zs_eu_emit_field(e, ZS_EU_OFFSET(series.end));
    zs_eu_emit_branch(e, VALUE("icmp ult i32 %%v%u, %%v%u", at, end), more, last, 1);
    zs_eu_emit_put_label(e, more);
    unsigned row = VALUE("load i8*, i8** %%row"), own = VALUE("load i8*, i8** %%own");
    row = VALUE("getelementptr i8, i8* %%v%u, i64 %zu", row, sizeof(struct zs_eu_series_row));
    move_to(e, at, row, VALUE("getelementptr i8, i8* %%v%u, i64 %u", own, e->options.own_B));
    unite(e);
    LINE("br label %%following");
    zs_eu_emit_put_label(e, last);
    if (is_loose(e->p))
        follow_group(e, at, end);
}

/* r0: what of it is another thread's in the next one's, and what was written. */
static void next_r0(struct zs_eu_emit *e, bool live)
{
    for (uint32_t i = 0; i < 8; i++) {
        uint32_t at = ZS_EU_OFFSET(grf) + 4 * i;
        bool own = e->options.own >> i & 1;
        if (!own && !(e->r0_changes >> i & 1))
            continue;
        uint64_t from = i == 2 ? offsetof(struct zs_eu_series_row, r0_2)
                               : offsetof(struct zs_eu_series_row, r0_5);
        unsigned v = own ? zs_eu_emit_load(e, "%nrow", from, "i32") : zs_eu_emit_field(e, at);
        if (e->word_used[at / 4])
            zs_eu_emit_write_one(e, at, 4, v);
        else if (live)
            zs_eu_emit_set_field(e, at, v);
    }
}

/* A unit of the next thread: what is its own goes to memory where the function does not have it. */
static void next_unit(struct zs_eu_emit *e, uint32_t unit)
{
    const struct zs_eu_emit_segment *start = &e->segments[start_of(e) + e->segment_count / 2];
    uint32_t r0 = ZS_EU_OFFSET(grf) / 32, ids = r0 + e->p->regs.grf_B / 32;
    bool live = zs_eu_emit_has(&start->live, unit);

    if (unit == r0) {
        next_r0(e, live);
    } else if (!is_own(e, unit)) {
        zs_eu_emit_set_unit(e, unit, zs_eu_emit_load(e, "%t", unit * UINT64_C(32), "<8 x i32>"));
    } else if (live) {
        unsigned v = zs_eu_emit_load(e, "%nown", (unit - ids) * UINT64_C(32), "<8 x i32>");
        if (!zs_eu_emit_set_unit(e, unit, v))
            LINE("store <8 x i32> %%v%u, <8 x i32>* %%v%u, align 32", v,
                 zs_eu_emit_address(e, "%t", unit * UINT64_C(32), "<8 x i32>"));
    }
}

/* As many units as a variable may have in common with what is the thread's own. */
static bool is_near_own(const struct zs_eu_emit *e, uint32_t unit)
{
    uint32_t r0 = ZS_EU_OFFSET(grf) / 32;
    uint32_t end = r0 + (e->p->regs.grf_B + e->options.own_B) / 32;

    return unit >= r0 && (unit < end || (unit == end && e->kind[unit] == ZS_EU_EMIT_HIGH));
}

static void forget(struct zs_eu_emit *e, uint32_t unit)
{
    if (unit != ZS_EU_OFFSET(grf) / 32) /* r0, of which most stays */
        zs_eu_emit_forget(e, unit);
}

static void begin_other(struct zs_eu_emit *e, uint32_t unit)
{
    if (!is_near_own(e, unit))
        begin_unit(e, unit);
}

/* What stands in sr0.0 and msg0. */
static void next_state(struct zs_eu_emit *e)
{
    static const struct {
        uint32_t at, from;
    } words[] = {{ZS_EU_OFFSET(sr0), offsetof(struct zs_eu_series_row, sr0_0)},
                 {ZS_EU_OFFSET(msg0), offsetof(struct zs_eu_series_row, msg0)}};

    for (unsigned i = 0; i < ZS_ARRAY_LEN(words); i++)
        zs_eu_emit_set_field(e, words[i].at, zs_eu_emit_load(e, "%nrow", words[i].from, "i32"));
}

void zs_eu_emit_next(struct zs_eu_emit *e)
{
    uint32_t start = start_of(e) + e->segment_count / 2, unit = ZS_EU_OFFSET(grf) / 32;

    if (!e->follows)
        return;
    zs_buf_puts(&e->body, "following:\n");
    store_u64(e, ZS_EU_OFFSET(budget_start), VALUE("load i64, i64* %%budget"));
    store_u64(e, ZS_EU_OFFSET(executed), VALUE("add i64 0, 0"));
    LINE("store i32 %u, i32* %%ce", e->p->full_ce);
    zs_eu_emit_none_waits(e);
    LINE("%%nrow = load i8*, i8** %%row");
    LINE("%%nown = load i8*, i8** %%own");
    unsigned rising = zs_eu_emit_load(e, "%nrow", offsetof(struct zs_eu_series_row, rising), "i32");
    LINE("store i32 %%v%u, i32* %%rising", rising);
    zs_eu_emit_set_field(e, ZS_EU_OFFSET(series.rising), rising); /* it may be left right there */
    if (e->options.own & ZS_EU_OWN_STATE)
        next_state(e);
    e->following = true;
    zs_eu_emit_each_unit(e, NULL, forget);
    zs_eu_emit_each_unit(e, &e->segments[start].live, begin_other);
    e->following = false;
    if (e->word_used[ZS_EU_OFFSET(cr0) / 4])
        LINE("store i32 0, i32* %%w%u", ZS_EU_OFFSET(cr0) / 4);
    for (; is_near_own(e, unit); unit++)
        next_unit(e, unit);
    LINE("br label %%s%u", start);
}
