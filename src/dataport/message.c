/* SPDX-License-Identifier: MIT */
/*
 * The table of messages and the decoding of descriptors. What messages do stands in memory.c,
 * block.c, atomic.c, typed.c and sampler.c; src/eu/send_lower.c joins them to the interpreter.
 */
#include "dataport/dataport_priv.h"

#include <errno.h>
#include <stdatomic.h>
#include <xmmintrin.h>

/* Load/store cache messages, by opcode. Source of numbers: src/isa/lsc.def. */
#define LSC_ROW_BY(opcode, decode_, run_, wide_, atomic, fence, shape_, name_)                     \
    {                                                                                              \
        .type = (opcode), .is_atomic = (atomic), .is_fence = (fence), .name = (name_),             \
        .shape = ZS_PORT_SHAPE_##shape_, .decode = zs_port_decode_##decode_,                       \
        .run = zs_port_run_##run_, .run_avx2 = zs_port_run_##wide_                                 \
    }
#define LSC_ROW(opcode, decode_, run_, atomic, fence, shape_, name_)                               \
    LSC_ROW_BY(opcode, decode_, run_, run_, atomic, fence, shape_, name_)
/* ... with another handler for hosts with AVX2 */
#define LSC_ROW_WIDE(opcode, decode_, run_, name_)                                                 \
    LSC_ROW_BY(opcode, decode_, run_, run_##_avx2, 0, 0, LSC, name_)
#define LSC_ATOMIC(opcode, name_)                                                                  \
    LSC_ROW(opcode, lsc_atomic, lsc_atomic, 1, 0, LSC, "atomic " name_),
/* clang-format off */
#define LSC_ATOMICS(ROW) \
    ROW(0x08, "increment") \
    ROW(0x09, "decrement") \
    ROW(0x0a, "load") \
    ROW(0x0b, "store") \
    ROW(0x0c, "addition") \
    ROW(0x0d, "subtraction") \
    ROW(0x0e, "signed minimum") \
    ROW(0x0f, "signed maximum") \
    ROW(0x10, "unsigned minimum") \
    ROW(0x11, "unsigned maximum") \
    ROW(0x12, "compare and swap") \
    ROW(0x13, "float addition") \
    ROW(0x14, "float subtraction") \
    ROW(0x15, "float minimum") \
    ROW(0x16, "float maximum") \
    ROW(0x17, "float compare and swap") \
    ROW(0x18, "and") \
    ROW(0x19, "or") \
    ROW(0x1a, "xor")
/* clang-format on */
static const struct zs_port_message_row lsc_rows[] = {
    LSC_ROW_WIDE(0x00, lsc_load, lsc_load, "load"),
    LSC_ROW(0x01, lsc_load_strided, lsc_special, 0, 0, LSC, "strided load"),
    LSC_ROW_WIDE(0x02, lsc_load_quad, lsc_load, "quad load"),
    LSC_ROW(0x03, lsc_block2d_load, lsc_block2d_load, 0, 0, BLOCK2D, "2D block load"),
    LSC_ROW_WIDE(0x04, lsc_store, lsc_store, "store"),
    LSC_ROW(0x05, lsc_store_strided, lsc_special, 0, 0, LSC, "strided store"),
    LSC_ROW_WIDE(0x06, lsc_store_quad, lsc_store, "quad store"),
    LSC_ROW(0x07, lsc_block2d_store, lsc_block2d_store, 0, 0, BLOCK2D, "2D block store"),
    LSC_ROW(0x1b, lsc_load_status, lsc_load_status, 0, 0, NONE, "load of page status"),
    /* memory is never compressed here */
    LSC_ROW_WIDE(0x1c, lsc_store, lsc_store, "uncompressed store"),
    LSC_ROW_WIDE(0x20, lsc_store_quad, lsc_store, "uncompressed quad store"),
    LSC_ROW(ZS_PORT_LSC_FENCE, lsc_fence, fence, 0, 1, NONE, "fence"), LSC_ATOMICS(LSC_ATOMIC)};

/* Those of the same forms that lsc_special.c makes plain: another handler. */
#define LSC_SPECIAL(opcode, decode_, name_) LSC_ROW(opcode, decode_, lsc_special, 0, 0, LSC, name_)
#define LSC_SPECIAL_ATOMIC(opcode, name_)                                                          \
    LSC_ROW(opcode, lsc_atomic, lsc_special, 1, 0, LSC, "atomic " name_),
static const struct zs_port_message_row lsc_special_rows[] = {
    LSC_SPECIAL(0x00, lsc_load, "load"),
    LSC_SPECIAL(0x01, lsc_load_strided, "strided load"),
    LSC_SPECIAL(0x02, lsc_load_quad, "quad load"),
    LSC_SPECIAL(0x04, lsc_store, "store"),
    LSC_SPECIAL(0x05, lsc_store_strided, "strided store"),
    LSC_SPECIAL(0x06, lsc_store_quad, "quad store"),
    LSC_SPECIAL(0x1c, lsc_store, "uncompressed store"),
    LSC_SPECIAL(0x20, lsc_store_quad, "uncompressed quad store"),
    LSC_ATOMICS(LSC_SPECIAL_ATOMIC)};

/* Typed ones (TGM). */
#define LSC_TYPED_ATOMIC(opcode, name_)                                                            \
    LSC_ROW(opcode, lsc_typed_atomic, typed_atomic, 1, 0, TYPED, "typed atomic " name_),
static const struct zs_port_message_row lsc_typed_rows[] = {
    LSC_ROW(0x02, lsc_typed_load, lsc_typed_load, 0, 0, TYPED, "typed quad load"),
    LSC_ROW(0x06, lsc_typed_store, typed_write, 0, 0, TYPED, "typed quad store"),
    LSC_ROW(0x20, lsc_typed_store, typed_write, 0, 0, TYPED, "typed uncompressed quad store"),
    LSC_ROW(ZS_PORT_LSC_FENCE, lsc_fence, fence, 0, 1, NONE, "fence"),
    LSC_ATOMICS(LSC_TYPED_ATOMIC)};

static const struct zs_port_message_row rows[] = {
#define ZS_PORT_MESSAGE(sfid_, type_, decode_, run_, atomic, fence, shape_, name_)                 \
    {.sfid = (sfid_),                                                                              \
     .type = (type_),                                                                              \
     .is_atomic = (atomic),                                                                        \
     .is_fence = (fence),                                                                          \
     .shape = ZS_PORT_SHAPE_##shape_,                                                              \
     .name = (name_),                                                                              \
     .decode = zs_port_decode_##decode_,                                                           \
     .run = zs_port_run_##run_,                                                                    \
     .run_avx2 = zs_port_run_##run_},
#define ZS_PORT_MESSAGE_WIDE(sfid_, type_, decode_, run_, atomic, fence, shape_, name_)            \
    {.sfid = (sfid_),                                                                              \
     .type = (type_),                                                                              \
     .is_atomic = (atomic),                                                                        \
     .is_fence = (fence),                                                                          \
     .shape = ZS_PORT_SHAPE_##shape_,                                                              \
     .name = (name_),                                                                              \
     .decode = zs_port_decode_##decode_,                                                           \
     .run = zs_port_run_##run_,                                                                    \
     .run_avx2 = zs_port_run_##run_##_avx2},
#include "dataport/message.def"
};

enum {
    SFID_SAMPLER = 2,
    SFID_GATEWAY = 3,
    SFID_DC0 = 10,
    DC0_SCRATCH = 0x10,
};

static const char *const sfid_names[16] = {
    "null",    "UGML",
    "sampler", "gateway",
    "DC2",     "render cache",
    "URB",     "thread spawner",
    "VME",     "constant cache",
    "DC0",     "pixel interpolator",
    "DC1",     "CRE",
    "SLM",     "UGM",
};

static bool is_lsc(const struct zs_port_send *send)
{
    const struct zs_isa_generation *g = send->generation;
    return g->has_lsc &&
           (send->sfid == ZS_SFID_UGM || send->sfid == ZS_SFID_SLM || send->sfid == ZS_SFID_TGM ||
            (send->sfid == ZS_SFID_UGML && g->has_remote));
}

static uint32_t message_type(uint32_t sfid, uint32_t desc)
{
    if (sfid == SFID_SAMPLER)
        return zs_port_bits(desc, 16, 12);
    if (sfid == SFID_GATEWAY)
        return zs_port_bits(desc, 2, 0);
    uint32_t type = zs_port_bits(desc, 18, 14);
    return sfid == SFID_DC0 && (type & DC0_SCRATCH) ? DC0_SCRATCH : type;
}

static const struct zs_port_message_row *find_row(uint32_t sfid, uint32_t type)
{
    for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        if (rows[i].sfid == sfid && rows[i].type == type)
            return &rows[i];
    }
    return NULL;
}

static const struct zs_port_message_row *find_opcode(const struct zs_port_message_row *of,
                                                     size_t count, uint32_t opcode)
{
    for (size_t i = 0; i < count; i++) {
        if (of[i].type == opcode)
            return &of[i];
    }
    return NULL;
}

static const struct zs_port_message_row *find_lsc_row(const struct zs_port_send *send)
{
    uint32_t opcode = zs_port_bits(send->desc, 5, 0);
    if (send->sfid == ZS_SFID_TGM)
        return find_opcode(lsc_typed_rows, ZS_ARRAY_LEN(lsc_typed_rows), opcode);
    return find_opcode(lsc_rows, ZS_ARRAY_LEN(lsc_rows), opcode);
}

static const char *sfid_name(uint32_t sfid)
{
    return sfid == ZS_SFID_TGM ? "TGM" : sfid_names[sfid & 15];
}

/* Index 252 says that the extended descriptor has the surface state's offset in its heap, in units
 * of 64 bytes; handles of arguments are made so that this is an index into port->surfaces. */
static bool has_surface(const struct zs_port_message_row *row, uint32_t sfid)
{
    return sfid != SFID_GATEWAY && !row->is_fence && row->shape != ZS_PORT_SHAPE_SCRATCH &&
           row->shape != ZS_PORT_SHAPE_ADDRESSES && row->shape != ZS_PORT_SHAPE_A64_BLOCK;
}

bool zs_port_send_has_handle(const struct zs_port_send *send)
{
    enum { BINDLESS = 1 };
    if (is_lsc(send))
        return zs_port_bits(send->desc, 30, 29) == BINDLESS;
    const struct zs_port_message_row *row =
        find_row(send->sfid, message_type(send->sfid, send->desc));
    return row && zs_port_bits(send->desc, 7, 0) == BTI_BINDLESS && has_surface(row, send->sfid);
}

/* Where the state's number begins: as the decoders take it. */
void zs_port_send_place_handle(const struct zs_port *port, struct zs_port_send *send)
{
    enum { OFFSET_BIT = 6, STATE_BIT = 12 };
    if (!port->handles || !zs_port_send_has_handle(send))
        return;
    bool is_offset = send->is_surface_offset || is_lsc(send);
    uint32_t low_bit = is_offset ? OFFSET_BIT : STATE_BIT;
    uint32_t below = (1u << low_bit) - 1, state = send->ex_desc >> low_bit, i = 0;
    if (is_lsc(send) && !send->is_surface_offset)
        state &= ~31u;
    while (i < port->handle_count && port->handles[i] != state)
        i++;
    uint32_t index = i < port->handle_count ? port->handle_base + i : UINT32_MAX >> low_bit;
    send->ex_desc = (send->ex_desc & below) | index << low_bit;
    send->is_surface_offset = is_offset;
}

/* NULL: nothing. Rows of fewer lanes are padded, which the units do not know. */
static const char *lacks(const struct zs_isa_generation *g, const struct zs_port_message *m)
{
    bool is_image = m->space == ZS_PORT_SPACE_TYPED || m->space == ZS_PORT_SPACE_SAMPLER;
    if (is_image && !g->has_images)
        return "XeHPC has no images";
    return m->lanes && m->lanes < g->payload_lanes ? "XeHPC's have sixteen lanes" : NULL;
}

static int decode_legacy(struct zs_port_message *m, const struct zs_port_message_row *row,
                         const struct zs_port_send *send, const char **ret_why)
{
    m->bti = (uint8_t)send->desc;
    if (m->bti == BTI_BINDLESS && has_surface(row, send->sfid)) {
        uint32_t state = send->ex_desc >> (send->is_surface_offset ? 6 : 12);
        if (state > BTI_LAST) {
            *ret_why = "no surface state is there";
            return -EINVAL;
        }
        m->bti = (uint8_t)state;
    }
    if (send->sfid != SFID_SAMPLER && send->sfid != SFID_GATEWAY) {
        if (m->bti == BTI_SLM)
            m->space = ZS_PORT_SPACE_SLM;
        else if (m->bti == BTI_STATELESS || m->bti == BTI_STATELESS_NON_COHERENT)
            m->space = send->generation->has_lsc ? ZS_PORT_SPACE_PAYLOAD : ZS_PORT_SPACE_SCRATCH;
    }
    m->may_be_handle = send->generation->has_sampler_handles;
    int error = row->decode(m, send->desc);
    if (!error && row->is_atomic && !send->generation->has_more_atomics &&
        zs_port_atomic_is_later(m))
        return -ENOTSUP; /* no message of that platform */
    bool by_index = m->space == ZS_PORT_SPACE_TYPED || m->space == ZS_PORT_SPACE_GLOBAL;
    if (!error && by_index && m->bti >= BTI_SCRATCH_SURFACE && m->bti <= BTI_BINDLESS)
        return -ENOTSUP;                   /* what stands for something else */
    *ret_why = lacks(send->generation, m); /* whatever its lengths are */
    return *ret_why ? -ENOTSUP : error;
}

/* What zs_port_lsc_check() lets pass. */
static int decode_lsc(struct zs_port_message *m, const struct zs_port_message_row **row,
                      const struct zs_port_send *send)
{
    m->lanes = (uint8_t)send->exec_size;
    if (!(*row)->is_fence)
        zs_port_lsc_surface(m, send);
    int error = (*row)->decode(m, send->desc);
    if (!error && (*row)->shape == ZS_PORT_SHAPE_LSC && zs_port_lsc_is_special(m))
        *row = find_opcode(lsc_special_rows, ZS_ARRAY_LEN(lsc_special_rows), (*row)->type);
    return error;
}

/* Sentences of rules are short: the whole of it has room in a fault. */
static int refuse(const struct zs_port_send *send, const char *name, int error, const char *why,
                  struct zs_diag *diag)
{
    const char *modelled = error == -ENOTSUP ? "modelled" : "legal";
    if (why)
        return zs_diag_set(diag, error, ZS_DIAG_NO_OFFSET,
                           "%s (SFID %u, 0x%08x, 0x%08x) is not %s: %s", name, send->sfid,
                           send->desc, send->ex_desc, modelled, why);
    return zs_diag_set(
        diag, error, ZS_DIAG_NO_OFFSET,
        "%s (SFID %u, descriptor 0x%08x, extended 0x%08x, lengths %u, %u, %u) "
        "%s",
        name, send->sfid, send->desc, send->ex_desc, send->mlen, send->xlen, send->rlen,
        error == -ENOTSUP ? "in this form is not modelled" : "does not fit its registers");
}

int zs_port_message_decode(const struct zs_port_send *send, struct zs_port_message *ret_message,
                           const struct zs_port_message_row **ret_row, struct zs_diag *diag)
{
    uint32_t units = send->generation->grf_B / GRF_B;
    bool lsc = is_lsc(send);
    uint32_t type = lsc ? zs_port_bits(send->desc, 5, 0) : message_type(send->sfid, send->desc);
    const struct zs_port_message_row *row = lsc ? find_lsc_row(send) : find_row(send->sfid, type);
    const char *why = NULL;
    int error = lsc ? zs_port_lsc_check(send, &why) : 0;
    if (error)
        return refuse(send, row ? row->name : "message", error, why, diag);
    if (!row)
        return zs_diag_set(diag, -ENOTSUP, ZS_DIAG_NO_OFFSET,
                           "message type 0x%x to SFID %u (%s), descriptor 0x%08x, is not modelled",
                           type, send->sfid, sfid_name(send->sfid), send->desc);
    struct zs_port_message m = {.header_grf =
                                    (uint8_t)(!lsc && zs_port_bits(send->desc, 19, 19) ? units : 0),
                                .mlen = (uint8_t)(send->mlen * units),
                                .xlen = (uint8_t)(send->xlen * units),
                                .rlen = (uint8_t)(send->rlen * units),
                                .shape = row->shape,
                                .space = ZS_PORT_SPACE_GLOBAL,
                                .component_B = (uint16_t)send->generation->grf_B}; /* for decode */
    error = lsc ? decode_lsc(&m, &row, send) : decode_legacy(&m, row, send, &why);
    if (error)
        return refuse(send, row->name, error, why, diag);
    *ret_message = m;
    *ret_row = row;
    return 0;
}

zs_port_run_fn *zs_port_message_runner(const struct zs_port_message *message,
                                       const struct zs_port_message_row *row, bool avx2)
{
    zs_port_run_fn *own = NULL;
    bool is_store = row->run == zs_port_run_lsc_store,
         is_write = row->run == zs_port_run_untyped_write;
    if (is_store || row->run == zs_port_run_lsc_load)
        own = avx2 ? zs_port_run_lsc_pick_avx2(message, is_store)
                   : zs_port_run_lsc_pick(message, is_store);
    if (is_write || row->run == zs_port_run_untyped_read)
        own = avx2 ? zs_port_run_untyped_pick_avx2(message, is_write)
                   : zs_port_run_untyped_pick(message, is_write);
    if (row->run == zs_port_run_lsc_atomic)
        own = avx2 ? zs_port_run_local_atomic_avx2(message) : zs_port_run_local_atomic(message);
    if (row->run == zs_port_run_untyped_atomic)
        own = avx2 ? zs_port_run_untyped_local_atomic_avx2(message)
                   : zs_port_run_untyped_local_atomic(message);
    return own ? own : avx2 ? row->run_avx2 : row->run;
}

uint32_t zs_port_message_element_B(const struct zs_port_message *m)
{
    enum { SLOT_B = 4 }; /* bytes and words lie in dwords there */
    bool by_lanes = m->lanes && m->rlen && m->bytes_read && !m->header_grf;

    switch (by_lanes ? m->shape : ZS_PORT_SHAPE_NONE) {
    case ZS_PORT_SHAPE_LSC:
        return m->component_B;
    case ZS_PORT_SHAPE_OFFSETS:
    case ZS_PORT_SHAPE_DWORD_OFFSETS:
    case ZS_PORT_SHAPE_ADDRESSES:
        return m->element_B <= SLOT_B ? m->lanes * (uint32_t)SLOT_B : 0;
    default:
        return 0;
    }
}

zs_port_indexed_fn *zs_port_message_indexed(const struct zs_port_message *message,
                                            const struct zs_port_message_row *row, bool avx2)
{
    bool is_store = row->run == zs_port_run_lsc_store;
    if (!is_store && row->run != zs_port_run_lsc_load)
        return NULL;
    return avx2 ? zs_port_run_lsc_indexed_avx2(message, is_store)
                : zs_port_run_lsc_indexed(message, is_store);
}

int zs_port_payload(struct zs_port_message *message, uint32_t address_grf, uint32_t data_grf,
                    uint32_t response_grf)
{
    uint32_t mlen = message->mlen, xlen = message->xlen;
    uint32_t first = message->header_grf + address_grf;
    if (first + data_grf > mlen + xlen || response_grf > message->rlen)
        return -EINVAL;
    if (data_grf && first == mlen)
        message->data_in_src1 = 1;
    else if (first + data_grf > mlen)
        message->gather = 1;
    return 0;
}

/* `run` is another file's: the compiler moves none of its arithmetic across the change of modes. */
bool zs_port_with_own_floats(zs_port_run_fn *run, struct zs_port *port,
                             const struct zs_port_message *message, uint8_t *dst,
                             const uint8_t *src0, const uint8_t *src1, uint32_t mask)
{
    uint32_t threads = _mm_getcsr();
    _mm_setcsr(_MM_MASK_MASK);
    bool done = run(port, message, dst, src0, src1, mask);
    _mm_setcsr(threads);
    return done;
}

/* ---- messages without memory -------------------------------------------------------------------
 */

int zs_port_decode_fence(struct zs_port_message *message, uint32_t desc)
{
    message->lanes = 0;
    message->space = ZS_PORT_SPACE_NONE;
    return 0;
}

/* Near ones order what threads of one group, or of one Xe core, see of each other. */
int zs_port_decode_lsc_fence(struct zs_port_message *message, uint32_t desc)
{
    enum { SCOPE_LOCAL = 1 };
    message->op = zs_port_bits(desc, 11, 9) <= SCOPE_LOCAL;
    return zs_port_decode_fence(message, desc);
}

/*
 * Threads of a group run on one host thread. Groups of one core may run on several: these see each
 * other's writes in order on any x86 host, and nothing that needs more of a fence (stores before
 * later loads, of two groups) may count on a scope below that of the device.
 */
bool zs_port_run_fence(struct zs_port *port, const struct zs_port_message *message, uint8_t *dst,
                       const uint8_t *src0, const uint8_t *src1, uint32_t mask)
{
    if (message->op)
        atomic_thread_fence(memory_order_acq_rel);
    else
        atomic_thread_fence(memory_order_seq_cst);
    /* The response only says that the fence is done; its contents are undefined. */
    return true;
}

/* From XeHPC on (registers of 64 bytes) a barrier has a number; 0 is the group's. */
int zs_port_decode_barrier(struct zs_port_message *message, uint32_t desc)
{
    message->lanes = 0;
    message->space = ZS_PORT_SPACE_GATEWAY;
    message->op = message->component_B > GRF_B;
    return zs_port_payload(message, message->component_B / GRF_B, 0, 0);
}

static bool signal_named(struct zs_port *port, const struct zs_port_message *message,
                         uint32_t barrier, uint32_t payload)
{
    enum { PRODUCER_CONSUMER, PRODUCER, CONSUMER };
    struct zs_port_named_barriers *named = port->named_barriers;
    uint32_t type = zs_port_bits(payload, 15, 14), producers = zs_port_bits(payload, 23, 16);
    if (!named || barrier >= ZS_PORT_NAMED_BARRIERS || port->thread >= ZS_PORT_NAMED_THREADS ||
        type > CONSUMER || !producers)
        return zs_port_fail(port, message, ZS_PORT_FAULT_BARRIER, -1, barrier, 0, false);
    if (!(named->used >> barrier & 1)) {
        named->at[barrier].arrived = 0;
        named->at[barrier].consumers = 0;
    }
    named->used |= 1u << barrier;
    named->at[barrier].producers = (uint8_t)producers;
    if (type != CONSUMER)
        named->at[barrier].arrived++;
    if (type != PRODUCER)
        named->at[barrier].consumers |= UINT64_C(1) << port->thread;
    if (named->at[barrier].arrived >= producers)
        named->completed |= 1u << barrier;
    return true;
}

bool zs_port_run_barrier(struct zs_port *port, const struct zs_port_message *message, uint8_t *dst,
                         const uint8_t *src0, const uint8_t *src1, uint32_t mask)
{
    uint32_t payload = zs_port_load32(src0 + 8);
    if (message->op && zs_port_bits(payload, 7, 0))
        return signal_named(port, message, zs_port_bits(payload, 7, 0), payload);
    port->barrier_signals++;
    return true;
}
