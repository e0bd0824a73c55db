/* SPDX-License-Identifier: MIT */
/* Values of LLVM's language from bytes of the thread, and back (emit.c has the picture). */
#include "eu/tier/emit.h"

#include <string.h>

/* ---- values ---- */

unsigned zs_eu_emit_value(struct zs_eu_emit *e, const char *format, ...)
{
    unsigned id = e->next++;
    va_list args;

    if (e->dry)
        return id;
    zs_buf_printf(&e->body, "  %%v%u = ", id);
    va_start(args, format);
    zs_buf_vprintf(&e->body, format, args);
    va_end(args);
    zs_buf_putc(&e->body, '\n');
    return id;
}
#define VALUE(...) zs_eu_emit_value(e, __VA_ARGS__)

void zs_eu_emit_line(struct zs_eu_emit *e, const char *format, ...)
{
    va_list args;

    if (e->dry)
        return;
    zs_buf_puts(&e->body, "  ");
    va_start(args, format);
    zs_buf_vprintf(&e->body, format, args);
    va_end(args);
    zs_buf_putc(&e->body, '\n');
}
#define LINE(...) zs_eu_emit_line(e, __VA_ARGS__)

unsigned zs_eu_emit_label(struct zs_eu_emit *e)
{
    return e->label++;
}

void zs_eu_emit_put_label(struct zs_eu_emit *e, unsigned label)
{
    if (e->dry)
        return;
    zs_buf_printf(&e->body, "l%u:\n", label);
}

/* ---- what is touched ---- */

void zs_eu_emit_lanes_at(struct zs_eu_emit *e, const struct zs_eu_op *op, uint32_t at,
                         unsigned size_B)
{
    bool masked = op->enables == ZS_EU_OFFSET(ce);

    e->lane_at = masked ? at : UINT32_MAX;
    e->dwords = 0xff;
    e->lane_B = size_B;
    e->lane_channel = op->chan_offset;
}

void zs_eu_emit_lanes_end(struct zs_eu_emit *e)
{
    e->lane_at = UINT32_MAX;
    e->dwords = 0xff;
}

void zs_eu_emit_halves(struct zs_eu_emit *e, unsigned first)
{
    e->dwords = first ? 0xaa : 0x55;
}

/* The first of the ways, or the only one. */
static enum zs_eu_emit_how how(struct zs_eu_emit *e, uint32_t unit)
{
    if (e->lane_at == UINT32_MAX || e->lane_B < 2 || unit >= ZS_EU_EMIT_UNITS)
        return ZS_EU_EMIT_WHOLE;
    unsigned how = e->lane_B == 2   ? ZS_EU_EMIT_LANES_2
                   : e->lane_B == 4 ? ZS_EU_EMIT_LANES_4
                                    : ZS_EU_EMIT_LANES_8;
    int first = ((int)(unit * 32) - (int)e->lane_at) / (int)e->lane_B + (int)e->lane_channel;
    uint8_t mine = (uint8_t)(first + 1);
    if (!e->lane_of[how][unit])
        e->lane_of[how][unit] = mine;
    if (e->lane_of[how][unit] != mine || (int)(unit * 32 - e->lane_at) % (int)e->lane_B)
        zs_eu_emit_add(&e->mixed[how], unit);
    return zs_eu_emit_has(&e->mixed[how], unit) ? ZS_EU_EMIT_WHOLE : (enum zs_eu_emit_how)how;
}

/* Dwords of a unit that there are in a way. */
static unsigned dwords_in(unsigned how)
{
    return how == ZS_EU_EMIT_LANES_8 ? 0x55 : how == ZS_EU_EMIT_LANES_8_HIGH ? 0xaa : 0xff;
}

/* Dwords of a unit that bytes have something of, or all of. */
static unsigned dwords_of(const struct zs_eu_emit *e, uint32_t unit, uint32_t at, uint32_t size_B,
                          bool all)
{
    uint32_t round_B = all ? 3 : 0, end = at + size_B, mask = 0;

    for (uint32_t i = 0; i < 8; i++) {
        uint32_t dword = unit * 32 + i * 4;
        mask |= (uint32_t)(dword + 3 >= at + round_B && dword + round_B < end) << i;
    }
    return mask & e->dwords;
}

void zs_eu_emit_reads(struct zs_eu_emit *e, uint32_t at, uint32_t size_B)
{
    struct zs_eu_emit_segment *s = &e->segments[e->segment];

    for (uint32_t unit = at / 32; size_B && unit <= (at + size_B - 1) / 32; unit++) {
        unsigned by = how(e, unit), last = by == ZS_EU_EMIT_LANES_8 ? by + 1 : by;
        if (e->quiet || unit >= ZS_EU_EMIT_UNITS)
            continue;
        for (; by <= last; by++) {
            unsigned dwords = dwords_of(e, unit, at, size_B, false) & dwords_in(by);
            if (dwords)
                zs_eu_emit_add(&s->looks[by], unit);
            if (dwords & ~(unsigned)(e->cover[ZS_EU_EMIT_WHOLE][unit] | e->cover[by][unit]))
                zs_eu_emit_add(&s->reads[by], unit);
        }
    }
}

