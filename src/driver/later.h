/* SPDX-License-Identifier: MIT */
/*
 * Functions of later specifications than those of the installed headers, for newer loaders and the
 * tools above them. gen_ddi.py says where they stand in the tables.
 */
#ifndef ZS_DRIVER_LATER_H
#define ZS_DRIVER_LATER_H

#include <level_zero/zet_api.h>

/* All flags that are known up to specification 1.15. */
enum {
    ZS_LATER_QUEUE_FLAGS = 0x7,      /* explicit only, in order, copy offload */
    ZS_LATER_LIST_FLAGS = 0x3f,      /* ..., in order, cloneable, copy offload */
    ZS_LATER_EVENT_POOL_FLAGS = 0xf, /* ..., mapped timestamps */
    ZS_LATER_PHYSICAL_FLAGS = 0x3,   /* on the device, on the host */
};
enum { ZS_LATER_PHYSICAL_ON_HOST = 0x2, ZS_LATER_READONLY_ENFORCED = 2 };
enum { ZS_LATER_SWIZZLE_D = 7 }; /* depth: the red channel */
enum { ZS_LATER_IPC_HANDLE_DEFAULT = 0x1 };
enum { ZS_LATER_ATOMIC_ATTRIBUTES = 0x7f };
enum { ZS_LATER_ADVICE_MAX = 9 }; /* ..., location in the host's memory set, cleared */
enum {
    ZS_LATER_STYPE_TIMESTAMPS_RESULTS = 0x10012,
    ZS_LATER_STYPE_KERNEL_MAX_GROUP_SIZE = 0x10013,
    ZS_LATER_STYPE_READONLY_MEMORY = 0x10015,
    ZS_LATER_STYPE_COUNTER_POOL = 0x20014,
    ZS_LATER_STYPE_COUNTER_EVENT = 0x2003a,
    ZS_LATER_STYPE_COUNTER_EXTERNAL = 0x2003b,
    ZS_LATER_STYPE_IPC_MEM_HANDLE_TYPE = 0x2003d,
    ZS_LATER_STYPE_DEVICE_EVENTS = 0x2003e,
    ZS_LATER_STYPE_COUNTER_AGGREGATE = 0x2003f,
    ZS_LATER_STYPE_KERNEL_REGISTERS = 0x30012, /* of Intel's driver: zex_module.h, ze_stypes.h */
    ZS_LATER_STYPE_MODULE_DP = 0x30013,        /* likewise: ze_intel_gpu.h */
    /* of the tools' API */
    ZS_LATER_STYPE_METRIC_TIMER = 0x9, /* zet_metric_global_timestamps_resolution_exp_t */
    ZS_LATER_STYPE_METRIC_GROUP_TYPE = 0x10006,
    ZS_LATER_STYPE_METRIC_BUFFER_SIZE = 0x10007, /* of Intel's driver: zet_intel_gpu_metric.h */
    ZS_LATER_STYPE_METRIC_SOURCE_ID = 0x10009,
};
enum {
    ZS_LATER_METRIC_GROUP_USER = 0x2,
    ZS_LATER_METRIC_GROUP_OTHER = 0x4,
    ZS_LATER_METRIC_GROUP_MARKER = 0x8
};
enum { ZS_LATER_METRIC_GROUP_PREFIX_B = 64 };
enum { ZS_LATER_SAMPLING_TRACER = 0x4 };
enum { ZS_LATER_PARAM_UTILIZATION = 2, ZS_LATER_PARAM_RATE = 4 };
enum { ZS_LATER_VALUE_INFO_UINT32 = 0 };
enum { ZS_LATER_MODULE_DP4A = 0x1, ZS_LATER_MODULE_DPAS = 0x2 };
enum { ZS_LATER_LIST_IN_ORDER = 0x8, ZS_LATER_QUEUE_IN_ORDER = 0x2 };
enum {
    ZS_LATER_COUNTER_IMMEDIATE = 0x1,
    ZS_LATER_COUNTER_NON_IMMEDIATE = 0x2,
    ZS_LATER_COUNTER_LISTS = 0x3, /* those two */
    ZS_LATER_COUNTER_IPC = 0x8,
    ZS_LATER_COUNTER_DEVICE_TIMESTAMP = 0x10,
    ZS_LATER_COUNTER_HOST_TIMESTAMP = 0x20,
    ZS_LATER_COUNTER_FLAGS = 0x7f,
};
enum { ZS_LATER_DEVICE_EVENTS_IPC = 0x2 };
/* zex_kernel_register_file_size_exp_t: in the chain of zeKernelGetProperties */
typedef struct zs_later_kernel_registers {
    uint32_t stype;
    const void *pNext;
    uint32_t registerFileSize; /* general registers of a thread */
} zs_later_kernel_registers_t;
/* ze_intel_device_module_dp_exp_properties_t, which no public header declares */
typedef struct zs_later_module_dp {
    uint32_t stype;
    void *pNext;
    uint32_t flags; /* ZS_LATER_MODULE_* */
} zs_later_module_dp_t;

