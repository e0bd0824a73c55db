/* SPDX-License-Identifier: MIT */
/* zer*: the driver without handles, and the context that every driver has. */
#include "driver/driver_priv.h"

#include <stdlib.h>

/* Made when it is first asked for, of all devices that zeDeviceGet gives. A program that destroys
 * it has none. */
ze_context_handle_t ZE_APICALL zeDriverGetDefaultContext(ze_driver_handle_t hDriver)
{
    struct zs_ze_driver *driver = zs_ze_driver_of(hDriver);
    if (!driver)
        return NULL;
    pthread_mutex_lock(&driver->default_lock);
    if (!driver->default_context) {
        ze_device_handle_t *devices = calloc(driver->device_count + 1u, sizeof(ze_device_handle_t));
        for (uint32_t i = 0; devices && i < driver->device_count; i++)
            devices[i] = driver->devices[i]->object.handle;
        ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
        if (devices)
            zeContextCreateEx(hDriver, &desc, driver->device_count, devices,
                              &driver->default_context);
        free(devices);
    }
    ze_context_handle_t context = driver->default_context;
    pthread_mutex_unlock(&driver->default_lock);
    return context;
}

/* A program that uses these has not asked for drivers: zeInit comes from the loader. */
static struct zs_ze_driver *any_driver(void)
{
    uint32_t count = 1;
    ze_driver_handle_t handle = NULL;
    if (zeDriverGet(&count, &handle) != ZE_RESULT_SUCCESS || !count)
        return NULL;
    return zs_ze_driver_of(handle);
}

ze_context_handle_t ZE_APICALL zerGetDefaultContext(void)
{
    struct zs_ze_driver *driver = any_driver();
    return driver ? zeDriverGetDefaultContext(driver->object.handle) : NULL;
}

ze_result_t ZE_APICALL zerGetLastErrorDescription(const char **ppString)
{
    ZS_CHECK_POINTER(ppString);
    *ppString = zs_last_error();
    return ZE_RESULT_SUCCESS;
}

/* Identifiers are places in what zeDeviceGet gives. */
uint32_t ZE_APICALL zerTranslateDeviceHandleToIdentifier(ze_device_handle_t hDevice)
{
    struct zs_ze_device *device = zs_ze_device_of(hDevice);
    for (uint32_t i = 0; device && i < device->driver->device_count; i++)
        if (device->driver->devices[i] == device)
            return i;
    zs_refuse(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, __func__, "no device of zeDeviceGet");
    return UINT32_MAX;
}

ze_device_handle_t ZE_APICALL zerTranslateIdentifierToDeviceHandle(uint32_t identifier)
{
    struct zs_ze_driver *driver = any_driver();
    if (driver && identifier < driver->device_count)
        return driver->devices[identifier]->object.handle;
    zs_refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, __func__, "there is no device %u", identifier);
    return NULL;
}
