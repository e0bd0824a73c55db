/* SPDX-License-Identifier: MIT */
/* What Intel's driver has beside the specification: structures for chains, of its own headers. */
#ifndef ZS_DRIVER_INTEL_H
#define ZS_DRIVER_INTEL_H

#include <stddef.h>
#include <stdint.h>

enum {
    ZS_INTEL_STYPE_KERNEL_REGISTERS = 0x30012, /* zex_module.h, ze_stypes.h */
    ZS_INTEL_STYPE_MODULE_DP = 0x30013,        /* ze_intel_gpu.h */
    /* of the tools' API: zet_intel_gpu_metric.h */
    ZS_INTEL_STYPE_METRIC_BUFFER_SIZE = 0x10007,
};
enum { ZS_INTEL_MODULE_DP4A = 0x1, ZS_INTEL_MODULE_DPAS = 0x2 };

/* zex_kernel_register_file_size_exp_t: in the chain of zeKernelGetProperties */
typedef struct zs_intel_kernel_registers {
    uint32_t stype;
    const void *pNext;
    uint32_t registerFileSize; /* general registers of a thread */
} zs_intel_kernel_registers_t;
/* ze_intel_device_module_dp_exp_properties_t */
typedef struct zs_intel_module_dp {
    uint32_t stype;
    void *pNext;
    uint32_t flags; /* ZS_INTEL_MODULE_* */
} zs_intel_module_dp_t;
/* zet_intel_metric_hw_buffer_size_exp_desc_t */
typedef struct zs_intel_metric_buffer_size {
    uint32_t stype;
    const void *pNext;
    size_t sizeInBytes;
} zs_intel_metric_buffer_size_t;

#endif
