/* SPDX-License-Identifier: MIT */
/* Devices, operands and messages: what is decoded from assembled instructions. */
#include "../test.h"

#include "assemble.h"

#include "base/parallel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define EOT9  "(W) send (8|M0) null r127 0x27 0x02000010 {EOT}\n"
#define EOT12 "(W) send.ts (8|M0) null r127 null 0x0 0x02000010 {EOT}\n"

static void devices(void **state)
{
    static const struct {
        const char *name;
        enum zs_isa_platform platform;
    } rows[] = {
        {"bdw", ZS_ISA_GEN8},       {"skl", ZS_ISA_GEN9},
        {"SKL", ZS_ISA_GEN9},       {"cml", ZS_ISA_GEN9},
        {"icllp", ZS_ISA_GEN11},    {"jsl", ZS_ISA_GEN11},
        {"tgllp", ZS_ISA_XE_LP},    {"adl-p", ZS_ISA_XE_LP},
        {"dg1", ZS_ISA_XE_LP},      {"xe_hp_sdv", ZS_ISA_XE_HP},
        {"dg2", ZS_ISA_XE_HPG},     {"acm-g11", ZS_ISA_XE_HPG},
        {"ats-m75", ZS_ISA_XE_HPG}, {"pvc", ZS_ISA_XE_HPC},
        {"pvc-sdv", ZS_ISA_XE_HPC}, {"gen9", ZS_ISA_GEN9},
        {"gen12lp", ZS_ISA_XE_LP},  {"xe-hpg", ZS_ISA_XE_HPG},
        {"9.0.9", ZS_ISA_GEN9},     {"12.3.0", ZS_ISA_XE_LP},
        {"12.55.8", ZS_ISA_XE_HPG}, {"12.60.7", ZS_ISA_XE_HPC},
        {"12.10", ZS_ISA_XE_LP},    {"bmg", ZS_ISA_XE2},
        {"lnl", ZS_ISA_XE2},        {"20.4.4", ZS_ISA_XE2},
        {"ptl", ZS_ISA_XE3},        {"30.0.4", ZS_ISA_XE3},
        {"mtl", ZS_ISA_XE_HPG},     {"arl-h", ZS_ISA_XE_HPG},
        {"wcl", ZS_ISA_XE3},        {"nvl-s", ZS_ISA_XE3},
        {"cri", ZS_ISA_XE3P},       {"nvl-p", ZS_ISA_XE3P},
        {"35.11.0", ZS_ISA_XE3P},   {"xe3p", ZS_ISA_XE3P},
        {"12.", ZS_ISA_NONE},       {"12", ZS_ISA_NONE},
        {"7.5.0", ZS_ISA_NONE},     {"hsw", ZS_ISA_NONE},
        {"", ZS_ISA_NONE},          {"99999999999999999999.1", ZS_ISA_NONE},
    };
    for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++)
        assert_int_equal(zs_isa_platform_from_device(rows[i].name), rows[i].platform);
    assert_int_equal(zs_isa_platform_from_gfxcore(12), ZS_ISA_GEN9);
    assert_int_equal(zs_isa_platform_from_gfxcore(0xc08), ZS_ISA_XE_HPC);
    assert_int_equal(zs_isa_platform_from_gfxcore(0xc09), ZS_ISA_XE2);
    assert_int_equal(zs_isa_platform_from_gfxcore(0x1e00), ZS_ISA_XE3);
    assert_int_equal(zs_isa_platform_from_gfxcore(0x2300), ZS_ISA_XE3P);
    assert_int_equal(zs_isa_platform_from_gfxcore(0), ZS_ISA_NONE);
    assert_int_equal(zs_isa_platform_from_product(18), ZS_ISA_GEN9);
    assert_string_equal(zs_isa_device_from_product(1270), "dg2");
    assert_string_equal(zs_isa_device_from_product(1272), "mtl");
    assert_string_equal(zs_isa_device_from_product(1340), "nvl-s");
    assert_string_equal(zs_isa_device_from_product(1380), "cri");
    assert_string_equal(zs_isa_device_from_gfxcore(18), "tgllp");
    assert_null(zs_isa_device_from_gfxcore(1));
    for (size_t i = 0; zs_isa_device_name(i); i++)
        assert_int_not_equal(zs_isa_platform_from_device(zs_isa_device_name(i)), ZS_ISA_NONE);
    assert_int_equal(zs_isa_platform_info(ZS_ISA_XE_HPC)->grf_B, 64);
    assert_null(zs_isa_platform_info(ZS_ISA_NONE));
    assert_null(zs_isa_platform_info((enum zs_isa_platform)99));
}

