/* SPDX-License-Identifier: MIT */
#include "isa/register_use.h"

#include "base/compiler.h"
#include "isa/isa_priv.h"
#include "isa/table.h"
#include "isa/xe.h"

enum { GRFS_MAX = 64 * ZS_ISA_GRF_WORDS };

static void set_grf(uint64_t bits[ZS_ISA_GRF_WORDS], uint32_t reg)
{
    bits[reg / 64] |= UINT64_C(1) << reg % 64;
}

/* Branches whose targets the code does not tell. */
static bool leaves_the_code(const struct zs_isa_kernel *k, uint32_t i)
{
    const struct zs_isa_inst *inst = zs_isa_inst(k, i);
    struct zs_isa_table table;
    if (!(zs_isa_op_flags((enum zs_isa_op)inst->op) & ZS_OPF_BRANCH) || inst->op == ZS_OP_RET)
        return false;
    for (uint32_t s = 0; s < inst->source_count; s++)
        if (inst->src[s].kind == ZS_OPERAND_REG || inst->src[s].kind == ZS_OPERAND_INDIRECT)
            return inst->src[s].file != ZS_FILE_NULL && !zs_isa_table_find(k, i, &table);
    return inst->op == ZS_OP_CALLA;
}

/* Registers that an instruction reads without regard to which lanes are on. */
static void add_read_across(const struct zs_isa_kernel *k, uint32_t i,
                            const struct zs_isa_effects *e, uint64_t across[ZS_ISA_GRF_WORDS])
{
    const struct zs_isa_inst *inst = zs_isa_inst(k, i);
    const struct zs_isa_message *m = zs_isa_inst_message(k, i);
    bool all = inst->flags & ZS_INST_NOMASK ||
               (m && (m->kind == ZS_MSG_UNKNOWN || m->flags & (ZS_MSGF_BLOCK | ZS_MSGF_HEADER)));
    for (uint32_t w = 0; w < ZS_ISA_GRF_WORDS && all; w++)
        across[w] |= e->grf_read[w];
    for (uint32_t s = 0; s < inst->source_count && !all; s++) {
        const struct zs_isa_operand *o = &inst->src[s];
        if (o->kind == ZS_OPERAND_REG && o->file == ZS_FILE_GRF && !o->vstride && o->reg < GRFS_MAX)
            set_grf(across, o->reg);
    }
}

/* Messages whose lengths come from registers: as long as they can be. */
static bool add_unknown_lengths(const struct zs_isa_kernel *k, const struct zs_isa_inst *inst,
                                uint64_t touched[ZS_ISA_GRF_WORDS])
{
    enum { RESPONSE_MAX = 32, PAYLOAD_MAX = 15 };
    bool by_desc = inst->flags & ZS_INST_DESC_REG || zs_isa_response_is_unknown(inst);
    bool by_exdesc = inst->flags & ZS_INST_EXDESC_REG && !zs_xe_has_second_length(k->model, inst);
    const struct {
        const struct zs_isa_operand *operand;
        uint32_t length;
        bool unknown;
    } rows[] = {{&inst->dst, RESPONSE_MAX, by_desc},
                {&inst->src[0], PAYLOAD_MAX, by_desc && !inst->src[0].grf_count},
                {&inst->src[1], PAYLOAD_MAX, by_exdesc}};
    for (uint32_t n = 0; n < ZS_ARRAY_LEN(rows); n++) {
        const struct zs_isa_operand *o = rows[n].operand;
        bool counts = rows[n].unknown && o->kind == ZS_OPERAND_REG && o->file == ZS_FILE_GRF;
        for (uint32_t i = 0; counts && i < rows[n].length; i++)
            if (o->reg + i < GRFS_MAX)
                set_grf(touched, o->reg + i);
    }
    return by_desc || by_exdesc;
}

/* The first one is told; who leaves liveness alone unknown only where nobody does worse. */
static void note_unknown(struct zs_isa_register_use *t, const struct zs_isa_inst *inst,
                         bool was_known, const char *why)
{
    if (t->unknown_why && t->known == was_known)
        return;
    t->unknown_why = why;
    t->unknown_at_B = inst->offset_B;
}

static void note_inst(const struct zs_isa_kernel *k, uint32_t i, struct zs_isa_register_use *t,
                      uint64_t masked[ZS_ISA_GRF_WORDS], uint64_t across[ZS_ISA_GRF_WORDS])
{
    const struct zs_isa_inst *inst = zs_isa_inst(k, i);
    struct zs_isa_effects e;
    bool was_known = t->known;
    zs_isa_inst_effects(k, i, &e);
    for (uint32_t f = 0; f < 4; f++)
        t->flags[f] |= e.flags_read[f] | e.flags_written[f];
    for (uint32_t w = 0; w < ZS_ISA_GRF_WORDS; w++) {
        t->grf[w] |= e.grf_read[w] | e.grf_written[w];
        masked[w] |= inst->flags & ZS_INST_NOMASK ? 0 : e.grf_written[w];
    }
    t->address |= e.address_read | e.address_written;
    t->acc |= e.acc_read | e.acc_written;
    bool leaves = leaves_the_code(k, i), unknown_length = add_unknown_lengths(k, inst, t->grf);
    if (leaves)
        t->closed = false;
    if (e.indirect_written || !t->closed)
        t->known = false;
    if (e.indirect_written)
        t->writes_known = false;
    if (unknown_length || e.indirect_written || e.indirect_read)
        t->live_known = false;
    if (leaves || unknown_length || e.indirect_written || e.indirect_read)
        note_unknown(t, inst, was_known,
                     leaves               ? "runs code that is not its own"
                     : e.indirect_written ? "writes registers that a0 chooses"
                     : e.indirect_read    ? "reads registers that a0 chooses"
                                          : "has a message's length in a register");
    add_read_across(k, i, &e, across);
}

void zs_isa_kernel_register_use(const struct zs_isa_kernel *kernel, uint32_t payload_grfs,
                                struct zs_isa_register_use *ret)
{
    uint64_t masked[ZS_ISA_GRF_WORDS] = {0}, across[ZS_ISA_GRF_WORDS] = {0};
    *ret = (struct zs_isa_register_use){
        .known = true, .closed = true, .writes_known = true, .live_known = true};
    if (kernel->edges_missing) {
        ret->live_known = false;
        ret->unknown_why = "is called from too many places, with too many returns,";
    }
    for (uint32_t i = 0; i < zs_isa_kernel_count(kernel); i++)
        note_inst(kernel, i, ret, masked, across);
    /* what is read indirectly was written by somebody, or came with the thread */
    for (uint32_t reg = 0; !ret->live_known && reg < ZS_MIN(payload_grfs, (uint32_t)GRFS_MAX);
         reg++)
        set_grf(ret->grf, reg);
    for (uint32_t w = 0; w < ZS_ISA_GRF_WORDS; w++)
        ret->shared_grf[w] = masked[w] & across[w];
}
