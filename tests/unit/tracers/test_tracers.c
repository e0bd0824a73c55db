/* SPDX-License-Identifier: MIT */
#include "../test.h"

#include "tracers/tracers.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CALL_ADD, CALL_OUTER, CALL_COUNT };

static struct zs_trace_set set = {.call_count = CALL_COUNT};

static int32_t traced_add(int a, int b)
{
    void *params[] = {&a, &b};
    struct zs_trace_frame frame;
    bool traced = zs_trace_enter(&set, CALL_ADD, params, 2, &frame);
    int32_t result = a + b;
    return traced ? zs_trace_exit(CALL_ADD, params, 2, result, &frame) : result;
}

struct log {
    char text[256];
    bool nest;
};

static void log_any(const struct zs_trace_event *event, void *user_data, void **instance_data)
{
    struct log *log = user_data;
    strcat(log->text, event->is_exit ? "x" : "e");
    if (!event->is_exit) {
        assert_null(*instance_data);
        *instance_data = log;
        if (log->nest)
            assert_int_equal(traced_add(100, 1), 101);
    } else {
        assert_ptr_equal(*instance_data, log);
    }
}

static void change_params(void *params, int32_t result, void *user_data, void **instance_data)
{
    *((int **)params)[1] = 40;
}

static void change_result(const struct zs_trace_event *event, void *user_data, void **instance_data)
{
    if (event->is_exit)
        *event->result += 1000;
}

static void pairs_and_changes(void **state)
{
    struct log log = {.nest = false};
    struct zs_tracer *a, *b;
    assert_int_equal(zs_tracer_new(&set, &log, &a), 0);
    assert_int_equal(zs_tracer_set_any(a, log_any), 0);
    assert_int_equal(traced_add(1, 2), 3);
    assert_string_equal(log.text, "");
    assert_int_equal(zs_tracer_enable(a, true), 0);
    assert_int_equal(zs_tracer_set_any(a, NULL), -EBUSY);
    assert_int_equal(zs_tracer_new(&set, NULL, &b), 0);
    assert_int_equal(zs_tracer_set_enter(b, CALL_ADD, change_params), 0);
    assert_int_equal(zs_tracer_set_enter(b, CALL_COUNT, change_params), -EINVAL);
    assert_int_equal(zs_tracer_set_any(b, change_result), 0);
    assert_int_equal(zs_tracer_enable(b, true), 0);
    assert_int_equal(traced_add(1, 2), 1041);
    assert_string_equal(log.text, "ex");
    assert_int_equal(zs_tracer_free(b), 0);
    assert_int_equal(traced_add(1, 2), 3);
    assert_string_equal(log.text, "exex");
    assert_int_equal(zs_tracer_free(a), 0);
    assert_int_equal(traced_add(1, 2), 3);
    assert_string_equal(log.text, "exex");
}

static void own_calls_in_callbacks_are_not_traced_again(void **state)
{
    struct log a_log = {.nest = true}, b_log = {.nest = false};
    struct zs_tracer *a, *b;
    assert_int_equal(zs_tracer_new(&set, &a_log, &a), 0);
    assert_int_equal(zs_tracer_new(&set, &b_log, &b), 0);
    zs_tracer_set_any(a, log_any);
    zs_tracer_set_any(b, log_any);
    zs_tracer_enable(a, true);
    zs_tracer_enable(b, true);
    assert_int_equal(traced_add(1, 2), 3);
    assert_string_equal(a_log.text, "ex");
    assert_string_equal(b_log.text, "exex"); /* the nested call, then the outer one */
    zs_tracer_free(a);
    zs_tracer_free(b);
}

static void filter_limits_generic_callbacks(void **state)
{
    struct log log = {.nest = false};
    struct zs_tracer *a;
    assert_int_equal(zs_tracer_new(&set, &log, &a), 0);
    zs_tracer_set_any(a, log_any);
    const uint64_t only_outer = UINT64_C(1) << CALL_OUTER;
    assert_int_equal(zs_tracer_set_filter(a, &only_outer, 1), 0);
    zs_tracer_enable(a, true);
    traced_add(1, 2);
    assert_string_equal(log.text, "");
    zs_tracer_free(a);
}

static struct zs_tracer *self_tracer;

static void free_own(void *params, int32_t result, void *user_data, void **instance_data)
{
    *(int *)user_data = zs_tracer_free(self_tracer);
}

