/* SPDX-License-Identifier: MIT */
/*
 * From a message's form (src/isa/message_form.h) to what carries it out: message_rule.def refuses,
 * message.def names the handler, and the payload is placed: addresses behind the header, then data,
 * element by element of all lanes, each beginning in a register of its own. Lengths in a decoded
 * message count 32 bytes.
 */
#include "dataport/dataport_priv.h"

#include <errno.h>
#include <stdio.h>

enum { UNCACHED_WRITE_BACK = 2 }; /* bits 19:17: 0 default, 1 uncached, 2 so in L1 alone */

/* ---- rules -------------------------------------------------------------------------------------
 */

static bool is_local(const struct zs_message_form *f)
{
    return f->sfid == ZS_SFID_SLM;
}

static bool is_typed(const struct zs_message_form *f)
{
    return f->sfid == ZS_SFID_TGM;
}

static bool is_texels(const struct zs_message_form *f)
{
    return f->shape == ZS_SHAPE_TYPED || f->shape == ZS_SHAPE_TYPED_ATOMIC ||
           f->shape == ZS_SHAPE_MEDIA;
}

static bool is_owords(const struct zs_message_form *f)
{
    return f->shape == ZS_SHAPE_OWORDS || f->shape == ZS_SHAPE_UNALIGNED ||
           f->shape == ZS_SHAPE_A64_BLOCK;
}

/* No surface is named, not even by its table's last index. */
static bool is_flat(const struct zs_message_form *f)
{
    return f->surface == ZS_SURFACE_SLM ||
           (f->surface == ZS_SURFACE_STATELESS && f->index != BTI_STATELESS);
}

static bool is_block2d(const struct zs_message_form *f)
{
    return f->operation == ZS_LSC_LOAD_BLOCK2D || f->operation == ZS_LSC_STORE_BLOCK2D;
}

static bool is_quad(const struct zs_message_form *f)
{
    return f->operation == ZS_LSC_LOAD_QUAD || f->operation == ZS_LSC_STORE_QUAD ||
           f->operation == ZS_LSC_STORE_UNCOMPRESSED_QUAD;
}

static bool is_later(const struct zs_message_form *f)
{
    return (f->operation >= ZS_LSC_COUNTER_ADD && f->operation <= ZS_LSC_COUNTER_STORE) ||
           f->operation == ZS_LSC_LOAD_QUAD_MSRT || f->operation == ZS_LSC_STORE_QUAD_MSRT;
}

static bool is_scratch(const struct zs_message_form *f)
{
    return f->surface == ZS_SURFACE_STATE && f->is_surface_offset &&
           f->index == ZS_PORT_SCRATCH_HANDLE >> 10;
}

static uint32_t elements(const struct zs_message_form *f)
{
    return is_block2d(f) ? 1 : f->elements;
}

/* Of each operand: an element of all lanes begins in a register of its own. */
static uint32_t data_registers(const struct zs_message_form *f)
{
    uint32_t count = f->is_transposed ? f->elements : f->exec_size, size_B = f->slot_B * count;
    uint32_t registers = ZS_MAX(size_B / f->generation->grf_B, 1u);
    return f->is_transposed ? registers : registers * f->elements;
}

static const struct rule {
    int error;
    const char *text;
} rules[] = {
#define RULE(name, error, condition, text) {-(error), text},
#define LSC_RULE                           RULE
#define PORT_RULE                          RULE
#include "dataport/message_rule.def"
};

enum {
#define RULE(name, error, condition, text) RULE_##name,
#define LSC_RULE                           RULE
#define PORT_RULE                          RULE
#include "dataport/message_rule.def"
};

