/* SPDX-License-Identifier: MIT */
/*
 * Lanes that are no neighbours: evenly apart, or each at a place of its own. Structures of up to
 * four dwords are whole vectors of which each lane's dwords are picked; of larger ones, and
 * anywhere, a lane's elements are a vector, and four such vectors are transposed; what is left goes
 * element by element. Of hosts' gathers and scatters none is as fast, but of single dwords.
 */
#include "eu/tier/emit_message.h"

#include <stdio.h>

#define VALUE(...) zs_eu_emit_value(e, __VA_ARGS__)
#define LINE(...)  zs_eu_emit_line(e, __VA_ARGS__)

/* n lanes of a message: so many bytes apart from a place (i64) on, or (0) where m->at says. */
struct lanes {
    unsigned group, first;
    uint32_t step_B;
};

static unsigned pointer_of(struct zs_eu_emit *e, const struct zs_eu_emit_message *m,
                           const struct lanes *l, unsigned lane, unsigned element, const char *type)
{
    unsigned at = l->first, bits = m->wide ? 64 : 32;

    if (!l->step_B) {
        at = VALUE("extractelement <%u x i%u> %%v%u, i32 %u", m->n, bits, m->at[l->group], lane);
        at = m->wide ? at : VALUE("zext i32 %%v%u to i64", at);
    }
    return zs_eu_emit_pointer(e, m, at, lane * l->step_B + m->place_B[element], type);
}

/* Dwords of a vector, or of two; UINT32_MAX: any; NULL: in order. */
static unsigned pick(struct zs_eu_emit *e, const unsigned v[2], unsigned size,
                     const uint32_t *which, unsigned count)
{
    char order[64 * 11] = "", second[16] = "undef", number[12];

    for (unsigned i = 0, at = 0; i < count; i++) {
        uint32_t from = which ? which[i] : i;
        snprintf(number, sizeof(number), "%u", from);
        at += (unsigned)snprintf(order + at, sizeof(order) - at, "%si32 %s", i ? ", " : "",
                                 from == UINT32_MAX ? "undef" : number);
    }
    if (v[1])
        snprintf(second, sizeof(second), "%%v%u", v[1]);
    return VALUE("shufflevector <%u x i32> %%v%u, <%u x i32> %s, <%u x i32> <%s>", size, v[0], size,
                 second, count, order);
}

/* Up to four vectors of n dwords as one of 2 * n or 4 * n. */
static unsigned join(struct zs_eu_emit *e, const unsigned v[4], unsigned n, unsigned count)
{
    const unsigned half[2] = {pick(e, v, n, NULL, 2 * n),
                              v[2] ? pick(e, v + 2, n, NULL, 2 * n) : 0};
    return count == 2 * n ? half[0] : pick(e, half, 2 * n, NULL, 4 * n);
}

/* ---- whole vectors ---- */

/* All lanes' structures are such. */
static bool is_whole(const struct zs_eu_emit_message *m, uint32_t step_B)
{
    bool all = m->span_B == m->elements * 4 && m->span_B == step_B;

    return m->size_B == 4 && step_B % 4 == 0 && step_B <= 16 && m->span_B <= step_B &&
           (all || !m->writes || zs_eu_host_usable(ZS_EU_HOST_AVX512));
}

/* n of the structures' dwords that are stored; which of them are. */
static void store_part(struct zs_eu_emit *e, const struct zs_eu_emit_message *m, unsigned all,
                       unsigned part, unsigned dwords, unsigned pointer)
{
    uint32_t n = m->n, which[16], stored = 0;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t lane = (part * n + i) / dwords, place_B = (part * n + i) % dwords * 4;
        which[i] = UINT32_MAX;
        for (uint32_t k = 0; k < m->elements; k++)
            which[i] = m->place_B[k] == place_B ? k * n + lane : which[i];
        stored |= (uint32_t)(which[i] != UINT32_MAX) << i;
    }
    unsigned v = pick(e, (const unsigned[2]){all, 0}, 4 * n, which, n);
    unsigned mask = VALUE("bitcast i%u %d to <%u x i1>", n, (int)(int16_t)stored, n);
    LINE("call void @llvm.masked.store.v%ui32.p0v%ui32(<%u x i32> %%v%u, <%u x i32>* %%v%u, i32 1, "
         "<%u x i1> %%v%u)",
         n, n, n, v, n, pointer, n, mask);
}

