/* SPDX-License-Identifier: MIT */
/* Kernel arguments and derived members, the same for both formats. */
#include "module/module_priv.h"

#include <stdlib.h>

struct text_value {
    const char *text;
    uint32_t value;
};

static uint32_t text_lookup(const struct text_value *rows, size_t count, const char *text,
                            uint32_t fallback)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(rows[i].text, text))
            return rows[i].value;
    return fallback;
}

static const struct text_value spaces[] = {
    {"__global", ZS_SPACE_GLOBAL},
    {"__constant", ZS_SPACE_CONSTANT},
    {"__local", ZS_SPACE_LOCAL},
    {"__private", ZS_SPACE_PRIVATE},
};
static const struct text_value accesses[] = {
    {"__read_only", ZS_ACCESS_READ_ONLY},   {"read_only", ZS_ACCESS_READ_ONLY},
    {"__write_only", ZS_ACCESS_WRITE_ONLY}, {"write_only", ZS_ACCESS_WRITE_ONLY},
    {"__read_write", ZS_ACCESS_READ_WRITE}, {"read_write", ZS_ACCESS_READ_WRITE},
};
static const struct text_value qualifiers[] = {
    {"const", ZS_QUALIFIER_CONST},
    {"restrict", ZS_QUALIFIER_RESTRICT},
    {"volatile", ZS_QUALIFIER_VOLATILE},
    {"pipe", ZS_QUALIFIER_PIPE},
};

static uint32_t qualifier_bits(const char *text)
{
    uint32_t bits = 0;
    while (*text) {
        size_t length = strcspn(text, " ");
        for (size_t i = 0; i < ZS_ARRAY_LEN(qualifiers); i++)
            if (strlen(qualifiers[i].text) == length && !strncmp(qualifiers[i].text, text, length))
                bits |= qualifiers[i].value;
        text += length;
        text += strspn(text, " ");
    }
    return bits;
}

/* IGC writes "int*;8": the type and its size. */
static void split_type(struct zs_arg *arg, const char *type, struct zs_arena *arena)
{
    const char *semicolon = strrchr(type, ';');
    arg->type = type;
    if (!semicolon || semicolon[1] < '0' || semicolon[1] > '9')
        return;
    unsigned long size_B = strtoul(semicolon + 1, NULL, 10);
    arg->type_size_B = size_B < UINT32_MAX ? (uint32_t)size_B : 0;
    arg->type = zs_or_empty(zs_arena_strndup(arena, type, (size_t)(semicolon - type)));
}

void zs_arg_set_info(struct zs_arg *arg, const char *address, const char *access, const char *name,
                     const char *type, const char *type_qualifiers, struct zs_arena *arena)
{
    arg->has_info = true;
    arg->address_qualifier = address;
    arg->access_qualifier = access;
    arg->type_qualifiers = type_qualifiers;
    arg->name = name;
    split_type(arg, type, arena);
    uint32_t space = text_lookup(spaces, ZS_ARRAY_LEN(spaces), address, ZS_SPACE_UNKNOWN);
    if (space != ZS_SPACE_UNKNOWN)
        arg->space = (enum zs_address_space)space;
    uint32_t value = text_lookup(accesses, ZS_ARRAY_LEN(accesses), access, ZS_ACCESS_NONE);
    if (value != ZS_ACCESS_NONE)
        arg->access = (enum zs_access)value;
    arg->qualifiers |= qualifier_bits(type_qualifiers);
}

/* What an argument is by its declared type alone: the kernel does not use it, or the file says no
 * more. */
static enum zs_arg_kind kind_of_info(const struct zs_arg *arg)
{
    if (!arg->has_info)
        return ZS_ARG_UNUSED;
    if (!strncmp(arg->type, "image", 5) && strstr(arg->type, "_t"))
        return ZS_ARG_IMAGE;
    if (!strcmp(arg->type, "sampler_t"))
        return ZS_ARG_SAMPLER;
    if (!strcmp(arg->type, "queue_t"))
        return ZS_ARG_QUEUE;
    if (arg->space == ZS_SPACE_LOCAL)
        return ZS_ARG_LOCAL;
    if (arg->space == ZS_SPACE_GLOBAL || arg->space == ZS_SPACE_CONSTANT)
        return ZS_ARG_BUFFER;
    return ZS_ARG_VALUE;
}

