/* SPDX-License-Identifier: MIT */
/* OpenCL: the first platform whose name starts with --platform=NAME. FILE: OpenCL C. */
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include "work.h"

#include <CL/cl.h>
#include <stdlib.h>
#include <string.h>

static struct {
    const char *platform;
    cl_context context;
    cl_command_queue queue;
    cl_kernel kernel;
    cl_mem buffers[ARGS_MAX];
    size_t local[3], global[3];
} cl = {.platform = ""};

static void ok(cl_int error, const char *what)
{
    if (error != CL_SUCCESS)
        give_up("%s: %d", what, error);
}

static cl_device_id find_device(void)
{
    cl_platform_id platforms[16];
    cl_uint count = 0;
    ok(clGetPlatformIDs(16, platforms, &count), "clGetPlatformIDs");
    for (cl_uint i = 0; i < count && i < 16; i++) {
        char name[256] = "";
        cl_device_id device;
        clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof(name), name, NULL);
        if (strncmp(name, cl.platform, strlen(cl.platform)) == 0 &&
            clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device, NULL) == CL_SUCCESS)
            return device;
    }
    give_up("no platform %s", cl.platform);
}

static void set_args(struct arg *args)
{
    cl_int error;
    for (cl_uint i = 0; i < ARGS_MAX && args[i].kind; i++) {
        const void *value = args[i].host;
        size_t size_B = args[i].size_B;
        if (args[i].kind == ARG_BUFFER) {
            cl.buffers[i] =
                clCreateBuffer(cl.context, args[i].is_output ? CL_MEM_READ_WRITE : CL_MEM_READ_ONLY,
                               size_B, NULL, &error);
            ok(error, "clCreateBuffer");
            ok(clEnqueueWriteBuffer(cl.queue, cl.buffers[i], CL_TRUE, 0, size_B, value, 0, NULL,
                                    NULL),
               "clEnqueueWriteBuffer");
            value = &cl.buffers[i];
            size_B = sizeof(cl_mem);
        }
        ok(clSetKernelArg(cl.kernel, i, size_B, value), "clSetKernelArg");
    }
}

void backend_open(const char *file, const struct work *work, struct arg *args)
{
    cl_int error;
    size_t size_B;
    cl_device_id device = find_device();
    cl.context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    ok(error, "clCreateContext");
    cl.queue = clCreateCommandQueue(cl.context, device, 0, &error);
    ok(error, "clCreateCommandQueue");
    const char *source = read_file(file, &size_B);
    cl_program program = clCreateProgramWithSource(cl.context, 1, &source, &size_B, &error);
    ok(error, "clCreateProgramWithSource");
    ok(clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
    cl.kernel = clCreateKernel(program, work->name, &error);
    ok(error, "clCreateKernel");
    set_args(args);
    for (int i = 0; i < 3; i++) {
        cl.local[i] = work->group_size[i];
        cl.global[i] = (size_t)work->group_size[i] * work->group_count[i];
    }
}

void backend_run(uint32_t launches, enum mode mode)
{
    for (uint32_t i = 0; i < launches; i++) {
        ok(clEnqueueNDRangeKernel(cl.queue, cl.kernel, 3, NULL, cl.global, cl.local, 0, NULL, NULL),
           "clEnqueueNDRangeKernel");
        if (mode == MODE_EACH)
            ok(clFinish(cl.queue), "clFinish");
    }
    ok(clFinish(cl.queue), "clFinish");
}

void backend_read(struct arg *args)
{
    for (uint32_t i = 0; i < ARGS_MAX; i++) {
        if (args[i].is_output)
            ok(clEnqueueReadBuffer(cl.queue, cl.buffers[i], CL_TRUE, 0, args[i].size_B,
                                   args[i].host, 0, NULL, NULL),
               "clEnqueueReadBuffer");
    }
}

uint64_t backend_instructions(void)
{
    return 0;
}

void backend_option(const char *option)
{
    if (strncmp(option, "--platform=", 11) != 0)
        give_up("%s: no such option", option);
    cl.platform = option + 11;
}

void backend_close(void)
{
}
