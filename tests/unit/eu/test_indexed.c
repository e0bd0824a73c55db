/* SPDX-License-Identifier: MIT */
/*
 * Messages whose addresses are sums that nobody else reads: the lowering gives them index and base.
 * And what else it shares or leaves out within a block: words that are widened once, low halves of
 * products; and exponentials, which have handlers of their own where all lanes are on.
 */
#include "assembled.h"
#include "drawn.h"

#include "dataport/dataport.h"

#include <math.h>

enum { GRF_B = 64, LANES = 32, DWORDS = 1024, MIDDLE = 512, ROUNDS = 400, TEXT_MAX = 6000 };
enum {
    FIRST_REG = 10,
    VECTORS = 6,
    BASES = 42,
    WORDS = 50,
    SPREAD = 60,
    SHIFTED = 64,
    SUMS = 68,
    COPIES = 90
};
enum { INDICES = 3 }; /* of the vectors: the first ones */
enum { WORD_REGS = 7 };

/* What a thread begins with, and what it leaves. */
struct world {
    uint32_t vector[VECTORS][LANES], memory[DWORDS];
    uint64_t base[4];
    uint16_t word[WORD_REGS][LANES];
    uint32_t ce;
    enum zs_eu_status status;
    struct zs_port_fault fault;
    uint8_t sums[LANES * 8];
};

static const enum zs_eu_host hosts[] = {ZS_EU_HOST_BEST, ZS_EU_HOST_AVX2, ZS_EU_HOST_BASE};

/* Bases count from the middle of the memory, wherever that lies. */
static void execute(const char *text, uint32_t flags, enum zs_eu_host host, bool read_only,
                    struct world *w)
{
    static _Alignas(64) uint32_t memory[DWORDS];
    const struct zs_port_range range = {.start = (uint64_t)(uintptr_t)memory,
                                        .end = (uint64_t)(uintptr_t)(memory + DWORDS),
                                        .read_only = read_only};
    struct zs_port_node node;
    zs_port_node_init(&node, &range, true);
    struct zs_port port = {.map = {&node}};
    struct zs_eu_program *program =
        assembled(ZS_ISA_XE_HPC, text,
                  (struct zs_eu_lower_params){.simd = LANES, .flags = flags, .host = host});
    struct zs_eu_thread *t = assembled_thread(program);
    uint64_t base[4];

    memcpy(memory, w->memory, sizeof(memory));
    for (unsigned i = 0; i < 4; i++)
        base[i] = w->base[i] + (uint64_t)(uintptr_t)(memory + MIDDLE);
    memset(t->grf, 0, 128 * GRF_B);
    memcpy(t->grf + FIRST_REG * GRF_B, w->vector, sizeof(w->vector));
    memcpy(t->grf + BASES * GRF_B, base, sizeof(base));
    memcpy(t->grf + WORDS * GRF_B, w->word, sizeof(w->word));
    t->env = &port;
    t->ce = w->ce;
    w->status = zs_eu_run(t, program, 1000);
    w->fault = port.fault;
    w->fault.gpu_va -= (uint64_t)(uintptr_t)memory;
    memset(w->fault.detail, 0, sizeof(w->fault.detail));
    memcpy(w->memory, memory, sizeof(memory));
    memcpy(w->vector, t->grf + FIRST_REG * GRF_B, sizeof(w->vector));
    memcpy(w->word, t->grf + WORDS * GRF_B, sizeof(w->word));
    memcpy(w->sums, t->grf + SUMS * GRF_B, sizeof(w->sums));
    free(t);
    zs_eu_program_destroy(program);
}

/* ---- one message -------------------------------------------------------------------------------
 */

/* shl, add and a message, of 16 or 32 lanes, each half by itself but for the message. */
static void put_message(char *text, size_t size, unsigned lanes, bool is_store, const char *type)
{
    size_t used = 0;

    for (unsigned half = 0; half < lanes / 16; half++)
        used += (size_t)snprintf(text + used, size - used,
                                 "shl (16|M%u) r%u.0<1>:q r%u.0<1;1,0>:%s 2:w\n"
                                 "add (16|M%u) r%u.0<1>:q r%u.0<1;1,0>:q r%d.0<0;1,0>:q\n",
                                 half * 16, SHIFTED + 2 * half, FIRST_REG + half, type, half * 16,
                                 SUMS + 2 * half, SHIFTED + 2 * half, BASES);
    if (is_store)
        snprintf(text + used, size - used, "send.ugm (%u|M0) null r%d r%d:%u 0x0 0x0%u000584\n",
                 lanes, SUMS, FIRST_REG + 8, lanes / 16, lanes / 4);
    else
        snprintf(text + used, size - used, "send.ugm (%u|M0) r%d r%d null:0 0x0 0x0%u%u00580\n",
                 lanes, FIRST_REG + 4, SUMS, lanes / 4, lanes / 16);
}

