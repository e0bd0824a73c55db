/* SPDX-License-Identifier: MIT */
/*
 * Vectors that rise from lane to lane: what addresses are made of is followed through a segment, so
 * that a message looks at a number and a condition where it would look at all lanes. Sums with what
 * all lanes have alike, shifts and wider elements go back to one vector, the root, mostly an index
 * or local ids; of all messages with this root the lanes are neighbours if it rises as it has to.
 *
 * Local ids along x mostly rise by one, those along y and z are mostly alike: threads say where
 * that holds (struct zs_eu_series_row). What is known goes on into other segments, in variables.
 */
#include "eu/tier/emit.h"

#include <string.h>

#define VALUE(...) zs_eu_emit_value(e, __VA_ARGS__)
#define LINE(...)  zs_eu_emit_line(e, __VA_ARGS__)

enum { NONE = UINT32_MAX };

/* ---- what is known ---- */

static bool is_carried(const struct zs_eu_emit_carried *c, const struct zs_eu_emit_rise *r)
{
    return r->at == c->at && r->size_B == c->size_B && r->stride_B == c->size_B &&
           r->lanes == c->lanes && !r->partly && (r->known || r->alike) &&
           (r->root == NONE ? 0 : r->factor) == c->factor && r->guessed <= c->guessed;
}

static void carry(struct zs_eu_emit *e, unsigned i, unsigned condition, unsigned first)
{
    unsigned bits = 8u * e->carried[i].size_B;

    LINE("store i1 %%v%u, i1* %%fc%u", condition, i);
    LINE("store i%u %%v%u, i%u* %%ff%u", bits, first, bits, i);
}

static bool overlaps(const struct zs_eu_emit_carried *c, uint32_t at, uint32_t size_B)
{
    return at < c->at + c->lanes * c->size_B && c->at < at + size_B;
}

void zs_eu_emit_rise_forget(struct zs_eu_emit *e, uint32_t at, uint32_t size_B)
{
    for (unsigned i = 0; i < e->carried_count && !e->dry; i++) {
        if (overlaps(&e->carried[i], at, size_B))
            LINE("store i1 false, i1* %%fc%u", i);
    }
    for (unsigned i = 0; i < e->rise_count;) {
        struct zs_eu_emit_rise *r = &e->rises[i];
        for (unsigned k = 0; k < ZS_ARRAY_LEN(r->steps); k++) {
            if (at < r->steps[k].place + 8u && r->steps[k].place < at + size_B)
                r->steps[k].place = 0;
        }
        if (at < r->at + r->lanes * r->stride_B && r->at < at + size_B)
            e->rises[i] = e->rises[--e->rise_count];
        else
            i++;
    }
}

static const struct zs_eu_emit_rise *strided_at(const struct zs_eu_emit *e, uint32_t at,
                                                unsigned size_B, unsigned lanes, uint32_t stride_B)
{
    for (unsigned i = 0; i < e->rise_count; i++) {
        const struct zs_eu_emit_rise *r = &e->rises[i];
        if (r->at == at && r->size_B == size_B && r->lanes == lanes && r->stride_B == stride_B)
            return r;
    }
    return NULL;
}

const struct zs_eu_emit_rise *zs_eu_emit_rise_at(const struct zs_eu_emit *e, uint32_t at,
                                                 unsigned size_B, unsigned lanes)
{
    return strided_at(e, at, size_B, lanes, size_B);
}

/* ---- rows ---- */

static unsigned both(struct zs_eu_emit *e, unsigned a, unsigned b)
{
    return a == NONE ? b : b == NONE || a == b ? a : VALUE("and i1 %%v%u, %%v%u", a, b);
}

struct zs_eu_emit_rise zs_eu_emit_rise_itself(struct zs_eu_emit *e, unsigned vector,
                                              unsigned size_B, unsigned lanes)
{
    return (struct zs_eu_emit_rise){
        .first = VALUE("extractelement <%u x i%u> %%v%u, i32 0", lanes, 8 * size_B, vector),
        .condition = NONE,
        .root = vector,
        .root_B = (uint8_t)size_B,
        .lanes = (uint8_t)lanes,
        .factor = 1,
    };
}

