/* SPDX-License-Identifier: MIT */
/* What launches count, for queries, tracers and streamers. */
#include "base/vec.h"
#include "driver/metrics/exclusive.h"
#include "driver/metrics/share.h"
#include "driver/module/module.h"
#include "driver/queue/engine_time.h"

#include <stdlib.h>

/* ---- Counters ----------------------------------------------------------------------------------
 */

uint64_t zs_metrics_cycles(const struct zs_ze_device *device, uint64_t ticks)
{
    return (uint64_t)((__uint128_t)ticks * device->model->core_clock_MHz * 1000000u /
                      device->model->timer_Hz);
}

/* What a device has of a launch that ran on its tiles, or on one of them. */
struct share {
    uint32_t index,
        of;         /* a tile's of a launch on all: that of so many equal parts. Time is whole */
    uint32_t tiles; /* a root's of one on a tile: all that was counted, and this part of time */
};

static uint64_t part_of(uint64_t value, uint32_t index, uint32_t of)
{
    return value * (index + 1) / of - value * index / of;
}

static uint64_t counter_of(uint64_t value, uint32_t counter, const struct share *s)
{
    if (counter == ZS_METRIC_launches || counter == ZS_METRIC_unmodelled)
        return value;
    bool is_time = counter == ZS_METRIC_busy_cycles || counter == ZS_METRIC_doubt_cycles ||
                   counter >= ZS_METRIC_GAINS_FIRST;
    return is_time ? value / s->tiles : part_of(value, s->index, s->of);
}

static void clear_kept(struct zs_metric_kept *kept)
{
    kept->first += kept->count;
    kept->count = 0;
}

/* Those of an instruction; false: there are none. */
static bool values_at(enum zs_metric_by_address kind, const struct zs_gpu_stalls *from,
                      const struct share *share, struct zs_metric_at *to)
{
    uint64_t any = 0;
    zs_metric_values_at(kind, from, to->values);
    for (uint32_t i = 0; i < zs_metric_values_of(kind); i++)
        any |= to->values[i] = part_of(to->values[i], share->index, share->of);
    return any != 0;
}

static void keep(struct zs_metric_kept *kept, enum zs_metric_by_address kind,
                 const struct zs_ze_kernel *kernel, const struct zs_gpu_timing *t,
                 const struct share *share, const struct zs_metric_stretch *stretch)
{
    if (kept->count + t->stall_count > ZS_METRIC_KEPT_MOST) { /* the older half */
        size_t gone = kept->count / 2;
        memmove(kept->items, kept->items + gone, (kept->count - gone) * sizeof(*kept->items));
        kept->count -= gone;
        kept->first += gone;
    }
    for (uint32_t i = 0; i < t->stall_count; i++) {
        struct zs_metric_at at = {.ip = kernel->code_va + (uint64_t)t->stalls[i].offset_B,
                                  .start_ticks = stretch->start_ticks,
                                  .end_ticks = stretch->end_ticks};
        if (values_at(kind, &t->stalls[i], share, &at) && !ZS_VEC_PUSH(kept, at)) {
            kept->first++;
            clear_kept(kept);
            return;
        }
    }
}

static bool is_active(const struct zs_metrics *m, enum zs_metric_by_address kind)
{
    for (uint32_t d = 0; d < ZS_METRIC_DOMAINS; d++)
        if (m->active[d] && zs_metric_by_address(m->active[d]->set) == kind)
            return true;
    return false;
}

void zs_metrics_forget_addresses(struct zs_metrics *m)
{
    for (uint32_t i = 0; i < ZS_METRIC_BY_ADDRESS; i++)
        if (!is_active(m, (enum zs_metric_by_address)i))
            clear_kept(&m->kept[i]);
}

