/* SPDX-License-Identifier: MIT */
#include "collect/live.h"

#include "base/filter.h"
#include "collect/collect.h"
#include "layer/codec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { FD_MIN = 100, LINE_MAX_B = 4096 };

int zs_live_open(void)
{
    const char *path = getenv(ZS_ENV_COLLECT_LIVE);
    if (!path || !path[0])
        return -1;
    int fd = strcmp(path, "-") != 0
                 ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0666)
                 : STDERR_FILENO;
    if (fd < 0)
        return -1;
    /* out of the way of applications that count on small numbers, or close them all */
    int far = fcntl(fd, F_DUPFD_CLOEXEC, FD_MIN);
    if (fd != STDERR_FILENO)
        close(fd);
    return far;
}

uint64_t zs_live_start_ns(void)
{
    const char *text = getenv(ZS_ENV_COLLECT_START);
    uint64_t start_ns = text ? strtoull(text, NULL, 10) : 0;
    return start_ns ? start_ns : zs_collect_now_ns();
}

void zs_live_write(int fd, uint64_t zero_ns, const struct zs_api_event *event, uint64_t start_ns,
                   uint64_t end_ns)
{
    const struct timespec zero = {0};
    char line[LINE_MAX_B];
    sigset_t pipe_signal, old, pending;
    int n = snprintf(line, sizeof(line), "%12.6f %7ld ",
                     (double)(int64_t)(start_ns - zero_ns) / 1e9, (long)syscall(SYS_gettid));
    size_t at = (size_t)n;
    size_t length = zs_api_event_format(event, line + at, sizeof(line) - at - 40);
    at += ZS_MIN(length, sizeof(line) - at - 41);
    n = snprintf(line + at, sizeof(line) - at, " <%.3f us>\n", (double)(end_ns - start_ns) / 1e3);
    at += (size_t)n;
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    bool was_pending = !sigpending(&pending) && sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_signal, &old);
    if (write(fd, line, at) < 0 && errno == EPIPE && !was_pending)
        sigtimedwait(&pipe_signal, NULL, &zero);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
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
