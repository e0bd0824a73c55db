/* SPDX-License-Identifier: MIT */
/* From a stopped EU thread to a record, and from the record to text. */
#include "gpu/check.h"

#include <inttypes.h>
#include <stdio.h>

enum { NULL_PAGE_B = 64 << 10 };

static const char *const kind_names[ZS_GPU_FAULT_COUNT] = {
#define ZS_GPU_FAULT(id, text) [ZS_GPU_FAULT_##id] = (text),
#include "gpu/fault.def"
#undef ZS_GPU_FAULT
};

const char *zs_gpu_fault_name(enum zs_gpu_fault_kind kind)
{
    return (unsigned)kind < ZS_GPU_FAULT_COUNT ? kind_names[kind] : "unknown fault";
}

void zs_gpu_group_id(const struct zs_gpu_launch *launch, uint64_t group_index, uint32_t ret_id[3])
{
    for (uint32_t i = 0; i < 3; i++) {
        ret_id[i] = launch->group_start[i] + (uint32_t)(group_index % launch->group_count[i]);
        group_index /= launch->group_count[i];
    }
}

static void set_item(const struct zs_gpu_run *run, struct zs_gpu_fault *fault, uint32_t item)
{
    const struct zs_gpu_launch *launch = run->launch;
    zs_gpu_local_id(run->kernel, launch->group_size, item, fault->local_id);
    for (uint32_t i = 0; i < 3; i++)
        fault->global_id[i] = (uint64_t)fault->group_id[i] * launch->group_size[i] +
                              fault->local_id[i] + launch->global_offset[i];
}

static void init(const struct zs_gpu_run *run, enum zs_gpu_fault_kind kind, uint64_t group_index,
                 struct zs_gpu_fault *ret)
{
    *ret = (struct zs_gpu_fault){
        .kind = kind, .simd = run->kernel->module->simd, .instruction_offset_B = INT64_MIN};
    snprintf(ret->kernel, sizeof(ret->kernel), "%s", run->kernel->module->name);
    zs_gpu_group_id(run->launch, group_index, ret->group_id);
    set_item(run, ret, 0);
}

static void set_lane(const struct zs_gpu_run *run, struct zs_gpu_fault *fault,
                     uint32_t thread_index, uint32_t lane)
{
    fault->lane = lane & 31;
    uint32_t item = thread_index * run->kernel->module->simd + fault->lane;
    set_item(run, fault, ZS_MIN(item, run->group_items - 1));
}

void zs_gpu_fault_group(const struct zs_gpu_run *run, enum zs_gpu_fault_kind kind,
                        uint64_t group_index, const struct zs_eu_thread *thread,
                        uint32_t thread_index, struct zs_gpu_fault *ret)
{
    struct zs_eu_inst_info info = {0};
    init(run, kind, group_index, ret);
    if (!thread || !zs_eu_program_inst(thread->program, zs_eu_thread_inst(thread), &info))
        return;
    ret->instruction_offset_B = (int64_t)info.offset_B - (int64_t)run->kernel->entry_B;
    ret->has_lane = thread->ce != 0;
    if (thread->ce)
        set_lane(run, ret, thread_index, (uint32_t)__builtin_ctz(thread->ce));
}

void zs_gpu_fault_file(const struct zs_gpu_run *run, uint64_t gpu_va, bool is_write,
                       uint64_t group_index, uint32_t thread_index, struct zs_gpu_fault *ret)
{
    init(run, ZS_GPU_FAULT_FILE, group_index, ret);
    set_lane(run, ret, thread_index, 0);
    ret->has_access = true;
    ret->is_write = is_write;
    ret->gpu_va = gpu_va;
    ret->nearest_count = zs_gpu_memory_nearest(run->launch->memory, gpu_va, ret->nearest);
    ret->nearest_count = ZS_MIN(ret->nearest_count, 1);
}

/* ---- accesses ----------------------------------------------------------------------------------
 */

