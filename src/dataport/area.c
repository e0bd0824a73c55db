/* SPDX-License-Identifier: MIT */
/*
 * From the addresses of a message to host pointers: which area a binding table index names, which
 * live allocation holds an address, what to do with lanes outside.
 *
 * Every pointer that a send unit dereferences comes from here. Two rules keep the process safe:
 * a lane's whole access [offset, offset + span) lies inside one area or one live allocation, and
 * allocations stay mapped while a launch that may see them runs (src/gpu/memory.c).
 */
#include "dataport/dataport_priv.h"

#include <smmintrin.h>

bool zs_port_fail(struct zs_port *port, const struct zs_port_message *message,
                  enum zs_port_fault_kind kind, int lane, uint64_t gpu_va, uint32_t access_B,
                  bool is_write)
{
    if (port->fault.kind != ZS_PORT_FAULT_NONE)
        return false;
    port->fault = (struct zs_port_fault){
        .kind = kind,
        .has_lane = lane >= 0,
        .lane = lane >= 0 ? (uint32_t)lane : 0,
        .has_access = true,
        .is_write = is_write,
        .gpu_va = gpu_va,
        .access_B = access_B,
        .bti = message->bti,
    };
    return false;
}

/* ---- areas -------------------------------------------------------------------------------------
 */

static bool surface_area(struct zs_port *port, const struct zs_port_message *message, bool is_write,
                         struct zs_port_area *ret)
{
    *ret = (struct zs_port_area){.mask = UINT32_MAX,
                                 .drops = !(port->flags & ZS_PORT_CHECK_SURFACES),
                                 .fault = ZS_PORT_FAULT_SURFACE};
    if (message->bti >= port->surface_count)
        return true; /* nobody bound it: as a null surface */
    const struct zs_port_surface *surface = &port->surfaces[message->bti];
    if (surface->kind == ZS_PORT_SURFACE_NULL)
        return true;
    if (surface->kind == ZS_PORT_SURFACE_FREED)
        return zs_port_fail(port, message, ZS_PORT_FAULT_OUT_OF_BOUNDS, -1, surface->gpu_va,
                            message->block_B, is_write);
    ret->base = surface->base;
    ret->size_B = zs_port_surface_B(port, message, surface);
    ret->read_only = surface->read_only;
    return true;
}

bool zs_port_area(struct zs_port *port, const struct zs_port_message *message, bool is_write,
                  struct zs_port_area *ret)
{
    switch (message->bti) {
    case BTI_SLM:
        *ret = (struct zs_port_area){.base = port->slm,
                                     .size_B = port->slm_B,
                                     .mask = SLM_OFFSET_MASK,
                                     .fault = ZS_PORT_FAULT_SLM};
        return true;
    case BTI_SCRATCH_SURFACE:
        *ret = (struct zs_port_area){.base =
                                         port->scratch ? port->scratch + port->scratch_start : NULL,
                                     .size_B = port->scratch_end - port->scratch_start,
                                     .mask = UINT32_MAX,
                                     .drops = !(port->flags & ZS_PORT_CHECK_SURFACES),
                                     .fault = ZS_PORT_FAULT_SCRATCH};
        return true;
    case BTI_STATELESS:
    case BTI_STATELESS_NON_COHERENT:
        if (port->payload) {
            *ret = (struct zs_port_area){.base = (uint8_t *)(uintptr_t)port->payload,
                                         .size_B = port->payload_B,
                                         .mask = UINT32_MAX,
                                         .read_only = true,
                                         .fault = ZS_PORT_FAULT_SCRATCH};
            return true;
        }
        /* fall through */
    case BTI_SCRATCH:
        *ret = (struct zs_port_area){.base =
                                         port->scratch ? port->scratch + port->scratch_start : NULL,
                                     .size_B = port->scratch_end - port->scratch_start,
                                     .bias = port->scratch_bias,
                                     .mask = UINT32_MAX,
                                     .fault = ZS_PORT_FAULT_SCRATCH};
        return true;
    default:
        return surface_area(port, message, is_write, ret);
    }
}

/* ---- ranges ------------------------------------------------------------------------------------
 */

static bool holds(const struct zs_port_range *range, uint64_t gpu_va, uint64_t size_B)
{
    return gpu_va >= range->start && gpu_va < range->end && size_B <= range->end - gpu_va;
}

/*
 * Memory comes in cache lines, and the compiler relies on it: it reads a dword for some bytes of
 * it, an OWord for some dwords. An access that begins inside an allocation may reach behind its end
 * within the line: nobody owns these bytes. When everything is checked, only as far as the compiler
 * widens what a program asked for.
 */
