/* SPDX-License-Identifier: MIT */
/*
 * Instructions per second of the interpreter alone: loops without memory accesses, one hardware
 * thread of SIMD16 on one core. Process CPU time, the least of nine runs, as a table.
 */
#include "../tests/unit/eu/encode.h"
#include "eu/eu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RUNS = 9, ROUNDS = 100000, CODE_MAX = 64 };

struct code {
    uint64_t words[CODE_MAX][2];
    unsigned count;
};

static struct zs_isa_operand reg(unsigned number, unsigned type)
{
    return (struct zs_isa_operand){.kind = ZS_OPERAND_REG,
                                   .file = ZS_FILE_GRF,
                                   .type = (uint8_t)type,
                                   .reg = (uint8_t)number,
                                   .vstride = 8,
                                   .width = 8,
                                   .hstride = 1};
}

static struct zs_isa_operand imm(uint32_t bits, unsigned type)
{
    return (struct zs_isa_operand){.kind = ZS_OPERAND_IMM, .type = (uint8_t)type, .imm = bits};
}

static struct zs_isa_operand imm_f(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return imm(bits, ZS_TYPE_F);
}

static void emit(struct code *code, const struct zs_isa_inst *inst)
{
    encode(inst, code->words[code->count++]);
}

static void op2(struct code *code, unsigned opcode, struct zs_isa_operand dst,
                struct zs_isa_operand a, struct zs_isa_operand b)
{
    emit(code,
         &(struct zs_isa_inst){
             .op = (uint8_t)opcode, .exec_size = 16, .source_count = 2, .dst = dst, .src = {a, b}});
}

static void mad(struct code *code, unsigned dst, unsigned a, unsigned b, unsigned c)
{
    struct zs_isa_inst inst = {.op = ZS_OP_MAD,
                               .exec_size = 16,
                               .flags = ZS_INST_ALIGN16,
                               .source_count = 3,
                               .dst = reg(dst, ZS_TYPE_F),
                               .src = {reg(a, ZS_TYPE_F), reg(b, ZS_TYPE_F), reg(c, ZS_TYPE_F)}};
    for (unsigned i = 0; i < 3; i++)
        inst.src[i].vstride = inst.src[i].width = 1;
    emit(code, &inst);
}

static void cmp(struct code *code, unsigned cond, unsigned flag, struct zs_isa_operand a,
                struct zs_isa_operand b)
{
    struct zs_isa_inst inst = {.op = ZS_OP_CMP,
                               .exec_size = 16,
                               .cond = (uint8_t)cond,
                               .flag_reg = (uint8_t)flag,
                               .source_count = 2,
                               .src = {a, b}};
    inst.dst = (struct zs_isa_operand){
        .kind = ZS_OPERAND_REG, .file = ZS_FILE_NULL, .type = a.type, .hstride = 1};
    emit(code, &inst);
}

/* while or break with a predicate; distances in instructions from here. */
static void branch(struct code *code, unsigned opcode, unsigned flag, int jip, int uip)
{
    uint64_t *words = code->words[code->count++];
    words[0] = opcode_bits(opcode) | UINT64_C(1) << 16 | UINT64_C(4) << 21 | (uint64_t)flag << 33;
    words[1] = (uint64_t)(uint32_t)(jip * 16) << 32 | (uint32_t)(uip * 16);
}

static void end_of_thread(struct code *code)
{
    code->words[code->count][0] = UINT64_C(0x2000020407600031);
    code->words[code->count++][1] = UINT64_C(0x8200001006000e00);
}

static void begin_loop(struct code *code, unsigned *ret_start)
{
    op2(code, ZS_OP_AND, reg(60, ZS_TYPE_D), reg(60, ZS_TYPE_D), imm(0, ZS_TYPE_D));
    *ret_start = code->count;
}

static void end_loop(struct code *code, unsigned start)
{
    op2(code, ZS_OP_ADD, reg(60, ZS_TYPE_D), reg(60, ZS_TYPE_D), imm(1, ZS_TYPE_D));
    cmp(code, ZS_COND_LT, 0, reg(60, ZS_TYPE_D), imm(ROUNDS, ZS_TYPE_D));
    branch(code, ZS_OP_WHILE, 0, (int)start - (int)code->count, 0);
    end_of_thread(code);
}

static void integer_mix(struct code *code)
{
    unsigned start;

    begin_loop(code, &start);
    for (unsigned i = 0; i < 3; i++) {
        op2(code, ZS_OP_MUL, reg(20, ZS_TYPE_D), reg(10, ZS_TYPE_D), imm(1664525, ZS_TYPE_D));
        op2(code, ZS_OP_ADD, reg(10, ZS_TYPE_D), reg(20, ZS_TYPE_D), imm(1013904223, ZS_TYPE_D));
        op2(code, ZS_OP_SHR, reg(22, ZS_TYPE_UD), reg(10, ZS_TYPE_UD), imm(16, ZS_TYPE_UW));
        op2(code, ZS_OP_XOR, reg(12, ZS_TYPE_D), reg(12, ZS_TYPE_D), reg(22, ZS_TYPE_D));
        op2(code, ZS_OP_ADD, reg(12, ZS_TYPE_D), reg(12, ZS_TYPE_D), reg(10, ZS_TYPE_D));
    }
    end_loop(code, start);
}

static void float_mad(struct code *code)
{
    unsigned start;

    begin_loop(code, &start);
    for (unsigned i = 0; i < 8; i++)
        mad(code, 20 + 2 * i, 20 + 2 * i, 40, 42);
    end_loop(code, start);
}

