/* SPDX-License-Identifier: MIT */
/*
 * check_modules MODULE...: lower every kernel of modules, each for its own device, and list the
 * instructions that the interpreter does not model, with the reason. 0: there is none.
 */
#include "eu/eu.h"

#include <zescope/module.h>

#include <stdio.h>

struct sums {
    unsigned long kernels, instructions, missing;
};

static enum zs_isa_platform platform_of(const struct zs_image *image)
{
    enum zs_isa_platform platform = zs_isa_platform_from_device(image->device);

    return platform ? platform : zs_isa_platform_from_gfxcore(image->gfxcore);
}

static void list(const char *path, const struct zs_kernel *kernel,
                 const struct zs_eu_program *program, enum zs_isa_platform platform,
                 struct sums *sums)
{
    struct zs_eu_inst_info info;

    for (uint32_t i = 0; zs_eu_program_inst(program, i, &info); i++) {
        char line[ZS_ISA_LINE_MAX];
        struct zs_isa_inst inst;
        sums->instructions++;
        if (info.modelled)
            continue;
        struct zs_span code = {kernel->code.data + info.offset_B,
                               kernel->code.size_B - info.offset_B};
        zs_isa_decode_one(platform, code, &inst);
        size_t length = zs_isa_print_one(platform, &inst, info.offset_B, line);
        printf("%s: %s: 0x%x: %s\n    %.*s\n", path, kernel->name, info.offset_B, info.why,
               (int)length, line);
        sums->missing++;
    }
}

static bool check_kernel(const char *path, const struct zs_image *image,
                         const struct zs_kernel *kernel, struct sums *sums)
{
    enum zs_isa_platform platform = platform_of(image);
    struct zs_eu_registers registers;
    struct zs_eu_program *program;
    struct zs_diag diag = {0};

    if (!zs_eu_registers_of(platform, kernel->grf_count, &registers)) {
        printf("%s: %s: threads of %s are not modelled\n", path, kernel->name, image->device);
        return false;
    }
    const struct zs_eu_lower_params params = {.code = kernel->code,
                                              .simd = kernel->simd < 8 ? 8 : kernel->simd,
                                              .platform = platform,
                                              .registers = &registers};
    if (zs_eu_lower(&params, &program, &diag)) {
        printf("%s: %s: %s\n", path, kernel->name, diag.text);
        return false;
    }
    list(path, kernel, program, platform, sums);
    sums->kernels++;
    zs_eu_program_destroy(program);
    return true;
}

static bool check_module(const char *path, struct sums *sums)
{
    struct zs_module *module;
    struct zs_diag diag = {0};
    bool ok = true;

    if (zs_module_open(path, NULL, &module, &diag)) {
        printf("%s: %s\n", path, diag.text);
        return false;
    }
    for (uint32_t i = 0; i < module->image_count; i++)
        for (uint32_t k = 0; k < module->images[i].kernel_count; k++)
            ok &= check_kernel(path, &module->images[i], &module->images[i].kernels[k], sums);
    zs_module_close(module);
    return ok;
}

int main(int argc, char **argv)
{
    struct sums sums = {0};
    bool ok = argc > 1;

    for (int i = 1; i < argc; i++)
        ok &= check_module(argv[i], &sums);
    printf("%lu kernels, %lu instructions, %lu not modelled\n", sums.kernels, sums.instructions,
           sums.missing);
    return !ok || sums.missing || !sums.kernels;
}
