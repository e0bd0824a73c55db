/* SPDX-License-Identifier: MIT */
#define CL_TARGET_OPENCL_VERSION 200
#include "oracle.h"

#include <CL/cl.h>

struct suite_oracle {
    cl_context context;
    cl_device_id device;
    cl_command_queue queue;
    cl_program program;
    cl_mem buffers[SUITE_MAX_BUFFERS], images[8], image_buffers[8];
    cl_sampler samplers[8];
};

static bool good(cl_int error, const char *what)
{
    if (error != CL_SUCCESS)
        fprintf(stderr, "  oracle: %s: %d\n", what, error);
    return error == CL_SUCCESS;
}

static bool find_device(struct suite_oracle *o)
{
    cl_platform_id platforms[16];
    cl_uint count = 0;
    if (clGetPlatformIDs(16, platforms, &count) != CL_SUCCESS)
        return false;
    for (cl_uint i = 0; i < count && i < 16; i++) {
        char name[256] = "";
        clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof(name), name, NULL);
        if (strncmp(name, "Portable", 8) == 0 &&
            clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 1, &o->device, NULL) == CL_SUCCESS)
            return true;
    }
    return false;
}

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = file ? calloc(1, 1 << 20) : NULL;
    if (text && fread(text, 1, (1 << 20) - 1, file) == 0) {
        free(text);
        text = NULL;
    }
    if (file)
        fclose(file);
    return text;
}

static bool build(struct suite_oracle *o, const char *source, const char *options)
{
    cl_int error;
    char *text = read_text(source);
    if (!text)
        return false;
    o->program = clCreateProgramWithSource(o->context, 1, (const char **)&text, NULL, &error);
    free(text);
    if (!good(error, "clCreateProgramWithSource"))
        return false;
    error = clBuildProgram(o->program, 1, &o->device, options, NULL, NULL);
    if (error == CL_SUCCESS)
        return true;
    size_t size_B = 0;
    clGetProgramBuildInfo(o->program, o->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size_B);
    char *log = calloc(1, size_B + 1);
    clGetProgramBuildInfo(o->program, o->device, CL_PROGRAM_BUILD_LOG, size_B, log, NULL);
    fprintf(stderr, "  oracle: %.3000s\n", log);
    free(log);
    return false;
}

struct suite_oracle *suite_oracle_open(const char *source, const char *options)
{
    struct suite_oracle *o = calloc(1, sizeof(*o));
    cl_int error = CL_DEVICE_NOT_FOUND;
    if (!o)
        return NULL;
    if (!find_device(o)) {
        printf("PoCL is not installed\n");
        exit(77); /* skipped */
    }
    o->context = clCreateContext(NULL, 1, &o->device, NULL, NULL, &error);
    if (o->context)
        o->queue = clCreateCommandQueueWithProperties(o->context, o->device, NULL, &error);
    if (good(error, "PoCL") && build(o, source, options))
        return o;
    suite_oracle_close(o);
    return NULL;
}

void suite_oracle_close(struct suite_oracle *o)
{
    if (!o)
        return;
    if (o->program)
        clReleaseProgram(o->program);
    if (o->queue)
        clReleaseCommandQueue(o->queue);
    if (o->context)
        clReleaseContext(o->context);
    free(o);
}

/* ---- Images and samplers ----------------------------------------------------------------------
 */

static bool find_format(const ze_image_desc_t *desc, cl_image_format *ret)
{
    static const struct {
        ze_image_format_layout_t layout;
        uint8_t bits;
        cl_channel_order order;
    } rows[] = {
        /* PoCL 3.1 gives 0 for an alpha that a format lacks, where OpenCL wants 1 */
        {ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8, 8, CL_RGBA},
        {ZE_IMAGE_FORMAT_LAYOUT_16_16_16_16, 16, CL_RGBA},
        {ZE_IMAGE_FORMAT_LAYOUT_32_32_32_32, 32, CL_RGBA},
    };
    static const cl_channel_type types[][3] = {
        [ZE_IMAGE_FORMAT_TYPE_UINT] = {CL_UNSIGNED_INT8, CL_UNSIGNED_INT16, CL_UNSIGNED_INT32},
        [ZE_IMAGE_FORMAT_TYPE_SINT] = {CL_SIGNED_INT8, CL_SIGNED_INT16, CL_SIGNED_INT32},
        [ZE_IMAGE_FORMAT_TYPE_UNORM] = {CL_UNORM_INT8, CL_UNORM_INT16, 0},
        [ZE_IMAGE_FORMAT_TYPE_SNORM] = {CL_SNORM_INT8, CL_SNORM_INT16, 0},
        [ZE_IMAGE_FORMAT_TYPE_FLOAT] = {0, CL_HALF_FLOAT, CL_FLOAT},
    };
    const ze_image_format_t *f = &desc->format;
    if (f->x != ZE_IMAGE_FORMAT_SWIZZLE_R || f->y != ZE_IMAGE_FORMAT_SWIZZLE_G ||
        f->z != ZE_IMAGE_FORMAT_SWIZZLE_B || f->w != ZE_IMAGE_FORMAT_SWIZZLE_A)
        return false;
    for (size_t i = 0; i < SUITE_COUNT(rows); i++) {
        if (rows[i].layout != f->layout)
            continue;
        ret->image_channel_order = rows[i].order;
        ret->image_channel_data_type = types[f->type][rows[i].bits / 16];
        return ret->image_channel_data_type != 0;
    }
    return false;
}

