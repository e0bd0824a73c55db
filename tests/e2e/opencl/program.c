/* SPDX-License-Identifier: MIT */
/*
 * An OpenCL program with every kind of enqueue, for recordings. Usage: program MODE [OPTIONS]
 * MODE: all, fail (a build that fails), crash (after kernels were launched), threads, async (a
 * build with a callback), link, usm, exit (nobody waits). OPTIONS are the build's. Prints what it
 * did, for the test to compare: "KIND BYTES" a line.
 */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 4096, GROUP = 64, THREADS = 4, LAUNCHES = 50 };

static const char source[] = "kernel void add(global int *a, int n, local int *t) {\n"
                             "    int i = get_global_id(0);\n"
                             "    t[get_local_id(0)] = a[i];\n"
                             "    barrier(CLK_LOCAL_MEM_FENCE);\n"
                             "    a[i] = t[get_local_id(0)] + n;\n"
                             "}\n"
                             "kernel void twice(global int *a) {\n"
                             "    a[get_global_id(0)] *= 2;\n"
                             "}\n";
static const char library[] = "int helper(int x) { return x * 3; }\n";
static const char user[] = "int helper(int x);\n"
                           "kernel void thrice(global int *a) {\n"
                           "    a[get_global_id(0)] = helper(a[get_global_id(0)]);\n"
                           "}\n";

static cl_platform_id platform;
static cl_device_id device;
static cl_context context;

static void ok(cl_int error, const char *what)
{
    if (error) {
        fprintf(stderr, "FAILED %s: %d\n", what, error);
        exit(1);
    }
}
#define OK(call) ok((call), #call)

static void expect(int good, const char *what)
{
    if (!good) {
        fprintf(stderr, "FAILED %s\n", what);
        exit(1);
    }
}

static cl_program created(const char *text)
{
    cl_int error;
    cl_program p = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    ok(error, "clCreateProgramWithSource");
    return p;
}

static cl_program built(const char *options)
{
    cl_program p = created(source);
    OK(clBuildProgram(p, 0, NULL, options, NULL, NULL));
    return p;
}

static cl_kernel kernel_of(cl_program program, const char *name)
{
    cl_int error;
    cl_kernel k = clCreateKernel(program, name, &error);
    cl_program its = NULL;
    ok(error, name);
    OK(clGetKernelInfo(k, CL_KERNEL_PROGRAM, sizeof(its), &its, NULL));
    expect(its == program, "the kernel's program");
    return k;
}

static cl_command_queue queue_new(void)
{
    cl_int error;
    cl_command_queue q = clCreateCommandQueueWithProperties(context, device, NULL, &error);
    ok(error, "clCreateCommandQueueWithProperties");
    return q;
}

static cl_mem buffer_new(void)
{
    cl_int error;
    cl_mem m = clCreateBuffer(context, CL_MEM_READ_WRITE, N * sizeof(cl_int), NULL, &error);
    ok(error, "clCreateBuffer");
    return m;
}

static cl_kernel add_of(cl_program program, cl_mem memory, cl_int n)
{
    cl_kernel k = kernel_of(program, "add");
    OK(clSetKernelArg(k, 0, sizeof(memory), &memory));
    OK(clSetKernelArg(k, 1, sizeof(n), &n));
    OK(clSetKernelArg(k, 2, GROUP * sizeof(cl_int), NULL));
    return k;
}

static void launch(cl_command_queue queue, cl_kernel kernel, cl_event *event)
{
    const size_t global = N, local = GROUP;
    OK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, event));
}

/* The application's queue says what the application asked for. */
static void see_queue(cl_command_queue queue)
{
    cl_command_queue_properties properties = 99;
    OK(clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof(properties), &properties, NULL));
    expect(properties == 0, "the queue's properties");
}

static void all(const char *options)
{
    enum { SIZE_B = N * sizeof(cl_int) };
    static cl_int data[N], back[N];
    const cl_int four = 4;
    cl_program program = built(options);
    cl_command_queue queue = queue_new();
    cl_mem a = buffer_new(), b = buffer_new();
    cl_event event;
    cl_int error;
    see_queue(queue);
    for (int i = 0; i < N; i++)
        data[i] = i;
    cl_kernel add = add_of(program, a, 5), twice = kernel_of(program, "twice");
    OK(clEnqueueWriteBuffer(queue, a, CL_FALSE, 0, SIZE_B, data, 0, NULL, NULL));
    launch(queue, add, &event);
    OK(clSetKernelArg(twice, 0, sizeof(b), &b));
    OK(clEnqueueCopyBuffer(queue, a, b, 0, 0, SIZE_B, 1, &event, NULL));
    launch(queue, twice, NULL);
    OK(clEnqueueBarrierWithWaitList(queue, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(queue, b, CL_TRUE, 0, SIZE_B, back, 0, NULL, NULL));
    for (int i = 0; i < N; i++)
        expect(back[i] == 2 * (i + 5), "what the kernels computed");
    OK(clEnqueueFillBuffer(queue, a, &four, sizeof(four), 0, SIZE_B / 2, 0, NULL, NULL));
    cl_int *mapped =
        clEnqueueMapBuffer(queue, a, CL_TRUE, CL_MAP_READ, 0, SIZE_B / 4, 0, NULL, NULL, &error);
    ok(error, "clEnqueueMapBuffer");
    expect(mapped[7] == 4, "the filled buffer");
    OK(clEnqueueUnmapMemObject(queue, a, mapped, 0, NULL, NULL));
    OK(clFinish(queue));
    cl_uint references = 0;
    OK(clGetEventInfo(event, CL_EVENT_REFERENCE_COUNT, sizeof(references), &references, NULL));
    printf("event references %u\n", references);
    OK(clReleaseEvent(event));
    OK(clReleaseKernel(add));
    OK(clReleaseKernel(twice));
    OK(clRetainMemObject(a));
    OK(clReleaseMemObject(a));
    OK(clReleaseMemObject(a));
    OK(clReleaseMemObject(b));
    OK(clReleaseCommandQueue(queue));
    OK(clReleaseProgram(program));
}

static void fail(const char *options)
{
    cl_program p = created("kernel void broken(global int *a) { a[0] = nonsense; }\n");
    expect(clBuildProgram(p, 1, &device, options, NULL, NULL) == CL_BUILD_PROGRAM_FAILURE,
           "a build that fails");
    expect(!clCreateKernel(p, "broken", NULL), "a kernel of it");
}

static void crash(const char *options)
{
    cl_mem a = buffer_new();
    cl_command_queue queue = queue_new();
    launch(queue, add_of(built(options), a, 1), NULL);
    OK(clFinish(queue));
    abort();
}

static void leave(const char *options)
{
    cl_mem a = buffer_new();
    cl_command_queue queue = queue_new();
    cl_event event;
    cl_int status = CL_QUEUED;
    launch(queue, add_of(built(options), a, 1), &event);
    OK(clFlush(queue));
    while (status != CL_COMPLETE)
        OK(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL));
}

