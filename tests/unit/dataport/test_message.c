/* SPDX-License-Identifier: MIT */
/*
 * Memory messages against plain loops over bytes. Each reference below is written from the message
 * descriptions: element e of lane l stands in slot e * lanes + l.
 */
#include "fixture.h"

#include "base/small_float.h"

#include <errno.h>
#include <xmmintrin.h>

enum { DC0 = 10, DC1 = 12, SLM = 254, STATELESS = 255 };

/* ---- untyped -----------------------------------------------------------------------------------
 */

struct untyped_case {
    bool a64, write;
    uint32_t bti, lanes, channels; /* mask of enabled ones */
    bool split;                    /* data in src1 */
};

static uint32_t untyped_desc(const struct untyped_case *c)
{
    uint32_t type = c->a64 ? (c->write ? 0x19 : 0x11) : (c->write ? 9 : 1);
    return c->bti | (~c->channels & 15) << 8 | (c->lanes == 16 ? 1u : 2u) << 12 | type << 14;
}

/* Offsets of several shapes: consecutive, uniform, strided, random, some out of bounds. */
static void make_offsets(uint32_t *offsets, uint32_t lanes, uint32_t limit, bool outside,
                         bool write, uint64_t *seed)
{
    if (outside && write) { /* lanes must not overlap: which one wins is not defined */
        for (uint32_t i = 0; i < lanes; i++)
            offsets[i] = i == 3 ? 0xfffffff0 : limit - 130 + 16 * i;
        return;
    }
    uint32_t shape = random_u32(seed) % 4, first = random_u32(seed) % (limit - 256) & ~3u;
    for (uint32_t i = 0; i < lanes; i++) {
        offsets[i] = shape == 0   ? first + 4 * i
                     : shape == 1 ? first
                     : shape == 2 ? first + 16 * i
                                  : (random_u32(seed) % (limit - 16)) & ~3u;
        if (outside && random_u32(seed) % 8 == 0)
            offsets[i] = random_u32(seed) % 3 ? limit - 8 + random_u32(seed) % 16 : 0xfffffff0;
    }
    if (outside && shape == 0)
        for (uint32_t i = 0; i < lanes; i++)
            offsets[i] = limit - 32 + 4 * i; /* a consecutive run over the end */
}

static void check_untyped(const struct untyped_case *c, uint64_t *seed)
{
    struct fixture *f = malloc(sizeof(*f));
    fixture_init(f, seed);
    uint32_t n = (uint32_t)__builtin_popcount(c->channels), group = c->lanes / 8;
    uint32_t address_grf = c->a64 ? 2 * group : group, data_grf = n * group;
    uint32_t mlen = address_grf + (c->write && !c->split ? data_grf : 0);
    if (mlen > 15)
        goto out;
    assert_int_equal(decode(f, DC1, untyped_desc(c), mlen, c->write && c->split ? data_grf : 0,
                            c->write ? 0 : data_grf),
                     0);
    uint8_t *area = c->bti == SLM ? f->slm : f->memory;
    uint32_t limit = c->bti == SLM ? SLM_B : MEMORY_B, offsets[16];
    bool outside = !c->a64 && c->bti == 0 && random_u32(seed) % 2;
    make_offsets(offsets, c->lanes, limit, outside, c->write, seed);
    for (uint32_t i = 0; i < c->lanes; i++) {
        uint64_t va = address_of(f) + offsets[i];
        uint32_t tagged = offsets[i] | (c->bti == SLM ? 0x10000000u : 0);
        if (c->a64)
            memcpy(f->src0 + i * 8, &va, 8);
        else
            memcpy(f->src0 + i * 4, &tagged, 4);
    }
    uint32_t full = (1u << c->lanes) - 1,
             mask = random_u32(seed) % 2 ? full : random_u32(seed) & full;
    const uint8_t *data = c->split ? f->src1 : f->src0 + address_grf * GRF_B;
    uint8_t expect_memory[MEMORY_B], expect_dst[sizeof(f->dst)];
    memcpy(expect_memory, area, limit);
    memcpy(expect_dst, f->dst, sizeof(expect_dst));
    /* each component of all lanes before the next one: later stores win where lanes overlap */
    for (uint32_t k = 0, e = 0; k < 4; k++) {
        if (!(c->channels >> k & 1))
            continue;
        for (uint32_t i = 0; i < c->lanes; i++) {
            if (!(mask >> i & 1))
                continue;
            uint64_t at = (uint64_t)offsets[i] + 4 * k;
            uint32_t slot = (e * c->lanes + i) * 4;
            if (c->write && at + 4 <= limit)
                memcpy(expect_memory + at, data + slot, 4);
            else if (!c->write && at + 4 <= limit)
                memcpy(expect_dst + slot, area + at, 4);
            else if (!c->write)
                memset(expect_dst + slot, 0, 4);
        }
        e++;
    }
    assert_true(run(f, mask));
    assert_memory_equal(area, expect_memory, limit);
    assert_memory_equal(f->dst, expect_dst, sizeof(expect_dst));
out:
    free(f);
}

