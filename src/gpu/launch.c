/* SPDX-License-Identifier: MIT */
/* One launch: check it, set up what its groups share, run them, sum up. */
#include "gpu/check.h"

#include <errno.h>
#include <stdlib.h>

enum {
    SLICE = 20000,            /* instructions of an EU thread between two looks around */
    SLICE_COOPERATIVE = 2000, /* threads wait for each other: switch often */
    SYNC_B = 4096,
    SMALL_MAX = 24, /* surfaces kept without an allocation */
};

static int check(const struct zs_gpu_launch *launch, struct zs_gpu_run *run)
{
    const struct zs_gpu_model *model = launch->kernel->device->model;
    uint64_t items = 1, groups = 1;
    for (uint32_t i = 0; i < 3; i++) {
        if (launch->group_size[i] == 0 || !zs_mul_u64(items, launch->group_size[i], &items) ||
            !zs_mul_u64(groups, launch->group_count[i], &groups))
            return -EINVAL;
    }
    if (items > model->max_group_items || groups > UINT64_MAX / 4 ||
        zs_gpu_args_slm_exact_B(launch->args) > model->slm_B)
        return -EINVAL;
    uint32_t simd = launch->kernel->module->simd, rest = (uint32_t)items % simd;
    run->group_items = (uint32_t)items;
    run->group_total = groups;
    run->threads_per_group = ((uint32_t)items + simd - 1) / simd;
    run->mask = simd == 32 ? UINT32_MAX : (1u << simd) - 1;
    run->last_mask = rest ? (1u << rest) - 1 : run->mask;
    run->slm_B = (uint32_t)zs_align_up(zs_gpu_args_slm_exact_B(launch->args), 4);
    return 0;
}

/* Scratch memory of an EU thread: 0, or a power of two from 1 KB on. */
static uint32_t scratch_size_B(const struct zs_gpu_kernel *kernel)
{
    const struct zs_kernel *m = kernel->module;
    uint32_t wanted_B = ZS_MAX(m->scratch_B[0], m->scratch_B[1]), size_B = 1024;
    while (size_B < wanted_B && size_B < 1u << 31)
        size_B *= 2;
    return wanted_B ? size_B : 0;
}

/* Numbers of threads come by so many: the lowest bit is the highest of them (thread_number()). */
enum { FUSED_NUMBERS = 64 };

static uint32_t numbers_per_group(const struct zs_gpu_model *model, uint32_t threads_per_group)
{
    return threads_per_group + (model->has_fused_eus ? threads_per_group & 1 : 0);
}

uint64_t zs_gpu_kernel_groups_max(const struct zs_gpu_kernel *kernel, uint32_t threads_per_group)
{
    uint32_t scratch_B = scratch_size_B(kernel);
    uint64_t slots = kernel->slots_max ? kernel->slots_max : UINT32_MAX;
    if (kernel->uses_private)
        slots = ZS_MIN(slots, UINT64_C(1) << kernel->device->model->fftid_bits);
    if (scratch_B) /* one more for the slot that stays unused */
        slots = ZS_MIN(slots, UINT32_MAX / scratch_B - 1ull);
    if (kernel->device->model->has_fused_eus)
        slots &= ~(FUSED_NUMBERS - 1ull);
    return slots / numbers_per_group(kernel->device->model, threads_per_group);
}

/* Where fewer groups than there is work for host threads have threads that know nothing of each
 * other: in how many parts of each. What looks at groups as a whole finds them whole, and what one
 * prints stands in order. */
static uint32_t choose_parts(const struct zs_gpu_run *run)
{
    enum { UNITS_PER_WORKER = 8 };
    uint64_t wanted = UNITS_PER_WORKER * (run->device->worker_limit + 1ull);
    uint32_t whole =
        ZS_GPU_LAUNCH_COOPERATIVE | ZS_GPU_LAUNCH_CHECK_SYNC | ZS_GPU_LAUNCH_CHECK_RACES;
    if (run->group_total >= wanted || run->device->worker_limit == 0 || run->slm_B || run->debug ||
        run->launch->flags & whole || zs_gpu_kernel_uses_printf(run->kernel) ||
        run->kernel->joins_threads || run->kernel->is_hooked || run->kernel->tracks_undefined ||
        run->kernel->timing_code)
        return 1;
    uint64_t parts = (wanted + run->group_total - 1) / run->group_total;
    return (uint32_t)ZS_MIN(parts, run->threads_per_group);
}

