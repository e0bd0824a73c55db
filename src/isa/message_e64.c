/* SPDX-License-Identifier: MIT */
/*
 * Messages of sendg, from Xe3P on: one descriptor of 47 bits for all shared functions, and what
 * does not fit (a base, a surface's state, a sampler's) in s0. Lengths of payloads stand in the
 * instruction; how long a response is follows from the message, but for blocks of two dimensions,
 * whose size is in their payload.
 *
 * First what a message is (struct zs_message_form), then its comment in listings, in the words of
 * `iga64 -d`; odd ones (the dots of get_watchpoint) are kept.
 *
 * Source: IGA (Backend/Messages/E64).
 */
#include "isa/message_rows.h"
#include "isa/out.h"

enum { GRF_B = 64, UNKNOWN_B = -1 };

/* Bits 15:14 of messages to memory. */
enum { A32U, A32S, A64, STATEFUL };

struct message {
    const struct zs_isa_inst *inst; /* for text alone */
    struct zs_message_form *f;
    uint64_t desc;
    int32_t response_B; /* UNKNOWN_B */
    bool has_dst;
    bool reads_address; /* src0 is one */
};

static uint32_t bits(const struct message *m, uint32_t low, uint32_t count)
{
    return (uint32_t)(m->desc >> low) & ((1u << count) - 1);
}

static int32_t signed_bits(const struct message *m, uint32_t low, uint32_t count)
{
    uint32_t sign = 1u << (count - 1);
    return (int32_t)((bits(m, low, count) ^ sign) - sign);
}

/* ---- load/store cache ---- */

/* What lsc.def has under another number, or not at all. */
static const struct zs_lsc_row *row_of(const struct message *m)
{
    static const struct zs_lsc_row
        none = {0},
        later[64] = {
            [0x1c] = {"load_quad_status", "", NULL, ZS_SHAPE_STATUS, ZS_MSG_QUERY, 0},
            [0x1e] = {"read_state", "", NULL, ZS_SHAPE_STATE, ZS_MSG_QUERY, 0},
            [0x21] = {"atomic", "bfadd", NULL, ZS_SHAPE_VECTOR, ZS_MSG_ATOMIC, 0},
            [0x22] = {"atomic", "bfsub", NULL, ZS_SHAPE_VECTOR, ZS_MSG_ATOMIC, 0},
            [0x23] = {"atomic", "bfmin", NULL, ZS_SHAPE_VECTOR, ZS_MSG_ATOMIC, 0},
            [0x24] = {"atomic", "bfmax", NULL, ZS_SHAPE_VECTOR, ZS_MSG_ATOMIC, 0},
            [0x25] = {"atomic", "bfcas", NULL, ZS_SHAPE_VECTOR, ZS_MSG_ATOMIC, 0},
            [0x2d] = {"get_watchpoint", "", NULL, ZS_SHAPE_OTHER, ZS_MSG_OTHER, 0},
            [0x2e] = {"set_watchpoint", "", NULL, ZS_SHAPE_OTHER, ZS_MSG_OTHER, 0},
            [0x33] = {"extended_cache_control", "", NULL, ZS_SHAPE_CCS, ZS_MSG_OTHER, 0},
        };
    uint32_t operation = bits(m, 0, 6);
    if (operation == ZS_LSC_LOAD_STRIDED || operation == ZS_LSC_STORE_STRIDED ||
        operation == ZS_LSC_CCS || operation == ZS_LSC_STORE_UNCOMPRESSED_QUAD)
        return &none;
    return later[operation].name ? &later[operation] : zs_lsc_row(m->f->generation, operation);
}

/* By bits 19:16: L1, L2, L3. */
struct caching {
    uint8_t l1, l2, l3;
};
#define DF ZS_CACHE_DEFAULT
#define UC ZS_CACHE_UNCACHED
#define CA ZS_CACHE_CACHED
#define WB ZS_CACHE_WRITE_BACK
#define WT ZS_CACHE_WRITE_THROUGH
#define ST ZS_CACHE_STREAMING
#define RI ZS_CACHE_READ_INVALIDATE
static const struct caching loads[16] = {
    [2] = {UC, UC, UC}, {UC, UC, CA}, {UC, CA, UC}, {UC, CA, CA}, {CA, UC, UC},
    {CA, UC, CA},       {CA, CA, UC}, {CA, CA, CA}, {ST, UC, UC}, {ST, UC, CA},
    {ST, CA, UC},       {ST, CA, CA}, {RI, RI, RI},
};
static const struct caching stores[16] = {
    [2] = {UC, UC, UC}, {UC, UC, WB}, {UC, WB, UC}, {UC, WB, WB}, {WT, UC, UC},
    {WT, UC, WB},       {WT, WB, UC}, {WT, WB, WB}, {ST, UC, UC}, {ST, UC, WB},
    {ST, WB, UC},       {WB, UC, UC}, {WB, WB, UC}, {WB, UC, WB},
};
static const struct caching atomics[16] = {[2] = {UC, UC, UC}, {UC, UC, WB}, {UC, WB, UC}};
#undef DF
#undef UC
#undef CA
#undef WB
#undef WT
#undef ST
#undef RI

