/* SPDX-License-Identifier: MIT */
#include "base/checks.h"
#include "driver/intel.h"
#include "driver/memory/image.h"
#include "driver/memory/memory.h"
#include "driver/module/compile.h"
#include "driver/module/module.h"
#include "isa/isa.h"

#include <zescope/driver_ext.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { NAMES_B_MAX = 300 }; /* of kernels, in a message */

/* ---- Argument sets -----------------------------------------------------------------------------
 */

void zs_arg_set_unref(struct zs_arg_set *set)
{
    if (!set || atomic_fetch_sub_explicit(&set->refs, 1, memory_order_acq_rel) != 1)
        return;
    if (set->args)
        zs_gpu_args_destroy(set->args);
    zs_object_unref(set->module);
    free(set);
}

static struct zs_arg_set *arg_set_new(struct zs_ze_module *module, struct zs_gpu_args *args)
{
    struct zs_arg_set *set = args ? calloc(1, sizeof(*set)) : NULL;
    if (!set) {
        if (args)
            zs_gpu_args_destroy(args);
        return NULL;
    }
    atomic_init(&set->refs, 1);
    set->args = args;
    set->module = zs_object_ref(module);
    return set;
}

/* The kernel's arguments, its own to change. */
static struct zs_gpu_args *writable_args(struct zs_ze_kernel *kernel)
{
    if (atomic_load_explicit(&kernel->args->refs, memory_order_acquire) == 1)
        return kernel->args->args;
    struct zs_gpu_args *clone = NULL;
    if (zs_gpu_args_clone(kernel->args->args, &clone) != 0)
        return NULL;
    struct zs_arg_set *set = arg_set_new(kernel->module, clone);
    if (!set)
        return NULL;
    zs_arg_set_unref(kernel->args);
    kernel->args = set;
    return set->args;
}

/* ---- Creation ----------------------------------------------------------------------------------
 */

/* That checks had moved apart, where they are all that the kernel has. NULL: none. */
static struct zs_gpu_local_array *local_arrays_of(const struct zs_ze_module *module,
                                                  const struct zs_kernel *kernel,
                                                  uint32_t *ret_count)
{
    const struct zs_local_arrays *all = &module->local_arrays;
    struct zs_gpu_local_array *arrays = all->count ? calloc(all->count, sizeof(*arrays)) : NULL;
    uint32_t count = 0;
    for (size_t i = 0; arrays && i < all->count; i++) {
        if (!strcmp(all->at[i].kernel, kernel->name) && all->at[i].total_B == kernel->slm_B)
            arrays[count++] = all->at[i].array;
    }
    *ret_count = count;
    return arrays;
}

static void dump(const struct zs_kernel *kernel, const struct zs_gpu_kernel *gpu)
{
    struct zs_buf text = {0};
    zs_gpu_kernel_show(gpu, &text);
    fprintf(stderr, "kernel %s\n%s\n", kernel->name, zs_buf_cstr(&text));
    zs_buf_fini(&text);
}

