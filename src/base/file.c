/* SPDX-License-Identifier: MIT */
#include "base/file.h"
#include "base/os.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { DEVICE_B_MAX = 1 << 20 };

static int file_fail(struct zs_diag *diag, int error, const char *verb, const char *path)
{
    return zs_diag_set(diag, error, ZS_DIAG_NO_OFFSET, "cannot %s %s: %s", verb, path,
                       strerror(-error));
}

static int too_large(struct zs_diag *diag, const char *path, uint64_t limit_B)
{
    return zs_diag_set(diag, -EFBIG, ZS_DIAG_NO_OFFSET,
                       "%s is larger than the %" PRIu64 " bytes that are read at most", path,
                       limit_B);
}

static int read_all(int fd, const char *path, uint64_t limit_B, struct zs_buf *buf,
                    struct zs_diag *diag)
{
    for (;;) {
        size_t more_B = buf->size_B < 65536 ? 65536 : buf->size_B / 2;
        uint8_t *p = zs_buf_reserve(buf, buf->capacity_B > buf->size_B ? 1 : more_B);
        if (!p)
            return file_fail(diag, -ENOMEM, "read", path);
        ssize_t n = zs_os_read(fd, p, buf->capacity_B - buf->size_B);
        if (n < 0)
            return file_fail(diag, (int)n, "read", path);
        if (n == 0)
            return 0;
        buf->size_B += (size_t)n;
        if (buf->size_B > limit_B)
            return too_large(diag, path, limit_B);
    }
}

/* Room for a file of this size; its end is seen by reading no more. */
static void expect_file(struct zs_buf *buf, size_t size_B)
{
    uint8_t *room = zs_buf_reserve(buf, size_B + 1);
    if (room)
        zs_os_expect_fill(room, size_B);
}

/* Takes the descriptor. */
static int read_fd(int fd, const char *path, uint64_t limit_B, bool regular_only,
                   struct zs_file *ret_file, struct zs_diag *diag)
{
    limit_B = limit_B ? limit_B : UINT64_C(1) << 32;
    struct zs_path_info info;
    struct zs_buf buf = {0};
    int error = zs_os_file_info(fd, &info);
    if (error)
        file_fail(diag, error, "read", path);
    else if (regular_only && info.kind != ZS_PATH_FILE)
        error = zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "%s is not a regular file", path);
    if (!error && info.kind == ZS_PATH_DEVICE)
        limit_B = ZS_MIN(limit_B, (uint64_t)DEVICE_B_MAX); /* some never end */
    if (!error && info.kind == ZS_PATH_FILE && info.size_B > limit_B)
        error = too_large(diag, path, limit_B);
    else if (!error && info.kind == ZS_PATH_FILE && info.size_B)
        expect_file(&buf, (size_t)info.size_B);
    if (!error)
        error = read_all(fd, path, limit_B, &buf, diag);
    close(fd);
    if (error) {
        zs_buf_fini(&buf);
        return error;
    }
    ret_file->span = zs_buf_span(&buf);
    if (!buf.size_B) {
        zs_buf_fini(&buf);
        ret_file->span = zs_span_make(NULL, 0);
    }
    return 0;
}

int zs_file_read(const char *path, uint64_t limit_B, struct zs_file *ret_file, struct zs_diag *diag)
{
    *ret_file = (struct zs_file){0};
    int fd = zs_os_open_read(path);
    if (fd < 0)
        return file_fail(diag, fd, "open", path);
    return read_fd(fd, path, limit_B, false, ret_file, diag);
}

int zs_file_read_at(int dir_fd, const char *name, uint64_t limit_B, struct zs_file *ret_file,
                    struct zs_diag *diag)
{
    *ret_file = (struct zs_file){0};
    if (!name[0] || strchr(name, '/') || !strcmp(name, ".") || !strcmp(name, ".."))
        return file_fail(diag, -EINVAL, "open", name);
    int fd = zs_os_open_read_at(dir_fd, name);
    if (fd < 0)
        return file_fail(diag, fd, "open", name);
    return read_fd(fd, name, limit_B, true, ret_file, diag);
}

void zs_file_close(struct zs_file *file)
{
    free((void *)(uintptr_t)file->span.data);
    *file = (struct zs_file){0};
}

static int write_all(int fd, struct zs_span span)
{
    while (span.size_B) {
        ssize_t n = zs_os_write(fd, span.data, span.size_B);
        if (n < 0)
            return (int)n;
        span = zs_span_make(span.data + n, span.size_B - (size_t)n);
    }
    return 0;
}

struct zs_file_out {
    int fd;
    int error;     /* the first one sticks */
    bool in_place; /* devices and pipes: there is nothing to rename over */
    struct zs_buf pending;
    char *path; /* behind temp, in the same block */
    char temp[];
};

int zs_file_out_open(const char *path, struct zs_file_out **ret_out, struct zs_diag *diag)
{
    static const char suffix[] = ".XXXXXX";
    struct zs_path_info info;
    *ret_out = NULL;
    /* what a link leads to is written, the link stays: /dev/stdout is one */
    char *target = zs_os_real_path(path);
    path = target ? target : path;
    size_t length = strlen(path);
    int error = -ENOMEM;
    struct zs_file_out *out = calloc(1, sizeof(*out) + 2 * (length + sizeof(suffix)));
    if (!out)
        goto fail;
    memcpy(out->temp, path, length);
    memcpy(out->temp + length, suffix, sizeof(suffix));
    out->path = out->temp + length + sizeof(suffix);
    memcpy(out->path, path, length + 1);
    out->in_place = !zs_os_path_info(path, &info) && info.kind != ZS_PATH_FILE;
    out->fd = out->in_place ? zs_os_open_device(path) : zs_os_open_temp(out->temp);
    error = out->fd;
    if (error < 0)
        goto fail;
    free(target);
    *ret_out = out;
    return 0;
fail:
    error = file_fail(diag, error, "write", path);
    free(out);
    free(target);
    return error;
}

enum { PENDING_B = 256 << 10 };

static void flush_pending(struct zs_file_out *out)
{
    if (!out->error)
        out->error = out->pending.error ? out->pending.error
                                        : write_all(out->fd, zs_buf_span(&out->pending));
    out->pending.size_B = 0;
}

int zs_file_out_write(struct zs_file_out *out, const void *data, size_t size_B)
{
    if (size_B >= PENDING_B - out->pending.size_B)
        flush_pending(out);
    if (size_B < PENDING_B)
        zs_buf_append(&out->pending, data, size_B);
    else if (!out->error)
        out->error = write_all(out->fd, zs_span_make(data, size_B));
    return out->error;
}

int zs_file_out_close(struct zs_file_out *out, bool keep, struct zs_diag *diag)
{
    if (keep)
        flush_pending(out);
    int error = out->error;
    if (close(out->fd) && !error)
        error = -errno;
    if (!out->in_place && keep && !error)
        error = zs_os_rename(out->temp, out->path);
    if (!out->in_place && (error || !keep))
        zs_os_unlink(out->temp);
    if (error && keep)
        file_fail(diag, error, "write", out->path);
    zs_buf_fini(&out->pending);
    free(out);
    return keep ? error : 0;
}

int zs_file_write(const char *path, struct zs_span span, struct zs_diag *diag)
{
    struct zs_file_out *out;
    int error = zs_file_out_open(path, &out, diag);
    if (error)
        return error;
    zs_file_out_write(out, span.data, span.size_B);
    return zs_file_out_close(out, true, diag);
}
