/* SPDX-License-Identifier: MIT */
/* The lines of one process: see docs/recording.md for their members. */
#include "record/recording_priv.h"

#include "base/file.h"
#include "store/store.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void (*line_fn)(struct zs_recording *r, const json_t *line, uint32_t process);

/* Calls fn with each line that is a JSON object; others become notes. */
static void each_line(struct zs_recording *r, int fd, const char *name, uint32_t process,
                      line_fn fn)
{
    struct zs_file file;
    struct zs_diag diag = {0};
    int error = zs_file_read_at(fd, name, EVENTS_FILE_MAX_B, &file, &diag);
    if (error) {
        if (error != -ENOENT)
            recording_note(r, process, "%s", diag.text);
        return;
    }
    size_t number = 0;
    for (size_t at = 0; at < file.span.size_B && !r->out_of_memory;) {
        const uint8_t *start = file.span.data + at;
        const uint8_t *end = memchr(start, '\n', file.span.size_B - at);
        size_t size_B = end ? (size_t)(end - start) : file.span.size_B - at;
        at += size_B + 1;
        number++;
        if (!size_B)
            continue;
        diag = (struct zs_diag){0};
        json_t *line = size_B <= LINE_MAX_B ? parse_json(zs_span_make(start, size_B), &diag) : NULL;
        if (json_is_object(line))
            fn(r, line, process);
        else
            recording_note(r, process, "%s line %zu was left out: %s", name, number,
                           size_B > LINE_MAX_B ? "longer than is read"
                           : diag.error        ? diag.text
                                               : "not a JSON object");
        json_decref(line);
    }
    zs_file_close(&file);
}

static const char *keep_key(struct zs_recording *r, const char *format, uint64_t a)
{
    char text[40];
    snprintf(text, sizeof(text), format, a);
    char *key = zs_arena_strndup(&r->arena, text, sizeof(text));
    r->out_of_memory |= !key;
    return key ? key : "";
}

static void map_put(struct zs_recording *r, struct zs_name_map *map, const char *key,
                    uint32_t value)
{
    r->out_of_memory |= !zs_name_map_put(map, key, value);
}

static struct zs_record_device_shape read_shape(const json_t *d)
{
    return (struct zs_record_device_shape){
        .core_clock_MHz = (uint32_t)member_u64(d, "core_clock_MHz", UINT32_MAX),
        .slices = (uint32_t)member_u64(d, "slices", UINT16_MAX),
        .subslices_per_slice = (uint32_t)member_u64(d, "subslices_per_slice", UINT16_MAX),
        .eus_per_subslice = (uint32_t)member_u64(d, "eus_per_subslice", UINT16_MAX),
        .threads_per_eu = (uint32_t)member_u64(d, "threads_per_eu", UINT16_MAX),
        .simd_width = (uint32_t)member_u64(d, "simd_width", UINT16_MAX),
        .group_items_max = (uint32_t)member_u64(d, "group_items_max", UINT32_MAX),
        .group_local_max_B = member_u64(d, "group_local_max_B", UINT32_MAX),
        .memory_clock_MHz = (uint32_t)member_u64(d, "memory_clock_MHz", UINT32_MAX),
        .memory_bus_bits = (uint32_t)member_u64(d, "memory_bus_bits", UINT32_MAX),
        .cache_B = member_u64(d, "cache_B", UINT64_MAX),
    };
}

