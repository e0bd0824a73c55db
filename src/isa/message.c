/* SPDX-License-Identifier: MIT */
/*
 * What a send does: from its descriptors to kind, surface and bytes.
 *
 * The tables say what a type is; a shape is a function that reads how much data it moves from the
 * remaining bits. Bytes are those of an execution with all lanes active; a lane's part is
 * element_B * components.
 */
#include "isa/message_rows.h"
#include "isa/xe.h"

struct decoder {
    enum zs_isa_platform platform;
    const struct zs_isa_inst *inst;
    struct zs_isa_message *m;
    uint32_t exec_size;
};

static const char *const int_atomics[16] = {"cmpwr64", "and",  "or",    "xor",    "store", "inc",
                                            "dec",     "add",  "sub",   "revsub", "smax",  "smin",
                                            "umax",    "umin", "cmpwr", "predec"};
static const char *const float_atomics[8] = {"",     "fmax", "fmin",   "fcmpwr",
                                             "fadd", "fsub", "fadd64", "fsub64"};

static uint32_t bits(uint32_t word, uint32_t low, uint32_t count)
{
    return word >> low & ((1u << count) - 1);
}

static uint32_t count_bits(uint32_t value)
{
    return (uint32_t)__builtin_popcount(value);
}

/* The bytes that follow from element size, components and lanes. */
static void set_data(struct decoder *d, uint32_t lanes, uint32_t element_B, uint32_t components)
{
    struct zs_isa_message *m = d->m;
    uint32_t size_B = lanes * element_B * components;
    m->lanes = (uint8_t)lanes;
    m->element_B = (uint8_t)element_B;
    m->components = (uint8_t)ZS_MIN(components, 255u);
    if (m->kind == ZS_MSG_LOAD || m->kind == ZS_MSG_ATOMIC || m->kind == ZS_MSG_SAMPLE)
        m->read_B = size_B;
    if (m->kind == ZS_MSG_STORE || m->kind == ZS_MSG_ATOMIC)
        m->written_B = size_B;
    m->flags |= ZS_MSGF_BYTES_KNOWN;
}

static void set_block(struct decoder *d, uint32_t element_B, uint32_t count)
{
    set_data(d, 1, element_B, count);
    d->m->flags |= ZS_MSGF_BLOCK;
}

/* ---- shapes of the data port ---- */

static void shape_NONE(struct decoder *d)
{
    (void)d;
}

static void shape_FENCE(struct decoder *d)
{
    if (bits(d->m->desc, 0, 8) == 254)
        d->m->flags |= ZS_MSGF_SLM_FENCE;
}

static void shape_OWORDS(struct decoder *d)
{
    static const uint8_t counts[8] = {1, 1, 2, 4, 8, 16};
    uint32_t count = counts[bits(d->m->desc, 8, 3)];
    if (count)
        set_block(d, 16, count);
}

static void shape_BYTES(struct decoder *d)
{
    uint32_t code = bits(d->m->desc, 10, 2);
    if (code < 3)
        set_data(d, d->exec_size, 1u << code, 1);
}

static void shape_DWORDS(struct decoder *d)
{
    set_data(d, d->exec_size, 4, 1);
}

static void shape_QWORDS(struct decoder *d)
{
    set_data(d, d->exec_size, 8, 1u << bits(d->m->desc, 10, 2));
}

static void set_channels(struct decoder *d, uint32_t enabled)
{
    d->m->component_mask = (uint8_t)enabled;
    set_data(d, d->exec_size, 4, count_bits(enabled));
}

static void shape_UNTYPED(struct decoder *d)
{
    set_channels(d, ~bits(d->m->desc, 8, 4) & 0xf);
}

/* Each channel is moved as a dword; what it takes in the image depends on the image's format. */
static void shape_TYPED(struct decoder *d)
{
    d->m->flags |= ZS_MSGF_TYPED;
    set_channels(d, ~bits(d->m->desc, 8, 4) & 0xf);
    d->m->flags &= (uint16_t)~ZS_MSGF_BYTES_KNOWN;
}

