/* SPDX-License-Identifier: MIT */
/* What a program says about its threads: the register file, and what a new thread finds in it. */
#include "../test.h"

#include "assembled.h"
#include "dataport/dataport.h"
#include "encode.h"
#include "eu/eu_priv.h"

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
        {16, 128, 2, 2, 16}, {128, 128, 2, 2, 16}, {32, 100, 2, 2, 16},  {64, 544, 2, 2, 16},
        {32, 128, 5, 2, 16}, {32, 128, 2, 33, 16}, {64, 128, 2, 17, 16}, {32, 128, 2, 2, 33},
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
            memset(t->acc_high, 0x11, 32 * sizeof(t->acc[0]));
            zs_eu_thread_restart(t, program, 0xffff);
            assert_memory_equal(t->grf + 30 * 32, zeros, 64);
            assert_memory_equal(t->flag, zeros, sizeof(t->flag));
            if (hooked) {
                assert_memory_equal(t->grf, zeros, sizeof(zeros));
                assert_memory_equal(t->acc, zeros, 32 * sizeof(t->acc[0]));
                assert_memory_equal(t->acc_high, zeros, 32 * sizeof(t->acc[0]));
            }
            assert_int_equal(zs_eu_run(t, program, 100), ZS_EU_EOT);
            assert_memory_equal(t->grf + 20 * 32, zeros, 64);
        }
        zs_eu_program_destroy(program);
    }
    free(t);
}

/* Whatever accumulators a region reaches, it does not see an earlier thread's. */
static void test_restart_of_accumulators(void **state)
{
    static const struct {
        enum zs_isa_platform platform;
        const char *text;
    } rows[] = {{ZS_ISA_XE_HPC, "mov (8|M0) r68.0<1>:d acc2.0<16;1,0>:d"},
                {ZS_ISA_XE_HPC, "mov (16|M0) r68.0<1>:d acc2.0<8;1,0>:d"},
                {ZS_ISA_XE_HPC, "mov (16|M0) r68.0<1>:f acc3.0<1;1,0>:f"},
                {ZS_ISA_XE_HPC, "mov (8|M0) r68.0<1>:d acc2.0<16;4,1>:d"},
                {ZS_ISA_XE_HPC, "macl (16|M0) r68.0<1>:d r30.0<1;1,0>:d r30.0<1;1,0>:d"},
                {ZS_ISA_GEN9, "mov (8|M0) r68.0<1>:d acc0.0<2;1,0>:d"}};

    (void)state;
    for (unsigned i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        struct zs_eu_program *program =
            assembled(rows[i].platform, rows[i].text, (struct zs_eu_lower_params){0});
        struct zs_eu_thread *t = assembled_thread(program);
        uint32_t grf_B = zs_eu_program_registers(program)->grf_B;
        const uint8_t zeros[64] = {0};
        memset(t->acc, 0x11, sizeof(t->acc));
        memset(t->acc_high, 0x11, sizeof(t->acc_high));
        zs_eu_thread_restart(t, program, 0xffff);
        if (zs_eu_run(t, program, 100) != ZS_EU_EOT)
            fail_msg("%s: %s", rows[i].text, t->fault.text);
        assert_memory_equal(t->grf + (size_t)68 * grf_B, zeros, grf_B);
        free(t);
        zs_eu_program_destroy(program);
    }
}

/* ---- sends ---- */

enum { MESSAGES_MAX = 8 };

static struct {
    unsigned lowered, count;
    struct zs_eu_send_desc sent[MESSAGES_MAX];
} messages;

static enum zs_eu_status record_send(struct zs_eu_thread *t, const struct zs_eu_send *send,
                                     uint32_t lane_mask)
{
    (void)t;
    assert_int_equal(lane_mask, 0xff);
    assert_true(messages.count < MESSAGES_MAX);
    messages.sent[messages.count++] = send->d;
    return ZS_EU_OK;
}

static int lower_recorded(struct zs_eu_send *ret, struct zs_diag *diag)
{
    (void)diag;
    messages.lowered++;
    ret->exec = record_send;
    return 0;
}

/* Three rounds of a loop around
 *     (W) sends (8|M0) r40:ud r50 r60 a0.2 0x02106001
 *     (W) mov (1|M0) a0.2:ud r20.0:ud
 * with a number where the instruction would have its SFID if a0.2 did not say it. */