static void freeing_inside_own_pair_is_refused(void **state)
{
    int seen = 1;
    assert_int_equal(zs_tracer_new(&set, &seen, &self_tracer), 0);
    zs_tracer_set_enter(self_tracer, CALL_ADD, free_own);
    zs_tracer_enable(self_tracer, true);
    traced_add(1, 1);
    assert_int_equal(seen, -EDEADLK);
    assert_null(atomic_load(&set.current));
    assert_int_equal(zs_tracer_free(self_tracer), 0);
}

static void too_many_are_refused(void **state)
{
    struct zs_tracer *tracers[ZS_TRACERS_MAX + 1];
    for (size_t i = 0; i <= ZS_TRACERS_MAX; i++) {
        assert_int_equal(zs_tracer_new(&set, NULL, &tracers[i]), 0);
        assert_int_equal(zs_tracer_enable(tracers[i], true), i < ZS_TRACERS_MAX ? 0 : -ENOSPC);
    }
    assert_int_equal(traced_add(1, 2), 3);
    for (size_t i = 0; i <= ZS_TRACERS_MAX; i++)
        assert_int_equal(zs_tracer_free(tracers[i]), 0);
}

/* The storm: callers count what they enter and leave; another thread enables, disables and frees
 * tracers at random. A pair that is torn, or a callback after its tracer was freed, is seen. */
struct storm_tracer {
    atomic_bool alive;
    atomic_long open, pairs;
};

static void storm_any(const struct zs_trace_event *event, void *user_data, void **instance_data)
{
    struct storm_tracer *s = user_data;
    if (!atomic_load(&s->alive))
        abort();
    if (event->is_exit) {
        if (*instance_data != (void *)event->params)
            abort();
        atomic_fetch_sub(&s->open, 1);
        atomic_fetch_add(&s->pairs, 1);
    } else {
        atomic_fetch_add(&s->open, 1);
        *instance_data = (void *)event->params;
    }
}

static atomic_bool storm_stop;

static void *storm_caller(void *arg)
{
    long *calls = arg;
    while (!atomic_load_explicit(&storm_stop, memory_order_relaxed)) {
        if (traced_add(2, 3) != 5)
            abort();
        ++*calls;
    }
    return NULL;
}

static void storm(void **state)
{
    enum { CALLERS = 3, ROUNDS = 400, PAIRS = 100000 };
    pthread_t threads[CALLERS];
    long calls[CALLERS] = {0}, pairs = 0;
    atomic_store(&storm_stop, false);
    for (size_t i = 0; i < CALLERS; i++)
        pthread_create(&threads[i], NULL, storm_caller, &calls[i]);
    unsigned seed = 1;
    for (size_t round = 0; round < ROUNDS || pairs < PAIRS; round++) {
        struct storm_tracer s[2] = {{.alive = true}, {.alive = true}};
        struct zs_tracer *t[2];
        for (size_t i = 0; i < 2; i++) {
            assert_int_equal(zs_tracer_new(&set, &s[i], &t[i]), 0);
            zs_tracer_set_any(t[i], storm_any);
        }
        for (int step = rand_r(&seed) % 8; step >= 0; step--) {
            assert_int_equal(zs_tracer_enable(t[rand_r(&seed) % 2], rand_r(&seed) % 2), 0);
            for (volatile int spin = rand_r(&seed) % 20000; spin > 0; spin--)
                ;
        }
        for (size_t i = 0; i < 2; i++) {
            assert_int_equal(zs_tracer_free(t[i]), 0);
            atomic_store(&s[i].alive, false);
            assert_int_equal(atomic_load(&s[i].open), 0);
            pairs += atomic_load(&s[i].pairs);
        }
    }
    atomic_store(&storm_stop, true);
    for (size_t i = 0; i < CALLERS; i++)
        pthread_join(threads[i], NULL);
    assert_null(atomic_load(&set.current));
}

static atomic_bool held;

static void hold(void *params, int32_t result, void *user_data, void **instance_data)
{
    atomic_store(&held, true);
    while (!atomic_load(&storm_stop))
        sched_yield();
}

static void *hold_caller(void *arg)
{
    traced_add(1, 1);
    return NULL;
}

