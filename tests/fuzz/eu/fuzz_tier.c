/* SPDX-License-Identifier: MIT */
/*
 * Arbitrary bytes as what comes from the compiler's process or the user's cache: a blob of compiled
 * code, and a request for one. Blobs get the header, program and checksum that they need to be
 * looked at any further; what is installed is never run. Entries must lie where threads come in.
 */
#include "eu/eu_priv.h"
#include "eu/tier/tier.h"

#include "base/sha256.h"

#include <stdlib.h>
#include <string.h>

enum { HEAD_B = 16, SIZE_MAX_B = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* or cr0.0 ... 0x4c0; add (8) r10 r11 r12; end of thread, of Gen9 */
static const uint32_t code[] = {
    0x00000006, 0x30000004, 0x16001000, 0x04c004c0, 0x00600040, 0x21400a28,
    0x0a8d0160, 0x008d0180, 0x07600031, 0x20000204, 0x06000e00, 0x82000010,
};

static struct zs_eu_program *lowered(void)
{
    const struct zs_eu_lower_params params = {.code = zs_span_make(code, sizeof(code)),
                                              .simd = 8,
                                              .flags = ZS_EU_TIER_LOWER,
                                              .platform = ZS_ISA_GEN9};
    struct zs_eu_program *program = NULL;
    struct zs_diag diag = {0};

    if (zs_eu_lower(&params, &program, &diag) != 0)
        abort();
    return program;
}

/* What a true one begins with. */
static void put_head(const struct zs_eu_program *program, struct zs_buf *ret)
{
    struct zs_eu_tier_module *module = calloc(1, sizeof(*module));
    struct zs_buf blob = {0};

    if (!module)
        abort();
    zs_eu_tier_blob_put(program, module, zs_span_make("\xc3", 1), &blob);
    zs_buf_append(ret, blob.data, HEAD_B);
    zs_buf_fini(&blob);
    free(module);
}

static void install(const uint8_t *data, size_t size)
{
    struct zs_eu_program *program = lowered();
    struct zs_buf blob = {0};
    struct zs_diag diag = {0};
    uint8_t sum[ZS_SHA256_B];

    put_head(program, &blob);
    zs_buf_append(&blob, data, size);
    zs_sha256(zs_buf_span(&blob), sum);
    zs_buf_append(&blob, sum, sizeof(sum));
    int error = zs_eu_tier_install(program, zs_buf_span(&blob), &diag);
    if (error && zs_eu_tier_code_B(program))
        abort();
    if (!error && !zs_eu_tier_code_B(program))
        abort();
    zs_buf_fini(&blob);
    zs_eu_program_destroy(program);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct zs_eu_tier_request request;

    if (size > SIZE_MAX_B)
        return 0;
    if (zs_eu_tier_request_parse(zs_span_make(data, size), &request) == 0)
        zs_eu_tier_request_fini(&request);
    install(data, size);
    return 0;
}
