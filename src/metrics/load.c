/* SPDX-License-Identifier: MIT */
/* A recording read: launches, counts, modules, and what was measured, by kernel. */
#include "metrics/profile_priv.h"

#include "base/id_map.h"
#include "base/name_map.h"
#include "base/vec.h"
#include "record/counts.h"
#include "record/merge.h"
#include "record/source_copies.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHAPES_MAX = 256, NAME_MAX_B = 4096 };

struct opened_module {
    bool tried;
    struct zs_module *module;
    struct zs_annotation *annotation;
};

struct zs_profile_parts {
    struct zs_activities activities;
    struct opened_module *modules;
    struct zs_name_map by_name; /* "module index name" -> index in kernels */
    struct zs_id_map by_kernel; /* process, id of activity -> profile */
    struct {
        struct zs_code **items;
        size_t count, capacity;
    } codes;
    struct zs_source_copies copies;
    struct zs_source_options source_options;
};

/* ---- profiles by name ---- */

static struct zs_profile *profile_get(struct zs_profiles *t, uint32_t module, const char *name)
{
    char key[NAME_MAX_B + 16];
    snprintf(key, sizeof(key), "%u %.*s", module, NAME_MAX_B, name);
    uint32_t index = zs_name_map_get(&t->parts->by_name, key);
    if (index != ZS_NAME_MAP_NONE)
        return t->kernels.items[index];
    struct zs_profile *p = ZS_ARENA_NEW(&t->arena, struct zs_profile);
    const char *kept = zs_arena_strndup(&t->arena, key, strlen(key));
    if (!p || !kept || !ZS_VEC_PUSH(&t->kernels, p))
        return NULL;
    if (!zs_name_map_put(&t->parts->by_name, kept, (uint32_t)t->kernels.count - 1))
        return NULL;
    p->name = strchr(kept, ' ') + 1;
    p->module_index = module;
    p->min_ns = UINT64_MAX;
    for (size_t i = 0; i + 1 < t->kernels.count; i++)
        p->ordinal += !strcmp(t->kernels.items[i]->name, p->name);
    uint32_t count;
    const struct zs_record_module *modules = zs_recording_modules(t->recording, &count);
    if (module < count)
        zs_record_module_name(&modules[module], p->module);
    return p;
}

/* The module that has a kernel of this name, where there is one only. */
static uint32_t only_module_with(const struct zs_profiles *t, const char *name)
{
    uint32_t count, found = ZS_RECORD_NONE;
    const struct zs_record_module *modules = zs_recording_modules(t->recording, &count);
    for (uint32_t m = 0; m < count; m++) {
        for (uint32_t k = 0; k < modules[m].kernel_count; k++) {
            if (strcmp(modules[m].kernels[k], name))
                continue;
            if (found != ZS_RECORD_NONE)
                return ZS_RECORD_NONE;
            found = m;
            break;
        }
    }
    return found;
}

/* ---- launches ---- */

static struct zs_profile *profile_of(struct zs_profiles *t, const struct zs_act_kernel *kernel)
{
    struct zs_profile *p = zs_id_map_get(&t->parts->by_kernel, kernel->process, kernel->id);
    if (p)
        return p;
    const struct zs_record_build *build =
        zs_recording_find_build(t->recording, kernel->process, kernel->build, kernel->time_ns);
    uint32_t module = build ? build->module : ZS_RECORD_NONE;
    if (module == ZS_RECORD_NONE)
        module = only_module_with(t, kernel->name);
    p = profile_get(t, module, kernel->name);
    if (p && zs_id_map_put(&t->parts->by_kernel, kernel->process, kernel->id, p))
        return NULL;
    return p;
}

static struct zs_shape *shape_get(struct zs_profile *p, const struct zs_act_append *a)
{
    uint64_t slm_B = (a->kernel ? a->kernel->local_B : 0) + a->local_B;
    for (size_t i = 0; i < p->shapes.count; i++) {
        struct zs_shape *s = &p->shapes.items[i];
        if (!memcmp(s->groups, a->groups, sizeof(s->groups)) &&
            !memcmp(s->size, a->size, sizeof(s->size)) && s->slm_B == slm_B)
            return s;
    }
    struct zs_shape fresh = {.slm_B = slm_B};
    memcpy(fresh.groups, a->groups, sizeof(fresh.groups));
    memcpy(fresh.size, a->size, sizeof(fresh.size));
    /* of more shapes the last stands for all further ones */
    if (p->shapes.count < SHAPES_MAX && !ZS_VEC_PUSH(&p->shapes, fresh))
        return NULL;
    return &p->shapes.items[p->shapes.count - 1];
}