static void untyped_matches_bytes(void **state)
{
    uint64_t seed = 0x9e3779b97f4a7c15;
    for (uint32_t i = 0; i < 6000; i++) {
        struct untyped_case c = {.a64 = i & 1,
                                 .write = i >> 1 & 1,
                                 .lanes = i >> 2 & 1 ? 16 : 8,
                                 .split = i >> 3 & 1,
                                 .bti = i >> 4 & 1 ? SLM : 0,
                                 .channels = random_u32(&seed) % 15 + 1};
        if (c.a64)
            c.bti = STATELESS;
        check_untyped(&c, &seed);
    }
}

/* ---- scattered ---------------------------------------------------------------------------------
 */

static void check_scattered(bool a64, bool write, uint32_t lanes, uint32_t kind, uint32_t code,
                            uint64_t *seed)
{
    struct fixture *f = malloc(sizeof(*f));
    fixture_init(f, seed);
    uint32_t element_B = kind == 0 ? 1u << code : kind == 1 ? 4 : 8;
    uint32_t elements = kind == 0 ? 1 : 1u << code, slot_B = element_B == 8 ? 8 : 4;
    uint32_t address_grf = lanes / 8 * (a64 ? 2 : 1), data_grf = lanes * slot_B * elements / GRF_B;
    uint32_t desc =
        a64 ? STATELESS | kind << 8 | code << 10 | (uint32_t)(lanes == 16) << 12 |
                  (write ? 0x1Au : 0x10u) << 14
            : (uint32_t)(lanes == 16) << 8 | code << 10 | ((write ? 0xCu : 4u) + (kind == 2)) << 14;
    if (data_grf > 15)
        goto out;
    assert_int_equal(
        decode(f, a64 ? DC1 : DC0, desc, address_grf, write ? data_grf : 0, write ? 0 : data_grf),
        0);
    uint32_t span = element_B * elements, shape = random_u32(seed) % 3, offsets[16];
    uint32_t full = (1u << lanes) - 1, mask = shape ? full : random_u32(seed) & full;
    for (uint32_t i = 0; i < lanes; i++) {
        offsets[i] = shape == 1   ? 128 + i * element_B
                     : shape == 2 ? 64
                                  : random_u32(seed) % (MEMORY_B - span);
        uint64_t va = address_of(f) + offsets[i];
        memcpy(a64 ? f->src0 + i * 8 : f->src0 + i * 4, a64 ? (void *)&va : (void *)&offsets[i],
               a64 ? 8 : 4);
    }
    uint8_t expect_memory[MEMORY_B], expect_dst[sizeof(f->dst)];
    memcpy(expect_memory, f->memory, MEMORY_B);
    memcpy(expect_dst, f->dst, sizeof(expect_dst));
    for (uint32_t e = 0; e < elements; e++) {
        for (uint32_t i = 0; i < lanes; i++) {
            if (!(mask >> i & 1))
                continue;
            uint8_t *slot = expect_dst + (e * lanes + i) * slot_B;
            uint32_t at = offsets[i] + e * element_B;
            if (write)
                memcpy(expect_memory + at, f->src1 + (e * lanes + i) * slot_B, element_B);
            else {
                memset(slot, 0, slot_B);
                memcpy(slot, f->memory + at, element_B);
            }
        }
    }
    assert_true(run(f, mask));
    assert_memory_equal(f->memory, expect_memory, MEMORY_B);
    assert_memory_equal(f->dst, expect_dst, sizeof(expect_dst));
out:
    free(f);
}

