/* SPDX-License-Identifier: MIT */
/* Streamers of several processes: a domain of a device is one process's at a time. */
#include "e2e.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *self;

static ze_result_t open_streamer(const struct e2e *e, const char *name,
                                 zet_metric_streamer_handle_t *ret_streamer)
{
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .samplingPeriod = 1000000};
    zet_metric_group_handle_t group =
        e2e_metric_group(e, name, ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED);
    OK(zetContextActivateMetricGroups(e->context, e->device, 1, &group)); /* nobody is kept out */
    return zetMetricStreamerOpen(e->context, e->device, group, &desc, NULL, ret_streamer);
}

/* ---- Another process ---------------------------------------------------------------------------
 *
 * It opens a streamer, writes the result, and holds it until its input ends; then it closes it and
 * writes that result, too. "fork": it leaves a child behind that lives on. */

static int child_main(const char *group, const char *how)
{
    struct e2e *e = NULL;
    zet_metric_streamer_handle_t streamer;
    void *state = NULL;
    if (e2e_setup(&state))
        return 1;
    e = state;
    ze_result_t result = open_streamer(e, group, &streamer);
    if (!strcmp(how, "fork") && fork() == 0) {
        close(STDOUT_FILENO);
        for (char byte; read(STDIN_FILENO, &byte, 1) > 0;)
            continue;
        _exit(0);
    }
    if (write(STDOUT_FILENO, &result, sizeof(result)) != sizeof(result))
        return 1;
    char byte;
    while (read(STDIN_FILENO, &byte, 1) > 0)
        continue;
    if (result == ZE_RESULT_SUCCESS) {
        result = zetMetricStreamerClose(streamer);
        if (write(STDOUT_FILENO, &result, sizeof(result)) != sizeof(result))
            return 1;
    }
    return e2e_teardown(&state);
}

struct other {
    pid_t pid;
    int in, out;
    ze_result_t result; /* of its zetMetricStreamerOpen */
};

