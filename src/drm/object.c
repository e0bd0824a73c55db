/* SPDX-License-Identifier: MIT */
/* Memory objects: parts of the file, or the user's own memory; and where VMs have them. */
#include "drm/drm_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define FILE_B (UINT64_C(64) << 30)
enum { PAGE_B = 4096, BLOCK_B = 64 << 10 };

/* ---- parts of the file -------------------------------------------------------------------------
 */

static int map_file(struct zs_drm_file *file)
{
    if (file->memory)
        return 0;
    void *memory =
        mmap(NULL, FILE_B, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file->memory_fd, 0);
    if (memory == MAP_FAILED)
        return -ENOMEM;
    file->memory = memory;
    file->used_B = BLOCK_B; /* offset 0 means nothing to some drivers */
    file->end_B = FILE_B;
    return 0;
}

static int take_part(struct zs_drm_file *file, uint64_t size_B, uint64_t *ret_offset_B)
{
    for (size_t i = 0; i < file->holes.count; i++) {
        struct zs_drm_hole *hole = &file->holes.items[i];
        if (hole->end_B - hole->start_B < size_B)
            continue;
        *ret_offset_B = hole->start_B;
        hole->start_B += size_B;
        if (hole->start_B == hole->end_B)
            *hole = file->holes.items[--file->holes.count];
        return 0;
    }
    if (size_B > file->end_B - file->used_B)
        return -ENOMEM;
    *ret_offset_B = file->used_B;
    file->used_B += size_B;
    return 0;
}

/* Its pages go, so that who gets it next finds zeros. A part that cannot be remembered is lost. */
static void give_part(struct zs_drm_file *file, uint64_t offset_B, uint64_t size_B)
{
    fallocate(file->memory_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset_B,
              (off_t)size_B);
    for (size_t i = 0; i < file->holes.count; i++) {
        struct zs_drm_hole *hole = &file->holes.items[i];
        if (hole->end_B == offset_B) {
            hole->end_B += size_B;
            return;
        }
        if (hole->start_B == offset_B + size_B) {
            hole->start_B = offset_B;
            return;
        }
    }
    if (ZS_VEC_RESERVE(&file->holes, 1))
        file->holes.items[file->holes.count++] = (struct zs_drm_hole){offset_B, offset_B + size_B};
}

enum { CHILD_B = 1 << 30 };

bool zs_drm_objects_share(struct zs_drm_file *file)
{
    if (!file->memory)
        return true;
    if (file->end_B - file->used_B < 2ull * CHILD_B)
        return false;
    file->end_B -= CHILD_B;
    return true;
}

void zs_drm_objects_inherit(struct zs_drm_file *file)
{
    for (size_t h = 0; h < file->objects.count; h++) {
        if (file->objects.items[h])
            file->objects.items[h]->references++; /* it never goes */
    }
    file->holes.count = 0;
    if (!file->memory)
        return;
    file->used_B = file->end_B;
    file->end_B += CHILD_B;
}

/* ---- objects -----------------------------------------------------------------------------------
 */

static int add_object(struct zs_drm_file *file, struct zs_drm_object *object, uint32_t *ret_handle)
{
    size_t handle = 1;
    while (handle < file->objects.count && file->objects.items[handle])
        handle++;
    if (handle >= file->objects.count) {
        if (!ZS_VEC_RESERVE(&file->objects, 2))
            return -ENOMEM;
        if (!file->objects.count)
            file->objects.items[file->objects.count++] = NULL; /* no handle is 0 */
        file->objects.count++;
    }
    file->objects.items[handle] = object;
    *ret_handle = (uint32_t)handle;
    return 0;
}

int zs_drm_object_create(struct zs_drm_file *file, uint64_t size_B, uint32_t *ret_handle)
{
    if (!size_B || size_B > file->node->model->memory_B)
        return size_B ? -ENOMEM : -EINVAL;
    struct zs_drm_object *object = calloc(1, sizeof(*object));
    int error = object ? map_file(file) : -ENOMEM;
    uint64_t whole_B = zs_align_up(size_B, PAGE_B);
    if (!error) {
        *object = (struct zs_drm_object){.file = file, .references = 1, .size_B = whole_B};
        error = take_part(file, zs_align_up(size_B, BLOCK_B), &object->offset_B);
    }
    if (!error) {
        zs_drm_memory_made(size_B, &object->exact_B, &object->call);
        object->host = file->memory + object->offset_B;
        error = add_object(file, object, ret_handle);
        if (error)
            give_part(file, object->offset_B, zs_align_up(size_B, BLOCK_B));
    }
    if (error)
        free(object);
    return error;
}