static bool make_image(struct suite_oracle *o, const struct suite_image *image, size_t i)
{
    static const cl_mem_object_type types[] = {
        [ZE_IMAGE_TYPE_1D] = CL_MEM_OBJECT_IMAGE1D,
        [ZE_IMAGE_TYPE_1DARRAY] = CL_MEM_OBJECT_IMAGE1D_ARRAY,
        [ZE_IMAGE_TYPE_2D] = CL_MEM_OBJECT_IMAGE2D,
        [ZE_IMAGE_TYPE_2DARRAY] = CL_MEM_OBJECT_IMAGE2D_ARRAY,
        [ZE_IMAGE_TYPE_3D] = CL_MEM_OBJECT_IMAGE3D,
        [ZE_IMAGE_TYPE_BUFFER] = CL_MEM_OBJECT_IMAGE1D_BUFFER,
    };
    const ze_image_desc_t *desc = &image->desc;
    cl_image_format format;
    cl_int error = CL_SUCCESS;
    if (!find_format(desc, &format))
        return false;
    cl_image_desc d = {.image_type = types[desc->type],
                       .image_width = desc->width,
                       .image_height = desc->height,
                       .image_depth = desc->depth,
                       .image_array_size = desc->arraylevels};
    if (desc->type == ZE_IMAGE_TYPE_BUFFER) {
        o->image_buffers[i] =
            clCreateBuffer(o->context, CL_MEM_COPY_HOST_PTR, image->size_B, image->pixels, &error);
        d.buffer = o->image_buffers[i];
        d.image_height = d.image_depth = 0;
    }
    o->images[i] =
        clCreateImage(o->context, CL_MEM_READ_WRITE | (d.buffer ? 0 : CL_MEM_COPY_HOST_PTR),
                      &format, &d, d.buffer ? NULL : image->pixels, &error);
    return error == CL_SUCCESS;
}

static bool make_sampler(struct suite_oracle *o, const ze_sampler_desc_t *desc, size_t i)
{
    static const cl_addressing_mode modes[] = {
        [ZE_SAMPLER_ADDRESS_MODE_NONE] = CL_ADDRESS_NONE,
        [ZE_SAMPLER_ADDRESS_MODE_REPEAT] = CL_ADDRESS_REPEAT,
        [ZE_SAMPLER_ADDRESS_MODE_CLAMP] = CL_ADDRESS_CLAMP_TO_EDGE,
        [ZE_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER] = CL_ADDRESS_CLAMP,
        [ZE_SAMPLER_ADDRESS_MODE_MIRROR] = CL_ADDRESS_MIRRORED_REPEAT};
    const cl_sampler_properties properties[] = {
        CL_SAMPLER_NORMALIZED_COORDS,
        desc->isNormalized,
        CL_SAMPLER_ADDRESSING_MODE,
        modes[desc->addressMode],
        CL_SAMPLER_FILTER_MODE,
        desc->filterMode == ZE_SAMPLER_FILTER_MODE_LINEAR ? CL_FILTER_LINEAR : CL_FILTER_NEAREST,
        0};
    cl_int error;
    o->samplers[i] = clCreateSamplerWithProperties(o->context, properties, &error);
    return error == CL_SUCCESS;
}

static bool read_image(struct suite_oracle *o, const struct suite_image *image, size_t i, void *to)
{
    const ze_image_desc_t *desc = &image->desc;
    size_t origin[3] = {0}, size[3] = {desc->width, 1, 1};
    if (desc->type == ZE_IMAGE_TYPE_2D || desc->type == ZE_IMAGE_TYPE_2DARRAY ||
        desc->type == ZE_IMAGE_TYPE_3D)
        size[1] = desc->height;
    if (desc->type == ZE_IMAGE_TYPE_1DARRAY)
        size[1] = desc->arraylevels;
    if (desc->type == ZE_IMAGE_TYPE_2DARRAY)
        size[2] = desc->arraylevels;
    if (desc->type == ZE_IMAGE_TYPE_3D)
        size[2] = desc->depth;
    if (o->image_buffers[i])
        return good(clEnqueueReadBuffer(o->queue, o->image_buffers[i], CL_TRUE, 0, image->size_B,
                                        to, 0, NULL, NULL),
                    "clEnqueueReadBuffer");
    return good(
        clEnqueueReadImage(o->queue, o->images[i], CL_TRUE, origin, size, 0, 0, to, 0, NULL, NULL),
        "clEnqueueReadImage");
}

/* ---- A launch ---------------------------------------------------------------------------------
 */

