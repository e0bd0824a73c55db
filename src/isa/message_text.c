/* SPDX-License-Identifier: MIT */
/*
 * The comment of a listing behind a send: lengths, shared function, and what the message does, in
 * the words of `iga64 -d`:
 *
 *     // wr:2+1, rd:0; hdc.dc1; a64 untyped surface write with x
 *     // wr:2+0, rd:4; load.ugm.d32x2.a64.ca.ca
 *
 * Up to the lengths the comment is the same for all messages. What follows for the data port is the
 * row's text in messages.def and a tail that reads further bits; for the load/store cache it is
 * IGA's syntax, or, where a field is reserved, the words of lsc.def. A message without a
 * description is "?". Where IGA's words are odd or wrong (DC0's qword write is called a read, the
 * sector operations of the load/store cache have no address size but show one), they are kept:
 * listings equal those of iga64.
 */
#include "isa/inst.h"
#include "isa/message_rows.h"
#include "isa/out.h"

struct text {
    struct zs_out out;
    enum zs_isa_platform platform;
    struct zs_message_form f;
    uint32_t exec_size, sfid, desc, exdesc;
    bool exdesc_in_register;
    uint32_t exdesc_subreg;
    int32_t mlen;
    /* set by a message that names its coordinates: lanes and bits of one; 0 lanes: it does not */
    uint32_t coordinate_lanes, coordinate_bits;
};

static uint32_t bits(const struct text *t, uint32_t low, uint32_t count)
{
    return t->desc >> low & ((1u << count) - 1);
}

static void put_channels(struct text *t, uint32_t enabled)
{
    for (uint32_t i = 0; i < 4; i++)
        if (enabled >> i & 1)
            zs_out_char(&t->out, "xyzw"[i]);
}

/* Lanes of a message of full width: IGA's default, not that of the instruction. */
static uint32_t full_lanes(const struct text *t)
{
    return 2u * t->f.generation->payload_lanes;
}

static void set_coordinates(struct text *t, uint32_t lanes)
{
    t->coordinate_lanes = ZS_MIN(lanes, t->exec_size);
    t->coordinate_bits = 32;
}

/* ---- tails of the data port ---- */

static void tail_NONE(struct text *t, const char *words)
{
    (void)words;
    zs_out_char(&t->out, '?');
}

static void tail_PLAIN(struct text *t, const char *words)
{
    zs_out_text(&t->out, words);
}

static void put_times(struct text *t, uint32_t count)
{
    zs_out_text(&t->out, " x");
    zs_out_decimal(&t->out, count);
}

static void tail_OWORDS(struct text *t, const char *words)
{
    zs_out_text(&t->out, words);
    put_times(t, t->f.elements);
    if (t->f.is_upper)
        zs_out_char(&t->out, 'H');
}

/* From XeHPG on, bit 13 makes it a block of whole registers. */
static void tail_ALIGNED(struct text *t, const char *words)
{
    if (!t->f.generation->has_lsc || !bits(t, 13, 1)) {
        tail_OWORDS(t, words);
        return;
    }
    zs_out_text(&t->out, "hword aligned block read");
    put_times(t, 1u << bits(t, 8, 3));
}

static void tail_TIMES(struct text *t, const char *words)
{
    zs_out_text(&t->out, words);
    if (bits(t, 10, 2))
        put_times(t, 1u << bits(t, 10, 2));
}

static void tail_BITS(struct text *t, const char *words)
{
    static const char *const sizes[4] = {" 8b", " 16b", " 32b", ""};
    zs_out_text(&t->out, words);
    zs_out_text(&t->out, sizes[bits(t, 10, 2)]);
}

/* The mask disables channels. */
static void tail_CHANNELS(struct text *t, const char *words)
{
    zs_out_text(&t->out, words);
    zs_out_text(&t->out, " with ");
    put_channels(t, t->f.channels);
}

static void tail_TYPED(struct text *t, const char *words)
{
    zs_out_text(&t->out, words);
    if (bits(t, 12, 2) == 2)
        zs_out_text(&t->out, " (high slot group)");
    if (bits(t, 14, 5) == 0x0e)
        zs_out_text(&t->out, " returning status");
    tail_CHANNELS(t, "");
    set_coordinates(t, full_lanes(t) / 2);
}

static void put_operation(struct text *t)
{
    zs_out_char(&t->out, ' ');
    zs_out_text(&t->out, zs_atomic_row(t->f.atomic)->words);
}

