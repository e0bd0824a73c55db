/* SPDX-License-Identifier: MIT */
/* What was appended: kernel, groups, bytes, where they lie. From the parameters of the call. */
#include "collect/activity_shape.h"
#include "collect/activity_priv.h"
#include "store/launch_file.h"

#define ARG(type, i) (*(type *)event->params[i])

static void put_kernel(const struct act_kernel *kernel, struct act_shape *s)
{
    if (!kernel)
        return;
    s->kernel = kernel->id;
    for (int i = 0; i < 3; i++)
        s->size[i] = kernel->size[i];
    s->local_B = 0;
    for (size_t i = 0; i < ZS_ARRAY_LEN(kernel->local_B); i++)
        s->local_B += kernel->local_B[i];
}

static void take_kernel(struct zs_activity *a, ze_kernel_handle_t handle, struct act_shape *s)
{
    put_kernel(act_kernel_get(a, handle), s);
}

void act_shape_launch(const struct act_kernel *kernel, const ze_group_count_t *groups,
                      struct act_shape *s)
{
    put_kernel(kernel, s);
    if (groups) {
        s->groups[0] = groups->groupCountX;
        s->groups[1] = groups->groupCountY;
        s->groups[2] = groups->groupCountZ;
        s->has_groups = true;
    }
}

/* Groups and sizes come by value, and the sizes stay with the kernel. */
static void shape_launch_arguments(struct zs_activity *a, const struct zs_trace_event *event,
                                   struct act_context *context, struct act_shape *s)
{
    const ze_group_count_t *groups = event->params[2];
    const ze_group_size_t *sizes = event->params[3];
    struct act_kernel *kernel = act_kernel_get(a, ARG(ze_kernel_handle_t, 1));
    if (kernel) {
        kernel->size[0] = sizes->groupSizeX;
        kernel->size[1] = sizes->groupSizeY;
        kernel->size[2] = sizes->groupSizeZ;
    }
    take_kernel(a, ARG(ze_kernel_handle_t, 1), s);
    s->groups[0] = groups->groupCountX;
    s->groups[1] = groups->groupCountY;
    s->groups[2] = groups->groupCountZ;
    s->has_groups = true;
}

static void shape_launch(struct zs_activity *a, const struct zs_trace_event *event,
                         struct act_context *context, struct act_shape *s)
{
    act_shape_launch(act_kernel_get(a, ARG(ze_kernel_handle_t, 1)),
                     ARG(const ze_group_count_t *, 2), s);
}

static void shape_indirect(struct zs_activity *a, const struct zs_trace_event *event,
                           struct act_context *context, struct act_shape *s)
{
    take_kernel(a, ARG(ze_kernel_handle_t, 1), s);
}

/* Of several kernels the first stands for all. */
static void shape_multiple(struct zs_activity *a, const struct zs_trace_event *event,
                           struct act_context *context, struct act_shape *s)
{
    const ze_kernel_handle_t *kernels = ARG(ze_kernel_handle_t *, 2);
    s->count = ARG(uint32_t, 1);
    if (kernels && s->count)
        take_kernel(a, kernels[0], s);
}

static enum zs_activity_memory memory_of(struct zs_activity *a, struct act_context *context,
                                         const void *pointer)
{
    static const enum zs_activity_memory kinds[] = {
        [ZE_MEMORY_TYPE_UNKNOWN] = ZS_MEMORY_SYSTEM,
        [ZE_MEMORY_TYPE_HOST] = ZS_MEMORY_HOST,
        [ZE_MEMORY_TYPE_DEVICE] = ZS_MEMORY_DEVICE,
        [ZE_MEMORY_TYPE_SHARED] = ZS_MEMORY_SHARED,
    };
    const struct zs_collect_api *api = &a->collector->api;
    ze_memory_allocation_properties_t p = {.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};
    if (!context || !pointer || !api->zeMemGetAllocProperties)
        return ZS_MEMORY_UNKNOWN;
    if (api->zeMemGetAllocProperties(context->handle, pointer, &p, NULL))
        return ZS_MEMORY_SYSTEM;
    return (size_t)p.type < ZS_ARRAY_LEN(kinds) ? kinds[p.type] : ZS_MEMORY_UNKNOWN;
}

static void take_bytes(struct act_shape *s, uint64_t bytes)
{
    s->bytes = bytes;
    s->has_bytes = true;
}

