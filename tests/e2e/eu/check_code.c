/* SPDX-License-Identifier: MIT */
/*
 * check_code FILE...: decode raw Gen9 code with our decoder and with libiga64 (through src/isa),
 * and report every field that differs; lower it, and report what the interpreter does not model.
 * check_code --random COUNT compares the decoders on random instructions.
 */
#include "../../unit/eu/encode.h"
#include "base/file.h"
#include "eu/eu.h"
#include "isa/isa.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long differences, compared;

static void differ(const struct zs_gen9_inst *a, const char *what, long long ours, long long theirs)
{
    if (differences++ < 40)
        printf("0x%x %s %016llx %016llx: %s is %lld, libiga64 says %lld\n", a->offset_B,
               a->mnemonic, (unsigned long long)a->full[0], (unsigned long long)a->full[1], what,
               ours, theirs);
}

#define SAME(what, ours, theirs)                                                                   \
    do {                                                                                           \
        if ((long long)(ours) != (long long)(theirs))                                              \
            differ(a, what, (long long)(ours), (long long)(theirs));                               \
    } while (0)

static unsigned iga_type(unsigned type)
{
    static const uint8_t types[] = {ZS_TYPE_UD, ZS_TYPE_D,  ZS_TYPE_UW, ZS_TYPE_W,  ZS_TYPE_UB,
                                    ZS_TYPE_B,  ZS_TYPE_DF, ZS_TYPE_F,  ZS_TYPE_UQ, ZS_TYPE_Q,
                                    ZS_TYPE_HF, ZS_TYPE_UV, ZS_TYPE_V,  ZS_TYPE_VF, 0};
    return types[type];
}

static unsigned iga_file(const struct zs_gen9_operand *op)
{
    static const uint8_t files[16] = {
        [0] = ZS_FILE_NULL, [1] = ZS_FILE_A,   [2] = ZS_FILE_ACC,  [3] = ZS_FILE_F,
        [4] = ZS_FILE_CE,   [5] = ZS_FILE_MSG, [6] = ZS_FILE_SP,   [7] = ZS_FILE_SR,
        [8] = ZS_FILE_CR,   [9] = ZS_FILE_N,   [10] = ZS_FILE_IP,  [11] = ZS_FILE_TDR,
        [12] = ZS_FILE_TM,  [13] = ZS_FILE_FC, [15] = ZS_FILE_DBG,
    };
    return op->file == ZS_GEN9_FILE_GRF ? (unsigned)ZS_FILE_GRF : files[op->reg >> 4];
}

static void compare_register(const struct zs_gen9_inst *a, const struct zs_gen9_operand *x,
                             const struct zs_isa_operand *y)
{
    if (x->indirect) {
        SAME("kind", ZS_OPERAND_INDIRECT, y->kind);
        SAME("address offset", x->indirect_B, y->offset_B);
        SAME("address register", x->a0_subreg, y->subreg);
        return;
    }
    SAME("file", iga_file(x), y->file);
    if (y->file == ZS_FILE_NULL)
        return;
    SAME("register", x->file == ZS_GEN9_FILE_GRF ? x->reg : x->reg & 15, y->reg);
    if (y->kind != ZS_OPERAND_MACRO && zs_isa_type_bits((enum zs_isa_type)y->type))
        SAME("subregister", x->subreg_B * 8u / zs_isa_type_bits((enum zs_isa_type)y->type),
             y->subreg);
}

