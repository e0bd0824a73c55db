/* SPDX-License-Identifier: MIT */
/* Applications that meddle with descriptors, children, signals, limits: ours must not show. */
#include "common.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t child_signals;

static void on_child(int number)
{
    child_signals++;
}

/* A thread that waits for any child all the time must never see one. */
static void *wait_always(void *arg)
{
    volatile bool *stop = arg;
    while (!*stop) {
        if (waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD)
            return (void *)1;
    }
    return NULL;
}

static void test_no_children(void **state)
{
    volatile bool stop = false;
    pthread_t thread;
    void *seen;
    struct sigaction action = {.sa_handler = on_child}, before;
    sigaction(SIGCHLD, &action, &before);
    pthread_create(&thread, NULL, wait_always, (void *)&stop);
    for (int i = 0; i < 5; i++) {
        struct zs_compiler *compiler = start(plain_settings());
        assert_made(compiler, "a");
        assert_int_equal(build(compiler, "crash").status, ZS_COMPILER_BUILD_FAILED);
        zs_compiler_destroy(compiler);
        await_helper_processes(getpid(), 0);
    }
    stop = true;
    pthread_join(thread, &seen);
    sigaction(SIGCHLD, &before, NULL);
    assert_null(seen);
    assert_int_equal(child_signals, 0);
}

static void test_ignored_and_blocked(void **state)
{
    sigset_t all, before;
    struct sigaction ignore = {.sa_handler = SIG_IGN}, old;
    sigaction(SIGCHLD, &ignore, &old);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    struct zs_compiler *compiler = start(plain_settings());
    assert_made(compiler, "a");
    assert_int_equal(build(compiler, "crash").status, ZS_COMPILER_BUILD_FAILED);
    assert_made(compiler, "b");
    zs_compiler_destroy(compiler);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    sigaction(SIGCHLD, &old, NULL);
}

/* Signals interrupt every wait. */
static void *interrupt(void *arg)
{
    for (int i = 0; i < 300; i++) {
        pthread_kill(*(pthread_t *)arg, SIGUSR1);
        usleep(1000);
    }
    return NULL;
}

static void test_interrupted(void **state)
{
    pthread_t thread, self = pthread_self();
    struct sigaction action = {.sa_handler = on_child};
    sigaction(SIGUSR1, &action, NULL);
    struct zs_compiler *compiler = start(plain_settings());
    pthread_create(&thread, NULL, interrupt, &self);
    assert_made(compiler, "sleep 200");
    assert_int_equal(build(compiler, "big 10000000").made_B, 10000000);
    pthread_join(thread, NULL);
    zs_compiler_destroy(compiler);
}

/* ---- Descriptors ---- */

enum { FILES = 8 };

/* As daemons do; then the numbers are files of the application's own. */
static void close_all_and_open(int files[FILES])
{
    for (int fd = 3; fd < 64; fd++)
        close(fd);
    for (int i = 0; i < FILES; i++) {
        char path[128];
        snprintf(path, sizeof(path), "%s/../own%d", cache_folder(), i);
        files[i] = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
        if (files[i] < 0 || write(files[i], "the application's", 16) != 16)
            _exit(3);
    }
}

static void descriptors_are_closed(void *ctx)
{
    int files[FILES];
    struct zs_compiler *compiler = start(plain_settings());
    assert_made(compiler, "before");
    for (int round = 0; round < 3; round++) {
        close_all_and_open(files);
        assert_made(compiler, "after");
    }
    close_all_and_open(files);
    zs_compiler_destroy(compiler);
    for (int i = 0; i < FILES; i++) {
        struct stat st;
        assert_int_equal(fstat(files[i], &st), 0); /* open as before */
        assert_int_equal(st.st_size, 16);
    }
}

static void test_closed_descriptors(void **state)
{
    clear_cache();
    in_child(descriptors_are_closed, NULL);
}

/* A socket of the application's with the number of ours gets nothing either. */
static void sockets_are_replaced(void *ctx)
{
    struct zs_compiler *compiler = start(plain_settings());
    assert_made(compiler, "before");
    for (int fd = 3; fd < 64; fd++)
        close(fd);
    int pairs[4][2];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pipe2(pairs[i], O_NONBLOCK), 0);
    assert_made(compiler, "after");
    zs_compiler_destroy(compiler);
    for (int i = 0; i < 4; i++) {
        char byte;
        assert_int_equal(write(pairs[i][1], "x", 1), 1);
        assert_int_equal(read(pairs[i][0], &byte, 1), 1);
        assert_int_equal(byte, 'x');
        assert_int_equal(read(pairs[i][0], &byte, 1), -1);
    }
}

