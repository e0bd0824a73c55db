/* SPDX-License-Identifier: MIT */
/*
 * suite GROUP FILE native|spirv VARIANT [KERNEL]: run a group's kernels of a binary.
 * Exit 0: all agree; 1: some do not, each reported with its first mismatch.
 * suite GROUP FILE native VARIANT each|random ...: rewritten, as each.c says.
 */
#include "oracle.h"
#include "suite_priv.h"

#include <float.h>
#include <inttypes.h>

const struct suite_shape suite_shapes_1d[] = {{{1}, {1}},   {{3}, {7}},  {{2}, {33}}, {{2}, {256}},
                                              {{13}, {20}}, {{4}, {64}}, {{0}, {0}}};
const struct suite_shape suite_shapes_2d[] = {
    {{3, 2}, {5, 7}}, {{2, 3}, {16, 4}}, {{1, 5}, {33, 1}}, {{0}, {0}}};
const struct suite_shape suite_shapes_3d[] = {
    {{3, 2, 2}, {5, 3, 2}}, {{1, 2, 3}, {16, 2, 2}}, {{2, 1, 2}, {3, 1, 11}}, {{0}, {0}}};
const struct suite_shape suite_shapes_group64[] = {{{1}, {64}}, {{5}, {64}}, {{0}, {0}}};

static const struct {
    size_t size_B;
    const char *name;
} types[S_TYPE_COUNT] = {{1, "char"}, {1, "uchar"}, {2, "short"}, {2, "ushort"},
                         {4, "int"},  {4, "uint"},  {8, "long"},  {8, "ulong"},
                         {2, "half"}, {4, "float"}, {8, "double"}};

size_t suite_type_size(enum suite_type type)
{
    return types[type].size_B;
}

/* ---- Numbers ----------------------------------------------------------------------------------
 */

float suite_half_to_float(uint16_t half)
{
    int exponent = half >> 10 & 31, fraction = half & 1023;
    float value = exponent == 31  ? (fraction ? NAN : INFINITY)
                  : exponent == 0 ? ldexpf((float)fraction, -24)
                                  : ldexpf((float)(fraction | 1024), exponent - 25);
    return half & 0x8000 ? -value : value;
}

uint16_t suite_double_to_half(double value)
{
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    double a = fabs(value);
    if (isnan(a))
        return sign | 0x7e00;
    if (a == 0)
        return sign;
    if (a >= 65520.0)
        return sign | 0x7c00;
    int exponent;
    frexp(a, &exponent); /* a in [2^(exponent - 1), 2^exponent) */
    int unit = exponent - 11 < -24 ? -24 : exponent - 11;
    double count = nearbyint(ldexp(a, -unit)); /* of units, at most 2048 */
    if (unit == -24)
        return (uint16_t)(sign | (unsigned)count);
    return (uint16_t)(sign + (unsigned)((unit + 24) << 10) + (unsigned)count);
}

uint16_t suite_float_to_half(float value)
{
    return suite_double_to_half((double)value);
}

