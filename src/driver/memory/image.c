/* SPDX-License-Identifier: MIT */
/* Images, views, samplers and copies of images. */
#include "driver/memory/image.h"

#include "driver/memory/memory.h"

#include <stdlib.h>

#define ZS_CHECK_IMAGES(device)                                                                    \
    ZS_CHECK(!(device)->model->no_images, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,                     \
             "%s has neither images nor samplers", (device)->model->name)

enum { DIM_MAX = 16384, DIM_3D_MAX = 2048, LAYERS_MAX = 2048 };

/* ---- Formats -----------------------------------------------------------------------------------
 */

struct format {
    ze_image_format_layout_t layout;
    ze_image_format_type_t type;
    uint32_t channels, surface_format, cl_type, texel_B;
};
static const struct format formats[] = {
#define FORMAT(layout, channels, type, surface_format, cl_type, texel_B)                           \
    {ZE_IMAGE_FORMAT_LAYOUT_##layout,                                                              \
     ZE_IMAGE_FORMAT_TYPE_##type,                                                                  \
     channels,                                                                                     \
     surface_format,                                                                               \
     cl_type,                                                                                      \
     texel_B},
#include "driver/memory/image_format.def"
};

static const char *const layout_names[] = {
#define LAYOUT(layout) [ZE_IMAGE_FORMAT_LAYOUT_##layout] = #layout,
#include "driver/memory/image_format.def"
};
static const char *const type_names[] = {"UINT", "SINT", "UNORM", "SNORM", "FLOAT"};

static const struct format *find_format(const ze_image_format_t *wanted)
{
    for (size_t i = 0; i < ZS_ARRAY_LEN(formats); i++) {
        bool any_type =
            wanted->layout >= ZE_IMAGE_FORMAT_LAYOUT_Y8; /* media: the layout says all */
        if (formats[i].layout == wanted->layout && (any_type || formats[i].type == wanted->type))
            return &formats[i];
    }
    return NULL;
}

/* Formats of two planes: Y, and behind it U and V together for each four. */
static const struct zs_port_format *chroma_of(ze_image_format_layout_t layout)
{
    switch (layout) {
    case ZE_IMAGE_FORMAT_LAYOUT_NV12:
        return zs_gpu_format_find(0x106); /* R8G8_UNORM */
    case ZE_IMAGE_FORMAT_LAYOUT_P010:
    case ZE_IMAGE_FORMAT_LAYOUT_P012:
    case ZE_IMAGE_FORMAT_LAYOUT_P016:
        return zs_gpu_format_find(0x0CC); /* R16G16_UNORM */
    default:
        return NULL;
    }
}

/* The plane that a view is asked for, NULL: none. */
static const ze_image_view_planar_exp_desc_t *plane_of(const ze_image_desc_t *desc)
{
    enum { VIEW_PLANAR_EXT_DESC = 0x10010 }; /* of later specifications; the same structure */
    const void *plane = zs_chain_find(desc->pNext, ZE_STRUCTURE_TYPE_IMAGE_VIEW_PLANAR_EXP_DESC);
    return plane ? plane : zs_chain_find(desc->pNext, (ze_structure_type_t)VIEW_PLANAR_EXT_DESC);
}

/* What a channel of the shader sees, in RENDER_SURFACE_STATE's code. */
static uint8_t select_of(ze_image_format_swizzle_t swizzle, uint8_t self)
{
    static const uint8_t codes[] = {
        [ZE_IMAGE_FORMAT_SWIZZLE_R] = 4, [ZE_IMAGE_FORMAT_SWIZZLE_G] = 5,
        [ZE_IMAGE_FORMAT_SWIZZLE_B] = 6, [ZE_IMAGE_FORMAT_SWIZZLE_A] = 7,
        [ZE_IMAGE_FORMAT_SWIZZLE_0] = 0, [ZE_IMAGE_FORMAT_SWIZZLE_1] = 1,
        [ZE_IMAGE_FORMAT_SWIZZLE_D] = 4};
    return swizzle == ZE_IMAGE_FORMAT_SWIZZLE_X ? self : codes[swizzle];
}