static const struct caching *caching_of(const struct message *m)
{
    return &(m->f->kind == ZS_MSG_STORE    ? stores
             : m->f->kind == ZS_MSG_ATOMIC ? atomics
                                           : loads)[bits(m, 16, 4)];
}

static bool is_typed(const struct message *m)
{
    return m->f->sfid == ZS_SFID_TGM;
}

static void set_lsc_address(struct message *m)
{
    struct zs_message_form *f = m->f;
    uint32_t kind = f->sfid == ZS_SFID_UGM ? bits(m, 14, 2) : (uint32_t)A32U;
    f->address_B = kind == A64 ? 8 : 4;
    f->surface = f->sfid == ZS_SFID_SLM            ? ZS_SURFACE_SLM
                 : is_typed(m) || kind == STATEFUL ? ZS_SURFACE_STATE
                                                   : ZS_SURFACE_STATELESS;
    f->caching = (struct zs_lsc_caching){caching_of(m)->l1, caching_of(m)->l3};
    f->returns = f->kind == ZS_MSG_ATOMIC && m->has_dst;
}

static void set_lsc_data(struct message *m)
{
    static const uint8_t element_B[8] = {1, 2, 4, 8, 1, 2}, slot_B[8] = {1, 2, 4, 8, 4, 4};
    static const uint8_t vectors[8] = {1, 2, 3, 4, 8, 16, 32, 64};
    struct zs_message_form *f = m->f;
    f->lanes = f->exec_size;
    f->element_B = element_B[bits(m, 11, 3)];
    f->slot_B = slot_B[bits(m, 11, 3)];
    if (f->shape == ZS_SHAPE_QUAD || f->operation == 0x1c) {
        f->channels = (uint8_t)bits(m, 7, 4);
        f->elements = (uint8_t)__builtin_popcount(f->channels);
    } else {
        f->elements = vectors[bits(m, 7, 3)];
        f->is_transposed = bits(m, 10, 1);
        f->lanes = f->exec_size;
        if (f->is_transposed)
            f->lanes = f->slot_B != f->element_B;
    }
}

/* Of all addresses: in elements, bytes here. */
static void set_lsc_offset(struct message *m)
{
    uint32_t low = m->f->surface == ZS_SURFACE_STATE ? 27 : 22;
    m->f->offset.bytes = signed_bits(m, low, 44 - low) * m->f->element_B;
}

static void set_response(struct message *m, int32_t size_B)
{
    uint8_t kind = m->f->kind;
    m->response_B = kind == ZS_MSG_STORE ? 0 : size_B;
}

static int32_t vector_B(const struct message *m)
{
    const struct zs_message_form *f = m->f;
    if (f->is_transposed)
        return f->slot_B * f->elements;
    int32_t lane_B = f->slot_B * f->exec_size;
    return (f->elements > 1 ? ZS_MAX(lane_B, GRF_B) : lane_B) * f->elements;
}

static void set_block2d(struct message *m)
{
    struct zs_message_form *f = m->f;
    set_lsc_data(m);
    f->lanes = f->elements = 0;
    f->is_vnni = bits(m, 9, 1);
    if (f->element_B) {
        f->offset.x = signed_bits(m, 22, 12);
        f->offset.y = signed_bits(m, 34, 12);
    }
    set_response(m, UNKNOWN_B);
}

/* Components of images: the data's type is what registers hold. */
static void set_typed_quad(struct message *m)
{
    struct zs_message_form *f = m->f;
    set_lsc_data(m);
    f->address_B = bits(m, 14, 1) ? 2 : 4;
    f->element_B = f->slot_B = bits(m, 15, 1) ? 2 : 4;
}

