/* SPDX-License-Identifier: MIT */
/* A walker's work for the software GPU: code, payload, surfaces and samplers out of memory. */
#include "drm/drm_priv.h"

#include "base/reader.h"
#include "cs/cs.h"
#include "gpu/walk.h"
#include "module/module.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- kernels -----------------------------------------------------------------------------------
 * Lowered once, and kept as long as they are among those that were used last.
 */

enum { KERNELS_MAX = 256 };
struct kept {
    struct zs_gpu_walk_kernel *kernel;
    const struct zs_kernel *named; /* of the application, or NULL */
    uint64_t skip_B;               /* of that one's code, where threads begin */
    uint32_t asked;                /* ZS_GPU_KERNEL_*: what it was made for */
    uint32_t users;
    uint64_t used;
    struct zs_drm_heap heap; /* of one that calls functions by their addresses */
};
struct zs_drm_kernels {
    pthread_mutex_t lock;
    uint64_t uses;
    struct kept kept[KERNELS_MAX];
};

static struct zs_drm_kernels *kernels_of(struct zs_drm_node *node)
{
    pthread_mutex_lock(&node->lock);
    if (!node->kernels) {
        node->kernels = calloc(1, sizeof(*node->kernels));
        if (node->kernels)
            pthread_mutex_init(&node->kernels->lock, NULL);
    }
    struct zs_drm_kernels *kernels = node->kernels;
    pthread_mutex_unlock(&node->lock);
    return kernels;
}

/* One that nobody uses, and that was used longest ago. NULL: all are in use. */
static struct kept *oldest(struct zs_drm_kernels *all)
{
    struct kept *found = NULL;
    for (uint32_t i = 0; i < KERNELS_MAX; i++) {
        struct kept *k = &all->kept[i];
        if (!k->users && (!found || k->used < found->used))
            found = k;
    }
    return found;
}

static bool is_kept(const struct kept *k, const struct zs_drm_vm *vm,
                    const struct zs_gpu_walk_code *code)
{
    struct zs_gpu_walk_code asked = *code;
    if (!k->kernel || k->asked != code->flags)
        return false;
    asked.flags = zs_gpu_walk_kernel_code(k->kernel)->flags;
    return zs_gpu_walk_kernel_is(k->kernel, &asked) &&
           (!k->heap.count || zs_drm_heap_is(vm, code->base_va, &k->heap));
}

/* Anew, with the functions that it may call by their addresses, where all of them are modelled. */
static int add_functions(struct zs_gpu_device *device, const struct zs_drm_vm *vm,
                         const struct zs_gpu_walk_code *code, struct kept *fresh)
{
    struct zs_gpu_walk_functions functions = {.segments = {.count = 0}};
    struct zs_gpu_walk_code all = *code;
    struct zs_gpu_walk_kernel *kernel;
    struct zs_diag diag = {0};
    all.functions = &functions;
    int error = zs_drm_heap_read(vm, device, zs_gpu_walk_kernel_code(fresh->kernel), &fresh->heap,
                                 &functions);
    if (!error && functions.segments.count) {
        if (zs_gpu_walk_kernel_create(device, &all, &kernel, &diag)) {
            zs_drm_log(ZS_DRM_WARN, "functions beside the kernel at 0x%" PRIx64 ": %s",
                       code->gpu_va, diag.text);
        } else {
            zs_gpu_walk_kernel_destroy(fresh->kernel);
            fresh->kernel = kernel;
        }
    }
    zs_gpu_walk_functions_fini(&functions);
    return error;
}

static int create_kernel(struct zs_gpu_device *device, const struct zs_drm_vm *vm,
                         const struct zs_gpu_walk_code *code, struct kept *fresh,
                         struct zs_diag *diag)
{
    zs_drm_heap_fini(&fresh->heap);
    zs_gpu_walk_kernel_destroy(fresh->kernel);
    fresh->kernel = NULL;
    int error = zs_gpu_walk_kernel_create(device, code, &fresh->kernel, diag);
    if (!error && zs_gpu_kernel_computes_jumps(zs_gpu_walk_kernel_of(fresh->kernel)) &&
        add_functions(device, vm, code, fresh))
        error = zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "no memory");
    return error;
}