static const struct zs_eu_emit_rise *alike_at(const struct zs_eu_emit *e, uint32_t at,
                                              unsigned size_B, unsigned lanes)
{
    for (unsigned i = 0; i < e->rise_count; i++) {
        const struct zs_eu_emit_rise *r = &e->rises[i];
        if (r->root == NONE && r->size_B == size_B && r->stride_B == size_B && at >= r->at &&
            at + lanes * size_B <= r->at + r->lanes * size_B)
            return r;
    }
    return NULL;
}

/* Some lanes of a vector whose lanes are alike, or two such ones, which may be. */
static bool find_alike(struct zs_eu_emit *e, uint32_t at, unsigned size_B, unsigned lanes,
                       struct zs_eu_emit_rise *ret)
{
    const struct zs_eu_emit_rise *r = alike_at(e, at, size_B, lanes), *high;

    if (!r) {
        r = alike_at(e, at, size_B, lanes / 2);
        high = alike_at(e, at + lanes / 2 * size_B, size_B, lanes / 2);
        if (!r || !high || r->partly || high->partly)
            return false;
        *ret = *r;
        ret->guessed |= high->guessed;
        ret->condition = both(e, both(e, r->condition, high->condition),
                              VALUE("icmp eq i%u %%v%u, %%v%u", 8 * size_B, r->first, high->first));
        return true;
    }
    *ret = *r;
    return !r->partly; /* other lanes have another first one */
}

/* Of a row's source, whose value of these lanes is a vector, or one element. */
static struct zs_eu_emit_rise source_of(struct zs_eu_emit *e, const struct zs_eu_op *op, unsigned i,
                                        unsigned first, unsigned lanes, const unsigned ones[3],
                                        const unsigned src[3])
{
    unsigned size_B = zs_eu_row_infos[op->kind].src_B[i];

    if (op->cls >> i & 1)
        return (struct zs_eu_emit_rise){
            .at = zs_eu_emit_in_head(op->src[i]) ? 0 : op->src[i], /* flags change unnoticed */
            .first = ones[i],
            .condition = NONE,
            .root = NONE};
    uint32_t at = op->src[i] + first * size_B;
    const struct zs_eu_emit_rise *known = zs_eu_emit_rise_at(e, at, size_B, lanes);
    struct zs_eu_emit_rise r;
    if (known)
        r = *known;
    else if (!find_alike(e, at, size_B, lanes, &r))
        return zs_eu_emit_rise_itself(e, src[i], size_B, lanes);
    r.at = at;
    r.alike = r.root == NONE;
    r.vector = src[i];
    return r;
}

static void add_step(struct zs_eu_emit_rise *r, const char *how, unsigned bits, unsigned value,
                     uint32_t place, bool is_vector)
{
    struct zs_eu_emit_rise_step step = {
        .bits = (uint8_t)bits, .place = place, .value = value, .is_vector = is_vector};

    memcpy(step.how, how, strlen(how));
    if (r->step_count < ZS_ARRAY_LEN(r->steps))
        r->steps[r->step_count] = step;
    r->step_count = (uint8_t)ZS_MIN(r->step_count + 1u, ZS_ARRAY_LEN(r->steps) + 1);
}

static bool add(struct zs_eu_emit *e, struct zs_eu_emit_rise *a, const struct zs_eu_emit_rise *b,
                const char *how, unsigned bits)
{
    unsigned first = VALUE("%s i%u %%v%u, %%v%u", how, bits, a->first, b->first);
    unsigned condition = both(e, a->condition, b->condition);

    if (b->root != NONE && (a->root != NONE || *how == 's'))
        return false;
    const struct zs_eu_emit_rise *by = b->root != NONE ? a : b;
    struct zs_eu_emit_rise sum = b->root != NONE ? *b : *a;
    add_step(&sum, how, bits, by->alike ? by->vector : by->first, by->alike ? 0 : by->at,
             by->alike);
    sum.first = first;
    sum.condition = condition;
    sum.guessed = a->guessed || b->guessed;
    sum.alike = sum.root == NONE && (a->alike || b->alike);
    *a = sum;
    return true;
}