static struct zs_eu_program *lower_loop_of_sends(void)
{
    const struct zs_isa_inst insts[] = {
        {.op = ZS_OP_MOV,
         .exec_size = 1,
         .flags = ZS_INST_NOMASK,
         .source_count = 1,
         .dst = {.kind = ZS_OPERAND_REG,
                 .file = ZS_FILE_A,
                 .type = ZS_TYPE_UD,
                 .subreg_B = 8,
                 .hstride = 1},
         .src = {{.kind = ZS_OPERAND_REG,
                  .file = ZS_FILE_GRF,
                  .type = ZS_TYPE_UD,
                  .reg = 20,
                  .width = 1}}},
        {.op = ZS_OP_ADD,
         .exec_size = SIMD,
         .source_count = 2,
         .dst = reg(10),
         .src = {reg(10), {.kind = ZS_OPERAND_IMM, .type = ZS_TYPE_D, .imm = 1}}},
        {.op = ZS_OP_CMP,
         .exec_size = SIMD,
         .cond = ZS_COND_LT,
         .source_count = 2,
         .dst = {.kind = ZS_OPERAND_REG, .file = ZS_FILE_NULL, .type = ZS_TYPE_D, .hstride = 1},
         .src = {reg(10), {.kind = ZS_OPERAND_IMM, .type = ZS_TYPE_D, .imm = 3}}},
    };
    uint64_t code[6][2] = {
        {UINT64_C(0x2503c01c0c600033), UINT64_C(0x0210600100020640)},
        {0},
        {0},
        {0},
        {opcode_bits(ZS_OP_WHILE) | UINT64_C(1) << 16 | UINT64_C(4) << 21,
         (uint64_t)(uint32_t)-64 << 32},
        {UINT64_C(0x2000020407600031), UINT64_C(0x8200001006000e00)},
    };
    struct zs_eu_lower_params params = {
        .code = zs_span_make(code, sizeof(code)), .simd = SIMD, .send_lower = lower_recorded};
    struct zs_eu_program *program = NULL;
    struct zs_diag diag = {0};
    struct zs_isa_inst decoded;

    assert_int_equal(
        zs_isa_decode_one(ZS_ISA_GEN9, zs_span_make(code[0], sizeof(code[0])), &decoded), 16);
    assert_int_equal(decoded.sfid, ZS_SFID_REGISTER);
    for (unsigned i = 0; i < ZS_ARRAY_LEN(insts); i++)
        encode(&insts[i], code[1 + i]);
    if (zs_eu_lower(&params, &program, &diag) < 0)
        fail_msg("%s", diag.text);
    return program;
}

/* SFID and length of the second payload come with the extended descriptor, in every round. */
static void test_send_from_register(void **state)
{
    enum { DC0 = 10, DC2 = 4, SHORT = 2, LONG = 3 };
    const uint32_t first = DC0 | SHORT << 6, then = DC2 | LONG << 6 | 0x12340000;
    struct zs_eu_program *program = lower_loop_of_sends();
    struct zs_eu_thread *t = new_thread();

    (void)state;
    memset(&messages, 0, sizeof(messages));
    zs_eu_thread_init(t, program, 0xffff);
    memcpy((uint8_t *)t->a0 + 8, &first, 4);
    memcpy(t->grf + 20 * 32, &then, 4);
    assert_int_equal(zs_eu_run(t, program, 1000), ZS_EU_EOT);
    assert_int_equal(messages.count, 3);
    assert_int_equal(messages.lowered, 2); /* the third is the second once more */
    for (unsigned i = 0; i < messages.count; i++) {
        const struct zs_eu_send_desc *d = &messages.sent[i];
        assert_int_equal(d->sfid, i ? DC2 : DC0);
        assert_int_equal(d->ex_desc, i ? then : first);
        assert_int_equal(d->xlen, i ? LONG : SHORT);
        assert_int_equal(d->desc, 0x02106001);
        assert_int_equal(d->mlen, 1);
        assert_int_equal(d->rlen, 1);
        assert_int_equal(d->dst_B, 40 * 32);
        assert_int_equal(d->src0_B, 50 * 32);
        assert_int_equal(d->src1_B, 60 * 32);
    }
    free(t);
    zs_eu_program_destroy(program);
}

