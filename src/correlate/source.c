/* SPDX-License-Identifier: MIT */
/*
 * Source text for the paths that debug info names. In this order:
 *   1. the copy of a recording, where there is one;
 *   2. --path-map OLD=NEW: the first prefix that matches is replaced;
 *   3. the path as it stands;
 *   4. --source-path DIR: each directory, with ever shorter ends of the path
 *      (/build/src/a/k.cl: DIR/build/src/a/k.cl, DIR/src/a/k.cl, DIR/a/k.cl, DIR/k.cl).
 * On Linux there is nothing at a path of Windows as it stands, and its drive is not looked for.
 * A checksum in the line table (DWARF 5) is compared, since it is the only proof that a file is
 * the one that was compiled.
 */
#include "base/arena.h"
#include "base/file.h"
#include "base/options.h"
#include "base/os.h"
#include "base/path.h"
#include "base/vec.h"
#include "correlate/md5.h"

#include <zescope/correlate.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SOURCE_MAX_B = 64 << 20, PATH_MAX_B = 4096 };

struct source_entry {
    struct zs_source source;
    struct zs_file file; /* where it was read by us */
};

struct zs_sources {
    struct zs_source_options options;
    struct zs_arena arena;
    struct {
        struct source_entry **items;
        size_t count, capacity;
    } entries;
};

int zs_sources_open(const struct zs_source_options *options, struct zs_sources **ret)
{
    struct zs_source_options known;
    *ret = NULL;
    int error = ZS_OPTIONS_TAKE(&known, options, NULL);
    if (error)
        return error;
    struct zs_sources *sources = calloc(1, sizeof(*sources));
    if (!sources)
        return -ENOMEM;
    zs_arena_init(&sources->arena, 0);
    sources->options = known;
    *ret = sources;
    return 0;
}

void zs_sources_close(struct zs_sources *sources)
{
    if (!sources)
        return;
    for (size_t i = 0; i < sources->entries.count; i++) {
        zs_file_close(&sources->entries.items[i]->file);
        free((void *)sources->entries.items[i]->source.line_offsets);
    }
    free(sources->entries.items);
    zs_arena_fini(&sources->arena);
    free(sources);
}

static void set_note(struct zs_sources *sources, struct zs_source *source, const char *text)
{
    source->note = zs_arena_strndup(&sources->arena, text, strlen(text));
}

/* Try one path; true when the text is there. */
static bool try_path(struct zs_sources *sources, struct source_entry *entry, const char *path)
{
    struct zs_path_info info;
    if (zs_os_path_info(path, &info) || info.kind != ZS_PATH_FILE || info.size_B > SOURCE_MAX_B)
        return false;
    if (zs_file_read(path, SOURCE_MAX_B, &entry->file, NULL))
        return false;
    entry->source.text = entry->file.span;
    entry->source.found = zs_arena_strndup(&sources->arena, path, strlen(path));
    if (sources->options.module_mtime_s && info.mtime_s > sources->options.module_mtime_s)
        set_note(sources, &entry->source,
                 "the source is newer than the module: lines may not match");
    return true;
}

static bool try_maps(struct zs_sources *sources, struct source_entry *entry, const char *path)
{
    for (size_t i = 0; i < sources->options.map_count; i++) {
        const struct zs_path_map *map = &sources->options.maps[i];
        const char *rest = zs_path_below(path, map->from);
        if (!rest)
            continue;
        char mapped[PATH_MAX_B];
        int length = snprintf(mapped, sizeof(mapped), "%s%s", map->to, rest);
        return length > 0 && (size_t)length < sizeof(mapped) && try_path(sources, entry, mapped);
    }
    return false;
}

static bool try_directories(struct zs_sources *sources, struct source_entry *entry,
                            const char *path)
{
    if (zs_path_is_windows(path))
        path += 2;
    for (size_t i = 0; i < sources->options.search_dir_count; i++) {
        const char *rest = path;
        while (rest) {
            while (*rest == '/')
                rest++;
            char joined[PATH_MAX_B];
            int length =
                snprintf(joined, sizeof(joined), "%s/%s", sources->options.search_dirs[i], rest);
            if (*rest && length > 0 && (size_t)length < sizeof(joined) &&
                try_path(sources, entry, joined))
                return true;
            rest = strchr(rest, '/');
        }
    }
    return false;
}

