/* SPDX-License-Identifier: MIT */
/* For tests that share one module: a group's setup and teardown. */
#ifndef ZS_TESTS_E2E_KERNELS_GROUP_H
#define ZS_TESTS_E2E_KERNELS_GROUP_H

#include "kernels.h"

static ze_module_handle_t the_module; /* kernels.bin unless a test makes its own */

static int setup(void **state)
{
    if (e2e_setup(state))
        return -1;
    the_module = make_module(*state, "kernels.bin");
    return 0;
}

static int teardown(void **state)
{
    if (!the_module)
        return -1;
    return zeModuleDestroy(the_module) == ZE_RESULT_SUCCESS ? e2e_teardown(state) : -1;
}

#endif
