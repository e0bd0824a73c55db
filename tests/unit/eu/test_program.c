/* SPDX-License-Identifier: MIT */
/* What a program says about its threads: the register file, and what a new thread finds in it. */
#include "../test.h"

#include "encode.h"
#include "eu/eu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SIMD = 16 };

static int no_sends(struct zs_eu_send *ret, struct zs_diag *diag)
{
    (void)ret;
    return zs_diag_set(diag, -1, ZS_DIAG_NO_OFFSET, "no sends here");
}

static struct zs_isa_operand reg(unsigned number)
{
    return (struct zs_isa_operand){.kind = ZS_OPERAND_REG,
                                   .file = ZS_FILE_GRF,
                                   .type = ZS_TYPE_D,
                                   .reg = (uint8_t)number,
                                   .vstride = 8,
                                   .width = 8,
                                   .hstride = 1};
}

/* add (16) dst src src; end of thread */
static struct zs_eu_program *lower_add(unsigned dst, unsigned src, uint32_t flags,
                                       const struct zs_eu_registers *registers, int *ret_error)
{
    struct zs_isa_inst add = {.op = ZS_OP_ADD,
                              .exec_size = SIMD,
                              .source_count = 2,
                              .dst = reg(dst),
                              .src = {reg(src), reg(src)}};
    uint64_t code[2][2] = {{0}, {UINT64_C(0x2000020407600031), UINT64_C(0x8200001006000e00)}};
    struct zs_eu_lower_params params = {.code = zs_span_make(code, sizeof(code)),
                                        .simd = SIMD,
                                        .flags = flags,
                                        .registers = registers,
                                        .send_lower = no_sends};
    struct zs_eu_program *program = NULL;
    struct zs_diag diag = {0};

    encode(&add, code[0]);
    *ret_error = zs_eu_lower(&params, &program, &diag);
    return program;
}

static struct zs_eu_thread *new_thread(void)
{
    struct zs_eu_thread *t = aligned_alloc(64, sizeof(*t));

    assert_non_null(t);
    memset(t, 0xa5, sizeof(*t));
    return t;
}

static void test_register_file(void **state)
{
    static const struct {
        struct zs_eu_registers registers;
        unsigned dst, src;
        bool exists;
    } rows[] = {
        {{32, 128, 2, 2, 16}, 126, 10, true},   {{32, 128, 2, 2, 16}, 128, 10, false},
        {{32, 256, 2, 2, 16}, 128, 200, true},  {{64, 128, 2, 4, 16}, 127, 100, true},
        {{64, 128, 2, 4, 16}, 128, 100, false}, {{64, 256, 4, 4, 16}, 255, 254, true},
    };
    struct zs_eu_thread *t = new_thread();

    (void)state;
    for (unsigned i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        unsigned grf_B = rows[i].registers.grf_B;
        int error;
        struct zs_eu_program *program =
            lower_add(rows[i].dst, rows[i].src, 0, &rows[i].registers, &error);
        assert_int_equal(error, 0);
        assert_int_equal(zs_eu_program_registers(program)->grf_count, rows[i].registers.grf_count);
        zs_eu_thread_init(t, program, 0xffff);
        int32_t values[SIMD], sums[SIMD];
        for (int c = 0; c < SIMD; c++) {
            values[c] = c * 1000 - 7;
            sums[c] = 2 * values[c];
        }
        memcpy(t->grf + rows[i].src * (size_t)grf_B, values, sizeof(values));
        assert_int_equal(zs_eu_run(t, program, 100), rows[i].exists ? ZS_EU_EOT : ZS_EU_FAULT);
        if (rows[i].exists)
            assert_memory_equal(t->grf + rows[i].dst * (size_t)grf_B, sums, sizeof(sums));
        else
            assert_int_equal(t->fault.kind, ZS_EU_FAULT_OPERAND);
        zs_eu_program_destroy(program);
    }
    free(t);
}

static void test_refused_files(void **state)
{
    static const struct zs_eu_registers rows[] = {
        {16, 128, 2, 2, 16}, {128, 128, 2, 2, 16}, {32, 100, 2, 2, 16}, {64, 512, 2, 2, 16},
        {32, 128, 5, 2, 16}, {32, 128, 2, 9, 16},  {64, 128, 2, 5, 16}, {32, 128, 2, 2, 17},
    };

    (void)state;
    for (unsigned i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        int error;
        assert_null(lower_add(10, 12, 0, &rows[i], &error));
        assert_int_equal(error, -EINVAL);
    }
}

/* A thread that is used again finds zeros in what it reads, and with hooks everywhere. */
static void test_restart(void **state)
{
    struct zs_eu_thread *t = new_thread();
    static const uint8_t zeros[128 * 32];

    (void)state;
    for (unsigned hooked = 0; hooked < 2; hooked++) {
        int error;
        struct zs_eu_program *program =
            lower_add(20, 30, hooked ? ZS_EU_LOWER_HOOK_BLOCKS : 0, NULL, &error);
        assert_int_equal(error, 0);
        zs_eu_thread_init(t, program, 0xffff);
        assert_memory_equal(t->grf, zeros, sizeof(zeros));
        for (unsigned times = 0; times < 2; times++) {
            memset(t->grf, 0x11, sizeof(zeros));
            memset(t->flag, 0x11, sizeof(t->flag));
            memset(t->acc, 0x11, 32 * sizeof(t->acc[0]));
            zs_eu_thread_restart(t, program, 0xffff);
            assert_memory_equal(t->grf + 30 * 32, zeros, 64);
            assert_memory_equal(t->flag, zeros, sizeof(t->flag));
            if (hooked) {
                assert_memory_equal(t->grf, zeros, sizeof(zeros));
                assert_memory_equal(t->acc, zeros, 32 * sizeof(t->acc[0]));
            }
            assert_int_equal(zs_eu_run(t, program, 100), ZS_EU_EOT);
            assert_memory_equal(t->grf + 20 * 32, zeros, 64);
        }
        zs_eu_program_destroy(program);
    }
    free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_register_file),
        cmocka_unit_test(test_refused_files),
        cmocka_unit_test(test_restart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