static void written(struct zs_eu_emit *e, uint32_t at, uint32_t size_B, bool whole)
{
    struct zs_eu_emit_segment *s = &e->segments[e->segment];

    for (uint32_t unit = at / 32; size_B && unit <= (at + size_B - 1) / 32; unit++) {
        unsigned by = how(e, unit);
        if (e->quiet || unit >= ZS_EU_EMIT_UNITS || (!whole && by == ZS_EU_EMIT_WHOLE))
            continue;
        uint8_t dwords = (uint8_t)dwords_of(e, unit, at, size_B, true);
        e->cover[whole ? ZS_EU_EMIT_WHOLE : by][unit] |= dwords;
        if (!whole && by == ZS_EU_EMIT_LANES_8)
            e->cover[ZS_EU_EMIT_LANES_8_HIGH][unit] |= dwords;
        for (unsigned i = 0; i < ZS_EU_EMIT_HOWS; i++) {
            if (!(dwords_in(i) & ~(unsigned)(e->cover[i][unit] | e->cover[ZS_EU_EMIT_WHOLE][unit])))
                zs_eu_emit_add(&s->writes[i], unit);
        }
    }
}

void zs_eu_emit_writes(struct zs_eu_emit *e, uint32_t at, uint32_t size_B)
{
    written(e, at, size_B, true);
}

void zs_eu_emit_writes_lanes(struct zs_eu_emit *e, uint32_t at, uint32_t size_B)
{
    written(e, at, size_B, false);
}

static void count_vectors(struct zs_eu_emit *e, uint32_t at, uint32_t size_B)
{
    for (uint32_t unit = at / 32; unit <= (at + size_B - 1) / 32; unit++)
        e->vectors[unit]++;
    for (uint32_t part = at; at % 32 == 0 && size_B % 64 == 0 && part < at + size_B; part += 64)
        e->pairs[part / 32]++;
}

static void one_touched(struct zs_eu_emit *e, uint32_t at, uint32_t size_B, bool writes)
{
    e->ones[at / 32]++;
    for (uint32_t word = at / 4; word <= (at + size_B - 1) / 4; word++) {
        e->word_used[word] = 1;
        e->word_dirty[word] |= writes;
    }
}

void zs_eu_emit_reset_units(struct zs_eu_emit *e)
{
    memset(e->vectors, 0, sizeof(e->vectors));
    memset(e->pairs, 0, sizeof(e->pairs));
    memset(e->ones, 0, sizeof(e->ones));
    memset(e->used, 0, sizeof(e->used));
    memset(e->dirty, 0, sizeof(e->dirty));
    memset(e->word_used, 0, sizeof(e->word_used));
    memset(e->word_dirty, 0, sizeof(e->word_dirty));
    memset(e->place_used, 0, sizeof(e->place_used));
    memset(e->result_used, 0, sizeof(e->result_used));
    e->uses_lane_arrays = false;
    memset(e->area_used, 0, sizeof(e->area_used));
    memset(e->area_span, 0, sizeof(e->area_span));
    for (uint32_t unit = 0; unit < ZS_EU_EMIT_UNITS; unit++)
        e->kind[unit] = unit < ZS_EU_EMIT_HEAD_B / 32 ? ZS_EU_EMIT_WORDS : ZS_EU_EMIT_SINGLE;
}

/* What is used of a variable is what is used of its units. */
static void join_pair(struct zs_eu_emit *e, uint32_t low)
{
    e->kind[low] = ZS_EU_EMIT_LOW;
    e->kind[low + 1] = ZS_EU_EMIT_HIGH;
    e->used[low] |= e->used[low + 1];
    e->dirty[low] |= e->dirty[low + 1];
    e->used[low + 1] = e->dirty[low + 1] = 0;
}

