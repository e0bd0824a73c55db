/* SPDX-License-Identifier: MIT */
/*
 * The table of messages, decoding of descriptors, and the joint to the interpreter. What messages
 * do stands in send_memory.c, send_block.c, send_atomic.c, send_typed.c and send_sampler.c.
 */
#include "eu/eu.h"
#include "eu/send_priv.h"

#include <errno.h>
#include <stdatomic.h>

static const struct zs_eu_message_row rows[] = {
#define ZS_EU_MESSAGE(sfid_, type_, decode_, run_, atomic, fence, name_)                           \
    {.sfid = (sfid_),                                                                              \
     .type = (type_),                                                                              \
     .is_atomic = (atomic),                                                                        \
     .is_fence = (fence),                                                                          \
     .name = (name_),                                                                              \
     .decode = zs_eu_decode_##decode_,                                                             \
     .run = zs_eu_run_##run_},
#include "eu/send.def"
#undef ZS_EU_MESSAGE
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
        return zs_eu_bits(desc, 16, 12);
    if (sfid == SFID_GATEWAY)
        return zs_eu_bits(desc, 2, 0);
    uint32_t type = zs_eu_bits(desc, 18, 14);
    return sfid == SFID_DC0 && (type & DC0_SCRATCH) ? DC0_SCRATCH : type;
}

static const struct zs_eu_message_row *find_row(uint32_t sfid, uint32_t type)
{
    for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        if (rows[i].sfid == sfid && rows[i].type == type)
            return &rows[i];
    }
    return NULL;
}

int zs_eu_message_decode(uint32_t sfid, uint32_t desc, uint32_t mlen, uint32_t xlen, uint32_t rlen,
                         struct zs_eu_message *ret_message,
                         const struct zs_eu_message_row **ret_row, struct zs_diag *diag)
{
    uint32_t type = message_type(sfid, desc);
    const struct zs_eu_message_row *row = find_row(sfid, type);
    if (!row)
        return zs_diag_set(diag, -ENOTSUP, ZS_DIAG_NO_OFFSET,
                           "message type 0x%x to SFID %u (%s), descriptor 0x%08x, is not modelled",
                           type, sfid, sfid_names[sfid & 15], desc);
    struct zs_eu_message m = {.bti = (uint8_t)desc,
                              .header_grf = zs_eu_bits(desc, 19, 19) != 0,
                              .mlen = (uint8_t)mlen,
                              .xlen = (uint8_t)xlen,
                              .rlen = (uint8_t)rlen,
                              .space = ZS_EU_SPACE_GLOBAL};
    if (sfid != SFID_SAMPLER && sfid != SFID_GATEWAY) {
        if (m.bti == BTI_SLM)
            m.space = ZS_EU_SPACE_SLM;
        else if (m.bti == BTI_STATELESS || m.bti == BTI_STATELESS_NON_COHERENT)
            m.space = ZS_EU_SPACE_SCRATCH;
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

int zs_eu_send_payload(struct zs_eu_message *message, uint32_t address_grf, uint32_t data_grf,
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

/* ---- joint to the interpreter
 * -------------------------------------------------------------------*/

_Static_assert(sizeof(struct zs_eu_message) <= sizeof(((struct zs_eu_send *)0)->u),
               "a decoded message is kept in the send");

static const char *const fault_names[] = {
    [ZS_EU_SEND_FAULT_NONE] = "fault",
    [ZS_EU_SEND_FAULT_OUT_OF_BOUNDS] = "out of bounds",
    [ZS_EU_SEND_FAULT_READ_ONLY] = "read-only memory",
    [ZS_EU_SEND_FAULT_MISALIGNED] = "misaligned",
    [ZS_EU_SEND_FAULT_UNWRITTEN] = "never written",
    [ZS_EU_SEND_FAULT_SURFACE] = "outside the surface",
    [ZS_EU_SEND_FAULT_SLM] = "outside local memory",
    [ZS_EU_SEND_FAULT_SCRATCH] = "outside scratch memory",
};

/* A cold path: a payload operand straddles src0 and src1, or nobody wants the response. */
static bool run_joined(struct zs_eu_thread *t, const struct zs_eu_send *send,
                       const struct zs_eu_message *m, const struct zs_eu_message_row *row,
                       uint32_t mask)
{
    uint8_t payload[32 * GRF_B], response[32 * GRF_B];
    const uint8_t *src0 = t->grf + send->d.src0_B, *src1 = t->grf + send->d.src1_B;
    if (m->gather) {
        zs_assert(m->mlen + m->xlen <= 32);
        memcpy(payload, src0, (size_t)m->mlen * GRF_B);
        memcpy(payload + (size_t)m->mlen * GRF_B, src1, (size_t)m->xlen * GRF_B);
        src0 = payload;
    }
    uint8_t *dst = send->d.has_dst ? t->grf + send->d.dst_B : response;
    return row->run(t->env, m, dst, src0, src1, mask);
}

static enum zs_eu_status exec(struct zs_eu_thread *t, const struct zs_eu_send *send,
                              uint32_t lane_mask)
{
    struct zs_eu_message m;
    memcpy(&m, send->u, sizeof(m));
    const struct zs_eu_message_row *row = send->table;
    bool done;
    if (ZS_LIKELY(!m.gather && (send->d.has_dst || m.rlen == 0)))
        done = row->run(t->env, &m, t->grf + send->d.dst_B, t->grf + send->d.src0_B,
                        t->grf + send->d.src1_B, lane_mask);
    else
        done = run_joined(t, send, &m, row, lane_mask);
    if (ZS_LIKELY(done))
        return ZS_EU_OK;
    struct zs_eu_port *port = t->env;
    return zs_eu_fault_set(t, ZS_EU_FAULT_MEMORY, "%s: %s", row->name,
                           fault_names[port->fault.kind]);
}

int zs_eu_send_lower(struct zs_eu_send *ret, struct zs_diag *diag)
{
    struct zs_eu_message message;
    const struct zs_eu_message_row *row = NULL;
    int error = zs_eu_message_decode(ret->d.sfid, ret->d.desc, ret->d.mlen, ret->d.xlen,
                                     ret->d.rlen, &message, &row, diag);
    if (error)
        return error;
    message.cache_slot = (uint8_t)(ret->d.inst % ZS_EU_PORT_CACHE);
    memset(ret->u, 0, sizeof(ret->u));
    memcpy(ret->u, &message, sizeof(message));
    ret->table = row;
    ret->exec = exec;
    return 0;
}

/* ---- messages without memory -------------------------------------------------------------------
 */

int zs_eu_decode_fence(struct zs_eu_message *message, uint32_t desc)
{
    message->lanes = 0;
    message->space = ZS_EU_SPACE_NONE;
    return 0;
}

bool zs_eu_run_fence(struct zs_eu_port *port, const struct zs_eu_message *message, uint8_t *dst,
                     const uint8_t *src0, const uint8_t *src1, uint32_t mask)
{
    atomic_thread_fence(memory_order_seq_cst);
    /* The response only says that the fence is done; its contents are undefined. */
    return true;
}

int zs_eu_decode_barrier(struct zs_eu_message *message, uint32_t desc)
{
    message->lanes = 0;
    message->space = ZS_EU_SPACE_GATEWAY;
    return zs_eu_send_payload(message, 1, 0, 0);
}

bool zs_eu_run_barrier(struct zs_eu_port *port, const struct zs_eu_message *message, uint8_t *dst,
                       const uint8_t *src0, const uint8_t *src1, uint32_t mask)
{
    port->barrier_signals++;
    return true;
}
