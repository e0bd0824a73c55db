/* SPDX-License-Identifier: MIT */
/*
 * Locations in words. The expression is run once per lane with symbols instead of values; what the
 * lanes have in common is then said once: "r12-r13, 4 bytes per lane (lanes 0-15)".
 *
 * Where the outcome depends on the contents of memory, or lanes follow no simple rule, what it is
 * computed from is said.
 */
#include "base/buf.h"
#include "dwarf/dwarf_priv.h"
#include "dwarf/expr_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LANES_MAX = 32,
    INPUTS_MAX = 6,
    TAG_SHIFT = 56,
    LOCAL_TAG = 0x0a,
    LOCAL_B_LOG2 = 18, /* IGC from 1.0.17791 on has local memory so large, untagged, behind 2^28 */
    LOCAL_BIT = 28 - LOCAL_B_LOG2,
    LOCAL_OFFSET = (1 << 28) - 1,
};

struct register_row {
    uint32_t first, count, index;
    enum zs_dwarf_register_file file;
    const char *name;
};

static const struct register_row register_rows[] = {
#define ZS_DWARF_REGISTER(upper, name, first, count, index)                                        \
    {first, count, index, ZS_DWREG_##upper, name},
#include <zescope/dwarf_registers.def>
#undef ZS_DWARF_REGISTER
};

static const struct register_row *find_register(uint64_t number)
{
    for (size_t i = 0; i < ZS_ARRAY_LEN(register_rows); i++)
        if (number >= register_rows[i].first &&
            number - register_rows[i].first < register_rows[i].count)
            return &register_rows[i];
    return NULL;
}

struct zs_dwarf_register zs_dwarf_register(uint64_t number)
{
    const struct register_row *row = find_register(number);
    if (!row)
        return (struct zs_dwarf_register){0};
    enum zs_dwarf_register_file file = row->file == ZS_DWREG_GRF_HIGH ? ZS_DWREG_GRF : row->file;
    return (struct zs_dwarf_register){file, (uint32_t)(number - row->first) + row->index};
}

void zs_dwarf_register_name(uint64_t number, char *ret_text, size_t size_B)
{
    const struct register_row *row = find_register(number);
    if (!row)
        snprintf(ret_text, size_B, "DWARF register %" PRIu64, number);
    else if (row->count == 1)
        snprintf(ret_text, size_B, "%s", row->name);
    else
        snprintf(ret_text, size_B, "%s%u", row->name, (uint32_t)(number - row->first) + row->index);
}

/* ---- one register operand ---- */

static char size_letter(uint64_t bits)
{
    return bits == 8 ? 'b' : bits == 16 ? 'w' : bits == 32 ? 'd' : bits == 64 ? 'q' : 0;
}

/* "r8.6:d": the number behind the dot counts elements of the size. */
static void put_register(struct zs_buf *out, uint64_t number, uint64_t bit_offset, uint64_t bits,
                         uint32_t grf_B)
{
    char name[64];
    bool grf = zs_dwarf_register(number).file == ZS_DWREG_GRF;
    if (grf) {
        number += bit_offset / (grf_B * 8);
        bit_offset %= grf_B * 8;
    }
    zs_dwarf_register_name(number, name, sizeof(name));
    zs_buf_puts(out, name);
    char letter = size_letter(bits);
    if (!grf && bit_offset == 0)
        return;
    if (letter && bit_offset % bits == 0)
        zs_buf_printf(out, ".%" PRIu64 ":%c", bit_offset / bits, letter);
    else if (bit_offset)
        zs_buf_printf(out, ", bit %" PRIu64, bit_offset);
}

/* Registers that [first bit, end bit) of the register file touch: "r12-r13". */
static void put_register_span(struct zs_buf *out, uint64_t first_bit, uint64_t end_bit,
                              uint32_t grf_B)
{
    uint64_t first = first_bit / (grf_B * 8), last = (end_bit - 1) / (grf_B * 8);
    zs_buf_printf(out, "r%" PRIu64, first);
    if (first_bit % (grf_B * 8))
        zs_buf_printf(out, " from byte %" PRIu64, first_bit % (grf_B * 8) / 8);
    if (last != first)
        zs_buf_printf(out, "-r%" PRIu64, last);
}

/* ---- lanes ---- */

struct describe {
    struct zs_buf out;
    uint32_t simd, grf_B;
    uint64_t object_B;
    struct zs_sym_result lanes[LANES_MAX];
    struct zs_eval_result spare;
};

static bool same_sym(const struct zs_sym *a, const struct zs_sym *b)
{
    if (a->terms != b->terms || a->opaque != b->opaque)
        return false;
    for (uint32_t i = 0; i < a->terms; i++)
        if (a->term[i].dwarf_register != b->term[i].dwarf_register ||
            a->term[i].bit_offset != b->term[i].bit_offset || a->term[i].bits != b->term[i].bits)
            return false;
    return true;
}

/* Where a piece lies, as one number that lanes may advance: a bit of the register file, a byte of
 * memory. */
static bool piece_position(const struct zs_sym_piece *p, uint32_t grf_B, uint64_t *ret_position)
{
    const struct zs_piece *piece = &p->piece;
    if (piece->kind == ZS_PIECE_MEMORY) {
        *ret_position = piece->gpu_va;
        return !p->sym.opaque;
    }
    if (piece->kind != ZS_PIECE_REGISTER && !piece->from_register)
        return false;
    struct zs_dwarf_register reg = zs_dwarf_register(piece->dwarf_register);
    *ret_position = (uint64_t)reg.index * grf_B * 8 + piece->bit_offset;
    return reg.file == ZS_DWREG_GRF;
}

static bool in_register(const struct zs_piece *piece)
{
    return piece->kind == ZS_PIECE_REGISTER || piece->from_register;
}

static bool same_kind(const struct zs_sym_piece *a, const struct zs_sym_piece *b)
{
    if (a->piece.kind != b->piece.kind || a->piece.size_bits != b->piece.size_bits ||
        in_register(&a->piece) != in_register(&b->piece))
        return false;
    return in_register(&a->piece) || same_sym(&a->sym, &b->sym);
}

static bool equal_pieces(const struct zs_sym_piece *a, const struct zs_sym_piece *b)
{
    return same_kind(a, b) && a->piece.dwarf_register == b->piece.dwarf_register &&
           a->piece.bit_offset == b->piece.bit_offset && a->piece.gpu_va == b->piece.gpu_va &&
           a->piece.value == b->piece.value && a->piece.bytes.data == b->piece.bytes.data;
}

/* "scratch base + r3.0:q + 128" */
static void put_sum(struct describe *d, const struct zs_sym *sym)
{
    for (uint32_t i = 0; i < sym->terms; i++) {
        if (i)
            zs_buf_puts(&d->out, " + ");
        put_register(&d->out, sym->term[i].dwarf_register, sym->term[i].bit_offset,
                     sym->term[i].bits, d->grf_B);
    }
    if (!sym->terms)
        zs_buf_printf(&d->out, "0x%" PRIx64, sym->value);
    else if ((int64_t)sym->value < 0)
        zs_buf_printf(&d->out, " - %" PRIu64, 0 - sym->value);
    else if (sym->value)
        zs_buf_printf(&d->out, " + %" PRIu64, sym->value);
}

static void put_bytes(struct describe *d, struct zs_span bytes)
{
    uint64_t value = 0;
    if (bytes.size_B <= 8) {
        for (size_t i = 0; i < bytes.size_B; i++)
            value |= (uint64_t)bytes.data[i] << (8 * i);
        if (d->object_B && d->object_B < 8)
            value &= (UINT64_C(1) << (8 * d->object_B)) - 1;
        zs_buf_printf(&d->out, value < 10 ? "constant %" PRIu64 : "constant 0x%" PRIx64, value);
        return;
    }
    zs_buf_puts(&d->out, "constant bytes");
    for (size_t i = 0; i < ZS_MIN(bytes.size_B, (size_t)32); i++)
        zs_buf_printf(&d->out, " %02x", bytes.data[i]);
    if (bytes.size_B > 32)
        zs_buf_puts(&d->out, " ...");
}

/* A piece that is the same in all lanes. */
static void put_uniform(struct describe *d, const struct zs_sym_piece *p)
{
    const struct zs_piece *piece = &p->piece;
    uint64_t bits = piece->size_bits;
    if (piece->kind == ZS_PIECE_EMPTY) {
        zs_buf_puts(&d->out, "not there");
    } else if (piece->kind == ZS_PIECE_BYTES) {
        put_bytes(d, piece->bytes);
    } else if (in_register(piece)) {
        bool grf = zs_dwarf_register(piece->dwarf_register).file == ZS_DWREG_GRF;
        uint64_t object_bits = bits ? bits : d->object_B <= 8 ? d->object_B * 8 : 0;
        put_register(&d->out, piece->dwarf_register, piece->bit_offset, object_bits, d->grf_B);
        if (grf && !size_letter(object_bits) && bits)
            zs_buf_printf(&d->out, ", %" PRIu64 " bytes", bits / 8);
    } else if (piece->kind == ZS_PIECE_VALUE) {
        zs_buf_puts(&d->out, p->sym.terms ? "value " : "constant ");
        put_sum(d, &p->sym);
    } else if (!p->sym.terms && (p->sym.value >> TAG_SHIFT == LOCAL_TAG ||
                                 p->sym.value >> LOCAL_B_LOG2 == UINT64_C(1) << LOCAL_BIT)) {
        zs_buf_printf(&d->out, "local memory at 0x%" PRIx64, p->sym.value & LOCAL_OFFSET);
    } else {
        zs_buf_puts(&d->out, "memory at ");
        put_sum(d, &p->sym);
    }
}

/* Lanes [first, end) advance by `stride` from lane to lane. */
static void put_lanes(struct describe *d, uint32_t index, uint32_t first, uint32_t end,
                      uint64_t stride)
{
    const struct zs_sym_piece *p = &d->lanes[first].pieces[index];
    uint64_t position = 0;
    (void)piece_position(p, d->grf_B, &position);
    if (in_register(&p->piece)) {
        uint64_t bits = p->piece.size_bits ? p->piece.size_bits : stride;
        put_register_span(&d->out, position, position + stride * (end - first - 1) + bits,
                          d->grf_B);
        if (bits % 8)
            zs_buf_printf(&d->out, ", %" PRIu64 " bits per lane", bits);
        else
            zs_buf_printf(&d->out, ", %" PRIu64 " byte%s per lane", bits / 8, bits == 8 ? "" : "s");
        if (stride != bits)
            zs_buf_printf(&d->out, ", lanes %" PRIu64 " bytes apart", stride / 8);
    } else {
        zs_buf_puts(&d->out, "memory at ");
        put_sum(d, &p->sym);
        zs_buf_printf(&d->out, " + %" PRIu64 " x lane", stride);
        if (first)
            zs_buf_printf(&d->out, " - %u", first);
    }
    if (first != 0 || end != d->simd)
        zs_buf_printf(&d->out, " (lanes %u-%u)", first, end - 1);
}

/* Piece `index` of all lanes; false when they follow no rule that is simple enough. */
static bool put_piece(struct describe *d, uint32_t index)
{
    const struct zs_sym_piece *first = &d->lanes[0].pieces[index];
    bool uniform = true;
    for (uint32_t lane = 1; lane < d->simd; lane++)
        uniform = uniform && equal_pieces(first, &d->lanes[lane].pieces[index]);
    if (first->sym.opaque)
        return false;
    if (uniform) {
        put_uniform(d, first);
        return true;
    }
    for (uint32_t lane = 0; lane < d->simd;) {
        const struct zs_sym_piece *from = &d->lanes[lane].pieces[index];
        uint64_t position, next, stride = 0;
        if (!piece_position(from, d->grf_B, &position))
            return false;
        uint32_t end = lane + 1;
        for (; end < d->simd; end++) {
            const struct zs_sym_piece *p = &d->lanes[end].pieces[index];
            if (!same_kind(from, p) || !piece_position(p, d->grf_B, &next))
                break;
            uint64_t step = next - position;
            if (end == lane + 1)
                stride = step;
            /* halves of a wide variable may lie anywhere: a jump back or far ahead starts anew */
            if (step != stride * (end - lane) || (int64_t)stride <= 0)
                break;
        }
        if (end - lane < 2)
            return false;
        if (lane)
            zs_buf_puts(&d->out, "; ");
        put_lanes(d, index, lane, end, stride);
        lane = end;
    }
    return true;
}

static int run_lanes(struct describe *d, struct zs_span expr)
{
    for (uint32_t lane = 0; lane < d->simd; lane++) {
        struct zs_eval_context context = {
            .size_B = sizeof(context), .lane = lane, .grf_B = d->grf_B};
        int error = zs_expr_run(expr, &context, true, &d->lanes[lane], NULL);
        if (error)
            return error;
        if (d->lanes[lane].count != d->lanes[0].count)
            return -ENODATA;
    }
    return 0;
}

static bool put_pieces(struct describe *d)
{
    uint32_t count = d->lanes[0].count;
    if (!count)
        zs_buf_puts(&d->out, "not there");
    for (uint32_t i = 0; i < count; i++) {
        if (i)
            zs_buf_puts(&d->out, ", then ");
        if (!put_piece(d, i))
            return false;
    }
    return true;
}

/* ---- what has no simple rule ---- */

struct inputs {
    uint64_t registers[INPUTS_MAX];
    uint32_t count;
    bool more, memory;
    uint32_t grf_B;
};

static int note_register(void *user, uint64_t number, uint64_t bit_offset, uint32_t bits,
                         uint64_t *ret)
{
    struct inputs *in = user;
    (void)bits;
    if (zs_dwarf_register(number).file == ZS_DWREG_GRF)
        number += bit_offset / (in->grf_B * 8);
    *ret = 0;
    for (uint32_t i = 0; i < in->count; i++)
        if (in->registers[i] == number)
            return 0;
    if (in->count < INPUTS_MAX)
        in->registers[in->count++] = number;
    else
        in->more = true;
    return 0;
}

static int note_memory(void *user, uint64_t gpu_va, uint32_t address_class, uint32_t size_B,
                       uint64_t *ret)
{
    struct inputs *in = user;
    (void)gpu_va;
    (void)address_class;
    (void)size_B;
    in->memory = true;
    *ret = 0;
    return 0;
}

/* "computed from r68 and memory" */
static void put_inputs(struct describe *d, struct zs_span expr)
{
    struct inputs in = {.grf_B = d->grf_B};
    struct zs_eval_result *place = &d->spare;
    for (uint32_t lane = 0; lane < d->simd; lane++) {
        const struct zs_eval_context context = {.size_B = sizeof(context),
                                                .user = &in,
                                                .read_register = note_register,
                                                .read_memory = note_memory,
                                                .lane = lane,
                                                .grf_B = d->grf_B};
        if (zs_expr_eval(expr, &context, place, NULL))
            continue;
        for (uint32_t i = 0; i < place->count; i++)
            if (in_register(&place->pieces[i])) {
                uint64_t ignored;
                (void)note_register(&in, place->pieces[i].dwarf_register,
                                    place->pieces[i].bit_offset, 32, &ignored);
            }
    }
    d->out.size_B = 0;
    zs_buf_puts(&d->out, in.count || in.memory ? "computed from " : "in a place without words");
    for (uint32_t i = 0; i < in.count; i++) {
        char name[64];
        zs_dwarf_register_name(in.registers[i], name, sizeof(name));
        zs_buf_printf(&d->out, "%s%s", i ? ", " : "", name);
    }
    if (in.more)
        zs_buf_puts(&d->out, " and other registers");
    if (in.memory)
        zs_buf_puts(&d->out, in.count ? " and memory" : "memory");
}

size_t zs_expr_describe(struct zs_span expr, uint32_t simd, uint32_t grf_B, uint64_t object_B,
                        char *ret_text, size_t size_B)
{
    struct describe *d = malloc(sizeof(*d)); /* large: results are written before they are read */
    if (!d)
        return zs_expr_print(expr, ret_text, size_B);
    d->out = (struct zs_buf){0};
    d->simd = ZS_MIN(ZS_MAX(simd, 1u), (uint32_t)LANES_MAX);
    d->grf_B = grf_B ? grf_B : 32;
    d->object_B = object_B;
    if (run_lanes(d, expr) || !put_pieces(d))
        put_inputs(d, expr);
    size_t length = d->out.size_B;
    snprintf(ret_text, size_B, "%s", zs_buf_cstr(&d->out));
    zs_buf_fini(&d->out);
    free(d);
    return length;
}