/* Checks are for kernels that the application has. */
static int make_kernel(struct zs_gpu_device *device, const struct zs_drm_vm *vm,
                       const struct zs_gpu_walk_code *code, struct kept *k, struct zs_diag *diag)
{
    struct zs_gpu_walk_code plain = *code;
    struct kept fresh = {.asked = code->flags};
    int error = create_kernel(device, vm, code, &fresh, diag);
    if (!error)
        fresh.named = zs_drm_name(zs_gpu_walk_kernel_code(fresh.kernel)->code, &fresh.skip_B);
    plain.flags &= ~zs_drm_check_kernel();
    if (!error && !fresh.named && plain.flags != code->flags && zs_drm_has_names())
        error = create_kernel(device, vm, &plain, &fresh, diag);
    if (error) {
        zs_drm_heap_fini(&fresh.heap);
        zs_gpu_walk_kernel_destroy(fresh.kernel);
        return error;
    }
    if (fresh.named)
        zs_gpu_walk_kernel_name(fresh.kernel, fresh.named);
    zs_drm_heap_fini(&k->heap);
    zs_gpu_walk_kernel_destroy(k->kernel);
    *k = fresh;
    return 0;
}

static int take_kernel(struct zs_drm_kernels *all, struct zs_gpu_device *device,
                       const struct zs_drm_vm *vm, const struct zs_gpu_walk_code *code,
                       struct kept **ret, struct zs_diag *diag)
{
    struct kept *found = NULL;
    int error = 0;
    pthread_mutex_lock(&all->lock);
    for (uint32_t i = 0; i < KERNELS_MAX && !found; i++) {
        if (is_kept(&all->kept[i], vm, code))
            found = &all->kept[i];
    }
    if (!found) {
        found = oldest(all);
        error = found ? make_kernel(device, vm, code, found, diag) : -ENOMEM;
    }
    if (!error) {
        found->users++;
        found->used = ++all->uses;
        *ret = found;
    }
    pthread_mutex_unlock(&all->lock);
    return error;
}

static void give_kernel(struct zs_drm_kernels *all, struct kept *kept)
{
    pthread_mutex_lock(&all->lock);
    kept->users--;
    pthread_mutex_unlock(&all->lock);
}

/* ---- state -------------------------------------------------------------------------------------
 */

static const uint8_t *find(const struct zs_drm_vm *vm, uint64_t gpu_va, uint64_t size_B)
{
    return zs_gpu_memory_host(vm->memory, zs_drm_canonical(vm, gpu_va), size_B, false);
}

/* Rows of pairs of U and V stand behind those of Y, in whole tiles. */
static bool planes_of(const struct zs_cs_surface *s, struct zs_gpu_image *ret)
{
    enum { R8 = 0x140, R8G8 = 0x106, R16 = 0x10a, R16G16 = 0x0cc, PLANAR_420_8 = 0x1a5 };
    bool is_8 = s->format == PLANAR_420_8;
    ret->format = zs_gpu_format_find(is_8 ? R8 : R16);
    ret->chroma = zs_gpu_format_find(is_8 ? R8G8 : R16G16);
    ret->slice_pitch_B = (uint64_t)s->chroma_rows * s->row_pitch_B;
    return s->chroma_rows % zs_tile_rows(ret->tiling) == 0;
}

