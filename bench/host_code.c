/* SPDX-License-Identifier: MIT */
/*
 * host_code FILE DEVICE KERNEL [ROUNDS]: what compiling a kernel of a native binary for the host
 * costs (docs/eu-compiled.md), the least of several times: instructions, CPU milliseconds for
 * threads whose lanes are all on, for any, and for
 * all on that were seen to be neighbours wherever they load or store.
 */
#include "compiler/host_code.h"
#include "dataport/dataport.h"
#include "eu/tier/tier.h"
#include "give_up.h"
#include "gpu/gpu.h"
#include "module/module.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static enum zs_gpu_compiled nothing(void *context, const struct zs_gpu_compile *what,
                                    struct zs_buf *ret_blob)
{
    (void)context, (void)what, (void)ret_blob;
    return ZS_GPU_COMPILED_NOT;
}

static struct zs_gpu_kernel *open_kernel(const char *file, const char *model, const char *name)
{
    struct zs_diag diag = {0};
    struct zs_module *module;
    struct zs_gpu_device *device;
    struct zs_gpu_kernel *kernel;

    if (zs_module_open(file, NULL, &module, &diag))
        give_up("%s: %s", file, diag.text);
    const struct zs_image *image = zs_module_image(module, model);
    const struct zs_kernel *found = image ? zs_image_kernel(image, name) : NULL;
    if (!found || zs_gpu_device_create(zs_gpu_model_find(model), 0, &device))
        give_up("%s: no kernel %s for %s", file, name, model);
    const struct zs_gpu_kernel_desc desc = {
        .module_kernel = found, .code = found->code, .compile = nothing};
    if (zs_gpu_kernel_create(device, &desc, &kernel, &diag))
        give_up("%s: %s", name, diag.text);
    return kernel;
}

/* ret_seen: of all lanes; of all as neighbours. */
static uint32_t instructions(struct zs_span request, struct zs_buf ret_seen[2])
{
    struct zs_eu_tier_request parsed;
    struct zs_eu_program *program;
    struct zs_diag diag = {0};

    if (zs_eu_tier_request_parse(request, &parsed) || zs_eu_lower(&parsed.params, &program, &diag))
        give_up("%s", diag.text);
    for (unsigned i = 0; i < 2; i++) {
        zs_buf_pad(&ret_seen[i], ZS_EU_SEEN_ALL, zs_eu_program_block_count(program));
        zs_buf_pad(&ret_seen[i], i ? ZS_PORT_WAY_ROW : 0,
                   zs_eu_program_seen_B(program) - ret_seen[i].size_B);
    }
    return zs_eu_program_inst_count(program);
}

static double build_ms(struct zs_span request, struct zs_span seen)
{
    struct zs_buf blob = {0}, why = {0};
    struct timespec begin, end;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    if (zs_host_build(request, seen, ZS_HOST_BLOB, &blob, &why))
        give_up("%s", zs_buf_cstr(&why));
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    zs_buf_fini(&blob);
    zs_buf_fini(&why);
    return (double)(end.tv_sec - begin.tv_sec) * 1e3 + (double)(end.tv_nsec - begin.tv_nsec) * 1e-6;
}

int main(int argc, char **argv)
{
    if (argc != 4 && argc != 5)
        give_up("usage: host_code FILE DEVICE KERNEL [ROUNDS]");
    unsigned rounds = argc == 5 ? (unsigned)strtoul(argv[4], NULL, 10) : 5;
    struct zs_span request = zs_gpu_kernel_tier_request(open_kernel(argv[1], argv[2], argv[3]));
    double least_ms[3] = {1e9, 1e9, 1e9};
    struct zs_buf seen[2] = {{0}};
    uint32_t count = instructions(request, seen);
    const struct zs_span ways[3] = {zs_buf_span(&seen[0]), {0}, zs_buf_span(&seen[1])};
    for (unsigned i = 0; i < 3 * rounds; i++) {
        double ms = build_ms(request, ways[i % 3]);
        least_ms[i % 3] = ms < least_ms[i % 3] ? ms : least_ms[i % 3];
    }
    printf("%u %.1f %.1f %.1f\n", count, least_ms[0], least_ms[1], least_ms[2]);
    return 0;
}