/* By as many bits as a constant says. */
static bool shift(struct zs_eu_emit *e, const struct zs_eu_op *op, struct zs_eu_emit_rise *a,
                  unsigned bits)
{
    const uint8_t *by = zs_eu_emit_constant_at(e, op->src[1], 1);

    if (!(op->cls >> 1 & 1) || !by || *by >= 8)
        return false;
    a->first = VALUE("shl i%u %%v%u, %u", bits, a->first, *by);
    add_step(a, "shl", bits, *by, op->src[1], false);
    a->factor <<= *by;
    return a->factor <= UINT16_MAX;
}

/* To wider elements: lanes go on rising if the last one does not overflow. */
static bool extend(struct zs_eu_emit *e, struct zs_eu_emit_rise *a, unsigned from, unsigned to,
                   bool is_signed, unsigned lanes)
{
    uint64_t limit = (UINT64_C(1) << (from - is_signed)) - 1;
    uint64_t by = a->known ? ZS_EU_LANES_MAX - 1 : ZS_EU_EMIT_RISE_MAX * (lanes - 1);
    uint64_t most = a->factor * by;
    bool sure = a->known && !a->step_count && !is_signed &&
                from == 16; /* words that have risen do not wrap */

    if (most > limit)
        return false;
    if (most && !sure)
        a->condition = both(e, a->condition,
                            VALUE("icmp %s i%u %%v%u, %llu", is_signed ? "sle" : "ule", from,
                                  a->first, (unsigned long long)(limit - most)));
    add_step(a, is_signed ? "sext" : "zext", to, NONE, NONE, false);
    a->first = VALUE("%s i%u %%v%u to i%u", is_signed ? "sext" : "zext", from, a->first, to);
    return true;
}

/* By a constant; what lanes have alike by anything that they have alike. */
static bool multiply(struct zs_eu_emit *e, const struct zs_eu_op *op, struct zs_eu_emit_rise *a,
                     const struct zs_eu_emit_rise *by, unsigned bits)
{
    const uint8_t *at = zs_eu_emit_constant_at(e, op->src[1], 4);
    uint32_t factor;

    if (a->root == NONE && by->root == NONE) {
        a->first = VALUE("mul i%u %%v%u, %%v%u", bits, a->first, by->first);
        a->condition = both(e, a->condition, by->condition);
        a->guessed |= by->guessed;
        a->alike |= by->alike;
        return true;
    }
    if (!(op->cls >> 1 & 1) || !at)
        return false;
    memcpy(&factor, at, sizeof(factor));
    a->first = VALUE("mul i%u %%v%u, %%v%u", bits, a->first, by->first);
    add_step(a, "mul", bits, by->first, by->at, false);
    a->factor *= factor;
    return factor && factor <= UINT16_MAX && a->factor <= UINT16_MAX;
}

/* The high words of the third are multiplied. */
static bool multiply_on(struct zs_eu_emit *e, struct zs_eu_emit_rise a[3])
{
    if (a[0].root != NONE || a[1].root != NONE || a[2].root != NONE)
        return false;
    unsigned high = VALUE("and i32 %%v%u, -65536", a[2].first);
    high = VALUE("mul i32 %%v%u, %%v%u", a[1].first, high);
    a[0].first = VALUE("add i32 %%v%u, %%v%u", a[0].first, high);
    for (unsigned i = 1; i < 3; i++) {
        a[0].condition = both(e, a[0].condition, a[i].condition);
        a[0].guessed |= a[i].guessed;
        a[0].alike |= a[i].alike;
    }
    return true;
}