void zs_eu_emit_choose_units(struct zs_eu_emit *e)
{
    uint32_t r0 = ZS_EU_OFFSET(grf) / 32;

    for (uint32_t unit = 0; unit < ZS_EU_EMIT_UNITS; unit++) {
        bool words = unit < ZS_EU_EMIT_HEAD_B / 32 || (e->ones[unit] && !e->vectors[unit]);
        e->kind[unit] = words ? ZS_EU_EMIT_WORDS : ZS_EU_EMIT_SINGLE;
    }
    if (e->follows) { /* few of its dwords are other ones in the next thread */
        e->kind[r0] = ZS_EU_EMIT_WORDS;
        for (uint32_t i = r0 * 8; i < r0 * 8 + 8 && e->vectors[r0]; i++) {
            e->word_used[i] = 1;
            e->word_dirty[i] |= e->dirty[r0];
        }
    }
    /* those that are taken together most often first */
    for (;;) {
        uint32_t best = 0;
        unsigned most = 0;
        for (uint32_t unit = 0; unit + 1 < ZS_EU_EMIT_UNITS; unit++) {
            if (e->pairs[unit] > most && e->kind[unit] == ZS_EU_EMIT_SINGLE &&
                e->kind[unit + 1] == ZS_EU_EMIT_SINGLE) {
                best = unit;
                most = e->pairs[unit];
            }
        }
        if (!most)
            return;
        join_pair(e, best);
    }
}

/* ---- variables ---- */

/* A vector's variable has the number of its first unit. */
static uint32_t variable_of(const struct zs_eu_emit *e, uint32_t unit)
{
    return unit - (e->kind[unit] == ZS_EU_EMIT_HIGH);
}

static unsigned lanes_of(const struct zs_eu_emit *e, uint32_t unit)
{
    return e->kind[unit] == ZS_EU_EMIT_SINGLE ? 8 : 16;
}

static unsigned load_variable(struct zs_eu_emit *e, uint32_t unit)
{
    unsigned lanes = lanes_of(e, unit);

    e->used[variable_of(e, unit)] = 1;
    return VALUE("load <%u x i32>, <%u x i32>* %%c%u, align 32", lanes, lanes,
                 variable_of(e, unit));
}

static void store_variable(struct zs_eu_emit *e, uint32_t unit, unsigned value)
{
    unsigned lanes = lanes_of(e, unit);

    e->used[variable_of(e, unit)] = e->dirty[variable_of(e, unit)] = 1;
    LINE("store <%u x i32> %%v%u, <%u x i32>* %%c%u, align 32", lanes, value, lanes,
         variable_of(e, unit));
}

unsigned zs_eu_emit_half(struct zs_eu_emit *e, unsigned value, unsigned size_B, unsigned half)
{
    unsigned bits = 8 * size_B, i = 8 * half;

    return VALUE("shufflevector <16 x i%u> %%v%u, <16 x i%u> undef, <8 x i32> <i32 %u, i32 %u, "
                 "i32 %u, i32 %u, i32 %u, i32 %u, i32 %u, i32 %u>",
                 bits, value, bits, i, i + 1, i + 2, i + 3, i + 4, i + 5, i + 6, i + 7);
}

unsigned zs_eu_emit_join(struct zs_eu_emit *e, unsigned low, unsigned high, unsigned size_B)
{
    return VALUE("shufflevector <8 x i%u> %%v%u, <8 x i%u> %%v%u, <16 x i32> <i32 0, i32 1, i32 2, "
                 "i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, "
                 "i32 14, i32 15>",
                 8 * size_B, low, 8 * size_B, high);
}

static unsigned load_word(struct zs_eu_emit *e, uint32_t at)
{
    e->word_used[at / 4] = 1;
    return VALUE("load i32, i32* %%w%u", at / 4);
}

static void store_word(struct zs_eu_emit *e, uint32_t at, unsigned value)
{
    e->word_used[at / 4] = e->word_dirty[at / 4] = 1;
    LINE("store i32 %%v%u, i32* %%w%u", value, at / 4);
}

/* A unit as eight dwords. */
static unsigned load_unit(struct zs_eu_emit *e, uint32_t unit)
{
    if (e->kind[unit] == ZS_EU_EMIT_WORDS) { /* only of what the data port is given */
        unsigned v = VALUE("add <8 x i32> zeroinitializer, zeroinitializer");
        for (unsigned i = 0; i < 8; i++)
            v = VALUE("insertelement <8 x i32> %%v%u, i32 %%v%u, i32 %u", v,
                      load_word(e, unit * 32 + i * 4), i);
        return v;
    }
    unsigned v = load_variable(e, unit);
    return e->kind[unit] == ZS_EU_EMIT_SINGLE
               ? v
               : zs_eu_emit_half(e, v, 4, e->kind[unit] == ZS_EU_EMIT_HIGH);
}

static void store_unit(struct zs_eu_emit *e, uint32_t unit, unsigned value)
{
    if (e->kind[unit] == ZS_EU_EMIT_WORDS) {
        for (unsigned i = 0; i < 8; i++)
            store_word(e, unit * 32 + i * 4,
                       VALUE("extractelement <8 x i32> %%v%u, i32 %u", value, i));
        return;
    }
    if (e->kind[unit] != ZS_EU_EMIT_SINGLE) {
        bool high = e->kind[unit] == ZS_EU_EMIT_HIGH;
        unsigned other = zs_eu_emit_half(e, load_variable(e, unit), 4, !high);
        value = zs_eu_emit_join(e, high ? other : value, high ? value : other, 4);
    }
    store_variable(e, unit, value);
}

