/* SPDX-License-Identifier: MIT */
#include "report/kernels.h"

#include "base/vec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A row for a key: a small open hash over the rows. */
struct grouping {
    struct zs_device_report *report;
    uint32_t *slots; /* row + 1 */
    size_t capacity;
};

static uint64_t hash_row(const struct zs_activity_row *r)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325) ^ (uint64_t)r->kind;
    for (const char *p = r->name; *p; p++)
        h = (h ^ (uint8_t)*p) * UINT64_C(0x100000001b3);
    for (int i = 0; i < 3; i++)
        h = (h ^ r->groups[i] ^ (uint64_t)r->size[i] << 32) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 29;
}

static bool same_row(const struct zs_activity_row *a, const struct zs_activity_row *b)
{
    return a->kind == b->kind && !strcmp(a->name, b->name) && !a->device == !b->device &&
           (!a->device || !strcmp(a->device, b->device)) &&
           !memcmp(a->groups, b->groups, sizeof(a->groups)) &&
           !memcmp(a->size, b->size, sizeof(a->size));
}

static bool grow(struct grouping *g)
{
    size_t capacity = g->capacity ? g->capacity * 2 : 64;
    uint32_t *slots = calloc(capacity, sizeof(*slots));
    if (!slots)
        return false;
    for (size_t i = 0; i < g->report->rows.count; i++) {
        size_t at = hash_row(&g->report->rows.items[i]) & (capacity - 1);
        while (slots[at])
            at = (at + 1) & (capacity - 1);
        slots[at] = (uint32_t)i + 1;
    }
    free(g->slots);
    g->slots = slots;
    g->capacity = capacity;
    return true;
}

static struct zs_activity_row *row_for(struct grouping *g, const struct zs_activity_row *key)
{
    struct zs_device_report *r = g->report;
    if (r->rows.count * 2 >= g->capacity && !grow(g))
        return NULL;
    size_t at = hash_row(key) & (g->capacity - 1);
    for (; g->slots[at]; at = (at + 1) & (g->capacity - 1))
        if (same_row(&r->rows.items[g->slots[at] - 1], key))
            return &r->rows.items[g->slots[at] - 1];
    struct zs_activity_row row = *key;
    size_t length = strlen(key->name);
    row.name = zs_arena_strndup(&r->activities.arena, key->name, length);
    row.min_ns = UINT64_MAX;
    if (!row.name || !ZS_VEC_PUSH(&r->rows, row))
        return NULL;
    g->slots[at] = (uint32_t)r->rows.count;
    return &r->rows.items[r->rows.count - 1];
}

static int add_execute(struct grouping *g, const struct zs_act_execute *e)
{
    const struct zs_act_append *a = e->append;
    char direction[64];
    if (!a)
        return 0;
    struct zs_activity_row key = {.kind = (enum zs_activity_kind)a->kind,
                                  .name = zs_act_kind_name(a->kind),
                                  .device = a->device ? a->device->name : NULL};
    if (a->kind == ZS_ACTIVITY_KERNEL) {
        key.name = a->kernel ? a->kernel->name : "(unknown kernel)";
        key.simd = a->kernel ? a->kernel->simd : 0;
        memcpy(key.groups, a->groups, sizeof(key.groups));
        memcpy(key.size, a->size, sizeof(key.size));
    } else if (a->kind == ZS_ACTIVITY_COPY || a->kind == ZS_ACTIVITY_FILL) {
        zs_act_direction(a, direction, sizeof(direction));
        key.name = direction;
    }
    struct zs_activity_row *row = row_for(g, &key);
    if (!row)
        return -ENOMEM;
    row->count++;
    row->bytes += a->bytes;
    row->has_bytes |= a->has_bytes;
    if (!e->end_ns)
        return 0;
    uint64_t ns = e->end_ns - e->start_ns;
    row->timed++;
    row->total_ns += ns;
    row->min_ns = ZS_MIN(row->min_ns, ns);
    row->max_ns = ZS_MAX(row->max_ns, ns);
    row->append_ns += e->submit_ns > a->time_ns ? e->submit_ns - a->time_ns : 0;
    row->wait_ns += e->start_ns > e->submit_ns ? e->start_ns - e->submit_ns : 0;
    return 0;
}