static uint32_t read_device(struct zs_recording *r, const json_t *line)
{
    const json_t *d = json_object_get(line, "device");
    char *text = json_is_object(d) ? json_dumps(d, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    if (!text)
        return ZS_RECORD_NONE;
    uint32_t index = zs_name_map_get(&r->device_by_key, text);
    if (index == ZS_RECORD_NONE) {
        const char *key = zs_arena_strndup(&r->arena, text, strlen(text));
        struct zs_record_device device = {
            .name = member_text(r, d, "name"),
            .vendor_id = (uint32_t)member_u64(d, "vendor_id", UINT32_MAX),
            .device_id = (uint32_t)member_u64(d, "device_id", UINT32_MAX),
            .uuid = member_text(r, d, "uuid"),
            .driver_version = (uint32_t)member_u64(d, "driver_version", UINT32_MAX),
            .driver_api_version = (uint32_t)member_u64(d, "driver_api_version", UINT32_MAX),
            .driver_uuid = member_text(r, d, "driver_uuid"),
        };
        device.ocloc_name = zs_device_ocloc_name(device.vendor_id, device.device_id);
        index = (uint32_t)r->devices.count;
        if (!key || !ZS_VEC_PUSH(&r->devices, device) || !ZS_VEC_PUSH(&r->shapes, read_shape(d)))
            r->out_of_memory = true;
        else
            map_put(r, &r->device_by_key, key, index);
    }
    free(text);
    return index;
}

static void read_constants(struct zs_recording *r, const json_t *json, struct zs_record_input *ret)
{
    const json_t *array = json_object_get(json, "constants");
    size_t size = ZS_MIN(json_array_size(array), (size_t)UINT32_MAX);
    struct zs_record_constant *constants =
        ZS_ARENA_ARRAY(&r->arena, size, struct zs_record_constant);
    r->out_of_memory |= !constants;
    for (size_t i = 0; constants && i < size; i++) {
        const json_t *c = json_array_get(array, i);
        constants[i] = (struct zs_record_constant){
            .id = (uint32_t)member_u64(c, "id", UINT32_MAX),
            .size_B = (uint8_t)member_u64(c, "size_B", 8),
            .value = member_hex(c, "value"),
        };
    }
    ret->constants = constants;
    ret->constant_count = constants ? (uint32_t)size : 0;
}

static void read_inputs(struct zs_recording *r, const json_t *line, uint32_t process,
                        struct zs_record_build *build)
{
    const json_t *array = json_object_get(line, "inputs");
    size_t size = ZS_MIN(json_array_size(array), (size_t)UINT32_MAX);
    struct zs_record_input *inputs = ZS_ARENA_ARRAY(&r->arena, size, struct zs_record_input);
    r->out_of_memory |= !inputs;
    for (size_t i = 0; inputs && i < size; i++) {
        const json_t *input = json_array_get(array, i);
        inputs[i].blob = member_blob(r, input, "input", r->modules_fd, ZS_RECORD_MODULES, process);
        inputs[i].flags = member_text(r, input, "flags");
        inputs[i].has_debug_info = json_is_true(json_object_get(input, "debug_info"));
        read_constants(r, input, &inputs[i]);
    }
    build->inputs = inputs;
    build->input_count = inputs ? (uint32_t)size : 0;
}

static void event_begin(struct zs_recording *r, const json_t *line, uint32_t process)
{
    const char *format = json_string_value(json_object_get(line, "format"));
    struct zs_record_build build = {
        .process = process,
        .id = (uint32_t)member_u64(line, "id", UINT32_MAX),
        .thread_id = (uint32_t)member_u64(line, "tid", UINT32_MAX),
        .device = read_device(r, line),
        .module = ZS_RECORD_NONE,
        .start_ns = member_u64(line, "t_ns", UINT64_MAX),
        .format = format && !strcmp(format, "spirv")    ? ZS_RECORD_FORMAT_SPIRV
                  : format && !strcmp(format, "native") ? ZS_RECORD_FORMAT_NATIVE
                  : format && !strcmp(format, "source") ? ZS_RECORD_FORMAT_SOURCE
                                                        : ZS_RECORD_FORMAT_OTHER,
        .flags = member_text(r, line, "flags"),
        .app_flags = member_text(r, line, "app_flags"),
        .log = "",
    };
    read_inputs(r, line, process, &build);
    uint32_t index = (uint32_t)r->builds.count;
    uint64_t id = member_u64(line, "id", UINT64_MAX);
    if (index == ZS_RECORD_NONE || !ZS_VEC_PUSH(&r->builds, build))
        r->out_of_memory = true;
    else
        map_put(r, &r->build_by_id, keep_key(r, "%" PRIu64, id), index);
}

/* The module that a line describes; made when it is new. */
static uint32_t read_module(struct zs_recording *r, const json_t *json, uint32_t build, bool linked,
                            const char *const *kernels, uint32_t kernel_count)
{
    const struct zs_record_build *b = &r->builds.items[build];
    struct zs_record_module module = {
        .binary = member_blob(r, json, "binary", r->modules_fd, ZS_RECORD_MODULES, b->process),
        .device = b->device,
        .kernels = kernels,
        .kernel_count = kernel_count,
        .first_build = build,
        .linked = linked,
    };
    if (!module.binary.file)
        return ZS_RECORD_NONE;
    module.debug = member_blob(r, json, "debug", r->modules_fd, ZS_RECORD_MODULES, b->process);
    char text[400];
    snprintf(text, sizeof(text), "%s %s %u", module.binary.file,
             module.debug.file ? module.debug.file : "", module.device);
    uint32_t index = zs_name_map_get(&r->module_by_key, text);
    if (index != ZS_RECORD_NONE)
        return index;
    const char *key = zs_arena_strndup(&r->arena, text, sizeof(text));
    index = (uint32_t)r->modules.count;
    if (!key || !ZS_VEC_PUSH(&r->modules, module)) {
        r->out_of_memory = true;
        return ZS_RECORD_NONE;
    }
    map_put(r, &r->module_by_key, key, index);
    return index;
}

/* Kept, and not read: OpenCL's drivers for other devices have formats of their own. */
static void note_other(struct zs_recording *r, const json_t *line, uint32_t process,
                       const char *key)
{
    const struct zs_record_blob other =
        member_blob(r, line, "other_binary", r->modules_fd, ZS_RECORD_MODULES, process);
    if (other.file)
        recording_note(r, process,
                       "build %s: its binary is none for Intel's GPUs and is not read: %s", key,
                       other.file);
}

static void event_end(struct zs_recording *r, const json_t *line, uint32_t process)
{
    char key[24];
    snprintf(key, sizeof(key), "%" PRIu64, member_u64(line, "id", UINT64_MAX));
    uint32_t index = zs_name_map_get(&r->build_by_id, key);
    if (index == ZS_RECORD_NONE || r->builds.items[index].finished) {
        recording_note(r, process, "the end of build %s has no beginning", key);
        return;
    }
    struct zs_record_build *build = &r->builds.items[index];
    uint32_t kernel_count;
    const char *const *kernels = member_texts(r, line, "kernels", &kernel_count);
    build->finished = true;
    build->duration_ns = member_u64(line, "duration_ns", UINT64_MAX);
    build->result = (int32_t)(uint32_t)member_hex(line, "result");
    build->handle = member_hex(line, "handle");
    build->log = member_text(r, line, "log");
    build->module = read_module(r, line, index, false, kernels, kernel_count);
    if (build->module != ZS_RECORD_NONE)
        r->modules.items[build->module].build_count++;
    note_other(r, line, process, key);
    if (build->handle)
        map_put(r, &r->build_by_handle, keep_key(r, "%" PRIx64, build->handle), index);
}

static void event_link(struct zs_recording *r, const json_t *line, uint32_t process)
{
    const json_t *array = json_object_get(line, "modules");
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *linked = json_array_get(array, i);
        char key[24];
        snprintf(key, sizeof(key), "%" PRIx64, member_hex(linked, "handle"));
        uint32_t index = zs_name_map_get(&r->build_by_handle, key);
        if (index == ZS_RECORD_NONE || !json_object_get(linked, "binary"))
            continue;
        uint32_t before = r->builds.items[index].module;
        const struct zs_record_module *m =
            before == ZS_RECORD_NONE ? NULL : &r->modules.items[before];
        uint32_t after =
            read_module(r, linked, index, true, m ? m->kernels : NULL, m ? m->kernel_count : 0);
        if (after == ZS_RECORD_NONE || after == before)
            continue;
        r->builds.items[index].module = after;
        r->modules.items[after].build_count++;
        if (before != ZS_RECORD_NONE)
            r->modules.items[before].build_count--;
    }
}

