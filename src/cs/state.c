/* SPDX-License-Identifier: MIT */
/* State that walkers use, and the walkers. */
#include "cs/cs_priv.h"

#include "base/reader.h"

#include <inttypes.h>

/* ---- bases -------------------------------------------------------------------------------------
 */

int zs_cs_base_address(struct zs_cs *cs, const uint32_t *dw, uint32_t count, struct zs_diag *diag)
{
    const struct {
        uint32_t at;
        uint64_t *base;
    } fields[] = {{1, &cs->general_va},          {4, &cs->surface_va},      {6, &cs->dynamic_va},
                  {8, &cs->indirect_va},         {10, &cs->instruction_va}, {16, &cs->bindless_va},
                  {19, &cs->bindless_sampler_va}};
    for (size_t i = 0; i < ZS_ARRAY_LEN(fields); i++) {
        if (fields[i].at + 1 < count && dw[fields[i].at] & 1) /* it is to be changed */
            *fields[i].base = zs_cs_qword(dw + fields[i].at) & ~0xfffull;
    }
    return 0;
}

/* From XeHPG on binding tables may have a base of their own. */
int zs_cs_table_pool(struct zs_cs *cs, const uint32_t *dw, uint32_t count, struct zs_diag *diag)
{
    bool is_used = cs->params.is_xe_hpg || dw[1] >> 11 & 1;
    cs->table_pool_va = is_used ? zs_cs_qword(dw + 1) & ~0xfffull : 0;
    return 0;
}

int zs_cs_media_state(struct zs_cs *cs, const uint32_t *dw, uint32_t count, struct zs_diag *diag)
{
    uint64_t scratch_va = zs_cs_qword(dw + 1) & ZS_CS_ADDRESS_BITS & ~0x3ffull;
    cs->scratch_B = scratch_va ? 1024u << (dw[1] & 15) : 0;
    return 0;
}

int zs_cs_front_end(struct zs_cs *cs, const uint32_t *dw, uint32_t count, struct zs_diag *diag)
{
    cs->scratch_offset_B = dw[1] >> 10 << 6;
    return 0;
}

int zs_cs_compute_mode(struct zs_cs *cs, const uint32_t *dw, uint32_t count, struct zs_diag *diag)
{
    if (dw[1] >> 31 & 1) /* bit 15 is to be changed */
        cs->large_grf = dw[1] >> 15 & 1;
    return 0;
}

int zs_cs_curbe(struct zs_cs *cs, const uint32_t *dw, uint32_t count, struct zs_diag *diag)
{
    cs->curbe_B = dw[2] & 0x1ffff;
    cs->curbe_offset_B = dw[3];
    return 0;
}

int zs_cs_descriptors(struct zs_cs *cs, const uint32_t *dw, uint32_t count, struct zs_diag *diag)
{
    cs->descriptors_offset_B = dw[3];
    return 0;
}

/* ---- walkers -----------------------------------------------------------------------------------
 */

enum { DISPATCH_X = 0x500, DESCRIPTOR_B = 32 };

/* From XeHPG on scratch memory is a surface, whose pitch is what a thread has of it. Its state may
 * be written, and its base set, after the command that names it. */
static int scratch(struct zs_cs *cs, struct zs_cs_walk *walk, struct zs_diag *diag)
{
    walk->scratch_B = cs->scratch_B;
    if (!cs->params.is_xe_hpg || !cs->scratch_offset_B)
        return 0;
    const uint8_t *state =
        zs_cs_memory(cs, cs->surface_va + cs->scratch_offset_B, ZS_CS_SURFACE_STATE_B, false, diag);
    if (!state)
        return -EFAULT;
    walk->scratch_B = (zs_load_u32(state + 12) & 0x3ffff) + 1;
    return 0;
}