static bool image_of(const struct zs_drm_vm *vm, const struct zs_cs_surface *s,
                     struct zs_gpu_image *ret)
{
    static const enum zs_gpu_image_type types[4][2] = {
        [1] = {ZS_GPU_IMAGE_1D, ZS_GPU_IMAGE_1D_ARRAY},
        [2] = {ZS_GPU_IMAGE_2D, ZS_GPU_IMAGE_2D_ARRAY},
        [3] = {ZS_GPU_IMAGE_3D, ZS_GPU_IMAGE_3D},
    };
    bool is_3d = s->dimensions == 3;
    *ret = (struct zs_gpu_image){
        .type = s->is_buffer ? ZS_GPU_IMAGE_BUFFER : types[s->dimensions][s->is_array],
        .format = zs_gpu_format_find(s->format),
        .gpu_va = zs_drm_canonical(vm, s->gpu_va),
        .width = s->width,
        .height = s->dimensions > 1 ? s->height : 1,
        .depth = is_3d ? s->depth : 1,
        .layers = is_3d ? 1 : s->depth,
        .row_pitch_B = s->row_pitch_B,
        .tiling = s->tiling,
    };
    memcpy(ret->swizzle, s->swizzle, sizeof(ret->swizzle));
    if (s->chroma_rows && s->tiling != ZS_TILE_64)
        return planes_of(s, ret);
    if (!ret->format)
        return false;
    if (s->tiling == ZS_TILE_64)
        ret->tiling = zs_tile_64_of(zs_gpu_format_texel_B(ret->format), is_3d);
    /* arrays of lines have their layers' distance in texels */
    uint32_t unit_B = s->dimensions == 1 ? zs_gpu_format_texel_B(ret->format) : s->row_pitch_B;
    ret->slice_pitch_B = (uint64_t)s->slice_rows * unit_B;
    return true;
}

/* All that the launch needs of memory that is pinned only until it begins. */
struct work {
    struct kept *kept;
    uint8_t *payload;                     /* what all threads get, then rows */
    struct zs_gpu_walk_surface *surfaces; /* of the binding table, then of handles */
    uint32_t *handles;
    struct zs_gpu_walk_sampler *samplers; /* by index, then of handles */
    uint32_t *sampler_handles;
    struct zs_gpu_walk walk;
};

/* What cannot be had is a surface without memory: whoever touches it faults. false: a null surface,
 * or nothing is there. */
static bool read_state(const struct zs_drm_vm *vm, uint64_t state_va, bool has_tile4,
                       struct zs_gpu_walk_surface *ret)
{
    struct zs_cs_surface s;
    struct zs_diag diag = {0};
    const uint8_t *state = find(vm, state_va, ZS_CS_SURFACE_STATE_B);
    *ret = (struct zs_gpu_walk_surface){.size_B = 0};
    int error = state ? zs_cs_surface_decode(state, has_tile4, &s, &diag) : 0;
    if (!state || (!error && s.kind == ZS_CS_SURFACE_NULL))
        return false;
    ret->size_B = 1;
    if (!error && s.kind == ZS_CS_SURFACE_BUFFER) {
        ret->gpu_va = zs_drm_canonical(vm, s.gpu_va);
        ret->size_B = s.size_B;
        return true;
    }
    if (!error && s.kind == ZS_CS_SURFACE_IMAGE)
        zs_drm_log(ZS_DRM_DEBUG,
                   "surface state at 0x%" PRIx64 ": image at 0x%" PRIx64 ", %" PRIu32
                   " dimensions%s, %" PRIu32 " x %" PRIu32 " x %" PRIu32 ", format 0x%" PRIx32
                   ", pitch %" PRIu32 ", slices of %" PRIu32 " rows, tiling %d",
                   state_va, s.gpu_va, s.dimensions, s.is_array ? ", array" : "", s.width, s.height,
                   s.depth, s.format, s.row_pitch_B, s.slice_rows, (int)s.tiling);
    if (!error && image_of(vm, &s, &ret->image)) {
        ret->is_image = true;
        ret->gpu_va = ret->image.gpu_va;
        return true;
    }
    zs_drm_log(ZS_DRM_DEBUG, "surface state at 0x%" PRIx64 ": %s", state_va,
               error ? diag.text : "its format is not modelled");
    return true;
}

/* All data that threads get: what the command has, then what is in memory. */
static uint32_t payload_dword(const struct zs_cs_walk *walk, uint32_t index)
{
    uint32_t of_command = walk->inline_B / 4;
    return index < of_command ? zs_load_u32(walk->inline_data + index * 4ull)
                              : zs_load_u32(walk->payload + (index - of_command) * 4ull);
}

/* Handles are values of the payload, and nothing says which: each that leads to a surface state is
 * taken for one. Those that threads read elsewhere are refused. */
