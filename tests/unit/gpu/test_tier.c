/* SPDX-License-Identifier: MIT */
/*
 * Kernels that become compiled code while they run: results and counts are those of the
 * interpreter, whenever that is; who destroys a kernel or makes a compiler that lies loses nothing.
 */
#include "runner.h"

#include "gpu/gpu_priv.h"

#include "eu/tier/tier.h"

#include <pthread.h>
#include <unistd.h>

enum { ITEMS = 111 * 8 };

struct compiler {
    _Atomic(uint32_t) asked, made;
    bool knows;   /* what it is only asked for */
    bool wants;   /* ... and was asked for before */
    bool lies;    /* blobs of something else */
    bool is_slow; /* until `go` */
    _Atomic(bool) go;
};

static enum zs_gpu_compiled compile(void *context, const struct zs_gpu_compile *what,
                                    struct zs_buf *ret_blob)
{
    struct compiler *c = context;
    c->asked++;
    if (what->only_known && !c->knows)
        return c->wants ? ZS_GPU_COMPILED_WANTED : ZS_GPU_COMPILED_NOT;
    while (c->is_slow && !c->go)
        usleep(1000);
    c->made++;
    if (!c->lies)
        return runner_compile(NULL, what, ret_blob);
    for (unsigned i = 0; i < 500; i++)
        zs_buf_puts(ret_blob, "none");
    return ZS_GPU_COMPILED;
}

static void open_auto(struct runner *r, struct compiler *c, const char *kernel)
{
    runner_open(r, getenv("ZS_TEST_KERNELS"), 2);
    r->compile = compile;
    r->compile_context = c;
    r->at_once = false;
    runner_kernel(r, kernel);
}

static void open_plain(struct runner *r, const char *kernel)
{
    runner_open(r, getenv("ZS_TEST_KERNELS"), 2);
    r->compile = NULL;
    r->at_once = false;
    runner_kernel(r, kernel);
}

static int *launch_groups(struct runner *r, int rounds, uint32_t size, uint32_t groups)
{
    int *in = runner_alloc(r, ITEMS * 4, 0), *out = runner_alloc(r, ITEMS * 4, 0);
    for (int i = 0; i < ITEMS; i++)
        in[i] = i * 7919;
    arg_buffer(r, 0, in);
    arg_buffer(r, 1, out);
    arg_value(r, 2, 4, &rounds);
    runner_ok(r, DIM(groups, 1, 1), DIM(size, 1, 1));
    runner_free(r, in);
    return out;
}

static int *launch_private(struct runner *r, int rounds)
{
    return launch_groups(r, rounds, 111, 8);
}

static void same_counts(struct runner *a, struct runner *b)
{
    size_t count = zs_gpu_counters_size(a->counters);
    struct zs_gpu_instruction_count *x = calloc(count, sizeof(*x)), *y = calloc(count, sizeof(*y));
    assert_int_equal(zs_gpu_counters_size(b->counters), count);
    assert_int_equal(zs_gpu_counters_read(a->counters, x, count), count);
    assert_int_equal(zs_gpu_counters_read(b->counters, y, count), count);
    assert_true(x[0].executions > 0);
    assert_memory_equal(x, y, count * sizeof(*x));
    free(x);
    free(y);
}

static bool is_compiled(const struct runner *r)
{
    return zs_gpu_tier_program(r->kernel) != NULL;
}

/* Launches before, while and after. */
static void becomes_compiled(void **state)
{
    struct compiler c = {.knows = true};
    struct runner a, b;
    (void)state;
    open_plain(&a, "private_array");
    open_auto(&b, &c, "private_array");
    unsigned behind = 0;
    for (unsigned i = 0; i < 500 && behind < 3; i++) {
        behind += is_compiled(&b);
        int *x = launch_private(&a, 2000), *y = launch_private(&b, 2000);
        assert_memory_equal(x, y, ITEMS * 4);
        assert_int_equal(a.result.totals.instructions, b.result.totals.instructions);
        runner_free(&a, x);
        runner_free(&b, y);
    }
    zs_gpu_tier_wait(b.device);
    assert_true(is_compiled(&b));
    assert_int_equal(c.made, 1);
    same_counts(&a, &b);
    runner_close(&a);
    runner_close(&b);
}

/* Launches until a kernel is made. */
static unsigned launches_until_made(bool wanted)
{
    struct compiler c = {.wants = wanted};
    struct runner r;
    unsigned launches = 0;
    open_auto(&r, &c, "private_array");
    while (!c.made && launches < 2000) {
        runner_free(&r, launch_private(&r, 200));
        zs_gpu_tier_wait(r.device);
        launches++;
    }
    assert_int_equal(c.asked, 2);
    runner_close(&r);
    return launches;
}