static void begin_world(struct world *w)
{
    memset(w, 0, sizeof(*w));
    for (unsigned i = 0; i < DWORDS; i++)
        w->memory[i] = next() << 1 ^ next();
    for (unsigned v = 0; v < VECTORS; v++)
        for (unsigned c = 0; c < LANES; c++)
            w->vector[v][c] = next() << 1 ^ next();
    w->ce = UINT32_MAX;
}

/* How indices lie. */
enum shape { RISING, ONE, RISING_TWICE, FALLING, BY_TWO, ANYWHERE, SHAPES };
static uint32_t index_of(enum shape shape, uint32_t start, unsigned lane)
{
    switch (shape) {
    case RISING:
        return start + lane;
    case ONE:
        return start;
    case RISING_TWICE:
        return start + lane % 16 + (lane / 16) * 37;
    case FALLING:
        return start + 40 - lane;
    case BY_TWO:
        return start + 2 * lane;
    default:
        return start + below(80);
    }
}

static void check_message(unsigned lanes, bool is_store, bool is_signed, enum shape shape,
                          uint32_t ce, enum zs_eu_host host)
{
    char text[600];
    static struct world before, after;
    uint32_t want[LANES], memory[DWORDS];
    uint32_t start = is_signed ? (uint32_t)(int32_t) - (int32_t)below(400) : below(400);

    begin_world(&before);
    before.ce = ce;
    for (unsigned c = 0; c < LANES; c++)
        before.vector[0][c] = index_of(shape, start, c);
    put_message(text, sizeof(text), lanes, is_store, is_signed ? "d" : "ud");
    memcpy(want, before.vector[2], sizeof(want));
    memcpy(memory, before.memory, sizeof(memory));
    for (unsigned c = 0; c < lanes; c++) {
        uint32_t at = MIDDLE + before.vector[0][c];
        if (!(ce >> c & 1))
            continue;
        assert_true(at < DWORDS);
        if (is_store)
            memory[at] = before.vector[4][c];
        else
            want[c] = memory[at];
    }
    after = before;
    execute(text, 0, host, false, &after);
    assert_int_equal(after.status, ZS_EU_EOT);
    assert_memory_equal(after.memory, memory, sizeof(memory));
    assert_memory_equal(after.vector[2], want, sizeof(want));
    /* nobody else reads the sums: they are not made */
    for (unsigned i = 0; i < sizeof(after.sums); i++)
        assert_int_equal(after.sums[i], 0);
}

static void single_messages(void **state)
{
    static const uint32_t masks[] = {UINT32_MAX, 0xffff, 0x7fffffff, 0x80018001};

    (void)state;
    seed = 7;
    for (unsigned i = 0; i < 2u * 2 * 2 * SHAPES * ZS_ARRAY_LEN(masks); i++)
        for (unsigned h = 0; h < ZS_ARRAY_LEN(hosts); h++)
            if (zs_eu_host_usable(hosts[h]))
                check_message(i & 1 ? 32 : 16, i & 2, i & 4, (enum shape)(i / 8 % SHAPES),
                              masks[i / 8 / SHAPES], hosts[h]);
}

/* ---- faults ------------------------------------------------------------------------------------
 */

static void compare_ways(const char *text, const struct world *before, bool read_only,
                         enum zs_eu_host host, struct world *want)
{
    static struct world got;

    *want = got = *before;
    execute(text, ZS_EU_LOWER_PLACES, host, read_only, want);
    execute(text, 0, host, read_only, &got);
    bool ends = want->status == ZS_EU_EOT; /* else arithmetic may be in another order */
    if (got.status != want->status || memcmp(got.memory, want->memory, sizeof(got.memory)) ||
        (ends && memcmp(got.vector, want->vector, sizeof(got.vector))) ||
        (ends && memcmp(got.word, want->word, sizeof(got.word))) ||
        got.fault.kind != want->fault.kind || got.fault.lane != want->fault.lane ||
        got.fault.gpu_va != want->fault.gpu_va)
        fail_msg("%s, ce %x, seed %llx:\n%s", zs_eu_host_name(host), before->ce,
                 (unsigned long long)seed, text);
}

