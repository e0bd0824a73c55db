/* SPDX-License-Identifier: MIT */
/*
 * Local memory by load/store cache messages: dwords of sixteen or 32 lanes, wherever they lie and
 * whichever lanes are on, and atomics on them, also those of the data port. It belongs to one
 * group, whose threads share one host thread, and nobody tracks what is written to it: so bounds
 * are checked for all lanes at once, and each lane is an access of the host then. Whatever reaches
 * outside goes to the general handlers, which say what is wrong. Built twice, like lsc_move.c.
 */
#include "dataport/dataport_priv.h"
#include "dataport/host_vector.h"

enum { LOCAL_LANES_MAX = 2 * LANES_MAX };

#define ALWAYS static inline __attribute__((always_inline))

/* ---- places ------------------------------------------------------------------------------------
 */

ALWAYS vector greater(vector a, vector b)
{
#ifdef __AVX2__
    return (vector)_mm256_max_epu32((__m256i)a, (__m256i)b);
#else
    return (vector)_mm_max_epu32((__m128i)a, (__m128i)b);
#endif
}

/* All ones for the lanes whose bits are set, of the lowest ones of `mask`. */
ALWAYS vector lanes_on(uint32_t mask)
{
    vector bits = splat(1);
    for (uint32_t i = 1; i < VECTOR_LANES; i++)
        bits[i] = 1u << i;
    return (vector)((splat(mask) & bits) == bits);
}

/* Offsets of the lanes in local memory, 0 for those that are off; false: some dword of a lane that
 * is on is not inside, or not where a multiple of `alignment` is. */
ALWAYS bool find_lanes(const struct zs_port *port, const uint8_t *offsets, uint32_t lanes,
                       uint32_t mask, uint32_t alignment, uint32_t ret_at[LOCAL_LANES_MAX])
{
    if (port->slm_B < 4)
        return false;
    bool all = mask == zs_port_lane_mask(lanes);
    vector limit = splat(port->slm_B - 4), greatest = limit, low = {0}, v;
    for (uint32_t i = 0; i < lanes; i += VECTOR_LANES) {
        memcpy(&v, offsets + (size_t)i * 4, sizeof(v));
        v &= splat(SLM_OFFSET_MASK);
        if (!all)
            v &= lanes_on(mask >> i);
        memcpy(ret_at + i, &v, sizeof(v));
        greatest = greater(greatest, v);
        low |= v;
    }
    return all_zero((greatest ^ limit) | (low & splat(alignment - 1)));
}

/* ---- rows --------------------------------------------------------------------------------------
 *
 * Mostly sixteen lanes are neighbours, or at one place.
 */

enum { ROW_B = LANES_MAX * 4 };

/* Neighbours, all of them inside. count: of sixteen lanes each, 1 or 2. */
ALWAYS bool are_rows(const struct zs_port *port, const uint8_t *offsets, uint32_t mask,
                     uint32_t count, uint8_t *ret_first[2])
{
    vector off = {0}, some, step;
    bool inside = true;
    _Pragma("GCC unroll 2") for (uint32_t row = 0; row < count; row++)
    {
        uint32_t first = zs_port_load32(offsets + row * ROW_B), at = first & SLM_OFFSET_MASK;
        inside &= at + ROW_B <= port->slm_B;
        ret_first[row] = port->slm + at;
        _Pragma("GCC unroll 4") for (uint32_t i = 0; i < LANES_MAX; i += VECTOR_LANES)
        {
            memcpy(&some, offsets + row * ROW_B + (size_t)i * 4, sizeof(some));
            memcpy(&step, steps_of_4 + i, sizeof(step));
            off |= some ^ (step + splat(first));
        }
    }
    return mask == zs_port_lane_mask(count * LANES_MAX) && inside && all_zero(off);
}

/* Sixteen lanes at one place with size_B bytes inside; NULL: otherwise. */
ALWAYS uint8_t *one_place(const struct zs_port *port, const uint8_t *offsets, uint32_t size_B)
{
    uint32_t at = zs_port_load32(offsets) & SLM_OFFSET_MASK;
    return at + size_B <= port->slm_B && shaped(offsets, NULL, LANES_MAX) ? port->slm + at : NULL;
}

/* ---- dwords ------------------------------------------------------------------------------------
 */

/* Registers are stored by vectors, as they will be loaded. */
ALWAYS void gather_all(uint8_t *dst, const uint8_t *memory, const uint32_t *at, uint32_t lanes)
{
    for (uint32_t i = 0; i < lanes; i += VECTOR_LANES) {
        vector v = {0};
        _Pragma("GCC unroll 8") for (uint32_t k = 0; k < VECTOR_LANES; k++) v[k] =
            zs_port_load32(memory + at[i + k]);
        memcpy(dst + (size_t)i * 4, &v, sizeof(v));
    }
}

