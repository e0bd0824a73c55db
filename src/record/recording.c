/* SPDX-License-Identifier: MIT */
#include "record/builds.h"
#include "record/recording_priv.h"

#include "base/file.h"
#include "base/reader.h"
#include "record/traces.h"
#include "store/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPEN_DIR_FLAGS = O_RDONLY | O_DIRECTORY | O_CLOEXEC };

void recording_note(struct zs_recording *r, uint32_t process, const char *format, ...)
{
    char text[1024];
    va_list args;
    if (r->notes.count > NOTES_MAX)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (r->notes.count == NOTES_MAX)
        snprintf(text, sizeof(text), "more than %d notes: the others are not shown", NOTES_MAX);
    struct zs_record_note note = {process, zs_arena_strndup(&r->arena, text, sizeof(text))};
    if (!note.text || !ZS_VEC_PUSH(&r->notes, note))
        r->out_of_memory = true;
}

bool zs_recording_probe(const char *path)
{
    struct stat st;
    int fd = open(path, OPEN_DIR_FLAGS);
    if (fd < 0)
        return false;
    bool is = !fstatat(fd, ZS_RECORD_META, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode);
    close(fd);
    return is;
}

/* meta.json must be sound: without it nothing says that this is a recording. */
static int read_meta(struct zs_recording *r, struct zs_diag *diag)
{
    struct zs_file file;
    int error = zs_file_read_at(r->dir_fd, ZS_RECORD_META, META_MAX_B, &file, NULL);
    if (error)
        return zs_diag_set(diag, error == -ENOENT ? -EINVAL : error, ZS_DIAG_NO_OFFSET,
                           "it is not a recording of zescope: its " ZS_RECORD_META
                           " cannot be read (%s)",
                           strerror(-error));
    struct zs_diag inner = {0};
    json_t *meta = parse_json(file.span, &inner);
    zs_file_close(&file);
    const char *schema = json_string_value(json_object_get(meta, "schema"));
    if (!schema || strcmp(schema, ZS_RECORDING_SCHEMA) != 0) {
        error = zs_diag_set(diag, -EINVAL, meta ? ZS_DIAG_NO_OFFSET : inner.offset_B,
                            meta ? ZS_RECORD_META ": schema \"%.60s\" found, \"%s\" expected"
                                 : ZS_RECORD_META ": %.200s",
                            meta ? (schema ? schema : "") : inner.text, ZS_RECORDING_SCHEMA);
        json_decref(meta);
        return error;
    }
    struct zs_recording_info *info = &r->info;
    info->version = member_text(r, meta, "zescope");
    info->argv = member_texts(r, meta, "argv", &info->argc);
    info->cwd = member_text(r, meta, "cwd");
    info->host = member_text(r, meta, "host");
    info->start_time = member_text(r, meta, "start_time");
    info->duration_ns = member_u64(meta, "duration_ns", UINT64_MAX);
    info->finished = json_is_true(json_object_get(meta, "finished"));
    info->exit_status = (int32_t)member_u64(meta, "exit_status", INT32_MAX);
    info->debug_info = json_is_true(json_object_get(meta, "debug_info"));
    info->no_trace = json_is_false(json_object_get(meta, "trace"));
    info->no_activity = json_is_false(json_object_get(meta, "activity"));
    r->is_emulated = json_is_true(json_object_get(meta, "emulated"));
    info->clock = member_text(r, meta, "timing"); /* until devices are known: find_clock() */
    json_decref(meta);
    return 0;
}

static void read_counters(struct zs_recording *r)
{
    int error = zs_traces_read_drops(r->dir_fd, &r->info.drops);
    if (error)
        recording_note(r, ZS_RECORD_NONE, "the counters of losses are %s",
                       error == -EBADMSG ? "broken" : "missing");
}

/* "123" or "123.4": the parts, false for other names. */
static bool parse_process_name(const char *name, uint32_t *ret_pid, uint32_t *ret_image)
{
    char *end;
    *ret_image = 0;
    if (name[0] < '0' || name[0] > '9' || strlen(name) > 20)
        return false;
    *ret_pid = (uint32_t)strtoul(name, &end, 10);
    if (*end == '.' && end[1] >= '0' && end[1] <= '9')
        *ret_image = (uint32_t)strtoul(end + 1, &end, 10);
    return !*end;
}

struct process_name {
    uint32_t pid, image;
    char name[24];
};

static int by_number(const void *a, const void *b)
{
    const struct process_name *x = a, *y = b;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return x->image < y->image ? -1 : x->image > y->image;
}