static void tail_ATOMIC(struct text *t, const char *words)
{
    zs_out_text(&t->out, words);
    put_operation(t);
}

/* Another message before Gen12. */
static void tail_ATOMIC12(struct text *t, const char *words)
{
    if (t->platform < ZS_ISA_XE_LP)
        tail_NONE(t, words);
    else
        tail_ATOMIC(t, words);
}

static void tail_A64_ATOMIC(struct text *t, const char *words)
{
    zs_out_text(&t->out, words);
    zs_out_text(&t->out, bits(t, 12, 1) ? "64" : "32");
    put_operation(t);
}

static void put_slot_group(struct text *t)
{
    if (bits(t, 12, 1))
        zs_out_text(&t->out, " (slot group high)");
}

static void tail_TYPED_ATOMIC(struct text *t, const char *words)
{
    zs_out_text(&t->out, bits(t, 12, 1) ? "typed_sgh " : "typed ");
    zs_out_text(&t->out, words);
    put_slot_group(t);
    put_operation(t);
}

static void tail_TYPED_ATOMIC16(struct text *t, const char *words)
{
    tail_TYPED_ATOMIC(t, words);
    set_coordinates(t, full_lanes(t) / 2);
}

static void tail_COUNTER(struct text *t, const char *words)
{
    tail_ATOMIC(t, words);
    set_coordinates(t, full_lanes(t) / (bits(t, 12, 1) ? 2 : 1));
}

static void tail_FLOAT(struct text *t, const char *words)
{
    uint32_t operation = bits(t, 8, 3), type = bits(t, 14, 5);
    if (operation == 0) {
        tail_NONE(t, words);
        return;
    }
    zs_out_text(&t->out, words);
    put_operation(t);
    zs_out_text(&t->out, operation >= 6 ? "64b)" : type == 0x1c || type == 0x1e ? "16b)" : "32b)");
    if (bits(t, 13, 1))
        zs_out_text(&t->out, " with return");
}

static void tail_FLOAT12(struct text *t, const char *words)
{
    if (t->platform < ZS_ISA_XE_LP)
        tail_NONE(t, words);
    else
        tail_FLOAT(t, words);
}

static void tail_A64_SCATTERED(struct text *t, const char *words)
{
    uint32_t kind = bits(t, 8, 2);
    zs_out_text(&t->out, kind == 1 ? "a64 dword " : kind == 2 ? "a64 qword " : "a64 byte ");
    if (kind == 1 || kind == 2)
        zs_out_text(&t->out, words);
    else
        tail_BITS(t, words);
}

static void tail_A64_BLOCK(struct text *t, const char *words)
{
    static const char *const kinds[4] = {"a64 unaligned oword block", "a64 aligned oword block",
                                         "a64 unaligned oword block", "a64 unaligned hword block"};
    uint32_t kind = bits(t, 11, 2);
    zs_out_text(&t->out, kinds[kind]);
    if (kind != 3) {
        tail_OWORDS(t, words);
        return;
    }
    zs_out_text(&t->out, words);
    put_times(t, 1u << bits(t, 8, 3));
}

static void tail_MEDIA(struct text *t, const char *words)
{
    static const char *const strides[8] = {
        "",
        " with vertical line stride  and skip",
        " with vertical line stride override and offset",
        " with vertical line stride override,skip, and offset",
        " with vertical line stride ",
        " with vertical line stride  and skip",
        " with vertical line stride override and offset",
        " with vertical line stride override,skip, and offset",
    };
    zs_out_text(&t->out, words);
    zs_out_text(&t->out, strides[bits(t, 8, 3)]);
}

static void put_flushed(struct text *t)
{
    zs_out_text(&t->out, "global fence flushing");
    if (bits(t, 8, 1))
        zs_out_text(&t->out, " L1");
    uint32_t targets = bits(t, 9, 4);
    if (targets == 0xf)
        zs_out_text(&t->out, " all L3 data");
    if (targets == 0 || targets == 0xf)
        return;
    zs_out_text(&t->out, " L3");
    if (targets & 8)
        zs_out_text(&t->out, " r/w data");
    if (targets & 4)
        zs_out_text(&t->out, " constant data");
    if (targets & 2)
        zs_out_text(&t->out, targets & 4 ? ", texture data" : " texture data");
    if (targets & 1)
        zs_out_text(&t->out, targets & 6 ? ", instruction data" : " instruction data");
}