static void set_access(struct message *m)
{
    struct zs_message_form *f = m->f;
    bool status = f->shape == ZS_SHAPE_STATUS;
    m->reads_address = true;
    set_lsc_address(m);
    if (f->shape == ZS_SHAPE_BLOCK2D) {
        set_block2d(m);
        return;
    }
    if (is_typed(m) && (f->shape == ZS_SHAPE_QUAD || status)) {
        set_typed_quad(m);
    } else {
        set_lsc_data(m);
        if (!is_typed(m))
            set_lsc_offset(m);
    }
    if (f->shape == ZS_SHAPE_LSC_COUNTER)
        m->reads_address = vector_B(m) > 0;
    set_response(m, status ? 2 * GRF_B : vector_B(m));
}

/* Typed messages are those of components, blocks and atomics; others have no quads of samples. */
static bool is_access(const struct message *m)
{
    uint32_t operation = m->f->operation;
    switch (m->f->shape) {
    case ZS_SHAPE_QUAD:
        return is_typed(m) ||
               (operation != ZS_LSC_LOAD_QUAD_MSRT && operation != ZS_LSC_STORE_QUAD_MSRT);
    case ZS_SHAPE_STATUS:
        return !is_typed(m) || operation == 0x1c;
    case ZS_SHAPE_VECTOR:
        return !is_typed(m) || m->f->kind == ZS_MSG_ATOMIC;
    default:
        return m->f->shape == ZS_SHAPE_BLOCK2D || m->f->shape == ZS_SHAPE_LSC_COUNTER;
    }
}

static void decode_lsc(struct message *m)
{
    enum { SCOPE_LOCAL = 1 };
    struct zs_message_form *f = m->f;
    const struct zs_lsc_row *row = row_of(m);
    f->is_lsc = true;
    f->operation = (uint8_t)bits(m, 0, 6);
    if (!row->name)
        return;
    f->kind = row->kind;
    f->name = row->name;
    f->detail = row->detail;
    f->shape = row->shape;
    f->atomic = row->atomic;
    f->unit_B = 1;
    if (is_access(m)) {
        set_access(m);
    } else if (f->shape == ZS_SHAPE_LSC_FENCE) {
        f->surface = f->sfid == ZS_SFID_SLM ? ZS_SURFACE_SLM : ZS_SURFACE_NONE;
        f->is_near = bits(m, 11, 3) <= SCOPE_LOCAL;
        m->response_B = 0;
    } else if (f->shape == ZS_SHAPE_STATE) {
        set_lsc_address(m);
        m->reads_address = is_typed(m);
        m->response_B = is_typed(m) ? GRF_B : UNKNOWN_B;
    } else if (f->shape == ZS_SHAPE_OTHER && !is_typed(m)) {
        set_lsc_address(m);
        m->response_B = f->operation == 0x2d ? 10 : 0;
    } else if (f->kind != ZS_MSG_OTHER && !is_typed(m)) {
        set_lsc_address(m);
    }
}

/* ---- the others ---- */

/* Of what is gathered four texels' components come. */
static bool gathers_texels(const struct message *m)
{
    return strncmp(m->f->detail, "gather4", 7) == 0;
}

static void decode_sampler(struct message *m)
{
    struct zs_message_form *f = m->f;
    const struct zs_sampler_row *row = zs_sampler_e64_row(bits(m, 0, 6));
    f->operation = (uint8_t)bits(m, 0, 6);
    f->shape = ZS_SHAPE_SAMPLER;
    if (!row->name)
        return;
    f->kind = row->kind;
    f->name = "sampler";
    f->detail = row->name;
    f->surface = ZS_SURFACE_STATE;
    f->is_half = bits(m, 15, 1);
    f->sampler = (uint8_t)bits(m, 27, 3);
    f->channels = gathers_texels(m) ? 15 : (uint8_t)bits(m, 7, 4);
    f->elements = (uint8_t)__builtin_popcount(f->channels);
    f->lanes = f->exec_size;
    f->element_B = f->slot_B = f->is_half ? 2 : 4;
    m->response_B = ZS_MAX(f->exec_size * f->element_B, GRF_B) * f->elements;
    if (bits(m, 20, 1))
        m->response_B += f->exec_size == 32 ? 2 * GRF_B : GRF_B;
}

