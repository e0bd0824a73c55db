/* SPDX-License-Identifier: MIT */
/* Builds, and what a compiler may do to them: nothing but fail. */
#include "common.h"

#include "base/sanitizer.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void test_builds(void **state)
{
    struct zs_compiler *compiler = start(plain_settings());
    assert_made(compiler, "first");
    assert_made(compiler, "second");
    struct result failed = build(compiler, "fail");
    assert_int_equal(failed.status, ZS_COMPILER_BUILD_FAILED);
    assert_string_equal(failed.log, "it does not compile\n");
    assert_int_equal(failed.made_B, 0);
    assert_made(compiler, "third");
    assert_int_equal(counts(compiler).compiled, 4);
    zs_compiler_destroy(compiler);
    await_helper_processes(getpid(), 0);
}

static void test_links(void **state)
{
    struct zs_compiler *compiler = start(plain_settings());
    struct zs_span units[ZS_COMPILER_UNITS_MAX + 1];
    for (size_t i = 0; i <= ZS_COMPILER_UNITS_MAX; i++)
        units[i] = (struct zs_span){(const uint8_t *)"unit", 4};
    struct zs_compiler_request request = {
        .device = "kbl", .options = "", .internal_options = "-i", .unit_count = 3, .units = units};
    struct zs_buf binary = {0}, log = {0};
    assert_int_equal(zs_compiler_build(compiler, &request, &binary, &log), ZS_COMPILER_OK);
    assert_string_equal(zs_buf_cstr(&binary), "made:1:made:3:unit:::kbl:");
    request.unit_count = ZS_COMPILER_UNITS_MAX + 1;
    assert_int_equal(zs_compiler_build(compiler, &request, &binary, &log), ZS_COMPILER_LINK_FAILED);
    zs_buf_fini(&binary);
    zs_buf_fini(&log);
    zs_compiler_destroy(compiler);
}

/* Sockets hold some hundred kilobytes: both ways take many turns. */
static void test_large(void **state)
{
    const size_t size_B = 20 << 20;
    struct zs_compiler *compiler = start(plain_settings());
    assert_int_equal(build(compiler, "big 50000000").made_B, 50000000);
    char *input = malloc(size_B + 1);
    assert_non_null(input);
    memset(input, 'y', size_B);
    input[size_B] = '\0';
    assert_int_equal(build(compiler, input).made_B, size_B + strlen("made:1::skl:-o"));
    free(input);
    zs_compiler_destroy(compiler);
}

struct misdeed {
    const char *input, *says;
};

static void survive(struct zs_compiler_settings settings, const struct misdeed *rows, size_t count)
{
    struct zs_compiler *compiler = start(settings);
    for (size_t i = 0; i < count; i++) {
        struct result result = build(compiler, rows[i].input);
        assert_int_equal(result.status, ZS_COMPILER_BUILD_FAILED);
        if (!strstr(result.log, rows[i].says))
            fail_msg("%s: \"%s\"", rows[i].input, result.log);
        assert_made(compiler, "after it");
    }
    zs_compiler_destroy(compiler);
    await_helper_processes(getpid(), 0); /* also what hung */
}

static void test_survives(void **state)
{
    static const struct misdeed rows[] = {
        {"crash", "crashed on this input (signal 11)"},
        {"overflow", "crashed on this input (signal 11)"},
        {"abort", "crashed on this input (signal 6)"},
        {"exit 7", "it ended with 7"},
        {"exit 0", "it ended with 0"},
        {"exit 86", "it ended with 86"},
    /* The sanitizers' allocators end the process themselves, and need address space to say so. */
#if !ZS_HAS_ASAN && !ZS_HAS_TSAN
        {"eat", "fake: out of memory"},
#endif
    };
    struct zs_compiler_settings settings = plain_settings();
    settings.memory_limit_B = 512 << 20;
    survive(settings, rows, ZS_ARRAY_LEN(rows));
}

/* On a busy machine the second limit, of anybody's time, may come before that of processor time. */
static void test_survives_hangs(void **state)
{
    static const struct misdeed rows[] = {{"spin", "the compiler did not "},
                                          {"hang", "the compiler did not answer within 4 s"}};
    struct zs_compiler_settings settings = plain_settings();
    settings.time_limit_ns = 2000000000;
    survive(settings, rows, ZS_ARRAY_LEN(rows));
}

/* What the compiler prints is part of the log, and nobody else's. */
static void test_prints(void **state)
{
    int out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO);
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(NULL);
    dup2(fileno(file), STDOUT_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    struct zs_compiler *compiler = start(plain_settings());
    struct result first = build(compiler, "say one"), second = build(compiler, "say two");
    zs_compiler_destroy(compiler);
    struct stat st;
    fstat(fileno(file), &st);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    close(out);
    close(err);
    fclose(file);
    assert_int_equal(st.st_size, 0);
    assert_non_null(strstr(first.log, "said one"));
    assert_non_null(strstr(first.log, "[warned one]"));
    assert_non_null(strstr(second.log, "said two"));
    assert_null(strstr(second.log, "one"));
}

/* ---- Threads ---- */

enum { THREADS = 16, PER_THREAD = 40 };

struct worker {
    struct zs_compiler *compiler;
    int index, wrong;
};

