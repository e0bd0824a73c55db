/* SPDX-License-Identifier: MIT */
/* Rings between launches and streamers: order, losses, what dead and hostile processes leave. And
 * what Intel's own groups look like on a device that has them. */
#include "driver/metrics/exclusive.h"
#include "driver/metrics/share.h"

#include "metrics_env.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

struct taken {
    uint64_t count, sum;
};

static void take(void *opaque, const struct zs_metric_slot *slot)
{
    struct taken *t = opaque;
    t->count++;
    t->sum += slot->stretch.counters[0];
}

static struct zs_metric_slot stretch(uint64_t value)
{
    return (struct zs_metric_slot){
        .kind = ZS_METRIC_SLOT_STRETCH,
        .stretch = {.start_ticks = 1, .end_ticks = 2, .counters = {value}}};
}

static struct zs_metric_share open_share(void)
{
    struct zs_metric_share share;
    assert_int_equal(zs_metric_share_open(ZS_METRIC_SET_INSTRUCTIONS, &share), 0);
    assert_true(share.file.fd >= 0);
    return share;
}

/* A child that puts `count` slots and ends without a word. */
static void put_in_child(const struct zs_metric_share *share, uint32_t count, uint64_t value)
{
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        struct zs_metric_out out;
        const struct zs_metric_slot slot = stretch(value);
        if (!zs_metric_out_open(&out, parent, share->file.fd))
            _exit(1);
        for (uint32_t i = 0; i < count; i++)
            zs_metric_out_put(&out, &slot);
        (void)zs_metric_out_begin(&out, 1); /* killed within a launch */
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* More processes than there are rings, one after the other: those of the dead are used again, and
 * what they had put arrives. */
static void test_processes(void **state)
{
    (void)state;
    enum { PROCESSES = ZS_METRIC_RINGS + 5 };
    struct zs_metric_share share = open_share();
    struct zs_metric_out own;
    struct taken t = {0};
    zs_metric_out_own(&own, &share);
    const struct zs_metric_slot slot = stretch(1000);
    zs_metric_out_put(&own, &slot);
    for (uint32_t i = 0; i < PROCESSES; i++)
        put_in_child(&share, 3, i);
    zs_metric_share_tell(&share, 5); /* waits for no dead one for good */
    assert_true(zs_metric_share_drain(&share, take, &t));
    assert_int_equal(t.count, 1 + 3 * PROCESSES);
    assert_int_equal(t.sum, 1000 + 3 * PROCESSES * (PROCESSES - 1) / 2);
    zs_metric_out_close(&own);
    zs_metric_share_close(&share);
}

/* What there is no room for is lost, and the reader is told once. */
static void test_full(void **state)
{
    (void)state;
    struct zs_metric_share share = open_share();
    struct zs_metric_out own;
    struct taken t = {0};
    const struct zs_metric_slot slot = stretch(1);
    zs_metric_out_own(&own, &share);
    for (uint32_t i = 0; i < ZS_METRIC_SLOTS + 10; i++)
        zs_metric_out_put(&own, &slot);
    assert_true(zs_metric_out_presses(&own));
    assert_false(zs_metric_share_drain(&share, take, &t));
    assert_int_equal(t.count, ZS_METRIC_SLOTS);
    assert_false(zs_metric_out_presses(&own));
    zs_metric_out_put(&own, &slot);
    assert_true(zs_metric_share_drain(&share, take, &t));
    assert_int_equal(t.count, ZS_METRIC_SLOTS + 1);
    zs_metric_out_close(&own);
    zs_metric_share_close(&share);
}

/* A streamer has told of nothing that is to come; what is closed, of another size, not sealed or no
 * file takes nothing. */
static void test_hostile_streamers(void **state)
{
    (void)state;
    struct zs_metric_share share = open_share();
    struct zs_metric_out out;
    zs_metric_share_tell(&share, UINT64_MAX);
    zs_metric_out_own(&out, &share);
    assert_int_equal(zs_metric_out_begin(&out, 1234), 1234);
    zs_metric_out_end(&out);
    zs_metric_out_close(&out);
    assert_true(zs_metric_out_open(&out, getpid(), share.file.fd));
    zs_metric_out_close(&out);

    off_t size = lseek(share.file.fd, 0, SEEK_END);
    int small = memfd_create("small", MFD_ALLOW_SEALING), open_end = memfd_create("unsealed", 0);
    assert_int_equal(ftruncate(open_end, size), 0);
    int garbage = memfd_create("garbage", MFD_ALLOW_SEALING);
    assert_int_equal(ftruncate(garbage, size), 0);
    assert_int_equal(pwrite(garbage, "garbage", 7, 0), 7);
    const int bad[] = {small, open_end, garbage, STDIN_FILENO, 12345, -1};
    for (size_t i = 0; i < ZS_ARRAY_LEN(bad); i++)
        assert_false(zs_metric_out_open(&out, getpid(), bad[i]));
    assert_false(zs_metric_out_open(&out, 0x3fffffff, share.file.fd));
    close(small);
    close(open_end);
    close(garbage);
    zs_metric_share_close(&share);
}

/* Whatever another process writes all over the segment: reading ends, and says that something was
 * lost. */
static void test_hostile_launches(void **state)
{
    (void)state;
    struct zs_metric_share share = open_share();
    struct taken t = {0};
    size_t size = (size_t)lseek(share.file.fd, 0, SEEK_END);
    uint8_t *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, share.file.fd, 0);
    assert_ptr_not_equal(bytes, MAP_FAILED);
    const size_t ring_B = ZS_METRIC_SLOT_B * (1 + (size_t)ZS_METRIC_SLOTS);
    srand(5);
    for (uint32_t i = 0; i < 4096 + 3 * ZS_METRIC_SLOT_B; i++) /* its head, a ring's, two slots */
        bytes[4096 + ring_B + i % (3 * ZS_METRIC_SLOT_B)] = (uint8_t)rand();
    assert_false(zs_metric_share_drain(&share, take, &t));
    _Atomic uint64_t *head = (void *)(bytes + 4096 + ring_B + 8);
    uint64_t before = t.count;
    for (uint32_t i = 0; i < 2; i++) { /* slots that are none */
        memset(bytes + 4096 + ring_B + ZS_METRIC_SLOT_B, 0xff, 8 * ZS_METRIC_SLOT_B);
        memset(bytes + 4096 + ring_B + ring_B - 8 * ZS_METRIC_SLOT_B, 0xff, 8 * ZS_METRIC_SLOT_B);
        atomic_store(head, (atomic_load(head) / ZS_METRIC_SLOTS + 1) * ZS_METRIC_SLOTS + 4 * i);
        assert_false(zs_metric_share_drain(&share, take, &t));
    }
    assert_true(t.count - before <= 2 * ZS_METRIC_SLOTS);
    munmap(bytes, size);
    zs_metric_share_close(&share);
}

