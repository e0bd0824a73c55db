/* SPDX-License-Identifier: MIT */
#include "cli/replay_ze.h"

#include <level_zero/ze_api.h>

#include <dlfcn.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The calls of the loader that are needed. */
#define CALLS(ROW)                                                                                 \
    ROW(zeInit)                                                                                    \
    ROW(zeDriverGet)                                                                               \
    ROW(zeDeviceGet)                                                                               \
    ROW(zeDeviceGetProperties)                                                                     \
    ROW(zeContextCreate)                                                                           \
    ROW(zeContextDestroy)                                                                          \
    ROW(zeModuleCreate)                                                                            \
    ROW(zeModuleDestroy)                                                                           \
    ROW(zeModuleBuildLogGetString)                                                                 \
    ROW(zeModuleBuildLogDestroy)                                                                   \
    ROW(zeKernelCreate)                                                                            \
    ROW(zeKernelDestroy)                                                                           \
    ROW(zeKernelSetArgumentValue)                                                                  \
    ROW(zeKernelSetGroupSize)                                                                      \
    ROW(zeKernelSetIndirectAccess)                                                                 \
    ROW(zeImageCreate)                                                                             \
    ROW(zeImageDestroy)                                                                            \
    ROW(zeSamplerCreate)                                                                           \
    ROW(zeSamplerDestroy)                                                                          \
    ROW(zeMemAllocDevice)                                                                          \
    ROW(zeMemAllocHost)                                                                            \
    ROW(zeMemAllocShared)                                                                          \
    ROW(zeMemFree)                                                                                 \
    ROW(zeEventPoolCreate)                                                                         \
    ROW(zeEventPoolDestroy)                                                                        \
    ROW(zeEventCreate)                                                                             \
    ROW(zeEventDestroy)                                                                            \
    ROW(zeEventQueryKernelTimestamp)                                                               \
    ROW(zeCommandListCreateImmediate)                                                              \
    ROW(zeCommandListDestroy)                                                                      \
    ROW(zeCommandListAppendMemoryCopy)                                                             \
    ROW(zeCommandListAppendImageCopyFromMemory)                                                    \
    ROW(zeCommandListAppendImageCopyToMemory)                                                      \
    ROW(zeCommandListAppendLaunchKernel)                                                           \
    ROW(zeCommandListAppendLaunchCooperativeKernel)

struct api {
#define ROW(name) __typeof__(name) *name;
    CALLS(ROW)
#undef ROW
    __typeof__(zeKernelSetGlobalOffsetExp) *zeKernelSetGlobalOffsetExp; /* may be NULL */
};

struct run {
    const struct zs_replay *replay;
    struct zs_replay_result *ret;
    struct api ze;
    ze_device_handle_t device;
    ze_device_properties_t properties;
    ze_context_handle_t context;
    ze_module_handle_t module;
    ze_kernel_handle_t kernel;
    ze_command_list_handle_t list; /* synchronous */
    ze_event_pool_handle_t pool;
    ze_event_handle_t event;
    void **memory;                 /* of each allocation of the launch; of an image, its handle */
    ze_sampler_handle_t *samplers; /* by argument */
};

static bool fail(struct run *r, const char *what, ze_result_t result)
{
    zs_buf_printf(&r->ret->failed, "%s%s gives %#x", r->ret->failed.size_B ? "; " : "", what,
                  (unsigned)result);
    return false;
}