enum {
    COPIES = 1,
    ADDS = 2,
    SUBTRACTS = 4,
    EXTENDS = 8,
    EXTENDS_SIGN = 16,
    SHIFTS = 32,
    MULTIPLIES = 64,
    MULTIPLIES_ON = 128
};
static const uint8_t ways[ZS_EU_ROW_COUNT] = {
    [ZS_EU_ROW_MOV_32] = COPIES,        [ZS_EU_ROW_MOV_64] = COPIES,
    [ZS_EU_ROW_ADD_32] = ADDS,          [ZS_EU_ROW_ADD_64] = ADDS,
    [ZS_EU_ROW_ADD3_32] = ADDS,         [ZS_EU_ROW_SUB_32] = SUBTRACTS,
    [ZS_EU_ROW_MUL_32] = MULTIPLIES,    [ZS_EU_ROW_SHL_32] = SHIFTS,
    [ZS_EU_ROW_SHL_64] = SHIFTS,        [ZS_EU_ROW_S16_S32] = EXTENDS_SIGN,
    [ZS_EU_ROW_S16_S64] = EXTENDS_SIGN, [ZS_EU_ROW_S32_S64] = EXTENDS_SIGN,
    [ZS_EU_ROW_U16_U32] = EXTENDS,      [ZS_EU_ROW_U16_U64] = EXTENDS,
    [ZS_EU_ROW_U32_U64] = EXTENDS,      [ZS_EU_ROW_MACL_32] = MULTIPLIES_ON,
};

/* The write is to all lanes, or to those that run, whose first one is a channel: *ret_partly. */
static bool writes_all(const struct zs_eu_op *op, struct zs_eu_emit_mask on, unsigned first,
                       unsigned lanes, uint8_t *ret_partly)
{
    uint32_t all = (1u << lanes) - 1;

    *ret_partly = on.known ? 0 : (uint8_t)(op->chan_offset + first + 1);
    return on.known ? (on.bits >> first & all) == all
                    : op->enables == ZS_EU_OFFSET(ce) && op->predicate == ZS_EU_OFFSET(all_ones) &&
                          (op->lanes >> first & all) == all;
}

bool zs_eu_emit_rise_row(struct zs_eu_emit *e, const struct zs_eu_op *op, struct zs_eu_emit_mask on,
                         unsigned first, unsigned lanes, const unsigned ones[3],
                         const unsigned src[3], struct zs_eu_emit_rise *ret)
{
    const struct zs_eu_row_info *row = &zs_eu_row_infos[op->kind];
    unsigned way = ways[op->kind], from = 8u * row->src_B[0], to = 8u * row->dst_B;
    struct zs_eu_emit_rise a[3];
    uint8_t partly = 0;
    bool ok =
        !e->dry && op->cls != ZS_EU_CLASS_N1 && way && writes_all(op, on, first, lanes, &partly);

    for (unsigned i = 0; i < 3 && row->src_B[i] && ok; i++) {
        a[i] = source_of(e, op, i, first, lanes, ones, src);
        ok = !a[i].partly || !partly || a[i].partly == partly;
        partly |= a[i].partly;
    }
    if (way & (EXTENDS | EXTENDS_SIGN))
        ok = ok && extend(e, &a[0], from, to, way & EXTENDS_SIGN, lanes);
    if (way & SHIFTS)
        ok = ok && shift(e, op, &a[0], to);
    if (way & MULTIPLIES)
        ok = ok && multiply(e, op, &a[0], &a[1], to);
    if (way & MULTIPLIES_ON)
        ok = ok && multiply_on(e, a);
    for (unsigned i = 1; i < 3 && row->src_B[i] && way & (ADDS | SUBTRACTS); i++)
        ok = ok && add(e, &a[0], &a[i], way & ADDS ? "add" : "sub", to);
    if (!ok)
        return false;
    *ret = a[0];
    ret->factor = ret->root == NONE ? 0 : ret->factor;
    ret->at = op->dst + first * row->dst_B;
    ret->size_B = ret->stride_B = row->dst_B;
    ret->lanes = (uint8_t)lanes;
    ret->partly = partly;
    return true;
}

/* Lanes that are off keep other elements: where they are taken from the stride again those do not
 * rise, but what was moved does. */
bool zs_eu_emit_rise_move(struct zs_eu_emit *e, const struct zs_eu_op *op,
                          struct zs_eu_emit_rise *ret)
{
    bool gathers = op->kind == ZS_EU_KIND_GATHER;
    unsigned size_B = 1u << op->cls, lanes = 8u * op->chunks;
    uint32_t from_B = gathers ? op->src[1] : size_B, to_B = gathers ? size_B : op->src[1];
    uint8_t partly = 0;

