/* SPDX-License-Identifier: MIT */
/*
 * planted KERNEL [fork|frees|copied|only-reads|only-writes...], between HOW, engines SECOND HOW:
 * one launch of an OpenCL kernel with a defect, on the first GPU. fork: then a child goes on with
 * what it has inherited, which may fail, and its parent launches again. frees: memory was made and
 * freed before, much of it. copied: so large that an engine copies what memory has at first.
 */
#define CL_TARGET_OPENCL_VERSION 210
#include <CL/cl.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ITEMS = 64, BYTES = ITEMS * 4 };

static const char source[] = "#define L ((int)get_local_id(0))\n"
                             "#define G ((int)get_global_id(0))\n"
                             "kernel void over(global int *in, global int *out) {\n"
                             "    out[G + 1000] = in[G];\n" /* line 4 */
                             "}\n"
                             "kernel void races(global int *in, global int *out) {\n"
                             "    local int t[64];\n"
                             "    t[L] = in[G];\n" /* line 8 */
                             "    out[G] = t[(L + 32) & 63];\n"
                             "}\n"
                             "kernel void diverges(global int *in, global int *out) {\n"
                             "    if (L < 20)\n"
                             "        barrier(CLK_LOCAL_MEM_FENCE);\n" /* line 13 */
                             "    out[G] = in[G];\n"
                             "}\n"
                             "kernel void branches(global int *in, global int *out) {\n"
                             "    local int t[64];\n"
                             "    if (L < 20)\n"
                             "        t[L] = in[G];\n"
                             "    barrier(CLK_LOCAL_MEM_FENCE);\n"
                             "    if (t[L] > 3)\n" /* line 21 */
                             "        out[G] = 1;\n"
                             "}\n"
                             "kernel void fine(global int *in, global int *out) {\n"
                             "    local int t[64];\n"
                             "    t[L] = in[G];\n"
                             "    barrier(CLK_LOCAL_MEM_FENCE);\n"
                             "    out[G] = t[63 - L];\n"
                             "}\n"
                             "kernel void same(global int *in, global int *out) {\n"
                             "    out[in[G]] = 7;\n" /* line 31 */
                             "}\n"
                             "kernel void freed(global int *in, global int *out) {\n"
                             "    out[G] = in[G];\n" /* line 34 */
                             "}\n"
                             "kernel void own(global int *in, global int *out) {\n"
                             "    int t[64];\n"
                             "    for (int i = 0; i < 64; i++)\n"
                             "        t[i ^ L] = in[i];\n"
                             "    if (G < 64)\n"
                             "        out[G] = t[in[L]];\n"
                             "}\n"
                             "kernel void writes(global int *in, global int *out) {\n"
                             "    in[G] = G;\n" /* line 44 */
                             "}\n"
                             "kernel void reads(global int *in, global int *out) {\n"
                             "    out[G] = in[G ^ 1];\n" /* line 47 */
                             "}\n"
                             "kernel void late(global int *in, global int *out) {\n"
                             "    int n = out[G];\n"
                             "    for (int i = 0; i < 4000000; i++)\n"
                             "        n = n * 5 + i;\n"
                             "    in[G] = n;\n" /* line 53 */
                             "}\n"
                             "kernel void partly(global int *in, global int *out) {\n"
                             "    int t[8];\n"
                             "    for (int i = 0; i < 7; i++)\n"
                             "        t[i] = in[i];\n"
                             "    if (t[in[L] + 7] > 3)\n" /* line 59 */
                             "        out[L] = 1;\n"
                             "}\n";

static void ok(cl_int error, const char *what)
{
    if (error) {
        printf("%s: %d\n", what, error);
        exit(20);
    }
}

/* Memory that is gone, and behind it some that may be where it was. */
static cl_int set_freed(cl_context context, cl_kernel kernel)
{
    void *gone = clSVMAlloc(context, CL_MEM_READ_WRITE, BYTES, 0);
    cl_int error = clSetKernelArgSVMPointer(kernel, 1, gone);
    clSVMFree(context, gone);
    return error || !clSVMAlloc(context, CL_MEM_READ_WRITE, BYTES, 0);
}

