/* SPDX-License-Identifier: MIT */
/* ar archives of several modules. */
#include "walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B)
{
    zs_fuzz_module(zs_span_make(data, size_B), (struct zs_span){0});
    return 0;
}
