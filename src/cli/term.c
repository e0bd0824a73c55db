/* SPDX-License-Identifier: MIT */
/* What commands say to people: errors, notes, progress, colour. */
#include "cli/demangle.h"
#include "cli/options.h"

#include "base/file.h"
#include "base/os.h"
#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Names and sentences of files are in it: terminals obey none of them. */
static void put_stderr(const char *before, const char *format, va_list args, const char *after)
{
    struct zs_buf text = {0}, clean = {0};
    zs_buf_puts(&text, before);
    zs_buf_vprintf(&text, format, args);
    zs_buf_puts(&text, after);
    for (size_t i = 0; i < text.size_B; i++) /* no colours are ours here */
        if (text.data[i] == 0x1b)
            text.data[i] = 0x1a;
    struct zs_buf readable = {0};
    struct zs_span span = zs_cli_readable(&readable, zs_buf_span(&text));
    span = zs_text_clean(&clean, span.data, span.size_B);
    fwrite(span.data, 1, span.size_B, stderr);
    fflush(stderr);
    zs_buf_fini(&readable);
    zs_buf_fini(&text);
    zs_buf_fini(&clean);
}

static void print_stderr(const char *format, va_list args)
{
    put_stderr("zescope: ", format, args, "\n");
}

void zs_cli_print_stderr(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    put_stderr("", format, args, "");
    va_end(args);
}

int zs_cli_cannot_start(const char *app, int error)
{
    zs_cli_fail("cannot start %s: %s%s", app, strerror(-error),
                error == -ENOENT && !strchr(app, '/') ? " (it is not in PATH)" : "");
    return error == -ENOENT   ? ZS_EXIT_NOT_FOUND
           : error == -EACCES ? ZS_EXIT_CANNOT_EXECUTE
                              : ZS_EXIT_FAILED;
}

int zs_cli_fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_stderr(format, args);
    va_end(args);
    return ZS_EXIT_FAILED;
}

int zs_cli_usage(const struct zs_command *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_stderr(format, args);
    va_end(args);
    fprintf(stderr, "usage: zescope %s%s%s\ntry 'zescope %s --help'\n", command->name,
            command->option_count ? " [options] " : " ", command->operands, command->name);
    return ZS_EXIT_USAGE;
}

void zs_cli_note(const struct zs_common_options *common, const char *format, ...)
{
    if (common->quiet)
        return;
    va_list args;
    va_start(args, format);
    print_stderr(format, args);
    va_end(args);
}

bool zs_cli_color(const struct zs_common_options *common, int fd)
{
    if (common->color != ZS_COLOR_AUTO)
        return common->color == ZS_COLOR_ALWAYS;
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    return zs_os_is_terminal(fd) && !(no_color && *no_color) && !(term && !strcmp(term, "dumb"));
}

unsigned zs_cli_columns(int fd)
{
    unsigned columns = zs_os_columns(fd);
    const char *text = getenv("COLUMNS");
    if (!columns)
        columns = text && atoi(text) > 0 ? (unsigned)atoi(text) : 80;
    return columns < 40 ? 40 : columns;
}

void zs_cli_progress(const struct zs_common_options *common, const char *what, uint64_t done,
                     uint64_t total)
{
    if (common->quiet || !zs_os_is_terminal(STDERR_FILENO))
        return;
    if (done >= total)
        fputs("\r\033[K", stderr);
    else
        fprintf(stderr, "\r\033[K%s %" PRIu64 "/%" PRIu64, what, done, total);
    fflush(stderr);
}

static bool stdout_closed;

bool zs_cli_stdout_closed(void)
{
    return stdout_closed;
}

int zs_cli_write_stdout(const void *data, size_t size_B)
{
    const char *p = data;
    while (size_B && !stdout_closed) {
        ssize_t n = zs_os_write(STDOUT_FILENO, p, size_B);
        stdout_closed = n == -EPIPE;
        if (stdout_closed)
            return ZS_EXIT_OK;
        if (n < 0)
            return zs_cli_fail("cannot write to stdout: %s", strerror((int)-n));
        p += n;
        size_B -= (size_t)n;
    }
    return ZS_EXIT_OK;
}

int zs_cli_sink_stdout(void *user, const void *data, size_t size_B)
{
    int *status = user;
    *status = zs_cli_write_stdout(data, size_B);
    return *status != ZS_EXIT_OK ? -EIO : stdout_closed ? -EPIPE : 0;
}

int zs_cli_ended(int error, int status)
{
    return error && status == ZS_EXIT_OK && !stdout_closed ? zs_cli_fail("out of memory") : status;
}

static int put_in_file(void *out, const void *data, size_t size_B)
{
    return zs_file_out_write(out, data, size_B);
}

int zs_cli_write_to(const struct zs_common_options *common, const char *path, zs_cli_put *put,
                    const void *what)
{
    int status = ZS_EXIT_OK;
    struct zs_file_out *out;
    struct zs_diag diag = {0};
    if (!strcmp(path, "-"))
        return zs_cli_ended(put(what, zs_cli_sink_stdout, &status), status);
    if (zs_file_out_open(path, &out, &diag))
        return zs_cli_fail("%s", diag.text);
    int error = put(what, put_in_file, out);
    if (zs_file_out_close(out, error != -ENOMEM, &diag)) /* an error of writing is the file's */
        return zs_cli_fail("%s", diag.text);
    if (error)
        return zs_cli_fail("out of memory");
    if (common)
        zs_cli_note(common, "wrote %s", path);
    return ZS_EXIT_OK;
}

int zs_cli_put_buf(const void *what, int (*write)(void *user, const void *data, size_t size_B),
                   void *user)
{
    const struct zs_buf *buf = what;
    return buf->error ? -ENOMEM : write(user, buf->data, buf->size_B);
}

int zs_cli_write_exact(const void *data, size_t size_B)
{
    struct zs_buf scratch = {0};
    struct zs_span clean = zs_text_clean(&scratch, data, size_B);
    int status = scratch.error ? zs_cli_fail("out of memory")
                               : zs_cli_write_stdout(clean.data, clean.size_B);
    zs_buf_fini(&scratch);
    return status;
}

int zs_cli_write_text(const void *data, size_t size_B)
{
    struct zs_buf scratch = {0};
    struct zs_span text = zs_cli_readable(&scratch, zs_span_make(data, size_B));
    int status = zs_cli_write_exact(text.data, text.size_B);
    zs_buf_fini(&scratch);
    return status;
}

int zs_cli_sink_text(void *user, const void *data, size_t size_B)
{
    int *status = user;
    *status = zs_cli_write_text(data, size_B);
    return *status != ZS_EXIT_OK ? -EIO : stdout_closed ? -EPIPE : 0;
}
