/* SPDX-License-Identifier: MIT */
/*
 * The compiled tier against the interpreter, bit for bit: random instructions under random masks,
 * loops, budgets, faults, counters; and blobs that are none. LLVM is loaded by the test itself.
 */
#include "assembled.h"
#include "compiler/host_code.h"
#include "dataport/dataport.h"
#include "encode.h"
#include "eu/eu_priv.h"
#include "eu/lower/show.h"
#include "eu/tier/tier.h"
#include "ref.h"

#include <errno.h>
#include <fenv.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ROUNDS = 3, INSTS = 30 };
enum {
    RANDOM_MODES = 1 << 16
}; /* beside those of ref.h: of floats, others every few instructions */

static int no_sends(struct zs_eu_send *ret, struct zs_diag *diag)
{
    (void)ret;
    return zs_diag_set(diag, -1, ZS_DIAG_NO_OFFSET, "no sends here");
}

/* A second program of the same code that is compiled; NULL: nothing of it is worth it. */
static struct zs_eu_program *compiled_as(const struct zs_eu_lower_params *params,
                                         const struct zs_eu_tier_options *options)
{
    struct zs_buf request = {0}, blob = {0}, why = {0};
    struct zs_eu_program *program = NULL;
    struct zs_diag diag = {0};

    zs_eu_tier_request_put(params, options, &request);
    int error = zs_host_build(zs_buf_span(&request), options->seen, ZS_HOST_BLOB, &blob, &why);
    if (error == -ENOTSUP)
        print_message("%s", zs_buf_cstr(&why));
    else if (error)
        fail_msg("%d: %s", error, zs_buf_cstr(&why));
    if (!error) {
        assert_int_equal(zs_eu_lower(params, &program, &diag), 0);
        if (zs_eu_tier_install(program, zs_buf_span(&blob), &diag))
            fail_msg("%s", diag.text);
    }
    zs_buf_fini(&request);
    zs_buf_fini(&blob);
    zs_buf_fini(&why);
    return program;
}

static struct zs_eu_program *compiled(const struct zs_eu_lower_params *params)
{
    return compiled_as(params, &(struct zs_eu_tier_options){.keeps_state = true});
}

/* ---- random instructions ---- */

struct code {
    enum zs_isa_platform platform;
    unsigned insts;
    uint64_t words[2 * (INSTS + 2)];
};

static void append(struct code *code, const char *text)
{
    uint8_t *bytes = NULL;
    size_t size_B = 0;
    struct zs_isa_asm_error where = {.size_B = sizeof(where)};

    if (zs_isa_assemble(code->platform, zs_span_make(text, strlen(text)), &bytes, &size_B, &where))
        fail_msg("%s", text);
    assert_int_equal(size_B, 16);
    memcpy(&code->words[2 * code->insts++], bytes, 16);
    zs_isa_code_free(bytes);
}

/* Denormals and rounding, from the start on or for a while. */
static void append_modes(struct random *random, struct code *code, bool starts)
{
    static const unsigned first[] = {0x4c0, 0x400, 0x440, 0x480, 0x4f0},
                          then[] = {0x30, 0x10, 0xc0, 0x30};
    char text[96];

    snprintf(text, sizeof(text), "(W) %s (1|M0) cr0.0<1>:ud cr0.0<0;1,0>:ud 0x%x:uw",
             starts ? "or" : "xor",
             starts ? first[random_below(random, 5)] : then[random_below(random, 4)]);
    append(code, text);
}

static void random_code(struct random *random, enum zs_isa_platform platform, unsigned what,
                        struct code *ret)
{
    struct zs_isa_inst inst;
    bool modes = what & RANDOM_MODES;

    *ret = (struct code){.platform = platform};
    if (modes)
        append_modes(random, ret, true);
    else
        append(ret, "(W) or (1|M0) cr0.0<1>:ud cr0.0<0;1,0>:ud 0x4c0:uw");
    what &= ~(unsigned)RANDOM_MODES;
    while (ret->insts < INSTS) {
        if (modes && random_below(random, 4) == 0) {
            append_modes(random, ret, false);
        } else if (platform == ZS_ISA_GEN9) {
            random_inst(random, what, &inst);
            encode(&inst, &ret->words[2 * ret->insts++]);
        } else {
            random_later_inst(random, platform, what, &inst, &ret->words[2 * ret->insts++]);
        }
    }
    append(ret, end_of_thread(platform));
}

static void random_thread(struct random *random, struct zs_eu_thread *t)
{
    unsigned words = zs_eu_program_registers(t->program)->grf_B * 32u;

    for (unsigned i = 0; i < words; i++) {
        uint32_t word = (uint32_t)random_next(random);
        unsigned kind = random_below(random, 10);
        if (kind < 3)
            word &= 0xff;
        else if (kind < 7) /* floats of moderate size */
            word = (word & 0x807fffff) | (120 + word % 16) << 23;
        memcpy(t->grf + i * 4, &word, 4);
    }
    for (unsigned i = 0; i < 32; i++)
        zs_eu_acc_set(t, i, (uint64_t)(int64_t)(int32_t)random_next(random));
    for (unsigned i = 0; i < 16; i++)
        t->a0[i] = (uint16_t)(random_below(random, words / 8) * 8);
    for (unsigned i = 0; i < 2; i++)
        t->flag[i] = (uint32_t)random_next(random);
    t->ce = random_below(random, 2) ? UINT32_MAX : (uint32_t)random_next(random) | 1;
}

/* Of several NaNs any may come out of an operation, as between builds of the interpreter: made
 * alike where both have one. */
static void same_nans(const uint8_t *a, uint8_t *b, size_t size_B)
{
    for (size_t i = 0; i < size_B; i += 2) {
        uint16_t x, y;
        uint32_t v = 0, w = 0;
        uint64_t p = 0, q = 0;
        memcpy(&x, a + i, 2);
        memcpy(&y, b + i, 2);
        if (i % 4 == 0) {
            memcpy(&v, a + i, 4);
            memcpy(&w, b + i, 4);
        }
        if (i % 8 == 0) {
            memcpy(&p, a + i, 8);
            memcpy(&q, b + i, 8);
        }
        if ((p & INT64_MAX) > UINT64_C(0x7ff0000000000000) &&
            (q & INT64_MAX) > UINT64_C(0x7ff0000000000000))
            memcpy(b + i, a + i, 8);
        else if ((v & INT32_MAX) > 0x7f800000 && (w & INT32_MAX) > 0x7f800000)
            memcpy(b + i, a + i, 4);
        else if ((x & 0x7fff) > 0x7c00 && (y & 0x7fff) > 0x7c00)
            memcpy(b + i, a + i, 2);
    }
}

static void same_state(const struct zs_eu_thread *a, struct zs_eu_thread *b,
                       const struct code *code, unsigned round)
{
    char text[ZS_ISA_LINE_MAX];
    struct zs_isa_inst inst;
    const struct zs_eu_registers *r = zs_eu_program_registers(a->program);
    size_t file_B = (size_t)r->grf_B * r->grf_count;

    same_nans(a->grf, b->grf, file_B);
    bool same =
        memcmp(a->grf, b->grf, file_B) == 0 && memcmp(a->flag, b->flag, sizeof(a->flag)) == 0 &&
        memcmp(a->a0, b->a0, sizeof(a->a0)) == 0 && memcmp(a->acc, b->acc, sizeof(a->acc)) == 0 &&
        memcmp(a->acc_high, b->acc_high, sizeof(a->acc_high)) == 0;
    if (same)
        return;
    for (unsigned i = 0; code && i < code->insts; i++) {
        zs_isa_decode_one(code->platform, zs_span_make(code->words + 2 * i, 16), &inst);
        size_t length = zs_isa_print_one(code->platform, &inst, 0, text);
        fprintf(stderr, "%.*s\n", (int)length, text);
    }
    for (unsigned i = 0; i < file_B; i += 4) {
        uint32_t x, y;
        memcpy(&x, a->grf + i, 4);
        memcpy(&y, b->grf + i, 4);
        if (x != y)
            fprintf(stderr, "r%u.%u: interpreted %08x, compiled %08x\n", i / r->grf_B,
                    i % r->grf_B / 4, x, y);
    }
    for (unsigned i = 0; i < 4; i++)
        fprintf(stderr, "f%u: %08x %08x\n", i, a->flag[i], b->flag[i]);
    fail_msg("round %u: state differs", round);
}

static void random_rounds(enum zs_isa_platform platform, unsigned what, uint64_t seed)
{
    struct zs_eu_thread *a = aligned_alloc(64, sizeof(*a)), *b = aligned_alloc(64, sizeof(*b));
    const char *more = getenv("ZS_TEST_ROUNDS");
    unsigned rounds = more ? (unsigned)strtoul(more, NULL, 0) : ROUNDS;
    struct zs_eu_program *simple = NULL;
    struct zs_diag diag = {0};
    struct code code;

    assert_true(a && b);
    for (unsigned i = 0; i < rounds; i++) {
        struct random random = {seed + i};
        random_code(&random, platform, what, &code);
        struct zs_eu_lower_params params = {.code = zs_span_make(code.words, 16 * code.insts),
                                            .simd = 32,
                                            .payload_B = ZS_EU_GRF_FILE_MAX_B,
                                            .flags = ZS_EU_TIER_LOWER,
                                            .platform = platform};
        struct zs_eu_program *fast = compiled(&params);
        assert_non_null(fast);
        params.send_lower = no_sends;
        assert_int_equal(zs_eu_lower(&params, &simple, &diag), 0);
        for (unsigned turn = 0; turn < 8; turn++) {
            struct random state = random;
            zs_eu_thread_init(a, simple, UINT32_MAX);
            zs_eu_thread_init(b, fast, UINT32_MAX);
            random_thread(&state, a);
            random_thread(&random, b);
            enum zs_eu_status x = zs_eu_run(a, simple, 1000), y = zs_eu_run(b, fast, 1000);
            if (x != y)
                fail_msg("round %u: interpreted %d %s, compiled %d %s", i, (int)x, a->fault.text,
                         (int)y, b->fault.text);
            assert_int_equal(a->executed, b->executed);
            same_state(a, b, &code, i);
        }
        zs_eu_program_destroy(simple);
        zs_eu_program_destroy(fast);
    }
    free(a);
    free(b);
}

