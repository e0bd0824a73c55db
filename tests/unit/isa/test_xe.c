/* SPDX-License-Identifier: MIT */
/*
 * Xe2 and Xe3, which libiga64 does not know yet: lines of known instructions, and on all encodings
 * that the tables take, encoder and decoder are inverse.
 */
#include "../test.h"

#include "base/sanitizer.h"
#include "isa/inst.h"
#include "isa/isa_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct vector {
    enum zs_isa_platform platform;
    uint64_t bits[2];
    const char *line;
} vectors[] = {
#define VECTOR(platform, low, high, line) {ZS_ISA_##platform, {low, high}, line},
#define REFUSED(platform, low, high)      {ZS_ISA_##platform, {low, high}, NULL},
#include "xe_vectors.def"
#undef VECTOR
#undef REFUSED
};

/* Comments of messages have their own tests where the vector has none. */
static void check_line(const struct zs_isa_model *model, const struct zs_isa_inst *inst,
                       const char *expected)
{
    char line[ZS_ISA_LINE_MAX + 1];
    size_t size_B = zs_isa_print(model, inst, 0, line);
    line[size_B] = '\0';
    char *comment = strstr(expected, "//") ? NULL : strstr(line, "//");
    if (comment)
        *comment = '\0';
    for (size_B = strlen(line); size_B && line[size_B - 1] == ' '; size_B--)
        line[size_B - 1] = '\0';
    assert_string_equal(line, expected);
}

static uint32_t mismatches;

/* The instruction encodes to its bytes; made anew from its fields it says the same. */
static bool is_inverse(const struct zs_isa_model *model, const struct zs_isa_inst *inst,
                       const uint8_t bytes[16])
{
    uint8_t again[16] = {0}, third[16] = {0};
    const char *field = "";
    struct zs_isa_inst fresh = *inst, back;
    int size_B = zs_isa_encode(model, inst, again, &field);
    if (size_B != inst->size_B || memcmp(again, bytes, inst->size_B) != 0)
        return false;
    memset(fresh.raw, 0, sizeof(fresh.raw));
    memset(again, 0, sizeof(again));
    size_B = zs_isa_encode(model, &fresh, again, &field);
    if (size_B < 0 && fresh.flags & ZS_INST_COMPACTED) {
        /* bits that say nothing have a compacted form, those that we choose have none */
        fresh.flags &= ~(uint32_t)ZS_INST_COMPACTED;
        fresh.size_B = 16;
        size_B = zs_isa_encode(model, &fresh, again, &field);
    }
    if (size_B < 0 || !zs_isa_decode(model, again, &back)) {
        if (mismatches < 10)
            print_message("%s: ", field);
        return false;
    }
    if (zs_isa_encode(model, &back, third, &field) != size_B ||
        memcmp(third, again, (size_t)size_B) != 0)
        return false;
    memset(back.raw, 0, sizeof(back.raw));
    return memcmp(&back, &fresh, sizeof(back)) == 0;
}

static void check_inverse(const struct zs_isa_model *model, const struct zs_isa_inst *inst,
                          const uint8_t bytes[16])
{
    if (is_inverse(model, inst, bytes) || mismatches++ > 10)
        return;
    char line[ZS_ISA_LINE_MAX + 1];
    line[zs_isa_print(model, inst, 0, line)] = '\0';
    print_message("%016llx %016llx %s\n", (unsigned long long)inst->raw[1],
                  (unsigned long long)inst->raw[0], line);
}

/* Fields that say nothing there: Mesa's compiler fills them. */
static bool has_idle_fields(const struct zs_isa_model *model, const struct zs_isa_inst *inst)
{
    const struct zs_isa_opcode *opcode = zs_isa_model_find(model, (enum zs_isa_op)inst->op);
    return inst->op == ZS_OP_SYNC || (inst->op == ZS_OP_MATH && inst->source_count == 1) ||
           zs_isa_opcode_is_branch(opcode);
}