static void tail_FENCE(struct text *t, const char *words)
{
    uint32_t surface = bits(t, 0, 8);
    if (bits(t, 13, 1))
        zs_out_text(&t->out, "synchronized ");
    if (surface == 254)
        zs_out_text(&t->out, "SLM fence");
    else if (surface == 0)
        put_flushed(t);
    else if (!bits(t, 13, 1))
        tail_NONE(t, words);
}

/* ---- the data port ---- */

#define TAIL(name) tail_##name,
static void (*const tails[ZS_TAIL_COUNT])(struct text *t,
                                          const char *words) = {ZS_MESSAGE_TAILS(TAIL)};
#undef TAIL

static void put_dataport(struct text *t)
{
    const struct zs_dataport_row *row = zs_dataport_row((enum zs_isa_sfid)t->sfid, t->desc);
    tails[row->tail](t, row->words);
}

static void put_dc0(struct text *t)
{
    if (!bits(t, 18, 1)) {
        put_dataport(t);
        return;
    }
    zs_out_text(&t->out, bits(t, 17, 1) ? "hword scratch block write" : "hword scratch block read");
    put_times(t, 1u << bits(t, 12, 2));
}

/* ---- load/store cache ---- */

enum { LSC_FLAT, LSC_BSS, LSC_SS, LSC_BTI };

static void put_lsc_surface(struct text *t)
{
    uint32_t kind = bits(t, 29, 2);
    if (kind == LSC_FLAT)
        return;
    zs_out_text(&t->out, kind == LSC_BSS ? ".bss[" : kind == LSC_SS ? ".ss[" : ".bti[");
    if (t->exdesc_in_register) {
        zs_out_text(&t->out, "a0.");
        zs_out_decimal(&t->out, t->exdesc_subreg);
    } else if (kind == LSC_BTI) {
        zs_out_decimal(&t->out, t->exdesc >> 24);
    } else {
        zs_out_text(&t->out, "0x");
        zs_out_hex(&t->out, t->exdesc & 0xfffff800);
    }
    zs_out_char(&t->out, ']');
}

static void put_signed(struct text *t, int32_t value)
{
    zs_out_text(&t->out, value < 0 ? "-0x" : "+0x");
    zs_out_hex(&t->out, (uint32_t)(value < 0 ? -value : value));
}

static void put_lsc_offset(struct text *t)
{
    const struct zs_lsc_offset *offset = &t->f.offset;
    if (offset->x || offset->y) {
        zs_out_text(&t->out, "+(");
        put_signed(t, offset->x);
        zs_out_char(&t->out, ',');
        put_signed(t, offset->y);
        zs_out_char(&t->out, ')');
    } else if (offset->bytes) {
        put_signed(t, offset->bytes);
    }
}

static void put_lsc_data(struct text *t, const struct zs_lsc_row *row)
{
    static const char *const sizes[8] = {".d8",    ".d16",    ".d32",     ".d64",
                                         ".d8u32", ".d16u32", ".d16u32h", ".0x7"};
    zs_out_text(&t->out, sizes[bits(t, 9, 3)]);
    if (row->shape == ZS_SHAPE_QUAD) {
        zs_out_char(&t->out, '.');
        put_channels(t, t->f.channels);
        return;
    }
    if (t->f.elements > 1 || (t->f.is_transposed && row->shape != ZS_SHAPE_BLOCK2D)) {
        zs_out_char(&t->out, 'x');
        zs_out_decimal(&t->out, t->f.elements);
    }
    if (t->f.is_transposed)
        zs_out_char(&t->out, 't');
    if (t->f.is_vnni && row->kind == ZS_MSG_LOAD)
        zs_out_char(&t->out, 'v');
}

/* L1 and L3; nothing for the default. */
static void put_lsc_caching(struct text *t, bool load)
{
    static const char *const symbols[ZS_CACHE_COUNT] = {"",    ".uc", ".ca", ".wb",
                                                        ".wt", ".st", ".ri", ".cc"};
    const struct zs_isa_generation *g = t->f.generation;
    struct zs_lsc_caching caching = (load ? g->loads : g->stores)[t->f.caching_code];
    zs_out_text(&t->out, symbols[caching.l1]);
    zs_out_text(&t->out, symbols[caching.l3]);
}

