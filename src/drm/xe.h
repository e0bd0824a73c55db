/* SPDX-License-Identifier: MIT */
/*
 * The interface of the xe kernel driver: rows of xe_calls.def. Each handler gets the call's
 * argument, already copied in, and file->lock. Debian 12 has no header of it: numbers and layouts
 * are those of Linux 7.0 (include/uapi/drm/xe_drm.h).
 */
#ifndef ZS_DRM_XE_H
#define ZS_DRM_XE_H

#include "drm/drm_priv.h"

#include <drm.h>

enum zs_xe_call {
    ZS_XE_DEVICE_QUERY = DRM_COMMAND_BASE,
    ZS_XE_GEM_CREATE,
    ZS_XE_GEM_MMAP_OFFSET,
    ZS_XE_VM_CREATE,
    ZS_XE_VM_DESTROY,
    ZS_XE_VM_BIND,
    ZS_XE_EXEC_QUEUE_CREATE,
    ZS_XE_EXEC_QUEUE_DESTROY,
    ZS_XE_EXEC_QUEUE_GET_PROPERTY,
    ZS_XE_EXEC,
    ZS_XE_WAIT_USER_FENCE,
    ZS_XE_OBSERVATION,
    ZS_XE_MADVISE,
};

/* ---- queries ----------------------------------------------------------------------------------
 */

enum zs_xe_query_id {
    ZS_XE_QUERY_ENGINES,
    ZS_XE_QUERY_MEM_REGIONS,
    ZS_XE_QUERY_CONFIG,
    ZS_XE_QUERY_GT_LIST,
    ZS_XE_QUERY_HWCONFIG,
    ZS_XE_QUERY_GT_TOPOLOGY,
    ZS_XE_QUERY_ENGINE_CYCLES,
    ZS_XE_QUERY_EU_STALL = 10,
};
struct zs_xe_query {
    uint64_t extensions;
    uint32_t query, size_B;
    uint64_t data, reserved[2];
};
enum { ZS_XE_CLASS_RENDER = 0, ZS_XE_CLASS_COPY = 1, ZS_XE_CLASS_COMPUTE = 4 };
struct zs_xe_engine {
    uint16_t class, instance, gt, pad;
};
struct zs_xe_engine_info {
    struct zs_xe_engine engine;
    uint64_t reserved[3];
};
struct zs_xe_region {
    uint16_t class, instance;
    uint32_t page_B;
    uint64_t size_B, used_B, visible_B, visible_used_B, reserved[6];
};
struct zs_xe_gt {
    uint16_t type, tile, id, pad[3];
    uint32_t clock_Hz;
    uint64_t near_regions, far_regions;
    uint16_t ip[3], pad2;
    uint64_t reserved[7];
};
struct zs_xe_count { /* in front of engines, regions, GTs, and the words of the configuration */
    uint32_t count, pad;
};
enum { ZS_XE_CONFIG_HAS_VRAM = 1 };
struct zs_xe_config {
    uint64_t device_and_revision, flags, alignment_B, address_bits, priority_max;
};
enum zs_xe_topology_type {
    ZS_XE_DSS_GEOMETRY = 1,
    ZS_XE_DSS_COMPUTE,
    ZS_XE_L3_BANK,
    ZS_XE_EU_PER_DSS,
    ZS_XE_SIMD16_EU_PER_DSS
};
struct zs_xe_topology {
    uint16_t gt, type;
    uint32_t size_B;
    uint8_t mask[8]; /* as long as size_B says: always this here */
};
struct zs_xe_engine_cycles {
    struct zs_xe_engine engine;
    int32_t clock;
    uint32_t width;
    uint64_t cycles, cpu_ns, cpu_delta_ns;
};

/* ---- memory -----------------------------------------------------------------------------------
 */

struct zs_xe_gem_create {
    uint64_t extensions, size_B;
    uint32_t placement, flags, vm, handle;
    uint16_t caching, pad[3];
    uint64_t reserved[2];
};
enum { ZS_XE_MMAP_BARRIER = 1 };
struct zs_xe_mmap_offset {
    uint64_t extensions;
    uint32_t handle, flags;
    uint64_t offset, reserved[2];
};
enum { ZS_XE_VM_SCRATCH = 1, ZS_XE_VM_LONG_RUNNING = 2, ZS_XE_VM_FAULT = 4 };
struct zs_xe_vm_create {
    uint64_t extensions;
    uint32_t flags, id;
    uint64_t reserved[2];
};
struct zs_xe_vm_destroy {
    uint32_t id, pad;
    uint64_t reserved[2];
};
enum zs_xe_bind_what {
    ZS_XE_BIND_MAP,
    ZS_XE_BIND_UNMAP,
    ZS_XE_BIND_MAP_USERS,
    ZS_XE_BIND_UNMAP_OBJECT,
    ZS_XE_BIND_PREFETCH
};
enum {
    ZS_XE_BIND_READ_ONLY = 1,
    ZS_XE_BIND_IMMEDIATE = 2,
    ZS_XE_BIND_NULL = 4,
    ZS_XE_BIND_DUMPABLE = 8
};
struct zs_xe_bind_op {
    uint64_t extensions;
    uint32_t handle;
    uint16_t caching, pad;
    uint64_t offset_B; /* in the object; or the user's address */
    uint64_t size_B, gpu_va;
    uint32_t what, flags, region, pad2;
    uint64_t reserved[3];
};
struct zs_xe_vm_bind {
    uint64_t extensions;
    uint32_t vm, queue, pad, count;
    union {
        struct zs_xe_bind_op op; /* of one */
        uint64_t ops;            /* of several */
    };
    uint32_t pad2, sync_count;
    uint64_t syncs, reserved[2];
};

