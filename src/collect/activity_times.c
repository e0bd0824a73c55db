/* SPDX-License-Identifier: MIT */
/*
 * The device's clock on the host's. Kernel timestamps have few bits (32 at 12 MHz wrap after six
 * minutes), so a timestamp is placed relative to a recent sample of both clocks: the difference is
 * taken modulo the bits and as signed, which is right within half a wrap.
 */
#include "collect/activity_priv.h"

enum {
    SAMPLE_EVERY_NS = 500000000,
    SAMPLE_TRIES = 3,
    DRIFT_ONE_IN = 10000, /* clocks run apart by so much, at most */
    SAMPLE_OLD_S = 60,    /* far below half a wrap */
    /* how far a placed activity may lie outside of what the host saw before it is not believed */
    SLACK_NS = 2000000,
};

/* How far what is placed by the sample may be wrong. */
static uint64_t error_now(const struct act_device *device, uint64_t now_ns)
{
    uint64_t age_ns = now_ns > device->sample_host_ns ? now_ns - device->sample_host_ns : 0;
    return device->sample_error_ns + age_ns / DRIFT_ONE_IN;
}

static bool is_old(const struct act_device *device, uint64_t now_ns)
{
    return !device->sample_error_ns ||
           (int64_t)(now_ns - device->sample_host_ns) / 1000000000 >= SAMPLE_OLD_S;
}

/* The host's time is taken by ourselves, around the call: which clock the driver reads differs.
 * The try with the shortest interval counts, if it is better than what is known: this thread may
 * have been interrupted each time. */
void act_clock_sample(struct zs_activity *a, struct act_device *device)
{
    const struct zs_collect_api *api = &a->collector->api;
    device->tried_ns = zs_trace_now_ns();
    uint64_t best_ns =
        is_old(device, device->tried_ns) ? UINT64_MAX : error_now(device, device->tried_ns);
    if (!api->zeDeviceGetGlobalTimestamps || !device->has_clock)
        return;
    for (int i = 0; i < SAMPLE_TRIES; i++) {
        uint64_t host = 0, ticks = 0, before_ns = zs_trace_now_ns();
        if (api->zeDeviceGetGlobalTimestamps(device->handle, &host, &ticks)) {
            device->has_clock = false;
            return;
        }
        uint64_t took_ns = zs_trace_now_ns() - before_ns;
        if (took_ns >= best_ns)
            continue;
        best_ns = took_ns;
        device->sample_host_ns = before_ns + took_ns / 2;
        device->sample_ticks = ticks;
        device->sample_error_ns = took_ns + 1;
    }
}

static int64_t ticks_between(uint64_t from, uint64_t to, uint32_t bits)
{
    uint32_t shift = bits && bits < 64 ? 64 - bits : 0;
    return (int64_t)((to - from) << shift) >> shift;
}

bool act_times(struct zs_activity *a, struct act_device *device,
               const ze_kernel_timestamp_result_t *result, uint64_t submit_ns, uint64_t now_ns,
               uint64_t *ret_start, uint64_t *ret_end, bool *ret_estimated)
{
    const ze_kernel_timestamp_data_t *t = &result->global;
    if (!device || device->ns_per_tick <= 0 || t->kernelEnd == UINT64_MAX ||
        t->kernelStart == UINT64_MAX || (!t->kernelStart && !t->kernelEnd))
        return false;
    now_ns = ZS_MAX(now_ns, submit_ns); /* threads' clocks agree to within some nanoseconds */
    int64_t ticks = ticks_between(t->kernelStart, t->kernelEnd, device->kernel_bits);
    double duration_ns = (double)ticks * device->ns_per_tick;
    if (ticks < 0 || duration_ns > (double)(now_ns - submit_ns) + SLACK_NS)
        return false;
    if (device->has_clock && (int64_t)(now_ns - device->tried_ns) > SAMPLE_EVERY_NS)
        act_clock_sample(a, device);
    *ret_estimated = !device->has_clock;
    if (!device->has_clock) {
        *ret_end = now_ns;
        *ret_start = now_ns - (uint64_t)duration_ns;
        return true;
    }
    double offset_ns =
        (double)ticks_between(device->sample_ticks, t->kernelStart, device->kernel_bits) *
        device->ns_per_tick;
    double start_ns = (double)(int64_t)(device->sample_host_ns - submit_ns) + offset_ns;
    double limit_ns = (double)(now_ns - submit_ns);
    double slack_ns = SLACK_NS + (double)error_now(device, now_ns);
    if (start_ns < -slack_ns || start_ns + duration_ns > limit_ns + slack_ns)
        return false;
    /* clocks are tied to each other to within microseconds: keep cause before effect */
    start_ns = ZS_MAX(0.0, ZS_MIN(start_ns, limit_ns - duration_ns));
    *ret_start = submit_ns + (uint64_t)start_ns;
    *ret_end = *ret_start + (uint64_t)duration_ns;
    return true;
}