/* The path with '/' between its parts, also where it is one of Windows that somebody else made. */
static void put_slashes(char path[PATH_MAX_B], const char *from)
{
    snprintf(path, PATH_MAX_B, "%s", from);
    for (char *at = path + 2; zs_path_is_windows(from) && *at; at++)
        *at = *at == '\\' ? '/' : *at;
}

static bool find_file(struct zs_sources *sources, struct source_entry *entry)
{
    char path[PATH_MAX_B];
    put_slashes(path, entry->source.path);
    bool is_elsewhere = zs_path_is_windows(path) && !zs_os_has_drives();
    return strlen(entry->source.path) < sizeof(path) &&
           (try_maps(sources, entry, path) || (!is_elsewhere && try_path(sources, entry, path)) ||
            try_directories(sources, entry, path));
}

static void find_text(struct zs_sources *sources, struct source_entry *entry)
{
    const char *path = entry->source.path;
    const struct zs_source_provider *provider = &sources->options.provider;
    if (provider->find && provider->find(provider->user, path, &entry->source.text) == 0) {
        entry->source.found = path;
        return;
    }
    if (find_file(sources, entry))
        return;
    char note[PATH_MAX_B + 128];
    if (path[0] == '\0' || path[0] == '<')
        snprintf(note, sizeof(note), "the compiler had no file for this code");
    else
        snprintf(note, sizeof(note),
                 "source not found: %s (give --source-path DIR or --path-map OLD=NEW)", path);
    set_note(sources, &entry->source, note);
}

static int index_lines(struct zs_source *source)
{
    struct {
        uint32_t *items;
        size_t count, capacity;
    } offsets = {0};
    const uint8_t *text = source->text.data;
    size_t size_B = ZS_MIN(source->text.size_B, (size_t)UINT32_MAX - 1), at = 0;
    while (at < size_B) {
        if (!ZS_VEC_PUSH(&offsets, (uint32_t)at))
            goto no_memory;
        const uint8_t *end = memchr(text + at, '\n', size_B - at);
        at = end ? (size_t)(end - text) + 1 : size_B;
    }
    if (!ZS_VEC_PUSH(&offsets, (uint32_t)size_B))
        goto no_memory;
    source->line_offsets = offsets.items;
    source->line_count = (uint32_t)offsets.count - 1;
    return 0;
no_memory:
    free(offsets.items);
    return -ENOMEM;
}

static void check_md5(struct zs_sources *sources, const struct zs_dwarf_file *file,
                      struct zs_source *source)
{
    uint8_t md5[16];
    if (!file->has_md5 || !source->found)
        return;
    zs_md5(source->text, md5);
    if (memcmp(md5, file->md5, sizeof(md5)) != 0)
        set_note(sources, source,
                 "the source is not the one that was compiled (its checksum differs): lines may "
                 "not match");
    else
        source->note = NULL; /* newer, but the same */
}

const struct zs_source *zs_sources_get(struct zs_sources *sources, const struct zs_dwarf_file *file)
{
    for (size_t i = 0; i < sources->entries.count; i++)
        if (strcmp(sources->entries.items[i]->source.path, file->path) == 0)
            return &sources->entries.items[i]->source;
    struct source_entry *entry = ZS_ARENA_NEW(&sources->arena, struct source_entry);
    if (!entry || !ZS_VEC_PUSH(&sources->entries, entry))
        return NULL;
    entry->source.path = zs_arena_strndup(&sources->arena, file->path, strlen(file->path));
    if (!entry->source.path)
        return NULL;
    find_text(sources, entry);
    check_md5(sources, file, &entry->source);
    if (index_lines(&entry->source))
        return NULL;
    return &entry->source;
}

struct zs_span zs_source_line(const struct zs_source *source, uint32_t line)
{
    if (line == 0 || line > source->line_count)
        return (struct zs_span){0};
    size_t begin_B = source->line_offsets[line - 1], end_B = source->line_offsets[line];
    const uint8_t *text = source->text.data;
    while (end_B > begin_B && (text[end_B - 1] == '\n' || text[end_B - 1] == '\r'))
        end_B--;
    return zs_span_make(text + begin_B, end_B - begin_B);
}