/* INTERFACE_DESCRIPTOR_DATA: what both walkers' have in the same bits. */
static int descriptor(struct zs_cs *cs, const uint32_t idd[8], struct zs_cs_walk *walk,
                      struct zs_diag *diag)
{
    static const uint32_t slm_KB[] = {0, 1, 2, 4, 8, 16, 32, 64, 24, 48, 96, 128, 192, 256, 384};
    uint32_t slm = zs_cs_bits(idd[cs->params.is_xe_hpg ? 5 : 6], 20, 16);
    uint64_t offset = ((uint64_t)(idd[1] & 0xffff) << 32) | (idd[0] & ~63u);
    walk->kernel_va = (cs->instruction_va + offset) & ZS_CS_ADDRESS_BITS;
    walk->instruction_base_va = cs->instruction_va;
    uint32_t sampler = idd[3] & ~31u, table = idd[4] & (cs->params.is_xe_hpg ? 0x1fffe0u : 0xffe0u);
    walk->sampler_va = sampler ? cs->dynamic_va + sampler : 0;
    walk->dynamic_base_va = cs->dynamic_va;
    walk->surface_base_va = cs->surface_va;
    walk->bindless_va = cs->bindless_va;
    walk->bindless_sampler_va = cs->bindless_sampler_va;
    walk->table_va = table ? (cs->table_pool_va ? cs->table_pool_va : cs->surface_va) + table : 0;
    walk->large_grf = cs->large_grf;
    if (slm >= ZS_ARRAY_LEN(slm_KB))
        return zs_cs_fail(cs, diag, -ENOTSUP, "local memory of code %" PRIu32 " is not modelled",
                          slm);
    walk->slm_B = slm_KB[slm] << 10;
    return scratch(cs, walk, diag);
}

static int launch(struct zs_cs *cs, const struct zs_cs_walk *walk, struct zs_cs_ran *ran,
                  struct zs_diag *diag)
{
    *ran = (struct zs_cs_ran){cs->ticks, cs->ticks};
    if (!walk->groups[0] || !walk->groups[1] || !walk->groups[2])
        return 0;
    if (!walk->threads)
        return zs_cs_fail(cs, diag, -EINVAL, "a walker with groups of no threads");
    struct zs_diag why = {0};
    int error = cs->ops->walk(cs->ctx, walk, ran, &why);
    if (error)
        return zs_cs_fail(cs, diag, error, "%s", why.text);
    /* the engine's time goes on by what the kernel took, from when it could begin */
    ran->end_ticks = cs->ticks + (ran->end_ticks - ran->start_ticks);
    ran->start_ticks = cs->ticks;
    cs->ticks = ran->end_ticks;
    return 0;
}

/* Counts that are in registers when a bit of the walker says so. */
static void indirect_counts(const struct zs_cs *cs, uint32_t groups[3])
{
    for (uint32_t i = 0; i < 3; i++)
        groups[i] = cs->registers[DISPATCH_X / 4 + i];
}

static int curbe_or_indirect(struct zs_cs *cs, const uint32_t *dw, const uint32_t idd[8],
                             struct zs_cs_walk *walk, struct zs_diag *diag)
{
    uint32_t size_B = dw[2] & 0x1ffff;
    uint64_t at_va = cs->indirect_va + (dw[3] & ~63u), offset_B = (idd[5] & 0xffff) * 32ull;
    if (!size_B) { /* loaded before */
        size_B = cs->curbe_B;
        at_va = cs->dynamic_va + cs->curbe_offset_B;
    }
    walk->cross_B = (idd[7] & 0xff) * 32;
    walk->row_B = (idd[5] >> 16) * 32;
    uint64_t wanted_B = walk->cross_B + (uint64_t)walk->row_B * walk->threads;
    /* Drivers ask for a row of each thread that has none, too: it is what stands behind the data.
     */
    if (offset_B + walk->cross_B > size_B)
        return zs_cs_fail(cs, diag, -EINVAL,
                          "GPGPU_WALKER: threads want %" PRIu64
                          " bytes of data, there are %" PRIu32,
                          offset_B + wanted_B, size_B);
    walk->payload = zs_cs_memory(cs, at_va + offset_B, ZS_MAX(wanted_B, 1u), false, diag);
    return walk->payload ? 0 : -EFAULT;
}

