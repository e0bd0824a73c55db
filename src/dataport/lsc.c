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
 * What they move stands in lsc_move.c, rare forms in lsc_special.c. Cache controls change nothing.
 * Sources: IGA's MessageDecoderLSC.cpp; IGC's documentation/visa/instructions/LSC_UNTYPED.md and
 * what its IsaVerification.cpp allows; Mesa's brw_eu_defines.h (lsc_*) and
 * brw_lower_logical_sends.cpp; fs_visitor::assign_curb_setup() of its brw_fs.cpp, which loads the
 * arguments of a thread, that begin at r0.0 behind general state base, by 32-bit addresses without
 * a surface. Page status: LSC_UNTYPED.md, and IGC's IBiF_LSC_Builtins (true where an address has a
 * page of a tiled resource).
 */
#include "dataport/dataport_priv.h"

#include <errno.h>

/* ---- decode ------------------------------------------------------------------------------------
 */

static void decode_data_size(struct zs_port_message *m, uint32_t desc)
{
    const struct zs_port_lsc_size *size = zs_port_lsc_size(desc);
    m->upper = size->upper;
    m->element_B = size->element_B;
    m->slot_B = size->slot_B;
}

/* Registers are counted in 32 bytes; zs_port_message_decode() has left the size of one in
 * component_B. */
static uint32_t registers_of(uint32_t size_B, uint32_t grf_B)
{
    return (uint32_t)zs_align_up(size_B, grf_B) / GRF_B;
}

/* Lanes that a payload has room for: at least those whose dwords fill a register. */
static uint32_t payload_lanes(const struct zs_port_message *m, uint32_t grf_B)
{
    return ZS_MAX((uint32_t)m->lanes, grf_B / 4);
}

/* Data is the second payload: nothing else has been seen. */
static int data_is_apart(const struct zs_port_message *m, bool has_data)
{
    return has_data && !m->data_in_src1 ? -ENOTSUP : 0;
}

static int finish(struct zs_port_message *m, uint32_t data_B, bool is_write, bool one_address)
{
    uint32_t grf_B = m->component_B;
    bool has_response = !is_write && !zs_port_is_prefetch(m);
    uint32_t lanes = m->lanes ? payload_lanes(m, grf_B) : 1;
    uint32_t address_grf = registers_of(one_address ? 1 : lanes * m->address_B, grf_B);
    if (m->lanes)
        m->component_B = (uint16_t)zs_align_up((uint64_t)lanes * m->slot_B, grf_B);
    uint32_t data_grf =
        m->lanes ? m->elements * (uint32_t)m->component_B / GRF_B : registers_of(data_B, grf_B);
    int error =
        zs_port_payload(m, address_grf, is_write ? data_grf : 0, has_response ? data_grf : 0);
    if (!is_write && !has_response)
        m->bytes_read = 0;
    return error ? error : data_is_apart(m, is_write);
}

static int decode_vector(struct zs_port_message *m, uint32_t desc, bool is_write)
{
    decode_data_size(m, desc);
    m->elements = (uint8_t)zs_port_lsc_vector(desc);
    m->channels = 15;
    uint32_t data_B = (uint32_t)m->elements * m->element_B;
    bool transposed = zs_port_bits(desc, 15, 15), one_address = transposed || m->strided;
    if (transposed) {
        m->lanes = m->slot_B != m->element_B; /* one lane, or a block */
        m->block_B = (uint16_t)data_B;
        m->strided = 0;
    }
    if (is_write)
        m->bytes_written = (uint8_t)(m->lanes ? data_B : 1);
    else
        m->bytes_read = (uint8_t)(m->lanes ? data_B : 1);
    return finish(m, data_B, is_write, one_address);
}

/* Of four dwords (words, bytes, qwords) those that the mask names. */
static int decode_quad(struct zs_port_message *m, uint32_t desc, bool is_write)
{
    decode_data_size(m, desc);
    m->channels = (uint8_t)zs_port_bits(desc, 15, 12);
    m->elements = (uint8_t)__builtin_popcount(m->channels);
    uint32_t data_B = (uint32_t)m->elements * m->element_B;
    if (is_write)
        m->bytes_written = (uint8_t)data_B;
    else
        m->bytes_read = (uint8_t)data_B;
    return finish(m, data_B, is_write, false);
}

int zs_port_decode_lsc_load(struct zs_port_message *message, uint32_t desc)
{
    return decode_vector(message, desc, false);
}

int zs_port_decode_lsc_store(struct zs_port_message *message, uint32_t desc)
{
    return decode_vector(message, desc, true);
}

int zs_port_decode_lsc_load_quad(struct zs_port_message *message, uint32_t desc)
{
    return decode_quad(message, desc, false);
}

