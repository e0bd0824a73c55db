/* SPDX-License-Identifier: MIT */
/*
 * Atomics: untyped by binding table and by 64-bit address, on integers of 16, 32 and 64 bits and on
 * floats of these sizes, and on texels of typed surfaces. Elements of 16 bits are in dwords.
 *
 * Work-groups run on several host threads, so global atomics are the host's atomics. Local memory
 * belongs to one group, whose threads share one host thread: there plain memory accesses do. When
 * all lanes hit one address, their operations are applied one after the other to a local copy that
 * is then exchanged at once: one host atomic instead of 16, with the same results as some order of
 * the lanes.
 */
#include "dataport/dataport_priv.h"

#include "base/small_float.h"

#include <xmmintrin.h>

/* The new value, from the old one and the lane's operands. */
typedef uint64_t apply_fn(uint64_t old, uint64_t a, uint64_t b);
/* One operation per lane on 32-bit words that only this host thread touches, in lane order. */
typedef void plain_fn(const struct zs_port_lanes *lanes, const uint8_t *a_lanes,
                      const uint8_t *b_lanes, uint64_t *result);

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
#define APPLY_PLAIN(name, expr)                                                                    \
    static void name##_plain(const struct zs_port_lanes *lanes, const uint8_t *a_lanes,            \
                             const uint8_t *b_lanes, uint64_t *result)                             \
    {                                                                                              \
        typedef int32_t sint;                                                                      \
        (void)sizeof(sint);                                                                        \
        ZS_PORT_FOR_LANES(lane, lanes->valid)                                                      \
        {                                                                                          \
            uint32_t old = zs_port_load32(lanes->pointer[lane]);                                   \
            uint32_t a = a_lanes ? zs_port_load32(a_lanes + lane * 4) : 0;                         \
            uint32_t b = b_lanes ? zs_port_load32(b_lanes + lane * 4) : 0;                         \
            (void)a, (void)b;                                                                      \
            result[lane] = old;                                                                    \
            zs_port_store32(lanes->pointer[lane], (uint32_t)(expr));                               \
        }                                                                                          \
    }
#define APPLY_ALL(name, expr)                                                                      \
    APPLY(name, 16, expr) APPLY(name, 32, expr) APPLY(name, 64, expr) APPLY_PLAIN(name, expr)

#define ZS_PORT_ATOMIC(number, name, operands, expr) APPLY_ALL(op_##name, expr)
#include "dataport/atomic.def"

/*
 * Floats are compared by their bits: the thread's treatment of denormals must not matter. In
 * order() both zeros are 0. A NaN operand loses, as with fmax() of C.
 */