static void scattered_matches_bytes(void **state)
{
    uint64_t seed = 42;
    for (uint32_t round = 0; round < 60; round++) {
        for (uint32_t lanes = 8; lanes <= 16; lanes += 8) {
            for (uint32_t write = 0; write < 2; write++) {
                for (uint32_t code = 0; code < 3; code++) {
                    check_scattered(false, write, lanes, 0, code, &seed);
                    check_scattered(true, write, lanes, 0, code, &seed);
                    check_scattered(false, write, lanes, 2, code, &seed);
                }
                for (uint32_t code = 0; code < 4; code++) {
                    check_scattered(true, write, lanes, 1, code, &seed);
                    check_scattered(true, write, lanes, 2, code, &seed);
                }
            }
        }
    }
}

/* ---- atomics -----------------------------------------------------------------------------------
 */

/* New value of one lane's operation; written apart from the implementation's table. */
static uint64_t reference_atomic(uint32_t op, uint64_t old, uint64_t a, uint64_t b, uint32_t size_B)
{
    uint64_t all = UINT64_MAX >> (64 - 8 * size_B);
    int64_t so = (int64_t)(old << (64 - 8 * size_B)), sa = (int64_t)(a << (64 - 8 * size_B));
    switch (op) {
    case 1:
        return old & a;
    case 2:
        return old | a;
    case 3:
        return old ^ a;
    case 4:
        return a;
    case 5:
        return (old + 1) & all;
    case 6:
    case 15:
        return (old - 1) & all;
    case 7:
        return (old + a) & all;
    case 8:
        return (old - a) & all;
    case 9:
        return (a - old) & all;
    case 10:
        return so > sa ? old : a;
    case 11:
        return so < sa ? old : a;
    case 12:
        return old > a ? old : a;
    case 13:
        return old < a ? old : a;
    default:
        return old == a ? b : old;
    }
}

/* Elements of 16 bits are in dwords. */
static void check_atomic(uint32_t op, bool a64, uint32_t size_B, uint32_t lanes, bool slm,
                         bool uniform, uint64_t *seed)
{
    struct fixture *f = malloc(sizeof(*f));
    fixture_init(f, seed);
    f->platform = size_B == 2 ? ZS_ISA_XE_HPG : ZS_ISA_GEN9;
    uint32_t operands = op == 5 || op == 6 || op == 15 ? 0 : op == 14 ? 2 : 1;
    uint32_t slot_B = size_B == 8 ? 8 : 4, data_grf = lanes * slot_B / GRF_B;
    uint32_t is_16 = size_B == 2 ? 1 : 0;
    uint32_t desc = (a64   ? STATELESS
                     : slm ? SLM
                           : 0) |
                    op << 8 | 1u << 13 |
                    (a64 ? (uint32_t)(size_B == 8) << 12 | (0x12u + is_16) << 14
                         : (uint32_t)(lanes == 8) << 12 | (2u + is_16) << 14);
    assert_int_equal(decode(f, DC1, desc, lanes / 8 * (a64 ? 2 : 1), operands * data_grf, data_grf),
                     0);
    uint8_t *area = slm ? f->slm : f->memory;
    uint32_t full = (1u << lanes) - 1, mask = random_u32(seed) % 2 ? full : random_u32(seed) & full;
    uint8_t expect[MEMORY_B], expect_dst[sizeof(f->dst)];
    memcpy(expect, area, SLM_B);
    memcpy(expect_dst, f->dst, sizeof(expect_dst));
    for (uint32_t i = 0; i < lanes; i++) {
        uint32_t at = uniform ? 64 : (random_u32(seed) % (SLM_B / 8)) * 8;
        uint64_t va = address_of(f) + at, old = 0, a = 0, b = 0;
        memcpy(f->src0 + i * (a64 ? 8 : 4), a64 ? (void *)&va : (void *)&at, a64 ? 8 : 4);
        if (op == 14 && i % 2) /* make half of the comparisons succeed */
            memcpy(f->src1 + i * slot_B, expect + at, size_B);
        if (!(mask >> i & 1))
            continue;
        memcpy(&old, expect + at, size_B);
        memcpy(&a, f->src1 + i * slot_B, operands > 0 ? size_B : 0);
        memcpy(&b, f->src1 + (lanes + i) * slot_B, operands > 1 ? size_B : 0);
        uint64_t value = reference_atomic(op, old, a, b, size_B);
        memcpy(expect + at, &value, size_B);
        memcpy(expect_dst + i * slot_B, op == 15 ? &value : &old, slot_B);
    }
    assert_true(run(f, mask));
    assert_memory_equal(area, expect, SLM_B);
    assert_memory_equal(f->dst, expect_dst, sizeof(expect_dst));
    free(f);
}