/* Rows that reach over the end of memory, or of the numbers that an index can be. */
static void rows_over_an_end(void **state)
{
    static const struct {
        uint32_t start;
        uint64_t base; /* of the middle of the memory */
        const char *type;
        bool read_only, is_fault;
    } rows[] = {
        {MIDDLE - 15, 0, "d", false, true},
        {MIDDLE - 32, 0, "d", false, false},
        {(uint32_t)-MIDDLE - 1, 0, "d", false, true},
        {(uint32_t)-MIDDLE, 0, "d", false, false},
        {INT32_MAX - 5, (uint64_t)-4 * (INT32_MAX - 20), "d", false, true},
        {INT32_MAX - 31, (uint64_t)-4 * (INT32_MAX - 20), "d", false, false},
        {INT32_MAX - 5, (uint64_t)-4 * (INT32_MAX - 20), "ud", false, false},
        {UINT32_MAX - 20, (uint64_t)-4 * (UINT32_MAX - 50ull), "ud", false, true},
        {UINT32_MAX - 20, 0, "d", false, false},
        {0, 0, "d", true, true},
    };
    static struct world before, after;
    char text[600];

    (void)state;
    seed = 11;
    for (unsigned i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        begin_world(&before);
        before.base[0] = rows[i].base;
        for (unsigned c = 0; c < LANES; c++)
            before.vector[0][c] = rows[i].start + c;
        put_message(text, sizeof(text), 32, true, rows[i].type);
        compare_ways(text, &before, rows[i].read_only, ZS_EU_HOST_BEST, &after);
        assert_int_equal(after.status, rows[i].is_fault ? ZS_EU_FAULT : ZS_EU_EOT);
    }
}

/* ---- random programs ---------------------------------------------------------------------------
 */

static void __attribute__((format(printf, 2, 3))) put(char *text, const char *format, ...)
{
    size_t used = strlen(text);
    va_list args;

    va_start(args, format);
    assert_true(vsnprintf(text + used, TEXT_MAX - used, format, args) < (int)(TEXT_MAX - used));
    va_end(args);
}

static void put_halves(char *text, bool no_mask, const char *format, unsigned a, unsigned a_step,
                       unsigned b, unsigned b_step)
{
    for (unsigned half = 0; half < 2; half++) {
        put(text, "%s", no_mask ? "(W) " : "");
        /* name, first lane, the two registers */
        char line[160];
        snprintf(line, sizeof(line), "%s\n", format);
        char *at = strstr(line, "M?");
        at[1] = 0;
        put(text, "%s%u", line, 16 * half);
        char *r = strstr(at + 2, "rA");
        char *s = strstr(at + 2, "rB");
        r[0] = s[0] = 0;
        put(text, "%sr%u%sr%u%s", at + 2, a + half * a_step, r + 2, b + half * b_step, s + 2);
    }
}

/* What may stand in between, and forbid it: indices, base or sums change, or are read. */
static void put_disturbance(char *text, unsigned vector)
{
    switch (below(12)) {
    case 0:
        put(text, "add (32|M0) r%u.0<1>:d r%u.0<1;1,0>:d 3:w\n", FIRST_REG + 2 * vector,
            FIRST_REG + 2 * vector);
        break;
    case 1:
        put(text, "(W) add (1|M0) r%d.%u<1>:q r%d.%u<0;1,0>:q 4:w\n", BASES, below(2), BASES,
            below(2));
        break;
    case 2:
        put_halves(text, false, "mov (16|M?) rA.0<1>:d rB.0<2;1,0>:d", FIRST_REG + 6, 1, SUMS, 2);
        put(text, "add (32|M0) r%u.0<1>:d r%u.0<1;1,0>:d 1:w\n", FIRST_REG + 8, FIRST_REG + 8);
        break;
    case 3:
        put(text, "(W) mov (1|M0) r%u.%u<1>:d 5:w\n", FIRST_REG + 2 * vector, below(32) % 16);
        break;
    default:
        break;
    }
}