/*
 * How many host threads work on it, and how many groups may be resident.
 *
 * Nobody may rely on a helper: it may not have been started, or work for another launch. So the
 * launching thread alone has to be able to take in as many groups as have to make progress
 * together: all of a cooperative launch, otherwise as many as the modelled device holds. Every host
 * thread has a place of its own for one group; the others are shared.
 */
static int choose_workers(struct zs_gpu_run *run)
{
    run->parts = choose_parts(run);
    run->units = run->group_total * run->parts;
    uint64_t limit = zs_gpu_kernel_groups_max(run->kernel, run->threads_per_group);
    const struct zs_gpu_model *model = run->device->model;
    uint64_t held = zs_gpu_model_threads_for(model, run->kernel->module->grf_count) /
                    run->threads_per_group * run->parts;
    uint64_t workers = ZS_MIN((uint64_t)run->device->worker_limit + 1, run->units);
    uint32_t checks = ZS_GPU_LAUNCH_CHECK_SYNC | ZS_GPU_LAUNCH_CHECK_RACES;
    bool is_checked = run->launch->flags & checks || run->kernel->tracks_undefined;
    bool alone = run->history || (run->debug && is_checked) ||
                 (run->launch->flags & ZS_GPU_LAUNCH_CHECK_RACES && run->kernel->is_hooked &&
                  run->kernel->orders_groups); /* order.c knows of one worker */
    workers = alone ? ZS_MIN(workers, 1u) : workers;
    uint64_t places, per_worker;
    if (run->launch->flags & ZS_GPU_LAUNCH_COOPERATIVE) {
        if (run->group_total > limit)
            return -EINVAL;
        places = per_worker = run->group_total;
    } else {
        workers = ZS_MIN(workers, limit);
        if (workers == 0)
            return -ENOMEM;
        uint64_t shared = ZS_MIN(held, (uint64_t)ZS_GPU_SHARED_PLACES_MAX);
        shared = ZS_MIN(shared, ZS_MIN(limit, run->units) - workers);
        places = workers + shared;
        per_worker = 1 + shared;
    }
    run->workers_max = (uint32_t)workers;
    run->groups_per_worker = (uint32_t)per_worker;
    run->places = (uint32_t)places;
    run->numbers_per_group = numbers_per_group(model, run->threads_per_group);
    run->slots = (uint32_t)zs_align_up(run->places * run->numbers_per_group,
                                       model->has_fused_eus ? FUSED_NUMBERS : 1);
    run->job.helpers_max = run->workers_max - 1;
    return 0;
}

/* ---- memory of the launch ----------------------------------------------------------------------
 */

static void add_range(struct zs_gpu_run *run, const void *data, uint64_t size_B)
{
    zs_assert(run->range_count < ZS_PORT_LAUNCH_RANGES);
    uint64_t start = (uint64_t)(uintptr_t)data;
    run->ranges[run->range_count++] = (struct zs_port_range){.start = start, .end = start + size_B};
}

static int setup_gaps(struct zs_gpu_run *run)
{
    if (!run->kernel->checks_local || !run->slm_B)
        return 0;
    run->gaps = calloc(zs_gpu_args_gaps_max(run->launch->args) + 1u, sizeof(*run->gaps));
    if (!run->gaps)
        return -ENOMEM;
    run->gap_count = zs_gpu_args_gaps(run->launch->args, run->gaps);
    return 0;
}

static int setup_scratch(struct zs_gpu_run *run)
{
    run->scratch_B = scratch_size_B(run->kernel);
    if (run->scratch_B == 0)
        return 0;
    while (run->scratch_B >> (run->scratch_code + 11))
        run->scratch_code++;
    run->scratch_code &= 15;
    /* slot 0 of the arena stays unused: no thread's base is 0 */
    return zs_gpu_block_get(run->device, run->scratch_B * (run->slots + 1ull), &run->scratch);
}