static bool is_low_mask(uint32_t mask)
{
    return mask && !(mask & (mask + 1));
}

/* Up to Gen12LP: the descriptor is in memory, local ids are rows there. */
int zs_cs_gpgpu_walker(struct zs_cs *cs, const uint32_t *dw, uint32_t count, struct zs_diag *diag)
{
    struct zs_cs_walk walk = {.phase = cs->phase,
                              .simd = 8u << (dw[4] >> 30),
                              .groups = {dw[7], dw[10], dw[12]},
                              .start = {dw[5], dw[8], dw[11]},
                              .last_mask = dw[13],
                              .order = {0, 1, 2}};
    struct zs_cs_ran ran;
    uint32_t idd[8];
    uint64_t va = cs->dynamic_va + cs->descriptors_offset_B + (dw[1] & 63) * DESCRIPTOR_B;
    if (zs_cs_is_predicated_off(cs, dw[0] >> 8 & 1))
        return 0;
    const uint8_t *at = zs_cs_memory(cs, va, DESCRIPTOR_B, false, diag);
    if (!at)
        return -EFAULT;
    memcpy(idd, at, sizeof(idd));
    if (dw[0] >> 10 & 1)
        indirect_counts(cs, walk.groups);
    for (uint32_t i = 0; i < 3; i++)
        walk.groups[i] -= ZS_MIN(walk.start[i], walk.groups[i]);
    walk.threads = idd[6] & 0x3ff;
    walk.has_barrier = idd[6] >> 21 & 1;
    if (!is_low_mask(walk.last_mask) || walk.simd > 32)
        return zs_cs_fail(cs, diag, -ENOTSUP,
                          "GPGPU_WALKER: an execution mask of 0x%" PRIx32 " is not modelled",
                          walk.last_mask);
    int error = descriptor(cs, idd, &walk, diag);
    if (!error)
        error = curbe_or_indirect(cs, dw, idd, &walk, diag);
    return error ? error : launch(cs, &walk, &ran, diag);
}

/* POSTSYNC_DATA: an immediate, or when the walk began and ended: the context's and the global
 * clock. Who sees that the context's end is there reads the others: it is stored last. */
static int walker_post_sync(struct zs_cs *cs, const uint32_t *dw, bool is_part,
                            const struct zs_cs_ran *ran, struct zs_diag *diag)
{
    uint64_t to = zs_cs_qword(dw + 1) & ~7ull, offset_B = zs_cs_tile_offset_B(cs, is_part);
    if ((dw[0] & 3) == 1)
        return zs_cs_store64(cs, to + offset_B, zs_cs_qword(dw + 3), diag);
    if ((dw[0] & 3) != 3)
        return 0;
    const uint64_t times[4] = {ran->start_ticks, ran->start_ticks, ran->end_ticks, ran->end_ticks};
    static const uint8_t order[4] = {0, 1, 3, 2};
    int error = 0;
    if (is_part) /* those of tiles stand side by side, whatever the register says */
        to += cs->registers[ZS_CS_PARTITION / 4] * (cs->params.is_xe2 ? 32ull : 16ull);
    for (uint32_t k = 0; k < 4 && !error; k++) {
        uint32_t i = order[k];
        error = cs->params.is_xe2 ? zs_cs_store64(cs, to + i * 8, times[i], diag)
                                  : zs_cs_store32(cs, to + i * 4, (uint32_t)times[i], diag);
    }
    return error;
}

/* The length says what is fetched ahead; threads may read on: implicit arguments stand in front of
 * what it counts. So there is some more, as far as memory goes. */