static uint32_t read_handles(const struct zs_drm_vm *vm, const struct zs_cs_walk *walk,
                             bool has_tile4, struct work *work)
{
    enum { STATE_SHIFT = 6, OLD_SHIFT = 12 };
    uint32_t shift = has_tile4 ? STATE_SHIFT : OLD_SHIFT, count = 0;
    uint32_t room = zs_gpu_walk_kernel_handles(work->walk.kernel);
    struct zs_gpu_walk_surface *to = work->surfaces + work->walk.surface_count;
    for (uint32_t i = 0; i < (walk->inline_B + walk->cross_B) / 4 && count < room; i++) {
        uint32_t value = payload_dword(walk, i), state = value >> shift, k = 0;
        while (k < count && work->handles[k] != state)
            k++;
        if (value & ((1u << shift) - 1) || k < count ||
            !read_state(vm, walk->bindless_va + state * 64ull, has_tile4, &to[count]))
            continue;
        work->handles[count++] = state;
    }
    return count;
}

static int read_surfaces(const struct zs_drm_vm *vm, const struct zs_cs_walk *walk, bool has_tile4,
                         struct work *work)
{
    uint32_t table = zs_gpu_walk_kernel_surfaces(work->walk.kernel);
    uint32_t handles = zs_gpu_walk_kernel_handles(work->walk.kernel);
    work->surfaces = calloc(table + handles + 1u, sizeof(*work->surfaces));
    work->handles = calloc(handles + 1u, sizeof(*work->handles));
    if (!work->surfaces || !work->handles)
        return -ENOMEM;
    for (uint32_t i = 0; walk->table_va && i < table; i++) {
        const uint8_t *entry = find(vm, walk->table_va + i * 4ull, 4);
        if (entry)
            read_state(vm, walk->surface_base_va + (zs_load_u32(entry) & ~63u), has_tile4,
                       &work->surfaces[i]);
    }
    work->walk.surface_count = table;
    if (handles && walk->bindless_va)
        work->walk.handle_count = read_handles(vm, walk, has_tile4, work);
    work->walk.surface_count += work->walk.handle_count;
    work->walk.surfaces = work->surfaces;
    work->walk.handles = work->handles;
    return 0;
}

static bool read_sampler(const struct zs_drm_vm *vm, const struct zs_cs_walk *walk,
                         uint64_t state_va, struct zs_gpu_walk_sampler *to)
{
    const uint8_t *from = find(vm, state_va, sizeof(to->state));
    if (!from)
        return false;
    memcpy(to->state, from, sizeof(to->state));
    uint32_t border_B = zs_load_u32(to->state + 8) & 0xffffc0u;
    const uint8_t *border = find(vm, walk->dynamic_base_va + border_B, sizeof(to->border));
    if (border)
        memcpy(to->border, border, sizeof(to->border));
    return true;
}

/* As those of surfaces; bit 0 may be set, which says in a message's header what it is. */
static void read_sampler_handles(const struct zs_drm_vm *vm, const struct zs_cs_walk *walk,
                                 uint32_t room, struct work *work)
{
    enum { OTHER_BITS = 0xe };
    struct zs_gpu_walk_sampler *to =
        work->samplers + zs_gpu_walk_kernel_samplers(work->walk.kernel) - room;
    uint32_t count = 0;
    for (uint32_t i = 0; i < (walk->inline_B + walk->cross_B) / 4 && count < room; i++) {
        uint32_t value = payload_dword(walk, i), handle = value & ~1u, k = 0;
        while (k < count && work->sampler_handles[k] != handle)
            k++;
        if (value & OTHER_BITS || k < count ||
            !read_sampler(vm, walk, walk->bindless_sampler_va + handle, &to[count]))
            continue;
        work->sampler_handles[count++] = handle;
    }
    work->walk.sampler_handles = work->sampler_handles;
    work->walk.sampler_handle_count = count;
}

