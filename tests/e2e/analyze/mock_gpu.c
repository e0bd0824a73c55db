/* SPDX-License-Identifier: MIT */
/* A driver that is the software GPU, and does not say so: the loader finds what this file lacks in
 * the library that it is linked with. */
#include <dlfcn.h>
#include <level_zero/ze_ddi.h>

/* so that it is linked with it */
ZE_APIEXPORT __typeof__(zeGetGlobalProcAddrTable) *const mock_gpu_needs = zeGetGlobalProcAddrTable;

static ze_result_t ZE_APICALL no_function(ze_driver_handle_t driver, const char *name,
                                          void **function)
{
    (void)driver;
    (void)name;
    *function = NULL;
    return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
}

ZE_APIEXPORT ze_result_t ZE_APICALL zeGetDriverProcAddrTable(ze_api_version_t version,
                                                             ze_driver_dditable_t *table)
{
    __typeof__(zeGetDriverProcAddrTable) *next =
        (__typeof__(next))(uintptr_t)dlsym(RTLD_NEXT, "zeGetDriverProcAddrTable");
    ze_result_t result = next ? next(version, table) : ZE_RESULT_ERROR_UNINITIALIZED;
    if (!result)
        table->pfnGetExtensionFunctionAddress = no_function;
    return result;
}
