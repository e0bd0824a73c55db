/* SPDX-License-Identifier: MIT */
#include "base/path.h"
#include "base/os.h"

#include <string.h>

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_slash(char c)
{
    return c == '/' || c == '\\';
}

bool zs_path_is_windows(const char *path)
{
    return (is_letter(path[0]) && path[1] == ':' && is_slash(path[2])) ||
           (path[0] == '\\' && path[1] == '\\');
}

const char *zs_path_separators(const char *path)
{
    return zs_path_is_windows(path) ? "/\\" : "/";
}

static const char *last_part(const char *path, const char *separators)
{
    const char *last = path;
    for (const char *at = path; *(at += strcspn(at, separators));)
        last = ++at;
    return *last ? last : path;
}

const char *zs_path_base_name(const char *path)
{
    return last_part(path, zs_path_separators(path));
}

const char *zs_path_own_base_name(const char *path)
{
    return last_part(path, zs_os_has_drives() ? "/\\" : "/");
}

/* Equal as parts of a path, of Windows or not. */
static bool same(char a, char b, bool windows)
{
    if (!windows || a == b)
        return a == b;
    return (is_slash(a) && is_slash(b)) ||
           (is_letter(a) && is_letter(b) && (a | 0x20) == (b | 0x20));
}

static bool same_text(const char *a, const char *b, size_t count, bool windows)
{
    for (size_t i = 0; i < count; i++)
        if (!same(a[i], b[i], windows))
            return false;
    return true;
}

static bool separates(char c, bool windows)
{
    return c == '/' || (windows && c == '\\');
}

const char *zs_path_below(const char *path, const char *folder)
{
    bool windows = zs_path_is_windows(path);
    size_t n = strlen(folder);
    while (n && separates(folder[n - 1], windows))
        n--;
    if ((windows && n == 0) || strlen(path) < n || !same_text(path, folder, n, windows))
        return NULL;
    return path[n] == '\0' || separates(path[n], windows) ? path + n : NULL;
}

bool zs_path_ends_with(const char *path, const char *end)
{
    bool windows = zs_path_is_windows(path);
    size_t n = strlen(path), m = strlen(end);
    return m <= n && same_text(path + n - m, end, m, windows) &&
           (m == n || separates(path[n - m - 1], windows));
}