static void event_destroy(struct zs_recording *r, const json_t *line, uint32_t process)
{
    map_put(r, &r->build_by_handle, keep_key(r, "%" PRIx64, member_hex(line, "handle")),
            ZS_RECORD_NONE);
}

static const struct {
    const char *name;
    line_fn read;
} events[] = {
    {"begin", event_begin},
    {"end", event_end},
    {"link", event_link},
    {"destroy", event_destroy},
};

/* Events of kinds that a later version adds are passed over. */
static void read_event(struct zs_recording *r, const json_t *line, uint32_t process)
{
    const char *name = json_string_value(json_object_get(line, "event"));
    for (size_t i = 0; name && i < ZS_ARRAY_LEN(events); i++)
        if (!strcmp(events[i].name, name))
            events[i].read(r, line, process);
}

static void read_note(struct zs_recording *r, const json_t *line, uint32_t process)
{
    recording_note(r, process, "%s", member_text(r, line, "text"));
}

static void read_process_file(struct zs_recording *r, int process_fd, uint32_t process)
{
    struct zs_file file;
    struct zs_diag diag = {0};
    if (zs_file_read_at(process_fd, ZS_RECORD_PROCESS, META_MAX_B, &file, &diag)) {
        recording_note(r, process, "%s", diag.text);
        return;
    }
    json_t *json = parse_json(file.span, &diag);
    zs_file_close(&file);
    if (!json_is_object(json))
        recording_note(r, process, "%s: %s", ZS_RECORD_PROCESS,
                       diag.error ? diag.text : "not a JSON object");
    struct zs_record_process *p = &r->processes.items[process];
    p->parent_pid = (uint32_t)member_u64(json, "ppid", UINT32_MAX);
    p->exe = member_text(r, json, "exe");
    p->argv = member_texts(r, json, "argv", &p->argc);
    p->start_ns = member_u64(json, "start_ns", UINT64_MAX);
    r->ordinals.items[process] = json_object_get(json, "ordinal")
                                     ? (uint32_t)member_u64(json, "ordinal", UINT32_MAX)
                                     : ZS_RECORD_NONE;
    json_decref(json);
}

void read_process(struct zs_recording *r, int process_fd, uint32_t process)
{
    size_t first = r->builds.count;
    read_process_file(r, process_fd, process);
    each_line(r, process_fd, ZS_RECORD_EVENTS, process, read_event);
    each_line(r, process_fd, ZS_RECORD_NOTES, process, read_note);
    for (size_t i = first; i < r->builds.count; i++)
        if (!r->builds.items[i].finished)
            recording_note(
                r, process,
                strcmp(r->builds.items[i].app_flags, r->builds.items[i].flags)
                    ? "build %zu was not finished: the process ended in the compiler, with -g, "
                      "which was added for lines: run it again, it is left out then"
                    : "build %zu was not finished: the process ended while the driver was "
                      "building, or the result could not be written",
                i - first + 1);
    zs_name_map_fini(&r->build_by_id);
    zs_name_map_fini(&r->build_by_handle);
}
