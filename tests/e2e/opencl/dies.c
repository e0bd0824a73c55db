/* SPDX-License-Identifier: MIT */
/* A layer below which no compiler survives -g, as that of some programs. */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl_icd.h>
#include <CL/cl_layer.h>

#include <stdlib.h>
#include <string.h>

static struct _cl_icd_dispatch table;
static __typeof__(clBuildProgram) *build_below;

static cl_int CL_API_CALL build(cl_program program, cl_uint count, const cl_device_id *devices,
                                const char *options,
                                void(CL_CALLBACK *notify)(cl_program program, void *user_data),
                                void *user_data)
{
    if (options && strstr(options, "-g "))
        abort();
    return build_below(program, count, devices, options, notify, user_data);
}

CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info name, size_t size, void *value,
                                               size_t *size_ret)
{
    static const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    if (name != CL_LAYER_API_VERSION || (value && size < sizeof(version)))
        return CL_INVALID_VALUE;
    if (value)
        memcpy(value, &version, sizeof(version));
    if (size_ret)
        *size_ret = sizeof(version);
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint entries, const struct _cl_icd_dispatch *target,
                                            cl_uint *entries_ret,
                                            const struct _cl_icd_dispatch **table_ret)
{
    size_t most = sizeof(table) / sizeof(void *);
    memcpy(&table, target, (entries < most ? entries : most) * sizeof(void *));
    build_below = table.clBuildProgram;
    table.clBuildProgram = build;
    *entries_ret = (cl_uint)most;
    *table_ret = &table;
    return CL_SUCCESS;
}