static void put_access(char *text)
{
    unsigned vector = below(INDICES), base = below(2);
    bool no_mask = below(8) == 0, spreads = below(2);
    char add[80];

    if (spreads)
        put_halves(text, no_mask, "mov (16|M?) rA.0<2>:ud rB.0<1;1,0>:ud", SPREAD, 2,
                   FIRST_REG + 2 * vector, 1);
    put_disturbance(text, vector);
    if (spreads)
        put_halves(text, no_mask, "shl (16|M?) rA.0<1>:q rB.0<2;1,0>:d 2:w", SHIFTED, 2, SPREAD, 2);
    else
        put_halves(text, no_mask, "shl (16|M?) rA.0<1>:q rB.0<1;1,0>:d 2:w", SHIFTED, 2,
                   FIRST_REG + 2 * vector, 1);
    put_disturbance(text, vector);
    snprintf(add, sizeof(add), "add (16|M?) rA.0<1>:q rB.0<1;1,0>:q r%d.%u<0;1,0>:q", BASES, base);
    put_halves(text, no_mask, add, SUMS, 2, SHIFTED, 2);
    for (unsigned times = 1 + below(2); times; times--) {
        put_disturbance(text, vector);
        if (below(2))
            put(text, "send.ugm (32|M0) r%u r%d null:0 0x0 0x08200580\n",
                FIRST_REG + 2 * (INDICES + below(3)), SUMS);
        else
            put(text, "send.ugm (32|M0) null r%d r%u:2 0x0 0x08000584\n", SUMS,
                FIRST_REG + 2 * below(VECTORS));
    }
    if (below(3) == 0)
        put_disturbance(text, vector);
}

/* ---- by halves apart ---- */

enum { POOL = 60, POOL_REGS = 12 };
struct places { /* registers of the pool: index, what is spread and shifted by halves, sums */
    unsigned index, spread[2], shifted[2], sums;
    bool half_by_half;
};

/* Steps of a half: 0 moves, 1 shifts, 2 adds. The order in which all six stand. */
static void put_in_order(const struct places *p, unsigned ret_step[6], unsigned ret_half[6])
{
    for (unsigned i = 0; i < 6; i++) {
        ret_step[i] = i < 4 && p->half_by_half ? i % 2 : i / 2;
        ret_half[i] = i < 4 && p->half_by_half ? i / 2 : i % 2;
    }
}

/* Nothing is overwritten before it was used. */
static bool is_sound(const struct places *p)
{
    unsigned owner[POOL_REGS + 4] = {0}, step[6], half[6];

    owner[p->index] = 1;
    owner[p->index + 1] = 2;
    put_in_order(p, step, half);
    for (unsigned i = 0; i < 6; i++) {
        unsigned h = half[i], from = step[i] == 0   ? p->index + h
                                     : step[i] == 1 ? p->spread[h]
                                                    : p->shifted[h];
        unsigned to = step[i] == 0 ? p->spread[h] : step[i] == 1 ? p->shifted[h] : p->sums + 2 * h;
        unsigned want = 1 + 2 * step[i] + h;
        if (owner[from] != want || (step[i] && owner[from + 1] != want))
            return false;
        owner[to] = owner[to + 1] = want + 2;
    }
    for (unsigned i = 0; i < 4; i++)
        if (owner[p->sums + i] != 7 + i / 2)
            return false;
    return true;
}

/* Registers are used again as soon as they can be, that of the index too. Sometimes one of them is
 * read, or written, afterwards or in between. */