/* The page behind it belongs to it: IGC 2's unoptimised code gives each lane four bytes where it
 * tells of one, and the last threads reach over the end, on hardware, too. */
static int setup_private(struct zs_gpu_run *run, struct zs_gpu_dispatch *dispatch)
{
    enum { PAGE_B = 64 << 10 };
    if (!run->kernel->uses_private)
        return 0;
    dispatch->private_B = (uint64_t)run->kernel->module->private_per_hw_thread_B * run->slots;
    int error = zs_gpu_block_get(run->device, dispatch->private_B + PAGE_B, &run->private_memory);
    if (error)
        return error;
    dispatch->private_va = (uint64_t)(uintptr_t)run->private_memory.data;
    add_range(run, run->private_memory.data, dispatch->private_B + PAGE_B);
    return 0;
}

static bool wants(const struct zs_gpu_kernel *kernel, enum zs_payload_kind kind)
{
    for (uint32_t i = 0; i < kernel->module->payload_count; i++) {
        if (kernel->module->payload[i].kind == kind)
            return true;
    }
    return false;
}

/* Implicit arguments with their table of local ids, and the buffer of the grid-wide barrier. */
static int setup_launch_memory(struct zs_gpu_run *run, struct zs_gpu_dispatch *dispatch)
{
    bool implicit = wants(run->kernel, ZS_PAYLOAD_IMPLICIT_ARGS) ||
                    wants(run->kernel, ZS_PAYLOAD_LOCAL_ID_BUFFER);
    /* where general state begins, as r0.0 is 0: Intel's debugger looks for them there */
    bool shown = run->device->model->loads_payload && run->debug && zs_gpu_debug_is_attached(run);
    implicit |= shown;
    bool sync = wants(run->kernel, ZS_PAYLOAD_SYNC_BUFFER);
    if (!implicit && !sync)
        return 0;
    size_t row_B = run->kernel->module->simd == 32 ? 192 : 96;
    size_t ids_B = implicit ? run->threads_per_group * row_B : 0;
    size_t total_B = SYNC_B + IMPLICIT_ARGS_B + ids_B;
    int error = zs_gpu_block_get(run->device, total_B, &run->launch_memory);
    if (error)
        return error;
    uint8_t *data = run->launch_memory.data;
    memset(data, 0, total_B);
    add_range(run, data, total_B);
    dispatch->sync_va = (uint64_t)(uintptr_t)data;
    if (!implicit)
        return 0;
    dispatch->implicit_va = dispatch->sync_va + SYNC_B;
    dispatch->local_ids_va = dispatch->implicit_va + IMPLICIT_ARGS_B;
    run->implicit_va = shown ? dispatch->implicit_va : 0;
    uint8_t *ids = data + SYNC_B + IMPLICIT_ARGS_B;
    uint32_t simd = run->kernel->module->simd;
    for (uint32_t index = 0; index < run->group_items; index++) {
        uint32_t id[3];
        zs_gpu_local_id(run->kernel, run->launch->group_size, index, id);
        for (uint32_t dim = 0; dim < 3; dim++) {
            uint16_t value = (uint16_t)id[dim];
            memcpy(ids + index / simd * row_B + dim * (row_B / 3) + index % simd * 2, &value, 2);
        }
    }
    zs_gpu_implicit_args(dispatch, data + SYNC_B);
    return 0;
}

/* ---- surfaces ----------------------------------------------------------------------------------
 */