static const struct zs_port_range *straddled(const struct zs_port *port,
                                             const struct zs_port_message *message, uint64_t gpu_va,
                                             uint64_t size_B, bool is_write)
{
    const struct zs_port_range *range = zs_port_map_find(&port->map, gpu_va, 1);
    bool strict = port->flags & (ZS_PORT_CHECK_UNWRITTEN | ZS_PORT_STRICT);
    if (!range || (strict && is_write))
        return NULL;
    uint64_t end = zs_align_up(range->end, strict && message->lanes ? 4 : ZS_PORT_LINE_B);
    const struct zs_port_range *next = zs_port_map_above(&port->map, gpu_va);
    if (next)
        end = ZS_MIN(end, next->start);
    return size_B <= end - gpu_va ? range : NULL;
}

/* What is loaded from addresses of marks, which are kept apart, so that hooks are asked each time.
 */
static const uint8_t undefined[512];

static const struct zs_port_range *search(struct zs_port *port,
                                          const struct zs_port_message *message, uint64_t gpu_va,
                                          uint64_t size_B, int lane, bool is_write)
{
    const struct zs_port_range *found = NULL;
    struct zs_port_range joined;
    for (uint32_t i = 0; i < port->launch_range_count && !found; i++) {
        if (holds(&port->launch_ranges[i], gpu_va, size_B))
            found = &port->launch_ranges[i];
    }
    if (!found)
        found = zs_port_map_find(&port->map, gpu_va, size_B);
    if (!found && zs_port_map_reach(&port->map, gpu_va, size_B, &joined))
        found = &joined;
    bool is_mark = !found && gpu_va >> 48 == ZS_PORT_MARK_TAG &&
                   (is_write ? size_B == 1 : size_B <= sizeof(undefined));
    if (is_mark) {
        joined = (struct zs_port_range){
            .start = gpu_va, .end = gpu_va + size_B, .is_for_reads = !is_write};
        joined.bias = (is_write ? (uintptr_t)&port->mark : (uintptr_t)undefined) - gpu_va;
        found = &joined;
    }
    if (!found)
        found = straddled(port, message, gpu_va, size_B, is_write);
    if (!found) {
        zs_port_fail(port, message, ZS_PORT_FAULT_OUT_OF_BOUNDS, lane, gpu_va, (uint32_t)size_B,
                     is_write);
        port->fault.bti = BTI_STATELESS;
        return NULL;
    }
    bool is_for_reads = found->is_for_reads && port->flags & ZS_PORT_STRICT;
    if (is_write && (found->read_only || is_for_reads)) {
        zs_port_fail(port, message, ZS_PORT_FAULT_READ_ONLY, lane, gpu_va, (uint32_t)size_B, true);
        port->fault.bti = BTI_STATELESS;
        return NULL;
    }
    struct zs_port_range *kept =
        is_mark || found->is_for_reads ? &port->apart : &port->cache[message->cache_slot];
    *kept = *found;
    return kept;
}

const struct zs_port_range *zs_port_range(struct zs_port *port,
                                          const struct zs_port_message *message, uint64_t gpu_va,
                                          uint64_t size_B, int lane, bool is_write)
{
    const struct zs_port_range *cached = &port->cache[message->cache_slot];
    if (ZS_LIKELY(holds(cached, gpu_va, size_B) && !(is_write && cached->read_only)))
        return cached;
    return search(port, message, gpu_va, size_B, lane, is_write);
}

/* ---- lanes -------------------------------------------------------------------------------------
 */

/* Offsets of the lanes, masked; those of lanes that are off are 0. false: some access of span_B
 * bytes does not lie in the area. */
static bool are_inside(const struct zs_port_quick *area, const uint8_t *offsets, uint32_t lanes,
                       uint32_t mask, uint32_t span_B, uint32_t ret_offsets[LANES_MAX])
{
    if (area->size_B < span_B)
        return false;
    uint32_t last = (uint32_t)ZS_MIN(area->size_B - span_B, (uint64_t)UINT32_MAX);
    const __m128i limit = _mm_set1_epi32((int)last), bits = _mm_setr_epi32(1, 2, 4, 8);
    const __m128i offset_mask = _mm_set1_epi32((int)area->mask);
    __m128i greatest = limit;
    for (uint32_t i = 0; i < lanes; i += 4) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(offsets + (size_t)i * 4));
        __m128i on = _mm_set1_epi32((int)(mask >> i));
        on = _mm_cmpeq_epi32(_mm_and_si128(on, bits), bits);
        v = _mm_and_si128(_mm_and_si128(v, offset_mask), on);
        _mm_storeu_si128((__m128i *)(void *)(ret_offsets + i), v);
        greatest = _mm_max_epu32(greatest, v);
    }
    return _mm_movemask_epi8(_mm_cmpeq_epi32(greatest, limit)) == 0xffff;
}

/* A whole surface failed: say what the first lane wanted of it. */
static void name_lane(struct zs_port *port, const uint8_t *offsets, uint32_t mask, uint32_t span_B)
{
    struct zs_port_fault *fault = &port->fault;
    if (fault->has_lane || !mask)
        return;
    fault->has_lane = true;
    fault->lane = (uint32_t)__builtin_ctz(mask);
    fault->access_B = span_B;
    fault->gpu_va += zs_port_load32(offsets + fault->lane * 4);
}

