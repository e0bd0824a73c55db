/* SPDX-License-Identifier: MIT */
/* The joint between the interpreter and the send units. */
#include "eu/lower/send_lower.h"
#include "dataport/dataport.h"

_Static_assert(sizeof(struct zs_port_message) <= sizeof(((struct zs_eu_send *)0)->u) &&
                   _Alignof(struct zs_port_message) <= _Alignof(uint64_t),
               "a decoded message is kept in the send");

enum {
    GRF_B = 32, /* the unit of message lengths */
    RESPONSE_UNITS_MAX = 32 * 64 / GRF_B,
};

static const char *const fault_names[] = {
    [ZS_PORT_FAULT_NONE] = "fault",
    [ZS_PORT_FAULT_OUT_OF_BOUNDS] = "out of bounds",
    [ZS_PORT_FAULT_READ_ONLY] = "read-only memory",
    [ZS_PORT_FAULT_MISALIGNED] = "misaligned",
    [ZS_PORT_FAULT_UNWRITTEN] = "never written",
    [ZS_PORT_FAULT_SURFACE] = "outside the surface",
    [ZS_PORT_FAULT_SLM] = "outside local memory",
    [ZS_PORT_FAULT_SCRATCH] = "outside scratch memory",
    [ZS_PORT_FAULT_BLOCK2D] = "a surface or block that is not allowed",
    [ZS_PORT_FAULT_BARRIER] = "no such named barrier",
    [ZS_PORT_FAULT_SAMPLER_HANDLE] = "handle of a sampler",
    [ZS_PORT_FAULT_SLM_UNWRITTEN] = "local memory that was never written",
    [ZS_PORT_FAULT_SLM_GAP] = "between arrays in local memory",
};

bool zs_eu_send_joins(const struct zs_eu_send *send, const struct zs_port_message *m)
{
    return m->gather || send->d.gathers || m->makes || zs_port_moves(m);
}

/* Registers that scalars name, one behind the other; those that there are not are zeros. */
static void gather(const struct zs_eu_thread *t, const struct zs_eu_send *send, uint8_t *ret)
{
    uint32_t grf_B = t->program->regs.grf_B, file_B = zs_eu_file_B(t->program);
    const uint8_t *names = (const uint8_t *)t->s0 + send->d.gather_at_B;
    for (uint32_t i = 0; i < send->d.mlen; i++) {
        if (names[i] * grf_B < file_B)
            memcpy(ret + (size_t)i * grf_B, t->grf + names[i] * grf_B, grf_B);
        else
            memset(ret + (size_t)i * grf_B, 0, grf_B);
    }
}

static bool names_registers(struct zs_eu_thread *t, const struct zs_eu_send *send)
{
    const uint8_t *names = (const uint8_t *)t->s0 + send->d.gather_at_B;
    for (uint32_t i = 0; send->d.gathers && i < send->d.mlen; i++) {
        if (names[i] >= t->program->regs.grf_count) {
            zs_eu_fault_set(t, ZS_EU_FAULT_OPERAND, "s0 names register r%u, which does not exist",
                            names[i]);
            return false;
        }
    }
    return true;
}

/* Addresses of a sendg, and behind them the data that src0 has, too. */
static void make_addresses(const struct zs_eu_thread *t, const struct zs_eu_send *send,
                           const struct zs_port_message *m, uint8_t *ret)
{
    uint8_t all[ZS_EU_PAYLOAD_MAX_B];
    const uint8_t *from = t->grf + send->d.src0_B;
    size_t made_B = (size_t)m->mlen * GRF_B, data_B = (size_t)m->xlen * GRF_B;
    if (send->d.gathers) {
        gather(t, send, all);
        memcpy(ret + made_B, all + send->d.mlen * (size_t)t->program->regs.grf_B - data_B, data_B);
        from = all;
    }
    memset(ret, 0, made_B);
    zs_port_make_addresses(m, send->d.has_base ? t->s0[send->d.base_s0] : 0, from, ret);
}

