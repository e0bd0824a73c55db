/* SPDX-License-Identifier: MIT */
/* The source files of a kernel: each path once, whatever units and directories name it. */
#include "base/name_map.h"
#include "base/path.h"
#include "dwarf/dwarf_priv.h"

#include <errno.h>
#include <stdlib.h>

enum { PATH_MAX_B = 4096, FILES_MAX = 0xfffe };

struct zs_file_table {
    struct zs_arena arena;
    struct {
        struct zs_dwarf_file *items;
        size_t count, capacity;
    } files;
    struct zs_name_map by_path;
    char path[PATH_MAX_B]; /* of the file being added: threads that ask may have little stack */
};

int zs_file_table_open(size_t limit_B, struct zs_file_table **ret_table)
{
    struct zs_file_table *table = calloc(1, sizeof(*table));
    if (!table)
        return -ENOMEM;
    zs_arena_init(&table->arena, limit_B);
    *ret_table = table;
    return 0;
}

void zs_file_table_close(struct zs_file_table *table)
{
    if (!table)
        return;
    zs_arena_fini(&table->arena);
    free(table->files.items);
    zs_name_map_fini(&table->by_path);
    free(table);
}

/* The root of an absolute part becomes the path: "/", "C:/", the two backslashes before a server. A
 * backslash alone goes back to the root of the drive. */
static void take_root(char *path, size_t *length, const char *part)
{
    if (zs_path_is_windows(part)) {
        *length = part[1] == ':' ? 3 : 2;
        memcpy(path, part, 2);
        path[2] = '/';
    } else if (part[0] == '/') {
        path[0] = '/';
        *length = 1;
    } else if (part[0] == '\\' && zs_path_is_windows(path) && path[1] == ':') {
        *length = 3;
    }
    path[*length] = '\0';
}

/* path becomes path/part, or part alone when that is absolute. "./" parts are taken out, so that
 * "/src/./a.h" and "/src/a.h" are one file, as are C:\src\a.h and C:/src/a.h; what does not fit is
 * left out. */
static void append_part(char *path, size_t *length, const char *part)
{
    take_root(path, length, part);
    if (zs_path_is_windows(part))
        part += 2;
    const char *separators = zs_path_separators(path);
    while (*part) {
        size_t n = strcspn(part, separators);
        bool skip = n == 0 || (n == 1 && part[0] == '.');
        if (!skip && n + 2 < PATH_MAX_B - *length) {
            if (*length && !strchr(separators, path[*length - 1]))
                path[(*length)++] = '/';
            memcpy(path + *length, part, n);
            *length += n;
        }
        part += n;
        part += *part != '\0';
    }
    path[*length] = '\0';
}

uint32_t zs_file_table_add(struct zs_file_table *table, const char *comp_dir, const char *directory,
                           const char *name, const uint8_t *md5)
{
    char *path = table->path;
    size_t length = 0;
    path[0] = '\0';
    append_part(path, &length, comp_dir);
    append_part(path, &length, directory);
    append_part(path, &length, name);
    uint32_t index = zs_name_map_get(&table->by_path, path);
    if (index != ZS_NAME_MAP_NONE)
        return index;
    struct zs_dwarf_file file = {.path = zs_arena_strndup(&table->arena, path, length)};
    if (md5) {
        file.has_md5 = true;
        memcpy(file.md5, md5, sizeof(file.md5));
    }
    index = (uint32_t)table->files.count;
    if (index >= FILES_MAX || !file.path || !ZS_VEC_PUSH(&table->files, file))
        return ZS_NO_INDEX;
    if (!zs_name_map_put(&table->by_path, file.path, index)) {
        table->files.count--;
        return ZS_NO_INDEX;
    }
    return index;
}

const struct zs_dwarf_file *zs_file_table_files(const struct zs_file_table *table,
                                                uint32_t *ret_count)
{
    *ret_count = (uint32_t)table->files.count;
    return table->files.items;
}
