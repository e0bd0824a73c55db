/* SPDX-License-Identifier: MIT */
/*
 * The assembler: arbitrary text, and text of arbitrary instructions. The first byte chooses the
 * instruction set and which of the two. What was printed of an instruction that can be encoded from
 * its fields assembles, and to an instruction that prints the same.
 */
#include "isa/asm.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B);

enum { INPUT_MAX_B = 1 << 14 };

static void assemble_text(const struct zs_isa_model *model, struct zs_span text)
{
    struct zs_buf out = {0};
    struct zs_isa_asm_error error = {.size_B = sizeof(error)};
    int failed = zs_isa_assemble_text(model, text, &out, &error);
    zs_assert(failed == 0 || (failed == -22 && error.line && error.column && error.text[0]));
    zs_assert(failed || out.size_B % 8 == 0);
    zs_buf_fini(&out);
}

static void print_and_assemble(const struct zs_isa_model *model, const uint8_t bytes[16])
{
    struct zs_isa_inst inst, again;
    uint8_t code[16];
    char line[ZS_ISA_LINE_MAX], after[ZS_ISA_LINE_MAX];
    const char *field;
    struct zs_buf out = {0};
    struct zs_isa_asm_error error = {.size_B = sizeof(error)};
    if (!zs_isa_decode(model, bytes, &inst) || inst.op == ZS_OP_ILLEGAL)
        return;
    /* the text of a second indirect descriptor without a first is that of a first */
    if ((inst.flags & (ZS_INST_INDIRECT0 | ZS_INST_INDIRECT1)) == ZS_INST_INDIRECT1)
        return;
    /* a jump is the thread's in assembly, with (W) or without, as for libiga64 */
    if (inst.op == ZS_OP_JMPI && !(inst.flags & ZS_INST_NOMASK))
        return;
    size_t size_B = zs_isa_print(model, &inst, 0, line);
    assemble_text(model, zs_span_make(line, size_B));
    inst.raw[0] = inst.raw[1] = 0;
    if (zs_isa_encode(model, &inst, code, &field) < 0)
        return;
    if (!zs_isa_assemble_text(model, zs_span_make(line, size_B), &out, &error) &&
        (out.size_B == 8 || out.size_B == 16)) {
        memset(code, 0, sizeof(code));
        memcpy(code, out.data, out.size_B);
        zs_assert(zs_isa_decode(model, code, &again));
        size_t after_B = zs_isa_print(model, &again, 0, after);
        zs_assert(after_B == size_B && memcmp(line, after, size_B) == 0);
    }
    zs_buf_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B)
{
    if (size_B < 1 || size_B > INPUT_MAX_B)
        return 0;
    enum zs_isa_platform platform =
        (enum zs_isa_platform)(ZS_ISA_GEN8 + data[0] % (ZS_ISA_PLATFORM_COUNT - ZS_ISA_GEN8));
    const struct zs_isa_model *model = zs_isa_model(platform);
    if (!model)
        return 0;
    if (data[0] & 0x80)
        assemble_text(model, zs_span_make(data + 1, size_B - 1));
    for (size_t at_B = 1; !(data[0] & 0x80) && at_B + 16 <= size_B; at_B += 16)
        print_and_assemble(model, data + at_B);
    return 0;
}