static void shape_copy(struct zs_activity *a, const struct zs_trace_event *event,
                       struct act_context *context, struct act_shape *s)
{
    take_bytes(s, ARG(size_t, 3));
    s->to = memory_of(a, context, ARG(void *, 1));
    s->from = memory_of(a, context, ARG(const void *, 2));
}

static void shape_copy_context(struct zs_activity *a, const struct zs_trace_event *event,
                               struct act_context *context, struct act_shape *s)
{
    take_bytes(s, ARG(size_t, 4));
    s->to = memory_of(a, context, ARG(void *, 1));
    s->from = memory_of(a, act_context_get(a, ARG(ze_context_handle_t, 2)), ARG(const void *, 3));
}

static void shape_copy_region(struct zs_activity *a, const struct zs_trace_event *event,
                              struct act_context *context, struct act_shape *s)
{
    const ze_copy_region_t *region = ARG(const ze_copy_region_t *, 2);
    if (region)
        take_bytes(s, (uint64_t)region->width * region->height * ZS_MAX(region->depth, 1u));
    s->to = memory_of(a, context, ARG(void *, 1));
    s->from = memory_of(a, context, ARG(const void *, 5));
}

static void shape_fill(struct zs_activity *a, const struct zs_trace_event *event,
                       struct act_context *context, struct act_shape *s)
{
    take_bytes(s, ARG(size_t, 4));
    s->to = memory_of(a, context, ARG(void *, 1));
}

static void take_pixels(struct zs_activity *a, ze_image_handle_t handle,
                        const ze_image_region_t *region, struct act_shape *s)
{
    const struct act_image *image = act_find(a, ACT_IMAGE, handle);
    if (!image)
        return;
    const ze_image_desc_t *d = &image->desc;
    uint64_t pixel_B = zs_image_pixel_B((uint32_t)d->format.layout);
    uint64_t pixels =
        region
            ? (uint64_t)region->width * ZS_MAX(region->height, 1u) * ZS_MAX(region->depth, 1u)
            : d->width * ZS_MAX(d->height, 1u) * ZS_MAX(d->depth, 1u) * ZS_MAX(d->arraylevels, 1u);
    if (pixel_B)
        take_bytes(s, pixels * pixel_B);
}

static void shape_image(struct zs_activity *a, const struct zs_trace_event *event,
                        struct act_context *context, struct act_shape *s)
{
    s->from = s->to = ZS_MEMORY_IMAGE;
    take_pixels(a, ARG(ze_image_handle_t, 1), NULL, s);
}

static void shape_image_region(struct zs_activity *a, const struct zs_trace_event *event,
                               struct act_context *context, struct act_shape *s)
{
    s->from = s->to = ZS_MEMORY_IMAGE;
    take_pixels(a, ARG(ze_image_handle_t, 1), ARG(const ze_image_region_t *, 3), s);
}

static void shape_from_image(struct zs_activity *a, const struct zs_trace_event *event,
                             struct act_context *context, struct act_shape *s)
{
    s->from = ZS_MEMORY_IMAGE;
    s->to = memory_of(a, context, ARG(void *, 1));
    take_pixels(a, ARG(ze_image_handle_t, 2), ARG(const ze_image_region_t *, 3), s);
}

static void shape_to_image(struct zs_activity *a, const struct zs_trace_event *event,
                           struct act_context *context, struct act_shape *s)
{
    s->to = ZS_MEMORY_IMAGE;
    s->from = memory_of(a, context, ARG(const void *, 2));
    take_pixels(a, ARG(ze_image_handle_t, 1), ARG(const ze_image_region_t *, 3), s);
}

static void shape_nothing(struct zs_activity *a, const struct zs_trace_event *event,
                          struct act_context *context, struct act_shape *s)
{
}

enum act_shape_need act_shape_need(const struct act_append_call *call)
{
    if (call->fill == shape_launch)
        return ACT_SHAPE_KERNEL;
    if (call->fill == shape_nothing || call->fill == shape_copy || call->fill == shape_fill ||
        call->fill == shape_copy_region)
        return ACT_SHAPE_NOTHING;
    return ACT_SHAPE_TABLES;
}

static const struct act_append_call append_calls[ZS_API_CALL_COUNT] = {
#define APPEND(name, kind, signal, fill)                                                           \
    [ZS_API_zeCommandListAppend##name] = {signal, ZS_ACTIVITY_##kind, fill},
#include "collect/activity_append.def"
#undef APPEND
};

const struct act_append_call *act_append_call_of(uint32_t call)
{
    return call < ZS_API_CALL_COUNT && append_calls[call].fill ? &append_calls[call] : NULL;
}
