/* SPDX-License-Identifier: MIT */
/* An OpenCL program on Intel's own driver, compared with plain C. Usage: opencl DEVICE-ID(hex) */
#define CL_TARGET_OPENCL_VERSION 210
#include <CL/cl.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char source[] =
    "kernel void turn(global int *a, global float *b, local int *t) {\n"
    "    int i = get_global_id(0), l = get_local_id(0), n = get_local_size(0);\n"
    "    t[l] = a[i];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    a[i] = t[n - 1 - l] + get_group_id(0);\n"
    "    b[i] = sqrt((float)i) * 2.0f;\n"
    "}\n"
    "kernel void count(global int *bins, global const int *a, global int *sum) {\n"
    "    int i = get_global_id(0);\n"
    "    atomic_inc(&bins[a[i] & 15]);\n"
    "    atomic_add(sum, a[i]);\n"
    "}\n"
    "kernel void spill(global int *a, int n) {\n"
    "    int own[64];\n"
    "    for (int k = 0; k < 64; k++) own[k] = a[get_global_id(0)] * k;\n"
    "    int s = 0;\n"
    "    for (int k = 0; k < n; k++) s += own[(k * 7 + s) & 63];\n"
    "    a[get_global_id(0)] = s;\n"
    "}\n"
    "__attribute__((intel_reqd_sub_group_size(16)))\n"
    "kernel void each(global int *seen, global int *total) {\n"
    "    atomic_inc(&seen[get_global_id(0) & 255]);\n"
    "    atomic_inc(total);\n"
    "}\n"
    "#ifndef NO_IMAGES\n"
    "constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE |\n"
    "                             CLK_FILTER_NEAREST;\n"
    "constant sampler_t linear = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_CLAMP_TO_EDGE |\n"
    "                            CLK_FILTER_LINEAR;\n"
    "kernel void flip(read_only image2d_t from, write_only image2d_t to) {\n"
    "    int2 p = (int2)(get_global_id(0), get_global_id(1)), s = get_image_dim(from);\n"
    "    write_imageui(to, p, read_imageui(from, nearest, (int2)(s.x - 1 - p.x, p.y)) + 1);\n"
    "}\n"
    "kernel void middle(read_only image2d_t from, global float4 *to) {\n"
    "    int2 s = get_image_dim(from);\n"
    "    int x = get_global_id(0), y = get_global_id(1);\n"
    "    to[y * s.x + x] = read_imagef(from, linear, (float2)((x + 1.0f) / s.x, (y + 0.5f) / "
    "s.y));\n"
    "}\n"
    "kernel void volume(read_only image3d_t from, write_only image3d_t to) {\n"
    "    int4 p = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);\n"
    "    write_imagef(to, p, read_imagef(from, nearest, p) * 2.0f);\n"
    "}\n"
    "#endif\n";

static cl_context context;
static cl_command_queue queue;
static cl_program program;
static int failures;

static void ok(cl_int error, const char *what)
{
    if (error) {
        printf("FAILED %s: %d\n", what, error);
        exit(1);
    }
}
#define OK(call) ok((call), #call)

static void expect(int good, const char *what)
{
    if (!good)
        printf("FAILED %s\n", what);
    failures += !good;
}

static cl_kernel kernel(const char *name)
{
    cl_int error;
    cl_kernel k = clCreateKernel(program, name, &error);
    ok(error, name);
    return k;
}

static cl_mem buffer(size_t size_B, void *data)
{
    cl_int error;
    cl_mem m =
        clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, size_B, data, &error);
    ok(error, "clCreateBuffer");
    return m;
}

static void set(cl_kernel k, cl_uint index, size_t size_B, const void *value)
{
    OK(clSetKernelArg(k, index, size_B, value));
}

static void local_memory(void)
{
    enum { N = 1000, GROUP = 50 };
    int a[N];
    float b[N];
    for (int i = 0; i < N; i++)
        a[i] = i * 3;
    cl_mem ma = buffer(sizeof(a), a), mb = buffer(sizeof(b), b);
    cl_kernel k = kernel("turn");
    set(k, 0, sizeof(ma), &ma);
    set(k, 1, sizeof(mb), &mb);
    set(k, 2, GROUP * sizeof(int), NULL);
    size_t global = N, local = GROUP;
    cl_event event;
    OK(clEnqueueNDRangeKernel(queue, k, 1, NULL, &global, &local, 0, NULL, &event));
    OK(clEnqueueReadBuffer(queue, ma, CL_TRUE, 0, sizeof(a), a, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(queue, mb, CL_TRUE, 0, sizeof(b), b, 0, NULL, NULL));
    int wrong = 0;
    for (int i = 0; i < N; i++) {
        wrong += a[i] != (i / GROUP * GROUP + GROUP - 1 - i % GROUP) * 3 + i / GROUP;
        wrong += fabsf(b[i] - sqrtf((float)i) * 2.0f) > 1e-4f * b[i];
    }
    expect(!wrong, "local memory");
    cl_ulong queued, start, end;
    OK(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_QUEUED, sizeof(queued), &queued, NULL));
    OK(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof(start), &start, NULL));
    OK(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof(end), &end, NULL));
    expect(end > start && end - start < 1000000000, "profiling");
    expect(start >= queued && start - queued < 600000000000, "the device's clock");
}

