/* SPDX-License-Identifier: MIT */
/* Images and their copies, samplers. */
#include "e2e.h"

static ze_image_desc_t desc_2d(uint64_t width, uint32_t height)
{
    return (ze_image_desc_t){.stype = ZE_STRUCTURE_TYPE_IMAGE_DESC,
                             .type = ZE_IMAGE_TYPE_2D,
                             .format = {ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8, ZE_IMAGE_FORMAT_TYPE_UNORM,
                                        ZE_IMAGE_FORMAT_SWIZZLE_R, ZE_IMAGE_FORMAT_SWIZZLE_G,
                                        ZE_IMAGE_FORMAT_SWIZZLE_B, ZE_IMAGE_FORMAT_SWIZZLE_A},
                             .width = width,
                             .height = height,
                             .depth = 1};
}

static void test_2d(void **state)
{
    struct e2e *e = *state;
    enum { W = 37, H = 19 };
    ze_image_desc_t desc = desc_2d(W, H);
    ze_image_properties_t props = {.stype = ZE_STRUCTURE_TYPE_IMAGE_PROPERTIES};
    OK(zeImageGetProperties(e->device, &desc, &props));
    assert_true(props.samplerFilterFlags & ZE_IMAGE_SAMPLER_FILTER_FLAG_LINEAR);
    ze_image_handle_t a, b;
    OK(zeImageCreate(e->context, e->device, &desc, &a));
    OK(zeImageCreate(e->context, e->device, &desc, &b));
    OK(zeContextMakeImageResident(e->context, e->device, a));
    OK(zeContextEvictImage(e->context, e->device, a));
    uint32_t *in = e2e_alloc(e, W * H * 4), *out = e2e_alloc(e, W * H * 4);
    for (uint32_t i = 0; i < W * H; i++)
        in[i] = i * 2654435761u;
    memset(out, 0, W * H * 4);
    for (uint32_t ordinal = 0; ordinal < 2; ordinal++) {
        ze_command_queue_handle_t queue = e2e_queue(e, ordinal);
        ze_command_list_handle_t list = e2e_list(e, ordinal);
        OK(zeCommandListAppendImageCopyFromMemory(list, a, in, NULL, NULL, 0, NULL));
        OK(zeCommandListAppendImageCopy(list, b, a, NULL, 0, NULL));
        OK(zeCommandListAppendImageCopyToMemory(list, out, b, NULL, NULL, 0, NULL));
        OK(e2e_run(queue, list));
        assert_memory_equal(in, out, W * H * 4);
        /* a region, moved */
        ze_image_region_t from = {5, 6, 0, 7, 3, 1}, to = {20, 10, 0, 7, 3, 1};
        OK(zeCommandListReset(list));
        OK(zeCommandListAppendImageCopyRegion(list, b, a, &to, &from, NULL, 0, NULL));
        OK(zeCommandListAppendImageCopyToMemory(list, out, b, &to, NULL, 0, NULL));
        OK(e2e_run(queue, list));
        for (uint32_t y = 0; y < 3; y++)
            for (uint32_t x = 0; x < 7; x++)
                assert_int_equal(out[y * 7 + x], in[(y + 6) * W + x + 5]);
        /* with pitches of the program's */
        OK(zeCommandListReset(list));
        OK(zeCommandListAppendImageCopyToMemoryExt(list, out, a, &from, 64, 0, NULL, 0, NULL));
        OK(zeCommandListAppendImageCopyFromMemoryExt(list, b, out, &to, 64, 0, NULL, 0, NULL));
        OK(e2e_run(queue, list));
        assert_int_equal(out[16 + 2], in[7 * W + 7]);
        FAILS(zeCommandListReset(list), ZE_RESULT_SUCCESS);
        ze_image_region_t outside = {30, 0, 0, 8, 1, 1};
        FAILS(zeCommandListAppendImageCopyToMemory(list, out, a, &outside, NULL, 0, NULL),
              ZE_RESULT_ERROR_INVALID_ARGUMENT);
        FAILS(zeCommandListAppendImageCopyRegion(list, b, a, &to, &outside, NULL, 0, NULL),
              ZE_RESULT_ERROR_INVALID_ARGUMENT);
        OK(zeCommandListDestroy(list));
        OK(zeCommandQueueDestroy(queue));
    }
    OK(zeImageDestroy(a));
    OK(zeImageDestroy(b));
    if (!e2e_through("intercept"))
        FAILS(zeImageDestroy(b), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    OK(zeMemFree(e->context, in));
    OK(zeMemFree(e->context, out));
}

/* Every type of image keeps what is copied in. */
static void test_types(void **state)
{
    struct e2e *e = *state;
    static const struct {
        ze_image_type_t type;
        uint32_t width, height, depth, layers;
    } rows[] = {
        {ZE_IMAGE_TYPE_1D, 50, 1, 1, 0},  {ZE_IMAGE_TYPE_1DARRAY, 50, 1, 1, 6},
        {ZE_IMAGE_TYPE_2D, 20, 30, 1, 0}, {ZE_IMAGE_TYPE_2DARRAY, 20, 10, 1, 5},
        {ZE_IMAGE_TYPE_3D, 9, 8, 7, 0},   {ZE_IMAGE_TYPE_BUFFER, 333, 1, 1, 0},
    };
    ze_command_list_handle_t list = e2e_immediate(e, true);
    for (size_t i = 0; i < COUNT(rows); i++) {
        ze_image_desc_t desc = desc_2d(rows[i].width, rows[i].height);
        desc.type = rows[i].type;
        desc.depth = rows[i].depth;
        desc.arraylevels = rows[i].layers;
        desc.format.layout = ZE_IMAGE_FORMAT_LAYOUT_32;
        desc.format.type = ZE_IMAGE_FORMAT_TYPE_FLOAT;
        size_t texels = (size_t)rows[i].width * rows[i].height * rows[i].depth *
                        (rows[i].layers ? rows[i].layers : 1);
        ze_image_handle_t image;
        OK(zeImageCreate(e->context, e->device, &desc, &image));
        float *in = e2e_alloc(e, texels * 4), *out = e2e_alloc(e, texels * 4);
        for (size_t t = 0; t < texels; t++)
            in[t] = (float)t;
        OK(zeCommandListAppendImageCopyFromMemory(list, image, in, NULL, NULL, 0, NULL));
        OK(zeCommandListAppendImageCopyToMemory(list, out, image, NULL, NULL, 0, NULL));
        assert_memory_equal(in, out, texels * 4);
        OK(zeImageDestroy(image));
        OK(zeMemFree(e->context, in));
        OK(zeMemFree(e->context, out));
    }
    OK(zeCommandListDestroy(list));
}

static void test_view_and_properties(void **state)
{
    struct e2e *e = *state;
    ze_image_desc_t desc = desc_2d(16, 16);
    ze_image_handle_t image, view;
    OK(zeImageCreate(e->context, e->device, &desc, &image));
    desc.format.type = ZE_IMAGE_FORMAT_TYPE_UINT;
    OK(zeImageViewCreateExp(e->context, e->device, &desc, image, &view));
    ze_image_memory_properties_exp_t props = {.stype =
                                                  ZE_STRUCTURE_TYPE_IMAGE_MEMORY_EXP_PROPERTIES};
    OK(zeImageGetMemoryPropertiesExp(image, &props));
    assert_true(props.rowPitch >= 64 && props.size >= 1024);
    ze_image_allocation_ext_properties_t alloc = {
        .stype = ZE_STRUCTURE_TYPE_IMAGE_ALLOCATION_EXT_PROPERTIES};
    OK(zeImageGetAllocPropertiesExt(e->context, image, &alloc));
    assert_int_not_equal(alloc.id, 0);
    uint32_t value = 0x01020304, *p = e2e_alloc(e, 1024), *q = e2e_alloc(e, 1024);
    ze_command_list_handle_t list = e2e_immediate(e, true);
    OK(zeCommandListAppendMemoryFill(list, p, &value, 4, 1024, NULL, 0, NULL));
    OK(zeCommandListAppendImageCopyFromMemory(list, image, p, NULL, NULL, 0, NULL));
    OK(zeImageDestroy(image)); /* the view keeps the memory */
    OK(zeCommandListAppendImageCopyToMemory(list, q, view, NULL, NULL, 0, NULL));
    assert_memory_equal(p, q, 1024);
    OK(zeImageDestroy(view));
    OK(zeCommandListDestroy(list));
    OK(zeMemFree(e->context, p));
    OK(zeMemFree(e->context, q));
}

/* Views of the planes of an image, whose rows stand one behind the other. */
static void test_planes(void **state)
{
    struct e2e *e = *state;
    enum { W = 64, H = 10 };
    ze_image_desc_t desc = desc_2d(W, H), view_desc;
    desc.format.layout = ZE_IMAGE_FORMAT_LAYOUT_NV12;
    ze_image_handle_t image, y, uv, none;
    OK(zeImageCreate(e->context, e->device, &desc, &image));
    ze_image_view_planar_exp_desc_t plane = {.stype = ZE_STRUCTURE_TYPE_IMAGE_VIEW_PLANAR_EXP_DESC};
    view_desc = desc;
    view_desc.pNext = &plane;
    view_desc.format.layout = ZE_IMAGE_FORMAT_LAYOUT_8;
    view_desc.format.type = ZE_IMAGE_FORMAT_TYPE_UINT;
    OK(zeImageViewCreateExp(e->context, e->device, &view_desc, image, &y));
    plane.planeIndex = 1;
    FAILS(zeImageViewCreateExp(e->context, e->device, &view_desc, image, &none),
          ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT);
    view_desc.format.layout = ZE_IMAGE_FORMAT_LAYOUT_8_8;
    view_desc.width /= 2;
    view_desc.height /= 2;
    OK(zeImageViewCreateExp(e->context, e->device, &view_desc, image, &uv));
    plane.planeIndex = 2;
    FAILS(zeImageViewCreateExp(e->context, e->device, &view_desc, image, &none),
          ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT);
    FAILS(zeImageCreate(e->context, e->device, &view_desc, &none),
          ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT);
    uint8_t *frame = e2e_alloc(e, W * H * 3 / 2), *out = e2e_alloc(e, W * H * 3 / 2);
    for (int i = 0; i < W * H * 3 / 2; i++)
        frame[i] = (uint8_t)(i * 7);
    ze_command_list_handle_t list = e2e_immediate(e, true);
    OK(zeCommandListAppendImageCopyFromMemory(list, y, frame, NULL, NULL, 0, NULL));
    OK(zeCommandListAppendImageCopyFromMemory(list, uv, frame + W * H, NULL, NULL, 0, NULL));
    OK(zeCommandListAppendImageCopyToMemory(list, out, image, NULL, NULL, 0, NULL));
    assert_memory_equal(frame, out, W * H * 3 / 2);
    OK(zeImageDestroy(image));
    OK(zeImageDestroy(y));
    OK(zeImageDestroy(uv));
    desc = desc_2d(16, 4);
    desc.format.layout = ZE_IMAGE_FORMAT_LAYOUT_RGBP;
    OK(zeImageCreate(e->context, e->device, &desc, &image));
    desc.format.layout = ZE_IMAGE_FORMAT_LAYOUT_8;
    desc.pNext = &plane;
    OK(zeImageViewCreateExp(e->context, e->device, &desc, image, &y));
    OK(zeCommandListAppendImageCopyFromMemory(list, image, frame, NULL, NULL, 0, NULL));
    OK(zeCommandListAppendImageCopyToMemory(list, out, y, NULL, NULL, 0, NULL));
    assert_memory_equal(frame + 2 * 64, out, 64);
    OK(zeImageDestroy(y));
    OK(zeImageDestroy(image));
    OK(zeCommandListDestroy(list));
    OK(zeMemFree(e->context, frame));
    OK(zeMemFree(e->context, out));
}

static void test_refusals(void **state)
{
    struct e2e *e = *state;
    ze_image_handle_t image;
    ze_image_desc_t desc = desc_2d(16385, 1);
    FAILS(zeImageCreate(e->context, e->device, &desc, &image), ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    desc = desc_2d(0, 1);
    FAILS(zeImageCreate(e->context, e->device, &desc, &image), ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    desc = desc_2d(8, 8);
    desc.format.layout = ZE_IMAGE_FORMAT_LAYOUT_YUYV;
    FAILS(zeImageCreate(e->context, e->device, &desc, &image),
          ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT);
    desc = desc_2d(8, 8);
    desc.type = (ze_image_type_t)77;
    FAILS(zeImageCreate(e->context, e->device, &desc, &image), ZE_RESULT_ERROR_INVALID_ENUMERATION);
    FAILS(zeImageCreate(e->context, e->device, NULL, &image), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
}

static void test_samplers(void **state)
{
    struct e2e *e = *state;
    ze_sampler_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_SAMPLER_DESC,
                              .addressMode = ZE_SAMPLER_ADDRESS_MODE_REPEAT,
                              .filterMode = ZE_SAMPLER_FILTER_MODE_LINEAR,
                              .isNormalized = 1};
    ze_sampler_handle_t sampler;
    OK(zeSamplerCreate(e->context, e->device, &desc, &sampler));
    OK(zeSamplerDestroy(sampler));
    if (!e2e_through("intercept"))
        FAILS(zeSamplerDestroy(sampler), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    desc.addressMode = (ze_sampler_address_mode_t)9;
    FAILS(zeSamplerCreate(e->context, e->device, &desc, &sampler),
          ZE_RESULT_ERROR_INVALID_ENUMERATION);
}

/* One image's memory under another: exported as a file descriptor, imported again. */
static void test_external(void **state)
{
    struct e2e *e = *state;
    ze_image_desc_t desc = desc_2d(16, 4);
    ze_external_memory_export_desc_t export = {.stype =
                                                   ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC,
                                               .flags = ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF};
    desc.pNext = &export;
    ze_image_handle_t a, b;
    OK(zeImageCreate(e->context, e->device, &desc, &a));
    ze_external_memory_export_fd_t fd = {.stype = ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD,
                                         .flags = ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF,
                                         .fd = -1};
    ze_image_allocation_ext_properties_t props = {
        .stype = ZE_STRUCTURE_TYPE_IMAGE_ALLOCATION_EXT_PROPERTIES, .pNext = &fd};
    OK(zeImageGetAllocPropertiesExt(e->context, a, &props));
    assert_true(fd.fd >= 0);
    ze_external_memory_import_fd_t import = {.stype = ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD,
                                             .flags = ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF,
                                             .fd = fd.fd};
    desc.pNext = &import;
    ze_image_desc_t larger = desc;
    larger.height = 4000;
    FAILS(zeImageCreate(e->context, e->device, &larger, &b), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(zeImageCreate(e->context, e->device, &desc, &b));
    uint32_t *in = e2e_alloc(e, 256), *out = e2e_alloc(e, 256);
    for (uint32_t i = 0; i < 64; i++)
        in[i] = i * 77777;
    memset(out, 0, 256);
    ze_command_list_handle_t list = e2e_immediate(e, true);
    OK(zeCommandListAppendImageCopyFromMemory(list, a, in, NULL, NULL, 0, NULL));
    OK(zeCommandListAppendImageCopyToMemory(list, out, b, NULL, NULL, 0, NULL));
    assert_memory_equal(in, out, 256);
    OK(zeCommandListDestroy(list));
    OK(zeImageDestroy(a));
    OK(zeImageDestroy(b));
    /* what was not made for export has no descriptor */
    desc.pNext = NULL;
    OK(zeImageCreate(e->context, e->device, &desc, &a));
    FAILS(zeImageGetAllocPropertiesExt(e->context, a, &props), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(zeImageDestroy(a));
    OK(zeMemFree(e->context, in));
    OK(zeMemFree(e->context, out));
}

/* Of odd sizes: U and V of the last column and row are there, too. */
static void test_odd_planes(void **state)
{
    struct e2e *e = *state;
    enum { W = 5, H = 3, PAIRS = 3, ROWS = 2, FRAME_B = 2 * PAIRS * (H + ROWS) };
    ze_image_view_planar_exp_desc_t plane = {.stype = ZE_STRUCTURE_TYPE_IMAGE_VIEW_PLANAR_EXP_DESC};
    ze_image_desc_t desc = desc_2d(W, H);
    desc.format.layout = ZE_IMAGE_FORMAT_LAYOUT_NV12;
    ze_image_handle_t image, y, uv;
    OK(zeImageCreate(e->context, e->device, &desc, &image));
    desc.pNext = &plane;
    desc.format.layout = ZE_IMAGE_FORMAT_LAYOUT_8;
    OK(zeImageViewCreateExp(e->context, e->device, &desc, image, &y));
    plane.planeIndex = 1;
    desc.format.layout = ZE_IMAGE_FORMAT_LAYOUT_8_8;
    desc.width = PAIRS - 1;
    desc.height = ROWS;
    ze_image_handle_t none;
    FAILS(zeImageViewCreateExp(e->context, e->device, &desc, image, &none),
          ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT);
    desc.width = PAIRS;
    OK(zeImageViewCreateExp(e->context, e->device, &desc, image, &uv));
    uint8_t *frame = e2e_alloc(e, FRAME_B), *out = e2e_alloc(e, FRAME_B);
    for (int i = 0; i < FRAME_B; i++)
        frame[i] = (uint8_t)(i + 1);
    ze_command_list_handle_t list = e2e_immediate(e, true);
    OK(zeCommandListAppendImageCopyFromMemory(list, image, frame, NULL, NULL, 0, NULL));
    OK(zeCommandListAppendImageCopyToMemory(list, out, uv, NULL, NULL, 0, NULL));
    assert_memory_equal(out, frame + 2 * PAIRS * H, 2 * PAIRS * ROWS);
    OK(zeCommandListAppendImageCopyToMemory(list, out, y, NULL, NULL, 0, NULL));
    for (int row = 0; row < H; row++)
        assert_memory_equal(out + row * W, frame + row * 2 * PAIRS, W);
    OK(zeCommandListDestroy(list));
    OK(zeImageDestroy(y));
    OK(zeImageDestroy(uv));
    OK(zeImageDestroy(image));
    OK(zeMemFree(e->context, frame));
    OK(zeMemFree(e->context, out));
}

/* Formats that are refused, by name. */
static void test_formats_that_are_not(void **state)
{
    struct e2e *e = *state;
    ze_image_handle_t image;
    for (uint32_t layout = ZE_IMAGE_FORMAT_LAYOUT_Y8; layout <= ZE_IMAGE_FORMAT_LAYOUT_BRGP;
         layout++) {
        if (layout == ZE_IMAGE_FORMAT_LAYOUT_NV12 || layout == ZE_IMAGE_FORMAT_LAYOUT_P010 ||
            layout == ZE_IMAGE_FORMAT_LAYOUT_P012 || layout == ZE_IMAGE_FORMAT_LAYOUT_P016 ||
            layout >= ZE_IMAGE_FORMAT_LAYOUT_RGBP)
            continue; /* images of planes, see test_planes() */
        ze_image_desc_t media = desc_2d(16, 4);
        media.format.layout = (ze_image_format_layout_t)layout;
        FAILS(zeImageCreate(e->context, e->device, &media, &image),
              ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT);
    }
    ze_image_desc_t desc = desc_2d(16, 4);
    ze_srgb_ext_desc_t srgb = {.stype = ZE_STRUCTURE_TYPE_SRGB_EXT_DESC, .sRGB = 1};
    desc.pNext = &srgb;
    FAILS(zeImageCreate(e->context, e->device, &desc, &image),
          ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT);
    srgb.sRGB = 0;
    OK(zeImageCreate(e->context, e->device, &desc, &image));
    OK(zeImageDestroy(image));
    desc.pNext = NULL;
    desc.miplevels = 3;
    FAILS(zeImageCreate(e->context, e->device, &desc, &image),
          ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_2d),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_view_and_properties),
        cmocka_unit_test(test_planes),
        cmocka_unit_test(test_odd_planes),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_samplers),
        cmocka_unit_test(test_external),
        cmocka_unit_test(test_formats_that_are_not),
    };
    return cmocka_run_group_tests(tests, e2e_setup, e2e_teardown);
}