static void compare_operand(const struct zs_gen9_inst *a, const struct zs_gen9_operand *x,
                            const struct zs_isa_operand *y, bool is_dst)
{
    bool ternary = a->format == ZS_GEN9_FORMAT_TERNARY;

    if (y->kind == ZS_OPERAND_IMM) {
        SAME("file", x->file, ZS_GEN9_FILE_IMM);
        SAME("immediate", x->imm, y->imm);
    } else {
        compare_register(a, x, y);
    }
    SAME("type", iga_type(x->type), y->type);
    if (y->kind == ZS_OPERAND_IMM)
        return;
    if (is_dst) {
        SAME("saturation", a->saturate, (y->modifiers & ZS_MOD_SAT) != 0);
        if (!ternary && y->hstride != ZS_REGION_NONE)
            SAME("hstride", x->hstride, y->hstride);
        return;
    }
    SAME("abs", x->abs, (y->modifiers & ZS_MOD_ABS) != 0);
    SAME("neg", x->neg, (y->modifiers & ZS_MOD_NEG) != 0);
    if (y->kind == ZS_OPERAND_MACRO || y->file == ZS_FILE_NULL)
        return;
    if (ternary) {
        if (a->exec_size > 1 && y->hstride != ZS_REGION_NONE)
            SAME("hstride", x->hstride, y->hstride);
        return;
    }
    if (y->vstride != ZS_REGION_NONE)
        SAME("vstride", x->vstride == ZS_GEN9_VSTRIDE_VXH ? ZS_REGION_VXH : x->vstride, y->vstride);
    if (y->width != ZS_REGION_NONE)
        SAME("width", x->width, y->width);
    if (y->hstride != ZS_REGION_NONE)
        SAME("hstride", x->hstride, y->hstride);
}

static void compare_send(const struct zs_gen9_inst *a, const struct zs_isa_inst *b,
                         const struct zs_isa_message *m)
{
    SAME("sfid", a->function, m->sfid);
    SAME("descriptor in register", a->desc_is_reg, (m->flags & ZS_MSGF_DESC_REG) != 0);
    SAME("extended descriptor in register", a->ex_desc_is_reg,
         (m->flags & ZS_MSGF_EXDESC_REG) != 0);
    SAME("end of thread", a->eot, (b->flags & ZS_INST_EOT) != 0);
    SAME("descriptor", a->desc, m->desc);
    if (!a->ex_desc_is_reg)
        SAME("extended descriptor", a->ex_desc, m->exdesc);
    if (!a->desc_is_reg) {
        SAME("message length", a->mlen, m->mlen);
        SAME("response length", a->rlen, m->rlen);
    }
    if (!a->ex_desc_is_reg)
        SAME("extended length", a->xlen, m->xlen);
    SAME("destination file", a->dst.file != 0, b->dst.file == ZS_FILE_GRF);
    if (b->dst.file == ZS_FILE_GRF)
        SAME("destination", a->dst.reg, b->dst.reg);
    SAME("payload", a->src[0].reg, b->src[0].reg);
    if (a->src_count > 1 && b->src[1].file == ZS_FILE_GRF)
        SAME("second payload", a->src[1].reg, b->src[1].reg);
}

static void compare_branch(const struct zs_gen9_inst *a, const struct zs_isa_inst *b)
{
    int64_t from = a->format == ZS_GEN9_FORMAT_JUMP ? a->offset_B + a->size_B : a->offset_B;

    SAME("branch control", a->branch_control, (b->flags & ZS_INST_BRANCH_CTRL) != 0);
    if (b->jip_B != ZS_ISA_NO_INDEX)
        SAME("JIP", from + a->jip_B, b->jip_B);
    if (b->uip_B != ZS_ISA_NO_INDEX)
        SAME("UIP", from + a->uip_B, b->uip_B);
    if (a->format == ZS_GEN9_FORMAT_CALL && b->dst.file == ZS_FILE_GRF)
        SAME("link register", a->dst.reg, b->dst.reg);
}