static void image_surface(struct zs_port_surface *surface, const struct zs_gpu_image *image)
{
    static const struct {
        uint8_t dimensions;
        bool is_array;
    } shapes[] = {
        [ZS_GPU_IMAGE_1D] = {1, false}, [ZS_GPU_IMAGE_1D_ARRAY] = {1, true},
        [ZS_GPU_IMAGE_2D] = {2, false}, [ZS_GPU_IMAGE_2D_ARRAY] = {2, true},
        [ZS_GPU_IMAGE_3D] = {3, false}, [ZS_GPU_IMAGE_BUFFER] = {1, false},
    };
    surface->kind = ZS_PORT_SURFACE_IMAGE;
    surface->dimensions = shapes[image->type].dimensions;
    surface->is_array = shapes[image->type].is_array;
    memcpy(surface->swizzle, image->swizzle, sizeof(surface->swizzle));
    surface->format = image->format;
    surface->width = image->width;
    surface->height = image->height;
    surface->depth = surface->is_array ? image->layers : image->depth;
    surface->row_pitch_B = image->row_pitch_B;
    surface->slice_pitch_B = image->slice_pitch_B;
    surface->tiling = image->tiling;
    surface->chroma = image->chroma;
    if (image->chroma)
        surface->chroma_base = surface->base + image->slice_pitch_B;
}

/* Bytes from the first texel to behind the last one. */
static uint64_t image_extent_B(const struct zs_gpu_image *image)
{
    uint64_t slices = image->type == ZS_GPU_IMAGE_3D ? image->depth : image->layers;
    if (image->chroma && image->tiling != ZS_LINEAR)
        return image->slice_pitch_B +
               zs_align_up(zs_gpu_halved(image->height), zs_tile_rows(image->tiling)) *
                   image->row_pitch_B;
    if (image->chroma)
        return image->slice_pitch_B +
               (zs_gpu_halved(image->height) - 1) * (uint64_t)image->row_pitch_B +
               (uint64_t)zs_gpu_halved(image->width) * image->chroma->texel_B;
    uint64_t last_row_B =
        (slices - 1) * image->slice_pitch_B + (uint64_t)(image->height - 1) * image->row_pitch_B;
    if (image->tiling != ZS_LINEAR) {
        uint32_t together = zs_tile_slices(image->tiling);
        uint64_t rows = last_row_B / ZS_MAX(image->row_pitch_B, 1u) + 1;
        if (together > 1)
            return zs_align_up(slices, together) * image->slice_pitch_B;
        return zs_align_up(rows, zs_tile_rows(image->tiling)) * image->row_pitch_B;
    }
    return last_row_B + (uint64_t)image->width * image->format->texel_B;
}

/* Messages have no offsets behind it; kernels for larger buffers take addresses. */
#define SURFACE_MAX_B (1ull << 32)

static void resolve_surface(const struct zs_port_map *map, const struct zs_gpu_binding *binding,
                            bool is_strict, struct zs_port_surface *ret)
{
    *ret = (struct zs_port_surface){.kind = ZS_PORT_SURFACE_NULL, .read_only = binding->read_only};
    if (binding->kind == ZS_GPU_BINDING_NULL)
        return;
    bool is_image = binding->kind == ZS_GPU_BINDING_IMAGE;
    uint64_t wanted_B = is_image ? image_extent_B(&binding->image) : 1;
    struct zs_port_range range;
    uint64_t all_B = binding->is_cut ? ZS_MAX(wanted_B, binding->size_B) : wanted_B;
    (void)!zs_port_map_reach(map, binding->gpu_va, all_B, &range);
    ret->gpu_va = binding->gpu_va;
    if (!range.end || range.end - binding->gpu_va < wanted_B) {
        ret->kind = ZS_PORT_SURFACE_FREED;
        return;
    }
    ret->base = (uint8_t *)(uintptr_t)(binding->gpu_va + range.bias);
    ret->kind = ZS_PORT_SURFACE_BUFFER;
    uint64_t left_B = ZS_MIN(range.end - binding->gpu_va, SURFACE_MAX_B);
    if (binding->is_cut)
        left_B = ZS_MIN(left_B, binding->size_B);
    ret->size_B = is_image ? wanted_B : zs_align_up(left_B, 4);
    ret->pad_B = is_image ? 0 : (uint32_t)(ret->size_B - left_B);
    ret->read_only = range.read_only || (is_image && binding->image.read_only) ||
                     (is_strict && range.is_for_reads);
    if (is_image)
        image_surface(ret, &binding->image);
}