uint64_t suite_random(struct suite *s)
{
    uint64_t z = s->random += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static uint64_t random_int(struct suite *s)
{
    static const uint64_t edges[] = {0,
                                     1,
                                     2,
                                     UINT64_MAX,
                                     0x7f,
                                     0x80,
                                     0x7fff,
                                     0x8000,
                                     0xffff,
                                     0x7fffffff,
                                     0x80000000u,
                                     (uint64_t)INT64_MAX,
                                     7,
                                     0xffffffff,
                                     UINT64_MAX - 1,
                                     (uint64_t)INT64_MIN};
    uint64_t r = suite_random(s);
    uint64_t value = (r & 7) == 0   ? edges[r >> 8 & 15]
                     : (r & 7) == 1 ? (uint64_t)((int64_t)suite_random(s) >> (r >> 8 & 63))
                                    : suite_random(s);
    return s->int_mask ? value & s->int_mask : value;
}

static double random_real(struct suite *s)
{
    static const double edges[] = {
        0.0, -0.0, INFINITY,        -INFINITY,       NAN,  1.0, -1.0, 0.5, 1e-41, -1e-41,
        1.5, 2.5,  (double)FLT_MAX, (double)FLT_MIN, 1e10, -3e9};
    uint64_t r = suite_random(s);
    if (s->special && (r & 3) == 0)
        return edges[r >> 8 & 15];
    return s->low + (s->high - s->low) * ((double)(suite_random(s) >> 11) * 0x1p-53);
}

static void put_random(struct suite *s, enum suite_type type, void *at, size_t i)
{
    switch (type) {
    case S_F16: {
        uint16_t half = suite_double_to_half(random_real(s));
        memcpy((uint16_t *)at + i, &half, 2);
        break;
    }
    case S_F32:
        ((float *)at)[i] = (float)random_real(s);
        break;
    case S_F64:
        ((double *)at)[i] = random_real(s);
        break;
    default: {
        uint64_t value = random_int(s);
        memcpy((char *)at + i * types[type].size_B, &value, types[type].size_B);
    }
    }
}

static double get_real(enum suite_type type, const void *at, size_t i)
{
    switch (type) {
    case S_F16:
        return (double)suite_half_to_float(((const uint16_t *)at)[i]);
    case S_F32:
        return (double)((const float *)at)[i];
    default:
        return ((const double *)at)[i];
    }
}

static int64_t get_int(enum suite_type type, const void *at, size_t i)
{
    uint64_t value = 0;
    size_t size_B = types[type].size_B;
    memcpy(&value, (const char *)at + i * size_B, size_B);
    unsigned shift = (unsigned)(64 - 8 * size_B);
    bool has_sign = type < S_F16 && !(type & 1);
    return has_sign ? (int64_t)(value << shift) >> shift : (int64_t)value;
}

/* The unit in the last place of a value of the type. */
static double unit_of(enum suite_type type, double value)
{
    static const struct {
        int bits, least;
    } formats[] = {[S_F16] = {11, -24}, [S_F32] = {24, -149}, [S_F64] = {53, -1074}};
    int exponent = 0;
    frexp(value, &exponent);
    int unit = exponent - formats[type].bits;
    return ldexp(1.0, unit < formats[type].least ? formats[type].least : unit);
}

static bool agree(const struct suite_buffer *b, size_t i)
{
    if (i - b->ignored < b->ignored_count || (b->without_alpha && i % 4 == 3))
        return true;
    size_t size_B = types[b->type].size_B;
    const char *got = (const char *)b->device + i * size_B;
    const char *expected = (const char *)b->expected + i * size_B;
    if (memcmp(got, expected, size_B) == 0)
        return true;
    if (b->type < S_F16)
        return (b->ulps > 0) && llabs(get_int(b->type, b->device, i) -
                                      get_int(b->type, b->expected, i)) <= (int64_t)b->ulps;
    double x = get_real(b->type, b->device, i), y = get_real(b->type, b->expected, i);
    if (isnan(x) && isnan(y))
        return true;
    if (b->ulps == 0 && b->absolute == 0)
        return false;
    if (x == y)
        return true;
    double difference = fabs(x - y);
    /* a limit of the type may round to infinity within the tolerance: not accepted */
    return difference <= b->absolute || difference <= b->ulps * unit_of(b->type, y);
}

/* ---- Arguments --------------------------------------------------------------------------------
 */

bool suite_check(struct suite *s, ze_result_t result, const char *what)
{
    if (result == ZE_RESULT_SUCCESS)
        return true;
    fprintf(stderr, "  %s: 0x%x\n", what, (unsigned)result);
    s->cannot = true;
    return false;
}

#define CHECK SUITE_CHECK

void suite_range(struct suite *s, double low, double high)
{
    s->low = low;
    s->high = high;
}

static struct suite_arg *add_arg(struct suite *s)
{
    if (s->arg_count == SUITE_MAX_ARGS) {
        fprintf(stderr, "too many arguments\n");
        exit(2);
    }
    struct suite_arg *arg = &s->args[s->arg_count++];
    memset(arg, 0, sizeof(*arg));
    return arg;
}

void suite_value(struct suite *s, size_t size_B, const void *value)
{
    if (!s->cannot) /* some drivers crash at an argument of another kind than the kernel's */
        CHECK(s, zeKernelSetArgumentValue(s->kernel, s->arg_count, size_B, value));
    struct suite_arg *arg = add_arg(s);
    arg->kind = value ? SUITE_VALUE : SUITE_LOCAL;
    arg->size_B = size_B;
    if (value && size_B <= sizeof(arg->value))
        memcpy(arg->value, value, size_B);
}

static void suite_object(struct suite *s, int kind, size_t index, const void *handle)
{
    suite_value(s, sizeof(void *), handle);
    s->args[s->arg_count - 1].kind = kind;
    s->args[s->arg_count - 1].index = index;
}

void suite_int(struct suite *s, int32_t value)
{
    suite_value(s, sizeof(value), &value);
}

void suite_float(struct suite *s, float value)
{
    suite_value(s, sizeof(value), &value);
}

void suite_local(struct suite *s, size_t size_B)
{
    suite_value(s, size_B, NULL);
}

void suite_null(struct suite *s)
{
    suite_value(s, sizeof(void *), NULL);
    s->args[s->arg_count - 1].kind = SUITE_VALUE;
}

void suite_huge(struct suite *s, size_t size_B)
{
    ze_relaxed_allocation_limits_exp_desc_t relaxed = {
        .stype = ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXP_DESC,
        .flags = ZE_RELAXED_ALLOCATION_LIMITS_EXP_FLAG_MAX_SIZE};
    ze_device_mem_alloc_desc_t device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC,
                                         .pNext = &relaxed};
    CHECK(s, zeMemAllocDevice(s->context, &device, size_B, 64, s->device, &s->huge));
    suite_value(s, sizeof(s->huge), &s->huge);
}

void suite_skip(struct suite *s)
{
    s->skipped = true;
}