static const struct gateway {
    const char *name;
    uint8_t kind, response_B;
} gateways[16] = {
    [0] = {"end of thread", ZS_MSG_OTHER, 0},
    [4] = {"signal barrier", ZS_MSG_BARRIER, 0},
    [5] = {"signal named barrier", ZS_MSG_BARRIER, 0},
    [8] = {"save barrier", ZS_MSG_OTHER, 64},
    [9] = {"restore barrier", ZS_MSG_OTHER, 0},
    [10] = {"end of thread replay", ZS_MSG_OTHER, 0},
    [11] = {"restore stack", ZS_MSG_OTHER, 0},
    [12] = {"system routine barrier", ZS_MSG_BARRIER, 4},
};

static void decode_gateway(struct message *m)
{
    const struct gateway *row = &gateways[bits(m, 0, 4)];
    m->response_B = 0;
    m->f->shape = ZS_SHAPE_GATEWAY;
    m->f->operation = (uint8_t)bits(m, 0, 6);
    if (bits(m, 4, 2) || !row->name)
        return;
    m->f->name = row->name;
    m->f->kind = row->kind;
    m->response_B = row->response_B;
}

enum { RENDER_READ = 2, RENDER_WRITE_DUAL = 5, RENDER_WRITE = 6 };

static void decode_render(struct message *m)
{
    struct zs_message_form *f = m->f;
    uint32_t operation = bits(m, 0, 6);
    bool write = operation == RENDER_WRITE || operation == RENDER_WRITE_DUAL;
    f->name = write ? "render target write" : "render target";
    f->kind = ZS_MSG_OTHER;
    f->channels = (uint8_t)bits(m, 7, 4);
    f->elements = (uint8_t)__builtin_popcount(f->channels);
    if (write)
        m->response_B = 0;
    if (operation == RENDER_READ) {
        f->name = "render target read";
        int32_t parts = f->elements + __builtin_popcount(bits(m, 34, 4));
        m->response_B = (f->exec_size == 32 ? 2 : 1) * GRF_B * parts;
    }
}

static void decode_ray(struct message *m)
{
    m->f->name = "ray tracing";
    m->f->kind = ZS_MSG_OTHER;
    m->response_B = bits(m, 4, 2) ? UNKNOWN_B : GRF_B;
}

static void decode_spawner(struct message *m)
{
    m->f->name = "thread dispatch";
    m->f->kind = ZS_MSG_OTHER;
    m->response_B = 0;
}

/* To `f`, which has what does not stand in the descriptor. */
static void decode(struct message *m)
{
    static void (*const functions[ZS_SFID_COUNT])(struct message *) = {
        [ZS_SFID_UGM] = decode_lsc,      [ZS_SFID_SLM] = decode_lsc,
        [ZS_SFID_TGM] = decode_lsc,      [ZS_SFID_URB] = decode_lsc,
        [ZS_SFID_RC] = decode_render,    [ZS_SFID_GTWY] = decode_gateway,
        [ZS_SFID_SMPL] = decode_sampler, [ZS_SFID_RTA] = decode_ray,
        [ZS_SFID_BTD] = decode_spawner,
    };
    if (m->f->sfid < ZS_SFID_COUNT && functions[m->f->sfid])
        functions[m->f->sfid](m);
    if (!m->has_dst)
        m->response_B = 0;
}

static struct message message_of(const struct zs_isa_model *model, const struct zs_isa_inst *inst,
                                 struct zs_message_form *f)
{
    struct message m = {.inst = inst,
                        .f = f,
                        .desc = inst->desc | (uint64_t)inst->exdesc << 32,
                        .response_B = UNKNOWN_B,
                        .has_dst = inst->dst.file != ZS_FILE_NULL};
    *f = (struct zs_message_form){.generation = zs_isa_generation(model->platform),
                                  .detail = "",
                                  .sfid = inst->sfid,
                                  .desc = inst->desc,
                                  .kind = ZS_MSG_UNKNOWN,
                                  .exec_size = inst->exec_size};
    decode(&m);
    return m;
}

int32_t zs_e64_form(const struct zs_isa_model *model, const struct zs_isa_inst *inst,
                    struct zs_message_form *ret)
{
    struct message m = message_of(model, inst, ret);
    return m.response_B < 0 ? -1 : (m.response_B + GRF_B - 1) / GRF_B;
}

/* ---- for execution ---- */

