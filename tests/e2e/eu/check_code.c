/* SPDX-License-Identifier: MIT */
/*
 * check_code FILE...: lower raw Gen9 code, and report what is no instruction and what the
 * interpreter does not model.
 */
#include "base/file.h"
#include "eu/eu.h"

#include <stdio.h>

/* Everything that IGC emits is modelled. */
static int lower_code(struct zs_span code, const char *name)
{
    struct zs_eu_program *program;
    struct zs_eu_inst_info info;
    struct zs_diag diag = {0};
    int failed = 0;

    if (zs_eu_lower(&(struct zs_eu_lower_params){.code = code, .simd = 32}, &program, &diag)) {
        printf("%s: %s\n", name, diag.text);
        return 1;
    }
    for (uint32_t i = 0; zs_eu_program_inst(program, i, &info); i++) {
        if (info.modelled)
            continue;
        printf("%s: 0x%x: %s is not modelled (%016llx %016llx)\n", name, info.offset_B,
               info.mnemonic, (unsigned long long)info.raw[0], (unsigned long long)info.raw[1]);
        failed = 1;
    }
    zs_eu_program_destroy(program);
    return failed;
}

int main(int argc, char **argv)
{
    int failed = 0;

    for (int i = 1; i < argc && !failed; i++) {
        struct zs_file file;
        struct zs_diag diag = {0};
        failed = zs_file_read(argv[i], 0, &file, &diag);
        if (failed) {
            printf("%s\n", diag.text);
            break;
        }
        failed = lower_code(file.span, argv[i]);
        zs_file_close(&file);
    }
    return failed;
}
