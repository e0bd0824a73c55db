/* SPDX-License-Identifier: MIT */
/*
 * A growable byte buffer for building text or binary output. The first failed allocation sticks
 * (error = -ENOMEM); later appends do nothing, so that a writer checks once at its end.
 */
#ifndef ZS_BASE_BUF_H
#define ZS_BASE_BUF_H

#include "base/span.h"

#include <stdarg.h>

struct zs_buf {
    uint8_t *data;
    size_t size_B;
    size_t capacity_B;
    int error;
};

void zs_buf_fini(struct zs_buf *buf);
/* Room for size_B more bytes; the place to write them, or NULL. Add to size_B what was written. */
uint8_t *zs_buf_reserve(struct zs_buf *buf, size_t size_B);
void zs_buf_append(struct zs_buf *buf, const void *data, size_t size_B);
void zs_buf_puts(struct zs_buf *buf, const char *text);
void zs_buf_printf(struct zs_buf *buf, const char *format, ...) ZS_PRINTF(2, 3);
void zs_buf_vprintf(struct zs_buf *buf, const char *format, va_list args);
void zs_buf_pad(struct zs_buf *buf, uint8_t byte, size_t count);
/* Decimal, without printf: hot in writers of large output. */
void zs_buf_put_u64(struct zs_buf *buf, uint64_t value);

static inline void zs_buf_putc(struct zs_buf *buf, char c)
{
    if (ZS_LIKELY(buf->size_B < buf->capacity_B))
        buf->data[buf->size_B++] = (uint8_t)c;
    else
        zs_buf_append(buf, &c, 1);
}
static inline struct zs_span zs_buf_span(const struct zs_buf *buf)
{
    return zs_span_make(buf->data, buf->size_B);
}
/* The contents as a C string (a NUL is added behind them); "" when nothing could be allocated. */
const char *zs_buf_cstr(struct zs_buf *buf);

#endif
