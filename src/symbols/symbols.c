/* SPDX-License-Identifier: MIT */
#include "symbols/symbols.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/id_map.h"
#include "base/json.h"
#include "base/vec.h"
#include "record/trace_reader.h"
#include "record/traces.h"
#include "symbols/symbolizer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINES_MAX_B = 256 << 20, MAPS_MAX = 65536, PROCESS_ENTRIES_MAX = 1 << 20 };

/* What an address of a process is. */
struct entry {
    uint64_t process, pc;
    struct zs_symbol_frame *frames;
    uint32_t count;
};

struct map {
    uint64_t process, start, end, base;
    const char *path, *build_id; /* build_id NULL: none */
    struct zs_symbolizer *symbolizer;
    bool is_open; /* or was tried to be */
};

struct zs_symbols {
    struct zs_arena arena;
    struct zs_id_map entries; /* struct entry by process and address */
    struct {
        struct map *items;
        size_t count, capacity;
    } maps;
};

static struct entry *keep(struct zs_symbols *s, uint64_t process, uint64_t pc,
                          const struct zs_symbol_frame *frames, uint32_t count)
{
    struct zs_symbol_frame *copy = ZS_ARENA_ARRAY(&s->arena, count, struct zs_symbol_frame);
    struct entry *e = zs_id_map_get(&s->entries, process, pc);
    if (!e)
        e = ZS_ARENA_NEW(&s->arena, struct entry);
    if (!copy || !e || zs_id_map_put(&s->entries, process, pc, e))
        return NULL;
    memcpy(copy, frames, count * sizeof(*copy));
    *e = (struct entry){process, pc, copy, count};
    return e;
}

/* --- files of the recording --- */

static const char *text_of(struct zs_symbols *s, const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? zs_arena_strndup(&s->arena, text, strlen(text)) : NULL;
}

static uint64_t number_of(const json_t *object, const char *name)
{
    json_int_t value = json_integer_value(json_object_get(object, name));
    return value > 0 ? (uint64_t)value : 0;
}

static bool take_map(struct zs_symbols *s, uint64_t process, const json_t *line)
{
    struct map map = {.process = process,
                      .start = number_of(line, "start"),
                      .end = number_of(line, "end"),
                      .base = number_of(line, "base"),
                      .path = text_of(s, line, "path"),
                      .build_id = text_of(s, line, "build_id")};
    return !map.path || map.start >= map.end || s->maps.count == MAPS_MAX ||
           ZS_VEC_PUSH(&s->maps, map);
}

static bool take_symbol(struct zs_symbols *s, uint64_t process, const json_t *line)
{
    struct zs_symbol_frame frames[ZS_SYMBOL_INLINE_MAX];
    const json_t *list = json_object_get(line, "frames");
    uint32_t count = 0;
    for (size_t i = 0; i < json_array_size(list) && count < ZS_ARRAY_LEN(frames); i++) {
        const json_t *frame = json_array_get(list, i);
        frames[count++] =
            (struct zs_symbol_frame){.function = text_of(s, frame, "function"),
                                     .file = text_of(s, frame, "file"),
                                     .line = (uint32_t)number_of(frame, "line"),
                                     .module = text_of(s, frame, "module"),
                                     .offset_B = number_of(frame, "offset"),
                                     .is_inline = json_is_true(json_object_get(frame, "inline"))};
    }
    return !count || s->entries.count == PROCESS_ENTRIES_MAX ||
           keep(s, process, number_of(line, "pc"), frames, count);
}

/* Lines that are torn or are no objects cost only themselves. */
static int take_lines(struct zs_symbols *s, int fd, uint64_t process,
                      bool (*take)(struct zs_symbols *s, uint64_t process, const json_t *line))
{
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    struct stat st;
    bool usable = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size <= LINES_MAX_B;
    FILE *file = usable ? fdopen(fd, "r") : NULL;
    int error = 0;
    if (!file) {
        if (fd >= 0)
            close(fd);
        return 0;
    }
    while (!error && (length = getline(&line, &capacity, file)) > 0) {
        json_t *object = json_loadb(line, (size_t)length, JSON_REJECT_DUPLICATES, NULL);
        if (json_is_object(object) && !take(s, process, object))
            error = -ENOMEM;
        json_decref(object);
    }
    free(line);
    fclose(file);
    return error;
}