static __attribute__((noinline)) bool load_lanes(struct zs_port *port,
                                                 const struct zs_port_message *m, uint8_t *dst,
                                                 const uint8_t *offsets, uint32_t mask)
{
    uint32_t at[LOCAL_LANES_MAX];
    if (!find_lanes(port, offsets, m->lanes, mask, 1, at))
        return RUN(lsc_vector)(port, m, dst, offsets, NULL, mask);
    if (mask == zs_port_lane_mask(m->lanes)) {
        gather_all(dst, port->slm, at, m->lanes);
        return true;
    }
    ZS_PORT_FOR_LANES(lane, mask)
    memcpy(dst + (size_t)lane * 4, port->slm + at[lane], 4);
    return true;
}

static __attribute__((noinline)) bool store_lanes(struct zs_port *port,
                                                  const struct zs_port_message *m,
                                                  const uint8_t *offsets, const uint8_t *data,
                                                  uint32_t mask)
{
    uint32_t at[LOCAL_LANES_MAX];
    if (!find_lanes(port, offsets, m->lanes, mask, 1, at))
        return RUN(lsc_vector)(port, m, NULL, offsets, data, mask);
    ZS_PORT_FOR_LANES(lane, mask)
    memcpy(port->slm + at[lane], data + (size_t)lane * 4, 4);
    return true;
}

/* Each sixteen lanes at one place, or in any. */
static __attribute__((noinline)) bool load_otherwise(struct zs_port *port,
                                                     const struct zs_port_message *m, uint8_t *dst,
                                                     const uint8_t *offsets, uint32_t mask)
{
    const uint8_t *low = one_place(port, offsets, 4), *high = low;
    if (m->lanes > LANES_MAX)
        high = one_place(port, offsets + ROW_B, 4);
    if (mask != zs_port_lane_mask(m->lanes) || !low || !high)
        return load_lanes(port, m, dst, offsets, mask);
    splat32(dst, zs_port_load32(low), LANES_MAX);
    if (m->lanes > LANES_MAX)
        splat32(dst + ROW_B, zs_port_load32(high), LANES_MAX);
    return true;
}

#define DWORDS(rows)                                                                               \
    static bool load_rows_##rows(struct zs_port *port, const struct zs_port_message *m,            \
                                 uint8_t *dst, const uint8_t *src0, const uint8_t *src1,           \
                                 uint32_t mask)                                                    \
    {                                                                                              \
        uint8_t *first[2];                                                                         \
        if (!are_rows(port, src0, mask, rows, first))                                              \
            return load_otherwise(port, m, dst, src0, mask);                                       \
        for (uint32_t i = 0; i < rows; i++)                                                        \
            copy_vectors(dst + i * ROW_B, first[i], LANES_MAX / VECTOR_LANES);                     \
        return true;                                                                               \
    }                                                                                              \
    static bool store_rows_##rows(struct zs_port *port, const struct zs_port_message *m,           \
                                  uint8_t *dst, const uint8_t *src0, const uint8_t *src1,          \
                                  uint32_t mask)                                                   \
    {                                                                                              \
        uint8_t *first[2];                                                                         \
        if (!are_rows(port, src0, mask, rows, first))                                              \
            return store_lanes(port, m, src0, src1, mask);                                         \
        for (uint32_t i = 0; i < rows; i++)                                                        \
            copy_vectors(first[i], src1 + i * ROW_B, LANES_MAX / VECTOR_LANES);                    \
        return true;                                                                               \
    }
DWORDS(1)
DWORDS(2)

/* ---- vectors -----------------------------------------------------------------------------------
 *
 * Each sixteen lanes load theirs from one place.
 */

static bool load_vectors(struct zs_port *port, const struct zs_port_message *m, uint8_t *dst,
                         const uint8_t *src0, const uint8_t *src1, uint32_t mask)
{
    uint32_t size_B = 4u * m->elements;
    const uint8_t *low = one_place(port, src0, size_B), *high = low;
    if (m->lanes > LANES_MAX)
        high = one_place(port, src0 + ROW_B, size_B);
    if (mask != zs_port_lane_mask(m->lanes) || !low || !high)
        return RUN(lsc_load)(port, m, dst, src0, src1, mask);
    for (uint32_t e = 0; e < m->elements; e++, dst += m->component_B) {
        splat32(dst, zs_port_load32(low + (size_t)e * 4), LANES_MAX);
        if (m->lanes > LANES_MAX)
            splat32(dst + ROW_B, zs_port_load32(high + (size_t)e * 4), LANES_MAX);
    }
    return true;
}

zs_port_run_fn *RUN(local_pick)(const struct zs_port_message *m, bool is_write)
{
    if (!ZS_PORT_CHECKED || m->element_B != 4 || m->slot_B != 4 || m->address_B != 4 ||
        m->channels != 15 || m->strided || (m->lanes != LANES_MAX && m->lanes != LOCAL_LANES_MAX))
        return NULL;
    if (m->elements > 1)
        return is_write ? NULL : load_vectors;
    if (m->lanes == LANES_MAX)
        return is_write ? store_rows_1 : load_rows_1;
    return is_write ? store_rows_2 : load_rows_2;
}