#define APPLY_COMPARED(bits, infinity)                                                             \
    static bool is_nan##bits(uint64_t x)                                                           \
    {                                                                                              \
        return (x & UINT##bits##_MAX >> 1) > (infinity);                                           \
    }                                                                                              \
    static int64_t order##bits(uint64_t x)                                                         \
    {                                                                                              \
        int64_t magnitude = (int64_t)(x & UINT##bits##_MAX >> 1);                                  \
        return x >> (bits - 1) & 1 ? -magnitude : magnitude;                                       \
    }                                                                                              \
    static uint64_t op_fmax##bits(uint64_t old, uint64_t a, uint64_t b)                            \
    {                                                                                              \
        bool greater = !is_nan##bits(a) && order##bits(a) > order##bits(old);                      \
        return is_nan##bits(old) || greater ? a : old;                                             \
    }                                                                                              \
    static uint64_t op_fmin##bits(uint64_t old, uint64_t a, uint64_t b)                            \
    {                                                                                              \
        bool less = !is_nan##bits(a) && order##bits(a) < order##bits(old);                         \
        return is_nan##bits(old) || less ? a : old;                                                \
    }                                                                                              \
    static uint64_t op_fcmpwr##bits(uint64_t old, uint64_t a, uint64_t b)                          \
    {                                                                                              \
        bool comparable = !is_nan##bits(old) && !is_nan##bits(a);                                  \
        return comparable && order##bits(old) == order##bits(a) ? b : old;                         \
    }
APPLY_COMPARED(32, UINT32_C(0x7f800000))
APPLY_COMPARED(64, UINT64_C(0x7ff0000000000000))

/* Rounded to nearest with denormals, whatever the thread's modes are. */
#define APPLY_ADD(name, bits, type)                                                                \
    static uint64_t name##bits(uint64_t old_, uint64_t a_, uint64_t b_)                            \
    {                                                                                              \
        uint##bits##_t old = (uint##bits##_t)old_, a = (uint##bits##_t)a_;                         \
        volatile type x, y;                                                                        \
        memcpy((void *)&x, &old, sizeof(old));                                                     \
        memcpy((void *)&y, &a, sizeof(a));                                                         \
        uint32_t threads = _mm_getcsr() & ~(uint32_t)_MM_EXCEPT_MASK;                              \
        if (threads != _MM_MASK_MASK) /* to set it takes as long as all else */                    \
            _mm_setcsr(_MM_MASK_MASK);                                                             \
        x += y;                                                                                    \
        if (threads != _MM_MASK_MASK)                                                              \
            _mm_setcsr(threads);                                                                   \
        memcpy(&old, (const void *)&x, sizeof(old));                                               \
        return old;                                                                                \
    }
APPLY_ADD(op_fadd, 32, float)
APPLY_ADD(op_fadd, 64, double)

static uint64_t op_fsub32(uint64_t old, uint64_t a, uint64_t b)
{
    return op_fadd32(old, a ^ UINT64_C(0x80000000), b);
}

static uint64_t op_fsub64(uint64_t old, uint64_t a, uint64_t b)
{
    return op_fadd64(old, a ^ UINT64_C(1) << 63, b);
}

/* Halves as floats, which hold them; their sums have too few bits to be rounded twice. */
static uint64_t single_of(uint64_t half)
{
    float value = zs_half_to_float((uint16_t)half);
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static uint64_t half_of(uint64_t single)
{
    uint32_t bits = (uint32_t)single;
    float value;
    memcpy(&value, &bits, sizeof(value));
    return zs_half_from_float(value);
}

static uint64_t op_fmax16(uint64_t old, uint64_t a, uint64_t b)
{
    return op_fmax32(single_of(old), single_of(a), 0) == single_of(old) ? old : a;
}

static uint64_t op_fmin16(uint64_t old, uint64_t a, uint64_t b)
{
    return op_fmin32(single_of(old), single_of(a), 0) == single_of(old) ? old : a;
}

static uint64_t op_fcmpwr16(uint64_t old, uint64_t a, uint64_t b)
{
    return op_fcmpwr32(single_of(old), single_of(a), 1) == 1 ? b : old;
}

static uint64_t op_fadd16(uint64_t old, uint64_t a, uint64_t b)
{
    return half_of(op_fadd32(single_of(old), single_of(a), 0));
}

static uint64_t op_fsub16(uint64_t old, uint64_t a, uint64_t b)
{
    return half_of(op_fsub32(single_of(old), single_of(a), 0));
}

struct operation {
    apply_fn *apply16, *apply32, *apply64; /* NULL: not modelled */
    plain_fn *plain32;                     /* NULL: through apply32 */
    uint8_t operands;
};

static const struct operation operations[ZS_ATOMIC_COUNT] = {
#define ZS_PORT_ATOMIC(number, name, operands_, expr)                                              \
    [ZS_ATOMIC_##                                                                                  \
        number] = {op_##name##16, op_##name##32, op_##name##64, op_##name##_plain, operands_},
#include "dataport/atomic.def"
    [ZS_ATOMIC_PREDEC] = {op_dec16, op_dec32, op_dec64, NULL, 0},
    [ZS_ATOMIC_FMAX] = {op_fmax16, op_fmax32, op_fmax64, NULL, 1},
    [ZS_ATOMIC_FMIN] = {op_fmin16, op_fmin32, op_fmin64, NULL, 1},
    [ZS_ATOMIC_FCMPWR] = {op_fcmpwr16, op_fcmpwr32, op_fcmpwr64, NULL, 2},
    [ZS_ATOMIC_FADD] = {op_fadd16, op_fadd32, op_fadd64, NULL, 1},
    [ZS_ATOMIC_FSUB] = {op_fsub16, op_fsub32, op_fsub64, NULL, 1},
};

static apply_fn *apply_of(uint32_t op, uint32_t element_B)
{
    const struct operation *row = &operations[op];
    return element_B == 8 ? row->apply64 : element_B == 2 ? row->apply16 : row->apply32;
}

int zs_port_atomic_operands(const struct zs_message_form *f)
{
    bool is_there = f->atomic < ZS_ATOMIC_COUNT && apply_of(f->atomic, f->element_B);
    return is_there ? operations[f->atomic].operands : -1;
}

/* ---- execute -----------------------------------------------------------------------------------
 */

struct atomic {
    apply_fn *apply;
    const uint8_t *a, *b;       /* operands of lane 0; NULL: the operation has none */
    uint64_t result[LANES_MAX]; /* of lanes that took part */
    bool plain;                 /* memory of one host thread */
    uint8_t element_B;
    bool returns_new; /* predec */
};

static uint64_t load(const uint8_t *p, uint32_t element_B)
{
    uint16_t half;
    if (element_B != 2)
        return element_B == 8 ? zs_port_load64(p) : zs_port_load32(p);
    memcpy(&half, p, sizeof(half));
    return half;
}

static void store(uint8_t *p, uint64_t value, uint32_t element_B)
{
    uint16_t half = (uint16_t)value;
    if (element_B == 8)
        zs_port_store64(p, value);
    else if (element_B == 4)
        zs_port_store32(p, (uint32_t)value);
    else
        memcpy(p, &half, sizeof(half));
}

static uint64_t operand(const struct atomic *op, const uint8_t *lanes, uint32_t lane)
{
    if (!lanes)
        return 0;
    return load(lanes + (size_t)lane * (op->element_B == 8 ? 8 : 4), op->element_B);
}

/* The operations of `mask` on one location, in the order of lanes. */
static uint64_t apply_all(struct atomic *op, uint64_t old, uint32_t mask)
{
    uint64_t value = old;
    ZS_PORT_FOR_LANES(lane, mask)
    {
        uint64_t next = op->apply(value, operand(op, op->a, lane), operand(op, op->b, lane));
        op->result[lane] = op->returns_new ? next : value;
        value = next;
    }
    return value;
}

#define EXCHANGE(bits)                                                                             \
    static void exchange##bits(struct atomic *op, uint8_t *pointer, uint32_t mask)                 \
    {                                                                                              \
        uint##bits##_t *word = (uint##bits##_t *)(void *)pointer;                                  \
        uint##bits##_t old = __atomic_load_n(word, __ATOMIC_RELAXED), value;                       \
        do {                                                                                       \
            value = (uint##bits##_t)apply_all(op, old, mask);                                      \
        } while (!__atomic_compare_exchange_n(word, &old, value, true, __ATOMIC_SEQ_CST,           \
                                              __ATOMIC_RELAXED));                                  \
    }
EXCHANGE(16)
EXCHANGE(32)
EXCHANGE(64)

static void at_location(struct atomic *op, uint8_t *pointer, uint32_t mask)
{
    if (op->plain)
        store(pointer, apply_all(op, load(pointer, op->element_B), mask), op->element_B);
    else if (op->element_B == 8)
        exchange64(op, pointer, mask);
    else if (op->element_B == 4)
        exchange32(op, pointer, mask);
    else
        exchange16(op, pointer, mask);
}

static void set_operation(struct atomic *op, const struct zs_port_message *m, const uint8_t *data)
{
    const struct operation *row = &operations[m->op];
    op->plain = m->space == ZS_PORT_SPACE_SLM;
    op->element_B = m->element_B;
    op->apply = apply_of(m->op, m->element_B);
    op->returns_new = m->op == ZS_ATOMIC_PREDEC;
    op->a = row->operands > 0 ? data : NULL;
    op->b = row->operands > 1 ? data + m->component_B : NULL;
}

static bool is_uniform(const struct zs_port_lanes *lanes, uint32_t mask)
{
    const uint8_t *first = lanes->pointer[__builtin_ctz(mask)];
    ZS_PORT_FOR_LANES(lane, mask)
    {
        if (lanes->pointer[lane] != first)
            return false;
    }
    return true;
}

/* A cold path: which lane is misaligned, which bytes were never written. */
static bool check_lanes(struct zs_port *port, const struct zs_port_message *m,
                        const struct zs_port_lanes *lanes)
{
    ZS_PORT_FOR_LANES(lane, lanes->valid)
    {
        uintptr_t at = (uintptr_t)lanes->pointer[lane];
        if (at & (m->element_B - 1u))
            return zs_port_fail(port, m, ZS_PORT_FAULT_MISALIGNED, (int)lane, at, m->element_B,
                                true);
        if (zs_port_tracks(port) && m->space == ZS_PORT_SPACE_GLOBAL &&
            (!zs_port_track(port, m, lanes->pointer[lane], m->element_B, (int)lane, false) ||
             !zs_port_track(port, m, lanes->pointer[lane], m->element_B, (int)lane, true)))
            return false;
    }
    return true;
}

static bool run(struct zs_port *port, const struct zs_port_message *m, struct zs_port_lanes *lanes,
                uint8_t *dst, const uint8_t *data)
{
    struct atomic op;
    uintptr_t low_bits = 0;
    set_operation(&op, m, data);
    ZS_PORT_FOR_LANES(each, lanes->valid)
    low_bits |= (uintptr_t)lanes->pointer[each];
    if ((ZS_UNLIKELY(low_bits & (m->element_B - 1u)) || zs_port_tracks(port)) &&
        !check_lanes(port, m, lanes))
        return false;
    if (op.plain && op.element_B == 4 && operations[m->op].plain32) {
        operations[m->op].plain32(lanes, op.a, op.b, op.result);
    } else if (lanes->valid && is_uniform(lanes, lanes->valid)) {
        at_location(&op, lanes->pointer[__builtin_ctz(lanes->valid)], lanes->valid);
    } else {
        ZS_PORT_FOR_LANES(lane, lanes->valid)
        at_location(&op, lanes->pointer[lane], 1u << lane);
    }
    if (!m->returns)
        return true;
    ZS_PORT_FOR_LANES(zero, lanes->outside)
    op.result[zero] = 0;
    ZS_PORT_FOR_LANES(out, lanes->valid | lanes->outside)
    store(dst + out * m->slot_B, op.result[out], m->slot_B);
    return true;
}

bool zs_port_run_atomic(struct zs_port *port, const struct zs_port_message *m, uint8_t *dst,
                        const uint8_t *src0, const uint8_t *src1, uint32_t mask)
{
    struct zs_port_lanes lanes;
    return zs_port_lanes(port, m, src0 + m->header_grf * GRF_B, mask, m->element_B, true, &lanes) &&
           run(port, m, &lanes, dst,
               zs_port_data(m, src0, src1, (uint32_t)m->lanes * m->address_B / GRF_B));
}

bool zs_port_run_typed_atomic(struct zs_port *port, const struct zs_port_message *m, uint8_t *dst,
                              const uint8_t *src0, const uint8_t *src1, uint32_t mask)
{
    struct zs_port_lanes lanes;
    return zs_port_lanes_typed(port, m, src0, mask, true, &lanes) &&
           run(port, m, &lanes, dst, zs_port_data(m, src0, src1, m->coordinates));
}