/* name, arguments: false, and told, unless it succeeds */
#define CALL(r, name, ...)                                                                         \
    ({                                                                                             \
        ze_result_t result_ = (r)->ze.name(__VA_ARGS__);                                           \
        !result_ || fail(r, #name, result_);                                                       \
    })

static bool load(struct run *r)
{
    void *loader = dlopen("libze_loader.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!loader) {
        zs_buf_printf(&r->ret->failed, "%s; the Level Zero loader is the package libze1",
                      dlerror());
        return false;
    }
#define ROW(name)                                                                                  \
    r->ze.name = (__typeof__(name) *)(uintptr_t)dlsym(loader, #name);                              \
    if (!r->ze.name)                                                                               \
        zs_buf_puts(&r->ret->failed, "the Level Zero loader has no " #name);
    CALLS(ROW)
#undef ROW
    r->ze.zeKernelSetGlobalOffsetExp = (__typeof__(zeKernelSetGlobalOffsetExp) *)(uintptr_t)dlsym(
        loader, "zeKernelSetGlobalOffsetExp");
    return !r->ret->failed.size_B;
}

static bool open_device(struct run *r)
{
    const ze_context_desc_t context = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    const ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                           .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    ze_driver_handle_t driver = NULL;
    uint32_t one = 1;
    r->properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
    if (!CALL(r, zeInit, 0) || !CALL(r, zeDriverGet, &one, &driver))
        return false;
    one = 1;
    if (!driver || !CALL(r, zeDeviceGet, driver, &one, &r->device) || !r->device)
        return fail(r, "the search for a device", ZE_RESULT_ERROR_UNINITIALIZED);
    if (!CALL(r, zeDeviceGetProperties, r->device, &r->properties))
        return false;
    snprintf(r->ret->device, sizeof(r->ret->device), "%.*s", (int)sizeof(r->properties.name),
             r->properties.name);
    return CALL(r, zeContextCreate, driver, &context, &r->context) &&
           CALL(r, zeCommandListCreateImmediate, r->context, r->device, &queue, &r->list);
}

static void tell_log(struct run *r, ze_module_build_log_handle_t log)
{
    enum { LOG_MOST_B = 300 };
    size_t size_B = 0;
    char *text = NULL;
    if (log && !r->ze.zeModuleBuildLogGetString(log, &size_B, NULL) && size_B > 1 &&
        (text = calloc(1, size_B + 1)) && !r->ze.zeModuleBuildLogGetString(log, &size_B, text)) {
        zs_buf_puts(&r->ret->failed, ": ");
        for (size_t i = 0; text[i] && i < LOG_MOST_B; i++)
            if (text[i] != '\n')
                zs_buf_putc(&r->ret->failed, text[i]);
            else if (text[i + 1] && text[i + 1] != '\n')
                zs_buf_puts(&r->ret->failed, "; ");
    }
    free(text);
    if (log)
        r->ze.zeModuleBuildLogDestroy(log);
}

static bool build_one(struct run *r, const struct zs_replay_build *b)
{
    enum { CONSTANTS_MOST = 256 };
    uint32_t ids[CONSTANTS_MOST], count = b->constant_count;
    const void *values[CONSTANTS_MOST];
    count = count < CONSTANTS_MOST ? count : CONSTANTS_MOST;
    for (uint32_t i = 0; i < count; i++) {
        ids[i] = b->constants[i].id;
        values[i] = &b->constants[i].value;
    }
    const ze_module_constants_t constants = {count, ids, values};
    const ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                   .format = b->is_spirv ? ZE_MODULE_FORMAT_IL_SPIRV
                                                         : ZE_MODULE_FORMAT_NATIVE,
                                   .inputSize = b->bytes.size_B,
                                   .pInputModule = b->bytes.data,
                                   .pBuildFlags = b->flags,
                                   .pConstants = count ? &constants : NULL};
    ze_module_build_log_handle_t log = NULL;
    ze_result_t result = r->ze.zeModuleCreate(r->context, r->device, &desc, &r->module, &log);
    if (result) {
        r->module = NULL;
        fail(r, b->what, result);
    }
    if (result)
        tell_log(r, log);
    else if (log)
        r->ze.zeModuleBuildLogDestroy(log);
    return !result;
}

static bool build(struct run *r)
{
    for (size_t i = 0; i < r->replay->build_count && !r->ret->built; i++)
        if (build_one(r, &r->replay->builds[i]))
            r->ret->built = &r->replay->builds[i];
    if (!r->ret->built && !r->ret->failed.size_B)
        zs_buf_puts(&r->ret->failed, "there is nothing to build it from");
    if (!r->ret->built)
        return false;
    r->ret->failed.size_B = 0; /* of those that did not go */
    const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                                   .pKernelName = r->replay->launch->kernel};
    return CALL(r, zeKernelCreate, r->module, &desc, &r->kernel);
}

static bool make_image(struct run *r, const uint32_t words[ZS_LAUNCH_IMAGE_WORDS], void **ret)
{
    uint32_t swizzle = words[ZS_LAUNCH_IMAGE_SWIZZLE];
    const ze_image_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_IMAGE_DESC,
        .flags = words[ZS_LAUNCH_IMAGE_FLAGS],
        .type = (ze_image_type_t)words[ZS_LAUNCH_IMAGE_TYPE],
        .format = {.layout = (ze_image_format_layout_t)words[ZS_LAUNCH_IMAGE_LAYOUT],
                   .type = (ze_image_format_type_t)words[ZS_LAUNCH_IMAGE_FORMAT],
                   .x = (ze_image_format_swizzle_t)(swizzle & 255),
                   .y = (ze_image_format_swizzle_t)(swizzle >> 8 & 255),
                   .z = (ze_image_format_swizzle_t)(swizzle >> 16 & 255),
                   .w = (ze_image_format_swizzle_t)(swizzle >> 24)},
        .width = words[ZS_LAUNCH_IMAGE_WIDTH],
        .height = words[ZS_LAUNCH_IMAGE_HEIGHT],
        .depth = words[ZS_LAUNCH_IMAGE_DEPTH],
        .arraylevels = words[ZS_LAUNCH_IMAGE_LEVELS]};
    ze_image_handle_t image = NULL;
    bool ok = CALL(r, zeImageCreate, r->context, r->device, &desc, &image);
    *ret = image;
    return ok;
}