/* The trace files of a process follow each other. */
static int load(struct zs_symbols *s, const struct zs_traces *traces, bool with_symbols)
{
    uint64_t last = UINT64_MAX;
    int error = 0;
    for (size_t i = 0; i < traces->count && !error; i++) {
        uint64_t process = traces->files[i].process;
        if (process == last)
            continue;
        last = process;
        error =
            take_lines(s, zs_traces_open_beside(traces, i, "maps", O_RDONLY), process, take_map);
        if (!error && with_symbols)
            error = take_lines(s, zs_traces_open_beside(traces, i, "symbols", O_RDONLY), process,
                               take_symbol);
    }
    return error;
}

static int open_some(const char *recording, bool with_symbols, struct zs_traces *ret_traces,
                     struct zs_symbols **ret_symbols, struct zs_diag *diag)
{
    int error = zs_traces_open(recording, ret_traces, diag);
    if (error)
        return error;
    struct zs_symbols *s = calloc(1, sizeof(*s));
    if (s) {
        zs_arena_init(&s->arena, 0);
        error = load(s, ret_traces, with_symbols);
    }
    if (!s || error) {
        zs_symbols_close(s);
        zs_traces_close(ret_traces);
        return zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "out of memory");
    }
    *ret_symbols = s;
    return 0;
}

int zs_symbols_open(const char *recording, struct zs_symbols **ret_symbols, struct zs_diag *diag)
{
    struct zs_traces traces;
    int error = open_some(recording, true, &traces, ret_symbols, diag);
    if (!error)
        zs_traces_close(&traces);
    return error;
}

void zs_symbols_close(struct zs_symbols *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->maps.count; i++)
        zs_symbolizer_close(s->maps.items[i].symbolizer);
    free(s->maps.items);
    zs_id_map_fini(&s->entries);
    zs_arena_fini(&s->arena);
    free(s);
}

/* --- looking up --- */

/* The file that was mapped there last. */
static struct map *map_of(struct zs_symbols *s, uint64_t process, uint64_t pc)
{
    for (size_t i = s->maps.count; i-- > 0;) {
        struct map *m = &s->maps.items[i];
        if (m->process == process && pc >= m->start && pc < m->end)
            return m;
    }
    return NULL;
}

static uint32_t look_up(struct zs_symbols *s, struct map *m, uint64_t pc,
                        struct zs_symbol_frame frames[ZS_SYMBOL_INLINE_MAX])
{
    if (!m->is_open && m->build_id)
        m->symbolizer = zs_symbolizer_open(m->path, m->base, m->build_id);
    m->is_open = true;
    return m->symbolizer ? zs_symbolizer_frames(m->symbolizer, pc, &s->arena, frames) : 0;
}

uint32_t zs_symbols_frames(struct zs_symbols *s, uint64_t process, uint64_t pc,
                           const struct zs_symbol_frame **ret_frames)
{
    struct zs_symbol_frame frames[ZS_SYMBOL_INLINE_MAX] = {{0}};
    struct entry *e = zs_id_map_get(&s->entries, process, pc);
    if (!e) {
        /* a return address stands behind the call */
        struct map *m = map_of(s, process, pc - 1);
        uint32_t count = m ? look_up(s, m, pc - 1, frames) : 0;
        count = count ? count : 1;
        for (uint32_t i = 0; i < count; i++) {
            frames[i].module = m ? m->path : NULL;
            frames[i].offset_B = pc - (m ? m->base : 0);
        }
        e = keep(s, process, pc, frames, count);
        if (!e)
            return 0;
    }
    *ret_frames = e->frames;
    return e->count;
}

size_t zs_symbol_format(const struct zs_symbol_frame *f, char *ret_text, size_t size_B)
{
    const char *slash = f->module ? strrchr(f->module, '/') : NULL;
    const char *module = slash ? slash + 1 : f->module;
    const char *file = f->file && strrchr(f->file, '/') ? strrchr(f->file, '/') + 1 : f->file;
    int n;
    if (f->function && file && f->line)
        n = snprintf(ret_text, size_B, "%s at %s:%u", f->function, file, f->line);
    else if (f->function && module)
        n = snprintf(ret_text, size_B, "%s in %s", f->function, module);
    else if (module)
        n = snprintf(ret_text, size_B, "%s+0x%" PRIx64, module, f->offset_B);
    else
        n = snprintf(ret_text, size_B, "0x%" PRIx64, f->offset_B);
    return n > 0 ? (size_t)n : 0;
}

