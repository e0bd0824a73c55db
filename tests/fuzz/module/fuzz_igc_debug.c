/* SPDX-License-Identifier: MIT */
/* IGC's debug data, alone and as the debug information of a module with one kernel "k". */
#include "walk.h"

static const uint8_t one_kernel[] = {
    'C', 'T', 'N', 'I', 0x39, 4, 0, 0, 12, 0, 0, 0, 8, 0, 0, 0, /* program header */
    1,   0,   0,   0,   9,    0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    4,   0,   0,   0, /* kernel header: name of 4 B */
    24,  0,   0,   0,   0,    0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    'k', 0,   0,   0, /* name */
    23,  0,   0,   0,   24,   0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B)
{
    zs_fuzz_module(zs_span_make(data, size_B), (struct zs_span){0});
    zs_fuzz_module(zs_span_make(one_kernel, sizeof(one_kernel)), zs_span_make(data, size_B));
    return 0;
}