static void compare_inst(const struct zs_gen9_inst *a, const struct zs_isa_inst *b,
                         const struct zs_isa_message *m)
{
    compared++;
    if (b->flags & ZS_INST_ILLEGAL || a->opcode == ZS_GEN9_ILLEGAL)
        return;
    if (a->error)
        differ(a, a->error, 1, 0);
    SAME("size", a->size_B, b->size_B);
    if (strcmp(a->mnemonic, zs_isa_op_mnemonic((enum zs_isa_op)b->op)))
        differ(a, zs_isa_op_mnemonic((enum zs_isa_op)b->op), 0, 1);
    if (a->format == ZS_GEN9_FORMAT_NOP)
        return;
    SAME("execution size", a->exec_size, b->exec_size);
    SAME("channel offset", a->chan_offset, b->channel_offset);
    SAME("NoMask", a->no_mask, (b->flags & ZS_INST_NOMASK) != 0);
    SAME("predicate", a->pred, b->pred);
    if (a->pred)
        SAME("inverse", a->pred_inverse, (b->flags & ZS_INST_PRED_INVERSE) != 0);
    if (!a->macro)
        SAME("conditional modifier", a->cond, b->cond);
    if (a->pred || a->cond) {
        SAME("flag register", a->flag_reg, b->flag_reg);
        SAME("flag subregister", a->flag_subreg, b->flag_subreg);
    }
    SAME("breakpoint", a->breakpoint, (b->flags & ZS_INST_BREAKPOINT) != 0);
    if (m) {
        compare_send(a, b, m);
        return;
    }
    if (a->format >= ZS_GEN9_FORMAT_JUMP && a->format <= ZS_GEN9_FORMAT_CALL) {
        compare_branch(a, b);
        return;
    }
    SAME("AccWrEn", a->acc_write, (b->flags & ZS_INST_ACCWREN) != 0);
    if (a->opcode != ZS_GEN9_WAIT && a->opcode != ZS_GEN9_RET)
        compare_operand(a, &a->dst, &b->dst, true);
    for (unsigned i = 0; i < a->src_count && i < b->source_count; i++)
        compare_operand(a, &a->src[i], &b->src[i], false);
}

static int compare_code(struct zs_span code)
{
    struct zs_isa_kernel *k;
    struct zs_diag diag = {0};
    struct zs_gen9_inst inst;
    uint32_t i = 0;

    if (zs_isa_kernel_open(ZS_ISA_GEN9, code, NULL, &k, &diag) ||
        zs_isa_kernel_decode(k, ZS_ISA_INSTS, &diag)) {
        printf("libiga64: %s\n", diag.text);
        return 1;
    }
    for (uint32_t at = 0; zs_gen9_decode(code, at, &inst); at += inst.size_B, i++) {
        if (i >= zs_isa_kernel_count(k)) {
            differ(&inst, "more instructions", i, zs_isa_kernel_count(k));
            break;
        }
        compare_inst(&inst, zs_isa_inst(k, i), zs_isa_inst_message(k, i));
    }
    zs_isa_kernel_close(k);
    return 0;
}

/* Everything that IGC emits is modelled, but for the macros' steps, which no lane executes. */
static int lower_code(struct zs_span code, const char *name)
{
    struct zs_eu_program *program;
    struct zs_eu_inst_info info;
    struct zs_diag diag = {0};
    int failed = 0;

    if (zs_eu_lower(&(struct zs_eu_lower_params){.code = code, .simd = 32}, &program, &diag)) {
        printf("%s: %s\n", name, diag.text);
        return 1;
    }
    for (uint32_t i = 0; zs_eu_program_inst(program, i, &info); i++) {
        if (info.modelled || strcmp(info.mnemonic, "madm") == 0)
            continue;
        printf("%s: 0x%x: %s is not modelled (%016llx %016llx)\n", name, info.offset_B,
               info.mnemonic, (unsigned long long)info.raw[0], (unsigned long long)info.raw[1]);
        failed = 1;
    }
    zs_eu_program_destroy(program);
    return failed;
}

static int compare_random(unsigned long count)
{
    enum { BATCH = 500 };
    static uint64_t words[BATCH][2];
    struct random random = {42};
    struct zs_gen9_inst inst;
    int failed = 0;

    for (unsigned long done = 0; done < count && !failed; done += BATCH) {
        for (unsigned i = 0; i < BATCH; i++) {
            random_inst(&random, ~0u, &inst);
            encode(&inst, words[i]);
        }
        failed = compare_code(zs_span_make(words, sizeof(words)));
    }
    return failed;
}

int main(int argc, char **argv)
{
    int failed = 0;

    if (argc > 2 && strcmp(argv[1], "--random") == 0)
        failed = compare_random(strtoul(argv[2], NULL, 0));
    else
        for (int i = 1; i < argc && !failed; i++) {
            struct zs_file file;
            struct zs_diag diag = {0};
            failed = zs_file_read(argv[i], 0, &file, &diag);
            if (failed) {
                printf("%s\n", diag.text);
                break;
            }
            failed = compare_code(file.span) || lower_code(file.span, argv[i]);
            zs_file_close(&file);
        }
    printf("%lu instructions compared, %lu differences\n", compared, differences);
    return failed || differences > 0;
}
