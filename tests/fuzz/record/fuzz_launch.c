/* SPDX-License-Identifier: MIT */
/* The input is a captured launch in a recording's folder. */
#include "../folder.h"
#include "base/compiler.h"
#include "record/launches.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B);

/* What the interface promises. */
static void check(const struct zs_launch *l)
{
    size_t sum = strlen(l->kernel);
    for (uint32_t i = 0; i < l->argument_count; i++) {
        const struct zs_launch_argument *a = &l->arguments[i];
        zs_assert(a->kind != ZS_LAUNCH_POINTER ||
                  (a->memory < l->memory_count && a->offset_B <= l->memory[a->memory].size_B));
        for (size_t b = 0; b < a->value.size_B; b++)
            sum += a->value.data[b];
    }
    for (uint32_t i = 0; i < l->memory_count; i++) {
        const struct zs_launch_memory *m = &l->memory[i];
        zs_assert(m->state != ZS_LAUNCH_WHOLE ||
                  (m->before.size_B == m->size_B && m->after.size_B == m->size_B));
        for (size_t b = 0; b < m->after.size_B; b++)
            sum += (size_t)m->before.data[b] + m->after.data[b];
    }
    zs_assert(sum < SIZE_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B)
{
    struct zs_launch launch;
    struct zs_diag diag = {0};
    if (!folder[0])
        make_folder(ZS_LAUNCH_DIR);
    put(ZS_LAUNCH_DIR "/1-0-0.launch", data, size_B);
    if (!zs_launch_open(folder, "1-0-0.launch", &launch, &diag))
        check(&launch);
    zs_launch_close(&launch);
    return 0;
}
