/* SPDX-License-Identifier: MIT */
#include "subject.h"

#include "isa/asm.h"

#include <stdio.h>
#include <string.h>

static bool decode(enum zs_isa_platform platform, const uint8_t bytes[16], struct zs_isa_inst *inst,
                   char ret_reason[SUBJECT_LINE_MAX_B])
{
    const struct zs_isa_model *model = zs_isa_model(platform);
    if (!model) {
        strcpy(ret_reason, "no tables of this instruction set");
        return false;
    }
    bool good = zs_isa_decode(model, bytes, inst) && inst->op != ZS_OP_ILLEGAL;
    if (!good)
        snprintf(ret_reason, SUBJECT_LINE_MAX_B, "illegal // %s", zs_isa_error_text(inst->error));
    return good;
}

bool subject_print(enum zs_isa_platform platform, const uint8_t bytes[16],
                   char ret_line[SUBJECT_LINE_MAX_B])
{
    struct zs_isa_inst inst;
    if (!decode(platform, bytes, &inst, ret_line))
        return false;
    size_t size_B = zs_isa_print(zs_isa_model(platform), &inst, 0, ret_line);
    while (size_B && ret_line[size_B - 1] == ' ')
        size_B--;
    ret_line[size_B] = '\0';
    return true;
}

bool subject_encode(enum zs_isa_platform platform, const uint8_t bytes[16], bool afresh,
                    uint8_t ret_bytes[16], char ret_line[SUBJECT_LINE_MAX_B])
{
    struct zs_isa_inst inst;
    const char *field = "";
    if (!decode(platform, bytes, &inst, ret_line))
        return false;
    if (afresh)
        inst.raw[0] = inst.raw[1] = 0;
    int size_B = zs_isa_encode(zs_isa_model(platform), &inst, ret_bytes, &field);
    if (size_B < 0)
        snprintf(ret_line, SUBJECT_LINE_MAX_B, "not encoded: %s", field);
    return size_B > 0;
}

bool subject_assemble(enum zs_isa_platform platform, const char *line, uint8_t ret_bytes[16],
                      uint32_t *ret_size_B, char ret_error[SUBJECT_LINE_MAX_B])
{
    struct zs_buf out = {0};
    struct zs_isa_asm_error error = {0};
    int failed = zs_isa_assemble_text(zs_isa_model(platform), zs_span_make(line, strlen(line)),
                                      &out, &error);
    bool good = !failed && (out.size_B == 8 || out.size_B == 16);
    *ret_size_B = (uint32_t)out.size_B;
    if (good)
        memcpy(ret_bytes, out.data, out.size_B);
    else
        snprintf(ret_error, SUBJECT_LINE_MAX_B, "column %u: %s", error.column,
                 failed ? error.text : "not one instruction");
    zs_buf_fini(&out);
    return good;
}