static void atomics_match_a_loop(void **state)
{
    uint64_t seed = 7;
    for (uint32_t round = 0; round < 40; round++) {
        for (uint32_t op = 1; op < 16; op++) {
            bool uniform = round & 1;
            for (uint32_t size_B = 2; size_B <= 4; size_B *= 2) {
                check_atomic(op, false, size_B, 8, round & 2, uniform, &seed);
                check_atomic(op, false, size_B, 16, round & 2, uniform, &seed);
                check_atomic(op, true, size_B, 8, false, uniform, &seed);
            }
            check_atomic(op, true, 8, 8, false, uniform, &seed);
        }
    }
}

static void float_atomics(void **state)
{
    uint64_t seed = 3;
    struct fixture f;
    for (uint32_t op = 1; op <= 3; op++) {
        fixture_init(&f, &seed);
        const float before[4] = {1.0f, -2.0f, 5.0f, 0.0f}, a[4] = {3.0f, -3.0f, 5.0f, -0.0f};
        const float b[4] = {9.0f, 9.0f, 9.0f, 9.0f};
        const float expect[4][4] = {
            {0}, {3.0f, -2.0f, 5.0f, 0.0f}, {1.0f, -3.0f, 5.0f, 0.0f}, {1.0f, -2.0f, 9.0f, 9.0f}};
        memcpy(f.memory, before, sizeof(before));
        for (uint32_t i = 0; i < 4; i++) {
            uint32_t at = i * 4;
            memcpy(f.src0 + i * 4, &at, 4);
        }
        memcpy(f.src1, a, sizeof(a));
        memcpy(f.src1 + GRF_B, b, sizeof(b));
        assert_int_equal(
            decode(&f, DC1, op << 8 | 1 << 12 | 1 << 13 | 0x1B << 14, 1, op == 3 ? 2 : 1, 1), 0);
        assert_true(run(&f, 15));
        for (uint32_t i = 0; i < 4; i++) {
            float value;
            memcpy(&value, f.memory + i * 4, 4);
            assert_true(value == expect[op][i]);
        }
        assert_memory_equal(f.dst, before, sizeof(before));
    }
}

static uint16_t half_bits(float value)
{
    return zs_half_from_float(value);
}

/* Additions, and all on halves, as IGC emits them for DG2: by address with the old value, and in
 * local memory. A denormal is no zero, whatever the thread's modes are. */
