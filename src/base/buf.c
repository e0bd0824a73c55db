/* SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "base/os.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

void zs_buf_fini(struct zs_buf *buf)
{
    free(buf->data);
    *buf = (struct zs_buf){0};
}

uint8_t *zs_buf_reserve(struct zs_buf *buf, size_t size_B)
{
    if (buf->error)
        return NULL;
    if (!buf->data || size_B > buf->capacity_B - buf->size_B) {
        if (size_B > SIZE_MAX / 4 - buf->size_B) {
            buf->error = -ENOMEM;
            return NULL;
        }
        size_t capacity_B = ZS_MAX(buf->size_B + size_B, buf->capacity_B + buf->capacity_B / 2);
        capacity_B = ZS_MAX(capacity_B, (size_t)256);
        uint8_t *data = realloc(buf->data, capacity_B);
        if (!data) {
            buf->error = -ENOMEM;
            return NULL;
        }
        buf->data = data;
        buf->capacity_B = capacity_B;
    }
    return buf->data + buf->size_B;
}

void zs_buf_append(struct zs_buf *buf, const void *data, size_t size_B)
{
    if (!size_B)
        return;
    uint8_t *p = zs_buf_reserve(buf, size_B);
    if (!p)
        return;
    memcpy(p, data, size_B);
    buf->size_B += size_B;
}

void zs_buf_puts(struct zs_buf *buf, const char *text)
{
    zs_buf_append(buf, text, strlen(text));
}

void zs_buf_vprintf(struct zs_buf *buf, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    char small[256];
    struct zs_os_numbers plain = zs_os_numbers_begin();
    int length = vsnprintf(small, sizeof(small), format, args);
    if (length < 0) {
        buf->error = buf->error ? buf->error : -EINVAL;
    } else if ((size_t)length < sizeof(small)) {
        zs_buf_append(buf, small, (size_t)length);
    } else {
        uint8_t *p = zs_buf_reserve(buf, (size_t)length + 1);
        if (p) {
            vsnprintf((char *)p, (size_t)length + 1, format, again);
            buf->size_B += (size_t)length;
        }
    }
    zs_os_numbers_end(plain);
    va_end(again);
}

void zs_buf_printf(struct zs_buf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    zs_buf_vprintf(buf, format, args);
    va_end(args);
}

void zs_buf_pad(struct zs_buf *buf, uint8_t byte, size_t count)
{
    if (count == 0)
        return;
    uint8_t *p = zs_buf_reserve(buf, count);
    if (!p || !count)
        return;
    memset(p, byte, count);
    buf->size_B += count;
}

void zs_buf_put_u64(struct zs_buf *buf, uint64_t value)
{
    char text[20];
    size_t at = sizeof(text);
    do {
        text[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    zs_buf_append(buf, text + at, sizeof(text) - at);
}

const char *zs_buf_cstr(struct zs_buf *buf)
{
    uint8_t *p = zs_buf_reserve(buf, 1);
    if (!p)
        return "";
    *p = '\0';
    return (const char *)buf->data;
}