static struct other other_start(const char *group, const char *how)
{
    int in[2], out[2];
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    struct other other = {fork(), in[1], out[0], ZE_RESULT_SUCCESS};
    assert_true(other.pid >= 0);
    if (other.pid == 0) {
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        execl(self, self, group, how, NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    assert_int_equal(read(other.out, &other.result, sizeof(other.result)), sizeof(other.result));
    return other;
}

static void other_end(struct other *other, bool kills)
{
    ze_result_t closed = ZE_RESULT_SUCCESS;
    int status;
    if (kills) {
        assert_int_equal(kill(other->pid, SIGKILL), 0);
        assert_int_equal(waitpid(other->pid, &status, 0), other->pid);
        close(other->in);
    } else {
        close(other->in);
        if (other->result == ZE_RESULT_SUCCESS)
            assert_int_equal(read(other->out, &closed, sizeof(closed)), sizeof(closed));
        OK(closed);
        assert_int_equal(waitpid(other->pid, &status, 0), other->pid);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    close(other->out);
}

static ze_result_t other_tries(const char *group)
{
    struct other other = other_start(group, "hold");
    ze_result_t result = other.result;
    other_end(&other, false);
    return result;
}

/* ---- Tests -------------------------------------------------------------------------------------
 */

static void test_one_at_a_time(void **state)
{
    struct e2e *e = *state;
    zet_metric_streamer_handle_t streamer, second;
    OK(open_streamer(e, "ComputeBasic", &streamer));
    assert_int_equal(other_tries("ComputeBasic"), ZE_RESULT_ERROR_NOT_AVAILABLE);
    assert_int_equal(other_tries("TestOa"), ZE_RESULT_ERROR_NOT_AVAILABLE); /* the same domain */
    assert_int_equal(other_tries("ZscopeInstructions"), ZE_RESULT_SUCCESS);
    OK(zetMetricStreamerClose(streamer));

    struct other other = other_start("ComputeBasic", "hold");
    assert_int_equal(other.result, ZE_RESULT_SUCCESS);
    assert_int_equal(open_streamer(e, "TestOa", &second), ZE_RESULT_ERROR_NOT_AVAILABLE);
    OK(open_streamer(e, "ZscopeInstructions", &second));
    OK(zetMetricStreamerClose(second));
    other_end(&other, false);
    OK(open_streamer(e, "TestOa", &second));
    OK(zetMetricStreamerClose(second));
}

static void test_killed(void **state)
{
    struct e2e *e = *state;
    const char *const how[] = {"hold", "fork"}; /* a child that lives on holds nothing */
    for (size_t i = 0; i < COUNT(how); i++) {
        zet_metric_streamer_handle_t streamer;
        struct other other = other_start("ComputeBasic", how[i]);
        assert_int_equal(other.result, ZE_RESULT_SUCCESS);
        assert_int_equal(open_streamer(e, "ComputeBasic", &streamer),
                         ZE_RESULT_ERROR_NOT_AVAILABLE);
        int keep = dup(other.in); /* its child goes on */
        other_end(&other, true);
        OK(open_streamer(e, "ComputeBasic", &streamer));
        OK(zetMetricStreamerClose(streamer));
        close(keep);
    }
}

/* Without a folder nobody is kept out, and nothing fails. */
static void test_no_folder(void **state)
{
    struct e2e *e = *state;
    zet_metric_streamer_handle_t streamer;
    char *before = strdup(getenv("XDG_RUNTIME_DIR"));
    setenv("XDG_RUNTIME_DIR", "/dev/null/folder", 1);
    OK(open_streamer(e, "ComputeBasic", &streamer));
    assert_int_equal(other_tries("ComputeBasic"), ZE_RESULT_SUCCESS);
    OK(zetMetricStreamerClose(streamer));
    setenv("XDG_RUNTIME_DIR", before, 1);
    free(before);
}

/* What stands where the file would is left alone: it is nobody's lock. */
static void test_strange_file(void **state)
{
    struct e2e *e = *state;
    zet_metric_streamer_handle_t streamer;
    char path[4096];
    ze_device_properties_t p = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    OK(zeDeviceGetProperties(e->device, &p));
    snprintf(path, sizeof(path), "%s/zescope-metrics.%u.%x.0.0.0", getenv("XDG_RUNTIME_DIR"),
             (unsigned)geteuid(), p.deviceId);
    for (int kind = 0; kind < 2; kind++) {
        struct stat st;
        assert_int_equal(kind ? mkfifo(path, 0600) : mkdir(path, 0700), 0);
        OK(open_streamer(e, "ComputeBasic", &streamer));
        OK(zetMetricStreamerClose(streamer));
        assert_int_equal(lstat(path, &st), 0);
        assert_int_equal(kind ? unlink(path) : rmdir(path), 0);
    }
    OK(open_streamer(e, "ComputeBasic", &streamer));
    assert_int_equal(access(path, F_OK), 0);
    OK(zetMetricStreamerClose(streamer));
    assert_int_not_equal(access(path, F_OK), 0); /* nothing is left behind */
}

static int setup_folder(void **state)
{
    static char folder[] = "/tmp/zescope-test-XXXXXX";
    if (!mkdtemp(folder) || setenv("XDG_RUNTIME_DIR", folder, 1))
        return -1;
    return e2e_setup(state);
}

static int teardown_folder(void **state)
{
    int failed = e2e_teardown(state);
    return rmdir(getenv("XDG_RUNTIME_DIR")) || failed ? -1 : 0;
}

int main(int argc, char **argv)
{
    self = argv[0];
    signal(SIGPIPE, SIG_IGN);
    if (argc == 3)
        return child_main(argv[1], argv[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_at_a_time),
        cmocka_unit_test(test_killed),
        cmocka_unit_test(test_no_folder),
        cmocka_unit_test(test_strange_file),
    };
    return cmocka_run_group_tests(tests, setup_folder, teardown_folder);
}