static enum zs_gpu_fault_kind access_kind(enum zs_port_fault_kind kind)
{
    static const enum zs_gpu_fault_kind kinds[] = {
        [ZS_PORT_FAULT_NONE] = ZS_GPU_FAULT_ILLEGAL,
        [ZS_PORT_FAULT_OUT_OF_BOUNDS] = ZS_GPU_FAULT_OUT_OF_BOUNDS,
        [ZS_PORT_FAULT_READ_ONLY] = ZS_GPU_FAULT_READ_ONLY,
        [ZS_PORT_FAULT_MISALIGNED] = ZS_GPU_FAULT_MISALIGNED,
        [ZS_PORT_FAULT_UNWRITTEN] = ZS_GPU_FAULT_UNWRITTEN,
        [ZS_PORT_FAULT_SURFACE] = ZS_GPU_FAULT_SURFACE,
        [ZS_PORT_FAULT_SLM] = ZS_GPU_FAULT_SLM,
        [ZS_PORT_FAULT_SCRATCH] = ZS_GPU_FAULT_SCRATCH,
        [ZS_PORT_FAULT_BLOCK2D] = ZS_GPU_FAULT_BLOCK2D,
        [ZS_PORT_FAULT_BARRIER] = ZS_GPU_FAULT_NAMED_BARRIER,
        [ZS_PORT_FAULT_SAMPLER_HANDLE] = ZS_GPU_FAULT_SAMPLER_HANDLE,
        [ZS_PORT_FAULT_SLM_UNWRITTEN] = ZS_GPU_FAULT_SLM_UNWRITTEN,
        [ZS_PORT_FAULT_SLM_GAP] = ZS_GPU_FAULT_SLM_GAP,
    };
    return kinds[kind];
}

static enum zs_gpu_fault_kind eu_kind(enum zs_eu_fault_kind kind)
{
    static const enum zs_gpu_fault_kind kinds[ZS_EU_FAULT_KIND_COUNT] = {
        [ZS_EU_FAULT_NONE] = ZS_GPU_FAULT_ILLEGAL,
        [ZS_EU_FAULT_ILLEGAL] = ZS_GPU_FAULT_ILLEGAL,
        [ZS_EU_FAULT_UNMODELLED] = ZS_GPU_FAULT_UNIMPLEMENTED,
        [ZS_EU_FAULT_OPERAND] = ZS_GPU_FAULT_ILLEGAL,
        [ZS_EU_FAULT_TARGET] = ZS_GPU_FAULT_BAD_JUMP,
        [ZS_EU_FAULT_RUNAWAY] = ZS_GPU_FAULT_BAD_JUMP,
        [ZS_EU_FAULT_STACK] = ZS_GPU_FAULT_BAD_JUMP,
        [ZS_EU_FAULT_MEMORY] = ZS_GPU_FAULT_OUT_OF_BOUNDS,
        [ZS_EU_FAULT_MESSAGE] = ZS_GPU_FAULT_ILLEGAL,
        [ZS_EU_FAULT_SCOREBOARD] = ZS_GPU_FAULT_SCOREBOARD,
        [ZS_EU_FAULT_FOUND] = ZS_GPU_FAULT_RACE,
    };
    return kinds[kind];
}

/* A surface of the binding table: say which argument, and turn the offset into an address. */
static void describe_surface(const struct zs_gpu_run *run, const struct zs_port *port,
                             struct zs_gpu_fault *fault)
{
    if (fault->surface_index >= run->kernel->surface_count)
        return;
    const struct zs_port_surface *surface = &port->surfaces[fault->surface_index];
    uint32_t arg = run->launch->args->bindings[fault->surface_index].arg;
    char who[96] = "";
    if (arg != ZS_NONE) {
        const char *name = run->kernel->module->args[arg].name;
        snprintf(who, sizeof(who), " of argument %" PRIu32 "%s%.60s", arg, *name ? ", " : "", name);
    }
    if (surface->kind == ZS_PORT_SURFACE_NULL) {
        fault->kind = ZS_GPU_FAULT_NULL_POINTER;
        snprintf(fault->detail, sizeof(fault->detail), "the surface%s is null", who);
    } else if (surface->kind == ZS_PORT_SURFACE_BUFFER) {
        snprintf(fault->detail, sizeof(fault->detail),
                 "offset %" PRId64 " of the surface%s, which has %" PRIu64 " bytes",
                 (int64_t)fault->gpu_va, who, surface->size_B - surface->pad_B);
        fault->gpu_va += surface->gpu_va;
        fault->nearest_count =
            zs_gpu_memory_nearest(run->launch->memory, surface->gpu_va, fault->nearest);
        fault->nearest_count = ZS_MIN(fault->nearest_count, 1); /* what the argument points into */
    } else if (surface->kind == ZS_PORT_SURFACE_IMAGE && fault->kind == ZS_GPU_FAULT_READ_ONLY) {
        bool is_declared =
            arg != ZS_NONE && run->kernel->module->args[arg].access == ZS_ACCESS_READ_ONLY;
        snprintf(fault->detail, sizeof(fault->detail), "the image%s %s", who,
                 is_declared ? "is read_only" : "was made without ZE_IMAGE_FLAG_KERNEL_WRITE");
        fault->gpu_va = surface->gpu_va;
    } else if (surface->kind == ZS_PORT_SURFACE_FREED) {
        snprintf(fault->detail, sizeof(fault->detail), "the surface%s has no live memory", who);
    }
}