/* Addresses are made of src0 and a base: 64 bits, but of surfaces and local memory. */
static void widen_addresses(const struct message *m, uint64_t scale)
{
    struct zs_message_form *f = m->f;
    bool is_lanes = f->shape != ZS_SHAPE_BLOCK2D && !is_typed(m);
    f->offset_B = f->address_B;
    if (!is_lanes)
        return;
    f->is_signed = f->sfid == ZS_SFID_UGM && bits(m, 14, 2) == A32S;
    if (scale)
        f->scale_B = (uint16_t)((1u << (scale - 1)) * f->element_B * f->elements);
    if (f->surface == ZS_SURFACE_STATELESS)
        f->address_B = 8;
}

/* Whose state s0 names; in units of 64 bytes from there on, the descriptor. */
static void set_state(const struct message *m, const struct zs_isa_send *send)
{
    enum { STATE_SHIFT = 6 };
    m->f->surface = ZS_SURFACE_BINDLESS;
    m->f->is_surface_offset = true;
    m->f->index = send->ex_desc >> STATE_SHIFT;
    if (m->f->shape != ZS_SHAPE_BLOCK2D)
        m->f->index += bits(m, 22, 5);
}

void zs_e64_send_form(const struct zs_isa_send *send, struct zs_message_form *f)
{
    struct message m = {.f = f,
                        .desc = send->desc | (uint64_t)send->desc_high << 32,
                        .response_B = UNKNOWN_B,
                        .has_dst = send->rlen};
    *f = (struct zs_message_form){.generation = send->generation,
                                  .detail = "",
                                  .sfid = send->sfid,
                                  .desc = send->desc,
                                  .kind = ZS_MSG_UNKNOWN,
                                  .exec_size = (uint8_t)send->exec_size,
                                  .is_e64 = true,
                                  .scale_B = 1};
    decode(&m);
    if (f->is_lsc && f->kind != ZS_MSG_FENCE)
        widen_addresses(&m, is_access(&m) ? bits(&m, 44, 2) : 0);
    if (f->surface == ZS_SURFACE_STATE)
        set_state(&m, send);
    if (f->shape == ZS_SHAPE_SAMPLER)
        f->has_options = bits(&m, 30, 12) || bits(&m, 14, 1) || bits(&m, 20, 2);
    else if (is_typed(&m) && is_access(&m) && f->shape != ZS_SHAPE_BLOCK2D)
        f->has_options = bits(&m, 30, 12);
    if (is_typed(&m) && f->shape == ZS_SHAPE_QUAD)
        f->shape = ZS_SHAPE_TYPED;
    else if (is_typed(&m) && f->shape == ZS_SHAPE_BLOCK2D)
        f->shape = ZS_SHAPE_MEDIA;
    else if (is_typed(&m) && f->kind == ZS_MSG_ATOMIC)
        f->shape = ZS_SHAPE_TYPED_ATOMIC;
}

/* ---- text ---- */

static void put_hex(struct zs_out *o, int32_t value)
{
    zs_out_text(o, value < 0 ? "-0x" : "0x");
    zs_out_hex(o, (uint32_t)(value < 0 ? -value : value));
}

static void put_signed(struct zs_out *o, int32_t value)
{
    if (value < 0)
        zs_out_char(o, '-');
    zs_out_decimal(o, (uint32_t)(value < 0 ? -value : value));
}

static void put_channels(struct zs_out *o, uint32_t mask, const char *names)
{
    zs_out_char(o, '.');
    for (uint32_t i = 0; i < 4; i++)
        if (mask >> i & 1)
            zs_out_char(o, names[i]);
    if (!mask)
        zs_out_text(o, "<empty>");
}

static void put_place(struct zs_out *o, uint32_t quadword)
{
    zs_out_text(o, "s0.");
    zs_out_decimal(o, quadword * 8);
}

/* Nothing for the default, which the first code is. */
static void put_caching(const struct message *m, struct zs_out *o)
{
    static const char *const names[ZS_CACHE_COUNT] = {"",    ".uc", ".ca", ".wb",
                                                      ".wt", ".st", ".ri", ".cc"};
    const struct caching *c = caching_of(m);
    zs_out_text(o, names[c->l1]);
    zs_out_text(o, names[c->l2]);
    zs_out_text(o, names[c->l3]);
    if (bits(m, 16, 4) && !c->l1)
        zs_out_text(o, ".?");
}

