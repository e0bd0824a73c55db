/* SPDX-License-Identifier: MIT */
#include "record/activities.h"
#include "base/buf.h"
#include "base/hash.h"

#include "base/vec.h"
#include "record/trace_reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *zs_act_object_name(uint32_t type)
{
    static const char *const names[] = {
#define OBJECT(enumerator, name) name,
#include "store/act_objects.def"
#undef OBJECT
    };
    return type < ZS_ARRAY_LEN(names) ? names[type] : NULL;
}

const char *zs_act_kind_name(uint32_t kind)
{
    static const char *const names[] = {
#define ACTIVITY(enumerator, number, name) [number] = name,
#include "store/activity.def"
#undef ACTIVITY
    };
    return kind < ZS_ARRAY_LEN(names) && names[kind] ? names[kind] : "unknown";
}

void zs_act_direction(const struct zs_act_append *append, char *ret_text, size_t size_B)
{
    static const char *const names[] = {"unknown", "system", "host", "device", "shared", "image"};
    const char *to = names[append->to < ZS_ARRAY_LEN(names) ? append->to : 0];
    if (append->kind == ZS_ACTIVITY_FILL)
        snprintf(ret_text, size_B, "fill-%s", to);
    else
        snprintf(ret_text, size_B, "%s-to-%s",
                 names[append->from < ZS_ARRAY_LEN(names) ? append->from : 0], to);
}

const char *zs_act_pause_reason_name(uint32_t reason)
{
    static const char *const names[] = {"unknown", "start", "signal", "API", "kernel", "time"};
    return names[reason < ZS_ARRAY_LEN(names) ? reason : 0];
}

bool zs_act_record_parse(struct zs_span span, struct zs_act_record *ret_record)
{
    struct zs_act_record *r = ret_record;
    struct zs_reader reader = zs_reader_make(span, 0, NULL);
    struct zs_pb_field f;
    *r = (struct zs_act_record){0};
    while (zs_pb_next(&reader, &f)) {
        if (f.number == ZS_ACT_NAME && f.is_bytes)
            r->name = f.bytes;
        else if (f.number == ZS_ACT_BASE && !f.is_bytes)
            r->base = f.value;
        else if (f.number == ZS_ACT_REWRITTEN && !f.is_bytes)
            r->is_rewritten = f.value;
        else if (f.number == ZS_ACT_API && !f.is_bytes)
            r->is_opencl = f.value == ZS_ACT_API_OPENCL;
        else if (f.number == ZS_ACT_GROUPS && r->group_count < 3)
            r->groups[r->group_count++] = (uint32_t)f.value;
        else if (f.number == ZS_ACT_SIZE && r->size_count < 3)
            r->size[r->size_count++] = (uint32_t)f.value;
        else if (f.number < ZS_ARRAY_LEN(r->fields) && !f.is_bytes)
            r->fields[f.number] = f.value;
        r->has_bytes |= f.number == ZS_ACT_BYTES;
    }
    return !reader.error;
}

void zs_activities_init(struct zs_activities *t)
{
    *t = (struct zs_activities){0};
    zs_arena_init(&t->arena, 0);
}

void zs_activities_free(struct zs_activities *t)
{
    zs_arena_fini(&t->arena);
    zs_id_map_fini(&t->devices);
    zs_id_map_fini(&t->queues);
    zs_id_map_fini(&t->kernels);
    zs_id_map_fini(&t->names);
    zs_id_map_fini(&t->stack_ids);
    free(t->stacks.items);
    free(t->pauses.items);
    *t = (struct zs_activities){0};
}

const char *zs_activities_name(struct zs_activities *t, struct zs_span name)
{
    uint64_t hash = zs_hash_bytes(name.data, name.size_B);
    for (uint64_t n = 0;; n++) {
        char *known = zs_id_map_get(&t->names, hash, n);
        if (!known) {
            known = zs_arena_strndup(&t->arena, name.data, name.size_B);
            return known && !zs_id_map_put(&t->names, hash, n, known) ? known : NULL;
        }
        size_t length = strlen(known);
        if (length <= name.size_B && (!length || !memcmp(known, name.data, length)) &&
            (length == name.size_B || !name.data[length]))
            return known;
    }
}