static void set_atomic(struct decoder *d, uint32_t element_B)
{
    uint32_t op = bits(d->m->desc, 8, 4);
    d->m->detail = int_atomics[op];
    if (bits(d->m->desc, 13, 1))
        d->m->flags |= ZS_MSGF_RETURNS;
    set_data(d, d->exec_size, op == 0 && element_B == 4 ? 8 : element_B, 1);
}

static void shape_ATOMIC(struct decoder *d)
{
    set_atomic(d, 4);
}

static void shape_ATOMIC16(struct decoder *d)
{
    set_atomic(d, 2);
}

static void shape_A64_ATOMIC(struct decoder *d)
{
    set_atomic(d, bits(d->m->desc, 12, 1) ? 8 : 4);
}

static void shape_A64_ATOMIC16(struct decoder *d)
{
    set_atomic(d, 2);
}

static void shape_COUNTER(struct decoder *d)
{
    set_atomic(d, 4);
}

static void shape_COUNTER16(struct decoder *d)
{
    set_atomic(d, 2);
}

static void shape_TYPED_ATOMIC(struct decoder *d)
{
    d->m->flags |= ZS_MSGF_TYPED;
    set_atomic(d, 4);
}

static void shape_TYPED_ATOMIC16(struct decoder *d)
{
    d->m->flags |= ZS_MSGF_TYPED;
    set_atomic(d, 2);
}

static void set_float_atomic(struct decoder *d, uint32_t element_B)
{
    uint32_t op = bits(d->m->desc, 8, 3);
    d->m->detail = float_atomics[op];
    if (bits(d->m->desc, 13, 1))
        d->m->flags |= ZS_MSGF_RETURNS;
    set_data(d, d->exec_size, op >= 6 ? 8 : element_B, 1);
}

static void shape_FLOAT_ATOMIC(struct decoder *d)
{
    set_float_atomic(d, 4);
}

static void shape_FLOAT_ATOMIC16(struct decoder *d)
{
    set_float_atomic(d, 2);
}

static void shape_A64_SCATTERED(struct decoder *d)
{
    uint32_t type = bits(d->m->desc, 8, 2), code = bits(d->m->desc, 10, 2);
    if (type == 0)
        set_data(d, d->exec_size, 1, 1u << code);
    else if (type < 3)
        set_data(d, d->exec_size, type == 1 ? 4 : 8, 1u << code);
}

static void shape_A64_BLOCK(struct decoder *d)
{
    uint32_t type = bits(d->m->desc, 11, 2);
    if (type == 3)
        set_block(d, 32, 1u << ZS_MIN(bits(d->m->desc, 8, 3), 4u));
    else
        shape_OWORDS(d);
}

/* Width and height come from a register: the bytes are at most those of the response or payload. */
static void shape_MEDIA(struct decoder *d)
{
    struct zs_isa_message *m = d->m;
    uint32_t grf_B = zs_isa_platform_info(d->platform)->grf_B;
    m->flags |= ZS_MSGF_BLOCK | ZS_MSGF_TYPED;
    m->lanes = 1;
    if (m->kind == ZS_MSG_LOAD && m->rlen != ZS_LENGTH_UNKNOWN)
        m->read_B = m->rlen * grf_B;
    if (m->kind == ZS_MSG_STORE && m->mlen != ZS_LENGTH_UNKNOWN && m->xlen != ZS_LENGTH_UNKNOWN)
        m->written_B = (uint32_t)(m->mlen + m->xlen - (m->mlen ? 1 : 0)) * grf_B;
}

#define SHAPE(name) shape_##name,
static void (*const shapes[ZS_SHAPE_COUNT])(struct decoder *d) = {ZS_MESSAGE_SHAPES(SHAPE)};
#undef SHAPE

/* ---- the data port ---- */

