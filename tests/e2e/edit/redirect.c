/* SPDX-License-Identifier: MIT */
/*
 * redirect APP TOOL: a function of the module APP becomes another one of it, and then one of the
 * module TOOL, which counts its calls. See redirect.cl.
 */
#include <level_zero/ze_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zescope/edit.h>
#include <zescope/isa.h>

enum { ITEMS = 64, FILE_MAX_B = 1 << 20 };
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                                \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static ze_context_handle_t context;
static ze_device_handle_t device;

static struct zs_span slurp(const char *path)
{
    uint8_t *bytes = malloc(FILE_MAX_B);
    FILE *f = fopen(path, "rb");
    CHECK(f && bytes);
    struct zs_span span = {bytes, fread(bytes, 1, FILE_MAX_B, f)};
    fclose(f);
    return span;
}

static ze_module_handle_t build(struct zs_span binary)
{
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = ZE_MODULE_FORMAT_NATIVE,
                             .inputSize = binary.size_B,
                             .pInputModule = binary.data};
    ze_module_handle_t module;
    CHECK(!zeModuleCreate(context, device, &desc, &module, NULL));
    return module;
}

static void run(ze_module_handle_t module, const char *name, uint32_t items, const int *in,
                int *out)
{
    ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name};
    ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                     .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    ze_group_count_t groups = {1, 1, 1};
    ze_kernel_handle_t kernel;
    ze_command_list_handle_t list;
    uint32_t argument = 0;
    CHECK(!zeKernelCreate(module, &desc, &kernel) && !zeKernelSetGroupSize(kernel, items, 1, 1));
    if (in)
        CHECK(!zeKernelSetArgumentValue(kernel, argument++, sizeof(in), &in));
    CHECK(!zeKernelSetArgumentValue(kernel, argument, sizeof(out), &out));
    CHECK(!zeCommandListCreateImmediate(context, device, &queue, &list));
    CHECK(!zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
    CHECK(!zeCommandListDestroy(list) && !zeKernelDestroy(kernel));
}

/* The application's module with `one` made another function. */
static struct zs_span redirected(struct zs_span app, const char *to)
{
    struct zs_edit *edit;
    uint8_t *bytes;
    size_t size_B;
    CHECK(!zs_edit_open(app, NULL, &edit, NULL));
    CHECK(zs_edit_redirect(edit, "nobody", to, NULL) != 0);
    CHECK(!zs_edit_redirect(edit, "one", to, NULL));
    CHECK(!zs_edit_write(edit, 0, &bytes, &size_B, NULL));
    zs_edit_close(edit);
    return (struct zs_span){bytes, size_B};
}

static void check(ze_module_handle_t module, const int *in, int *out, int factor, int more)
{
    run(module, "run", ITEMS, in, out);
    for (int i = 0; i < ITEMS; i++)
        CHECK(out[i] == (in[i] & 1 ? in[i] * factor + more : in[i] * 10));
}

int main(int argc, char **argv)
{
    ze_driver_handle_t driver;
    uint32_t count = 1;
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    void *in_memory, *out_memory;
    CHECK(argc == 3 && !zeInit(0) && !zeDriverGet(&count, &driver));
    count = 1;
    CHECK(!zeDeviceGet(driver, &count, &device) && !zeContextCreate(driver, &desc, &context));
    CHECK(!zeMemAllocHost(context, &host, ITEMS * sizeof(int), 64, &in_memory));
    CHECK(!zeMemAllocHost(context, &host, ITEMS * sizeof(int), 64, &out_memory));
    int *in = in_memory, *out = out_memory;
    for (int i = 0; i < ITEMS; i++)
        in[i] = i * 7;
    struct zs_span app = slurp(argv[1]), tool = slurp(argv[2]);
    check(build(app), in, out, 1, 1);
    struct zs_span ten = redirected(app, "ten"), hundred = redirected(app, "hundred");
    check(build(ten), in, out, 10, 0);
    ze_module_handle_t linked[] = {build(hundred), build(tool)};
    CHECK(!zeModuleDynamicLink(2, linked, NULL));
    check(linked[0], in, out, 100, 0);
    run(linked[1], "told", 1, NULL, out);
    CHECK(out[0] == ITEMS / 2);
    zs_isa_code_free((void *)ten.data);
    zs_isa_code_free((void *)hundred.data);
    free((void *)app.data);
    free((void *)tool.data);
    return 0;
}