int zs_drm_object_wrap(struct zs_drm_file *file, uint64_t host, uint64_t size_B, bool read_only,
                       uint32_t *ret_handle)
{
    if (!size_B || (host | size_B) % PAGE_B)
        return -EINVAL;
    struct zs_drm_object *object = calloc(1, sizeof(*object));
    if (!object)
        return -ENOMEM;
    *object = (struct zs_drm_object){.file = file,
                                     .references = 1,
                                     .size_B = size_B,
                                     .host = (uint8_t *)(uintptr_t)host,
                                     .is_users = true,
                                     .read_only = read_only};
    zs_drm_memory_made(size_B, &object->exact_B, &object->call);
    int error = add_object(file, object, ret_handle);
    if (error)
        free(object);
    return error;
}

struct zs_drm_object *zs_drm_object(struct zs_drm_file *file, uint32_t handle)
{
    return handle < file->objects.count ? file->objects.items[handle] : NULL;
}

void zs_drm_object_put(struct zs_drm_object *object)
{
    if (--object->references)
        return;
    if (object->pages)
        zs_drm_pages_put(object->pages);
    else if (!object->is_users)
        give_part(object->file, object->offset_B, zs_align_up(object->size_B, BLOCK_B));
    free(object->bindings.items);
    free(object);
}

/* ---- bindings ----------------------------------------------------------------------------------
 * A VM's memory lets go of an allocation when no batch can touch it any more.
 */

static void unbind(struct zs_drm_object *object, size_t i)
{
    struct zs_drm_binding binding = object->bindings.items[i];
    object->bindings.items[i] = object->bindings.items[--object->bindings.count];
    zs_gpu_memory_remove(binding.vm->memory, binding.gpu_va, NULL, NULL);
    zs_drm_vm_put(binding.vm);
}

int zs_drm_object_close(struct zs_drm_file *file, uint32_t handle)
{
    struct zs_drm_object *object = zs_drm_object(file, handle);
    if (!object)
        return -EINVAL;
    while (object->busy) /* a kernel would keep its pages; a launch must not see them go */
        pthread_cond_wait(&file->idle, &file->lock);
    if (zs_drm_object(file, handle) != object) /* closed by somebody else meanwhile */
        return -EINVAL;
    file->objects.items[handle] = NULL;
    while (object->bindings.count)
        unbind(object, object->bindings.count - 1);
    zs_drm_object_put(object);
    return 0;
}

/* Whatever overlaps a range of the VM moves out. */
static void evict(struct zs_drm_file *file, const struct zs_drm_vm *vm, uint64_t gpu_va,
                  uint64_t size_B)
{
    for (size_t h = 1; h < file->objects.count; h++) {
        struct zs_drm_object *o = file->objects.items[h];
        for (size_t i = o ? o->bindings.count : 0; i > 0; i--) {
            const struct zs_drm_binding *b = &o->bindings.items[i - 1];
            if (b->vm == vm && b->gpu_va < gpu_va + size_B && gpu_va < b->gpu_va + o->size_B)
                unbind(o, i - 1);
        }
    }
}

int zs_drm_object_bind(struct zs_drm_object *object, struct zs_drm_vm *vm, uint64_t gpu_va)
{
    gpu_va = zs_drm_canonical(vm, gpu_va);
    for (size_t i = 0; i < object->bindings.count; i++) {
        if (object->bindings.items[i].vm != vm)
            continue;
        if (object->bindings.items[i].gpu_va == gpu_va)
            return 0;
        unbind(object, i);
        break;
    }
    if (gpu_va % PAGE_B)
        return -EINVAL;
    if (!ZS_VEC_RESERVE(&object->bindings, 1))
        return -ENOMEM;
    struct zs_gpu_allocation allocation = {
        .gpu_va = gpu_va,
        .size_B = object->size_B,
        .bias = (uint64_t)(uintptr_t)object->host - gpu_va,
        .kind = object->is_users ? ZS_GPU_MEMORY_HOST : ZS_GPU_MEMORY_DEVICE,
        /* drivers cut user memory into objects that stand side by side */
        .flags = ZS_GPU_ALLOCATION_JOINED | (object->read_only ? ZS_GPU_ALLOCATION_READ_ONLY : 0u),
    };
    const char *call = object->call;
    uint64_t exact_B = object->exact_B;
    if (!call)
        zs_drm_memory_at(gpu_va, object->size_B, &exact_B, &call);
    zs_drm_check_allocation(call, exact_B, &allocation);
    int error = zs_drm_vm_show(vm, &allocation);
    if (error == -EEXIST) {
        evict(object->file, vm, gpu_va, object->size_B);
        error = zs_drm_vm_show(vm, &allocation);
    }
    if (error)
        return error;
    vm->references++;
    object->bindings.items[object->bindings.count++] = (struct zs_drm_binding){vm, gpu_va};
    return 0;
}