static int lower_with(struct zs_ze_module *module, const struct zs_kernel *kernel, bool all,
                      struct zs_lowered *ret_lowered, struct zs_diag *diag)
{
    struct zs_linked_code code = {0};
    struct zs_gpu_kernel_desc desc = {
        .module_kernel = kernel,
        .base_va = module->context->code_base_va,
        .global_va = (uintptr_t)module->buffers[ZS_BUFFER_GLOBAL],
        .global_size_B = module->image->buffers[ZS_BUFFER_GLOBAL].size_B,
        .constant_va = (uintptr_t)module->buffers[ZS_BUFFER_CONSTANT],
        .constant_size_B = module->image->buffers[ZS_BUFFER_CONSTANT].size_B};
    if (module->context->driver->timing != ZS_DRIVER_TIMING_FORMULA)
        desc.flags |= ZS_GPU_KERNEL_TIMED;
    if (module->context->driver->check)
        desc.flags |= ZS_GPU_KERNEL_LOCAL;
    if (module->context->driver->checks & ZS_CHECK_UNDEFINED)
        desc.flags |= ZS_GPU_KERNEL_DEFINED;
    if (module->local_arrays.looked && !module->local_arrays.has_sub_groups)
        desc.flags |= ZS_GPU_KERNEL_NO_SUB_GROUPS;
    if (module->context->driver->checks & ZS_CHECK_SWSB)
        desc.flags |= ZS_GPU_KERNEL_SCOREBOARD;
    if (module->context->driver->checks & ZS_CHECK_RACE)
        desc.flags |= ZS_GPU_KERNEL_MESSAGES;
    if (module->context->driver->checks & ZS_CHECK_SYNC)
        desc.flags |= ZS_GPU_KERNEL_BARRIERS;
    if (module->context->driver->eu != ZS_DRIVER_EU_INTERPRETED) {
        desc.compile = zs_compile_for_host;
        desc.compile_context = module->context->driver;
        desc.flags |=
            module->context->driver->eu == ZS_DRIVER_EU_COMPILED ? ZS_GPU_KERNEL_COMPILED : 0;
    }
    struct zs_gpu_local_array *arrays = local_arrays_of(module, kernel, &desc.local_array_count);
    desc.local_arrays = arrays;
    desc.bounds_sites = module->local_arrays.sites.items;
    desc.bounds_site_count = module->local_arrays.sites.count;
    int error = zs_link_code(module, kernel, all, &code, diag);
    desc.code = zs_buf_span(&code.code);
    desc.entry_B = code.entry_B;
    desc.segments = code.segments.items;
    desc.segment_count = code.segments.count;
    desc.function_offsets_B = code.functions.items;
    desc.function_count = code.functions.count;
    if (!error)
        error = zs_gpu_kernel_create(module->device->gpu, &desc, &ret_lowered->gpu, diag);
    free(arrays);
    if (!error && module->context->driver->dumps)
        dump(kernel, ret_lowered->gpu);
    ret_lowered->generation = code.generation;
    ret_lowered->ip_B = code.ip_B;
    if (error)
        zs_link_give_back(module, kernel, code.ip_B);
    zs_linked_code_fini(&code);
    return error;
}

/* The kernel's code. When it calls functions by their addresses, with those of all other modules of
 * the context, as far as that can be. */
static int lower_anew(struct zs_ze_module *module, const struct zs_kernel *kernel,
                      struct zs_lowered *ret_lowered, struct zs_diag *diag)
{
    int error = lower_with(module, kernel, false, ret_lowered, diag);
    if (error || !zs_gpu_kernel_computes_jumps(ret_lowered->gpu))
        return error;
    struct zs_lowered all = {0};
    struct zs_diag ignored = {0};
    if (lower_with(module, kernel, true, &all, &ignored) == 0) {
        zs_gpu_kernel_destroy(ret_lowered->gpu);
        zs_link_give_back(module, kernel, ret_lowered->ip_B);
        *ret_lowered = all;
    }
    return 0;
}

/* Under the module's lock: what was lowered last, unless it computes jumps and there are new
 * modules. */
static int lower_if_needed(struct zs_ze_module *module, const struct zs_kernel *kernel,
                           struct zs_gpu_kernel **ret_gpu, struct zs_diag *diag)
{
    struct zs_lowered *lowered = &module->lowered[kernel->index], fresh = {0};
    *ret_gpu = lowered->gpu;
    if (lowered->gpu && (!zs_gpu_kernel_computes_jumps(lowered->gpu) ||
                         lowered->generation == module->context->code_generation))
        return 0;
    struct zs_lowered *older = lowered->gpu ? malloc(sizeof(*older)) : NULL;
    int error = lowered->gpu && !older ? -ENOMEM : lower_anew(module, kernel, &fresh, diag);
    if (error) {
        free(older);
        return error;
    }
    if (older)
        *older = *lowered;
    *lowered = fresh;
    lowered->older = older;
    *ret_gpu = lowered->gpu;
    return 0;
}