static void atomics_and_private(void)
{
    enum { N = 512 };
    int a[N], bins[16] = {0}, sum = 0, want_bins[16] = {0}, want_sum = 0;
    for (int i = 0; i < N; i++) {
        a[i] = i * i;
        want_bins[a[i] & 15]++;
        want_sum += a[i];
    }
    cl_mem ma = buffer(sizeof(a), a), mbins = buffer(sizeof(bins), bins), msum = buffer(4, &sum);
    cl_kernel k = kernel("count"), p = kernel("spill");
    size_t global = N;
    int n = 50, wrong = 0;
    set(k, 0, sizeof(mbins), &mbins);
    set(k, 1, sizeof(ma), &ma);
    set(k, 2, sizeof(msum), &msum);
    OK(clEnqueueNDRangeKernel(queue, k, 1, NULL, &global, NULL, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(queue, mbins, CL_TRUE, 0, sizeof(bins), bins, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(queue, msum, CL_TRUE, 0, 4, &sum, 0, NULL, NULL));
    expect(!memcmp(bins, want_bins, sizeof(bins)) && sum == want_sum, "atomics");
    set(p, 0, sizeof(ma), &ma);
    set(p, 1, sizeof(n), &n);
    OK(clEnqueueNDRangeKernel(queue, p, 1, NULL, &global, NULL, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(queue, ma, CL_TRUE, 0, sizeof(a), a, 0, NULL, NULL));
    for (int i = 0; i < N; i++) {
        unsigned s = 0;
        for (int j = 0; j < n; j++)
            s += (unsigned)(i * i) * (((unsigned)j * 7 + s) & 63);
        wrong += a[i] != (int)s;
    }
    expect(!wrong, "private arrays");
}

/* Groups of whole threads of 16 lanes: each work-item runs once. */
static void whole_threads(void)
{
    enum { N = 256 };
    int seen[N] = {0}, total = 0, wrong = 0;
    cl_mem mseen = buffer(sizeof(seen), seen), mtotal = buffer(sizeof(total), &total);
    cl_kernel k = kernel("each");
    size_t global = N, local = 64;
    set(k, 0, sizeof(mseen), &mseen);
    set(k, 1, sizeof(mtotal), &mtotal);
    OK(clEnqueueNDRangeKernel(queue, k, 1, NULL, &global, &local, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(queue, mseen, CL_TRUE, 0, sizeof(seen), seen, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(queue, mtotal, CL_TRUE, 0, sizeof(total), &total, 0, NULL, NULL));
    for (int i = 0; i < N; i++)
        wrong += seen[i] != 1;
    expect(!wrong && total == N, "work-items of whole threads");
}

static cl_mem image(cl_mem_object_type type, cl_channel_type channels, size_t w, size_t h, size_t d)
{
    cl_int error;
    cl_image_format format = {CL_RGBA, channels};
    cl_image_desc desc = {
        .image_type = type, .image_width = w, .image_height = h, .image_depth = d};
    cl_mem m = clCreateImage(context, CL_MEM_READ_WRITE, &format, &desc, NULL, &error);
    ok(error, "clCreateImage");
    return m;
}

/* Sizes that fill no tile. */
static void images(void)
{
    enum { W = 83, H = 45 };
    static unsigned char in[H][W][4], out[H][W][4];
    const size_t origin[3] = {0}, region[3] = {W, H, 1}, global[2] = {W, H};
    for (int i = 0; i < W * H * 4; i++)
        (&in[0][0][0])[i] = (unsigned char)(i * 7 + i / 256);
    cl_mem from = image(CL_MEM_OBJECT_IMAGE2D, CL_UNSIGNED_INT8, W, H, 0);
    cl_mem to = image(CL_MEM_OBJECT_IMAGE2D, CL_UNSIGNED_INT8, W, H, 0);
    cl_mem copy = image(CL_MEM_OBJECT_IMAGE2D, CL_UNSIGNED_INT8, W, H, 0);
    OK(clEnqueueWriteImage(queue, from, CL_TRUE, origin, region, 0, 0, in, 0, NULL, NULL));
    cl_kernel k = kernel("flip");
    set(k, 0, sizeof(from), &from);
    set(k, 1, sizeof(to), &to);
    OK(clEnqueueNDRangeKernel(queue, k, 2, NULL, global, NULL, 0, NULL, NULL));
    OK(clEnqueueCopyImage(queue, to, copy, origin, origin, region, 0, NULL, NULL));
    OK(clEnqueueReadImage(queue, copy, CL_TRUE, origin, region, 0, 0, out, 0, NULL, NULL));
    int wrong = 0;
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            for (int c = 0; c < 4; c++) {
                int want = in[y][W - 1 - x][c] + 1;
                wrong += out[y][x][c] != (want > 255 ? 255 : want);
            }
    expect(!wrong, "images");
}

static void sampled(void)
{
    enum { W = 17, H = 5 };
    static float in[H][W][4], out[H][W][4];
    const size_t origin[3] = {0}, region[3] = {W, H, 1}, global[2] = {W, H};
    for (int i = 0; i < W * H * 4; i++)
        (&in[0][0][0])[i] = (float)(i % 64);
    cl_mem from = image(CL_MEM_OBJECT_IMAGE2D, CL_FLOAT, W, H, 0), to = buffer(sizeof(out), out);
    OK(clEnqueueWriteImage(queue, from, CL_TRUE, origin, region, 0, 0, in, 0, NULL, NULL));
    cl_kernel k = kernel("middle");
    set(k, 0, sizeof(from), &from);
    set(k, 1, sizeof(to), &to);
    OK(clEnqueueNDRangeKernel(queue, k, 2, NULL, global, NULL, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(queue, to, CL_TRUE, 0, sizeof(out), out, 0, NULL, NULL));
    int wrong = 0;
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            for (int c = 0; c < 4; c++) {
                float next = in[y][x + 1 < W ? x + 1 : x][c];
                wrong += fabsf(out[y][x][c] - (in[y][x][c] + next) / 2) > 0.2f;
            }
    expect(!wrong, "linear samplers");
}

static void volumes(void)
{
    enum { W = 19, H = 11, D = 5 };
    static float in[D][H][W][4], out[D][H][W][4];
    const size_t origin[3] = {0}, region[3] = {W, H, D}, global[3] = {W, H, D};
    for (int i = 0; i < W * H * D * 4; i++)
        (&in[0][0][0][0])[i] = (float)i;
    cl_mem from = image(CL_MEM_OBJECT_IMAGE3D, CL_FLOAT, W, H, D);
    cl_mem to = image(CL_MEM_OBJECT_IMAGE3D, CL_FLOAT, W, H, D);
    OK(clEnqueueWriteImage(queue, from, CL_TRUE, origin, region, 0, 0, in, 0, NULL, NULL));
    cl_kernel k = kernel("volume");
    set(k, 0, sizeof(from), &from);
    set(k, 1, sizeof(to), &to);
    OK(clEnqueueNDRangeKernel(queue, k, 3, NULL, global, NULL, 0, NULL, NULL));
    OK(clEnqueueReadImage(queue, to, CL_TRUE, origin, region, 0, 0, out, 0, NULL, NULL));
    int wrong = 0;
    for (int i = 0; i < W * H * D * 4; i++)
        wrong += (&out[0][0][0][0])[i] != (float)i * 2;
    expect(!wrong, "volumes");
}

int main(int argc, char **argv)
{
    cl_platform_id platform;
    cl_device_id device;
    cl_int error;
    char name[256] = "", log[4096] = "";
    const char *text = source;
    OK(clGetPlatformIDs(1, &platform, NULL));
    OK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL));
    OK(clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof(name), name, NULL));
    expect(argc == 2 && strstr(name, argv[1]), name);
    cl_bool has_images = CL_FALSE;
    OK(clGetDeviceInfo(device, CL_DEVICE_IMAGE_SUPPORT, sizeof(has_images), &has_images, NULL));
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    ok(error, "clCreateContext");
    const cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0};
    queue = clCreateCommandQueueWithProperties(context, device, properties, &error);
    ok(error, "clCreateCommandQueueWithProperties");
    program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    ok(error, "clCreateProgramWithSource");
    if (clBuildProgram(program, 1, &device, has_images ? "" : "-DNO_IMAGES", NULL, NULL)) {
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof(log), log, NULL);
        return printf("FAILED build: %s\n", log), 1;
    }
    local_memory();
    atomics_and_private();
    whole_threads();
    if (has_images) {
        images();
        sampled();
        volumes();
    }
    printf("%s: %d failures\n", name, failures);
    return failures != 0;
}
