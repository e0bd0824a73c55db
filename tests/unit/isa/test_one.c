/* SPDX-License-Identifier: MIT */
/* Single instructions: encoding, effects, dependencies; registers other than general ones. What is
 * assembled comes from libiga64. */
#include "../test.h"

#include "assemble.h"

#include "isa/isa.h"

#include <errno.h>
#include <string.h>

static const enum zs_isa_platform platforms[] = {ZS_ISA_GEN8, ZS_ISA_GEN9, ZS_ISA_GEN11,
                                                 ZS_ISA_XE_LP, ZS_ISA_XE_HPC};

/* The first instruction of a text, as struct and bytes. */
static struct zs_isa_inst first(enum zs_isa_platform platform, const char *text, uint8_t bytes[16])
{
    struct zs_isa_inst inst;
    struct zs_isa_kernel *k = assemble(platform, text, ZS_ISA_TEXT);
    struct zs_span code = assembled_code();
    int size_B = zs_isa_decode_one(platform, code, &inst);
    assert_true(size_B == 8 || size_B == 16);
    memset(bytes, 0, 16);
    memcpy(bytes, code.data, (size_t)size_B);
    release(k);
    return inst;
}

/* Bits that no field covers survive, and a changed instruction is what the assembler would make. */
static void encode_what_was_decoded(void **state)
{
    uint8_t bytes[16], expected[16], out[16];
    for (size_t p = 0; p < ZS_ARRAY_LEN(platforms); p++) {
        enum zs_isa_platform platform = platforms[p];
        struct zs_isa_inst inst =
            first(platform, "(W) mov (8|M0) r12.0<1>:f r15.0<8;8,1>:f\n", bytes);
        assert_int_equal(zs_isa_encode_one(platform, &inst, out, NULL), 16);
        assert_memory_equal(out, bytes, 16);
        inst.dst.reg = 13;
        inst.flags &= ~(uint32_t)ZS_INST_NOMASK;
        first(platform, "mov (8|M0) r13.0<1>:f r15.0<8;8,1>:f\n", expected);
        assert_int_equal(zs_isa_encode_one(platform, &inst, out, NULL), 16);
        assert_memory_equal(out, expected, 16);
        bytes[0] |= 0x80; /* bit 7 is reserved, or Breakpoint's of compacted instructions */
        assert_int_equal(zs_isa_decode_one(platform, zs_span_make(bytes, 16), &inst), 16);
        assert_int_equal(zs_isa_encode_one(platform, &inst, out, NULL), 16);
        assert_memory_equal(out, bytes, 16);
    }
}

/* Gen11: a first source of mme registers in type nf, which stands where immediates do. */
static void encode_macro_source(void **state)
{
    const uint8_t bytes[16] = {0x5b, 0x00, 0x88, 0x00, 0x08, 0x48, 0x00, 0x24,
                               0x3b, 0x40, 0x22, 0x07, 0x0c, 0x84, 0x80, 0x00};
    uint8_t out[16];
    struct zs_isa_inst inst, back;
    assert_int_equal(zs_isa_decode_one(ZS_ISA_GEN11, zs_span_make(bytes, 16), &inst), 16);
    assert_int_equal(inst.src[0].file, ZS_FILE_MME);
    inst.dst.reg++;
    assert_int_equal(zs_isa_encode_one(ZS_ISA_GEN11, &inst, out, NULL), 16);
    assert_int_equal(zs_isa_decode_one(ZS_ISA_GEN11, zs_span_make(out, 16), &back), 16);
    assert_int_equal(back.dst.reg, inst.dst.reg);
    assert_memory_equal(&back.src, &inst.src, sizeof back.src);
    back.dst.reg--;
    assert_int_equal(zs_isa_encode_one(ZS_ISA_GEN11, &back, out, NULL), 16);
    assert_memory_equal(out, bytes, 16);
}

/* Gen9: one half of a group of four is written by an instruction of three sources. */
static void encode_one_half(void **state)
{
    const uint8_t bytes[16] = {0x5b, 0x05, 0x40, 0x00, 0x04, 0x00, 0x43, 0x7e,
                               0xc9, 0xe1, 0x27, 0x39, 0x0c, 0x24, 0x47, 0x1f};
    uint8_t out[16];
    struct zs_isa_inst inst, back;
    assert_int_equal(zs_isa_decode_one(ZS_ISA_GEN9, zs_span_make(bytes, 16), &inst), 16);
    assert_int_equal(inst.exec_size, 1);
    assert_int_equal(inst.dst.type, ZS_TYPE_HF);
    for (uint8_t half = 0; half < 16; half++) {
        inst.dst.reg = 100; /* not as it was decoded */
        inst.dst.subreg = half;
        inst.dst.subreg_B = (uint8_t)(2 * half);
        assert_int_equal(zs_isa_encode_one(ZS_ISA_GEN9, &inst, out, NULL), 16);
        assert_int_equal(zs_isa_decode_one(ZS_ISA_GEN9, zs_span_make(out, 16), &back), 16);
        assert_memory_equal(&back.dst, &inst.dst, sizeof(back.dst));
        assert_int_equal(back.exec_size, 1);
    }
}