static void put_data(const struct message *m, struct zs_out *o)
{
    static const char *const sizes[8] = {".d8",    ".d16",    ".d32", ".d64",
                                         ".d8u32", ".d16u32", ".d??", ".d??"};
    const struct zs_message_form *f = m->f;
    bool quad = f->shape == ZS_SHAPE_QUAD || f->operation == 0x1c;
    if (is_typed(m) && quad)
        zs_out_text(o, bits(m, 15, 1) ? ".d16" : ".d32");
    else
        zs_out_text(o, sizes[bits(m, 11, 3)]);
    if (quad) {
        put_channels(o, f->channels, "xyzw");
    } else if (f->elements > 1) {
        zs_out_char(o, 'x');
        zs_out_decimal(o, f->elements);
    }
    if (f->is_transposed)
        zs_out_char(o, 't');
    if (f->is_vnni)
        zs_out_char(o, 'v');
}

static void put_address_type(const struct message *m, struct zs_out *o)
{
    static const char *const types[4] = {".a32u", ".a32s", ".a64", ".a32"};
    bool quad = m->f->shape == ZS_SHAPE_QUAD || m->f->operation == 0x1c;
    if (m->f->sfid == ZS_SFID_UGM)
        zs_out_text(o, types[bits(m, 14, 2)]);
    else if (is_typed(m) && quad)
        zs_out_text(o, bits(m, 14, 1) ? ".a16" : ".a32");
    else if (!is_typed(m) || bits(m, 14, 2) == STATEFUL)
        zs_out_text(o, ".a32");
}

static const char *const surface_types[8] = {"",    ".buf",  ".t1d",   ".t2d",
                                             ".3d", ".cube", ".cubea", ".0x7?"};

static void put_surface(const struct message *m, struct zs_out *o)
{
    zs_out_char(o, ' ');
    if (m->f->surface != ZS_SURFACE_STATE || (is_typed(m) && m->f->shape == ZS_SHAPE_BLOCK2D))
        return;
    zs_out_text(o, "surf[");
    if (m->inst->flags & ZS_INST_INDIRECT0)
        put_place(o, m->inst->desc_subreg);
    else
        zs_out_char(o, '?');
    uint32_t index = m->f->shape == ZS_SHAPE_OTHER ? 0 : bits(m, 22, 5);
    if ((is_access(m) || is_typed(m)) && m->f->shape != ZS_SHAPE_BLOCK2D && index) {
        zs_out_char(o, ',');
        zs_out_decimal(o, index);
    }
    zs_out_char(o, ']');
    if (m->inst->flags & ZS_INST_INDIRECT1) {
        zs_out_text(o, "[,");
        put_place(o, m->inst->exdesc_subreg);
        zs_out_char(o, ']');
    }
}

static bool put_texel_offsets(const struct message *m, struct zs_out *o, const char *before)
{
    int32_t u = signed_bits(m, 38, 4), v = signed_bits(m, 34, 4), r = signed_bits(m, 30, 4);
    if (!u && !v && !r)
        return false;
    zs_out_text(o, before);
    zs_out_char(o, '(');
    put_signed(o, u);
    zs_out_char(o, ',');
    put_signed(o, v);
    zs_out_char(o, ',');
    put_signed(o, r);
    zs_out_char(o, ')');
    return true;
}

static void put_offset(const struct message *m, struct zs_out *o)
{
    const struct zs_message_form *f = m->f;
    if (f->offset.x || f->offset.y) {
        zs_out_text(o, "+(");
        put_hex(o, f->offset.x);
        zs_out_char(o, ',');
        put_hex(o, f->offset.y);
        zs_out_char(o, ')');
    } else if (is_typed(m) && f->shape != ZS_SHAPE_BLOCK2D && f->shape != ZS_SHAPE_STATE &&
               is_access(m)) {
        put_texel_offsets(m, o, "+");
    } else if (f->offset.bytes) {
        zs_out_text(o, f->offset.bytes < 0 ? "" : "+");
        put_hex(o, f->offset.bytes);
    }
}

/* [s0.8+0x4*src0+0x10] */
static void put_address(const struct message *m, struct zs_out *o)
{
    const struct zs_message_form *f = m->f;
    bool base = m->inst->flags & ZS_INST_INDIRECT0 &&
                (f->surface == ZS_SURFACE_STATELESS || f->surface == ZS_SURFACE_SLM);
    bool scaled = !is_typed(m) && f->shape != ZS_SHAPE_BLOCK2D && bits(m, 44, 2);
    zs_out_char(o, '[');
    if (base)
        put_place(o, m->inst->desc_subreg);
    if (m->reads_address) {
        zs_out_text(o, base ? "+" : "");
        if (scaled && f->elements) {
            put_hex(o, f->element_B * f->elements);
            zs_out_char(o, '*');
        }
        zs_out_text(o, "src0");
        put_offset(m, o);
    }
    zs_out_char(o, ']');
}