static void test_integers(void **state)
{
    (void)state;
    random_rounds(ZS_ISA_GEN9, 0, 1);
}

static void test_masks(void **state)
{
    (void)state;
    random_rounds(ZS_ISA_GEN9, RANDOM_MASKS | RANDOM_WIDE, 1000);
}

static void test_everything(void **state)
{
    (void)state;
    random_rounds(ZS_ISA_GEN9, RANDOM_MASKS | RANDOM_WIDE | RANDOM_FLOAT | RANDOM_INDIRECT, 2000);
}

static void test_modes(void **state)
{
    (void)state;
    random_rounds(ZS_ISA_GEN9, RANDOM_MODES | RANDOM_WIDE | RANDOM_FLOAT, 7000);
    random_rounds(ZS_ISA_GEN9, RANDOM_MODES | RANDOM_MASKS | RANDOM_WIDE | RANDOM_FLOAT, 8000);
    random_rounds(ZS_ISA_XE_HPC, RANDOM_MODES | RANDOM_WIDE | RANDOM_FLOAT, 9000);
}

static void test_later(void **state)
{
    (void)state;
    random_rounds(ZS_ISA_GEN11, RANDOM_MASKS, 3000);
    random_rounds(ZS_ISA_XE_LP, RANDOM_MASKS, 4000);
    random_rounds(ZS_ISA_XE_HPG, RANDOM_MASKS, 5000);
    random_rounds(ZS_ISA_XE_HPC, RANDOM_MASKS | RANDOM_WIDE, 6000);
}

/* ---- loops ---- */

/* Blocks and their versions are compiled, or are not: part says which, but of 0, for which all are.
 */
static struct zs_eu_program *compiled_in_part(const struct zs_eu_lower_params *params,
                                              const struct zs_eu_program *simple, uint64_t part)
{
    size_t seen_B = zs_eu_program_seen_B(simple);
    struct random random = {part};
    uint8_t *seen = calloc(seen_B, 1);

    assert_non_null(seen);
    for (uint32_t i = 0; i < zs_eu_program_block_count(simple); i++)
        seen[i] = part < 4 ? (uint8_t)part : (uint8_t)random_below(&random, 4);
    struct zs_eu_program *program = compiled_as(
        params, &(struct zs_eu_tier_options){.keeps_state = true,
                                             .seen = zs_span_make(seen, part ? seen_B : 0)});
    if (program && part)
        assert_memory_equal(zs_eu_tier_seen(program), seen, seen_B);
    free(seen);
    return program;
}

/* Both programs in slices, from the same registers: after each one they are alike. Compiled code
 * ends a slice where threads may come in, so the interpreter goes on to that place. */
static void in_slices_of(const char *text, uint32_t simd, uint64_t slice, enum zs_eu_status want,
                         uint64_t part)
{
    struct zs_eu_thread *a = aligned_alloc(64, sizeof(*a)), *b = aligned_alloc(64, sizeof(*b));
    struct zs_isa_asm_error where = {.size_B = sizeof(where)};
    char whole[1 << 16];
    uint8_t *code = NULL;
    struct zs_eu_lower_params params = {.simd = simd,
                                        .flags = ZS_EU_TIER_LOWER | ZS_EU_LOWER_COUNTS,
                                        .platform = ZS_ISA_GEN9,
                                        .payload_B = 64 * 32};
    struct zs_eu_program *simple = NULL;
    struct zs_diag diag = {0};

    assert_true(a && b);
    snprintf(whole, sizeof(whole), "(W) or (1|M0) cr0.0<1>:ud cr0.0<0;1,0>:ud 0x4c0:uw\n%s\n%s\n",
             text, end_of_thread(ZS_ISA_GEN9));
    if (zs_isa_assemble(ZS_ISA_GEN9, zs_span_make(whole, strlen(whole)), &code, &params.code.size_B,
                        &where))
        fail_msg("%s", whole);
    params.code.data = code;
    assert_int_equal(zs_eu_lower(&params, &simple, &diag), 0);
    struct zs_eu_program *fast = compiled_in_part(&params, simple, part);
    if (!fast) { /* no place where threads come in was worth it */
        assert_int_not_equal(part, 0);
        fast = compiled(&params);
    }
    size_t count = zs_eu_program_counter_count(simple);
    uint64_t *counted[2] = {calloc(count, 8), calloc(count, 8)};
    assert_true(counted[0] && counted[1]);
    memset(a, 0, sizeof(*a));
    memset(b, 0, sizeof(*b));
    zs_eu_thread_init(a, simple, UINT32_MAX);
    zs_eu_thread_init(b, fast, UINT32_MAX);
    for (unsigned i = 0; i < 64 * 8; i++) {
        uint32_t word = i * 2654435761u >> (i % 29);
        memcpy(a->grf + i * 4, &word, 4);
        memcpy(b->grf + i * 4, &word, 4);
    }
    a->counters = counted[0];
    b->counters = counted[1];
    enum zs_eu_status x, y;
    do {
        y = zs_eu_run(b, fast, slice);
        x = zs_eu_run(a, simple, slice);
        while (x == ZS_EU_BUDGET && a->executed < b->executed)
            x = zs_eu_run(a, simple, 1);
        assert_int_equal(x, y);
        assert_int_equal(a->executed, b->executed);
        assert_int_equal(zs_eu_thread_place(a), zs_eu_thread_place(b));
        assert_int_equal(a->ce, b->ce);
        assert_int_equal(a->waiting, b->waiting);
        assert_int_equal(a->merge_block, b->merge_block);
        same_state(a, b, NULL, 0);
    } while (x == ZS_EU_BUDGET);
    assert_int_equal(x, want);
    assert_int_equal(a->fault.inst, b->fault.inst);
    assert_int_equal(a->fault.lanes, b->fault.lanes);
    assert_string_equal(a->fault.text, b->fault.text);
    zs_eu_program_counters_settle(simple, counted[0]);
    zs_eu_program_counters_settle(fast, counted[1]);
    assert_memory_equal(counted[0], counted[1], count * 8);
    zs_eu_program_destroy(simple);
    zs_eu_program_destroy(fast);
    zs_isa_code_free(code);
    free(counted[0]);
    free(counted[1]);
    free(a);
    free(b);
}

static void in_slices(const char *text, uint32_t simd, uint64_t slice, enum zs_eu_status want)
{
    for (uint64_t part = 0; part < 8; part++)
        in_slices_of(text, simd, slice, want, part);
}

#define COUNT_DOWN                                                                                 \
    "(W) mov (1|M0) r10.0<1>:d 100:w\n"                                                            \
    "L1:\n"                                                                                        \
    "add (16|M0) r20.0<1>:d r20.0<8;8,1>:d r22.0<8;8,1>:d\n"                                       \
    "xor (16|M0) r24.0<1>:d r20.0<8;8,1>:d r24.0<8;8,1>:d\n"                                       \
    "(W) add (1|M0) r10.0<1>:d r10.0<0;1,0>:d -1:w\n"                                              \
    "(W) cmp (1|M0) (gt)f0.0 null<1>:d r10.0<0;1,0>:d 0:w\n"

static void test_loop(void **state)
{
    static const uint64_t slices[] = {1, 5, 64, 100000};

    (void)state;
    for (unsigned i = 0; i < ZS_ARRAY_LEN(slices); i++)
        in_slices(COUNT_DOWN "(W&f0.0) jmpi L1\n", 16, slices[i], ZS_EU_EOT);
}

/* Lanes leave it one after the other. */
static void test_divergent_loop(void **state)
{
    static const uint64_t slices[] = {1, 7, 100000};

    (void)state;
    for (unsigned i = 0; i < ZS_ARRAY_LEN(slices); i++)
        in_slices("and (16|M0) r12.0<1>:d r12.0<8;8,1>:d 63:w\n"
                  "L1:\n"
                  "add (16|M0) r20.0<1>:d r20.0<8;8,1>:d r22.0<8;8,1>:d\n"
                  "add (16|M0) r12.0<1>:d r12.0<8;8,1>:d -1:w\n"
                  "cmp (16|M0) (gt)f0.0 null<1>:d r12.0<8;8,1>:d 0:w\n"
                  "(f0.0) while (16|M0) L1\n"
                  "add (16|M0) r26.0<1>:d r20.0<8;8,1>:d 1:w\n",
                  16, slices[i], ZS_EU_EOT);
}

/* Lanes part in a loop, by bits of their own numbers, and in what is in it: the first that wait are
 * at the block that follows, or far behind it. */
#define PARTING(n)                                                                                 \
    "and (" n "|M0) r12.0<1>:d r12.0<8;8,1>:d 1023:w\n"                                            \
    "L1:\n"                                                                                        \
    "and (" n "|M0) (ne)f0.0 null<1>:d r12.0<8;8,1>:d 1:w\n"                                       \
    "(f0.0) if (" n "|M0) L2 L6\n"                                                                 \
    "add (" n "|M0) r20.0<1>:d r20.0<8;8,1>:d r12.0<8;8,1>:d\n"                                    \
    "and (" n "|M0) (ne)f1.0 null<1>:d r12.0<8;8,1>:d 2:w\n"                                       \
    "(f1.0) if (" n "|M0) L3 L4\n"                                                                 \
    "xor (" n "|M0) r20.0<1>:d r20.0<8;8,1>:d 5:w\n"                                               \
    "else (" n "|M0) L4 L4\n"                                                                      \
    "L3:\n"                                                                                        \
    "add (" n "|M0) r24.0<1>:d r24.0<8;8,1>:d r20.0<8;8,1>:d\n"                                    \
    "L4:\n"                                                                                        \
    "endif (" n "|M0) L5\n"                                                                        \
    "L5:\n"                                                                                        \
    "else (" n "|M0) L6 L6\n"                                                                      \
    "L2:\n"                                                                                        \
    "cmp (" n "|M0) (lt)f1.0 null<1>:d r12.0<8;8,1>:d 40:w\n"                                      \
    "(f1.0) break (" n "|M0) L6 L7\n"                                                              \
    "add (" n "|M0) r28.0<1>:d r28.0<8;8,1>:d -3:w\n"                                              \
    "L6:\n"                                                                                        \
    "endif (" n "|M0) L8\n"                                                                        \
    "L8:\n"                                                                                        \
    "shr (" n "|M0) r12.0<1>:ud r12.0<8;8,1>:ud 1:w\n"                                             \
    "cmp (" n "|M0) (ne)f0.0 null<1>:d r12.0<8;8,1>:d 0:w\n"                                       \
    "L7:\n"                                                                                        \
    "(f0.0) while (" n "|M0) L1\n"                                                                 \
    "add (" n "|M0) r24.0<1>:d r24.0<8;8,1>:d 1:w\n"

