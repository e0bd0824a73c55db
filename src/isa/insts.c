/* SPDX-License-Identifier: MIT */
/*
 * Instructions as structures, read through libiga64's kernel view.
 *
 * A batch of distinct instructions stands behind each other in one buffer. A branch's targets come
 * back relative to its place in that buffer, whatever lies there, and are kept relative.
 */
#include "isa/iga_abi.h"
#include "isa/isa_priv.h"

#include <errno.h>
#include <stdlib.h>

/* What kv_get_source_region returns where a part is not encoded, and for the VxH mode. */
enum { IGA_VT_INVALID = 63, IGA_WI_INVALID = 31, IGA_HZ_INVALID = 15, IGA_VT_VXH = 31 };

struct view {
    const struct kv_t *kv;
    int32_t pc;
};

static uint8_t region_part(uint32_t value, uint32_t invalid)
{
    return value == invalid || value > 32 ? (uint8_t)ZS_REGION_NONE : (uint8_t)value;
}

static uint8_t clamp_u8(int32_t value)
{
    return value < 0 || value > 255 ? 0 : (uint8_t)value;
}

static uint8_t file_of(uint32_t name)
{
    return name <= ZS_FILE_GRF ? (uint8_t)name : (uint8_t)ZS_FILE_NONE;
}

static uint8_t type_of(uint32_t type)
{
    return type < ZS_TYPE_COUNT ? (uint8_t)type : (uint8_t)ZS_TYPE_NONE;
}

static uint8_t mme_of(int32_t status, int16_t mme)
{
    return status == 0 && mme >= 0 && mme <= ZS_MME_NONE ? (uint8_t)mme : (uint8_t)ZS_MME_NONE;
}

static void read_dst(struct view v, struct zs_isa_operand *dst)
{
    uint32_t kind = kv_get_destination_register_kind(v.kv, v.pc);
    int16_t number = 0;
    dst->file = file_of(kv_get_destination_register_type(v.kv, v.pc));
    dst->type = type_of(kv_get_destination_data_type(v.kv, v.pc));
    dst->vstride = dst->width = dst->hstride = ZS_REGION_NONE;
    dst->mme = ZS_MME_NONE;
    if (kind != IGA_KIND_DIRECT && kind != IGA_KIND_MACRO && kind != IGA_KIND_INDIRECT)
        return;
    dst->kind = kind == IGA_KIND_DIRECT  ? ZS_OPERAND_REG
                : kind == IGA_KIND_MACRO ? ZS_OPERAND_MACRO
                                         : ZS_OPERAND_INDIRECT;
    dst->subreg = clamp_u8(kv_get_destination_sub_register(v.kv, v.pc));
    if (kind == IGA_KIND_INDIRECT) {
        dst->file = ZS_FILE_GRF;
        if (kv_get_destination_indirect_imm_off(v.kv, v.pc, &number) == 0)
            dst->offset_B = number;
    } else {
        dst->reg = clamp_u8(kv_get_destination_register(v.kv, v.pc));
        dst->mme = mme_of(kv_get_destination_mme_number(v.kv, v.pc, &number), number);
    }
    uint32_t hz = IGA_HZ_INVALID;
    if (kv_get_destination_region(v.kv, v.pc, &hz) == 0)
        dst->hstride = region_part(hz, IGA_HZ_INVALID);
    if (kv_get_destination_modifier(v.kv, v.pc) == 1)
        dst->modifiers |= ZS_MOD_SAT;
}