/* ---- queues -----------------------------------------------------------------------------------
 */

struct zs_xe_queue_create {
    uint64_t extensions;
    uint16_t width, placements;
    uint32_t vm, flags, id;
    uint64_t engines, reserved[2];
};
struct zs_xe_queue_destroy {
    uint32_t id, pad;
    uint64_t reserved[2];
};
enum { ZS_XE_PROPERTY_BAN = 0 };
struct zs_xe_queue_property {
    uint64_t extensions;
    uint32_t id, property;
    uint64_t value, reserved[2];
};
enum zs_xe_sync_type { ZS_XE_SYNC_OBJECT, ZS_XE_SYNC_TIMELINE, ZS_XE_SYNC_USER_FENCE };
enum { ZS_XE_SYNC_SIGNAL = 1, ZS_XE_SYNCS_MAX = 1024 };
struct zs_xe_sync {
    uint64_t extensions;
    uint32_t type, flags;
    uint64_t address; /* of a user's fence: the GPU's in EXEC, the host's in VM_BIND */
    uint64_t value, reserved[2];
};
struct zs_xe_exec {
    uint64_t extensions;
    uint32_t queue, sync_count;
    uint64_t syncs, batch_va; /* of one */
    uint16_t batches, pad[3];
    uint64_t reserved[2];
};
enum { ZS_XE_WAIT_ABSOLUTE = 1 };
struct zs_xe_wait {
    uint64_t extensions, address;
    uint16_t compare, flags;
    uint32_t pad;
    uint64_t value, mask;
    int64_t timeout_ns;
    uint32_t queue, pad2;
    uint64_t reserved[2];
};
struct zs_xe_madvise {
    uint64_t extensions, start, size_B;
    uint32_t vm, type;
    uint64_t what[2], reserved[2];
};

/* ---- observation: EU stall sampling ------------------------------------------------------------
 */

struct zs_xe_observation {
    uint64_t extensions, type, op, param;
};
struct zs_xe_property {
    uint64_t next;
    uint32_t name, pad, id, pad2;
    uint64_t value, reserved[2];
};
enum { ZS_XE_STALL_GT = 1, ZS_XE_STALL_RATE, ZS_XE_STALL_WAIT_REPORTS, ZS_XE_STALL_PROPERTIES };
enum { ZS_XE_STALL_RECORD_B = 64, ZS_XE_STALL_RATES = 7 };
struct zs_xe_stall_query {
    uint64_t extensions, capabilities, record_B, buffer_B, reserved[5], rate_count,
        rates[ZS_XE_STALL_RATES];
};
size_t zs_drm_xe_put_stalls(const struct zs_drm_node *node, uint8_t *to);
bool zs_drm_xe_has_stalls(const struct zs_drm_node *node);

_Static_assert(sizeof(struct zs_xe_query) == 40 && sizeof(struct zs_xe_engine_info) == 32 &&
                   sizeof(struct zs_xe_region) == 88 && sizeof(struct zs_xe_gt) == 96 &&
                   sizeof(struct zs_xe_engine_cycles) == 40 &&
                   sizeof(struct zs_xe_gem_create) == 56 &&
                   sizeof(struct zs_xe_mmap_offset) == 40 && sizeof(struct zs_xe_vm_create) == 32 &&
                   sizeof(struct zs_xe_bind_op) == 80 && sizeof(struct zs_xe_vm_bind) == 136 &&
                   sizeof(struct zs_xe_queue_create) == 48 && sizeof(struct zs_xe_sync) == 48 &&
                   sizeof(struct zs_xe_exec) == 56 && sizeof(struct zs_xe_wait) == 72 &&
                   sizeof(struct zs_xe_observation) == 32 && sizeof(struct zs_xe_property) == 48,
               "as the kernel has them");

#define ZS_DRM_CALL(nr, type, handler) zs_drm_handler zs_drm_##handler;
#include "drm/xe_calls.def"
#undef ZS_DRM_CALL

#endif