static int on_execute(void *user, const struct zs_act_execute *e)
{
    struct zs_profiles *t = user;
    const struct zs_act_append *a = e->append;
    if (!a || a->kind != ZS_ACTIVITY_KERNEL || !a->kernel)
        return 0;
    struct zs_profile *p = profile_of(t, a->kernel);
    struct zs_shape *s = p ? shape_get(p, a) : NULL;
    if (!s)
        return -ENOMEM;
    p->launches++;
    s->launches++;
    if (!e->end_ns)
        return 0;
    uint64_t ns = e->end_ns - e->start_ns;
    p->timed++;
    p->total_ns += ns;
    p->min_ns = ZS_MIN(p->min_ns, ns);
    p->max_ns = ZS_MAX(p->max_ns, ns);
    s->timed++;
    s->total_ns += ns;
    return 0;
}

static int read_launches(struct zs_profiles *t, struct zs_diag *diag)
{
    const struct zs_merge_sink sink = {.user = t, .execute = on_execute, .no_values = true};
    struct zs_merge_totals totals = {0};
    int error = zs_merge(t->path, &sink, &t->parts->activities, &totals, diag);
    t->has_activity = totals.activity;
    t->damaged_files = totals.damaged_files;
    return error;
}

/* ---- modules ---- */

static void open_module(struct zs_profiles *t, uint32_t index)
{
    struct opened_module *o = &t->parts->modules[index];
    uint32_t count;
    const struct zs_record_module *record = &zs_recording_modules(t->recording, &count)[index];
    struct zs_span binary = {0}, debug = {0};
    o->tried = true;
    int error = zs_recording_blob_read(t->recording, &record->binary, &binary, NULL);
    if (!error && record->debug.file &&
        zs_recording_blob_read(t->recording, &record->debug, &debug, NULL))
        debug = (struct zs_span){0}; /* lines are missing then, numbers are not */
    const struct zs_module_options options = {.size_B = sizeof(options), .debug = debug};
    if (!error)
        error = zs_module_open_memory(binary, &options, &o->module, NULL);
    if (!error)
        error = zs_annotation_open(o->module, &o->annotation);
    t->unread_modules += error != 0;
    zs_recording_blob_free(&binary);
    zs_recording_blob_free(&debug);
}

static int open_code(struct zs_profiles *t, struct zs_profile *p)
{
    const uint32_t what = ZS_ISA_INSTS | ZS_ISA_BLOCKS | ZS_ISA_LIVENESS;
    struct opened_module *o = &t->parts->modules[p->module_index];
    struct zs_code *code = NULL;
    if (!o->tried)
        open_module(t, p->module_index);
    for (uint32_t i = 0; o->annotation && i < o->module->image_count && !code; i++) {
        const struct zs_image *image = &o->module->images[i];
        const struct zs_kernel *kernel = zs_image_kernel(image, p->name);
        if (kernel && zs_code_open(o->annotation, image, kernel, what, &code))
            return -ENOMEM;
    }
    if (!code)
        return 0;
    if (!ZS_VEC_PUSH(&t->parts->codes, code)) {
        zs_code_close(code);
        return -ENOMEM;
    }
    p->code = code;
    uint32_t module_count, device_count;
    const struct zs_record_module *m =
        &zs_recording_modules(t->recording, &module_count)[p->module_index];
    const struct zs_record_device *devices = zs_recording_devices(t->recording, &device_count);
    p->device = m->device < device_count ? &devices[m->device] : NULL;
    p->peaks =
        profile_peaks(zs_recording_device_shape(t->recording, m->device),
                      p->device ? p->device->ocloc_name : NULL, zs_image_platform(code->image));
    return code->isa ? profile_classify(&t->arena, p) : 0;
}

static int read_modules(struct zs_profiles *t)
{
    uint32_t count;
    const struct zs_record_module *modules = zs_recording_modules(t->recording, &count);
    t->parts->modules = calloc((size_t)count + 1, sizeof(*t->parts->modules));
    int error = t->parts->modules ? 0 : -ENOMEM;
    /* a recording without launches: of everything that was built, what its code says */
    for (uint32_t m = 0; m < count && !error && !t->kernels.count && !t->has_activity; m++)
        for (uint32_t k = 0; k < modules[m].kernel_count && !error; k++)
            error = profile_get(t, m, modules[m].kernels[k]) ? 0 : -ENOMEM;
    for (size_t i = 0; i < t->kernels.count && !error; i++)
        if (t->kernels.items[i]->module_index < count)
            error = open_code(t, t->kernels.items[i]);
    return error;
}

/* ---- counts ---- */

static void add(double *to, uint64_t value)
{
    *to = (isnan(*to) ? 0 : *to) + (double)value;
}

static void add_rows(struct zs_profile *p, const struct zs_counts *counts)
{
    p->is_counted = true;
    p->counted_launches += counts->launches;
    for (uint32_t r = 0; r < counts->row_count; r++) {
        const struct zs_counts_row *row = &counts->rows[r];
        bool inside = row->offset_B >= 0 && row->offset_B < zs_isa_kernel_size_B(p->code->isa);
        uint32_t i = inside ? zs_isa_inst_find(p->code->isa, (uint32_t)row->offset_B)
                            : (uint32_t)ZS_ISA_NO_INDEX;
        if (i >= p->inst_count || zs_isa_inst_offset(p->code->isa, i) != row->offset_B) {
            p->other_executions += (double)row->executions;
            continue;
        }
        add(&p->insts[i].executions, row->executions);
        add(&p->insts[i].lanes, row->active_lanes);
        add(&p->insts[i].read_B, row->bytes_read);
        add(&p->insts[i].written_B, row->bytes_written);
    }
}

