/* SPDX-License-Identifier: MIT */
/*
 * Messages that kernels send most, each with handlers of its own, which know when the code is
 * lowered what others look up for each message: a dword for each of sixteen or 32 lanes, by 64-bit
 * address, in local memory or by binding table, and loads of blocks, of a thread's arguments or by
 * 64-bit address, of load/store cache messages; and what the data port has had for that before.
 * Lanes are neighbours or at one place, each sixteen by themselves; anything else goes to the
 * general handlers of lsc_move.c and memory.c. Built twice, like these.
 */
#include "dataport/dataport_priv.h"
#include "dataport/host_vector.h"

enum where { BY_ADDRESS, LOCAL, BY_SURFACE };

#define ALWAYS static inline __attribute__((always_inline))

struct row {
    uint8_t *first;
    bool is_one; /* place */
};

/* address[i] == first + step * i; step is 0 or 4. */
ALWAYS bool rise_by(const uint8_t *addresses, uint64_t first, uint64_t step)
{
    vector64 expect = splat64(first), off = {0}, some;
    for (uint32_t i = 0; i < VECTOR_QWORDS; i++)
        expect[i] += step * i;
    _Pragma("GCC unroll 8") for (uint32_t i = 0; i < LANES_MAX; i += VECTOR_QWORDS)
    {
        memcpy(&some, addresses + (size_t)i * 8, sizeof(some));
        off |= some ^ (expect + step * i);
    }
    return all_zero((vector)off);
}

ALWAYS bool row_by_address(const struct zs_port_range *range, const uint8_t *addresses,
                           struct row *ret)
{
    uint64_t first = zs_port_load64(addresses), step = zs_port_load64(addresses + 8) - first;
    uint64_t size_B = step * (LANES_MAX - 1) + 4;
    *ret = (struct row){zs_port_host(range, first), step == 0};
    if (first < range->start || first >= range->end || size_B > range->end - first)
        return false;
    return step == 4 ? rise_by(addresses, first, 4) : step == 0 && rise_by(addresses, first, 0);
}

ALWAYS bool row_by_offset(const struct zs_port_quick *area, const uint8_t *offsets, struct row *ret)
{
    uint32_t first = zs_port_load32(offsets), step = zs_port_load32(offsets + 4) - first;
    uint32_t size_B = step * (LANES_MAX - 1) + 4, at = first & area->mask;
    if (at > area->size_B || size_B > area->size_B - at)
        return false;
    *ret = (struct row){area->base + at, step == 0};
    return step == 4 ? shaped(offsets, steps_of_4, LANES_MAX)
                     : step == 0 && shaped(offsets, NULL, LANES_MAX);
}

/* Where sixteen lanes each lead; false: otherwise. */
ALWAYS bool find_rows(struct zs_port *port, const struct zs_port_message *m,
                      const uint8_t *addresses, bool is_write, enum where where, uint32_t count,
                      struct row rows[2])
{
    struct zs_port_quick area = {port->slm, port->slm_B, SLM_OFFSET_MASK};
    if (zs_port_tracks(port))
        return false;
    if (where == BY_ADDRESS) {
        const struct zs_port_range *range = &port->cache[m->cache_slot];
        return !(is_write && range->read_only) && row_by_address(range, addresses, &rows[0]) &&
               (count == 1 || row_by_address(range, addresses + LANES_MAX * 8, &rows[1]));
    }
    if (where == BY_SURFACE && !zs_port_quick(port, m, is_write, &area))
        return false;
    return row_by_offset(&area, addresses, &rows[0]) &&
           (count == 1 || row_by_offset(&area, addresses + LANES_MAX * 4, &rows[1]));
}

ZS_PORT_KERNEL_ACCESS ALWAYS void load_row(uint8_t *dst, const struct row *row)
{
    if (row->is_one)
        splat32(dst, zs_port_load32_shared(row->first), LANES_MAX);
    else
        copy_vectors(dst, row->first, LANES_MAX / VECTOR_LANES);
}

/* Of lanes at one place the last one stays. */
ZS_PORT_KERNEL_ACCESS ALWAYS void store_row(const struct row *row, const uint8_t *data)
{
    if (row->is_one)
        memcpy(row->first, data + (LANES_MAX - 1) * 4, 4);
    else
        copy_vectors(row->first, data, LANES_MAX / VECTOR_LANES);
}