/* What IGA takes for an error in the message: its words stand for its syntax. */
static bool lsc_is_reserved(const struct text *t, const struct zs_lsc_row *row)
{
    if (!t->exdesc_in_register && t->exdesc & 0x7ff)
        return true;
    if (row->shape != ZS_SHAPE_BLOCK2D && bits(t, 7, 2) == 0)
        return true;
    if (row->shape == ZS_SHAPE_QUAD && bits(t, 12, 4) == 0)
        return true;
    return row->shape == ZS_SHAPE_STATUS && (bits(t, 15, 1) || bits(t, 20, 5) != 1);
}

static void put_lsc_name(struct text *t, const char *name, const char *operation)
{
    zs_out_text(&t->out, name);
    if (*operation) {
        zs_out_char(&t->out, '_');
        zs_out_text(&t->out, operation);
    }
    zs_out_char(&t->out, '.');
    zs_out_text(&t->out, zs_isa_sfid_name((enum zs_isa_sfid)t->sfid));
}

static void put_lsc_access(struct text *t, const struct zs_lsc_row *row)
{
    static const char *const addresses[4] = {"", ".a16", ".a32", ".a64"};
    if (t->sfid == ZS_SFID_TGM && (row->shape == ZS_SHAPE_QUAD || row->kind == ZS_MSG_ATOMIC)) {
        t->coordinate_lanes = t->exec_size;
        t->coordinate_bits = bits(t, 7, 2) ? 8u << bits(t, 7, 2) : 0;
    }
    if (lsc_is_reserved(t, row)) {
        zs_out_text(&t->out, row->words);
        return;
    }
    put_lsc_name(t, row->name, row->detail);
    put_lsc_data(t, row);
    zs_out_text(&t->out, row->shape == ZS_SHAPE_BLOCK2D ? ".a64" : addresses[bits(t, 7, 2)]);
    if (t->sfid != ZS_SFID_SLM)
        put_lsc_caching(t, row->kind == ZS_MSG_LOAD || row->shape == ZS_SHAPE_STATUS);
    put_lsc_surface(t);
    put_lsc_offset(t);
}

static void put_lsc_state(struct text *t)
{
    t->coordinate_lanes = 1;
    t->coordinate_bits = 64;
    if (bits(t, 29, 2) == LSC_FLAT) {
        zs_out_text(&t->out, "read state information");
        return;
    }
    put_lsc_name(t, "read_state", "");
    put_lsc_surface(t);
}

static void put_lsc_fence(struct text *t)
{
    static const struct {
        const char *symbol, *words;
    } flushes[8] = {{".none", "no op"},
                    {".evict", "evict (dirty lines invalidated and evicted)"},
                    {".invalidate", "invalidate (all clean lines, but do not evict)"},
                    {".discard", "discard (dirty and clean lines invalidated without eviction)"},
                    {".clean", "clean (dirty lines written out, but kept in clean state)"},
                    {".flushl3", "flush L3 only"},
                    {"", "invalid flush type"},
                    {"", "invalid flush type"}},
      scopes[8] = {{".group", "thread group"},
                   {".local", "slice"},
                   {".tile", "tile"},
                   {".gpu", "gpu"},
                   {".gpus", "all gpus"},
                   {".sysrel", "system release"},
                   {".sysacq", "system acquire"},
                   {"", "invalid flush scope"}};
    uint32_t flush = bits(t, 12, 3), scope = bits(t, 9, 3);
    if (*flushes[flush].symbol && *scopes[scope].symbol) {
        put_lsc_name(t, "fence", "");
        zs_out_text(&t->out, flushes[flush].symbol);
        zs_out_text(&t->out, scopes[scope].symbol);
    } else {
        zs_out_text(&t->out, "fence ");
        zs_out_text(&t->out, flushes[flush].words);
        zs_out_text(&t->out, " scoped to ");
        zs_out_text(&t->out, scopes[scope].words);
    }
}

static void put_lsc_ccs(struct text *t)
{
    static const struct {
        const char *symbol, *words;
    } operations[4] = {{"pc", " page clear (64k)"},
                       {"sc", " sector clear (2-cachelines)"},
                       {"pu", " page uncompress (64k)"},
                       {"su", " sector uncompress (2-cachelines)"}};
    uint32_t operation = bits(t, 17, 3);
    bool page = operation == 0 || operation == 2;
    if (operation > 3) {
        zs_out_text(&t->out, "compression-state controlinvalid ccs sop");
    } else if (page && (bits(t, 29, 2) != LSC_FLAT || bits(t, 7, 2) != 3)) {
        zs_out_text(&t->out, "compression-state control");
        zs_out_text(&t->out, operations[operation].words);
    } else {
        put_lsc_name(t, "ccs", operations[operation].symbol);
        if (!page)
            zs_out_text(&t->out, ".a32");
        put_lsc_surface(t);
    }
}