static void test_parting(void **state)
{
    static const uint64_t slices[] = {1, 7, 100000};

    (void)state;
    for (unsigned i = 0; i < ZS_ARRAY_LEN(slices); i++) {
        in_slices(PARTING("8"), 8, slices[i], ZS_EU_EOT);
        in_slices(PARTING("16"), 16, slices[i], ZS_EU_EOT);
        in_slices(PARTING("32"), 32, slices[i], ZS_EU_EOT);
    }
}

/* Lanes wait behind more places than a function has, where others come from a loop and go on behind
 * them. */
static void test_many_places(void **state)
{
    struct zs_buf to = {0};

    (void)state;
    for (unsigned i = 0; i < 120; i++)
        zs_buf_printf(&to,
                      "and (16|M0) (ne)f1.0 null<1>:d r12.0<8;8,1>:d %u:w\n"
                      "(f1.0) if (16|M0) L%uA L%uB\n"
                      "add (16|M0) r20.0<1>:d r20.0<8;8,1>:d r12.0<8;8,1>:d\n"
                      "else (16|M0) L%uB L%uB\n"
                      "L%uA:\n"
                      "xor (16|M0) r20.0<1>:d r20.0<8;8,1>:d %u:w\n"
                      "L%uB:\n"
                      "endif (16|M0) L%uC\n"
                      "L%uC:\n",
                      1u << i % 12, i, i, i, i, i, 3 * i + 1, i, i, i);
    zs_buf_puts(&to, "and (16|M0) (ne)f1.0 null<1>:d r12.0<8;8,1>:d 1:w\n"
                     "(f1.0) if (16|M0) LA LB\n" COUNT_DOWN "(W&f0.0) jmpi L1\n"
                     "else (16|M0) LB LB\n"
                     "LA:\n"
                     "add (16|M0) r24.0<1>:d r20.0<8;8,1>:d 7:w\n"
                     "LB:\n"
                     "endif (16|M0) LC\n"
                     "LC:\n"
                     "add (16|M0) r26.0<1>:d r20.0<8;8,1>:d r24.0<8;8,1>:d\n");
    in_slices_of(zs_buf_cstr(&to), 16, 7, ZS_EU_EOT, 0);
    in_slices_of(zs_buf_cstr(&to), 16, 100000, ZS_EU_EOT, 0);
    in_slices_of(zs_buf_cstr(&to), 16, 100000, ZS_EU_EOT, 5);
    zs_buf_fini(&to);
}

/* One element that is written over by the result of the first lanes. */
static void test_overlap(void **state)
{
    (void)state;
    in_slices("(W) add (32|M0) r11.0<1>:d r12.0<8;8,1>:d r12.0<0;1,0>:d\n"
              "(W) cmp (32|M0) (gt)f0.0 r19.0<1>:d r18.0<8;8,1>:d r20.0<0;1,0>:d\n",
              32, 1000, ZS_EU_EOT);
}

/* Deep in a loop a register that is outside. */
static void test_fault(void **state)
{
    (void)state;
    in_slices(COUNT_DOWN "(W&f0.0) jmpi L1\n"
                         "add (16|M0) r20.0<1>:d r20.0<8;8,1>:d 7:w\n"
                         "illegal\n",
              16, 100000, ZS_EU_FAULT);
}

/* ---- blobs ---- */

static void test_hostile_blobs(void **state)
{
    struct code code = {.platform = ZS_ISA_GEN9};
    struct random random = {77};
    struct zs_buf request = {0}, blob = {0}, why = {0};
    struct zs_eu_program *program = NULL;
    struct zs_diag diag = {0};

    (void)state;
    random_code(&random, ZS_ISA_GEN9, 0, &code);
    struct zs_eu_lower_params params = {.code = zs_span_make(code.words, 16 * code.insts),
                                        .simd = 16,
                                        .flags = ZS_EU_TIER_LOWER,
                                        .platform = ZS_ISA_GEN9};
    zs_eu_tier_request_put(&params, &(struct zs_eu_tier_options){0}, &request);
    for (size_t size_B = 0; size_B < request.size_B; size_B += 13) { /* cut off */
        struct zs_eu_tier_request parsed;
        assert_int_equal(zs_eu_tier_request_parse(zs_span_make(request.data, size_B), &parsed),
                         -EBADMSG);
    }
    assert_int_equal(
        zs_host_build(zs_buf_span(&request), zs_span_make(NULL, 0), ZS_HOST_BLOB, &blob, &why), 0);
    assert_int_equal(zs_eu_lower(&params, &program, &diag), 0);
    for (unsigned i = 0; i < 3000; i++) { /* a bit is another, or the end is missing */
        uint8_t *bytes = malloc(blob.size_B);
        size_t size_B = i % 3 ? blob.size_B : random_below(&random, (uint32_t)blob.size_B);
        assert_non_null(bytes);
        memcpy(bytes, blob.data, blob.size_B);
        if (i % 3) {
            uint32_t at = random_below(&random, (uint32_t)(i % 3 == 1 ? 200 : blob.size_B));
            bytes[at] ^= (uint8_t)(1u << random_below(&random, 8));
        }
        assert_int_equal(zs_eu_tier_install(program, zs_span_make(bytes, size_B), &diag), -EBADMSG);
        assert_int_equal(zs_eu_tier_code_B(program), 0);
        free(bytes);
    }
    /* of another program */
    struct zs_eu_program *other = NULL;
    params.simd = 8;
    assert_int_equal(zs_eu_lower(&params, &other, &diag), 0);
    assert_int_equal(zs_eu_tier_install(other, zs_buf_span(&blob), &diag), -EBADMSG);
    assert_int_equal(zs_eu_tier_install(program, zs_buf_span(&blob), &diag), 0);
    assert_true(zs_eu_tier_code_B(program) > 0);
    zs_eu_program_destroy(other);
    zs_eu_program_destroy(program);
    zs_buf_fini(&request);
    zs_buf_fini(&blob);
    zs_buf_fini(&why);
}

/* ---- threads that begin anew ---- */

enum { LIMIT_AT = 2 * 32 }; /* r2.0 */

static void set_limit(struct zs_eu_thread *t, uint32_t limit)
{
    memcpy(t->grf + LIMIT_AT, &limit, sizeof(limit));
}

/* r30 counts from the zero that a thread finds to r2.0: how many instructions it takes. */
static uint64_t begun_anew(struct zs_eu_thread *t, const struct zs_eu_program *p, uint32_t limit)
{
    zs_eu_thread_restart(t, p, UINT16_MAX);
    set_limit(t, limit);
    assert_int_equal(zs_eu_run(t, p, 1000), ZS_EU_EOT);
    return t->executed;
}

/* Of Gen9, with what ends a thread, and what is behind that. zs_isa_code_free() frees it. */
static struct zs_span code_of(const char *text, const char *behind)
{
    struct zs_isa_asm_error where = {.size_B = sizeof(where)};
    struct zs_span code = {0};
    uint8_t *bytes = NULL;
    char whole[1024];

    snprintf(whole, sizeof(whole), "%s%s\n%s", text, end_of_thread(ZS_ISA_GEN9), behind);
    assert_int_equal(zs_isa_assemble(ZS_ISA_GEN9, zs_span_make(whole, strlen(whole)), &bytes,
                                     &code.size_B, &where),
                     0);
    code.data = bytes;
    return code;
}

static void test_repeated(void **state)
{
    static const struct zs_eu_tier_options plain = {0}, keeps = {.keeps_state = true};
    const struct zs_eu_tier_options *const options[] = {&plain, &keeps};
    const char *text = "(W) or (1|M0) cr0.0<1>:ud cr0.0<0;1,0>:ud 0x4c0:uw\n"
                       "(W) mov (1|M0) r31.0<1>:d 0:w\n"
                       "L1:\n"
                       "(W) add (1|M0) r30.0<1>:d r30.0<0;1,0>:d 1:w\n"
                       "(W) cmp (1|M0) (lt)f0.0 null<1>:d r30.0<0;1,0>:d r2.0<0;1,0>:d\n"
                       "(W&f0.0) jmpi L1\n";
    struct zs_eu_thread *t = aligned_alloc(64, sizeof(*t));
    struct zs_eu_lower_params params = {
        .simd = 16, .flags = ZS_EU_TIER_LOWER, .platform = ZS_ISA_GEN9, .payload_B = 3 * 32};
    uint32_t csr = zs_eu_host_csr(), saved = csr;

    (void)state;
    assert_non_null(t);
    params.code = code_of(text, "");
    for (unsigned i = 0; i < ZS_ARRAY_LEN(options); i++) {
        struct zs_eu_program *p = compiled_as(&params, options[i]);
        assert_non_null(p);
        memset(t, 0, sizeof(*t));
        zs_eu_thread_init(t, p, UINT16_MAX);
        uint64_t five = begun_anew(t, p, 5), nine = begun_anew(t, p, 9);
        assert_true(nine > five);
        assert_true(zs_eu_thread_repeat(t, p, UINT16_MAX));
        assert_int_equal(zs_eu_run_among(t, p, 1000, &csr), ZS_EU_EOT);
        assert_int_equal(t->executed, nine);
        assert_true(zs_eu_thread_repeat(t, p, UINT16_MAX));
        set_limit(t, 5);
        assert_int_equal(zs_eu_run_among(t, p, 1000, &csr), ZS_EU_EOT);
        assert_int_equal(t->executed, five);
        assert_false(zs_eu_thread_repeat(t, p, 0xff)); /* other lanes */
        assert_true(zs_eu_thread_repeat(t, p, UINT16_MAX));
        assert_int_equal(zs_eu_run_among(t, p, 4, &csr), ZS_EU_BUDGET);
        assert_false(zs_eu_thread_repeat(t, p, UINT16_MAX)); /* it has not ended */
        assert_int_equal(zs_eu_run(t, p, 1000), ZS_EU_EOT);
        assert_int_equal(t->executed, five);
        assert_false(zs_eu_thread_repeat(t, p, UINT16_MAX)); /* not in one go */
        assert_int_equal(begun_anew(t, p, 9), nine);
        zs_eu_program_destroy(p);
    }
    zs_eu_host_csr_restore(saved);
    zs_isa_code_free((uint8_t *)(uintptr_t)params.code.data);
    free(t);
}

