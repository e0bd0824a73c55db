/* SPDX-License-Identifier: MIT */
/*
 * Load/store cache messages of forms that compilers use little: offsets of 16 bits in local memory
 * and of 64 in surfaces, bytes and words packed in registers, lanes evenly apart from one address
 * ("strided": a base, and in dword 2 the distance). They are carried out as the plain message that
 * has an address for each lane and a dword for each element, so that vector.c knows
 * nothing of them.
 *
 * Sources: IGC's documentation/visa/instructions/LSC_UNTYPED.md (how elements stand in registers),
 * lscBuildStridedPayload() of its TranslateSendLdStLsc.cpp; Mesa's enum lsc_data_size.
 */
#include "dataport/dataport_priv.h"

enum { ELEMENTS_MAX = 8 };

static void place_strided(const struct zs_port_message *m, const uint8_t *src0, uint8_t *addresses)
{
    uint64_t base = m->address_B == 8 ? zs_port_load64(src0) : zs_port_load32(src0);
    if (m->address_B == 2)
        base &= UINT16_MAX;
    uint64_t pitch_B = zs_port_load32(src0 + 8);
    for (uint32_t lane = 0; lane < m->lanes; lane++, base += pitch_B) {
        if (m->address_B == 8)
            zs_port_store64(addresses + (size_t)lane * 8, base);
        else
            zs_port_store32(addresses + (size_t)lane * 4, (uint32_t)base);
    }
}

/* No surface has more than 4 GB: what lies farther off is outside. Returns these lanes. */
static uint32_t narrow(uint8_t *addresses, uint32_t lanes)
{
    uint32_t far = 0;
    for (uint32_t lane = 0; lane < lanes; lane++) {
        uint64_t offset = zs_port_load64(addresses + (size_t)lane * 8);
        zs_port_store32(addresses + (size_t)lane * 4, (uint32_t)offset);
        far |= (uint32_t)(offset > UINT32_MAX) << lane;
    }
    return far;
}

void zs_port_lsc_plain(const struct zs_port_message *m, const uint8_t *src0,
                       struct zs_port_plain *ret)
{
    uint32_t lanes = ZS_MAX((uint32_t)m->lanes, 1u);
    ret->far = 0;
    ret->message = *m;
    ret->message.strided = 0;
    if (m->strided) {
        ret->message.address_B = m->address_B == 8 ? 8 : 4;
        place_strided(m, src0, ret->addresses);
    } else if (m->address_B == 2) {
        ret->message.address_B = 4;
        for (uint32_t lane = 0; lane < lanes; lane++)
            zs_port_store32(ret->addresses + (size_t)lane * 4,
                            src0[lane * 2] | (uint32_t)src0[lane * 2 + 1] << 8);
    } else {
        memcpy(ret->addresses, src0, (size_t)lanes * m->address_B);
    }
    if (m->offset64) {
        ret->far = narrow(ret->addresses, lanes);
        ret->message.offset64 = 0;
        ret->message.address_B = 4;
    }
    if (m->lanes && m->slot_B < 4) {
        ret->message.slot_B = 4;
        ret->message.component_B = ZS_PORT_PLAIN_ROW_B;
    }
}

/* Elements of lanes from slots of one size to those of another; `mask`: lanes that have one. */
static void repack(const struct zs_port_message *m, uint8_t *to, uint32_t to_slot_B,
                   uint32_t to_row_B, const uint8_t *from, uint32_t from_slot_B,
                   uint32_t from_row_B, uint32_t mask)
{
    for (uint32_t e = 0; e < m->elements; e++) {
        ZS_PORT_FOR_LANES(lane, mask)
        memcpy(to + (size_t)e * to_row_B + (size_t)lane * to_slot_B,
               from + (size_t)e * from_row_B + (size_t)lane * from_slot_B, m->element_B);
    }
}

/* Lanes whose offsets no surface has: reads give 0, writes do nothing. */
static bool run_far(struct zs_port *port, const struct zs_port_message *m, uint8_t *dst,
                    const uint8_t *src0, uint32_t far)
{
    struct zs_port_area area;
    uint32_t first = (uint32_t)__builtin_ctz(far);
    bool is_write = m->bytes_written != 0;
    if (!zs_port_area(port, m, is_write, &area))
        return false;
    if (!area.drops) {
        uint64_t offset = zs_port_load64(src0 + (m->strided ? 0 : (size_t)first * 8));
        offset += m->strided ? (uint64_t)first * zs_port_load32(src0 + 8) : 0;
        return zs_port_fail(port, m, area.fault, (int)first, offset,
                            m->lanes ? m->element_B : m->block_B, is_write);
    }
    if (!m->bytes_read || m->rlen == 0)
        return true;
    if (!m->lanes)
        memset(dst, 0, m->block_B);
    for (uint32_t e = 0; m->lanes && e < m->elements; e++) {
        ZS_PORT_FOR_LANES(lane, far)
        memset(dst + (size_t)e * m->component_B + (size_t)lane * m->slot_B, 0, m->slot_B);
    }
    return true;
}

static bool run_plain(struct zs_port *port, const struct zs_port_message *m,
                      const struct zs_port_plain *plain, uint8_t *dst, const uint8_t *src1,
                      uint32_t mask)
{
    uint8_t slots[ELEMENTS_MAX * ZS_PORT_PLAIN_ROW_B];
    bool packed = m->lanes && m->slot_B < 4;
    if (m->bytes_read && m->bytes_written)
        return zs_port_run_atomic(port, &plain->message, dst, plain->addresses, src1, mask);
    if (m->bytes_written) {
        if (packed)
            repack(m, slots, 4, ZS_PORT_PLAIN_ROW_B, src1, m->slot_B, m->component_B, mask);
        return zs_port_run_store(port, &plain->message, NULL, plain->addresses,
                                 packed ? slots : src1, mask);
    }
    if (!zs_port_run_load(port, &plain->message, packed ? slots : dst, plain->addresses, NULL,
                          mask))
        return false;
    if (packed && !zs_port_is_prefetch(m))
        repack(m, dst, m->slot_B, m->component_B, slots, 4, ZS_PORT_PLAIN_ROW_B, mask);
    return true;
}

bool zs_port_run_lsc_special(struct zs_port *port, const struct zs_port_message *m, uint8_t *dst,
                             const uint8_t *src0, const uint8_t *src1, uint32_t mask)
{
    struct zs_port_plain plain;
    zs_port_lsc_plain(m, src0, &plain);
    uint32_t far = plain.far & (m->lanes ? mask : 1);
    if (ZS_LIKELY(!far) || m->bytes_read + m->bytes_written == 0)
        return run_plain(port, m, &plain, dst, src1, mask);
    uint8_t copy[32 * 8]; /* dst may be the registers they are in */
    memcpy(copy, src0, (size_t)ZS_MAX((uint32_t)m->lanes, m->strided ? 2u : 1u) * 8);
    if (m->lanes && mask & ~far && !run_plain(port, m, &plain, dst, src1, mask & ~far))
        return false;
    return run_far(port, m, dst, copy, far);
}