static void float_additions(void **state)
{
    static const float olds[8] = {1.5f, -2.0f, 0x1p-20f, 100.0f, 0.0f, -0.0f, 7.0f, 1.0f};
    static const float as[8] = {3.0f, -3.5f, 0x1p-21f, -0.25f, -0.0f, 0.0f, 1e-3f, -1.0f};
    static const uint32_t ops[] = {1, 2, 4, 5}; /* maximum, minimum, add, subtract */
    uint64_t seed = 4;
    uint32_t threads = _mm_getcsr();
    struct fixture f;

    for (uint32_t variant = 0; variant < 16; variant++) {
        uint32_t op = ops[variant & 3], size_B = variant & 4 ? 2 : 4;
        bool local = variant & 8;
        fixture_init(&f, &seed);
        f.platform = ZS_ISA_XE_HPG;
        uint8_t *memory = local ? f.slm : f.memory;
        for (uint32_t i = 0; i < 8; i++) {
            uint32_t at = i * 4;
            uint64_t va = address_of(&f) + at;
            uint16_t old = half_bits(olds[i]), a = half_bits(as[i]);
            memcpy(f.src0 + i * (local ? 4 : 8), local ? (void *)&at : (void *)&va, local ? 4 : 8);
            memcpy(memory + at, size_B == 2 ? (const void *)&old : (const void *)&olds[i], size_B);
            memcpy(f.src1 + at, size_B == 2 ? (const void *)&a : (const void *)&as[i], size_B);
        }
        uint32_t type = (local ? 0x1Bu : 0x1Du) + (size_B == 2);
        assert_int_equal(
            decode(&f, DC1, (local ? SLM | 1u << 12 : STATELESS) | op << 8 | 1u << 13 | type << 14,
                   local ? 1 : 2, 1, 1),
            0);
        _mm_setcsr(threads | _MM_FLUSH_ZERO_ON | _MM_ROUND_UP);
        bool done = run(&f, 0xff);
        _mm_setcsr(threads);
        assert_true(done);
        for (uint32_t i = 0; i < 8; i++) {
            float old = olds[i], a = as[i], got, before;
            if (size_B == 2)
                old = zs_half_to_float(half_bits(old)), a = zs_half_to_float(half_bits(a));
            float want = op == 1   ? (a > old ? a : old)
                         : op == 2 ? (a < old ? a : old)
                         : op == 4 ? old + a
                                   : old - a;
            uint16_t half, half_before;
            memcpy(&half, memory + i * 4, 2), memcpy(&half_before, f.dst + i * 4, 2);
            memcpy(&got, memory + i * 4, 4), memcpy(&before, f.dst + i * 4, 4);
            if (size_B == 2) {
                assert_int_equal(half, half_bits(want));
                assert_int_equal(half_before, half_bits(olds[i]));
            } else {
                assert_true(got == want && before == old);
            }
        }
    }
}

/* ---- blocks ------------------------------------------------------------------------------------
 */

static void blocks_move_bytes(void **state)
{
    uint64_t seed = 11;
    static const uint32_t sizes[] = {16, 16, 32, 64, 128};
    struct fixture f;
    for (uint32_t code = 0; code < 5; code++) {
        uint32_t grf = (sizes[code] + 31) / 32, half = code == 1 ? 16 : 0;
        fixture_init(&f, &seed);
        uint32_t owords = 5, bytes = 84;
        memcpy(f.src0 + 8, &owords, 4);
        assert_int_equal(decode(&f, DC0, 1 << 19 | code << 8, 1, 0, grf), 0);
        assert_true(run(&f, 1));
        assert_memory_equal(f.dst + half, f.memory + 80, sizes[code]);
        memcpy(f.src0 + 8, &bytes, 4);
        assert_int_equal(decode(&f, DC0, 1 << 19 | 1 << 14 | code << 8, 1, 0, grf), 0);
        assert_true(run(&f, 0)); /* lanes do not matter */
        assert_memory_equal(f.dst + half, f.memory + 84, sizes[code]);
        memcpy(f.src0 + 8, &owords, 4);
        assert_int_equal(decode(&f, DC0, 1 << 19 | 8 << 14 | code << 8, 1, grf, 0), 0);
        assert_true(run(&f, 1));
        assert_memory_equal(f.memory + 80, f.src1 + half, sizes[code]);
        uint64_t va = address_of(&f) + 100;
        memcpy(f.src0, &va, 8);
        assert_int_equal(
            decode(&f, DC1, 1 << 19 | 0x14 << 14 | 1 << 11 | code << 8 | 255, 1, 0, grf), 0);
        assert_true(run(&f, 1));
        assert_memory_equal(f.dst + half, f.memory + 100, sizes[code]);
        assert_int_equal(
            decode(&f, DC1, 1 << 19 | 0x15 << 14 | 1 << 11 | code << 8 | 255, 1, grf, 0), 0);
        assert_true(run(&f, 1));
        assert_memory_equal(f.memory + 100, f.src1 + half, sizes[code]);
    }
    /* over the end of a surface: what is behind it reads as zero */
    fixture_init(&f, &seed);
    uint32_t last = MEMORY_B / 16 - 1;
    memcpy(f.src0 + 8, &last, 4);
    assert_int_equal(decode(&f, DC0, 1 << 19 | 3 << 8, 1, 0, 2), 0);
    assert_true(run(&f, 1));
    static const uint8_t zeros[48];
    assert_memory_equal(f.dst, f.memory + MEMORY_B - 16, 16);
    assert_memory_equal(f.dst + 16, zeros, 48);
}