/* ---- atomics -----------------------------------------------------------------------------------
 *
 * Lane after lane. What memory held is kept until all lanes have had their turn: the registers that
 * it goes to may be those of the operands.
 */

struct atomic {
    uint8_t *memory;
    const uint32_t *at; /* offsets of the lanes in it */
    const uint8_t *a_lanes, *b_lanes;
    uint32_t *old; /* what memory held */
};
/* keeps: `old` is wanted. */
typedef void atomic_fn(const struct atomic *o, uint32_t lanes, uint32_t mask, bool keeps);

#define ZS_PORT_ATOMIC(number, name, operands, expr)                                               \
    ALWAYS void step_##name(const struct atomic *o, uint32_t lane, bool keeps)                     \
    {                                                                                              \
        typedef int32_t sint;                                                                      \
        (void)sizeof(sint);                                                                        \
        uint8_t *place = o->memory + o->at[lane];                                                  \
        uint32_t old = zs_port_load32(place);                                                      \
        uint32_t a = (operands) > 0 ? zs_port_load32(o->a_lanes + (size_t)lane * 4) : 0;           \
        uint32_t b = (operands) > 1 ? zs_port_load32(o->b_lanes + (size_t)lane * 4) : 0;           \
        (void)a, (void)b;                                                                          \
        if (keeps)                                                                                 \
            o->old[lane] = old;                                                                    \
        zs_port_store32(place, (uint32_t)(expr));                                                  \
    }                                                                                              \
    static void atomic_##name(const struct atomic *all, uint32_t lanes, uint32_t mask, bool keeps) \
    {                                                                                              \
        const struct atomic o = *all; /* which memory is none of, for the compiler */              \
        if (keeps || mask != zs_port_lane_mask(lanes)) {                                           \
            ZS_PORT_FOR_LANES(lane, mask)                                                          \
            step_##name(&o, lane, true);                                                           \
            return;                                                                                \
        }                                                                                          \
        for (uint32_t lane = 0; lane < lanes; lane++)                                              \
            step_##name(&o, lane, false);                                                          \
    }
#include "dataport/atomic.def"

static atomic_fn *const atomics[] = {
#define ZS_PORT_ATOMIC(number, name, operands, expr) [ZS_ATOMIC_##number] = atomic_##name,
#include "dataport/atomic.def"
};

/* false: some lane reaches elsewhere, and nothing was done. operands_B: from those called a to b.
 */
ALWAYS bool try_atomic(struct zs_port *port, const struct zs_port_message *m, uint8_t *dst,
                       const uint8_t *offsets, const uint8_t *data, uint32_t operands_B,
                       uint32_t mask)
{
    uint32_t at[LOCAL_LANES_MAX], old[LOCAL_LANES_MAX];
    if ((uintptr_t)port->slm % 4 || !find_lanes(port, offsets, m->lanes, mask, 4, at))
        return false;
    const struct atomic o = {port->slm, at, data, data + operands_B, old};
    atomics[m->op](&o, m->lanes, mask, m->returns);
    if (!m->returns)
        return true;
    ZS_PORT_FOR_LANES(lane, mask)
    zs_port_store32(dst + (size_t)lane * 4, old[lane]);
    return true;
}

static bool run_atomic(struct zs_port *port, const struct zs_port_message *m, uint8_t *dst,
                       const uint8_t *src0, const uint8_t *src1, uint32_t mask)
{
    return try_atomic(port, m, dst, src0, src1, m->component_B, mask) ||
           zs_port_run_lsc_atomic(port, m, dst, src0, src1, mask);
}

/* The data port's: operands follow each other, and the addresses, if they come in one payload. */
static bool run_untyped_atomic(struct zs_port *port, const struct zs_port_message *m, uint8_t *dst,
                               const uint8_t *src0, const uint8_t *src1, uint32_t mask)
{
    const uint8_t *data = zs_port_data(m, src0, src1, m->lanes / 8u);
    return try_atomic(port, m, dst, src0 + m->header_grf * GRF_B, data, m->lanes * 4u, mask) ||
           zs_port_run_untyped_atomic(port, m, dst, src0, src1, mask);
}

ALWAYS bool is_plain(const struct zs_port_message *m)
{
    return ZS_PORT_CHECKED && m->bti == BTI_SLM && m->element_B == 4 &&
           m->op < ZS_ARRAY_LEN(atomics) && atomics[m->op];
}

zs_port_run_fn *RUN(local_atomic)(const struct zs_port_message *m)
{
    bool here = m->slot_B == 4 && m->address_B == 4 &&
                (m->lanes == LANES_MAX || m->lanes == LOCAL_LANES_MAX);
    return is_plain(m) && here ? run_atomic : NULL;
}

zs_port_run_fn *RUN(untyped_local_atomic)(const struct zs_port_message *m)
{
    return is_plain(m) && m->lanes % VECTOR_LANES == 0 ? run_untyped_atomic : NULL;
}