static void names(void **state)
{
    assert_string_equal(zs_isa_op_mnemonic(ZS_OP_BREAK), "break");
    assert_string_equal(zs_isa_op_mnemonic((enum zs_isa_op)200), "");
    assert_string_equal(zs_isa_type_name(ZS_TYPE_HF), "hf");
    assert_int_equal(zs_isa_type_bits(ZS_TYPE_DF), 64);
    assert_string_equal(zs_isa_file_name(ZS_FILE_ACC), "acc");
    assert_string_equal(zs_isa_sfid_name(ZS_SFID_UGM), "ugm");
    assert_string_equal(zs_isa_sfid_name(ZS_SFID_REGISTER), "");
    for (uint32_t op = 1; op < ZS_OP_COUNT; op++)
        if (*zs_isa_op_mnemonic((enum zs_isa_op)op) == '\0')
            assert_int_equal(zs_isa_op_flags((enum zs_isa_op)op), 0);
}

static void check_region(const struct zs_isa_operand *o, int vstride, int width, int hstride)
{
    assert_int_equal(o->vstride, vstride);
    assert_int_equal(o->width, width);
    assert_int_equal(o->hstride, hstride);
}

static void operands(void **state)
{
    struct zs_isa_kernel *k =
        assemble(ZS_ISA_GEN9,
                 "(~f1.1.any16h) add (16|M16) (lt)f1.1 (sat)r12.0<1>:f r14.4<16;8,2>:f "
                 "-(abs)r20.0<0;1,0>:f\n"
                 "(W) mov (1|M0) r5.3<1>:d -7:w\n"
                 "mov (8|M8) r[a0.2,-32]<2>:uw r[a0.1,48]<8;8,1>:ub\n"
                 "(W) math.idiv (8|M0) r30.0<1>:d r31.0<8;8,1>:d r32.0<8;8,1>:d\n"
                 "mad (8|M0) r40.0<1>:f r41.0<2;1>:f -r42.0<2;1>:f r43.3<0>:f\n"
                 "(W) mov (8|M0) acc0.0<1>:f r1.0<8;8,1>:f {AccWrEn}\n"
                 "(W) mov (2|M0) r6.0<1>:df 0x3ff0000000000000:df\n" EOT9,
                 ZS_ISA_INSTS | ZS_ISA_TEXT);
    const struct zs_isa_inst *add = zs_isa_inst(k, 0);
    assert_int_equal(add->op, ZS_OP_ADD);
    assert_int_equal(add->exec_size, 16);
    assert_int_equal(add->channel_offset, 16);
    assert_int_equal(add->pred, ZS_PRED_ANY16H);
    assert_true(add->flags & ZS_INST_PRED_INVERSE);
    assert_false(add->flags & ZS_INST_NOMASK);
    assert_int_equal(add->cond, ZS_COND_LT);
    assert_int_equal(add->flag_reg, 1);
    assert_int_equal(add->flag_subreg, 1);
    assert_int_equal(add->dst.file, ZS_FILE_GRF);
    assert_int_equal(add->dst.reg, 12);
    assert_int_equal(add->dst.hstride, 1);
    assert_int_equal(add->dst.modifiers, ZS_MOD_SAT);
    assert_int_equal(add->source_count, 2);
    assert_int_equal(add->src[0].reg, 14);
    assert_int_equal(add->src[0].subreg, 4);
    check_region(&add->src[0], 16, 8, 2);
    check_region(&add->src[1], 0, 1, 0);
    assert_int_equal(add->src[1].modifiers, ZS_MOD_ABS | ZS_MOD_NEG);
    assert_int_equal(add->src[1].type, ZS_TYPE_F);

    const struct zs_isa_inst *mov = zs_isa_inst(k, 1);
    assert_true(mov->flags & ZS_INST_NOMASK);
    assert_int_equal(mov->dst.subreg, 3);
    assert_int_equal(mov->src[0].kind, ZS_OPERAND_IMM);
    assert_int_equal(mov->src[0].type, ZS_TYPE_W);
    assert_int_equal(mov->src[0].imm, 0xfff9);

    const struct zs_isa_inst *indirect = zs_isa_inst(k, 2);
    assert_int_equal(indirect->dst.kind, ZS_OPERAND_INDIRECT);
    assert_int_equal(indirect->dst.subreg, 2);
    assert_int_equal(indirect->dst.offset_B, -32);
    assert_int_equal(indirect->dst.hstride, 2);
    assert_int_equal(indirect->src[0].kind, ZS_OPERAND_INDIRECT);
    assert_int_equal(indirect->src[0].subreg, 1);
    assert_int_equal(indirect->src[0].offset_B, 48);

    assert_int_equal(zs_isa_inst(k, 3)->op, ZS_OP_MATH);
    assert_int_equal(zs_isa_inst(k, 3)->subfunction, 11); /* idiv */
    const struct zs_isa_inst *mad = zs_isa_inst(k, 4);
    assert_int_equal(mad->source_count, 3);
    assert_int_equal(mad->src[1].modifiers, ZS_MOD_NEG);
    assert_int_equal(mad->src[2].reg, 43);
    assert_int_equal(mad->src[2].subreg, 3);
    assert_int_equal(mad->src[2].hstride, 0);
    assert_int_equal(zs_isa_inst(k, 5)->dst.file, ZS_FILE_ACC);
    assert_true(zs_isa_inst(k, 5)->flags & ZS_INST_ACCWREN);
    assert_int_equal(zs_isa_inst(k, 6)->src[0].imm, 0x3ff0000000000000);
    assert_true(zs_isa_inst(k, 7)->flags & ZS_INST_EOT);
    assert_int_equal(zs_isa_inst_message(k, 7)->kind, ZS_MSG_EOT);
    assert_null(zs_isa_inst_message(k, 0));

    char text[ZS_ISA_LINE_MAX];
    size_t size_B = zs_isa_inst_text(k, 1, text);
    assert_memory_equal(text, "(W)     mov (1|M0)", 18);
    assert_int_not_equal(text[size_B - 1], ' ');
    release(k);
}