static cl_program shared;

static void *work(void *unused)
{
    cl_mem a = buffer_new();
    cl_command_queue queue = queue_new();
    cl_kernel k = add_of(shared, a, 1);
    for (int i = 0; i < LAUNCHES; i++) {
        launch(queue, k, NULL);
        if (i % 10 == 9)
            OK(clFinish(queue));
    }
    OK(clReleaseKernel(k));
    OK(clReleaseCommandQueue(queue));
    OK(clReleaseMemObject(a));
    return NULL;
}

static void threads(const char *options)
{
    pthread_t ids[THREADS];
    shared = built(options);
    for (int i = 0; i < THREADS; i++)
        expect(!pthread_create(&ids[i], NULL, work, NULL), "a thread");
    for (int i = 0; i < THREADS; i++)
        pthread_join(ids[i], NULL);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int notified;

static void CL_CALLBACK on_built(cl_program program, void *user_data)
{
    pthread_mutex_lock(&lock);
    notified += user_data == &notified;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void async(const char *options)
{
    cl_program p = created(source);
    OK(clBuildProgram(p, 1, &device, options, on_built, &notified));
    pthread_mutex_lock(&lock);
    while (!notified)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    cl_command_queue queue = queue_new();
    launch(queue, add_of(p, buffer_new(), 1), NULL);
    OK(clFinish(queue));
}

static void link_two(const char *options)
{
    cl_program parts[2] = {created(library), created(user)};
    cl_int error;
    for (int i = 0; i < 2; i++)
        OK(clCompileProgram(parts[i], 1, &device, options, 0, NULL, NULL, NULL, NULL));
    cl_program p = clLinkProgram(context, 1, &device, NULL, 2, parts, NULL, NULL, &error);
    ok(error, "clLinkProgram");
    cl_mem a = buffer_new();
    cl_kernel k = kernel_of(p, "thrice");
    cl_command_queue queue = queue_new();
    OK(clSetKernelArg(k, 0, sizeof(a), &a));
    launch(queue, k, NULL);
    OK(clFinish(queue));
}

/* Functions of extensions, got by their names. */
static void usm(const char *options)
{
#define GET(name)                                                                                  \
    name##_fn name = (name##_fn)clGetExtensionFunctionAddressForPlatform(platform, #name)
    GET(clDeviceMemAllocINTEL);
    GET(clHostMemAllocINTEL);
    GET(clEnqueueMemcpyINTEL);
    GET(clEnqueueMemFillINTEL);
    GET(clMemFreeINTEL);
    GET(clSetKernelArgMemPointerINTEL);
#undef GET
    enum { SIZE_B = N * sizeof(cl_int) };
    const cl_int six = 6;
    cl_int error;
    cl_int *there = clDeviceMemAllocINTEL(context, device, NULL, SIZE_B, 0, &error);
    ok(error, "clDeviceMemAllocINTEL");
    cl_int *here = clHostMemAllocINTEL(context, NULL, SIZE_B, 0, &error);
    ok(error, "clHostMemAllocINTEL");
    cl_command_queue queue = queue_new();
    cl_kernel twice = kernel_of(built(options), "twice");
    OK(clSetKernelArgMemPointerINTEL(twice, 0, there));
    OK(clEnqueueMemFillINTEL(queue, there, &six, sizeof(six), SIZE_B, 0, NULL, NULL));
    launch(queue, twice, NULL);
    OK(clEnqueueMemcpyINTEL(queue, CL_TRUE, here, there, SIZE_B, 0, NULL, NULL));
    expect(here[0] == 12 && here[N - 1] == 12, "what came back");
    OK(clMemFreeINTEL(context, there));
    OK(clMemFreeINTEL(context, here));
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(const char *options);
    } modes[] = {{"all", all},     {"fail", fail},     {"crash", crash}, {"threads", threads},
                 {"async", async}, {"link", link_two}, {"usm", usm},     {"exit", leave}};
    cl_int error;
    OK(clGetPlatformIDs(1, &platform, NULL));
    OK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    ok(error, "clCreateContext");
    for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(modes[0]); i++)
        if (!strcmp(modes[i].name, argv[1]))
            modes[i].run(argc > 2 ? argv[2] : NULL);
    return 0;
}