/* The coordinates that the address payload holds, by its length. */
static void put_coordinates(const struct message *m, struct zs_out *o)
{
    static const char *const words[5] = {"?", "u", "u,v", "u,v,r", "u,v,r,lod"};
    const struct zs_message_form *f = m->f;
    bool samples = f->operation == ZS_LSC_LOAD_QUAD_MSRT || f->operation == ZS_LSC_STORE_QUAD_MSRT;
    uint32_t length = m->inst->src[0].grf_count;
    uint32_t coordinate_B = f->shape == ZS_SHAPE_BLOCK2D ? 0 : f->address_B;
    uint32_t count = length / ZS_MAX(f->exec_size * coordinate_B / (uint32_t)GRF_B, 1u);
    if (!is_typed(m) || !is_access(m) || !length)
        return;
    zs_out_text(o, "; ");
    zs_out_text(o, count > 4 ? "???" : count == 4 && samples ? "u,v,r,si" : words[count]);
}

static void put_fence(const struct message *m, struct zs_out *o)
{
    static const char *const kinds[8] = {".none",  ".evict", ".invalidate", ".discard",
                                         ".clean", ".?",     ".?",          ".?"},
                             *const scopes[8] = {".group", ".core",   ".tile",   ".gpu",
                                                 ".gpus",  ".sysrel", ".sysacq", ".?"};
    zs_out_text(o, kinds[bits(m, 8, 3)]);
    zs_out_text(o, scopes[bits(m, 11, 3)]);
}

static void put_watchpoint(const struct message *m, struct zs_out *o)
{
    zs_out_char(o, '.');
    put_address_type(m, o);
    zs_out_text(o, ".w");
    zs_out_decimal(o, bits(m, 7, 3));
    put_address_type(m, o);
}

static void put_cache_control(const struct message *m, struct zs_out *o)
{
    static const char *const sizes[4] = {".64B", ".128B", ".192B", ".256B"};
    zs_out_text(o, ".a64");
    put_caching(m, o);
    zs_out_text(o, bits(m, 7, 4) == 0 ? ".set" : bits(m, 7, 4) == 1 ? ".reset" : "");
    zs_out_text(o, sizes[bits(m, 11, 2)]);
}

static void put_access(const struct message *m, struct zs_out *o)
{
    bool quad = m->f->shape == ZS_SHAPE_QUAD || m->f->operation == 0x1c;
    if (is_typed(m) && quad)
        zs_out_text(o, surface_types[bits(m, 11, 3)]);
    put_data(m, o);
    put_address_type(m, o);
    if (!is_typed(m) && m->f->shape != ZS_SHAPE_BLOCK2D && m->f->kind != ZS_MSG_ATOMIC &&
        bits(m, 21, 1))
        zs_out_text(o, ".ovf");
    put_caching(m, o);
}

static void put_lsc(const struct message *m, struct zs_out *o)
{
    const struct zs_message_form *f = m->f;
    if (!f->name) {
        zs_out_text(o, "???");
        return;
    }
    zs_out_text(o, f->name);
    if (*f->detail) {
        zs_out_char(o, '_');
        zs_out_text(o, f->detail);
    }
    zs_out_char(o, '.');
    zs_out_text(o, zs_isa_sfid_name((enum zs_isa_sfid)f->sfid));
    if (f->shape == ZS_SHAPE_LSC_FENCE) {
        put_fence(m, o);
        return;
    }
    if (is_access(m))
        put_access(m, o);
    else if (f->shape == ZS_SHAPE_STATE)
        put_address_type(m, o);
    else if (f->shape == ZS_SHAPE_OTHER && !is_typed(m))
        put_watchpoint(m, o);
    else if (f->shape == ZS_SHAPE_CCS && !is_typed(m))
        put_cache_control(m, o);
    else if (!is_typed(m))
        put_address_type(m, o);
    put_surface(m, o);
    put_address(m, o);
    put_coordinates(m, o);
}

