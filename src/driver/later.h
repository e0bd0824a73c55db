/* SPDX-License-Identifier: MIT */
/*
 * Functions of later specifications than those of the installed headers, for newer loaders and the
 * tools above them. gen_ddi.py says where they stand in the tables.
 */
#ifndef ZS_DRIVER_LATER_H
#define ZS_DRIVER_LATER_H

#include <level_zero/ze_api.h>

#ifndef ZE_API_VERSION_CURRENT_M /* headers before 1.6 */
typedef struct zs_later_init_driver_type_desc {
    uint32_t stype;
    const void *pNext;
    uint32_t flags; /* bit 0 GPU, bit 1 NPU */
} ze_init_driver_type_desc_t;
ze_result_t ZE_APICALL zeInitDrivers(uint32_t *pCount, ze_driver_handle_t *phDrivers,
                                     ze_init_driver_type_desc_t *desc);
ze_result_t ZE_APICALL zeDriverGetLastErrorDescription(ze_driver_handle_t hDriver,
                                                       const char **ppString);
ze_result_t ZE_APICALL zeDeviceGetRootDevice(ze_device_handle_t hDevice,
                                             ze_device_handle_t *phRootDevice);
ze_result_t ZE_APICALL zeCommandQueueGetOrdinal(ze_command_queue_handle_t hCommandQueue,
                                                uint32_t *pOrdinal);
ze_result_t ZE_APICALL zeCommandQueueGetIndex(ze_command_queue_handle_t hCommandQueue,
                                              uint32_t *pIndex);
ze_result_t ZE_APICALL zeCommandListHostSynchronize(ze_command_list_handle_t hCommandList,
                                                    uint64_t timeout);
ze_result_t ZE_APICALL zeCommandListGetDeviceHandle(ze_command_list_handle_t hCommandList,
                                                    ze_device_handle_t *phDevice);
ze_result_t ZE_APICALL zeCommandListGetContextHandle(ze_command_list_handle_t hCommandList,
                                                     ze_context_handle_t *phContext);
ze_result_t ZE_APICALL zeCommandListGetOrdinal(ze_command_list_handle_t hCommandList,
                                               uint32_t *pOrdinal);
ze_result_t ZE_APICALL
zeCommandListImmediateGetIndex(ze_command_list_handle_t hCommandListImmediate, uint32_t *pIndex);
ze_result_t ZE_APICALL zeCommandListIsImmediate(ze_command_list_handle_t hCommandList,
                                                ze_bool_t *pIsImmediate);
ze_result_t ZE_APICALL zeEventPoolPutIpcHandle(ze_context_handle_t hContext,
                                               ze_ipc_event_pool_handle_t hIpc);
ze_result_t ZE_APICALL zeEventPoolGetContextHandle(ze_event_pool_handle_t hEventPool,
                                                   ze_context_handle_t *phContext);
ze_result_t ZE_APICALL zeEventPoolGetFlags(ze_event_pool_handle_t hEventPool,
                                           ze_event_pool_flags_t *pFlags);
ze_result_t ZE_APICALL zeEventGetEventPool(ze_event_handle_t hEvent,
                                           ze_event_pool_handle_t *phEventPool);
ze_result_t ZE_APICALL zeEventGetSignalScope(ze_event_handle_t hEvent,
                                             ze_event_scope_flags_t *pSignalScope);
ze_result_t ZE_APICALL zeEventGetWaitScope(ze_event_handle_t hEvent,
                                           ze_event_scope_flags_t *pWaitScope);
ze_result_t ZE_APICALL zeMemPutIpcHandle(ze_context_handle_t hContext, ze_ipc_mem_handle_t handle);
#endif

#endif