static bool allocate(struct run *r, const struct zs_launch_memory *m, void **ret)
{
    const ze_device_mem_alloc_desc_t device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    const ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    size_t size_B = (size_t)m->size_B;
    if (m->type == ZS_LAUNCH_IMAGE)
        return make_image(r, m->image, ret);
    if (m->type == ZE_MEMORY_TYPE_HOST)
        return CALL(r, zeMemAllocHost, r->context, &host, size_B, 0, ret);
    if (m->type == ZE_MEMORY_TYPE_DEVICE)
        return CALL(r, zeMemAllocDevice, r->context, &device, size_B, 0, r->device, ret);
    return CALL(r, zeMemAllocShared, r->context, &device, &host, size_B, 0, r->device, ret);
}

/* Memory as it was; what was not captured is zeros. */
static bool fill(struct run *r)
{
    const struct zs_launch *l = r->replay->launch;
    for (uint32_t i = 0; i < l->memory_count; i++) {
        const struct zs_launch_memory *m = &l->memory[i];
        uint8_t *zeros = m->state == ZS_LAUNCH_WHOLE ? NULL : calloc(1, (size_t)m->size_B);
        const void *from = m->state == ZS_LAUNCH_WHOLE ? m->before.data : zeros;
        if (!from) {
            zs_buf_puts(&r->ret->failed, "out of memory");
            return false;
        }
        bool ok = allocate(r, m, &r->memory[i]);
        if (ok)
            ok = m->type == ZS_LAUNCH_IMAGE
                     ? CALL(r, zeCommandListAppendImageCopyFromMemory, r->list, r->memory[i], from,
                            NULL, NULL, 0, NULL)
                     : CALL(r, zeCommandListAppendMemoryCopy, r->list, r->memory[i], from,
                            (size_t)m->size_B, NULL, 0, NULL);
        free(zeros);
        if (!ok)
            return false;
    }
    return true;
}

static bool make_sampler(struct run *r, const struct zs_launch_argument *a,
                         ze_sampler_handle_t *ret)
{
    uint32_t words[ZS_LAUNCH_SAMPLER_B / sizeof(uint32_t)];
    memcpy(words, a->value.data, sizeof(words));
    const ze_sampler_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_SAMPLER_DESC,
                                    .addressMode = (ze_sampler_address_mode_t)words[0],
                                    .filterMode = (ze_sampler_filter_mode_t)words[1],
                                    .isNormalized = words[2] != 0};
    return CALL(r, zeSamplerCreate, r->context, r->device, &desc, ret);
}

static bool set_arguments(struct run *r)
{
    const struct zs_launch *l = r->replay->launch;
    for (uint32_t i = 0; i < l->argument_count; i++) {
        const struct zs_launch_argument *a = &l->arguments[i];
        void *pointer =
            a->kind == ZS_LAUNCH_POINTER ? (char *)r->memory[a->memory] + a->offset_B : NULL;
        if (a->kind == ZS_LAUNCH_SAMPLER && !make_sampler(r, a, &r->samplers[i]))
            return false;
        const void *value = a->kind == ZS_LAUNCH_POINTER   ? &pointer
                            : a->kind == ZS_LAUNCH_SAMPLER ? (const void *)&r->samplers[i]
                            : a->kind == ZS_LAUNCH_VALUE   ? (const void *)a->value.data
                                                           : NULL;
        char what[60];
        snprintf(what, sizeof(what), "setting argument %u", a->index);
        ze_result_t result =
            r->ze.zeKernelSetArgumentValue(r->kernel, a->index, (size_t)a->size_B, value);
        if (result)
            return fail(r, what, result);
    }
    return true;
}

static bool shape(struct run *r)
{
    const struct zs_launch *l = r->replay->launch;
    const ze_kernel_indirect_access_flags_t all = ZE_KERNEL_INDIRECT_ACCESS_FLAG_HOST |
                                                  ZE_KERNEL_INDIRECT_ACCESS_FLAG_DEVICE |
                                                  ZE_KERNEL_INDIRECT_ACCESS_FLAG_SHARED;
    if (!CALL(r, zeKernelSetGroupSize, r->kernel, l->size[0], l->size[1], l->size[2]))
        return false;
    if ((l->flags & ZS_LAUNCH_INDIRECT) && !CALL(r, zeKernelSetIndirectAccess, r->kernel, all))
        return false;
    if (!l->offset[0] && !l->offset[1] && !l->offset[2])
        return true;
    if (!r->ze.zeKernelSetGlobalOffsetExp)
        return fail(r, "its global offset", ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    return CALL(r, zeKernelSetGlobalOffsetExp, r->kernel, l->offset[0], l->offset[1], l->offset[2]);
}

static bool make_event(struct run *r)
{
    const ze_event_pool_desc_t pool = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                       .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE |
                                                ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP,
                                       .count = 1};
    const ze_event_desc_t event = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC,
                                   .signal = ZE_EVENT_SCOPE_FLAG_HOST};
    return CALL(r, zeEventPoolCreate, r->context, &pool, 1, &r->device, &r->pool) &&
           CALL(r, zeEventCreate, r->pool, &event, &r->event);
}