static void *build_many(void *arg)
{
    struct worker *w = arg;
    for (int i = 0; i < PER_THREAD; i++) {
        char input[64], expected[128];
        int kind = (w->index + i) % 8;
        snprintf(input, sizeof(input), kind == 0 ? "abort %d.%d" : "input %d.%d", w->index, i);
        snprintf(expected, sizeof(expected), "made:1:%s:skl:-o", input);
        struct result result = build(w->compiler, input);
        if (kind == 0)
            w->wrong += result.status != ZS_COMPILER_BUILD_FAILED;
        else
            w->wrong += result.status != ZS_COMPILER_OK || strcmp(result.made, expected) != 0;
    }
    return NULL;
}

static int in_threads(struct zs_compiler *compiler, void *(*fn)(void *))
{
    pthread_t threads[THREADS];
    struct worker workers[THREADS];
    int wrong = 0;
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.compiler = compiler, .index = i};
        assert_int_equal(pthread_create(&threads[i], NULL, fn, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        wrong += workers[i].wrong;
    }
    return wrong;
}

static void test_threads(void **state)
{
    struct zs_compiler *compiler = start(plain_settings());
    assert_int_equal(in_threads(compiler, build_many), 0);
    assert_int_equal(counts(compiler).compiled, THREADS * PER_THREAD);
    zs_compiler_destroy(compiler);
}

static void *build_same(void *arg)
{
    struct worker *w = arg;
    struct result slow = build(w->compiler, "sleep 300");
    w->wrong += strcmp(slow.made, "made:1:sleep 300:skl:-o") != 0;
    return NULL;
}

/* One build for all who want the same at the same time; a failure is theirs, too, and is not kept.
 */
static void test_shares(void **state)
{
    struct zs_compiler_settings settings = remembering_settings();
    settings.cache_folder = "";
    struct zs_compiler *compiler = start(settings);
    assert_int_equal(in_threads(compiler, build_same), 0);
    assert_int_equal(counts(compiler).compiled, 1);
    assert_int_equal(counts(compiler).from_memory, THREADS - 1);
    assert_int_equal(build(compiler, "fail").status, ZS_COMPILER_BUILD_FAILED);
    assert_int_equal(build(compiler, "fail").status, ZS_COMPILER_BUILD_FAILED);
    assert_int_equal(counts(compiler).compiled, 3);
    assert_int_equal(build_with(compiler, "sleep 300", "-p").status, ZS_COMPILER_OK);
    assert_int_equal(counts(compiler).compiled, 4);
    zs_compiler_destroy(compiler);
}

/* Memory holds what was used last. */
static void test_memory_is_bounded(void **state)
{
    struct zs_compiler_settings settings = remembering_settings();
    settings.cache_folder = "";
    settings.cache_memory_B = 1 << 20;
    struct zs_compiler *compiler = start(settings);
    for (int i = 0; i < 9; i++) { /* 9 times 120000 do not fit */
        char input[32];
        snprintf(input, sizeof(input), "big 12000%d", i);
        assert_int_equal(build(compiler, input).status, ZS_COMPILER_OK);
        assert_int_equal(build(compiler, "big 120000").status, ZS_COMPILER_OK); /* in use */
    }
    assert_int_equal(counts(compiler).compiled, 9);
    assert_int_equal(build(compiler, "big 120000").status, ZS_COMPILER_OK);
    assert_int_equal(build(compiler, "big 120008").status, ZS_COMPILER_OK);
    assert_int_equal(counts(compiler).compiled, 9);
    assert_int_equal(build(compiler, "big 120001").status, ZS_COMPILER_OK);
    assert_int_equal(counts(compiler).compiled, 10);
    assert_int_equal(build(compiler, "big 500000").status, ZS_COMPILER_OK);
    assert_int_equal(build(compiler, "big 500000").status, ZS_COMPILER_OK); /* too large to keep */
    assert_int_equal(counts(compiler).compiled, 12);
    zs_compiler_destroy(compiler);
}

/* ---- Processes that are killed ---- */

static void test_killed(void **state)
{
    pid_t pids[16];
    struct zs_compiler *compiler = start(plain_settings());
    assert_made(compiler, "before");
    for (int round = 0; round < 3; round++) {
        int count = helper_processes(getpid(), pids, 16);
        assert_in_range(count, 2, 16);
        for (int i = 0; i < count; i++)
            kill(pids[i], SIGKILL);
        assert_made(compiler, "after");
    }
    zs_compiler_destroy(compiler);
}

static void *kill_soon(void *arg)
{
    pid_t pids[16];
    usleep(200000);
    int count = helper_processes(getpid(), pids, 16);
    for (int i = 0; i < count; i++)
        kill(pids[i], SIGKILL);
    return NULL;
}

static void test_killed_while_building(void **state)
{
    pthread_t thread;
    struct zs_compiler *compiler = start(plain_settings());
    assert_made(compiler, "before");
    pthread_create(&thread, NULL, kill_soon, NULL);
    assert_made(compiler, "sleep 1000");
    pthread_join(thread, NULL);
    zs_compiler_destroy(compiler);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_builds),
        cmocka_unit_test(test_links),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_survives),
        cmocka_unit_test(test_survives_hangs),
        cmocka_unit_test(test_prints),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_memory_is_bounded),
        cmocka_unit_test(test_killed),
        cmocka_unit_test(test_killed_while_building),
    };
    setup(argc, argv);
    int failed = cmocka_run_group_tests_name("compiler", tests, NULL, NULL);
    teardown();
    return failed;
}