/* The line assembles to the bytes of the vector, which are not ours. */
static void check_assembled(enum zs_isa_platform platform, const struct zs_isa_inst *inst,
                            const char *line, const uint8_t bytes[16])
{
    struct zs_isa_asm_error error = {.size_B = sizeof(error)};
    struct zs_span text = {(const uint8_t *)line, strlen(line)};
    uint8_t *code = NULL;
    size_t size_B = 0;
    if (zs_isa_assemble(platform, text, &code, &size_B, &error)) {
        print_message("%s\n  %s (column %u)\n", line, error.text, error.column);
        mismatches++;
    } else if (size_B != inst->size_B || memcmp(code, bytes, size_B) != 0) {
        uint64_t words[2] = {0};
        memcpy(words, code, ZS_MIN(size_B, sizeof(words)));
        print_message("%s\n  %016llx %016llx, not %016llx %016llx\n", line,
                      (unsigned long long)words[0], (unsigned long long)words[1],
                      (unsigned long long)inst->raw[0], (unsigned long long)inst->raw[1]);
        mismatches++;
    }
    zs_isa_code_free(code);
}

static void known(void **state)
{
    mismatches = 0;
    for (size_t i = 0; i < ZS_ARRAY_LEN(vectors); i++) {
        const struct zs_isa_model *model = zs_isa_model(vectors[i].platform);
        struct zs_isa_inst inst;
        uint8_t bytes[16];
        memcpy(bytes, vectors[i].bits, 16);
        assert_int_equal(zs_isa_decode(model, bytes, &inst), vectors[i].line != NULL);
        if (!vectors[i].line)
            continue;
        check_line(model, &inst, vectors[i].line);
        check_inverse(model, &inst, bytes);
        if (!has_idle_fields(model, &inst))
            check_assembled(vectors[i].platform, &inst, vectors[i].line, bytes);
    }
    assert_int_equal(mismatches, 0);
}

/* Texts that no encoding says: refused, not cut to what fits. */
static void refused_texts(void **state)
{
    static const struct {
        enum zs_isa_platform platform;
        const char *line, *says;
    } rows[] = {
        {ZS_ISA_GEN9, "mov (8|M0) r1.32<1>:q r2.0<4;4,1>:q", "no register has a part 32"},
        {ZS_ISA_GEN9, "mov (8|M0) r1.4<1>:q r2.0<4;4,1>:q", "dst subregister"},
        /* up to Gen11 only the first source can be an architecture register */
        {ZS_ISA_GEN9, "(W) xor (1|M0) r5.0<1>:ud r5.0<0;1,0>:ud a0.7<0;1,0>:ud", "register file"},
        {ZS_ISA_GEN11, "(W) xor (1|M0) r5.0<1>:ud r5.0<0;1,0>:ud a0.7<0;1,0>:ud", "register file"},
        {ZS_ISA_GEN11, "(W) and (1|M0) r5.0<1>:ud r5.0<0;1,0>:ud ce0.0<0;1,0>:ud", "register file"},
        {ZS_ISA_XE2, "mov (8|M0) r1.0<1>:d r2.64<8;8,1>:d", "no register has a part 64"},
        {ZS_ISA_XE2, "mov (8|M0) r1.0<1>:d r2.16<8;8,1>:d", "src0 subregister"},
        {ZS_ISA_XE2, "send.ugm (16|M0) r8 r[s0.8] 0x0 0x04140588", "'a0' is expected"},
        {ZS_ISA_XE3, "mov (16|M0) r8.0<1>:d r[s0.8]<1;1,0>:d", "'a0' is expected"},
        {ZS_ISA_XE2, "send.ugm (1|M0) null r119 r113:1 0x1000:0x4 0x42000504", "a register"},
        {ZS_ISA_XE2, "send.ugm (1|M0) null r119 r113:1 0x70000:a0.1 0x42000504", "extended"},
        {ZS_ISA_XE_LP, "while (16|M0) r10.1",
         "a label or a number"}, /* only some go by registers */
        {ZS_ISA_XE_HPC, "send.ugm (1|M0) null r119 r113:1 0x1000:a0.1 0x42000504", "number"},
    };
    for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        struct zs_isa_asm_error error = {.size_B = sizeof(error)};
        struct zs_span text = {(const uint8_t *)rows[i].line, strlen(rows[i].line)};
        uint8_t *code = NULL;
        size_t size_B = 0;
        assert_int_equal(zs_isa_assemble(rows[i].platform, text, &code, &size_B, &error), -EINVAL);
        if (!strstr(error.text, rows[i].says))
            fail_msg("%s: %s", rows[i].line, error.text);
        zs_isa_code_free(code);
    }
    uint8_t *code = NULL;
    size_t size_B = 0;
    static const char first[] = "(W) xor (1|M0) r5.0<1>:ud a0.7<0;1,0>:ud r5.0<0;1,0>:ud";
    struct zs_span text = {(const uint8_t *)first, sizeof(first) - 1};
    assert_int_equal(zs_isa_assemble(ZS_ISA_GEN11, text, &code, &size_B, NULL), 0);
    zs_isa_code_free(code);
}

