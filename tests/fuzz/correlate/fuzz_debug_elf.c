/* SPDX-License-Identifier: MIT */
/* A debug ELF: opened, one or more kernels loaded, everything in it asked for and joined. */
#include "base/compiler.h"

#include <zescope/correlate.h>

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B);

enum { CODE_B = 1168, ASK_MAX = 64 };

static int read_register(void *user, uint64_t reg, uint64_t bit_offset, uint32_t bits,
                         uint64_t *ret_value)
{
    *ret_value = reg * 0x10001 + bit_offset;
    return bits > 64 ? -22 : 0;
}

static int read_memory(void *user, uint64_t gpu_va, uint32_t address_class, uint32_t size_B,
                       uint64_t *ret_value)
{
    *ret_value = gpu_va;
    return 0;
}

static void ask_expr(const struct zs_dwarf_kernel *kernel, struct zs_span expr)
{
    char text[512];
    struct zs_eval_result result;
    struct zs_eval_context context = {.size_B = sizeof(context),
                                      .read_register = read_register,
                                      .read_memory = read_memory,
                                      .lane = 3,
                                      .kernel = kernel};
    (void)zs_expr_eval(expr, &context, &result, NULL);
    zs_expr_describe(expr, 16, 32, 4, text, sizeof(text));
    zs_expr_print(expr, text, sizeof(text));
}

static void ask_type(const struct zs_dwarf *dwarf, uint32_t type)
{
    char text[128];
    struct zs_type t;
    struct zs_type_member members[4];
    (void)zs_type_get(dwarf, type, &t);
    zs_type_print(dwarf, type, text, sizeof(text));
    zs_type_members(dwarf, type, members, ZS_ARRAY_LEN(members));
}

static void ask_kernel(const struct zs_dwarf_kernel *kernel)
{
    uint32_t offsets[CODE_B / 8];
    for (uint32_t i = 0; i < ZS_ARRAY_LEN(offsets); i++)
        offsets[i] = i * 8;
    struct zs_join *join;
    if (zs_join(kernel, offsets, ZS_ARRAY_LEN(offsets), &join) == 0)
        zs_join_free(join);
    for (uint32_t i = 0; i < ZS_MIN(kernel->variable_count, (uint32_t)ASK_MAX); i++) {
        const struct zs_variable *v = &kernel->variables[i];
        struct zs_location_iterator it = zs_variable_locations(kernel, v);
        struct zs_location location;
        for (uint32_t n = 0; n < ASK_MAX && zs_location_next(&it, &location); n++)
            ask_expr(kernel, location.expr);
        ask_type(kernel->dwarf, v->type);
        zs_variable_const(kernel, v);
        zs_variable_visible(kernel, v, 0x20);
    }
    zs_dwarf_row_at(kernel, 0x40);
    zs_dwarf_scope_at(kernel, 0x40);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B)
{
    static const char *const names[] = {"k1", "k2"};
    struct zs_dwarf *dwarf;
    struct zs_diag diag = {0};
    if (zs_dwarf_open((struct zs_span){data, size_B}, &dwarf, &diag))
        return 0;
    for (size_t i = 0; i < ZS_ARRAY_LEN(names); i++) {
        struct zs_dwarf_kernel *kernel;
        if (zs_dwarf_kernel_load(dwarf, names[i], CODE_B, &kernel, &diag) == 0) {
            ask_kernel(kernel);
            zs_dwarf_kernel_unload(kernel);
        }
    }
    zs_dwarf_close(dwarf);
    return 0;
}