/* What an earlier run asked for is made sooner. */
static void wanted_ones_are_made_sooner(void **state)
{
    (void)state;
    assert_true(launches_until_made(true) * 8 < launches_until_made(false));
}

static void same_launches(struct runner *a, struct runner *b, uint32_t size, uint32_t groups)
{
    int *x = launch_groups(a, 500, size, groups), *y = launch_groups(b, 500, size, groups);
    assert_memory_equal(x, y, ITEMS * 4);
    assert_int_equal(a->result.totals.instructions, b->result.totals.instructions);
    runner_free(a, x);
    runner_free(b, y);
    zs_gpu_tier_wait(b->device);
}

static bool has_any(const struct zs_eu_program *program)
{
    const uint8_t *seen = zs_eu_tier_seen(program);
    bool any = !seen;
    for (uint32_t i = 0; seen && i < zs_eu_program_block_count(program); i++)
        any |= (seen[i] & ZS_EU_SEEN_ANY) != 0;
    return any;
}

/* First all lanes are on, and only that is compiled; groups with less than a thread follow. */
static void what_runs_later_is_added(void **state)
{
    struct compiler c = {0};
    struct runner a, b;
    (void)state;
    open_plain(&a, "private_array");
    open_auto(&b, &c, "private_array");
    for (unsigned i = 0; i < 500 && !c.made; i++)
        same_launches(&a, &b, 64, ITEMS / 64);
    assert_int_equal(c.made, 1);
    assert_false(has_any(zs_gpu_tier_program(b.kernel)));
    for (unsigned i = 0; i < 20; i++)
        same_launches(&a, &b, 64, ITEMS / 64);
    assert_int_equal(c.made, 1);
    for (unsigned i = 0; i < 500 && c.made == 1; i++)
        same_launches(&a, &b, 7, ITEMS / 7);
    assert_int_equal(c.made, 2);
    assert_true(has_any(zs_gpu_tier_program(b.kernel)));
    for (unsigned i = 0; i < 20; i++)
        same_launches(&a, &b, i % 2 ? 7 : 64, i % 2 ? ITEMS / 7 : ITEMS / 64);
    assert_int_equal(c.made, 2);
    same_counts(&a, &b);
    runner_close(&a);
    runner_close(&b);
}

/* Of loads and stores whose lanes are where `way` says and nowhere else: whether there is one. */
static bool has_way(const struct zs_eu_program *program, unsigned way)
{
    const uint8_t *seen = zs_eu_tier_seen(program);
    bool has = false;
    for (size_t i = zs_eu_program_block_count(program); i < zs_eu_program_seen_B(program); i++)
        has |= seen[i] == way;
    return has;
}

/* Both go `step` places on in each round. */
static void same_follow(struct runner *a, struct runner *b, int step)
{
    struct runner *runners[] = {a, b};
    int rounds = 500;
    for (unsigned k = 0; k < 2; k++) {
        struct runner *r = runners[k];
        int *next = runner_alloc(r, ITEMS * 4, 0), *out = runner_alloc(r, ITEMS * 4, 0);
        for (int i = 0; i < ITEMS; i++)
            next[i] = i * step % ITEMS;
        arg_buffer(r, 0, next);
        arg_buffer(r, 1, out);
        arg_value(r, 2, 4, &rounds);
        runner_ok(r, DIM(ITEMS / 64, 1, 1), DIM(64, 1, 1));
        for (int i = 0; i < ITEMS / 64 * 64; i++) {
            int64_t want = i;
            for (int n = 0; n < rounds; n++)
                want = want * step % ITEMS;
            assert_int_equal(out[i], want);
        }
        runner_free(r, next);
        runner_free(r, out);
    }
}

/* Lanes are neighbours as it is compiled, and anywhere later: that is added. */
static void ways_are_added(void **state)
{
    struct compiler c = {0};
    struct runner a, b;
    (void)state;
    open_plain(&a, "follow");
    open_auto(&b, &c, "follow");
    for (unsigned i = 0; i < 500 && !c.made; i++)
        same_follow(&a, &b, 1);
    zs_gpu_tier_wait(b.device);
    assert_true(is_compiled(&b));
    assert_true(has_way(zs_gpu_tier_program(b.kernel), ZS_PORT_WAY_ROW));
    for (unsigned i = 0; i < 20; i++)
        same_follow(&a, &b, 1);
    assert_int_equal(c.made, 1);
    for (unsigned i = 0; i < 500 && c.made == 1; i++)
        same_follow(&a, &b, 5);
    zs_gpu_tier_wait(b.device);
    assert_int_equal(c.made, 2);
    for (unsigned i = 0; i < 20; i++)
        same_follow(&a, &b, i % 2 ? 1 : 5);
    assert_int_equal(c.made, 2);
    same_counts(&a, &b);
    runner_close(&a);
    runner_close(&b);
}