/* While somebody wants them. */
static void keep_addresses(struct zs_metrics *m, const struct zs_ze_kernel *kernel,
                           const struct zs_gpu_result *result, const struct share *share,
                           const struct zs_metric_stretch *stretch)
{
    for (uint32_t i = 0; i < ZS_METRIC_BY_ADDRESS; i++)
        if (is_active(m, (enum zs_metric_by_address)i))
            keep(&m->kept[i], (enum zs_metric_by_address)i, kernel, &result->timing, share,
                 stretch);
}

static int by_address(const void *a, const void *b)
{
    const struct zs_metric_at *x = a, *y = b;
    return x->ip < y->ip ? -1 : x->ip > y->ip;
}

struct zs_metric_at *zs_metrics_kept(const struct zs_metric_kept *kept, uint64_t first,
                                     size_t *ret_count, bool *ret_lost)
{
    *ret_count = 0;
    *ret_lost = first < kept->first;
    size_t skip = first > kept->first ? (size_t)(first - kept->first) : 0;
    size_t count = kept->count > skip ? kept->count - skip : 0, used = 0;
    struct zs_metric_at *all = count ? malloc(count * sizeof(*all)) : NULL;
    if (!all)
        return NULL;
    memcpy(all, kept->items + skip, count * sizeof(*all));
    qsort(all, count, sizeof(*all), by_address);
    for (size_t i = 0; i < count; i++) {
        if (used && all[used - 1].ip == all[i].ip) {
            for (uint32_t v = 0; v < ZS_METRIC_ADDRESS_VALUES; v++)
                all[used - 1].values[v] += all[i].values[v];
        } else {
            all[used++] = all[i];
        }
    }
    *ret_count = used;
    return all;
}

/* ---- Streamers of other processes --------------------------------------------------------------
 *
 * Launches look for them, now and then. Most often the folder of claims is as it was when there was
 * none, and that is all that is looked at.
 */

static const uint64_t LOOK_EVERY_NS = 200000;
static const uint64_t FOLDER_STEP_NS = 20000000; /* a folder's time may stand still for so long */