/* The field that cannot hold what the instruction says has a name. */
static void refusals_name_the_field(void **state)
{
    static const struct {
        size_t at;
        uint8_t value;
        const char *field;
    } cases[] = {
        {offsetof(struct zs_isa_inst, exec_size), 3, "execution size"},
        {offsetof(struct zs_isa_inst, channel_offset), 2, "channel offset"},
        {offsetof(struct zs_isa_inst, src[0].width), 3, "src0 width"},
        {offsetof(struct zs_isa_inst, src[0].vstride), 5, "src0 vertical stride"},
        {offsetof(struct zs_isa_inst, dst.hstride), 3, "dst stride"},
        {offsetof(struct zs_isa_inst, dst.type), ZS_TYPE_U4, "dst type"},
        {offsetof(struct zs_isa_inst, op), ZS_OP_DPAS, "opcode"},
        {offsetof(struct zs_isa_inst, dst.type), 200, "operand"},
    };
    uint8_t bytes[16], out[16];
    const char *field = NULL;
    struct zs_isa_inst good =
        first(ZS_ISA_GEN9, "(W) mov (8|M0) r12.0<1>:f r15.0<8;8,1>:f\n", bytes);
    for (size_t i = 0; i < ZS_ARRAY_LEN(cases); i++) {
        struct zs_isa_inst inst = good;
        memcpy((uint8_t *)&inst + cases[i].at, &cases[i].value, 1);
        assert_int_equal(zs_isa_encode_one(ZS_ISA_GEN9, &inst, out, &field), -EINVAL);
        assert_string_equal(field, cases[i].field);
    }
    good.flags |= ZS_INST_COMPACTED;
    good.src[0].reg = 200; /* no bit is missing, but patterns have r0..r127 alone */
    good.exec_size = 2;
    assert_int_equal(zs_isa_encode_one(ZS_ISA_GEN9, &good, out, &field), -EINVAL);
    assert_string_equal(field, "compaction");
    assert_int_equal(zs_isa_decode_one(ZS_ISA_GEN9, zs_span_make(bytes, 12), &good), -ENODATA);
    assert_int_equal(zs_isa_decode_one(ZS_ISA_NONE, zs_span_make(bytes, 16), &good), -EINVAL);
}

static void effects(void **state)
{
    struct zs_isa_kernel *k =
        assemble(ZS_ISA_GEN9,
                 "cmp (8|M8) (lt)f0.0 null<1>:d r2.0<8;8,1>:d r3.0<8;8,1>:d\n"
                 "(f0.1) sel (16|M0) r10.0<1>:d r12.0<8;8,1>:d r14.0<8;8,1>:d\n"
                 "(W) mov (1|M0) a0.2<1>:ud r5.0<0;1,0>:ud\n"
                 "mov (8|M0) r[a0.3,32]<1>:ud r6.0<8;8,1>:ud\n"
                 "mach (8|M0) r7.0<1>:d r8.0<8;8,1>:d r9.0<8;8,1>:d {AccWrEn}\n"
                 "send (8|M0) r16:w r2 0xC 0x02106E00\n"
                 "(W) mov (1|M0) f1.1<1>:uw 0x5:uw\n",
                 ZS_ISA_INSTS);
    struct zs_isa_effects e;
    zs_isa_inst_effects(k, 0, &e);
    assert_int_equal(e.flags_written[0], 0xff00);
    assert_int_equal(e.grf_read[0], 1 << 2 | 1 << 3);
    assert_int_equal(e.grf_written[0], 0);
    zs_isa_inst_effects(k, 1, &e);
    assert_int_equal(e.flags_read[0], 0xffff0000);
    assert_int_equal(e.grf_written[0], 3 << 10);
    assert_false(e.conditional);
    zs_isa_inst_effects(k, 2, &e);
    assert_int_equal(e.address_written, 3 << 4);
    zs_isa_inst_effects(k, 3, &e);
    assert_int_equal(e.address_read, 1 << 3);
    assert_true(e.indirect_written && !e.indirect_read);
    zs_isa_inst_effects(k, 4, &e);
    assert_int_equal(e.acc_written & 1, 1);
    assert_int_equal(e.acc_read & 1, 1);
    zs_isa_inst_effects(k, 5, &e);
    assert_true(e.reads_memory && !e.writes_memory);
    zs_isa_inst_effects(k, 6, &e);
    assert_int_equal(e.flags_written[1], 0xffff0000);
    release(k);
}

