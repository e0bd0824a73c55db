/* SPDX-License-Identifier: MIT */
/*
 * Addresses of GPUs. Objects of i915 have their places in a list of their own (object.c); what xe
 * binds are mappings, parts of objects at any place, which stand by address here.
 *
 * A mapping that goes is withdrawn from kernels that run, too: zs_gpu_memory_stop() waits until
 * none of them is inside, as a kernel driver waits for the TLBs.
 */
#include "drm/drm_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- by number ---------------------------------------------------------------------------------
 */

struct zs_drm_vm *zs_drm_vm_create(const struct zs_drm_node *node)
{
    struct zs_drm_vm *vm = calloc(1, sizeof(*vm));
    if (vm && zs_gpu_memory_create(&vm->memory)) {
        free(vm);
        return NULL;
    }
    if (vm) {
        vm->references = 1;
        vm->address_bits = node->says->address_bits;
    }
    return vm;
}

void zs_drm_vm_put(struct zs_drm_vm *vm)
{
    if (!vm || --vm->references)
        return;
    zs_gpu_memory_destroy(vm->memory);
    for (size_t i = 0; i < vm->mappings.count; i++) {
        if (vm->mappings.items[i].object)
            zs_drm_object_put(vm->mappings.items[i].object);
    }
    free(vm->mappings.items);
    free(vm);
}

struct zs_drm_vm *zs_drm_vm(const struct zs_drm_file *file, uint64_t id)
{
    return id && id <= file->vms.count ? file->vms.items[id - 1] : NULL;
}

int zs_drm_vm_add(struct zs_drm_file *file, struct zs_drm_vm *vm, uint32_t *ret_id)
{
    size_t i = 0;
    while (i < file->vms.count && file->vms.items[i])
        i++;
    if (!vm || (i == file->vms.count && !ZS_VEC_RESERVE(&file->vms, 1))) {
        zs_drm_vm_put(vm);
        return -ENOMEM;
    }
    file->vms.items[i] = vm;
    file->vms.count = ZS_MAX(file->vms.count, i + 1);
    *ret_id = (uint32_t)i + 1;
    return 0;
}

int zs_drm_vm_remove(struct zs_drm_file *file, uint32_t id)
{
    struct zs_drm_vm *vm = zs_drm_vm(file, id);
    if (!vm)
        return -ENOENT;
    file->vms.items[id - 1] = NULL;
    zs_drm_vm_put(vm);
    return 0;
}

/* ---- mappings ----------------------------------------------------------------------------------
 */

int zs_drm_vm_show(struct zs_drm_vm *vm, const struct zs_gpu_allocation *allocation)
{
    int error = zs_gpu_memory_add(vm->memory, allocation, NULL);
    if (!error && allocation->label[0] && zs_drm_memory_is_freed(allocation->gpu_va))
        zs_gpu_memory_remove(vm->memory, allocation->gpu_va, NULL, NULL);
    return error;
}