/* Offsets come from the compaction bit; compacted instructions are found by any of their bytes. */
static void layout(void **state)
{
    struct zs_isa_kernel *k = assemble(ZS_ISA_GEN9,
                                       "mov (8|M0) r2.0<1>:ud r3.0<8;8,1>:ud {Compacted}\n"
                                       "mov (8|M0) r2.0<1>:ud 0x12345678:ud\n" EOT9,
                                       ZS_ISA_INSTS);
    assert_int_equal(zs_isa_kernel_count(k), 3);
    assert_int_equal(zs_isa_inst_offset(k, 1), 8);
    assert_int_equal(zs_isa_inst_size(k, 0), 8);
    assert_true(zs_isa_inst(k, 0)->flags & ZS_INST_COMPACTED);
    assert_int_equal(zs_isa_inst_offset(k, 3), zs_isa_kernel_size_B(k));
    static const uint32_t finds[][2] = {{0, 0},
                                        {7, 0},
                                        {8, 1},
                                        {23, 1},
                                        {24, 2},
                                        {39, 2},
                                        {40, ZS_ISA_NO_INDEX},
                                        {0xffffffff, ZS_ISA_NO_INDEX}};
    for (size_t i = 0; i < ZS_ARRAY_LEN(finds); i++)
        assert_int_equal(zs_isa_inst_find(k, finds[i][0]), finds[i][1]);
    release(k);
}

struct message_case {
    enum zs_isa_platform platform;
    const char *text;
    enum zs_isa_sfid sfid;
    enum zs_isa_message_kind kind;
    enum zs_isa_surface surface;
    uint32_t surface_index, address_bits, element_B, components, lanes, read_B, written_B;
    uint32_t flags; /* all of these are set */
    const char *name, *detail;
};