static bool set_args(struct suite_oracle *o, cl_kernel kernel, const struct suite_arg *args,
                     cl_uint count)
{
    for (cl_uint i = 0; i < count; i++) {
        const struct suite_arg *arg = &args[i];
        const void *value = arg->kind == SUITE_BUFFER    ? (const void *)&o->buffers[arg->index]
                            : arg->kind == SUITE_IMAGE   ? (const void *)&o->images[arg->index]
                            : arg->kind == SUITE_SAMPLER ? (const void *)&o->samplers[arg->index]
                            : arg->kind == SUITE_VALUE   ? (const void *)arg->value
                                                         : NULL;
        if (!good(clSetKernelArg(kernel, i, arg->size_B, value), "clSetKernelArg"))
            return false;
    }
    return true;
}

static enum suite_oracle_result launch(struct suite_oracle *o, const char *name,
                                       const struct suite_arg *args, cl_uint count,
                                       const uint32_t groups[3], const uint32_t local[3],
                                       const uint32_t offset[3])
{
    cl_int error;
    cl_kernel kernel = clCreateKernel(o->program, name, &error);
    if (error != CL_SUCCESS)
        return SUITE_ORACLE_CANNOT;
    size_t first[3], items[3], group[3];
    for (int d = 0; d < 3; d++) {
        first[d] = offset ? offset[d] : 0;
        group[d] = local[d] ? local[d] : 1;
        items[d] = group[d] * (groups[d] ? groups[d] : 1);
    }
    bool right =
        set_args(o, kernel, args, count) &&
        good(clEnqueueNDRangeKernel(o->queue, kernel, 3, first, items, group, 0, NULL, NULL),
             "clEnqueueNDRangeKernel") &&
        good(clFinish(o->queue), "clFinish");
    clReleaseKernel(kernel);
    return right ? SUITE_ORACLE_RAN : SUITE_ORACLE_FAILED;
}

static void clean(struct suite_oracle *o)
{
    for (size_t i = 0; i < SUITE_COUNT(o->buffers); i++)
        if (o->buffers[i])
            clReleaseMemObject(o->buffers[i]);
    for (size_t i = 0; i < SUITE_COUNT(o->images); i++) {
        if (o->images[i])
            clReleaseMemObject(o->images[i]);
        if (o->image_buffers[i])
            clReleaseMemObject(o->image_buffers[i]);
        if (o->samplers[i])
            clReleaseSampler(o->samplers[i]);
    }
    memset(o->buffers, 0, sizeof(o->buffers));
    memset(o->images, 0, sizeof(o->images));
    memset(o->image_buffers, 0, sizeof(o->image_buffers));
    memset(o->samplers, 0, sizeof(o->samplers));
}

/* Buffers are the memory of the suite's, so that addresses in them hold. */
static bool make_objects(struct suite_oracle *o, const struct suite *s)
{
    bool right = true;
    for (size_t i = 0; right && i < s->buffer_count; i++) {
        const struct suite_buffer *b = &s->buffers[i];
        cl_int error;
        size_t count = b->count ? b->count : 1;
        if (b->is_image)
            continue;
        o->buffers[i] = clCreateBuffer(o->context, CL_MEM_USE_HOST_PTR,
                                       count * suite_type_size(b->type), b->device, &error);
        right = good(error, "clCreateBuffer");
    }
    for (size_t i = 0; right && i < s->image_count; i++)
        right = make_image(o, &s->images[i], i);
    for (size_t i = 0; right && i < s->sampler_count; i++)
        right = make_sampler(o, &s->samplers[i].desc, i);
    return right;
}

/* Results into the host's memory. */
static bool fetch(struct suite_oracle *o, const struct suite *s)
{
    bool right = true;
    for (size_t i = 0; right && i < s->buffer_count; i++) {
        const struct suite_buffer *b = &s->buffers[i];
        if (b->is_image) {
            right = read_image(o, &s->images[b->image], b->image, b->device);
            continue;
        }
        cl_int error;
        size_t size_B = (b->count ? b->count : 1) * suite_type_size(b->type);
        void *mapped = clEnqueueMapBuffer(o->queue, o->buffers[i], CL_TRUE, CL_MAP_READ, 0, size_B,
                                          0, NULL, NULL, &error);
        right = good(error, "clEnqueueMapBuffer") && mapped == b->device;
        if (mapped)
            clEnqueueUnmapMemObject(o->queue, o->buffers[i], mapped, 0, NULL, NULL);
    }
    return right && good(clFinish(o->queue), "clFinish");
}

enum suite_oracle_result suite_oracle_run(struct suite_oracle *o, struct suite *s,
                                          const struct suite_case *c)
{
    enum suite_oracle_result result = SUITE_ORACLE_RAN;
    if (!make_objects(o, s))
        result = SUITE_ORACLE_CANNOT;
    for (size_t i = 0; result == SUITE_ORACLE_RAN && i < s->stage_count; i++) {
        const struct suite_stage *stage = &s->stages[i];
        result = launch(o, stage->kernel, stage->args, stage->arg_count, stage->groups,
                        stage->local, NULL);
    }
    if (result == SUITE_ORACLE_RAN)
        result = launch(o, c->kernel, s->args, s->arg_count, s->groups, s->local, s->offset);
    if (result == SUITE_ORACLE_RAN && !fetch(o, s))
        result = SUITE_ORACLE_FAILED;
    clean(o);
    return result;
}