/* ---- Groups of Intel's driver ------------------------------------------------------------------
 */

static zet_metric_group_handle_t by_name(ze_device_handle_t device, const char *name,
                                         zet_metric_group_sampling_type_flags_t sampling)
{
    zet_metric_group_handle_t groups[GROUPS_MAX];
    uint32_t count = groups_of(device, groups);
    for (uint32_t i = 0; i < count; i++) {
        const zet_metric_group_properties_t p = properties(groups[i], NULL);
        if (!strcmp(p.name, name) && p.samplingType & sampling)
            return groups[i];
    }
    return NULL;
}

static bool has_metric(zet_metric_group_handle_t group, const char *name)
{
    zet_metric_handle_t metrics[VALUES_MAX];
    uint32_t count = VALUES_MAX;
    bool has = false;
    OK(zetMetricGet(group, &count, metrics));
    for (uint32_t i = 0; i < count; i++)
        has |= !strcmp(metric_about(metrics[i]).name, name);
    return has;
}

/* As metric_ip_sampling_source.cpp of NEO has it, on devices of which it says so. */
static void test_eu_stall_sampling(void **state)
{
    enum { METRICS = 10 };
    static const char *const names[METRICS] = {
        "IP",        "Active",    "ControlStall", "PipeStall",       "SendStall",
        "DistStall", "SbidStall", "SyncStall",    "InstrFetchStall", "OtherStall"};
    const struct env *e = *state;
    zet_metric_group_handle_t group =
        by_name(e->device, "EuStallSampling", ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED);
    assert_non_null(group);
    assert_null(
        by_name(e->device, "EuStallSampling", ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED));
    assert_int_equal(properties(group, NULL).domain, 100);
    zet_metric_handle_t metrics[VALUES_MAX];
    uint32_t count = VALUES_MAX;
    OK(zetMetricGet(group, &count, metrics));
    assert_int_equal(count, METRICS);
    for (uint32_t i = 0; i < METRICS; i++) {
        zet_metric_properties_t p = metric_about(metrics[i]);
        assert_string_equal(p.name, names[i]);
        assert_string_equal(p.component, "XVE");
        assert_string_equal(p.resultUnits, i ? "Events" : "Address");
        assert_int_equal(p.metricType, i ? ZET_METRIC_TYPE_EVENT : ZET_METRIC_TYPE_IP_EXP);
        assert_int_equal(p.resultType, ZET_VALUE_TYPE_UINT64);
        assert_int_equal(p.tierNumber, 4);
    }
    static uint8_t raw[ZS_RAW_EU_STALL_B];
    zet_typed_value_t v[METRICS];
    struct zs_metric_report report = {.set = ZS_METRIC_SET_EU_STALL_SAMPLING, .sampling = 1};
    report.counters[0] = 0x7fabcdef1238;
    for (uint32_t i = 1; i < METRICS; i++)
        report.counters[i] = i;
    zs_metric_report_write(&report, raw);
    count = METRICS;
    OK(zetMetricGroupCalculateMetricValues(group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES,
                                           sizeof(raw), raw, &count, v));
    assert_int_equal(count, METRICS);
    assert_int_equal(v[0].value.ui64, 0xcdef1238u >> 3);
    for (uint32_t i = 1; i < METRICS; i++)
        assert_int_equal(v[i].value.ui64, i == 8 ? 9 : i == 9 ? 8 : i);
}