static void put_lsc(struct text *t)
{
    const struct zs_lsc_row *row = zs_lsc_row(t->f.generation, t->desc);
    if (!row->name)
        zs_out_char(&t->out, '?');
    else if (row->shape == ZS_SHAPE_LSC_COUNTER)
        zs_out_text(&t->out, row->words);
    else if (row->shape == ZS_SHAPE_LSC_FENCE)
        put_lsc_fence(t);
    else if (row->shape == ZS_SHAPE_CCS)
        put_lsc_ccs(t);
    else if (row->shape == ZS_SHAPE_STATE)
        put_lsc_state(t);
    else
        put_lsc_access(t, row);
}

/* ---- the rest ---- */

static void put_gateway(struct text *t)
{
    static const char *const words[16] = {"end of thread",
                                          "signal event",
                                          "monitor event",
                                          "unmonitor event",
                                          "signal barrier",
                                          "?",
                                          "wait for event",
                                          "?",
                                          "save barrier",
                                          "restore barrier",
                                          "end of thread replay",
                                          "restore stack",
                                          "system routine barrier",
                                          "?",
                                          "?",
                                          "?"};
    zs_out_text(&t->out, words[t->f.operation]);
}

/* From Xe2 on: what is written has its parameters in the extended descriptor. */
static void put_render_parameters(struct text *t)
{
    static const char *const parameters[4] = {".om", ".sz", ".stncl", ".s0a"};
    zs_out_text(&t->out, ".rti[");
    zs_out_decimal(&t->out, t->exdesc >> 21 & 7);
    zs_out_char(&t->out, ']');
    for (uint32_t i = 4; i-- > 0;)
        if (t->exdesc >> (12 + i) & 1)
            zs_out_text(&t->out, parameters[i]);
}

static void put_render_xe2(struct text *t)
{
    uint32_t type = bits(t, 14, 4);
    bool write = type == 0xc, dual = bits(t, 8, 2) == 2;
    zs_out_text(&t->out, write         ? dual ? "render write dual" : "render write"
                         : type == 0xd ? "render read"
                                       : "unknown render target op");
    if (write && bits(t, 29, 1))
        zs_out_text(&t->out, "  multirate coarse pixel shading");
    if (write && bits(t, 18, 1))
        zs_out_text(&t->out, "  per-sample outputs coarse pixel shading");
    if (bits(t, 13, 1))
        zs_out_text(&t->out, "  per-sample pixel shading");
    if (bits(t, 12, 1))
        zs_out_text(&t->out, "  last render target select");
    if (t->exec_size < 32 && bits(t, 11, 1))
        zs_out_text(&t->out, " slot group high16");
    zs_out_text(&t->out, " to bti[");
    zs_out_decimal(&t->out, bits(t, 0, 8));
    zs_out_char(&t->out, ']');
    if (write && !t->exdesc_in_register)
        put_render_parameters(t);
}

static void put_render_lanes(struct text *t, bool write)
{
    static const struct {
        const char *words;
        bool half;
    } writes[5] = {{" SIMD", false},
                   {" replicated SIMD", false},
                   {" of low SIMD", true},
                   {" of high SIMD", true},
                   {" SIMD", true}},
      reads[2] = {{" SIMD", false}, {" SIMD", true}};
    uint32_t code = bits(t, 8, 3);
    if (code >= (write ? ZS_ARRAY_LEN(writes) : ZS_ARRAY_LEN(reads))) {
        zs_out_text(&t->out, write ? "unknown write subop" : "unknown read subop");
        return;
    }
    zs_out_text(&t->out, write ? writes[code].words : reads[code].words);
    bool half = write ? writes[code].half : reads[code].half;
    zs_out_decimal(&t->out, full_lanes(t) / (half ? 2 : 1));
}