static void *new_buffer(struct suite *s, enum suite_type type, size_t count)
{
    size_t size_B = (count ? count : 1) * types[type].size_B;
    if (s->buffer_count == SUITE_MAX_BUFFERS) {
        fprintf(stderr, "too many buffers\n");
        exit(2);
    }
    struct suite_buffer *b = &s->buffers[s->buffer_count++];
    ze_device_mem_alloc_desc_t device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    *b = (struct suite_buffer){.type = type, .count = count, .expected = malloc(size_B)};
    if (!b->expected || zeMemAllocShared(s->context, &device, &host, size_B, 64, s->device,
                                         &b->device) != ZE_RESULT_SUCCESS) {
        fprintf(stderr, "no memory\n");
        exit(2);
    }
    memset(b->device, 0xa5, size_B);
    memset(b->expected, 0xa5, size_B);
    return b->expected;
}

static void *add_buffer(struct suite *s, enum suite_type type, size_t count)
{
    void *expected = new_buffer(s, type, count);
    suite_object(s, SUITE_BUFFER, s->buffer_count - 1, &s->buffers[s->buffer_count - 1].device);
    return expected;
}

void *suite_extra(struct suite *s, enum suite_type type, size_t count)
{
    return new_buffer(s, type, count);
}

static struct suite_buffer *last(struct suite *s)
{
    return &s->buffers[s->buffer_count - 1];
}

void *suite_in(struct suite *s, enum suite_type type, size_t count)
{
    void *expected = add_buffer(s, type, count);
    for (size_t i = 0; i < count; i++)
        put_random(s, type, expected, i);
    suite_upload(s, expected);
    last(s)->compared = true; /* and must be as it was */
    return expected;
}

void *suite_inout(struct suite *s, enum suite_type type, size_t count, double ulps)
{
    void *expected = suite_in(s, type, count);
    last(s)->ulps = ulps;
    return expected;
}

void *suite_out(struct suite *s, enum suite_type type, size_t count, double ulps)
{
    void *expected = add_buffer(s, type, count);
    last(s)->compared = true;
    last(s)->ulps = ulps;
    return expected;
}

void *suite_zeroed(struct suite *s, enum suite_type type, size_t count, double ulps)
{
    void *expected = suite_out(s, type, count, ulps);
    memset(expected, 0, count * types[type].size_B);
    suite_upload(s, expected);
    return expected;
}

static struct suite_buffer *find(struct suite *s, const void *expected)
{
    for (size_t i = 0; i < s->buffer_count; i++) {
        if (s->buffers[i].expected == expected)
            return &s->buffers[i];
    }
    abort();
}

void suite_upload(struct suite *s, const void *expected)
{
    struct suite_buffer *b = find(s, expected);
    memcpy(b->device, b->expected, b->count * types[b->type].size_B);
}

void suite_absolute(struct suite *s, const void *expected, double absolute)
{
    find(s, expected)->absolute = absolute;
}

void suite_ignore(struct suite *s, const void *expected, size_t first, size_t count)
{
    struct suite_buffer *b = find(s, expected);
    b->ignored = first;
    b->ignored_count = count;
}

void *suite_device(struct suite *s, const void *expected)
{
    return find(s, expected)->device;
}

size_t suite_texel_size(const ze_image_desc_t *desc)
{
    static const uint8_t size_B[] = {[ZE_IMAGE_FORMAT_LAYOUT_8] = 1,
                                     [ZE_IMAGE_FORMAT_LAYOUT_16] = 2,
                                     [ZE_IMAGE_FORMAT_LAYOUT_32] = 4,
                                     [ZE_IMAGE_FORMAT_LAYOUT_8_8] = 2,
                                     [ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8] = 4,
                                     [ZE_IMAGE_FORMAT_LAYOUT_16_16] = 4,
                                     [ZE_IMAGE_FORMAT_LAYOUT_16_16_16_16] = 8,
                                     [ZE_IMAGE_FORMAT_LAYOUT_32_32] = 8,
                                     [ZE_IMAGE_FORMAT_LAYOUT_32_32_32_32] = 16,
                                     [ZE_IMAGE_FORMAT_LAYOUT_10_10_10_2] = 4,
                                     [ZE_IMAGE_FORMAT_LAYOUT_11_11_10] = 4,
                                     [ZE_IMAGE_FORMAT_LAYOUT_5_6_5] = 2,
                                     [ZE_IMAGE_FORMAT_LAYOUT_5_5_5_1] = 2,
                                     [ZE_IMAGE_FORMAT_LAYOUT_4_4_4_4] = 2,
                                     [ZE_IMAGE_FORMAT_LAYOUT_NV12] = 1,
                                     [ZE_IMAGE_FORMAT_LAYOUT_P010] = 2};
    return size_B[desc->format.layout];
}