const uint8_t *zs_eu_send_payload(const struct zs_eu_thread *t, const struct zs_eu_send *send,
                                  const struct zs_port_message *m,
                                  uint8_t joined[ZS_EU_PAYLOAD_MAX_B])
{
    const uint8_t *src0 = t->grf + send->d.src0_B;
    size_t mlen_B = (size_t)m->mlen * GRF_B, xlen_B = m->gather ? (size_t)m->xlen * GRF_B : 0;
    if (!zs_eu_send_joins(send, m))
        return src0;
    zs_assert(mlen_B + xlen_B <= ZS_EU_PAYLOAD_MAX_B);
    if (m->makes) {
        make_addresses(t, send, m, joined);
    } else if (send->d.gathers) {
        gather(t, send, joined);
    } else {
        memcpy(joined, src0, mlen_B);
        memcpy(joined + mlen_B, t->grf + send->d.src1_B, xlen_B);
    }
    if (zs_port_moves(m))
        zs_port_move(m, joined);
    return joined;
}

const uint8_t *zs_eu_send_data(const struct zs_eu_thread *t, const struct zs_eu_send *send,
                               const struct zs_port_message *m, const uint8_t *payload)
{
    return send->d.gathers ? payload + (size_t)m->mlen * GRF_B : t->grf + send->d.src1_B;
}

/* A payload operand straddles src0 and src1, addresses are moved, or nobody wants the response. */
static bool run_joined(struct zs_eu_thread *t, const struct zs_eu_send *send,
                       const struct zs_port_message *m, zs_port_run_fn *run, uint32_t mask)
{
    uint8_t joined[ZS_EU_PAYLOAD_MAX_B], response[RESPONSE_UNITS_MAX * GRF_B];
    const uint8_t *src0 = zs_eu_send_payload(t, send, m, joined);
    const uint8_t *src1 = zs_eu_send_data(t, send, m, src0);
    uint8_t *dst = send->d.has_dst ? t->grf + send->d.dst_B : response;
    return run(t->env, m, dst, src0, src1, mask);
}

static enum zs_eu_status __attribute__((noinline))
send_failed(struct zs_eu_thread *t, const struct zs_eu_send *send)
{
    struct zs_port *port = t->env;
    struct zs_isa_send described;
    char name[48];
    zs_eu_send_describe(&send->d, &described);
    zs_port_message_name(&described, name, sizeof(name));
    return zs_eu_fault_set(t, ZS_EU_FAULT_MEMORY, "%s: %s", name, fault_names[port->fault.kind]);
}

/* What most messages are: payload and response stand in registers, and each channel of the
 * instruction has an element. */
static enum zs_eu_status exec_direct(struct zs_eu_thread *t, const struct zs_eu_send *send,
                                     uint32_t lane_mask)
{
    const struct zs_port_message *m = (const struct zs_port_message *)(const void *)send->u;
    bool done = send->run(t->env, m, t->grf + send->d.dst_B, t->grf + send->d.src0_B,
                          t->grf + send->d.src1_B, lane_mask);
    return ZS_LIKELY(done) ? ZS_EU_OK : send_failed(t, send);
}

static enum zs_eu_status exec(struct zs_eu_thread *t, const struct zs_eu_send *send,
                              uint32_t lane_mask)
{
    const struct zs_port_message *m = (const struct zs_port_message *)(const void *)send->u;
    if (m->lanes) /* an instruction may have more channels than its message has elements */
        lane_mask &= UINT32_MAX >> (32 - m->lanes);
    if (ZS_UNLIKELY(lane_mask == 0))
        return ZS_EU_OK;
    if (!zs_eu_send_joins(send, m) && (send->d.has_dst || m->rlen == 0))
        return exec_direct(t, send, lane_mask);
    if (!names_registers(t, send))
        return ZS_EU_FAULT;
    return run_joined(t, send, m, send->run, lane_mask) ? ZS_EU_OK : send_failed(t, send);
}