static int indirect_data(struct zs_cs *cs, const uint32_t *dw, struct zs_cs_walk *walk,
                         struct zs_diag *diag)
{
    enum { MORE_B = 1024 };
    uint64_t at_va = cs->general_va + (dw[3] & ~63u);
    uint32_t size_B = dw[2] & 0x1ffff;
    if (!size_B)
        return 0;
    walk->payload = zs_cs_memory(cs, at_va, size_B, false, diag);
    walk->cross_B = size_B;
    struct zs_diag none = {0};
    if (walk->payload && zs_cs_memory(cs, at_va, size_B + MORE_B, false, &none))
        walk->cross_B += MORE_B;
    return walk->payload ? 0 : -EFAULT;
}

static void walk_order(uint32_t code, uint8_t order[3])
{
    static const uint8_t orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                         {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    memcpy(order, orders[code < 6 ? code : 0], 3);
}

/* Each tile runs the command, and of its groups those of its partition, along one dimension. */
static void take_part(const struct zs_cs *cs, const uint32_t *dw, struct zs_cs_walk *walk)
{
    uint32_t type = dw[2] >> 30, id = cs->registers[ZS_CS_PARTITION / 4];
    if (!type)
        return;
    uint32_t *groups = &walk->groups[type - 1];
    uint64_t start = (uint64_t)id * dw[14];
    *groups = start < *groups ? (uint32_t)ZS_MIN(*groups - start, (uint64_t)dw[14]) : 0;
    walk->start[type - 1] += (uint32_t)start;
}

/* From XeHPG on: the descriptor is in the command, and so are the first bytes of the payload; local
 * ids are made by the walker. On Xe2 there is a dword more in front of the descriptor. */
int zs_cs_compute_walker(struct zs_cs *cs, const uint32_t *dw, uint32_t count, struct zs_diag *diag)
{
    enum {
        DESCRIPTOR_AT = 18,
        POST_SYNC_AT = 26,
        INLINE_AT = 31,
        LENGTH = 39,
        PREDICATED = 1 << 8,
        PARTITIONED = 1 << 9
    };
    uint32_t more = cs->params.is_xe2;
    if (count != LENGTH + more)
        return zs_cs_refuse(cs, dw, count, diag);
    if (zs_cs_is_predicated_off(cs, dw[0] & PREDICATED))
        return 0;
    const uint32_t *idd = dw + DESCRIPTOR_AT + more;
    struct zs_cs_walk walk = {.phase = cs->phase,
                              .simd = 8u << (dw[4] >> 30),
                              .threads = idd[5] & 0x3ff,
                              .last_mask = dw[5],
                              .groups = {dw[7], dw[8], dw[9]},
                              .start = {dw[10], dw[11], dw[12]},
                              .local = {zs_cs_bits(dw[6], 9, 0) + 1, zs_cs_bits(dw[6], 19, 10) + 1,
                                        zs_cs_bits(dw[6], 29, 20) + 1},
                              .emit = (uint8_t)zs_cs_bits(dw[4], 28, 26),
                              .has_barrier = zs_cs_bits(idd[5], 30, 28) != 0};
    struct zs_cs_ran ran;
    walk_order(zs_cs_bits(dw[4], 24, 22), walk.order);
    if (dw[4] >> 25 & 1) {
        walk.inline_data = (const uint8_t *)(dw + INLINE_AT + more);
        walk.inline_B = (LENGTH - INLINE_AT) * 4;
    }
    if (dw[0] >> 10 & 1)
        indirect_counts(cs, walk.groups);
    if (dw[0] & PARTITIONED)
        take_part(cs, dw, &walk);
    int error = descriptor(cs, idd, &walk, diag);
    if (!error)
        error = indirect_data(cs, dw, &walk, diag);
    if (!error)
        error = launch(cs, &walk, &ran, diag);
    return error ? error
                 : walker_post_sync(cs, dw + POST_SYNC_AT + more, dw[0] & PARTITIONED, &ran, diag);
}