static void put_render(struct text *t)
{
    if (t->platform >= ZS_ISA_XE2) {
        put_render_xe2(t);
        return;
    }
    uint32_t type = bits(t, 14, 4);
    bool write = type == 0xc, read = type == 0xd;
    zs_out_text(&t->out, bits(t, 30, 1) ? "half-precision " : "full-precision ");
    zs_out_text(&t->out, write  ? "render target write"
                         : read ? "render target read"
                                : "unknown render target op");
    if (write || read)
        put_render_lanes(t, write);
    if (write && bits(t, 18, 1))
        zs_out_text(&t->out, " with Per-Coarse Pixel PS outputs enable");
    if (bits(t, 13, 1))
        zs_out_text(&t->out, " with Per-Sample Pixel PS outputs enable");
    if (write && bits(t, 12, 1))
        zs_out_text(&t->out, "; last render target");
    if (bits(t, 11, 1))
        zs_out_text(&t->out, " slot group high");
    zs_out_text(&t->out, " to surface ");
    zs_out_decimal(&t->out, bits(t, 0, 8));
}

static void put_ray(struct text *t)
{
    if (bits(t, 14, 4) != 0)
        zs_out_char(&t->out, '?');
    else
        zs_out_text(&t->out, bits(t, 8, 1) ? "simd16 trace ray" : "simd8 trace ray");
}

static void put_spawner(struct text *t)
{
    uint32_t operation = bits(t, 14, 4);
    if (operation != 1 && (operation != 2 || t->platform < ZS_ISA_XE2)) {
        zs_out_char(&t->out, '?');
        return;
    }
    zs_out_text(&t->out,
                bits(t, 8, 1) ? "bindless simd16 spawn thread" : "bindless simd8 spawn thread");
    if (operation == 2)
        zs_out_text(&t->out, " overdispatched");
}

static void put_thread(struct text *t)
{
    zs_out_text(&t->out, bits(t, 0, 3) == 0 ? "end of thread" : "?");
}

static void put_urb(struct text *t)
{
    if (t->f.generation->urb_is_lsc) {
        put_lsc(t);
        return;
    }
    uint32_t operation = bits(t, 0, 4);
    if (operation == 7)
        zs_out_text(&t->out, bits(t, 15, 1) ? "urb dword masked write" : "urb dword write");
    else
        zs_out_text(&t->out, operation == 8   ? "urb dword read"
                             : operation == 9 ? "urb fence"
                                              : "?");
    if ((operation == 7 || operation == 8) && bits(t, 17, 1))
        zs_out_text(&t->out, " with per-slot offset enabled");
}

/* ---- sampler ---- */

/* SIMD mode by bits 29 and 18:17, before XeHPG, in XeHPG, and from XeHPC on. */
enum { SAMPLER_WIDE_MODE = 3 };
static const char *const sampler_modes[3][8] = {
    {"unknown simd mode", "simd8", "simd16", "simd32/64", "unknown simd mode", "simd8 high",
     "simd16 high", ""},
    {"simd8 with integer return", "simd8", "simd16", "simd32/64", "simd16 with integer return",
     "simd8 high", "simd16 high", ""},
    {"simd16 with integer return", "simd16", "simd32", "unknown simd mode",
     "simd32 with integer return", "simd16 high", "simd32 high", ""},
};

static void put_sampler(struct text *t)
{
    uint32_t mode = bits(t, 29, 1) << 2 | bits(t, 17, 2);
    uint32_t table = t->platform >= ZS_ISA_XE_HPC ? 2 : t->platform == ZS_ISA_XE_HPG ? 1 : 0;
    bool wide = mode == SAMPLER_WIDE_MODE && t->platform < ZS_ISA_XE_HPC;
    const struct zs_sampler_row *row = zs_sampler_row(t->f.generation, t->desc);
    const char *words = wide ? row->wide_words : row->words;
    zs_out_text(&t->out, sampler_modes[table][mode]);
    if (bits(t, 30, 1))
        zs_out_text(&t->out, " 16b");
    zs_out_char(&t->out, ' ');
    zs_out_text(&t->out, words ? words : "?");
    zs_out_text(&t->out, " using sampler index ");
    zs_out_decimal(&t->out, bits(t, 8, 4));
}

/* ---- the comment ---- */

static void (*const functions[ZS_SFID_COUNT])(struct text *t) = {
    [ZS_SFID_DC0] = put_dc0,   [ZS_SFID_DC1] = put_dataport, [ZS_SFID_DCRO] = put_dataport,
    [ZS_SFID_UGM] = put_lsc,   [ZS_SFID_UGML] = put_lsc,     [ZS_SFID_SLM] = put_lsc,
    [ZS_SFID_TGM] = put_lsc,   [ZS_SFID_GTWY] = put_gateway, [ZS_SFID_RC] = put_render,
    [ZS_SFID_RTA] = put_ray,   [ZS_SFID_BTD] = put_spawner,  [ZS_SFID_SMPL] = put_sampler,
    [ZS_SFID_TS] = put_thread, [ZS_SFID_URB] = put_urb,
};