/* A thread that waits once, and is let go on: how many instructions it takes. */
static uint64_t released(struct zs_eu_thread *t, const struct zs_eu_program *p, uint32_t *csr)
{
    assert_int_equal(zs_eu_run_among(t, p, 1000, csr), ZS_EU_BARRIER);
    t->n0[0]++;
    assert_int_equal(zs_eu_run_among(t, p, 1000, csr), ZS_EU_EOT);
    return t->executed;
}

#define WAIT "(W) wait (1|M0) n0.0<0;1,0>:ud\n"
#define COUNT_TO(r)                                                                                \
    "L1:\n"                                                                                        \
    "(W) add (1|M0) r30.0<1>:d r30.0<0;1,0>:d 1:w\n"                                               \
    "(W) cmp (1|M0) (lt)f0.0 null<1>:d r30.0<0;1,0>:d " r ".0<0;1,0>:d\n"                          \
    "(W&f0.0) jmpi L1\n"

/* r30 counts to r31 or r2, behind a barrier that leaves what another thread begins with, or stores
 * over it. */
static void test_repeated_barrier(void **state)
{
    static const struct {
        const char *text;
        bool leaves;
    } cases[] = {
        {"(W) add (8|M0) r31.0<1>:d r2.0<0;1,0>:d 2:w\n" WAIT
         "(W) mov (8|M0) r30.0<1>:d 0:w\n" COUNT_TO("r31"),
         true},
        {"(W) add (1|M0) r2.0<1>:d r2.0<0;1,0>:d 2:w\n" WAIT COUNT_TO("r2"), false},
        {"(W) add (1|M0) r30.0<1>:d r30.0<0;1,0>:d 2:w\n" WAIT COUNT_TO("r2"), false},
        {"cmp (16|M0) (lt)f0.0 null<1>:d r3.0<8;8,1>:d 3:w\n"
         "(f0.0) if (16|M0) L2 L2\n"
         "(W) add (1|M0) r2.0<1>:d r2.0<0;1,0>:d 2:w\n" WAIT "L2:\n"
         "endif (16|M0) L3\n"
         "L3:\n" COUNT_TO("r2"),
         false},
        /* with all lanes on r2 is not stored, as nobody reads it; others wait that do */
        {"cmp (16|M0) (lt)f0.0 null<1>:d r3.0<8;8,1>:d 3:w\n"
         "(W) add (1|M0) r2.0<1>:d r2.0<0;1,0>:d 2:w\n"
         "(f0.0) if (16|M0) L2 L2\n" WAIT "(W) mov (8|M0) r2.0<1>:d 9:w\n"
         "L2:\n"
         "endif (16|M0) L3\n"
         "L3:\n(W) mov (8|M0) r30.0<1>:d 0:w\n" COUNT_TO("r2"),
         false},
    };
    static const struct zs_eu_tier_options options = {.own_B = 32};
    struct zs_eu_thread *t = aligned_alloc(64, sizeof(*t));
    uint32_t csr = zs_eu_host_csr(), saved = csr;
    char whole[1024];

    (void)state;
    assert_non_null(t);
    for (unsigned i = 0; i < ZS_ARRAY_LEN(cases); i++) {
        struct zs_eu_lower_params params = {
            .simd = 16, .flags = ZS_EU_TIER_LOWER, .platform = ZS_ISA_GEN9, .payload_B = 5 * 32};
        snprintf(whole, sizeof(whole), "(W) or (1|M0) cr0.0<1>:ud cr0.0<0;1,0>:ud 0x4c0:uw\n%s",
                 cases[i].text);
        params.code = code_of(whole, "");
        struct zs_eu_program *p = compiled_as(&params, &options);
        assert_non_null(p);
        memset(t, 0, sizeof(*t));
        zs_eu_thread_init(t, p, UINT16_MAX);
        for (uint32_t lane = 0; lane < 16; lane++)
            memcpy(t->grf + 3 * 32 + lane * 4, &lane, sizeof(lane));
        set_limit(t, 5);
        uint64_t five = released(t, p, &csr);
        for (unsigned turn = 0; turn < 3; turn++) {
            assert_int_equal(zs_eu_thread_repeat(t, p, UINT16_MAX), cases[i].leaves);
            if (!cases[i].leaves) {
                zs_eu_thread_restart(t, p, UINT16_MAX);
                set_limit(t, 5);
            }
            assert_int_equal(t->cr0[0], 0);
            assert_int_equal(t->flag[0], 0);
            assert_int_equal(released(t, p, &csr), five);
        }
        zs_eu_program_destroy(p);
        zs_isa_code_free((uint8_t *)(uintptr_t)params.code.data);
    }
    zs_eu_host_csr_restore(saved);
    free(t);
}

/* ---- threads that follow in one run ---- */

enum { FOLLOWING = 5, ILLEGAL_LIMIT = 77 };

struct following {
    uint32_t limit[FOLLOWING][8]; /* r1 of each */
    uint32_t groups, x;           /* that follow; r0.1 as the first of them begins */
    unsigned settled;             /* 1 + which thread, as the environment was told */
};

static void settled(struct zs_eu_thread *t)
{
    struct following *all = t->env;
    all->settled = t->series.at + 1;
}

/* A first thread alone, and then those from the second on as a series. */
static enum zs_eu_status run_following(struct zs_eu_thread *t, const struct zs_eu_program *p,
                                       struct following *all, uint64_t budget, uint32_t *csr)
{
    static const struct zs_eu_series_row rows[FOLLOWING] = {
        {0, 5, 50, 0, 0}, {0, 5, 51, 0, 0}, {0, 5, 52, 0, 0}, {0, 5, 53, 0, 0}, {0, 7, 54, 0, 0}};

    zs_eu_thread_restart(t, p, UINT16_MAX);
    memcpy(t->grf + 20, &rows[0].r0_5, 4);
    memcpy(t->grf + 32, all->limit[0], 32);
    assert_int_equal(zs_eu_run_among(t, p, 1000, csr), ZS_EU_EOT);
    assert_true(zs_eu_thread_repeat(t, p, UINT16_MAX));
    memcpy(t->grf + 20, &rows[1].r0_5, 4);
    memcpy(t->grf + 32, all->limit[1], 32);
    t->env = all;
    t->series = (struct zs_eu_series){.at = 1,
                                      .end = FOLLOWING,
                                      .groups = all->groups,
                                      .own = (const uint8_t *)all->limit[0],
                                      .rows = rows,
                                      .settle = settled};
    memcpy(&all->x, t->grf + 4, sizeof(all->x));
    all->settled = 0;
    t->spent = 0;
    return zs_eu_run_among(t, p, budget, csr);
}

static uint64_t instructions_of(const struct zs_eu_program *p, uint32_t limit)
{
    struct zs_eu_thread *t = aligned_alloc(64, sizeof(*t));

    assert_non_null(t);
    memset(t, 0, sizeof(*t));
    zs_eu_thread_init(t, p, UINT16_MAX);
    memcpy(t->grf + 32, &limit, sizeof(limit));
    assert_int_equal(zs_eu_run(t, p, 1000), ZS_EU_EOT);
    uint64_t executed = t->executed;
    free(t);
    return executed;
}