/* Under the module's lock. */
static ze_result_t lower(struct zs_ze_module *module, const struct zs_kernel *kernel,
                         struct zs_gpu_kernel **ret_gpu)
{
    struct zs_diag diag = {0};
    int error = lower_if_needed(module, kernel, ret_gpu, &diag);
    if (!error)
        return ZE_RESULT_SUCCESS;
    char text[600];
    zs_diag_print(&diag, text, sizeof(text));
    return zs_refuse(error == -ENOENT    ? ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED
                     : error == -EBADMSG ? ZE_RESULT_ERROR_INVALID_NATIVE_BINARY
                     : error == -EINVAL  ? ZE_RESULT_ERROR_INVALID_NATIVE_BINARY
                                         : zs_result_of_errno(error),
                     "zeKernelCreate", "%s: %s", kernel->name, text);
}

static ze_result_t refuse_name(const struct zs_image *image, const char *name)
{
    struct zs_buf names = {0};
    for (uint32_t i = 0; i < image->kernel_count && names.size_B < NAMES_B_MAX; i++) {
        if (!image->kernels[i].is_function_holder)
            zs_buf_printf(&names, " %.100s", image->kernels[i].name);
    }
    ze_result_t result =
        zs_refuse(ZE_RESULT_ERROR_INVALID_KERNEL_NAME, "zeKernelCreate",
                  "the module has no kernel \"%.100s\"; it has%s", name, zs_buf_cstr(&names));
    zs_buf_fini(&names);
    return result;
}

/* Addresses for the instructions of a kernel object, in whole pages. */
static uint64_t take_addresses(struct zs_ze_driver *driver, const struct zs_gpu_kernel *gpu)
{
    uint32_t before_B, size_B;
    zs_gpu_kernel_extent(gpu, &before_B, &size_B);
    uint64_t whole_B = zs_align_up((uint64_t)before_B + size_B + 1, 4096);
    return atomic_fetch_add(&driver->next_code_va, whole_B) + before_B;
}

/* As Intel's driver has it (zeDriverGetExtensionFunctionAddress). */
static ze_result_t ZE_APICALL zexKernelGetBaseAddress(ze_kernel_handle_t hKernel,
                                                      uint64_t *baseAddress)
{
    ZS_OBJECT(kernel, kernel, hKernel);
    ZS_CHECK_POINTER(baseAddress);
    *baseAddress = kernel->code_va;
    return ZE_RESULT_SUCCESS;
}

static bool show(const struct zs_ze_kernel *kernel, zescope_lowered_step_t step,
                 struct zs_buf *ret_text)
{
    if (step != ZESCOPE_LOWERED_OPERATIONS)
        return zs_describe_for_host(kernel->module->context->driver,
                                    zs_gpu_kernel_tier_request(kernel->gpu),
                                    step == ZESCOPE_LOWERED_HOST, ret_text);
    zs_gpu_kernel_show(kernel->gpu, ret_text);
    return true;
}

static ze_result_t ZE_APICALL zescopeKernelGetLowered(ze_kernel_handle_t hKernel,
                                                      zescope_lowered_step_t step, size_t *pSize,
                                                      char *pText)
{
    ZS_OBJECT(kernel, kernel, hKernel);
    ZS_CHECK_POINTER(pSize);
    if (step > ZESCOPE_LOWERED_HOST)
        return zs_refuse(ZE_RESULT_ERROR_INVALID_ENUMERATION, "zescopeKernelGetLowered",
                         "there is no step %u", (unsigned)step);
    struct zs_buf text = {0};
    bool shown = show(kernel, step, &text);
    const char *from = zs_buf_cstr(&text);
    size_t size_B = strlen(from) + 1;
    if (pText && *pSize)
        snprintf(pText, *pSize, "%s", from);
    *pSize = pText ? ZS_MIN(*pSize, size_B) : size_B;
    ze_result_t result = text.error ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY
                         : shown    ? ZE_RESULT_SUCCESS
                                    : zs_refuse(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                                                "zescopeKernelGetLowered", "%s", from);
    zs_buf_fini(&text);
    return result;
}

