/* SPDX-License-Identifier: MIT */
/*
 * Atomics: untyped by binding table and by 64-bit address, on 32-bit and 64-bit integers and on
 * floats, and on texels of typed surfaces.
 *
 * Work-groups run on several host threads, so global atomics are the host's atomics. Local memory
 * belongs to one group, whose threads share one host thread: there plain memory accesses do. When
 * all lanes hit one address, their operations are applied one after the other to a local copy that
 * is then exchanged at once: one host atomic instead of 16, with the same results as some order of
 * the lanes.
 */
#include "eu/send_priv.h"

#include <errno.h>

enum { OP_CMPWR = 14, OP_PREDEC = 15, OP_FLOAT = 16, OP_FCMPWR = OP_FLOAT + 3, OP_COUNT };

/* The new value, from the old one and the lane's operands. */
typedef uint64_t apply_fn(uint64_t old, uint64_t a, uint64_t b);

#define APPLY(name, bits, expr)                                                                    \
    static uint64_t name##bits(uint64_t old_, uint64_t a_, uint64_t b_)                            \
    {                                                                                              \
        uint##bits##_t old = (uint##bits##_t)old_, a = (uint##bits##_t)a_;                         \
        uint##bits##_t b = (uint##bits##_t)b_;                                                     \
        (void)old, (void)a, (void)b;                                                               \
        typedef int##bits##_t sint;                                                                \
        (void)sizeof(sint);                                                                        \
        return (uint##bits##_t)(expr);                                                             \
    }
#define APPLY_BOTH(name, expr) APPLY(name, 32, expr) APPLY(name, 64, expr)

APPLY_BOTH(op_and, old &a)
APPLY_BOTH(op_or, old | a)
APPLY_BOTH(op_xor, old ^ a)
APPLY_BOTH(op_mov, a)
APPLY_BOTH(op_inc, old + 1)
APPLY_BOTH(op_dec, old - 1)
APPLY_BOTH(op_add, old + a)
APPLY_BOTH(op_sub, old - a)
APPLY_BOTH(op_revsub, a - old)
APPLY_BOTH(op_imax, (sint)old > (sint)a ? old : a)
APPLY_BOTH(op_imin, (sint)old < (sint)a ? old : a)
APPLY_BOTH(op_umax, old > a ? old : a)
APPLY_BOTH(op_umin, old < a ? old : a)
APPLY_BOTH(op_cmpwr, old == a ? b : old)

static float as_float(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof(value));
    return value;
}

/* A NaN operand loses, as with fmax() of C. */
static uint64_t op_fmax32(uint64_t old, uint64_t a, uint64_t b)
{
    float x = as_float(old), y = as_float(a);
    return y > x || x != x ? a : old;
}

static uint64_t op_fmin32(uint64_t old, uint64_t a, uint64_t b)
{
    float x = as_float(old), y = as_float(a);
    return y < x || x != x ? a : old;
}

static uint64_t op_fcmpwr32(uint64_t old, uint64_t a, uint64_t b)
{
    return as_float(old) == as_float(a) ? b : old;
}

struct operation {
    apply_fn *apply32, *apply64; /* NULL: not modelled */
    uint8_t operands;
};

static const struct operation operations[OP_COUNT] = {
    [1] = {op_and32, op_and64, 1},         [2] = {op_or32, op_or64, 1},
    [3] = {op_xor32, op_xor64, 1},         [4] = {op_mov32, op_mov64, 1},
    [5] = {op_inc32, op_inc64, 0},         [6] = {op_dec32, op_dec64, 0},
    [7] = {op_add32, op_add64, 1},         [8] = {op_sub32, op_sub64, 1},
    [9] = {op_revsub32, op_revsub64, 1},   [10] = {op_imax32, op_imax64, 1},
    [11] = {op_imin32, op_imin64, 1},      [12] = {op_umax32, op_umax64, 1},
    [13] = {op_umin32, op_umin64, 1},      [OP_CMPWR] = {op_cmpwr32, op_cmpwr64, 2},
    [OP_PREDEC] = {op_dec32, op_dec64, 0}, [OP_FLOAT + 1] = {op_fmax32, NULL, 1},
    [OP_FLOAT + 2] = {op_fmin32, NULL, 1}, [OP_FCMPWR] = {op_fcmpwr32, NULL, 2},
};

/* ---- decode ------------------------------------------------------------------------------------
 */