/* r30 counts to r1.0 + r0.5, own ones of each thread: what they execute says what they read. */
static void test_series(void **state)
{
    const char *text = "(W) or (1|M0) cr0.0<1>:ud cr0.0<0;1,0>:ud 0x4c0:uw\n"
                       "(W) add (1|M0) r31.0<1>:d r1.0<0;1,0>:d r0.5<0;1,0>:d\n"
                       "L1:\n"
                       "(W) add (1|M0) r30.0<1>:d r30.0<0;1,0>:d 1:w\n"
                       "(W) cmp (1|M0) (lt)f0.0 null<1>:d r30.0<0;1,0>:d r31.0<0;1,0>:d\n"
                       "(W&f0.0) jmpi L1\n"
                       "(W) cmp (1|M0) (eq)f0.0 null<1>:d r1.0<0;1,0>:d 77:w\n"
                       "(W&f0.0) jmpi L2\n";
    struct zs_eu_thread *t = aligned_alloc(64, sizeof(*t));
    struct zs_eu_lower_params params = {
        .simd = 16, .flags = ZS_EU_TIER_LOWER, .platform = ZS_ISA_GEN9, .payload_B = 2 * 32};
    const struct zs_eu_tier_options options = {.own_B = 32, .own = 1 << 5 | ZS_EU_OWN_STATE};
    struct following all = {.limit = {{4}, {5}, {9}, {2}, {7}}};
    uint32_t csr = zs_eu_host_csr(), saved = csr, x;

    (void)state;
    assert_non_null(t);
    params.code = code_of(text, "L2:\nillegal\n");
    struct zs_eu_program *p = compiled_as(&params, &options);
    assert_non_null(p);
    memset(t, 0, sizeof(*t));
    zs_eu_thread_init(t, p, UINT16_MAX);
    uint64_t spent = 0, last = instructions_of(p, 7 + 7);
    for (unsigned i = 1; i < FOLLOWING; i++)
        spent += instructions_of(p, all.limit[i][0] + (i + 1 < FOLLOWING ? 5 : 7));
    assert_int_equal(run_following(t, p, &all, 1000, &csr), ZS_EU_EOT);
    assert_int_equal(t->series.at, FOLLOWING - 1);
    assert_int_equal(t->spent, spent);
    assert_int_equal(t->executed, last);
    assert_int_equal(t->sr0[0], 54);
    assert_int_equal(all.settled, 0);
    /* a group more of the same threads, whose r0.1 is one more */
    all.groups = 1;
    assert_int_equal(run_following(t, p, &all, 2000, &csr), ZS_EU_EOT);
    assert_int_equal(t->series.at, FOLLOWING - 1);
    assert_int_equal(t->series.groups, 0);
    assert_int_equal(t->spent, 2 * spent + instructions_of(p, 4 + 5));
    memcpy(&x, t->grf + 4, sizeof(x));
    assert_int_equal(x, all.x + 1);
    all.groups = 0;
    /* stopped in a loop of the third, which goes on alone, and another follows as the first did */
    uint64_t two = instructions_of(p, 5 + 5) + instructions_of(p, 9 + 5);
    assert_int_equal(run_following(t, p, &all, two - 9, &csr), ZS_EU_BUDGET);
    assert_int_equal(t->series.at, 2);
    t->series.end = 0;
    assert_int_equal(zs_eu_run(t, p, 1000), ZS_EU_EOT);
    assert_int_equal(t->executed, instructions_of(p, 9 + 5));
    assert_int_equal(t->spent, two);
    /* one that faults is left with what is its own, as its environment is */
    all.limit[3][0] = ILLEGAL_LIMIT;
    assert_int_equal(run_following(t, p, &all, 1000, &csr), ZS_EU_FAULT);
    assert_int_equal(t->series.at, 3);
    assert_int_equal(all.settled, 4);
    assert_int_equal(t->sr0[0], 53);
    assert_memory_equal(t->grf + 32, all.limit[3], 32);
    zs_eu_program_destroy(p);
    zs_eu_host_csr_restore(saved);
    zs_isa_code_free((uint8_t *)(uintptr_t)params.code.data);
    free(t);
}

/* ---- messages ---- */

enum { ROW = 16, EDGE = 26 };

/* A page of which a buffer has the first or the last EDGE dwords; nobody may touch what is around
 * it. */
struct edge {
    uint8_t *pages;
    size_t page_B;
    uint32_t *words;
    struct zs_port_surface surface;
    struct zs_port port;
};

static void open_edge(struct edge *ret)
{
    memset(ret, 0, sizeof(*ret));
    ret->page_B = (size_t)sysconf(_SC_PAGESIZE);
    ret->pages = mmap(NULL, 3 * ret->page_B, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(ret->pages != MAP_FAILED);
    assert_int_equal(mprotect(ret->pages + ret->page_B, ret->page_B, PROT_READ | PROT_WRITE), 0);
    ret->surface.kind = ZS_PORT_SURFACE_BUFFER;
    ret->port.surfaces = &ret->surface;
    ret->port.surface_count = 1;
}

static void close_edge(struct edge *edge)
{
    munmap(edge->pages, 3 * edge->page_B);
}

static void place_buffer(struct edge *edge, uint32_t count, bool at_end)
{
    uint8_t *page = edge->pages + edge->page_B;

    edge->surface.size_B = count * UINT64_C(4);
    edge->surface.base = page + (at_end ? edge->page_B - edge->surface.size_B : 0);
    edge->words = (uint32_t *)(void *)edge->surface.base;
    for (uint32_t i = 0; i < count; i++)
        edge->words[i] = 1000 * i;
}

/* Lanes that are on add their index to the dword that it names; r6 and r7, where addresses are
 * made, hold anything in the others, as do r16 to r19, where indices go by. */
#define ADD_INDEX(shift)                                                                           \
    "(W) or (1|M0) cr0.0<1>:ud cr0.0<0;1,0>:ud 0x4c0:uw\n"                                         \
    "cmp (16|M0) (ne)f0.0 null<1>:d r3.0<8;8,1>:d 0:w\n"                                           \
    "(f0.0) if (16|M0) L1 L1\n" shift "send (16|M0) r12:w r6 0xC 0x04205E00\n"                     \
    "add (16|M0) r12.0<1>:d r12.0<8;8,1>:d r1.0<8;8,1>:d\n"                                        \
    "sends (16|M0) null:w r6 r12 0x8C 0x04025E00\n"                                                \
    "L1:\n"                                                                                        \
    "endif (16|M0) L2\n"                                                                           \
    "L2:\n"
static const char *const add_index[] = {
    ADD_INDEX("shl (16|M0) r6.0<1>:d r1.0<8;8,1>:d 2:w\n"),
    ADD_INDEX("mov (16|M0) r16.0<2>:d r1.0<8;8,1>:d\n"
              "shl (16|M0) r6.0<1>:d r16.0<8;4,2>:d 2:w\n"),
};

/* Interpreted and compiled. */
static void make_both(const char *text, struct zs_eu_lower_params *params,
                      const struct zs_eu_tier_options *options, struct zs_eu_program *ret[2])
{
    struct zs_diag diag = {0};

    params->code = code_of(text, "");
    assert_int_equal(zs_eu_lower(params, &ret[0], &diag), 0);
    ret[1] = compiled_as(params, options);
    assert_non_null(ret[1]);
}

static void masked_neighbours(const char *text)
{
    static const struct {
        uint32_t on;
        int32_t first; /* index of lane 0 */
        bool at_end;
        uint32_t strays; /* lanes whose index is something else */
    } cases[] = {
        /* all in the buffer, to its edge; lanes behind or in front of it are off, or are not */
        {0x0155, 10, true, 0},
        {0x03f8, 0, false, 0},
        {0x7ffe, 10, true, 0},
        {0x03ff, 16, true, 0},
        {0x0001, 25, true, 0},
        {0xffc0, -6, false, 0},
        {0x8000, -15, false, 0},
        {0x07ff, 16, true, 0},
        {0xffff, -3, false, 0},
        /* with others among them */
        {0x03fe, 10, true, 0xfc01},
        {0x7ffe, 10, true, 0x8001},
        {0x0200, 16, true, 0xfdff},
        {0xfc00, -10, false, 0x03ff},
        {0x03ff, 0, true, 0x8010},
    };
    static const struct zs_eu_tier_options plain = {0};
    struct zs_eu_thread *t = aligned_alloc(64, sizeof(*t));
    struct zs_eu_lower_params params = {
        .simd = 16, .flags = ZS_EU_TIER_LOWER, .platform = ZS_ISA_GEN9, .payload_B = 8 * 32};
    struct zs_eu_program *programs[2] = {NULL};
    struct random random = {5};
    struct edge edge;

    assert_non_null(t);
    make_both(text, &params, &plain, programs);
    open_edge(&edge);
    for (unsigned i = 0; i < ZS_ARRAY_LEN(cases); i++) {
        uint32_t lanes[4][ROW]; /* r1, r3, none, r6 */
        uint32_t want[EDGE];
        for (uint32_t k = 0; k < EDGE; k++)
            want[k] = 1000 * k;
        for (uint32_t lane = 0; lane < ROW; lane++) {
            uint32_t wild = (uint32_t)random_next(&random);
            lanes[1][lane] = cases[i].on >> lane & 1;
            lanes[0][lane] = cases[i].strays >> lane & 1 ? (lanes[1][lane] ? lane / 2 : wild)
                                                         : (uint32_t)cases[i].first + lane;
            lanes[3][lane] = lane % 2 ? wild : wild % 64 * 4;
            if (lanes[1][lane] && lanes[0][lane] < EDGE)
                want[lanes[0][lane]] = lanes[0][lane] * 1001;
        }
        for (unsigned how = 0; how < 2; how++) {
            place_buffer(&edge, EDGE, cases[i].at_end);
            memset(t, 0, sizeof(*t));
            zs_eu_thread_init(t, programs[how], UINT16_MAX);
            memcpy(t->grf + 1 * 32, lanes[0], sizeof(lanes[0]));
            memcpy(t->grf + 3 * 32, lanes[1], sizeof(lanes[1]));
            memcpy(t->grf + 6 * 32, lanes[3], sizeof(lanes[3]));
            for (unsigned at = 16; at < 20; at++)
                memcpy(t->grf + at * 32, lanes[3], 32);
            t->env = &edge.port;
            assert_int_equal(zs_eu_run(t, programs[how], 1000), ZS_EU_EOT);
            assert_memory_equal(edge.words, want, sizeof(want));
        }
    }
    close_edge(&edge);
    zs_eu_program_destroy(programs[0]);
    zs_eu_program_destroy(programs[1]);
    zs_isa_code_free((uint8_t *)(uintptr_t)params.code.data);
    free(t);
}

static void test_masked_neighbours(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ZS_ARRAY_LEN(add_index); i++)
        masked_neighbours(add_index[i]);
}

