/* SPDX-License-Identifier: MIT */
/* Devices with tiles, and several devices: who excludes whom, and who is told of what.
 * ZESCOPE_DEVICES is skl:2,kbl or pvc:2,skl; or skl,acm-g10,pvc:2, when argv[1] is "mixed". */
#include "debugging.h"

struct devices {
    ze_device_handle_t root, tiles[2], other;
};

static struct devices devices_of(const struct e2e *e)
{
    ze_device_handle_t all[2];
    struct devices d;
    uint32_t count = 2;
    OK(zeDeviceGet(e->driver, &count, all));
    assert_int_equal(count, 2);
    d.root = all[0];
    d.other = all[1];
    OK(zeDeviceGetSubDevices(d.root, &count, d.tiles));
    assert_int_equal(count, 2);
    return d;
}

static void test_exclusion(void **state)
{
    struct e2e *e = *state;
    struct devices d = devices_of(e);
    struct app app = app_start(true);
    const zet_debug_config_t config = {.pid = (uint32_t)app.pid};
    zet_debug_session_handle_t none = NULL;
    OK(app_do(&app, "init", 0));
    zet_debug_session_handle_t root = attach(d.root, &app), other = attach(d.other, &app);
    for (int i = 0; i < 2; i++)
        FAILS(zetDebugAttach(d.tiles[i], &config, &none), ZE_RESULT_ERROR_NOT_AVAILABLE);
    OK(zetDebugDetach(root));
    zet_debug_session_handle_t tiles[2] = {attach(d.tiles[0], &app), attach(d.tiles[1], &app)};
    FAILS(zetDebugAttach(d.root, &config, &none), ZE_RESULT_ERROR_NOT_AVAILABLE);
    OK(zetDebugDetach(tiles[0]));
    FAILS(zetDebugAttach(d.root, &config, &none), ZE_RESULT_ERROR_NOT_AVAILABLE);
    OK(zetDebugDetach(tiles[1]));
    root = attach(d.root, &app);
    OK(zetDebugDetach(root));
    OK(zetDebugDetach(other));
    assert_int_equal(app_end(&app), 0);
}

/* Work on the second tile (init 2): the first tile's debugger sees nothing of it, the root's sees
 * its threads in the slices behind the first tile's. */
static void test_work_on_tile(void **state)
{
    struct e2e *e = *state;
    struct devices d = devices_of(e);
    ze_device_properties_t tile = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    OK(zeDeviceGetProperties(d.tiles[0], &tile));
    for (int by_root = 0; by_root < 2; by_root++) {
        struct app app = app_start(true);
        zet_debug_session_handle_t mine = attach(by_root ? d.root : d.tiles[1], &app),
                                   first = by_root ? NULL : attach(d.tiles[0], &app),
                                   other = attach(d.other, &app);
        OK(app_do(&app, "init", 2));
        load_kernels(mine, &app);
        OK(app_do(&app, "spin", 2));
        stop_all(mine);
        struct threads held = stopped_threads(mine, by_root ? d.root : d.tiles[1]);
        assert_true(held.count > 0);
        for (uint32_t i = 0; i < held.count; i++)
            assert_int_equal(held.items[i].slice / tile.numSlices, by_root);
        expect_nothing(other);
        if (first) {
            expect_nothing(first);
            FAILS(zetDebugResume(first, everyone), ZE_RESULT_ERROR_NOT_AVAILABLE);
            OK(zetDebugDetach(first));
        }
        int go = 1;
        OK(memory(mine, everyone, app.in_va, &go, sizeof(go), true));
        OK(zetDebugResume(mine, everyone));
        OK(app_do(&app, "wait", 0));
        OK(app_do(&app, "check", 20));
        OK(zetDebugDetach(mine));
        OK(zetDebugDetach(other));
        assert_int_equal(app_end(&app), 0);
    }
}

/* ---- devices of several generations ------------------------------------------------------------
 */

enum { MIXED = 3 };

/* Threads of one device, all stopped at the beginning of "steps". */
struct stopped {
    zet_debug_session_handle_t session;
    uint64_t va, in_va, out_va;
    uint32_t grf_B;
    struct threads threads;
};

static uint32_t grf_bytes(ze_device_handle_t device)
{
    zet_debug_regset_properties_t sets[40] = {0};
    uint32_t count = COUNT(sets), i = 0;
    OK(zetDebugGetRegisterSetProperties(device, &count, sets));
    while (i < count && sets[i].type != ZESCOPE_DEBUG_REGSET_GRF)
        i++;
    assert_true(i < count);
    return sets[i].byteSize;
}

static void stop_at_steps(struct stopped *s, struct app *app, uint32_t index,
                          ze_device_handle_t device)
{
    static const uint32_t modules[MIXED] = {0, 3, 4};
    OK(app_do(app, "init", 10 * index));
    struct loaded loaded = load_kernels_of(s->session, app, modules[index]);
    s->va = kernel_va(s->session, &loaded, "steps");
    s->in_va = app->in_va;
    s->out_va = app->out_va;
    s->grf_B = grf_bytes(device);
    breakpoint(s->session, s->va, true);
    OK(app_do(app, "steps", 2));
    for (uint32_t i = 0; i < 2 * threads_of_group(device); i++) {
        zet_debug_event_t event = expect_event(s->session, ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED);
        s->threads.items[s->threads.count++] = event.info.thread.thread;
    }
    breakpoint(s->session, s->va, false);
}