static size_t texel_count(const ze_image_desc_t *desc)
{
    size_t count = (size_t)desc->width;
    if (desc->format.layout == ZE_IMAGE_FORMAT_LAYOUT_NV12 ||
        desc->format.layout == ZE_IMAGE_FORMAT_LAYOUT_P010)
        return count * desc->height * 3 / 2; /* of both planes */
    if (desc->type == ZE_IMAGE_TYPE_2D || desc->type == ZE_IMAGE_TYPE_2DARRAY ||
        desc->type == ZE_IMAGE_TYPE_3D)
        count *= desc->height;
    if (desc->type == ZE_IMAGE_TYPE_3D)
        count *= desc->depth;
    if (desc->type == ZE_IMAGE_TYPE_1DARRAY || desc->type == ZE_IMAGE_TYPE_2DARRAY)
        count *= desc->arraylevels;
    return count;
}

/* An image of a buffer that some drivers make of memory alone. */
static ze_result_t create_image(struct suite *s, struct suite_image *image)
{
    ze_image_desc_t desc = image->desc;
    ze_result_t result = zeImageCreate(s->context, s->device, &desc, &image->handle);
    if (result == ZE_RESULT_SUCCESS || desc.type != ZE_IMAGE_TYPE_BUFFER)
        return result;
    const ze_host_mem_alloc_desc_t memory = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    result = zeMemAllocHost(s->context, &memory, image->size_B, 4096, &image->memory);
    /* ze_image_pitched_exp_desc_t, which older headers do not have */
    const struct {
        uint32_t stype;
        const void *next, *memory;
    } pitched = {0x2001f, NULL, image->memory};
    desc.pNext = &pitched;
    return result == ZE_RESULT_SUCCESS ? zeImageCreate(s->context, s->device, &desc, &image->handle)
                                       : result;
}

/* All of it. Intel's 22.43 takes the first layer alone of arrays without a region. */
static ze_image_region_t whole(const ze_image_desc_t *desc)
{
    ze_image_region_t region = {.width = (uint32_t)desc->width,
                                .height = desc->height ? desc->height : 1,
                                .depth = desc->depth ? desc->depth : 1};
    if (desc->type == ZE_IMAGE_TYPE_1DARRAY)
        region.height = desc->arraylevels;
    if (desc->type == ZE_IMAGE_TYPE_2DARRAY)
        region.depth = desc->arraylevels;
    return region;
}

/* Of Y, and of pairs of U and V: Intel's driver copies to views of them, not to the whole. */
static void copy_planes(struct suite *s, struct suite_image *image)
{
    static const ze_image_format_layout_t layouts[2][2] = {
        {ZE_IMAGE_FORMAT_LAYOUT_8, ZE_IMAGE_FORMAT_LAYOUT_8_8},
        {ZE_IMAGE_FORMAT_LAYOUT_16, ZE_IMAGE_FORMAT_LAYOUT_16_16}};
    const uint8_t *pixels = image->pixels;
    for (uint32_t i = 0; i < 2; i++) {
        ze_image_view_planar_exp_desc_t plane = {
            .stype = ZE_STRUCTURE_TYPE_IMAGE_VIEW_PLANAR_EXP_DESC, .planeIndex = i};
        ze_image_desc_t desc = image->desc;
        desc.pNext = &plane;
        desc.format.layout = layouts[suite_texel_size(&image->desc) - 1][i];
        desc.width >>= i;
        desc.height >>= i;
        if (!CHECK(s, zeImageViewCreateExp(s->context, s->device, &desc, image->handle,
                                           &image->views[i])))
            return;
        CHECK(s, zeCommandListAppendImageCopyFromMemory(s->list, image->views[i], pixels, NULL,
                                                        NULL, 0, NULL));
        pixels += desc.width * desc.height * suite_texel_size(&desc);
    }
}

static void copy_whole(struct suite *s, const struct suite_image *image)
{
    ze_image_region_t region = whole(&image->desc);
    bool is_array = image->desc.arraylevels != 0;
    CHECK(s, zeCommandListAppendImageCopyFromMemory(s->list, image->handle, image->pixels,
                                                    is_array ? &region : NULL, NULL, 0, NULL));
}

void suite_image_arg(struct suite *s, const ze_image_desc_t *desc, const void *pixels)
{
    struct suite_image *image = &s->images[s->image_count];
    *image =
        (struct suite_image){.desc = *desc, .size_B = texel_count(desc) * suite_texel_size(desc)};
    /* not of malloc: Intel's 22.43 takes the first layer alone of arrays there */
    const ze_host_mem_alloc_desc_t memory = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    if (zeMemAllocHost(s->context, &memory, image->size_B, 4096, &image->pixels))
        exit(2);
    if (pixels)
        memcpy(image->pixels, pixels, image->size_B);
    else
        memset(image->pixels, 0xa5, image->size_B);
    s->image_count++; /* also one that the driver refuses: the case goes on to its end */
    if (!CHECK(s, create_image(s, image)))
        return;
    if (texel_count(desc) == (size_t)desc->width * desc->height * 3 / 2)
        copy_planes(s, image);
    else
        copy_whole(s, image);
    suite_object(s, SUITE_IMAGE, s->image_count - 1, &image->handle);
}

