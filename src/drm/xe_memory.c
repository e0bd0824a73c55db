/* SPDX-License-Identifier: MIT */
/* Memory objects, and VMs that they are bound to. */
#include "drm/xe.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum { PAGE_B = 4096 };

/* ---- objects -----------------------------------------------------------------------------------
 */

/* Placements are not told apart: there is one memory. */
int zs_drm_xe_gem_create(struct zs_drm_file *file, void *argument)
{
    struct zs_xe_gem_create *c = argument;
    if (c->extensions || !c->placement || c->size_B % PAGE_B || (c->vm && !zs_drm_vm(file, c->vm)))
        return c->vm && !zs_drm_vm(file, c->vm) ? -ENOENT : -EINVAL;
    return zs_drm_object_create(file, c->size_B, &c->handle);
}

int zs_drm_xe_mmap_offset(struct zs_drm_file *file, void *argument)
{
    struct zs_xe_mmap_offset *m = argument;
    const struct zs_drm_object *object = zs_drm_object(file, m->handle);
    if (m->extensions || m->flags & ~(uint32_t)ZS_XE_MMAP_BARRIER)
        return -EINVAL;
    if (m->flags & ZS_XE_MMAP_BARRIER) /* a page that nobody has: writes to it order what was */
        return m->handle ? -EINVAL : (m->offset = PAGE_B, 0);
    if (!object)
        return -ENOENT;
    if (object->is_users) /* of another device */
        return -ENODEV;
    m->offset = object->offset_B;
    return 0;
}

int zs_drm_xe_madvise(struct zs_drm_file *file, void *argument)
{
    const struct zs_xe_madvise *m = argument; /* where memory is best makes no difference here */
    if (!zs_drm_vm(file, m->vm))
        return -ENOENT;
    return m->extensions || (m->start | m->size_B) % PAGE_B || !m->size_B ? -EINVAL : 0;
}

/* ---- VMs ---------------------------------------------------------------------------------------
 */

int zs_drm_xe_vm_create(struct zs_drm_file *file, void *argument)
{
    struct zs_xe_vm_create *v = argument;
    const uint32_t known = ZS_XE_VM_SCRATCH | ZS_XE_VM_LONG_RUNNING;
    if (v->extensions || v->flags & ~known) /* there are no page faults */
        return -EINVAL;
    return zs_drm_vm_add(file, zs_drm_vm_create(file->node), &v->id);
}

int zs_drm_xe_vm_destroy(struct zs_drm_file *file, void *argument)
{
    return zs_drm_vm_remove(file, ((struct zs_xe_vm_destroy *)argument)->id);
}

static int map_object(struct zs_drm_file *file, struct zs_drm_vm *vm,
                      const struct zs_xe_bind_op *op)
{
    struct zs_drm_object *object = zs_drm_object(file, op->handle);
    if (!object)
        return -ENOENT;
    if (op->offset_B % PAGE_B || op->size_B > object->size_B ||
        op->offset_B > object->size_B - op->size_B)
        return -EINVAL;
    const struct zs_drm_mapping mapping = {
        .gpu_va = op->gpu_va,
        .size_B = op->size_B,
        .host = object->host + op->offset_B,
        .object = object,
        .read_only = op->flags & ZS_XE_BIND_READ_ONLY,
    };
    return zs_drm_vm_map(vm, &mapping);
}

static int map_users(struct zs_drm_vm *vm, const struct zs_xe_bind_op *op)
{
    const struct zs_drm_mapping mapping = {
        .gpu_va = op->gpu_va,
        .size_B = op->size_B,
        .host = (uint8_t *)(uintptr_t)op->offset_B,
        .read_only = op->flags & ZS_XE_BIND_READ_ONLY,
    };
    if (op->offset_B % PAGE_B)
        return -EINVAL;
    return zs_drm_is_mapped(op->offset_B, op->size_B) ? zs_drm_vm_map(vm, &mapping) : -EFAULT;
}

