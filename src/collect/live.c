/* SPDX-License-Identifier: MIT */
#include "collect/live.h"

#include "base/filter.h"
#include "base/number.h"
#include "calls/codec.h"
#include "collect/collect.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { LINE_MAX_B = 4096 };

static bool is_same(const struct zs_live *live, int fd)
{
    struct stat st;
    return fd >= 0 && !fstat(fd, &st) && st.st_dev == live->device && st.st_ino == live->inode;
}

/* A pipe without a reader must not hold the application up, one that is full may. */
static int open_path(const char *path, int more_flags)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | more_flags, 0666);
    int flags = fd >= 0 ? fcntl(fd, F_GETFL) : -1;
    if (flags >= 0)
        fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
    return fd;
}

/* The path as it is good for wherever the application goes. */
static bool take_path(struct zs_live *live, const char *path)
{
    char here[ZS_COLLECT_PATH_CHARS];
    bool is_relative = path[0] != '/' && getcwd(here, sizeof(here));
    int n = snprintf(live->path, sizeof(live->path), "%s%s%s", is_relative ? here : "",
                     is_relative ? "/" : "", path);
    return n > 0 && (size_t)n < sizeof(live->path);
}

static uint64_t start_ns_of_application(void)
{
    const char *text = getenv(ZS_ENV_COLLECT_START);
    uint64_t start_ns = text ? strtoull(text, NULL, 10) : 0;
    return start_ns ? start_ns : zs_collect_now_ns();
}

void zs_live_init(struct zs_live *live, struct zs_collector *c)
{
    const char *path = getenv(ZS_ENV_COLLECT_LIVE);
    struct stat st;
    *live = (struct zs_live){.zero_ns = start_ns_of_application()};
    if (!path || !path[0])
        return;
    live->to_stderr = !strcmp(path, "-");
    int fd = STDERR_FILENO;
    if (live->to_stderr) {
        if (!isatty(fd) || ttyname_r(fd, live->path, sizeof(live->path)))
            live->path[0] = '\0';
    } else {
        errno = ENAMETOOLONG;
        fd = take_path(live, path) ? open_path(live->path, O_CREAT) : -1;
        if (fd < 0)
            zs_session_note(c, "no lines of calls: %s cannot be opened: %s", path, strerror(errno));
    }
    live->is_on = fd >= 0 && !fstat(fd, &st);
    if (live->is_on) {
        live->device = st.st_dev;
        live->inode = st.st_ino;
    }
    if (fd >= 0 && fd != STDERR_FILENO)
        close(fd);
}

static ssize_t write_line(const struct zs_live *live, const char *line, size_t size_B)
{
    if (live->to_stderr && is_same(live, STDERR_FILENO))
        return write(STDERR_FILENO, line, size_B);
    int fd = live->path[0] ? open_path(live->path, 0) : -1;
    ssize_t n = -1;
    if (is_same(live, fd))
        n = write(fd, line, size_B);
    else
        errno = ESTALE;
    int error = errno;
    if (fd >= 0)
        close(fd);
    errno = error;
    return n;
}

void zs_live_write(struct zs_live *live, struct zs_collector *c, const struct zs_api_event *event,
                   uint64_t start_ns, uint64_t end_ns)
{
    const struct timespec zero = {0};
    struct zs_collect_guard guard;
    char line[LINE_MAX_B];
    sigset_t pipe_signal, old, pending;
    zs_guard_enter(&guard);
    int n = zs_number_format(line, sizeof(line), "%12.6f %7ld ",
                             (double)(int64_t)(start_ns - live->zero_ns) / 1e9,
                             (long)syscall(SYS_gettid));
    size_t at = (size_t)n;
    size_t length = zs_api_event_format(event, line + at, sizeof(line) - at - 40);
    at += ZS_MIN(length, sizeof(line) - at - 41);
    n = zs_number_format(line + at, sizeof(line) - at, " <%.3f us>\n",
                         (double)(end_ns - start_ns) / 1e3);
    at += (size_t)n;
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    bool was_pending = !sigpending(&pending) && sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_signal, &old);
    ssize_t written = write_line(live, line, at);
    if (written != (ssize_t)at) {
        int error = written < 0 ? errno : ENOSPC;
        if (error == EPIPE && !was_pending)
            sigtimedwait(&pipe_signal, NULL, &zero);
        if (!atomic_exchange(&live->told, true))
            zs_session_note(c, "lines of calls are lost: %s can no longer be written: %s",
                            live->to_stderr ? "standard error" : live->path, strerror(error));
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    zs_guard_leave(&guard);
}

/* Marks the calls whose names match one of the lines of `patterns`. */
static void mark(const char *patterns, bool value, bool *marks)
{
    for (const char *line = patterns; *line;) {
        size_t length = strcspn(line, "\n");
        char text[512];
        const char *pattern = text;
        struct zs_filter filter;
        snprintf(text, sizeof(text), "%.*s", (int)ZS_MIN(length, sizeof(text) - 1), line);
        line += length + (line[length] == '\n');
        if (zs_filter_compile(&filter, &pattern, 1, NULL))
            continue; /* the command has refused it */
        for (uint32_t i = 0; i < zs_api_call_count(); i++)
            if (zs_filter_matches(&filter, zs_api_call_name(i)))
                marks[i] = value;
        zs_filter_fini(&filter);
    }
}

bool *zs_live_skipped(void)
{
    const char *include = getenv(ZS_ENV_COLLECT_INCLUDE), *exclude = getenv(ZS_ENV_COLLECT_EXCLUDE);
    bool has_include = include && include[0], has_exclude = exclude && exclude[0];
    bool *skipped =
        has_include || has_exclude ? calloc(zs_api_call_count(), sizeof(*skipped)) : NULL;
    if (!skipped)
        return NULL;
    for (uint32_t i = 0; i < zs_api_call_count(); i++)
        skipped[i] = has_include;
    if (has_include)
        mark(include, false, skipped);
    if (has_exclude)
        mark(exclude, true, skipped);
    return skipped;
}