/* The names by which PTI's samples look, and the bits of the clock that they take: 31 of the
 * device's, as 32 of one that is twice as fast. */
static void test_names_and_clock(void **state)
{
    const struct env *e = *state;
    zet_metric_group_handle_t group =
        by_name(e->device, "ComputeBasic", ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED);
    assert_true(has_metric(group, "XVE_ACTIVE") && has_metric(group, "XVE_STALL"));
    zet_metric_global_timestamps_resolution_exp_t timer = {
        .stype = ZET_STRUCTURE_TYPE_METRIC_GLOBAL_TIMESTAMPS_RESOLUTION_EXP};
    (void)properties(group, &timer);
    assert_int_equal(timer.timestampValidBits, 32);
    assert_int_equal(timer.timerResolution, 25000000);

    static uint8_t raw[ZS_RAW_REPORT_B];
    zet_typed_value_t v[VALUES_MAX];
    uint32_t count = VALUES_MAX;
    struct zs_metric_report report = {.set = ZS_METRIC_SET_COMPUTE_BASIC_HPC,
                                      .sampling = 1,
                                      .begin_ticks = UINT64_C(0xabc) << 20 | UINT64_C(5) << 31,
                                      .end_ticks = UINT64_C(6) << 31};
    zs_metric_report_write(&report, raw);
    OK(zetMetricGroupCalculateMetricValues(group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES,
                                           sizeof(raw), raw, &count, v));
    assert_true(count > 2);
    uint64_t ticks = (UINT64_C(0xabc) << 20 | UINT64_C(5) << 31) & INT32_MAX;
    assert_int_equal(v[count - 2].value.ui64, ticks * 80); /* QueryBeginTime; 12.5 MHz */
}

/* Tools end themselves at a group that is of no kind that they know. */
static void test_kinds(void **state)
{
    const struct env *e = *state;
    zet_metric_group_handle_t groups[GROUPS_MAX];
    uint32_t count = groups_of(e->device, groups);
    assert_true(count > 4);
    for (uint32_t i = 0; i < count; i++)
        assert_true(properties(groups[i], NULL).samplingType == 1 ||
                    properties(groups[i], NULL).samplingType == 2);
}

/* A claim is its process's as long as that lives: launches need not look at what is left of it. */
static void test_claim_of_the_dead(void **state)
{
    enum { DEVICE = 0xfffffe, CARD = 7, SEGMENT = 3 };
    struct zs_metric_claim claim;
    pid_t owner;
    int fd, told[2];
    char byte, folder[] = "/tmp/zs-claim-XXXXXX";
    assert_non_null(mkdtemp(folder));
    setenv("XDG_RUNTIME_DIR", folder, 1);
    assert_int_equal(zs_metric_claim_read(DEVICE, CARD, 0, 0, &owner, &fd), 0);
    assert_int_equal(pipe(told), 0);
    pid_t child = fork();
    if (child == 0) {
        if (zs_metric_claim_make(DEVICE, CARD, 0, 0, &claim) == 0)
            zs_metric_claim_tell(&claim, SEGMENT);
        (void)!write(told[1], "", 1);
        for (;;)
            pause();
    }
    assert_int_equal(read(told[0], &byte, 1), 1);
    assert_int_equal(zs_metric_claim_read(DEVICE, CARD, 0, 0, &owner, &fd), 1);
    assert_int_equal(owner, child);
    assert_int_equal(fd, SEGMENT);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(zs_metric_claim_read(DEVICE, CARD, 0, 0, &owner, &fd), 0);
    assert_int_equal(zs_metric_claim_make(DEVICE, CARD, 0, 0, &claim), 0); /* and is taken over */
    zs_metric_claim_end(&claim);
    assert_int_equal(rmdir(folder), 0);
    unsetenv("XDG_RUNTIME_DIR");
    close(told[0]);
    close(told[1]);
}

static int setup_pvc(void **state)
{
    by_environment = true;
    devices = "pvc:2";
    return setup(state);
}

int main(void)
{
    const struct CMUnitTest rings[] = {
        cmocka_unit_test(test_processes),         cmocka_unit_test(test_full),
        cmocka_unit_test(test_hostile_streamers), cmocka_unit_test(test_hostile_launches),
        cmocka_unit_test(test_claim_of_the_dead),
    };
    const struct CMUnitTest groups[] = {
        cmocka_unit_test(test_eu_stall_sampling),
        cmocka_unit_test(test_names_and_clock),
        cmocka_unit_test(test_kinds),
    };
    int failed = cmocka_run_group_tests(rings, NULL, NULL);
    return failed + cmocka_run_group_tests(groups, setup_pvc, teardown);
}