/* As IGA names them up to Gen11, by their number. */
static const char *const function_names[16] = {
    "null", "?",        "sampler", "gateway", "hdc.dc2", "hdc.rc", "hdc.urb", "spawner",
    "vme",  "hdc.dcro", "hdc.dc0", "pi",      "hdc.dc1", "cre",    "?",       "?"};

static void put_function_name(struct text *t)
{
    uint32_t number = t->exdesc & 0xf;
    if (t->exdesc_in_register) {
        zs_out_text(&t->out, "; sfid a0.");
        zs_out_decimal(&t->out, t->exdesc_subreg);
        zs_out_text(&t->out, "[3:0]");
        return;
    }
    zs_out_text(&t->out, "; ");
    if (t->platform == ZS_ISA_GEN8 && number == 4)
        zs_out_text(&t->out, "sampler");
    else if (t->platform == ZS_ISA_GEN8 && number == 9)
        zs_out_text(&t->out, "hdc.ccdp");
    else
        zs_out_text(&t->out, function_names[number]);
}

/* The coordinates that the address payload holds, by its length. */
static void put_coordinates(struct text *t)
{
    static const char *const words[5] = {"", "; u", "; u,v", "; u,v,r", "; u,v,r,lod"};
    uint32_t register_bits = t->f.generation->grf_B * 8u;
    uint32_t registers = ZS_MAX(t->coordinate_lanes * t->coordinate_bits / register_bits, 1u);
    if (t->coordinate_lanes && t->mlen > 0 && (uint32_t)t->mlen / registers <= 4)
        zs_out_text(&t->out, words[(uint32_t)t->mlen / registers]);
}

static void put_length(struct text *t, int32_t length, uint32_t subreg, const char *field)
{
    if (length >= 0) {
        zs_out_decimal(&t->out, (uint32_t)length);
        return;
    }
    zs_out_text(&t->out, "a0.");
    zs_out_decimal(&t->out, subreg);
    zs_out_text(&t->out, field);
}

static bool is_null(const struct zs_isa_operand *op)
{
    return op->file == ZS_FILE_NULL;
}

size_t zs_isa_print_message(const struct zs_isa_model *model, const struct zs_isa_inst *inst,
                            char *out, size_t size)
{
    bool in_register = inst->flags & ZS_INST_DESC_REG;
    struct text t = {.out = {out, out + size},
                     .platform = model->platform,
                     .exec_size = inst->exec_size,
                     .sfid = inst->sfid,
                     .desc = inst->desc,
                     .exdesc = inst->exdesc,
                     .exdesc_in_register = inst->flags & ZS_INST_EXDESC_REG,
                     .exdesc_subreg = inst->exdesc_subreg,
                     .mlen = !in_register             ? (int32_t)(inst->desc >> 25 & 0xf)
                             : is_null(&inst->src[0]) ? 0
                                                      : -1};
    struct zs_isa_send send;
    zs_isa_make_send(model, inst, &send);
    zs_message_form(&send, &t.f);
    zs_out_text(&t.out, "wr:");
    put_length(&t, t.mlen, inst->desc_subreg, "[28:25]");
    if (!in_register && !zs_is_lsc(t.f.generation, t.sfid) && bits(&t, 19, 1))
        zs_out_char(&t.out, 'h');
    zs_out_char(&t.out, '+');
    put_length(&t, zs_isa_second_length(model, inst), inst->exdesc_subreg, "[10:6]");
    zs_out_text(&t.out, ", rd:");
    put_length(&t, in_register ? -1 : (int32_t)(inst->desc >> 20 & 0x1f), inst->desc_subreg,
               "[24:20]");
    if (t.platform < ZS_ISA_XE_LP)
        put_function_name(&t);
    if (!in_register) {
        zs_out_text(&t.out, "; ");
        if (t.sfid < ZS_SFID_COUNT && functions[t.sfid])
            functions[t.sfid](&t);
        else
            zs_out_char(&t.out, '?');
        put_coordinates(&t);
    }
    return (size_t)(t.out.at - out);
}