static void put_access_apart(char *text)
{
    unsigned vector = below(INDICES), step[6], half[6], base = below(2),
             odd = below(3) ? 9 : below(6);
    const char *no_mask = below(8) == 0 ? "(W) " : "";
    struct places p;

    do
        p = (struct places){below(POOL_REGS - 1),
                            {below(POOL_REGS - 1), below(POOL_REGS - 1)},
                            {below(POOL_REGS - 1), below(POOL_REGS - 1)},
                            below(POOL_REGS - 3),
                            below(2)};
    while (!is_sound(&p));
    put_in_order(&p, step, half);
    put(text, "%smov (32|M0) r%u.0<1>:d r%u.0<1;1,0>:d\n", no_mask, POOL + p.index,
        FIRST_REG + 2 * vector);
    for (unsigned i = 0; i < 6; i++) {
        unsigned h = half[i];
        if (step[i] == 0)
            put(text, "%smov (16|M%u) r%u.0<2>:ud r%u.0<1;1,0>:ud\n", no_mask, 16 * h,
                POOL + p.spread[h], POOL + p.index + h);
        else if (step[i] == 1)
            put(text, "%sshl (16|M%u) r%u.0<1>:q r%u.0<2;1,0>:d 2:w\n", no_mask, 16 * h,
                POOL + p.shifted[h], POOL + p.spread[h]);
        else
            put(text, "%sadd (16|M%u) r%u.0<1>:q r%u.0<1;1,0>:q r%d.%u<0;1,0>:q\n", no_mask, 16 * h,
                POOL + p.sums + 2 * h, POOL + p.shifted[h], BASES, base);
        if (i == odd)
            put_disturbance(text, vector);
    }
    if (below(2))
        put(text, "send.ugm (32|M0) r%u r%u null:0 0x0 0x08200580\n",
            below(3) ? FIRST_REG + 2 * (INDICES + below(3)) : POOL + below(POOL_REGS - 1),
            POOL + p.sums);
    else
        put(text, "send.ugm (32|M0) null r%u r%u:2 0x0 0x08000584\n", POOL + p.sums,
            FIRST_REG + 2 * below(VECTORS));
}

/* Registers of the pool are written and read: as dwords, in every lane or all, for a product. */
static void put_use_of_pool(char *text)
{
    unsigned vector = FIRST_REG + 2 * (INDICES + below(VECTORS - INDICES));
    unsigned reg = POOL + below(POOL_REGS - 1);

    switch (below(5)) {
    case 0:
        put(text, "mov (32|M0) r%u.0<1>:d r%u.0<1;1,0>:d\n", reg, vector);
        break;
    case 1:
        put(text, "(W) mov (32|M0) r%u.0<1>:d r%u.0<1;1,0>:d\n", reg, vector);
        break;
    case 2:
        put(text, "xor (32|M0) r%u.0<1>:d r%u.0<1;1,0>:d r%u.0<1;1,0>:d\n", vector, vector, reg);
        break;
    case 3:
        put(text,
            "(W) mul (16|M0) acc0.0<1>:d r%u.0<1;1,0>:d r12.0<2;1,0>:uw\n"
            "%smacl (16|M0) r%u.0<1>:d r%u.0<1;1,0>:d r12.0<1;1,0>:d\n",
            reg, below(8) ? "" : "(W) ", vector, reg);
        break;
    default:
        break;
    }
}

/* Words that are widened, and change at times, as a whole or one of them. Vectors of indices change
 * by little. */
static void put_words(char *text)
{
    unsigned dst = INDICES + below(VECTORS - INDICES), words = below(WORD_REGS);

    put(text, "add (32|M0) r%u.0<1>:d r%u.0<1;1,0>:d r%u.0<1;1,0>:%s\n", FIRST_REG + 2 * dst,
        FIRST_REG + 2 * dst, WORDS + words, below(2) ? "uw" : "w");
    if (below(4) == 0)
        put(text, "(W) mov (1|M0) r%u.%u<1>:uw %u:uw\n", WORDS + words, below(32), below(60000));
    if (below(8) == 0)
        put(text, "mov (16|M%u) r%u.%u<1>:uw r%u.0<1;1,0>:uw\n", 0, WORDS + words, 0,
            WORDS + below(WORD_REGS));
    if (below(2))
        put(text, "add (32|M0) r%u.0<1>:d r%u.0<1;1,0>:%s r%u.0<1;1,0>:uw\n", FIRST_REG + 2 * dst,
            WORDS + below(WORD_REGS), below(2) ? "uw" : "w", WORDS + below(WORD_REGS));
    if (below(8) == 0)
        put(text, "add (16|M0) r%u.0<1>:d r%u.0<1;1,0>:d r%u.0<1;1,0>:uw\n", FIRST_REG + 2 * dst,
            FIRST_REG + 2 * dst, WORDS + words);
}

/* A block that reads all vectors: what nobody reads may be older. */
static void put_end(char *text, unsigned label)
{
    put(text, "jmpi L%u\nL%u:\n", label, label);
    for (unsigned v = 0; v < VECTORS; v++)
        put(text, "(W) mov (32|M0) r%u.0<1>:d r%u.0<1;1,0>:d\n", COPIES + 2 * v, FIRST_REG + 2 * v);
}

