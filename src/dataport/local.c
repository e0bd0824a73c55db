/* SPDX-License-Identifier: MIT */
/*
 * Local memory, checked: what is read was written before, and nothing touches the gaps between
 * arrays. In front of a message, from its payload: the handlers know nothing of it.
 *
 * The compiler reads more than a program asks for: four elements for three, whole structs with what
 * lies between their members, blocks. So a read is wrong when nothing of what a lane reads was ever
 * written, or when it begins in a gap.
 */
#include "dataport/dataport_priv.h"

static uint64_t bits_from(uint64_t at, uint64_t count)
{
    return (count == 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1) << at % 64;
}

static bool any_written(const uint64_t *written, uint64_t from, uint64_t end)
{
    for (uint64_t at = from, count; at < end; at += count) {
        count = ZS_MIN(64 - at % 64, end - at);
        if (written[at / 64] & bits_from(at, count))
            return true;
    }
    return false;
}

static void set_written(uint64_t *written, uint64_t from, uint64_t end)
{
    for (uint64_t at = from, count; at < end; at += count) {
        count = ZS_MIN(64 - at % 64, end - at);
        written[at / 64] |= bits_from(at, count);
    }
}

bool zs_port_local_is_full(struct zs_port *port)
{
    uint64_t at = port->slm_filled_B;
    for (uint64_t count; port->slm_written && at < port->slm_B; at += count) {
        count = ZS_MIN(UINT64_C(64), port->slm_B - at);
        if (~port->slm_written[at / 64] & bits_from(at, count))
            break;
    }
    port->slm_filled_B = (uint32_t)at;
    return at >= port->slm_B;
}

const struct zs_port_gap *zs_port_gap_at(const struct zs_port *port, uint64_t offset_B,
                                         uint64_t size_B)
{
    for (uint32_t i = 0; i < port->gap_count; i++) {
        const struct zs_port_gap *gap = &port->gaps[i];
        if (offset_B < gap->end_B && offset_B + size_B > gap->begin_B)
            return gap;
    }
    return NULL;
}

static enum zs_port_fault_kind judge(const struct zs_port *port, const struct zs_port_message *m,
                                     const struct zs_port_access *p, bool reads)
{
    uint64_t end = p->address + p->size_B;
    if (zs_port_gap_at(port, p->address, m->bytes_written ? p->size_B : 1))
        return ZS_PORT_FAULT_SLM_GAP;
    if (reads && !any_written(port->slm_written, p->address, end))
        return ZS_PORT_FAULT_SLM_UNWRITTEN;
    return ZS_PORT_FAULT_NONE;
}

bool zs_port_check_local(struct zs_port *port, const struct zs_port_message_row *row,
                         const struct zs_port_message *m, const uint8_t *src0, uint32_t mask)
{
    /* of one that stores, what it returns is rarely wanted */
    bool reads = port->flags & ZS_PORT_CHECK_UNWRITTEN &&
                 !(port->flags & ZS_PORT_LOCAL_UNDEFINED) && m->bytes_read &&
                 !(row->is_atomic && m->op == ZS_ATOMIC_MOV);
    struct zs_port_accesses r;
    if (m->space != ZS_PORT_SPACE_SLM || !port->slm_written || !(m->bytes_read || m->bytes_written))
        return true;
    bool keeps = port->flags & (ZS_PORT_CHECK_UNWRITTEN | ZS_PORT_LOCAL_UNDEFINED);
    if (!port->gap_count && !(reads || (m->bytes_written && keeps)))
        return true;
    if (!port->gap_count && zs_port_local_is_full(port))
        return true;
    zs_port_accesses(port, m, src0, mask, &r);
    for (uint32_t i = 0; i < r.count; i++) {
        const struct zs_port_access *p = &r.pieces[i];
        if (!p->is_slm)
            continue;
        enum zs_port_fault_kind kind = judge(port, m, p, reads);
        if (kind != ZS_PORT_FAULT_NONE)
            return zs_port_fail(port, m, kind, p->lane == ZS_PORT_NO_LANE ? -1 : p->lane,
                                p->address, p->size_B,
                                kind == ZS_PORT_FAULT_SLM_GAP && m->bytes_written);
    }
    for (uint32_t i = 0; i < r.count && m->bytes_written; i++) {
        if (r.pieces[i].is_slm)
            set_written(port->slm_written, r.pieces[i].address,
                        r.pieces[i].address + r.pieces[i].size_B);
    }
    return true;
}