/* zet_intel_metric_hw_buffer_size_exp_desc_t, which no public header declares */
typedef struct zs_later_metric_buffer_size {
    uint32_t stype;
    const void *pNext;
    size_t sizeInBytes;
} zs_later_metric_buffer_size_t;

#ifndef ZE_API_VERSION_CURRENT_M /* headers before 1.6 */
typedef struct zs_later_init_driver_type_desc {
    uint32_t stype;
    const void *pNext;
    uint32_t flags; /* bit 0 GPU, bit 1 NPU */
} ze_init_driver_type_desc_t;
typedef struct zs_later_ipc_mem_handle_type {
    uint32_t stype;
    const void *pNext;
    uint32_t typeFlags; /* 1: this machine, 2: other machines, too */
} ze_ipc_mem_handle_type_ext_desc_t;
typedef struct zs_later_readonly_memory {
    uint32_t stype;
    void *pNext;
    uint32_t readonlyCapability; /* of pages mapped READONLY: 0 none, 1 hint, 2 enforced */
} ze_device_readonly_memory_ext_properties_t;
typedef struct zs_later_kernel_max_group_size {
    uint32_t stype;
    void *pNext;
    uint32_t maxGroupSize;
} ze_kernel_max_group_size_properties_ext_t;
typedef struct zs_later_counter_pool_desc {
    uint32_t stype;
    const void *pNext;
    uint32_t flags; /* ZS_LATER_COUNTER_LISTS */
} ze_event_pool_counter_based_exp_desc_t;
typedef struct zs_later_counter_event_desc {
    uint32_t stype;
    const void *pNext;
    uint32_t flags; /* ZS_LATER_COUNTER_* */
    ze_event_scope_flags_t signal, wait;
} ze_event_counter_based_desc_t;
typedef struct zs_later_counter_ipc_handle {
    char data[ZE_MAX_IPC_HANDLE_SIZE];
} ze_ipc_event_counter_based_handle_t;
typedef struct zs_later_device_events {
    uint32_t stype;
    void *pNext;
    uint32_t flags; /* ZS_LATER_DEVICE_EVENTS_IPC */
} ze_device_event_properties_t;
/* as ze_kernel_timestamp_result_t, in nanoseconds of the host's clock */
typedef struct zs_later_synchronized_timestamps {
    ze_kernel_timestamp_data_t global, context;
} ze_synchronized_timestamp_result_ext_t;
typedef struct zs_later_timestamps_results {
    uint32_t stype;
    void *pNext;
    ze_kernel_timestamp_result_t *pKernelTimestampsBuffer;
    ze_synchronized_timestamp_result_ext_t *pSynchronizedTimestampsBuffer;
} ze_event_query_kernel_timestamps_results_ext_properties_t;
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
ze_result_t ZE_APICALL zeEventCounterBasedCreate(ze_context_handle_t hContext,
                                                 ze_device_handle_t hDevice,
                                                 const ze_event_counter_based_desc_t *desc,
                                                 ze_event_handle_t *phEvent);
ze_result_t ZE_APICALL zeEventCounterBasedGetIpcHandle(ze_event_handle_t hEvent,
                                                       ze_ipc_event_counter_based_handle_t *phIpc);
ze_result_t ZE_APICALL zeEventCounterBasedOpenIpcHandle(ze_context_handle_t hContext,
                                                        ze_ipc_event_counter_based_handle_t hIpc,
                                                        ze_event_handle_t *phEvent);