/* ---- messages ---- */

struct message_case {
    enum zs_isa_platform platform;
    enum zs_isa_sfid sfid;
    uint32_t desc, exdesc, exdesc_offset;
    bool exdesc_in_register;
    const char *words; /* behind the lengths in a listing */
    struct zs_isa_message expected;
};

/* Places: MessageDecoderLSC.cpp and MessageDecoderOther.cpp of intel-graphics-compiler. */
static const struct message_case messages[] = {
    /* caches by bits 19:16: 5 uncached, constant cached; 9 and 14 are new for loads, too */
    {ZS_ISA_XE2,
     ZS_SFID_UGM,
     0x02150500,
     0,
     0,
     false,
     "load.ugm.d32.a32.uc.cc",
     {.kind = ZS_MSG_LOAD,
      .address_bits = 32,
      .element_B = 4,
      .components = 1,
      .cache_l1 = ZS_CACHE_UNCACHED,
      .cache_l3 = ZS_CACHE_CONSTANT}},
    {ZS_ISA_XE3,
     ZS_SFID_UGM,
     0x021e0500,
     0,
     0,
     false,
     "load.ugm.d32.a32.ri.ri",
     {.kind = ZS_MSG_LOAD,
      .address_bits = 32,
      .element_B = 4,
      .components = 1,
      .cache_l1 = ZS_CACHE_READ_INVALIDATE,
      .cache_l3 = ZS_CACHE_READ_INVALIDATE}},
    {ZS_ISA_XE_HPC,
     ZS_SFID_UGM,
     0x02150500,
     0,
     0,
     false,
     "load.ugm.d32.a32.uc.ca",
     {.kind = ZS_MSG_LOAD,
      .address_bits = 32,
      .element_B = 4,
      .components = 1,
      .cache_l1 = ZS_CACHE_UNCACHED,
      .cache_l3 = ZS_CACHE_CACHED}},
    {ZS_ISA_XE2,
     ZS_SFID_UGM,
     0x020e0504,
     0,
     0,
     false,
     "store.ugm.d32.a32.wb.wb",
     {.kind = ZS_MSG_STORE,
      .address_bits = 32,
      .element_B = 4,
      .components = 1,
      .cache_l1 = ZS_CACHE_WRITE_BACK,
      .cache_l3 = ZS_CACHE_WRITE_BACK}},
    /* offsets: of a flat address ExDesc[31:12] */
    {ZS_ISA_XE2,
     ZS_SFID_UGM,
     0x04100580,
     0xffff0000,
     0,
     false,
     "load.ugm.d32.a64-0x10",
     {.kind = ZS_MSG_LOAD, .address_bits = 64, .element_B = 4, .components = 1, .offset_B = -16}},
    {ZS_ISA_XE_HPC,
     ZS_SFID_UGM,
     0x04100580,
     0xffff0000,
     0,
     false,
     "load.ugm.d32.a64",
     {.kind = ZS_MSG_LOAD, .address_bits = 64, .element_B = 4, .components = 1}},
    /* of a surface state in a register ExDescImm[31:19] above [15:12] */
    {ZS_ISA_XE2,
     ZS_SFID_UGM,
     0x42100500,
     0,
     0x0008f000,
     true,
     "load.ugm.d32.a32.ss[a0.0]+0x1F",
     {.kind = ZS_MSG_LOAD, .address_bits = 32, .element_B = 4, .components = 1, .offset_B = 0x1f}},
    /* of a binding table index ExDesc[23:12] */
    {ZS_ISA_XE2,
     ZS_SFID_UGM,
     0x62100500,
     0x03008000,
     0,
     false,
     "load.ugm.d32.a32.bti[3]+0x8",
     {.kind = ZS_MSG_LOAD, .address_bits = 32, .element_B = 4, .components = 1, .offset_B = 8}},
    /* of a 2D block y in ExDesc[31:22], x in [21:12] */
    {ZS_ISA_XE2,
     ZS_SFID_UGM,
     0x02100403,
     0xffc01000,
     0,
     false,
     "load_block2d.ugm.d32.a64+(+0x1,-0x1)",
     {.kind = ZS_MSG_LOAD, .address_bits = 64, .offset_x = 1, .offset_y = -1}},
    /* urb is a port of the load/store cache */
    {ZS_ISA_XE2,
     ZS_SFID_URB,
     0x02000504,
     0,
     0,
     false,
     "store.urb.d32.a32",
     {.kind = ZS_MSG_STORE, .address_bits = 32, .element_B = 4, .components = 1}},
    {ZS_ISA_XE2,
     ZS_SFID_TGM,
     0x02000528,
     0,
     0,
     false,
     "atomic counter append add",
     {.kind = ZS_MSG_ATOMIC, .address_bits = 32, .element_B = 4, .components = 1}},
    {ZS_ISA_XE_HPC, ZS_SFID_TGM, 0x02000528, 0, 0, false, "?", {.kind = ZS_MSG_UNKNOWN}},
    /* gateway operations have four bits */
    {ZS_ISA_XE2, ZS_SFID_GTWY, 0x02000008, 0, 0, false, "save barrier", {.kind = ZS_MSG_OTHER}},
    {ZS_ISA_XE2, ZS_SFID_GTWY, 0x02000004, 0, 0, false, "signal barrier", {.kind = ZS_MSG_BARRIER}},
    /* bit 31 of a sampler's message: offsets per pixel */
    {ZS_ISA_XE2,
     ZS_SFID_SMPL,
     0x84441300,
     0,
     0,
     false,
     "simd32 sample_po_b using sampler index 3",
     {.kind = ZS_MSG_SAMPLE, .element_B = 4, .components = 4}},
    {ZS_ISA_XE2,
     ZS_SFID_RC,
     0x02030005,
     0x00209000,
     0,
     false,
     "render write to bti[5].rti[1].s0a.om",
     {.kind = ZS_MSG_STORE, .element_B = 4, .components = 4}},
};

