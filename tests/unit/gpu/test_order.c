/* SPDX-License-Identifier: MIT */
/* What orders threads of a launch: atomics, barriers in two halves, named barriers. */
#include "../test.h"

#include "gpu/check.h"

enum { GROUPS = 2, THREADS = 4, X = 0x1000, Y = 0x2000 };

static struct zs_check_order order;
static struct zs_gpu_device *device;

static int setup(void **state)
{
    assert_int_equal(zs_gpu_device_create(zs_gpu_model_find("skl"), 0, &device), 0);
    zs_check_order_init(&order, device, GROUPS, THREADS);
    return 0;
}

static int teardown(void **state)
{
    zs_check_order_fini(&order);
    zs_gpu_device_destroy(device);
    return 0;
}

/* An access now, by a thread that has signalled so many of its group's barriers. */
static struct zs_check_record now(uint32_t group, uint16_t thread, uint32_t signals)
{
    return (struct zs_check_record){
        .group = group, .thread = thread, .signals = signals, .log_at = (uint32_t)order.log.count};
}

static bool is_before(const struct zs_check_record *from, uint32_t group, uint32_t thread,
                      uint32_t passed)
{
    return zs_check_ordered(&order, from, group, thread, passed);
}

static void atomics(void **state)
{
    struct zs_check_record first = now(0, 1, 0);
    zs_check_order_atomic(&order, 0, 1, X, 0);
    struct zs_check_record late = now(0, 1, 0);
    zs_check_order_atomic(&order, 1, 2, X, 0);
    zs_check_order_atomic(&order, 1, 2, Y, 0);
    zs_check_order_atomic(&order, 1, 3, Y, 1); /* local memory: another place */
    assert_true(is_before(&first, 1, 2, 0));
    assert_false(is_before(&late, 1, 2, 0));
    assert_false(is_before(&first, 1, 3, 0));
    zs_check_order_atomic(&order, 1, 3, Y, 0);
    assert_true(is_before(&first, 1, 3, 0));
    zs_check_order_barrier(&order, 1, 1);
    assert_true(is_before(&first, 1, 0, 1));
    assert_false(is_before(&first, 0, 0, 0));
}

/* What is done between signalling and waiting is not before the barrier, nor behind it. */
static void halves(void **state)
{
    struct zs_check_record before = now(0, 0, 0), between = now(0, 0, 1);
    zs_check_order_barrier(&order, 0, 1);
    assert_true(is_before(&before, 0, 1, 1));
    assert_false(is_before(&before, 0, 1, 0)); /* has not waited yet */
    assert_false(is_before(&between, 0, 1, 1));
    zs_check_order_atomic(&order, 0, 0, X, 0); /* an own one changes nothing, again neither */
    zs_check_order_atomic(&order, 0, 0, X, 0);
    zs_check_order_barrier(&order, 0, 2);
    assert_true(is_before(&between, 0, 1, 2));
    assert_false(is_before(&between, 0, 1, 1));
}

/* Who has not waited yet may be behind by an atomic. */
static void halves_and_atomics(void **state)
{
    struct zs_check_record before = now(0, 0, 0);
    zs_check_order_atomic(&order, 0, 0, X, 0);
    zs_check_order_barrier(&order, 0, 1);
    zs_check_order_atomic(&order, 0, 2, X, 0);
    assert_true(is_before(&before, 0, 2, 0));
    assert_false(is_before(&before, 0, 3, 0));
}

/* Threads 0 and 1 produce for 2; 3 has no part in it. */
static void named(void **state)
{
    enum { BARRIER_5 = 5 };
    struct zs_check_record first = now(0, 0, 0);
    zs_check_order_signal(&order, 0, 0, BARRIER_5);
    struct zs_check_record late = now(0, 0, 0);
    struct zs_check_record second = now(0, 1, 0);
    zs_check_order_signal(&order, 0, 1, BARRIER_5);
    zs_check_order_named(&order, 0, BARRIER_5, 1u << 2);
    assert_true(is_before(&first, 0, 2, 0));
    assert_true(is_before(&second, 0, 2, 0));
    assert_false(is_before(&first, 0, 3, 0));
    assert_false(is_before(&first, 0, 1, 0)); /* who produces does not wait */
    assert_false(is_before(&late, 0, 2, 0));
    /* the next time it is another one */
    zs_check_order_signal(&order, 0, 1, BARRIER_5);
    zs_check_order_named(&order, 0, BARRIER_5, 1u << 3);
    assert_false(is_before(&first, 0, 3, 0));
    assert_true(is_before(&second, 0, 3, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(atomics, setup, teardown),
        cmocka_unit_test_setup_teardown(halves, setup, teardown),
        cmocka_unit_test_setup_teardown(halves_and_atomics, setup, teardown),
        cmocka_unit_test_setup_teardown(named, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