void *suite_image_out(struct suite *s, const ze_image_desc_t *desc, enum suite_type type,
                      size_t count, double ulps)
{
    void *expected = new_buffer(s, type, count);
    struct suite_buffer *b = last(s);
    b->compared = b->is_image = true;
    b->image = s->image_count;
    b->ulps = ulps;
    suite_image_arg(s, desc, NULL);
    if (!s->cannot && s->images[b->image].size_B != count * types[type].size_B) {
        fprintf(stderr, "an image of another size\n");
        s->cannot = true;
    }
    return expected;
}

void suite_image_start(struct suite *s, const void *pixels)
{
    struct suite_image *image = &s->images[s->image_count - 1];
    memcpy(image->pixels, pixels, image->size_B);
    if (image->handle)
        copy_whole(s, image);
}

void suite_sampler_arg(struct suite *s, ze_sampler_address_mode_t address,
                       ze_sampler_filter_mode_t filter, bool normalized)
{
    ze_sampler_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_SAMPLER_DESC,
                              .addressMode = address,
                              .filterMode = filter,
                              .isNormalized = normalized};
    ze_sampler_handle_t sampler = NULL;
    if (!CHECK(s, zeSamplerCreate(s->context, s->device, &desc, &sampler)))
        return;
    s->samplers[s->sampler_count].handle = sampler;
    s->samplers[s->sampler_count].desc = desc;
    suite_object(s, SUITE_SAMPLER, s->sampler_count++, &sampler);
}

/* ---- Stages -----------------------------------------------------------------------------------
 */

struct suite_stage *suite_stage(struct suite *s, const char *kernel, uint32_t groups,
                                uint32_t local)
{
    if (s->stage_count == SUITE_MAX_STAGES) {
        fprintf(stderr, "too many stages\n");
        exit(2);
    }
    struct suite_stage *stage = &s->stages[s->stage_count++];
    *stage = (struct suite_stage){kernel, .groups = {groups, 1, 1}, .local = {local, 1, 1}};
    return stage;
}

void suite_stage_buffer(struct suite *s, struct suite_stage *stage, const void *expected)
{
    stage->args[stage->arg_count++] =
        (struct suite_arg){.kind = SUITE_BUFFER,
                           .size_B = sizeof(void *),
                           .index = (size_t)(find(s, expected) - s->buffers)};
}

void suite_stage_int(struct suite_stage *stage, uint32_t value)
{
    struct suite_arg *arg = &stage->args[stage->arg_count++];
    *arg = (struct suite_arg){.kind = SUITE_VALUE, .size_B = sizeof(value)};
    memcpy(arg->value, &value, sizeof(value));
}

void suite_stage_local(struct suite_stage *stage, size_t size_B)
{
    stage->args[stage->arg_count++] = (struct suite_arg){.kind = SUITE_LOCAL, .size_B = size_B};
}

static bool run_stage(struct suite *s, const struct suite_stage *stage)
{
    ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = stage->kernel};
    ze_kernel_handle_t kernel = NULL;
    if (!CHECK(s, zeKernelCreate(s->module, &desc, &kernel)))
        return false;
    for (uint32_t i = 0; i < stage->arg_count; i++) {
        const struct suite_arg *arg = &stage->args[i];
        const void *value = arg->kind == SUITE_BUFFER ? (const void *)&s->buffers[arg->index].device
                            : arg->kind == SUITE_VALUE ? arg->value
                                                       : NULL;
        CHECK(s, zeKernelSetArgumentValue(kernel, i, arg->size_B, value));
    }
    ze_group_count_t groups = {stage->groups[0], stage->groups[1], stage->groups[2]};
    CHECK(s, zeKernelSetGroupSize(kernel, stage->local[0], stage->local[1], stage->local[2]));
    CHECK(s, zeCommandListAppendLaunchKernel(s->list, kernel, &groups, NULL, 0, NULL));
    zeKernelDestroy(kernel);
    return !s->cannot;
}

/* ---- Cases ------------------------------------------------------------------------------------
 */

static bool report_buffer(const struct suite_buffer *b, size_t arg)
{
    size_t wrong = 0, first = 0;
    for (size_t i = 0; i < b->count; i++) {
        if (!agree(b, i) && wrong++ == 0)
            first = i;
    }
    if (!wrong)
        return true;
    fprintf(stderr, "  buffer %zu (%s[%zu]): %zu differ; first at %zu: expected ", arg,
            types[b->type].name, b->count, wrong, first);
    if (b->type < S_F16)
        fprintf(stderr, "%" PRId64 " (0x%" PRIx64 "), got %" PRId64 " (0x%" PRIx64 ")\n",
                get_int(b->type, b->expected, first),
                (uint64_t)get_int(b->type, b->expected, first), get_int(b->type, b->device, first),
                (uint64_t)get_int(b->type, b->device, first));
    else
        fprintf(stderr, "%.17g (%a), got %.17g (%a)\n", get_real(b->type, b->expected, first),
                get_real(b->type, b->expected, first), get_real(b->type, b->device, first),
                get_real(b->type, b->device, first));
    return false;
}

