/* SPDX-License-Identifier: MIT */
/*
 * OpenCL programs rewritten by a tool (instrument.h). The application keeps its program; what came
 * back becomes one of its own, which kernels are created of. That holds its context: buffers of
 * probes, unified shared memory, stay until the process ends.
 */
#include "collect/instrument.h"
#include "collect/opencl_priv.h"

#include <stdlib.h>
#include <string.h>

enum { INDIRECT_HOST_INTEL = 0x4200, INDIRECT_SHARED_INTEL = 0x4202, SHARING_INTEL = 0x4192 };
enum { USM_PTRS_INTEL = 0x4203 };

typedef void *shared_alloc_fn(cl_context context, cl_device_id device, const uint64_t *properties,
                              size_t size_B, cl_uint align_B, cl_int *ret_error);
typedef void *host_alloc_fn(cl_context context, const uint64_t *properties, size_t size_B,
                            cl_uint align_B, cl_int *ret_error);
typedef cl_int free_fn(cl_context context, void *memory);

struct opencl {
    struct zs_cl *cl;
    cl_program program;
    cl_device_id device;
    cl_context context;
    uint32_t build;
    shared_alloc_fn *shared_alloc;
    host_alloc_fn *host_alloc;
    free_fn *free;
};

static uint8_t *driver_bytes(void *ctx, bool debug, size_t *ret_size_B)
{
    const struct opencl *o = ctx;
    int error;
    return debug ? cl_program_bytes_of(o->cl, o->program, o->device, CL_DEBUG_SIZES_INTEL,
                                       CL_PROGRAM_DEBUG_INFO_INTEL, ret_size_B, &error)
                 : cl_program_bytes_of(o->cl, o->program, o->device, CL_PROGRAM_BINARY_SIZES,
                                       CL_PROGRAM_BINARIES, ret_size_B, &error);
}

static void *allocate(void *ctx, size_t size_B)
{
    const struct opencl *o = ctx;
    cl_int error = 0;
    void *memory = o->shared_alloc ? o->shared_alloc(o->context, o->device, NULL, size_B,
                                                     ZS_INSTRUMENT_ALIGN_B, &error)
                                   : NULL;
    if (!memory && o->host_alloc)
        memory = o->host_alloc(o->context, NULL, size_B, ZS_INSTRUMENT_ALIGN_B, &error);
    return memory;
}

static void release(void *ctx, void *memory)
{
    const struct opencl *o = ctx;
    o->free(o->context, memory);
}

static void drop(void *ctx, void *program)
{
    ((const struct opencl *)ctx)->cl->api.clReleaseProgram(program);
}

static void *build(void *ctx, struct zs_span bytes)
{
    const struct opencl *o = ctx;
    cl_int error = 0, status = 0;
    cl_program program = o->cl->api.clCreateProgramWithBinary(
        o->context, 1, &o->device, &bytes.size_B, &bytes.data, &status, &error);
    if (!error && program)
        error = o->cl->api.clBuildProgram(program, 1, &o->device, NULL, NULL, NULL);
    if (!error && program)
        return program;
    if (program)
        drop(ctx, program);
    zs_session_note(o->cl->collector,
                    "module %u is not instrumented: the driver does not take it (%d)", o->build,
                    error);
    return NULL;
}

static bool has_atomics(struct zs_cl *cl, cl_device_id device)
{
    size_t size_B = 0;
    char *text = NULL;
    if (!cl->api.clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, 0, NULL, &size_B) && size_B)
        text = calloc(1, size_B + 1);
    bool has = text && !cl->api.clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, size_B, text, NULL) &&
               strstr(text, "cl_khr_int64_base_atomics");
    free(text);
    return has;
}

