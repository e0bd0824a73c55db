/* SPDX-License-Identifier: MIT */
/* A host thread that runs groups: what it sees of memory, and its own, kept for later launches. */
#include "gpu/check.h"

#include "eu/checks/shadow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- views -------------------------------------------------------------------------------------
 */

static bool look(struct zs_gpu_run *run, struct zs_gpu_worker *w)
{
    w->changes = zs_gpu_memory_changes(run->launch->memory);
    if (zs_gpu_view_open(run->launch->memory, &run->launch_pin, &w->view) != 0)
        return false;
    if (!zs_gpu_file_begin(run, w)) {
        zs_gpu_view_close(run->launch->memory, &w->view, NULL);
        return false;
    }
    zs_gpu_resolve_surfaces(run, &w->view.map, w->surfaces);
    struct zs_port *port = &w->port;
    port->map = w->view.map;
    port->flags &= ~(uint32_t)ZS_PORT_TRACK_WRITES;
    port->flags |= w->view.tracked ? ZS_PORT_TRACK_WRITES : 0u;
    memset(port->cache, 0, sizeof(port->cache));
    memset(port->tracked, 0, sizeof(port->tracked));
    return true;
}

static bool look_or_stop(struct zs_gpu_run *run, struct zs_gpu_worker *w)
{
    if (look(run, w))
        return true;
    w->blind = true;
    zs_gpu_stop_run(run, -ENOMEM, NULL);
    return false;
}

bool zs_gpu_worker_look_anew(struct zs_gpu_run *run, struct zs_gpu_worker *w)
{
    zs_gpu_view_close(run->launch->memory, &w->view, NULL);
    return look_or_stop(run, w);
}

void zs_gpu_worker_sleep(struct zs_gpu_run *run, struct zs_gpu_worker *w)
{
    zs_gpu_view_close(run->launch->memory, &w->view, NULL);
}

bool zs_gpu_worker_wake(struct zs_gpu_run *run, struct zs_gpu_worker *w)
{
    if (!look_or_stop(run, w))
        return false;
    if (run->launch->cancel && atomic_load_explicit(run->launch->cancel, memory_order_relaxed))
        zs_gpu_stop_run(run, -ECANCELED, NULL);
    return !atomic_load_explicit(&run->stop, memory_order_relaxed);
}

/* ---- a worker's memory -------------------------------------------------------------------------
 */

static bool grow(void *array, size_t *capacity, size_t wanted, size_t item_B, size_t alignment)
{
    void **items = array;
    if (*capacity >= wanted)
        return true;
    free(*items);
    *capacity = 0;
    *items = aligned_alloc(alignment, (size_t)zs_align_up(wanted * item_B, alignment));
    if (*items)
        *capacity = wanted;
    return *items != NULL;
}

static bool grow_threads(struct zs_gpu_worker *w, uint32_t slots)
{
    if (w->thread_capacity >= slots)
        return true;
    free(w->threads);
    free(w->free_slots);
    w->threads = aligned_alloc(64, slots * sizeof(*w->threads));
    w->free_slots = malloc(slots * sizeof(*w->free_slots));
    w->thread_capacity = w->threads && w->free_slots ? slots : 0;
    return w->thread_capacity > 0;
}

static bool grow_shadows(struct zs_gpu_worker *w, uint32_t slots)
{
    if (w->shadow_capacity >= slots)
        return true;
    free(w->shadows);
    w->shadows = calloc(slots, sizeof(*w->shadows));
    w->shadow_capacity = w->shadows ? slots : 0;
    return w->shadow_capacity > 0;
}

void zs_gpu_worker_fini(struct zs_gpu_worker *worker)
{
    free(worker->threads);
    free(worker->shadows);
    free(worker->free_slots);
    free(worker->surfaces);
    free(worker->slm);
    free(worker->counters);
    free(worker->groups);
    free(worker->states);
    free(worker->rows);
    zs_gpu_debug_worker_free(worker->spare);
}