static void move_whole(struct zs_eu_emit *e, const struct zs_eu_emit_message *m,
                       const struct lanes *l)
{
    unsigned v[4] = {0}, n = m->n, dwords = l->step_B / 4, vectors;
    uint32_t which[16];
    char type[24];

    vectors = m->writes ? m->elements : dwords;
    snprintf(type, sizeof(type), "<%u x i32>", n);
    for (unsigned i = 0; i < vectors; i++)
        v[i] = m->writes ? zs_eu_emit_from_slots(e, m, i, l->group)
                         : VALUE("load volatile %s, %s* %%v%u, align 1", type, type,
                                 zs_eu_emit_pointer(e, m, l->first, i * n * 4, type));
    unsigned all = join(e, v, n, 4 * n);
    for (unsigned i = 0; i < dwords && m->writes; i++)
        store_part(e, m, all, i, dwords, zs_eu_emit_pointer(e, m, l->first, i * n * 4, type));
    for (unsigned i = 0; i < m->elements && !m->writes; i++) {
        for (uint32_t lane = 0; lane < n; lane++)
            which[lane] = lane * dwords + m->place_B[i] / 4;
        zs_eu_emit_put_result(e, m, i, l->group,
                              pick(e, (const unsigned[2]){all, 0}, 4 * n, which, n));
    }
}

/* ---- lanes that are vectors ---- */

/* Dwords from a lane's first element to its last one. */
static unsigned dwords_of(const struct zs_eu_emit_message *m)
{
    return (m->span_B - m->place_B[0]) / 4;
}

bool zs_eu_emit_has_fours(const struct zs_eu_emit_message *m)
{
    return m->size_B == 4 && m->elements > 1 && (!m->writes || dwords_of(m) == m->elements);
}

/* Of each four dwords of two vectors two of each. */
static unsigned unpack(struct zs_eu_emit *e, unsigned n, unsigned a, unsigned b,
                       const uint8_t from[4])
{
    uint32_t which[16] = {0};

    for (uint32_t i = 0; i < n; i++)
        which[i] = i / 4 * 4 + from[i % 4] % 4 + from[i % 4] / 4 * n;
    return pick(e, (const unsigned[2]){a, b}, n, which, n);
}

/* Each four dwords of four vectors of n are a matrix. */
static void transpose(struct zs_eu_emit *e, unsigned n, unsigned v[4])
{
    static const uint8_t low[4] = {0, 4, 1, 5}, high[4] = {2, 6, 3, 7};
    static const uint8_t first[4] = {0, 1, 4, 5}, second[4] = {2, 3, 6, 7};
    unsigned a = unpack(e, n, v[0], v[1], low), b = unpack(e, n, v[0], v[1], high);
    unsigned c = unpack(e, n, v[2], v[3], low), d = unpack(e, n, v[2], v[3], high);

    v[0] = unpack(e, n, a, c, first);
    v[1] = unpack(e, n, a, c, second);
    v[2] = unpack(e, n, b, d, first);
    v[3] = unpack(e, n, b, d, second);
}

/* Every fourth lane's dwords in one vector, and the next ones' in the others. */
static void load_fours(struct zs_eu_emit *e, const struct zs_eu_emit_message *m,
                       const struct lanes *l)
{
    unsigned dwords = dwords_of(m), v[4] = {0}, part[4] = {0};
    uint32_t four[4] = {0, 1, UINT32_MAX, UINT32_MAX};
    char type[24];

    for (uint32_t i = 2; i < dwords; i++)
        four[i] = i;
    snprintf(type, sizeof(type), "<%u x i32>", dwords);
    for (unsigned i = 0; i < 4; i++) {
        for (unsigned k = 0; k < m->n / 4; k++) {
            unsigned at = pointer_of(e, m, l, 4 * k + i, 0, type);
            part[k] = VALUE("load volatile %s, %s* %%v%u, align 1", type, type, at);
            if (dwords < 4)
                part[k] = pick(e, (const unsigned[2]){part[k], 0}, dwords, four, 4);
        }
        v[i] = join(e, part, 4, m->n);
    }
    transpose(e, m->n, v);
    for (unsigned i = 0; i < m->elements; i++)
        zs_eu_emit_put_result(e, m, i, l->group, v[(m->place_B[i] - m->place_B[0]) / 4]);
}

static void store_fours(struct zs_eu_emit *e, const struct zs_eu_emit_message *m,
                        const struct lanes *l)
{
    unsigned n = m->n, v[4] = {0};
    char type[24];

    snprintf(type, sizeof(type), "<%u x i32>", m->elements);
    for (unsigned i = 0; i < 4; i++)
        v[i] = i < m->elements ? zs_eu_emit_from_slots(e, m, i, l->group) : v[0];
    transpose(e, n, v);
    for (uint32_t lane = 0; lane < n; lane++) {
        const uint32_t k = lane / 4 * 4, own[4] = {k, k + 1, k + 2, k + 3};
        unsigned mine = pick(e, (const unsigned[2]){v[lane % 4], 0}, n, own, m->elements);
        LINE("store volatile %s %%v%u, %s* %%v%u, align 1", type, mine, type,
             pointer_of(e, m, l, lane, 0, type));
    }
}