/* The first mapping that ends behind an address. */
static size_t first_behind(const struct zs_drm_vm *vm, uint64_t gpu_va)
{
    size_t low = 0, high = vm->mappings.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct zs_drm_mapping *m = &vm->mappings.items[middle];
        if (m->gpu_va + (m->size_B - 1) < gpu_va)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Room in the list is there, and nothing at its place. */
static int insert(struct zs_drm_vm *vm, const struct zs_drm_mapping *mapping)
{
    struct zs_gpu_allocation allocation = {
        .gpu_va = mapping->gpu_va,
        .size_B = mapping->size_B,
        .bias = (uint64_t)(uintptr_t)mapping->host - mapping->gpu_va,
        .kind = mapping->object ? ZS_GPU_MEMORY_DEVICE : ZS_GPU_MEMORY_HOST,
        .flags = ZS_GPU_ALLOCATION_JOINED | ZS_GPU_ALLOCATION_WITHDRAWABLE |
                 (mapping->read_only ? ZS_GPU_ALLOCATION_READ_ONLY : 0u),
    };
    const struct zs_drm_object *o = mapping->object;
    bool is_whole = o && o->call && mapping->host == o->host && mapping->size_B == o->size_B;
    const char *call = is_whole ? o->call : NULL;
    uint64_t exact_B = is_whole ? o->exact_B : 0;
    if (!call)
        zs_drm_memory_at(mapping->gpu_va, mapping->size_B, &exact_B, &call);
    zs_drm_check_allocation(call, exact_B, &allocation);
    int error = zs_drm_vm_show(vm, &allocation);
    if (error)
        return error;
    size_t at = first_behind(vm, mapping->gpu_va);
    memmove(&vm->mappings.items[at + 1], &vm->mappings.items[at],
            (vm->mappings.count - at) * sizeof(*mapping));
    vm->mappings.items[at] = *mapping;
    vm->mappings.count++;
    if (mapping->object)
        mapping->object->references++;
    return 0;
}

/* Parts of a mapping that stay where it was: nobody is inside meanwhile. */
static int insert_rests(struct zs_drm_vm *vm, const struct zs_drm_mapping *old, uint64_t gpu_va,
                        uint64_t size_B)
{
    struct zs_drm_mapping rest = *old;
    int error = 0;
    rest.size_B = gpu_va > old->gpu_va ? gpu_va - old->gpu_va : 0;
    if (rest.size_B)
        error = insert(vm, &rest);
    uint64_t skipped_B = gpu_va + size_B - old->gpu_va;
    if (error || skipped_B >= old->size_B)
        return error;
    rest = *old;
    rest.gpu_va += skipped_B;
    rest.host += skipped_B;
    rest.size_B -= skipped_B;
    return insert(vm, &rest);
}

static int remove_at(struct zs_drm_vm *vm, size_t at, uint64_t gpu_va, uint64_t size_B)
{
    const struct zs_drm_mapping old = vm->mappings.items[at];
    zs_gpu_memory_remove(vm->memory, old.gpu_va, NULL, NULL);
    vm->mappings.count--;
    memmove(&vm->mappings.items[at], &vm->mappings.items[at + 1],
            (vm->mappings.count - at) * sizeof(old));
    int error = insert_rests(vm, &old, gpu_va, size_B);
    if (old.object)
        zs_drm_object_put(old.object);
    return error;
}

int zs_drm_vm_unmap(struct zs_drm_vm *vm, uint64_t gpu_va, uint64_t size_B)
{
    gpu_va = zs_drm_canonical(vm, gpu_va);
    size_t at = first_behind(vm, gpu_va);
    int error = 0;
    if (at == vm->mappings.count || vm->mappings.items[at].gpu_va - gpu_va >= size_B) {
        if (at == vm->mappings.count || vm->mappings.items[at].gpu_va > gpu_va)
            return 0; /* nothing is there */
    }
    if (!ZS_VEC_RESERVE(&vm->mappings, 2))
        return -ENOMEM;
    zs_gpu_memory_stop(vm->memory);
    while (!error && (at = first_behind(vm, gpu_va)) < vm->mappings.count) {
        const struct zs_drm_mapping *m = &vm->mappings.items[at];
        if (m->gpu_va > gpu_va + (size_B - 1))
            break;
        error = remove_at(vm, at, gpu_va, size_B);
    }
    zs_gpu_memory_resume(vm->memory);
    return error;
}

void zs_drm_vm_unmap_object(struct zs_drm_vm *vm, const struct zs_drm_object *object)
{
    zs_gpu_memory_stop(vm->memory);
    for (size_t i = vm->mappings.count; i > 0; i--) {
        const struct zs_drm_mapping *m = &vm->mappings.items[i - 1];
        if (m->object == object)
            remove_at(vm, i - 1, m->gpu_va, m->size_B);
    }
    zs_gpu_memory_resume(vm->memory);
}

int zs_drm_vm_map(struct zs_drm_vm *vm, const struct zs_drm_mapping *mapping)
{
    struct zs_drm_mapping m = *mapping;
    m.gpu_va = zs_drm_canonical(vm, m.gpu_va);
    if (m.gpu_va + (m.size_B - 1) < m.gpu_va)
        return -EINVAL;
    int error = zs_drm_vm_unmap(vm, m.gpu_va, m.size_B);
    if (error)
        return error;
    return ZS_VEC_RESERVE(&vm->mappings, 1) ? insert(vm, &m) : -ENOMEM;
}
