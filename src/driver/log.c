/* SPDX-License-Identifier: MIT */
#include "driver/log.h"

#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    pthread_once_t once;
    enum zs_log_level level;
    int fd;
} sink = {.once = PTHREAD_ONCE_INIT, .level = ZS_LOG_ERROR, .fd = STDERR_FILENO};

static void write_line(int fd, const char *level, const char *format, va_list args)
{
    struct zs_buf line = {0};
    zs_buf_printf(&line, "zescope driver: %s: ", level);
    zs_buf_vprintf(&line, format, args);
    zs_buf_putc(&line, '\n');
    const uint8_t *at = line.data;
    size_t left_B = line.error ? 0 : line.size_B;
    while (left_B > 0) {
        ssize_t wrote_B = write(fd, at, left_B);
        if (wrote_B <= 0)
            break;
        at += wrote_B;
        left_B -= (size_t)wrote_B;
    }
    zs_buf_fini(&line);
}

static void ZS_PRINTF(1, 2) warn_stderr(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    write_line(STDERR_FILENO, "warning", format, args);
    va_end(args);
}

static int open_file(const char *path)
{
    struct zs_buf name = {0};
    for (const char *c = path; *c; c++) {
        if (c[0] == '%' && c[1] == 'p') {
            zs_buf_printf(&name, "%d", (int)getpid());
            c++;
        } else {
            zs_buf_putc(&name, *c);
        }
    }
    int fd = open(zs_buf_cstr(&name), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    int error = errno;
    zs_buf_fini(&name);
    errno = error;
    return fd;
}

static void open_sink(void)
{
    static const char *const names[] = {"off", "error", "warn", "info", "debug"};
    const char *text = secure_getenv("ZESCOPE_LOG");
    if (!text || !*text)
        return;
    size_t length = strcspn(text, ":");
    bool known = false;
    for (size_t i = 0; i < ZS_ARRAY_LEN(names); i++) {
        if (strlen(names[i]) == length && strncmp(names[i], text, length) == 0) {
            sink.level = (enum zs_log_level)i;
            known = true;
        }
    }
    if (!known)
        warn_stderr("ZESCOPE_LOG=%s: the level is one of off, error, warn, info, debug, with "
                    ":FILE behind it if wanted; taken as error",
                    text);
    if (text[length] == ':' && text[length + 1]) {
        int fd = open_file(text + length + 1);
        if (fd >= 0)
            sink.fd = fd;
        else if (sink.level)
            warn_stderr("ZESCOPE_LOG=%s: the file cannot be written (%s); the log goes to stderr",
                        text, strerror(errno));
    }
}

bool zs_log_enabled(enum zs_log_level level)
{
    pthread_once(&sink.once, open_sink);
    return level <= sink.level;
}

void zs_log(enum zs_log_level level, const char *format, ...)
{
    if (!zs_log_enabled(level))
        return;
    static const char *const names[] = {"", "error", "warning", "info", "debug"};
    va_list args;
    va_start(args, format);
    write_line(sink.fd, names[level], format, args);
    va_end(args);
}

void zs_log_setting(const char *format, ...)
{
    if (!zs_log_enabled(ZS_LOG_ERROR))
        return;
    va_list args;
    va_start(args, format);
    write_line(STDERR_FILENO, "warning", format, args);
    va_end(args);
}