static void scratch_blocks_stay_in_their_slot(void **state)
{
    uint64_t seed = 12;
    struct fixture f;
    fixture_init(&f, &seed);
    uint32_t base = SCRATCH_SLOT_B | 0x200 | 17; /* r0.5: scratch base, flags, thread number */
    memcpy(f.src0 + 20, &base, 4);
    uint32_t write = 1 << 19 | 1 << 18 | 1 << 17 | 1 << 12 | 3; /* 2 registers at 3 * 32 */
    assert_int_equal(decode(&f, DC0, write, 1, 2, 0), 0);
    assert_true(run(&f, 1));
    assert_memory_equal(f.scratch + SCRATCH_SLOT_B + 96, f.src1, 64);
    assert_int_equal(decode(&f, DC0, write & ~(1u << 17), 1, 0, 2), 0);
    assert_true(run(&f, 1));
    assert_memory_equal(f.dst, f.src1, 64);
    /* by dwords: lanes that are off keep theirs, two registers are 16 lanes */
    uint8_t want[64];
    memcpy(want, f.scratch + SCRATCH_SLOT_B + 96, 64);
    for (uint32_t i = 0; i < 64; i++)
        f.src1[i] = (uint8_t)~f.src1[i];
    for (uint32_t lane = 0; lane < 16; lane++) {
        if (0x8a31 >> lane & 1)
            memcpy(want + 4 * lane, f.src1 + 4 * lane, 4);
    }
    assert_int_equal(decode(&f, DC0, write | 1 << 16, 1, 2, 0), 0);
    assert_true(run(&f, 0x8a31));
    assert_memory_equal(f.scratch + SCRATCH_SLOT_B + 96, want, 64);
    /* the last register of the slot is fine, the one behind it is another thread's */
    assert_int_equal(decode(&f, DC0, 1 << 19 | 1 << 18 | (SCRATCH_SLOT_B / 32 - 1), 1, 0, 1), 0);
    assert_true(run(&f, 1));
    assert_int_equal(decode(&f, DC0, 1 << 19 | 1 << 18 | (SCRATCH_SLOT_B / 32), 1, 0, 1), 0);
    assert_false(run(&f, 1));
    assert_int_equal(f.port.fault.kind, ZS_PORT_FAULT_SCRATCH);
}

/* ---- refused accesses --------------------------------------------------------------------------
 */

static void a64_faults_name_the_lane(void **state)
{
    uint64_t seed = 13;
    struct fixture f;
    fixture_init(&f, &seed);
    for (uint32_t i = 0; i < 16; i++) {
        uint64_t va = address_of(&f) + i * 4 + (i == 5 ? MEMORY_B : 0);
        memcpy(f.src0 + i * 8, &va, 8);
    }
    uint32_t read = 255 | 1 << 8 | 1 << 12 | 0x10 << 14;
    assert_int_equal(decode(&f, DC1, read, 4, 0, 2), 0);
    assert_false(run(&f, 0xffff));
    assert_int_equal(f.port.fault.kind, ZS_PORT_FAULT_OUT_OF_BOUNDS);
    assert_int_equal(f.port.fault.lane, 5);
    assert_true(f.port.fault.gpu_va == address_of(&f) + 20 + MEMORY_B);
    assert_false(f.port.fault.is_write);
    assert_true(run(&f, 0xffdf)); /* a lane that is off may point anywhere */
    f.node.range.read_only = true;
    memset(f.port.cache, 0, sizeof(f.port.cache));
    assert_int_equal(decode(&f, DC1, 255 | 1 << 8 | 1 << 12 | 0x1A << 14, 4, 2, 0), 0);
    uint8_t before[MEMORY_B];
    memcpy(before, f.memory, MEMORY_B);
    assert_false(run(&f, 1));
    assert_int_equal(f.port.fault.kind, ZS_PORT_FAULT_READ_ONLY);
    assert_memory_equal(f.memory, before, MEMORY_B);
}