static void check_message(const struct message_case *c, const struct zs_isa_message *m)
{
    const struct zs_isa_message *e = &c->expected;
    assert_int_equal(m->kind, e->kind);
    assert_int_equal(m->address_bits, e->address_bits);
    assert_int_equal(m->element_B, e->element_B);
    assert_int_equal(m->components, e->components);
    assert_int_equal(m->cache_l1, e->cache_l1);
    assert_int_equal(m->cache_l3, e->cache_l3);
    assert_int_equal(m->offset_B, e->offset_B);
    assert_int_equal(m->offset_x, e->offset_x);
    assert_int_equal(m->offset_y, e->offset_y);
}

static void message_fields(void **state)
{
    for (size_t i = 0; i < ZS_ARRAY_LEN(messages); i++) {
        const struct message_case *c = &messages[i];
        const struct zs_isa_model *model = zs_isa_model(c->platform);
        struct zs_isa_inst inst = {.op = ZS_OP_SEND,
                                   .sfid = (uint8_t)c->sfid,
                                   .exec_size = 16,
                                   .source_count = 2,
                                   .flags = c->exdesc_in_register ? ZS_INST_EXDESC_REG : 0,
                                   .desc = c->desc,
                                   .exdesc = c->exdesc,
                                   .exdesc_offset = c->exdesc_offset};
        char line[ZS_ISA_LINE_MAX + 1];
        line[zs_isa_print_message(model, &inst, line, ZS_ISA_LINE_MAX)] = '\0';
        const char *words = strstr(line, "; ");
        assert_non_null(words);
        assert_string_equal(words + 2, c->words);
        struct zs_isa_message m;
        zs_isa_make_message(model, &inst, &m);
        check_message(c, &m);
    }
}

/* ---- all encodings ---- */