static bool find_functions(struct opencl *o)
{
    const struct cl_api *api = &o->cl->api;
    cl_platform_id platform = NULL;
    if (!api->clGetExtensionFunctionAddressForPlatform || !api->clCreateProgramWithBinary ||
        !api->clBuildProgram || !api->clReleaseProgram || !api->clSetKernelExecInfo ||
        !CL_ASK(api->clGetDeviceInfo, o->device, CL_DEVICE_PLATFORM, &platform) ||
        !CL_ASK(api->clGetProgramInfo, o->program, CL_PROGRAM_CONTEXT, &o->context))
        return false;
    const struct {
        const char *name;
        void *to;
    } functions[] = {{"clSharedMemAllocINTEL", &o->shared_alloc},
                     {"clHostMemAllocINTEL", &o->host_alloc},
                     {"clMemFreeINTEL", &o->free}};
    for (size_t i = 0; i < ZS_ARRAY_LEN(functions); i++) {
        void *found = api->clGetExtensionFunctionAddressForPlatform(platform, functions[i].name);
        memcpy(functions[i].to, &found, sizeof(found));
    }
    return o->free && (o->shared_alloc || o->host_alloc);
}

/* OpenCL's capabilities of unified shared memory are Level Zero's, bit by bit. */
static ze_memory_access_cap_flags_t sharing(struct zs_cl *cl, cl_device_id device)
{
    cl_ulong can = 0;
    CL_ASK(cl->api.clGetDeviceInfo, device, SHARING_INTEL, &can);
    return (ze_memory_access_cap_flags_t)can;
}

cl_program cl_instrument(struct zs_cl *cl, cl_program program, cl_device_id device,
                         uint32_t build_id)
{
    static const struct zs_instrument_ops ops = {driver_bytes, allocate, release, build, drop};
    struct opencl o = {.cl = cl, .program = program, .device = device, .build = build_id};
    if (!cl_is_intel_gpu(cl, device) || !find_functions(&o)) {
        zs_session_note(cl->collector,
                        "module %u is not instrumented: its OpenCL driver has no machine code of "
                        "Intel's GPUs, or no unified shared memory",
                        build_id);
        return NULL;
    }
    const struct zs_instrument_request request = {.ops = &ops,
                                                  .ctx = &o,
                                                  .build = build_id,
                                                  .narrow_atomics = !has_atomics(cl, device),
                                                  .memory_part_B = UINT64_MAX,
                                                  .sharing = sharing(cl, device)};
    return zs_instrument_exchange(cl->collector, &request);
}

/* Drivers leave out memory to which the compiler knows of no way: probes are none of its. What a
 * kernel may reach is one list, so the application's pointers stand in it, too. */
static void name_memory(struct zs_cl *cl, cl_kernel kernel, const void *const *others, size_t count)
{
    cl_program program = NULL;
    CL_ASK(cl->api.clGetKernelInfo, kernel, CL_KERNEL_PROGRAM, &program);
    const void *memory = zs_instrument_memory_of(cl->collector, (ze_module_handle_t)program);
    const void **all = memory ? calloc(count + 1, sizeof(*all)) : NULL;
    if (all) {
        if (count)
            memcpy(all, others, count * sizeof(*all));
        all[count] = memory;
        cl->api.clSetKernelExecInfo(kernel, USM_PTRS_INTEL, (count + 1) * sizeof(*all), all);
    }
    free(all);
}

void cl_instrument_kernel_reaches(struct zs_cl *cl, cl_kernel kernel, cl_uint what, size_t size_B,
                                  const void *value)
{
    if (what == USM_PTRS_INTEL && (value || !size_B))
        name_memory(cl, kernel, value, size_B / sizeof(void *));
}

void cl_instrument_kernel(struct zs_cl *cl, cl_kernel kernel)
{
    const cl_bool yes = 1;
    if (cl->api.clSetKernelExecInfo(kernel, INDIRECT_SHARED_INTEL, sizeof(yes), &yes) |
        cl->api.clSetKernelExecInfo(kernel, INDIRECT_HOST_INTEL, sizeof(yes), &yes))
        zs_session_note(cl->collector, "a kernel may not reach what its probes write to");
    name_memory(cl, kernel, NULL, 0);
}