ze_result_t ZE_APICALL zeEventCounterBasedCloseIpcHandle(ze_event_handle_t hEvent);
ze_result_t ZE_APICALL zeEventGetCounterBasedFlags(ze_event_handle_t hEvent, uint32_t *pFlags);
ze_result_t ZE_APICALL zeEventQueryKernelTimestampsExt(
    ze_event_handle_t hEvent, ze_device_handle_t hDevice, uint32_t *pCount,
    ze_event_query_kernel_timestamps_results_ext_properties_t *pResults);
ze_result_t ZE_APICALL zeCommandListImmediateAppendCommandListsExp(
    ze_command_list_handle_t hCommandListImmediate, uint32_t numCommandLists,
    ze_command_list_handle_t *phCommandLists, ze_event_handle_t hSignalEvent,
    uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents);
ze_result_t ZE_APICALL zeImageViewCreateExt(ze_context_handle_t hContext,
                                            ze_device_handle_t hDevice, const ze_image_desc_t *desc,
                                            ze_image_handle_t hImage,
                                            ze_image_handle_t *phImageView);
ze_result_t ZE_APICALL zeMemGetIpcHandleWithProperties(ze_context_handle_t hContext,
                                                       const void *ptr, void *pNext,
                                                       ze_ipc_mem_handle_t *pIpcHandle);
ze_result_t ZE_APICALL zeMemGetIpcHandleFromFileDescriptorExp(ze_context_handle_t hContext,
                                                              uint64_t handle,
                                                              ze_ipc_mem_handle_t *pIpcHandle);
ze_result_t ZE_APICALL zeMemGetFileDescriptorFromIpcHandleExp(ze_context_handle_t hContext,
                                                              ze_ipc_mem_handle_t ipcHandle,
                                                              uint64_t *pHandle);
ze_result_t ZE_APICALL zeMemSetAtomicAccessAttributeExp(ze_context_handle_t hContext,
                                                        ze_device_handle_t hDevice, const void *ptr,
                                                        size_t size, uint32_t attr);
ze_result_t ZE_APICALL zeMemGetAtomicAccessAttributeExp(ze_context_handle_t hContext,
                                                        ze_device_handle_t hDevice, const void *ptr,
                                                        size_t size, uint32_t *pAttr);
ze_result_t ZE_APICALL zeMemPutIpcHandle(ze_context_handle_t hContext, ze_ipc_mem_handle_t handle);

/* ---- Metrics ---- */

typedef struct zs_later_metric_timer {
    uint32_t stype;
    const void *pNext;
    uint64_t timerResolution; /* ticks a second */
    uint64_t timestampValidBits;
} zet_metric_global_timestamps_resolution_exp_t;
typedef struct zs_later_metric_group_type {
    uint32_t stype;
    void *pNext;
    uint32_t type; /* ZS_LATER_METRIC_GROUP_OTHER, ... */
} zet_metric_group_type_exp_t;
typedef struct zs_later_metric_source_id {
    uint32_t stype;
    void *pNext;
    uint32_t sourceId;
} zet_metric_source_id_exp_t;
typedef struct zs_later_metric_calculate {
    uint32_t stype;
    const void *pNext;
    uint32_t rawReportSkipCount;
} zet_metric_calculate_exp_desc_t;
typedef struct zs_later_metric_programmable *zet_metric_programmable_exp_handle_t;
typedef struct zs_later_metric_tracer *zet_metric_tracer_exp_handle_t;
typedef struct zs_later_metric_decoder *zet_metric_decoder_exp_handle_t;
typedef struct zs_later_metric_tracer_desc {
    uint32_t stype;
    const void *pNext;
    uint32_t notifyEveryNBytes;
} zet_metric_tracer_exp_desc_t;
typedef struct zs_later_metric_entry {
    zet_value_t value;
    uint64_t timeStamp;
    uint32_t metricIndex;
    ze_bool_t onSubdevice;
    uint32_t subdeviceId;
} zet_metric_entry_exp_t;
typedef struct zs_later_metric_programmable_properties {
    uint32_t stype;
    void *pNext;
    char name[128], description[128], component[128];
    uint32_t tierNumber, domain, parameterCount;
    zet_metric_group_sampling_type_flags_t samplingType;
    uint32_t sourceId;
} zet_metric_programmable_exp_properties_t;
typedef struct zs_later_metric_param_info {
    uint32_t stype;
    void *pNext;
    uint32_t type; /* ZS_LATER_PARAM_* */
    char name[128];
    uint32_t valueInfoType; /* ZS_LATER_VALUE_INFO_* */
    zet_value_t defaultValue;
    uint32_t valueInfoCount;
} zet_metric_programmable_param_info_exp_t;
typedef union zs_later_value_info {
    uint32_t ui32;
    uint64_t ui64;
    struct {
        uint64_t ui64Min, ui64Max;
    } ui64Range;
} zet_value_info_exp_t;
typedef struct zs_later_metric_param_value_info {
    uint32_t stype;
    void *pNext;
    zet_value_info_exp_t valueInfo;
    char description[128];
} zet_metric_programmable_param_value_info_exp_t;
typedef struct zs_later_metric_param_value {
    zet_value_t value;
} zet_metric_programmable_param_value_exp_t;

