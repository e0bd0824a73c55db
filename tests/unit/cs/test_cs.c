/* SPDX-License-Identifier: MIT */
/* Batches executed on a small memory, states decoded, batches printed. */
#include "../test.h"

#include "cs/cs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BASE = 0x100000, SIZE_B = 64 << 10, DATA = BASE + 0x8000 };

struct machine {
    struct zs_cs *cs;
    uint32_t memory[SIZE_B / 4];
    uint64_t ticks, ticks_step; /* it goes on when it is asked for */
    uint64_t written_va;        /* what was asked for last */
    uint32_t walks, pauses, pauses_max;
    struct zs_cs_walk walk;
    uint8_t payload[256];
};

static uint8_t *memory(void *ctx, uint64_t gpu_va, uint64_t size_B, bool is_write)
{
    struct machine *m = ctx;
    if (gpu_va < BASE || gpu_va > BASE + SIZE_B || size_B > BASE + SIZE_B - gpu_va)
        return NULL;
    if (is_write)
        m->written_va = gpu_va;
    return (uint8_t *)m->memory + (gpu_va - BASE);
}

static uint64_t ticks(void *ctx)
{
    struct machine *m = ctx;
    return m->ticks += m->ticks_step;
}

static int walk(void *ctx, const struct zs_cs_walk *w, struct zs_cs_ran *ret, struct zs_diag *diag)
{
    struct machine *m = ctx;
    m->walks++;
    m->walk = *w;
    uint32_t payload_B = w->cross_B + w->row_B * w->threads;
    if (payload_B)
        memcpy(m->payload, w->payload,
               payload_B < sizeof(m->payload) ? payload_B : sizeof(m->payload));
    *ret = (struct zs_cs_ran){m->ticks, m->ticks + 50};
    return 0;
}

static bool pause_batch(void *ctx, uint32_t turn)
{
    struct machine *m = ctx;
    if (m->pauses++ == 3)
        m->memory[(DATA - BASE) / 4] = 7; /* what a semaphore waits for */
    return m->pauses < m->pauses_max;
}

static const struct zs_cs_ops ops = {
    .memory = memory, .ticks = ticks, .walk = walk, .pause = pause_batch};

static struct machine *machine_create(bool is_xe_hpg)
{
    struct machine *m = calloc(1, sizeof(*m));
    struct zs_cs_params params = {.is_xe_hpg = is_xe_hpg, .timestamp_bits = 36};
    assert_non_null(m);
    m->ticks = 1000;
    m->pauses_max = 100;
    assert_int_equal(zs_cs_create(&ops, m, &params, &m->cs), 0);
    return m;
}

static void machine_free(struct machine *m)
{
    zs_cs_destroy(m->cs);
    free(m);
}

static int run(struct machine *m, const uint32_t *batch, size_t size_B, struct zs_diag *diag)
{
    memset(diag, 0, sizeof(*diag));
    memcpy(m->memory, batch, size_B);
    return zs_cs_run(m->cs, BASE, diag);
}
#define RUN(m, batch, diag) run(m, batch, sizeof(batch), diag)

static uint32_t data(const struct machine *m, uint32_t offset_B)
{
    return m->memory[(DATA - BASE + offset_B) / 4];
}

#define MI(op, length)  ((op) << 23 | (length))
#define END             MI(0x0au, 0)
#define LRI(reg, value) MI(0x22u, 1), reg, value

static void stores_and_registers(void **state)
{
    struct machine *m = machine_create(false);
    struct zs_diag diag;
    const uint32_t batch[] = {
        MI(0x20u, 2),
        DATA,
        0,
        0x11223344, /* MI_STORE_DATA_IMM */
        MI(0x20u, 3) | 1u << 21,
        DATA + 8,
        0,
        0x55667788,
        0x99,            /* 64 bits */
        LRI(0x2600, 40), /* GPR 0 = 40 */
        LRI(0x2604, 1),
        LRI(0x2608, 2), /* GPR 1 = 2 */
        LRI(0x260c, 0),
        MI(0x1au, 3),
        0x08008000,
        0x08008401,
        0x10000000,
        0x18000831, /* GPR 2 = GPR 0 + GPR 1 */
        MI(0x24u, 2),
        0x2610,
        DATA + 16,
        0,
        MI(0x24u, 2),
        0x2614,
        DATA + 20,
        0,
        MI(0x29u, 2),
        0x2618,
        DATA,
        0, /* GPR 3 from memory */
        MI(0x2au, 1),
        0x2618,
        0x2620, /* GPR 4 = GPR 3 */
        MI(0x24u, 2),
        0x2620,
        DATA + 24,
        0,
        MI(0x24u, 2),
        0x2358,
        DATA + 28,
        0, /* the time */
        MI(0x2eu, 3),
        DATA + 32,
        0,
        DATA,
        0, /* MI_COPY_MEM_MEM */
        MI(0x2fu, 1) | 5u << 8,
        DATA + 32,
        0, /* MI_ATOMIC: one more */
        MI(0x26u, 3) | 1u << 14,
        DATA + 40,
        0,
        0xabcd,
        0, /* MI_FLUSH_DW */
        0x7a000004,
        3u << 14,
        DATA + 48,
        0,
        0,
        0, /* PIPE_CONTROL: the time */
        LRI(0xb118, 0x40400000),
        MI(0x24u, 2),
        0xb118,
        DATA + 56,
        0, /* of the L3 cache */
        END,
    };
    assert_int_equal(RUN(m, batch, &diag), 0);
    assert_int_equal(data(m, 0), 0x11223344);
    assert_int_equal(data(m, 8), 0x55667788);
    assert_int_equal(data(m, 12), 0x99);
    assert_int_equal(data(m, 16), 42);
    assert_int_equal(data(m, 20), 1);
    assert_int_equal(data(m, 24), 0x11223344);
    assert_int_equal(data(m, 28), 1000);
    assert_int_equal(data(m, 32), 0x11223345);
    assert_int_equal(data(m, 40), 0xabcd);
    assert_int_equal(data(m, 48), 1000);
    assert_int_equal(data(m, 56), 0x40400000);
    machine_free(m);
}

