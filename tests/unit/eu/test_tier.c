/* SPDX-License-Identifier: MIT */
/*
 * The compiled tier against the interpreter, bit for bit: random instructions under random masks,
 * loops, budgets, faults, counters; and blobs that are none. LLVM is loaded by the test itself.
 */
#include "assembled.h"
#include "compiler/host_code.h"
#include "encode.h"
#include "eu/tier.h"
#include "ref.h"

#include <errno.h>

enum { ROUNDS = 12, INSTS = 40 };

static int no_sends(struct zs_eu_send *ret, struct zs_diag *diag)
{
    (void)ret;
    return zs_diag_set(diag, -1, ZS_DIAG_NO_OFFSET, "no sends here");
}

/* A second program of the same code that is compiled; NULL: nothing of it is worth it. */
static struct zs_eu_program *compiled(const struct zs_eu_lower_params *params)
{
    struct zs_buf request = {0}, blob = {0}, why = {0};
    struct zs_eu_program *program = NULL;
    struct zs_diag diag = {0};

    zs_eu_tier_request_put(params, &(struct zs_eu_tier_options){.keeps_state = true}, &request);
    int error = zs_host_build(zs_buf_span(&request), &blob, &why);
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

static void random_code(struct random *random, enum zs_isa_platform platform, unsigned what,
                        struct code *ret)
{
    struct zs_isa_inst inst;

    *ret = (struct code){.platform = platform};
    append(ret, "(W) or (1|M0) cr0.0<1>:ud cr0.0<0;1,0>:ud 0x4c0:uw");
    for (unsigned i = 0; i < INSTS; i++) {
        if (platform == ZS_ISA_GEN9) {
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
    zs_eu_thread_set_control(t, 0x4c0);
}

static void same_state(const struct zs_eu_thread *a, const struct zs_eu_thread *b,
                       const struct code *code, unsigned round)
{
    char text[ZS_ISA_LINE_MAX];
    struct zs_isa_inst inst;
    const struct zs_eu_registers *r = zs_eu_program_registers(a->program);
    size_t file_B = (size_t)r->grf_B * r->grf_count;

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

static void test_later(void **state)
{
    (void)state;
    random_rounds(ZS_ISA_GEN11, RANDOM_MASKS | RANDOM_WIDE | RANDOM_FLOAT, 3000);
    random_rounds(ZS_ISA_XE_LP, RANDOM_MASKS | RANDOM_FLOAT, 4000);
    random_rounds(ZS_ISA_XE_HPG, RANDOM_MASKS | RANDOM_FLOAT, 5000);
    random_rounds(ZS_ISA_XE_HPC, RANDOM_MASKS | RANDOM_WIDE | RANDOM_FLOAT, 6000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_masks),
        cmocka_unit_test(test_everything),
        cmocka_unit_test(test_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