static const struct message_case message_cases[] = {
    {ZS_ISA_GEN9, "send (16|M0) r16:w r13 0xC 0x04205E00", ZS_SFID_DC1, ZS_MSG_LOAD, ZS_SURFACE_BTI,
     0, 32, 4, 1, 16, 64, 0, ZS_MSGF_BYTES_KNOWN, "untyped read", ""},
    {ZS_ISA_GEN9, "send (8|M0) r16:w r13 0xC 0x02406003", ZS_SFID_DC1, ZS_MSG_LOAD, ZS_SURFACE_BTI,
     3, 32, 4, 4, 8, 128, 0, ZS_MSGF_BYTES_KNOWN, "untyped read", ""},
    {ZS_ISA_GEN9, "sends (16|M0) null:w r22 r11 0x8C 0x04025EFE", ZS_SFID_DC1, ZS_MSG_STORE,
     ZS_SURFACE_SLM, 254, 32, 4, 1, 16, 0, 64, ZS_MSGF_BYTES_KNOWN, "untyped write", ""},
    {ZS_ISA_GEN9, "(W) send (1|M0) r14 r3 0xA 0x02110801", ZS_SFID_DC0, ZS_MSG_LOAD, ZS_SURFACE_BTI,
     1, 32, 4, 1, 1, 4, 0, ZS_MSGF_BYTES_KNOWN, "byte gather read", ""},
    {ZS_ISA_GEN9, "sends (8|M0) null:ud r19 r111 0x4C 0x040487FF", ZS_SFID_DC1, ZS_MSG_ATOMIC,
     ZS_SURFACE_STATELESS, 255, 64, 4, 1, 8, 32, 32, 0, "a64 atomic", "add"},
    {ZS_ISA_GEN9, "send (8|M0) r10:ud r19 0xC 0x0210A502", ZS_SFID_DC1, ZS_MSG_ATOMIC,
     ZS_SURFACE_BTI, 2, 32, 4, 1, 8, 32, 32, ZS_MSGF_RETURNS, "untyped atomic", "inc"},
    {ZS_ISA_GEN9, "(W) send (8|M0) r10 r127 0xA 0x022843FD", ZS_SFID_DC0, ZS_MSG_LOAD,
     ZS_SURFACE_STATELESS, 253, 32, 16, 4, 1, 64, 0, ZS_MSGF_BLOCK | ZS_MSGF_HEADER,
     "unaligned oword block read", ""},
    {ZS_ISA_GEN9, "(W) send (8|M0) r10 r2 0xA 0x0219E0FE", ZS_SFID_DC0, ZS_MSG_FENCE,
     ZS_SURFACE_NONE, 0, 0, 0, 0, 0, 0, 0, ZS_MSGF_SLM_FENCE, "memory fence", ""},
    {ZS_ISA_GEN9, "(W) send (8|M0) null r121 0x3 0x02000004", ZS_SFID_GTWY, ZS_MSG_BARRIER,
     ZS_SURFACE_NONE, 0, 0, 0, 0, 0, 0, 0, 0, "barrier", ""},
    {ZS_ISA_GEN9, "(W) send (16|M0) r10 r2 0xA 0x022C1005", ZS_SFID_DC0, ZS_MSG_LOAD,
     ZS_SURFACE_SCRATCH, 0, 32, 32, 2, 1, 64, 0, ZS_MSGF_BLOCK, "scratch read", ""},
    {ZS_ISA_XE_LP, "send.dc1 (16|M0) null r24 r13 0x80 0x04025EFE", ZS_SFID_DC1, ZS_MSG_STORE,
     ZS_SURFACE_SLM, 254, 32, 4, 1, 16, 0, 64, ZS_MSGF_BYTES_KNOWN, "untyped write", ""},
    {ZS_ISA_XE_HPG, "send.slm (16|M0) r24 r2 null:0 0x0 0x02200500", ZS_SFID_SLM, ZS_MSG_LOAD,
     ZS_SURFACE_SLM, 0, 32, 4, 1, 16, 64, 0, ZS_MSGF_BYTES_KNOWN, "load", ""},
    {ZS_ISA_XE_HPC, "send.ugm (1|M0) r1 r127 null:0 0xFF000000 0x6228E500", ZS_SFID_UGM,
     ZS_MSG_LOAD, ZS_SURFACE_STATELESS, 255, 32, 4, 32, 1, 128, 0,
     ZS_MSGF_BLOCK | ZS_MSGF_TRANSPOSE, "load", ""},
    {ZS_ISA_XE_HPC, "send.ugm (32|M0) null r30 r28:2 0x0 0x08000584", ZS_SFID_UGM, ZS_MSG_STORE,
     ZS_SURFACE_STATELESS, 0, 64, 4, 1, 32, 0, 128, ZS_MSGF_BYTES_KNOWN, "store", ""},
    {ZS_ISA_XE_HPC, "send.ugm (32|M0) null r30 r34:2 0x0 0x0800058C", ZS_SFID_UGM, ZS_MSG_ATOMIC,
     ZS_SURFACE_STATELESS, 0, 64, 4, 1, 32, 128, 128, ZS_MSGF_BYTES_KNOWN, "atomic", "iadd"},
    {ZS_ISA_XE_HPC, "(W) send.ugm (1|M0) r6 r21 null:0 0x0 0x02800003", ZS_SFID_UGM, ZS_MSG_LOAD,
     ZS_SURFACE_STATELESS, 0, 64, 0, 0, 1, 512, 0, ZS_MSGF_BLOCK, "load_block2d", ""},
    {ZS_ISA_XE_HPC, "(W) send.ugm (1|M0) r6 r45 null:0 0x0 0x03F00203", ZS_SFID_UGM, ZS_MSG_LOAD,
     ZS_SURFACE_STATELESS, 0, 64, 0, 0, 1, 2048, 0, ZS_MSGF_BLOCK, "load_block2d", ""},
    {ZS_ISA_XE_HPC, "(W) send.slm (1|M0) r23 r0 null:0 0x0 0x0210011F", ZS_SFID_SLM, ZS_MSG_FENCE,
     ZS_SURFACE_NONE, 0, 0, 0, 0, 0, 0, 0, ZS_MSGF_SLM_FENCE, "fence", ""},
};

