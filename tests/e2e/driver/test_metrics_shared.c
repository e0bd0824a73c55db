/* SPDX-License-Identifier: MIT */
/* Streamers see what is launched on the device, in whichever process, while they are read. */
#include "kernels_group.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

enum { VALUES_MAX = 128, RAW_B = 32 << 20 };

static const char *self;

/* ---- Another process ---------------------------------------------------------------------------
 *
 * "launch": launches as often as each byte of its input says and answers each with a byte.
 * "stream": holds a streamer until it is killed. */

static void launch_often(struct e2e *e, uint32_t times)
{
    static ze_kernel_handle_t kernel;
    static void *out;
    if (!kernel) {
        uint32_t one = 1;
        kernel = kernel_of(the_module, "wide_argument");
        out = e2e_alloc(e, 64);
        set(kernel, 0, sizeof(out), &out);
        set(kernel, 1, 8, (uint64_t[]){one});
        OK(zeKernelSetGroupSize(kernel, 1, 1, 1));
    }
    usleep(1000); /* launches look for streamers five times as often */
    for (uint32_t i = 0; i < times; i++)
        OK(launch(e, kernel, 1));
}

static zet_metric_streamer_handle_t open_stream(struct e2e *e, const char *name,
                                                zet_metric_group_handle_t *ret_group)
{
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .notifyEveryNReports = 1 << 19,
                                       .samplingPeriod = 100000};
    zet_metric_streamer_handle_t streamer;
    *ret_group = e2e_metric_group(e, name, ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED);
    OK(zetContextActivateMetricGroups(e->context, e->device, 1, ret_group));
    OK(zetMetricStreamerOpen(e->context, e->device, *ret_group, &desc, NULL, &streamer));
    return streamer;
}

static int child_main(const char *how, const char *metrics)
{
    void *state = NULL;
    uint8_t byte = 0;
    zet_metric_group_handle_t group;
    setenv("ZET_ENABLE_METRICS", metrics, 1);
    if (setup(&state))
        return 1;
    if (!strcmp(how, "stream"))
        (void)open_stream(state, "ZscopeInstructions", &group);
    if (write(STDOUT_FILENO, &byte, 1) != 1)
        return 1;
    while (read(STDIN_FILENO, &byte, 1) == 1) {
        launch_often(state, byte);
        if (write(STDOUT_FILENO, &byte, 1) != 1)
            return 1;
    }
    return 0;
}

struct other {
    pid_t pid;
    int in, out;
};

static void other_answers(const struct other *other)
{
    uint8_t byte;
    assert_int_equal(read(other->out, &byte, 1), 1);
}

