/* SPDX-License-Identifier: MIT */
/*
 * What a send does, for programs: kind, surface and bytes, from its form. Bytes are those of an
 * execution with all lanes active; a lane's part is element_B * components.
 */
#include "isa/message_rows.h"
#include "isa/xe.h"

static bool is_sendg(const struct zs_isa_inst *inst)
{
    return inst->op >= ZS_OP_SENDG && inst->op <= ZS_OP_SENDGXC;
}

/* Up to XeHP an immediate extended descriptor has the length; from XeHPG on, and with ExBSO, the
 * instruction, but null has none. */
int32_t zs_isa_second_length(const struct zs_isa_model *model, const struct zs_isa_inst *inst)
{
    bool in_register = inst->flags & ZS_INST_EXDESC_REG;
    if (is_sendg(inst))
        return inst->src[1].grf_count;
    if (!in_register && model->platform < ZS_ISA_XE_HPG)
        return (int32_t)(inst->exdesc >> 6 & 0x1f);
    bool gathered = inst->source_count == 1 && model->platform >= ZS_ISA_XE3;
    if (gathered || (inst->source_count > 1 && inst->src[1].file == ZS_FILE_NULL))
        return 0;
    return zs_xe_has_second_length(model, inst) ? inst->src[1].grf_count : -1;
}

void zs_isa_make_send(const struct zs_isa_model *model, const struct zs_isa_inst *inst,
                      struct zs_isa_send *ret)
{
    int32_t xlen = zs_isa_second_length(model, inst);
    *ret = (struct zs_isa_send){.generation = zs_isa_generation(model->platform),
                                .sfid = inst->sfid,
                                .desc = inst->desc,
                                .ex_desc = inst->exdesc,
                                .ex_offset = inst->exdesc_offset,
                                .mlen = inst->desc >> 25 & 15,
                                .rlen = inst->desc >> 20 & 31,
                                .xlen = xlen < 0 ? ZS_LENGTH_UNKNOWN : (uint32_t)xlen,
                                .exec_size = ZS_MAX(inst->exec_size, 1u),
                                .ex_in_register = inst->flags & ZS_INST_EXDESC_REG};
}

static void set_bytes(struct zs_isa_message *m, uint32_t size_B)
{
    if (m->kind == ZS_MSG_LOAD || m->kind == ZS_MSG_ATOMIC || m->kind == ZS_MSG_SAMPLE)
        m->read_B = size_B;
    if (m->kind == ZS_MSG_STORE || m->kind == ZS_MSG_ATOMIC)
        m->written_B = size_B;
}

/* Those of the response or payload, at most: width and height come from a register. */
static void set_block2d(struct zs_isa_message *m, const struct zs_message_form *f)
{
    enum { LONGEST = 31 }; /* that the field holds: 32 registers are said as 31 */
    uint32_t grf_B = f->generation->grf_B, header = m->mlen ? 1 : 0;
    m->flags |= ZS_MSGF_BLOCK;
    m->lanes = 1;
    uint32_t rlen = f->is_lsc && m->rlen == LONGEST ? m->rlen + 1u : m->rlen;
    if (m->kind == ZS_MSG_LOAD)
        set_bytes(m, rlen * grf_B);
    else if (m->xlen != ZS_LENGTH_UNKNOWN)
        set_bytes(m, (uint32_t)(m->mlen + m->xlen - header) * grf_B);
}

/* What comes back; how much of the image that takes depends on format and filter. */
static void set_sample(struct zs_isa_message *m, const struct zs_message_form *f)
{
    uint32_t element_B = f->is_half ? 2 : 4, lane_B = ZS_MAX(f->exec_size, 8u) * element_B;
    m->lanes = f->exec_size;
    m->element_B = (uint8_t)element_B;
    m->components = (uint8_t)(m->rlen * f->generation->grf_B / lane_B);
    set_bytes(m, (uint32_t)m->lanes * m->element_B * m->components);
}

static void set_data(struct zs_isa_message *m, const struct zs_message_form *f)
{
    bool is_block = f->is_transposed || !f->lanes;
    m->lanes = is_block ? 1 : f->exec_size;
    m->element_B = f->element_B;
    m->components = f->elements;
    m->component_mask = f->channels;
    m->flags |= is_block ? ZS_MSGF_BLOCK : 0;
    m->flags |= f->is_transposed ? ZS_MSGF_TRANSPOSE : 0;
    m->flags |= m->flags & ZS_MSGF_TYPED && m->kind != ZS_MSG_ATOMIC ? 0 : ZS_MSGF_BYTES_KNOWN;
    set_bytes(m, (uint32_t)m->lanes * m->element_B * m->components);
}