/* Each thread is at its own device's code, has registers of its own device's size, and steps. */
static void look_and_step(const struct stopped *s)
{
    for (uint32_t i = 0; i < s->threads.count; i++) {
        ze_device_thread_t thread = s->threads.items[i];
        uint8_t grf[2][64 + 16], mark[64];
        assert_true(read_pc(s->session, thread) == s->va);
        memset(mark, (int)(0x40 + i), sizeof(mark));
        memset(grf, 0xee, sizeof(grf));
        OK(zetDebugReadRegisters(s->session, thread, ZESCOPE_DEBUG_REGSET_GRF, 127, 1, grf[0]));
        OK(zetDebugWriteRegisters(s->session, thread, ZESCOPE_DEBUG_REGSET_GRF, 127, 1, mark));
        OK(zetDebugReadRegisters(s->session, thread, ZESCOPE_DEBUG_REGSET_GRF, 127, 1, grf[1]));
        assert_memory_equal(grf[1], mark, s->grf_B);
        assert_int_equal(grf[1][s->grf_B], 0xee);
        OK(zetDebugWriteRegisters(s->session, thread, ZESCOPE_DEBUG_REGSET_GRF, 127, 1, grf[0]));
        step(s->session, thread);
        zet_debug_event_t event = expect_event(s->session, ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED);
        assert_true(same_thread(event.info.thread.thread, thread));
        assert_true(read_pc(s->session, thread) > s->va);
    }
}

/* What "steps" computes, of 7: seen as soon as it is done. */
static void await_results(const struct stopped *s)
{
    int in[32], out[32], wanted[32];
    OK(memory(s->session, everyone, s->in_va, in, sizeof(in), false));
    for (int i = 0; i < 32; i++) {
        int sum = 7;
        for (int k = 0; k < in[i]; k++)
            sum += in[k] * 3 + k;
        wanted[i] = sum & 1 ? sum * 5 + 1 : sum;
    }
    for (int i = 0; i < PATIENCE_MS; i++) {
        OK(memory(s->session, everyone, s->out_va, out, sizeof(out), false));
        if (memcmp(out, wanted, sizeof(out)) == 0)
            return;
        usleep(1000);
    }
    assert_memory_equal(out, wanted, sizeof(out));
}

/* One program with devices of three generations, a debugger on each, all of them stopped at once.
 */
static void test_mixed(void **state)
{
    struct e2e *e = *state;
    ze_device_handle_t devices[MIXED], tiles[2];
    uint32_t count = MIXED, two = 2;
    static struct stopped all[MIXED];
    zet_debug_session_handle_t none = NULL;
    OK(zeDeviceGet(e->driver, &count, devices));
    assert_int_equal(count, MIXED);
    OK(zeDeviceGetSubDevices(devices[2], &two, tiles));
    struct app app = app_start(true);
    const zet_debug_config_t config = {.pid = (uint32_t)app.pid};
    memset(all, 0, sizeof(all));
    for (uint32_t i = 0; i < MIXED; i++)
        all[i].session = attach(devices[i], &app);
    for (uint32_t i = 0; i < MIXED; i++)
        stop_at_steps(&all[i], &app, i, devices[i]);
    FAILS(zetDebugAttach(tiles[0], &config, &none), ZE_RESULT_ERROR_NOT_AVAILABLE);
    assert_true(all[0].grf_B == 32 && all[1].grf_B == 32 && all[2].grf_B == 64);
    for (uint32_t i = 0; i < MIXED; i++) {
        assert_int_equal(stopped_threads(all[i].session, devices[i]).count, all[i].threads.count);
        look_and_step(&all[i]);
    }
    for (uint32_t i = 0; i < MIXED; i++) {
        OK(zetDebugResume(all[i].session, everyone));
        await_results(&all[i]);
        for (uint32_t k = i + 1; k < MIXED; k++) /* the others stand where they are */
            assert_int_equal(stopped_threads(all[k].session, devices[k]).count,
                             all[k].threads.count);
    }
    for (uint32_t i = 0; i < MIXED; i++) {
        expect_nothing(all[i].session);
        OK(zetDebugDetach(all[i].session));
    }
    zet_debug_session_handle_t tile = attach(tiles[1], &app);
    FAILS(zetDebugAttach(devices[2], &config, &none), ZE_RESULT_ERROR_NOT_AVAILABLE);
    OK(zetDebugDetach(tile));
    assert_int_equal(app_end(&app), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest mixed[] = {cmocka_unit_test(test_mixed)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exclusion),
        cmocka_unit_test(test_work_on_tile),
    };
    signal(SIGPIPE, SIG_IGN);
    if (argc > 1 && strcmp(argv[1], "mixed") == 0)
        return cmocka_run_group_tests(mixed, e2e_setup, e2e_teardown);
    return cmocka_run_group_tests(tests, e2e_setup, e2e_teardown);
}