void zs_arg_finish(struct zs_arg *arg)
{
    arg->name = zs_or_empty(arg->name);
    arg->type = zs_or_empty(arg->type);
    arg->address_qualifier = zs_or_empty(arg->address_qualifier);
    arg->access_qualifier = zs_or_empty(arg->access_qualifier);
    arg->type_qualifiers = zs_or_empty(arg->type_qualifiers);
    if (arg->kind == ZS_ARG_UNUSED)
        arg->kind = kind_of_info(arg);
    if (arg->kind == ZS_ARG_LOCAL)
        arg->address_modes |= ZS_ADDRESS_SLM;
}

uint32_t zs_attribute_number(const char *attributes, const char *key)
{
    size_t length = strlen(key);
    for (const char *at = attributes; (at = strstr(at, key)) != NULL; at += length)
        if ((at == attributes || at[-1] == ' ') && at[length] == '(')
            return (uint32_t)strtoul(at + length + 1, NULL, 10);
    return 0;
}

int zs_payload_compare(const void *a, const void *b)
{
    const struct zs_payload *p = a, *q = b;
    if (p->offset_B != q->offset_B)
        return p->offset_B < q->offset_B ? -1 : 1;
    if (p->kind != q->kind)
        return p->kind < q->kind ? -1 : 1;
    if (p->arg != q->arg)
        return p->arg < q->arg ? -1 : 1;
    if (p->source_offset_B != q->source_offset_B)
        return p->source_offset_B < q->source_offset_B ? -1 : 1;
    return 0;
}

/* Whole registers per hardware thread: three words per lane and dimension, or one filler. */
static uint32_t per_thread_size_B(const struct zs_kernel *kernel)
{
    const struct zs_thread_payload *t = &kernel->thread;
    uint32_t dims = (uint32_t)t->local_id[0] + t->local_id[1] + t->local_id[2];
    uint32_t lanes_B = ZS_MAX(kernel->simd, 16u) * 2;
    uint32_t dim_B = (uint32_t)zs_align_up(lanes_B, kernel->grf_B);
    if (dims == 0)
        return t->unused_per_thread ? kernel->grf_B : 0;
    return kernel->simd == 1 ? kernel->grf_B : dims * dim_B;
}

void zs_kernel_finish(const struct zs_image *image, struct zs_kernel *kernel)
{
    kernel->grf_B = zs_gfxcore_grf_B(image->gfxcore);
    if (kernel->grf_count == 0)
        kernel->grf_count = 128;
    kernel->attributes = zs_or_empty(kernel->attributes);
    kernel->vec_type_hint = zs_or_empty(kernel->vec_type_hint);
    kernel->invalid_reason = zs_or_empty(kernel->invalid_reason);
    kernel->thread_scheduling = zs_or_empty(kernel->thread_scheduling);
    if (kernel->required_subgroup_size == 0)
        kernel->required_subgroup_size =
            zs_attribute_number(kernel->attributes, "intel_reqd_sub_group_size");
    uint64_t private_B = kernel->private_B;
    if (!kernel->private_per_thread)
        private_B *= kernel->simd;
    kernel->private_per_hw_thread_B = (uint32_t)ZS_MIN(private_B, (uint64_t)UINT32_MAX);
    if (kernel->thread.per_thread_B == 0)
        kernel->thread.per_thread_B = per_thread_size_B(kernel);
    kernel->is_function_holder = !strcmp(kernel->name, ZS_FUNCTION_HOLDER_NAME);
}

const struct zs_kernel *zs_image_kernel(const struct zs_image *image, const char *name)
{
    for (uint32_t i = 0; i < image->kernel_count; i++)
        if (!strcmp(image->kernels[i].name, name))
            return &image->kernels[i];
    return NULL;
}

const char *zs_kernel_string(const struct zs_kernel *kernel, uint32_t index)
{
    uint32_t low = 0, high = kernel->string_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (kernel->strings[middle].index < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low < kernel->string_count && kernel->strings[low].index == index
               ? kernel->strings[low].text
               : NULL;
}