uint32_t zs_activities_stack(struct zs_activities *t, uint64_t process, const uint64_t *pcs,
                             uint32_t count)
{
    uint64_t hash = process;
    for (uint32_t i = 0; i < count; i++)
        hash = zs_hash_u64(hash, pcs[i]);
    for (uint64_t n = count;; n += UINT64_C(1) << 32) {
        uintptr_t known = (uintptr_t)zs_id_map_get(&t->stack_ids, hash, n);
        if (!known)
            break;
        const struct zs_act_stack *s = &t->stacks.items[known - 1];
        if (s->process == process && s->count == count &&
            !memcmp(s->pcs, pcs, count * sizeof(*pcs)))
            return (uint32_t)known;
    }
    uint64_t *copy = ZS_ARENA_ARRAY(&t->arena, count, uint64_t);
    if (!copy || t->stacks.count >= UINT32_MAX - 1)
        return 0;
    memcpy(copy, pcs, count * sizeof(*pcs));
    if (!ZS_VEC_PUSH(&t->stacks, ((struct zs_act_stack){process, copy, count})))
        return 0;
    uint64_t n = count;
    while (zs_id_map_get(&t->stack_ids, hash, n))
        n += UINT64_C(1) << 32;
    void *value = (void *)(uintptr_t)t->stacks.count;
    return zs_id_map_put(&t->stack_ids, hash, n, value) ? 0 : (uint32_t)t->stacks.count;
}

/* Tiles of a device have its name, and so have several devices of a kind. */
static const char *make_label(struct zs_activities *t, const struct zs_act_record *r,
                              const char *name)
{
    char index[16] = "", tile[24] = "";
    struct zs_buf text = {0};
    const char *label = NULL;
    if (r->fields[ZS_ACT_INDEX])
        snprintf(index, sizeof(index), " #%u", (unsigned)r->fields[ZS_ACT_INDEX]);
    if (r->fields[ZS_ACT_ORDINAL])
        snprintf(tile, sizeof(tile), ", tile %u", (unsigned)(r->fields[ZS_ACT_ORDINAL] - 1));
    if (!*index && !*tile && !r->is_opencl)
        return name;
    zs_buf_printf(&text, "%s%s%s%s", name, index, tile, r->is_opencl ? " (OpenCL)" : "");
    if (!text.error)
        label = zs_arena_strndup(&t->arena, text.data, text.size_B);
    zs_buf_fini(&text);
    return label;
}

static int add_device(struct zs_activities *t, const struct zs_act_record *r,
                      struct zs_act_device device)
{
    struct zs_act_device *d = ZS_ARENA_NEW(&t->arena, struct zs_act_device);
    const char *label = make_label(t, r, device.name);
    if (!d || !label)
        return -ENOMEM;
    *d = device;
    d->label = label;
    d->frequency_hz = r->fields[ZS_ACT_FREQUENCY_HZ];
    t->collected = true;
    return zs_id_map_put(&t->devices, d->process, d->id, d);
}

static int add_queue(struct zs_activities *t, uint64_t process, const struct zs_act_record *r)
{
    struct zs_act_queue *q = ZS_ARENA_NEW(&t->arena, struct zs_act_queue);
    if (!q)
        return -ENOMEM;
    *q = (struct zs_act_queue){
        .process = process,
        .id = r->fields[ZS_ACT_ID],
        .device_id = r->fields[ZS_ACT_DEVICE_ID],
        .device = zs_id_map_get(&t->devices, process, r->fields[ZS_ACT_DEVICE_ID]),
        .ordinal = (uint32_t)r->fields[ZS_ACT_ORDINAL],
        .index = (uint32_t)r->fields[ZS_ACT_INDEX],
        .once = r->fields[ZS_ACT_IMMEDIATE] != 0,
        .immediate = r->fields[ZS_ACT_IMMEDIATE] != 0 && !r->is_opencl,
    };
    return zs_id_map_put(&t->queues, process, q->id, q);
}

static int add_kernel(struct zs_activities *t, const struct zs_act_record *r,
                      struct zs_act_kernel kernel)
{
    struct zs_act_kernel *k = ZS_ARENA_NEW(&t->arena, struct zs_act_kernel);
    if (!k)
        return -ENOMEM;
    *k = kernel;
    k->simd = r->fields[ZS_ACT_SIMD];
    k->build = r->fields[ZS_ACT_BUILD];
    k->base = r->base;
    k->is_rewritten = r->is_rewritten;
    k->spill_B = r->fields[ZS_ACT_SPILL_B];
    k->private_B = r->fields[ZS_ACT_PRIVATE_B];
    k->local_B = r->fields[ZS_ACT_LOCAL_B];
    return zs_id_map_put(&t->kernels, k->process, k->id, k);
}

/* Joined later: until then end_ns tells what the record was. */
static int add_pause(struct zs_activities *t, uint64_t process, const struct zs_act_record *r,
                     uint64_t time_ns)
{
    const struct zs_act_pause p = {.process = process,
                                   .start_ns = time_ns,
                                   .end_ns = r->fields[ZS_ACT_TYPE] == ZS_ACT_RESUME,
                                   .reason = (uint32_t)ZS_MIN(r->fields[ZS_ACT_REASON], 255u)};
    return ZS_VEC_PUSH(&t->pauses, p) ? 0 : -ENOMEM;
}