static int read_samplers(const struct zs_drm_vm *vm, const struct zs_cs_walk *walk,
                         struct work *work)
{
    uint32_t all = zs_gpu_walk_kernel_samplers(work->walk.kernel);
    uint32_t handles = zs_gpu_walk_kernel_sampler_handles(work->walk.kernel);
    work->walk.samplers = work->samplers = calloc(all + 1u, sizeof(*work->samplers));
    work->sampler_handles = calloc(handles + 1u, sizeof(*work->sampler_handles));
    if (!work->samplers || !work->sampler_handles)
        return -ENOMEM;
    for (uint32_t i = 0; walk->sampler_va && i < all - handles; i++) {
        if (!read_sampler(vm, walk, walk->sampler_va + i * 16ull, &work->samplers[i]))
            break;
    }
    if (handles && walk->bindless_sampler_va)
        read_sampler_handles(vm, walk, handles, work);
    return 0;
}

/* ---- the walk ----------------------------------------------------------------------------------
 */

static int copy_payload(const struct zs_cs_walk *walk, struct work *work)
{
    size_t rows_B = (size_t)walk->row_B * walk->threads;
    work->payload = malloc((size_t)walk->inline_B + walk->cross_B + rows_B + 1);
    if (!work->payload)
        return -ENOMEM;
    if (walk->inline_B)
        memcpy(work->payload, walk->inline_data, walk->inline_B);
    if (walk->cross_B + rows_B)
        memcpy(work->payload + walk->inline_B, walk->payload, walk->cross_B + rows_B);
    work->walk.cross = work->payload;
    work->walk.rows = walk->row_B ? work->payload + walk->inline_B + walk->cross_B : NULL;
    return 0;
}

static int prepare(struct zs_drm_node *node, struct zs_gpu_device *device,
                   const struct zs_drm_vm *vm, const struct zs_cs_walk *walk, struct work *work,
                   struct zs_diag *diag)
{
    struct zs_gpu_allocation a;
    uint64_t kernel_va = zs_drm_canonical(vm, walk->kernel_va);
    if (!zs_gpu_memory_find(vm->memory, kernel_va, &a))
        return zs_diag_set(diag, -EFAULT, ZS_DIAG_NO_OFFSET, "no kernel is at 0x%" PRIx64,
                           kernel_va);
    struct zs_gpu_walk_code code = {
        .gpu_va = kernel_va,
        .base_va = zs_drm_canonical(vm, walk->instruction_base_va),
        .code = {(const uint8_t *)(uintptr_t)(kernel_va + a.bias), a.gpu_va + a.size_B - kernel_va},
        .simd = walk->simd,
        .large_grf = walk->large_grf,
        .has_barrier = walk->has_barrier,
        .scratch_B = walk->scratch_B,
        .emit = walk->emit,
        .order = {walk->order[0], walk->order[1], walk->order[2]},
        .row_B = walk->row_B,
        .inline_B = walk->inline_B,
        .cross_B = walk->cross_B,
        .flags = (zs_drm_stalls_wanted(node) || zs_drm_counts_wanted() ? ZS_GPU_KERNEL_TIMED : 0u) |
                 zs_drm_check_kernel(),
    };
    zs_drm_compile_choose(&code);
    struct zs_drm_kernels *kernels = kernels_of(node);
    int error = kernels ? take_kernel(kernels, device, vm, &code, &work->kept, diag) : -ENOMEM;
    if (error)
        return error;
    work->walk.kernel = work->kept->kernel;
    error = read_surfaces(vm, walk, node->model->loads_payload, work);
    if (!error)
        error = read_samplers(vm, walk, work);
    if (!error)
        error = copy_payload(walk, work);
    return error ? zs_diag_set(diag, error, ZS_DIAG_NO_OFFSET, "no memory") : 0;
}

