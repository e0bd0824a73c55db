/* SPDX-License-Identifier: MIT */
/*
 * Any module with something put into its kernels: whatever the input is, what is written can be
 * opened again, and has the kernels that went in. Where probes go follows from the input's bytes.
 */
#include <zescope/edit.h>

#include "base/compiler.h"

#include <stdlib.h>
#include <string.h>

enum { KERNELS_MAX = 16, PLACES_MAX = 64, INPUT_MAX_B = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B);

static void put(struct zs_edit *edit, struct zs_edit_kernel *kernel, uint32_t seed)
{
    const struct zs_isa_kernel *code = zs_edit_kernel_code(kernel);
    uint32_t count = code ? zs_isa_kernel_count(code) : 0;
    uint64_t free_grf[4];
    bool some = zs_edit_free_grf(kernel, free_grf);
    if (some && seed & 4) /* what probes need has to be lent or saved */
        zs_edit_reserve_grf(kernel, free_grf);
    for (uint32_t i = 0; i < PLACES_MAX && count; i++, seed = seed * 1103515245 + 12345) {
        uint32_t inst = i < 16 ? i % (count + 1) : seed % (count + 1);
        struct zs_probe probe = {.kind = seed >> 8 & 7,
                                 .counter = zs_edit_counters(edit, 1),
                                 .clock = seed >> 12 & 127,
                                 .site = i,
                                 .grf = seed >> 16 & 127,
                                 .grf_count = seed >> 24 & 31,
                                 .all_active = seed & 1};
        enum zs_edit_where where = (enum zs_edit_where)((seed >> 5) % (ZS_EDIT_JUMP + 1));
        if (seed & 2)
            zs_edit_insert(kernel, inst, where, "nop\n", NULL);
        else
            zs_edit_probe(kernel, inst, where, &probe, NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B)
{
    struct zs_edit *edit, *again;
    struct zs_diag diag = {0};
    uint8_t *bytes;
    size_t bytes_B;
    if (size_B > INPUT_MAX_B || zs_edit_open((struct zs_span){data, size_B}, NULL, &edit, &diag))
        return 0;
    uint32_t kernels = zs_edit_kernel_count(edit), seed = (uint32_t)size_B * 2654435761u;
    for (uint32_t i = 0; i < kernels && i < KERNELS_MAX; i++)
        put(edit, zs_edit_kernel(edit, i), seed + i * 7919);
    if (!zs_edit_write(edit, 0x10000000, &bytes, &bytes_B, &diag)) {
        int error = zs_edit_open((struct zs_span){bytes, bytes_B}, NULL, &again, &diag);
        zs_assert(!error && zs_edit_kernel_count(again) == kernels);
        for (uint32_t i = 0; i < kernels; i++) {
            struct zs_edit_kernel *k = zs_edit_kernel(edit, i);
            for (uint32_t at_B = 0; at_B < 512; at_B += 8) {
                uint32_t new_B = zs_edit_map_new(k, at_B);
                zs_assert(new_B == ZS_NONE || new_B >= at_B || zs_edit_map_old(k, new_B) == at_B);
            }
        }
        zs_edit_close(again);
        zs_isa_code_free(bytes);
    }
    zs_edit_close(edit);
    return 0;
}