static void random_programs(void **state)
{
    static struct world before, after;
    static char text[TEXT_MAX];
    const char *more = getenv("ZS_TEST_ROUNDS");
    unsigned rounds = more ? (unsigned)strtoul(more, NULL, 0) : ROUNDS, faults = 0, labels = 0;

    (void)state;
    for (unsigned round = 0; round < rounds; round++) {
        seed = 5000 + round;
        begin_world(&before);
        text[0] = 0;
        for (unsigned i = 0; i < INDICES; i++) {
            enum shape shape = (enum shape)below(SHAPES);
            uint32_t start = (uint32_t)((int32_t)below(700) - 400);
            for (unsigned c = 0; c < LANES; c++)
                before.vector[i][c] = index_of(shape, start, c);
        }
        for (unsigned c = 0; c < WORD_REGS * LANES; c++)
            before.word[c / LANES][c % LANES] = (uint16_t)next();
        before.base[1] = 64;
        before.ce = below(3) ? UINT32_MAX : (next() << 1 ^ next()) | 1;
        for (unsigned pieces = 2 + below(6); pieces; pieces--) {
            static void (*const all[])(char *) = {put_access, put_access_apart, put_access_apart,
                                                  put_words, put_use_of_pool};
            all[below(ZS_ARRAY_LEN(all))](text);
            if (below(8) == 0) {
                labels++;
                put(text, "jmpi L%u\nL%u:\n", labels, labels);
            }
        }
        put_end(text, ++labels);
        for (unsigned h = 0; h < ZS_ARRAY_LEN(hosts); h++) {
            if (!zs_eu_host_usable(hosts[h]))
                continue;
            compare_ways(text, &before, false, hosts[h], &after);
            faults += after.status == ZS_EU_FAULT;
        }
    }
    assert_true(faults < rounds); /* most of them reach their end */
}

/* ---- words -------------------------------------------------------------------------------------
 */

static void words_are_those_of_now(void **state)
{
    static const char text[] = "add (32|M0) r18.0<1>:d r18.0<1;1,0>:d r50.0<1;1,0>:uw\n"
                               "(W) mov (1|M0) r50.7<1>:uw 1000:uw\n"
                               "add (32|M0) r20.0<1>:d r20.0<1;1,0>:d r50.0<1;1,0>:uw\n"
                               "add (32|M0) r18.0<1>:d r18.0<1;1,0>:d r50.0<1;1,0>:w\n";
    static struct world before, after;

    (void)state;
    seed = 3;
    begin_world(&before);
    for (unsigned c = 0; c < LANES; c++)
        before.word[0][c] = (uint16_t)(65000 + c);
    after = before;
    execute(text, 0, ZS_EU_HOST_BEST, false, &after);
    assert_int_equal(after.status, ZS_EU_EOT);
    for (unsigned c = 0; c < LANES; c++) {
        uint32_t now = c == 7 ? 1000 : 65000 + c, extended = (uint32_t)(int16_t)now;
        assert_int_equal(after.vector[5][c], before.vector[5][c] + now);
        assert_int_equal(after.vector[4][c], before.vector[4][c] + 65000 + c + extended);
    }
}

/* More of them than there are places for: one that is there already stays while another source of
 * the instruction is widened. */
static void words_of_one_instruction(void **state)
{
    static struct world before, after;
    char text[800] = "";

    (void)state;
    seed = 4;
    begin_world(&before);
    for (unsigned c = 0; c < WORD_REGS * LANES; c++)
        before.word[c / LANES][c % LANES] = (uint16_t)next();
    for (unsigned others = 0; others < WORD_REGS - 2; others++) {
        text[0] = 0; /* the first word is widened, then some others, then it meets the last one */
        put(text, "add (32|M0) r20.0<1>:d r10.0<1;1,0>:d r%d.0<1;1,0>:uw\n", WORDS);
        for (unsigned i = 1; i <= others; i++)
            put(text, "add (32|M0) r18.0<1>:d r10.0<1;1,0>:d r%u.0<1;1,0>:uw\n", WORDS + i);
        put(text, "add (32|M0) r16.0<1>:d r%d.0<1;1,0>:uw r%d.0<1;1,0>:uw\n", WORDS,
            WORDS + WORD_REGS - 1);
        after = before;
        execute(text, 0, ZS_EU_HOST_BEST, false, &after);
        assert_int_equal(after.status, ZS_EU_EOT);
        for (unsigned c = 0; c < LANES; c++)
            assert_int_equal(after.vector[3][c], before.word[0][c] + before.word[WORD_REGS - 1][c]);
    }
}

