/* SPDX-License-Identifier: MIT */
/* Values of LLVM's language from bytes of the thread, and back (emit.c has the picture). */
#include "eu/emit.h"

#include <string.h>

/* ---- values ---- */

unsigned zs_eu_emit_value(struct zs_eu_emit *e, const char *format, ...)
{
    unsigned id = e->next++;
    va_list args;

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
    zs_buf_printf(&e->body, "l%u:\n", label);
}

static unsigned load_cell(struct zs_eu_emit *e, uint32_t cell)
{
    e->used[cell] = 1;
    return VALUE("load <8 x i32>, <8 x i32>* %%c%u", cell);
}

static void store_cell(struct zs_eu_emit *e, uint32_t cell, unsigned value)
{
    e->used[cell] = e->dirty[cell] = 1;
    LINE("store <8 x i32> %%v%u, <8 x i32>* %%c%u", value, cell);
}

/* A dword of the head; or, as the flags that are written to nowhere, of any other part. */
unsigned zs_eu_emit_word(struct zs_eu_emit *e, uint32_t at)
{
    if (at >= ZS_EU_EMIT_HEAD_B)
        return zs_eu_emit_read_one(e, at, 4);
    e->word_used[at / 4] = 1;
    return VALUE("load i32, i32* %%h%u", at / 4);
}

void zs_eu_emit_set_word(struct zs_eu_emit *e, uint32_t at, unsigned value)
{
    if (at >= ZS_EU_EMIT_HEAD_B) {
        zs_eu_emit_write_one(e, at, 4, value);
        return;
    }
    e->word_used[at / 4] = e->word_dirty[at / 4] = 1;
    LINE("store i32 %%v%u, i32* %%h%u", value, at / 4);
}

/* Wholly among the program's constants. */
static const uint8_t *constant_at(const struct zs_eu_emit *e, uint32_t at, uint32_t size_B)
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

/* Cells as bytes or dwords: how many there are in one. */
static unsigned load_cell_as(struct zs_eu_emit *e, uint32_t cell, bool bytes)
{
    unsigned id = load_cell(e, cell);

    return bytes ? VALUE("bitcast <8 x i32> %%v%u to <32 x i8>", id) : id;
}

static void store_cell_as(struct zs_eu_emit *e, uint32_t cell, unsigned value, bool bytes)
{
    if (bytes)
        value = VALUE("bitcast <32 x i8> %%v%u to <8 x i32>", value);
    store_cell(e, cell, value);
}

/* Bytes of the constants as a vector. */
static unsigned literal(struct zs_eu_emit *e, const uint8_t *bytes, uint32_t size_B)
{
    unsigned id = e->next++;

    zs_buf_printf(&e->body, "  %%v%u = bitcast <%u x i8> <", id, size_B);
    for (uint32_t i = 0; i < size_B; i++)
        zs_buf_printf(&e->body, "%si8 %u", i ? ", " : "", bytes[i]);
    zs_buf_printf(&e->body, "> to <%u x i8>\n", size_B);
    return id;
}

/* Eight elements from a place. */
unsigned zs_eu_emit_read(struct zs_eu_emit *e, uint32_t at, unsigned size_B)
{
    uint32_t total = 8 * size_B, first = at / 32, last = (at + total - 1) / 32;
    const uint8_t *constant = constant_at(e, at, total);
    bool bytes = at % 4 != 0;
    const char *type = bytes ? "i8" : "i32";
    unsigned unit = bytes ? 1 : 4, in = 32 / unit, out = total / unit, id;
    int lanes[64];

    if (constant) {
        id = literal(e, constant, total);
        return VALUE("bitcast <%u x i8> %%v%u to <8 x i%u>", total, id, 8 * size_B);
    }
    for (unsigned i = 0; i < out; i++)
        lanes[i] = (int)(at % 32 / unit + i);
    unsigned a = load_cell_as(e, first, bytes);
    if (first == last) {
        id = at % 32 == 0 && total == 32 ? a : shuffle(e, type, in, a, UINT32_MAX, lanes, out);
    } else if (last == first + 1) {
        id = shuffle(e, type, in, a, load_cell_as(e, last, bytes), lanes, out);
    } else {
        int all[64];
        for (int i = 0; i < 64; i++)
            all[i] = i < (int)(2 * in) ? i : -1;
        unsigned low = shuffle(e, type, in, a, load_cell_as(e, first + 1, bytes), all, 2 * in);
        for (unsigned i = in; i < 2 * in; i++)
            all[i] = -1;
        unsigned high = shuffle(e, type, in, load_cell_as(e, last, bytes), UINT32_MAX, all, 2 * in);
        id = shuffle(e, type, 2 * in, low, high, lanes, out);
    }
    return VALUE("bitcast <%u x %s> %%v%u to <8 x i%u>", out, type, id, 8 * size_B);
}