static void test_replaced_descriptors(void **state)
{
    in_child(sockets_are_replaced, NULL);
}

static void no_descriptors_are_left(void *ctx)
{
    struct rlimit limit, none;
    struct zs_compiler *compiler = start(plain_settings());
    getrlimit(RLIMIT_NOFILE, &limit);
    none = limit;
    none.rlim_cur = 3;
    setrlimit(RLIMIT_NOFILE, &none);
    struct result refused = build(compiler, "a");
    setrlimit(RLIMIT_NOFILE, &limit);
    assert_int_equal(refused.status, ZS_COMPILER_UNAVAILABLE);
    assert_non_null(strstr(refused.log, "Too many open files"));
    assert_made(compiler, "a");
    zs_compiler_destroy(compiler);
}

static void test_no_descriptors(void **state)
{
    in_child(no_descriptors_are_left, NULL);
}

/* The helper has nothing of the application's open: a pipe ends when the application closes it. */
static void test_keeps_nothing_open(void **state)
{
    int ends[2];
    char byte;
    assert_int_equal(pipe(ends), 0); /* not close-on-exec */
    struct zs_compiler *compiler = start(plain_settings());
    assert_made(compiler, "a");
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 0);
    close(ends[0]);
    zs_compiler_destroy(compiler);
}

/* ---- Processes ---- */

static void no_processes_are_left(void *ctx)
{
    struct rlimit none = {0, 0};
    if (geteuid() == 0)
        assert_int_equal(setresuid(65534, 65534, 65534), 0);
    setrlimit(RLIMIT_NPROC, &none);
    struct zs_compiler *compiler = start(plain_settings());
    struct result refused = build(compiler, "a");
    assert_int_equal(refused.status, ZS_COMPILER_UNAVAILABLE);
    assert_non_null(strstr(refused.log, "cannot be started: Resource temporarily unavailable"));
    zs_compiler_destroy(compiler);
}

static void test_no_processes(void **state)
{
    in_child(no_processes_are_left, NULL);
}