static uint64_t next_random(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t x = *state;
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Random bits, half the time few of them: fields that must be zero often are. */
static uint64_t random_bits(uint64_t *state)
{
    uint64_t x = next_random(state);
    return next_random(state) & 1 ? x : x & next_random(state) & next_random(state);
}

/* What is printed assembles to an instruction that prints the same. (A compacted one may not: where
 * its whole form has bits that say nothing, what the assembler puts there may have no short form.)
 */
static void check_text(enum zs_isa_platform platform, const struct zs_isa_inst *inst)
{
    const struct zs_isa_model *model = zs_isa_model(platform);
    struct zs_isa_asm_error error = {.size_B = sizeof(error)};
    char line[ZS_ISA_LINE_MAX + 1], again[ZS_ISA_LINE_MAX + 1] = "";
    size_t length = zs_isa_print(model, inst, 0, line), size_B = 0;
    struct zs_isa_inst back;
    uint8_t *code = NULL;
    line[length] = '\0';
    int failed = zs_isa_assemble(platform, (struct zs_span){(const uint8_t *)line, length}, &code,
                                 &size_B, &error);
    if (!failed && size_B >= 8 && zs_isa_decode(model, code, &back))
        again[zs_isa_print(model, &back, 0, again)] = '\0';
    if ((failed || strcmp(line, again) != 0) && mismatches++ < 10)
        print_message("%s\n%s%s\n", line, again, failed ? error.text : "");
    zs_isa_code_free(code);
}

/* The text of a second indirect descriptor without a first is that of a first. */
static bool has_second_only(const struct zs_isa_inst *inst)
{
    return (inst->flags & (ZS_INST_INDIRECT0 | ZS_INST_INDIRECT1)) == ZS_INST_INDIRECT1;
}

/* How many of `count` random encodings of the opcode are instructions; each is checked. */
static uint32_t try_opcode(const struct zs_isa_model *model, uint32_t code, bool compacted,
                           uint32_t count, uint64_t *state)
{
    uint32_t taken = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t bits[2] = {random_bits(state), compacted ? 0 : random_bits(state)};
        struct zs_isa_inst inst;
        uint8_t bytes[16];
        bits[0] = (bits[0] & ~UINT64_C(0x2000007f)) | code | (compacted ? 0x20000000u : 0);
        memcpy(bytes, bits, 16);
        if (!zs_isa_decode(model, bytes, &inst))
            continue;
        check_inverse(model, &inst, bytes);
        if (taken++ % 8 == 0 && !compacted && !has_second_only(&inst) &&
            !zs_isa_opcode_is_branch(zs_isa_model_opcode(model, code)))
            check_text(model->platform, &inst);
    }
    return taken;
}

static bool has_compacted(const struct zs_isa_opcode *opcode)
{
    return opcode->form == ZS_FORM_UNARY || opcode->form == ZS_FORM_BINARY ||
           opcode->form == ZS_FORM_TERNARY || opcode->form == ZS_FORM_BFN ||
           opcode->form == ZS_FORM_DPAS || opcode->form == ZS_FORM_SYNC;
}

static void inverse(void **state)
{
    static const enum zs_isa_platform platforms[] = {ZS_ISA_XE_HPC, ZS_ISA_XE2, ZS_ISA_XE3,
                                                     ZS_ISA_XE3P};
    const uint32_t tries = ZS_HAS_ASAN ? 3000 : 12000; /* which takes ten times as long for one */
    uint64_t random = 1;
    uint32_t compacted = 0;
    mismatches = 0;
    for (size_t i = 0; i < ZS_ARRAY_LEN(platforms); i++) {
        const struct zs_isa_model *model = zs_isa_model(platforms[i]);
        assert_non_null(model);
        for (uint32_t code = 0; code < 128; code++) {
            const struct zs_isa_opcode *opcode = zs_isa_model_opcode(model, code);
            if (opcode->form == ZS_FORM_NONE)
                continue;
            assert_true(try_opcode(model, code, false, tries, &random) ||
                        try_opcode(model, code, false, 200000, &random)); /* few words are */
            if (has_compacted(opcode))
                compacted += try_opcode(model, code, true, tries, &random);
        }
    }
    assert_int_equal(mismatches, 0);
    assert_true(compacted > 3 * tries);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known),
        cmocka_unit_test(refused_texts),
        cmocka_unit_test(message_fields),
        cmocka_unit_test(inverse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