static void read_register(struct view v, uint32_t s, uint32_t kind, struct zs_isa_operand *src)
{
    int16_t number = 0;
    src->kind = kind == IGA_KIND_DIRECT  ? ZS_OPERAND_REG
                : kind == IGA_KIND_MACRO ? ZS_OPERAND_MACRO
                                         : ZS_OPERAND_INDIRECT;
    src->subreg = clamp_u8(kv_get_source_sub_register(v.kv, v.pc, s));
    if (kind == IGA_KIND_INDIRECT) {
        src->file = ZS_FILE_GRF;
        if (kv_get_source_indirect_imm_off(v.kv, v.pc, s, &number) == 0)
            src->offset_B = number;
    } else {
        src->file = file_of(kv_get_source_register_type(v.kv, v.pc, s));
        src->reg = clamp_u8(kv_get_source_register(v.kv, v.pc, s));
        src->mme = mme_of(kv_get_source_mme_number(v.kv, v.pc, s, &number), number);
    }
    uint32_t vt = IGA_VT_INVALID, wi = IGA_WI_INVALID, hz = IGA_HZ_INVALID;
    if (kv_get_source_region(v.kv, v.pc, s, &vt, &wi, &hz) == 0) {
        src->vstride = vt == IGA_VT_VXH ? (uint8_t)ZS_REGION_VXH : region_part(vt, IGA_VT_INVALID);
        src->width = region_part(wi, IGA_WI_INVALID);
        src->hstride = region_part(hz, IGA_HZ_INVALID);
    }
    uint32_t modifier = kv_get_source_modifier(v.kv, v.pc, s);
    if (modifier <= 3) /* iga::SrcModifier: 1 abs, 2 neg, 3 both */
        src->modifiers = (uint8_t)modifier;
}

static void read_src(struct view v, uint32_t s, struct zs_isa_operand *src)
{
    uint32_t kind = kv_get_source_register_kind(v.kv, v.pc, s);
    src->type = type_of(kv_get_source_data_type(v.kv, v.pc, s));
    src->vstride = src->width = src->hstride = ZS_REGION_NONE;
    src->mme = ZS_MME_NONE;
    if (kind == IGA_KIND_IMMEDIATE) {
        src->kind = ZS_OPERAND_IMM;
        kv_get_source_immediate(v.kv, v.pc, s, &src->imm);
        uint32_t bits = zs_isa_type_bits((enum zs_isa_type)src->type);
        if (bits && bits < 64)
            src->imm &= (UINT64_C(1) << bits) - 1;
    } else if (kind == IGA_KIND_LABEL) {
        src->kind = ZS_OPERAND_LABEL;
    } else if (kind >= IGA_KIND_DIRECT && kind <= IGA_KIND_INDIRECT) {
        read_register(v, s, kind, src);
    }
}

static const struct {
    uint32_t option;
    uint16_t flag;
} option_flags[] = {
    {IGA_INSTOPT_ACCWREN, ZS_INST_ACCWREN},       {IGA_INSTOPT_ATOMIC, ZS_INST_ATOMIC},
    {IGA_INSTOPT_BREAKPOINT, ZS_INST_BREAKPOINT}, {IGA_INSTOPT_EOT, ZS_INST_EOT},
    {IGA_INSTOPT_SWITCH, ZS_INST_SWITCH},
};

static void read_controls(struct view v, struct zs_isa_inst *inst)
{
    inst->exec_size = (uint8_t)ZS_MIN(kv_get_execution_size(v.kv, v.pc), 32u);
    inst->channel_offset = (uint8_t)(ZS_MIN(kv_get_channel_offset(v.kv, v.pc), 7u) * 4);
    uint32_t predicate = kv_get_predicate(v.kv, v.pc);
    uint32_t condition = kv_get_flag_modifier(v.kv, v.pc);
    inst->pred = predicate <= ZS_PRED_ALL ? (uint8_t)predicate : (uint8_t)ZS_PRED_NONE;
    inst->cond = (uint8_t)condition;
    inst->flag_reg = clamp_u8(kv_get_flag_register(v.kv, v.pc));
    inst->flag_subreg = clamp_u8(kv_get_flag_sub_register(v.kv, v.pc));
    uint32_t flags = inst->flags;
    if (kv_get_mask_control(v.kv, v.pc) == 1)
        flags |= ZS_INST_NOMASK;
    if (inst->pred && kv_get_is_inverse_predicate(v.kv, v.pc))
        flags |= ZS_INST_PRED_INVERSE;
    for (uint32_t i = 0; i < ZS_ARRAY_LEN(option_flags); i++)
        if (kv_has_inst_opt(v.kv, v.pc, option_flags[i].option))
            flags |= option_flags[i].flag;
    if (kv_get_has_destination(v.kv, v.pc) == 1)
        flags |= ZS_INST_HAS_DST;
    inst->flags = flags;
}

