/* SPDX-License-Identifier: MIT */
/* Launches blend of a SPIR-V file (blend.cl) once, on two images of 16 by 8 pixels. */
#include "../ok.h"

#include <stdio.h>
#include <string.h>

enum { WIDTH = 16, HEIGHT = 8, PIXEL_B = 4 };

struct objects {
    ze_context_handle_t context;
    ze_device_handle_t device;
    ze_command_list_handle_t list;
    ze_kernel_handle_t kernel;
    ze_image_handle_t images[2];
    ze_sampler_handle_t sampler;
    void *sums;
};

static int make(struct objects *o, const unsigned char *spirv, size_t size)
{
    uint32_t one = 1;
    ze_driver_handle_t driver;
    ze_module_handle_t module;
    OK(zeInit(0));
    OK(zeDriverGet(&one, &driver));
    one = 1;
    OK(zeDeviceGet(driver, &one, &o->device));
    ze_context_desc_t context = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    OK(zeContextCreate(driver, &context, &o->context));
    ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                     .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    OK(zeCommandListCreateImmediate(o->context, o->device, &queue, &o->list));
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = ZE_MODULE_FORMAT_IL_SPIRV,
                             .inputSize = size,
                             .pInputModule = spirv};
    OK(zeModuleCreate(o->context, o->device, &desc, &module, NULL));
    ze_kernel_desc_t kernel = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "blend"};
    OK(zeKernelCreate(module, &kernel, &o->kernel));
    ze_image_desc_t image = {.stype = ZE_STRUCTURE_TYPE_IMAGE_DESC,
                             .flags = ZE_IMAGE_FLAG_KERNEL_WRITE,
                             .type = ZE_IMAGE_TYPE_2D,
                             .format = {.layout = ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8,
                                        .type = ZE_IMAGE_FORMAT_TYPE_UINT,
                                        .x = ZE_IMAGE_FORMAT_SWIZZLE_R,
                                        .y = ZE_IMAGE_FORMAT_SWIZZLE_G,
                                        .z = ZE_IMAGE_FORMAT_SWIZZLE_B,
                                        .w = ZE_IMAGE_FORMAT_SWIZZLE_A},
                             .width = WIDTH,
                             .height = HEIGHT,
                             .depth = 1};
    for (int i = 0; i < 2; i++)
        OK(zeImageCreate(o->context, o->device, &image, &o->images[i]));
    ze_sampler_desc_t sampler = {.stype = ZE_STRUCTURE_TYPE_SAMPLER_DESC,
                                 .addressMode = ZE_SAMPLER_ADDRESS_MODE_CLAMP,
                                 .filterMode = ZE_SAMPLER_FILTER_MODE_NEAREST};
    OK(zeSamplerCreate(o->context, o->device, &sampler, &o->sampler));
    ze_device_mem_alloc_desc_t memory = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    OK(zeMemAllocDevice(o->context, &memory, WIDTH * HEIGHT * sizeof(int), 0, o->device, &o->sums));
    return 0;
}

static int launch(struct objects *o)
{
    unsigned char pixels[WIDTH * HEIGHT * PIXEL_B];
    ze_group_count_t groups = {1, HEIGHT, 1};
    for (unsigned i = 0; i < sizeof(pixels); i++)
        pixels[i] = (unsigned char)(7 * i & 127);
    OK(zeCommandListAppendImageCopyFromMemory(o->list, o->images[0], pixels, NULL, NULL, 0, NULL));
    OK(zeKernelSetGroupSize(o->kernel, WIDTH, 1, 1));
    OK(zeKernelSetArgumentValue(o->kernel, 0, sizeof(void *), &o->images[0]));
    OK(zeKernelSetArgumentValue(o->kernel, 1, sizeof(void *), &o->sampler));
    OK(zeKernelSetArgumentValue(o->kernel, 2, sizeof(void *), &o->images[1]));
    OK(zeKernelSetArgumentValue(o->kernel, 3, sizeof(void *), &o->sums));
    OK(zeCommandListAppendLaunchKernel(o->list, o->kernel, &groups, NULL, 0, NULL));
    return 0;
}

int main(int argc, char **argv)
{
    static unsigned char spirv[1 << 20];
    struct objects o;
    FILE *f = argc == 2 ? fopen(argv[1], "rb") : NULL;
    size_t size = f ? fread(spirv, 1, sizeof(spirv), f) : 0;
    return !size || make(&o, spirv, size) || launch(&o);
}
