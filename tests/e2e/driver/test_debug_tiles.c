/* SPDX-License-Identifier: MIT */
/* Devices with tiles, and several devices: who excludes whom, and who is told of what.
 * ZESCOPE_DEVICES is skl:2,kbl or pvc:2,skl. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exclusion),
        cmocka_unit_test(test_work_on_tile),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, e2e_setup, e2e_teardown);
}
