/* SPDX-License-Identifier: MIT */
/*
 * Load/store cache messages (UGM, SLM), from XeHPG on: loads and stores of vectors by 64-bit
 * address, from general state base on, by binding table, scratch surface and in local memory, and
 * their atomics.
 *
 * Every component of a vector has registers of its own: element e of all lanes, then e + 1. A
 * slot is a dword, or a qword; bytes and words lie in its low bits, or are packed. A transposed
 * message moves one vector from the address of lane 0, one component behind the other: it is a
 * block here.
 *
 * What they move stands in vector.c, rare forms in lsc_special.c. Cache controls change nothing.
 * Sources: IGA's MessageDecoderLSC.cpp; IGC's documentation/visa/instructions/LSC_UNTYPED.md and
 * what its IsaVerification.cpp allows; Mesa's brw_eu_defines.h (lsc_*) and
 * brw_lower_logical_sends.cpp; fs_visitor::assign_curb_setup() of its brw_fs.cpp, which loads the
 * arguments of a thread, that begin at r0.0 behind general state base, by 32-bit addresses without
 * a surface. Page status: LSC_UNTYPED.md, and IGC's IBiF_LSC_Builtins (true where an address has a
 * page of a tiled resource).
 */
#include "dataport/dataport_priv.h"

/*
 * What it looks for are null pages of tiled resources, of which there are none here: the answer is
 * yes for each lane that asks. An address that no memory has is a fault, as it is for a load.
 */
bool zs_port_run_lsc_load_status(struct zs_port *port, const struct zs_port_message *m,
                                 uint8_t *dst, const uint8_t *src0, const uint8_t *src1,
                                 uint32_t mask)
{
    uint32_t span_B = (uint32_t)m->elements * m->element_B;
    ZS_PORT_FOR_LANES(lane, mask)
    {
        uint64_t gpu_va = zs_port_load64(src0 + (size_t)lane * 8);
        if (!zs_port_range(port, m, gpu_va, span_B, (int)lane, false))
            return false;
    }
    memset(dst, 0, (size_t)m->rlen * GRF_B);
    zs_port_store32(dst, mask);
    return true;
}

/* ---- offsets of all addresses ------------------------------------------------------------------
 */

static void add32(uint8_t *at, int32_t value)
{
    zs_port_store32(at, zs_port_load32(at) + (uint32_t)value);
}

void zs_port_move(const struct zs_port_message *m, uint8_t *payload)
{
    enum { BLOCK_X = 20, BLOCK_Y = 24 };
    uint32_t count = m->strided || !m->lanes ? 1 : m->lanes;
    if (m->shape == ZS_PORT_SHAPE_BLOCK2D) {
        add32(payload + BLOCK_X, m->offset_x);
        add32(payload + BLOCK_Y, m->offset_y);
        return;
    }
    for (uint32_t lane = 0; lane < count; lane++) {
        uint8_t *at = payload + (size_t)lane * m->address_B;
        uint64_t address = 0;
        memcpy(&address, at, m->address_B);
        address += (uint64_t)(int64_t)m->offset_B;
        memcpy(at, &address, m->address_B);
    }
}

static uint64_t offset_at(const struct zs_port_message *m, const uint8_t *src0, uint32_t lane)
{
    if (m->offset_size_B == 8)
        return zs_port_load64(src0 + (size_t)lane * 8);
    uint32_t value = zs_port_load32(src0 + (size_t)lane * 4);
    return m->is_signed ? (uint64_t)(int64_t)(int32_t)value : value;
}

void zs_port_make_addresses(const struct zs_port_message *m, uint64_t base, const uint8_t *src0,
                            uint8_t *ret_payload)
{
    for (uint32_t lane = 0; lane < ZS_MAX(m->lanes, 1u); lane++) {
        uint64_t address = base + offset_at(m, src0, lane) * m->scale_B;
        memcpy(ret_payload + (size_t)lane * m->address_B, &address, m->address_B);
    }
}
