/* SPDX-License-Identifier: MIT */
#include "subject.h"

#include "isa/isa_priv.h"

#include <stdio.h>
#include <string.h>

/* Through a kernel of one instruction, as listings are made. */
bool subject_print(enum zs_isa_platform platform, const uint8_t inst[16],
                   char ret_line[SUBJECT_LINE_MAX_B])
{
    struct zs_diag diag = {0};
    struct zs_isa_kernel *kernel;
    struct zs_span code = zs_span_make(inst, zs_isa_raw_size_B(inst));
    int error = zs_isa_kernel_open(platform, code, NULL, &kernel, &diag);
    if (error)
        return false;
    bool good = !zs_isa_kernel_decode(kernel, ZS_ISA_TEXT, &diag);
    if (good) {
        size_t size_B;
        const char *line = zs_isa_inst_line(kernel, 0, &size_B);
        size_B = ZS_MIN(size_B, (size_t)SUBJECT_LINE_MAX_B - 1);
        while (size_B && line[size_B - 1] == ' ')
            size_B--;
        memcpy(ret_line, line, size_B);
        ret_line[size_B] = '\0';
        good = zs_isa_kernel_illegal_count(kernel) == 0;
    }
    zs_isa_kernel_close(kernel);
    return good;
}

bool subject_encode(enum zs_isa_platform platform, const uint8_t inst[16], uint8_t ret_bytes[16],
                    char ret_line[SUBJECT_LINE_MAX_B])
{
    (void)platform;
    (void)ret_line;
    memcpy(ret_bytes, inst, 16);
    return true;
}

bool subject_assemble(enum zs_isa_platform platform, const char *line, uint8_t ret_bytes[16],
                      uint32_t *ret_size_B, char ret_error[SUBJECT_LINE_MAX_B])
{
    (void)platform;
    (void)line;
    (void)ret_bytes;
    (void)ret_size_B;
    strcpy(ret_error, "there is no assembler");
    return false;
}