ze_result_t ZE_APICALL zetDebugGetThreadRegisterSetProperties(
    zet_debug_session_handle_t hDebug, ze_device_thread_t thread, uint32_t *pCount,
    zet_debug_regset_properties_t *pRegisterSetProperties);
ze_result_t ZE_APICALL zetDeviceGetConcurrentMetricGroupsExp(
    zet_device_handle_t hDevice, uint32_t metricGroupCount,
    zet_metric_group_handle_t *phMetricGroups, uint32_t *pMetricGroupsCountPerConcurrentGroup,
    uint32_t *pConcurrentGroupCount);
ze_result_t ZE_APICALL zetDeviceEnableMetricsExp(zet_device_handle_t hDevice);
ze_result_t ZE_APICALL zetDeviceDisableMetricsExp(zet_device_handle_t hDevice);
ze_result_t ZE_APICALL zetMetricGroupGetGlobalTimestampsExp(zet_metric_group_handle_t hMetricGroup,
                                                            ze_bool_t synchronizedWithHost,
                                                            uint64_t *globalTimestamp,
                                                            uint64_t *metricTimestamp);
ze_result_t ZE_APICALL zetMetricGroupGetExportDataExp(zet_metric_group_handle_t hMetricGroup,
                                                      const uint8_t *pRawData, size_t rawDataSize,
                                                      size_t *pExportDataSize,
                                                      uint8_t *pExportData);
ze_result_t ZE_APICALL zetMetricGroupCalculateMetricExportDataExp(
    ze_driver_handle_t hDriver, zet_metric_group_calculation_type_t type, size_t exportDataSize,
    const uint8_t *pExportData, zet_metric_calculate_exp_desc_t *pCalculateDescriptor,
    uint32_t *pSetCount, uint32_t *pTotalMetricValueCount, uint32_t *pMetricCounts,
    zet_typed_value_t *pMetricValues);
ze_result_t ZE_APICALL zetCommandListAppendMarkerExp(zet_command_list_handle_t hCommandList,
                                                     zet_metric_group_handle_t hMetricGroup,
                                                     uint32_t value);
ze_result_t ZE_APICALL
zetMetricProgrammableGetExp(zet_device_handle_t hDevice, uint32_t *pCount,
                            zet_metric_programmable_exp_handle_t *phMetricProgrammables);
ze_result_t ZE_APICALL
zetMetricProgrammableGetPropertiesExp(zet_metric_programmable_exp_handle_t hMetricProgrammable,
                                      zet_metric_programmable_exp_properties_t *pProperties);
ze_result_t ZE_APICALL zetMetricProgrammableGetParamInfoExp(
    zet_metric_programmable_exp_handle_t hMetricProgrammable, uint32_t *pParameterCount,
    zet_metric_programmable_param_info_exp_t *pParameterInfo);
ze_result_t ZE_APICALL zetMetricProgrammableGetParamValueInfoExp(
    zet_metric_programmable_exp_handle_t hMetricProgrammable, uint32_t parameterOrdinal,
    uint32_t *pValueInfoCount, zet_metric_programmable_param_value_info_exp_t *pValueInfo);