/* Lanes that are on are given one address, and all load: the others from where they were. */
static void test_alike_in_part(void **state)
{
    static const char text[] = "(W) or (1|M0) cr0.0<1>:ud cr0.0<0;1,0>:ud 0x4c0:uw\n"
                               "cmp (16|M0) (ne)f0.0 null<1>:d r3.0<8;8,1>:d 0:w\n"
                               "(f0.0) if (16|M0) L1 L1\n"
                               "mov (16|M0) r6.0<1>:d r5.0<0;1,0>:d\n"
                               "(W) send (16|M0) r12:w r6 0xC 0x04205E00\n"
                               "(W) sends (16|M0) null:w r8 r12 0x8C 0x04025E00\n"
                               "L1:\n"
                               "endif (16|M0) L2\n"
                               "L2:\n";
    static const uint32_t on[] = {0xffff, 0x00ff, 0xff00, 0x0001, 0x8000, 0x7ffe, 0x5555};
    enum { ONE = 20, RESULTS = 32 };
    static const struct zs_eu_tier_options plain = {0};
    struct zs_eu_thread *t = aligned_alloc(64, sizeof(*t));
    struct zs_eu_lower_params params = {
        .simd = 16, .flags = ZS_EU_TIER_LOWER, .platform = ZS_ISA_GEN9, .payload_B = 10 * 32};
    struct zs_eu_program *programs[2] = {NULL};
    struct edge edge;
    (void)state;

    assert_non_null(t);
    make_both(text, &params, &plain, programs);
    open_edge(&edge);
    for (unsigned i = 0; i < 2 * ZS_ARRAY_LEN(on); i++) {
        place_buffer(&edge, RESULTS + ROW, false);
        memset(t, 0, sizeof(*t));
        zs_eu_thread_init(t, programs[i % 2], UINT16_MAX);
        for (uint32_t lane = 0; lane < ROW; lane++) {
            const uint32_t is_on = on[i / 2] >> lane & 1, from = 4 * (ROW - 1 - lane);
            const uint32_t one = 4 * ONE, to = 4 * (RESULTS + lane);
            memcpy(t->grf + 3 * 32 + lane * 4, &is_on, 4);
            memcpy(t->grf + 5 * 32, &one, 4);
            memcpy(t->grf + 6 * 32 + lane * 4, &from, 4);
            memcpy(t->grf + 8 * 32 + lane * 4, &to, 4);
        }
        t->env = &edge.port;
        assert_int_equal(zs_eu_run(t, programs[i % 2], 1000), ZS_EU_EOT);
        for (uint32_t lane = 0; lane < ROW; lane++)
            assert_int_equal(edge.words[RESULTS + lane],
                             1000 * (on[i / 2] >> lane & 1 ? ONE : ROW - 1 - lane));
    }
    close_edge(&edge);
    zs_eu_program_destroy(programs[0]);
    zs_eu_program_destroy(programs[1]);
    zs_isa_code_free((uint8_t *)(uintptr_t)params.code.data);
    free(t);
}

/* What lanes that are off have is still there where it is read: by them, behind; at once with that
 * of the others; as elements of another size, or as the other half of eight bytes. */
static void test_others_keep(void **state)
{
#define ON(body)                                                                                   \
    "(W) or (1|M0) cr0.0<1>:ud cr0.0<0;1,0>:ud 0x4c0:uw\n"                                         \
    "cmp (16|M0) (ne)f0.0 null<1>:d r3.0<8;8,1>:d 0:w\n"                                           \
    "(f0.0) if (16|M0) L1 L1\n" body "L1:\n"                                                       \
    "endif (16|M0) L2\n"                                                                           \
    "L2:\n"
#define STORE(mask, reg) mask "sends (16|M0) null:w r8 " reg " 0x8C 0x04025E00\n"
    static const char *const texts[] = {
        ON("add (16|M0) r1.0<1>:d r1.0<8;8,1>:d 100:w\n") STORE("(W) ", "r1"),
        ON("add (16|M0) r1.0<1>:d r1.0<8;8,1>:d 100:w\n"
           "(W) mov (16|M0) r12.0<1>:d r1.0<8;8,1>:d\n") STORE("(W) ", "r12"),
        ON("add (16|M0) r1.0<1>:d r1.0<8;8,1>:d 100:w\n"
           "mov (16|M0) r12.0<1>:d r1.0<16;16,1>:uw\n" STORE("", "r12")),
        ON("mov (8|M0) r16.0<2>:d 100:w\n"
           "mov (8|M8) r18.0<2>:d 100:w\n"
           "mov (8|M0) r12.0<1>:d r16.1<8;4,2>:d\n"
           "mov (8|M8) r13.0<1>:d r18.1<8;4,2>:d\n" STORE("", "r12")),
    };
    static const uint32_t on[] = {0xffff, 0x00ff, 0xff00, 0x0001, 0x8000, 0x7ffe, 0x5555};
    static const struct zs_eu_tier_options plain = {0};
    struct zs_eu_thread *t = aligned_alloc(64, sizeof(*t));
    struct zs_eu_lower_params params = {
        .simd = 16, .flags = ZS_EU_TIER_LOWER, .platform = ZS_ISA_GEN9, .payload_B = 20 * 32};
    struct zs_eu_program *programs[2] = {NULL};
    struct edge edge;

    (void)state;
    assert_non_null(t);
    open_edge(&edge);
    for (unsigned i = 0; i < ZS_ARRAY_LEN(texts) * ZS_ARRAY_LEN(on) * 2; i++) {
        uint32_t text = i / 2 / ZS_ARRAY_LEN(on), mask = on[i / 2 % ZS_ARRAY_LEN(on)];
        if (i % (2 * ZS_ARRAY_LEN(on)) == 0)
            make_both(texts[text], &params, &plain, programs);
        place_buffer(&edge, ROW, false);
        memset(t, 0, sizeof(*t));
        zs_eu_thread_init(t, programs[i % 2], UINT16_MAX);
        for (uint32_t lane = 0; lane < ROW; lane++) {
            const uint32_t is_on = mask >> lane & 1, to = 4 * lane, pair[2] = {lane, 500 + lane};
            memcpy(t->grf + 1 * 32 + lane * 4, &lane, 4);
            memcpy(t->grf + 3 * 32 + lane * 4, &is_on, 4);
            memcpy(t->grf + 8 * 32 + lane * 4, &to, 4);
            memcpy(t->grf + 16 * 32 + lane * 8, pair, 8);
        }
        t->env = &edge.port;
        assert_int_equal(zs_eu_run(t, programs[i % 2], 1000), ZS_EU_EOT);
        for (uint32_t lane = 0; lane < ROW; lane++) {
            uint32_t half = lane / 2, none = 1000 * lane, is_on = mask >> lane & 1;
            uint32_t want[] = {lane + 100 * is_on, lane + 100 * is_on, none, none};
            if (is_on) {
                want[2] = lane % 2 ? 0 : half + 100 * (mask >> half & 1);
                want[3] = 500 + lane;
            }
            assert_int_equal(edge.words[lane], want[text]);
        }
        if (i % (2 * ZS_ARRAY_LEN(on)) == 2 * ZS_ARRAY_LEN(on) - 1) {
            zs_eu_program_destroy(programs[0]);
            zs_eu_program_destroy(programs[1]);
            zs_isa_code_free((uint8_t *)(uintptr_t)params.code.data);
        }
    }
    close_edge(&edge);
    free(t);
#undef ON
#undef STORE
}

/* Bits of two values by a constant, of lanes that a flag chooses, all of which are live: LLVM 14
 * makes of it one instruction that has its operands in another order. */
static void test_masked_logic(void **state)
{
    enum { LANES = 16, SIGN = INT32_MIN };
    static const char text[] = "cmp (16|M0) (ne)f0.0 null<1>:d r3.0<8;8,1>:d 0:w\n"
                               "(f0.0) shl (16|M0) r10.0<1>:d r12.0<8;8,1>:d r14.0<8;8,1>:d\n"
                               "(f0.0) add (16|M0) r8.0<1>:d r8.0<8;8,1>:d r12.0<8;8,1>:d\n"
                               "(f0.0) and (16|M0) r10.0<1>:d r10.0<8;8,1>:d 2147483647:d\n"
                               "(f0.0) and (16|M0) r8.0<1>:d r8.0<8;8,1>:d -2147483648:d\n"
                               "(f0.0) or (16|M0) r8.0<1>:d r8.0<8;8,1>:d r10.0<8;8,1>:d\n";
    struct zs_eu_thread *t = aligned_alloc(64, sizeof(*t));
    struct zs_eu_lower_params params = {
        .simd = LANES, .flags = ZS_EU_TIER_LOWER, .platform = ZS_ISA_GEN9, .payload_B = 16 * 32};
    uint32_t in[5][LANES], got[2][LANES];
    struct random random = {5};

    (void)state;
    assert_non_null(t);
    params.code = code_of(text, "");
    struct zs_eu_program *p = compiled(&params);
    assert_non_null(p);
    for (unsigned round = 0; round < 100; round++) {
        memset(t, 0, sizeof(*t));
        zs_eu_thread_init(t, p, UINT16_MAX);
        for (unsigned i = 0; i < 5 * LANES; i++)
            in[i / LANES][i % LANES] = (uint32_t)random_next(&random);
        for (unsigned i = 0; i < LANES; i++)
            in[4][i] &= 1;
        memcpy(t->grf + 8 * 32, in, 4 * sizeof(in[0]));
        memcpy(t->grf + 3 * 32, in[4], sizeof(in[4]));
        assert_int_equal(zs_eu_run(t, p, 1000), ZS_EU_EOT);
        memcpy(got, t->grf + 8 * 32, sizeof(got));
        for (unsigned i = 0; i < LANES; i++) {
            uint32_t bits = in[2][i] << (in[3][i] & 31) & ~(uint32_t)SIGN;
            uint32_t sign = (in[0][i] + in[2][i]) & (uint32_t)SIGN;
            assert_int_equal(got[0][i], in[4][i] ? bits | sign : in[0][i]);
            assert_int_equal(got[1][i], in[4][i] ? bits : in[1][i]);
        }
    }
    zs_eu_program_destroy(p);
    zs_isa_code_free((uint8_t *)(uintptr_t)params.code.data);
    free(t);
}

/* A loop some of which rounds toward zero. It stays compiled, and what stands around it rounds to
 * the nearest. From Xe2 on code asks for the modes by a dword, with a bit of another meaning. */