static void read_subfunction(struct view v, struct zs_isa_inst *inst)
{
    uint32_t value = 0;
    uint32_t op_flags = zs_isa_op_flags((enum zs_isa_op)inst->op);
    if (op_flags & ZS_OPF_SEND || kv_get_subfunction(v.kv, v.pc, &value) != KV_SUCCESS)
        return;
    if (op_flags & ZS_OPF_BRANCH) {
        if (value == 1)
            inst->flags |= ZS_INST_BRANCH_CTRL;
    } else if (op_flags & ZS_OPF_DPAS) {
        inst->subfunction = (uint8_t)((value >> 8 & 0xf) << 4 | (value & 0xf));
    } else {
        inst->subfunction = (uint8_t)value;
    }
}

static uint8_t length_of(uint32_t length)
{
    return length > 63 ? (uint8_t)ZS_LENGTH_UNKNOWN : (uint8_t)length;
}

/* libiga64 gives no value for a descriptor that comes from a register. */
static void read_send(struct view v, enum zs_isa_platform platform, struct zs_isa_template *t)
{
    enum { INVALID = 0xffffffff };
    struct zs_isa_message *m = &t->message;
    uint32_t desc = INVALID, exdesc = INVALID, mlen = INVALID, xlen = INVALID, rlen = INVALID;
    kv_get_send_descs(v.kv, v.pc, &exdesc, &desc);
    kv_get_message_len(v.kv, v.pc, &mlen, &xlen, &rlen);
    int32_t sfid = -1;
    bool known = kv_get_message_sfid(v.kv, v.pc, &sfid) == KV_SUCCESS;
    m->sfid = known && sfid >= 0 && sfid < ZS_SFID_COUNT ? (uint8_t)sfid : ZS_SFID_REGISTER;
    m->desc = desc == INVALID ? 0 : desc;
    m->exdesc = exdesc == INVALID ? 0 : exdesc;
    uint32_t flags = desc == INVALID ? ZS_MSGF_DESC_REG : 0;
    flags |= exdesc == INVALID ? ZS_MSGF_EXDESC_REG : 0;
    flags |= t->inst.flags & ZS_INST_EOT ? ZS_MSGF_EOT : 0;
    m->flags = (uint16_t)flags;
    m->mlen = length_of(mlen);
    m->xlen = length_of(xlen);
    m->rlen = length_of(rlen);
    t->inst.message = 0;
    zs_isa_decode_message(platform, &t->inst, m);
    struct zs_isa_inst *inst = &t->inst;
    inst->dst.grf_count =
        inst->dst.file == ZS_FILE_GRF && m->rlen != ZS_LENGTH_UNKNOWN ? m->rlen : 0;
    inst->src[0].grf_count = m->mlen == ZS_LENGTH_UNKNOWN ? 1 : m->mlen;
    if (inst->source_count > 1)
        inst->src[1].grf_count = m->xlen == ZS_LENGTH_UNKNOWN ? 1 : m->xlen;
}

static uint8_t grfs_of(uint32_t size_B, uint32_t grf_B)
{
    return (uint8_t)ZS_MIN((size_B + grf_B - 1) / grf_B, 64u);
}

/* Shapes of a systolic multiplication: repeat count rows of one element per channel; src1 has a
 * dword per channel and step, src2 a dword per row and step. */