static void clean(struct suite *s)
{
    for (size_t i = 0; i < s->buffer_count; i++) {
        zeMemFree(s->context, s->buffers[i].device);
        free(s->buffers[i].expected);
    }
    for (size_t i = 0; i < s->image_count; i++) {
        for (size_t plane = 0; plane < 2; plane++)
            if (s->images[i].views[plane])
                zeImageDestroy(s->images[i].views[plane]);
        if (s->images[i].handle)
            zeImageDestroy(s->images[i].handle);
        if (s->images[i].memory)
            zeMemFree(s->context, s->images[i].memory);
        zeMemFree(s->context, s->images[i].pixels);
    }
    for (size_t i = 0; i < s->sampler_count; i++)
        zeSamplerDestroy(s->samplers[i].handle);
    if (s->huge)
        zeMemFree(s->context, s->huge);
    s->huge = NULL;
    if (s->kernel)
        zeKernelDestroy(s->kernel);
    s->kernel = NULL;
    free(s->text);
    s->text = NULL;
    s->text_size_B = s->text_room_B = s->least_lines = s->most_lines = 0;
    s->buffer_count = s->image_count = s->sampler_count = s->stage_count = 0;
}

static void set_shape(struct suite *s, const struct suite_shape *shape)
{
    s->n = 1;
    for (int d = 0; d < 3; d++) {
        s->groups[d] = shape->groups[d] ? shape->groups[d] : 1;
        s->local[d] = shape->local[d] ? shape->local[d] : 1;
        s->items[d] = s->groups[d] * s->local[d];
        s->offset[d] = 0;
        s->n *= s->items[d];
    }
    s->arg_count = 0;
    s->low = -10.0;
    s->high = 10.0;
    s->special = false;
    s->int_mask = 0;
    s->skipped = s->cannot = false;
    s->random = 0x5eed;
}

static bool launch(struct suite *s)
{
    ze_group_count_t groups = {s->groups[0], s->groups[1], s->groups[2]};
    for (size_t i = 0; i < s->stage_count; i++) {
        if (!run_stage(s, &s->stages[i]))
            return false;
    }
    bool good =
        CHECK(s, zeKernelSetGroupSize(s->kernel, s->local[0], s->local[1], s->local[2])) &&
        CHECK(s, zeKernelSetGlobalOffsetExp(s->kernel, s->offset[0], s->offset[1], s->offset[2])) &&
        CHECK(s, zeCommandListAppendLaunchKernel(s->list, s->kernel, &groups, NULL, 0, NULL));
    for (size_t i = 0; good && i < s->buffer_count; i++) {
        struct suite_buffer *b = &s->buffers[i];
        if (!b->is_image)
            continue;
        const struct suite_image *image = &s->images[b->image];
        ze_image_region_t region = whole(&image->desc);
        good = CHECK(s, zeCommandListAppendImageCopyToMemory(
                            s->list, b->device, image->handle,
                            image->desc.arraylevels ? &region : NULL, NULL, 0, NULL));
    }
    return good;
}

static size_t buffer_size(const struct suite_buffer *b)
{
    return b->count * types[b->type].size_B;
}

/*
 * What PoCL makes of the same memory, which starts as `before`, against what the device made of it;
 * each of them may be as far from the reference as the case allows.
 */
static bool compare_with_oracle(struct suite *s, const struct suite_case *c, void *const *before)
{
    for (size_t i = 0; i < s->buffer_count; i++) {
        struct suite_buffer *b = &s->buffers[i];
        memcpy(b->expected, b->device, buffer_size(b));
        memcpy(b->device, before[i], buffer_size(b));
        b->ulps = 2 * b->ulps + b->oracle_ulps;
        if (s->image_count && b->type == S_F32)
            b->ulps += 1.5; /* OpenCL's for what is read of an image */
        b->absolute *= 2;
    }
    int standard = -1;
    FILE *file = s->text ? suite_begin_text(&standard) : NULL;
    enum suite_oracle_result result = SUITE_ORACLE_CANNOT;
#ifdef SUITE_ORACLE
    result = suite_oracle_run(s->oracle, s, c);
#endif
    bool right = result != SUITE_ORACLE_FAILED;
    if (file) {
        char *text = suite_end_text(file, standard);
        right = right && (result == SUITE_ORACLE_CANNOT || suite_report_text(s, text));
        free(text);
    }
    s->oracle_ran += result == SUITE_ORACLE_RAN;
    s->oracle_could_not += result == SUITE_ORACLE_CANNOT;
    for (size_t i = 0; right && result == SUITE_ORACLE_RAN && i < s->buffer_count; i++)
        right = !s->buffers[i].compared || report_buffer(&s->buffers[i], i);
    if (!right)
        fprintf(stderr, "  (that is PoCL's; expected is the device's)\n");
    return right;
}