/* After fork the parent's other threads are gone: what they had under way must not block. */
static void fork_forgets_other_threads(void **state)
{
    struct zs_tracer *t;
    pthread_t thread;
    atomic_store(&storm_stop, false);
    assert_int_equal(zs_tracer_new(&set, NULL, &t), 0);
    zs_tracer_set_enter(t, CALL_ADD, hold);
    zs_tracer_enable(t, true);
    pthread_create(&thread, NULL, hold_caller, NULL);
    while (!atomic_load(&held))
        sched_yield();
    pid_t pid = fork();
    if (pid == 0) {
        alarm(200);
        _exit(zs_tracer_free(t) == 0 ? 0 : 1);
    }
    int status;
    waitpid(pid, &status, 0);
    atomic_store(&storm_stop, true);
    pthread_join(thread, NULL);
    assert_int_equal(zs_tracer_free(t), 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* Forks inside a call, while another thread is inside one, too. */
static pid_t forked;

static void fork_inside(void *params, int32_t result, void *user_data, void **instance_data)
{
    if (**((int **)params) == 7)
        forked = fork();
}

static atomic_bool waits;

static void wait_for_stop(void *params, int32_t result, void *user_data, void **instance_data)
{
    if (**((int **)params) == 7)
        return;
    atomic_store(&waits, true);
    while (!atomic_load(&storm_stop))
        sched_yield();
}

/* The child's own call goes on in pairs, as deep as it was. */
static int live_on(struct zs_tracer *t, struct log *log)
{
    if (strcmp(log->text, "ex") != 0)
        return 1;
    for (int i = 0; i < 2 * ZS_TRACE_DEPTH_MAX; i++)
        if (traced_add(1, i) != 1 + i)
            return 2;
    if (strlen(log->text) != 2 + 4 * ZS_TRACE_DEPTH_MAX)
        return 3;
    if (atomic_load(&set.untraced))
        return 4;
    return zs_tracer_free(t) == 0 ? 0 : 5;
}

static void fork_inside_a_call(void **state)
{
    struct zs_tracer *holder, *forker, *logger;
    struct log log = {.nest = false};
    pthread_t thread;
    atomic_store(&storm_stop, false);
    assert_int_equal(zs_tracer_new(&set, NULL, &holder), 0);
    zs_tracer_set_enter(holder, CALL_ADD, wait_for_stop);
    zs_tracer_enable(holder, true);
    pthread_create(&thread, NULL, hold_caller, NULL);
    while (!atomic_load(&waits))
        sched_yield();
    zs_tracer_enable(holder, false); /* its pair is still under way */
    assert_int_equal(zs_tracer_new(&set, &log, &logger), 0);
    zs_tracer_set_any(logger, log_any);
    zs_tracer_enable(logger, true);
    assert_int_equal(zs_tracer_new(&set, NULL, &forker), 0);
    zs_tracer_set_enter(forker, CALL_ADD, fork_inside);
    zs_tracer_enable(forker, true);
    assert_int_equal(traced_add(7, 1), 8);
    if (forked == 0) {
        alarm(200);
        _exit(live_on(logger, &log));
    }
    int status;
    waitpid(forked, &status, 0);
    atomic_store(&storm_stop, true);
    pthread_join(thread, NULL);
    assert_int_equal(zs_tracer_free(forker), 0);
    assert_int_equal(zs_tracer_free(logger), 0);
    assert_int_equal(zs_tracer_free(holder), 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void *cancelled_caller(void *arg)
{
    int a = 1, b = 2;
    void *params[] = {&a, &b};
    struct zs_trace_frame frame;
    bool *traced = arg;
    *traced = zs_trace_enter(&set, CALL_ADD, params, 2, &frame);
    pthread_exit(NULL); /* as if it were cancelled where the driver waits */
}

/* A thread that ends inside a call takes its announcement with it: freeing does not wait for it. */
static void cancelled_threads_do_not_block(void **state)
{
    struct log log = {.nest = false};
    struct zs_tracer *t;
    pthread_t thread;
    bool traced = false;
    assert_int_equal(zs_tracer_new(&set, &log, &t), 0);
    zs_tracer_set_any(t, log_any);
    zs_tracer_enable(t, true);
    pthread_create(&thread, NULL, cancelled_caller, &traced);
    pthread_join(thread, NULL);
    assert_true(traced);
    alarm(200);
    assert_int_equal(zs_tracer_free(t), 0);
    alarm(0);
    assert_string_equal(log.text, "e");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_and_changes),
        cmocka_unit_test(own_calls_in_callbacks_are_not_traced_again),
        cmocka_unit_test(filter_limits_generic_callbacks),
        cmocka_unit_test(freeing_inside_own_pair_is_refused),
        cmocka_unit_test(too_many_are_refused),
        cmocka_unit_test(storm),
        cmocka_unit_test(fork_forgets_other_threads),
        cmocka_unit_test(fork_inside_a_call),
        cmocka_unit_test(cancelled_threads_do_not_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