/* What is no row is left to the two last. data: of a store. */
#define ROWS(name, where, lanes, data, load_otherwise, store_otherwise)                            \
    static bool load_##name(struct zs_port *port, const struct zs_port_message *m, uint8_t *dst,   \
                            const uint8_t *src0, const uint8_t *src1, uint32_t mask)               \
    {                                                                                              \
        struct row rows[2];                                                                        \
        if (mask != UINT32_MAX >> (32 - (lanes)) ||                                                \
            !find_rows(port, m, src0, false, where, (lanes) / LANES_MAX, rows))                    \
            return load_otherwise;                                                                 \
        for (uint32_t i = 0; i < (lanes) / LANES_MAX; i++)                                         \
            load_row(dst + i * LANES_MAX * 4, &rows[i]);                                           \
        return true;                                                                               \
    }                                                                                              \
    static bool store_##name(struct zs_port *port, const struct zs_port_message *m, uint8_t *dst,  \
                             const uint8_t *src0, const uint8_t *src1, uint32_t mask)              \
    {                                                                                              \
        struct row rows[2];                                                                        \
        if (mask != UINT32_MAX >> (32 - (lanes)) ||                                                \
            !find_rows(port, m, src0, true, where, (lanes) / LANES_MAX, rows))                     \
            return store_otherwise;                                                                \
        for (uint32_t i = 0; i < (lanes) / LANES_MAX; i++)                                         \
            store_row(&rows[i], (data) + i * LANES_MAX * 4);                                       \
        return true;                                                                               \
    }
#define LSC(name, where, lanes)                                                                    \
    ROWS(name, where, lanes, src1, RUN(lsc_vector)(port, m, dst, src0, NULL, mask),                \
         RUN(lsc_vector)(port, m, NULL, src0, src1, mask))
LSC(addresses_16, BY_ADDRESS, 16)
LSC(addresses_32, BY_ADDRESS, 32)
LSC(surface_16, BY_SURFACE, 16)
LSC(surface_32, BY_SURFACE, 32)

/* The data port's own messages of sixteen dwords: the same. */
#define UNTYPED(name, where)                                                                       \
    ROWS(name, where, 16, zs_port_data(m, src0, src1, LANES_MAX * 4 / GRF_B),                      \
         RUN(untyped_read)(port, m, dst, src0, src1, mask),                                        \
         RUN(untyped_write)(port, m, dst, src0, src1, mask))
UNTYPED(local_untyped, LOCAL)
UNTYPED(surface_untyped, BY_SURFACE)

zs_port_run_fn *RUN(untyped_pick)(const struct zs_port_message *m, bool is_write)
{
    if (!ZS_PORT_CHECKED || m->lanes != LANES_MAX || m->channels != 1 || m->header_grf)
        return NULL;
    if (m->bti == BTI_SLM)
        return is_write ? store_local_untyped : load_local_untyped;
    return m->bti > BTI_LAST ? NULL : is_write ? store_surface_untyped : load_surface_untyped;
}

/* size_B: a multiple of 16. */
ZS_PORT_KERNEL_ACCESS ALWAYS void copy_block(uint8_t *to, const uint8_t *from, uint32_t size_B)
{
    for (uint32_t i = 0; i < size_B; i += 16)
        memcpy(to + i, from + i, 16);
}

/* A block of the arguments, from general state base on. */
static bool load_arguments(struct zs_port *port, const struct zs_port_message *m, uint8_t *dst,
                           const uint8_t *src0, const uint8_t *src1, uint32_t mask)
{
    uint64_t offset = zs_port_load32(src0);
    if (!port->payload || offset > port->payload_B || m->block_B > port->payload_B - offset)
        return RUN(lsc_load)(port, m, dst, src0, src1, mask);
    copy_block(dst, port->payload + offset, m->block_B);
    return true;
}

/* A block at a 64-bit address. */
ZS_PORT_KERNEL_ACCESS static bool load_block(struct zs_port *port, const struct zs_port_message *m,
                                             uint8_t *dst, const uint8_t *src0, const uint8_t *src1,
                                             uint32_t mask)
{
    const struct zs_port_range *range = &port->cache[m->cache_slot];
    uint64_t gpu_va = zs_port_load64(src0);
    if (zs_port_tracks(port) || gpu_va < range->start || gpu_va >= range->end ||
        m->block_B > range->end - gpu_va)
        return RUN(lsc_load)(port, m, dst, src0, src1, mask);
    copy_block(dst, zs_port_host(range, gpu_va), m->block_B);
    return true;
}

zs_port_run_fn *RUN(lsc_pick)(const struct zs_port_message *m, bool is_write)
{
    static zs_port_run_fn *const rows[2][2][2] = {
        {{load_addresses_16, load_addresses_32}, {store_addresses_16, store_addresses_32}},
        {{load_surface_16, load_surface_32}, {store_surface_16, store_surface_32}},
    };
    bool is_block = !m->lanes && m->block_B && m->block_B % 16 == 0;
    if (!ZS_PORT_CHECKED || (!is_write && zs_port_is_prefetch(m)))
        return NULL;
    if (is_block && !is_write && m->bti == BTI_STATELESS && m->address_B == 4)
        return load_arguments;
    if (is_block && !is_write && m->address_B == 8)
        return load_block;
    if (m->bti == BTI_SLM)
        return RUN(local_pick)(m, is_write);
    if (m->element_B != 4 || m->elements != 1 || m->channels != 15 ||
        (m->lanes != LANES_MAX && m->lanes != 2 * LANES_MAX) || m->strided || m->slot_B != 4 ||
        (m->address_B != 4 && m->address_B != 8) || (m->address_B == 4 && m->bti > BTI_LAST))
        return NULL;
    return rows[m->address_B == 4][is_write][m->lanes == 2 * LANES_MAX];
}
