/* SPDX-License-Identifier: MIT */
/*
 * The table of messages and the decoding of descriptors. What messages do stands in memory.c,
 * block.c, atomic.c, typed.c and sampler.c; src/eu/send_lower.c joins them to the interpreter.
 */
#include "dataport/dataport_priv.h"

#include <errno.h>
#include <stdatomic.h>
#include <xmmintrin.h>

static const struct zs_port_message_row rows[] = {
#define ZS_PORT_MESSAGE(sfid_, type_, decode_, run_, atomic, fence, name_)                         \
    {.sfid = (sfid_),                                                                              \
     .type = (type_),                                                                              \
     .is_atomic = (atomic),                                                                        \
     .is_fence = (fence),                                                                          \
     .name = (name_),                                                                              \
     .decode = zs_port_decode_##decode_,                                                           \
     .run = zs_port_run_##run_,                                                                    \
     .run_avx2 = zs_port_run_##run_},
#define ZS_PORT_MESSAGE_WIDE(sfid_, type_, decode_, run_, atomic, fence, name_)                    \
    {.sfid = (sfid_),                                                                              \
     .type = (type_),                                                                              \
     .is_atomic = (atomic),                                                                        \
     .is_fence = (fence),                                                                          \
     .name = (name_),                                                                              \
     .decode = zs_port_decode_##decode_,                                                           \
     .run = zs_port_run_##run_,                                                                    \
     .run_avx2 = zs_port_run_##run_##_avx2},
#include "dataport/message.def"
};

enum {
    SFID_SAMPLER = 2,
    SFID_GATEWAY = 3,
    SFID_DC_CONSTANT = 9,
    SFID_DC0 = 10,
    SFID_DC1 = 12,
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

int zs_port_message_decode(uint32_t sfid, uint32_t desc, uint32_t mlen, uint32_t xlen,
                           uint32_t rlen, struct zs_port_message *ret_message,
                           const struct zs_port_message_row **ret_row, struct zs_diag *diag)
{
    uint32_t type = message_type(sfid, desc);
    const struct zs_port_message_row *row = find_row(sfid, type);
    if (!row)
        return zs_diag_set(diag, -ENOTSUP, ZS_DIAG_NO_OFFSET,
                           "message type 0x%x to SFID %u (%s), descriptor 0x%08x, is not modelled",
                           type, sfid, sfid_names[sfid & 15], desc);
    struct zs_port_message m = {.bti = (uint8_t)desc,
                                .header_grf = zs_port_bits(desc, 19, 19) != 0,
                                .mlen = (uint8_t)mlen,
                                .xlen = (uint8_t)xlen,
                                .rlen = (uint8_t)rlen,
                                .shape = (uint8_t)zs_port_shape(row),
                                .space = ZS_PORT_SPACE_GLOBAL};
    if (sfid != SFID_SAMPLER && sfid != SFID_GATEWAY) {
        if (m.bti == BTI_SLM)
            m.space = ZS_PORT_SPACE_SLM;
        else if (m.bti == BTI_STATELESS || m.bti == BTI_STATELESS_NON_COHERENT)
            m.space = ZS_PORT_SPACE_SCRATCH;
    }
    int error = row->decode(&m, desc);
    if (error)
        return zs_diag_set(diag, error, ZS_DIAG_NO_OFFSET,
                           "%s (SFID %u, descriptor 0x%08x, lengths %u, %u, %u) %s", row->name,
                           sfid, desc, mlen, xlen, rlen,
                           error == -ENOTSUP ? "in this form is not modelled"
                                             : "does not fit its registers");
    *ret_message = m;
    *ret_row = row;
    return 0;
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

bool zs_port_run_fence(struct zs_port *port, const struct zs_port_message *message, uint8_t *dst,
                       const uint8_t *src0, const uint8_t *src1, uint32_t mask)
{
    atomic_thread_fence(memory_order_seq_cst);
    /* The response only says that the fence is done; its contents are undefined. */
    return true;
}

int zs_port_decode_barrier(struct zs_port_message *message, uint32_t desc)
{
    message->lanes = 0;
    message->space = ZS_PORT_SPACE_GATEWAY;
    return zs_port_payload(message, 1, 0, 0);
}

bool zs_port_run_barrier(struct zs_port *port, const struct zs_port_message *message, uint8_t *dst,
                         const uint8_t *src0, const uint8_t *src1, uint32_t mask)
{
    port->barrier_signals++;
    return true;
}
