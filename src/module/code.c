/* SPDX-License-Identifier: MIT */
/* Whose code it is that a device runs. */
#include "module/module.h"

#include "base/reader.h"

/* Threads may begin behind what loads their payload: at most so far, in steps of a cache line. */
enum { SKIP_MOST_B = 1024, SKIP_STEP_B = 64 };

/* The driver has written addresses there. */
static bool is_patched(const struct zs_kernel *kernel, uint64_t offset_B)
{
    for (uint32_t i = 0; i < kernel->relocation_count; i++) {
        const struct zs_relocation *r = &kernel->relocations[i];
        if (offset_B >= r->at.offset_B && offset_B - r->at.offset_B < zs_relocation_size_B(r->kind))
            return true;
    }
    return false;
}

static bool is_at(const struct zs_kernel *kernel, struct zs_span code, uint64_t skip_B)
{
    if (skip_B >= kernel->code.size_B || code.size_B > kernel->code.size_B - skip_B)
        return false;
    for (uint64_t i = 0; i < code.size_B; i++)
        if (kernel->code.data[skip_B + i] != code.data[i] && !is_patched(kernel, skip_B + i))
            return false;
    return true;
}

const struct zs_kernel *zs_module_find_code(const struct zs_module *module, struct zs_span code,
                                            const struct zs_kernel *after, uint64_t *ret_skip_B)
{
    bool is_behind = !after;
    for (uint32_t i = 0; i < module->image_count; i++) {
        for (uint32_t k = 0; k < module->images[i].kernel_count; k++) {
            const struct zs_kernel *kernel = &module->images[i].kernels[k];
            for (uint64_t skip_B = 0; is_behind && skip_B <= SKIP_MOST_B; skip_B += SKIP_STEP_B) {
                *ret_skip_B = skip_B;
                if (is_at(kernel, code, skip_B))
                    return kernel;
            }
            is_behind |= kernel == after;
        }
    }
    return NULL;
}

uint32_t zs_kernel_implicit_B(const struct zs_kernel *kernel, struct zs_span code, uint64_t skip_B)
{
    for (uint32_t i = 0; i < kernel->relocation_count; i++) {
        const struct zs_relocation *r = &kernel->relocations[i];
        uint64_t at_B = r->at.offset_B - skip_B;
        if (r->kind == ZS_RELOCATION_ADDRESS_32 && r->at.offset_B >= skip_B &&
            at_B + 4 <= code.size_B &&
            !strcmp(r->symbol, "__INTEL_PATCH_CROSS_THREAD_OFFSET_OFF_R0"))
            return zs_load_u32(code.data + at_B);
    }
    return 0;
}