static bool run_case(struct suite *s, const struct suite_case *c, bool with_oracle)
{
    void *before[SUITE_MAX_BUFFERS] = {NULL};
    int standard = -1;
    c->prepare(s);
    if (s->cannot || s->skipped)
        return !s->cannot;
    for (size_t i = 0; with_oracle && i < s->buffer_count; i++)
        before[i] = suite_copy(s->buffers[i].device, buffer_size(&s->buffers[i]));
    FILE *file = s->text ? suite_begin_text(&standard) : NULL;
    bool right = launch(s);
    char *text = file ? suite_end_text(file, standard) : NULL;
    if (text)
        right = right && suite_report_text(s, text); /* sorted then */
    if (right && s->digest)
        right = suite_digest_launch(s, c->kernel, text, !suite_has_races(c->kernel));
    free(text);
    for (size_t i = 0; right && i < s->buffer_count; i++)
        right = !s->buffers[i].compared || report_buffer(&s->buffers[i], i);
    if (right && with_oracle)
        right = compare_with_oracle(s, c, before);
    for (size_t i = 0; i < s->buffer_count; i++)
        free(before[i]);
    return right;
}

/* False: the kernel is wrong. */
bool suite_run_shape(struct suite *s, const struct suite_case *c, const struct suite_shape *shape,
                     bool with_oracle)
{
    set_shape(s, shape);
    ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = c->kernel};
    bool right = CHECK(s, zeKernelCreate(s->module, &desc, &s->kernel));
    if (right) {
        ze_kernel_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES};
        CHECK(s, zeKernelGetProperties(s->kernel, &properties));
        s->simd = properties.maxSubgroupSize;
        right = run_case(s, c, with_oracle);
    }
    if (!right)
        fprintf(stderr, "FAILED %s [%s] turn %u SIMD%u groups %ux%ux%u of %ux%ux%u\n", c->kernel,
                s->variant, s->turn, s->simd, s->groups[0], s->groups[1], s->groups[2], s->local[0],
                s->local[1], s->local[2]);
    clean(s);
    return right;
}

static bool has_word(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = words; at && (at = strstr(at, word)) != NULL; at += length) {
        if ((at == words || at[-1] == ' ') && (at[length] == 0 || at[length] == ' '))
            return true;
    }
    return false;
}

/* The device has what the kernel is about. */
static bool is_possible(const struct suite *s, const struct suite_group *group, const char *kernel)
{
    return (s->doubles || !has_word(group->doubles, kernel)) &&
           !has_word(s->simd8 ? group->no_simd8 : group->simd8, kernel) &&
           (s->has_images || !has_word(group->images, kernel));
}

static bool is_left_out(const struct suite *s, const struct suite_group *group,
                        const struct suite_case *c)
{
    char word[128];
    if (has_word(c->not_in, s->variant) || has_word(c->not_in, s->on_device))
        return true;
    /* "igc2", "igc2:dg2", "igc2:dg2:simd32" */
    for (size_t length = 1; length <= strlen(s->on_device); length++) {
        if (s->on_device[length] && s->on_device[length] != ':')
            continue;
        snprintf(word, sizeof(word), "%.*s:%s", (int)length, s->on_device, c->kernel);
        if (has_word(group->not_in, word))
            return true;
    }
    return false;
}

bool suite_has(const struct suite *s, const struct suite_group *group, const struct suite_case *c)
{
    return !is_left_out(s, group, c) && is_possible(s, group, c->kernel);
}

static size_t run_group(struct suite *s, const struct suite_group *group, const char *only)
{
    size_t failed = 0, run = 0, impossible = 0;
    for (size_t i = 0; i < group->count; i++) {
        const struct suite_case *c = &group->cases[i];
        if ((only && strcmp(only, c->kernel) != 0) || is_left_out(s, group, c))
            continue;
        if (!is_possible(s, group, c->kernel)) {
            impossible++;
            continue;
        }
        bool right = true;
        const struct suite_shape *shape = c->shapes ? c->shapes : suite_shapes_1d;
        bool known = s->oracle && !has_word(group->not_on_pocl, c->kernel);
        for (; right && shape->groups[0]; shape++) {
            bool last_one = shape[1].groups[0] == 0; /* PoCL compiles for each size anew */
            for (s->turn = 0; right && s->turn < (c->turns ? c->turns : 1); s->turn++)
                right = suite_run_shape(s, c, shape, known && last_one);
        }
        failed += !right;
        run++;
    }
    printf("%s [%s]: %zu kernels, %zu wrong", group->name, s->variant, run, failed);
    if (impossible)
        printf("; %zu need what the device does not have", impossible);
    printf("\n");
    if (s->oracle)
        printf("  %zu launches compared with PoCL's, %zu that it cannot do\n", s->oracle_ran,
               s->oracle_could_not);
    return run && (!s->oracle || s->oracle_ran) ? failed : 1;
}

/* ---- Main -------------------------------------------------------------------------------------
 */

/* clang-format off */
static const struct suite_group *const groups[] = {
    &suite_arith, &suite_extremes, &suite_real, &suite_half, &suite_wide,
    &suite_flow, &suite_memory, &suite_sync, &suite_subgroup, &suite_shape, &suite_pointers,
    &suite_program, &suite_data,
    &suite_image, &suite_printf, &suite_matrix, &suite_dot, &suite_floatatomic, &suite_lsc, &suite_localblock,
    &suite_xehpc, &suite_xe3p, &suite_bindless, &suite_sycl,
    &suite_joint8[0], &suite_joint8[1], &suite_joint8[2], &suite_joint8[3],
    &suite_joint16[0], &suite_joint16[1], &suite_joint16[2], &suite_joint16[3],
};
/* clang-format on */