/* What kernels are told: Intel's driver goes by the swizzle, whatever channels the layout has. */
static uint32_t cl_order(const struct format *format, const ze_image_format_t *wanted)
{
    enum { CL_NV12_INTEL = 0x410E };
#define ORDER(order, x, y, z, w)                                                                   \
    {                                                                                              \
        order,                                                                                     \
        {                                                                                          \
            ZE_IMAGE_FORMAT_SWIZZLE_##x, ZE_IMAGE_FORMAT_SWIZZLE_##y, ZE_IMAGE_FORMAT_SWIZZLE_##z, \
                ZE_IMAGE_FORMAT_SWIZZLE_##w                                                        \
        }                                                                                          \
    }
    static const struct {
        uint32_t order;
        ze_image_format_swizzle_t by[4];
    } rows[] = {
        ORDER(CL_R, R, 0, 0, 1),         ORDER(CL_DEPTH, D, 0, 0, 1),
        ORDER(CL_A, 0, 0, 0, R),         ORDER(CL_RG, R, G, 0, 1),
        ORDER(CL_RA, R, 0, 0, G),        ORDER(CL_RGB, R, G, B, 1),
        ORDER(CL_RGBA, R, G, B, A),      ORDER(CL_BGRA, B, G, R, A),
        ORDER(CL_ARGB, A, R, G, B),      ORDER(CL_ABGR, A, B, G, R),
        ORDER(CL_LUMINANCE, R, R, R, 1), ORDER(CL_INTENSITY, R, R, R, R),
    };
#undef ORDER
    static const uint32_t by_channels[] = {0, CL_R, CL_RG, CL_RGB, CL_RGBA};
    if (format->layout == ZE_IMAGE_FORMAT_LAYOUT_NV12)
        return CL_NV12_INTEL;
    for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        if (wanted->x == rows[i].by[0] && wanted->y == rows[i].by[1] &&
            wanted->z == rows[i].by[2] && wanted->w == rows[i].by[3])
            return rows[i].order;
    }
    return by_channels[format->channels];
}

/* ---- Shape -------------------------------------------------------------------------------------
 */

static bool is_srgb(const ze_image_desc_t *desc)
{
    const ze_srgb_ext_desc_t *srgb = zs_chain_find(desc->pNext, ZE_STRUCTURE_TYPE_SRGB_EXT_DESC);
    return srgb && srgb->sRGB;
}

