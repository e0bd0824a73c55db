/* SPDX-License-Identifier: MIT */
/*
 * Files and folders that are only here. All of /dev/dri is ours; of /sys what belongs to our
 * devices, the rest of it is the system's. Folders of /sys that have entries of both show the
 * system's.
 */
#include "drm/drm_priv.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct row {
    const char *path, *text;
    bool is_link;
} rows[] = {
#define ZS_DRM_FILE(path, text)   {path, text, false},
#define ZS_DRM_LINK(path, target) {path, target, true},
#include "drm/paths.def"
#undef ZS_DRM_FILE
#undef ZS_DRM_LINK
};

enum { PATH_B = sizeof(((struct zs_drm_path *)0)->path), LINKS_MAX = 8 };

/* ---- rows of a node ----------------------------------------------------------------------------
 */

static void word(const struct zs_drm_node *node, const char *name, size_t length, char ret[32])
{
    const struct {
        const char *name, *format;
        unsigned value;
    } words[] = {{"minor", "%u", ZS_DRM_RENDER_MINOR + node->index},
                 {"card", "%u", node->index},
                 {"device", "0x%04x", node->model->device_id},
                 {"revision", "0x%02x", node->model->revision},
                 {"MHz", "%u", node->model->core_clock_MHz}};
    snprintf(ret, 32, "%s", node->bdf);
    for (size_t i = 0; i < ZS_ARRAY_LEN(words); i++) {
        if (strlen(words[i].name) == length && !memcmp(words[i].name, name, length)) {
            _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wformat-nonliteral\"")
                snprintf(ret, 32, words[i].format, words[i].value);
            _Pragma("GCC diagnostic pop")
        }
    }
}

/* Text with its words in braces written out. */
static void expand(const struct zs_drm_node *node, const char *text, char *ret, size_t room_B)
{
    size_t at = 0;
    while (*text && at + 1 < room_B) {
        const char *end = *text == '{' ? strchr(text, '}') : NULL;
        if (!end) {
            ret[at++] = *text++;
            continue;
        }
        char value[32];
        word(node, text + 1, (size_t)(end - text - 1), value);
        int length = snprintf(ret + at, room_B - at, "%s", value);
        at += ZS_MIN((size_t)length, room_B - at - 1);
        text = end + 1;
    }
    ret[at] = '\0';
}

/* ---- normal paths ------------------------------------------------------------------------------
 */

/* Put a name behind a path: "..", "." and empty ones as they are meant. false: no room. */
static bool append(char path[PATH_B], const char *name, size_t length)
{
    size_t end = strlen(path);
    if (!length || (length == 1 && name[0] == '.'))
        return true;
    if (length == 2 && !memcmp(name, "..", 2)) {
        char *slash = strrchr(path, '/');
        if (slash)
            *slash = '\0';
        return true;
    }
    if (end + 1 + length + 1 > PATH_B)
        return false;
    path[end] = '/';
    memcpy(path + end + 1, name, length);
    path[end + 1 + length] = '\0';
    return true;
}

/* The row of a path, or one below it. */
static const struct row *find_row(const char *path, uint32_t *ret_node, bool *ret_below)
{
    size_t length = strlen(path);
    for (uint32_t n = 0; n < zs_drm_node_count(); n++) {
        for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++) {
            char full[PATH_B];
            expand(zs_drm_node(n), rows[i].path, full, sizeof(full));
            if (strncmp(full, path, length) || (full[length] && full[length] != '/'))
                continue;
            *ret_node = n;
            *ret_below = full[length] != '\0';
            return &rows[i];
        }
    }
    return NULL;
}

/* "/dev/dri/renderD128", "/dev/dri/card0" */
static bool is_node(const char *path, uint32_t *ret_node, uint32_t *ret_minor)
{
    unsigned minor;
    char more;
    if (sscanf(path, "/dev/dri/renderD%u%c", &minor, &more) == 1 && minor >= ZS_DRM_RENDER_MINOR)
        *ret_node = minor - ZS_DRM_RENDER_MINOR;
    else if (sscanf(path, "/dev/dri/card%u%c", &minor, &more) == 1)
        *ret_node = minor;
    else
        return false;
    *ret_minor = minor;
    return *ret_node < zs_drm_node_count();
}

/* Folders that the system has, too: what it says of them is right. */
static bool is_shared(const char *path)
{
    static const char *const shared[] = {"",
                                         "/sys",
                                         "/sys/dev",
                                         "/sys/bus",
                                         "/sys/bus/pci",
                                         "/sys/bus/pci/devices",
                                         "/sys/dev/char",
                                         "/sys/devices",
                                         "/sys/devices/pci0000:00",
                                         "/sys/class"};
    for (size_t i = 0; i < ZS_ARRAY_LEN(shared); i++) {
        if (!strcmp(path, shared[i]))
            return true;
    }
    return false;
}