static int compare_rows(const void *a, const void *b)
{
    const struct zs_activity_row *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->total_ns != y->total_ns)
        return x->total_ns < y->total_ns ? 1 : -1;
    return strcmp(x->name, y->name);
}

static uint32_t class_of(const struct zs_act_object *o)
{
    return o->type < ZS_ACT_ALLOCATION_TYPES ? 0 : o->type;
}

/* By object, then by time: a create and the destroy that ends it are neighbours. */
static int compare_handles(const void *a, const void *b)
{
    const struct zs_act_object *x = *(struct zs_act_object *const *)a,
                               *y = *(struct zs_act_object *const *)b;
    const uint64_t keys[][2] = {{x->process, y->process},
                                {class_of(x), class_of(y)},
                                {x->handle, y->handle},
                                {x->time_ns, y->time_ns},
                                {x->call, y->call}};
    for (size_t i = 0; i < ZS_ARRAY_LEN(keys); i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

static int compare_leaks(const void *a, const void *b)
{
    const struct zs_act_object *x = *(const struct zs_act_object *const *)a,
                               *y = *(const struct zs_act_object *const *)b;
    return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

/* A destroy takes over what its create told; a destroy without one is left without a size. */
static int match_objects(struct zs_device_report *r)
{
    size_t count = r->activities.objects.count;
    struct zs_act_object **sorted = calloc(count + 1, sizeof(struct zs_act_object *));
    if (!sorted)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        sorted[i] = &r->activities.objects.items[i];
    qsort(sorted, count, sizeof(*sorted), compare_handles);
    int error = 0;
    for (size_t i = 0; i < count && !error; i++) {
        struct zs_act_object *o = sorted[i], *next = i + 1 < count ? sorted[i + 1] : NULL;
        bool same = next && next->process == o->process && next->handle == o->handle &&
                    class_of(next) == class_of(o);
        if (!o->is_create)
            continue;
        if (same && !next->is_create) {
            next->type = o->type;
            next->size_B = o->size_B;
        } else if (!same && !ZS_VEC_PUSH(&r->leaks, o)) {
            error = -ENOMEM;
        }
    }
    free(sorted);
    if (r->leaks.count)
        qsort(r->leaks.items, r->leaks.count, sizeof(*r->leaks.items), compare_leaks);
    return error;
}

static void sum_memory(struct zs_device_report *r)
{
    uint64_t live_B = 0;
    for (size_t i = 0; i < r->activities.objects.count; i++) {
        const struct zs_act_object *o = &r->activities.objects.items[i];
        if (o->type >= ZS_ACT_ALLOCATION_TYPES)
            continue;
        struct zs_memory_row *m = &r->memory[o->type];
        if (o->is_create) {
            m->allocations++;
            m->bytes += o->size_B;
            m->left_B += o->size_B;
            live_B += o->size_B;
        } else {
            m->frees++;
            m->left_B -= ZS_MIN(o->size_B, m->left_B);
            live_B -= ZS_MIN(o->size_B, live_B);
        }
        m->peak_B = ZS_MAX(m->peak_B, m->left_B);
        r->peak_B = ZS_MAX(r->peak_B, live_B);
    }
}

int zs_device_report_load(const char *recording, struct zs_device_report *ret_report,
                          struct zs_diag *diag)
{
    struct zs_device_report *r = ret_report;
    *r = (struct zs_device_report){0};
    int error = zs_activities_load(recording, NULL, NULL, &r->activities, diag);
    if (error)
        return error;
    struct grouping g = {.report = r};
    for (size_t i = 0; i < r->activities.executes.count && !error; i++)
        error = add_execute(&g, &r->activities.executes.items[i]);
    free(g.slots);
    if (!error && r->rows.count)
        qsort(r->rows.items, r->rows.count, sizeof(*r->rows.items), compare_rows);
    for (uint32_t i = 0; i < ZS_ACT_ALLOCATION_TYPES; i++)
        r->memory[i].name = zs_act_object_name(i);
    if (!error)
        error = match_objects(r);
    if (!error)
        sum_memory(r);
    else
        zs_device_report_free(r);
    return error;
}

void zs_device_report_free(struct zs_device_report *r)
{
    free(r->rows.items);
    free(r->leaks.items);
    zs_activities_free(&r->activities);
    *r = (struct zs_device_report){0};
}