static void test_rounding(void **state)
{
    enum { LANES = 16, TURNS = 9 };
    struct zs_eu_thread *t = aligned_alloc(64, sizeof(*t));
    struct zs_eu_lower_params params = {
        .simd = LANES, .flags = ZS_EU_TIER_LOWER, .platform = ZS_ISA_GEN9, .payload_B = 8 * 32};
    float x[LANES], y[LANES], got[LANES];

    (void)state;
    assert_non_null(t);
    params.code = code_of("(W) or (1|M0) cr0.0<1>:ud cr0.0<0;1,0>:ud 0x400004c0:ud\n"
                          "L1:\n"
                          "(W) add (1|M0) r30.0<1>:d r30.0<0;1,0>:d 1:w\n"
                          "mul (16|M0) r6.0<1>:f r2.0<8;8,1>:f r4.0<8;8,1>:f\n"
                          "(W) xor (1|M0) cr0.0<1>:ud cr0.0<0;1,0>:ud 0x30:uw\n"
                          "mul (16|M0) r8.0<1>:f r2.0<8;8,1>:f r4.0<8;8,1>:f\n"
                          "add (16|M0) r8.0<1>:f r8.0<8;8,1>:f r6.0<8;8,1>:f\n"
                          "(W) xor (1|M0) cr0.0<1>:ud cr0.0<0;1,0>:ud 0x30:uw\n"
                          "add (16|M0) r12.0<1>:f r6.0<8;8,1>:f r8.0<8;8,1>:f\n"
                          "mul (16|M0) r2.0<1>:f r12.0<8;8,1>:f r4.0<8;8,1>:f\n"
                          "(W) cmp (1|M0) (lt)f0.0 null<1>:d r30.0<0;1,0>:d 9:w\n"
                          "(W&f0.0) jmpi L1\n",
                          "");
    struct zs_eu_program *p = compiled(&params);
    assert_non_null(p);
    memset(t, 0, sizeof(*t));
    zs_eu_thread_init(t, p, UINT16_MAX);
    for (unsigned i = 0; i < LANES; i++) {
        x[i] = 1.0f + 1.0f / (3.0f + (float)i);
        y[i] = 1.0f / (1.7f + 0.01f * (float)i);
    }
    memcpy(t->grf + 2 * 32, x, sizeof(x));
    memcpy(t->grf + 4 * 32, y, sizeof(y));
    assert_int_equal(zs_eu_run(t, p, 1000), ZS_EU_EOT);
    for (unsigned i = 0; i < LANES * TURNS; i++) {
        volatile float nearest = x[i % LANES] * y[i % LANES], zero;
        fesetround(FE_TOWARDZERO);
        zero = x[i % LANES] * y[i % LANES];
        zero = zero + nearest;
        fesetround(FE_TONEAREST);
        nearest = nearest + zero;
        x[i % LANES] = nearest * y[i % LANES];
    }
    memcpy(got, t->grf + 2 * 32, sizeof(got));
    assert_memory_equal(got, x, sizeof(x));
    assert_true(zs_eu_thread_repeat(t, p, UINT16_MAX));
    zs_eu_program_destroy(p);
    zs_isa_code_free((uint8_t *)(uintptr_t)params.code.data);
    free(t);
}

/* Qwords of addresses, and a loop that loads a dword by each. */
static const char load_often[] = "(W) or (1|M0) cr0.0<1>:ud cr0.0<0;1,0>:ud 0x4c0:uw\n"
                                 "L1:\n"
                                 "(W) add (1|M0) r30.0<1>:d r30.0<0;1,0>:d 1:w\n"
                                 "send (8|M0) r12:w r6 0xC 0x04146EFF\n"
                                 "add (8|M0) r20.0<1>:d r20.0<8;8,1>:d r12.0<8;8,1>:d\n"
                                 "(W) cmp (1|M0) (lt)f0.0 null<1>:d r30.0<0;1,0>:d 9:w\n"
                                 "(W&f0.0) jmpi L1\n";

static zs_eu_send_fn *sends_by;
static unsigned sent;

static enum zs_eu_status count_sent(struct zs_eu_thread *t, const struct zs_eu_send *send,
                                    uint32_t lane_mask)
{
    sent++;
    return sends_by(t, send, lane_mask);
}

/* The data port has a message of a loop once: compiled code knows what it found from then on. */
static void test_range_found(void **state)
{
    static const struct zs_eu_tier_options all = {.keeps_state = true};
    struct zs_eu_thread *t = aligned_alloc(64, sizeof(*t));
    struct zs_port *port = calloc(1, sizeof(*port));
    struct zs_eu_lower_params params = {
        .simd = 16, .flags = ZS_EU_TIER_LOWER, .platform = ZS_ISA_GEN9, .payload_B = 31 * 32};
    struct zs_eu_program *programs[2] = {NULL};
    uint32_t words[8] = {3, 1, 4, 1, 5, 9, 2, 6}, sums[8];

    (void)state;
    assert_true(t && port);
    make_both(load_often, &params, &all, programs);
    port->launch_range_count = 1;
    port->launch_ranges[0] =
        (struct zs_port_range){.start = (uintptr_t)words, .end = (uintptr_t)(words + 8)};
    memset(t, 0, sizeof(*t));
    zs_eu_thread_init(t, programs[1], UINT16_MAX);
    for (uint64_t lane = 0; lane < 8; lane++) {
        uint64_t at = (uintptr_t)words + 4 * lane;
        memcpy(t->grf + 6 * 32 + 8 * lane, &at, sizeof(at));
        sums[lane] = 9 * words[lane];
    }
    t->env = port;
    sends_by = programs[1]->sends.items[0].send.exec;
    programs[1]->sends.items[0].send.exec = count_sent;
    sent = 0;
    assert_int_equal(zs_eu_run(t, programs[1], 1000), ZS_EU_EOT);
    assert_memory_equal(t->grf + 20 * 32, sums, sizeof(sums));
    assert_int_equal(sent, 1);
    zs_eu_program_destroy(programs[0]);
    zs_eu_program_destroy(programs[1]);
    zs_isa_code_free((uint8_t *)(uintptr_t)params.code.data);
    free(port);
    free(t);
}

/* Lanes that are on store their index in private memory, whose addresses begin anywhere, and load
 * what is at another place of it. */
static void test_private(void **state)
{
    static const char text[] = "(W) or (1|M0) cr0.0<1>:ud cr0.0<0;1,0>:ud 0x4c0:uw\n"
                               "cmp (16|M0) (ne)f0.0 null<1>:d r3.0<8;8,1>:d 0:w\n"
                               "(f0.0) if (16|M0) L1 L1\n"
                               "sends (16|M0) null:w r6 r1 0x8C 0x04025EFF\n"
                               "send (16|M0) r12:w r8 0xC 0x04205EFF\n"
                               "L1:\n"
                               "endif (16|M0) L2\n"
                               "L2:\n";
    static const struct {
        uint32_t on, first, step, load; /* of addresses */
        bool is_outside;
    } cases[] = {
        {0xffff, 0, 4, 64, false},     {0xffff, 4, 8, 0, false},  {0x8421, 128, 4, 192, false},
        {0x0100, 0, 4, 252, false},    {0x7ff0, 0, 12, 4, false}, {0x00ff, 224, 4, 0, false},
        {0xffff, 196, 4, 0, true},     {0x0001, 256, 4, 0, true}, {0x0002, 0, 4, 253, true},
        {0x0004, 0u - 16, 4, 0, true},
    };
    enum { START = 1024, SIZE = 256, BIAS = 4096, INSTRUCTIONS = 100 };
    static const struct zs_eu_tier_options all = {.keeps_state = true};
    struct zs_eu_thread *t[2] = {aligned_alloc(64, sizeof(**t)), aligned_alloc(64, sizeof(**t))};
    struct zs_port *port = calloc(1, sizeof(*port));
    uint8_t *memory[2] = {calloc(1, START + SIZE), calloc(1, START + SIZE)};
    struct zs_eu_lower_params params = {
        .simd = 16, .flags = ZS_EU_TIER_LOWER, .platform = ZS_ISA_GEN9, .payload_B = 14 * 32};
    struct zs_eu_program *programs[2] = {NULL};
    (void)state;

    assert_true(t[0] && t[1] && port && memory[0] && memory[1]);
    make_both(text, &params, &all, programs);
    sends_by = programs[1]->sends.items[0].send.exec;
    for (unsigned i = 0; i < 2; i++)
        programs[1]->sends.items[i].send.exec = count_sent;
    for (unsigned i = 0; i < ZS_ARRAY_LEN(cases); i++) {
        enum zs_eu_status status[2];
        sent = 0;
        for (unsigned how = 0; how < 2; how++) {
            memset(t[how], 0, sizeof(**t));
            zs_eu_thread_init(t[how], programs[how], UINT16_MAX);
            for (uint32_t lane = 0; lane < ROW; lane++) {
                const uint32_t is_on = cases[i].on >> lane & 1, index = 100 * i + lane;
                const uint32_t to = BIAS + cases[i].first + cases[i].step * lane;
                const uint32_t from = BIAS + cases[i].load, wild = lane * 77777777;
                memcpy(t[how]->grf + 1 * 32 + lane * 4, &index, 4);
                memcpy(t[how]->grf + 3 * 32 + lane * 4, &is_on, 4);
                memcpy(t[how]->grf + 6 * 32 + lane * 4, is_on ? &to : &wild, 4);
                memcpy(t[how]->grf + 8 * 32 + lane * 4, is_on ? &from : &wild, 4);
            }
            port->scratch = memory[how];
            port->scratch_start = START;
            port->scratch_end = START + SIZE;
            port->scratch_bias = BIAS;
            t[how]->env = port;
            status[how] = zs_eu_run(t[how], programs[how], INSTRUCTIONS);
        }
        assert_int_equal(status[0], cases[i].is_outside ? ZS_EU_FAULT : ZS_EU_EOT);
        assert_int_equal(status[1], status[0]);
        assert_string_equal(t[1]->fault.text, t[0]->fault.text);
        assert_memory_equal(memory[1], memory[0], START + SIZE);
        same_state(t[0], t[1], NULL, 0);
        assert_int_equal(sent, cases[i].is_outside);
    }
    zs_eu_program_destroy(programs[0]);
    zs_eu_program_destroy(programs[1]);
    zs_isa_code_free((uint8_t *)(uintptr_t)params.code.data);
    for (unsigned how = 0; how < 2; how++) {
        free(memory[how]);
        free(t[how]);
    }
    free(port);
}

