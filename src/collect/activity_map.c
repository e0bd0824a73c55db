/* SPDX-License-Identifier: MIT */
#include "base/hash.h"
#include "collect/activity_metrics.h"
#include "collect/instrument.h"

#include <stdlib.h>
#include <string.h>

/* A table of its own rather than struct zs_id_map: type and handle in one key, keys apart from the
 * values. Every call of the application asks it, and a look-up takes about three quarters of the
 * time of one there (3.5 ns against 4.5 ns).
 *
 * Handles are addresses or small numbers, whatever a driver likes; below 2^60 either way: others
 * are not put in. */
enum { TYPE_BITS = 4, TYPE_MASK = (1 << TYPE_BITS) - 1 };
_Static_assert(ACT_TYPES <= 1 << TYPE_BITS, "a type's number fits beside the handle");

static uint64_t key_of(enum act_type type, const void *handle)
{
    return (uint64_t)(uintptr_t)handle << TYPE_BITS | (uint64_t)type;
}

static bool can_be_key(const void *handle)
{
    return handle && !((uint64_t)(uintptr_t)handle >> (64 - TYPE_BITS));
}

static size_t home(const struct act_map *m, uint64_t key)
{
    return (size_t)zs_hash_u64(0, key) & (m->capacity - 1);
}

static size_t probe(const struct act_map *m, uint64_t key)
{
    size_t i = home(m, key);
    while (m->keys[i] && m->keys[i] != key)
        i = (i + 1) & (m->capacity - 1);
    return i;
}

void *act_find(const struct zs_activity *a, enum act_type type, const void *handle)
{
    const struct act_map *m = &a->map;
    return m->capacity && can_be_key(handle) ? m->values[probe(m, key_of(type, handle))] : NULL;
}

void *act_map_value(const struct act_map *m, size_t i, enum act_type type)
{
    return m->keys[i] && (m->keys[i] & TYPE_MASK) == type ? m->values[i] : NULL;
}

static bool grow(struct act_map *m)
{
    struct act_map bigger = {.capacity = m->capacity ? m->capacity * 2 : 256, .count = m->count};
    bigger.keys = calloc(bigger.capacity, sizeof(*bigger.keys));
    bigger.values = calloc(bigger.capacity, sizeof(*bigger.values));
    if (!bigger.keys || !bigger.values) {
        free(bigger.keys);
        free(bigger.values);
        return false;
    }
    for (size_t i = 0; i < m->capacity; i++) {
        if (!m->keys[i])
            continue;
        size_t to = probe(&bigger, m->keys[i]);
        bigger.keys[to] = m->keys[i];
        bigger.values[to] = m->values[i];
    }
    free(m->keys);
    free(m->values);
    *m = bigger;
    return true;
}

void *act_put(struct zs_activity *a, enum act_type type, const void *handle, void *value)
{
    struct act_map *m = &a->map;
    if (!value || !can_be_key(handle) || ((m->count + 1) * 2 > m->capacity && !grow(m)))
        return NULL;
    size_t i = probe(m, key_of(type, handle));
    m->count += !m->keys[i];
    m->keys[i] = key_of(type, handle);
    m->values[i] = value;
    return value;
}

void *act_take(struct zs_activity *a, enum act_type type, const void *handle)
{
    struct act_map *m = &a->map;
    void *value = act_find(a, type, handle);
    if (!value)
        return NULL;
    size_t hole = probe(m, key_of(type, handle)), mask = m->capacity - 1;
    /* move back what was pushed behind the hole */
    for (size_t i = (hole + 1) & mask; m->keys[i]; i = (i + 1) & mask) {
        if (((i - home(m, m->keys[i])) & mask) < ((i - hole) & mask))
            continue;
        m->keys[hole] = m->keys[i];
        m->values[hole] = m->values[i];
        hole = i;
    }
    m->keys[hole] = 0;
    m->values[hole] = NULL;
    m->count--;
    return value;
}

struct act_context *act_context_get(struct zs_activity *a, ze_context_handle_t handle)
{
    struct act_context *context = act_find(a, ACT_CONTEXT, handle);
    if (context || !handle)
        return context;
    context = calloc(1, sizeof(*context));
    if (!act_put(a, ACT_CONTEXT, handle, context)) {
        free(context);
        return NULL;
    }
    context->handle = handle;
    context->next_chunk = ACT_EVENTS_FIRST;
    return context;
}

/* 0: a device of its own. */
static uint32_t tile_of(const ze_device_properties_t *p)
{
    return p->flags & ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE ? p->subdeviceId + 1 : 0;
}