static void add_process(struct zs_recording *r, int folder_fd, const struct process_name *name)
{
    int fd = openat(folder_fd, name->name, OPEN_DIR_FLAGS | O_NOFOLLOW);
    if (fd < 0) {
        recording_note(r, ZS_RECORD_NONE, ZS_RECORD_PROCESSES "/%s cannot be read: %s", name->name,
                       strerror(errno));
        return;
    }
    struct zs_record_process process = {.pid = name->pid, .exe = ""};
    uint32_t ordinal = ZS_RECORD_NONE;
    uint32_t index = (uint32_t)r->processes.count;
    if (ZS_VEC_PUSH(&r->ordinals, ordinal) && ZS_VEC_PUSH(&r->processes, process))
        read_process(r, fd, index);
    else
        r->out_of_memory = true;
    close(fd);
}

static void read_processes(struct zs_recording *r)
{
    VEC(struct process_name) names = {0};
    int fd = openat(r->dir_fd, ZS_RECORD_PROCESSES, OPEN_DIR_FLAGS | O_NOFOLLOW);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        recording_note(r, ZS_RECORD_NONE, ZS_RECORD_PROCESSES "/ cannot be read");
        if (fd >= 0)
            close(fd);
        return;
    }
    const struct dirent *entry;
    while ((entry = readdir(dir)) && names.count < PROCESSES_MAX) {
        struct process_name name = {0};
        if (!parse_process_name(entry->d_name, &name.pid, &name.image))
            continue;
        memcpy(name.name, entry->d_name, strlen(entry->d_name) + 1);
        r->out_of_memory |= !ZS_VEC_PUSH(&names, name);
    }
    if (names.count)
        qsort(names.items, names.count, sizeof(*names.items), by_number);
    for (size_t i = 0; i < names.count && !r->out_of_memory; i++)
        add_process(r, fd, &names.items[i]);
    free(names.items);
    closedir(dir);
}

static void read_sources(struct zs_recording *r)
{
    struct zs_file file;
    struct zs_diag diag = {0};
    int error = zs_file_read_at(r->dir_fd, ZS_RECORD_SOURCES ".json", LINE_MAX_B, &file, &diag);
    if (error) {
        if (error != -ENOENT)
            recording_note(r, ZS_RECORD_NONE, "%s", diag.text);
        return;
    }
    json_t *json = parse_json(file.span, &diag);
    zs_file_close(&file);
    if (!json)
        recording_note(r, ZS_RECORD_NONE, ZS_RECORD_SOURCES ".json: %s", diag.text);
    const json_t *array = json_object_get(json, "sources");
    for (size_t i = 0; i < json_array_size(array) && !r->out_of_memory; i++) {
        const json_t *item = json_array_get(array, i);
        struct zs_record_source source = {
            .path = member_text(r, item, "path"),
            .blob = member_blob(r, item, NULL, r->sources_fd, ZS_RECORD_SOURCES, ZS_RECORD_NONE),
        };
        if (!source.blob.file || !source.path[0])
            continue;
        r->out_of_memory |=
            !zs_name_map_put(&r->source_by_path, source.path, (uint32_t)r->sources.count) ||
            !ZS_VEC_PUSH(&r->sources, source);
    }
    json_decref(json);
}

/* The driver's own identification: "zescope" in its first bytes. */
static bool is_software(const struct zs_recording *r, const struct zs_record_device *device)
{
    return r->is_emulated || !strncmp(device->driver_uuid, "7a6573636f7065", 14);
}

/* Until now it is what the software GPU would have, in whatever words. */
static void find_clock(struct zs_recording *r)
{
    static const char *const clocks[] = {"formula", "model", "exact"};
    uint32_t count, software = 0, known = 0;
    const char *said = r->info.clock;
    r->info.clock = "";
    for (size_t i = 0; i < ZS_ARRAY_LEN(clocks); i++)
        if (!strcmp(said, clocks[i]))
            r->info.clock = clocks[i];
    const struct zs_record_device *devices = zs_recording_devices(r, &count);
    for (uint32_t i = 0; i < count; i++) {
        software += is_software(r, &devices[i]);
        known += devices[i].driver_uuid[0] != 0;
    }
    if (!count || software != count)
        r->info.clock = count && !software && known == count ? "device" : "";
}