/* ---- products ----------------------------------------------------------------------------------
 */

/* cr0 is no accumulator: what stands in one is not read where it is written. */
static void control_registers_and_products(void **state)
{
    static const char text[] = "(W) or (1|M0) cr0.0<1>:ud cr0.0<0;1,0>:ud 0x4C0:uw\n"
                               "(W) mul (16|M0) acc0.0<1>:d r10.0<1;1,0>:d r12.0<2;1,0>:uw\n"
                               "macl (16|M0) r18.0<1>:d r10.0<1;1,0>:d r12.0<1;1,0>:d\n";
    /* of the last product the accumulator is read, behind a branch */
    static const char read[] = "jmpi L1\nL1:\n"
                               "(W) or (1|M0) cr0.0<1>:ud cr0.0<0;1,0>:ud 0x10:uw\n"
                               "mov (16|M0) r20.0<1>:d acc0.0<1;1,0>:d\n";
    static struct world before, after;
    char both[600];

    (void)state;
    seed = 9;
    begin_world(&before);
    snprintf(both, sizeof(both), "%s%s", text, read);
    for (unsigned reads = 0; reads < 2; reads++) {
        after = before;
        execute(reads ? both : text, 0, ZS_EU_HOST_BEST, false, &after);
        assert_int_equal(after.status, ZS_EU_EOT);
        for (unsigned c = 0; c < 16; c++) {
            assert_int_equal(after.vector[4][c], before.vector[0][c] * before.vector[1][c]);
            if (reads)
                assert_int_equal(after.vector[5][c],
                                 before.vector[0][c] * (before.vector[1][c] & UINT16_MAX));
        }
    }
}

/* ---- exponentials ------------------------------------------------------------------------------
 */

static float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

/* All on, in place or not, as lane by lane, which other handlers do. */
static void exponentials(void **state)
{
    static const uint32_t special[] = {0,          0x80000000, 0x7f800000, 0xff800000, 0x7fc12345,
                                       0xffc00001, 1,          0x807fffff, 0x3f800000, 0xc3160000,
                                       0x43000000, 0x42fe0000, 0xc2fc0000, 0x7f7fffff, 0xff7fffff};
    static struct world before, whole, apart;

    (void)state;
    seed = 21;
    for (unsigned i = 0; i < 60 * ZS_ARRAY_LEN(hosts); i++) {
        enum zs_eu_host host = hosts[i % ZS_ARRAY_LEN(hosts)];
        unsigned lanes = i & 4 ? 32 : 16, dst = i & 8 ? 12 : 10;
        char text[100];
        if (!zs_eu_host_usable(host))
            continue;
        begin_world(&before);
        for (unsigned c = 0; c < LANES; c++)
            if (below(2))
                before.vector[0][c] = below(3) ? 0x3f000000 + (next() & 0x83ffffff)
                                               : special[below(ZS_ARRAY_LEN(special))];
        snprintf(text, sizeof(text), "math.exp (%u|M0) r%u.0<1>:f r10.0<1;1,0>:f\n", lanes, dst);
        whole = apart = before;
        apart.ce = 0x7fff7fff;
        execute(text, 0, host, false, &whole);
        execute(text, 0, ZS_EU_HOST_BASE, false, &apart);
        assert_int_equal(whole.status, ZS_EU_EOT);
        for (unsigned c = 0; c < lanes; c++) {
            uint32_t got = whole.vector[dst / 2 - 5][c], want = apart.vector[dst / 2 - 5][c];
            float x = float_of(before.vector[0][c]), y = float_of(got);
            if (c % 16 < 15)
                assert_int_equal(got, want);
            if (isnan(x))
                assert_true(isnan(y));
            else if (fabsf(x) < 100) /* to the last place or the one before */
                assert_true(fabs((double)y - exp2((double)x)) <= exp2((double)x) * 0x1p-23);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_messages),
        cmocka_unit_test(rows_over_an_end),
        cmocka_unit_test(random_programs),
        cmocka_unit_test(words_are_those_of_now),
        cmocka_unit_test(words_of_one_instruction),
        cmocka_unit_test(exponentials),
        cmocka_unit_test(control_registers_and_products),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
