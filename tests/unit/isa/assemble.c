/* SPDX-License-Identifier: MIT */
#include "../test.h"

#include "assemble.h"

#include "isa/isa_priv.h"

#include <stdio.h>
#include <stdlib.h>

typedef void *iga_context_t;
typedef struct {
    size_t cb;
    int gen;
} iga_context_options_t;
typedef struct {
    uint32_t cb, enabled_warnings, encoder_opts, syntax_opts, reserved0, reserved1, sbid_count;
    uint32_t swsb_encode_mode;
} iga_assemble_options_t;

typedef struct {
    uint32_t line, column, offset, extent;
    const char *message;
} iga_diagnostic_t;

enum { IGA_SUCCESS = 0 };
int iga_context_create(const iga_context_options_t *opts, iga_context_t *ctx);
int iga_context_release(iga_context_t ctx);
int iga_context_assemble(iga_context_t ctx, const iga_assemble_options_t *opts,
                         const char *kernel_text, void **output, uint32_t *output_size);
int iga_context_get_errors(iga_context_t ctx, const iga_diagnostic_t **ds, uint32_t *ds_len);

static const int generations[ZS_ISA_PLATFORM_COUNT] = {
    [ZS_ISA_GEN8] = 0x80000,     [ZS_ISA_GEN9] = 0x90000,    [ZS_ISA_GEN11] = 0xb0000,
    [ZS_ISA_XE_LP] = 0x1000000,  [ZS_ISA_XE_HP] = 0x1000001, [ZS_ISA_XE_HPG] = 0x1000002,
    [ZS_ISA_XE_HPC] = 0x1000004,
};

static struct zs_span code;

struct zs_isa_kernel *assemble(enum zs_isa_platform platform, const char *text, uint32_t what)
{
    iga_context_options_t options = {.cb = sizeof(options), .gen = generations[platform]};
    iga_assemble_options_t assemble_options = {.cb = sizeof(assemble_options), .sbid_count = 16};
    iga_context_t context;
    void *output = NULL;
    uint32_t size_B = 0;
    assert_int_equal(iga_context_create(&options, &context), IGA_SUCCESS);
    if (iga_context_assemble(context, &assemble_options, text, &output, &size_B) != IGA_SUCCESS) {
        const iga_diagnostic_t *errors;
        uint32_t count = 0;
        iga_context_get_errors(context, &errors, &count);
        for (uint32_t i = 0; i < count; i++)
            fprintf(stderr, "line %u: %s\n", errors[i].line, errors[i].message);
        fail_msg("cannot assemble:\n%s", text);
    }
    uint8_t *copy = malloc(size_B);
    assert_non_null(copy);
    memcpy(copy, output, size_B);
    iga_context_release(context);
    code = zs_span_make(copy, size_B);

    struct zs_isa_kernel *kernel;
    struct zs_diag diag = {0};
    assert_int_equal(zs_isa_kernel_open(platform, code, NULL, &kernel, &diag), 0);
    assert_int_equal(zs_isa_kernel_decode(kernel, what, &diag), 0);
    assert_int_equal(zs_isa_kernel_illegal_count(kernel), 0);
    return kernel;
}

void release(struct zs_isa_kernel *kernel)
{
    zs_isa_kernel_close(kernel);
    free((void *)(uintptr_t)code.data);
}

struct zs_span assembled_code(void)
{
    return code;
}
