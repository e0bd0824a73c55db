/* SPDX-License-Identifier: MIT */
#include "cli/debug/typed.h"

#include "base/buf.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_MAX_B = 1 << 20, LINE_MAX_B = 4096 };

static const char name[] = "debug_history", new_name[] = "debug_history.new";

static bool is_ours(int fd, mode_t type)
{
    struct stat st;
    return !fstat(fd, &st) && st.st_uid == geteuid() && (st.st_mode & S_IFMT) == type;
}

/* Under sudo a home may be somebody else's. */
static bool may_be_in(int fd)
{
    struct stat st;
    return is_ours(fd, S_IFDIR) || (!fstat(fd, &st) && (st.st_mode & S_ISVTX));
}

/* A folder in another, which is closed; -1: there is none. */
static int enter(int parent, const char *folder, bool make)
{
    if (parent == -1)
        return -1;
    if (make)
        (void)mkdirat(parent, folder, 0700);
    int fd = openat(parent, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (parent != AT_FDCWD)
        close(parent);
    if (fd >= 0 && !may_be_in(fd)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static int open_folder(void)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    int parent = -1;
    if (state && state[0] == '/')
        parent = enter(AT_FDCWD, state, true);
    else if (home && home[0] == '/')
        parent = enter(enter(enter(AT_FDCWD, home, false), ".local", true), "state", true);
    int folder = enter(parent, "zescope", true);
    if (folder >= 0 && !is_ours(folder, S_IFDIR)) {
        close(folder);
        folder = -1;
    }
    return folder;
}

static int open_file(int folder, const char *which, int flags)
{
    int fd =
        openat(folder, which,
               O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags, 0600);
    if (fd >= 0 && (!is_ours(fd, S_IFREG) || fchmod(fd, 0600))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* What a terminal would obey is no line that anybody typed. */
static bool is_line(const char *text, size_t size_B)
{
    for (size_t i = 0; i < size_B; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
            return false;
    return size_B > 0 && size_B <= LINE_MAX_B;
}

/* The lines that stay: the last ones. */
static void read_lines(struct zs_span text, struct zs_buf *ret_kept, bool *ret_all)
{
    const char *begin = (const char *)text.data, *end = begin + text.size_B, *first = end;
    size_t count = 0;
    while (first > begin && count < ZS_TYPED_LINES) {
        const char *line = first - 1;
        while (line > begin && line[-1] != '\n')
            line--;
        first = line;
        count++;
    }
    *ret_all = first == begin;
    while (first < end) {
        const char *newline = memchr(first, '\n', (size_t)(end - first));
        size_t size_B = (size_t)((newline ? newline : end) - first);
        if (is_line(first, size_B)) {
            zs_buf_append(ret_kept, first, size_B);
            zs_buf_putc(ret_kept, '\n');
        }
        first += size_B + 1;
    }
}

static void put_lines(const struct zs_buf *lines, void (*put)(void *user, const char *line),
                      void *user)
{
    char *own = strndup((const char *)lines->data, lines->size_B), *rest = own, *line;
    while (own && (line = strsep(&rest, "\n")))
        if (*line)
            put(user, line);
    free(own);
}

/* The file gets these lines alone. */
static void write_anew(int folder, const struct zs_buf *lines)
{
    (void)unlinkat(folder, new_name, 0);
    int fd = open_file(folder, new_name, O_EXCL);
    if (fd < 0)
        return;
    bool done = write(fd, lines->data, lines->size_B) == (ssize_t)lines->size_B;
    close(fd);
    if (!done || renameat(folder, new_name, folder, name))
        (void)unlinkat(folder, new_name, 0);
}

void zs_typed_open(struct zs_typed *t, void (*put)(void *user, const char *line), void *user)
{
    struct zs_diag diag = {.offset_B = ZS_DIAG_NO_OFFSET};
    struct zs_file file = {0};
    struct zs_buf lines = {0};
    bool all = true;
    int folder = put ? open_folder() : -1;
    *t = (struct zs_typed){.fd = -1};
    if (folder < 0)
        return;
    /* one that is there and cannot be read, or is too large, is not touched */
    int error = zs_file_read_at(folder, name, FILE_MAX_B, &file, &diag);
    if (!error && file.span.size_B)
        read_lines(file.span, &lines, &all);
    zs_file_close(&file);
    if (!lines.error && lines.size_B)
        put_lines(&lines, put, user);
    if (!all && !lines.error)
        write_anew(folder, &lines);
    if (!error || error == -ENOENT)
        t->fd = open_file(folder, name, 0);
    t->size_B = lines.size_B;
    zs_buf_fini(&lines);
    close(folder);
}

void zs_typed_add(struct zs_typed *t, const char *line)
{
    struct zs_buf out = {0};
    size_t size_B = strlen(line);
    if (t->fd < 0 || !is_line(line, size_B) || t->size_B + size_B >= FILE_MAX_B ||
        (t->last && !strcmp(t->last, line)))
        return;
    zs_buf_append(&out, line, size_B);
    zs_buf_putc(&out, '\n');
    if (out.error || write(t->fd, out.data, out.size_B) != (ssize_t)out.size_B) {
        close(t->fd);
        t->fd = -1;
    }
    t->size_B += out.size_B;
    zs_buf_fini(&out);
    free(t->last);
    t->last = strdup(line);
}

void zs_typed_close(struct zs_typed *t)
{
    if (t->fd >= 0)
        close(t->fd);
    free(t->last);
    *t = (struct zs_typed){.fd = -1};
}