static void second_level(void **state)
{
    struct machine *m = machine_create(false);
    struct zs_diag diag;
    const uint32_t inner[] = {MI(0x20u, 2), DATA + 4, 0, 2, END};
    const uint32_t batch[] = {
        MI(0x31u, 1) | 1u << 22, BASE + 0x1000, 0, MI(0x20u, 2), DATA, 0, 1, END};
    memcpy((uint8_t *)m->memory + 0x1000, inner, sizeof(inner));
    assert_int_equal(RUN(m, batch, &diag), 0);
    assert_int_equal(data(m, 0), 1);
    assert_int_equal(data(m, 4), 2);
    /* one that calls itself */
    const uint32_t endless[] = {MI(0x31u, 1) | 1u << 22, BASE, 0, END};
    assert_int_equal(RUN(m, endless, &diag), -EINVAL);
    assert_non_null(strstr(diag.text, "deeper"));
    /* one that jumps back for ever ends when nobody waits for it */
    const uint32_t jump[] = {MI(0x31u, 1), BASE, 0};
    assert_int_equal(RUN(m, jump, &diag), -ECANCELED);
    machine_free(m);
}

static void semaphores(void **state)
{
    struct machine *m = machine_create(false);
    struct zs_diag diag;
    const uint32_t batch[] = {MI(0x1cu, 2) | 1u << 15 | 4u << 12, 7, DATA, 0, END};
    assert_int_equal(RUN(m, batch, &diag), 0);
    assert_int_equal(m->pauses, 4);
    const uint32_t never[] = {MI(0x1cu, 2) | 1u << 15 | 4u << 12, 8, DATA, 0, END};
    assert_int_equal(RUN(m, never, &diag), -ECANCELED);
    /* signalled while nobody looks: what is behind begins after that all the same */
    const uint32_t wait[] = {MI(0x1cu, 2) | 1u << 15 | 4u << 12, 7, DATA, 0};
    const uint32_t time[] = {0x7a000004, 3u << 14, DATA + 8, 0, 0, 0, END};
    uint32_t late[15];
    memcpy(late, wait, sizeof(wait));
    memcpy(late + 4, wait, sizeof(wait));
    memcpy(late + 8, time, sizeof(time));
    m->ticks_step = 500; /* from 1000: the batch, two waits */
    assert_int_equal(RUN(m, late, &diag), 0);
    assert_int_equal(data(m, 8), 2500);
    /* commands that go round may wait, too */
    uint32_t round[5000 + 7] = {0};
    memcpy(round + 5000, time, sizeof(time));
    m->pauses = 0;
    m->ticks = 3000;
    assert_int_equal(RUN(m, round, &diag), 0);
    assert_int_equal(data(m, 8), 4000);
    machine_free(m);
}

/* The clock has 36 bits here, and drivers count how often it began anew. */
static void timestamps(void **state)
{
    struct machine *m = machine_create(false);
    struct zs_diag diag;
    const uint32_t batch[] = {0x7a000004, 3u << 14, DATA, 0, 0, 0, END};
    m->ticks = (UINT64_C(2) << 36) + (UINT64_C(3) << 32) + 1000;
    assert_int_equal(RUN(m, batch, &diag), 0);
    assert_int_equal(data(m, 0), 1000);
    assert_int_equal(data(m, 4), 3);
    machine_free(m);
}