static void set_surface(struct zs_isa_message *m, uint32_t index)
{
    enum { BTI_BINDLESS = 252, BTI_NONCOHERENT = 253, BTI_SLM = 254, BTI_STATELESS = 255 };
    m->surface_index = (uint16_t)index;
    m->surface = index == BTI_SLM                                     ? ZS_SURFACE_SLM
                 : index == BTI_BINDLESS                              ? ZS_SURFACE_BINDLESS
                 : index == BTI_STATELESS || index == BTI_NONCOHERENT ? ZS_SURFACE_STATELESS
                                                                      : ZS_SURFACE_BTI;
}

/* Descriptor bit 18 of dc0: blocks of registers at an offset into the thread's scratch space. */
static void decode_scratch(struct decoder *d)
{
    struct zs_isa_message *m = d->m;
    bool write = bits(m->desc, 17, 1);
    m->kind = write ? ZS_MSG_STORE : ZS_MSG_LOAD;
    m->name = write ? "scratch write" : "scratch read";
    m->surface = ZS_SURFACE_SCRATCH;
    m->address_bits = 32;
    set_block(d, 32, 1u << bits(m->desc, 12, 2));
}

static void decode_dataport(struct decoder *d)
{
    struct zs_isa_message *m = d->m;
    if (bits(m->desc, 19, 1))
        m->flags |= ZS_MSGF_HEADER;
    if (m->sfid == ZS_SFID_DC0 && bits(m->desc, 18, 1)) {
        decode_scratch(d);
        return;
    }
    const struct zs_dataport_row *row = zs_dataport_row((enum zs_isa_sfid)m->sfid, m->desc);
    if (!row->name)
        return;
    m->kind = row->kind;
    m->name = row->name;
    m->address_bits = row->address_bits;
    if (row->kind != ZS_MSG_FENCE && row->kind != ZS_MSG_OTHER)
        set_surface(m, bits(m->desc, 0, 8));
    shapes[row->shape](d);
}

/* ---- sampler ---- */

static void decode_sampler(struct decoder *d)
{
    struct zs_isa_message *m = d->m;
    const struct zs_sampler_row *row = zs_sampler_row(d->platform, m->desc);
    if (bits(m->desc, 19, 1))
        m->flags |= ZS_MSGF_HEADER;
    set_surface(m, bits(m->desc, 0, 8));
    m->sampler_index = (uint8_t)bits(m->desc, 8, 4);
    m->flags |= ZS_MSGF_TYPED;
    if (!row->name)
        return;
    m->kind = row->kind;
    m->name = "sampler";
    m->detail = row->name;
    if (row->kind != ZS_MSG_SAMPLE || m->rlen == ZS_LENGTH_UNKNOWN)
        return;
    /* what comes back; how much of the image that takes depends on format and filter */
    uint32_t element_B = bits(m->desc, 30, 1) ? 2 : 4;
    uint32_t size_B = m->rlen * zs_isa_platform_info(d->platform)->grf_B;
    set_data(d, d->exec_size, element_B, size_B / (ZS_MAX(d->exec_size, 8u) * element_B));
    m->flags &= (uint16_t)~ZS_MSGF_BYTES_KNOWN;
}

/* ---- load/store cache ---- */

static void set_lsc_surface(struct zs_isa_message *m)
{
    static const uint8_t surfaces[4] = {ZS_SURFACE_STATELESS, ZS_SURFACE_BINDLESS, ZS_SURFACE_STATE,
                                        ZS_SURFACE_BTI};
    m->surface = m->sfid == ZS_SFID_SLM ? ZS_SURFACE_SLM : surfaces[bits(m->desc, 29, 2)];
    if (m->surface != ZS_SURFACE_BTI)
        return;
    if (m->flags & ZS_MSGF_EXDESC_REG)
        m->surface = ZS_SURFACE_REGISTER;
    else
        set_surface(m, m->exdesc >> 24);
}

struct zs_lsc_caching zs_lsc_caching(enum zs_isa_platform platform, uint32_t desc, bool load)
{
    const struct zs_isa_generation *generation = zs_isa_generation(platform);
    return (load ? generation->loads : generation->stores)[bits(desc, 16, 4)];
}