static int finish(struct zs_eu_message *m, uint32_t op, uint32_t desc, uint32_t address_grf)
{
    if (op >= OP_COUNT || !(m->element_B == 8 ? operations[op].apply64 : operations[op].apply32))
        return -ENOTSUP;
    m->op = (uint8_t)op;
    m->elements = 1;
    m->returns = zs_eu_bits(desc, 13, 13) != 0;
    m->bytes_read = m->bytes_written = m->element_B;
    uint32_t slots = (uint32_t)m->lanes * m->element_B / GRF_B;
    return zs_eu_send_payload(m, address_grf, slots * operations[op].operands,
                              m->returns ? slots : 0);
}

static void decode_untyped(struct zs_eu_message *m, uint32_t desc)
{
    m->lanes = zs_eu_bits(desc, 12, 12) ? 8 : 16;
    m->element_B = 4;
}

int zs_eu_decode_untyped_atomic(struct zs_eu_message *message, uint32_t desc)
{
    decode_untyped(message, desc);
    return finish(message, zs_eu_bits(desc, 11, 8), desc, message->lanes / 8u);
}

int zs_eu_decode_untyped_float_atomic(struct zs_eu_message *message, uint32_t desc)
{
    decode_untyped(message, desc);
    return finish(message, OP_FLOAT + zs_eu_bits(desc, 10, 8), desc, message->lanes / 8u);
}

int zs_eu_decode_a64_atomic(struct zs_eu_message *message, uint32_t desc)
{
    message->lanes = 8;
    message->element_B = zs_eu_bits(desc, 12, 12) ? 8 : 4;
    message->space = ZS_EU_SPACE_GLOBAL;
    return finish(message, zs_eu_bits(desc, 11, 8), desc, 2);
}

int zs_eu_decode_a64_float_atomic(struct zs_eu_message *message, uint32_t desc)
{
    message->lanes = 8;
    message->element_B = 4;
    message->space = ZS_EU_SPACE_GLOBAL;
    return finish(message, OP_FLOAT + zs_eu_bits(desc, 10, 8), desc, 2);
}

int zs_eu_decode_typed_atomic(struct zs_eu_message *message, uint32_t desc)
{
    uint32_t op = zs_eu_bits(desc, 11, 8);
    if (!zs_eu_bits(desc, 12, 12))
        return -ENOTSUP; /* the upper half of a 16-wide mask */
    message->lanes = 8;
    message->element_B = 4;
    message->space = ZS_EU_SPACE_TYPED;
    uint32_t length = message->mlen + message->xlen, used = message->header_grf;
    used += operations[op].operands;
    if (length <= used || length - used > 4)
        return -EINVAL;
    message->coordinates = (uint8_t)(length - used);
    return finish(message, op, desc, message->coordinates);
}

/* ---- execute -----------------------------------------------------------------------------------
 */

struct atomic {
    apply_fn *apply;
    uint64_t a[LANES_MAX], b[LANES_MAX], result[LANES_MAX];
    bool plain; /* memory of one host thread */
    bool is_64;
    bool returns_new; /* predec */
};

static uint64_t load(const uint8_t *p, bool is_64)
{
    return is_64 ? zs_eu_load64(p) : zs_eu_load32(p);
}

static void store(uint8_t *p, uint64_t value, bool is_64)
{
    if (is_64)
        zs_eu_store64(p, value);
    else
        zs_eu_store32(p, (uint32_t)value);
}

/* The operations of `mask` on one location, in the order of lanes. */
static uint64_t apply_all(struct atomic *op, uint64_t old, uint32_t mask)
{
    uint64_t value = old;
    ZS_EU_FOR_LANES(lane, mask)
    {
        uint64_t next = op->apply(value, op->a[lane], op->b[lane]);
        op->result[lane] = op->returns_new ? next : value;
        value = next;
    }
    return value;
}

static void at_location(struct atomic *op, uint8_t *pointer, uint32_t mask)
{
    if (op->plain) {
        store(pointer, apply_all(op, load(pointer, op->is_64), mask), op->is_64);
    } else if (op->is_64) {
        uint64_t *word = (uint64_t *)(void *)pointer;
        uint64_t old = __atomic_load_n(word, __ATOMIC_RELAXED), value;
        do {
            value = apply_all(op, old, mask);
        } while (!__atomic_compare_exchange_n(word, &old, value, true, __ATOMIC_SEQ_CST,
                                              __ATOMIC_RELAXED));
    } else {
        uint32_t *word = (uint32_t *)(void *)pointer;
        uint32_t old = __atomic_load_n(word, __ATOMIC_RELAXED), value;
        do {
            value = (uint32_t)apply_all(op, old, mask);
        } while (!__atomic_compare_exchange_n(word, &old, value, true, __ATOMIC_SEQ_CST,
                                              __ATOMIC_RELAXED));
    }
}