/* Each thread of a series stores its r0, which it has changed, where r1 says: of the second group,
 * whose r0.1 is one more. */
static void test_series_r0(void **state)
{
    const char *text = "(W) or (1|M0) cr0.0<1>:ud cr0.0<0;1,0>:ud 0x4c0:uw\n"
                       "(W) add (1|M0) r0.3<1>:d r0.3<0;1,0>:d 1:w\n"
                       "mov (8|M0) r12.0<1>:d r0.0<8;8,1>:d\n"
                       "(W) mov (8|M0) r0.0<1>:d 99:w\n"
                       "sends (8|M0) null:w r1 r12 0x4C 0x02026E00\n";
    static const struct zs_eu_series_row rows[FOLLOWING] = {
        {2, 10, 0, 0, 0}, {4, 11, 0, 0, 0}, {6, 12, 0, 0, 0}, {8, 13, 0, 0, 0}, {16, 17, 0, 0, 0}};
    static const struct zs_eu_tier_options options = {.own_B = 32, .own = 1 << 5 | 1 << 2};
    struct zs_eu_thread *t = aligned_alloc(64, sizeof(*t));
    struct zs_eu_lower_params params = {
        .simd = 16, .flags = ZS_EU_TIER_LOWER, .platform = ZS_ISA_GEN9, .payload_B = 2 * 32};
    uint32_t csr = zs_eu_host_csr(), saved = csr, own[FOLLOWING][8], r0[8];
    struct zs_eu_program *programs[2] = {NULL};
    struct edge edge;

    (void)state;
    assert_non_null(t);
    make_both(text, &params, &options, programs);
    for (uint32_t i = 0; i < FOLLOWING * 8; i++)
        own[i / 8][i % 8] = 4 * i;
    open_edge(&edge);
    for (unsigned how = 0; how < 2; how++) {
        place_buffer(&edge, FOLLOWING * 8, true);
        memset(t, 0, sizeof(*t));
        zs_eu_thread_init(t, programs[how], UINT16_MAX);
        for (uint32_t thread = 0; thread < (how ? 2 : FOLLOWING); thread++) {
            for (uint32_t i = 0; i < 8; i++)
                r0[i] = 100 + i;
            r0[1] += !how; /* of the second group */
            r0[2] = rows[thread].r0_2;
            r0[5] = rows[thread].r0_5;
            if (thread < 1 + !how * FOLLOWING)
                zs_eu_thread_restart(t, programs[how], UINT16_MAX);
            else
                assert_true(zs_eu_thread_repeat(t, programs[how], UINT16_MAX));
            memcpy(t->grf, r0, sizeof(r0));
            memcpy(t->grf + 32, own[thread], sizeof(own[0]));
            t->env = &edge.port;
            if (how && thread)
                t->series = (struct zs_eu_series){.at = 1,
                                                  .end = FOLLOWING,
                                                  .groups = 1,
                                                  .own = (const uint8_t *)own,
                                                  .rows = rows};
            assert_int_equal(zs_eu_run_among(t, programs[how], 1000, &csr), ZS_EU_EOT);
        }
        assert_int_equal(t->series.groups, 0);
        for (uint32_t i = 0; i < FOLLOWING * 8; i++) {
            const struct zs_eu_series_row *row = &rows[i / 8];
            uint32_t k = i % 8, want = k == 2 ? row->r0_2 : k == 5 ? row->r0_5 : 100 + k;
            assert_int_equal(edge.words[i], want + (k == 1) + (k == 3));
        }
    }
    close_edge(&edge);
    zs_eu_program_destroy(programs[0]);
    zs_eu_program_destroy(programs[1]);
    zs_eu_host_csr_restore(saved);
    zs_isa_code_free((uint8_t *)(uintptr_t)params.code.data);
    free(t);
}

static void nothing_to_settle(struct zs_eu_thread *t)
{
    (void)t;
}

/* Threads of a series store to where their own words say, of which most rise by one, to the edge of
 * the buffer; one's go down, and the last one's leave the buffer in the last lane. Others than the
 * first come in by a slice of their own, or they follow. */
static void series_rising(uint64_t budget)
{
    const char *text = "(W) or (1|M0) cr0.0<1>:ud cr0.0<0;1,0>:ud 0x4c0:uw\n"
                       "mov (16|M0) r12.0<1>:ud r1.0<16;16,1>:uw\n"
                       "shl (16|M0) r14.0<1>:d r12.0<8;8,1>:d 2:w\n"
                       "add (16|M0) r16.0<1>:d r12.0<8;8,1>:d r0.5<0;1,0>:d\n"
                       "sends (16|M0) null:w r14 r16 0x8C 0x04025E00\n";
    enum { WORDS = (FOLLOWING - 1) * 16 };
    struct zs_eu_series_row rows[FOLLOWING] = {{0}};
    static const struct zs_eu_tier_options options = {.own_B = 32, .own = 1 << 5};
    struct zs_eu_thread *t = aligned_alloc(64, sizeof(*t));
    struct zs_eu_lower_params params = {
        .simd = 16, .flags = ZS_EU_TIER_LOWER, .platform = ZS_ISA_GEN9, .payload_B = 2 * 32};
    uint32_t csr = zs_eu_host_csr(), saved = csr;
    uint16_t own[FOLLOWING][16];
    bool sliced = budget == 1; /* who comes in once more ends the series */
    struct edge edge;

    assert_non_null(t);
    params.code = code_of(text, "");
    struct zs_eu_program *p = compiled_as(&params, &options);
    assert_non_null(p);
    for (uint32_t i = 0; i < FOLLOWING * 16; i++) {
        own[i / 16][i % 16] = (uint16_t)(i / 16 == 2 ? 47 - i % 16 : i - i / 64 * 15);
        rows[i / 16].r0_5 = 1000 * (i / 16);
        rows[i / 16].rising = i / 16 != 2;
    }
    open_edge(&edge);
    place_buffer(&edge, WORDS, true);
    memset(t, 0, sizeof(*t));
    zs_eu_thread_init(t, p, UINT16_MAX);
    for (uint32_t thread = 0; thread < 2; thread++) {
        if (thread)
            assert_true(zs_eu_thread_repeat(t, p, UINT16_MAX));
        memcpy(t->grf + 20, &rows[thread].r0_5, 4);
        memcpy(t->grf + 32, own[thread], sizeof(own[0]));
        t->env = &edge.port;
        t->series = (struct zs_eu_series){.at = thread,
                                          .end = thread ? FOLLOWING : 0,
                                          .rising = 1,
                                          .own = (const uint8_t *)own,
                                          .rows = rows,
                                          .settle = nothing_to_settle};
        enum zs_eu_status status;
        do
            status = zs_eu_run_among(t, p, budget, &csr);
        while (status == ZS_EU_BUDGET);
        assert_int_equal(status, ZS_EU_EOT);
    }
    assert_int_equal(t->series.at, FOLLOWING - 1 - sliced);
    for (uint32_t i = 0; i < WORDS; i++)
        assert_int_equal(edge.words[i], i + (i < 49 || sliced ? 1000 * (i / 16) : 4000));
    close_edge(&edge);
    zs_eu_program_destroy(p);
    zs_eu_host_csr_restore(saved);
    zs_isa_code_free((uint8_t *)(uintptr_t)params.code.data);
    free(t);
}

static void test_series_rising(void **state)
{
    (void)state;
    series_rising(1000);
    series_rising(1);
}

/* ---- what is printed and verified ---- */

static void test_show(void **state)
{
    struct zs_buf text = {0};
    struct zs_diag diag = {0};
    struct zs_eu_program *program =
        assembled(ZS_ISA_GEN9, COUNT_DOWN "(W&f0.0) jmpi L1\n",
                  (struct zs_eu_lower_params){.flags = ZS_EU_TIER_LOWER, .simd = 16});

    (void)state;
    assert_true(zs_eu_program_verify(program, &diag));
    zs_eu_program_show(program, ZS_ISA_GEN9, &text);
    const char *shown = zs_buf_cstr(&text);
    assert_non_null(strstr(shown, "ADD_32          r20.0:32x16 <- r20.0:32x16, r22.0:32x16"));
    assert_non_null(strstr(shown, "CMP_GT_S32      f0:32<<0 <- r10.0:32, #0x0:32"));
    assert_non_null(strstr(shown, "JUMP_UNIFORM    block 1, else 2"));
    zs_buf_fini(&text);
    zs_eu_program_destroy(program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_masks),
        cmocka_unit_test(test_everything),
        cmocka_unit_test(test_later),
        cmocka_unit_test(test_modes),
        cmocka_unit_test(test_loop),
        cmocka_unit_test(test_divergent_loop),
        cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_fault),
        cmocka_unit_test(test_hostile_blobs),
        cmocka_unit_test(test_show),
        cmocka_unit_test(test_repeated),
        cmocka_unit_test(test_repeated_barrier),
        cmocka_unit_test(test_series),
        cmocka_unit_test(test_masked_neighbours),
        cmocka_unit_test(test_alike_in_part),
        cmocka_unit_test(test_others_keep),
        cmocka_unit_test(test_masked_logic),
        cmocka_unit_test(test_series_r0),
        cmocka_unit_test(test_range_found),
        cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_series_rising),
        cmocka_unit_test(test_parting),
        cmocka_unit_test(test_many_places),
        cmocka_unit_test(test_private),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