/* What is refused is named, with its place. */
static void refusals(void **state)
{
    static const struct {
        uint32_t dw[4];
        int error;
        const char *says;
    } cases[] = {
        {{MI(0x0cu, 1u << 6)}, -ENOTSUP, "MI_PREDICATE"},
        {{0xdeadbeef}, -ENOTSUP, "0xdeadbeef"},
        {{2u << 29 | 0x53u << 22 | 8}, -ENOTSUP, "XY_SRC_COPY_BLT"},
        {{MI(0x24u, 2), 0x7034, DATA, 0}, -ENOTSUP, "register 0x7034"},
        {{MI(0x20u, 2), 0x40, 0, 1}, -EFAULT, "nothing is there"},
        {{MI(0x31u, 1), 0x40, 0}, -EFAULT, "nothing is there"},
        {{0x71050000u | 13}, -EFAULT, "nothing is there"}, /* a walker without a descriptor */
        {{MI(0x1au, 0), 0x12300000}, -ENOTSUP, "MI_MATH"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct machine *m = machine_create(false);
        struct zs_diag diag;
        assert_int_equal(RUN(m, cases[i].dw, &diag), cases[i].error);
        assert_non_null(strstr(diag.text, cases[i].says));
        assert_non_null(strstr(diag.text, "command at 0x"));
        machine_free(m);
    }
}

#define STORE(at_B, value) MI(0x20u, 2), DATA + (at_B), 0, value

static void barriers(void **state)
{
    struct machine *m = machine_create(true);
    struct zs_diag diag;
    const uint32_t batch[] = {0xac000003, 0x4001, 0, 0, 0, STORE(0, 5), END};
    assert_int_equal(RUN(m, batch, &diag), 0);
    assert_int_equal(data(m, 0), 5);
    machine_free(m);
}

/* What follows MI_SET_PREDICATE is run or not; after the next one it is run again. */
static void predicates(void **state)
{
    static const struct {
        uint32_t set, result_2, part, result; /* result: MI_PREDICATE's */
        bool is_run;
    } cases[] = {
        {0, 0, 0, 0, true},       {1, 1, 0, 0, true},        {1, 0, 0, 0, false},
        {2, 0, 0, 0, true},       {2, 1, 0, 0, false},       {3, 0, 0, 1, true},
        {3, 0, 0, 0, false},      {4, 0, 0, 0, true},        {4, 0, 0, 1, false},
        {15, 1, 0, 1, false},     {1u << 4, 0, 0, 0, false}, {1u << 4, 0, 1, 0, true},
        {2u << 4, 0, 0, 0, true}, {2u << 4, 0, 3, 0, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct machine *m = machine_create(true);
        struct zs_diag diag;
        const uint32_t batch[] = {LRI(0x23bc, cases[i].result_2),
                                  LRI(0x221c, cases[i].part),
                                  LRI(0x2418, cases[i].result),
                                  MI(0x01u, cases[i].set),
                                  STORE(0, 1), /* and a jump over the next */
                                  MI(0x31u, 1) | 1u << 15,
                                  BASE + 25 * 4,
                                  0,
                                  MI(0x01u, 0),
                                  STORE(4, 2),
                                  MI(0, 0),
                                  MI(0, 0),
                                  MI(0, 0),
                                  MI(0x01u, 0),
                                  STORE(8, 3),
                                  END};
        assert_int_equal(sizeof(batch) / 4 - 6, 25);
        assert_int_equal(RUN(m, batch, &diag), 0);
        assert_int_equal(data(m, 0), cases[i].is_run ? 1 : 0);
        assert_int_equal(data(m, 4), cases[i].is_run ? 0 : 2);
        assert_int_equal(data(m, 8), 3);
        machine_free(m);
    }
}

/* MI_PREDICATE, told by a MI_STORE_REGISTER_MEM that asks for its result. */
static void predicate_results(void **state)
{
    enum { LOAD = 2 << 6, LOAD_INVERTED = 3 << 6, AND = 1 << 3, OR = 2 << 3, XOR = 3 << 3 };
    static const struct {
        uint32_t command, source_0, source_1, data, before, after;
    } cases[] = {
        {LOAD | 0, 0, 0, 0, 0, 1},       {LOAD | 1, 0, 0, 0, 1, 0},
        {LOAD | 2, 5, 5, 0, 0, 1},       {LOAD | 2, 5, 4, 0, 1, 0},
        {LOAD | 3, 7, 4, 3, 0, 1},       {LOAD_INVERTED | 2, 5, 4, 0, 0, 1},
        {LOAD | AND | 2, 5, 5, 0, 0, 0}, {LOAD | OR | 2, 5, 4, 0, 1, 1},
        {LOAD | XOR | 2, 5, 5, 0, 1, 0}, {0, 5, 4, 0, 1, 1}, /* kept */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct machine *m = machine_create(false);
        struct zs_diag diag;
        const uint32_t batch[] = {LRI(0x2400, cases[i].source_0),
                                  LRI(0x2408, cases[i].source_1),
                                  LRI(0x2410, cases[i].data),
                                  LRI(0x2418, cases[i].before),
                                  MI(0x0cu, cases[i].command),
                                  LRI(0x2600, 9),
                                  MI(0x24u, 2) | 1u << 21,
                                  0x2600,
                                  DATA,
                                  0,
                                  END};
        assert_int_equal(RUN(m, batch, &diag), 0);
        assert_int_equal(data(m, 0), cases[i].after ? 9 : 0);
        machine_free(m);
    }
}

/* A second-level batch that ends, or not, by a dword of memory (12) and the mask behind it. */
static void conditional_ends(void **state)
{
    enum { LEVEL = 1 << 18, MASKED = 1 << 19, COMPARES = 1 << 21, AT = 40 };
    static const struct {
        uint32_t flags, how, value, inner, outer;
    } cases[] = {
        {LEVEL, 0, 11, 1, 1},
        {LEVEL, 0, 12, 0, 1},
        {LEVEL, 1, 12, 1, 1},
        {LEVEL, 2, 13, 1, 1},
        {LEVEL, 3, 11, 0, 1},
        {LEVEL, 4, 12, 1, 1},
        {LEVEL, 5, 12, 0, 1},
        {0, 5, 12, 0, 0},
        {0, 4, 12, 1, 1},
        {LEVEL | MASKED, 4, 8, 1, 1},
        {LEVEL | MASKED, 4, 12, 0, 1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct machine *m = machine_create(false);
        struct zs_diag diag;
        uint32_t batch[64] = {
            STORE(16, 12), STORE(20, 8), MI(0x31u, 1) | 1u << 22, BASE + AT * 4, 0,
            STORE(4, 1),   END};
        const uint32_t second[] = {MI(0x36u, 2) | COMPARES | cases[i].flags | cases[i].how << 12,
                                   cases[i].value,
                                   DATA + 16,
                                   0,
                                   STORE(0, 1),
                                   END};
        memcpy(batch + AT, second, sizeof(second));
        assert_int_equal(RUN(m, batch, &diag), 0);
        assert_int_equal(data(m, 0), cases[i].inner);
        assert_int_equal(data(m, 4), cases[i].outer);
        machine_free(m);
    }
}

static void gpgpu_walker(void **state)
{
    struct machine *m = machine_create(false);
    struct zs_diag diag;
    const uint64_t dynamic = BASE + 0x2000, indirect = BASE + 0x4000;
    const uint32_t descriptor[8] = {0x40, 0, 0, 0x80, 0x100 | 3, 2u << 16, 5 | 4u << 16 | 1u << 21,
                                    1};
    uint32_t batch[64] = {0x61010011};
    uint32_t at = 19;
    const uint64_t bases[] = {0, BASE + 0x1000, dynamic, indirect, BASE + 0x3000};
    const uint32_t places[] = {1, 4, 6, 8, 10};
    for (uint32_t i = 0; i < 5; i++) {
        batch[places[i]] = (uint32_t)bases[i] | 1;
        batch[places[i] + 1] = (uint32_t)(bases[i] >> 32);
    }
    const uint32_t commands[] = {
        0x70000007,   BASE | 2,   0,           0,     0,        0, 0, 0, 0, /* MEDIA_VFE_STATE: 4 KB
                                                                               of scratch */
        0x70020002,   0,          32,          0x200,                       /* the descriptor */
        0x7105000d,   0,          32 + 5 * 64, 0x40,  1u << 30, 1, 0, 4, 0, 0, 2, 0, 1,
        0x3f,         0xffffffff, /* */
        MI(0x24u, 2), 0x2358,     DATA,        0,     END};
    memcpy(batch + at, commands, sizeof(commands));
    memcpy((uint8_t *)m->memory + 0x2200, descriptor, sizeof(descriptor));
    for (uint32_t i = 0; i < 32 + 5 * 64; i++)
        ((uint8_t *)m->memory)[0x4040 + i] = (uint8_t)i;
    assert_int_equal(RUN(m, batch, &diag), 0);
    assert_int_equal(m->walks, 1);
    assert_int_equal(m->walk.kernel_va, BASE + 0x3040);
    assert_int_equal(m->walk.simd, 16);
    assert_int_equal(m->walk.threads, 5);
    assert_int_equal(m->walk.last_mask, 0x3f);
    assert_int_equal(m->walk.groups[0], 3); /* from 1 to 4 */
    assert_int_equal(m->walk.start[0], 1);
    assert_int_equal(m->walk.groups[1], 2);
    assert_int_equal(m->walk.cross_B, 32);
    assert_int_equal(m->walk.row_B, 64);
    assert_int_equal(m->walk.slm_B, 8 << 10);
    assert_true(m->walk.has_barrier);
    assert_int_equal(m->walk.scratch_B, 4096);
    assert_int_equal(m->walk.table_va, BASE + 0x1100);
    assert_int_equal(m->walk.sampler_va, dynamic + 0x80);
    assert_int_equal(m->payload[33], 33);
    assert_int_equal(data(m, 0), 1050); /* behind the walk */
    machine_free(m);
}

static void compute_walker(void **state)
{
    struct machine *m = machine_create(true);
    struct zs_diag diag;
    uint32_t batch[64] = {0x72080025};
    batch[2] = 64;
    batch[3] = BASE + 0x4000;
    batch[4] = 2u << 30 | 1u << 29 | 3u << 26 | 1u << 25;
    batch[5] = 0xff;
    batch[6] = 39 | 0u << 10;
    batch[7] = 3, batch[8] = 1, batch[9] = 1;
    batch[18] = BASE + 0x5000;
    batch[18 + 5] = 2 | 3u << 16;
    batch[26] = 3;
    batch[27] = DATA;
    batch[31] = 0x1234;
    batch[39] = END;
    /* bases of surfaces and samplers by handle, set before */
    const uint32_t bases[] = {
        [0] = 0x61010014, [16] = BASE | 0x7001, [19] = BASE | 0x9001, [21] = 0, [22] = END};
    assert_int_equal(RUN(m, bases, &diag), 0);
    assert_int_equal(RUN(m, batch, &diag), 0);
    assert_int_equal(m->walk.bindless_va, BASE + 0x7000);
    assert_int_equal(m->walk.bindless_sampler_va, BASE + 0x9000);
    assert_int_equal(m->walk.kernel_va, BASE + 0x5000);
    assert_int_equal(m->walk.simd, 32);
    assert_int_equal(m->walk.threads, 2);
    assert_int_equal(m->walk.emit, 3);
    assert_int_equal(m->walk.local[0], 40);
    assert_int_equal(m->walk.inline_B, 32);
    assert_int_equal(m->walk.cross_B, 64 + 1024); /* threads may read on */
    assert_int_equal(m->walk.slm_B, 4 << 10);
    assert_int_equal(data(m, 0), 1000); /* context and global start, context and global end */
    assert_int_equal(data(m, 4), 1000);
    assert_int_equal(data(m, 8), 1050);
    assert_int_equal(data(m, 12), 1050);
    assert_int_equal(m->written_va, DATA + 8); /* what drivers poll, behind what they read then */
    machine_free(m);
}

static void copies(void **state)
{
    struct machine *m = machine_create(true);
    struct zs_diag diag;
    uint8_t *bytes = (uint8_t *)m->memory;
    const uint32_t batch[] = {
        /* XY_FAST_COLOR_BLT: 3 x 2 dwords from (1, 0), pitch 32 */
        2u << 29 | 0x44u << 22 | 2u << 19 | 14, 31, 1, 4 | 2u << 16, DATA, 0, 0, 0xcafe, 0, 0, 0, 0,
        0, 0, 0, 0,
        /* XY_BLOCK_COPY_BLT of bytes: 20 x 2, from a linear surface to tiles of 4 */
        2u << 29 | 0x41u << 22 | 20, 31 | 2u << 30, 0, 20 | 2u << 16, BASE + 0x9000, 0, 0, 0, 63,
        BASE + 0x6000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        /* MEM_COPY of 100 bytes */
        2u << 29 | 0x5au << 22 | 8, 99, 0, 0, 0, BASE + 0x6000, 0, BASE + 0x7000, 0, 0,
        /* MEM_SET of 3 rows of 4 bytes */
        2u << 29 | 0x5bu << 22 | 1u << 17 | 5, 3, 2, 15, BASE + 0x7100, 0, 0x5au << 24, END};
    for (uint32_t i = 0; i < 256; i++)
        bytes[0x6000 + i] = (uint8_t)(i + 1);
    assert_int_equal(RUN(m, batch, &diag), 0);
    assert_int_equal(data(m, 0), 0);
    assert_int_equal(data(m, 4), 0xcafe);
    assert_int_equal(data(m, 32 + 12), 0xcafe);
    assert_int_equal(data(m, 32 + 16), 0);
    assert_int_equal(bytes[0x9000 + 15], 16);
    assert_int_equal(bytes[0x9000 + 16], 65); /* row 1 is behind 16 bytes of row 0 */
    assert_int_equal(bytes[0x9000 + 64], 17); /* and the next 16 of row 0 a line further */
    assert_memory_equal(bytes + 0x7000, bytes + 0x6000, 100);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(bytes[0x7100 + i], i < 48 && i % 16 < 4 ? 0x5a : 0);
    machine_free(m);
}

/* Tiles run one command: each has its part of the groups, and writes to a place of its own. */
static void partitions(void **state)
{
    static const struct {
        uint32_t type, tile, start[2], groups[2];
    } rows[] = {{1, 0, {0, 0}, {4, 2}},
                {1, 1, {4, 0}, {3, 2}},
                {2, 1, {0, 4}, {7, 0}},
                {1, 2, {8, 0}, {0, 2}},
                {0, 1, {0, 0}, {7, 2}}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct machine *m = machine_create(true);
        struct zs_diag diag;
        uint32_t batch[80] = {LRI(0x221c, rows[i].tile), LRI(0x23b4, 64)};
        uint32_t *walker = batch + 6;
        walker[0] = 0x72080225;
        walker[2] = rows[i].type << 30;
        walker[5] = 0xff;
        walker[7] = 7, walker[8] = 2, walker[9] = 1;
        walker[14] = 4;
        walker[18] = BASE + 0x5000;
        walker[18 + 5] = 1;
        walker[26] = 1;
        walker[27] = DATA;
        walker[29] = 99;
        const uint32_t more[] = {MI(0x20u, 2) | 1u << 11,
                                 DATA + 8,
                                 0,
                                 5, /* MI_STORE_DATA_IMM */
                                 MI(0x2fu, 1) | 5u << 8,
                                 DATA + 12 + 1,
                                 0, /* MI_ATOMIC */
                                 0x7a000004 | 1u << 14,
                                 1u << 14,
                                 DATA + 16,
                                 0,
                                 6,
                                 0, /* PIPE_CONTROL */
                                 MI(0x24u, 2) | 1u << 16,
                                 0x221c,
                                 DATA + 24,
                                 0, /* MI_STORE_REGISTER_MEM */
                                 MI(0x1cu, 2) | 1u << 18 | 1u << 15 | 4u << 12,
                                 5,
                                 DATA + 8,
                                 0,
                                 END};
        memcpy(walker + 39, more, sizeof(more));
        assert_int_equal(RUN(m, batch, &diag), 0);
        bool runs = rows[i].groups[0] && rows[i].groups[1];
        assert_int_equal(m->walks, runs);
        for (uint32_t k = 0; k < 2 && runs; k++) {
            assert_int_equal(m->walk.start[k], rows[i].start[k]);
            assert_int_equal(m->walk.groups[k], rows[i].groups[k]);
        }
        const uint32_t at = rows[i].tile * 64;
        const uint32_t wanted[] = {99, 0, 5, 1, 6, 0, rows[i].tile};
        for (uint32_t k = 0; k < 7; k++)
            assert_int_equal(data(m, at + k * 4), wanted[k]);
        walker[26] = 3; /* times: side by side */
        walker[27] = DATA + 0x400;
        assert_int_equal(RUN(m, batch, &diag), 0);
        for (uint32_t k = 0; k < 4; k++)
            assert_true(data(m, 0x400 + rows[i].tile * 16 + k * 4) >= 1000);
        assert_int_equal(data(m, 0x400 + rows[i].tile * 16 + 16), 0);
        machine_free(m);
    }
}

/* Xe2's walker is a dword longer, and its times are qwords. */
static void partitions_of_xe2(void **state)
{
    struct machine *m = machine_create(true);
    struct zs_cs_params params = {.is_xe_hpg = true, .is_xe2 = true, .timestamp_bits = 64};
    struct zs_diag diag;
    uint32_t batch[60] = {LRI(0x221c, 1)};
    uint32_t *walker = batch + 3;
    zs_cs_destroy(m->cs);
    assert_int_equal(zs_cs_create(&ops, m, &params, &m->cs), 0);
    walker[0] = 0x72080226;
    walker[2] = 1u << 30;
    walker[5] = 0xff;
    walker[7] = 7, walker[8] = 2, walker[9] = 1;
    walker[14] = 4;
    walker[19] = BASE + 0x5000;
    walker[19 + 5] = 1;
    walker[27] = 3;
    walker[28] = DATA;
    walker[40] = END;
    assert_int_equal(RUN(m, batch, &diag), 0);
    assert_int_equal(m->walk.start[0], 4);
    assert_int_equal(m->walk.groups[0], 3);
    for (uint32_t k = 0; k < 16; k++)
        assert_int_equal(data(m, k * 4) >= 1000, k >= 8 && k % 2 == 0);
    assert_int_equal(m->written_va, DATA + 32 + 16);
    machine_free(m);
}

/* A table of batches in memory: MI_MATH loads an entry, and the start goes where it says. */
static void indirect_start(void **state)
{
    enum { LOAD = 0x080u << 20, LOADIND = 0x082u << 20, ADD = 0x100u << 20, SRCA = 0x20, SRCB };
    struct machine *m = machine_create(true);
    struct zs_diag diag;
    const uint32_t table[] = {0, 0, BASE + 0x1000, 0}, there[] = {STORE(0, 7), END};
    const uint32_t batch[] = {LRI(0x2608, DATA + 0x100),
                              LRI(0x260c, 0),
                              LRI(0x2610, 8),
                              LRI(0x2614, 0),
                              MI(0x1au, 4),
                              LOAD | SRCA << 10 | 1,
                              LOAD | SRCB << 10 | 2,
                              ADD,
                              LOADIND | 0 << 10 | 0x31,
                              0x001u << 20, /* FENCE_RD */
                              MI(0x31u, 1) | 1u << 18,
                              0,
                              0,
                              STORE(0, 1),
                              END};
    memcpy((uint8_t *)m->memory + 0x1000, there, sizeof(there));
    memcpy((uint8_t *)m->memory + (DATA - BASE) + 0x100, table, sizeof(table));
    assert_int_equal(RUN(m, batch, &diag), 0);
    assert_int_equal(data(m, 0), 7);
    machine_free(m);
}

/* What the copy engine moves takes time on its clock, also when the host's has not gone on. */
static void copies_take_time(void **state)
{
    struct machine *m = machine_create(true);
    struct zs_diag diag;
    const uint32_t batch[] = {MI(0x26u, 3) | 3u << 14,
                              DATA,
                              0,
                              0,
                              0, /* MI_FLUSH_DW: the time */
                              2u << 29 | 0x5au << 22 | 8,
                              99,
                              0,
                              0,
                              0,
                              BASE + 0x6000,
                              0,
                              BASE + 0x7000,
                              0,
                              0,
                              MI(0x26u, 3) | 3u << 14,
                              DATA + 8,
                              0,
                              0,
                              0,
                              MI(0x26u, 3) | 3u << 14,
                              DATA + 16,
                              0,
                              0,
                              0,
                              END};
    assert_int_equal(RUN(m, batch, &diag), 0);
    assert_int_equal(data(m, 0), 1000);
    assert_int_equal(data(m, 8), 1001);
    assert_int_equal(data(m, 16), 1001);
    machine_free(m);
}

/* MI_MATH puts a register where its accumulator points, as lists of postponed batches are kept. */
static void indirect_store(void **state)
{
    enum { LOAD = 0x080u << 20, STOREIND = 0x181u << 20, ADD = 0x100u << 20, SRCA = 0x20, SRCB };
    struct machine *m = machine_create(true);
    struct zs_diag diag;
    uint32_t batch[] = {LRI(0x2608, DATA + 0x100),
                        LRI(0x260c, 0),
                        LRI(0x2610, 8),
                        LRI(0x2614, 0),
                        LRI(0x2638, 0x89abcdef),
                        LRI(0x263c, 0x01234567),
                        MI(0x1au, 4),
                        LOAD | SRCA << 10 | 1,
                        LOAD | SRCB << 10 | 2,
                        ADD,
                        STOREIND | 0x31 << 10 | 7,
                        0x002u << 20, /* FENCE_WR */
                        STORE(0, 1),
                        END};
    assert_int_equal(RUN(m, batch, &diag), 0);
    assert_int_equal(data(m, 0x108), 0x89abcdef);
    assert_int_equal(data(m, 0x10c), 0x01234567);
    assert_int_equal(data(m, 0), 1);
    /* no other operands are known */
    batch[22] = STOREIND | 7 << 10 | 0x31;
    assert_int_equal(batch[18], MI(0x1au, 4));
    assert_int_equal(RUN(m, batch, &diag), -ENOTSUP);
    machine_free(m);
}

/* A copy of half a gigabyte in 48 KiB: others are let in meanwhile, and may end it. */
static void long_copies(void **state)
{
    const uint32_t rows = 0x3fff, width = 0x7fff;
    const uint32_t batches[][11] = {
        {2u << 29 | 0x5bu << 22 | 1u << 17 | 5, width, rows, 0, BASE, 0, 0x7f000000, END},
        {2u << 29 | 0x5au << 22 | 1u << 17 | 8, width, rows, 0, 0, BASE, 0, BASE, 0, 0, END},
    };
    for (size_t i = 0; i < sizeof(batches) / sizeof(batches[0]); i++) {
        struct machine *m = machine_create(true);
        struct zs_diag diag;
        /* the batch itself is behind what is written */
        memcpy(m->memory + 0xf000 / 4, batches[i], sizeof(batches[i]));
        m->pauses_max = 10;
        memset(&diag, 0, sizeof(diag));
        assert_int_equal(zs_cs_run(m->cs, BASE + 0xf000, &diag), -ECANCELED);
        assert_int_equal(m->pauses, 10);
        machine_free(m);
    }
}

static void surfaces(void **state)
{
    uint32_t dw[16] = {2u << 13};
    struct zs_cs_surface s;
    struct zs_diag diag = {0};
    dw[0] = 4u << 29 | 0x1ffu << 18; /* 0x12345 bytes */
    dw[2] = 0x44 | (0x246u & 0x3fff) << 16;
    dw[8] = 0x1000, dw[9] = 0xffff;
    assert_int_equal(zs_cs_surface_decode((uint8_t *)dw, false, &s, &diag), 0);
    assert_int_equal(s.kind, ZS_CS_SURFACE_BUFFER);
    assert_int_equal(s.size_B, 0x12345);
    assert_true(s.gpu_va == 0xffff00001000);
    dw[0] = 1u << 29 | 1u << 28 | 0xc7u << 18 | 3u << 12; /* R8G8B8A8_UNORM, an array */
    dw[1] = 4;
    dw[2] = 15 | 7u << 16;
    dw[3] = 127 | 3u << 21;
    dw[7] = 4u << 25 | 5u << 22 | 6u << 19 | 7u << 16;
    assert_int_equal(zs_cs_surface_decode((uint8_t *)dw, false, &s, &diag), 0);
    assert_int_equal(s.kind, ZS_CS_SURFACE_IMAGE);
    assert_int_equal(s.width, 16);
    assert_int_equal(s.height, 8);
    assert_int_equal(s.depth, 4);
    assert_int_equal(s.slice_rows, 16);
    assert_int_equal(s.row_pitch_B, 128);
    assert_int_equal(s.tiling, ZS_TILE_Y);
    assert_int_equal(s.swizzle[3], 7);
    assert_int_equal(zs_cs_surface_decode((uint8_t *)dw, true, &s, &diag), 0);
    assert_int_equal(s.tiling, ZS_TILE_4);
    dw[0] = 1u << 29 | 1u << 12;
    assert_int_equal(zs_cs_surface_decode((uint8_t *)dw, true, &s, &diag), 0);
    assert_int_equal(s.tiling, ZS_TILE_64);
    assert_int_equal(zs_cs_surface_decode((uint8_t *)dw, false, &s, &diag), -ENOTSUP);
    assert_true(diag.text[0] != '\0');
    dw[0] = 1u << 29 | 0x1a5u << 18; /* PLANAR_420_8: U and V 32 rows down, then beside, too */
    dw[6] = 32;
    assert_int_equal(zs_cs_surface_decode((uint8_t *)dw, true, &s, &diag), 0);
    assert_int_equal(s.chroma_rows, 32);
    dw[6] |= 8u << 16;
    assert_int_equal(zs_cs_surface_decode((uint8_t *)dw, true, &s, &diag), -ENOTSUP);
}

/* Every byte of some tiles has a place of its own. */
static void tiles(void **state)
{
    for (enum zs_tiling tiling = ZS_TILE_X; tiling < ZS_TILINGS; tiling++) {
        uint64_t size_B = 4ull * zs_tile_size_B(tiling), count = 0;
        uint8_t *seen = calloc(1, size_B);
        uint32_t rows = zs_tile_rows(tiling), width_B = zs_tile_width_B(tiling);
        for (uint32_t z = 0; z < zs_tile_slices(tiling); z++)
            for (uint64_t y = 0; y < 2 * rows; y++)
                for (uint64_t x = 0; x < 2 * width_B; x++, count++) {
                    uint64_t at = zs_tiled(tiling, 2 * width_B, x, y, z);
                    assert_true(at < size_B && !seen[at]);
                    seen[at] = 1;
                }
        assert_true(count == size_B);
        free(seen);
    }
    assert_int_equal(zs_tile_64_of(4, false), ZS_TILE_64_DWORDS);
    assert_int_equal(zs_tile_64_of(16, true), ZS_TILE_64_3D_LARGE);
    assert_int_equal(zs_tiled(ZS_TILE_Y, 256, 16, 1, 0), 512 + 16);
    assert_int_equal(zs_tiled(ZS_TILE_4, 256, 64, 0, 0), 512);
    assert_int_equal(zs_tiled(ZS_TILE_4, 256, 0, 4, 0), 256);
    assert_int_equal(zs_tiled(ZS_TILE_X, 1024, 512, 8, 0), 2 * 4096 + 4096);
}

static void text(void **state)
{
    const uint32_t batch[] = {0x61010000u | 17,
                              0,
                              0,
                              0,
                              0x1000001,
                              0,
                              0,
                              0,
                              0,
                              0,
                              0,
                              0,
                              0,
                              0,
                              0,
                              0,
                              0,
                              0,
                              0,
                              MI(0x31u, 1) | 1u << 22,
                              0x5000,
                              1,
                              END,
                              0xffffffff};
    struct zs_buf out = {0};
    struct zs_diag diag = {0};
    struct zs_span span = {(const uint8_t *)batch, sizeof(batch)};
    assert_int_equal(zs_cs_print(span, 0x7000, NULL, &out, &diag), 0);
    assert_non_null(strstr(zs_buf_cstr(&out), "0x000000007000  STATE_BASE_ADDRESS"));
    assert_non_null(strstr(zs_buf_cstr(&out), "to 0x100005000  second level"));
    assert_non_null(strstr(zs_buf_cstr(&out), "MI_BATCH_BUFFER_END"));
    zs_buf_fini(&out);
    const uint32_t bad[] = {MI(0x20u, 2), 0};
    assert_int_equal(
        zs_cs_print((struct zs_span){(const uint8_t *)bad, sizeof(bad)}, 0, NULL, &out, &diag),
        -EINVAL);
    assert_non_null(strstr(diag.text, "cut off"));
    zs_buf_fini(&out);
}

/* Whatever stands in a batch: it ends, and nothing outside its memory is touched. */
static void hostile(void **state)
{
    uint64_t seed = 88172645463325252ull;
    for (uint32_t round = 0; round < 3000; round++) {
        struct machine *m = machine_create(round & 1);
        struct zs_diag diag = {0};
        m->pauses_max = 3;
        for (uint32_t i = 0; i < 2048; i++) {
            seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
            uint32_t word = (uint32_t)(seed >> 16);
            static const uint32_t headers[] = {0x71050000, 0x72080000, 0x61010000, 0x70020000,
                                               0x10000000, 0x18800000, 0x0e000000, 0x0d000000};
            m->memory[i] = seed & 3   ? word
                           : seed & 4 ? headers[seed >> 8 & 7] | (word & 0x3f)
                           : seed & 8 ? BASE + word % SIZE_B
                                      : word & 0x1f;
        }
        (void)zs_cs_run(m->cs, BASE, &diag);
        machine_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stores_and_registers),
        cmocka_unit_test(second_level),
        cmocka_unit_test(semaphores),
        cmocka_unit_test(timestamps),
        cmocka_unit_test(refusals),
        cmocka_unit_test(barriers),
        cmocka_unit_test(predicates),
        cmocka_unit_test(predicate_results),
        cmocka_unit_test(conditional_ends),
        cmocka_unit_test(gpgpu_walker),
        cmocka_unit_test(compute_walker),
        cmocka_unit_test(copies),
        cmocka_unit_test(partitions),
        cmocka_unit_test(partitions_of_xe2),
        cmocka_unit_test(indirect_start),
        cmocka_unit_test(indirect_store),
        cmocka_unit_test(copies_take_time),
        cmocka_unit_test(long_copies),
        cmocka_unit_test(surfaces),
        cmocka_unit_test(tiles),
        cmocka_unit_test(text),
        cmocka_unit_test(hostile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
