/* SPDX-License-Identifier: MIT */
#include "drm/drm_priv.h"

#include "base/buf.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    pthread_once_t once;
    int level, fd;
} sink = {.once = PTHREAD_ONCE_INIT, .level = ZS_DRM_ERROR, .fd = STDERR_FILENO};

static void open_sink(void)
{
    static const char *const names[] = {"off", "error", "warn", "info", "debug"};
    const char *text = secure_getenv("ZESCOPE_LOG");
    size_t length = text ? strcspn(text, ":") : 0;
    for (size_t i = 0; i < ZS_ARRAY_LEN(names) && text; i++) {
        if (strlen(names[i]) == length && !strncmp(names[i], text, length))
            sink.level = (int)i;
    }
    if (!text || text[length] != ':')
        return;
    struct zs_buf name = {0};
    for (const char *c = text + length + 1; *c; c++) {
        if (c[0] == '%' && c[1] == 'p')
            zs_buf_printf(&name, "%d", (int)getpid()), c++;
        else
            zs_buf_putc(&name, *c);
    }
    int fd = open(zs_buf_cstr(&name), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    sink.fd = fd >= 0 ? fd : STDERR_FILENO;
    zs_buf_fini(&name);
}

bool zs_drm_log_is(enum zs_drm_log_level level)
{
    pthread_once(&sink.once, open_sink);
    return (int)level <= sink.level;
}

void zs_drm_log(enum zs_drm_log_level level, const char *format, ...)
{
    static const char *const words[] = {"", "error", "warning", "info", "debug"};
    if (!zs_drm_log_is(level))
        return;
    struct zs_buf line = {0};
    va_list args;
    va_start(args, format);
    zs_buf_printf(&line, "zescope drm: %s: ", words[level]);
    zs_buf_vprintf(&line, format, args);
    zs_buf_putc(&line, '\n');
    va_end(args);
    if (!line.error && write(sink.fd, line.data, line.size_B) < 0)
        sink.level = 0; /* nobody reads it */
    zs_buf_fini(&line);
}