/* Messages of threads whose descriptors are in registers are decoded while these run. */
static const struct rule *find_lsc_rule(const struct zs_message_form *f)
{
#define RULE(name, error, condition, text)                                                         \
    if (condition)                                                                                 \
        return &rules[RULE_##name];
#define LSC_RULE RULE
#define PORT_RULE(name, error, condition, text)
#include "dataport/message_rule.def"
    return NULL;
}

static const struct rule *find_port_rule(const struct zs_message_form *f)
{
#define RULE(name, error, condition, text)                                                         \
    if (condition)                                                                                 \
        return &rules[RULE_##name];
#define LSC_RULE(name, error, condition, text)
#define PORT_RULE RULE
#include "dataport/message_rule.def"
    return NULL;
}

static const struct rule *find_rule(const struct zs_message_form *f)
{
    if (f->kind == ZS_MSG_FENCE)
        return NULL;
    return f->is_lsc ? find_lsc_rule(f) : find_port_rule(f);
}

/* ---- rows --------------------------------------------------------------------------------------
 */

#define ROW(shape_, kind_, address_B_, payload_, run_)                                             \
    {                                                                                              \
        .shape = ZS_SHAPE_##shape_, .kind = ZS_MSG_##kind_, .address_B = (address_B_),             \
        .payload = ZS_PORT_SHAPE_##payload_, .is_atomic = ZS_MSG_##kind_ == ZS_MSG_ATOMIC,         \
        .is_fence = ZS_MSG_##kind_ == ZS_MSG_FENCE || ZS_SHAPE_##shape_ == ZS_SHAPE_SAMPLER,       \
        .run = zs_port_run_##run_                                                                  \
    }
#define ZS_PORT_MESSAGE(shape, kind, address_B, payload, run)                                      \
    ROW(shape, kind, address_B, payload, run),
#define ZS_PORT_SAMPLER(type, shape, first, apart, run)
static const struct zs_port_message_row rows[] = {
#include "dataport/message.def"
};
/* Forms that lsc_special.c makes plain: another handler. */
static const struct zs_port_message_row special_row = ROW(VECTOR, LOAD, 0, LSC, lsc_special),
                                        special_atomic_row =
                                            ROW(VECTOR, ATOMIC, 0, LSC, lsc_special);

static const struct sampler_row {
    uint8_t type, first, apart;
    struct zs_port_message_row row;
} sampler_rows[] = {
#define ZS_PORT_MESSAGE(shape, kind, address_B, payload, run)
#define ZS_PORT_SAMPLER(type_, payload_, first_, apart_, run_)                                     \
    {.type = (type_),                                                                              \
     .first = (first_),                                                                            \
     .apart = (apart_),                                                                            \
     .row = {.payload = ZS_PORT_SHAPE_##payload_, .run = zs_port_run_##run_}},
#include "dataport/message.def"
};

static const struct zs_port_message_row *find_row(const struct zs_message_form *f)
{
    for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        if (rows[i].shape == f->shape && rows[i].kind == f->kind &&
            (!rows[i].address_B || rows[i].address_B == f->address_B))
            return &rows[i];
    }
    return NULL;
}

static const struct sampler_row *find_sampler_row(const struct zs_message_form *f)
{
    for (size_t i = 0; f->shape == ZS_SHAPE_SAMPLER && i < ZS_ARRAY_LEN(sampler_rows); i++) {
        if (sampler_rows[i].type == f->operation)
            return &sampler_rows[i];
    }
    return NULL;
}

/* ---- payloads ----------------------------------------------------------------------------------
 */

/* Units of 32 bytes of whole registers. */
static uint32_t units(const struct zs_message_form *f, uint32_t size_B)
{
    return (uint32_t)zs_align_up(size_B, f->generation->grf_B) / GRF_B;
}

/* What stands behind the header: units of addresses, of data and of the response. */
static int place(struct zs_port_message *m, const struct zs_message_form *f, uint32_t address,
                 uint32_t data, uint32_t response)
{
    uint32_t first = m->header_grf + address;
    if (first + data > m->mlen + m->xlen || response > m->rlen)
        return -EINVAL;
    m->data_in_src1 = data && first == m->mlen;
    m->gather = !m->data_in_src1 && first + data > m->mlen;
    /* of load/store cache messages nothing else has been seen */
    return f->is_lsc && data && !m->data_in_src1 ? -ENOTSUP : 0;
}

/* Operands of an atomic, elements of a store: of all lanes, each of `element` units. */
static uint32_t operands(const struct zs_message_form *f, uint32_t data, uint32_t element)
{
    if (f->kind == ZS_MSG_ATOMIC)
        return (uint32_t)zs_port_atomic_operands(f) * element;
    return f->kind == ZS_MSG_STORE ? data : 0;
}

/* A load/store cache message without a response is a prefetch. */
static uint32_t response(const struct zs_port_message *m, const struct zs_message_form *f,
                         uint32_t data, uint32_t element)
{
    if (f->kind == ZS_MSG_ATOMIC)
        return f->returns ? element : 0;
    return f->kind == ZS_MSG_LOAD && !(f->is_lsc && zs_port_is_prefetch(m)) ? data : 0;
}

static void count_bytes(struct zs_port_message *m, const struct zs_message_form *f, uint32_t size_B)
{
    bool reads = f->kind != ZS_MSG_STORE && !(f->is_lsc && f->kind == ZS_MSG_LOAD && !m->rlen);
    m->bytes_read = (uint8_t)(reads ? size_B : 0);
    m->bytes_written = (uint8_t)(f->kind == ZS_MSG_LOAD ? 0 : size_B);
}

/* Lanes with an address each, or from one address on; a vector at one address. */
static int place_lanes(struct zs_port_message *m, const struct zs_message_form *f)
{
    uint32_t lanes = m->lanes ? ZS_MAX(m->lanes, (uint32_t)f->generation->payload_lanes) : 1;
    uint32_t data_B = (uint32_t)m->elements * m->element_B, element = 0;
    bool one_address = f->is_transposed || m->strided;
    m->address_B = f->address_B;
    count_bytes(m, f, m->lanes ? data_B : 1);
    if (m->lanes) {
        element = units(f, lanes * m->slot_B);
        m->component_B = (uint16_t)(element * GRF_B);
    } else {
        m->block_B = (uint16_t)data_B;
    }
    uint32_t data = m->lanes ? m->elements * element : units(f, data_B);
    return place(m, f, units(f, one_address ? 1 : lanes * f->address_B), operands(f, data, element),
                 response(m, f, data, element));
}

/* Coordinates take what is left. */
static int place_texels(struct zs_port_message *m, const struct zs_message_form *f)
{
    m->lanes = ZS_MAX(f->lanes, f->generation->payload_lanes); /* the mask names those there are */
    uint32_t element = units(f, m->lanes * 4u), data = m->elements * element;
    uint32_t stored = operands(f, data, element), length = m->mlen + m->xlen;
    uint32_t used = m->header_grf + stored, left = length > used ? length - used : 0;
    uint32_t coordinates = (f->is_lsc ? m->mlen : left) / element;
    m->component_B = (uint16_t)(element * GRF_B);
    m->coordinates = (uint8_t)coordinates;
    count_bytes(m, f, 4u * m->elements);
    if (coordinates == 0 || coordinates > 4)
        return -EINVAL;
    return place(m, f, coordinates * element, stored, response(m, f, data, element));
}

/* Whatever the lanes do. Blocks have their place in the header. */
static int place_block(struct zs_port_message *m, const struct zs_message_form *f)
{
    uint32_t data = (uint32_t)m->elements * m->element_B;
    m->address_B = f->shape == ZS_SHAPE_A64_BLOCK ? 8 : 0; /* others have an offset in the header */
    m->block_B = (uint16_t)data;
    m->block_upper = f->is_upper;
    m->block_shift = f->unit_B == 16 ? 4 : 0;
    m->block_offset_B = f->scratch_offset_B;
    m->masked = f->kind == ZS_MSG_STORE && f->is_masked;
    if (f->shape == ZS_SHAPE_SCRATCH)
        m->op = f->kind == ZS_MSG_STORE;
    count_bytes(m, f, 1);
    data = (data + GRF_B - 1) / GRF_B;
    return place(m, f, 0, operands(f, data, 0), response(m, f, data, 0));
}

/* Of blocks of two dimensions the message says how many registers there are, and no more. */
static int place_block2d(struct zs_port_message *m, const struct zs_message_form *f)
{
    bool is_write = f->kind == ZS_MSG_STORE;
    uint32_t header = f->is_lsc ? units(f, 1) : 0, data = m->xlen;
    if (!f->is_lsc)
        data = ZS_MAX(m->mlen + m->xlen, 1u) - 1;
    m->op = (uint8_t)((f->is_transposed ? ZS_PORT_BLOCK_TRANSPOSED : 0) |
                      (f->is_vnni ? ZS_PORT_BLOCK_VNNI : 0));
    m->block_B = (uint16_t)((is_write ? data : m->rlen) * GRF_B);
    m->bytes_written = is_write;
    m->bytes_read = !is_write && (m->rlen || m->shape == ZS_PORT_SHAPE_BLOCK2D);
    if (is_write && !data)
        return -EINVAL;
    return place(m, f, header, is_write ? data : 0, !is_write && !f->is_lsc);
}

static int place_parameters(struct zs_port_message *m, const struct zs_message_form *f,
                            const struct sampler_row *row)
{
    uint32_t parameter = units(f, m->lanes * 4u), length = m->mlen + m->xlen;
    m->channels = row->first;
    m->returns = row->apart;
    m->bytes_read = 16;
    if (length < m->header_grf + parameter || m->rlen == 0)
        return -EINVAL;
    m->coordinates = (uint8_t)((length - m->header_grf) / parameter);
    m->gather = m->xlen != 0;
    return 0;
}

/* Whether pages are there: a bit for each lane in one register, whatever the elements are. */
static int place_status(struct zs_port_message *m, const struct zs_message_form *f)
{
    uint32_t lanes = ZS_MAX(m->lanes, (uint32_t)f->generation->payload_lanes);
    return place(m, f, units(f, lanes * f->address_B), 0, units(f, 1));
}

static int place_payload(struct zs_port_message *m, const struct zs_message_form *f,
                         const struct sampler_row *sampler)
{
    if (sampler)
        return place_parameters(m, f, sampler);
    switch ((enum zs_port_shape)m->shape) {
    case ZS_PORT_SHAPE_OFFSETS:
    case ZS_PORT_SHAPE_DWORD_OFFSETS:
    case ZS_PORT_SHAPE_ADDRESSES:
    case ZS_PORT_SHAPE_LSC:
        return place_lanes(m, f);
    case ZS_PORT_SHAPE_TYPED:
        return place_texels(m, f);
    case ZS_PORT_SHAPE_BLOCK:
    case ZS_PORT_SHAPE_A64_BLOCK:
    case ZS_PORT_SHAPE_SCRATCH:
        return place_block(m, f);
    case ZS_PORT_SHAPE_MEDIA:
    case ZS_PORT_SHAPE_BLOCK2D:
        return place_block2d(m, f);
    default:
        break;
    }
    if (f->shape == ZS_SHAPE_STATUS)
        return place_status(m, f);
    return f->kind == ZS_MSG_BARRIER ? place(m, f, units(f, 1), 0, 0) : 0;
}

/* ---- what it reaches ---------------------------------------------------------------------------
 */

static uint8_t reached(const struct zs_message_form *f)
{
    if (f->surface == ZS_SURFACE_SCRATCH)
        return BTI_SCRATCH;
    if (is_scratch(f))
        return BTI_SCRATCH_SURFACE;
    if (f->is_lsc && is_flat(f))
        return is_local(f) ? BTI_SLM : BTI_STATELESS;
    return (uint8_t)f->index;
}

static enum zs_port_space space_of(const struct zs_message_form *f)
{
    bool has_payload = f->generation->has_lsc;
    if (f->shape == ZS_SHAPE_SAMPLER)
        return f->kind == ZS_MSG_OTHER ? ZS_PORT_SPACE_NONE : ZS_PORT_SPACE_SAMPLER;
    if (f->kind == ZS_MSG_BARRIER)
        return ZS_PORT_SPACE_GATEWAY;
    if (f->kind == ZS_MSG_FENCE)
        return ZS_PORT_SPACE_NONE;
    if (is_texels(f))
        return ZS_PORT_SPACE_TYPED;
    if (f->surface == ZS_SURFACE_SCRATCH || is_scratch(f))
        return ZS_PORT_SPACE_SCRATCH;
    if (!f->is_lsc && f->address_B == 8)
        return ZS_PORT_SPACE_GLOBAL;
    if (f->surface == ZS_SURFACE_SLM)
        return ZS_PORT_SPACE_SLM;
    if (f->surface != ZS_SURFACE_STATELESS || (is_flat(f) && f->is_lsc && f->address_B != 4))
        return ZS_PORT_SPACE_GLOBAL;
    return has_payload ? ZS_PORT_SPACE_PAYLOAD : ZS_PORT_SPACE_SCRATCH;
}

static uint8_t fence_of(const struct zs_message_form *f)
{
    return (f->is_near ? ZS_PORT_FENCE_NEAR : 0) |
           (f->surface == ZS_SURFACE_SLM ? ZS_PORT_FENCE_LOCAL : 0);
}

/* ---- decode ------------------------------------------------------------------------------------
 */

/* Whether its payload has a number. */
static uint8_t barrier_of(const struct zs_message_form *f)
{
    return f->is_e64 ? f->operation == ZS_GATEWAY_NAMED_BARRIER
                     : f->generation->has_numbered_barriers;
}

/* Addresses that src0 has, or room for them. */
static uint32_t address_count(const struct zs_message_form *f)
{
    return f->lanes ? ZS_MAX(f->lanes, (uint32_t)f->generation->payload_lanes) : 1;
}

/* Of sendg: how addresses are made, and a payload that has them. */
static void make_addresses(struct zs_port_message *m, const struct zs_message_form *f,
                           const struct zs_isa_send *send)
{
    bool is_lanes = f->is_lsc && m->shape == ZS_PORT_SHAPE_LSC;
    m->disabled = (uint8_t)(f->shape == ZS_SHAPE_SAMPLER ? ~f->channels & 15 : 0);
    if (f->shape == ZS_SHAPE_SAMPLER)
        m->sampler += (uint8_t)(send->sampler_state / ZS_PORT_SAMPLER_HANDLE_B - 1);
    if (!is_lanes)
        return;
    uint32_t from = units(f, f->offset_B * address_count(f));
    if (send->gathers && m->mlen > from) {
        m->xlen = (uint8_t)(m->mlen - from);
        m->mlen = (uint8_t)from;
    }
    m->makes = send->has_base || f->scale_B > 1 || f->offset_B != f->address_B;
    m->offset_size_B = f->offset_B;
    m->is_signed = f->is_signed;
    m->scale_B = (uint8_t)f->scale_B;
    if (m->makes && m->mlen >= from)
        m->mlen = (uint8_t)units(f, f->address_B * address_count(f));
}

static struct zs_port_message describe(const struct zs_message_form *f,
                                       const struct zs_isa_send *send,
                                       const struct zs_port_message_row *row)
{
    const struct zs_isa_generation *g = f->generation;
    uint32_t unit = units(f, 1);
    struct zs_port_message m = {
        .bti = reached(f),
        .space = (uint8_t)space_of(f),
        .shape = row->payload,
        .lanes = f->lanes,
        .header_grf = (uint8_t)(f->has_header ? unit : 0),
        .mlen = (uint8_t)(send->mlen * unit),
        .xlen = (uint8_t)(send->xlen * unit),
        .rlen = (uint8_t)(send->rlen * unit),
        .address_B = f->is_lsc ? f->address_B : 0,
        .element_B = f->element_B,
        .slot_B = f->slot_B,
        .elements = f->elements,
        .component_B = g->grf_B,
        .channels = f->is_lsc && !f->channels ? 15 : f->channels,
        .upper = f->is_lsc && f->is_upper,
        .strided = f->shape == ZS_SHAPE_STRIDED && !f->is_transposed,
        .offset64 = f->is_lsc && f->address_B == 8 && !is_flat(f),
        .op = f->kind == ZS_MSG_ATOMIC    ? f->atomic
              : f->kind == ZS_MSG_BARRIER ? barrier_of(f)
              : f->kind == ZS_MSG_FENCE   ? fence_of(f)
                                          : f->is_half,
        .returns = f->returns,
        .sampler = f->sampler,
        .may_be_handle = g->has_sampler_handles,
    };
    if (f->is_e64)
        make_addresses(&m, f, send);
    if (m.shape == ZS_PORT_SHAPE_BLOCK2D) {
        m.offset_x = (int16_t)f->offset.x;
        m.offset_y = (int16_t)f->offset.y;
    } else if (f->is_lsc) {
        m.offset_B = f->offset.bytes;
    }
    return m;
}

/* A surface's state, or that of scratch memory. */
static void form_of(const struct zs_isa_send *send, struct zs_message_form *f)
{
    zs_message_form(send, f);
    if (f->is_e64 && f->surface == ZS_SURFACE_BINDLESS && send->ex_desc == ZS_PORT_SCRATCH_STATE) {
        f->surface = ZS_SURFACE_STATE;
        f->index = ZS_PORT_SCRATCH_HANDLE >> 10;
    }
}

/* Where the data begins behind addresses that src0 has, too, the message says: as if it were a
 * payload of its own. */
static int place_gathered(struct zs_port_message *m, const struct zs_message_form *f)
{
    const struct zs_port_message all = *m;
    uint32_t unit = units(f, 1);
    int error = place_payload(m, f, NULL);
    for (uint32_t left = all.mlen; error && left > unit; left -= unit) {
        *m = all;
        m->mlen = (uint8_t)(left - unit);
        m->xlen = (uint8_t)(all.mlen - m->mlen);
        error = place_payload(m, f, NULL);
    }
    return error;
}

enum { NAME_MAX_B = 48 };

static void put_name(const struct zs_message_form *f, char *ret, size_t size)
{
    bool is_apart = f->shape != ZS_SHAPE_SAMPLER && *f->detail;
    const char *name = f->name ? f->name : "message";
    if (f->shape == ZS_SHAPE_SAMPLER && *f->detail)
        name = f->detail;
    snprintf(ret, size, "%s%s%s", name, is_apart ? " " : "", is_apart ? f->detail : "");
}

/* Sentences of rules are short: the whole of it has room in a fault. */
static int refuse(const struct zs_isa_send *send, const struct zs_message_form *f, int error,
                  const char *why, struct zs_diag *diag)
{
    char name[NAME_MAX_B];
    put_name(f, name, sizeof(name));
    if (why)
        return zs_diag_set(
            diag, error, ZS_DIAG_NO_OFFSET, "%s (SFID %u, 0x%08x, 0x%08x) is not %s: %s", name,
            send->sfid, send->desc, send->ex_desc, error == -ENOTSUP ? "modelled" : "legal", why);
    return zs_diag_set(
        diag, error, ZS_DIAG_NO_OFFSET,
        "%s (SFID %u, descriptor 0x%08x, extended 0x%08x, lengths %u, %u, %u) %s", name, send->sfid,
        send->desc, send->ex_desc, send->mlen, send->xlen, send->rlen,
        error == -ENOTSUP ? "in this form is not modelled" : "does not fit its registers");
}

int zs_port_message_decode(const struct zs_isa_send *send, struct zs_port_message *ret_message,
                           const struct zs_port_message_row **ret_row, struct zs_diag *diag)
{
    const struct zs_isa_generation *g = send->generation;
    struct zs_message_form f;
    form_of(send, &f);
    const struct sampler_row *sampler = find_sampler_row(&f);
    const struct zs_port_message_row *row = sampler ? &sampler->row : find_row(&f);
    bool is_there = !f.is_lsc || (g->has_lsc && (send->sfid != ZS_SFID_UGML || g->has_remote));
    const struct rule *rule = is_there && (row || f.is_lsc) ? find_rule(&f) : NULL;
    if (rule)
        return refuse(send, &f, rule->error, rule->text, diag);
    if (!row || !is_there)
        return zs_diag_set(diag, -ENOTSUP, ZS_DIAG_NO_OFFSET,
                           "%s to SFID %u (%s), descriptor 0x%08x, is not modelled",
                           f.name ? f.name : "message", send->sfid,
                           zs_isa_sfid_name((enum zs_isa_sfid)send->sfid), send->desc);
    struct zs_port_message m = describe(&f, send, row);
    bool finds = send->gathers && f.is_lsc && !m.xlen;
    int error = finds ? place_gathered(&m, &f) : place_payload(&m, &f, sampler);
    if (error)
        return refuse(send, &f, error, NULL, diag);
    if (m.shape == ZS_PORT_SHAPE_LSC && zs_port_lsc_is_special(&m))
        row = row->is_atomic ? &special_atomic_row : &special_row;
    *ret_message = m;
    *ret_row = row;
    return 0;
}

void zs_port_message_name(const struct zs_isa_send *send, char *ret, size_t size)
{
    struct zs_message_form f;
    form_of(send, &f);
    put_name(&f, ret, size);
}

/* ---- handles -----------------------------------------------------------------------------------
 *
 * Index 252, or BINDLESS, says that the extended descriptor has the surface state's offset in its
 * heap, in units of 64 bytes; handles of arguments are made so that this is an index into
 * port->surfaces.
 */

static bool has_handle(const struct zs_message_form *f)
{
    return f->surface == ZS_SURFACE_BINDLESS &&
           (f->is_lsc ? f->generation->has_lsc
                      : f->address_B != 8 && (find_row(f) || find_sampler_row(f)) &&
                            f->kind != ZS_MSG_OTHER);
}

bool zs_port_send_has_handle(const struct zs_isa_send *send)
{
    struct zs_message_form f;
    form_of(send, &f);
    return has_handle(&f);
}

/* Where the state's number begins: as the decoder takes it. */
void zs_port_send_place_handle(const struct zs_port *port, struct zs_isa_send *send)
{
    enum { OFFSET_BIT = 6, STATE_BIT = 12 };
    struct zs_message_form f;
    form_of(send, &f);
    if (!port->handles || !has_handle(&f))
        return;
    bool is_offset = send->is_surface_offset || f.is_lsc;
    uint32_t low_bit = is_offset ? OFFSET_BIT : STATE_BIT, below = (1u << low_bit) - 1, i = 0;
    while (i < port->handle_count && port->handles[i] != f.index)
        i++;
    uint32_t index = i < port->handle_count ? port->handle_base + i : UINT32_MAX >> low_bit;
    send->ex_desc = (send->ex_desc & below) | index << low_bit;
    send->is_surface_offset = is_offset;
}