bool zs_gpu_fault_is_local(enum zs_gpu_fault_kind kind)
{
    return kind == ZS_GPU_FAULT_SLM || kind == ZS_GPU_FAULT_SLM_UNWRITTEN ||
           kind == ZS_GPU_FAULT_SLM_GAP || kind == ZS_GPU_FAULT_SLM_RACE;
}

bool zs_gpu_fault_is_address(const struct zs_gpu_fault *fault)
{
    return !zs_gpu_fault_is_local(fault->kind) && fault->kind != ZS_GPU_FAULT_SCRATCH &&
           fault->kind != ZS_GPU_FAULT_ARRAY && fault->kind != ZS_GPU_FAULT_UNDEFINED;
}

static uint64_t distance_B(const struct zs_gpu_fault *fault, const struct zs_gpu_allocation *a)
{
    uint64_t end = a->gpu_va + a->size_B;
    return fault->gpu_va < a->gpu_va ? a->gpu_va - fault->gpu_va
           : fault->gpu_va >= end    ? fault->gpu_va - end
                                     : 0;
}

/* An allocation at the other end of the address space says nothing. */
static uint32_t near_enough(struct zs_gpu_fault *fault, uint32_t count)
{
    const uint64_t far_B = UINT64_C(1) << 32;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (distance_B(fault, &fault->nearest[i]) < far_B)
            fault->nearest[kept++] = fault->nearest[i];
    }
    return kept;
}

static void describe_gap(const struct zs_port *port, struct zs_gpu_fault *fault)
{
    const struct zs_port_gap *gap = zs_port_gap_at(port, fault->gpu_va, fault->access_B);
    if (gap)
        snprintf(fault->detail, sizeof(fault->detail),
                 "%" PRIu64 " bytes from the start of %s, which has %" PRIu32,
                 fault->gpu_va + gap->below_B - gap->begin_B, gap->below, gap->below_B);
}

/* The store that code makes when one of its accesses is outside its variable. */
static bool describe_bounds(const struct zs_gpu_run *run, struct zs_gpu_fault *fault)
{
    uint64_t number = fault->gpu_va >> 32 & 0xffff;
    if (fault->kind != ZS_GPU_FAULT_OUT_OF_BOUNDS || fault->gpu_va >> 48 != ZS_GPU_BOUNDS_TAG ||
        number >= run->kernel->bounds_site_count)
        return false;
    const struct zs_gpu_bounds_site *site = &run->kernel->bounds_sites[number];
    int64_t offset_B = (int32_t)fault->gpu_va;
    fault->kind = ZS_GPU_FAULT_ARRAY;
    fault->is_write = site->is_write;
    fault->access_B = site->access_B;
    fault->gpu_va = (uint64_t)offset_B;
    snprintf(fault->detail, sizeof(fault->detail),
             "%" PRId64 " bytes %s the start of %s%s, which has %" PRIu32,
             offset_B < 0 ? -offset_B : offset_B, offset_B < 0 ? "before" : "from",
             site->in_struct ? "an array in " : "", site->name, site->size_B);
    snprintf(fault->declared, sizeof(fault->declared), "%s", site->declared);
    return true;
}