static struct other other_start(const char *how, const char *metrics)
{
    int in[2], out[2];
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    struct other other = {fork(), in[1], out[0]};
    if (other.pid == 0) {
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        execl(self, self, how, metrics, NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    other_answers(&other);
    return other;
}

static void other_launches(const struct other *other, uint8_t times)
{
    assert_int_equal(write(other->in, &times, 1), 1);
}

static void other_end(const struct other *other, int signal_number)
{
    int status;
    if (signal_number)
        kill(other->pid, signal_number);
    close(other->in);
    close(other->out);
    assert_int_equal(waitpid(other->pid, &status, 0), other->pid);
    assert_true(signal_number ? WIFSIGNALED(status) : WIFEXITED(status) && !WEXITSTATUS(status));
}

/* ---- Reading -----------------------------------------------------------------------------------
 */

static uint32_t index_of(zet_metric_group_handle_t group, const char *name)
{
    zet_metric_handle_t metrics[VALUES_MAX];
    uint32_t count = VALUES_MAX;
    OK(zetMetricGet(group, &count, metrics));
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_properties_t p = {.stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES};
        OK(zetMetricGetProperties(metrics[i], &p));
        if (!strcmp(p.name, name))
            return i;
    }
    fail_msg("no metric %s", name);
    return 0;
}

/* What waits: the sum of a metric of type uint64. */
static uint64_t read_sum(zet_metric_streamer_handle_t streamer, zet_metric_group_handle_t group,
                         const char *name)
{
    static uint8_t raw[RAW_B];
    size_t size = sizeof(raw);
    uint32_t count = 0, per = 0, at = index_of(group, name);
    uint64_t sum = 0;
    OK(zetMetricStreamerReadData(streamer, UINT32_MAX, &size, raw));
    if (!size)
        return 0;
    const zet_metric_group_calculation_type_t plain =
        ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES;
    OK(zetMetricGroupCalculateMetricValues(group, plain, size, raw, &count, NULL));
    zet_typed_value_t *v = calloc(count, sizeof(*v));
    OK(zetMetricGroupCalculateMetricValues(group, plain, size, raw, &count, v));
    OK(zetMetricGet(group, &per, NULL));
    for (uint32_t i = at; i < count; i += per)
        sum += v[i].value.ui64;
    free(v);
    return sum;
}

static void expect_sum(zet_metric_streamer_handle_t streamer, zet_metric_group_handle_t group,
                       const char *name, uint64_t want)
{
    uint64_t sum = 0;
    while (sum < want)
        sum += read_sum(streamer, group, name);
    for (int i = 0; i < 3; i++, usleep(1000)) /* and no more */
        sum += read_sum(streamer, group, name);
    assert_int_equal(sum, want);
}

/* ---- Tests -------------------------------------------------------------------------------------
 */

/* Those with metrics and those without, that were there before the streamer or come later. */
static void test_other_processes(void **state)
{
    enum { EARLY = 3, LAUNCHES = 20 };
    struct e2e *e = *state;
    struct other others[EARLY];
    zet_metric_group_handle_t group;
    for (int i = 0; i < EARLY; i++) {
        others[i] = other_start("launch", i ? "1" : "0");
        other_launches(&others[i], 1); /* which nobody sees */
        other_answers(&others[i]);
    }
    zet_metric_streamer_handle_t streamer = open_stream(e, "ZscopeInstructions", &group);
    for (int i = 0; i < EARLY; i++)
        other_launches(&others[i], LAUNCHES);
    launch_often(e, LAUNCHES);
    struct other late = other_start("launch", "1");
    other_launches(&late, LAUNCHES);
    for (int i = 0; i < EARLY; i++)
        other_answers(&others[i]);
    other_answers(&late);
    other_end(&late, 0);
    expect_sum(streamer, group, "Launches", (EARLY + 2) * LAUNCHES);
    OK(zetMetricStreamerClose(streamer));
    streamer = open_stream(e, "ZscopeInstructions", &group); /* another one, seen as well */
    other_launches(&others[1], LAUNCHES);
    other_answers(&others[1]);
    other_end(&others[0], SIGKILL);
    expect_sum(streamer, group, "Launches", LAUNCHES);
    OK(zetMetricStreamerClose(streamer));
    for (int i = 1; i < EARLY; i++) {
        other_launches(&others[i], 1); /* to nobody */
        other_answers(&others[i]);
        other_end(&others[i], 0);
    }
}

/* By address, too. */
static void test_addresses(void **state)
{
    struct e2e *e = *state;
    zet_metric_group_handle_t group;
    zet_metric_streamer_handle_t streamer = open_stream(e, "ZscopeStallSampling", &group);
    struct other other = other_start("launch", "1");
    other_launches(&other, 2);
    other_answers(&other);
    assert_true(read_sum(streamer, group, "Active") > 0);
    other_end(&other, 0);
    OK(zetMetricStreamerClose(streamer));
}

/* A streamer is killed; who told it of launches goes on, and tells the next one. */
static void test_killed_streamer(void **state)
{
    struct e2e *e = *state;
    zet_metric_group_handle_t group;
    struct other first = other_start("stream", "1"), other = other_start("launch", "1");
    other_launches(&other, 5);
    other_answers(&other);
    other_end(&first, SIGKILL);
    other_launches(&other, 5);
    other_answers(&other);
    zet_metric_streamer_handle_t streamer = open_stream(e, "ZscopeInstructions", &group);
    other_launches(&other, 5);
    other_answers(&other);
    expect_sum(streamer, group, "Launches", 5);
    other_end(&other, 0);
    OK(zetMetricStreamerClose(streamer));
}

static atomic_bool launched;

static void *launch_many(void *e)
{
    for (int i = 0; i < 10; i++)
        launch_often(e, 100);
    atomic_store(&launched, true);
    return NULL;
}

/* Reading and launching at the same time: each launch is in one report, or in parts of several. */
static void test_reading_meanwhile(void **state)
{
    struct e2e *e = *state;
    zet_metric_group_handle_t group;
    pthread_t thread;
    zet_metric_streamer_handle_t streamer = open_stream(e, "ZscopeInstructions", &group);
    uint64_t sum = 0;
    launch_often(e, 1); /* makes the kernel */
    atomic_store(&launched, false);
    assert_int_equal(pthread_create(&thread, NULL, launch_many, e), 0);
    while (!atomic_load(&launched))
        sum += read_sum(streamer, group, "Launches");
    pthread_join(thread, NULL);
    expect_sum(streamer, group, "Launches", 1001 - sum);
    OK(zetMetricStreamerClose(streamer));
}

static int setup_folder(void **state)
{
    static char folder[] = "/tmp/zescope-test-XXXXXX";
    return !mkdtemp(folder) || setenv("XDG_RUNTIME_DIR", folder, 1) ? -1 : setup(state);
}

static int teardown_folder(void **state)
{
    int failed = teardown(state);
    return rmdir(getenv("XDG_RUNTIME_DIR")) || failed ? -1 : 0;
}

int main(int argc, char **argv)
{
    self = argv[0];
    signal(SIGPIPE, SIG_IGN);
    if (argc == 3)
        return child_main(argv[1], argv[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_other_processes),
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_killed_streamer),
        cmocka_unit_test(test_reading_meanwhile),
    };
    return cmocka_run_group_tests(tests, setup_folder, teardown_folder);
}