/* --- keeping --- */

static void put_symbol(struct zs_buf *out, const struct entry *e)
{
    struct zs_json j = zs_json_make(out, 0);
    zs_json_object(&j, NULL);
    zs_json_u64(&j, "pc", e->pc);
    zs_json_array(&j, "frames");
    for (uint32_t i = 0; i < e->count; i++) {
        const struct zs_symbol_frame *f = &e->frames[i];
        zs_json_object(&j, NULL);
        if (f->function)
            zs_json_string(&j, "function", f->function);
        if (f->file)
            zs_json_string(&j, "file", f->file);
        if (f->line)
            zs_json_u64(&j, "line", f->line);
        if (f->module)
            zs_json_string(&j, "module", f->module);
        zs_json_u64(&j, "offset", f->offset_B);
        if (f->is_inline)
            zs_json_bool(&j, "inline", true);
        zs_json_end(&j);
    }
    zs_json_end(&j);
    zs_json_end(&j);
    zs_buf_putc(out, '\n');
}

/* All addresses of one trace file. */
static int take_file(struct zs_symbols *s, const struct zs_traces *traces, size_t i,
                     uint64_t process)
{
    struct zs_trace_reader reader;
    struct zs_trace_event_in event;
    const struct zs_symbol_frame *frames;
    int fd = zs_traces_open_file(traces, i, NULL);
    if (fd < 0)
        return 0;
    int error = zs_trace_reader_open_fd(&reader, fd);
    while (!error && zs_trace_reader_next(&reader, &event))
        continue;
    for (uint32_t n = 1; !error && n <= reader.node_count && s->entries.count < PROCESS_ENTRIES_MAX;
         n++)
        if (reader.nodes[n].pc && !zs_symbols_frames(s, process, reader.nodes[n].pc, &frames))
            error = -ENOMEM;
    zs_trace_reader_close(&reader);
    close(fd);
    return error;
}

static int write_process(struct zs_symbols *s, const struct zs_traces *traces, size_t file)
{
    struct zs_buf out = {0};
    uint64_t process = traces->files[file].process;
    for (size_t i = 0; i < s->entries.capacity; i++) {
        const struct zs_id_slot *slot = &s->entries.slots[i];
        if (slot->value && slot->a == process)
            put_symbol(&out, slot->value);
    }
    int error = out.error;
    int fd = error || !out.size_B
                 ? -1
                 : zs_traces_open_beside(traces, file, "symbols", O_WRONLY | O_CREAT | O_EXCL);
    if (!error && out.size_B && fd < 0)
        error = fd;
    for (size_t at = 0; !error && at < out.size_B;) {
        ssize_t n = write(fd, out.data + at, out.size_B - at);
        if (n < 0 && errno != EINTR)
            error = -errno;
        at += n > 0 ? (size_t)n : 0;
    }
    if (fd >= 0)
        close(fd);
    zs_buf_fini(&out);
    return error;
}

int zs_symbols_store(const char *recording, struct zs_diag *diag)
{
    struct zs_symbols *s;
    struct zs_traces traces;
    int error = open_some(recording, false, &traces, &s, diag);
    if (error)
        return error;
    uint64_t last = UINT64_MAX;
    for (size_t i = 0; s->maps.count && i < traces.count && !error; i++)
        error = take_file(s, &traces, i, traces.files[i].process);
    for (size_t i = 0; s->maps.count && i < traces.count && !error; i++) {
        if (traces.files[i].process == last)
            continue;
        last = traces.files[i].process;
        error = write_process(s, &traces, i);
    }
    zs_symbols_close(s);
    zs_traces_close(&traces);
    return error ? zs_diag_set(diag, error, ZS_DIAG_NO_OFFSET, "symbols cannot be kept: %s",
                               strerror(-error))
                 : 0;
}
