/* SPDX-License-Identifier: MIT */
/*
 * The same around OpenCL's calls. Its ICD loaders (ocl-icd, Khronos') open the libraries that
 * OPENCL_LAYERS names, hand each the table of the functions below it and take one of ours: what
 * lies in the table behind what we know, and what we leave out, is passed on as it is. Functions of
 * extensions are got by their names from a driver; the application gets ours around them.
 */
#include "layer/layer_priv.h"

#include <string.h>

enum { CL_LAYER_API_VERSION = 0x4240, CL_LAYER_NAME = 0x4241, CL_LAYER_API_VERSION_100 = 100 };

ZS_API cl_int clGetLayerInfo(cl_uint what, size_t size_B, void *value, size_t *ret_size_B);
ZS_API cl_int clInitLayer(cl_uint count, void *const *target, cl_uint *ret_count,
                          void *const **ret_table);

cl_int clGetLayerInfo(cl_uint what, size_t size_B, void *value, size_t *ret_size_B)
{
    static const char name[] = "zescope";
    static const cl_uint version = CL_LAYER_API_VERSION_100;
    const void *from = what == CL_LAYER_NAME ? (const void *)name : &version;
    size_t has_B = what == CL_LAYER_NAME ? sizeof(name) : sizeof(version);
    if (what != CL_LAYER_NAME && what != CL_LAYER_API_VERSION)
        return CL_INVALID_VALUE;
    if (value && size_B < has_B)
        return CL_INVALID_VALUE;
    if (value)
        memcpy(value, from, has_B);
    if (ret_size_B)
        *ret_size_B = has_B;
    return CL_SUCCESS;
}

/* Once for each loader; below the functions of a second one stand those of the first. */
cl_int clInitLayer(cl_uint count, void *const *target, cl_uint *ret_count, void *const **ret_table)
{
    static void *table[ZS_CL_PLACES];
    if (!target || !ret_count || !ret_table)
        return CL_INVALID_VALUE;
    for (size_t i = 0; i < zs_layer_cl_slot_count; i++) {
        const struct zs_layer_slot *slot = &zs_layer_cl_slots[i];
        void *next = slot->index < count ? target[slot->index] : NULL;
        if (!next || table[slot->index])
            continue;
        memcpy(slot->next, &next, sizeof(next));
        table[slot->index] = slot->wrapper;
    }
    *ret_table = table;
    *ret_count = ZS_MIN(count, (cl_uint)ZS_CL_PLACES);
    zs_layer_set_active();
    return CL_SUCCESS;
}

void *zs_layer_extension(const char *name, void *function)
{
    for (size_t i = 0; function && name && i < zs_layer_extension_count; i++) {
        const struct zs_layer_extension *e = &zs_layer_extensions[i];
        if (strcmp(e->name, name) != 0)
            continue;
        _Atomic(void *) *next = e->next;
        for (size_t driver = 0; driver < ZS_CL_DRIVERS; driver++) {
            void *known = NULL;
            if (function == e->wrappers[driver] ||
                atomic_compare_exchange_strong(&next[driver], &known, function) ||
                known == function)
                return e->wrappers[driver];
        }
    }
    return function;
}
