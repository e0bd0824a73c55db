/* SPDX-License-Identifier: MIT */
#include "metrics/profile_priv.h"

#include <errno.h>
#include <math.h>

static const struct work {
    uint8_t flops, int_ops;
} works[ZS_OP_COUNT] = {
#define WORK(op, float_operations, integer_operations)                                             \
    [ZS_OP_##op] = {float_operations, integer_operations},
#include "metrics/work.def"
#undef WORK
};

static enum zs_precision precision_of_type(uint8_t type)
{
    switch (type) {
    case ZS_TYPE_HF:
    case ZS_TYPE_BF:
    case ZS_TYPE_HF8:
    case ZS_TYPE_BF8:
        return ZS_HALF;
    case ZS_TYPE_F:
    case ZS_TYPE_VF:
    case ZS_TYPE_TF32:
        return ZS_SINGLE;
    case ZS_TYPE_DF:
        return ZS_DOUBLE;
    default:
        return ZS_NOT_FLOAT;
    }
}

/* That of the widest operand. */
static enum zs_precision precision_of(const struct zs_isa_inst *inst)
{
    enum zs_precision widest = ZS_NOT_FLOAT;
    for (uint32_t s = 0; s < inst->source_count; s++) {
        enum zs_precision p = precision_of_type(inst->src[s].type);
        widest = p > widest ? p : widest;
    }
    return widest;
}

static enum zs_space space_of(const struct zs_isa_message *m)
{
    bool moves = m->kind == ZS_MSG_LOAD || m->kind == ZS_MSG_STORE || m->kind == ZS_MSG_ATOMIC;
    if (m->kind == ZS_MSG_SAMPLE || (moves && (m->flags & ZS_MSGF_TYPED)))
        return ZS_SPACE_PICTURE;
    if (!moves)
        return ZS_SPACE_NO_MEMORY;
    return m->surface == ZS_SURFACE_SLM       ? ZS_SPACE_SLM
           : m->surface == ZS_SURFACE_SCRATCH ? ZS_SPACE_SCRATCH_BLOCK
                                              : ZS_SPACE_BUFFER;
}

/* At the rate of single precision; the extended math unit is four times slower. */
static float issue_cycles(const struct zs_isa_inst *inst, const struct zs_inst_profile *p,
                          const struct zs_peaks *peaks, uint32_t simd_width)
{
    uint32_t flags = zs_isa_op_flags((enum zs_isa_op)inst->op);
    double cycles = (double)inst->exec_size / simd_width;
    uint32_t bits = zs_isa_type_bits((enum zs_isa_type)inst->dst.type);
    if (flags & (ZS_OPF_SEND | ZS_OPF_BRANCH | ZS_OPF_SYNC))
        return 1;
    if (flags & ZS_OPF_MATH)
        cycles *= 4;
    else if (p->precision != ZS_NOT_FLOAT && peaks->known && !isnan(peaks->flop_rate[p->precision]))
        cycles *= peaks->flop_rate[ZS_SINGLE] / peaks->flop_rate[p->precision];
    else if (bits > 32)
        cycles *= bits / 32.0;
    return (float)(cycles < 1 ? 1 : cycles);
}

/* dpas: each lane multiplies and adds the elements of as many dwords as it is deep, for each row.
 */
static void classify_matrix(const struct zs_isa_inst *inst, const struct zs_peaks *peaks,
                            uint32_t simd_width, struct zs_inst_profile *p)
{
    uint32_t depth = inst->subfunction >> 4, rows = inst->subfunction & 15, bits = 0;
    for (uint32_t s = 1; s < inst->source_count; s++)
        bits = ZS_MAX(bits, zs_isa_type_bits((enum zs_isa_type)inst->src[s].type));
    uint32_t elements = 32 / ZS_MAX(bits, 4u);
    float operations = (float)(2 * depth * rows * elements);
    p->matrix_type = inst->src[1].type;
    p->matrix_elements = (uint8_t)elements;
    p->precision = (uint8_t)precision_of_type(inst->src[1].type);
    *(p->precision == ZS_NOT_FLOAT ? &p->int_ops : &p->flops) = operations;
    if (peaks->known && !isnan(peaks->matrix_rate))
        p->issue_cycles = (float)(operations * inst->exec_size * peaks->clock_GHz * peaks->eus /
                                  (peaks->matrix_rate * elements));
    else
        p->issue_cycles = (float)rows * inst->exec_size / (float)simd_width;
}

static void classify(const struct zs_isa_kernel *isa, uint32_t i, const struct zs_profile *profile,
                     uint32_t simd_width, struct zs_inst_profile *p)
{
    const struct zs_isa_inst *inst = zs_isa_inst(isa, i);
    const struct zs_isa_message *message = zs_isa_inst_message(isa, i);
    const struct work work = inst->op < ZS_OP_COUNT ? works[inst->op] : (struct work){0};
    uint32_t flags = zs_isa_op_flags((enum zs_isa_op)inst->op);
    *p = (struct zs_inst_profile){
        .executions = NAN,
        .lanes = NAN,
        .read_B = NAN,
        .written_B = NAN,
        .space = (uint8_t)(message ? space_of(message) : ZS_SPACE_NO_MEMORY),
        .precision = (uint8_t)precision_of(inst),
        .is_masked = !(inst->flags & ZS_INST_NOMASK) && inst->exec_size > 1,
        .is_math = flags & ZS_OPF_MATH,
    };
    if (flags & ZS_OPF_DPAS) {
        classify_matrix(inst, &profile->peaks, simd_width, p);
        return;
    }
    if (p->precision == ZS_NOT_FLOAT)
        p->int_ops = work.int_ops;
    else
        p->flops = work.flops;
    if (!work.flops && !work.int_ops)
        p->precision = ZS_NOT_FLOAT;
    p->issue_cycles = issue_cycles(inst, p, &profile->peaks, simd_width);
}

int profile_classify(struct zs_arena *arena, struct zs_profile *profile)
{
    const struct zs_isa_kernel *isa = profile->code->isa;
    /* without the device's own width: as wide as most are */
    uint32_t simd_width = zs_isa_platform_info(zs_isa_kernel_platform(isa))->grf_B / 4;
    profile->inst_count = zs_isa_kernel_count(isa);
    profile->insts = ZS_ARENA_ARRAY(arena, profile->inst_count, struct zs_inst_profile);
    if (!profile->insts)
        return -ENOMEM;
    for (uint32_t i = 0; i < profile->inst_count; i++)
        classify(isa, i, profile, simd_width, &profile->insts[i]);
    return 0;
}