static int32_t sign_extend(uint32_t value, uint32_t count)
{
    uint32_t sign = 1u << (count - 1);
    return (int32_t)((value ^ sign) - sign);
}

struct zs_lsc_offset zs_lsc_offset(enum zs_isa_platform platform, uint32_t desc,
                                   bool exdesc_in_register, uint32_t exdesc, uint32_t exdesc_offset)
{
    enum { FLAT, BSS, SS, BTI };
    uint32_t surface = bits(desc, 29, 2), word = exdesc_in_register ? exdesc_offset : exdesc;
    uint8_t shape = zs_lsc_row(platform, desc)->shape;
    struct zs_lsc_offset offset = {0};
    if (!zs_isa_generation(platform)->has_offsets)
        return offset;
    if (surface == FLAT && shape == ZS_LSC_BLOCK2D) {
        offset.x = sign_extend(bits(word, 12, 10), 10);
        offset.y = sign_extend(bits(word, 22, 10), 10);
    } else if (surface == FLAT) {
        offset.bytes = sign_extend(bits(word, 12, 20), 20);
    } else if (surface != BTI && exdesc_in_register) { /* around the register's number */
        offset.bytes = sign_extend(bits(word, 19, 13) << 4 | bits(word, 12, 4), 17);
    } else if (surface == BTI && !exdesc_in_register) {
        offset.bytes = sign_extend(bits(word, 12, 12), 12);
    }
    return offset;
}

static void set_lsc_data(struct decoder *d, enum zs_lsc_shape shape)
{
    static const uint8_t element_B[8] = {1, 2, 4, 8, 1, 2, 2};
    static const uint8_t vectors[8] = {1, 2, 3, 4, 8, 16, 32, 64};
    static const uint8_t address_bits[4] = {0, 16, 32, 64};
    struct zs_isa_message *m = d->m;
    uint32_t size_B = element_B[bits(m->desc, 9, 3)];
    m->address_bits = address_bits[bits(m->desc, 7, 2)];
    if (size_B == 0)
        return;
    if (shape == ZS_LSC_QUAD) {
        m->component_mask = (uint8_t)bits(m->desc, 12, 4);
        set_data(d, d->exec_size, size_B, count_bits(m->component_mask));
    } else if (bits(m->desc, 15, 1)) {
        m->flags |= ZS_MSGF_TRANSPOSE;
        set_block(d, size_B, vectors[bits(m->desc, 12, 3)]);
    } else {
        set_data(d, d->exec_size, size_B, vectors[bits(m->desc, 12, 3)]);
    }
}

static void set_lsc_address(struct decoder *d, const struct zs_lsc_row *row)
{
    struct zs_isa_message *m = d->m;
    struct zs_lsc_offset offset = zs_lsc_offset(d->platform, m->desc, m->flags & ZS_MSGF_EXDESC_REG,
                                                m->exdesc, d->inst->exdesc_offset);
    m->offset_B = offset.bytes;
    m->offset_x = (int16_t)offset.x;
    m->offset_y = (int16_t)offset.y;
    if (m->sfid == ZS_SFID_SLM || row->kind > ZS_MSG_ATOMIC)
        return;
    struct zs_lsc_caching caching = zs_lsc_caching(d->platform, m->desc, row->kind == ZS_MSG_LOAD);
    m->cache_l1 = caching.l1;
    m->cache_l3 = caching.l3;
}