/* A dword of the thread by itself. */
unsigned zs_eu_emit_word(struct zs_eu_emit *e, uint32_t at)
{
    if (at >= ZS_EU_EMIT_HEAD_B)
        return zs_eu_emit_read_one(e, at, 4);
    return load_word(e, at);
}

void zs_eu_emit_set_word(struct zs_eu_emit *e, uint32_t at, unsigned value)
{
    if (at >= ZS_EU_EMIT_HEAD_B)
        zs_eu_emit_write_one(e, at, 4, value);
    else
        store_word(e, at, value);
}

/* Its variables are the thread's own bytes. */
static bool is_in_memory(const struct zs_eu_emit *e, uint32_t unit)
{
    uint32_t file = ZS_EU_OFFSET(grf) / 32;

    return e->in_memory && unit >= file && unit < file + zs_eu_file_B(e->p) / 32;
}

void zs_eu_emit_spill(struct zs_eu_emit *e, uint32_t unit)
{
    if (is_in_memory(e, unit))
        return;
    if (e->kind[unit] == ZS_EU_EMIT_WORDS) {
        for (uint32_t i = unit * 8; i < unit * 8 + 8; i++) {
            if (!e->word_dirty[i])
                continue;
            unsigned at = zs_eu_emit_address(e, "%t", i * UINT64_C(4), "i32");
            LINE("store i32 %%v%u, i32* %%v%u", VALUE("load i32, i32* %%w%u", i), at);
        }
        return;
    }
    uint32_t first = variable_of(e, unit);
    unsigned lanes = lanes_of(e, unit);
    if (!e->dirty[first])
        return;
    unsigned value = VALUE("load <%u x i32>, <%u x i32>* %%c%u", lanes, lanes, first);
    unsigned at =
        zs_eu_emit_address(e, "%t", first * UINT64_C(32), lanes == 8 ? "<8 x i32>" : "<16 x i32>");
    LINE("store <%u x i32> %%v%u, <%u x i32>* %%v%u, align 32", lanes, value, lanes, at);
}

/* Of a thread that follows what none has written is there still. */
static bool begins_anew(const struct zs_eu_emit *e, bool used, bool dirty)
{
    return used && (dirty || !e->following);
}

void zs_eu_emit_fill(struct zs_eu_emit *e, uint32_t unit)
{
    zs_eu_emit_rise_forget(e, unit * 32, e->kind[unit] == ZS_EU_EMIT_LOW ? 64 : 32);
    if (is_in_memory(e, unit))
        return;
    if (e->kind[unit] == ZS_EU_EMIT_WORDS) {
        for (uint32_t i = unit * 8; i < unit * 8 + 8; i++) {
            if (!begins_anew(e, e->word_used[i], e->word_dirty[i]))
                continue;
            unsigned at = zs_eu_emit_address(e, "%t", i * UINT64_C(4), "i32");
            LINE("store i32 %%v%u, i32* %%w%u", VALUE("load i32, i32* %%v%u", at), i);
        }
        return;
    }
    uint32_t first = variable_of(e, unit);
    unsigned lanes = lanes_of(e, unit);
    if (!begins_anew(e, e->used[first], e->dirty[first]))
        return;
    unsigned at =
        zs_eu_emit_address(e, "%t", first * UINT64_C(32), lanes == 8 ? "<8 x i32>" : "<16 x i32>");
    unsigned value = VALUE("load <%u x i32>, <%u x i32>* %%v%u, align 32", lanes, lanes, at);
    LINE("store <%u x i32> %%v%u, <%u x i32>* %%c%u", lanes, value, lanes, first);
}

static void store_constant(struct zs_eu_emit *e, uint32_t unit, const char *word,
                           const char *vector)
{
    if (is_in_memory(e, unit))
        return;
    if (e->kind[unit] == ZS_EU_EMIT_WORDS) {
        for (uint32_t i = unit * 8; i < unit * 8 + 8; i++) {
            if (begins_anew(e, e->word_used[i], e->word_dirty[i]))
                LINE("store i32 %s, i32* %%w%u", word, i);
        }
        return;
    }
    uint32_t first = variable_of(e, unit);
    if (begins_anew(e, e->used[first], e->dirty[first]))
        LINE("store <%u x i32> %s, <%u x i32>* %%c%u", lanes_of(e, unit), vector, lanes_of(e, unit),
             first);
}

void zs_eu_emit_clear(struct zs_eu_emit *e, uint32_t unit)
{
    store_constant(e, unit, "0", "zeroinitializer");
}