static enum zs_eu_status exec_checked(struct zs_eu_thread *t, const struct zs_eu_send *send,
                                      uint32_t lane_mask)
{
    const struct zs_port_message *m = (const struct zs_port_message *)(const void *)send->u;
    uint8_t joined[ZS_EU_PAYLOAD_MAX_B];
    if (m->space == ZS_PORT_SPACE_SLM && (send->d.has_dst || m->bytes_written) &&
        !zs_port_check_local(t->env, send->table, m, zs_eu_send_payload(t, send, m, joined),
                             lane_mask))
        return send_failed(t, send);
    return exec(t, send, lane_mask);
}

void zs_eu_send_describe(const struct zs_eu_send_desc *d, struct zs_isa_send *ret)
{
    *ret = (struct zs_isa_send){.sfid = d->sfid,
                                .desc = d->desc,
                                .ex_desc = d->ex_desc & ~63u, /* of EOT and lengths */
                                .mlen = d->mlen,
                                .xlen = d->xlen,
                                .rlen = d->rlen,
                                .exec_size = d->exec_size,
                                .generation = d->generation,
                                .is_surface_offset = d->is_surface_offset,
                                .ex_in_register = d->ex_in_register,
                                .ex_offset = d->ex_offset,
                                .gathers = d->gathers,
                                .is_e64 = d->is_e64,
                                .has_base = d->has_base,
                                .desc_high = d->desc_high,
                                .sampler_state = d->sampler_state};
}

static int lower(struct zs_eu_send *ret, const struct zs_isa_send *send, struct zs_diag *diag)
{
    struct zs_port_message message;
    const struct zs_port_message_row *row = NULL;
    int error = zs_port_message_decode(send, &message, &row, diag);
    if (error)
        return error;
    message.cache_slot = (uint8_t)(ret->d.inst % ZS_PORT_CACHE);
    message.masked = message.masked && !ret->d.no_mask;
    message.unread = ret->d.unread;
    memset(ret->u, 0, sizeof(ret->u));
    memcpy(ret->u, &message, sizeof(message));
    /* operands that are not there: any place will do, nothing is read or written */
    uint32_t *operands[3] = {&ret->d.dst_B, &ret->d.src0_B, &ret->d.src1_B};
    for (int i = 0; i < 3; i++) {
        if (*operands[i] >= ZS_EU_GRF_FILE_MAX_B)
            *operands[i] = 0;
    }
    ret->table = row;
    ret->run = row->run;
    bool each = !message.lanes || message.lanes >= ret->d.exec_size;
    bool in_registers = !zs_eu_send_joins(ret, &message) && (ret->d.has_dst || message.rlen == 0);
    ret->exec = ret->d.checks_local ? exec_checked : each && in_registers ? exec_direct : exec;
    return 0;
}

int zs_eu_send_lower(struct zs_eu_send *ret, struct zs_diag *diag)
{
    struct zs_isa_send send;
    zs_eu_send_describe(&ret->d, &send);
    return lower(ret, &send, diag);
}

int zs_eu_send_lower_handle(const struct zs_eu_thread *t, struct zs_eu_send *send,
                            struct zs_diag *diag)
{
    struct zs_isa_send described;
    zs_eu_send_describe(&send->d, &described);
    zs_port_send_place_handle(t->env, &described);
    return lower(send, &described, diag);
}

void zs_eu_send_place_in_cache(struct zs_eu_send *send, unsigned place)
{
    struct zs_port_message *m = (struct zs_port_message *)(void *)send->u;
    m->cache_slot = (uint8_t)(place % ZS_PORT_CACHE);
}

void zs_eu_send_leave_unread(struct zs_eu_send *send, uint64_t unread)
{
    struct zs_port_message *m = (struct zs_port_message *)(void *)send->u;
    send->d.unread = m->unread = unread;
}