static void decode_lsc(struct decoder *d)
{
    struct zs_isa_message *m = d->m;
    const struct zs_lsc_row *row = zs_lsc_row(d->platform, m->desc);
    if (!row->name)
        return;
    m->kind = row->kind;
    m->name = row->name;
    m->detail = row->detail;
    if (row->shape == ZS_LSC_FENCE) {
        m->flags |= m->sfid == ZS_SFID_SLM ? ZS_MSGF_SLM_FENCE : 0;
        return;
    }
    set_lsc_surface(m);
    set_lsc_address(d, row);
    if (row->kind == ZS_MSG_ATOMIC && m->rlen != ZS_LENGTH_UNKNOWN && m->rlen)
        m->flags |= ZS_MSGF_RETURNS;
    if (row->shape == ZS_LSC_VECTOR || row->shape == ZS_LSC_QUAD) {
        set_lsc_data(d, (enum zs_lsc_shape)row->shape);
    } else if (row->shape == ZS_LSC_STRIDED) { /* lanes' elements stand at equal distances */
        set_lsc_data(d, ZS_LSC_VECTOR);
    } else if (row->shape == ZS_LSC_COUNTER) {
        m->address_bits = 32;
        set_data(d, d->exec_size, 4, 1);
    } else if (row->shape == ZS_LSC_BLOCK2D) {
        enum { LONGEST = 31 }; /* that the field holds: 32 registers are said as 31 */
        m->address_bits = 64;
        shape_MEDIA(d);
        m->flags &= (uint16_t)~ZS_MSGF_TYPED;
        if (m->kind == ZS_MSG_LOAD && m->rlen == LONGEST)
            m->read_B += zs_isa_platform_info(d->platform)->grf_B;
    }
    if (m->sfid == ZS_SFID_TGM) {
        m->flags |= ZS_MSGF_TYPED;
        m->flags &= (uint16_t)~ZS_MSGF_BYTES_KNOWN;
    }
}

/* ---- the rest ---- */

static void decode_gateway(struct decoder *d)
{
    static const char *const names[16] = {"open",
                                          "signal event",
                                          "monitor event",
                                          "unmonitor event",
                                          "barrier",
                                          "",
                                          "wait",
                                          "",
                                          "save barrier",
                                          "restore barrier",
                                          "end of restore",
                                          "restore stack",
                                          "system routine barrier"};
    struct zs_isa_message *m = d->m;
    uint32_t function = bits(m->desc, 0, d->platform >= ZS_ISA_XE2 ? 4 : 3);
    const char *name = names[function] ? names[function] : "";
    m->kind = function == 4 ? ZS_MSG_BARRIER : ZS_MSG_OTHER;
    m->name = *name ? name : "gateway";
}

static const struct {
    uint8_t sfid;
    const char *name;
} other_names[] = {
    {ZS_SFID_NULL, "null"},
    {ZS_SFID_TS, "thread spawner"},
    {ZS_SFID_VME, "motion estimation"},
    {ZS_SFID_PIXI, "pixel interpolator"},
    {ZS_SFID_CRE, "refinement"},
    {ZS_SFID_BTD, "thread dispatch"},
    {ZS_SFID_RTA, "ray tracing"},
};

/* The surface of a render target; colours have four channels per lane. */
static void decode_render(struct decoder *d)
{
    struct zs_isa_message *m = d->m;
    uint32_t type = bits(m->desc, 14, 4);
    m->kind = type == 0xc ? ZS_MSG_STORE : type == 0xd ? ZS_MSG_LOAD : ZS_MSG_OTHER;
    m->name = type == 0xc   ? "render target write"
              : type == 0xd ? "render target read"
                            : "render target";
    if (m->kind == ZS_MSG_OTHER)
        return;
    m->flags |= ZS_MSGF_TYPED | (bits(m->desc, 19, 1) ? ZS_MSGF_HEADER : 0);
    set_surface(m, bits(m->desc, 0, 8));
    set_data(d, d->exec_size, bits(m->desc, 30, 1) ? 2 : 4, 4);
    m->flags &= (uint16_t)~ZS_MSGF_BYTES_KNOWN;
}

/* Up to XeHPC; later urb messages are those of the load/store cache. */
static void decode_urb(struct decoder *d)
{
    struct zs_isa_message *m = d->m;
    uint32_t operation = bits(m->desc, 0, 4);
    m->kind = ZS_MSG_OTHER;
    m->name = operation == 7   ? "urb write"
              : operation == 8 ? "urb read"
              : operation == 9 ? "urb fence"
                               : "urb";
    if (operation == 9)
        m->kind = ZS_MSG_FENCE;
}