static void messages(void **state)
{
    for (size_t i = 0; i < ZS_ARRAY_LEN(message_cases); i++) {
        const struct message_case *c = &message_cases[i];
        struct zs_isa_kernel *k = assemble(c->platform, c->text, ZS_ISA_INSTS);
        const struct zs_isa_message *m = zs_isa_inst_message(k, 0);
        print_message("%s\n", c->text);
        assert_non_null(m);
        assert_int_equal(m->sfid, c->sfid);
        assert_string_equal(zs_isa_message_kind_name((enum zs_isa_message_kind)m->kind),
                            zs_isa_message_kind_name(c->kind));
        assert_int_equal(m->surface, c->surface);
        assert_int_equal(m->surface_index, c->surface_index);
        assert_int_equal(m->address_bits, c->address_bits);
        assert_int_equal(m->element_B, c->element_B);
        assert_int_equal(m->components, c->components);
        assert_int_equal(m->lanes, c->lanes);
        assert_int_equal(m->read_B, c->read_B);
        assert_int_equal(m->written_B, c->written_B);
        assert_int_equal(m->flags & c->flags, c->flags);
        assert_string_equal(m->name, c->name);
        assert_string_equal(m->detail, c->detail);
        release(k);
    }
}

/* Lengths and descriptors of a split send; a descriptor from a register is said to be one. */
static void send_operands(void **state)
{
    struct zs_isa_kernel *k = assemble(ZS_ISA_GEN9,
                                       "sends (16|M0) null:w r22 r11 0x8C 0x04025EFE\n"
                                       "send (16|M0) r30:w r22 0xC a0.0\n" EOT9,
                                       ZS_ISA_INSTS);
    const struct zs_isa_message *m = zs_isa_inst_message(k, 0);
    assert_int_equal(m->desc, 0x04025efe);
    assert_int_equal(m->mlen, 2);
    assert_int_equal(m->xlen, 2);
    assert_int_equal(m->rlen, 0);
    assert_int_equal(zs_isa_inst(k, 0)->src[0].grf_count, 2);
    assert_int_equal(zs_isa_inst(k, 0)->src[1].reg, 11);
    const struct zs_isa_message *reg = zs_isa_inst_message(k, 1);
    assert_true(reg->flags & ZS_MSGF_DESC_REG);
    assert_int_equal(reg->kind, ZS_MSG_UNKNOWN);
    assert_int_equal(reg->surface, ZS_SURFACE_REGISTER);
    assert_int_equal(zs_isa_message_count(k), 3);
    release(k);
}

static void refuses(void **state)
{
    static const uint8_t zeros[40];
    struct zs_isa_kernel *k = NULL;
    struct zs_diag diag = {0};
    assert_int_equal(zs_isa_kernel_open(ZS_ISA_NONE, zs_span_make(zeros, 16), NULL, &k, &diag),
                     -EINVAL);
    diag = (struct zs_diag){0};
    assert_int_equal(zs_isa_kernel_open(ZS_ISA_GEN9, zs_span_make(zeros, 40), NULL, &k, &diag),
                     -EINVAL);
    assert_int_equal(diag.offset_B, 32);
    assert_string_equal(diag.text, "code ends inside an instruction: 16 bytes expected, 8 remain");
    diag = (struct zs_diag){0};
    assert_int_equal(zs_isa_kernel_open(ZS_ISA_GEN9, zs_span_make(zeros, 3), NULL, &k, &diag),
                     -EINVAL);
    assert_null(k);
}