void zs_eu_emit_clear_temporaries(struct zs_eu_emit *e)
{
    uint32_t end = (ZS_EU_OFFSET(sink) + ZS_EU_TEMP_B) / 32;

    for (uint32_t unit = ZS_EU_OFFSET(temp) / 32; unit < end; unit++)
        zs_eu_emit_clear(e, unit);
}

void zs_eu_emit_forget(struct zs_eu_emit *e, uint32_t unit)
{
    store_constant(e, unit, "undef", "undef");
}

bool zs_eu_emit_set_unit(struct zs_eu_emit *e, uint32_t unit, unsigned value)
{
    bool whole = true;

    if (e->kind[unit] == ZS_EU_EMIT_WORDS) {
        for (unsigned i = 0; i < 8; i++) {
            whole &= e->word_used[unit * 8 + i];
            if (e->word_used[unit * 8 + i])
                LINE("store i32 %%v%u, i32* %%w%u",
                     VALUE("extractelement <8 x i32> %%v%u, i32 %u", value, i), unit * 8 + i);
        }
        return whole;
    }
    if (!e->used[variable_of(e, unit)])
        return false;
    store_unit(e, unit, value);
    return true;
}

void zs_eu_emit_mark_dirty(struct zs_eu_emit *e, uint32_t unit)
{
    e->dirty[variable_of(e, unit)] = e->used[variable_of(e, unit)];
    memcpy(e->word_dirty + unit * 8, e->word_used + unit * 8, 8);
}

static void variable(struct zs_eu_emit *e, char kind, uint32_t number, uint32_t at,
                     const char *type)
{
    if (is_in_memory(e, at / 32))
        LINE("%%%c%u = bitcast i8* %%v%u to %s*", kind, number,
             VALUE("getelementptr i8, i8* %%t, i64 %u", at), type);
    else
        LINE("%%%c%u = alloca %s", kind, number, type);
}

void zs_eu_emit_variables(struct zs_eu_emit *e)
{
    for (uint32_t unit = 0; unit < ZS_EU_EMIT_UNITS; unit++) {
        if (e->kind[unit] != ZS_EU_EMIT_WORDS && e->used[unit])
            variable(e, 'c', unit, unit * 32, lanes_of(e, unit) == 8 ? "<8 x i32>" : "<16 x i32>");
        for (uint32_t i = unit * 8; i < unit * 8 + 8; i++) {
            if (e->word_used[i])
                variable(e, 'w', i, i * 4, "i32");
        }
    }
}

const uint8_t *zs_eu_emit_constant_at(const struct zs_eu_emit *e, uint32_t at, uint32_t size_B)
{
    uint32_t start = ZS_EU_OFFSET(constant);

    if (at < start || at + size_B > start + ZS_EU_CONST_B)
        return NULL;
    return e->p->constant + (at - start);
}

static void put_mask(struct zs_buf *buf, const int *lanes, unsigned count)
{
    zs_buf_printf(buf, "<%u x i32> <", count);
    for (unsigned i = 0; i < count; i++) {
        if (lanes[i] < 0)
            zs_buf_printf(buf, "%si32 undef", i ? ", " : "");
        else
            zs_buf_printf(buf, "%si32 %d", i ? ", " : "", lanes[i]);
    }
    zs_buf_puts(buf, ">");
}

/* shufflevector of vectors of `in` elements; b UINT_MAX: none. */
static unsigned shuffle(struct zs_eu_emit *e, const char *type, unsigned in, unsigned a, unsigned b,
                        const int *lanes, unsigned out)
{
    unsigned id = e->next++;

    if (e->dry)
        return id;
    zs_buf_printf(&e->body, "  %%v%u = shufflevector <%u x %s> %%v%u, <%u x %s> ", id, in, type, a,
                  in, type);
    if (b == UINT32_MAX)
        zs_buf_puts(&e->body, "undef, ");
    else
        zs_buf_printf(&e->body, "%%v%u, ", b);
    put_mask(&e->body, lanes, out);
    zs_buf_putc(&e->body, '\n');
    return id;
}

/* A unit as bytes or dwords. */
static unsigned load_unit_as(struct zs_eu_emit *e, uint32_t unit, bool bytes)
{
    unsigned id = load_unit(e, unit);

    return bytes ? VALUE("bitcast <8 x i32> %%v%u to <32 x i8>", id) : id;
}

static void store_unit_as(struct zs_eu_emit *e, uint32_t unit, unsigned value, bool bytes)
{
    if (bytes)
        value = VALUE("bitcast <32 x i8> %%v%u to <8 x i32>", value);
    store_unit(e, unit, value);
}