static void describe_access(const struct zs_gpu_run *run, const struct zs_port *port,
                            struct zs_gpu_fault *fault)
{
    const struct zs_port_fault *from = &port->fault;
    fault->kind = access_kind(from->kind);
    fault->has_access = from->has_access;
    fault->is_write = from->is_write;
    fault->gpu_va = from->gpu_va;
    fault->access_B = from->access_B;
    fault->surface_index = from->bti;
    if (describe_bounds(run, fault))
        return;
    describe_surface(run, port, fault);
    if (fault->kind == ZS_GPU_FAULT_SLM)
        snprintf(fault->detail, sizeof(fault->detail), "the group has %" PRIu32 " bytes",
                 run->slm_B);
    if (fault->kind == ZS_GPU_FAULT_SLM_GAP)
        describe_gap(port, fault);
    if (!zs_gpu_fault_is_address(fault) || fault->kind == ZS_GPU_FAULT_NULL_POINTER)
        return;
    if (fault->nearest_count == 0)
        fault->nearest_count = near_enough(
            fault, zs_gpu_memory_nearest(run->launch->memory, fault->gpu_va, fault->nearest));
    if (fault->kind != ZS_GPU_FAULT_OUT_OF_BOUNDS)
        return;
    const struct zs_gpu_allocation *nearest = &fault->nearest[0];
    if (fault->gpu_va < NULL_PAGE_B)
        fault->kind = ZS_GPU_FAULT_NULL_POINTER;
    else if (fault->nearest_count && nearest->freed && fault->gpu_va >= nearest->gpu_va &&
             fault->gpu_va - nearest->gpu_va < nearest->size_B) {
        fault->kind = ZS_GPU_FAULT_USE_AFTER_FREE;
        fault->nearest_count = 1;
    }
}

/* A debugger stops where a check has found something. Returns the lane. */
static uint32_t describe_found(const struct zs_gpu_run *run, struct zs_gpu_fault *fault)
{
    const struct zs_gpu_finding *f = run->found;
    fault->kind = f->kind == ZS_GPU_FINDING_UNDEFINED ? ZS_GPU_FAULT_UNDEFINED
                  : f->kind != ZS_GPU_FINDING_RACE    ? ZS_GPU_FAULT_DIVERGENT
                  : f->is_local                       ? ZS_GPU_FAULT_SLM_RACE
                                                      : ZS_GPU_FAULT_RACE;
    fault->has_access = fault->kind != ZS_GPU_FAULT_DIVERGENT;
    if (fault->kind == ZS_GPU_FAULT_UNDEFINED)
        snprintf(fault->detail, sizeof(fault->detail), "%s", f->advice);
    fault->gpu_va = f->gpu_va;
    fault->access_B = f->site[0].size_B;
    fault->is_write = f->site[0].is_write;
    fault->has_lane = f->site[0].has_item;
    fault->nearest_count = f->allocation_count;
    fault->nearest[0] = f->allocation;
    return run->found_lane;
}

void zs_gpu_fault_from(const struct zs_gpu_run *run, const struct zs_eu_thread *thread,
                       const struct zs_port *port, uint64_t group_index, uint32_t thread_index,
                       struct zs_gpu_fault *ret)
{
    init(run, eu_kind(thread->fault.kind), group_index, ret);
    ret->instruction_offset_B = (int64_t)thread->fault.offset_B - (int64_t)run->kernel->entry_B;
    struct zs_eu_inst_info info = {0};
    zs_eu_program_inst(thread->program, thread->fault.inst, &info);
    uint32_t lane = 0;
    if (thread->fault.kind == ZS_EU_FAULT_MEMORY && port->fault.kind != ZS_PORT_FAULT_NONE) {
        describe_access(run, port, ret);
        ret->has_lane = port->fault.has_lane;
        lane = port->fault.lane + info.send.chan_offset;
    } else if (thread->fault.kind == ZS_EU_FAULT_FOUND && run->found) {
        set_lane(run, ret, thread_index, describe_found(run, ret));
        return;
    } else {
        snprintf(ret->detail, sizeof(ret->detail), "%.150s", thread->fault.text);
    }
    /* what is sent once for all lanes is lane 0's, even where that does not run */
    if (ret->has_lane && !port->fault.lane && thread->ce && !(lane < 32 && thread->ce >> lane & 1))
        lane = (uint32_t)__builtin_ctz(thread->ce);
    set_lane(run, ret, thread_index, lane);
}