static ze_result_t describe(const struct zs_ze_device *device, const ze_image_desc_t *desc,
                            struct zs_gpu_image *ret_gpu)
{
    static const enum zs_gpu_image_type types[] = {
        [ZE_IMAGE_TYPE_1D] = ZS_GPU_IMAGE_1D, [ZE_IMAGE_TYPE_1DARRAY] = ZS_GPU_IMAGE_1D_ARRAY,
        [ZE_IMAGE_TYPE_2D] = ZS_GPU_IMAGE_2D, [ZE_IMAGE_TYPE_2DARRAY] = ZS_GPU_IMAGE_2D_ARRAY,
        [ZE_IMAGE_TYPE_3D] = ZS_GPU_IMAGE_3D, [ZE_IMAGE_TYPE_BUFFER] = ZS_GPU_IMAGE_BUFFER};
    const struct format *format = find_format(&desc->format);
    const ze_image_format_t *f = &desc->format;
    if ((uint32_t)f->x > ZE_IMAGE_FORMAT_SWIZZLE_D || (uint32_t)f->y > ZE_IMAGE_FORMAT_SWIZZLE_D ||
        (uint32_t)f->z > ZE_IMAGE_FORMAT_SWIZZLE_D || (uint32_t)f->w > ZE_IMAGE_FORMAT_SWIZZLE_D)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    const struct zs_port_format *gpu_format =
        format ? zs_gpu_format_find(format->surface_format) : NULL;
    const struct zs_port_format *chroma = chroma_of(f->layout);
    bool three =
        f->layout == ZE_IMAGE_FORMAT_LAYOUT_RGBP || f->layout == ZE_IMAGE_FORMAT_LAYOUT_BRGP;
    if (!gpu_format || is_srgb(desc) || desc->miplevels > 1 ||
        ((chroma || three) && desc->type != ZE_IMAGE_TYPE_2D))
        return ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT;
    bool has_height = desc->type == ZE_IMAGE_TYPE_2D || desc->type == ZE_IMAGE_TYPE_2DARRAY ||
                      desc->type == ZE_IMAGE_TYPE_3D;
    bool has_layers = desc->type == ZE_IMAGE_TYPE_1DARRAY || desc->type == ZE_IMAGE_TYPE_2DARRAY;
    uint32_t height = has_height ? desc->height : 1;
    uint32_t depth = desc->type == ZE_IMAGE_TYPE_3D ? desc->depth : 1;
    uint32_t layers = has_layers ? desc->arraylevels : 1;
    uint64_t max = desc->type == ZE_IMAGE_TYPE_3D       ? DIM_3D_MAX
                   : desc->type == ZE_IMAGE_TYPE_BUFFER ? device->model->max_allocation_B >> 4
                                                        : DIM_MAX;
    if (desc->width == 0 || height == 0 || depth == 0 || layers == 0 || desc->width > max ||
        desc->width > (1u << 27) || height > max || depth > max || layers > LAYERS_MAX)
        return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
    *ret_gpu = (struct zs_gpu_image){
        .read_only = device->driver->check && !(desc->flags & ZE_IMAGE_FLAG_KERNEL_WRITE),
        .type = types[desc->type],
        .format = gpu_format,
        .width = (uint32_t)desc->width,
        .height = height,
        .depth = depth,
        .layers = layers,
        .chroma = chroma,
        .planes = three ? 3 : 0,
        .swizzle = {select_of(f->x, 4), select_of(f->y, 5), select_of(f->z, 6), select_of(f->w, 7)},
        .cl_channel_type = format->cl_type,
        .cl_channel_order = cl_order(format, f)};
    return ZE_RESULT_SUCCESS;
}

/* Why describe() refused. */
static ze_result_t refuse_image(const char *function, ze_result_t result,
                                const ze_image_desc_t *desc)
{
    uint32_t layout = (uint32_t)desc->format.layout, type = (uint32_t)desc->format.type;
    const char *layout_name =
        layout < ZS_ARRAY_LEN(layout_names) ? layout_names[layout] : "of an unknown layout";
    const char *type_name = type < ZS_ARRAY_LEN(type_names) ? type_names[type] : "of unknown type";
    if (result != ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT)
        return zs_refuse(result, function, "%llu x %u x %u, %u layers",
                         (unsigned long long)desc->width, desc->height, desc->depth,
                         desc->arraylevels);
    if (is_srgb(desc))
        return zs_refuse(result, function, "sRGB images are not supported");
    if (desc->miplevels > 1)
        return zs_refuse(result, function, "mipmaps are not supported (%u levels)",
                         desc->miplevels);
    bool media = layout >= ZE_IMAGE_FORMAT_LAYOUT_Y8 && layout < ZS_ARRAY_LEN(layout_names);
    return zs_refuse(result, function, "images %s%s%s are not supported%s", layout_name,
                     media ? "" : " ", media ? "" : type_name,
                     media ? ": it is a media format" : "");
}

static void set_extent(struct zs_ze_image *image)
{
    const struct zs_gpu_image *g = &image->gpu;
    image->extent[0] = g->width;
    image->extent[1] = g->type == ZS_GPU_IMAGE_1D_ARRAY ? g->layers : g->height;
    image->extent[2] = g->type == ZS_GPU_IMAGE_2D_ARRAY ? g->layers : g->depth;
    if (g->chroma) { /* copies see the rows of all planes, and whole pairs of U and V */
        image->extent[0] = 2 * zs_gpu_halved(g->width);
        image->extent[1] += zs_gpu_halved(g->height);
    }
    if (g->planes)
        image->extent[1] *= g->planes;
}

/* ---- Objects -----------------------------------------------------------------------------------
 */