static void right_apart(struct runner *r, uint32_t size)
{
    int count = ITEMS / 64 * 64, rounds = 200, last = rounds - 1;
    size_t bytes = (size_t)count * 9 * sizeof(int);
    int *in = runner_alloc(r, bytes, 0), *out = runner_alloc(r, bytes, 0);
    for (int i = 0; i < 9 * count; i++)
        in[i] = i * 7 ^ i >> 3;
    memset(out, 0xff, bytes);
    arg_buffer(r, 0, in);
    arg_buffer(r, 1, out);
    arg_value(r, 2, 4, &count);
    arg_value(r, 3, 4, &rounds);
    runner_ok(r, DIM((uint32_t)count / size, 1, 1), DIM(size, 1, 1));
    for (int i = 0; i < count / (int)size * (int)size; i++) {
        const int *four = in + 5 * count + 4 * i, *to = out + 5 * count + 4 * i;
        assert_int_equal(out[2 * i], -1);
        assert_int_equal(out[2 * i + 1], in[2 * i] + 3 * in[2 * i + 1] + last);
        for (int k = 2 * count + 3 * i; k < 2 * count + 3 * i + 3; k++)
            assert_int_equal(out[k], in[k] * 2 + last);
        assert_int_equal(to[0], four[1] + four[3]);
        assert_int_equal(to[1] & to[2], -1);
        assert_int_equal(to[3], four[2] - last);
    }
    runner_free(r, in);
    runner_free(r, out);
}

static void lanes_some_dwords_apart(void **state)
{
    struct compiler c = {0};
    struct runner r;
    (void)state;
    open_auto(&r, &c, "apart");
    for (unsigned i = 0; i < 500 && !c.made; i++)
        right_apart(&r, 64);
    zs_gpu_tier_wait(r.device);
    assert_true(is_compiled(&r));
    for (uint32_t dwords = 2; dwords <= 4; dwords++)
        assert_true(has_way(zs_gpu_tier_program(r.kernel), zs_port_way_apart(dwords)));
    for (uint32_t size = 8; size <= 64; size += 8)
        right_apart(&r, size);
    runner_close(&r);
}

/* A short one asks nobody. */
static void short_ones_stay(void **state)
{
    struct compiler c = {.knows = true};
    struct runner r;
    (void)state;
    open_auto(&r, &c, "private_array");
    for (unsigned i = 0; i < 3; i++)
        runner_free(&r, launch_private(&r, 10));
    runner_close(&r);
    assert_int_equal(c.asked, 0);
}

static void lies_change_nothing(void **state)
{
    struct compiler c = {.knows = true, .lies = true};
    struct runner a, b;
    (void)state;
    open_plain(&a, "private_array");
    open_auto(&b, &c, "private_array");
    for (unsigned i = 0; i < 12; i++) {
        int *x = launch_private(&a, 2000), *y = launch_private(&b, 2000);
        assert_memory_equal(x, y, ITEMS * 4);
        runner_free(&a, x);
        runner_free(&b, y);
    }
    zs_gpu_tier_wait(b.device);
    assert_true(c.made > 0 && !is_compiled(&b));
    runner_close(&a);
    runner_close(&b);
}

static void *go_later(void *arg)
{
    struct compiler *c = arg;
    usleep(20000);
    c->go = true;
    return NULL;
}

/* The kernel goes while it is compiled; the device waits for that. */
static void destroyed_meanwhile(void **state)
{
    struct compiler c = {.knows = true, .is_slow = true};
    struct runner r;
    pthread_t thread;
    (void)state;
    open_auto(&r, &c, "private_array");
    for (unsigned i = 0; i < 100 && !c.asked; i++)
        runner_free(&r, launch_private(&r, 2000));
    assert_int_equal(c.asked, 1);
    assert_int_equal(pthread_create(&thread, NULL, go_later, &c), 0);
    runner_close(&r);
    pthread_join(thread, NULL);
    assert_int_equal(c.made, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(becomes_compiled),    cmocka_unit_test(what_runs_later_is_added),
        cmocka_unit_test(ways_are_added),      cmocka_unit_test(lanes_some_dwords_apart),
        cmocka_unit_test(short_ones_stay),     cmocka_unit_test(wanted_ones_are_made_sooner),
        cmocka_unit_test(lies_change_nothing), cmocka_unit_test(destroyed_meanwhile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