static int compare_pauses(const void *a, const void *b)
{
    const struct zs_act_pause *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/* What has no partner: until the end, or nothing. */
void zs_activities_join_pauses(struct zs_activities *t)
{
    size_t count = 0;
    bool open = false;
    if (t->pauses.count)
        qsort(t->pauses.items, t->pauses.count, sizeof(*t->pauses.items), compare_pauses);
    for (size_t i = 0; i < t->pauses.count; i++) {
        const struct zs_act_pause p = t->pauses.items[i];
        struct zs_act_pause *last = count ? &t->pauses.items[count - 1] : NULL;
        open = open && last && last->process == p.process;
        if (p.end_ns && open) {
            last->end_ns = p.start_ns;
            last->end_reason = p.reason;
        } else if (!p.end_ns && !open) {
            t->pauses.items[count++] = p;
        }
        open = !p.end_ns;
    }
    t->pauses.count = count;
}

int zs_activities_add(struct zs_activities *t, uint64_t process, const struct zs_act_record *r,
                      uint64_t time_ns)
{
    uint64_t type = r->fields[ZS_ACT_TYPE], id = r->fields[ZS_ACT_ID];
    if (type == ZS_ACT_QUEUE)
        return add_queue(t, process, r);
    if (type == ZS_ACT_PAUSE || type == ZS_ACT_RESUME)
        return add_pause(t, process, r, time_ns);
    if (type != ZS_ACT_DEVICE && type != ZS_ACT_KERNEL)
        return 0;
    const char *name = zs_arena_strndup(&t->arena, r->name.data, r->name.size_B);
    if (!name)
        return -ENOMEM;
    return type == ZS_ACT_DEVICE
               ? add_device(t, r,
                            (struct zs_act_device){.process = process, .id = id, .name = name})
               : add_kernel(t, r,
                            (struct zs_act_kernel){
                                .process = process, .id = id, .name = name, .time_ns = time_ns});
}

bool zs_act_append_make(const struct zs_activities *t, uint64_t process,
                        const struct zs_act_record *r, uint64_t time_ns,
                        struct zs_act_append *ret_append)
{
    struct zs_act_append *a = ret_append;
    *a = (struct zs_act_append){
        .process = process,
        .id = r->fields[ZS_ACT_ID],
        .time_ns = time_ns,
        .list = r->fields[ZS_ACT_LIST],
        .kernel_id = r->fields[ZS_ACT_KERNEL_ID],
        .device_id = r->fields[ZS_ACT_DEVICE_ID],
        .bytes = r->fields[ZS_ACT_BYTES],
        .count = r->fields[ZS_ACT_COUNT],
        .local_B = r->fields[ZS_ACT_LOCAL_B],
        .kind = (uint32_t)ZS_MIN(r->fields[ZS_ACT_KIND], 255u),
        .from = (uint8_t)ZS_MIN(r->fields[ZS_ACT_FROM], 255u),
        .to = (uint8_t)ZS_MIN(r->fields[ZS_ACT_TO], 255u),
        .has_bytes = r->has_bytes,
        .kernel = zs_id_map_get(&t->kernels, process, r->fields[ZS_ACT_KERNEL_ID]),
        .device = zs_id_map_get(&t->devices, process, r->fields[ZS_ACT_DEVICE_ID]),
    };
    memcpy(a->groups, r->groups, sizeof(a->groups));
    memcpy(a->size, r->size, sizeof(a->size));
    return !a->kernel == !a->kernel_id && !a->device == !a->device_id;
}

struct zs_act_execute zs_act_execute_make(const struct zs_activities *t, uint64_t process,
                                          const struct zs_act_record *r)
{
    uint64_t start_ns = r->fields[ZS_ACT_START_NS], end_ns = r->fields[ZS_ACT_END_NS];
    return (struct zs_act_execute){
        .process = process,
        .id = r->fields[ZS_ACT_ID],
        .queue_id = r->fields[ZS_ACT_QUEUE_ID],
        .submit_ns = r->fields[ZS_ACT_SUBMIT_NS],
        .again = r->fields[ZS_ACT_AGAIN] != 0,
        .start_ns = end_ns >= start_ns ? start_ns : 0,
        .end_ns = end_ns >= start_ns ? end_ns : 0,
        .estimated = r->fields[ZS_ACT_ESTIMATED] != 0,
        .queue = zs_id_map_get(&t->queues, process, r->fields[ZS_ACT_QUEUE_ID]),
    };
}