/* ---- one by one ---- */

static void move_each(struct zs_eu_emit *e, const struct zs_eu_emit_message *m,
                      const struct lanes *l, unsigned element)
{
    unsigned n = m->n, bits = 8 * m->size_B;
    unsigned v = m->writes ? zs_eu_emit_from_slots(e, m, element, l->group)
                           : VALUE("add <%u x i%u> zeroinitializer, zeroinitializer", n, bits);
    char type[16];

    snprintf(type, sizeof(type), "i%u", bits);
    for (unsigned lane = 0; lane < n; lane++) {
        unsigned at = pointer_of(e, m, l, lane, element, type);
        if (m->writes) {
            unsigned one = VALUE("extractelement <%u x %s> %%v%u, i32 %u", n, type, v, lane);
            LINE("store volatile %s %%v%u, %s* %%v%u, align 1", type, one, type, at);
        } else {
            unsigned one = VALUE("load volatile %s, %s* %%v%u, align 1", type, type, at);
            v = VALUE("insertelement <%u x %s> %%v%u, %s %%v%u, i32 %u", n, type, v, type, one,
                      lane);
        }
    }
    if (!m->writes)
        zs_eu_emit_put_result(e, m, element, l->group, v);
}

static void move_others(struct zs_eu_emit *e, const struct zs_eu_emit_message *m,
                        const struct lanes *l)
{
    if (zs_eu_emit_has_fours(m))
        (m->writes ? store_fours : load_fours)(e, m, l);
    for (unsigned i = 0; i < m->elements && !zs_eu_emit_has_fours(m); i++)
        move_each(e, m, l, i);
}

/* ---- which ---- */

bool zs_eu_emit_may_be_apart(const struct zs_eu_emit_message *m, uint32_t step_B)
{
    return (!m->writes || step_B >= m->span_B) && zs_eu_emit_all_lanes(m) && !m->is_hooked &&
           !(m->d->checks_local && zs_eu_emit_is_slm(m));
}

uint32_t zs_eu_emit_apart_B(const struct zs_eu_emit_message *m, uint32_t step_B)
{
    return is_whole(m, step_B) ? m->n * step_B : (m->n - 1) * step_B + m->span_B;
}

void zs_eu_emit_apart(struct zs_eu_emit *e, const struct zs_eu_emit_message *m, unsigned group,
                      unsigned first, uint32_t step_B)
{
    const struct lanes l = {.group = group, .first = first, .step_B = step_B};

    LINE("call void asm sideeffect \"\", \"~{memory}\"()");
    (is_whole(m, step_B) ? move_whole : move_others)(e, m, &l);
    LINE("call void asm sideeffect \"\", \"~{memory}\"()");
}

unsigned zs_eu_emit_ascends(struct zs_eu_emit *e, const struct zs_eu_emit_message *m,
                            unsigned group)
{
    unsigned bits = m->wide ? 64 : 32, n = m->n, length = 0, at = m->at[group];
    unsigned span = zs_eu_emit_splat(e, VALUE("add i%u 0, %u", bits, m->span_B), bits / 8, n);
    char next[16 * 8];

    for (unsigned i = 1; i <= n; i++)
        length += (unsigned)snprintf(next + length, sizeof(next) - length, "%si32 %u",
                                     i > 1 ? ", " : "", i % n);
    unsigned by = VALUE("shufflevector <%u x i%u> %%v%u, <%u x i%u> undef, <%u x i32> <%s>", n,
                        bits, at, n, bits, n, next);
    by = VALUE("sub <%u x i%u> %%v%u, %%v%u", n, bits, by, at);
    unsigned is = VALUE("icmp sge <%u x i%u> %%v%u, %%v%u", n, bits, by, span);
    is = VALUE("or i%u %%v%u, %d", n, VALUE("bitcast <%u x i1> %%v%u to i%u", n, is, n),
               -(1 << (n - 1))); /* none is behind the last one */
    return VALUE("icmp eq i%u %%v%u, -1", n, is);
}

void zs_eu_emit_each_lane(struct zs_eu_emit *e, const struct zs_eu_emit_message *m, unsigned group)
{
    const struct lanes l = {.group = group};

    move_others(e, m, &l);
}