static cl_int launch(cl_command_queue queue, cl_kernel kernel, size_t groups)
{
    size_t group = ITEMS, items = groups * group;
    cl_int error = clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, &group, 0, NULL, NULL);
    cl_int finished = clFinish(queue);
    return error ? error : finished;
}

/* Two launches of which the second reads what the first writes; how: what orders them. */
static int between(cl_context context, cl_device_id device, cl_program program, const char *how)
{
    const cl_queue_properties unordered[] = {CL_QUEUE_PROPERTIES,
                                             CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0};
    cl_int error;
    size_t items = ITEMS, group = ITEMS;
    cl_event event;
    cl_command_queue queue = clCreateCommandQueueWithProperties(
        context, device, strcmp(how, "in-order") ? unordered : NULL, &error);
    ok(error, "clCreateCommandQueue");
    cl_mem memory[2];
    for (int i = 0; i < 2; i++) {
        memory[i] = clCreateBuffer(context, CL_MEM_READ_WRITE, BYTES, NULL, &error);
        ok(error, "clCreateBuffer");
    }
    bool waits = !strcmp(how, "event");
    for (int k = 0; k < 2; k++) {
        cl_kernel kernel = clCreateKernel(program, k ? "reads" : "writes", &error);
        ok(error, "clCreateKernel");
        for (cl_uint i = 0; i < 2; i++)
            ok(clSetKernelArg(kernel, i, sizeof(memory[i]), &memory[i]), "clSetKernelArg");
        ok(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, &group, k && waits,
                                  k && waits ? &event : NULL, k ? NULL : &event),
           "clEnqueueNDRangeKernel");
        if (!strcmp(how, "barrier"))
            ok(clEnqueueBarrierWithWaitList(queue, 0, NULL, NULL), "clEnqueueBarrier");
        if (!strcmp(how, "finish"))
            ok(clFinish(queue), "clFinish");
    }
    return clFinish(queue) ? 7 : 0;
}

static cl_command_queue queue_of(cl_context context, cl_device_id device,
                                 cl_queue_properties family)
{
    enum { CL_QUEUE_FAMILY_INTEL = 0x418c, CL_QUEUE_INDEX_INTEL = 0x418d };
    const cl_queue_properties of[] = {CL_QUEUE_FAMILY_INTEL, family, CL_QUEUE_INDEX_INTEL, 0, 0};
    cl_int error;
    cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, of, &error);
    ok(error, "clCreateCommandQueue");
    return queue;
}

/* What one engine writes late another one reads, by a kernel or a copy. */
static int engines(cl_context context, cl_device_id device, cl_program program, const char *second,
                   const char *how)
{
    bool copies = !strcmp(second, "copy");
    cl_command_queue queues[2] = {queue_of(context, device, 0),
                                  queue_of(context, device, copies ? 2 : 1)};
    size_t items = ITEMS, group = ITEMS;
    cl_int error;
    cl_event event;
    cl_mem memory[3];
    for (int i = 0; i < 3; i++) {
        int zero = 0;
        memory[i] = clCreateBuffer(context, CL_MEM_READ_WRITE, BYTES, NULL, &error);
        ok(error, "clCreateBuffer");
        ok(clEnqueueFillBuffer(queues[0], memory[i], &zero, 4, 0, BYTES, 0, NULL, NULL), "clFill");
    }
    ok(clFinish(queues[0]), "clFinish");
    for (int k = 0; k < (copies ? 1 : 2); k++) {
        cl_kernel kernel = clCreateKernel(program, k ? "reads" : "late", &error);
        ok(error, "clCreateKernel");
        ok(clSetKernelArg(kernel, 0, sizeof(cl_mem), &memory[0]), "clSetKernelArg");
        ok(clSetKernelArg(kernel, 1, sizeof(cl_mem), &memory[1 + k]), "clSetKernelArg");
        bool waits = k && !strcmp(how, "event");
        ok(clEnqueueNDRangeKernel(queues[k], kernel, 1, NULL, &items, &group, waits,
                                  waits ? &event : NULL, k ? NULL : &event),
           "clEnqueueNDRangeKernel");
        ok(clFlush(queues[k]), "clFlush");
        if (!k && !strcmp(how, "finish"))
            ok(clFinish(queues[0]), "clFinish");
    }
    bool waits = !strcmp(how, "event");
    if (copies)
        ok(clEnqueueCopyBuffer(queues[1], memory[0], memory[2], 0, 0, BYTES, waits,
                               waits ? &event : NULL, NULL),
           "clEnqueueCopyBuffer");
    return clFinish(queues[1]) || clFinish(queues[0]) ? 7 : 0;
}