static void size_dpas(enum zs_isa_platform platform, struct zs_isa_inst *inst)
{
    uint32_t depth = inst->subfunction >> 4, rows = inst->subfunction & 0xf;
    uint32_t grf_B = zs_isa_platform_info(platform)->grf_B, lanes = inst->exec_size;
    uint32_t dst_B = zs_isa_type_bits((enum zs_isa_type)inst->dst.type) / 8;
    uint32_t src0_B = zs_isa_type_bits((enum zs_isa_type)inst->src[0].type) / 8;
    inst->dst.grf_count = grfs_of(rows * lanes * dst_B, grf_B);
    inst->src[0].grf_count = grfs_of(rows * lanes * src0_B, grf_B);
    inst->src[1].grf_count = grfs_of(depth * lanes * 4, grf_B);
    inst->src[2].grf_count = grfs_of(rows * depth * 4, grf_B);
}

static void read_targets(struct view v, struct zs_isa_template *t)
{
    int32_t targets[3];
    uint32_t count = kv_get_inst_targets(v.kv, v.pc, targets);
    uint32_t next = 0;
    for (uint32_t s = 0; s < t->inst.source_count && s < 2; s++) {
        if (t->inst.src[s].kind != ZS_OPERAND_LABEL || next >= count)
            continue;
        int32_t relative_B = (int32_t)((uint32_t)targets[next] - (uint32_t)v.pc);
        if (next++ == 0) {
            t->jip_rel_B = relative_B;
            t->has_jip = true;
        } else {
            t->uip_rel_B = relative_B;
            t->has_uip = true;
        }
    }
}

static void read_template(struct view v, enum zs_isa_platform platform, uint32_t size_B,
                          struct zs_isa_template *t)
{
    struct zs_isa_inst *inst = &t->inst;
    *t = (struct zs_isa_template){.inst = {.size_B = (uint8_t)size_B,
                                           .message = ZS_ISA_NO_INDEX,
                                           .jip_B = ZS_ISA_NO_INDEX,
                                           .uip_B = ZS_ISA_NO_INDEX,
                                           .flags = size_B == 8 ? ZS_INST_COMPACTED : 0}};
    uint32_t op = kv_get_opcode(v.kv, v.pc);
    inst->op = op < ZS_OP_COUNT ? (uint8_t)op : ZS_OP_INVALID;
    if (inst->op == ZS_OP_INVALID || inst->op == ZS_OP_ILLEGAL) {
        inst->op = ZS_OP_ILLEGAL;
        inst->flags |= ZS_INST_ILLEGAL;
        return;
    }
    read_controls(v, inst);
    int32_t sources = kv_get_number_sources(v.kv, v.pc);
    inst->source_count = (uint8_t)(sources < 0 ? 0 : ZS_MIN(sources, ZS_ISA_SOURCES_MAX));
    if (inst->flags & ZS_INST_HAS_DST)
        read_dst(v, &inst->dst);
    for (uint32_t s = 0; s < inst->source_count; s++)
        read_src(v, s, &inst->src[s]);
    read_subfunction(v, inst);
    uint32_t op_flags = zs_isa_op_flags((enum zs_isa_op)inst->op);
    if (op_flags & ZS_OPF_SEND)
        read_send(v, platform, t);
    if (op_flags & ZS_OPF_DPAS)
        size_dpas(platform, inst);
    if (op_flags & ZS_OPF_BRANCH)
        read_targets(v, t);
}

