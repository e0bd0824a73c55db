/* SPDX-License-Identifier: MIT */
/* Programs of a few instructions from assembler text, which end their thread. */
#ifndef ZS_TESTS_UNIT_EU_ASSEMBLED_H
#define ZS_TESTS_UNIT_EU_ASSEMBLED_H

#include "../test.h"

#include "eu/eu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The instruction that ends a thread. */
static inline const char *end_of_thread(enum zs_isa_platform platform)
{
    return platform >= ZS_ISA_XE_HPG  ? "(W) send.gtwy (8|M0) null r112 null:0 0x0 0x02000010 {EOT}"
           : platform >= ZS_ISA_XE_LP ? "(W) send.ts (8|M0) null r112 null 0x0 0x02000010 {EOT}"
                                      : "(W) send (8|M0) null r112:ud 0x27 0x02000010 {EOT}";
}

/* The program of `text` and an end of thread. `params`: what else the lowering is told. */
static inline struct zs_eu_program *assembled(enum zs_isa_platform platform, const char *text,
                                              struct zs_eu_lower_params params)
{
    char whole[8200];
    uint8_t *code = NULL;
    struct zs_isa_asm_error where = {.size_B = sizeof(where)};
    struct zs_eu_program *program = NULL;
    struct zs_diag diag = {0};

    snprintf(whole, sizeof(whole), "%s\n%s\n", text, end_of_thread(platform));
    if (zs_isa_assemble(platform, (struct zs_span){(const uint8_t *)whole, strlen(whole)}, &code,
                        &params.code.size_B, &where))
        fail_msg("%s", whole);
    params.code.data = code;
    params.platform = platform;
    params.simd = params.simd ? params.simd : 16;
    if (zs_eu_lower(&params, &program, &diag))
        fail_msg("%s", diag.text);
    free(code);
    return program;
}

/* A thread of it with all lanes on; free() it. */
static inline struct zs_eu_thread *assembled_thread(const struct zs_eu_program *program)
{
    struct zs_eu_thread *t = aligned_alloc(64, (sizeof(*t) + 63) & ~(size_t)63);

    assert_non_null(t);
    zs_eu_thread_init(t, program, UINT32_MAX);
    return t;
}

#endif