int main(int argc, char **argv)
{
    const char *text = source;
    static int zeros[ITEMS << 10];
    cl_int error;
    cl_platform_id platform;
    cl_device_id device;
    if (argc < 2)
        return 2;
    ok(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    ok(clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL), "clGetDeviceIDs");
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    ok(error, "clCreateContext");
    cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, NULL, &error);
    ok(error, "clCreateCommandQueue");
    const char *other = "kernel void other(void) {}";
    cl_program first = clCreateProgramWithSource(context, 1, &other, NULL, &error);
    if (!strcmp(argv[1], "races")) /* its source is the second one */
        ok(clBuildProgram(first, 1, &device, "", NULL, NULL), "clBuildProgram");
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    /* without optimisation arrays are in memory, and threads that follow each other share it */
    bool own = !strcmp(argv[1], "own") || !strcmp(argv[1], "partly");
    const char *options = own ? "-cl-std=CL2.0 -cl-opt-disable" : "-cl-std=CL2.0";
    ok(clBuildProgram(program, 1, &device, options, NULL, NULL), "clBuildProgram");
    if (!strcmp(argv[1], "between"))
        return between(context, device, program, argv[2]);
    if (!strcmp(argv[1], "engines"))
        return engines(context, device, program, argv[2], argv[3]);
    cl_kernel kernel = clCreateKernel(program, argv[1], &error);
    ok(error, "clCreateKernel");
    bool copied = argc > 2 && !strcmp(argv[2], "copied");
    cl_mem_flags only[2] = {0, 0};
    for (int i = 2; i < argc && !strncmp(argv[i], "only-", 5); i++)
        only[i - 2] = argv[i][5] == 'r' ? CL_MEM_READ_ONLY : CL_MEM_WRITE_ONLY;
    for (cl_uint i = 0; i < 2; i++) {
        size_t size_B = copied && !i ? sizeof(zeros) : BYTES;
        cl_mem memory =
            clCreateBuffer(context, CL_MEM_COPY_HOST_PTR | only[i], size_B, zeros, &error);
        ok(error, "clCreateBuffer");
        ok(clSetKernelArg(kernel, i, sizeof(memory), &memory), "clSetKernelArg");
    }
    if (!strcmp(argv[1], "freed"))
        ok(set_freed(context, kernel), "clSVMAlloc");
    bool frees = argc > 2 && !strcmp(argv[2], "frees"); /* more than is kept */
    for (int i = 0; frees && i < 1500; i++)
        clSVMFree(context, clSVMAlloc(context, CL_MEM_READ_WRITE, 256 << 10, 0));
    if (launch(queue, kernel, own ? 64 : 1))
        return 7;
    if (argc == 2 || frees || copied || only[0])
        return 0;
    pid_t child = fork();
    if (!child) {
        alarm(20);
        _exit(launch(queue, kernel, 1) ? 3 : 4);
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("child: %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
    return launch(queue, kernel, 1) ? 8 : 0;
}