    if (e->dry || size_B < 4 || lanes > 16 || to_B > 16 ||
        (!gathers && !writes_all(op, zs_eu_emit_active(e, op), 0, lanes, &partly)))
        return false;
    const struct zs_eu_emit_rise *known = strided_at(e, op->src[0], size_B, lanes, from_B);
    if (!known && gathers)
        return false;
    *ret = known ? *known
                 : zs_eu_emit_rise_itself(e, zs_eu_emit_read(e, op->src[0], size_B, lanes), size_B,
                                          lanes);
    if (ret->partly && partly && ret->partly != partly)
        return false;
    ret->at = op->dst;
    ret->size_B = (uint8_t)size_B;
    ret->stride_B = (uint8_t)to_B;
    ret->partly |= partly;
    return true;
}

static void add_known(struct zs_eu_emit *e, const struct zs_eu_emit_rise *rise)
{
    if (e->rise_count < ZS_ARRAY_LEN(e->rises))
        e->rises[e->rise_count++] = *rise;
}

void zs_eu_emit_rise_add(struct zs_eu_emit *e, const struct zs_eu_emit_rise *rise)
{
    add_known(e, rise);
    for (unsigned i = 0; i < e->carried_count; i++) {
        if (is_carried(&e->carried[i], rise))
            carry(e, i, both(e, VALUE("add i1 0, 1"), rise->condition), rise->first);
    }
}

/* ---- segments ---- */

/* The thread's own vectors: rows of local ids, those along x first. */
static void begin_thread(struct zs_eu_emit *e)
{
    unsigned n = e->p->full_ce > 0xff ? 16 : 8, lanes = e->p->full_ce > 0xffff ? 32 : n;
    unsigned along_B = ZS_MAX(2 * lanes, (unsigned)e->p->regs.grf_B);

    for (unsigned i = 0; i < e->options.own_B / 32 && i < ZS_EU_RISING_ALIKE; i++) {
        if (!zs_eu_emit_may_rise(e, i))
            continue;
        unsigned at = ZS_EU_OFFSET(grf) + e->p->regs.grf_B + 32 * i;
        bool alike = 32 * i >= along_B;
        struct zs_eu_emit_rise r = zs_eu_emit_rise_itself(e, zs_eu_emit_read(e, at, 2, n), 2, n);
        unsigned bit = VALUE("and i32 %%v%u, %u", VALUE("load i32, i32* %%rising"),
                             1u << (i + (alike ? ZS_EU_RISING_ALIKE : 0)));
        r.at = at;
        r.size_B = r.stride_B = 2;
        r.known = !alike;
        r.alike = r.guessed = alike;
        r.root = alike ? NONE : r.root;
        r.factor = !alike;
        r.bit = (uint8_t)i;
        r.condition = VALUE("icmp ne i32 %%v%u, 0", bit);
        add_known(e, &r);
    }
}

static void begin_carried(struct zs_eu_emit *e, unsigned i)
{
    const struct zs_eu_emit_carried *c = &e->carried[i];
    unsigned bits = 8u * c->size_B, vector = zs_eu_emit_read(e, c->at, c->size_B, c->lanes);
    const struct zs_eu_emit_rise r = {
        .at = c->at,
        .size_B = c->size_B,
        .lanes = c->lanes,
        .root_B = c->size_B,
        .stride_B = c->size_B,
        .known = c->factor != 0,
        .bit = UINT8_MAX,
        .alike = !c->factor,
        .guessed = c->guessed,
        .vector = vector,
        .factor = c->factor,
        .first = VALUE("load i%u, i%u* %%ff%u", bits, bits, i),
        .condition = VALUE("load i1, i1* %%fc%u", i),
        .root = c->factor ? vector : NONE,
    };
    add_known(e, &r);
}