/* Surfaces of memory that belongs to the launch. */
static void bind_launch_surfaces(const struct zs_gpu_run *run, struct zs_port_surface *surfaces)
{
    const struct zs_kernel *m = run->kernel->module;
    for (uint32_t i = 0; i < m->surface_count; i++) {
        const struct zs_surface *surface = &m->surfaces[i];
        if (surface->bti == ZS_NONE)
            continue;
        struct zs_port_surface *to = &surfaces[surface->bti];
        if (surface->kind == ZS_SURFACE_PRIVATE && run->private_memory.data) {
            to->kind = ZS_PORT_SURFACE_BUFFER;
            to->base = run->private_memory.data;
            to->gpu_va = (uint64_t)(uintptr_t)to->base;
            to->size_B = (uint64_t)m->private_per_hw_thread_B * run->slots;
        } else if (surface->kind == ZS_SURFACE_PRINTF && run->launch->printf_buffer) {
            to->kind = ZS_PORT_SURFACE_BUFFER;
            to->base = run->launch->printf_buffer;
            to->gpu_va = (uint64_t)(uintptr_t)to->base;
            to->size_B = run->launch->printf_size_B;
        }
    }
}

void zs_gpu_resolve_surfaces(const struct zs_gpu_run *run, const struct zs_port_map *map,
                             struct zs_port_surface *ret_surfaces)
{
    for (uint32_t i = 0; i < run->kernel->surface_count; i++)
        resolve_surface(map, &run->launch->args->bindings[i],
                        run->launch->flags & ZS_GPU_LAUNCH_STRICT, &ret_surfaces[i]);
    bind_launch_surfaces(run, ret_surfaces);
}

/* ---- run ---------------------------------------------------------------------------------------
 */

/* Everything that groups share. On an error teardown() frees what there is. */
static int setup(struct zs_gpu_run *run)
{
    const struct zs_gpu_launch *launch = run->launch;
    const struct zs_kernel *m = run->kernel->module;
    struct zs_gpu_dispatch dispatch = {.launch = launch,
                                       .slm_B = zs_gpu_args_slm_B(launch->args),
                                       .threads_per_group = run->threads_per_group};
    if (launch->printf_buffer) {
        dispatch.printf_va = (uint64_t)(uintptr_t)launch->printf_buffer;
        add_range(run, launch->printf_buffer, launch->printf_size_B);
    }
    int error = setup_gaps(run);
    if (!error)
        error = setup_scratch(run);
    if (!error)
        error = setup_private(run, &dispatch);
    if (!error)
        error = setup_launch_memory(run, &dispatch);
    if (error)
        return error;
    size_t ids_B = (size_t)run->threads_per_group * run->kernel->per_thread_B;
    /* blocks that kernels load may end behind it */
    size_t payload_B = (size_t)zs_align_up(m->thread.cross_thread_B, 64) + 64;
    run->memory_payload_B =
        (uint32_t)zs_align_up(m->thread.cross_thread_B - run->kernel->inline_B, 64);
    run->payload = calloc(1, payload_B);
    run->local_ids = malloc(ids_B + 1);
    run->sums = calloc(run->kernel->counter_count + 1, sizeof(*run->sums));
    if (!run->payload || !run->local_ids || !run->sums)
        return -ENOMEM;
    memcpy(run->payload, launch->args->cross_thread, m->thread.cross_thread_B);
    if (wants(run->kernel, ZS_PAYLOAD_INDIRECT_DATA)) {
        add_range(run, run->payload + run->kernel->inline_B, run->memory_payload_B);
        dispatch.indirect_va = run->ranges[run->range_count - 1].start;
    }
    error = zs_gpu_checks_begin(run);
    if (!error)
        error = zs_gpu_undefined_begin(run);
    if (!error && !run->checks)
        error = zs_gpu_run_trace(run);
    if (error)
        return error;
    zs_gpu_payload_patch(&dispatch, run->payload);
    if (launch->local_ids)
        memcpy(run->local_ids, launch->local_ids, ids_B);
    else
        zs_gpu_local_ids(run->kernel, launch->group_size, run->threads_per_group, run->local_ids);
    run->samplers = launch->args->samplers;
    return 0;
}