/* Bytes of the constants as a vector. */
static unsigned literal(struct zs_eu_emit *e, const uint8_t *bytes, uint32_t size_B)
{
    unsigned id = e->next++;

    if (e->dry)
        return id;
    zs_buf_printf(&e->body, "  %%v%u = bitcast <%u x i8> <", id, size_B);
    for (uint32_t i = 0; i < size_B; i++)
        zs_buf_printf(&e->body, "%si8 %u", i ? ", " : "", bytes[i]);
    zs_buf_printf(&e->body, "> to <%u x i8>\n", size_B);
    return id;
}

static unsigned read_eight(struct zs_eu_emit *e, uint32_t at, unsigned size_B)
{
    uint32_t total = 8 * size_B, first = at / 32, last = (at + total - 1) / 32;
    bool bytes = at % 4 != 0 || total % 4 != 0;
    const char *type = bytes ? "i8" : "i32";
    unsigned unit = bytes ? 1 : 4, in = 32 / unit, out = total / unit, id;
    int lanes[64];

    for (unsigned i = 0; i < out; i++)
        lanes[i] = (int)(at % 32 / unit + i);
    unsigned a = load_unit_as(e, first, bytes);
    if (first == last) {
        id = at % 32 == 0 && total == 32 ? a : shuffle(e, type, in, a, UINT32_MAX, lanes, out);
    } else if (last == first + 1) {
        id = shuffle(e, type, in, a, load_unit_as(e, last, bytes), lanes, out);
    } else {
        int all[64];
        for (int i = 0; i < 64; i++)
            all[i] = i < (int)(2 * in) ? i : -1;
        unsigned low = shuffle(e, type, in, a, load_unit_as(e, first + 1, bytes), all, 2 * in);
        for (unsigned i = in; i < 2 * in; i++)
            all[i] = -1;
        unsigned high = shuffle(e, type, in, load_unit_as(e, last, bytes), UINT32_MAX, all, 2 * in);
        id = shuffle(e, type, 2 * in, low, high, lanes, out);
    }
    return VALUE("bitcast <%u x %s> %%v%u to <8 x i%u>", out, type, id, 8 * size_B);
}

/* The bytes are one variable. */
static bool is_pair(const struct zs_eu_emit *e, uint32_t at, uint32_t total)
{
    return at % 32 == 0 && total == 64 && e->kind[at / 32] == ZS_EU_EMIT_LOW;
}

/* Elements among the head's dwords. */
static unsigned read_words(struct zs_eu_emit *e, uint32_t at, unsigned size_B, unsigned lanes)
{
    unsigned count = lanes * size_B / 4;
    unsigned v = VALUE("add <%u x i32> zeroinitializer, zeroinitializer", count);

    for (unsigned i = 0; i < count; i++)
        v = VALUE("insertelement <%u x i32> %%v%u, i32 %%v%u, i32 %u", count, v,
                  load_word(e, at + 4 * i), i);
    return VALUE("bitcast <%u x i32> %%v%u to <%u x i%u>", count, v, lanes, 8 * size_B);
}

static void write_words(struct zs_eu_emit *e, uint32_t at, unsigned size_B, unsigned lanes,
                        unsigned v)
{
    unsigned count = lanes * size_B / 4;

    v = VALUE("bitcast <%u x i%u> %%v%u to <%u x i32>", lanes, 8 * size_B, v, count);
    for (unsigned i = 0; i < count; i++)
        store_word(e, at + 4 * i, VALUE("extractelement <%u x i32> %%v%u, i32 %u", count, v, i));
}

static unsigned read_some(struct zs_eu_emit *e, uint32_t at, unsigned size_B, unsigned lanes)
{
    if (zs_eu_emit_in_head(at))
        return read_words(e, at, size_B, lanes);
    const uint8_t *constant = zs_eu_emit_constant_at(e, at, lanes * size_B);

    if (constant) {
        unsigned id = literal(e, constant, lanes * size_B);
        return VALUE("bitcast <%u x i8> %%v%u to <%u x i%u>", lanes * size_B, id, lanes,
                     8 * size_B);
    }
    if (is_pair(e, at, lanes * size_B))
        return VALUE("bitcast <16 x i32> %%v%u to <%u x i%u>", load_variable(e, at / 32), lanes,
                     8 * size_B);
    if (lanes == 8)
        return read_eight(e, at, size_B);
    unsigned low = read_some(e, at, size_B, 8), high = read_some(e, at + 8 * size_B, size_B, 8);
    return zs_eu_emit_join(e, low, high, size_B);
}

unsigned zs_eu_emit_read(struct zs_eu_emit *e, uint32_t at, unsigned size_B, unsigned lanes)
{
    if (e->dry && !zs_eu_emit_constant_at(e, at, lanes * size_B)) {
        zs_eu_emit_reads(e, at, lanes * size_B);
        count_vectors(e, at, lanes * size_B);
    }
    return read_some(e, at, size_B, lanes);
}