static bool worker_grow(const struct zs_gpu_run *run, struct zs_gpu_worker *w)
{
    /* Threads are the bulk: 12 KB each. Most launches never touch more than one group's. */
    uint32_t slots = w->group_limit * run->threads_per_group;
    return grow_threads(w, slots) && (!run->undefined || grow_shadows(w, slots)) &&
           grow(&w->slm, &w->slm_capacity_B, w->slm_stride_B * w->group_limit, 1, 64) &&
           grow(&w->counters, &w->counter_capacity, run->kernel->counter_count + 1,
                sizeof(uint64_t), 64) &&
           grow(&w->groups, &w->group_capacity, w->group_limit, sizeof(*w->groups), 64) &&
           grow(&w->states, &w->state_capacity, slots, sizeof(*w->states), 64) &&
           grow(&w->rows, &w->row_capacity, run->threads_per_group, sizeof(*w->rows), 64) &&
           grow(&w->surfaces, &w->surface_capacity, run->kernel->surface_count + 1u,
                sizeof(*w->surfaces), 64);
}

/* It has taken in nothing. */
static void worker_empty(const struct zs_gpu_run *run, struct zs_gpu_worker *w)
{
    w->free_slot_count = w->fresh_slot = 0;
    w->group_count = w->groups_made = 0;
    w->place_taken = false;
    w->groups_run = w->threads_run = 0;
    w->claim = (struct zs_gpu_claim){0};
    memset(w->counters, 0, run->kernel->counter_count * sizeof(uint64_t));
}

bool zs_gpu_worker_setup(struct zs_gpu_run *run, struct zs_gpu_worker *w)
{
    w->group_limit = run->groups_per_worker;
    w->slm_stride_B = (size_t)zs_align_up(ZS_MAX(run->slm_B, 1u), 64);
    if (run->kernel->checks_local) /* behind it, what was written of it */
        w->slm_stride_B += (size_t)zs_align_up(run->slm_B / 8 + 16, 64);
    if (!worker_grow(run, w))
        return false;
    worker_empty(run, w);
    w->rows_of = UINT32_MAX;
    w->blind = false;
    w->program = run->kernel->program;
    w->debug = NULL;
    struct zs_port *port = &w->port;
    memset(port, 0, sizeof(*port));
    port->launch_range_count = run->range_count;
    memcpy(port->launch_ranges, run->ranges, sizeof(run->ranges));
    port->surfaces = w->surfaces;
    port->surface_count = run->kernel->surface_count;
    port->handles = run->launch->handles;
    port->handle_count = run->launch->handle_count;
    port->handle_base = run->launch->handle_base;
    port->samplers = run->samplers;
    port->sampler_count = run->kernel->sampler_count;
    port->sampler_handles = run->launch->sampler_handles;
    port->sampler_handle_count = run->launch->sampler_handle_count;
    port->sampler_handle_base = run->launch->sampler_handle_base;
    uint32_t flags = run->launch->flags;
    port->flags = (flags & ZS_GPU_LAUNCH_CHECK_SURFACES ? ZS_PORT_CHECK_SURFACES : 0u) |
                  (flags & ZS_GPU_LAUNCH_STRICT ? ZS_PORT_STRICT : 0u) |
                  (run->undefined ? ZS_PORT_LOCAL_UNDEFINED : 0u) |
                  (flags & ZS_GPU_LAUNCH_CHECK_UNWRITTEN ? ZS_PORT_CHECK_UNWRITTEN : 0u);
    port->undefined = zs_gpu_undefined_pages(run);
    port->scratch = run->scratch.data;
    if (run->device->model->loads_payload) {
        port->payload = run->payload + run->kernel->inline_B;
        port->payload_B = run->memory_payload_B;
    }
    port->slm_B = run->slm_B;
    port->gaps = run->gaps;
    port->gap_count = run->gap_count;
    return look(run, w);
}

void zs_gpu_worker_rewind(struct zs_gpu_run *run, struct zs_gpu_worker *w)
{
    worker_empty(run, w);
    zs_gpu_undefined_rewind(run);
    w->port.barrier_signals = 0;
    w->port.fault.kind = ZS_PORT_FAULT_NONE;
    memset(run->shared_places, 0, sizeof(run->shared_places));
    atomic_store(&run->next_group, 0);
}