/* Eight elements to a place. */
void zs_eu_emit_write(struct zs_eu_emit *e, uint32_t at, unsigned size_B, unsigned value)
{
    uint32_t total = 8 * size_B;
    bool bytes = at % 4 != 0;
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
            new = shuffle(e, type, in, load_cell_as(e, cell, bytes), new, blend, in);
        store_cell_as(e, cell, new, bytes);
    }
}

bool zs_eu_emit_can_scalar(uint32_t at, unsigned size_B)
{
    if (size_B == 8)
        return at % 4 == 0;
    return at % size_B == 0;
}

/* One element, as an integer of its size. */
unsigned zs_eu_emit_read_one(struct zs_eu_emit *e, uint32_t at, unsigned size_B)
{
    const uint8_t *constant = constant_at(e, at, size_B);
    unsigned bits = 8 * size_B;

    if (constant) {
        uint64_t value = 0;
        memcpy(&value, constant, size_B);
        return VALUE("add i%u 0, %llu", bits, (unsigned long long)value);
    }
    if (size_B == 8 && (at % 8 || zs_eu_emit_in_head(at))) {
        unsigned low = zs_eu_emit_read_one(e, at, 4), high = zs_eu_emit_read_one(e, at + 4, 4);
        low = VALUE("zext i32 %%v%u to i64", low);
        high = VALUE("zext i32 %%v%u to i64", high);
        high = VALUE("shl i64 %%v%u, 32", high);
        return VALUE("or i64 %%v%u, %%v%u", low, high);
    }
    if (zs_eu_emit_in_head(at)) {
        unsigned word = zs_eu_emit_word(e, at);
        if (size_B == 4)
            return word;
        word = VALUE("lshr i32 %%v%u, %u", word, at % 4 * 8);
        return VALUE("trunc i32 %%v%u to i%u", word, bits);
    }
    unsigned cell = load_cell(e, at / 32);
    if (size_B != 4)
        cell = VALUE("bitcast <8 x i32> %%v%u to <%u x i%u>", cell, 32 / size_B, bits);
    return VALUE("extractelement <%u x i%u> %%v%u, i32 %u", 32 / size_B, bits, cell,
                 at % 32 / size_B);
}

void zs_eu_emit_write_one(struct zs_eu_emit *e, uint32_t at, unsigned size_B, unsigned value)
{
    unsigned bits = 8 * size_B;

    if (size_B == 8 && (at % 8 || zs_eu_emit_in_head(at))) {
        unsigned low = VALUE("trunc i64 %%v%u to i32", value);
        value = VALUE("lshr i64 %%v%u, 32", value);
        value = VALUE("trunc i64 %%v%u to i32", value);
        zs_eu_emit_write_one(e, at, 4, low);
        zs_eu_emit_write_one(e, at + 4, 4, value);
        return;
    }
    if (zs_eu_emit_in_head(at)) {
        if (size_B < 4) {
            uint32_t mask = ((1u << bits) - 1) << at % 4 * 8;
            unsigned old = VALUE("and i32 %%v%u, %u", zs_eu_emit_word(e, at), ~mask);
            value = VALUE("zext i%u %%v%u to i32", bits, value);
            value = VALUE("shl i32 %%v%u, %u", value, at % 4 * 8);
            value = VALUE("or i32 %%v%u, %%v%u", old, value);
        }
        zs_eu_emit_set_word(e, at, value);
        return;
    }
    unsigned cell = load_cell(e, at / 32);
    if (size_B != 4)
        cell = VALUE("bitcast <8 x i32> %%v%u to <%u x i%u>", cell, 32 / size_B, bits);
    cell = VALUE("insertelement <%u x i%u> %%v%u, i%u %%v%u, i32 %u", 32 / size_B, bits, cell, bits,
                 value, at % 32 / size_B);
    if (size_B != 4)
        cell = VALUE("bitcast <%u x i%u> %%v%u to <8 x i32>", 32 / size_B, bits, cell);
    store_cell(e, at / 32, cell);
}

unsigned zs_eu_emit_splat(struct zs_eu_emit *e, unsigned one, unsigned size_B)
{
    unsigned bits = 8 * size_B;
    unsigned id = VALUE("insertelement <8 x i%u> undef, i%u %%v%u, i32 0", bits, bits, one);

    return VALUE("shufflevector <8 x i%u> %%v%u, <8 x i%u> undef, <8 x i32> zeroinitializer", bits,
                 id, bits);
}
