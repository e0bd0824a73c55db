/* SPDX-License-Identifier: MIT */
/*
 * Xe2 and Xe3, which libiga64 does not know yet: lines of known instructions, and on all encodings
 * that the tables take, encoder and decoder are inverse.
 */
#include "../test.h"

#include "isa/inst.h"

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
    }
    assert_int_equal(mismatches, 0);
}

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
        taken++;
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
    static const enum zs_isa_platform platforms[] = {ZS_ISA_XE_HPC, ZS_ISA_XE2, ZS_ISA_XE3};
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
            assert_int_not_equal(try_opcode(model, code, false, 20000, &random), 0);
            if (has_compacted(opcode))
                compacted += try_opcode(model, code, true, 20000, &random);
        }
    }
    assert_int_equal(mismatches, 0);
    assert_true(compacted > 100000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known),
        cmocka_unit_test(inverse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