static void teardown(struct zs_gpu_run *run)
{
    zs_gpu_block_put(run->device, &run->scratch);
    zs_gpu_block_put(run->device, &run->private_memory);
    zs_gpu_block_put(run->device, &run->launch_memory);
    free(run->payload);
    free(run->gaps);
    free(run->local_ids);
    free(run->sums);
    zs_timing_trace_destroy(run->trace);
    zs_gpu_checks_end(run);
    zs_gpu_undefined_end(run);
    free(run->found);
}

void zs_gpu_result_fini(struct zs_gpu_result *result)
{
    free(result->timing.stalls);
    result->timing.stalls = NULL;
    result->timing.stall_count = 0;
}

static void sum_up(struct zs_gpu_run *run, struct zs_gpu_result *ret)
{
    uint64_t weighted = 0;
    ret->totals.groups = run->groups_run;
    ret->totals.threads = run->threads_run;
    if (zs_gpu_totals_add(run->kernel, run->sums, &ret->totals, &weighted) == 0)
        ret->modelled_cycles = zs_gpu_timing_cycles(run->device->model, &ret->totals, weighted);
    ret->issue_cycles = weighted;
    zs_gpu_run_replay(run, ret);
    if (run->launch->counters)
        zs_gpu_counters_add(run->launch->counters, run->sums);
}

static void execute(struct zs_gpu_run *run, struct zs_gpu_result *ret)
{
    bool cooperative = run->launch->flags & ZS_GPU_LAUNCH_COOPERATIVE;
    run->slice = cooperative ? SLICE_COOPERATIVE : SLICE;
    run->turn = run->slice * (cooperative ? 1 : run->threads_per_group / run->parts);
    run->deadline_ns = run->launch->time_limit_ns ? run->start_ns + run->launch->time_limit_ns : 0;
    run->job.run = zs_gpu_run_groups;
    pthread_mutex_init(&run->lock, NULL);
    pthread_cond_init(&run->job.idle, NULL);
    zs_gpu_run_groups(&run->job);
    if (run->helped)
        zs_gpu_job_finish(run->device, &run->job);
    pthread_cond_destroy(&run->job.idle);
    pthread_mutex_destroy(&run->lock);
    ret->error = run->error;
    ret->fault = run->fault;
    sum_up(run, ret);
}

static int run_all(struct zs_gpu_run *run, struct zs_gpu_result *ret_result)
{
    int error = choose_workers(run);
    run->launch_pin = (struct zs_gpu_launch_pin){
        .all = (run->launch->flags & ZS_GPU_LAUNCH_PIN_ALL) != 0, .args = run->launch->args};
    if (!error)
        error = setup(run);
    if (!error)
        execute(run, ret_result);
    teardown(run);
    zs_gpu_memory_launch_unpin(run->launch->memory, &run->launch_pin);
    return error;
}

int zs_gpu_launch_run(struct zs_gpu_device *device, const struct zs_gpu_launch *launch,
                      struct zs_gpu_result *ret_result)
{
    struct zs_gpu_run run = {.device = device,
                             .debug = launch->kernel->debug ? device->debug : NULL,
                             .launch = launch,
                             .kernel = launch->kernel};
    memset(ret_result, 0, sizeof(*ret_result));
    run.start_ns = zs_gpu_now_ns();
    int error = check(launch, &run);
    if (!error && run.group_total > 0) {
        if (run.debug)
            zs_gpu_history_begin(&run);
        error = run_all(&run, ret_result);
        if (run.debug)
            zs_gpu_history_end(&run);
    }
    if (error)
        ret_result->error = error;
    const struct zs_gpu_model *model = device->model;
    uint64_t modelled_ticks = (uint64_t)((__uint128_t)ret_result->modelled_cycles *
                                         model->timer_Hz / (model->core_clock_MHz * 1000000ull));
    uint64_t now_ticks = zs_gpu_clock_ticks(device);
    ret_result->start_ticks = zs_gpu_clock_from_ns(device, run.start_ns);
    ret_result->end_ticks = ZS_MIN(ret_result->start_ticks + ZS_MAX(modelled_ticks, 1u), now_ticks);
    return ret_result->error;
}