/* What IGC 2 loads in front of a store, and nobody looks at, is no read. */
static void test_loads_ahead(void **state)
{
#define LOAD "send.ugm (16|M0) r2 r18 null:0 0x0 0x04100580\n"
#define MOVE "(W) mov (1|M0) null<1>:ud r2.0<0;1,0>:ud\n"
    static const struct {
        const char *text;
        unsigned looked_at, hooked;
    } rows[] = {
        {LOAD MOVE "send.ugm (16|M0) null r18 r20:1 0x0 0x04000584", 1, 2},
        {LOAD MOVE "send.ugm (16|M0) null r22 r20:1 0x0 0x04000584", 2, 2},
        {LOAD "(W) mov (1|M0) r4.0<1>:ud r2.0<0;1,0>:ud\n"
              "send.ugm (16|M0) null r18 r20:1 0x0 0x04000584",
         2, 2},
        {LOAD "(W) mov (1|M0) null<1>:ud r3.0<0;1,0>:ud\n"
              "send.ugm (16|M0) null r18 r20:1 0x0 0x04000584",
         2, 2},
        {LOAD MOVE LOAD MOVE "send.ugm (8|M0) null r18 r20:1 0x0 0x04000584", 3, 3},
    };
#undef LOAD
#undef MOVE
    (void)state;
    for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        struct zs_eu_program *p =
            assembled(ZS_ISA_XE_HPC, rows[i].text,
                      (struct zs_eu_lower_params){.flags = ZS_EU_LOWER_HOOK_MESSAGES,
                                                  .send_lower = zs_eu_send_lower});
        unsigned looked_at = 0, hooked = 0; /* the model of time wants them all */
        for (size_t k = 0; k < p->op_count; k++) {
            const struct zs_eu_op *op = &p->ops[k];
            bool is = op->kind == ZS_EU_KIND_SEND && op->cls & ZS_EU_HOOKED && !op->arg;
            hooked += is;
            looked_at += is && !op->send->send.d.is_ahead;
        }
        assert_int_equal(looked_at, rows[i].looked_at);
        assert_int_equal(hooked, rows[i].hooked);
        zs_eu_program_destroy(p);
    }
}

/* Messages of a pointer have one place in the port's cache, however far in front their addresses
 * are made, and if they are moved on. */
static void test_places_of_pointers(void **state)
{
    enum { FAR = 60, MESSAGES = 5 };
    static const unsigned alike[MESSAGES] = {0, 1, 0, 1, 0};
    char text[8000] = "add (16|M0) r20.0<1>:q r18.0<1;1,0>:q r4.4<0;1,0>:q\n"
                      "add (16|M0) r24.0<1>:q r18.0<1;1,0>:q r4.5<0;1,0>:q\n";
    uint8_t places[MESSAGES] = {0};
    unsigned count = 0;

    (void)state;
    for (unsigned i = 0; i < FAR; i++)
        strcat(text, "add (16|M0) r40.0<1>:d r41.0<1;1,0>:d r42.0<1;1,0>:d\n");
    strcat(text, "send.ugm (16|M0) r2 r20 null:0 0x0 0x04100580\n"
                 "send.ugm (16|M0) r6 r24 null:0 0x0 0x04100580\n"
                 "send.ugm (16|M0) r8 r20 null:0 0x0 0x04100580\n"
                 "send.ugm (16|M0) null r24 r6:1 0x0 0x04000584\n"
                 "add (16|M0) r20.0<1>:q r20.0<1;1,0>:q 64:w\n"
                 "send.ugm (16|M0) r10 r20 null:0 0x0 0x04100580");
    struct zs_eu_program *p =
        assembled(ZS_ISA_XE_HPC, text, (struct zs_eu_lower_params){.send_lower = zs_eu_send_lower});
    for (size_t k = 0; k < p->op_count; k++) {
        const struct zs_port_message_row *row;
        const struct zs_eu_op *op = &p->ops[k];
        const struct zs_port_message *m =
            op->kind == ZS_EU_KIND_SEND ? zs_eu_send_message(&op->send->send, &row) : NULL;
        if (m && m->space == ZS_PORT_SPACE_GLOBAL && count < MESSAGES)
            places[count++] = m->cache_slot;
    }
    assert_int_equal(count, MESSAGES);
    for (unsigned i = 0; i < MESSAGES; i++)
        assert_int_equal(places[i], places[alike[i]]);
    assert_int_not_equal(places[0], places[1]);
    zs_eu_program_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_register_file),
        cmocka_unit_test(test_refused_files),
        cmocka_unit_test(test_restart),
        cmocka_unit_test(test_restart_of_accumulators),
        cmocka_unit_test(test_send_from_register),
        cmocka_unit_test(test_loads_ahead),
        cmocka_unit_test(test_places_of_pointers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
