/* SPDX-License-Identifier: MIT */
/*
 * The code that stands beside a kernel's: the 4 GB from the base of instructions on, in which
 * computed jumps go. What has code is compared before each launch of such a kernel; what has
 * none, as payloads of launches, may change as it likes.
 */
#include "drm/drm_priv.h"

#include "base/hash.h"
#include "base/reader.h"
#include "gpu/walk.h"

#include <errno.h>
#include <stdlib.h>

/* Of 4 GB: more than drivers have of code. What is larger is not looked at. */
enum { READ_MAX_B = 64 << 20 };

static bool next_of(const struct zs_drm_vm *vm, uint64_t base_va, uint64_t *at_va,
                    struct zs_gpu_allocation *ret)
{
    if (!zs_gpu_memory_next(vm->memory, *at_va, ret))
        return false;
    uint64_t cut_B = ret->gpu_va < base_va ? base_va - ret->gpu_va : 0;
    ret->gpu_va += cut_B;
    ret->size_B -= cut_B;
    *at_va = ret->gpu_va + ret->size_B;
    return ret->gpu_va - base_va <= UINT32_MAX;
}

static struct zs_span bytes_of(const struct zs_gpu_allocation *a)
{
    return (struct zs_span){(const uint8_t *)(uintptr_t)(a->gpu_va + a->bias), a->size_B};
}

static uint64_t hash(struct zs_span bytes)
{
    uint64_t hash = bytes.size_B;
    for (size_t at_B = 0; at_B + 8 <= bytes.size_B; at_B += 8)
        hash = zs_hash_u64(hash, zs_load_u64(bytes.data + at_B));
    return hash | 1;
}

/* Without the kernel, which is there already. */
static int read_part(const struct zs_gpu_device *device, const struct zs_gpu_allocation *a,
                     const struct zs_gpu_walk_code *kernel, struct zs_gpu_walk_functions *f,
                     bool *ret_is_code)
{
    struct zs_span bytes = bytes_of(a);
    uint64_t before_B = kernel->gpu_va - a->gpu_va;
    uint32_t ip_B = (uint32_t)(a->gpu_va - kernel->base_va);
    if (before_B >= a->size_B)
        return zs_gpu_walk_functions_add(f, device, ip_B, bytes, ret_is_code);
    *ret_is_code = true;
    uint64_t behind_B = zs_align_up(before_B + kernel->code.size_B, 64);
    int error = zs_gpu_walk_functions_add(f, device, ip_B, (struct zs_span){bytes.data, before_B},
                                          ret_is_code);
    if (error || behind_B >= a->size_B)
        return error;
    return zs_gpu_walk_functions_add(f, device, ip_B + (uint32_t)behind_B,
                                     (struct zs_span){bytes.data + behind_B, a->size_B - behind_B},
                                     ret_is_code);
}

int zs_drm_heap_read(const struct zs_drm_vm *vm, const struct zs_gpu_device *device,
                     const struct zs_gpu_walk_code *kernel, struct zs_drm_heap *ret_heap,
                     struct zs_gpu_walk_functions *ret_functions)
{
    struct zs_gpu_allocation a;
    uint64_t at_va = kernel->base_va, left_B = READ_MAX_B;
    int error = 0;
    while (!error && next_of(vm, kernel->base_va, &at_va, &a)) {
        bool is_code = false, is_read = a.size_B <= left_B;
        left_B -= is_read ? a.size_B : 0;
        if (is_read)
            error = read_part(device, &a, kernel, ret_functions, &is_code);
        const struct zs_drm_heap_part part = {a.gpu_va, a.size_B, is_code ? hash(bytes_of(&a)) : 0};
        if (!error && !ZS_VEC_PUSH(ret_heap, part))
            error = -ENOMEM;
    }
    return error;
}

bool zs_drm_heap_is(const struct zs_drm_vm *vm, uint64_t base_va, const struct zs_drm_heap *heap)
{
    struct zs_gpu_allocation a;
    uint64_t at_va = base_va;
    size_t i = 0;
    for (; next_of(vm, base_va, &at_va, &a); i++) {
        const struct zs_drm_heap_part *part = &heap->items[i];
        if (i == heap->count || part->gpu_va != a.gpu_va || part->size_B != a.size_B ||
            (part->hash && part->hash != hash(bytes_of(&a))))
            return false;
    }
    return i == heap->count;
}

void zs_drm_heap_fini(struct zs_drm_heap *heap)
{
    free(heap->items);
    *heap = (struct zs_drm_heap){NULL, 0, 0};
}