/* What the application says of its kernels holds for strict launches, also behind others that were
 * let through. */
static void a64_for_reads(void **state)
{
    uint64_t seed = 15;
    struct fixture f;
    fixture_init(&f, &seed);
    uint64_t va = address_of(&f);
    memcpy(f.src0, &va, 8);
    f.node.range.is_for_reads = true;
    memset(f.port.cache, 0, sizeof(f.port.cache));
    assert_int_equal(decode(&f, DC1, 255 | 1 << 8 | 1 << 12 | 0x1A << 14, 4, 2, 0), 0);
    assert_true(run(&f, 1));
    f.port.flags = ZS_PORT_STRICT;
    assert_false(run(&f, 1));
    assert_int_equal(f.port.fault.kind, ZS_PORT_FAULT_READ_ONLY);
    assert_int_equal(decode(&f, DC1, 255 | 1 << 8 | 1 << 12 | 0x10 << 14, 4, 0, 2), 0);
    assert_true(run(&f, 1));
}

static void surfaces_and_slm_bounds(void **state)
{
    uint64_t seed = 14;
    struct fixture f;
    uint32_t offset = MEMORY_B - 2, zero = 0;
    fixture_init(&f, &seed);
    memcpy(f.src0, &offset, 4);
    assert_int_equal(decode(&f, DC1, 0xE << 8 | 2 << 12 | 1 << 14, 1, 0, 1), 0);
    assert_true(run(&f, 1));
    assert_memory_equal(f.dst, &zero, 4);
    f.port.flags = ZS_PORT_CHECK_SURFACES;
    assert_false(run(&f, 1));
    assert_int_equal(f.port.fault.kind, ZS_PORT_FAULT_SURFACE);
    f.port.flags = 0;
    /* 3 was freed, 200 is bound to nothing */
    assert_int_equal(decode(&f, DC1, 3 | 0xE << 8 | 2 << 12 | 1 << 14, 1, 0, 1), 0);
    assert_false(run(&f, 1));
    assert_int_equal(decode(&f, DC1, 200 | 0xE << 8 | 2 << 12 | 1 << 14, 1, 0, 1), 0);
    assert_true(run(&f, 1));
    assert_int_equal(decode(&f, DC1, SLM | 0xE << 8 | 2 << 12 | 1 << 14, 1, 0, 1), 0);
    offset = 0x10000000 + SLM_B - 4;
    memcpy(f.src0, &offset, 4);
    assert_true(run(&f, 1));
    assert_memory_equal(f.dst, f.slm + SLM_B - 4, 4);
    offset += 4;
    memcpy(f.src0, &offset, 4);
    assert_false(run(&f, 1));
    assert_int_equal(f.port.fault.kind, ZS_PORT_FAULT_SLM);
    offset = 0x10000000 - 4; /* before the first byte */
    memcpy(f.src0, &offset, 4);
    assert_false(run(&f, 1));
}

static void misaligned_atomics_are_refused(void **state)
{
    uint64_t seed = 15;
    struct fixture f;
    fixture_init(&f, &seed);
    uint32_t offset = 6;
    memcpy(f.src0 + 4, &offset, 4);
    assert_int_equal(decode(&f, DC1, 7 << 8 | 1 << 12 | 2 << 14, 1, 1, 0), 0);
    assert_false(run(&f, 2));
    assert_int_equal(f.port.fault.kind, ZS_PORT_FAULT_MISALIGNED);
    assert_int_equal(f.port.fault.lane, 1);
}