static double time_of(struct run *r)
{
    ze_kernel_timestamp_result_t t;
    uint32_t bits = r->properties.kernelTimestampValidBits;
    uint64_t mask = bits && bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
    if (r->ze.zeEventQueryKernelTimestamp(r->event, &t))
        return NAN;
    return (double)((t.context.kernelEnd - t.context.kernelStart) & mask) *
           (double)r->properties.timerResolution;
}

static bool launch(struct run *r)
{
    const struct zs_launch *l = r->replay->launch;
    const ze_group_count_t groups = {l->groups[0], l->groups[1], l->groups[2]};
    bool ok = l->flags & ZS_LAUNCH_COOPERATIVE
                  ? CALL(r, zeCommandListAppendLaunchCooperativeKernel, r->list, r->kernel, &groups,
                         r->event, 0, NULL)
                  : CALL(r, zeCommandListAppendLaunchKernel, r->list, r->kernel, &groups, r->event,
                         0, NULL);
    if (ok)
        r->ret->time_ns = time_of(r);
    return ok;
}

static bool fetch(struct run *r)
{
    const struct zs_launch *l = r->replay->launch;
    for (uint32_t i = 0; i < l->memory_count; i++) {
        const struct zs_launch_memory *m = &l->memory[i];
        if (m->state != ZS_LAUNCH_WHOLE)
            continue;
        r->ret->now[i] = malloc((size_t)m->size_B);
        if (!r->ret->now[i]) {
            zs_buf_puts(&r->ret->failed, "out of memory");
            return false;
        }
        bool ok = m->type == ZS_LAUNCH_IMAGE
                      ? CALL(r, zeCommandListAppendImageCopyToMemory, r->list, r->ret->now[i],
                             r->memory[i], NULL, NULL, 0, NULL)
                      : CALL(r, zeCommandListAppendMemoryCopy, r->list, r->ret->now[i],
                             r->memory[i], (size_t)m->size_B, NULL, 0, NULL);
        if (!ok)
            return false;
    }
    return true;
}

static void close_all(struct run *r)
{
    const struct zs_launch *l = r->replay->launch;
    for (uint32_t i = 0; r->memory && i < l->memory_count; i++)
        if (r->memory[i] && l->memory[i].type == ZS_LAUNCH_IMAGE)
            r->ze.zeImageDestroy(r->memory[i]);
        else if (r->memory[i])
            r->ze.zeMemFree(r->context, r->memory[i]);
    for (uint32_t i = 0; r->samplers && i < l->argument_count; i++)
        if (r->samplers[i])
            r->ze.zeSamplerDestroy(r->samplers[i]);
    free(r->memory);
    free((void *)r->samplers);
    if (r->event)
        r->ze.zeEventDestroy(r->event);
    if (r->pool)
        r->ze.zeEventPoolDestroy(r->pool);
    if (r->list)
        r->ze.zeCommandListDestroy(r->list);
    if (r->kernel)
        r->ze.zeKernelDestroy(r->kernel);
    if (r->module)
        r->ze.zeModuleDestroy(r->module);
    if (r->context)
        r->ze.zeContextDestroy(r->context);
}

bool zs_replay_run(const struct zs_replay *replay, struct zs_replay_result *ret)
{
    struct run r = {.replay = replay, .ret = ret};
    *ret = (struct zs_replay_result){.time_ns = NAN};
    r.memory = calloc((size_t)replay->launch->memory_count + 1, sizeof(*r.memory));
    ret->now = calloc((size_t)replay->launch->memory_count + 1, sizeof(*ret->now));
    r.samplers = calloc((size_t)replay->launch->argument_count + 1, sizeof(ze_sampler_handle_t));
    bool ok = r.memory && ret->now && r.samplers;
    if (!ok)
        zs_buf_puts(&ret->failed, "out of memory");
    ok = ok && load(&r) && open_device(&r) && build(&r) && make_event(&r) && fill(&r) &&
         set_arguments(&r) && shape(&r) && launch(&r) && fetch(&r);
    close_all(&r);
    return ok;
}

void zs_replay_free(const struct zs_replay *replay, struct zs_replay_result *result)
{
    for (uint32_t i = 0; result->now && i < replay->launch->memory_count; i++)
        free(result->now[i]);
    free(result->now);
    zs_buf_fini(&result->failed);
}