static bool is_typed(const struct zs_message_form *f)
{
    return (f->sfid == ZS_SFID_TGM && f->name && f->kind != ZS_MSG_FENCE) ||
           f->shape == ZS_SHAPE_TYPED || f->shape == ZS_SHAPE_TYPED_STATUS ||
           f->shape == ZS_SHAPE_TYPED_ATOMIC || f->shape == ZS_SHAPE_TYPED_ATOMIC16 ||
           f->shape == ZS_SHAPE_MEDIA || f->shape == ZS_SHAPE_SAMPLER ||
           f->shape == ZS_SHAPE_RENDER;
}

static void set_form(struct zs_isa_message *m, const struct zs_message_form *f)
{
    bool is_block2d = f->shape == ZS_SHAPE_BLOCK2D;
    m->kind = f->kind;
    m->name = f->name ? f->name : "";
    m->detail = f->detail;
    m->address_bits = (uint8_t)(f->address_B * 8);
    m->sampler_index = f->sampler;
    m->flags |= f->has_header ? ZS_MSGF_HEADER : 0;
    m->flags |= is_typed(f) ? ZS_MSGF_TYPED : 0;
    m->flags |= f->returns ? ZS_MSGF_RETURNS : 0;
    m->surface = f->surface;
    if (f->kind == ZS_MSG_FENCE) {
        m->flags |= f->surface == ZS_SURFACE_SLM ? ZS_MSGF_SLM_FENCE : 0;
        m->surface = ZS_SURFACE_NONE;
        return;
    }
    if (f->sfid == ZS_SFID_SLM && f->name)
        m->surface = ZS_SURFACE_SLM;
    else if (f->is_lsc && f->surface == ZS_SURFACE_BTI && m->flags & ZS_MSGF_EXDESC_REG)
        m->surface = ZS_SURFACE_REGISTER;
    else if (f->surface == ZS_SURFACE_BINDLESS || f->surface == ZS_SURFACE_STATE)
        m->surface_index = f->is_lsc ? 0 : ZS_INDEX_BINDLESS;
    else
        m->surface_index = (uint16_t)f->index;
    m->offset_B = f->offset.bytes;
    m->offset_x = (int16_t)f->offset.x;
    m->offset_y = (int16_t)f->offset.y;
    if (f->is_lsc && f->sfid != ZS_SFID_SLM && f->kind <= ZS_MSG_ATOMIC) {
        m->cache_l1 = f->caching.l1;
        m->cache_l3 = f->caching.l3;
    }
    if (is_block2d || f->shape == ZS_SHAPE_MEDIA)
        set_block2d(m, f);
    else if (f->kind == ZS_MSG_SAMPLE)
        set_sample(m, f);
    else if (f->element_B && f->elements && f->kind != ZS_MSG_QUERY && f->shape != ZS_SHAPE_SAMPLER)
        set_data(m, f);
}

void zs_isa_make_message(const struct zs_isa_model *model, const struct zs_isa_inst *inst,
                         struct zs_isa_message *m)
{
    bool in_register = inst->flags & ZS_INST_DESC_REG;
    struct zs_isa_send send;
    struct zs_message_form form;
    zs_isa_make_send(model, inst, &send);
    if (is_sendg(inst)) {
        int32_t rlen = zs_e64_form(model, inst, &form);
        send.mlen = inst->src[0].grf_count;
        send.rlen = rlen < 0 ? ZS_LENGTH_UNKNOWN : (uint32_t)rlen;
    } else {
        zs_message_form(&send, &form);
    }
    uint32_t flags = in_register ? ZS_MSGF_DESC_REG : 0;
    flags |= inst->flags & ZS_INST_EXDESC_REG ? ZS_MSGF_EXDESC_REG : 0;
    flags |= inst->flags & ZS_INST_EOT ? ZS_MSGF_EOT : 0;
    *m = (struct zs_isa_message){
        .sfid = inst->sfid,
        .desc = inst->desc,
        .exdesc = inst->exdesc,
        .flags = (uint16_t)flags,
        .name = "",
        .detail = "",
        .kind = ZS_MSG_UNKNOWN,
        .mlen = in_register ? (uint8_t)ZS_LENGTH_UNKNOWN : (uint8_t)send.mlen,
        .rlen = in_register ? (uint8_t)ZS_LENGTH_UNKNOWN : (uint8_t)send.rlen,
        .xlen = (uint8_t)send.xlen};
    if (in_register) {
        m->surface = m->sfid == ZS_SFID_SLM ? ZS_SURFACE_SLM : ZS_SURFACE_REGISTER;
    } else if (flags & ZS_MSGF_EOT && (m->sfid == ZS_SFID_TS || m->sfid == ZS_SFID_GTWY)) {
        m->kind = ZS_MSG_EOT;
        m->name = "end of thread";
    } else if (!form.is_lsc || form.generation->has_lsc) {
        set_form(m, &form);
    }
}
