/* SPDX-License-Identifier: MIT */
/*
 * Group size suggestion, after NEO's local_work_size.cpp.
 *
 * Kernels without local memory and barriers get powers of two: they divide the global size without
 * leaving lanes idle, and a group fills a whole number of EU threads. Where the powers of two that
 * divide the size are too small, or threads of a group work together, all divisors are searched
 * for the fewest EU threads, then the fewest idle lanes, then the largest groups, then the shape
 * that is most like the grid's and longer in x, where neighbours in memory are.
 */
#include "gpu/gpu_priv.h"

static uint32_t power_divisor(uint32_t size, uint32_t limit)
{
    uint32_t power = size & (0u - size);
    return ZS_MIN(power, limit);
}

/* Powers of two; false: they do not fill an EU thread. */
static bool suggest_powers(uint32_t simd, uint32_t max_items, const uint32_t global[3],
                           uint32_t ret[3])
{
    uint32_t power[3];
    uint64_t product = 1;
    for (uint32_t i = 0; i < 3; i++) {
        power[i] = power_divisor(global[i], simd * 32);
        product *= power[i];
    }
    if (product < simd)
        return false;
    if (product <= max_items && product <= simd * 32ull) {
        memcpy(ret, power, sizeof(power));
        return true;
    }
    uint32_t items = simd * 32;
    while (items > max_items && items > simd)
        items /= 2;
    for (uint32_t i = 0; i < 3; i++) {
        ret[i] = ZS_MIN(items, power[i]);
        items /= ret[i];
    }
    return true;
}

struct choice {
    uint64_t threads, idle_lanes, groups;
    double skew; /* x to y against the grid's: 1 is the same shape */
    uint32_t size[3];
};

/* Is a better than b? Of two that are alike the longer one in x is. */
static bool is_better(const struct choice *a, const struct choice *b)
{
    if (a->threads != b->threads)
        return a->threads < b->threads;
    if (a->idle_lanes != b->idle_lanes)
        return a->idle_lanes < b->idle_lanes;
    if (a->groups != b->groups)
        return a->groups < b->groups;
    if (a->skew < b->skew || a->skew > b->skew)
        return a->skew < b->skew;
    return a->size[0] >= b->size[0];
}

static void consider(struct choice *best, uint32_t simd, const uint32_t global[3], uint32_t x,
                     uint32_t y, uint32_t z)
{
    uint64_t items = (uint64_t)x * y * z, per_group = (items + simd - 1) / simd;
    uint64_t groups = (uint64_t)(global[0] / x) * (global[1] / y) * (global[2] / z);
    double skew = (double)x * global[1] / ((double)y * global[0]);
    struct choice c = {.threads = groups * per_group,
                       .idle_lanes = groups * (per_group * simd - items),
                       .groups = groups,
                       .skew = skew < 1 ? 1 / skew : skew,
                       .size = {x, y, z}};
    if (best->threads == 0 || is_better(&c, best))
        *best = c;
}

static void suggest_divisors(uint32_t simd, uint32_t max_items, const uint32_t global[3],
                             uint32_t ret[3])
{
    struct choice best = {0};
    for (uint32_t z = 1; z <= ZS_MIN(global[2], max_items); z++) {
        if (global[2] % z)
            continue;
        for (uint32_t y = 1; y <= ZS_MIN(global[1], max_items / z); y++) {
            if (global[1] % y)
                continue;
            for (uint32_t x = 1; x <= ZS_MIN(global[0], max_items / z / y); x++) {
                if (global[0] % x == 0)
                    consider(&best, simd, global, x, y, z);
            }
        }
    }
    memcpy(ret, best.size, sizeof(best.size));
}

void zs_gpu_suggest_group_size(const struct zs_gpu_device *device,
                               const struct zs_gpu_kernel *kernel, uint32_t slm_B,
                               const uint32_t global_items[3], uint32_t ret_group_size[3])
{
    const struct zs_kernel *m = kernel->module;
    uint32_t max_items = device->model->max_group_items;
    uint32_t global[3];
    for (uint32_t i = 0; i < 3; i++)
        global[i] = ZS_MAX(global_items[i], 1u);
    if (m->required_group_size[0]) {
        for (uint32_t i = 0; i < 3; i++)
            ret_group_size[i] = ZS_MAX(m->required_group_size[i], 1u);
        return;
    }
    bool together = slm_B > 0 || m->slm_B > 0 || m->barrier_count > 0;
    if (!together && suggest_powers(m->simd, max_items, global, ret_group_size))
        return;
    if ((uint64_t)global[0] * global[1] <= max_items &&
        (uint64_t)global[0] * global[1] * global[2] <= max_items) {
        memcpy(ret_group_size, global, sizeof(global));
        return;
    }
    suggest_divisors(m->simd, max_items, global, ret_group_size);
}