static bool lanes_bti(struct zs_port *port, const struct zs_port_message *message,
                      const uint8_t *offsets, uint32_t mask, uint32_t span_B, bool is_write,
                      struct zs_port_lanes *ret)
{
    struct zs_port_quick quick;
    uint32_t inside[LANES_MAX];
    if (zs_port_quick(port, message, is_write, &quick) &&
        are_inside(&quick, offsets, message->lanes, mask, span_B, inside)) {
        for (uint32_t lane = 0; lane < message->lanes; lane++)
            ret->pointer[lane] = quick.base + inside[lane];
        ret->valid = mask;
        ret->outside = 0;
        return true;
    }
    struct zs_port_area area;
    if (!zs_port_area(port, message, is_write, &area)) {
        name_lane(port, offsets, mask, span_B);
        return false;
    }
    ret->outside = 0;
    ZS_PORT_FOR_LANES(lane, mask)
    {
        uint64_t offset = (uint64_t)(zs_port_load32(offsets + lane * 4) & area.mask) - area.bias;
        ret->pointer[lane] = (uint8_t *)((uintptr_t)area.base + offset);
        if (ZS_UNLIKELY(offset > area.size_B || span_B > area.size_B - offset)) {
            if (!area.drops)
                return zs_port_fail(port, message, area.fault, (int)lane, offset, span_B, is_write);
            ret->outside |= 1u << lane;
        }
    }
    ret->valid = mask & ~ret->outside;
    if (is_write && area.read_only && ret->valid) {
        int first = __builtin_ctz(ret->valid);
        return zs_port_fail(port, message, ZS_PORT_FAULT_READ_ONLY, first,
                            (uintptr_t)ret->pointer[first] - (uintptr_t)area.base, span_B, true);
    }
    return true;
}

static bool lanes_a64(struct zs_port *port, const struct zs_port_message *message,
                      const uint8_t *addresses, uint32_t mask, uint32_t span_B, bool is_write,
                      struct zs_port_lanes *ret)
{
    const struct zs_port_range *range = &port->cache[message->cache_slot];
    bool usable = !(is_write && range->read_only);
    uint64_t start = range->start;
    uint64_t last = usable && range->end - start >= span_B ? range->end - start - span_B : 0;
    usable = usable && range->end - start >= span_B;
    uint32_t wrong = 0;
    ZS_PORT_FOR_LANES(lane, mask)
    {
        uint64_t gpu_va = zs_port_load64(addresses + lane * 8);
        ret->pointer[lane] = zs_port_host(range, gpu_va);
        wrong |= (uint32_t)(gpu_va - start > last) << lane;
    }
    ret->outside = 0;
    ret->valid = mask;
    if (ZS_LIKELY(usable && !wrong))
        return true;
    ZS_PORT_FOR_LANES(slow, mask)
    {
        uint64_t gpu_va = zs_port_load64(addresses + slow * 8);
        range = zs_port_range(port, message, gpu_va, span_B, (int)slow, is_write);
        if (!range)
            return false;
        ret->pointer[slow] = zs_port_host(range, gpu_va);
    }
    return true;
}

bool zs_port_lanes(struct zs_port *port, const struct zs_port_message *message,
                   const uint8_t *addresses, uint32_t mask, uint32_t span_B, bool is_write,
                   struct zs_port_lanes *ret)
{
    return (message->address_B == 8 ? lanes_a64 : lanes_bti)(port, message, addresses, mask, span_B,
                                                             is_write, ret);
}

/* ---- never-written memory ----------------------------------------------------------------------
 */

bool zs_port_track(struct zs_port *port, const struct zs_port_message *message,
                   const uint8_t *pointer, uint64_t size_B, int lane, bool is_write)
{
    uint64_t gpu_va = (uint64_t)(uintptr_t)pointer;
    const struct zs_port_range **last = &port->tracked[message->cache_slot], *range = *last;
    if (!range || gpu_va < range->start || gpu_va >= range->end)
        *last = range = zs_port_map_find(&port->map, gpu_va, 1);
    if (!range || !range->written)
        return true;
    uint64_t at = gpu_va - range->start, end = at + ZS_MIN(size_B, range->end - gpu_va);
    for (uint64_t count; at < end; at += count) {
        count = ZS_MIN(64 - at % 64, end - at);
        uint64_t *word = &range->written[at / 64], bits = UINT64_MAX >> (64 - count) << at % 64;
        uint64_t missing = bits & ~__atomic_load_n(word, __ATOMIC_RELAXED);
        if (missing && is_write) {
            __atomic_fetch_or(word, missing, __ATOMIC_RELAXED);
        } else if (missing && (port->flags & ZS_PORT_CHECK_UNWRITTEN)) {
            zs_port_fail(port, message, ZS_PORT_FAULT_UNWRITTEN, lane, gpu_va, (uint32_t)size_B,
                         false);
            port->fault.bti = BTI_STATELESS;
            return false;
        }
    }
    return true;
}