static void test_no_helper(void **state)
{
    static const char *const paths[] = {"/nowhere/zescope-compiler", "/dev/null", "/bin/false"};
    for (size_t i = 0; i < ZS_ARRAY_LEN(paths); i++) {
        struct zs_compiler_settings settings = plain_settings();
        settings.helper = paths[i];
        struct zs_compiler *compiler = start(settings);
        struct result refused = build(compiler, "a");
        assert_int_equal(refused.status, ZS_COMPILER_UNAVAILABLE);
        assert_non_null(strstr(refused.log, paths[i]));
        zs_compiler_destroy(compiler);
    }
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void test_no_compiler(void **state)
{
    char *before = strdup(getenv("LD_LIBRARY_PATH"));
    /* a library of that name that is none */
    clear_cache();
    char path[128];
    snprintf(path, sizeof(path), "%s/libocloc.so", cache_folder());
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("no library", f);
    fclose(f);
    setenv("LD_LIBRARY_PATH", cache_folder(), 1);
    struct zs_compiler *compiler = start(plain_settings());
    setenv("LD_LIBRARY_PATH", before, 1);
    struct result refused = build(compiler, "a");
    zs_compiler_destroy(compiler);
    free(before);
    /* with Intel's own installed, ld.so goes on looking and finds that: it refuses the input */
    assert_true(refused.status == ZS_COMPILER_UNAVAILABLE ||
                refused.status == ZS_COMPILER_BUILD_FAILED);
    assert_true(refused.log[0] != '\0');
}

static void build_in_child(void *ctx)
{
    struct zs_compiler *compiler = *(struct zs_compiler **)ctx;
    zs_compiler_abandon(compiler);
    struct zs_compiler *own = start(plain_settings());
    assert_made(own, "child");
    assert_int_equal(build(own, "crash").status, ZS_COMPILER_BUILD_FAILED);
    zs_compiler_destroy(own);
}

static void *build_slowly(void *arg)
{
    return (void *)(uintptr_t)(build(arg, "sleep 500").status != ZS_COMPILER_OK);
}

/* Children have a compiler of their own, also when they were forked in the middle of a build. */
static void test_forks(void **state)
{
    struct zs_compiler *compiler = start(plain_settings());
    pthread_t thread;
    void *failed;
    assert_made(compiler, "before");
    pthread_create(&thread, NULL, build_slowly, compiler);
    usleep(100000);
    in_child(build_in_child, &compiler);
    assert_made(compiler, "meanwhile");
    pthread_join(thread, &failed);
    assert_null(failed);
    assert_made(compiler, "after");
    zs_compiler_destroy(compiler);
    await_helper_processes(getpid(), 0);
}

/* A child that has copies of all descriptors, and stays, keeps nothing alive. */
static void test_ends_with_application(void **state)
{
    int ready[2], stays[2];
    char byte;
    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    assert_int_equal(pipe2(stays, O_CLOEXEC), 0);
    pid_t application = fork();
    if (application == 0) {
        struct zs_compiler *compiler = start(plain_settings());
        assert_made(compiler, "a");
        pid_t child = fork();
        if (child == 0) {
            close(stays[1]);
            _exit(read(stays[0], &byte, 1) != 0);
        }
        if (write(ready[1], &child, sizeof(child)) == sizeof(child))
            build(compiler, "spin");
        _exit(1);
    }
    pid_t child = 0;
    assert_int_equal(read(ready[0], &child, sizeof(child)), sizeof(child));
    await_helper_processes(application, 2);
    assert_int_equal(kill(application, SIGKILL), 0);
    assert_int_equal(waitpid(application, NULL, 0), application);
    await_helper_processes(application, 0);
    assert_int_equal(kill(child, 0), 0);
    for (int i = 0; i < 2; i++) {
        close(ready[i]);
        close(stays[i]);
    }
}

/* ---- What nobody waits for ---- */

enum how { KNOWN, BACKGROUND };

static enum zs_compiler_status ask(struct zs_compiler *compiler, const char *input, enum how how)
{
    struct zs_buf binary = {0}, log = {0};
    struct zs_span unit = {(const uint8_t *)input, strlen(input)};
    const struct zs_compiler_request request = {.device = "skl",
                                                .options = "-o",
                                                .internal_options = "",
                                                .unit_count = 1,
                                                .units = &unit,
                                                .only_known = how == KNOWN,
                                                .is_background = how == BACKGROUND};
    enum zs_compiler_status status = zs_compiler_build(compiler, &request, &binary, &log);
    zs_buf_fini(&binary);
    zs_buf_fini(&log);
    return status;
}

/* Another process of the same user's knows that it was asked for. */
static void test_wanted(void **state)
{
    clear_cache();
    struct zs_compiler *first = start(remembering_settings()), *second;
    assert_int_equal(ask(first, "a", KNOWN), ZS_COMPILER_UNAVAILABLE);
    second = start(remembering_settings());
    assert_int_equal(ask(second, "b", KNOWN), ZS_COMPILER_UNAVAILABLE);
    assert_int_equal(ask(second, "a", KNOWN), ZS_COMPILER_WANTED);
    assert_int_equal(helper_processes(getpid(), NULL, 0), 0);
    assert_int_equal(ask(second, "a", BACKGROUND), ZS_COMPILER_OK);
    assert_int_equal(ask(second, "a", KNOWN), ZS_COMPILER_OK);
    zs_compiler_destroy(first);
    zs_compiler_destroy(second);
    first = start(plain_settings()); /* without a cache nobody knows anything */
    assert_int_equal(ask(first, "a", KNOWN), ZS_COMPILER_UNAVAILABLE);
    assert_int_equal(ask(first, "a", KNOWN), ZS_COMPILER_UNAVAILABLE);
    zs_compiler_destroy(first);
}

/* A process that builds and is killed: whether the result is there afterwards. */
static bool is_kept(const char *input, enum how how)
{
    pid_t application = fork();
    if (application == 0) {
        struct zs_compiler *compiler = start(remembering_settings());
        if (how == BACKGROUND)
            ask(compiler, input, how);
        else
            build(compiler, input);
        _exit(1);
    }
    await_helper_processes(application, 2);
    usleep(100000); /* the worker has the request */
    assert_int_equal(kill(application, SIGKILL), 0);
    assert_int_equal(waitpid(application, NULL, 0), application);
    await_helper_processes(application, 0);
    struct zs_compiler *compiler = start(remembering_settings());
    bool kept = ask(compiler, input, KNOWN) == ZS_COMPILER_OK;
    if (kept) {
        assert_made(compiler, input);
        assert_int_equal(counts(compiler).compiled, 0);
    }
    zs_compiler_destroy(compiler);
    return kept;
}

static void test_outlives_the_application(void **state)
{
    clear_cache();
    assert_true(is_kept("sleep 700", BACKGROUND));
    assert_false(is_kept("sleep 701", KNOWN)); /* somebody waited for that one */
}

/* Signals to the application's group and terminal are not for the helper. */
static void signal_the_group(void *ctx)
{
    setpgid(0, 0);
    struct zs_compiler *compiler = start(plain_settings());
    assert_made(compiler, "before");
    signal(SIGTERM, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    kill(0, SIGTERM);
    kill(0, SIGINT);
    pid_t before[2], after[2];
    assert_int_equal(helper_processes(getpid(), before, 2), 2);
    assert_made(compiler, "after");
    assert_int_equal(helper_processes(getpid(), after, 2), 2);
    assert_memory_equal(before, after, sizeof(before));
    zs_compiler_destroy(compiler);
}

static void test_group(void **state)
{
    in_child(signal_the_group, NULL);
}

/* Orphans become children of such a process: after a build there are none. */
static void adopt(void *ctx)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    struct zs_compiler *compiler = start(plain_settings());
    for (int i = 0; i < 3; i++) {
        assert_made(compiler, "a");
        assert_int_equal(waitpid(-1, NULL, 0), -1);
        assert_int_equal(errno, ECHILD);
    }
    zs_compiler_destroy(compiler);
}

static void test_adopting(void **state)
{
    in_child(adopt, NULL);
}

/* ---- The environment ---- */

static void test_environment(void **state)
{
    /* would end any process that it is preloaded into with a message of the dynamic linker */
    setenv("LD_DEBUG", "all", 1);
    setenv("LD_PRELOAD", "/nowhere/libpreload.so", 1);
    struct zs_compiler *compiler = start(plain_settings());
    unsetenv("LD_DEBUG");
    unsetenv("LD_PRELOAD");
    struct result result = build(compiler, "say it");
    assert_int_equal(result.status, ZS_COMPILER_OK);
    assert_null(strstr(result.log, "libpreload"));
    pid_t pids[1];
    char path[64], text[1 << 16];
    assert_in_range(helper_processes(getpid(), pids, 1), 1, 8);
    snprintf(path, sizeof(path), "/proc/%d/environ", (int)pids[0]);
    FILE *f = fopen(path, "r");
    size_t size_B = f ? fread(text, 1, sizeof(text), f) : 0;
    if (f)
        fclose(f);
    assert_non_null(memmem(text, size_B, "LD_LIBRARY_PATH=", 16));
    assert_null(memmem(text, size_B, "LD_PRELOAD=", 11));
    assert_null(memmem(text, size_B, "LD_DEBUG=", 9));
    zs_compiler_destroy(compiler);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_children),
        cmocka_unit_test(test_ignored_and_blocked),
        cmocka_unit_test(test_interrupted),
        cmocka_unit_test(test_closed_descriptors),
        cmocka_unit_test(test_replaced_descriptors),
        cmocka_unit_test(test_no_descriptors),
        cmocka_unit_test(test_keeps_nothing_open),
        cmocka_unit_test(test_no_processes),
        cmocka_unit_test(test_no_helper),
        cmocka_unit_test(test_no_compiler),
        cmocka_unit_test(test_forks),
        cmocka_unit_test(test_ends_with_application),
        cmocka_unit_test(test_wanted),
        cmocka_unit_test(test_outlives_the_application),
        cmocka_unit_test(test_group),
        cmocka_unit_test(test_adopting),
        cmocka_unit_test(test_environment),
    };
    setup(argc, argv);
    int failed = cmocka_run_group_tests_name("compiler and its host", tests, NULL, NULL);
    teardown();
    return failed;
}