/* What is at a path without links before its last part. */
static int look(const char *path, struct zs_drm_path *ret)
{
    bool below = false;
    *ret = (struct zs_drm_path){.kind = ZS_DRM_FOLDER};
    snprintf(ret->path, sizeof(ret->path), "%s", path);
    if (is_node(path, &ret->node, &ret->minor)) {
        ret->kind = ZS_DRM_NODE;
        return 0;
    }
    const struct row *row = is_shared(path) ? NULL : find_row(path, &ret->node, &below);
    if (!row)
        return !strncmp(path, "/dev/dri", 8) && (!path[8] || path[8] == '/')
                   ? (path[8] && strcmp(path, "/dev/dri/by-path") ? -ENOENT : 0)
                   : 1;
    if (below)
        return 0;
    ret->kind = ZS_DRM_TEXT;
    const struct zs_drm_node *node = zs_drm_node(ret->node);
    if (row->is_link) {
        expand(node, row->text, ret->link, sizeof(ret->link));
        return 0;
    }
    expand(node, row->text, ret->text, sizeof(ret->text) - 1);
    strcat(ret->text, "\n");
    return 0;
}

/* Part by part, links followed; those of the last part if `follow`. */
static int walk(const char *path, bool follow, uint32_t links, struct zs_drm_path *ret)
{
    char done[PATH_B] = "";
    int found = 1;
    for (const char *at = path; *at;) {
        at += strspn(at, "/");
        size_t length = strcspn(at, "/");
        bool is_last = !at[length + strspn(at + length, "/")];
        if (!append(done, at, length))
            return 1;
        at += length;
        found = look(done, ret);
        if (found < 0)
            return found;
        if (found || !ret->link[0] || (is_last && !follow))
            continue;
        char target[2 * PATH_B];
        char *slash = strrchr(done, '/');
        snprintf(target, sizeof(target), "%.*s/%s%s", (int)(slash ? slash - done : 0), done,
                 ret->link, at);
        return links == LINKS_MAX ? -ELOOP : walk(target, follow, links + 1, ret);
    }
    return found;
}

int zs_drm_path_find(const char *path, bool follow, struct zs_drm_path *ret)
{
    if (!path || (strncmp(path, "/sys/", 5) && strncmp(path, "/dev/dri", 8)) ||
        strlen(path) >= PATH_B || !zs_drm_node_count())
        return 1;
    return walk(path, follow, 0, ret);
}

/* ---- folders -----------------------------------------------------------------------------------
 */

/* Entries may come from several rows: each counts where it is met first. */
static bool is_first(const struct zs_drm_path *folder, uint32_t node, size_t row, const char *name)
{
    size_t length = strlen(folder->path);
    for (uint32_t n = 0; n <= node; n++) {
        for (size_t i = 0; i < (n == node ? row : ZS_ARRAY_LEN(rows)); i++) {
            char full[PATH_B];
            expand(zs_drm_node(n), rows[i].path, full, sizeof(full));
            if (strncmp(full, folder->path, length) || full[length] != '/')
                continue;
            size_t part = strcspn(full + length + 1, "/");
            if (strlen(name) == part && !memcmp(full + length + 1, name, part))
                return false;
        }
    }
    return true;
}

static bool entry_of_rows(const struct zs_drm_path *folder, uint32_t index, char ret_name[64],
                          unsigned char *ret_type)
{
    size_t length = strlen(folder->path);
    for (uint32_t n = 0; n < zs_drm_node_count(); n++) {
        for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++) {
            char full[PATH_B];
            expand(zs_drm_node(n), rows[i].path, full, sizeof(full));
            if (strncmp(full, folder->path, length) || full[length] != '/')
                continue;
            size_t part = strcspn(full + length + 1, "/");
            bool is_whole = !full[length + 1 + part];
            snprintf(ret_name, 64, "%.*s", (int)part, full + length + 1);
            if (!is_first(folder, n, i, ret_name) || index--)
                continue;
            *ret_type = !is_whole ? DT_DIR : rows[i].is_link ? DT_LNK : DT_REG;
            return true;
        }
    }
    return false;
}

bool zs_drm_path_entry(const struct zs_drm_path *folder, uint32_t index, char ret_name[64],
                       unsigned char *ret_type)
{
    if (index < 2) {
        snprintf(ret_name, 64, "%s", index ? ".." : ".");
        *ret_type = DT_DIR;
        return true;
    }
    index -= 2;
    if (!strcmp(folder->path, "/dev/dri")) {
        uint32_t count = zs_drm_node_count();
        *ret_type = DT_CHR;
        if (index < count)
            snprintf(ret_name, 64, "card%u", (unsigned)index);
        else if (index < 2 * count)
            snprintf(ret_name, 64, "renderD%u", (unsigned)(ZS_DRM_RENDER_MINOR + index - count));
        if (index < 2 * count)
            return true;
        index -= 2 * count;
    }
    return entry_of_rows(folder, index, ret_name, ret_type);
}
