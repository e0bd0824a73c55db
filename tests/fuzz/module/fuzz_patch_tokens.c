/* SPDX-License-Identifier: MIT */
/* A bare patch-token blob; what can be read is also written back and must come out the same. */
#include "walk.h"

#include "module/patch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B);

/* The writer computes checksums: put those of the input in their places before comparing. */
static void check_round_trip(struct zs_span bytes)
{
    struct zs_patch_module patch;
    struct zs_buf out = {0};
    if (zs_patch_module_read(bytes, 0, &patch, NULL))
        return;
    int error = zs_patch_module_write(&patch, &out);
    for (uint32_t i = 0; i < patch.kernel_count && !error; i++)
        memcpy(out.data + patch.kernels[i].offset_B, bytes.data + patch.kernels[i].offset_B, 4);
    /* refused: only names that are not padded */
    bool unpadded = false;
    for (uint32_t i = 0; i < patch.kernel_count; i++)
        unpadded = unpadded || patch.kernels[i].name.size_B % 4;
    zs_assert(error ? unpadded : zs_span_equal(zs_buf_span(&out), bytes));
    zs_buf_fini(&out);
    zs_patch_module_fini(&patch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B)
{
    zs_fuzz_module(zs_span_make(data, size_B), (struct zs_span){0});
    check_round_trip(zs_span_make(data, size_B));
    return 0;
}