static int bind(struct zs_drm_file *file, struct zs_drm_vm *vm, const struct zs_xe_bind_op *op)
{
    const uint32_t known = ZS_XE_BIND_READ_ONLY | ZS_XE_BIND_IMMEDIATE | ZS_XE_BIND_DUMPABLE;
    if (op->what == ZS_XE_BIND_UNMAP_OBJECT) {
        struct zs_drm_object *object = zs_drm_object(file, op->handle);
        return object ? (zs_drm_vm_unmap_object(vm, object), 0) : -ENOENT;
    }
    if (op->extensions || op->flags & ~known) {
        zs_drm_log(ZS_DRM_WARN, "vm_bind: flags 0x%" PRIx32 " are not modelled", op->flags);
        return -EINVAL;
    }
    if (!op->size_B || (op->gpu_va | op->size_B) % PAGE_B || op->size_B >> vm->address_bits ||
        op->gpu_va >> vm->address_bits)
        return -EINVAL;
    switch (op->what) {
    case ZS_XE_BIND_MAP:
        return map_object(file, vm, op);
    case ZS_XE_BIND_UNMAP:
        return zs_drm_vm_unmap(vm, op->gpu_va, op->size_B);
    case ZS_XE_BIND_MAP_USERS:
        return map_users(vm, op);
    case ZS_XE_BIND_PREFETCH: /* it is there */
        return 0;
    default:
        return -EINVAL;
    }
}

/* All is done at once: what is to be signalled is before the call is over; what is waited for must
 * have been reached. */
static int bound_sync(struct zs_drm_file *file, const struct zs_xe_sync *sync, bool is_over)
{
    bool is_signal = sync->flags & ZS_XE_SYNC_SIGNAL,
         is_timeline = sync->type == ZS_XE_SYNC_TIMELINE;
    if (sync->type == ZS_XE_SYNC_USER_FENCE && is_signal)
        return is_over ? zs_drm_copy_out(sync->address, &sync->value, sizeof(sync->value)) : 0;
    if ((sync->type != ZS_XE_SYNC_OBJECT && !is_timeline) || (is_timeline && !sync->value))
        return -EINVAL;
    struct zs_drm_point *point = calloc(1, sizeof(*point));
    int error = point ? zs_drm_sync_point(file, (uint32_t)sync->address,
                                          is_timeline ? sync->value : 0, is_signal, false, point)
                      : -ENOMEM;
    if (error) {
        free(point);
        return error;
    }
    if (!is_signal && !zs_drm_is_reached(point)) {
        zs_drm_log(ZS_DRM_WARN, "vm_bind: to wait for batches is not modelled");
        error = -EINVAL;
    }
    if (is_signal && is_over)
        zs_drm_point_submit(point);
    zs_drm_points_end(point, 1, is_over);
    pthread_cond_broadcast(&file->idle);
    return error;
}

static int bound_syncs(struct zs_drm_file *file, const struct zs_xe_vm_bind *b, bool is_over)
{
    int error = b->sync_count > ZS_XE_SYNCS_MAX ? -EINVAL : 0;
    for (uint32_t i = 0; i < b->sync_count && !error; i++) {
        struct zs_xe_sync sync;
        error = zs_drm_copy_in(&sync, b->syncs + i * sizeof(sync), sizeof(sync));
        if (!error)
            error = bound_sync(file, &sync, is_over);
    }
    return error;
}

int zs_drm_xe_vm_bind(struct zs_drm_file *file, void *argument)
{
    enum { OPS_MAX = 1 << 16 };
    const struct zs_xe_vm_bind *b = argument;
    struct zs_drm_vm *vm = zs_drm_vm(file, b->vm);
    if (!vm)
        return -ENOENT;
    int error =
        b->extensions || !b->count || b->count > OPS_MAX ? -EINVAL : bound_syncs(file, b, false);
    for (uint32_t i = 0; i < b->count && !error; i++) {
        struct zs_xe_bind_op op = b->op;
        if (b->count > 1)
            error = zs_drm_copy_in(&op, b->ops + i * sizeof(op), sizeof(op));
        zs_drm_log(ZS_DRM_DEBUG,
                   "bind %" PRIu32 ": 0x%" PRIx64 " to 0x%" PRIx64 " of object %" PRIu32
                   ", from 0x%" PRIx64 ", flags 0x%" PRIx32,
                   op.what, op.gpu_va, op.gpu_va + op.size_B, op.handle, op.offset_B, op.flags);
        if (!error)
            error = bind(file, vm, &op);
    }
    return error ? error : bound_syncs(file, b, true);
}