ze_result_t ZE_APICALL zeImageGetProperties(ze_device_handle_t hDevice, const ze_image_desc_t *desc,
                                            ze_image_properties_t *pImageProperties)
{
    ZS_OBJECT(device, device, hDevice);
    ZS_CHECK_POINTER(desc);
    ZS_CHECK_POINTER(pImageProperties);
    ZS_CHECK_IMAGES(device);
    ZS_CHECK_FLAGS(desc->flags, 0x3);
    ZS_CHECK_ENUM(desc->type, ZE_IMAGE_TYPE_BUFFER);
    bool filtered = desc->format.type != ZE_IMAGE_FORMAT_TYPE_UINT &&
                    desc->format.type != ZE_IMAGE_FORMAT_TYPE_SINT &&
                    desc->type != ZE_IMAGE_TYPE_BUFFER;
    pImageProperties->samplerFilterFlags =
        ZE_IMAGE_SAMPLER_FILTER_FLAG_POINT |
        (filtered ? (ze_image_sampler_filter_flags_t)ZE_IMAGE_SAMPLER_FILTER_FLAG_LINEAR : 0u);
    return ZE_RESULT_SUCCESS;
}

static struct zs_ze_image *image_new(struct zs_ze_context *context, struct zs_ze_device *device,
                                     const struct zs_gpu_image *gpu)
{
    struct zs_ze_image *image = zs_object_new(ZS_OBJECT_image, sizeof(*image));
    if (!image)
        return NULL;
    image->context = zs_object_ref(context);
    image->device = device;
    image->gpu = *gpu;
    image->size_B = zs_gpu_image_layout(&image->gpu);
    set_extent(image);
    return image;
}