int zs_port_decode_lsc_store_quad(struct zs_port_message *message, uint32_t desc)
{
    return decode_quad(message, desc, true);
}

int zs_port_decode_lsc_load_strided(struct zs_port_message *message, uint32_t desc)
{
    message->strided = 1;
    return decode_vector(message, desc, false);
}

int zs_port_decode_lsc_store_strided(struct zs_port_message *message, uint32_t desc)
{
    message->strided = 1;
    return decode_vector(message, desc, true);
}

int zs_port_decode_lsc_atomic(struct zs_port_message *message, uint32_t desc)
{
    decode_data_size(message, desc);
    uint32_t grf_B = message->component_B, operands;
    int error = zs_port_lsc_atomic(message, zs_port_bits(desc, 5, 0), &operands);
    if (error)
        return error;
    message->returns = message->rlen > 0;
    message->bytes_read = message->bytes_written = message->element_B;
    uint32_t lanes = payload_lanes(message, grf_B);
    message->component_B = (uint16_t)zs_align_up((uint64_t)lanes * message->slot_B, grf_B);
    uint32_t slots = message->component_B / GRF_B;
    uint32_t address_grf = registers_of(lanes * message->address_B, grf_B);
    error = zs_port_payload(message, address_grf, slots * operands, message->returns ? slots : 0);
    return error ? error : data_is_apart(message, operands > 0);
}

/* Whether pages are there: a bit for each lane in one register, whatever the elements are. */
int zs_port_decode_lsc_load_status(struct zs_port_message *message, uint32_t desc)
{
    decode_data_size(message, desc);
    message->elements = (uint8_t)zs_port_lsc_vector(desc);
    uint32_t grf_B = message->component_B;
    uint32_t address_B = payload_lanes(message, grf_B) * message->address_B;
    return zs_port_payload(message, registers_of(address_B, grf_B), 0, grf_B / GRF_B);
}

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

/* ---- typed -------------------------------------------------------------------------------------
 *
 * Coordinates of texels (u, v, r, level) are in a register each, of at most eight lanes; else these
 * are the data port's typed messages, and typed.c and atomic.c carry them out. XeHPC has no images.
 */

static int decode_typed(struct zs_port_message *m)
{
    if (m->mlen == 0 || m->mlen > 4)
        return -EINVAL;
    m->space = ZS_PORT_SPACE_TYPED;
    m->element_B = 4;
    m->coordinates = m->mlen;
    m->lanes = 8; /* as many have room; the mask names those that there are */
    return 0;
}

static int decode_typed_quad(struct zs_port_message *m, uint32_t desc)
{
    m->channels = (uint8_t)zs_port_bits(desc, 15, 12);
    m->elements = (uint8_t)__builtin_popcount(m->channels);
    return decode_typed(m);
}

int zs_port_decode_lsc_typed_load(struct zs_port_message *message, uint32_t desc)
{
    int error = decode_typed_quad(message, desc);
    bool has_response = !zs_port_is_prefetch(message);
    message->bytes_read = has_response ? (uint8_t)(4 * message->elements) : 0;
    return error ? error
                 : zs_port_payload(message, message->coordinates, 0,
                                   has_response ? message->elements : 0);
}

int zs_port_decode_lsc_typed_store(struct zs_port_message *message, uint32_t desc)
{
    int error = decode_typed_quad(message, desc);
    message->bytes_written = (uint8_t)(4 * message->elements);
    if (!error)
        error = zs_port_payload(message, message->coordinates, message->elements, 0);
    return error ? error : data_is_apart(message, true);
}

int zs_port_decode_lsc_typed_atomic(struct zs_port_message *message, uint32_t desc)
{
    uint32_t operands;
    int error = decode_typed(message);
    if (!error)
        error = zs_port_lsc_atomic(message, zs_port_bits(desc, 5, 0), &operands);
    if (error)
        return error;
    message->returns = message->rlen > 0;
    message->bytes_read = message->bytes_written = 4;
    error = zs_port_payload(message, message->coordinates, operands, message->returns);
    return error ? error : data_is_apart(message, operands > 0);
}

/* ---- lanes -------------------------------------------------------------------------------------
 */

bool zs_port_lsc_lanes(struct zs_port *port, const struct zs_port_message *half,
                       const uint8_t *addresses, uint32_t mask, uint32_t span_B, bool is_write,
                       struct zs_port_lanes *ret)
{
    return half->address_B == 8
               ? zs_port_lanes_a64(port, half, addresses, mask, span_B, is_write, ret)
               : zs_port_lanes_bti(port, half, addresses, mask, span_B, is_write, ret);
}
