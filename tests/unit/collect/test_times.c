/* SPDX-License-Identifier: MIT */
/* Timestamps of a device on the host's clock: clocks that wrap, that are missing, that make no
 * sense. */
#include "../test.h"

#include "collect/activity_priv.h"

#include <math.h>
#include <string.h>

static uint64_t device_ticks; /* what the device's clock says when it is asked */
static bool clock_fails;

static ze_result_t global_timestamps(ze_device_handle_t device, uint64_t *host, uint64_t *ticks)
{
    *host = 0;
    *ticks = device_ticks;
    return clock_fails ? ZE_RESULT_ERROR_UNSUPPORTED_FEATURE : ZE_RESULT_SUCCESS;
}

static struct zs_collector collector = {.api = {.zeDeviceGetGlobalTimestamps = global_timestamps}};
static struct zs_activity activity = {.collector = &collector};

static const double ns_per_tick = 1e9 / 12e6;

/* 32 bits at 12 MHz, as skl has it: a wrap every 358 s. */
static struct act_device device_of(uint32_t bits)
{
    struct act_device d = {.ns_per_tick = ns_per_tick, .kernel_bits = bits, .has_clock = true};
    return d;
}

static uint64_t cut(uint64_t ticks, uint32_t bits)
{
    return ticks & (UINT64_MAX >> (64 - bits));
}

struct timed {
    bool known, estimated;
    uint64_t start_ns, end_ns;
};

/* Sampled at 1000 s of the host's time as `ticks`; the activity began offset ticks later. */
static struct timed place(uint32_t bits, uint64_t ticks, int64_t offset, uint64_t length,
                          uint64_t submit_ns, uint64_t now_ns)
{
    struct act_device d = device_of(bits);
    struct timed t = {0};
    d.sample_host_ns = d.tried_ns = UINT64_C(1000000000000);
    d.sample_ticks = ticks;
    d.sample_error_ns = 100;
    uint64_t start = ticks + (uint64_t)offset;
    const ze_kernel_timestamp_result_t result = {
        .global = {.kernelStart = cut(start, bits), .kernelEnd = cut(start + length, bits)}};
    t.known =
        act_times(&activity, &d, &result, submit_ns, now_ns, &t.start_ns, &t.end_ns, &t.estimated);
    return t;
}

static void wraps_do_not_matter(void **state)
{
    static const uint64_t samples[] = {5, 0x7fffffff, 0xfffffff0, 0xffffffff, 0x123456789abcull};
    const uint64_t base_ns = UINT64_C(1000000000000);
    for (size_t i = 0; i < ZS_ARRAY_LEN(samples); i++) {
        for (int64_t offset = -1200000; offset <= 1200000; offset += 300000) { /* +- 100 ms */
            int64_t start_ns = (int64_t)((double)offset * ns_per_tick);
            uint64_t expected = base_ns + (uint64_t)start_ns;
            struct timed t =
                place(32, samples[i], offset, 1200, expected - 50000, expected + 400000);
            assert_true(t.known && !t.estimated);
            assert_true(t.start_ns + 2 > expected && t.start_ns < expected + 2);
            assert_int_equal(t.end_ns - t.start_ns, 100000);
        }
    }
}

/* The end has wrapped, the start has not. */
static void wraps_inside_an_activity(void **state)
{
    const uint64_t base_ns = UINT64_C(1000000000000);
    struct timed t = place(32, 0xffffff00, 0x80, 0x100, base_ns, base_ns + 1000000);
    assert_true(t.known);
    assert_int_equal(t.end_ns - t.start_ns, (uint64_t)(0x100 * ns_per_tick));
}

static void nonsense_is_refused(void **state)
{
    const uint64_t base_ns = UINT64_C(1000000000000);
    /* before it was submitted, after it was seen, longer than there was time, backwards */
    assert_false(place(32, 1000000, -1200000, 10, base_ns, base_ns + 1000).known);
    assert_false(place(32, 1000000, 1200000, 10, base_ns, base_ns + 1000).known);
    assert_false(place(32, 1000000, 0, 120000000, base_ns, base_ns + 1000000).known);
    assert_false(place(32, 1000000, 0, (uint64_t)-100, base_ns, base_ns + 1000000).known);
    struct act_device d = device_of(32);
    uint64_t start, end;
    bool estimated;
    ze_kernel_timestamp_result_t none = {0};
    assert_false(act_times(&activity, &d, &none, base_ns, base_ns, &start, &end, &estimated));
    memset(&none, 0xff, sizeof(none));
    assert_false(act_times(&activity, &d, &none, base_ns, base_ns, &start, &end, &estimated));
    assert_false(act_times(&activity, NULL, &none, base_ns, base_ns, &start, &end, &estimated));
}

/* A little before its cause, which clocks that are tied together by samples can say: moved. */
static void cause_comes_before_effect(void **state)
{
    const uint64_t base_ns = UINT64_C(1000000000000);
    struct timed t = place(32, 1000000, -12, 120, base_ns, base_ns + 100000);
    assert_true(t.known);
    assert_int_equal(t.start_ns, base_ns);
}

/* Old samples are replaced, and a clock that cannot be asked leaves durations. */
static void clocks_are_asked_again(void **state)
{
    struct act_device d = device_of(32);
    const uint64_t now_ns = zs_trace_now_ns();
    uint64_t start, end;
    bool estimated;
    d.sample_host_ns = d.tried_ns = now_ns - UINT64_C(500000000000); /* more than a wrap ago */
    d.sample_ticks = 77;
    d.sample_error_ns = 1;
    device_ticks = 0x100000000ull + 500;
    ze_kernel_timestamp_result_t r = {
        .global = {.kernelStart = 0x100000000 + 500 - 12000, .kernelEnd = 500}};
    r.global.kernelStart &= UINT32_MAX;
    assert_true(act_times(&activity, &d, &r, now_ns - 100000000, zs_trace_now_ns(), &start, &end,
                          &estimated));
    assert_int_equal(d.sample_ticks, device_ticks);
    assert_false(estimated);
    assert_true(end - start == 1000000 && end <= zs_trace_now_ns());
    clock_fails = true;
    d.tried_ns = now_ns - UINT64_C(500000000000);
    assert_true(act_times(&activity, &d, &r, now_ns - 100000000, zs_trace_now_ns(), &start, &end,
                          &estimated));
    assert_true(estimated && end - start == 1000000);
    clock_fails = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wraps_do_not_matter),    cmocka_unit_test(wraps_inside_an_activity),
        cmocka_unit_test(nonsense_is_refused),    cmocka_unit_test(cause_comes_before_effect),
        cmocka_unit_test(clocks_are_asked_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