static void load_operands(struct atomic *op, const struct zs_eu_message *m, const uint8_t *data)
{
    const struct operation *row = &operations[m->op];
    op->is_64 = m->element_B == 8;
    op->apply = op->is_64 ? row->apply64 : row->apply32;
    op->returns_new = m->op == OP_PREDEC;
    memset(op->a, 0, sizeof(op->a));
    memset(op->b, 0, sizeof(op->b));
    for (uint32_t lane = 0; row->operands > 0 && lane < m->lanes; lane++)
        op->a[lane] = load(data + lane * m->element_B, op->is_64);
    data += m->lanes * m->element_B;
    for (uint32_t lane = 0; row->operands > 1 && lane < m->lanes; lane++)
        op->b[lane] = load(data + lane * m->element_B, op->is_64);
}

static bool is_uniform(const struct zs_eu_lanes *lanes, uint32_t mask)
{
    const uint8_t *first = lanes->pointer[__builtin_ctz(mask)];
    ZS_EU_FOR_LANES(lane, mask)
    {
        if (lanes->pointer[lane] != first)
            return false;
    }
    return true;
}

static bool run(struct zs_eu_port *port, const struct zs_eu_message *m, struct zs_eu_lanes *lanes,
                uint8_t *dst, const uint8_t *data)
{
    struct atomic op = {.plain = m->bti == BTI_SLM && m->space == ZS_EU_SPACE_SLM};
    load_operands(&op, m, data);
    ZS_EU_FOR_LANES(check, lanes->valid)
    {
        uintptr_t at = (uintptr_t)lanes->pointer[check];
        if (ZS_UNLIKELY(at % m->element_B))
            return zs_eu_send_fail(port, m, ZS_EU_SEND_FAULT_MISALIGNED, (int)check, at,
                                   m->element_B, true);
        if (zs_eu_send_tracks(port) && m->space == ZS_EU_SPACE_GLOBAL &&
            (!zs_eu_send_track(port, m, lanes->pointer[check], m->element_B, (int)check, false) ||
             !zs_eu_send_track(port, m, lanes->pointer[check], m->element_B, (int)check, true)))
            return false;
    }
    if (lanes->valid && is_uniform(lanes, lanes->valid)) {
        at_location(&op, lanes->pointer[__builtin_ctz(lanes->valid)], lanes->valid);
    } else {
        ZS_EU_FOR_LANES(lane, lanes->valid)
        at_location(&op, lanes->pointer[lane], 1u << lane);
    }
    if (!m->returns)
        return true;
    ZS_EU_FOR_LANES(zero, lanes->outside)
    op.result[zero] = 0;
    ZS_EU_FOR_LANES(out, lanes->valid | lanes->outside)
    store(dst + out * m->element_B, op.result[out], op.is_64);
    return true;
}

bool zs_eu_run_untyped_atomic(struct zs_eu_port *port, const struct zs_eu_message *m, uint8_t *dst,
                              const uint8_t *src0, const uint8_t *src1, uint32_t mask)
{
    struct zs_eu_lanes lanes;
    return zs_eu_send_lanes_bti(port, m, src0 + m->header_grf * GRF_B, mask, 4, true, &lanes) &&
           run(port, m, &lanes, dst, zs_eu_send_data(m, src0, src1, m->lanes / 8u));
}

bool zs_eu_run_a64_atomic(struct zs_eu_port *port, const struct zs_eu_message *m, uint8_t *dst,
                          const uint8_t *src0, const uint8_t *src1, uint32_t mask)
{
    struct zs_eu_lanes lanes;
    return zs_eu_send_lanes_a64(port, m, src0 + m->header_grf * GRF_B, mask, m->element_B, true,
                                &lanes) &&
           run(port, m, &lanes, dst, zs_eu_send_data(m, src0, src1, 2));
}

bool zs_eu_run_typed_atomic(struct zs_eu_port *port, const struct zs_eu_message *m, uint8_t *dst,
                            const uint8_t *src0, const uint8_t *src1, uint32_t mask)
{
    struct zs_eu_lanes lanes;
    return zs_eu_send_lanes_typed(port, m, src0, mask, true, &lanes) &&
           run(port, m, &lanes, dst, zs_eu_send_data(m, src0, src1, m->coordinates));
}