/* Which a device is of those that have its name and are such a tile, in the order in which the
 * driver told of them, from 1; 0: no other one is known. */
static uint32_t index_of(struct zs_collector *c, ze_device_handle_t handle,
                         const ze_device_properties_t *p)
{
    uint32_t count = ZS_MIN(atomic_load(&c->device_count), (uint32_t)ZS_COLLECT_DEVICES_MAX);
    uint32_t alike = 0, index = 0;
    for (uint32_t i = 0; i < count; i++) {
        ze_device_handle_t other =
            atomic_load_explicit(&c->devices[i].device, memory_order_acquire);
        ze_device_properties_t q = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
        if (!other || c->api.zeDeviceGetProperties(other, &q) || tile_of(&q) != tile_of(p) ||
            strncmp(q.name, p->name, sizeof(q.name)) != 0)
            continue;
        alike++;
        if (other == handle)
            index = alike;
    }
    return alike > 1 ? index : 0;
}

struct act_device *act_device_get(struct zs_activity *a, ze_device_handle_t handle)
{
    struct act_device *device = act_find(a, ACT_DEVICE, handle);
    const struct zs_collect_api *api = &a->collector->api;
    if (device || !handle)
        return device;
    device = calloc(1, sizeof(*device));
    if (!act_put(a, ACT_DEVICE, handle, device)) {
        free(device);
        return NULL;
    }
    device->handle = handle;
    device->id = ++a->next_device;
    ze_device_properties_t p = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2};
    uint64_t hz = 0;
    uint32_t index = 0;
    bool known = api->zeDeviceGetProperties && !api->zeDeviceGetProperties(handle, &p);
    if (known)
        index = index_of(a->collector, handle, &p);
    if (known && p.timerResolution) {
        /* drivers before 1.2 leave nanoseconds per tick there, whatever is asked for */
        hz = p.timerResolution > 100000 ? p.timerResolution : 1000000000u / p.timerResolution;
        device->ns_per_tick = 1e9 / (double)hz;
        device->kernel_bits = p.kernelTimestampValidBits;
        device->has_clock = true;
    }
    act_write_device(a->file, device->id, p.name, hz, tile_of(&p), index, ZS_ACT_API_LEVEL_ZERO);
    act_clock_sample(a, device);
    return device;
}

uint64_t act_ids_take(struct zs_activity *a, enum act_id kind, uint64_t count)
{
    uint64_t *const last[] = {&a->next_append, &a->next_device, &a->next_queue, &a->next_kernel};
    pthread_mutex_lock(&a->lock);
    uint64_t first = *last[kind] + 1;
    *last[kind] += count;
    pthread_mutex_unlock(&a->lock);
    return first;
}

struct act_kernel *act_kernel_get(struct zs_activity *a, ze_kernel_handle_t handle)
{
    struct act_kernel *kernel = act_find(a, ACT_KERNEL, handle);
    const struct zs_collect_api *api = &a->collector->api;
    if (kernel || !handle)
        return kernel;
    kernel = a->free_kernels;
    if (kernel)
        a->free_kernels = kernel->next;
    else if (!(kernel = malloc(sizeof(*kernel))))
        return NULL;
    *kernel = (struct act_kernel){0};
    if (!act_put(a, ACT_KERNEL, handle, kernel)) {
        free(kernel);
        return NULL;
    }
    ze_kernel_properties_t p = {.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES};
    char name[1024] = "";
    size_t size_B = sizeof(name) - 1;
    bool known = api->zeKernelGetProperties && !api->zeKernelGetProperties(handle, &p);
    if (api->zeKernelGetName) {
        size_t needed_B = 0;
        bool fits = !api->zeKernelGetName(handle, &needed_B, NULL) && needed_B <= size_B;
        if (!fits || api->zeKernelGetName(handle, &needed_B, name))
            name[0] = '\0';
    }
    kernel->id = ++a->next_kernel;
    kernel->is_left_out = !zs_launches_match(&a->collector->launches, name);
    if (known && p.requiredGroupSizeX) {
        kernel->size[0] = p.requiredGroupSizeX;
        kernel->size[1] = p.requiredGroupSizeY;
        kernel->size[2] = p.requiredGroupSizeZ;
    }
    uint64_t build = (uintptr_t)act_find(a, ACT_BUILD, handle);
    act_write_kernel(a->file, kernel->id, name[0] ? name : "(unknown kernel)", build,
                     a->meter ? act_meter_base(a, handle) : 0,
                     build && zs_instrument_is_of(a->collector, build), known ? &p : NULL);
    return kernel;
}