static void empty_and_illegal(void **state)
{
    static const uint8_t bytes[48] = {
        [0] = 0x7f, [16] = 0x7d, [32] = 0x7f, [35] = 0x20, [40] = 0x7f, [43] = 0x20};
    const uint32_t all = ZS_ISA_TEXT | ZS_ISA_INSTS | ZS_ISA_BLOCKS | ZS_ISA_LIVENESS;
    for (uint32_t p = ZS_ISA_GEN8; p < ZS_ISA_PLATFORM_COUNT; p++) {
        struct zs_isa_kernel *k;
        assert_int_equal(
            zs_isa_kernel_open((enum zs_isa_platform)p, zs_span_make(NULL, 0), NULL, &k, NULL), 0);
        assert_int_equal(zs_isa_kernel_decode(k, all, NULL), 0);
        assert_int_equal(zs_isa_kernel_count(k), 0);
        assert_int_equal(zs_isa_live_peak(k, NULL), 0);
        zs_isa_kernel_close(k);
        assert_int_equal(
            zs_isa_kernel_open((enum zs_isa_platform)p, zs_span_make(bytes, 48), NULL, &k, NULL),
            0);
        assert_int_equal(zs_isa_kernel_decode(k, all, NULL), 0);
        assert_int_equal(zs_isa_kernel_count(k), 4);
        assert_int_equal(zs_isa_kernel_illegal_count(k), 4);
        for (uint32_t i = 0; i < 4; i++) {
            char text[ZS_ISA_LINE_MAX];
            zs_isa_inst_text(k, i, text);
            assert_memory_equal(text, "illegal", 7);
            assert_int_equal(zs_isa_inst(k, i)->op, ZS_OP_ILLEGAL);
        }
        zs_isa_kernel_close(k);
    }
}

/* The same answers, whichever stages were asked for first and whatever the cache holds already. */
static void lazy_order_does_not_matter(void **state)
{
    static const char text[] = "mov (8|M0) r2.0<1>:ud r3.0<8;8,1>:ud\n"
                               "(f0.0) if (8|M0) L_END L_END\n"
                               "add (8|M0) r2.0<1>:d r2.0<8;8,1>:d 1:w\n"
                               "L_END:\n endif (8|M0) L_NEXT\nL_NEXT:\n" EOT9;
    static const uint32_t orders[][3] = {{ZS_ISA_TEXT, ZS_ISA_LIVENESS, 0},
                                         {ZS_ISA_LIVENESS, ZS_ISA_TEXT, 0},
                                         {ZS_ISA_BLOCKS, ZS_ISA_INSTS, ZS_ISA_TEXT},
                                         {ZS_ISA_TEXT | ZS_ISA_LIVENESS, 0, 0}};
    struct zs_isa_kernel *first = assemble(ZS_ISA_GEN9, text, ZS_ISA_TEXT | ZS_ISA_LIVENESS);
    struct zs_span code = assembled_code();
    for (size_t o = 0; o < ZS_ARRAY_LEN(orders); o++) {
        struct zs_isa_kernel *k;
        assert_int_equal(zs_isa_kernel_open(ZS_ISA_GEN9, code, NULL, &k, NULL), 0);
        for (size_t s = 0; s < 3; s++)
            assert_int_equal(zs_isa_kernel_decode(k, orders[o][s], NULL), 0);
        assert_int_equal(zs_isa_kernel_decode(k, ZS_ISA_LIVENESS | ZS_ISA_TEXT, NULL), 0);
        assert_int_equal(zs_isa_block_count(k), zs_isa_block_count(first));
        for (uint32_t i = 0; i < zs_isa_kernel_count(k); i++) {
            char a[ZS_ISA_LINE_MAX], b[ZS_ISA_LINE_MAX];
            size_t a_B = zs_isa_inst_line(k, i, a), b_B = zs_isa_inst_line(first, i, b);
            assert_int_equal(a_B, b_B);
            assert_memory_equal(a, b, a_B);
            assert_int_equal(zs_isa_live_grf(k, i), zs_isa_live_grf(first, i));
            assert_int_equal(zs_isa_inst(k, i)->jip_B, zs_isa_inst(first, i)->jip_B);
        }
        zs_isa_kernel_close(k);
    }
    release(first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices),
        cmocka_unit_test(names),
        cmocka_unit_test(operands),
        cmocka_unit_test(layout),
        cmocka_unit_test(messages),
        cmocka_unit_test(send_operands),
        cmocka_unit_test(refuses),
        cmocka_unit_test(empty_and_illegal),
        cmocka_unit_test(lazy_order_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