bool zs_eu_emit_others_read(struct zs_eu_emit *e, uint32_t at, uint32_t size_B, bool rest)
{
    bool read = e->dry, waits = !e->segments[e->segment].full;

    for (uint32_t unit = at / 32; !read && unit <= (at + size_B - 1) / 32; unit++) {
        unsigned by = how(e, unit), last = by == ZS_EU_EMIT_LANES_8 ? by + 1 : by;
        if (rest) /* one of the halves is not written */
            by = last = e->dwords == dwords_in(last) ? last : by;
        read = by == ZS_EU_EMIT_WHOLE || (waits && zs_eu_emit_has(&e->join, unit));
        for (unsigned i = 0; i < ZS_EU_EMIT_HOWS && !read; i++)
            read = (i < by || i > last) && zs_eu_emit_has(&e->later[i], unit);
    }
    return read;
}

bool zs_eu_emit_partly(const struct zs_eu_op *op, unsigned first, unsigned lanes)
{
    bool selects = op->kind < ZS_EU_ROW_COUNT && zs_eu_row_infos[op->kind].form == ZS_EU_FORM_SEL;
    uint32_t all = lanes == 32 ? UINT32_MAX : (1u << lanes) - 1;

    return (op->predicate != ZS_EU_OFFSET(all_ones) && !selects) ||
           (op->lanes >> first & all) != all;
}

bool zs_eu_emit_keeps(struct zs_eu_emit *e, const struct zs_eu_op *op, uint32_t at, uint32_t size_B,
                      unsigned first, unsigned lanes)
{
    return zs_eu_emit_partly(op, first, lanes) || op->enables != ZS_EU_OFFSET(ce) ||
           zs_eu_emit_others_read(e, at, size_B, false);
}

unsigned zs_eu_emit_read_old(struct zs_eu_emit *e, uint32_t at, unsigned size_B, unsigned lanes)
{
    if (e->dry)
        count_vectors(e, at, lanes * size_B);
    return read_some(e, at, size_B, lanes);
}

static void write_eight(struct zs_eu_emit *e, uint32_t at, unsigned size_B, unsigned value)
{
    uint32_t total = 8 * size_B;
    bool bytes = at % 4 != 0 || total % 4 != 0;
    const char *type = bytes ? "i8" : "i32";
    unsigned unit = bytes ? 1 : 4, in = 32 / unit, count = total / unit;

    value = VALUE("bitcast <8 x i%u> %%v%u to <%u x %s>", 8 * size_B, value, count, type);
    for (uint32_t cell = at / 32; cell <= (at + total - 1) / 32; cell++) {
        int place[32], blend[32];
        bool whole = true;
        for (unsigned i = 0; i < in; i++) {
            int from = (int)(cell * in + i) - (int)(at / unit);
            bool mine = from >= 0 && from < (int)count;
            place[i] = mine ? from : -1;
            blend[i] = mine ? (int)(in + i) : (int)i;
            whole = whole && mine;
        }
        unsigned new = shuffle(e, type, count, value, UINT32_MAX, place, in);
        if (!whole)
            new = shuffle(e, type, in, load_unit_as(e, cell, bytes), new, blend, in);
        store_unit_as(e, cell, new, bytes);
    }
}

static void write_some(struct zs_eu_emit *e, uint32_t at, unsigned size_B, unsigned lanes,
                       unsigned value)
{
    if (zs_eu_emit_in_head(at)) {
        write_words(e, at, size_B, lanes, value);
    } else if (is_pair(e, at, lanes * size_B)) {
        store_variable(e, at / 32,
                       VALUE("bitcast <%u x i%u> %%v%u to <16 x i32>", lanes, 8 * size_B, value));
    } else if (lanes == 8) {
        write_eight(e, at, size_B, value);
    } else {
        write_some(e, at, size_B, 8, zs_eu_emit_half(e, value, size_B, 0));
        write_some(e, at + 8 * size_B, size_B, 8, zs_eu_emit_half(e, value, size_B, 1));
    }
}

void zs_eu_emit_write(struct zs_eu_emit *e, uint32_t at, unsigned size_B, unsigned lanes,
                      unsigned value)
{
    if (e->dry) {
        zs_eu_emit_writes(e, at, lanes * size_B);
        count_vectors(e, at, lanes * size_B);
    }
    zs_eu_emit_rise_forget(e, at, lanes * size_B);
    write_some(e, at, size_B, lanes, value);
}

static bool is_words(const struct zs_eu_emit *e, uint32_t at)
{
    return e->kind[at / 32] == ZS_EU_EMIT_WORDS;
}

bool zs_eu_emit_can_scalar(uint32_t at, unsigned size_B)
{
    if (size_B == 8)
        return at % 4 == 0;
    return at % size_B == 0;
}