ze_result_t ZE_APICALL zetMetricCreateFromProgrammableExp2(
    zet_metric_programmable_exp_handle_t hMetricProgrammable, uint32_t parameterCount,
    zet_metric_programmable_param_value_exp_t *pParameterValues, const char *pName,
    const char *pDescription, uint32_t *pMetricHandleCount, zet_metric_handle_t *phMetricHandles);
ze_result_t ZE_APICALL zetMetricCreateFromProgrammableExp(
    zet_metric_programmable_exp_handle_t hMetricProgrammable,
    zet_metric_programmable_param_value_exp_t *pParameterValues, uint32_t parameterCount,
    const char *pName, const char *pDescription, uint32_t *pMetricHandleCount,
    zet_metric_handle_t *phMetricHandles);
ze_result_t ZE_APICALL zetMetricDestroyExp(zet_metric_handle_t hMetric);
ze_result_t ZE_APICALL zetDeviceCreateMetricGroupsFromMetricsExp(
    zet_device_handle_t hDevice, uint32_t metricCount, zet_metric_handle_t *phMetrics,
    const char *pMetricGroupNamePrefix, const char *pDescription, uint32_t *pMetricGroupCount,
    zet_metric_group_handle_t *phMetricGroup);
ze_result_t ZE_APICALL zetMetricGroupCreateExp(zet_device_handle_t hDevice, const char *pName,
                                               const char *pDescription,
                                               zet_metric_group_sampling_type_flags_t samplingType,
                                               zet_metric_group_handle_t *phMetricGroup);
ze_result_t ZE_APICALL zetMetricGroupAddMetricExp(zet_metric_group_handle_t hMetricGroup,
                                                  zet_metric_handle_t hMetric,
                                                  size_t *pErrorStringSize, char *pErrorString);
ze_result_t ZE_APICALL zetMetricGroupRemoveMetricExp(zet_metric_group_handle_t hMetricGroup,
                                                     zet_metric_handle_t hMetric);
ze_result_t ZE_APICALL zetMetricGroupCloseExp(zet_metric_group_handle_t hMetricGroup);
ze_result_t ZE_APICALL zetMetricGroupDestroyExp(zet_metric_group_handle_t hMetricGroup);
ze_result_t ZE_APICALL zetMetricTracerCreateExp(
    zet_context_handle_t hContext, zet_device_handle_t hDevice, uint32_t metricGroupCount,
    zet_metric_group_handle_t *phMetricGroups, zet_metric_tracer_exp_desc_t *desc,
    ze_event_handle_t hNotificationEvent, zet_metric_tracer_exp_handle_t *phMetricTracer);
ze_result_t ZE_APICALL zetMetricTracerDestroyExp(zet_metric_tracer_exp_handle_t hMetricTracer);
ze_result_t ZE_APICALL zetMetricTracerEnableExp(zet_metric_tracer_exp_handle_t hMetricTracer,
                                                ze_bool_t synchronous);
ze_result_t ZE_APICALL zetMetricTracerDisableExp(zet_metric_tracer_exp_handle_t hMetricTracer,
                                                 ze_bool_t synchronous);
ze_result_t ZE_APICALL zetMetricTracerReadDataExp(zet_metric_tracer_exp_handle_t hMetricTracer,
                                                  size_t *pRawDataSize, uint8_t *pRawData);
ze_result_t ZE_APICALL zetMetricDecoderCreateExp(zet_metric_tracer_exp_handle_t hMetricTracer,
                                                 zet_metric_decoder_exp_handle_t *phMetricDecoder);
ze_result_t ZE_APICALL zetMetricDecoderDestroyExp(zet_metric_decoder_exp_handle_t phMetricDecoder);
ze_result_t ZE_APICALL
zetMetricDecoderGetDecodableMetricsExp(zet_metric_decoder_exp_handle_t hMetricDecoder,
                                       uint32_t *pCount, zet_metric_handle_t *phMetrics);
ze_result_t ZE_APICALL zetMetricTracerDecodeExp(zet_metric_decoder_exp_handle_t phMetricDecoder,
                                                size_t *pRawDataSize, uint8_t *pRawData,
                                                uint32_t metricsCount,
                                                zet_metric_handle_t *phMetrics, uint32_t *pSetCount,
                                                uint32_t *pMetricEntriesCountPerSet,
                                                uint32_t *pMetricEntriesCount,
                                                zet_metric_entry_exp_t *pMetricEntries);
#endif

#endif