/* ---- text --------------------------------------------------------------------------------------
 */

static void print_nearest(const struct zs_gpu_fault *fault, const struct zs_gpu_allocation *a,
                          struct zs_buf *out)
{
    zs_buf_puts(out, "\n  ");
    if (fault->gpu_va < a->gpu_va)
        zs_buf_printf(out, "%" PRIu64 " bytes before", distance_B(fault, a));
    else if (fault->gpu_va >= a->gpu_va + a->size_B)
        zs_buf_printf(out, "%" PRIu64 " bytes after the end of", distance_B(fault, a));
    else
        zs_buf_printf(out, "%" PRIu64 " bytes into", fault->gpu_va - a->gpu_va);
    zs_buf_printf(out, " %s%s allocation #%" PRIu64 "%s%.47s of %" PRIu64 " bytes at 0x%" PRIx64,
                  a->freed ? "freed " : "", zs_gpu_memory_kind_name(a->kind), a->id,
                  a->label[0] ? " " : "", a->label, a->size_B, a->gpu_va);
}

void zs_gpu_fault_print(const struct zs_gpu_fault *fault, const char *source, struct zs_buf *out)
{
    zs_buf_printf(out, "kernel %s: %s", fault->kernel, zs_gpu_fault_name(fault->kind));
    if (fault->has_access && !fault->access_B) /* it was refused before its size was known */
        zs_buf_printf(out, ": %s at 0x%" PRIx64, fault->is_write ? "write" : "read", fault->gpu_va);
    else if (fault->has_access && zs_gpu_fault_is_address(fault))
        zs_buf_printf(out, ": %s of %" PRIu32 " bytes at 0x%" PRIx64,
                      fault->is_write ? "write" : "read", fault->access_B, fault->gpu_va);
    else if (fault->kind == ZS_GPU_FAULT_ARRAY)
        zs_buf_printf(out, ": %s of %" PRIu32 " bytes", fault->is_write ? "write" : "read",
                      fault->access_B);
    else if (fault->has_access)
        zs_buf_printf(out, ": %s of %" PRIu32 " bytes at offset 0x%" PRIx64,
                      fault->is_write ? "write" : "read", fault->access_B, fault->gpu_va);
    if (fault->detail[0])
        zs_buf_printf(out, " (%.*s)", (int)sizeof(fault->detail) - 1, fault->detail);
    if (fault->instruction_offset_B != INT64_MIN) {
        zs_buf_printf(out, "\n  at instruction %s0x%" PRIx64,
                      fault->instruction_offset_B < 0 ? "-" : "",
                      (uint64_t)(fault->instruction_offset_B < 0 ? -fault->instruction_offset_B
                                                                 : fault->instruction_offset_B));
        if (source)
            zs_buf_printf(out, ", %s", source);
    }
    zs_buf_printf(out, "\n  in group (%" PRIu32 ", %" PRIu32 ", %" PRIu32 ")", fault->group_id[0],
                  fault->group_id[1], fault->group_id[2]);
    if (fault->has_lane)
        zs_buf_printf(out,
                      ", work-item (%" PRIu64 ", %" PRIu64 ", %" PRIu64 "), local (%" PRIu32
                      ", %" PRIu32 ", %" PRIu32 "), lane %" PRIu32 " of SIMD%" PRIu32,
                      fault->global_id[0], fault->global_id[1], fault->global_id[2],
                      fault->local_id[0], fault->local_id[1], fault->local_id[2], fault->lane,
                      fault->simd);
    if (fault->declared[0])
        zs_buf_printf(out, "\n  declared at %s", fault->declared);
    for (uint32_t i = 0; i < fault->nearest_count; i++)
        print_nearest(fault, &fault->nearest[i], out);
}