static bool has_all(const struct zs_eu_emit_set *set, const struct zs_eu_emit_carried *c)
{
    bool all = true;

    for (uint32_t unit = c->at / 32; unit * 32 < c->at + c->lanes * c->size_B; unit++)
        all &= zs_eu_emit_has(set, unit);
    return all;
}

static bool reads_all(const struct zs_eu_emit_segment *s, const struct zs_eu_emit_carried *c)
{
    struct zs_eu_emit_set reads = {0};

    for (unsigned how = 0; how < ZS_EU_EMIT_HOWS; how++) {
        for (unsigned i = 0; i < ZS_EU_EMIT_SET; i++)
            reads.bits[i] |= s->reads[how].bits[i] | s->looks[how].bits[i];
    }
    return has_all(&reads, c);
}

void zs_eu_emit_rise_begin(struct zs_eu_emit *e)
{
    const struct zs_eu_emit_segment *s = &e->segments[e->segment];

    e->rise_count = 0;
    if (e->dry)
        return;
    for (unsigned i = 0; i < e->carried_count && s->entry; i++)
        LINE("store i1 false, i1* %%fc%u", i);
    if (zs_eu_emit_only_starts(e, e->segment))
        begin_thread(e);
    for (unsigned i = 0; i < e->carried_count && !s->entry; i++) {
        if (has_all(&s->live, &e->carried[i]) && reads_all(s, &e->carried[i]))
            begin_carried(e, i);
    }
}

void zs_eu_emit_rise_end(struct zs_eu_emit *e)
{
    uint32_t to[ZS_EU_EMIT_SUCCESSORS], half = e->segment_count / 2;
    struct zs_eu_emit_set live = {0};
    unsigned count;

    if (e->dry || e->in_memory || !zs_eu_emit_successors(e, e->segment, to, &count))
        return;
    for (unsigned i = 0; i < count; i++) {
        for (unsigned k = 0; k < ZS_EU_EMIT_SET; k++)
            live.bits[k] |=
                (e->segments[to[i]].in ? e->segments[to[i]].live.bits[k] : 0) |
                (e->segments[to[i] + half].in ? e->segments[to[i] + half].live.bits[k] : 0);
    }
    for (unsigned i = 0; i < e->rise_count; i++) {
        const struct zs_eu_emit_rise *r = &e->rises[i];
        const struct zs_eu_emit_carried c = {.at = r->at,
                                             .factor = r->root == NONE ? 0 : r->factor,
                                             .size_B = r->size_B,
                                             .lanes = r->lanes,
                                             .guessed = r->guessed};
        bool has = r->size_B < 4 || !is_carried(&c, r) || !has_all(&live, &c);
        for (unsigned k = 0; k < e->carried_count && !has; k++)
            has = is_carried(&e->carried[k], r);
        if (!has && e->carried_count < ZS_ARRAY_LEN(e->carried))
            e->carried[e->carried_count++] = c;
    }
}

void zs_eu_emit_rise_find(struct zs_eu_emit *e, void (*write)(struct zs_eu_emit *e))
{
    unsigned before = UINT32_MAX;

    e->carried_count = 0;
    for (unsigned i = 0; i < 3 && !e->in_memory && e->carried_count != before; i++) {
        before = e->carried_count; /* of what is carried more follows */
        write(e);
    }
}

void zs_eu_emit_rise_variables(struct zs_eu_emit *e)
{
    for (unsigned i = 0; i < e->carried_count; i++) {
        LINE("%%fc%u = alloca i1", i);
        LINE("%%ff%u = alloca i%u", i, 8u * e->carried[i].size_B);
    }
}

/* ---- messages ---- */

static unsigned by_of(struct zs_eu_emit *e, const struct zs_eu_emit_rise_step *s)
{
    return strcmp(s->how, "shl") ? s->value : VALUE("add i%u 0, %u", s->bits, s->value);
}