static void decode_other(struct decoder *d)
{
    for (uint32_t i = 0; i < ZS_ARRAY_LEN(other_names); i++) {
        if (other_names[i].sfid == d->m->sfid) {
            d->m->kind = ZS_MSG_OTHER;
            d->m->name = other_names[i].name;
        }
    }
}

/* Up to XeHP an immediate extended descriptor has the length; from XeHPG on, and with ExBSO, the
 * instruction, but null has none. */
int32_t zs_isa_second_length(const struct zs_isa_model *model, const struct zs_isa_inst *inst)
{
    bool in_register = inst->flags & ZS_INST_EXDESC_REG;
    if (!in_register && model->platform < ZS_ISA_XE_HPG)
        return (int32_t)(inst->exdesc >> 6 & 0x1f);
    bool gathered = inst->source_count == 1 && model->platform >= ZS_ISA_XE3;
    if (gathered || (inst->source_count > 1 && inst->src[1].file == ZS_FILE_NULL))
        return 0;
    return zs_xe_has_second_length(model, inst) ? inst->src[1].grf_count : -1;
}

static void read_descriptors(const struct zs_isa_model *model, const struct zs_isa_inst *inst,
                             struct zs_isa_message *m)
{
    bool in_register = inst->flags & ZS_INST_DESC_REG;
    int32_t xlen = zs_isa_second_length(model, inst);
    uint32_t flags = in_register ? ZS_MSGF_DESC_REG : 0;
    flags |= inst->flags & ZS_INST_EXDESC_REG ? ZS_MSGF_EXDESC_REG : 0;
    flags |= inst->flags & ZS_INST_EOT ? ZS_MSGF_EOT : 0;
    *m = (struct zs_isa_message){.sfid = inst->sfid,
                                 .desc = inst->desc,
                                 .exdesc = inst->exdesc,
                                 .flags = (uint16_t)flags,
                                 .mlen = ZS_LENGTH_UNKNOWN,
                                 .rlen = ZS_LENGTH_UNKNOWN,
                                 .xlen = xlen < 0 ? (uint8_t)ZS_LENGTH_UNKNOWN : (uint8_t)xlen};
    if (!in_register) {
        m->mlen = (uint8_t)(inst->desc >> 25 & 15);
        m->rlen = (uint8_t)(inst->desc >> 20 & 31);
    }
}

void zs_isa_make_message(const struct zs_isa_model *model, const struct zs_isa_inst *inst,
                         struct zs_isa_message *m)
{
    enum zs_isa_platform platform = model->platform;
    read_descriptors(model, inst, m);
    struct decoder d = {
        .platform = platform, .inst = inst, .m = m, .exec_size = ZS_MAX(inst->exec_size, 1u)};
    m->name = m->detail = "";
    m->kind = ZS_MSG_UNKNOWN;
    if (m->flags & ZS_MSGF_DESC_REG) {
        m->surface = m->sfid == ZS_SFID_SLM ? ZS_SURFACE_SLM : ZS_SURFACE_REGISTER;
        return;
    }
    if (m->flags & ZS_MSGF_EOT && (m->sfid == ZS_SFID_TS || m->sfid == ZS_SFID_GTWY)) {
        m->kind = ZS_MSG_EOT;
        m->name = "end of thread";
    } else if (m->sfid == ZS_SFID_DC0 || m->sfid == ZS_SFID_DC1 || m->sfid == ZS_SFID_DCRO) {
        decode_dataport(&d);
    } else if (m->sfid == ZS_SFID_SMPL) {
        decode_sampler(&d);
    } else if (m->sfid == ZS_SFID_GTWY) {
        decode_gateway(&d);
    } else if (m->sfid == ZS_SFID_RC) {
        decode_render(&d);
    } else if (zs_isa_generation(platform)->has_lsc && zs_is_lsc(platform, m->sfid)) {
        decode_lsc(&d);
    } else if (m->sfid == ZS_SFID_URB) {
        decode_urb(&d);
    } else {
        decode_other(&d);
    }
}