/* "name:parameters": those that the payload has room for. */
static void put_sampler(const struct message *m, struct zs_out *o)
{
    const struct zs_message_form *f = m->f;
    const struct zs_sampler_row *row = zs_sampler_e64_row(f->operation);
    if (!row->name) {
        zs_out_text(o, "???");
        return;
    }
    const char *parameters = strchr(row->words, ':');
    zs_out_bytes(o, row->words, (size_t)(parameters - row->words));
    if (gathers_texels(m))
        put_channels(o, 1u << bits(m, 9, 2), "rgba");
    else
        put_channels(o, f->channels, "rgba");
    zs_out_text(o, surface_types[bits(m, 11, 3)]);
    zs_out_text(o, bits(m, 14, 1) ? ".a16" : "");
    zs_out_text(o, f->is_half ? ".d16" : "");
    zs_out_text(o, bits(m, 20, 1) ? ".trtt" : "");
    zs_out_text(o, bits(m, 21, 1) ? ".feedback" : "");
    if (f->sampler && f->sampler < 7) {
        zs_out_text(o, ".smsidx=");
        zs_out_decimal(o, f->sampler);
    }
    if (bits(m, 22, 5)) {
        zs_out_text(o, ".ssidx=");
        zs_out_decimal(o, bits(m, 22, 5));
    }
    put_texel_offsets(m, o, ".uvroff");
    zs_out_text(o, ": ");
    int32_t room =
        (m->inst->src[0].grf_count + m->inst->src[1].grf_count - (int32_t)bits(m, 21, 1)) / 2;
    for (parameters++; *parameters; parameters++) {
        if (*parameters == ',' && --room <= 0)
            break;
        zs_out_char(o, *parameters);
    }
}

static void put_gateway(const struct message *m, struct zs_out *o)
{
    static const char *const ends[4] = {"", " (replay saved)", " (replay not run)",
                                        " (empty state)"};
    zs_out_text(o, m->f->name ? m->f->name : "???");
    if (m->f->name && m->f->operation == 0)
        zs_out_text(o, ends[bits(m, 7, 2)]);
    else if (m->f->kind == ZS_MSG_BARRIER && !bits(m, 7, 1))
        zs_out_text(o, " (include exited)");
}

static void put_render(const struct message *m, struct zs_out *o)
{
    static const char *const parts[4] = {"output mask", "depth", "stencil", "alpha"};
    uint32_t operation = bits(m, 0, 6);
    zs_out_text(o, operation == RENDER_READ         ? "render read"
                   : operation == RENDER_WRITE      ? "render write"
                   : operation == RENDER_WRITE_DUAL ? "render write (dual source write)"
                                                    : "?");
    zs_out_text(o, " of ");
    put_channels(o, m->f->channels, "xyzw");
    zs_out_text(o, bits(m, 14, 1) ? " with last render target select" : "");
    zs_out_text(o, bits(m, 21, 1) ? " with null target" : "");
    bool first = true;
    for (uint32_t i = 0; i < 4; i++) {
        if (!bits(m, 34 + i, 1))
            continue;
        zs_out_text(o, first ? " with " : ", ");
        zs_out_text(o, parts[i]);
        first = false;
    }
}

static void put_ray(const struct message *m, struct zs_out *o)
{
    zs_out_text(o, bits(m, 4, 2) ? "???" : "trace ray");
}

static void put_spawner(const struct message *m, struct zs_out *o)
{
    uint32_t operation = bits(m, 0, 6);
    zs_out_text(o, operation == 1   ? "spawn thread"
                   : operation == 2 ? "spawn thread (with overdispatch)"
                                    : "?");
}

size_t zs_e64_print(const struct zs_isa_model *model, const struct zs_isa_inst *inst, char *out,
                    size_t size)
{
    static void (*const functions[ZS_SFID_COUNT])(const struct message *, struct zs_out *) = {
        [ZS_SFID_UGM] = put_lsc,      [ZS_SFID_SLM] = put_lsc,   [ZS_SFID_TGM] = put_lsc,
        [ZS_SFID_URB] = put_lsc,      [ZS_SFID_RC] = put_render, [ZS_SFID_GTWY] = put_gateway,
        [ZS_SFID_SMPL] = put_sampler, [ZS_SFID_RTA] = put_ray,   [ZS_SFID_BTD] = put_spawner,
    };
    struct zs_message_form form;
    struct message m = message_of(model, inst, &form);
    struct zs_out o = {out, out + size};
    if (m.response_B >= 0) {
        zs_out_text(&o, "rd:");
        zs_out_decimal(&o, (uint32_t)m.response_B);
        zs_out_text(&o, " B; ");
    }
    if (functions[inst->sfid])
        functions[inst->sfid](&m, &o);
    else
        zs_out_text(&o, "???");
    return (size_t)(o.at - out);
}