unsigned zs_eu_emit_rise_both(struct zs_eu_emit *e, const struct zs_eu_emit_rise *low,
                              const struct zs_eu_emit_rise *high, unsigned step)
{
    bool alike = low->known && high->known && !low->partly && !high->partly &&
                 high->bit == low->bit + 1 && low->lanes == 16 && low->factor == step &&
                 high->factor == step && low->step_count == high->step_count &&
                 low->step_count <= ZS_ARRAY_LEN(low->steps);

    for (unsigned i = 0; alike && i < low->step_count; i++) {
        const struct zs_eu_emit_rise_step *a = &low->steps[i], *b = &high->steps[i];
        alike = memcmp(a->how, b->how, sizeof(a->how)) == 0 && a->bits == b->bits && a->place &&
                a->place == b->place;
    }
    if (!alike)
        return NONE;
    unsigned bit = VALUE("and i32 %%v%u, %u", VALUE("load i32, i32* %%rising"),
                         1u << (ZS_EU_RISING_ON + low->bit));
    return both(e, VALUE("icmp ne i32 %%v%u, 0", bit), low->condition);
}

void zs_eu_emit_rise_again(struct zs_eu_emit *e, uint32_t at, unsigned size_B, unsigned lanes)
{
    const struct zs_eu_emit_rise *known = zs_eu_emit_rise_at(e, at, size_B, lanes);

    if (!known || known->partly || known->alike || !known->step_count ||
        known->step_count > ZS_ARRAY_LEN(known->steps))
        return;
    const struct zs_eu_emit_rise r = *known; /* writing forgets it */
    unsigned v = r.root == NONE ? zs_eu_emit_splat(e, r.first, size_B, lanes) : r.root;
    unsigned bits = 8u * r.root_B;
    for (unsigned i = 0; i < r.step_count && r.root != NONE; i++) {
        const struct zs_eu_emit_rise_step *s = &r.steps[i];
        if (s->is_vector)
            v = VALUE("%s <%u x i%u> %%v%u, %%v%u", s->how, lanes, s->bits, v, s->value);
        else if (s->value == NONE)
            v = VALUE("%s <%u x i%u> %%v%u to <%u x i%u>", s->how, lanes, bits, v, lanes, s->bits);
        else
            v = VALUE("%s <%u x i%u> %%v%u, %%v%u", s->how, lanes, s->bits, v,
                      zs_eu_emit_splat(e, by_of(e, s), s->bits / 8, lanes));
        bits = s->bits;
    }
    zs_eu_emit_write(e, at, size_B, lanes, v);
    zs_eu_emit_rise_add(e, &r);
}

unsigned zs_eu_emit_rising(struct zs_eu_emit *e, unsigned vector, unsigned first, unsigned bits,
                           unsigned lanes, unsigned step)
{
    unsigned id = e->next++;

    if (!e->dry) {
        zs_buf_printf(&e->body, "  %%v%u = add <%u x i%u> %%v%u, <", id, lanes, bits, first);
        for (unsigned i = 0; i < lanes; i++)
            zs_buf_printf(&e->body, "%si%u %u", i ? ", " : "", bits, step * i);
        zs_buf_puts(&e->body, ">\n");
    }
    return VALUE("icmp eq <%u x i%u> %%v%u, %%v%u", lanes, bits, vector, id);
}

bool zs_eu_emit_may_rise_by(const struct zs_eu_emit_rise *r, unsigned step)
{
    if (r->root == NONE) /* lanes are alike */
        return !step;
    return step % r->factor == 0 && step / r->factor <= ZS_EU_EMIT_RISE_MAX &&
           (!r->known || step == r->factor);
}

unsigned zs_eu_emit_rise_by(struct zs_eu_emit *e, const struct zs_eu_emit_rise *r, unsigned step)
{
    unsigned n = r->lanes, bits = 8u * r->root_B;

    if (r->root == NONE)
        return both(e, VALUE("add i1 0, 1"), r->condition);
    if (r->known)
        return r->condition;
    unsigned first = VALUE("extractelement <%u x i%u> %%v%u, i32 0", n, bits, r->root);
    unsigned is = zs_eu_emit_rising(e, r->root, zs_eu_emit_splat(e, first, r->root_B, n), bits, n,
                                    step / r->factor);
    is = VALUE("icmp eq i%u %%v%u, -1", n, VALUE("bitcast <%u x i1> %%v%u to i%u", n, is, n));
    return both(e, is, r->condition);
}
