/* SPDX-License-Identifier: MIT */
/*
 * Numbers in the text of .ze_info. All else stays as it is, byte for byte: lines are found by what
 * they begin with. Kernels are items of the list `kernels:`; an item goes on until a line that is
 * indented no deeper than its dash.
 */
#include "edit/edit_priv.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

struct line {
    size_t begin_B, end_B; /* without the newline */
    size_t indent;         /* blanks, and the dash of an item */
    bool is_item;
    struct zs_span key, value;
};

static struct zs_span trimmed(const uint8_t *from, const uint8_t *to)
{
    while (from < to && isspace(*from))
        from++;
    while (to > from && isspace(to[-1]))
        to--;
    return zs_span_make(from, (size_t)(to - from));
}

/* The line at *cursor, which moves on; false at the end. */
static bool next_line(const struct zs_buf *text, size_t *cursor, struct line *ret)
{
    if (*cursor >= text->size_B)
        return false;
    const uint8_t *at = text->data + *cursor, *last = text->data + text->size_B;
    const uint8_t *newline = memchr(at, '\n', (size_t)(last - at));
    const uint8_t *end = newline ? newline : last, *key = at;
    *ret = (struct line){.begin_B = *cursor, .end_B = (size_t)(end - text->data)};
    *cursor = ret->end_B + 1;
    while (key < end && *key == ' ')
        key++;
    ret->indent = (size_t)(key - at);
    ret->is_item = key + 1 < end && key[0] == '-' && key[1] == ' ';
    key += ret->is_item ? 2 : 0;
    const uint8_t *colon = memchr(key, ':', (size_t)(end - key));
    ret->key = trimmed(key, colon ? colon : end);
    ret->value = trimmed(colon ? colon + 1 : end, end);
    return true;
}

static bool is_text(struct zs_span span, const char *text)
{
    size_t size_B = strlen(text);
    if (span.size_B == size_B + 2 && (span.data[0] == '\'' || span.data[0] == '"') &&
        span.data[0] == span.data[span.size_B - 1])
        span = zs_span_make(span.data + 1, size_B);
    return span.size_B == size_B && !memcmp(span.data, text, size_B);
}

static int replace(struct zs_buf *text, struct zs_span value, uint64_t number)
{
    struct zs_buf out = {0};
    size_t at_B = (size_t)(value.data - text->data);
    zs_buf_append(&out, text->data, at_B);
    zs_buf_put_u64(&out, number);
    zs_buf_append(&out, value.data + value.size_B, text->size_B - at_B - value.size_B);
    if (out.error) {
        zs_buf_fini(&out);
        return -ENOMEM;
    }
    zs_buf_fini(text);
    *text = out;
    return 0;
}

int zs_ze_info_set(struct zs_buf *text, const char *kernel, const char *key, uint64_t value)
{
    bool in_kernels = false, in_kernel = false;
    size_t cursor = 0, dash = 0;
    struct line line;
    while (next_line(text, &cursor, &line)) {
        if (!line.key.size_B || line.key.data[0] == '#')
            continue;
        if (line.indent == 0 && !line.is_item) {
            in_kernels = is_text(line.key, "kernels");
            in_kernel = false;
            continue;
        }
        if (in_kernel && line.indent <= dash)
            in_kernel = false;
        if (in_kernels && line.is_item && is_text(line.key, "name") &&
            is_text(line.value, kernel)) {
            in_kernel = true;
            dash = line.indent;
        } else if (in_kernel && is_text(line.key, key) && line.value.size_B) {
            return replace(text, line.value, value);
        }
    }
    return -EINVAL;
}