/* Without local sizes groups are rows of work-items. */
static int set_size(const struct zs_cs_walk *walk, struct zs_gpu_walk *to, struct zs_diag *diag)
{
    /* Intel's OpenCL driver says all 32 lanes of a last thread that has all of its 8 or 16 */
    uint32_t lanes = walk->simd < 32 ? (1u << walk->simd) - 1 : UINT32_MAX;
    uint32_t last = (uint32_t)__builtin_popcount(walk->last_mask & lanes);
    uint64_t items = (walk->threads - 1ull) * walk->simd + last;
    uint64_t local = (uint64_t)walk->local[0] * walk->local[1] * walk->local[2];
    to->group_size[0] = (uint32_t)items;
    to->group_size[1] = to->group_size[2] = 1;
    if (walk->emit && (local + walk->simd - 1) / walk->simd != walk->threads)
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                           "groups of %" PRIu64 " work-items do not have %" PRIu32
                           " threads of SIMD%" PRIu32,
                           local, walk->threads, walk->simd);
    if (walk->emit)
        memcpy(to->group_size, walk->local, sizeof(to->group_size));
    memcpy(to->group_count, walk->groups, sizeof(to->group_count));
    memcpy(to->group_start, walk->start, sizeof(to->group_start));
    to->slm_B = walk->slm_B;
    return 0;
}

static int run(struct zs_drm_node *node, struct work *work, const struct zs_cs_walk *asked,
               struct zs_drm_order *order, struct zs_cs_ran *ret, struct zs_diag *diag)
{
    struct zs_gpu_walk *walk = &work->walk;
    struct zs_between_command command;
    struct zs_gpu_result result;
    struct zs_drm_checked checked = {
        .kernel = work->kept->named, .skip_B = work->kept->skip_B, .payload = work->payload};
    zs_drm_check_launch(node->model, walk, &checked);
    zs_drm_order_begin(order, asked, walk, &command);
    walk->counters = zs_drm_count_begin(walk->kernel);
    walk->flags |= walk->counters ? zs_drm_measure_flags() : 0u;
    int error = zs_gpu_walk_run(node->device, walk, &result);
    zs_drm_order_end(order, &command);
    zs_drm_count_end(walk->kernel, walk->counters, node->model, &result);
    if (result.timing.stall_count)
        zs_drm_stalls_put(node, asked->kernel_va, zs_gpu_walk_kernel_of(walk->kernel),
                          &result.timing);
    ret->start_ticks = result.start_ticks;
    ret->end_ticks = result.end_ticks;
    if (error == -EFAULT) {
        zs_drm_tell_fault(&checked, &result.fault);
        zs_diag_set(diag, error, ZS_DIAG_NO_OFFSET, "kernel %s: %s", result.fault.kernel,
                    zs_gpu_fault_name(result.fault.kind));
    } else if (error) {
        zs_diag_set(diag, error, ZS_DIAG_NO_OFFSET, "kernel: %s", strerror(-error));
    }
    zs_gpu_result_fini(&result);
    return error;
}

int zs_drm_walk(struct zs_drm_node *node, const struct zs_drm_vm *vm, const struct zs_cs_walk *walk,
                const _Atomic(bool) *cancel, struct zs_gpu_pin *pin, struct zs_drm_order *order,
                struct zs_cs_ran *ret, struct zs_diag *diag)
{
    struct work work = {.walk = {.memory = vm->memory, .cancel = cancel}};
    struct zs_gpu_device *device = zs_drm_node_device(node);
    if (!device)
        return zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "the device cannot be made");
    zs_drm_log(ZS_DRM_DEBUG,
               "kernel at 0x%" PRIx64 ": %" PRIu32 " x %" PRIu32 " x %" PRIu32 " groups of %" PRIu32
               " threads of SIMD%" PRIu32 " (the last 0x%" PRIx32 "), %" PRIu32
               " bytes for all, %" PRIu32 " for each, local memory %" PRIu32
               ", scratch memory %" PRIu32,
               walk->kernel_va, walk->groups[0], walk->groups[1], walk->groups[2], walk->threads,
               walk->simd, walk->last_mask, walk->inline_B + walk->cross_B, walk->row_B,
               walk->slm_B, walk->scratch_B);
    int error = set_size(walk, &work.walk, diag);
    if (!error)
        error = prepare(node, device, vm, walk, &work, diag);
    zs_gpu_memory_unpin(vm->memory, pin);
    if (!error)
        error = run(node, &work, walk, order, ret, diag);
    zs_gpu_memory_pin(vm->memory, pin);
    if (work.kept)
        give_kernel(node->kernels, work.kept);
    free(work.payload);
    free(work.surfaces);
    free(work.handles);
    free(work.samplers);
    free(work.sampler_handles);
    return error;
}