static int publish(struct zs_isa_kernel *k, struct zs_isa_entry *entry, struct view v,
                   uint32_t want)
{
    bool shared = !(entry->flags & ZS_ENTRY_PRIVATE);
    bool lacks_template =
        shared ? zs_isa_cache_lacks(k->cache, entry, ZS_ISA_INSTS) : !entry->template;
    bool wants_text =
        (want & ZS_ISA_TEXT || entry->flags & ZS_ENTRY_SEND) && !(entry->flags & ZS_ENTRY_BRANCH);
    bool lacks_text =
        wants_text && (shared ? zs_isa_cache_lacks(k->cache, entry, ZS_ISA_TEXT) : !entry->line);
    int error = 0;
    if (lacks_template) {
        struct zs_isa_template template;
        read_template(v, k->platform, entry->size_B, &template);
        error = zs_isa_put_template(k, entry, &template);
    }
    if (lacks_text && !error) {
        char line[1024];
        size_t size_B = kv_get_inst_syntax(v.kv, v.pc, line, sizeof(line),
                                           IGA_FORMATTING_OPTS_LISTING, NULL, NULL);
        error = zs_isa_put_text(k, entry, line, size_B ? strnlen(line, sizeof(line)) : 0);
    }
    return error;
}

int zs_isa_template_batch(struct zs_isa_kernel *k, struct zs_isa_entry *const *entries,
                          uint32_t count, uint32_t want, struct zs_diag *diag)
{
    uint8_t bytes[ZS_ISA_BATCH_MAX * 16];
    uint32_t size_B = 0;
    for (uint32_t i = 0; i < count; i++) {
        memcpy(bytes + size_B, entries[i]->bytes, entries[i]->size_B);
        size_B += entries[i]->size_B;
    }
    int status = IGA_SUCCESS;
    struct kv_t *kv =
        kv_create((int)zs_isa_iga_gen(k->platform), bytes, size_B, &status, NULL, 0, 0);
    if (!kv)
        return zs_diag_set(diag, status == IGA_OUT_OF_MEM ? -ENOMEM : -ENODATA, ZS_DIAG_NO_OFFSET,
                           "libiga64 failed with status %d in kv_create", status);
    int error = 0;
    struct view v = {.kv = kv};
    for (uint32_t i = 0; i < count && !error; i++) {
        error = publish(k, entries[i], v, want);
        v.pc += entries[i]->size_B;
    }
    kv_delete(kv);
    return error;
}

static uint32_t absolute(uint32_t offset_B, int32_t relative_B)
{
    int64_t target_B = (int64_t)offset_B + relative_B;
    return target_B < 0 || target_B >= ZS_ISA_NO_INDEX ? ZS_ISA_NO_INDEX : (uint32_t)target_B;
}

static void place_inst(struct zs_isa_inst *inst, const struct zs_isa_template *t, uint32_t offset_B)
{
    *inst = t->inst;
    inst->offset_B = offset_B;
    if (t->has_jip)
        inst->jip_B = absolute(offset_B, t->jip_rel_B);
    if (t->has_uip)
        inst->uip_B = absolute(offset_B, t->uip_rel_B);
    bool first = true;
    for (uint32_t s = 0; s < inst->source_count; s++) {
        if (inst->src[s].kind != ZS_OPERAND_LABEL)
            continue;
        inst->src[s].imm = first ? inst->jip_B : inst->uip_B;
        first = false;
    }
}

int zs_isa_make_insts(struct zs_isa_kernel *k)
{
    uint32_t messages = 0;
    for (uint32_t i = 0; i < k->count; i++)
        messages += k->entries[i]->template->inst.message == 0 ? 1 : 0;
    k->insts = malloc(((size_t)k->count + 1) * sizeof(*k->insts));
    k->messages = malloc(((size_t)messages + 1) * sizeof(*k->messages));
    if (!k->insts || !k->messages)
        return -ENOMEM;
    k->message_count = 0;
    for (uint32_t i = 0; i < k->count; i++) {
        const struct zs_isa_template *t = k->entries[i]->template;
        place_inst(&k->insts[i], t, k->offsets_B[i]);
        if (t->inst.message == 0) {
            k->insts[i].message = k->message_count;
            k->messages[k->message_count++] = t->message;
        }
    }
    return 0;
}