ze_result_t ZE_APICALL zeImageCreate(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                     const ze_image_desc_t *desc, ze_image_handle_t *phImage)
{
    ZS_OBJECT(context, context, hContext);
    ZS_OBJECT(device, device, hDevice);
    ZS_CHECK_MEMBER(context, device);
    ZS_CHECK_POINTER(desc);
    ZS_CHECK_POINTER(phImage);
    ZS_CHECK_IMAGES(device);
    ZS_CHECK_FLAGS(desc->flags, 0x3);
    ZS_CHECK_ENUM(desc->type, ZE_IMAGE_TYPE_BUFFER);
    struct zs_gpu_image gpu;
    ze_result_t result = describe(device, desc, &gpu);
    if (result != ZE_RESULT_SUCCESS)
        return refuse_image(__func__, result, desc);
    ZS_CHECK(!plane_of(desc), ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT, "a plane is of a view");
    struct zs_ze_image *image = image_new(context, device, &gpu);
    ZS_CHECK(image, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory");
    struct zs_range_desc range = {.device = device,
                                  .kind = ZS_GPU_MEMORY_IMAGE,
                                  .size_B = image->size_B,
                                  .label = "zeImageCreate",
                                  .fd = -1};
    void *host = NULL;
    result =
        image->size_B ? zs_memory_external(desc->pNext, &range) : ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
    if (result == ZE_RESULT_SUCCESS)
        result = zs_memory_alloc(context, &range, &host);
    image->gpu.gpu_va = (uintptr_t)host;
    if (result == ZE_RESULT_SUCCESS && !zs_object_publish(image))
        result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    if (result != ZE_RESULT_SUCCESS) {
        zs_object_unref(image);
        return ZS_REFUSE(result, "no memory for the image, or external memory of this kind");
    }
    *phImage = image->object.handle;
    return ZE_RESULT_SUCCESS;
}

void zs_ze_image_fini(struct zs_ze_image *image)
{
    if (!image->base && image->gpu.gpu_va)
        zs_memory_free(image->context, (void *)(uintptr_t)image->gpu.gpu_va);
    zs_object_unref(image->base);
    zs_object_unref(image->context);
}

ze_result_t ZE_APICALL zeImageDestroy(ze_image_handle_t hImage)
{
    ZS_OBJECT(image, image, hImage);
    if (!zs_object_retract(image))
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    zs_object_unref(image);
    return ZE_RESULT_SUCCESS;
}

/* False: that plane has another shape. */
static bool set_plane(struct zs_ze_image *view, const struct zs_ze_image *base, uint32_t plane)
{
    const struct zs_gpu_image *from = &base->gpu;
    struct zs_gpu_image *to = &view->gpu;
    bool halved = from->chroma && plane > 0;
    uint32_t width = halved ? zs_gpu_halved(from->width) : from->width;
    uint32_t height = halved ? zs_gpu_halved(from->height) : from->height;
    if (plane >= (from->chroma ? 2 : from->planes) || to->chroma || to->planes ||
        to->type != ZS_GPU_IMAGE_2D || to->width != width || to->height != height ||
        zs_gpu_format_texel_B(to->format) !=
            zs_gpu_format_texel_B(halved ? from->chroma : from->format))
        return false;
    to->gpu_va = from->gpu_va + plane * from->slice_pitch_B;
    to->row_pitch_B = from->row_pitch_B;
    to->slice_pitch_B = (uint64_t)to->row_pitch_B * to->height;
    view->size_B = to->slice_pitch_B;
    return true;
}

ze_result_t ZE_APICALL zeImageViewCreateExp(ze_context_handle_t hContext,
                                            ze_device_handle_t hDevice, const ze_image_desc_t *desc,
                                            ze_image_handle_t hImage,
                                            ze_image_handle_t *phImageView)
{
    ZS_OBJECT(context, context, hContext);
    ZS_OBJECT(device, device, hDevice);
    ZS_CHECK_MEMBER(context, device);
    ZS_CHECK_POINTER(desc);
    ZS_OBJECT(image, base, hImage);
    ZS_CHECK_POINTER(phImageView);
    ZS_CHECK_IMAGES(device);
    ZS_CHECK_FLAGS(desc->flags, 0x3);
    ZS_CHECK_ENUM(desc->type, ZE_IMAGE_TYPE_BUFFER);
    struct zs_gpu_image gpu;
    ze_result_t result = describe(device, desc, &gpu);
    if (result != ZE_RESULT_SUCCESS)
        return refuse_image(__func__, result, desc);
    struct zs_ze_image *view = image_new(context, device, &gpu);
    ZS_CHECK(view, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory");
    view->base = zs_object_ref(base->base ? base->base : base);
    view->gpu.gpu_va = base->gpu.gpu_va;
    const ze_image_view_planar_exp_desc_t *plane = plane_of(desc);
    bool same = plane ? set_plane(view, base, plane->planeIndex)
                      : view->size_B == base->size_B && view->gpu.planes == base->gpu.planes &&
                            !view->gpu.chroma == !base->gpu.chroma &&
                            view->gpu.row_pitch_B == base->gpu.row_pitch_B &&
                            view->gpu.slice_pitch_B == base->gpu.slice_pitch_B;
    if (!same || !zs_object_publish(view)) {
        zs_object_unref(view);
        return ZS_REFUSE(same ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY
                              : ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT,
                         "the view's texels or size differ from the image's");
    }
    *phImageView = view->object.handle;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeImageViewCreateExt(ze_context_handle_t hContext,
                                            ze_device_handle_t hDevice, const ze_image_desc_t *desc,
                                            ze_image_handle_t hImage,
                                            ze_image_handle_t *phImageView)
{
    return zeImageViewCreateExp(hContext, hDevice, desc, hImage, phImageView);
}

ze_result_t ZE_APICALL zeImageGetMemoryPropertiesExp(
    ze_image_handle_t hImage, ze_image_memory_properties_exp_t *pMemoryProperties)
{
    ZS_OBJECT(image, image, hImage);
    ZS_CHECK_POINTER(pMemoryProperties);
    pMemoryProperties->size = image->size_B;
    pMemoryProperties->rowPitch = image->gpu.row_pitch_B;
    pMemoryProperties->slicePitch = image->gpu.slice_pitch_B;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL
zeImageGetAllocPropertiesExt(ze_context_handle_t hContext, ze_image_handle_t hImage,
                             ze_image_allocation_ext_properties_t *pImageAllocProperties)
{
    ZS_OBJECT(context, context, hContext);
    ZS_OBJECT(image, image, hImage);
    ZS_CHECK_POINTER(pImageAllocProperties);
    struct zs_range range;
    bool found = zs_memory_find(image->context, (void *)(uintptr_t)image->gpu.gpu_va, &range);
    pImageAllocProperties->id = found ? range.id : 0;
    return zs_memory_export(__func__, pImageAllocProperties->pNext, found ? &range : NULL);
}

/* ---- Samplers ----------------------------------------------------------------------------------
 */

ze_result_t ZE_APICALL zeSamplerCreate(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                       const ze_sampler_desc_t *desc,
                                       ze_sampler_handle_t *phSampler)
{
    ZS_OBJECT(context, context, hContext);
    ZS_OBJECT(device, device, hDevice);
    ZS_CHECK_MEMBER(context, device);
    ZS_CHECK_POINTER(desc);
    ZS_CHECK_POINTER(phSampler);
    ZS_CHECK_IMAGES(device);
    ZS_CHECK_ENUM(desc->addressMode, ZE_SAMPLER_ADDRESS_MODE_MIRROR);
    ZS_CHECK_ENUM(desc->filterMode, ZE_SAMPLER_FILTER_MODE_LINEAR);
    static const enum zs_gpu_address_mode modes[] = {
        [ZE_SAMPLER_ADDRESS_MODE_NONE] = ZS_GPU_ADDRESS_NONE,
        [ZE_SAMPLER_ADDRESS_MODE_REPEAT] = ZS_GPU_ADDRESS_REPEAT,
        [ZE_SAMPLER_ADDRESS_MODE_CLAMP] = ZS_GPU_ADDRESS_EDGE,
        [ZE_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER] = ZS_GPU_ADDRESS_BORDER,
        [ZE_SAMPLER_ADDRESS_MODE_MIRROR] = ZS_GPU_ADDRESS_MIRROR};
    struct zs_ze_sampler *sampler = zs_object_new(ZS_OBJECT_sampler, sizeof(*sampler));
    ZS_CHECK(sampler, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory");
    sampler->context = zs_object_ref(context);
    sampler->gpu =
        (struct zs_gpu_sampler){.address_mode = modes[desc->addressMode],
                                .linear = desc->filterMode == ZE_SAMPLER_FILTER_MODE_LINEAR,
                                .normalized = desc->isNormalized};
    if (!zs_object_publish(sampler)) {
        zs_object_unref(sampler);
        return ZS_REFUSE(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no handle is left");
    }
    *phSampler = sampler->object.handle;
    return ZE_RESULT_SUCCESS;
}

void zs_ze_sampler_fini(struct zs_ze_sampler *sampler)
{
    zs_object_unref(sampler->context);
}

ze_result_t ZE_APICALL zeSamplerDestroy(ze_sampler_handle_t hSampler)
{
    ZS_OBJECT(sampler, sampler, hSampler);
    if (!zs_object_retract(sampler))
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    zs_object_unref(sampler);
    return ZE_RESULT_SUCCESS;
}

/* ---- Copies ------------------------------------------------------------------------------------
 */

/* A part of an image, checked to lie in it. */
struct part {
    char *start;
    size_t size[3]; /* texels, rows, slices */
    size_t texel_B, row_pitch_B, slice_pitch_B;
};

static bool take_part(const char *function, const struct zs_ze_image *image,
                      const ze_image_region_t *region, struct part *ret_part)
{
    const struct zs_gpu_image *g = &image->gpu;
    uint32_t origin[3] = {0, 0, 0};
    uint32_t size[3] = {image->extent[0], image->extent[1], image->extent[2]};
    if (region) {
        origin[0] = region->originX;
        origin[1] = region->originY;
        origin[2] = region->originZ;
        size[0] = region->width;
        size[1] = ZS_MAX(region->height, 1u);
        size[2] = ZS_MAX(region->depth, 1u);
        if (origin[2] == 1 && image->extent[2] == 1 && g->type != ZS_GPU_IMAGE_3D &&
            g->type != ZS_GPU_IMAGE_2D_ARRAY &&
            zs_lets_pass(function, "origin z = 1 of an image without slices: taken as 0"))
            origin[2] = 0;
    }
    for (int i = 0; i < 3; i++) {
        if (origin[i] > image->extent[i] || size[i] > image->extent[i] - origin[i])
            return false;
    }
    ret_part->texel_B = zs_gpu_format_texel_B(g->format);
    ret_part->slice_pitch_B = g->slice_pitch_B;
    /* the API counts the layers of a 1D array as rows */
    ret_part->row_pitch_B =
        g->type == ZS_GPU_IMAGE_1D_ARRAY ? (size_t)g->slice_pitch_B : g->row_pitch_B;
    ret_part->start = (char *)(uintptr_t)g->gpu_va + origin[2] * ret_part->slice_pitch_B +
                      origin[1] * ret_part->row_pitch_B + origin[0] * ret_part->texel_B;
    for (int i = 0; i < 3; i++)
        ret_part->size[i] = size[i];
    return true;
}

ze_result_t ZE_APICALL zeCommandListAppendImageCopyRegion(
    ze_command_list_handle_t hCommandList, ze_image_handle_t hDstImage, ze_image_handle_t hSrcImage,
    const ze_image_region_t *pDstRegion, const ze_image_region_t *pSrcRegion,
    ze_event_handle_t hSignalEvent, uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents)
{
    ZS_OBJECT(list, list, hCommandList);
    ZS_OBJECT(image, dst, hDstImage);
    ZS_OBJECT(image, src, hSrcImage);
    struct part to, from;
    ZS_CHECK(take_part(__func__, dst, pDstRegion, &to) &&
                 take_part(__func__, src, pSrcRegion, &from),
             ZE_RESULT_ERROR_INVALID_ARGUMENT, "a region lies outside its image");
    ZS_CHECK(memcmp(to.size, from.size, sizeof(to.size)) == 0, ZE_RESULT_ERROR_INVALID_SIZE,
             "the regions differ in size");
    ZS_CHECK(to.texel_B == from.texel_B, ZE_RESULT_ERROR_INVALID_ARGUMENT,
             "the images' texels differ in size");
    ZS_CHECK(dst->gpu.gpu_va != src->gpu.gpu_va || to.start != from.start,
             ZE_RESULT_ERROR_OVERLAPPING_REGIONS, "the regions overlap");
    struct zs_append append;
    ze_result_t result =
        zs_append_begin(__func__, hCommandList, hSignalEvent, numWaitEvents, phWaitEvents, &append);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    const struct zs_region region = {.dst = to.start,
                                     .src = from.start,
                                     .row_B = to.size[0] * to.texel_B,
                                     .rows = to.size[1],
                                     .slices = to.size[2],
                                     .dst_pitch_B = to.row_pitch_B,
                                     .dst_slice_B = to.slice_pitch_B,
                                     .src_pitch_B = from.row_pitch_B,
                                     .src_slice_B = from.slice_pitch_B,
                                     .keep = {dst, src}};
    return zs_append_region(&append, &region);
}

ze_result_t ZE_APICALL zeCommandListAppendImageCopy(
    ze_command_list_handle_t hCommandList, ze_image_handle_t hDstImage, ze_image_handle_t hSrcImage,
    ze_event_handle_t hSignalEvent, uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents)
{
    return zeCommandListAppendImageCopyRegion(hCommandList, hDstImage, hSrcImage, NULL, NULL,
                                              hSignalEvent, numWaitEvents, phWaitEvents);
}

/* Rows in memory: pitches of 0 mean "one behind the other". */
static bool memory_pitches(const struct part *part, uint32_t row_pitch, uint32_t slice_pitch,
                           size_t *ret_row_B, size_t *ret_slice_B)
{
    size_t row_B = part->size[0] * part->texel_B;
    *ret_row_B = row_pitch ? row_pitch : row_B;
    *ret_slice_B = slice_pitch ? slice_pitch : *ret_row_B * part->size[1];
    return *ret_row_B >= row_B;
}

ze_result_t ZE_APICALL zeCommandListAppendImageCopyToMemoryExt(
    ze_command_list_handle_t hCommandList, void *dstptr, ze_image_handle_t hSrcImage,
    const ze_image_region_t *pSrcRegion, uint32_t destRowPitch, uint32_t destSlicePitch,
    ze_event_handle_t hSignalEvent, uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents)
{
    ZS_OBJECT(list, list, hCommandList);
    ZS_CHECK_POINTER(dstptr);
    ZS_OBJECT(image, src, hSrcImage);
    struct part from;
    struct zs_region region = {.dst = dstptr, .keep = {src}};
    ZS_CHECK(take_part(__func__, src, pSrcRegion, &from), ZE_RESULT_ERROR_INVALID_ARGUMENT,
             "the region lies outside the image");
    ZS_CHECK(memory_pitches(&from, destRowPitch, destSlicePitch, &region.dst_pitch_B,
                            &region.dst_slice_B),
             ZE_RESULT_ERROR_INVALID_SIZE, "the row pitch is less than a row");
    region.src = from.start;
    region.row_B = from.size[0] * from.texel_B;
    region.rows = from.size[1];
    region.slices = from.size[2];
    region.src_pitch_B = from.row_pitch_B;
    region.src_slice_B = from.slice_pitch_B;
    struct zs_append append;
    ze_result_t result =
        zs_append_begin(__func__, hCommandList, hSignalEvent, numWaitEvents, phWaitEvents, &append);
    return result == ZE_RESULT_SUCCESS ? zs_append_region(&append, &region) : result;
}

ze_result_t ZE_APICALL zeCommandListAppendImageCopyFromMemoryExt(
    ze_command_list_handle_t hCommandList, ze_image_handle_t hDstImage, const void *srcptr,
    const ze_image_region_t *pDstRegion, uint32_t srcRowPitch, uint32_t srcSlicePitch,
    ze_event_handle_t hSignalEvent, uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents)
{
    ZS_OBJECT(list, list, hCommandList);
    ZS_OBJECT(image, dst, hDstImage);
    ZS_CHECK_POINTER(srcptr);
    struct part to;
    struct zs_region region = {.src = srcptr, .keep = {dst}};
    ZS_CHECK(take_part(__func__, dst, pDstRegion, &to), ZE_RESULT_ERROR_INVALID_ARGUMENT,
             "the region lies outside the image");
    ZS_CHECK(
        memory_pitches(&to, srcRowPitch, srcSlicePitch, &region.src_pitch_B, &region.src_slice_B),
        ZE_RESULT_ERROR_INVALID_SIZE, "the row pitch is less than a row");
    region.dst = to.start;
    region.row_B = to.size[0] * to.texel_B;
    region.rows = to.size[1];
    region.slices = to.size[2];
    region.dst_pitch_B = to.row_pitch_B;
    region.dst_slice_B = to.slice_pitch_B;
    struct zs_append append;
    ze_result_t result =
        zs_append_begin(__func__, hCommandList, hSignalEvent, numWaitEvents, phWaitEvents, &append);
    return result == ZE_RESULT_SUCCESS ? zs_append_region(&append, &region) : result;
}

ze_result_t ZE_APICALL zeCommandListAppendImageCopyToMemory(
    ze_command_list_handle_t hCommandList, void *dstptr, ze_image_handle_t hSrcImage,
    const ze_image_region_t *pSrcRegion, ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
    ze_event_handle_t *phWaitEvents)
{
    return zeCommandListAppendImageCopyToMemoryExt(hCommandList, dstptr, hSrcImage, pSrcRegion, 0,
                                                   0, hSignalEvent, numWaitEvents, phWaitEvents);
}

ze_result_t ZE_APICALL zeCommandListAppendImageCopyFromMemory(
    ze_command_list_handle_t hCommandList, ze_image_handle_t hDstImage, const void *srcptr,
    const ze_image_region_t *pDstRegion, ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
    ze_event_handle_t *phWaitEvents)
{
    return zeCommandListAppendImageCopyFromMemoryExt(hCommandList, hDstImage, srcptr, pDstRegion, 0,
                                                     0, hSignalEvent, numWaitEvents, phWaitEvents);
}
