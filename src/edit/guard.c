/* SPDX-License-Identifier: MIT */
/*
 * Callers' code on an edge that threads of fused EUs cannot jump to (jump.c): each instruction gets
 * a predicate, of a flag register that the code leaves alone. While it runs all bits of that are
 * set, or none. What cannot have one is refused by name: branches, what has a predicate or asks a
 * flag already, selections, which write by one or the other source.
 */
#include "edit/edit_priv.h"

#include <errno.h>

enum { FLAGS = 2 /* registers, of these instruction sets */ };

static int refuse(struct zs_diag *diag, const struct zs_isa_inst *inst, const char *why)
{
    return zs_diag_set(diag, -ENOTSUP, inst->offset_B,
                       "%s cannot be put where threads jump, on fused EUs: %s",
                       zs_isa_op_mnemonic((enum zs_isa_op)inst->op), why);
}

/* Harmless for everybody. */
static bool does_nothing(const struct zs_isa_inst *inst)
{
    return inst->op == ZS_OP_NOP || inst->op == ZS_OP_SYNC;
}

static const char *why_not(const struct zs_isa_inst *inst)
{
    static const bool chooses[ZS_OP_COUNT] = {
        [ZS_OP_SEL] = true, [ZS_OP_CSEL] = true, [ZS_OP_DPAS] = true, [ZS_OP_DPASW] = true};
    if (inst->flags & ZS_INST_ILLEGAL)
        return "it is no instruction";
    if (zs_isa_op_flags((enum zs_isa_op)inst->op) & ZS_OPF_BRANCH || inst->flags & ZS_INST_EOT)
        return "the other thread of a pair would go along";
    if (inst->pred || inst->cond)
        return "it has a flag of its own";
    return chooses[inst->op] ? "a predicate means something else to it" : NULL;
}

static int put_guarded(struct zs_edit_kernel *k, const struct zs_isa_inst *inst, uint8_t flag,
                       struct zs_buf *out, struct zs_diag *diag)
{
    struct zs_isa_inst guarded = *inst;
    uint8_t bytes[16];
    guarded.pred = ZS_PRED_SEQ;
    guarded.flag_reg = flag;
    guarded.flag_subreg = 0;
    guarded.flags &= ~(uint32_t)(ZS_INST_COMPACTED | ZS_INST_PRED_INVERSE);
    guarded.size_B = sizeof(bytes);
    if (zs_isa_encode_one(k->edit->platform, &guarded, bytes, NULL) != (int)sizeof(bytes))
        return refuse(diag, inst, "it takes no predicate");
    zs_buf_append(out, bytes, sizeof(bytes));
    return out->error;
}

static int guard_all(struct zs_edit_kernel *k, const struct zs_isa_kernel *code, uint8_t *ret_flag,
                     struct zs_buf *out, struct zs_diag *diag)
{
    struct zs_isa_effects e;
    uint64_t touched[4] = {0};
    uint32_t used = 0, count = zs_isa_kernel_count(code);
    int error = 0;
    for (uint32_t i = 0; i < count; i++) {
        zs_isa_inst_effects(code, i, &e);
        for (uint32_t f = 0; f < FLAGS; f++)
            used |= e.flags_read[f] | e.flags_written[f] ? 1u << f : 0;
        for (uint32_t w = 0; w < 4; w++)
            touched[w] |= e.grf_read[w] | e.grf_written[w];
        if (e.indirect_read || e.indirect_written)
            return refuse(diag, zs_isa_inst(code, i), "a0 chooses its registers");
    }
    *ret_flag = used & 1 ? 1 : 0;
    if (used == (1u << FLAGS) - 1)
        return zs_diag_set(diag, -ENOTSUP, ZS_DIAG_NO_OFFSET,
                           "code where threads jump, on fused EUs, must leave a flag register");
    for (uint32_t i = 0; i < count && !error; i++) {
        const struct zs_isa_inst *inst = zs_isa_inst(code, i);
        const char *why = does_nothing(inst) ? NULL : why_not(inst);
        if (why)
            error = refuse(diag, inst, why);
        else if (does_nothing(inst))
            zs_buf_append(out, (const uint8_t *)inst->raw, inst->size_B);
        else
            error = put_guarded(k, inst, *ret_flag, out, diag);
    }
    for (uint32_t w = 0; w < 4 && !error; w++)
        k->guarded_grf[w] |= touched[w];
    return error ? error : out->error;
}

int zs_guard_make(struct zs_edit_kernel *k, struct zs_span bytes, uint8_t *ret_flag,
                  struct zs_buf *out, struct zs_diag *diag)
{
    struct zs_isa_options options = {.size_B = sizeof(options), .grf_count = k->info->grf_count};
    struct zs_isa_kernel *code;
    int error = zs_isa_kernel_open(k->edit->platform, bytes, &options, &code, diag);
    if (error)
        return error;
    error = zs_isa_kernel_decode(code, ZS_ISA_INSTS, diag);
    if (!error)
        error = guard_all(k, code, ret_flag, out, diag);
    zs_isa_kernel_close(code);
    return error;
}
