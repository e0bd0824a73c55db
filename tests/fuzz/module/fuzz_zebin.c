/* SPDX-License-Identifier: MIT */
/* A bare zebin, alone and as its own debug information. */
#include "walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B)
{
    zs_fuzz_module(zs_span_make(data, size_B), (struct zs_span){0});
    zs_fuzz_module(zs_span_make(data, size_B), zs_span_make(data, size_B));
    return 0;
}
