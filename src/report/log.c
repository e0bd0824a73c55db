/* SPDX-License-Identifier: MIT */
#include "report/log.h"

#include "record/calls.h"
#include "record/traces.h"

#include <errno.h>
#include <inttypes.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LOG_FILES_OPEN_MAX = 512 };

/* One thread's calls and the next of them. */
struct stream {
    struct zs_calls calls;
    struct zs_call next;
    int fd;
};

struct log {
    const struct zs_log_options *options;
    regex_t *filters;
    size_t filters_ready;
    struct stream **streams; /* a heap: the earliest call first */
    size_t count;
    uint64_t first_ns;
    uint64_t lines;
};

static bool earlier(const struct stream *a, const struct stream *b)
{
    return a->next.start_ns < b->next.start_ns;
}

static void sift_down(struct log *log, size_t i)
{
    for (;;) {
        size_t least = i, left = 2 * i + 1;
        for (size_t child = left; child < left + 2 && child < log->count; child++)
            if (earlier(log->streams[child], log->streams[least]))
                least = child;
        if (least == i)
            return;
        struct stream *swap = log->streams[i];
        log->streams[i] = log->streams[least];
        log->streams[least] = swap;
        i = least;
    }
}

static void stream_free(struct stream *s)
{
    zs_calls_close(&s->calls);
    close(s->fd);
    free(s);
}

static int stream_add(struct log *log, int fd)
{
    struct stream *s = calloc(1, sizeof(*s));
    if (!s) {
        close(fd);
        return -ENOMEM;
    }
    s->fd = fd;
    int error = zs_calls_open_fd(&s->calls, fd);
    if (error || !zs_calls_next(&s->calls, &s->next)) {
        stream_free(s);
        return error;
    }
    log->streams[log->count++] = s;
    return 0;
}

static int open_streams(struct log *log, const char *recording, struct zs_diag *diag)
{
    struct zs_traces traces;
    int error = zs_traces_open(recording, &traces, diag);
    if (error)
        return error;
    if (traces.count > LOG_FILES_OPEN_MAX)
        error = zs_diag_set(diag, -E2BIG, ZS_DIAG_NO_OFFSET,
                            "%zu trace files; a log can be made of at most %d", traces.count,
                            LOG_FILES_OPEN_MAX);
    log->streams = calloc(traces.count + 1, sizeof(*log->streams));
    if (!log->streams)
        error = -ENOMEM;
    for (size_t i = 0; i < traces.count && !error; i++) {
        int fd = zs_traces_open_file(&traces, i, NULL);
        if (fd >= 0)
            error = stream_add(log, fd);
    }
    zs_traces_close(&traces);
    for (size_t i = log->count; i-- > 0;)
        sift_down(log, i);
    if (log->count)
        log->first_ns = log->streams[0]->next.start_ns;
    return error;
}

static bool wants(const struct log *log, const struct zs_call *call)
{
    if (log->options->failed_only && (!call->finished || call->result == 0 || call->result == 1))
        return false;
    char name[128];
    size_t length_B = ZS_MIN(call->name.size_B, sizeof(name) - 1);
    if (length_B)
        memcpy(name, call->name.data, length_B);
    name[length_B] = '\0';
    for (size_t i = 0; i < log->options->filter_count; i++)
        if (!regexec(&log->filters[i], name, 0, NULL, 0))
            return true;
    return log->options->filter_count == 0;
}

static void put_result(const struct log *log, const struct zs_call *call, struct zs_buf *out)
{
    const char *red = log->options->color ? "\033[31m" : "";
    const char *plain = log->options->color ? "\033[0m" : "";
    if (!call->finished) {
        zs_buf_printf(out, " %s(never returned)%s", red, plain);
        return;
    }
    const char *name = zs_api_enum_name("ze_result_t", call->result);
    if (call->result == 0 || call->result == 1)
        red = "";
    if (name)
        zs_buf_printf(out, " = %s%s%s", red, name, *red ? plain : "");
    else
        zs_buf_printf(out, " = %s0x%x%s", red, (unsigned)call->result, *red ? plain : "");
    zs_buf_printf(out, " <%" PRIu64 ".%03u us>", call->duration_ns / 1000,
                  (unsigned)(call->duration_ns % 1000));
}

static void put_line(const struct log *log, struct stream *s, struct zs_buf *out)
{
    const char *dim = log->options->color ? "\033[2m" : "";
    const char *plain = log->options->color ? "\033[0m" : "";
    uint64_t ns = s->next.start_ns - (log->options->absolute ? 0 : log->first_ns);
    char name[128];
    size_t length_B = ZS_MIN(s->next.name.size_B, sizeof(name) - 1);
    if (length_B)
        memcpy(name, s->next.name.data, length_B);
    name[length_B] = '\0';
    zs_buf_printf(out, "%s%6" PRIu64 ".%09u %7u%s ", dim, ns / 1000000000,
                  (unsigned)(ns % 1000000000), s->calls.tid, plain);
    zs_buf_pad(out, ' ', (size_t)s->next.depth * 2);
    zs_api_format_call(out, name, &s->calls.values);
    put_result(log, &s->next, out);
    zs_buf_putc(out, '\n');
}

static int write_lines(struct log *log, zs_log_line line, void *user)
{
    struct zs_buf out = {0};
    int status = 0;
    while (log->count && !status) {
        struct stream *s = log->streams[0];
        if (wants(log, &s->next)) {
            out.size_B = 0;
            put_line(log, s, &out);
            status = out.error ? out.error : line(user, zs_buf_span(&out));
            if (++log->lines == log->options->limit)
                break;
        }
        if (!zs_calls_next(&s->calls, &s->next)) {
            stream_free(s);
            log->streams[0] = log->streams[--log->count];
        }
        sift_down(log, 0);
    }
    zs_buf_fini(&out);
    return status;
}

static int compile_filters(struct log *log, struct zs_diag *diag)
{
    log->filters = calloc(log->options->filter_count + 1, sizeof(*log->filters));
    if (!log->filters)
        return -ENOMEM;
    for (; log->filters_ready < log->options->filter_count; log->filters_ready++) {
        const char *pattern = log->options->filters[log->filters_ready];
        regex_t *regex = &log->filters[log->filters_ready];
        int code = regcomp(regex, pattern, REG_EXTENDED | REG_NOSUB);
        char text[128];
        if (!code)
            continue;
        regerror(code, regex, text, sizeof(text));
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "'%s': %s", pattern, text);
    }
    return 0;
}

int zs_log_write(const char *recording, const struct zs_log_options *options, zs_log_line line,
                 void *user, struct zs_diag *diag)
{
    struct log log = {.options = options};
    int error = compile_filters(&log, diag);
    if (!error)
        error = open_streams(&log, recording, diag);
    if (!error)
        error = write_lines(&log, line, user);
    while (log.count)
        stream_free(log.streams[--log.count]);
    while (log.filters_ready)
        regfree(&log.filters[--log.filters_ready]);
    free(log.streams);
    free(log.filters);
    return error;
}