uint8_t *suite_read_file(const char *path, size_t *ret_size_B)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = NULL;
    if (file && fseek(file, 0, SEEK_END) == 0) {
        *ret_size_B = (size_t)ftell(file);
        rewind(file);
        bytes = malloc(*ret_size_B);
        if (bytes && fread(bytes, 1, *ret_size_B, file) != *ret_size_B)
            *ret_size_B = 0;
    }
    if (file)
        fclose(file);
    return bytes;
}

static bool open_device(struct suite *s)
{
    uint32_t one = 1;
    ze_context_desc_t context = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                     .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    return CHECK(s, zeInit(0)) && CHECK(s, zeDriverGet(&one, &s->driver)) &&
           CHECK(s, zeDeviceGet(s->driver, &one, &s->device)) &&
           CHECK(s, zeContextCreate(s->driver, &context, &s->context)) &&
           CHECK(s, zeCommandListCreateImmediate(s->context, s->device, &queue, &s->list));
}

static bool ask_device(struct suite *s)
{
    ze_device_module_properties_t module = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES};
    ze_device_compute_properties_t compute = {.stype = ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES};
    ze_device_image_properties_t image = {.stype = ZE_STRUCTURE_TYPE_DEVICE_IMAGE_PROPERTIES};
    bool good = CHECK(s, zeDeviceGetModuleProperties(s->device, &module)) &&
                CHECK(s, zeDeviceGetComputeProperties(s->device, &compute)) &&
                CHECK(s, zeDeviceGetImageProperties(s->device, &image));
    s->has_images = image.maxImageDims2D > 0;
    s->doubles = module.flags & ZE_DEVICE_MODULE_FLAG_FP64;
    for (uint32_t i = 0; i < compute.numSubGroupSizes; i++)
        s->simd8 |= compute.subGroupSizes[i] == 8;
    return good;
}

static bool open_module(struct suite *s, const char *path, bool native, const char *options,
                        ze_module_handle_t *ret_module)
{
    size_t size_B = 0;
    uint8_t *bytes = suite_read_file(path, &size_B);
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = native ? ZE_MODULE_FORMAT_NATIVE : ZE_MODULE_FORMAT_IL_SPIRV,
                             .inputSize = size_B,
                             .pInputModule = bytes,
                             .pBuildFlags = options};
    ze_module_build_log_handle_t log = NULL;
    bool good = bytes && CHECK(s, zeModuleCreate(s->context, s->device, &desc, ret_module, &log));
    if (!good && log) {
        char text[4096];
        size_t length = sizeof(text);
        if (zeModuleBuildLogGetString(log, &length, text) == ZE_RESULT_SUCCESS)
            fprintf(stderr, "%s\n", text);
    }
    if (log)
        zeModuleBuildLogDestroy(log);
    free(bytes);
    return good;
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        fprintf(stderr,
                "usage: %s GROUP FILE native|spirv [[igc2:]DEVICE:]VARIANT [KERNEL | each ...]\n",
                argv[0]);
        return 2;
    }
    /* "simd32", "acm-g10:simd32", "igc2:acm-g10:simd32" */
    struct suite s = {.variant = argv[4], .on_device = argv[4]};
    if (strrchr(s.variant, ':'))
        s.variant = strrchr(s.variant, ':') + 1;
    const struct suite_group *group = NULL;
    for (size_t i = 0; i < SUITE_COUNT(groups); i++) {
        if (strcmp(groups[i]->name, argv[1]) == 0)
            group = groups[i];
    }
    if (!group || !open_device(&s) || !ask_device(&s) ||
        !open_module(&s, argv[2], strcmp(argv[3], "native") == 0, getenv("SUITE_BUILD_FLAGS"),
                     &s.module))
        return 1;
    if (group == &suite_pointers && !open_module(&s, argv[2], strcmp(argv[3], "native") == 0,
                                                 getenv("SUITE_BUILD_FLAGS"), &s.other))
        return 1;
    const char *digest = getenv("SUITE_DIGEST");
    if (digest && !(s.digest = suite_digest_open(s.driver, digest)))
        return 1;
#ifdef SUITE_ORACLE
    const char *source = getenv("SUITE_ORACLE");
    if (source && !(s.oracle = suite_oracle_open(source, getenv("SUITE_ORACLE_FLAGS"))))
        return 1;
#endif
    bool failed = argc > 6 ? suite_each(&s, group, argv[2], argc - 5, argv + 5) != 0
                           : run_group(&s, group, argc > 5 ? argv[5] : NULL) > 0;
#ifdef SUITE_ORACLE
    suite_oracle_close(s.oracle);
#endif
    failed |= !suite_digest_close(s.digest);
    zeModuleDestroy(s.module);
    if (s.other)
        zeModuleDestroy(s.other);
    zeCommandListDestroy(s.list);
    zeContextDestroy(s.context);
    return failed ? 1 : 0;
}