static uint64_t ns_of(struct timespec t)
{
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void zs_metrics_let_go(struct zs_metrics *m, uint32_t domain)
{
    if (m->outs[domain].segment && !m->outs[domain].is_own)
        m->foreign--;
    zs_metric_out_close(&m->outs[domain]);
}

/* False: somebody may be there who cannot be reached. The lock is held. */
static bool look_for(struct zs_ze_device *device, struct zs_metrics *m, uint32_t domain)
{
    struct zs_metric_out *out = &m->outs[domain];
    pid_t pid;
    int fd;
    if (out->segment && !out->is_own && !zs_metric_out_lives(out))
        zs_metrics_let_go(m, domain);
    if (out->segment) /* also: our own claim is not to be opened */
        return true;
    int found = zs_metric_claim_read(device->model->device_id, device->card, device->tile, domain,
                                     &pid, &fd);
    if (found > 0 && zs_metric_out_open(out, pid, fd)) {
        m->foreign++;
        zs_log(ZS_LOG_DEBUG, "metrics: launches are told to a streamer of process %ld", (long)pid);
    }
    return found == 0 || out->segment;
}

/* Whether there is any claim: without metrics nothing is made before. */
static bool is_claimed(const struct zs_ze_device *device)
{
    bool claimed = false;
    pid_t pid;
    int fd;
    for (uint32_t d = 0; d < ZS_METRIC_DOMAINS && !claimed; d++)
        claimed = zs_metric_claim_read(device->model->device_id, device->card, device->tile, d,
                                       &pid, &fd) != 0;
    return claimed;
}

static void look(struct zs_ze_device *device)
{
    struct timespec now, changed = zs_metric_claims_changed();
    struct zs_metrics *m = device->metrics;
    clock_gettime(CLOCK_REALTIME, &now);
    if (ns_of(changed) == ns_of(device->metric_look.seen) && !(m && m->foreign))
        return;
    bool all = true;
    if (!m && is_claimed(device))
        m = zs_metrics_make(device, false);
    if (m) {
        pthread_mutex_lock(&m->lock);
        for (uint32_t d = 0; d < ZS_METRIC_DOMAINS; d++)
            all = look_for(device, m, d) && all;
        pthread_mutex_unlock(&m->lock);
    }
    bool stands = all && ns_of(now) > ns_of(changed) + FOLDER_STEP_NS;
    device->metric_look.seen = stands ? changed : (struct timespec){0};
}

static bool is_wanted(struct zs_ze_device *device)
{
    uint64_t now = zs_gpu_clock_ticks(device->gpu);
    uint64_t next = atomic_load_explicit(&device->metric_look.next_ticks, memory_order_relaxed);
    if (now >= next && pthread_mutex_trylock(&device->metric_look.lock) == 0) {
        atomic_store_explicit(&device->metric_look.next_ticks,
                              now + zs_gpu_clock_from_ns(device->gpu, LOOK_EVERY_NS),
                              memory_order_relaxed);
        look(device);
        pthread_mutex_unlock(&device->metric_look.lock);
    }
    const struct zs_metrics *m = device->metrics;
    return m && (!m->off || m->foreign);
}

/* Those that count a launch: the root, as locks are taken, then the device if it is a tile, else
 * all tiles. NULL behind the last. */
static struct zs_ze_device *counting(struct zs_ze_device *device, uint32_t i)
{
    struct zs_ze_device *root = device->parent ? device->parent : device;
    if (i == 0)
        return root;
    if (device != root)
        return i == 1 ? device : NULL;
    return i <= root->sub_count ? root->subs[i - 1] : NULL;
}

/* What one of them has of it. */
static struct share share_of(const struct zs_ze_device *device, const struct zs_ze_device *one)
{
    bool is_part = one->parent == device, is_root = device->parent == one;
    return (struct share){.index = is_part ? one->sub_index : 0,
                          .of = is_part ? device->sub_count : 1,
                          .tiles = is_root ? one->sub_count : 1};
}

bool zs_metrics_launch_begin(struct zs_ze_device *device)
{
    bool wanted = false;
    for (uint32_t i = 0; counting(device, i); i++)
        wanted = is_wanted(counting(device, i)) || wanted;
    return wanted;
}

static bool want_gains(const struct zs_ze_device *device)
{
    struct zs_metrics *m = device->metrics;
    uint32_t domain = zs_metric_set_domain(ZS_METRIC_SET_GAINS);
    if (!m)
        return false;
    (void)pthread_mutex_lock(&m->lock);
    bool wanted = m->active[domain] && m->active[domain]->set == ZS_METRIC_SET_GAINS;
    (void)pthread_mutex_unlock(&m->lock);
    return wanted;
}

bool zs_metrics_want_gains(struct zs_ze_device *device)
{
    bool wanted = false;
    for (uint32_t i = 0; counting(device, i); i++)
        wanted = want_gains(counting(device, i)) || wanted;
    return wanted;
}

/* ---- The end of a launch -----------------------------------------------------------------------
 */

static void put(struct zs_metrics *m, uint32_t domain, const struct zs_metric_slot *slot)
{
    struct zs_metric_out *out = &m->outs[domain];
    if (out->is_own && zs_metric_out_presses(out))
        zs_streamer_make_room(m->streamers[domain]);
    zs_metric_out_put(out, slot);
}

static void put_addresses(struct zs_metrics *m, uint32_t domain, enum zs_metric_by_address kind,
                          const struct zs_ze_kernel *kernel, const struct zs_gpu_timing *t,
                          const struct share *share, const struct zs_metric_stretch *stretch)
{
    struct zs_metric_slot slot = {.kind = ZS_METRIC_SLOT_AT};
    for (uint32_t i = 0; i < t->stall_count; i++) {
        struct zs_metric_at at = {.ip = kernel->code_va + (uint64_t)t->stalls[i].offset_B,
                                  .start_ticks = stretch->start_ticks,
                                  .end_ticks = stretch->end_ticks};
        if (values_at(kind, &t->stalls[i], share, &at))
            slot.ats[slot.count++] = at;
        if (slot.count == ZS_METRIC_SLOT_ADDRESSES || (slot.count && i + 1 == t->stall_count)) {
            put(m, domain, &slot);
            slot.count = 0;
        }
    }
}

/* One that counts the launch. The lock is held. */
static void put_launch(struct zs_metrics *m, const struct zs_ze_kernel *kernel,
                       const struct zs_gpu_result *result, const struct share *share,
                       const struct zs_metric_stretch *whole)
{
    struct zs_metric_slot slot = {.kind = ZS_METRIC_SLOT_STRETCH, .stretch = *whole};
    const struct zs_metric_stretch *stretch = &slot.stretch;
    for (uint32_t i = 0; i < ZS_METRIC_COUNTERS; i++) {
        slot.stretch.counters[i] = counter_of(whole->counters[i], i, share);
        m->sums[i] += stretch->counters[i];
    }
    for (uint32_t d = 0; d < ZS_METRIC_DOMAINS; d++) {
        enum zs_metric_by_address kind = zs_metric_by_address(m->outs[d].set);
        if (m->outs[d].segment && kind == ZS_METRIC_BY_ADDRESS)
            put(m, d, &slot);
        else if (m->outs[d].segment)
            put_addresses(m, d, kind, kernel, &result->timing, share, stretch);
        if (m->outs[d].segment)
            zs_metric_out_end(&m->outs[d]);
    }
    zs_tracer_add(m, kernel->code_va, stretch);
    keep_addresses(m, kernel, result, share, stretch);
}

/* The host takes longer to execute a launch than the device would, and streamers go on meanwhile:
 * what they have told of is over, so the launch stands behind it. */
static uint64_t told_by(const struct zs_ze_device *device, struct zs_metrics *m)
{
    uint64_t now = zs_gpu_clock_ticks(device->gpu), told = 0;
    for (uint32_t d = 0; d < ZS_METRIC_DOMAINS; d++)
        if (m->outs[d].segment)
            told = ZS_MAX(told, zs_metric_out_begin(&m->outs[d], now));
    return told;
}

/* Puts it where it is counted, and unlocks that. Apart: what it needs of the stack launches that
 * nobody counts do not. */
static __attribute__((noinline)) void put_all(struct zs_ze_device *device,
                                              const struct zs_ze_kernel *kernel,
                                              const struct zs_gpu_result *result,
                                              struct zs_metrics *const *all)
{
    struct zs_metric_stretch stretch = {0};
    zs_metric_count(device->model, result, &stretch);
    for (uint32_t i = 0; counting(device, i); i++) {
        const struct share share = share_of(device, counting(device, i));
        if (!all[i])
            continue;
        put_launch(all[i], kernel, result, &share, &stretch);
        pthread_mutex_unlock(&all[i]->lock);
    }
}

void zs_metrics_launch_end(struct zs_ze_device *device, bool counted,
                           const struct zs_ze_kernel *kernel, struct zs_gpu_result *result)
{
    /* metrics may appear meanwhile: those that are there now */
    struct zs_metrics *all[1 + ZS_SUB_DEVICES_MAX] = {0};
    uint64_t told = 0;
    for (uint32_t i = 0; counted && counting(device, i); i++) {
        all[i] = counting(device, i)->metrics;
        if (!all[i])
            continue;
        pthread_mutex_lock(&all[i]->lock);
        told = ZS_MAX(told, told_by(device, all[i]));
    }
    zs_engine_take(device, ZS_ORDINAL_COMPUTE, ZS_ENGINE_MODELLED, told, &result->start_ticks,
                   &result->end_ticks);
    if (counted)
        put_all(device, kernel, result, all);
}

void zs_metrics_mark(struct zs_metrics *m, uint32_t domain, uint64_t ticks, uint32_t value)
{
    const struct zs_metric_slot slot = {.kind = ZS_METRIC_SLOT_MARK, .mark = {ticks, value}};
    if (m->outs[domain].is_own)
        put(m, domain, &slot);
}