/* 31 registers of a block of two dimensions may be 32, all others are not. */
static void longest_response(void **state)
{
    struct zs_isa_kernel *k = assemble(ZS_ISA_XE_HPC,
                                       "send.ugm (1|M0) r30 r20 null:0 0x0 0x03F00403 {$3}\n"
                                       "send.ugm (1|M0) r30 r20 null:0 0x0 0x03E00403 {$4}\n"
                                       "send.ugm (1|M0) r30 r20 null:0 0x0 0x03F0F580 {$5}\n",
                                       ZS_ISA_INSTS);
    static const uint32_t last[] = {30 + 31, 30 + 29, 30 + 30};
    for (uint32_t i = 0; i < ZS_ARRAY_LEN(last); i++) {
        struct zs_isa_effects e;
        zs_isa_inst_effects(k, i, &e);
        assert_int_equal(e.grf_written[0], ((UINT64_C(2) << last[i]) - 1) & ~UINT64_C(0) << 30);
        assert_int_equal(e.grf_written[1], 0);
    }
    release(k);
}

static void dependencies(void **state)
{
    struct zs_isa_kernel *k = assemble(ZS_ISA_GEN9,
                                       "add (8|M0) r2.0<1>:d r3.0<8;8,1>:d r4.0<8;8,1>:d\n"
                                       "add (8|M0) r5.0<1>:d r6.0<8;8,1>:d r7.0<8;8,1>:d\n"
                                       "add (8|M0) r3.0<1>:d r2.0<8;8,1>:d r5.0<8;8,1>:d\n"
                                       "(f0.0) mov (8|M0) r9.0<1>:d r10.0<8;8,1>:d\n"
                                       "cmp (8|M0) (lt)f0.0 null<1>:d r9.0<8;8,1>:d 1:w\n",
                                       ZS_ISA_INSTS | ZS_ISA_BLOCKS);
    struct zs_isa_dependency d[8];
    assert_int_equal(zs_isa_inst_dependencies(k, 1, d, 8), 0);
    assert_int_equal(zs_isa_inst_dependencies(k, 2, d, 8), 2);
    assert_int_equal(d[0].inst, 1);
    assert_int_equal(d[0].kinds, ZS_DEP_READ_AFTER_WRITE);
    assert_int_equal(d[1].inst, 0);
    assert_int_equal(d[1].kinds, ZS_DEP_READ_AFTER_WRITE | ZS_DEP_WRITE_AFTER_READ);
    assert_int_equal(zs_isa_inst_dependencies(k, 4, d, 8), 1);
    assert_int_equal(d[0].kinds, ZS_DEP_READ_AFTER_WRITE | ZS_DEP_WRITE_AFTER_READ);
    assert_int_equal(zs_isa_inst_dependencies(k, 2, d, 1), 1);
    release(k);
}

/* A flag that waiting lanes need lives through the other arm, which writes the same register. */
static void live_flags_and_accumulators(void **state)
{
    struct zs_isa_kernel *k =
        assemble(ZS_ISA_GEN9,
                 "cmp (16|M0) (lt)f1.0 null<1>:d r2.0<8;8,1>:d r4.0<8;8,1>:d\n" /* 0 */
                 "mul (8|M0) acc0.0<1>:d r2.0<8;8,1>:d r6.0<8;8,1>:d\n"         /* 1 */
                 "mov (8|M0) r8.0<1>:d acc0.0<8;8,1>:d\n"                       /* 2 */
                 "(f1.0) if (16|M0) L_ELSE L_END\n"                             /* 3 */
                 "cmp (16|M0) (gt)f0.0 null<1>:d r2.0<8;8,1>:d 1:w\n"           /* 4 */
                 "(f0.0) mov (16|M0) r10.0<1>:d 1:w\n"                          /* 5 */
                 "else (16|M0) L_END L_END\n"                                   /* 6 */
                 "L_ELSE:\n"
                 "(f0.0) mov (16|M0) r10.0<1>:d 2:w\n" /* 7 */
                 "L_END:\n endif (16|M0) L_NEXT\nL_NEXT:\n"
                 "(W) mov (8|M0) r127.0<1>:f r0.0<8;8,1>:f\n"
                 "(W) send (8|M0) null r127 0x27 0x02000010 {EOT}\n",
                 ZS_ISA_LIVENESS);
    struct zs_isa_live_arf live;
    zs_isa_live_arf(k, 0, &live);
    assert_int_equal(live.flags[0], 0xffff); /* the else arm reads what was there before */
    assert_int_equal(live.flags[1], 0);
    assert_int_equal(live.acc, 0);
    zs_isa_live_arf(k, 2, &live);
    assert_int_equal(live.flags[1], 0xffff);
    assert_int_equal(live.acc, 1);
    zs_isa_live_arf(k, 4, &live); /* parked lanes */
    assert_int_equal(live.flags[0], 0xffff);
    assert_int_equal(live.flags[1], 0);
    zs_isa_live_arf(k, 8, &live);
    assert_int_equal(live.flags[0], 0);
    release(k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(encode_what_was_decoded),
        cmocka_unit_test(encode_macro_source),
        cmocka_unit_test(encode_one_half),
        cmocka_unit_test(refusals_name_the_field),
        cmocka_unit_test(effects),
        cmocka_unit_test(longest_response),
        cmocka_unit_test(dependencies),
        cmocka_unit_test(live_flags_and_accumulators),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