static void never_written_memory_is_found(void **state)
{
    uint64_t seed = 16, written[MEMORY_B / 64 + 1] = {0};
    struct fixture f;
    fixture_init(&f, &seed);
    fixture_unbias(&f);
    f.node.range.written = written;
    f.port.flags = ZS_PORT_TRACK_WRITES | ZS_PORT_CHECK_UNWRITTEN;
    for (uint32_t i = 0; i < 8; i++) {
        uint32_t offset = 64 + i * 4;
        memcpy(f.src0 + i * 4, &offset, 4);
    }
    assert_int_equal(decode(&f, DC1, 0xE << 8 | 2 << 12 | 9 << 14, 1, 1, 0), 0);
    assert_true(run(&f, 0x7f)); /* lane 7 writes nothing */
    assert_true(written[1] == 0x0fffffff);
    assert_int_equal(decode(&f, DC1, 0xE << 8 | 2 << 12 | 1 << 14, 1, 0, 1), 0);
    assert_true(run(&f, 0x7f));
    assert_false(run(&f, 0xff));
    assert_int_equal(f.port.fault.kind, ZS_PORT_FAULT_UNWRITTEN);
    assert_int_equal(f.port.fault.lane, 7);
}

static void lanes_may_lie_in_several_allocations(void **state)
{
    uint64_t seed = 17;
    struct fixture f;
    fixture_init(&f, &seed);
    uint64_t start = f.node.range.start;
    struct zs_port_node second = {.range = {.start = start + 32, .end = start + 256, .bias = BIAS}};
    f.node.range.end = start + 32;
    f.node.right = &second;
    for (uint32_t i = 0; i < 16; i++) { /* consecutive over the border of two allocations */
        uint64_t va = start + i * 4;
        memcpy(f.src0 + i * 8, &va, 8);
    }
    assert_int_equal(decode(&f, DC1, 255 | 1 << 8 | 1 << 12 | 0x10 << 14, 4, 0, 2), 0);
    assert_true(run(&f, 0xffff));
    assert_memory_equal(f.dst, f.memory, 64);
    /* but one access must not straddle them */
    uint64_t va = start + 30;
    memcpy(f.src0, &va, 8);
    assert_false(run(&f, 1));
}

static void unknown_messages_are_named(void **state)
{
    uint64_t seed = 18;
    struct fixture f;
    fixture_init(&f, &seed);
    assert_int_equal(decode(&f, 8, 0x1234, 1, 0, 1), -ENOTSUP);              /* VME */
    assert_int_equal(decode(&f, DC1, 3 << 14, 1, 0, 1), -ENOTSUP);           /* SIMD4x2 */
    assert_int_equal(decode(&f, DC1, 0 << 12 | 1 << 14, 1, 0, 1), -ENOTSUP); /* SIMD4x2 */
    assert_int_equal(decode(&f, DC1, 1 << 12 | 1 << 14, 1, 0, 8),
                     -EINVAL); /* one register of offsets */
    assert_int_equal(decode(&f, DC1, 1 << 12 | 1 << 14, 2, 0, 7), -EINVAL); /* response too short */
    assert_int_equal(decode(&f, DC1, 2 << 14 | 1 << 12, 2, 0, 0), -ENOTSUP); /* atomic 0 */
    /* 16 bits, and additions of floats: from XeHPG on */
    assert_int_equal(decode(&f, DC1, 3 << 14 | 7 << 8 | 1 << 12, 1, 1, 0), -ENOTSUP);
    assert_int_equal(decode(&f, DC1, 0x1B << 14 | 4 << 8 | 1 << 12, 1, 1, 0), -ENOTSUP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(untyped_matches_bytes),
        cmocka_unit_test(scattered_matches_bytes),
        cmocka_unit_test(atomics_match_a_loop),
        cmocka_unit_test(float_atomics),
        cmocka_unit_test(float_additions),
        cmocka_unit_test(blocks_move_bytes),
        cmocka_unit_test(scratch_blocks_stay_in_their_slot),
        cmocka_unit_test(a64_faults_name_the_lane),
        cmocka_unit_test(a64_for_reads),
        cmocka_unit_test(surfaces_and_slm_bounds),
        cmocka_unit_test(misaligned_atomics_are_refused),
        cmocka_unit_test(never_written_memory_is_found),
        cmocka_unit_test(lanes_may_lie_in_several_allocations),
        cmocka_unit_test(unknown_messages_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
