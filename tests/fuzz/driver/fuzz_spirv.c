/* SPDX-License-Identifier: MIT */
/* Specialization constants written into SPIR-V from anywhere, and build flags. */
#include "driver/module/compile.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B)
{
    static const uint32_t ids[] = {0, 1, 2, 7, UINT32_MAX};
    static const uint64_t value = 0x1122334455667788u;
    const void *values[] = {&value, &value, &value, &value, &value};
    const ze_module_constants_t constants = {
        .numConstants = ZS_ARRAY_LEN(ids), .pConstantIds = ids, .pConstantValues = values};
    struct zs_local_arrays arrays = {0};
    struct zs_buf apart = {0}, compared = {0}, marked = {0}, seeded = {0}, whole = {0}, spirv = {0},
                  log = {0}, options = {0}, internal = {0}, flags = {0};
    (void)!zs_spirv_specialize(zs_span_make(data, size_B), &constants, &spirv, &log);
    if (!zs_spirv_specialize(zs_span_make(data, size_B), NULL, &whole, &log)) {
        (void)!zs_spirv_part_locals(zs_buf_span(&whole), &arrays, &apart);
        (void)!zs_spirv_compare_bounds(zs_buf_span(&whole), true, &arrays.sites, &compared);
        (void)!zs_spirv_mark_copies(zs_buf_span(&whole), true, true, &marked);
        (void)!zs_spirv_seed_undefined(zs_buf_span(&whole), &seeded);
    }
    zs_buf_append(&flags, data, size_B);
    zs_compile_flags(zs_buf_cstr(&flags), &options, &internal);
    free(arrays.at);
    free(arrays.sites.items);
    zs_buf_fini(&compared);
    zs_buf_fini(&marked);
    zs_buf_fini(&seeded);
    zs_buf_fini(&apart);
    zs_buf_fini(&whole);
    zs_buf_fini(&spirv);
    zs_buf_fini(&log);
    zs_buf_fini(&options);
    zs_buf_fini(&internal);
    zs_buf_fini(&flags);
    return 0;
}