/* Lanes leave the inner loop at different times. */
static void mandelbrot(struct code *code)
{
    unsigned start, inner;
    struct zs_isa_operand zx = reg(20, ZS_TYPE_F), zy = reg(22, ZS_TYPE_F);
    struct zs_isa_operand xx = reg(24, ZS_TYPE_F), yy = reg(26, ZS_TYPE_F);
    struct zs_isa_operand t = reg(28, ZS_TYPE_F), k = reg(30, ZS_TYPE_D);

    begin_loop(code, &start);
    op2(code, ZS_OP_AND, k, k, imm(0, ZS_TYPE_D));
    op2(code, ZS_OP_MUL, zx, zx, imm_f(0.0f));
    op2(code, ZS_OP_MUL, zy, zy, imm_f(0.0f));
    inner = code->count;
    op2(code, ZS_OP_MUL, xx, zx, zx);
    op2(code, ZS_OP_MUL, yy, zy, zy);
    op2(code, ZS_OP_ADD, t, xx, yy);
    cmp(code, ZS_COND_GT, 1, t, imm_f(4.0f));
    branch(code, ZS_OP_BREAK, 1, 8, 8);
    op2(code, ZS_OP_MUL, t, zx, zy);
    struct zs_isa_operand minus_yy = yy;
    minus_yy.modifiers |= ZS_MOD_NEG;
    op2(code, ZS_OP_ADD, zx, xx, minus_yy);
    op2(code, ZS_OP_ADD, zx, zx, reg(10, ZS_TYPE_F));
    mad(code, 22, 12, 28, 44);
    op2(code, ZS_OP_ADD, k, k, imm(1, ZS_TYPE_W));
    cmp(code, ZS_COND_LT, 0, k, imm(40, ZS_TYPE_D));
    /* the break's target: this while */
    code->words[inner + 4][1] =
        (uint64_t)((code->count - inner - 4) * 16) << 32 | (code->count - inner - 4) * 16;
    branch(code, ZS_OP_WHILE, 0, (int)inner - (int)code->count, 0);
    end_loop(code, start);
}

static void fill(struct zs_eu_thread *t)
{
    for (unsigned lane = 0; lane < 16; lane++) {
        float cx = -2.0f + 0.17f * (float)lane, cy = 0.3f, two = 2.0f, small = 0.001f;
        memcpy(t->grf + 10 * 32 + lane * 4, &cx, 4);
        memcpy(t->grf + 12 * 32 + lane * 4, &cy, 4);
        memcpy(t->grf + 44 * 32 + lane * 4, &two, 4);
        memcpy(t->grf + 40 * 32 + lane * 4, &small, 4);
        memcpy(t->grf + 42 * 32 + lane * 4, &small, 4);
    }
}

static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Million instructions per second. */
static double measure(const struct code *code, uint32_t flags, enum zs_eu_host host)
{
    struct zs_eu_program *program;
    struct zs_diag diag = {0};
    struct zs_eu_thread *t = aligned_alloc(64, sizeof(*t));
    struct zs_eu_lower_params params = {.code = zs_span_make(code->words, code->count * 16),
                                        .simd = 16,
                                        .flags = flags,
                                        .host = host};
    double least_s = 1e9;

    if (!t || zs_eu_lower(&params, &program, &diag) < 0) {
        fprintf(stderr, "eu_bench: %s\n", diag.text);
        exit(1);
    }
    uint64_t *counters = calloc(zs_eu_program_counter_count(program), sizeof(*counters));
    uint64_t executed = 0;
    for (unsigned i = 0; i < RUNS; i++) {
        zs_eu_thread_init(t, program, 0xffff);
        zs_eu_thread_set_control(t, 0x4c0);
        t->counters = flags & ZS_EU_LOWER_COUNTS ? counters : NULL;
        fill(t);
        double start_s = cpu_s();
        enum zs_eu_status status = zs_eu_run(t, program, UINT64_MAX);
        double used_s = cpu_s() - start_s;
        if (status != ZS_EU_EOT) {
            fprintf(stderr, "eu_bench: %s\n", t->fault.text);
            exit(1);
        }
        least_s = used_s < least_s ? used_s : least_s;
        executed = t->executed;
    }
    free(counters);
    free(t);
    zs_eu_program_destroy(program);
    return (double)executed / least_s * 1e-6;
}

int main(void)
{
    static const struct {
        const char *name;
        void (*build)(struct code *code);
    } loops[] = {
        {"integer mixing", integer_mix}, {"multiply-add", float_mad}, {"mandelbrot", mandelbrot}};

    printf("Million instructions (SIMD16) per second and core:\n\n");
    printf(
        "| loop | x86-64-v2 | AVX2 | AVX2 with counts | cost of counts |\n|---|---|---|---|---|\n");
    for (unsigned i = 0; i < ZS_ARRAY_LEN(loops); i++) {
        struct code code = {.count = 0};
        loops[i].build(&code);
        double base = measure(&code, 0, ZS_EU_HOST_BASE);
        if (!zs_eu_host_usable(ZS_EU_HOST_AVX2)) {
            printf("| %s | %.0f | n/a | n/a | n/a |\n", loops[i].name, base);
            continue;
        }
        double avx2 = measure(&code, 0, ZS_EU_HOST_AVX2);
        double counts = measure(&code, ZS_EU_LOWER_COUNTS, ZS_EU_HOST_AVX2);
        printf("| %s | %.0f | %.0f | %.0f | %.1f %% |\n", loops[i].name, base, avx2, counts,
               (avx2 / counts - 1) * 100);
    }
    return 0;
}
