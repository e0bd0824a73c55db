/* SPDX-License-Identifier: MIT */
/* The driver is loaded in a process of its own, as the device that an image is for. */
#include "cli/lowered.h"

#include "cli/ask.h"
#include "cli/paths.h"

#include <level_zero/ze_api.h>
#include <zescope/driver_ext.h>

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { TIME_MAX_ms = 300000, TEXT_MAX_B = 256 << 20 };

#define CALLS(ROW)                                                                                 \
    ROW(zeInit)                                                                                    \
    ROW(zeDriverGet)                                                                               \
    ROW(zeDeviceGet)                                                                               \
    ROW(zeContextCreate)                                                                           \
    ROW(zeModuleCreate)                                                                            \
    ROW(zeKernelCreate)                                                                            \
    ROW(zeDriverGetExtensionFunctionAddress)

struct api {
#define ROW(name) __typeof__(name) *name;
    CALLS(ROW)
#undef ROW
};

/* Kernels of one image. */
struct question {
    const struct zs_command *command;
    const struct zs_kernel_ref *kernels;
    size_t kernel_count;
    zescope_lowered_step_t step;
};

static const char *const steps[] = {[ZESCOPE_LOWERED_OPERATIONS] = "operations",
                                    [ZESCOPE_LOWERED_LLVM] = "llvm",
                                    [ZESCOPE_LOWERED_HOST] = "host"};

static bool load(struct api *ze, FILE *out)
{
    void *loader = dlopen("libze_loader.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!loader)
        fprintf(out, "%s; the Level Zero loader is the package libze1", dlerror());
#define ROW(name)                                                                                  \
    if (loader && !(ze->name = (__typeof__(name) *)(uintptr_t)dlsym(loader, #name))) {             \
        fputs("the Level Zero loader has no " #name, out);                                         \
        return false;                                                                              \
    }
    CALLS(ROW)
#undef ROW
    return loader != NULL;
}

/* Of a call that failed. */
static int say(ze_result_t result, const char *what, const char *why, FILE *out)
{
    fprintf(out, "%s gives %#x%s%s", what, (unsigned)result, why ? ": " : "", why ? why : "");
    return 1;
}

/* One of several that never becomes that is no failure. */
static int print_kernel(const struct api *ze, ze_driver_handle_t driver, ze_module_handle_t module,
                        const char *name, bool is_only, zescope_lowered_step_t step, FILE *out)
{
    const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name};
    ze_kernel_handle_t kernel;
    zescope_pfnKernelGetLowered_t get = NULL;
    size_t size_B = 0;
    char *text = NULL;
    ze_result_t result = ze->zeKernelCreate(module, &desc, &kernel);
    if (result == ZE_RESULT_ERROR_INVALID_KERNEL_NAME && !is_only)
        return 0; /* exported functions have a kernel's place in a module */
    if (result)
        return say(result, "zeKernelCreate", name, out);
    result = ze->zeDriverGetExtensionFunctionAddress(driver, ZESCOPE_KERNEL_GET_LOWERED_NAME,
                                                     (void **)&get);
    if (!result)
        (void)get(kernel, step, &size_B, NULL);
    if (!result)
        result = (text = malloc(size_B + 1)) ? get(kernel, step, &size_B, text)
                                             : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    const char *comment = step == ZESCOPE_LOWERED_LLVM   ? ";"
                          : step == ZESCOPE_LOWERED_HOST ? "#"
                                                         : "//";
    bool never = result == ZE_RESULT_ERROR_UNSUPPORTED_FEATURE && text;
    if (!result)
        fprintf(out, "%s kernel %s\n%s\n", comment, name, text);
    else if (never && !is_only)
        fprintf(out, "%s kernel %s never becomes that: %s\n", comment, name, text);
    else if (never)
        fprintf(out, "kernel %s never becomes that: %s", name, text);
    else
        say(result, name, text, out);
    free(text);
    return result != 0 && (is_only || !never);
}

/* Nothing of what was printed is kept where something goes wrong. */
static int answer(const void *opaque, FILE *out)
{
    const struct question *q = opaque;
    const struct zs_image *image = q->kernels[0].image;
    const ze_context_desc_t context_desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    const ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                   .format = ZE_MODULE_FORMAT_NATIVE,
                                   .inputSize = image->bytes.size_B,
                                   .pInputModule = image->bytes.data};
    struct api ze;
    ze_driver_handle_t driver = NULL;
    ze_device_handle_t device;
    ze_context_handle_t context;
    ze_module_handle_t module;
    uint32_t one = 1;
    if (!load(&ze, out))
        return 1;
    ze_result_t result = ze.zeInit(0);
    if (result || (result = ze.zeDriverGet(&one, &driver)))
        return say(result, "zeInit", NULL, out);
    one = 1;
    if ((result = ze.zeDeviceGet(driver, &one, &device)) ||
        (result = ze.zeContextCreate(driver, &context_desc, &context)) ||
        (result = ze.zeModuleCreate(context, device, &desc, &module, NULL)))
        return say(result, "zeModuleCreate", NULL, out);
    for (size_t i = 0; i < q->kernel_count; i++) {
        fflush(out);
        if (print_kernel(&ze, driver, module, q->kernels[i].kernel->name, q->kernel_count == 1,
                         q->step, out))
            return 1;
    }
    return 0;
}

/* Kernels of one image, from the first on. */
static int print_image(const struct question *q, const char *name)
{
    struct zs_buf text = {0};
    const char *device = q->kernels[0].image->device;
    int status = zs_cli_use_software_gpu(q->command, *device ? device : NULL);
    if (status == ZS_EXIT_OK && setenv("ZESCOPE_EU", "auto", 1))
        status = zs_cli_fail("out of memory");
    if (status != ZS_EXIT_OK)
        return status;
    struct zs_asked asked = zs_cli_ask(answer, q, NULL, TIME_MAX_ms, TEXT_MAX_B, &text);
    if (!asked.asked)
        status = zs_cli_fail("no process could be made: %s", strerror(errno));
    else if (asked.timed_out || asked.cut || asked.status > 1)
        status = zs_cli_fail("%s: the driver %s", name,
                             asked.timed_out ? "takes too long"
                             : asked.cut     ? "says too much"
                                             : "has crashed");
    else if (asked.status)
        status = zs_cli_fail("%s: %s", name, zs_buf_cstr(&text));
    else
        zs_cli_write_text(text.data, text.size_B);
    zs_buf_fini(&text);
    return status;
}

int zs_cli_print_lowered(const struct zs_command *command, const struct zs_input *input,
                         const char *step)
{
    struct question q = {.command = command};
    int status = ZS_EXIT_OK;
    while (strcmp(steps[q.step], step)) {
        if (++q.step == ZS_ARRAY_LEN(steps))
            return zs_cli_usage(command, "--lowered %s is none of operations, llvm, host", step);
    }
    for (size_t i = 0; i < input->kernel_count && status == ZS_EXIT_OK; i += q.kernel_count) {
        q.kernels = &input->kernels[i];
        q.kernel_count = 1;
        while (i + q.kernel_count < input->kernel_count &&
               q.kernels[q.kernel_count].image == q.kernels[0].image)
            q.kernel_count++;
        status = print_image(&q, input->name);
    }
    return status;
}