void *zs_kernel_function(const char *name)
{
    if (strcmp(name, ZESCOPE_KERNEL_GET_LOWERED_NAME) == 0)
        return (void *)zescopeKernelGetLowered;
    return strcmp(name, "zexKernelGetBaseAddress") == 0 ? (void *)zexKernelGetBaseAddress : NULL;
}

ze_result_t ZE_APICALL zeKernelCreate(ze_module_handle_t hModule, const ze_kernel_desc_t *desc,
                                      ze_kernel_handle_t *phKernel)
{
    ZS_OBJECT(module, module, hModule);
    ZS_CHECK_POINTER(desc);
    ZS_CHECK_POINTER(desc->pKernelName);
    ZS_CHECK_POINTER(phKernel);
    ZS_CHECK_FLAGS(desc->flags, 0x3);
    const struct zs_kernel *found = zs_image_kernel(module->image, desc->pKernelName);
    if (!found || found->is_function_holder)
        return refuse_name(module->image, desc->pKernelName);
    pthread_mutex_lock(&module->lock);
    struct zs_gpu_kernel *gpu;
    ze_result_t result = module->has_imports && !module->is_linked
                             ? ZS_REFUSE(ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED,
                                         "the module imports symbols and was not linked")
                             : lower(module, found, &gpu);
    pthread_mutex_unlock(&module->lock);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct zs_ze_kernel *kernel = zs_object_new(ZS_OBJECT_kernel, sizeof(*kernel));
    ZS_CHECK(kernel, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory");
    pthread_mutex_init(&kernel->counters_lock, NULL);
    kernel->module = zs_object_ref(module);
    kernel->kernel = found;
    kernel->gpu = gpu;
    kernel->code_va = take_addresses(module->context->driver, gpu);
    bool required = found->required_group_size[0] != 0;
    for (int i = 0; i < 3; i++)
        kernel->group_size[i] = required ? found->required_group_size[i] : i == 0 ? found->simd : 1;
    struct zs_gpu_args *args = NULL;
    if (zs_gpu_args_create(gpu, &args) == 0)
        kernel->args = arg_set_new(module, args);
    if (!kernel->args || !zs_object_publish(kernel)) {
        zs_object_unref(kernel);
        return ZS_REFUSE(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory");
    }
    *phKernel = kernel->object.handle;
    return ZE_RESULT_SUCCESS;
}

void zs_ze_kernel_fini(struct zs_ze_kernel *kernel)
{
    if (kernel->counters)
        zs_gpu_counters_destroy(kernel->counters);
    zs_arg_set_unref(kernel->args);
    pthread_mutex_destroy(&kernel->counters_lock);
    zs_object_unref(kernel->module);
}

ze_result_t ZE_APICALL zeKernelDestroy(ze_kernel_handle_t hKernel)
{
    ZS_OBJECT(kernel, kernel, hKernel);
    if (!zs_object_retract(kernel))
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    zs_object_unref(kernel);
    return ZE_RESULT_SUCCESS;
}

/* ---- Arguments ---------------------------------------------------------------------------------
 */

struct set_arg {
    struct zs_ze_kernel *kernel;
    struct zs_gpu_args *args;
    uint32_t index;
    size_t size_B;
    const void *value;
};

static ze_result_t refuse_arg(const struct set_arg *a, ze_result_t result, const char *what)
{
    return zs_refuse(result, "zeKernelSetArgumentValue", "%s, argument %u, %zu bytes: %s",
                     a->kernel->kernel->name, a->index, a->size_B, what);
}

static ze_result_t set_none(const struct set_arg *a)
{
    return ZE_RESULT_SUCCESS;
}

/* An int may be given for a size_t: the bytes that are missing are zeros. */
static int set_short_value(const struct set_arg *a, uint32_t read_B)
{
    uint8_t *wide = calloc(1, read_B);
    if (!wide)
        return -ENOMEM;
    memcpy(wide, a->value, a->size_B);
    int error = zs_gpu_args_set_value(a->args, a->index, read_B, wide);
    free(wide);
    return error;
}

static ze_result_t set_value(const struct set_arg *a)
{
    /* char and short, alone or at the end of a struct, take four bytes of the payload */
    uint32_t read_B = a->kernel->kernel->args[a->index].value_size_B;
    bool is_short = a->size_B + 3 < read_B;
    int error = a->size_B && !is_short
                    ? zs_gpu_args_set_value(a->args, a->index, a->size_B, a->value)
                    : -EINVAL;
    if (error == -EINVAL && a->size_B && a->size_B < read_B && a->value &&
        zs_lets_pass("zeKernelSetArgumentValue", "%s, argument %u: %zu bytes, the kernel reads %u",
                     a->kernel->kernel->name, a->index, a->size_B, read_B))
        error = set_short_value(a, read_B);
    if (error == -ENOMEM)
        return refuse_arg(a, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory");
    return error ? refuse_arg(a, ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE,
                              "the kernel reads more bytes than that")
                 : ZE_RESULT_SUCCESS;
}

static ze_result_t set_buffer(const struct set_arg *a)
{
    uint64_t gpu_va = 0;
    bool fits = a->size_B == sizeof(void *);
    if (!fits && a->size_B > sizeof(void *))
        fits =
            zs_lets_pass("zeKernelSetArgumentValue", "%s, argument %u: %zu bytes, a pointer has 8",
                         a->kernel->kernel->name, a->index, a->size_B);
    if (!fits)
        return refuse_arg(a, ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE, "a pointer has 8");
    if (a->value)
        memcpy(&gpu_va, a->value, sizeof(gpu_va));
    struct zs_ze_context *context = a->kernel->module->context;
    if (gpu_va && !zs_gpu_memory_find(context->memory, gpu_va, &(struct zs_gpu_allocation){0}))
        return refuse_arg(a, ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "the pointer is in no allocation of the context");
    return zs_result_of_errno(zs_gpu_args_set_buffer(a->args, a->index, context->memory, gpu_va));
}

static ze_result_t set_local(const struct set_arg *a)
{
    if (a->value &&
        !zs_lets_pass("zeKernelSetArgumentValue", "%s, argument %u: local memory has no value",
                      a->kernel->kernel->name, a->index))
        return refuse_arg(a, ZE_RESULT_ERROR_INVALID_ARGUMENT, "local memory has no value");
    int error = zs_gpu_args_set_local(a->args, a->index, a->size_B);
    if (error == -ENOMEM)
        return refuse_arg(a, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY,
                          "more local memory than there is");
    return zs_result_of_errno(error);
}

static ze_result_t set_image(const struct set_arg *a)
{
    void *handle = NULL;
    if (a->size_B != sizeof(handle))
        return refuse_arg(a, ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE, "a handle has 8");
    if (a->value)
        memcpy(&handle, a->value, sizeof(handle));
    const struct zs_ze_image *image = handle ? zs_ze_image_of(handle) : NULL;
    if (handle && !image)
        return refuse_arg(a, ZE_RESULT_ERROR_INVALID_ARGUMENT, "this is no live image");
    return zs_result_of_errno(zs_gpu_args_set_image(a->args, a->index, image ? &image->gpu : NULL));
}

static ze_result_t set_sampler(const struct set_arg *a)
{
    void *handle = NULL;
    if (a->size_B != sizeof(handle))
        return refuse_arg(a, ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE, "a handle has 8");
    if (a->value)
        memcpy(&handle, a->value, sizeof(handle));
    const struct zs_ze_sampler *sampler = handle ? zs_ze_sampler_of(handle) : NULL;
    if (!sampler)
        return refuse_arg(a, ZE_RESULT_ERROR_INVALID_ARGUMENT, "this is no live sampler");
    return zs_result_of_errno(zs_gpu_args_set_sampler(a->args, a->index, &sampler->gpu));
}

ze_result_t ZE_APICALL zeKernelSetArgumentValue(ze_kernel_handle_t hKernel, uint32_t argIndex,
                                                size_t argSize, const void *pArgValue)
{
    ZS_OBJECT(kernel, kernel, hKernel);
    static ze_result_t (*const setters[])(const struct set_arg *) = {
        [ZS_GPU_ARG_NONE] = set_none,     [ZS_GPU_ARG_VALUE] = set_value,
        [ZS_GPU_ARG_BUFFER] = set_buffer, [ZS_GPU_ARG_LOCAL] = set_local,
        [ZS_GPU_ARG_IMAGE] = set_image,   [ZS_GPU_ARG_SAMPLER] = set_sampler};
    ZS_CHECK(argIndex < zs_gpu_kernel_arg_count(kernel->gpu),
             ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX, "%s has %u arguments, none of index %u",
             kernel->kernel->name, zs_gpu_kernel_arg_count(kernel->gpu), argIndex);
    struct set_arg set = {.kernel = kernel,
                          .args = writable_args(kernel),
                          .index = argIndex,
                          .size_B = argSize,
                          .value = pArgValue};
    ZS_CHECK(set.args, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory");
    return setters[zs_gpu_kernel_arg_kind(kernel->gpu, argIndex)](&set);
}

/* ---- Shape -------------------------------------------------------------------------------------
 */

ze_result_t ZE_APICALL zeKernelSetGroupSize(ze_kernel_handle_t hKernel, uint32_t groupSizeX,
                                            uint32_t groupSizeY, uint32_t groupSizeZ)
{
    ZS_OBJECT(kernel, kernel, hKernel);
    const uint32_t size[3] = {groupSizeX, groupSizeY, groupSizeZ};
    const uint32_t *required = kernel->kernel->required_group_size;
    uint32_t max = kernel->module->device->model->max_group_items;
    uint64_t items = 1;
    for (int i = 0; i < 3; i++) {
        ZS_CHECK(size[i] > 0 && size[i] <= max, ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION,
                 "%u x %u x %u, at most %u work-items", size[0], size[1], size[2], max);
        ZS_CHECK(!required[0] || required[i] == size[i],
                 ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION,
                 "%u x %u x %u, the kernel requires %u x %u x %u", size[0], size[1], size[2],
                 required[0], required[1], required[2]);
        items *= size[i];
    }
    ZS_CHECK(items <= max, ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION,
             "%u x %u x %u, at most %u work-items", size[0], size[1], size[2], max);
    memcpy(kernel->group_size, size, sizeof(size));
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeKernelSuggestGroupSize(ze_kernel_handle_t hKernel, uint32_t globalSizeX,
                                                uint32_t globalSizeY, uint32_t globalSizeZ,
                                                uint32_t *groupSizeX, uint32_t *groupSizeY,
                                                uint32_t *groupSizeZ)
{
    ZS_OBJECT(kernel, kernel, hKernel);
    ZS_CHECK_POINTER(groupSizeX);
    ZS_CHECK_POINTER(groupSizeY);
    ZS_CHECK_POINTER(groupSizeZ);
    bool fewer = globalSizeX && (!globalSizeY || !globalSizeZ); /* dimensions */
    ZS_CHECK((globalSizeX && globalSizeY && globalSizeZ) ||
                 (fewer && zs_lets_pass(__func__, "%u x %u x %u work-items; 0 is taken as 1",
                                        globalSizeX, globalSizeY, globalSizeZ)),
             ZE_RESULT_ERROR_INVALID_GLOBAL_WIDTH_DIMENSION, "%u x %u x %u", globalSizeX,
             globalSizeY, globalSizeZ);
    const uint32_t *required = kernel->kernel->required_group_size;
    const uint32_t global[3] = {globalSizeX, ZS_MAX(globalSizeY, 1u), ZS_MAX(globalSizeZ, 1u)};
    uint32_t size[3];
    if (required[0])
        memcpy(size, required, sizeof(size));
    else
        zs_gpu_suggest_group_size(kernel->module->device->gpu, kernel->gpu,
                                  zs_gpu_args_slm_B(kernel->args->args), global, size);
    *groupSizeX = size[0];
    *groupSizeY = size[1];
    *groupSizeZ = size[2];
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeKernelSuggestMaxCooperativeGroupCount(ze_kernel_handle_t hKernel,
                                                               uint32_t *totalGroupCount)
{
    ZS_OBJECT(kernel, kernel, hKernel);
    ZS_CHECK_POINTER(totalGroupCount);
    const struct zs_gpu_model *model = kernel->module->device->model;
    /* a size that the kernel requires may be one that no device has */
    uint64_t items = 1, max = model->max_group_items;
    for (int i = 0; i < 3; i++)
        items = ZS_MIN(items * kernel->group_size[i], max);
    uint32_t simd = ZS_MAX(kernel->kernel->simd, 1u);
    uint32_t threads = ((uint32_t)items + simd - 1) / simd;
    threads = ZS_MAX(threads, 1u);
    uint32_t groups = zs_gpu_model_threads_for(model, kernel->kernel->grf_count) / threads;
    groups = (uint32_t)ZS_MIN(zs_gpu_kernel_groups_max(kernel->gpu, threads), (uint64_t)groups);
    uint32_t subslices = model->slices * model->subslices_per_slice;
    uint32_t slm_B = zs_gpu_args_slm_B(kernel->args->args);
    if (slm_B)
        groups = ZS_MIN(groups, subslices * (model->slm_B / slm_B));
    if (zs_gpu_kernel_uses_barriers(kernel->gpu))
        groups = ZS_MIN(groups, subslices * 16); /* barriers of a subslice */
    *totalGroupCount = ZS_MAX(groups, 1u);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeKernelSetGlobalOffsetExp(ze_kernel_handle_t hKernel, uint32_t offsetX,
                                                  uint32_t offsetY, uint32_t offsetZ)
{
    ZS_OBJECT(kernel, kernel, hKernel);
    kernel->global_offset[0] = offsetX;
    kernel->global_offset[1] = offsetY;
    kernel->global_offset[2] = offsetZ;
    return ZE_RESULT_SUCCESS;
}

/* ---- Settings that change nothing here ---------------------------------------------------------
 */

ze_result_t ZE_APICALL zeKernelSetIndirectAccess(ze_kernel_handle_t hKernel,
                                                 ze_kernel_indirect_access_flags_t flags)
{
    ZS_OBJECT(kernel, kernel, hKernel);
    ZS_CHECK_FLAGS(flags, 0x7);
    kernel->indirect_access |= flags; /* kernels may reach all memory of the context in any case */
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeKernelGetIndirectAccess(ze_kernel_handle_t hKernel,
                                                 ze_kernel_indirect_access_flags_t *pFlags)
{
    ZS_OBJECT(kernel, kernel, hKernel);
    ZS_CHECK_POINTER(pFlags);
    *pFlags = kernel->indirect_access;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeKernelSetCacheConfig(ze_kernel_handle_t hKernel,
                                              ze_cache_config_flags_t flags)
{
    ZS_OBJECT(kernel, kernel, hKernel);
    ZS_CHECK_FLAGS(flags, 0x3);
    kernel->cache_config = flags;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeKernelSchedulingHintExp(ze_kernel_handle_t hKernel,
                                                 ze_scheduling_hint_exp_desc_t *pHint)
{
    ZS_OBJECT(kernel, kernel, hKernel);
    ZS_CHECK_POINTER(pHint);
    ZS_CHECK_FLAGS(pHint->flags, 0x7);
    return ZE_RESULT_SUCCESS;
}

/* ---- Properties --------------------------------------------------------------------------------
 */

/* Its instructions as the module has them, padding included, as Intel's driver. */
ze_result_t ZE_APICALL zeKernelGetBinaryExp(ze_kernel_handle_t hKernel, size_t *pSize,
                                            uint8_t *pKernelBinary)
{
    ZS_OBJECT(kernel, kernel, hKernel);
    ZS_CHECK_POINTER(pSize);
    struct zs_span code = kernel->kernel->heap;
    ZS_CHECK(!pKernelBinary || *pSize >= code.size_B, ZE_RESULT_ERROR_INVALID_SIZE,
             "%zu bytes are too few for a kernel of %zu", *pSize, code.size_B);
    if (pKernelBinary)
        memcpy(pKernelBinary, code.data, code.size_B);
    *pSize = code.size_B;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeKernelGetProperties(ze_kernel_handle_t hKernel,
                                             ze_kernel_properties_t *pKernelProperties)
{
    ZS_OBJECT(kernel, kernel, hKernel);
    ZS_CHECK_POINTER(pKernelProperties);
    const struct zs_kernel *k = kernel->kernel;
    ze_kernel_properties_t *p = pKernelProperties;
    p->numKernelArgs = zs_gpu_kernel_arg_count(kernel->gpu);
    p->requiredGroupSizeX = k->required_group_size[0];
    p->requiredGroupSizeY = k->required_group_size[1];
    p->requiredGroupSizeZ = k->required_group_size[2];
    p->requiredNumSubGroups = k->subgroup_count;
    p->requiredSubgroupSize = k->required_subgroup_size;
    p->maxSubgroupSize = k->simd;
    p->maxNumSubgroups = kernel->module->device->model->max_group_items / ZS_MAX(k->simd, 1u);
    p->localMemSize = k->slm_B;
    p->privateMemSize = k->private_per_hw_thread_B;
    p->spillMemSize = k->spill_known ? k->spill_B : k->scratch_B[0];
    memset(&p->uuid, 0, sizeof(p->uuid));
    ze_kernel_preferred_group_size_properties_t *preferred = (void *)(uintptr_t)zs_chain_find(
        p->pNext, ZE_STRUCTURE_TYPE_KERNEL_PREFERRED_GROUP_SIZE_PROPERTIES);
    /* what fuses two EUs runs two threads at once */
    if (preferred)
        preferred->preferredMultiple =
            zs_isa_has_fused_eus(kernel->module->device->model->platform) ? 2 * k->simd : k->simd;
    ze_kernel_max_group_size_properties_ext_t *max = (void *)(uintptr_t)zs_chain_find(
        p->pNext, ZE_STRUCTURE_TYPE_KERNEL_MAX_GROUP_SIZE_EXT_PROPERTIES);
    if (max)
        max->maxGroupSize = kernel->module->device->model->max_group_items;
    zs_intel_kernel_registers_t *registers =
        (void *)(uintptr_t)zs_chain_find(p->pNext, ZS_INTEL_STYPE_KERNEL_REGISTERS);
    if (registers)
        registers->registerFileSize = k->grf_count;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeKernelGetSourceAttributes(ze_kernel_handle_t hKernel, uint32_t *pSize,
                                                   char **pString)
{
    ZS_OBJECT(kernel, kernel, hKernel);
    ZS_CHECK_POINTER(pSize);
    uint32_t have_B = (uint32_t)strlen(kernel->kernel->attributes) + 1;
    if (pString && *pString && *pSize)
        memcpy(*pString, kernel->kernel->attributes, ZS_MIN(*pSize, have_B));
    else
        *pSize = have_B;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeKernelGetName(ze_kernel_handle_t hKernel, size_t *pSize, char *pName)
{
    ZS_OBJECT(kernel, kernel, hKernel);
    ZS_CHECK_POINTER(pSize);
    size_t have_B = strlen(kernel->kernel->name) + 1;
    if (pName && *pSize)
        memcpy(pName, kernel->kernel->name, ZS_MIN(*pSize, have_B));
    *pSize = pName && *pSize ? ZS_MIN(*pSize, have_B) : have_B;
    return ZE_RESULT_SUCCESS;
}