int zs_recording_open(const char *path, struct zs_recording **ret_recording, struct zs_diag *diag)
{
    *ret_recording = NULL;
    struct zs_recording *r = calloc(1, sizeof(*r));
    if (!r)
        return zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "out of memory");
    zs_arena_init(&r->arena, ARENA_MAX_B);
    r->modules_fd = r->sources_fd = -1;
    r->dir_fd = open(path, OPEN_DIR_FLAGS);
    int error = r->dir_fd >= 0 ? 0
                               : zs_diag_set(diag, -errno, ZS_DIAG_NO_OFFSET,
                                             "cannot open the recording: %s", strerror(errno));
    if (!error)
        error = read_meta(r, diag);
    if (!error) {
        r->info.path = zs_arena_strndup(&r->arena, path, strlen(path));
        r->modules_fd = openat(r->dir_fd, ZS_RECORD_MODULES, OPEN_DIR_FLAGS | O_NOFOLLOW);
        r->sources_fd = openat(r->dir_fd, ZS_RECORD_SOURCES, OPEN_DIR_FLAGS | O_NOFOLLOW);
        read_counters(r);
        read_sources(r);
        read_processes(r);
        find_clock(r);
        if (r->out_of_memory || !r->info.path)
            error = zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET,
                                "out of memory, or larger than what is read");
    }
    if (error)
        zs_recording_close(r);
    else
        *ret_recording = r;
    return error;
}

void zs_recording_close(struct zs_recording *r)
{
    if (!r)
        return;
    const int fds[] = {r->dir_fd, r->modules_fd, r->sources_fd};
    for (size_t i = 0; i < ZS_ARRAY_LEN(fds); i++)
        if (fds[i] >= 0)
            close(fds[i]);
    free(r->processes.items);
    free(r->ordinals.items);
    free(r->devices.items);
    free(r->shapes.items);
    free(r->builds.items);
    free(r->modules.items);
    free(r->sources.items);
    free(r->notes.items);
    zs_name_map_fini(&r->device_by_key);
    zs_name_map_fini(&r->module_by_key);
    zs_name_map_fini(&r->source_by_path);
    zs_name_map_fini(&r->build_by_id);
    zs_name_map_fini(&r->build_by_handle);
    zs_arena_fini(&r->arena);
    free(r);
}

const struct zs_recording_info *zs_recording_info(const struct zs_recording *r)
{
    return &r->info;
}

#define ACCESSOR(type, name)                                                                       \
    const struct type *zs_recording_##name(const struct zs_recording *r, uint32_t *ret_count)      \
    {                                                                                              \
        *ret_count = (uint32_t)r->name.count;                                                      \
        return r->name.items;                                                                      \
    }
ACCESSOR(zs_record_process, processes)

uint32_t zs_recording_ordinal(const struct zs_recording *recording, uint32_t process)
{
    return recording->ordinals.items[process];
}

ACCESSOR(zs_record_device, devices)
ACCESSOR(zs_record_build, builds)
ACCESSOR(zs_record_module, modules)
ACCESSOR(zs_record_source, sources)
ACCESSOR(zs_record_note, notes)
#undef ACCESSOR

const struct zs_record_source *zs_recording_find_source(const struct zs_recording *r,
                                                        const char *path)
{
    uint32_t index = zs_name_map_get(&r->source_by_path, path);
    return index == ZS_RECORD_NONE ? NULL : &r->sources.items[index];
}

int zs_recording_blob_read(const struct zs_recording *r, const struct zs_record_blob *blob,
                           struct zs_span *ret_span, struct zs_diag *diag)
{
    *ret_span = (struct zs_span){0};
    const char *name = blob->file ? strchr(blob->file, '/') : NULL;
    if (!name)
        return zs_diag_set(diag, -ENOENT, ZS_DIAG_NO_OFFSET,
                           "%s: this part of the module was not recorded", r->info.path);
    int fd = strncmp(blob->file, ZS_RECORD_SOURCES "/", strlen(ZS_RECORD_SOURCES) + 1) == 0
                 ? r->sources_fd
                 : r->modules_fd;
    struct zs_file file;
    int error = zs_file_read_at(fd, name + 1, 0, &file, diag);
    if (error)
        return error;
    if (file.span.size_B != blob->size_B) {
        zs_file_close(&file);
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "%s/%s changed after it was recorded",
                           r->info.path, blob->file);
    }
    *ret_span = file.span;
    return 0;
}

void zs_recording_blob_free(struct zs_span *span)
{
    struct zs_file file = {*span};
    zs_file_close(&file);
    *span = (struct zs_span){0};
}

const struct zs_record_device_shape *zs_recording_device_shape(const struct zs_recording *r,
                                                               uint32_t index)
{
    return index < r->shapes.count && r->shapes.items[index].eus_per_subslice
               ? &r->shapes.items[index]
               : NULL;
}
