/* SPDX-License-Identifier: MIT */
/* What EU threads begin with: of dispatch.c, for which it has to be in line. */
#ifndef ZS_GPU_DISPATCH_PAYLOAD_H
#define ZS_GPU_DISPATCH_PAYLOAD_H

#include "gpu/gpu_priv.h"

#include <string.h>

/* What r0.5 has beside the thread's number, and headers of scratch blocks: where scratch memory is.
 */
static inline uint32_t scratch_base(const struct zs_gpu_run *run, uint32_t number)
{
    return run->device->model->loads_payload ? ZS_PORT_SCRATCH_HANDLE
                                             : (number + 1) * run->scratch_B;
}

/* Few registers: a call costs more than the copy. By halves: wider ones go through the stack where
 * the host's code may not have AVX. */
static inline void copy_registers(uint8_t *to, const uint8_t *from, uint32_t size_B)
{
    typedef uint32_t quad __attribute__((vector_size(16)));
    enum { STEP_B = 2 * sizeof(quad) };
    for (; size_B >= STEP_B; size_B -= STEP_B) {
        quad low, high;
        memcpy(&low, from, sizeof(quad));
        memcpy(&high, from + sizeof(quad), sizeof(quad));
        memcpy(to, &low, sizeof(quad));
        memcpy(to + sizeof(quad), &high, sizeof(quad));
        from += STEP_B;
        to += STEP_B;
    }
    if (size_B)
        memcpy(to, from, size_B);
}

static inline uint32_t fftid(const struct zs_gpu_run *run, uint32_t number)
{
    const struct zs_gpu_model *model = run->device->model;
    return model->fftid_fixed | (number & ((1u << ZS_MIN(model->fftid_bits, 10u)) - 1));
}

/* Which thread of the group it is, and how many there are, for barriers. */
static inline uint32_t place_code(const struct zs_gpu_run *run, uint32_t thread)
{
    return run->device->model->loads_payload ? thread | run->threads_per_group << 24 : 0;
}

/* What is a thread's own of its payload: r0, per-thread data (facts: docs/gpu.md, "Payload"). */
static inline void fill_own(const struct zs_gpu_run *run, const struct zs_gpu_group *group,
                            uint32_t thread, const struct zs_eu_series_row *row, uint8_t *grf)
{
    typedef uint32_t quad __attribute__((vector_size(16)));
    /* as vectors: kernels copy r0 at once, and such a load waits for single stores */
    const quad r0[2] = {{0, group->id[0], row->r0_2, run->scratch_code},
                        {0, row->r0_5, group->id[1], group->id[2]}};
    uint32_t per_thread_B = run->kernel->per_thread_B;
    memcpy(grf, &r0[0], sizeof(quad));
    memcpy(grf + sizeof(quad), &r0[1], sizeof(quad));
    copy_registers(grf + run->kernel->module->grf_B, run->local_ids + (size_t)thread * per_thread_B,
                   per_thread_B);
}

/* The rest: cross-thread data, the same for all. */
static inline void fill_shared(const struct zs_gpu_run *run, uint8_t *grf)
{
    enum { R0_B = 32 };
    uint32_t grf_B = run->kernel->module->grf_B;
    if (grf_B > R0_B) /* no call for nothing */
        memset(grf + R0_B, 0, grf_B - R0_B);
    if (run->device->model->payload_in_r0)
        memcpy(grf + grf_B - sizeof(uint64_t), run->payload, sizeof(uint64_t));
    copy_registers(grf + grf_B + run->kernel->per_thread_B, run->payload, run->kernel->inline_B);
}

/* Unique among the live threads of the launch. Where two EUs go in step, which of them it is has
 * bit 5 (see sr0_number), and code that calls functions asks: that depends on the thread alone. */
static inline uint32_t thread_number(const struct zs_gpu_run *run, const struct zs_gpu_group *group,
                                     uint32_t thread)
{
    uint32_t number = group->place * run->numbers_per_group + thread;
    return run->device->model->has_fused_eus
               ? (number & ~63u) | (number >> 1 & 31) | (number & 1) << 5
               : number;
}

/* The low bits of a number at the places of a mask's bits. */
static inline uint32_t spread(uint32_t number, uint32_t mask)
{
    uint32_t bits = 0;
    for (; mask && number; mask &= mask - 1, number >>= 1)
        bits |= number & 1 ? mask & -mask : 0;
    return bits;
}

/* Where threads find the number that selects their private memory (CShader::GetHWTID() of IGC). */
static inline void number_thread(const struct zs_gpu_model *model, uint32_t number, uint32_t *sr0_0,
                                 uint32_t *msg0)
{
    *sr0_0 |= spread(number, model->sr0_number);
    if (model->msg0_shift)
        *msg0 = number >> model->msg0_shift;
    if (model->tid_count) {
        uint32_t engine = number / model->tid_count;
        *sr0_0 |= number % model->tid_count | (engine & 7) << 4;
        *msg0 = engine >> 3;
    }
}

/* How the words of each 32 bytes of a thread's local ids go on: enum zs_eu_rising. */
static inline uint32_t rising(const struct zs_gpu_run *run, uint32_t thread)
{
    uint32_t size_B = run->kernel->per_thread_B, n = ZS_MIN(run->kernel->module->simd, 16u);
    uint32_t bits = 0, before = 0;
    for (uint32_t unit = 0; unit < ZS_MIN(size_B / 32, (uint32_t)ZS_EU_RISING_ALIKE); unit++) {
        uint16_t ids[16];
        bool is = true, alike = true;
        memcpy(ids, run->local_ids + (size_t)thread * size_B + unit * 32, sizeof(ids));
        for (uint32_t i = 1; i < n; i++) {
            is &= ids[i] == ids[0] + i;
            alike &= ids[i] == ids[0];
        }
        bits |= (uint32_t)is << unit | (uint32_t)alike << (ZS_EU_RISING_ALIKE + unit);
        if (is && unit && ids[0] == before + 16 && bits >> (unit - 1) & 1)
            bits |= 1u << (ZS_EU_RISING_ON + unit - 1);
        before = ids[0];
    }
    return bits;
}

/* What differs between threads of a group by their numbers, as t begins with it; compiled code
 * takes it from here by itself. */
static inline const struct zs_eu_series_row *own_row(const struct zs_gpu_run *run,
                                                     struct zs_gpu_worker *w,
                                                     const struct zs_gpu_group *group,
                                                     uint32_t thread, struct zs_eu_thread *t)
{
    for (uint32_t i = 0; w->rows_of != group->place && i < run->threads_per_group; i++) {
        uint32_t number = thread_number(run, group, i);
        bool is_first = w->rows_of == UINT32_MAX; /* ids are the same in all places */
        w->rows[i] = (struct zs_eu_series_row){
            place_code(run, i), scratch_base(run, number) | fftid(run, number), t->sr0[0], 0,
            is_first ? rising(run, i) : w->rows[i].rising};
        number_thread(run->device->model, number, &w->rows[i].sr0_0, &w->rows[i].msg0);
    }
    w->rows_of = group->place;
    t->sr0[0] = w->rows[thread].sr0_0;
    t->msg0 = w->rows[thread].msg0;
    t->series.rising = w->rows[thread].rising;
    return &w->rows[thread];
}

#endif
