/* SPDX-License-Identifier: MIT */
/* The driver, called without a loader, on one skl. */
#ifndef ZS_TESTS_FIRST_DEVICE_H
#define ZS_TESTS_FIRST_DEVICE_H

#include "../test.h"

#include <level_zero/ze_api.h>

#include <stdlib.h>

static inline void first_device(ze_driver_handle_t *ret_driver, ze_device_handle_t *ret_device)
{
    uint32_t one = 1;
    setenv("ZESCOPE_DEVICES", "skl", 1);
    unsetenv("ZE_AFFINITY_MASK");
    assert_int_equal(zeInit(0), ZE_RESULT_SUCCESS);
    assert_int_equal(zeDriverGet(&one, ret_driver), ZE_RESULT_SUCCESS);
    assert_int_equal(zeDeviceGet(*ret_driver, &one, ret_device), ZE_RESULT_SUCCESS);
}

#endif