/* A dword or qword of a vector. */
static unsigned element_of(struct zs_eu_emit *e, uint32_t at, unsigned size_B)
{
    unsigned lanes = lanes_of(e, at / 32), vector = load_variable(e, at / 32), bits = 8 * size_B;

    if (size_B == 8)
        vector = VALUE("bitcast <%u x i32> %%v%u to <%u x i64>", lanes, vector, lanes / 2);
    return VALUE("extractelement <%u x i%u> %%v%u, i32 %u", lanes * 4 / size_B, bits, vector,
                 (at - variable_of(e, at / 32) * 32) / size_B);
}

/* One element, as an integer of its size. */
unsigned zs_eu_emit_read_one(struct zs_eu_emit *e, uint32_t at, unsigned size_B)
{
    const uint8_t *constant = zs_eu_emit_constant_at(e, at, size_B);
    unsigned bits = 8 * size_B;

    if (constant) {
        uint64_t value = 0;
        memcpy(&value, constant, size_B);
        return VALUE("add i%u 0, %llu", bits, (unsigned long long)value);
    }
    if (size_B == 8 && (at % 8 || is_words(e, at))) {
        unsigned low = zs_eu_emit_read_one(e, at, 4), high = zs_eu_emit_read_one(e, at + 4, 4);
        low = VALUE("zext i32 %%v%u to i64", low);
        high = VALUE("zext i32 %%v%u to i64", high);
        high = VALUE("shl i64 %%v%u, 32", high);
        return VALUE("or i64 %%v%u, %%v%u", low, high);
    }
    if (e->dry && !is_words(e, at)) {
        zs_eu_emit_lanes_end(e);
        zs_eu_emit_reads(e, at, size_B);
        one_touched(e, at, size_B, false);
    }
    unsigned word = size_B == 8       ? element_of(e, at, 8)
                    : is_words(e, at) ? load_word(e, at)
                                      : element_of(e, at, 4);
    if (size_B >= 4)
        return word;
    word = VALUE("lshr i32 %%v%u, %u", word, at % 4 * 8);
    return VALUE("trunc i32 %%v%u to i%u", word, bits);
}

void zs_eu_emit_write_one(struct zs_eu_emit *e, uint32_t at, unsigned size_B, unsigned value)
{
    unsigned bits = 8 * size_B;

    zs_eu_emit_rise_forget(e, at, size_B);
    if (size_B == 8 && (at % 8 || is_words(e, at))) {
        unsigned low = VALUE("trunc i64 %%v%u to i32", value);
        value = VALUE("lshr i64 %%v%u, 32", value);
        value = VALUE("trunc i64 %%v%u to i32", value);
        zs_eu_emit_write_one(e, at, 4, low);
        zs_eu_emit_write_one(e, at + 4, 4, value);
        return;
    }
    if (is_words(e, at)) {
        if (size_B < 4) {
            uint32_t mask = ((1u << bits) - 1) << at % 4 * 8;
            unsigned old = VALUE("and i32 %%v%u, %u", load_word(e, at), ~mask);
            value = VALUE("zext i%u %%v%u to i32", bits, value);
            value = VALUE("shl i32 %%v%u, %u", value, at % 4 * 8);
            value = VALUE("or i32 %%v%u, %%v%u", old, value);
        }
        store_word(e, at, value);
        return;
    }
    if (e->dry) {
        zs_eu_emit_lanes_end(e);
        zs_eu_emit_writes(e, at, size_B);
        one_touched(e, at, size_B, true);
    }
    unsigned lanes = lanes_of(e, at / 32), vector = load_variable(e, at / 32);
    uint32_t to = at - variable_of(e, at / 32) * 32;
    if (size_B != 4)
        vector = VALUE("bitcast <%u x i32> %%v%u to <%u x i%u>", lanes, vector, lanes * 4 / size_B,
                       bits);
    vector = VALUE("insertelement <%u x i%u> %%v%u, i%u %%v%u, i32 %u", lanes * 4 / size_B, bits,
                   vector, bits, value, to / size_B);
    if (size_B != 4)
        vector = VALUE("bitcast <%u x i%u> %%v%u to <%u x i32>", lanes * 4 / size_B, bits, vector,
                       lanes);
    store_variable(e, at / 32, vector);
}

unsigned zs_eu_emit_splat(struct zs_eu_emit *e, unsigned one, unsigned size_B, unsigned lanes)
{
    unsigned bits = 8 * size_B;
    unsigned id = VALUE("insertelement <%u x i%u> undef, i%u %%v%u, i32 0", lanes, bits, bits, one);

    return VALUE("shufflevector <%u x i%u> %%v%u, <%u x i%u> undef, <%u x i32> zeroinitializer",
                 lanes, bits, id, lanes, bits, lanes);
}