static int read_counts(struct zs_profiles *t, struct zs_counts_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct zs_counts *counts = &list->items[i];
        uint32_t module = zs_counts_module(t->recording, counts);
        if (module == ZS_RECORD_NONE)
            module = only_module_with(t, counts->kernel);
        if (!profile_get(t, module, counts->kernel))
            return -ENOMEM;
    }
    return 0;
}

static void join_counts(struct zs_profiles *t, const struct zs_counts_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct zs_counts *counts = &list->items[i];
        uint32_t module = zs_counts_module(t->recording, counts);
        if (module == ZS_RECORD_NONE)
            module = only_module_with(t, counts->kernel);
        struct zs_profile *p = profile_get(t, module, counts->kernel);
        if (p && p->insts && !counts->is_partial)
            add_rows(p, counts);
    }
}

/* ---- all ---- */

static int by_time(const void *a, const void *b)
{
    const struct zs_profile *x = *(struct zs_profile *const *)a;
    const struct zs_profile *y = *(struct zs_profile *const *)b;
    if (x->total_ns != y->total_ns)
        return x->total_ns < y->total_ns ? 1 : -1;
    int name = strcmp(x->name, y->name);
    return name ? name : (x->ordinal > y->ordinal) - (x->ordinal < y->ordinal);
}

static int read_all(struct zs_profiles *t, struct zs_diag *diag)
{
    struct zs_counts_list counts = {0};
    size_t damaged = 0;
    int error = zs_counts_load(t->path, &counts, &damaged, diag);
    t->damaged_counts = damaged;
    t->has_counts = counts.count != 0;
    if (!error)
        error = read_launches(t, diag);
    if (!error)
        error = read_counts(t, &counts);
    if (!error)
        error = read_modules(t);
    if (!error)
        join_counts(t, &counts);
    zs_counts_free(&counts);
    if (!error)
        error = profile_add_metrics(t);
    for (size_t i = 0; i < t->kernels.count && !error; i++)
        profile_derive(t->kernels.items[i]);
    if (!error && t->kernels.count)
        qsort(t->kernels.items, t->kernels.count, sizeof(*t->kernels.items), by_time);
    return error;
}

int zs_profiles_open(const char *path, struct zs_profiles *ret_profiles, struct zs_diag *diag)
{
    struct zs_profiles *t = ret_profiles;
    *t = (struct zs_profiles){.path = path};
    zs_arena_init(&t->arena, (size_t)4 << 30);
    int error = zs_recording_open(path, &t->recording, diag);
    if (error)
        return error;
    t->parts = calloc(1, sizeof(*t->parts));
    if (!t->parts)
        return zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "out of memory");
    t->parts->copies.recordings = &t->recording;
    t->parts->copies.recording_count = 1;
    t->parts->source_options =
        (struct zs_source_options){.size_B = sizeof(t->parts->source_options),
                                   .provider = zs_source_copies_provider(&t->parts->copies)};
    error = zs_sources_open(&t->parts->source_options, &t->sources);
    if (!error)
        error = read_all(t, diag);
    if (error == -ENOMEM)
        zs_diag_set(diag, error, ZS_DIAG_NO_OFFSET, "out of memory");
    return error;
}

void zs_profiles_close(struct zs_profiles *t)
{
    struct zs_profile_parts *parts = t->parts;
    uint32_t module_count = 0;
    if (t->recording)
        zs_recording_modules(t->recording, &module_count);
    for (size_t i = 0; i < t->kernels.count; i++)
        free(t->kernels.items[i]->shapes.items);
    free(t->kernels.items);
    free(t->metrics.items);
    if (t->sources)
        zs_sources_close(t->sources);
    for (size_t i = 0; parts && i < parts->codes.count; i++)
        zs_code_close(parts->codes.items[i]);
    for (uint32_t i = 0; parts && parts->modules && i < module_count; i++) {
        zs_annotation_close(parts->modules[i].annotation);
        zs_module_close(parts->modules[i].module);
    }
    if (parts) {
        zs_source_copies_fini(&parts->copies);
        free(parts->codes.items);
        free(parts->modules);
        zs_name_map_fini(&parts->by_name);
        zs_id_map_fini(&parts->by_kernel);
        zs_activities_free(&parts->activities);
        free(parts);
    }
    if (t->recorded)
        zs_metrics_close(t->recorded);
    if (t->recording)
        zs_recording_close(t->recording);
    zs_arena_fini(&t->arena);
    *t = (struct zs_profiles){0};
}
